# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/ with commands to type: each is typed, and prints what the page says."""
import getpass
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import manifests
import pages
import pytest
from caller import Caller
from http_peer import Http, port_of
from mcp_endpoint import Endpoint
from processes import (EVENT_SECONDS, ROOT, TOOLBOXCTL, TOOLBOXD, environment, is_alive, until,
                       write_configuration)
from test_mcp_clients import INSTALLED, NODE, needs
from test_mcp_stdio import Server

# The programs of the tests come first, then the interpreter that has ovos-bus-client.
PATH = f"{TOOLBOXCTL.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"


def page(name, url):
    return (ROOT / "docs" / name).read_text().replace("8199", url.split(":")[2].split("/")[0])


def test_a_command_that_does_not_end_is_named(tmp_path):
    text = "<!-- tested: here -->\n```sh\necho first\n```\n```sh\necho begun; sleep 600 & echo $! >pid; wait\n```\n<!-- end -->"
    with pytest.raises(AssertionError, match="(?s)within 10 s; it waits in\necho begun; sleep 600.*has printed\nbegun\n"):
        pages.type_page(text, tmp_path, environment(tmp_path, PATH=PATH), 10)
    until(lambda: not is_alive(int((tmp_path / "pid").read_text())), EVENT_SECONDS, "its end")


@pytest.mark.parametrize("expected, printed, holds", [
    ("a\n…\nd\n", "a\nb\nc\nd\n", True),
    ("a\n…\nd\n", "a\nd\n", True),
    ("a …: x\n", "a b.c: x\n", True),
    ("a …: x\n", "a b.c: y\n", False),
    ("a\n", "a\nb\n", False),
])
def test_an_expected_output_may_leave_out_something(expected, printed, holds):
    assert pages.matches(expected, printed) == holds


def test_a_command_that_fails_is_seen(tmp_path):
    text = "<!-- tested: here -->\n```sh\ntrue\nfalse\ntoolboxctl nothing-like-it\n```\n<!-- end -->"
    _, failed = pages.type_page(text, tmp_path, environment(tmp_path, PATH=PATH))
    assert failed == "1: false\n2: command toolboxctl \"$@\"\n"


def test_agents(launch, tmp_path):
    service = launch()
    env = environment(tmp_path / "agent", PATH=PATH, TOOLBOXD_BUS=service.url)
    pages.expect_page(page("agents.md", service.url), tmp_path / "agent", env)


def test_http(launch, tmp_path):
    service = launch(args=["--http", "127.0.0.1:0"])
    text = (ROOT / "docs" / "http.md").read_text().replace("8090", str(port_of(service.daemon)))
    env = environment(tmp_path / "http", PATH=PATH)
    pages.expect_page(text, tmp_path / "http", env)


def block(name, language, text):
    """The one block of a page that has this text."""
    found, = [body for kind, body in re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "docs" / name).read_text(), re.M | re.S)
              if kind == language and text in body]
    return found


def type_block(text, env):
    return subprocess.run(["bash", "-ec", text], env=env, capture_output=True, text=True, timeout=EVENT_SECONDS)


def test_http_makes_tokens_and_certificates(launch):
    """The commands of a page that needs another device, and that its configuration is a good one."""
    service = launch({"profiles": {"kids": {"tool_names": ["add"]}}}, args=["--http", "127.0.0.1:0"])
    home = service.daemon.home
    env = environment(home, PATH=PATH, TOOLBOXD_BUS=service.url)
    done = type_block(block("http.md", "sh", "token new kitchen"), env)
    assert done.returncode == 0 and "kitchen" in done.stdout and "me" in done.stdout, done
    done = type_block(f"cd {home}; " + block("http.md", "sh", "openssl req"), env)
    assert done.returncode == 0, done.stderr
    configuration = json.loads(block("http.md", "json", "allowed_hosts").replace("/etc/toolboxd", str(home)))
    write_configuration(home, configuration)
    done = subprocess.run([TOOLBOXD, "--check"], env=env, capture_output=True, text=True, timeout=EVENT_SECONDS)
    assert done.returncode == 0 and "ERROR" not in done.stderr and "WARN" not in done.stderr, done.stderr
    (home / "key.pem").unlink()
    done = subprocess.run([TOOLBOXD, "--check"], env=env, capture_output=True, text=True, timeout=EVENT_SECONDS)
    assert "key.pem" in done.stderr


