# SPDX-License-Identifier: Apache-2.0
"""Toolboxes of kind mcp with a url: servers of both eras over HTTP, with JSON and with events."""
import base64
import contextlib
import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import mcp_server
import pytest
from caller import Caller
from http_peer import port_of
from mcp_endpoint import Endpoint
from processes import EVENT_SECONDS, SLOWNESS, children, free_port, listens, toolboxctl, until
from test_http_tls import certificate
from test_mcp_servers import Servers, begin, changed_tools, ends_of, read_all, text_of

FORMS = [(era, form) for era in ("modern", "legacy") for form in ("json", "events")]


class Urls(Servers):
    def __init__(self, launch, folder):
        super().__init__(launch, folder)
        self.endpoints = []

    def endpoint(self, name="box", era="modern", form="events", token=None, **more):
        one = Endpoint(era == "legacy", form == "events", token)
        self.endpoints.append(one)
        self.point(name, one.url, **more)
        return one

    def point(self, name, url, headers=None, ca=None, proxy=None, grace_s=None, **more):
        mcp = {key: value for key, value in (("url", url), ("headers", headers), ("ca", ca), ("proxy", proxy),
                                             ("grace_s", grace_s)) if value}
        (self.folder / f"{name}.json").write_text(json.dumps(
            {"kind": "mcp", "risk": "write", "mcp": mcp, **more}))

    def why_failed(self, caller, name="box"):
        def failed():
            return [one["error"] for one in caller.call("ovos.tools.status")["failed"]
                    if one["toolbox_id"] == name]
        return until(failed, EVENT_SECONDS, f"{name} failed")[0]


@pytest.fixture
def urls(launch, tmp_path):
    one = Urls(launch, tmp_path)
    yield one
    for endpoint in one.endpoints:
        endpoint.close()


def test_definitions_have_their_source_without_its_secrets(urls):
    endpoint = urls.endpoint("near")
    urls.point("far", endpoint.url.replace("://", "://me:hunter22@") + "?key=hunter22")
    urls.add("own")
    with Caller(urls.start().url) as caller:
        sources = {name: next(iter(urls.await_tools(caller, name).values()))["source"] for name in ("near", "far", "own")}
        done = toolboxctl("list", "--toolbox", "near", bus=urls.service.url, home=urls.service.daemon.home)
    origin = endpoint.url[:endpoint.url.index("/", len("http://"))]
    assert sources == {
        "near": {"kind": "mcp", "toolbox": "near", "server": origin},
        "far": {"kind": "mcp", "toolbox": "far", "server": origin.replace("://", "://***@")},
        "own": {"kind": "mcp", "toolbox": "own", "server": Path(sys.executable).name}}
    header, row, *_ = done.stdout.splitlines()
    assert header.split() == ["TOOLBOX", "TOOL", "KIND", "RISK", "DESCRIPTION"] and row.split()[2] == "mcp"


@pytest.mark.parametrize("era, form", FORMS)
def test_a_server_is_listed_and_called(urls, era, form):
    endpoint = urls.endpoint(era=era, form=form)
    with Caller(urls.start().url) as caller:
        assert len(urls.await_tools(caller)) == len(mcp_server.TOOLS)
        answer = caller.invoke("add", {"a": 2, "b": 3})
        assert answer["result"] == {"content": [{"type": "text", "text": "5"}], "structured": {"sum": 5}}
        failed = caller.invoke("fail")
        assert failed["code"] == "tool_failed" and "no luck\nat all" in failed["error"]
        assert "not today" in caller.invoke("refuse")["error"]
        assert text_of(caller.invoke("large", {"bytes": 300000}))
    sent = endpoint.headers_of("tools/call")[0]
    if era == "modern":
        assert (sent["Mcp-Method"], sent["Mcp-Name"], sent["MCP-Protocol-Version"]) == (
            "tools/call", "add", "2026-07-28")
    else:
        assert sent["MCP-Protocol-Version"] == "2025-11-25" and sent["Mcp-Session-Id"] in endpoint.sessions
        urls.service.end()
        until(lambda: endpoint.deleted == endpoint.sessions, EVENT_SECONDS, "the sessions ended")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_progress_comes_in_events(urls, era):
    urls.endpoint(era=era)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        assert text_of(caller.invoke("wait", {"seconds": 0.8}, progress=True)) == "waited"
        told = [one.data["progress"] for one in caller.seen if one.type == "ovos.tools.call.progress"]
        assert told[0] == 0.25 and told == [one for one in (0.25, 0.5, 0.75, 1.0) if one in told], told


