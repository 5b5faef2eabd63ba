# SPDX-License-Identifier: Apache-2.0
"""Frames that are no messages: answered where they name a topic of ours, else dropped; nobody is disconnected.
The real bus relays what is not JSON, so both buses show them to the daemon."""
import message_schemas
import pytest
from caller import Caller
from processes import EVENT_SECONDS, until

INVOKE = '"type":"ovos.tools.invoke","data":{"name":"add","args":{"a":1,"b":2}}'


@pytest.mark.parametrize("frame", [
    "", " ", "42", "null", "[1]", '"text"', "{", "}", "{}", "not json", "\ufeff{" + INVOKE + "}",
    '{"type":5,"data":{}}', '{"type":"","data":{}}', '{"type":null}', '{"data":{"type":"x"}}',
    '{"type":["ovos.tools.invoke"]}', '{"type":"ovos.tools.invoke\\ud800","data":{}}',
    '{"data":{"name":"add"},"type":"ovos.tools.invoke', '{"type":"ovos.tools.invok","data":5}',
])
def test_what_names_no_topic_of_ours_is_dropped(caller, frame):
    answers = caller.answers_of(frame, "ovos.tools.invoke.response")
    assert answers == []
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


@pytest.mark.parametrize("frame, field, why", [
    ('{"type":"ovos.tools.invoke","data":5}', "data", "an object (at byte 35)"),
    ('{"type":"ovos.tools.invoke","data":"{}"}', "data", "an object"),
    ('{"type":"ovos.tools.invoke","data":[]}', "data", "an object"),
    ('{"type":"ovos.tools.invoke","data":{"name":"add",}}', "data", "JSON: at byte 49: expected a key"),
    ('{"type":"ovos.tools.invoke","data":{"name":"\\ud800"}}', "data",
     "JSON: at byte 44: expected a pair of surrogate escapes, found half a pair"),
    ('{"type":"ovos.tools.invoke","data":{"name":"a\tb"}}', "data", "a raw control character"),
    ('{"type":"ovos.tools.invoke","data":{"args":{"a":NaN}}}', "data", "a bare word"),
    ('{"type":"ovos.tools.invoke","data":{"name":"add"', "message", "a JSON object"),
    ("{" + INVOKE + ',"context":5}', "context", "an object"),
    ("{" + INVOKE + ',"context":[]}', "context", "an object"),
    ("{" + INVOKE + ',"context":{"session":"text"}}', "context.session", "an object"),
    ("{" + INVOKE + ',"context":{"session":[]}}', "context.session", "an object"),
    ("{" + INVOKE + ',"context":{"session":5}}', "context.session", "an object"),
    ("{" + INVOKE + ',"context":{"source":"a","source":"b"}}', "context", "once"),
    ("{" + INVOKE + ',"context":{"a":' + "[" * 200 + "]" * 200 + "}}", "context", "fewer levels"),
    ("{" + INVOKE + ',"context":{}} trailing', "message", "no more (at byte"),
    ("{" + INVOKE + ',"context":{},}', "message", "a JSON object"),
    ("{" + INVOKE + ',"context":{"a":01}}', "context", "leading zero"),
    ("{" + INVOKE + ',"context":{"a":1.}}', "context", "a digit"),
    ("{" + INVOKE + ',"context":{"a":"\t"}}', "context", "a raw control character"),
    ("{" + INVOKE + ',"type":"ovos.tools.invoke"}', "type", "given once"),
    ("{" + INVOKE + ',"data":{}}', "data", "given once"),
    ("{" + INVOKE + ',"context":{},"c\\u006fntext":{}}', "context", "given once"),
])
def test_who_asks_by_a_broken_text_is_told_what_is_wrong_and_where(caller, frame, field, why):
    """Otherwise the caller waits for its own timeout, and does not learn why."""
    answer, = caller.answers_of(frame, "ovos.tools.invoke.response")
    message_schemas.check(answer.type, answer.data)
    assert (answer.data["code"], answer.data["field"]) == ("bad_request", field)
    assert answer.data["error"].startswith(f"ValueError: Bad request: '{field}' must be "), answer
    assert why in answer.data["error"], answer
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


