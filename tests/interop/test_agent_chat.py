# SPDX-License-Identifier: Apache-2.0
"""toolboxctl chat: a person at a terminal talks to toolbox-agent."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time

import agent_peer
import manifests
import pytest
from caller import Caller
from conftest import Service
from model_server import ModelServer, calls, says
from processes import EVENT_SECONDS, TOOLBOXCTL, ctl_command, environment, toolboxctl


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    home = tmp_path_factory.mktemp("chat")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    with Service("embedded", home, [manifests.SHIPPED, folder],
                 configuration={"start_timeout_ms": int(EVENT_SECONDS * 1000)}) as service, ModelServer() as model:
        agent = agent_peer.start(home / "agent", service.url, model, match_first=False, tools_max=100)
        yield service.url, model
        assert agent.end() == 0


class Terminal:
    """A terminal with `toolboxctl chat` in it, and what it has shown."""

    def __init__(self, home, url, columns, *words, stdin=None, **variables):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            ctl_command("chat", *words, bus=url, seconds=int(EVENT_SECONDS)), cwd=home, stdin=stdin or theirs,
            stdout=theirs, stderr=theirs, env=environment(home, TERM="xterm", **variables), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text):
        """Everything that was shown since the last look, up to and with the text."""
        deadline = time.monotonic() + EVENT_SECONDS
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.shown!r}"
            if select.select([self.ours], [], [], 1)[0]:
                self.shown += os.read(self.ours, 65536).decode(errors="replace").replace("\r", "")
        seen, _, self.shown = self.shown.partition(text)
        return seen + text

    def type(self, text):
        os.write(self.ours, text.encode())

    def leave(self):
        """Press Ctrl-D once, as soon as the prompt is there."""
        self.type("\x04")
        return self.end()

    def end(self):
        self.process.wait(EVENT_SECONDS)
        os.close(self.ours)
        return self.process.returncode


@pytest.mark.parametrize("columns, variables", [(80, {}), (140, {"NO_COLOR": "1"})])
def test_a_conversation(device, tmp_path, columns, variables):
    url, model = device
    model.script(calls(("add", {"a": 3, "b": 4}), ("divide", {"a": 1, "b": 0}), text="Let me look."),
                 says("Seven."), says("Again."))
    terminal = Terminal(tmp_path, url, columns, **variables)
    terminal.wait_for("> ")
    terminal.type("what is three plus four\n")
    turn = terminal.wait_for("Seven.\n")
    assert "Let me look.\n  add …\n" in turn and "  add: " in turn
    assert "  divide failed: RuntimeError: Tool execution failed" in turn
    assert all(len(line) <= columns for line in turn.splitlines())
    terminal.wait_for("> ")
    terminal.type("and again\n")
    terminal.wait_for("Again.\n")
    terminal.wait_for("> ")
    assert [one["content"] for one in model.requests[2]["messages"] if one["role"] == "user"][-2:] == \
        ["what is three plus four", "and again"]
    assert terminal.leave() == 0


def test_a_question_is_asked_in_place(device, tmp_path):
    url, model = device
    model.script(calls(("risky", {"value": -5})), says("Five."), calls(("risky", {"value": -6})), says("No then."))
    terminal = Terminal(tmp_path, url, 80)
    terminal.wait_for("> ")
    terminal.type("dare\n")
    question = terminal.wait_for("then Enter\n")
    assert "May 'risky' of 'answers' run?" in question and '"value": -5' in question
    terminal.type("y\n")
    terminal.wait_for("Five.\n")
    terminal.wait_for("> ")
    terminal.type("dare again\n")
    terminal.wait_for("then Enter\n")
    terminal.type("n\n")
    assert "denied" in json.dumps(terminal.wait_for("No then.\n")) or \
        [one for one in model.requests[3]["messages"] if one["role"] == "tool" and "denied" in one["content"]]
    terminal.wait_for("> ")
    assert terminal.leave() == 0


def test_only_a_line_of_one_key_after_the_question_is_an_answer(device, tmp_path):
    url, model = device
    go = threading.Event()
    model.script(calls(("risky", {"value": -7}), wait=go), says("Still no."))
    terminal = Terminal(tmp_path, url, 80)
    terminal.wait_for("> ")
    terminal.type("dare\n")
    model.wait_for_requests(1, EVENT_SECONDS)
    terminal.type("y\ny")  # before the question is there
    terminal.wait_for("y\ny")
    go.set()
    terminal.wait_for("then Enter\n")
    terminal.type("show\n")
    terminal.type("yes\n")
    terminal.type("\n")
    terminal.type("n\n")
    terminal.wait_for("Still no.\n")
    assert "denied" in [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"][-1]
    terminal.wait_for("> ")
    assert terminal.leave() == 0


def test_an_interrupt_cancels_the_turn(device, tmp_path):
    url, model = device
    never = threading.Event()
    model.script(says("one two three", stall=never, cut=200), says("Fine."))
    terminal = Terminal(tmp_path, url, 80)
    terminal.wait_for("> ")
    terminal.type("count\n")
    model.wait_for_requests(1, EVENT_SECONDS)
    terminal.wait_for("one")
    terminal.type("\x03")
    terminal.wait_for("Stopped.\n")
    never.set()
    terminal.wait_for("> ")
    terminal.type("are you there\n")
    terminal.wait_for("Fine.\n")
    terminal.wait_for("> ")
    assert terminal.leave() == 0


def test_one_turn_for_a_script(device, tmp_path):
    url, model = device
    model.script(says("It is **noon**."))
    done = toolboxctl("chat", "what", "time", "is", "it", bus=url, home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is noon.\n", "")
    assert model.requests[0]["messages"][-1]["content"] == "what time is it"


def test_json_is_the_response(device, tmp_path):
    url, model = device
    model.script(says("Yes."))
    done = toolboxctl("chat", "well", "--json", bus=url, home=tmp_path)
    assert json.loads(done.stdout)["answer"] == "Yes." and done.stdout.count("\n") == 1


def test_lines_of_a_pipe_are_turns(device, tmp_path):
    url, model = device
    model.script(says("One."), says("Two."))
    done = toolboxctl("chat", bus=url, home=tmp_path, stdin="first\n\nsecond\n")
    assert (done.returncode, done.stdout) == (0, "One.\nTwo.\n")


def test_a_failure_has_its_reason(device, tmp_path):
    url, model = device
    model.script(says("Half", finish=None, done=False))
    done = toolboxctl("chat", "well", bus=url, home=tmp_path)
    assert done.returncode == 1 and "its answer was cut off" in done.stderr
    assert done.stdout == "Something went wrong while I was thinking.\n"


def test_without_an_agent_it_says_so(launch, tmp_path):
    service = launch()
    done = toolboxctl("chat", "hello", "--timeout", "1", bus=service.url, home=tmp_path)
    assert done.returncode == 3 and "toolbox-agent" in done.stderr


def test_no_order_of_a_model_reaches_the_terminal(device, tmp_path):
    url, model = device
    model.script(says("\x1b]0;owned\x07 done \x9b31m."))
    terminal = Terminal(tmp_path, url, 80)
    terminal.wait_for("> ")
    terminal.type("well\n")
    shown = terminal.wait_for("done")
    assert "\x1b]0" not in shown and "\x07" not in shown and "\\u001b]0;owned\\u0007" in shown
    terminal.wait_for("> ")
    terminal.leave()


def test_a_turn_is_shown_where_no_person_can_answer(device, tmp_path):
    url, model = device
    model.script(calls(("add", {"a": 3, "b": 4})), says("Seven."))
    terminal = Terminal(tmp_path, url, 80, "three and four", stdin=subprocess.DEVNULL)
    assert "  add: " in terminal.wait_for("Seven.\n")
    assert terminal.end() == 0


def test_over_http_there_is_no_chat(tmp_path):
    terminal = Terminal(tmp_path, None, 80, "well", TOOLBOXD_HTTP="http://127.0.0.1:1")
    terminal.wait_for("HTTP has no route for mycroft.toolbox-agent.is_alive")
    assert terminal.end() == 2


def test_on_a_terminal_it_ends_without_an_agent_too(launch, tmp_path):
    """A response of toolboxd does not make the agent alive."""
    service = launch()
    terminal = Terminal(tmp_path, service.url, 80, "--timeout", "1", "well")
    terminal.wait_for("is toolbox-agent running?")
    assert terminal.end() == 3


def test_the_utterance_waits_for_an_agent_that_comes_later(launch, tmp_path):
    """The two lines of docs/agents.md, pasted together."""
    service = launch(None, [manifests.SHIPPED], kind="ovos-messagebus")
    with ModelServer() as model, Caller(service.url) as person:
        model.script(says("Here."))
        chat = subprocess.Popen([TOOLBOXCTL, "chat", "--bus", service.url, "--timeout", str(EVENT_SECONDS), "well"],
                                env=environment(tmp_path), stdout=subprocess.PIPE, text=True)
        person.wait_for(lambda one: one.type == agent_peer.ALIVE)
        agent = agent_peer.start(tmp_path / "agent", service.url, model)
        assert chat.communicate(timeout=EVENT_SECONDS) == ("Here.\n", None) and chat.returncode == 0
        assert [one.type for one in person.settle()].count(agent_peer.CHAT) == 1
        assert agent.end() == 0
