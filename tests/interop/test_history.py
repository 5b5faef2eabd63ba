# SPDX-License-Identifier: Apache-2.0
"""Every call can be seen and ended: the list of calls, its bounds, the lines of the log about them,
and cancelling by toolboxd's own id."""
import datetime
import json
import re
import time

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, asan_options, at_most, resident_kb, until
from test_approval import Person
from test_plugins import plugged
from test_scarcity import BadDay

CALLS, CANCEL, INVOKE = "ovos.tools.calls", "ovos.tools.cancel", "ovos.tools.invoke"
ALICE = {"source": "alice", "session": {"session_id": "s1"}}
KEPT = 1000


def crashy(folder):
    """A toolbox whose `crash` prints a line and dies."""
    return manifests.toolbox(folder, "crashy", [
        manifests.tool("crash", "__assert_fail", [
            manifests.text("what"), manifests.text("file", value="f"),
            manifests.integer("line", "u32", value=7), manifests.text("where", value="w")], "void"),
        manifests.tool("quiet", "raise", [manifests.integer("signal", "i32", value=11)], "i32")])


@pytest.fixture
def start(launch, tmp_path):
    """start(configuration, …): a daemon with answers and crashy, and a caller."""
    callers = []

    def begin(configuration=None, **options):
        folder = tmp_path / "toolbox.d"
        manifests.answers(folder)
        crashy(folder)
        service = launch({"crash_limit": 0, **(configuration or {})}, [folder], **options)
        callers.append(Caller(service.url))
        return service, callers[-1]

    yield begin
    for one in callers:
        one.close()


def calls(caller, context=None, **fields):
    return caller.call(CALLS, fields, context)["calls"]


def invoke(caller, name, args=None, context=ALICE, **fields):
    return caller.call(INVOKE, {"name": name, "args": args or {}, **fields}, context)


def begin(caller, name, args, context=ALICE, **fields):
    return caller.send(INVOKE, {"name": name, "args": args, **fields}, context)


def running(caller, n=1):
    """The calls in flight, as soon as there are so many."""
    return until(lambda: len(found := calls(caller, state="running")) >= n and found,
                 EVENT_SECONDS, f"{n} calls in flight")


# ── what is listed ─────────────────────────────────────────────────────────────────────────────


def test_a_call_is_listed_when_it_is_over(start):
    _, caller = start()
    before = datetime.datetime.now(datetime.timezone.utc)
    invoke(caller, "absolute", {"value": -3}, call_id="mine")
    one, = calls(caller)
    assert re.fullmatch("[0-9a-f]{6}", one["id"])
    assert one["duration_ms"] > 0
    started = datetime.datetime.fromisoformat(one["started"].replace("Z", "+00:00"))
    assert abs((started - before).total_seconds()) < at_most(5)
    del one["id"], one["duration_ms"], one["started"]
    assert one == {"call_id": "mine", "name": "absolute", "toolbox_id": "answers", "source": "alice",
                   "session_id": "s1", "door": "bus", "state": "done"}


@pytest.mark.parametrize("name, args, code, text, toolbox", [
    ("nope", {}, "unknown_tool", "Unknown tool: 'nope'", None),
    ("absolute", {"value": "x"}, "invalid_arguments", "/value: must", "answers"),
    ("not_there", {}, "tool_failed", "", "answers"),
    ("small", {"value": 11}, "invalid_output", "/result", "answers"),
    ("hang", {"seconds": 9}, "timeout", "deadline of 300 ms", "answers"),
    ("risky", {"value": 1}, "denied", "Tool 'risky' in ToolBox 'answers' has the risk", "answers"),
    ("quiet", {}, "host_crashed", "SIGSEGV", "crashy"),
    ("crash", {"what": "about to die"}, "host_crashed", "SIGABRT; stderr: \"", "crashy"),
])
def test_a_call_that_fails_is_listed_with_its_reason(start, name, args, code, text, toolbox):
    service, caller = start({"approval": {"mode": "auto"}})
    invoke(caller, "absolute", {"value": 1})
    assert invoke(caller, name, args)["code"] == code
    one, other = calls(caller)
    assert other["name"] == "absolute" and other["state"] == "done" and "code" not in other
    assert one["state"] == "failed" and one["code"] == code
    assert (one["name"], one["toolbox_id"], one["source"]) == (name, toolbox, "alice")
    assert one["text"].startswith(text) and "Error: " not in one["text"]
    if name == "crash":
        assert "about to die" in one["text"]


def test_calls_that_are_refused_for_their_number_are_listed(start):
    _, caller = start({"callers": [{"match": {"source": "alice"}, "in_flight": 1}]})
    mark = begin(caller, "wait", {"seconds": 1})
    running(caller)
    assert invoke(caller, "absolute", {"value": 1})["code"] == "busy"
    assert invoke(caller, "absolute", {"value": 1}, call_id=5)["code"] == "bad_request"
    caller.answer_to(INVOKE, mark)
    codes = [one.get("code") for one in calls(caller)]
    assert codes == [None, "bad_request", "busy"]


