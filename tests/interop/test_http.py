# SPDX-License-Identifier: Apache-2.0
"""The tools over HTTP: routes, statuses, headers, and what a hostile client may try."""
import json
import re
import subprocess
import threading
import time
from pathlib import Path

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, events_of, port_of, running, statuses, wait_until_cancelled
from processes import BUILD, EVENT_SECONDS, SLOWNESS, TOOLBOXD, environment, until
from test_mcp_http import Client
from test_plugins import plugged

HEAD = b"Host: localhost\r\n"
WAIT = b'Content-Length: 13\r\n\r\n{"seconds":9}'
CALL = b"POST /v1/tools/add HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("http")
    folder = home / "toolbox.d"
    manifests.misbehave(folder)
    manifests.answers(folder)
    manifests.twins(folder)
    one = Service("embedded", home, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"],
                  configuration={"crash_limit": 0, "limits": {"args_bytes": 65536}})
    with one:
        yield one


def test_a_call_is_the_data_of_the_bus(started, http):
    with Caller(started.url) as caller:
        expected = caller.call("ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": 4}})
    answer = http.post("/v1/tools/add", {"a": 3, "b": 4})
    assert answer.status == 200
    assert answer.json == expected == {"name": "add", "result": {"result": 7.0}}
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Date"].endswith(" GMT")


def test_a_connection_is_kept(http):
    for number in range(50):
        assert http.post("/v1/tools/add", {"a": number, "b": 1}).json["result"]["result"] == number + 1


# A request of the bus, and the status that its error has over HTTP.
REFUSED = [
    ("nope", {}, 404), ("add", {"a": 1}, 422), ("add", {"a": "x", "b": 1}, 422), ("same", {}, 409),
    ("segfault", {}, 502), ("not_there", {}, 500), ("small", {"value": 11}, 500), ("answers__hang", {"seconds": 9}, 504),
    ("add", [], 422), ("add", 7, 422), ("add", {"a": "x" * 66000, "b": 1}, 413),
]


@pytest.mark.parametrize("name,args,status", REFUSED)
def test_an_error_is_that_of_the_bus(started, http, name, args, status):
    with Caller(started.url) as caller:
        expected = caller.call("ovos.tools.invoke", {"name": name, "args": args})
    answer = http.post(f"/v1/tools/{name}", args)
    assert (answer.json["code"], answer.status) == (expected["code"], status), answer.json
    for data in (answer.json, expected):
        data.pop("duration_ms", None)
    assert answer.json.keys() == expected.keys()


def test_a_body_is_one_value_and_nothing_around_it(started, http):
    for body in ('{"a": 1, "b": 2}}, "data": {"name": "add"', '{"a":1,"b":2}, "name": "echo"', "{", "",
                 '{"a":1,"b":2}}', '{}},"context":{"source":"http:admin"},"data":{"name":"add","args":{}',
                 '{"a":1,"a":2}},"context":{"source":"http:admin"}', "{} {}", "nul", "\x00",
                 '"\ud800"'.encode("utf-8", "surrogatepass"), b"\xff"):
        answer = http.post("/v1/tools/add", body)
        assert answer.status == (422 if body == "" else 400), (body, answer.json)
        assert answer.json["code"] == ("invalid_arguments" if body == "" else "bad_request")
    assert http.post("/v1/tools/add", ' \n{"a": 1, "b": 2}\r\n\t').status == 200
    with Caller(started.url) as caller:
        sources = {call["source"] for call in caller.call("ovos.tools.calls")["calls"]}
    assert "http:admin" not in sources and "http:127.0.0.1" in sources


def test_what_came_over_http_is_told(started, http):
    http.post("/v1/tools/add", {"a": 1, "b": 2}, Session_Id="kitchen")
    with Caller(started.url) as caller:
        call = caller.call("ovos.tools.calls", {"limit": 1})["calls"][0]
    assert (call["door"], call["source"], call["session_id"]) == ("http", "http:127.0.0.1", "kitchen")


def test_the_same_list_has_its_etag_after_a_restart(launch):
    """Else each client fetches the list again that it has."""
    tags = set()
    for _ in range(2):
        one = launch(args=["--http", "127.0.0.1:0"])
        with Http(port_of(one.daemon)) as http:
            tags.add(http.get("/v1/tools").headers["ETag"])
        one.end()
    assert len(tags) == 1, tags


