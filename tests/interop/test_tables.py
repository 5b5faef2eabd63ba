# SPDX-License-Identifier: Apache-2.0
"""The tables of toolboxctl as a person sees them: on terminals of several widths, with colours and
without, in a C and a UTF-8 locale. `pytest -s` prints what was captured."""
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from contextlib import ExitStack
from fcntl import ioctl

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, ctl_command, environment, toolboxctl, until

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
ERASED = re.compile(r"[^\n]*\r\x1b\[K")
NO_LIMIT = 1000
COMMANDS = {
    "list": ["list"], "long": ["list", "--long"], "why": ["list", "--why"],
    "quarantined": ["list", "--toolbox", "crashy"],
    "stat": ["list", "--stat"], "calls": ["calls"], "running": ["calls", "--running"],
     "status": ["status"], "crashy": ["status", "crashy"],
    "broken": ["status", "broken"], "libm": ["status", "libm"], "kept": ["status", "kept"],
    "get": ["get", "lights_on"], "approvals": ["approvals"],
    "profiles": ["profile", "list"], "audit": ["audit"],
    "allowed": ["approvals", "--allowed"], "profile": ["profile", "show", "house"],
    "match": ["match", "what", "is", "3", "plus", "4"],
    "invalid": ["invoke", "math_tools/divide", "a=x", "b=y"],
    "unknown": ["get", "lights_no"], "typo": ["status", "crash"],
    "check": ["check", "../toolbox.d/broken.json", "../toolbox.d/kept.json"],
    "test": ["test", "../toolbox.d/lamps_of_the_house.json", "../lamps.calls"],
    "not loaded": ["test", "../toolbox.d/broken.json"], "failing": ["invoke", "sh/fails"],
}


class Terminal:
    """A command whose stdout and stderr are a terminal of so many columns and rows."""

    def __init__(self, words, home, columns, rows=50, **env):
        self.ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            ctl_command(*words), env=environment(home, TERM="xterm", **env), cwd=home,
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.set_blocking(self.ours, False)
        self.sent = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def read(self):
        """What has come by now."""
        try:
            while chunk := os.read(self.ours, 65536):
                self.sent += chunk.decode()
        except OSError:
            pass
        return self.sent

    def wait(self):
        """All of it, when the command has ended; the lines that a terminal shows end in LF."""
        until(lambda: (self.read(), self.process.poll())[1] is not None, EVENT_SECONDS, "its end")
        self.read()
        return self.sent.replace("\r\n", "\n")


@pytest.fixture
def show():
    """Begin a command on a terminal. A command that still runs after its test is killed."""
    with ExitStack() as shown:
        yield lambda *arguments, **more: shown.enter_context(Terminal(*arguments, **more))


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A service with something in each table. It is one of this module's own, since it changes."""
    from conftest import Service
    home = tmp_path_factory.mktemp("tables")
    folder = home / "toolbox.d"
    manifests.toolbox(folder, "crashy", [
        manifests.labs("behave"), manifests.tool("crash", "abort", returns="void"),
        manifests.tool("say", "perror", [manifests.text("text")], "void"),
        manifests.labs("write", risk="write"), manifests.labs("run", risk="execute")])
    manifests.toolbox(folder, "lamps_of_the_house", [
        {**manifests.labs("lights_on"), "description":
         "Turns on the lights of one room, or of all rooms of a house – with “dimming” where the "
         "lamp of the café has it … and 日本語."}])
    manifests.toolbox(folder, "kept", [manifests.labs("keep")])
    (folder / "sh.json").write_text(json.dumps({"kind": "command", "tools": [{
        "name": "fails", "description": "Fails.", "risk": "read", "command": {"shell":
            "echo a line of stderr that is far too long for a terminal of eighty columns, and goes on >&2; exit 3"}}]}))
    (home / "lamps.calls").write_text(
        'lights_on value=7\nlights_on value=the_lamp_above -> error unknown_tool\n'
        'lights_on value=9223372036854775807 -> {"result": 9223372036854775806, "lamps": ["kitchen", "hall"]}\n')
    (folder / "broken.json").write_text('{"kind": "native", "tools": [{"name": "x"}]}')
    one = Service("embedded", home, [folder, manifests.SHIPPED], configuration={
        "crash_limit": 2, "crash_window_s": 60, "approval": {"timeout_ms": 3600 * 1000}, "tools_disabled": ["libm/*"],
        "audit": {"file": str(home / "audit.log")}})
    with one:
        with Caller(one.url) as caller:
            fill(caller, folder, one)
            one.caller = caller
            yield one


