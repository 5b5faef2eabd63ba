# SPDX-License-Identifier: Apache-2.0
"""What systemd is told (sd_notify(3)): one datagram per state, to the socket named in the
environment."""
import json
import signal
import socket
import subprocess

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXD, environment, write_configuration


class Notices:
    """A notify socket, as systemd has one per service."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(EVENT_SECONDS)

    def wait_for(self, field):
        """The first notice with the field, as a dict."""
        while True:
            lines = self.socket.recv(4096).decode().splitlines()
            notice = dict(line.split("=", 1) for line in lines)
            if field in notice:
                return notice


@pytest.fixture(params=["path", "abstract"])
def told(request, tmp_path, launch):
    name = str(tmp_path / "notify") if request.param == "path" else f"@toolboxd-{tmp_path.name}"
    notices = Notices("\0" + name[1:] if name[0] == "@" else name)
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    service = launch({}, [folder], env={"NOTIFY_SOCKET": name})
    yield notices, service, folder
    notices.socket.close()


def test_ready_reloading_and_stopping(told):
    notices, service, folder = told
    assert notices.wait_for("READY")["READY"] == "1"
    service.daemon.reload_by_signal()
    reloading = notices.wait_for("RELOADING")
    assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0
    assert notices.wait_for("READY")["READY"] == "1"
    service.daemon.process.terminate()
    assert notices.wait_for("STOPPING")["STOPPING"] == "1"


def test_a_restart_asks_for_the_time_that_calls_have(told):
    notices, service, _ = told
    notices.wait_for("READY")
    service.daemon.process.send_signal(signal.SIGUSR2)
    assert int(notices.wait_for("EXTEND_TIMEOUT_USEC")["EXTEND_TIMEOUT_USEC"]) > 60_000_000
    assert notices.wait_for("STOPPING")["STOPPING"] == "1"
    assert service.daemon.process.wait(EVENT_SECONDS) == 0


def test_no_tool_sees_the_socket(told):
    _, service, _ = told
    with Caller(service.url) as caller:
        answer = caller.invoke("environment", {"name": "NOTIFY_SOCKET"})
        assert answer["result"] == {"result": None}


def test_the_watchdog_is_fed_in_time(tmp_path, launch):
    notices = Notices(str(tmp_path / "notify"))
    launch({}, env={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"})
    for _ in range(3):
        assert notices.wait_for("WATCHDOG")["WATCHDOG"] == "1"
    notices.socket.close()


def test_not_enabled_is_ready_and_over(tmp_path):
    notices = Notices(str(tmp_path / "notify"))
    configuration = tmp_path / "mycroft.conf"
    configuration.write_text(json.dumps({"toolboxd": {"enabled": False}}))
    env = environment(tmp_path / "home", NOTIFY_SOCKET=str(tmp_path / "notify"),
                      MYCROFT_SYSTEM_CONFIG=str(configuration))
    done = subprocess.run([TOOLBOXD], env=env, capture_output=True, text=True,
                          timeout=EVENT_SECONDS, check=False)
    assert done.returncode == 0 and "INFO  Not enabled: toolboxd.enabled is false" in done.stderr
    notice = notices.wait_for("READY")
    assert notice["READY"] == "1" and notice["STATUS"].startswith("Not enabled: toolboxd.enabled")
    done = subprocess.run([TOOLBOXD, "--check"], env=env, capture_output=True, text=True,
                          timeout=EVENT_SECONDS, check=False)
    assert done.returncode == 0 and "enabled: is false: the service would end" in done.stderr


def test_a_reload_that_is_not_enabled_stops(launch, tmp_path):
    service = launch({"drain_ms": 100})
    write_configuration(service.daemon.home, {"toolboxd": {"enabled": False}})
    assert service.daemon.process.wait(EVENT_SECONDS) == 0
    assert "Stopping (toolboxd.enabled is false)" in service.daemon.log()
