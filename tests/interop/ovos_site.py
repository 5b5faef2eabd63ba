# SPDX-License-Identifier: Apache-2.0
"""OVOS itself, with skills that others have written.

    Core(site, home, bus.url)    ovos-core of a site (sites.py): its skills and its intents, as a client of a bus
    Device(bus.url)              ears and mouth: says what a person says, hears what is spoken

    Device ──▶ bus ◀──▶ ovos-core ─ skills
                ▲
                └────▶ toolboxd

No microphone, no sound: Device answers for ovos-audio, so that no skill waits for the end of speech.
"""
import contextlib
import itertools
import json
import socket
import threading
import time

from processes import EVENT_SECONDS, Process, environment, until, write_configuration
from websocket_peer import Closed, Peer

# A core that imports its pipelines on a busy machine.
START_SECONDS = EVENT_SECONDS

# What ovos-bus-client marks of the two frames that it sends of one message: the one with the other name.
TWINS = ("_namespace_compat_twin", "_intent_compat_twin")

# Keywords by adapt; templates by padacioso, whose version for ovos-core 2 starts processes for each utterance, so that
# templates match nothing there.
HIGH = ["ovos-stop-pipeline-plugin-high", "ovos-converse-pipeline-plugin"]
LOW = ["ovos-adapt-pipeline-plugin-high", "ovos-fallback-pipeline-plugin-high", "ovos-adapt-pipeline-plugin-medium",
       "ovos-fallback-pipeline-plugin-medium", "ovos-fallback-pipeline-plugin-low"]
PIPELINES = {"ovos2": HIGH + LOW, "ovos3": HIGH + ["ovos-padacioso-pipeline-plugin-high"] + LOW}

# What ovos-core asks others at its start, for seconds each: their answers.
OTHERS = {
    "mycroft.skills.train": ("mycroft.skills.trained", {}),
    "ovos.PHAL.internet_check": ("ovos.PHAL.internet_check.response", {"internet_connected": True, "network_connected": True}),
    "gui.status.request": ("gui.status.request.response", {"connected": False}),
}

# No person answers faster. ovos-core 2 takes messages in threads, those of one millisecond in any order.
REACTION_SECONDS = 0.5

_serial = itertools.count(1)


class Core(Process):
    """ovos-core: the service of skills and the one of intents, in one process."""

    def __init__(self, site, home, url, skills=(), path=None):
        """@skills: the skills that have to be there; @path: a folder with packages beside those of the site."""
        self.site, self.url, self.skills = site, url, skills
        env = environment(home, **({"PYTHONPATH": str(path)} if path else {}))
        where = url.removeprefix("ws://").split("/")[0].split(":")
        write_configuration(home, {
            "websocket": {"host": where[0], "port": int(where[1]), "route": "/core", "ssl": False},
            "lang": "en-us", "log_level": "DEBUG", "logs": {"path": "stdout"},
            "intents": {"pipeline": PIPELINES[site.folder.name]}})
        super().__init__([site.python, "-m", "ovos_core", "--disable-installer", "--disable-file-watcher"], env,
                         home / "core.log")

    def wait_until_ready(self, device):
        """Until its skills are loaded and its pipelines are trained: asked each second, as the first question
        may come before it is on the bus."""
        def is_ready():
            assert self.process.poll() is None, f"it has ended:\n{self.log()}"
            return all(device.is_ready(name) for name in ("skills", "intents"))

        until(is_ready, START_SECONDS, "ovos-core ready")
        until(lambda: all(f"{skill} is ready" in self.log() for skill in self.skills), START_SECONDS, f"{self.skills} loaded")
        return self


