# SPDX-License-Identifier: Apache-2.0
"""Traces (W3C Trace Context and Baggage): what comes with a request goes with its call, unchanged, to the log, to the audit
log, to programs, to servers of MCP, by every door."""
import json
import sys

import pytest
from caller import Caller
from conftest import Service
from http_peer import Http, port_of
from processes import EVENT_SECONDS, until
from test_mcp_http import Client
from test_mcp_stdio import Server

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = {"traceparent": PARENT, "tracestate": "vendor=1,other=2", "baggage": "user=me"}
SERVER = r'''
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "meta", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "meta", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(message["params"].get("_meta", {}))}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    home = tmp_path_factory.mktemp("traces")
    folder = home / "toolbox.d"
    folder.mkdir()
    variables = 'printf \'{"parent": "%s", "state": "%s"}\' "$TRACEPARENT" "$TRACESTATE"'
    (folder / "programs.json").write_text(json.dumps({"kind": "command", "tools": [
        {"name": "variables", "risk": "write", "command": {"shell": variables, "output": "json"}},
        {"name": "fails", "risk": "write", "command": {"shell": "exit 3"}}]}))
    (home / "server.py").write_text(SERVER)
    (folder / "served.json").write_text(json.dumps({"kind": "mcp", "mcp": {"command": [sys.executable, str(home / "server.py")]}}))
    one = Service("embedded", home, [folder], configuration={
        "http": {"listen": ["127.0.0.1:0"]}, "audit": {"file": str(home / "audit.log")}, "approval": {"mode": "off"}})
    one.home = home
    with one:
        with Caller(one.url) as caller:
            until(lambda: "result" in caller.invoke("meta", {}), EVENT_SECONDS, "the server")
        yield one


def bus(started, name, trace):
    with Caller(started.url) as caller:
        answer = caller.call("ovos.tools.invoke", {"name": name}, context=trace)
    return answer.get("result", answer.get("code"))


def http(started, name, trace):
    with Http(port_of(started.daemon)) as peer:
        answer = peer.post(f"/v1/tools/{name}", {}, **trace).json
    return answer.get("result", answer.get("code"))


def of_result(result):
    if "structuredContent" in result:
        return result["structuredContent"]
    return {"content": result["content"]}


def mcp(started, name, trace):
    client = Client(port_of(started.daemon), "modern")
    toolbox = "served" if name == "meta" else "programs"
    params = {"name": f"{toolbox}__{name}", "arguments": {}, "_meta": trace}
    return of_result(client.send("tools/call", params).json["result"])


def stdio(started, name, trace):
    toolbox = "served" if name == "meta" else "programs"
    server = Server(started.home, bus=started.url)
    result = of_result(server.ask("tools/call", {"name": f"{toolbox}__{name}", "arguments": {}, "_meta": trace})["result"])
    server.__exit__()
    return result


DOORS = [bus, http, mcp, stdio]


@pytest.mark.parametrize("door", DOORS)
def test_a_program_has_the_trace_in_its_environment(started, door):
    assert door(started, "variables", TRACE) == {"parent": PARENT, "state": TRACE["tracestate"]}
    assert door(started, "variables", {}) == {"parent": "", "state": ""}
    assert door(started, "variables", {**TRACE, "traceparent": PARENT.upper()}) == {"parent": "", "state": ""}


@pytest.mark.parametrize("door", DOORS)
def test_a_server_of_mcp_has_the_trace_in_meta(started, door):
    for trace in (TRACE, {}):
        [block] = door(started, "meta", trace)["content"]
        meta = json.loads(block["text"])
        assert {key: value for key, value in meta.items() if key in TRACE} == trace


@pytest.mark.parametrize("door", DOORS)
def test_the_log_and_the_audit_log_have_it(started, door):
    parent = f"00-{DOORS.index(door) + 1:032x}-b7ad6b7169203331-00"
    door(started, "fails", {**TRACE, "traceparent": parent})
    until(lambda: f"; trace {parent}" in started.daemon.log(), EVENT_SECONDS, "the line")

    def with_trace():
        lines = [json.loads(line) for line in (started.home / "audit.log").read_text().splitlines()]
        return [line for line in lines if line.get("traceparent") == parent]

    assert all(line["tool"] == "fails" and line["baggage"] == "user=me"
               for line in until(with_trace, EVENT_SECONDS, "the line of the audit log"))


def test_a_message_of_kind_bus_has_the_trace_in_its_context(launch, tmp_path):
    folder = tmp_path / "bus.d"
    folder.mkdir()
    (folder / "lamp.json").write_text(json.dumps({"kind": "bus", "risk": "write", "tools": [
        {"name": "light", "description": "Lights a lamp.", "bus": {"topic": "test.lamp.on", "data": {}, "reply": False}}]}))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        for trace in (TRACE, {}):
            caller.send("ovos.tools.invoke", {"name": "light"}, context=trace)
            sent = caller.wait_for(lambda message: message.type == "test.lamp.on")
            assert {key: value for key, value in sent.context.items() if key in TRACE} == trace
