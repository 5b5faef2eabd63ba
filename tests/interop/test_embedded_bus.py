# SPDX-License-Identifier: Apache-2.0
"""The daemon as the bus: what OVOS's own does, and what hostile clients try."""
import json
import os
import random
import socket
import struct
import subprocess
import time
from urllib.parse import urlsplit

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXD, environment, toolboxctl, until, write_configuration
from websocket_peer import Closed, Peer

SEED = 7


@pytest.fixture
def bus(launch):
    return launch()


def still_works(bus):
    with Caller(bus.url) as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_it_greets_like_ovos(bus):
    with Peer(bus.url) as peer:
        assert json.loads(peer.receive(EVENT_SECONDS)) == {
            "type": "connected", "data": {}, "context": {"session": {"session_id": "default"}}}


def test_everybody_hears_everything_the_sender_too(bus):
    with Caller(bus.url) as one, Caller(bus.url) as two:
        one.settle()
        text = '{"odd" :\t"not a message",  "n":1.10}'
        one.peer.send(text)
        assert one.wait_for(lambda message: message.text == text)
        assert two.wait_for(lambda message: message.text == text)
        one.invoke("add", {"a": 1, "b": 1})
        assert two.wait_for(lambda message: message.type == "ovos.tools.invoke.response")


@pytest.mark.parametrize("text", ["not json", "[]", "42", "{}", '"x"'])
def test_frames_that_are_no_messages_are_relayed(bus, text):
    with Peer(bus.url) as one, Peer(bus.url) as two:
        one.send(text)
        assert two.receive(EVENT_SECONDS) != text and two.receive(EVENT_SECONDS) == text


@pytest.mark.parametrize("path", ["/", "/core", "/core?x=1", "/other/route"])
def test_any_route_will_do(bus, path):
    where = urlsplit(bus.url)
    with Caller(f"ws://{where.netloc}{path}") as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_order_is_kept(bus):
    with Caller(bus.url) as one, Caller(bus.url) as two:
        one.settle()
        two.settle()
        for n in range(500):
            one.send("count", {"n": n})
        seen = [message.data["n"] for message in one.settle() if message.type == "count"]
        assert seen == list(range(500))
        two.wait_for(lambda message: message.type == "count" and message.data["n"] == 499)
        assert [one.data["n"] for one in two.seen if one.type == "count"] == list(range(500))


def test_a_ping_is_answered(bus):
    with Peer(bus.url) as peer:
        peer.send_frame(9, b"are you there")
        while True:
            opcode, _, payload = peer.receive_frame(time.monotonic() + EVENT_SECONDS)
            if opcode == 10:
                assert payload == b"are you there"
                return


def test_two_hundred_clients(bus):
    peers = [Peer(bus.url) for _ in range(200)]
    with Caller(bus.url) as caller:
        caller.send("to.everybody", {"n": 1})
        for peer in peers:
            while json.loads(peer.receive(EVENT_SECONDS))["type"] != "to.everybody":
                pass
    for peer in peers:
        peer.close()
    still_works(bus)


def raw(bus, data, seconds=2):
    """Say something that is no websocket; what comes back until the end or until time is up."""
    where = urlsplit(bus.url)
    with socket.create_connection((where.hostname, where.port), EVENT_SECONDS) as connection:
        connection.settimeout(seconds)
        got = b""
        try:
            connection.sendall(data)
            while chunk := connection.recv(65536):
                got += chunk
        except (TimeoutError, ConnectionError):
            pass
        return got


@pytest.mark.parametrize("data", [
    b"\x00" * 1000, b"GET / HTTP/1.1\r\n\r\n", b"GET /core HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /core HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n\x10\x00\x00\x00\x01\x00\x00\x00junk",
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 100,
    b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-H: y\r\n" * 10000 + b"\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
], ids=range(11))
def test_what_is_no_websocket_gets_nothing_and_harms_nobody(bus, data):
    got = raw(bus, data)
    assert b" 200 " not in got and b" 101 Switching Protocols\r\nUpgrade: h2c" not in got
    assert b"root:" not in got
    still_works(bus)


def frame(first, second, rest=b""):
    return bytes([first, second]) + rest


