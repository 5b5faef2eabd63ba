# SPDX-License-Identifier: Apache-2.0
"""toolboxctl new --kind mcp: the manifest of a server, with what the server says about its tools."""
import json
import os
import shutil
import subprocess
import sys

import pytest
from caller import Caller
from mcp_endpoint import Endpoint
from processes import EVENT_SECONDS, ROOT, toolboxctl, until, write_configuration

SERVER = ROOT / "tests" / "interop" / "mcp_server.py"
DONE, ERROR, USAGE = range(3)


@pytest.fixture
def new(tmp_path):
    """new(words…): toolboxctl new, run in a folder of its own."""
    home = tmp_path / "home"
    home.mkdir()

    def run(*words):
        return toolboxctl("new", *words, home=home)

    run.home = home
    return run


def manifest_of(new, id):
    return json.loads((new.home / id / f"{id}.json").read_text())


def test_it_has_the_risks_that_the_server_claims(new, launch, tmp_path):
    done = new("music", "--kind", "mcp", "--command", sys.executable, SERVER)
    assert done.returncode == DONE, done.stderr
    assert not done.stderr
    lines = [line.split(None, 2) for line in done.stdout.split("\n\n")[0].splitlines()]
    assert lines[0] == ["TOOL", "RISK", "DESCRIPTION"]
    assert ["add", "read", "Add two integers."] in lines
    assert ["die", "execute", "Die by a signal."] in lines
    assert "toolboxctl invoke --file music/music.json TOOL" in done.stdout
    manifest = manifest_of(new, "music")
    assert manifest["mcp"] == {"command": [sys.executable, str(SERVER)]}
    assert manifest["tools"]["add"] == {"risk": "read"}
    assert manifest["tools"]["breed"] == {"risk": "write"}
    # It is kept as the last lines have it.
    words = done.stdout[done.stdout.index("Try it, then keep it:"):].splitlines()
    subprocess.run(["sh", "-ec", "\n".join(line for line in words if line.startswith("  ") and " --file " not in line)],
                   cwd=new.home, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, check=True)
    (tmp_path / ".local/share/toolboxd/toolbox.d").rename(tmp_path / "toolbox.d")
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        # The server is asked for its tools after the service is ready.
        until(lambda: "code" not in caller.call("ovos.tools.get", {"name": "add"}), EVENT_SECONDS, "the tool offered")
        assert caller.invoke("add", {"a": 2, "b": 3})["result"]["structured"] == {"sum": 5}


def test_the_words_after_command_are_its_own(new):
    done = new("words", "--json", "--kind", "mcp", "--command", sys.executable, SERVER, "--legacy",
               "--json")
    assert done.returncode == ERROR and "unrecognized arguments: --json" not in done.stdout
    done = new("dashes", "--kind", "mcp", "--", sys.executable, SERVER, "--legacy")
    assert done.returncode == DONE and manifest_of(new, "dashes")["mcp"]["command"][-1] == "--legacy", done
    assert new("nothing", "--kind", "mcp", "--").returncode == USAGE
    done = new("words", "--json", "--kind", "mcp", "--command", sys.executable, SERVER, "--legacy")
    assert done.returncode == DONE, done.stderr
    found = json.loads(done.stdout)
    assert found["files"] == ["words/words.json"]
    assert {"name": "add", "risk": "read"} in found["tools"] and found["not_offered"] == []
    assert manifest_of(new, "words")["mcp"]["command"][-1] == "--legacy"


def test_relative_paths_begin_where_it_was_typed(new):
    shutil.copy(SERVER, new.home / "server.py")
    done = new("near", "--kind", "mcp", "--command", sys.executable, "server.py")
    assert done.returncode == DONE, done.stderr
    assert manifest_of(new, "near")["mcp"] == {
        "command": [sys.executable, "server.py"], "cwd": str(new.home)}
    assert toolboxctl("check", "near", home=new.home).returncode == DONE
    (new.home / "run").write_text(f"#!/bin/sh\nexec {sys.executable} {SERVER}\n")
    (new.home / "run").chmod(0o755)
    assert new("nearer", "--kind", "mcp", "--command", "./run").returncode == DONE
    assert manifest_of(new, "nearer")["mcp"] == {"command": [str(new.home / "run")]}
    assert toolboxctl("check", "nearer", home=new.home).returncode == DONE


