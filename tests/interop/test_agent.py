# SPDX-License-Identifier: Apache-2.0
"""toolbox-agent: an utterance, a scripted model, tools called, an answer (docs/agents.md)."""
import json
import re
import signal
import statistics
import threading
import time

import agent_peer
import manifests
import pytest
from agent_peer import Asker, names, tool_messages
from model_server import ModelServer, calls, raw, says, status
from processes import EVENT_SECONDS, IS_SANITIZED, free_port, resident_kb, until, write_configuration
from test_approval import Person

@pytest.fixture(scope="module")
def model():
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """A toolboxd that is its own bus, with tools that answer, wait and fail."""
    from conftest import Service
    home = tmp_path_factory.mktemp("agent")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    manifests.twins(folder)
    manifests.toolbox(folder, "spoken", [
        manifests.labs("quiet", run_llm=False, spoken={"en": {"done": "Done, {result}."}}),
        manifests.sleeper("slow", timeout_ms=20000, spoken={"en": {"wait": "One moment."}}),
    ], limits={"workers": 4})
    with Service("embedded", home, [manifests.SHIPPED, folder],
                 configuration={"crash_limit": 0, "start_timeout_ms": 60000,
                                "profiles": {"sums": {"tool_names": ["add", "subtract"]}, "none": {"tool_names": []}}}) as service:
        yield service


class Agents:
    """The agent of this file's device, one at a time: two would both answer."""

    def __init__(self, url, model, homes):
        self.url, self.model, self.homes = url, model, homes
        self.settings = self.present = None

    def __call__(self, **settings):
        """An agent with these settings; the present one, if it has them."""
        if self.settings != settings:
            self.end()
            self.present = agent_peer.start(self.homes.mktemp("one"), self.url, self.model, **settings)
            self.settings = settings
        return self.present

    def end(self):
        present, self.present, self.settings = self.present, None, None
        if present:
            assert present.end() == 0


@pytest.fixture(scope="module")
def agents(device, model, tmp_path_factory):
    agents = Agents(device.url, model, tmp_path_factory)
    yield agents
    agents.end()


@pytest.fixture
def alone(agents):
    """For a test with an agent of its own."""
    agents.end()


@pytest.fixture
def agent(agents):
    return agents(tools_max=1000, match_first=False)


@pytest.fixture
def asker(device):
    with Asker(device.url) as asker:
        yield asker


# --- the seed's own cases


def test_text_is_spoken(agent, asker, model):
    model.script(says("It is noon. Are you hungry?"))
    answer = asker.chat("what time is it", speak=True)
    assert (answer["answer"], answer["finish"], answer["rounds"]) == ("It is noon. Are you hungry?", "answer", 1)
    assert (answer["calls"], answer["history"], answer["truncated"]) == ([], 2, False)
    assert asker.spoken() == ["It is noon.", "Are you hungry?"]
    speak = asker.heard("speak")[0]
    assert speak.data == {"utterance": "It is noon.", "expect_response": False,
                          "meta": {"skill": "toolbox-agent"}, "lang": "en"}
    assert speak.context["skill_id"] == "toolbox-agent" and speak.context["session"] == {"session_id": "default"}
    assert [one["role"] for one in model.requests[0]["messages"]] == ["system", "user"]


def test_two_tools_are_called(agent, asker, model):
    model.script(calls(("add", {"a": 3, "b": 4}), ("multiply", {"a": 2, "b": 5})), says("7 and 10."))
    answer = asker.chat("sums please")
    assert answer["answer"] == "7 and 10."
    assert [(one["name"], one["ok"]) for one in answer["calls"]] == [("add", True), ("multiply", True)]
    assert tool_messages(model.requests[1]) == {"call-0": {"result": 7}, "call-1": {"result": 10}}
    assert model.requests[1]["messages"][2]["tool_calls"][0]["function"] == \
        {"name": "add", "arguments": '{"a": 3, "b": 4}'}


def test_several_rounds(agent, asker, model):
    model.script(calls(("add", {"a": 1, "b": 1})), calls(("add", {"a": 2, "b": 1})), says("3."))
    answer = asker.chat("count")
    assert (answer["answer"], answer["rounds"], len(answer["calls"])) == ("3.", 3, 2)


def test_errors_are_told_in_their_own_words(agent, asker, model):
    model.script(calls(("add", {"a": 3}), ("divide", {"a": 1, "b": 0}), ("ad", {}), ("add", '{"a": 3,')),
                 says("All failed."))
    answer = asker.chat("fail")
    assert [one["ok"] for one in answer["calls"]] == [False] * 4
    said = tool_messages(model.requests[1])
    assert said["call-0"]["code"] == "invalid_arguments" and "'b'" in said["call-0"]["error"]
    assert said["call-0"]["violations"]
    assert said["call-1"]["code"] == "tool_failed"
    assert said["call-2"]["code"] == "unknown_tool" and "add" in said["call-2"]["suggestions"]
    assert said["call-3"]["code"] == "invalid_arguments" and "not JSON: at byte 8" in said["call-3"]["error"]


