# SPDX-License-Identifier: Apache-2.0
"""A bus of others that is reached by TLS (websocket.ssl, wss://)."""
import contextlib
import json
import os
import select
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from fake_bus import FakeBus
from processes import EVENT_SECONDS, Process, environment, install_programs, until, write_configuration
from test_http_tls import certificate
from test_reconnect import ask, daemon, fake_bus  # noqa: F401  (fixtures)
from websocket_peer import Peer

VALIDATE = "ovos.tools.validate"  # answered at once
COUNT, PADDING = 300, "x" * 50000


class TlsBus(FakeBus):
    def __init__(self, files):
        super().__init__()
        self.url = f"wss://localhost:{self.port}/core"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(files["cert"], files["key"])

    def wait_for_client(self, seconds=EVENT_SECONDS):
        encrypted = self.context.wrap_socket(self.wait_for_connection(seconds), server_side=True)
        peer = Peer.accept(encrypted)
        self.clients.append(peer)
        return peer


@pytest.fixture
def bus(tmp_path, daemon):  # noqa: F811
    files = certificate(tmp_path, "bus")
    bus = TlsBus(files)
    daemon(bus.url, env={"SSL_CERT_FILE": files["cert"]})
    yield bus
    bus.close()


def test_it_is_served_like_any(bus):
    assert ask(bus.wait_for_client(), 6) == 7


def libraries_of_tls(service):
    maps = Path(f"/proc/{service.daemon_pid()}/maps").read_text()
    return {name for name in ("libcrypto.so", "libssl.so", "toolboxd-tls.so") if f"/{name}" in maps}


def test_the_libraries_of_tls_are_loaded_when_it_is_used(tmp_path, daemon, fake_bus):  # noqa: F811
    plain = daemon(fake_bus.url)
    assert ask(fake_bus.wait_for_client(), 6) == 7
    assert libraries_of_tls(plain) == set()
    files = certificate(tmp_path, "bus")
    bus = TlsBus(files)
    with contextlib.closing(bus):
        service = daemon(bus.url, env={"SSL_CERT_FILE": files["cert"]})
        assert ask(bus.wait_for_client(), 6) == 7
        assert libraries_of_tls(service) == {"libcrypto.so", "libssl.so", "toolboxd-tls.so"}


def remove_module(module):
    module.unlink()


def replace_module(module):
    """By the one of another version: programs are replaced while they run, and load it later."""
    module.unlink()
    subprocess.run(["cc", "-shared", "-o", module, "-x", "c", "-"], input='const char *const toolboxd_tls[] = {"0.0.9"};',
                   text=True, check=True)


@pytest.mark.parametrize("change, reason", [
    (remove_module, "toolboxd-tls.so, which has TLS: No such file or directory; install toolboxd and OpenSSL 3 again"),
    (replace_module, "toolboxd-tls.so, which has TLS, is of version 0.0.9, this program of ")])
def test_without_the_module_of_tls_there_is_no_connection(tmp_path, fake_bus, change, reason):  # noqa: F811
    """Nothing is sent, by TLS or without; and HTTPS is not served."""
    program = install_programs(tmp_path / "programs")
    change(tmp_path / "programs" / "libexec" / "toolboxd-tls.so")
    env = environment(tmp_path, SSL_CERT_FILE="/dev/null")
    url = f"wss://localhost:{fake_bus.port}/core"
    service = Process([program, "--bus", url], env, tmp_path / "log")
    try:
        until(lambda: f"cannot reach {url}: " in service.log(), EVENT_SECONDS, "the reason in the log")
        assert reason in service.log()
        assert not select.select([fake_bus.socket], [], [], 0)[0]
        done = subprocess.run([program.with_name("toolboxctl"), "list", "--bus", url], env=env, capture_output=True,
                              text=True)
        assert done.returncode != 0 and reason in done.stderr
    finally:
        assert service.end() == 0
    write_configuration(tmp_path, {"toolboxd": {"http": {"tls": certificate(tmp_path, "http")}}})
    done = subprocess.run([program, "--check"], env=env, capture_output=True, text=True)
    assert done.returncode != 0 and reason in done.stderr


def test_a_bus_that_does_not_read_is_read_on(bus):
    """It may be one that waits for us before it reads."""
    peer = bus.wait_for_client()
    # Before its first catalogue the service keeps requests, but not so many of one sender.
    assert ask(peer, 6) == 7
    for number in range(COUNT):
        peer.send(json.dumps({"type": VALIDATE, "context": {"n": number, "padding": PADDING},
                              "data": {"name": "add", "args": {"a": number, "b": 1}}}))
    seen = set()
    while len(seen) < COUNT:
        message = json.loads(peer.receive(EVENT_SECONDS))
        if message["type"] == VALIDATE + ".response":
            number = message["context"]["n"]
            assert number not in seen and message["context"]["padding"] == PADDING
            assert message["data"]["valid"]
            seen.add(number)


