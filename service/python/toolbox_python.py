# SPDX-License-Identifier: Apache-2.0
"""The host of OVOS's ToolBox plugins: what toolbox-host becomes for a toolbox of the kind python.

    toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ an interpreter of the user's, with this file

It speaks the frames of service/host/wire.h on descriptor 3 and finds the text of the LOAD frame in
descriptor 4. Its arguments are what the sandbox could not do ("" for nothing), then the further
interpreters that may be tried: one that cannot import ovos_plugin_manager hands over to the next.

    reader thread     frames ──▶ calls (a queue), bus messages to who waits for them
    main thread       one call after the other, as the daemon sends them
    dispatcher thread handlers that a ToolBox has set on the bus, one message after the other

Python 3.9 or later; nothing is needed but what OVOS's plugins need themselves.
"""
import importlib.metadata
import importlib.util
import inspect
import json
import os
import queue
import socket
import struct
import sys
import threading
import traceback

WIRE_FD, LOAD_FD = 3, 4
HEADER = struct.Struct("=IIQ")       # size, kind, id
INVOKE_HEAD = struct.Struct("=IIII")  # tool, timeout_ms, output_max, caller_size
LOAD, LOADED, REFUSED, INVOKE, RESULT, FAILED, ERROR, PROGRESS, EMIT, MESSAGE = range(1, 11)

ENTRY_POINTS = "opm.agents.toolbox"
PLUGIN_MANAGER = "ovos_plugin_manager"
OWN_TOPICS = "ovos.persona.tools."   # toolboxd answers these for every ToolBox
DEPTH_MAX = 128                      # levels of JSON that the daemon reads
HANDLERS_QUEUE_MAX = 1024            # messages that wait for the handlers of ToolBoxes


class Refused(Exception):
    """Nothing can be loaded: where in the LOAD frame, and why."""

    def __init__(self, pointer, message):
        super().__init__(message)
        self.pointer = pointer


class Wire:
    """Frames over the socket: read by one thread, written by any."""

    def __init__(self, fd):
        self._socket = socket.socket(fileno=fd)
        self._reader = self._socket.makefile("rb")
        self._lock = threading.Lock()

    def read(self):
        """The next frame: kind, id, payload; None at the end of file."""
        head = self._reader.read(HEADER.size)
        if len(head) < HEADER.size:
            return None
        size, kind, call_id = HEADER.unpack(head)
        payload = self._reader.read(size)
        return (kind, call_id, payload) if len(payload) == size else None

    def write(self, kind, call_id, payload):
        with self._lock:
            self._socket.sendall(HEADER.pack(len(payload), kind, call_id) + payload)

    def write_json(self, kind, call_id, value):
        self.write(kind, call_id, to_json(value))


def to_json(value):
    """Compact UTF-8; ValueError for what JSON, or the daemon, does not take."""
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


