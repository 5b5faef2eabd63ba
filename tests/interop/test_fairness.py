# SPDX-License-Identifier: Apache-2.0
"""Checks that take long cost their sender time, results that take long to check their toolbox, and
nobody else anything (contract.md, Shares of the time)."""
import contextlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, IS_SANITIZED, SLOWNESS, until
from test_mcp_http import Client
from test_pressure import frame, message
from websocket_peer import TEXT, Peer

SECONDS = 3
SHORT = {"v": "x"}


def nested(depth):
    return {"a": nested(depth - 1)} if depth else 0


# Checks of this value take 10 ms and more, also on a fast machine: the price of longer ones is higher.
LONG = {"v": nested(100), "pad": [0] * 20000}
PRICE_S = 0.01
AT_ONCE = 3
FRAMES = 2
LONGEST_PRICE_S = 0.09  # of limits.check_ms


def recursive():
    """What pydantic writes for recursive unions, and a value costs as often as it can match."""
    node = {"anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}},
        {"type": "string"}]}
    return {"type": "object", "properties": {"v": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}


def command(name, schema, shell="true", **more):
    return {"name": name, "description": "A tool under test.", "risk": "read",
            "argument_schema": schema, "command": {"shell": shell, "output": "json"}, **more}


@pytest.fixture
def folder(tmp_path):
    """Checks of the arguments of `costly`, and of the result of `liar`, are long, and so is a match of
    an utterance that is all one word."""
    folder = tmp_path / "boxes"
    folder.mkdir()
    output = tmp_path / "output.json"
    output.write_text(json.dumps(LONG))
    triggers = [rf"(\w+)\s\1{{1,{n + 1}}}" for n in range(60)]
    (folder / "costly.json").write_text(json.dumps({"kind": "command", "tools": [
        command("costly", recursive(), triggers=triggers)]}))
    (folder / "lying.json").write_text(json.dumps({
        "kind": "command", "limits": {"workers": 4}, "tools": [
            command("liar", {}, f"cat {output}", output_schema=recursive()),
            command("honest", {}, "echo 1")]}))
    return folder


@pytest.fixture(params=["embedded", "ovos-messagebus"])
def bus(request, launch, folder):
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder], kind=request.param)
    bus.forget_who_left()
    return bus


def ask_at_once(caller, topic, data, context):
    """Ask some times without waiting, so that a slow bus leaves no time to pay between: the answers."""
    marks, answers = {caller.send(topic, data, context) for _ in range(AT_ONCE)}, []
    while len(answers) < AT_ONCE:
        answers.append(caller.wait_for(lambda one: one.type == topic + ".response"
                                       and one.context.get("mark") in marks, EVENT_SECONDS).data)
    return answers


def count(answers, code):
    return sum(answer.get("code") == code for answer in answers)


def codes_of(caller, topic, data, context, seconds):
    """Ask again and again for so long, and until one was refused: the answers, and the seconds that it took."""
    begun, answers = time.monotonic(), []
    while (took := time.monotonic() - begun) < seconds or took < EVENT_SECONDS and not count(answers, "busy"):
        answers += ask_at_once(caller, topic, data, context)
    return answers, took


@pytest.mark.parametrize("topic, data", [
    ("ovos.tools.validate", {"name": "costly", "args": LONG}),
    ("ovos.tools.invoke", {"name": "costly", "args": LONG}),
    ("ovos.tools.match", {"utterance": "a" * 4000})], ids=["validate", "invoke", "match"])
def test_a_sender_pays_for_its_long_checks_with_time(bus, topic, data):
    with Caller(bus.url) as sender:
        answers, took = codes_of(sender, topic, data, {"source": "me"}, SECONDS)
        busy = count(answers, "busy")
        assert busy > 0 and busy == sum("retry_after_s" in one for one in answers)
        assert 1 <= len(answers) - busy <= 2 + took / (8 * PRICE_S)
        with Caller(bus.url) as other:
            answer = other.invoke("add", {"a": 1, "b": 2}, seconds=EVENT_SECONDS)
            assert answer["result"] == {"result": 3}
        bus.forget_who_left()
        last = next(one for one in reversed(answers) if one.get("code") == "busy")
        assert last["error"].startswith("RuntimeError: Too many checks from 'me': ")
        after = sender.call(topic, data, {"source": "me"}, EVENT_SECONDS)
        if "retry_after_s" in after:
            time.sleep(after["retry_after_s"])
            after = sender.call(topic, data, {"source": "me"}, EVENT_SECONDS)
        assert after.get("code") != "busy"


