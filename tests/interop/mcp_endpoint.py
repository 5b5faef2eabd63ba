# SPDX-License-Identifier: Apache-2.0
"""The server of mcp_server.py over HTTP, in a thread of the test."""
import argparse
import contextlib
import json
import queue
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import mcp_server


class Answering(mcp_server.Server):
    """A server whose messages of one request go to its response."""

    def __init__(self, endpoint, legacy):
        super().__init__(argparse.Namespace(legacy=legacy, tools=None, fault=endpoint.fault, page=endpoint.page, resources=endpoint.resources,
                                            exits_on_probe=False, silent_probe=False))
        self.tools = endpoint.tools
        self.messages = queue.Queue()

    def write(self, message):
        self.messages.put(message)


def one_id(message):
    return message.get("id") if isinstance(message, dict) else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def plain(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        """The events of a call after those that were sent; or notifications."""
        endpoint = self.server.endpoint
        endpoint.n_gets += 1
        if self.moves_on(endpoint):
            return
        if endpoint.legacy and endpoint.notifies and not endpoint.polled:
            self.notify(endpoint)
            return
        if not endpoint.polled or not self.headers.get("Last-Event-ID"):
            self.plain(405)
            return
        endpoint.polls -= 1
        self.answer(endpoint, endpoint.polled)

    def notify(self, endpoint):
        """Send notifications until the stream ends, as endpoint.hang_up() has it."""
        server = Answering(endpoint, True)
        endpoint.streams_of_get.append(dict(self.headers.items()))
        endpoint.times_of_get.append(time.monotonic())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b": hello\n\n")
        endpoint.listeners.append((server, None))
        with contextlib.suppress(OSError, queue.Empty):
            while (one := server.messages.get(timeout=endpoint.patience)) is not None:
                self.wfile.write(f"id: {len(endpoint.streams_of_get)}\nretry: 1\ndata: {json.dumps(one)}\n\n".encode())
        endpoint.listeners.remove((server, None))

    def moves_on(self, endpoint):
        """Redirect a request that has not been so often; whether it was."""
        n_moves = int(self.path.removeprefix("/mcp/")) if self.path.startswith("/mcp/") else 0
        if n_moves < endpoint.moves:
            self.plain(308, b"it has moved", Location=f"/mcp/{n_moves + 1}")
        return n_moves < endpoint.moves

    def break_off(self, endpoint):
        """End the connection before the response, and over events after its begin."""
        self.close_connection = True
        if endpoint.streams:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b": hello\n\n")

    def end_early(self, endpoint, message):
        """Number the events, ask for a wait, and end them without a response."""
        endpoint.polled = message
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b"id: 7\nretry: 1\ndata:\n\n")

    def do_DELETE(self):
        self.server.endpoint.deleted.append(self.headers.get("Mcp-Session-Id"))
        self.plain(204)

    def do_POST(self):
        endpoint = self.server.endpoint
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.moves_on(endpoint):
            return
        endpoint.requests.append((message, dict(self.headers.items())))
        method = message.get("method")
        if endpoint.status and method == endpoint.status[0]:
            status = endpoint.status[1]
            endpoint.status = None
            to = endpoint.elsewhere + self.path.removeprefix("/mcp")
            self.plain(status, **({"Location": to} if 300 <= status < 400 else {}))
            return
        if endpoint.mute and method in endpoint.mute[:-1]:
            endpoint.open.wait(endpoint.mute[-1])
        if endpoint.token and self.headers.get("Authorization") != f"Bearer {endpoint.token}":
            self.plain(401)
        elif endpoint.legacy and method == "server/discover":
            self.plain(400, b"what is that?", Content_Type="text/plain")
        elif endpoint.legacy and method != "initialize" and \
                self.headers.get("Mcp-Session-Id") not in endpoint.sessions:
            self.plain(endpoint.forgotten, b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"No session"},"id":null}',
                       Content_Type="application/json")
        elif "id" not in message or method is None:
            self.plain(202)
        elif endpoint.breaks_off and method == "tools/call":
            endpoint.breaks_off -= 1
            self.break_off(endpoint)
        else:
            self.answer(endpoint, message)

    def answer(self, endpoint, message):
        if endpoint.body and message["method"] == "tools/call":
            self.plain(200, endpoint.body[0], Content_Type=endpoint.body[1])
            return
        if endpoint.polls and message["method"] == "tools/call":
            self.end_early(endpoint, message)
            return
        server = Answering(endpoint, endpoint.legacy)
        headers = {}
        if message["method"] == "initialize":
            endpoint.sessions.append(f"session-{len(endpoint.sessions)}")
            headers["Mcp_Session_Id"] = "forgotten" if endpoint.forgets else endpoint.sessions[-1]
        server.take(message)
        if not endpoint.streams:
            while one_id(one := server.messages.get()) != message["id"]:
                pass
            self.plain(200, json.dumps(one).encode(), Content_Type="application/json", **headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b": hello\r\n\r\n")
        if message["method"] == "subscriptions/listen":
            endpoint.listeners.append((server, message["id"]))
        try:
            while True:
                one = server.messages.get(timeout=None if message["method"] != "subscriptions/listen"
                                          else endpoint.patience)
                text = one.replace("\n", "\ndata: ") if isinstance(one, str) else json.dumps(one)
                self.wfile.write(f"event: message\ndata: {text}\n\n".encode())
                self.wfile.flush()
                if one_id(one) == message["id"]:
                    endpoint.after(self, server)
                    return
        except (OSError, queue.Empty):
            endpoint.broken += 1


class Endpoint:
    def __init__(self, legacy=False, streams=False, token=None, tls=None, port=0):
        self.legacy = legacy
        self.streams = streams
        self.token = token
        self.tools = mcp_server.TOOLS
        self.status = None       # (method, status): the next request with it gets that
        self.elsewhere = "http://127.0.0.1:9/other"  # where a redirect of it goes
        self.breaks_off = 0      # so many calls end without a response
        self.moves = 0           # so many redirects come before each response
        self.body = None         # (bytes, type): the response to each call
        self.polls = 0           # how often the events of a call end early
        self.polled = None       # the last call whose events did
        self.notifies = False    # legacy: it has a stream of notifications
        self.times_of_get = []
        self.streams_of_get = []  # the headers of those that were opened
        self.n_gets = 0
        self.fault = None        # as of mcp_server.py
        self.page = 5
        self.resources = False
        self.forgets = False     # it knows none of its sessions
        self.forgotten = 404     # what a session that it does not know gets
        self.mute = None         # (method, …, seconds): requests with one of them wait for so long
        self.open = threading.Event()
        self.listeners = []      # (server, id) of subscriptions
        self.patience = 30
        self.broken = 0
        self.sessions = []
        self.requests = []
        self.deleted = []
        self.http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.http.endpoint = self
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls["cert"], tls["key"])
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.http.server_port}/mcp"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def headers_of(self, method):
        return [headers for message, headers in self.requests if message.get("method") == method]

    @staticmethod
    def after(handler, server):
        """Write what a server sends within a moment after its response."""
        try:
            while True:
                one = server.messages.get(timeout=0.05)
                handler.wfile.write(f"data: {json.dumps(one)}\n\n".encode())
        except queue.Empty:
            pass

    def change(self, tools):
        """Have other tools, and notify those who listen."""
        self.tools = tools
        for server, number in self.listeners:
            server.write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                          "params": {} if number is None else
                          {"_meta": {mcp_server.META + "subscriptionId": number}}})

    def hang_up(self):
        """End the streams of notifications."""
        for server, _ in list(self.listeners):
            server.messages.put(None)

    def close(self):
        self.open.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
