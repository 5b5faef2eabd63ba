# SPDX-License-Identifier: Apache-2.0
"""Satellites of HiveMind call tools through a hub: docs/ovos.md, Satellites, line by line."""
import contextlib
import json
import re
import subprocess

import manifests
import pytest
from caller import Caller
from conftest import Service
from hivemind_site import Hub, Satellite
from processes import EVENT_SECONDS, ROOT, until
from sites import Site
from test_approval import REQUESTED, Person

LIST, GET, INVOKE, CANCEL = (f"ovos.tools.{name}" for name in ("list", "get", "invoke", "cancel"))
PROGRESS = "ovos.tools.call.progress"
QUIET_SECONDS = 2

# `wait` ends when its file is there, and tells its progress once.
WAIT = 'echo \'{"progress": 0.5, "text": "half"}\' >&3; while [ ! -e "$1" ]; do sleep 0.05; done; echo here'
# What the page says of profiles, for the guest.
CONFIGURATION = {"profiles": {"kids": {"tool_names": ["add", "wait"]}},
                 "access": [{"match": {"source": "guest::*"}, "profile": "kids"}]}
TOOLS = {"kind": "command", "tools": [
    {"name": "wait", "description": "Waits for a file.", "risk": "read", "timeout_ms": 120000,
     "argument_schema": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]},
     "command": {"argv": ["/bin/sh", "-c", WAIT, "sh", "{file}"]}},
    {"name": "risky", "description": "Asks a person.", "risk": "execute", "command": {"argv": ["/bin/echo", "ran"]}}]}


def commands():
    """The commands of the page, for the satellite `kitchen`, which is node 1."""
    page = (ROOT / "docs" / "ovos.md").read_text().split("\n## Satellites\n")[1]
    return re.search(r"```sh\n(.*?)```", page, re.S)[1]


class Hive:
    """A hub with the satellites that the page allows, and a guest that may list alone."""

    def __init__(self, service, site, home):
        self.service, self.home = service, home
        self.hub = Hub(site, home, service.url)
        self.credentials = {}
        self.open = []
        allowed = commands()
        self.admit("kitchen", allowed)
        self.admit("attic", allowed.replace("kitchen", "attic").replace(" 1\n", " 2\n"))
        self.admit("guest", "hivemind-core add-client --name guest\nhivemind-core allow-msg ovos.tools.list 3\n")

    def admit(self, name, script):
        env = {**self.hub.env, "PATH": f"{self.hub.site.program('')}:/usr/bin:/bin"}
        done = subprocess.run(["bash", "-e", "-c", script], env=env, cwd=self.home, capture_output=True, text=True,
                              timeout=EVENT_SECONDS)
        assert done.returncode == 0, done.stderr
        self.credentials[name] = [re.search(rf"^{word}: (\S+)$", done.stdout, re.M)[1]
                                  for word in ("Access Key", "Password")]

    def satellite(self, name):
        self.open.append(Satellite(self.hub, name, *self.credentials[name]))
        return self.open[-1]

    def end(self):
        for one in self.open:
            one.close()
        self.hub.kill()


@pytest.fixture(scope="module")
def hive(request, tmp_path_factory):
    if not request.config.getoption("--long"):
        pytest.skip("a hub of HiveMind and its packages: with --long")
    site = Site.of("hivemind")
    home = tmp_path_factory.mktemp("hive")
    (home / "tools").mkdir()
    (home / "tools" / "waiting.json").write_text(json.dumps(TOOLS))
    with Service("ovos-messagebus", home, [manifests.SHIPPED, home / "tools"],
                 configuration=CONFIGURATION) as service:
        one = Hive(service, site, home / "hub")
        try:
            yield one
        finally:
            one.end()


@pytest.fixture
def kitchen(hive):
    with contextlib.closing(hive.satellite("kitchen")) as satellite:
        yield satellite


@pytest.fixture
def attic(hive):
    with contextlib.closing(hive.satellite("attic")) as satellite:
        yield satellite


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


def begin(satellite, hive, file, call_id):
    """A call of `wait` that runs."""
    satellite.send(INVOKE, {"name": "wait", "args": {"file": str(file)}, "call_id": call_id, "progress": True})
    with Caller(hive.service.url) as caller:
        until(lambda: any(call["call_id"] == call_id for call in caller.call("ovos.tools.calls")["calls"]
                          if call["state"] == "running"), EVENT_SECONDS, "the call running")


