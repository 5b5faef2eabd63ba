# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl complete`, and the scripts by which shells ask it."""
import json
import os
import shutil
import socket
import subprocess

import manifests
import pytest
from caller import Caller
from conftest import Service
from processes import EVENT_SECONDS, ROOT, TOOLBOXCTL, environment, free_port, toolboxctl, until, write_configuration

SCRIPTS = ROOT / "completions"


PAINT = {
    "colour": {"enum": ["red", "dark green", 7]},
    "shiny": {"type": "boolean"},
    "size": {"anyOf": [{"enum": ["s", "m"]}, {"type": "null"}]},
    "days": {"type": "array", "items": {"enum": ["mon", "tue"]}},
    "shape": {"const": "round"},
    "text": {"type": "string"},
    "when": {"enum": ["12:30", "12:45", "a=b"]},
}


def painter(folder):
    """A tool whose arguments have few values."""
    tool = {"name": "paint", "description": "Paints.", "risk": "execute", "command": {"argv": ["/bin/true"]},
            "argument_schema": {"type": "object", "properties": PAINT}}
    (folder / "painter.json").write_text(json.dumps({"kind": "command", "tools": [tool]}))
    return folder / "painter.json"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    home = tmp_path_factory.mktemp("completion")
    folder = home / "toolbox.d"
    manifests.twins(folder)
    painter(folder)
    manifests.toolbox(folder, "answers", [manifests.labs(), manifests.sleeper(), manifests.tool(
        "sum", "labs", [manifests.integer("value"), manifests.integer("start", value=0)])])
    with Service("embedded", home, [folder], configuration={}) as started:
        yield started


@pytest.fixture
def complete(service, tmp_path):
    def run(*words, bus=service.url):
        done = toolboxctl("complete", "--", *words, home=tmp_path / "ctl",
                          env={"TOOLBOXD_BUS": bus} if bus else {})
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split("\n")[:-1]

    def asked(*words, **more):
        """Once more where nothing came: a busy machine may take all of its time."""
        return run(*words, **more) or run(*words, **more) or run(*words, **more)
    return asked


@pytest.mark.parametrize("words, expected", [
    (["inv"], ["invoke"]),
    (["comp"], []),
    (["nothing-like-it", ""], []),
    (["list", "--fo"], ["--format"]),
    (["list", "--format", "m"], ["mcp", "markdown"]),
    (["list", "--format=m"], ["--format=mcp", "--format=markdown"]),
    (["list", "--format", "mcp", "--toolbox", ""], ["answers", "left", "painter", "right"]),
    (["list", "--toolbox=l"], ["--toolbox=left"]),
    (["list", "--profile=l"], []),
    (["--json", "li"], ["list"]),
    (["new", "box", "--kind", "p"], ["plugin", "programs", "python"]),
    (["new", "box", "--kind", "m"], ["mcp"]),
    (["new", "--risk", ""], ["read", "write", "execute"]),
    (["watch", "--a"], ["--arguments"]),
    (["watch", "--arguments", "--cou"], ["--count"]),
    (["--json", "watch", "--arguments", "--cou"], ["--count"]),
    (["invoke", "absolute", "--args", "--ra"], []),
    (["invoke", "absolute", "--args", "{}", "--ra"], ["--raw"]),
    (["help", "exi"], ["exit-status"]),
    (["get", "s"], ["sleep", "sum", "same", "same"]),
    (["get", "answers/s"], ["answers/sleep", "answers/sum"]),
    (["get", "sum", ""], []),
    (["disable", "sum", "sle"], ["sleep"]),
    (["invoke", "absolute", ""], ["value="]),
    (["invoke", "absolute", "value=3", ""], []),
    (["invoke", "--toolbox", "answers", "absolute", "v"], ["value="]),
    (["invoke", "nosuchtool", ""], []),
    (["invoke", "paint", "colour="], ["colour=red", "colour=dark green", "colour=7"]),
    (["invoke", "paint", "colour=d"], ["colour=dark green"]),
    (["invoke", "paint", "colour:="], ['colour:="red"', 'colour:="dark green"', "colour:=7"]),
    (["invoke", "painter/paint", "shiny="], ["shiny=true", "shiny=false"]),
    (["invoke", "paint", "size="], ["size=s", "size=m"]),
    (["invoke", "paint", "days=mon,t"], ["days=mon,tue"]),
    (["invoke", "paint", "shape="], ["shape=round"]),
    (["invoke", "paint", "text="], []),
    (["invoke", "paint", "s"], ["shiny=", "size=", "shape="]),
    (["jobs", ""], ["get", "wait", "cancel"]),
    (["token", "re"], ["revoke"]),
    (["audit", "v"], ["verify"]),
])
def test_the_words_that_fit(complete, words, expected):
    assert complete(*words) == expected


