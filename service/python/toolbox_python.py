# SPDX-License-Identifier: Apache-2.0
"""The host of OVOS's ToolBox plugins: what toolbox-host becomes for a toolbox of the kind python.

    toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ an interpreter of the user's, with this file

It speaks the frames of service/wire/wire.h on descriptor 3 and finds the text of the LOAD frame in
descriptor 4. Its arguments are what the sandbox could not do ("" for nothing), then the further
interpreters that may be tried: one that cannot import ovos_plugin_manager hands over to the next.

    reader thread     frames ──▶ calls (a queue), bus messages to who waits for them
    main thread       loads, then runs one call after the other, as the daemon sends them
    dispatcher thread handlers that a ToolBox has set on the bus, one message after the other

All of it is other people's code: whatever is imported, constructed, described or called may raise
anything, SystemExit too, and costs no more than its own ToolBox or its own call. To be asked what
there is, it is loaded in a child process: a plugin at which that dies or hangs is left out, and the
next child goes on behind it. What is called later is loaded in this process, and no more than that.

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
import sys
import threading
import time
import traceback
from functools import partial

from toolbox_python_bus import (CHECK, ERROR, INVOKE, INVOKE_HEAD, LOADED, MESSAGE, REFUSED, RESULT, Bus,
                                Wire, keep_from_children, to_json)

WIRE_FD, LOAD_FD = 3, 4
BRIDGE = "toolboxd"
ENTRY_POINTS = "opm.agents.toolbox"
PLUGIN_MANAGER = "ovos_plugin_manager"
START_MS, TELLING_SHARE = 10000, 0.8  # how long telling may take, and how much of it plugins may
LEAVE_SECONDS = 0.4                  # shorter than the daemon waits (host.h, HOST_DISMISS_MS)
WORDS_MAX = 20000                    # characters that one error may say
VIOLATIONS_MAX = 10                  # of one call, as toolboxd's own


class Refused(Exception):
    """Nothing can be loaded: where in the LOAD frame, and why."""

    def __init__(self, pointer, message):
        super().__init__(message)
        self.pointer = pointer


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
            # The bridge of a persona to this service: its tools are ours.
            if name in seen or name == BRIDGE:
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

    def __init__(self, load, bus, tried=(), note=None):
        """With a list of tools no more is loaded than has them; what is left out is told and never
        imported. `tried` are plugins that were loaded elsewhere; `note` is called before each, with its name and how many come after it."""
        config = load.get("config") or {}
        self.tools = load.get("tools") or []  # (toolbox_id, name, entry point)
        self._boxes = {}                      # toolbox_id: ToolBox
        self._modules = set()
        points, unread = installed()
        self._failed = [] if tried else unread
        names = load.get("plugins") or sorted(points)
        if "tools" in load:
            names = sorted({point for _, _, point in self.tools})
        left_out = dict(load.get("left_out", []))
        self._told = [] if tried else [
            {"toolbox_id": left_out[name], "entry_point": name, "tools": None}
            for name in names if name in left_out and name in points]
        names = [name for name in names if name not in tried and name not in left_out]
        for index, name in enumerate(names):
            if note:
                note(name, len(names) - index - 1, self)
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
        if not toolbox.tools:
            toolbox.refresh_tools()  # a first attempt has failed unseen: its error is wanted
        entries = [{key: entry[key] for key in
                    ("name", "description", "argument_schema", "output_schema")}
                   for entry in toolbox.tool_json_list]
        told = {"toolbox_id": toolbox.toolbox_id, "entry_point": point.name, "tools": entries}
        to_json([[[told]]])  # as deep as it will stand in what is told
        self._told.append(told)
        self._boxes[toolbox.toolbox_id] = toolbox

    def news(self):
        """What was found out since the last time."""
        news = {"told": self._told, "failed": self._failed,
                "sources": list(source_files(self._modules))}
        self._told, self._failed, self._modules = [], [], set()
        return news

    def find(self, index):
        """The ToolBox of a call's tool, and the tool's name."""
        toolbox_id, name, _ = self.tools[index]
        if toolbox_id not in self._boxes:
            why = "; ".join(f"'{one['toolbox_id']}' failed: {one['error']}"
                            for one in self._failed) or "its plugin is no longer installed"
            raise LookupError(f"the ToolBox '{toolbox_id}' could not be loaded: {why}")
        return self._boxes[toolbox_id], name


# ── telling ─────────────────────────────────────────────────────────────────────────────────────


def tell_from_child(load, tried, fd):
    """In the child: before each plugin a line with its name, how many come after it, and what was
    found out before it; at last one without a name."""
    def note(name, n_left, toolboxes):
        lines.write(to_json([name, n_left, toolboxes.news()]) + b"\n")
        lines.flush()

    try:
        keep_from_children(fd)
        with open(fd, "wb") as lines:
            note(None, 0, Toolboxes(load, Bus(None), tried, note))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def follow(fd, end):
    """The lines of a child, as they come. One plugin may take half of the time that is left until
    `end`, the last one all of it; what takes longer is told by None."""
    text, until = b"", end
    while True:
        if not select.select([fd], [], [], max(until - time.monotonic(), 0))[0]:
            yield None
            return
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            return
        *lines, text = (text + chunk).split(b"\n")
        for line in map(json.loads, lines):
            left = end - time.monotonic()
            until = end - left / 2 if line[1] else end
            yield line


def ask_child(load, tried, found, end):
    """Have a child load the plugins that were not tried, and add what it finds out. False when one
    has ended it, or taken too long, and others are left."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        tell_from_child(load, tried, send)
    os.close(send)
    name, n_left, began, is_slow = "", 1, time.monotonic(), False
    for line in follow(receive, end):
        if line is None:
            os.kill(child, signal.SIGKILL)
            is_slow = True
            break
        name, n_left, began = *line[:2], time.monotonic()
        tried.append(name)
        for key, news in line[2].items():
            found[key] += news
    os.close(receive)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if name is None:
        return True
    if name == "":
        raise RuntimeError("what is installed cannot be read")
    ended = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    found["failed"].append(failure(
        name, f"loading it took more than {time.monotonic() - began:.1f} s, which leaves too little "
        "for the others: raise toolboxd.start_timeout_ms, or give it a manifest of its own"
        if is_slow else f"loading it ended the interpreter ({ended})"))
    return n_left == 0


