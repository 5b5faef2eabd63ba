# SPDX-License-Identifier: Apache-2.0
"""What a hostile client of HTTP and of MCP may try, beside callers that must lose nothing by it.

    what                                        test
    both lengths, bad chunks, folded lines      test_http `a_malformed_request_is_refused…`; tests/fuzz/request
    slow headers and bodies                     `a_request_that_does_not_end…`, `a_connection_that_says_nothing…`
    100,000 headers                             `headers_without_end`; one, test_http `a_malformed_request…`
    10,000 connections                          `ten_thousand_connections…`; test_http `no_more_connections…`
    half-closed clients                         `clients_that_close_their_half`; test_http `a_peer_that_goes_away…`
    pipelining                                  `ten_thousand_requests_at_once`; test_http `a_second_request…`
    wrong Host, Origin, Content-Type            test_http `a_page_of_another_site…`, `a_body_has_a_type`
    bodies over the limit                       test_http `a_malformed_request…` (413)
    batches                                     test_mcp_http `what_is_no_message`, test_mcp_stdio `a_line_that_is_no…`
    ids of every type, huge ids                 `an_id_is…`, `a_huge_id…`, `a_progress_token…`
    notifications that are none                 `a_request_without_an_id_does_nothing`, `what_is_called_a_notification…`
    sessions guessed                            `guessed_sessions`, `a_flood_of_sessions…`
    readers of events that stop reading         `readers_that_stop`; test_http_events `a_reader_that_lags…`
    garbage for TLS                             test_http_tls `garbage…`, `a_handshake_that_stops…`
    lines in the log                            `a_flood_has_a_few_lines_in_the_log`

Beside each of them a caller on the bus and one over HTTP, from another address, go on (`beside`).
"""
import contextlib
import json
import re
import resource
import socket
import threading
import time

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, statuses
from processes import EVENT_SECONDS, IS_SANITIZED, SLOWNESS, resident_kb, until
from test_mcp_http import Client
from test_plugins import plugged
from traffic import Traffic

HEAD = b"Host: localhost\r\n"
CALL = b"POST /v1/tools/add HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
WAIT = b"POST /v1/tools/wait HTTP/1.1\r\n" + HEAD + b'Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{"seconds":15}'
ATTACKER = "127.0.0.2"
GROWTH_KB_MAX = 100_000  # judged in the release build: what the sanitizers keep is none of it
RATE = 50  # calls per second on the bus
LINES_MAX = 6  # of one kind in the log, in ten seconds
REQUEST_S = 2  # http.limits.request_s


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("hostile")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    one = Service("embedded", home, [manifests.SHIPPED, folder, plugged(home / "plugged.d")], configuration={
        "timeout_ms": int(EVENT_SECONDS * 1000),  # a call beside that is late on a busy machine is not lost
        "http": {"listen": ["127.0.0.1:0"], "limits": {"first_byte_s": 1, "request_s": REQUEST_S}}})
    with one:
        with Caller(one.url) as caller:
            assert "result" in caller.invoke("later", {"steps": 1})
        yield one


class Bystander(threading.Thread):
    """Calls over HTTP, one after the other, from its own address, until it is ended."""

    def __init__(self, port):
        super().__init__()
        self.port, self.calls, self.failures, self.ending = port, 0, [], threading.Event()
        self.start()

    def run(self):
        while not self.ending.is_set():
            try:
                with Http(self.port, EVENT_SECONDS) as http:
                    for _ in range(10):
                        answer = http.post("/v1/tools/add", {"a": self.calls, "b": 1})
                        assert answer.json["result"]["result"] == self.calls + 1, answer.bytes
                        self.calls += 1
            except Exception as error:
                self.failures.append(repr(error))
            time.sleep(0.01)


@pytest.fixture
def beside(started, port):
    """Callers that go on during the test, lose nothing, and find the service as large as before."""
    before = resident_kb(started.daemon.pid)
    traffic, bystander = Traffic(started.url, RATE), Bystander(port)
    try:
        yield
    finally:
        traffic.end()
        bystander.ending.set()
        bystander.join()
    traffic.check()
    assert not bystander.failures and bystander.calls, bystander.failures[:5]
    assert IS_SANITIZED or resident_kb(started.daemon.pid) - before < GROWTH_KB_MAX


def attack(port, seconds=EVENT_SECONDS):
    """A connection from the attacker's address."""
    return Raw(port, seconds, ATTACKER)


