# SPDX-License-Identifier: Apache-2.0
"""Clients of the embedded bus that send much, read nothing, or make the daemon hold their requests:
they pay for it, others do not."""
import json
import socket
import struct
import threading
import time

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXD, at_most, resident_kb, until
from websocket_peer import Closed, Peer

MIB = 1 << 20
IS_SANITIZED = b"__asan_init" in TOOLBOXD.read_bytes()


class Bystander:
    """A client that reads all the time."""

    def __init__(self, url):
        self.peer = Peer(url)
        self.closed = None
        self.bytes = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while not self.stop.is_set():
            try:
                self.bytes += len(self.peer.receive(0.2))
            except TimeoutError:
                pass
            except Closed as error:
                self.closed = str(error)
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.peer.close()


def many_toolboxes(folder, count):
    for n in range(count):
        manifests.toolbox(folder, f"box{n:02}", [
            {**manifests.labs(f"tool{n:02}_{i}"), "description": "x" * 400} for i in range(16)])
    return [manifests.SHIPPED, folder]


def frame(text, first=0x81):
    """One frame of a client, masked with zeros."""
    data = text.encode() if isinstance(text, str) else text
    size = (struct.pack("!B", 0x80 | len(data)) if len(data) < 126 else
            struct.pack("!BH", 0xFE, len(data)) if len(data) < 1 << 16 else
            struct.pack("!BQ", 0xFF, len(data)))
    return bytes([first]) + size + b"\0\0\0\0" + data


def message(topic, data=None, context=None):
    return json.dumps({"type": topic, "data": data or {}, "context": context or {}})


def still_works(bus, seconds=EVENT_SECONDS):
    with Caller(bus.url) as caller:
        answer = caller.invoke("add", {"a": 1, "b": 2}, seconds=seconds)
        assert answer["result"] == {"result": 3}


def push(peer, data, seconds):
    """Send what the bus takes within so many seconds."""
    peer.socket.settimeout(seconds)
    try:
        peer.socket.sendall(data)
    except (TimeoutError, OSError):
        pass


def test_a_burst_of_requests_disconnects_nobody_else(launch, tmp_path):
    """H2: 12 KB of requests for lists, whose answers are 40 MB."""
    bus = launch(toolbox_dirs=many_toolboxes(tmp_path / "boxes", 12))
    with Bystander(bus.url) as bystander, Peer(bus.url) as sender:
        sender.socket.sendall(frame(message("ovos.tools.list")) * 360)
        deadline, lists = time.monotonic() + EVENT_SECONDS, 0
        while lists < 360 and time.monotonic() < deadline:
            lists += '"ovos.tools.list.response"' in sender.receive(EVENT_SECONDS)[:60]
        assert lists == 360
        assert bystander.closed is None
        still_works(bus)


@pytest.mark.parametrize("count, size", [(12, 2 * MIB), (3, 6 * MIB)])
def test_one_discover_costs_no_more_than_its_request(launch, tmp_path, count, size):
    """H2: each answer would repeat the whole context."""
    bus = launch(toolbox_dirs=many_toolboxes(tmp_path / "boxes", count))
    with Bystander(bus.url) as bystander, Caller(bus.url) as asker:
        context = {"source": "me", "session": {"session_id": "s"}, "padding": "x" * size}
        asker.send("ovos.persona.tools.discover", {}, context)
        seen = {}
        while len(seen) < count:
            got = asker.wait_for(lambda one: one.type == "ovos.persona.tools.discover.response",
                                 EVENT_SECONDS)
            seen[got.data["toolbox_id"]] = got
        asker.settle()
        for one in seen.values():
            assert one.context["session"] == {"session_id": "s"}
            assert one.context["destination"] == "me" and "padding" not in one.context
        assert sum(len(one.text) for one in seen.values()) <= 2 * size + 10 * MIB
        assert bystander.closed is None


def test_a_small_context_comes_back_whole_with_each_toolbox(launch, tmp_path):
    bus = launch(toolbox_dirs=many_toolboxes(tmp_path / "boxes", 12))
    with Caller(bus.url) as asker:
        asker.send("ovos.persona.tools.discover", {}, {"padding": "x" * 3000})
        got = asker.wait_for(lambda one: one.type == "ovos.persona.tools.discover.response")
        assert len(got.context["padding"]) == 3000