def test_calls_in_flight_complete_a_cancel(complete, service):
    assert complete("cancel", "") == []
    with Caller(service.url) as caller:
        caller.call("ovos.tools.invoke", {"name": "absolute", "args": {"value": 1}})
        for _ in range(2):
            caller.send("ovos.tools.invoke", {"name": "sleep", "args": {"seconds": 30}})
        until(lambda: len(complete("cancel", "")) == 2, EVENT_SECONDS, "two calls in flight")
        first, second = complete("cancel", "")
        assert complete("cancel", first[:-1]) in ([first], [first, second])
        assert complete("cancel", first, "") == [second]
        for one in first, second:
            assert caller.call("ovos.tools.cancel", {"id": one})["cancelled"]


def test_what_waits_completes_its_answer(complete, service):
    with Caller(service.url) as caller:
        caller.call("ovos.tools.approval.attach", {"seconds": 60})
        caller.send("ovos.tools.invoke", {"name": "paint"})
        question = caller.wait_for(lambda message: message.type == "ovos.tools.approval.requested").data
        assert complete("approve", question["id"][:4]) == [question["id"]]
        assert complete("deny", "") == [question["id"]]
        caller.call("ovos.tools.approval.respond", {"id": question["id"], "decision": "deny"})


def test_manifests_complete_a_line_that_needs_no_daemon(complete, tmp_path):
    """They are read within the time; a service that the line or the environment names is not there."""
    folder = tmp_path / "own.d"
    folder.mkdir()
    file = str(painter(folder))
    away = f"ws://127.0.0.1:{free_port()}/core"

    assert complete("invoke", "--file", file, "pa", bus=away) == ["paint"]
    assert complete("invoke", "--file", file, "paint", "colour=r", bus=away) == ["colour=red"]
    assert complete("list", "--offline", "--toolbox-dir", str(folder), "--toolbox", "", bus=away) == ["painter"]
    assert complete("mcp", "--standalone", "--toolbox-dir", str(folder), "--toolbox", "p", bus=away) == ["painter"]


def test_manifests_complete_when_no_service_is_there(complete, tmp_path):
    own = tmp_path / "ctl" / "data" / "toolboxd" / "toolbox.d"
    own.mkdir(parents=True)
    painter(own)
    write_configuration(tmp_path / "ctl", {"websocket": {"port": free_port()}})
    assert complete("get", "pai", bus=None) == ["paint"]
    assert complete("invoke", "painter/paint", "colour=r", bus=None) == ["colour=red"]


def test_it_is_silent_without_a_daemon(complete):
    away = f"ws://127.0.0.1:{free_port()}/core"
    for words in (["get", ""], ["invoke", "absolute", ""], ["list", "--toolbox", ""]):
        assert complete(*words, bus=away) == []
    assert complete("inv", bus=away) == ["invoke"]
    assert complete("get", "", bus="nonsense") == []


