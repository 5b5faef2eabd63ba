# SPDX-License-Identifier: Apache-2.0
"""The units by systemd's own tools; nothing is started."""
import shutil
import subprocess

import pytest
from processes import BUILD, environment

EXPOSURE_TENTHS_MAX = 15
ANALYZE = shutil.which("systemd-analyze")
UNITS = BUILD / "systemd"
PROGRAMS = ("toolboxd", "toolbox-agent")

pytestmark = pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")


def analyze(home, *args):
    return subprocess.run([ANALYZE, *map(str, args)], capture_output=True, text=True, timeout=60,
                          env=environment(home, XDG_RUNTIME_DIR=str(home)))


def runnable(folder, unit):
    """The unit with a program that is there, before anything was installed."""
    path = folder / unit.name
    path.write_text("".join(
        "ExecStart=/bin/true\n" if line.startswith("ExecStart=") else line
        for line in unit.read_text().splitlines(keepends=True)))
    return path


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_unit_of_the_system_exposes_little(tmp_path, program):
    done = analyze(tmp_path, "security", "--offline=true", f"--threshold={EXPOSURE_TENTHS_MAX}",
                   UNITS / "system" / f"{program}.service")
    assert done.returncode == 0, done.stdout[-500:] + done.stderr


@pytest.mark.parametrize("kind", ["system", "user"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_systemd_understands_every_line(tmp_path, kind, program):
    # The unit that another one wants has to be there, too.
    for wanted in PROGRAMS:
        runnable(tmp_path, UNITS / kind / f"{wanted}.service")
    unit = tmp_path / f"{program}.service"
    done = analyze(tmp_path, *(["--user"] if kind == "user" else []), "verify", unit)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize("kind", ["system", "user"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_is_named_by_where_it_is_installed(kind, name):
    lines = (UNITS / kind / f"{name}.service").read_text().splitlines()
    program, = (line.split("=")[1] for line in lines if line.startswith("ExecStart="))
    assert program.startswith("/") and program.endswith(f"/bin/{name}")


def test_what_hosts_need_for_their_sandbox_is_allowed():
    """In systemd 252 these are in none of the groups of system calls."""
    text = (UNITS / "system" / "toolboxd.service").read_text()
    allowed = " ".join(line.split("=", 1)[1] for line in text.splitlines()
                       if line.startswith("SystemCallFilter=")).split()
    assert {"seccomp", "landlock_create_ruleset", "landlock_add_rule",
            "landlock_restrict_self", "setpriority"} <= set(allowed)
