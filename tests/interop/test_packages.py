# SPDX-License-Identifier: Apache-2.0
"""Packages: those that tests/run installs bring servers along (nginx, Caddy), which nobody wants to run; ours have a
version. tests/packages has the rest."""
import os
import re
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_SERVICES = ROOT / ".ci" / "without-services"

# What the script of a package does: it enables its server, and asks whether to start it.
INSTALL = """
mkdir -p "$DPKG_ROOT/etc/systemd/system/multi-user.target.wants"
ln -s /lib/systemd/system/server.service "$DPKG_ROOT/etc/systemd/system/multi-user.target.wants/"
"$DPKG_ROOT/usr/sbin/policy-rc.d" server start
echo $?
"""


@pytest.fixture
def system(tmp_path):
    """A root in which one service is enabled."""
    wants = tmp_path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    (wants / "old.service").symlink_to("/lib/systemd/system/old.service")
    units = tmp_path / "lib/systemd/system"
    units.mkdir(parents=True)
    for unit in ("old", "server"):
        (units / f"{unit}.service").write_text("[Install]\nWantedBy=multi-user.target\n")
    (tmp_path / "usr/sbin").mkdir(parents=True)
    return tmp_path


def start(system, script):
    return subprocess.Popen([WITHOUT_SERVICES, "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "DPKG_ROOT": str(system)})


def policy(system):
    return system / "usr/sbin/policy-rc.d"


def test_no_server_starts_while_packages_are_installed(system):
    with start(system, INSTALL) as install:
        assert install.stdout.read() == "101\n"
    assert install.returncode == 0
    assert not policy(system).exists()


def test_the_policy_of_the_system_is_back_afterwards(system):
    policy(system).write_text("#!/bin/sh\nexit 104\n")
    policy(system).chmod(0o755)
    with start(system, INSTALL + "exit 7") as install:
        assert install.stdout.read() == "101\n"
    assert install.returncode == 7
    assert subprocess.run([policy(system)], check=False).returncode == 104
    assert list(policy(system).parent.iterdir()) == [policy(system)]


def end(install, signals):
    """Send each process of a run the signal."""
    children = Path(f"/proc/{install.pid}/task/{install.pid}/children").read_text().split()
    for process in (install.pid, *map(int, children)):
        os.kill(process, signals)


def test_the_policy_is_gone_after_an_interruption(system):
    with start(system, "echo begun; exec sleep 600") as install:
        assert install.stdout.readline() == "begun\n"
        end(install, signal.SIGTERM)
    assert not policy(system).exists()


def test_the_policy_of_a_killed_run_refuses_nothing(system):
    with start(system, "echo begun; exec sleep 600") as install:
        assert install.stdout.readline() == "begun\n"
        assert subprocess.run([policy(system)], check=False).returncode == 101
        end(install, signal.SIGKILL)
    assert subprocess.run([policy(system)], check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("systemctl"), reason="there is no systemctl")
def test_no_server_starts_with_the_next_boot(system):
    with start(system, INSTALL) as install:
        install.stdout.read()
    wants = system / "etc/systemd/system/multi-user.target.wants"
    assert [link.name for link in wants.iterdir()] == ["old.service"]


def test_the_client_in_python_has_the_version_of_the_rest():
    version = re.search(r"\((.*)\)", (ROOT / "debian/changelog").read_text().splitlines()[0])[1]
    with (ROOT / "clients/python/pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == version
