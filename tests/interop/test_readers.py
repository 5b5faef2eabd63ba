# SPDX-License-Identifier: Apache-2.0
"""Documents and lists for others, by readers of others: whatever schemas the tools have, each reader finds every
tool. One catalogue has what authors and servers write; one daemon serves it to all readers."""
import asyncio
import hashlib
import json
import re
import subprocess
import sys

import manifests
import pytest
from http_peer import Http, port_of
from jsonschema import Draft202012Validator
from processes import ROOT, SLOWNESS, environment, toolboxctl, until

INTEROP = ROOT / "tests" / "interop"
INSTALLED = ROOT / "build" / "node" / "node_modules"
NODE = INSTALLED / ".bin" / "node"
SECONDS = 120 * SLOWNESS
DRAFT_07 = "http://json-schema.org/draft-07/schema#"

# What the servers of an MCP toolbox list: no outputSchema, one of draft-07, keywords that only some readers know.
SERVED = [
    {"name": "plain", "description": "\n  Say something.  \n", "inputSchema": {"type": "object"}},
    {"name": "zod", "description": "What zod 3 writes.", "inputSchema": {
        "$schema": DRAFT_07, "type": "object", "properties": {
            "pair": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False},
            "kind": {"$ref": "#/definitions/kind"}}, "definitions": {"kind": {"type": "string"}},
        "dependencies": {"pair": ["kind"], "kind": {"required": ["pair"]}}},
     "outputSchema": {"$schema": DRAFT_07, "type": "object", "properties": {"n": {"$ref": "#/definitions/n"}},
                      "definitions": {"n": {"type": "array", "items": [{"type": "integer"}]}}}},
    {"name": "discriminated", "description": "A union at the root.", "inputSchema": {"type": "object", "oneOf": [
        {"type": "object", "properties": {"action": {"const": "get"}, "id": {"type": "string"}},
         "required": ["action", "id"]},
        {"type": "object", "properties": {"action": {"const": "set"}, "id": {"type": "string"},
                                          "value": {"type": "number"}}, "required": ["action", "id", "value"]}]}}]

PYDANTIC = {
    "$defs": {
        "Light": {"type": "object", "properties": {"kind": {"const": "light"}, "lux": {"type": "number"}},
                  "required": ["kind"]},
        "Switch": {"type": "object", "properties": {"kind": {"const": "switch"}, "on": {"type": "boolean"}},
                   "required": ["kind"]}},
    "type": "object", "required": ["device"], "properties": {"device": {
        "discriminator": {"propertyName": "kind", "mapping": {"light": "#/$defs/Light", "switch": "#/$defs/Switch"}},
        "oneOf": [{"$ref": "#/$defs/Light"}, {"$ref": "#/$defs/Switch"}]}}}
NODE_SCHEMA = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "value": True}}

