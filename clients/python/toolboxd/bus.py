# SPDX-License-Identifier: Apache-2.0
"""Requests over the message bus, by the websocket library that is installed.

    ask ─▶ {"type": TOPIC, "data": …, "context": {"toolboxd_client": KEY-N, …}} ─▶ bus
    bus ─▶ every frame of everybody ─ holds KEY? ─ no ─▶ dropped unread
                                           └ yes ─▶ its context has KEY-N ─▶ the future N

The service returns a context as it came, so a response is known by KEY, which nobody else has.
"""
from __future__ import annotations

import json
import queue
import secrets
import threading
import time
from concurrent.futures import Future
from typing import Any, Iterator, Mapping, Optional

from .errors import Unreachable
from .transport import Event, Json, Transport, dumps

CONNECT_SECONDS = 5
# After so long without an answer the service is asked whether it is there; after twice as long it is not.
SILENCE_SECONDS = 5
LOOK_SECONDS = 0.5
FRAME_BYTES = 16 << 20
# Events that wait for a listener; what comes beyond is lost: any client of the bus can write them.
UNREAD_MAX = 64
ANNOUNCED = {"ovos.tools.changed": "changed"}


def _connect(url: str) -> Any:
    """Return a websocket with send(text), recv() and close(), by either library."""
    try:
        from websockets.sync.client import connect
        # Versions differ in whether connect() or what it makes has to be entered: either may be.
        return connect(url, open_timeout=CONNECT_SECONDS, max_size=FRAME_BYTES).__enter__()
    except ImportError:
        pass
    try:
        from websocket import create_connection  # comes with ovos-bus-client
    except ImportError:
        raise Unreachable(f"{url} needs a websocket library: pip install 'toolboxd[bus]', "
                          "or give the address of toolboxd's HTTP door, which needs none") from None
    socket = create_connection(url, timeout=CONNECT_SECONDS)
    socket.settimeout(None)
    return socket


def receive(socket: Any) -> str:
    """Return the next frame of `_connect`'s websocket. Any client of the bus may send an empty one; the
    end of the connection raises."""
    frame = socket.recv()
    return frame if isinstance(frame, str) else frame.decode(errors="replace")


