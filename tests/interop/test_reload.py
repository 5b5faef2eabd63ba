# SPDX-License-Identifier: Apache-2.0
"""Reload: the new set beside the old one, swapped whole."""
import itertools
import json
import shutil
import subprocess
import threading
import time

import manifests
import pytest
from caller import OURS, Caller
from http_peer import Raw, port_of
from processes import EVENT_SECONDS, at_most, toolboxctl, until, write_configuration

CHANGED = "ovos.tools.changed"
UNKNOWN_S = 0.4  # nearly as long as a request waits for a tool that nobody knows (WAITING_UNKNOWN_MS)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs("first")])
    manifests.toolbox(folder, "two", [manifests.labs("second")])
    return folder


@pytest.fixture(params=["embedded", "ovos-messagebus"])
def own(request, launch, folder):
    service = launch({}, [folder], kind=request.param)
    with Caller(service.url) as caller:
        yield caller, folder, service


def changes(caller):
    return [one for one in caller.settle() if one.type == CHANGED]


def reload(caller):
    """The answer, and the data of what was broadcast because of it."""
    caller.settle()
    answer = caller.call("ovos.tools.reload")
    return answer, [one.data for one in changes(caller)]


def test_a_toolbox_that_is_added(own):
    caller, folder, _ = own
    manifests.toolbox(folder, "three", [manifests.labs("third"), manifests.labs("again")])
    answer, changed = reload(caller)
    assert answer["loaded"] == ["one", "three", "two"] and answer["failed"] == []
    assert changed == [{"loaded": ["one", "three", "two"], "total_tools": 4, "removed": [],
                        "added": ["three/again", "three/third"], "changed": []}]
    assert caller.invoke("third", {"value": -1})["result"] == {"result": 1}


def test_a_toolbox_that_is_removed(own):
    caller, folder, service = own
    caller.invoke("first", {"value": 1})
    (folder / "one.json").unlink()
    answer, changed = reload(caller)
    assert answer["loaded"] == ["two"] and answer["total_tools"] == 1
    assert [one["removed"] for one in changed] == [["one/first"]]
    assert caller.invoke("first", {"value": 1})["code"] == "unknown_tool"
    until(lambda: not service.daemon.hosts(), EVENT_SECONDS, "the removed toolbox's host gone")


def test_a_toolbox_that_is_changed(own):
    caller, folder, _ = own
    manifests.toolbox(folder, "one", [manifests.labs("first", description="Other words."),
                                      manifests.labs("more")])
    answer, changed = reload(caller)
    assert answer["loaded"] == ["one", "two"]
    assert [(one["added"], one["removed"], one["changed"]) for one in changed] == \
        [(["one/more"], [], ["one/first"])]
    assert caller.call("ovos.tools.get", {"name": "first"})["description"] == "Other words."


def test_nothing_is_told_when_nothing_changed(own):
    caller, folder, service = own
    caller.invoke("first", {"value": 1})
    host = service.daemon.only_host()
    (folder / "one.json").touch()
    _, changed = reload(caller)
    assert changed == []
    assert service.daemon.only_host() == host


@pytest.mark.parametrize("text", [
    "", "{", '{"kind": "native"}', '{"kind": "bus"}',
    json.dumps({"kind": "native", "library": "libc.so.6", "tools": [
        manifests.tool("first", "no_such_symbol_anywhere", [])]}),
    json.dumps({"kind": "native", "library": "./no-such-library.so", "tools": [
        manifests.labs("first")]}),
])
def test_a_broken_manifest_keeps_its_last_good_version(own, text):
    caller, folder, service = own
    (folder / "one.json").write_text(text)
    answer, changed = reload(caller)
    assert answer["loaded"] == ["one", "two"] and changed == []
    assert [one["toolbox_id"] for one in answer["failed"]] == ["one"]
    assert caller.invoke("first", {"value": -2})["result"] == {"result": 2}
    status = caller.call("ovos.tools.status")
    assert [one["toolbox_id"] for one in status["failed"]] == ["one"]
    assert "one.json" in service.daemon.log()
    manifests.toolbox(folder, "one", [manifests.labs("first")])
    answer, changed = reload(caller)
    assert answer["failed"] == [] and changed == []


