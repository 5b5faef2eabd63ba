# SPDX-License-Identifier: Apache-2.0
"""A client of the HTTP door for the tests: requests by http.client, and raw bytes."""
import http.client
import json
import re
import socket

from caller import Caller
from processes import EVENT_SECONDS, until

LISTENING = re.compile(r"Listening on http://127\.0\.0\.1:(\d+)")


def events_of(text):
    """[(event, data)] of a stream of events. A comment may come at any time, before the first event, too."""
    lines = [[line.split(": ", 1) for line in block.split("\n") if not line.startswith(":")]
             for block in text.decode().strip().split("\n\n")]
    return [(event["event"], json.loads(event["data"])) for event in map(dict, lines) if event]


def port_of(daemon):
    """The port that the log of @daemon names."""
    found = []

    def is_listening():
        found[:] = LISTENING.findall(daemon.log())
        return bool(found)

    until(is_listening, EVENT_SECONDS, "the door open")
    return int(found[-1])


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)


class OnUnixSocket(http.client.HTTPConnection):
    def __init__(self, path, seconds):
        super().__init__("localhost", timeout=seconds)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Http:
    """One connection that is kept alive, to a port or the path of a Unix socket. @address: the peer that the
    door sees."""

    def __init__(self, port, seconds=EVENT_SECONDS, address="127.0.0.1"):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=seconds, source_address=(address, 0)
        ) if isinstance(port, int) else OnUnixSocket(port, seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, body=None, **headers):
        """Send a request; @body: bytes, a text, or a value that is sent as JSON."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        self.connection.request(method, path, body, headers)
        return Answer(self.connection.getresponse())

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, body, **headers)


class Raw:
    """A connection of plain bytes. @address: the peer that the door sees."""

    def __init__(self, port, seconds=EVENT_SECONDS, address="127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port), seconds, source_address=(address, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read_all(self):
        """All bytes until the peer closes."""
        data = b""
        while chunk := self.socket.recv(65536):
            data += chunk
        return data

    def read_until(self, mark):
        data = b""
        while mark not in data:
            chunk = self.socket.recv(65536)
            assert chunk, data
            data += chunk
        return data


def running(service):
    """The calls that run."""
    with Caller(service.url) as caller:
        return caller.call("ovos.tools.calls", {"state": "running"})["calls"]


def wait_until_cancelled(service):
    """No call runs, and the last has come neither to its end nor to its deadline."""
    until(lambda: not running(service), EVENT_SECONDS, "the call over")
    with Caller(service.url) as caller:
        last, = caller.call("ovos.tools.calls", {"limit": 1})["calls"]
        assert last["code"] == "cancelled", last


def statuses(data):
    """The status codes in @data, responses one behind the other."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", data)]


def tokens_file(tmp_path):
    """That of the first daemon that is launched, in a folder that is there."""
    path = tmp_path / "home-0" / "toolboxd" / "config" / "toolboxd" / "tokens.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