def test_unfinished_frames_silence_nobody(launch):
    """M3: others' unfinished frames take all the room there is."""
    bus = launch()
    holders = []
    try:
        for size in [10 * MIB - 3000] * 6 + [100_000] * 41 + [16_000] * 12:
            peer = Peer(bus.url)
            head = b'{"type":"x","data":{"p":"'
            whole = struct.pack("!BBQ", 0x81, 0xFF, size) + b"\0\0\0\0" + head
            push(peer, whole + b"x" * (size - len(head) - 1), EVENT_SECONDS)
            holders.append(peer)
        for size in (20_000, 100_000, 3 * MIB):
            with Caller(bus.url) as caller:
                caller.send("ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 2}},
                            {"padding": "x" * size})
                got = caller.wait_for(
                    lambda one: one.type == "ovos.tools.invoke.response", EVENT_SECONDS)
                assert got.data["result"] == {"result": 3}
    finally:
        for peer in holders:
            peer.close()
    if not IS_SANITIZED:
        assert resident_kb(bus.daemon.daemon_pid()) < 100 * 1024
    assert "the largest, and others have no room" in bus.daemon.log()


def test_a_client_that_reads_nothing_is_disconnected_after_a_while(launch):
    bus = launch({"embedded": {"stall_s": 1}})
    with Bystander(bus.url) as bystander, Peer(bus.url) as stuck, Peer(bus.url) as sender:
        stuck.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader = threading.Thread(target=lambda: drain(sender), daemon=True)
        reader.start()
        push(sender, frame("x" * MIB) * 40, EVENT_SECONDS)
        deadline = time.monotonic() + EVENT_SECONDS
        while "embedded.stall_s" not in bus.daemon.log():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert bystander.closed is None
        still_works(bus)


