# SPDX-License-Identifier: Apache-2.0
"""The command line client: what it prints, and how it ends."""
import contextlib
import itertools
import json
import os
import re
import subprocess
import threading
import time

import manifests
import pytest
from caller import Caller
from fake_bus import FakeBus
from processes import (EVENT_SECONDS, FINDING, ROOT, TOOLBOXCTL, OvosBus, ctl_command, environment, free_port,
                       toolboxctl, until)
from websocket_peer import Closed, Peer

DONE, ERROR, USAGE, NO_BUS, NO_ANSWER = range(5)


@pytest.fixture
def ctl(service, tmp_path):
    service.forget_who_left()

    def run(*args, **more):
        done = toolboxctl(*args, bus=service.url, home=tmp_path / "ctl", **more)
        service.forget_who_left()
        return done
    return run


@pytest.fixture
def ctl_alone(tmp_path):
    """Without a bus on the command line."""
    def run(*args, **more):
        return toolboxctl(*args, home=tmp_path / "ctl", **more)
    return run


def test_list_is_a_table(ctl):
    done = ctl("list")
    assert done.returncode == DONE and done.stderr == ""
    lines = done.stdout.splitlines()
    row = next(line for line in lines if line.split()[:2] in (["math_tools", "add"],
                                                              ["add", "math_tools"]))
    assert "Add" in row and "read" in row
    assert not any(line.startswith("{") for line in lines)
    assert "\x1b" not in done.stdout


def test_list_of_one_toolbox(ctl):
    done = ctl("list", "--toolbox", "left")
    assert "only_left" in done.stdout and "factorial" not in done.stdout


@pytest.mark.parametrize("format", ["full", "compact", "openai", "anthropic"])
def test_json_is_the_answer_as_it_came(ctl, caller, format):
    done = ctl("list", "--json", "--format", format)
    assert done.returncode == DONE and done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == caller.call("ovos.tools.list", {"format": format})


def test_get(ctl, caller):
    done = ctl("get", "add")
    assert done.returncode == DONE and "integer" in done.stdout
    assert done.stdout.startswith("math_tools/add (risk: read)\n")
    for title in ("ARGUMENT", "RESULT"):
        assert f"\n\n{title}" in done.stdout
    done = ctl("get", "math_tools/add", "--json")
    assert json.loads(done.stdout) == caller.call("ovos.tools.get", {"name": "add", "deadline": True})


@pytest.mark.parametrize("args", [
    ["a=3", "b=4"], ["a:=3", "b:=4"], ["a=3", "b:=4.0"], ["--args", '{"a": 3, "b": 4}']])
def test_invoke(ctl, args):
    done = ctl("invoke", "add", *args)
    assert done.returncode == DONE and done.stderr == ""
    assert json.loads(done.stdout) == {"result": 7}
    done = ctl("invoke", "math_tools/add", *args, "--json")
    printed = json.loads(done.stdout)
    assert re.fullmatch("[0-9a-f]{32}", printed.pop("call_id"))
    assert printed == {"name": "add", "result": {"result": 7}}


def test_arguments_from_stdin(ctl):
    done = ctl("invoke", "add", "-", stdin='{"a": 3, "b": 4}')
    assert done.returncode == DONE and json.loads(done.stdout) == {"result": 7}


def test_text_stays_text_where_the_schema_wants_it(ctl):
    assert json.loads(ctl("invoke", "echo", "text=42").stdout) == {"text": "42"}
    assert json.loads(ctl("invoke", "echo", "text=a=b").stdout) == {"text": "a=b"}
    assert ctl("invoke", "echo", "text:=42").returncode == ERROR


def test_an_error_goes_to_stderr(ctl):
    done = ctl("invoke", "divide", "a=1", "b=0")
    assert done.returncode == ERROR and done.stdout == ""
    assert "EDOM" in done.stderr
    done = ctl("invoke", "divide", "a=1", "b=0", "--json")
    assert done.returncode == ERROR and json.loads(done.stdout)["code"] == "tool_failed"


class Watch:
    """A running `toolboxctl watch`, and the lines that it has printed."""

    def __init__(self, url, home, *args):
        self.lines = []
        home.mkdir(exist_ok=True)
        self.stderr = home / "stderr"
        self.process = subprocess.Popen(ctl_command("watch", *args, bus=url), text=True,
                                        env=environment(home), stdout=subprocess.PIPE,
                                        stderr=open(self.stderr, "w", encoding="utf-8"))
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def wait_for(self, words, act=lambda: None):
        """The first line with @words; @act is done again and again until it is there."""
        def find():
            act()
            return next((line for line in self.lines if words in line), None)

        return until(find, EVENT_SECONDS, f"{words} of toolboxctl watch")

    def errors(self):
        return self.stderr.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()
        assert not FINDING.search(self.errors()), self.errors()


