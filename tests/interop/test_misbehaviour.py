# SPDX-License-Identifier: Apache-2.0
"""The library of tests/toolboxes that does to its process whatever a library can. Each betrayal gets
its documented answer in time; the next call works, other toolboxes notice nothing, and no process
stays behind."""
import os
import shutil
import signal
import time
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import (BUILD, EVENT_SECONDS, TOOLBOXD, at_most, everybody, is_alive, read_proc, resident_kb, until,
                       write_configuration)
from traffic import Load

FOLDER = BUILD / "tests" / "toolboxes" / "toolbox.d"
MALFORMED = "sent a malformed frame"
IS_SANITIZED = b"__asan_init" in TOOLBOXD.read_bytes()

OTHERS_P99_MS_MAX = 20   # of calls, while a host floods its output
LOGGED_BYTES_MAX = 20000            # of a gigabyte: stderr_bytes (8 KiB) and the words around it
PEAK_KB_MAX = 64 << 10              # host_output_bytes (8 MiB), read, checked and answered

# tool, arguments, what it may be answered with: a code and words of its text, or None for a result.
BETRAYALS = [
    ("crash", {"signal": 8}, [("host_crashed", "SIGFPE")]),
    ("crash", {"signal": 64}, [("host_crashed", "SIG")]),
    ("segfault", {}, [("host_crashed", "SIGSEGV")]),
    ("abort", {}, [("host_crashed", "SIGABRT")]),
    ("exit", {}, [("host_crashed", "exit 0")]),
    ("exit", {"status": 42}, [("host_crashed", "exit 42")]),
    ("overflow_stack", {}, [("host_crashed", "SIGSEGV")]),
    ("hang", {}, [("timeout", "300 ms")]),
    ("spin", {}, [("timeout", "300 ms")]),
    ("ignore_signals", {}, [("timeout", "300 ms")]),
    ("spoil_signals", {}, [None]),
    ("write_wire", {"text": "junk"}, [("host_crashed", "")]),
    ("write_wire", {"text": "x" * 4000}, [("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 4294967295, "kind": 5, "id": 1}, [("host_crashed", ""),
                                                              ("too_large", "")]),
    ("send_frame", {"size": 0, "kind": 99, "id": 0}, [("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 0, "kind": 0, "id": 0}, [("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 2, "kind": 5, "id": 999999, "payload": "{}"},
     [("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 2, "kind": 2, "id": 0, "payload": "{}"},
     [("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 100, "kind": 5, "id": 1, "payload": "half", "afterwards": 1},
     [("host_crashed", "exit 7"), ("host_crashed", MALFORMED)]),
    ("send_frame", {"size": 100, "kind": 5, "id": 1, "payload": "half", "afterwards": 2},
     [("timeout", "300 ms"), ("host_crashed", MALFORMED)]),
    ("close_wire", {"hangs": False}, [None]),
    ("close_wire", {"hangs": True}, [("host_crashed", ""), ("timeout", "1000 ms")]),
    ("shut_wire", {}, [("host_crashed", ""), ("timeout", "1000 ms")]),
    ("write_ring", {"bytes": 100000}, [("host_crashed", MALFORMED)]),
    ("write_ring", {"bytes": 100}, [("host_crashed", MALFORMED)]),
    ("wake_for_nothing", {}, [("host_crashed", MALFORMED)]),
    ("replace_wire", {}, [None]),
    ("close_wake", {}, [None]),
    ("close_everything", {}, [None]),
    ("print", {"fd": 1, "bytes": 10 << 20}, [None]),
    ("print", {"fd": 2, "bytes": 10 << 20}, [None]),
    ("print_junk", {}, [None]),
    ("not_utf8", {}, [("tool_failed", "UTF-8")]),
    ("surrogate", {}, [("tool_failed", "UTF-8")]),
    ("not_a_number", {}, [("tool_failed", "")]),
    ("infinite", {}, [("tool_failed", "")]),
    ("infinite", {"is_negative": True}, [("tool_failed", "")]),
    ("no_text", {}, [("tool_failed", "NULL")]),
    ("long_text", {"size": 100000}, [None]),
    ("long_text", {"size": 9 << 20}, [("too_large", "")]),
    ("leave_child", {}, [None]),
    ("leave_child", {"is_detached": True}, [None]),
    ("leave_child_and_exit", {}, [("host_crashed", "exit 0")]),
    ("leave_group", {"hangs": False}, [None]),
    ("leave_group", {"hangs": True}, [("timeout", "300 ms")]),
    ("take_all_descriptors", {}, [None]),
    # With sanitizers there is no bound, and giving it back takes its time.
    ("hoard", {"mebibytes": 2048}, [None, ("timeout", "")]),
    # What becomes of who returns to a frame that is gone is its luck.
    ("jump", {}, [None, ("host_crashed", ""), ("timeout", "300 ms")]),
]


@pytest.fixture(scope="module")
def misused(tmp_path_factory):
    """One daemon through all of it: what an earlier betrayal broke shows in a later one."""
    from conftest import Service
    service = Service("embedded", tmp_path_factory.mktemp("misuse"), [manifests.SHIPPED, FOLDER],
                      configuration={"crash_limit": 0})
    with service:
        yield service


def is_one_of(answer, allowed):
    return any("result" in answer if one is None
               else answer.get("code") == one[0] and one[1] in answer["error"] for one in allowed)


@pytest.mark.parametrize("name, args, allowed", BETRAYALS)
def test_a_betrayal_costs_its_own_call(misused, name, args, allowed):
    with Caller(misused.url) as caller:
        start = time.monotonic()
        answer = caller.invoke(name, args, toolbox_id="misbehave", timeout_ms=int(at_most(5) * 1000))
        assert time.monotonic() - start < at_most(5)
        assert is_one_of(answer, allowed), answer
        if args.get("is_detached"):
            # Nobody guards what a library of class `none` leaves behind in a group of its own.
            os.kill(answer["result"]["result"], signal.SIGKILL)
        answer = caller.invoke("behave", {"value": 7}, toolbox_id="misbehave")
        assert answer.get("result") == {"result": 7}, answer
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
    until(lambda: len(misused.daemon.hosts()) <= 2, EVENT_SECONDS, "no more hosts than toolboxes")


def members(group):
    """Processes of a group that run."""
    return [pid for pid in everybody() if is_alive(pid)
            and read_proc(pid, "stat").rpartition(b")")[2].split()[2:3] == [b"%d" % group]]


def test_a_fork_bomb_ends_with_its_host(misused, figure):
    """At the deadline, all of it."""
    with Caller(misused.url) as caller:
        caller.invoke("behave", {"value": 7}, toolbox_id="misbehave")
        host, = (host for host in misused.daemon.hosts()
                 if b"misbehave" in read_proc(host, "cmdline"))
        mark = caller.send("ovos.tools.invoke", {"name": "fork_bomb", "args": {"processes": 200},
                                                 "toolbox_id": "misbehave"})
        # With sanitizers it takes the machine so that nobody gets to count in time.
        if not IS_SANITIZED:
            until(lambda: len(members(host)) > 100, EVENT_SECONDS, "its processes")
        assert caller.answer_to("ovos.tools.invoke", mark).data["code"] == "timeout"
        told = time.monotonic()
        until(lambda: not members(host), EVENT_SECONDS, "all of them gone")
        figure("gone_ms", (time.monotonic() - told) * 1000)
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


@pytest.mark.parametrize("fd", [1, 2])
def test_a_gigabyte_of_output_holds_nobody_up(misused, figure, fd):
    """Written as fast as it goes; next to nothing of it is logged."""
    before = len(misused.daemon.log())
    with Caller(misused.url) as caller:
        caller.invoke("behave", {"value": 7}, toolbox_id="misbehave")
        mark = caller.send("ovos.tools.invoke", {"name": "pour", "toolbox_id": "misbehave",
                                                 "args": {"fd": fd, "mebibytes": 1024}})
        others = Load(misused.url, 1000, 1).figures()
        answer = caller.answer_to("ovos.tools.invoke", mark).data
        assert is_one_of(answer, [None, ("timeout", "3000 ms")]), answer
    figure("others_p99_ms", others["p99_us"] / 1000)
    figure("logged_bytes", len(misused.daemon.log()) - before)
    assert others["p99_us"] / 1000 < at_most(OTHERS_P99_MS_MAX)
    assert len(misused.daemon.log()) - before < LOGGED_BYTES_MAX


def test_nothing_of_it_stays(misused, figure):
    """After all that, and at its worst."""
    pid = misused.daemon.pid
    peak_kb = next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text()
                   .splitlines() if line.startswith("VmHWM:"))
    figure("resident_kb", resident_kb(pid))
    figure("peak_kb", peak_kb)
    if not IS_SANITIZED:
        assert peak_kb < PEAK_KB_MAX


@pytest.mark.parametrize("name, why", [("stuck", "in time"), ("doomed", "died (SIGABRT)")])
def test_a_library_that_cannot_be_loaded(launch, tmp_path, name, why):
    """Its toolbox is not offered; the others are, and they are not kept waiting for long."""
    folder = tmp_path / "toolbox.d"
    service = launch({}, [manifests.SHIPPED, folder])
    with Caller(service.url) as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        if name == "stuck":
            write_configuration(service.daemon.home, {"toolboxd": {"start_timeout_ms": 500}})
        # At once: a manifest that comes before its library has another failure.
        shutil.copytree(BUILD / "tests" / "toolboxes" / f"{name}.d", tmp_path / "new").rename(folder)
        failed, = until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "its failure")
        assert failed["toolbox_id"] == name and why in failed["error"]
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
