# SPDX-License-Identifier: Apache-2.0
"""Every limit, set small and reached."""
import json
import re

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, until
from websocket_peer import Closed, Peer

INVOKE = "ovos.tools.invoke"


def limited(launch, tmp_path, **limits):
    manifests.answers(tmp_path / "toolbox.d")
    return launch({"limits": limits}, [tmp_path / "toolbox.d"])


def test_args_bytes(launch, tmp_path):
    service = limited(launch, tmp_path, args_bytes=1000)
    with Caller(service.url) as caller:
        # {"text": "…"} is 12 bytes around the text.
        assert "result" in caller.invoke("echo", {"text": "x" * 980})
        answer = caller.invoke("echo", {"text": "x" * 1000})
        assert answer["code"] == "too_large" and answer["error"].startswith("RuntimeError: ")
        assert answer["max"] == 1000 and answer["actual"] > 1000


def test_depth(launch, tmp_path):
    service = limited(launch, tmp_path, depth=10)
    with Caller(service.url) as caller:
        def nested(levels):
            return {"name": "echo", "odd": json.loads("[" * levels + "]" * levels)}
        assert caller.call(INVOKE, nested(8))["code"] == "invalid_arguments"
        answer = caller.call(INVOKE, nested(11))
        assert answer["code"] == "too_large" and answer["max"] == 10
        caller.settle()
        caller.send(INVOKE, {"name": "echo"}, {"deep": json.loads("[" * 11 + "]" * 11)})
        refused, = [one.data for one in caller.settle() if one.type == INVOKE + ".response"]
        assert (refused["code"], refused["field"]) == ("bad_request", "context")


def test_values(launch, tmp_path):
    """Half of args_bytes and 65536, in all members together: as many as arguments of that size can have."""
    service = limited(launch, tmp_path, args_bytes=1000)
    with Caller(service.url) as caller:
        def zeros(count, more=""):
            text = '{"type":"%s","data":{"name":"echo","odd":[0%s]}%s}' % (INVOKE, ",0" * (count - 1), more)
            return caller.answers_of(text, INVOKE + ".response")
        most = 500 + 65536
        ours = 5  # the object, two keys, the name and the array
        assert zeros(most - ours)[0].data["code"] == "invalid_arguments"
        answer = zeros(most - ours + 1)[0].data
        assert answer["code"] == "too_large"
        assert answer["max"] == most and answer["actual"] == most + 1
        assert answer["error"] == f"RuntimeError: The request's data has more than {most} values"
        refused, = zeros(1, ',"context":{"odd":[0%s]}' % (",0" * most))
        assert (refused.data["code"], refused.data["field"]) == ("bad_request", "context")
        # Those of a member that is ignored are, too.
        assert zeros(1, ',"odd":[0%s]' % (",0" * most))[0].data["code"] == "invalid_arguments"


def test_values_of_a_result(launch, tmp_path):
    """As many as a message may have. A tool that has more of them is no reason to end its host."""
    ours = 3  # the object, its key and the array
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "zeros.json").write_text(json.dumps({"kind": "command", "tools": [
        {"name": "zeros", "description": "Zeros.", "risk": "read",
         "argument_schema": {"type": "object", "properties": {"count": {"type": "integer"}}},
         "command": {"output": "json",
                     "shell": "printf '['; yes 0, | head -n $((TOOL_ARG_COUNT - 1)) | tr -d '\\n'; printf '0]'"}}]}))
    service = launch({"limits": {"args_bytes": 1000}}, [folder])
    most = 500 + 65536
    with Caller(service.url) as caller:
        answer = caller.invoke("zeros", {"count": most - ours})
        assert answer.get("result") is not None, answer
        hosts = [service.daemon.only_host()]
        answer = caller.invoke("zeros", {"count": most - ours + 1})
        assert answer["code"] == "too_large", answer
        assert (answer["max"], answer["actual"]) == (most, most + 1)
        assert answer["error"] == f"RuntimeError: The output of 'zeros' in ToolBox 'zeros' has more than {most} values"
        assert "result" in caller.invoke("zeros", {"count": 2})
        assert service.daemon.hosts() == hosts


def test_arguments_as_text_that_is_too_long_are_not_read(launch, tmp_path):
    service = limited(launch, tmp_path, args_bytes=1000)
    with Caller(service.url) as caller:
        answer = caller.call(INVOKE, {"name": "echo", "args": "[" * 2000})
        assert answer["code"] == "too_large" and answer["actual"] == 2000 and answer["max"] == 1000


def test_the_default_depth_is_128(caller):
    """Levels count from the data object itself."""
    odd = "[" * 127 + "]" * 127
    ok = caller.answers_of('{"type":"ovos.tools.list","data":{"odd":%s}}' % odd,
                           "ovos.tools.list.response")
    assert "tools" in ok[0].data
    over = caller.answers_of('{"type":"ovos.tools.list","data":{"odd":[%s]}}' % odd,
                             "ovos.tools.list.response")
    assert over[0].data["code"] == "too_large" and over[0].data["max"] == 128