def fill(asker, model, n):
    for i in range(n):
        model.script(calls(("echo", {"text": f"{i}" * 200})), says(f"answer {i}"))
        asker.chat(f"question {i}")


def test_trimming_with_masking(agents, asker, model):
    agents(tools_max=1000, match_first=False, max_history_tokens=300)
    fill(asker, model, 3)
    model.script(says("end"))
    asker.chat("last")
    sent = model.requests[0]["messages"]
    contents = [one["content"] for one in sent if one["role"] == "tool"]
    assert contents[0] == "[result of echo left out]"
    assert {one["tool_call_id"] for one in sent if one["role"] == "tool"} == \
        {call["id"] for one in sent for call in one.get("tool_calls", [])}
    assert sent[-1]["content"] == "last"


def test_trimming_without_masking(agents, asker, model):
    agents(tools_max=1000, match_first=False, max_history_tokens=300, mask_tool_results=False)
    fill(asker, model, 3)
    model.script(says("end"))
    asker.chat("last")
    sent = model.requests[0]["messages"]
    assert "left out" not in json.dumps(sent)
    assert [one["content"] for one in sent if one["role"] == "user"] == ["question 1", "question 2", "last"]


def test_last_messages_are_kept(agents, asker, model):
    agents(tools_max=1000, match_first=False, max_history_messages=4)
    for i in range(5):
        model.script(says(f"answer {i}"))
        assert asker.chat(f"question {i}")["history"] <= 4
    history = asker.ask("history")["messages"]
    assert [one["text"] for one in history] == ["question 3", "answer 3", "question 4", "answer 4"]
    assert [one["text"] for one in asker.ask("history", {"limit": 1})["messages"]] == ["answer 4"]


@pytest.mark.parametrize("topic", ["mycroft.stop", "ovos.stop", "recognizer_loop:record_begin",
                                   "ovos.listener.record.started"])
def test_barge_in_ends_a_turn(agent, asker, model, topic):
    model.script(calls(("wait", {"seconds": 15})), says("never"))
    mark = asker.begin("wait", speak=True)
    model.wait_for_requests(1, EVENT_SECONDS)
    until(lambda: asker.call("ovos.tools.status")["calls"]["in_flight"], EVENT_SECONDS, "the call running")
    asker.send(topic, {}, PERSON_OF_DEFAULT)
    answer = asker.end_of(mark)
    assert answer["finish"] == "cancelled" and asker.spoken() == []
    until(lambda: not asker.call("ovos.tools.status")["calls"]["in_flight"], EVENT_SECONDS, "the call cancelled")
    history = asker.ask("history")["messages"]
    assert [one["role"] for one in history] == ["user", "assistant", "tool", "assistant"]
    assert "interrupted" in history[2]["text"] and history[3]["text"] == "[interrupted]"


PERSON_OF_DEFAULT = {"source": "listener", "session": {"session_id": "default"}}


def test_no_noise_hides_a_stop(agent, asker, model):
    go = threading.Event()
    model.script(says("Never.", wait=go))
    mark = asker.begin("hello")
    model.wait_for_requests(1, EVENT_SECONDS)
    for _ in range(400):
        asker.send("recognizer_loop:record_begin", {}, {"session": {"session_id": "elsewhere"}})
    asker.send("mycroft.stop", {}, PERSON_OF_DEFAULT)
    assert asker.end_of(mark)["finish"] == "cancelled"
    go.set()


def test_a_stop_of_another_session_does_not_end_a_turn(agent, asker, model):
    go = threading.Event()
    model.script(says("Here.", wait=go))
    mark = asker.begin("hello", {"session": {"session_id": "s1"}})
    model.wait_for_requests(1, EVENT_SECONDS)
    asker.send("mycroft.stop", {})
    assert asker.ask("cancel")["cancelled"] is False
    go.set()
    assert asker.end_of(mark)["answer"] == "Here."


@pytest.mark.parametrize("inherited", ["_namespace_compat_twin", "_intent_compat_twin"])
def test_a_stop_with_an_inherited_mark_ends_a_turn(agent, asker, model, inherited):
    """A core with an old client copies the mark of the utterance."""
    go = threading.Event()
    model.script(says("Here.", wait=go))
    mark = asker.begin("hello", {"session": {"session_id": "s1"}})
    model.wait_for_requests(1, EVENT_SECONDS)
    asker.send("mycroft.stop", {}, {"session": {"session_id": "s1"}, inherited: True})
    assert asker.end_of(mark)["finish"] == "cancelled"
    go.set()