@pytest.mark.parametrize("data", [
    frame(0x81, 0x05, b"hello"),                                    # not masked
    frame(0x83, 0x80, b"\0\0\0\0"),                                 # a reserved opcode
    frame(0xF1, 0x80, b"\0\0\0\0"),                                 # reserved bits
    frame(0x80, 0x80, b"\0\0\0\0"),                                 # continues nothing
    frame(0x89, 0xFE, struct.pack("!H", 200) + b"\0" * 204),        # a ping too long
    frame(0x09, 0x80, b"\0\0\0\0"),                                 # a ping in fragments
    frame(0x81, 0xFF, struct.pack("!Q", 1 << 63) + b"\0\0\0\0"),    # a length beyond all
    frame(0x81, 0xFF, struct.pack("!Q", 1 << 40) + b"\0\0\0\0x"),   # a terabyte to come
    frame(0x81, 0x84, b"\0\0\0\0\xff\xfe\xfd\xfc"),                 # a text that is no UTF-8
    frame(0x88, 0x81, b"\0\0\0\0x"),                                # half a close code
], ids=range(10))
def test_broken_frames_harm_nobody(bus, data):
    with Caller(bus.url) as other:
        with Peer(bus.url) as peer:
            peer.socket.sendall(data)
            try:
                while True:
                    peer.receive(0.3)
            except (Closed, TimeoutError, UnicodeDecodeError):
                pass
        assert other.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_random_bytes_after_the_handshake(bus):
    chance = random.Random(SEED)
    with Caller(bus.url) as other:
        for _ in range(100):
            with Peer(bus.url) as peer:
                try:
                    peer.socket.sendall(chance.randbytes(chance.randrange(1, 400)))
                except ConnectionError:
                    pass
        assert other.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}


def test_clients_that_come_and_go_leave_no_descriptor_behind(bus):
    def descriptors():
        return len(os.listdir(f"/proc/{bus.daemon.daemon_pid()}/fd"))

    still_works(bus)
    before = descriptors()
    for n in range(300):
        peer = Peer(bus.url)
        if n % 3 == 0:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif n % 3 == 1:
            peer.socket.sendall(b"\x81\xff")
        peer.close()
    still_works(bus)
    until(lambda: descriptors() <= before + 2, EVENT_SECONDS, "the descriptors closed")


def test_a_client_that_sends_a_byte_at_a_time(bus):
    with Peer(bus.url) as peer, Caller(bus.url) as other:
        payload = b'{"type":"slow.message"}'
        for byte in bytes([0x81, 0x80 | len(payload)]) + b"\0\0\0\0" + payload:
            peer.socket.sendall(bytes([byte]))
            other.invoke("add", {"a": 1, "b": 2})
        other.wait_for(lambda message: message.type == "slow.message") \
            if not any(one.type == "slow.message" for one in other.seen) else None


def ask(bus, *lines, host=None, method="GET"):
    """The status, the headers and the body that a request is answered with."""
    where = urlsplit(bus.url)
    head = "\r\n".join((f"{method} /core HTTP/1.1", f"Host: {host or where.netloc}", *lines, "", ""))
    answer = raw(bus, head.encode(), EVENT_SECONDS).partition(b"\r\n\r\n")
    status, *fields = answer[0].decode().split("\r\n")
    return int(status.split()[1]), dict(field.split(": ", 1) for field in fields), answer[2]


UPGRADE = ("Upgrade: websocket", "Connection: Upgrade",
           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")


@pytest.mark.parametrize("version", ["8", "99", "13, 8", ""])
def test_another_version_is_told_which_one_to_use(bus, version):
    status, fields, body = ask(bus, *UPGRADE, f"Sec-WebSocket-Version: {version}")
    assert status == 426 and fields["Sec-WebSocket-Version"] == "13"
    assert json.loads(body)["code"] == "upgrade_required"
    still_works(bus)


@pytest.mark.parametrize("lines, status", [
    ((), 426),
    ((*UPGRADE[:2], "Sec-WebSocket-Version: 13"), 400),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", "Content-Length: 1", "Content-Length: 1"), 400),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", " folded: x"), 400),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", "X : y"), 400),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", "Host: 127.0.0.1"), 400),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", "X: " + "y" * 20000), 431),
    ((*UPGRADE, "Sec-WebSocket-Version: 13", "Content-Length: 10"), 413),
], ids=range(8))
def test_an_error_is_a_small_object(bus, lines, status):
    found, fields, body = ask(bus, *lines)
    assert found == status and fields["Content-Type"].startswith("application/json")
    assert set(json.loads(body)) == {"error", "code"} and len(body) == int(fields["Content-Length"])
    still_works(bus)


