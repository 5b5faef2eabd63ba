# SPDX-License-Identifier: Apache-2.0
"""Each allocation of the daemon fails once, while it starts and while it serves: it does not end, it leaks
nothing (the sanitizer looks at its end), the request is answered or its connection closed, and what others
wait for comes. Each allocation of a host fails once, from its start to its end: that costs one call an error with
words, and each call has one answer."""
import contextlib
import http.client
import itertools
import json
import mmap
import re
import struct
import subprocess
import sys
import textwrap

import manifests
import pytest
from adder import adder, replace_manifest
from caller import Caller, check_answer
from conftest import Service
from fake_bus import FakeBus
from http_peer import Http, port_of
from processes import BUILD, EVENT_SECONDS, ROOT, Daemon, asan_options, free_port, until
from websocket_peer import Closed

sys.path.insert(0, str(ROOT / "clients" / "python"))

from toolboxd import serve_in_thread, tool  # noqa: E402
from toolboxd.tools import TOOLS  # noqa: E402

POINTS_HOST = 4  # … of the start of a host, and of its first calls
POINTS_CALL = 20 # … of a call in it
POINTS = 40  # allocations that fail in a test, spread over all of them; with --long …
POINTS_LONG = 1 << 20  # … each one, but for …
STARTS_LONG = 1000  # … starts, which take half a second


class ShortMemory:
    """short_memory.c, built and ready to be preloaded into a daemon."""

    FIELDS = ("left", "failed", "seen", "live", "last")

    def __init__(self, folder):
        self.library = folder / "short_memory.so"
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-fno-builtin", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-o", self.library,
                        ROOT / "tests" / "interop" / "short_memory.c"], check=True)
        self.path = folder / "short_memory"
        self.path.write_bytes(bytes(8 * len(self.FIELDS)))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def environment(self, host=None):
        """Of a daemon whose memory fails; with the id of a toolbox, the memory of its hosts."""
        return {"LD_PRELOAD": str(self.library), "SHORT_MEMORY": str(self.path),
                **({"SHORT_MEMORY_HOST": host} if host else {}),
                **asan_options("verify_asan_link_order=0")}

    def __getitem__(self, field):
        return struct.unpack_from("q", self.map, 8 * self.FIELDS.index(field))[0]

    def __setitem__(self, field, value):
        struct.pack_into("q", self.map, 8 * self.FIELDS.index(field), value)

    def fail_at(self, number):
        self["failed"], self["seen"], self["left"] = 0, 0, number


