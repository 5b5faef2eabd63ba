# SPDX-License-Identifier: Apache-2.0
"""A lazy list of MCP: three tools in place of many, by which a model finds, reads and calls all others."""
import json
import re

import pytest
import tool_servers
from caller import Caller
from conftest import Service
from http_peer import port_of
from processes import toolboxctl
from test_mcp_http import Client
from test_mcp_stdio import Server

TRIO = ["search_tools", "get_tool", "call_tool"]


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    home = tmp_path_factory.mktemp("lazy")
    folder = tool_servers.write(home / "toolbox.d")
    (folder / "risky.json").write_text(json.dumps({"kind": "command", "tools": [
        {"name": "format_disk", "description": "Formats a disk, for good.", "risk": "execute", "command": {"argv": ["true"]}},
        {"name": "rare", "description": "Runs rarely.", "risk": "read", "cooldown_s": 3600, "command": {"argv": ["true"]}}]}))
    (folder / "hidden.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "secret", "description": "Takes a photo of a submarine.", "command": {"argv": ["true"]}}]}))
    one = Service("embedded", home, [folder], configuration={
        "http": {"listen": ["127.0.0.1:0"], "mcp_lazy": True}, "audit": {"file": str(home / "audit.log")},
        "profiles": {"most": {"tool_names": [f"{server}/*" for server in tool_servers.SERVERS] + ["risky/*"]}},
        "access": [{"match": {"source": "http:*"}, "profile": "most"}]})
    one.home = home
    with one:
        yield one


class Http:
    def __init__(self, started, era):
        self.client = Client(port_of(started.daemon), era)

    def ask(self, method, **params):
        return self.client.send(method, params).json

    def close(self):
        self.client.http.connection.close()


class Stdio:
    def __init__(self, started):
        self.server = Server(started.home, "--lazy", "--profile", "most", bus=started.url)

    def ask(self, method, **params):
        return self.server.ask(method, params)

    def close(self):
        self.server.__exit__()


OPEN = {"legacy": lambda started: Http(started, "legacy"), "modern": lambda started: Http(started, "modern"),
        "stdio": Stdio}


@pytest.fixture(params=OPEN)
def door(started, request):
    opened = OPEN[request.param](started)
    yield opened
    opened.close()


def listed(door):
    return door.ask("tools/list")["result"]["tools"]


def use(door, tool, /, **arguments):
    return door.ask("tools/call", name=tool, arguments=arguments)["result"]


def found(door, query, **more):
    return use(door, "search_tools", query=query, **more)["structuredContent"]["tools"]


def test_three_tools_are_a_tenth_of_the_list(started, door, figure):
    tools = listed(door)
    assert [tool["name"] for tool in tools] == TRIO
    about = tools[0]["description"]
    assert "among 113" in about
    for server, box in tool_servers.SERVERS.items():
        assert f"\n{server}: {box['about']}" in about
    with Caller(started.url) as caller:
        whole = caller.call("ovos.tools.list", {"format": "mcp", "profile": "most"})["tools"]
    sizes = [len(json.dumps(some, ensure_ascii=False, separators=(",", ":"))) for some in (tools, whole)]
    figure("characters of a list of 113 tools, and of the lazy one", f"{sizes[1]}, {sizes[0]}")
    assert sizes[0] <= 0.1 * sizes[1], sizes


def test_its_annotations_are_those_of_the_worst_tool(door):
    search, get, call = listed(door)
    assert search["annotations"] == get["annotations"] == {"readOnlyHint": True}
    assert call["annotations"] == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


class Model:
    """A model as a script: it knows the three tools, takes the best of what it finds, and fills in its schema."""

    def __init__(self, door):
        self.door = door

    def do(self, task, values):
        [tool] = found(self.door, task, limit=1)
        schema = tool["inputSchema"]
        arguments = {name: values[schema["properties"][name]["type"]] for name in schema["required"]}
        result = use(self.door, "call_tool", name=tool["name"], arguments=arguments)
        assert result["isError"] is False, result
        assert result["structuredContent"] == arguments
        return tool["name"]


@pytest.mark.parametrize("task, name", [
    ("switch the lights in the kitchen off", "home__turn_off"), ("add a reminder to my calendar for an appointment", "calendar__create_event"),
    ("skip this song, the next track", "spotify__skip_to_next"), ("which files are in a directory", None),
    ("start the vacuum", "home__vacuum_start"), ("post something to a channel of slack", "slack__slack_post_message")])
def test_a_scripted_model_finds_and_calls_the_right_tool(started, door, task, name):
    called = Model(door).do(task, {"string": "x", "number": 1, "integer": 2, "array": [], "object": {}, "boolean": True})
    assert name in (None, called)
    with Caller(started.url) as caller:
        last = caller.call("ovos.tools.calls", {"limit": 1})["calls"][0]
    assert f"{last['toolbox_id']}__{last['name']}" == called


def test_a_definition_is_the_one_of_the_whole_list(started, door):
    with Caller(started.url) as caller:
        whole = {f"{tool['_meta']['toolboxd/source']['toolbox']}__{tool['_meta']['toolboxd/name']}": tool
                 for tool in caller.call("ovos.tools.list", {"format": "mcp", "profile": "most"})["tools"]}
    for name in ("maps__maps_geocode", "risky__format_disk"):
        assert use(door, "get_tool", name=name)["structuredContent"] == {**whole[name], "name": name}
    wrong = use(door, "get_tool", name="nothing")
    assert wrong["isError"] and "search_tools finds the names" in wrong["content"][0]["text"]


def test_policy_is_the_one_of_the_called_tool(started, door):
    def failure(name, /, **arguments):
        result = use(door, "call_tool", name=name, arguments=arguments)
        assert result["isError"] is True
        return result["content"][0]["text"]

    assert "submarine" not in json.dumps(found(door, "photo of a submarine", limit=50))
    assert failure("hidden__secret").startswith("Unknown tool: 'hidden__secret'")
    assert failure("call_tool", name="x").startswith("Unknown tool: 'call_tool'")
    assert "format_disk" in failure("risky__format_disk") and "PermissionError" in failure("risky__format_disk")
    assert failure("maps__maps_geocode", adress="x").startswith(
        "ValueError: Tool input validation failed for 'maps_geocode' in ToolBox 'maps'")
    use(door, "call_tool", name="risky__rare")
    assert "cooldown" in failure("risky__rare")
    lines = [json.loads(line) for line in (started.home / "audit.log").read_text().splitlines()]
    assert any(line.get("name") == "format_disk" or line.get("tool") == "format_disk" for line in lines), lines[-1]
    assert "call_tool" not in {line.get("name", line.get("tool")) for line in lines}


@pytest.mark.parametrize("name, arguments, words", [
    ("search_tools", {}, "'query' must be a string"), ("search_tools", {"query": 5}, "'query' must be a string"),
    ("search_tools", {"query": "x", "limit": 51}, "'limit' must be an integer from 1 to 50"),
    ("search_tools", {"query": "x", "limit": "many"}, "'limit' must be an integer"), ("search_tools", {"query": "?!"}, "'query' must be a text"),
    ("get_tool", {}, "'name' must be a string"), ("call_tool", {"arguments": {}}, "'name' must be a string"),
    ("call_tool", {"name": "git__git_log", "arguments": 5}, "'arguments' must be an object")])
def test_what_the_three_do_not_take(door, name, arguments, words):
    result = use(door, name, **arguments)
    assert result["isError"] is True and words in result["content"][0]["text"]


def test_the_tools_can_be_called_by_their_names_too(door):
    assert use(door, "maps__maps_geocode", address="here")["structuredContent"] == {"address": "here"}
    assert use(door, "call_tool", name="maps__maps_geocode", arguments='{"address": "there"}')["structuredContent"] == {
        "address": "there"}


def test_nothing_is_found_for_other_words(door):
    assert found(door, "quetzalcoatl") == []
    assert len(found(door, "file")) == 8 and len(found(door, "file", limit=2)) == 2


def test_auto_is_lazy_where_there_are_many(launch, tmp_path):
    folder = tmp_path / "many.d"
    folder.mkdir()
    for n, lazy_over, names in ((64, 64, 64), (65, 64, 3), (3, 2, 3), (2, 2, 2)):
        (folder / "many.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
            {"name": f"tool_{i}", "command": {"argv": ["true"]}} for i in range(n)]}))
        service = launch({"http": {"listen": ["127.0.0.1:0"], "mcp_lazy": "auto", "lazy_over": lazy_over}}, [folder])
        tools = Client(port_of(service.daemon), "modern").result("tools/list")["tools"]
        assert len(tools) == names and (tools[0]["name"] == "search_tools") is (n > lazy_over)


def test_a_door_of_one_toolbox_or_of_two(started):
    single = Server(started.home, "--lazy", "--toolbox", "spotify", bus=started.url)
    names = [tool["name"] for tool in single.call("search_tools", {"query": "file track", "limit": 50})
             ["result"]["structuredContent"]["tools"]]
    assert "skip_to_next" in names and set(names) <= set(tool_servers.SERVERS["spotify"]["tools"])
    assert single.call("call_tool", {"name": "skip_to_next"})["result"]["isError"] is False
    single.__exit__()
    double = Server(started.home, "--lazy", "--toolbox", "spotify", "--toolbox", "maps", bus=started.url)
    tools = double.call("search_tools", {"query": "search files tracks places", "limit": 3})["result"]["structuredContent"]["tools"]
    assert len(tools) == 3 and all(re.match("(spotify|maps)__", tool["name"]) for tool in tools)
    double.__exit__()


def test_stat_shows_what_it_saves(started, tmp_path):
    out = toolboxctl("list", "--stat", bus=started.url, home=tmp_path).stdout
    saved = re.search(r"A list of MCP has (\d+) characters; with `mcp --lazy` or http.mcp_lazy it has (\d+), (\d+) % fewer", out)
    assert saved and int(saved[3]) >= 90, out
