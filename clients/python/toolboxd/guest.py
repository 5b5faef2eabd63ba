# SPDX-License-Identifier: Apache-2.0
"""Tools from a running program: a guest of toolboxd.

    @tool ─ annotations, docstring ─▶ definitions ─ ovos.tools.register ─▶ toolboxd
                                                                             │
    function ◀─ thread, or task of asyncio ◀─ ovos.tools.guest.call ─────────┘
        └─ result, or exception ─▶ ovos.tools.guest.call.response

    from toolboxd import serve, tool

    @tool(risk="read")
    def add(a: int, b: int = 1) -> int:
        '''Add two numbers.'''
        return a + b

    serve("sums")

The service has to take guests (`guests.enabled`). The registration is renewed before its lease is over,
and made again after the bus was away.
"""
from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import secrets
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Mapping, Optional

from .address import bus_url
from .bus import _connect, parse, receive
from .errors import ToolboxdError, Unreachable
from .tools import TOOLS, Tool, write
from .transport import dumps

LOG = logging.getLogger("toolboxd.guest")

REGISTER, UNREGISTER = "ovos.tools.register", "ovos.tools.unregister"
CALL, CANCEL = "ovos.tools.guest.call", "ovos.tools.guest.cancel"
PROGRESS = "ovos.tools.guest.progress"

# The calls that run at a time in threads; further ones wait for one of them.
WORKERS = 32
BACKOFF_FIRST_SECONDS, BACKOFF_LAST_SECONDS = 0.5, 30
# How long an answer to a registration is waited for, and the pause after one that is busy.
ANSWER_SECONDS, BUSY_SECONDS = 10, 1

_call: "contextvars.ContextVar[Optional[_Call]]" = contextvars.ContextVar("toolboxd_guest_call", default=None)


# --- the bus


