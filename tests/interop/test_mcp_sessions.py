# SPDX-License-Identifier: Apache-2.0
"""Sessions of MCP over HTTP that outlive the service, and the names of tools there."""
import asyncio
import hashlib
import json

import manifests
import pytest
from http_peer import Http, Raw
from processes import EVENT_SECONDS, free_port, listens, toolboxctl, until, write_configuration
from test_mcp_http import ACCEPT, Client

TOKENS = {"kitchen": "kitchen-0123456789", "hall": "hall-0123456789abc"}


def entry(name, token):
    return {"name": name, "token_sha256": hashlib.sha256(token.encode()).hexdigest()}


@pytest.fixture
def serve(launch):
    """serve(configuration, folders): a service that can be started again, and its port of HTTP."""
    def begin(configuration=None, folders=(manifests.SHIPPED,)):
        port = free_port()
        return launch(configuration or {}, list(folders), args=["--http", f"127.0.0.1:{port}"]), port
    return begin


def restart(service, port):
    service.daemon.end()
    service.start_again()
    until(lambda: listens(port), EVENT_SECONDS, "the door open")


def add(http, session, token=None):
    """The status of a call in @session."""
    headers = {"Mcp_Session_Id": session, "Accept": ACCEPT, "MCP_Protocol_Version": "2025-11-25"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "math_tools__add", "arguments": {"a": 3, "b": 4}}}
    answer = http.ask("POST", "/mcp", message, **headers)
    assert answer.status != 200 or answer.json["result"]["structuredContent"] == {"result": 7}, answer.bytes
    return answer.status


def begin(http, token=None):
    """A new session."""
    headers = {"Accept": ACCEPT} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = http.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}}}, **headers)
    assert answer.status == 200, answer.bytes
    return answer.headers["Mcp-Session-Id"]


def test_a_session_and_its_end_outlive_the_service(serve):
    service, port = serve()
    with Http(port) as http:
        session, ended = begin(http), begin(http)
        assert http.ask("DELETE", "/mcp", Mcp_Session_Id=ended).status == 204
        assert (add(http, session), add(http, ended)) == (200, 404)
    for _ in range(2):
        restart(service, port)
        with Http(port) as http:
            assert (add(http, session), add(http, ended)) == (200, 404)
            forged = session[:-1] + ("1" if session[-1] == "0" else "0")
            assert add(http, forged) == 404


def test_a_stream_begins_anew_after_a_restart(serve, tmp_path):
    folder = tmp_path / "late.d"
    folder.mkdir()
    service, port = serve(folders=[manifests.SHIPPED, folder])
    with Http(port) as http:
        session = begin(http)
    restart(service, port)
    with Raw(port) as get:
        get.send(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {ACCEPT}\r\n"
                 f"Mcp-Session-Id: {session}\r\n\r\n".encode())
        assert b" 200 " in get.read_until(b"\r\n\r\n")
        manifests.toolbox(folder, "late", [manifests.labs("late_one")])
        assert b"notifications/tools/list_changed" in get.read_until(b"list_changed")


@pytest.mark.parametrize("is_started_again", [False, True])
def test_a_session_goes_with_its_token(launch, tmp_path, is_started_again):
    port = free_port()
    service = launch({"http": {"tokens": [entry(*one) for one in TOKENS.items()]}}, [manifests.SHIPPED],
                     args=["--http", f"127.0.0.1:{port}"])
    kitchen, hall = TOKENS.values()
    with Http(port) as http:
        session = begin(http, kitchen)
        assert add(http, session, kitchen) == 200
        assert add(http, session, hall) == 404

    def configure(tokens):
        configuration = {"http": {"tokens": tokens}}
        if is_started_again:
            service.options["configuration"] = configuration
            restart(service, port)
        else:
            write_configuration(service.home, {"toolboxd": configuration})
            service.daemon.reload_by_signal()

    # Another token under the same name is another caller.
    new = "kitchen-another-0123"
    configure([entry("kitchen", new)])
    with Http(port) as http:
        until(lambda: add(http, session, new) != 401, EVENT_SECONDS, "the new token")
        assert add(http, session, new) == 404
        assert add(http, session, kitchen) == 401
        own = begin(http, new)
        assert add(http, own, new) == 200


