# SPDX-License-Identifier: Apache-2.0
"""Personas of OVOS with our tools: the first section of docs/ovos.md, typed; each kind of reasoning loop by
each way, and the table of the page.

    test ── what the model says ──▶ persona (ovos-persona) ─▶ loop (ovos-agentic-loop) ─▶ toolbox ─▶ toolboxd
         ◀── what the model read ──        └── brain: a chat plugin that follows the test's script

The persona's files are the ones of docs/ovos.md, with the address of this test.
"""
import contextlib
import json
import re
import subprocess
import time

import manifests
import pages
import pytest
from http_peer import Http
from ovos_site import Device
from processes import BUILD, EVENT_SECONDS, ROOT, SLOWNESS, TOOLBOXCTL, environment, free_port, listens, until
from test_client_python import Toolboxd, wheel  # noqa: F401  (a fixture)

# The environment of the personas (tests/interop/personas.txt).
PYTHON = ROOT / "build" / "personas" / "bin" / "python"
assert PYTHON.exists(), "tests/run peers makes the environment of the personas"

PAGE = (ROOT / "docs" / "ovos.md").read_text()
LOOPS = {"ReAct": "ovos-react-loop", "native tool calls": "ovos-native-toolcall-loop",
         "plan and execute": "ovos-plan-execute-loop"}
AGAIN_SECONDS, AGAIN_POLL_SECONDS = 20 * SLOWNESS, 0.5  # each try is a turn of the persona
WAYS = ["bridge", "MCP over stdio", "MCP over HTTP", "UTCP"]
# Pairs with --long. The short run has each way with ReAct, and each other loop with two ways.
LONG = [("native tool calls", "MCP over stdio"), ("native tool calls", "MCP over HTTP"),
        ("plan and execute", "MCP over HTTP"), ("plan and execute", "UTCP")]

BRAIN = """
import json, os
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall

LINES, READ = json.loads(os.environ.get("SCRIPT", "[]")), []


class Brain(ChatEngine):
    \"\"\"Says the next of LINES, and keeps what it reads.\"\"\"

    @property
    def supports_tools(self):
        return self.config.get("supports_tools", False)

    def continue_chat(self, messages, session_id="default", lang=None, units=None, tools=None):
        READ.extend(message.content for message in messages)
        line = LINES.pop(0)
        if isinstance(line, dict):
            return AgentMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[
                ToolCall(id="1", name=line["name"], arguments=line["args"])])
        return AgentMessage(role=MessageRole.ASSISTANT, content=line)
"""

# The persona, as a process: a line with the script of a turn, and a line with what came of it.
PERSONA = r"""
import json, sys
import scripted_brain
from ovos_bus_client.session import Session
from ovos_persona import Persona
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

config = json.load(open(sys.argv[1]))
persona = Persona(config["name"], config)
loop = persona.solvers.loaded_modules[config["handlers"][0]]
for line in sys.stdin:
    scripted_brain.LINES[:], scripted_brain.READ[:] = json.loads(line), []
    answer = None
    if scripted_brain.LINES:
        answer = persona.chat([AgentMessage(role=MessageRole.USER, content="Do it.")], Session("default"))
    tools = [tool["name"] for box in loop.toolboxes for tool in box.tool_json_list]
    print("\n>>" + json.dumps({"answer": answer, "read": scripted_brain.READ, "tools": tools}), flush=True)
"""


def file_of(way):
    """The persona's file of the page."""
    return re.search(rf"<!-- persona: {re.escape(way)} -->\n```json\n(.*?)```", PAGE, re.S)[1]


def rows_of_page():
    """The rows of the table of personas."""
    lines = PAGE[PAGE.index("| loop | way |"):].splitlines()[2:]
    return [line for line in lines[:lines.index("")]]


@pytest.fixture(scope="session")
def brain(tmp_path_factory):
    """A folder with the chat plugin `scripted-brain`, as pip would have installed it."""
    folder = tmp_path_factory.mktemp("brain")
    (folder / "scripted_brain.py").write_text(BRAIN)
    info = folder / "scripted_brain-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: scripted-brain\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[opm.agents.chat]\nscripted-brain = scripted_brain:Brain\n")
    return folder


