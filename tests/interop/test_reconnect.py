# SPDX-License-Identifier: Apache-2.0
"""A bus that goes, comes back, or is odd."""
import json
import time

import manifests
import pytest
from caller import Caller
from fake_bus import FakeBus
from processes import SLOWNESS, Daemon, OvosBus, free_port, until
from websocket_peer import Closed

INVOKE = "ovos.tools.invoke"
# The first wait is 0.5 s, the second 1 s, both with jitter.
BACK_SECONDS = 10 * SLOWNESS


@pytest.fixture
def daemon(tmp_path):
    """daemon(url): a toolboxd that is a client of a bus the test has."""
    started = []

    def start(url, **options):
        home = tmp_path / f"home-{len(started)}"
        started.append(Daemon(home, [manifests.SHIPPED], url, **options))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def fake_bus():
    bus = FakeBus()
    yield bus
    bus.close()


def ask(peer, number=0):
    """What a client of a bus is asked, and its answer, everything else passed over."""
    peer.send(json.dumps({"type": INVOKE, "context": {"n": number},
                          "data": {"name": "add", "args": {"a": number, "b": 1}}}))
    while True:
        message = json.loads(peer.receive(BACK_SECONDS))
        if message["type"] == INVOKE + ".response" and message["context"] == {"n": number}:
            return message["data"]["result"]["result"]


@pytest.mark.parametrize("greeting", [
    None,
    '{"type": "connected", "data": {}, "context": {"session": {"session_id": "default"}}}',
    '{"msg_type": "connected", "data": {}, "context": {}}',
    "not json", "[]", '{"type": "connected", "context": 5}',
])
def test_any_greeting_will_do(daemon, fake_bus, greeting):
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    if greeting:
        peer.send(greeting)
    assert ask(peer, 6) == 7


def test_nothing_is_announced_that_nobody_asked_for(daemon, fake_bus):
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    assert ask(peer) == 1
    with pytest.raises(TimeoutError):
        peer.receive(0.5)


def test_what_is_sent_to_a_bus_has_three_keys(daemon, fake_bus):
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    peer.send('{"type": "ovos.tools.list", "odd": 1}')
    assert set(json.loads(peer.receive(BACK_SECONDS))) == {"type", "data", "context"}


def test_a_message_in_many_fragments(daemon, fake_bus):
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    text = json.dumps({"data": {"name": "add", "args": {"a": 1, "b": 2}}, "context": {},
                       "type": INVOKE}).encode()
    for at in range(len(text)):
        peer.send_frame(0 if at else 1, text[at:at + 1], final=at == len(text) - 1)
    assert json.loads(peer.receive(BACK_SECONDS))["data"]["result"] == {"result": 3}


def test_it_comes_back_however_the_bus_ends(daemon, fake_bus):
    daemon(fake_bus.url)
    for ending in ("close frame", "end of file", "reset", "junk"):
        peer = fake_bus.wait_for_client(BACK_SECONDS)
        assert ask(peer, 1) == 2
        if ending == "close frame":
            peer.send_frame(8, b"\x03\xe8")
        elif ending == "junk":
            peer.socket.sendall(b"\xff" * 100)
        elif ending == "reset":
            import socket
            import struct
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
    assert ask(fake_bus.wait_for_client(BACK_SECONDS), 2) == 3


def test_waits_between_attempts_grow(daemon, fake_bus):
    """0.5 s, doubling, with jitter: never at once, and not in step with others."""
    daemon(fake_bus.url)
    times = []
    for _ in range(4):
        fake_bus.wait_for_connection(30 * SLOWNESS).close()
        times.append(time.monotonic())
    waits = [later - earlier for earlier, later in zip(times, times[1:])]
    assert waits[0] > 0.2 and waits[2] > waits[0], waits


def test_a_bus_that_comes_late(daemon):
    port = free_port()
    daemon(f"ws://127.0.0.1:{port}/core")
    bus = FakeBus(port)
    try:
        assert ask(bus.wait_for_client(BACK_SECONDS)) == 1
    finally:
        bus.close()


def call_until_lost(caller, count):
    """Up to `count` calls in a row; the number answered. Ends when the bus does."""
    for number in range(count):
        try:
            mark = caller.send(INVOKE, {"name": "add", "args": {"a": number, "b": 0}})
            answer = caller.answer_to(INVOKE, mark, 2 * SLOWNESS)
        except (Closed, OSError):
            return number
        assert answer.data["result"] == {"result": number}
    return count


def wait_until_served(url):
    """A first call that is answered: bus and service are both there."""
    def answered():
        try:
            with Caller(url) as caller:
                caller.call("mycroft.toolboxd.is_alive", seconds=0.5)
                return True
        except (Closed, OSError):
            return False
    until(answered, BACK_SECONDS, "an answer over the bus that came back")


def test_the_real_bus_is_killed_and_restarted_under_load(daemon, tmp_path):
    """Nothing is lost but what was in flight: with one call at a time, at most one per outage."""
    bus = OvosBus(tmp_path / "bus")
    one = daemon(bus.url)
    try:
        wait_until_served(bus.url)
        for _ in range(3):
            with Caller(bus.url) as caller:
                assert call_until_lost(caller, 20) == 20
                marks = [caller.send(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
                         for _ in range(50)]
                bus.kill()
                answered = []
                try:
                    while True:
                        message = caller.receive(2 * SLOWNESS)
                        if message.type == INVOKE + ".response":
                            answered.append(message.context["mark"])
                except (Closed, OSError):
                    pass
                assert len(set(answered)) == len(answered) and set(answered) <= set(marks)
            bus = OvosBus(bus.home, bus.port)
            wait_until_served(bus.url)
            with Caller(bus.url) as caller:
                assert call_until_lost(caller, 20) == 20
                stale = [message for message in caller.settle()
                         if message.type == INVOKE + ".response"
                         and message.context.get("mark") in marks]
                assert not stale, "an answer from before the outage came after it"
        assert one.process.poll() is None
    finally:
        bus.kill()


def test_a_bus_that_is_mute_is_left(daemon, fake_bus, request):
    """It accepts and answers neither pings nor anything: noticed 20 + 10 s later."""
    if not request.config.getoption("--long"):
        pytest.skip("takes half a minute: --long")
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    start = time.monotonic()
    opcode, _, _ = peer.receive_frame(start + 25)
    assert opcode == 9 and 19 < time.monotonic() - start < 22
    fake_bus.wait_for_client(15)
    assert 28 < time.monotonic() - start < 45