def test_silent_connections_lock_nobody_out(bus):
    """More half-made connections than there are places, each with half a request."""
    where = urlsplit(bus.url)
    silent = []
    for n in range(1200):
        one = socket.create_connection((where.hostname, where.port), EVENT_SECONDS)
        one.sendall(b"GET /core HTTP/1.1\r\nHost: 127.0.0.1\r\n" if n % 2 else b"")
        silent.append(one)
    before = time.monotonic()
    still_works(bus)
    took = time.monotonic() - before
    for one in silent:
        one.close()
    assert took < 9, "a place was free only when a connection had timed out"
    still_works(bus)


# ── pages ───────────────────────────────────────────────────────────────────────────────────────

def handshake(bus, *headers, host=None):
    """The status line and the body that an upgrade with these headers is answered with."""
    where = urlsplit(bus.url)
    with socket.create_connection((where.hostname, where.port), EVENT_SECONDS) as peer:
        peer.sendall("\r\n".join((
            "GET /core HTTP/1.1", f"Host: {host or where.netloc}", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13", *headers, "", "")).encode())
        peer.settimeout(5)
        answer = b""
        while b"\r\n\r\n" not in answer or b" 403 " in answer.split(b"\r\n")[0]:
            got = peer.recv(4096)
            if not got:
                break
            answer += got
    return answer.split(b"\r\n")[0].decode(), answer.decode(errors="replace")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1",
                                    "http://127.0.0.1", "http://localhost", "file://", "https://" + "a" * 2000])
def test_no_web_page_is_a_client(bus, origin):
    status, text = handshake(bus, f"Origin: {origin}")
    assert " 403 " in status and "embedded.origins" in text
    assert "refused a client whose Origin is" in bus.daemon.log()
    still_works(bus)


def test_a_page_of_a_name_that_was_made_to_lead_here_is_refused(bus):
    name = f"evil.example:{urlsplit(bus.url).port}"
    assert " 403 " in handshake(bus, f"Origin: http://{name}", host=name)[0]


def test_what_websocket_client_sends_is_let_in(bus):
    where = urlsplit(bus.url).netloc
    assert " 101 " in handshake(bus, f"Origin: http://{where}")[0]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8181", "127.0.0.1.evil.example",
                                  "localhost.evil.example:8181"])
def test_a_name_that_is_not_ours_is_refused(bus, host):
    status, text = handshake(bus, host=host)
    assert " 403 " in status and "not ours" in text
    still_works(bus)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]:8181", "192.168.7.9:8181"])
def test_addresses_and_localhost_are_ours(bus, host):
    assert " 101 " in handshake(bus, host=host)[0]


def test_a_page_that_is_allowed_is_a_client(launch):
    bus = launch({"embedded": {"origins": ["https://panel.example"]}})
    assert " 101 " in handshake(bus, "Origin: https://panel.example")[0]
    assert " 403 " in handshake(bus, "Origin: https://evil.example")[0]


def test_a_list_of_origins_that_is_none_allows_nobody(launch):
    bus = launch({"embedded": {"origins": "https://panel.example"}}, wait=False)
    until(lambda: "embedded/origins" in bus.daemon.log(), EVENT_SECONDS, "a word about it")
    assert " 403 " in handshake(bus, "Origin: https://panel.example")[0]


# ── the token ───────────────────────────────────────────────────────────────────────────────────

TOKEN = "a-token.of_31~letters-and-digits"


