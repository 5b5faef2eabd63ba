# SPDX-License-Identifier: Apache-2.0
"""A bus that goes, comes back, or is odd.

Waits between attempts begin with half a second and double up to 30, so a bus that was away for less
than a second is found again within two, and one that was away for long within half a minute.
"""
import json
import re
import socket
import struct
import time

import manifests
import pytest
from caller import Caller
from fake_bus import FakeBus
from processes import (EVENT_SECONDS, SLOWNESS, TOOLBOXD, Daemon, OvosBus, at_most, cpu_ns,
                       descriptors, free_port, listens, resident_kb, until)
from traffic import INVOKE, PERSONA_CALL
from websocket_peer import Closed

DISCOVER = "ovos.persona.tools.discover"

# Each call is a line of the log.
VERBOSE = {"log": {"level": "debug"}}

IS_SANITIZED = b"__asan_init" in TOOLBOXD.read_bytes()
# The first wait is 0.5 s, the second 1 s, both with jitter.
HOLD_SECONDS = 2       # back so soon after an outage of less than a second
BACKOFF_SECONDS = 30              # the longest wait between attempts
CALLS_KEPT = 1000                 # the calls of which a daemon has records
GROWTH_KB_MAX = 1024              # what a daemon may have grown by
ASK_SECONDS = 0.02                # how often a bus that is back is asked for the daemon
QUEUE_BYTES = 4 << 20             # kept for a bus that does not read, in a short run
QUEUE_BYTES_LONG = 64 << 20       # the default
SPARE_KB = 8 << 10                # what the daemon may take beside the queue
CALLS_PER_S = 10000               # of a bus that does not read
BATCH = 100
STALL_SECONDS, STALLS_MAX = 2 * SLOWNESS, 4
QUIET_SECONDS = 8 * SLOWNESS      # nothing comes any more, where no event says so


@pytest.fixture
def daemon(tmp_path):
    """daemon(url): a toolboxd that is a client of a bus the test has."""
    started = []

    def start(url, toolbox_dirs=(manifests.SHIPPED,), **options):
        home = tmp_path / f"home-{len(started)}"
        started.append(Daemon(home, toolbox_dirs, url, **options))
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
        message = json.loads(peer.receive(EVENT_SECONDS))
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
    assert set(json.loads(peer.receive(EVENT_SECONDS))) == {"type", "data", "context"}


def test_a_message_in_many_fragments(daemon, fake_bus):
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    text = json.dumps({"data": {"name": "add", "args": {"a": 1, "b": 2}}, "context": {},
                       "type": INVOKE}).encode()
    for at in range(len(text)):
        peer.send_frame(0 if at else 1, text[at:at + 1], final=at == len(text) - 1)
    # Beside what the daemon sends to every bus.
    answers = (json.loads(peer.receive(EVENT_SECONDS)) for _ in range(10))
    assert next(one for one in answers if one["type"].endswith(".response"))["data"]["result"] == {
        "result": 3}


def test_it_comes_back_however_the_bus_ends(daemon, fake_bus):
    daemon(fake_bus.url)
    for ending in ("close frame", "end of file", "reset", "junk"):
        peer = fake_bus.wait_for_client(EVENT_SECONDS)
        assert ask(peer, 1) == 2
        if ending == "close frame":
            peer.send_frame(8, b"\x03\xe8")
        elif ending == "junk":
            peer.socket.sendall(b"\xff" * 100)
        elif ending == "reset":
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
    assert ask(fake_bus.wait_for_client(EVENT_SECONDS), 2) == 3