def test_a_call_over_its_time_closes_its_stream(urls):
    endpoint = urls.endpoint(tools={"wait": {"timeout_ms": int(500 * SLOWNESS)}})
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("wait", {"seconds": 60, "steps": 80})["code"] == "timeout"
        until(lambda: endpoint.broken, EVENT_SECONDS, "the stream closed")
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_calls_are_in_flight_at_once_and_one_that_is_cancelled_closes_its_request_alone(urls, era, tmp_path):
    gate = tmp_path / "gate"
    endpoint = urls.endpoint(era=era)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        others = begin(caller, "wait", {"until": str(gate)}, 8)
        ended = begin(caller, "wait", {"until": str(gate)}, call_id="one")
        until(lambda: len(endpoint.headers_of("tools/call")) == 9, EVENT_SECONDS, "nine requests")
        assert caller.call("ovos.tools.cancel", {"call_id": "one"}, {"source": "asker"})["cancelled"]
        assert ends_of(caller, ended)[ended[0]]["code"] == "cancelled"
        gate.touch()
        assert {text_of(one) for one in ends_of(caller, others).values()} == {"waited"}
        until(lambda: endpoint.broken, EVENT_SECONDS, "the stream closed")
        methods = [one.get("method") for one, _ in endpoint.requests]
        assert methods.count("notifications/cancelled") == (1 if era == "legacy" else 0)


def test_a_forgotten_session_costs_the_calls_of_it_nothing(urls, tmp_path):
    gate = tmp_path / "gate"
    endpoint = urls.endpoint(era="legacy")
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        before = begin(caller, "wait", {"until": str(gate)})
        until(lambda: endpoint.headers_of("tools/call"), EVENT_SECONDS, "the first call")
        endpoint.sessions.clear()
        endpoint.sessions.append("none of ours")
        after = begin(caller, "add", {"a": 2}, 5)
        assert [one["result"]["structured"] for one in ends_of(caller, after).values()] == [{"sum": 3}] * 5
        gate.touch()
        assert text_of(ends_of(caller, before)[before[0]]) == "waited"
    methods = [one.get("method") for one, _ in endpoint.requests]
    assert methods.count("initialize") == 3, "the list, the calls, and once more"


@pytest.mark.parametrize("era, form", [("modern", "events"), ("legacy", "events")])
@pytest.mark.parametrize("name, text", [("twice", "once"), ("stranger", "mine"), ("chatter", "done")])
def test_a_server_that_breaks_rules_in_a_call(urls, era, form, name, text):
    urls.endpoint(era=era, form=form)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        for _ in range(3):
            assert text_of(caller.invoke(name, seconds=EVENT_SECONDS)) == text
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}


@pytest.mark.parametrize("era, form", FORMS)
def test_a_server_that_starts_slowly(urls, era, form, times):
    with Caller(urls.start().url) as caller:
        # On a machine that takes a second for an answer, with longer times.
        for slowness in 1, 8:
            box = f"box{slowness}"
            endpoint = urls.endpoint(box, era, form)
            endpoint.mute = ("tools/list", times(0.5, 5) * slowness)  # for each of four pages
            urls.await_tools(caller, box)
            calls = begin(caller, "add", {"a": 1}, 3, timeout_ms=1000 * slowness, toolbox_id=box)
            ends = ends_of(caller, calls).values()
            if not any(end.get("code") == "timeout" for end in ends):
                break
        assert [end["result"]["structured"] for end in ends] == [{"sum": 2}] * 3


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_server_that_never_answers_a_call(urls, era):
    endpoint = urls.endpoint(era=era)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.mute = ("tools/call", 600)
        ends = ends_of(caller, begin(caller, "add", {"a": 1}, 64, timeout_ms=int(500 * SLOWNESS)))
        assert {end["code"] for end in ends.values()} == {"timeout"}
        endpoint.mute = None
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}


