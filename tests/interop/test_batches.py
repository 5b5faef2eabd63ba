# SPDX-License-Identifier: Apache-2.0
"""Several calls in one request (docs/contract.md, Batches): their order, their ids, and their ends."""
import json
import time

import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, SLOWNESS, until

INVOKE = "ovos.tools.invoke"
TRACE = """
import os, sys, time
trace, name, seconds, beside, gate = sys.argv[1:]
log = open(trace, "a", buffering=1)
log.write("+" + name + "\\n")
while open(trace).read().count("+") < int(beside) or gate and not os.path.exists(gate):
    time.sleep(0.01)
time.sleep(float(seconds))
log.write("-" + name + "\\n")
"""
INPUTS = {"as": {"type": "string"}, "seconds": {"type": "number", "default": 0},
          "beside": {"type": "integer", "default": 0}, "gate": {"type": "string", "default": ""}}


def command(name, risk="read", **more):
    """A tool that notes its beginning and its end as `as`. It takes `seconds`, after so many calls as `beside` says have
    begun, and after the file `gate` is there."""
    return {"name": name, "description": f"Takes a while, at the risk {risk}.", "risk": risk,
            "argument_schema": {"type": "object", "properties": INPUTS, "required": ["as"]},
            "command": {"argv": ["/usr/bin/python3", "-c", TRACE, "{trace}", *(f"{{{name}}}" for name in INPUTS)]}, **more}


def toolbox(folder, trace, stem="slow", **more):
    folder.mkdir(parents=True, exist_ok=True)
    tools = [command("look"), command("change", "write"), command("burn", "execute"),
             {"name": "fill", "description": "So many characters.", "risk": "read",
              "argument_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
              "command": {"shell": "head -c $TOOL_ARG_N /dev/zero | tr '\\0' x"}}]
    for tool in tools[:3]:
        argv = tool["command"]["argv"]
        argv[argv.index("{trace}")] = str(trace)
    (folder / f"{stem}.json").write_text(json.dumps({"kind": "command", "tools": tools, **more}))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("batches")
    toolbox(home / "toolbox.d", home / "trace")
    one = Service("embedded", home, [home / "toolbox.d"], configuration={
        "limits": {"workers": 8, "frame_bytes": 1048576}, "result_max_chars": 1000000,
        "timeout_ms": int(20000 * SLOWNESS), "profiles": {"default": {"tool_names": ["*"]},
                                                          "narrow": {"tool_names": ["look"]}},
        "approval": {"timeout_ms": int(20000 * SLOWNESS)}, "http": {"listen": ["127.0.0.1:0"]}})
    one.trace = home / "trace"
    with one:
        yield one


@pytest.fixture
def caller(started):
    started.trace.unlink(missing_ok=True)
    with Caller(started.url) as caller:
        yield caller


def call(name, **more):
    inputs = {key: more.pop(key) for key in INPUTS if key in more}
    return {"name": name, "args": {"as": more.pop("as_", name), **inputs}, **more}


def batch(caller, *calls, **fields):
    answer = caller.call(INVOKE, {"calls": list(calls), **fields}, seconds=EVENT_SECONDS)
    assert "name" not in answer
    return answer.get("results", answer)


def codes(results):
    return [one.get("code") for one in results]


def order(started):
    return started.trace.read_text().split() if started.trace.exists() else []


def test_answers_come_in_the_order_asked_with_ids(caller):
    results = batch(caller, call("look", seconds=0.3), call("look", call_id="x"), {"name": "nothing"}, {"args": {}})
    assert [(one["name"], one["call_id"]) for one in results] == [
        ("look", "0"), ("look", "x"), ("nothing", "2"), ("", "3")]
    assert codes(results) == [None, None, "unknown_tool", "missing_name"]


def test_reads_run_side_by_side(started, caller, figure):
    start = time.monotonic()
    calls = [call("look", as_=name, beside=3, seconds=1) for name in "abc"]
    assert codes(batch(caller, *calls)) == [None] * 3, "each has waited for the beginning of the others"
    figure("three reads of 1 s, s", time.monotonic() - start)
    assert set(order(started)[:3]) == {"+a", "+b", "+c"}