@pytest.mark.parametrize("inherited", ["_namespace_compat_twin", "_intent_compat_twin"])
def test_a_request_with_an_inherited_mark_is_answered(agent, asker, model, inherited):
    model.script(calls(("add", {"a": 1, "b": 1})), says("Two."))
    mark = asker.begin("hello", {"session": {"session_id": "s1"}, inherited: True})
    assert asker.end_of(mark)["answer"] == "Two."


def test_no_tools(agent, asker, model):
    model.script(says("Hello."))
    assert asker.chat("hi", profile="none")["answer"] == "Hello."
    assert "tools" not in model.requests[0] and "tool_choice" not in model.requests[0]


# --- the turn


def test_a_new_utterance_ends_the_turn_before(agent, asker, model):
    never = threading.Event()
    model.script(says("one", stall=never, cut=60), says("two"))
    first = asker.begin("first")
    model.wait_for_requests(1, EVENT_SECONDS)
    second = asker.begin("second")
    assert asker.end_of(first)["finish"] == "cancelled"
    assert asker.end_of(second)["answer"] == "two"
    never.set()


def test_cancel_ends_only_the_own_turn(agent, asker, device, model):
    never = threading.Event()
    model.script(says("one", stall=never))
    mark = asker.begin("first")
    model.wait_for_requests(1, EVENT_SECONDS)
    with Asker(device.url) as other:
        assert other.ask("cancel", context={"source": "other"})["cancelled"] is False
    assert asker.ask("cancel")["cancelled"] is True
    assert asker.end_of(mark)["finish"] == "cancelled"
    never.set()


def test_history_of_others_is_not_shown(agent, asker, device, model):
    model.script(says("secret"))
    asker.chat("mine")
    with Asker(device.url) as other:
        assert other.ask("history", context={"source": "other"})["messages"] == []
        assert other.ask("reset", context={"source": "other"}) == {"reset": True}
    assert len(asker.ask("history")["messages"]) == 2
    assert asker.ask("reset") == {"reset": True}
    assert asker.ask("history")["messages"] == []


def test_deltas_come_as_the_text_does(agent, asker, model):
    go_on = threading.Event()
    reply = says("It is **really** `noon` already.", stall=go_on)
    whole = reply.bytes()
    reply.cut = whole.index(b"\n\n", whole.index(b"\n\n") + 2) + 2  # after two words
    model.script(reply)
    mark = asker.begin("time", stream=True)
    asker.wait_for(lambda one: one.type == "ovos.tools.chat.delta")
    go_on.set()
    answer = asker.end_of(mark)
    assert answer["answer"] == "It is really noon already."
    deltas = asker.heard("ovos.tools.chat.delta")
    assert "".join(one.data["text"] for one in deltas) == answer["answer"] and len(deltas) > 1


def test_thoughts_are_neither_spoken_nor_kept(agent, asker, model):
    model.script(says("<think>Secret plans.</think> Yes."), says("ok"))
    assert asker.chat("hm", speak=True)["answer"] == "Yes."
    assert asker.spoken() == ["Yes."]
    asker.chat("again")
    assert "Secret" not in json.dumps(model.requests[1])


def test_a_trigger_needs_no_model(agents, asker, model):
    agents(tools_max=1000)
    model.script()
    answer = asker.chat("what is three plus four", speak=True)
    assert (answer["answer"], answer["finish"], answer["rounds"], answer["usage"]) == \
        ("That makes 7.", "answer", 0, None)
    assert [(one["name"], one["ok"]) for one in answer["calls"]] == [("add", True)]
    assert asker.spoken() == ["That makes 7."] and model.requests == []


def test_a_trigger_that_fails_says_so(agents, asker, model):
    agents(tools_max=1000)
    answer = asker.chat("what is one divided by zero")
    assert answer["rounds"] == 0 and answer["answer"].startswith("That did not work: ")
    assert "RuntimeError" not in answer["answer"] and answer["calls"][0]["ok"] is False


def test_an_utterance_without_a_trigger_goes_to_the_model(agents, asker, model):
    agents(tools_max=1000)
    model.script(says("Love."))
    assert asker.chat("what is love plus hate")["answer"] == "Love."


def test_a_profile_narrows(agent, asker, model):
    model.script(calls(("multiply", {"a": 2, "b": 3})), says("hidden"))
    answer = asker.chat("x", profile="sums")
    assert sorted(names(model.requests[0])) == ["add", "subtract"]
    assert tool_messages(model.requests[1])["call-0"]["code"] == "unknown_tool"
    assert answer["calls"][0]["ok"] is False


def test_names_of_two_toolboxes_are_mapped_back(agent, asker, model):
    model.script(says("ok"))
    asker.chat("x")
    shared = [name for name in names(model.requests[0]) if "__" in name]
    assert shared and len(set(names(model.requests[0]))) == len(names(model.requests[0]))
    model.script(calls((shared[0], {"value": -3})), says("ok"))
    answer = asker.chat("x")
    assert answer["calls"][0] == {**answer["calls"][0], "name": shared[0].split("__")[1], "ok": True}


