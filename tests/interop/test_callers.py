# SPDX-License-Identifier: Apache-2.0
"""Limits per caller: what counts, and whom a flood costs something."""
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, until

INVOKE, VALIDATE = "ovos.tools.invoke", "ovos.tools.validate"
PERSONA = "ovos.persona.tools.call"


@pytest.fixture
def start(launch, tmp_path):
    """start(rule, …): a daemon with these limits, and a caller."""
    callers = []

    def begin(*rules, kind="embedded", http=None, **more):
        manifests.answers(tmp_path / "toolbox.d")
        service = launch({"callers": list(rules), **({"http": http} if http else {})}, [tmp_path / "toolbox.d"], kind=kind, **more)
        callers.append(Caller(service.url))
        return service, callers[-1]

    yield begin
    for one in callers:
        one.close()


def ask(caller, source, topic=INVOKE, name="absolute", **more):
    fields = {"args": {"value": -1}} if topic != PERSONA else {
        "toolbox_id": "answers", "kwargs": {"value": -1}}
    return caller.call(topic, {"name": name, **fields, **more},
                       {"source": source} if source else {})


@pytest.mark.parametrize("topic", [INVOKE, VALIDATE, PERSONA])
def test_so_many_calls_a_minute(start, topic):
    _, caller = start({"match": {}, "per_minute": 1, "burst": 2})
    for _ in range(2):
        assert "error" not in ask(caller, "kitchen", topic)
    refused = ask(caller, "kitchen", topic)
    assert refused["code"] == "busy" and 50 < refused["retry_after_s"] <= 60
    assert refused["error"] == "RuntimeError: Too many calls from 'kitchen': 1 a minute is allowed"
    assert "'" not in ask(caller, None, topic)["error"]


def test_what_does_not_count(start):
    _, caller = start({"match": {}, "per_minute": 1, "burst": 1})
    caller.call(INVOKE, {"name": "absolute", "call_id": 5})
    for topic in ("ovos.tools.list", "ovos.tools.status", "ovos.tools.reload"):
        assert "error" not in caller.call(topic)
    assert "result" in ask(caller, "kitchen")
    assert ask(caller, "kitchen", name="nobody")["code"] == "busy"
    assert caller.call(INVOKE, {"name": "absolute", "call_id": 5})["code"] == "bad_request"


def test_so_many_in_flight(start):
    _, caller = start({"match": {"source": "*"}, "in_flight": 2})
    ask(caller, "kitchen")
    marks = [caller.send(INVOKE, {"name": "wait", "args": {"seconds": 1}}, {"source": "kitchen"})
             for _ in range(3)]
    refused = caller.answer_to(INVOKE, marks[2]).data
    assert refused["code"] == "busy" and "2 are in flight" in refused["error"]
    for mark in marks[:2]:
        assert "result" in caller.answer_to(INVOKE, mark).data
    assert "result" in ask(caller, "kitchen")


def test_a_device_has_one_bucket_whatever_its_sources_and_connections(start):
    service, caller = start({"match": {"source": "*"}, "per_minute": 1, "burst": 3})
    codes = [ask(caller, f"source {n}").get("code") for n in range(9)]
    assert codes.count("busy") >= 6
    for n in range(4):
        with Caller(service.url) as other:
            assert ask(other, f"source {n}")["code"] == "busy"


def test_a_connection_divides_the_bucket_of_its_device(start):
    service, caller = start({"match": {"source": "*"}, "per_minute": 1, "burst": 8})
    with Caller(service.url) as other:
        assert "result" in ask(other, "calm")
        codes = [ask(caller, "flood").get("code") for n in range(9)]
        assert codes.count("busy") == 9 - 4
        assert all("result" in ask(other, "calm") for _ in range(3))


TOKENS = {"tokens": [{"name": name, "token_sha256": hashlib.sha256((name + "0123456789").encode()).hexdigest()}
                     for name in ("kitchen", "hallway")]}


def call_over_http(port, seconds=None, **headers):
    with Http(port) as http:
        name, body = ("wait", {"seconds": seconds}) if seconds else ("absolute", {"value": -1})
        return http.post(f"/v1/tools/{name}", body, **headers)