def test_any_other_call_runs_alone_and_in_order(started, caller):
    calls = [call("look", as_="a", beside=2), call("look", as_="b", beside=2), call("change", as_="c", seconds=0.2),
             call("change", as_="d"), call("look", as_="e", beside=6), call("look", as_="f", beside=6)]
    assert codes(batch(caller, *calls)) == [None] * 6
    marks = order(started)
    assert sorted(marks[:4]) == ["+a", "+b", "-a", "-b"] and {"+a", "+b"} == set(marks[:2])
    assert marks[4:8] == ["+c", "-c", "+d", "-d"]
    assert set(marks[8:10]) == {"+e", "+f"}


def test_after_a_denial_the_rest_is_skipped(started, caller):
    results = batch(caller, call("look", as_="a"), call("burn", call_id="hot"), call("look", as_="b"), call("change"))
    assert codes(results) == [None, "denied", "skipped", "skipped"]
    assert results[2]["error"] == "RuntimeError: Skipped: 'look' was not run, since call 'hot' was denied"
    assert results[2]["denied_call_id"] == "hot"
    assert order(started) == ["+a", "-a"]


def test_or_goes_on(started, caller):
    results = batch(caller, call("burn"), call("look", as_="b"), {"name": "nothing"}, on_denied="continue")
    assert codes(results) == ["denied", None, "unknown_tool"]
    assert order(started) == ["+b", "-b"]


def test_only_a_denial_stops_a_batch(caller):
    results = batch(caller, {"name": "look", "args": {"as": 7}}, {"name": "nothing"}, call("change"))
    assert codes(results) == ["invalid_arguments", "unknown_tool", None]


def test_a_person_is_asked_about_each_call(started, caller):
    with Caller(started.url) as person:
        person.call("ovos.tools.approval.attach", {"seconds": 60})
        mark = caller.send(INVOKE, {"calls": [call("burn", as_="a"), call("burn", as_="b"), call("look", as_="c")]})
        for decision in ("once", "deny"):
            question = person.wait_for(lambda message: message.type == "ovos.tools.approval.requested").data
            person.call("ovos.tools.approval.respond", {"id": question["id"], "decision": decision})
        results = caller.answer_to(INVOKE, mark).data["results"]
        waits = [message for message in caller.seen if message.type == "ovos.tools.call.progress"
                 and message.context.get("mark") == mark]
        person.call("ovos.tools.approval.attach", {"seconds": 0})
    assert codes(results) == [None, "denied", "skipped"]
    assert order(started) == ["+a", "-a"]
    assert [(wait.data["call_id"], wait.data["state"]) for wait in waits] == [("0", "waiting"), ("1", "waiting")]


def test_one_deadline_for_all(started, caller):
    results = batch(caller, call("look", seconds=15, call_id="a"), call("change", seconds=15), call("look"),
                    timeout_ms=int(700 * SLOWNESS))
    assert codes(results) == ["timeout"] * 3
    assert not any(mark.startswith("-") for mark in order(started)), "no call was waited for"
    assert results[0]["timeout_ms"] <= 700 * SLOWNESS and results[1]["timeout_ms"] == int(700 * SLOWNESS)
    assert results[2]["error"].startswith("TimeoutError: Tool 'look' was not run: its batch exceeded its deadline")


def test_a_deadline_of_its_own(caller):
    results = batch(caller, call("look", seconds=15, timeout_ms=300), call("look"))
    assert codes(results) == ["timeout", None]
    assert results[0]["timeout_ms"] == 300


