# SPDX-License-Identifier: Apache-2.0
"""The listings for language models: what their interfaces take, and calls by the names in them."""
import hashlib
import json

import jsonschema
import manifests
import pytest
from caller import Caller
from processes import ROOT, toolboxctl

LONG = "long_" + "x" * 63
VENDORS = ["openai", "anthropic"]
TREE = {"$ref": "#/$defs/Tree", "$defs": {
    "Tree": {"type": "object", "properties": {
        "value": {"$ref": "#/$defs/Value", "description": "What it holds"},
        "left": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}}},
    "Value": {"type": "integer"}}}


def command(name, schema, **more):
    return {"name": name, "description": f"The {name}.", "argument_schema": schema,
            "command": {"argv": ["/bin/echo", "ran"]}, **more}


@pytest.fixture
def service(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, LONG, [manifests.labs("m1")])
    manifests.toolbox(folder, "twin", [manifests.labs("m1")])
    (folder / "shapes.json").write_text(json.dumps({
        "kind": "command", "description": "All\n# shapes", "tools": [
            command("tree", TREE),
            command("union", {"oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                              "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
            command("plain", {"type": "object", "properties": {
                "text": {"type": "string", "description": "Some\ntext"}},
                "required": ["text"], "additionalProperties": False}, risk="write",
                examples=[{"args": {"text": "hello"}}]),
            command("bare", {})]}))
    return launch({}, [folder])


def names(tools):
    return [one.get("function", one)["name"] for one in tools]


@pytest.mark.parametrize("format", ["compact", "openai", "anthropic", "mcp"])
def test_every_definition_keeps_its_schema_and_its_name_can_be_called(service, format):
    definitions = json.loads((ROOT / "schemas" / "definition.schema.json").read_text())["$defs"]
    with Caller(service.url) as caller:
        tools = caller.call("ovos.tools.list", {"format": format})["tools"]
        for tool in tools:
            jsonschema.validate(tool, definitions[format])
        hashed = (LONG + "__m1")[:57] + "_" + \
            hashlib.sha256((LONG + "__m1").encode()).hexdigest()[:6]
        assert names(tools) == [hashed, "tree", "union", "plain", "bare", "twin__m1"]
        for name in hashed, LONG + "__m1", "twin__m1":
            assert caller.invoke(name, {"value": -2})["result"] == {"result": 2}
            assert caller.call("ovos.tools.get", {"name": name})["name"] == "m1"


@pytest.mark.parametrize("format", VENDORS)
def test_schemas_are_what_vendors_take(service, format):
    with Caller(service.url) as caller:
        listed = {one.get("function", one)["name"]: one.get("function", one)
                  for one in caller.call("ovos.tools.list", {"format": format})["tools"]}
    key = {"openai": "parameters", "anthropic": "input_schema"}[format]
    assert listed["bare"][key] == {"type": "object", "properties": {}}
    assert set(listed["union"][key]) == {"type", "properties"}
    tree = listed["tree"][key]
    assert tree["properties"]["value"] == {"type": "integer", "description": "What it holds"}
    assert list(tree["$defs"]) == ["r1"]
    # What it describes is what the tool takes.
    jsonschema.Draft202012Validator.check_schema(tree)
    jsonschema.validate({"value": 1, "left": {"left": {"value": 2}}}, tree)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"value": 1, "left": {"left": {"value": "x"}}}, tree)
    if format == "openai":
        # Native functions and `plain` allow no other argument, and require those that they have.
        assert [name for name, one in listed.items() if "strict" not in one] == [
            "tree", "union", "bare"]
    else:
        assert listed["plain"]["input_examples"] == [{"text": "hello"}]
        assert "input_examples" not in listed["bare"]


def test_one_tool_has_no_request_refused(launch, tmp_path):
    """OpenAI refuses a request whole for one long description, and for one array without items."""
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    long = "é" * 1025
    (folder / "wordy.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        command("whole", {}, description=long[:1024]),
        command("wordy", {"properties": {"list": {"type": "array"}}}, description=long)]}))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        whole, wordy = (one["function"] for one in caller.call("ovos.tools.list", {"format": "openai"})["tools"])
        assert whole["description"] == long[:1024]
        assert wordy["description"] == long[:1023] + "…"
        assert wordy["parameters"]["properties"] == {"list": {"type": "array", "items": {}}}
        _, wordy = caller.call("ovos.tools.list", {"format": "anthropic"})["tools"]
        assert wordy["description"] == long
        assert wordy["input_schema"]["properties"] == {"list": {"type": "array", "items": {}}}