def parse(text: str) -> Optional[dict[str, Any]]:
    """Return the message in the frame `text`, or None: any client of the bus may send what is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and isinstance(message.get("type"), str) else None


class Bus(Transport):
    def __init__(self, url: str, session: str):
        self.url = url
        self.key = secrets.token_hex(8)
        self.context = {"source": "toolboxd_client", "session": {"session_id": session}}
        self.lock = threading.Lock()
        self.sending = threading.Lock()
        self.socket: Optional[Any] = None
        self.waiting: dict[str, _Ask] = {}
        self.listeners: list["queue.SimpleQueue[Optional[Event]]"] = []
        self.n = 0
        self.heard_at = 0.0
        self.is_closed = False

    # --- the connection

    def _connected(self) -> Any:
        with self.lock:
            if self.is_closed:
                raise Unreachable("The client is closed")
            if self.socket is None:
                try:
                    self.socket = _connect(self.url)
                except Unreachable:
                    raise
                except Exception as error:  # each library has errors of its own
                    raise Unreachable(f"There is no message bus at {self.url}: {error}") from error
                for work in (self._read, self._watch):
                    threading.Thread(target=work, args=(self.socket,), name="toolboxd-bus", daemon=True).start()
            return self.socket

    def _read(self, socket: Any) -> None:
        try:
            while True:
                self._take(receive(socket))
        except Exception as error:  # each library has errors of its own
            self._lose(socket, f"The message bus at {self.url} went away: {error}")

    def _lose(self, socket: Any, reason: str) -> None:
        with self.lock:
            if self.socket is not socket:
                return
            self.socket = None
            lost, self.waiting = list(self.waiting.values()), {}
            listeners, self.listeners = self.listeners, []
        for ask in lost:
            ask.finish(Unreachable(reason))
        for listener in listeners:
            listener.put(None)
        socket.close()

    def _take(self, text: str) -> None:
        is_ours = self.key in text
        if not is_ours and not (self.listeners and any(topic in text for topic in ANNOUNCED)):
            return
        message = parse(text)
        if message is None:
            return
        topic, data, context = message["type"], message.get("data"), message.get("context")
        if is_ours and topic.endswith(".response"):
            with self.lock:
                ask = self.waiting.pop(_name_in(context), None)
                self.heard_at = time.monotonic()
            if ask:
                ask.finish(data if isinstance(data, dict) else
                           Unreachable(f"The response on the message bus at {self.url} has no data"))
        elif topic in ANNOUNCED:
            for listener in list(self.listeners):
                if listener.qsize() < UNREAD_MAX:
                    listener.put(Event(ANNOUNCED[topic], data if isinstance(data, dict) else {}))

    def send(self, topic: str, data: Mapping[str, Json], name: Optional[str] = None) -> None:
        context = dict(self.context)
        if name:
            context["toolboxd_client"] = name
        text = dumps({"type": topic, "data": data, "context": context})
        socket = self._connected()
        try:
            with self.sending:
                socket.send(text)
        except Exception as error:  # each library has errors of its own
            self._lose(socket, f"The message bus at {self.url} went away: {error}")
            raise Unreachable(f"The message bus at {self.url} went away: {error}") from error

    # --- requests

    def ask(self, topic: str, data: Mapping[str, Json]) -> "Future[dict[str, Json]]":
        ask = _Ask(self, data.get("call_id"))
        with self.lock:
            self.n += 1
            name = f"{self.key}-{self.n}"
            self.waiting[name] = ask
        try:
            self.send(topic, data, name)
        except Exception as error:
            with self.lock:
                self.waiting.pop(name, None)
            ask.finish(error)
        return ask

    def forget(self, cancelled: "_Ask") -> None:
        """Nobody waits for this answer any more: end its call."""
        with self.lock:
            self.waiting = {name: ask for name, ask in self.waiting.items() if ask is not cancelled}
        if cancelled.call_id:
            try:
                self.send("ovos.tools.cancel", {"call_id": cancelled.call_id})
            except Unreachable:
                pass  # the call ends with its connection

    def _watch(self, socket: Any) -> None:
        """Find out whether there is a service at all: on a bus without one nobody answers."""
        probe: Optional[Future[Any]] = None
        while self.socket is socket:
            time.sleep(LOOK_SECONDS)
            with self.lock:
                waiting = [ask for ask in self.waiting.values() if ask is not probe]
                since = max(self.heard_at, min((ask.since for ask in waiting), default=time.monotonic()))
            if not waiting or time.monotonic() - since < SILENCE_SECONDS or (probe and probe.done()):
                probe = None
            elif probe is None:
                probe = self.ask("mycroft.toolboxd.is_alive", {})
            elif time.monotonic() - since >= 2 * SILENCE_SECONDS:
                self._give_up(waiting)
                probe = None

    def _give_up(self, waiting: "list[_Ask]") -> None:
        with self.lock:
            self.waiting = {name: ask for name, ask in self.waiting.items() if ask not in waiting}
        for ask in waiting:
            ask.finish(Unreachable(f"Nobody answers tool requests on the message bus at {self.url}: "
                                   "is toolboxd running?"))

    def events(self) -> Iterator[Event]:
        self._connected()
        heard: "queue.SimpleQueue[Optional[Event]]" = queue.SimpleQueue()
        self.listeners.append(heard)
        try:
            while True:
                event = heard.get()
                if event is None:
                    raise Unreachable(f"The message bus at {self.url} went away")
                yield event
        finally:
            # Whoever stops listening leaves no queue that grows.
            with self.lock:
                self.listeners = [other for other in self.listeners if other is not heard]

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            socket = self.socket
        if socket is not None:
            self._lose(socket, "The client is closed")


def _name_in(context: Any) -> Optional[str]:
    """Return the name of the request that a response answers. Any client of the bus writes contexts."""
    name = context.get("toolboxd_client") if isinstance(context, dict) else None
    return name if isinstance(name, str) else None


class _Ask(Future):  # type: ignore[type-arg]
    """A request that waits for its response."""

    def __init__(self, bus: Bus, call_id: Optional[str]):
        super().__init__()
        self.bus = bus
        self.call_id = call_id
        self.since = time.monotonic()
        self.guard = threading.RLock()

    def finish(self, answer: Any) -> None:
        with self.guard:
            if self.done():
                return
            if isinstance(answer, BaseException):
                self.set_exception(answer)
            else:
                self.set_result(answer)

    def cancel(self) -> bool:
        with self.guard:
            is_cancelled = super().cancel()
        if is_cancelled:
            self.bus.forget(self)
        return is_cancelled
