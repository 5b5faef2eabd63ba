# SPDX-License-Identifier: Apache-2.0
"""The clients by which a program becomes a guest: clients/python (toolboxd.guest) and clients/c. Both
are held to the same rules."""
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, Literal, Optional, Union

import pages
import pytest
from caller import Caller
from fake_bus import FakeBus
from http_peer import port_of
from processes import BUILD, EVENT_SECONDS, ROOT, environment, free_port, toolboxctl, until
from websocket_peer import Closed, Peer

sys.path.insert(0, str(ROOT / "clients" / "python"))

from toolboxd import ToolboxdError, guest as guests, serve, serve_async, serve_in_thread, tool  # noqa: E402

C = ROOT / "clients" / "c"
LEASE_S = 5
ON = {"guests": {"enabled": True}, "approval": {"mode": "off"}}


@pytest.fixture(autouse=True)
def no_tools():
    guests.TOOLS.clear()
    yield
    guests.TOOLS.clear()


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────


def schema_of(function):
    tool(function)
    return guests.TOOLS[-1].definition


def test_a_schema_comes_from_annotations_defaults_and_docstring():
    def add(a: int, b: float = 1.5, *, name: Optional[str] = None, tags: List[str] = (), kind: Literal["x", "y"] = "x",
            both: Union[int, str] = 1, some: Dict[str, int] = {}, anything=None, more: Any = 0, flag: bool = False) -> int:
        """Add numbers.

        All of them.

        Args:
            a: the first
            b (float): the second

        Returns:
            the sum
        """
    definition = schema_of(add)
    assert definition["name"] == "add" and definition["description"] == "Add numbers.\n\nAll of them."
    assert definition["argument_schema"] == {
        "type": "object", "required": ["a"], "additionalProperties": False, "properties": {
            "a": {"type": "integer", "description": "the first"},
            "b": {"type": "number", "description": "the second", "default": 1.5},
            "name": {"type": ["string", "null"]}, "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "kind": {"enum": ["x", "y"], "default": "x"}, "both": {"type": ["integer", "string"], "default": 1},
            "some": {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}},
            "anything": {}, "more": {"default": 0}, "flag": {"type": "boolean", "default": False}}}
    assert definition["output_schema"] == {
        "type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}


def test_the_docstring_of_sphinx_is_read():
    def say(word: str) -> dict:
        """Say a word.

        :param word: what is said
        :return: nothing
        """
    definition = schema_of(say)
    assert definition["description"] == "Say a word."
    assert definition["argument_schema"]["properties"]["word"] == {"type": "string", "description": "what is said"}
    assert definition["output_schema"] == {"type": "object"}


def test_what_has_no_schema_is_refused_with_its_name():
    def wrong(stream: object):
        pass

    def many(*args):
        pass

    with pytest.raises(TypeError, match=r"wrong\(stream\)"):
        tool(wrong)
    with pytest.raises(TypeError, match=r"many\(args\)"):
        tool(many)


def test_a_function_stays_as_it_is_and_its_tool_has_more():
    @tool(name="plus", risk="read", timeout_ms=100, triggers=["plus"], description="Adds.")
    def add(a: int):
        return a + 1

    assert add(1) == 2
    assert guests.TOOLS[0].definition == {
        "name": "plus", "description": "Adds.", "risk": "read", "timeout_ms": 100, "triggers": ["plus"],
        "argument_schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
                            "additionalProperties": False}}


# ── the two clients, by the same rules ───────────────────────────────────────────────────────────

PYTHON = """
import sys
import time
sys.path.insert(0, {path!r})
from toolboxd import tool, serve
from toolboxd.guest import report

@tool(risk="read")
def add(a: int, b: int) -> dict:
    return {{"sum": a + b}}

@tool(risk="read")
def fail():
    raise ValueError("it is \\"broken\\"")

@tool(risk="read", timeout_ms=60000)
def slow(seconds: float) -> dict:
    time.sleep(seconds)
    return {{}}

@tool(risk="read")
def bad():
    return {{1, 2}}

serve("both")
"""

