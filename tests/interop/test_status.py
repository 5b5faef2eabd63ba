# SPDX-License-Identifier: Apache-2.0
"""ovos.tools.status of one toolbox: its tools, their last failures, what its processes printed."""
import time
from datetime import datetime

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, until, write_configuration

KIDS = {"source": "kid"}
KIDS_ONLY = {"profiles": {"kids": {"tool_names": ["crashy/behave"]}},
             "access": [{"match": {"source": "kid"}, "profile": "kids"}]}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "crashy", [
        manifests.labs("behave"), manifests.tool("crash", "abort", returns="void"),
        manifests.tool("say", "perror", [manifests.text("text")], "void"),
        manifests.sleeper("wait", timeout_ms=60000)])
    manifests.toolbox(folder, "calm", [manifests.labs("rest")])
    return folder


def parse(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def detail(caller, toolbox_id, context=None):
    return caller.call("ovos.tools.status", {"toolbox_id": toolbox_id}, context)


def test_the_figures_of_each_tool(launch, folder):
    service = launch({}, [folder])
    began = int(time.time())
    with Caller(service.url) as caller:
        for value in range(3):
            caller.invoke("behave", {"value": value})
        caller.invoke("behave", {"value": "x"})
        caller.invoke("crash")
        status = detail(caller, "crashy")
        box, = status["toolboxes"]
        assert (box["tools"], box["calls"], box["errors"], box["running"]) == (4, 5, 2, 0)
        tools = {one["name"]: one for one in status["tools"]}
        assert list(tools) == ["behave", "crash", "say", "wait"]
        behave, crash = tools["behave"], tools["crash"]
        assert (behave["calls"], behave["errors"], crash["calls"], crash["errors"]) == (4, 1, 1, 1)
        assert behave["p99_ms"] >= behave["p50_ms"] > 0 and tools["say"]["p99_ms"] is None
        assert tools["say"]["last_failure"] is None
        assert behave["last_failure"]["code"] == "invalid_arguments"
        assert crash["last_failure"]["code"] == "host_crashed"
        assert crash["last_failure"]["why"] == "SIGABRT"
        assert began <= parse(crash["last_failure"]["time"]) <= time.time()
        calm, = detail(caller, "calm")["toolboxes"]
        assert (calm["tools"], calm["calls"]) == (1, 0)


def test_only_that_toolbox_is_in_it(launch, folder):
    (folder / "broken.json").write_text('{"kind": "native"}')
    (folder / "other.json").write_text('{"kind": "native"}')
    service = launch({"tools_disabled": ["crashy/say", "calm/rest"]}, [folder])
    with Caller(service.url) as caller:
        status = detail(caller, "crashy")
        assert status["failed"] == []
        assert [one["name"] for one in status["not_offered"]] == ["say"]
        assert [one["name"] for one in status["tools"]] == ["behave", "crash", "wait"]
        status = detail(caller, "broken")
        assert [one["toolbox_id"] for one in status["failed"]] == ["broken"]
        assert status["toolboxes"] == [] and "tools" not in status
        nobody = detail(caller, "nobody")
        assert nobody["toolboxes"] == nobody["failed"] == nobody["not_offered"] == []
        # The plain answer has no details, however many tools there are.
        whole = caller.call("ovos.tools.status")
        assert "tools" not in whole and len(whole["toolboxes"]) == 2
        assert caller.call("ovos.tools.status", {"toolbox_id": 1})["code"] == "bad_request"


def test_a_toolbox_that_is_off_comes_on_and_goes_off(launch, folder):
    service = launch({"toolboxes": {"calm": {"enabled": False}}}, [folder])
    expected = {
        "toolbox_id": "calm", "kind": "native", "file": str(folder / "calm.json"), "sandbox": "compute",
        "state": "disabled", "why": "its toolbox is not enabled", "since": None, "tools": 0, "hosts": 0,
        "calls": 0, "errors": 0, "running": 0, "queue": 0, "p50_ms": None, "p99_ms": None}
    with Caller(service.url) as caller:
        for _ in range(2):
            off = detail(caller, "calm")
            assert off["toolboxes"] == [expected] and off["tools"] == off["output"] == []
            assert [one["why"] for one in off["not_offered"]] == [expected["why"]]
            whole = caller.call("ovos.tools.status")
            assert [one["state"] for one in whole["toolboxes"]] == ["disabled", "idle"]
            assert caller.invoke("rest")["code"] == "unknown_tool"
            write_configuration(service.daemon.home, {"toolboxd": {}})
            assert caller.call("ovos.tools.reload")["loaded"] == ["calm", "crashy"]
            assert "result" in caller.invoke("rest", {"value": -1})
            on, = detail(caller, "calm")["toolboxes"]
            assert (on["state"], on["tools"], on["hosts"], on["calls"]) == ("ready", 1, 1, 1)
            write_configuration(service.daemon.home, {"toolboxd": {"toolboxes": {"calm": {"enabled": False}}}})
            assert caller.call("ovos.tools.reload")["loaded"] == ["crashy"]


def test_the_last_lines_of_its_processes(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert detail(caller, "crashy")["output"] == []
        for number in range(12):
            caller.invoke("say", {"text": f"line {number}"})

        def lines():
            return [one["line"] for one in detail(caller, "crashy")["output"]]
        until(lambda: len(lines()) == 10 and lines()[-1].startswith("line 11:"), EVENT_SECONDS, "the lines")
        assert lines()[0].startswith("line 2:")
        times = [parse(one["time"]) for one in detail(caller, "crashy")["output"]]
        assert times == sorted(times) and times[-1] <= time.time()
        # They outlive the process.
        caller.invoke("crash")
        assert len(lines()) == 10


def test_a_caller_with_a_profile_sees_its_tools_and_no_texts(launch, folder):
    service = launch(KIDS_ONLY, [folder])
    with Caller(service.url) as caller:
        caller.invoke("crash")
        caller.invoke("behave", {"value": 1})
        own = detail(caller, "crashy", KIDS)
        assert [one["name"] for one in own["tools"]] == ["behave"]
        assert "output" not in own
        # No trace of calls of other tools, in the sums neither.
        box, = own["toolboxes"]
        assert (box["tools"], box["calls"], box["errors"]) == (1, 1, 0)
        assert detail(caller, "calm", KIDS)["toolboxes"] == []
        caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 30}, "call_id": "w"})
        caller.send("ovos.tools.invoke", {"name": "behave", "args": {"value": 1}})

        def busy(context):
            box, = detail(caller, "crashy", context)["toolboxes"]
            return box["running"], box["queue"]
        until(lambda: busy(None) == (1, 1), EVENT_SECONDS, "one runs, one waits")
        assert busy(KIDS) == (0, 1)
        caller.call("ovos.tools.cancel", {"call_id": "w"})


def test_what_runs_and_since_when(launch, folder):
    service = launch({"crash_limit": 2, "crash_window_s": 60}, [folder])
    with Caller(service.url) as caller:
        caller.send("ovos.tools.invoke", {"name": "wait", "args": {"seconds": 30}, "call_id": "w"})
        until(lambda: detail(caller, "crashy")["toolboxes"][0]["running"] == 1, EVENT_SECONDS, "a call runs")
        caller.call("ovos.tools.cancel", {"call_id": "w"})
        began = int(time.time())
        for _ in range(2):
            caller.invoke("crash")
        box, = detail(caller, "crashy")["toolboxes"]
        assert box["state"] == "quarantined" and box["running"] == 0
        assert began <= parse(box["since"]) <= time.time()
        again, = detail(caller, "crashy")["toolboxes"]
        assert again["since"] == box["since"]
