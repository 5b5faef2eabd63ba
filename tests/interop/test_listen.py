# SPDX-License-Identifier: Apache-2.0
"""`listen`: toolboxd as a fallback skill of OVOS, asked by what ovos-core's fallback service sends."""
import json
import time

import manifests
import pytest
from caller import Caller
from fake_bus import FakeBus
from ovos_core import ACTIVATE, FALLBACK, HANDLED, OWN, OvosCore
from processes import EVENT_SECONDS, at_most, cpu_ns, write_configuration
from test_approval import Person
from test_utterance import SPEAK, command

REGISTER, DEREGISTER = FALLBACK + "register", FALLBACK + "deregister"
US = {"skill_id": "toolboxd", "priority": 50}
SATELLITE = {"session_id": "satellite", "site_id": "kitchen", "lang": "en-US"}


@pytest.fixture
def listen(launch, tmp_path):
    """listen(tools, …): a service that listens, with math_tools and a toolbox of programs."""
    def start(*tools, listen="fallback", configuration=None, **options):
        folder = tmp_path / "toolbox.d"
        folder.mkdir(exist_ok=True)
        (folder / "box.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
            *tools, command("echo", ["echo", "{cmd}"], ["echo (?<cmd>.+)"], {"en": {"done": "{output}"}})]}))
        return launch({"listen": listen, **(configuration or {})}, [manifests.SHIPPED, folder], **options)
    return start


@pytest.fixture(params=[2, 3])
def core(request, listen):
    with OvosCore(listen().url, request.param) as core:
        core.start()
        yield core


def types_of(messages):
    return [one.type for one in messages]


def registrations(peer, seconds):
    """The registrations that come on a made-up bus in this time."""
    end, found = time.monotonic() + seconds, []
    while (left := end - time.monotonic()) > 0:
        try:
            message = json.loads(peer.receive(left))
        except TimeoutError:
            break
        if message["type"] in (REGISTER, DEREGISTER):
            found.append((message["type"], message["data"], message["context"]))
    return found


def next_registration(peer):
    while True:
        message = json.loads(peer.receive(EVENT_SECONDS))
        if message["type"] in (REGISTER, DEREGISTER):
            return message["type"], message["data"]


def test_it_registers_when_connected_and_again_after_each_reconnection(launch):
    bus = FakeBus()
    try:
        service = launch({"listen": "fallback"}, [manifests.SHIPPED], bus_url=bus.url)
        peer = bus.wait_for_client()
        assert next_registration(peer) == (REGISTER, US)
        peer.close()
        peer = bus.wait_for_client()
        assert next_registration(peer) == (REGISTER, US)
        service.daemon.process.terminate()
        assert next_registration(peer) == (DEREGISTER, US)
        peer.close()
    finally:
        bus.close()


@pytest.mark.parametrize("sign", ["mycroft.skills.initialized", "mycroft.ready"])
def test_it_registers_again_when_a_core_is_there_again(listen, sign):
    with OvosCore(listen().url) as core:
        core.start(sign)
        assert core.skills == {"toolboxd": 50}
        register = core.seen[-1]
        assert register.context == {"source": "toolboxd", "session": {"session_id": "default"}}


@pytest.mark.parametrize("listen_for", [False, None])
def test_it_does_not_listen_unless_told_to(listen, listen_for):
    service = listen(listen=listen_for)
    with OvosCore(service.url) as core:
        core.send("mycroft.ready", {})
        core.send(FALLBACK + "ping", {"utterances": ["what is 3 plus 4"], "lang": "en"}, core.context())
        assert core.settle() == [] or not any(one.type.endswith(("register", "pong")) for one in core.seen)
        assert "listen" not in core.call("ovos.tools.status")


def test_a_reload_begins_and_ends_it_and_moves_its_priority(listen):
    service = listen(listen=False)
    with OvosCore(service.url) as core:
        for listen_for, skills in ((({"as": "fallback", "priority": 7}), {"toolboxd": 7}), ("fallback", {"toolboxd": 50}),
                                   (False, {}), ({"priority": 90}, {"toolboxd": 90})):
            write_configuration(service.daemon.home, {"toolboxd": {"listen": listen_for}})
            core.call("ovos.tools.reload")
            core.settle()
            assert core.skills == skills


