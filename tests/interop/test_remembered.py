# SPDX-License-Identifier: Apache-2.0
"""What toolboxctl remembers for good: allow.json, disabled.json and profiles.d of the service."""
import json

import manifests
import pytest
from caller import Caller
from processes import SLOWNESS, until

SOON = 10 * SLOWNESS


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs("first", risk="execute"),
                                      manifests.labs("second")])
    return folder


def kept(service):
    """The service's own folder."""
    return service.daemon.home / "config" / "toolboxd"


def names(caller, **data):
    return [tool["name"] for tool in caller.call("ovos.tools.list", data)["tools"]]


def test_the_files_are_read_and_watched(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["folders"] == ["/etc/toolboxd", str(kept(service))]
        assert caller.invoke("first", {"value": -1})["code"] == "denied"
        (kept(service) / "profiles.d").mkdir(parents=True)
        (kept(service) / "allow.json").write_text('[{"name": "one/first"}]')
        (kept(service) / "disabled.json").write_text('[{"name": "second"}]')
        (kept(service) / "profiles.d" / "none.json").write_text('{"tool_names": []}')
        until(lambda: names(caller) == ["first"], SOON, "the files read")
        assert caller.invoke("first", {"value": -1})["result"] == {"result": 1}
        until(lambda: names(caller, profile="none") == [], SOON, "the profile read")
        # A mistake keeps what is in force.
        (kept(service) / "disabled.json").write_text("[")
        answer = caller.call("ovos.tools.reload")
        assert answer["configuration"][0]["file"] == str(kept(service) / "disabled.json")
        assert names(caller) == ["first"]


def test_disabled_is_disabled_whatever_a_variable_enables(launch, folder, tmp_path):
    home = tmp_path / "home-0" / "toolboxd" / "config" / "toolboxd"
    home.mkdir(parents=True)
    (home / "disabled.json").write_text(json.dumps([{"name": "one/first"}]))
    service = launch({}, [folder], env={"TOOLBOXD_TOOLS_ENABLED": "first"})
    with Caller(service.url) as caller:
        assert names(caller) == []
        assert {one["name"]: one["why"] for one in
                caller.call("ovos.tools.status")["not_offered"]} == {
            "first": "disabled in disabled.json (`toolboxctl enable` enables it)",
            "second": "left out by TOOLBOXD_TOOLS_ENABLED"}
