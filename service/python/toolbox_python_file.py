# SPDX-License-Identifier: Apache-2.0
"""A Python file whose functions are tools (docs/python.md, Functions of a file): the part of
toolbox_python.py for a manifest with `file`.

    LOAD_FD: the LOAD frame, "sealed" or "file", the source ─▶ a module ─▶ its functions with @tool

The source comes from the daemon's copy, so a call never runs other code than the described one. The
file may be other people's code: its import may raise or do anything, and costs no more than its own
toolbox. Calls run one after the other, in the main thread; coroutines in one loop of asyncio.
"""
import asyncio
import importlib.util
import inspect
import os
import sys
import traceback
import types

MODULE = "toolbox_file"  # the name of its module; the name of the file could be another module's


class WrongFile(Exception):
    """The file offers no tools, for the reason in the text."""


def load_toolbox_module():
    """The module `toolbox`, which is installed beside this file."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "toolbox.py")
    spec = importlib.util.spec_from_file_location("toolbox", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["toolbox"] = module
    spec.loader.exec_module(module)
    return module


def place_of(error, path):
    """The last line of the file in the error's traceback, as `file.py:3: `; nothing without such a line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{os.path.basename(path)}:{lines[-1]}: " if lines else ""


def words_of(error, path):
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
    return place_of(error, path) + text


class Functions:
    """The tools of a file."""

    def __init__(self, path, source, names):
        """`names` has the tools for the indexes of calls; None for a description."""
        self._loop = None
        self._names = names
        toolbox = load_toolbox_module()
        module = types.ModuleType(MODULE)
        module.__file__ = path
        sys.modules[MODULE] = module
        # A module beside the file can be imported, unless another one has its name.
        sys.path.append(os.path.dirname(path))
        try:
            exec(compile(source, path, "exec"), module.__dict__)
        except BaseException as error:
            traceback.print_exc()
            raise WrongFile(words_of(error, path)) from None
        self._tools = {}
        for one in toolbox.TOOLS:
            if self._tools.setdefault(one.name, one) is not one:
                raise WrongFile(f"it has two functions called '{one.name}'")
        if not self._tools:
            raise WrongFile("it has no function with @tool (from toolbox import tool)")

    def describe(self):
        return [one.definition for one in self._tools.values()]

    # The methods that calls need, as Toolboxes and a ToolBox have them.

    def find(self, index):
        return self, self._names[index]

    def call_tool(self, name, arguments):
        if name not in self._tools:
            raise LookupError(f"the file has no tool '{name}' any more")
        found = self._tools[name]
        result = found.function(**found.read(arguments))
        if inspect.isawaitable(result):
            result = self._wait_for(result)
        result = sys.modules["toolbox"].write(result)
        return result if isinstance(result, dict) else {"result": result}

    def _wait_for(self, result):
        async def wait():
            return await result

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(wait())
