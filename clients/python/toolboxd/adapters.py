# SPDX-License-Identifier: Apache-2.0
"""Calls as models' interfaces have them. What fails becomes a text that the model reads."""
from __future__ import annotations

import json
from typing import Any, Mapping

from .client import Toolboxd
from .errors import ToolboxdError


def _run(tools: Toolboxd, name: str, args: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the text for the model, and whether the call failed."""
    try:
        return json.dumps(tools.invoke(name, args), ensure_ascii=False), False
    except ToolboxdError as error:
        return str(error), True


def openai_result(tools: Toolboxd, call: Any) -> dict[str, Any]:
    """Run a `tool_call` of OpenAI's chat completions (its object, or a mapping of the same members)."""
    call = call if isinstance(call, Mapping) else call.model_dump()
    try:
        args = json.loads(call["function"]["arguments"] or "{}")
    except ValueError as error:
        text = f"The arguments are no JSON: {error}"
    else:
        text, _ = _run(tools, call["function"]["name"], args)
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def anthropic_result(tools: Toolboxd, block: Any) -> dict[str, Any]:
    """Run a block `tool_use` of Anthropic's messages: return the block `tool_result`."""
    block = block if isinstance(block, Mapping) else block.model_dump()
    text, is_error = _run(tools, block["name"], block["input"])
    return {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": is_error}


def langchain_tools(tools: Toolboxd) -> list[Any]:
    """Return the tools as LangChain's StructuredTool, with their JSON schemas as they are."""
    from langchain_core.tools import StructuredTool, ToolException

    def made(entry: Mapping[str, Any]) -> Any:
        def run(**args: Any) -> Any:
            try:
                return tools.invoke(entry["name"], args)
            except ToolboxdError as error:
                raise ToolException(str(error)) from error

        return StructuredTool(name=entry["name"], description=entry.get("description", ""), func=run,
                              args_schema=entry["parameters"], handle_tool_error=True)

    return [made(entry) for entry in tools.list("compact")]
