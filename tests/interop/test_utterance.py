# SPDX-License-Identifier: Apache-2.0
"""ovos.tools.utterance: from an utterance to a call and its words, without a model."""
import json
import time

import manifests
import pytest
from caller import Caller
from processes import at_most, toolboxctl
from test_approval import Person

UTTERANCE = "ovos.tools.utterance"
SPEAK = "speak"
SATELLITE = {"source": "kitchen::s1", "destination": "skills", "session": {"session_id": "s1", "lang": "de-DE"}}

SCHEMA = {"type": "object", "additionalProperties": False, "required": ["cmd"],
          "properties": {"cmd": {"type": "string"}, "secret": {"type": "string", "writeOnly": True}}}


def command(name, argv, triggers, spoken=None, **more):
    return {"name": name, "description": f"Runs {name}.", "triggers": triggers, "argument_schema": SCHEMA,
            "command": {"argv": argv}, **({"spoken": spoken} if spoken else {}), **more}


@pytest.fixture
def commands(launch, tmp_path):
    """commands(tools, …): a service with a toolbox of programs."""
    def start(*tools, configuration=None, **more):
        folder = tmp_path / "toolbox.d"
        folder.mkdir(exist_ok=True)
        (folder / "box.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": list(tools), **more}))
        return launch(configuration or {}, [manifests.SHIPPED, folder])
    return start


def say(caller, utterance, context=None, **fields):
    return caller.call(UTTERANCE, {"utterance": utterance, **fields}, context)


def spoken(caller):
    """What was spoken so far, in order."""
    return [(one.data["utterance"], one.data["lang"]) for one in caller.seen if one.type == SPEAK]


def ran(name, result, speech):
    return {"matched": True, "name": name, "result": result, "speech": speech}


@pytest.mark.parametrize("utterance, fields, answer", [
    ("what is three plus four", {}, ran("add", {"result": 7}, "That makes 7.")),
    ("What's a hundred and five minus five?", {}, ran("subtract", {"result": 100}, "That makes 100.")),
    ("what is 1,000 times 3", {}, ran("multiply", {"result": 3000}, "That makes 3000.")),
    ("what is seven divided by two", {}, ran("divide", {"result": 3.5}, "That makes 3.5.")),
    ("what is eight divided by two", {}, ran("divide", {"result": 4.0}, "That makes 4.")),
    ("what is ten divided by three", {}, ran("divide", {"result": 10 / 3}, "That makes 3.33333.")),
    ("was ist drei plus vier", {"lang": "de-DE"}, ran("add", {"result": 7}, "Das macht 7.")),
    ("Wie viel sind einundzwanzig mal zwei?", {"lang": "de"}, ran("multiply", {"result": 42}, "Das macht 42.")),
    ("was ist 1.000 plus 1", {"lang": "de"}, ran("add", {"result": 1001}, "Das macht 1001.")),
    ("what is three plus four", {"lang": "fr"}, {"matched": False}),
    ("what is 3 plus 4", {"lang": "fr"}, ran("add", {"result": 7}, "That makes 7.")),
    ("what is love plus hate", {}, {"matched": False}),
    ("good night", {}, {"matched": False})])
def test_a_spoken_sum_is_answered(caller, utterance, fields, answer):
    assert say(caller, utterance, **fields) == answer


def test_a_failure_is_matched_and_has_its_words(caller):
    answer = say(caller, "what is one divided by zero")
    assert answer["matched"] and answer["code"] == "tool_failed"
    assert answer["speech"].startswith("That did not work: ") and "RuntimeError" not in answer["speech"]


@pytest.mark.parametrize("data, field", [
    ({}, "utterance"), ({"utterance": 5}, "utterance"), ({"utterance": "x", "lang": 5}, "lang"),
    ({"utterance": "x", "speak": "yes"}, "speak")])
def test_a_request_that_is_wrong_is_refused(caller, data, field):
    answer = caller.call(UTTERANCE, data)
    assert (answer["code"], answer["field"]) == ("bad_request", field)


def test_an_utterance_that_is_too_long_is_refused(caller):
    assert say(caller, "x" * 4097)["code"] == "too_large"