def test_the_status_has_what_is_served_instead_of_a_broken_manifest(own):
    caller, folder, _ = own
    (folder / "one.json").write_text("{")
    reload(caller)

    def one():
        return next(one for one in caller.call("ovos.tools.status")["toolboxes"]
                    if one["toolbox_id"] == "one")

    kept = one()
    assert kept["state"] == "idle" and str(folder / "one.json") in kept["why"]
    assert kept["last_good"]["error"] == kept["why"]
    assert kept["last_good"]["loaded"] < kept["last_good"]["failed"]
    reload(caller)
    assert one() == kept
    manifests.toolbox(folder, "one", [manifests.labs("first")])
    reload(caller)
    assert one()["why"] is None and "last_good" not in one()


def test_a_version_whose_examples_fail_is_not_offered(own, tmp_path):
    caller, folder, service = own

    def write(result, words):
        manifests.toolbox(folder, "one", [manifests.labs(
            "first", description=words, risk="read",
            examples=[{"args": {"value": -2}, "result": {"result": result}}])], gate="examples")

    write(2, "Good.")
    assert reload(caller)[0]["failed"] == []
    write(3, "Wrong.")
    answer, changed = reload(caller)
    why = 'its gate is closed: example 1 of \'first\', {"value":-2}: ' \
          'expected {"result":3}, came {"result":2}'
    assert [why in one["error"] for one in answer["failed"]] == [True] and changed == []
    assert caller.call("ovos.tools.get", {"name": "first"})["description"] == "Good."
    assert caller.invoke("first", {"value": -4})["result"] == {"result": 4}
    assert service.daemon.log().count(why) == 1
    shown = toolboxctl("status", bus=service.url, home=tmp_path)
    assert "its gate is closed: example 1 of 'first'" in shown.stdout


def test_a_toolbox_whose_tools_are_all_left_out_is_disabled(launch, folder):
    service = launch({"tools_disabled": ["one/first"]}, [folder])
    with Caller(service.url) as caller:
        states = {one["toolbox_id"]: (one["state"], one["why"])
                  for one in caller.call("ovos.tools.status")["toolboxes"]}
        assert states == {"one": ("disabled", "left out by tools_enabled or tools_disabled"),
                          "two": ("idle", None)}


def test_a_toolbox_that_was_never_good_is_in_failed_alone(own):
    caller, folder, _ = own
    manifests.toolbox(folder, "bad", [manifests.labs("never")], unknown_key=1)
    answer, changed = reload(caller)
    assert answer["loaded"] == ["one", "two"] and changed == []
    assert [one["toolbox_id"] for one in answer["failed"]] == ["bad"]
    assert "unknown_key" in answer["failed"][0]["error"]


def test_a_toolbox_id_that_is_claimed_twice(own):
    caller, folder, _ = own
    manifests.toolbox(folder, "zzz", [manifests.labs("thief")], toolbox_id="one")
    answer, _ = reload(caller)
    assert answer["loaded"] == ["one", "two"]
    assert len(answer["failed"]) == 1 and "zzz.json" in answer["failed"][0]["error"]
    assert caller.invoke("thief", {"value": 1})["code"] == "unknown_tool"


def test_requests_that_arrive_during_a_reload_are_each_answered_once(own):
    caller, folder, _ = own
    caller.settle()
    marks = [caller.send("ovos.tools.reload") for _ in range(20)]
    answers = []
    while len(answers) < len(marks):
        answers.append(caller.wait_for(
            lambda one: one.type == "ovos.tools.reload.response").context["mark"])
    assert sorted(answers) == sorted(marks)
    assert not [one for one in caller.settle() if one.type == "ovos.tools.reload.response"
                and one.context["mark"] not in marks]


