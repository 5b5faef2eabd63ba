# SPDX-License-Identifier: Apache-2.0
"""Everything at once, for a while: calls at a steady pace while what they rely on is killed, replaced,
taken away and put back. Nothing may be lost, nothing answered twice, nothing grow.

Each test runs for seconds; with --long for as long as issue 5 asks (F1 to F12, L3, L5 there).
"""
import json
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import manifests
import pytest
from caller import Caller
from fake_bus import FakeBus
from processes import (BUILD, END_SECONDS, SLOWNESS, TOOLBOXD, Daemon, Process, environment,
                       free_port, is_alive, resident_kb, until)
from traffic import INVOKE, Traffic
from websocket_peer import Closed

LOAD = BUILD / "tests" / "bench" / "call" / "bus-load"
MISBEHAVING = BUILD / "tests" / "toolboxes" / "toolbox.d"
ADD_LIBRARY = manifests.SHIPPED / "libtoolbox_math.so"
IS_SANITIZED = b"__asan_init" in TOOLBOXD.read_bytes()

REPLY_SECONDS = 0.1 * SLOWNESS   # a timeout may be told so much after the deadline
GONE_SECONDS = 0.2 * SLOWNESS    # a host that is killed is gone so soon
QUEUE = 1000                     # none is refused because a machine is slow to start hosts
GROWTH_KB_MAX = 1024             # what a daemon may have grown by


@pytest.fixture
def times(request):
    """times(short, long): how often or how long, by --long."""
    is_long = request.config.getoption("--long")
    return lambda short, long: long if is_long else short


