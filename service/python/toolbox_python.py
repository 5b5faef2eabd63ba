# SPDX-License-Identifier: Apache-2.0
"""The host of OVOS's ToolBox plugins: what toolbox-host becomes for a toolbox of the kind python.

    toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ an interpreter of the user's, with this file

It speaks the frames of service/host/wire.h on descriptor 3 and finds the text of the LOAD frame in
descriptor 4. Its arguments are what the sandbox could not do ("" for nothing), then the further
interpreters that may be tried: one that cannot import ovos_plugin_manager hands over to the next.

    reader thread     frames ──▶ calls (a queue), bus messages to who waits for them
    main thread       loads, then runs one call after the other, as the daemon sends them
    dispatcher thread handlers that a ToolBox has set on the bus, one message after the other

All of it is other people's code: whatever is imported, constructed, described or called may raise
anything, SystemExit too, and costs no more than its own ToolBox or its own call. To be asked what
there is, it is loaded in a child process: a plugin at which that dies is left out, and the next
child asked. What is called later is loaded in this process, and no more than that.

Python 3.9 or later; nothing is needed but what OVOS's plugins need themselves.
"""
import importlib.metadata
import importlib.util
import inspect
import json
import os
import queue
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback

WIRE_FD, LOAD_FD = 3, 4
HEADER = struct.Struct("=IIQ")       # size, kind, id
INVOKE_HEAD = struct.Struct("=IIIII")  # tool, timeout_ms, output_max, stderr_max, caller_size
LOAD, LOADED, REFUSED, INVOKE, RESULT, FAILED, ERROR, PROGRESS, EMIT, MESSAGE = range(1, 11)

ENTRY_POINTS = "opm.agents.toolbox"
PLUGIN_MANAGER = "ovos_plugin_manager"
OWN_TOPICS = "ovos.persona.tools."   # toolboxd answers these for every ToolBox
DEPTH_MAX = 128                      # levels of JSON that the daemon reads
HANDLERS_QUEUE_MAX = 1024            # messages that wait for the handlers of ToolBoxes
EMIT_BYTES_MAX = 8 << 20             # of a message, until a call says what the daemon takes
SLOW_SECONDS = 2                     # to load one plugin: the log hears of it
LEAVE_SECONDS = 0.4                  # shorter than the daemon waits (host.h, HOST_LEAVE_MS)
WORDS_MAX = 20000                    # characters that one error may say
VIOLATIONS_MAX = 10                  # of one call, as toolboxd's own


class Refused(Exception):
    """Nothing can be loaded: where in the LOAD frame, and why."""

    def __init__(self, pointer, message):
        super().__init__(message)
        self.pointer = pointer


def keep_from_children(fd):
    """A child that a plugin forks off must not speak for us."""
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
        """The next frame: kind, id, payload; None when the daemon has hung up."""
        try:
            head = self._reader.read(HEADER.size)
            if len(head) < HEADER.size:
                return None
            size, kind, call_id = HEADER.unpack(head)
            payload = self._reader.read(size)
        except OSError:  # what we have said last was not read any more
            return None
        return (kind, call_id, payload) if len(payload) == size else None

    def write(self, kind, call_id, payload):
        with self._lock:
            try:
                self._socket.sendall(HEADER.pack(len(payload), kind, call_id) + payload)
            except ConnectionError:
                pass  # the daemon has hung up: the reader thread sees that, and ends us

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


def text_of(thing):
    """Its words, cut, with what UTF-8 has no bytes for (half a surrogate pair) spelled out."""
    try:
        text = str(thing)[:WORDS_MAX]
    except Exception:
        text = "(its words cannot be had)"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def words_of(error):
    """What a traceback ends with, the error's type and its words, in one line."""
    return " ".join(f"{type(error).__name__}: {text_of(error)}".split()).rstrip(":")


# ── the bus ─────────────────────────────────────────────────────────────────────────────────────


class Bus:
    """What a ToolBox is given as its bus: its messages go through the daemon's connection. Who says
    more than a host may (service/core/proxy.h) waits in emit(). Without a wire, in a host that only
    tells what there is, nobody hears it and it hears nobody."""

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

    # What a message bus client of OVOS offers.

    def emit(self, message):
        text = message.serialize().encode("utf-8")
        if len(text) > self.emit_bytes_max:
            raise ValueError(f"a message '{message.msg_type}' of {len(text)} bytes is too large: "
                             f"at most {self.emit_bytes_max} can be said (limits.host_output_bytes)")
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
                    self._tell(message.msg_type)
            for handler in handlers:
                try:
                    handler(message)
                except BaseException:
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


