# SPDX-License-Identifier: Apache-2.0
"""Rich content: blocks of programs and plugins, on the bus, over HTTP and for clients of MCP."""
import json

import jsonschema
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import BUILD, ROOT
from test_mcp_http import Client
from test_mcp_stdio import Server

BLOCKS = [
    {"type": "text", "text": "a map of Ülm"},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "annotations": {"audience": ["user"]}},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///map.pdf", "name": "map", "mimeType": "application/pdf"},
    {"type": "resource", "resource": {"uri": "file:///note", "mimeType": "text/plain", "text": "1.10"}},
    {"type": "resource", "resource": {"uri": "file:///raw", "blob": "AAE="}},
]
STRUCTURED = {"size": {"width": 3, "height": 4}}
SCHEMA = {"type": "object", "required": ["size"], "properties": {"size": {"$ref": "#/$defs/size"}},
          "$defs": {"size": {"type": "object", "required": ["width"],
                             "properties": {"width": {"type": "integer", "maximum": 9}}}}}
VALUE = json.dumps({"rows": ["row"] * 500}, separators=(",", ":"))
OLD = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["size"],
       "properties": {"size": {"$ref": "#/definitions/size"}},
       "definitions": {"size": {"type": "object", "required": ["width"]}}}


def tool(name, result, **more):
    return {"name": name, "description": f"The {name}.", "risk": "read",
            "command": {"argv": ["/bin/printf", "%s", json.dumps(result, ensure_ascii=False)],
                        "output": "content"}, **more}


WRONG = {
    "nothing": {},
    "no array": {"content": {}},
    "another member": {"content": [], "image": "AAE="},
    "no type": {"content": [{"text": "x"}]},
    "another type": {"content": [{"type": "video", "data": "", "mimeType": "video/mp4"}]},
    "text without text": {"content": [{"type": "text"}]},
    "text that is none": {"content": [{"type": "text", "text": 7}]},
    "image without a type": {"content": [{"type": "image", "data": "AAE="}]},
    "audio without data": {"content": [{"type": "audio", "mimeType": "audio/wav"}]},
    "a link to nowhere": {"content": [{"type": "resource_link", "name": "x"}]},
    "a link without a name": {"content": [{"type": "resource_link", "uri": "x:y"}]},
    "an empty resource": {"content": [{"type": "resource", "resource": {"uri": "x:y"}}]},
    "a mark that is none": {"content": [], "truncated": 1},
}


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("content")
    folder = home / "toolbox.d"
    folder.mkdir()
    (folder / "maps.json").write_text(json.dumps({"kind": "command", "tools": [
        tool("whole", {"content": BLOCKS, "structured": STRUCTURED}, output_schema=SCHEMA),
        tool("old", {"content": [], "structured": STRUCTURED}, output_schema=OLD),
        tool("plain", {"content": BLOCKS}),
        tool("unfit", {"content": [], "structured": {"size": {"width": 10}}}, output_schema=SCHEMA),
        tool("lacks", {"content": []}, output_schema=SCHEMA),
        tool("long", {"content": [{"type": "text", "text": "é" * 1500}, BLOCKS[1],
                                  {"type": "text", "text": "x" * 900}], "structured": STRUCTURED}),
        tool("double", {"content": [{"type": "text", "text": VALUE}], "structured": json.loads(VALUE)},
             output_schema={"type": "object", "required": ["rows"]}),
        tool("note", {"content": [{"type": "resource", "resource": {"uri": "file:///n", "text": "n" * 3000}}]}),
        tool("heavy", {"content": [{"type": "image", "data": "A" * 60000, "mimeType": "image/png"}]}),
        *[tool(f"wrong_{number}", result) for number, result in enumerate(WRONG.values())],
        {**tool("json", {"content": BLOCKS}), "command": {"shell": "echo '{\"content\": []}'", "output": "json"}},
    ]}))
    one = Service("embedded", home, [folder, BUILD / "tests" / "toolboxes" / "blocks.d"],
                  args=["--http", "127.0.0.1:0"], configuration={"result_max_chars": 2000})
    with one:
        yield one


class Mcp:
    def __init__(self, started, era):
        self.client = Client(port_of(started.daemon), era)

    def call(self, name):
        return self.client.result("tools/call", {"name": name, "arguments": {}})

    def listed(self):
        return {tool["name"]: tool for tool in self.client.result("tools/list")["tools"]}

    def close(self):
        self.client.http.connection.close()


class Stdio:
    def __init__(self, started):
        self.server = Server(started.daemon.home, bus=started.url)

    def call(self, name):
        return self.server.call(name, {})["result"]

    def listed(self):
        return {tool["name"]: tool for tool in self.server.ask("tools/list")["result"]["tools"]}

    def close(self):
        self.server.__exit__(None, None, None)


@pytest.fixture(params=["legacy", "modern", "stdio"], scope="module")
def mcp(request, started):
    opened = Stdio(started) if request.param == "stdio" else Mcp(started, request.param)
    yield opened
    opened.close()