def test_the_list_is_made_once_and_known_by_its_etag(started, http):
    with Caller(started.url) as caller:
        full = caller.call("ovos.tools.list")["tools"]
        compact = caller.call("ovos.tools.list", {"format": "compact"})["tools"]
        text = caller.call("ovos.tools.list", {"format": "markdown"})["text"]
    first = http.get("/v1/tools")
    assert first.json == {"tools": compact} and first.headers["Cache-Control"] == "private, no-cache"
    etag = first.headers["ETag"]
    assert http.get("/v1/tools").headers["ETag"] == etag
    for known in (etag, "W/" + etag, f'"x", {etag}', "*"):
        again = http.get("/v1/tools", If_None_Match=known)
        assert (again.status, again.bytes, again.headers["ETag"]) == (304, b"", etag)
    assert http.get("/v1/tools", If_None_Match='"x"').status == 200
    assert http.get("/v1/tools?format=full").json == {"tools": full}
    marked = http.get("/v1/tools?format=markdown")
    assert marked.bytes.decode() == text and marked.headers["Content-Type"] == "text/markdown; charset=utf-8"
    one = http.get("/v1/tools?format=full&toolbox_id=math_tools").json["tools"]
    assert one == [tool for tool in full if tool["toolbox_id"] == "math_tools"]
    assert http.get("/v1/tools?toolbox_id=nope").json == {"tools": []}
    assert http.get("/v1/tools?profile=nope").json == {"tools": []}
    assert http.get("/v1/tools?format=xml").status == 400
    assert http.get("/v1/tools?format=%").status == 400
    assert http.get("/v1/tools?q=add").json["tools"][0]["name"] == "add"


def test_one_definition(started, http):
    with Caller(started.url) as caller:
        expected = caller.call("ovos.tools.get", {"name": "add"})
        with_deadline = caller.call("ovos.tools.get", {"name": "add", "deadline": True})
    assert http.get("/v1/tools/add").json == expected
    assert http.get("/v1/tools/add?deadline=1").json == with_deadline != expected
    assert http.get("/v1/tools/math_tools__add").json == expected
    assert http.get("/v1/tools/add?toolbox_id=math_tools").json == expected
    assert http.get("/v1/tools/%61dd").json == expected
    assert http.get("/v1/tools/add?toolbox_id=nope").status == 404
    assert http.get("/v1/tools/nope").json["code"] == "unknown_tool"
    assert http.get("/v1/tools/%zz").status == 400


def test_a_dry_run_only_checks(http):
    assert http.post("/v1/tools/add?dry_run=1", {"a": 1, "b": 2}).json["valid"] is True
    answer = http.post("/v1/tools/add?dry_run=1", {"a": 1})
    assert answer.status == 200 and answer.json["valid"] is False and answer.json["violations"]


def test_the_query_has_the_fields_of_a_call(http):
    answer = http.post("/v1/tools/wait?timeout_ms=100&call_id=a%20b", {"seconds": 9})
    assert (answer.status, answer.json["call_id"]) == (504, "a b")
    for bad in ("0", "x", "-1", "1.5", ""):
        answer = http.post(f"/v1/tools/add?timeout_ms={bad}", {"a": 1, "b": 2})
        assert (answer.status, answer.json["field"]) == (400, "timeout_ms"), bad


def test_paths_and_methods(http):
    for path in ("/", "/v1", "/v1/tools//", "/v2/tools", "/.well-known/oauth-protected-resource",
                 "/v1/tools/a/b", "/health//"):
        answer = http.get(path)
        assert answer.status == 404 and answer.json["code"] == "not_found", path
    answer = http.ask("PUT", "/v1/tools/add")
    assert answer.status == 405 and answer.json["code"] == "method_not_allowed"
    assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "GET", "HEAD", "POST"}
    assert http.ask("OPTIONS", "/v1/tools/add").status == 204
    head = http.ask("HEAD", "/v1/tools")
    assert head.status == 200 and head.bytes == b""
    assert int(head.headers["Content-Length"]) == len(http.get("/v1/tools").bytes)
    assert http.get("/health").json == {"status": "ok"}


