# SPDX-License-Identifier: Apache-2.0
"""A model that says what a script wants: a server of OpenAI's Chat Completions for tests, and for
authors who try their tools without a model.

    with ModelServer() as server:                    # http://127.0.0.1:PORT/v1
        server.script(
            calls(("add", {"a": 3, "b": 4})),        # the first request: a call of a tool
            says("That makes 7."))                   # the second: an answer
        …
        server.requests                              # the bodies that came, as Python objects

An entry of a script is a Reply, or a function that takes the body of the request and returns one. Without
an entry the server answers with what it was given as `otherwise` (a Reply). Replies stream:

    says(text, …)          text, word by word
    calls((name, arguments), …)   calls of tools; arguments are an object, or a text as it is
    status(code, …)        another status
    raw(bytes, …)          any bytes as the whole body

Each takes ways to misbehave: `step` (bytes of a chunk; 1 is one byte at a time), `cut` (bytes after which the
connection is closed), `stall` (an event after whose first byte the server waits until it is set), `usage`,
`finish`, `done` (whether [DONE] comes), `stream` (False: one object).

As a program it answers every request in the same way, and prints what came:

    python3 tests/interop/model_server.py --port 8080 --say "It is noon."
"""
import argparse
import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Reply:
    def __init__(self, deltas=(), finish="stop", done=True, usage=None, step=None, cut=None, stall=None,
                 code=200, headers=None, body=None, stream=True, wait=None):
        self.deltas, self.finish, self.done, self.usage = deltas, finish, done, usage
        self.step, self.cut, self.stall, self.code, self.wait = step, cut, stall, code, wait
        self.headers, self.body, self.stream = headers or {}, body, stream

    def whole(self):
        """One object, as a server answers that does not stream."""
        message = {"role": "assistant", "content": None}
        for delta in self.deltas:
            if delta.get("content"):
                message["content"] = (message["content"] or "") + delta["content"]
            for call in delta.get("tool_calls", []):
                message.setdefault("tool_calls", []).append(call)
        return {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}], "usage": self.usage}

    def events(self):
        for delta in self.deltas:
            yield {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        if self.finish:
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]}
        if self.usage:
            yield {"choices": [], "usage": self.usage}

    def bytes(self):
        if self.body is not None:
            return self.body
        if not self.stream:
            return json.dumps(self.whole()).encode()
        text = "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in self.events())
        return (text + ("data: [DONE]\n\n" if self.done else "")).encode()

    def type(self):
        return "text/event-stream" if self.body is None and self.stream else "application/json"


def says(text, **ways):
    words = text.split(" ")
    return Reply([{"content": word if i == 0 else " " + word} for i, word in enumerate(words)], **ways)


def calls(*made, text=None, ids=None, **ways):
    deltas = [{"content": text}] if text else []
    for i, (name, arguments) in enumerate(made):
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        deltas.append({"tool_calls": [{"index": i, "id": ids[i] if ids else f"call-{i}", "type": "function",
                                       "function": {"name": name, "arguments": given}}]})
    return Reply(deltas, **{"finish": "tool_calls", **ways})


def status(code, message="no", **headers):
    return Reply(code=code, headers=headers, body=json.dumps({"error": {"message": message}}).encode())


def raw(body, kind="application/json", **ways):
    return Reply(body=body, headers={"Content-Type": kind}, **ways)


class ModelServer:
    def __init__(self, port=0, otherwise=None):
        self.entries, self.requests, self.heads = [], [], []
        self.came_ns, self.sent_ns = [], []  # when each request had come, and each answer was sent
        self.otherwise = otherwise or says("Nothing is left of the script.")
        self.lock = threading.Lock()
        self.came = threading.Condition(self.lock)
        self.going = threading.Event()  # set at the end: nobody stalls any longer
        self.server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def script(self, *entries):
        """Forget what was, and answer the next requests so."""
        with self.lock:
            self.entries, self.requests, self.heads = list(entries), [], []
            self.came_ns, self.sent_ns = [], []

    def wait_for_requests(self, n, seconds):
        with self.came:
            assert self.came.wait_for(lambda: len(self.requests) >= n, seconds), \
                f"{len(self.requests)} requests came, not {n}"

    def _take(self, head, body):
        with self.came:
            self.came_ns.append(time.monotonic_ns())
            self.heads.append(head)
            self.requests.append(body)
            entry = self.entries.pop(0) if self.entries else self.otherwise
            self.came.notify_all()
        return entry(body) if callable(entry) else entry

    def _handler(server):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # With Nagle's algorithm the second part of an answer waits for an acknowledgement.
            disable_nagle_algorithm = True
            wbufsize = -1

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(Reply(body=b'{"data": []}'))

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with contextlib.suppress(OSError):
                    self._send(server._take(dict(self.headers), json.loads(body)))
                    server.sent_ns.append(time.monotonic_ns())

            def _send(self, reply):
                body = reply.bytes()
                is_whole = reply.cut is None and reply.stall is None
                while reply.wait and not (reply.wait.wait(0.05) or server.going.is_set()):
                    pass
                self.send_response(reply.code)
                for name, value in {"Content-Type": reply.type(), **reply.headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                if is_whole:
                    self.send_header("Content-Length", str(len(body)))
                else:
                    self.send_header("Connection", "close")
                    self.close_connection = True
                self.end_headers()
                if reply.stall is not None:
                    self._write(body[:reply.cut or 1])
                    while not (reply.stall.wait(0.05) or server.going.is_set()):
                        pass
                    body = body[reply.cut or 1:]
                elif reply.cut is not None:
                    body = body[:reply.cut]
                for at in range(0, len(body), reply.step or max(len(body), 1)):
                    self._write(body[at:at + (reply.step or len(body))])

            def _write(self, part):
                self.wfile.write(part)
                self.wfile.flush()

        return Handler

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.going.set()
        self.server.shutdown()
        self.server.server_close()


def main():
    parser = argparse.ArgumentParser(description="A model that always says the same.")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--say", default="It is noon.")
    options = parser.parse_args()
    with ModelServer(options.port, says(options.say)) as server:
        print(f"serving {server.url}", flush=True)
        seen = 0
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                server.wait_for_requests(seen + 1, 1 << 30)
                print(json.dumps(server.requests[seen], indent=1), flush=True)
                seen += 1


if __name__ == "__main__":
    main()
