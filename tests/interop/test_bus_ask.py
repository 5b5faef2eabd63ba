# SPDX-License-Identifier: Apache-2.0
"""Tools of kind bus that ask a person, with a client that plays ovos-core, the listener and the voice."""
import signal
import time

import pytest
from caller import Caller
from conftest import BUSES
from test_bus_tools import DEFAULT, SATELLITE, answer_of, ask, result_of, sent, settle, take, unmarked, write

ID = "toolboxd"
ANSWER = f"{ID}.converse.get_response"
DISABLE = "skill.converse.get_response.disable"
SYNC = "ovos.session.sync"
EXPIRES_S = 4.9  # after the deadline of the call, less what is rounded (ASK_EXPIRES_S)
LISTEN_MS = 1000  # of the tool whose question is late soon

CONVERSE = {
    "name": "converse", "argument_schema": {
        "type": "object", "required": ["message"],
        "properties": {"message": {"type": "string"}, "wait": {"type": "boolean"}}},
    "bus": {"ask": "{message}", "when": "wait", "listen_ms": 30000, "result": {"answer": {"at": "/utterances/0"}}}}
HURRIED = {**CONVERSE, "name": "hurried", "timeout_ms": 700}


def listening(name, milliseconds):
    return {**CONVERSE, "name": name, "bus": {**CONVERSE["bus"], "listen_ms": milliseconds}}


BRIEF, LONGER = listening("brief", LISTEN_MS), listening("longer", 8 * LISTEN_MS)


@pytest.fixture(params=BUSES)
def person(request, launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "talk", [CONVERSE, HURRIED, BRIEF, LONGER])
    service = launch(None, [folder], kind=request.param)
    service.forget_who_left()
    with Caller(service.url) as caller:
        caller.service = service
        yield caller


def asked(person, name="converse", context=None, **fields):
    """Call the tool; its mark, when the question is open."""
    began = time.time()
    mark = ask(person, name, {"message": "Which room?"}, context, **fields)
    sync = sent(person, SYNC)
    assert sync.data == {} and sync.context["skill_id"] == ID
    session = sync.context["session"]
    assert session["session_id"] == "default"
    assert [handler["skill_id"] for handler in session["converse_handlers"]] == [ID]
    assert session["response_mode"]["skill_id"] == ID
    assert session["response_mode"]["expires_at"] > began + EXPIRES_S
    for topic in "intent.service.skills.activate", "skill.converse.get_response.enable":
        message = sent(person, topic)
        assert message.data == {"skill_id": ID} and message.context["skill_id"] == ID
    speak = sent(person, "speak")
    assert speak.data["utterance"] == "Which room?" and speak.data["expect_response"] is True
    assert speak.context["skill_id"] == ID
    person.speak = speak
    return mark


def expect_closed(person):
    """The question is closed, and once more for a core that mixes up messages: the next words go to the assistant."""
    for _ in range(2):
        message = sent(person, DISABLE)
        assert message.data == {"skill_id": ID} and message.context["skill_id"] == ID
        assert message.context["session"] == DEFAULT
        assert sent(person, "intent.service.skills.deactivate").data == {"skill_id": ID}
    assert not [one for one in settle(person) if one.type == DISABLE]


def close_of_start(person):
    person.seen = [one for one in settle(person) if one.type not in (DISABLE, "intent.service.skills.deactivate")]


def test_the_answer_goes_to_the_tool(person):
    close_of_start(person)
    mark = asked(person, context={"session": {**DEFAULT, "lang": "de-de"}})
    assert person.speak.data["lang"] == "de-de" and person.speak.context["toolboxd_call"]
    unmarked(person, "recognizer_loop:audio_output_start", {})
    unmarked(person, "recognizer_loop:audio_output_end", {})
    unmarked(person, ANSWER, {"utterances": ["the kitchen"], "lang": "de-de"})
    assert result_of(person, mark) == {"answer": "the kitchen"}
    expect_closed(person)
    # A second one of the same words is for nobody.
    unmarked(person, ANSWER, {"utterances": ["the kitchen"]})
    mark = asked(person)
    unmarked(person, ANSWER, {"utterances": ["the hall"]})
    assert result_of(person, mark) == {"answer": "the hall"}
    expect_closed(person)


def test_a_text_that_is_no_question_is_only_spoken(person):
    mark = ask(person, "converse", {"message": "Good night", "wait": False}, {"session": SATELLITE})
    speak = sent(person, "speak")
    assert speak.data["expect_response"] is False and speak.context["session"] == SATELLITE
    assert result_of(person, mark) == {"sent": True}
    assert not [one for one in settle(person) if one.type in (SYNC, "skill.converse.get_response.enable")]


def test_a_question_is_in_the_language_of_the_device_unless_the_caller_has_one(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "talk", [CONVERSE])
    (tmp_path / "mycroft.conf").write_text('{"lang": "nl-nl"}')
    with Caller(launch(None, [folder], args=["--config", tmp_path / "mycroft.conf"]).url) as person:
        asked(person)
        assert person.speak.data["lang"] == "nl-nl"


