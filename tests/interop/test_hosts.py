# SPDX-License-Identifier: Apache-2.0
"""What a toolbox can do to its host costs its own call an error, and nobody else anything."""
import json
import os
import signal
import threading
import statistics
import time
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, POLL_SECONDS, at_most, is_alive, toolboxctl, until

MISBEHAVING = BUILD / "tests" / "toolboxes" / "toolbox.d"

# What an error may come later than its cause.
LATE_SECONDS = 2


def next_call_works(caller):
    answer = caller.invoke("behave", {"value": -3})
    assert answer == {"name": "behave", "result": {"result": 3}}


@pytest.mark.parametrize("name, how, facts", [
    ("segfault", "SIGSEGV", {"signal": "SIGSEGV"}),
    ("kill", "SIGKILL", {"signal": "SIGKILL"}),
    ("abort", "SIGABRT", {"signal": "SIGABRT"}),
    ("exit", "exit 0", {"exit_code": 0}),
])
def test_a_host_that_ends(caller, name, how, facts):
    next_call_works(caller)
    answer = caller.invoke(name)
    assert answer["name"] == name and answer["code"] == "host_crashed"
    assert answer["error"].startswith(
        f"RuntimeError: Toolbox host 'misbehave' died ({how}) while running '{name}'")
    assert {key: answer[key] for key in facts} == facts
    next_call_works(caller)


def test_an_exit_code_is_told(caller):
    answer = caller.invoke("exit", {"status": 3})
    assert answer["exit_code"] == 3 and "(exit 3)" in answer["error"]


@pytest.mark.parametrize("text", ["junk", "x" * 5000, "\x01" * 16])
def test_a_host_that_sends_junk(caller, text):
    next_call_works(caller)
    answer = caller.invoke("write", {"text": text, "size": len(text)})
    assert answer["code"] == "host_crashed", answer
    assert "sent a malformed frame" in answer["error"]
    next_call_works(caller)


def test_a_host_that_closes_its_end(caller):
    """Its answer has another way, and its next call another host."""
    assert caller.invoke("close")["result"] == {"result": 0}
    next_call_works(caller)


def test_a_hang_ends_at_its_deadline(caller):
    start = time.monotonic()
    answer = caller.invoke("hang", {"seconds": 60}, toolbox_id="misbehave")
    took = time.monotonic() - start
    assert answer["code"] == "timeout" and answer["timeout_ms"] == 300
    assert answer["error"].startswith("TimeoutError: Tool 'hang' in ToolBox 'misbehave' exceeded "
                                      "its deadline of 300 ms")
    assert 0.29 < took < 0.3 + at_most(LATE_SECONDS)
    next_call_works(caller)


def test_a_caller_may_shorten_the_deadline_and_not_prolong_it(caller):
    for asked, told in ((100, 100), (60000, 300)):
        answer = caller.invoke("hang", {"seconds": 60}, toolbox_id="misbehave", timeout_ms=asked)
        assert answer["code"] == "timeout" and answer["timeout_ms"] == told


def test_a_killed_host_costs_the_call_it_ran(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        host = service.daemon.only_host()
        mark = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 15}})
        caller.settle()
        until(lambda: Path(f"/proc/{host}/wchan").exists() and is_asleep(host), EVENT_SECONDS,
              "the host sleeping in the tool")
        os.kill(host, signal.SIGKILL)
        answer = caller.answer_to("ovos.tools.invoke", mark)
        assert answer.data["code"] == "host_crashed" and answer.data["signal"] == "SIGKILL"
        assert caller.invoke("absolute", {"value": -2})["result"] == {"result": 2}
        assert service.daemon.hosts() != [host]


def is_asleep(pid):
    """In nanosleep(2) rather than waiting for its socket."""
    try:
        number = Path(f"/proc/{pid}/syscall").read_text().split()[0]
    except OSError:
        return True
    return number in ("35", "230", "101", "115")


def test_an_idle_host_that_is_killed_is_replaced(caller, service):
    next_call_works(caller)
    hosts = service.daemon.hosts()
    for host in hosts:
        os.kill(host, signal.SIGKILL)
    until(lambda: not set(hosts) & set(service.daemon.hosts()), EVENT_SECONDS, "its end noticed")
    next_call_works(caller)


def test_calls_of_other_toolboxes_go_on(caller, service):
    """While one toolbox hangs another answers at its usual pace."""
    asker = {"source": "asker"}
    mark = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 60}, "call_id": "long"}, asker)
    seconds = []
    for _ in range(20):
        start = time.monotonic()
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        seconds.append(time.monotonic() - start)
    assert caller.call("ovos.tools.cancel", {"call_id": "long"}, asker)["cancelled"], "it has been running all the time"
    assert statistics.median(seconds) < at_most(0.2)
    assert caller.answer_seen_to("ovos.tools.invoke", mark).data["code"] == "cancelled"