def test_a_server_that_takes_no_notification_holds_few_connections(urls):
    endpoint = urls.endpoint(era="legacy")
    with Caller(urls.start({"limits": {"queue": 200}}).url) as caller:
        urls.await_tools(caller)
        caller.invoke("add", {"a": 1})
        endpoint.mute = ("tools/call", "notifications/cancelled", 600)
        ends = ends_of(caller, begin(caller, "add", {"a": 1}, 60, timeout_ms=int(1000 * SLOWNESS)))
        assert {end["code"] for end in ends.values()} == {"timeout"}
        host = children(urls.service.daemon.only_host())[0]

        def sockets():
            n = 0
            for one in Path(f"/proc/{host}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # one that was just closed
                    n += "socket" in os.readlink(one)
            return n

        # The latest ones stay open: longer than this wait, they would all end by themselves.
        assert until(lambda: 16 <= (n := sockets()) < 30 and n, EVENT_SECONDS, "few connections")


def test_a_server_that_never_answers(urls, times):
    if not times(False, True):
        pytest.skip("it has a minute to list its tools: --long")
    endpoint = urls.endpoint()
    endpoint.mute = ("server/discover", 600)
    with Caller(urls.start().url) as caller:
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], 2 * EVENT_SECONDS, "it failed")
        assert "the server cannot be used" in failed[0]["error"]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_list_that_changes_is_read_again_by_itself(urls, era):
    endpoint = urls.endpoint(era=era)
    endpoint.notifies = True
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        until(lambda: endpoint.listeners, EVENT_SECONDS, "it listens")
        endpoint.change(changed_tools())
        caller.wait_for(lambda one: one.type == "ovos.tools.changed", EVENT_SECONDS)
        found = urls.listed(caller, "box")
        assert "extra" in found and found["add"]["description"] == "Delete everything."
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}


def test_a_stream_of_notifications_that_ends_is_opened_again(urls):
    endpoint = urls.endpoint(era="legacy")
    endpoint.notifies = True
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        caller.invoke("add", {"a": 1})
        until(lambda: endpoint.listeners, EVENT_SECONDS, "it listens")
        endpoint.change(mcp_server.TOOLS)
        until(lambda: len(endpoint.headers_of("tools/list")) == 12, EVENT_SECONDS, "three lists of four pages")
        endpoint.tools = changed_tools()  # without a notification, since the stream is closed
        endpoint.hang_up()
        until(lambda: len(endpoint.streams_of_get) == 2, EVENT_SECONDS, "the next stream")
        assert endpoint.streams_of_get[1]["Last-Event-ID"] == "1"
        assert endpoint.streams_of_get[1]["Mcp-Session-Id"] in endpoint.sessions
        until(lambda: "extra" in urls.listed(caller, "box"), EVENT_SECONDS, "the list")
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


def test_a_stream_of_notifications_that_never_lasts_is_opened_less_and_less_often(urls):
    endpoint = urls.endpoint(era="legacy")
    endpoint.notifies, endpoint.patience = True, 0
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        begun = time.monotonic()
        caller.invoke("add", {"a": 1})
        until(lambda: len(endpoint.times_of_get) == 3, EVENT_SECONDS, "three streams")
        assert endpoint.times_of_get[2] - begun > 2.8, "a second, and two"


def test_a_server_without_notifications_is_asked_for_them_once(urls):
    """Another server, whose streams never last, is asked again meanwhile, after a second and after two more."""
    endpoint = urls.endpoint(era="legacy")
    other = urls.endpoint("other", era="legacy")
    other.notifies, other.patience = True, 0
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        urls.await_tools(caller, "other")
        for box in "box", "box", "other":
            assert caller.invoke("add", {"a": 1}, toolbox_id=box)["result"]["structured"] == {"sum": 2}
        until(lambda: len(other.times_of_get) == 3, EVENT_SECONDS, "three streams of the other")
        assert caller.invoke("add", {"a": 1}, toolbox_id="box")["result"]["structured"] == {"sum": 2}
        assert endpoint.n_gets == 1


