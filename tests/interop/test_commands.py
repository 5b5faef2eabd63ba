# SPDX-License-Identifier: Apache-2.0
"""Toolboxes of kind command, over both buses: arguments reach programs as data and as nothing else,
what a program says is bounded and told, and nothing of it outlives its deadline."""
import json
import os
import re
import time

import pytest
from caller import Caller
from processes import EVENT_SECONDS, at_most, everybody, read_proc, toolboxctl, until

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
LIMIT = 100 << 10

HOSTILE = ["$(id)", "`id`", "'; id; '", '"; id; "', "a\nb", "a b\tc", "-n", "--help", "-", "*", "~", "",
           "$HOME", "\\", "{text}", "%s", "; exit 1", "\u00e9\u4e16", "\x01\x1b[31m"]


def tool(name, command, **more):
    return {"name": name, "description": "A test's.", "risk": "read", "argument_schema": TEXT,
            "command": command, **more}


def write(folder, stem, tools, **more):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps({"kind": "command", "tools": tools, **more}))
    return path


@pytest.fixture(params=["embedded", "ovos-messagebus"])
def own(request, launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "programs", [
        tool("say", {"argv": ["printf", "%s", "{text}"]}),
        tool("inside", {"argv": ["printf", "%s", "<{text}>"]}),
        tool("shell", {"shell": 'printf %s "$TOOL_ARG_TEXT"'}),
        tool("stdin", {"shell": "cat", "output": "json"}),
        tool("callers", {"shell": 'echo "$TOOL_NAME,$TOOL_CALL_ID,$TOOL_SESSION_ID,$TOOL_LANG"'}),
        tool("count", {"shell": "wc -c"}),
        tool("fail", {"shell": "echo half; echo why >&2; exit 7"}),
        tool("killed", {"shell": "kill -TERM $$"}),
        tool("hang", {"shell": "sleep 5 & echo x; sleep 76"}, timeout_ms=500),
        tool("started", {"shell": "echo started; sleep 6565 &"}, timeout_ms=600000),
        tool("detached", {"shell": "echo started; setsid sleep 6566 &"}, timeout_ms=600000),
        tool("failed", {"shell": "echo started; setsid sleep 6567 & exit 3"}, timeout_ms=600000),
        tool("escape", {"shell": "setsid sleep 77 & sleep 77"}, timeout_ms=500),
        tool("much", {"shell": "head -c 5000000 /dev/zero | tr '\\0' x"}, timeout_ms=20000),
        tool("endless", {"shell": "yes"}, timeout_ms=20000),
        tool("where", {"shell": "pwd; echo $K"}, ),
        tool("gone", {"argv": ["./gone"]}),
        tool("numbers", {"argv": ["sh", "-c", 'echo "$1 $2 $TOOL_ARG_N $TOOL_ARG_X"; cat', "sh", "{n}", "{x}"]},
             argument_schema={"type": "object", "properties": {"n": {"type": "integer"}, "x": {"type": "number"}}}),
        tool("calendar", {"argv": ["echo", "cal", "{month}", "{year}"]}, argument_schema={
            "type": "object", "required": ["month", "year"],
            "properties": {"month": {"type": ["integer", "null"]}, "year": {"type": ["integer", "null"]}}}),
        tool("find", {"argv": ["printf", "<%s>", "rg", "-i{any_case?}", ["-m", "{most}"], "--", "{words...}"],
                      "success": [0, 1]}, argument_schema={"type": "object", "properties": {
                          "any_case": {"type": "boolean"}, "most": {"type": "integer"},
                          "words": {"type": "array", "items": {"type": "string"}}}}),
        tool("lines", {"shell": "echo 1; echo '{\"a\":2}'", "output": "json_lines"}),
        tool("nothing", {"shell": ":", "output": "json"}),
        tool("prose", {"shell": "echo no JSON", "output": "json"}),
        tool("chatty", {"shell": "echo result; echo a note for the log >&2"}),
        tool("report", {"shell": """for n in 0 0.5 1; do
            echo '{"progress": '$n', "text": "'"$TOOL_ARG_TEXT"'"}' >&$TOOL_PROGRESS_FD
            done; echo nonsense >&3; echo more >&3; echo reported"""}),
    ], env={"K": "from the manifest"})
    service = launch({}, [folder], kind=request.param)
    with Caller(service.url) as caller:
        yield caller, folder, service


