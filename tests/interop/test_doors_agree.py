# SPDX-License-Identifier: Apache-2.0
"""The same calls by every door, whose outcomes are the same but for the envelope.

    bus     ovos.tools.invoke                      {"name", "result"} or {"name", "error", "code", …}
    http    POST /v1/tools/NAME                    the same, byte for byte
    batch   `calls` with this entry alone          the same, in results; on the bus and over HTTP
    events  the same, with text/event-stream       the same, as the last event
    utcp    what the manual at /utcp says          the same
    mcp     tools/call, of both eras, and by       the result, or the error as a text
            `toolboxctl mcp`

A call is made by each door in turn; what the bus answers is what the others are held to.
"""
import json
import re
import threading

import manifests
import pytest
from caller import Caller
from http_peer import Http, events_of, port_of
from processes import EVENT_SECONDS, SLOWNESS, until
from python_site import ECHO, Site, box
from test_mcp_http import Client
from test_mcp_stdio import Server
from test_plugins import plugged

VOLATILE = ("duration_ms", "retry_after_s")
REFUSED = ("unknown_tool", "missing_name", "bad_request")  # an error of JSON-RPC, not of the call
STATUSES = {None: 200, "unknown_tool": 404, "ambiguous_tool": 409, "invalid_arguments": 422, "cooldown": 429, "denied": 403,
            "tool_failed": 500, "invalid_output": 500, "host_crashed": 502, "timeout": 504, "cancelled": 499,
            "too_large": 413}
TOO_LARGE_RESULT = "large"  # the tool whose result is too large, which is 500


def command(name, line, **more):
    return {"name": name, "description": f"Runs {line}.", "risk": "read",
            "command": {"shell": line, **more.pop("how", {})}, **more}


def programs(folder):
    (folder / "programs.json").write_text(json.dumps({"kind": "command", "tools": [
        command("say", 'printf %s "$TOOL_ARG_TEXT"', argument_schema={
            "type": "object", "properties": {"text": {"type": "string", "default": "nothing"}}}),
        command("give", "cat", how={"output": "json"}, argument_schema={"type": "object"}),
        command("give_up", "echo half; echo 'no such café' >&2; exit 7"),
        command("is_killed", "kill -9 $$"),
        command("fill", "head -c 60000 /dev/zero | tr '\\0' x"),
        command("lie", "echo '{\"n\": \"three\"}'", how={"output": "json"}, output_schema={
            "type": "object", "properties": {"n": {"type": "integer"}}}),
        command("rare", "true", cooldown_s=3600),
        command("coerced", "cat", how={"output": "json"}, argument_schema={
            "type": "object", "properties": {"n": {"type": "integer"}, "list": {"type": "array"}}}),
    ], "coerce": True}))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("doors")
    folder = home / "toolbox.d"
    manifests.misbehave(folder)
    manifests.answers(folder)
    manifests.twins(folder)
    programs(folder)
    site = Site(home / "venv")
    site.install("boxes", box("boxes", python_echo=ECHO), {"boxes": "Box"})
    (folder / "boxes.json").write_text(json.dumps({"kind": "python", "python": str(site.python)}))
    one = Service("embedded", home, [manifests.SHIPPED, folder, plugged(home / "plugged.d")], configuration={
        "crash_limit": 0, "timeout_ms": int(10000 * SLOWNESS), "tools_disabled": ["absolute"],
        "profiles": {"default": {"tool_names": ["*"]}},
        "limits": {"args_bytes": 65536, "host_output_bytes": 1048576},
        "http": {"listen": ["127.0.0.1:0", f"unix:{home}/door"]}})
    one.home = home
    with one:
        with Caller(one.url) as caller:
            until(lambda: "result" in caller.invoke("python_echo"), EVENT_SECONDS, "the toolbox in Python")
            assert "result" in caller.invoke("rare")
        yield one


# --- doors: each takes a name and arguments, and gives what the call came to

class Bus:
    def __init__(self, started):
        self.url = started.url

    def call(self, name, arguments):
        with Caller(self.url) as caller:
            return caller.invoke(name, arguments, seconds=EVENT_SECONDS)

    def close(self):
        pass


class Batch(Bus):
    """The call as the only one of a batch."""

    def call(self, name, arguments):
        with Caller(self.url) as caller:
            return only_result(caller.call("ovos.tools.invoke", batch_of(name, arguments), seconds=EVENT_SECONDS))


def batch_of(name, arguments):
    return {"calls": [{"name": name} if arguments is None else {"name": name, "args": arguments}]}


def only_result(data):
    """What came of the one entry, without the id that it has in any case. The entry is two levels deeper in
    the data of its request, so that the whole may have too many."""
    if data.get("code") == "too_large":
        return None
    [result] = data["results"]
    assert result.pop("call_id") == "0"
    return result