def test_a_signal_reloads(own):
    caller, folder, service = own
    manifests.toolbox(folder, "three", [manifests.labs("third")])
    caller.settle()
    service.daemon.reload_by_signal()
    changed = caller.wait_for(lambda one: one.type == CHANGED)
    assert changed.data["added"] == ["three/third"]
    assert changed.context == OURS


def test_no_call_sees_an_empty_registry(own):
    """Calls and reloads mixed: none of the calls finds its tool missing."""
    caller, folder, _ = own
    for round_number in range(30):
        manifests.toolbox(folder, "two", [manifests.labs("second", description=str(round_number))])
        caller.send("ovos.tools.reload")
        assert caller.invoke("first", {"value": -round_number})["result"] == \
            {"result": round_number}


def test_a_call_in_flight_ends_on_what_it_began_on(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "slow", [manifests.sleeper("wait", timeout_ms=10000)])
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        mark = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 1}})
        caller.settle()
        (folder / "slow.json").unlink()
        assert caller.call("ovos.tools.reload")["loaded"] == []
        answer = caller.answer_seen_to("ovos.tools.invoke", mark)
        assert answer.data["result"] == {"result": 0}


# --- what is seen without being told

def test_a_change_in_the_folder_is_seen(own):
    caller, folder, _ = own
    caller.settle()
    manifests.toolbox(folder, "three", [manifests.labs("third")])
    assert caller.wait_for(lambda one: one.type == CHANGED).data["added"] == ["three/third"]
    (folder / "one.json").rename(folder / "one.json.off")
    assert caller.wait_for(lambda one: one.type == CHANGED).data["removed"] == ["one/first"]
    assert caller.invoke("first", {"value": 1})["code"] == "unknown_tool"


def test_a_folder_that_comes_and_goes_is_seen(launch, tmp_path):
    folder = tmp_path / "later" / "toolbox.d"
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        for _ in range(2):
            manifests.toolbox(folder, "late", [manifests.labs("came")])
            assert caller.wait_for(lambda one: one.type == CHANGED).data["added"] == ["late/came"]
            shutil.rmtree(folder.parent)
            assert caller.wait_for(lambda one: one.type == CHANGED).data["removed"] == \
                ["late/came"]


def test_a_half_written_manifest_harms_nobody(own):
    caller, folder, _ = own
    text = (folder / "one.json").read_text().replace("Calls labs().", "Written slowly.")
    with open(folder / "one.json", "w") as out:
        for piece in (text[:40], text[40:90], text[90:]):
            out.write(piece)
            out.flush()
            assert caller.invoke("first", {"value": -1})["result"] == {"result": 1}
    until(lambda: caller.call("ovos.tools.get", {"name": "first"})["description"]
          == "Written slowly.", EVENT_SECONDS, "the new description")


def test_a_replaced_library_is_taken_over(launch, tmp_path):
    """By rename, as installers do: the call after the change runs the new code."""
    folder = tmp_path / "toolbox.d"
    folder.mkdir()

    def install(sign):
        source = tmp_path / "op.c"
        source.write_text(f"long op(long a, long b) {{ return a {sign} b; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libop.new", source], check=True)
        (folder / "libop.new").rename(folder / "libop.so")

    install("+")
    manifests.toolbox(folder, "ops", [manifests.tool(
        "op", "op", [manifests.integer("a"), manifests.integer("b")])], library="libop.so")
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert caller.invoke("op", {"a": 7, "b": 2})["result"] == {"result": 9}
        install("-")
        until(lambda: caller.invoke("op", {"a": 7, "b": 2})["result"] == {"result": 5},
              EVENT_SECONDS, "the new code")


# --- a call that comes before what was installed is loaded

