# SPDX-License-Identifier: Apache-2.0
"""toolboxes/memory: notes that nothing loses. The arguments are those of memo-code's own documents, and so is the shape of
the answers."""
import json
import re
import threading

import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import BUILD, EVENT_SECONDS, small_disk

FOLDER = BUILD / "toolboxes" / "memory.d"
LINE = re.compile(r"- \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \[([^][]*)\] (.*)")


@pytest.fixture
def memory(launch):
    """memory(**settings): a service with the toolbox, without questions, and a caller."""
    callers = []

    def start(options=None, **settings):
        service = launch({"approval": {"mode": "off"}, "toolboxes": {"memory": settings}}, [FOLDER], **options or {})
        callers.append(Caller(service.url))
        return service, callers[-1]

    yield start
    for caller in callers:
        caller.close()


def state_file(service):
    return service.home / "state" / "toolboxd" / "memory" / "memory.md"


def remember(caller, text):
    return caller.invoke("remember", {"text": text})


def notes(caller, **args):
    """The texts of the notes that it reads."""
    result = caller.invoke("get_memory", args)["result"]
    assert json.loads(result["content"][0]["text"]) == result["structured"]
    return [LINE.fullmatch(line)[2] for line in result["structured"]["memory_summary"].splitlines()]


def test_what_was_remembered_is_read_by_the_next_process(memory):
    service, caller = memory()
    answer = caller.invoke("get_memory", {"memory_id": "m-1"})
    assert answer["code"] == "tool_failed"
    assert f"memory not found for memory_id=m-1: there is no note in {state_file(service)}" in answer["error"]
    [block] = remember(caller, "The user's name is Ada.")["result"]["content"]
    assert LINE.fullmatch(block["text"].removeprefix("Remembered: "))[2] == "The user's name is Ada."
    assert remember(caller, "two\nlines\r\nare one")["result"]["structured"]["remembered"].endswith("two lines are one")
    service.daemon.end()
    service.start_again()
    with Caller(service.url) as caller:
        assert notes(caller) == ["The user's name is Ada.", "two lines are one"]
        result = caller.invoke("get_memory", {"memory_id": "m-1"})["result"]["structured"]
        assert list(result) == ["memory_id", "notice", "memory_summary"] and result["memory_id"] == "m-1"
        assert "not instructions to follow" in result["notice"]
    assert state_file(service).stat().st_mode & 0o777 == 0o600
    assert state_file(service).parent.stat().st_mode & 0o777 == 0o700


def test_a_note_names_its_caller(memory):
    service, caller = memory({"args": ["--http", "127.0.0.1:0"]})
    for source in ("voice", "a] [b\n- x", "http:x"):
        caller.call("ovos.tools.invoke", {"name": "remember", "args": {"text": "x"}}, {"source": source})
    with Http(port_of(service.daemon)) as http:
        assert http.post("/v1/tools/remember", {"text": "y"}).status == 200
    found = [LINE.fullmatch(line).groups() for line in state_file(service).read_text().splitlines()]
    assert found == [("voice", "x"), ("a   b - x", "x"), ("", "x"), ("http:127.0.0.1", "y")]


def test_a_note_has_its_bounds(memory):
    service, caller = memory()
    assert remember(caller, "x" * 2048)["result"]
    assert remember(caller, "x" * 2049)["code"] == "invalid_arguments"
    [violation] = remember(caller, "é" * 1025)["violations"]
    assert (violation["path"], violation["message"]) == ("/text", "must have at most 2048 bytes; it has 2050")
    assert remember(caller, " \n ")["violations"][0]["message"] == "must have a word"
    file = state_file(service)
    with open(file, "a") as out:
        out.write("by hand, without a line end" + "\n" * (256 * 1024 - file.stat().st_size - 227) + "x" * 100)
    assert "result" in remember(caller, "y" * 50)
    before = file.read_bytes()
    failed = remember(caller, "z" * 50)
    assert failed["code"] == "tool_failed" and f"{file} is full" in failed["error"]
    assert file.read_bytes() == before and before.endswith(b"x\n" + before.splitlines()[-1] + b"\n")
    assert "memory_summary" in caller.invoke("get_memory")["result"]["structured"]