def tell(load, missing, began):
    """The object of LOADED, for all that can be loaded. It depends on where something may be
    installed, on the interpreter, and on the plugins themselves, which are edited in place while
    they are written."""
    found, tried, boxes = {"told": [], "failed": [], "sources": []}, [], {}
    end = began + load.get("start_timeout_ms", START_MS) / 1000 * TELLING_SHARE
    try:
        while not ask_child(load, tried, found, end):
            pass
    except OSError:  # there is no process to be had
        found = Toolboxes(load, Bus(None)).news()
    for told in found["told"]:
        other = boxes.setdefault(told["toolbox_id"], told)
        if other is not told:
            found["failed"].append(failure(
                told["entry_point"], f"its toolbox_id '{told['toolbox_id']}' is that of the plugin "
                f"'{other['entry_point']}'"))
    folders = (os.path.abspath(path) for path in sys.path if os.path.exists(path))
    return {"missing": missing, "toolboxes": list(boxes.values()), "failed": found["failed"],
            "depends": sorted({*folders, sys.executable, *found["sources"]})}


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
    """The violations that pydantic found (contract.md, Errors); None when it was not asked."""
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


def validate(toolbox, name, arguments):
    """Let pydantic look at the arguments of a call, and run nothing: null, or an error as of the call."""
    try:
        toolbox.validate_input(toolbox.get_tool(name), arguments)
    except ValueError as error:
        raise ValueError(f"Tool input validation failed for '{name}'") from error


def run(toolboxes, kind, payload):
    """Run a call, or only look at its arguments: the kind of the answer, and its payload."""
    _program, index, _timeout_ms, output_max, _stderr_max, caller_size = INVOKE_HEAD.unpack_from(payload)
    arguments = json.loads(payload[INVOKE_HEAD.size + caller_size:])
    try:
        toolbox, name = toolboxes.find(index)
        call = toolbox.call_tool if kind == INVOKE else partial(validate, toolbox)
        text = result_json(call(name, arguments))
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
        if frame[0] in (INVOKE, CHECK):
            bus.emit_bytes_max = INVOKE_HEAD.unpack_from(frame[2])[3]
        calls.put(frame)


def leave_own_folder():
    """Where this file is, nothing is installed."""
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]


def main():
    began = time.monotonic()
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
        wire.write_json(LOADED, 0, tell(load, sys.argv[1], began))
        return 1 if wire.read() else 0
    bus = Bus(wire)
    # A ToolBox may ask the bus while it is constructed.
    bus.start()
    threading.Thread(target=read_frames, args=(wire, calls, bus), daemon=True).start()
    toolboxes = Toolboxes(load, bus)
    wire.write_json(LOADED, 0, {"missing": sys.argv[1]})
    for kind, call_id, payload in iter(calls.get, None):
        if kind not in (INVOKE, CHECK):
            return 1
        answer, text = run(toolboxes, kind, payload)
        wire.write(answer, call_id, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
