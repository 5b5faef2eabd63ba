# SPDX-License-Identifier: Apache-2.0
"""The daemon as a command: flags, exit statuses, --check, signals, configuration."""
import json
import os
import signal
import socket
import subprocess

import manifests
import pytest
from caller import Caller
from processes import (BUILD, EVENT_SECONDS, FINDING, TOOLBOXD, descriptors, environment, free_port, is_alive,
                       listens, until, write_configuration)


def toolboxd(home, *args, env=None):
    """Run it with arguments that let it end by itself."""
    done = subprocess.run([TOOLBOXD, *map(str, args)], env=environment(home, **(env or {})),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=EVENT_SECONDS, cwd=home)
    assert not FINDING.search(done.stderr), f"a sanitizer spoke:\n{done.stderr}"
    return done


def test_help_and_version(tmp_path):
    done = toolboxd(tmp_path, "--help")
    assert done.returncode == 0 and done.stderr == ""
    for flag in ("--bus", "--embedded-bus", "--toolbox-dir", "--config", "--log-level",
                 "--log-format", "--check", "--version", "--help"):
        assert flag in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    examples = done.stdout.split("\nExamples:\n")[1].splitlines()
    assert all(line.startswith("  toolboxd") for line in examples) and len(examples) == 3
    done = toolboxd(tmp_path, "--version")
    assert done.returncode == 0 and "toolboxd" in done.stdout and "0.1.0" in done.stdout


@pytest.mark.parametrize("args", [
    ["--no-such-flag"], ["extra"], ["--bus"], ["--bus", "http://127.0.0.1/"],
    ["--log-level", "loud"], ["--log-format", "xml"], ["--https", "127.0.0.1:0"],
])
def test_usage(tmp_path, args):
    done = toolboxd(tmp_path, *args)
    assert done.returncode == 2 and done.stderr and done.stdout == ""


@pytest.mark.parametrize("flags, configured", [
    (["--log-level", "error", "--log-format", "json"], {}),
    ([], {"log": {"level": "error", "format": "json"}}),
])
def test_level_and_format_hold_from_the_first_line(tmp_path, flags, configured):
    """Those of the files, too, for what is wrong with the files."""
    write_configuration(tmp_path, {"toolboxd": {"timeout_ms": "soon", "no_such_key": 1, **configured}})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = toolboxd(tmp_path, "--embedded-bus", *flags,
                        "--bus", f"ws://127.0.0.1:{taken.getsockname()[1]}/core")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["level"] for line in lines] == ["error"] * 2, done.stderr
    assert "timeout_ms" in lines[0]["message"] and "Cannot serve" in lines[1]["message"]


def test_a_wrong_flag_is_the_only_complaint(tmp_path):
    write_configuration(tmp_path, {"toolboxd": {"timeout_ms": "soon"}})
    done = toolboxd(tmp_path, "--log-level", "loud")
    assert done.returncode == 2 and "timeout_ms" not in done.stderr
    assert "--log-level must be debug, info, warning or error, not loud" in done.stderr


def test_an_unusable_port(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = toolboxd(tmp_path, "--embedded-bus", "--bus", f"ws://127.0.0.1:{port}/core")
    assert done.returncode == 1 and str(port) in done.stderr


def test_a_start_without_standard_files(tmp_path):
    """The first sockets would get their numbers, and the lines of the log."""
    port = free_port()
    words = f"exec {TOOLBOXD} --embedded-bus --bus ws://127.0.0.1:{port}/core <&- >&- 2>&-"
    with subprocess.Popen(["sh", "-c", words], env=environment(tmp_path), cwd=tmp_path) as process:
        try:
            until(lambda: listens(port), EVENT_SECONDS, "toolboxd")
            descriptors(process.pid)
            files = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]
        finally:
            process.terminate()
    assert files == ["/dev/null"] * 3


def test_check_prints_the_merged_configuration(tmp_path):
    write_configuration(tmp_path, {"toolboxd": {"timeout_ms": 1234}})
    more = tmp_path / "more.conf"
    more.write_text('// a comment\n{"toolboxd": {\n# another\n"limits": {"queue": 3}}}')
    done = toolboxd(tmp_path, "--check", "--config", more, "--toolbox-dir", manifests.SHIPPED)
    assert done.returncode == 0, done.stderr
    merged = json.loads(done.stdout)
    assert merged["toolboxd"]["timeout_ms"] == 1234
    assert merged["toolboxd"]["limits"]["queue"] == 3


def test_check_prints_no_value_that_is_not_used(tmp_path):
    (tmp_path / "distribution.conf").write_text("{}")
    write_configuration(tmp_path, {"toolboxd": {
        "timeout_ms": "5000", "crash_limit": 4, "limits": {"queue": -1, "in_flight": 100},
        "toolboxes": {"libm": {"limits": {"workers": "two", "queue": 3}}}}})
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", manifests.SHIPPED)
    assert done.returncode == 1
    merged = json.loads(done.stdout)["toolboxd"]
    del merged["toolbox_dirs"]
    assert merged == {"crash_limit": 4, "limits": {"in_flight": 100},
                      "toolboxes": {"libm": {"limits": {"queue": 3}}}}


def test_check_warns_of_names_that_mean_nothing(tmp_path):
    write_configuration(tmp_path, {"toolboxd": {"toolboxes": {
        "libm": {"limits": {"workrs": 2}}, "nosuchbox": {"enabled": False}}}})
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", manifests.SHIPPED)
    assert done.returncode == 0
    assert "/toolboxd/toolboxes/libm/limits/workrs: unexpected property 'workrs'; did you mean 'workers'?" \
        in done.stderr
    assert "warning toolboxes: no toolbox is called 'nosuchbox'\n" in done.stderr, done.stderr


