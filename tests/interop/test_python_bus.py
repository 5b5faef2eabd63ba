# SPDX-License-Identifier: Apache-2.0
"""ToolBoxes in Python on the bus that toolboxd gives them: alike on its own and on ovos-messagebus."""
import json
import os
import time
from pathlib import Path

import manifests
import pytest
from caller import Caller
from conftest import BUSES
from processes import EVENT_SECONDS, SLOWNESS, at_most, until
from python_site import Site, wait_until_told
from traffic import Load

INVOKE = "ovos.tools.invoke"

# service/core/proxy.h: at once, and then per second.
BURST, RATE = 500, 100

FLOOD_MS = int(3000 * SLOWNESS)
OTHERS_P99_MS_MAX = 50
DAEMON_CPU_MAX = 0.2
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

PLUGIN = """
class Talker(ToolBox):
    def __init__(self, toolbox_id, config=None, bus=None):
        super().__init__(toolbox_id, config, bus)
        self.news = []
        bus.on("test.news", lambda message: self.news.append(message.data["n"]))

    def ask(self, args):
        answer = self.bus.wait_for_response(Message(
            "ovos.tools.invoke", {"name": "absolute", "args": {"value": -3}}), timeout=20)
        return {"reply": "none" if answer is None else str(answer.data["result"]["result"])}

    def say(self, args):
        self.bus.emit(Message("test.news", {"n": args.text}))
        return {"reply": "said"}

    def flood(self, args):
        while True:
            self.bus.emit(Message("test.noise", {"text": "x" * 100}))

    def shout(self, args):
        deep = []
        for _ in range(200):
            deep = [deep]
        for what in float("nan"), deep, "x" * 2000000:
            self.bus.emit(Message("test.junk", {"what": what}))
        self.bus.emit(Message("test.last"))
        return {"reply": "said"}

    def discover_tools(self):
        return [tool("ask", self.ask), tool("say", self.say), tool("flood", self.flood),
                tool("shout", self.shout),
                tool("heard", lambda args: {"reply": ",".join(self.news)})]


class One(Talker):
    def __init__(self, config=None, bus=None):
        super().__init__("one", config, bus)


class Two(Talker):
    def __init__(self, config=None, bus=None):
        super().__init__("two", config, bus)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("talkers") / "venv")
    site.install("toolboxd_talkers", PLUGIN, {"one": "One", "two": "Two"})
    return site


@pytest.fixture(params=BUSES)
def talkers(request, site, launch, tmp_path):
    """A service with the two ToolBoxes, each in a host of its own, and `absolute`."""
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    for name in "one", "two":
        (folder / f"{name}.json").write_text(json.dumps({
            "kind": "python", "python": str(site.python), "plugins": [name], "risk": "read",
            "limits": {"workers": 1, "timeout_ms": FLOOD_MS}}))
    service = launch({"limits": {"frame_bytes": 1000000}}, [folder], kind=request.param)
    service.forget_who_left()
    with Caller(service.url) as caller:
        wait_until_told(caller)
        service.caller = caller
        yield service


def call(caller, toolbox_id, name, text=""):
    answer = caller.invoke(name, {"text": text}, toolbox_id=toolbox_id, seconds=EVENT_SECONDS)
    assert "result" in answer, answer
    return answer["result"]["reply"]


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def test_a_tool_calls_another(talkers):
    assert call(talkers.caller, "one", "ask") == "3"
    # Each request was answered once: the tool's, which all on the bus can hear, and ours.
    seen = [one for one in talkers.caller.settle() if one.type == INVOKE + ".response"]
    assert [one.data["name"] for one in seen] == ["absolute", "ask"]


def test_tools_hear_each_other_and_themselves_once(talkers):
    caller = talkers.caller
    for box in "one", "two":
        assert call(caller, box, "heard") == ""
    for box, text in ("one", "1"), ("two", "2"):
        call(caller, box, "say", text)
    caller.send("test.news", {"n": "3"})
    for box in "one", "two":
        until(lambda: call(caller, box, "heard").endswith("3"), EVENT_SECONDS, "the last news")
        assert call(caller, box, "heard") == "1,2,3"


def test_what_cannot_be_said_is_dropped_and_the_tool_goes_on(talkers):
    mark = talkers.caller.send(INVOKE, {"name": "shout", "toolbox_id": "one", "args": {}})
    answer = talkers.caller.answer_to(INVOKE, mark, EVENT_SECONDS)
    assert answer.data["result"] == {"reply": "said"}
    assert [one.type for one in talkers.caller.seen
            if one.type and one.type.startswith("test.")] == ["test.last"]
    log = talkers.daemon.log()
    dropped = "a message of a tool was dropped: "
    assert log.count(dropped) == 2
    assert f"{dropped}expected a value" in log and "one level too many" in log, log
    assert "limits.frame_bytes" in log


def test_a_tool_that_floods_the_bus_harms_nobody(talkers, figure):
    caller = talkers.caller
    assert call(caller, "one", "heard") == ""
    began = time.monotonic()
    mark = caller.send(INVOKE, {"name": "flood", "toolbox_id": "one", "args": {}})
    caller.wait_for(lambda one: one.type == "test.noise")
    others = Load(talkers.url, 500, 1, {"name": "absolute", "args": {"value": -1}}).figures()
    cpu, since = cpu_s(talkers.daemon.pid), time.monotonic()
    answer = caller.answer_to(INVOKE, mark, EVENT_SECONDS)
    spent = time.monotonic() - began
    cpu = (cpu_s(talkers.daemon.pid) - cpu) / (time.monotonic() - since)
    noise = sum(one.type == "test.noise" for one in caller.seen)
    figure("noise", noise)
    figure("others_p99_ms", others["p99_us"] / 1000)
    figure("daemon_cpu", cpu)
    assert answer.data["code"] == "timeout"
    assert BURST < noise <= BURST + RATE * (spent + 0.2)
    assert others["p99_us"] / 1000 < at_most(OTHERS_P99_MS_MAX)
    assert cpu < DAEMON_CPU_MAX
    assert "its host has to wait" in talkers.daemon.log()
    assert call(caller, "one", "ask") == "3"
