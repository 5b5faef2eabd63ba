# SPDX-License-Identifier: Apache-2.0
"""HTTP in TLS: the certificate, ALPN, a peer that ends it, handshakes that are none, and what keeps it from
starting."""
import contextlib
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, running, wait_until_cancelled
from processes import EVENT_SECONDS, TOOLBOXD, environment, until, write_configuration

ADD = {"a": 1, "b": 2}
TOKEN = "0123456789abcdef"
TOKENS = [{"name": "far", "token_sha256": hashlib.sha256(TOKEN.encode()).hexdigest()}]
ARITHMETIC = {"ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["-newkey", "rsa:2048"]}


def certificate(folder, name, kind="ec", passphrase=None):
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", *ARITHMETIC[kind], "-out", cert, "-keyout", key, "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    *(["-passout", f"pass:{passphrase}"] if passphrase else ["-nodes"])],
                   check=True, capture_output=True)
    os.chmod(key, 0o600)
    return {"cert": str(cert), "key": str(key)}


def expired(folder):
    tls = certificate(folder, "expired")
    subprocess.run(["openssl", "x509", "-in", tls["cert"], "-signkey", tls["key"], "-days", "-1", "-out", tls["cert"]],
                   check=True, capture_output=True)
    return tls


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    return {name: certificate(folder, name) for name in ("one", "two")} | {
        "rsa": certificate(folder, "rsa", "rsa"), "locked": certificate(folder, "locked", passphrase="secret"),
        "expired": expired(folder)}


def port_of(daemon):
    found = []
    until(lambda: found.extend(re.findall(r"Listening on https://127\.0\.0\.1:(\d+)", daemon.log())) or found, 10,
          "the door open")
    return int(found[0])


def client_context(tls, **options):
    context = ssl.create_default_context(cafile=tls["cert"])
    for name, value in options.items():
        if name == "alpn":
            context.set_alpn_protocols(value)
        else:
            setattr(context, name, value)
    return context


def connected(port, tls, **options):
    return client_context(tls, **options).wrap_socket(socket.create_connection(("127.0.0.1", port), 10),
                                                      server_hostname="localhost")


class Https(Http):
    def __init__(self, port, tls, **options):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=EVENT_SECONDS,
                                                      context=client_context(tls, **options))


@pytest.fixture(scope="module")
def started(tmp_path_factory, files):
    from conftest import Service
    home = tmp_path_factory.mktemp("https")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    manifests.toolbox(folder, "sleeps", [manifests.sleeper(timeout_ms=60000)])
    one = Service("embedded", home, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"],
                  configuration={"result_max_chars": 5_000_000, "http": {"tls": files["one"], "limits": {"first_byte_s": 1, "connections": 80,
                                                                           "per_address": 80}}})
    with one:
        yield one


@pytest.fixture
def port(started):
    return port_of(started.daemon)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_call_in_each_version(port, files, version):
    with Https(port, files["one"], minimum_version=version, maximum_version=version) as https:
        for _ in range(3):
            assert https.post("/v1/tools/add", ADD).json["result"] == {"result": 3}
        assert https.connection.sock.version() == version.name.replace("v1_", "v1.")
        assert https.ask("GET", "/v1/tools", Origin=f"https://localhost:{port}").status == 200
        assert https.ask("GET", "/v1/tools", Origin=f"http://localhost:{port}").status == 403
        manual = https.get("/utcp").json
        assert manual["tools"][0]["tool_call_template"]["url"].startswith("https://127.0.0.1")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_versions_are_refused(port, files):
    with pytest.raises((ssl.SSLError, ConnectionError)):
        connected(port, files["one"], minimum_version=ssl.TLSVersion.TLSv1,
                  maximum_version=ssl.TLSVersion.TLSv1_1)


def test_the_protocol_is_http_1_1(port, files):
    with connected(port, files["one"], alpn=["h2", "http/1.1"]) as peer:
        assert peer.selected_alpn_protocol() == "http/1.1"
    with connected(port, files["one"]) as peer:
        assert peer.selected_alpn_protocol() is None
    with pytest.raises(ssl.SSLError, match="(?i)alpn|no.application.protocol"):
        connected(port, files["one"], alpn=["h2"])


def test_large_bodies_pass_both_ways(port, files):
    text = "x" * 1_400_000
    with Https(port, files["one"]) as https:
        answer = https.ask("POST", "/v1/tools/echo?timeout_ms=20000", {"text": text})
    assert answer.status == 200, answer.bytes[:300]
    assert text in answer.json["result"].values()


