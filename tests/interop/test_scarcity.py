# SPDX-License-Identifier: Apache-2.0
"""What a system refuses on a bad day: descriptors, processes, room on a disk, a place to write to, and a
clock that goes on as it did. It is said, not too often, and over when it is over."""
import errno
import mmap
import os
import resource
import socket
import struct
import subprocess
import time
from pathlib import Path

import manifests
import processes
import pytest
from adder import adder, replace_manifest
from caller import Caller
from processes import (BUILD, EVENT_SECONDS, ROOT, Process, asan_options, at_most, descriptors,
                       environment, free_port, until)
from traffic import INVOKE
from websocket_peer import Closed

DAY_S = 86400
LINES_MAX = 5   # in ten seconds of refusals: one of the toolbox, and what a reload has to say
LATE_SECONDS = 0.1


class BadDay:
    """bad_day.c, built and ready to be preloaded into a daemon."""

    FIELDS = ("wall_clock_ahead_s", "spawn_error", "disk_hangs", "wall_clock_timers")

    def __init__(self, folder):
        self.library = folder / "bad_day.so"
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", self.library,
                        ROOT / "tests" / "interop" / "bad_day.c"], check=True)
        self.path = folder / "bad_day"
        self.path.write_bytes(bytes(8 * len(self.FIELDS)))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def environment(self):
        """A sanitizer likes to be first; behind this library it works as well."""
        return {"LD_PRELOAD": str(self.library), "BAD_DAY": str(self.path),
                **asan_options("verify_asan_link_order=0")}

    def __getitem__(self, field):
        return struct.unpack_from("q", self.map, 8 * self.FIELDS.index(field))[0]

    def __setitem__(self, field, value):
        struct.pack_into("q", self.map, 8 * self.FIELDS.index(field), value)


@pytest.fixture
def bad_day(tmp_path):
    return BadDay(tmp_path)


def two_toolboxes(folder):
    manifests.answers(folder)
    adder(folder)
    return [folder]


def lines_about(service, words):
    return sum(words in line for line in service.daemon.log().splitlines())


# --- no descriptor, no process

def test_no_descriptor_is_left(launch, tmp_path, figure):
    """No host can be started, no file read."""
    service = launch({}, two_toolboxes(tmp_path / "toolbox.d"))
    pid = service.daemon.daemon_pid()
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (descriptors(pid), hard))
        began = time.monotonic()
        for _ in range(100):
            answer = caller.invoke("add", {"a": 1, "b": 2})
            assert answer["code"] == "unavailable" and "Too many open files" in answer["error"]
        answer = caller.call("ovos.tools.reload")
        assert answer["loaded"] == ["adder", "answers"], answer
        assert caller.invoke("absolute", {"value": -2})["result"] == {"result": 2}
        with socket.create_connection(("127.0.0.1", int(service.url.split(":")[2].split("/")[0]))):
            assert caller.invoke("absolute", {"value": -3})["result"] == {"result": 3}
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert caller.call("ovos.tools.reload")["failed"] == []
    with Caller(service.url) as caller:
        caller.settle()
    figure("lines_for_100_refusals", lines_about(service, "Too many open files"))
    assert 1 <= lines_about(service, "Too many open files") <= LINES_MAX * (1 + (time.monotonic() - began) / 10)


def test_no_process_can_be_started(launch, tmp_path, bad_day, figure):
    """EAGAIN from fork: calls are told, what runs goes on, a reload keeps what is there."""
    folder = tmp_path / "toolbox.d"
    service = launch({}, two_toolboxes(folder), env=bad_day.environment())
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        bad_day["spawn_error"] = errno.EAGAIN
        began = time.monotonic()
        for _ in range(100):
            answer = caller.invoke("add", {"a": 1, "b": 2})
            assert answer["code"] == "unavailable", answer
            assert "Resource temporarily unavailable" in answer["error"]
        assert caller.invoke("absolute", {"value": -2})["result"] == {"result": 2}
        replace_manifest(folder, 1)
        answer = caller.call("ovos.tools.reload")
        assert answer["loaded"] == ["adder", "answers"]
        assert caller.invoke("absolute", {"value": -3})["result"] == {"result": 3}
        figure("lines_for_100_refusals", lines_about(service, "temporarily unavailable"))
        most = LINES_MAX * (1 + (time.monotonic() - began) / 10)
        assert 1 <= lines_about(service, "temporarily unavailable") <= most
        bad_day["spawn_error"] = 0
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert caller.call("ovos.tools.reload")["failed"] == []
        assert caller.call("ovos.tools.get", {"name": "add"})["description"] == "1."


