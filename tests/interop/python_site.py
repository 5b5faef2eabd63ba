# SPDX-License-Identifier: Apache-2.0
"""Python environments with ToolBox plugins that tests make up, as pip would have installed them.

    site = Site(folder)                             an environment with OVOS in it, and no plugin
    site.install("my_boxes", SOURCE, {"a": "Box"})  a package with the entry point `a`
    site.remove("my_boxes")
    site.python                                     its interpreter, for a manifest

No pip runs: an environment is an interpreter's name beside a file, a package is a module beside a
folder that lists its entry points. What the plugins need is linked from where the tests run.
"""
import shutil
import sysconfig
import textwrap
import venv
from pathlib import Path

from processes import EVENT_SECONDS, until

GROUP = "opm.agents.toolbox"

# What of the tests' own environment is not to be seen: its ToolBoxes, and what is written there.
LEFT_OUT = ("ovos_agentic_loop", "toolboxd_interop_math", "__pycache__")

PRELUDE = """\
from ovos_bus_client.message import Message
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from pydantic import Field


class Nothing(ToolArguments):
    pass


class Text(ToolArguments):
    text: str = "hello"


class Reply(ToolOutput):
    reply: str


def tool(name, call, arguments=Text, result=Reply):
    return AgentTool(name, f"The tool {name}.", arguments, result, call)
"""

# `boxes(…)` of a module is its ToolBox with these tools; the plainest is boxes(echo=ECHO).
BOX = """

class {cls}(ToolBox):
    def __init__(self, config=None, bus=None):
        super().__init__({toolbox_id!r}, config, bus)

    def discover_tools(self):
        return [{tools}]
"""
ECHO = "lambda args: {'reply': args.text}"


def box(toolbox_id, cls="Box", **tools):
    """The source of a ToolBox whose tools take a text and reply; each is told as an expression."""
    return BOX.format(cls=cls, toolbox_id=toolbox_id, tools=", ".join(
        f"tool({name!r}, {call})" for name, call in (tools or {"echo": ECHO}).items()))


def wait_until_told(caller):
    """A daemon is ready before any Python is: wait for what the interpreters have to tell."""
    def is_told():
        told = caller.call("ovos.tools.status")["not_offered"]
        return not any("is describing its tools" in one["why"] for one in told)

    until(is_told, EVENT_SECONDS, "every interpreter asked")


class Site:
    def __init__(self, folder):
        venv.EnvBuilder(symlinks=True).create(folder)
        self.python = folder / "bin" / "python"
        self.folder = next((folder / "lib").glob("python3*")) / "site-packages"
        (self.folder / "__pycache__").mkdir()  # pip has compiled something, as a rule
        for path in Path(sysconfig.get_path("purelib")).iterdir():
            if not path.name.startswith(LEFT_OUT):
                (self.folder / path.name).symlink_to(path)

    def install(self, name, source, entry_points=None, listed=None):
        """A module, and the classes in it that are entry points; or `listed`, the file's text."""
        (self.folder / f"{name}.py").write_text(PRELUDE + textwrap.dedent(source))
        info = self.folder / f"{name}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{point} = {name}:{cls}\n" for point, cls in (entry_points or {}).items()]
        (info / "entry_points.txt").write_text(listed or f"[{GROUP}]\n{''.join(lines)}")

    def remove(self, name):
        (self.folder / f"{name}.py").unlink()
        shutil.rmtree(self.folder / f"{name}-1.0.dist-info")
