# SPDX-License-Identifier: Apache-2.0
"""Calls at a steady pace, each of them kept account of: what endurance is measured with."""
import json
import threading
import time
from collections import Counter

from caller import Caller, Message, check_answer
from processes import SLOWNESS

INVOKE = "ovos.tools.invoke"
# So long without the answer to the last calls, and they are lost.
PATIENCE_SECONDS = 15 * SLOWNESS


class Traffic(threading.Thread):
    """`calls` invokes (None: until end()) of add at `rate` per second, from a thread of its own.

    Afterwards: lost, twice (numbers of calls), wrong (answers that are neither the sum nor a
    documented error), codes (how often which error)."""

    def __init__(self, url, rate, calls=None, toolbox_id=None):
        super().__init__()
        self.url, self.rate, self.calls, self.toolbox_id = url, rate, calls, toolbox_id
        self.ending = threading.Event()
        self.sent, self.times = 0, Counter()
        self.codes, self.wrong = Counter(), []
        self.lost, self.twice = [], []
        self.start()

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
                if time.monotonic() >= due:
                    self._send()
                else:
                    self._receive_until(due)
            limit = time.monotonic() + PATIENCE_SECONDS
            while len(self.times) < self.sent and time.monotonic() < limit:
                self._receive_until(limit)
            # An answer that comes twice would stand before this one.
            for message in self.caller.settle():
                self._count(message)
        self.lost = [number for number in range(self.sent) if not self.times[number]]
        self.twice = [number for number, times in self.times.items() if times > 1]

    def _is_over(self):
        return self.ending.is_set() if self.calls is None else self.sent == self.calls

    def _send(self):
        number, self.sent = self.sent, self.sent + 1
        data = {"name": "add", "args": {"a": number, "b": 1}}
        if self.toolbox_id:
            data["toolbox_id"] = self.toolbox_id
        self.caller.peer.send(json.dumps(
            {"type": INVOKE, "context": {"traffic": self.name, "n": number}, "data": data}))

    def _receive_until(self, limit):
        try:
            text = self.caller.peer.receive(max(limit - time.monotonic(), 0.0001))
        except TimeoutError:
            return
        if INVOKE + ".response" in text and self.name in text:
            self._count(Message(text))

    def _count(self, message):
        if message.type != INVOKE + ".response" or message.context.get("traffic") != self.name:
            return
        number = message.context["n"]
        self.times[number] += 1
        if message.data.get("result") == {"result": number + 1}:
            return
        check_answer(message)
        if "code" in message.data:
            self.codes[message.data["code"]] += 1
        else:
            self.wrong.append(repr(message))