def test_over_http_a_new_connection_is_no_new_bucket(start):
    """Neither is another session, which a client chooses."""
    service, _ = start({"match": {"source": "http:*", "session_id": "*"}, "per_minute": 1, "burst": 3},
                       args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    answers = [call_over_http(port, Session_Id=f"s{n}") for n in range(9)]
    assert [answer.status for answer in answers] == [200] * 3 + [429] * 6
    assert answers[-1].json["code"] == "busy" and int(answers[-1].headers["Retry-After"]) > 0


def test_over_http_each_token_has_a_bucket(start):
    service, _ = start({"match": {"source": "http:*"}, "per_minute": 1, "burst": 2}, http=TOKENS,
                       args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    for name in ("kitchen", "hallway"):
        statuses = [call_over_http(port, Authorization=f"Bearer {name}0123456789").status for _ in range(6)]
        assert statuses == [200] * 2 + [429] * 4, name


def test_over_http_so_many_of_a_token_are_in_flight(start):
    service, _ = start({"match": {"source": "http:*"}, "in_flight": 2}, http=TOKENS, args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    kitchen = {"Authorization": "Bearer kitchen0123456789"}
    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(lambda _: call_over_http(port, 2, **kitchen).status, range(12)))
    assert statuses.count(200) == 2 and statuses.count(429) == 10
    assert call_over_http(port, **kitchen).status == 200


def test_a_question_is_in_flight(start):
    _, caller = start({"match": {"source": "kitchen"}, "in_flight": 1})
    caller.call("ovos.tools.approval.attach", {"seconds": 60}, {"source": "person"})
    mark = caller.send(INVOKE, {"name": "risky", "args": {"value": -1}}, {"source": "kitchen"})
    question = caller.wait_for(lambda one: one.type == "ovos.tools.approval.requested").data
    assert ask(caller, "kitchen")["code"] == "busy"
    caller.call("ovos.tools.approval.respond", {"id": question["id"], "decision": "once"}, {"source": "person"})
    assert "result" in caller.answer_seen_to(INVOKE, mark).data
    assert "result" in ask(caller, "kitchen")


def test_sources_have_buckets_on_a_bus_of_others(start):
    _, caller = start({"match": {"source": "k*"}, "per_minute": 1, "burst": 1},
                      kind="ovos-messagebus")
    assert "result" in ask(caller, "kitchen")
    assert ask(caller, "kitchen")["code"] == "busy"
    assert "result" in ask(caller, "k2")
    for _ in range(3):
        assert "result" in ask(caller, "hall")


def test_a_reload_leaves_buckets_as_they_are(start):
    service, caller = start({"match": {}, "per_minute": 1, "burst": 1})
    assert "result" in ask(caller, "kitchen")
    caller.call("ovos.tools.reload")
    assert ask(caller, "kitchen")["code"] == "busy"
    path = service.daemon.home / "config" / "mycroft" / "mycroft.conf"
    path.write_text(path.read_text().replace('"burst": 1', '"burst": 5'))
    until(lambda: "result" in ask(caller, "kitchen"), EVENT_SECONDS, "other limits")


def test_a_flood_beyond_its_limit_is_read_slowly(start, figure):
    """A thousand refused calls a second beyond the first hundred: the time of the others is not its to take."""
    service, flood = start({"match": {"source": "flood"}, "per_minute": 1, "burst": 1})
    n = 1200
    began = time.monotonic()
    marks = [flood.send(INVOKE, {"name": "absolute", "args": {"value": 1}}, {"source": "flood"}) for _ in range(n)]
    with Caller(service.url) as other:
        assert "result" in ask(other, "calm")
    flood.answer_to(INVOKE, marks[-1], EVENT_SECONDS)
    figure("seconds for the flood", time.monotonic() - began)
    assert time.monotonic() - began >= (n - 101) / 1000
    answers = {one.context["mark"]: one.data.get("code") for one in flood.seen if one.type == INVOKE + ".response"
               and one.context.get("source") == "flood"}
    assert [answers.get(mark, "busy") for mark in marks] == [None] + ["busy"] * (n - 1)
    assert len(answers) >= n - 1


def test_a_flood_of_one_connection_leaves_others_their_share(start):
    """What the flood gets is bounded by the share of its connection, whatever it sends."""
    service, flood = start({"match": {}, "per_minute": 60, "burst": 40})
    with Caller(service.url) as other:
        assert "result" in ask(other, "calm")
        marks = [flood.send(INVOKE, {"name": "absolute", "args": {"value": 1}}, {"source": str(n)})
                 for n in range(500)]
        assert all("result" in ask(other, "calm") for _ in range(15))
        for mark in marks[-1:]:
            flood.answer_to(INVOKE, mark)
