# SPDX-License-Identifier: Apache-2.0
"""The tools of eleven servers, as toolboxes of programs that give back their arguments: tests/search/servers.json.

    {SERVER: {"about": TEXT, "tools": {TOOL: [DESCRIPTION, {PARAMETER, or PARAMETER?: "TYPE: DESCRIPTION"}]}}}
"""
import json

from processes import ROOT

SERVERS = json.loads((ROOT / "tests" / "search" / "servers.json").read_text())


def schema(parameters):
    properties = {}
    for name, text in parameters.items():
        kind, _, description = text.partition(": ")
        properties[name.removesuffix("?")] = {"type": kind, **({"description": description} if description else {})}
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": [name for name in parameters if not name.endswith("?")]}


def write(folder, **more):
    """Write a manifest for each server; more is added to each tool."""
    folder.mkdir(exist_ok=True)
    for server, box in SERVERS.items():
        (folder / f"{server}.json").write_text(json.dumps({
            "kind": "command", "risk": "read", "description": box["about"], "tools": [
                {"name": name, "description": description, "argument_schema": schema(parameters),
                 "command": {"shell": "cat", "output": "json"}, **more}
                for name, (description, parameters) in box["tools"].items()]}))
    return folder
