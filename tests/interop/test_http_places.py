# SPDX-License-Identifier: Apache-2.0
"""The places of the HTTP door, when somebody takes all that one may have."""
import contextlib
import hashlib

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, port_of, statuses
from processes import EVENT_SECONDS, until

HEAD = b"Host: localhost\r\n"
PER_HOLDER, CONNECTIONS = 6, 16
NAMES = ("flood", "more", "third", "boss")
SECRETS = {name: (name * 16)[:16] for name in NAMES}
TOKENS = [{"name": name, "token_sha256": hashlib.sha256(secret.encode()).hexdigest(), "admin": name == "boss"}
          for name, secret in SECRETS.items()]
WAITS = {"answers": {"limits": {"queue": 200}, "tools": {"wait": {"timeout_ms": 3600000}}}}


def bearer(name):
    return {"Authorization": f"Bearer {SECRETS[name]}"} if name else {}


def head(name=None, path="/v1/tools/wait", more=b""):
    line = f"Authorization: Bearer {SECRETS[name]}\r\n".encode() if name else b""
    return b"POST " + path.encode() + b" HTTP/1.1\r\n" + HEAD + line + b"Content-Type: application/json\r\n" + more


def call(name=None):
    """A call that does not end."""
    return head(name) + b"Content-Length: 16\r\n\r\n" + b'{"seconds":3600}'


@pytest.fixture
def start(launch, tmp_path):
    """start(http): a daemon with few places; its port."""
    def begin(tokens=True, **http):
        manifests.answers(tmp_path / "toolbox.d")
        limits = {"connections": CONNECTIONS, "per_address": PER_HOLDER} | http.pop("limits", {})
        given = {"limits": limits, "listen": ["127.0.0.1:0", f"unix:{tmp_path / 'socket'}"], **http}
        if tokens:
            given["tokens"] = TOKENS
        service = launch({"http": given, "toolboxes": WAITS}, [manifests.SHIPPED, tmp_path / "toolbox.d"])
        return service, port_of(service.daemon)

    yield begin


@pytest.fixture
def held():
    """Connections that are closed at the end."""
    with contextlib.ExitStack() as stack:
        def hold(port, data, address="127.0.0.1"):
            raw = stack.enter_context(Raw(port, address=address))
            raw.send(data)
            return raw

        yield hold


def until_waiting(service, n):
    """Until @n calls have been accepted: their connections are busy."""
    def is_so():
        with Caller(service.url) as caller:
            calls = caller.call("ovos.tools.calls", {"name": "wait", "limit": 1000})["calls"]
        return sum(one["state"] != "done" for one in calls) == n

    until(is_so, EVENT_SECONDS, f"{n} calls in flight")


def status(port, path="/v1/tools/add", name=None, address="127.0.0.1"):
    with Http(port, address=address) if isinstance(port, int) else Http(port) as http:
        return http.get(path, **bearer(name)).status


@pytest.mark.parametrize("data", [
    b"GET /v1/tools HTTP/1.1\r\n", head(more=b"Content-Length: 1000\r\n\r\n{"), b"G", b"",
    head(more=b"Transfer-Encoding: chunked\r\n\r\nff\r\n{")])
def test_half_made_requests_shut_nobody_out(start, held, data):
    _, port = start(tokens=False)
    for n in range(3 * CONNECTIONS):
        held(port, data)
    for _ in range(2 * CONNECTIONS):
        assert status(port) == status(port, "/health") == 200


def test_the_half_made_request_without_progress_for_longest_gives_way(start, held):
    _, port = start(tokens=False)
    rest = b"Content-Length: 13\r\nExpect: 100-continue\r\n\r\n"

    def is_read(raw):
        return b"100 Continue" in raw.read_until(b"\r\n\r\n")

    slow = held(port, head(path="/v1/tools/add"))
    others = [held(port, head(path="/v1/tools/add") + rest) for _ in range(PER_HOLDER - 1)]
    assert all(is_read(raw) for raw in others)
    slow.send(rest)
    assert is_read(slow) and status(port) == 200
    assert others[0].read_all() == b"", "it gave way"
    slow.send(b'{"a":1,"b":2}')
    assert statuses(slow.read_until(b"}}")) == [200]


