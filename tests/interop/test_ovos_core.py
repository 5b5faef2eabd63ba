# SPDX-License-Identifier: Apache-2.0
"""ovos-core 2 and 3 with skills that others have written, toolboxd and toolbox-agent on the same bus: skills as tools,
questions to the assistant and to a person, a model for what no skill takes. docs/ovos.md says what holds, and with --long both
cores show it."""
import contextlib
import json
import textwrap
import threading
import time

import agent_peer
import manifests
import pytest
from caller import Caller
from conftest import Service
from model_server import ModelServer, calls, says, status
from ovos_site import Core, Device
from processes import EVENT_SECONDS, ROOT, Daemon, toolboxctl, until
from sites import Site

HELLO, COUNT, PARROT = (f"ovos-skill-{name}.openvoiceos" for name in ("hello-world", "count", "parrot"))
DATE_TIME = "ovos-skill-date-time.openvoiceos"
ADDER = "adder.toolboxd"
SUM = "That makes 7."
SKILLS = {"ovos2": [HELLO, COUNT, PARROT, ADDER], "ovos3": [HELLO, COUNT, PARROT, DATE_TIME, ADDER]}

# No skill of the registry that needs no hardware has functions for others: one of our own, by OVOS's decorator.
SOURCE = '''\
from ovos_workshop.decorators import skill_api_method
from ovos_workshop.skills import OVOSSkill


class Adder(OVOSSkill):
    @skill_api_method
    def total(self, a, b=1):
        """Add two numbers.

        a: the first
        """
        return a + b

    @skill_api_method
    def fail(self):
        raise RuntimeError("on purpose")
'''

# As it is shipped, but for the operator's word.
[ASK_ASSISTANT] = [{key: value for key, value in tool.items() if key != "enabled"}
                   for tool in json.loads((ROOT / "toolboxes" / "device" / "device.json").read_text())["tools"]
                   if tool["name"] == "ask_assistant"]
CONVERSE = {
    "name": "converse", "description": "Ask a person.",
    "argument_schema": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
    "bus": {"ask": "{message}", "listen_ms": 5000, "result": {"answer": {"at": "/utterances/0"}}}}
CONFIGURATION = {"approval": {"allow": ["*"]}, "timeout_ms": 30000, "listen": "fallback"}
REST = {"name": "rest", "description": "Wait for a minute.", "triggers": ["take a rest"], "risk": "read", "timeout_ms": 60000,
        "bus": {"topic": "test.rest"}}
DEVICE = {"kind": "bus", "risk": "execute", "tools": [ASK_ASSISTANT, CONVERSE, REST]}