PROGRAM = r"""
#include "toolboxd_guest.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct toolboxd_guest *guest;

static long number(const char *args, const char *key)
{
	const char *at = strstr(args, key);

	return at ? strtol(at + strlen(key) + 2, NULL, 10) : 0;
}

static char *add(void *data, const char *args, char **error)
{
	char text[64];

	(void)data;
	(void)error;
	snprintf(text, sizeof(text), "{\"sum\": %ld}", number(args, "a\"") + number(args, "b\""));
	return strdup(text);
}

static char *fail(void *data, const char *args, char **error)
{
	(void)args;
	*error = strdup(data);
	return NULL;
}

static char *slow(void *data, const char *args, char **error)
{
	(void)data;
	(void)error;
	usleep((useconds_t)(strtod(strstr(args, "seconds\"") + 9, NULL) * 1e6));
	return strdup("{}");
}

static char *bad(void *data, const char *args, char **error)
{
	(void)data;
	(void)args;
	(void)error;
	return strdup("{1, 2");
}

static void wake(int number)
{
	(void)number;
	toolboxd_guest_wake(guest);
}

#define SCHEMA(members) "\"argument_schema\": {\"type\": \"object\", \"properties\": {" members "}}"
#define TOOL(name, more) "{\"name\": \"" name "\", \"description\": \"\", \"risk\": \"read\", " more "}"

int main(void)
{
	int r;

	guest = toolboxd_guest_open(NULL, "both");
	if (!guest ||
		toolboxd_guest_add(guest, TOOL("add", SCHEMA("\"a\": {\"type\": \"integer\"}, \"b\": {\"type\": \"integer\"}")
			", \"output_schema\": {\"type\": \"object\"}"), add, NULL) < 0 ||
		toolboxd_guest_add(guest, TOOL("fail", SCHEMA("")), fail, (void *)"ValueError: it is \"broken\"") < 0 ||
		toolboxd_guest_add(guest, TOOL("slow", "\"timeout_ms\": 60000, " SCHEMA("\"seconds\": {\"type\": \"number\"}")), slow, NULL) < 0 ||
		toolboxd_guest_add(guest, TOOL("bad", SCHEMA("")), bad, NULL) < 0)
		return 2;
	signal(SIGTERM, wake);
	r = toolboxd_guest_serve(guest, -1);
	if (r < 0)
		fprintf(stderr, "%s\n", toolboxd_guest_error(guest));
	signal(SIGTERM, SIG_IGN);
	toolboxd_guest_close(guest);
	return r < 0 ? 1 : 0;
}
"""


@pytest.fixture(scope="session")
def c_program(tmp_path_factory):
    """The program, built with the sanitizers where the service is."""
    folder = tmp_path_factory.mktemp("guest")
    (folder / "main.c").write_text(PROGRAM)
    subprocess.run(["cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-g", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", f"-I{C}", folder / "main.c", C / "toolboxd_guest.c", "-o",
                    folder / "program"], check=True)
    return folder / "program"