def test_watch(launch, tmp_path):
    service = launch()
    with Caller(service.url) as caller, Watch(service.url, tmp_path / "watch") as watch:
        done = watch.wait_for(
            "  done", lambda: caller.invoke("add", {"a": 1, "b": 2}, call_id="mine"))
        call = r"\d\d:\d\d:\d\d\.\d{3}  [0-9a-f]{6}  math_tools/%s"
        assert re.fullmatch(call % "add" + r"  done after [\d.]+ ms\n", done), done
        started = watch.wait_for("  started")
        assert re.fullmatch(call % "add" + r"  started\n", started), started
        caller.invoke("divide", {"a": 1, "b": 0}, call_id="mine")
        failed = watch.wait_for("  failed")
        assert re.fullmatch(call % "divide" + r"  failed after [\d.]+ ms: .*EDOM.*\n", failed), failed


def test_watch_outlives_the_daemon(launch, tmp_path):
    """The bus goes with it here. That is reported once, on stderr."""
    service = launch({}, [manifests.SHIPPED])
    port = service.url.rsplit(":", 1)[1].split("/")[0]
    with Watch(service.url, tmp_path / "watch") as watch:
        with Caller(service.url) as caller:
            watch.wait_for("  done", lambda: caller.invoke("add", {"a": 1, "b": 2}))
        service.daemon.end()
        time.sleep(2)
        again = launch({}, [manifests.SHIPPED], port=port)
        with Caller(again.url) as caller:
            watch.wait_for("/subtract", lambda: caller.invoke("subtract", {"a": 1, "b": 2}))
    assert watch.errors().count("is away") == 1, watch.errors()


def test_watch_says_what_has_changed_and_nothing_else(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "first", [manifests.labs()])
    service = launch({}, [folder])
    with Caller(service.url) as caller, Watch(service.url, tmp_path / "watch") as watch:
        watch.wait_for("  done", lambda: caller.invoke("absolute", {"value": 1}))
        manifests.toolbox(folder, "second", [manifests.labs("size")])
        line = watch.wait_for("changed")
    assert re.fullmatch(r"[\d:.]+  the tools have changed; there are 2, added \[[^]]*size[^]]*\]\n", line), line


def test_watch_in_json(launch, tmp_path):
    service = launch()
    with Caller(service.url) as caller, Watch(service.url, tmp_path / "watch", "--json") as watch:
        line = watch.wait_for(".completed", lambda: caller.invoke("add", {"a": 1, "b": 2}))
    event = json.loads(line)
    assert event["type"] == "ovos.tools.call.completed" and set(event) == {"type", "data"}
    assert event["data"]["ok"] is True and event["data"]["name"] == "add"


@pytest.mark.parametrize("args", [["get", "nobody"], ["invoke", "nobody"], ["invoke", "same",
                                                                            "value=1"]])
def test_an_answer_that_is_an_error(ctl, args):
    done = ctl(*args)
    assert done.returncode == ERROR and done.stderr and done.stdout == ""


def test_match(ctl, caller):
    done = ctl("match", "Tell me: what is two PLUS two?")
    assert done.returncode == DONE and done.stdout == 'math_tools/add {"a":2,"b":2}\n' and done.stderr == ""
    assert ctl("match", "--lang", "de", "was ist zwei plus two").stdout == 'math_tools/add {"a":2,"b":"two"}\n'
    done = ctl("match", "good night")
    assert done.returncode == DONE and done.stdout == "" and done.stderr
    done = ctl("match", "good night", "--json")
    assert json.loads(done.stdout) == {"name": None}
    assert json.loads(ctl("match", "what is 3 minus 2", "--json").stdout) == caller.call(
        "ovos.tools.match", {"utterance": "what is 3 minus 2"})
    assert ctl("match", "what", "is", "2", "plus", "love").stdout == 'math_tools/add {"a":2,"b":"love"}\n'
    done = ctl("match", "x" * 5000)
    assert done.returncode == ERROR and "4096" in done.stderr


def test_dry_run_runs_nothing(ctl):
    assert ctl("invoke", "segfault", "--dry-run").returncode == DONE
    done = ctl("invoke", "add", "a=x", "--dry-run")
    assert done.returncode == ERROR
    done = ctl("invoke", "add", "a=x", "--dry-run", "--json")
    assert done.returncode == ERROR and json.loads(done.stdout)["valid"] is False


def test_a_timeout_has_a_status_of_its_own(ctl):
    assert ctl("invoke", "answers/hang", "seconds=60").returncode == NO_ANSWER


def test_reload_and_status(ctl):
    done = ctl("reload")
    assert done.returncode == DONE and "math_tools" in done.stdout
    assert done.stdout.count("\n") == 1, "nothing has changed"
    done = ctl("status")
    assert done.returncode == DONE
    latency = r"(?:[\d.e+]+ ms|-)"
    for toolbox_id in ("math_tools", "libm", "answers"):
        assert re.search(rf"^{toolbox_id} .* {latency} +{latency}( |$)", done.stdout, re.M), done.stdout
    assert json.loads(ctl("status", "--json").stdout)["toolboxes"]