def test_other_sources_of_a_connection_do_not_notice(bus):
    with Caller(bus.url) as caller:
        begun, refused = time.monotonic(), 0
        while (took := time.monotonic() - begun) < SECONDS or took < EVENT_SECONDS and not refused:
            long = ask_at_once(caller, "ovos.tools.validate", {"name": "costly", "args": LONG}, {"source": "me"})
            refused += count(long, "busy")
            short = caller.call("ovos.tools.validate", {"name": "costly", "args": SHORT},
                                {"source": "other"}, EVENT_SECONDS)
            assert "code" not in short
        assert refused > 0


def test_a_sender_that_owes_may_call_other_tools(bus):
    with Caller(bus.url) as caller:
        answers, _ = codes_of(
            caller, "ovos.tools.validate", {"name": "costly", "args": LONG}, {"source": "me"}, 1)
        assert count(answers, "busy") > 0
        for n in range(50):
            answer = caller.call("ovos.tools.invoke", {"name": "add", "args": {"a": n, "b": 1}},
                                 {"source": "me"}, EVENT_SECONDS)
            assert answer["result"] == {"result": n + 1}


def test_a_toolbox_pays_for_its_long_results(bus):
    with Caller(bus.url) as caller:
        answers, took = codes_of(caller, "ovos.tools.invoke", {"name": "liar", "args": {}}, {}, SECONDS)
        busy = [one for one in answers if one["code"] == "busy"]
        assert busy and all("retry_after_s" in one for one in busy)
        assert busy[0]["error"].startswith("RuntimeError: Toolbox 'lying' is busy: its results")
        assert count(answers, "too_large") == len(answers) - len(busy)
        assert len(answers) - len(busy) <= 2 + took / (4 * PRICE_S)
        # Its other tools, whose results are short, and other toolboxes run.
        for name, args in (("honest", {}), ("add", {"a": 1, "b": 2})):
            assert "result" in caller.invoke(name, args, seconds=EVENT_SECONDS)


def test_results_of_calls_that_ran_together_share_that_time(bus):
    """When they are submitted, nothing is owed yet. Where a machine holds one of them up, the next ones are."""
    with Caller(bus.url) as caller:
        caller.invoke("liar", seconds=EVENT_SECONDS)
        texts = []

        def both_ways():
            time.sleep(2 * 4 * LONGEST_PRICE_S)  # twice: a check that a busy machine holds up costs more
            for n in range(60):
                caller.send("ovos.tools.invoke", {"name": "liar", "args": {}, "call_id": str(n)})
            answers = [caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response").data for _ in range(60)]
            texts.extend(one["error"] for one in answers if one["code"] == "too_large")
            return all(any(words in text for text in texts) for words in (
                "the results of its toolbox take too long", "cannot be checked: it takes too"))

        until(both_ways, EVENT_SECONDS, "a result that is checked, and one that is not")


def test_large_frames_are_read_at_intervals(launch, folder, figure):
    """Frames that take long, of which nothing could be refused before: matches, each for another source. All are
    answered, but the first ones are paid with time."""
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    # Where a machine holds the reader up, it sees both answers at once. Not more often: such a machine also makes
    # intervals where the service makes none.
    for _ in range(3):
        if (seconds := seconds_between(bus)) > 0.3:
            break
    figure("seconds between the first and the last", seconds)
    assert seconds > 0.3


def seconds_between(bus):
    """The time from the first answer to the last."""
    topic = "ovos.tools.match"
    frames = b"".join(frame(message(topic, {"utterance": "a" * 4000, "padding": "x" * 100000}, {"source": f"s{n}"}))
                      for n in range(FRAMES))
    taken = []

    def note_responses(peer):
        while len(taken) < FRAMES:
            # A pong would come in the middle of what is written.
            opcode, _, payload = peer.receive_frame(time.monotonic() + EVENT_SECONDS)
            if opcode == TEXT and f'"{topic}.response"'.encode() in payload[:60]:
                taken.append(time.monotonic())

    with Peer(bus.url) as sender, Caller(bus.url) as other:
        reader = threading.Thread(target=note_responses, args=(sender,), daemon=True)
        reader.start()
        writing = sender.socket.dup()
        writing.settimeout(EVENT_SECONDS)
        threading.Thread(target=writing.sendall, args=(frames,), daemon=True).start()
        n = 0
        while n < 20 or reader.is_alive():  # a client that stops to read would hold the sender up
            answer = other.invoke("add", {"a": n, "b": 1}, seconds=EVENT_SECONDS)
            assert answer["result"] == {"result": n + 1}
            n += 1
    writing.close()
    assert len(taken) == FRAMES
    return taken[-1] - taken[0]


def test_a_message_of_many_values_is_not_read_while_its_sender_owes(launch):
    """On a bus of others, which is read on whatever comes. It is answered all the same."""
    bus = launch(kind="ovos-messagebus")
    bus.forget_who_left()
    zeros = "[0" + ",0" * ((1 if IS_SANITIZED else 2) << 18)

    def send(caller, number, source, more="]"):
        caller.peer.send('{"type":"ovos.tools.invoke","context":{"source":"%s"},"data":{"name":"add",'
                         '"args":%s%s,"call_id":"%d"}}' % (source, zeros, more, number))

    def answer_to(caller, number):
        return caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response"
                               and one.data.get("call_id") == str(number), EVENT_SECONDS).data

    def ask(caller, number, source):
        send(caller, number, source)
        return answer_to(caller, number)

    with Caller(bus.url) as sender, Caller(bus.url) as other:
        answers, last = [], 0
        while last < 20 and not any(one["code"] == "busy" for one in answers):
            numbers = range(last + 1, last + 1 + AT_ONCE)
            last = numbers[-1]
            for number in numbers:
                send(sender, number, "me")
            answers += [answer_to(sender, number) for number in numbers]
        assert {one["code"] for one in answers} == {"invalid_arguments", "busy"}
        answer = next(one for one in answers if one["code"] == "busy")
        assert answer["name"] == "add" and answer["retry_after_s"] > 0
        assert answer["error"].startswith("RuntimeError: Too many checks from 'me': ")
        # Not read: a reader would refuse it as malformed. Behind another, so that the sender owes when it comes, as
        # far as a busy machine lets it come soon.
        for number in range(100, 120, 2):
            send(sender, number, "me")
            send(sender, number + 1, "me", ",01]")
            while sender.call("ovos.tools.status", seconds=EVENT_SECONDS)["calls"]["checking"] > 0:
                pass  # both wait for the thread that reads
            codes = {one.data.get("call_id"): one.data.get("code") for one in sender.settle()
                     if one.type == "ovos.tools.invoke.response"}
            if codes[str(number + 1)] == "busy":
                break
            assert codes[str(number + 1)] == "bad_request"
        assert codes[str(number + 1)] == "busy"
        # Short ones are read, and so are those of others.
        assert sender.invoke("add", {"a": 1, "b": 2}, seconds=EVENT_SECONDS)["result"] == {"result": 3}
        assert ask(other, 200, "you")["code"] == "invalid_arguments"