def signed(folder, names="DNS:localhost", days="2"):
    """A certificate for the names, signed by an authority of its own, whose file is "ca"."""
    folder.mkdir()
    ca = certificate(folder, "ca")
    files = {"ca": ca["cert"], "cert": str(folder / "bus.pem"), "key": str(folder / "bus.key")}
    extensions = folder / "extensions"
    extensions.write_text(f"subjectAltName={names}\n")
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=bus", "-keyout", files["key"], "-out", folder / "bus.csr"],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "x509", "-req", "-in", folder / "bus.csr", "-CA", ca["cert"], "-CAkey", ca["key"],
                    "-extfile", extensions, "-days", days, "-out", files["cert"]], check=True, capture_output=True)
    return files


@pytest.fixture
def wary(tmp_path, daemon):  # noqa: F811
    """wary(names, days, trusted): a bus whose certificate is so, and a daemon that trusts its authority, or not."""
    buses = []

    def start(trusted=True, **options):
        files = signed(tmp_path / "signed", **options)
        buses.append(TlsBus(files))
        return buses[0], daemon(buses[0].url, env={"SSL_CERT_FILE": files["ca"] if trusted else "/dev/null",
                                                   "SSL_CERT_DIR": "/nonexistent"})

    yield start
    for bus in buses:
        bus.close()


def test_a_certificate_that_an_authority_of_the_system_signed_is_good(wary):
    bus, _ = wary()
    assert ask(bus.wait_for_client(), 6) == 7


@pytest.mark.parametrize("options, reason", [
    ({"names": "DNS:elsewhere.example"}, "its certificate is not trusted: hostname mismatch"),
    ({"days": "-1"}, "its certificate is not trusted: certificate has expired"),
    ({"trusted": False}, "its certificate is not trusted: unable to get local issuer certificate"),
], ids=["name", "expired", "issuer"])
def test_a_bus_without_a_good_certificate_gets_nothing_of_us(wary, options, reason):
    bus, service = wary(**options)
    encrypted = bus.context.wrap_socket(bus.wait_for_connection(), server_side=True, do_handshake_on_connect=False)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        encrypted.do_handshake()
        # In TLS 1.3 the server's handshake is complete before the client has judged.
        assert encrypted.recv(1) == b"", "the token of the bus could be in it"
        raise ConnectionError
    until(lambda: f"cannot reach {bus.url}: {reason}" in service.log(), EVENT_SECONDS, "the reason in the log")
    bus.wait_for_connection()


def test_a_bus_that_breaks_tls_is_left(wary):
    """Something else instead of a handshake; an end in the middle of one; one on a connection that was good."""
    bus, service = wary()
    connection = bus.wait_for_connection()
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    until(lambda: f"cannot reach {bus.url}: wrong version number" in service.log(), EVENT_SECONDS, "the reason in the log")
    assert connection.recv(1 << 16)[:1] == b"\x16", "a handshake"
    bus.wait_for_connection().close()
    peer = bus.wait_for_client()
    assert ask(peer, 1) == 2
    socket.socket(fileno=os.dup(peer.socket.fileno())).sendall(b"\x17\x03\x03\x00\x05junk!")
    until(lambda: "The bus is away: it broke TLS" in service.log(), EVENT_SECONDS, "the loss in the log")
    assert ask(bus.wait_for_client(), 2) == 3


@pytest.mark.parametrize("says_goodbye", [True, False], ids=["close_notify", "fin"])
def test_a_bus_that_closes_its_half_is_connected_again(bus, says_goodbye):
    peer = bus.wait_for_client()
    assert ask(peer, 1) == 2
    if says_goodbye:
        peer.socket.settimeout(0)
        with contextlib.suppress(ssl.SSLError, OSError):  # the answer to it may have come, or not
            peer.socket.unwrap()
    else:
        socket.socket(fileno=os.dup(peer.socket.fileno())).shutdown(socket.SHUT_WR)
    assert ask(bus.wait_for_client(), 2) == 3


def test_messages_of_several_records_arrive_whole(bus):
    peer = bus.wait_for_client()
    for size in (1, 1 << 14, (1 << 14) + 1, 1 << 16, 3 << 20):
        peer.send(json.dumps({"type": VALIDATE, "context": {"padding": "y" * size},
                              "data": {"name": "add", "args": {"a": 1, "b": 1}}}))
        while (message := json.loads(peer.receive(EVENT_SECONDS)))["type"] != VALIDATE + ".response":
            pass
        assert message["context"]["padding"] == "y" * size
