# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl invoke --file`: a tool without a daemon, in a service of its own that nobody else can
use, that is gone afterwards, and that says what `check` says."""
import json
import os
import signal
import subprocess
import time

import manifests
import pytest
from processes import (EVENT_SECONDS, TOOLBOXCTL, children, environment, is_alive, listening,
                       toolboxctl, until, write_configuration)
from test_history import crashy
from test_mcp_servers import command as mcp_server
from websocket_peer import Closed, Peer

DONE, ERROR, USAGE = range(3)


@pytest.fixture
def invoke(tmp_path):
    def run(file, *args, **options):
        return toolboxctl("invoke", "--file", str(file), *args, home=tmp_path / "home", **options)
    return run


def test_a_manifest_of_a_path_with_spaces(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path / "my tools", "numbers", [manifests.labs()])
    done = invoke(manifest, "absolute", "value=-3")
    assert done.returncode == DONE and done.stderr == "" and '"result": 3' in done.stdout


def test_a_folder_of_programs(invoke, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "greet").write_text("#!/bin/sh\n# description: Greet.\n# risk: execute\necho hello\n")
    (folder / "greet").chmod(0o755)
    done = invoke(folder, "greet")
    assert done.returncode == DONE and "hello" in done.stdout, "nobody is asked for approval"
    assert invoke(folder / "greet", "greet").stdout == done.stdout, "a program is a tool of its folder"
    (folder / "greet").chmod(0o644)
    assert invoke(folder / "greet", "greet").returncode == ERROR


def test_a_registration_folder(invoke, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "numbers", [manifests.labs()])
    manifests.toolbox(folder, "more", [manifests.labs("size")])
    done = invoke(folder, "size", "value=-3")
    assert done.returncode == DONE and '"result": 3' in done.stdout, done.stderr


def test_a_server_that_needs_more_than_a_minute_to_start(tmp_path, times):
    """Its service has a configuration that gives it so much."""
    if not times(False, True):
        pytest.skip("it waits for more than a minute: --long")
    write_configuration(tmp_path / "home", {"toolboxd": {"start_timeout_ms": 300000}})
    manifest = tmp_path / "slow.json"
    manifest.write_text(json.dumps({"kind": "mcp", "risk": "read", "mcp": {
        "command": ["sh", "-c", 'sleep 62; exec "$@"', "sh", *mcp_server()]}}))
    done = toolboxctl("invoke", "--file", str(manifest), "add", "a=1", home=tmp_path / "home", seconds=300)
    assert done.returncode == DONE and '"sum": 2' in done.stdout, done


def test_what_is_wrong_with_the_file_is_said_as_check_says_it(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path, "broken", [manifests.tool("nothing", "no_such_function")])
    checked = toolboxctl("check", str(manifest), home=tmp_path / "home")
    done = invoke(manifest, "nothing")
    assert done.returncode == ERROR
    assert [line for line in checked.stderr.splitlines() if line.startswith("error ")]
    assert done.stderr.startswith(checked.stderr), (checked.stderr, done.stderr)


def test_without_a_home_and_where_nothing_can_be_written(tmp_path):
    manifest = manifests.toolbox(tmp_path, "numbers", [manifests.labs()])
    env = {key: value for key, value in environment(tmp_path / "home").items()
           if key == "PATH" or key.endswith("SAN_OPTIONS")}
    done = subprocess.run([TOOLBOXCTL, "invoke", "--file", manifest, "absolute", "value=-3"], env=env,
                          cwd="/proc", text=True, capture_output=True, timeout=EVENT_SECONDS)
    assert done.returncode == DONE and '"result": 3' in done.stdout, done.stderr


@pytest.fixture
def waiting(tmp_path):
    """toolboxctl in a call that takes long, and its processes: the service first."""
    manifest = manifests.toolbox(tmp_path, "sleeps", [manifests.sleeper(timeout_ms=60000)])
    command = [str(TOOLBOXCTL), "invoke", "--file", str(manifest), "sleep", "seconds=60"]
    with subprocess.Popen(command, env=environment(tmp_path / "home"), start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        until(lambda: len(children(running.pid)) >= 2, EVENT_SECONDS, "the host to start")
        yield running, children(running.pid)
        running.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_call_that_hangs(waiting, number):
    running, processes = waiting
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does
    else:
        os.kill(running.pid, number)
    running.wait(EVENT_SECONDS)
    until(lambda: not any(is_alive(pid) for pid in processes), EVENT_SECONDS, "all of it to end")


def test_a_reload_lets_nobody_else_in(waiting, tmp_path):
    """The configuration that is read again knows of no token."""
    _running, processes = waiting
    [port] = listening(processes[0])
    write_configuration(tmp_path / "home", {"toolboxd": {"tools_disabled": ["none/*"]}})
    os.kill(processes[0], signal.SIGHUP)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with pytest.raises(Closed, match="401"):
            Peer(f"ws://127.0.0.1:{port}/core")


def test_a_file_that_is_not_there(invoke, tmp_path):
    done = invoke(tmp_path / "none.json", "absolute", "value=-3")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr == f"toolboxctl: {tmp_path}/none.json: cannot be read: No such file or directory\n"


def test_what_a_library_printed_before_it_died_is_shown(invoke, launch, tmp_path):
    """A daemon's processes have calls of others, too: there it says where to look."""
    file = crashy(tmp_path / "toolbox.d")
    done = invoke(file, "crash", "what=it broke")
    first, second, *lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert first == "toolboxctl: RuntimeError: Toolbox host 'crashy' died (SIGABRT) while running 'crash'"
    assert second == "  signal: SIGABRT" and lines[0] == "  stderr:"
    assert len(lines) == 2 and lines[1].endswith("Assertion `it broke' failed.")
    service = launch({}, [tmp_path / "toolbox.d"])
    done = toolboxctl("invoke", "crash", "what=it broke", bus=service.url, home=tmp_path / "home")
    assert done.stderr.splitlines() == [first, second, "  what its processes have printed: toolboxctl status crashy"]
    done = toolboxctl("invoke", "crash", "what=it broke", "--json", bus=service.url, home=tmp_path / "home")
    assert (done.returncode, done.stderr) == (ERROR, "")
