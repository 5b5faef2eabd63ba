# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl test`: every example of a toolbox is called in a service of its own, and the lines of
files of calls."""
import json
import os
import signal
import subprocess

import manifests
import pytest
from processes import EVENT_SECONDS, FINDING, TOOLBOXCTL, environment, everybody, read_proc, toolboxctl, until

DONE, ERROR, USAGE = range(3)


def shell(name, line, examples=(), **more):
    return {"name": name, "description": "Runs a shell line.", "risk": "read",
            "argument_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
            "command": {"shell": line}, "examples": list(examples), **more}


def write(folder, tools, stem="words", **more):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps({"kind": "command", "tools": tools, **more}))
    return path


SHOUT = shell("shout", 'printf %s "$TOOL_ARG_TEXT" | tr a-z A-Z')


def example(text, *result):
    return {"args": {"text": text}, **({"result": result[0]} if result else {})}


@pytest.fixture
def run(tmp_path):
    def run(*args, **options):
        done = toolboxctl("test", *map(str, args), home=tmp_path / "home", **options)
        assert not FINDING.search(done.stderr), done.stderr
        return done
    return run


def test_examples_are_called_and_compared(run, tmp_path):
    file = write(tmp_path, [SHOUT | {"examples": [
        example("hi", {"output": "HI"}), example("Ho", {"output": "Ho"}), example("any")]}])
    done = run(file)
    assert done.returncode == ERROR and done.stderr == ""
    good, wrong, expected, came, other, total = done.stdout.splitlines()
    assert good.startswith('ok      words/shout {"text":"hi"} -> {"output":"HI"}  ')
    assert good.endswith(" ms") and other.startswith('ok      words/shout {"text":"any"}')
    assert wrong == 'FAILED  words/shout {"text":"Ho"}'
    assert expected == '        expected {"output":"Ho"}'
    assert came == '        came     {"output":"HO"}'
    assert total == "2 of 3 passed"


def test_results_are_equal_as_json_schema_has_it(run, tmp_path):
    manifests.toolbox(tmp_path, "box", [manifests.labs(examples=[
        {"args": {"value": -3}, "result": {"result": 3.0}}])])
    assert run(tmp_path / "box.json").returncode == DONE


def test_tools_that_write_are_called_by_all_only(run, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    file = write(tmp_path, [
        SHOUT | {"examples": [example("a", {"output": "A"})]},
        shell("mark", f"touch {marks}/it", [{"args": {}}], risk="write")],
        sandbox={"write": [str(marks)]})
    done = run(file)
    assert done.returncode == DONE and not list(marks.iterdir())
    assert done.stdout.endswith(
        "1 of 1 passed\n1 example of tools that write or execute was not called: see --all\n")
    done = run(file, "--all")
    assert done.returncode == DONE and list(marks.iterdir()) and "2 of 2 passed" in done.stdout


def test_calls_beside_the_file_are_made(run, tmp_path):
    file = write(tmp_path, [SHOUT])
    calls = tmp_path / "tests"
    calls.mkdir()
    (calls / "b.calls").write_text("shout text=b\n")
    (calls / "a.calls").write_text(
        "# comment\nwords/shout text='a b' -> {\"output\": \"A B\"}\n"
        'shout {"text": "x -> y"} -> {"output": "X -> Y"}\n'
        "shout text:=3 -> error invalid_arguments\nno -> error unknown_tool\n"
        "shout text=a -> error tool_failed\n")
    (calls / "ignored.txt").write_text("nope\n")
    done = run(file)
    assert done.returncode == ERROR and "5 of 6 passed\n" in done.stdout, done.stdout
    assert (f'FAILED  shout {{"text":"a"}}  ({calls}/a.calls:6)\n        expected error tool_failed\n'
            '        came     {"output":"A"}\n') in done.stdout
    assert done.stdout.index('"text":"a b"') < done.stdout.index('"text":"b"')


def test_calls_in_a_folder_are_made(run, tmp_path):
    write(tmp_path / "words", [SHOUT])
    calls = tmp_path / "words/tests"
    calls.mkdir()
    (calls / "a.calls").write_text("shout text=a -> {\"output\": \"A\"}\nwords/shout text=5 -> {\"output\": \"5\"}\n")
    done = run(tmp_path / "words/")
    assert done.returncode == DONE and done.stdout.endswith("2 of 2 passed\n"), done.stderr


def test_calls_that_are_named_are_made_instead(run, tmp_path):
    file = write(tmp_path, [SHOUT])
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/no.calls").write_text("no\n")
    (tmp_path / "one two.calls").write_text('shout text=x -> {"output": "X"}\n')
    done = run(file, tmp_path / "one two.calls")
    assert done.returncode == DONE and done.stdout.endswith("1 of 1 passed\n")


def test_a_folder_of_programs(run, tmp_path):
    folder = tmp_path / "home tools"
    folder.mkdir()
    program = folder / "greet.sh"
    program.write_text("#!/bin/sh\n# param name string Who\necho \"Hello, $TOOL_ARG_NAME!\"\n")
    program.chmod(0o755)
    (tmp_path / "x.calls").write_text('greet name=Ada -> {"output": "Hello, Ada!"}\n')
    folder.rename(tmp_path / "home")
    done = run(tmp_path / "home", tmp_path / "x.calls")
    assert done.returncode == DONE and "1 of 1 passed" in done.stdout, done.stderr


@pytest.mark.parametrize("line", ["shout 'a", "shout -> nil", "shout -> error", "shout {", "shout text"])
def test_a_line_that_is_no_call(run, tmp_path, line):
    file = write(tmp_path, [SHOUT])
    (tmp_path / "x.calls").write_text(f"\n{line}\n")
    done = run(file, tmp_path / "x.calls")
    assert done.returncode == USAGE and f"{tmp_path}/x.calls:2: " in done.stderr


def test_calls_without_their_toolbox(run, tmp_path):
    (tmp_path / "x.calls").write_text("shout\n")
    done = run(tmp_path / "x.calls")
    assert done.returncode == USAGE and "Name a manifest, too" in done.stderr


def test_nothing_to_call_is_told(run, tmp_path):
    done = run(write(tmp_path, [SHOUT]))
    assert done.returncode == ERROR and done.stdout == "0 of 0 passed\n"
    assert "nothing was called" in done.stderr and "tests/*.calls" in done.stderr


def test_a_file_that_cannot_be_loaded(run, tmp_path):
    good = write(tmp_path, [SHOUT | {"examples": [example("a", {"output": "A"})]}], "good")
    bad = tmp_path / "bad.json"
    bad.write_text('{"kind": "command", "tools": 3}')
    done = run(good, bad)
    assert done.returncode == ERROR and "1 of 1 passed" in done.stdout
    assert f"{bad}:1 /tools" in done.stderr


def test_tools_that_are_not_offered(run, tmp_path):
    """The reason is all that a person needs: no call of theirs is tried."""
    program = tmp_path / "box" / "run.sh"
    program.parent.mkdir()
    program.write_text("echo hello\n")
    program.chmod(0o755)
    (program.parent / "tests").mkdir()
    (program.parent / "tests" / "box.calls").write_text("run\n")
    done = run(program.parent)
    assert done.returncode == ERROR and done.stdout == ""
    assert "box/run is not offered: " in done.stderr and "#!/bin/sh" in done.stderr
    report = json.loads(run(program.parent, "--json").stdout)
    assert report == {"passed": 0, "failed": 0, "skipped": 0, "calls": []}


def test_as_json(run, tmp_path):
    file = write(tmp_path, [SHOUT | {"examples": [example("a", {"output": "b"})]}])
    (tmp_path / "x.calls").write_text("no -> error unknown_tool\n")
    report = json.loads(run(file, tmp_path / "x.calls", "--json").stdout)
    assert (report["passed"], report["failed"], report["skipped"]) == (1, 1, 0)
    first, second = report["calls"]
    assert first["tool"] == "words/shout" and not first["ok"] and first["file"] is None
    assert first["args"] == {"text": "a"} and first["expected"] == {"output": "b"}
    assert first["response"]["result"] == {"output": "A"} and first["duration_ms"] > 0
    assert second["ok"] and second["line"] == 1 and second["expected_code"] == "unknown_tool"
    assert second["file"] == f"{tmp_path}/x.calls"


def test_without_a_home_and_in_a_folder_that_cannot_be_written(tmp_path):
    file = write(tmp_path, [SHOUT | {"examples": [example("a", {"output": "A"})]}])
    env = {name: value for name, value in environment(tmp_path / "home").items() if name != "HOME"}
    done = subprocess.run([TOOLBOXCTL, "test", file], env=env, cwd="/proc", capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == DONE and "1 of 1 passed" in done.stdout, done.stderr


def marked(mark):
    """The processes that have @mark in their environment."""
    return [pid for pid in everybody() if mark in read_proc(pid, "environ")]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_ended_in_a_call(tmp_path, sent):
    started = tmp_path / "started"
    started.mkdir()
    file = write(tmp_path, [shell("wait", f"touch {started}/it; sleep 1000", [{"args": {}}])],
                 sandbox={"write": [str(started)]}, limits={"timeout_ms": 600000})
    mark = f"TEST_MARK={tmp_path}".encode()
    tester = subprocess.Popen([TOOLBOXCTL, "test", file], start_new_session=True,
                              env=environment(tmp_path / "home", TEST_MARK=str(tmp_path)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: list(started.iterdir()), EVENT_SECONDS, "the call")
        assert marked(mark)
        tester.send_signal(sent)
        tester.wait(EVENT_SECONDS)
        until(lambda: not marked(mark), EVENT_SECONDS, "the service and its hosts gone")
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)
