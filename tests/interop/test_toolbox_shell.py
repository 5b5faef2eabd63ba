# SPDX-License-Identifier: Apache-2.0
"""toolboxes/shell: commands and sessions, what they reach, and how they end. The arguments are those that the tools
have in memo-code's own documents; so are the lines of the answers."""
import ctypes
import fcntl
import os
import platform
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from caller import Caller
from conftest import Service
from processes import BUILD, EVENT_SECONDS, is_alive, toolboxctl, until, write_configuration
from test_approval import INVOKE, Person
from test_toolbox_files import FOLDER as FILES_FOLDER, LANDLOCK_CREATE_RULESET, PLAIN_USER, without_landlock

FOLDER = BUILD / "toolboxes" / "shell.d"
LINES = re.compile(r"Chunk ID: [0-9a-f]+\nWall time: \d+\.\d{4} seconds\n"
                   r"(?:Process exited with code (?P<code>-?\d+)|Process running with session ID (?P<session>\d+))\n"
                   r"Original token count: (?P<tokens>\d+)\nOutput:\n(?P<text>.*)", re.DOTALL)
REST = re.compile(r"\n\[(\d+) more characters: write_stdin with session_id (\d+) goes on\]$")
MUCH = 30000  # a wait that ends before, with the command


def configured(**settings):
    return {"approval": {"mode": "off"}, "toolboxes": {"shell": {"enabled": True, **settings}}}


class Answer:
    """The lines of an answer, in their order."""

    def __init__(self, result):
        [block] = result["content"]
        assert block.keys() == {"type", "text"}
        lines = LINES.fullmatch(block["text"])
        assert lines, block["text"]
        self.code = None if lines["code"] is None else int(lines["code"])
        self.session = None if lines["session"] is None else int(lines["session"])
        self.tokens, self.text = int(lines["tokens"]), lines["text"]
        rest = REST.search(self.text)
        self.rest = int(rest[1]) if rest else 0
        self.text = REST.sub("", self.text)
        self.id = self.session or (int(rest[2]) if rest else None)
        structured = result["structured"]
        assert structured.get("exit_code") == self.code and structured.get("session_id") == self.id


class Shell(Caller):
    early = {}  # what came with the answer that began a session

    def answer(self, name, /, context=None, **args):
        return self.call(INVOKE, {"name": name, "args": args}, context, seconds=EVENT_SECONDS)

    def result(self, name, /, context=None, **args):
        answer = self.answer(name, context, **args)
        assert "result" in answer, answer
        return Answer(answer["result"])

    def run(self, cmd, **args):
        return self.result("exec_command", cmd=cmd, **{"login": False, "yield_time_ms": MUCH, **args})

    def begin(self, cmd, context=None, **args):
        """A session: the command waits."""
        one = self.result("exec_command", context, cmd=cmd, **{"login": False, "yield_time_ms": 0, **args})
        assert one.session
        self.early[one.session] = one.text
        return one.session

    def write(self, session, chars="", context=None, **args):
        return self.result("write_stdin", context, session_id=session, chars=chars,
                           **{"yield_time_ms": MUCH, **args})

    def read_until(self, session, word, chars=""):
        """Its output after these characters, up to a word that comes."""
        text = self.early.pop(session, "")
        if chars or word not in text:
            text += self.write(session, chars, yield_time_ms=0).text
        while word not in text:
            text += self.write(session, yield_time_ms=50).text
        return text

    def failure(self, name, /, context=None, **args):
        answer = self.answer(name, context, **args)
        assert answer.get("code") == "tool_failed", answer
        return answer["error"].split("'shell': ", 1)[1]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    home = tmp_path_factory.mktemp("shell")
    with Service("embedded", home, [FOLDER], configuration=configured()) as one:
        yield one


@pytest.fixture
def caller(service):
    with Shell(service.url) as caller:
        yield caller


# --- answers

