# SPDX-License-Identifier: Apache-2.0
"""Another tool service on the same bus, a second toolboxd or the Python plugin: noticed when either
comes, said once in the log, shown by `status`, and never seen where there is none."""
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from caller import Caller
from processes import (EVENT_SECONDS, Daemon, OvosBus, Process, environment, toolboxctl, until,
                       write_configuration)

TOOLBOXD = "Another toolboxd is on this bus"
PLUGIN = "ovos-PHAL-plugin-tools"


@pytest.fixture
def bus(tmp_path):
    bus = OvosBus(tmp_path / "bus")
    yield bus
    bus.end()


@pytest.fixture
def serve(tmp_path, bus):
    """serve(): a daemon on the bus that is ready."""
    started = []

    def start():
        started.append(Daemon(tmp_path / f"home-{len(started)}", [], bus.url, {}))
        until(lambda: "On the bus" in started[-1].log(), EVENT_SECONDS, "toolboxd on the bus")
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def plugin(tmp_path, bus):
    """plugin(): the plugin on the bus."""
    started = []

    def start():
        home = tmp_path / "plugin"
        write_configuration(home, {})
        script = Path(__file__).with_name("plugin_service.py")
        started.append(Process([sys.executable, script, "127.0.0.1", bus.port], environment(home),
                               tmp_path / "plugin.log"))
        until(lambda: "ready" in started[-1].log().splitlines(), EVENT_SECONDS, "the plugin")
        return started[-1]

    yield start
    for one in started:
        one.end()


def others(bus):
    """What the status has. (A Caller would find that the plugin's answers are not as ours must be.)"""
    done = toolboxctl("status", "--json", bus=bus.url, home=bus.home / "ctl")
    return json.loads(done.stdout).get("other_services")


def errors(daemon):
    return [line for line in daemon.log().splitlines() if "ERROR" in line]


def test_two_daemons_name_each_other(serve, bus):
    daemons = [serve(), serve()]
    for one, other in (daemons, daemons[::-1]):
        until(lambda one=one: errors(one), EVENT_SECONDS, "the other toolboxd to be noticed")
        [line] = errors(one)
        assert TOOLBOXD in line and f"process {other.pid} of this machine" in line, line


def test_the_plugin_that_was_there_is_named_with_what_to_switch_off(serve, plugin, bus, tmp_path):
    plugin()
    daemon = serve()
    until(lambda: errors(daemon), EVENT_SECONDS, "the plugin to be noticed")
    [line] = errors(daemon)
    assert PLUGIN in line and '"enabled": false' in line and "pip uninstall" in line, line
    done = toolboxctl("status", bus=bus.url, home=tmp_path / "ctl")
    assert "another tool service answers on this bus: ovos-PHAL-plugin-tools" in done.stderr, done.stderr


def test_the_plugin_that_comes_later_is_noticed_by_its_answers(serve, plugin, bus):
    daemon = serve()
    time.sleep(3)  # its first question is over
    assert others(bus) is None
    plugin()
    for _ in range(5):
        toolboxctl("get", "nothing", bus=bus.url, home=bus.home / "ctl")
    # One question in 15 seconds: the next one waits for that.
    until(lambda: errors(daemon), EVENT_SECONDS, "the plugin to be noticed")
    assert PLUGIN in errors(daemon)[0] and others(bus) == [{"service": PLUGIN}]


def test_the_plugin_that_is_there_when_the_bus_is_back_is_named(serve, plugin, bus, tmp_path):
    daemon = serve()
    time.sleep(3)  # its first question is over
    os.kill(daemon.daemon_pid(), signal.SIGSTOP)
    bus.end()
    again = OvosBus(tmp_path / "again", bus.port)
    try:
        plugin()
        os.kill(daemon.daemon_pid(), signal.SIGCONT)
        until(lambda: any(PLUGIN in line for line in errors(daemon)), EVENT_SECONDS, "the plugin to be noticed")
        daemon.end()
    finally:
        again.end()


def test_a_daemon_alone_sees_nobody_whatever_it_answers(serve, bus):
    daemon = serve()
    with Caller(bus.url) as caller:
        for _ in range(50):
            caller.call("ovos.tools.list")
            caller.call("ovos.tools.get", {"name": "nothing"})
        time.sleep(3)
        assert "other_services" not in caller.call("ovos.tools.status")
    assert not errors(daemon) and "WARN" not in daemon.log(), daemon.log()


def test_a_forged_answer_is_a_question_at_most(serve, bus):
    """Messages of strangers fill no log, and are no service."""
    daemon = serve()
    time.sleep(3)
    with Caller(bus.url) as caller:
        for _ in range(200):
            caller.peer.send(json.dumps({"type": "ovos.tools.get.response", "data": {},
                                         "context": {"toolboxd": {"key": "0" * 16}}}))
        caller.call("ovos.tools.list")
    assert others(bus) is None and not errors(daemon)
    assert len(daemon.log().splitlines()) < 30, daemon.log()
