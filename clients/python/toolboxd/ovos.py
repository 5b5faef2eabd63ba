# SPDX-License-Identifier: Apache-2.0
"""The bridge: every tool of toolboxd as a ToolBox of OVOS, for personas and their reasoning loops.

    persona ─▶ loop ─▶ ToolboxdToolBox ─ list, invoke ─▶ toolboxd ─▶ MCP servers, C libraries, programs, …
                             ▲                              │
                             └── listed again ◀── changed ──┘

The settings stand in the loop's own section, by the name of the entry point:

    {"toolboxes": ["toolboxd"], "toolboxd": {"profile": "kitchen"}}
"""
from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from typing import Any, Optional, Union

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from ovos_utils.log import LOG
from pydantic import ConfigDict

from .client import Toolboxd
from .errors import ToolboxdError, Unreachable

SETTINGS = {"url", "token_file", "profile", "tools", "session"}
# The service is looked for at most so often while it is away.
AWAY_SECONDS = 5


def _qualified(entry: dict[str, Any]) -> str:
    return f"{entry['toolbox_id']}__{entry['name']}"


def _model(base: Any, schema: Any) -> Any:
    """Return a model that takes every object, and whose schema is `schema` as it came: the service
    checks arguments and results."""
    class Passed(base):
        model_config = ConfigDict(extra="allow", protected_namespaces=())

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Any:
            return schema

        def __str__(self) -> str:
            return _text(self.model_extra)

    return Passed


def _text(result: Any) -> str:
    """Return what a model reads of a result: the texts of rich content, else the members."""
    blocks = result.get("content") if isinstance(result, dict) else None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) and "type" in block for block in blocks):
        return " ".join(f"{key}={value!r}" for key, value in (result or {}).items())
    lines = []
    for block in blocks:
        if block["type"] == "text":
            lines.append(str(block.get("text", "")))
        elif block["type"] == "resource" and "text" in block.get("resource", {}):
            lines.append(str(block["resource"]["text"]))
        elif block["type"] == "resource_link":
            lines.append(f"{block.get('name', '')}: {block.get('uri', '')}")
        else:
            lines.append(f"({block['type']}: {block.get('mimeType', 'no type')})")
    return "\n".join(lines)


class ToolboxdToolBox(ToolBox):
    toolbox_id = "toolboxd"

    def __init__(self, config: Optional[dict[str, Any]] = None, bus: Any = None):
        if os.path.basename(getattr(sys.modules["__main__"], "__file__", None) or "") == "toolbox_python.py":
            raise RuntimeError("The bridge to toolboxd is not loaded by toolboxd: its tools would call themselves")
        config = config or {}
        unknown = sorted(set(config) - SETTINGS)
        if unknown:
            LOG.warning("toolboxd: unknown settings of the bridge: %s; it has %s",
                        ", ".join(unknown), ", ".join(sorted(SETTINGS)))
        self._names = config.get("tools")
        self._client = Toolboxd(config.get("url"), token_file=config.get("token_file"),
                                profile=config.get("profile"), session=config.get("session", "default"))
        self._lock = threading.RLock()
        self._away_until = 0.0
        self._was_away = False
        self._tools: dict[str, AgentTool] = {}
        super().__init__(self.toolbox_id, config, bus)
        threading.Thread(target=self._follow, name="toolboxd-bridge", daemon=True).start()

    # --- the list

    def discover_tools(self) -> list[AgentTool]:
        """Return the tools of the service. While it is away there are none, and one warning says so."""
        try:
            listed = self._client.list("full")
        except (ToolboxdError, Unreachable) as error:
            if not self._was_away:
                LOG.warning("toolboxd: no tools for now: %s", error)
            self._was_away = True
            self._away_until = time.monotonic() + AWAY_SECONDS
            return []
        if self._was_away:
            LOG.info("toolboxd: the tools are there: %d", len(listed))
        self._was_away = False
        counts = Counter(entry["name"] for entry in listed)
        return [self._tool(entry, counts[entry["name"]] > 1) for entry in listed if self._is_wanted(entry)]

    def _is_wanted(self, entry: dict[str, Any]) -> bool:
        return self._names is None or not {entry["name"], _qualified(entry)}.isdisjoint(self._names)

    def _tool(self, entry: dict[str, Any], is_shared: bool) -> AgentTool:
        """Return the tool, with its bare name unless other toolboxes have one of that name."""
        output = _model(ToolOutput, entry["output_schema"])

        def call(args: Any) -> Any:
            result = self._client.invoke(entry["name"], args.model_extra or {}, toolbox_id=entry["toolbox_id"])
            return output(**(result if isinstance(result, dict) else {"result": result}))

        return AgentTool(_qualified(entry) if is_shared else entry["name"], entry["description"],
                         _model(ToolArguments, entry["argument_schema"]), output, call)

    @property
    def tools(self) -> dict[str, AgentTool]:
        """The tools, as they were listed last; where there were none, as they are now."""
        with self._lock:
            if not self._tools and time.monotonic() >= self._away_until:
                self._away_until = time.monotonic() + AWAY_SECONDS
                self.refresh_tools()
            return self._tools

    @tools.setter
    def tools(self, tools: dict[str, AgentTool]) -> None:
        self._tools = tools

    def refresh_tools(self) -> None:
        tools = {tool.name: tool for tool in self.discover_tools()}
        with self._lock:
            self._tools = tools

    def _follow(self) -> None:
        """List the tools again when they change. A service that goes takes its tools along."""
        while True:
            try:
                for event in self._client.events():
                    if event.name == "changed":
                        self.refresh_tools()
            except (Unreachable, ToolboxdError):
                if self._client_is_closed():
                    return
            time.sleep(AWAY_SECONDS)
            self.refresh_tools()

    def _client_is_closed(self) -> bool:
        return getattr(self._client._transport, "is_closed", False)

    # --- calls

    def call_tool(self, name: str, tool_kwargs: Union[ToolArguments, dict[str, Any]]) -> ToolOutput:
        """Run a tool. What goes wrong is raised with the service's own words, for the model to read."""
        tool = self.get_tool(name)
        if tool is None:
            raise ValueError(f"Unknown tool '{name}' for ToolBox '{self.toolbox_id}'.")
        arguments = tool_kwargs if isinstance(tool_kwargs, ToolArguments) else tool.argument_schema(**tool_kwargs)
        try:
            return tool.tool_call(arguments)
        except (ToolboxdError, Unreachable) as error:
            raise RuntimeError(str(error)) from error

    def shutdown(self) -> None:
        """Let go of the service."""
        self._client.close()
