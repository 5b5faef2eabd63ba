# SPDX-License-Identifier: Apache-2.0
"""service/python/toolbox_python.py by itself: what it loads, answers and says, frame by frame."""
import json
import os
import socket
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "service" / "python" / "toolbox_python.py"
HEADER = struct.Struct("=IIQ")
INVOKE_HEAD = struct.Struct("=IIII")
LOADED, REFUSED, INVOKE, RESULT, FAILED, ERROR, _PROGRESS, EMIT, MESSAGE = range(2, 11)
SECONDS = 60

PLUGIN = """
    from typing import Optional
    from ovos_bus_client.message import Message
    from ovos_plugin_manager.templates.agent_tools import *
    from pydantic import Field

    class Text(ToolArguments):
        text: str = "hello"

    class Count(ToolArguments):
        count: int = Field(ge=1)

    class Reply(ToolOutput):
        reply: str

    class Any_(ToolOutput):
        value: float

    def fail(args):
        try:
            {}["key"]
        except KeyError as error:
            raise OSError("no disk") from error

    def ask(box):
        def call(args):
            reply = box.bus.wait_for_response(Message("test.ask", {"text": args.text}), timeout=20)
            return {"reply": reply.data["text"] if reply else "none"}
        return call

    class Box(ToolBox):
        def __init__(self, toolbox_id="box", config=None, bus=None):
            super().__init__(toolbox_id, config, bus)
            self.heard = []
            if bus:
                bus.on("test.news", self.heard.append)

        def discover_tools(self):
            return [
                AgentTool("echo", "Says it again.", Text, Reply,
                          lambda args: Reply(reply=self.config.get("before", "") + args.text)),
                AgentTool("fail", "Fails.", Text, Reply, fail),
                AgentTool("count", "Counts.", Count, Reply, lambda args: {"reply": "x" * args.count}),
                AgentTool("lie", "Breaks its word.", Text, Reply, lambda args: {"reply": 5}),
                AgentTool("nan", "No number.", Text, Any_, lambda args: {"value": float("nan")}),
                AgentTool("half", "Half a pair.", Text, Reply, lambda args: {"reply": "\\ud800"}),
                AgentTool("ask", "Asks the bus.", Text, Reply, ask(self)),
                AgentTool("heard", "What came.", Text, Reply, lambda args: {"reply": ",".join(
                    message.data["text"] for message in self.heard)}),
                AgentTool("leave", "Ends.", Text, Reply, lambda args: __import__("os")._exit(3)),
            ]

    class OnlyConfig(Box):
        def __init__(self, config):
            super().__init__("only-config", config)

    class ConfigAndBus(Box):
        def __init__(self, config=None, bus=None):
            super().__init__("config-and-bus", config, bus)

    class Broken(Box):
        def __init__(self, config=None, bus=None):
            raise RuntimeError("the disk is full\\nreally")

    class Undiscovered(Box):
        def __init__(self, config=None, bus=None):
            super().__init__("undiscovered", config, bus)

        def discover_tools(self):
            raise ValueError("no network")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of packages with plugins of every sort of constructor, good and bad."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "toolboxd_boxes.py").write_text(textwrap.dedent(PLUGIN))
    info = folder / "toolboxd_boxes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toolboxd-boxes\nVersion: 1.0\n")
    names = {"a-box": "Box", "b-only-config": "OnlyConfig", "c-config-and-bus": "ConfigAndBus",
             "d-broken": "Broken", "e-undiscovered": "Undiscovered", "f-absent": "Nobody"}
    (info / "entry_points.txt").write_text("[opm.agents.toolbox]\n" + "".join(
        f"{name} = toolboxd_boxes:{cls}\n" for name, cls in names.items()))
    return folder


class Host:
    def __init__(self, folder, load=None, *others, python=sys.executable):
        ours, its = socket.socketpair()
        text = os.memfd_create("load")
        os.write(text, json.dumps({"kind": "python", **(load or {})}).encode())
        os.lseek(text, 0, os.SEEK_SET)
        # The two descriptors are moved to where the program expects them.
        starter = ("import os, sys; wire, load = int(sys.argv[1]), int(sys.argv[2]);"
                   "wire, load = os.dup(os.dup(wire)), os.dup(os.dup(load));"
                   "os.dup2(wire, 3); os.dup2(load, 4); os.execv(sys.argv[3], sys.argv[3:])")
        self.process = subprocess.Popen(
            [sys.executable, "-c", starter, str(its.fileno()), str(text), python, str(PROGRAM),
             "nothing is missing", *others],
            pass_fds=(its.fileno(), text), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(folder)})
        its.close()
        os.close(text)
        ours.settimeout(SECONDS)
        self.socket, self.reader, self.calls = ours, ours.makefile("rb"), 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.process.wait(SECONDS)

    def read(self):
        size, kind, call_id = HEADER.unpack(self.reader.read(HEADER.size))
        return kind, call_id, self.reader.read(size)

    def read_until(self, *kinds):
        """The next frame of one of the kinds, and the objects of what was said before."""
        said = []
        while True:
            kind, call_id, payload = self.read()
            if kind in kinds:
                return kind, call_id, payload, said
            assert kind == EMIT and call_id == 0
            said.append(json.loads(payload))

    def write(self, kind, call_id, payload):
        self.socket.sendall(HEADER.pack(len(payload), kind, call_id) + payload)

    def load(self):
        kind, _, payload, _ = self.read_until(LOADED, REFUSED)
        assert kind == LOADED, payload
        loaded = json.loads(payload)
        self.tools = [(box["toolbox_id"], tool["name"]) for box in loaded["toolboxes"]
                      for tool in box["tools"]]
        return loaded

    def send(self, tool, arguments, toolbox_id="a-box"):
        self.calls += 1
        head = INVOKE_HEAD.pack(self.tools.index((toolbox_id, tool)), 2500, 1 << 20, 2)
        self.write(INVOKE, self.calls, head + b"{}" + json.dumps(arguments).encode())

    def call(self, tool, arguments=None, toolbox_id="a-box"):
        self.send(tool, arguments or {}, toolbox_id)
        kind, call_id, payload, _ = self.read_until(RESULT, FAILED, ERROR)
        assert call_id == self.calls
        return kind, payload.decode() if kind == FAILED else json.loads(payload)


def test_every_constructor_is_understood_and_what_is_broken_is_named(folder):
    with Host(folder, {"config": {"a-box": {"before": "> "}}}) as host:
        loaded = host.load()
        boxes = {box["entry_point"]: box for box in loaded["toolboxes"]}
        assert {name: box["toolbox_id"] for name, box in boxes.items()
                if not name.startswith("math")} == {
            "a-box": "a-box", "b-only-config": "only-config", "c-config-and-bus": "config-and-bus"}
        failed = {one["toolbox_id"]: one["error"] for one in loaded["failed"]}
        assert failed["d-broken"] == "RuntimeError: the disk is full really"
        assert failed["e-undiscovered"] == "ValueError: no network"
        assert "Nobody" in failed["f-absent"]
        assert loaded["missing"] == "nothing is missing"
        assert str(folder) in loaded["depends"]
        echo = boxes["a-box"]["tools"][0]
        assert echo["name"] == "echo" and echo["description"] == "Says it again."
        assert echo["argument_schema"]["properties"]["text"]["default"] == "hello"
        assert host.call("echo", {"text": "you"}) == (RESULT, {"reply": "> you"})
        assert host.call("echo", {"text": "you"}, "only-config") == (RESULT, {"reply": "you"})


def test_only_what_is_asked_for_is_loaded(folder):
    with Host(folder, {"plugins": ["c-config-and-bus", "nobody"]}) as host:
        loaded = host.load()
        assert [box["toolbox_id"] for box in loaded["toolboxes"]] == ["config-and-bus"]
        assert loaded["failed"][0]["toolbox_id"] == "nobody"
        assert "no plugin of this name" in loaded["failed"][0]["error"]


def test_errors_come_with_their_causes(folder):
    with Host(folder, {"plugins": ["a-box"]}) as host:
        host.load()
        kind, error = host.call("fail")
        assert kind == ERROR and error == {
            "code": "tool_failed", "message": "OSError: no disk; caused by KeyError: 'key'"}
        kind, error = host.call("count", {"count": 0})
        assert kind == ERROR and error["code"] == "invalid_arguments"
        assert error["violations"][0]["path"] == "/count"
        kind, error = host.call("lie")
        assert kind == ERROR and error["code"] == "invalid_output"
        assert error["violations"][0]["path"] == "/reply"
        for tool in "nan", "half":
            kind, error = host.call(tool)
            assert kind == ERROR and error["code"] == "tool_failed", (tool, kind, error)
        assert host.call("echo") == (RESULT, {"reply": "hello"})


def test_the_bus_is_that_of_the_daemon(folder):
    with Host(folder, {"plugins": ["a-box"]}) as host:
        host.load()
        host.send("ask", {"text": "well?"})
        said = [json.loads(host.read()[2]) for _ in range(2)]
        assert said[0] == {"subscribe": "test.ask.response", "wanted": True}
        assert said[1]["type"] == "test.ask" and said[1]["data"] == {"text": "well?"}
        host.write(MESSAGE, 0, json.dumps(
            {"type": "test.ask.response", "data": {"text": "yes"}, "context": {}}).encode())
        kind, _, payload, said = host.read_until(RESULT)
        assert json.loads(payload) == {"reply": "yes"}
        assert said == [{"subscribe": "test.ask.response", "wanted": False}]


def test_a_handler_hears_what_it_has_asked_for(folder):
    with Host(folder, {"plugins": ["c-config-and-bus"]}) as host:
        kind, _, payload, said = host.read_until(LOADED)
        # The topics of personas are answered by the daemon: nobody else subscribes to them.
        assert said == [{"subscribe": "test.news", "wanted": True}]
        host.tools = [("config-and-bus", tool["name"])
                      for tool in json.loads(payload)["toolboxes"][0]["tools"]]
        host.write(MESSAGE, 0, b'{"type":"test.news","data":{"text":"one"},"context":{}}')
        reply = ""
        while not reply:
            reply = host.call("heard", toolbox_id="config-and-bus")[1]["reply"]
        assert reply == "one"


def test_an_interpreter_without_the_plugin_manager_hands_over(folder, tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
    bare.chmod(0o755)
    with Host(folder, {"plugins": ["a-box"]}, sys.executable, python=str(bare)) as host:
        assert host.load()["toolboxes"][0]["toolbox_id"] == "a-box"
    with Host(folder, {}, str(tmp_path / "nowhere"), python=str(bare)) as host:
        kind, _, payload = host.read()
        assert kind == REFUSED
        refusal = json.loads(payload)
        assert refusal["pointer"] == "/python"
        assert "ovos_plugin_manager" in refusal["message"]


def test_it_ends_with_the_daemon(folder):
    with Host(folder, {"plugins": ["a-box"]}) as host:
        host.load()
        host.send("ask", {})
        host.read()
        host.socket.shutdown(socket.SHUT_RDWR)
        assert host.process.wait(SECONDS) == 0