def test_wrong_tokens_shut_nobody_out(start, held):
    """Their answers are delayed."""
    _, port = start()
    for n in range(4 * CONNECTIONS):
        held(port, call().replace(b"Content-Type", b"Authorization: Bearer wrong%d\r\nContent-Type" % n))
    assert status(port, name="third") == status(port, name="boss") == status(port, "/health") == 200


def test_calls_of_one_token_leave_others_their_places(start, held):
    service, port = start()
    for _ in range(PER_HOLDER):
        held(port, call("flood"))
    until_waiting(service, PER_HOLDER)
    with Raw(port) as late:
        late.send(call("flood"))
        answer = late.read_all()
    assert statuses(answer) == [503] and b'"code":"overloaded"' in answer and b"Connection: close" in answer
    for name in ("third", "boss"):
        assert status(port, name=name) == 200
    assert status(port, "/health") == 200


def test_when_all_places_are_taken_operators_and_checks_of_health_are_served(start, held, tmp_path):
    service, port = start(limits={"connections": 2 * PER_HOLDER})
    for n, name in enumerate(("flood", "more"), 1):
        for _ in range(PER_HOLDER):
            held(port, call(name))
        until_waiting(service, n * PER_HOLDER)
    assert status(port, name="third") == 503
    for _ in range(100):
        assert status(port, "/health") == status(port, "/v1/status", "boss") == 200
        assert status(tmp_path / "socket", "/v1/status") == 200
    with Http(port) as http:
        assert http.post("/v1/tools/add", {"a": 1, "b": 2}, **bearer("boss")).json["result"] == {"result": 3}
    # However many others knock.
    for n in range(200):
        held(port, b"GET /v1/tools HTTP/1.1\r\n" if n % 2 else b"")
    assert status(port, "/v1/status", "boss") == status(tmp_path / "socket", "/v1/status") == 200


def test_an_idle_connection_gives_way_to_a_newcomer(start, held):
    service, port = start(tokens=False, limits={"connections": 3})
    for n in (2, 3):
        held(port, call(), f"127.0.0.{n}")
    until_waiting(service, 2)
    with Http(port, address="127.0.0.4") as idle:
        assert idle.get("/health").status == 200
        held(port, call(), "127.0.0.5")
        assert idle.connection.sock.recv(1) == b"", "the newcomer has its place"
    until_waiting(service, 3)
    assert status(port, address="127.0.0.6") == 503


def stream(name):
    line = f"Authorization: Bearer {SECRETS[name]}\r\n".encode() if name else b""
    return b"GET /v1/events HTTP/1.1\r\n" + HEAD + line + b"\r\n"


def test_streams_of_one_token_leave_others_theirs(start, held):
    _, port = start(limits={"connections": 200, "per_address": 200, "streams": 32})
    opened = [statuses(held(port, stream("flood")).read_until(b"\r\n\r\n")) for _ in range(32)]
    assert opened.count([200]) == 14, "half of those that are not for administrators"
    for name in ("more", "third", "boss"):
        assert statuses(held(port, stream(name)).read_until(b"\r\n\r\n")) == [200]
    for _ in range(32):
        held(port, stream("more"))
        held(port, stream("third"))
    assert statuses(held(port, stream("boss")).read_until(b"\r\n\r\n")) == [200]


def test_sessions_of_one_token_leave_others_theirs(start):
    _, port = start()
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}

    def initialize(http, name):
        answer = http.post("/mcp", body, **bearer(name))
        assert answer.status == 200
        return {"Mcp_Session_Id": answer.headers["Mcp-Session-Id"], **bearer(name)}

    with Http(port) as http:
        victim = initialize(http, "third")
        for _ in range(300):
            initialize(http, "flood")
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert http.post("/mcp", ping, **victim).status == 200