def output(answer):
    assert "error" not in answer, answer
    return answer["result"]["output"]


def test_a_program_reports_its_progress(own):
    caller, _, service = own
    assert output(caller.invoke("report", {"text": "caf\u00e9"}, progress=True)) == "reported"
    reports = [message.data for message in caller.settle() if message.type == "ovos.tools.call.progress"]
    assert [(one["progress"], one["text"]) for one in reports] == [(n, "caf\u00e9") for n in (0, 0.5, 1)]
    until(lambda: "progress: ignored a line" in service.daemon.log(), EVENT_SECONDS, "it in the log")
    assert service.daemon.log().count("progress: ignored a line") == 1


@pytest.mark.parametrize("name", ["say", "inside", "shell"])
def test_arguments_are_data(own, name):
    caller, _, _ = own
    for text in HOSTILE:
        expected = f"<{text}>" if name == "inside" else text
        expected = expected.rstrip("\n").replace("\x1b[31m", "")  # no sequences of terminals in text
        assert output(caller.invoke(name, {"text": text})) == expected, text


def test_an_argument_of_a_hundred_kilobytes_reaches_argv(own):
    caller, _, _ = own
    for size in (100_000, LIMIT):
        answer = caller.invoke("say", {"text": "x" * size})
        assert answer["result"]["actual_chars"] == size + len('{"output":""}')


@pytest.mark.parametrize("text", ["a\0b", "x" * (LIMIT + 1)], ids=["NUL", "too long"])
def test_what_no_argv_holds_is_refused_and_whole_on_stdin(own, text):
    caller, _, _ = own
    answer = caller.invoke("say", {"text": text})
    assert answer["code"] == "invalid_arguments"
    assert [one["path"] for one in answer["violations"]] == ["/text"]
    verdict = caller.call("ovos.tools.validate", {"name": "say", "args": {"text": text}})
    assert verdict["valid"] is False and verdict["violations"] == answer["violations"]
    wanted = len(json.dumps({"text": text}))
    assert int(output(caller.invoke("count", {"text": text}))) == wanted
    assert output(caller.invoke("shell", {"text": text})) == ""


def test_stdin_is_the_object_of_arguments(own):
    caller, _, _ = own
    assert caller.invoke("stdin", {"text": "a", "other": [1, {"b": None}]})["result"] == {
        "text": "a", "other": [1, {"b": None}]}


def test_an_absent_argument_drops_its_element(own):
    caller, _, _ = own
    assert output(caller.invoke("inside", {})) == ""


def test_an_integer_reaches_a_program_as_its_digits(own):
    caller, _, _ = own
    assert output(caller.invoke("numbers", {"n": 2.0, "x": 10.0})) == '2 10.0 2 10.0\n{"n": 2, "x": 10.0}'


def test_null_is_an_argument_that_is_not_given(own):
    caller, _, _ = own
    assert output(caller.invoke("calendar", {"month": None, "year": 2026})) == "cal 2026"


def test_groups_flags_and_arrays_become_arguments(own):
    caller, _, _ = own
    assert output(caller.invoke("find", {"words": ["a b", "-c"], "any_case": True, "most": 2})) == (
        "<rg><-i><-m><2><--><a b><-c>")
    assert output(caller.invoke("find", {"words": [], "any_case": False})) == "<rg><-->"


def test_the_values_of_json_lines_are_an_array_and_no_json_is_told_with_what_was_printed(own):
    caller, _, _ = own
    assert output(caller.invoke("lines")) == [1, {"a": 2}]
    assert output(caller.invoke("nothing")) is None
    answer = caller.invoke("prose")
    assert answer["code"] == "tool_failed" and answer["output"] == "no JSON"


def test_who_calls_is_in_the_environment(own):
    caller, _, _ = own
    answer = caller.call("ovos.tools.invoke", {"name": "callers", "call_id": "c-1"}, context={
        "session": {"session_id": "$(id)", "lang": "en-US"}})
    assert output(answer) == "callers,c-1,$(id),en-US"


def test_a_failure_is_told_with_its_facts(own):
    caller, _, _ = own
    answer = caller.invoke("fail")
    assert answer["error"].endswith("the program exited with status 7: why")
    assert {key: answer[key] for key in ("code", "exit_code", "stderr", "output")} == {
        "code": "tool_failed", "exit_code": 7, "stderr": "why\n", "output": "half"}
    answer = caller.invoke("killed")
    assert answer["code"] == "tool_failed" and answer["signal"] == "SIGTERM"
    answer = caller.invoke("gone")
    assert answer["code"] == "tool_failed" and "cannot be run" in answer["error"]