def test_a_peer_that_reads_late_loses_nothing(port, files):
    """More than the buffers of the sockets hold."""
    body = json.dumps({"text": "x" * 4_000_000}).encode()
    with connected(port, files["one"]) as peer:
        peer.sendall(b"POST /v1/tools/echo?timeout_ms=60000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        data = peer.recv(100)
        time.sleep(0.3)
        while part := peer.recv(100000):
            data += part
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ") and "x" * 4_000_000 in json.loads(body)["result"].values()


def test_events_are_streamed(port, files):
    with connected(port, files["one"]) as peer:
        peer.sendall(b"POST /v1/tools/add HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                     b"Content-Type: application/json\r\nContent-Length: 13\r\n\r\n" + b'{"a":1,"b":2}')
        data = b""
        while not data.endswith(b"0\r\n\r\n"):
            data += peer.recv(4096)
    assert b'event: result\ndata: {"name":"add","result":{"result":3}}\n' in data.replace(b".0", b"")


@pytest.mark.parametrize("by", ["close_notify", "fin"])
def test_a_peer_that_ends_cancels_its_call(started, port, files, by):
    peer = connected(port, files["one"])
    peer.sendall(b"POST /v1/tools/sleep?timeout_ms=60000 HTTP/1.1\r\nHost: localhost\r\n"
                 b"Content-Type: application/json\r\nContent-Length: 14\r\n\r\n" + b'{"seconds":50}')
    until(lambda: running(started), EVENT_SECONDS, "a call")
    if by == "fin":
        peer.close()
    else:
        peer.setblocking(False)
        with contextlib.suppress(OSError):  # the daemon may have answered, and closed, by then
            peer.unwrap()
    wait_until_cancelled(started)
    peer.close()


def test_clear_text_is_told_so(port):
    with Raw(port) as raw:
        raw.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = raw.read_all()
    assert answer.startswith(b"HTTP/1.1 400 ") and b'"error":"This address speaks TLS: use https://.' in answer


@pytest.mark.parametrize("garbage", [b"\x16", b"\x16\x03\x01\x00\x05hello", b"\x16" * 20000, b"\x16\x03\x01\xff\xff" + b"x" * 70000,
                                     b"\x16\x03\x01\x00\x00" * 4000], ids=range(5))
def test_garbage_ends_its_connection_alone(started, port, files, garbage):
    log = len(started.daemon.log())
    with Raw(port) as raw, Https(port, files["one"]) as https:
        assert https.get("/health").status == 200
        try:
            raw.send(garbage)
            raw.read_all()
        except ConnectionError:
            pass
        assert https.get("/health").status == 200
    assert len(started.daemon.log()) - log < 2000


def test_a_handshake_that_stops_is_given_up(port, files):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = client_context(files["one"]).wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        hello.do_handshake()
    text = outgoing.read()
    for part in (b"", text[:100], text):
        with Raw(port) as raw:
            began = time.monotonic()
            raw.send(part)
            raw.read_all()
            assert time.monotonic() - began < 8


def test_many_handshakes_at_once_are_all_served(launch, files):
    """With the usual time for the first byte, in which all of them have their turn on a busy machine, too."""
    service = launch({"http": {"tls": files["one"]}}, args=["--http", "127.0.0.1:0"])
    port, statuses = port_of(service.daemon), []

    def call():
        with Https(port, files["one"]) as https:
            statuses.append(https.post("/v1/tools/add", ADD).status)

    threads = [threading.Thread(target=call) for _ in range(48)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert statuses == [200] * len(threads)


def test_a_reload_reads_the_files_again(launch, tmp_path, files):
    tls = {name: str(tmp_path / name) for name in ("cert", "key")}

    def put(one):
        for name, path in tls.items():
            with open(path, "w") as file:
                os.chmod(path, 0o600)
                file.write(open(one[name]).read())

    put(files["one"])
    service = launch({"http": {"tls": tls}}, args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    with Caller(service.url) as caller, Https(port, files["one"]) as old:
        assert old.get("/health").status == 200
        put(files["two"])
        caller.call("ovos.tools.reload")
        with Https(port, files["two"]) as new:
            assert new.get("/health").status == 200
        assert old.get("/health").status == 200, "a connection goes on with its certificate"
        put({"cert": files["one"]["cert"], "key": files["two"]["key"]})
        caller.call("ovos.tools.reload")
        assert f"{tls['key']} is not the key of {tls['cert']}; the certificate in force stays" in service.daemon.log()
        with Https(port, files["two"]) as new:
            assert new.get("/health").status == 200


def test_others_are_served_with_tokens_and_a_certificate(launch, files):
    service = launch({"http": {"tls": files["rsa"], "tokens": TOKENS, "allowed_hosts": ["localhost"]}},
                     args=["--http", "0.0.0.0:0"])
    found = []
    until(lambda: found.extend(re.findall(r"Listening on https://0\.0\.0\.0:(\d+)", service.daemon.log())) or found,
          10, "the door open")
    with Https(int(found[0]), files["rsa"]) as https:
        assert https.ask("POST", "/v1/tools/add", ADD, Host="localhost").status == 401
        assert https.ask("POST", "/v1/tools/add", ADD, Host="localhost",
                         Authorization=f"Bearer {TOKEN}").status == 200


@pytest.mark.parametrize("http", [{}, {"listen": ["127.0.0.1:0"]}], ids=["nothing", "loopback"])
def test_a_reload_without_tokens_does_not_let_others_in(launch, files, http):
    """What listens since the start goes on, so the tokens for that do, too."""
    service = launch({"http": {"listen": ["0.0.0.0:0"], "tls": files["rsa"], "tokens": TOKENS, "allowed_hosts": ["localhost"]}})
    found = []
    until(lambda: found.extend(re.findall(r"Listening on https://0\.0\.0\.0:(\d+)", service.daemon.log())) or found,
          10, "the door open")
    write_configuration(service.daemon.home, {"toolboxd": {"http": http}})
    with Caller(service.url) as caller, Https(int(found[0]), files["rsa"]) as https:
        told = caller.call("ovos.tools.reload")["configuration"]
        assert "since the start other devices reach https://0.0.0.0:0, which needs http.tokens" in json.dumps(told)
        assert https.ask("GET", "/v1/tools", Host="localhost").status == 401
        assert https.ask("GET", "/v1/tools", Host="localhost", Authorization=f"Bearer {TOKEN}").status == 200


def check(tmp_path, tls, *args):
    path = tmp_path / "more.conf"
    path.write_text(json.dumps({"toolboxd": {"http": {"tls": tls, "listen": ["127.0.0.1:0"]}}}))
    return subprocess.run([TOOLBOXD, "--embedded-bus", "--bus", "ws://127.0.0.1:0/core", "--config", path, *args],
                          env=environment(tmp_path), capture_output=True, text=True, timeout=30,
                          stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("args", [["--check"], []])
@pytest.mark.parametrize("mistake,said", [
    ("other key", "two.key is not the key of "), ("absent", "cannot read /nowhere: No such file or directory"),
    ("passphrase", "locked.key is no key without a passphrase in PEM"), ("no pem", "is no certificate in PEM"),
    ("open", "every user may read "), ("fifo", "is no regular file")])
def test_files_that_cannot_be_used_keep_it_from_starting(tmp_path, files, args, mistake, said):
    tls = dict(files["one"])
    if mistake == "other key":
        tls["key"] = files["two"]["key"]
    elif mistake == "absent":
        tls["cert"] = "/nowhere"
    elif mistake == "passphrase":
        tls = files["locked"]
    elif mistake == "no pem":
        tls["cert"] = __file__
    elif mistake == "open":
        tls["key"] = str(tmp_path / "open")
        (tmp_path / "open").write_text(open(files["one"]["key"]).read())
        os.chmod(tmp_path / "open", 0o644)
    else:
        tls["key"] = str(tmp_path / "fifo")
        os.mkfifo(tmp_path / "fifo", 0o600)
    done = check(tmp_path, tls, *args)
    assert done.returncode == 1
    assert said in done.stderr + done.stdout, done.stderr


def test_a_certificate_that_expired_is_told(launch, tmp_path, files):
    done = check(tmp_path, files["expired"], "--check")
    assert done.returncode == 0 and re.search(r"http\.tls: the certificate expired on \d{4}-", done.stderr), done.stderr
    service = launch({"http": {"tls": files["expired"]}}, args=["--http", "127.0.0.1:0"])
    port_of(service.daemon)
    assert "HTTP: TLS: the certificate expired on " in service.daemon.log()
