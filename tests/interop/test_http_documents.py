# SPDX-License-Identifier: Apache-2.0
"""The tools over HTTP as others describe them: OpenAPI, UTCP and MCP, by validators and clients of others."""
import asyncio
import json

import manifests
import pytest
from caller import Caller
from http_peer import port_of

SELF = {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}}


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("documents")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    manifests.twins(folder)
    (folder / "trees.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "plant", "description": "Plants a tree.", "argument_schema": SELF,
         "command": {"argv": ["true"]}}]}))
    one = Service("embedded", home, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"])
    with one:
        yield one


@pytest.fixture
def base(started):
    return f"http://127.0.0.1:{port_of(started.daemon)}"


def names_for_models(started):
    with Caller(started.url) as caller:
        return [tool["name"] for tool in caller.call("ovos.tools.list", {"format": "compact"})["tools"]]


def test_the_openapi_document_is_valid_and_whole(started, http, base):
    from openapi_spec_validator import validate
    answer = http.get("/openapi.json")
    document = answer.json
    validate(document)
    names = names_for_models(started)
    assert "plant" in names and list(document["paths"]) == [f"/v1/tools/{name}" for name in names]
    assert [path["post"]["operationId"] for path in document["paths"].values()] == names
    assert document["openapi"].startswith("3.1") and document["servers"] == [{"url": base}]
    assert http.get("/openapi.json", If_None_Match=answer.headers["ETag"]).status == 304
    for path in document["paths"]:
        assert http.post(path + "?dry_run=1").status == 200


def test_a_schema_that_contains_itself_is_a_component_of_the_document(http):
    """Its references mean what they mean in the tool, wherever it is put."""
    document = http.get("/openapi.json").json
    schema = document["paths"]["/v1/tools/plant"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"] == {"tree": {"$ref": "#/components/schemas/plant.arguments.r1"}}
    from jsonschema import Draft202012Validator
    around = {"properties": {"deep": schema}, "components": document["components"]}
    assert Draft202012Validator(around).is_valid({"deep": {"tree": {"next": {}}}})
    assert not Draft202012Validator(around).is_valid({"deep": {"tree": {"next": 7}}})


def test_the_manual_of_utcp_is_exact(started, http, base):
    manual = http.get("/utcp").json
    assert manual == http.get("/tools/manual").json
    assert http.post("/tools/add", {"a": 3, "b": 4}).json == http.post("/v1/tools/add", {"a": 3, "b": 4}).json
    assert (manual["utcp_version"], [tool["name"] for tool in manual["tools"]]) == (
        "1.1.0", names_for_models(started))
    for tool in manual["tools"]:
        assert tool.keys() == {"name", "description", "inputs", "outputs", "tags", "tool_call_template"}
        assert tool["inputs"].keys() - {"$defs"} == {"type", "properties", "required"} and tool["inputs"]["required"] == ["body"]
        assert tool["tool_call_template"] == {
            "call_template_type": "http", "url": f"{base}/v1/tools/{tool['name']}", "http_method": "POST",
            "content_type": "application/json", "body_field": "body"}
    other = http.get("/utcp", Host="localhost:1").json
    assert other["tools"][0]["tool_call_template"]["url"].startswith("http://localhost:1/v1/tools/")


def test_a_client_of_utcp_calls_a_tool(base):
    from utcp.utcp_client import UtcpClient
    from utcp_http.http_call_template import HttpCallTemplate

    async def run():
        client = await UtcpClient.create()
        registered = await client.register_manual(HttpCallTemplate(
            name="home", call_template_type="http", url=base + "/utcp", http_method="GET"))
        assert registered.success and not registered.errors
        answer = await client.call_tool("home.add", {"body": {"a": 3, "b": 4}})
        assert answer == {"name": "add", "result": {"result": 7}}
        with pytest.raises(Exception, match="422"):
            await client.call_tool("home.add", {"body": {"a": 3}})

    asyncio.run(run())


@pytest.mark.parametrize("path,name", [("/mcp", "math_tools__add"), ("/mcp/math_tools", "add")])
def test_the_sdk_of_mcp_calls_a_tool(base, path, name):
    from mcp.client.client import Client

    async def run():
        async with Client(base + path) as client:
            assert name in [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool(name, {"a": 3, "b": 4})
            assert (result.structured_content, result.is_error) == ({"result": 7}, False)
            result = await client.call_tool(name, {"a": 3})
            assert result.is_error and "'b'" in result.content[0].text
            with pytest.raises(Exception, match="Unknown tool"):
                await client.call_tool("nope", {})

    asyncio.run(run())