def fill(caller, folder, service):
    caller.call("ovos.tools.approval.attach", {"seconds": 300})
    toolboxctl("profile", "set", "house", "lights_on", bus=service.url, home=service.daemon.home)
    toolboxctl("allow", "lights_on", "crashy/be*", bus=service.url, home=service.daemon.home)
    caller.invoke("say", {"text": "about to die"})
    caller.invoke("behave", {"value": "x"})
    caller.invoke("write", {"value": 1})
    manifests.toolbox(folder, "kept", [manifests.tool("keep", "no_such_function")])
    caller.call("ovos.tools.reload")
    # A change of a folder ends a quarantine, and is noticed again a little later.
    until(lambda: is_quarantined(caller), EVENT_SECONDS, "a quarantine that stays")
    caller.send("ovos.tools.invoke", {"name": "run", "args": {"value": 1}})
    until(lambda: caller.call("ovos.tools.approval.list")["pending"], EVENT_SECONDS, "a question")


def is_quarantined(caller):
    def state():
        return caller.call("ovos.tools.status", {"toolbox_id": "crashy"})["toolboxes"][0]["state"]
    while state() != "quarantined":
        caller.invoke("crash")
    time.sleep(1)
    return state() == "quarantined"


def capture(service, name, columns, **env):
    words = COMMANDS[name]
    # A client that answers no ping is disconnected, and its question withdrawn.
    service.caller.call("ovos.tools.status")
    if words[0] not in ("audit", "check", "test"):
        words = [*words, "--bus", service.url]
    with Terminal(words, service.daemon.home, columns, **env) as terminal:
        # Where a machine lets the command wait, its clock is there for a time.
        return ERASED.sub("", terminal.wait())


def without_numbers(text):
    """Times pass between two captures."""
    return re.sub(r"\d+", "0", text)


def is_part_of_a_path(word, words):
    return any("/" in whole and word in whole for whole in words)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("columns", [40, 80, 140])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_fits_its_terminal(busy, name, columns, locale):
    plain = capture(busy, name, columns, LC_ALL=locale, NO_COLOR="1")
    print(f"\n{name}, {columns} columns, {locale}\n{plain}")
    assert plain.strip() and "\x1b" not in plain
    width = {"日": 2, "本": 2, "語": 2}
    for line in plain.split("\n"):
        if line.startswith("  toolboxctl "):
            continue            # a command to copy is one line
        assert sum(width.get(one, 1) for one in line) <= columns, line
        assert line == line.rstrip(), repr(line)
    if locale == "C":
        assert plain.isascii(), re.findall(r"[^\x00-\x7f]+", plain)
    # No word is cut: each is one of the same table where it has all room. Paths are cut after a slash.
    words = set(without_numbers(capture(busy, name, NO_LIMIT, LC_ALL=locale, NO_COLOR="1")).split())
    words |= {"(quarantined)", "ms", "s", "min"}  # a call that still runs may have another unit by now
    for word in without_numbers(plain).split():
        assert word in words or len(word) >= columns - 2 or is_part_of_a_path(word, words), word


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_a_line_that_comes_later_fits_its_terminal(busy, show, columns):
    """No word of it is cut: with a space for each break it is the same text."""
    terminal = show(["watch", "--bus", busy.url], busy.daemon.home, columns, rows=1000, NO_COLOR="1")
    told = []

    def call():
        time.sleep(0.2)
        error = busy.caller.invoke("add", {"a": f"watch {columns} {len(told)}"})["error"]
        told.append(" ".join(error.split(": ", 2)[2].split()))
        shown = " ".join(terminal.read().split())
        return any(one in shown for one in told)

    until(call, EVENT_SECONDS, "the line")
    lines = terminal.read().rsplit("\r\n", 1)[0].split("\r\n")
    assert max(map(len, lines)) <= columns and any(line.startswith("  ") for line in lines), lines


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"profile", "match", "test"}))
def test_colours_change_no_text(busy, name):
    plain = capture(busy, name, 80, LC_ALL="C.UTF-8", NO_COLOR="1")
    coloured = capture(busy, name, 80, LC_ALL="C.UTF-8")
    assert without_numbers(ESCAPE.sub("", coloured)) == without_numbers(plain)
    assert "\x1b[" in coloured


def test_the_states_have_colours(busy):
    text = capture(busy, "status", 140, LC_ALL="C.UTF-8")
    assert "\x1b[31mquarantined\x1b[0m" in text and "\x1b[2mdisabled\x1b[0m" in text
    piped = toolboxctl("status", bus=busy.url, home=busy.daemon.home).stdout
    assert "\x1b" not in piped


def test_status_begins_with_the_sums(busy):
    lines = capture(busy, "status", 140, NO_COLOR="1").splitlines()
    assert lines[0] == "13 tools of 5 toolboxes, 2 failed, 1 quarantined, 1 disabled"
    assert lines[3].split() == ["TOOLBOX", "STATE", "TOOLS", "RUNNING", "CALLS", "FAILED", "P50",
                                "P99", "WHY"]


