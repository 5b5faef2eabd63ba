# SPDX-License-Identifier: Apache-2.0
"""The operator's word on single tools (`toolboxes.<id>.tools`), for tools of every kind."""
import manifests
import pytest
from caller import Caller
from processes import BUILD, toolboxctl, write_configuration
from python_site import ECHO, Site, box, wait_until_told

PLUGGED = BUILD / "tests" / "toolboxes" / "plugged.d" / "libtest_plugged.so"


def of_tools(**toolboxes):
    return {"toolboxes": {toolbox: {"tools": tools} for toolbox, tools in toolboxes.items()}}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs("first", risk="execute"),
                                      manifests.labs("second")])
    program = folder / "dropped" / "say"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n# description: Says.\necho said\n")
    program.chmod(0o755)
    return folder


def definition(caller, name):
    return caller.call("ovos.tools.get", {"name": name})


def test_every_kind_of_tool_has_them(launch, folder, tmp_path):
    site = Site(tmp_path / "venv")
    site.install("boxes", box("pythonic"), {"box": "Box"})
    (folder / "boxes.json").write_text(
        f'{{"kind": "python", "python": "{site.python}"}}')
    (folder / "plugged.json").write_text(f'{{"kind": "plugin", "library": "{PLUGGED}"}}')
    service = launch(of_tools(
        one={"first": {"risk": "read"}, "second": {"risk": "execute", "description": "Other."}},
        dropped={"say": {"risk": "write", "timeout_ms": 9000, "triggers": ["say it"]}},
        pythonic={"echo": {"risk": "read", "parallel": False}},
        plugged={"count": {"risk": "execute"}}), [folder])
    with Caller(service.url) as caller:
        wait_until_told(caller)
        first = definition(caller, "first")
        assert first["risk"] == "read"
        second = definition(caller, "second")
        assert (second["risk"], second["description"]) == ("execute", "Other.")
        say = definition(caller, "say")
        assert (say["risk"], say["triggers"], say["description"]) == ("write", ["say it"], "Says.")
        echo = definition(caller, "echo")
        assert (echo["risk"], echo["parallel"]) == ("read", False)
        assert definition(caller, "count")["risk"] == "execute"
        # What is listed is what is in force.
        assert caller.invoke("first", {"value": -1})["result"] == {"result": 1}
        assert caller.invoke("second", {"value": -1})["code"] == "denied"
        assert caller.invoke("count", {})["code"] == "denied"
        assert caller.call("ovos.tools.match", {"utterance": "please say it"})["name"] == "say"


def test_a_change_is_in_force_after_a_reload(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert caller.invoke("second", {"value": -1})["result"] == {"result": 1}
        write_configuration(service.daemon.home, {"toolboxd": of_tools(
            one={"first": {"enabled": False}, "second": {"risk": "execute"}})})
        answer = caller.call("ovos.tools.reload")
        assert [tool["name"] for tool in answer["tools"]] == ["say", "second"]
        assert caller.invoke("second", {"value": -1})["code"] == "denied"
        assert caller.invoke("first", {"value": -1})["code"] == "unknown_tool"
        assert caller.call("ovos.tools.status")["not_offered"] == [
            {"toolbox_id": "one", "name": "first",
             "why": "it is not enabled (toolboxes.ID.tools.NAME.enabled)"}]


def test_a_mistake_closes_and_an_unknown_name_is_told(launch, folder):
    service = launch(of_tools(one={"thrid": {"risk": "read"}}), [folder])
    assert "toolboxes.one.tools: it has no tool called 'thrid'" in service.daemon.log()
    write_configuration(service.daemon.home, {"toolboxd": of_tools(one={"first": {"rsik": "read"}})})
    answer = toolboxctl("reload", bus=service.url, home=service.daemon.home)
    assert answer.returncode == 1
    assert "/toolboxd/toolboxes/one/tools/first/rsik: unexpected property" in answer.stderr
    with Caller(service.url) as caller:
        assert definition(caller, "first")["risk"] == "execute"


def test_a_published_toolbox_is_rated_unless_the_operator_says_otherwise(launch, folder, tmp_path):
    site = Site(tmp_path / "venv")
    site.install("boxes", box("ovos-shell-tools", run_command=ECHO, other=ECHO) +
                 box("ovos-web-search-tools", "Web", web_search=ECHO), {"box": "Box", "web": "Web"})
    (folder / "boxes.json").write_text(f'{{"kind": "python", "python": "{site.python}"}}')
    service = launch(of_tools(
        **{"ovos-web-search-tools": {"web_search": {"risk": "write"}}}), [folder])
    with Caller(service.url) as caller:
        wait_until_told(caller)
        assert definition(caller, "run_command")["risk"] == "execute"
        assert caller.invoke("run_command", {"text": "a"})["code"] == "denied"
        assert "risk" not in definition(caller, "other")
        assert definition(caller, "web_search")["risk"] == "write"
        assert caller.invoke("web_search", {"text": "a"})["result"] == {"reply": "a"}


def test_an_experimental_tool_is_offered_by_its_name(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs("first", experimental=True), manifests.labs("second", experimental=True),
                                      manifests.labs("third")])
    service = launch({}, [folder], env={"TOOLBOXD_EXPERIMENTAL": "one/second,other"})
    with Caller(service.url) as caller:
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == ["second", "third"]
        [left_out] = caller.call("ovos.tools.status")["not_offered"]
        assert (left_out["name"], left_out["why"]) == ("first", "experimental; toolboxd.experimental offers it by name")
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == ["third"]