def test_check_warns_of_settings_that_a_toolbox_that_is_off_has_not(launch, tmp_path):
    """Its manifest is read for a check alone."""
    folder = BUILD / "toolboxes" / "mail.d"
    settings = {"toolboxes": {"mail": {"sandbox": {"read": ["$hotst", "$server"]}}}}
    write_configuration(tmp_path, {"toolboxd": settings})
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", folder)
    assert done.stderr.startswith("warning toolboxes.mail.sandbox: it has no setting called 'hotst'\n"), done.stderr
    service = launch(settings, [folder])
    with Caller(service.url) as caller:
        caller.call("ovos.tools.list")
    assert "sandbox" not in service.daemon.log()


@pytest.mark.parametrize("configuration, place", [
    ({"toolboxd": {"timeout_ms": "soon"}}, "timeout_ms"),
    ({"toolboxd": {"limits": {"queue": -1}}}, "queue"),
    ({"toolboxd": {"approval": {"mode": "maybe"}}}, "mode"),
])
def test_check_finds_what_is_wrong_with_the_configuration(tmp_path, configuration, place):
    write_configuration(tmp_path, configuration)
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", manifests.SHIPPED)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("error ")]
    assert any(place in line and "mycroft.conf:" in line for line in lines), done.stderr


def test_check_counts_one_of_a_kind(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs(risk="execute")])
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", folder)
    assert done.stderr.splitlines()[-1] == "1 tool in 1 toolbox; 0 errors, 1 warning"
    assert "the calls of 1 tool need " in done.stderr


def test_check_ends_with_a_sum(tmp_path):
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", manifests.SHIPPED)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "26 tools in 2 toolboxes; 0 errors, 0 warnings"


@pytest.mark.parametrize("flags, env", [
    (["--toolbox-dir", "/no/such/folder"], {}), ([], {"TOOLBOXD_TOOLBOX_DIRS": "/no/such/folder"}),
])
def test_a_named_folder_that_is_not_there(tmp_path, flags, env):
    done = toolboxd(tmp_path, "--check", *flags, env=env)
    assert done.returncode == 1
    assert "error toolbox_dirs: the folder /no/such/folder: No such file" in done.stderr


def test_check_finds_what_is_wrong_with_a_toolbox(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "bad", [manifests.tool("a", "no_such_symbol_anywhere")])
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", folder)
    assert done.returncode == 1
    assert "bad.json:" in done.stderr and "no_such_symbol_anywhere" in done.stderr


@pytest.mark.parametrize("flag", ["--embedded-bus", "--check"])
def test_a_bus_that_is_encrypted_keeps_it_from_starting(tmp_path, flag):
    write_configuration(tmp_path, {"websocket": {"port": 0, "secret_key": "0123456789abcdef"}})
    done = toolboxd(tmp_path, flag)
    assert done.returncode == 1 and "/websocket/secret_key: " in done.stderr


@pytest.mark.parametrize("configuration, words", [
    ({"toolboxd": {"sandbox_max": "all"}}, "sandbox_max"),
    ({"toolboxd": {"profiles": {"a": {"tool_name": ["add"]}}}}, "profiles"),
])
def test_check_runs_nothing_of_a_toolbox_that_may_be_disabled(tmp_path, configuration, words):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "bad", [manifests.tool("a", "no_such_symbol_anywhere")])
    write_configuration(tmp_path, configuration)
    done = toolboxd(tmp_path, "--check", "--toolbox-dir", folder)
    assert done.returncode == 1 and words in done.stderr
    assert "no_such_symbol_anywhere" not in done.stderr
    assert json.loads(done.stdout)["toolboxd"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(launch, number):
    service = launch()
    with Caller(service.url) as caller:
        caller.invoke("add", {"a": 1, "b": 2})
        host = service.daemon.only_host()
        os.kill(service.daemon.daemon_pid(), number)
        assert service.daemon.process.wait(EVENT_SECONDS) == 0
        until(lambda: not is_alive(host), EVENT_SECONDS, "its host gone")
    service.daemon.check_log()
    service.daemon.has_ended = True


def test_calls_in_flight_at_the_end_are_answered(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({"drain_ms": 300}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        mark = caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 15}})
        caller.settle()
        service.daemon.process.terminate()
        answer = caller.answer_to("ovos.tools.invoke", mark)
        assert answer.data["code"] == "unavailable"


def test_the_log_may_be_json(launch):
    service = launch(args=["--log-format", "json"])
    lines = until(lambda: service.daemon.log().splitlines(), EVENT_SECONDS, "a line")
    for line in lines:
        assert set(json.loads(line)) >= {"time", "level", "message"}


def test_a_load_counts_the_tools_without_a_risk_that_run_without_asking(launch, tmp_path):
    tools = [{"name": f"t{i}", "description": "A test's.", "command": {"argv": ["true"]}, **more}
             for i, more in enumerate([{}, {}, {"risk": "read"}])]
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "some.json").write_text(json.dumps({"kind": "command", "tools": tools}))
    words = "2 tools have no risk, and will run without asking a person"
    assert words in launch(None, [folder]).daemon.log()
    assert words not in launch({"approval": {"mode": "auto"}}, [folder]).daemon.log()