def read_all(raw):
    """What came until the end, also when that is a reset."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while chunk := raw.socket.recv(65536):
            data += chunk
    return data


# ── requests ────────────────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("data,said", [
    (b"GET /health HT", 408), (b"GET /health HTTP/1.1\r\nHost: localhost\r\nA: ", 408),
    (CALL + b"Content-Length: 1000\r\n\r\n{", 408), (CALL + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{", 408)])
def test_a_request_that_does_not_end_has_a_time(port, beside, data, said):
    """However little by little its bytes come."""
    with attack(port) as raw:
        raw.send(data)
        began = time.monotonic()
        answer = b""
        raw.socket.settimeout(0.1)
        while b"}" not in answer and time.monotonic() < began + EVENT_SECONDS:
            with contextlib.suppress(TimeoutError):
                answer += raw.socket.recv(65536)
            with contextlib.suppress(ConnectionError):
                raw.send(b"a")
    assert statuses(answer) == [said] and b'"code":"request_timeout"' in answer
    # The default is 30 s. A machine may hold a process up for some of these.
    assert time.monotonic() < began + 10 * REQUEST_S * SLOWNESS


def test_a_connection_that_says_nothing_is_closed(port, beside):
    held = [attack(port) for _ in range(40)]
    for raw in held:
        assert raw.socket.recv(100) == b""
        raw.socket.close()


def test_headers_without_end(started, port, beside):
    for line in (b"A: b\r\n", b"A" * 100, b"A: " + b"b" * 1000 + b"\r\n", b"A:\r\n"):
        for _ in range(5):
            with attack(port) as raw:
                with contextlib.suppress(ConnectionError):
                    raw.send(b"GET /health HTTP/1.1\r\n" + HEAD + line * 100_000)
                assert statuses(read_all(raw)) in ([431], [])


def test_ten_thousand_connections_from_one_address(started, port, beside):
    most = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
    for _ in range(10_000 // most):
        held = [attack(port) for _ in range(most)]
        for number, raw in enumerate(held):
            with contextlib.suppress(ConnectionError):
                raw.send(b"GET /health HTTP/1.1\r\n" if number % 2 else WAIT)
        for raw in held:
            raw.socket.close()
    until_served(port)


def until_served(port):
    """The attacker's own address is served again."""
    def is_served():
        with contextlib.suppress(OSError), Http(port, address=ATTACKER) as http:
            return http.get("/health").status == 200
        return False

    until(is_served, EVENT_SECONDS, "the address served again")


def running(started):
    with Caller(started.url) as caller:
        return [call for call in caller.call("ovos.tools.calls", {"state": "running"})["calls"]
                if call["name"] == "wait"]


def test_clients_that_close_their_half(started, port, beside):
    held = [attack(port) for _ in range(60)]
    for raw in held:
        raw.send(WAIT)
    until(lambda: running(started), EVENT_SECONDS, "a call running")
    for raw in held:
        raw.socket.shutdown(socket.SHUT_WR)
    for raw in held:
        assert statuses(read_all(raw)) in ([], [499])
        raw.socket.close()
    until(lambda: not running(started), EVENT_SECONDS, "no call running")


def test_ten_thousand_requests_at_once(port, beside):
    with attack(port) as raw:
        with contextlib.suppress(ConnectionError):
            raw.send((b"GET /v1/tools?format=full HTTP/1.1\r\n" + HEAD + b"\r\n") * 10_000)
        assert len(statuses(read_all(raw))) <= 1


def test_a_flood_has_a_few_lines_in_the_log(started, port, beside):
    log, began = len(started.daemon.log()), time.monotonic()
    for _ in range(300):
        for data in (b"GET /health HTTP/1.2\r\n\r\n", b"GET /" + b"a" * 20000):
            with attack(port) as raw:
                raw.send(data)
                read_all(raw)
    with started.daemon.log_path.open(errors="replace") as file:
        file.seek(log)
        kinds = [re.search(r"refused a request from .* \((\d+)\)", line) for line in file]
    found = [kind[1] for kind in kinds if kind]
    most = LINES_MAX * (2 + (time.monotonic() - began) / 10)
    assert 0 < found.count("505") <= most and found.count("414") <= most
    assert len(found) <= 2 * most


# ── messages of MCP ─────────────────────────────────────────────────────────────────────────────

IDS = [("0", True), ("-1", True), ("7.0", True), ("1e2", True), ("9223372036854775808", True),
       ("1" + "0" * 400, True), ('""', True), ('"x"', True), ('"\\u0000"', True), ('"\\ud83e\\uddea"', True),
       ('"' + "x" * 1000 + '"', True), ("null", False), ("true", False), ("1.5", False), ("[1]", False),
       ('{"a":1}', False), ('"' + "x" * 5000 + '"', False), ("1" + "0" * 5000, False)]


def post(http, client, text, method="tools/list", name=None):
    headers = client.headers(method, {"name": name} if name else {})
    return http.ask("POST", "/mcp", text, **headers)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_an_id_is_a_string_or_an_integer_of_a_length(port, era):
    with Client(port, era) as client:
        params = json.dumps(client.message("tools/list")["params"])
        for id, is_good in IDS:
            answer = post(client.http, client, f'{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{params}}}')
            if is_good:
                assert answer.status == 200 and f'"id":{id}'.encode() in answer.bytes, id[:20]
            else:
                assert answer.status == 400 and answer.json["error"]["code"] == -32600, id[:20]
                assert "id" not in answer.json


