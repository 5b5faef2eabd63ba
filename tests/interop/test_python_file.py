# SPDX-License-Identifier: Apache-2.0
"""Files of Python whose functions are tools: registered by a manifest, or put into a folder of programs."""
import json
import os
import sys
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, ROOT, is_alive, toolboxctl, until

sys.path.insert(0, str(ROOT / "clients" / "python"))

FIRST_LINE = "# toolbox: python\n"
LIGHTS = '''
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Dict, List, Optional, TypedDict, Union
import asyncio, os, sys, time
from toolbox import tool


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Room:
    name: str
    floor: int = 0


class Point(TypedDict):
    x: float


@tool(risk="read")
def add(a: int, b: Annotated[int, "the second"] = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
    """
    return a + b


@tool(risk="read")
def light(room: Room, level: Level = Level.LOW) -> Room:
    assert isinstance(room, Room) and isinstance(level, Level)
    return Room(room.name + " " + level.value, room.floor + 1)


@tool(risk="read")
async def wait(at: Optional[Point] = None) -> dict:
    await asyncio.sleep(0.001)
    return {"at": at}


@dataclass
class Flat:
    number: int


@tool(risk="read")
def either(home: Union[Flat, Room], more: Dict = {}, list_of: List = []) -> str:
    return type(home).__name__


@tool(risk="read")
def fail(name: str):
    try:
        {}[name]
    except KeyError as error:
        raise OSError("no disk") from error


@tool()
def nothing():
    print("to the log")


@tool(risk="read")
def crash():
    os.kill(os.getpid(), 9)


@tool(risk="read", timeout_ms=300)
def hang():
    time.sleep(600)


@tool(risk="read")
def leave():
    sys.exit(3)


@tool(risk="read")
def strange():
    return {1, 2}


@tool(risk="read")
def process() -> int:
    return os.getpid()
'''
HELPED = '''
import helper
from toolbox import tool


@tool(risk="read")
def helped() -> str:
    return helper.WORD
'''


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("python-file")
    folder = home / "toolbox.d"
    (folder / "home").mkdir(parents=True)
    (folder / "lights.py").write_text(LIGHTS)
    (folder / "lights.json").write_text(json.dumps({"kind": "python", "file": "lights.py", "description": "Lights."}))
    (folder / "home" / "helped.py").write_text(FIRST_LINE + HELPED)
    (folder / "home" / "helper.py").write_text("WORD = 'beside'\n")
    configuration = {"approval": {"mode": "off"}, "start_timeout_ms": int(EVENT_SECONDS * 1000)}
    with Service("embedded", home / "home", [folder], configuration=configuration) as service:
        service.folder = folder
        yield service


@pytest.fixture
def caller(started):
    with Caller(started.url) as caller:
        yield caller


def names(caller):
    return [one["name"] for one in caller.call("ovos.tools.list")["tools"]]


def invoke(caller, tool, **args):
    return caller.call("ovos.tools.invoke", {"name": tool, "args": args})


def test_only_a_host_that_answers_in_a_ring_has_one(launch, tmp_path):
    """A program in Python answers through the socket."""
    manifests.toolbox(tmp_path / "toolbox.d", "numbers", [manifests.labs()])
    (tmp_path / "toolbox.d" / "lights.py").write_text(LIGHTS)
    (tmp_path / "toolbox.d" / "lights.json").write_text(json.dumps({"kind": "python", "file": "lights.py"}))
    service = launch({"approval": {"mode": "off"}, "start_timeout_ms": int(EVENT_SECONDS * 1000)}, [tmp_path / "toolbox.d"])

    def n_rings():
        return Path(f"/proc/{service.daemon.process.pid}/maps").read_text().count("memfd:answers")

    with Caller(service.url) as caller:
        until(lambda: "process" in names(caller), EVENT_SECONDS, "the tools")
        pid = invoke(caller, "process")["result"]["result"]
        assert is_alive(pid) and n_rings() == 0
        assert invoke(caller, "absolute", value=-2)["result"] == {"result": 2} and is_alive(pid)
        assert n_rings() == 1