def test_a_wrong_value_means_that_it_does_not_listen(listen):
    service = listen(listen="always")
    with Caller(service.url) as caller:
        assert "listen" not in caller.call("ovos.tools.status")
    assert "listen" in service.daemon.log()


def test_a_ping_is_answered_by_triggers_alone(core):
    context = core.context(SATELLITE)
    assert core.ask(["what is three plus four"], context)
    pong = core.seen[-1]
    assert {**context, "mark": pong.context["mark"], "skill_id": "toolboxd"} == pong.context
    assert not core.ask(["what is love plus hate"]) and not core.ask(["good night"]) and not core.ask([])
    assert core.ask(["was ist drei plus vier"], lang="de-DE")
    assert core.call("ovos.tools.calls")["calls"] == []


def test_a_ping_is_answered_in_half_a_second(core, figure):
    core.ask(["what is three plus four"])
    start = time.monotonic()
    core.ask(["what is three plus four"])
    seconds = time.monotonic() - start
    figure("ms", seconds * 1000)
    assert seconds < at_most(0.5)


def test_the_first_utterance_that_matches_counts_for_ping_and_request(core):
    utterances = ["hm", "echo first", "what is three plus four"]
    assert core.ask(utterances)
    speak, = [one for one in core.messages_of(core.request(utterances)) if one.type == SPEAK]
    assert speak.data["utterance"].strip() == "first"


def test_a_request_is_start_speak_response(core):
    context = core.context(SATELLITE)
    messages = core.messages_of(core.request(["what is three plus four"], context))
    ends = [HANDLED] if core.version == 2 else []
    assert types_of(messages) == [OWN + "start", SPEAK, OWN + "response", *ends]
    assert messages[1].data == {"utterance": "That makes 7.", "expect_response": False,
                                "meta": {"skill": "toolboxd"}, "lang": "en"}
    assert messages[2].data == {"result": True, "fallback_handler": "toolboxd"}
    for one in messages:
        assert {key: one.context[key] for key in context} == context and one.context["skill_id"] == "toolboxd"


def test_what_no_trigger_matches_any_more_is_not_taken(core):
    messages = core.messages_of(core.request(["good night"]))
    assert types_of(messages)[:2] == [OWN + "start", OWN + "response"]
    assert messages[1].data == {"result": False, "fallback_handler": None}


def test_a_failure_is_something_said(core):
    messages = core.messages_of(core.request(["what is one divided by zero"]))
    assert types_of(messages)[:3] == [OWN + "start", SPEAK, OWN + "response"]
    assert messages[1].data["utterance"].startswith("That did not work: ") and messages[2].data["result"] is True


def test_nothing_to_say_is_a_response_without_speak(listen):
    service = listen(command("mute", ["true"], ["mute (?<cmd>.+)"]))
    with OvosCore(service.url) as core:
        messages = core.messages_of(core.request(["mute it"]))
        assert types_of(messages) == [OWN + "start", OWN + "response"] and messages[1].data["result"] is True


def test_its_caller_is_ovos_fallback_in_the_session_of_the_person(listen):
    service = listen(configuration={"access": [{"match": {"source": "ovos-fallback", "site_id": "kitchen"},
                                                "profile": "kids"}],
                                    "profiles": {"kids": {"tool_names": ["subtract"]}}})
    with OvosCore(service.url) as core:
        kitchen = core.context(SATELLITE)
        assert core.ask(["what is 3 plus 4"]) and not core.ask(["what is 3 plus 4"], kitchen)
        core.messages_of(core.request(["what is 4 minus 3"], kitchen))
        call, = core.call("ovos.tools.calls")["calls"]
        assert (call["source"], call["session_id"], call["door"]) == ("ovos-fallback", "satellite", "bus")


