# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl mcp`: a server of the Model Context Protocol on stdin and stdout, of both eras."""
import contextlib
import json
import os
import select
import signal
import subprocess
import time

import manifests
import pytest
from caller import Caller
from conftest import Service
from processes import (EVENT_SECONDS, TOOLBOXCTL, at_most, children, environment, is_alive, until,
                       write_configuration)
from test_approval import Person
from test_plugins import plugged

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CHANGED = "notifications/tools/list_changed"
PROMPT = 0.1  # what the end of a call or of the input may take
STOP = 1  # what calls have when their client has closed the input

MODERN = {"_meta": META}
ERAS = pytest.mark.parametrize("extra", [{}, MODERN], ids=["legacy", "modern"])


class Server:
    """One server, and the lines that it has written."""

    def __init__(self, home, *arguments, bus=None):
        env = environment(home, **({"TOOLBOXD_BUS": bus} if bus else {}))
        self.errors = open(home / "stderr", "wb+")
        self.process = subprocess.Popen([TOOLBOXCTL, "mcp", *map(str, arguments)], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, start_new_session=True)
        self.buffer = b""
        self.seen = []
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def send_bytes(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def read(self, seconds):
        """The next message, or None. Each line is a message of JSON-RPC, and there is nothing else."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 65536)
            assert piece, f"it has ended: {self.complaints()}"
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.seen.append(message)
        return message

    def wait(self, is_wanted, seconds=EVENT_SECONDS):
        end = time.monotonic() + seconds
        while True:
            message = self.read(end - time.monotonic())
            assert message, f"not in {self.seen}; {self.complaints()}"
            if is_wanted(message):
                return message

    def begin(self, method, params=None):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method,
                   **({"params": params} if params is not None else {})})
        return self.last_id

    def answer(self, id_):
        return self.wait(lambda message: message.get("id") == id_)

    def ask(self, method, params=None):
        return self.answer(self.begin(method, params))

    def call(self, name, arguments=None, **params):
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **params})

    def names(self, extra):
        return [tool["name"] for tool in self.ask("tools/list", {**extra})["result"]["tools"]]

    def complaints(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def leave(self):
        """Close its input; the seconds until it has ended."""
        began = time.monotonic()
        self.process.stdin.close()
        assert self.process.wait(EVENT_SECONDS) == 0, self.complaints()
        return time.monotonic() - began


def running(caller):
    """The calls that run."""
    return caller.call("ovos.tools.calls", {"state": "running"})["calls"]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    manifests.toolbox(folder, "numbers", [manifests.labs(), manifests.labs("only_here")])
    return folder


@pytest.fixture
def daemon(launch, folder):
    return launch(toolbox_dirs=[folder])


@pytest.fixture
def serve(tmp_path, daemon):
    servers = []

    def start(*arguments):
        server = Server(tmp_path, *arguments, bus=daemon.url)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture
def server(serve):
    return serve()


def text_of(response):
    [block] = response["result"]["content"]
    assert block["type"] == "text"
    return block["text"]


def test_a_client_of_the_legacy_era_shakes_hands(server):
    result = server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                       "clientInfo": {"name": "test", "version": "1"}})["result"]
    assert result["protocolVersion"] == "2025-06-18"
    assert result["capabilities"] == {"tools": {"listChanged": True}}
    assert result["serverInfo"]["name"] == "toolboxd"
    server.send({"method": "notifications/initialized"})
    assert server.ask("ping")["result"] == {}
    assert server.ask("server/discover", MODERN)["result"]["supportedVersions"] == ["2026-07-28"]
    assert server.ask("initialize", {"protocolVersion": "2026-07-28"})["result"]["protocolVersion"] \
        == "2025-11-25"


def test_a_client_of_the_modern_era_discovers_and_may_shake_hands_afterwards(server):
    result = server.ask("server/discover", MODERN)["result"]
    assert result["resultType"] == "complete" and result["ttlMs"] >= 0
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "toolboxd"
    assert server.ask("initialize", {"protocolVersion": "2025-11-25"})["result"]
    assert server.ask("ping", MODERN)["error"]["code"] == -32601
    error = server.ask("tools/list", {"_meta": {**META,
                                                "io.modelcontextprotocol/protocolVersion": "v9"}})["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "v9"}


@ERAS
def test_tools_are_listed_and_called_by_the_names_of_the_list(server, extra):
    names = server.names(extra)
    assert "answers__absolute" in names and "numbers__absolute" in names
    response = server.call("answers__absolute", {"value": -3}, **extra)
    assert response["result"]["structuredContent"] == {"result": 3}
    assert json.loads(text_of(response)) == {"result": 3}
    assert response["result"]["isError"] is False
    assert ("resultType" in response["result"]) == bool(extra)
    for name in names:
        assert "error" not in server.call(name, {"value": "x"}, **extra)


@ERAS
def test_a_bare_name_is_taken_when_only_one_toolbox_has_it(server, extra):
    assert server.call("only_here", {"value": -4}, **extra)["result"]["structuredContent"] == {"result": 4}
    several = server.call("absolute", {"value": -4}, **extra)
    assert several["result"]["isError"] is True and text_of(several).startswith("Ambiguous tool: 'absolute'")


@ERAS
def test_failures_are_results_and_unknown_tools_are_errors(server, extra):
    wrong = server.call("answers__absolute", {"value": "x"}, **extra)
    assert wrong["result"]["isError"] is True
    assert text_of(wrong).splitlines()[-1].startswith("/value")
    assert server.call("answers__not_there", **extra)["result"]["isError"] is True
    assert server.call("answers__hang", {"seconds": 5}, **extra)["result"]["isError"] is True
    unknown = server.call("no_such_tool", **extra)["error"]
    assert unknown["code"] == -32602 and "no_such_tool" in unknown["message"]
    assert server.ask("prompts/list", {**extra})["error"]["code"] == -32601
    assert server.ask("tools/list", {"cursor": "x", **extra})["error"]["code"] == -32602


def test_one_toolbox_has_bare_names_and_several_do_not(serve):
    server = serve("--toolbox", "numbers")
    assert server.names({}) == ["absolute", "only_here"]
    assert server.call("absolute", {"value": -1})["result"]["structuredContent"] == {"result": 1}
    for other in ("echo", "answers__echo"):
        assert server.call(other, {"text": "x"})["error"]["code"] == -32602
    both = serve("--toolbox", "numbers", "--toolbox=answers")
    assert {"numbers__only_here", "answers__echo"} < set(both.names({}))
    assert both.call("absolute", {"value": 1})["error"]["code"] == -32602


def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(server):
    lines = ((b"{", -32700), (b"[]", -32600), (b"\xff", -32700), (b"7", -32600),
             (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
             (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600))
    for line, _ in lines:
        server.send_bytes(b"\r\n \n")
        server.send_bytes(line + b"\n")
    assert server.ask("ping")["result"] == {}
    assert [message["error"]["code"] for message in server.seen[:-1]] == [code for _, code in lines]
    assert not any("id" in message for message in server.seen[:-1])


def test_the_client_learns_which_request_cannot_be_read(server):
    """JSON.stringify() writes half a surrogate pair where a text was cut."""
    server.send_bytes(b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x","arguments":{"t":"\\ud83d"}},"id":"five"}\n')
    assert server.ask("ping")["result"] == {}
    error, = server.seen[:-1]
    assert (error["id"], error["error"]["code"]) == ("five", -32700)
    assert "surrogate" in error["error"]["message"]


def test_a_line_without_an_end_takes_no_memory(server):
    piece = b"x" * 65536
    for _ in range(200):
        server.send_bytes(piece)
    with open(f"/proc/{server.process.pid}/status") as status:
        peak = int(status.read().split("VmHWM:")[1].split()[0])
    server.send_bytes(b"\n")
    assert server.ask("ping")["result"] == {}
    if "asan" not in os.environ.get("TOOLBOXD_BUILD", "dev"):
        assert peak < 400_000


@ERAS
def test_a_call_is_cancelled_at_once_and_has_no_response(server, daemon, extra):
    with Caller(daemon.url) as caller:
        id_ = server.begin("tools/call", {"name": "answers__wait", "arguments": {"seconds": 15}, **extra})
        until(lambda: running(caller), EVENT_SECONDS,
              "the call running")
        began = time.monotonic()
        server.send({"method": "notifications/cancelled", "params": {"requestId": id_}})
        until(lambda: not running(caller), EVENT_SECONDS,
              "the call ended")
        assert time.monotonic() - began < at_most(10 * PROMPT)
        [call] = caller.call("ovos.tools.calls", {"name": "wait"})["calls"]
        assert call["code"] == "cancelled"
    assert server.ask("ping", {} if not extra else None)
    assert not [message for message in server.seen if message.get("id") == id_]


@pytest.mark.parametrize("method, params", [
    ("initialize", {"protocolVersion": "2025-06-18"}), ("server/discover", MODERN), ("tools/list", MODERN)])
def test_a_client_that_closes_its_input_to_stop_is_not_kept_waiting(server, daemon, method, params):
    assert "result" in server.ask(method, params)
    with Caller(daemon.url) as caller:
        for _ in range(3):
            server.begin("tools/call", {"name": "answers__wait", "arguments": {"seconds": 600}})
        until(lambda: len(running(caller)) == 3,
              EVENT_SECONDS, "the calls running")
        assert server.leave() < at_most(STOP + PROMPT)
        until(lambda: not running(caller), EVENT_SECONDS,
              "the calls ended")


def test_without_calls_the_end_of_the_input_is_the_end(server):
    server.ask("initialize", {"protocolVersion": "2025-06-18"})
    assert server.ask("ping")["result"] == {}
    assert server.leave() < at_most(PROMPT)


def test_calls_end_when_nobody_reads_their_responses(server, daemon):
    with Caller(daemon.url) as caller:
        server.begin("tools/call", {"name": "answers__wait", "arguments": {"seconds": 600}})
        until(lambda: running(caller), EVENT_SECONDS, "the call running")
        server.process.stdin.close()
        assert len(running(caller)) == 1, "it is the output of a program, which may be read"
        server.process.stdout.close()
        assert server.process.wait(EVENT_SECONDS) == 0
        until(lambda: not running(caller), EVENT_SECONDS, "the call ended")


GREETING = [{"id": "i", "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"method": "notifications/initialized"}]


@pytest.mark.parametrize("greeting", [[], GREETING], ids=["calls", "handshake"])
@pytest.mark.parametrize("end", ["\n", ""], ids=["line", "no-line"])
def test_the_calls_of_a_pipe_are_answered_before_its_end(daemon, tmp_path, greeting, end):
    """printf '...' | toolboxctl mcp, with and without the messages that clients begin with."""
    text = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in greeting)
    text += call(1, "answers__wait", seconds=3) + call(2, "only_here", value=-4).rstrip("\n") + end
    done = subprocess.run([TOOLBOXCTL, "mcp"], input=text, capture_output=True, text=True, timeout=EVENT_SECONDS,
                          env=environment(tmp_path, TOOLBOXD_BUS=daemon.url))
    answers = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}
    assert (done.returncode, done.stderr) == (0, "")
    assert answers[1]["structuredContent"] == {"result": 0}
    assert answers[2]["structuredContent"] == {"result": 4}


def test_a_signal_ends_the_server_and_its_calls(server, daemon):
    listen = server.begin("subscriptions/listen", {**MODERN, "notifications": {}})
    with Caller(daemon.url) as caller:
        server.begin("tools/call", {"name": "answers__wait", "arguments": {"seconds": 15}})
        until(lambda: running(caller), EVENT_SECONDS,
              "the call running")
        server.process.send_signal(signal.SIGTERM)
        end = server.answer(listen)
        assert end["result"]["_meta"][SUBSCRIPTION] == listen
        server.process.wait(EVENT_SECONDS)
        until(lambda: not running(caller), EVENT_SECONDS,
              "the call ended")


def test_sixty_four_calls_are_in_flight_and_one_more_is_refused(server):
    ids = [server.begin("tools/call", {"name": "answers__wait", "arguments": {"seconds": 15}})
           for _ in range(64)]
    more = server.call("answers__absolute", {"value": 1})
    assert more["result"]["isError"] is True and "64" in text_of(more)
    server.send({"id": ids[0], "method": "tools/call", "params": {"name": "answers__absolute"}})
    assert server.answer(ids[0])["error"]["code"] == -32600
    for id_ in ids:
        server.send({"method": "notifications/cancelled", "params": {"requestId": id_}})
    assert server.call("answers__absolute", {"value": -1})["result"]["structuredContent"] == {"result": 1}


def test_changes_are_told_to_those_who_asked(server, folder):
    server.ask("initialize", {"protocolVersion": "2025-11-25"})
    listen = server.begin("subscriptions/listen",
                          {**MODERN, "notifications": {"toolsListChanged": True, "promptsListChanged": True}})
    deaf = server.begin("subscriptions/listen",
                        {**MODERN, "notifications": {"promptsListChanged": True}})
    first = server.wait(lambda message: "params" in message)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"] == {"_meta": {SUBSCRIPTION: listen}, "notifications": {"toolsListChanged": True}}
    assert server.wait(lambda message: "params" in message)["params"]["notifications"] == {}
    manifests.toolbox(folder, "later", [manifests.labs("new_tool")])
    changes = [server.wait(lambda message: message.get("method") == CHANGED)
               for _ in range(2)]
    assert {change.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) for change in changes} == \
        {None, listen}
    assert "later__new_tool" in server.names({})
    assert not [message for message in server.seen if message.get("method") == CHANGED
                and message.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == deaf]
    server.send({"method": "notifications/cancelled", "params": {"requestId": listen}})
    server.send({"method": "notifications/cancelled", "params": {"requestId": deaf}})
    (folder / "later.json").unlink()
    change = server.wait(lambda message: message.get("method") == CHANGED)
    assert "params" not in change
    assert "later__new_tool" not in server.names({})


@ERAS
def test_a_long_list_has_pages(launch, tmp_path, extra):
    folder = tmp_path / "many"
    for i in range(3):
        manifests.toolbox(folder, f"many{i}", [manifests.labs(f"tool_{n}") for n in range(150)])
    daemon = launch(toolbox_dirs=[folder])
    with Server(tmp_path, bus=daemon.url) as server:
        names, cursor, pages = [], {}, 0
        while pages == 0 or cursor:
            result = server.ask("tools/list", {**extra, **cursor})["result"]
            names += [tool["name"] for tool in result["tools"]]
            cursor = {"cursor": result["nextCursor"]} if "nextCursor" in result else {}
            pages += 1
        assert pages == 3 and len(set(names)) == len(names) == 450
        assert server.call("many2__tool_149", {"value": -1})["result"]["structuredContent"] == {"result": 1}


def test_a_long_name_has_the_way_back(launch, tmp_path):
    folder = tmp_path / "long"
    long = "a" * 60
    manifests.toolbox(folder, long, [manifests.labs("x" * 60), manifests.labs("y")])
    manifests.toolbox(folder, "a__b", [manifests.labs("c")])
    manifests.toolbox(folder, "a", [manifests.labs("b__c")])
    daemon = launch(toolbox_dirs=[folder])
    with Server(tmp_path, bus=daemon.url) as server:
        names = server.names({})
        assert len(set(names)) == 4 and max(map(len, names)) <= 64
        assert "a__b__c" in names
        for name in names:
            assert server.call(name, {"value": -1})["result"]["structuredContent"] == {"result": 1}


def test_a_profile_narrows_what_is_there(launch, folder, tmp_path):
    daemon = launch({"profiles": {"few": {"tool_names": ["only_here"]}}}, [folder])
    with Server(tmp_path, "--profile", "few", bus=daemon.url) as server:
        assert server.names({}) == ["numbers__only_here"]
        assert server.call("numbers__absolute", {"value": 1})["error"]["code"] == -32602


def test_progress_increases_until_the_result(launch, tmp_path):
    daemon = launch({}, [plugged(tmp_path / "plugged")])
    with Server(tmp_path, bus=daemon.url) as server:
        result = server.call("later", {"steps": 20}, _meta={"progressToken": "p"})
        assert result["result"]["structuredContent"]["steps"] == 20
        told = [message["params"] for message in server.seen if "method" in message]
        assert told and {one["progressToken"] for one in told} == {"p"}
        assert all(one["total"] == 1 and one["message"] == "stepping" for one in told)
        values = [one["progress"] for one in told]
        assert values == sorted(set(values)) and values[-1] <= 1
        server.call("later", {"steps": 20})
        assert len([message for message in server.seen if "method" in message]) == len(told)


def test_a_client_hears_that_a_person_is_asked_and_cannot_answer(launch, folder, tmp_path):
    daemon = launch({"approval": {"mode": "execute"}}, [folder])
    with Person(daemon.url) as person, Server(tmp_path, bus=daemon.url) as server:
        person.attach()
        id_ = server.begin("tools/call", {"name": "risky", "arguments": {"value": -5},
                                          "_meta": {"progressToken": 7}})
        question = person.question()
        told = server.wait(lambda message: message.get("method") == "notifications/progress")
        assert told["params"]["progressToken"] == 7 and "person" in told["params"]["message"]
        person.respond(question["id"])
        assert server.answer(id_)["result"]["structuredContent"] == {"result": 5}


def test_it_outlives_the_bus_and_fails_what_ran(launch, folder, tmp_path):
    service = Service("embedded", tmp_path / "first", [folder])
    service.wait_until_ready()
    port = service.url.rsplit(":", 1)[1].split("/")[0]
    with Server(tmp_path, bus=service.url) as server:
        assert "later__new_tool" not in server.names({})
        server.ask("initialize", {"protocolVersion": "2025-11-25"})
        id_ = server.begin("tools/call", {"name": "wait", "arguments": {"seconds": 15}})
        with Caller(service.url) as caller:
            until(lambda: running(caller), EVENT_SECONDS,
                  "the call running")
        service.daemon.kill()
        until(lambda: b"the service is away" in (tmp_path / "stderr").read_bytes(), EVENT_SECONDS, "the loss noticed")
        meanwhile = server.call("wait", {"seconds": 0})
        assert meanwhile["result"]["isError"] is True and "The service is away" in text_of(meanwhile)
        manifests.toolbox(folder, "later", [manifests.labs("new_tool")])
        launch(toolbox_dirs=[folder], port=port)
        answer = server.answer(id_)
        assert answer["result"]["isError"] is True and "was away" in text_of(answer)
        server.wait(lambda message: message.get("method") == CHANGED)
        assert server.call("later__new_tool", {"value": -1})["result"]["structuredContent"] == {"result": 1}


def test_a_call_ends_when_its_service_has_started_again_and_the_bus_stays(launch, folder, tmp_path):
    """No connection is lost then, and no response comes."""
    service = Service("ovos-messagebus", tmp_path / "first", [folder])
    try:
        service.wait_until_ready()
        with Server(tmp_path, bus=service.url) as server:
            server.ask("initialize", {"protocolVersion": "2025-11-25"})
            lost = server.begin("tools/call", {"name": "wait", "arguments": {"seconds": 15}})
            with Caller(service.url) as caller:
                until(lambda: running(caller), EVENT_SECONDS,
                      "the call running")
            service.daemon.kill()
            launch(toolbox_dirs=[folder], bus_url=service.url)
            answer = server.answer(lost)
            assert answer["result"]["isError"] is True and "was away" in text_of(answer)
            until(lambda: not server.call("wait", {"seconds": 0})["result"]["isError"], EVENT_SECONDS, "the service")
            assert server.call("wait", {"seconds": 6})["result"]["isError"] is False, "the service has this one"
    finally:
        service.bus.kill()


def test_without_a_daemon_it_is_one_itself(tmp_path, folder):
    with Server(tmp_path, "--standalone", "--toolbox-dir", folder, "--toolbox", "numbers") as server:
        assert server.names(MODERN) == ["absolute", "only_here"]
        assert server.call("absolute", {"value": -2})["result"]["structuredContent"] == {"result": 2}
        below = children(server.process.pid)
        assert below
        assert server.leave() < at_most(PROMPT)
        until(lambda: not any(map(is_alive, below)), EVENT_SECONDS, "its processes ended")


def test_alone_it_asks_nobody_and_so_denies_what_needs_a_person(tmp_path, folder):
    write_configuration(tmp_path, {"toolboxd": {"approval": {"mode": "execute"}}})
    with Server(tmp_path, "--standalone", "--toolbox-dir", folder) as server:
        denied = server.call("answers__risky", {"value": -2})
        assert denied["result"]["isError"] is True and "PermissionError" in text_of(denied)
        assert server.call("answers__absolute", {"value": -2})["result"]["isError"] is False


def test_the_folder_needs_standalone(tmp_path):
    with Server(tmp_path, "--toolbox-dir", tmp_path) as server:
        assert server.process.wait(EVENT_SECONDS) == 2
        assert "--standalone" in server.complaints()


def test_a_toolbox_that_is_not_there_is_complained_about(serve):
    """It may come later, so the server goes on."""
    server = serve("--toolbox", "numbrs", "--toolbox", "answers", "--toolbox", "nope")
    assert "echo" in str(server.names({}))
    assert server.complaints().splitlines() == ["toolboxctl: no toolbox is called 'numbrs'; is it 'numbers'?",
                                                "toolboxctl: no toolbox is called 'nope'; see toolboxctl status"]


# ── a file as stdin ────────────────────────────────────────────────────────────────────────────


def serve_file(tmp_path, text, *arguments, bus=None, seconds=EVENT_SECONDS):
    """What `toolboxctl mcp <FILE` prints: its status, its messages by their ids, the others, and its complaints."""
    path = tmp_path / "requests.jsonl"
    path.write_text(text)
    with open(path) as requests:
        done = subprocess.run([TOOLBOXCTL, "mcp", *map(str, arguments)], stdin=requests, capture_output=True, text=True,
                              timeout=seconds, env=environment(tmp_path, **({"TOOLBOXD_BUS": bus} if bus else {})))
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return (done.returncode, {one["id"]: one for one in messages if "id" in one},
            [one for one in messages if "id" not in one], done.stderr)


def request(id_, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + "\n"


def call(id_, name, **arguments):
    return request(id_, "tools/call", name=name, arguments=arguments)


def test_a_file_is_served_to_its_end(daemon, tmp_path):
    """Calls that run at the end of the file are answered, and the last line needs no end."""
    status, answers, others, complaints = serve_file(
        tmp_path, request(1, "ping") + "\n" + "{no JSON\n" + call(2, "answers__wait", seconds=1) +
        call(3, "only_here", value=-4).rstrip("\n"), bus=daemon.url)
    assert (status, complaints) == (0, "")
    assert answers.pop(1)["result"] == {} and answers.pop(3)["result"]["structuredContent"] == {"result": 4}
    assert answers.pop(2)["result"]["structuredContent"] == {"result": 0}
    assert not answers and [one["error"]["code"] for one in others] == [-32700]


def test_a_file_of_more_calls_than_may_be_in_flight_is_served(daemon, tmp_path):
    listen = request("l", "subscriptions/listen", notifications={"toolsListChanged": True}, **MODERN)
    text = listen + "".join(call(n, "only_here", value=-n) for n in range(300))
    status, answers, _, complaints = serve_file(tmp_path, text, bus=daemon.url)
    assert (status, complaints) == (0, "")
    assert "result" in answers.pop("l")
    assert {n: one["result"]["structuredContent"]["result"] for n, one in answers.items()} == {n: n for n in range(300)}


def test_an_empty_stdin_is_served_to_its_end(daemon, tmp_path):
    for arguments, bus in ([], daemon.url), (["--standalone"], None):
        done = subprocess.run([TOOLBOXCTL, "mcp", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=EVENT_SECONDS, env=environment(tmp_path, **({"TOOLBOXD_BUS": bus} if bus else {})))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_file_is_served_without_a_daemon(folder, tmp_path):
    status, answers, _, complaints = serve_file(tmp_path, call(1, "only_here", value=-4), "--standalone",
                                                "--toolbox-dir", folder)
    assert (status, complaints) == (0, "") and answers[1]["result"]["structuredContent"] == {"result": 4}


def test_a_folder_as_stdin_is_refused(daemon, tmp_path):
    with open_folder(tmp_path) as fd:
        done = subprocess.run([TOOLBOXCTL, "mcp"], stdin=fd, capture_output=True, text=True, timeout=EVENT_SECONDS,
                              env=environment(tmp_path, TOOLBOXD_BUS=daemon.url))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "toolboxctl: stdin cannot be read: Is a directory\n")


@contextlib.contextmanager
def open_folder(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)