class _Websocket:
    """The bus at a URL."""

    def __init__(self, url: str):
        self.url = url
        self.socket: Any = None
        self.sending = threading.Lock()

    def run(self, opened: Callable[[], None], take: "Callable[[dict[str, Any]], None]") -> None:
        """Serve one connection until it ends, which raises."""
        self.socket = socket = _connect(self.url)
        opened()
        while True:
            text = receive(socket)
            message = parse(text) if "ovos.tools." in text else None
            if message:
                take(message)

    def send(self, topic: str, data: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        socket = self.socket
        if socket is None:
            raise Unreachable(f"The bus at {self.url} is away")
        text = dumps({"type": topic, "data": data, "context": context})
        with self.sending:
            socket.send(text)

    def close(self) -> None:
        socket, self.socket = self.socket, None
        if socket is not None:
            socket.close()


class _OvosBus:
    """A bus client of OVOS, which connects by itself."""

    url = "the given bus client"

    def __init__(self, bus: Any):
        from ovos_bus_client.message import Message  # type: ignore[import-not-found,unused-ignore]
        self.bus, self.message = bus, Message
        self.ended = threading.Event()
        self.handlers: "list[tuple[str, Callable[[Any], None]]]" = []

    def run(self, opened: Callable[[], None], take: "Callable[[dict[str, Any]], None]") -> None:
        def pass_on(message: Any) -> None:
            take({"type": message.msg_type, "data": message.data, "context": message.context})

        for topic in (CALL, CANCEL, REGISTER + ".response"):
            self.handlers.append((topic, pass_on))
            self.bus.on(topic, pass_on)
        opened()
        self.ended.wait()
        raise ConnectionError("it was closed")

    def send(self, topic: str, data: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        self.bus.emit(self.message(topic, dict(data), dict(context)))

    def close(self) -> None:
        for topic, handler in self.handlers:
            self.bus.remove(topic, handler)
        self.handlers.clear()
        self.ended.set()


# --- calls


class _Call:
    def __init__(self, guest: "Guest", call_id: str):
        self.guest, self.call_id = guest, call_id
        self.is_cancelled = threading.Event()
        self.running: "Optional[Future[Any]]" = None


def report(progress: Optional[float] = None, text: Optional[str] = None) -> None:
    """Report the progress of the call that runs this function."""
    call = _call.get()
    if call:
        data = {"call_id": call.call_id, "progress": progress, "text": text}
        call.guest._send(PROGRESS, {key: value for key, value in data.items() if value is not None})


def is_cancelled() -> bool:
    """Return whether the call that runs this function is over without it."""
    call = _call.get()
    return bool(call) and call.is_cancelled.is_set()  # type: ignore[union-attr]


class Guest:
    """Tools that are offered while this object is open."""

    def __init__(self, toolbox_id: str, *, url: Optional[str] = None, bus: Any = None, description: str = "",
                 lease_s: int = 60, source: Optional[str] = None,
                 loop: Optional[asyncio.AbstractEventLoop] = None):
        self.toolbox_id, self.lease_s = toolbox_id, lease_s
        # A program that starts again is the same guest.
        self.source = source or f"guest:{toolbox_id}"
        self.tools = {one.name: one for one in TOOLS}
        self.registration: dict[str, Any] = {
            "toolbox_id": toolbox_id, "lease_s": lease_s,
            **({"description": description} if description else {}),
            "tools": [one.definition for one in self.tools.values()]}
        self.link: Any = _OvosBus(bus) if bus is not None else _Websocket(url or bus_url())
        self.loop = loop
        self.key = secrets.token_hex(8)
        self.n_asked = 0
        self.error: Optional[BaseException] = None
        self.registered = threading.Event()
        self.closed = threading.Event()
        self.woken = threading.Event()
        self.is_open = False
        self.asked_at = 0.0
        self.renew_at = 0.0
        self.lock = threading.Lock()
        self.calls: dict[str, _Call] = {}
        self.pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="toolboxd-guest")
        for work in (self._connect, self._renew):
            threading.Thread(target=work, name="toolboxd-guest", daemon=True).start()

    # --- the registration

    def _connect(self) -> None:
        pause = BACKOFF_FIRST_SECONDS
        while not self.closed.is_set():
            begun = time.monotonic()
            try:
                self.link.run(self._opened, self._take)
            except Exception as error:  # each library has errors of its own
                if self.closed.is_set():
                    return
                LOG.warning("The bus at %s is away: %s", self.link.url, error)
            self.is_open = False
            self.registered.clear()
            self._cancel_all()
            pause = BACKOFF_FIRST_SECONDS if time.monotonic() - begun > BACKOFF_LAST_SECONDS else pause
            self.closed.wait(pause)
            pause = min(2 * pause, BACKOFF_LAST_SECONDS)

    def _opened(self) -> None:
        if self.closed.is_set():
            self.link.close()  # it was closed before there was a connection
        self.is_open, self.renew_at = True, 0.0
        self.woken.set()

    def _renew(self) -> None:
        """Register when it is due: at once after a connection, and thrice in a lease."""
        while not self.closed.is_set():
            now = time.monotonic()
            if self.is_open and now >= self.renew_at:
                self.asked_at, self.renew_at = now, now + min(self.lease_s / 3, ANSWER_SECONDS)
                self.n_asked += 1
                self._send(REGISTER, self.registration, {"toolboxd_guest": f"{self.key}-{self.n_asked}"})
            self.woken.wait(max(0.05, self.renew_at - now) if self.is_open else None)
            self.woken.clear()

    def _answered(self, data: Mapping[str, Any]) -> None:
        if data.get("registered") is True:
            self.renew_at = time.monotonic() + self.lease_s / 3
            self.registered.set()
        elif data.get("code") in ("busy", "unavailable"):
            self.renew_at = time.monotonic() + BUSY_SECONDS
        else:
            self.error = ToolboxdError(data)
            LOG.error("The tools of %s are not taken: %s", self.toolbox_id, self.error)
            self._end()
        self.woken.set()

    # --- messages

    def _send(self, topic: str, data: Mapping[str, Any], more: "Optional[Mapping[str, Any]]" = None) -> None:
        context = {"source": self.source, "session": {"session_id": "default"}, **(more or {})}
        try:
            self.link.send(topic, data, context)
        except Exception as error:  # each library has errors of its own
            LOG.debug("%s was not sent: %s", topic, error)

    def _take(self, message: "dict[str, Any]") -> None:
        topic, data, context = message.get("type"), message.get("data"), message.get("context")
        if not isinstance(data, dict) or not isinstance(context, dict):
            return
        if topic == REGISTER + ".response":
            if context.get("toolboxd_guest") == f"{self.key}-{self.n_asked}":
                self._answered(data)
        elif context.get("source") != "toolboxd" or context.get("destination") != self.source:
            return
        elif topic == CALL and data.get("toolbox_id") == self.toolbox_id and isinstance(data.get("call_id"), str):
            self._begin(data["call_id"], data.get("name"), data.get("args"))
        elif topic == CANCEL:
            self._cancel(data.get("call_id"))

    def _begin(self, call_id: str, name: Any, args: Any) -> None:
        found = self.tools.get(name) if isinstance(name, str) else None
        if not found or not isinstance(args, dict):
            self._respond(call_id, error=f"There is no tool {name!r} here")
            return
        call = _Call(self, call_id)
        with self.lock:
            if self.closed.is_set() or call_id in self.calls:
                return
            self.calls[call_id] = call
        if inspect.iscoroutinefunction(found.function):
            call.running = asyncio.run_coroutine_threadsafe(self._run_task(call, found, args), self._own_loop())
        else:
            call.running = self.pool.submit(self._run, call, found, args)
        call.running.add_done_callback(lambda done: self._finish(call, done))

    def _run(self, call: _Call, found: Tool, args: "dict[str, Any]") -> Any:
        _call.set(call)
        return None if call.is_cancelled.is_set() else write(found.function(**found.read(args)))

    async def _run_task(self, call: _Call, found: Tool, args: "dict[str, Any]") -> Any:
        _call.set(call)
        return write(await found.function(**found.read(args)))

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        """Tasks run in the loop of serve_async, else in a thread of their own."""
        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.loop.run_forever, name="toolboxd-guest-tasks", daemon=True).start()
            return self.loop

    def _finish(self, call: _Call, done: "Future[Any]") -> None:
        with self.lock:
            is_wanted = self.calls.pop(call.call_id, None) is call
        if not is_wanted or call.is_cancelled.is_set() or done.cancelled():
            return
        error = done.exception()
        if error is not None:
            self._respond(call.call_id, error=f"{type(error).__name__}: {error}")
            return
        try:
            dumps(done.result())
        except (TypeError, ValueError, RecursionError) as wrong:
            self._respond(call.call_id, error=f"The result is not JSON: {wrong}")
            return
        self._respond(call.call_id, result=done.result())

    def _respond(self, call_id: str, **members: Any) -> None:
        self._send(CALL + ".response", {"call_id": call_id, **members})

    def _cancel(self, call_id: Any) -> None:
        with self.lock:
            call = self.calls.get(call_id) if isinstance(call_id, str) else None
        if call:
            call.is_cancelled.set()
            if call.running:
                call.running.cancel()

    def _cancel_all(self) -> None:
        with self.lock:
            calls = list(self.calls)
        for call_id in calls:
            self._cancel(call_id)

    # --- the end

    def _end(self) -> None:
        self.closed.set()
        self.woken.set()
        self._cancel_all()
        self.link.close()
        self.pool.shutdown(wait=False)

    def close(self) -> None:
        """Leave: the tools are not offered any more."""
        if not self.closed.is_set():
            self._send(UNREGISTER, {"toolbox_id": self.toolbox_id})
            self._end()

    def __enter__(self) -> "Guest":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def wait(self) -> None:
        """Wait until the guest is closed. Raises ToolboxdError when the service does not take it."""
        self.closed.wait()
        if self.error:
            raise self.error


