# SPDX-License-Identifier: Apache-2.0
"""A bus of others that is reached by TLS (websocket.ssl, wss://)."""
import json
import ssl

import pytest
from fake_bus import FakeBus
from processes import SLOWNESS
from test_http_tls import certificate
from test_reconnect import ask, daemon  # noqa: F401  (a fixture)
from websocket_peer import Peer

VALIDATE = "ovos.tools.validate"  # answered at once
COUNT, PADDING = 300, "x" * 50000


class TlsBus(FakeBus):
    def __init__(self, files):
        super().__init__()
        self.url = f"wss://localhost:{self.port}/core"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(files["cert"], files["key"])

    def wait_for_client(self, seconds=10 * SLOWNESS):
        encrypted = self.context.wrap_socket(self.wait_for_connection(seconds), server_side=True)
        peer = Peer.accept(encrypted)
        self.clients.append(peer)
        return peer


@pytest.fixture
def bus(tmp_path, daemon):  # noqa: F811
    files = certificate(tmp_path, "bus")
    bus = TlsBus(files)
    daemon(bus.url, env={"SSL_CERT_FILE": files["cert"]})
    yield bus
    bus.close()


def test_it_is_served_like_any(bus):
    assert ask(bus.wait_for_client(), 6) == 7


def test_a_bus_that_does_not_read_is_read_on(bus):
    """It may be one that waits for us before it reads."""
    peer = bus.wait_for_client()
    for number in range(COUNT):
        peer.send(json.dumps({"type": VALIDATE, "context": {"n": number, "padding": PADDING},
                              "data": {"name": "add", "args": {"a": number, "b": 1}}}))
    seen = set()
    while len(seen) < COUNT:
        message = json.loads(peer.receive(20 * SLOWNESS))
        if message["type"] == VALIDATE + ".response":
            number = message["context"]["n"]
            assert number not in seen and message["context"]["padding"] == PADDING
            assert message["data"]["valid"]
            seen.add(number)
