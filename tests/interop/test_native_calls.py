# SPDX-License-Identifier: Apache-2.0
"""What native calls leave behind, and what runs before the first one."""
import base64
import json
import lzma
import os
import re
import subprocess

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, ROOT, toolboxctl, until

CALLS_FE = {"FE_UPWARD": 0x800, "ALL_EXCEPTIONS": 61}


@pytest.fixture
def serve(launch, tmp_path):
    """serve(tools, **more of the manifest): a caller of a daemon with this toolbox."""
    callers = []

    def start(tools, **more):
        manifests.toolbox(tmp_path / "toolbox.d", "box", tools, **more)
        service = launch({}, [tmp_path / "toolbox.d"])
        callers.append(Caller(service.url))
        callers[-1].service = service
        return callers[-1]

    yield start
    for one in callers:
        one.close()


def number(name="x", kind="f64", **more):
    return {"name": name, "type": kind, **more}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the constants of fenv.h are those of x86")
def test_how_a_function_rounds_changes_no_number_of_a_later_call(serve):
    caller = serve([
        manifests.tool("up", "fesetround", [number("mode", "i32", value=CALLS_FE["FE_UPWARD"])], "i32"),
        manifests.tool("trap", "feenableexcept",
                       [number("mask", "i32", value=CALLS_FE["ALL_EXCEPTIONS"])], "i32"),
        manifests.tool("same", "fabs", [number()], "f64"),
        manifests.tool("third", "cbrt", [number()], "f64")], library="libm.so.6")
    before = [caller.invoke("same", {"x": 0.3}), caller.invoke("third", {"x": 2})]
    for name in ("up", "trap"):
        assert caller.invoke(name)["result"]["result"] in (0, 0x1f80)
        assert [caller.invoke("same", {"x": 0.3}), caller.invoke("third", {"x": 2})] == before


GETENV = manifests.tool("get", "getenv", [manifests.text("name")], {"type": "str", "nullable": True})
READY = {"call": "setenv", "args": [{"str": "TOOLBOX_READY"}, {"str": "yes"}, {"i32": 1}],
         "returns": {"type": "i32", "errors": "nonzero"}}


def test_init_runs_once_before_the_first_call_and_its_finally_at_the_end(serve):
    caller = serve([GETENV], init=[
        {**READY, "finally": {"call": "puts", "args": [{"str": "first is undone"}]}},
        {"call": "puts", "args": [{"str": "begun"}],
         "finally": {"call": "puts", "args": [{"str": "second is undone"}]}},
        {"call": "time", "args": [None], "returns": {"type": "i64", "errors": "negative"}}])
    for _ in range(2):
        assert caller.invoke("get", {"name": "TOOLBOX_READY"})["result"] == {"result": "yes"}
    caller.service.daemon.end()
    said = re.findall("begun|(?:first|second) is undone", caller.service.daemon.log())
    assert said == ["begun", "second is undone", "first is undone"]


def test_an_init_that_fails_makes_calls_unavailable_and_is_no_crash(serve, tmp_path):
    folder = tmp_path / "later"
    caller = serve([GETENV], sandbox={"class": "none"}, init=[{
        "call": "chdir", "args": [{"str": str(folder)}], "returns": {"type": "i32", "errors": "negative"}}])
    for _ in range(7):  # more than the crashes that would quarantine it
        answer = caller.invoke("get", {"name": "HOME"})
        assert answer["code"] == "unavailable"
        assert "init has failed: chdir returned -1: ENOENT (No such file or directory)" in answer["error"]
    folder.mkdir()
    until(lambda: "result" in caller.invoke("get", {"name": "HOME"}), EVENT_SECONDS, "a start")


@pytest.mark.parametrize("step, line", [
    ({"call": "no_such_function"}, "/init/0.*has no function 'no_such_function'"),
    ({"call": "puts", "args": [{"str": 5}]}, "/init/0/args/0.*must be a string"),
    ({"call": "puts", "args": [{"text": "a"}]}, "/init/0/args/0.*"),
    ({"call": "puts", "args": [5]}, "/init/0/args/0.*"),
    ({"call": "puts", "args": ["$name"]}, "/init/0/args/0.*"),
    ({"call": "puts", "returns": {"type": "str", "errors": "negative"}}, "/init/0/returns.*"),
    ({"call": "puts", "finally": {"call": "no_end"}}, "/init/0.*has no function 'no_end'")])
def test_a_mistake_in_init_is_told_by_check(tmp_path, step, line):
    manifests.toolbox(tmp_path / "box", "box", [GETENV], init=[step])
    done = toolboxctl("check", str(tmp_path / "box" / "box.json"), home=tmp_path / "ctl")
    assert done.returncode == 1 and re.search(line, done.stdout + done.stderr), done.stdout


