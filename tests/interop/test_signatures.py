# SPDX-License-Identifier: Apache-2.0
"""A tool's parameters in words: `list --long`, `get`, and what follows refused arguments."""
import json
import re
import shlex

import manifests
import pytest
from processes import TOOLBOXCTL, toolboxctl

DIGEST = manifests.tool(
    "digest", "crc32", [manifests.integer("start", "u64", value=0),
                        {"name": "data", "type": "bytes"},
                        manifests.integer("size", "u32", length_of="data")], "u64", timeout_ms=60000)


def program(name, **schema):
    return {"name": name, "description": f"Of {name}.", "risk": "read",
            "argument_schema": {"type": "object", **schema}, "command": {"shell": "true"}}


PROGRAMS = [
    program("code", required=["value", "mode", "tags"], properties={
        "value": {"type": "integer", "minimum": 18},
        "mode": {"enum": ["it's", "b"]},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "integer"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "many": {"enum": [f"a value of twenty bytes {i}" for i in range(40)]}}),
    program("pick", required=["code"], properties={
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"}}),
    program("idle", properties={}),
    program("switch", oneOf=[
        {"properties": {"action": {"const": "get"}, "id": {"type": "string"}}, "required": ["action", "id"]},
        {"properties": {"action": {"const": "set"}, "id": {"type": "string"}, "value": {"type": "number"}},
         "required": ["action", "id", "value"]}]),
    program("odd", required=["a b"], properties={"a b": {"type": "integer"}}),
]


@pytest.fixture
def ctl(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "bytes", [DIGEST], library="libz.so.1")
    (folder / "words.json").write_text(json.dumps({"kind": "command", "tools": PROGRAMS}))
    manifests.toolbox(folder, "wait", [manifests.labs(), manifests.labs("plain", examples=[
        {"args": {"value": -7}, "result": {"result": 7}}])])
    service = launch({}, [folder])

    def run(*args, **more):
        return toolboxctl(*args, bus=service.url, home=tmp_path / "ctl", **more)
    return run


def command_of(done):
    """The command that `get` ends with, as words."""
    lines = done.stdout.splitlines()
    assert lines[-2].startswith("To call it"), done.stdout
    words = shlex.split(lines[-1])
    assert words[0] == TOOLBOXCTL.name
    return words[1:]


def test_a_tool_with_alternatives_has_the_parameters_of_all(ctl):
    signature = 'switch(action: "get"|"set", id: string, value?: number) → output: string'
    assert signature in ctl("list", "--long", env={"LC_ALL": "C.UTF-8"}).stdout
    done = ctl("invoke", "switch", "action=get", env={"LC_ALL": "C.UTF-8"})
    assert done.returncode != 0 and signature in done.stderr, done.stderr


def test_list_long_has_the_parameters_and_the_result_of_each_tool(ctl):
    done = ctl("list", "--long", env={"LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n  absolute(value: integer) → result: integer\n      Calls labs().\n" in done.stdout
    assert "\n  digest(data: base64) → result: integer\n" in done.stdout
    done = ctl("list", "--long", "--toolbox", "wait", env={"LC_ALL": "C"})
    assert done.stdout == ("wait\n"
                           "  absolute(value: integer) -> result: integer\n      Calls labs().\n"
                           "  plain(value: integer) -> result: integer\n      Calls labs().\n")


def test_list_long_needs_no_daemon(tmp_path):
    (tmp_path / "config" / "mycroft").mkdir(parents=True)
    (tmp_path / "config" / "mycroft" / "mycroft.conf").write_text(json.dumps(
        {"toolboxd": {"toolbox_dirs": [str(manifests.SHIPPED)]}}))
    done = toolboxctl("list", "--long", "--offline", home=tmp_path, env={"LC_ALL": "C"})
    assert "add(a: integer, b: integer) -> result: integer" in done.stdout


def test_long_is_for_people(ctl):
    for more in (["--json"], ["--format", "mcp"], ["--stat"]):
        assert ctl("list", "--long", *more).returncode == 2


def test_get_has_no_table_without_rows(ctl):
    program = ctl("get", "idle")
    assert program.returncode == 0 and "ARGUMENT" not in program.stdout and "RESULT" in program.stdout
    assert command_of(program) == ["invoke", "words/idle"]


def test_get_has_the_words_of_violations(ctl):
    out = ctl("get", "code", env={"LC_ALL": "C"}).stdout
    assert re.search("an array of at most 3 elements, each an integer +required", out)
    assert "a string or null" in out and "an integer of at least 18" in out
    assert ", ... (40 in all)" in out and out.isascii()
    out = ctl("get", "code", env={"LC_ALL": "C.UTF-8"}).stdout
    assert ", … (40 in all)" in out
    assert "a string in base64" in ctl("get", "digest").stdout


def test_get_names_the_file_the_kind_and_the_deadline(ctl, tmp_path):
    out = ctl("get", "digest").stdout
    assert "\nDeadline 60 s.\n" in out
    assert f"From {tmp_path}/toolbox.d/bytes.json, kind native" in out


@pytest.mark.parametrize("tool, words", [
    ("plain", ["invoke", "wait/plain", "value=-7"]),
    ("absolute", ["invoke", "wait/absolute", "value=1"]),
    ("digest", ["invoke", "bytes/digest", "data=dGV4dA=="]),
])
def test_get_ends_with_a_command_that_runs(ctl, tool, words):
    done = ctl("get", tool)
    assert command_of(done) == words
    assert ctl(*command_of(done)).returncode == 0
    assert "with values of your own" not in done.stdout


def test_the_command_has_fitting_values_in_quotes(ctl):
    words = command_of(ctl("get", "code"))
    assert words == ["invoke", "words/code", "value=18", "mode=it's", "tags=[1]"]
    assert ctl(*words, "--dry-run").stdout == "valid\n"
    words = command_of(ctl("get", "odd"))
    assert words == ["invoke", "words/odd", "--args", '{"a b":1}']
    assert ctl(*words, "--dry-run").stdout == "valid\n"


def test_a_value_that_cannot_be_made_up_is_left_to_the_reader(ctl):
    assert "\nTo call it, with values of your own:\n" in ctl("get", "pick").stdout


def test_refused_arguments_bring_the_signature(ctl):
    for more in ([], ["--dry-run"]):
        done = ctl("invoke", "absolute", "valeu=3", *more, env={"LC_ALL": "C.UTF-8"})
        assert done.returncode == 1
        assert done.stderr.endswith("toolboxctl: absolute(value: integer) → result: integer\n")
    done = ctl("invoke", "absolute", env={"LC_ALL": "C"})
    assert done.stderr.endswith("toolboxctl: absolute(value: integer) -> result: integer\n")
    done = ctl("invoke", "absolute", "--json")
    assert json.loads(done.stdout)["code"] == "invalid_arguments" and done.stderr == ""