def test_what_a_program_says_on_stderr_goes_to_the_log(own):
    caller, _, service = own
    assert output(caller.invoke("chatty")) == "result"
    until(lambda: "a note for the log" in service.daemon.log(), EVENT_SECONDS, "it in the log")


def test_stderr_of_a_program_that_runs_can_be_followed(launch, tmp_path):
    """Its lines are logged as they come, also those of one that fails then, and never as part of a
    line of the next call."""
    folder = tmp_path / "toolbox.d"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    write(folder, "jobs", [
        tool("long", {"shell": f"echo first >&2; read x < {gate}; printf second >&2; exit 3"}),
        tool("short", {"shell": "echo third >&2"})], limits={"timeout_ms": 60000, "workers": 1})
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        caller.send("ovos.tools.invoke", {"name": "long"}, {"mark": "long"})
        until(lambda: re.search(r"\bfirst$", service.daemon.log(), re.M), EVENT_SECONDS, "first")
        gate.write_text("go\n")
        answer = caller.answer_to("ovos.tools.invoke", "long").data
        assert answer["code"] == "tool_failed" and answer["stderr"] == "first\nsecond"
        caller.invoke("short")
        until(lambda: re.search(r"\bthird$", service.daemon.log(), re.M), EVENT_SECONDS, "third")
    assert re.search(r"\bsecond$", service.daemon.log(), re.M), service.daemon.log()


def running(words):
    """The processes whose command line is these words."""
    return [pid for pid in everybody() if read_proc(pid, "cmdline").split(b"\0")[:-1] == words]


@pytest.mark.parametrize("name, left", [("hang", [b"sleep", b"76"]), ("escape", [b"sleep", b"77"])])
def test_a_deadline_leaves_nothing_running(own, name, left):
    caller, _, service = own
    before = set(running(left))
    started = time.monotonic()
    answer = caller.invoke(name)
    assert answer["code"] == "timeout" and answer["timeout_ms"] == 500
    assert time.monotonic() - started < at_most(4)
    until(lambda: not set(running(left)) - before, EVENT_SECONDS, "everything of the call gone")
    assert output(caller.invoke("say", {"text": "next"})) == "next"


@pytest.mark.parametrize("name, left", [("started", "6565"), ("detached", "6566"), ("failed", "6567")])
def test_a_call_ends_with_its_program_whoever_holds_its_stdout(own, name, left):
    caller, _, service = own
    answer = caller.invoke(name, seconds=EVENT_SECONDS)
    if name == "failed":
        assert (answer["code"], answer["exit_code"], answer["output"]) == ("tool_failed", 3, "started")
    else:
        assert answer["result"] == {"output": "started"}
    until(lambda: not running([b"sleep", left.encode()]), EVENT_SECONDS, "the other process gone")
    until(lambda: "held its stdout open, and was ended" in service.daemon.log(), EVENT_SECONDS, "it in the log")
    assert output(caller.invoke("say", {"text": "next"})) == "next"


def test_much_output_is_capped_with_the_flag(own):
    caller, _, _ = own
    result = caller.invoke("much", seconds=EVENT_SECONDS)["result"]
    assert result["truncated"] is True and result["actual_chars"] == 5_000_000 + len('{"output":""}')
    answer = caller.invoke("endless", seconds=EVENT_SECONDS)
    assert answer["code"] == "too_large" and answer["actual"] > answer["max"] == 8 << 20


def test_a_program_runs_in_its_manifests_folder(own):
    caller, folder, _ = own
    assert output(caller.invoke("where")) == f"{folder}\nfrom the manifest"


def test_the_configurations_variables_come_last(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "programs", [tool("tell", {"shell": "echo $K $L"})], env={"K": "a", "L": "b"})
    service = launch({"toolboxes": {"programs": {"env": {"K": "c"}}}}, [folder])
    with Caller(service.url) as caller:
        assert output(caller.invoke("tell")) == "c b"


