# SPDX-License-Identifier: Apache-2.0
"""service/python/toolbox_python.py by itself: what it loads, answers and says, frame by frame."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

import pytest
from processes import EVENT_SECONDS, ROOT
from python_site import Site, box

PROGRAM = ROOT / "service" / "python" / "toolbox_python.py"
HEADER = struct.Struct("=IIQ")
INVOKE_HEAD = struct.Struct("=QIIIII")
OUTPUT_MAX = 1 << 20
LOADED, REFUSED, INVOKE, RESULT, FAILED, ERROR, _PROGRESS, EMIT, MESSAGE = range(2, 11)
SECONDS = EVENT_SECONDS

PLUGIN = """
class Count(ToolArguments):
    count: int = Field(ge=1)


class Real(ToolOutput):
    value: float


def fail(args):
    try:
        {}["key"]
    except KeyError as error:
        raise OSError("no disk") from error


def end(error):
    def call(args):
        raise error
    return call


class Mute(Exception):
    def __str__(self):
        raise ValueError


def fork(args):
    import os
    if os.fork() == 0:
        return Reply(reply="the child's")  # which then goes on as if it were the host
    os.wait()
    return Reply(reply="the parent's")


class Box(ToolBox):
    def __init__(self, toolbox_id="box", config=None, bus=None):
        super().__init__(toolbox_id, config, bus)
        self.heard = []
        if bus:
            bus.on("test.news", self.heard.append)

    def ask(self, args):
        reply = self.bus.wait_for_response(Message("test.ask", {"text": args.text}), timeout=20)
        return {"reply": reply.data["text"] if reply else "none"}

    def shout(self, args):
        self.bus.emit(Message("test.loud", {"text": "x" * args.count}))
        return Reply(reply="said")

    def discover_tools(self):
        return [
            tool("echo", lambda args: Reply(reply=self.config.get("before", "") + args.text)),
            tool("fail", fail),
            tool("count", lambda args: {"reply": "x" * args.count}, Count),
            tool("lie", lambda args: {"reply": 5}),
            tool("nan", lambda args: {"value": float("nan")}, Text, Real),
            tool("half", lambda args: {"reply": "\\ud800"}),
            tool("half_error", end(ValueError("\\ud800"))),
            tool("ask", self.ask),
            tool("shout", self.shout, Count),
            tool("heard", lambda args: {"reply": ",".join(
                message.data["text"] for message in self.heard)}),
            tool("leave", lambda args: __import__("os")._exit(3)),
            tool("sys_exit", end(SystemExit(3))),
            tool("interrupt", end(KeyboardInterrupt())),
            tool("mute", end(Mute())),
            tool("fork", fork),
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


class Undescribed(Box):
    def __init__(self, config=None, bus=None):
        super().__init__("undescribed", config, bus)

    def discover_tools(self):
        class NoSchema(ToolArguments):
            call: object = Field(json_schema_extra={"default": object()})
        return [tool("fine", fail), tool("bad", fail, NoSchema)]


class Exiting(Box):
    def __init__(self, config=None, bus=None):
        raise SystemExit


class Twin(Box):
    def __init__(self, config=None, bus=None):
        super().__init__("only-config", config, bus)


class Asking(Box):
    def __init__(self, config=None, bus=None):
        super().__init__("asking", config, bus)
        reply = bus.wait_for_response(Message("test.ask", {"text": "who?"}), timeout=20)
        self.config["before"] = reply.data["text"] if reply else "nobody "
"""

POINTS = {"a-box": "Box", "b-only-config": "OnlyConfig", "c-config-and-bus": "ConfigAndBus",
          "d-broken": "Broken", "e-undiscovered": "Undiscovered", "f-absent": "Nobody",
          "g-undescribed": "Undescribed", "h-exiting": "Exiting", "i-twin": "Twin"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An environment with plugins of every sort of constructor, good and bad."""
    site = Site(tmp_path_factory.mktemp("site") / "venv")
    site.install("toolboxd_boxes", PLUGIN, POINTS)
    site.install("noisy", "print('hello', flush=True)\nimport os\nos.system('echo hello')"
                 + box("noisy"), {"noisy": "Box"})
    site.install("exits", "import sys\nsys.exit('not today')", {"x-exits": "Box"})
    site.install("leaves", "import os\nos._exit(0)", {"y-leaves": "Box"})
    site.install("dies", "import os\nos.kill(os.getpid(), 9)", {"z-dies": "Box"})
    site.install("forking", "import os\nos.fork()" + box("forking"), {"forking": "Box"})
    site.install("asks", "", {"asking": "Box"})
    (site.folder / "asks.py").write_text("from toolboxd_boxes import Asking as Box\n")
    return site


def index_of(*toolbox_ids, names=()):
    """A list of tools as the daemon has it: of each ToolBox these, else all of PLUGIN's."""
    names = names or re.findall(r'tool\("(\w+)"', PLUGIN)
    return [triple(toolbox_id, name) for toolbox_id in toolbox_ids for name in names]


def triple(toolbox_id, name):
    """A tool in that list: the last of it is the ToolBox's entry point."""
    return [toolbox_id, name, {"only-config": "b-only-config",
                               "config-and-bus": "c-config-and-bus"}.get(toolbox_id, toolbox_id)]


class Host:
    """The program, with LOAD frame `load`; for calls that has `tools`."""

    def __init__(self, site, load=None, *others, python=None):
        ours, its = socket.socketpair()
        text = os.memfd_create("load")
        load = load or {}
        self.tools = load.get("tools")
        os.write(text, json.dumps({"kind": "python", "start_timeout_ms": int(SECONDS * 1000), **load}).encode())
        os.lseek(text, 0, os.SEEK_SET)
        # The two descriptors are moved to where the program expects them.
        starter = ("import os, sys; wire, load = int(sys.argv[1]), int(sys.argv[2]);"
                   "wire, load = os.dup(os.dup(wire)), os.dup(os.dup(load));"
                   "os.dup2(wire, 3); os.dup2(load, 4); os.execv(sys.argv[3], sys.argv[3:])")
        self.process = subprocess.Popen(
            [sys.executable, "-c", starter, str(its.fileno()), str(text),
             str(python or site.python), str(PROGRAM), "nothing is missing", *others],
            pass_fds=(its.fileno(), text), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
        return json.loads(payload)

    def send(self, tool, arguments, toolbox_id="a-box"):
        self.calls += 1
        index = self.tools.index(triple(toolbox_id, tool))
        head = INVOKE_HEAD.pack(0, index, 2500, OUTPUT_MAX, 8192, 2)
        self.write(INVOKE, self.calls, head + b"{}" + json.dumps(arguments).encode())

    def call(self, tool, arguments=None, toolbox_id="a-box"):
        self.send(tool, arguments or {}, toolbox_id)
        kind, call_id, payload, _ = self.read_until(RESULT, FAILED, ERROR)
        assert call_id == self.calls
        return kind, payload.decode() if kind == FAILED else json.loads(payload)


def test_the_head_of_a_call_is_that_of_the_daemon():
    header = (ROOT / "service" / "wire" / "wire.h").read_text()
    fields = re.findall(r"uint(32|64)_t (\w+);", re.split("struct wire_invoke {|} __attribute__", header)[1])
    letters, head = "".join("QI"[bits == "32"] for bits, _ in fields), ", ".join(name for _, name in fields)
    assert f'struct.Struct("={letters}")  # {head}' in (PROGRAM.parent / "toolbox_python_bus.py").read_text()


def test_every_constructor_is_understood_and_what_is_broken_is_named(site):
    with Host(site) as host:
        loaded = host.load()
    boxes = {box["entry_point"]: box for box in loaded["toolboxes"]}
    assert {name: box["toolbox_id"] for name, box in boxes.items()} == {
        "a-box": "a-box", "b-only-config": "only-config", "noisy": "noisy", "asking": "asking",
        "c-config-and-bus": "config-and-bus", "forking": "forking"}
    failed = {one["toolbox_id"]: one["error"] for one in loaded["failed"]}
    assert set(failed) == {*POINTS, "x-exits", "y-leaves", "z-dies"} - set(boxes)
    assert failed["d-broken"] == "RuntimeError: the disk is full really"
    assert failed["e-undiscovered"] == "ValueError: no network"
    assert "Nobody" in failed["f-absent"]
    assert "object" in failed["g-undescribed"]
    assert failed["h-exiting"] == "SystemExit"
    assert failed["i-twin"] == "its toolbox_id 'only-config' belongs to the plugin 'b-only-config'"
    assert failed["x-exits"] == "SystemExit: not today"
    # The others are told although these end the process in which they are loaded.
    assert failed["y-leaves"] == "loading it ended the interpreter (exit status 0)"
    assert failed["z-dies"] == "loading it ended the interpreter (SIGKILL)"
    assert loaded["missing"] == "nothing is missing"
    echo = boxes["a-box"]["tools"][0]
    assert echo["name"] == "echo" and echo["description"] == "The tool echo."
    assert echo["argument_schema"]["properties"]["text"]["default"] == "hello"


def test_no_more_is_loaded_than_is_called(site):
    """`y-leaves` comes behind the others by name, and would end the host."""
    load = {"plugins": ["a-box", "b-only-config", "c-config-and-bus", "noisy", "y-leaves"],
            "config": {"a-box": {"before": "> "}, "b-only-config": {"before": "- "}},
            "tools": index_of("a-box", "only-config", "noisy", names=["echo"])}
    with Host(site, load) as host:
        assert host.load() == {"missing": "nothing is missing"}
        assert host.call("echo", {"text": "you"}) == (RESULT, {"reply": "> you"})
        assert host.call("echo", {"text": "you"}, "only-config") == (RESULT, {"reply": "- you"})


def test_only_what_is_asked_for_is_loaded(site):
    with Host(site, {"plugins": ["c-config-and-bus", "nobody"]}) as host:
        loaded = host.load()
        assert [box["toolbox_id"] for box in loaded["toolboxes"]] == ["config-and-bus"]
        assert [one["toolbox_id"] for one in loaded["failed"]] == ["nobody"]
        assert loaded["failed"][0]["error"].startswith("no plugin of this name is installed in ")


def test_one_that_does_not_come_to_an_end_costs_only_itself(tmp_path):
    site = Site(tmp_path / "venv")
    site.install("endless", "import time\ntime.sleep(3600)", {"a-endless": "Box", "z-endless": "Box"})
    site.install("fine", box("fine"), {"fine": "Box"})
    # Each has a third; on a machine where a good one takes longer, a longer time.
    for start_timeout_ms in 12000, 120000:
        with Host(site, {"start_timeout_ms": start_timeout_ms}) as host:
            loaded = host.load()
        if loaded["toolboxes"]:
            break
    assert [one["toolbox_id"] for one in loaded["toolboxes"]] == ["fine"]
    assert [one["toolbox_id"] for one in loaded["failed"]] == ["a-endless", "z-endless"]
    assert all("raise toolboxd.start_timeout_ms" in one["error"] for one in loaded["failed"])


def test_a_package_whose_entry_points_cannot_be_read_is_named(tmp_path):
    """Half of OVOS reads all entry points while it is imported, so that it costs all the others."""
    site = Site(tmp_path / "venv")
    site.install("unreadable", box("unreadable"), listed="[opm.agents.toolbox]\nno equals sign\n")
    with Host(site) as host:
        loaded = host.load()
        assert [one["toolbox_id"] for one in loaded["failed"]] == ["unreadable"]
        assert loaded["toolboxes"] == []


def test_what_was_told_holds_as_long_as_these_files_do(site):
    with Host(site, {"plugins": ["a-box", "d-broken", "x-exits", "asking"]}) as host:
        depends = host.load()["depends"]
    assert depends == sorted(set(depends)) and all(map(os.path.isabs, depends))
    assert {str(site.folder), str(site.python)} <= set(depends)
    # Those of broken plugins too: they may be mended. A class may come from another module.
    for module in "toolboxd_boxes", "exits", "asks":
        assert str(site.folder / f"{module}.py") in depends
    assert str(PROGRAM.parent) not in depends


def test_tools_are_found_by_name(site):
    """The daemon's list may be older than what is installed."""
    tools = [triple(*pair) for pair in (("gone", "echo"), ("a-box", "gone"), ("a-box", "echo"),
                                        ("only-config", "echo"), ("d-broken", "echo"))]
    with Host(site, {"plugins": ["b-only-config", "a-box", "d-broken"], "tools": tools}) as host:
        host.load()
        for toolbox_id in "a-box", "only-config":
            assert host.call("echo", None, toolbox_id) == (RESULT, {"reply": "hello"})
        kind, error = host.call("echo", None, "gone")
        assert kind == ERROR and error["code"] == "tool_failed"
        assert "the ToolBox 'gone' could not be loaded" in error["message"]
        kind, error = host.call("echo", None, "d-broken")
        assert kind == ERROR and "'d-broken' failed: RuntimeError: the disk" in error["message"]
        kind, error = host.call("gone")
        assert kind == ERROR and error == {
            "code": "tool_failed", "message": "ValueError: Unknown tool 'gone' for ToolBox 'a-box'."}


A_BOX = {"plugins": ["a-box"], "tools": index_of("a-box")}


@pytest.fixture(scope="module")
def host(site):
    """One with `a-box`, for calls that it survives."""
    with Host(site, A_BOX) as host:
        host.load()
        yield host


def test_errors_come_with_their_causes(host):
    kind, error = host.call("fail")
    assert kind == ERROR and error == {
        "code": "tool_failed", "message": "OSError: no disk; caused by KeyError: 'key'"}
    kind, error = host.call("count", {"count": 0})
    assert kind == ERROR and error["code"] == "invalid_arguments"
    assert error["violations"][0]["path"] == "/count"
    kind, error = host.call("lie")
    assert kind == ERROR and error["code"] == "invalid_output"
    assert error["violations"][0]["path"] == "/reply"
    assert host.call("half_error") == (ERROR, {"code": "tool_failed",
                                               "message": "ValueError: \\ud800"})
    kind, error = host.call("mute")
    assert kind == ERROR and error["message"].startswith("Mute: ")
    assert host.call("echo") == (RESULT, {"reply": "hello"})


def test_a_result_that_json_cannot_say_is_shown_in_the_error(host):
    for tool, words in ("nan", "{'value': nan}"), ("half", "{'reply': "):
        kind, error = host.call(tool)
        assert kind == ERROR and error["code"] == "tool_failed", (tool, kind, error)
        assert "the result is not JSON" in error["message"] and words in error["message"]


def test_a_result_over_the_limit_costs_no_more_than_its_call(host):
    size = OUTPUT_MAX - len('{"reply":""}')
    assert host.call("count", {"count": size})[0] == RESULT
    assert host.call("count", {"count": size + 1}) == (ERROR, {
        "code": "too_large", "actual": OUTPUT_MAX + 1, "max": OUTPUT_MAX})


@pytest.mark.parametrize("tool, words", [("sys_exit", "SystemExit: 3"),
                                         ("interrupt", "KeyboardInterrupt")])
def test_an_exit_costs_no_more_than_its_call(host, tool, words):
    assert host.call(tool) == (ERROR, {"code": "tool_failed", "message": words})
    assert host.call("echo") == (RESULT, {"reply": "hello"})


def test_a_forked_child_cannot_speak_for_its_parent(host):
    for _ in range(2):
        assert host.call("fork") == (RESULT, {"reply": "the parent's"})


def test_the_bus_is_that_of_the_daemon(host):
    host.send("ask", {"text": "well?"})
    said = [json.loads(host.read()[2]) for _ in range(2)]
    assert said[0] == {"subscribe": "test.ask.response", "wanted": True}
    assert said[1]["type"] == "test.ask" and said[1]["data"] == {"text": "well?"}
    # What a message of OVOS may not be, and the bus takes, is no end of anything.
    for odd in b"{}", b'{"type":"test.ask.response","data":[],"context":7,"more":1}':
        host.write(MESSAGE, 0, odd)
    host.write(MESSAGE, 0, json.dumps(
        {"type": "test.ask.response", "data": {"text": "yes"}, "context": {}}).encode())
    kind, _, payload, said = host.read_until(RESULT)
    assert json.loads(payload) == {"reply": "yes"}
    assert said == [{"subscribe": "test.ask.response", "wanted": False}]


def test_a_message_over_the_limit_costs_no_more_than_its_emit(site):
    with Host(site, A_BOX) as host:
        host.load()
        kind, error = host.call("shout", {"count": OUTPUT_MAX})
        assert kind == ERROR and error["message"].startswith(
            "ValueError: a message 'test.loud' of "), error
        assert host.call("shout", {"count": 1}) == (RESULT, {"reply": "said"})


def test_a_handler_hears_what_it_has_asked_for(site):
    load = {"plugins": ["c-config-and-bus"], "tools": index_of("config-and-bus")}
    with Host(site, load) as host:
        kind, _, payload, said = host.read_until(LOADED)
        # The topics of personas are answered by the daemon: nobody else subscribes to them.
        assert said == [{"subscribe": "test.news", "wanted": True}]
        host.write(MESSAGE, 0, b'{"type":"test.news","data":{"text":"one"},"context":{}}')
        reply = ""
        while not reply:
            reply = host.call("heard", toolbox_id="config-and-bus")[1]["reply"]
        assert reply == "one"


def test_the_bus_may_be_asked_while_a_toolbox_is_constructed(site):
    with Host(site, {"plugins": ["asking"], "tools": index_of("asking", names=["echo"])}) as host:
        while json.loads(host.read()[2]).get("type") != "test.ask":
            pass
        host.write(MESSAGE, 0, b'{"type":"test.ask.response","data":{"text":"me "},"context":{}}')
        host.load()
        assert host.call("echo", None, "asking") == (RESULT, {"reply": "me hello"})


def test_a_host_that_only_tells_is_not_heard_on_the_bus(site):
    start = time.monotonic()
    with Host(site, {"plugins": ["asking"]}) as host:
        kind, _, payload = host.read()
        assert kind == LOADED and json.loads(payload)["toolboxes"][0]["toolbox_id"] == "asking"
    assert time.monotonic() - start < 20  # it has not waited for an answer either


def test_an_interpreter_without_the_plugin_manager_hands_over(site, tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
    bare.chmod(0o755)
    with Host(site, A_BOX, str(site.python), python=bare) as host:
        assert host.load() == {"missing": "nothing is missing"}
    with Host(site, {}, str(tmp_path / "nowhere"), python=bare) as host:
        kind, _, payload = host.read()
        assert kind == REFUSED
        refusal = json.loads(payload)
        assert refusal["pointer"] == "/python"
        assert "ovos_plugin_manager" in refusal["message"]


def test_it_ends_in_order_when_it_is_not_needed_any_more(site, tmp_path):
    mark = tmp_path / "ended"
    site.install("leaving", f"import atexit\natexit.register(open, {str(mark)!r}, 'w')"
                 + box("leaving"), {"leaving": "Box"})
    load = {"plugins": ["leaving"], "tools": index_of("leaving", names=["echo"])}
    with Host(site, load) as host:
        host.load()
        host.socket.shutdown(socket.SHUT_RDWR)
        assert host.process.wait(SECONDS) == 0
    site.remove("leaving")
    assert mark.exists()


def test_it_ends_with_the_daemon_whatever_runs(site):
    with Host(site, A_BOX) as host:
        host.load()
        host.send("ask", {})
        host.read()
        host.socket.shutdown(socket.SHUT_RDWR)
        assert host.process.wait(SECONDS) == 0


def test_it_ends_with_the_daemon_while_it_loads(site):
    with Host(site, {"plugins": ["asking"], "tools": index_of("asking")}) as host:
        host.read()
        host.socket.shutdown(socket.SHUT_RDWR)
        assert host.process.wait(SECONDS) == 0