def test_calls_are_made_in_the_name_of_the_asker(agent, asker, model):
    asker.call("ovos.tools.watch", {"seconds": 60})
    model.script(calls(("add", {"a": 1, "b": 2})), says("3"))
    asker.chat("x", {"source": "kitchen", "session": {"session_id": "s9"}})
    done = asker.wait_for(lambda one: one.type == "ovos.tools.call.completed") \
        if not asker.heard("ovos.tools.call.completed") else asker.heard("ovos.tools.call.completed")[0]
    assert (done.data["source"], done.data["session_id"]) == ("kitchen", "s9")
    sent = asker.heard("ovos.tools.invoke")[0]
    assert sent.context["via"] == "toolbox-agent"


def test_the_third_time_is_a_hint(agent, asker, model):
    same = calls(("add", {"a": 1, "b": 2}))
    model.script(same, calls(("add", '{ "b": 2, "a": 1 }')), same, says("3"))
    answer = asker.chat("again and again")
    assert [one["ok"] for one in answer["calls"]] == [True, True, False]
    assert tool_messages(model.requests[3])["call-0"]["code"] == "repeated"


def test_too_many_rounds_end_without_tools(agents, asker, model):
    agents(tools_max=1000, match_first=False, max_rounds=2)
    model.script(calls(("add", {"a": 1, "b": 1})), calls(("add", {"a": 2, "b": 1})), says("I stop."))
    answer = asker.chat("loop")
    assert (answer["answer"], answer["finish"], answer["rounds"]) == ("I stop.", "limit", 3)
    assert "tools" in model.requests[1] and "tools" not in model.requests[2]


def test_a_model_that_loops_for_ever_is_ended(agents, asker, model):
    agents(tools_max=1000, match_first=False, max_rounds=2)
    model.script(*[calls(("add", {"a": i, "b": 1})) for i in range(5)])
    answer = asker.chat("loop")
    assert (answer["finish"], answer["rounds"]) == ("limit", 3)
    assert answer["answer"] == "I could not finish this in the time I have."


def test_nothing_is_said_after_a_quiet_tool(agent, asker, model):
    model.script(calls(("quiet", {"value": -3})))
    answer = asker.chat("hush", speak=True)
    assert (answer["answer"], answer["rounds"], len(model.requests)) == ("Done, 3.", 1, 1)
    assert asker.spoken() == ["Done, 3."]


def test_a_silence_is_filled_once(agent, asker, model):
    model.script(calls(("slow", {"seconds": 2})), says("There."))
    asker.chat("slowly", speak=True)
    assert asker.spoken() == ["One moment.", "There."]


def test_a_follow_up_opens_the_microphone(agents, asker, model):
    agents(tools_max=1000, match_first=False, follow_up=True)
    model.script(says("Fine. And you?"))
    asker.chat("how are you", speak=True)
    assert [(one.data["utterance"], one.data["expect_response"]) for one in asker.heard("speak")] == \
        [("Fine.", False), ("And you?", True)]


def test_a_person_is_waited_for(agents, asker, device, model):
    agents(tools_max=1000, match_first=False, turn_ms=8000)
    with Person(device.url) as person:
        person.attach()
        model.script(calls(("risky", {"value": -2})), says("two"))
        mark = asker.begin("dare")
        question = person.wait_for(lambda one: one.type == "ovos.tools.approval.requested")
        asker.send("recognizer_loop:record_begin", {}, PERSON_OF_DEFAULT)
        time.sleep(8.2)  # longer than the turn may take: its clock stands
        person.call("ovos.tools.approval.respond", {"id": question.data["id"], "decision": "once"})
        assert asker.end_of(mark)["answer"] == "two"


def test_a_turn_that_takes_too_long_is_ended(agents, asker, model):
    agents(tools_max=1000, match_first=False, turn_ms=1000)
    model.script(calls(("wait", {"seconds": 15})))
    answer = asker.chat("wait")
    assert (answer["finish"], answer["reason"]) == ("limit", "the time of the turn is over")


def test_many_tools_are_found_by_words(device, asker, model, agents):
    agents(match_first=False, tools_max=8)
    model.script(calls(("search_tools", {"query": "divide numbers"})),
                 calls(("call_tool", {"name": "divide", "arguments": {"a": 6, "b": 2}})), says("3"))
    answer = asker.chat("multiply two numbers")
    offered = names(model.requests[0])
    assert offered[:2] == ["search_tools", "call_tool"] and "multiply" in offered and len(offered) <= 10
    found = tool_messages(model.requests[1])["call-0"]["tools"]
    assert "divide" in [one["name"] for one in found] and "parameters" in found[0]
    assert tool_messages(model.requests[2])["call-0"] == {"result": 3.0}
    assert [one["name"] for one in answer["calls"]] == ["search_tools", "divide"]


