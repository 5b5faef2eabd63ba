# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/ with commands to type: each is typed, and prints what the page says."""
import os
import sys
from pathlib import Path

import manifests
import pages
import pytest
from http_peer import port_of
from processes import ROOT, SLOWNESS, TOOLBOXCTL, environment, write_configuration

# The programs of the tests come first, then the interpreter that has ovos-bus-client.
PATH = f"{TOOLBOXCTL.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"


def page(name, url):
    return (ROOT / "docs" / name).read_text().replace("8199", url.split(":")[2].split("/")[0])


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
    _, failed = pages.type_page(text, tmp_path, environment(tmp_path, PATH=PATH), 20 * SLOWNESS)
    assert failed == "1: false\n2: command toolboxctl \"$@\"\n"


def test_agents(launch, tmp_path):
    service = launch()
    env = environment(tmp_path / "agent", PATH=PATH, TOOLBOXD_BUS=service.url)
    pages.expect_page(page("agents.md", service.url), tmp_path / "agent", env, 60 * SLOWNESS)


def test_http(launch, tmp_path):
    service = launch(args=["--http", "127.0.0.1:0"])
    text = (ROOT / "docs" / "http.md").read_text().replace("8090", str(port_of(service.daemon)))
    env = environment(tmp_path / "http", PATH=PATH)
    pages.expect_page(text, tmp_path / "http", env, 60 * SLOWNESS)


# What a machine under test lacks: the journal, the manager of services, and the right to ask it.
STAND_INS = {
    "sudo": 'exec "$@"',
    "journalctl": """case "$1 $2" in "-u toolboxd") cat "$LOG" ;; *) exit 2 ;; esac""",
    "systemctl": """[ "$1" = --user ] && shift
        case "$*" in "status toolboxd"|"stop toolboxd"|"disable --now toolboxd") ;;
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
    pages.expect_page(page("operating.md", service.url), home, env, 120 * SLOWNESS)