# --- nowhere to write to

def answer_of(url):
    """A first answer, of whom nobody has told that it is there."""
    def answers():
        try:
            with Caller(url) as caller:
                return caller.invoke("add", {"a": 1, "b": 2}, seconds=5)
        except (OSError, Closed):
            return None
    return until(answers, EVENT_SECONDS, "an answer")


def test_a_log_that_takes_nothing_more(tmp_path):
    """ENOSPC: a full disk under the log is no reason to stop."""
    url = f"ws://127.0.0.1:{free_port()}/core"
    daemon = Process([BUILD / "service" / "toolboxd", "--embedded-bus", "--bus", url,
                      "--toolbox-dir", manifests.SHIPPED],
                     environment(tmp_path / "home"), Path("/dev/full"))
    try:
        assert answer_of(url)["result"] == {"result": 3}
    finally:
        daemon.process.terminate()
    assert daemon.process.wait(EVENT_SECONDS) == 0


def read_only(folder):
    """What to put before a command so that the folder is one that nobody can write to; None where
    mounts cannot be made."""
    script = ('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
              '! touch "$0/probe" 2>/dev/null && exec "$@"')
    wrapper = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]),
               "sh", "-c", script, str(folder)]
    return wrapper if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL,
                                     check=False).returncode == 0 else None


def test_a_file_system_that_is_read_only(launch, tmp_path, monkeypatch):
    """EROFS: home, configuration and toolboxes; what is changed from elsewhere is seen."""
    wrapper = read_only(tmp_path)
    if not wrapper:
        pytest.skip("no mount may be made here, not even in a namespace of our own")
    monkeypatch.setattr(processes, "WRAPPER", [*wrapper, *processes.WRAPPER])
    folder = tmp_path / "toolbox.d"
    service = launch({}, two_toolboxes(folder))
    with Caller(service.url) as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert caller.call("ovos.tools.reload")["failed"] == []
        replace_manifest(folder, "seen")
        changed = caller.wait_for(lambda one: one.type == "ovos.tools.changed")
        assert changed.data["changed"] == ["adder/add"]
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
    assert "ead-only" not in service.daemon.log()


# --- a clock that is set

def test_a_wall_clock_that_is_set(launch, tmp_path, bad_day, figure):
    """A day ahead, then a day back: no deadline, cooldown, rest or reload goes by it."""
    folder = tmp_path / "toolbox.d"
    two_toolboxes(folder)
    manifests.toolbox(folder, "slow", [manifests.labs(name, cooldown_s=2)
                                       for name in ("ahead", "back")])
    service = launch({}, [folder], env=bad_day.environment())
    late = []
    with Caller(service.url) as caller:
        for name, ahead_s in (("ahead", DAY_S), ("back", -DAY_S)):
            caller.invoke("absolute", {"value": 1})
            assert "result" in caller.invoke(name, {"value": 1})
            mark = caller.send(INVOKE, {"name": "wait", "args": {"seconds": 1}})
            caller.settle()
            bad_day["wall_clock_ahead_s"] = ahead_s
            assert caller.invoke(name, {"value": 1})["code"] == "cooldown"
            assert caller.answer_to(INVOKE, mark).data["result"] == {"result": 0}
            start = time.monotonic()
            assert caller.invoke("hang", {"seconds": 60})["code"] == "timeout"
            late.append(time.monotonic() - start - 0.3)
            assert late[-1] >= -0.001
            replace_manifest(folder, ahead_s)
            caller.wait_for(lambda one: one.type == "ovos.tools.changed")
            assert caller.call("ovos.tools.get", {"name": "add"})["description"] == f"{ahead_s}."
            until(lambda: "result" in caller.invoke(name, {"value": 1}), EVENT_SECONDS,
                  "the end of the cooldown")
    figure("timeout_late_ms_max", max(late) * 1000)
    assert max(late) < at_most(LATE_SECONDS)
    assert bad_day["wall_clock_timers"] == 0
    days = {line[:10] for line in service.daemon.log().splitlines()}
    assert len(days) >= 3, "the daemon did not see the clock that was set"