def test_usage_is_summed(agent, asker, model):
    used = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    model.script(calls(("add", {"a": 1, "b": 1}), usage=used), says("2", usage=used))
    assert asker.chat("x")["usage"] == {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24}


@pytest.mark.parametrize("data", [{}, {"utterance": ""}, {"utterance": 5}, {"utterance": "x", "lang": 5},
                                  {"utterance": "x", "stream": "yes"}, {"utterance": "x", "speak": 1},
                                  {"utterance": "x", "profile": []}, {"utterance": "x", "system": {}},
                                  {"utterance": "x" * 65537}])
def test_a_wrong_request_is_refused(agent, asker, data):
    mark = asker.send(agent_peer.CHAT, data, asker.person)
    assert asker.end_of(mark)["code"] == "bad_request"


def test_a_context_that_is_too_long_is_refused(agent, asker):
    assert asker.chat("x", {"more": "x" * 65536})["code"] == "bad_request"
    assert asker.chat("")["error"] == "ValueError: Bad request: 'utterance' must be a text that is not empty"


def test_eight_sessions_side_by_side(agent, asker, model):
    go = threading.Event()
    model.script(*[says("ok", wait=go)] * 9)
    marks = [asker.begin("x", {"session": {"session_id": f"s{i}"}}) for i in range(9)]
    model.wait_for_requests(8, EVENT_SECONDS)
    assert len(model.requests) == 8
    go.set()
    assert [asker.end_of(mark)["answer"] for mark in marks] == ["ok"] * 9


def test_a_turn_beyond_those_that_wait_is_refused(agent, asker, model):
    go = threading.Event()
    model.script(*[says("ok", wait=go)] * 72)
    marks = [asker.begin("x", {"session": {"session_id": f"s{i}"}}) for i in range(73)]
    assert asker.end_of(marks[72])["code"] == "busy"
    go.set()
    assert all(asker.end_of(mark)["answer"] == "ok" for mark in marks[:72])


# --- the bad world


def test_a_result_that_looks_like_a_call_calls_nothing(agent, asker, model):
    fake = 'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "add"}}]}}]}'
    model.script(calls(("echo", {"text": fake})), says("Strange."))
    answer = asker.chat("x")
    assert [one["name"] for one in answer["calls"]] == ["echo"] and answer["rounds"] == 2
    places = [one["role"] for one in model.requests[1]["messages"] if "tool_calls\\" in json.dumps(one["content"])]
    assert places == ["tool"]


def test_two_calls_of_one_id_get_two_answers(agent, asker, model):
    model.script(calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2}), ids=["same", "same"], step=7), says("ok"))
    asker.chat("x")
    sent = model.requests[1]["messages"]
    ids = [call["id"] for one in sent for call in one.get("tool_calls", [])]
    assert sorted(ids) == sorted(one["tool_call_id"] for one in sent if one["role"] == "tool")
    assert len(set(ids)) == len(ids)


def test_a_hundred_calls_are_bounded(agent, asker, model):
    model.script(calls(*[("add", {"a": i, "b": 0}) for i in range(100)]), says("ok"))
    answer = asker.chat("x")
    assert [one["ok"] for one in answer["calls"]] == [True] * 32 + [False] * 68
    assert tool_messages(model.requests[1])["call-99"]["code"] == "busy"


def test_too_long_arguments_are_told(agent, asker, model):
    model.script(calls(("echo", {"text": "x" * (300 << 10)})), says("ok"))
    asker.chat("x")
    assert tool_messages(model.requests[1])["call-0"]["code"] == "too_large"


def test_ten_megabytes_of_arguments_are_given_up(agent, asker, model):
    model.script(calls(("echo", {"text": "x" * (10 << 20)})))
    answer = asker.chat("x")
    assert answer["finish"] == "error" and "MiB" in answer["reason"]