def script(path, text="echo done"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n# risk: read\n{text}\n")
    path.chmod(0o755)


def test_a_tool_is_called_as_soon_as_it_is_written(own):
    caller, folder, _ = own
    numbers = itertools.count()

    def first_answer(topic):
        """The answer to the first request about a tool that was just written. A machine may hold a reload up for longer
        than a request waits: then another tool is written."""
        name = f"remind_{next(numbers)}"
        script(folder / "home" / f"{name}.sh")
        begun = time.monotonic()
        answer = caller.call(topic, {"name": name})
        assert answer.get("code") != "unknown_tool" or time.monotonic() - begun > UNKNOWN_S, answer
        return answer.get("code") != "unknown_tool" and answer

    def answer_at_once(topic):
        return until(lambda: first_answer(topic), EVENT_SECONDS, "a first request that finds its tool")

    for _ in range(2):
        assert answer_at_once("ovos.tools.invoke")["result"] == {"output": "done"}
    assert answer_at_once("ovos.tools.get")["toolbox_id"] == "home"
    assert answer_at_once("ovos.tools.validate")["valid"] is True


def test_an_unknown_tool_is_unknown_at_once_when_nothing_is_pending(own, figure):
    caller, folder, service = own
    begun = time.monotonic()
    for _ in range(20):
        assert caller.invoke("nowhere")["code"] == "unknown_tool"
    took = time.monotonic() - begun
    figure("ms", took * 1000)
    assert took < 20 * at_most(0.4)


def test_a_call_waits_a_bounded_time_for_a_folder_that_always_changes(own):
    """Nobody else waits meanwhile; a tool that a profile hides waits as long as one that is not there."""
    caller, folder, service = own
    write_configuration(service.daemon.home, {"toolboxd": {
        "profiles": {"few": {"tool_names": ["one/first"]}}}})
    caller.call("ovos.tools.reload")
    stop = threading.Event()

    def touch():
        while not stop.wait(0.02):
            (folder / "one.json").touch()

    thread = threading.Thread(target=touch)
    thread.start()
    def waits(name):
        begun = time.monotonic()
        answer = caller.invoke(name, profile="few")
        waited = time.monotonic() - begun
        assert (answer["code"], answer["suggestions"]) == ("unknown_tool", []), answer
        assert caller.invoke("first", {"value": -1}, profile="few")["result"]
        return waited > 0.3

    try:
        for name in ("second", "nowhere"):
            until(lambda name=name: waits(name), EVENT_SECONDS, f"a call of {name} that waits")
    finally:
        stop.set()
        thread.join()


# --- folders

def test_a_higher_folder_replaces_and_masks(launch, tmp_path):
    low, high = tmp_path / "low", tmp_path / "high"
    manifests.toolbox(low, "replaced", [manifests.labs("from_low")])
    manifests.toolbox(low, "masked", [manifests.labs("hidden")])
    manifests.toolbox(low, "kept", [manifests.labs("kept_tool")])
    manifests.toolbox(high, "replaced", [manifests.labs("from_high")])
    (high / "masked.json").symlink_to("/dev/null")
    service = launch({}, [low, high])
    with Caller(service.url) as caller:
        names = [one["name"] for one in caller.call("ovos.tools.list")["tools"]]
        assert names == ["kept_tool", "from_high"]


def test_a_folder_that_is_not_there_is_no_failure(launch, tmp_path):
    service = launch({}, [tmp_path / "nowhere", manifests.SHIPPED])
    with Caller(service.url) as caller:
        assert caller.invoke("add", {"a": 1, "b": 1})["result"] == {"result": 2}
        assert caller.call("ovos.tools.status")["failed"] == []
        assert service.daemon.log().count(f"the folder {tmp_path}/nowhere: No such file") == 1
        caller.call("ovos.tools.reload")
        assert service.daemon.log().count("nowhere") == 1


def test_a_toolbox_that_is_disabled_by_configuration(launch):
    service = launch({"toolboxes": {"libm": {"enabled": False}}})
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.reload")["loaded"] == ["math_tools"]
        states = {one["toolbox_id"]: one["state"]
                  for one in caller.call("ovos.tools.status")["toolboxes"]}
        assert states.get("libm", "disabled") == "disabled"


@pytest.mark.parametrize("change, words", [
    ({"kind": "buzz"}, "kind"), ({"tools": []}, "tools"),
    ({"unknown": 1}, "unknown"), ({"library": 5}, "library"), ({"risk": "low"}, "risk"),
    ({"toolbox_id": "not.allowed"}, "toolbox_id"), ({"limits": {"timeout_ms": 0}}, "timeout_ms"),
])
def test_one_mistake_refuses_the_whole_toolbox_and_names_it(own, change, words):
    caller, folder, _ = own
    manifests.toolbox(folder, "bad", [manifests.labs("absolutely")])
    path = folder / "bad.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    answer, _ = reload(caller)
    assert answer["loaded"] == ["one", "two"]
    failed, = answer["failed"]
    assert words in failed["error"], failed


@pytest.mark.parametrize("change, words", [
    ({"name": "1st"}, "name"),
    ({"argument_schema": {"type": "object", "properties": {"other": {}}}}, "'value'"),
    ({"argument_schema": {"type": "objekt"}}, "argument_schema"),
    ({"examples": [{"args": {"value": "text"}}]}, "examples"),
    ({"native": {"symbol": "labs", "parameters": [{"name": "value", "type": "i128"}]}}, "i128"),
    ({"native": {"symbol": "labs", "parameters": [{"name": "v", "type": "i8", "default": 300}]}},
     "default"),
])
def test_one_mistake_in_a_tool_refuses_the_whole_toolbox(own, change, words):
    caller, folder, _ = own
    manifests.toolbox(folder, "bad", [manifests.labs("fine"), {**manifests.labs("worse"), **change}])
    answer, _ = reload(caller)
    assert answer["loaded"] == ["one", "two"]
    failed, = answer["failed"]
    assert words in failed["error"], failed


def test_a_registration_that_is_a_link_follows_its_file(launch, folder, tmp_path):
    manifests.toolbox(tmp_path / "work", "three", [manifests.labs("third")])
    (folder / "three.json").symlink_to(tmp_path / "work/three.json")
    service = launch({}, [folder])
    manifests.toolbox(tmp_path / "new", "three", [manifests.labs("other")])
    (tmp_path / "new/three.json").rename(tmp_path / "work/three.json")
    until(lambda: "three/other added" in service.daemon.log(), EVENT_SECONDS, "the reload")


def test_environment_and_limits_of_the_configuration(launch, tmp_path):
    """A change of either is taken over by the reload, with new processes."""
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "box", [
        manifests.tool("environment", "getenv", [manifests.text("name")],
                       {"type": "str", "nullable": True}),
        manifests.sleeper()])

    def configured(**settings):
        return {"toolboxes": {"box": settings}}

    service = launch(configured(env={"A": "1", "HOME": "/nowhere"}), [folder])
    with Caller(service.url) as caller:
        def variable(name):
            return caller.invoke("environment", {"name": name})["result"]["result"]

        assert [variable(name) for name in ("A", "HOME", "B")] == ["1", "/nowhere", None]
        before = service.daemon.hosts()
        write_configuration(service.daemon.home, {"toolboxd": configured(
            env={"B": "2"}, limits={"timeout_ms": 100})})
        answer, changed = reload(caller)
        # Other variables are another way to run them, other limits are none.
        assert answer["failed"] == []
        assert [one["changed"] for one in changed] == [["box/environment", "box/sleep"]]
        assert [variable(name) for name in ("A", "B")] == [None, "2"]
        until(lambda: not set(service.daemon.hosts()) & set(before), EVENT_SECONDS, "the hosts of before gone")
        late = caller.invoke("sleep", {"seconds": 60})
        assert (late["code"], late["timeout_ms"]) == ("timeout", 100)