class OverHttp:
    def __init__(self, started):
        self.port = port_of(started.daemon)
        self.http = Http(self.port, EVENT_SECONDS)

    def call(self, name, arguments):
        return self.check(name, self.http.post(f"/v1/tools/{name}", arguments))

    @staticmethod
    def check(name, answer):
        """The body of @answer, whose status is that of its code."""
        code = answer.json.get("code")
        assert answer.status == (500 if (name, code) == (TOO_LARGE_RESULT, "too_large") else STATUSES[code]), answer.json
        return answer.json

    def close(self):
        self.http.connection.close()


class BatchOverHttp(OverHttp):
    def call(self, name, arguments):
        answer = self.http.post("/v1/calls", batch_of(name, arguments))
        assert answer.status == (413 if answer.json.get("code") == "too_large" else 200)
        return only_result(answer.json)


class Events(OverHttp):
    def call(self, name, arguments):
        answer = self.http.post(f"/v1/tools/{name}", arguments, Accept="text/event-stream")
        if answer.headers["Content-Type"] != "text/event-stream":
            return self.check(name, answer)
        *before, (event, data) = events_of(answer.bytes)
        assert event == ("result" if "result" in data else "error")
        assert {name for name, _ in before} <= {"progress"}
        return data


class Utcp(OverHttp):
    """A tool that the manual does not have cannot be called."""

    def call(self, name, arguments):
        for tool in self.http.get("/utcp").json["tools"]:
            if tool["name"] == name:
                how = tool["tool_call_template"]
                assert (how["call_template_type"], how["body_field"]) == ("http", "body")
                path = how["url"].removeprefix(f"http://127.0.0.1:{self.port}")
                return self.check(
                    name, self.http.ask(how["http_method"], path, arguments, Content_Type=how["content_type"]))
        return None


class Mcp:
    def __init__(self, started, era):
        self.client = Client(port_of(started.daemon), era)
        self.client.http.connection.timeout = EVENT_SECONDS

    def send(self, name, arguments):
        params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
        return self.client.send("tools/call", params).json

    def tools(self):
        return self.client.result("tools/list")["tools"]

    def call(self, name, arguments):
        return outcome_of(self.send(name, arguments))

    def close(self):
        self.client.http.connection.close()


class Legacy(Mcp):
    def __init__(self, started):
        super().__init__(started, "legacy")


class Modern(Mcp):
    def __init__(self, started):
        super().__init__(started, "modern")


class Stdio:
    def __init__(self, started):
        self.server = Server(started.home, bus=started.url)

    def send(self, name, arguments):
        params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
        return self.server.ask("tools/call", params)

    def tools(self):
        return self.server.ask("tools/list")["result"]["tools"]

    def call(self, name, arguments):
        return outcome_of(self.send(name, arguments))

    def close(self):
        self.server.__exit__()


def outcome_of(message):
    """What a response of MCP says, in one form for both eras."""
    if "error" in message:
        return ["refused", message["error"]["message"]]
    result = message["result"]
    [block] = result["content"]
    if result["isError"]:
        return ["failed", block["text"]]
    assert json.loads(block["text"]) == result["structuredContent"]
    return ["result", result["structuredContent"]]


def expected_of_mcp(data):
    """What a response of MCP says about a call that has this response on the bus."""
    if "result" in data:
        result = data["result"]
        if result.get("truncated") is True:
            return ["failed", f"{result['hint']}\n{result['head']}"]
        return ["result", result]
    if data["code"] in REFUSED:
        return ["refused", data["error"]]
    lines = [": ".join(filter(None, (one.get("path"), one["message"]))) for one in data.get("violations", [])]
    return ["failed", "\n".join([data["error"], *lines])]


DOORS = {"batch": Batch, "http batch": BatchOverHttp, "http": OverHttp, "events": Events, "utcp": Utcp, "legacy": Legacy, "modern": Modern, "stdio": Stdio}


@pytest.fixture(scope="module")
def doors(started):
    opened = {name: door(started) for name, door in {"bus": Bus, **DOORS}.items()}
    yield opened
    for door in opened.values():
        door.close()


