# SPDX-License-Identifier: Apache-2.0
"""A bus that a test makes up: one client at a time, and nothing happens that the test does not do.
For what real buses do rarely: other greetings, silence, not reading."""
import socket

from processes import EVENT_SECONDS
from websocket_peer import Peer


class FakeBus:
    def __init__(self, port=0, receive_bytes=1 << 16):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Small, so that not reading is soon noticed; inherited by what is accepted.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.bind(("127.0.0.1", port))
        self.socket.listen()
        self.port = self.socket.getsockname()[1]
        self.url = f"ws://127.0.0.1:{self.port}/core"
        self.clients = []

    def wait_for_connection(self, seconds=EVENT_SECONDS):
        """A TCP connection, with nothing said on it."""
        self.socket.settimeout(seconds)
        connection, _ = self.socket.accept()
        connection.settimeout(None)
        self.clients.append(connection)
        return connection

    def wait_for_client(self, seconds=EVENT_SECONDS):
        """A websocket client, greeted by nobody."""
        peer = Peer.accept(self.wait_for_connection(seconds))
        self.clients.append(peer)
        return peer

    def close(self):
        for client in self.clients:
            client.close()
        self.socket.close()
