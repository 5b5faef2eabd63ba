# SPDX-License-Identifier: Apache-2.0
"""The host of OVOS's ToolBox plugins: the program that toolbox-host becomes for the kind python.

    toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ an interpreter of the user's, with this file

It sends and receives the frames of service/wire/wire.h on descriptor 3 and finds the text of the
LOAD frame in descriptor 4. The arguments are the restrictions missing from the sandbox ("" for none),
then further interpreters to try: an interpreter without ovos_plugin_manager executes the next one.

    reader thread     frames ──▶ calls (a queue), bus messages to the threads waiting for them
    main thread       loads, then runs one call after the other, as the daemon sends them
    dispatcher thread handlers of a ToolBox on the bus, one message after the other

Plugins are other people's code: their import, construction, description and calls may raise
anything, SystemExit too, and cost no more than their own ToolBox or their own call. For a
description they are loaded in a child process: a plugin that ends or blocks the child is left out,
and another child loads the rest. For calls only the ToolBoxes in use are loaded, in this process.
A LOAD frame with a file is for functions in place of plugins (toolbox_python_file.py).

Python 3.9 or later; nothing is needed beyond the needs of OVOS's plugins.
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

from toolbox_python_file import Functions, WrongFile
from toolbox_python_bus import (CHECK, ERROR, INVOKE, INVOKE_HEAD, LOADED, MESSAGE, REFUSED, RESULT, Bus,
                                Wire, keep_from_children, to_json)

WIRE_FD, LOAD_FD = 3, 4
BRIDGE = "toolboxd"
ENTRY_POINTS = "opm.agents.toolbox"
PLUGIN_MANAGER = "ovos_plugin_manager"
START_MS, PLUGINS_SHARE = 10000, 0.8  # the time for a description, and the share of the plugins
LEAVE_SECONDS = 0.4                  # shorter than the daemon's wait (host.h, HOST_DISMISS_MS)
WORDS_MAX = 20000                    # characters of one error
VIOLATIONS_MAX = 10                  # of one call, as many as toolboxd itself reports


class Refused(Exception):
    """Nothing can be loaded: the place in the LOAD frame, and the reason."""

    def __init__(self, pointer, message):
        super().__init__(message)
        self.pointer = pointer


def text_of(thing):
    """The text of an object, cut; characters without UTF-8 (half a surrogate pair) are spelled out."""
    try:
        text = str(thing)[:WORDS_MAX]
    except Exception:
        text = "(its text cannot be read)"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def words_of(error):
    """The end of a traceback, the error's type and text, in one line."""
    return " ".join(f"{type(error).__name__}: {text_of(error)}".split()).rstrip(":")


# ── loading ─────────────────────────────────────────────────────────────────────────────────────


def construct(cls, entry_point, config, bus):
    """A ToolBox, by any of these constructors: (config, bus), (toolbox_id, config, bus), (config)."""
    parameters = inspect.signature(cls).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    offered = {"config": config, "bus": bus}
    # Through **kwargs an id would reach a base class which gets an id already.
    if "toolbox_id" in parameters:
        offered["toolbox_id"] = entry_point
    return cls(**{name: value for name, value in offered.items()
                  if takes_any or name in parameters})


def installed():
    """The entry points of all ToolBoxes, by name; and the unreadable distributions."""
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
            # If two have the same name, only the first in the path is installed.
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
    """The files of modules, loaded or not."""
    for name in names:
        try:
            spec = importlib.util.find_spec(name)
        except BaseException:  # find_spec() imports the package
            continue
        if spec and spec.origin and os.path.isfile(spec.origin):
            yield os.path.abspath(spec.origin)