REFUSED = {
    "no entry": ({"calls": []}, "calls"),
    "33 entries": ({"calls": [call("look")] * 33}, "calls"),
    "no array": ({"calls": call("look")}, "calls"),
    "an entry that is no object": ({"calls": [call("look"), "look"]}, "calls"),
    "an id twice": ({"calls": [call("look", call_id="a"), call("look", call_id="a")]}, "call_id"),
    "an id twice, by its number": ({"calls": [call("look", call_id="1"), call("look")]}, "call_id"),
    "an id twice, spelt otherwise": ('{"calls": [{"name": "look", "call_id": "\\u0061"}, {"name": "look", "call_id": "a"}]}',
                                     "call_id"),
    "an id that is no string": ({"calls": [call("look", call_id=7)]}, "call_id"),
    "an id that is too long": ({"calls": [call("look", call_id="x" * 129)]}, "call_id"),
    "a name beside them": ({"calls": [call("look")], "name": "look"}, "name"),
    "another word": ({"calls": [call("look")], "on_denied": "go"}, "on_denied"),
    "a deadline of 0": ({"calls": [call("look")], "timeout_ms": 0}, "timeout_ms"),
    "a profile that is no string": ({"calls": [call("look")], "profile": 7}, "profile"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_of_the_whole_request(started, caller, what):
    data, field = REFUSED[what]
    data = json.loads(data) if isinstance(data, str) else data
    answer = batch(caller, **data) if "calls" not in data else caller.call(INVOKE, data)
    assert (answer["code"], answer["field"]) == ("bad_request", field)
    assert order(started) == []


@pytest.mark.parametrize("field", ["background", "calls", "profile", "progress"])
def test_a_mistake_of_an_entry_is_its_own(caller, field):
    results = batch(caller, call("look", **{field: True}), call("look", timeout_ms="soon"), call("look"))
    assert codes(results) == ["bad_request", "bad_request", None]
    assert (results[0]["field"], results[1]["field"]) == (field, "timeout_ms")


def test_the_profile_narrows_each_call(caller):
    assert codes(batch(caller, call("look"), call("change"), profile="narrow")) == [None, "unknown_tool"]


def test_a_cancel_of_the_batch_ends_all(started, caller):
    mark = caller.send(INVOKE, {"calls": [call("look", as_="a", seconds=15), call("change"), call("look")], "call_id": "all"},
                       {"source": "me"})
    until(lambda: order(started) == ["+a"], EVENT_SECONDS, "the first call running")
    assert caller.call("ovos.tools.cancel", {"call_id": "all"}, {"source": "me"})["cancelled"]
    answer = caller.wait_for(lambda message: message.type == INVOKE + ".response" and message.context["mark"] == mark)\
        if not any(message.type == INVOKE + ".response" for message in caller.seen) else \
        next(message for message in caller.seen if message.type == INVOKE + ".response")
    assert answer.data["call_id"] == "all" and codes(answer.data["results"]) == ["cancelled"] * 3
    assert not caller.call("ovos.tools.cancel", {"call_id": "all"}, {"source": "me"})["cancelled"]


def test_a_cancel_of_one_ends_that_one(started, caller, gate):
    calls = [call("look", as_="a", gate=str(gate)), call("change", call_id="x"), call("look", as_="b")]
    mark = caller.send(INVOKE, {"calls": calls}, {"source": "me"})
    until(lambda: order(started) == ["+a"], EVENT_SECONDS, "the first call running")
    with Caller(started.url) as other:
        assert not other.call("ovos.tools.cancel", {"call_id": "x"}, {"source": "you"})["cancelled"]
        assert other.call("ovos.tools.cancel", {"call_id": "x"}, {"source": "me"})["cancelled"]
    gate.touch()
    assert codes(caller.answer_to(INVOKE, mark).data["results"]) == [None, "cancelled", None]
    assert order(started) == ["+a", "-a", "+b", "-b"]


def test_answers_over_a_frame_lose_the_largest(caller):
    fill = [{"name": "fill", "args": {"n": n}} for n in (400000, 300000, 600000, 10)]
    results = batch(caller, *fill)
    assert codes(results) == [None, None, "too_large", None]
    assert 600000 < results[2]["actual"] < results[2]["max"] < 1048576 and "fit in a frame" in results[2]["error"]


def test_each_call_has_its_events_and_its_place_in_the_history(started, caller):
    with Caller(started.url) as watcher:
        watcher.call("ovos.tools.watch", {"seconds": 30})
        batch(caller, call("look", call_id="seen"), call("change"))
        ends = [watcher.wait_for(lambda message: message.type == "ovos.tools.call.completed").data for _ in range(2)]
    assert [end["call_id"] for end in ends] == ["seen", "1"]
    listed = caller.call("ovos.tools.calls", {"limit": 2})["calls"]
    assert [one["call_id"] for one in listed] == ["1", "seen"]


def test_progress_has_the_context_of_the_response(caller):
    """Only tools with reports have any; a batch may ask for it all the same."""
    assert codes(batch(caller, call("look"), progress=True)) == [None]


def test_over_http(started):
    with Http(port_of(started.daemon)) as http:
        answer = http.post("/v1/calls", {"calls": [call("look"), call("burn"), call("look")], "call_id": "b"})
        assert answer.status == 200 and answer.json["call_id"] == "b"
        assert codes(answer.json["results"]) == [None, "denied", "skipped"]
        assert http.post("/v1/calls", {"calls": []}).status == 400
        assert http.post("/v1/calls", "[1]").status == 400
        assert http.post("/v1/calls", '{"calls": [').status == 400
        assert http.post("/v1/calls", "").status == 404
        assert http.ask("PUT", "/v1/calls").headers["Allow"] == "OPTIONS, GET, HEAD, POST"


def test_a_client_that_hangs_up_ends_its_batch(started, caller):
    calls = [call("look", as_="a", seconds=15), call("change"), call("change")]
    with Http(port_of(started.daemon)) as http:
        http.connection.request("POST", "/v1/calls", json.dumps({"calls": calls}), {"Content-Type": "application/json"})
        until(lambda: order(started) == ["+a"], EVENT_SECONDS, "the first call running")
    until(lambda: not [one for one in caller.call("ovos.tools.calls", {"state": "running"})["calls"]],
          EVENT_SECONDS, "no call in flight")
    assert order(started) == ["+a"]


def test_a_client_of_the_bus_that_leaves_begins_no_more(started, caller, gate):
    with Caller(started.url) as leaver:
        leaver.send(INVOKE, {"calls": [call("look", as_="a", gate=str(gate)), call("change")]})
        until(lambda: order(started) == ["+a"], EVENT_SECONDS, "the first call running")
    caller.settle()
    gate.touch()
    until(lambda: order(started) == ["+a", "-a"], EVENT_SECONDS, "the first call over")
    until(lambda: not caller.call("ovos.tools.calls", {"state": "running"})["calls"], EVENT_SECONDS, "no call in flight")
    assert order(started) == ["+a", "-a"]


def test_a_stop_answers_every_id(launch, tmp_path):
    toolbox(tmp_path / "toolbox.d", tmp_path / "trace")
    one = launch({"drain_ms": 300}, [tmp_path / "toolbox.d"])
    with Caller(one.url) as caller:
        mark = caller.send(INVOKE, {"calls": [call("look", seconds=15), call("change"), call("look")]})
        until(lambda: (tmp_path / "trace").exists(), EVENT_SECONDS, "the first call running")
        one.daemon.process.terminate()
        assert codes(caller.answer_to(INVOKE, mark).data["results"]) == ["unavailable"] * 3


def test_what_a_source_may_hold_bounds_its_batches(launch, tmp_path):
    toolbox(tmp_path / "toolbox.d", tmp_path / "trace", limits={"workers": 1})
    one = launch({"limits": {"peer_bytes": 4194304, "frame_bytes": 262144, "args_bytes": 131072}}, [tmp_path / "toolbox.d"])
    padding = {"name": "nothing", "args": {"x": "y" * 100000}}
    with Caller(one.url) as caller:
        marks = [caller.send(INVOKE, {"calls": [call("change", seconds=1), padding]}) for _ in range(20)]
        answers = {}
        while len(answers) < len(marks):
            message = caller.receive()
            if message.type == INVOKE + ".response":
                answers[message.context["mark"]] = message.data
    busy = [answer for answer in answers.values() if answer.get("code") == "busy"]
    done = [answer for answer in answers.values() if "results" in answer]
    assert busy and done and len(busy) + len(done) == len(marks)
    assert all(answer["retry_after_s"] > 0 for answer in busy)