@pytest.fixture(params=("python", "c"))
def client(request, tmp_path, c_program):
    """client(url): the program of one of the clients, running; it is ended after the test."""
    running = []
    command = [sys.executable, "-c", PYTHON.format(path=str(ROOT / "clients" / "python"))] \
        if request.param == "python" else [c_program]

    def run(url):
        process = subprocess.Popen(command, env=environment(tmp_path / "guest", TOOLBOXD_BUS=url),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        running.append(process)
        return process

    run.kind = request.param
    yield run
    for process in running:
        if process.poll() is None:
            process.terminate()
        out, _ = process.communicate(timeout=EVENT_SECONDS)
        assert "Sanitizer" not in out and "runtime error" not in out, out


def offered(caller):
    return [one["name"] for one in caller.call("ovos.tools.list")["tools"]]


def wait_until_offered(caller):
    until(lambda: "add" in offered(caller), EVENT_SECONDS, "the tools offered")


@pytest.mark.parametrize("kind", ["embedded", "ovos-messagebus"])
def test_a_program_offers_tools_and_leaves(launch, client, kind):
    service = launch(ON, [], kind=kind)
    program = client(service.url)
    with Caller(service.url) as caller:
        wait_until_offered(caller)
        assert caller.invoke("add", {"a": 3, "b": 4})["result"] == {"sum": 7}
        answer = caller.invoke("fail")
        assert answer["code"] == "tool_failed" and 'it is "broken"' in answer["error"], answer
        answer = caller.invoke("bad")
        assert answer["code"] == "tool_failed" and "The result is not JSON" in answer["error"], answer
        program.send_signal(signal.SIGTERM if client.kind == "c" else signal.SIGINT)
        until(lambda: offered(caller) == [], EVENT_SECONDS, "the tools gone")


def test_a_program_that_is_killed_takes_its_tools_along(launch, client):
    service = launch(ON, [])
    program = client(service.url)
    with Caller(service.url) as caller, Caller(service.url) as watcher:
        wait_until_offered(watcher)
        mark = caller.send("ovos.tools.invoke", {"name": "slow", "args": {"seconds": 50}})
        until(lambda: watcher.call("ovos.tools.calls", {"state": "running"})["calls"], EVENT_SECONDS, "the call running")
        program.kill()
        assert caller.answer_to("ovos.tools.invoke", mark).data["code"] == "unavailable"
        until(lambda: offered(watcher) == [], EVENT_SECONDS, "the tools gone")


def test_a_program_outlives_the_service(launch, client, tmp_path):
    port = free_port()
    first = launch(ON, [], port=port)
    client(first.url)
    with Caller(first.url) as caller:
        wait_until_offered(caller)
    first.end()
    second = launch(ON, [], port=port)
    with Caller(second.url) as caller:
        wait_until_offered(caller)
        assert caller.invoke("add", {"a": 1, "b": 1})["result"] == {"sum": 2}


def test_a_program_that_starts_again_is_the_same_guest(launch, client):
    """On a bus of others nobody knows that it was killed."""
    service = launch(ON, [], kind="ovos-messagebus")
    first = client(service.url)
    with Caller(service.url) as caller:
        wait_until_offered(caller)
        first.kill()
        first.wait()
        client(service.url)
        until(lambda: caller.invoke("add", {"a": 1, "b": 2}, timeout_ms=500).get("result") == {"sum": 3}, EVENT_SECONDS,
              "the second one answering")


def test_a_program_that_is_not_taken_ends_with_the_reason(launch, client):
    service = launch({}, [])
    program = client(service.url)
    out, _ = program.communicate(timeout=EVENT_SECONDS)
    assert program.returncode == 1 and "guests.enabled" in out, out


def test_messages_that_are_not_for_it_are_left_alone(launch, client):
    """Anybody may write them."""
    service = launch(ON, [])
    client(service.url)
    with Caller(service.url) as caller:
        wait_until_offered(caller)
        call = {"toolbox_id": "both", "call_id": "abcdef", "name": "add", "args": {"a": 1, "b": 1}}
        good = {"source": "toolboxd", "destination": "guest:both"}
        for data, context in ((call, {**good, "source": "stranger"}), (call, {**good, "destination": "other"}),
                              ({**call, "toolbox_id": "other"}, good), ({**call, "call_id": 7}, good), ([], good), (None, good)):
            caller.send("ovos.tools.guest.call", data, context)
        for text in ("", "[]", "{", '{"type": "ovos.tools.guest.call"', "null", '"ovos.tools."', "[" * 2000 + '"ovos.tools."'):
            caller.peer.send(text)
        caller.send("ovos.tools.guest.call", {**call, "name": "none", "call_id": "fedcba"}, good)
        answer = caller.wait_for(lambda one: one.type == "ovos.tools.guest.call.response")
        assert answer.data["call_id"] == "fedcba" and "no" in answer.data["error"]
        assert caller.invoke("add", {"a": 3, "b": 4})["result"] == {"sum": 7}


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


def test_serve_in_thread_offers_until_it_is_closed(launch):
    service = launch(ON, [])

    @tool(risk="read")
    def add(a: int, b: int) -> int:
        guests.report(0.5, "half")
        return a + b

    @tool(risk="read")
    async def later(a: int) -> int:
        return a

    with Caller(service.url) as caller:
        one = serve_in_thread("sums", url=service.url, description="Sums.", lease_s=LEASE_S, source="me")

        def seconds_until_renewed():
            began = time.monotonic()
            caller.wait_for(lambda got: got.type == guests.REGISTER)
            return time.monotonic() - began

        seconds_until_renewed()
        assert one.registered.wait(EVENT_SECONDS)
        # A machine may be late with one.
        assert any(seconds_until_renewed() < LEASE_S for _ in range(5)), "it is renewed before its lease is over"
        until(lambda: offered(caller) == ["add", "later"], EVENT_SECONDS, "the tools offered")
        assert caller.call("ovos.tools.status")["toolboxes"][0]["source"] == "me"
        mark = caller.send("ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": 4}, "progress": True})
        assert caller.wait_for(lambda got: got.type == "ovos.tools.call.progress").data["text"] == "half"
        assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"result": 7}
        assert caller.invoke("later", {"a": 3})["result"] == {"result": 3}
        one.close()
        one.close()
        until(lambda: offered(caller) == [], EVENT_SECONDS, "the tools gone")