def points(n_allocations, n):
    """The numbers of the allocations that fail: so many from the first to the last."""
    return sorted({1 + n_allocations * index // n for index in range(n)} if n < n_allocations
                  else range(1, n_allocations + 1))


def knock():
    return {"who": "there"}


FUNCTIONS = textwrap.dedent('''\
    # toolbox: python
    from toolbox import tool


    @tool(risk="read")
    def greet(name: str) -> str:
        return "Hello, " + name
    ''')


def toolboxes(folder):
    manifests.answers(folder)
    adder(folder)
    (folder / "text").mkdir()
    shout = folder / "text" / "shout.sh"
    shout.write_text('#!/bin/sh\n# param text string What\n# risk: read\nprintf %s "$TOOL_ARG_TEXT" | tr a-z A-Z\n')
    shout.chmod(0o755)
    (folder / "text" / "names.py").write_text(FUNCTIONS)
    (folder / "bell.json").write_text(json.dumps({
        "kind": "bus", "risk": "read", "tools": [{
            "name": "ring", "description": "Rings.", "bus": {"topic": "test.ring", "reply": False}}]}))
    server = {"command": [sys.executable, "-u", str(ROOT / "tests" / "interop" / "mcp_server.py")], "cwd": str(folder)}
    (folder / "box.json").write_text(json.dumps({"kind": "mcp", "risk": "read", "mcp": server}))
    return [folder, manifests.SHIPPED, BUILD / "toolboxes" / "convert.d"]


CONFIGURATION = {"approval": {"mode": "off"}, "http": {"listen": ["127.0.0.1:0"]}, "crash_limit": 0,
                 "start_timeout_ms": int(EVENT_SECONDS * 1000), "guests": {"enabled": True}}


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    home = tmp_path_factory.mktemp("short-memory")
    folder = home / "toolbox.d"
    memory = ShortMemory(home)
    configuration = {**CONFIGURATION, "http": {"listen": ["127.0.0.1:0", f"unix:{home}/door"]}}
    with Service("embedded", home / "home", toolboxes(folder), configuration=configuration,
                 env=memory.environment()) as service:
        service.memory, service.folder, service.port = memory, folder, port_of(service.daemon)
        service.door = home / "door"
        TOOLS.clear()  # other files of this process have tools of their own
        tool(risk="read")(knock)
        with serve_in_thread("guest", url=service.url) as guest:
            TOOLS.clear()
            assert guest.registered.wait(EVENT_SECONDS)
            with Caller(service.url) as caller:
                until(lambda: {"knock", "several"} <= names(caller), EVENT_SECONDS, "the tools of the guest and the server")
            yield service


def names(caller):
    return {one["name"] for one in caller.call("ovos.tools.list")["tools"]}


ENDED = (Closed, ConnectionError, http.client.HTTPException)
STATUS = "ovos.tools.status"


def on_bus(topic, data=None):
    """A request on a connection of its own; False when its answer never comes: the service has answered
    another question, no call runs any more, and the answer is not among what came."""
    def ask(started):
        with Caller(started.url) as caller:
            mark = caller.send(topic, data)
            found = wait_for_failure(started.memory, caller, mark)
            n_idle = 0  # an answer may follow the end of its last call by a turn of the loop
            while not found and n_idle < 3:
                n_idle = n_idle + 1 if is_idle(caller) else 0
                found = answers_among(caller.seen, mark)
        for answer in found:
            check_answer(answer)
        return len(found) == 1
    return ask


def is_idle(caller):
    """No call runs, and none waits for the tools of a guest that is away: the connection without memory may be its."""
    return "knock" in names(caller) and caller.call(STATUS)["calls"]["in_flight"] == 0


def answers_among(messages, mark):
    return [one for one in messages if one.context.get("mark") == mark and one.type.endswith(".response")]


def wait_for_failure(memory, caller, mark):
    """The answer, or nothing when an allocation has failed first. None fails from then on."""
    found = []
    while not found and not memory["failed"]:
        with contextlib.suppress(TimeoutError):
            caller.receive(0.01)
        found = answers_among(caller.seen, mark)
    memory["left"] = 0
    return found


def reload(started):
    """Over HTTP: a request there has an answer, or the end of its connection, when no call tells its end."""
    with Http(started.door) as http:
        return http.post("/v1/reload").status


def invoke(tool, **args):
    return on_bus("ovos.tools.invoke", {"name": tool, "args": args})


def reload_changed(started):
    replace_manifest(started.folder, reload_changed.version)
    reload_changed.version += 1
    return reload(started)


reload_changed.version = 1


def over_http(method, path, body=None, **headers):
    def ask(started):
        with Http(started.port) as http:
            return http.ask(method, path, body, **headers).status
    return ask


def over_mcp(method, params):
    def ask(started):
        with Http(started.port) as http:
            headers = {"Accept": "application/json, text/event-stream"}
            begun = http.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                **headers)
            headers["Mcp-Session-Id"] = begun.headers.get("Mcp-Session-Id", "")
            return http.post("/mcp", {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}, **headers).status
    return ask