def test_annotations_and_docstrings_define_the_tools(caller):
    definition = caller.call("ovos.tools.get", {"name": "add"})
    assert definition["description"] == "Add two numbers." and definition["risk"] == "read"
    assert definition["argument_schema"] == {
        "type": "object", "required": ["a"], "additionalProperties": False, "properties": {
            "a": {"type": "integer", "description": "the first"},
            "b": {"type": "integer", "description": "the second", "default": 1}}}
    assert definition["output_schema"] == {
        "type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
    room = caller.call("ovos.tools.get", {"name": "light"})["argument_schema"]["properties"]
    assert room["level"] == {"enum": ["low", "high"], "default": "low"}
    assert room["room"]["required"] == ["name"] and room["room"]["properties"]["floor"]["default"] == 0


@pytest.mark.parametrize("name, args, result", [
    ("add", {"a": 2}, {"result": 3}),
    ("add", {"a": 2.0, "b": 1e1}, {"result": 12}),
    ("light", {"room": {"name": "hall"}, "level": "high"}, {"name": "hall high", "floor": 1}),
    ("wait", {"at": {"x": 1}}, {"at": {"x": 1.0}}),
    ("wait", {}, {"at": None}),
    ("either", {"home": {"number": 1}, "more": {"a": 1}, "list_of": [1]}, {"result": "Flat"}),
    ("either", {"home": {"name": "hall"}}, {"result": "Room"}),
    ("nothing", {}, {"result": None}),
    ("helped", {}, {"result": "beside"}),
])
def test_functions_are_called_with_values_of_their_types(caller, name, args, result):
    assert invoke(caller, name, **args)["result"] == result


@pytest.mark.parametrize("name, args, code, words", [
    ("fail", {"name": "x"}, "tool_failed", "OSError: no disk; caused by KeyError: 'x'"),
    ("leave", {}, "tool_failed", "SystemExit: 3"),
    ("strange", {}, "tool_failed", "the result is not JSON"),
    ("light", {"room": {"name": "hall"}, "level": "off"}, "invalid_arguments", "/level"),
    ("hang", {}, "timeout", ""),
    ("crash", {}, "host_crashed", "SIGKILL"),
])
def test_what_fails_costs_its_own_call(caller, name, args, code, words):
    answer = invoke(caller, name, **args)
    assert answer["code"] == code and words in answer["error"], answer
    assert invoke(caller, "add", a=1)["result"] == {"result": 2}


def test_one_process_has_the_module(caller):
    assert len({invoke(caller, "process")["result"]["result"] for _ in range(5)}) == 1


def test_an_edit_reloads_and_a_mistake_names_its_line(started, caller):
    file = started.folder / "home" / "fresh.py"
    file.write_text(FIRST_LINE + "from toolbox import tool\n@tool\ndef fresh() -> int:\n    return 1\n")
    until(lambda: "fresh" in names(caller), EVENT_SECONDS, "the tool there")
    assert invoke(caller, "fresh")["result"] == {"result": 1}
    file.write_text(FIRST_LINE + "from toolbox import tool\n@tool\ndef fresh() -> int:\n    return 2\n")
    until(lambda: invoke(caller, "fresh").get("result") == {"result": 2}, EVENT_SECONDS, "the new version")
    file.write_text(FIRST_LINE + "from toolbox import tool\n1 / 0\n")

    def failure():
        failed = caller.call("ovos.tools.status")["failed"]
        return [one["error"] for one in failed if "fresh.py:3: ZeroDivisionError: division by zero" in one["error"]]

    until(failure, EVENT_SECONDS, "the mistake named")
    file.unlink()
    until(lambda: "fresh" not in names(caller), EVENT_SECONDS, "the tool gone")


@pytest.mark.parametrize("text, words", [
    ("x ==", "SyntaxError: invalid syntax (box.py, line 1)"),
    ("import sys\nsys.exit(3)", "box.py:2: SystemExit: 3"),
    ("import os\nos._exit(3)", "/file: loading the file failed: its host ended with exit status 3"),
    ("x = 1", "it has no function with @tool (from toolbox import tool)"),
    ("from toolbox import tool\n@tool\ndef f(a: object): pass",
     "box.py:2: TypeError: f(a): <class 'object'> has no JSON Schema"),
    ("from toolbox import tool\n@tool(risk='low')\ndef f(): pass", "risk"),
    ("from toolbox import tool\n@tool\ndef f(): pass\n@tool(name='f')\ndef g(): pass", "it has two functions called 'f'"),
    ("#" * (1 << 20) + "\n", "has more than 1048576 bytes"),
    (None, "cannot be read: No such file or directory"),
])
def test_a_file_without_tools_is_refused_with_the_reason(tmp_path, text, words):
    if text is not None:
        (tmp_path / "box.py").write_text(text)
    (tmp_path / "box.json").write_text('{"kind": "python", "file": "box.py"}')
    done = toolboxctl("check", tmp_path / "box.json", home=tmp_path)
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_a_file_is_imported_and_tested_anywhere(tmp_path):
    """`from toolbox import tool` of clients/python is the same module."""
    import toolbox
    toolbox.TOOLS.clear()
    namespace = {"__name__": __name__}
    exec(compile(LIGHTS, "lights.py", "exec"), namespace)
    assert namespace["add"](2, 3) == 5
    assert [one.name for one in toolbox.TOOLS][:3] == ["add", "light", "wait"]
    toolbox.TOOLS.clear()
    assert os.path.samefile(toolbox.tool.__code__.co_filename, ROOT / "clients/python/toolboxd/tools.py")
