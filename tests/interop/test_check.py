# SPDX-License-Identifier: Apache-2.0
"""toolboxctl check of folders: many toolboxes at once, and what is wrong with programs in them."""
import json

import manifests
import pytest
from processes import toolboxctl

DONE, ERROR, USAGE = range(3)


@pytest.fixture
def check(tmp_path):
    return lambda *files: toolboxctl("check", *files, home=tmp_path / "home")


def program(folder, name, *lines, end="\n"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(end.join(lines) + end, newline="")
    path.chmod(0o755)
    return path


GOOD = ("#!/bin/sh", "# description: Says hello.", "# risk: read", "echo hello")


def test_a_registration_folder_is_many_toolboxes(check, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "numbers", [manifests.labs()])
    program(folder / "greet", "hello.sh", *GOOD)
    done = check(folder)
    assert done.returncode == DONE, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["greet", "numbers"]
    assert lines[-1] == "2 files: 0 errors, 0 warnings"
    (folder / "broken.json").write_text('{"kind": "native"}')
    (folder / "syntax.json").write_text("{")
    other = manifests.toolbox(tmp_path, "alone", [manifests.labs()])
    done = check(folder, other)
    assert done.returncode == ERROR
    assert "/toolbox.d/broken.json:1" in done.stderr and "/toolbox.d/syntax.json:1" in done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["greet", "numbers", "alone"]
    assert lines[-1].startswith("5 files: ") and " 0 errors" not in lines[-1]
    summary = json.loads(check(folder, "--json").stdout)
    assert summary["files"] == 4
    assert [one["toolbox_id"] for one in summary["toolboxes"]] == ["greet", "numbers"]
    done = check(tmp_path / "empty.d")
    assert done.returncode == ERROR and "empty.d" in done.stderr


@pytest.mark.parametrize("line, form", [
    ("# arg: NAME text", "# param NAME TYPE DESCRIPTION"),
    ("# arg times integer How often", "# param NAME TYPE DESCRIPTION"),
    ("# Args:", "# param NAME TYPE DESCRIPTION"),
    ("#parameter times: int", "# param NAME TYPE DESCRIPTION"),
    ("# param: times integer", "# param NAME TYPE DESCRIPTION"),
    ("# descripton: Rings.", "# description: TEXT"),
    ("# summary: Rings.", "# description: TEXT"),
    ("# rsik: execute", "# risk: read, write or execute"),
    ("# risk level: execute", "# risk: read, write or execute"),
    ("# parm times integer How often", "# param NAME TYPE DESCRIPTION"),
    ("# prams times integer How often", "# param NAME TYPE DESCRIPTION"),
    ("# Param times integer How often", "# param NAME TYPE DESCRIPTION"),
    ("# Description: Rings.", "# description: TEXT"),
    ("# description : Rings.", "# description: TEXT"),
    ("// Timeout: 5", "# timeout: SECONDS"),
    ("# timeout 5", "# timeout: SECONDS"),
])
def test_a_comment_that_defines_nothing_is_named(check, tmp_path, line, form):
    path = program(tmp_path / "bells", "ring.sh", *GOOD[:3], line, "echo")
    done = check(tmp_path / "bells")
    assert done.returncode == DONE
    word = line.lstrip("#/ ").split()[0]
    assert f": {path}:4: the comment '# {word}" in done.stderr, done.stderr
    assert f"is '{form}' meant?" in done.stderr
    assert done.stdout.splitlines()[-1] == "1 file: 0 errors, 1 warning"


@pytest.mark.parametrize("line", [
    "# arguments are in the environment", "# input comes from stdin", "# TODO: mend this",
    "# Copyright: me", "# risk is low", "# param times integer How often", "# an option",
    "# parse the arguments: one", "# program to ring a bell", "# vim: set et:", "# shellcheck: disable=all", "# list of names: none",
    "# timeout: 5", "# SPDX-License-Identifier: Apache-2.0", "echo '# arg: x'"])
def test_other_comments_are_just_text(check, tmp_path, line):
    program(tmp_path / "bells", "ring.sh", *GOOD[:3], line, "echo")
    done = check(tmp_path / "bells")
    assert done.returncode == DONE and done.stderr == ""


def test_comments_count_for_nothing_beside_a_definition(check, tmp_path):
    program(tmp_path / "bells", "ring.sh", "#!/bin/sh", "# arg: x", "echo")
    (tmp_path / "bells" / "ring.json").write_text('{"description": "Rings.", "risk": "read"}')
    done = check(tmp_path / "bells")
    assert done.returncode == DONE and done.stderr == ""


@pytest.mark.parametrize("lines, end, words", [
    (["echo hello"], "\n", "does not begin with a line like #!/bin/sh"),
    (GOOD, "\r\n", "its lines end with CR LF"),
    (["#!/usr/bin/no-such-interpreter"], "\n", "/usr/bin/no-such-interpreter cannot be run"),
])
def test_a_program_that_would_fail_with_each_call(check, tmp_path, lines, end, words):
    program(tmp_path / "toolbox.d" / "box", "run.sh", *lines, end=end)
    program(tmp_path / "toolbox.d" / "box", "good.sh", *GOOD)
    done = check(tmp_path / "toolbox.d")
    assert "box/run is not offered: " in done.stderr and words in done.stderr, done.stderr


@pytest.mark.parametrize("written", ["handle", "pointer", "void*"])
def test_a_type_that_is_near_to_none_has_all_of_them(check, tmp_path, written):
    path = manifests.toolbox(tmp_path, "types", [
        manifests.tool("x", "labs", [manifests.integer("value", written)])])
    done = check(path)
    assert done.returncode == ERROR
    for known in ("bool", "i8", "usize", "f64", "str", "bytes", "json", "array"):
        assert f'"{known}"' in done.stderr
    assert "in all" not in done.stderr


def command(folder, argv, properties, **schema):
    path = folder / "cut.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"kind": "command", "risk": "read", "tools": [{
        "name": "cut", "description": "Cuts.", "command": {"argv": argv},
        "argument_schema": {"type": "object", "properties": properties, **schema}}]}))
    return path