# what it is about: the tool, its arguments, the code of its error
CALLS = {
    "native": ("add", {"a": 3, "b": 4}, None),
    "a number as it was written": ("give", {"n": [1.0, -0.0, 1e2, 9007199254740993, 0.1]}, None),
    "unicode": ("echo", {"text": "日本 \u202e\U0001f9ea é \u0001 \"\\"}, None),
    "no arguments": ("with_default", None, None),
    "an empty object": ("with_default", {}, None),
    "a default of a command": ("say", {}, None),
    "a command": ("say", {"text": "a\nb "}, None),
    "an object in and out": ("give", {"a": {"b": [None, True, "x"]}, "": {}}, None),
    "a plugin": ("read", {"i64": 7, "text": "é", "json": [1], "list": [{}, {"name": "x"}]}, None),
    "a plugin with progress": ("later", {"steps": 3}, None),
    "a toolbox in Python": ("python_echo", {"text": "café"}, None),
    "coerced": ("coerced", {"n": "7", "list": "[1]"}, None),
    "null": ("environment", {"name": "NO_SUCH_VARIABLE"}, None),
    "the text of an object": ("add", '{"a": 3, "b": 4}', None),
    "by toolbox and name": ("left__same", {"value": -3}, None),
    "one that is missing": ("add", {"a": 1}, "invalid_arguments"),
    "two of the wrong type": ("add", {"a": "x", "b": None}, "invalid_arguments"),
    "one too many": ("add", {"a": 1, "b": 2, "c": 3}, "invalid_arguments"),
    "refused by the plugin": ("even", {"number": 3}, "invalid_arguments"),
    "unknown": ("no_such_tool", {}, "unknown_tool"),
    "nearly known": ("ad", {}, "unknown_tool"),
    "disabled": ("answers__absolute", {"value": 1}, "unknown_tool"),
    "two of a name": ("same", {"value": 1}, "ambiguous_tool"),
    "denied": ("risky", {"value": 1}, "denied"),
    "cooldown": ("rare", {}, "cooldown"),
    "failed": ("not_there", {}, "tool_failed"),
    "a command that failed": ("give_up", {}, "tool_failed"),
    "a plugin that failed": ("fail", {"words": "no antenna, 日本"}, "tool_failed"),
    "a command that was killed": ("is_killed", {}, "tool_failed"),
    "a result that is wrong": ("small", {"value": 11}, "invalid_output"),
    "a wrong result of a command": ("lie", {}, "invalid_output"),
    "a crash": ("segfault", {}, "host_crashed"),
    "a deadline": ("answers__hang", {"seconds": 9}, "timeout"),
    "cut": ("fill", {}, None),
    "too much output": ("large", {"size": 2000000}, "too_large"),
    "as many levels as there may be": ("give", {"a": json.loads("[" * 126 + "]" * 126)}, None),
    "one level more": ("give", {"a": json.loads("[" * 127 + "]" * 127)}, "too_large"),
    "many levels more": ("give", {"a": json.loads("[" * 500 + "]" * 500)}, "too_large"),
    "too many arguments": ("echo", {"text": "x" * 70000}, "too_large"),
}


def without_volatile(answer):
    if isinstance(answer, dict):
        return {key: without_volatile(value) for key, value in answer.items() if key not in VOLATILE}
    return re.sub(r"again in \d+ s$", "again in a while", answer) if isinstance(answer, str) else answer


def agree(answers, what=None):
    data = without_volatile(answers.pop("bus"))
    in_mcp = expected_of_mcp(data)
    for door, answer in answers.items():
        if door == "utcp" and answer is None:
            assert data["code"] in ("unknown_tool", "ambiguous_tool"), door
        elif "batch" in door and answer is None:
            assert what in ("as many levels as there may be", "one level more", "many levels more"), door
        elif isinstance(answer, list):
            assert list(map(without_volatile, answer)) == in_mcp, door
        else:
            assert without_volatile(answer) == data, door


@pytest.mark.parametrize("what", CALLS)
def test_every_door_says_the_same(doors, what):
    name, arguments, code = CALLS[what]
    answers = {door: opened.call(name, arguments) for door, opened in doors.items()}
    assert answers["bus"].get("code") == code, answers["bus"]
    agree(answers, what)


def test_the_doors_of_mcp_list_the_same_tools_and_the_way_back(started, doors):
    tools = doors["stdio"].tools()
    assert tools and tools == doors["legacy"].tools() == doors["modern"].tools()
    with Caller(started.url) as caller:
        for tool in tools:
            found = caller.call("ovos.tools.get", {"toolbox_id": tool["_meta"]["toolboxd/source"]["toolbox"],
                                                   "name": tool["_meta"]["toolboxd/name"]})
            assert found["source"] == tool["_meta"]["toolboxd/source"]
            assert f"{found['toolbox_id']}__{found['name']}" == tool["name"]
            assert found.get("output") == tool["_meta"].get("toolboxd/output")


def test_every_door_has_the_code_of_a_call_that_was_ended(started, doors):
    answers = {}
    with Http(started.home / "door") as admin:
        def running():
            return [call["id"] for call in admin.get("/v1/calls").json["calls"] if call["state"] == "running"]

        for door, opened in doors.items():
            def call(door=door, opened=opened):
                answers[door] = opened.call("wait", {"seconds": 19})

            thread = threading.Thread(target=call)
            thread.start()
            [id] = until(running, EVENT_SECONDS, "the call running")
            assert admin.ask("DELETE", f"/v1/calls/{id}").status == 200
            thread.join()
            answers[door] = json.loads(re.sub(r"Call '\w+'", "Call 'ID'", json.dumps(answers[door])))
    assert answers["bus"]["code"] == "cancelled"
    agree(answers)