def test_a_guest_that_is_closed_while_it_connects_leaves_no_connection():
    bus = FakeBus()
    guest = serve_in_thread("sums", url=bus.url)
    connection = bus.wait_for_connection()
    guest.close()
    with Peer.accept(connection) as peer, pytest.raises(Closed):
        peer.receive(EVENT_SECONDS)
    bus.close()


def test_serve_async_runs_coroutines_and_cancels_them(launch):
    import asyncio
    service = launch(ON, [])
    ended = []

    @tool(risk="read", timeout_ms=60000)
    async def sleep() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main():
        serving = asyncio.ensure_future(serve_async("naps", url=service.url))
        await asyncio.to_thread(talk)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    def talk():
        with Caller(service.url) as caller:
            until(lambda: offered(caller) == ["sleep"], EVENT_SECONDS, "the tool offered")
            mark = caller.send("ovos.tools.invoke", {"name": "sleep", "call_id": "nap"}, {"source": "me"})
            until(lambda: caller.call("ovos.tools.calls", {"state": "running"})["calls"], EVENT_SECONDS, "it runs")
            caller.send("ovos.tools.cancel", {"call_id": "nap"}, {"source": "me"})
            assert caller.answer_to("ovos.tools.invoke", mark).data["code"] == "cancelled"
            until(lambda: ended, EVENT_SECONDS, "the task cancelled")

    asyncio.run(main())


def test_serve_by_a_bus_client_of_ovos(launch):
    from ovos_bus_client import MessageBusClient
    service = launch(ON, [], kind="ovos-messagebus")

    @tool(risk="read")
    def add(a: int, b: int) -> int:
        return a + b

    host, port = service.url.removeprefix("ws://").removesuffix("/core").split(":")
    bus = MessageBusClient(host=host, port=int(port))
    bus.run_in_thread()
    assert bus.connected_event.wait(EVENT_SECONDS)
    with Caller(service.url) as caller, serve_in_thread("sums", bus=bus):
        wait_until_offered(caller)
        assert caller.invoke("add", {"a": 3, "b": 4})["result"] == {"result": 7}
    bus.close()


def test_serve_raises_what_the_service_says(launch):
    service = launch(ON, [])

    @tool(risk="high")
    def add(a: int) -> int:
        return a

    with pytest.raises(ToolboxdError) as refused:
        serve("sums", url=service.url)
    assert refused.value.code == "bad_request" and refused.value.violations[0]["path"].startswith("/tools/0/risk")