def test_calls_that_wait_outlive_the_one_that_crashes(caller):
    """One host, calls in a row: the crash costs the call that ran, the queued ones go on."""
    next_call_works(caller)
    marks = [caller.send("ovos.tools.invoke", {"name": "segfault"})]
    marks += [caller.send("ovos.tools.invoke", {"name": "behave", "args": {"value": -n}})
              for n in range(8)]
    answers = {}
    while len(answers) < len(marks):
        message = caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response")
        answers[message.context["mark"]] = message.data
    assert answers[marks[0]]["code"] == "host_crashed"
    assert [answers[mark].get("result") for mark in marks[1:]] == [{"result": n} for n in range(8)]


def test_a_full_queue_is_busy(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "narrow",
                      [manifests.sleeper("wait", timeout_ms=60000), manifests.labs()],
                      limits={"queue": 2})
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        asker = {"source": "asker"}
        running = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 60}, "call_id": "long"}, asker)
        marks = [caller.send("ovos.tools.invoke", {"name": "absolute", "args": {"value": -n}, "timeout_ms": 60000})
                 for n in range(3)]
        answer = caller.answer_to("ovos.tools.invoke", marks[2])
        assert answer.data["code"] == "busy"
        assert answer.data["error"].startswith("RuntimeError: Toolbox 'narrow' is busy: 2 calls "
                                               "are waiting")
        assert caller.call("ovos.tools.cancel", {"call_id": "long"}, asker)["cancelled"]
        assert caller.answer_seen_to("ovos.tools.invoke", running).data["code"] == "cancelled"
        ended = [caller.answer_seen_to("ovos.tools.invoke", mark) for mark in marks[:2]]
        assert [answer.data["result"] for answer in ended] == [{"result": 0}, {"result": 1}]


def test_waiting_counts_against_the_deadline(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "slow", [
        manifests.sleeper("wait", timeout_ms=60000), manifests.labs(timeout_ms=200)])
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        asker = {"source": "asker"}
        mark = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 60}, "call_id": "long"}, asker)
        answer = caller.invoke("absolute", {"value": 1})
        assert answer["code"] == "timeout" and answer["timeout_ms"] == 200
        assert caller.call("ovos.tools.cancel", {"call_id": "long"}, asker)["cancelled"]
        assert caller.answer_seen_to("ovos.tools.invoke", mark).data["code"] == "cancelled"


def lose_library(launch, tmp_path, more=b""):
    """A daemon whose only host is killed, and whose library, which ends with @more, is gone."""
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    library = folder / "libgone.so"
    library.write_bytes((manifests.SHIPPED / "libtoolbox_math.so").read_bytes() + more)
    manifests.toolbox(folder, "gone", [manifests.tool(
        "plus", "add", [manifests.integer("a"), manifests.integer("b")])], library="./libgone.so",
        limits={"idle_s": 60})
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert caller.invoke("plus", {"a": 1, "b": 2})["result"] == {"result": 3}
    library.unlink()
    host = service.daemon.only_host()
    os.kill(host, signal.SIGKILL)
    until(lambda: host not in service.daemon.hosts(), EVENT_SECONDS, "its end noticed")
    return service


def test_a_library_that_is_gone_goes_on_as_its_copy(launch, tmp_path):
    service = lose_library(launch, tmp_path)
    with Caller(service.url) as caller:
        assert caller.invoke("plus", {"a": 1, "b": 2})["result"] == {"result": 3}
        until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "the reload")
        assert caller.invoke("plus", {"a": 2, "b": 2})["result"] == {"result": 4}


def test_a_library_without_a_copy_that_is_gone_makes_its_toolbox_unavailable(launch, tmp_path):
    service = lose_library(launch, tmp_path, b"$ORIGIN")
    with Caller(service.url) as caller:
        answer = caller.invoke("plus", {"a": 1, "b": 2})
        assert answer["code"] == "unavailable", answer
        assert answer["error"].startswith("RuntimeError: Toolbox 'gone' is unavailable: ")


def test_a_host_that_is_idle_is_stopped(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "brief", [manifests.labs()], limits={"idle_s": 1})
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        service.daemon.only_host()
        until(lambda: not service.daemon.hosts(), EVENT_SECONDS, "no host")
        assert caller.invoke("absolute", {"value": -1})["result"] == {"result": 1}


def test_hosts_start_on_the_first_call_or_at_once(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "early", [manifests.labs()],
                      limits={"prestart": True})
    manifests.toolbox(tmp_path / "toolbox.d", "late", [manifests.labs("later")])
    service = launch({}, [tmp_path / "toolbox.d"])
    until(lambda: len(service.daemon.hosts()) == 1, EVENT_SECONDS, "the host that starts at once")
    with Caller(service.url) as caller:
        status = {one["toolbox_id"]: one for one in caller.call("ovos.tools.status")["toolboxes"]}
        assert (status["early"]["hosts"], status["late"]["hosts"]) == (1, 0)
        assert status["late"]["state"] == "idle"


