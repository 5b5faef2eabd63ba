# SPDX-License-Identifier: Apache-2.0
"""The units by systemd's own tools; nothing is started."""
import shutil
import subprocess

import pytest
from processes import BUILD, ROOT, environment

EXPOSURE_TENTHS_MAX = 15
ANALYZE = shutil.which("systemd-analyze")
UNITS = BUILD / "systemd"
PROGRAMS = ("toolboxd", "toolbox-agent")
BUSES = ("ovos-messagebus", "mycroft-messagebus")
ALL = [("system", "toolboxd"), ("system", "toolbox-agent"), ("user", "toolboxd"),
       ("user", "toolboxd-embedded"), ("user", "toolbox-agent")]
SOURCES = ROOT / "systemd"

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


def verify(folder, kind, name):
    """What `systemd-analyze verify` finds, where the units that this one wants are there, too."""
    for other_kind, other in ALL:
        if other_kind == kind:
            runnable(folder, UNITS / kind / f"{other}.service")
    for bus in BUSES:
        (folder / f"{bus}.service").write_text("[Service]\nExecStart=/bin/true\n")
    return analyze(folder, *(["--user"] if kind == "user" else []), "verify", "--man=no",
                   folder / f"{name}.service")


@pytest.mark.parametrize("kind, name", ALL)
def test_systemd_understands_every_line(tmp_path, kind, name):
    done = verify(tmp_path, kind, name)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize("name", ["home", "network", "jit"])
def test_systemd_understands_an_example_of_a_drop_in(tmp_path, name):
    folder = tmp_path / "toolboxd.service.d"
    folder.mkdir()
    shutil.copy(SOURCES / "drop-ins" / f"{name}.conf", folder)
    done = verify(tmp_path, "system", "toolboxd")
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize("kind, name", ALL)
def test_the_program_is_named_by_where_it_is_installed(kind, name):
    lines = (UNITS / kind / f"{name}.service").read_text().splitlines()
    program, = (line.split("=")[1].split()[0] for line in lines if line.startswith("ExecStart="))
    assert program.startswith("/") and program.endswith(f"/bin/{name.removesuffix('-embedded')}")


@pytest.mark.parametrize("kind, name", ALL)
def test_a_reason_stands_above_each_group_of_settings(kind, name):
    """No setting follows a blank line or the head of a section without a comment, but for what a unit is called."""
    plain = ("Description=", "Documentation=", "WantedBy=")
    above = ""
    for line in (UNITS / kind / f"{name}.service").read_text().splitlines():
        if "=" in line and not line.startswith(("#", *plain)):
            assert above and not above.startswith("["), line
        above = line


@pytest.mark.parametrize("kind, name", ALL)
def test_the_bus_of_either_world_comes_first(kind, name):
    lines = (UNITS / kind / f"{name}.service").read_text().splitlines()
    for key in ("Wants", "After"):
        units = " ".join(line.split("=", 1)[1] for line in lines if line.startswith(key + "=")).split()
        assert {f"{bus}.service" for bus in BUSES} <= set(units) or name == "toolboxd-embedded"


@pytest.mark.parametrize("kind, name", ALL)
def test_a_preset_leaves_every_unit_off(kind, name):
    lines = [line for preset in sorted((SOURCES / "preset").glob("80-*.preset"))
             for line in preset.read_text().splitlines()]
    assert f"disable {name}.service" in lines


def test_what_hosts_need_for_their_sandbox_is_allowed():
    """In systemd 252 these are in none of the groups of system calls."""
    text = (UNITS / "system" / "toolboxd.service").read_text()
    allowed = " ".join(line.split("=", 1)[1] for line in text.splitlines()
                       if line.startswith("SystemCallFilter=")).split()
    assert {"seccomp", "landlock_create_ruleset", "landlock_add_rule",
            "landlock_restrict_self", "setpriority"} <= set(allowed)
