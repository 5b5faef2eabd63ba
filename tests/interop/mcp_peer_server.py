# SPDX-License-Identifier: Apache-2.0
"""A server of FastMCP or of the SDK for Python, for test_mcp_peers: over stdio, or over HTTP on a port.

    python3 mcp_peer_server.py fastmcp|sdk [PORT]
"""
import asyncio
import os
import sys
from pathlib import Path

import mcp_types

if sys.argv[1] == "fastmcp":
    from fastmcp import Context, FastMCP as Server
else:
    from mcp.server.mcpserver import Context, MCPServer as Server

server = Server("peer")
GROWN = Path(os.environ["GROWN"])


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def fail(why: str) -> str:
    raise ValueError(why)


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    for step in range(1, 5):
        await context.report_progress(step, 4)
        await asyncio.sleep(seconds / 4)
    return "done"


def grown() -> str:
    return "grown"


@server.tool()
async def grow(context: Context) -> str:
    """Have one tool more, also in the next process, and notify of that."""
    GROWN.touch()
    server.tool()(grown)
    if sys.argv[1] == "fastmcp":
        await context.send_notification(mcp_types.ToolListChangedNotification())
    else:
        await context.notify_tools_changed()
    return "more"


if GROWN.exists():
    server.tool()(grown)
if len(sys.argv) == 2:
    server.run("stdio")
else:
    name = "http" if sys.argv[1] == "fastmcp" else "streamable-http"
    server.run(name, host="127.0.0.1", port=int(sys.argv[2]))
