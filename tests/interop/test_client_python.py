# SPDX-License-Identifier: Apache-2.0
"""clients/python: the client by every door, and the bridge in OVOS's own reasoning loops."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import manifests
import pages
import pytest
from fake_bus import FakeBus
from http_peer import port_of
from processes import EVENT_SECONDS, ROOT, TOOLBOXCTL, environment, free_port, until
from websocket_peer import BINARY, CLOSE, TEXT

PACKAGE = ROOT / "clients" / "python"
sys.path.insert(0, str(PACKAGE))

from toolboxd import AsyncToolboxd, Toolboxd, ToolboxdError, Unreachable  # noqa: E402
from toolboxd import address, bus  # noqa: E402
from toolboxd.adapters import anthropic_result, openai_result  # noqa: E402

DOORS = ["unix", "http", "bus"]


@pytest.fixture
def doors(launch, tmp_path):
    """doors(configuration, folders): a service with all doors, and the URL of each."""
    def begin(configuration=None, folders=(manifests.SHIPPED,), **more):
        path = tmp_path / "socket"
        one = launch(configuration or {}, list(folders),
                     args=["--http", "127.0.0.1:0", "--http", f"unix:{path}"], **more)
        until(lambda: f"Listening on unix:{path}" in one.daemon.log(), EVENT_SECONDS, "the door open")
        one.doors = {"unix": f"unix:{path}", "http": f"http://127.0.0.1:{port_of(one.daemon)}", "bus": one.url}
        return one
    return begin


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built by the README's command, and the folder that pip has installed it to."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, source], check=True)
    built, = folder.glob("toolboxd-*.whl")
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", folder / "site", built], check=True)
    return built, folder / "site"


@pytest.mark.parametrize("door", DOORS)
def test_lists_calls_and_fails_by_every_door(doors, door):
    with Toolboxd(doors().doors[door]) as tools:
        names = {tool["name"] for tool in tools.list()}
        assert {"add", "divide"} <= names
        assert {tool["function"]["name"] for tool in tools.list("openai")} == names
        assert tools.list("markdown").startswith("#")
        assert tools.get("add")["argument_schema"]["required"] == ["a", "b"]
        assert tools.call("add", a=3, b=2 ** 62) == {"result": 2 ** 62 + 3}
        with pytest.raises(ToolboxdError) as failed:
            tools.call("add", a="x")
        assert failed.value.code == "invalid_arguments" and failed.value.violations
        assert "add" in str(failed.value)
        with pytest.raises(ToolboxdError) as failed:
            tools.invoke("ad", {})
        assert failed.value.code == "unknown_tool" and failed.value.data["suggestions"] == ["add"]
        with pytest.raises(ToolboxdError):
            tools.get("nobody")
        with pytest.raises(ValueError):
            tools.call("add", a=float("nan"), b=1)


@pytest.mark.parametrize("door", DOORS)
def test_searches_by_every_door(doors, door):
    import asyncio
    with Toolboxd(doors().doors[door]) as tools:
        found = tools.search("multiply two numbers", limit=2)
        assert found[0]["name"] == "multiply" and len(found) <= 2 and found[0]["score"] >= found[-1]["score"]
        assert tools.search("multiply", format="openai")[0]["function"]["name"] == "multiply"
        assert tools.search("multiply", format="markdown").startswith("#")
        assert tools.search("multiply", toolbox_id="nobody") == []
        with pytest.raises(ToolboxdError) as failed:
            tools.search("")
        assert failed.value.code == "bad_request"

        async def run():
            async with AsyncToolboxd(tools.url) as client:
                return await client.search("multiply two numbers", limit=2)

        assert asyncio.run(run()) == found


@pytest.mark.parametrize("door", DOORS)
def test_any_number_of_threads_call_at_once(doors, door):
    with Toolboxd(doors({"limits": {"in_flight": 400}}).doors[door]) as tools, ThreadPoolExecutor(50) as pool:
        results = list(pool.map(lambda n: tools.call("add", a=n, b=n), range(300)))
    assert results == [{"result": 2 * n} for n in range(300)]


SLEEPY = {"kind": "command", "risk": "read", "tools": [
    {"name": "rest", "description": "Rests.", "timeout_ms": 60000, "command": {"argv": ["sleep", "30"]}}]}


@pytest.fixture
def sleepy(tmp_path):
    folder = tmp_path / "sleepy.d"
    folder.mkdir()
    (folder / "sleepy.json").write_text(json.dumps(SLEEPY))
    return folder


@pytest.mark.parametrize("door", DOORS)
def test_a_cancelled_task_ends_its_call(doors, sleepy, door):
    import asyncio
    service = doors(folders=[sleepy])

    async def run():
        async with AsyncToolboxd(service.doors[door]) as tools:
            task = asyncio.create_task(tools.call("rest"))
            await asyncio.to_thread(until, lambda: "sleep" in " ".join(map(str, service.daemon.hosts())) or
                                    bool(service.daemon.hosts()), EVENT_SECONDS, "a host")
            await asyncio.sleep(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(until, lambda: "cancelled" in service.daemon.log(), EVENT_SECONDS, "the end")
            assert await tools.list()
    asyncio.run(run())


@pytest.mark.parametrize("door", DOORS)
def test_hears_that_the_tools_have_changed(doors, tmp_path, door):
    folder = tmp_path / "more.d"
    folder.mkdir()
    service = doors(folders=[manifests.SHIPPED, folder])
    heard = []
    with Toolboxd(service.doors[door]) as tools:
        assert len(tools.list()) > 20

        def listen():
            for event in tools.events():
                heard.append(event.name)
                return

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        for attempt in range(20):
            if heard:
                break
            (folder / f"sleepy{attempt}.json").write_text(json.dumps(SLEEPY))
            time.sleep(1)
        thread.join(EVENT_SECONDS)
    assert heard == ["changed"]


def test_nobody_is_there(tmp_path):
    for url in (f"unix:{tmp_path}/none", f"http://127.0.0.1:{free_port()}", f"ws://127.0.0.1:{free_port()}/core"):
        with Toolboxd(url) as tools, pytest.raises(Unreachable, match="There is no"):
            tools.list()


def test_a_bus_without_a_service_says_so(monkeypatch):
    monkeypatch.setattr(bus, "SILENCE_SECONDS", 1)
    with contextlib.closing(FakeBus()) as silent, Toolboxd(silent.url) as tools:
        threading.Thread(target=silent.wait_for_client, daemon=True).start()
        with pytest.raises(Unreachable, match="is toolboxd running"):
            tools.list()


@pytest.mark.parametrize("door", DOORS)
def test_a_service_that_goes_ends_its_calls_and_one_that_comes_back_is_found(doors, sleepy, door):
    service = doors(folders=[sleepy])
    with Toolboxd(service.doors[door]) as tools:
        tools.list()
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(tools.call, "rest")
            until(service.daemon.hosts, EVENT_SECONDS, "a host")
            service.daemon.end()
            with pytest.raises((Unreachable, ToolboxdError)):
                call.result(EVENT_SECONDS)
        with pytest.raises(Unreachable):
            tools.list()


@pytest.mark.parametrize("frame", [
    '["ovos.tools.changed", "KEY"]', '"ovos.tools.changed KEY"', '{"type": ["ovos.tools.changed KEY"]}', '{"KEY',
    '{"type": "x.response", "context": ["KEY"], "data": {}}', '{"type": "x.response", "context": null, "data": "KEY"}',
    '{"type": "x.response", "context": {"toolboxd_client": ["KEY"]}}', "", b"", b"KEY \xff",
    '{"type": "ovos.tools.changed KEY", "data": DEEP'])
@pytest.mark.parametrize("library", ["websockets", "websocket"])
def test_a_frame_of_a_hostile_client_is_left_alone(monkeypatch, library, frame):
    """The response after it arrives, by either library, and the end of the connection is noticed."""
    if library == "websocket":
        monkeypatch.setitem(sys.modules, "websockets.sync.client", None)
    with contextlib.closing(FakeBus()) as hostile, contextlib.closing(bus.Bus(hostile.url, "default")) as one:
        one.listeners.append(heard := bus.queue.SimpleQueue())
        with ThreadPoolExecutor(1) as pool:
            accepted = pool.submit(hostile.wait_for_client)
            ask = one.ask("x", {})
            peer = accepted.result(EVENT_SECONDS)
        text, opcode = (frame, BINARY) if isinstance(frame, bytes) else (frame.encode(), TEXT)
        peer.send_frame(opcode, text.replace(b"KEY", one.key.encode()).replace(b"DEEP", b"[" * 100000))
        peer.send(json.dumps({"type": "x.response", "data": {"whole": True},
                              "context": {"toolboxd_client": f"{one.key}-1"}}))
        assert ask.result(EVENT_SECONDS) == {"whole": True} and heard.empty()
        peer.send_frame(CLOSE, b"\x03\xe8")
        peer.close()
        assert heard.get(timeout=EVENT_SECONDS) is None


def test_forged_events_are_kept_in_a_bounded_queue():
    one = bus.Bus("ws://127.0.0.1:1/core", "default")
    one.socket = SimpleNamespace(close=lambda: None)
    one.listeners.append(heard := bus.queue.SimpleQueue())
    for _ in range(10 * bus.UNREAD_MAX):
        one._take('{"type": "ovos.tools.changed", "data": {}}')
    assert heard.qsize() == bus.UNREAD_MAX
    one._lose(one.socket, "it was closed")
    events = [heard.get() for _ in range(bus.UNREAD_MAX + 1)]
    assert events[-1] is None and {event.name for event in events[:-1]} == {"changed"}


def test_a_response_without_data_ends_its_call():
    one = bus.Bus("ws://127.0.0.1:1/core", "default")
    one.waiting["x"] = ask = bus._Ask(one, None)
    one._take('{"type": "x.response", "data": [], "context": {"toolboxd_client": "x", "key": "%s"}}' % one.key)
    with pytest.raises(Unreachable, match="has no data"):
        ask.result(0)


@pytest.mark.parametrize("url, token, words", [
    ("127.0.0.1:8090", None, "must be unix:/PATH"),
    ("ftp://127.0.0.1", None, "must be unix:/PATH"),
    ("ws://127.0.0.1:8181/core", "secret", "A token counts over HTTP"),
])
def test_refuses_an_address_with_words(url, token, words):
    with pytest.raises(ValueError, match=words):
        Toolboxd(url, token=token)


def test_a_token_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "token"
    file.write_text("secret\n")
    file.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        Toolboxd("http://127.0.0.1:1", token_file=str(file))
    file.chmod(0o600)
    assert address.read_token(str(file)) == "secret"


def test_finds_the_service_by_itself(tmp_path, monkeypatch):
    for name in ("TOOLBOXD_HTTP", "TOOLBOXD_BUS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ovos_config", None)
    monkeypatch.setattr(address, "_configurations", lambda: [tmp_path / "a.conf", tmp_path / "b.conf"])
    assert address.default_url() == "ws://127.0.0.1:8181/core"
    (tmp_path / "a.conf").write_text('{"websocket": {"host": "0.0.0.0", "port": 9}} // of the system\n')
    (tmp_path / "b.conf").write_text('{// of the user\n"websocket": {"ssl": true, "route": "/b//us"}}')
    assert address.default_url() == "wss://127.0.0.1:9/b//us"
    (tmp_path / "b.conf").write_text("{")
    with pytest.raises(ValueError, match="b.conf"):
        address.default_url()
    import socket
    (tmp_path / "toolboxd").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "toolboxd" / "http.sock"))
        assert address.default_url() == f"unix:{tmp_path}/toolboxd/http.sock"
    monkeypatch.setenv("TOOLBOXD_HTTP", "http://there:1")
    assert address.default_url() == "http://there:1"


def test_a_models_calls_become_messages(doors):
    with Toolboxd(doors().doors["unix"]) as tools:
        call = {"id": "c1", "function": {"name": "add", "arguments": '{"a": 3, "b": 4}'}}
        assert openai_result(tools, call) == {"role": "tool", "tool_call_id": "c1", "content": '{"result": 7}'}
        call["function"]["arguments"] = "{"
        assert "no JSON" in openai_result(tools, call)["content"]
        block = {"id": "b1", "name": "add", "input": {"a": 3}}
        result = anthropic_result(tools, block)
        assert result["is_error"] and "missing required property 'b'" in result["content"]


def interpreters():
    """The interpreters of this machine, by version."""
    found = {}
    for minor in range(9, 14):
        known = [*Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")]
        path = str(known[0]) if known else shutil.which(f"python3.{minor}")
        if path:
            found[f"3.{minor}"] = path
    return found


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(9, 14)])
def test_every_python_has_the_client(doors, wheel, version):
    python = interpreters().get(version)
    if not python:
        pytest.skip(f"there is no Python {version} here")
    program = ("from toolboxd import Toolboxd\nwith Toolboxd() as tools:\n"
               "    print(tools.call('add', a=3, b=4), len(tools.list()))\n")
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=EVENT_SECONDS,
                          env={"PYTHONPATH": str(wheel[1]), "TOOLBOXD_HTTP": doors().doors["unix"], "HOME": "/"})
    assert done.stdout == "{'result': 7} 26\n", done.stderr


def test_the_wheel_has_what_it_needs_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel[0]).namelist())
    assert {f"toolboxd/{file.name}" for file in (PACKAGE / "toolboxd").iterdir() if file.is_file()} == \
        {name for name in names if name.startswith("toolboxd/")}


def test_the_readme_is_typed(doors, wheel, tmp_path):
    home = tmp_path / "reader"
    home.mkdir()
    env = environment(home, PATH=f"{Path(sys.executable).parent}:{TOOLBOXCTL.parent}:{os.environ['PATH']}",
                      PYTHONPATH=str(wheel[1]), TOOLBOXD_HTTP=doors().doors["unix"])
    pages.expect_page((PACKAGE / "README.md").read_text(), home, env)


# --- the bridge

# A persona's loop with a brain that follows a script: it says what comes next, and keeps what it was told.
PERSONA = r"""
import json, sys
from ovos_agentic_loop.react import ReActLoopEngine
from ovos_agentic_loop.native_toolcall import NativeToolCallEngine
from ovos_agentic_loop.plan_execute import PlanAndExecuteEngine
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall

