# SPDX-License-Identifier: Apache-2.0
"""toolboxes/call_control: a telephone call by messages of a telephone service, whose topics the operator names. The
names, the arguments and run_llm are those of the ai-manager."""
import json
import re

import pytest
from caller import Caller
from conftest import BUSES, Service
from processes import BUILD, ROOT, toolboxctl, write_configuration
from test_bus_tools import SATELLITE, answer_of, ask, reply, result_of, sent, settle

FOLDER = BUILD / "toolboxes" / "call_control.d"
PAGE = (ROOT / "docs" / "toolboxes" / "call_control.md").read_text()
NAMES = ["connect_call", "send_message", "stop_media", "stop_service", "stop_flow"]
ANNA = {"type": "tel", "target": "+49171123456", "target_name": "Anna"}

# The configuration of the page: a SIP skill.
TOPICS = json.loads(re.search(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)[1])["toolboxd"]["toolboxes"]["call_control"]["topics"]


def configuration(**topics):
    return {"approval": {"mode": "off"}, "toolboxes": {"call_control": {"enabled": True, "topics": topics}}}


@pytest.fixture(scope="module", params=BUSES)
def phone_service(request, tmp_path_factory):
    one = Service(request.param, tmp_path_factory.mktemp(request.param), [FOLDER], configuration=configuration(**TOPICS))
    with one:
        yield one


@pytest.fixture
def phone(phone_service):
    phone_service.forget_who_left()
    with Caller(phone_service.url) as caller:
        yield caller


def names_of(caller):
    return [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]]


def whys_of(caller):
    return {one["name"]: one["why"] for one in caller.call("ovos.tools.status")["not_offered"]}


# ── what is offered ───────────────────────────────────────────────────────────────────────────────


def test_nothing_is_offered_until_it_is_enabled_and_has_topics(launch):
    service = launch({}, [FOLDER])
    with Caller(service.url) as caller:
        assert names_of(caller) == []
        off = "disabled by its manifest; toolboxctl enable call_control"
        assert whys_of(caller) == {None: off}
        done = toolboxctl("enable", "call_control", bus=service.url, home=service.home)
        assert "it has no topic; toolboxes.call_control.topics.connect_call sets it" in done.stdout + done.stderr
        assert names_of(caller) == []
        assert whys_of(caller) == {name: f"it has no topic; toolboxes.call_control.topics.{name} sets it" for name in NAMES}
        write_configuration(service.daemon.home, {"toolboxd": {"toolboxes": {"call_control": {"topics": {"stop_media": "sip.quiet"}}}}})
        caller.call("ovos.tools.reload")
        assert names_of(caller) == ["stop_media"]
        caller.send("ovos.tools.invoke", {"name": "stop_media"})
        assert sent(caller, "sip.quiet").data == {}
        # Another topic of the same tool.
        write_configuration(service.daemon.home, {"toolboxd": {"toolboxes": {"call_control": {"topics": {"stop_media": "sip.mute"}}}}})
        caller.call("ovos.tools.reload")
        caller.send("ovos.tools.invoke", {"name": "stop_media"})
        sent(caller, "sip.mute")


@pytest.mark.parametrize("topics, words", [
    ({"hang_up": "sip.x"}, "toolboxes.call_control.topics.hang_up means no tool of this toolbox"),
    ({"stop_flow": "a b"}, "toolboxes.call_control.topics.stop_flow must be a topic"),
    ({"stop_flow": "ovos.tools.reload"}, "is a topic of toolboxd"),
    ("sip.x", "toolboxes.call_control.topics must be an object")])
def test_a_mistake_in_the_topics_is_told(launch, topics, words):
    service = launch({"toolboxes": {"call_control": {"enabled": True, "topics": topics}}}, [FOLDER])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.status")["failed"]
        assert words in failed["error"], failed
        assert names_of(caller) == []


def test_a_topic_that_changes_the_machine_is_for_a_tool_of_risk_execute(launch):
    topics = {"stop_media": "recognizer_loop:utterance", "stop_flow": "system.reboot"}
    service = launch({"toolboxes": {"call_control": {"enabled": True, "topics": topics}}}, [FOLDER])
    with Caller(service.url) as caller:
        assert names_of(caller) == ["stop_flow"]
        assert "toolboxes.call_control.tools.stop_media.risk has to be execute" in whys_of(caller)["stop_media"]
        assert caller.invoke("stop_flow")["code"] == "denied"
    service = launch({"toolboxes": {"call_control": {
        "enabled": True, "topics": topics, "tools": {"stop_flow": {"risk": "read"}}}}}, [FOLDER])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.status")["failed"]
        assert "must be execute" in failed["error"], failed


