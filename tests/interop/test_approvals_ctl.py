# SPDX-License-Identifier: Apache-2.0
"""toolboxctl asks the person at its terminal, and answers."""
import fcntl
import json
import os
import pty
import re
import select
import stat
import struct
import subprocess
import termios
import time

import pytest
from caller import Caller
from processes import (EVENT_SECONDS, SLOWNESS, TOOLBOXCTL, TOOLBOXD, environment, toolboxctl,
                       write_configuration)
from test_approval import INVOKE, KEY, REQUESTED, RESOLVED, Person, answer_of, seal_of, shell, touch

ATTACH = "ovos.tools.approval.attach"
RENEW_SECONDS = 10  # service/ctl/policy/approvals_watch.c
LEGIBLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


class Terminal:
    """A program whose stdin, stdout and stderr are a terminal."""

    def __init__(self, home, *arguments, env=None, columns=0):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen([str(TOOLBOXCTL), *map(str, arguments)],
                                        env={**environment(home), **(env or {})}, stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def press(self, key):
        os.write(self.ours, key.encode())

    def read(self, seconds):
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        try:
            chunk = os.read(self.ours, 65536)
        except OSError:
            return False
        self.text += chunk.decode(errors="replace")
        return bool(chunk)

    def wait_for(self, text, seconds=EVENT_SECONDS):
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end and (self.read(0.2) or self.process.poll() is None), \
                self.text
        return self.text

    def end(self, seconds=EVENT_SECONDS):
        """Its exit status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, self.text
            self.read(0.1)
        while self.read(0.1):
            pass
        return self.process.returncode


@pytest.fixture
def place(tmp_path):
    return tmp_path / "touched"


@pytest.fixture
def start(launch, tmp_path):
    def launch_shell(approval=None, **options):
        shell(tmp_path / "toolbox.d")
        return launch({"approval": approval or {}}, [tmp_path / "toolbox.d"], **options)
    return launch_shell


@pytest.fixture
def home(tmp_path):
    return tmp_path / "person"


@pytest.fixture
def with_key(start, tmp_path, home):
    """A daemon with a key, which the person at `home` has."""
    path = tmp_path / "approval.key"
    path.write_text(KEY.hex() + "\n")
    path.chmod(0o600)
    write_configuration(home, {"toolboxd": {"approval": {"key_file": str(path)}}})
    return start({"key_file": str(path)})


def watch(home, service, **more):
    return Terminal(home, "approvals", "--watch", "--bus", service.url, **more)


def wait_until_attached(service):
    with Caller(service.url) as caller:
        end = time.monotonic() + EVENT_SECONDS
        while caller.call("ovos.tools.status")["approval"]["answerers"] == 0:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_a_list_without_questions_says_so(start, home):
    done = toolboxctl("approvals", bus=start().url, home=home)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "toolboxctl: no call waits for approval\n"


def test_one_key_lets_the_call_beside_it_run(with_key, place, home):
    with watch(home, with_key) as person:
        wait_until_attached(with_key)
        with Terminal(home, "invoke", "touch", f"file={place}", "--bus", with_key.url, "--timeout", 10) as call:
            call.wait_for("waiting for approval")
            person.wait_for("q leave")
            assert "Touch a file." in person.text and "'toolboxctl'" in person.text
            time.sleep(12)
            assert call.process.poll() is None, "its clock stands"
            assert not place.exists()
            person.press("y")
            assert call.end() == 0 and '"output": ""' in call.text
            assert place.exists()
        person.wait_for("once by toolboxctl\r\n")
        person.press("q")
        assert person.end() == 0
    with Caller(with_key.url) as caller:
        assert caller.call("ovos.tools.status")["approval"]["answerers"] == 0


@pytest.mark.parametrize("key, decision", [("n", "deny"), ("s", "session")])
def test_the_other_keys(start, place, home, key, decision):
    service = start()
    with watch(home, service) as person, Caller(service.url) as caller:
        wait_until_attached(service)
        mark = touch(caller, place)
        person.wait_for("q leave")
        person.press("x")
        person.press("?")
        person.wait_for(f'"file": "{place}"')
        person.press(key)
        person.wait_for(f"{decision} by toolboxctl")
        answer = answer_of(caller, mark)
        assert (answer.get("code") == "denied") is (key == "n")
        assert place.exists() is (key == "s")


def test_a_key_answers_only_what_was_shown_before_it(start, place, home):
    service = start()
    with watch(home, service) as person, Person(service.url) as other, \
            Caller(service.url) as caller:
        wait_until_attached(service)
        person.press("y")
        touch(caller, place)
        touch(caller, place.with_suffix(".2"))
        person.wait_for("q leave")
        person.press("yy")
        person.wait_for("touched.2")
        person.wait_for("once by toolboxctl")
        time.sleep(0.5 * SLOWNESS)
        assert [one["args"]["file"] for one in other.pending()] == [str(place) + ".2"]


def test_the_next_question_has_the_time_that_is_left_and_whole_words(start, place, home):
    """A question that waited while another was shown has less time; how many wait is shown with the keys."""
    service = start()
    with watch(home, service, columns=80) as person, Caller(service.url) as caller:
        person.wait_for("waiting for questions (q: the end)")
        touch(caller, place)
        person.wait_for("q leave\r\n")
        touch(caller, "word " * 30 + "end")
        touch(caller, place)
        wait_until_asked(caller, 3)
        time.sleep(2)
        person.press("n")
        person.wait_for("q leave; 1 more waits")
        assert int(re.findall(r"(\d+)\s+s\s+left", person.text)[-1]) <= 28
        lines = person.text[person.text.index("deny by"):].splitlines()
        sentence = lines[1:[line.startswith("  shell/touch") for line in lines].index(True)]
        assert len(sentence) > 1 and max(map(len, sentence)) <= 80 and sentence[1].startswith("word")
        # After long arguments the keys are shown again.
        person.text = ""
        person.press("?")
        person.wait_for('"file": "word')
        person.wait_for("q leave; 1 more waits")


def wait_until_asked(caller, n):
    end = time.monotonic() + EVENT_SECONDS
    while caller.call("ovos.tools.status")["approval"]["pending"] < n:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_long_questions_are_all_listed_and_shown(launch, home, tmp_path):
    shell(tmp_path / "toolbox.d")
    service = launch({"limits": {"frame_bytes": 1 << 20, "args_bytes": 200000}}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller, Caller(service.url) as other, Person(service.url) as person:
        person.attach()
        for i in range(6):
            (caller, other)[i % 2].send(INVOKE, {"name": "touch", "args": {"file": f"{i}", "note": "x" * 190000}},
                                        {"source": f"a{i}"})
            person.question()
        listed = toolboxctl("approvals", "--bus", service.url, home=home)
        assert [line.split()[3] for line in listed.stdout.splitlines()[1:]] == [f"a{i}" for i in range(6)], listed.stderr
        listed = toolboxctl("approvals", "--json", "--bus", service.url, home=home)
        assert len(json.loads(listed.stdout)["pending"]) == 6
        with watch(home, service) as terminal:
            terminal.wait_for("q leave; 5 more wait")


def test_arguments_that_are_not_shown_are_looked_at_before_a_yes(start, place, home):
    """The one that matters comes after a hundred others, and after one whose name looks like it."""
    service = start()
    with watch(home, service, columns=200) as person, Caller(service.url) as caller:
        wait_until_attached(service)
        args = {'file: "/harmless", note': "ok", **{f"p{i:03}": "ok" for i in range(100)}, "file": str(place)}
        mark = caller.send(INVOKE, {"name": "touch", "args": args}, {"source": "alice"})
        person.wait_for("? shows them, before a yes")
        shown = re.sub(r"\s+", " ", person.text)
        assert f'Touch a file. file: "{place}", "file: \\"/harmless\\", note": "ok", p000: "ok"' in shown, shown
        assert re.search(r'"ok" and \d\d more', shown)
        for key in "ys":
            person.text = ""
            person.press(key)
            person.wait_for("? shows them, before a yes")
        assert not place.exists()
        person.press("?")
        person.wait_for('"p099": "ok"')
        person.wait_for("y once")
        person.press("y")
        person.wait_for("once by toolboxctl")
        assert "result" in answer_of(caller, mark) and place.exists()


def test_what_others_decide_is_taken_off(start, place, home):
    service = start()
    with watch(home, service) as person, Person(service.url) as other, \
            Caller(service.url) as caller:
        wait_until_attached(service)
        touch(caller, place)
        person.wait_for("q leave")
        other.respond(other.pending()[0]["id"], "deny")
        person.wait_for("deny by console")
        caller.send(INVOKE, {"name": "toString"}, {"source": "\x1b]0;owned\x07\u202e"})
        person.wait_for("toString")
        person.wait_for("fingerprint")
        text = person.text.replace("\r\n", "\n")
        assert "\\u001b]0;owned" in text and not LEGIBLE.search(text), repr(text)


def test_a_forged_question_under_a_true_id_is_not_shown(with_key, place, home):
    """A peer without the key lets the true question disappear, and asks about something harmless in its place."""
    with watch(home, with_key) as person, Caller(with_key.url) as evil:
        wait_until_attached(with_key)
        evil.send(INVOKE, {"name": "touch", "args": {"file": str(place)}}, {"source": "evil"})
        question = evil.wait_for(lambda one: one.type == REQUESTED).data
        person.wait_for("q leave")
        evil.send(RESOLVED, {"id": question["id"], "decision": "expired", "by": "toolboxd", "reason": None})
        forged = {**question, "name": "echo", "args": {"text": "good morning"},
                  "question": "May 'echo' of 'box' run? Echo a text. text: \"good morning\""}
        for seal in (question["seal"], seal_of(bytes(32), "question", forged), None):
            evil.send(REQUESTED, {**forged, "seal": seal})
            evil.send(REQUESTED, {**forged, "id": "0" * 32, "seal": seal})
        evil.send(REQUESTED, {**forged, "id": "attach\n300", "seal": "0" * 64})
        person.wait_for("has no right seal")
        person.press("?")
        person.wait_for(f'"file": "{place}"')
        person.press("n")
        person.wait_for("deny by toolboxctl")
        assert "good morning" not in person.text and "expired" not in person.text
        assert person.text.count("has no right seal") == 1


def test_lists_and_commands_take_no_forged_question(start, place, home, tmp_path):
    """The key is the person's alone: the service has none, as every peer that takes its place."""
    path = tmp_path / "approval.key"
    path.write_text(KEY.hex())
    path.chmod(0o600)
    write_configuration(home, {"toolboxd": {"approval": {"key_file": str(path)}}})
    service = start()
    with Caller(service.url) as caller, Person(service.url) as other:
        other.attach()
        touch(caller, place)
        id = other.question()["id"]
        listed = toolboxctl("approvals", "--bus", service.url, home=home)
        assert id not in listed.stdout and "has no right seal" in listed.stderr
        shown = toolboxctl("approvals", "--json", "--bus", service.url, home=home)
        assert json.loads(shown.stdout) == {"pending": []}
        done = toolboxctl("approve", id, "--bus", service.url, home=home)
        assert done.returncode == 1 and "has no right seal" in done.stderr
        assert not place.exists()


def test_an_id_that_is_none_is_not_answered(with_key, home):
    for id in ("attach\n300", "0" * 31, "0" * 31 + "G", "A" * 32):
        done = toolboxctl("approve", id, "--bus", with_key.url, home=home)
        assert done.returncode == 2 and "32 hexadecimal digits" in done.stderr, done.stderr


def test_a_terminal_that_leaves_takes_no_other_away(start, home):
    """Both have one source, and on ovos-messagebus the service knows no more of them. A terminal attaches again by
    itself, too: so an attach counts that comes before; on a machine too slow for it, once more."""
    service = start(kind="ovos-messagebus")

    def seconds_until_again():
        began = time.monotonic()
        with Caller(service.url) as caller, watch(home, service) as stays, watch(home, service) as leaves:
            for one in stays, leaves:
                one.wait_for("waiting for questions")
            leaves.press("q")
            assert leaves.end() == 0
            for is_attached in False, True:
                caller.wait_for(lambda one: one.type == ATTACH and (one.data["seconds"] > 0) == is_attached)
            took = time.monotonic() - began
            assert caller.call("ovos.tools.status")["approval"]["answerers"] == 1
            assert stays.process.poll() is None
        return took

    assert any(seconds_until_again() < RENEW_SECONDS for _ in range(5))


def test_a_terminal_is_left_as_it_was(start, home):
    service = start()
    with watch(home, service) as person:
        before = termios.tcgetattr(person.ours)[3]
        wait_until_attached(service)
        assert not termios.tcgetattr(person.ours)[3] & termios.ECHO
        person.process.terminate()
        assert person.end() == -15
        assert termios.tcgetattr(person.ours)[3] == before


def test_questions_are_listed_and_answered_by_commands(with_key, place, home):
    def run(*arguments, at=home):
        return toolboxctl(*arguments, "--bus", with_key.url, home=at)

    with Caller(with_key.url) as caller, Person(with_key.url, key=KEY) as person:
        assert run("approvals").stdout == ""
        person.attach()
        mark = touch(caller, place)
        id = person.question()["id"]
        lines = run("approvals").stdout.splitlines()
        assert lines[0].split() == ["ID", "TOOL", "RISK", "FROM", "SECONDS", "QUESTION"]
        assert lines[1].split()[:4] == [id, "shell/touch", "execute", "alice"]
        assert lines[1].split()[4].isdigit()
        assert json.loads(run("approvals", "--json").stdout)["pending"][0]["id"] == id
        refused = run("approve", id, at=home.parent / "stranger")
        assert refused.returncode == 1 and "proof" in refused.stderr
        assert run("approve", "0" * 32).returncode == 1
        assert run("approve", id).returncode == 0
        assert answer_of(caller, mark)["result"]
        mark = touch(caller, place)
        done = run("deny", person.question()["id"], "--reason", "not now", "--json")
        assert json.loads(done.stdout)["decision"] == "deny" and done.returncode == 0
        assert "not now" in answer_of(caller, mark)["error"]
        mark = touch(caller, place)
        assert run("approve", person.question()["id"], "--session").returncode == 0
        assert answer_of(caller, mark)["result"]
        mark = touch(caller, place)
        assert answer_of(caller, mark)["result"]


def test_without_the_key_no_one_can_watch(with_key, home):
    done = subprocess.run([str(TOOLBOXCTL), "approvals", "--watch", "--bus", with_key.url],
                          env=environment(home.parent / "stranger"), text=True,
                          stdin=subprocess.PIPE, capture_output=True, timeout=EVENT_SECONDS)
    assert done.returncode == 2 and "approval.key_file" in done.stderr


def test_no_file_has_keys(with_key, home):
    done = subprocess.run([str(TOOLBOXCTL), "approvals", "--watch", "--bus", with_key.url], env=environment(home), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=EVENT_SECONDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "toolboxctl: approvals --watch is answered by keys: stdin has to be a terminal\n"


def test_a_new_key_is_for_its_owner_only(home, tmp_path):
    path = tmp_path / "keys" / "approval.key"
    path.parent.mkdir()
    assert toolboxctl("approval", "key", "--new", home=home).returncode == 2
    write_configuration(home, {"toolboxd": {"approval": {"key_file": str(path)}}})
    assert toolboxctl("approval", "key", home=home).returncode == 2
    assert toolboxctl("approval", "lock", "--new", home=home).returncode == 2
    done = toolboxctl("approval", "key", "--new", home=home)
    assert (done.returncode, done.stdout) == (0, f"{path}\n"), done.stderr
    first = path.read_text()
    assert re.fullmatch("[0-9a-f]{64}\n", first)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = toolboxctl("approval", "key", "--new", home=home)
    assert again.returncode == 1 and "--force" in again.stderr and path.read_text() == first
    assert toolboxctl("approval", "key", "--new", "--force", home=home).returncode == 0
    assert path.read_text() != first and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["approval.key"]


def test_a_person_has_a_copy_of_the_key_of_a_service(launch, place, home, tmp_path):
    """The service has it as a credential of systemd, which no other user can read."""
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    made, copy = tmp_path / "approval.key", home / "config" / "toolboxd" / "approval.key"
    assert toolboxctl("approval", "key", "--new", str(made), home=home).returncode == 0
    (credentials / "approval.key").write_text(made.read_text())
    (credentials / "approval.key").chmod(0o440)
    shell(tmp_path / "toolbox.d")
    service = launch({"approval": {"key_file": str(credentials / "approval.key")}}, [tmp_path / "toolbox.d"],
                     env={"CREDENTIALS_DIRECTORY": str(credentials)})
    # The configuration of the system, which the person reads, names a file that this user cannot use.
    write_configuration(home, {"toolboxd": {"approval": {"key_file": str(credentials / "approval.key")}}})
    assert "approval.key_file must name a file that only its owner" in toolboxctl(
        "approve", "0" * 32, bus=service.url, home=home).stderr
    copy.parent.mkdir()
    copy.write_text(made.read_text())
    copy.chmod(0o644)
    refused = toolboxctl("approve", "0" * 32, bus=service.url, home=home)
    assert refused.returncode == 2 and str(copy) in refused.stderr and "0600" in refused.stderr
    copy.chmod(0o600)
    with watch(home, service) as person, Caller(service.url) as caller:
        wait_until_attached(service)
        mark = touch(caller, place)
        person.wait_for("q leave")
        id = caller.call("ovos.tools.approval.list")["pending"][0]["id"]
        assert toolboxctl("approve", id, bus=service.url, home=home).returncode == 0
        assert answer_of(caller, mark)["result"]
        mark = touch(caller, place)
        person.wait_for("q leave")
        # Without a configuration of its own it is enough, too.
        (home / "config" / "mycroft" / "mycroft.conf").unlink()
        id = caller.call("ovos.tools.approval.list")["pending"][0]["id"]
        assert toolboxctl("deny", id, bus=service.url, home=home).returncode == 0
        assert answer_of(caller, mark)["code"] == "denied"


@pytest.mark.parametrize("approval, words", [
    ({}, "any client of the bus can give it"), ({"mode": "off"}, None), ({"allow": ["*/*"]}, None),
    ({"key_file": "KEY"}, None), ({"key_file": "/nowhere"}, "nobody can answer"),
])
def test_the_check_says_who_can_answer(home, tmp_path, approval, words):
    shell(tmp_path / "toolbox.d")
    key = tmp_path / "approval.key"
    key.write_text(KEY.hex())
    key.chmod(0o600)
    if approval.get("key_file") == "KEY":
        approval = {"key_file": str(key)}
    write_configuration(home, {"toolboxd": {"approval": approval}})
    done = subprocess.run([str(TOOLBOXD), "--check", "--toolbox-dir", tmp_path / "toolbox.d"],
                          env=environment(home), text=True, capture_output=True)
    assert (words in done.stderr) if words else ("bus" not in done.stderr), done.stderr
    assert done.returncode == (1 if approval.get("key_file") == "/nowhere" else 0)


def test_the_status_reports_a_key_that_cannot_be_used(start, home):
    service = start({"key_file": "/nowhere"})
    done = toolboxctl("status", "--bus", service.url, home=home)
    assert done.returncode == 0 and "approval.key_file must name a file" in done.stderr
