# SPDX-License-Identifier: Apache-2.0
"""Toolboxes of kind bus: messages of OVOS as tools, with a client that plays its services."""
import json
import os
import re
import time

import pages
import pytest
from caller import Caller, check_answer
from conftest import BUSES
from http_peer import Http, port_of
from processes import EVENT_SECONDS, ROOT, SLOWNESS, TOOLBOXCTL, environment, toolboxctl, until

PERCENT = {"type": "object", "properties": {"percent": {"type": "number"}}, "required": ["percent"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
VOLUME = "mycroft.volume.get"
REPLY = VOLUME + ".response"
DEFAULT = {"session_id": "default"}
SATELLITE = {"session_id": "kitchen", "lang": "de-de", "site_id": "k", "numbers": 1.10}

# service/core/bus/bus_calls.h
WAIT_S = min(EVENT_SECONDS, 30 * SLOWNESS)
LATE_S, DOUBLE_S, UNASKED_S = 1, 0.02, 0.2
TIMES = 10
BURST, RATE = 500, 100

VOLUME_TOOLS = [
    {"name": "set_volume", "argument_schema": PERCENT,
     "bus": {"topic": "mycroft.volume.set", "session": "default", "reply": False,
             "data": {"percent": {"arg": "percent", "scale": 0.01}, "play_sound": True}}},
    {"name": "get_volume", "risk": "read", "timeout_ms": int(20000 * SLOWNESS),
     "bus": {"topic": VOLUME, "session": "default", "reply": True,
             "result": {"percent": {"at": "/percent", "scale": 100}, "muted": {"at": "/muted", "optional": True}}}},
    {"name": "volume_here", "risk": "read", "timeout_ms": int(20000 * SLOWNESS),
     "bus": {"topic": VOLUME, "result": "/percent", "as": "loudness", "error": "/error"}},
]
MEDIA_TOOLS = [
    {"name": "seek", "argument_schema": {"type": "object", "properties": {"seconds": {"type": "integer"}}},
     "bus": {"topic": "ovos.common_play.seek", "session": "default", "reply": False, "data": {"seconds": "{seconds}"}}},
    {"name": "now_playing", "risk": "read",
     "bus": {"topic": "ovos.common_play.status", "reply": ["ovos.common_play.status.response", "ovos.media.status"]}},
    {"name": "play_sound", "argument_schema": {
        "type": "object", "properties": {"uri": {"type": "string"}, "wait": {"type": "boolean"}}},
     "bus": {"topic": "mycroft.audio.play_sound", "data": {"uri": "{uri}"}, "unless": "wait"}},
    {"name": "is_speaking", "risk": "read",
     "bus": {"topic": "mycroft.audio.speak.status", "reply": "mycroft.audio.speak.status", "result": "/speaking"}},
]
SPEECH_TOOLS = [
    {"name": "speak", "argument_schema": TEXT,
     "bus": {"topic": "speak", "reply": False, "data": {"utterance": "{text}", "meta": {"skill": "me"}}}},
    {"name": "show", "argument_schema": {"type": "object", "properties": {
        "text": {}, "title": {"type": "string"}, "tags": {"type": "array"}}},
     "bus": {"messages": [
         {"topic": "gui.value.set", "data": {"text": "{text}", "note": "{{text} is {text}, {", "list": ["a", "{title}", "b"]},
          "context": {"for": "{title}"}},
         {"topic": "gui.page.show", "data": {"page_names": ["SYSTEM_TextFrame"], "__idle": None, "tags": "{tags}"}}],
         "reply": False, "destination": "gui"}},
    {"name": "forward", "argument_schema": {"type": "object", "properties": {"fields": {"type": "object"}}},
     "bus": {"topic": "test.forward", "data": "{fields}", "reply": False}},
    {"name": "assistant", "risk": "execute", "timeout_ms": int(20000 * SLOWNESS), "argument_schema": TEXT,
     "bus": {"topic": "recognizer_loop:utterance", "data": {"utterances": ["{text}"]},
             "reply": ["ovos.utterance.handled", "complete_intent_failure"],
             "collect": {"topics": ["speak", "ovos.utterance.speak"], "at": "/utterance"},
             "result": {"answers": {"at": "/collected"}, "ended_by": {"at": "/topic"}}}},
]


def write(folder, stem, tools, **more):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps({"kind": "bus", "risk": "write", "tools": tools, **more}))
    return path


@pytest.fixture(params=BUSES)
def device(request, launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "volume", VOLUME_TOOLS)
    write(folder, "media", MEDIA_TOOLS)
    write(folder, "speech", [dict(tool) for tool in SPEECH_TOOLS if tool["name"] != "assistant"])
    write(folder, "assistant", [tool for tool in SPEECH_TOOLS if tool["name"] == "assistant"], risk="execute")
    service = launch({"approval": {"mode": "off"}}, [folder], kind=request.param)
    service.forget_who_left()
    with Caller(service.url) as caller:
        yield caller


def ask(caller, name, args=None, context=None, **fields):
    """Send a call; its mark."""
    return caller.send("ovos.tools.invoke", {"name": name, "args": args or {}, **fields}, context)


def take(caller, is_it):
    """The first message that is it, among those that came or is to come; and no longer among those."""
    found = next(filter(is_it, caller.seen), None) or caller.wait_for(is_it, WAIT_S)
    caller.seen.remove(found)
    return found


def settle(caller):
    """What came until the service has read all that was sent. It can still be taken."""
    seen = caller.settle()
    caller.seen[:0] = seen
    return seen


def answer_of(caller, mark):
    answer = take(caller, lambda message: message.type == "ovos.tools.invoke.response"
                  and message.context.get("mark") == mark)
    check_answer(answer)
    return answer.data


def result_of(caller, mark):
    answer = answer_of(caller, mark)
    assert "result" in answer, answer
    return answer["result"]


def sent(caller, topic):
    return take(caller, lambda message: message.type == topic and message.context.get("source") == "toolboxd")


def reply(caller, message, data, topic=None, **context):
    """Answer as Message.response() of OVOS does: with the context of the request."""
    caller.peer.send(json.dumps({"type": topic or message.type + ".response", "data": data,
                                 "context": {**message.context, **context}}))


def unmarked(caller, topic, data, session=DEFAULT, **context):
    """Answer as a service that makes a message of its own."""
    caller.peer.send(json.dumps({"type": topic, "data": data, "context": {"session": session, **context}}))


# ── what is sent ──────────────────────────────────────────────────────────────────────────────────


def test_a_number_is_multiplied_exactly_and_nothing_is_awaited(device):
    for percent, fraction in ("40", "0.4"), ("29", "0.29"), ("0", "0"), ("1e2", "1"), ("12.50", "0.125"):
        device.peer.send('{"type": "ovos.tools.invoke", "context": {"mark": "exact"},'
                         ' "data": {"name": "set_volume", "args": {"percent": %s}}}' % percent)
        message = sent(device, "mycroft.volume.set")
        assert f'"data": {{"percent":{fraction},"play_sound":true}}' in message.text.replace('"data":{', '"data": {'), message
        assert message.context["session"] == DEFAULT
        assert result_of(device, "exact") == {"sent": True}


def test_the_session_of_the_caller_goes_on_byte_for_byte(device):
    text = json.dumps(SATELLITE)
    device.peer.send('{"type": "ovos.tools.invoke", "data": {"name": "speak", "args": {"text": "hi"}},'
                     ' "context": {"mark": "bytes", "session": %s}}' % text)
    message = sent(device, "speak")
    assert text in message.text
    assert message.context["source"] == "toolboxd" and "destination" not in message.context
    assert result_of(device, "bytes") == {"sent": True}
    # A device tool speaks for the device, in the language of the caller.
    mark = ask(device, "set_volume", {"percent": 1}, {"session": SATELLITE})
    assert sent(device, "mycroft.volume.set").context["session"] == {"session_id": "default", "lang": "de-de"}
    result_of(device, mark)


def test_templates(device):
    mark = ask(device, "show", {"text": {"a": [1.10, "\"x\""]}, "tags": []})
    first, second = sent(device, "gui.value.set"), sent(device, "gui.page.show")
    assert first.data == {"text": {"a": [1.1, "\"x\""]}, "note": '{text} is {"a":[1.1,"\\"x\\""]}, {',
                          "list": ["a", "b"]}
    assert "for" not in first.context and first.context["destination"] == "gui"
    assert second.data == {"page_names": ["SYSTEM_TextFrame"], "__idle": None, "tags": []}
    assert result_of(device, mark) == {"sent": True}
    mark = ask(device, "show", {"text": "ü\n", "title": "t"})
    first = sent(device, "gui.value.set")
    assert first.data == {"text": "ü\n", "note": "{text} is ü\n, {", "list": ["a", "t", "b"]}
    assert first.context["for"] == "t"
    assert sent(device, "gui.page.show").data == {"page_names": ["SYSTEM_TextFrame"], "__idle": None}
    result_of(device, mark)
    for args, data in ({}, {}), ({"fields": {"x": None}}, {"x": None}), ({"fields": None}, None):
        mark = ask(device, "forward", args)
        if data is None:
            assert answer_of(device, mark)["code"] == "invalid_arguments"
        else:
            assert sent(device, "test.forward").data == data
            result_of(device, mark)


def test_a_factor_that_cannot_be_applied_is_an_invalid_argument(device):
    device.peer.send('{"type": "ovos.tools.invoke", "context": {"mark": "far"},'
                     ' "data": {"name": "set_volume", "args": {"percent": 1e999}}}')
    answer = answer_of(device, "far")
    assert answer["code"] == "invalid_arguments" and answer["violations"][0]["path"] == "/percent"


# ── the reply ─────────────────────────────────────────────────────────────────────────────────────


def test_a_reply_becomes_the_result(device):
    mark = ask(device, "get_volume")
    message = sent(device, VOLUME)
    assert message.data == {}
    reply(device, message, {"percent": 0.29, "muted": False})
    assert result_of(device, mark) == {"percent": 29, "muted": False}
    mark = ask(device, "get_volume")
    unmarked(device, REPLY, {"percent": 1}) if sent(device, VOLUME) else None
    assert result_of(device, mark) == {"percent": 100}
    mark = ask(device, "volume_here")
    reply(device, sent(device, VOLUME), {"percent": 0.5, "error": 0})
    assert result_of(device, mark) == {"loudness": 0.5}
    mark = ask(device, "now_playing")
    reply(device, sent(device, "ovos.common_play.status"), {"title": "x"}, "ovos.media.status")
    assert result_of(device, mark) == {"title": "x"}


@pytest.mark.parametrize("data, words", [
    ({}, "the reply has no /percent"),
    ({"percent": 1, "error": "no sound card"}, "no sound card"),
    ({"percent": 1, "error": {"code": 3}}, '{"code": 3}'),
    ({"error": 7}, "7"),
])
def test_a_reply_with_an_error_or_without_a_value_fails(device, data, words):
    mark = ask(device, "volume_here")
    reply(device, sent(device, VOLUME), data)
    answer = answer_of(device, mark)
    assert answer["code"] == "tool_failed" and words.replace(" ", "") in answer["error"].replace(" ", ""), answer


@pytest.mark.parametrize("data", [{"percent": "loud"}, {"percent": None}])
def test_a_factor_for_what_is_no_number_fails(device, data):
    mark = ask(device, "get_volume")
    reply(device, sent(device, VOLUME), data)
    answer = answer_of(device, mark)
    assert answer["code"] == "tool_failed" and "no number" in answer["error"], answer


def test_a_huge_reply_and_an_unreadable_one_fail(device):
    for data, words in ({"percent": "x" * (1 << 20)}, "bytes"), ({"percent": [0] * 100000}, "many values"):
        mark = ask(device, "get_volume")
        reply(device, sent(device, VOLUME), data)
        answer = answer_of(device, mark)
        assert answer["code"] == "tool_failed" and words in answer["error"], answer
    mark = ask(device, "get_volume")
    message = sent(device, VOLUME)
    device.peer.send('{"type": "%s", "data": {"percent": 1, "percent": 2}, "context": %s}'
                     % (REPLY, json.dumps(message.context)))
    answer = answer_of(device, mark)
    assert answer["code"] == "tool_failed" and "cannot be read" in answer["error"], answer


def test_what_is_no_reply_counts_for_nothing(device):
    mark = ask(device, "get_volume")
    message = sent(device, VOLUME)
    for junk in ({"session": SATELLITE}, {"session": DEFAULT, "_namespace_compat_twin": True},
                 {"session": DEFAULT, "_intent_compat_twin": True},
                 {"session": DEFAULT, "toolboxd_call": "another"}):
        device.peer.send(json.dumps({"type": REPLY, "data": {"percent": 0.9}, "context": junk}))
    for data in "[1]", '"x"', "7":
        device.peer.send('{"type": "%s", "data": %s, "context": {}}' % (REPLY, data))
    device.peer.send('{"type": "%s", "data": {"percent": 0.9}, "context": {"session": 7}}' % REPLY)
    settle(device)
    # An absent session is the default one, whoever the source is.
    device.peer.send(json.dumps({"type": REPLY, "data": {"percent": 0.1}, "context": {"source": "toolboxd"}}))
    assert result_of(device, mark) == {"percent": 10}
    assert message.context["session"] == DEFAULT


def test_without_a_reply_a_call_is_late_and_names_the_topic(device):
    answer = answer_of(device, ask(device, "get_volume", timeout_ms=100))
    assert answer["code"] == "timeout" and "nobody answered mycroft.volume.get" in answer["error"], answer


def test_a_reply_on_the_topic_of_the_request_is_not_taken_from_ourselves(device):
    mark = ask(device, "is_speaking")
    message = sent(device, "mycroft.audio.speak.status")
    settle(device)
    reply(device, message, {"speaking": True}, message.type)
    assert result_of(device, mark) == {"result": True}


def test_unless(device):
    mark = ask(device, "play_sound", {"uri": "a", "wait": False})
    assert sent(device, "mycroft.audio.play_sound").data == {"uri": "a"}
    assert result_of(device, mark) == {"sent": True}
    for args in {"uri": "a"}, {"uri": "a", "wait": True}:
        mark = ask(device, "play_sound", args)
        reply(device, sent(device, "mycroft.audio.play_sound"), {})
        assert result_of(device, mark) == {}


# ── the order of calls ────────────────────────────────────────────────────────────────────────────


def test_calls_of_one_topic_and_session_go_one_after_the_other(device):
    first, second = ask(device, "get_volume"), ask(device, "volume_here")
    elsewhere = ask(device, "volume_here", context={"session": SATELLITE})
    one, two = sent(device, VOLUME), sent(device, VOLUME)
    assert {one.context["session"]["session_id"], two.context["session"]["session_id"]} == {"default", "kitchen"}
    settle(device)
    for message in one, two:
        reply(device, message, {"percent": 0.5})
    assert result_of(device, first) == {"percent": 50}
    reply(device, sent(device, VOLUME), {"percent": 0.25})
    assert result_of(device, second) == {"loudness": 0.25}
    assert elsewhere


def test_a_late_reply_is_given_to_no_other_call(device):
    # A machine may hold a call up until no late reply is waited for any more: then once more.
    for _ in range(TIMES):
        began = time.monotonic()
        late = ask(device, "get_volume", timeout_ms=50)
        message = sent(device, VOLUME)
        assert answer_of(device, late)["code"] == "timeout"
        mark = ask(device, "get_volume")
        # Not sent yet: the late reply may still come.
        is_sent = any(one.type == VOLUME for one in settle(device))
        unmarked(device, REPLY, {"percent": 0.9})
        reply(device, sent(device, VOLUME), {"percent": 0.1})
        is_kept_away = result_of(device, mark) == {"percent": 10} and not is_sent
        assert is_kept_away or time.monotonic() - began > LATE_S
        if is_kept_away:
            break
    assert is_kept_away
    # Nor after that time: its mark is another's.
    mark = ask(device, "get_volume")
    fresh = sent(device, VOLUME)
    reply(device, message, {"percent": 0.9})
    settle(device)
    reply(device, fresh, {"percent": 0.2})
    assert result_of(device, mark) == {"percent": 20}


def test_without_a_late_reply_the_next_call_waits_a_second(device):
    mark = ask(device, "get_volume", timeout_ms=50)
    began = time.monotonic()
    sent(device, VOLUME)
    answer_of(device, mark)
    mark = ask(device, "get_volume")
    message = sent(device, VOLUME)
    assert time.monotonic() - began > LATE_S
    reply(device, message, {"percent": 1})
    result_of(device, mark)


def test_a_doubled_reply_is_given_to_no_other_call(device):
    first, second = ask(device, "get_volume"), ask(device, "get_volume")
    sent(device, VOLUME)
    for _ in range(2):
        unmarked(device, REPLY, {"percent": 0.9})
    assert result_of(device, first) == {"percent": 90}
    sent(device, VOLUME)
    settle(device)
    unmarked(device, REPLY, {"percent": 0.9})  # equal, and a reply all the same
    assert result_of(device, second) == {"percent": 90}


def test_a_cancelled_call_leaves_the_topic_to_the_next(device):
    mark = ask(device, "get_volume", call_id="c")
    message = sent(device, VOLUME)
    device.call("ovos.tools.cancel", {"call_id": "c"})
    assert answer_of(device, mark)["code"] == "cancelled"
    reply(device, message, {"percent": 0.9})
    mark = ask(device, "get_volume")
    reply(device, sent(device, VOLUME), {"percent": 0.1})
    assert result_of(device, mark) == {"percent": 10}


def test_what_is_sent_unasked_is_no_reply(launch, tmp_path):
    tools = [dict(tool) for tool in VOLUME_TOOLS]
    tools[1] = {**tools[1], "bus": {**tools[1]["bus"], "unasked": True}}
    folder = tmp_path / "toolbox.d"
    write(folder, "volume", tools)
    with Caller(launch(None, [folder]).url) as caller:
        # A machine may hold the reply up until the question is sent: then once more.
        for _ in range(TIMES):
            began = time.monotonic()
            result_of(caller, ask(caller, "set_volume", {"percent": 70}))
            sent(caller, "mycroft.volume.set")
            mark = ask(caller, "get_volume")
            settle(caller)
            unmarked(caller, REPLY, {"percent": 0.7})  # of the change, before the question
            message = sent(caller, VOLUME)
            took = time.monotonic() - began
            assert took > UNASKED_S - 0.001, "the service counts whole milliseconds"
            reply(caller, message, {"percent": 0.71})
            result = result_of(caller, mark)
            assert result == {"percent": 71} or took > 2 * UNASKED_S
            if result == {"percent": 71}:
                break
        assert result == {"percent": 71}


def test_a_toolbox_keeps_its_pace(launch, tmp_path):
    """Its messages are held against the time that passed. Without a pace all of them come before the answer that settles:
    too early, unless a machine takes three seconds for them."""
    folder = tmp_path / "toolbox.d"
    write(folder, "speech", SPEECH_TOOLS[:1], limits={"queue": 1000})
    with Caller(launch({"limits": {"in_flight": 2000}}, [folder]).url) as caller:
        began = time.monotonic()
        for _ in range(BURST + 3 * RATE):
            ask(caller, "speak", {"text": "x"})
        n_sent = sum(message.type == "speak" for message in settle(caller))
        assert n_sent <= BURST + RATE * (time.monotonic() - began) + 1
        for _ in range(BURST + RATE // 2):
            sent(caller, "speak")


def test_the_queue_bounds_the_calls_that_wait_for_replies(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "volume", VOLUME_TOOLS, limits={"queue": 2})
    with Caller(launch(None, [folder]).url) as caller:
        marks = [ask(caller, "get_volume") for _ in range(3)]
        assert answer_of(caller, marks[2])["code"] == "busy"
        reply(caller, sent(caller, VOLUME), {"percent": 1})
        reply(caller, sent(caller, VOLUME), {"percent": 1})
        for mark in marks[:2]:
            assert mark


# ── collecting ────────────────────────────────────────────────────────────────────────────────────


def test_the_assistant_is_asked_and_all_that_it_says_is_collected(device):
    mark = ask(device, "assistant", {"text": "tell me"}, {"session": SATELLITE})
    message = sent(device, "recognizer_loop:utterance")
    assert message.data == {"utterances": ["tell me"]}
    unmarked(device, "speak", {"utterance": "elsewhere"})
    for text in "one", "two":
        reply(device, message, {"utterance": text}, "ovos.utterance.speak")
        reply(device, message, {"utterance": text}, "speak", _namespace_compat_twin=True)
    unmarked(device, "speak", {"utterance": "three"}, SATELLITE)
    reply(device, message, {"other": 1}, "speak")
    reply(device, message, {}, "ovos.utterance.handled")
    assert result_of(device, mark) == {"answers": ["one", "two", "three"], "ended_by": "ovos.utterance.handled"}
    mark = ask(device, "assistant", {"text": "tell me"})
    message = sent(device, "recognizer_loop:utterance")
    reply(device, message, {}, "complete_intent_failure")
    assert result_of(device, mark) == {"answers": [], "ended_by": "complete_intent_failure"}


def test_what_is_collected_is_bounded(device):
    mark = ask(device, "assistant", {"text": "tell me"})
    message = sent(device, "recognizer_loop:utterance")
    for _ in range(257):
        reply(device, message, {"utterance": "more"}, "speak")
    answer = answer_of(device, mark)
    assert answer["code"] == "tool_failed" and "256 messages" in answer["error"], answer


# ── without a bus, and at the end ─────────────────────────────────────────────────────────────────


def test_a_bus_that_goes_ends_the_calls(launch, tmp_path):
    """Over HTTP the caller is still there."""
    folder = tmp_path / "toolbox.d"
    write(folder, "volume", VOLUME_TOOLS)
    service = launch(None, [folder], kind="ovos-messagebus", args=["--http", "127.0.0.1:0"])
    service.forget_who_left()
    with Http(port_of(service.daemon)) as http:
        service.bus.kill()
        answer = until(lambda: (got := http.post("/v1/tools/get_volume", {}).json).get("code") == "unavailable" and got,
                       EVENT_SECONDS, "the loss noticed")
        assert "the bus" in answer["error"], answer


def test_a_toolbox_that_goes_lets_its_call_end(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    path = write(folder, "volume", VOLUME_TOOLS)
    with Caller(launch(None, [folder]).url) as caller:
        mark = ask(caller, "get_volume")
        message = sent(caller, VOLUME)
        path.unlink()
        caller.call("ovos.tools.reload")
        reply(caller, message, {"percent": 0.5})
        assert result_of(caller, mark) == {"percent": 50}


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────


def tool(bus, properties=None, **more):
    return {"name": "t", "risk": "write", "bus": bus, **more,
            "argument_schema": {"type": "object", "properties": properties or {"n": {"type": "string"}}}}


@pytest.mark.parametrize("bus, words", [
    ({"topic": "a.b", "data": {"x": "{m}"}}, "'m' is not an argument (they are 'n'); write '{{NAME}'"),
    ({"topic": "a.b", "data": {"x": {"arg": "m", "scale": 2}}}, "'m' is not an argument"),
    ({"topic": "a.b", "data": {"x": {"arg": "n", "scale": 2}}}, 'must have the type "number" or "integer"'),
    ({"topic": "a.b", "data": {"x": {"arg": "n", "scale": 0}}}, "must be a number other than 0"),
    ({"topic": "a.b", "data": "{n}"}, 'must have the type "object"'),
    ({"topic": "a.b", "data": "n"}, "must be an object, or the name of one argument in braces"),
    ({"topic": "a.b", "context": {"session": {}}}, '"session" cannot be a member of "context"'),
    ({"topic": "a b"}, "must be a topic"),
    ({"topic": "ovos.tools.invoke", "reply": False}, "is toolboxd's own"),
    ({"topic": "a.b", "reply": "mycroft.toolboxd.is_alive"}, "is toolboxd's own"),
    ({"topic": "a.b", "reply": "ovos.persona.tools.call"}, "is toolboxd's own"),
    ({"topic": "a.b.response"}, "write the topic of its reply"),
    ({"topic": "a.b", "result": "percent"}, 'must be a JSON Pointer: "", or'),
    ({"topic": "a.b", "result": {"x": {"at": "/a~2"}}}, "must be a JSON Pointer"),
    ({"topic": "a.b", "result": {"x": {"at": "/a", "scale": 0}}}, "must be a number other than 0"),
    ({"topic": "a.b", "result": {"x": "/a"}}, "must be"),
    ({"topic": "a.b", "error": "e"}, "must be a JSON Pointer"),
    ({"topic": "a.b", "reply": False, "unless": "n"}, '"unless" has no meaning beside "reply": false'),
    ({"topic": "a.b", "unless": "n"}, 'must have the type "boolean"'),
    ({"topic": "a.b", "messages": [{"topic": "c"}]}, "it has more than one"),
    ({}, 'must have one of "topic"'),
    ({"ask": ""}, "must"),
    ({"ask": "{m}"}, "'m' is not an argument"),
    ({"ask": "{n}", "reply": True}, '"reply" has no meaning beside "ask"'),
    ({"topic": "a.b", "when": "n"}, '"when" has no meaning beside "topic"'),
    ({"topic": "system.reboot", "reply": False}, 'must be "execute", not "write"'),
    ({"topic": "skill-x.me:Intent", "reply": False}, 'must be "execute", not "write"'),
    ({"messages": [{"topic": "a"}, {"topic": "ovos.utterance.handle"}], "reply": False}, 'must be "execute"'),
    ({"topic": "a.b", "colour": 1}, "unexpected property 'colour'"),
])
def test_a_mistake_has_its_file_its_line_and_advice(tmp_path, bus, words):
    path = write(tmp_path, "wrong", [tool(bus)])
    done = toolboxctl("check", path, home=tmp_path / "home")
    assert done.returncode == 1, done.stdout
    assert f"{path}:1" in done.stderr and words in done.stderr, done.stderr


@pytest.mark.parametrize("more, words", [
    ({"limits": {"workers": 2}}, '"workers" is about processes'),
    ({"sandbox": {"class": "net"}}, "has no process to confine"),
    ({"library": "libm.so.6"}, '"library" is not a key'),
])
def test_what_concerns_processes_is_refused(tmp_path, more, words):
    done = toolboxctl("check", write(tmp_path, "wrong", [tool({"topic": "a.b"})], **more), home=tmp_path / "home")
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_a_dangerous_topic_without_a_risk_is_execute(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    bare = tool({"topic": "system.reboot", "reply": False})
    del bare["risk"]
    path = folder / "system.json"
    folder.mkdir()
    path.write_text(json.dumps({"kind": "bus", "tools": [bare]}))
    settings = {"toolboxes": {"system": {"tools": {"t": {"risk": "read"}}}}}
    with Caller(launch(None, [folder]).url) as caller:
        definition = caller.call("ovos.tools.get", {"name": "t"})
        assert definition["risk"] == "execute"
        assert definition["description"].endswith("Nothing confirms that it was done.")
    with Caller(launch(settings, [folder]).url) as caller:
        failed = caller.call("ovos.tools.status")["failed"]
        assert [one["toolbox_id"] for one in failed] == ["system"], failed
        assert "must be execute" in failed[0]["error"], failed


def test_what_there_is_is_shown(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    write(folder, "volume", VOLUME_TOOLS, description="The loudness of the device.")
    service = launch(None, [folder])

    def ctl(*args):
        done = toolboxctl(*args, bus=service.url, home=tmp_path / "ctl")
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "bus" in ctl("status", "volume")
    assert "kind bus" in ctl("get", "get_volume")
    with Caller(service.url) as caller:
        toolbox = caller.call("ovos.tools.status", {"toolbox_id": "volume"})["toolboxes"][0]
        assert toolbox["kind"] == "bus" and toolbox["hosts"] == 0 and toolbox["state"] == "ready"


def test_the_page(tmp_path):
    """Its commands print what it says, and its examples are good ones."""
    text = (ROOT / "docs" / "bus.md").read_text()
    pages.expect_page(text, tmp_path, environment(tmp_path, PATH=f"{TOOLBOXCTL.parent}:{os.environ['PATH']}"))
    examples = [json.loads(body) for body in re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S)]
    assert len(examples) == 4
    for number, example in enumerate(examples):
        if "topic" in example:
            names = {name: {} for name in ("text", "duration")}
            example = {"name": "t", "bus": example, "argument_schema": {"type": "object", "properties": names}}
        if "kind" not in example:
            example = {"kind": "bus", "tools": [example]}
        path = tmp_path / f"example{number}.json"
        path.write_text(json.dumps(example))
        done = toolboxctl("check", path, home=tmp_path / "home")
        assert done.returncode == 0, done.stderr
