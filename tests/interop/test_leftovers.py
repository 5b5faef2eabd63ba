# SPDX-License-Identifier: Apache-2.0
"""M4: no process below a guard is left, not even by a program that kills its guard: toolboxd adopts
such processes and kills them. Those that class `none` leaves it reaps when they end."""
import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, children_of_threads, everybody, is_alive, read_proc, until
from test_commands import output, tool, write

MISBEHAVE = BUILD / "tests" / "toolboxes" / "toolbox.d"
# In the command line of whatever a tool starts here.
SLEEP = f"sleep 8642{os.getpid()}"

# The parent of the shell is the host, whose parent is the guard.
GUARD = "guard=$(cut -d' ' -f4 /proc/$PPID/stat); "
WAYS = {
    "kill": GUARD + f"setsid {SLEEP} & kill -9 $guard; sleep 60",
    "kill_with_no_variables": GUARD + f"env -i setsid {SLEEP} & kill -9 $guard; sleep 60",
    "kill_and_go_on": GUARD + "export guard; setsid sh -c 'kill -9 $guard; i=0; "
                              f"while [ $((i += 1)) -lt 500 ]; do setsid {SLEEP} & done' & sleep 60",
    "daemonise": f"(setsid sh -c '{SLEEP} & {SLEEP} &' &); sleep 0.1; kill -9 $PPID; sleep 60",
    "daemonise_and_kill": GUARD + f"(setsid sh -c '{SLEEP} & {SLEEP} &' &); sleep 0.1; "
                                  "kill -9 $guard; sleep 60",
    "stop": GUARD + f"setsid {SLEEP} & kill -STOP $guard; sleep 60",
    "stop_again": GUARD + f"export guard; setsid {SLEEP} & "
                          f"setsid sh -c ': {SLEEP}; while :; do kill -STOP $guard; done' & sleep 60",
}


def left():
    """The processes that calls have started and that run."""
    return [pid for pid in everybody() if SLEEP.split()[1].encode() in read_proc(pid, "cmdline") and is_alive(pid)]


@pytest.fixture
def hostile(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "hostile", [tool(name, {"shell": line}, timeout_ms=500)
                              for name, line in WAYS.items()])
    service = launch({"crash_limit": 0}, [folder, MISBEHAVE])
    assert not left()
    with Caller(service.url) as caller:
        yield caller, service.daemon
    for pid in left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("name", WAYS)
def test_m4_nothing_is_left_of_a_call(hostile, name):
    caller, daemon = hostile
    answer = caller.invoke(name)
    assert answer["code"] in ("host_crashed", "timeout"), answer
    until(lambda: not left(), EVENT_SECONDS, "everything of the call gone")
    until(lambda: set(children_of_threads(daemon.pid)) == set(daemon.hosts()), EVENT_SECONDS, "all of them reaped")


def test_m4_a_census_after_hostile_rounds_finds_nothing(hostile, times, figure):
    caller, daemon = hostile
    caller.invoke("behave", {"value": 7}, toolbox_id="misbehave")
    before = set(children_of_threads(daemon.pid))
    for count in range(times(6, 200)):
        caller.invoke(list(WAYS)[count % len(WAYS)])
    ended = time.monotonic()
    until(lambda: not left(), EVENT_SECONDS, "everything of the calls gone")
    figure("gone_ms", (time.monotonic() - ended) * 1000)
    # A host that waits for its next call has a guard.
    until(lambda: len(set(now := children_of_threads(daemon.pid)) - before) <= 4 and all(map(is_alive, now)),
          EVENT_SECONDS, "all of them reaped")


def test_m4_a_process_of_class_none_is_reaped_and_not_killed(hostile):
    caller, daemon = hostile
    answer = caller.invoke("leave_child", {"is_detached": True}, toolbox_id="misbehave")
    pid = answer["result"]["result"]
    try:
        caller.invoke("abort", toolbox_id="misbehave")
        until(lambda: pid in children_of_threads(daemon.pid), EVENT_SECONDS, "it adopted")
        caller.invoke("kill")
        until(lambda: not left(), EVENT_SECONDS, "everything of the guarded call gone")
        assert is_alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{pid}").exists(), EVENT_SECONDS, "it reaped")


def test_the_folder_of_a_killed_guard_goes_with_the_start_of_the_next_one(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "programs", [tool("tell", {"shell": "touch $TMPDIR/file && printf $TMPDIR"})],
          sandbox={"class": "command", "write": []})
    service = launch({"crash_limit": 0}, [folder])
    with Caller(service.url) as caller:
        private = Path(output(caller.invoke("tell")))
        guard, = service.daemon.hosts()
        host, = children_of_threads(guard)
        os.kill(guard, signal.SIGKILL)
        until(lambda: not is_alive(host), EVENT_SECONDS, "its host ended")
        assert (private / "file").exists()
        assert Path(output(caller.invoke("tell"))) != private
        until(lambda: not private.exists(), EVENT_SECONDS, "the folder removed")


def test_m4_nothing_is_left_when_toolboxd_ends(hostile):
    """Its guards live, whichever way it ends; with SIGTERM it ends what a killed guard has left, too."""
    caller, daemon = hostile
    caller.send("ovos.tools.invoke", {"name": "daemonise_and_kill", "args": {}})
    until(lambda: left(), EVENT_SECONDS, "something to leave")
    daemon.process.terminate()
    daemon.process.wait(EVENT_SECONDS)
    until(lambda: not left(), EVENT_SECONDS, "everything of the call gone")


def test_m4_nothing_is_left_when_toolboxd_is_killed(hostile):
    caller, daemon = hostile
    caller.send("ovos.tools.invoke", {"name": "daemonise", "args": {}})
    until(lambda: left(), EVENT_SECONDS, "something to leave")
    daemon.kill()
    daemon.has_ended = True
    until(lambda: not left(), EVENT_SECONDS, "everything of the call gone")


def test_the_folder_of_a_killed_guard_is_removed_by_a_daemon_without_hosts(launch):
    folder = Path(tempfile.mkdtemp(prefix="toolboxd-host-", dir="/tmp")).rename("/tmp/toolboxd-host-" + os.urandom(3).hex())
    (folder / "below").mkdir()
    (folder / "below" / "file").write_text("left")
    launch({})
    until(lambda: not folder.exists(), EVENT_SECONDS, "the folder gone")