def adder(folder, version=0):
    """A toolbox with add, over a library of its own whose bytes differ by the version."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_library(folder, version)
    return manifests.toolbox(folder, "adder", [manifests.tool(
        "add", "add", [manifests.integer("a"), manifests.integer("b")], description=f"{version}.")],
        library="./libadd.so", limits={"queue": QUEUE})


def replace_library(folder, version):
    fresh = folder / ".libadd.so"
    fresh.write_bytes(ADD_LIBRARY.read_bytes() + b"%d" % version)
    fresh.rename(folder / "libadd.so")


def replace_manifest(folder, version):
    path = folder / "adder.json"
    manifest = json.loads(path.read_text())
    manifest["tools"][0]["description"] = f"{version}."
    fresh = folder / ".adder.json"
    fresh.write_text(json.dumps(manifest))
    fresh.rename(path)


def kill_hosts(service):
    hosts = service.daemon.hosts()
    for host in hosts:
        try:
            os.kill(host, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(hosts)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def come_to_rest(service, n_hosts):
    """Retired hosts gone, and one worker left for each toolbox that is in use."""
    until(lambda: len(service.daemon.hosts()) <= n_hosts, 10 * SLOWNESS,
          f"at most {n_hosts} hosts")


def every(seconds, count, act):
    """Do something so often, at a steady pace."""
    began = time.monotonic()
    for number in range(count):
        act(number)
        time.sleep(max(0, began + (number + 1) * seconds - time.monotonic()))


# --- everything at once

def test_no_call_is_lost_across_reloads_replaced_libraries_and_killed_hosts(
        launch, tmp_path, times, record_property):
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({"crash_limit": 0}, [folder])
    calls = times(5000, 10000)
    steps = calls // 100
    killed = 0
    traffic = Traffic(service.url, 500, calls)

    def disturb(number):
        nonlocal killed
        replace_library(folder, number)
        service.daemon.reload_by_signal()
        if number % 2:
            killed += kill_hosts(service)

    every(0.18, steps, disturb)
    traffic.join()
    traffic.check(["host_crashed"])
    record_property("codes", dict(traffic.codes))
    assert traffic.codes["host_crashed"] <= killed
    come_to_rest(service, 1)


def test_a_thousand_renames_under_load(launch, tmp_path, times):
    """Manifests and libraries replaced by rename, each seen by inotify, nobody tells."""
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({}, [folder])
    traffic = Traffic(service.url, 500)
    renames = times(300, 1000)
    every(0.01, renames, lambda number: (replace_library, replace_manifest)[number % 2](
        folder, number))
    until(lambda: last_description(service) == f"{renames - 1}.", 10 * SLOWNESS,
          "the last manifest in place")
    traffic.end().check()
    come_to_rest(service, 1)


def last_description(service):
    with Caller(service.url) as caller:
        return caller.call("ovos.tools.get", {"name": "add"})["description"]


def test_a_soak(launch, tmp_path, times, record_property):
    """L3: what a daemon holds does not grow, and no descriptor stays behind."""
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({}, [folder])
    pid = service.daemon.daemon_pid()
    settle = times(5, 600)
    traffic = Traffic(service.url, 500)
    every(settle / 5, 5, lambda _: service.daemon.reload_by_signal())
    before = resident_kb(pid), descriptors(pid)
    seconds = times(40, 3000)
    every(seconds / 10, 10, lambda number: replace_manifest(folder, number))
    traffic.end().check()
    come_to_rest(service, 1)
    # The traffic's own connection is closed by now.
    until(lambda: descriptors(pid) <= before[1], 5 * SLOWNESS, "no descriptor left behind")
    grown = resident_kb(pid) - before[0]
    record_property("grown_kb", grown)
    if not IS_SANITIZED:
        assert grown < GROWTH_KB_MAX, f"grown by {grown} KB"


# --- hosts

def test_a_host_is_killed_with_eight_calls_in_flight_again_and_again(launch, tmp_path, times):
    """F1: the call that ran fails, the seven behind it go on; the other toolbox does not notice."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    adder(folder)
    service = launch({"crash_limit": 0}, [folder])
    traffic = Traffic(service.url, 50, toolbox_id="adder")
    late = []
    with Caller(service.url) as caller:
        for _ in range(times(30, 1000)):
            caller.invoke("absolute", {"value": 1})
            host = next(host for host in service.daemon.hosts()
                        if b"answers" in Path(f"/proc/{host}/cmdline").read_bytes())
            marks = [caller.send(INVOKE, {"name": "wait", "args": {"seconds": 15}})]
            marks += [caller.send(INVOKE, {"name": "absolute", "args": {"value": -n}})
                      for n in range(7)]
            caller.settle()
            os.kill(host, signal.SIGKILL)
            killed = time.monotonic()
            answers = {}
            while len(answers) < len(marks):
                message = caller.wait_for(lambda one: one.type == INVOKE + ".response"
                                          and one.context.get("mark") in marks)
                assert answers.setdefault(message.context["mark"], message.data) is message.data
                if len(answers) == 1:
                    late.append(time.monotonic() - killed)
            assert answers[marks[0]]["code"] == "host_crashed"
            assert [answers[mark].get("result") for mark in marks[1:]] == \
                [{"result": n} for n in range(7)]
            assert time.monotonic() - killed < 1 * SLOWNESS
            caller.seen = []
    assert max(late) < 0.05 * SLOWNESS or sorted(late)[len(late) // 2] < 0.01, max(late)
    traffic.end().check()


@pytest.mark.parametrize("name", ["hang", "spin", "ignore_signals"])
def test_a_tool_that_does_not_end_is_ended_at_its_deadline(launch, tmp_path, times, name):
    """F2: told in time, and the process is gone."""
    service = launch({"crash_limit": 0}, [MISBEHAVING])
    with Caller(service.url) as caller:
        for _ in range(times(3, 50)):
            caller.invoke("behave", {"value": 1}, toolbox_id="misbehave")
            host, = service.daemon.hosts()
            start = time.monotonic()
            answer = caller.invoke(name, timeout_ms=200)
            took = time.monotonic() - start
            assert answer["code"] == "timeout" and 0.2 <= took < 0.2 + REPLY_SECONDS, took
            until(lambda: not is_alive(host), GONE_SECONDS, "the host gone")


def test_no_host_outlives_a_daemon_that_is_killed(launch, tmp_path):
    """F8: neither one that rests, nor one that runs a tool, nor one that ignores signals."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    adder(folder)
    service = launch({}, [folder, MISBEHAVING])
    with Caller(service.url) as caller:
        caller.invoke("add", {"a": 1, "b": 2}, toolbox_id="adder")
        caller.send(INVOKE, {"name": "wait", "args": {"seconds": 15}})
        caller.send(INVOKE, {"name": "ignore_signals"})
        hosts = until(lambda: len(service.daemon.hosts()) >= 3 and service.daemon.hosts(), 5,
                      "three hosts")
    service.daemon.kill()
    service.daemon.has_ended = True
    until(lambda: not any(map(is_alive, hosts)), GONE_SECONDS, "the hosts gone")


# --- reloading

def test_a_thousand_hang_ups(launch, tmp_path, times):
    """F10: they come faster than anything can be loaded; calls go on, and it ends when told."""
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({}, [folder])
    traffic = Traffic(service.url, 200)
    with Caller(service.url) as caller:
        hang_ups = times(300, 1000)
        every(1 / hang_ups, hang_ups, lambda _: service.daemon.reload_by_signal())
        replace_manifest(folder, "last")
        marks = [caller.send("ovos.tools.reload") for _ in range(5)]
        service.daemon.reload_by_signal()
        for mark in marks:
            answer = next((one for one in caller.seen if one.context.get("mark") == mark
                           and one.type == "ovos.tools.reload.response"), None) \
                or caller.answer_to("ovos.tools.reload", mark)
            assert answer.data["tools"][0]["description"] == "last."
    traffic.end().check()
    service.daemon.reload_by_signal()
    start = time.monotonic()
    service.end()
    assert time.monotonic() - start < 3 * SLOWNESS


def test_a_signal_to_end_during_calls_and_a_reload(launch, tmp_path):
    """Drained for as long as drain_ms says; what is left is told that it is unavailable."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    service = launch({"drain_ms": 1500}, [folder])
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        soon = caller.send(INVOKE, {"name": "wait", "args": {"seconds": 1}})
        never = caller.send(INVOKE, {"name": "wait", "args": {"seconds": 15}})
        caller.settle()
        hosts = service.daemon.hosts()
        service.daemon.reload_by_signal()
        service.daemon.process.terminate()
        assert caller.answer_to(INVOKE, soon).data["result"] == {"result": 0}
        assert caller.answer_to(INVOKE, never).data["code"] == "unavailable"
        assert service.daemon.process.wait(END_SECONDS) == 0
        until(lambda: not any(map(is_alive, hosts)), GONE_SECONDS, "the hosts gone")


def test_a_half_written_manifest_is_not_what_is_offered(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    path = adder(folder)
    service = launch({}, [folder])
    traffic = Traffic(service.url, 200)
    text = path.read_text().replace('"0."', '"whole."')
    with open(path, "w") as file:
        for at in range(0, len(text), 100):
            file.write(text[at:at + 100])
            file.flush()
            time.sleep(0.1)
    until(lambda: last_description(service) == "whole.", 5 * SLOWNESS, "the whole manifest")
    traffic.end().check()


def test_a_folder_that_is_removed_and_comes_back(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        for _ in range(3):
            away = folder.rename(tmp_path / "away")
            caller.wait_for(lambda one: one.type == "ovos.tools.changed"
                            and one.data["removed"] == ["adder/add"])
            away.rename(folder)
            caller.wait_for(lambda one: one.type == "ovos.tools.changed"
                            and one.data["added"] == ["adder/add"])
            assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_more_events_than_inotify_keeps(launch, tmp_path):
    """While the daemon stands still so much happens that the kernel drops events: it looks again."""
    folder = tmp_path / "toolbox.d"
    adder(folder)
    service = launch({}, [folder])
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100000:
        pytest.skip(f"this kernel keeps {most} events")
    with Caller(service.url) as caller:
        caller.settle()
        os.kill(service.daemon.daemon_pid(), signal.SIGSTOP)
        try:
            names = (folder / "a.txt", folder / "b.txt")
            names[0].touch()
            for number in range(most // 2 + 100):
                names[number % 2].rename(names[1 - number % 2])
            replace_manifest(folder, "after")
        finally:
            os.kill(service.daemon.daemon_pid(), signal.SIGCONT)
        changed = caller.wait_for(lambda one: one.type == "ovos.tools.changed")
        assert changed.data["changed"] == ["adder/add"]


# --- the bus

def test_a_bus_that_goes_and_comes_back_again_and_again(tmp_path, times):
    """F6: back each time, nothing announced, nothing kept of the connections that were."""
    bus = FakeBus()
    service = Daemon(tmp_path / "toolboxd", [manifests.SHIPPED], bus.url)

    def ask(peer):
        peer.send(json.dumps({"type": INVOKE, "context": {},
                              "data": {"name": "add", "args": {"a": 1, "b": 2}}}))
        message = json.loads(peer.receive(10 * SLOWNESS))
        assert message["data"]["result"] == {"result": 3}, message

    try:
        before = None
        for number in range(times(12, 300)):
            peer = bus.wait_for_client()
            ask(peer)
            peer.close()
            bus.clients.clear()
            if number == 3:
                before = resident_kb(service.pid), descriptors(service.pid)
        ask(bus.wait_for_client())
        assert descriptors(service.pid) <= before[1] + 1
        if not IS_SANITIZED:
            assert resident_kb(service.pid) - before[0] < GROWTH_KB_MAX
    finally:
        bus.close()
        service.end()


def test_a_large_argument_holds_nobody_up(launch, tmp_path, times, record_property):
    """L5: a megabyte there and back, again and again, while others call. They do so from C: a Python
    that is sent megabytes of others would measure itself."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    adder(folder)
    service = launch({"result_max_chars": 1 << 21}, [folder])
    call = {"name": "add", "args": {"a": 1, "b": 2}}
    large = "x" * (1 << 20)
    with Caller(service.url) as caller:
        caller.invoke("add", call["args"])
        others = subprocess.Popen([LOAD, service.url, INVOKE, json.dumps(call),
                                   str(times(2000, 10000)), "1"], stdout=subprocess.PIPE)
        while others.poll() is None:
            assert caller.invoke("echo", {"text": large})["result"] == {"text": large}
            caller.seen = []
        answer = caller.invoke("echo", {"text": "x" * (8 << 20)})
        assert answer["code"] == "too_large"
        assert caller.invoke("absolute", {"value": -1})["result"] == {"result": 1}
    figures = json.loads(others.communicate()[0])
    assert figures["lost"] == figures["duplicate"] == figures["wrong_context"] == 0
    record_property("p99_ms", figures["p99_us"] / 1000)
    if not IS_SANITIZED:
        assert figures["p99_us"] / 1000 <= 50 * SLOWNESS


# --- what the machine refuses

def test_no_descriptor_is_left(launch, tmp_path):
    """F12: no host can be started, no file read; both are said, and over when it is over."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    adder(folder)
    service = launch({}, [folder])
    pid = service.daemon.daemon_pid()
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (descriptors(pid), hard))
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
    assert service.daemon.log().count("\n") < 100, "a log that fills the disk"


def test_a_log_that_takes_nothing_more(tmp_path):
    """F12: a full disk under the log is no reason to stop."""
    url = f"ws://127.0.0.1:{free_port()}/core"
    daemon = Process([BUILD / "service" / "toolboxd", "--embedded-bus", "--bus", url,
                      "--toolbox-dir", manifests.SHIPPED],
                     environment(tmp_path / "home"), Path("/dev/full"))
    try:
        def answers():
            try:
                with Caller(url) as caller:
                    return caller.invoke("add", {"a": 1, "b": 2}, seconds=5)
            except (OSError, Closed):
                return None
        answer = until(answers, 10 * SLOWNESS, "an answer")
        assert answer["result"] == {"result": 3}
    finally:
        daemon.process.terminate()
    assert daemon.process.wait(END_SECONDS) == 0
