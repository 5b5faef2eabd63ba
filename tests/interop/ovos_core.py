# SPDX-License-Identifier: Apache-2.0
"""The fallback service of ovos-core as far as the bus shows it: it knows the skills that have registered, asks each of
them about an utterance that no skill takes, and has the first that can answer do so. Topics and data are those of
ovos_core/intent_services/fallback_service.py in 2.1.1 and 3.7.5a1; the later one marks an utterance by an id."""
import itertools

from caller import Caller

FALLBACK = "ovos.skills.fallback."
OWN = FALLBACK + "toolboxd."
HANDLED = "ovos.utterance.handled"
ACTIVATE = "intent.service.skills.activate"

_serial = itertools.count(1)


class OvosCore(Caller):
    def __init__(self, url, version=3):
        super().__init__(url)
        self.version = version
        self.skills = {}

    def receive(self, *args):
        message = super().receive(*args)
        if message.type == FALLBACK + "register":
            self.skills[message.data["skill_id"]] = message.data["priority"]
        if message.type == FALLBACK + "deregister":
            self.skills.pop(message.data["skill_id"], None)
        return message

    def start(self, sign="mycroft.skills.initialized"):
        """It has started: its service knows nobody, and its skill manager says that all skills are there."""
        self.skills = {}
        self.send(sign, {})
        self.wait_for(lambda one: one.type == FALLBACK + "register")

    def context(self, session=None):
        context = {"source": "audio", "destination": ["skills"], "session": session or {"session_id": "default"}}
        if self.version >= 3:
            context["utterance_id"] = f"utterance-{next(_serial)}"
        return context

    def ask(self, utterances, context=None, lang="en-US"):
        """Whether toolboxd takes one of the utterances."""
        mark = self.send(FALLBACK + "ping", {"utterances": utterances, "lang": lang, "range": [5, 90]},
                         context or self.context())
        pong = self.wait_for(lambda one: one.type == FALLBACK + "pong" and one.context.get("mark") == mark)
        assert pong.data["skill_id"] == pong.context["skill_id"] == "toolboxd"
        return pong.data["can_handle"]

    def request(self, utterances, context=None, lang="en-US"):
        """Have toolboxd answer; the mark of its messages."""
        return self.send(OWN + "request", {"skill_id": "toolboxd", "utterances": utterances, "lang": lang},
                         context or self.context())

    def messages_of(self, mark):
        """The messages about an utterance until its end, in order, but for the one that makes toolboxd an active skill."""
        last = OWN + "response" if self.version >= 3 else HANDLED
        if not any(one.type == last and one.context.get("mark") == mark for one in self.seen):
            self.wait_for(lambda one: one.type == last and one.context.get("mark") == mark)
        return [one for one in self.seen if one.context.get("mark") == mark
                and one.type not in (OWN + "request", ACTIVATE)]