def script(loop, name, args):
    """What the model says in a turn that calls a tool."""
    action = f"Thought: I do it.\nAction: {name}\nAction Input: {json.dumps(args)}"
    return {"ReAct": [action, "FINAL_ANSWER: done"],
            "native tool calls": [{"name": name, "args": args}, "done"],
            "plan and execute": ["1. Do it.", action, "STEP_RESULT: done", "done"]}[loop]


class Persona:
    def __init__(self, loop, way, service, home, site):
        home.mkdir()
        text = file_of(way).replace(LOOPS["ReAct"], LOOPS[loop]).replace("127.0.0.1:8090", f"127.0.0.1:{service.port}")
        config = json.loads(text)
        settings = config[LOOPS[loop]]
        settings["brain"] = "scripted-brain"
        settings["scripted-brain"] = {"supports_tools": loop == "native tool calls"}
        (home / "persona.json").write_text(json.dumps(config))
        # A server of MCP over stdio gets PATH and HOME of its client, and nothing else.
        conf = home / ".config" / "mycroft" / "mycroft.conf"
        conf.parent.mkdir(parents=True)
        conf.write_text(json.dumps({"websocket": {"host": "127.0.0.1", "port": service.bus_port, "route": "/core"}}))
        env = environment(home, PYTHONPATH=":".join(map(str, site)), TOOLBOXD_HTTP=service.unix)
        env["PATH"] = f"{TOOLBOXCTL.parent}:{env['PATH']}"
        self.loop, self.is_wrapped = loop, way == "UTCP"
        self.log = home / "persona.log"
        self.process = subprocess.Popen([PYTHON, "-c", PERSONA, str(home / "persona.json")], env=env, cwd=home,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True)

    def turn(self, lines=()):
        self.process.stdin.write(json.dumps(lines) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(">>"):
                return json.loads(line[2:])
        raise AssertionError(f"the persona has ended:\n{self.log.read_text()}")

    def named(self, name):
        """The name that the loop has for a tool of ours."""
        found = [tool for tool in self.turn()["tools"] if re.search(f"(^|_){name}$", tool)]
        return found[0] if len(found) == 1 else None

    def call(self, name, args):
        """What the model reads when it calls a tool."""
        turn = self.turn(script(self.loop, name, {"body": args} if self.is_wrapped else args))
        assert turn["answer"].strip() == "done", turn
        return "\n".join(turn["read"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def serve(launch, tmp_path):
    """A service with every door, and a folder for a tool that comes later."""
    folder, unix, bus_port = tmp_path / "later.d", tmp_path / "socket", free_port()
    folder.mkdir()

    def begin(configuration=None):
        port = free_port()
        service = launch(configuration or {}, [manifests.SHIPPED, folder], port=bus_port,
                         args=["--http", f"127.0.0.1:{port}", "--http", f"unix:{unix}"])
        service.port, service.unix, service.bus_port, service.folder = port, f"unix:{unix}", bus_port, folder
        return service
    return begin


def has_sum(text, value):
    return re.search(rf"result\W+{value}\b", text) is not None


def install(service):
    (service.folder / "later.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "later", "description": "Says so.", "command": {"argv": ["echo", "later than others"]}}]}))
    with Toolboxd(service.unix) as tools:
        until(lambda: "later" in [tool["name"] for tool in tools.list()], EVENT_SECONDS, "the new tool")


def see_later(persona, service, add, way):
    """When a tool that is installed later is there."""
    install(service)
    if way == "bridge":
        until(lambda: persona.named("later"), EVENT_SECONDS, "the new tool in the persona")
        return "yes, at once" if "later than others" in persona.call("later", {}) else "no"
    is_listed = bool(persona.named("later"))
    said = persona.call(re.sub("math_tools__add$", "later__later", re.sub("_add$", "_later", add)
                               if way == "UTCP" else add), {})
    if "later than others" not in said:
        return "no"
    return "yes, at once" if is_listed else "when it is called"


def see_restart(persona, service, add, way, calls_meanwhile):
    """Whether a call works after the service was started again; a turn while it is away ends in any case."""
    service.daemon.end()
    if calls_meanwhile:
        assert not has_sum(persona.call(add, {"a": 3, "b": 5}), 8)
    service.start_again()
    until(lambda: listens(service.port), EVENT_SECONDS, "the door open")
    if way == "bridge":
        until(lambda: persona.named("add"), EVENT_SECONDS, "the tools again")
    # A client that connects again by itself takes a moment.
    deadline = time.monotonic() + AGAIN_SECONDS
    while not has_sum(persona.call(add, {"a": 30, "b": 4}), 34):
        if time.monotonic() > deadline:
            return "no"
        time.sleep(AGAIN_POLL_SECONDS)
    return "yes"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_persona_uses_the_tools(request, serve, wheel, brain, tmp_path, record_property, loop, way):  # noqa: F811
    if (loop, way) in LONG and not request.config.getoption("--long"):
        pytest.skip("with --long")
    service = serve()
    with Persona(loop, way, service, tmp_path / "persona", [wheel[1], brain]) as persona:
        seen = {}
        add, divide = persona.named("add"), persona.named("divide")
        seen["list"] = "yes" if add and divide else "no"
        seen["call"] = "yes" if has_sum(persona.call(add, {"a": 3, "b": 4}), 7) else "no"
        said = persona.call(divide, {"a": 1, "b": 0})
        seen["error"] = "our words" if "Numerical argument out of domain" in said else "that it failed"
        assert "failed" in said
        seen["later"] = see_later(persona, service, add, way)
        seen["restart"] = see_restart(persona, service, add, way, calls_meanwhile=False)
        seen["call meanwhile"] = see_restart(persona, service, add, way, calls_meanwhile=True)
    row = f"| {loop} | {way} | " + " | ".join(seen.values()) + " |"
    record_property("row", row)
    assert row in rows_of_page(), row


def test_the_table_has_each_loop_and_each_way_once():
    assert sorted(tuple(row.split(" | ")[:2]) for row in rows_of_page()) == \
        sorted((f"| {loop}", way) for loop in LOOPS for way in WAYS)


# --- from a bare OVOS to a persona that sets the volume

def test_the_first_tool_of_a_persona(launch, wheel, brain, tmp_path):  # noqa: F811
    """The page as it stands, with the brain of the test: nothing but mycroft.conf says where the bus is."""
    home = tmp_path / "person"
    places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local" / "share")}
    conf = home / ".config" / "mycroft" / "mycroft.conf"
    conf.parent.mkdir(parents=True)
    service = launch({}, [BUILD / "toolboxes" / "device.d"], kind="ovos-messagebus", env=places)
    conf.write_text(json.dumps({"websocket": {"host": "127.0.0.1", "port": service.bus.port, "route": "/core"}}))
    action, _ = script("ReAct", "set_volume", {"percent": 40})
    env = environment(home, **places, PYTHONPATH=f"{wheel[1]}:{brain}",
                      SCRIPT=json.dumps([action, "FINAL_ANSWER: The volume is at 40 percent."]))
    env["PATH"] = f"{TOOLBOXCTL.parent}:{PYTHON.parent}:{env['PATH']}"
    with Device(service.url) as device:
        pages.expect_page(PAGE.replace("ovos-chat-openai-plugin", "scripted-brain"), home, env)
        changes = [frame["data"] for frame in device.frames if frame["type"] == "mycroft.volume.set"]
    assert changes == [{"percent": 0.4, "play_sound": True}]


# --- the persona server, which has every installed ToolBox and splits names at `__`

@contextlib.contextmanager
def persona_server(home, config, site, **variables):
    """A persona server on a port of its own, as a client of HTTP."""
    home.mkdir()
    (home / "persona.json").write_text(json.dumps(config))
    port, log = free_port(), home / "server.log"
    with open(log, "w") as out:
        server = subprocess.Popen([PYTHON, "-m", "ovos_persona_server", "--persona", str(home / "persona.json"),
                                   "--host", "127.0.0.1", "--port", str(port)], cwd=home, stdout=out, stderr=out,
                                  env=environment(home, PYTHONPATH=":".join(map(str, site)), **variables))
    try:
        until(lambda: listens(port) or server.poll() is not None, EVENT_SECONDS, "the persona server")
        assert server.poll() is None, log.read_text()
        with Http(port) as http:
            yield http
    finally:
        server.kill()
        server.wait()


def server_multiplies(http):
    """Whether the tool `multiply` of the server multiplies."""
    tools = [tool["name"] for tool in http.ask("GET", "/tools/manual").json["tools"]]
    name, = [tool for tool in tools if re.search("(^|__)multiply$", tool)]
    answer = http.ask("POST", f"/tools/{name}", {"a": 7, "b": 1})
    return answer.status == 200 and has_sum(answer.bytes.decode().replace("\\", ""), 7)


def served(way):
    """The persona of the page for a server, which reads the settings of a ToolBox at the top of the file."""
    config = json.loads(file_of(way))
    loop = config[LOOPS["ReAct"]]
    loop["brain"] = "scripted-brain"
    return {**config, **{name: loop[name] for name in loop["toolboxes"]}}


@pytest.mark.parametrize("names", ["qualified", "bare"])
def test_a_persona_server_needs_bare_names_over_mcp(serve, brain, tmp_path, names):
    service = serve({"http": {"mcp_names": names}})
    config = served("MCP over HTTP")
    config["ovos-mcp-toolbox"]["url"] = f"http://127.0.0.1:{service.port}/mcp"
    with persona_server(tmp_path / "server", config, [brain]) as http:
        assert server_multiplies(http) == (names == "bare")


@pytest.mark.parametrize("has_section", [True, False])
def test_a_persona_server_has_the_bridge(serve, wheel, brain, tmp_path, has_section):  # noqa: F811
    service = serve()
    config = served("bridge")
    if not has_section:
        del config["toolboxd"]
    with persona_server(tmp_path / "server", config, [wheel[1], brain], TOOLBOXD_HTTP=service.unix) as http:
        assert server_multiplies(http)
    assert "unknown settings" not in (tmp_path / "server" / "server.log").read_text()


# --- the interfaces of models, with the objects of their own packages

ADAPTERS = r"""
import json, sys
from anthropic.types import ToolUseBlock
from langchain_core.messages import ToolCall
from openai.types.chat import ChatCompletionMessageToolCall
from toolboxd import Toolboxd
from toolboxd.adapters import anthropic_result, langchain_tools, openai_result

def openai(name, args):
    return openai_result(tools, ChatCompletionMessageToolCall.model_validate(
        {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}))

def anthropic(name, args):
    return anthropic_result(tools, ToolUseBlock(id="b1", type="tool_use", name=name, input=args))

def langchain(name, args):
    message = by_name[name].invoke(ToolCall(name=name, args=args, id="t1", type="tool_call"))
    return {"content": message.content, "status": message.status, "id": message.tool_call_id}

with Toolboxd() as tools:
    by_name = {tool.name: tool for tool in langchain_tools(tools)}
    listed = {tool["name"]: tool["parameters"] for tool in tools.list()}
    print(json.dumps({
        "schemas": [by_name[name].args_schema == listed[name] for name in listed],
        "calls": {run.__name__: [run("add", {"a": 3, "b": 4}), run("divide", {"a": 1, "b": 0}), run("add", {"a": "x"})]
                  for run in (openai, anthropic, langchain)}}))
"""


def test_the_adapters_take_the_objects_of_their_packages(serve, wheel, tmp_path):  # noqa: F811
    done = subprocess.run([PYTHON, "-c", ADAPTERS], capture_output=True, text=True, timeout=EVENT_SECONDS,
                          env=environment(tmp_path, PYTHONPATH=str(wheel[1]), TOOLBOXD_HTTP=serve().unix))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["schemas"] and all(seen["schemas"])
    for name, (result, failed, refused) in seen["calls"].items():
        assert json.loads(result["content"]) == {"result": 7}, name
        assert "Numerical argument out of domain" in failed["content"], name
        assert "missing required property 'b'" in refused["content"], name
    assert seen["calls"]["openai"][0]["tool_call_id"] == "c1"
    assert [answer["is_error"] for answer in seen["calls"]["anthropic"]] == [False, True, True]
    assert [answer["status"] for answer in seen["calls"]["langchain"]] == ["success", "error", "error"]


def test_each_adapter_has_forty_lines_at_most():
    source = (ROOT / "clients" / "python" / "toolboxd" / "adapters.py").read_text()
    for part in re.split(r"\n\n\n(?=def )", source)[1:]:
        assert len(part.splitlines()) <= 40, part