def test_http_over_a_unix_socket(launch, tmp_path):
    serve, ask = block("http.md", "sh", "--unix-socket").splitlines()
    env = environment(tmp_path / "http", PATH=PATH, XDG_RUNTIME_DIR=str(tmp_path))
    program, *flags = shlex.split(serve.replace("$XDG_RUNTIME_DIR", str(tmp_path)))
    assert program == "toolboxd"
    launch(args=flags)
    done = type_block(ask, env)
    assert "toolboxes" in json.loads(done.stdout), done


def test_agents_by_a_line_of_a_configuration(launch, tmp_path):
    """Each line for a program that starts a server of MCP starts one that lists our tools."""
    service = launch()
    server = json.loads(block("agents.md", "json", '"command"'))["mcpServers"]["toolboxd"]
    more = re.findall(r'`(?:"args": )?(\["mcp".*?\])`', (ROOT / "docs" / "agents.md").read_text(), re.S)
    assert server["command"] == "toolboxctl" and len(more) == 2
    for number, args in enumerate([server["args"], *map(json.loads, more)]):
        mcp, *args = [str(manifests.SHIPPED) if word == "/home/me/tools" else word for word in args]
        assert mcp == "mcp"
        (tmp_path / f"{number}").mkdir()
        with Server(tmp_path / f"{number}", *args, bus=None if "--standalone" in args else service.url) as one:
            names = {tool["name"] for tool in one.ask("tools/list")["result"]["tools"]}
            assert names & {"add", "math_tools__add"}, (args, names)


CLAUDE = sorted(INSTALLED.glob("@anthropic-ai/claude-code-*/claude"))


@pytest.mark.skipif(not CLAUDE, reason="@anthropic-ai/claude-code is not installed; tests/run --long installs it")
def test_agents_in_claude_code(launch, tmp_path):
    """Its list connects to each server. It is asked for nothing else, and has no account."""
    token = "0123456789abcdef"
    service = launch({"http": {"tokens": [{"name": "claude", "token_sha256": hashlib.sha256(token.encode()).hexdigest()}]}},
                     args=["--http", "127.0.0.1:0"])
    (tmp_path / "claude").mkdir()
    env = environment(tmp_path / "claude", PATH=f"{CLAUDE[0].parent}:{PATH}", TOOLBOXD_BUS=service.url, DISABLE_AUTOUPDATER="1",
                      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", HOME=str(tmp_path / "claude"))
    stdio, http = block("agents.md", "sh", "claude mcp add").replace("8090", str(port_of(service.daemon))).splitlines()
    flag, = re.findall(r"`(--header .*?)`", (ROOT / "docs" / "agents.md").read_text())
    done = type_block("\n".join([f"cd {tmp_path / 'claude'}", stdio, f"{http} {flag.replace('TOKEN', token)}", "claude mcp list"]), env)
    assert done.returncode == 0 and re.findall(r"^(\S+): .*Connected$", done.stdout, re.M) == ["toolboxd", "toolboxd-http"], done


def test_agents_by_a_url_of_a_configuration(launch):
    token = "0123456789abcdef"
    service = launch({"http": {"tokens": [{"name": "me", "token_sha256": hashlib.sha256(token.encode()).hexdigest()}]}},
                     args=["--http", "127.0.0.1:0"])
    server = json.loads(block("agents.md", "json", '"headers"'))["mcpServers"]["toolboxd"]
    path = server["url"].removeprefix("http://127.0.0.1:8090")
    with Http(port_of(service.daemon)) as http:
        for authorization, status in ((server["headers"]["Authorization"], 401), (f"Bearer {token}", 200)):
            assert http.post(path, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}}}, Authorization=authorization).status == status


NPX = """#!/bin/sh
[ "$1 $2" = "-y @modelcontextprotocol/server-filesystem" ] || exit 2
exec '{node}' '{package}/dist/index.js' "$3"
"""


