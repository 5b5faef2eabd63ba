# SPDX-License-Identifier: Apache-2.0
"""Guests: toolboxes that other processes bring, and that lie, flood, die or renew late."""
import time

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, port_of
from processes import EVENT_SECONDS, PATIENT, toolboxctl, until, write_configuration
from test_http_metrics import scrape

REGISTER, UNREGISTER = "ovos.tools.register", "ovos.tools.unregister"
CALL, RESPONSE = "ovos.tools.guest.call", "ovos.tools.guest.call.response"
PROGRESS, CANCEL = "ovos.tools.guest.progress", "ovos.tools.guest.cancel"
ON = {"guests": {"enabled": True}}


def tool(name="say", **more):
    return {"name": name, "description": "Says a word.", "risk": "read",
            "argument_schema": {"type": "object", "properties": {"word": {"type": "string"}}}, **more}


class Guest(Caller):
    """A client that brings tools."""

    def __init__(self, url, source="guest", toolbox_id="words"):
        super().__init__(url)
        self.source, self.toolbox_id = source, toolbox_id

    def register(self, *tools, seconds=EVENT_SECONDS, **more):
        data = {"toolbox_id": self.toolbox_id, "tools": list(tools) or [tool()], **more}
        return self.call(REGISTER, data, {"source": self.source}, seconds=seconds)

    def unregister(self):
        return self.call(UNREGISTER, {"toolbox_id": self.toolbox_id}, {"source": self.source})

    def next_call(self):
        return self.wait_for(lambda one: one.type == CALL)

    def answer(self, call, **more):
        self.send(RESPONSE, {"call_id": call.data["call_id"], **more}, {"source": self.source})


@pytest.fixture
def start(launch):
    def run(configuration=None, folders=(), **more):
        return launch({**ON, **(configuration or {})}, list(folders), **more)
    return run


@pytest.fixture(params=("embedded", "ovos-messagebus"))
def both(start, request):
    """A service on each kind of bus."""
    return start(kind=request.param)


@pytest.fixture
def service(start):
    return start()


def names(caller, **data):
    return [f"{one['toolbox_id']}/{one['name']}" for one in caller.call("ovos.tools.list", data)["tools"]]


def invoke(caller, name="say", args=None, **more):
    """Send the request; its mark."""
    return caller.send("ovos.tools.invoke", {"name": name, "args": args or {}, **more}, {"source": "asker"})


def answered(caller, mark):
    return caller.answer_to("ovos.tools.invoke", mark).data


# ── registering ──────────────────────────────────────────────────────────────────────────────────


def test_a_guest_is_offered_called_and_leaves(both):
    with Guest(both.url) as guest, Caller(both.url) as caller:
        assert guest.register() == {"toolbox_id": "words", "registered": True, "lease_s": 60}
        assert names(caller) == ["words/say"]
        mark = invoke(caller, args={"word": "hello"})
        call = guest.next_call()
        assert call.data["args"] == {"word": "hello"} and call.data["name"] == "say" and call.data["toolbox_id"] == "words"
        assert 0 < call.data["timeout_ms"] <= PATIENT["timeout_ms"]
        assert abs(call.data["deadline"] - call.data["timeout_ms"] - time.time() * 1000) < 60000
        assert call.context["source"] == "toolboxd" and call.context["destination"] == "guest"
        guest.answer(call, result={"said": "hello"})
        assert answered(caller, mark)["result"] == {"said": "hello"}
        assert guest.unregister() == {"toolbox_id": "words", "unregistered": True}
        until(lambda: names(caller) == [], EVENT_SECONDS, "the guest gone")
        assert guest.unregister() == {"toolbox_id": "words", "unregistered": False}


def test_the_metrics_count_guests(start):
    service = start(args=["--http", "127.0.0.1:0"])
    names_of = ("toolboxd_guests",), ("toolboxd_guests_waiting",), ("toolboxd_tools",)
    with Guest(service.url) as guest, Http(port_of(service.daemon)) as http:
        def counts():
            metrics = scrape(http)
            return [metrics[name] for name in names_of]

        assert counts() == [0, 0, 0]
        guest.register()
        assert counts() == [1, 0, 1]
        guest.send(REGISTER, {"toolbox_id": "words", "tools": [tool(), tool("shout")]}, {"source": "guest"})
        until(lambda: counts() == [1, 0, 2], EVENT_SECONDS, "both tools")
        guest.unregister()
        until(lambda: counts() == [0, 0, 0], EVENT_SECONDS, "the guest gone")