def test_calls_in_flight_are_listed_with_what_they_wait_for(start):
    service, caller = start({"approval": {"mode": "auto"}})
    invoke(caller, "absolute", {"value": 1})
    with Person(service.url) as person:
        person.attach()
        first = begin(caller, "wait", {"seconds": 20})
        begin(caller, "wait", {"seconds": 20})
        begin(caller, "risky", {"value": 1})
        person.question()
        asked, waits, runs = running(caller, 3)
        assert (asked["name"], asked["text"]) == ("risky", "waits for a person's approval")
        assert waits["text"] == "waits for its turn" and "text" not in runs
        for one in (asked, waits, runs):
            assert one["state"] == "running" and "code" not in one
            assert caller.call(CANCEL, {"id": one["id"]}) == {"id": one["id"], "cancelled": True}
        assert [one.get("code") for one in calls(caller)] == ["cancelled"] * 3 + [None]
        del first


def test_progress_is_listed(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        mark = begin(caller, "later", {"steps": 100000000})
        one = until(lambda: next((one for one in running(caller) if "progress" in one), None),
                    EVENT_SECONDS, "progress")
        assert 0 < one["progress"] < 1 and one["text"] == "stepping"
        caller.call(CANCEL, {"id": one["id"]})
        one, = calls(caller)
        assert one["state"] == "failed" and one["progress"] > 0 and "text" not in one
        del mark


def test_filters(start):
    _, caller = start()
    invoke(caller, "absolute", {"value": 1})
    invoke(caller, "absolute", {"value": "x"}, {"source": "bob\"\n"})
    invoke(caller, "quiet")
    mark = begin(caller, "wait", {"seconds": 20})
    one, = running(caller)

    def names(**fields):
        return [found["name"] for found in calls(caller, **fields)]

    assert names() == ["wait", "quiet", "absolute", "absolute"]
    assert names(state="done") == ["absolute"] and names(state="failed") == ["quiet", "absolute"]
    assert names(name="absolute") == ["absolute", "absolute"] and names(name="absolut") == []
    assert names(toolbox_id="crashy") == ["quiet"]
    assert names(source="bob\"\n") == ["absolute"] and names(source="bob") == []
    assert names(limit=2) == ["wait", "quiet"] and names(limit=1, state="failed") == ["quiet"]
    assert names(since_s=0) == ["wait"] and len(names(since_s=1e30)) == 4
    assert names(name=None, state=None, source=None, since_s=None, limit=None) == names()
    caller.call(CANCEL, {"id": one["id"]})
    del mark


@pytest.mark.parametrize("fields, field", [
    ({"state": "over"}, "state"), ({"state": 1}, "state"), ({"limit": 0}, "limit"),
    ({"limit": 1001}, "limit"), ({"limit": 1.5}, "limit"), ({"since_s": -1}, "since_s"),
    ({"since_s": "1"}, "since_s"), ({"name": 5}, "name"), ({"source": []}, "source"),
    ({"toolbox_id": 1}, "toolbox_id")])
def test_bad_filters_are_refused(caller, fields, field):
    answer = caller.call(CALLS, fields)
    assert answer["code"] == "bad_request" and answer["field"] == field


def test_a_status_or_a_check_is_no_call(start):
    _, caller = start()
    caller.call("ovos.tools.validate", {"name": "absolute", "args": {"value": "x"}})
    caller.call("ovos.tools.get", {"name": "nope"})
    caller.call("ovos.persona.tools.call", {"toolbox_id": "answers", "name": "absolute",
                                            "kwargs": {"value": 1}}, ALICE)
    assert [one["name"] for one in calls(caller)] == ["absolute"]


# ── who sees them ──────────────────────────────────────────────────────────────────────────────


def untimed(found):
    return [{key: value for key, value in one.items() if key not in ("id", "started", "duration_ms")}
            for one in found]


def seen_by_kid(service):
    """What a caller with a profile is answered, after calls by itself and by others."""
    kid = {"source": "kid"}
    with Caller(service.url) as caller:
        invoke(caller, "absolute", {"value": 1})
        invoke(caller, "echo", {"text": "a"})
        invoke(caller, "echo", {"text": "a"}, kid)
        invoke(caller, "nope", {}, kid)
        invoke(caller, "nope", {})
        invoke(caller, "quiet")
        mark = begin(caller, "hang", {"seconds": 9})
        other = begin(caller, "wait", {"seconds": 1})
        found = [calls(caller, kid), calls(caller, kid, state="failed"),
                 calls(caller, kid, name="echo"), calls(caller, kid, toolbox_id="answers"),
                 calls(caller, kid, limit=1), calls(caller, kid, source="alice"),
                 [caller.call(CANCEL, {"id": one["id"]}, kid)["cancelled"]
                  for one in calls(caller, state="running")]]
        assert len(calls(caller)) == 8
        del mark, other
    return [untimed(one) if one and isinstance(one[0], dict) else one for one in found]


def test_a_caller_sees_only_calls_of_its_tools(start):
    service, caller = start({
        "profiles": {"kids": {"tool_names": ["absolute"]}},
        "access": [{"match": {"source": "kid"}, "profile": "kids"}]})
    kid = {"source": "kid"}
    everything, failed, echo, toolbox, first, alices, cancelled = seen_by_kid(service)
    assert [(one["name"], one["source"]) for one in everything] == [
        ("nope", "kid"), ("echo", "kid"), ("absolute", "alice")]
    assert [one["code"] for one in failed] == ["unknown_tool", "unknown_tool"]
    assert [one["name"] for one in echo] == ["echo"] and echo[0]["toolbox_id"] is None
    assert [one["name"] for one in toolbox] == ["absolute"] and [one["name"] for one in alices] == [
        "absolute"]
    assert [one["name"] for one in first] == ["nope"]
    # A call of a tool that it may not use is no call to it.
    assert cancelled == [False, False]
    # What a profile is asked for narrows in the same way.
    assert [one["name"] for one in calls(caller, profile="kids")] == ["absolute"]
    assert [one["name"] for one in calls(caller, ALICE, profile="kids")] == [
        "nope", "absolute"]
    assert calls(caller, kid, profile="nobody's") == calls(caller, kid)[:2]


def test_a_hidden_tool_changes_no_byte_of_the_answer(start, launch, tmp_path):
    """A service that has the tool, hidden, beside one that never had it."""
    hiding, _ = start({"profiles": {"kids": {"tool_names": ["absolute"]}},
                       "access": [{"match": {"source": "kid"}, "profile": "kids"}]})
    folder = tmp_path / "less.d"
    manifests.toolbox(folder, "answers", [manifests.labs("absolute")])
    lacking = launch({"profiles": {"kids": {"tool_names": ["absolute"]}},
                      "access": [{"match": {"source": "kid"}, "profile": "kids"}]}, [folder])
    answers = []
    for service in (hiding, lacking):
        with Caller(service.url) as caller:
            invoke(caller, "echo", {"text": "a"}, {"source": "kid"})
            invoke(caller, "echo", {"text": "a"}, {"source": "else"})
            invoke(caller, "absolute", {"value": 1})
            mark = caller.send(CALLS, {}, {"source": "kid", "mark": "same"})
            text = caller.wait_for(lambda one: one.type == CALLS + ".response").text
            answers.append(re.sub(r'"(id|started)":"[^"]*"|"duration_ms":[0-9.e-]+', "", text))
            del mark
    assert answers[0] == answers[1]
    assert answers[0].count('"name"') == 2


# ── cancelling ─────────────────────────────────────────────────────────────────────────────────


def test_a_call_without_a_call_id_is_cancelled_by_anyone_who_may_use_it(start):
    _, caller = start()
    mark = begin(caller, "wait", {"seconds": 20})
    one, = running(caller)
    assert caller.call(CANCEL, {"id": one["id"]}, {"source": "operator"}) == {
        "id": one["id"], "cancelled": True}
    ended = caller.answer_seen_to(INVOKE, mark)
    assert ended.data["code"] == "cancelled"
    assert ended.data["error"] == f"RuntimeError: Call '{one['id']}' was cancelled"
    assert caller.call(CANCEL, {"id": one["id"]})["cancelled"] is False
    assert caller.call(CANCEL, {"id": ""})["cancelled"] is False


def test_a_request_that_waits_for_its_line_is_listed_and_cancelled(start, tmp_path):
    disk = BadDay(tmp_path)
    disk["disk_hangs"] = 1
    _, caller = start({"audit": {"file": str(tmp_path / "audit"), "required": True},
                       "approval": {"mode": "off"}}, env=disk.environment())
    mark = begin(caller, "risky", {"value": 1})
    one, = calls(caller)
    assert (one["state"], one["name"]) == ("running", "risky")
    assert one["text"] == "waits for its line in the audit log"
    assert caller.call(CANCEL, {"id": one["id"]})["cancelled"] is True
    disk["disk_hangs"] = 0
    assert caller.answer_to(INVOKE, mark).data["code"] == "cancelled"
    over, = calls(caller)
    assert (over["id"], over["code"]) == (one["id"], "cancelled")


@pytest.mark.parametrize("data, field", [({}, "call_id"), ({"id": 5}, "id"),
                                         ({"id": "a", "call_id": "b"}, "id")])
def test_a_cancel_names_one_call(caller, data, field):
    answer = caller.call(CANCEL, data)
    assert answer["code"] == "bad_request" and answer["field"] == field


def test_ids_are_all_different(start):
    _, caller = start()
    for _ in range(300):
        invoke(caller, "absolute", {"value": 1})
    ids = [one["id"] for one in calls(caller, limit=1000)]
    assert len(set(ids)) == 300
    # The first digits differ already.
    assert len({one[:2] for one in ids}) > 100


# ── events and the log ─────────────────────────────────────────────────────────────────────────


def test_events_have_the_id_of_the_list(start):
    _, caller = start({"events": {"calls": True},
                       "callers": [{"match": {"source": "bob"}, "per_minute": 1, "burst": 1}]})
    invoke(caller, "absolute", {"value": 1})
    invoke(caller, "nope")
    invoke(caller, "absolute", {"value": 1}, {"source": "bob"})
    assert invoke(caller, "absolute", {"value": 1}, {"source": "bob"})["code"] == "busy"
    events = [one for one in caller.settle() if one.type.startswith("ovos.tools.call.")]
    listed = calls(caller)[::-1]
    assert [one.type.rsplit(".")[-1] for one in events] == ["started", "completed"] * 4
    assert [one.data["id"] for one in events[::2]] == [one["id"] for one in listed]
    assert [one.data["id"] for one in events[1::2]] == [one["id"] for one in listed]
    assert [one.data["source"] for one in events[1::2]] == ["alice", "alice", "bob", "bob"]


def lines_about_calls(service):
    return [line.split(" ", 2)[2] for line in service.daemon.log().splitlines() if " Call " in line]


def test_each_failed_call_is_one_line(start):
    service, caller = start({"approval": {"mode": "auto"}})
    invoke(caller, "absolute", {"value": 1})
    invoke(caller, "quiet")
    invoke(caller, "hang", {"seconds": 9})
    invoke(caller, "nope\x1b[2J", {}, {"source": "skill-\u202ex\n\"q\"\u0000"})
    invoke(caller, "risky", {"value": 1}, {})
    quiet, hang, nope, risky = calls(caller)[::-1][1:]
    told = lines_about_calls(service)
    assert re.fullmatch(
        rf"WARN  Call {quiet['id']} crashy/quiet for alice: host_crashed \(SIGSEGV\) after [\d.]+ ms", told[0])
    assert re.fullmatch(rf"WARN  Call {hang['id']} answers/hang for alice: timeout "
                        r"\(deadline of 300 ms\) after 3\d\d\.\d ms|.*after \d{3,}\.\d ms", told[1])
    assert told[2].startswith(f"INFO  Call {nope['id']} ?/nope\\u001b[2J for "
                              "skill-\\u202ex\\n\"q\"\\u0000: unknown_tool (Unknown tool: 'nope")
    assert told[3].startswith(f"WARN  Call {risky['id']} answers/risky for ?: denied (")
    assert len(told) == 4
    assert "its host died" not in service.daemon.log()


def test_every_call_is_a_line_at_debug(start):
    service, caller = start(env={"TOOLBOXD_DEBUG": "1"})
    invoke(caller, "absolute", {"value": 1}, call_id="mine")
    one, = calls(caller)
    told, = lines_about_calls(service)
    assert re.fullmatch(rf"DEBUG Call {one['id']} answers/absolute for alice: ok after [\d.]+ ms; "
                        r"call_id mine, session s1, from the bus", told)


# ── bounds ─────────────────────────────────────────────────────────────────────────────────────


def test_a_flood_of_failing_calls_fills_neither_memory_nor_log(start, times):
    """Names and sources of 60 KB, which nothing may keep."""
    service, caller = start(env=asan_options("quarantine_size_mb=16"))
    long = "x" * 60000
    invoke(caller, "nope")

    def flood(n):
        marks = [begin(caller, long, {}, {"source": long + str(i), "session": {"session_id": long}})
                 for i in range(n)]
        caller.answer_to(INVOKE, marks[-1])
        caller.seen.clear()

    for _ in range(200):
        flood(5)
    before, log_before, begun = resident_kb(service.daemon.pid), len(service.daemon.log()), time.monotonic()
    for _ in range(times(300, 2000)):
        flood(5)
    assert resident_kb(service.daemon.pid) - before < 4096
    found = calls(caller, limit=1000)
    assert len(found) == KEPT and len(json.dumps(found)) < KEPT * 1200
    assert {one["source"][-1] for one in found} == {"…"}
    assert all(len(one["name"]) <= 130 for one in found)
    told = service.daemon.log()
    # At most 20 lines in ten seconds, of at most 130 bytes for each name, however long the calls take.
    assert len(told) - log_before < 20 * 1000 * (2 + (time.monotonic() - begun) / 10)
    assert re.search(r"Call .*more like it", told)