def test_the_bus_and_http_have_the_object(started):
    wanted = {"content": BLOCKS, "structured": STRUCTURED}
    with Caller(started.url) as caller, Http(port_of(started.daemon)) as http:
        assert caller.invoke("whole", {})["result"] == wanted
        assert http.post("/v1/tools/whole", {}).json["result"] == wanted
        assert caller.invoke("old", {})["result"]["structured"] == STRUCTURED
        assert caller.invoke("plain", {})["result"] == {"content": BLOCKS}
        assert caller.invoke("draw", {})["result"]["structured"] == {"width": 3}


def test_clients_of_mcp_have_the_blocks(mcp):
    result = mcp.call("maps__whole")
    assert result["content"] == BLOCKS and result["structuredContent"] == STRUCTURED
    assert result["isError"] is False
    plain = mcp.call("maps__plain")
    assert plain["content"] == BLOCKS and "structuredContent" not in plain
    drawn = mcp.call("blocks__draw")
    assert drawn["content"] == [{"type": "image", "data": "AAEC", "mimeType": "image/png"}]
    assert drawn["structuredContent"] == {"width": 3}
    # A bare name is one, too; and only a tool that says so has blocks.
    assert mcp.call("plain")["content"] == BLOCKS
    assert mcp.call("maps__json")["content"] == [{"type": "text", "text": '{"content":[]}'}]


def test_definitions_say_so(started, mcp):
    with Caller(started.url) as caller:
        full = {tool["name"]: tool for tool in caller.call("ovos.tools.list")["tools"]}
    assert full["whole"]["output"] == full["draw"]["output"] == "content" and "output" not in full["json"]
    for name in "whole", "old", "plain":
        jsonschema.Draft202012Validator.check_schema(full[name]["output_schema"])
    listed = mcp.listed()
    assert listed["maps__whole"]["outputSchema"] == SCHEMA
    # Draft-07 is translated: strict clients know one draft.
    assert listed["maps__old"]["outputSchema"] == {
        "type": "object", "required": ["size"],
        "properties": {"size": {"type": "object", "required": ["width"]}}}
    assert listed["blocks__draw"]["outputSchema"]["required"] == ["width"]
    assert "outputSchema" not in listed["maps__plain"]


def test_blocks_are_checked(started):
    definition = json.loads((ROOT / "schemas" / "content.schema.json").read_text())
    with Caller(started.url) as caller:
        for number, (what, result) in enumerate(WRONG.items()):
            assert caller.invoke(f"wrong_{number}", {})["code"] == "invalid_output", what
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(result, definition)
        for name in "unfit", "lacks":
            assert caller.invoke(name, {})["code"] == "invalid_output"
    jsonschema.validate({"content": BLOCKS, "structured": STRUCTURED}, definition)


def marks(chars):
    return {"truncated": True, "actual_chars": chars, "max_chars": 2000, "hint": hint(chars)}


def hint(chars):
    return f"The result has {chars} characters, 2000 are allowed: ask for less, or raise result_max_chars."


def test_a_cut_text_says_so_at_every_door(started, mcp):
    with Caller(started.url) as caller, Http(port_of(started.daemon)) as http:
        cut = caller.invoke("long", {})["result"]
        assert caller.invoke("heavy", {})["result"]["content"][0]["data"] == "A" * 60000
        assert http.post("/v1/tools/long", {}).json["result"] == cut
    assert cut == {"content": [{"type": "text", "text": "é" * 1500}, BLOCKS[1],
                               {"type": "text", "text": "x" * 500}],
                   "structured": STRUCTURED, **marks(2400)}
    result = mcp.call("maps__long")
    assert result["content"] == [*cut["content"], {"type": "text", "text": hint(2400)}]
    assert (result["isError"], result["structuredContent"]) == (False, STRUCTURED)


def test_a_structured_value_and_a_resource_are_cut_as_a_text_is(started, mcp):
    """The text of a server is often the JSON of its value: neither is longer than the other may be."""
    with Caller(started.url) as caller:
        double = caller.invoke("double", {})["result"]
        note = caller.invoke("note", {})["result"]
    assert double["content"] == [{"type": "text", "text": VALUE[:2000]}]
    assert double["structured"] == {"reason": "too_long", "head": VALUE[:2000], **marks(len(VALUE))}
    assert note["content"] == [{"type": "resource", "resource": {"uri": "file:///n", "text": "n" * 2000}}]
    result = mcp.call("maps__double")
    assert result["content"] == [*double["content"], {"type": "text", "text": hint(len(VALUE))}]
    assert result["isError"] is True and "structuredContent" not in result
    result = mcp.call("maps__note")
    assert result["content"] == [*note["content"], {"type": "text", "text": hint(3000)}]
    assert result["isError"] is False


def test_a_client_that_reads_texts_alone_has_a_value_without_blocks(mcp):
    result = mcp.call("maps__old")
    assert result["content"] == [{"type": "text", "text": json.dumps(STRUCTURED, separators=(",", ":"))}]
    assert result["structuredContent"] == STRUCTURED


def test_a_plugin_alone_says_so_at_the_top(tmp_path):
    from processes import toolboxctl
    (tmp_path / "maps.json").write_text(json.dumps({
        "kind": "command", "output": "content", "tools": [tool("plain", {"content": BLOCKS})]}))
    done = toolboxctl("check", tmp_path / "maps.json", home=tmp_path)
    assert done.returncode != 0 and '"output" is not a key of a toolbox of the kind "command"' in (
        done.stdout + done.stderr)
