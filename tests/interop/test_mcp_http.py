# SPDX-License-Identifier: Apache-2.0
"""MCP over HTTP, of both eras, as lines of JSON-RPC."""
import hashlib
import json

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, port_of, running, statuses, wait_until_cancelled
from processes import EVENT_SECONDS, until
from test_plugins import plugged

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
ACCEPT = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("mcp")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    manifests.twins(folder)
    one = Service("embedded", home, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"],
                  configuration={"crash_limit": 0})
    one.folder = folder
    with one:
        yield one


class Client:
    """A client of one era on one connection: a port, or an Http."""

    def __init__(self, port, era, path="/mcp"):
        self.http = port if isinstance(port, Http) else Http(port)
        self.era, self.path, self.number, self.session = era, path, 0, None
        if era == "legacy":
            answer = self.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                              "clientInfo": {"name": "test", "version": "1"}})
            assert answer.status == 200, answer.bytes
            self.initialized = answer.json["result"]
            self.session = answer.headers["Mcp-Session-Id"]
            assert self.send("notifications/initialized", notify=True).status == 202

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.connection.close()

    def headers(self, method, params):
        headers = {"Accept": ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.era == "modern":
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        return headers

    def message(self, method, params=None, notify=False):
        params = dict(params or {})
        if self.era == "modern":
            params["_meta"] = META | params.get("_meta", {})
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self.number += 1
            message["id"] = self.number
        return message

    def send(self, method, params=None, notify=False, **headers):
        message = self.message(method, params, notify)
        headers = self.headers(method, message["params"]) | headers
        return self.http.ask("POST", self.path, message, **headers)

    def result(self, method, params=None):
        answer = self.send(method, params)
        assert answer.status == 200, answer.bytes
        assert answer.json["id"] == self.number and answer.json["jsonrpc"] == "2.0"
        if self.era == "modern":
            assert answer.json["result"]["resultType"] == "complete"
        return answer.json["result"]

    def raw(self, method, params=None):
        """The bytes of a request, for another connection."""
        message = self.message(method, params)
        body = json.dumps(message).encode()
        lines = [f"POST {self.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json",
                 f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers(method, message["params"]).items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture(params=["legacy", "modern"])
def client(request, port):
    with Client(port, request.param) as client:
        yield client


def test_it_lists_every_tool_with_its_toolbox(started, client):
    with Caller(started.url) as caller:
        full = caller.call("ovos.tools.list")["tools"]
    tools = client.result("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [f"{tool['toolbox_id']}__{tool['name']}" for tool in full]
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)


def test_a_call(client):
    result = client.result("tools/call", {"name": "math_tools__add", "arguments": {"a": 3, "b": 4}})
    assert result["structuredContent"] == {"result": 7.0}
    assert json.loads(result["content"][0]["text"]) == {"result": 7.0}
    assert client.result("tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})["structuredContent"]


def test_errors_of_a_call_and_of_a_request(client):
    wrong = client.result("tools/call", {"name": "math_tools__add", "arguments": {"a": 3}})
    assert wrong["isError"] is True and "b" in wrong["content"][0]["text"]
    failed = client.result("tools/call", {"name": "answers__not_there", "arguments": {}})
    assert failed["isError"] is True
    ambiguous = client.result("tools/call", {"name": "same", "arguments": {"value": 1}})
    assert ambiguous["isError"] is True
    unknown = client.send("tools/call", {"name": "nope", "arguments": {}})
    assert unknown.json["error"]["code"] == -32602
    assert client.send("resources/list").json["error"]["code"] == -32601
    assert client.send("tools/list", {"cursor": "x"}).json["error"]["code"] == -32602


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_two_tools_never_have_one_name(launch, tmp_path, era):
    manifests.alike(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    with Client(port_of(service.daemon), era) as client:
        names = [tool["name"] for tool in client.result("tools/list")["tools"]]
        assert names[0] == "alike__a__b" and len(set(names)) == 2
        assert [client.result("tools/call", {"name": name, "arguments": {"value": 97}})["structuredContent"]
                for name in names] == [{"result": 97}, {"result": 65}]


def test_one_toolbox_has_bare_names(started, port):
    for era in ("legacy", "modern"):
        with Client(port, era, "/mcp/left") as client:
            assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["same", "only_left"]
            assert client.result("tools/call", {"name": "same", "arguments": {"value": -3}})["structuredContent"]
            answer = client.send("tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
            assert answer.json["error"]["code"] == -32602
    with Http(port) as http:
        assert http.post("/mcp/nope", {}).status == 404


def test_sessions_of_the_legacy_era(port):
    with Client(port, "legacy") as client:
        assert client.initialized["protocolVersion"] == "2025-11-25"
        assert client.initialized["capabilities"] == {"tools": {"listChanged": True}}
        assert client.result("ping") == {}
        session, client.session = client.session, None
        answer = client.send("tools/list")
        assert answer.status == 400 and answer.json["error"]["code"] == -32600
        client.session = "0" * 32
        assert client.send("tools/list").status == 404
        client.session = session
        assert client.http.ask("DELETE", "/mcp", Mcp_Session_Id=session).status == 204
        assert client.send("tools/list").status == 404
        assert client.http.ask("DELETE", "/mcp", Mcp_Session_Id=session).status == 404


def test_the_modern_era_has_no_session(port):
    with Client(port, "modern") as client:
        discovered = client.result("server/discover")
        assert discovered["supportedVersions"] == [MODERN]
        assert client.send("tools/list", Mcp_Session_Id="0" * 32).status == 200
        assert client.send("initialize").status == 404
        for method in ("GET", "DELETE"):
            answer = client.http.ask(method, "/mcp", MCP_Protocol_Version=MODERN, Accept=ACCEPT)
            assert answer.status == 405 and answer.headers["Allow"] == "POST"
        answer = client.send("tools/list", **{"Mcp-Method": "tools/call"})
        assert answer.status == 400 and answer.json["error"]["code"] == -32020


def test_what_is_no_message(port, client):
    post = client.http.ask
    headers = client.headers("ping", {})
    broken = post("POST", "/mcp", "{", **headers)
    assert broken.status == 400 and broken.json["error"]["code"] == -32700 and "id" not in broken.json
    broken = post("POST", "/mcp", '{"params":{"name":"\\ud83d"},"id":5,"method":"ping","jsonrpc":"2.0"}', **headers)
    assert (broken.status, broken.json["id"], broken.json["error"]["code"]) == (400, 5, -32700)
    batch = post("POST", "/mcp", [client.message("ping")], **headers)
    assert batch.status == 400 and batch.json["error"]["code"] == -32600
    assert post("POST", "/mcp", "7", **headers).json["error"]["code"] == -32600
    assert post("POST", "/mcp", "{}", **dict(headers, **{"Content-Type": "text/plain"})).status == 415
    assert client.send("notifications/whatever", notify=True).status == 202


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_progress_comes_before_the_result(launch, tmp_path, era):
    one = launch({}, [plugged(tmp_path / "toolbox.d")], args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    with Client(port, era) as client, Raw(port) as raw:
        raw.send(client.raw("tools/call", {"name": "plugged__later", "arguments": {"steps": 200000},
                                           "_meta": {"progressToken": "p"}}))
        data = raw.read_until(b"0\r\n\r\n").decode()
    messages = [json.loads(line[6:]) for line in data.split("\n") if line.startswith("data: ")]
    *reports, result = messages
    assert result["id"] == client.number and result["result"]["structuredContent"]
    assert reports and all(report["method"] == "notifications/progress" for report in reports)
    values = [report["params"]["progress"] for report in reports]
    assert values == sorted(set(values)) and {report["params"]["progressToken"] for report in reports} == {"p"}


def test_the_end_of_the_connection_cancels_in_the_modern_era_alone(started, port):
    for era in ("modern", "legacy"):
        with Client(port, era) as client, Raw(port) as raw:
            raw.send(client.raw("tools/call", {"name": "answers__wait", "arguments": {"seconds": 15}}))
            until(lambda: running(started), EVENT_SECONDS, "the call running")
            raw.socket.close()
            if era == "modern":
                wait_until_cancelled(started)
                continue
            assert running(started)
            answer = client.send("notifications/cancelled", {"requestId": client.number}, notify=True)
            assert answer.status == 202
            wait_until_cancelled(started)


def test_a_notification_cancels_in_its_session_alone(started, port):
    with Client(port, "legacy") as client, Client(port, "legacy") as other, Raw(port) as raw:
        raw.send(client.raw("tools/call", {"name": "answers__wait", "arguments": {"seconds": 15}}))
        until(lambda: running(started), EVENT_SECONDS, "the call running")
        other.send("notifications/cancelled", {"requestId": client.number}, notify=True)
        assert running(started)
        client.send("notifications/cancelled", {"requestId": client.number}, notify=True)
        answer = raw.read_until(b"}}")
        assert statuses(answer) == [200] and b'"isError":true' in answer


WAIT = {"name": "answers__wait", "arguments": {"seconds": 15}}


def raw_call(client, params, number):
    """The bytes of a call of @client on a connection of its own."""
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Mcp-Session-Id: {client.session}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


def test_the_end_of_a_session_ends_its_calls(started, port):
    with Client(port, "legacy") as client, Client(port, "legacy") as other, Raw(port) as raw, \
            Raw(port) as gone, Raw(port) as others:
        raw.send(raw_call(client, WAIT, 1))
        gone.send(raw_call(client, WAIT, 2))
        others.send(raw_call(other, WAIT, 3))
        until(lambda: len(running(started)) == 3, EVENT_SECONDS, "the calls running")
        gone.socket.close()
        assert client.http.ask("DELETE", "/mcp", Mcp_Session_Id=client.session).status == 204
        assert b'"isError":true' in raw.read_until(b'"isError":true')
        until(lambda: len(running(started)) == 1, EVENT_SECONDS, "only the call of the other session running")
        assert other.http.ask("DELETE", "/mcp", Mcp_Session_Id=other.session).status == 204
        until(lambda: not running(started), EVENT_SECONDS, "no call running")


def test_the_id_of_a_session_is_nowhere_else(started, port):
    with Client(port, "legacy") as client, Caller(started.url) as caller:
        client.send("tools/call", {"name": "answers__absolute", "arguments": {"value": 1}})
        [call] = caller.call("ovos.tools.calls", {"name": "absolute", "limit": 1})["calls"]
        assert call["door"] == "mcp" and call["session_id"]
        assert client.session not in json.dumps(call)
        forged = Client(port, "modern")
        forged.era, forged.session = "legacy", call["session_id"]
        assert forged.send("tools/list").status == 404


def test_a_session_of_mcp_is_the_only_one_of_a_call(started, port):
    for era in ("legacy", "modern"):
        with Client(port, era) as client, Caller(started.url) as caller:
            answer = client.send("tools/call", {"name": "answers__absolute", "arguments": {"value": 1}}, Session_Id="kitchen")
            assert answer.status == 200
            [call] = caller.call("ovos.tools.calls", {"name": "absolute", "limit": 1})["calls"]
            assert call["session_id"] != "kitchen" and bool(call["session_id"]) == (era == "legacy")


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_legacy_client_has_the_version_that_it_asks_for(port, version):
    """Afterwards it may leave the header out, or send that of another legacy revision."""
    with Http(port) as http:
        def send(method, params, **headers):
            return http.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, **headers)

        began = send("initialize", {"protocolVersion": version, "capabilities": {}})
        assert began.json["result"]["protocolVersion"] == version
        session = {"Mcp_Session_Id": began.headers["Mcp-Session-Id"]}
        for headers in ({}, {"MCP_Protocol_Version": version}, {"MCP_Protocol_Version": "2025-11-25"}):
            assert send("tools/list", {}, **session, **headers).json["result"]["tools"]
        wrong = send("tools/list", {}, **session, MCP_Protocol_Version="2031-01-01")
        assert wrong.status == 400 and wrong.json["error"]["code"] == -32022, wrong.json
        assert wrong.json["error"]["data"]["requested"] == "2031-01-01"
        newest = send("initialize", {"protocolVersion": "2031-01-01", "capabilities": {}})
        assert newest.json["result"]["protocolVersion"] == "2025-11-25"


def test_streams_have_the_changes(started, port):
    with Client(port, "legacy") as legacy, Client(port, "modern") as modern, Raw(port) as get, \
            Raw(port) as listen, Raw(port) as quiet:
        get.send(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {ACCEPT}\r\n"
                 f"Mcp-Session-Id: {legacy.session}\r\n\r\n".encode())
        get.read_until(b"\r\n\r\n")
        listen.send(modern.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        assert b"notifications/subscriptions/acknowledged" in listen.read_until(b"\n\n")
        quiet.send(modern.raw("subscriptions/listen", {"notifications": {}}))
        quiet.read_until(b"\n\n")
        manifests.toolbox(started.folder, "late", [manifests.labs("late_one")])
        for raw in (get, listen):
            assert b"notifications/tools/list_changed" in raw.read_until(b"list_changed")
        quiet.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            quiet.socket.recv(1)
        assert "late__late_one" in [tool["name"] for tool in modern.result("tools/list")["tools"]]


def test_a_stream_ends_with_its_session(port):
    with Client(port, "legacy") as client, Client(port, "legacy") as other, Raw(port) as get, Raw(port) as stays:
        for raw, one in ((get, client), (stays, other)):
            raw.send(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {ACCEPT}\r\nConnection: close\r\n"
                     f"Mcp-Session-Id: {one.session}\r\n\r\n".encode())
            raw.read_until(b"\r\n\r\n")
        assert client.http.ask("DELETE", "/mcp", Mcp_Session_Id=client.session).status == 204
        assert get.read_all().endswith(b"0\r\n\r\n")
        stays.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            stays.socket.recv(1)


def test_a_subscription_too_many_is_refused_by_json_rpc(launch):
    one = launch({"http": {"limits": {"streams": 1}}}, args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    wanted = {"notifications": {"toolsListChanged": True}}
    with Client(port, "modern") as modern, Raw(port) as listen:
        listen.send(modern.raw("subscriptions/listen", wanted))
        listen.read_until(b"\n\n")
        answer = modern.send("subscriptions/listen", wanted)
        assert answer.status == 503
        assert answer.json["id"] == modern.number and answer.json["error"]["code"] == -32603, answer.json


def test_streams_end_with_the_service(launch):
    """A subscription has its result then."""
    one = launch(args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    with Client(port, "legacy") as legacy, Client(port, "modern") as modern, Raw(port) as get, Raw(port) as listen:
        get.send(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {ACCEPT}\r\n"
                 f"Mcp-Session-Id: {legacy.session}\r\n\r\n".encode())
        get.read_until(b"\r\n\r\n")
        listen.send(modern.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        listen.read_until(b"\n\n")
        one.end()
        assert get.read_all().endswith(b"0\r\n\r\n")
        data = listen.read_all()
    assert data.endswith(b"0\r\n\r\n"), data
    [result] = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]
    assert result["id"] == modern.number and result["result"]["resultType"] == "complete"
    assert result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == modern.number


def test_a_page_of_another_site_gets_nothing(port, client):
    assert client.send("tools/list", Origin="http://evil.example").status == 403
    assert client.send("tools/list", Host="evil.example").status == 403


def test_no_more_streams_than_allowed(port):
    """One address may have half of those that are not for administrators."""
    with Client(port, "modern") as client:
        held = [Raw(port) for _ in range(28)]
        try:
            for raw in held:
                raw.send(client.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
                assert b"acknowledged" in raw.read_until(b"\n\n")
            assert client.result("tools/list")["tools"]
            answer = client.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            assert answer.status == 503 and "too many streams" in answer.json["error"]["message"]
        finally:
            for raw in held:
                raw.socket.close()


@pytest.mark.parametrize("needs_token,scope", [(True, "private"), (False, "public")])
def test_a_list_is_shared_only_where_no_token_is_needed(launch, needs_token, scope):
    token = "kitchen-0123456789"
    tokens = [{"name": "kitchen", "token_sha256": hashlib.sha256(token.encode()).hexdigest()}]
    one = launch({"http": {"tokens": tokens}} if needs_token else {}, [manifests.SHIPPED], args=["--http", "127.0.0.1:0"])
    with Client(port_of(one.daemon), "modern") as client:
        answer = client.send("tools/list", Authorization=f"Bearer {token}")
        assert answer.status == 200 and answer.json["result"]["cacheScope"] == scope
        assert (client.send("tools/list").status == 401) == needs_token