# --- the configuration, half written

def configuration_of(service):
    return service.daemon.home / "config" / "mycroft" / "mycroft.conf"


STRICT = {"tools_enabled": ["add"], "approval": {"mode": "strict"}}
KEPT = "the configuration in force stays as it was"


@pytest.fixture
def strict(launch):
    """A daemon that offers one tool, and asks for approval of everything but what only reads."""
    service = launch(STRICT)
    with Caller(service.url) as caller:
        yield caller, service


def is_strict(caller):
    refused = caller.invoke("subtract", {"a": 1, "b": 2})
    return refused.get("code") == "unknown_tool"


@pytest.mark.parametrize("text, line, words", [
    ('{"toolboxd": {\n "tools_enabled": ["ad', 2, "column"),
    ('{"toolboxd": {"toolboxes": {\n"answers": 5}}}', 2, "must be an object"),
    ("[]", 1, "must hold a JSON object"),
    ('{"toolboxd": {\n "approval": {"mode": "strickt"}}}', 2, "strickt"),
    ('{"toolboxd": {"tools_enabled":\n 5}}', 2, "array"),
])
def test_a_broken_configuration_leaves_what_is_in_force(strict, text, line, words):
    caller, service = strict
    path = configuration_of(service)
    path.write_text(text)
    answer, changed = reload(caller)
    assert changed == [] and answer["total_tools"] == 1
    mistakes = answer["configuration"]
    assert (mistakes[0]["file"], mistakes[0]["line"]) == (str(path), line), mistakes
    assert words in mistakes[0]["error"], mistakes
    assert mistakes[-1] == {"file": None, "line": None, "path": "", "error": KEPT}
    assert is_strict(caller)
    assert f"{path}:{line}" in service.daemon.log() and KEPT in service.daemon.log()

    done = toolboxctl("reload", bus=service.url, home=service.daemon.home)
    assert done.returncode == 1
    assert f"{path}:{line}" in done.stderr and KEPT in done.stderr, done.stderr

    write_configuration(service.daemon.home, {"toolboxd": {"tools_enabled": ["add", "subtract"]}})
    answer, changed = reload(caller)
    assert "configuration" not in answer and answer["total_tools"] == 2
    assert toolboxctl("reload", bus=service.url, home=service.daemon.home).returncode == 0