ZEROS = [0] * ((1 if IS_SANITIZED else 2) << 18)


@pytest.mark.parametrize("path, body", [
    ("/v1/tools/costly?dry_run=1", LONG), ("/v1/tools/add", ZEROS),
    ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"pad": ZEROS}}), ("/mcp", ZEROS)],
    ids=["check", "reading", "mcp", "mcp_malformed"])
def test_over_http_a_debt_outlives_the_connection(launch, folder, path, body):
    """Each request comes on a connection of its own; some at once, as in ask_at_once()."""
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"])
    port, text, answers = port_of(bus.daemon), json.dumps(body), []

    def ask(address):
        with Http(port, address=address) as http:
            return http.post(path, text)

    def is_busy(answer):
        return answer.status == 429

    with ThreadPoolExecutor(AT_ONCE) as threads:
        while len(answers) < 20 * AT_ONCE and not any(map(is_busy, answers)):
            answers += threads.map(ask, ["127.0.0.1"] * AT_ONCE)
    busy = next(filter(is_busy, answers))
    assert not all(map(is_busy, answers))
    assert busy.json["code"] == "busy" and int(busy.headers["Retry-After"]) > 0
    assert busy.json["error"].startswith("RuntimeError: Too many checks from 'http:127.0.0.1': ")
    until(lambda: not is_busy(ask("127.0.0.2")), EVENT_SECONDS, "an answer to somebody else")


def test_a_call_over_mcp_is_not_refused_for_the_reading_of_its_own_message(launch):
    bus = launch(args=["--http", "127.0.0.1:0"])
    with Client(port_of(bus.daemon), "modern") as client:
        answer = client.send("tools/call", {"name": "add", "arguments": {"a": ZEROS}}).json
    assert answer["result"]["isError"] and "a: " in answer["result"]["content"][0]["text"]


def test_a_toolbox_pays_for_reading_its_long_results(launch, tmp_path):
    """Results that are quick to check: they have no schema. One call more is asked for each answer, which is not parsed:
    a client that takes long between leaves time to pay."""
    output = tmp_path / "output.json"
    output.write_text("[0" + ",0" * ((1 if IS_SANITIZED else 4) << 18) + "]")
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "long.json").write_text(json.dumps({"kind": "command", "tools": [
        command("long", {}, f"cat {output}", timeout_ms=20000 * SLOWNESS)]}))
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    texts = []
    with Caller(bus.url) as caller:
        def is_refused():
            caller.send("ovos.tools.invoke", {"name": "long", "args": {}})
            with contextlib.suppress(TimeoutError):
                texts.append(caller.peer.receive(0.02))
            return any("RuntimeError: Toolbox 'long' is busy: its results" in text[:10000] for text in texts)

        until(is_refused, EVENT_SECONDS, "a call that is refused")
    assert any('"result":' in text[:10000] for text in texts)
