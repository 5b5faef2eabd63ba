# SPDX-License-Identifier: Apache-2.0
"""toolbox-agent as a process of a test, beside a service and a scripted model (model_server.py)."""
import itertools
import json

from caller import Caller, check_answer
from processes import BUILD, EVENT_SECONDS, FINDING, Process, environment, until, write_configuration

AGENT = BUILD / "service" / "toolbox-agent"
CHAT = "ovos.tools.chat"
ALIVE = "mycroft.toolbox-agent.is_alive"

_askers = itertools.count(1)


class Agent(Process):
    """A toolbox-agent on the bus at `url`, with a section `agent` of its configuration."""

    def __init__(self, home, url, settings, env=None, args=()):
        full = environment(home, **(env or {}))
        write_configuration(home, {"toolboxd": {"agent": settings}, "lang": "en"})
        super().__init__([AGENT, "--bus", url, *args], full, home / "agent.log")

    def end(self):
        status = super().end()
        found = FINDING.search(self.log())
        assert not found, self.log()
        return status


class Asker(Caller):
    """A caller who chats, in a conversation that no other test has."""

    def __init__(self, url):
        super().__init__(url)
        self.person = {"source": f"test-{next(_askers)}", "session": {"session_id": "default"}}

    def begin(self, utterance, context=None, **fields):
        return self.send(CHAT, {"utterance": utterance, **fields}, {**self.person, **(context or {})})

    def came(self, is_it):
        """The first message that is it, of those that have come and of those that will."""
        return next(filter(is_it, self.seen), None) or self.wait_for(is_it)

    def end_of(self, mark):
        answer = self.came(lambda one: one.type == CHAT + ".response" and one.context.get("mark") == mark)
        check_answer(answer)
        return answer.data

    def chat(self, utterance, context=None, **fields):
        return self.end_of(self.begin(utterance, context, **fields))

    def ask(self, name, data=None, context=None):
        """One of .cancel, .reset, .history."""
        topic = f"{CHAT}.{name}"
        mark = self.send(topic, data or {}, {**self.person, **(context or {})})
        answer = self.wait_for(lambda one: one.type == topic + ".response" and one.context.get("mark") == mark)
        check_answer(answer)
        return answer.data

    def is_there(self):
        mark = self.send(ALIVE, {})
        try:
            return self.wait_for(lambda one: one.type == ALIVE + ".response" and one.context.get("mark") == mark,
                                 0.3).data["status"]
        except TimeoutError:
            return False

    def heard(self, topic):
        return [one for one in self.seen if one.type == topic]

    def spoken(self):
        return [one.data["utterance"] for one in self.heard("speak")]


def start(home, url, model, **settings):
    """An agent that is ready."""
    agent = Agent(home, url, {"base_url": model.url, "model": "scripted", **settings})
    with Asker(url) as asker:
        until(asker.is_there, EVENT_SECONDS, "the agent ready")
    return agent


def tool_messages(body):
    """The results in a request, by the id of their call."""
    return {message["tool_call_id"]: json.loads(message["content"])
            for message in body["messages"] if message["role"] == "tool"}


def names(body):
    """The tools that a request offers."""
    return [tool["function"]["name"] for tool in body.get("tools", [])]