def test_the_language_is_the_requests_then_the_sessions_then_the_configurations(launch, tmp_path):
    system = tmp_path / "mycroft.conf"
    system.write_text(json.dumps({"lang": "de-de"}))
    service = launch({}, env={"MYCROFT_SYSTEM_CONFIG": str(system)})
    session = {"session": {"session_id": "s", "lang": "en-US"}}
    with Caller(service.url) as caller:
        assert say(caller, "was ist drei plus vier")["speech"] == "Das macht 7."
        assert say(caller, "what is three plus four", session)["speech"] == "That makes 7."
        assert say(caller, "was ist drei plus vier", session, lang="de")["speech"] == "Das macht 7."


def test_speak_goes_to_the_session_of_the_caller_in_the_language_of_the_words(service, caller):
    answer = say(caller, "what is 3 plus 4", SATELLITE, speak=True, lang="fr")
    heard, = [one for one in caller.seen if one.type == SPEAK]
    assert answer["speech"] == "That makes 7."
    assert heard.data == {"utterance": "That makes 7.", "expect_response": False, "meta": {"skill": "toolboxd"},
                          "lang": "en"}
    assert heard.context["session"] == SATELLITE["session"] and heard.context["skill_id"] == "toolboxd"
    assert heard.context["destination"] == "kitchen::s1"


def test_nothing_is_spoken_unless_asked_for_nor_without_words(commands):
    service = commands(command("mute", ["true"], ["mute (?<cmd>.+)"]))
    with Caller(service.url) as caller:
        say(caller, "what is 3 plus 4")
        assert say(caller, "mute it", speak=True)["speech"] is None
        caller.settle()
        assert spoken(caller) == []


def test_a_context_that_is_too_large_is_answered_but_not_spoken(caller):
    answer = say(caller, "what is 3 plus 4", {"filler": "x" * (64 << 10)}, speak=True)
    assert answer["speech"] == "That makes 7." and spoken(caller) == []


def test_wait_is_spoken_after_a_second_and_a_half(commands):
    faces = {"en": {"wait": "One moment for {cmd}.", "done": "Slept."}}
    slow = command("slow", ["sleep", "{cmd}"], ["sleep (?<cmd>.+)"], faces, timeout_ms=60000)
    service = commands(slow)
    with Caller(service.url) as caller:
        say(caller, "sleep 0", speak=True)
        assert spoken(caller) == [("Slept.", "en")]
        caller.seen.clear()
        say(caller, "sleep 3", speak=True)
        assert spoken(caller) == [("One moment for 3.", "en"), ("Slept.", "en")]


def test_a_group_that_does_not_fit_leaves_the_next_trigger(commands):
    box = command("echo", ["echo", "{cmd}"], ["echo (?<cmd>.+)"])
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    first = {**command("count", ["seq", "{n}"], ["echo (?<n>.+)"]), "argument_schema": number}
    service = commands(first, box)
    with Caller(service.url) as caller:
        assert say(caller, "echo Two Words")["result"]["output"].strip() == "Two Words"  # the letters stay
        assert say(caller, "echo two")["name"] == "count"
        assert caller.call("ovos.tools.match", {"utterance": "echo Two Words"})["name"] == "echo"


def test_words_are_booleans_where_the_schema_wants_them(commands):
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    lamp = {**command("lamp", ["echo", "{on}"], ["lamp (?<on>.+)"]), "argument_schema": schema}
    service = commands(lamp)
    with Caller(service.url) as caller:
        assert say(caller, "lamp true")["result"]["output"].strip() == "true"
        assert say(caller, "lamp yes") == {"matched": False}


def test_the_risk_of_the_tool_counts(commands):
    faces = {"en": {"confirm": "Shall I run {cmd}?", "done": "Done.", "failed": "No: {error}"},
             "de": {"confirm": "Soll ich {cmd} starten?"}}
    service = commands(command("run", ["echo", "{cmd}"], ["run (?<cmd>.+)"], faces, risk="execute"))
    with Caller(service.url) as caller, Person(service.url) as person:
        denied = say(caller, "run ls")
        assert denied["matched"] and denied["code"] == "denied" and denied["speech"].startswith("No: ")
        person.attach(60)
        mark = caller.send(UTTERANCE, {"utterance": "run ls"}, SATELLITE)
        question = person.question()
        assert question["question"] == "Soll ich ls starten?" and question["source"] == "kitchen::s1"
        assert "arguments_cut" not in question
        person.respond(question["id"])
        assert caller.answer_to(UTTERANCE, mark).data["result"]["output"].strip() == "ls"


