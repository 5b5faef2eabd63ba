# SPDX-License-Identifier: Apache-2.0
"""What a tool is made of is changed where its folder does not show it: behind links, in swapped folders, under another
name or a mount. No call runs the new program by the old definition."""
import json
import os
import subprocess
import time

import pytest
from caller import Caller
from processes import EVENT_SECONDS, ROOT, until


def script(path, risk="read", text="only looks", head=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(f"#!/bin/sh\n# description: Tidy.\n# risk: {risk}\n{head}echo '{text}'\n")
    fresh.chmod(0o755)
    fresh.rename(path)


def write_in_place(path, risk, text):
    with open(path, "r+") as out:
        out.truncate(0)
        out.write(f"#!/bin/sh\n# description: Tidy.\n# risk: {risk}\necho '{text}'\n")


def risk_of(caller, name="tidy"):
    return caller.call("ovos.tools.get", {"name": name}).get("risk")


def link(path, target):
    """Make the link at @path lead to @target, at once."""
    fresh = path.with_name(f".{path.name}.link")
    fresh.symlink_to(target)
    fresh.rename(path)


def program_is_a_link(tmp_path):
    script(tmp_path / "repo/tidy.sh")
    (tmp_path / "box/home").mkdir(parents=True)
    (tmp_path / "box/home/tidy.sh").symlink_to("../../repo/tidy.sh")
    return lambda: script(tmp_path / "repo/tidy.sh", "execute", "deletes")


def definition_is_a_link(tmp_path):
    script(tmp_path / "box/home/tidy.sh")
    definition = tmp_path / "repo/tidy.json"
    definition.parent.mkdir()
    definition.write_text('{"description": "d", "risk": "read"}')
    (tmp_path / "box/home/tidy.json").symlink_to(definition)
    return lambda: definition.write_text('{"description": "d", "risk": "execute"}')


def registration_folder_is_a_link(tmp_path):
    script(tmp_path / "g1/home/tidy.sh")
    script(tmp_path / "g2/home/tidy.sh", "execute", "deletes")
    (tmp_path / "box").symlink_to("g1")
    return lambda: link(tmp_path / "box", "g2")


def toolbox_folder_is_a_link_to_a_link(tmp_path):
    script(tmp_path / "v1/tidy.sh")
    script(tmp_path / "v2/tidy.sh", "execute", "deletes")
    (tmp_path / "latest").symlink_to("v1")
    (tmp_path / "box").mkdir()
    (tmp_path / "box/home").symlink_to("../latest")
    return lambda: link(tmp_path / "latest", "v2")


def program_has_another_name(tmp_path):
    script(tmp_path / "repo/tidy.sh")
    (tmp_path / "box/home").mkdir(parents=True)
    os.link(tmp_path / "repo/tidy.sh", tmp_path / "box/home/tidy.sh")
    return lambda: write_in_place(tmp_path / "repo/tidy.sh", "execute", "deletes")


def manifest_is_a_link_in_a_linked_folder(tmp_path):
    for name, risk in (("g1", "read"), ("g2", "execute")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "real.json").write_text(json.dumps(
            {"kind": "command", "risk": risk, "tools": [
                {"name": "tidy", "command": {"argv": ["echo", "only looks"]}}]}))
    (tmp_path / "latest").symlink_to("g1")
    (tmp_path / "box").mkdir()
    (tmp_path / "box/home.json").symlink_to("../latest/real.json")
    return lambda: link(tmp_path / "latest", "g2")


KINDS = [program_is_a_link, definition_is_a_link, registration_folder_is_a_link,
         toolbox_folder_is_a_link_to_a_link, program_has_another_name,
         manifest_is_a_link_in_a_linked_folder]


@pytest.fixture
def asks(launch, tmp_path):
    """A daemon over the folder box that lets no tool of risk execute run."""
    return lambda: launch({"approval": {"mode": "execute"}}, [tmp_path / "box"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_after_the_change_has_the_new_risk(asks, tmp_path, kind):
    change = kind(tmp_path)
    with Caller(asks().url) as caller:
        assert caller.invoke("tidy")["result"] == {"output": "only looks"}
        change()
        assert caller.invoke("tidy")["code"] == "denied"


@pytest.mark.parametrize("kind", KINDS)
def test_the_change_is_seen_without_a_call(asks, tmp_path, kind):
    change = kind(tmp_path)
    with Caller(asks().url) as caller:
        assert risk_of(caller) == "read"
        change()
        until(lambda: risk_of(caller) == "execute", EVENT_SECONDS, "the new risk")


def test_a_mounted_program_that_is_changed_where_it_comes_from(asks, tmp_path):
    script(tmp_path / "host/tidy.sh")
    script(tmp_path / "box/home/tidy.sh", text="covered")
    mount = ["mount", "--bind", tmp_path / "host/tidy.sh", tmp_path / "box/home/tidy.sh"]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no right to mount")
    try:
        with Caller(asks().url) as caller:
            assert caller.invoke("tidy")["result"] == {"output": "only looks"}
            write_in_place(tmp_path / "host/tidy.sh", "execute", "deletes")
            until(lambda: risk_of(caller) == "execute", EVENT_SECONDS, "the new risk")
            write_in_place(tmp_path / "host/tidy.sh", "read", "only looks")
            assert caller.invoke("tidy")["result"] == {"output": "only looks"}
    finally:
        subprocess.run(["umount", "-l", tmp_path / "box/home/tidy.sh"], check=True)


def test_a_new_parameter_counts_in_the_first_call(launch, tmp_path):
    program_is_a_link(tmp_path)
    with Caller(launch({}, [tmp_path / "box"]).url) as caller:
        assert caller.invoke("tidy")["result"] == {"output": "only looks"}
        script(tmp_path / "repo/tidy.sh", text="done", head="# param room string? Where\n")
        assert caller.invoke("tidy", {"room": "hall"})["result"] == {"output": "done"}


def test_a_call_that_waits_for_its_turn_does_not_run_a_new_program(launch, tmp_path):
    """It came, and was let through, when the program was another one."""
    slow, began = tmp_path / "box/home/tidy.sh", tmp_path / "began"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    script(slow, text="only looks", head=f"touch {began}; read line < {gate}\n")
    service = launch({"toolboxes": {"home": {"limits": {"workers": 1}}}}, [tmp_path / "box"])
    with Caller(service.url) as caller:
        first = caller.send("ovos.tools.invoke", {"name": "tidy", "args": {}})
        until(began.exists, EVENT_SECONDS, "the first call's program")
        second = caller.send("ovos.tools.invoke", {"name": "tidy", "args": {}})
        caller.settle()
        script(slow, "execute", "deletes")
        until(lambda: risk_of(caller) == "execute", EVENT_SECONDS, "the new risk")
        gate.write_text("go\n")
        answers = {one.context["mark"]: one.data for one in caller.seen
                   if one.context.get("mark") in (first, second)}
        while len(answers) < 2:
            one = caller.wait_for(lambda one: one.context.get("mark") in (first, second)
                                  and one.type.endswith(".response"))
            answers[one.context["mark"]] = one.data
        assert answers[first]["result"] == {"output": "only looks"}
        assert answers[second]["code"] == "unavailable", answers[second]
        assert "changed" in answers[second]["error"]


def test_a_touched_program_costs_its_calls_nothing(launch, tmp_path):
    script(tmp_path / "box/home/tidy.sh")
    service = launch({}, [tmp_path / "box"])
    with Caller(service.url) as caller:
        for _ in range(20):
            (tmp_path / "box/home/tidy.sh").touch()
            assert caller.invoke("tidy")["result"] == {"output": "only looks"}


def test_a_program_that_comes_earlier_in_the_path(launch, tmp_path):
    early, late = tmp_path / "early", tmp_path / "late"
    early.mkdir()
    script(late / "tidy", text="late")
    manifest = {"kind": "command", "risk": "read", "env": {"PATH": f"{early}:{late}:/usr/bin:/bin"},
                "tools": [{"name": "tidy", "command": {"argv": ["tidy"]}}]}
    (tmp_path / "box").mkdir()
    (tmp_path / "box/home.json").write_text(json.dumps(manifest))
    service = launch({}, [tmp_path / "box"])
    with Caller(service.url) as caller:
        assert caller.invoke("tidy")["result"] == {"output": "late"}
        script(early / "tidy", text="early")
        caller.invoke("tidy")
        until(lambda: "home/tidy changed" in service.daemon.log()
              or "home changed" in service.daemon.log(), EVENT_SECONDS, "the line about the change")


PLUGIN = """
#include <toolbox.h>
static void tidy(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_string(call, "output", "%s");
	toolbox_reply(call);
}
static const struct toolbox_tool tools[] = {{.name = "tidy", .description = "Tidy.", .risk = TOOLBOX_%s,
	.handler = tidy}};
TOOLBOX_PLUGIN(tools, NULL, NULL);
"""


def library(path, risk, text, *flags):
    """Build the library of a plugin beside @path."""
    fresh = path.with_name(f".{path.name}.new")
    compiler = ["cc", "-shared", "-fPIC", "-I", ROOT / "service/include", "-x", "c", "-"]
    subprocess.run([*compiler, *flags, "-o", fresh],
                   input=PLUGIN % (text, risk.upper()), text=True, check=True)
    return fresh


def renamed(fresh, path):
    fresh.rename(path)


def written_over(fresh, path):
    with open(path, "r+b") as out:
        out.truncate(0)
        out.write(fresh.read_bytes())


def plugin(tmp_path, replaced=renamed, *flags):
    """A plugin beside its manifest, and how it is changed."""
    path = tmp_path / "box/libtidy.so"
    path.parent.mkdir()
    (tmp_path / "box/home.json").write_text('{"kind": "plugin", "library": "libtidy.so"}')
    library(path, "read", "only looks", *flags).rename(path)
    fresh = library(path, "execute", "deletes", *flags)
    return lambda: replaced(fresh, path)


def stays(answer):
    """The answer is that of the definition that was loaded, or of the one that has followed it."""
    return answer.get("result") == {"output": "only looks"} or answer["code"] == "denied"


@pytest.mark.parametrize("replaced", [renamed, written_over])
def test_a_host_that_starts_after_a_library_was_replaced(asks, tmp_path, replaced):
    change = plugin(tmp_path, replaced)
    with Caller(asks().url) as caller:
        assert risk_of(caller) == "read"
        change()
        answer = caller.invoke("tidy")
        assert stays(answer), answer
        until(lambda: risk_of(caller) == "execute", EVENT_SECONDS, "the new risk")
        assert caller.invoke("tidy")["code"] == "denied"


@pytest.mark.parametrize("replaced", [renamed, written_over])
def test_a_library_that_cannot_be_copied_waits_for_the_reload(asks, tmp_path, replaced):
    """It looks for others beside itself, so its hosts load the file."""
    change = plugin(tmp_path, replaced, "-Wl,-rpath,$ORIGIN")
    with Caller(asks().url) as caller:
        assert risk_of(caller) == "read"
        time.sleep(0.02)  # the last look was less than 10 ms ago
        change()
        assert caller.invoke("tidy")["code"] == "denied"


@pytest.mark.parametrize("replaced", [renamed, written_over])
def test_a_host_that_has_a_library_goes_on_when_it_is_replaced(asks, tmp_path, replaced):
    change = plugin(tmp_path, replaced)
    with Caller(asks().url) as caller:
        assert caller.invoke("tidy")["result"] == {"output": "only looks"}
        change()
        answer = caller.invoke("tidy")
        assert stays(answer), answer
        until(lambda: risk_of(caller) == "execute", EVENT_SECONDS, "the new risk")
        assert caller.invoke("tidy")["code"] == "denied"


def test_a_library_that_was_touched_costs_its_calls_nothing(asks, tmp_path):
    plugin(tmp_path)
    with Caller(asks().url) as caller:
        assert risk_of(caller) == "read"
        (tmp_path / "box/libtidy.so").touch()
        assert caller.invoke("tidy")["result"] == {"output": "only looks"}


def commands(tmp_path, **tools):
    """Tools of kind command in a folder with a script and with data."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box/home.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": name, "command": {"argv": argv}} for name, argv in tools.items()]}))
    put(tmp_path / "box/work.sh", "echo first")
    put(tmp_path / "box/data.txt", "first")


def put(path, text):
    path.write_text(text + "\n")


@pytest.mark.parametrize("argv", [["sh", "work.sh"], ["/bin/sh", "-e", "{box}/work.sh"],
                                  ["timeout", "60", "sh", "work.sh", "more"], ["nice", "./work.sh"]])
def test_a_script_that_is_an_argument_is_a_part_of_its_tool(launch, tmp_path, argv):
    box = tmp_path / "box"
    commands(tmp_path, tidy=[one.replace("{box}", str(box)) for one in argv])
    put(box / "work.sh", "#!/bin/sh\necho first")
    (box / "work.sh").chmod(0o755)
    service = launch({}, [box])
    with Caller(service.url) as caller:
        assert caller.invoke("tidy")["result"] == {"output": "first"}
        put(box / "work.sh", "#!/bin/sh\necho other")
        assert caller.invoke("tidy")["result"] == {"output": "other"}
        assert "home/tidy changed" in service.daemon.log() or "home changed" in service.daemon.log()


def test_data_that_is_an_argument_is_no_part_of_its_tool(launch, tmp_path):
    shows = {"show": ["cat", "data.txt"], "line": ["sh", "-c", 'cat "$1"', "_", "data.txt"],
             "print": ["perl", "-ne", "print", "data.txt"], "nice": ["nice", "sh", "-c", "cat $0", "data.txt"]}
    commands(tmp_path, tidy=["sh", "work.sh", "data.txt"], **shows)
    service = launch({}, [tmp_path / "box"])
    with Caller(service.url) as caller:
        for number in range(10):
            put(tmp_path / "box/data.txt", str(number))
            for name in shows:
                assert caller.invoke(name)["result"] == {"output": str(number)}
            assert caller.invoke("tidy")["result"] == {"output": "first"}
    assert "changed" not in service.daemon.log()