def test_the_headers_have_the_secrets_and_nothing_else_has(urls, tmp_path):
    (tmp_path / "token").write_text("file-secret-1\n")
    endpoint = urls.endpoint(token="file-secret-1", headers={
        "Authorization": f"Bearer ${{file:{tmp_path}/token}}", "X-Other": "${env:GATEWAY_SECRET}"})
    with Caller(urls.start(env={"GATEWAY_SECRET": "env-secret-2"}).url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        shown = json.dumps(caller.call("ovos.tools.status")) + urls.log()
    assert endpoint.headers_of("tools/call")[0]["X-Other"] == "env-secret-2"
    assert "secret-1" not in shown and "secret-2" not in shown


class Odd:
    """A server of the legacy era that has one tool, and its own answers to some methods: (status, body, type, headers).
    A body may be a function of the request."""

    def __init__(self, **answers):
        odd = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                found = answers.get("every") or answers.get(request["method"]) or odd.usual(request)
                status, body, content, headers = (*found, *(None, {})[len(found) - 2:])
                body = body(request) if callable(body) else body
                self.send_response(status)
                for name, value in {**({"Content-Type": content} if content else {}), **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/mcp"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def usual(request):
        results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
                   "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
                   "tools/call": {"content": [{"type": "text", "text": "hi"}]}}
        if "id" not in request:
            return 202, b"", None
        if request["method"] not in results:
            return 400, message(error={"code": -32000, "message": "not initialized"}, id=None)(request), "application/json"
        return 200, message(result=results[request["method"]])(request), "application/json"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def message(**members):
    """The body that is the response to a request."""
    return lambda request: json.dumps({"jsonrpc": "2.0", "id": request["id"], **members}).encode()


JSON, TEXT = "application/json", "text/plain"


@pytest.mark.parametrize("answers, reason", [
    ({"every": (401, b"", None, {"WWW-Authenticate": "Bearer"})},
     "it answers with the status 401: it wants a token, such as in mcp.headers.Authorization; logins by OAuth are not"),
    ({"every": (503, b"upstream down", TEXT)}, "it answers with the status 503: upstream down"),
    ({"every": (405, b'{"error":"Method not allowed"}', JSON)},
     "it answers with the status 405, so it takes no POST: it may be a server of the older transport HTTP+SSE"),
    ({"every": (404, b"<html>", "text/html")},
     "it answers with the status 404: if the path is right, it may be a server of the older transport HTTP+SSE"),
    ({"every": (421, b"Invalid Host header", TEXT)}, "it answers with the status 421: Invalid Host header"),
    ({"every": (403, b'{"detail":"no"}', JSON)}, 'it answers with the status 403: {"detail":"no"}'),
    ({"every": (406, message(id=None, error={"code": -32600, "message": "Not Acceptable"}), JSON)},
     "it has refused server/discover and initialize: Not Acceptable"),
    ({"every": (200, b"<!DOCTYPE html>", "text/html")}, "it answers with text/html, not with application/json or text/event-stream"),
    ({"every": (200, message(result={}), None)}, "it answers with no type, not with application/json"),
    ({"every": (200, gzip.compress(b"{}"), JSON, {"Content-Encoding": "gzip"})},
     "it answers with the encoding gzip, which is not asked for"),
    ({"every": (200, b"", JSON)}, "its answer is empty"),
    ({"tools/list": (200, message(result={"tools": "\ud800"}), JSON)}, "it has not listed its tools"),
    ({"every": (307, b"", None, {"Location": "http://127.0.0.1:9/other"})},
     "it redirects to http://127.0.0.1:9/other, which is not followed"),
    ({"initialize": (400, b"bad", TEXT)}, "it has refused server/discover and initialize: it answers with the status 400: bad"),
])
def test_a_server_that_cannot_be_used_says_why(urls, answers, reason):
    odd = Odd(**answers)
    urls.endpoints.append(odd)
    urls.point("box", odd.url)
    with Caller(urls.start().url) as caller:
        assert reason in urls.why_failed(caller)


@pytest.mark.parametrize("status", [401, 404, 500])
@pytest.mark.parametrize("body", [b"Internal Server Error", message(error={"code": -32603, "message": "what?"})])
def test_a_legacy_server_that_trips_over_the_probe_is_used(urls, status, body):
    odd = Odd(**{"server/discover": (status, body, TEXT if isinstance(body, bytes) else JSON)})
    urls.endpoints.append(odd)
    urls.point("box", odd.url)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        assert text_of(caller.invoke("t")) == "hi"


def nan(request):
    return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":NaN}}' % request["id"]


def half(request):
    return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\\ud83d"}]}}' % request["id"]


@pytest.mark.parametrize("answer, code, text", [
    ((500, message(error={"code": -32603, "message": "db is down"}), JSON), "tool_failed", "db is down"),
    ((400, message(id=None, error={"code": -32602, "message": "bad arg"}), JSON), "tool_failed", "bad arg"),
    ((500, b"oops", TEXT), "unavailable", "the server has not answered: it answers with the status 500: oops"),
    ((429, b'{"error":"slow down"}', JSON), "unavailable", 'it answers with the status 429: {"error":"slow down"}'),
    ((200, nan, JSON), "tool_failed", "the server has sent an answer that cannot be read: at byte "),
    ((200, lambda request: b"event: message\ndata: " + nan(request) + b"\n\n", "text/event-stream"), "tool_failed",
     "the server has sent an answer that cannot be read: at byte "),
    ((200, b"{]", JSON), "tool_failed", "the server has not answered: it has sent what is no message: at byte 1: "),
    ((200, b"<html>", "text/html"), "tool_failed", "it answers with text/html, not with application/json"),
    ((200, gzip.compress(b"{}"), JSON, {"Content-Encoding": "gzip"}), "tool_failed", "the encoding gzip"),
    ((200, half, JSON), None, "a\ufffd"),
    ((200, lambda request: b"data: " + half(request) + b"\n\n", "text/event-stream"), None, "a\ufffd"),
    ((200, lambda request: message(id=str(request["id"]), result={"content": []})(request), JSON), None, ""),
])
def test_a_call_says_what_the_server_has_sent_instead_of_a_response(urls, answer, code, text):
    odd = Odd(**{"tools/call": answer})
    urls.endpoints.append(odd)
    urls.point("box", odd.url)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        found = caller.invoke("t")
        assert found.get("code") == code and text in (found["error"] if code else text_of(found)), found


def test_a_secret_of_the_url_is_not_shown_by_a_redirect(urls):
    endpoint = urls.endpoint()
    endpoint.status = ("server/discover", 307)
    urls.point("box", endpoint.url + "?key=${env:GATEWAY_SECRET}")
    with Caller(urls.start(env={"GATEWAY_SECRET": "env-secret-2"}).url) as caller:
        assert "it redirects to http://127.0.0.1:9/other?key=***, which" in urls.why_failed(caller)
        assert "secret-2" not in urls.log()


def test_a_server_that_is_not_there(urls):
    urls.point("box", f"http://127.0.0.1:{free_port()}/mcp")
    with Caller(urls.start().url) as caller:
        assert "it cannot be reached: Failed to connect to 127.0.0.1" in urls.why_failed(caller)


def test_a_certificate_that_nobody_vouches_for_is_refused(urls, tmp_path):
    endpoint = Endpoint(tls=certificate(tmp_path, "own"))
    urls.endpoints.append(endpoint)
    urls.point("box", endpoint.url, headers={"Authorization": "Bearer x"})
    with Caller(urls.start().url) as caller:
        assert "certificate" in urls.why_failed(caller)
    assert not endpoint.requests, "no header of ours has left"


@pytest.mark.parametrize("status", [404, 400])
def test_a_session_that_is_forgotten_is_begun_again_in_the_call(urls, status):
    endpoint = urls.endpoint(era="legacy")
    endpoint.forgotten = status
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        caller.invoke("add", {"a": 1})
        endpoint.sessions.clear()
        endpoint.sessions.append("none of ours")
        assert caller.invoke("add", {"a": 2})["result"]["structured"] == {"sum": 3}


@pytest.mark.parametrize("era, form", FORMS)
def test_a_call_whose_connection_breaks(urls, era, form):
    endpoint = urls.endpoint(era=era, form=form)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.breaks_off = 1
        broken = caller.invoke("add", {"a": 1})
        assert broken["code"] == ("tool_failed" if form == "events" else "unavailable"), broken
        assert "the server has not answered: " in broken["error"]
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
    calls = [one for one, _ in endpoint.requests if one.get("method") == "tools/call"]
    assert len(calls) == 2, "a call that may have had its effect is not repeated"


@pytest.mark.parametrize("era, form", FORMS)
def test_a_call_that_only_reads_is_sent_again_once_when_its_connection_breaks(urls, era, form):
    endpoint = urls.endpoint(era=era, form=form, tools={"add": {"risk": "execute"}})
    with Caller(urls.start({"toolboxes": {"box": {"tools": {"add": {"risk": "read"}}}}}).url) as caller:
        urls.await_tools(caller)
        endpoint.breaks_off = 1
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert len(endpoint.headers_of("tools/call")) == 2
        endpoint.breaks_off = 2
        assert "the server has not answered: " in caller.invoke("add", {"a": 1})["error"]
        assert len(endpoint.headers_of("tools/call")) == 4


def test_redirects_within_a_server_are_followed_up_to_three(urls):
    endpoint = urls.endpoint(token="secret", headers={"Authorization": "Bearer secret"})
    endpoint.moves = 3
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        endpoint.moves = 4
        refused = caller.invoke("add", {"a": 1})
        assert refused["code"] == "unavailable"
        assert f"it redirects to {endpoint.url}/4, which is not followed" in refused["error"]


def test_a_redirect_keeps_the_user_of_the_url(urls):
    endpoint = urls.endpoint()
    endpoint.moves = 1
    urls.point("box", endpoint.url.replace("//", "//us:${env:GATEWAY_SECRET}@"))
    with Caller(urls.start(env={"GATEWAY_SECRET": "env-secret-2"}).url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        sent = endpoint.headers_of("tools/call")[0]
        assert base64.b64decode(sent["Authorization"].split()[1]) == b"us:env-secret-2"
        assert "secret-2" not in urls.log()


def test_events_go_on_after_redirects(urls):
    endpoint = urls.endpoint(era="legacy")
    endpoint.moves = 1
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.polls = 5
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_sends_it_nothing(urls, status):
    endpoint = urls.endpoint(token="secret", headers={"Authorization": "Bearer secret"})
    other = Endpoint()
    urls.endpoints.append(other)
    endpoint.elsewhere = other.url
    endpoint.status = ("server/discover", status)
    with Caller(urls.start().url) as caller:
        assert f"it redirects to {other.url}, which is not followed" in urls.why_failed(caller)
    assert not other.requests


def test_a_certificate_of_an_own_authority_is_accepted_where_it_is_named(urls, tmp_path):
    endpoint = Endpoint(tls=certificate(tmp_path, "own"))
    urls.endpoints.append(endpoint)
    with Caller(urls.start().url) as caller:
        urls.point("box", endpoint.url, ca="../own.pem")
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        urls.point("lacks", endpoint.url, ca="none.pem")
        assert "none.pem" in urls.why_failed(caller, "lacks")


@pytest.mark.parametrize("how", ["manifest", "environment"])
def test_a_proxy_is_asked(urls, how):
    proxy = Endpoint()
    urls.endpoints.append(proxy)
    origin = proxy.url.removesuffix("/mcp")
    if how == "manifest":
        urls.point("box", "http://tools.invalid/mcp", proxy=origin.replace("//", "//${env:PROXY_USER}:word@"))
        env = {"PROXY_USER": "proxy-secret-3", "no_proxy": "*"}
    else:
        urls.point("box", "http://tools.invalid/mcp")
        env = {"http_proxy": origin}
    with Caller(urls.start(env=env).url) as caller:
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
    sent = proxy.headers_of("tools/call")[0]
    assert sent["Host"] == "tools.invalid" and ("Proxy-Authorization" in sent) == (how == "manifest")
    assert "secret-3" not in urls.log()


@pytest.mark.parametrize("era, form", FORMS)
def test_resources_are_tools_where_they_are_wanted(urls, era, form):
    endpoint = urls.endpoint(era=era, form=form, resources=True)
    endpoint.resources = True
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        read_all(caller)
    if era == "modern":
        sent = endpoint.headers_of("resources/read")
        assert (sent[0]["Mcp-Method"], sent[0]["Mcp-Name"]) == ("resources/read", "test://note")
        assert sent[1]["Mcp-Name"].startswith("=?base64?"), "it is no plain text"


def test_a_server_that_comes_back(urls):
    endpoint = Endpoint(streams=True, port=free_port())
    urls.point("box", endpoint.url)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        caller.invoke("add", {"a": 1})
        endpoint.close()
        assert caller.invoke("add", {"a": 1})["code"] == "unavailable"
        urls.endpoints.append(Endpoint(streams=True, port=endpoint.http.server_port))
        answer = until(lambda: (got := caller.invoke("add", {"a": 1})).get("result") and got,
                       EVENT_SECONDS, "it answers again")
        assert answer["result"]["structured"] == {"sum": 2}


def test_a_server_that_is_away_for_long_is_not_offered_until_it_is_back(urls):
    endpoint = Endpoint(streams=True, port=free_port())
    grace_s = 3 if SLOWNESS > 1 else 1
    urls.point("box", endpoint.url, grace_s=grace_s)
    urls.point("other", urls.endpoint(name="unused").url)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.close()
        began = time.monotonic()
        assert caller.invoke("add", {"a": 1}, toolbox_id="box")["code"] == "unavailable"
        assert urls.listed(caller, "box") or time.monotonic() - began >= grace_s, "it has a time of grace"
        until(lambda: not urls.listed(caller, "box"), EVENT_SECONDS, "its tools are not offered")
        assert time.monotonic() - began >= grace_s
        assert caller.invoke("add", {"a": 1}, toolbox_id="box")["code"] == "unknown_tool"
        assert "it cannot be reached" in urls.why_failed(caller)
        # A change of something else does not bring them back.
        urls.point("late", urls.endpoints[0].url)
        urls.await_tools(caller, "late")
        assert not urls.listed(caller, "box") and urls.listed(caller, "other")
        urls.endpoints.append(Endpoint(streams=True, port=endpoint.http.server_port))
        urls.await_tools(caller)
        assert caller.invoke("add", {"a": 1}, toolbox_id="box")["result"]["structured"] == {"sum": 2}
        assert caller.call("ovos.tools.status")["failed"] == []


def test_a_server_that_is_back_in_time_stays(urls):
    with Caller(urls.start().url) as caller:
        # On a machine that needs all the time for one call, with a longer time.
        for grace_s in 3, 15:
            box = f"box{grace_s}"
            endpoint = urls.endpoint(box, form="json", grace_s=grace_s)
            urls.await_tools(caller, box)
            endpoint.breaks_off = 1
            assert caller.invoke("add", {"a": 1}, toolbox_id=box)["code"] == "unavailable"
            if caller.invoke("fail", toolbox_id=box)["code"] == "tool_failed":  # that has reached it
                break
        time.sleep(grace_s + 0.5)
        assert urls.listed(caller, box) and len(endpoint.headers_of("server/discover")) == 2


def test_arguments_go_into_headers(urls):
    endpoint = urls.endpoint()
    endpoint.tools = [
        {"name": "add", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "integer", "x-mcp-header": "Sum-A"}, "b": {"type": "integer"}}}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "object", "x-mcp-header": "A"}}}}]
    with Caller(urls.start().url) as caller:
        assert list(urls.await_tools(caller)) == ["add"]
        caller.invoke("add", {"a": 7, "b": 1})
        sent = endpoint.headers_of("tools/call")[0]
        assert sent.get("Mcp-Param-Sum-A") == "7", sent


