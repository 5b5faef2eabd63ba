# SPDX-License-Identifier: Apache-2.0
"""What all toolboxes that are installed with toolboxd have in common."""
import json
import shutil

import pytest
from caller import Caller
from processes import BUILD, ROOT, toolboxctl

SOURCES = ROOT / "toolboxes"
OFF = ("call_control", "mail", "shell", "voice", "web")
# What an operator has to say before a toolbox loads.
SETTINGS = {"mail": {"server": "smtp://127.0.0.1:1", "files": {"roots": []}, "from": "me@example.org"}}
# A row of a setting in the page of its toolbox.
ROWS = {"mail": "`{}", "web": "| `{}` |"}


def folder(name):
    return BUILD / "toolboxes" / f"{name}.d"


def manifest_of(name):
    return json.loads((folder(name) / f"{name}.json").read_text())


@pytest.mark.parametrize("name", sorted(path.stem for path in SOURCES.glob("*/tests/*.calls")))
def test_its_calls_are_answered_as_its_file_of_calls_has_it(tmp_path, name):
    shutil.copytree(folder(name), library := tmp_path / f"{name}.d")
    manifest = {**manifest_of(name), "enabled": True}
    if name in SETTINGS:
        manifest["config"].update(SETTINGS[name])
    (library / f"{name}.json").write_text(json.dumps(manifest))
    done = toolboxctl("test", library / f"{name}.json", SOURCES / name / "tests" / f"{name}.calls", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_acts_for_a_person_is_installed_and_off(launch, tmp_path):
    service = launch(toolbox_dirs=[folder(name) for name in OFF])
    shown = toolboxctl("list", "--why", bus=service.url, home=tmp_path).stdout
    for name in OFF:
        assert manifest_of(name)["enabled"] is False
        assert f"disabled by its manifest; toolboxctl enable {name}" in shown
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
        for tool in ("send_email", "webfetch", "exec_command"):
            assert caller.invoke(tool, {})["code"] == "unknown_tool"


def test_mail_and_web_have_the_network():
    assert manifest_of("mail")["sandbox"]["class"] == "net"
    assert manifest_of("web")["sandbox"] == {"class": "net"}, "and no file"


@pytest.mark.parametrize("name", ROWS)
def test_the_page_has_each_setting(name):
    page = (ROOT / "docs" / "toolboxes" / f"{name}.md").read_text()
    for key in manifest_of(name)["config"]:
        assert ROWS[name].format(key) in page
