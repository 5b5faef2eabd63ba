# SPDX-License-Identifier: Apache-2.0
"""The context of a request comes back byte for byte, but for the routing pair.

Requests are written by hand here and answers taken apart by a scanner of our own: a JSON library
would lose what is looked for."""
import json
import random

import pytest
from caller import OURS

TOPIC = "ovos.tools.invoke"
DATA = '{"name": "add", "args": {"a": 1, "b": 2}}'
SEED = 20240607
RANDOM_CONTEXTS = 300

_decoder = json.JSONDecoder(strict=False)


def value_end(text, at):
    """The offset behind the JSON value at `at`."""
    if text[at] in "{[\"":
        return _decoder.raw_decode(text, at)[1]
    while at < len(text) and text[at] not in ",]} \t\r\n":
        at += 1
    return at


def skip(text, at):
    while text[at] in " \t\r\n,:":
        at += 1
    return at


def members(text):
    """The members of an object as they are written: [(key, value)], keys with their quotes."""
    found, at = [], skip(text, 1)
    while text[at] != "}":
        key_end = value_end(text, at)
        start = skip(text, key_end)
        end = value_end(text, start)
        found.append((text[at:key_end], text[start:end]))
        at = skip(text, end)
    return found


def context_of(frame):
    return dict(members(frame))['"context"']


def answer_text(caller, context, data=DATA, topic=TOPIC):
    """The context that comes back for a context, both as text."""
    caller.seen = []
    caller.peer.send(f'{{"context":{context},"data":{data},"type":"{topic}"}}')
    answer = caller.wait_for(lambda message: message.type == topic + ".response")
    assert set(answer.whole) == {"type", "data", "context"}
    return context_of(answer.text)


def nested(levels):
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("context", [
    "{}",
    '{"n":9007199254740993}',
    '{"n":1.10,"m":1e400,"k":-0,"j":1E+02,"i":0.1000000000000000055511151231257827}',
    '{"n":123456789012345678901234567890}',
    '{"a":"\\u00e9","b":"é","c":"\\u20AC","d":"\\ud83d\\ude00","e":"😀","f":"\\/"}',
    '{"":"an empty key","x":{"":null}}',
    '{"Source":"A","SOURCE":"B"}',
    '{"b":1,"a":2,"B":3}',
    '{"a":[true,false,null,[],{},""]}',
    '{"\\u0061b":1,"tab\\there":"\\u0000"}',
    '{"\\u0000":1,"a\\u0000b":2,"a":3,"source\\u0000":"A","x":{"\\u0000":{}}}',
    '{"session":{"session_id":"default","session_id\\u0000":"x"}}',
    '{"session":{"session_id":"default","lang":"de-DE","odd":1.10}}',
    '{"session":null}',
    '{"n":' + nested(100) + "}",
    '{"a":"' + "x" * 100000 + '"}',
])
def test_a_context_comes_back_byte_for_byte(caller, context):
    assert members(answer_text(caller, context)) == members(context)


@pytest.mark.parametrize("context, derived", [
    ('{"source":"a"}', '{"source":"a","destination":"a"}'),
    ('{"x":1,"source":"a","y":2}', '{"x":1,"source":"a","y":2,"destination":"a"}'),
    ('{"source":"a","destination":"b"}', '{"source":"b","destination":"a"}'),
    ('{"destination":"b","x":1,"source":"a"}', '{"destination":"a","x":1,"source":"b"}'),
    ('{"source":"a","destination":["b","c"]}', '{"source":"b","destination":"a"}'),
    ('{"source":["a","b"],"destination":"c"}', '{"source":"c","destination":["a","b"]}'),
    ('{"destination":"b"}', '{"destination":"b","source":"b"}'),
    ('{"destination":["b","c"]}', '{"destination":["b","c"],"source":"b"}'),
    ('{"source":null,"destination":"b"}', '{"source":"b","destination":"b"}'),
    ('{"source":"","destination":"b"}', '{"source":"b","destination":"b"}'),
    ('{"source":"a","destination":null}', '{"source":"a","destination":"a"}'),
    ('{"source":"a","destination":""}', '{"source":"a","destination":"a"}'),
    ('{"source":"a","destination":[]}', '{"source":"a","destination":"a"}'),
    ('{"source":[],"destination":[]}', '{"source":[],"destination":[]}'),
    ('{"source":null}', '{"source":null}'),
    ('{"source":42,"destination":{"x":1.10}}', '{"source":{"x":1.10},"destination":42}'),
    ('{"source":1e400}', '{"source":1e400,"destination":1e400}'),
    ('{"source":"\\u00e9"}', '{"source":"\\u00e9","destination":"\\u00e9"}'),
    ('{"source":"a","destination":[1.10,"c"]}', '{"source":1.10,"destination":"a"}'),
    ('{"sou\\u0072ce":"a","destination":"b"}', '{"sou\\u0072ce":"b","destination":"a"}'),
])
def test_the_routing_pair(caller, context, derived):
    assert members(answer_text(caller, context)) == members(derived)