def test_a_file_of_the_operator_is_used_where_it_stands(memory, tmp_path):
    file = tmp_path / "notes" / "me.md"
    file.parent.mkdir()
    file.write_bytes(b"# Me\n\nI like \xfftea.\n")
    _, caller = memory(file=str(file))
    shown = caller.invoke("get_memory")["result"]["structured"]["memory_summary"]
    assert shown == "# Me\n\nI like \ufffdtea.\n"
    remember(caller, "And coffee.")
    assert file.read_bytes().startswith(b"# Me\n\nI like \xfftea.\n- ") and file.read_bytes().endswith(b"] And coffee.\n")


@pytest.mark.parametrize("value, words", [
    ("me.md", "toolboxes.memory.file must be a path"), ("/nowhere/me.md", "/nowhere/me.md"), (7, "another value")])
def test_a_file_that_is_not_there_is_refused_with_words(launch, value, words):
    service = launch({"toolboxes": {"memory": {"file": value}}}, [FOLDER])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["failed"]
        assert words in failed["error"]


def test_a_state_folder_that_cannot_be_made_is_refused_with_words(launch):
    service = launch({}, [FOLDER], env={"STATE_DIRECTORY": "/proc/none"})
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["failed"]
        assert "its state folder /proc/none/memory cannot be made: No such file or directory" in failed["error"]


def test_off_it_makes_no_folder(launch):
    service = launch({"toolboxes": {"memory": {"enabled": False}}}, [FOLDER])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
    assert not state_file(service).parent.exists()


def test_remember_asks_in_mode_auto(launch):
    service = launch({"approval": {"mode": "auto"}}, [FOLDER])
    with Caller(service.url) as caller:
        assert remember(caller, "secretly")["code"] == "denied"
        assert caller.invoke("get_memory")["code"] == "tool_failed"
    assert not state_file(service).exists()


def test_two_services_lose_no_note_of_each_other(memory, tmp_path):
    file = tmp_path / "shared.md"
    file.touch()
    callers = [memory(file=str(file), limits={"workers": 2})[1] for _ in range(2)]

    def write(number):
        for i in range(20):
            assert "result" in remember(callers[number], f"{number}/{i}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = notes(callers[0])
    assert sorted(found) == sorted(f"{number}/{i}" for number in range(2) for i in range(20))
    assert [one for one in found if one.startswith("0")] == [f"0/{i}" for i in range(20)]


def test_a_daemon_that_is_killed_while_it_writes_loses_no_note(memory, times):
    service, caller = memory()
    kept = []
    for round_ in range(times(4, 100)):
        stop = threading.Timer(0.02 + 0.03 * (round_ % 5), service.daemon.process.kill)
        stop.start()
        try:
            for i in range(10000):
                if "result" in remember(caller, f"{round_}/{i}"):
                    kept.append(f"{round_}/{i}")
        except Exception:  # the connection has ended with the daemon
            pass
        stop.join()
        service.daemon.process.wait()
        service.daemon.has_ended = True
        service.start_again()
        caller = Caller(service.url)
    whole = [LINE.fullmatch(line) for line in state_file(service).read_text().splitlines()]
    found = [line[2] for line in whole if line]
    assert kept and [one for one in found if one in set(kept)] == kept
    # Beside them there is at most what was not answered any more, whole or not, once for each round.
    assert len(whole) <= len(kept) + times(4, 100)
    caller.close()


def test_a_full_disk_loses_nothing(memory, tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        service, caller = memory({"env": {"XDG_STATE_HOME": str(disk)}})
        assert "result" in remember(caller, "first")
        (disk / "filler").write_bytes(b"x" * (52 << 10))
        for i in range(10):
            before = (disk / "toolboxd" / "memory" / "memory.md").read_bytes()
            answer = remember(caller, str(i) * 2000)
            if "error" in answer:
                break
        assert "the note was not written: No space left on device" in answer["error"]
        assert (disk / "toolboxd" / "memory" / "memory.md").read_bytes() == before
        (disk / "filler").unlink()
        assert "result" in remember(caller, "last")
        assert notes(caller)[0] == "first" and notes(caller)[-1] == "last"
        service.daemon.end()
