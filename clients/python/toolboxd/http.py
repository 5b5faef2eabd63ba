# SPDX-License-Identifier: Apache-2.0
"""Requests over HTTP: on a Unix socket, or an address, with a pool of connections that stay open."""
from __future__ import annotations

import http.client
import json
import select
import socket
import ssl
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Iterator, Mapping, Optional
from urllib.parse import quote, urlencode, urlsplit

from .errors import Unreachable
from .transport import Event, Json, Transport, dumps

# Connections at once; the service allows one caller 64 (contract.md, http.limits.per_address).
CONNECTIONS_MAX = 32
CONNECT_SECONDS = 5
# What a query takes of a request; the rest is the path or the body.
QUERY = {
    "ovos.tools.list": ("format", "toolbox_id", "profile"),
    "ovos.tools.search": ("query", "limit", "format", "toolbox_id", "profile"),
    "ovos.tools.get": ("toolbox_id", "profile"),
    "ovos.tools.invoke": ("toolbox_id", "profile", "timeout_ms", "call_id"),
}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str):
        super().__init__("localhost", timeout=CONNECT_SECONDS)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SECONDS)
        self.sock.connect(self.path)


def _target(topic: str, data: Mapping[str, Json]) -> tuple[str, str, Optional[str]]:
    """Return method, target and body of a request of the bus."""
    query = {"q" if key == "query" else key: data[key] for key in QUERY[topic] if data.get(key) is not None}
    path = "/v1/tools"
    if topic not in ("ovos.tools.list", "ovos.tools.search"):
        path += "/" + quote(str(data["name"]), safe="")
    if query:
        path += "?" + urlencode(query)
    if topic == "ovos.tools.invoke":
        return "POST", path, dumps(data.get("args", {}))
    return "GET", path, None


class Http(Transport):
    def __init__(self, url: str, token: Optional[str], session: str):
        self.url = url
        # A door behind a proxy has a path before its routes; the path of a socket is its file.
        self.base = "" if url.startswith("unix:") else urlsplit(url).path.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if session != "default":
            self.headers["Session-Id"] = session
        self.idle: list[http.client.HTTPConnection] = []
        self.busy: set[http.client.HTTPConnection] = set()
        self.lock = threading.Lock()
        self.is_closed = False
        self.workers = ThreadPoolExecutor(CONNECTIONS_MAX, "toolboxd-http")

    # --- connections

    def _open(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        connection: http.client.HTTPConnection
        if parts.scheme == "unix":
            connection = _UnixConnection(parts.path)
        elif parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                parts.netloc, timeout=CONNECT_SECONDS, context=ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(parts.netloc, timeout=CONNECT_SECONDS)
        try:
            connection.connect()
        except OSError as error:
            raise Unreachable(f"There is no tool service at {self.url}: {error}") from error
        # The service has its own deadlines, and answers each request.
        connection.sock.settimeout(None)
        if parts.scheme != "unix":
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _take(self) -> http.client.HTTPConnection:
        """Return a connection that is open: the peer may have closed an idle one."""
        with self.lock:
            while self.idle:
                connection = self.idle.pop()
                if not select.select([connection.sock], [], [], 0)[0]:
                    self.busy.add(connection)
                    return connection
                connection.close()
        connection = self._open()
        with self.lock:
            if self.is_closed:
                connection.close()
                raise Unreachable("The client is closed")
            self.busy.add(connection)
        return connection

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self.lock:
            self.busy.discard(connection)
            if connection.sock is None or self.is_closed:
                connection.close()
            else:
                self.idle.append(connection)

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        with self.lock:
            self.busy.discard(connection)
        connection.close()

    # --- requests

    def _exchange(self, ask: "_Ask", method: str, path: str, body: Optional[str]) -> dict[str, Json]:
        connection = self._take()
        if not ask.begin(connection):
            self._give_back(connection)
            return {}
        try:
            connection.request(method, self.base + path, body.encode() if body is not None else None, self.headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._drop(connection)
            raise Unreachable(f"The tool service at {self.url} went away: {error or type(error).__name__}") from error
        self._give_back(connection)
        if response.getheader("Content-Type", "").startswith("text/markdown"):
            return {"text": text.decode()}
        try:
            data = json.loads(text)
        except ValueError as error:
            raise Unreachable(f"What answers at {self.url} is no tool service (status {response.status})") from error
        if not isinstance(data, dict) or (response.status >= 400 and "error" not in data):
            raise Unreachable(f"What answers at {self.url} is no tool service (status {response.status})")
        return data

    def ask(self, topic: str, data: Mapping[str, Json]) -> "Future[dict[str, Json]]":
        method, path, body = _target(topic, data)
        ask = _Ask(self)
        try:
            self.workers.submit(ask.run, method, path, body)
        except RuntimeError:
            ask.set_exception(Unreachable("The client is closed"))
        return ask

    def events(self) -> Iterator[Event]:
        connection = self._take()
        try:
            connection.request("GET", self.base + "/v1/events", headers=self.headers)
            response = connection.getresponse()
            if response.status != 200:
                raise Unreachable(f"No events at {self.url}: {response.read().decode(errors='replace')}")
            yield from _read_events(response)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, Unreachable):
                raise
            raise Unreachable(f"The tool service at {self.url} went away: {error}") from error
        finally:
            self._drop(connection)

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            connections = [*self.idle, *self.busy]
            self.idle.clear()
        for connection in connections:
            _end(connection)
        self.workers.shutdown(wait=False)


def _end(connection: http.client.HTTPConnection) -> None:
    """End a connection in which a thread may read: shutdown() wakes it, close() would not."""
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the peer was first


class _Ask(Future):  # type: ignore[type-arg]
    """A request. When it is cancelled its connection is closed, which cancels the call."""

    def __init__(self, transport: Http):
        super().__init__()
        self.transport = transport
        self.connection: Optional[http.client.HTTPConnection] = None
        self.guard = threading.RLock()

    def begin(self, connection: http.client.HTTPConnection) -> bool:
        with self.guard:
            self.connection = connection
            return not self.cancelled()

    def run(self, method: str, path: str, body: Optional[str]) -> None:
        try:
            answer: Any = self.transport._exchange(self, method, path, body)
        except BaseException as error:
            self._finish(lambda: self.set_exception(error))
        else:
            self._finish(lambda: self.set_result(answer))

    def _finish(self, finish: Any) -> None:
        with self.guard:
            self.connection = None
            if not self.cancelled():
                finish()

    def cancel(self) -> bool:
        with self.guard:
            is_cancelled = super().cancel()
            if is_cancelled and self.connection is not None:
                _end(self.connection)
        return is_cancelled


def _read_events(response: http.client.HTTPResponse) -> Iterator[Event]:
    """Server-sent events (WHATWG HTML, 9.2), as the service writes them: one line of data each."""
    name = ""
    for line in response:
        field, _, value = line.decode().rstrip("\r\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield Event(name, json.loads(value))
    raise Unreachable("The tool service ended the stream of events")
