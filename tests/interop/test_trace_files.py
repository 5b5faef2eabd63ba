# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl invoke --trace-files`: the paths that a call tried and that no rule of its sandbox
allows, with the lines to add to the manifest, for a file or for a tool that a daemon offers."""
import json
import os
import re
import signal
import subprocess
import sysconfig
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXCTL, children, environment, is_alive, listening, toolboxctl, until
from python_site import Site, box
from websocket_peer import Closed, Peer

READ = manifests.tool("look", "open", [manifests.text("path"), manifests.integer("flags", "i32", value=0)],
                      {"type": "i32", "errors": "negative"})
OWN = manifests.tool("look_at_own", "open", [
    manifests.text("path", value="/etc/passwd"), manifests.integer("flags", "i32", value=0)],
    {"type": "i32", "errors": "negative"})
MAKE = manifests.tool("make", "creat", [manifests.text("path"),
                                        manifests.integer("mode", "i32", value=0o600)],
                      {"type": "i32", "errors": "negative"})


@pytest.fixture
def invoke(tmp_path):
    def run(*args, **options):
        return toolboxctl("invoke", "--trace-files", *args, home=tmp_path, **options)
    return run


def advice(done):
    """The object that a manifest is to have."""
    [line] = re.findall(r"^add to \S+: (\"sandbox\": \{.*\})$", done.stderr, re.M)
    return json.loads("{" + line + "}")["sandbox"]


def test_a_denied_path_is_named_with_the_line_to_add(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path, "looks", [OWN])
    done = invoke("--file", str(manifest), "look_at_own")
    assert done.returncode == 1 and "Permission denied" in done.stderr
    assert "look_at_own: 1 path that no rule allows\n  read   /etc/passwd\n" in done.stderr
    assert f"add to {manifest}: " in done.stderr
    manifests.toolbox(tmp_path, "looks", [OWN], sandbox=advice(done))
    done = invoke("--file", str(manifest), "look_at_own")
    assert done.returncode == 0 and "result" in done.stdout, done.stderr
    assert done.stderr == "look_at_own: the sandbox allows every path that it tried\n"


def test_a_path_of_an_argument_is_marked_and_a_new_file_names_its_folder(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path, "looks", [READ, MAKE])
    done = invoke("--file", str(manifest), "look", "path=/etc/passwd")
    assert re.search(r"^  read   /etc/passwd +\(came from an argument: name a folder\)$", done.stderr,
                     re.M), done.stderr
    assert "add to" not in done.stderr
    assert not (tmp_path / "new").exists()
    done = invoke("--file", str(manifest), "make", f"path={tmp_path}/new")
    assert f"  write  {tmp_path}/new " in done.stderr
    assert not (tmp_path / "new").exists(), "the sandbox holds"


def test_a_tool_of_a_daemon_is_traced_in_a_host_of_its_own(invoke, launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifest = manifests.toolbox(folder, "looks", [OWN])
    service = launch({}, [folder])
    done = invoke("look_at_own", bus=service.url)
    assert "  read   /etc/passwd\n" in done.stderr and f"add to {manifest}: " in done.stderr
    with Caller(service.url) as caller:
        [one] = caller.call("ovos.tools.status")["toolboxes"]
        assert one["calls"] == 0, "the daemon's own host did not run it"
        answer = caller.call("ovos.tools.invoke", {"name": "look_at_own", "args": {},
                                                   "trace_files": True})
        assert "trace" not in json.dumps(answer), "the bus has no such request"
    done = invoke("look_at_nothing", bus=service.url)
    assert done.returncode == 1 and "Unknown tool" in done.stderr and "path" not in done.stderr


def test_programs_and_their_children_are_traced(invoke, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret").write_text("x")
    manifest = tmp_path / "programs.json"
    manifest.write_text(json.dumps({"kind": "command", "sandbox": {"read": ["data"]}, "tools": [{
        "name": "dig", "description": "A test's.", "risk": "read",
        "command": {"shell": "(cd other && cat secret); ls data"}}]}))
    done = invoke("--file", str(manifest), "dig")
    assert f"dig: 1 path that no rule allows\n  read   {tmp_path}/other/secret\n" in done.stderr
    assert advice(done) == {"read": [f"{tmp_path}/other/secret"]}


def test_the_advice_leads_a_python_toolbox_to_its_result(invoke, tmp_path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("found")
    site = Site(tmp_path / "venv")
    site.install("reader", box("reader", read=f"lambda args: {{'reply': open({str(secret)!r}).read()}}"),
                 {"box": "Box"})
    # The environment of a site links to the packages of the tests.
    sandbox = {"read": [str(tmp_path / "venv"), str(Path(sysconfig.get_path("purelib")).resolve())],
               "write": []}
    for _ in range(6):
        manifest = tmp_path / "boxes.json"
        manifest.write_text(json.dumps({"kind": "python", "python": str(site.python),
                                        "sandbox": sandbox}))
        done = invoke("--file", str(manifest), "read")
        if done.returncode == 0:
            break
        for access, paths in advice(done).items():
            sandbox[access] += paths
    assert '"found"' in done.stdout, done.stderr
    assert str(secret) in sandbox["read"]


def test_a_class_without_rules_says_so(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path, "looks", [OWN], sandbox={"class": "none"})
    done = invoke("--file", str(manifest), "look_at_own")
    assert done.returncode == 0
    assert done.stderr == ("look_at_own: no path was traced\n"
                           "  nothing was traced: its sandbox restricts no files\n")


def test_a_tool_that_is_disabled_is_not_run(invoke, tmp_path):
    manifest = manifests.toolbox(tmp_path, "looks", [OWN])
    done = invoke("--file", str(manifest), "look_at_own",
                  env={"TOOLBOXD_TOOLS_DISABLED": "look_at_own"})
    assert done.returncode == 1 and "no path was traced" in done.stderr, done.stderr


@pytest.fixture
def waiting(tmp_path):
    """toolboxctl in a call that takes long, and all its processes: the service, the tracer, the host."""
    manifest = manifests.toolbox(tmp_path, "sleeps", [manifests.sleeper(timeout_ms=60000)])
    command = [str(TOOLBOXCTL), "invoke", "--trace-files", "--file", str(manifest), "sleep",
               "seconds=60"]
    with subprocess.Popen(command, env=environment(tmp_path), cwd=tmp_path,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        until(lambda: len(children(running.pid)) >= 3, EVENT_SECONDS, "the host to start")
        yield running, children(running.pid)
        running.kill()


def test_the_end_of_toolboxctl_ends_the_call(waiting):
    running, processes = waiting
    os.kill(running.pid, signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in processes), 20, "the processes of the call to end")


def test_its_bus_lets_nobody_else_in(waiting):
    _running, processes = waiting
    [port] = listening(processes[0])
    with pytest.raises(Closed, match="401"):
        Peer(f"ws://127.0.0.1:{port}/core")