def test_the_session_of_the_caller_comes_byte_for_byte(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        caller.peer.send('{"type": "ovos.tools.invoke", "data": {"name": "say"}, "context": '
                         '{"source": "asker", "session": {"session_id": "s1", "n": 1.10, "x": "\\u00e9"}}}')
        call = guest.next_call()
        assert '"session": {"session_id": "s1", "n": 1.10, "x": "\\u00e9"}' in call.text


def test_guests_are_off_unless_the_operator_says_so(launch):
    service = launch({}, [])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        answer = guest.register()
        assert answer["code"] == "denied" and "guests.enabled" in answer["error"]
        assert guest.unregister()["code"] == "denied"
        assert names(caller) == []


@pytest.mark.parametrize("more, field", [
    ({"lease_s": 4}, "lease_s"), ({"lease_s": 601}, "lease_s"), ({"lease_s": 60.5}, "lease_s"),
    ({"lease_s": "60"}, "lease_s"), ({"toolbox_id": ""}, "toolbox_id"), ({"toolbox_id": "a b"}, "toolbox_id"),
    ({"toolbox_id": 1}, "toolbox_id"), ({"toolbox_id": "a\0"}, "toolbox_id"), ({"toolbox_id": "x" * 129}, "toolbox_id"),
    ({"tools": []}, "tools"), ({"tools": {}}, "tools"), ({"tools": None}, "tools"), ({"description": 1}, "description"),
])
def test_a_bad_registration_names_its_field(service, more, field):
    with Guest(service.url) as guest:
        answer = guest.call(REGISTER, {"toolbox_id": "words", "tools": [tool()], **more}, {"source": "guest"})
        assert (answer["code"], answer["field"]) == ("bad_request", field), answer


@pytest.mark.parametrize("context", [{}, {"source": ""}, {"source": None}, {"source": ["guest"]}, {"source": "http:me"}])
def test_a_guest_needs_a_source(service, context):
    with Guest(service.url) as guest:
        for topic in (REGISTER, UNREGISTER):
            answer = guest.call(topic, {"toolbox_id": "words", "tools": [tool()]}, context)
            assert (answer["code"], answer["field"]) == ("bad_request", "context"), answer


@pytest.mark.parametrize("bad, path", [
    (tool("no name"), "/tools/1/name"), (tool(risk="high"), "/tools/1/risk"), (tool(command={"argv": ["ls"]}), "/tools/1/command"),
    (tool(argument_schema={"type": "objekt"}), "/tools/1/argument_schema/type"), (tool(unknown=1), "/tools/1/unknown"),
    (tool("say"), "/tools/1/name"), (tool("b", triggers=["("]), "/tools/1/triggers/0"),
    (tool("b", examples=[{"args": {"word": 1}}]), "/tools/1/examples/0/args"), (1, "/tools/1"),
])
def test_the_tools_are_checked_like_a_manifest(service, bad, path):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        answer = guest.register(tool(), bad)
        assert answer["code"] == "bad_request" and answer["field"] == "tools", answer
        assert any(found["path"].startswith(path) for found in answer["violations"]), answer
        assert names(caller) == []
        # It has left nothing behind, and may come again.
        assert guest.register()["registered"]


def test_a_bad_replacement_keeps_what_is_offered(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        assert guest.register(tool("no name"))["code"] == "bad_request"
        assert names(caller) == ["words/say"]
        assert guest.register()["registered"], "the lease of what is in force is renewed"


def test_the_same_content_renews_and_another_replaces(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        caller.settle()
        for _ in range(20):
            assert guest.register(lease_s=30)["lease_s"] == 30
        assert [one for one in caller.settle() if one.type == "ovos.tools.changed"] == []
        assert guest.register(tool("tell"))["registered"]
        changed = caller.wait_for(lambda one: one.type == "ovos.tools.changed")
        assert changed.data["added"] == ["words/tell"] and changed.data["removed"] == ["words/say"]
        assert names(caller) == ["words/tell"]


def test_calls_go_on_through_a_replacement(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        mark = invoke(caller)
        call = guest.next_call()
        assert guest.register(tool("tell"))["registered"]
        guest.answer(call, result={"said": 1})
        assert answered(caller, mark)["result"] == {"said": 1}


@pytest.mark.parametrize("more", [{}, {"source": "other"}])
def test_a_file_keeps_its_id(start, tmp_path, more):
    manifests.toolbox(tmp_path, "words", [manifests.labs()])
    (tmp_path / "broken.json").write_text("{")
    service = start(folders=[tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        for toolbox_id in ("words", "broken"):
            guest.toolbox_id = toolbox_id
            answer = guest.register()
            assert answer["code"] == "denied" and f"'{toolbox_id}' is taken by an installed" in answer["error"], answer
        assert names(caller) == ["words/absolute"]


def test_a_file_that_brings_the_id_wins(start, tmp_path):
    service = start(folders=[tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        mark = invoke(caller)
        guest.next_call()
        manifests.toolbox(tmp_path, "words", [manifests.labs()])
        assert answered(caller, mark)["code"] == "unavailable"
        assert names(caller) == ["words/absolute"]
        assert guest.register()["code"] == "denied"


def test_only_its_source_may_change_a_guest(both):
    with Guest(both.url) as guest, Guest(both.url, "thief") as thief, Caller(both.url) as caller:
        guest.register()
        assert thief.register()["code"] == "denied" and "another guest" in thief.register(tool("own"))["error"]
        assert thief.unregister()["code"] == "denied"
        assert names(caller) == ["words/say"]


def test_a_guest_whose_lease_is_over_is_gone(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        begun = time.monotonic()
        guest.register(tool(timeout_ms=600000), lease_s=8)
        mark = invoke(caller)
        guest.next_call()
        answer = answered(caller, mark)
        assert answer["code"] == "unavailable" and "its guest has left" in answer["error"], answer
        assert time.monotonic() - begun > 8
        until(lambda: names(caller) == [], EVENT_SECONDS, "the tools gone")
        assert "The guest words of 'guest' leaves: its lease is over" in service.daemon.log()


def test_a_renewed_lease_goes_on(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        longest = 0
        guest.register(lease_s=5)
        for lease_s in (5, 5, 5, 60):
            begun = time.monotonic()
            time.sleep(1.7)
            assert guest.register(lease_s=lease_s)["registered"]
            longest = max(longest, time.monotonic() - begun)
        assert names(caller) == ["words/say"]
        # A machine may have held a renewal up for longer than the lease.
        assert "its lease is over" not in service.daemon.log() or longest > 4


# ── connections ──────────────────────────────────────────────────────────────────────────────────


def test_a_connection_that_ends_takes_its_guest_along(service):
    with Caller(service.url) as caller:
        with Guest(service.url) as guest:
            guest.register(tool(timeout_ms=600000))
            mark = invoke(caller)
            guest.next_call()
        assert answered(caller, mark)["code"] == "unavailable"
        until(lambda: names(caller) == [], EVENT_SECONDS, "the tools gone")


def test_on_a_connection_of_its_own_only_the_guest_answers(service):
    with Guest(service.url) as guest, Guest(service.url) as twin, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        call = guest.next_call()
        twin.answer(call, result={"said": "twin"})
        assert twin.unregister()["code"] == "denied"
        guest.answer(call, result={"said": "guest"})
        assert answered(caller, mark)["result"] == {"said": "guest"}


def test_the_last_connection_of_a_source_to_register_holds_the_guest(service):
    with Caller(service.url) as caller, Guest(service.url) as later:
        with Guest(service.url) as earlier:
            earlier.register()
            assert later.register()["registered"]
            mark = invoke(caller)
            call = earlier.next_call()
            earlier.answer(call, result={"said": "earlier"})
            later.answer(call, result={"said": "later"})
            assert answered(caller, mark)["result"] == {"said": "later"}
        # The end of the connection before takes nothing along.
        caller.settle()
        assert names(caller) == ["words/say"]


# ── hostile replies ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("reply, words", [
    ({}, "neither a result nor an error"), ({"result": {}, "error": "x"}, "a result and an error"),
    ({"error": "it is broken"}, "it is broken"), ({"error": {"a": [1.10]}}, '{"a":[1.1'), ({"error": 0}, "0"),
    ({"result": None, "error": "why"}, "why"), ({"error": None}, "neither a result nor an error"),
])
def test_a_response_that_is_none_fails_its_call(service, reply, words):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        guest.answer(guest.next_call(), **reply)
        answer = answered(caller, mark)
        assert answer["code"] == "tool_failed" and words in answer["error"], answer


@pytest.mark.parametrize("result", [None, 1, "text", [1, 2], True])
def test_a_result_that_is_no_object_is_wrapped(service, result):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        guest.answer(guest.next_call(), result=result)
        assert answered(caller, mark)["result"] == {"result": result}


def test_numbers_of_a_result_stay_as_they_are(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        invoke(caller)
        call = guest.next_call()
        guest.peer.send(f'{{"type": "{RESPONSE}", "context": {{"source": "guest"}}, "data": '
                        f'{{"call_id": "{call.data["call_id"]}", "result": {{"n": 9007199254740993, "f": 1.10}}}}}}')
        answer = caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response")
        assert '"n":9007199254740993,"f":1.10' in answer.text


def test_the_output_schema_holds_for_guests(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(output_schema={"type": "object", "required": ["said"]}))
        mark = invoke(caller)
        guest.answer(guest.next_call(), result={"told": 1})
        assert answered(caller, mark)["code"] == "invalid_output"


def test_strangers_doubles_and_unknown_calls_are_dropped(both):
    with Guest(both.url) as guest, Guest(both.url, "thief") as thief, Caller(both.url) as caller:
        guest.register()
        mark = invoke(caller)
        call = guest.next_call()
        thief.answer(call, result={"said": "thief"})
        thief.send(PROGRESS, {"call_id": call.data["call_id"], "progress": 1}, {"source": "thief"})
        thief.settle()
        for data in ({"call_id": "ffffffff", "result": {}}, {"call_id": 7, "result": {}}, {"result": {}}, {}, None):
            guest.send(RESPONSE, data, {"source": "guest"})
        guest.answer(call, result={"said": "guest"})
        guest.answer(call, result={"said": "again"})
        guest.answer(call, error="again")
        assert answered(caller, mark)["result"] == {"said": "guest"}
        caller.settle()
        assert names(caller) == ["words/say"]
    until(lambda: "its sender is not the guest of the call" in both.daemon.log(), EVENT_SECONDS, "the log")


def test_duplicate_keys_in_a_response_fail_the_call(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        call = guest.next_call()
        guest.peer.send(f'{{"type": "{RESPONSE}", "context": {{"source": "guest"}}, "data": {{"call_id": '
                        f'"{call.data["call_id"]}", "result": {{"a": 1, "a": 2}}}}}}')
        answer = answered(caller, mark)
        assert answer["code"] == "tool_failed" and "a key twice" in answer["error"], answer


def test_a_huge_result_is_too_large(start):
    service = start({"limits": {"host_output_bytes": 65536}})
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        guest.answer(guest.next_call(), result={"text": "x" * 70000})
        answer = answered(caller, mark)
        assert answer["code"] == "too_large" and answer["max"] == 65536 and answer["actual"] > 70000, answer


def test_a_long_result_is_cut(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller)
        guest.answer(guest.next_call(), result={"text": "x" * 300000})
        assert answered(caller, mark)["result"]["truncated"]


# ── ends of calls ────────────────────────────────────────────────────────────────────────────────


def test_a_silent_guest_costs_its_own_call_a_timeout(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=200), tool("tell"))
        mark = invoke(caller)
        call = guest.next_call()
        assert answered(caller, mark)["code"] == "timeout"
        assert guest.wait_for(lambda one: one.type == CANCEL).data == {"call_id": call.data["call_id"]}
        guest.answer(call, result={})
        mark = invoke(caller, "tell")
        guest.answer(guest.next_call(), result={"told": 1})
        assert answered(caller, mark)["result"] == {"told": 1}


def test_a_cancel_reaches_the_guest(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        mark = invoke(caller, call_id="mine")
        call = guest.next_call()
        caller.send("ovos.tools.cancel", {"call_id": "mine"}, {"source": "asker"})
        assert answered(caller, mark)["code"] == "cancelled"
        assert guest.wait_for(lambda one: one.type == CANCEL).data == {"call_id": call.data["call_id"]}


def test_a_hang_up_over_http_reaches_the_guest(start):
    service = start({"http": {"listen": ["127.0.0.1:0"]}})
    with Guest(service.url) as guest:
        guest.register(tool(timeout_ms=600000))
        with Raw(port_of(service.daemon)) as raw:
            raw.send(b"POST /v1/tools/say HTTP/1.1\r\nHost: localhost\r\n"
                     b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            call = guest.next_call()
        assert guest.wait_for(lambda one: one.type == CANCEL).data == {"call_id": call.data["call_id"]}


def test_a_removal_tells_the_guest_that_its_calls_are_over(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        mark = invoke(caller)
        call = guest.next_call()
        guest.unregister()
        assert answered(caller, mark)["code"] == "unavailable"
        until(lambda: any(one.type == CANCEL and one.data == {"call_id": call.data["call_id"]}
                          for one in guest.settle()), EVENT_SECONDS, "the cancel")


def test_calls_of_a_guest_run_side_by_side_up_to_the_queue(start):
    service = start({"limits": {"queue": 3}})
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        marks = [invoke(caller) for _ in range(3)]
        calls = [guest.next_call() for _ in marks]
        assert caller.invoke("say")["code"] == "busy"
        for number, call in reversed(list(enumerate(calls))):
            guest.answer(call, result={"n": number})
        answers = {answer.context["mark"]: answer.data["result"]["n"] for answer in
                   (caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response") for _ in marks)}
        assert answers == {mark: number for number, mark in enumerate(marks)}


def test_parallel_false_runs_alone(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(parallel=False, timeout_ms=600000))
        first, second = invoke(caller), invoke(caller)
        call = guest.next_call()
        guest.settle()
        assert not any(one.type == CALL for one in guest.seen)
        guest.answer(call, result={"n": 1})
        assert answered(caller, first)["result"] == {"n": 1}
        guest.answer(guest.next_call(), result={"n": 2})
        assert answered(caller, second)["result"] == {"n": 2}


def test_progress_reaches_the_caller(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        mark = invoke(caller, progress=True)
        call = guest.next_call()
        guest.send(PROGRESS, {"call_id": call.data["call_id"], "progress": 0.5, "text": "half"}, {"source": "guest"})
        report = caller.wait_for(lambda one: one.type == "ovos.tools.call.progress")
        assert (report.data["progress"], report.data["text"]) == (0.5, "half")
        guest.send(PROGRESS, {"call_id": call.data["call_id"], "progress": "all", "text": 7}, {"source": "guest"})
        guest.answer(call, result={})
        assert answered(caller, mark)["result"] == {}


# ── floods ───────────────────────────────────────────────────────────────────────────────────────


def test_there_is_room_for_so_many_guests_and_tools(start):
    service = start({"guests": {"enabled": True, "max": 2, "tools": 4}})
    with Guest(service.url) as one, Guest(service.url, toolbox_id="two") as two, Guest(service.url, toolbox_id="three") as three:
        assert one.register(tool("a"), tool("b"))["registered"]
        assert two.register(tool("a"), tool("b"), tool("c"))["code"] == "busy"
        assert two.register(tool("a"), tool("b"))["registered"]
        assert three.register(tool("a"))["code"] == "busy"
        assert one.register(tool("a"), tool("b"), tool("c"))["code"] == "busy"
        assert one.unregister()["unregistered"]
        assert three.register(tool("a"))["registered"]


def test_the_last_registration_of_a_flood_counts(service):
    """A guest is taken in once a second, so of a hundred texts few are read."""
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        before = caller.call("ovos.tools.status")["generation"]
        begun = time.monotonic()
        marks = [guest.send(REGISTER, {"toolbox_id": "words", "tools": [tool(f"say{number}")]}, {"source": "guest"})
                 for number in range(100)]
        answers = {}
        while len(answers) < len(marks):
            answer = guest.wait_for(lambda one: one.type == REGISTER + ".response")
            answers[answer.context["mark"]] = answer.data
        assert answers[marks[-1]]["registered"], answers[marks[-1]]
        assert {answer.get("code") for answer in answers.values()} == {None, "busy"}
        assert names(caller) == ["words/say99"]
        seconds = time.monotonic() - begun
        assert caller.call("ovos.tools.status")["generation"] - before <= seconds + 2


def test_a_guest_that_leaves_and_comes_is_taken_in_no_more_often(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        begun = time.monotonic()
        guest.register()
        before = caller.call("ovos.tools.status")["generation"]
        for _ in range(3):
            guest.unregister()
            assert guest.register()["registered"]
        assert time.monotonic() - begun > 2
        assert caller.call("ovos.tools.status")["generation"] - before <= 8


def test_a_registration_that_is_too_large_is_refused(service):
    with Guest(service.url) as guest:
        answer = guest.register(tool(description="x" * (1 << 20)))
        assert answer["code"] == "too_large" and answer["max"] == 1 << 20 < answer["actual"], answer


def test_a_guest_with_costly_schemas_holds_nobody_up(start):
    """Each tool takes its time to be read; others are taken in meanwhile or soon after."""
    pattern = "".join(f"(a|b|{number})*" for number in range(60))
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "pattern": pattern} for n in range(100)}}
    # So that nobody is disconnected who does not read the long registration for a second.
    service = start({"limits": {"peer_bytes": 1 << 30}})
    with Guest(service.url, "slow", "slow") as slow, Guest(service.url) as guest, Caller(service.url) as caller:
        mark = slow.send(REGISTER, {"toolbox_id": "slow", "tools": [
            tool(f"t{number}", argument_schema=schema) for number in range(40)]}, {"source": "slow"})
        assert guest.register()["registered"]
        call = invoke(caller)
        guest.answer(guest.next_call(), result={"said": 1})
        assert answered(caller, call)["result"] == {"said": 1}
        answer = slow.answer_to(REGISTER, mark).data
        assert answer.get("registered") or answer["code"] in ("bad_request", "too_large"), answer


def test_a_quarantine_outlives_the_loads_of_guests(start, tmp_path):
    """Else any guest could end it."""
    manifests.misbehave(tmp_path)
    service = start({"crash_limit": 1, "approval": {"mode": "off"}}, [tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        caller.invoke("abort")
        caller.invoke("abort")
        state = caller.call("ovos.tools.status", {"toolbox_id": "misbehave"})["toolboxes"][0]["state"]
        assert state == "quarantined"
        guest.register()
        guest.register(tool("tell"))
        state = caller.call("ovos.tools.status", {"toolbox_id": "misbehave"})["toolboxes"][0]["state"]
        assert state == "quarantined"


# ── like others ──────────────────────────────────────────────────────────────────────────────────


def test_status_names_the_guest(service):
    with Guest(service.url, "skill-words") as guest, Caller(service.url) as caller:
        guest.register()
        shown, = caller.call("ovos.tools.status")["toolboxes"]
        assert (shown["kind"], shown["source"], shown["tools"], shown["hosts"]) == ("guest", "skill-words", 1, 0)
        assert "file" not in shown
        done = toolboxctl("status", bus=service.url, home=service.daemon.home)
        assert done.returncode == 0 and "words" in done.stdout, done
        done = toolboxctl("status", "words", bus=service.url, home=service.daemon.home)
        assert done.returncode == 0 and "skill-words" in done.stdout, done
        done = toolboxctl("list", bus=service.url, home=service.daemon.home)
        assert done.returncode == 0 and "guest" in done.stdout, done


def test_an_undeclared_risk_is_the_configured_one(start):
    service = start()
    with Guest(service.url) as guest, Caller(service.url) as caller:
        undeclared = {key: value for key, value in tool().items() if key != "risk"}
        guest.register(undeclared)
        assert caller.call("ovos.tools.get", {"name": "say"})["risk"] == "execute"
        answer = caller.invoke("say")
        assert answer["code"] == "denied", answer
        write_configuration(service.daemon.home, {"toolboxd": {"guests": {"enabled": True, "risk": "read"}}})
        caller.call("ovos.tools.reload")
        assert caller.call("ovos.tools.get", {"name": "say"})["risk"] == "read"


def test_the_configuration_counts_for_guests(start):
    service = start({"toolboxes": {"words": {"tools": {"say": {"risk": "execute"}}}}, "tools_disabled": ["words/tell"],
                     "profiles": {"none": {"tool_names": []}, "some": {"tool_names": ["words/say"]}}})
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(), tool("tell"))
        assert names(caller) == ["words/say"] and names(caller, profile="none") == []
        assert names(caller, profile="some") == ["words/say"]
        assert caller.call("ovos.tools.get", {"name": "say"})["risk"] == "execute"
        skipped = caller.call("ovos.tools.status")["not_offered"]
        assert [(one["toolbox_id"], one["name"]) for one in skipped] == [("words", "tell")]
        # A load of guests alone repeats what it keeps, once.
        guest.register(tool(), tool("tell"), tool("third"))
        assert caller.call("ovos.tools.status")["not_offered"] == skipped


def test_a_reload_keeps_guests(start, tmp_path):
    service = start(folders=[tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register(tool(timeout_ms=600000))
        mark = invoke(caller)
        call = guest.next_call()
        manifests.toolbox(tmp_path, "other", [manifests.labs()])
        loaded = caller.call("ovos.tools.reload")
        assert sorted(loaded["loaded"]) == ["other", "words"]
        guest.answer(call, result={"said": 1})
        assert answered(caller, mark)["result"] == {"said": 1}


def test_a_load_of_guests_keeps_what_failed(start, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    manifests.toolbox(tmp_path, "good", [manifests.labs()])
    service = start({"tools_disabled": ["good/*"]}, [tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        before = caller.call("ovos.tools.status")
        guest.register()
        after = caller.call("ovos.tools.status")
        assert after["failed"] == before["failed"] and after["not_offered"] == before["not_offered"]
        good = [one for one in after["toolboxes"] if one["toolbox_id"] == "good"]
        assert good == [one for one in before["toolboxes"] if one["toolbox_id"] == "good"]


def test_a_guest_takes_no_name_of_an_installed_tool(start, tmp_path):
    manifests.toolbox(tmp_path, "good", [manifests.labs("say")])
    service = start(folders=[tmp_path])
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        assert caller.invoke("say", {"value": -1})["result"] == {"result": 1}
        mark = invoke(caller, "words__say")
        guest.answer(guest.next_call(), result={"said": 1})
        assert answered(caller, mark)["result"] == {"said": 1}


def test_a_tool_just_registered_may_be_called_in_the_next_message(service):
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.send(REGISTER, {"toolbox_id": "words", "tools": [tool()]}, {"source": "guest"})
        guest.settle()
        mark = invoke(caller)
        guest.answer(guest.next_call(), result={"said": 1})
        assert answered(caller, mark)["result"] == {"said": 1}


def test_an_approval_is_no_longer_good_for_another_source(start):
    """A session's yes is for the tool of this guest."""
    service = start({"approval": {"mode": "strict"}})
    context = {"source": "asker", "session": {"session_id": "s"}}
    with Guest(service.url) as guest, Caller(service.url) as caller, Caller(service.url) as person:
        def ask():
            return caller.send("ovos.tools.invoke", {"name": "say"}, context)

        guest.register()
        person.call("ovos.tools.approval.attach", {"seconds": 300}, {"source": "person"})
        mark = ask()
        question = person.wait_for(lambda one: one.type == "ovos.tools.approval.requested")
        person.call("ovos.tools.approval.respond", {"id": question.data["id"], "decision": "session"}, {"source": "person"})
        guest.answer(guest.next_call(), result={})
        assert answered(caller, mark)["result"] == {}
        mark = ask()
        guest.answer(guest.next_call(), result={})
        assert answered(caller, mark)["result"] == {}, "it asks no more"
        guest.unregister()
        with Guest(service.url, "other") as other:
            assert other.register()["registered"]
            ask()
            assert person.wait_for(lambda one: one.type == "ovos.tools.approval.requested").data["name"] == "say"


def test_the_operator_may_switch_guests_off(start):
    service = start()
    with Guest(service.url) as guest, Caller(service.url) as caller:
        guest.register()
        write_configuration(service.daemon.home, {"toolboxd": {}})
        caller.call("ovos.tools.reload")
        until(lambda: names(caller) == [], EVENT_SECONDS, "the guest gone")
        assert guest.register()["code"] == "denied"
