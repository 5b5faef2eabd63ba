# SPDX-License-Identifier: Apache-2.0
"""What goes on beside a call: cancelling it, watching it, several hosts for one toolbox."""
import json
import time

import manifests
import pytest
from caller import OURS, Caller
from processes import EVENT_SECONDS, until
from test_approval import Person

INVOKE = "ovos.tools.invoke"
STARTED, COMPLETED = "ovos.tools.call.started", "ovos.tools.call.completed"


@pytest.fixture
def own(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        yield caller, service


def wait_call(caller, call_id, source="asker", seconds=15):
    return caller.send(INVOKE, {"name": "wait", "args": {"seconds": seconds}, "call_id": call_id},
                       {"source": source})


def test_a_call_that_runs_is_cancelled(own):
    caller, service = own
    caller.invoke("absolute", {"value": 1})
    before = service.daemon.hosts()
    mark = wait_call(caller, "one")
    answer = caller.call("ovos.tools.cancel", {"call_id": "one"}, {"source": "asker"})
    assert answer == {"call_id": "one", "cancelled": True}
    ended = caller.answer_seen_to(INVOKE, mark)
    assert ended.data["code"] == "cancelled" and ended.data["call_id"] == "one"
    assert ended.data["error"].startswith("RuntimeError: Call 'one' was cancelled")
    assert caller.invoke("absolute", {"value": -2})["result"] == {"result": 2}
    until(lambda: not set(before) & set(service.daemon.hosts()), EVENT_SECONDS, "the host of the call gone")


def test_a_definition_has_the_deadline_of_its_tool(launch, tmp_path):
    manifests.toolbox(tmp_path / "a.d", "own", [manifests.labs(timeout_ms=700)],
                      limits={"timeout_ms": 900})
    manifests.toolbox(tmp_path / "a.d", "box", [manifests.labs("of_box")],
                      limits={"timeout_ms": 900})
    manifests.toolbox(tmp_path / "a.d", "rest", [manifests.labs("of_all")])
    (tmp_path / "a.d" / "sent.json").write_text(json.dumps({"kind": "bus", "risk": "read", "tools": [
        {"name": "ask", "description": "Ask.", "argument_schema": {"type": "object"},
         "bus": {"topic": "a.question", "reply": "an.answer"}}]}))
    service = launch({"timeout_ms": 1100, "start_timeout_ms": 4000}, [tmp_path / "a.d"])
    with Caller(service.url) as caller:
        for name, deadline in ("absolute", 700), ("of_box", 900), ("of_all", 1100):
            which = {"name": name, "deadline": True}
            definition = caller.call("ovos.tools.get", which)
            assert (definition["timeout_ms"], definition["start_timeout_ms"]) == (deadline, 4000)
        assert "start_timeout_ms" not in caller.call("ovos.tools.get", {"name": "ask", "deadline": True}), "no process"
        assert not any({"timeout_ms", "start_timeout_ms"} & set(tool) for tool in caller.call("ovos.tools.list")["tools"])


def test_a_call_that_waits_is_cancelled(own):
    caller, _ = own
    caller.invoke("absolute", {"value": 1})
    caller.send(INVOKE, {"name": "wait", "args": {"seconds": 1}})
    mark = wait_call(caller, "waiting")
    caller.send("ovos.tools.cancel", {"call_id": "waiting"}, {"source": "asker"})
    assert caller.answer_to(INVOKE, mark).data["code"] == "cancelled"


def test_every_call_of_the_id_is_hit_and_no_other(own):
    caller, _ = own
    caller.invoke("absolute", {"value": 1})
    hit = [wait_call(caller, "many") for _ in range(3)]
    spared = [wait_call(caller, "other", seconds=0), wait_call(caller, "many", "else", seconds=0)]
    caller.send("ovos.tools.cancel", {"call_id": "many"}, {"source": "asker"})
    answers = {}
    while len(answers) < 5:
        message = caller.wait_for(lambda one: one.type == INVOKE + ".response")
        answers[message.context["mark"]] = message.data
    assert [answers[mark].get("code") for mark in hit] == ["cancelled"] * 3
    assert [answers[mark].get("result") for mark in spared] == [{"result": 0}] * 2


@pytest.mark.parametrize("call_id, source", [("nobody", "asker"), ("one", "somebody else")])
def test_nothing_to_cancel(own, call_id, source):
    caller, _ = own
    caller.invoke("absolute", {"value": 1})
    mark = wait_call(caller, "one", seconds=1)
    answer = caller.call("ovos.tools.cancel", {"call_id": call_id}, {"source": source})
    assert answer == {"call_id": call_id, "cancelled": False}
    ended = caller.answer_seen_to(INVOKE, mark)
    assert ended.data["result"] == {"result": 0}


@pytest.mark.parametrize("data", [{}, {"call_id": None}, {"call_id": 5}, {"call_id": "x" * 129}])
def test_a_cancel_without_a_call_id(caller, data):
    answer = caller.call("ovos.tools.cancel", data)
    assert answer["code"] == "bad_request" and answer["field"] == "call_id"


def events(caller):
    return [one for one in caller.settle() if one.type in (STARTED, COMPLETED)]


def test_calls_are_watched_in_pairs(own):
    caller, _ = own
    caller.invoke("absolute", {"value": 1})
    assert events(caller) == []
    assert caller.call("ovos.tools.watch", {"seconds": 60}) == {"seconds": 60}
    caller.invoke("absolute", {"value": -1}, call_id="seen")
    caller.invoke("hang", {"seconds": 60})
    seen = events(caller)
    assert [one.type for one in seen] == [STARTED, COMPLETED] * 2
    for one in seen:
        assert one.context == OURS
        assert one.data["toolbox_id"] == "answers"
    assert seen[0].data["call_id"] == seen[1].data["call_id"] == "seen"
    assert seen[1].data["ok"] is True and seen[1].data["duration_ms"] >= 0
    assert seen[3].data["ok"] is False and "deadline" in seen[3].data["error"]
    assert "result" not in seen[1].data


WHO = {"source": "kitchen", "session": {"session_id": "dinner"}}


@pytest.mark.parametrize("data, toolbox_id, words", [
    ({"name": "nobody"}, None, "Unknown tool: 'nobody'"),
    ({"name": "absolute", "toolbox_id": "nobody"}, None, "Unknown tool: 'absolute'"),
    ({"name": 42}, None, "Unknown tool: '42'"),
    ({}, None, "Missing required field: 'name'"),
    ({"name": "absolute", "args": {"value": "x"}}, "answers", "validation failed"),
    ({"name": "risky", "args": {"value": 1}}, "answers", "PermissionError: "),
])
@pytest.mark.parametrize("call_id", [None, "mine"])
def test_refused_calls_are_watched_in_pairs(own, data, toolbox_id, words, call_id):
    caller, _ = own
    caller.call("ovos.tools.watch", {"seconds": 60})
    error = caller.call(INVOKE, {**data, "call_id": call_id}, WHO)["error"]
    started, completed = events(caller)
    assert (started.type, completed.type) == (STARTED, COMPLETED)
    name = data.get("name", "")
    for event in (started.data, completed.data):
        assert event["name"] == (name if isinstance(name, str) else str(name))
        assert event["toolbox_id"] == toolbox_id
        assert (event["source"], event["session_id"]) == ("kitchen", "dinner")
        assert event["call_id"] == (call_id or started.data["call_id"]) != ""
    assert completed.data["ok"] is False and completed.data["error"] == error and words in error


def test_events_have_the_caller_and_an_id(own):
    caller, _ = own
    caller.call("ovos.tools.watch", {"seconds": 60})
    for context in (WHO, {"source": ["a", "list"], "session": None}):
        caller.call(INVOKE, {"name": "absolute", "args": {"value": -1}}, context)
    seen = [one.data for one in events(caller)]
    ids = [one["call_id"] for one in seen]
    assert ids[0] == ids[1] != ids[2] == ids[3] and all(ids)
    assert [(one["source"], one["session_id"]) for one in seen] == (
        [("kitchen", "dinner")] * 2 + [(None, None)] * 2)


@pytest.mark.parametrize("seconds", [0, 301, "10", None, 1.5])
def test_a_watch_of_no_good_length(caller, seconds):
    answer = caller.call("ovos.tools.watch", {"seconds": seconds})
    assert answer["code"] == "bad_request" and answer["field"] == "seconds"


def test_a_watch_ends(own):
    caller, _ = own
    caller.call("ovos.tools.watch", {"seconds": 1})

    def is_over():
        caller.invoke("absolute", {"value": 1})
        return not events(caller)

    until(is_over, EVENT_SECONDS, "no events any more")


def test_results_are_told_where_the_configuration_says_so(launch):
    service = launch({"events": {"calls": True, "results": True}})
    with Caller(service.url) as caller:
        caller.invoke("add", {"a": 3, "b": 4})
        assert [one.data.get("result") for one in events(caller)] == [None, {"result": 7}]


@pytest.fixture
def open_book(launch, tmp_path):
    """A daemon whose events have arguments, and a caller."""
    manifests.toolbox(tmp_path / "toolbox.d", "vault", [
        manifests.tool("unlock", "strcasecmp", [manifests.text("pin"), manifests.text("door")], "i32", argument_schema={
            "type": "object", "required": ["pin", "door"], "additionalProperties": False,
            "properties": {"pin": {"type": "string", "writeOnly": True}, "door": {"type": "string"}}}),
        manifests.labs(),
        manifests.labs("risky", risk="execute")])
    service = launch({"events": {"calls": True, "arguments": True}, "result_max_chars": 100}, [tmp_path / "toolbox.d"])
    with Person(service.url) as caller:
        yield caller


def begun(caller, name, args):
    """The `args` of the event that a call of this tool has begun, or no such key."""
    caller.invoke(name, args)
    started, completed = events(caller)
    assert "args" not in completed.data
    return {key: value for key, value in started.data.items() if key == "args"}


def test_arguments_are_told_where_the_configuration_says_so(open_book):
    assert begun(open_book, "absolute", {"value": -3}) == {"args": {"value": -3}}
    assert begun(open_book, "absolute", '{"value": -4}') == {"args": {"value": -4}}


def test_arguments_are_not_told_otherwise(launch):
    with Caller(launch({"events": {"calls": True, "results": True}}).url) as caller:
        assert begun(caller, "add", {"a": 3, "b": 4}) == {}


def test_arguments_in_events_have_no_secrets(open_book):
    assert begun(open_book, "unlock", {"pin": "1234", "door": "front"}) == {"args": {"pin": "***", "door": "front"}}


def test_arguments_in_events_are_cut_like_results(open_book):
    told, = begun(open_book, "unlock", {"pin": "1234", "door": "f" * 1000}).values()
    assert told["truncated"] and told["max_chars"] == 100 and told["actual_chars"] == 1000 + len('{"pin":"***","door":""}')
    assert told["hint"].startswith("The arguments have") and told["head"].startswith('{"pin":"***","door":"ffff')
    assert len(told["head"]) == 100


def test_a_refused_call_tells_good_arguments_alone(open_book):
    """The secrets of others are not known: the schema does not say where they are."""
    assert begun(open_book, "nope", {"value": 1}) == {}
    assert begun(open_book, "absolute", {"value": "x"}) == {}
    assert begun(open_book, "unlock", {"pin": "1234", "door": 5}) == {}
    assert begun(open_book, "risky", {"value": 1}) == {"args": {"value": 1}}


def test_a_call_that_was_approved_tells_its_arguments(open_book):
    open_book.attach()
    for decision in ("once", "deny"):
        mark = open_book.send(INVOKE, {"name": "risky", "args": {"value": 7}})
        open_book.respond(open_book.question()["id"], decision)
        if not any(one.type == INVOKE + ".response" and one.context.get("mark") == mark for one in open_book.seen):
            open_book.answer_to(INVOKE, mark)
        started, completed = events(open_book)
        assert started.data["args"] == {"value": 7} and completed.data["ok"] == (decision == "once")


def test_several_hosts_of_one_toolbox_work_side_by_side(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "many", [manifests.sleeper("wait", timeout_ms=600000)],
                      limits={"workers": 4})
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        marks = [wait_call(caller, "all", seconds=600) for _ in range(4)]

        def side_by_side():
            many, = caller.call("ovos.tools.status")["toolboxes"]
            return (many["hosts"], many["running"], many["queue"]) == (4, 4, 0)

        until(side_by_side, EVENT_SECONDS, "four calls running")
        until(lambda: len(service.daemon.hosts()) == 4, EVENT_SECONDS, "the host that checked the library gone")
        caller.send("ovos.tools.cancel", {"call_id": "all"}, {"source": "asker"})
        for _ in marks:
            assert caller.wait_for(lambda one: one.type == INVOKE + ".response").data["code"] == "cancelled"


def test_a_tool_that_is_not_parallel_runs_alone(launch, tmp_path):
    manifests.toolbox(tmp_path / "toolbox.d", "many", [
        manifests.sleeper("wait", timeout_ms=9000),
        manifests.sleeper("alone", timeout_ms=9000, parallel=False)], limits={"workers": 4})
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        start = time.monotonic()
        for name in ("wait", "alone", "wait"):
            caller.send(INVOKE, {"name": name, "args": {"seconds": 1}})
        names = [caller.wait_for(lambda one: one.type == INVOKE + ".response").data["name"]
                 for _ in range(3)]
        assert time.monotonic() - start > 1.9
        assert sorted(names) == ["alone", "wait", "wait"]
