# SPDX-License-Identifier: Apache-2.0
"""toolbox-agent with llama.cpp's server and a real model, with --long. The model is very small: what it says is not judged,
only what holds whatever it says. test_agent.py has each rule, with a scripted model."""
import re
import subprocess

import manifests
import pytest
from agent_peer import CHAT, Agent, Asker
from caller import Caller
from conftest import Service
from processes import BUILD, EVENT_SECONDS, IS_SANITIZED, ROOT, Process, environment, resident_kb, until, write_configuration
from sites import Site
from test_pages import PATH, block

# Alike to the examples in few_shots.jinja, and not alike.
QUESTIONS = ["Add 3 and 4.", "Add 20 and 5.", "Divide 1 by 0.", "Who are you?"]
MEMBERS = {"answer", "finish", "rounds", "calls", "usage", "history", "truncated"}
RESIDENT_KB = (512 if IS_SANITIZED else 64) << 10
SETTINGS = {"model": "gemma", "temperature": 0, "profile": "sums", "match_first": False, "max_rounds": 3,
            "turn_ms": 600000}


class LlamaServer(Process):
    def __init__(self, site, home):
        super().__init__([site.python, ROOT / "tests" / "interop" / "llama_server.py", site.folder / "gemma.gguf"],
                         environment(home), home / "llama.log")

    def wait_until_ready(self):
        def is_ready():
            assert self.process.poll() is None, f"it has ended:\n{self.log()}"
            return re.search(r"^serving (\S+)$", self.log(), re.M)

        self.url = until(is_ready, EVENT_SECONDS, "the model loaded")[1] + "/v1"
        return self

    def n_requests(self):
        return self.log().count("processing task")


@pytest.fixture(scope="module")
def model(request, tmp_path_factory):
    if not request.config.getoption("--long"):
        pytest.skip("a real model takes a minute: with --long")
    server = LlamaServer(Site.of("llama"), tmp_path_factory.mktemp("llama"))
    try:
        yield server.wait_until_ready()
    finally:
        server.end()


@pytest.fixture(scope="module")
def device(model, tmp_path_factory):
    with Service("embedded", tmp_path_factory.mktemp("device"), [manifests.SHIPPED], configuration={
            "crash_limit": 0, "profiles": {"sums": {"tool_names": ["add", "divide"]}}}) as service:
        yield service


@pytest.fixture
def agent(model, device, tmp_path):
    agent = Agent(tmp_path, device.url, {"base_url": model.url, **SETTINGS})
    with Asker(device.url) as asker:
        until(asker.is_there, EVENT_SECONDS, "the agent ready")
    yield agent
    assert agent.end() == 0


def results(seen):
    """The results of the calls among these messages: as many as were asked for, in their order."""
    asked = [one["call_id"] for message in seen if message.type == "ovos.tools.invoke" for one in message.data["calls"]]
    came = [one for message in seen if message.type == "ovos.tools.invoke.response" for one in message.data["results"]]
    assert [one["call_id"] for one in came] == asked
    return came


def test_a_real_model_is_asked_and_its_calls_are_made(agent, device, figure):
    done = []
    for question in QUESTIONS:
        with Asker(device.url) as asker:
            mark = asker.begin(question)
            answer = asker.end_of(mark)
            seen = asker.settle()
            assert sum(one.type == CHAT + ".response" and one.context.get("mark") == mark for one in seen) == 1
            assert MEMBERS <= set(answer), answer
            assert answer["finish"] in ("answer", "limit") or answer["reason"] == "its answer is empty", answer
            assert answer["usage"]["total_tokens"] > 0
            for one in results(seen):
                assert ("result" in one) != bool(one.get("error")), one
            done += [call for call in answer["calls"] if call["ok"]]
        assert resident_kb(agent.pid) < RESIDENT_KB
    figure("calls", len(done))
    assert any(call["name"] == "add" for call in done)


def test_a_cancelled_turn_frees_the_server(agent, model, device):
    with Asker(device.url) as asker:
        before = model.n_requests()
        mark = asker.begin("Who are you?")
        until(lambda: model.n_requests() > before, EVENT_SECONDS, "the request at the model")
        is_cancelled = asker.ask("cancel")["cancelled"]  # or it has answered meanwhile
        assert asker.end_of(mark)["finish"] == ("cancelled" if is_cancelled else "answer")
        assert asker.chat("Add 3 and 4.")["finish"] == "answer"


def test_from_the_page_to_a_spoken_answer(model, device, tmp_path):
    """The commands of docs/agents.md, typed one after the other, with a server at another port."""
    env = environment(tmp_path, PATH=f"{BUILD / 'service'}:{PATH}", TOOLBOXD_BUS=device.url)
    write_configuration(tmp_path, {"toolboxd": {"agent": {"base_url": model.url, **SETTINGS, "speak": True}}, "lang": "en"})
    start, question, _ = block("agents.md", "sh", "toolbox-agent &").splitlines()
    question = question.replace("what is the square root of two", "Add 3 and 4.")
    terminal = tmp_path / "terminal"
    with Caller(device.url) as caller, open(terminal, "wb") as out, \
            subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=out, stderr=out, env=env, text=True) as shell:
        print(start, file=shell.stdin, flush=True)
        until(lambda: "On the bus" in terminal.read_text(), EVENT_SECONDS, "the agent on the bus")
        shell.communicate(f"{question}; status=$?; kill $!; wait $!; exit $status", EVENT_SECONDS)
        spoken = [one.data["utterance"] for one in caller.settle() if one.type == "speak"]
    assert shell.returncode == 0 and spoken, terminal.read_text()
    assert all(words in terminal.read_text() for words in spoken), spoken