def test_a_host_has_no_environment_but_the_agreed(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"], env={"SECRET_TOKEN": "s3cret", "TZ": "UTC"})
    with Caller(service.url) as caller:
        def value(name):
            return caller.invoke("environment", {"name": name})["result"]["result"]
        assert value("SECRET_TOKEN") is None and value("TZ") == "UTC" and value("PATH")
        host = service.daemon.only_host()
        environ = Path(f"/proc/{host}/environ").read_bytes().split(b"\0")
        names = {one.split(b"=")[0].decode() for one in environ if one}
        # What valgrind and the sanitizers are told goes along with the program they watch.
        ours = {name for name in names if not name.endswith("SAN_OPTIONS")
                and "VALGRIND" not in name and name not in ("LD_PRELOAD", "GLIBCPP_FORCE_NEW",
                                                            "GLIBCXX_FORCE_NEW")}
        assert ours <= {"PATH", "HOME", "LANG", "USER", "TZ"}


def test_crashes_in_a_row_put_a_toolbox_into_quarantine_until_a_reload(launch, tmp_path):
    manifests.misbehave(tmp_path / "toolbox.d")
    service = launch({"crash_limit": 3, "crash_window_s": 60}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        for _ in range(3):
            assert caller.invoke("segfault")["code"] == "host_crashed"
        answer = caller.invoke("behave", {"value": 1})
        assert answer["code"] == "unavailable" and "quarantine" in answer["error"]
        status, = caller.call("ovos.tools.status")["toolboxes"]
        assert status["state"] == "quarantined" and status["why"]
        assert caller.call("ovos.tools.list")["quarantined"] == ["misbehave"]
        listed = toolboxctl("list", bus=service.url, home=tmp_path / "ctl").stdout.splitlines()
        assert all(line.startswith("misbehave (quarantined) ") for line in listed[1:]), listed
        caller.call("ovos.tools.reload")
        assert "quarantined" not in caller.call("ovos.tools.list")
        assert caller.invoke("behave", {"value": -1})["result"] == {"result": 1}


def test_the_daemon_leaves_no_host_behind_when_it_is_killed(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 15}})
        until(service.daemon.hosts, EVENT_SECONDS, "a host")
        hosts = service.daemon.hosts()
    service.daemon.kill()
    service.daemon.has_ended = True
    until(lambda: not any(is_alive(pid) for pid in hosts), EVENT_SECONDS, "the hosts gone")


def test_many_threads_of_callers_and_a_host_killed_again_and_again(launch, tmp_path):
    """Every call is answered once, with its result or with the crash, whatever is killed."""
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({"crash_limit": 0}, [tmp_path / "toolbox.d"])
    calls, outcomes, over = 200, [], threading.Event()

    def call_all(first):
        with Caller(service.url) as caller:
            for value in range(first, first + calls):
                answer = caller.invoke("absolute", {"value": -value}, timeout_ms=60000)
                outcomes.append(answer.get("code") or answer["result"] == {"result": value})
            extra = [one for one in caller.settle() if one.type == "ovos.tools.invoke.response"
                     and one.context["mark"] is None]
            assert not extra

    def kill_hosts():
        seen = 0
        while not over.wait(POLL_SECONDS):
            if len(outcomes) - seen < 40:  # a host needs a while to start
                continue
            seen = len(outcomes)
            for host in service.daemon.hosts():
                try:
                    os.kill(host, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    killer = threading.Thread(target=kill_hosts)
    callers = [threading.Thread(target=call_all, args=(n * calls,)) for n in range(4)]
    killer.start()
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    over.set()
    killer.join()
    assert len(outcomes) == 4 * calls
    assert set(outcomes) <= {True, "host_crashed"}, json.dumps(outcomes)
    assert outcomes.count(True) > calls


def niceness_of(pid):
    return os.getpriority(os.PRIO_PROCESS, pid)


def test_programs_of_tools_yield_to_the_daemon(launch, tmp_path):
    """Else tools that take all processors hold the calls of everybody up."""
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "programs.json").write_text(json.dumps({"kind": "command", "tools": [
        {"name": "niceness", "description": "Print it.", "risk": "read", "argument_schema": {"type": "object"},
         "command": {"argv": ["nice"]}}]}))
    bus = launch(toolbox_dirs=[folder])
    expected = min(19, niceness_of(bus.daemon.pid) + 10)
    with Caller(bus.url) as caller:
        assert caller.invoke("niceness")["result"] == {"output": str(expected)}
        assert {niceness_of(pid) for pid in bus.daemon.hosts()} == {expected}


def test_a_host_yields_to_the_daemon_once_it_is_heavy(launch, tmp_path):
    """Not before: that nearly halves the calls per second of a quick one."""
    folder = tmp_path / "boxes"
    manifests.toolbox(folder, "heavy", [manifests.tool("spin", "spin", returns="void", timeout_ms=30000)],
                      str(MISBEHAVING / "libtest_misbehave.so"))
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    own = niceness_of(bus.daemon.pid)
    with Caller(bus.url) as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        quick = bus.daemon.only_host()
        assert niceness_of(quick) == own
        caller.send("ovos.tools.invoke", {"name": "spin", "args": {}})
        until(lambda: sorted(niceness_of(pid) for pid in bus.daemon.hosts()) == [own, min(19, own + 10)],
              EVENT_SECONDS, "a host that yields")
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert niceness_of(quick) == own