def test_clients_that_read_nothing_hold_nobody_up_when_memory_is_short(launch):
    """Nine senders whose frames wait for clients that read nothing use half of the memory. Another
    client, of which little may wait then, need not wait for embedded.stall_s. It sends less than what may
    wait of it before that."""
    bus = launch({"limits": {"peer_bytes": 4 * MIB}, "embedded": {"stall_s": 60}})
    with Caller(bus.url) as caller:
        stuck, senders = ([Peer(bus.url) for _ in range(9)] for _ in range(2))
        for peer in stuck:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for sender in senders:
            threading.Thread(target=drain, args=(sender,), daemon=True).start()
        pushing = [threading.Thread(target=push, args=(sender, frame("x" * (MIB // 8)) * 60, 5),
                                    daemon=True) for sender in senders]
        for thread in pushing:
            thread.start()
        began = time.monotonic()
        while time.monotonic() - began < 4:
            asked = time.monotonic()
            answer = caller.invoke("add", {"a": 1, "b": 2}, seconds=EVENT_SECONDS)
            assert answer["result"] == {"result": 3}
            assert time.monotonic() - asked < at_most(10)
            time.sleep(0.05)
        for peer in (*stuck, *senders):
            peer.close()


def test_a_client_that_reads_nothing_holds_a_sender_up_for_a_second_or_two(launch):
    """A sender of which much waits waits itself, but not for embedded.stall_s."""
    bus = launch({"embedded": {"stall_s": 60}})
    with Peer(bus.url) as stuck, Peer(bus.url) as sender, Caller(bus.url) as caller:
        stuck.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        threading.Thread(target=drain, args=(sender,), daemon=True).start()
        pushing = threading.Thread(target=push, args=(sender, frame("x" * MIB) * 20, EVENT_SECONDS), daemon=True)
        began = time.monotonic()
        pushing.start()
        while pushing.is_alive():
            assert caller.invoke("add", {"a": 1, "b": 2}, seconds=EVENT_SECONDS)["result"] == {"result": 3}
        assert time.monotonic() - began < at_most(20)


def unsent_bytes(port):
    """Of the sockets of this port (proc(5), tcp_queue)."""
    rows = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    return [int(row[4].split(":")[0], 16) for row in rows if int(row[1].split(":")[1], 16) == port]


def test_the_kernel_keeps_little_for_clients_that_read_nothing(launch):
    """It kept 2.5 MB for each; 300 of them took the loop half a second when they were disconnected."""
    bus = launch()
    port = int(bus.url.split(":")[2].split("/")[0])
    stuck = [Peer(bus.url) for _ in range(20)]
    for peer in stuck:
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with Peer(bus.url) as sender:
        threading.Thread(target=drain, args=(sender,), daemon=True).start()
        push(sender, frame("x" * (MIB // 8)) * 60, 5)
        most = until(lambda: max(found := unsent_bytes(port)) > 0 and found, EVENT_SECONDS, "bytes that wait")
    assert len(most) >= 20
    assert max(most) < MIB
    for peer in stuck:
        peer.close()


def drain(peer):
    try:
        while True:
            peer.receive(30)
    except (Closed, TimeoutError, OSError):
        pass


def test_calls_that_wait_hold_no_more_than_their_share(launch, tmp_path):
    """H4: 190 calls with a context of 9 MB held 1.6 GB."""
    folder = tmp_path / "boxes"
    manifests.toolbox(folder, "slow", [manifests.sleeper(timeout_ms=20000)])
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    pid = bus.daemon.daemon_pid()
    with Peer(bus.url) as sender:
        threading.Thread(target=lambda: drain(sender), daemon=True).start()
        most = before = resident_kb(pid)
        one = frame(message("ovos.tools.invoke", {"name": "sleep", "args": {"seconds": 20}},
                            {"source": "me", "padding": "x" * (2 * MIB)}))
        for _ in range(60):
            push(sender, one, EVENT_SECONDS)
            most = max(most, resident_kb(pid))
        still_works(bus)
        with Caller(bus.url) as caller:
            held = caller.call("ovos.tools.status")["calls"]["held_bytes"]
    assert 2 * MIB <= held <= 16 * MIB
    if not IS_SANITIZED:
        assert most - before < 100 * 1024


def test_resident_memory_stays_bounded_whatever_clients_do(launch, tmp_path, times, figure):
    """Clients that read nothing, do not finish their frames, let calls wait, send many numbers, or
    ask for all toolboxes with a large context: three of each."""
    folder = tmp_path / "boxes"
    manifests.toolbox(folder, "slow", [manifests.sleeper(timeout_ms=20000)])
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    pid = bus.daemon.daemon_pid()
    still_works(bus)
    with Caller(bus.url) as caller:
        # What is made at the first search of a pattern is no growth.
        assert caller.call("ovos.tools.match", {"utterance": "what is 3 plus 4"})["complete"]
    first = most = resident_kb(pid)
    until = time.monotonic() + times(5, 60)
    call = frame(message("ovos.tools.invoke", {"name": "sleep", "args": {"seconds": 20}},
                         {"padding": "x" * (7 * MIB)}))
    numbers = frame('{"type":"ovos.tools.validate","data":{"name":"add","args":{"a":['
                    + "0," * (2 * MIB - 1) + "0]}}}")
    discover = frame(message("ovos.persona.tools.discover", {}, {"padding": "x" * (9 * MIB)}))

    def attack(kind):
        while time.monotonic() < until:
            try:
                with Peer(bus.url) as peer:
                    while time.monotonic() < until:
                        if kind == "deaf":
                            push(peer, frame("x" * MIB), 1)
                        elif kind == "unfinished":
                            push(peer, struct.pack("!BBQ", 0x81, 0xFF, 10 * MIB) + b"\0\0\0\0"
                                 + b'{"type":"x","data":"' + b"x" * (9 * MIB), 1)
                            time.sleep(0.5)
                            break
                        else:
                            push(peer, {"calls": call, "numbers": numbers,
                                        "discover": discover}[kind], 1)
            except (Closed, OSError):
                time.sleep(0.05)

    threads = [threading.Thread(target=attack, args=(kind,), daemon=True)
               for kind in ("deaf", "unfinished", "calls", "numbers", "discover") for _ in range(3)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        most = max(most, resident_kb(pid))
        time.sleep(0.02)
    for thread in threads:
        thread.join()
    figure("MiB more than at first", (most - first) / 1024)
    still_works(bus, EVENT_SECONDS)
    if not IS_SANITIZED:
        assert most - first <= 75 * 1024


def test_large_results_leave_no_memory_with_idle_hosts(launch, tmp_path):
    """Each process kept the bytes of its last result, and 16 for each value in it."""
    toolboxes = [f"zeros{n}" for n in range(3)]
    folder = tmp_path / "boxes"
    folder.mkdir()
    for name in toolboxes:
        (folder / f"{name}.json").write_text(json.dumps({"kind": "command", "tools": [{
            "name": name, "description": "Zeros.", "risk": "read", "argument_schema": {"type": "object"},
            "command": {"output": "json", "shell":
                        "printf '['; yes 0, | head -n 1900000 | tr -d '\\n'; printf '0]'"}}]}))
    bus = launch(toolbox_dirs=[manifests.SHIPPED, folder])
    pid = bus.daemon.daemon_pid()
    still_works(bus)
    with Caller(bus.url) as caller:
        before = resident_kb(pid)
        for name in toolboxes:
            answer = caller.invoke(name, {})
            assert answer["result"]["truncated"], answer
        if not IS_SANITIZED:
            assert resident_kb(pid) - before < 16 * 1024
