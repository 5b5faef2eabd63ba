# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl invoke` as a command: deadlines, signals, what a person sees, arguments, texts and bytes."""
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import termios
import time

import pytest
from caller import Caller
from processes import (EVENT_SECONDS, TOOLBOXCTL, at_most, children, environment, toolboxctl, until,
                       write_configuration)
from test_approval import KEY, Person, shell
from test_approvals_ctl import Terminal
from test_plugins import plugged

TEXT = {"type": "string"}


def line(command, name, schema=None, **more):
    return {"name": name, "description": "For tests.", "risk": "read", "command": {"shell": command},
            "argument_schema": {"type": "object", "properties": schema or {}},
            "timeout_ms": 60000, **more}


TOOLS = [
    line('sleep "$TOOL_ARG_SECONDS"; : > "$TOOL_ARG_PLACE"', "sleeper",
         {"place": TEXT, "seconds": {"type": "integer", "default": 3}}),
    line("sleep 6; echo done", "long", timeout_ms=20000),
    line("sleep 20", "short", timeout_ms=300),
    line("sleep 3600", "longest", timeout_ms=3600000),
    line("echo one >&2; echo two >&2; echo out; exit 3", "fails"),
    line("kill -9 $$", "dies"),
    line('printf %s "$TOOL_ARG_TEXT"', "echo", {"text": TEXT}),
    {**line("", "ended"), "command": {"shell": r"""printf %s '"ab\n"'""", "output": "json"}},
    line("cat", "stdin", {"place": {"type": "object", "properties": {"city": TEXT}},
                          "days": {"type": "array", "items": {"type": "integer"}},
                          "data": {"type": "string", "contentEncoding": "base64"}, "text": TEXT}),
]


@pytest.fixture
def start(launch, tmp_path):
    def begin(**approval):
        folder = tmp_path / "toolbox.d"
        shell(folder)
        (folder / "box.json").write_text(json.dumps({"kind": "command", "tools": TOOLS}))
        (folder / "plug.json").write_text(json.dumps({"kind": "command", "tools": [
            line("echo", "echo"), line("true", "only_here")]}))
        return launch({"approval": approval} if approval else {}, [folder])
    return begin


@pytest.fixture
def service(start):
    return start()


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "person"
    folder.mkdir()
    return folder


@pytest.fixture
def run(service, home):
    def invoke(*words, **more):
        return toolboxctl("invoke", *words, bus=service.url, home=home, **more)
    return invoke


def begin(service, home, *words):
    return subprocess.Popen([str(TOOLBOXCTL), "invoke", *map(str, words), "--bus", service.url],
                            env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))


def wait_until_running(service):
    with Caller(service.url) as caller:
        until(lambda: caller.call("ovos.tools.status")["calls"]["in_flight"] == 1, EVENT_SECONDS, "a call")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_call(service, home, tmp_path, number):
    place = tmp_path / "made"
    process = begin(service, home, "sleeper", f"place={place}", "seconds=60")
    wait_until_running(service)
    process.send_signal(number)
    out, err = process.communicate(timeout=EVENT_SECONDS)
    assert (process.returncode, out, err) == (128 + number, "", "toolboxctl: the call was cancelled\n")
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["calls"]["in_flight"] == 0
    until(lambda: not any(map(children, service.daemon.hosts())), EVENT_SECONDS, "the end of its program")
    assert not place.exists()
    assert toolboxctl("invoke", "sleeper", f"place={place}", "seconds=0", bus=service.url, home=home).returncode == 0
    assert place.exists()


def test_the_end_of_a_terminal_that_is_ignored_ends_nothing(service, home):
    """As by nohup."""
    process = subprocess.Popen(
        [str(TOOLBOXCTL), "invoke", "sleeper", f"place={home / 'made'}", "--bus", service.url],
        env=environment(home), stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until_running(service)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=EVENT_SECONDS)
    assert process.returncode == 0 and err == b""


def test_a_second_signal_leaves_at_once(service, home, tmp_path):
    process = begin(service, home, "sleeper", f"place={tmp_path / 'made'}")
    wait_until_running(service)
    os.kill(service.daemon.daemon_pid(), signal.SIGSTOP)
    try:
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        # The first one waits two seconds for the service.
        assert process.poll() is None or time.monotonic() - start > 2
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=EVENT_SECONDS)
        assert time.monotonic() - start < at_most(1.5)
    finally:
        os.kill(service.daemon.daemon_pid(), signal.SIGCONT)
    assert process.returncode == 130 and "may still run" in err, err