def test_toolboxd_is_a_server_of_toolboxd(urls):
    behind = urls.launch({}, args=["--http", "127.0.0.1:0"])
    urls.point("box", f"http://127.0.0.1:{port_of(behind.daemon)}/mcp/math_tools")
    with Caller(urls.start().url) as caller:
        assert "add" in urls.await_tools(caller)
        assert caller.invoke("add", {"a": 2, "b": 3})["result"]["structured"] == {"sum": 5} or \
            caller.invoke("add", {"a": 2, "b": 3})["result"]["content"]


@pytest.mark.parametrize("status", [404, 400])
def test_a_server_that_forgets_each_session_at_once(urls, status):
    endpoint = urls.endpoint(era="legacy")
    endpoint.forgotten = status
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        caller.invoke("add", {"a": 1})
        begun = len(endpoint.sessions)
        endpoint.status = ("tools/call", status)
        endpoint.forgets = True
        refused = caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)
        assert refused["code"] == "unavailable" and f"the status {status}" in refused["error"], refused

        def is_quiet():
            n_sessions = len(endpoint.sessions)
            assert n_sessions - begun < 20, "it is asked without end"
            time.sleep(0.5)
            return len(endpoint.sessions) == n_sessions

        until(is_quiet, EVENT_SECONDS, "no more sessions")


