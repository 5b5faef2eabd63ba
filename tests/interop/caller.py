# SPDX-License-Identifier: Apache-2.0
"""A caller on the bus that sees every byte: sends messages, finds the answer to its own, counts
what else came. Each answer and each broadcast is held to the rules that all of them obey: no top-level
key but the three, data that satisfies the message's schema in schemas/."""
import itertools
import json
import time

import message_schemas
from processes import EVENT_SECONDS
from websocket_peer import Closed, Peer

# Requests of so many characters may be read beside the loop, and be answered later.
LONG_CHARACTERS = 128 << 10
STATUS = "ovos.tools.status"
ALIVE = "mycroft.toolboxd.is_alive"

# The context of what toolboxd says without being asked.
OURS = {"source": "toolboxd", "session": {"session_id": "default"}}

_serial = itertools.count(1)


class Message:
    """A frame that came: its text, and the same parsed. What is no message has no type, and what is
    no context is an empty one."""

    def __init__(self, text):
        self.text = text
        try:
            self.whole = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            self.whole = None
        fields = self.whole if isinstance(self.whole, dict) else {}
        self.type, self.data = fields.get("type"), fields.get("data")
        context = fields.get("context")
        self.context = context if isinstance(context, dict) else {}

    def __repr__(self):
        return self.text if len(self.text) < 2000 else self.text[:2000] + "…"


class Caller:
    def __init__(self, url):
        self.peer = Peer(url)
        self.seen = []  # every message since the last look, in order

    def close(self):
        self.peer.leave()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, topic, data=None, context=None):
        """Send a message; without a context, one that marks it. The mark."""
        mark = f"mark-{next(_serial)}"
        message = {"type": topic, "context": {"mark": mark, **(context or {})}}
        if data is not None:
            message["data"] = data
        self.peer.send(json.dumps(message))
        return mark

    def receive(self, seconds=EVENT_SECONDS):
        message = Message(self.peer.receive(seconds))
        if message.context == OURS:
            check_answer(message)
        self.seen.append(message)
        return message

    def wait_for(self, is_it, seconds=EVENT_SECONDS):
        """The first message from now on that is it."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"not among {len(self.seen)} messages: {self.seen[-5:]}")
            message = self.receive(left)
            if is_it(message):
                return message

    def answer_to(self, topic, mark, seconds=EVENT_SECONDS):
        answer = self.wait_for(lambda message: message.type == topic + ".response"
                               and message.context.get("mark") == mark, seconds)
        check_answer(answer)
        return answer

    def answer_seen_to(self, topic, mark):
        """The answer, which may have come already."""
        return next((one for one in self.seen if one.type == topic + ".response" and one.context.get("mark") == mark),
                    None) or self.answer_to(topic, mark)

    def call(self, topic, data=None, context=None, seconds=EVENT_SECONDS):
        """Send a request; its answer's data."""
        return self.answer_to(topic, self.send(topic, data, context), seconds).data

    def invoke(self, name, args=None, seconds=EVENT_SECONDS, **fields):
        data = {"name": name, **fields}
        if args is not None:
            data["args"] = args
        return self.call("ovos.tools.invoke", data, seconds=seconds)

    def count_tools(self):
        """How many are listed. Python takes many seconds to hold ten thousand definitions to their schema."""
        topic = "ovos.tools.list"
        mark = self.send(topic, {"format": "compact"})
        answer = self.wait_for(lambda message: message.type == topic + ".response"
                               and message.context.get("mark") == mark)
        return len(answer.data["tools"])

    def settle(self, seconds=EVENT_SECONDS):
        """Everything that came until the service has answered a question put now: it reads and
        answers in order, so what it had to say to earlier messages stands before; but see answers_of()."""
        self.call(ALIVE, seconds=seconds)
        seen, self.seen = self.seen, []
        return [message for message in seen if message.type != ALIVE
                and message.type != ALIVE + ".response"]

    def answers_of(self, text, topic):
        """Send a frame as it is; every message on the topic until the service has settled."""
        self.settle()
        self.peer.send(text)
        while len(text) >= LONG_CHARACTERS and self.call(STATUS)["calls"]["checking"] > 0:
            pass
        return [message for message in self.settle() if message.type == topic]


class Lasting(Caller):
    """A caller that many tests share. It answers no ping while others work, so its bus hangs up on it: then it comes
    again. What it was alone in knowing of the service, such as a question that it asked, is gone."""

    LOOK_SECONDS = 0.001

    def __init__(self, url):
        super().__init__(url)
        self.url = url

    def send(self, *args, **fields):
        try:
            while True:
                self.receive(self.LOOK_SECONDS)
        except TimeoutError:
            pass
        except Closed:
            self.peer.close()
            self.peer = Peer(self.url)
        return super().send(*args, **fields)


def check_answer(message):
    assert set(message.whole) == {"type", "data", "context"}, message
    message_schemas.check(message.type, message.data)