def test_silence_is_late(person):
    close_of_start(person)
    began = time.monotonic()
    mark = asked(person, "brief")
    answer = answer_of(person, mark)
    assert answer["code"] == "timeout" and "nobody answered" in answer["error"], answer
    assert answer["timeout_ms"] == LISTEN_MS and time.monotonic() - began >= LISTEN_MS / 1000
    expect_closed(person)
    mark = asked(person)
    unmarked(person, ANSWER, {"utterances": []})
    assert answer_of(person, mark)["code"] == "timeout"
    expect_closed(person)


def test_the_time_for_an_answer_stands_still_while_somebody_speaks(person):
    close_of_start(person)
    # On a machine that holds an event up until the time is over, with more time.
    for name, listen_ms in ("brief", LISTEN_MS), ("longer", 8 * LISTEN_MS):
        mark = asked(person, name)
        for event in "audio_output", "record":
            unmarked(person, f"recognizer_loop:{event}_{'start' if event == 'audio_output' else 'begin'}", {})
            time.sleep(1.5 * listen_ms / 1000)
            unmarked(person, f"recognizer_loop:{event}_end", {})
        unmarked(person, ANSWER, {"utterances": ["at last"]})
        answer = answer_of(person, mark)
        expect_closed(person)
        if "result" in answer:
            break
    assert answer["result"] == {"answer": "at last"}


def test_the_deadline_of_the_call_closes_the_question(person):
    close_of_start(person)
    mark = asked(person, "hurried")
    assert "nobody answered" in answer_of(person, mark)["error"]
    expect_closed(person)


def test_a_cancelled_call_closes_the_question(person):
    close_of_start(person)
    mark = asked(person, call_id="c")
    person.send("ovos.tools.cancel", {"call_id": "c"})
    assert answer_of(person, mark)["code"] == "cancelled"
    expect_closed(person)


@pytest.mark.parametrize("topic, data", [
    ("mycroft.stop", {}), ("ovos.stop", {}), (f"{ID}.get_response.killed", {}),
    ("mycroft.skills.abort_question", {"skill_id": ID}), ("ovos.skills.converse.force_timeout", {"skill_id": ID})])
def test_a_person_who_stops_it_cancels_the_question(person, topic, data):
    close_of_start(person)
    mark = asked(person)
    unmarked(person, topic, data, SATELLITE)
    if data:
        unmarked(person, topic, {"skill_id": "another"})
    settle(person)
    unmarked(person, topic, data)
    assert answer_of(person, mark)["code"] == "cancelled"
    expect_closed(person)


@pytest.mark.parametrize("topic", ["toolboxd:stop", "toolboxd.stop"])
def test_a_person_who_tells_ovos_core_to_stop_cancels_the_question(person, topic):
    """ovos-core gives the word to the skill whose question is open."""
    close_of_start(person)
    mark = asked(person)
    ping = person.send("ovos.stop.ping", {}, {"session": DEFAULT})
    pong = person.wait_for(lambda one: one.type == "skill.stop.pong" and one.context.get("mark") == ping)
    assert pong.data == {"skill_id": ID, "can_handle": True}
    unmarked(person, topic, {"skill_id": ID}, SATELLITE)
    settle(person)
    unmarked(person, topic, {"skill_id": ID})
    assert answer_of(person, mark)["code"] == "cancelled"
    expect_closed(person)


def test_the_stop_of_another_call_cancels_the_question(person):
    close_of_start(person)
    mark = asked(person)
    unmarked(person, "mycroft.stop", {}, toolboxd_call="another")
    assert answer_of(person, mark)["code"] == "cancelled"
    expect_closed(person)


def test_only_its_satellite_can_open_a_question_in_a_session(person):
    mark = ask(person, "converse", {"message": "Which room?"}, {"session": SATELLITE})
    answer = answer_of(person, mark)
    assert answer["code"] == "denied"
    assert "only the satellite of session 'kitchen' can open a question" in answer["error"]
    assert not [one for one in settle(person) if one.type == "speak"]


def test_one_question_at_a_time(person):
    close_of_start(person)
    first = asked(person)
    second = ask(person, "converse", {"message": "And then?"})
    assert not [one for one in settle(person) if one.type == "speak"]
    unmarked(person, ANSWER, {"utterances": ["one"]})
    assert result_of(person, first) == {"answer": "one"}
    assert sent(person, "speak").data["utterance"] == "And then?"
    unmarked(person, ANSWER, {"utterances": ["two"]})
    assert result_of(person, second) == {"answer": "two"}


def test_a_daemon_that_stops_closes_the_question(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "talk", [CONVERSE])
    service = launch({"drain_ms": 200}, [folder], kind="ovos-messagebus")
    service.forget_who_left()
    with Caller(service.url) as person:
        close_of_start(person)
        mark = asked(person)
        unmarked(person, "recognizer_loop:record_begin", {})
        settle(person)
        service.daemon.process.send_signal(signal.SIGTERM)
        assert answer_of(person, mark)["code"] == "unavailable"
        assert take(person, lambda message: message.type == DISABLE).data == {"skill_id": ID}


def test_a_daemon_closes_at_its_start_what_a_killed_one_has_left(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "talk", [CONVERSE])
    service = launch(None, [folder], kind="ovos-messagebus")
    service.forget_who_left()
    with Caller(service.url) as person:
        close_of_start(person)
        asked(person)
        service.daemon.kill()
        service.daemon.has_ended = True
        launch(None, [folder], bus_url=service.url)
        assert sent(person, DISABLE).data == {"skill_id": ID}
