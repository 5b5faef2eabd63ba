# SPDX-License-Identifier: Apache-2.0
"""ovos.tools.match: which tool an utterance means, by the tools' triggers."""
import json
import time

import manifests
import pytest
from caller import Caller
from processes import at_most

MATCH = "ovos.tools.match"
NONE = {"name": None}

# So many triggers in all, spread over tools that have as many as one may.
TRIGGERS, PER_TOOL = 10_000, 50


def match(caller, utterance):
    return caller.call(MATCH, {"utterance": utterance})


def many(folder, trigger):
    """A toolbox of tools with TRIGGERS triggers in all; trigger(number) gives each."""
    manifests.toolbox(folder, "many", [
        manifests.labs(f"tool_{tool}", triggers=[
            trigger(number) for number in range(tool * PER_TOOL, (tool + 1) * PER_TOOL)])
        for tool in range(TRIGGERS // PER_TOOL)])


def found(name, complete, missing=(), **args):
    return {"name": name, "toolbox_id": "math_tools", "args": args, "complete": complete, "missing": list(missing)}


@pytest.mark.parametrize("utterance, answer", [
    ("what is two plus two", found("add", True, a=2, b=2)),
    ("what is love plus two", found("add", False, a="love", b=2)),
    ("Oh, WHAT IS 2 plus -2?", found("add", True, a=2, b=-2)),
    ("add three to 5", found("add", True, a=3, b=5)),
    ("what is 3 minus 1", found("subtract", True, a=3, b=1)),
    ("subtract 1 from 3", found("subtract", True, a=3, b=1)),
    ("7 factorial", found("factorial", True, n=7)),
    ("good night", NONE), ("", NONE)])
def test_the_first_tool_with_a_trigger_that_is_found(caller, utterance, answer):
    assert match(caller, utterance) == answer


@pytest.mark.parametrize("lang, complete", [("de-DE", True), ("en", False), ("fr", False)])
def test_numbers_are_words_of_the_language(caller, lang, complete):
    answer = caller.call(MATCH, {"utterance": "was ist drei plus vier", "lang": lang})
    assert answer["complete"] is complete


def test_a_complete_match_is_a_call(caller):
    heard = match(caller, "what is 30 plus 4?")
    assert heard.pop("complete") and heard.pop("missing") == []
    assert caller.call("ovos.tools.invoke", heard)["result"] == {"result": 34}


SCHEMA = {"type": "object", "additionalProperties": False, "required": ["room", "level"],
          "properties": {"room": {"type": "string"}, "level": {"type": "integer", "maximum": 100},
                         "on": {"type": "boolean"}}}


@pytest.mark.parametrize("trigger, utterance, args, complete, missing", [
    (r"light in the (?<room>\w+) at (?<level>\d+)", "light in the hall at 40 percent", {"room": "hall", "level": 40}, True, []),
    (r"light in the (?<room>\w+)", "light in the 12", {"room": "12"}, False, ["level"]),
    (r"light at (?<level>\w+)", "light at 400", {"level": 400}, False, ["room"]),
    (r"light(?: in the (?<room>\w+))?(?<on> on)?", "light", {}, False, ["room", "level"]),
    (r"(?J)(?:(?<level>\d+) percent|to (?<level>\d+))", "to 7", {"level": 7}, False, ["room"]),
    (r"light \"(?<room>[^\"]*)\"", 'light "\\ü\t"', {"room": "\\ü\t"}, False, ["level"]),
    (r"light", "light", {}, False, ["room", "level"]),
])
def test_groups_are_arguments(launch, tmp_path, trigger, utterance, args, complete, missing):
    folder = tmp_path / "lamps.d"
    folder.mkdir()
    (folder / "lamps.json").write_text(json.dumps({"kind": "command", "risk": "write", "tools": [
        {"name": "lamp", "description": "Sets a lamp.", "triggers": [trigger], "argument_schema": SCHEMA,
         "command": {"argv": ["true", "{room}", "{level}", "{on}"]}}]}))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert match(caller, utterance) == {"name": "lamp", "toolbox_id": "lamps", "args": args,
                                            "complete": complete, "missing": missing}


def test_a_group_that_is_no_property_is_a_mistake(launch, tmp_path):
    folder = tmp_path / "lamps.d"
    folder.mkdir()
    (folder / "lamps.json").write_text(json.dumps({"kind": "command", "risk": "write", "tools": [
        {"name": "lamp", "description": "Sets a lamp.", "triggers": ["on", "(?<place>\\w+)"], "argument_schema": SCHEMA,
         "command": {"argv": ["true"]}}]}))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        failed, = caller.call("ovos.tools.reload")["failed"]
    assert "the group 'place' is no property of the argument schema, which has room, level, on" in failed["error"]


@pytest.mark.parametrize("data", [{}, {"utterance": None}, {"utterance": 5}, {"utterance": ["add"]}])
def test_what_is_no_utterance(caller, data):
    answer = caller.call(MATCH, data)
    assert answer["code"] == "bad_request" and answer["field"] == "utterance"
    assert answer["error"].startswith("ValueError: Bad request: 'utterance' must be ")


def test_an_utterance_that_is_too_long(caller):
    assert match(caller, "x" * 4096) == NONE
    answer = match(caller, "ü" * 2049)
    assert (answer["code"], answer["actual"], answer["max"]) == ("too_large", 4098, 4096)


def test_what_is_not_offered_is_not_matched(launch, tmp_path):
    manifests.toolbox(tmp_path, "a", [manifests.labs("first", triggers=["number"]),
                                      manifests.labs("second", triggers=["number"])])
    manifests.toolbox(tmp_path, "b", [manifests.labs("third", triggers=["number"])])
    expected = [({}, "first"), ({"tools_disabled": ["first"]}, "second"),
                ({"tools_disabled": ["a/*"]}, "third"), ({"tools_enabled": ["third"]}, "third"),
                ({"toolboxes": {"a": {"enabled": False}}}, "third"),
                ({"tools_disabled": ["a/*", "third"]}, None)]
    for configuration, name in expected:
        service = launch(configuration, [tmp_path])
        with Caller(service.url) as caller:
            assert match(caller, "a number")["name"] == name


def test_ten_thousand_triggers_on_one_utterance(launch, tmp_path):
    many(tmp_path, lambda number: f"(turn|switch) (on|off) the (lamp|light) of room{number}\\b")
    service = launch({}, [tmp_path])
    with Caller(service.url) as caller:
        last = f"please switch on the lamp of room{TRIGGERS - 1}"
        start = time.monotonic()
        assert match(caller, last)["name"] == f"tool_{TRIGGERS // PER_TOOL - 1}"
        assert time.monotonic() - start < at_most(0.5)
        assert match(caller, "turn the light off") == NONE


def test_triggers_that_would_take_minutes(launch, tmp_path):
    """Each takes as many steps as it may; together they have a tenth of a second."""
    many(tmp_path, lambda number: "^(a+)+[c-z]$")
    service = launch({}, [tmp_path])
    with Caller(service.url) as caller:
        start = time.monotonic()
        answer = match(caller, "a" * 100 + "b")
        assert time.monotonic() - start < at_most(5)
        assert answer["code"] == "too_large" and answer["max"] == 100 <= answer["actual"]
        assert "limits.pattern_steps" in service.daemon.log()
