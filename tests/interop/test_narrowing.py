# SPDX-License-Identifier: Apache-2.0
"""toolboxctl list of some tools: by name, by toolbox, of a folder without a daemon."""
import json

import manifests
import pytest
from processes import toolboxctl

DONE, ERROR, USAGE = range(3)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "lamps", [
        manifests.labs("lights_on"), manifests.labs("lights_off"), manifests.labs("dim")])
    manifests.toolbox(folder, "street", [manifests.labs("lights_out")])
    (folder / "broken.json").write_text('{"kind": "native"}')
    (folder / "other.json").write_text('{"kind": "native"}')
    return folder


@pytest.fixture(params=["online", "offline"])
def ctl(request, launch, folder, tmp_path):
    """toolboxctl with a daemon, and without one."""
    home = tmp_path / "ctl"
    if request.param == "online":
        url = launch({"tools_disabled": ["dim"]}, [folder]).url
        return lambda *words: toolboxctl(*words, bus=url, home=home)
    return lambda *words: toolboxctl(*words, "--offline", "--toolbox-dir", folder, home=home)


def names(done):
    assert done.returncode == DONE and done.stderr == ""
    return [line.split()[1] for line in done.stdout.splitlines()[1:]]


def test_names_choose_tools(ctl):
    assert names(ctl("list", "light*")) == ["lights_on", "lights_off", "lights_out"]
    assert names(ctl("list", "lamps/light*")) == ["lights_on", "lights_off"]
    assert names(ctl("list", "*/lights_out", "lights_on")) == ["lights_on", "lights_out"]
    assert "lights_out(value: integer)" in ctl("list", "street/*", "--long").stdout
    assert "lights_on" not in ctl("list", "street/*", "--long").stdout
    whole = json.loads(ctl("list", "--json").stdout)
    done = ctl("list", "lights_on", "--json")
    assert json.loads(done.stdout) == {"tools": [one for one in whole["tools"]
                                                 if one["name"] == "lights_on"]}


def test_a_name_that_means_no_tool_is_an_error(ctl):
    done = ctl("list", "lights_no")
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert done.stderr == "toolboxctl: no tool is called 'lights_no'; is it 'lights_on'?\n"
    done = ctl("list", "lights_on", "zzz*")
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert done.stderr == "toolboxctl: no tool is called 'zzz*'; see toolboxctl list\n"
    assert ctl("list", "a b").returncode == USAGE
    assert ctl("list", "lights_on", "--format", "openai").returncode == USAGE


def test_an_unknown_toolbox_is_an_error_with_a_near_name(ctl):
    for more in [], ["--why"], ["--format", "openai"], ["--format", "markdown"], ["--long"]:
        done = ctl("list", "--toolbox", "lamp", *more)
        assert done.returncode == ERROR and done.stdout == "", done
        assert done.stderr == "toolboxctl: no toolbox is called 'lamp'; is it 'lamps'?\n"
    done = ctl("list", "--toolbox", "lamp", "--json")
    assert done.returncode == ERROR and json.loads(done.stdout) == {"tools": []}
    assert "is it 'lamps'?" in done.stderr
    done = ctl("list", "--toolbox", "brokn")
    assert "is it 'broken'?" in done.stderr


def test_why_is_narrowed_to_the_toolbox(ctl):
    done = ctl("list", "--toolbox", "broken", "--why")
    assert done.returncode == DONE and "broken" in done.stdout
    assert "other" not in done.stdout and "dim" not in done.stdout
    done = ctl("list", "--toolbox", "lamps", "--why")
    assert "FAILED" not in done.stdout and "lights_on" in done.stdout
    done = ctl("list", "--why")
    assert "broken" in done.stdout and "other" in done.stdout


def test_stat_of_an_unknown_toolbox_is_an_error(launch, folder, tmp_path):
    service = launch({}, [folder])
    done = toolboxctl("list", "--stat", "--toolbox", "lamp", bus=service.url, home=tmp_path)
    assert done.returncode == ERROR and done.stdout == "" and "'lamps'" in done.stderr


def test_a_folder_needs_offline(tmp_path):
    done = toolboxctl("list", "--toolbox-dir", tmp_path, home=tmp_path)
    assert done.returncode == USAGE and "--offline" in done.stderr
