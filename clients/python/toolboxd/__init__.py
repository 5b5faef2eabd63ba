# SPDX-License-Identifier: Apache-2.0
"""The tools of toolboxd: list them, call them, hear what changes.

    from toolboxd import Toolboxd

    with Toolboxd() as tools:
        print(tools.call("add", a=3, b=4))        # {'result': 7}

Without a URL the client finds the service by itself: its Unix socket, else the message bus of
mycroft.conf. `AsyncToolboxd` has the same methods for asyncio.
"""
from .client import AsyncToolboxd, Toolboxd
from .errors import ToolboxdError, Unreachable
from .guest import serve, serve_async, serve_in_thread
from .tools import tool
from .transport import Event

__all__ = ["AsyncToolboxd", "Event", "Toolboxd", "ToolboxdError", "Unreachable", "serve", "serve_async",
           "serve_in_thread", "tool"]