def test_check_runs_no_init(tmp_path):
    manifests.toolbox(tmp_path / "box", "box", [GETENV], init=[{"call": "abort"}])
    done = toolboxctl("check", str(tmp_path / "box" / "box.json"), home=tmp_path / "ctl")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_status_is_kept_out_of_the_result_and_a_list_of_memory_names_its_limit(serve):
    caller = serve([
        manifests.tool("wait", "usleep", [number("us", "u32")],
                       {"name": None, "type": "i32", "errors": "nonzero"}),
        manifests.tool("room", "malloc", [number("bytes", "u64")], {"type": "str", "errors": "null"})])
    assert caller.invoke("wait", {"us": 1})["result"] == {}
    answer = caller.invoke("room", {"bytes": 1 << 40})
    assert "ENOMEM (Cannot allocate memory; limits.memory_mb" in answer["error"]


def test_the_tool_of_the_page(serve):
    page = (ROOT / "docs" / "native.md").read_text()
    text = re.search("test_native_calls.py serves this tool -->\n```json\n(.*?)```", page, re.DOTALL)[1]
    if subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.count(
            "liblzma.so.5") == 0:
        pytest.skip("liblzma is not here")
    caller = serve([json.loads(text)], library="liblzma.so.5")
    data = b"toolbox " * 100
    result = caller.invoke("pack", {"data": base64.b64encode(data).decode()})["result"]
    assert list(result) == ["packed"]
    assert lzma.decompress(base64.b64decode(result["packed"])) == data


def steps(name, *calls, parameters=(), **more):
    return {"name": name, "description": f"Calls {len(calls)} functions.", "risk": "read",
            "native": {"parameters": list(parameters), "steps": list(calls), **more}}


def test_steps_share_handles_with_init_and_a_crash_costs_its_own_call(serve):
    """A buffer of init is written by one call and read by the next; a pointer to nowhere ends the host."""
    buffer = {"call": "calloc", "args": [{"usize": 1}, {"usize": 64}], "returns": {"name": "kept", "type": "handle"},
              "finally": {"call": "free", "args": ["$kept"]}}
    caller = serve([
        steps("write", {"call": "strcat", "args": ["$$kept", "$text"], "returns": {"name": "all", "type": "str"}},
              parameters=[manifests.text("text")]),
        steps("read", {"read": "$$kept", "type": "str", "name": "all"},
              {"call": "strlen", "args": ["$all"], "returns": {"name": "size", "type": "usize"}}),
        steps("crash", {"call": "labs", "args": [{"i64": 8}], "returns": {"name": "nowhere", "type": "handle"}},
              {"call": "strlen", "args": ["$nowhere"], "returns": {"name": "size", "type": "usize"}})],
        init=[buffer])
    assert caller.invoke("write", {"text": "one"})["result"] == {"all": "one"}
    assert caller.invoke("write", {"text": " two"})["result"] == {"all": "one two"}
    assert caller.invoke("read")["result"] == {"all": "one two", "size": 7}
    assert caller.invoke("crash")["code"] == "host_crashed"
    assert caller.invoke("read")["result"] == {"all": "", "size": 0}


def test_more_rounds_than_the_most_are_too_large(serve):
    """strtok() cuts one word from a text in each round."""
    words = [{"call": "strcpy", "args": [{"out": {"name": "copy", "type": "handle", "size": 64}}, "$text"]},
             {"call": "strtok", "args": ["$copy", {"str": " "}], "returns": {"name": "first", "type": "str"}},
             {"repeat": {"call": "strtok", "args": [None, {"str": " "}],
                         "returns": {"name": "word", "type": "str"}, "while": "not_null"},
              "max": 3, "collect": {"name": "words", "of": "$word"}}]
    cut = words[:2] + [{**words[2], "cut": True}]
    caller = serve([steps("words", *words, parameters=[manifests.text("text")]),
                    steps("some", *cut, parameters=[manifests.text("text")])])
    assert caller.invoke("words", {"text": "a b c"})["result"] == {"first": "a", "words": ["b", "c"]}
    answer = caller.invoke("words", {"text": "a b c d e"})
    assert answer["code"] == "too_large" and answer["max"] == 3
    assert caller.invoke("some", {"text": "a b c d e"})["result"] == {
        "first": "a", "words": ["b", "c", "d"], "truncated": True}


@pytest.mark.parametrize("call, line", [
    ({"call": "no_such_function"}, "/native/steps/0/call.*has no function 'no_such_function'"),
    ({"call": "puts", "args": ["$name"]}, "/native/steps/0/args/0.*no parameter and no earlier step sets 'name'"),
    ({"call": "puts", "finally": {"call": "no_end"}}, "/native/steps/0/finally.*has no function 'no_end'")])
def test_a_mistake_in_a_step_is_told_by_check(tmp_path, call, line):
    manifests.toolbox(tmp_path / "box", "box", [steps("f", call)])
    done = toolboxctl("check", tmp_path / "box" / "box.json", home=tmp_path)
    assert done.returncode == 1 and re.search(line, done.stderr), done.stderr
