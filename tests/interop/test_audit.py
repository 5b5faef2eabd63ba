# SPDX-License-Identifier: Apache-2.0
"""The audit log: which calls have a line, that the lines are a chain, and that no call waits for
them."""
import hashlib
import json
import os
import re
import signal

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, toolboxctl, until, write_configuration
from test_scarcity import BadDay

MEMBERS = ["time", "call_id", "source", "session_id", "door", "tool", "toolbox_id", "risk", "profile",
           "decision", "by", "fingerprint", "duration_ms", "outcome", "prev"]
WHO = {"source": "kitchen", "session": {"session_id": "dinner"}}


@pytest.fixture
def start(launch, tmp_path):
    """start(**audit): a daemon with an audit log, a caller, and the log's path."""
    callers = []

    def begin(mode="off", file=None, top=None, env=None, **audit):
        file = file or tmp_path / "audit.log"
        boxes = tmp_path / "toolbox.d"
        manifests.answers(boxes)
        unrated = manifests.labs("unrated")
        del unrated["risk"]
        manifests.toolbox(boxes, "doors", [
            manifests.labs("open", risk="write"), unrated,
            manifests.sleeper("slow", risk="write", timeout_ms=300),
            manifests.tool("unlock", "strdup", [manifests.text("pin")],
                           {"type": "str", "transfer": "full"}, risk="write", argument_schema={
                "type": "object", "required": ["pin"], "additionalProperties": False,
                "properties": {"pin": {"type": "string", "writeOnly": True}}})])
        service = launch({"approval": {"mode": mode}, "audit": {"file": str(file), **audit},
                          **(top or {})},
                         [boxes], env=env)
        caller = Caller(service.url)
        callers.append(caller)
        return service, caller, file

    yield begin
    for one in callers:
        one.close()


def call(caller, name, **args):
    data = {"name": name, "args": args, "call_id": f"id-{name}"}
    return caller.call("ovos.tools.invoke", data, WHO)


def lines(file, n):
    """The first n lines, once they are there; no more are."""
    until(lambda: file.exists() and file.read_bytes().count(b"\n") >= n, EVENT_SECONDS,
          f"{n} lines")
    texts = file.read_text().splitlines()
    assert len(texts) == n, texts
    return [json.loads(one) for one in texts]


def lines_of(file):
    return [json.loads(one) for one in file.read_text().splitlines()]


def is_chain(texts, before=""):
    for text in texts:
        if json.loads(text)["prev"] != before:
            return False
        before = hashlib.sha256(text.encode()).hexdigest()
    return True


def test_a_line_for_each_call_that_is_not_read(start):
    _, caller, file = start()
    call(caller, "absolute", value=-1)
    call(caller, "open", value=-1)
    call(caller, "unrated", value=-1)
    call(caller, "slow", seconds=9)
    call(caller, "open", value="x")
    call(caller, "nobody")
    opened, unrated, slow, refused = lines(file, 4)
    assert list(opened) == MEMBERS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", opened["time"])
    assert opened["duration_ms"] > 0
    del opened["time"], opened["duration_ms"], opened["prev"]
    fingerprint = hashlib.sha256(b'open:{"value":-1}').hexdigest()[:16]
    assert opened == {"call_id": "id-open", "source": "kitchen", "session_id": "dinner",
                      "door": "bus", "tool": "open", "toolbox_id": "doors", "risk": "write",
                      "profile": "default", "decision": "allow", "by": "approval.mode",
                      "fingerprint": fingerprint, "outcome": "ok"}
    assert (unrated["tool"], unrated["risk"], unrated["outcome"]) == ("unrated", "unrated", "ok")
    assert slow["outcome"] == "timeout" and slow["duration_ms"] >= 300
    assert refused["outcome"] == "invalid_arguments" and refused["fingerprint"] is None
    assert refused["decision"] is None and refused["by"] is None
    assert is_chain(file.read_text().splitlines())