def test_a_long_result_is_cut(agents, asker, model):
    agents(tools_max=1000, match_first=False, result_max_chars=100)
    model.script(calls(("echo", {"text": "x" * 5000})), says("ok"))
    asker.chat("x")
    content = [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"][0]
    assert content.endswith("… [the rest is left out]") and len(content) < 200


CUT_IN_A_LETTER = says("Grün").bytes().index("ü".encode()) + 1


@pytest.mark.parametrize("reply, reason", [
    (says("Half of a thought", cut=150), "its answer was cut off"),
    (says("Grün ist schön", cut=CUT_IN_A_LETTER), "its answer was cut off"),
    (says("No end", finish=None, done=False), "its answer was cut off"),
    (calls(("add", {"a": 1, "b": 1}), finish=None, done=False), "its answer was cut off"),
    (raw(b"<html>Log in</html>", "text/html"), "its answer is text/html, and no JSON"),
    (raw(b'{"choices": [{"message": {"content": "Ha'), "no JSON object"),
    (raw(b'{"choices": []}'), "no choices"),
    (raw(b"data: nonsense\n\n", "text/event-stream"), "no JSON object"),
    (raw(b"", "text/event-stream"), "its answer is empty"),
    (raw(b"x" * (9 << 20), "text/event-stream"), "MiB"),
    (says(""), "its answer is empty"),
    (status(400, "no such model"), "HTTP 400: no such model"),
    (status(401, "who"), "HTTP 401: who"),
    (status(302, "", Location="http://127.0.0.1:1/"), "HTTP 302"),
])
def test_an_answer_that_cannot_be_used(agent, asker, model, reply, reason):
    model.script(reply)
    answer = asker.chat("x", speak=True)
    assert answer["finish"] == "error" and reason in answer["reason"]
    assert answer["calls"] == [] and len(model.requests) == 1
    assert asker.spoken()[-1] == "Something went wrong while I was thinking."
    model.script(says("Better."))
    assert asker.chat("again")["answer"] == "Better."


def test_a_cut_answer_stays_marked(agent, asker, model):
    model.script(says("First. Second.", finish=None, done=False))
    asker.chat("x", speak=True)
    assert asker.spoken()[:2] == ["First.", "Second."]
    assert asker.ask("history")["messages"][-1]["text"] == "First. Second. [interrupted]"


def test_an_answer_at_its_length_is_marked(agent, asker, model):
    model.script(says("Once upon", finish="length"))
    answer = asker.chat("story")
    assert (answer["answer"], answer["finish"], answer["truncated"]) == ("Once upon", "answer", True)


def test_a_server_that_does_not_stream(agent, asker, model):
    model.script(calls(("add", {"a": 1, "b": 1}), stream=False), says("Two.", stream=False))
    assert asker.chat("x")["answer"] == "Two."


def test_chunks_of_one_byte(agent, asker, model):
    model.script(calls(("echo", {"text": "grün"}), step=1), says("Grün.", step=1))
    assert asker.chat("x")["answer"] == "Grün."
    assert tool_messages(model.requests[1])["call-0"] == {"text": "grün"}


def test_a_busy_server_is_asked_again(agent, asker, model):
    model.script(status(503, "loading"), says("Now."))
    assert asker.chat("x")["answer"] == "Now."
    assert len(model.requests) == 2


def test_a_server_without_stream_options(agents, asker, model):
    agents(tools_max=1000, match_first=False, temperature=0.5)
    model.script(status(400, "unknown: stream_options"), says("Plain."))
    assert asker.chat("x")["answer"] == "Plain."
    assert "stream_options" in model.requests[0] and "stream_options" not in model.requests[1]
    assert model.requests[1]["temperature"] == 0.5 and model.requests[1]["model"] == "scripted"


def test_no_server_is_told_once(alone, device, tmp_path):
    agent = agent_peer.Agent(tmp_path, device.url, {"base_url": f"http://127.0.0.1:{free_port()}/v1"})
    try:
        with Asker(device.url) as asker:
            until(asker.is_there, EVENT_SECONDS, "the agent ready")
            first = asker.chat("tell me", speak=True)
            assert (first["finish"], first["answer"]) == ("error", "I cannot reach my language model right now.")
            assert "refused" in first["reason"]
            second = asker.chat("tell me", speak=True)
            assert second["answer"] == first["answer"] and asker.spoken() == [first["answer"]]
            # Matching goes on.
            assert asker.chat("what is three plus four")["answer"] == "That makes 7."
    finally:
        agent.end()


def test_no_tool_service_leaves_the_model(model, tmp_path):
    """The bus is there, and no toolboxd."""
    from processes import OvosBus
    bus = OvosBus(tmp_path / "bus")
    agent = agent_peer.start(tmp_path / "agent", bus.url, model)
    try:
        with Asker(bus.url) as asker:
            model.script(says("Just me."), says("Still."))
            assert asker.chat("hello")["answer"] == "Just me."
            assert "tools" not in model.requests[0]
            assert asker.chat("hello")["answer"] == "Still."
    finally:
        agent.end()
        bus.kill()


def test_the_bus_goes_in_a_turn(model, tmp_path):
    from processes import OvosBus
    bus = OvosBus(tmp_path / "bus")
    agent = agent_peer.start(tmp_path / "agent", bus.url, model, match_first=False)
    never = threading.Event()
    try:
        model.script(says("x", stall=never), says("Back."))
        with Asker(bus.url) as asker:
            asker.begin("hello")
            model.wait_for_requests(1, EVENT_SECONDS)
        bus.kill()
        until(lambda: "the bus was lost" in agent.log(), EVENT_SECONDS, "the loss noticed")
        bus = OvosBus(tmp_path / "again", bus.port)
        with Asker(bus.url) as asker:
            until(asker.is_there, EVENT_SECONDS, "the agent back")
            assert asker.chat("hello")["answer"] == "Back."
    finally:
        never.set()
        agent.end()
        bus.kill()


# --- the key, and the program


def test_a_key_is_shown_nowhere(alone, device, model, tmp_path):
    key = "sk-very-secret-123"
    path = tmp_path / "key"
    path.write_text(key + "\n")
    path.chmod(0o600)
    agent = agent_peer.start(tmp_path, device.url, model, api_key_file=str(path), match_first=False)
    with Asker(device.url) as asker:
        model.script(status(401, f"bad key {key}"))
        answer = asker.chat("x")
    agent.end()
    assert model.heads[0]["Authorization"] == f"Bearer {key}"
    assert key not in json.dumps(answer) and key not in agent.log()


def test_a_key_that_others_can_read_is_refused(alone, device, tmp_path):
    path = tmp_path / "key"
    path.write_text("sk-1\n")
    path.chmod(0o644)
    agent = agent_peer.Agent(tmp_path, device.url, {"api_key_file": str(path)})
    assert agent.process.wait(EVENT_SECONDS) == 1
    assert "only its owner may read it" in agent.log()


def test_an_unknown_setting_is_reported(alone, device, model, tmp_path):
    agent = agent_peer.start(tmp_path, device.url, model, modell="x")
    assert re.search(r"mycroft.conf:1 /toolboxd/agent/modell: unexpected property 'modell'", agent.log())
    agent.end()


def test_it_stops_in_order(alone, device, model, tmp_path):
    agent = agent_peer.start(tmp_path, device.url, model, match_first=False)
    never = threading.Event()
    model.script(says("x", stall=never))
    with Asker(device.url) as asker:
        mark = asker.begin("hello")
        model.wait_for_requests(1, EVENT_SECONDS)
        assert agent.end() == 0
        assert asker.end_of(mark)["finish"] == "cancelled"
    never.set()


# --- as a fallback skill of OVOS

FALLBACK = "ovos.skills.fallback."


@pytest.fixture
def skill(agents, asker, model):
    agents(tools_max=1000, match_first=False, listen="fallback")

    def is_ready():
        asker.send(FALLBACK + "ping", {"utterances": ["x"], "lang": "en"}, {"session": {"session_id": "default"}})
        return asker.wait_for(lambda one: one.type == FALLBACK + "pong").data["can_handle"]

    until(is_ready, EVENT_SECONDS, "the model reachable")
    asker.seen.clear()
    return asker


def test_it_is_asked_as_a_fallback(skill, model):
    model.script(calls(("add", {"a": 1, "b": 1})), says("Two. Good."))
    skill.send(FALLBACK + "toolbox-agent.request", {"utterances": ["one and one"], "lang": "en"},
               {"source": "core", "session": {"session_id": "default"}})
    skill.wait_for(lambda one: one.type == "ovos.utterance.handled")
    assert len(skill.heard(FALLBACK + "toolbox-agent.start")) == 1
    assert skill.heard(FALLBACK + "toolbox-agent.response")[0].data == \
        {"result": True, "fallback_handler": "toolbox-agent"}
    assert skill.spoken() == ["Two.", "Good."]
    assert skill.heard("ovos.tools.invoke")[0].context["source"] == "ovos-fallback"


def test_a_core_that_hands_the_mark_of_a_twin_on_gets_an_answer(skill, model):
    context = {"session": {"session_id": "default"}, "_namespace_compat_twin": True}
    model.script(says("Hello."))
    skill.send(FALLBACK + "ping", {"utterances": ["hello"], "lang": "en"}, context)
    assert skill.wait_for(lambda one: one.type == FALLBACK + "pong").data["can_handle"]
    skill.send(FALLBACK + "toolbox-agent.request", {"utterances": ["hello"], "lang": "en"}, context)
    assert skill.wait_for(lambda one: one.type == FALLBACK + "toolbox-agent.response").data["result"]
    assert skill.spoken() == ["Hello."]


def test_a_core_that_waits_no_longer_gets_silence(skill, model):
    never = threading.Event()
    model.script(says("x", stall=never))
    skill.send(FALLBACK + "toolbox-agent.request", {"utterances": ["hello"], "lang": "en"},
               {"session": {"session_id": "default"}, "utterance_id": "u1"})
    model.wait_for_requests(1, EVENT_SECONDS)
    skill.send(FALLBACK + "force_timeout", {"skill_id": "toolbox-agent"}, {"session": {"session_id": "default"}})
    end = skill.wait_for(lambda one: one.type == FALLBACK + "toolbox-agent.response")
    assert end.data["result"] is False and skill.heard(FALLBACK + "toolbox-agent.killed") and skill.spoken() == []
    never.set()


def test_it_registers_when_a_core_is_there_again(skill):
    skill.send("mycroft.skills.initialized", {})
    message = skill.wait_for(lambda one: one.type == FALLBACK + "register" and one.context["source"] == "toolbox-agent")
    assert message.data == {"skill_id": "toolbox-agent", "priority": 90}


def test_it_is_silent_in_a_conversation(agent, asker):
    asker.send("toolbox-agent.converse.ping", {"utterances": ["x"]}, {"session": {"session_id": "default"}})
    pong = asker.wait_for(lambda one: one.type == "skill.converse.pong")
    assert pong.data == {"skill_id": "toolbox-agent", "can_handle": False}


# --- figures


def test_three_reads_run_side_by_side(agent, asker, model, figure):
    # The flag makes a third call of two equal ones: a third time is not run.
    model.script(calls(*[("slow", {"seconds": 1})] * 2, ("slow", {"seconds": 1, "run_llm": True})), says("ok"))
    began = time.monotonic()
    answer = asker.chat("x")
    figure("three reads of 1 s, s", time.monotonic() - began)
    assert [one["ok"] for one in answer["calls"]] == [True, True, True]


def test_a_reload_is_in_force_for_turns_that_begin_after_it(alone, device, model, asker, tmp_path):
    agent = agent_peer.start(tmp_path, device.url, model, system="Be the first.")

    def reload(log={}, **settings):
        def reloads():
            return agent.log().count("Reloaded") + agent.log().count("stays in force")

        n = reloads()
        write_configuration(tmp_path, {"toolboxd": {"agent": {"base_url": model.url, **settings}, "log": log}})
        agent.process.send_signal(signal.SIGHUP)
        until(lambda: reloads() > n, EVENT_SECONDS, "the reload")

    going = threading.Event()
    model.script(calls(("add", {"a": 1, "b": 2}), stall=going), says("3."))
    mark = asker.begin("add")
    model.wait_for_requests(1, EVENT_SECONDS)
    reload(system="Be the second.", model="other")
    going.set()
    assert asker.end_of(mark)["answer"] == "3."
    assert [(one["messages"][0]["content"], one["model"]) for one in model.requests] == [("Be the first.", "scripted")] * 2
    model.script(says("Yes."))
    assert asker.chat("still there?")["history"] == 6
    assert (model.requests[0]["messages"][0]["content"], model.requests[0]["model"]) == ("Be the second.", "other")
    (tmp_path / "key").write_text("secret")
    (tmp_path / "key").chmod(0o644)
    reload(api_key_file=str(tmp_path / "key"))
    assert "only its owner may read it" in agent.log() and "The configuration before stays in force" in agent.log()
    model.script(says("Yes."))
    assert asker.chat("and now?")["history"] == 8
    assert model.requests[0]["messages"][0]["content"] == "Be the second."
    # The log, too, is as before.
    reload(log={"format": "json"})
    reload(log={"format": "plain"}, api_key_file=str(tmp_path / "key"))
    assert "stays in force" in json.loads(agent.log().splitlines()[-1])["message"]
    assert agent.end() == 0


def test_a_round_costs_little(agent, asker, model, figure):
    """From the last byte of an answer with a call to the next request: the loop, and the call of `add`."""
    overheads = []
    for i in range(10):
        model.script(*[calls(("add", {"a": i, "b": n})) for n in range(7)], says("ok"))
        asker.chat("x")
        overheads += [(came - sent) / 1e6 for sent, came in zip(model.sent_ns, model.came_ns[1:])]
        asker.ask("reset")
    figure("ms a round, with a call of add, median", statistics.median(overheads))
    began, n = time.monotonic(), 20
    for _ in range(n):
        asker.invoke("add", {"a": 1, "b": 2})
    figure("ms a call of add", (time.monotonic() - began) / n * 1e3)
    assert len(overheads) == 70


def test_memory_is_flat(agents, asker, model, times, figure):
    """Turns with a call each, in a conversation that is trimmed, and in many that give way."""
    agent = agents(tools_max=1000, match_first=False, max_history_messages=20)
    n = times(100, 10000)

    def turn(i):
        model.script(calls(("add", {"a": i, "b": 1})), says("It is so. Really."))
        session = {"session_id": f"s{i % 400}" if i % 2 else "default"}
        assert asker.chat("and?", {"session": session}, stream=True)["finish"] == "answer"
        asker.seen.clear()

    for i in range(n):  # until every conversation is there that will be
        turn(i)
    before = resident_kb(agent.pid)
    for i in range(n):
        turn(i)
    grown = resident_kb(agent.pid) - before
    figure("turns", 2 * n)
    figure("grown KB", grown)
    if n >= 10000 and not IS_SANITIZED:
        assert grown < 1024