def test_an_answer_has_its_lines_in_order(caller):
    one = caller.run("echo out; echo err >&2; echo é; exit 3")
    assert (one.code, one.text, one.tokens) == (3, "out\nerr\né\n", 3)
    assert caller.run("kill -9 $$").code == -1
    missing = caller.run("true", shell="/nowhere/sh")
    assert (missing.code, missing.text) == (-1, "\n[exec error] /nowhere/sh: No such file or directory")
    assert "[exec error] workdir /nowhere: No such file" in caller.run("true", workdir="/nowhere").text
    long = caller.run("echo " + "x" * 200_000)
    assert (long.code, long.text) == (-1, "\n[exec error] /bin/bash: Argument list too long; write the command to a file, "
                                          "and run the file")


def test_arguments_are_those_of_memo(caller):
    one = caller.result("exec_command", cmd="pwd; echo $0", workdir="/usr/lib", shell="/bin/sh", login=True, tty=False,
                        yield_time_ms=10000, max_output_tokens=2000, sandbox_permissions="use_default",
                        justification="to see", prefix_rule=["pwd"])
    assert one.text == "/usr/lib\n/bin/sh\n"
    assert caller.answer("exec_command", cmd="")["code"] == "invalid_arguments"
    assert caller.answer("exec_command", cmd="true", more=1)["code"] == "invalid_arguments"
    assert "U+0000" in caller.failure("exec_command", cmd="true\0")
    assert caller.failure("write_stdin", session_id=1) == "write_stdin failed: session_id 1 not found"


def test_commands_run_in_the_folder_of_the_toolbox(caller, service):
    folder = caller.run("pwd; touch here && echo $TMPDIR && touch $TMPDIR/there").text.split("\n")
    assert folder[0].endswith("/toolboxd/shell/work") and (Path(folder[0]) / "here").exists()
    assert "toolboxd-host-" in folder[1]
    assert caller.run("/bin/pwd", workdir="..").text == str(Path(folder[0]).parent) + "\n"