ANY = {"seconds": {"type": "number"}, "to": {"type": "string"}}


def test_an_option_apart_from_a_value_that_may_be_absent(check, tmp_path):
    done = check(command(tmp_path, ["echo", "-y", "-t", "{seconds}", "{to}"], ANY))
    assert done.returncode == DONE
    assert ("cut.json:1 /tools/0/command/argv: the tool 'cut': without 'seconds' the option '-t' takes the word after "
            "it: if '{seconds}' is its value, write the group [\"-t\", \"{seconds}\"]") in done.stderr, done.stderr
    assert done.stdout.endswith("1 file: 0 errors, 1 warning\n")


@pytest.mark.parametrize("argv, schema", [
    (["echo", ["-t", "{seconds}"], "{to}"], {}),
    (["echo", "-t", "{seconds}", "{to}"], {"required": ["seconds"]}),
    (["echo", "--", "{to}"], {}), (["echo", "-", "{to}"], {}), (["echo", "--format=json", "{to}"], {}),
    (["echo", "-t{seconds}", "{to}"], {}), (["echo", "-q{seconds?}", "{to}"], {}),
])
def test_options_that_are_right(check, tmp_path, argv, schema):
    done = check(command(tmp_path, argv, ANY, **schema))
    assert done.returncode == DONE and done.stderr == ""


def test_arguments_that_no_variable_can_have(check, tmp_path):
    done = check(command(tmp_path, ["cat"], {name: {} for name in ("gr\u00f6\u00dfe", "a.b", "a-b", "a_b", "c")}))
    assert done.returncode == DONE
    for words in ("the argument 'gr\u00f6\u00dfe' is on stdin only", "the argument 'a.b' is on stdin only",
                  "the argument 'a_b' and an earlier one have the same variable, $TOOL_ARG_A_B",
                  "has the argument 'gr\u00f6\u00dfe': Anthropic's API"):
        assert words in done.stderr, done.stderr
    assert done.stdout.endswith("1 file: 0 errors, 4 warnings\n")


SUM = {"name": "add", "description": "Adds.", "risk": "read", "argument_schema": {"type": "object", "properties": {
    "a": {"type": "number"}}}, "command": {"argv": ["printf", '{"n": %s}', "{a}"], "output": "json"}}


def shown(folder, *examples, **more):
    folder.mkdir(exist_ok=True)
    path = folder / "shown.json"
    path.write_text(json.dumps({"kind": "command", "tools": [
        {key: value for key, value in {**SUM, **more, "examples": list(examples)}.items() if value is not None}]}))
    return path