class Device:
    """What a person has of a device, in a thread: each frame that came is kept; what is spoken in the session
    `default` is over at once, and its volume is what was set."""

    def __init__(self, url):
        self.peer = Peer(url)
        self.frames = []          # every message that is no twin, in the order in which it came
        self.volume = 0.75        # a fraction
        self.news = threading.Condition()
        self.sending = threading.Lock()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def close(self):
        with contextlib.suppress(OSError):
            self.peer.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.peer.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        with contextlib.suppress(Closed, OSError, ValueError):
            while True:
                with contextlib.suppress(TimeoutError):
                    self._take(json.loads(self.peer.receive(EVENT_SECONDS)))

    def _take(self, message):
        context = message.get("context") or {}
        if any(context.get(mark) for mark in TWINS):
            return
        if message["type"] in OTHERS:
            self.send(*OTHERS[message["type"]], context)
        if message["type"] in SPEAK and session_of(message) == "default":
            for topic in ("recognizer_loop:audio_output_start", "recognizer_loop:audio_output_end"):
                self.send(topic, {}, {"session": context.get("session")})
        if message["type"] in VOLUME and session_of(message) == "default":
            self._play_volume(message, context)
        with self.news:
            self.frames.append(message)
            self.news.notify_all()

    def _play_volume(self, message, context):
        """As ovos-PHAL-plugin-alsa: a change is told to everybody, too, by the response that nobody has asked for."""
        is_change = message["type"] == "mycroft.volume.set"
        if is_change:
            self.volume = message["data"]["percent"]
        self.send("mycroft.volume.get.response", {"percent": self.volume, "muted": False}, {} if is_change else context)

    def send(self, topic, data=None, context=None):
        """Send a message in the session `default`, or that of the context; its mark."""
        mark = f"device-{next(_serial)}"
        context = {"source": "audio", "session": {"session_id": "default"}, "mark": mark, **(context or {})}
        with self.sending:
            self.peer.send(json.dumps({"type": topic, "data": data or {}, "context": context}))
        return mark

    def wait_for(self, is_it, seconds=EVENT_SECONDS, since=0):
        """The first message that is it, from the frame with the number `since` on."""
        deadline = time.monotonic() + seconds
        with self.news:
            while True:
                for message in self.frames[since:]:
                    if is_it(message):
                        return message
                since = max(since, len(self.frames))
                left = deadline - time.monotonic()
                if left <= 0 or not self.news.wait(left):
                    raise TimeoutError(f"not among {len(self.frames)} messages; the last: "
                                       f"{[(one['type'], one.get('data')) for one in self.frames[-8:]]}")

    def ask(self, topic, data=None, reply=None, seconds=EVENT_SECONDS):
        """The data of the reply to a message."""
        since = len(self.frames)
        mark = self.send(topic, data)
        wanted = reply or f"{topic}.response"
        return self.wait_for(lambda message: message["type"] == wanted
                             and message["context"].get("mark") == mark, seconds, since)["data"]

    def is_ready(self, service):
        with contextlib.suppress(TimeoutError):
            return self.ask(f"mycroft.{service}.is_ready", seconds=1)["status"]
        return False

    def utter(self, utterance, session=None):
        """Say it in a session; the mark of the message."""
        time.sleep(REACTION_SECONDS)
        return self.send("recognizer_loop:utterance", {"utterances": [utterance], "lang": "en-us"},
                         {"session": session} if session else {})

    def say(self, utterance, session_id="default", lang="en-us", seconds=EVENT_SECONDS):
        """Say it, and wait until the assistant is done with it: what it spoke in this session meanwhile."""
        since = len(self.frames)
        mark = self.utter(utterance, {"session_id": session_id, "lang": lang})
        self.wait_for(lambda message: message["type"] == "ovos.utterance.handled"
                      and message["context"].get("mark") == mark, seconds, since)
        return self.spoken(since, session_id)

    def spoken(self, since=0, session_id="default"):
        return [message["data"]["utterance"] for message in self.frames[since:]
                if message["type"] in SPEAK and session_of(message) == session_id]


SPEAK = ("speak", "ovos.utterance.speak")
VOLUME = ("mycroft.volume.get", "mycroft.volume.set")


def session_of(message):
    return ((message.get("context") or {}).get("session") or {}).get("session_id", "default")
