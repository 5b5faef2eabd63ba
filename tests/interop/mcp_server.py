# SPDX-License-Identifier: Apache-2.0
"""A server of the Model Context Protocol over stdio, of the standard library, for toolboxes of kind mcp.

    python3 mcp_server.py [--legacy] [--silent-probe] [--exits-on-probe] [--tools FILE] [--fault FAULT]
                          [--seconds SECONDS] [--journal FILE] [--page TOOLS] [--resources]

Each start adds a line with its process id to the file `starts` in the working folder.
"""
import argparse
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"

NUMBERS = {"type": "object", "required": ["a"],
           "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}}
NOTHING = {"type": "object", "additionalProperties": False}

TOOLS = [
    {"name": "add", "title": "Addition", "description": "Add two integers.", "inputSchema": NUMBERS,
     "outputSchema": {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}},
     "annotations": {"readOnlyHint": True}},
    {"name": "fail", "description": "Fail with two texts.", "inputSchema": NOTHING},
    {"name": "refuse", "description": "Answer with an error.", "inputSchema": NOTHING},
    {"name": "wait", "description": "Answer after a time, with progress.",
     "inputSchema": {"type": "object", "properties": {
         "seconds": {"type": "number"}, "steps": {"type": "integer"}, "until": {"type": "string"}}}},
    {"name": "die", "description": "Die by a signal.", "inputSchema": NOTHING},
    {"name": "leave", "description": "Exit.", "inputSchema": NOTHING},
    {"name": "twice", "description": "Answer twice.", "inputSchema": NOTHING},
    {"name": "stranger", "description": "Answer with another id first.", "inputSchema": NOTHING},
    {"name": "chatter", "description": "Write what is no message before the answer.", "inputSchema": NOTHING},
    {"name": "flood", "description": "Write 4 MB to stderr.", "inputSchema": NOTHING},
    {"name": "breed", "description": "Leave a process behind.", "inputSchema": NOTHING,
     "annotations": {"destructiveHint": False}},
    {"name": "image", "description": "A picture.", "inputSchema": NOTHING},
    {"name": "several", "description": "A list.", "inputSchema": NOTHING, "outputSchema": {"type": "array", "minItems": 2}},
    {"name": "large", "description": "A long text.",
     "inputSchema": {"type": "object", "properties": {"bytes": {"type": "integer"}}}},
    {"name": "environment", "description": "A variable, which goes to stderr, too.",
     "inputSchema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    {"name": "descriptors", "description": "What it has open.", "inputSchema": NOTHING},
    {"name": "ask", "description": "Ask the client before the answer.", "inputSchema": NOTHING},
    {"name": "gather", "description": "Answer when so many calls of it are there, the last one first.",
     "inputSchema": {"type": "object", "properties": {"count": {"type": "integer"}}}},
    {"name": "stop", "description": "Stop the process of the server.", "inputSchema": NOTHING},
    {"name": "change", "description": "Change the description of add, and tell.", "inputSchema": NOTHING},
]

# Not among TOOLS: it writes its text, with its id in the place of ID, as the answer.
RAW = {"name": "raw", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}

RESOURCES = {"test://note": {"mimeType": "text/plain", "text": "a \"note\" é"},
             "test://é picture": {"mimeType": "image/png", "blob": "AAE=", "_meta": {"x": 1.10}}}


class Server:
    def __init__(self, options):
        self.options = options
        self.legacy = options.legacy
        self.lock = threading.Lock()
        self.tools = TOOLS
        self.answers = {}
        self.gathered = []
        self.asked = threading.Event()
        if options.tools:
            with open(options.tools, encoding="utf-8") as file:
                self.tools = json.load(file)

    def write(self, message):
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        with self.lock:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def answer(self, request, result):
        if not self.legacy:
            result = {"resultType": "complete", **result}
        self.write({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def error(self, request, code, text):
        self.write({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text}})

    def text(self, request, text, **more):
        self.answer(request, {"content": [{"type": "text", "text": text}], **more})

    # ── methods ────────────────────────────────────────────────────────────────────────────────

    def capabilities(self):
        return {"tools": {"listChanged": True}, **({"resources": {}} if self.options.resources else {})}

    def discover(self, request):
        if self.options.exits_on_probe:
            sys.exit(3)
        if self.options.silent_probe:
            return
        if self.options.fault == "tells":
            self.tell(request)
            return
        if self.legacy:
            self.error(request, -32601, "Method not found")
            return
        self.answer(request, {"supportedVersions": [MODERN], "capabilities": self.capabilities(),
                              "ttlMs": 3600000, "cacheScope": "private"})

    def tell(self, request):
        """Refuse, and break a rule, with the key."""
        key = os.environ["KEY"]
        self.write({"jsonrpc": "2.0", "id": key, "result": {}})
        self.error(request, -32000, f"the key {key} is not known")

    def initialize(self, request):
        if self.options.fault == "tells":
            self.tell(request)
            return
        if self.options.fault == "only-modern-exits":
            sys.exit(4)
        if self.options.fault == "only-modern":
            self.error(request, -32601, "Method not found")
            return
        self.legacy = True
        self.answer(request, {"protocolVersion": request["params"]["protocolVersion"],
                              "capabilities": self.capabilities(),
                              "serverInfo": {"name": "test", "version": "1"}})

    def list(self, request):
        """Pages of five tools, or of so many."""
        page = self.options.page
        if self.options.fault == "endless":
            self.answer(request, {"tools": self.tools[:1], "nextCursor": str(time.monotonic_ns())})
            return
        cursor = request.get("params", {}).get("cursor")
        if self.options.fault == "volatile" and not cursor:
            self.tools = [{**self.tools[0], "description": f"It is {time.time_ns()}."}, *self.tools[1:]]
        first = int(base64.b64decode(cursor)) if cursor else 0
        result = {"tools": self.tools[first:first + page]}
        if first + page < len(self.tools):
            result["nextCursor"] = base64.b64encode(str(first + page).encode()).decode()
        if not self.legacy:
            result.update(ttlMs=3600000, cacheScope="private")
        self.answer(request, result)

    def list_resources(self, request):
        """Pages of one."""
        at = int(request["params"].get("cursor", 0))
        name, more = list(RESOURCES)[at], at + 1 < len(RESOURCES)
        self.answer(request, {"resources": [{"uri": name, "name": name}], **({"nextCursor": str(at + 1)} if more else {})})

    def read_resource(self, request):
        uri = request["params"]["uri"]
        if uri in RESOURCES:
            self.answer(request, {"contents": [{"uri": uri, **RESOURCES[uri]}]})
        else:
            self.error(request, -32002, "Resource not found")

    def call(self, request):
        params = request["params"]
        tool = getattr(self, "tool_" + params["name"], None)
        if tool is None:
            self.error(request, -32602, "Unknown tool: " + params["name"])
        elif tool == self.tool_gather:  # by the reader: two threads may overtake each other
            tool(request, params.get("arguments", {}))
        else:
            threading.Thread(target=tool, args=(request, params.get("arguments", {})), daemon=True).start()

    # ── tools ──────────────────────────────────────────────────────────────────────────────────

    def tool_add(self, request, args):
        total = args["a"] + args.get("b", 1)
        self.text(request, str(total), structuredContent={"sum": total})

    def tool_several(self, request, _args):
        self.text(request, "[1, 2]", structuredContent=[1, 2])

    def tool_fail(self, request, _args):
        self.answer(request, {"isError": True, "content": [{"type": "text", "text": "no luck"},
                                                           {"type": "text", "text": "at all"}]})

    def tool_refuse(self, request, _args):
        self.error(request, -32000, "not today")

    def tool_wait(self, request, args):
        token = request["params"].get("_meta", {}).get("progressToken")
        steps = args.get("steps", 4)
        while "until" in args and not os.path.exists(args["until"]):
            time.sleep(0.01)
        for step in range(1, steps + 1):
            time.sleep(args.get("seconds", 0.4) / steps)
            if token is not None:
                self.write({"jsonrpc": "2.0", "method": "notifications/progress",
                            "params": {"progressToken": token, "progress": step, "total": steps,
                                       "message": f"step {step}"}})
        self.text(request, "waited")

    def tool_die(self, _request, _args):
        os.kill(os.getpid(), signal.SIGSEGV)

    def tool_leave(self, _request, _args):
        os._exit(7)

    def tool_twice(self, request, _args):
        self.text(request, "once")
        self.text(request, "twice")

    def tool_stranger(self, request, _args):
        self.write({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})
        self.write({"jsonrpc": "2.0", "id": "x", "result": {"content": []}})
        self.text(request, "mine")

    def tool_chatter(self, request, _args):
        self.write("Starting the engine …\n\n{\n[1, 2\n\"text\"\n")
        self.text(request, "done")

    def tool_flood(self, request, _args):
        for _ in range(4096):
            sys.stderr.write("x" * 1023 + "\n")
        sys.stderr.flush()
        self.text(request, "flooded")

    def tool_breed(self, request, _args):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.text(request, str(child.pid))

    def tool_image(self, request, _args):
        self.answer(request, {"content": [{"type": "image", "data": "AAE=", "mimeType": "image/png",
                                           "_meta": {"x": 1.10}}]})

    def tool_large(self, request, args):
        self.text(request, "é" * (args.get("bytes", 1000) // 2))

    def tool_environment(self, request, args):
        value = os.environ.get(args["name"], "")
        print("it is", value, "here", file=sys.stderr, flush=True)
        self.text(request, value)

    def tool_descriptors(self, request, _args):
        found = {}
        for name in os.listdir("/proc/self/fd"):
            try:
                found[name] = os.readlink(f"/proc/self/fd/{name}")
            except OSError:  # the one of the listing
                pass
        self.text(request, json.dumps(found))

    def tool_ask(self, request, _args):
        self.write({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        self.write({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
        self.asked.wait()
        self.text(request, json.dumps([self.answers["p"].get("result"),
                                       self.answers["s"]["error"]["code"]]))

    def tool_gather(self, request, args):
        self.gathered.append(request)
        together = self.gathered if len(self.gathered) == args["count"] else []
        self.gathered = [] if together else self.gathered
        for place, one in reversed(list(enumerate(together))):
            self.text(one, f"{place} of {len(together)}")

    def tool_stop(self, _request, _args):
        os.kill(os.getpid(), signal.SIGSTOP)

    def tool_raw(self, request, args):
        with self.lock:
            sys.stdout.buffer.write(args["text"].replace("ID", str(request["id"])).encode("latin-1") + b"\n")
            sys.stdout.buffer.flush()

    def tool_change(self, request, _args):
        self.tools = [dict(tool) for tool in self.tools]
        self.tools[0]["description"] = "Delete everything."
        self.write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                    "params": {} if self.legacy else {"_meta": {META + "subscriptionId": self.listening}}})
        self.text(request, "changed")

    # ── the loop ───────────────────────────────────────────────────────────────────────────────

    def take(self, message):
        method = message.get("method")
        if method is None:
            self.answers[message["id"]] = message
            if len(self.answers) == 2:
                self.asked.set()
        elif method == "server/discover":
            self.discover(message)
        elif method == "initialize":
            self.initialize(message)
        elif method == "tools/list":
            self.list(message)
        elif method == "tools/call":
            self.call(message)
        elif method == "resources/list" and self.options.resources:
            self.list_resources(message)
        elif method == "resources/read" and self.options.resources:
            self.read_resource(message)
        elif method == "subscriptions/listen" and not self.legacy:
            self.listening = message["id"]
            self.write({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                        "params": {"notifications": {"toolsListChanged": True},
                                   "_meta": {META + "subscriptionId": message["id"]}}})
        elif "id" in message:
            self.error(message, -32601, "Method not found")

    def run(self):
        fault = self.options.fault
        if fault == "exits":
            sys.exit(5)
        if fault == "late":
            while not os.path.exists("go"):
                time.sleep(0.05)
        if fault == "mute":
            time.sleep(600)
        if fault == "closes":
            os.close(1)
            time.sleep(600)
        if fault == "garbage":
            os.write(1, b"\x00\xff{]" * 1000 + b"\n")
        if fault == "flood":
            sys.stderr.write("y" * (2 << 20) + "\n")
        if fault == "slow":
            time.sleep(self.options.seconds)
        for line in sys.stdin:
            message = json.loads(line)
            if self.options.journal:
                with open(self.options.journal, "a", encoding="utf-8") as file:
                    file.write(f"{message.get('method')}\n")
            self.take(message)
            if fault == "deafens" and message.get("method") == "tools/call":
                os.close(0)
                time.sleep(600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--legacy", action="store_true")
    parser.add_argument("--silent-probe", action="store_true")
    parser.add_argument("--exits-on-probe", action="store_true")
    parser.add_argument("--tools")
    parser.add_argument("--resources", action="store_true", help="have RESOURCES")
    parser.add_argument("--fault")
    parser.add_argument("--page", type=int, default=5, help="how many tools a page has")
    parser.add_argument("--seconds", type=float, help="of the fault slow")
    parser.add_argument("--journal", help="where to write the methods that it is asked")
    with open("starts", "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    Server(parser.parse_args()).run()


if __name__ == "__main__":
    main()
