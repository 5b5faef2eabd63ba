# SPDX-License-Identifier: Apache-2.0
"""run_llm: whether the assistant speaks after a tool. The flag is taken out of the arguments before they are
checked and before the tool gets them, and comes back beside the result and beside the error, by every door."""
import json

import pytest
from caller import Caller
from conftest import Service
from test_doors_agree import DOORS, Bus

SCHEMA = {"type": "object", "additionalProperties": False, "properties": {"n": {"type": "integer", "default": 1}}}
DECLARED = {"type": "object", "required": ["run_llm"], "additionalProperties": False,
            "properties": {"run_llm": {"type": "boolean", "default": True, "description": "The author's."}}}
OURS = {"type": "boolean", "default": False}


def command(name, schema=SCHEMA, line="cat", **more):
    return {"name": name, "description": "Gives back its arguments.", "risk": "read", "argument_schema": schema,
            "command": {"shell": line, "output": "json"}, **more}


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    home = tmp_path_factory.mktemp("speaks")
    (home / "speaks.json").write_text(json.dumps({"kind": "command", "tools": [
        command("silent", run_llm=False), command("spoken", run_llm=True), command("unsaid"),
        command("declared", DECLARED), command("declared_spoken", DECLARED, run_llm=True),
        command("own", DECLARED, run_llm="argument"), command("fails", line="exit 3", run_llm=False)]}))
    one = Service("embedded", home, [home], configuration={"http": {"listen": ["127.0.0.1:0"]}})
    one.home = home
    with one:
        yield one


@pytest.fixture(scope="module")
def doors(started):
    opened = {name: door(started) for name, door in {"bus": Bus, **DOORS}.items()}
    yield opened
    for door in opened.values():
        door.close()


def flag_of(door, name, arguments):
    """The flag in the answer, and the answer's result or code."""
    if not hasattr(door, "send"):
        answer = door.call(name, arguments)
        return answer.get("run_llm"), answer.get("result", answer.get("code"))
    result = door.send(f"speaks__{name}", arguments)["result"]
    return result.get("_meta", {}).get("toolboxd/run_llm"), result.get("structuredContent")


@pytest.mark.parametrize("door", ["bus", *DOORS])
@pytest.mark.parametrize("name, arguments, flag, result", [
    ("silent", {}, False, {"n": 1}),
    ("silent", {"n": 2, "run_llm": True}, True, {"n": 2}),
    ("spoken", {"n": 2}, True, {"n": 2}),
    ("spoken", {"run_llm": False, "n": 2}, False, {"n": 2}),
    ("spoken", '{"run_llm": false}', False, {"n": 1}),
    ("unsaid", {"n": 2}, None, {"n": 2}),
    ("unsaid", {"run_llm": True}, True, {"n": 1}),
    ("declared", {}, None, {}),
    ("declared", {"run_llm": False}, False, {}),
    ("declared_spoken", {}, True, {}),
    ("own", {"run_llm": False}, None, {"run_llm": False}),
])
def test_a_result_has_the_flag_and_the_tool_does_not(doors, door, name, arguments, flag, result):
    assert flag_of(doors[door], name, arguments) == (flag, result)


@pytest.mark.parametrize("door", ["bus", *DOORS])
def test_an_error_has_the_flag(doors, door):
    for arguments, flag in (({}, False), ({"run_llm": True}, True), ({"run_llm": True, "x": 1}, True)):
        assert flag_of(doors[door], "fails", arguments)[0] == flag


def test_a_flag_that_is_no_boolean(started):
    with Caller(started.url) as caller:
        for wrong, came in (("true", 'the string "true"'), (None, "null"), (1, "the number 1")):
            answer = caller.invoke("silent", {"run_llm": wrong})
            assert answer["code"] == "invalid_arguments"
            [violation] = answer["violations"]
            assert violation["path"] == "/run_llm"
            assert violation["message"].startswith("must be true or false; came: ")
            assert came in violation["message"]
        assert caller.call("ovos.tools.validate", {"name": "unsaid", "args": {"run_llm": True}})["valid"] is True
        persona = caller.call("ovos.persona.tools.call", {"toolbox_id": "speaks", "name": "spoken", "kwargs": {}})
        assert persona == {"toolbox_id": "speaks", "run_llm": True, "result": {"n": 1}}


def test_the_listed_schema_has_the_flag_with_its_default(started):
    with Caller(started.url) as caller:
        listed = {tool["name"]: tool["argument_schema"]["properties"].get("run_llm")
                  for tool in caller.call("ovos.tools.list")["tools"]}
    assert {key: listed["silent"][key] for key in OURS} == OURS and listed["silent"]["description"]
    assert listed["spoken"]["default"] is True
    assert listed["unsaid"] is None
    assert listed["declared"] == listed["declared_spoken"] == listed["own"] == DECLARED["properties"]["run_llm"]


def test_a_parameter_of_that_name_has_to_be_called_an_argument(launch, tmp_path):
    folder = tmp_path / "native.d"
    folder.mkdir()
    tool = {"name": "absolute", "native": {"symbol": "labs", "parameters": [{"name": "run_llm", "type": "i64"}],
                                           "returns": {"type": "i64"}}}
    for number, more in enumerate(({}, {"run_llm": "argument"})):
        (folder / f"box{number}.json").write_text(json.dumps(
            {"kind": "native", "library": "libc.so.6", "tools": [{**tool, **more}]}))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        failed, = caller.call("ovos.tools.reload")["failed"]
        assert failed["toolbox_id"] == "box0" and 'say "run_llm": "argument"' in failed["error"]
        assert caller.invoke("absolute", {"run_llm": -4})["result"] == {"result": 4}
