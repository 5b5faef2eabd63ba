# SPDX-License-Identifier: Apache-2.0
"""Servers of MCP that others have written, as toolboxes: each lists, is called, fails, has progress, is cancelled, is
killed in a call and between two, and changes its tools or has resources if it can. Those of npm and FastMCP's are skipped where they could not be installed."""
import importlib.util
import os
import signal
import subprocess
import sys

import pytest
from caller import Caller
from processes import (EVENT_SECONDS, ROOT, children, environment, free_port, is_alive, listens,
                       read_proc, until)
from test_mcp_clients import INSTALLED, NODE, needs
from test_mcp_servers import begin, ends_of, text_of
from test_mcp_urls import Urls

INTEROP = ROOT / "tests" / "interop"
SDK = INSTALLED / "@modelcontextprotocol"
ADD = ("add", {"a": 2, "b": 3}, "5")
FAIL = ("fail", {"why": "no luck"}, "no luck")
FAIL_OF_SDK = ("fail", {"why": "no luck"}, "Error executing tool fail")  # it keeps the reason for its log
SLOW = ("slow", "seconds")
needs_fastmcp = pytest.mark.skipif(not importlib.util.find_spec("fastmcp"), reason="pip has not installed fastmcp")


class Peer:
    """@command: without a port, over stdio; a last word PORT becomes one, and the variable PORT has it. A tool with its
    arguments and a part of its text; one that fails, the same; one that takes long, with the argument for how long.
    @grows: it has the tool `grow`. @resource: the URI of a resource, and a part of its text."""

    def __init__(self, *command, call=ADD, fail=FAIL, slow=SLOW, is_http=False, grows=True, resource=None):
        self.command, self.call, self.fail, self.slow, self.is_http = command, call, fail, slow, is_http
        self.grows, self.resource = grows, resource


def everything(transport, is_http=False):
    return Peer(NODE, SDK / "server-everything" / "dist" / "index.js", transport, is_http=is_http,
                grows=False, resource=("demo://resource/static/document/features.md", "Server"),
                call=("get-sum", {"a": 2, "b": 3}, "5"),
                fail=("get-resource-reference", {"resourceType": "Text", "resourceId": -1}, "resourceId"),
                slow=("trigger-long-running-operation", "duration"))