def test_a_program_that_may_write_has_the_folder_of_its_host(launch, tmp_path):
    """Whatever `env` has: it could not write there."""
    folder = tmp_path / "toolbox.d"
    write(folder, "programs", [tool("tell", {"shell": "touch $TMPDIR/file && echo $TMPDIR"})],
          sandbox={"class": "command", "write": []}, env={"TMPDIR": str(tmp_path)})
    with Caller(launch({}, [folder]).url) as caller:
        assert output(caller.invoke("tell")).startswith("/tmp/toolboxd-host-")


def test_an_unchanged_toolbox_keeps_its_processes(own):
    caller, folder, service = own
    caller.invoke("say", {"text": "a"})
    before = [service.daemon.only_host()]
    write(folder, "other", [tool("other", {"shell": "true"})])
    assert caller.call("ovos.tools.reload")["failed"] == []
    assert [service.daemon.only_host()] == before


# ── array files and drop-in programs ────────────────────────────────────────────────────────────


def program(path, text="#!/bin/sh\necho here\n"):
    """A program that is there all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.parent / f".{path.name}.new"
    new.write_text(text)
    new.chmod(0o755)
    new.rename(path)
    return path


def names(caller):
    return [one["name"] for one in caller.call("ovos.tools.list")["tools"]]


@pytest.fixture(params=["embedded", "ovos-messagebus"])
def dropins(request, launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    service = launch({}, [folder], kind=request.param)
    with Caller(service.url) as caller:
        yield caller, folder


def test_an_array_file_is_a_toolbox(dropins):
    caller, folder = dropins
    lines = [{"name": "hello", "command": "echo hello", "description": "Greets.", "cooldown": 0,
              "triggers": ["say hello"]},
             {"name": "slow", "command": "sleep 60", "timeout": 0.3}]
    (folder / "lines.json").write_text(json.dumps(lines))
    assert caller.call("ovos.tools.reload")["failed"] == []
    assert output(caller.invoke("hello")) == "hello"
    assert output(caller.invoke("hello")) == "hello"
    assert caller.invoke("slow")["timeout_ms"] == 300
    assert caller.invoke("slow")["code"] == "cooldown"
    assert caller.call("ovos.tools.match", {"utterance": "please say hello"})["name"] == "hello"


def test_an_array_file_without_elements_is_a_toolbox_without_tools(dropins, tmp_path):
    caller, folder = dropins
    (folder / "lines.json").write_text("[]")
    assert caller.call("ovos.tools.reload")["failed"] == []
    assert names(caller) == []
    done = toolboxctl("check", folder / "lines.json", home=tmp_path / "ctl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lines: command, 0 tools" in done.stdout
    (folder / "lines.json").write_text('[{"name": "hello", "command": "echo hello"}]')
    assert caller.call("ovos.tools.reload")["failed"] == []
    assert names(caller) == ["hello"]


def test_a_bad_last_element_of_an_array_file_loads_nothing(dropins):
    caller, folder = dropins
    good = {"name": "hello", "command": "echo hello"}
    for bad in (5, {}, {"name": "x"}, {"command": "x"}, {"name": "x", "command": ""}, good,
                {"name": "x", "command": "x", "triggers": ["("]}):
        (folder / "lines.json").write_text(json.dumps([good, bad]))
        answer = caller.call("ovos.tools.reload")
        assert answer["loaded"] == [] and [one["toolbox_id"] for one in answer["failed"]] == ["lines"]
        assert "lines.json:1 /1" in answer["failed"][0]["error"]
        assert names(caller) == []


def test_a_program_that_appears_loses_its_run_bit_or_goes_is_seen(dropins):
    caller, folder = dropins

    def until_offered(*expected):
        until(lambda: names(caller) == list(expected), EVENT_SECONDS, f"{expected} offered")

    (folder / "home").mkdir()
    bell = program(folder / "home" / "bell.sh")
    until_offered("bell")
    assert output(caller.invoke("bell")) == "here"
    music = program(folder / "home" / "music" / "next")
    until_offered("bell", "music_next")
    program(folder / "home" / "music" / "stop")
    until_offered("bell", "music_next", "music_stop")
    music.chmod(0o644)
    until_offered("bell", "music_stop")
    music.chmod(0o755)
    until_offered("bell", "music_next", "music_stop")
    bell.unlink()
    until_offered("music_next", "music_stop")
    (folder / "home" / "music").rename(folder / "home" / "_music")
    until_offered()


def test_a_program_says_what_it_is(dropins):
    caller, folder = dropins
    program(folder / "home" / "bell.sh", '''#!/bin/sh
# description: Rings the bell.
# param times integer? = 2 How often
# risk: read
# timeout: 5
echo "$TOOL_NAME $TOOL_ARG_TIMES"
pwd
''')
    program(folder / "home" / "bad", "#!/bin/sh\n# param\n")
    (folder / "home.json").write_text('{"kind": "command", "limits": {"workers": 2}}')
    assert caller.call("ovos.tools.reload")["failed"] == []
    assert caller.call("ovos.tools.list")["tools"] == [{
        "name": "bell", "description": "Rings the bell.", "toolbox_id": "home", "risk": "read",
        "source": {"kind": "command", "toolbox": "home"},
        "argument_schema": {"type": "object", "properties": {"times": {
            "type": "integer", "default": 2, "description": "How often"}},
            "additionalProperties": False},
        "output_schema": {"type": "object", "properties": {"output": {"type": "string"}},
                          "required": ["output"]}}]
    assert output(caller.invoke("bell")) == f"bell 2\n{folder}/home"
    assert output(caller.invoke("bell", {"times": 7})).startswith("bell 7\n")
    assert caller.invoke("bell", {"times": "often"})["code"] == "invalid_arguments"
    left_out = caller.call("ovos.tools.status")["not_offered"]
    assert [(one["toolbox_id"], one["name"]) for one in left_out] == [("home", "bad")]
    assert "home/bad:2" in left_out[0]["why"]


def test_a_folder_gives_way_to_a_manifest_of_its_name(dropins):
    caller, folder = dropins
    program(folder / "home" / "bell")
    write(folder, "home", [tool("other", {"shell": "true"})])
    answer = caller.call("ovos.tools.reload")
    assert names(caller) == ["other"]
    assert [one["toolbox_id"] for one in answer["failed"]] == ["home"]
    assert answer["failed"][0]["error"].endswith(
        "home.json has this name, and is not a manifest of kind \"command\" without tools: only it "
        "is used")


def test_a_script_in_no_folder_of_its_own_says_where_it_belongs(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    script = folder / "ring.sh"
    script.write_text("#!/bin/sh\n# description: Rings.\n# risk: read\necho rang\n")
    script.chmod(0o755)
    (folder / "helper.sh").write_text("#!/bin/sh\necho a manifest calls it\n")
    (folder / "helper.sh").chmod(0o755)
    service = launch({}, [folder])
    why = (f"{script}: a program is a tool of its folder: move it into a folder beside it, named like the toolbox")
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["not_offered"] == [{"toolbox_id": "ring.sh", "name": None, "why": why}]
    done = toolboxctl("list", "--why", bus=service.url, home=tmp_path / "ctl")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == f"ring.sh      {why}"
    done = toolboxctl("check", str(folder), home=tmp_path / "ctl")
    assert (done.returncode, done.stdout) == (0, "0 files: 0 errors, 1 warning\n")
    assert f"warning ring.sh is not offered: {why}\n" in done.stderr
    (folder / "bells").mkdir()
    script.rename(folder / "bells" / "ring.sh")
    assert toolboxctl("invoke", "ring", "--raw", bus=service.url, home=tmp_path / "ctl").stdout == "rang"


def test_escapes_of_letters_are_read_and_counted_as_letters(launch, tmp_path):
    """Python's json.dumps() writes six characters for each letter beyond ASCII."""
    folder = tmp_path / "toolbox.d"
    write(folder, "escaping", [
        tool("room", {"argv": ["printf", "%s", r'{"raum":"K\u00fcche"}'], "output": "json"}),
        tool("long", {"shell": r"""printf '{"text":"'; for i in $(seq 50); do printf '\134u53a8'; done; printf '"}'""",
                      "output": "json"}),
        {**tool("door", {"argv": ["true"]}),
         "argument_schema": {"type": "object", "properties": {"to": {"enum": ["打开", "关闭"]}}, "required": ["to"]}},
    ])
    daemon = launch({"result_max_chars": 200}, [folder]).daemon
    with Caller(daemon.url) as caller:
        assert caller.invoke("long")["result"] == {"text": "厨" * 50}
        assert 'one of "打开", "关闭"' in caller.invoke("door", {"to": "开"})["error"]
    done = toolboxctl("invoke", "room", bus=daemon.url, home=tmp_path)
    assert json.loads(done.stdout) == {"raum": "Küche"} and "Küche" in done.stdout, done.stdout