kind, settings, script = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])

class Brain(ChatEngine):
    supports_tools = kind == "native"
    def __init__(self):
        super().__init__({})
        self.lines, self.heard = list(script), []
    def continue_chat(self, messages, session_id="default", lang=None, units=None, tools=None):
        self.heard.append([message.content for message in messages])
        line = self.lines.pop(0)
        if isinstance(line, dict):
            calls = [ToolCall(id="1", name=line["name"], arguments=line["args"])]
            return AgentMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)
        return AgentMessage(role=MessageRole.ASSISTANT, content=line)

loop = {"react": ReActLoopEngine, "native": NativeToolCallEngine, "plan": PlanAndExecuteEngine}[kind](
    config={"toolboxes": ["toolboxd"], "toolboxd": settings})
loop._brain = brain = Brain()
answer = loop.continue_chat([AgentMessage(role=MessageRole.USER, content="What is 3 + 4?")])
print(json.dumps({"answer": answer.content, "heard": brain.heard,
                  "tools": [tool["name"] for box in loop.toolboxes for tool in box.tool_json_list]}))
"""

ACTION = 'Thought: I add.\nAction: add\nAction Input: {"a": 3, "b": 4}'
WRONG = 'Thought: I add.\nAction: add\nAction Input: {"a": "three", "b": 4}'
SCRIPTS = {
    "react": [WRONG, ACTION, "FINAL_ANSWER: seven"],
    "native": [{"name": "add", "args": {"a": "three", "b": 4}}, {"name": "add", "args": {"a": 3, "b": 4}}, "seven"],
    "plan": ["1. Add the numbers.", WRONG, ACTION, "STEP_RESULT: 7", "seven"],
}


def persona(wheel, kind, settings, tmp_path):
    done = subprocess.run([sys.executable, "-c", PERSONA, kind, json.dumps(settings), json.dumps(SCRIPTS[kind])],
                          capture_output=True, text=True, timeout=EVENT_SECONDS,
                          env=environment(tmp_path, PYTHONPATH=str(wheel[1])))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("door", DOORS)
def test_a_persona_calls_reads_the_error_and_calls_again(doors, wheel, tmp_path, kind, door):
    heard = persona(wheel, kind, {"url": doors().doors[door]}, tmp_path)
    assert heard["answer"].strip() == "seven"
    assert {"add", "divide"} <= set(heard["tools"])
    words = "\n".join(text for turn in heard["heard"] for text in turn)
    assert "Error: tool 'add' failed: ValueError: Tool input validation failed for 'add'" in words
    assert "result=7" in words


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_turn_without_a_service_ends_with_words(wheel, tmp_path, kind):
    heard = persona(wheel, kind, {"url": f"unix:{tmp_path}/nobody"}, tmp_path)
    assert heard["answer"].strip() == "seven" and heard["tools"] == []
    assert "Error: tool 'add' not found" in "\n".join(text for turn in heard["heard"] for text in turn)


def test_a_persona_has_the_tools_of_its_settings_alone(doors, wheel, tmp_path):
    settings = {"url": doors().doors["unix"], "tools": ["add", "math_tools__divide"]}
    assert set(persona(wheel, "native", settings, tmp_path)["tools"]) == {"add", "divide"}


BRIDGE = r"""
import json, sys, time
from toolboxd.ovos import ToolboxdToolBox
box = ToolboxdToolBox(json.loads(sys.argv[1]))
print(json.dumps(sorted(box.tools)), flush=True)
for line in sys.stdin:
    words = json.loads(line)
    if words == "list":
        print(json.dumps(sorted(box.tools)), flush=True)
    elif words == "schema":
        print(json.dumps({tool["name"]: tool["argument_schema"] for tool in box.tool_json_list}), flush=True)
    else:
        try:
            print(json.dumps(str(box.call_tool(*words))), flush=True)
        except Exception as error:
            print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