def test_the_time_is_that_of_the_tool_or_shorter(run, service):
    done = run("long")
    assert done.returncode == 0 and "done" in done.stdout, done.stderr
    # On a machine that holds the answer up for longer than it is waited for, with a longer time.
    for seconds in 0.5, 5:
        done = run("longest", "--timeout", str(seconds))
        if "deadline" in done.stderr:
            break
    assert done.returncode == 4 and f"deadline of {seconds * 1000:.0f} ms" in done.stderr, done.stderr
    done = run("short")
    assert done.returncode == 4 and "deadline of 300 ms" in done.stderr, done.stderr
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["calls"]["in_flight"] == 0


def test_a_failed_program_is_shown_whole(run):
    done = run("fails")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.endswith("  exit status: 3\n  stderr:\n    one\n    two\n  output:\n    out\n"), \
        done.stderr
    assert "  signal: SIGKILL\n" in run("dies").stderr


def test_arguments_of_all_forms(run, tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\x00" * 100)
    (tmp_path / "text").write_text("é\n")
    done = run("stdin", "place.city=12", "days=1,2", "days=3", f"data=@{tmp_path}/bytes",
               f"text=@{tmp_path}/text", "--get", "result.output")
    given = json.loads(json.loads(done.stdout)["output"] if done.stdout[0] == '{"o' else done.stdout)
    import base64
    assert given == {"place": {"city": "12"}, "days": [1, 2, 3], "text": "é\n",
                     "data": base64.b64encode(b"\xff\x00" * 100).decode()}
    done = run("stdin", "text=@-", "--get", "result.output", stdin="12")
    assert json.loads(done.stdout) == {"text": "12"}
    done = run("stdin", f"text=@{tmp_path}/bytes")
    assert done.returncode == 2 and "is not UTF-8" in done.stderr
    done = run("nothing", f"text=@{tmp_path}/bytes")
    assert done.returncode == 1 and done.stderr == "toolboxctl: Unknown tool: 'nothing'; see toolboxctl list --why\n"
    done = run("stdin", f"text=@{tmp_path}/none")
    assert done.returncode == 2 and "'text' is given the file" in done.stderr
    with open(tmp_path / "large", "wb") as large:
        large.truncate(1 << 30)
    done = run("stdin", f"data=@{tmp_path}/large")
    assert done.returncode == 2 and "which has over" in done.stderr


def test_a_result_as_it_is(run, tmp_path):
    assert run("box/echo", "text=a\"b\nc", "--raw").stdout == 'a"b\nc'
    assert run("box/echo", "text=ab", "--raw").stdout == "ab"
    assert run("box/echo", "text=ab", "--get", "result.output").stdout == "ab\n"
    done = run("box/echo", "text=ab", "--get", "result.nothing")
    assert (done.returncode, done.stderr) == (
        1, "toolboxctl: the response has no 'result.nothing'; 'result' has 'output'\n")
    done = run("box/echo", "text=ab", "--get", "output")
    assert (done.returncode, done.stderr) == (
        1, "toolboxctl: the response has no 'output'; did you mean 'result.output'?\n")
    done = run("box/echo", "text=ab", "--get", "nothing")
    assert (done.returncode, done.stderr) == (
        1, "toolboxctl: the response has no 'nothing'; it has 'name', 'call_id', 'result'\n")
    done = run("box/echo", "text=ab", "--get", "result.output.x")
    assert (done.returncode, done.stderr) == (1, "toolboxctl: the response has no 'result.output.x'\n")
    done = run("box/echo", "text=ab", "--get", "result", "--raw")
    assert json.loads(done.stdout) == {"output": "ab"}


def test_names_and_what_was_meant(run):
    assert run("box__echo", "text=ab", "--raw").stdout == "ab"
    for more in [], ["--trace-files"]:
        done = run("echo", "text=ab", *more)
        assert done.returncode == 1 and "type box/echo or plug/echo" in done.stderr
    done = run("bxo/echo", "text=ab")
    assert done.returncode == 1 and done.stderr.endswith("did you mean 'box'?\n")
    done = run("nowhere/nothing")
    assert done.returncode == 1 and done.stderr.endswith("; see toolboxctl list --why\n")


def see(home, columns, *words, **more):
    """What a terminal of so many columns shows at the end, its lines as they were drawn, and the status."""
    with Terminal(home, *words, **more) as terminal:
        fcntl.ioctl(terminal.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        status = terminal.end()
        drawn = [part.replace("\x1b[K", "") for part in terminal.text.split("\r") if "\x1b[K" in part]
        return status, terminal.text, drawn


@pytest.mark.parametrize("flags", [["--raw"], ["--get", "result.output"]])
def test_a_text_on_a_terminal_ends_its_line_once(service, home, flags):
    for words in ["box/echo", "text=ab"], ["box/ended"]:
        status, shown, _ = see(home, 80, "invoke", *words, *flags, "--bus", service.url)
        assert status == 0 and shown.rpartition("\x1b[K")[2].lstrip("\r") == "ab\r\n", (words, shown)


@pytest.mark.parametrize("columns", [40, 80, 140])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_progress_on_a_terminal(launch, tmp_path, home, columns, locale):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    toolboxctl("invoke", "later", "steps=1", bus=service.url, home=home)
    status, text, drawn = see(home, columns, "invoke", "later", "steps=100000", "--bus", service.url,
                              env={"LC_ALL": locale})
    assert status == 0 and '"steps": 100000' in text, text
    lines = [one for one in drawn if "%" in one]
    assert lines and all(len(one) < columns for one in lines), lines
    assert all(re.match(r"stepping [█░#-]+ \d+ %  \d+\.\d s", one) for one in lines), lines
    assert all(one.isascii() for one in lines) is (locale == "C")
    assert all(("(Ctrl-C cancels)" in one) is (columns > 40) for one in lines), lines
    assert drawn[-1].startswith("{") or drawn[-1].strip() == "", drawn[-1]
    piped = toolboxctl("invoke", "later", "steps=20000", bus=service.url, home=home)
    assert piped.stderr == ""


def test_ctrl_c_while_a_person_is_asked(start, home, tmp_path):
    service = start()
    place = tmp_path / "touched"
    with Person(service.url) as person:
        person.attach()
        with Terminal(home, "invoke", "touch", f"file={place}", "--bus", service.url) as call:
            call.wait_for("waiting for approval")
            call.press("\x03") if call.process.poll() else call.process.send_signal(signal.SIGINT)
            assert call.end() == 130 and "was cancelled" in call.text
        assert person.pending() == [] and not place.exists()


@pytest.mark.parametrize("name", ["touch", "shell/touch", "shell__touch"])
def test_the_operators_own_yes(start, home, tmp_path, name):
    path = tmp_path / "approval.key"
    path.write_text(KEY.hex() + "\n")
    path.chmod(0o600)
    service = start(key_file=str(path))
    place = tmp_path / "touched"
    stranger = toolboxctl("invoke", name, f"file={place}", "--yes", bus=service.url, home=home)
    assert stranger.returncode == 2 and "approval.key_file" in stranger.stderr
    assert not place.exists()
    write_configuration(home, {"toolboxd": {"approval": {"key_file": str(path)}}})
    done = toolboxctl("invoke", name, f"file={place}", "--yes", bus=service.url, home=home)
    assert done.returncode == 0 and place.exists(), done.stderr
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["approval"]["answerers"] == 0


def test_yes_is_no_more_than_an_answerer_may(start, home, tmp_path):
    service = start(answer_sources=["console"])
    place = tmp_path / "touched"
    done = toolboxctl("invoke", "touch", f"file={place}", "--yes", bus=service.url, home=home)
    assert done.returncode == 1 and not place.exists(), done.stderr


def test_yes_answers_no_question_about_other_arguments(start, home, tmp_path):
    service = start()
    with Person(service.url) as person, Caller(service.url) as caller:
        person.attach()
        place = tmp_path / "mine"
        held = caller.send("ovos.tools.invoke", {"name": "touch", "args": {"file": str(place) + "2"}},
                           {"source": "toolboxctl"})
        done = toolboxctl("invoke", "touch", f"file={place}", "--yes", bus=service.url, home=home)
        assert done.returncode == 0 and place.exists(), done.stderr
        assert [one["args"]["file"] for one in person.pending()] == [str(place) + "2"], held