def abort(peer):
    """Close as ovos-messagebus does when another client has left: at once, with data unread."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def wait_until_done(service, count):
    """So many calls are over, whether their answers were sent or not. The daemon logs each (VERBOSE)."""
    until(lambda: len(re.findall(r" Call \w+ ", service.log())) >= count, EVENT_SECONDS, f"{count} calls over")


def answers_of(peer, count=None, topic=INVOKE):
    """The numbers of the requests that are answered: so many, or until nothing comes."""
    found = []
    try:
        while len(found) != count:
            message = json.loads(peer.receive(EVENT_SECONDS if count else QUIET_SECONDS))
            if message["type"] == topic + ".response":
                found.append(message["context"]["n"])
    except (TimeoutError, Closed, OSError):
        pass
    return found


def test_answers_that_wait_for_a_bus_that_aborts_are_sent_after_it(daemon, fake_bus):
    """None twice: what the system took may have arrived, and a frame that was sent in part is given
    up."""
    count, padding = 400, "x" * 50000
    service = daemon(fake_bus.url, configuration=VERBOSE)
    peer = fake_bus.wait_for_client()
    for number in range(count):
        peer.send(json.dumps({"type": INVOKE, "context": {"n": number, "padding": padding},
                              "data": {"name": "add", "args": {"a": 1, "b": 1}}}))
    wait_until_done(service, count)
    abort(peer)
    answered = answers_of(fake_bus.wait_for_client(EVENT_SECONDS))
    assert len(answered) > 10, "not all were taken by the system before"
    assert len(set(answered)) == len(answered)


def test_an_answer_that_is_ready_while_the_bus_is_away_is_sent_when_it_is_back(
        daemon, fake_bus, tmp_path):
    folder, gate = tmp_path / "slow", tmp_path / "gate"
    folder.mkdir()
    (folder / "slow.json").write_text(json.dumps({"kind": "command", "tools": [{
        "name": "slow", "description": "Sleeps.", "command": {"shell": f"until [ -e '{gate}' ]; do sleep 0.01; done; echo {{n}}"},
        "argument_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]}))
    service = daemon(fake_bus.url, toolbox_dirs=[folder])
    peer = fake_bus.wait_for_client()
    until(lambda: " offered" in service.log(), EVENT_SECONDS, "its tools")
    peer.send(json.dumps({"type": INVOKE, "context": {"n": 7},
                          "data": {"name": "slow", "args": {"n": 7}}}))
    abort(peer)
    until(lambda: "The bus is away" in service.log(), EVENT_SECONDS, "the loss noticed")
    gate.touch()
    assert answers_of(fake_bus.wait_for_client(EVENT_SECONDS), 1) == [7]


def test_answers_to_a_bus_that_stays_away_are_given_up(daemon, fake_bus, request):
    if not request.config.getoption("--long"):
        pytest.skip("takes eleven seconds: --long")
    service = daemon(fake_bus.url)
    peer, port = fake_bus.wait_for_client(), fake_bus.port
    for number in range(400):
        peer.send(json.dumps({"type": INVOKE, "context": {"n": number, "padding": "x" * 50000},
                              "data": {"name": "add", "args": {"a": 1, "b": 1}}}))
    time.sleep(0.5)
    fake_bus.close()
    time.sleep(11)
    bus = FakeBus(port)
    try:
        assert answers_of(bus.wait_for_client()) == []
        assert "messages are dropped" in service.log()
    finally:
        bus.close()


def test_a_source_that_floods_does_not_push_out_the_answers_to_others(daemon, fake_bus):
    """A bus that does not read for a while: the flooding source loses its own answers, and perhaps
    those of one in a thousand others, which share its bytes."""
    service = daemon(fake_bus.url, configuration={**VERBOSE, "limits": {"output_queue_bytes": 8 << 20}})
    peer = fake_bus.wait_for_client()
    assert ask(peer) == 1

    def call(number, source, padding):
        peer.send(json.dumps({"type": INVOKE, "data": {"name": "add", "args": {"a": 1, "b": 1}},
                              "context": {"n": number, "source": source, "p": "x" * padding}}))

    for number in range(1000):
        call(number, "flood", 50000 if number < 500 else 100)
    for number in range(1000, 1040):
        call(number, f"skill-{number % 8}", 100)
    wait_until_done(service, 1 + 1040)
    answered = answers_of(peer)
    assert len(answered) < 1000
    assert len([number for number in answered if number >= 1000]) >= 35


@pytest.mark.parametrize(("topic", "data"), [
    (INVOKE, {"name": "absolute", "args": {"value": 1}}), (DISCOVER, {})])
def test_large_responses_to_one_source_do_not_keep_those_to_others_waiting(daemon, fake_bus, tmp_path, topic, data):
    """A bus that reads slowly gets the responses to each source in the order of its requests, but those to
    others after a few of many."""
    manifests.toolbox(tmp_path / "box", "one", [manifests.labs()])
    service = daemon(fake_bus.url, [tmp_path / "box"], configuration=VERBOSE)
    peer = fake_bus.wait_for_client()
    sources = {"flood": range(200), "skill": range(1000, 1010), "other": range(2000, 2010)}

    def send(number, **context):
        peer.send(json.dumps({"type": topic, "data": data, "context": {"n": number, **context}}))

    send(-1)
    assert answers_of(peer, 1, topic) == [-1]
    for source, numbers in sources.items():
        for number in numbers:
            send(number, source=source, p="x" * 50000 if source == "flood" else "")
    # A call after them: once it is over, all before it have been taken.
    peer.send(json.dumps({"type": INVOKE, "data": {"name": "absolute", "args": {"value": 1}}, "context": {"n": -2}}))
    count = sum(map(len, sources.values()))
    wait_until_done(service, count + 2 if topic == INVOKE else 1)
    answered = [number for number in answers_of(peer, count + (topic == INVOKE), topic) if number >= 0]
    for numbers in sources.values():
        assert [number for number in answered if number in numbers] == list(numbers)
    assert max(answered.index(number) for number in (1009, 2009)) < 150


def test_waits_between_attempts_grow(daemon, fake_bus):
    """0.5 s, doubling, with jitter: never at once, and not in step with others."""
    daemon(fake_bus.url)
    times = []
    for _ in range(4):
        connection = fake_bus.wait_for_connection(EVENT_SECONDS)
        times.append(time.monotonic())
        connection.close()
    waits = [later - earlier for earlier, later in zip(times, times[1:])]
    # A machine may make each of them longer.
    assert waits[0] > 0.2 and waits[2] > 0.8, waits


def test_a_bus_that_comes_late(daemon):
    port = free_port()
    daemon(f"ws://127.0.0.1:{port}/core")
    bus = FakeBus(port)
    try:
        assert ask(bus.wait_for_client(EVENT_SECONDS)) == 1
    finally:
        bus.close()


def call_until_lost(caller, count):
    """Up to `count` calls in a row; the number answered. Ends when the bus does."""
    for number in range(count):
        try:
            mark = caller.send(INVOKE, {"name": "add", "args": {"a": number, "b": 0}})
            answer = caller.answer_to(INVOKE, mark, 10 * QUIET_SECONDS)
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
    until(answered, EVENT_SECONDS, "an answer over the bus that came back")


def test_the_real_bus_is_killed_and_restarted_under_load(daemon, tmp_path):
    """Nothing is lost but what was in flight, with one call at a time at most one per outage; and
    nothing is answered twice."""
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
                        message = caller.receive(QUIET_SECONDS)
                        if message.type == INVOKE + ".response":
                            answered.append(message.context["mark"])
                except (Closed, OSError):
                    pass
                assert len(set(answered)) == len(answered) and set(answered) <= set(marks)
            bus = OvosBus(bus.home, bus.port)
            wait_until_served(bus.url)
            with Caller(bus.url) as caller:
                assert call_until_lost(caller, 20) == 20
                late = [message.context["mark"] for message in caller.settle()
                        if message.type == INVOKE + ".response"
                        and message.context.get("mark") in marks]
                assert len(set(late)) == len(late) and not set(late) & set(answered)
        assert one.process.poll() is None
    finally:
        bus.kill()


class MortalBus:
    """A bus that is killed and started again at one address: a toolboxd without toolboxes."""

    def __init__(self, home):
        self.home, self.port, self.process = home, free_port(), None
        (home / "none").mkdir(parents=True)
        self.url = f"ws://127.0.0.1:{self.port}/core"

    def start(self):
        self.process = Daemon(self.home, [self.home / "none"], port=self.port, expect_start=False)
        until(lambda: listens(self.port), EVENT_SECONDS, "the bus listening")

    def kill(self):
        self.process.kill()


def seconds_until_back(url, limit=EVENT_SECONDS):
    """From now until a call is answered over this bus."""
    began = time.monotonic()

    def is_answered():
        try:
            return caller.call(PERSONA_CALL, call, seconds=ASK_SECONDS)["result"] == {"result": 3}
        except TimeoutError:
            return False

    call = {"toolbox_id": "math_tools", "name": "add", "kwargs": {"a": 1, "b": 2}}
    with Caller(url) as caller:
        until(is_answered, limit, "an answer over the bus that came back")
        return time.monotonic() - began


def test_a_bus_that_is_killed_and_comes_back_again_and_again(
        daemon, tmp_path, times, figure):
    """Back each time within two seconds, and nothing kept of the connections that were. (A bus
    that a busy machine took more than a second to start again is waited for longer.)"""
    bus = MortalBus(tmp_path / "bus")
    bus.start()
    service = daemon(bus.url)
    seconds_until_back(bus.url)
    back, back_late, before = [], [], None
    try:
        for number in range(times(50, 1000)):
            killed = time.monotonic()
            bus.kill()
            bus.start()
            was_short = time.monotonic() - killed < 1
            (back if was_short else back_late).append(seconds_until_back(bus.url))
            if number == 10:
                before = resident_kb(service.pid), descriptors(service.pid)
        grown_kb = resident_kb(service.pid) - before[0]
        figure("restarts", len(back) + len(back_late))
        figure("back_s_median", sorted(back)[len(back) // 2])
        figure("back_s_max", max(back))
        figure("outages_over_1_s", len(back_late))
        figure("grown_kb", grown_kb)
        figure("descriptors", (before[1], descriptors(service.pid)))
        assert max(back) <= at_most(HOLD_SECONDS)
        assert descriptors(service.pid) <= before[1]
        assert IS_SANITIZED or grown_kb < GROWTH_KB_MAX
    finally:
        bus.kill()


def test_a_bus_that_is_away_for_long(daemon, tmp_path, times, figure):
    """Looked for less and less often, at next to no cost."""
    bus = MortalBus(tmp_path / "bus")
    bus.start()
    service = daemon(bus.url)
    seconds_until_back(bus.url)
    bus.kill()
    before, cpu = resident_kb(service.pid), cpu_ns(service.pid)
    began = time.monotonic()
    time.sleep(times(5, 600))
    away = time.monotonic() - began
    figure("away_s", away)
    figure("cpu_ms", (cpu_ns(service.pid) - cpu) / 1e6)
    figure("grown_kb", resident_kb(service.pid) - before)
    figure("log_lines", service.log().count("cannot reach"))
    assert IS_SANITIZED or resident_kb(service.pid) - before < GROWTH_KB_MAX
    assert service.log().count("cannot reach") <= 8 + away / 20
    bus.start()
    try:
        figure("back_s", seconds_until_back(bus.url, at_most(BACKOFF_SECONDS + 2)))
    finally:
        bus.kill()


def test_a_bus_that_is_mute_is_left(daemon, fake_bus, request, figure):
    """It accepts and answers neither pings nor anything: noticed 20 + 10 s later."""
    if not request.config.getoption("--long"):
        pytest.skip("takes half a minute: --long")
    daemon(fake_bus.url)
    peer = fake_bus.wait_for_client()
    start = time.monotonic()
    opcode, _, _ = peer.receive_frame(start + 25)
    assert opcode == 9 and 19 < time.monotonic() - start < 22
    fake_bus.wait_for_client(15)
    figure("left_s", time.monotonic() - start)
    assert 28 < time.monotonic() - start < 45


def test_a_bus_that_accepts_and_says_nothing(daemon, fake_bus, figure):
    """Not even to the handshake: given up, and tried again."""
    daemon(fake_bus.url)
    fake_bus.wait_for_connection()
    start = time.monotonic()
    fake_bus.wait_for_connection(EVENT_SECONDS)
    figure("left_s", time.monotonic() - start)


def test_a_bus_in_a_black_hole(daemon, figure):
    """A connection that is never answered, not even by a refusal: given up, and tried again. A
    socket whose one place for a connection is taken lets the others wait so."""
    hole, taken = socket.socket(), socket.socket()
    hole.bind(("127.0.0.1", 0))
    hole.listen(0)
    taken.connect(hole.getsockname())
    try:
        service = daemon(f"ws://127.0.0.1:{hole.getsockname()[1]}/core")
        start, cpu = time.monotonic(), cpu_ns(service.pid)
        until(lambda: "cannot reach" in service.log(), EVENT_SECONDS, "the attempt given up")
        figure("left_s", time.monotonic() - start)
        figure("cpu_ms", (cpu_ns(service.pid) - cpu) / 1e6)
    finally:
        taken.close()
        hole.close()


# --- a bus that does not read

def frames_of(first, count):
    """Invokes as a bus sends them, `count` of them in one piece."""
    piece = bytearray()
    for number in range(first, first + count):
        text = json.dumps({"type": INVOKE, "context": {"n": number}, "data": {
            "name": "add", "args": {"a": number, "b": 1}}}).encode()
        piece += struct.pack("!BB" if len(text) < 126 else "!BBH", 0x81,
                             *((len(text),) if len(text) < 126 else (126, len(text)))) + text
    return bytes(piece)


def flood(peer, service, seconds):
    """Calls at CALLS_PER_S for so long, whose answers are not taken: how many, and by how much the
    daemon grew at most. None when TCP has come to a stop, both ways: where Linux drops a segment for
    want of room it drops the acknowledgement in it, too, and the next attempts are doubled in time.
    A daemon that did not read would look the same, but every time."""
    before, began, sent, peak_kb = resident_kb(service.pid), time.monotonic(), 0, 0
    peer.socket.settimeout(STALL_SECONDS)
    while time.monotonic() < began + seconds:
        try:
            peer.socket.sendall(frames_of(sent, BATCH))
        except TimeoutError:
            return None
        sent += BATCH
        peak_kb = max(peak_kb, resident_kb(service.pid) - before)
        time.sleep(max(0, began + sent / CALLS_PER_S - time.monotonic()))
    return sent, peak_kb


def flooded(daemon, queue_bytes, seconds):
    """A daemon, its bus and what flood() told, of the first attempt that came to its end."""
    for _ in range(STALLS_MAX + 1):
        bus = FakeBus()
        service = daemon(bus.url, configuration={"limits": {"output_queue_bytes": queue_bytes}})
        peer = bus.wait_for_client()
        # The daemon has its records of calls before it is measured. What TCP has learned meanwhile is forgotten.
        for _ in range(CALLS_KEPT):
            assert ask(peer) == 1
        peer.close()
        peer = bus.wait_for_client(EVENT_SECONDS)
        assert ask(peer) == 1
        before = resident_kb(service.pid)
        done = flood(peer, service, seconds)
        if done:
            return bus, service, peer, before, *done
        bus.close()
    raise AssertionError(f"the daemon has stopped reading {STALLS_MAX + 1} times in a row")


def test_a_bus_that_stops_reading_under_load(daemon, times, figure):
    """Calls come, and their answers are not taken: the queue is bounded, what does not fit is
    dropped and told, and the bus that reads again is served like any."""
    queue_bytes, seconds = times(QUEUE_BYTES, QUEUE_BYTES_LONG), times(5, 60)
    bus, service, peer, before, sent, peak_kb = flooded(daemon, queue_bytes, seconds)
    try:
        answered, start = set(), time.monotonic()
        while True:
            try:
                message = json.loads(peer.receive(QUIET_SECONDS))
            except TimeoutError:
                break
            if message["type"] == INVOKE + ".response":
                assert message["context"]["n"] not in answered
                answered.add(message["context"]["n"])
        figure("calls", sent)
        figure("calls_per_s", sent / seconds)
        figure("answered", len(answered))
        figure("dropped", sent - len(answered))
        figure("peak_kb", peak_kb)
        figure("drained_s", time.monotonic() - start)
        assert ask(peer, 7) == 8
        left_kb = resident_kb(service.pid) - before
        figure("left_kb", left_kb)
        assert 0 < len(answered) < sent
        assert "the output queue is full" in service.log()
        assert f"{sent - len(answered)} were dropped meanwhile" in service.log()
        assert IS_SANITIZED or peak_kb <= queue_bytes / 1024 + SPARE_KB
        assert IS_SANITIZED or left_kb <= GROWTH_KB_MAX
    finally:
        bus.close()