def test_a_million_levels(caller):
    answers = caller.answers_of('{"type":"ovos.tools.list","data":{"odd":%s}}'
                                % ("[" * 10 ** 6 + "]" * 10 ** 6), "ovos.tools.list.response")
    assert answers[0].data["code"] == "too_large"


def test_in_flight(launch, tmp_path):
    service = limited(launch, tmp_path, in_flight=3)
    with Caller(service.url) as caller:
        caller.invoke("absolute", {"value": 1})
        marks = [caller.send(INVOKE, {"name": "hang", "args": {"seconds": 9}}) for _ in range(5)]
        codes = []
        for _ in marks:
            message = caller.wait_for(lambda one: one.type == INVOKE + ".response")
            codes.append(message.data["code"])
        assert sorted(codes) == ["busy", "busy", "timeout", "timeout", "timeout"]
        assert "result" in caller.invoke("absolute", {"value": 1})


def test_host_output_bytes(launch, tmp_path):
    service = limited(launch, tmp_path, host_output_bytes=2000)
    with Caller(service.url) as caller:
        assert "result" in caller.invoke("echo", {"text": "x" * 900})
        answer = caller.invoke("echo", {"text": "x" * 3000})
        assert answer["code"] == "too_large", answer
        assert answer["max"] == 2000 and answer["actual"] > 2000
        assert "result" in caller.invoke("echo", {"text": "again"})