def installed():
    """The entry points of all ToolBoxes, by name; and the distributions that cannot be read."""
    points, failed, seen = {}, [], set()
    for found in importlib.metadata.distributions():
        name = None
        try:
            if ENTRY_POINTS not in (found.read_text("entry_points.txt") or ""):
                continue
            name = found.metadata["Name"]
            if not name:
                raise ValueError("a distribution has entry points and no name")
            if name in seen:
                continue
            seen.add(name)
            # Of two with one name only the one that comes first in the path is installed.
            first = importlib.metadata.distribution(name)
            points.update((point.name, point) for point in first.entry_points
                          if point.group == ENTRY_POINTS)
        except Exception as error:
            traceback.print_exc()
            failed.append(failure(name or ENTRY_POINTS, words_of(error)))
    return points, failed


def failure(name, error):
    return {"toolbox_id": name, "error": error}


def source_files(names):
    """The files that modules were, or would be, loaded from."""
    for name in names:
        try:
            spec = importlib.util.find_spec(name)
        except BaseException:  # its package is imported for that
            continue
        if spec and spec.origin and os.path.isfile(spec.origin):
            yield os.path.abspath(spec.origin)


class Toolboxes:
    """All that one manifest stands for: its ToolBoxes, and the list of tools that calls count in."""

    def __init__(self, load, bus, deadly=None, note=lambda name: None):
        """With a list of tools no more is loaded than has them, as far as names tell: a ToolBox has
        that of its entry point, as a rule. `deadly` are the plugins that must not be loaded, and
        why; `note` is called with the name of each before it is."""
        config, wanted = load.get("config") or {}, load.get("plugins")
        self.tools = load.get("tools") or []  # (toolbox_id, name)
        needed = {toolbox_id for toolbox_id, _ in self.tools}
        self._boxes = {}                      # toolbox_id: ToolBox
        self._points = {}                     # toolbox_id: its entry point
        self._modules = set()
        self._told = []
        points, self._failed = installed()
        names = sorted(points) if wanted is None else wanted
        for name in sorted(names, key=lambda name: name not in needed):
            if "tools" in load and needed <= self._boxes.keys():
                break
            if name in (deadly or ()):
                self._failed.append(failure(name, deadly[name]))
                continue
            note(name)
            if name not in points:
                self._failed.append(failure(name, "no plugin of this name is installed in "
                                            f"{sys.executable} (entry points '{ENTRY_POINTS}')"))
                continue
            try:
                self._add(points[name], config.get(name) or {}, bus)
            except BaseException as error:
                traceback.print_exc()
                self._failed.append(failure(name, words_of(error)))

    def _add(self, point, config, bus):
        self._modules.add(point.value.partition(":")[0].strip())
        cls = point.load()
        self._modules.add(cls.__module__)
        toolbox = construct(cls, point.name, config, bus)
        if toolbox.toolbox_id in self._boxes:
            raise ValueError(f"its toolbox_id '{toolbox.toolbox_id}' is that of the plugin "
                             f"'{self._points[toolbox.toolbox_id]}'")
        if not toolbox.tools:
            toolbox.refresh_tools()  # a first attempt has failed unseen: its error is wanted
        entries = [{key: entry[key] for key in
                    ("name", "description", "argument_schema", "output_schema")}
                   for entry in toolbox.tool_json_list]
        told = {"toolbox_id": toolbox.toolbox_id, "entry_point": point.name, "tools": entries}
        to_json(told)
        self._told.append(told)
        self._boxes[toolbox.toolbox_id] = toolbox
        self._points[toolbox.toolbox_id] = point.name

    def describe(self, missing):
        """The LOADED frame's object. What it depends on: where something may be installed, the
        interpreter, and the plugins themselves, which are edited in place while they are written."""
        folders = (path for path in sys.path if os.path.exists(path))
        return {"missing": missing, "toolboxes": self._told, "failed": self._failed,
                "depends": sorted({*map(os.path.abspath, folders), sys.executable,
                                   *source_files(self._modules)})}

    def find(self, index):
        """The ToolBox of a call's tool, and the tool's name."""
        toolbox_id, name = self.tools[index]
        if toolbox_id not in self._boxes:
            why = "; ".join(f"'{one['toolbox_id']}' failed: {one['error']}"
                            for one in self._failed) or "its plugin is no longer installed"
            raise LookupError(f"the ToolBox '{toolbox_id}' could not be loaded: {why}")
        return self._boxes[toolbox_id], name


# ── telling ─────────────────────────────────────────────────────────────────────────────────────


def read_lines(fd):
    """Lines until the end of file; the log hears of a plugin that takes long."""
    text, is_told = b"", False
    while True:
        if not is_told and not select.select([fd], [], [], SLOW_SECONDS)[0]:
            is_told = True
            last = (text.decode("utf-8").splitlines() or ["what is installed"])[-1]
            print(f"loading {last} takes more than {SLOW_SECONDS} s", file=sys.stderr)
            continue
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            return text.decode("utf-8").split("\n")
        text, is_told = text + chunk, False


