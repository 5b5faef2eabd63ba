# SPDX-License-Identifier: Apache-2.0
"""The server scenarios of the conformance suite of MCP, of both eras, that a server of tools can be asked.

Each is one test, with the checks that the suite writes as its verdict. The tools that scenarios call by name are
programs in one folder; those with blocks that are no text have a manifest, and `test_tool_with_progress` is a
plugin.
"""
import json

import pytest
from conformance import SUITE, Suite
from http_peer import port_of
from processes import BUILD

SECONDS = 60

pytestmark = pytest.mark.skipif(not SUITE.exists(), reason=f"npm has not installed the suite: {SUITE}")

LEGACY, MODERN = "2025-11-25", "2026-07-28"
BOTH = ["tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress",
        "json-schema-2020-12", "server-sse-multiple-streams", "dns-rebinding-protection"]
RICH = ["tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"]
SCENARIOS = [(LEGACY, name) for name in ["server-initialize", "server-session-lifecycle", "ping",
                                         "server-sse-polling", *BOTH]]
SCENARIOS += [(MODERN, name) for name in ["server-stateless", "http-header-validation",
                                          "http-custom-header-server-validation", *BOTH]]
SCENARIOS += [(version, name) for version in (LEGACY, MODERN) for name in RICH]

# Those of the extension for tasks; the others want a tool that asks its client, which none of ours does.
TASKS = ["tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal",
         "tasks-request-headers", "tasks-dispatch-and-envelope", "tasks-required-task-error"]
SCENARIOS += [(MODERN, name) for name in TASKS]

# Checks that fail, by scenario: no tool of ours demands a capability of its client, which these want to see
# refused; and a tool that dies has a result with isError, as without tasks. What is an error of JSON-RPC, and so a
# failed task, test_mcp_tasks shows.
EXCEPTED = {"server-stateless": {"sep-2575-server-rejects-undeclared-capability",
                                 "sep-2575-missing-capability-http-400"},
            "tasks-lifecycle": {"sep-2663-tasks-get-status-failed"}}

# Checks for which the suite waits half a second, and one that needs a list of tools that stays as it is meanwhile: on
# a busy machine the tool that an earlier scenario adds may come so late. Then the scenario runs again.
HURRIED = {"server-stateless": {"sep-2575-http-server-no-independent-requests-on-stream",
                                "sep-2575-server-no-log-without-loglevel", "sep-2575-server-sends-subscription-ack",
                                "sep-2575-server-tags-subscription-id", "sep-2575-server-honors-notification-filter",
                                "sep-2575-server-sends-tools-list-changed-on-subscription"},
           "tools-list": {"tools-list-deterministic-order"}}
RUNS = 8

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
        "street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                   "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": False}
HEADER = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
NOTHING = {"type": "object", "additionalProperties": False}
# The other scenarios may see the tool that comes and goes: it has a description, too.
CHANGE = ('extra=${0%/*}/extra; if [ -e "$extra" ]; then rm "$extra" "$extra.json"; '
          'else cp "$0.json" "$extra.json"; cp "$0" "$extra"; fi')

# name: the line of the program, the schema of its arguments
PROGRAMS = {
    "test_simple_text": ("echo This is a simple text response for testing.", NOTHING),
    "test_error_handling": ("echo This tool intentionally returns an error >&2; exit 1", NOTHING),
    "test_logging_tool": ("echo it logs nothing", NOTHING),
    "test_streaming_elicitation": ("echo it asks nothing", NOTHING),
    "test_trigger_tool_change": (CHANGE, NOTHING),
    "test_headers": ("cat", HEADER),
    "json_schema_2020_12_tool": ("cat", SCHEMA),
}

IMAGE = {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
         "RU5ErkJggg==", "mimeType": "image/png"}
RESOURCE = {"type": "resource", "resource": {"uri": "test://resource", "mimeType": "text/plain", "text": "A text."}}
BLOCKS = {
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"}],
    "test_embedded_resource": [RESOURCE],
    "test_multiple_content_types": [{"type": "text", "text": "Several blocks"}, IMAGE, RESOURCE],
}


def blocks(folder):
    (folder / "rich.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": name, "description": f"For the scenarios of {name}.", "argument_schema": NOTHING,
         "command": {"argv": ["printf", "%s", json.dumps({"content": content})], "output": "content"}}
        for name, content in BLOCKS.items()]}))


def tasks(folder):
    """The tools of the scenarios of tasks. confirm_delete asks nobody: our questions are for the person at the device."""
    whole = {"type": "integer", "minimum": 0}
    hello = json.dumps({"content": [{"type": "text", "text": "Hello, NAME!"}]}).replace("NAME", "%s")
    text = {"type": "string"}
    tools = [("greet", {"name": text}, {"argv": ["printf", hello, "{name}"], "output": "content"}, "forbidden"),
             ("slow_compute", {"seconds": whole, "label": text}, {"argv": ["sleep", "{seconds}"]}, "optional"),
             ("confirm_delete", {"filename": text}, {"argv": ["true"]}, "optional"),
             ("failing_job", {}, {"shell": "echo it fails >&2; exit 1"}, "required"),
             ("protocol_error_job", {}, {"shell": "kill -9 $$"}, "optional")]
    (folder / "tasks.json").write_text(json.dumps({"kind": "command", "risk": "read", "limits": {"workers": 4}, "tools": [
        {"name": name, "description": f"For the scenarios of {name}.", "task": task, "command": command,
         "argument_schema": {"type": "object", "properties": properties}} for name, properties, command, task in tools]}))


def programs(folder):
    folder.mkdir(parents=True)
    for name, (line, schema) in PROGRAMS.items():
        definition = {"description": f"For the scenarios of {name}.", "risk": "read", "argument_schema": schema}
        (folder / f"{name}.json").write_text(json.dumps(definition))
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("conformance")
    folder = home / "toolbox.d"
    programs(folder / "conformance")
    blocks(folder)
    tasks(folder)
    started = Service("embedded", home, [folder, BUILD / "tests" / "toolboxes" / "stepping.d"],
                      args=["--http", "127.0.0.1:0"])
    with started:
        yield port_of(started.daemon)


@pytest.fixture(scope="module")
def suite():
    with Suite() as suite:
        yield suite


@pytest.mark.parametrize("version,scenario", SCENARIOS)
def test_scenario(suite, port, tmp_path, version, scenario):
    path = {"tools-call-with-progress": "/mcp"}.get(scenario, "/mcp/rich" if scenario in RICH
                                                          else "/mcp/tasks" if scenario in TASKS else "/mcp/conformance")
    excepted = EXCEPTED.get(scenario, set()) if version == MODERN else set()
    for number in range(RUNS):
        checks, printed = suite.run("server", version, scenario, tmp_path / str(number), "--url",
                                    f"http://127.0.0.1:{port}{path}", *(["--force"] if scenario in TASKS else []),
                                    seconds=SECONDS)
        bad = {check["id"]: check.get("errorMessage") for check in checks if check["status"] in ("FAILURE", "WARNING")}
        if not bad.keys() - excepted or bad.keys() - excepted - HURRIED.get(scenario, set()):
            break
    assert bad.keys() == excepted, (bad, printed)
    assert {check["status"] for check in checks} & {"SUCCESS", "INFO"}, checks