def test_a_reload_says_what_it_has_changed(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "box", [manifests.labs("kept")])
    service = launch({}, [folder])

    def reload(*tools):
        """The service notices the change by itself, too."""
        manifests.toolbox(folder, "box", [manifests.labs("kept"), *tools])
        return toolboxctl("reload", bus=service.url, home=tmp_path / "ctl").stdout

    begun = itertools.count()

    def changes():
        reload(manifests.labs("went"), manifests.labs("turned"))
        return reload(manifests.labs("came"), manifests.labs("turned", description=f"{next(begun)}."))

    assert until(lambda: re.fullmatch(
        "3 tools of 1 toolbox: box\nadded    box/came\nchanged  box/turned\nremoved  box/went\n",
        changes()), EVENT_SECONDS, "a reload before the service has noticed")
    assert reload().startswith("1 tool of 1 toolbox: box\n")


def late_toolbox(tmp_path, launch):
    """A service whose tool `late` is in a library that takes six seconds to load; its source."""
    folder, source = tmp_path / "toolbox.d", tmp_path / "late.c"
    folder.mkdir()
    source.write_text("#include <unistd.h>\n#include <stdlib.h>\n"
                      "__attribute__((constructor)) static void begin(void) { sleep(6); }\n"
                      "int late(int value) { return abs(value); }\n")
    build_late(folder, source)
    service = launch({"start_timeout_ms": 60000}, [folder])
    manifests.toolbox(folder, "late", [{"name": "late", "description": "Late.", "native": {
        "symbol": "late", "parameters": [{"name": "value", "type": "i32"}], "returns": {"type": "i32"}}}],
        library="liblate.so")
    return service, folder, source


def build_late(folder, source):
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "liblate.so", source], check=True)


