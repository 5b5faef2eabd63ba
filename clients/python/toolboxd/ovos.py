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
from .transport import dumps

SETTINGS = {"url", "token_file", "profile", "tools", "session", "lazy"}
# The most tools that `"lazy": "auto"` lists, and the toolboxes that a lazy list names.
LAZY_OVER = 64
LAZY_TOOLBOXES = 32
# The service is looked for so often while it is away.
AWAY_SECONDS = 5
# The tools are listed at most so often: any client of the bus can announce changes.
RENEW_SECONDS = 1


def _qualified(entry: dict[str, Any]) -> str:
    return f"{entry['toolbox_id']}__{entry['name']}"


def _model(base: Any, schema: Any) -> Any:
    """Return a model that takes every object, and whose schema is `schema` as it came: the service
    checks arguments and results."""
    class Passed(base):
        # Most tools of a list are never called: pydantic builds what it needs for a call at the first one.
        model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

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


def _own(name: str, description: str, run: Any, properties: Any, required: list[str]) -> AgentTool:
    """Return a tool of the bridge itself. Its result is JSON, or the result of the tool that it has called."""
    output = _model(ToolOutput, {"type": "object"})

    def call(args: Any) -> Any:
        given = {key: value for key, value in (args.model_extra or {}).items() if key in properties}
        missing = [key for key in required if not isinstance(given.get(key), str)]
        if missing:
            raise ValueError(f"{name} needs {missing[0]}, a text")
        result = run(**given)
        if isinstance(result, ToolOutput):
            return result
        return output(content=[{"type": "text", "text": dumps(result)}])

    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return AgentTool(name, description, _model(ToolArguments, schema), output, call)


