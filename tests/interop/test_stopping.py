# SPDX-License-Identifier: Apache-2.0
"""SIGTERM, and SIGUSR2 before a restart: whoever waits is answered, once, and then it ends."""
import signal

import manifests
import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, SLOWNESS, write_configuration
from websocket_peer import Closed

INVOKE = "ovos.tools.invoke"
RELOAD = "ovos.tools.reload"
STUCK = BUILD / "tests" / "toolboxes" / "stuck.d" / "libtest_stuck.so"

RELOADS = 3


def until_it_ends(service, caller):
    """Everything that comes until the service has hung up and ended."""
    with pytest.raises(Closed):
        while True:
            caller.receive()
    assert service.daemon.process.wait(EVENT_SECONDS) == 0
    service.daemon.check_log()
    service.daemon.has_ended = True
    return caller.seen


def answer_to(seen, topic, mark):
    """The only one that came."""
    answer, = (one for one in seen
               if one.type == topic + ".response" and one.context.get("mark") == mark)
    return answer.data


@pytest.fixture
def stop(launch, tmp_path):
    """stop(drain_ms, call_s, reload_ms, by): the service is ended while a call of so many seconds and
    some reloads are going on, each of which takes that long; another call comes too late. What
    the calls, and what the reloads are answered. The host of the calls runs before the time for a start is
    shortened."""
    def run(drain_ms, call_s, reload_ms, by=signal.SIGTERM):
        folder = tmp_path / "toolbox.d"
        manifests.answers(folder)
        drain = {"drain_ms": int(drain_ms * SLOWNESS)}
        service = launch(drain, [folder])
        with Caller(service.url) as caller:
            assert "result" in caller.invoke("absolute", {"value": 1})
            write_configuration(service.daemon.home, {"toolboxd": {**drain, "start_timeout_ms": int(reload_ms * SLOWNESS)}})
            manifests.toolbox(folder, "stuck", [manifests.labs()], library=str(STUCK))
            reloads = [caller.send(RELOAD) for _ in range(RELOADS)]
            calls = [caller.send(INVOKE, {"name": "wait", "args": {"seconds": call_s}})]
            caller.settle()
            service.daemon.process.send_signal(by)
            caller.settle()
            calls.append(caller.send(INVOKE, {"name": "absolute", "args": {"value": 1}}))
            seen = until_it_ends(service, caller)
        return ([answer_to(seen, INVOKE, mark) for mark in calls],
                [answer_to(seen, RELOAD, mark) for mark in reloads])
    return run


def test_what_ends_in_time_is_waited_for(stop):
    (call, late), reloads = stop(drain_ms=60000, call_s=1, reload_ms=3000)
    assert call["result"] == {"result": 0}
    assert late["code"] == "unavailable"
    for answer in reloads:
        assert answer["loaded"] == ["answers"]
        assert [one["toolbox_id"] for one in answer["failed"]] == ["stuck"]


def test_a_restart_waits_longer_than_drain_ms(stop):
    (call, late), _ = stop(drain_ms=0, call_s=1, reload_ms=500, by=signal.SIGUSR2)
    assert call["result"] == {"result": 0}
    assert late["code"] == "unavailable"


def test_what_does_not_end_in_time_is_told_so(stop):
    calls, reloads = stop(drain_ms=300, call_s=15, reload_ms=15000)
    for answer in calls + reloads:
        assert answer["code"] == "unavailable" and "stopping" in answer["error"]


def test_what_waits_for_the_first_catalogue_is_told_that_there_will_be_none(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "stuck", [manifests.labs()], library=str(STUCK))
    service = launch({"drain_ms": 300, "start_timeout_ms": 60000}, [folder], wait=False)
    with Caller(service.url) as caller:
        marks = {topic: caller.send(topic, {"name": "absolute"})
                 for topic in (INVOKE, RELOAD, "ovos.tools.list", "ovos.tools.status")}
        caller.settle()
        service.daemon.process.terminate()
        seen = until_it_ends(service, caller)
    for topic, mark in marks.items():
        answer = answer_to(seen, topic, mark)
        assert answer["code"] == "unavailable" and "stopping" in answer["error"], topic
