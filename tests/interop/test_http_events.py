# SPDX-License-Identifier: Apache-2.0
"""GET /v1/events: what the service announces, as server-sent events."""
import hashlib
import json
import socket
import threading

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of, tokens_file
from processes import EVENT_SECONDS, until

INVOKE = "ovos.tools.invoke"
CALLS = ["call.started", "call.completed"]


class Reader:
    """A client that reads events; @to: a port, or the path of a Unix socket."""

    def __init__(self, to, token=None):
        if isinstance(to, int):
            self.socket = socket.create_connection(("127.0.0.1", to), 20)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(20)
            self.socket.connect(str(to))
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self.socket.sendall(f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n".encode())
        self.data = b""
        self.head = self.until(b"\r\n\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def until(self, mark):
        while mark not in self.data:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError(self.data)
            self.data += part
        found, _, self.data = self.data.partition(mark)
        return found

    def next(self):
        """The next event and its data."""
        while True:
            size = int(self.until(b"\r\n"), 16)
            while len(self.data) < size + 2:
                part = self.socket.recv(65536)
                if not part:
                    raise EOFError
                self.data += part
            chunk, self.data = self.data[:size].decode(), self.data[size + 2:]
            if size == 0:
                raise EOFError
            if not chunk.startswith(":"):
                event, data = chunk.removesuffix("\n\n").split("\n")
                return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def start(launch, tmp_path):
    """start(configuration, …): a daemon that listens on a Unix socket and a port, and a caller."""
    callers = []

    def begin(configuration=None, folders=(manifests.SHIPPED,)):
        service = launch(configuration or {}, list(folders),
                         args=["--http", f"unix:{tmp_path}/socket", "--http", "127.0.0.1:0"])
        port_of(service.daemon)
        callers.append(Caller(service.url))
        return service, callers[-1]

    yield begin
    for one in callers:
        one.close()


def test_an_administrator_gets_all_events(start, tmp_path):
    _, caller = start()
    with Reader(tmp_path / "socket") as reader:
        assert b"200 OK" in reader.head and b"Content-Type: text/event-stream" in reader.head
        caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}}, {"source": "skill"})
        started, completed = reader.next(), reader.next()
        assert [started[0], completed[0]] == CALLS
        assert started[1]["name"] == "add" and started[1]["source"] == "skill"
        assert completed[1]["ok"] is True and completed[1]["id"] == started[1]["id"]
    with Http(tmp_path / "socket") as http:
        http.post("/v1/tools/nope", {})


def test_events_of_calls_are_wanted_while_an_administrator_reads(start, tmp_path):
    """They are what the bus has, and cost nothing when nobody is there."""
    _, caller = start()

    def call():
        caller.seen.clear()
        caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        caller.call("ovos.tools.list")
        return [one.type for one in caller.seen if one.type.startswith("ovos.tools.call.")]

    assert call() == []
    with Reader(tmp_path / "socket"):
        assert call() == ["ovos.tools.call.started", "ovos.tools.call.completed"]
    until(lambda: call() == [], EVENT_SECONDS, "an end of the events")


def test_others_hear_that_something_changed_and_no_names(start, tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    service, caller = start(folders=[manifests.SHIPPED, folder])
    with Reader(port_of(service.daemon)) as stranger, Reader(tmp_path / "socket") as boss:
        caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        manifests.answers(folder)
        caller.call("ovos.tools.reload")
        assert stranger.next() == ("changed", {})
        assert [boss.next()[0] for _ in CALLS] == CALLS
        event, data = boss.next()
        assert event == "changed" and "answers/echo" in data["added"], data


def test_an_administrator_sees_questions(start, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "danger", [manifests.tool("fire", "abs", [manifests.integer("n", "i32")], "i32",
                                                        risk="execute")])
    _, caller = start(folders=[folder])
    with Reader(tmp_path / "socket") as reader, Http(tmp_path / "socket") as http:
        caller.call("ovos.tools.approval.attach", {"seconds": 60})
        answers = []
        with_socket = threading.Thread(target=lambda: answers.append(
            Http(tmp_path / "socket").post("/v1/tools/fire", {"n": -3}).json))
        with_socket.start()
        event, question = reader.next()
        while event != "approval.requested":
            event, question = reader.next()
        assert question["name"] == "fire", question
        assert http.post(f"/v1/approvals/{question['id']}", {"decision": "once"}).status == 200
        with_socket.join(EVENT_SECONDS)
        seen = [reader.next()[0] for _ in range(2)]
        assert "approval.resolved" in seen and answers[0]["result"], answers


def test_a_reader_that_lags_is_told_how_many_it_lost(start, tmp_path):
    """Every event comes, or is counted."""
    _, caller = start()
    n = 4000
    with Reader(tmp_path / "socket") as reader:
        for _ in range(n):
            caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        seen = lost = 0
        while seen + lost < 2 * n - 300:
            event, data = reader.next()
            if event == "lost":
                lost += data["lost"]
            else:
                seen += 1
            if seen and not lost and seen > 300:
                # It has room again: the next event says what is missing.
                caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        assert lost > 1000 and seen >= 256


def test_a_token_that_is_revoked_ends_its_streams(start, tmp_path):
    path = tokens_file(tmp_path)

    def put(*names):
        path.write_text(json.dumps([{"name": name, "token_sha256": hashlib.sha256((name * 20).encode()).hexdigest(),
                                     "admin": True} for name in names]))
        path.chmod(0o600)

    put("boss", "other")
    service, caller = start()
    port = port_of(service.daemon)
    with Reader(port, "boss" * 20) as boss, Reader(port, "other" * 20) as other, \
            Reader(tmp_path / "socket") as operator:
        put("boss")
        caller.call("ovos.tools.reload")
        with pytest.raises(EOFError):
            other.next()
        caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        assert boss.next()[0] == operator.next()[0] == "call.started"


def test_streams_have_a_limit_in_common(start, tmp_path):
    """One user may have half of them."""
    start({"http": {"limits": {"streams": 4}}})
    with Reader(tmp_path / "socket"), Reader(tmp_path / "socket"), Reader(tmp_path / "socket") as third:
        assert b" 503 " in third.head