@pytest.fixture
def guarded(launch, tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    bus = launch({"embedded": {"token_file": str(path)}}, wait=False)
    until(lambda: " offered" in bus.daemon.log(), EVENT_SECONDS, "the first catalogue")
    return bus


def test_a_token_is_needed_where_one_is_configured(guarded):
    for lines in ((), ("Authorization: Bearer wrong",), (f"Authorization: Basic {TOKEN}",)):
        status, fields, body = ask(guarded, *UPGRADE, "Sec-WebSocket-Version: 13", *lines)
        assert status == 401 and fields["WWW-Authenticate"] == "Bearer"
        assert json.loads(body)["code"] == "unauthorized"
    with pytest.raises(Closed):
        Peer(guarded.url)
    assert " 101 " in handshake(guarded, f"Authorization: Bearer {TOKEN}")[0]
    with Caller(f"{guarded.url}?token={TOKEN}") as caller:
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
    assert TOKEN not in guarded.daemon.log()


def test_toolboxctl_shows_the_token_that_it_can_read(guarded, tmp_path):
    home = tmp_path / "home-0" / "toolboxd"
    assert toolboxctl("status", bus=guarded.url, home=home).returncode == 0
    (tmp_path / "token").unlink()
    assert toolboxctl("status", bus=guarded.url, home=home).returncode == 3


def test_a_bus_that_refuses_says_why(guarded, tmp_path):
    home = tmp_path / "elsewhere"
    home.mkdir()
    done = toolboxctl("status", bus=guarded.url, home=home)
    assert done.returncode == 3
    assert "answers with the status 401 there" in done.stderr and "(embedded.token_file)" in done.stderr, done.stderr
    done = toolboxctl("status", bus=f"{guarded.url}?token=not-the-token-of-it", home=home)
    assert "the status 401" in done.stderr and "?token=***: " in done.stderr and "not-the" not in done.stderr, done.stderr


def test_the_token_in_the_url_of_a_bus_is_shown_nowhere(guarded, launch):
    client = launch(kind="client", bus_url=f"{guarded.url}?token={TOKEN}", wait=False)
    until(lambda: "On the bus at" in client.daemon.log(), EVENT_SECONDS, "the client on the bus")
    assert f"{guarded.url}?token=***" in client.daemon.log() and TOKEN not in client.daemon.log()
    with Caller(f"{guarded.url}?token={TOKEN}") as caller:
        urls = set()
        caller.send("ovos.tools.status")
        while len(urls) < 2:
            message = caller.wait_for(lambda message: message.type == "ovos.tools.status.response")
            urls.add(message.data["bus"])
    assert urls == {guarded.url, f"{guarded.url}?token=***"}


def test_a_new_token_counts_at_once_and_ends_the_connections_of_the_old_one(guarded, tmp_path):
    def is_in(token):
        return " 101 " in handshake(guarded, f"Authorization: Bearer {token}")[0]

    path, new = tmp_path / "token", TOKEN[::-1]
    with Caller(f"{guarded.url}?token={TOKEN}") as holder:
        path.write_text("short")  # no token: the one in force stays
        until(lambda: "must name a file whose one line" in guarded.daemon.log(), EVENT_SECONDS,
              "a word about it")
        assert is_in(TOKEN) and holder.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        path.write_text(new)
        until(lambda: is_in(new), EVENT_SECONDS, "the new token in force")
        assert not is_in(TOKEN)
        with pytest.raises(Closed):
            holder.invoke("add", {"a": 1, "b": 2})


@pytest.mark.parametrize("mode, text", [(0o644, TOKEN), (0o620, TOKEN), (0o600, "short"),
                                        (0o600, TOKEN + "\nx"), (0o600, TOKEN + " x"),
                                        (0o600, "x" * 257), (None, "")], ids=range(7))
def test_a_token_that_cannot_be_used_lets_nobody_in(launch, tmp_path, mode, text):
    path = tmp_path / "token"
    if mode:
        path.write_text(text)
        path.chmod(mode)
    bus = launch({"embedded": {"token_file": str(path)}}, wait=False)
    until(lambda: "token_file" in bus.daemon.log(), EVENT_SECONDS, "a word about it")
    assert ask(bus, *UPGRADE, "Sec-WebSocket-Version: 13")[0] == 401
    assert ask(bus, *UPGRADE, "Sec-WebSocket-Version: 13",
               f"Authorization: Bearer {text[:200] or 'x'}".replace("\n", ""))[0] == 401


@pytest.mark.parametrize("kind, token, warns", [("net", False, True), ("net", True, False),
                                                ("compute", False, False)])
def test_a_check_warns_of_tools_that_can_speak_on_the_bus(tmp_path, kind, token, warns):
    folder, home, words = tmp_path / "boxes", tmp_path / "home", "a bus that asks for no token"
    manifest = manifests.toolbox(folder, "reach", [manifests.labs()], sandbox={"class": kind})
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    embedded = {"token_file": str(tmp_path / "token")} if token else {}
    write_configuration(home, {"toolboxd": {"embedded": embedded}})
    checked = toolboxctl("check", manifest, home=home)
    assert (words in checked.stderr) == warns and checked.returncode == 0
    for flags in ((), ("--embedded-bus",)):
        done = subprocess.run([TOOLBOXD, "--check", *flags, "--toolbox-dir", folder],
                              env=environment(home), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and (words in done.stderr) == (warns and bool(flags))
