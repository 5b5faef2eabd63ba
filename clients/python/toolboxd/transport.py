# SPDX-License-Identifier: Apache-2.0
"""What carries requests: HTTP or the message bus, with one interface.

    ask(topic, data)  ─▶ Future of the data of the response      any number at once
    events()          ─▶ iterator of Event, until close()

The topics are those of the bus (contract.md, Requests); over HTTP each has its route.
"""
from __future__ import annotations

import json
from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import Any, Iterator, Mapping, NamedTuple, Optional

Json = Any
Answer = "Future[dict[str, Json]]"


class Event(NamedTuple):
    """What the service announces: `changed`, and what its caller may hear beside."""
    name: str
    data: Mapping[str, Json]


class Transport(ABC):
    @abstractmethod
    def ask(self, topic: str, data: Mapping[str, Json]) -> "Future[dict[str, Json]]":
        """Send a request. The future has the data of the response, or Unreachable. Cancelling the future
        cancels the call."""

    @abstractmethod
    def events(self) -> Iterator[Event]:
        """Yield what is announced from now on. Raises Unreachable when the service goes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of every connection. What waits for an answer gets Unreachable."""


def dumps(value: Json) -> str:
    """Return `value` as JSON. What JSON does not have (NaN) is refused here, with a reason."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def open_transport(url: str, token: Optional[str], session: str) -> Transport:
    from .address import is_bus
    if is_bus(url):
        from .bus import Bus
        return Bus(url, session)
    from .http import Http
    return Http(url, token, session)
