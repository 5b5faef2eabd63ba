# SPDX-License-Identifier: Apache-2.0
"""toolboxd and the Python plugin that it replaces, each on a bus of its own, asked the same.

    with SideBySide(home, [folder], configuration) as both:
        ours, python = both.ask("ovos.tools.get", {"name": "add"})
"""
import sys
from pathlib import Path
from urllib.parse import urlsplit

from caller import Caller
from processes import (EVENT_SECONDS, Daemon, OvosBus, Process, environment, until,
                       write_configuration)
from python_site import wait_until_told

# Fields that are ours alone, everywhere.
ONLY_OURS = {
    "code": "errors carry a code for programs (contract.md, Errors)",
    "violations": "the faults of the arguments, for programs (contract.md, Errors)",
    "suggestions": "near names (contract.md, Errors)",
    "risk": "declared by the manifest (contract.md, Definitions)",
    "triggers": "declared by the manifest (contract.md, Definitions)",
    "examples": "declared by the manifest (contract.md, Definitions)",
    "spoken": "declared by the manifest (contract.md, Definitions)",
    "parallel": "declared by the manifest (contract.md, Definitions)",
    "source": "a definition says where its tool comes from (contract.md, Definitions)",
    "failed": "a reload lists the toolboxes that failed (contract.md, Requests)",
    "tools": "a reload lists the definitions, as OVOS-TOOLS-1 wants (contract.md, Requests)",
}


def without_ours(data, kept=()):
    return {key: value for key, value in data.items() if key not in ONLY_OURS or key in kept}


class SideBySide:
    """Both are given the same mycroft.conf; `toolbox_dirs` is what toolboxd serves, `python` the
    interpreter of the plugin."""

    def __init__(self, home, toolbox_dirs, configuration=None, python=sys.executable):
        homes = [home / "toolboxd", home / "python"]
        for one in homes:
            # The plugin asks nobody, whatever a tool does.
            write_configuration(one, {"toolboxd": {"approval": {"mode": "off"}},
                                      **(configuration or {})})
        self.buses = [OvosBus(home / "ours"), OvosBus(home / "theirs")]
        self.daemon = Daemon(homes[0], toolbox_dirs, self.buses[0].url)
        where = urlsplit(self.buses[1].url)
        script = Path(__file__).with_name("plugin_service.py")
        self.plugin = Process([python, script, where.hostname, where.port],
                              environment(homes[1]), home / "plugin.log")
        self.callers = []

    def __enter__(self):
        try:
            until(lambda: "ready" in self.plugin.log().splitlines(), EVENT_SECONDS, "the plugin")
            self.callers = [Caller(bus.url) for bus in self.buses]
            until(self._is_ready, EVENT_SECONDS, "toolboxd on its bus")
            wait_until_told(self.callers[0])
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, *_):
        try:
            for caller in self.callers:
                caller.close()
            self.daemon.end()
        finally:
            self._kill()

    def _kill(self):
        for process in (self.daemon, self.plugin, *self.buses):
            process.kill()

    def _is_ready(self):
        try:
            return self.callers[0].call("mycroft.toolboxd.is_ready", seconds=0.3)["status"]
        except TimeoutError:
            return False

    def ask_python(self, topic, data, context=None):
        """The plugin's answer alone, a Message."""
        theirs = self.callers[1]
        mark = theirs.send(topic, data, context)
        return theirs.wait_for(lambda message: message.type == topic + ".response"
                               and message.context.get("mark") == mark)

    def ask(self, topic, data, context=None):
        """Both answers: ours, Python's."""
        python = self.ask_python(topic, data, context)
        mark = self.callers[0].send(topic, data, context)
        return self.callers[0].answer_to(topic, mark), python
