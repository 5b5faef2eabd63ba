# SPDX-License-Identifier: Apache-2.0
"""The programs under test, as processes with a home of their own: buses, the daemon, its client.

TOOLBOXD_BUILD names the build folder (default build/dev). TOOLBOXD_WRAPPER, if set, is put before
the daemon's command line (valgrind …). A daemon's log is read when it has ended: what a sanitizer
said there, of the daemon or of a host, fails the test.
"""
import contextlib
import itertools
import json
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOOLBOXD_BUILD", ROOT / "build" / "dev")).resolve()
TOOLBOXD = BUILD / "service" / "toolboxd"
TOOLBOXCTL = BUILD / "service" / "toolboxctl"
if not TOOLBOXD.exists():
    how = {"dev": "tests/run build", "no-lto": "tests/run release"}.get(
        BUILD.name, f"cmake --preset {BUILD.name} && cmake --build --preset {BUILD.name}")
    sys.exit(f"no daemon at {TOOLBOXD}; build it: {how}")
IS_SANITIZED = b"__asan_init" in TOOLBOXD.read_bytes()
WRAPPER = shlex.split(os.environ.get("TOOLBOXD_WRAPPER", ""))
SLOWNESS = float(os.environ.get("TOOLBOXD_SLOWNESS", "1"))

# The limit of a wait for an event that the product promises, on a machine that others keep busy. It measures nothing.
EVENT_SECONDS = 180 * SLOWNESS
# The deadline of tools without one of their own, in the service that many tests share.
DEADLINE_MS = int(20000 * SLOWNESS)
# What every configuration here begins with: the defaults of the product, of a few seconds each, are for machines where
# no process has to wait for a processor.
PATIENT = {"timeout_ms": int(30000 * SLOWNESS), "start_timeout_ms": int(EVENT_SECONDS * 1000)}
# What toolboxctl waits for an answer, for the same reason: of itself five seconds.
CTL_SECONDS = int(30 * SLOWNESS)
HOST_END_SECONDS = 0.5
POLL_SECONDS = 0.02

# The clock of a process, in the words of linux/posix-timers.h: its id holds the process and this.
CPUCLOCK_SCHED = 2

# A machine may be busy: the time that something took fails a test only when it is this many times as
# late as its limit. With --long the limit itself holds.
PATIENCE = 20

FINDING = re.compile(r"ERROR: (Address|Leak|Undefined\w+)Sanitizer|runtime error:|"
                     r"SUMMARY: \w+Sanitizer")


def at_most(seconds):
    """The limit of a time that was measured: with --long the seconds, else PATIENCE times as much."""
    return seconds * SLOWNESS * Daemon.patience


def until(condition, seconds, what):
    """Wait for a condition that nobody announces; its value. Fails the test when time is up."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(POLL_SECONDS)


def is_alive(pid):
    """Whether it runs: a zombie that nobody has reaped yet does not."""
    stat = read_proc(pid, "stat")
    return bool(stat) and stat.rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")


def read_proc(pid, name):
    """A file of a process; empty when the process has ended, as each process may between the look and the reading,
    and when we may not read the file."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def everybody():
    """The pids of all processes of this machine."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    """Its children, and theirs."""
    found = [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]
    return found + [one for child in found for one in children(child)]


def children_of_threads(pid):
    """The children of all threads of a process, without theirs."""
    return [int(child) for thread in os.listdir(f"/proc/{pid}/task")
            for child in read_proc(pid, f"task/{thread}/children").split()]


def listening(pid):
    """The loopback ports that a process listens on."""
    sockets = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")
               if os.path.exists(f"/proc/{pid}/fd/{fd}")}
    with open(f"/proc/{pid}/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return [int(row[1].split(":")[1], 16) for row in rows
            if row[3] == "0A" and f"socket:[{row[9]}]" in sockets and row[1].startswith("0100007F")]


def cpu_ns(pid):
    """Time on a CPU so far, user and system, of all its threads, those that have ended too."""
    return time.clock_gettime_ns(~pid << 3 | CPUCLOCK_SCHED)


def asan_options(*more):
    """A member of an environment: the options of AddressSanitizer that stand there, and more."""
    return {"ASAN_OPTIONS": ":".join(filter(None, [os.environ.get("ASAN_OPTIONS", ""), *more]))}


def resident_kb(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"{pid} has no VmRSS")


def descriptors(pid):
    """How many it has open. Of toolboxd and its hosts only root sees them."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        pytest.skip("only root sees the descriptors of a process that hides its secrets")


def _ports():
    """Ports below those that the system gives out by itself, to outgoing connections and for port 0, in an order
    that no other worker has: between the look and the use of a port nobody else takes it."""
    first, many = 10240, 20000
    begin = random.Random(os.getpid()).randrange(many)
    for number in itertools.count(begin):
        yield first + number % many


PORTS = _ports()


def free_port():
    for port in PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def environment(home, **more):
    """Nothing of this machine's configuration, and nothing of its user. PATIENT is the lowest layer: files that a test
    writes win."""
    home.mkdir(parents=True, exist_ok=True)
    distribution = home / "distribution.conf"
    if not distribution.exists():
        distribution.write_text(json.dumps({"toolboxd": PATIENT}))
    kept = {key: value for key, value in os.environ.items()
            if key in ("PATH", "LANG", "TZ") or key.endswith("SAN_OPTIONS")}
    return {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"), "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_DIRS": str(home / "xdg"),
            "MYCROFT_SYSTEM_CONFIG": str(home / "system.conf"),
            "OVOS_DISTRIBUTION_CONFIG": str(distribution), **more}