def test_an_execute_asks(listen):
    faces = {"en": {"confirm": "Shall I run {cmd}?", "done": "Done.", "failed": "No: {error}"}}
    service = listen(command("run", ["echo", "{cmd}"], ["run (?<cmd>.+)"], faces, risk="execute"))
    with OvosCore(service.url) as core, Person(service.url) as person:
        denied = core.messages_of(core.request(["run ls"]))
        assert denied[1].data["utterance"].startswith("No: ")
        person.attach(60)
        mark = core.request(["run ls"])
        question = person.question()
        assert question["question"] == "Shall I run ls?" and question["source"] == "ovos-fallback"
        person.respond(question["id"])
        assert core.messages_of(mark)[1].data["utterance"] == "Done."


def slow_tool():
    return command("slow", ["sleep", "{cmd}"], ["sleep (?<cmd>.+)"],
                   {"en": {"wait": "One moment.", "failed": "It stopped."}}, timeout_ms=60000)


def test_wait_is_spoken(listen):
    service = listen(slow_tool())
    with OvosCore(service.url) as core:
        messages = core.messages_of(core.request(["sleep 2"]))
        assert [one.data["utterance"] for one in messages if one.type == SPEAK] == ["One moment."]


@pytest.mark.parametrize("data", [{}, {"skill_id": ""}, {"skill_id": "toolboxd"}])
def test_force_timeout_cancels_the_call_of_its_session(listen, data):
    service = listen(slow_tool())
    with OvosCore(service.url) as core:
        mark = core.request(["sleep 50"], core.context(SATELLITE))
        other = core.request(["sleep 3"])
        core.send(FALLBACK + "force_timeout", {"skill_id": "another"}, core.context(SATELLITE))
        core.send(FALLBACK + "force_timeout", data, core.context(SATELLITE))
        messages = [one for one in core.messages_of(mark) if one.type != SPEAK]
        assert types_of(messages) == [OWN + "start", OWN + "killed", OWN + "response"]
        assert messages[1].data == {"error": "timed out"} and messages[2].data["result"] is False
        assert not any(one.type == SPEAK and one.data["utterance"] == "It stopped." for one in core.seen)
        assert core.messages_of(other)[-1].data["result"] is True
        states = {call["session_id"]: call.get("code") for call in core.call("ovos.tools.calls")["calls"]}
        assert states == {"satellite": "cancelled", "default": None}


# ── "stop" ────────────────────────────────────────────────────────────────────────────────────────


def can_stop(core, context, topic="ovos.stop.ping"):
    mark = core.send(topic, {}, context)
    pong = core.wait_for(lambda one: one.type == "skill.stop.pong" and one.context.get("mark") == mark)
    assert pong.data["skill_id"] == pong.context["skill_id"] == "toolboxd"
    assert {key: pong.context[key] for key in context if key != "skill_id"} == context
    return pong.data["can_handle"]


@pytest.mark.parametrize("version, topic", [(3, "toolboxd:stop"), (2, "toolboxd.stop"), (3, "ovos.stop"), (2, "mycroft.stop")])
def test_stop_ends_the_call_of_its_session(listen, version, topic):
    """ovos-core asks the active skills, and stops the last one that has something to stop; else it stops all."""
    service = listen(slow_tool())
    with OvosCore(service.url, version) as core:
        satellite, home = core.context(SATELLITE), core.context()
        assert not can_stop(core, satellite)
        mark, other = core.request(["sleep 50"], satellite), core.request(["sleep 2"], home)
        assert can_stop(core, satellite) and can_stop(core, satellite, "toolboxd.stop.ping")
        active = [one.data for one in core.seen if one.type == ACTIVATE]
        assert active == ([{"skill_id": "toolboxd"}] * 2 if version == 2 else [])  # a newer core does it by itself
        stop = core.send(topic, {"skill_id": "toolboxd"}, satellite)
        messages = [one for one in core.messages_of(mark) if one.type != SPEAK]
        assert types_of(messages)[:2] == [OWN + "start", OWN + "response"]
        assert messages[1].data == {"result": True, "fallback_handler": "toolboxd"}
        if topic.startswith("toolboxd"):
            core.wait_for(lambda one: one.type == "mycroft.skill.handler.complete" and one.context.get("mark") == stop)
            [response] = [one for one in core.seen if one.type == "toolboxd.stop.response"]
            assert response.data == {"skill_id": "toolboxd", "result": True}
        assert not can_stop(core, satellite) and can_stop(core, home)
        assert core.messages_of(other)[-1].type in (OWN + "response", "ovos.utterance.handled")
        assert not any(one.type == SPEAK and one.data["utterance"] == "It stopped." for one in core.seen)
        states = {call["session_id"]: call.get("code") for call in core.call("ovos.tools.calls")["calls"]}
        assert states == {"satellite": "cancelled", "default": None}