def test_a_huge_id_is_held_for_nobody(started, port, beside):
    """Streams keep the id of their request, and repeat it in each message."""
    id = '"' + "x" * 4_000_000 + '"'
    with Client(port, "modern") as client:
        message = json.dumps(client.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        body = re.sub(r'"id": \d+', f'"id": {id}', message).encode()
        lines = [b"POST /mcp HTTP/1.1", b"Host: localhost", b"Content-Type: application/json",
                 b"Content-Length: %d" % len(body)]
        lines += [f"{name}: {value}".encode() for name, value in client.headers("subscriptions/listen", {}).items()]
        held, n_answered = [], 0
        before = resident_kb(started.daemon.pid)
        for _ in range(50):
            raw = attack(port)
            held.append(raw)
            # A busy machine may take longer for it than a request may take: then the connection is over.
            with contextlib.suppress(ConnectionError):
                raw.send(b"\r\n".join(lines) + b"\r\n\r\n" + body)
                data = b""
                while not (data.endswith(b"\n\n\r\n") or b"-32600" in data) and (more := raw.socket.recv(1 << 20)):
                    data = data[-1000:] + more
                n_answered += data.endswith(b"\n\n\r\n") or b"-32600" in data
        assert n_answered > 0
        assert IS_SANITIZED or resident_kb(started.daemon.pid) - before < GROWTH_KB_MAX
        for raw in held:
            raw.socket.close()


@pytest.mark.parametrize("token", ["null", "true", "1.5", "[]", "{}", '"' + "x" * 5000 + '"'], ids=range(6))
def test_a_progress_token_is_one_of_an_id(port, token):
    with Client(port, "modern") as client:
        message = client.message("tools/call", {"name": "math_tools__add", "arguments": {"a": 1, "b": 2},
                                                "_meta": {"progressToken": "TOKEN"}})
        text = json.dumps(message).replace('"TOKEN"', token)
        answer = post(client.http, client, text, "tools/call", "math_tools__add")
        if token == "null":
            assert answer.json["result"]["structuredContent"] == {"result": 3}
        else:
            assert answer.json["error"]["code"] == -32602


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_request_without_an_id_does_nothing(started, port, beside, era):
    with Client(port, era) as client:
        for _ in range(50):
            answer = client.send("tools/call", {"name": "answers__with_default"}, notify=True)
            assert (answer.status, answer.bytes) == (202, b"")
        assert client.send("initialize", {"protocolVersion": "2025-11-25"}, notify=True).status == 202
    with Caller(started.url) as caller:
        assert not caller.call("ovos.tools.calls", {"name": "with_default"})["calls"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_what_is_called_a_notification_and_has_an_id_is_an_unknown_request(port, era):
    with Client(port, era) as client:
        for method in ("notifications/cancelled", "notifications/initialized", "notifications/tools/list_changed"):
            assert client.send(method, {"requestId": 1}).json["error"]["code"] == -32601
        for response in ({"result": {}}, {"error": {"code": 1, "message": ""}}):
            answer = post(client.http, client, {"jsonrpc": "2.0", "id": 1, **response})
            assert answer.status == (202 if era == "legacy" else 400)


def test_guessed_sessions(port, beside):
    with Client(port, "legacy") as victim, Client(port, "modern") as guesser:
        guesser.era = "legacy"
        session = victim.session
        near = [session[:-1] + digit for digit in "0123456789abcdef" if digit != session[-1]]
        for guess in [*near, session.upper(), session + "0", session[:-1], "*", "x" * 10_000, *map(str, range(1000))]:
            guesser.session = guess
            answer = guesser.send("tools/list")
            assert answer.status == 404 or guess == session, guess[:40]
            assert guesser.http.ask("DELETE", "/mcp", Mcp_Session_Id=guess).status == 404
        assert victim.result("ping") == {}


def test_a_flood_of_sessions_takes_none_that_is_used(port, beside):
    with Client(port, "legacy") as victim, Client(port, "modern") as flood:
        for _ in range(600):
            flood.era = "legacy"
            assert flood.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}).status == 200
            assert victim.send("ping").status == 200


def test_readers_that_stop(started, port, beside):
    """The progress of a call waits for nobody, and takes no memory without end."""
    body = b'{"steps":30000}' if IS_SANITIZED else b'{"steps":300000}'
    held = [attack(port) for _ in range(20)]
    before = resident_kb(started.daemon.pid)
    for raw in held:
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.send(CALL.replace(b"add", b"later") + b"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
                 + body)
    with Caller(started.url) as caller:
        until(lambda: len([call for call in caller.call("ovos.tools.calls", {"name": "later"})["calls"]
                           if call["state"] == "done" and call["door"] == "http"]) >= 5, EVENT_SECONDS, "calls over")
    assert IS_SANITIZED or resident_kb(started.daemon.pid) - before < GROWTH_KB_MAX
    for raw in held:
        raw.socket.close()