@pytest.mark.parametrize("context", [
    '{"stt_confidence":NaN,"source":"me"}', '{"a":[Infinity,-Infinity],"source":"me"}',
    '{"a":"\\ud83d","b":"\\udc00x","source":"me"}', '{"a":1,"a":2,"source":"me"}',
    '{"a":{"b":1,"\\u0062":2},"source":"me"}',
])
def test_a_context_that_python_and_javascript_write_goes_back_as_it_came(caller, context):
    caller.settle()
    caller.peer.send("{" + INVOKE + ',"context":' + context + "}")
    answer = caller.wait_for(lambda message: message.type == "ovos.tools.invoke.response")
    assert answer.data["result"] == {"result": 3}
    assert context[:-1] + ', "destination": "me"}' in answer.text


def test_an_answer_to_a_broken_text_finds_its_way(caller):
    """Also when the broken member comes first."""
    answer, = caller.answers_of(
        '{"context":{"x":01,"session":{"session_id":"s"},"source":"me","destination":["you"]},'
        '"data":{"args":{"t":"\\ud83d"},"name":"add","call_id":"7"},"type":"ovos.tools.invoke"}',
        "ovos.tools.invoke.response")
    assert answer.context == {"source": "you", "destination": "me", "session": {"session_id": "s"}}
    assert (answer.data["name"], answer.data["call_id"], answer.data["code"]) == ("add", "7", "bad_request")


def test_the_log_says_who_has_sent_a_broken_text(launch):
    daemon = launch().daemon
    with Caller(daemon.url) as caller:
        caller.answers_of('{"type":"ovos.tools.status","data":{"a":01},"context":{"source":"skill-x"}}',
                          "ovos.tools.status.response")
    until(lambda: "'ovos.tools.status' and the source \"skill-x\": 'data' must be JSON: at byte 41: "
          in daemon.log(), 60, daemon.log)


def test_only_the_owner_of_a_toolbox_answers_a_broken_call_of_it(caller):
    """Of the others on this bus each would answer too."""
    frame = '{"type":"ovos.persona.tools.call","data":{"toolbox_id":"%s","name":"add","kwargs":{"a":01}}}'
    topic = "ovos.persona.tools.call.response"
    owner = caller.call("ovos.tools.get", {"name": "add"})["toolbox_id"]
    answer, = caller.answers_of(frame % owner, topic)
    assert (answer.data["toolbox_id"], answer.data["code"]) == (owner, "bad_request")
    assert caller.answers_of(frame % "of_others", topic) == []


@pytest.mark.parametrize("zeros", ["[0%s", "[0%s]]", "[01%s]"])
def test_a_long_one_is_answered_too(caller, zeros):
    """It is read beside the loop."""
    frame = "{" + INVOKE + ',"odd":' + zeros % (",0" * 100000) + "}"
    answer, = caller.answers_of(frame, "ovos.tools.invoke.response")
    assert (answer.data["code"], answer.data["field"]) == ("bad_request", "message")
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_the_log_says_why_at_a_limited_rate(service, caller):
    before = len(service.daemon.log())
    for _ in range(1000):
        caller.peer.send('{"type":"ovos.tools.invoke","data":5}')
    caller.settle()
    said = service.daemon.log()[before:]
    assert len(said.splitlines()) < 40, said


def test_a_frame_of_bytes_that_are_no_text_changes_nothing(launch):
    daemon = launch().daemon
    with Caller(daemon.url) as caller:
        caller.peer.send_frame(2, b'{"type":"ovos.tools.status"}')
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
    until(lambda: "dropped a binary frame: a message is a text frame" in daemon.log(), EVENT_SECONDS, daemon.log)
