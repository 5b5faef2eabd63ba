# SPDX-License-Identifier: Apache-2.0
"""HiveMind: a hub beside a bus, and satellites, each a process with packages of their own (sites.py).

    Satellite ─┐
    Satellite ─┴─▶ Hub (hivemind-core) ◀──▶ bus ◀──▶ toolboxd
"""
import json
import subprocess
import threading
import time

from processes import EVENT_SECONDS, ROOT, Process, environment, free_port, listens, until

SATELLITE = ROOT / "tests" / "interop" / "satellite.py"


class Hub(Process):
    """hivemind-core beside the bus at `bus_url`, on a port of loopback alone."""

    def __init__(self, site, home, bus_url):
        self.site, self.home, self.port = site, home, free_port()
        self.env = environment(home, COLUMNS="200")
        websocket = {"host": "127.0.0.1", "port": self.port, "ssl": False,
                     "cert_dir": str(home), "cert_name": "hub"}
        agent = {"host": "127.0.0.1", "port": int(bus_url.split(":")[2].split("/")[0])}
        configuration = home / "config" / "hivemind-core" / "server.json"
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text(json.dumps({
            "network_protocol": {"hivemind-websocket-plugin": websocket},
            "agent_protocol": {"module": "hivemind-ovos-agent-plugin", "hivemind-ovos-agent-plugin": agent}}))
        super().__init__([site.program("hivemind-core"), "listen"], self.env, home / "hub.log")
        until(lambda: listens(self.port), EVENT_SECONDS, f"the hub listening:\n{self.log()}")

    def command(self, *words):
        """Run hivemind-core with these words; what it printed."""
        done = subprocess.run([self.site.program("hivemind-core"), *words], env=self.env, cwd=self.home,
                              capture_output=True, text=True, timeout=EVENT_SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout


class Satellite:
    """A device that is no part of the bus: what it sends goes through the hub, and what the hub sends to it is kept."""

    def __init__(self, hub, name, key, password):
        self.hub, self.came, self.news = hub, [], threading.Condition()
        home = hub.home / name
        self.process = subprocess.Popen(
            [hub.site.python, SATELLITE, str(hub.port), name, key, password], env=environment(home), cwd=home,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(home / "satellite.log", "wb"), text=True)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        self.wait_for("connected")

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                with self.news:
                    self.came.append(json.loads(line))
                    self.news.notify_all()

    def send(self, topic, data=None, **context):
        self.process.stdin.write(json.dumps({"type": topic, "data": data or {}, "context": context}) + "\n")
        self.process.stdin.flush()

    def wait_for(self, topic, seconds=EVENT_SECONDS, **members):
        """Take the first message on this topic whose data has these members; TimeoutError without one."""
        deadline = time.monotonic() + seconds
        with self.news:
            while True:
                for message in self.came:
                    if message["type"] == topic and members.items() <= message.get("data", {}).items():
                        self.came.remove(message)
                        return message
                left = deadline - time.monotonic()
                if left <= 0 or not self.news.wait(left):
                    raise TimeoutError(f"{topic} {members} is not among {self.came[-3:]}")

    def call(self, topic, data=None, seconds=EVENT_SECONDS):
        self.send(topic, data)
        return self.wait_for(f"{topic}.response", seconds)["data"]

    def reconnect(self):
        """Lose the connection, and wait until it is there again."""
        self.send("reconnect")
        self.wait_for("connected")

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.thread.join()