def test_the_door_and_the_profiles_that_decided(launch, tmp_path):
    """A token's profile, the request's, and the one of the access rules narrow together."""
    token = "kitchen-0123456789"
    manifests.toolbox(tmp_path / "toolbox.d", "doors", [manifests.labs("open", risk="write")])
    file = tmp_path / "audit.log"
    service = launch({
        "audit": {"file": str(file)},
        "profiles": {"doors": {"tool_names": ["doors/*"]}, "o": {"tool_names": ["o*"]}},
        "access": [{"match": {"source": "hall"}, "profile": "doors"}],
        "http": {"tokens": [{"name": "kitchen", "profile": "doors",
                             "token_sha256": hashlib.sha256(token.encode()).hexdigest()}]}},
        [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    bearer = {"Authorization": f"Bearer {token}"}
    with Caller(service.url) as caller:
        for context in {"source": "hall"}, {}:
            for profile in {"profile": "o"}, {}:
                caller.call("ovos.tools.invoke", {"name": "open", "args": {"value": 1}, **profile}, context)
    with Http(port_of(service.daemon)) as http:
        assert http.post("/v1/tools/open?profile=o", {"value": 1}, **bearer).status == 200
        assert http.post("/v1/tools/open", {"value": 1}, **bearer).status == 200
        assert http.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "doors__open", "arguments": {"value": 1}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}}},
            Accept="application/json, text/event-stream", MCP_Protocol_Version="2026-07-28",
            Mcp_Method="tools/call", Mcp_Name="doors__open", **bearer).status == 200
    assert [(one["door"], one["source"], one["profile"]) for one in lines(file, 7)] == [
        ("bus", "hall", "doors+o"), ("bus", "hall", "doors"), ("bus", None, "o"), ("bus", None, "default"),
        ("http", "http:kitchen", "doors+o"), ("http", "http:kitchen", "doors"),
        ("mcp", "http:kitchen", "doors")]


def test_a_line_for_each_denial(start):
    _, caller, file = start(mode="strict")
    assert call(caller, "absolute", value=-1)["code"] == "denied"
    call(caller, "open", value=-1)
    read, write = lines(file, 2)
    assert (read["risk"], write["risk"]) == ("read", "write")
    assert read["outcome"] == write["outcome"] == "denied"
    assert read["decision"] == write["decision"] == "deny"
    assert read["by"] == "toolboxd"


def test_a_caller_without_names(start):
    _, caller, file = start()
    caller.call("ovos.tools.invoke", {"name": "open", "args": {"value": 1}}, {"source": 5})
    caller.call("ovos.tools.invoke", {"name": "open", "args": {"value": 1}}, {"source": "x" * 9000})
    line, long = lines(file, 2)
    assert line["source"] is None and line["session_id"] is None
    assert line["call_id"] and line["call_id"] != long["call_id"]
    assert long["source"] == "x" * 256


def test_arguments_are_masked(start):
    _, caller, file = start(arguments=True)
    call(caller, "open", value=-1)
    call(caller, "unlock", pin="1234")
    call(caller, "unlock", pin=["1234"])
    opened, unlocked, refused = lines(file, 3)
    assert list(opened) == [*MEMBERS[:12], "arguments", *MEMBERS[12:]]
    assert opened["arguments"] == {"value": -1}
    assert unlocked["arguments"] == {"pin": "***"}
    assert refused["arguments"] is None
    assert "1234" not in file.read_text()
    assert unlocked["fingerprint"] != hashlib.sha256(b'unlock:{"pin":"***"}').hexdigest()[:16]


def test_the_file_is_its_owners(start):
    _, caller, file = start()
    call(caller, "open", value=1)
    lines(file, 1)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("more", [{}, {"arguments": True}])
def test_a_large_file_becomes_the_old_one(start, more):
    _, caller, file = start(max_bytes=4096, **more)
    for value in range(20):
        call(caller, "open", value=value)
    old = file.with_name("audit.log.1")
    until(lambda: caller.call("ovos.tools.status")["audit"]["written"] == 20, EVENT_SECONDS, "20 lines")
    before = old.read_text().splitlines()
    texts = file.read_text().splitlines()
    assert len(before) + len(texts) == 20 and before and texts
    assert old.stat().st_size <= 4096 and old.stat().st_mode & 0o777 == 0o600
    assert is_chain(before + texts)


