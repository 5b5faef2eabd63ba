# SPDX-License-Identifier: Apache-2.0
"""The suite runs over two buses: the real ovos-messagebus, and toolboxd's own.

    ovos-messagebus ◀──▶ toolboxd          service[ovos-messagebus]
            ▲
            └── callers

    toolboxd --embedded-bus ◀── callers    service[embedded]

`service` is a daemon that many tests share; `launch` starts one with a home and a configuration of
its own and ends it after the test, looking for what it must not leave.
"""
from pathlib import Path
from urllib.parse import urlsplit

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import DEADLINE_MS, EVENT_SECONDS, SLOWNESS, Daemon, OvosBus, listens, until
from websocket_peer import Closed
from xdist.scheduler import LoadScopeScheduling

NAME_MAX = 500        # characters of the name of a test
ID_MAX = 150          # characters of a parameter in such a name
LOST_SECONDS = 5 * SLOWNESS  # a request of which nothing came so long is taken for lost
BUSES = ("ovos-messagebus", "embedded")

# The files that take longest. They come first, so that no process works alone at the end of a run.
LONGEST = ("test_ovos_core", "test_mcp_servers", "test_python", "test_mcp_peers", "test_mcp_urls", "test_personas",
           "test_short_memory", "test_python_bus", "test_mcp_pins", "test_fairness", "test_reconnect", "test_reload",
           "test_endurance", "test_load", "test_client_python", "test_toolbox_files", "test_commands", "test_toolboxctl",
           "test_jobs", "test_ctl_http", "test_tables", "test_voice", "test_rivals", "test_guests", "test_approval",
           "test_bus_ask", "test_pages", "test_mcp_clients", "test_mcp_stdio", "test_listen", "test_plugins",
           "test_bus_tools", "test_new", "test_guest_clients", "test_mcp_conformance", "test_mcp_client_scenarios",
           "test_mcp_lists", "test_http_hostile", "test_agent", "test_python_host", "test_agentic", "test_invoke")


def rank(file):
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


class LongestFirst(LoadScopeScheduling):
    """A file for each process, by rank. xdist itself begins with the files that have the most tests."""

    def _assign_work_unit(self, node):
        first = min(self.workqueue, key=lambda scope: rank(Path(scope.split("::")[0]).stem))
        self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return LongestFirst(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="what takes minutes, in full")


def pytest_configure(config):
    if config.getoption("--long"):
        Daemon.patience = 1


def pytest_make_parametrize_id(val):
    """A long value is no name: each process of xdist sends all names, and compares them."""
    if isinstance(val, (str, bytes)) and len(val) > ID_MAX:
        return f"{val[:ID_MAX // 4]!r}-of-{len(val)}"
    return None


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: rank(item.path.stem))
    long = [item.nodeid[:100] for item in items if len(item.nodeid) > NAME_MAX]
    assert not long, f"give the parameters of these tests an id: {long}"


def pytest_terminal_summary(terminalreporter):
    """What tests have measured, whether they passed or not."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call" and report.user_properties:
                terminalreporter.write_line(f"{report.nodeid.split('::')[-1]}: " + ", ".join(
                    f"{name} {value}" for name, value in report.user_properties))


@pytest.fixture
def figure(record_property):
    """figure(name, value): a figure that the test prints in the end."""
    def note(name, value):
        record_property(name, round(value, 3) if isinstance(value, float) else value)
    return note


@pytest.fixture
def times(request):
    """times(short, long): how often or how long, by --long."""
    is_long = request.config.getoption("--long")
    return lambda short, long: long if is_long else short


class Service:
    """A daemon and the bus it sits on."""

    def __init__(self, kind, home, toolbox_dirs, bus_url=None, **options):
        self.kind = kind
        self.bus = OvosBus(home / "bus") if kind == "ovos-messagebus" else None
        bus_url = self.bus.url if self.bus else bus_url
        self.home, self.toolbox_dirs, self.options = home / "toolboxd", toolbox_dirs, options
        self.daemon = Daemon(self.home, toolbox_dirs, bus_url, **options)
        self.url = self.daemon.url
        self.sponge = None

    def wait_until_ready(self):
        """A bus broadcasts to who is there: a request before the daemon's arrival is lost."""
        def is_ready():
            assert self.daemon.process.poll() is None, f"it has ended:\n{self.daemon.log()}"
            try:
                return caller.call("mycroft.toolboxd.is_ready", seconds=0.3)["status"]
            except TimeoutError:
                return False

        with Caller(self.url) as caller:
            until(is_ready, EVENT_SECONDS, "the service ready")

    def start_again(self):
        """Another daemon in the place of the one that has ended: the same files, the same address."""
        assert self.daemon.has_ended
        bus_url, port = (self.bus.url, 0) if self.bus else (None, urlsplit(self.url).port)
        self.daemon = Daemon(self.home, self.toolbox_dirs, bus_url, **{**self.options, "port": port})
        until(lambda: self.bus or listens(port), EVENT_SECONDS, "the bus open")
        self.wait_until_ready()

    def forget_who_left(self):
        """When a client of ovos-messagebus closes, the next message may fail in the middle of the
        bus's broadcast, and cost its sender the connection. A caller of our own takes that on
        itself, until it was answered twice in a row: then the bus has forgotten who left, and the
        daemon is there."""
        if not self.bus:
            return
        answered = 0
        while answered < 2:
            try:
                self.sponge = self.sponge or Caller(self.url)
                self.sponge.settle(LOST_SECONDS)
                answered += 1
            except TimeoutError:
                answered = 0
            except (Closed, OSError):
                self.sponge, answered = None, 0

    def __enter__(self):
        try:
            self.wait_until_ready()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        try:
            self.daemon.end()
        finally:
            if self.bus:
                self.bus.kill()


@pytest.fixture(scope="session", params=BUSES)
def service(request, tmp_path_factory):
    home = tmp_path_factory.mktemp(request.param)
    folder = home / "toolbox.d"
    manifests.misbehave(folder)
    manifests.answers(folder)
    manifests.twins(folder)
    started = Service(request.param, home, [manifests.SHIPPED, folder],
                      configuration={"crash_limit": 0, "timeout_ms": DEADLINE_MS,
                                     "start_timeout_ms": int(EVENT_SECONDS * 1000)})
    with started:
        yield started


@pytest.fixture
def caller(service):
    service.forget_who_left()
    with Caller(service.url) as caller:
        yield caller


@pytest.fixture
def port(started):
    """The port of HTTP of the file's own service."""
    return port_of(started.daemon)


@pytest.fixture
def http(port):
    with Http(port) as http:
        yield http


@pytest.fixture
def gate(tmp_path):
    """A file that is not there yet, for whose coming a tool waits."""
    return tmp_path / "gate"


@pytest.fixture
def launch(tmp_path):
    """launch(configuration, toolbox_dirs, …): a daemon of its own, as its own bus unless `kind` or
    `bus_url` names another (with a `bus_url` nobody waits until it is ready)."""
    started = []

    def start(configuration=None, toolbox_dirs=None, kind="embedded", bus_url=None, wait=True,
              **options):
        home = tmp_path / f"home-{len(started)}"
        if toolbox_dirs is None:
            toolbox_dirs = [manifests.SHIPPED]
        one = Service(kind, home, toolbox_dirs, bus_url, configuration=configuration, **options)
        started.append(one)
        if wait and bus_url is None:
            one.wait_until_ready()
        return one

    yield start
    errors = []
    for one in started:
        try:
            one.end()
        except AssertionError as error:
            errors.append(str(error))
    assert not errors, "\n".join(errors)