TYPESCRIPT, PYTHON = INTEROP / "mcp_peer_server.cjs", INTEROP / "mcp_peer_server.py"
PEERS = {
    "everything": (needs("@modelcontextprotocol/server-everything"), everything("stdio")),
    "everything-http": (needs("@modelcontextprotocol/server-everything"), everything("streamableHttp", True)),
    "filesystem": (needs("@modelcontextprotocol/server-filesystem"), Peer(
        NODE, SDK / "server-filesystem" / "dist" / "index.js", "HOME", slow=None, grows=False,
        call=("read_text_file", {"path": "HOME/note.txt"}, "a note"),
        fail=("read_text_file", {"path": "/etc/passwd"}, "outside allowed directories"))),
    "memory": (needs("@modelcontextprotocol/server-memory"), Peer(
        NODE, SDK / "server-memory" / "dist" / "index.js", slow=None, grows=False,
        call=("read_graph", {}, "entities"),
        fail=("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}, "nobody"))),
    "typescript": (needs("@modelcontextprotocol/server"), Peer(NODE, TYPESCRIPT)),
    "typescript-http": (needs("@modelcontextprotocol/server"), Peer(NODE, TYPESCRIPT, "PORT", is_http=True)),
    "fastmcp": (needs_fastmcp, Peer(sys.executable, PYTHON, "fastmcp")),
    "fastmcp-http": (needs_fastmcp, Peer(sys.executable, PYTHON, "fastmcp", "PORT", is_http=True)),
    "python": ((), Peer(sys.executable, PYTHON, "sdk", fail=FAIL_OF_SDK)),
    "python-http": ((), Peer(sys.executable, PYTHON, "sdk", "PORT", fail=FAIL_OF_SDK, is_http=True)),
}
# With --long: each start of them takes a second of a processor. The short run has FastMCP over HTTP, the SDK over stdio.
LONG = ("fastmcp", "python-http")


class Running:
    """A peer that is a toolbox."""

    def __init__(self, peer, urls, home):
        self.peer, self.urls, self.home = peer, urls, home
        self.port = free_port()
        self.process = None
        words = {"PORT": str(self.port), "HOME": str(home)}
        self.command = [words.get(word, str(word)) for word in peer.command]
        self.env = {"GROWN": str(home / "grown"), "NODE_PATH": str(INSTALLED), "MEMORY_FILE_PATH": str(home / "memory.json"), "PORT": str(self.port),
                    "NODE_OPTIONS": f"--require={INTEROP / 'on_loopback.cjs'}"}
        if peer.is_http:
            self.serve()
            urls.point("box", f"http://127.0.0.1:{self.port}/mcp", resources=True)
        else:
            urls.add("box", mcp={"command": self.command, "env": self.env}, resources=True)

    def serve(self):
        with open(self.home / "peer.log", "ab") as log:
            self.process = subprocess.Popen(self.command, env=environment(self.home, **self.env), stdout=log, stderr=log)
        until(lambda: listens(self.port), EVENT_SECONDS, "the server")

    def pid(self):
        """The process of the server; None: there is none now."""
        if self.process:
            return self.process.pid
        found = [pid for host in self.urls.service.daemon.hosts() for pid in children(host)]
        return next((pid for pid in found if is_alive(pid)
                     and self.command[1].encode() in read_proc(pid, "cmdline")), None)

    def kill(self):
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        if self.process:
            self.process.wait()
            self.serve()
        else:
            until(lambda: not is_alive(pid), EVENT_SECONDS, "its end")

    def filled(self, args):
        return {key: value.replace("HOME", str(self.home)) if isinstance(value, str) else value
                for key, value in args.items()}

    def calls(self, caller, seconds=EVENT_SECONDS):
        name, args, text = self.peer.call
        answer = caller.invoke(name, self.filled(args), seconds=seconds)
        return text in text_of(answer) if "result" in answer else None


@pytest.fixture
def started(request, launch, tmp_path):
    if request.param in LONG and not request.config.getoption("--long"):
        pytest.skip("with --long")
    urls = Urls(launch, tmp_path)
    (tmp_path / "note.txt").write_text("a note")
    one = Running(PEERS[request.param][1], urls, tmp_path)
    try:
        with Caller(urls.start({"crash_limit": 0}).url) as caller:
            urls.await_tools(caller)
            yield one, caller
    finally:
        if one.process:
            one.process.kill()
            one.process.wait()


def peers(is_wanted=lambda peer: True):
    return pytest.mark.parametrize("started", [
        pytest.param(name, marks=marks) for name, (marks, peer) in PEERS.items() if is_wanted(peer)], indirect=True)


@peers()
def test_it_is_listed_called_and_fails_and_may_be_killed_between_calls(started):
    peer, caller = started
    names = set(peer.urls.listed(caller, "box"))
    assert {peer.peer.call[0], peer.peer.fail[0]} <= names
    assert peer.calls(caller)
    name, args, text = peer.peer.fail
    failed = caller.invoke(name, args, seconds=EVENT_SECONDS)
    assert failed["code"] in ("tool_failed", "invalid_arguments") and text in failed["error"], failed
    peer.kill()
    # The first call over HTTP may be the one that finds the session or the connection gone.
    assert until(lambda: peer.calls(caller), EVENT_SECONDS, "it answers again")


@peers(lambda peer: peer.slow)
def test_it_has_progress_is_cancelled_and_may_be_killed_in_a_call(started):
    peer, caller = started
    name, key = peer.peer.slow
    assert "result" in caller.invoke(name, {key: 1}, progress=True, seconds=EVENT_SECONDS)
    told = [one.data["progress"] for one in caller.seen if one.type == "ovos.tools.call.progress"]
    assert told and told == sorted(told) and told[-1] <= 1, told
    for end in ("cancelled", "killed"):
        caller.seen.clear()
        marks = begin(caller, name, {key: 4}, call_id=end, progress=True, timeout_ms=600000)
        caller.wait_for(lambda one: one.type == "ovos.tools.call.progress", EVENT_SECONDS)
        if end == "cancelled":
            assert caller.call("ovos.tools.cancel", {"call_id": end}, {"source": "asker"})["cancelled"]
        else:
            peer.kill()
        codes = {one["code"] for one in ends_of(caller, marks).values()}
        assert codes <= {"cancelled"} if end == "cancelled" else codes <= {"host_crashed", "unavailable", "tool_failed"}, codes
        assert until(lambda: peer.calls(caller), EVENT_SECONDS, "it answers again")


@peers(lambda peer: peer.grows)
def test_its_tools_change(started):
    peer, caller = started
    assert "grown" not in peer.urls.listed(caller, "box")
    assert text_of(caller.invoke("grow", seconds=EVENT_SECONDS)) == "more"
    until(lambda: "grown" in peer.urls.listed(caller, "box"), EVENT_SECONDS, "one tool more")
    assert text_of(caller.invoke("grown", seconds=EVENT_SECONDS)) == "grown"


@peers(lambda peer: peer.resource)
def test_its_resources_are_read(started):
    peer, caller = started
    uri, text = peer.peer.resource
    found = caller.invoke("list_resources", seconds=EVENT_SECONDS)["result"]["structured"]["resources"]
    assert uri in [one["uri"] for one in found], found
    assert text in caller.invoke("read_resource", {"uri": uri})["result"]["structured"]["contents"][0]["text"]
    assert caller.invoke("read_resource", {"uri": "demo://none"})["code"] == "tool_failed"