def test_mcp_has_the_hints_of_the_risk(service):
    with Caller(service.url) as caller:
        listed = {one["name"]: one
                  for one in caller.call("ovos.tools.list", {"format": "mcp"})["tools"]}
    assert listed["plain"]["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    assert listed["twin__m1"]["annotations"] == {"readOnlyHint": True}
    assert "annotations" not in listed["tree"]
    assert listed["union"]["inputSchema"]["type"] == "object"


def test_mcp_has_the_title_and_the_hints_of_the_manifest(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "hints.json").write_text(json.dumps({"kind": "command", "risk": "write", "tools": [
        command("adds", {}, title="Adds a note", destructive=False, idempotent=True),
        command("plain", {}), command("rated", {}, destructive=False, title="Rated")]}))
    service = launch({"toolboxes": {"hints": {"tools": {"rated": {"risk": "execute"}}}}}, [folder])
    definitions = json.loads((ROOT / "schemas" / "definition.schema.json").read_text())["$defs"]
    with Caller(service.url) as caller:
        full = {one["name"]: one for one in caller.call("ovos.tools.list")["tools"]}
        listed = {one["name"]: one for one in caller.call("ovos.tools.list", {"format": "mcp"})["tools"]}
    for name in full:
        jsonschema.validate(full[name], definitions["full"])
        jsonschema.validate(listed[name], definitions["mcp"])
    assert (full["adds"]["title"], full["adds"]["destructive"], full["adds"]["idempotent"]) == (
        "Adds a note", False, True)
    assert not {"title", "destructive", "idempotent"} & full["plain"].keys()
    assert listed["adds"]["title"] == "Adds a note" and "title" not in listed["plain"]
    assert listed["adds"]["annotations"] == {
        "readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}
    assert listed["plain"]["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    # An operator's risk is the one that counts; it takes nothing else away.
    assert full["rated"]["title"] == listed["rated"]["title"] == "Rated"
    assert listed["rated"]["annotations"] == {
        "readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def test_markdown_is_one_text(service):
    with Caller(service.url) as caller:
        answer = caller.call("ovos.tools.list", {"format": "markdown", "toolbox_id": "shapes"})
        assert list(answer) == ["text"]
        assert answer["text"].startswith("## shapes\n\nAll # shapes\n\n### tree\n\nThe tree.\n\n"
                                         "- `value` (integer): What it holds\n- `left` (any)\n")
        assert "- `text` (string, required): Some text\n" in answer["text"]
        assert caller.call("ovos.tools.list", {"format": "markdown", "toolbox_id": "none"}) == {
            "text": ""}
        done = toolboxctl("list", "--format", "markdown", "--toolbox", "shapes", bus=service.url,
                          home=service.daemon.home)
        assert done.returncode == 0 and done.stdout == answer["text"]


@pytest.mark.parametrize("format", ["full", "openai", "markdown"])
def test_stat_counts_what_a_format_takes(service, format):
    done = toolboxctl("list", "--format", format, "--stat", bus=service.url,
                      home=service.daemon.home)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if not line.startswith("A list of MCP")]
    assert rows[0] == ["TOOLBOX", "TOOLS", "CHARACTERS", "TOKENS"]
    assert [(row[0], row[1]) for row in rows[1:]] == [
        (LONG, "1"), ("shapes", "4"), ("twin", "1"), ("sum", "6")]
    for row in rows[1:]:
        assert int(row[3]) == int(row[2]) // 4
    assert int(rows[4][2]) == sum(int(row[2]) for row in rows[1:4])
    with Caller(service.url) as caller:
        answer = caller.call("ovos.tools.list", {"format": format, "toolbox_id": "shapes"})
    text = answer["text"] if format == "markdown" else json.dumps(
        answer["tools"], separators=(",", ":"), ensure_ascii=False)
    assert int(rows[2][2]) == len(text)


def test_an_unrated_tool_is_listed_as_unrated(service):
    done = toolboxctl("get", "bare", bus=service.url, home=service.daemon.home)
    assert done.stdout.startswith("shapes/bare (risk: unrated)\n")
    done = toolboxctl("list", "--toolbox", "shapes", bus=service.url, home=service.daemon.home)
    assert [line.split()[1:4] for line in done.stdout.splitlines()[1:]] == [
        ["tree", "command", "unrated"], ["union", "command", "unrated"], ["plain", "command", "write"],
        ["bare", "command", "unrated"]]