class Toolboxes:
    """The ToolBoxes of one manifest, and the list of tools for the indexes of calls."""

    def __init__(self, load, bus, tried=(), note=None):
        """With a list of tools only their ToolBoxes are loaded. Plugins left out are described without
        an import. `tried` are plugins loaded elsewhere; `note` is called before each plugin, with
        the plugin's name and the number of plugins after it."""
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
        self._described = [] if tried else [
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
            toolbox.refresh_tools()  # the constructor has hidden the error of its own attempt
        entries = [{key: entry[key] for key in
                    ("name", "description", "argument_schema", "output_schema")}
                   for entry in toolbox.tool_json_list]
        box = {"toolbox_id": toolbox.toolbox_id, "entry_point": point.name, "tools": entries}
        to_json([[[box]]])  # as deep as in the frame LOADED
        self._described.append(box)
        self._boxes[toolbox.toolbox_id] = toolbox

    def news(self):
        """The findings since the last call."""
        news = {"toolboxes": self._described, "failed": self._failed,
                "sources": list(source_files(self._modules))}
        self._described, self._failed, self._modules = [], [], set()
        return news

    def find(self, index):
        """The ToolBox of a call's tool, and the tool's name."""
        toolbox_id, name, _ = self.tools[index]
        if toolbox_id not in self._boxes:
            why = "; ".join(f"'{one['toolbox_id']}' failed: {one['error']}"
                            for one in self._failed) or "its plugin is no longer installed"
            raise LookupError(f"the ToolBox '{toolbox_id}' could not be loaded: {why}")
        return self._boxes[toolbox_id], name


# ── describing ──────────────────────────────────────────────────────────────────────────────────


def describe_in_child(load, tried, fd):
    """In the child: write a line before each plugin, with the plugin's name, the number of plugins
    after it, and the findings before it; at last a line without a name."""
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
    """The lines of a child, as they come. A plugin may take half of the time left until `end`, the last
    plugin the whole time; None reports a plugin over its time."""
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
    """Have a child load the untried plugins, and add its findings. False when a plugin has ended the
    child, or taken too long, and other plugins are left."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        describe_in_child(load, tried, send)
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
        raise RuntimeError("the installed packages cannot be read")
    ended = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    found["failed"].append(failure(
        name, f"loading it took more than {time.monotonic() - began:.1f} s, which leaves too little "
        "for the others: raise toolboxd.start_timeout_ms, or give it a manifest of its own"
        if is_slow else f"loading it ended the interpreter ({ended})"))
    return n_left == 0


def describe(load, missing, began):
    """The object of LOADED, for all loadable plugins. It depends on the folders of packages, on the
    interpreter, and on the plugins' own files, which their authors edit in place."""
    found, tried, boxes = {"toolboxes": [], "failed": [], "sources": []}, [], {}
    end = began + load.get("start_timeout_ms", START_MS) / 1000 * PLUGINS_SHARE
    try:
        while not ask_child(load, tried, found, end):
            pass
    except OSError:  # no process can be started
        found = Toolboxes(load, Bus(None)).news()
    for box in found["toolboxes"]:
        other = boxes.setdefault(box["toolbox_id"], box)
        if other is not box:
            found["failed"].append(failure(
                box["entry_point"], f"its toolbox_id '{box['toolbox_id']}' belongs to the plugin "
                f"'{other['entry_point']}'"))
    folders = (os.path.abspath(path) for path in sys.path if os.path.exists(path))
    return {"missing": missing, "toolboxes": list(boxes.values()), "failed": found["failed"],
            "depends": sorted({*folders, sys.executable, *found["sources"]})}


# ── the process ─────────────────────────────────────────────────────────────────────────────────


def find_plugin_manager(others):
    """Return if this interpreter has the plugin manager; else execute the next interpreter."""
    if importlib.util.find_spec(PLUGIN_MANAGER):
        return
    for fd in (WIRE_FD, LOAD_FD):
        os.set_inheritable(fd, True)
    for index, python in enumerate(others):
        try:
            os.execv(python, [python, __file__, sys.argv[1], *others[index + 1:]])
        except OSError:
            continue
    raise Refused("/python", f"no Python interpreter here has {PLUGIN_MANAGER}; the last one "
                  f"tried is {sys.executable}")


# ── calls ───────────────────────────────────────────────────────────────────────────────────────


def causes_of(error):
    """The error and its causes (`raise … from`), outermost first."""
    while error is not None:
        yield error
        error = error.__cause__


def violations_of(error):
    """The violations found by pydantic (contract.md, Errors); None for another error."""
    for cause in causes_of(error):
        if callable(getattr(cause, "errors", None)):
            return [{"path": "".join("/" + text_of(part).replace("~", "~0").replace("/", "~1")
                                     for part in found.get("loc", ())),
                     "message": text_of(found.get("msg", ""))}
                    for found in cause.errors()[:VIOLATIONS_MAX]]
    return None


def describe_failure(error):
    """The ERROR frame's object: the base class names the failed step, its cause has the reason."""
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
    """A result's text. A value beyond JSON is an error with the whole result: a tool may explain its
    NaN in another member."""
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json")
    try:
        return to_json(result)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the result is not JSON ({error}): {text_of(result)}") from None


def validate(toolbox, name, arguments):
    """Let pydantic check the arguments of a call, and run nothing: null, or an error as of the call."""
    try:
        toolbox.validate_input(toolbox.get_tool(name), arguments)
    except ValueError as error:
        raise ValueError(f"Tool input validation failed for '{name}'") from error


def run(toolboxes, kind, payload):
    """Run a call, or only check its arguments: the kind of the answer, and the payload."""
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
    """The daemon has closed the socket: end in order, with the atexit functions of ToolBoxes, or a
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
    """Nothing is installed in the folder of this file."""
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]


def read_load():
    """The LOAD frame; for a file also whether its source is sealed, and the source."""
    with os.fdopen(os.dup(LOAD_FD), "rb") as file:
        file.seek(0)
        text, _, rest = file.read().partition(b"\n")
    how, _, source = rest.partition(b"\n")
    return json.loads(text), how == b"sealed", source


def load_toolboxes(wire, load, bus):
    """The ToolBoxes of a LOAD frame with tools."""
    # A ToolBox may ask the bus while it is constructed.
    bus.start()
    toolboxes = Toolboxes(load, bus)
    wire.write_json(LOADED, 0, {"missing": sys.argv[1]})
    return toolboxes


def load_functions(wire, load, is_sealed, source):
    """The functions of a file: described, or for calls. None when the file is refused."""
    try:
        functions = Functions(load["library"], source, load.get("tools"))
        described = {} if "tools" in load else {"tools": functions.describe(), "validating": []}
        wire.write_json(LOADED, 0, {"missing": sys.argv[1], "sealed": is_sealed,
                                    "library": load["library"], **described})
    except (WrongFile, TypeError, ValueError) as error:
        wire.write_json(REFUSED, 0, {"pointer": "/file", "message": text_of(error)})
        return None
    return functions


def serve(wire, calls, toolboxes):
    """Run calls until the daemon closes the socket: the exit status."""
    for kind, call_id, payload in iter(calls.get, None):
        if kind not in (INVOKE, CHECK):
            return 1
        answer, text = run(toolboxes, kind, payload)
        wire.write(answer, call_id, text)
    return 0


def main():
    began = time.monotonic()
    leave_own_folder()
    load, is_sealed, source = read_load()
    has_file = "library" in load
    try:
        if not has_file:
            find_plugin_manager(sys.argv[2:])
    except Refused as refused:
        Wire(WIRE_FD).write_json(REFUSED, 0, {"pointer": refused.pointer, "message": str(refused)})
        return 0
    wire, calls = Wire(WIRE_FD), queue.SimpleQueue()
    os.close(LOAD_FD)
    if "tools" not in load and not has_file:
        wire.write_json(LOADED, 0, describe(load, sys.argv[1], began))
        return 1 if wire.read() else 0
    bus = Bus(None if has_file else wire)
    threading.Thread(target=read_frames, args=(wire, calls, bus), daemon=True).start()
    toolboxes = load_functions(wire, load, is_sealed, source) if has_file else load_toolboxes(wire, load, bus)
    return serve(wire, calls, toolboxes) if toolboxes else 0


if __name__ == "__main__":
    sys.exit(main())
