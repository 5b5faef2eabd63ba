# SPDX-License-Identifier: Apache-2.0
"""What the conformance suite of MCP starts as a client: toolboxd, with the server of the suite as a toolbox.

    python3 suite_client.py URL

Calls what the suite names, else each tool once, without arguments that are null.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

from caller import Caller
from processes import EVENT_SECONDS, Daemon, until

VALUES = {"string": "a text", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}


def arguments(schema):
    """Some for each property that is required."""
    properties = schema.get("properties", {})
    return {name: VALUES[properties.get(name, {}).get("type", "string")] for name in schema.get("required", [])}


def calls(tools):
    """[(name, arguments)]"""
    named = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls")
    if named:
        return [(call["name"], {name: value for name, value in call["arguments"].items() if value is not None})
                for call in named]
    schemas = {tool["name"]: tool["argument_schema"] for tool in tools}
    found = [(name, arguments(schema)) for name, schema in schemas.items()]
    # One tool is sent the schema of the other.
    return [(name, {"schema": schemas["json_schema_2020_12_tool"]} if name == "json_schema_echo" else args)
            for name, args in found]


def asked(caller):
    """Whether the server was asked for its tools, with any outcome."""
    status = caller.call("ovos.tools.status")
    return status["toolboxes"] or status["failed"] or [
        one for one in status["not_offered"] if one["why"] != "its server is being asked for its tools"]


def main():
    home = Path(tempfile.mkdtemp(dir=os.environ["SUITE_CLIENT_HOME"]))
    folder = home / "toolbox.d"
    folder.mkdir()
    (folder / "suite.json").write_text(json.dumps(
        {"kind": "mcp", "risk": "write", "mcp": {"url": sys.argv[1]}}))
    daemon = Daemon(home / "toolboxd", [folder])
    try:
        with Caller(daemon.url) as caller:
            until(lambda: asked(caller), EVENT_SECONDS, "the server asked")
            for name, args in calls(caller.call("ovos.tools.list")["tools"]):
                print(name, args, caller.invoke(name, args, toolbox_id="suite", seconds=EVENT_SECONDS))
            print(caller.call("ovos.tools.status")["failed"])
    finally:
        daemon.end()
        print(daemon.log())


if __name__ == "__main__":
    main()