def words_of(error):
    """What a traceback ends with, the error's type and its words, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


# ── the bus ─────────────────────────────────────────────────────────────────────────────────────


class Bus:
    """What a ToolBox is given as its bus: its messages go through the daemon's connection."""

    def __init__(self, wire):
        self._wire = wire
        self._lock = threading.Lock()
        self._handlers = {}   # topic: [(handler, whether it is called once)]
        self._waiting = {}    # topic: [queue]
        self._pending = queue.Queue(HANDLERS_QUEUE_MAX)
        self.started_running = True
        self.connected_event = threading.Event()
        self.connected_event.set()

    def start(self):
        threading.Thread(target=self._dispatch, name="handlers", daemon=True).start()

    # What a message bus client of OVOS offers.

    def emit(self, message):
        self._wire.write(EMIT, 0, message.serialize().encode("utf-8"))

    def on(self, event_name, func):
        self._set(event_name, func, False)

    def once(self, event_name, func):
        self._set(event_name, func, True)

    def remove(self, event_name, func):
        with self._lock:
            kept = [pair for pair in self._handlers.get(event_name, ()) if pair[0] != func]
            self._handlers[event_name] = kept
            self._tell(event_name)

    def remove_all_listeners(self, event_name):
        with self._lock:
            self._handlers[event_name] = []
            self._tell(event_name)

    def wait_for_message(self, message_type, timeout=3.0):
        return self._wait((message_type,), timeout, None)

    def wait_for_response(self, message, reply_type=None, timeout=3.0):
        types = reply_type or message.msg_type + ".response"
        return self._wait((types,) if isinstance(types, str) else tuple(types), timeout, message)

    def run_forever(self):
        """A client would serve its connection here; the daemon does that."""

    run_in_thread = close = run_forever

    # Its inside.

    def _set(self, topic, handler, is_once):
        if topic.startswith(OWN_TOPICS):
            return
        with self._lock:
            self._handlers.setdefault(topic, []).append((handler, is_once))
            self._tell(topic)

    def _tell(self, topic):
        """Say whether messages of this topic are wanted; the daemon sends no others."""
        wanted = bool(self._handlers.get(topic) or self._waiting.get(topic))
        self._wire.write_json(EMIT, 0, {"subscribe": topic, "wanted": wanted})
        for table in (self._handlers, self._waiting):
            if not table.get(topic):
                table.pop(topic, None)

    def _wait(self, topics, timeout, question):
        came = queue.SimpleQueue()
        with self._lock:
            for topic in topics:
                self._waiting.setdefault(topic, []).append(came)
                self._tell(topic)
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
                    self._tell(topic)

    def take(self, payload):
        """A message from the bus, by the reader thread."""
        from ovos_bus_client.message import Message
        message = Message.deserialize(payload.decode("utf-8"))
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
                    self._tell(message.msg_type)
            for handler in handlers:
                try:
                    handler(message)
                except Exception:
                    traceback.print_exc()


# ── loading ─────────────────────────────────────────────────────────────────────────────────────


def construct(cls, entry_point, config, bus):
    """A ToolBox by whatever constructor it has: (config, bus), (toolbox_id, config, bus), (config)."""
    parameters = inspect.signature(cls).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    offered = {"config": config, "bus": bus}
    # Through **kwargs an id would reach a base class that is given one already.
    if "toolbox_id" in parameters:
        offered["toolbox_id"] = entry_point
    return cls(**{name: value for name, value in offered.items()
                  if takes_any or name in parameters})


def select(wanted):
    """The entry points to load, by name, and those that are not there."""
    found = importlib.metadata.entry_points()
    points = (found.select(group=ENTRY_POINTS) if hasattr(found, "select")
              else found.get(ENTRY_POINTS, ()))
    by_name = {point.name: point for point in sorted(points, key=lambda point: point.name)}
    if wanted is None:
        return list(by_name.values()), []
    return ([by_name[name] for name in wanted if name in by_name],
            [name for name in wanted if name not in by_name])


def package_folders():
    """The folders whose change means that something was installed or removed."""
    return sorted({path for path in sys.path if path and os.path.isdir(path)})


class Toolboxes:
    """All that one manifest stands for: its ToolBoxes, and a list of all their tools."""

    def __init__(self, load, bus):
        config = load.get("config") or {}
        points, absent = select(load.get("plugins"))
        self.tools = []     # (ToolBox, name), as the daemon counts them
        self.told = []
        self.failed = [{"toolbox_id": name, "error": f"no plugin of this name is installed in "
                        f"{sys.executable} (entry points '{ENTRY_POINTS}')"} for name in absent]
        for point in points:
            try:
                self._add(point, construct(point.load(), point.name,
                                           config.get(point.name) or {}, bus))
            except Exception as error:
                traceback.print_exc()
                self.failed.append({"toolbox_id": point.name, "error": words_of(error)})

    def _add(self, point, toolbox):
        if not toolbox.tools:
            toolbox.refresh_tools()  # a first attempt has failed unseen: its error is wanted
        entries = [{key: entry[key] for key in
                    ("name", "description", "argument_schema", "output_schema")}
                   for entry in toolbox.tool_json_list]
        to_json(entries)
        self.told.append({"toolbox_id": toolbox.toolbox_id, "entry_point": point.name,
                          "tools": entries})
        self.tools.extend((toolbox, entry["name"]) for entry in entries)

    def describe(self, missing):
        return {"missing": missing, "toolboxes": self.told, "failed": self.failed,
                "depends": package_folders()}