WRITTEN = {
    "pydantic": PYDANTIC,
    "identified": {"$id": "https://example.com/s.json", "type": "object",
                   "properties": {"f": {"$ref": "https://example.com/s.json#/$defs/F"}, "g": {"$ref": "#g"}},
                   "$defs": {"F": {"type": "string"}, "G": {"$anchor": "g", "type": "integer"}}},
    "tree": {"$defs": {"node": NODE_SCHEMA}, "type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}},
    "itself": {"type": "object", "properties": {"child": {"$ref": "#"}}},
    "parts": {"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
              "$defs": {"A": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}},
    "either": {"anyOf": [{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
                         {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}]},
    "booleans": {"type": "object", "properties": {"any": True, "none": False, "list": {"type": "array"}},
                 "additionalProperties": False},
    "odata": {"type": "object", "properties": {"$filter": {"type": "string"}, "user name": {"type": "string"},
                                               "@odata.type": {"type": "string"}, "": {"type": "string"},
                                               "odata.type": {"type": "string"}, "top": {"type": "integer"}}},
    "empty": {"type": "object", "properties": {"none": {"enum": []}, "some": {"type": "string", "enum": ["a"]}}},
    "nothing": {},
    "strange": {"type": "object", "properties": {"user name": {"type": "string"}, "a": {}}, "required": ["user name"]},
}
RESULTS = {"tree": {"$ref": "#/$defs/node", "$defs": {"node": NODE_SCHEMA}},
           "booleans": {"type": "object", "properties": {"any": True, "none": False}},
           "itself": {"type": "object", "properties": {"child": {"$ref": "#"}}}}
NAMES = [*WRITTEN, "plain", "zod", "discriminated"]


def written(name, schema):
    return {"name": name, "description": f"The {name}.\nAnd more.", "risk": "read", "argument_schema": schema,
            "command": {"argv": ["/bin/echo", "{}"], "output": "json"},
            **({"output_schema": RESULTS[name]} if name in RESULTS else {}),
            **({"examples": [{"args": {"top": 1}}, {"args": {"$filter": "a"}}]} if name == "odata" else {})}


def start(home, configuration=None, **more):
    from conftest import Service
    folder = home / "toolbox.d"
    folder.mkdir()
    (folder / "authors.json").write_text(json.dumps(
        {"kind": "command", "tools": [written(name, schema) for name, schema in WRITTEN.items()]}))
    (home / "tools.json").write_text(json.dumps(SERVED))
    (folder / "served.json").write_text(json.dumps({"kind": "mcp", "risk": "read", "mcp": {
        "command": [sys.executable, str(INTEROP / "mcp_server.py"), "--tools", str(home / "tools.json")]}}))
    one = Service("embedded", home, [manifests.SHIPPED, folder], configuration=configuration,
                  args=["--http", "127.0.0.1:0"], **more)
    one.home = home
    return one


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    with start(tmp_path_factory.mktemp("readers")) as one:
        with Http(port_of(one.daemon)) as http:
            until(lambda: "zod" in str(http.get("/v1/tools").json), SECONDS, "the tools of the server")
        yield one


@pytest.fixture
def base(port):
    return f"http://127.0.0.1:{port}"


def needs(package):
    return pytest.mark.skipif(not (INSTALLED / package).exists(), reason=f"npm has not installed {package}")


# ── by the letter ───────────────────────────────────────────────────────────────────────────────

def references(value, place="#"):
    """Every `$ref` of a document, with where it is."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "$ref" and isinstance(one, str):
                yield place, one
            else:
                yield from references(one, f"{place}/{key}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from references(one, f"{place}/{index}")


def expect_whole(document):
    """Every reference leads somewhere in the document, without any `$id`."""
    assert '"$id"' not in json.dumps(document) and '"$anchor"' not in json.dumps(document)
    for place, reference in references(document):
        assert reference.startswith("#/"), f"{place}: {reference}"
        at = document
        for token in reference[2:].split("/"):
            assert token in at, f"{place}: {reference} leads nowhere"
            at = at[token]


def expect_portable(schema, name):
    """It is of draft 2020-12, and has an object wherever a reader may expect one."""
    Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert not [word for word in ("$schema", "additionalItems", "dependencies", "definitions", "discriminator")
                if f'"{word}":' in text], f"{name}: {text}"
    for key, one in schema.get("properties", {}).items():
        assert isinstance(one, dict), f"{name}: {key} is {one}"


def expect_root(schema, name):
    """Its parameters are at the root."""
    assert schema["type"] == "object" and isinstance(schema["properties"], dict), f"{name}: {schema}"
    assert not schema.keys() & {"oneOf", "anyOf", "allOf", "not", "enum", "if", "$ref"}, f"{name}: {schema}"


def listed(http, format):
    return {tool.get("function", tool)["name"]: tool.get("function", tool)
            for tool in http.get(f"/v1/tools?format={format}").json["tools"]}


@pytest.mark.parametrize("format,key", [("openai", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")])
def test_every_list_has_schemas_of_the_newest_draft_and_no_reference_that_leads_nowhere(http, format, key):
    tools = listed(http, format)
    assert set(NAMES) - ({"strange"} if format == "anthropic" else set()) <= set(tools)
    for name, tool in tools.items():
        expect_root(tool[key], name)
        Draft202012Validator.check_schema(tool[key])
        if format == "mcp":
            assert "draft-07" not in json.dumps(tool)
            Draft202012Validator.check_schema(tool.get("outputSchema", {}))
        else:
            expect_portable(tool[key], name)
            expect_whole(tool[key])
    assert tools["zod"][key]["properties"]["pair"] == {
        "type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"not": {}}}
    assert tools["zod"][key]["dependentRequired"] == {"pair": ["kind"]}
    assert "$schema" not in tools["zod"][key]
    assert tools["plain"][key]["properties"] == {}


@pytest.mark.parametrize("format,key", [("openai", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")])
def test_a_tool_with_alternatives_has_the_parameters_of_all_of_them(http, format, key):
    tools = listed(http, format)
    assert tools["discriminated"][key] == {"type": "object", "properties": {
        "action": {"enum": ["get", "set"]}, "id": {"type": "string"}, "value": {"type": "number"}},
        "required": ["action", "id"]}
    assert tools["parts"][key]["required"] == ["a", "b"]
    assert set(tools["either"][key]["properties"]) == {"path", "url"} and "required" not in tools["either"][key]
    text = http.get("/v1/tools?format=markdown&toolbox_id=served").bytes.decode()
    assert '- `action` (any, one of "get", "set", required)' in text, text


def test_the_list_for_anthropic_has_names_that_its_api_takes(http, tmp_path):
    """Another one has the whole request refused, with all tools."""
    answer = http.get("/v1/tools?format=anthropic").json
    tools = {tool["name"]: tool for tool in answer["tools"]}
    for tool in tools.values():
        assert all(re.fullmatch("[a-zA-Z0-9_.-]{1,64}", name) for name in tool["input_schema"]["properties"]), tool
    assert list(tools["odata"]["input_schema"]["properties"]) == ["odata.type", "top"]
    assert tools["odata"]["input_examples"] == [{"top": 1}]
    assert "strange" not in tools and answer["left_out"] == [{"toolbox_id": "authors", "name": "strange", "why":
        "it requires 'user name', and Anthropic's API takes names of at most 64 letters, digits, '_', '.' and '-'"}]
    assert "left_out" not in http.get("/v1/tools?format=openai").json
    (tmp_path / "authors.json").write_text(json.dumps(
        {"kind": "command", "tools": [written(name, WRITTEN[name]) for name in ("odata", "strange", "tree")]}))
    done = toolboxctl("check", tmp_path / "authors.json", home=tmp_path)
    assert done.returncode == 0 and done.stderr.count("Anthropic") == 2, done.stderr
    assert "the tool 'odata' has the argument '$filter', 'user name', '@odata.type', '':" in done.stderr
    assert "the tool 'strange' requires the argument 'user name':" in done.stderr


# ── OpenAPI ─────────────────────────────────────────────────────────────────────────────────────

@pytest.fixture(scope="module")
def openapi(started):
    with Http(port_of(started.daemon)) as http:
        return http.get("/openapi.json").json


def test_the_openapi_document_is_whole(openapi, base):
    expect_whole(openapi)
    assert set(NAMES) <= {path["post"]["operationId"] for path in openapi["paths"].values()}
    assert openapi["servers"] == [{"url": base}]
    for schema in openapi["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for path in openapi["paths"].values():
        post = path["post"]
        body = post.get("requestBody")
        if body:
            schema = body["content"]["application/json"]["schema"]
            expect_portable(schema, post["operationId"])
            expect_root(schema, post["operationId"])
            assert body.get("required", False) == bool(schema.get("required"))
        expect_portable(post["responses"]["200"]["content"]["application/json"]["schema"], post["operationId"])
        assert post["summary"] == post["summary"].strip() != "" and "\n" not in post["summary"]
        assert post["description"] == post["description"].strip()
    posts = {path["post"]["operationId"]: path["post"] for path in openapi["paths"].values()}
    assert "requestBody" not in posts["plain"] and "requestBody" not in posts["nothing"]
    assert posts["plain"]["description"] == "Say something."
    assert posts["pydantic"]["summary"] == "The pydantic."


def test_openapi_spec_validator_takes_the_document(openapi):
    from openapi_spec_validator import OpenAPIV31SpecValidator
    assert [f"{list(error.path)}: {error.message}" for error in OpenAPIV31SpecValidator(openapi).iter_errors()] == []


def test_openapi_pydantic_takes_the_document(openapi):
    from openapi_pydantic import parse_obj
    assert len(parse_obj(openapi).paths) == len(openapi["paths"])


def test_fastmcp_makes_tools_of_the_document(openapi, base):
    fastmcp = pytest.importorskip("fastmcp")
    import httpx2

    async def run():
        async with httpx2.AsyncClient(base_url=base) as client:
            server = fastmcp.FastMCP.from_openapi(openapi_spec=openapi, client=client)
            async with fastmcp.Client(server) as peer:
                tools = {tool.name for tool in await peer.list_tools()}
                assert set(NAMES) <= tools
                return (await peer.call_tool("math_tools_add" if "add" not in tools else "add", {"a": 3, "b": 4})).structured_content

    assert asyncio.run(run()) == {"name": "add", "result": {"result": 7}}


def test_the_converter_of_utcp_makes_tools_of_the_document(openapi, base):
    from utcp_http.openapi_converter import OpenApiConverter
    manual = OpenApiConverter(openapi, spec_url=base + "/openapi.json").convert()
    assert set(NAMES) <= {tool.name for tool in manual.tools}
    urls = {tool.name: tool.tool_call_template.url for tool in manual.tools}
    assert urls["zod"] == f"{base}/v1/tools/zod"


@needs("@apidevtools/swagger-parser")
@needs("openapi-typescript")
def test_the_readers_of_npm_take_the_openapi_document(started, base, openapi):
    done = subprocess.run([NODE, INTEROP / "openapi_peer_client.mjs", base + "/openapi.json"],
                          env=environment(started.home / "client", NODE_PATH=str(INSTALLED)),
                          capture_output=True, text=True, timeout=SECONDS, cwd=started.home)
    assert done.returncode == 0, done.stderr
    names = [path["post"]["operationId"] for path in openapi["paths"].values()]
    assert json.loads(done.stdout.splitlines()[-1]) == {"swagger-parser": names, "openapi-typescript": names}


# ── UTCP ────────────────────────────────────────────────────────────────────────────────────────

def test_the_manual_of_utcp_is_whole(http):
    for tool in http.get("/utcp").json["tools"]:
        for part in "inputs", "outputs":
            expect_portable(tool[part], tool["name"])
            expect_whole(tool[part])
        expect_root(tool["inputs"]["properties"]["body"], tool["name"])


def test_the_models_of_utcp_take_every_tool(http):
    from utcp.data.tool import Tool
    for tool in http.get("/utcp").json["tools"]:
        Tool.model_validate(tool)


def call_by_utcp(base, variables=None, **auth):
    """Call a tool by the client of UTCP for Python; what came, and the names of all tools."""
    from utcp.utcp_client import UtcpClient
    from utcp_http.http_call_template import HttpCallTemplate

    async def run():
        client = await UtcpClient.create(config={"variables": variables or {}})
        registered = await client.register_manual(HttpCallTemplate(
            name="home", call_template_type="http", url=base + "/utcp", http_method="GET", **auth))
        assert registered.success and not registered.errors, registered
        tools = {tool.name for tool in registered.manual.tools}
        return await client.call_tool("home.add", {"body": {"a": 3, "b": 4}}), tools

    return asyncio.run(run())


def test_the_client_of_utcp_for_python_has_every_tool(base):
    answer, tools = call_by_utcp(base)
    assert answer == {"name": "add", "result": {"result": 7}}
    assert {f"home.{name}" for name in NAMES} <= tools


def test_a_client_of_utcp_calls_with_its_token(launch):
    """The manual has no token, but where the client is to put its own."""
    from utcp.data.auth_implementations.api_key_auth import ApiKeyAuth
    token = "kitchen-0123456789"
    service = launch({"http": {"tokens": [{
        "name": "kitchen", "token_sha256": hashlib.sha256(token.encode()).hexdigest()}]}},
        args=["--http", "127.0.0.1:0"])
    answer, _ = call_by_utcp(f"http://127.0.0.1:{port_of(service.daemon)}", {"home_TOOLBOXD_TOKEN": token}, auth=ApiKeyAuth(
        auth_type="api_key", api_key=f"Bearer {token}", var_name="Authorization", location="header"))
    assert answer == {"name": "add", "result": {"result": 7}}
    with Http(port_of(service.daemon)) as http:
        templates = [tool["tool_call_template"] for tool in
                     http.get("/utcp", Authorization=f"Bearer {token}").json["tools"]]
    assert token not in json.dumps(templates)


@needs("@utcp/http")
def test_the_client_of_utcp_for_typescript_has_every_tool(started, base):
    done = subprocess.run([NODE, INTEROP / "utcp_peer_client.cjs", base + "/utcp"],
                          env=environment(started.home / "client", NODE_PATH=str(INSTALLED)),
                          capture_output=True, text=True, timeout=SECONDS, cwd=started.home)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert not seen["errors"] and {f"home.{name}" for name in NAMES} <= set(seen["tools"]), seen


# ── MCP ─────────────────────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_of_mcp_for_python_has_every_tool(base, mode):
    from mcp.client.client import Client

    async def run():
        async with Client(base + "/mcp", mode=mode) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    tools = asyncio.run(run())
    assert {f"authors__{name}" for name in WRITTEN} | {"served__zod"} <= tools


def test_the_client_of_fastmcp_has_every_tool(base):
    fastmcp = pytest.importorskip("fastmcp")

    async def run():
        async with fastmcp.Client(base + "/mcp") as client:
            return {tool.name for tool in await client.list_tools()}

    assert {f"authors__{name}" for name in WRITTEN} | {"served__zod"} <= asyncio.run(run())


@needs("@modelcontextprotocol/inspector")
def test_the_inspector_finds_no_schema_that_is_not_portable(started, base):
    env = environment(started.home / "inspector")
    env["PATH"] = f"{INSTALLED / '.bin'}:{env['PATH']}"
    done = subprocess.run([INSTALLED / ".bin" / "mcp-inspector", "--cli", base + "/mcp", "--transport", "http",
                           "--method", "tools/list", "--strict"], env=env, capture_output=True, text=True,
                          timeout=SECONDS, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "served__zod" in {tool["name"] for tool in json.loads(done.stdout)["tools"]}
