# SPDX-License-Identifier: Apache-2.0
"""Clients of MCP and UTCP that others have written, against our doors: each lists, calls, fails, has progress, and
cancels. Those of npm and FastMCP's are skipped where they could not be installed."""
import asyncio
import json
import subprocess

import manifests
import pytest
from caller import Caller
from http_peer import port_of
from processes import EVENT_SECONDS, ROOT, TOOLBOXCTL, environment, until

INTEROP = ROOT / "tests" / "interop"
INSTALLED = ROOT / "build" / "node" / "node_modules"
NODE = INSTALLED / ".bin" / "node"
DOORS = ("http", "stdio")
NOTHING = {"type": "object", "additionalProperties": False}

PEERS = {"kind": "command", "risk": "read", "tools": [
    {"name": "fail", "description": "Fail.", "argument_schema": NOTHING,
     "command": {"argv": ["sh", "-c", "echo no luck >&2; exit 3"]}},
    {"name": "slow", "description": "Report progress once.", "argument_schema": NOTHING, "timeout_ms": 600000,
     "command": {"argv": ["sh", "-c", "echo '{\"progress\": 0.5, \"text\": \"half\"}' >&3; sleep 600"]}}]}


def needs(package):
    return pytest.mark.skipif(not (INSTALLED / package).exists(), reason=f"npm has not installed {package}")


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("clients")
    folder = home / "toolbox.d"
    folder.mkdir()
    (folder / "peers.json").write_text(json.dumps(PEERS))
    one = Service("embedded", home, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"])
    one.home = home
    with one:
        yield one


def base(started):
    return f"http://127.0.0.1:{port_of(started.daemon)}"


def stdio(started):
    """A command line for clients that start a server."""
    return [str(TOOLBOXCTL), "mcp", "--bus", started.url]


def await_nothing_running(started):
    with Caller(started.url) as caller:
        until(lambda: not caller.call("ovos.tools.calls", {"state": "running"})["calls"], EVENT_SECONDS,
              "the call cancelled")


def check(seen):
    assert {"math_tools__add", "peers__fail", "peers__slow"} <= set(seen["tools"])
    assert seen["sum"] == {"result": 7}
    is_error, text = seen["failed"]
    assert is_error and "no luck" in text, seen
    assert seen["unknown"] and seen["cancelled"]
    assert tuple(seen["progress"]) == (0.5, "half")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind,package", [
    pytest.param("v1", "sdk", marks=needs("@modelcontextprotocol/sdk")),
    pytest.param("v2", "client", marks=needs("@modelcontextprotocol/client")),
    pytest.param("modern", "client", marks=needs("@modelcontextprotocol/client"))])
def test_the_sdk_for_typescript(started, door, kind, package):
    target = [base(started) + "/mcp"] if door == "http" else stdio(started)
    client = subprocess.Popen([NODE, INTEROP / "mcp_peer_client.cjs", kind, *target],
                              env=environment(started.home / "client", NODE_PATH=str(INSTALLED)),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        check(json.loads(client.stdout.readline() or "null"))
        await_nothing_running(started)
        client.communicate("end\n", timeout=EVENT_SECONDS)
        assert client.returncode == 0
    finally:
        client.kill()
        client.wait()


async def use(client, call, progress_of):
    """What a client of Python came to. @call: (name, args, more…) → (is_error, text, structured)."""
    seen = {"tools": progress_of["tools"]}
    seen["sum"] = (await call("math_tools__add", {"a": 3, "b": 4}))[2]
    seen["failed"] = (await call("peers__fail", {}))[:2]
    try:
        await call("nope", {})
        seen["unknown"] = False
    except Exception:  # noqa: BLE001 - each SDK has its own
        seen["unknown"] = True
    told = asyncio.Event()

    async def progress(done, _total, text):
        seen["progress"] = (done, text)
        told.set()

    task = asyncio.create_task(call("peers__slow", {}, progress))
    await asyncio.wait_for(told.wait(), EVENT_SECONDS)
    task.cancel()
    await asyncio.wait([task])
    seen["cancelled"] = task.cancelled()
    return seen


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_for_python(started, door, mode):
    from mcp import StdioServerParameters
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client
    command, *args = stdio(started)
    target = base(started) + "/mcp" if door == "http" else stdio_client(
        StdioServerParameters(command=command, args=args))

    async def run():
        async with Client(target, mode=mode) as client:
            async def call(name, args, progress=None):
                one = await client.call_tool(name, args, progress_callback=progress)
                return one.is_error, one.content[0].text, one.structured_content

            tools = [tool.name for tool in (await client.list_tools()).tools]
            check(await use(client, call, {"tools": tools}))
            await asyncio.to_thread(await_nothing_running, started)

    asyncio.run(run())


@pytest.mark.parametrize("door", DOORS)
def test_the_client_of_fastmcp(started, door):
    fastmcp = pytest.importorskip("fastmcp")
    from fastmcp.client.transports import StdioTransport
    command, *args = stdio(started)
    target = base(started) + "/mcp" if door == "http" else StdioTransport(command, args)

    async def run():
        async with fastmcp.Client(target) as client:
            async def call(name, args, progress=None):
                one = await client.call_tool(name, args, raise_on_error=False, progress_handler=progress)
                return one.is_error, one.content[0].text, one.structured_content

            tools = [tool.name for tool in await client.list_tools()]
            check(await use(client, call, {"tools": tools}))
            await asyncio.to_thread(await_nothing_running, started)

    asyncio.run(run())


@needs("@utcp/http")
def test_the_client_of_utcp_for_typescript(started):
    done = subprocess.run([NODE, INTEROP / "utcp_peer_client.cjs", base(started) + "/utcp"],
                          env=environment(started.home / "client", NODE_PATH=str(INSTALLED)),
                          capture_output=True, text=True, timeout=EVENT_SECONDS, cwd=started.home)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])  # after what the SDK logs
    assert not seen["errors"], seen
    assert {"home.add", "home.fail", "home.slow"} <= set(seen["tools"])
    assert seen["sum"] == {"name": "add", "result": {"result": 7}}
    assert "500" in seen["failed"], seen


# The short run has each door and each era once: three starts of the Inspector take more than a second of a processor.
@needs("@modelcontextprotocol/inspector")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector(request, started, door, era):
    if (door, era) in (("http", "legacy"), ("stdio", "modern")) and not request.config.getoption("--long"):
        pytest.skip("with --long")
    target = [base(started) + "/mcp", "--transport", "http"] if door == "http" else stdio(started)
    command = [INSTALLED / ".bin" / "mcp-inspector", "--cli", *target, "--protocol-era", era, "--method"]
    env = environment(started.home / "inspector")
    env["PATH"] = f"{INSTALLED / '.bin'}:{env['PATH']}"

    def inspect(*words):
        return subprocess.run([*command, *words], env=env, capture_output=True, text=True, timeout=EVENT_SECONDS,
                              stdin=subprocess.DEVNULL)

    listed = inspect("tools/list")
    assert listed.returncode == 0, listed.stderr
    assert {"math_tools__add", "peers__fail"} <= {tool["name"] for tool in json.loads(listed.stdout)["tools"]}
    added = inspect("tools/call", "--tool-name", "math_tools__add", "--tool-arg", "a=3", "b=4")
    assert added.returncode == 0 and json.loads(added.stdout)["structuredContent"] == {"result": 7}, added
    failed = inspect("tools/call", "--tool-name", "peers__fail")
    assert failed.returncode == 5 and "no luck" in failed.stdout, failed