def find_plugin_manager(others):
    """Go on if this interpreter has it; become the next one that may, or be refused."""
    if importlib.util.find_spec(PLUGIN_MANAGER):
        return
    for fd in (WIRE_FD, LOAD_FD):
        os.set_inheritable(fd, True)
    for index, python in enumerate(others):
        try:
            os.execv(python, [python, __file__, sys.argv[1], *others[index + 1:]])
        except OSError:
            continue
    raise Refused("/python", f"no Python interpreter here has {PLUGIN_MANAGER}; the last one that "
                  f"was tried is {sys.executable}")


# ── calls ───────────────────────────────────────────────────────────────────────────────────────


def causes_of(error):
    """The error and what it was raised from, outermost first."""
    while error is not None:
        yield error
        error = error.__cause__


def violations_of(error):
    """What pydantic found, as DESIGN's violations; None when it was not asked."""
    for cause in causes_of(error):
        if callable(getattr(cause, "errors", None)):
            return [{"path": "".join("/" + str(part).replace("~", "~0").replace("/", "~1")
                                     for part in found.get("loc", ())),
                     "message": str(found.get("msg", ""))} for found in cause.errors()]
    return None


def describe_failure(error):
    """The ERROR frame's object: the base class says what has failed, its cause says why."""
    text, violations = str(error), violations_of(error)
    for start, code in (("Tool input validation failed", "invalid_arguments"),
                        ("Tool output validation failed", "invalid_output")):
        if text.startswith(start) and violations:
            return {"code": code, "violations": violations}
    if text.startswith(("Tool execution failed", "Tool output validation failed")):
        error = error.__cause__ or error
    chain = [words_of(cause) for cause in causes_of(error)]
    return {"code": "tool_failed", "message": "; caused by ".join(chain)}


def run(toolboxes, payload):
    """Run a call: the kind of its answer, and its payload."""
    index, _timeout_ms, _output_max, caller_size = INVOKE_HEAD.unpack_from(payload)
    toolbox, name = toolboxes.tools[index]
    arguments = json.loads(payload[INVOKE_HEAD.size + caller_size:])
    try:
        result = toolbox.call_tool(name, arguments)
        if hasattr(result, "model_dump"):
            result = result.model_dump(mode="json")
        return RESULT, to_json(result)
    except Exception as error:
        traceback.print_exc()
        try:
            return ERROR, to_json(describe_failure(error))
        except ValueError:  # its words cannot be told either: half a surrogate pair, say
            return FAILED, ascii(words_of(error)).encode()


def read_frames(wire, calls, bus):
    """The reader thread. The daemon's end of file is ours, whatever a tool is doing."""
    while True:
        frame = wire.read()
        if frame is None:
            os._exit(0)
        if frame[0] == MESSAGE:
            bus.take(frame[2])
        else:
            calls.put(frame)


def main():
    wire = None
    try:
        find_plugin_manager(sys.argv[2:])
        wire = Wire(WIRE_FD)
        bus = Bus(wire)
        with os.fdopen(LOAD_FD, "rb") as file:
            load = json.load(file)
        toolboxes = Toolboxes(load, bus)
        wire.write_json(LOADED, 0, toolboxes.describe(sys.argv[1]))
    except Refused as refused:
        (wire or Wire(WIRE_FD)).write_json(REFUSED, 0, {"pointer": refused.pointer, "message": str(refused)})
        return 0
    calls = queue.SimpleQueue()
    bus.start()
    threading.Thread(target=read_frames, args=(wire, calls, bus), daemon=True).start()
    while True:
        kind, call_id, payload = calls.get()
        if kind != INVOKE:
            return 1
        answer, text = run(toolboxes, payload)
        wire.write(answer, call_id, text)


if __name__ == "__main__":
    sys.exit(main())
