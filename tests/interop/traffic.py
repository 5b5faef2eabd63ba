# SPDX-License-Identifier: Apache-2.0
"""Calls, each of them kept account of: what endurance is measured with.

    Traffic   at a steady pace, whatever happens to those who answer
    Load      from C, as fast as they are answered: a Python would measure itself
"""
import json
import subprocess
import threading
import time
from collections import Counter

from caller import Caller, Message, check_answer
from processes import BUILD, EVENT_SECONDS

INVOKE = "ovos.tools.invoke"
# Names a toolbox, and is answered only by who has it: several services may share a bus.
PERSONA_CALL = "ovos.persona.tools.call"
# So long without the answer to the last calls, and they are lost.
# More are never out at a time: what was late on a busy machine does not come all at once. A queue has room for them.
OPEN_MAX = 200
# The least that a look for answers takes.
TICK_SECONDS = 0.0001


class Traffic(threading.Thread):
    """`calls` calls (None: until end()) of add at `rate` per second, from a thread of its own: invokes,
    of `toolbox_id` if given, or PERSONA_CALLs.

    Afterwards: lost, twice (numbers of calls), wrong (answers that are neither the sum nor a
    documented error), codes (how often which error)."""

    def __init__(self, url, rate, calls=None, toolbox_id=None, topic=INVOKE):
        super().__init__()
        self.url, self.rate, self.calls = url, rate, calls
        self.toolbox_id, self.topic = toolbox_id, topic
        self.ending = threading.Event()
        self.times = bytearray()  # per call: how often it was answered
        self.answered = 0
        self.codes, self.wrong = Counter(), []
        self.lost, self.twice = [], []
        self.start()

    @property
    def sent(self):
        return len(self.times)

    def end(self):
        self.ending.set()
        self.join()
        return self

    def check(self, allowed=()):
        """Nothing lost, nothing twice, no error but the allowed."""
        assert not self.wrong, self.wrong[:5]
        assert not self.lost and not self.twice, (self.lost[:5], self.twice[:5])
        assert set(self.codes) <= set(allowed), self.codes
        return self

    def run(self):
        with Caller(self.url) as self.caller:
            began = time.monotonic()
            while not self._is_over():
                due = began + self.sent / self.rate
                if time.monotonic() < due:
                    self._receive_until(due)
                elif self._wait_for_fewer_than(OPEN_MAX):
                    self._send()
                else:
                    break
            self._wait_for_fewer_than(1)
            # An answer that comes twice would stand before this one.
            self.caller.call(self.topic, self._data(0))
            for message in self.caller.seen:
                self._count(message)
        self.lost = [number for number, times in enumerate(self.times) if not times]
        self.twice = [number for number, times in enumerate(self.times) if times > 1]

    def _is_over(self):
        return self.ending.is_set() if self.calls is None else self.sent == self.calls

    def _wait_for_fewer_than(self, open_max):
        """Whether so many are out at last; the rest is lost."""
        limit = time.monotonic() + EVENT_SECONDS
        while self.sent - self.answered >= open_max and time.monotonic() < limit:
            self._receive_until(limit)
        return self.sent - self.answered < open_max

    def _data(self, number):
        data = {"name": "add", "kwargs" if self.topic == PERSONA_CALL else "args":
                {"a": number, "b": 1}}
        if self.toolbox_id:
            data["toolbox_id"] = self.toolbox_id
        return data

    def _send(self):
        number = self.sent
        self.times.append(0)
        self.caller.peer.send(json.dumps({
            "type": self.topic, "context": {"traffic": self.name, "n": number},
            "data": self._data(number)}))

    def _receive_until(self, limit):
        try:
            text = self.caller.peer.receive(max(limit - time.monotonic(), TICK_SECONDS))
        except TimeoutError:
            return
        if self.topic + ".response" in text and self.name in text:
            self._count(Message(text))

    def _count(self, message):
        if message.type != self.topic + ".response" or message.context.get("traffic") != self.name:
            return
        number = message.context["n"]
        self.answered += not self.times[number]
        self.times[number] += 1
        if message.data.get("result") == {"result": number + 1}:
            return
        check_answer(message)
        if "code" in message.data:
            self.codes[message.data["code"]] += 1
        else:
            self.wrong.append(repr(message))


class Load:
    """bus-load (tests/bench/call), on its way: `calls` calls, `in_flight` of them at a time."""

    PROGRAM = BUILD / "tests" / "bench" / "call" / "bus-load"

    def __init__(self, url, calls, in_flight, data=None, topic=INVOKE):
        data = data or {"name": "add", "args": {"a": 1, "b": 2}}
        self.process = subprocess.Popen(
            [self.PROGRAM, url, topic, json.dumps(data), str(calls), str(in_flight)],
            stdout=subprocess.PIPE, text=True)

    def is_running(self):
        return self.process.poll() is None

    def figures(self):
        """What it measured, when it has ended: each call is answered once, with its own context."""
        text, _ = self.process.communicate()
        assert self.process.returncode == 0
        figures = json.loads(text)
        bad = {key: figures[key] for key in ("lost", "duplicate", "wrong_context") if figures[key]}
        assert not bad and figures["answered"] == figures["calls"], figures
        return figures
