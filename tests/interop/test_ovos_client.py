# SPDX-License-Identifier: Apache-2.0
"""The real ovos-bus-client as the caller: what a skill does."""
import threading

import pytest
from ovos_bus_client import Message, MessageBusClient
from ovos_bus_client.session import Session
from processes import EVENT_SECONDS
from urllib.parse import urlsplit



@pytest.fixture(scope="module")
def skill(service):
    where = urlsplit(service.url)
    client = MessageBusClient(where.hostname, where.port, where.path, False)
    client.run_in_thread()
    assert client.connected_event.wait(EVENT_SECONDS)
    yield client
    client.close()


def ask(skill, topic, data=None, context=None):
    message = Message(topic, data or {}, context or {})
    answer = skill.wait_for_response(message, timeout=EVENT_SECONDS)
    assert answer is not None, f"no answer to {topic}"
    return answer


def test_wait_for_response(skill):
    answer = ask(skill, "ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": 4}})
    assert answer.data == {"name": "add", "result": {"result": 7}}
    assert len(ask(skill, "ovos.tools.list").data["tools"]) > 20


def test_the_session_and_odd_keys_come_back(skill):
    session = Session("a-session", lang="de-DE")
    context = {"session": session.serialize(), "source": "skill", "destination": ["tools"],
               "": "empty", "nested": {"a": [1, 2.5, None]}, "utterance_id": "é"}
    answer = ask(skill, "ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 1}}, context)
    assert answer.context["session"]["session_id"] == "a-session"
    assert answer.context["session"]["lang"] == "de-DE"
    assert answer.context[""] == "empty" and answer.context["nested"] == {"a": [1, 2.5, None]}
    assert answer.context["utterance_id"] == "é"
    assert answer.context["source"] == "tools" and answer.context["destination"] == "skill"


def test_every_answer_of_discover_is_collected(skill):
    seen, done = [], threading.Event()

    def collect(message):
        seen.append(message.data["toolbox_id"])
        if len(seen) == 6:
            done.set()

    skill.on("ovos.persona.tools.discover.response", collect)
    try:
        skill.emit(Message("ovos.persona.tools.discover"))
        assert done.wait(EVENT_SECONDS)
    finally:
        skill.remove("ovos.persona.tools.discover.response", collect)
    assert sorted(seen) == ["answers", "left", "libm", "math_tools", "misbehave", "right"]


def test_errors_are_answers_too(skill):
    answer = ask(skill, "ovos.tools.invoke", {"name": "divide", "args": {"a": 1, "b": 0}})
    assert answer.data["code"] == "tool_failed"
    answer = ask(skill, "ovos.tools.invoke", {"args": {}})
    assert answer.data["error"] == "Missing required field: 'name'"


def test_concurrent_callers_over_clients_of_their_own(service):
    where = urlsplit(service.url)
    wrong = []

    def call(who):
        client = MessageBusClient(where.hostname, where.port, where.path, False)
        client.run_in_thread()
        try:
            assert client.connected_event.wait(EVENT_SECONDS)
            done, answers = threading.Event(), {}

            def collect(message):
                if message.context.get("who") == who:
                    answers[message.context["n"]] = message.data.get("result")
                    if len(answers) == 20:
                        done.set()

            client.on("ovos.tools.invoke.response", collect)
            for n in range(20):
                client.emit(Message("ovos.tools.invoke",
                                    {"name": "multiply", "args": {"a": who, "b": n}},
                                    {"who": who, "n": n, "source": f"skill-{who}"}))
            if not done.wait(EVENT_SECONDS):
                wrong.append(f"{who}: {len(answers)} of 20")
            wrong.extend((who, n, result) for n, result in answers.items()
                         if result != {"result": who * n})
        finally:
            client.close()

    threads = [threading.Thread(target=call, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