"""


class Bridge:
    def __init__(self, wheel, settings, home):
        self.path = home / "bridge.log"
        self.lines = ""
        self.process = subprocess.Popen([sys.executable, "-c", BRIDGE, json.dumps(settings)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, stderr=open(self.path, "w"),
                                        env=environment(home, PYTHONPATH=str(wheel[1])))
        self.first = self.read()

    def log(self):
        """What it has logged, on stderr and between its answers."""
        return self.path.read_text() + self.lines

    def read(self):
        while True:
            line = self.process.stdout.readline()
            assert line, "the bridge has ended"
            if line[0] in "[{\"":
                return json.loads(line)
            self.lines += line

    def ask(self, words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize("door", DOORS)
def test_the_bridge_has_a_tool_that_is_installed_later(doors, wheel, tmp_path, door):
    folder = tmp_path / "later.d"
    folder.mkdir()
    service = doors(folders=[manifests.SHIPPED, folder])
    with Bridge(wheel, {"url": service.doors[door]}, tmp_path) as bridge:
        assert "add" in bridge.first and "echo" not in bridge.first
        (folder / "later.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
            {"name": "later", "description": "Says so.", "command": {"argv": ["echo", "later"]}}]}))
        until(lambda: "later" in bridge.ask("list"), EVENT_SECONDS, "the new tool")
        assert "later" in bridge.ask(["later", {}])


def test_the_bridge_passes_schemas_on_as_they_are(doors, wheel, tmp_path):
    service = doors()
    with Bridge(wheel, {"url": service.doors["unix"]}, tmp_path) as bridge, Toolboxd(service.doors["unix"]) as tools:
        assert bridge.ask("schema") == {tool["name"]: tool["argument_schema"] for tool in tools.list("full")}


TRIO = ["call_tool", "get_tool", "search_tools"]


def test_a_lazy_bridge_has_three_tools_in_place_of_many(doors, wheel, tmp_path):
    service = doors()
    settings = {"url": service.doors["unix"], "lazy": True, "tools": ["add", "multiply", "divide"]}
    with Bridge(wheel, settings, tmp_path) as bridge:
        assert bridge.first == TRIO
        found = json.loads(bridge.ask(["search_tools", {"query": "multiply two numbers", "limit": 2}]))["tools"]
        assert found[0]["name"] == "multiply" and found[0]["inputSchema"]["required"] == ["a", "b"]
        assert {tool["name"] for tool in found} <= {"add", "multiply", "divide"}
        assert json.loads(bridge.ask(["get_tool", {"name": "add"}]))["outputSchema"]
        assert bridge.ask(["call_tool", {"name": "multiply", "arguments": {"a": 7, "b": 1}}]) == "result=7"
        assert bridge.ask(["multiply", {"a": 7, "b": 2}]) == "result=14"
        assert "missing required property 'b'" in bridge.ask(["call_tool", {"name": "add", "arguments": {"a": 1}}])
        for name in ("nobody", "factorial", "call_tool"):
            assert bridge.ask(["call_tool", {"name": name}]).startswith("ValueError: Unknown tool")
        assert bridge.ask(["search_tools", {}]) == "ValueError: search_tools needs query, a text"
        assert bridge.ask(["call_tool", {"name": None}]) == "ValueError: call_tool needs name, a text"


@pytest.mark.parametrize("lazy, is_lazy", [("auto", True), (False, False)])
def test_a_list_of_many_tools_is_lazy_by_itself(doors, wheel, tmp_path, lazy, is_lazy):
    folder = tmp_path / "many.d"
    manifests.toolbox(folder, "many", [manifests.labs(f"tool_{number}") for number in range(65)])
    with Bridge(wheel, {"url": doors(folders=[folder]).doors["unix"], "lazy": lazy}, tmp_path) as bridge:
        assert (bridge.first == TRIO) == is_lazy and len(bridge.first) == (3 if is_lazy else 65)


def test_a_list_of_few_tools_is_not_lazy_by_itself(doors, wheel, tmp_path):
    with Bridge(wheel, {"url": doors().doors["unix"], "lazy": "auto"}, tmp_path) as bridge:
        assert "add" in bridge.first and "call_tool" not in bridge.first


def test_the_bridge_waits_for_a_service_with_one_warning(launch, wheel, tmp_path):
    path = tmp_path / "late.sock"
    with Bridge(wheel, {"url": f"unix:{path}"}, tmp_path) as bridge:
        assert bridge.first == [] and bridge.ask("list") == []
        assert bridge.ask(["add", {"a": 1, "b": 1}]).startswith("ValueError: Unknown tool 'add'")
        launch({}, [manifests.SHIPPED], args=["--http", f"unix:{path}"])
        until(lambda: "add" in bridge.ask("list"), EVENT_SECONDS, "the tools")
        assert bridge.ask(["add", {"a": 1, "b": 1}]) == "result=2"


def test_forged_changes_make_the_bridge_list_once_in_a_while(monkeypatch):
    from toolboxd import Event, ovos

    class Flooded:
        """A client that hears of changes without end."""
        lists = 0

        def __init__(self, *_, **__):
            self.is_closed = False

        def list(self, _format):
            Flooded.lists += 1
            return [{"name": "add", "toolbox_id": "math", "description": "", "argument_schema": {}, "output_schema": {}}]

        def events(self):
            while not self.is_closed:
                time.sleep(0.001)
                yield Event("changed", {})
            raise Unreachable("closed")

        def close(self):
            self.is_closed = True

    monkeypatch.setattr(ovos, "Toolboxd", Flooded)
    monkeypatch.setattr(ovos, "RENEW_SECONDS", 0.2)
    began = time.monotonic()
    box = ovos.ToolboxdToolBox({})
    until(lambda: Flooded.lists >= 6, EVENT_SECONDS, "the list renewed")
    assert time.monotonic() - began >= 4 * 0.2 and "add" in box.tools
    box.shutdown()


def test_the_bridge_says_why_there_are_no_tools(doors, wheel, tmp_path):
    service = doors({"http": {"tokens": [{"name": "a", "token_sha256": "0" * 64}]}, "profiles": {"none": {"tool_names": []}}})
    token = tmp_path / "token"
    token.write_text("wrong-token-0123456789\n")
    token.chmod(0o600)
    for settings, words in (({"url": service.doors["http"], "token_file": str(token)}, "no tools for now: "),
                            ({"url": service.doors["unix"], "profile": "none"}, "has no tool for this persona"),
                            ({"url": service.doors["unix"], "tools": ["nobody"]}, "has no tool for this persona"),
                            ({"url": f"unix:{tmp_path}/nobody"}, "no tools for now: There is no tool service at")):
        with Bridge(wheel, settings, tmp_path) as bridge:
            assert bridge.first == [] and bridge.ask("list") == []
            assert bridge.ask(["add", {"a": 1, "b": 1}]).startswith("ValueError: Unknown tool 'add'")
            until(lambda: words in bridge.log(), EVENT_SECONDS, words)
            assert bridge.log().count("WARNING - toolboxd: ") == 1, bridge.log()


def test_a_toolbox_of_python_is_not_the_bridge(launch, wheel, tmp_path):
    """toolboxd loads the ToolBoxes of an interpreter: not the bridge to itself."""
    folder = tmp_path / "python.d"
    folder.mkdir()
    (folder / "plugins.json").write_text(json.dumps(
        {"kind": "python", "python": sys.executable, "env": {"PYTHONPATH": str(wheel[1])}}))
    service = launch({}, [manifests.SHIPPED, folder])
    with Toolboxd(service.url) as tools:
        until(lambda: any(tool["toolbox_id"] != "math_tools" for tool in tools.list("full")), EVENT_SECONDS, "plugins")
        assert all(tool["toolbox_id"] != "toolboxd" for tool in tools.list("full"))
    assert "toolboxd:" not in service.daemon.log()