def test_it_ends_when_its_time_is_over(tmp_path):
    """Not with the 5 s of a request: the bus takes the connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"ws://127.0.0.1:{mute.getsockname()[1]}/core"
        done = subprocess.run([TOOLBOXCTL, "complete", "--", "get", ""], capture_output=True,
                              env=environment(tmp_path, TOOLBOXD_BUS=url),
                              timeout=EVENT_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def typed_in_bash(service, home, line):
    """What bash has for the last word of a line; words are split as readline does it."""
    script = r"""
        source "$1"
        COMP_WORDS=() word=
        for ((i = 0; i < ${#2}; i++)); do
            c=${2:i:1}
            case $c in
            " ") [[ $word ]] && COMP_WORDS+=("$word"); word= ;;
            [=:]) [[ $word && $word != [=:]* ]] && COMP_WORDS+=("$word") && word=; word+=$c ;;
            *) [[ $word == [=:]* ]] && COMP_WORDS+=("$word") && word=; word+=$c ;;
            esac
        done
        [[ $word == [=:]* ]] && COMP_WORDS+=("$word") && word=
        COMP_WORDS+=("$word") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { echo "$@"; }
        if [[ ${COMP_WORDS[0]} == toolboxctl ]]; then
            _toolboxctl
        else
            _toolboxd "${COMP_WORDS[0]}" "$word"
        fi
        printf '%s\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script, "bash", SCRIPTS / "toolboxctl.bash", line], text=True,
        capture_output=True, env=environment(
            home, PATH=f"{TOOLBOXCTL.parent}:{os.environ['PATH']}", TOOLBOXD_BUS=service.url))
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def test_bash(service, tmp_path):
    def typed(line):
        return typed_in_bash(service, tmp_path, line)

    assert typed("toolboxctl inv") == ["invoke"]
    assert typed("toolboxctl invoke absolute v") == ["-o nospace", "value="]
    assert typed("toolboxctl invoke absolute value=3 ") == [""]
    assert typed(f"toolboxctl list --bus {service.url} --toolbox le") == ["left"]
    assert typed(f"toolboxctl list --bus={service.url} --toolbox le") == ["left"]
    assert typed("toolboxctl get answers/su") == ["answers/sum"]
    assert typed("toolboxctl list --toolbox=le") == ["left"]
    assert typed("toolboxctl invoke paint colour=") == ["red", r"dark\ green", "7"]
    assert typed("toolboxctl invoke paint colour=r") == ["red"]
    assert typed("toolboxctl invoke paint when=12:3") == ["30"]
    assert typed("toolboxctl invoke paint when=a=") == ["b"]
    assert typed("toolboxctl invoke paint when=a") == ["a=b"]
    assert typed("toolboxd --emb") == ["--embedded-bus"]
    assert typed("toolbox-agent --log-l") == ["--log-level"]


def test_fish(service, tmp_path):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")

    def typed(line):
        done = subprocess.run(
            ["fish", "-c", f"source {SCRIPTS / 'toolboxctl.fish'}; complete -C '{line}'"], text=True,
            capture_output=True, env=environment(tmp_path, PATH=f"{TOOLBOXCTL.parent}:{os.environ['PATH']}",
                                                 TOOLBOXD_BUS=service.url))
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    # Beside them fish has the files.
    assert "invoke" in typed("toolboxctl inv")
    assert {"colour=red", "colour=dark green", "colour=7"} <= set(typed("toolboxctl invoke paint colour="))
    assert "--embedded-bus" in typed("toolboxd --emb")


@pytest.mark.parametrize("shell, script", [
    ("bash", "toolboxctl.bash"), ("zsh", "_toolboxctl"), ("fish", "toolboxctl.fish")])
def test_the_script_of_each_shell_is_one(shell, script):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", SCRIPTS / script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_scripts_are_installed_where_shells_look(tmp_path):
    build = TOOLBOXCTL.parents[1]
    done = subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=/usr", "-P",
                           build / "completions" / "cmake_install.cmake"],
                          env={**os.environ, "DESTDIR": str(tmp_path)}, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    installed = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    commands = ("toolboxctl", "toolboxd", "toolbox-agent")
    assert installed == {*(f"usr/share/bash-completion/completions/{command}" for command in commands),
                         "usr/share/zsh/site-functions/_toolboxctl",
                         *(f"usr/share/fish/vendor_completions.d/{command}.fish" for command in commands)}