OPERATIONS = {
    "list": on_bus("ovos.tools.list"),
    "list for a model": on_bus("ovos.tools.list", {"format": "openai"}),
    "get": on_bus("ovos.tools.get", {"name": "divide"}),
    "an unknown name": on_bus("ovos.tools.get", {"name": "divid"}),
    "validate": on_bus("ovos.tools.validate", {"name": "divide", "args": {"a": "x"}}),
    "match": on_bus("ovos.tools.match", {"utterance": "what is 3 plus 4"}),
    "search": on_bus("ovos.tools.search", {"query": "add numbers"}),
    "status": on_bus("ovos.tools.status"),
    "a native call": invoke("divide", a=1, b=2),
    "a command": invoke("shout", text="a"),
    "a python call": invoke("greet", name="Ann"),
    "a plugin call": invoke("evaluate_expression", expression="1 + 1"),
    "a bus call": invoke("ring"),
    "a call of a server": invoke("several"),
    "a call of a guest": invoke("knock"),
    "wrong arguments": invoke("divide", a="x"),
    "a batch": on_bus("ovos.tools.invoke", {"calls": [{"name": "divide", "args": {"a": 1, "b": 2}}] * 3}),
    "a reload": reload,
    "a changed manifest": reload_changed,
    "the list over HTTP": over_http("GET", "/v1/tools"),
    "a call over HTTP": over_http("POST", "/v1/tools/divide", {"a": 1, "b": 2}),
    "a job over HTTP": over_http("POST", "/v1/tools/divide?background=1", {"a": 1, "b": 2}),
    "OpenAPI": over_http("GET", "/openapi.json"),
    "the list over MCP": over_mcp("tools/list", {}),
    "a call over MCP": over_mcp("tools/call", {"name": "math_tools__divide", "arguments": {"a": 1, "b": 2}}),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_request_whose_memory_fails_costs_nobody_else(started, times, name):
    memory, ask = started.memory, OPERATIONS[name]
    ask(started)
    memory.fail_at(0)
    ask(started)
    n_allocations = memory["seen"]
    n_silent = 0
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(Caller(started.url))
        for number in points(n_allocations, times(POINTS, POINTS_LONG)):
            memory.fail_at(number)
            with contextlib.suppress(*ENDED):
                n_silent += ask(started) is False
            memory["left"] = 0
            assert started.daemon.process.poll() is None, f"it ended at allocation {number}:\n{started.daemon.log()}"
            try:
                answer = other.invoke("absolute", {"value": -2})
            except Closed:  # the memory of its own queue
                other = stack.enter_context(Caller(started.url))
                answer = other.invoke("absolute", {"value": -2})
            assert answer["result"] == {"result": 2}
    # The memory for an answer's own beginning.
    assert n_silent <= 1
    assert ask(started) is not False


def test_a_start_whose_memory_fails_ends_with_a_reason_or_serves(tmp_path, times):
    folder = tmp_path / "toolbox.d"
    memory = ShortMemory(tmp_path)

    def start(number):
        """Start it with this allocation failing; whether it serves. A daemon that ends says why."""
        port = free_port()
        memory.fail_at(number)
        daemon = Daemon(tmp_path / f"home-{number}", folders, configuration=CONFIGURATION, port=port,
                        env=memory.environment(), expect_start=False)
        has_ended = lambda: daemon.process.poll() is not None
        until(lambda: has_ended() or answers(port), EVENT_SECONDS, f"an end or an answer at allocation {number}")
        memory["left"] = 0
        if not has_ended():
            daemon.end()
            return True
        daemon.has_ended = True
        assert daemon.process.returncode > 0 and "memory" in daemon.log(), \
            f"{number}: exit status {daemon.process.returncode}: {daemon.log()}"
        daemon.check_log()
        return False

    def answers(port):
        try:
            with Caller(f"ws://127.0.0.1:{port}/core") as caller:
                return caller.invoke("absolute", {"value": -2}, seconds=1)
        except (TimeoutError, OSError, Closed):
            return None

    folders = toolboxes(folder)
    assert start(0)
    n_allocations = memory["seen"]
    for number in points(n_allocations, times(POINTS // 2, STARTS_LONG)):
        start(number)


def ask_as_bus(peer):
    """A call over the connection of the daemon to its bus; its result."""
    peer.send(json.dumps({"type": "ovos.tools.invoke", "context": {"n": 1},
                          "data": {"name": "absolute", "args": {"value": -2}}}))
    while True:
        message = json.loads(peer.receive(EVENT_SECONDS))
        if message["type"] == "ovos.tools.invoke.response":
            return message["data"].get("result")


def test_a_connection_whose_memory_fails_is_made_again(tmp_path, times):
    """The bus goes, and comes back."""
    memory = ShortMemory(tmp_path)
    bus = FakeBus()
    daemon = Daemon(tmp_path / "home", toolboxes(tmp_path / "toolbox.d"), bus.url, configuration=CONFIGURATION,
                    env=memory.environment())

    def come_back(peer):
        """End the connection, and answer until a call goes over another one."""
        peer.close()
        while True:
            with contextlib.suppress(Closed, ConnectionError, TimeoutError):
                peer = bus.wait_for_client()
                memory["left"] = 0
                result = ask_as_bus(peer)
                if result is not None:
                    return peer, result

    try:
        peer = bus.wait_for_client()
        until(lambda: ask_as_bus(peer), EVENT_SECONDS, "a first result")
        peer, _ = come_back(peer)  # the toolboxes are there, and what is made once is made
        memory.fail_at(0)
        peer, _ = come_back(peer)
        n_allocations = memory["seen"]
        for number in points(n_allocations, times(5, POINTS)):
            memory.fail_at(number)
            peer, result = come_back(peer)
            assert result == {"result": 2}, f"allocation {number}"
    finally:
        daemon.end()
        bus.close()


# ── hosts ──────────────────────────────────────────────────────────────────────────────────────────

GIVING = """
#include <stdlib.h>
#include <string.h>
struct pair { int number; const char *text; };
char *seed(int n) { char *text = malloc(16); strcpy(text, "seed"); text[0] += n; return text; }
void unseed(char *text) { free(text); }
struct pair *pair(void) { static struct pair one = {7, "seven"}; return &one; }
char **words(void) { char **all = calloc(3, sizeof(*all)); all[0] = strdup("a"); all[1] = strdup("b"); return all; }
void free_words(char **all) { for (char **at = all; *at; at++) free(*at); free(all); }
int count(char *const *all) { int n = 0; while (all[n]) n++; return n; }
int hand(char **out) { *out = strdup("handed"); return 0; }
void reverse(unsigned char *data, size_t size) { for (size_t i = 0; i < size / 2; i++) { unsigned char c = data[i];
    data[i] = data[size - 1 - i]; data[size - 1 - i] = c; } }
"""


def native_host(folder, version):
    """A native toolbox with `init` and a tool for each kind of result."""
    folder.mkdir(exist_ok=True)
    if not (folder / "libgiving.so").exists():
        source = folder / "giving.c"
        source.write_text(GIVING)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libgiving.so", source], check=True)

    def steps(name, *calls, parameters=(), **native):
        return {"name": name, "description": f"{version}.", "risk": "read",
                "native": {"parameters": list(parameters), "steps": list(calls), **native}}

    freed = {"type": "str", "transfer": "full", "free": "free"}
    content = steps("show", {"call": "strdup", "args": ["$blocks"], "returns": {
        "name": "content", "type": "json", "transfer": "full", "free": "free"}},
        parameters=[{"name": "blocks", "type": "json"}], output="content")
    manifests.toolbox(folder, "host", [
        manifests.labs("whole"),
        steps("pair", {"call": "pair", "returns": {"name": "pair", "type": "struct", "struct": "pair"}}),
        steps("list", {"call": "words", "returns": {"name": "all", "type": "strv", "transfer": "full",
                                                    "free": "free_words"}},
              {"call": "count", "args": ["$all"], "returns": {"name": "n", "type": "i32"}}),
        steps("hand", {"call": "hand", "args": [{"out": {"name": "text", **freed}}], "returns": {"type": "i32"}}),
        steps("cut", {"call": "strcpy", "args": [{"out": {"name": "copy", "type": "handle", "size": 64}}, "$text"]},
              {"call": "strtok", "args": ["$copy", {"str": " "}], "returns": {"name": "first", "type": "str"}},
              {"repeat": {"call": "strtok", "args": [None, {"str": " "}], "returns": {"name": "word", "type": "str"},
                          "while": "not_null"},
               "steps": [{"call": "seed", "args": [{"i32": 1}], "returns": {"name": "seed", "type": "handle"},
                          "finally": {"call": "unseed", "args": ["$seed"]}}],
               "collect": {"name": "words", "of": {"word": "$word"}}}, parameters=[manifests.text("text")]),
        manifests.tool("turn", "reverse", [{"name": "data", "type": "bytes", "dir": "inout"}, manifests.integer(
            "size", "usize", length_of="data")], "void"),
        steps("kept", {"read": "$$seed", "type": "str", "name": "text"}),
        content,
    ], library="./libgiving.so", structs={"pair": {"fields": [
        {"name": "number", "type": "i32"}, {"name": "text", "type": "str"}]}},
        init=[{"call": "seed", "args": [{"i32": 0}], "returns": {"name": "seed", "type": "handle"},
               "finally": {"call": "unseed", "args": ["$seed"]}}])


def plugin_host(folder, version):
    """A copy of a plugin, whose bytes differ by the version."""
    folder.mkdir(exist_ok=True)
    name = "libtoolbox_convert.so"
    fresh = folder / f".{name}"
    fresh.write_bytes((BUILD / "toolboxes" / "convert.d" / name).read_bytes() + b"%d" % version)
    fresh.rename(folder / name)
    manifests.replace(folder / "host.json", {"kind": "plugin", "library": f"./{name}", "risk": "read",
                                             "description": f"{version}."})


def command_host(folder, version):
    folder.mkdir(exist_ok=True)
    manifests.replace(folder / "host.json", {"kind": "command", "risk": "read", "tools": [
        {"name": "say", "description": f"{version}.", "command": {"argv": ["printf", "%s", "{text}"]},
         "argument_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]})


def python_host(folder, version):
    folder.mkdir(exist_ok=True)
    (folder / "host.py").write_text(FUNCTIONS + f"\n\n# {version}\n")
    manifests.replace(folder / "host.json", {"kind": "python", "file": "host.py", "description": f"{version}."})


BLOCKS = [{"type": "text", "text": "a"}]
NATIVE_CALLS = [
    ("whole", {"value": -3}, {"result": 3}),
    ("pair", {}, {"pair": {"number": 7, "text": "seven"}}),
    ("list", {}, {"all": ["a", "b"], "n": 2}),
    ("hand", {}, {"text": "handed"}),
    ("cut", {"text": "a b c"}, {"first": "a", "words": [{"word": "b"}, {"word": "c"}]}),
    ("turn", {"data": "AAEC"}, {"data": "AgEA"}),
    ("kept", {}, {"text": "seed"}),
    ("show", {"blocks": BLOCKS}, None),
]
HOSTS = {
    "native": (native_host, NATIVE_CALLS),
    "plugin": (plugin_host, [("evaluate_expression", {"expression": "1 + 1"}, None)]),
    "command": (command_host, [("say", {"text": "a"}, {"output": "a"})]),
    "python": (python_host, [("greet", {"name": "Ann"}, {"result": "Hello, Ann"})]),
}


NO_MEMORY = re.compile("memory|Cannot allocate|its host ended")


class Hosts:
    """A daemon with a toolbox whose hosts run short of memory, and another one."""

    def __init__(self, home, kind):
        self.write, self.calls = HOSTS[kind]
        self.memory, self.folder, self.door = ShortMemory(home), home / "toolbox.d", home / "door"
        self.versions = itertools.count()
        self.write(self.folder, next(self.versions))
        manifests.answers(home / "others.d")
        self.service = Service("embedded", home / "home", [self.folder, home / "others.d"],
                               configuration={**CONFIGURATION, "http": {"listen": [f"unix:{self.door}"]}},
                               env=self.memory.environment("host"))

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *_):
        self.service.end()

    def call(self, name, args, result):
        """The words of the error of a call, or nothing. It has one answer, and a call of the other toolbox its own."""
        with Caller(self.service.url) as caller:
            mark = caller.send("ovos.tools.invoke", {"name": name, "args": args})
            answer = caller.answer_to("ovos.tools.invoke", mark).data
            assert caller.invoke("absolute", {"value": -2})["result"] == {"result": 2}
            assert len(answers_among(caller.settle(), mark)) == 1
        assert "error" in answer or result is None or answer["result"] == result
        return answer.get("error")

    def replace(self):
        """The host of the old version ends, another one begins with the next call."""
        self.write(self.folder, next(self.versions))
        with Http(self.door) as http:
            assert http.post("/v1/reload").status == 200

    def call_all(self):
        """The words of the errors of a call of each kind."""
        return list(filter(None, [self.call(*call) for call in self.calls]))


@pytest.mark.parametrize("kind", HOSTS)
def test_a_host_whose_memory_fails_costs_one_call_an_error(tmp_path, times, kind):
    """While it describes its tools, while another one starts, in a first call of each kind, and in the end."""
    with Hosts(tmp_path, kind) as hosts:
        memory = hosts.memory
        assert hosts.call_all() == []
        memory.fail_at(0)
        hosts.replace()
        assert hosts.call(*hosts.calls[0]) is None
        n_start = memory["seen"]
        assert hosts.call_all() == []
        n_calls = memory["seen"] - n_start
        n_points = times(1 if kind == "python" else POINTS_HOST, POINTS_LONG)  # an interpreter starts for seconds
        numbers = points(n_start, n_points) + [n_start + number for number in points(n_calls, n_points)]
        for number in numbers:
            memory.fail_at(number)
            hosts.replace()
            failed = hosts.call_all()
            memory["left"] = 0
            where = f"allocation {number} of {n_start} and {n_calls}: {failed}"
            assert len(failed) <= 1 and all(map(NO_MEMORY.search, failed)), where
            assert hosts.call(*hosts.calls[0]) is None, where


def test_a_call_whose_host_runs_short_of_memory_costs_itself_alone(tmp_path, times):
    """Only the host of a plugin allocates in each call: others have all memory after the first. A host that lives on
    keeps no more with each failure."""
    with Hosts(tmp_path, "plugin") as hosts:
        memory, call = hosts.memory, hosts.calls[0]

        def fail_at(number):
            """The host, and the blocks of memory that it keeps."""
            memory.fail_at(number)
            words = hosts.call(*call)
            memory["left"] = 0
            assert words is None or NO_MEMORY.search(words), f"allocation {number}: {words}"
            assert hosts.call(*call) is None, f"after allocation {number}"
            return memory["last"], memory["live"]

        assert [hosts.call(*call) for _ in range(2)] == [None, None]
        memory.fail_at(0)
        assert hosts.call(*call) is None
        n_allocations = memory["seen"]
        assert n_allocations > 0
        for number in points(n_allocations, times(POINTS_CALL, POINTS_LONG)):
            fail_at(number)
            host, kept = fail_at(number)
            again = fail_at(number)
            assert again[0] != host or again[1] <= kept, f"allocation {number} of {n_allocations}: {kept}, {again[1]}"
