# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl dev`: a toolbox that is being written is served, and each change and each call shown."""
import os
import re
import signal
import socket
import subprocess

import manifests
import pytest
from caller import Caller
from processes import (EVENT_SECONDS, TOOLBOXCTL, children, environment, free_port, is_alive,
                       toolboxctl, until, write_configuration)

DONE, ERROR, USAGE = range(3)


class Dev:
    """toolboxctl dev, as from a terminal: a group of processes, and what they print."""

    def __init__(self, tmp_path, path):
        self.home = tmp_path / "home"
        self.out = tmp_path / "out"
        self.port = free_port()
        self.env = environment(self.home)
        write_configuration(self.home, {"websocket": {"port": self.port}})
        self.path = path

    def __enter__(self):
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen([TOOLBOXCTL, "dev", self.path], env=self.env, stdout=out,
                                            stderr=out, start_new_session=True)
        self.wait(" offered")
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()

    def text(self):
        return self.out.read_text()

    def wait(self, words):
        until(lambda: words in self.text(), EVENT_SECONDS, f"{words!r} in {self.text()!r}")

    def url(self):
        return re.search(r"On the bus at (\S+)", self.text())[1]


@pytest.fixture
def manifest(tmp_path):
    return manifests.toolbox(tmp_path / "my tools", "numbers", [manifests.labs()])


def test_changes_failures_and_calls_are_shown(tmp_path, manifest):
    with Dev(tmp_path, manifest) as dev:
        dev.wait("1 tool in 1 toolbox is offered")
        assert dev.url() == f"ws://127.0.0.1:{dev.port}/core"
        with Caller(dev.url()) as caller:
            assert caller.call("ovos.tools.invoke", {"name": "absolute", "args": {"value": -3}})
        dev.wait("numbers/absolute")
        dev.wait("done after")
        good = manifest.read_text()
        manifest.write_text("{")
        dev.wait(f"error {manifest}:1")
        dev.wait("numbers fails")
        manifest.write_text(good.replace("absolute", "size"))
        dev.wait("numbers/size added")
        assert not re.search(r"^\d{4}-", dev.text(), re.M), "it is no log"
        assert "the tools have changed" not in dev.text(), "its line of the log says it"


def test_a_mistake_in_a_program_is_shown_with_its_reason(tmp_path):
    program = tmp_path / "bells" / "ring.sh"
    program.parent.mkdir()
    good = "#!/bin/sh\n# description: Rings.\n# risk: read\necho\n"
    program.write_text(good)
    program.chmod(0o755)
    with Dev(tmp_path, program.parent) as dev:
        program.write_text(good.replace("risk: read", "risk: low"))
        dev.wait(f"bells/ring is left out ({program}:3: '# risk:' must be followed by read, write or execute)")
        program.write_text(good)
        dev.wait("bells added")


def test_what_the_configuration_has_for_other_toolboxes_is_no_mistake(tmp_path, manifest):
    dev = Dev(tmp_path, manifest)
    write_configuration(dev.home, {"websocket": {"port": dev.port}, "toolboxd": {
        "tools_disabled": ["shell/*"], "profiles": {"kids": {"tool_names": ["clock/*"]}}}})
    with dev:
        dev.wait("1 tool in 1 toolbox is offered")
        with Caller(dev.url()) as caller:
            caller.call("ovos.tools.reload")
    assert "no tool is called" not in dev.text(), dev.text()


def test_a_bus_that_is_taken_is_left_alone(tmp_path, manifest):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        dev = Dev(tmp_path, manifest)
        write_configuration(dev.home, {"websocket": {"port": taken.getsockname()[1]}})
        with dev:
            assert f"  TOOLBOXD_BUS={dev.url()} toolboxctl invoke TOOL\n" in dev.text()
            assert not dev.url().endswith(f":{taken.getsockname()[1]}/core")
            with Caller(dev.url()) as caller:
                assert len(caller.call("ovos.tools.list")["tools"]) == 1


def test_a_bus_of_another_device_is_left_alone(tmp_path, manifest):
    dev = Dev(tmp_path, manifest)
    write_configuration(dev.home, {"websocket": {"host": "192.0.2.1", "port": dev.port}})
    with dev:
        assert dev.url().startswith("ws://127.0.0.1:")


def test_a_folder_of_several_toolboxes_and_one_that_comes_later(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "numbers", [manifests.labs()])
    with Dev(tmp_path, folder) as dev:
        manifests.toolbox(folder, "more", [manifests.labs("size")])
        dev.wait("more added")


def test_what_a_build_has_made_is_served(tmp_path):
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "CMakeLists.txt").touch()
    with Dev(tmp_path, folder) as dev:
        assert f"\n  cmake -S {folder} -B {folder}/build\n  cmake --build {folder}/build\n" in dev.text()
    manifests.toolbox(folder / "build" / "toolbox.d", "numbers", [manifests.labs()])
    with Dev(tmp_path, folder) as dev:
        assert "info 1 tool " in dev.text() and f"  cmake --build {folder}/build\n" in dev.text()


def test_a_tool_that_executes_needs_approval_as_for_the_daemon(tmp_path):
    manifest = manifests.toolbox(tmp_path, "risky", [manifests.labs(risk="execute")])
    with Dev(tmp_path, manifest) as dev, Caller(dev.url()) as caller:
        answer = caller.call("ovos.tools.invoke", {"name": "absolute", "args": {"value": -3}})
        assert answer["code"] == "denied", "others on this device may call it"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left(tmp_path, number):
    manifest = manifests.toolbox(tmp_path, "sleeps", [manifests.sleeper(timeout_ms=60000)])
    with Dev(tmp_path, manifest) as dev:
        call = subprocess.Popen([TOOLBOXCTL, "invoke", "sleep", "seconds=60"], env=dev.env,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: len(children(dev.process.pid)) >= 2, EVENT_SECONDS, "the host to start")
        processes = children(dev.process.pid)
        if number == signal.SIGINT:
            os.killpg(dev.process.pid, number)
        else:
            dev.process.kill()
        dev.process.wait(EVENT_SECONDS)
        until(lambda: not any(is_alive(pid) for pid in processes), EVENT_SECONDS, "all of it to end")
        call.kill()
        call.wait()


def test_a_service_that_is_killed_ends_it(tmp_path, manifest):
    with Dev(tmp_path, manifest) as dev:
        os.kill(children(dev.process.pid)[0], signal.SIGKILL)
        assert dev.process.wait(EVENT_SECONDS) not in (DONE, -signal.SIGKILL)


def test_a_file_that_is_not_there(tmp_path):
    done = toolboxctl("dev", "nothing", home=tmp_path)
    assert done.returncode == USAGE and done.stderr == "toolboxctl: nothing: No such file or directory\n"
