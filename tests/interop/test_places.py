# SPDX-License-Identifier: Apache-2.0
"""What the embedded bus does with clients that are only there, in its own time, over real sockets."""
import socket
import threading
import time

import pytest
from caller import Caller
from processes import EVENT_SECONDS, until
from test_pressure import frame, message
from websocket_peer import PING, Closed, Peer

# bus/embedded.c and bus/pacing.h.
UNFINISHED_S = 10
PING_S = 20
PONG_S = 10

PLACES = 1000
PLACES_NEAR = 16


def watch(peer, began, over, answers_pings):
    """Read until it is over or the connection is closed: when the first ping came, and when it was
    closed, in seconds; None if not."""
    pinged = None
    while not over.is_set():
        try:
            opcode, _, payload = peer.receive_frame(time.monotonic() + 0.5)
        except TimeoutError:
            continue
        except Closed:
            return pinged, time.monotonic() - began
        if opcode == PING:
            pinged = pinged or time.monotonic() - began
            if answers_pings:
                peer.send_frame(10, payload)
    return pinged, None


def test_what_a_client_does_not_go_on_with_is_ended(launch, figure):
    """An unfinished frame is dropped; a client that answers pings stays, one that does not goes."""
    bus = launch()
    began, over = time.monotonic(), threading.Event()
    with Peer(bus.url) as idle, Peer(bus.url) as deaf, Peer(bus.url) as slow:
        whole = frame(message("ovos.tools.status"))
        slow.socket.sendall(whole[:-2])
        seen = {}
        threads = [threading.Thread(target=lambda name=name, peer=peer, answers=answers: (
            seen.update({name: watch(peer, began, over, answers)})), daemon=True)
            for name, peer, answers in (("idle", idle, True), ("deaf", deaf, False))]
        for thread in threads:
            thread.start()
        time.sleep(UNFINISHED_S - 1)
        assert "unfinished" not in bus.daemon.log() or time.monotonic() - began > UNFINISHED_S
        until(lambda: "dropped an unfinished frame: nothing more of it came" in bus.daemon.log(), EVENT_SECONDS,
              "the end of the unfinished frame")
        # Its rest is no frame of its own, and the connection is kept.
        slow.socket.sendall(whole[-2:] + whole)
        while '"ovos.tools.status.response"' not in slow.receive(EVENT_SECONDS)[:60]:
            pass
        threads[1].join(EVENT_SECONDS)
        over.set()
        threads[0].join()
    figure("seconds to a ping", seen["idle"][0])
    figure("seconds to a close", seen["deaf"][1])
    assert seen["idle"][0] and seen["idle"][1] is None
    assert PING_S - 1 <= seen["idle"][0]
    assert seen["deaf"][1] and PING_S + PONG_S - 1 <= seen["deaf"][1]
    assert "it did not answer a ping" in bus.daemon.log()


def own_address():
    """An address of this machine that is not its loopback; a datagram that is never sent finds it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


def is_closed(peer, seconds=0.1):
    """Whether the bus has closed it; what it has been sent is read."""
    try:
        while True:
            peer.receive(seconds)
    except (Closed, ConnectionError):
        return True
    except TimeoutError:
        return False


def test_idle_clients_do_not_shut_the_bus(launch):
    """The ones that have sent nothing give way, and no client that has."""
    bus = launch()
    with Caller(bus.url) as early:
        assert early.call("ovos.tools.status")
        idle = [Peer(bus.url) for _ in range(PLACES + 20)]
        try:
            for _ in range(5):
                with Caller(bus.url) as late:
                    assert late.call("ovos.tools.status")
            assert early.call("ovos.tools.status")
            assert "another client needs its place" in bus.daemon.log()
            assert is_closed(idle[0])
        finally:
            for peer in idle:
                peer.close()


def test_some_places_are_for_this_device(launch):
    """Clients of the network fill the others, and give way to one another; programs on the device find one."""
    address = own_address()
    if not address or address.startswith("127."):
        pytest.skip("this machine has no address but its loopback")
    bus = launch()
    near = [Peer(bus.url) for _ in range(PLACES_NEAR)]
    far = []
    for number in range(PLACES):
        far.append(Peer(bus.url, address))
        if number % 100 == 0:
            assert not any(is_closed(peer, 0.01) for peer in near), "each answers its pings"
    try:
        with Caller(bus.url) as late:
            assert late.call("ovos.tools.status")
        assert not any(is_closed(peer) for peer in near)
        assert is_closed(far[0]) and is_closed(far[PLACES_NEAR - 1]) and not is_closed(far[-1])
    finally:
        for peer in near + far:
            peer.close()