def test_a_destination_inside_data_means_nothing(caller):
    data = '{"name":"add","args":{"a":1,"b":2},"destination":"x"}'
    derived = '{"source":"a","destination":"a"}'
    assert members(answer_text(caller, '{"source":"a"}', data)) == members(derived)


@pytest.mark.parametrize("frame", [
    '{"type":"ovos.tools.list"}',
    '{"type":"ovos.tools.list","data":null,"context":null}',
    '{"context":{},"type":"ovos.tools.list"}',
    ' {\n"data" : {} ,\t"type" : "ovos.tools.list" } ',
    '{"extra":{"type":"x"},"type":"ovos.tools.list","more":[1,2]}',
    '{"\\u0074ype":"ovos\\u002etools.list"}',
])
def test_an_envelope_may_be_written_in_any_way(caller, frame):
    answers = caller.answers_of(frame, "ovos.tools.list.response")
    assert len(answers) == 1 and answers[0].context == {}


def test_what_was_not_asked_for_names_its_source(caller, service):
    """Broadcasts carry a context of our own; with no change there is none to see."""
    caller.settle()
    caller.call("ovos.tools.reload")
    for message in caller.settle():
        if message.type == "ovos.tools.changed":
            assert message.context == OURS


# --- contexts that nobody thought of

def random_string(chance):
    pieces = []
    for _ in range(chance.randrange(8)):
        pieces.append(chance.choice([
            "a", "Z", " ", "é", "€", "😀", "\u2028", "\x7f", "\\u0000", "\\u00E9", "\\ud83d\\ude00",
            "\\n", "\\\\", "\\\"", "\\/", "/", "{", "}", "[", "]", ",", ":", "type"]))
    return '"' + "".join(pieces) + '"'


def random_number(chance):
    digits = str(chance.randrange(10 ** chance.randrange(1, 40)))
    number = chance.choice(["", "-"]) + digits
    if chance.random() < 0.5:
        number += "." + "".join(chance.choices("0123456789", k=chance.randrange(1, 25)))
    if chance.random() < 0.4:
        number += chance.choice("eE") + chance.choice(["", "+", "-"]) + str(chance.randrange(2000))
    return number


def random_space(chance):
    return chance.choice(["", "", "", " ", "\n", "\t", "\r\n  "])


def random_value(chance, depth):
    kind = chance.randrange(9 if depth else 6)
    if kind < 3:
        return chance.choice(["null", "true", "false"])
    if kind == 3:
        return random_number(chance)
    if kind < 6:
        return random_string(chance)
    if kind == 6:
        return random_object(chance, depth - 1)
    space = random_space(chance)
    items = [random_value(chance, depth - 1) for _ in range(chance.randrange(5))]
    return "[" + space + ("," + space).join(items) + space + "]"


def random_object(chance, depth):
    written = {}
    for _ in range(chance.randrange(6)):
        key = random_string(chance)
        written[json.loads(key)] = key
    parts = []
    for decoded, key in written.items():
        if decoded in ("source", "destination", "session") or "\0" in decoded:
            continue
        space = random_space(chance)
        parts.append(f"{key}{space}:{space}{random_value(chance, depth)}{space}")
    return "{" + random_space(chance) + ",".join(parts) + "}"


def test_contexts_that_nobody_thought_of_come_back_byte_for_byte(caller):
    chance = random.Random(SEED)
    for number in range(RANDOM_CONTEXTS):
        context = random_object(chance, 6)
        assert members(answer_text(caller, context)) == members(context), (number, context)


@pytest.mark.parametrize("topic", ["ovos.tools.validate", "mycroft.toolboxd.is_alive"])
def test_a_long_context_comes_back_whole(caller, topic):
    """It is read beside the loop."""
    padding = [0] * 70000
    answer = caller.answer_to(topic, caller.send(topic, {"name": "add", "args": {"a": 1, "b": 2}}, {"padding": padding}))
    assert answer.context["padding"] == padding
