# SPDX-License-Identifier: Apache-2.0
"""The audit log: which calls have a line, that the lines are a chain, and that no call waits for
them."""
import hashlib
import json
import os
import re

import manifests
import pytest
from caller import Caller
from processes import SLOWNESS, until

MEMBERS = ["time", "call_id", "source", "session_id", "door", "tool", "toolbox_id", "risk", "profile",
           "decision", "by", "fingerprint", "duration_ms", "outcome", "prev"]
WHO = {"source": "kitchen", "session": {"session_id": "dinner"}}


@pytest.fixture
def start(launch, tmp_path):
    """start(**audit): a daemon with an audit log, a caller, and the log's path."""
    callers = []

    def begin(mode="off", file=None, folder=None, **audit):
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
        service = launch({"approval": {"mode": mode}, "audit": {"file": str(file), **audit}},
                         [boxes])
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
    until(lambda: file.exists() and file.read_bytes().count(b"\n") >= n, 10 * SLOWNESS,
          f"{n} lines")
    texts = file.read_text().splitlines()
    assert len(texts) == n, texts
    return [json.loads(one) for one in texts]


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


def test_a_large_file_becomes_the_old_one(start):
    _, caller, file = start(max_bytes=4096)
    for value in range(20):
        call(caller, "open", value=value)
    old = file.with_name("audit.log.1")
    until(lambda: caller.call("ovos.tools.status")["audit"]["written"] == 20, 10, "20 lines")
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
    until(file.exists, 10 * SLOWNESS, "a new file")
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
    until(lambda: caller.call("ovos.tools.status")["audit"]["lost"] == 3, 10, "3 lost lines")
    status = caller.call("ovos.tools.status")["audit"]
    assert status == {"file": "/dev/full", "written": 0, "lost": 3,
                      "error": "No space left on device"}
    said = "The audit log /dev/full cannot be written: No space left on device"
    assert service.daemon.log().count(said) == 1


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
