# SPDX-License-Identifier: Apache-2.0
"""A log that nobody reads: the daemon goes on, and says what was lost when it is read again."""
import fcntl
import os
import re
import signal
import subprocess
import threading
import time

import manifests
import processes
import pytest
import test_closed
from caller import Caller
from processes import (BUILD, EVENT_SECONDS, TOOLBOXD, WRAPPER, environment, free_port, listens,
                       until)

# More than waits in memory: 64 KiB.
BROKEN = 190
LONG_NAME = "a" * 200


def fill(end):
    """Write until nothing more fits, and let it block again."""
    fcntl.fcntl(end, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(end, b"\n" * 4096)
    except BlockingIOError:
        fcntl.fcntl(end, fcntl.F_SETFL, 0)


class Reader(threading.Thread):
    """Reads a descriptor to its end."""

    def __init__(self, end):
        super().__init__(daemon=True)
        self.end, self.bytes = end, b""
        self.start()

    def run(self):
        while got := os.read(self.end, 65536):
            self.bytes += got

    def text(self):
        return self.bytes.decode(errors="replace")


@pytest.fixture
def unread(tmp_path):
    """A daemon whose stderr is a full pipe; its URL, its process and the end to read from."""
    broken = tmp_path / "broken.d"
    broken.mkdir()
    for i in range(BROKEN):
        (broken / f"{LONG_NAME}{i}.json").write_text("{")
    port = free_port()
    out, into = os.pipe()
    fill(into)
    process = subprocess.Popen(
        [*WRAPPER, TOOLBOXD, "--embedded-bus", "--bus", f"ws://127.0.0.1:{port}/core",
         "--toolbox-dir", manifests.SHIPPED, "--toolbox-dir", broken],
        env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=into)
    os.close(into)
    try:
        until(lambda: listens(port), EVENT_SECONDS, "the bus, though nobody reads the log")
        yield f"ws://127.0.0.1:{port}/core", process, out
    finally:
        process.kill()
        process.wait()
        os.close(out)


def test_a_log_that_nobody_reads_holds_nobody_up(unread):
    url, process, out = unread
    with Caller(url) as caller:
        for _ in range(3):
            caller.call("ovos.tools.reload")
            caller.peer.send('{"type":"ovos.tools.invoke","data":5}')
            assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        reader = Reader(out)
        lost = until(lambda: re.search(r"(\d+) lines of the log were lost: stderr was not read in time",
                                       reader.text()), EVENT_SECONDS, "the count")
        assert int(lost[1]) > 0
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        process.send_signal(signal.SIGTERM)
        assert process.wait(EVENT_SECONDS) == 0
    reader.join(EVENT_SECONDS)
    assert "Stopping" in reader.text()


def test_a_log_that_nobody_reads_does_not_hold_up_the_end(unread):
    url, process, _ = unread
    with Caller(url) as caller:
        caller.call("ovos.tools.reload")
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(EVENT_SECONDS) == 0
    assert time.monotonic() - begun < EVENT_SECONDS


WITHOUT_JIT = BUILD / "tests" / "without_jit" / "without-jit"
NO_MACHINE_CODE = "they cannot be machine code"


@pytest.mark.parametrize("wrapper, count", [([], 0), ([str(WITHOUT_JIT)], 1)])
def test_patterns_without_machine_code_are_reported_once(
        launch, tmp_path, monkeypatch, wrapper, count):
    """As in the unit of the system, whose MemoryDenyWriteExecute= leaves PCRE2 no JIT. A start that was
    closed is followed by another in the same process."""
    monkeypatch.setattr(processes, "WRAPPER", [*processes.WRAPPER, *wrapper])
    test_closed.write(test_closed.home_of(tmp_path), test_closed.BROKEN)
    service = launch(wait=False)
    test_closed.write(service.daemon.home, '{"toolboxd": {"limits": {"args_bytes": 20}}}')
    urls = until(lambda: re.findall(r"On the bus at (\S+)", service.daemon.log())[1:],
                 EVENT_SECONDS, "another start")
    with Caller(urls[0]) as caller:
        assert caller.call("ovos.tools.reload")["failed"] == []
        assert caller.call("ovos.tools.match", {"utterance": "what is 1 plus 2"})["name"] == "add"
    assert service.daemon.log().count(NO_MACHINE_CODE) == count


# --- what is said of toolboxes

def lines_since(service, before):
    """The lines of the log after the text @before, without their times."""
    return [line.split(" ", 2)[2] for line in service.daemon.log()[len(before):].splitlines()]


@pytest.fixture
def watched(launch, tmp_path):
    """A daemon that offers two toolboxes, and has five that are broken."""
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "box1", [manifests.labs("m1"), manifests.labs("m2")])
    manifests.toolbox(folder, "box2", [manifests.labs("m3")])
    for i in range(5):
        (folder / f"bad{i}.json").write_text("{")
    service = launch({"tools_disabled": ["box2/*"]}, [folder])
    with Caller(service.url) as caller:
        yield caller, folder, service


