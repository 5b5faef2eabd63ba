# SPDX-License-Identifier: Apache-2.0
"""No control character of a stranger's text reaches a terminal, whatever prints it."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXCTL, TOOLBOXD, ctl_command, environment, toolboxctl

# The title of the window, a colour in C1, the other direction of writing, and a line of its own.
ORDERS = "\x1b]0;owned\x07 \x9b31m \u202e \u2066 \u2028 \nerror forged"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# What a terminal is sent for its own sake: the end of a line, and bold or red text of ours.
OURS = re.compile(r"\r\n|\x1b\[(0|1|31)m")


def expect_harmless(text):
    assert not OBEYED.search(text), repr(text)
    assert not any(line.startswith("error forged") for line in text.splitlines()), text


def on_terminal(command, home, seconds=EVENT_SECONDS, columns=0):
    """What the command sends to a terminal that its stdout and stderr are."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(part) for part in command], env=environment(home), cwd=home,
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = b""
    try:
        while chunk := os.read(ours, 65536):
            sent += chunk
    except OSError:
        pass                    # the other end is closed
    os.close(ours)
    process.wait(seconds)
    return sent.decode()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / f"name {ORDERS}.json").write_text("{")
    (folder / "id.json").write_text(json.dumps({"toolbox_id": ORDERS, "kind": "native"}))
    (folder / "key.json").write_text(json.dumps({ORDERS: 1}))
    return folder


def test_the_checks_of_manifests(folder, tmp_path):
    files = sorted(folder.iterdir())
    for done in (
            subprocess.run([TOOLBOXD, "--check", "--toolbox-dir", folder], text=True,
                           env=environment(tmp_path), capture_output=True),
            toolboxctl("check", *files, home=tmp_path)):
        assert done.returncode == 1
        assert "\\u001b]0;owned\\u0007 \\u009b31m \\u202e" in done.stderr, done.stderr
        expect_harmless(done.stdout + done.stderr)
    for command in ([TOOLBOXD, "--check", "--toolbox-dir", folder],
                    [TOOLBOXCTL, "check", *files], [TOOLBOXCTL, "check", "--json", *files]):
        sent = on_terminal(command, tmp_path)
        assert "owned" in sent
        expect_harmless(OURS.sub("\n", sent))


def test_the_merged_configuration_is_indented(tmp_path):
    (tmp_path / "distribution.conf").write_text("{}")
    sent = on_terminal([TOOLBOXD, "--check", "--toolbox-dir", manifests.SHIPPED], tmp_path)
    assert '{\r\n  "toolboxd": {\r\n    "toolbox_dirs": [\r\n' in sent


@pytest.mark.parametrize("columns", [40, 80])
def test_the_checks_of_the_daemon_fit_its_terminal(tmp_path, columns):
    """Each line is broken between words."""
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "bad.json").write_text(json.dumps({"kind": "nativ", "tools": [{"descripton": "–", "risk": "é"}]}))
    command = [TOOLBOXD, "--check", "--toolbox-dir", folder]
    told, configuration = on_terminal(command, tmp_path, columns=columns).replace("\r\n", "\n").split("\n{", 1)
    plain = on_terminal(command, tmp_path).replace("\r\n", "\n").split("\n{", 1)[0]
    lines = told.split("\n")
    assert max(map(len, lines)) <= columns and len(lines) > len(plain.split("\n")), told
    words = [word for word in told.split() if not any(word in path for path in plain.split() if "/" in path)]
    assert set(words) <= set(plain.split()), told


def test_what_a_toolbox_tells(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    value = {**manifests.integer("value"), "description": ORDERS}
    manifests.toolbox(folder, "misled", [{**manifests.tool("misled", "labs", [value]),
                                          "description": ORDERS}])
    (folder / "id.json").write_text(json.dumps({"toolbox_id": ORDERS, "kind": "native"}))
    service = launch({}, [folder, manifests.SHIPPED])
    home = service.daemon.home
    for words in (["list"], ["list", "--why"], ["get", "misled"], ["status"], ["reload"],
                  ["invoke", ORDERS], ["invoke", "add", f"a={ORDERS}"], ["match", ORDERS],
                  ["list", "--format", "mcp"]):
        for more in ([], ["--json"]):
            sent = on_terminal(ctl_command(*words, *more, bus=service.url), home)
            expect_harmless(OURS.sub("\n", sent))
    plain = toolboxctl("get", "misled", "--json", bus=service.url, home=home).stdout
    sent = on_terminal(ctl_command("get", "misled", "--json", bus=service.url), home)
    assert json.loads(plain) == json.loads(sent) and "\u202e" in plain
    with Caller(service.url) as caller:
        caller.send("ovos.tools.invoke", {"name": ORDERS})
        caller.settle()
    expect_harmless(service.daemon.log())


def test_a_listing_as_text(launch, folder, tmp_path):
    manifests.toolbox(folder, "orders", [manifests.labs(description=ORDERS)])
    service = launch({}, [folder])
    for more in ["--format", "markdown"], ["--stat"], ["--format", "markdown", "--stat"]:
        sent = on_terminal(ctl_command("list", *more, bus=service.url), tmp_path / "looks")
        assert "orders" in sent, sent
        expect_harmless(OURS.sub("\n", sent))


def test_what_is_remembered(launch, folder, tmp_path):
    manifests.toolbox(folder, "orders", [manifests.labs("plain")])
    service = launch({}, [folder])
    sent = on_terminal(ctl_command("disable", "orders/plain", bus=service.url),
                       tmp_path / "looks")
    assert "orders/plain is disabled" in sent
    sent = on_terminal(ctl_command("profile", "set", "a", "plain", bus=service.url),
                       tmp_path / "looks")
    sent = on_terminal(ctl_command("profile", "show", "a", bus=service.url),
                       tmp_path / "looks")
    assert "names plain" in sent and "gives 0 tools now" in sent
    expect_harmless(OURS.sub("\n", sent))


@pytest.mark.parametrize("args", [["--a\x1b]0;title\x07"], ["a\x1b[31m"], ["--bus"],
                                  ["--log-level", "\x1b[31m"]])
@pytest.mark.parametrize("program", [TOOLBOXD, TOOLBOXCTL])
def test_a_mistake_in_the_command_line(program, args, tmp_path):
    done = subprocess.run([program, *args], text=True, capture_output=True,
                          env=environment(tmp_path))
    assert done.returncode == 2 and done.stderr
    expect_harmless(done.stderr)