@pytest.mark.parametrize("page", [10000, 200])
def test_a_server_with_ten_thousand_tools(urls, page):
    endpoint = urls.endpoint(form="json")
    endpoint.page = page
    endpoint.tools = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(9999)]
    endpoint.tools += mcp_server.TOOLS[:1]
    with Caller(urls.start({"limits": {"tools": 10000, "frame_bytes": 16 << 20}}).url) as caller:
        until(lambda: caller.count_tools() == 10000, EVENT_SECONDS, "all tools")
        answer = caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)
        assert answer["result"]["structured"] == {"sum": 2}


def test_a_list_that_never_ends(urls):
    urls.endpoint(form="json").fault = "endless"
    with Caller(urls.start().url) as caller:
        assert list(urls.await_tools(caller)) == ["add"]
        told = caller.call("ovos.tools.status")["not_offered"]
        assert any("1000 pages" in one["why"] for one in told), told


@pytest.mark.parametrize("form", ["json", "events"])
def test_a_result_of_100_mb_is_too_large_and_costs_its_call(urls, form):
    urls.endpoint(form=form)
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        before = caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)
        assert before["result"]["structured"] == {"sum": 2}
        pid = children(urls.service.daemon.only_host())[0]
        answer = caller.invoke("large", {"bytes": 100_000_000}, seconds=EVENT_SECONDS)
        assert answer["code"] == "too_large", answer
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}
        assert children(urls.service.daemon.only_host())[0] == pid, "its host goes on"