def test_result_max_chars(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({"result_max_chars": 50}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        # {"text":"…"} is 11 characters around the text.
        assert caller.invoke("echo", {"text": "é" * 39})["result"] == {"text": "é" * 39}
        cut = caller.invoke("echo", {"text": "é" * 40})["result"]
        assert cut["truncated"] is True and cut["reason"] == "too_long"
        assert cut["actual_chars"] == 51 and cut["max_chars"] == 50 and cut["hint"]
        assert cut["head"] == '{"text":"' + "é" * 40 + '"'


def test_frame_bytes(launch, tmp_path):
    """A larger frame is discarded as it arrives; the link is kept, for us and for others."""
    service = limited(launch, tmp_path, frame_bytes=20000)
    with Caller(service.url) as caller, Caller(service.url) as other:
        answers = caller.answers_of(json.dumps(
            {"type": INVOKE, "data": {"name": "echo", "args": {"text": "x" * 30000}}}),
            INVOKE + ".response")
        assert answers == []
        assert "result" in caller.invoke("echo", {"text": "x" * 9000})
        assert "result" in other.invoke("echo", {"text": "y"})
        assert "20000" in service.daemon.log()


def test_a_response_over_frame_bytes(launch):
    service = launch({"limits": {"frame_bytes": 4000}})
    with Caller(service.url) as caller:
        answer = caller.call("ovos.tools.list")
        assert answer["code"] == "too_large" and "toolbox_id" in answer["error"]
        reload = caller.call("ovos.tools.reload")
        assert "tools" not in reload and reload["total_tools"] > 5
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_a_frame_over_ten_megabytes(service, caller):
    """The default; the real bus is told to let 25 through."""
    answers = caller.answers_of('{"type":"ovos.tools.list","data":{"odd":"%s"}}'
                                % ("x" * (11 << 20)), "ovos.tools.list.response")
    assert answers == []
    assert "tools" in caller.call("ovos.tools.list")


def test_a_frame_under_ten_megabytes_with_arguments_over_four(caller):
    answer = caller.invoke("echo", {"text": "x" * (5 << 20)})
    assert answer["code"] == "too_large" and answer["max"] == 4 << 20


def test_a_megabyte_goes_through_whole(caller):
    text = "0123456789abcdef" * (1 << 10)
    assert caller.invoke("echo", {"text": text})["result"] == {"text": text}


@pytest.mark.parametrize("limit, value", [("tools", 5), ("toolboxes", 1)])
def test_tools_and_toolboxes(launch, limit, value):
    service = launch({"limits": {limit: value}})
    with Caller(service.url) as caller:
        answer = caller.call("ovos.tools.reload")
        assert answer["failed"], answer
        assert f"limits.{limit}" in answer["failed"][0]["error"]
        assert answer["total_tools"] == len(answer["tools"])
        if limit == "tools":
            assert answer["total_tools"] <= value
        else:
            assert len(answer["loaded"]) == value


def test_stderr_bytes(launch, tmp_path):
    """What a tool writes to its stderr stands in our log, so much of it per call."""
    manifests.toolbox(tmp_path / "toolbox.d", "loud", [manifests.tool(
        "write", "write", [manifests.integer("fd", "i32", value=2), manifests.text("text"),
                           manifests.integer("size", "usize")], "isize")])
    service = launch({"limits": {"stderr_bytes": 1000}}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        text = "said by the tool\n" * 5000
        assert caller.invoke("write", {"text": text, "size": len(text)})["result"]["result"] > 0
        assert caller.invoke("write", {"text": "later\n", "size": 6})["result"] == {"result": 6}
        until(lambda: "said by the tool" in service.daemon.log(), EVENT_SECONDS, "its line")
        caller.settle()
        # What the first call left in the pipe may count as the second one's.
        assert service.daemon.log().count("said by the tool") <= 2 * (1000 // 17 + 1)


def test_output_queue_bytes(tmp_path, launch):
    """A bus that does not read: what does not fit is dropped, counted and said; then all goes on."""
    from fake_bus import FakeBus
    manifests.answers(tmp_path / "toolbox.d")
    bus = FakeBus()
    try:
        service = launch({"limits": {"output_queue_bytes": 1 << 20}, "result_max_chars": 1 << 20},
                         [tmp_path / "toolbox.d"], bus_url=bus.url)
        peer = bus.wait_for_client()
        text = "x" * 400000
        for number in range(60):
            peer.send(json.dumps({"type": INVOKE, "context": {"n": number},
                                  "data": {"name": "echo", "args": {"text": text}}}))
        until(lambda: "queue" in service.daemon.log(), EVENT_SECONDS, "a word of what is dropped")
        peer.send(json.dumps({"type": "mycroft.toolboxd.is_alive", "context": {"n": "last"}}))
        answered = 0
        while True:
            message = json.loads(peer.receive(EVENT_SECONDS))
            answered += message["type"] == INVOKE + ".response"
            if message["context"].get("n") == "last":
                break
            if answered and not answered % 10:
                peer.send(json.dumps({"type": "mycroft.toolboxd.is_alive",
                                      "context": {"n": "last"}}))
        assert 0 < answered < 60
    finally:
        bus.close()


def test_a_client_that_does_not_read_is_dropped(launch):
    """The embedded bus waits embedded.stall_s for a client that reads nothing, and then ends its
    connection and nobody else's."""
    service = launch({"embedded": {"stall_s": 1}})
    with Caller(service.url) as caller, Peer(service.url) as mute:
        text = "x" * (1 << 20)
        for _ in range(40):
            caller.send("somebody.else", {"text": text})
            caller.settle()
        with pytest.raises((Closed, TimeoutError)):
            for _ in range(41):
                mute.receive(EVENT_SECONDS)
        # What the kernel took for it may count as read in the first second.
        assert re.search("dropped a client: it (does not read|reads too slowly) what it is sent",
                         service.daemon.log())
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


@pytest.mark.parametrize("steps, code, words", [
    (None, "invalid_arguments", "match"), (20, "too_large", "cannot be checked: matching a pattern takes too long")])
def test_a_pattern_may_take_so_many_steps(launch, tmp_path, steps, code, words):
    """20 `a` and a `b` cost some ten thousand steps of the expression: a plain no, or too many."""
    schema = {"type": "object", "required": ["text"],
              "properties": {"text": {"type": "string", "pattern": "^(a|aa)+$"}}}
    manifests.toolbox(tmp_path / "toolbox.d", "words", [manifests.tool(
        "length", "strlen", [manifests.text("text")], "u64", argument_schema=schema)])
    limits = {"limits": {"pattern_steps": steps}} if steps else {}
    service = launch(limits, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        assert caller.invoke("length", {"text": "aa"})["result"] == {"result": 2}
        error = caller.invoke("length", {"text": "a" * 20 + "b"})
        assert error["code"] == code and words in error["error"]


@pytest.mark.parametrize("check_ms, is_refused", [(1, True), (60000, False)])
def test_a_check_may_take_so_long(launch, tmp_path, check_ms, is_refused):
    """A length that is counted anew many times: some milliseconds."""
    schema = {"type": "object", "properties": {"text": {
        "type": "string", "allOf": [{"minLength": 1, "maxLength": 50000}] * 150}}}
    manifests.toolbox(tmp_path / "toolbox.d", "words", [manifests.tool(
        "length", "strlen", [manifests.text("text")], "u64", argument_schema=schema)])
    service = launch({"limits": {"check_ms": check_ms}}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        for topic in ("ovos.tools.invoke", "ovos.tools.validate"):
            answer = caller.call(topic, {"name": "length", "args": {"text": "é" * 15000}})
            if is_refused:
                assert answer["code"] == "too_large", answer
                assert "cannot be checked: it takes too long" in answer["error"]
            else:
                assert answer.get("valid") or answer.get("result") == {"result": 30000}, answer