def test_the_head_of_a_stream_has_no_events(port):
    """A body would be read as the next response."""
    with Client(port, "legacy") as client, Raw(port) as raw:
        for path in ("/v1/events", "/mcp"):
            raw.send(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                     f"Mcp-Session-Id: {client.session}\r\n\r\n".encode())
            head = raw.read_until(b"\r\n\r\n")
            assert statuses(head) == [200] and b"Content-Type: text/event-stream" in head
            assert head.endswith(b"\r\n\r\n"), head
            raw.send(b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\n")
            assert raw.read_until(b"}").startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("method,path", [("GET", "/v1/status"), ("POST", "/v1/reload"), ("GET", "/v1/calls"),
                                         ("DELETE", "/v1/calls/7")])
def test_without_tokens_nobody_is_an_admin(http, method, path):
    answer = http.ask(method, path)
    assert answer.status == 403 and answer.json["code"] == "forbidden"


@pytest.mark.parametrize("method,path", [("GET", "/health"), ("GET", "/v1/tools"), ("POST", "/v1/tools/add"),
                                         ("OPTIONS", "/v1/tools"), ("GET", "/nope"), ("PUT", "/v1/tools")])
def test_a_page_of_another_site_gets_nothing(http, port, method, path):
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                    {"Host": f"evil.example:{port}"}, {"Origin": f"http://localhost:{port + 1}"}):
        answer = http.ask(method, path, **headers)
        assert answer.status == 403, headers
        assert "Access-Control-Allow-Origin" not in answer.headers
    answer = http.ask(method, path, Origin=f"http://localhost:{port}")
    assert answer.status != 403 and answer.headers["Access-Control-Allow-Origin"] == f"http://localhost:{port}"
    assert answer.headers["Vary"] == "Origin"


def test_a_page_that_may_come_in_has_all_headers(http, port):
    """Those of MCP, too, in both directions: none is on the list that browsers let pass by themselves."""
    origin = f"http://localhost:{port}"
    asked = http.ask("OPTIONS", "/mcp", Origin=origin, Access_Control_Request_Method="POST",
                     Access_Control_Request_Headers="authorization,mcp-protocol-version,mcp-param-region")
    assert asked.status == 204
    assert asked.headers["Access-Control-Allow-Headers"] == "*, Authorization"
    assert asked.headers["Access-Control-Allow-Methods"] == "GET, POST, DELETE"
    assert "Access-Control-Allow-Credentials" not in asked.headers
    began = http.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}}}, Origin=origin)
    assert began.headers["Mcp-Session-Id"] and began.headers["Access-Control-Expose-Headers"] == "*"


def test_a_body_has_a_type(http):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                 "application/json; charset=latin-1"):
        answer = http.ask("POST", "/v1/tools/add", '{"a":1,"b":2}', Content_Type=kind)
        assert answer.status == 415 and answer.json["code"] == "unsupported_media_type", kind
    for kind in ("application/json;charset=UTF-8", "Application/JSON", 'application/json; charset="utf-8"'):
        assert http.ask("POST", "/v1/tools/add", '{"a":1,"b":2}', Content_Type=kind).status == 200
    assert http.post("/v1/tools/add?dry_run=1").status == 200


def events_in_chunks(data):
    body = data.split(b"\r\n\r\n", 1)[1]
    text = b""
    while body:
        size, body = body.split(b"\r\n", 1)
        text += body[:int(size, 16)]
        body = body[int(size, 16) + 2:]
    return events_of(text)


def test_a_call_as_a_stream_of_events(port):
    with Raw(port) as raw:
        raw.send(CALL + b"Accept: text/event-stream\r\nContent-Length: 13\r\n\r\n" + b'{"a":1,"b":2}')
        data = raw.read_until(b"0\r\n\r\n")
        assert b"Content-Type: text/event-stream" in data
        assert events_in_chunks(data) == [("result", {"name": "add", "result": {"result": 3.0}})]
        raw.send(CALL + b"Accept: text/event-stream\r\nContent-Length: 2\r\n\r\n{}")
        refused = raw.read_until(b"}]}")
        assert statuses(refused) == [422] and b"application/json" in refused
        raw.send(CALL.replace(b"add", b"not_there") + b"Accept: text/event-stream\r\nContent-Length: 2\r\n\r\n{}")
        (event, body), = events_in_chunks(raw.read_until(b"0\r\n\r\n"))
        assert event == "error" and body["code"] == "tool_failed"