def changed_soon(service, before):
    """The lines of a reload that the watcher began."""
    until(lambda: "Reloaded in" in service.daemon.log()[len(before):], processes.EVENT_SECONDS,
          "the reload")
    return lines_since(service, before)


def test_the_start_says_once_what_is_offered_and_what_fails(watched):
    caller, folder, service = watched
    log = service.daemon.log()
    assert "INFO  2 tools in 1 toolbox are offered, 5 toolboxes have failed" in log
    answer = caller.call("ovos.tools.reload")
    assert (answer["total_tools"], len(answer["loaded"])) == (2, 1)
    for i in range(5):
        assert log.count(f"ERROR {folder}/bad{i}.json") == 1


def test_a_reload_says_what_has_changed_and_errors_only_when_they_are_new(watched):
    caller, folder, service = watched
    before = service.daemon.log()
    manifests.toolbox(folder, "box1", [manifests.labs("m1", description="Other."),
                                       manifests.labs("m2")])
    manifests.toolbox(folder, "zlib", [manifests.labs("m4")])
    (folder / "bad0.json").write_text("[")
    line, error = changed_soon(service, before)[::-1]
    assert re.fullmatch(r"INFO  Reloaded in \d+ ms: box1/m1 changed, zlib added, bad0 fails, "
                        r"4 still fail", line)
    assert error.startswith(f"ERROR {folder}/bad0.json")

    before = service.daemon.log()
    manifests.toolbox(folder, "bad0", [manifests.labs("m5")])
    (folder / "box1.json").write_text("{")
    error, line = changed_soon(service, before)
    assert line.endswith(": bad0 added, box1 fails, 4 still fail") and "/box1.json" in error
    before = service.daemon.log()
    manifests.toolbox(folder, "box1", [manifests.labs("m1", description="Other."),
                                       manifests.labs("m2")])
    line, = changed_soon(service, before)
    assert line.endswith(": box1 is loaded again, 4 still fail")


def test_a_reload_that_changes_nothing_says_so_only_to_who_asked(watched):
    caller, folder, service = watched
    before = service.daemon.log()
    generation = caller.call("ovos.tools.status")["generation"]
    (folder / "box1.json").touch()
    until(lambda: caller.call("ovos.tools.status")["generation"] > generation,
          processes.EVENT_SECONDS, "the reload")
    assert lines_since(service, before) == []
    caller.call("ovos.tools.reload")
    line, = lines_since(service, before)
    assert re.fullmatch(r"INFO  Reloaded in \d+ ms: nothing changed, 5 still fail", line)
    service.daemon.reload_by_signal()
    until(lambda: len(lines_since(service, before)) == 2, processes.EVENT_SECONDS, "a line")


def test_the_level_debug_has_every_name(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "box", [manifests.labs("m2"), manifests.labs("m1")])
    (folder / "bad.json").write_text("{")
    service = launch({"log": {"level": "debug"}, "tools_disabled": ["m2"]}, [folder])
    log = service.daemon.log()
    assert f"DEBUG Registrations found (2): {folder}/bad.json, {folder}/box.json" in log
    assert "DEBUG Toolboxes loaded (1): box\n" in log
    assert "DEBUG Toolboxes failed (1): bad\n" in log
    assert "DEBUG Tools offered (1): box/m1\n" in log
    assert "DEBUG Tools left out (1): box/m2\n" in log


def test_a_mistake_of_the_configuration_is_said_once_until_it_is_mended(launch, tmp_path):
    home = test_closed.home_of(tmp_path)
    path = test_closed.write(home, '{"toolboxd": {\n"timeout_ms": "soon"}}')
    service = launch()
    with Caller(service.url) as caller:
        for _ in range(2):
            mistakes = caller.call("ovos.tools.status")["configuration"]
            assert [(one["file"], one["line"]) for one in mistakes] == [(str(path), 2)]
            caller.call("ovos.tools.reload")
        assert service.daemon.log().count(f"ERROR {path}:2") == 1
        test_closed.write(home, "{}")
        caller.call("ovos.tools.reload")
        assert "configuration" not in caller.call("ovos.tools.status")
        assert "INFO  The configuration has no errors any more" in service.daemon.log()
