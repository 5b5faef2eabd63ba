# SPDX-License-Identifier: Apache-2.0
"""Environments of Python below build/, each with the packages that its list in this folder pins, made once per checkout.

    Site.of("ovos3")                              for a test: skipped with the registry's words where it cannot be had
    python3 tests/interop/sites.py ovos3 …        make them beforehand
"""
import fcntl
import subprocess
import sys
from pathlib import Path

INSTALL_SECONDS = 600


class Site:
    """A venv below build/ whose packages are those of a list in this folder."""

    def __init__(self, name):
        self.folder = Path(__file__).resolve().parents[2] / "build" / name
        self.list = Path(__file__).with_name(f"{name}.txt")

    @property
    def python(self):
        return self.program("python")

    def program(self, name):
        return self.folder / "bin" / name

    def make(self):
        """Install what is not there. Where the registry cannot be reached the reason is raised."""
        stamp, wanted = self.folder / "installed", self.list.read_text()
        self.folder.parent.mkdir(exist_ok=True)
        with open(f"{self.folder}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if stamp.exists() and stamp.read_text() == wanted:
                return self
            for command in (["/usr/bin/python3", "-m", "venv", "--clear", self.folder],
                            [self.program("pip"), "install", "-q", "--disable-pip-version-check",
                             "--no-deps", "-r", self.list]):
                done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
                if done.returncode:
                    raise OSError(done.stderr.strip().splitlines()[-1])
            stamp.write_text(wanted)
        return self

    @classmethod
    def of(cls, name):
        """The environment, or a skipped test with the registry's words."""
        try:
            return cls(name).make()
        except (OSError, subprocess.TimeoutExpired) as error:
            import pytest
            pytest.skip(f"{name} cannot be installed: {error}")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        Site(argument).make()