SILENT = [b"GET /v1/events HTTP/1.1\r\n" + HEAD + b"Accept: text/event-stream\r\n\r\n",
          CALL.replace(b"add", b"wait") + b"Accept: text/event-stream\r\n"
          + WAIT.replace(b"13", b"14").replace(b"9", b"19")]


@pytest.mark.parametrize("request_of", SILENT, ids=["events", "a call"])
def test_a_silent_stream_shows_that_it_lives(port, request, request_of):
    if not request.config.getoption("--long"):
        pytest.skip("it waits for 15 s")
    with Raw(port, 15 + 10) as raw:
        raw.send(request_of)
        raw.read_until(b"\r\n\r\n")
        assert raw.read_until(b"\n\n").split(b"\r\n")[1] == b":\n\n"


def test_a_stream_has_the_progress_of_its_call(launch, tmp_path):
    one = launch({}, [plugged(tmp_path / "toolbox.d")], args=["--http", "127.0.0.1:0"])
    with Raw(port_of(one.daemon)) as raw:
        body = b'{"steps":200000}'
        raw.send(CALL.replace(b"add", b"later") + b"Accept: text/event-stream\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body)
        events = events_in_chunks(raw.read_until(b"0\r\n\r\n"))
    *progress, (last, result) = events
    assert last == "result" and result["name"] == "later" and progress
    assert all(event == "progress" and body.keys() == {"progress", "text"} for event, body in progress)
    assert {body["text"] for _, body in progress} <= {"stepping", "begun", None}, progress


@pytest.mark.parametrize("leave", ["close", "half", "reset"])
@pytest.mark.parametrize("accept", [b"", b"Accept: text/event-stream\r\n"])
def test_a_peer_that_goes_away_ends_its_call(started, port, leave, accept):
    with Raw(port) as raw:
        raw.send(CALL.replace(b"add", b"wait") + accept + WAIT)
        until(lambda: running(started), EVENT_SECONDS, "the call running")
        if leave == "half":
            raw.socket.shutdown(1)
            wait_until_cancelled(started)
            return
        if leave == "reset":
            raw.socket.setsockopt(1, 13, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    wait_until_cancelled(started)


def test_the_bus_does_not_cancel_a_call_over_http(started, port):
    with Raw(port) as raw, Caller(started.url) as caller:
        raw.send(CALL.replace(b"add", b"wait?call_id=mine") + WAIT)
        call, = until(lambda: running(started), EVENT_SECONDS, "the call running") and running(started)
        assert caller.call("ovos.tools.cancel", {"id": call["id"]})["cancelled"] is False
        assert caller.call("ovos.tools.cancel", {"call_id": "mine"})["cancelled"] is False
        assert running(started)
    wait_until_cancelled(started)


# Requests that two readers could understand differently, or that are too much.
MALFORMED = [
    (CALL + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400),
    (CALL + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    (CALL + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
    (CALL + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    (CALL + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}", 400),
    (b"GET /health HTTP/1.1\nHost: localhost\n\n", 400),
    (b"GET /health HTTP/1.2\r\nHost: localhost\r\n\r\n", 505),
    (CALL.replace(b"/1.1", b"/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"GET /health HTTP/1.1\r\n\r\n", 400),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n", 414),
    (b"GET /health HTTP/1.1\r\n" + b"A: b\r\n" * 100000, 431),
    (b"GET /health HTTP/1.1\r\nA: " + b"b" * 20000, 431),
    (CALL + b"Content-Length: 10000000\r\n\r\n", 413),
    (CALL + b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n", 413),
    (CALL + b"Expect: a cake\r\nContent-Length: 2\r\n\r\n", 417),
]


@pytest.mark.parametrize("data,status", MALFORMED)
def test_a_malformed_request_is_refused_and_the_connection_closed(port, data, status):
    with Raw(port) as raw:
        try:
            raw.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = raw.read_all()
    assert statuses(answer) == [status]
    assert b"Connection: close" in answer and b'{"error":' in answer


OLD = CALL.replace(b"/1.1", b"/1.0")


@pytest.mark.parametrize("data,found", [
    (b"GET /health HTTP/1.0\r\n" + HEAD + b"\r\n", b'{"status":"ok"}'),
    (b"GET /health HTTP/1.0\r\n\r\n", b'{"status":"ok"}'),
    (OLD + b'Expect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 13\r\n\r\n{"a":1,"b":2}', b'{"result":3}'),
])
def test_a_request_of_http_1_0_is_answered_and_the_connection_closed(port, data, found):
    with Raw(port) as raw:
        raw.send(data)
        answer = raw.read_all()
    assert statuses(answer) == [200] and b"Connection: close" in answer and found in answer


def test_events_reach_a_client_of_http_1_0_without_chunks(port):
    with Raw(port) as raw:
        raw.send(OLD + b'Accept: text/event-stream;q=0.9\r\nContent-Length: 13\r\n\r\n{"a":1,"b":2}')
        head, body = raw.read_all().split(b"\r\n\r\n", 1)
    assert b"Transfer-Encoding" not in head and b"Connection: close" in head
    assert body.startswith(b"event: result\ndata: ") and body.endswith(b"\n\n")


def test_a_page_without_a_host_gets_nothing_by_http_1_0(port):
    with Raw(port) as raw:
        raw.send(b"GET /health HTTP/1.0\r\nOrigin: https://elsewhere.example\r\n\r\n")
        assert statuses(raw.read_all()) == [403]


def test_a_slash_at_the_end_of_a_path_makes_no_difference(http):
    for path in ("/health", "/openapi.json", "/v1/tools", "/v1/tools/add", "/utcp"):
        assert http.get(path + "/").bytes == http.get(path).bytes, path
    assert http.post("/v1/tools/add/?dry_run=1", {"a": 1, "b": 2}).json["valid"] is True
    assert http.get("/mcp/").status == http.get("/mcp").status == 405
    assert http.get("//").status == http.get("/v1/tools//").status == 404


def test_a_second_request_before_the_answer_is_dropped(port):
    with Raw(port) as raw:
        raw.send(b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\nGET /v1/tools HTTP/1.1\r\n" + HEAD + b"\r\n")
        data = raw.read_all()
    assert statuses(data) == [200] and b"Connection: close" in data
    with Raw(port) as raw:
        raw.send(CALL.replace(b"add", b"wait?timeout_ms=300") + WAIT)
        time.sleep(0.1)
        raw.send(b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\n")
        data = raw.read_all()
    assert statuses(data) == [504] and b"Connection: close" in data


def test_continue_is_said_once_before_the_body(port):
    with Raw(port) as raw:
        raw.send(CALL + b"Expect: 100-continue\r\nContent-Length: 13\r\n\r\n")
        assert raw.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.send(b'{"a":1,"b":2}')
        assert statuses(raw.read_until(b"}}")) == [200]


def test_a_body_may_come_in_chunks_and_bytes(port):
    with Raw(port) as raw:
        for byte in CALL + b'Transfer-Encoding: chunked\r\n\r\n6\r\n{"a":1\r\n7;x=y\r\n,"b":2}\r\n0\r\nA: b\r\n\r\n':
            raw.send(bytes([byte]))
        assert statuses(raw.read_until(b"}}")) == [200]


def test_a_body_for_which_there_is_no_memory_is_refused_unread(launch):
    """With `limits.peer_bytes` of 4 MiB one request may have 1 MiB, and half of what others leave of 2 MiB."""
    one = launch({"limits": {"peer_bytes": 4 << 20}, "http": {"limits": {"body_bytes": 2 << 20}}},
                 args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)

    def refused(fields, status, code):
        """@fields end the head, or the size of a chunk: no byte of the body follows."""
        with Raw(port) as raw:
            raw.send(CALL + fields)
            data = raw.read_all()
        assert statuses(data) == [status] and b'"code":"%s"' % code in data, data
        return data

    body = b'{"a":1,"b":2' + b" " * 500_000
    refused(b"Content-Length: 1048577\r\n\r\n", 413, b"too_large")
    with Raw(port, EVENT_SECONDS) as large:
        large.send(CALL + b"Content-Length: %d\r\n\r\n" % (len(body) + 1) + body)
        # What was sent has to be read before it counts.
        until(lambda: statuses(asked(port, b"Content-Length: 1000000\r\n\r\n")) == [503], EVENT_SECONDS, "the memory taken")
        for fields in (b"Content-Length: 1000000\r\n\r\n", b"Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n",
                       b"Transfer-Encoding: chunked\r\n\r\nf4240\r\n"):
            assert b"\r\nRetry-After: 1\r\n" in refused(fields, 503, b"overloaded")
        with Http(port) as small:
            assert small.post("/v1/tools/add", {"a": 1, "b": 2}).status == 200
        large.send(b"}")
        assert statuses(large.read_until(b"}}")) == [200]
    with Raw(port, EVENT_SECONDS) as next:
        next.send(CALL + b"Content-Length: %d\r\n\r\n" % (len(body) + 1) + body + b"}")
        assert statuses(next.read_until(b"}}")) == [200]


def asked(port, fields):
    """What comes at once after the head of a call."""
    with Raw(port) as raw:
        raw.socket.settimeout(0.1 * SLOWNESS)
        raw.send(CALL + fields)
        try:
            return raw.read_all()
        except TimeoutError:
            return b""


def test_ten_thousand_connections_that_come_and_go(started, port):
    for _ in range(100):
        held = [Raw(port) for _ in range(100)]
        for raw in held:
            raw.socket.close()
    with Http(port) as http:
        until(lambda: http.get("/health").status == 200, EVENT_SECONDS, "a connection that is served")


def test_many_callers_at_once(port):
    failures = []

    def call(number):
        try:
            with Http(port) as http:
                for step in range(40):
                    answer = http.post("/v1/tools/add", {"a": number, "b": step})
                    assert answer.json["result"]["result"] == number + step
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_peer_that_does_not_read_holds_nobody(started, port):
    """The answers to it are bounded, and others are served."""
    held = [Raw(port) for _ in range(30)]
    try:
        for raw in held:
            raw.socket.setsockopt(1, 8, 4096)
            raw.send(b"GET /v1/tools?format=full HTTP/1.1\r\n" + HEAD + b"\r\n")
        with Http(port) as http:
            assert http.post("/v1/tools/add", {"a": 1, "b": 2}).status == 200
    finally:
        for raw in held:
            raw.socket.close()


@pytest.mark.parametrize("address,status,word", [
    ("0.0.0.0:0", 1, "http.tokens and http.tls"), ("192.168.1.1:80", 1, "http.tokens and http.tls"),
    ("127.0.0.1:x", 2, "--http: must be ADDRESS:PORT")])
def test_an_address_of_others_is_refused(tmp_path, address, status, word):
    done = subprocess.run([TOOLBOXD, "--embedded-bus", "--bus", "ws://127.0.0.1:0/core", "--http", address],
                          env=environment(tmp_path), capture_output=True, text=True, timeout=20)
    assert done.returncode == status and word in done.stderr


def test_an_address_of_others_without_a_guard_is_warned_of(launch):
    one = launch({"http": {"insecure": True}}, args=["--http", "0.0.0.0:0"])
    until(lambda: "Listening on http://0.0.0.0:" in one.daemon.log(), EVENT_SECONDS, "the door open")
    [warning] = [line for line in one.daemon.log().splitlines() if "http.insecure" in line]
    assert " WARN " in warning and "without http.tokens and http.tls" in warning, warning


def test_the_address_of_the_flag_alone(launch):
    """It is 127.0.0.1:8090, whether somebody has that or not; what begins with - is no address."""
    def has_said():
        return re.search(r"(Listening on http://|Cannot listen on http://|address )\S*127\.0\.0\.1:8090", one.daemon.log())

    one = launch(args=["--http"], wait=False, expect_start=False)
    until(has_said, EVENT_SECONDS, "the address in the log")
    assert "Listening on http://" not in one.daemon.log().replace("http://127.0.0.1:8090", "")
    one.daemon.has_ended = True
    one.daemon.process.terminate()
    one.daemon.process.wait(EVENT_SECONDS)


def test_nothing_listens_unless_asked_for(launch):
    one = launch()
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/{one.daemon.pid}/net/{name}")
            .read_text().splitlines()[1:]]
    listening = {row[9] for row in rows if row[3] == "0A"}
    ours = {link.readlink().name for link in Path(f"/proc/{one.daemon.pid}/fd").iterdir()}
    assert [f"socket:[{inode}]" in ours for inode in listening].count(True) == 1    # its embedded bus


def test_an_idle_connection_is_closed(launch):
    one = launch({"http": {"limits": {"idle_s": 1}}}, args=["--http", "127.0.0.1:0"])
    with Raw(port_of(one.daemon)) as raw:
        raw.send(b"GET /health HTTP/1.1\r\n" + HEAD + b"\r\n")
        began = time.monotonic()
        assert raw.read_all().endswith(b'{"status":"ok"}') and time.monotonic() - began > 0.9


def test_when_to_try_again(launch, tmp_path):
    (tmp_path / "rare.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "rare", "description": "A test's.", "command": {"shell": "true"}, "cooldown_s": 77}]}))
    one = launch(toolbox_dirs=[tmp_path], args=["--http", "127.0.0.1:0"])
    with Http(port_of(one.daemon)) as http:
        assert http.post("/v1/tools/rare").status == 200
        answer = http.post("/v1/tools/rare")
        assert (answer.status, answer.json["code"]) == (429, "cooldown")
        assert 70 <= int(answer.headers["Retry-After"]) <= 77


def test_a_full_queue_is_tried_again_too(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    one = launch({"limits": {"queue": 1}}, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    with Raw(port) as first, Raw(port) as second, Http(port) as http:
        assert http.post("/v1/tools/wait", {"seconds": 0}).status == 200  # its host has started
        for n, raw in enumerate((first, second), 1):
            raw.send(CALL.replace(b"add", b"wait") + WAIT)
            until(lambda: len(running(one)) == n, EVENT_SECONDS, "the call there")
        answer = http.post("/v1/tools/wait", {"seconds": 9})
    assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (429, "busy", "1")


def test_a_toolbox_that_is_out_of_order(launch, tmp_path):
    manifests.misbehave(tmp_path / "toolbox.d")
    one = launch({"crash_limit": 1}, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    with Http(port_of(one.daemon)) as http:
        assert http.post("/v1/tools/segfault").status == 502
        answer = http.post("/v1/tools/segfault")
        assert (answer.status, answer.json["code"]) == (503, "unavailable")


def test_the_profile_of_callers_without_a_token(launch):
    one = launch({"profiles": {"guests": {"tool_names": ["add"]}}, "http": {"profile": "guests"}}, [manifests.SHIPPED],
                 args=["--http", "127.0.0.1:0"])
    with Http(port_of(one.daemon)) as http, Caller(one.url) as caller:
        assert [tool["name"] for tool in http.get("/v1/tools").json["tools"]] == ["add"]
        assert http.post("/v1/tools/sub", {"a": 1, "b": 2}).status == 404
        assert len(caller.call("ovos.tools.list")["tools"]) > 1


def test_it_is_not_healthy_before_the_first_catalogue(launch):
    one = launch({"start_timeout_ms": 3000}, [BUILD / "tests" / "toolboxes" / "stuck.d"], wait=False,
                 args=["--http", "127.0.0.1:0"])
    with Http(port_of(one.daemon)) as http:
        answer = http.get("/health")
        assert (answer.status, answer.json) == (503, {"status": "starting"})
        until(lambda: http.get("/health").status == 200, EVENT_SECONDS, "it healthy")


def test_it_is_not_healthy_while_it_stops(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    one = launch({"drain_ms": int(3000 * SLOWNESS)}, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    with Raw(port_of(one.daemon)) as late, Raw(port_of(one.daemon)) as calling:
        calling.send(CALL.replace(b"add", b"wait") + WAIT)
        late.send(b"GET /health HTTP/1.1\r\n")
        until(lambda: running(one), EVENT_SECONDS, "the call running")
        one.daemon.process.terminate()
        until(lambda: "Stopping" in one.daemon.log(), EVENT_SECONDS, "it stopping")
        late.send(HEAD + b"\r\n")
        data = late.read_all()
    assert statuses(data) == [503] and data.endswith(b'{"status":"stopping"}')


def test_a_service_that_stops_answers_what_is_running(launch):
    one = launch(args=["--http", "127.0.0.1:0"], configuration={"drain_ms": 3000},
                 toolbox_dirs=[manifests.SHIPPED])
    port = port_of(one.daemon)
    with Http(port) as http:
        assert http.get("/health").status == 200
    idle = Raw(port)
    one.end()
    assert idle.read_all() == b""