@needs("@modelcontextprotocol/server-filesystem")
def test_mcp(launch, tmp_path):
    """The commands and manifests of docs/mcp.md, with the servers that they name: npx has its package here, and the
    url is that of a server of the tests."""
    programs, music, folder = tmp_path / "bin", tmp_path / "music", tmp_path / "toolbox.d"
    for one in (programs, music, folder):
        one.mkdir()
    (music / "song.txt").write_text("la la")
    (programs / "npx").write_text(NPX.format(node=NODE, package=INSTALLED / "@modelcontextprotocol/server-filesystem"))
    (programs / "npx").chmod(0o755)
    (tmp_path / "music.key").write_text("key\n")
    (tmp_path / "tools.token").write_text("token\n")
    (tmp_path / "proxy.password").write_text("word\n")
    endpoint = Endpoint(token="token")
    env = environment(tmp_path / "mcp", PATH=f"{programs}:{PATH}")

    def here(text):
        for there, place in {"/srv/music": str(music), "https://tools.example/mcp": endpoint.url,
                             "https://lights.example/mcp": endpoint.url, "/etc/toolboxd": str(tmp_path),
                             "https://tools.lan/mcp": "http://tools.lan/mcp",
                             "proxy.lan:3128": endpoint.url.split("/")[2]}.items():
            text = text.replace(there, place)
        return text

    try:
        (folder / "music.json").write_text(here(block("mcp.md", "json", '"exclude"')))
        (folder / "tools.json").write_text(here(block("mcp.md", "json", '"headers"')))
        lan = json.loads(here(block("mcp.md", "json", '"ca"')))
        (folder / "lan.json").write_text(json.dumps(
            {**lan, "mcp": {**lan["mcp"], "headers": {"Authorization": "Bearer token"}}}))
        service = launch({}, [folder], env={"PATH": env["PATH"], "PROXY_USER": "us"})
        env["TOOLBOXD_BUS"] = service.url
        new, *others = re.findall(r"^    (toolboxctl (?:new|list|status|check) ?.*?)(?:   .*)?$",
                                  (ROOT / "docs" / "mcp.md").read_text(), re.M)
        assert len(others) == 5
        with Caller(service.url) as caller:
            until(lambda: len(caller.call("ovos.tools.status")["toolboxes"]) == 3, EVENT_SECONDS, "the servers asked")
            risk = caller.call("ovos.tools.get", {"name": "read_file", "toolbox_id": "music"})["risk"]
            names = {tool["name"] for tool in caller.call("ovos.tools.list")["tools"]
                     if tool["toolbox_id"] == "music"}
        assert risk == "read" and "list_directory" in names and not names & {"write_file", "move_file"}
        cwd = f"cd {tmp_path / 'mcp'}; "
        printed = type_block(cwd + here(new), env)
        assert printed.returncode == 0 and "read_file" in printed.stdout, printed
        endpoint.token = None
        for line in others:
            printed = type_block(cwd + here(line).replace("FILE", "music/music.json"), env)
            assert printed.returncode == 0 and printed.stdout, (line, printed)
        made = json.loads((tmp_path / "mcp" / "music" / "music.json").read_text())
        assert made["mcp"]["command"][0] == "npx" and made["tools"]["read_file"] == {"risk": "read"}
    finally:
        endpoint.close()


# What a machine under test lacks: the journal, the manager of services, and the right to ask it.
STAND_INS = {
    "sudo": 'exec "$@"',
    "journalctl": """case "$1 $2" in "-u toolboxd") cat "$LOG" ;; *) exit 2 ;; esac""",
    "systemctl": """[ "$1" = --user ] && shift
        case "$*" in "status ovos-messagebus"|"status toolboxd"|"stop toolboxd"|"disable --now toolboxd") ;;
        *) exit 2 ;; esac""",
    "pidof": 'echo "$DAEMON"',
}