def test_a_reload_may_take_longer_than_other_requests(launch, tmp_path):
    """The service is alive: it waits for the host of the library."""
    service, folder, source = late_toolbox(tmp_path, launch)
    done = toolboxctl("reload", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == DONE and done.stdout.startswith("1 tool of 1 toolbox: late\n"), done
    source.write_text(source.read_text().replace("abs", "-"))
    build_late(folder, source)
    done = toolboxctl("reload", "--timeout", "1", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == NO_ANSWER and "no answer within 1 s (--timeout); the service is alive" in done.stderr


def test_a_call_that_is_given_up_was_not_answered_in_time(launch, tmp_path):
    """Its clock does not run while its host starts, so it ends by our cancel."""
    service, _, _ = late_toolbox(tmp_path, launch)
    assert toolboxctl("reload", bus=service.url, home=tmp_path / "ctl").returncode == DONE
    done = toolboxctl("invoke", "late", "value=-1", "--timeout", "0.3", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == NO_ANSWER and "the call was told to end" in done.stderr, done
    done = toolboxctl("invoke", "late", "value=-1", "--timeout", "0.3", "--json", bus=service.url,
                      home=tmp_path / "ctl")
    assert done.returncode == NO_ANSWER and json.loads(done.stdout)["code"] == "cancelled", done


def test_a_reload_that_fails_in_part(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "good", [manifests.labs()])
    (folder / "bad.json").write_text("{")
    service = launch({}, [folder])
    done = toolboxctl("reload", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == ERROR and "bad" in done.stdout + done.stderr
    done = toolboxctl("status", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == DONE and "bad" in done.stdout


@pytest.mark.parametrize("args", [
    [], ["lst"], ["reload", "extra"], ["list", "--no-such-flag"], ["get"], ["invoke"],
    ["invoke", "add", "a"], ["invoke", "add", "a:={"], ["invoke", "add", "--args", "[1]"],
    ["list", "--timeout", "soon"], ["list", "--bus", "http://127.0.0.1/"], ["match"],
    ["check", "--bus", "ws://127.0.0.1:1/", "x"], ["help", "nothing"], ["list", "--offline", "--profile", "guest"],
    ["list", "--offline", "--format", "yaml"], ["list", "--why", "--json"], ["get", "a", "--why"],
])
def test_usage(ctl_alone, args):
    done = ctl_alone(*args)
    assert done.returncode == USAGE and done.stderr and done.stdout == ""


@pytest.mark.parametrize("name, url", [
    ("--bus", "ws://127.0.0.1:99999/core?token={}"), ("--bus", "ws://me:{}@127.0.0.1/core"),
    ("--http", "http://127.0.0.1:1/?token={}"), ("--http", "http://me:{}@127.0.0.1:1"),
])
def test_a_url_that_cannot_be_read_is_shown_without_its_secrets(ctl_alone, name, url):
    done = ctl_alone("list", name, url.format("hunter22"))
    assert done.returncode == USAGE and done.stdout == ""
    assert name in done.stderr and "***" in done.stderr and "127.0.0.1" in done.stderr
    assert "hunter22" not in done.stderr


@pytest.mark.parametrize("word, command", [
    ("lst", "list"), ("call", "invoke"), ("run", "invoke"), ("describe", "get"), ("show", "get"),
    ("ls", "list"), ("refresh", "reload"), ("ps", "calls"), ("kill", "cancel"), ("install", "help manifest"),
    ("config", "help configuration"), ("exec", "invoke"),
])
def test_another_word_leads_to_the_command(ctl_alone, word, command):
    done = ctl_alone(word)
    assert done.returncode == USAGE
    assert done.stderr == f"toolboxctl: unknown command '{word}'; is '{command}' meant?\n"
    assert ctl_alone(*command.split(), "--help").returncode == DONE


@pytest.mark.parametrize("word, advice", [
    ("logs", "journalctl"), ("log", "journalctl"), ("start", "systemctl start toolboxd"),
    ("stop", "systemctl stop toolboxd")])
def test_a_word_for_what_others_do_leads_there(ctl_alone, word, advice):
    done = ctl_alone(word)
    assert done.returncode == USAGE and advice in done.stderr


@pytest.mark.parametrize("args", [["--help"], ["list", "--help"], ["invoke", "--help"],
                                  ["--version"], ["-V"], ["version"], ["help"], ["help", "get"],
                                  ["help", "manifest"], ["help", "types"], ["help", "arguments"]])
def test_help(ctl_alone, args):
    done = ctl_alone(*args)
    assert done.returncode == DONE and done.stdout and done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 80


def names_in(text, heading):
    """The first words of the lines below a heading of the help."""
    return [line.split()[0] for line in text.split(heading, 1)[1].split("\n\n")[0].splitlines()
            if line.startswith("  ")]


def test_each_command_and_topic_has_help_that_fits_80_columns(ctl_alone):
    program = ctl_alone("--help").stdout
    commands = names_in(program, "message bus.\n")
    topics = names_in(program, "Topics (toolboxctl help TOPIC):")
    assert "invoke" in commands and "complete" not in commands
    assert set(topics) >= {"arguments", "manifest", "types", "policy", "approval", "sandbox",
                           "exit-status", "environment"}
    for words in [[name, "--help"] for name in commands] + [["help", name] for name in topics]:
        done = ctl_alone(*words)
        assert done.returncode == DONE
        assert not [line for line in done.stdout.splitlines() if len(line) > 80], words
        assert done.stdout.startswith("Usage:") == (words[1] == "--help"), words


def test_each_help_on_a_command_ends_with_examples_that_are_good_usage(ctl_alone, tmp_path):
    """So are the commands in the topics. None is refused for its flags or its arguments."""
    program = ctl_alone("--help").stdout
    texts = {name: ctl_alone(name, "--help").stdout
             for name in names_in(program, "message bus.\n")}
    for name, text in texts.items():
        examples = text.split("\nExamples:\n")[1].splitlines()
        assert examples and all(line.startswith(f"  toolboxctl {name}") for line in examples), text
    topics = [ctl_alone("help", name).stdout
              for name in names_in(program, "Topics (toolboxctl help TOPIC):")]
    lines = re.findall(r"^  (toolboxctl .*?)(?:   .*)?$",
                       "\n".join([*texts.values(), *topics]), re.M)
    assert len(lines) > 40
    (tmp_path / "ctl").mkdir(exist_ok=True)
    for number, line in enumerate(lines):
        done = subprocess.run(
            ["sh", "-c", line.split(" || ")[0]], cwd=tmp_path / "ctl", capture_output=True,
            text=True, timeout=60, stdin=subprocess.DEVNULL,
            env=environment(tmp_path / str(number), TOOLBOXD_BUS="ws://127.0.0.1:9/core",
                            PATH=f"{TOOLBOXCTL.parent}:{os.environ['PATH']}"))
        assert not re.search("unknown|takes no|needs more|is no name|must be", done.stderr), line


def test_the_help_on_the_environment_is_that_of_the_contract(ctl_alone):
    """It leaves out the folders of others, which OVOS and the desktop explain."""
    page = (ROOT / "docs" / "contract.md").read_text().split("\n## Environment\n")[1]
    known = set(re.findall(r"^\| `(\w+)` \|", page.split("\n## ")[0], re.M))
    text = ctl_alone("help", "environment").stdout
    named = set(re.findall(r"^  ([A-Z_]+(?:, [A-Z_]+)*)\b", text, re.M))
    named = {name for names in named for name in names.split(", ")} - {"NO_COLOR, TERM"}
    assert named <= known | {"TERM"}
    assert {name for name in known if name.startswith("TOOLBOXD_")} - named == {"TOOLBOXD_TOOLS"}


def test_the_help_on_exit_status_is_that_of_the_contract(ctl_alone):
    page = (ROOT / "docs" / "contract.md").read_text().split("Exit status:")[1]
    text = ctl_alone("help", "exit-status").stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in page.split("### ")[0].splitlines() if re.match(r"\| \d", line)]
    for column, program in enumerate(("toolboxd", "toolboxctl"), start=1):
        part = text.split(f"exit status of {program}:\n\n")[1].split("\n\n")[0]
        assert re.findall(r"^  (\d+) +", part, re.M) == [row[0] for row in rows if row[column]]


def test_a_reader_that_has_seen_enough_is_no_mistake(service, tmp_path):
    """As `toolboxctl list | head -1`; the list is larger than a pipe is."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(ctl_command("list", "--json", bus=service.url), stdout=write,
                              stderr=subprocess.PIPE, text=True, env=environment(tmp_path))
    finally:
        os.close(write)
    assert done.returncode == DONE and done.stderr == ""


def test_an_argument_that_is_not_utf8_is_refused(ctl_alone):
    done = ctl_alone("invoke", "add", os.fsdecode(b"a=\xfc"))
    assert done.returncode == USAGE and "not UTF-8" in done.stderr


def test_a_bus_that_may_be_another_one(ctl_alone, tmp_path):
    """The address comes from nowhere or from mycroft.conf: another one may be meant."""
    path = tmp_path / "ctl" / "config" / "mycroft" / "mycroft.conf"
    path.parent.mkdir(parents=True)
    port = free_port()
    path.write_text(json.dumps({"websocket": {"port": port}}))
    done = ctl_alone("list")
    assert done.returncode == NO_BUS
    assert done.stderr.startswith(f"toolboxctl: no bus at ws://127.0.0.1:{port}/core: ")
    assert done.stderr.endswith("; is another bus meant? TOOLBOXD_BUS is not set\n")
    done = ctl_alone("list", "--bus", f"ws://127.0.0.1:{port}/core")
    assert done.returncode == NO_BUS and "is another bus meant" not in done.stderr


def test_no_bus(tmp_path):
    done = toolboxctl("list", "--timeout", "1", bus=f"ws://127.0.0.1:{free_port()}/core",
                      home=tmp_path / "ctl")
    assert done.returncode == NO_BUS and done.stderr


def test_a_bus_with_no_service(tmp_path):
    bus = FakeBus()
    try:
        done = toolboxctl("list", "--timeout", "1", bus=bus.url, home=tmp_path / "ctl")
    finally:
        bus.close()
    assert done.returncode == NO_BUS and done.stderr


def read_next(peer, topic):
    """The next message that toolboxctl sends, which has this topic."""
    message = json.loads(peer.receive(EVENT_SECONDS))
    assert message["type"] == topic, message
    return message


def respond(peer, request, data):
    peer.send(json.dumps({"type": request["type"] + ".response", "data": data, "context": request["context"]}))


@contextlib.contextmanager
def asking(home, *args, timeout=("--timeout", str(EVENT_SECONDS))):
    """toolboxctl as the client of a bus."""
    bus = FakeBus()
    command = subprocess.Popen([TOOLBOXCTL, *args, *timeout, "--bus", bus.url],
                               env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield bus.wait_for_client(), command, bus
    finally:
        bus.close()
        command.kill()
        command.communicate()


ALIVE = "mycroft.toolboxd.is_alive"
AGENT_ALIVE = "mycroft.toolbox-agent.is_alive"


def test_a_request_waits_for_a_service_that_comes_later(tmp_path):
    with asking(tmp_path, "status", "--json") as (peer, command, _):
        read_next(peer, "ovos.tools.status")
        read_next(peer, ALIVE)
        read_next(peer, ALIVE)
        respond(peer, read_next(peer, ALIVE), {"status": True})
        respond(peer, read_next(peer, "ovos.tools.status"), {"done": 1})
        assert command.communicate(timeout=EVENT_SECONDS) == ('{"done": 1}\n', "")


def test_a_call_without_a_terminal_has_reports_of_progress(tmp_path):
    """Each begins the deadline of a call anew, and with it the time of toolboxctl."""
    with asking(tmp_path, "invoke", "add", "--json") as (peer, command, _):
        request = read_next(peer, "ovos.tools.get")
        respond(peer, read_next(peer, ALIVE), {"status": True})
        respond(peer, request, {"name": "add", "argument_schema": {"type": "object"}})
        call = read_next(peer, "ovos.tools.invoke")
        assert call["data"]["progress"] is True
        respond(peer, call, {"result": {}})
        assert command.communicate(timeout=EVENT_SECONDS) == ('{"result": {}}\n', "")


def test_a_dry_run_has_the_time_of_a_call(tmp_path, times):
    """The process of a toolbox in Python judges the arguments, and starts for that."""
    if not times(False, True):
        pytest.skip("it waits for more than the 5 s of other requests: --long")
    with asking(tmp_path, "invoke", "add", "--dry-run", "--json", timeout=()) as (peer, command, _):
        request = read_next(peer, "ovos.tools.get")
        respond(peer, read_next(peer, ALIVE), {"status": True})
        respond(peer, request, {"name": "add", "argument_schema": {"type": "object"}})
        request = read_next(peer, "ovos.tools.validate")
        time.sleep(7)
        respond(peer, request, {"valid": True})
        assert command.communicate(timeout=EVENT_SECONDS) == ('{"valid": true}\n', "")


def test_a_request_is_not_repeated_to_a_service_that_has_it(tmp_path):
    with asking(tmp_path, "status", "--json") as (peer, command, _):
        request = read_next(peer, "ovos.tools.status")
        first = read_next(peer, ALIVE)
        again = read_next(peer, ALIVE)
        respond(peer, first, {"status": True})
        respond(peer, again, {"status": True})
        respond(peer, request, {"done": 1})
        assert command.communicate(timeout=EVENT_SECONDS) == ('{"done": 1}\n', "")
        with pytest.raises(Closed):
            read_next(peer, ALIVE)


@contextlib.contextmanager
def uttering(home, command, alive, topic):
    """toolboxctl COMMAND, the messages is_alive that it has sent until one was answered, and the utterance that followed."""
    with asking(home, command, "well", "--json") as (peer, process, _):
        asked = [read_next(peer, alive) for _ in range(4)]
        respond(peer, asked[2], {"status": True})
        while (message := json.loads(peer.receive(EVENT_SECONDS)))["type"] == alive:
            asked.append(message)
            respond(peer, message, {"status": True})
        assert message["type"] == topic
        yield peer, process, asked, message


def say_to_a_late_service(home):
    """What toolboxctl says when is_alive is answered after its --timeout; None: only after a second, too late for that."""
    bus = FakeBus()
    command = subprocess.Popen([TOOLBOXCTL, "say", "well", "--timeout", "0.3", "--bus", bus.url], env=environment(home),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        peer = bus.wait_for_client()
        asked = [read_next(peer, ALIVE) for _ in range(3)]  # 0.2 s apart
        respond(peer, asked[2], {"status": True})
        with pytest.raises(Closed):
            while True:
                read_next(peer, ALIVE)
        complaint = command.communicate(timeout=EVENT_SECONDS)[1]
        return complaint if command.returncode == NO_ANSWER else None
    except (Closed, OSError):
        return None
    finally:
        command.kill()
        command.communicate()
        bus.close()


def test_a_call_that_was_not_sent_is_not_said_to_be_without_an_answer(tmp_path):
    complaint = until(lambda: say_to_a_late_service(tmp_path), EVENT_SECONDS, "an answer in time, by a busy machine")
    assert "the service is alive, but has said so only after 0.3 s (--timeout): nothing was sent to it" in complaint


UTTERANCES = pytest.mark.parametrize("command, alive, topic", [
    ("chat", AGENT_ALIVE, "ovos.tools.chat"), ("say", ALIVE, "ovos.tools.utterance")])


@UTTERANCES
def test_an_utterance_is_sent_once(tmp_path, command, alive, topic):
    """A service that answers is_alive again may be another one, and the one before may have run the tool."""
    with uttering(tmp_path, command, alive, topic) as (peer, process, asked, message):
        for one in asked:
            respond(peer, one, {"status": True})
        respond(peer, message, {"done": 1})
        assert process.communicate(timeout=EVENT_SECONDS) == ('{"done": 1}\n', "")
        with pytest.raises(Closed):
            while True:
                read_next(peer, alive)


@UTTERANCES
def test_an_utterance_is_not_sent_again_after_a_loss(tmp_path, command, alive, topic):
    with uttering(tmp_path, command, alive, topic) as (peer, process, _, _):
        peer.close()
        out, complaint = process.communicate(timeout=EVENT_SECONDS)
        assert (process.returncode, out) == (NO_ANSWER, "") and "the tool may have run" in complaint


def test_an_utterance_that_no_service_has_goes_to_the_next_bus(tmp_path):
    with asking(tmp_path, "say", "well", "--json") as (peer, process, bus):
        read_next(peer, ALIVE)
        peer.close()
        peer = bus.wait_for_client()
        respond(peer, read_next(peer, ALIVE), {"status": True})
        respond(peer, read_next(peer, "ovos.tools.utterance"), {"done": 1})
        assert process.communicate(timeout=EVENT_SECONDS) == ('{"done": 1}\n', "")


def test_its_end_costs_nobody_the_connection(tmp_path):
    """ovos-messagebus disconnects who sends while another client is gone without the closing handshake."""
    bus = OvosBus(tmp_path / "bus")
    done, both = threading.Event(), threading.Barrier(2)
    closed = []

    def send_on():
        with Peer(bus.url) as peer:
            try:
                while not done.is_set():
                    peer.send('{"type":"speak","data":{},"context":{}}')
                    with contextlib.suppress(TimeoutError):
                        peer.receive(0.002)
            except (Closed, OSError) as end:
                closed.append(end)
            both.wait()  # or the end of one would cost the other its connection

    senders = [threading.Thread(target=send_on) for _ in range(2)]
    for sender in senders:
        sender.start()
    try:
        for _ in range(3):
            asked = toolboxctl("list", "--timeout", "0.3", bus=bus.url, home=tmp_path / "ctl")
            assert asked.returncode == NO_BUS
    finally:
        done.set()
        for sender in senders:
            sender.join()
        bus.kill()
    assert not closed


def test_a_service_that_does_not_answer_in_time(service, tmp_path):
    done = toolboxctl("invoke", "answers/wait", "seconds=2", "--timeout", "1", bus=service.url,
                      home=tmp_path / "ctl")
    assert done.returncode == NO_ANSWER and done.stderr
    with Caller(service.url) as caller:
        assert caller.invoke("absolute", {"value": 1})["result"] == {"result": 1}


def test_the_bus_from_the_environment_and_from_the_configuration(service, ctl_alone, tmp_path):
    done = ctl_alone("invoke", "add", "a=1", "b=2", env={"TOOLBOXD_BUS": service.url})
    assert json.loads(done.stdout) == {"result": 3}
    from processes import write_configuration
    port = int(service.url.split(":")[2].split("/")[0])
    write_configuration(tmp_path / "ctl", {"websocket": {"host": "127.0.0.1", "port": port}})
    assert json.loads(ctl_alone("invoke", "add", "a=1", "b=2").stdout) == {"result": 3}


# --- without a daemon

def test_check_of_what_is_shipped(ctl_alone):
    done = ctl_alone("check", *sorted(manifests.SHIPPED.glob("*.json")))
    assert done.returncode == DONE, done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize("text, path", [
    ('{\n  "kind": "native",\n  "library": "libc.so.6",\n  "tools": 5\n}', "/tools"),
    ('{\n  "kind": "mpc"\n}', "/kind"),
    ('{\n  "kind": "native",\n', ""),
])
def test_check_names_file_line_and_place(ctl_alone, tmp_path, text, path):
    manifest = tmp_path / "bad.json"
    manifest.write_text(text)
    done = ctl_alone("check", manifest)
    assert done.returncode == ERROR
    line = next(line for line in (done.stderr + done.stdout).splitlines() if "error" in line)
    assert line.startswith(f"error {manifest}:") and path in line


@pytest.mark.parametrize("change, path, words", [
    ({"triggers": ["what|"]}, "/tools/0/triggers/0", "every utterance"),
    ({"description": ""}, "/tools/0", "description"),
])
def test_check_gives_advice(ctl_alone, tmp_path, change, path, words):
    tool = {**manifests.labs(), "description": "Absolute value.", "risk": "read", **change}
    manifests.toolbox(tmp_path, "box", [tool])
    done = ctl_alone("check", tmp_path / "box.json")
    assert done.returncode == DONE and done.stderr.startswith("warning ")
    assert f" {path}: " in done.stderr and words in done.stderr and done.stderr.count("\n") == 1


def test_check_holds_examples_against_the_types_in_c(ctl_alone, tmp_path):
    """As a call is held; what came is told, and the line where it stands."""
    tool = {**manifests.labs(), "examples": [{"args": {"value": 2**63}}]}
    path = manifests.toolbox(tmp_path, "box", [tool])
    done = ctl_alone("check", path)
    assert done.returncode == ERROR
    assert f"error {path}:" in done.stderr and (
        " /tools/0/examples/0/args/value: the example's argument cannot be passed: must be an "
        "integer from -9223372036854775808 to 9223372036854775807; came: the number "
        "9223372036854775808\n") in done.stderr


def test_check_warns_of_a_schema_that_lets_out_what_the_function_needs(ctl_alone, tmp_path):
    tool = {**manifests.labs(), "description": "Absolute value.", "argument_schema": {
        "type": "object", "properties": {"value": {"type": "integer"}}}}
    done = ctl_alone("check", manifests.toolbox(tmp_path, "box", [tool]))
    assert done.returncode == DONE and done.stderr.count("warning") == 1
    assert "/tools/0/argument_schema/properties/value: the function needs" in done.stderr


def test_check_asks_no_list_of_shell_lines_for_what_it_cannot_say(ctl_alone, tmp_path):
    path = tmp_path / "lines.json"
    path.write_text(json.dumps([{"name": "hi", "description": "Says hi.", "triggers": ["say hi"],
                                 "command": "echo hi", "timeout": 5, "cooldown": 30}]))
    done = ctl_alone("check", path)
    assert done.returncode == DONE and done.stderr == "", done.stderr
    assert done.stdout.endswith("1 file: 0 errors, 0 warnings\n")


def test_check_warns_of_a_library_that_cannot_be_sealed(ctl_alone, tmp_path):
    """It finds what it is linked to by $ORIGIN, where a copy of it is not."""
    box = tmp_path / "box"
    box.mkdir()
    (box / "below.c").write_text("int below(void) { return 7; }\n")
    (box / "above.c").write_text("int below(void);\nint above(void) { return below(); }\n")
    for command in (["-o", "libbelow.so", "below.c"],
                    ["-o", "libabove.so", "above.c", "-L.", "-lbelow", "-Wl,-rpath,$ORIGIN"]):
        subprocess.run(["cc", "-shared", "-fPIC", *command], cwd=box, check=True)
    tool = manifests.tool("above", "above", [], "i32", description="Seven.", risk="read")
    path = manifests.toolbox(box, "box", [tool], library="./libabove.so")
    done = ctl_alone("check", path)
    assert done.returncode == DONE and "library not sealed" in done.stdout
    assert f"warning {path}" in done.stderr and "/library: not sealed" in done.stderr
    (box / "libbelow.so").unlink()
    done = ctl_alone("check", path)
    assert done.returncode == ERROR
    assert "(the library needs it: ldd(1) shows what is not found)" in done.stderr


def test_a_library_that_lacks_a_symbol_is_named_by_its_file(ctl_alone, tmp_path):
    """It is loaded from a copy in memory, whose path would lead nowhere."""
    (tmp_path / "lacks.c").write_text("int nowhere(void);\nint lacks(void) { return nowhere(); }\n")
    library = tmp_path / "liblacks.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "lacks.c"], check=True)
    tool = manifests.tool("lacks", "lacks", [], "i32", description="None.", risk="read")
    done = ctl_alone("check", manifests.toolbox(tmp_path, "box", [tool], library="./liblacks.so"))
    assert done.returncode == ERROR and "undefined symbol: nowhere" in done.stderr
    assert "liblacks.so: " in done.stderr and "/proc/" not in done.stderr and "memfd" not in done.stderr


@pytest.mark.parametrize("command", [["list", "--offline"], ["mcp", "--standalone"]])
def test_a_folder_of_toolboxes_that_is_not_there_is_not_an_empty_one(ctl_alone, tmp_path, command):
    (tmp_path / "file").touch()
    for name, why in ("none", "No such file or directory"), ("file", "is not a folder"):
        done = ctl_alone(*command, "--toolbox-dir", str(tmp_path / name))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"toolboxctl: --toolbox-dir: {tmp_path / name}: {why}\n"


def test_list_offline_is_what_a_daemon_would_offer(ctl, ctl_alone, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "good", [manifests.labs()])
    (folder / "bad.json").write_text("{")
    dirs = {"TOOLBOXD_TOOLBOX_DIRS": f"{manifests.SHIPPED}:{folder}",
            "TOOLBOXD_TOOLS_DISABLED": "factorial"}
    offered = json.loads(ctl_alone("list", "--offline", "--json", env=dirs).stdout)["tools"]
    assert [tool for tool in offered if tool["toolbox_id"] == "math_tools"] == [
        tool for tool in json.loads(ctl("list", "--json").stdout)["tools"]
        if tool["toolbox_id"] == "math_tools" and tool["name"] != "factorial"]
    one = json.loads(ctl_alone("list", "--offline", "--json", "--toolbox", "good",
                               "--format", "compact", env=dirs).stdout)
    assert [set(tool) for tool in one["tools"]] == [{"name", "description", "parameters"}]
    assert ctl_alone("list", "--offline", env=dirs).stdout.count("\n") == len(offered) + 1


def test_list_offline_tells_why_not(ctl_alone, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "good", [manifests.labs()])
    (folder / "bad.json").write_text("{")
    dirs = {"TOOLBOXD_TOOLBOX_DIRS": str(folder), "TOOLBOXD_TOOLS_ENABLED": "other"}
    done = ctl_alone("list", "--offline", "--why", env=dirs)
    assert done.returncode == DONE and "no tool is offered" in done.stderr
    assert "bad.json:1" in done.stdout and "left out by TOOLBOXD_TOOLS_ENABLED" in done.stdout
    told = json.loads(ctl_alone("list", "--offline", "--why", "--json", env=dirs).stdout)
    assert told["tools"] == [] and told["failed"][0]["toolbox_id"] == "bad"
    assert [absent["toolbox_id"] for absent in told["not_offered"]] == ["good"]


def test_check_warns_of_a_tool_that_does_not_say_its_risk(ctl_alone, tmp_path):
    one = manifests.labs()
    del one["risk"]
    path = manifests.toolbox(tmp_path, "unrated", [one])
    done = ctl_alone("check", path)
    assert done.returncode == DONE
    assert "warning" in done.stderr + done.stdout and "risk" in done.stderr + done.stdout


def test_what_is_shipped_declares_its_risk(ctl_alone):
    manifests_of_ours = [*sorted(manifests.SHIPPED.glob("*.json")),
                         *sorted((ROOT / "templates").glob("*/my_toolbox.json"))]
    assert len(manifests_of_ours) >= 7
    for path in manifests_of_ours:
        done = ctl_alone("check", path)
        assert "does not declare" not in done.stderr + done.stdout, path
    for source in [*ROOT.glob("toolboxes/*/*.c"), *ROOT.glob("templates/plugin/*.c")]:
        text = source.read_text()
        rates_all = any("risk" in json.loads(path.read_text()) for path in source.parent.glob("*.json"))
        assert text.count(".risk =") == text.count(".handler =") or rates_all or "toolbox.h" not in text, source


def test_validate(ctl_alone, tmp_path):
    schema, good, bad = (tmp_path / name for name in ("schema.json", "good.json", "bad.json"))
    schema.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}}')
    good.write_text('{"n": 3.0}')
    bad.write_text('{"n": "x"}')
    assert ctl_alone("validate", schema, good).returncode == DONE
    done = ctl_alone("validate", schema, bad)
    assert done.returncode == ERROR and "/n" in done.stdout + done.stderr
    assert ctl_alone("validate", schema, good, bad).returncode == ERROR


def test_validate_knows_what_is_shipped(ctl_alone, tmp_path):
    answer = tmp_path / "answer.json"
    schemas = sorted((ROOT / "schemas").rglob("*.schema.json"))
    answer.write_text("{}")
    for schema in schemas:
        done = ctl_alone("validate", schema, answer)
        assert done.returncode in (DONE, ERROR) and done.stderr == "", f"{schema}: {done.stderr}"
    of_get, = (one for one in schemas if one.name == "ovos.tools.get.response.schema.json")
    answer.write_text('{"error": "Unknown tool: \'x\'", "code": "unknown_tool", "suggestions": []}')
    assert ctl_alone("validate", of_get, answer).returncode == DONE
    answer.write_text('{"error": "Unknown tool: \'x\'", "code": "unheard_of"}')
    assert ctl_alone("validate", of_get, answer).returncode == ERROR


def test_requests_have_a_session(ctl, caller):
    """A client of ovos-bus-client warns of each message without one."""
    ctl("status")
    request = next(one for one in caller.settle() if one.type == "ovos.tools.status")
    assert request.context["source"] == "toolboxctl"
    assert request.context["session"] == {"session_id": "default"}