def test_without_a_state_folder_sessions_end_with_the_service(launch, tmp_path):
    port = free_port()
    file = tmp_path / "a-file"
    file.write_text("")
    service = launch({}, [manifests.SHIPPED], args=["--http", f"127.0.0.1:{port}"],
                     env={"XDG_STATE_HOME": str(file)})
    assert service.daemon.log().count("Sessions of MCP end with this service: ") == 1
    with Http(port) as http:
        session = begin(http)
        assert add(http, session) == 200
    restart(service, port)
    with Http(port) as http:
        assert add(http, session) == 404


def test_the_sdk_for_python_goes_on_after_a_restart(serve):
    """It does not initialize a second time."""
    from mcp.client.client import Client as Sdk
    service, port = serve()

    async def run():
        async with Sdk(f"http://127.0.0.1:{port}/mcp", mode="legacy") as client:
            async def sum_of(a, b):
                return (await client.call_tool("math_tools__add", {"a": a, "b": b})).structured_content

            assert await sum_of(3, 4) == {"result": 7}
            await asyncio.to_thread(restart, service, port)
            assert await sum_of(30, 4) == {"result": 34}
            assert "math_tools__add" in [tool.name for tool in (await client.list_tools()).tools]

    asyncio.run(run())


# --- names

def names_of(client):
    return {tool["name"] for tool in client.result("tools/list")["tools"]}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_bare_names_are_for_tools_of_which_there_is_one(launch, tmp_path, era):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    manifests.toolbox(folder, "one", [manifests.labs("alone"), manifests.labs("late")])
    port = free_port()
    service = launch({"http": {"mcp_names": "bare"}}, [manifests.SHIPPED, folder], args=["--http", f"127.0.0.1:{port}"])
    with Client(port, era) as client, Raw(port) as stream:
        assert {"add", "alone", "late"} <= names_of(client)
        assert not any("__" in name for name in names_of(client))
        for name in ("add", "math_tools__add"):
            result = client.result("tools/call", {"name": name, "arguments": {"a": 3, "b": 4}})
            assert result["structuredContent"] == {"result": 7}
        if era == "legacy":
            stream.send(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {ACCEPT}\r\n"
                        f"Mcp-Session-Id: {client.session}\r\n\r\n".encode())
            stream.read_until(b"\r\n\r\n")
        else:
            stream.send(client.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
            stream.read_until(b"\n\n")
        manifests.toolbox(folder, "two", [manifests.labs("late")])
        stream.read_until(b"list_changed")
        assert {"add", "alone", "one__late", "two__late"} <= names_of(client)
        assert "late" not in names_of(client)
        assert client.result("tools/call", {"name": "late", "arguments": {"value": -1}})["isError"]
        for name in ("one__late", "two__late"):
            result = client.result("tools/call", {"name": name, "arguments": {"value": -1}})
            assert result["structuredContent"] == {"result": 1}
        # Other names by the configuration are announced, too.
        write_configuration(service.home, {"toolboxd": {"http": {"mcp_names": "qualified"}}})
        service.daemon.reload_by_signal()
        stream.read_until(b"list_changed")
        assert {"math_tools__add", "one__alone"} <= names_of(client)


def test_bare_names_are_judged_by_what_the_caller_sees(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.twins(folder)
    port = free_port()
    launch({"http": {"mcp_names": "bare", "profile": "half"}, "profiles": {"half": {"tool_names": ["left/*"]}}},
           [folder], args=["--http", f"127.0.0.1:{port}"])
    with Client(port, "modern") as client:
        assert names_of(client) == {"same", "only_left"}
        result = client.result("tools/call", {"name": "same", "arguments": {"value": -3}})
        assert "isError" not in result or not result["isError"]


def test_toolboxctl_mcp_has_bare_names_too(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.twins(folder)
    service = launch({}, [manifests.SHIPPED, folder])
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}]
    asked += [{"jsonrpc": "2.0", "id": name, "method": "tools/call",
               "params": {"name": name, "arguments": {"a": 3, "b": 4}}} for name in ("add", "math_tools__add")]
    done = toolboxctl("mcp", "--bare", bus=service.url, home=tmp_path, stdin="".join(json.dumps(one) + "\n" for one in asked))
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    names = {tool["name"] for tool in answers[2]["tools"]}
    assert {"add", "only_left", "left__same", "right__same"} <= names and "same" not in names
    assert answers["add"]["structuredContent"] == answers["math_tools__add"]["structuredContent"] == {"result": 7}
