# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl calls` and `cancel`, and `watch` as far as it is about one call."""
import contextlib
import datetime
import json
import re
import select
import shlex
import subprocess

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, ctl_command, environment, toolboxctl, until
from test_history import begin, crashy, invoke, running
from test_plugins import plugged
from test_toolboxctl import Watch

CALLS = "ovos.tools.calls"


@pytest.fixture
def own(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    crashy(folder)
    service = launch({"crash_limit": 0}, [folder])
    with Caller(service.url) as caller:
        invoke(caller, "absolute", {"value": 1})
        yield service, caller


@pytest.fixture
def ctl(own, tmp_path):
    return lambda *args: toolboxctl(*args, bus=own[0].url, home=tmp_path / "ctl",
                                    env={"TZ": "UTC-2"})


def rows(done):
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_calls_are_a_table_with_the_newest_below(own, ctl):
    _, caller = own
    invoke(caller, "hang", {"seconds": 9})
    invoke(caller, "nope", {}, {"source": "bob"})
    head, done, failed, unknown = rows(ctl("calls"))
    assert head.split() == ["TIME", "CALL", "TOOL", "CALLER", "TOOK", "OUTCOME"]
    hour = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)).hour
    assert re.fullmatch(rf"({hour:02}|{(hour - 1) % 24:02}):\d\d:\d\d  [0-9a-f]{{6}}  "
                        r"answers/absolute  alice +\d+\.\d m?s  ok", done)
    assert re.search(r"answers/hang +alice +\d+\.\d m?s  timeout  deadline of 300 ms$", failed)
    assert re.search(r"  nope +bob +\d+\.\d m?s  unknown_tool  Unknown tool: 'nope'", unknown)


def test_calls_in_flight_and_their_progress(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        begin(caller, "later", {"steps": 100000000})
        until(lambda: any("progress" in one for one in running(caller)), EVENT_SECONDS, "progress")
        done = toolboxctl("calls", "--running", bus=service.url, home=tmp_path)
        assert re.search(r"plugged/later  alice  .*  running  \[\d+ %\]  stepping\n$", done.stdout)
        one, = running(caller)
        toolboxctl("cancel", one["id"], bus=service.url, home=tmp_path)


def test_filters(own, ctl):
    _, caller = own
    invoke(caller, "quiet", {}, {"source": "bob"})

    def tools(*args):
        return [row.split()[2] for row in rows(ctl("calls", *args))[1:]]

    assert tools() == ["answers/absolute", "crashy/quiet"]
    assert tools("--failed") == tools("--tool", "quiet") == tools("--tool", "crashy/quiet") == [
        "crashy/quiet"]
    assert tools("--toolbox", "answers") == tools("--source", "alice") == ["answers/absolute"]
    assert tools("--since", "10m", "--toolbox", "crashy") == ["crashy/quiet"]
    for args, words in ((["--since", "2099-01-01"], "that is asked for was made"),
                        (["--tool", "answers/quiet"], "that is asked for was made"),
                        (["--toolbox", "answers", "--failed"], "that is asked for has failed"), (["--running"], "runs")):
        done = ctl("calls", *args)
        assert (done.returncode, done.stdout) == (0, "") and done.stderr == f"toolboxctl: no call {words}\n"


def test_calls_in_json_are_the_response(own, ctl):
    found = json.loads(ctl("calls", "--json").stdout)["calls"]
    assert [one["name"] for one in found] == ["absolute"]


@pytest.mark.parametrize("args, words", [
    (["calls", "--running", "--failed"], "either --running or --failed"),
    (["calls", "--ended"], "calls takes no --ended"),
    (["watch", "--running"], "watch takes no --running"),
    (["watch", "--arguments", "--ended"], "--arguments is about the beginning of a call"),
    (["calls", "--since", "soon"], "--since must be like 10m"),
    (["calls", "--tool", "a/b", "--toolbox", "c"], "'a/b' is not in the toolbox"),
    (["calls", "--count", "1"], "calls takes no --count"),
    (["audit", "--failed"], "audit takes no --failed"),
    (["cancel"], "cancel needs more arguments"),
    (["watch", "--count", "0"], "--count must be a number"),
    (["watch", "--count", "-1"], "--count must be a number"),
    (["watch", "--count", "x"], "--count must be a number"),
    (["watch", "--arguments={}"], "--arguments takes no value"),
    (["watch", "--arguments", "{}"], "watch takes no '{}'"),
    (["watch", "--args", "{}"], "watch takes no --args"),
    (["calls", "--args", "{}"], "calls takes no --args")])
def test_what_cannot_be_asked(own, ctl, args, words):
    done = ctl(*args)
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""


def test_strangers_change_nothing_on_the_terminal(own, ctl):
    _, caller = own
    invoke(caller, "x\x1b[2J\ny", {}, {"source": "\u202eevil\x07"})
    _, _, row = rows(ctl("calls"))
    assert "x\\u001b[2J y" in row and "\\u202eevil\\u0007" in row


# ── cancel ─────────────────────────────────────────────────────────────────────────────────────


def test_calls_are_cancelled_by_the_beginnings_of_their_ids(own, ctl):
    _, caller = own
    for _ in range(3):
        begin(caller, "wait", {"seconds": 20})
    ids = [one["id"] for one in running(caller, 3)]
    short = next(ids[0][:n] for n in range(1, 7) if not any(
        other.startswith(ids[0][:n]) for other in ids[1:]))
    done = ctl("cancel", short)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{ids[0]} cancelled\n", "")
    done = ctl("cancel", ids[0])
    assert done.returncode == 1 and "is over: cancelled" in done.stderr
    done = ctl("cancel", "")
    assert done.returncode == 2 and "several calls have an id that begins with ''" in done.stderr
    assert all(one in done.stderr for one in ids[1:])
    done = ctl("cancel", ids[1], "zz", ids[2])
    assert done.returncode == 1 and done.stdout == f"{ids[1]} cancelled\n{ids[2]} cancelled\n"
    assert "no call has an id that begins with 'zz'" in done.stderr
    assert "toolboxctl calls --running" in done.stderr
    assert caller.call(CALLS, {"state": "running"})["calls"] == []


def test_a_call_is_cancelled_by_its_call_id(own, ctl):
    """`calls --json` and `invoke --json` show it, too."""
    _, caller = own
    caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 20}, "call_id": "my-own-1"})
    one, = running(caller)
    done = ctl("cancel", "my-own")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{one['id']} cancelled\n", "")