# ── C ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_installed_client_is_c99_and_c_plus_plus(tmp_path):
    """A program is built from the two files that are installed."""
    subprocess.run(["cmake", "--install", BUILD / "clients" / "c", "--prefix", tmp_path], check=True, stdout=subprocess.DEVNULL)
    header, source = tmp_path / "include", tmp_path / "share" / "toolboxd" / "toolboxd_guest.c"
    (tmp_path / "main.cc").write_text('#include "toolboxd_guest.h"\nint main() { toolboxd_guest_close(0); }\n')
    warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic", "-Werror"]
    subprocess.run(["cc", "-std=c99", *warnings, "-Wstrict-prototypes", "-Wmissing-prototypes", f"-I{header}", "-c", source,
                    "-o", tmp_path / "guest.o"], check=True)
    subprocess.run(["c++", *warnings, f"-I{header}", tmp_path / "main.cc", tmp_path / "guest.o", "-o", tmp_path / "main"],
                   check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8181/core", "wss://127.0.0.1/core", "ws://", "ws://:1/", "ws://a b/"])
def test_c_refuses_another_kind_of_url(tmp_path, c_program, url):
    done = subprocess.run([c_program], env=environment(tmp_path, TOOLBOXD_BUS=url), timeout=EVENT_SECONDS)
    assert done.returncode == 2


# ── hostile frames ───────────────────────────────────────────────────────────────────────────────


def frame(opcode, payload, first=0x80, length=None):
    size = len(payload) if length is None else length
    head = bytes([first | opcode]) + (bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
                                      if size < 65536 else b"\x7f" + size.to_bytes(8, "big"))
    return head + payload


@pytest.mark.parametrize("name, hostile", [
    ("masked", frame(1, b"\x80" + b"{}")), ("reserved bits", frame(1, b"{}", first=0xC0)),
    ("unknown opcode", frame(3, b"{}")), ("unknown control", frame(11, b"")), ("long ping", frame(9, b"x" * 126)),
    ("fragmented ping", frame(9, b"", first=0)), ("continuation of nothing", frame(0, b"{}")),
    ("text in text", frame(1, b"{", first=0) + frame(1, b"}")), ("too large", frame(1, b"", length=1 << 25)),
    ("negative size", frame(1, b"", length=(1 << 64) - 1)), ("close", frame(8, b"\x03\xe8")),
    ("too large in parts", b"".join(frame(1 if n == 0 else 0, b"x" * (1 << 20), first=0) for n in range(17))),
])
def test_a_hostile_frame_costs_c_only_the_connection(tmp_path, c_program, name, hostile):
    """It connects again, and is whole."""
    import socket
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(EVENT_SECONDS)
        url = f"ws://127.0.0.1:{listening.getsockname()[1]}/core"
        program = subprocess.Popen([c_program], env=environment(tmp_path, TOOLBOXD_BUS=url), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            for bytes_sent in (hostile, frame(9, b"still there?")):
                peer, _ = listening.accept()
                peer.settimeout(EVENT_SECONDS)
                with peer:
                    assert b"Upgrade: websocket" in peer.recv(4096)
                    peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
                    try:
                        peer.sendall(bytes_sent)
                        got = b""
                        while chunk := peer.recv(65536):
                            got += chunk
                            if bytes_sent is not hostile and len(got) > 200 and b"\x8a\x8c" in got:
                                break
                    except ConnectionError:
                        pass
            assert b"\x8a\x8c" in got, "a pong of twelve bytes"
            program.terminate()
            out, _ = program.communicate(timeout=EVENT_SECONDS)
        finally:
            program.kill()
        assert program.returncode == 0 and "Sanitizer" not in out and "runtime error" not in out, out


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def test_the_page_is_typed(launch, tmp_path):
    """docs/guests.md: a skill of a few lines becomes a tool that a client of MCP calls, and a C program as well."""
    service = launch({**ON, "http": {"listen": ["127.0.0.1:0"]}}, [])
    home = tmp_path / "person"
    env = environment(home, TOOLBOXD_BUS=service.url, PYTHONPATH=str(ROOT / "clients" / "python"),
                      PATH=f"{os.path.dirname(str(toolboxctl.__globals__['TOOLBOXCTL']))}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    shutil.copytree(C, home / "clients" / "c")
    text = (ROOT / "docs" / "guests.md").read_text().replace(":8090", f":{port_of(service.daemon)}")
    pages.expect_page(text, home, env)