def test_a_question_does_not_show_a_hidden_argument(commands):
    faces = {"en": {"confirm": "Shall I run {cmd} with {secret}?"}}
    trigger = "run (?<cmd>\\w+) with (?<secret>.+)"
    service = commands(command("run", ["echo", "{cmd}"], [trigger], faces, risk="execute"))
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach(60)
        caller.send(UTTERANCE, {"utterance": "run ls with swordfish"})
        question = person.question()
        assert question["question"] == "Shall I run ls with ***?" and "swordfish" not in json.dumps(question)


def test_a_profile_hides_tools_from_an_utterance(launch):
    service = launch({"profiles": {"kids": {"tool_names": ["subtract"]}},
                      "access": [{"match": {"session_id": "s1"}, "profile": "kids"}]})
    with Caller(service.url) as caller:
        assert say(caller, "what is 3 plus 4", SATELLITE) == {"matched": False}
        assert say(caller, "what is 4 minus 3", SATELLITE)["result"] == {"result": 1}
        assert say(caller, "what is 3 plus 4", profile="kids") == {"matched": False}


def test_a_caller_with_too_many_calls_is_busy(launch):
    service = launch({"callers": [{"match": {"source": "talker"}, "per_minute": 1, "burst": 1}]})
    with Caller(service.url) as caller:
        assert say(caller, "what is 3 plus 4", {"source": "talker"})["result"] == {"result": 7}
        answer = say(caller, "what is 3 plus 4", {"source": "talker"})
        assert answer["code"] == "busy" and answer["speech"].startswith("That did not work: ")


def test_a_call_can_be_cancelled_by_its_id(commands):
    faces = {"en": {"failed": "It stopped: {error}"}}
    service = commands(command("slow", ["sleep", "{cmd}"], ["sleep (?<cmd>.+)"], faces, timeout_ms=60000))
    with Caller(service.url) as caller:
        mark = caller.send(UTTERANCE, {"utterance": "sleep 50"})
        running = []
        while not running:
            running = caller.call("ovos.tools.calls", {"state": "running"})["calls"]
        assert running[0]["name"] == "slow"
        caller.send("ovos.tools.cancel", {"id": running[0]["id"]})
        answer = caller.answer_to(UTTERANCE, mark).data
        assert answer["code"] == "cancelled" and answer["speech"].startswith("It stopped: ")


def test_an_utterance_before_the_first_catalogue_waits_for_it(launch):
    service = launch({}, wait=False)
    with Caller(service.url) as caller:
        assert say(caller, "what is three plus four")["result"] == {"result": 7}


def test_an_unknown_name_in_a_face_is_a_mistake(commands):
    service = commands(command("run", ["echo", "{cmd}"], ["run"], {"en": {"done": "{nothing}"}}))
    with Caller(service.url) as caller:
        failed, = caller.call("ovos.tools.reload")["failed"]
        assert "'done' names 'nothing', which has no value: there are the arguments cmd, secret" in failed["error"]


def test_toolboxctl_says_it(service, tmp_path):
    def run(*words):
        return toolboxctl("say", *words, bus=service.url, home=tmp_path)

    done = run("what", "is", "three", "plus", "four")
    assert (done.returncode, done.stdout) == (0, "That makes 7.\n")
    done = run("--lang", "de", "was ist drei plus vier")
    assert (done.returncode, done.stdout) == (0, "Das macht 7.\n")
    done = run("what is one divided by zero")
    assert done.returncode == 1 and "divide" in done.stderr
    done = run("good night")
    assert done.returncode == 1 and "no tool takes it" in done.stderr
    done = run("--json", "good night")
    assert (done.returncode, json.loads(done.stdout)) == (1, {"matched": False})


def test_a_thousand_utterances_leave_others_their_time(service):
    """Each is a search and a short call; those for which there is no place are busy at once."""
    with Caller(service.url) as caller, Caller(service.url) as other:
        marks = {caller.send(UTTERANCE, {"utterance": "what is three plus four"}) for _ in range(1000)}
        start = time.monotonic()
        other.call("mycroft.toolboxd.is_alive")
        assert time.monotonic() - start < at_most(2)
        while marks:
            answer = caller.wait_for(lambda one: one.type == UTTERANCE + ".response")
            assert answer.data.get("code") == "busy" or answer.data["result"] == {"result": 7}
            marks.remove(answer.context["mark"])