@pytest.mark.parametrize("listen_for", ["fallback", False])
def test_nothing_to_stop_is_told_at_once(listen, listen_for):
    """A skill that was active is asked for some minutes, and core waits for its answer."""
    with OvosCore(listen(listen=listen_for).url) as core:
        assert not can_stop(core, core.context())
        mark = core.send("toolboxd:stop", {}, core.context())
        response = core.wait_for(lambda one: one.type == "toolboxd.stop.response" and one.context.get("mark") == mark)
        assert response.data["result"] is False


@pytest.mark.parametrize("listen_for", ["fallback", False])
def test_a_core_does_not_wait_for_it_in_a_conversation(listen, listen_for):
    """A skill that has spoken is asked first about each further utterance."""
    with OvosCore(listen(listen=listen_for).url) as core:
        context = core.context(SATELLITE)
        mark = core.send("toolboxd.converse.ping", {"utterances": ["what is 3 plus 4"], "lang": "en"}, context)
        pong = core.wait_for(lambda one: one.type == "skill.converse.pong" and one.context.get("mark") == mark)
        assert pong.data == {"skill_id": "toolboxd", "can_handle": False}
        assert {key: pong.context[key] for key in context} == context


@pytest.mark.parametrize("data", [None, {}, {"utterances": "what is 3 plus 4"}, {"utterances": [5, None, ["x"]]},
                                  {"utterances": ["x" * 5000]}, {"utterances": ["what is 3 plus 4"], "lang": 5}])
def test_a_ping_that_is_odd_is_answered(core, data):
    mark = core.send(FALLBACK + "ping", data, core.context())
    pong = core.wait_for(lambda one: one.type == FALLBACK + "pong" and one.context.get("mark") == mark)
    assert pong.data["can_handle"] is bool(data and data.get("lang"))


def test_no_more_utterances_of_a_message_are_tried_than_it_may_have(core):
    assert core.ask(["hm"] * 15 + ["what is 3 plus 4"]) and not core.ask(["hm"] * 16 + ["what is 3 plus 4"])


def test_a_message_that_is_too_large_is_not_read(core):
    core.send(FALLBACK + "ping", {"utterances": ["what is 3 plus 4"], "filler": "x" * (256 << 10)}, core.context())
    assert core.ask(["what is 3 plus 4"])
    assert sum(one.type == FALLBACK + "pong" for one in core.seen) == 1


def test_status_shows_it(core):
    core.ask(["what is 3 plus 4"])
    core.messages_of(core.request(["what is 3 plus 4"]))
    assert core.call("ovos.tools.status")["listen"] == {"as": "fallback", "priority": 50, "asked": 1, "taken": 1}


def flood_cpu_ns(service, caller, topic, n, tail):
    """What each of n messages costs the daemon, when what may be read was read before."""
    message = json.dumps({"type": topic, "data": {"utterances": ["what is three plus four"], "lang": "en"},
                          "context": {"source": "flood", "session": {"session_id": "default"}}})
    for _ in range(tail):
        caller.peer.send(message)
    caller.settle()
    begin = cpu_ns(service.daemon.daemon_pid())
    for _ in range(n):
        caller.peer.send(message)
    caller.settle()
    return (cpu_ns(service.daemon.daemon_pid()) - begin) / n


def test_a_flood_of_utterances_costs_about_a_flood_of_messages_for_others(listen, figure):
    """Beyond what is read at once the topic is all that is looked at."""
    service = listen()
    with Caller(service.url) as caller:
        foreign = flood_cpu_ns(service, caller, "recognizer_loop:utterance", 4000, 400)
        pings = flood_cpu_ns(service, caller, FALLBACK + "ping", 4000, 400)
        figure("foreign µs", foreign / 1000)
        figure("ping µs", pings / 1000)
        assert pings < 3 * foreign