def install_adder(folder):
    """The skill, as pip would have installed it."""
    info = folder / "adder-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "adder_skill.py").write_text(SOURCE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adder\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(f"""\
        [opm.skill]
        {ADDER} = adder_skill:Adder
        [ovos.plugin.skill]
        {ADDER} = adder_skill:Adder
        """))


class World:
    """A bus with an ovos-core, a device and a toolboxd that asks nobody."""

    def __init__(self, name, home):
        self.name, self.home, self.tools = name, home, home / "tools"
        self.tools.mkdir()
        (self.tools / "device.json").write_text(json.dumps(DEVICE))
        self.service = Service("ovos-messagebus", home, [self.tools, manifests.SHIPPED],
                               configuration=CONFIGURATION)
        self.url = self.service.url
        self.core = self.device = self.caller = None

    def __enter__(self):
        try:
            self.service.wait_until_ready()
            self.device, self.caller = Device(self.url), Caller(self.url)
            install_adder(self.home / "skills")
            self.start_core()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_core(self):
        self.core = Core(Site.of(self.name), self.home / f"core-{time.monotonic_ns()}", self.url, SKILLS[self.name],
                         self.home / "skills")
        self.core.wait_until_ready(self.device)

    def __exit__(self, *_):
        with contextlib.ExitStack() as stack:  # from the last to the first, whichever of them fails
            stack.callback(self.service.end)
            for client in filter(None, (self.caller, self.device)):
                stack.callback(client.close)
            if self.core:
                stack.callback(self.core.end)

    def restart(self):
        """Another toolboxd in the place of the one that has ended."""
        self.service.daemon = Daemon(self.home / f"toolboxd-{time.monotonic_ns()}", [self.tools, manifests.SHIPPED], self.url,
                                     CONFIGURATION)
        self.service.wait_until_ready()
        self.service.forget_who_left()

    def invoke(self, name, **args):
        return self.caller.invoke(name, args)

    def result_of(self, name, **args):
        """The result of an intent, as soon as a pipeline of ovos-core matches it: its registration comes by the bus, and
        is learned after that."""
        return until(lambda: (got := self.invoke(name, **args)["result"])["answers"] and got, EVENT_SECONDS, f"{name} matched")

    def new(self, skill, *words):
        return toolboxctl("new", "--from-skill", skill, *words, bus=self.url, home=self.home / "author")

    def offer(self, skill, tool):
        """Write the manifest of a skill and offer it, as soon as ovos-core has the tool; the skill's tools. The intents of
        a skill reach the pipelines by way of the bus, after the skill has said that it is ready."""
        path = self.tools / f"{skill.split('.')[0]}.json"
        last = []

        def tools():
            path.unlink(missing_ok=True)
            last[:] = [self.new(skill, "--out", path, "--json")]
            names = [one["name"] for one in json.loads(last[0].stdout)["tools"]] if last[0].returncode == 0 else []
            return tool in names and names

        names = until(tools, EVENT_SECONDS, f"{tool} of {skill}")
        self.caller.call("ovos.tools.reload")
        return names


@pytest.fixture(scope="module", params=["ovos3", "ovos2"])
def world(request, tmp_path_factory):
    if request.param == "ovos2" and not request.config.getoption("--long"):
        pytest.skip("ovos-core 2, beside ovos-core 3: with --long")
    Site.of(request.param)
    with World(request.param, tmp_path_factory.mktemp(request.param)) as one:
        yield one


def test_the_functions_of_a_skill_are_tools(world):
    assert sorted(world.offer(ADDER, "total")) == ["fail", "total"]
    assert world.invoke("total", args=[3, 4])["result"] == {"result": 7}
    assert world.invoke("total", args=[3], kwargs={"b": 5})["result"] == {"result": 8}
    assert world.invoke("total", a=3)["code"] == "invalid_arguments"
    done = toolboxctl("list", bus=world.url, home=world.home / "author")
    assert "Add two numbers. a: the first" in " ".join(done.stdout.split()), done.stdout


def test_the_intents_of_a_skill_are_tools(world):
    if world.name == "ovos2":
        done = world.new(HELLO)
        assert done.returncode == 1 and "(ovos-core 3 would)" in done.stderr
        return
    world.offer(COUNT, "count_to_n_number")
    assert world.result_of("count_to_n_number", number="3") == {
        "answers": ["one", "two", "three"], "ended_by": "ovos.utterance.handled"}
    world.offer(PARROT, "speak_sentence")
    assert world.result_of("speak_sentence", sentence="banana")["answers"] == ["banana"]
    world.offer(DATE_TIME, "what_time_is_it")
    assert len(world.result_of("what_time_is_it")["answers"]) == 1


def test_what_tells_nothing_is_refused_with_words(world):
    done = world.new("nobody.here")
    assert done.returncode == 1 and "Is it loaded" in done.stderr
    assert not (world.home / "author" / "nobody_here.json").exists()


def test_the_assistant_is_asked(world):
    assert world.invoke("ask_assistant", utterance="hello world")["result"] == {
        "answers": ["Hello world"], "ended_by": "ovos.utterance.handled"}
    nothing = world.invoke("ask_assistant", utterance="nobody knows of this")["result"]
    assert nothing["answers"] == []
    assert nothing["ended_by"] == {"ovos2": "complete_intent_failure", "ovos3": "ovos.intent.unmatched"}[world.name]


def test_the_topic_of_an_intent_leaves_out_what_core_decides(world):
    """Why intents are called by an utterance: ovos-core 2 runs a skill that the session forbids; on ovos-core 3 the call
    has no end, and the handler lacks what the utterance would have had."""
    session = {"session_id": "kids", "blacklisted_skills": [HELLO, PARROT]}
    since = len(world.device.frames)
    mark = world.device.utter("hello world", session)
    world.device.wait_for(lambda message: message["type"] == "ovos.utterance.handled"
                          and message["context"].get("mark") == mark, since=since)
    assert world.device.spoken(since, "kids") == []
    topic = {"ovos2": f"{HELLO}:HelloWorldIntent", "ovos3": f"{PARROT}:speak"}[world.name]
    world.device.send(topic, {}, {"session": session})
    until(lambda: world.device.spoken(since, "kids"), EVENT_SECONDS, "what is forbidden spoken")
    assert world.device.spoken(since, "kids") == {"ovos2": ["Hello world"], "ovos3": [""]}[world.name]


def test_what_no_skill_takes_is_answered_without_a_model(world):
    """Beside skills; test_spoken_sum has a core that starts again."""
    assert world.device.say("what is three plus four") == [SUM]


# --- toolbox-agent as a fallback skill, after all skills and toolboxd


@pytest.fixture
def model():
    with ModelServer() as server:
        yield server


@pytest.fixture
def agent(world, model, tmp_path):
    """An agent that ovos-core has asked before, so that it knows its priority and the model."""
    agent = agent_peer.start(tmp_path, world.url, model, listen="fallback")
    world.service.forget_who_left()
    until(lambda: takes_utterances(world), EVENT_SECONDS, "the model reachable")
    yield agent
    assert agent.end() == 0
    world.service.forget_who_left()


def takes_utterances(world):
    since = len(world.device.frames)
    world.device.send("ovos.skills.fallback.ping", {"utterances": ["anything"], "lang": "en-us"})
    return world.device.wait_for(lambda message: message["type"] == "ovos.skills.fallback.pong"
                                 and message["data"]["skill_id"] == "toolbox-agent", since=since)["data"]["can_handle"]


def begin(world, utterance):
    """Say it until the agent begins with it: the number of the first frame, and the mark. ovos-core waits half a second for
    those who want an utterance, and goes on without the others."""
    def begins():
        since = len(world.device.frames)
        mark = world.device.utter(utterance)
        first = world.device.wait_for(lambda message: message["type"] == "ovos.skills.fallback.toolbox-agent.start"
                                      or is_handled(message, mark), since=since)
        return first["type"] != "ovos.utterance.handled" and (since, mark)

    return until(begins, EVENT_SECONDS, "the agent asked")


def is_handled(message, mark):
    return message["type"] == "ovos.utterance.handled" and message["context"].get("mark") == mark


def say_to_model(world, utterance):
    """What is spoken until the end of the utterance."""
    since, mark = begin(world, utterance)
    world.device.wait_for(lambda message: is_handled(message, mark), since=since)
    return world.device.spoken(since)


def test_a_model_answers_what_no_skill_takes(world, agent, model):
    model.script(calls(("add", {"a": 30, "b": 4})), says("She is 34 years old. A good age!"))
    assert say_to_model(world, "how old is my sister") == ["She is 34 years old.", "A good age!"]
    assert agent_peer.tool_messages(model.requests[1]) == {"call-0": {"result": 34}}
    assert model.requests[0]["messages"][-1]["content"] == "how old is my sister"
    hears_the_next_utterance(world)
    assert len(model.requests) == 2  # what a skill takes does not come to the model


def test_a_person_says_stop_to_a_model(world, agent, model):
    never = threading.Event()
    model.script(says("It was a dark and stormy night.", stall=never))
    since, _ = begin(world, "tell me a story")
    model.wait_for_requests(1, EVENT_SECONDS)
    world.device.utter("stop")
    world.device.wait_for(lambda message: message["type"] == "ovos.skills.fallback.toolbox-agent.response", since=since)
    never.set()
    hears_the_next_utterance(world)
    assert not any("stormy" in words for words in world.device.spoken(since))


def test_without_a_model_ovos_has_the_last_word(world, agent, model):
    model.script(status(500), status(500), status(500))
    assert say_to_model(world, "how old is my sister") == ["Something went wrong while I was thinking."]
    agent.end()
    world.service.forget_who_left()
    assert world.device.say("how old is my sister") == []


# --- questions to a person: after each of them, whatever its end, the assistant has the next utterance


class Question:
    """A call of `converse` whose question has been spoken."""

    def __init__(self, world):
        self.world, self.since = world, len(world.device.frames)
        self.mark = world.caller.send("ovos.tools.invoke", {
            "name": "converse", "args": {"message": "Which colour?"}, "call_id": "colour"})
        world.device.wait_for(lambda message: message["type"] in ("speak", "ovos.utterance.speak")
                              and message["data"]["utterance"] == "Which colour?", since=self.since)

    def end(self):
        """The response to the call."""
        return self.world.caller.answer_to("ovos.tools.invoke", self.mark).data


def hears_the_next_utterance(world):
    world.core.wait_until_ready(world.device)
    assert world.device.say("hello world") == ["Hello world"]


def test_a_person_answers_the_tool_alone(world):
    for colour in ("blue", "hello world"):
        question = Question(world)
        world.device.utter(colour)
        ended = question.end()
        assert ended.get("result") == {"answer": colour}, ended
        assert world.device.spoken(question.since) == ["Which colour?"]
        hears_the_next_utterance(world)


def test_a_person_says_nothing(world):
    ended = Question(world).end()
    assert ended["code"] == "timeout" and "nobody answered" in ended["error"], ended
    hears_the_next_utterance(world)


def test_a_question_is_cancelled(world):
    question = Question(world)
    world.caller.send("ovos.tools.cancel", {"call_id": "colour"})
    assert question.end()["code"] == "cancelled"
    hears_the_next_utterance(world)


def test_a_person_stops_everything(world):
    question = Question(world)
    world.device.send("mycroft.stop")
    assert question.end()["code"] == "cancelled"
    hears_the_next_utterance(world)


def test_a_person_says_stop_to_a_question(world):
    question = Question(world)
    world.device.utter("stop")
    assert question.end()["code"] == "cancelled"
    hears_the_next_utterance(world)


def test_a_person_says_stop_to_a_call_by_an_utterance(world):
    """The tool of the utterance runs for a minute: core knows that toolboxd has something to stop."""
    since = len(world.device.frames)
    world.device.utter("take a rest")
    world.device.wait_for(lambda message: message["type"].endswith("fallback.toolboxd.start"), since=since)
    world.device.utter("stop")
    response = world.device.wait_for(lambda message: message["type"] == "toolboxd.stop.response", since=since)
    assert response["data"] == {"skill_id": "toolboxd", "result": True}
    until(lambda: world.caller.call("ovos.tools.calls")["calls"][0].get("code") == "cancelled", EVENT_SECONDS,
          "the end of the call")
    hears_the_next_utterance(world)


def test_the_service_ends_while_it_asks(world):
    """At its end it takes the question back; after a SIGKILL the next service does."""
    for is_killed in (False, True):
        Question(world)
        if is_killed:
            # Who sends at the moment of a kill may lose ovos-messagebus, and core returns after five seconds only.
            world.core.wait_until_ready(world.device)
            world.service.daemon.kill()
        else:
            world.service.daemon.end()
            hears_the_next_utterance(world)
        world.restart()
        hears_the_next_utterance(world)