@pytest.fixture
def device(launch, tmp_path):
    """The device of docs/operating.md: its home, with all that the page names, and its environment."""
    home = tmp_path / "device"
    box = home / "toolbox.d" / "home"
    box.mkdir(parents=True)
    for name, text in {
            "remind.sh": "#!/bin/sh\n# description: Writes a line to a list.\n"
                         "# param text string What is to be done\n# risk: write\necho noted\n",
            "backup.sh": "#!/bin/sh\n# description: Copies the files.\n# risk: write\n"
                         "# timeout: 60\nsleep 50\n",
            "reboot.sh": "#!/bin/sh\n# description: Restarts the device.\n# risk: execute\necho no\n",
            "old.sh": "#!/bin/sh\r\necho\r\n"}.items():
        (box / name).write_text(text, newline="")
        (box / name).chmod(0o755)
    (home / "toolbox.d" / "weather.json").write_text(
        '{"kind": "native", "library": "libweather.so", "tools": []}')
    configuration = {"audit": {"file": str(home / "audit.log")}}
    write_configuration(home, {"toolboxd": configuration})
    service = launch(configuration, [manifests.SHIPPED, home / "toolbox.d"])
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in STAND_INS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    env = environment(home, PATH=f"{programs}:{PATH}", TOOLBOXD_BUS=service.url, LC_ALL="C",
                      LOG=str(service.daemon.log_path), DAEMON=str(service.daemon.pid))
    return service, home, env


def test_operating(device):
    service, home, env = device
    pages.expect_page(page("operating.md", service.url), home, env, 2 * pages.PAGE_SECONDS)


def test_command_in_one_minute(launch, tmp_path):
    """A drop-in is called in the line after the one that makes it."""
    home = tmp_path / "person"
    folder = home / ".local" / "share" / "toolboxd" / "toolbox.d"
    folder.mkdir(parents=True)
    service = launch({}, [folder])
    done = type_block(block("command.md", "sh", "remind.sh"),
                      environment(home, HOME=str(home), PATH=PATH, TOOLBOXD_BUS=service.url))
    assert (done.returncode, done.stderr) == (0, ""), done
    assert json.loads(done.stdout) == {"output": "noted"}
    assert (service.daemon.home / "todo.txt").read_text() == "3: buy milk\n"


def test_policy(launch, tmp_path):
    """What toolboxctl remembers for good."""
    for toolbox, tool in (("clock", "get_time"), ("shell", "exec"), ("web", "search")):
        manifests.toolbox(tmp_path / "toolbox.d", toolbox, [manifests.labs(tool, risk="execute")])
    service = launch({}, [tmp_path / "toolbox.d"])
    env = environment(tmp_path / "person", PATH=PATH, TOOLBOXD_BUS=service.url)
    pages.expect_page((ROOT / "docs" / "policy.md").read_text(), tmp_path / "person", env)
    with Caller(service.url) as caller:
        assert len(caller.call("ovos.tools.list")["tools"]) == 3


def test_policy_of_a_service_with_a_key(tmp_path):
    """The key that is a credential, and the person's copy."""
    home, etc = tmp_path / "person", tmp_path / "etc"
    programs = tmp_path / "bin"
    for path in home, etc, programs:
        path.mkdir()
    for name, text in {"sudo": 'exec "$@"', "systemctl": '[ "$*" = "edit toolboxd" ]'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    text = block("policy.md", "sh", "LoadCredential").replace("/etc/toolboxd", str(etc))
    done = type_block(text, {"HOME": str(home), "USER": getpass.getuser(), "PATH": f"{programs}:{PATH}"})
    assert (done.returncode, done.stderr) == (0, ""), done
    made, copy = etc / "approval.key", home / ".config" / "toolboxd" / "approval.key"
    assert made.read_text() == copy.read_text() and len(made.read_text()) == 65
    assert made.stat().st_mode & 0o777 == copy.stat().st_mode & 0o777 == 0o600


CONFIGURATIONS = re.findall(r"^```json\n(.*?)^```$", (ROOT / "docs" / "policy.md").read_text(), re.M | re.S)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_policy_has_good_configurations(tmp_path, configuration):
    home = tmp_path / "person"
    key = tmp_path / "approval.key"
    key.write_text("ab" * 32 + "\n")
    key.chmod(0o600)
    text = configuration.replace("/home/me/.config/toolboxd/approval.key", str(key))
    write_configuration(home, json.loads(text))
    done = subprocess.run([TOOLBOXD, "--check", "--toolbox-dir", manifests.SHIPPED], capture_output=True, text=True,
                          env=environment(home, PATH=PATH), timeout=EVENT_SECONDS)
    assert done.returncode == 0 and "; 0 errors" in done.stderr, done.stderr
    key_of = next(iter(json.loads(text)["toolboxd"]))
    assert key_of in json.loads(done.stdout)["toolboxd"], "the key counts"