class ToolboxdToolBox(ToolBox):
    toolbox_id = "toolboxd"

    def __init__(self, config: Optional[dict[str, Any]] = None, bus: Any = None, toolbox_id: Optional[str] = None):
        if os.path.basename(getattr(sys.modules["__main__"], "__file__", None) or "") == "toolbox_python.py":
            raise RuntimeError("The bridge to toolboxd is not loaded by toolboxd: its tools would call themselves")
        config = config or {}
        if "handlers" in config or "solvers" in config:
            config = {}  # the whole persona, as ovos-persona-server gives it to a ToolBox without a section
        unknown = sorted(set(config) - SETTINGS)
        if unknown:
            LOG.warning("toolboxd: unknown settings of the bridge: %s; it has %s",
                        ", ".join(unknown), ", ".join(sorted(SETTINGS)))
        self._names = config.get("tools")
        self._lazy = config.get("lazy", False)
        if self._lazy not in (False, True, "auto"):
            raise ValueError(f"The setting `lazy` must be true, false or \"auto\", not {self._lazy!r}")
        self._all: dict[str, AgentTool] = {}
        self._called: dict[tuple[str, str], str] = {}
        self._client = Toolboxd(config.get("url"), token_file=config.get("token_file"),
                                profile=config.get("profile"), session=config.get("session", "default"))
        self._lock = threading.Lock()
        self._listed_at = 0.0
        self._is_renewing = False
        self._is_closed = False
        self._said: Optional[str] = None
        super().__init__(toolbox_id or self.toolbox_id, config, bus)
        if self._is_away():
            self._renew_in(AWAY_SECONDS)
        threading.Thread(target=self._follow, name="toolboxd-bridge", daemon=True).start()

    # --- the list

    def discover_tools(self) -> list[AgentTool]:
        """Return the tools of the service. While it is away there are none, and one warning says so."""
        self._listed_at = time.monotonic()
        try:
            listed = self._client.list("full")
        except (ToolboxdError, Unreachable) as error:
            self._warn(f"no tools for now: {error}")
            return []
        wanted = [entry for entry in listed if self._is_wanted(entry)]
        if wanted:
            if self._is_away():
                LOG.info("toolboxd: the tools are there: %d", len(wanted))
            self._said = None
        else:
            self._warn("the service is there, and has no tool for this persona: see its profile, and the settings "
                       "`profile` and `tools` of the bridge")
        counts = Counter(entry["name"] for entry in listed)
        tools = [self._tool(entry, counts[entry["name"]] > 1) for entry in wanted]
        self._all = {tool.name: tool for tool in tools}
        self._called = {(entry["toolbox_id"], entry["name"]): tool.name for entry, tool in zip(wanted, tools)}
        if tools and (self._lazy is True or (self._lazy == "auto" and len(tools) > LAZY_OVER)):
            return self._trio()
        return tools

    def _warn(self, words: str) -> None:
        """Say once why there are no tools."""
        if words != self._said:
            LOG.warning("toolboxd: %s", words)
        self._said = words

    def _is_away(self) -> bool:
        return self._said is not None

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

    # --- three tools in place of many, as at the door of MCP (contract.md, Command lines)

    def _trio(self) -> list[AgentTool]:
        boxes = sorted({toolbox_id for toolbox_id, _ in self._called})
        more = f" and {len(boxes) - LAZY_TOOLBOXES} more" if len(boxes) > LAZY_TOOLBOXES else ""
        name = {"type": "string"}
        return [
            _own("search_tools", f"Find the tools for a task among {len(self._all)}. The answer has the names, "
                 "descriptions and arguments of the tools that fit best; then use call_tool. Their toolboxes: "
                 f"{', '.join(boxes[:LAZY_TOOLBOXES])}{more}.", self._find,
                 {"query": {"type": "string", "description": "What you want to do, in a few words."},
                  "limit": {"type": "integer", "minimum": 1, "maximum": 50}}, ["query"]),
            _own("get_tool", "Get the whole definition of a tool that search_tools has found.", self._describe,
                 {"name": name}, ["name"]),
            _own("call_tool", "Call a tool that search_tools has found.", self._run,
                 {"name": name, "arguments": {"type": "object"}}, ["name"])]

    def _find(self, query: str, limit: Any = None) -> Any:
        found = self._client.search(query, 50 if self._names else limit, "full")
        names = [self._called.get((entry["toolbox_id"], entry["name"])) for entry in found]
        shown = [{"name": name, "description": entry["description"], "inputSchema": entry["argument_schema"]}
                 for name, entry in zip(names, found) if name]
        return {"tools": shown[:limit or 8]}

    def _describe(self, name: str) -> Any:
        tool = self._known(name)
        return {"name": tool.name, "description": tool.description,
                "inputSchema": tool.argument_schema.model_json_schema(),
                "outputSchema": tool.output_schema.model_json_schema()}

    def _run(self, name: str, arguments: Any = None) -> Any:
        tool = self._known(name)
        return tool.tool_call(tool.argument_schema(**(arguments or {})))

    def _known(self, name: str) -> AgentTool:
        tool = self._all.get(name)
        if tool is None:
            raise ValueError(f"Unknown tool {name!r}: search_tools has the names")
        return tool

    def get_tool(self, name: str) -> Optional[AgentTool]:
        """Return a tool: of the list, or in a lazy list any other by its own name."""
        return super().get_tool(name) or self._all.get(name)

    def refresh_tools(self) -> None:
        """List the tools again. While there are none, a model that invents names makes nobody wait for this."""
        if not self._is_away() or time.monotonic() - self._listed_at >= AWAY_SECONDS:
            self._renew()

    def _renew(self) -> None:
        self.tools = {tool.name: tool for tool in self.discover_tools()}
        if self._is_away():
            self._renew_in(AWAY_SECONDS)

    def _renew_in(self, seconds: float) -> None:
        """List the tools in so many seconds, unless that is about to happen."""
        def work() -> None:
            self._is_renewing = False
            if not self._is_closed:
                self._renew()

        with self._lock:
            if self._is_renewing or self._is_closed:
                return
            self._is_renewing = True
        timer = threading.Timer(seconds, work)
        timer.daemon = True
        timer.start()

    def _follow(self) -> None:
        """List the tools again when they change. A service that goes takes its tools along."""
        while not self._is_closed:
            try:
                for event in self._client.events():
                    if event.name in ("changed", "lost"):
                        self._renew_in(max(0.0, self._listed_at + RENEW_SECONDS - time.monotonic()))
            except (Unreachable, ToolboxdError):
                self._renew_in(0)
            time.sleep(AWAY_SECONDS)

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
        self._is_closed = True
        self._client.close()