def test_status_of_a_toolbox_describes_it(busy):
    text = capture(busy, "crashy", 140, NO_COLOR="1")
    assert re.match(r"crashy  quarantined since \d\d:\d\d:\d\d\n  why +quarantined after 2 crashes",
                    text)
    assert "\n  try      toolboxctl reload\n" in text
    assert re.search(r"\nTOOL +CALLS +FAILED +P50 +P99 +LAST FAILURE\n", text)
    assert re.search(r"\ncrash +\d+ +\d+ .* host_crashed: SIGABRT\n", text)
    assert re.search(r"\n\d\d:\d\d:\d\d  about to die: ", text)
    text = capture(busy, "kept", 140, NO_COLOR="1")
    assert re.search(r"\n  serving +the version of [\d:]+; the version of [\d:]+ failed: ", text)
    assert "no_such_function" in " ".join(text.split())
    assert capture(busy, "broken", 140, NO_COLOR="1").startswith("broken  failed\n  failed  ")
    text = " ".join(capture(busy, "broken", 140, NO_COLOR="1").split())
    assert re.search(r" try toolboxctl check \S+/toolbox\.d/broken\.json, which names every mistake with its line$", text)
    assert capture(busy, "libm", 140, NO_COLOR="1").startswith("libm  disabled\n")


def test_an_unknown_toolbox_has_a_near_name(busy):
    done = toolboxctl("status", "crashi", bus=busy.url, home=busy.daemon.home)
    assert done.returncode == 1
    assert done.stderr == "toolboxctl: no toolbox is called 'crashi'; is it 'crashy'?\n"
    done = toolboxctl("status", "zzz", bus=busy.url, home=busy.daemon.home)
    assert done.returncode == 1 and "no toolbox is called 'zzz'" in done.stderr


# ── --watch ────────────────────────────────────────────────────────────────────────────────────

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def test_a_command_ends_with_a_test_that_fails(launch, tmp_path):
    service = launch()
    with pytest.raises(AssertionError):
        with Terminal(["status", "--watch", "--bus", service.url], tmp_path, 80) as terminal:
            until(lambda: ENTER in terminal.read(), EVENT_SECONDS, "a table")
            raise AssertionError("as a test fails")
    assert terminal.process.returncode == -signal.SIGKILL


def test_watch_redraws_and_gives_the_terminal_back(launch, show, tmp_path):
    for name in "left", "middle", "right":
        manifests.toolbox(tmp_path / "toolbox.d", name, [manifests.labs(f"absolute_{name}")])
    service = launch({}, [tmp_path / "toolbox.d"])
    terminal = show(["status", "--watch", "--bus", service.url], tmp_path, 80, rows=6)
    started = time.monotonic()
    until(lambda: "left" in terminal.read(), EVENT_SECONDS, "a table")
    with Caller(service.url) as caller:
        caller.invoke("absolute_left", {"value": 1})
    until(lambda: re.search(r"left +\x1b\[32mready", terminal.read()) and
          terminal.read().count("\x1b[H") >= 3, EVENT_SECONDS, "it is drawn again")
    drawn = terminal.read().count("\x1b[H")
    assert drawn <= time.monotonic() - started + 2
    # No more lines than rows.
    assert max(one.count("\n") for one in terminal.read().split("\x1b[H")) == 5
    assert "..." in terminal.read() and "right" not in terminal.read()
    terminal.process.send_signal(signal.SIGINT)
    sent = terminal.wait()
    assert terminal.process.returncode == -signal.SIGINT
    assert sent.startswith(ENTER) and sent.endswith(LEAVE) and "\x1b[?25h" in sent


def test_watch_waits_for_a_service_that_is_away(launch, show, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "left", [manifests.labs()])
    service = launch({}, [tmp_path / "toolbox.d"])
    terminal = show(["status", "left", "--watch", "--bus", service.url], tmp_path, 80)
    until(lambda: "left" in terminal.read(), EVENT_SECONDS, "a table")
    service.daemon.end()
    until(lambda: "waiting for it" in terminal.read(), EVENT_SECONDS, "that it is away")
    seen = len(terminal.read())
    again = launch({}, [tmp_path / "toolbox.d"], port=int(service.url.split(":")[2].split("/")[0]))
    assert again.url == service.url
    until(lambda: "\x1b[H" in terminal.read()[seen:], EVENT_SECONDS, "it is drawn again")
    terminal.process.terminate()
    assert terminal.wait().endswith(LEAVE)


def test_watch_into_a_pipe_is_lines_of_json(launch, tmp_path):
    service = launch()
    done = toolboxctl("status", "--watch", bus=service.url, home=tmp_path)
    assert done.returncode == 2 and "--json" in done.stderr
    with subprocess.Popen(ctl_command("status", "--watch", "--json", bus=service.url),
                          env=environment(tmp_path), stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            lines = [process.stdout.readline() for _ in range(2)]
        finally:
            process.kill()
    assert all(line.startswith("{") and line.endswith("}\n") for line in lines)