def tell_from_child(load, missing, deadly, fd):
    """In the child: a line with each plugin's name before it is loaded, at last one with the text
    of LOADED."""
    try:
        keep_from_children(fd)
        with open(fd, "w", encoding="utf-8") as lines:
            described = Toolboxes(load, Bus(None), deadly, lambda name: print(
                json.dumps(name), file=lines, flush=True)).describe(missing)
            lines.write(to_json(described).decode("utf-8"))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def ask_child(load, missing, deadly):
    """The text of LOADED; or None, and the child's last plugin is added to the deadly ones."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        tell_from_child(load, missing, deadly, send)
    os.close(send)
    lines = read_lines(receive)
    os.close(receive)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0 and lines[-1]:
        return lines[-1]
    if len(lines) == 1:
        raise RuntimeError("what is installed cannot be read")
    ended = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    deadly[json.loads(lines[-2])] = f"loading it ended the interpreter ({ended})"
    return None


def tell(load, missing):
    """The text of LOADED, for all that can be loaded."""
    deadly, text = {}, None
    try:
        while text is None:
            text = ask_child(load, missing, deadly)
        return text.encode("utf-8")
    except OSError:  # there is no process to be had
        return to_json(Toolboxes(load, Bus(None)).describe(missing))


# ── the process ─────────────────────────────────────────────────────────────────────────────────


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
            return [{"path": "".join("/" + text_of(part).replace("~", "~0").replace("/", "~1")
                                     for part in found.get("loc", ())),
                     "message": text_of(found.get("msg", ""))}
                    for found in cause.errors()[:VIOLATIONS_MAX]]
    return None


def describe_failure(error):
    """The ERROR frame's object: the base class says what has failed, its cause says why."""
    text, violations = text_of(error), violations_of(error)
    for start, code in (("Tool input validation failed", "invalid_arguments"),
                        ("Tool output validation failed", "invalid_output")):
        if text.startswith(start) and violations:
            return {"code": code, "violations": violations}
    if text.startswith(("Tool execution failed", "Tool output validation failed")):
        error = error.__cause__ or error
    chain = [words_of(cause) for cause in causes_of(error)]
    return {"code": "tool_failed", "message": "; caused by ".join(chain)}


def result_json(result):
    """A result's text. What JSON has no words for is an error that shows all of it: a tool that
    gives NaN may say beside it why."""
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json")
    try:
        return to_json(result)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the result is no JSON ({error}): {text_of(result)}") from None


def run(toolboxes, payload):
    """Run a call: the kind of its answer, and its payload."""
    index, _timeout_ms, output_max, _stderr_max, caller_size = INVOKE_HEAD.unpack_from(payload)
    arguments = json.loads(payload[INVOKE_HEAD.size + caller_size:])
    try:
        toolbox, name = toolboxes.find(index)
        text = result_json(toolbox.call_tool(name, arguments))
        if len(text) > output_max:
            return ERROR, to_json({"code": "too_large", "actual": len(text), "max": output_max})
        return RESULT, text
    except BaseException as error:
        traceback.print_exc()
        return ERROR, to_json(describe_failure(error))


def leave(calls):
    """The daemon has hung up: end in order, with what ToolBoxes have registered with atexit, or a
    moment later in any case, whatever a tool is doing."""
    calls.put(None)
    time.sleep(LEAVE_SECONDS)
    os._exit(0)


def read_frames(wire, calls, bus):
    """The reader thread."""
    while True:
        frame = wire.read()
        if frame is None:
            leave(calls)
        if frame[0] == MESSAGE:
            bus.take(frame[2])
            continue
        if frame[0] == INVOKE:
            bus.emit_bytes_max = INVOKE_HEAD.unpack_from(frame[2])[2]
        calls.put(frame)


def leave_own_folder():
    """Where this file is, nothing is installed."""
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]


def main():
    leave_own_folder()
    try:
        find_plugin_manager(sys.argv[2:])
    except Refused as refused:
        Wire(WIRE_FD).write_json(REFUSED, 0, {"pointer": refused.pointer, "message": str(refused)})
        return 0
    wire, calls = Wire(WIRE_FD), queue.SimpleQueue()
    with os.fdopen(LOAD_FD, "rb") as file:
        load = json.load(file)
    if "tools" not in load:
        wire.write(LOADED, 0, tell(load, sys.argv[1]))
        return 1 if wire.read() else 0
    bus = Bus(wire)
    # A ToolBox may ask the bus while it is constructed.
    bus.start()
    threading.Thread(target=read_frames, args=(wire, calls, bus), daemon=True).start()
    toolboxes = Toolboxes(load, bus)
    wire.write_json(LOADED, 0, toolboxes.describe(sys.argv[1]))
    for kind, call_id, payload in iter(calls.get, None):
        if kind != INVOKE:
            return 1
        answer, text = run(toolboxes, payload)
        wire.write(answer, call_id, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