def test_output_is_read_in_parts_and_none_is_lost(caller):
    whole = "".join(f"{number} é\n" for number in range(1, 3001))
    one = caller.run("for i in $(seq 3000); do echo $i é; done", max_output_tokens=500)
    assert one.code == 0 and one.tokens == -(-len(whole) // 4) and one.rest == len(whole) - 2000
    text = one.text
    while one.rest:
        assert len(one.text) == 2000
        one = caller.write(one.id, max_output_tokens=500)
        text += one.text
    assert text == whole


def test_control_characters_and_bytes_that_are_no_text_arrive(caller):
    assert caller.run(r"printf '\033[31m\000\a\tx\377'").text == "\033[31m\0\a\tx\ufffd"
    session = caller.begin("cat -v")
    assert caller.write(session, "\033[A\0\x01\r\n\x04").text == "^[[A^@^A^M\n"


# --- input

def test_a_session_goes_on_by_its_id(caller):
    session = caller.begin("while read x; do echo got $x; done")
    assert caller.read_until(session, "one", "one\n") == "got one\n"
    last = caller.write(session, "two\nthree\n\x04")
    assert (last.code, last.text) == (0, "got two\ngot three\n")
    again = caller.write(session, "late\n")
    assert (again.code, again.text) == (0, "")


def test_the_end_of_input_comes_without_a_terminal_too(caller):
    session = caller.begin("wc -c")
    one = caller.write(session, "\x04")
    assert (one.code, one.text) == (0, "0\n")


def test_input_that_is_not_read_is_bounded(caller):
    session = caller.begin("exec sleep 1000")
    answers = [caller.answer("write_stdin", session_id=session, chars="x" * 600000, yield_time_ms=0) for _ in range(3)]
    assert "result" in answers[0] and "has not read" in answers[2].get("error", ""), answers
    assert caller.write(session, yield_time_ms=0).session == session


def test_a_terminal_is_a_real_one(caller):
    session = caller.begin("read x; tty; stty size; read x; echo got $x; exec sleep 1000", tty=True)
    text = caller.read_until(session, "24 80\r\n", "begin\n")
    assert "/dev/pts/" in text
    assert "got word\r\n" in caller.read_until(session, "got word\r\n", "word\n")
    assert caller.write(session, "\x03").code == -1
    session = caller.begin("cat", tty=True)
    assert caller.write(session, "\x04").code == 0


# --- bounds

def test_a_flood_of_output_ends_its_command(caller, request):
    one = caller.run("cat /dev/zero", max_output_tokens=1)
    assert one.code == -1 and one.tokens > (16 << 20) / 4
    while one.rest and request.config.getoption("--long"):
        one = caller.write(one.id, max_output_tokens=250000)
    note = one.text[-80:]
    assert not request.config.getoption("--long") or note.endswith("\n[exec output truncated: exceeded 16 MiB; process terminated]")


def test_there_are_64_sessions(launch):
    service = launch(configured(), [FOLDER])
    with Shell(service.url) as caller:
        sessions = [caller.begin("read x; exit 0", shell="/bin/sh") for _ in range(64)]
        assert len(set(sessions)) == 64
        assert caller.failure("exec_command", cmd="true") == \
            "exec_command failed: too many active sessions (max 64)"
        # One that has ended gives its place.
        assert caller.write(sessions[0], "\x04").code == 0
        assert caller.run("echo again").text == "again\n"


# --- ends

def test_nothing_outlives_the_host(launch):
    service = launch(configured(), [FOLDER])
    with Shell(service.url) as caller:
        session = caller.begin("trap '' TERM HUP; (setsid sh -c 'echo $$; exec sleep 1000' &); echo $$; read x")
        text = caller.read_until(session, "\n")
        while text.count("\n") < 2:
            text += caller.read_until(session, "\n")
        pids = [int(pid) for pid in text.split()]
        assert all(map(is_alive, pids))
        os.kill(service.daemon.only_host(), signal.SIGTERM)
        until(lambda: not any(map(is_alive, pids)), EVENT_SECONDS, "no process of the session")
        # A call may have gone to the host before the service has seen its end.
        answer = caller.answer("write_stdin", session_id=session)
        if answer["code"] == "host_crashed":
            answer = caller.answer("write_stdin", session_id=session)
        assert answer["error"].endswith(f"session_id {session} not found"), answer


def test_a_cancel_ends_the_wait_and_not_the_session(caller):
    session = caller.begin("read x; echo got $x")
    mark = caller.send(INVOKE, {"name": "write_stdin", "call_id": "w",
                                "args": {"session_id": session, "yield_time_ms": MUCH}})
    caller.call("ovos.tools.cancel", {"call_id": "w"})
    late = caller.call(INVOKE, {"name": "write_stdin", "timeout_ms": 100,
                                "args": {"session_id": session, "yield_time_ms": MUCH}})
    assert late.get("code") == "timeout" or "result" in late
    assert caller.write(session, "x\n").text == "got x\n" and mark


def test_a_session_belongs_to_its_caller_and_session(caller):
    alice = {"source": "alice", "session": {"session_id": "1"}}
    session = caller.begin("cat", alice)
    for other in {"source": "bob", "session": {"session_id": "1"}}, {"source": "alice", "session": {"session_id": "2"}}, {}:
        assert caller.failure("write_stdin", other, session_id=session, chars="x") == \
            f"write_stdin failed: session_id {session} not found"
    assert caller.write(session, "x\x04", alice).text == "x"


def test_a_reload_leaves_sessions_and_other_settings_end_them_with_words(launch):
    service = launch(configured(), [FOLDER])
    with Shell(service.url) as caller:
        session = caller.begin("exec sleep 1000")
        caller.call("ovos.tools.reload")
        assert caller.write(session, yield_time_ms=0).session == session
        mark = caller.send(INVOKE, {"name": "write_stdin", "args": {"session_id": session, "yield_time_ms": MUCH}})
        write_configuration(service.home, {"toolboxd": configured(network=False)})
        last = Answer(caller.answer_to(INVOKE, mark).data["result"])
        assert last.code == -1 and last.text == "\n[session ended: the shell toolbox was changed or reconfigured]"


# --- fences

SECCOMP = {"x86_64": 317, "aarch64": 277}
NOTIF_RECV, NOTIF_SEND, CONTINUE = 0xC0502100, 0xC0182101, 1


def answer_for_landlock(listener, daemon):
    """Answer the question for the version of landlock by 1 until @daemon has ended; let other calls go on."""
    while is_alive(daemon):
        if not select.select([listener], [], [], 0.2)[0]:
            continue
        question = bytearray(80)
        try:
            fcntl.ioctl(listener, NOTIF_RECV, question)
            flags = struct.unpack_from("<Q", question, 16 + 16 + 2 * 8)[0]
            fcntl.ioctl(listener, NOTIF_SEND, struct.pack(
                "<QqiI", struct.unpack_from("<Q", question)[0], 1 if flags else 0, 0, 0 if flags else CONTINUE))
        except OSError:  # the caller has ended
            continue


def with_first_landlock():
    """Let this process and its children find the first version of landlock (a listener of seccomp)."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = b"".join(struct.pack("HBBI", *one) for one in (
        (0x20, 0, 0, 0), (0x15, 0, 1, LANDLOCK_CREATE_RULESET), (0x06, 0, 0, 0x7FC00000), (0x06, 0, 0, 0x7FFF0000)))
    text = ctypes.create_string_buffer(program)
    filters = struct.pack("HxxxxxxQ", 4, ctypes.addressof(text))
    daemon = os.getpid()
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    listener = libc.syscall(SECCOMP[platform.machine()], 1, 8, filters)
    assert listener >= 0
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            os.dup2(listener, 0)
            os.closerange(1, 1024)
            answer_for_landlock(0, daemon)
        os._exit(0)
    os.wait()
    os.close(listener)


@pytest.fixture(scope="module", params=["root", "plain user", "root, landlock 1", "plain user, landlock 1"])
def fenced(request):
    """The shell and the files, with /x for both."""
    if "root" in request.param and os.geteuid() != 0:
        pytest.skip("runs as a plain user")
    user = PLAIN_USER if "plain user" in request.param and os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="shell-"))
    home.chmod(0o755)
    root, outside, own = home / "x", home / "outside", home / "service"
    secrets = own / "toolboxd"
    for folder in root, outside, secrets / ".ssh", secrets / "notes":
        folder.mkdir(parents=True)
    (outside / "file").write_text("as it was\n")
    (secrets / ".ssh" / "key").write_text("secret\n")
    (secrets / ".bashrc").write_text("# mine\n")
    (secrets / "notes" / "a").write_text("a note\n")
    if user:
        for one in [home, *home.rglob("*")]:
            os.chown(one, user, user)
    popen = subprocess.Popen
    with pytest.MonkeyPatch.context() as patch:
        if "landlock 1" in request.param:
            patch.setattr(subprocess, "Popen",
                          lambda *args, **more: popen(*args, preexec_fn=with_first_landlock, **more))
        one = Service("embedded", own, [FOLDER, FILES_FOLDER], user=user, configuration=configured(network=False),
                      env={"TOOLBOXD_SANDBOX_WRITABLE_ROOTS": str(root)})
    with one as service:
        with Shell(service.url) as caller:
            caller.root, caller.outside, caller.secrets, caller.port = root, outside, secrets, service.url
            yield caller
    shutil.rmtree(home)


def test_neither_the_shell_nor_a_patch_writes_outside(fenced):
    file = fenced.outside / "file"
    assert fenced.run("pwd; echo x > inside; cat inside").text == f"{fenced.root}\nx\n"
    for command in (f"echo x > {file}", f"echo x >> {file}", f"rm {file}", f"mv inside {fenced.outside}",
                    f"ln -s {fenced.outside} link; echo x > link/file", f"ln {file} hard && echo x > hard",
                    f"truncate -s 0 {file}", f"/usr/bin/perl -e 'truncate(\"{file}\", 0) or exit 1'",
                    f"touch {fenced.outside}/new", "echo x > /tmp/toolboxd-shell-test", f"chmod 777 {fenced.root}/../x"):
        assert fenced.run(command).code != 0 or command.startswith("chmod"), command
    patch = f"*** Begin Patch\n*** Add File: {fenced.outside}/new\n+x\n*** End Patch"
    assert fenced.answer("apply_patch", input=patch)["code"] == "tool_failed"
    patch = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"
    assert "result" in fenced.answer("apply_patch", input=patch) and (fenced.root / "new").exists()
    assert file.read_text() == "as it was\n" and [one.name for one in fenced.outside.iterdir()] == ["file"]
    assert not Path("/tmp/toolboxd-shell-test").exists()


def test_what_an_old_landlock_does_not_hold_is_refused(fenced, request):
    """Before version 3 it lets anybody truncate(2) anything, and open(2) is held."""
    one = fenced.run("echo long > t && /usr/bin/perl -e 'truncate(\"t\", 1) or print $!'; wc -c < t; truncate -s 2 t; wc -c < t")
    assert one.text == ("Operation not permitted5\n2\n" if "landlock 1" in request.node.name else "1\n2\n")


def test_secrets_are_out_of_reach(fenced):
    assert fenced.run("cat ~/notes/a").text == "a note\n"
    for command in "cat ~/.ssh/key", "cat ~/config/mycroft/mycroft.conf > x; echo y >> ~/.bashrc", \
            "ls > ~/state/toolboxd/x", "ln -s ~/.ssh s; cat s/key":
        one = fenced.run(command)
        assert one.code != 0 and "Permission denied" in one.text, (command, one.text)


def test_without_the_network_there_is_none(fenced, caller):
    port = re.search(r":(\d+)/", fenced.port)[1]
    connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
    closed = fenced.run(connect)
    assert closed.code != 0 and "connected" not in closed.text
    assert caller.run(connect).text == "connected\n"
    assert fenced.run("/usr/bin/perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) && print 1'").text == "1"


def test_no_session_opens_what_another_has_open(caller):
    other = caller.begin("read; echo $$; exec cat")
    pid = int(caller.read_until(other, "\n", "\n"))
    one = caller.run(f"echo x > /proc/{pid}/fd/0; cat < /proc/{pid}/fd/0; cat < /proc/$PPID/fd/0;"
                     " mkdir -p from to && echo > from/a && mv from/a to/b && echo moved")
    assert one.text.count("Permission denied") == 3 and one.text.endswith("moved\n"), one.text
    assert caller.write(other, "\u0004").text == ""


def test_nobody_types_into_other_terminals(caller):
    one = caller.run("/usr/bin/perl -e 'my $x = \"x\"; ioctl(STDIN, 0x5412, $x) or print $!'", tty=True)
    assert one.text == "Operation not permitted"


def test_nothing_runs_where_the_kernel_has_no_landlock(tmp_path, monkeypatch):
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **more: popen(*args, preexec_fn=without_landlock, **more))
    with Service("embedded", tmp_path, [FOLDER], configuration=configured()) as service, Shell(service.url) as caller:
        assert "nothing is run here: this kernel has no landlock" in caller.failure("exec_command", cmd="touch x")
        assert not list(tmp_path.rglob("work/x"))


# --- commands that are not run

def test_a_command_that_destroys_is_not_run(caller):
    words = caller.failure("exec_command", cmd="cd /tmp && rm -rf ~")
    assert words.startswith('<system_hint type="tool_call_denied" tool="exec_command" reason="dangerous_command" '
                            'policy="blacklist" rule="rm_recursive_critical_target" command="cd /tmp &amp;&amp; rm -rf ~">')
    session = caller.begin("while read x; do echo got $x; done")
    caller.write(session, "rm -rf", yield_time_ms=0)
    words = caller.failure("write_stdin", session_id=session, chars=" /\n")
    assert f'session_id="{session}" command="rm -rf /"' in words
    assert caller.write(session, " x\n\x04").text == "got rm -rf x\n"
    session = caller.begin("cat")
    words = caller.failure("write_stdin", session_id=session, chars="rm -rf /\x04")
    assert 'command="rm -rf /"' in words, "the end of the input gives the line to the program"
    assert caller.write(session, "\x04").text == ""
    valid = caller.call("ovos.tools.validate", {"name": "exec_command", "args": {"cmd": "mkfs /dev/sda"}})
    assert valid["code"] == "tool_failed"


def test_a_person_approves_a_session_and_polls_ask_nobody(launch):
    service = launch({**configured(), "approval": {"mode": "auto"}}, [FOLDER])
    alice = {"source": "alice", "session": {"session_id": "1"}}
    with Person(service.url) as person, Shell(service.url) as caller:
        person.attach()

        def approved(name, decision="once", **args):
            mark = caller.send(INVOKE, {"name": name, "args": args}, {**alice, "mark": name})
            question = person.question()
            person.respond(question["id"], decision)
            assert mark
            came = caller.wait_for(lambda one: one.type == INVOKE + ".response" and one.context.get("mark") == name)
            return question, Answer(came.data["result"])

        first, second = (approved("exec_command", cmd=cmd, yield_time_ms=0, login=False)[1].session
                         for cmd in ("cat", "cat # " + "x" * 2000))
        assert caller.write(first, "", alice, yield_time_ms=0).session == first
        question, _ = approved("write_stdin", "session", session_id=first, chars="word\n", yield_time_ms=0)
        assert question["about"] == f'Session {first} gets the text "word\\n". It runs "cat"'
        assert "arguments_cut" not in question
        assert caller.write(first, "more\n", alice, yield_time_ms=0).session == first
        question, _ = approved("write_stdin", session_id=second, chars="x", yield_time_ms=0)
        assert question["args"]["session_id"] == second
        assert question["about"].startswith(f'Session {second} gets the text "x"') and question["arguments_cut"] is True
        answer = caller.answer("exec_command", alice, cmd="rm -rf /")
        assert answer["code"] == "tool_failed" and person.pending() == []


# --- variants

def test_the_shell_of_old_arguments(launch):
    service = launch(configured(), [FOLDER], env={"TOOLBOXD_SHELL_VARIANT": "shell"})
    with Shell(service.url) as caller:
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == ["shell"]
        one = caller.result("shell", command=["printf", "%s|", "a b", "it's", "$HOME", "*"], workdir="/usr",
                            timeout_ms=MUCH, sandbox_permissions="use_default", justification="x", prefix_rule=["x"])
        assert (one.code, one.text) == (0, "a b|it's|$HOME|*|")
        late = caller.failure("shell", command=["sh", "-c", "trap '' TERM; echo before; while :; do sleep 1; done"],
                              timeout_ms=500)
        assert late == "shell failed: command timed out after 500ms\nbefore\n"
        assert "rm_recursive_critical_target" in caller.failure("shell", command=["rm", "-rf", "/"])


def test_a_command_without_a_session_ends_with_its_call(launch):
    # The host stays: with it all of its processes would end.
    service = launch(configured(variant="shell_command", limits={"idle_s": 3600}), [FOLDER])
    with Shell(service.url) as caller:
        assert caller.result("shell_command", command="echo a; exit 2", login=False, timeout_ms=MUCH).code == 2
        caller.send(INVOKE, {"name": "shell_command", "call_id": "c", "args": {
            "command": "echo $$ > pid; exec sleep 1000", "login": False}})
        file = until(lambda: next((one for one in service.home.rglob("work/pid") if one.read_text()), None),
                     EVENT_SECONDS, "the command runs")
        pid = int(file.read_text())
        caller.call("ovos.tools.cancel", {"call_id": "c"})
        until(lambda: not is_alive(pid), EVENT_SECONDS, "the command ended")
        # Its shell has gone with SIGTERM; what it began has not, in the group of the shell or in one of its own.
        for group in "", "set -m; ":
            late = caller.failure("shell_command", login=False, timeout_ms=500,
                                  command=group + '(trap "" TERM; echo $BASHPID > child; exec sleep 9999) & wait')
            assert late == "shell_command failed: command timed out after 500ms\n"
            child = int((file.parent / "child").read_text())
            until(lambda: not is_alive(child), EVENT_SECONDS, "the child of the command ended")


@pytest.mark.parametrize("variant, words", [("disabled", "it offers nothing"), ("bash", "shell.variant must be")])
def test_other_variants_offer_nothing(launch, variant, words):
    service = launch(configured(variant=variant), [FOLDER])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload")["failed"]
        assert words in failed["error"] and caller.call("ovos.tools.list")["tools"] == []


def test_it_is_installed_disabled(launch, tmp_path):
    service = launch({}, [FOLDER])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
    done = toolboxctl("list", "--why", bus=service.url, home=tmp_path)
    assert "disabled by its manifest; toolboxctl enable shell" in done.stdout
