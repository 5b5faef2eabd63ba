# SPDX-License-Identifier: Apache-2.0
"""The client: what it asks for, and what it makes of an answer, for threads and for asyncio."""
from __future__ import annotations

import asyncio
import itertools
import secrets
from concurrent.futures import Future
from typing import Any, AsyncIterator, Iterator, Mapping, Optional

from .address import check, default_url, read_token
from .errors import ToolboxdError
from .transport import Event, Json, Transport, open_transport


class _Client:
    """A client of the service at `url` (toolboxd/address.py has its forms; default: found by itself).

    `token`, or the file `token_file` with it, is for an HTTP door that wants one; `profile` narrows
    the tools to those of a profile; `session` is the session of its calls, which says who is asked
    when a call needs a person's approval. It connects when it is first used.
    """

    def __init__(self, url: Optional[str] = None, *, token: Optional[str] = None,
                 token_file: Optional[str] = None, profile: Optional[str] = None, session: str = "default"):
        self.url = url or default_url()
        if token_file and not token:
            token = read_token(token_file)
        check(self.url, token)
        self.profile = profile
        self._token, self._session = token, session
        self._transport: Transport = self._open()
        self._key = secrets.token_hex(6)
        self._ids = itertools.count(1)

    def _open(self) -> Transport:
        return open_transport(self.url, self._token, self._session)

    def _ask(self, topic: str, **data: Json) -> "Future[dict[str, Json]]":
        data["profile"] = self.profile
        return self._transport.ask(topic, {key: value for key, value in data.items() if value is not None})

    def _list(self, format: str, toolbox_id: Optional[str]) -> "Future[dict[str, Json]]":
        return self._ask("ovos.tools.list", format=format, toolbox_id=toolbox_id)

    def _search(self, query: str, limit: Optional[int], format: str,
                toolbox_id: Optional[str]) -> "Future[dict[str, Json]]":
        return self._ask("ovos.tools.search", query=query, limit=limit, format=format, toolbox_id=toolbox_id)

    def _get(self, name: str, toolbox_id: Optional[str]) -> "Future[dict[str, Json]]":
        return self._ask("ovos.tools.get", name=name, toolbox_id=toolbox_id)

    def _invoke(self, name: str, args: Mapping[str, Json], toolbox_id: Optional[str],
                timeout_ms: Optional[int]) -> "Future[dict[str, Json]]":
        return self._ask("ovos.tools.invoke", name=name, args=args, toolbox_id=toolbox_id,
                         timeout_ms=timeout_ms, call_id=f"{self._key}-{next(self._ids)}")


def _checked(answer: dict[str, Json]) -> dict[str, Json]:
    if "error" in answer:
        raise ToolboxdError(answer)
    return answer


class Toolboxd(_Client):
    __doc__ = _Client.__doc__

    def list(self, format: str = "compact", toolbox_id: Optional[str] = None) -> Any:
        """Return the tools: a list of definitions in `format` (full, compact, openai, anthropic, mcp), or
        the text of `markdown`."""
        return _checked(self._list(format, toolbox_id).result())["text" if format == "markdown" else "tools"]

    def search(self, query: str, limit: Optional[int] = None, format: str = "compact",
               toolbox_id: Optional[str] = None) -> Any:
        """Return the tools that fit the words of `query` best, as list() does: the best first, at most `limit`
        (1 to 50, by default 8)."""
        answer = _checked(self._search(query, limit, format, toolbox_id).result())
        return answer["text" if format == "markdown" else "tools"]

    def get(self, name: str, toolbox_id: Optional[str] = None) -> dict[str, Json]:
        """Return the definition of one tool."""
        return _checked(self._get(name, toolbox_id).result())

    def call(self, name: str, /, **args: Json) -> Any:
        """Run the tool `name`, and return its result. Raises ToolboxdError, Unreachable."""
        return self.invoke(name, args)

    def invoke(self, name: str, args: Mapping[str, Json], *, toolbox_id: Optional[str] = None,
               timeout_ms: Optional[int] = None) -> Any:
        """As call(), with the arguments in a mapping. `timeout_ms` may only shorten the tool's own time."""
        return _checked(self._invoke(name, args, toolbox_id, timeout_ms).result())["result"]

    def events(self) -> Iterator[Event]:
        """Yield what the service announces from now on: `changed`, and calls for an administrator."""
        return self._transport.events()

    def close(self) -> None:
        """Let go of every connection."""
        self._transport.close()

    def __enter__(self) -> "Toolboxd":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class AsyncToolboxd(_Client):
    __doc__ = (_Client.__doc__ or "") + "\n    Its methods are those of Toolboxd, for asyncio. Cancelling one cancels its call.\n"

    async def list(self, format: str = "compact", toolbox_id: Optional[str] = None) -> Any:
        answer = await asyncio.wrap_future(await self._begin(self._list, format, toolbox_id))
        return _checked(answer)["text" if format == "markdown" else "tools"]

    async def search(self, query: str, limit: Optional[int] = None, format: str = "compact",
                     toolbox_id: Optional[str] = None) -> Any:
        future = await self._begin(self._search, query, limit, format, toolbox_id)
        return _checked(await asyncio.wrap_future(future))["text" if format == "markdown" else "tools"]

    async def get(self, name: str, toolbox_id: Optional[str] = None) -> dict[str, Json]:
        return _checked(await asyncio.wrap_future(await self._begin(self._get, name, toolbox_id)))

    async def call(self, name: str, /, **args: Json) -> Any:
        return await self.invoke(name, args)

    async def invoke(self, name: str, args: Mapping[str, Json], *, toolbox_id: Optional[str] = None,
                     timeout_ms: Optional[int] = None) -> Any:
        future = await self._begin(self._invoke, name, args, toolbox_id, timeout_ms)
        return _checked(await asyncio.wrap_future(future))["result"]

    async def events(self) -> AsyncIterator[Event]:
        # A connection of their own: closing it is what ends the thread that reads.
        transport = self._open()
        events = transport.events()
        try:
            while True:
                yield await asyncio.to_thread(next, events)
        finally:
            transport.close()

    async def close(self) -> None:
        await asyncio.to_thread(self._transport.close)

    async def _begin(self, ask: Any, *args: Any) -> "Future[dict[str, Json]]":
        # Connecting, and a bus that takes nothing, may block: not the loop.
        return await asyncio.to_thread(ask, *args)

    async def __aenter__(self) -> "AsyncToolboxd":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()
