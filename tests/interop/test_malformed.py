# SPDX-License-Identifier: Apache-2.0
"""Frames that are no messages: dropped without an answer, and nobody is disconnected. The real bus
relays what is not JSON, so both buses show them to the daemon."""
import pytest

INVOKE = '"type":"ovos.tools.invoke","data":{"name":"add","args":{"a":1,"b":2}}'


@pytest.mark.parametrize("frame", [
    "", " ", "42", "null", "[1]", '"text"', "{", "}", "{}", "not json", "\ufeff{" + INVOKE + "}",
    '{"type":5,"data":{}}', '{"type":"","data":{}}', '{"type":null}', '{"data":{"type":"x"}}',
    '{"type":["ovos.tools.invoke"]}',
    '{"type":"ovos.tools.invoke","data":5}',
    '{"type":"ovos.tools.invoke","data":"{}"}',
    '{"type":"ovos.tools.invoke","data":[]}',
    "{" + INVOKE + ',"context":5}',
    "{" + INVOKE + ',"context":[]}',
    "{" + INVOKE + ',"context":{"session":"text"}}',
    "{" + INVOKE + ',"context":{"session":[]}}',
    "{" + INVOKE + ',"context":{"session":5}}',
    "{" + INVOKE + ',"context":{"a":1,"a":2}}',
    "{" + INVOKE + ',"context":{"a":{"b":1,"\\u0062":2}}}',
    "{" + INVOKE + ',"context":{"a":"\\ud83d"}}',
    "{" + INVOKE + ',"context":{"a":"\\udc00x"}}',
    "{" + INVOKE + ',"context":{"a":' + "[" * 200 + "]" * 200 + "}}",
    "{" + INVOKE + ',"context":{}} trailing',
    "{" + INVOKE + ',"context":{},}',
    "{" + INVOKE + ',"context":{"a":01}}',
    "{" + INVOKE + ',"context":{"a":1.}}',
    "{" + INVOKE + ',"context":{"a":NaN}}',
    "{" + INVOKE + ',"context":{"a":"\t"}}',
    "{" + INVOKE + ',"type":"ovos.tools.invoke"}',
    "{" + INVOKE + ',"data":{}}',
    "{" + INVOKE + ',"context":{},"c\\u006fntext":{}}',
    '{"type":"ovos.tools.invoke\\ud800","data":{}}',
    '{"type":"ovos.tools.invoke","data":{"name":"\\ud800"}}',
])
def test_what_is_no_message_is_dropped(caller, frame):
    answers = caller.answers_of(frame, "ovos.tools.invoke.response")
    assert answers == []
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


@pytest.mark.parametrize("zeros", ["[0%s", "[0%s]]", "[01%s]"])
def test_a_long_one_is_dropped_too(caller, zeros):
    """It is read beside the loop."""
    frame = "{" + INVOKE + ',"odd":' + zeros % (",0" * 100000) + "}"
    assert caller.answers_of(frame, "ovos.tools.invoke.response") == []
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_the_log_says_why_at_a_limited_rate(service, caller):
    before = len(service.daemon.log())
    for _ in range(1000):
        caller.peer.send('{"type":"ovos.tools.invoke","data":5}')
    caller.settle()
    said = service.daemon.log()[before:]
    assert len(said.splitlines()) < 20, said


def test_a_frame_of_bytes_that_are_no_text_changes_nothing(caller):
    caller.peer.send_frame(2, b"\x00\xff binary")
    assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