def test_a_file_that_was_moved_is_left_at_a_hangup(start):
    service, caller, file = start()
    call(caller, "open", value=1)
    lines(file, 1)
    moved = file.with_name("moved")
    file.rename(moved)
    call(caller, "open", value=2)
    lines(moved, 2)
    service.daemon.reload_by_signal()
    until(file.exists, EVENT_SECONDS, "a new file")
    call(caller, "open", value=3)
    lines(file, 1)
    assert is_chain(moved.read_text().splitlines() + file.read_text().splitlines())


def test_a_torn_line_is_cut_off_at_the_start(start, tmp_path):
    file = tmp_path / "audit.log"
    whole = '{"time":"2026-11-23T10:00:00.000Z","prev":""}\n'
    file.write_text(whole + '{"time":"2026-11-2')
    service, caller, _ = start(file=file)
    call(caller, "open", value=1)
    lines(file, 2)
    assert file.read_text().startswith(whole) and is_chain(file.read_text().splitlines())
    assert "ended within a line, whose 18 bytes were cut off" in service.daemon.log()


def test_a_full_disk_costs_no_call(start):
    service, caller, _ = start(file="/dev/full")
    for _ in range(3):
        assert call(caller, "open", value=-1)["result"] == {"result": 1}
    until(lambda: caller.call("ovos.tools.status")["audit"]["lost"] == 3, EVENT_SECONDS, "3 lost lines")
    status = caller.call("ovos.tools.status")["audit"]
    assert status == {"file": "/dev/full", "written": 0, "lost": 3,
                      "error": "No space left on device"}
    said = "The audit log /dev/full cannot be written: No space left on device"
    assert service.daemon.log().count(said) == 1
    done = toolboxctl("status", bus=service.url, home=service.daemon.home / "ctl")
    assert done.returncode == 0
    assert "the audit log /dev/full lacks 3 lines: No space left on device" in done.stderr