def test_lists_gets_and_calls(kitchen):
    assert {"add", "wait"} <= {tool["name"] for tool in kitchen.call(LIST)["tools"]}
    assert kitchen.call(GET, {"name": "add"})["name"] == "add"
    assert kitchen.call(INVOKE, {"name": "add", "args": {"a": 3, "b": 4}}) == {"name": "add", "result": {"result": 7}}
    assert kitchen.call(INVOKE, {"name": "add", "args": {"a": "x"}})["code"] == "invalid_arguments"


def test_each_has_its_own_answers_alone(kitchen, attic):
    """Twenty calls each, all in flight, with the same ids on both sides."""
    for number in range(20):
        for satellite, more in ((kitchen, 0), (attic, 1000)):
            satellite.send(INVOKE, {"name": "add", "args": {"a": number, "b": more}, "call_id": f"n{number}"})
    for satellite, more in ((kitchen, 0), (attic, 1000)):
        answers = [satellite.wait_for(f"{INVOKE}.response")["data"] for _ in range(20)]
        assert {one["call_id"]: one["result"]["result"] for one in answers} == {
            f"n{number}": number + more for number in range(20)}
        with pytest.raises(TimeoutError):
            satellite.wait_for(f"{INVOKE}.response", QUIET_SECONDS)


def test_progress_and_cancel_are_its_own(hive, kitchen, attic, file):
    begin(kitchen, hive, file, "long")
    begin(attic, hive, file, "long")
    assert kitchen.wait_for(PROGRESS)["data"]["progress"] == attic.wait_for(PROGRESS)["data"]["progress"] == 0.5
    assert kitchen.call(CANCEL, {"call_id": "long"}) == {"call_id": "long", "cancelled": True}
    assert kitchen.wait_for(f"{INVOKE}.response", call_id="long")["data"]["code"] == "cancelled"
    assert kitchen.call(CANCEL, {"call_id": "long"})["cancelled"] is False
    file.touch()
    assert attic.wait_for(f"{INVOKE}.response", call_id="long")["data"]["result"] == {"output": "here"}
    for satellite in (kitchen, attic):
        with pytest.raises(TimeoutError):
            satellite.wait_for(PROGRESS, QUIET_SECONDS)


def test_a_person_is_asked_on_the_hub(hive, kitchen):
    with Person(hive.service.url) as hub:
        hub.attach()
        kitchen.send(INVOKE, {"name": "risky", "call_id": "asked"})
        question = hub.question()
        assert question["source"].startswith("kitchen::")
        hub.respond(question["id"])
    assert kitchen.wait_for(f"{INVOKE}.response", call_id="asked")["data"]["result"] == {"output": "ran"}
    with pytest.raises(TimeoutError):
        kitchen.wait_for(REQUESTED, QUIET_SECONDS)


def test_a_satellite_that_is_not_allowed_is_not_heard(hive):
    guest = hive.satellite("guest")
    with Caller(hive.service.url) as hub:
        guest.send(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        assert {tool["name"] for tool in guest.call(LIST)["tools"]} == {"add", "wait"}
        with pytest.raises(TimeoutError):
            guest.wait_for(f"{INVOKE}.response", QUIET_SECONDS)
        assert not [message for message in hub.settle() if message.type == INVOKE]
    assert INVOKE in hive.hub.log()


def test_one_that_reconnects_gets_the_answer_that_comes_after_that(hive, kitchen, file):
    begin(kitchen, hive, file, "lost")
    kitchen.reconnect()
    file.touch()
    assert kitchen.wait_for(f"{INVOKE}.response", call_id="lost")["data"]["result"] == {"output": "here"}


def test_one_that_reconnects_cancels_what_it_has_begun(hive, kitchen, file):
    begin(kitchen, hive, file, "left")
    kitchen.reconnect()
    assert kitchen.call(CANCEL, {"call_id": "left"})["cancelled"] is True
    assert kitchen.wait_for(f"{INVOKE}.response", call_id="left")["data"]["code"] == "cancelled"
