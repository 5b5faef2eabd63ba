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
from processes import (BUILD, END_SECONDS, START_SECONDS, TOOLBOXD, WRAPPER, environment, free_port,
                       listens, until)

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
        until(lambda: listens(port), START_SECONDS, "the bus, though nobody reads the log")
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
                                       reader.text()), START_SECONDS, "the count")
        assert int(lost[1]) > 0
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_SECONDS) == 0
    reader.join(END_SECONDS)
    assert "Stopping" in reader.text()


def test_a_log_that_nobody_reads_does_not_hold_up_the_end(unread):
    url, process, _ = unread
    with Caller(url) as caller:
        caller.call("ovos.tools.reload")
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(END_SECONDS) == 0
    assert time.monotonic() - begun < END_SECONDS


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
                 START_SECONDS, "another start")
    with Caller(urls[0]) as caller:
        assert caller.call("ovos.tools.reload")["failed"] == []
        assert caller.call("ovos.tools.match", {"utterance": "what is 1 plus 2"})["name"] == "add"
    assert service.daemon.log().count(NO_MACHINE_CODE) == count