def write_configuration(home, configuration):
    path = home / "config" / "mycroft" / "mycroft.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(configuration))


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of @size in a folder that is made where it is not there."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", folder], capture_output=True,
                          check=False)
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def install_programs(prefix):
    """The programs where another user can run them, with the modes of an installation; the build may be in root's own
    folder. The daemon's path."""
    subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", BUILD / "service" / "cmake_install.cmake"],
                   env={**os.environ, "DESTDIR": ""}, check=True, stdout=subprocess.DEVNULL)
    return prefix / "bin" / TOOLBOXD.name


def build_library(path, source, *flags):
    """Build a library from its text, and put it in its place by renaming. Its path."""
    fresh = path.with_name(f".{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-g", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *flags, "-o", fresh], input=source,
                   text=True, check=True)
    fresh.rename(path)
    return path


class Process:
    """Something that runs until it is ended; its output goes to a file."""

    def __init__(self, command, env, log, user=None):
        self.log_path = log
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        with open(log, "ab") as out:
            self.process = subprocess.Popen([str(part) for part in command], env=env,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            cwd=env["HOME"], **identity)

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return self.log_path.read_text(errors="replace")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Ask it to end; its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(EVENT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still there {EVENT_SECONDS} s after SIGTERM:\n{self.log()}")


class OvosBus(Process):
    """The real ovos-messagebus."""

    def __init__(self, home, port=None):
        self.home = home
        self.port = port or free_port()
        self.url = f"ws://127.0.0.1:{self.port}/core"
        env = environment(home)
        # The file watcher of its configuration and its log file are not what is tested.
        write_configuration(home, {"websocket": {
            "host": "127.0.0.1", "port": self.port, "route": "/core", "ssl": False,
            "max_msg_size": 25}, "log_level": "ERROR", "logs": {"path": "stdout"}})
        program = Path(sys.executable).parent / "ovos-messagebus"
        super().__init__([program], env, home / "bus.log")
        until(lambda: listens(self.port), EVENT_SECONDS, "ovos-messagebus listening")


class Daemon(Process):
    """A toolboxd: a client of the bus at `bus`, or, without one, a bus itself."""

    patience = PATIENCE

    def __init__(self, home, toolbox_dirs, bus=None, configuration=None, args=(), port=0, env=None,
                 expect_start=True, user=None):
        self.home = home
        self.toolbox_dirs = list(toolbox_dirs)
        self.has_ended = False
        full_env = environment(home, **(env or {}))
        if configuration is not None:
            write_configuration(home, {"toolboxd": configuration})
        program = TOOLBOXD if user is None else install_programs(home / "programs")
        command = [*WRAPPER, program, *args]
        for folder in self.toolbox_dirs:
            command += ["--toolbox-dir", folder]
        if bus:
            command += ["--bus", bus]
        else:
            command += ["--embedded-bus", "--bus", f"ws://127.0.0.1:{port}/core"]
        super().__init__(command, full_env, home / "toolboxd.log", user)
        self.url = bus
        if expect_start and not bus:
            self.url = until(self._logged_url, EVENT_SECONDS, "the address in the log")

    def _logged_url(self):
        assert self.process.poll() is None, f"toolboxd ended early:\n{self.log()}"
        found = re.search(r"ws://127\.0\.0\.1:[1-9]\d*/core", self.log())
        return found and found[0]

    def hosts(self):
        """Pids of its children that run: toolbox hosts."""
        return list(filter(is_alive, children_of_threads(self.daemon_pid())))

    def only_host(self):
        """The one that is left when those that described tools have ended, too: on a busy machine they take a while."""
        return until(lambda: (found := self.hosts()) and len(found) == 1 and found, EVENT_SECONDS, "one host")[0]

    def daemon_pid(self):
        """Under a wrapper that forks this would be its child; valgrind execs in place."""
        return self.process.pid

    def reload_by_signal(self):
        os.kill(self.daemon_pid(), signal.SIGHUP)

    def end(self):
        """End it and look for what it must not leave: a status, a finding, a child."""
        if self.has_ended:
            return
        self.has_ended = True
        hosts = self.hosts() if self.process.poll() is None else []
        status = super().end()
        assert status == 0, f"exit status {status}:\n{self.log()}"
        self.check_log()
        until(lambda: not any(map(is_alive, hosts)), at_most(HOST_END_SECONDS),
              f"the hosts {hosts} gone")

    def check_log(self):
        found = FINDING.search(self.log())
        assert not found, f"a sanitizer spoke:\n{self.log()}"


def ctl_command(*args, bus=None, seconds=CTL_SECONDS):
    """The command line of toolboxctl. It waits for an answer for so long, unless the arguments have another time."""
    command = [TOOLBOXCTL, *args, *(["--bus", bus] if bus else [])]
    if args[:1] != ("complete",) and {"--bus", "--http"} & set(command) and "--timeout" not in command:
        command += ["--timeout", seconds]
    return [str(part) for part in command]


def toolboxctl(*args, bus=None, home, stdin=None, seconds=EVENT_SECONDS, env=None):
    """Run toolboxctl; the finished process with stdout and stderr as text."""
    done = subprocess.run(ctl_command(*args, bus=bus), env=environment(home, **(env or {})),
                          input=stdin or "", capture_output=True, text=True,
                          timeout=seconds, cwd=home)
    assert not FINDING.search(done.stderr), f"a sanitizer spoke:\n{done.stderr}"
    return done