@pytest.mark.parametrize("example, is_good", [
    ({"args": {"a": 2}, "result": {"n": 2.0}}, True), ({"args": {"a": 2}}, True), ({"args": {"a": 2}, "result": {"n": 3}}, False),
    ({"args": {"a": 2.05}, "result": {"n": 2}, "tolerance": 0.1}, True),
    ({"args": {"a": 2.2}, "result": {"n": 2}, "tolerance": 0.1}, False),
    ({"args": {"a": 9007199254740993}, "result": {"n": 9007199254740992}}, False)])
def test_with_run_the_examples_are_compared(check, tmp_path, example, is_good):
    file = shown(tmp_path, example)
    assert check(file).returncode == DONE, "without --run nothing is called"
    done = check(file, "--run")
    assert done.returncode == (DONE if is_good else ERROR), done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok      shown/add" if is_good else "FAILED  shown/add")
    assert (f"{int(is_good)} of 1 passed" in lines) and lines[-1] == "1 file: 0 errors, 0 warnings"
    if not is_good:
        assert json.loads(lines[1].removeprefix("        expected ")) == example["result"] and lines[2].split()[0] == "came"
    examples = json.loads(check(file, "--run", "--json").stdout)["examples"]
    assert (examples["passed"], examples["failed"]) == (int(is_good), 1 - int(is_good))


def test_run_calls_what_reads_alone(check, tmp_path):
    for risk in {"risk": "write"}, {"risk": "execute"}, {"risk": None}:
        done = check(shown(tmp_path, {"args": {"a": 1}, "result": {"n": 7}}, **risk), "--run")
        assert done.returncode == DONE, done.stderr
        assert "1 example of tools that have another risk than read, or need others, was not called" in done.stdout
    done = check(shown(tmp_path, {"args": {"a": "x"}, "result": {"n": 7}}), "--run")
    assert done.returncode == ERROR and "passed" not in done.stdout, "a manifest with errors is not run"
    done = check(shown(tmp_path, {"args": {}}, command={"shell": "exit 3"}), "--run")
    assert done.returncode == ERROR and "expected a result" in done.stdout and "tool_failed" in done.stdout


def test_a_tolerance_needs_a_result(check, tmp_path):
    done = check(shown(tmp_path, {"args": {"a": 1}, "tolerance": 1}))
    assert done.returncode == ERROR and "the example's tolerance needs a result" in done.stderr


def test_run_takes_ten_seconds_together(check, tmp_path, request):
    if not request.config.getoption("--long"):
        pytest.skip("it takes ten seconds: with --long")
    done = check(shown(tmp_path, *[{"args": {"a": 1}}] * 4, command={"shell": "sleep 6"}, timeout_ms=9000), "--run")
    assert done.returncode == ERROR and "the examples take longer than 10 s together" in done.stderr
    assert done.stdout.count("ok      ") == 2


def test_a_manifest_is_held_against_a_header(check, tmp_path):
    """labs() of libc is right; a wider argument is not what stdlib.h has."""
    file = manifests.toolbox(tmp_path, "numbers", [manifests.labs()])
    done = check("--header", "stdlib.h", file)
    assert done.returncode == DONE, done.stderr
    manifest = json.loads(file.read_text())
    manifest["tools"][0]["native"]["parameters"][0]["type"] = "i32"
    file.write_text(json.dumps(manifest, indent=1))
    done = check("--header", "stdlib.h", file)
    assert done.returncode == ERROR
    assert done.stderr.startswith(f"error {file}:") and "'i32', but stdlib.h:" in done.stderr
    assert "has 'long' (i64): long labs(long)" in done.stderr
    assert "declared in no header" in check("--header", "errno.h", file).stderr
    assert "absent.h" in check("--header", "absent.h", file).stderr
    absent = toolboxctl("check", "--header", "stdlib.h", file, home=tmp_path / "home", env={"CC": "no-cc"})
    assert absent.returncode == ERROR and "install gcc or clang" in absent.stderr
    program(tmp_path / "greet", "hello.sh", *GOOD)
    assert check("--pkg", "zlib", file).returncode == USAGE
    assert "kind native" in check("--header", "stdlib.h", tmp_path / "greet").stderr