def test_tools_that_are_left_out_are_listed(new, tmp_path):
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([
        {"name": "good", "description": "Good.", "inputSchema": {"type": "object"}},
        {"name": "bad", "description": "Bad.", "inputSchema": {"type": "string"}}]))
    done = new("some", "--kind", "mcp", "--command", sys.executable, SERVER, "--tools", tools)
    assert done.returncode == DONE, done.stderr
    assert "Not offered:\n  bad: " in done.stdout
    assert list(manifest_of(new, "some")["tools"]) == ["good"]


def test_people_read_descriptions_with_one_blank_between_words(new, launch, tmp_path):
    """Models get them as they are, but for their ends."""
    indented = "Read a  file.\n\n                         The path is\n                         absolute."
    tools, folder = tmp_path / "tools.json", tmp_path / "toolbox.d"
    tools.write_text(json.dumps([{"name": "look", "description": f"\n    {indented}\n   ", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string", "description": "Where\n\n    it  is"}}}}]))
    done = new("box", "--kind", "mcp", "--command", sys.executable, SERVER, "--tools", tools)
    assert done.returncode == DONE and "Read a file.\n" in done.stdout, done
    (new.home / "box").rename(folder)
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        until(lambda: "code" not in caller.call("ovos.tools.get", {"name": "look"}), EVENT_SECONDS, "the tool offered")
        assert caller.call("ovos.tools.get", {"name": "look"})["description"] == indented
    for words in (["list"], ["list", "--long"], ["get", "look"]):
        shown = toolboxctl(*words, "--bus", service.url, home=new.home).stdout
        assert "Read a file. The path is absolute.\n" in shown, shown
    assert "Where it is\n" in shown


def test_secrets_that_it_is_given_are_in_files_of_their_owner(new):
    """What is none, and what names a secret, is in the manifest."""
    done = new("keyed", "--kind", "mcp", "--env", "API_KEY=hush-hush", "--env", "LEVEL=debug", "--env", "DB=db://me:pw@host/",
               "--env", "OTHER=${env:HOME}", "--env", "HOME", "--env=ODD=0123456789abcdef", "--env", "NONE=",
               "--command", sys.executable, SERVER)
    assert done.returncode == DONE, done.stderr
    folder = new.home / "config" / "toolboxd" / "secrets"
    assert manifest_of(new, "keyed")["mcp"]["env"] == {
        "API_KEY": f"${{file:{folder}/keyed.API_KEY}}", "LEVEL": "debug", "DB": f"${{file:{folder}/keyed.DB}}",
        "OTHER": "${env:HOME}", "HOME": "${env:HOME}", "ODD": f"${{file:{folder}/keyed.ODD}}", "NONE": ""}
    assert (folder / "keyed.API_KEY").read_text() == "hush-hush"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600} and folder.stat().st_mode & 0o777 == 0o700
    assert str(folder) in done.stdout and "hush-hush" not in done.stdout + done.stderr
    shown = toolboxctl("invoke", "--file", "keyed/keyed.json", "environment", "name=API_KEY", home=new.home)
    assert shown.returncode == DONE and "***" in shown.stdout, shown
    # Another value is not written over one that a toolbox uses.
    shutil.rmtree(new.home / "keyed")
    done = new("keyed", "--kind", "mcp", "--env", "API_KEY=other-one", "--command", sys.executable, SERVER)
    assert done.returncode == ERROR and "is there already, with another value" in done.stderr
    assert (folder / "keyed.API_KEY").read_text() == "hush-hush" and not (new.home / "keyed").exists()


def test_headers_that_it_is_given_reach_the_server(new):
    endpoint = Endpoint()
    try:
        done = new("site", "--kind", "mcp", "--url", endpoint.url, "--header", "Authorization: Bearer hush-hush",
                   "--header", "X-Room: kitchen")
        assert done.returncode == DONE, done.stderr
        assert endpoint.headers_of("tools/list")[0]["Authorization"] == "Bearer hush-hush"
    finally:
        endpoint.close()
    file = new.home / "config" / "toolboxd" / "secrets" / "site.Authorization"
    assert manifest_of(new, "site")["mcp"]["headers"] == {"Authorization": f"${{file:{file}}}", "X-Room": "kitchen"}
    assert file.read_text() == "Bearer hush-hush"


def test_without_an_answer_no_secret_is_kept(new):
    done = new("gone", "--kind", "mcp", "--env", "API_KEY=hush-hush", "--command", "sh", "-c", "echo $API_KEY >&2; exit 3")
    assert done.returncode == ERROR and "hush-hush" not in done.stderr and "ends with: ***" in done.stderr
    assert not (new.home / "config" / "toolboxd" / "secrets").exists() and not (new.home / "gone").exists()


@pytest.mark.parametrize("words, text", [
    (["--command", "no-such-program"], "the server 'no-such-program' cannot be started: No such file"),
    (["--command", "npx -y foo"], "No such file or directory (write each word of a command separately)"),
    (["--command", "false"], "the server has exited with status 1 before it has listed its tools"),
    (["--command", "sh", "-c", "for i in 1 2 3; do echo \"no key $i\" >&2; done; exit 3"],
     "the server has exited with status 3 before it has listed its tools; its log ends with: no key 1 | no key 2 | no key 3\n"),
    (["--command", "sh", "-c", "printf '%0150d\\n' 1 2 3 4 5 >&2; exit 3"], f"; its log ends with: {4:0150d} | {5:0150d}\n"),
    (["--command", "sh", "-c", "printf '\\033]0;title\\007' >&2; exit 3"], "; its log ends with: "),
    # Without the time that it took: a reason that is the same is logged once.
    (["--url", "http://127.0.0.1:9/mcp"], "it cannot be reached: Failed to connect to 127.0.0.1 port 9: "),
    (["--url", "tools.example"], "toolboxctl: url must be a string"),
])
def test_without_an_answer_there_is_no_folder(new, words, text):
    done = new("gone", "--kind", "mcp", *words)
    assert done.returncode == ERROR and text in done.stderr, done.stderr
    assert "\033" not in done.stderr
    assert not (new.home / "gone").exists()


@pytest.mark.parametrize("words, text", [
    (["--kind", "mcp"], "needs one of --url URL and --command PROGRAM"),
    (["--kind", "mcp", "--url", "http://127.0.0.1:9/", "--command", "x"], "needs one of"),
    (["--kind", "native", "--url", "http://127.0.0.1:9/"], "are for --kind mcp, not native"),
    (["--kind", "mcp", "--command"], "--command needs a program"),
    (["--kind", "mcp", "--env", "A=1", "--url", "http://127.0.0.1:9/"], "--env is for --command, and --header for --url"),
    (["--kind", "mcp", "--header", "Key hush-hush", "--url", "http://127.0.0.1:9/"], "must be 'NAME: VALUE'"),
    (["--kind", "mcp", "--env", "=1", "--command", "x"], "must be NAME=VALUE, or NAME for a variable of toolboxd"),
    (["--kind", "native", "--env", "A=1"], "are for --kind mcp, not native"),
    (["--kind", "mcp", "--command=x"], "--command needs a program"),
])
def test_mistakes_of_its_command_line(new, words, text):
    done = new("gone", *words)
    assert done.returncode == USAGE and text in done.stderr
    assert not (new.home / "gone").exists()


def test_what_is_there_is_left_alone(new):
    (new.home / "old").mkdir()
    (new.home / "old" / "old.json").write_text("mine")
    done = new("old", "--kind", "mcp", "--command", sys.executable, SERVER)
    assert done.returncode == USAGE and "is there already" in done.stderr
    assert (new.home / "old" / "old.json").read_text() == "mine"


def test_a_closed_configuration_starts_no_server(new):
    """What it forbids is not known."""
    write_configuration(new.home, {"toolboxd": {"sandbox_max": "al"}})
    done = new("music", "--kind", "mcp", "--command", sys.executable, SERVER)
    assert (done.returncode, done.stdout) == (ERROR, "") and "sandbox_max" in done.stderr
    assert not (new.home / "starts").exists() and not (new.home / "music").exists()