def test_a_disk_that_hangs_costs_no_call(start, tmp_path):
    """A FIFO that nobody reads is a disk that hangs when it is full."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    service, caller, _ = start(file=fifo)
    for _ in range(400):
        assert call(caller, "open", value=-1)["result"] == {"result": 1}
    status = caller.call("ovos.tools.status")["audit"]
    assert 0 < status["written"] < 400


def test_the_file_may_change_at_a_reload(start, tmp_path):
    service, caller, file = start()
    call(caller, "open", value=1)
    lines(file, 1)
    configuration = service.daemon.home / "config" / "mycroft" / "mycroft.conf"
    text = configuration.read_text()
    configuration.write_text(text.replace("audit.log", "other.log"))
    caller.call("ovos.tools.reload")
    call(caller, "open", value=2)
    lines(tmp_path / "other.log", 1)
    lines(file, 1)
    configuration.write_text(text.replace('"file"', '"flie"'))
    assert caller.call("ovos.tools.reload")["configuration"]
    call(caller, "open", value=3)
    lines(tmp_path / "other.log", 2)


def test_lines_that_wait_are_written_at_the_end(start):
    service, caller, file = start()
    for value in range(50):
        call(caller, "open", value=value)
    service.daemon.end()
    lines(file, 50)



# --- audit.required

def test_a_required_line_is_written_before_the_call(start):
    _, caller, file = start(required=True)
    assert call(caller, "open", value=-1)["result"] == {"result": 1}
    assert "result" in call(caller, "absolute", value=-1)
    begun, ended = lines(file, 2)
    assert begun["outcome"] is None and begun["duration_ms"] is None and begun["decision"] is None
    assert ended["outcome"] == "ok" and ended["decision"] == "allow"
    assert begun["call_id"] == ended["call_id"] == "id-open"
    assert begun["fingerprint"] == ended["fingerprint"]
    caller.call("ovos.tools.invoke", {"name": "open", "args": {"value": 1}}, WHO)
    ids = [one["call_id"] for one in lines(file, 4)[2:]]
    assert ids[0] == ids[1] != "id-open"
    assert is_chain(file.read_text().splitlines())


def test_a_required_line_that_cannot_be_written_refuses_its_call(start):
    _, caller, _ = start(file="/dev/full", required=True)
    answer = call(caller, "open", value=-1)
    assert answer["code"] == "unavailable" and "audit.required" in answer["error"]
    assert call(caller, "absolute", value=-1)["result"] == {"result": 1}
    assert call(caller, "open", value="x")["code"] == "invalid_arguments"


@pytest.fixture
def disk(tmp_path):
    """A disk that hangs while disk["disk_hangs"] is 1."""
    return BadDay(tmp_path)


def test_a_call_that_waits_for_its_line_holds_no_other(start, disk):
    disk["disk_hangs"] = 1
    _, caller, _ = start(required=True, env=disk.environment())
    mark = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1}}, WHO)
    for _ in range(5):
        assert call(caller, "absolute", value=-1)["result"] == {"result": 1}
    assert not any(one.context.get("mark") == mark and one.type.endswith(".response")
                   for one in caller.seen)
    disk["disk_hangs"] = 0
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"result": 1}


def test_a_call_that_waits_for_its_line_can_be_cancelled(start, disk):
    disk["disk_hangs"] = 1
    _, caller, _ = start(required=True, env=disk.environment())
    mark = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1},
                                             "call_id": "7"}, WHO)
    assert caller.call("ovos.tools.cancel", {"call_id": "7"}, {"source": "hall"})["cancelled"] is False
    assert caller.call("ovos.tools.cancel", {"call_id": "7"}, WHO)["cancelled"] is True
    disk["disk_hangs"] = 0
    assert caller.answer_to("ovos.tools.invoke", mark).data["code"] == "cancelled"


def test_a_wait_for_a_line_ends(start, disk):
    service, caller, log = start(required=True, env=disk.environment())
    # Later: on a busy machine the toolbox takes longer to be loaded.
    write_configuration(service.daemon.home, {"toolboxd": {
        "approval": {"mode": "off"}, "audit": {"file": str(log), "required": True}, "start_timeout_ms": 500}})
    assert caller.call("ovos.tools.reload")["failed"] == []
    disk["disk_hangs"] = 1
    mark = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1}}, WHO)
    assert caller.answer_to("ovos.tools.invoke", mark).data["code"] == "unavailable"
    waiting = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1}}, WHO)
    caller.settle()
    os.kill(service.daemon.daemon_pid(), signal.SIGTERM)
    assert caller.answer_to("ovos.tools.invoke", waiting).data["code"] == "unavailable"
    service.daemon.end()


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/null"), os.mkfifo])
def test_what_keeps_no_line_is_no_required_log(start, tmp_path, make):
    make(tmp_path / "nothing")
    service, caller, _ = start(file=tmp_path / "nothing", required=True)
    assert call(caller, "open", value=-1)["code"] == "unavailable"
    assert "is no regular file, which audit.required needs" in service.daemon.log()
    assert call(caller, "absolute", value=-1)["result"] == {"result": 1}


REPLACED = "another program has removed it or changed its size"


@pytest.mark.parametrize("change", [lambda file: file.unlink(),
                                    lambda file: file.with_name("other").rename(file),
                                    lambda file: os.truncate(file, 10)])
def test_a_log_that_another_program_replaces_refuses_one_call_where_it_is_required(start, change):
    service, caller, file = start(required=True)
    assert "result" in call(caller, "open", value=1)
    lines(file, 2)
    file.with_name("other").touch()
    change(file)
    answer = call(caller, "open", value=2)
    assert answer["code"] == "unavailable" and "audit.required" in answer["error"]
    assert f"cannot be written: {REPLACED}" in service.daemon.log()
    assert "result" in call(caller, "open", value=3)
    until(lambda: lines_of(file)[-1]["outcome"] == "ok", EVENT_SECONDS, "the last line")
    assert len(lines_of(file)) == 3, "the refusal, and both lines of the call"
    assert lines_of(file)[0]["prev"] != ""


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: os.truncate(file, 0)])
def test_a_log_that_another_program_replaces_goes_on(start, audit, change):
    service, caller, file = start()
    call(caller, "open", value=1)
    before = hashlib.sha256(file.read_bytes()[:-1]).hexdigest() if lines(file, 1) else None
    change(file)
    assert "result" in call(caller, "open", value=2)
    [line] = lines(file, 1)
    assert line["prev"] == before
    until(lambda: f"goes on in the file that is there now: {REPLACED}" in service.daemon.log(),
          EVENT_SECONDS, "a line of the daemon's log")
    assert f"after the line with the hash {before}, which is not here" in audit(
        "verify", str(file)).stdout


def test_a_required_line_comes_before_the_question(start):
    _, caller, file = start(mode="auto", required=True)
    caller.call("ovos.tools.approval.attach", {"seconds": 60}, {"source": "person"})
    mark = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1},
                                             "call_id": "7"}, WHO)
    asked = caller.wait_for(lambda one: one.type == "ovos.tools.approval.requested").data
    begun, = lines(file, 1)
    assert begun["outcome"] is None and begun["fingerprint"] == asked["fingerprint"]
    caller.call("ovos.tools.approval.respond", {"id": asked["id"], "decision": "once"},
                {"source": "person"})
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"result": 1}
    _, decided, ended = lines(file, 3)
    assert (decided["decision"], decided["by"], decided["outcome"]) == ("once", "person", None)
    assert (ended["decision"], ended["by"], ended["outcome"]) == ("once", "person", "ok")


def test_lines_of_a_question_that_is_denied(start):
    _, caller, file = start(mode="auto")
    caller.call("ovos.tools.approval.attach", {"seconds": 60}, {"source": "person"})
    mark = caller.send("ovos.tools.invoke", {"name": "open", "args": {"value": -1}}, WHO)
    asked = caller.wait_for(lambda one: one.type == "ovos.tools.approval.requested").data
    caller.call("ovos.tools.approval.respond", {"id": asked["id"], "decision": "deny"},
                {"source": "person"})
    answer = next(one for one in caller.seen if one.context.get("mark") == mark
                  and one.type == "ovos.tools.invoke.response")
    assert answer.data["code"] == "denied"
    decided, ended = lines(file, 2)
    assert (decided["decision"], decided["by"], decided["outcome"]) == ("deny", "person", None)
    assert (ended["decision"], ended["by"], ended["outcome"]) == ("deny", "person", "denied")

# --- toolboxctl audit

def write_log(path, *members, before=""):
    """Write a chain of lines with these members; the hash of the last."""
    with path.open("w") as file:
        for one in members:
            text = json.dumps({"time": "2020-11-23T10:00:00.000Z", **one, "prev": before},
                              separators=(",", ":"))
            file.write(text + "\n")
            before = hashlib.sha256(text.encode()).hexdigest()
    return before


@pytest.fixture
def audit(tmp_path):
    def run(*args):
        return toolboxctl("audit", *args, home=tmp_path / "ctl")
    return run


def test_verify(audit, tmp_path):
    old, new = tmp_path / "log.1", tmp_path / "log"
    last = write_log(old, {"n": 1}, {"n": 2})
    end = write_log(new, {"n": 3}, before=last)
    done = audit("verify", str(old), str(new))
    assert done.returncode == 0
    assert done.stdout == f"3 lines, the chain is whole from the first line ever; last hash: {end}\n"
    done = audit("verify", str(new))
    assert done.stdout == (f"1 line, the chain is whole after the line with the hash {last}, which is "
                           f"not here; last hash: {end}\n")
    done = audit("verify", str(new), "--json")
    assert json.loads(done.stdout) == {"lines": 1, "after": last, "last": end}


def test_verify_of_a_file_without_lines(audit, tmp_path):
    (tmp_path / "log").touch()
    done = audit("verify", str(tmp_path / "log"))
    assert done.returncode == 0 and done.stdout == "no lines: there is nothing to verify\n"
    done = audit("verify", str(tmp_path / "log"), "--json")
    assert json.loads(done.stdout) == {"lines": 0, "after": "", "last": ""}


@pytest.mark.parametrize("change, line", [
    (lambda lines: [lines[0].replace("1", "7", 1), *lines[1:]], 2),
    (lambda lines: [lines[0], lines[2]], 2),
    (lambda lines: [*lines[:2], lines[1], lines[2]], 3),
    (lambda lines: [lines[1], lines[0], lines[2]], 2),
    (lambda lines: [*lines[:2], lines[2][:-9]], 3),
    (lambda lines: [*lines[:2], "{}\n", lines[2]], 3),
    (lambda lines: ["what\n", *lines], 1)])
def test_verify_names_the_first_line_that_breaks_the_chain(audit, tmp_path, change, line):
    file = tmp_path / "log"
    write_log(file, {"n": 1}, {"n": 2}, {"n": 3})
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    done = audit("verify", str(file))
    assert done.returncode == 1 and f"{file}:{line}: the chain is broken" in done.stderr
    assert done.stdout == ""


def test_verify_of_files_in_a_wrong_order(audit, tmp_path):
    old, new = tmp_path / "log.1", tmp_path / "log"
    write_log(new, {"n": 3}, before=write_log(old, {"n": 1}))
    done = audit("verify", str(new), str(old))
    assert done.returncode == 1 and f"{old}:1: the chain is broken" in done.stderr
    assert audit("verify").returncode == audit("verify", "/nowhere").returncode == 2
    assert audit("one", "two").returncode == 2


def test_the_log_as_a_table(audit, tmp_path):
    file = tmp_path / "log"
    write_log(file, {"tool": "open", "toolbox_id": "doors", "source": "kitchen", "outcome": "ok"},
              {"tool": "close", "toolbox_id": "doors", "source": "hall", "outcome": "denied"})
    done = audit(str(file))
    rows = done.stdout.splitlines()
    assert done.returncode == 0 and len(rows) == 3 and rows[0].split()[0] == "TIME"
    assert "kitchen" in rows[1] and rows[1].rstrip().endswith("ok")
    assert len(audit(str(file), "--tool", "doors/open").stdout.splitlines()) == 2
    assert len(audit(str(file), "--source", "hall").stdout.splitlines()) == 2
    assert audit(str(file), "--source", "h").stdout == ""
    assert audit(str(file), "--tool", "close", "--json").stdout == (
        file.read_text().splitlines(keepends=True)[1])


@pytest.mark.parametrize("since, n", [
    ("2020-11-23T10:00:00Z", 2), ("2020-11-23T10:30:00Z", 1), ("2020-11-23T11:30+01:00", 1),
    ("2020-11-23T12:00:00.5Z", 0), ("2020-11-22", 2), ("10m", 0), ("36500d", 2)])
def test_the_log_since(audit, tmp_path, since, n):
    file = tmp_path / "log"
    write_log(file, {"time": "2020-11-23T10:00:00.000Z"}, {"time": "2020-11-23T11:00:00.000Z"})
    assert audit(str(file), "--since", since, "--json").stdout.count("\n") == n


@pytest.mark.parametrize("since", ["", "m", "10", "10x", "yesterday", "-3d", "99999999999999999999d"])
def test_a_since_that_is_no_time(audit, tmp_path, since):
    write_log(tmp_path / "log", {})
    done = audit(str(tmp_path / "log"), f"--since={since}")
    assert done.returncode == 2 and "--since must be" in done.stderr


def test_the_log_of_the_configuration(audit, tmp_path):
    assert audit().returncode == 2
    file = tmp_path / "log"
    write_configuration(tmp_path / "ctl", {"toolboxd": {"audit": {"file": str(file)}}})
    last = write_log(tmp_path / "log.1", {"tool": "first"})
    write_log(file, {"tool": "second"}, before=last)
    rows = audit().stdout.splitlines()
    assert len(rows) == 3 and "first" in rows[1] and "second" in rows[2]
    file.write_text("what\n")
    done = audit()
    assert done.returncode == 1 and f"{file}:1: is no line of an audit log" in done.stderr
