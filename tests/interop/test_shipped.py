# SPDX-License-Identifier: Apache-2.0
"""What all toolboxes that are installed with toolboxd have in common."""
import json
import shutil

import pytest
from caller import Caller
from processes import BUILD, ROOT, toolboxctl

SOURCES = ROOT / "toolboxes"
OFF = ("call_control", "mail", "shell", "voice", "web")
# The class of its processes; None: it has none.
CLASSES = {"call_control": None, "convert": "compute", "device": None, "files": "compute", "mail": "net", "memory": "compute",
           "plan": "compute", "session": "compute", "shell": "command", "system": "compute", "voice": "command", "web": "net"}
# What these read is not on each machine, and `toolboxctl test` calls the examples of what reads. Their page says so.
WITHOUT_EXAMPLES = {"files": ["read_file", "list_dir", "grep_files"], "web": ["webfetch"],
                    "system": ["service_status", "service_logs"]}
DEADLINES_MS = {"grep_files": 35_000, "webfetch": 35_000, "send_email": 60_000, "exec_command": 620_000,
                "write_stdin": 620_000, "whisper_install": 1_800_000, "kokoro_install": 1_800_000}
# What an operator has to say before a toolbox loads.
SETTINGS = {"mail": {"server": "smtp://127.0.0.1:1", "files": {"roots": []}, "from": "me@example.org"},
            "call_control": {"topics": {name: f"sip.{name}" for name in (
                "connect_call", "send_message", "stop_media", "stop_service", "stop_flow")}}}
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


def test_what_is_offered_without_a_word(launch):
    service = launch(toolbox_dirs=[*(folder(name) for name in CLASSES), BUILD / "toolbox.d"])
    with Caller(service.url) as caller:
        tools = caller.call("ovos.tools.list")["tools"]
    assert {tool["toolbox_id"] for tool in tools} == {*CLASSES, "math_tools", "libm"} - {*OFF}
    assert {tool["name"] for tool in tools if tool["toolbox_id"] == "device"} == {"speak", "get_volume", "now_playing"}


def test_each_tool_says_what_it_is(launch):
    service = launch({"toolboxes": {name: {"enabled": True, **SETTINGS.get(name, {})} for name in CLASSES}},
                     [folder(name) for name in CLASSES])
    with Caller(service.url) as caller:
        tools = caller.call("ovos.tools.list")["tools"]
        deadlines = {name: caller.call("ovos.tools.get", {"name": name, "deadline": True})["timeout_ms"] for name in DEADLINES_MS}
    assert {tool["toolbox_id"] for tool in tools} == {*CLASSES}
    assert deadlines == DEADLINES_MS
    for tool in tools:
        assert tool["title"] and tool["description"] and tool["risk"] in ("read", "write", "execute"), tool
        takes_none = not tool["argument_schema"].get("required")
        assert tool.get("examples") or takes_none or tool["name"] in WITHOUT_EXAMPLES.get(tool["toolbox_id"], ()), tool["name"]
        # What is no rich content says what it is.
        assert tool.get("output") == "content" or tool["output_schema"].keys() > {"type"}, tool["name"]


def test_each_has_the_narrowest_class_that_works():
    usual = {"plugin": "compute", "command": "command", "bus": None}
    for name, class_ in CLASSES.items():
        manifest = manifest_of(name)
        assert manifest.get("sandbox", {}).get("class", usual[manifest["kind"]]) == class_, name
    assert manifest_of("web")["sandbox"] == {"class": "net"}, "and no file"


@pytest.mark.parametrize("name", WITHOUT_EXAMPLES)
def test_the_page_says_why_a_tool_has_no_examples(name):
    paragraphs = (ROOT / "docs" / "toolboxes" / f"{name}.md").read_text().split("\n\n")
    reason = next(one for one in paragraphs if "no examples: `toolboxctl test` calls" in one)
    assert all(f"`{tool}`" in reason for tool in WITHOUT_EXAMPLES[name]), reason


@pytest.mark.parametrize("name", ROWS)
def test_the_page_has_each_setting(name):
    page = (ROOT / "docs" / "toolboxes" / f"{name}.md").read_text()
    for key in manifest_of(name)["config"]:
        assert ROWS[name].format(key) in page