@pytest.mark.parametrize("body, type", [
    (b"<html>Welcome</html>", "text/html"), (b"\x00\xff{]", "application/json"), (b"", "application/json"),
    (b'{"jsonrpc":"2.0","id":4711,"result":{}}', "application/json"), (b"[" * 100000, "application/json"),
    (b"data: {]\n\ndata", "text/event-stream"), (b"\xff" * 100000, "text/event-stream")])
def test_what_is_no_response_costs_its_call(urls, body, type):
    endpoint = urls.endpoint()
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.body = (body, type)
        refused = caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)
        assert refused["code"] == "tool_failed" and "the server has not answered: it" in refused["error"]
        endpoint.body = None
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


def test_events_that_end_early_go_on_until_the_response_or_the_deadline(urls):
    endpoint = urls.endpoint(era="legacy")
    with Caller(urls.start().url) as caller:
        urls.await_tools(caller)
        endpoint.polls = 3
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}
        assert endpoint.polls == 0 and len(endpoint.headers_of("tools/call")) == 1, "it is sent once"
        endpoint.polls, begun = 1000000, time.monotonic()
        assert caller.invoke("add", {"a": 1}, timeout_ms=int(1000 * SLOWNESS))["code"] == "timeout"

        def is_quiet():
            left = endpoint.polls
            time.sleep(0.5)
            return endpoint.polls == left

        until(is_quiet, EVENT_SECONDS, "nobody asks after the end")
        assert 1000000 - endpoint.polls <= 1 + 10 * (time.monotonic() - begun), "a wait of 100 ms is the least"
        endpoint.polls = 0
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


