# SPDX-License-Identifier: Apache-2.0
"""The connections of toolbox_python.py: the frames of service/wire/wire.h, JSON as the daemon reads
it, and the bus for ToolBoxes, whose messages go through the daemon's connection."""
import json
import os
import queue
import socket
import struct
import sys
import threading
import traceback

HEADER = struct.Struct("=IIQ")       # size, kind, id
INVOKE_HEAD = struct.Struct("=QIIIII")  # program, tool, timeout_ms, output_max, stderr_max, caller_size
LOAD, LOADED, REFUSED, INVOKE, RESULT, FAILED, ERROR, PROGRESS, EMIT, MESSAGE = range(1, 11)
CHECK = 13

OWN_TOPICS = "ovos.persona.tools."   # toolboxd answers these for every ToolBox
DEPTH_MAX = 128                      # levels of JSON read by the daemon
HANDLERS_QUEUE_MAX = 1024            # messages waiting for the handlers of ToolBoxes
EMIT_BYTES_MAX = 8 << 20             # of a message, until the first call brings the daemon's limit


def keep_from_children(fd):
    """Keep a plugin's forked child from sending in our place."""
    def lose():
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, fd, inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=lose)


class Wire:
    """Frames over the socket: read by one thread, written by any."""

    def __init__(self, fd):
        self._socket = socket.socket(fileno=fd)
        self._reader = self._socket.makefile("rb")
        self._lock = threading.Lock()
        os.set_inheritable(fd, False)
        keep_from_children(fd)

    def read(self):
        """The next frame: kind, id, payload; None when the daemon has closed the socket."""
        try:
            head = self._reader.read(HEADER.size)
            if len(head) < HEADER.size:
                return None
            size, kind, call_id = HEADER.unpack(head)
            payload = self._reader.read(size)
        except OSError:  # the daemon has not read our last frame
            return None
        return (kind, call_id, payload) if len(payload) == size else None

    def write(self, kind, call_id, payload):
        with self._lock:
            try:
                self._socket.sendall(HEADER.pack(len(payload), kind, call_id) + payload)
            except ConnectionError:
                pass  # the reader thread notices the closed socket, and ends us

    def write_json(self, kind, call_id, value):
        self.write(kind, call_id, to_json(value))


def to_json(value):
    """Compact UTF-8; ValueError for a value beyond JSON, or beyond the daemon's depth."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if text.count("[") + text.count("{") > DEPTH_MAX and depth_of(value) > DEPTH_MAX:
        raise ValueError(f"more than {DEPTH_MAX} levels of nesting")
    return text.encode("utf-8")


def depth_of(value):
    """Levels of nesting, found without recursion."""
    deepest, pending = 0, [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, (dict, list, tuple)):
            deepest = max(deepest, depth)
            children = item.values() if isinstance(item, dict) else item
            pending.extend((child, depth + 1) for child in children)
    return deepest


# ── the bus ─────────────────────────────────────────────────────────────────────────────────────


class Bus:
    """The bus of a ToolBox: messages go through the daemon's connection. A ToolBox over the limits of a
    host (service/core/proxy.h) waits in emit(). Without a wire, in a host for a description,
    nothing is sent or received."""

    def __init__(self, wire):
        self._wire = wire
        self.emit_bytes_max = EMIT_BYTES_MAX
        self._lock = threading.Lock()
        self._handlers = {}   # topic: [(handler, whether it is called once)]
        self._waiting = {}    # topic: [queue]
        self._pending = queue.Queue(HANDLERS_QUEUE_MAX)
        self.started_running = True
        self.connected_event = threading.Event()
        self.connected_event.set()

    def start(self):
        threading.Thread(target=self._dispatch, name="handlers", daemon=True).start()

    # The methods of a message bus client of OVOS.

    def emit(self, message):
        text = message.serialize().encode("utf-8")
        if len(text) > self.emit_bytes_max:
            raise ValueError(f"a message '{message.msg_type}' of {len(text)} bytes is too large: "
                             f"at most {self.emit_bytes_max} can be sent (limits.host_output_bytes)")
        if self._wire:
            self._wire.write(EMIT, 0, text)

    def on(self, event_name, func):
        self._set(event_name, func, False)

    def once(self, event_name, func):
        self._set(event_name, func, True)

    def remove(self, event_name, func):
        with self._lock:
            kept = [pair for pair in self._handlers.get(event_name, ()) if pair[0] != func]
            self._handlers[event_name] = kept
            self._report(event_name)

    def remove_all_listeners(self, event_name):
        with self._lock:
            self._handlers[event_name] = []
            self._report(event_name)

    def wait_for_message(self, message_type, timeout=3.0):
        return self._wait((message_type,), timeout, None)

    def wait_for_response(self, message, reply_type=None, timeout=3.0):
        types = reply_type or message.msg_type + ".response"
        return self._wait((types,) if isinstance(types, str) else tuple(types), timeout, message)

    def run_forever(self):
        """A client would serve its connection here; here the daemon does."""

    run_in_thread = close = run_forever

    # Private methods.

    def _set(self, topic, handler, is_once):
        if topic.startswith(OWN_TOPICS):
            return
        with self._lock:
            self._handlers.setdefault(topic, []).append((handler, is_once))
            self._report(topic)

    def _report(self, topic):
        """Report whether messages of this topic are wanted; the daemon sends no others."""
        wanted = bool(self._handlers.get(topic) or self._waiting.get(topic))
        if self._wire:
            self._wire.write_json(EMIT, 0, {"subscribe": topic, "wanted": wanted})
        for table in (self._handlers, self._waiting):
            if not table.get(topic):
                table.pop(topic, None)

    def _wait(self, topics, timeout, question):
        if not self._wire:
            return None
        came = queue.SimpleQueue()
        with self._lock:
            for topic in topics:
                self._waiting.setdefault(topic, []).append(came)
                self._report(topic)
        try:
            if question is not None:
                self.emit(question)
            return came.get(timeout=timeout)
        except queue.Empty:
            return None
        finally:
            with self._lock:
                for topic in topics:
                    self._waiting[topic].remove(came)
                    self._report(topic)

    def take(self, payload):
        """A message from the bus, by the reader thread."""
        from ovos_bus_client.message import Message
        try:
            message = Message.deserialize(payload.decode("utf-8"))
        except Exception:  # stricter than the bus is
            traceback.print_exc()
            return
        with self._lock:
            waiting = list(self._waiting.get(message.msg_type, ()))
            is_handled = message.msg_type in self._handlers
        for came in waiting:
            came.put(message)
        if is_handled:
            try:
                self._pending.put_nowait(message)
            except queue.Full:
                print(f"dropped a message '{message.msg_type}': its handlers are too slow",
                      file=sys.stderr)

    def _dispatch(self):
        while True:
            message = self._pending.get()
            with self._lock:
                pairs = self._handlers.get(message.msg_type, ())
                kept = [pair for pair in pairs if not pair[1]]
                handlers = [pair[0] for pair in pairs]
                if len(kept) < len(handlers):
                    self._handlers[message.msg_type] = kept
                    self._report(message.msg_type)
            for handler in handlers:
                try:
                    handler(message)
                except BaseException:
                    traceback.print_exc()