def test_a_cancel_in_json_is_the_response(own, ctl):
    _, caller = own
    begin(caller, "wait", {"seconds": 20})
    one, = running(caller)
    assert json.loads(ctl("cancel", one["id"], "--json").stdout) == {
        "id": one["id"], "cancelled": True}


# ── watch ──────────────────────────────────────────────────────────────────────────────────────


def test_watch_shows_progress_and_the_caller(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller, Watch(service.url, tmp_path / "watch") as watch:
        line = watch.wait_for("  running", lambda: invoke(caller, "later", {"steps": 3}))
        assert re.search(r"[0-9a-f]{6}  plugged/later for alice  running  \[\d+ %\]  stepping$",
                         line.rstrip())
        assert " for alice" in watch.wait_for("  done")


NO_ARGUMENTS = ('toolboxctl: the service sends no arguments in its events: "toolboxd": {"events": {"arguments": true}} in its '
                'configuration changes that (toolboxctl help configuration)\n')


@pytest.mark.parametrize("door", ["bus", "http"])
def test_watch_shows_arguments_that_events_have(launch, tmp_path, door):
    socket = tmp_path / "socket"
    service = launch({"events": {"arguments": True}}, args=["--http", f"unix:{socket}"])
    more = ["--http", f"unix:{socket}"] if door == "http" else []
    url = None if more else service.url
    with Caller(service.url) as caller:
        def call():
            invoke(caller, "nope", {"value": 1})
            invoke(caller, "divide", {"a": 1, "b": "x"})
            invoke(caller, "add", {"a": 1, "b": [2]}) and invoke(caller, "add", {"a": 1, "b": 2})

        with Watch(url, tmp_path / "watch", *more, "--arguments") as watch:
            started = watch.wait_for("  started:", call)
            assert re.search(r'  math_tools/add for alice  started: \{"a":1,"b":2\}\n$', started)
            assert re.search("  nope for alice  started\n$", watch.wait_for("  nope", call))
            assert watch.errors() == ""
        with Watch(url, tmp_path / "watch", *more) as watch:
            assert re.search("  math_tools/add for alice  started\n$", watch.wait_for("/add for alice  started", call))
        with Watch(url, tmp_path / "watch", *more, "--json", "--arguments") as watch:
            assert json.loads(watch.wait_for('"args":', call))["data"]["args"] == {"a": 1, "b": 2}
            assert watch.errors() == ""


def test_watch_says_once_why_it_shows_no_arguments(own, tmp_path):
    service, caller = own
    with Watch(service.url, tmp_path / "watch", "--arguments") as watch:
        watch.wait_for("  failed", lambda: invoke(caller, "nope"))
        assert watch.errors() == ""
        watch.wait_for("  done", lambda: invoke(caller, "absolute", {"value": 1}))
        watch.wait_for("quiet", lambda: invoke(caller, "quiet"))
        assert watch.errors() == NO_ARGUMENTS
    with Watch(service.url, tmp_path / "watch", "--arguments", "--json", "--count", "1") as watch:
        until(lambda: invoke(caller, "absolute", {"value": 1}) and watch.process.poll() is not None,
              EVENT_SECONDS, "the end of watch")
        assert watch.process.returncode == 0 and watch.errors() == NO_ARGUMENTS
    with Watch(service.url, tmp_path / "watch") as watch:
        watch.wait_for("  done", lambda: invoke(caller, "absolute", {"value": 1}))
        assert watch.errors() == ""


@contextlib.contextmanager
def watching(home, command, stdout=None):
    home.mkdir()
    with subprocess.Popen(command, env=environment(home), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE,
                          text=True) as watch:
        try:
            yield watch
        finally:
            watch.kill()


def test_watch_ends_with_its_reader(own, tmp_path):
    """As of `toolboxctl watch | head -1`, also when no call follows."""
    service, caller = own
    with watching(tmp_path / "watch", ctl_command("watch", bus=service.url), subprocess.PIPE) as watch:
        until(lambda: invoke(caller, "absolute", {"value": 1}) and select.select([watch.stdout], [], [], 0)[0],
              EVENT_SECONDS, "a line of watch")
        watch.stdout.close()
        assert watch.wait(EVENT_SECONDS) == 0 and watch.stderr.read() == ""


@pytest.mark.parametrize("words", [["watch"], ["status", "--watch", "--json"]])
def test_watch_ends_when_nothing_can_be_written(own, tmp_path, words):
    service, caller = own
    command = ctl_command(*words, bus=service.url)
    with open("/dev/full", "w") as full, watching(tmp_path / "watch", command, full) as watch:
        until(lambda: invoke(caller, "absolute", {"value": 1}) and watch.poll() is not None, EVENT_SECONDS, "its end")
        assert (watch.returncode, watch.stderr.read()) == (1, "toolboxctl: the output cannot be written\n")


def test_a_person_who_cannot_read_the_questions_is_not_asked(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({"approval": {"mode": "execute", "timeout_ms": 1000}}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller, open("/dev/full", "w") as full, \
            watching(tmp_path / "watch", ctl_command("approvals", "--watch", bus=service.url), full) as watch:
        until(lambda: invoke(caller, "risky", {"value": 1}) and watch.poll() is not None, EVENT_SECONDS, "its end")
        assert watch.returncode == 1 and watch.stderr.read().endswith("toolboxctl: the output cannot be written\n")


def test_watch_without_stdout_writes_to_no_other_file(own, tmp_path):
    """Its first descriptor would get the number 1, and what is printed."""
    service, caller = own
    words = shlex.join(ctl_command("watch", bus=service.url))
    with watching(tmp_path / "watch", ["sh", "-c", f"exec {words} >&-"]) as watch:
        until(lambda: invoke(caller, "absolute", {"value": 1}) and watch.poll() is not None, EVENT_SECONDS, "its end")
        assert (watch.returncode, watch.stderr.read()) == (1, "toolboxctl: the output cannot be written\n")


def test_watch_of_one_tool_ends_after_so_many_calls(own, tmp_path):
    service, caller = own
    with Watch(service.url, tmp_path / "watch", "--tool", "answers/echo", "--count", "2") as watch:
        watch.wait_for("  done", lambda: (invoke(caller, "absolute", {"value": 1}),
                                          invoke(caller, "echo", {"text": "a"})))
        until(lambda: invoke(caller, "echo", {"text": "a"}) and watch.process.poll() is not None,
              EVENT_SECONDS, "the end of watch")
        assert watch.process.returncode == 0


def test_watch_prints_only_the_calls_that_are_asked_for(own, tmp_path):
    """Each watch ends after two lines, which are the ends of calls of echo by bob, or of calls that failed."""
    service, caller = own

    def call():
        for source in ("alice", "bob"):
            invoke(caller, "absolute", {"value": 1}, {"source": source})
            invoke(caller, "echo", {"text": source}, {"source": source})
            invoke(caller, "nope", {}, {"source": source})

    for args, expected in (
            (["--ended", "--toolbox", "answers", "--tool", "echo", "--source", "bob"], {"answers/echo for bob  done"}),
            (["--failed", "--source", "alice"], {"nope for alice  failed"})):
        with Watch(service.url, tmp_path / "watch", *args, "--count", "2") as watch:
            until(lambda: call() or watch.process.poll() is not None, EVENT_SECONDS, "the end of watch")
            assert watch.process.returncode == 0 and watch.errors() == ""
        found = {re.search(r"  [0-9a-f]{6}  (.*?  (?:done|failed))", line).group(1) for line in watch.lines}
        assert found == expected and len(watch.lines) == 2, watch.lines