# ── what the tools say ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name, risk, arguments, required, run_llm", [
    ("connect_call", "execute", ["source", "destinations"], ["destinations"], True),
    ("send_message", "write", ["source", "destinations", "text"], ["destinations", "text"], True),
    ("stop_media", "write", [], [], True),
    ("stop_service", "write", [], [], False),
    ("stop_flow", "execute", [], [], False)])
def test_the_arguments_are_those_of_the_ai_manager(phone, name, risk, arguments, required, run_llm):
    tool = phone.call("ovos.tools.get", {"name": name})
    schema = tool["argument_schema"]
    assert tool["risk"] == risk
    assert list(schema["properties"]) == arguments + (["run_llm"] if run_llm else [])
    assert schema.get("required", []) == required
    if run_llm:
        assert schema["properties"]["run_llm"]["type"] == "boolean"
        assert schema["properties"]["run_llm"]["default"] is False
    for part in ("WHEN TO USE:", "WHEN NOT TO USE:", "EXAMPLES:", *(["DIFFERS FROM:"] if name.startswith("stop") else [])):
        assert f"\n{part}\n" in tool["description"], part
    assert ("run_llm: Set true to " in tool["description"]) == run_llm


@pytest.mark.parametrize("name, args", [
    ("connect_call", {}), ("connect_call", {"destinations": []}),
    ("connect_call", {"destinations": [{"type": "tel"}]}),
    ("send_message", {"destinations": [ANNA]}),
    ("send_message", {"destinations": [{"type": "email", "target": "a@b.c"}], "text": "x"}),
    ("send_message", {"destinations": [ANNA], "text": ""}),
    ("connect_call", {"destinations": [{**ANNA, "target": "+49171123456\r\nContact: <sip:x@y>"}]}),
    ("connect_call", {"source": {**ANNA, "target_name": "Anna\n"}, "destinations": [ANNA]}),
    ("send_message", {"destinations": [{**ANNA, "target": "1\0"}], "text": "x"}),
    ("send_message", {"source": {**ANNA, "target": "\x7f"}, "destinations": [ANNA], "text": "x"}),
    ("stop_flow", {"now": True})])
def test_other_arguments_are_refused_and_nothing_is_sent(phone, name, args):
    assert phone.invoke(name, args)["code"] == "invalid_arguments"
    assert not [one for one in settle(phone) if one.type.startswith("sip.")]


# ── what is sent, and what comes back ─────────────────────────────────────────────────────────────


def test_the_example_of_the_page_for_a_sip_skill(phone):
    """The skill's replies are those in the page."""
    mark = ask(phone, "connect_call", {"destinations": [ANNA]}, {"session": SATELLITE})
    message = sent(phone, TOPICS["connect_call"]["topic"])
    assert message.data == {"destinations": [ANNA]} and message.context["session"] == SATELLITE
    reply(phone, message, {"call_id": "7"}, TOPICS["connect_call"]["reply"])
    assert result_of(phone, mark) == {"call_id": "7"}
    source = {"type": "tel", "target": "+4930123456"}
    mark = ask(phone, "send_message", {"source": source, "destinations": [ANNA], "text": "I am late."})
    message = sent(phone, TOPICS["send_message"]["topic"])
    assert message.data == {"source": source, "destinations": [ANNA], "text": "I am late."}
    reply(phone, message, {"error": "no credit"}, TOPICS["send_message"]["reply"])
    answer = answer_of(phone, mark)
    assert answer["code"] == "tool_failed" and "no credit" in answer["error"]


@pytest.mark.parametrize("name", ["stop_media", "stop_service", "stop_flow"])
def test_a_topic_without_a_reply_is_only_sent(phone, name):
    mark = ask(phone, name, {"run_llm": True} if name == "stop_media" else {})
    assert sent(phone, TOPICS[name]).data == {}
    assert result_of(phone, mark) == {"sent": True}


def test_a_reply_that_does_not_come_is_late_and_names_the_topic(phone):
    answer = phone.invoke("connect_call", {"destinations": [ANNA]}, timeout_ms=100)
    assert answer["code"] == "timeout" and f"nobody answered {TOPICS['connect_call']['topic']}" in answer["error"]


def test_run_llm_is_for_the_assistant_and_not_for_the_telephone(phone):
    mark = ask(phone, "stop_media", {"run_llm": True})
    assert sent(phone, TOPICS["stop_media"]).data == {}
    assert answer_of(phone, mark)["run_llm"] is True


def test_the_page_has_every_tool():
    assert re.findall(r"^\| `(\w+) ", PAGE, re.M) == NAMES