def serve_in_thread(toolbox_id: str, *, url: Optional[str] = None, bus: Any = None, description: str = "",
                    lease_s: int = 60, source: Optional[str] = None) -> Guest:
    """Offer all @tool functions, from threads of its own, until `.close()`. `url`: the message bus, else
    TOOLBOXD_BUS, else that of mycroft.conf; or `bus`: a client of ovos-bus-client."""
    return Guest(toolbox_id, url=url, bus=bus, description=description, lease_s=lease_s, source=source)


def serve(toolbox_id: str, *, url: Optional[str] = None, bus: Any = None, description: str = "",
          lease_s: int = 60, source: Optional[str] = None) -> None:
    """As serve_in_thread, but block until the program is interrupted."""
    with serve_in_thread(toolbox_id, url=url, bus=bus, description=description, lease_s=lease_s,
                         source=source) as guest:
        guest.wait()


async def serve_async(toolbox_id: str, *, url: Optional[str] = None, bus: Any = None, description: str = "",
                      lease_s: int = 60, source: Optional[str] = None) -> None:
    """As serve, until the task is cancelled; tools that are coroutines run in the present loop."""
    loop = asyncio.get_running_loop()
    with Guest(toolbox_id, url=url, bus=bus, description=description, lease_s=lease_s, source=source,
               loop=loop) as guest:
        await loop.run_in_executor(None, guest.closed.wait)
    if guest.error:
        raise guest.error