def test_a_configuration_that_cannot_be_read_leaves_what_is_in_force(strict):
    caller, service = strict
    path = configuration_of(service)
    path.unlink()
    path.mkdir()
    answer, _ = reload(caller)
    assert answer["total_tools"] == 1 and is_strict(caller)
    assert answer["configuration"][0]["file"] == str(path)
    assert "cannot be read" in answer["configuration"][0]["error"]


def test_a_wrong_value_that_decides_nothing_is_told_and_the_rest_taken(strict):
    caller, service = strict
    write_configuration(service.daemon.home, {"toolboxd": {"tools_enabled": ["subtract"],
                                                           "timeout_ms": "soon"}})
    answer, _ = reload(caller)
    assert [mistake["path"] for mistake in answer["configuration"]] == ["/toolboxd/timeout_ms"]
    assert not is_strict(caller)


def test_many_mistakes_are_told_within_bounds(strict):
    caller, service = strict
    write_configuration(service.daemon.home, {"toolboxd": {
        "tools_enabled": ["add"],
        "toolboxes": {f"box-{i}": {"limits": 5} for i in range(500)}}})
    answer, _ = reload(caller)
    assert 0 < len(answer["configuration"]) <= 20


def test_a_client_of_http_that_leaves_while_its_call_waits(launch, folder):
    """Its call has no call_id, and is cancelled."""
    service = launch({}, [folder], kind="embedded", args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    for number in range(3):
        script(folder / "home" / f"one_{number}.sh")
        with Raw(port) as raw:
            raw.send(b"POST /v1/tools/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            time.sleep(0.05)
        with Caller(service.url) as caller:
            answer = until(lambda: (got := caller.invoke(f"one_{number}")).get("code") != "unknown_tool" and got,
                           EVENT_SECONDS, "the tool loaded")
            assert answer["result"] == {"output": "done"}
