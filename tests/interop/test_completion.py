# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl complete`, and the scripts by which shells ask it."""
import os
import shutil
import socket
import subprocess

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, ROOT, TOOLBOXCTL, environment, free_port, toolboxctl, until

SCRIPTS = ROOT / "completions"


@pytest.fixture
def service(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.twins(folder)
    manifests.toolbox(folder, "answers", [manifests.labs(), manifests.sleeper(), manifests.tool(
        "sum", "labs", [manifests.integer("value"), manifests.integer("start", value=0)])])
    return launch({}, [folder])


@pytest.fixture
def complete(service, tmp_path):
    def run(*words, bus=service.url):
        done = toolboxctl("complete", "--", *words, home=tmp_path / "ctl",
                          env={"TOOLBOXD_BUS": bus})
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()
    return run


@pytest.mark.parametrize("words, expected", [
    (["inv"], ["invoke"]),
    (["comp"], []),
    (["nothing-like-it", ""], []),
    (["list", "--fo"], ["--format"]),
    (["list", "--format", "m"], ["mcp", "markdown"]),
    (["list", "--format", "mcp", "--toolbox", ""], ["answers", "left", "right"]),
    (["--json", "li"], ["list"]),
    (["new", "box", "--kind", "p"], ["plugin", "programs", "python"]),
    (["new", "box", "--kind", "m"], ["mcp"]),
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
        _toolboxctl
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
    assert installed == {"usr/share/bash-completion/completions/toolboxctl",
                         "usr/share/zsh/site-functions/_toolboxctl",
                         "usr/share/fish/vendor_completions.d/toolboxctl.fish"}