REAL = """
import sys
import time
from mcp.server.mcpserver import MCPServer
server = MCPServer("real")

@server.tool()
def shout(text: str) -> str:
    return text.upper()

server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def test_a_server_of_the_sdk_for_python(urls, tmp_path):
    pytest.importorskip("mcp.server.mcpserver")
    (tmp_path / "real.py").write_text(REAL)
    port = free_port()
    with open(tmp_path / "real.log", "wb") as log:
        process = subprocess.Popen([sys.executable, str(tmp_path / "real.py"), str(port)],
                                   stdout=log, stderr=log)
    try:
        until(lambda: listens(port), EVENT_SECONDS, "the server of the SDK")
        urls.point("box", f"http://127.0.0.1:{port}/mcp")
        with Caller(urls.start().url) as caller:
            assert list(urls.await_tools(caller)) == ["shout"]
            assert caller.invoke("shout", {"text": "hey"})["result"]["structured"] == {"result": "HEY"}
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("mcp, words", [
    ({"url": "ftp://x/"}, "url"), ({"url": "http://x/", "command": ["x"]}, "mcp"),
    ({"url": "http://x/", "env": {}}, "mcp"), ({"url": "http://x/\n"}, "one line"),
    ({"url": "http://x/", "proxy": "x"}, "proxy"), ({"command": ["x"], "ca": "x"}, "mcp"),
    ({"url": "http://x/", "headers": {"A": "x\r\nB: y"}}, "one line"), ({}, "mcp")])
def test_a_mistake_is_named(urls, mcp, words):
    (urls.folder / "box.json").write_text(json.dumps({"kind": "mcp", "mcp": mcp}))
    with Caller(urls.start().url) as caller:
        assert words in urls.why_failed(caller)
