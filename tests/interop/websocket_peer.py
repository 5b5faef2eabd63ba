# SPDX-License-Identifier: Apache-2.0
"""One end of a websocket (RFC 6455), as small as a test needs it, so that a test sees the bytes.

    Peer(url)            a client of a bus
    Peer.accept(socket)  the server's side, for buses that a test makes up

Text frames go out unfragmented; what comes in may be fragmented. The masking key of a client is
four zero bytes, which the protocol allows. TCP_QUICKACK is set after every read: without it a bus
that leaves Nagle's algorithm on makes every call wait 40 ms for a delayed ACK.
"""
import base64
import contextlib
import hashlib
import os
import socket
import struct
import time
from urllib.parse import urlsplit

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
ACCEPT_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
READ_BYTES = 1 << 16
HANDSHAKE_SECONDS = 10
LEAVE_SECONDS = 5


class Closed(Exception):
    """The other end is gone."""


class Peer:
    def __init__(self, url, source=None):
        """@source: the address of this machine to come from."""
        where = urlsplit(url)
        self._begin(socket.create_connection((where.hostname, where.port), HANDSHAKE_SECONDS,
                                             source and (source, 0)))
        self.is_client = True
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET {where.path or '/'}{where.query and '?' + where.query} HTTP/1.1\r\n"
            f"Host: {where.netloc}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        status = self._read_head(time.monotonic() + HANDSHAKE_SECONDS).split(b"\r\n")[0]
        if b" 101 " not in status:
            raise Closed(f"the handshake was answered with {status!r}")

    @classmethod
    def accept(cls, connection):
        self = cls.__new__(cls)
        self._begin(connection)
        self.is_client = False
        head = self._read_head(time.monotonic() + HANDSHAKE_SECONDS)
        lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        key = {name.lower(): value for name, value in lines.items()}[b"sec-websocket-key"]
        answer = base64.b64encode(hashlib.sha1(key + ACCEPT_GUID).digest())
        self.socket.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                            b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + answer
                            + b"\r\n\r\n")
        return self

    def _begin(self, connection):
        self.socket = connection
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.gathered = b""  # fragments of a message that is not whole yet

    def close(self):
        """Hang up, without a word."""
        self.socket.close()

    def leave(self):
        """Close as the protocol has it. For ovos-messagebus a client that hangs up is there for a moment more: a
        message of anybody in this moment ends at it, and costs its sender the connection."""
        with contextlib.suppress(OSError, Closed):
            self.socket.settimeout(LEAVE_SECONDS)
            self.send_frame(CLOSE, b"")
            deadline = time.monotonic() + LEAVE_SECONDS
            while True:  # until the server has hung up
                self.buffer.clear()
                self._read_more(deadline)
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- out

    def send(self, text):
        self.send_frame(TEXT, text.encode() if isinstance(text, str) else text)

    def send_frame(self, opcode, payload, final=True):
        mask = 0x80 if self.is_client else 0
        first = (0x80 if final else 0) | opcode
        if len(payload) < 126:
            head = struct.pack("!BB", first, mask | len(payload))
        elif len(payload) < 1 << 16:
            head = struct.pack("!BBH", first, mask | 126, len(payload))
        else:
            head = struct.pack("!BBQ", first, mask | 127, len(payload))
        self.socket.sendall(head + (b"\0\0\0\0" if mask else b"") + payload)

    # --- in

    def receive(self, seconds):
        """The next whole text message as str; bytes that are no UTF-8 become lone surrogates.
        TimeoutError, or Closed."""
        deadline = time.monotonic() + seconds
        while True:
            opcode, final, payload = self.receive_frame(deadline)
            if opcode == PING:
                self.send_frame(PONG, payload)
            elif opcode == CLOSE:
                raise Closed(payload)
            elif opcode in (TEXT, CONTINUATION):
                self.gathered += payload
                if final:
                    text, self.gathered = self.gathered, b""
                    return text.decode(errors="surrogateescape")

    def receive_frame(self, deadline):
        """Takes a whole frame or, when time runs out, nothing: the next call goes on."""
        self._gather(2, deadline)
        first, second = self.buffer[:2]
        at, size = 2, second & 0x7F
        if size >= 126:
            at += 2 if size == 126 else 8
            self._gather(at, deadline)
            size = int.from_bytes(self.buffer[2:at], "big")
        mask_at, at = at, at + (4 if second & 0x80 else 0)
        self._gather(at + size, deadline)
        mask, payload = bytes(self.buffer[mask_at:at]), bytes(self.buffer[at:at + size])
        del self.buffer[:at + size]
        if mask and mask != b"\0\0\0\0":
            repeated = mask * (size // 4 + 1)
            payload = (int.from_bytes(payload, "big")
                       ^ int.from_bytes(repeated[:size], "big")).to_bytes(size, "big")
        return first & 0x0F, bool(first & 0x80), payload

    def _read_more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no frame in time")
        self.socket.settimeout(left)
        try:
            got = self.socket.recv(READ_BYTES)
        except ConnectionError as error:
            raise Closed(str(error)) from error
        finally:
            self.socket.settimeout(None)
        if not got:
            raise Closed("end of file")
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        self.buffer += got

    def _gather(self, size, deadline):
        while len(self.buffer) < size:
            self._read_more(deadline)

    def _read_head(self, deadline):
        while b"\r\n\r\n" not in self.buffer:
            self._read_more(deadline)
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.buffer = bytearray(rest)
        return head
