# SPDX-License-Identifier: Apache-2.0
"""Files with lists of servers (`mcpServers`), as desktop programs keep them."""
import json
import sys

import mcp_server
import pytest
from caller import Caller
from processes import EVENT_SECONDS, is_alive, toolboxctl, until
from test_mcp_servers import SERVER, Servers


@pytest.fixture
def desk(launch, tmp_path):
    return Desk(launch, tmp_path)


class Desk(Servers):
    """A file claude_desktop_config.json in toolbox.d, with servers that have a folder each."""

    def __init__(self, launch, folder):
        super().__init__(launch, folder)
        self.path = self.folder / "claude_desktop_config.json"
        self.servers = {}

    def server(self, name, *args, **more):
        cwd = self.folder.parent / name.replace("/", "_")
        cwd.mkdir(exist_ok=True)
        self.servers[name] = {"command": sys.executable, "args": ["-u", str(SERVER), *args],
                              "cwd": str(cwd), **more}

    def write(self, **more):
        self.path.write_text(json.dumps({"mcpServers": self.servers, "theme": "dark", **more}, indent=1))

    def ids(self, caller):
        return {tool["toolbox_id"] for tool in caller.call("ovos.tools.list")["tools"]}

    def await_ids(self, caller, *ids):
        until(lambda: self.ids(caller) == set(ids), EVENT_SECONDS, f"{ids} offered")

    def failed(self, caller):
        return {one["toolbox_id"]: one["error"] for one in caller.call("ovos.tools.status")["failed"]}


@pytest.mark.parametrize("key", ["servers", "context_servers"])
def test_a_list_as_another_program_keeps_it_is_named(tmp_path, key):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({key: {"one": {"command": "x"}}}))
    done = toolboxctl("check", path, home=tmp_path)
    assert done.returncode == 1 and f"a list of servers has the key mcpServers, not {key}" in done.stdout + done.stderr, done


def test_each_server_of_a_list_is_a_toolbox(desk):
    desk.server("one", autoApprove=["add"], alwaysAllow=["*"], icon="one.png")
    desk.server("my server", "--legacy", disabled=False, type="stdio")
    desk.server("off", disabled=True)
    desk.write()
    with Caller(desk.start().url) as caller:
        desk.await_ids(caller, "one", "my_server")
        for name in "one", "my_server":
            answer = caller.invoke("add", {"a": 2}, toolbox_id=name)
            assert answer["result"]["structured"] == {"sum": 3}
        # What another program lets run without asking gives no right here.
        tools = desk.listed(caller, "one")
        assert caller.call("ovos.tools.get", {"name": "die", "toolbox_id": "one"})["risk"] == "execute" and tools
        not_offered = {one["toolbox_id"]: one["why"]
                       for one in caller.call("ovos.tools.status")["not_offered"]}
        assert not_offered["off"] == "it is disabled in its file"
        assert desk.failed(caller) == {}


WRONG = {
    "text": "npx", "neither": {}, "both": {"command": "a", "url": "http://b/"},
    "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}, "args": {"command": "a", "args": [1]},
    "number": {"command": 7}, "env": {"command": "a", "env": {"A": 1}}, "x" * 200: {"command": "a"},
    "nul": {"command": "a\0b"}, "": {"command": "a"}, "scheme": {"url": "file:///etc/passwd"},
    "my-server": {"command": sys.executable, "args": [str(SERVER)]},
    "my/server": {"command": "a"}, "my server": {"command": "b"},
}


def test_a_wrong_server_costs_only_itself(desk):
    desk.server("good")
    desk.servers |= WRONG
    desk.write()
    with Caller(desk.start().url) as caller:
        until(lambda: "good" in desk.ids(caller), EVENT_SECONDS, "the good one offered")
        failed = desk.failed(caller)
        lines = desk.path.read_text().splitlines()
        for name, text in (("text", "is no object"), ("neither", "either a"), ("both", "either a"),
                           ("old", "sse, which is not supported"), ("args", "not all strings"),
                           ("number", "no string"), ("nul", "U+0000"), ("env", "not all strings")):
            assert f"the server '{name}' " in failed[name] and text in failed[name], failed[name]
            line = next(i for i, one in enumerate(lines, 1) if one.startswith(f'  "{name}"'))
            assert f"claude_desktop_config.json:{line} " in failed[name], failed[name]
        assert "has the id of an earlier server" in failed["my_server"]
        assert "scheme" in failed
        assert caller.invoke("add", {"a": 2}, toolbox_id="good")["result"]["structured"] == {"sum": 3}


def test_a_change_of_one_leaves_the_others_alone(desk):
    for name in "one", "two", "three":
        desk.server(name)
    desk.write()
    with Caller(desk.start().url) as caller:
        desk.await_ids(caller, "one", "two", "three")
        for name in "one", "two", "three":
            caller.invoke("add", {"a": 1}, toolbox_id=name)
        pids = {name: desk.starts(name)[-1] for name in ("one", "two", "three")}
        # One is gone, one has changed, one is new, one is as it was.
        del desk.servers["one"]
        desk.server("two", "--legacy")
        desk.server("four")
        desk.write()
        desk.await_ids(caller, "two", "three", "four")
        until(lambda: not is_alive(pids["one"]) and not is_alive(pids["two"]), EVENT_SECONDS,
              "the servers ended that are not meant any more")
        assert is_alive(pids["three"])
        caller.invoke("add", {"a": 1}, toolbox_id="three")
        assert desk.starts("three")[-1] == pids["three"]
        # A file that cannot be read for a moment ends none of them.
        good = desk.path.read_text()
        for bad in good[:-20], '{"mcpServers": []}':
            desk.path.write_text(bad)
            until(lambda: "claude_desktop_config" in desk.failed(caller), EVENT_SECONDS, "the mistake seen")
            assert desk.ids(caller) == {"two", "three", "four"} and is_alive(pids["three"])
        desk.path.write_text(good)
        until(lambda: desk.failed(caller) == {}, EVENT_SECONDS, "the mistake gone")
        caller.invoke("add", {"a": 1}, toolbox_id="three")
        assert desk.starts("three")[-1] == pids["three"]


def test_an_id_is_taken_once(desk):
    desk.add("one")
    desk.server("one")
    desk.write()
    with Caller(desk.start().url) as caller:
        desk.await_ids(caller, "one")
        # The second one fails when its server was asked, which the first one does not wait for.
        failed = until(lambda: desk.failed(caller), EVENT_SECONDS, "a failure")
        assert len(failed) == 1 and "is taken by" in failed["one"]


def test_the_configuration_chooses_for_a_server_of_a_list(desk):
    desk.server("one")
    for name in ("two", "three"):
        desk.server(name, "--resources")
    desk.write()
    settings = {"toolboxes": {"two": {"resources": True}, "three": {"resources": "yes"},
                              "one": {"include": ["add", "die", "fail"], "exclude": ["fa*"], "risk": "write",
                                      "tools": {"die": {"risk": "execute"}}}}}
    with Caller(desk.start(settings).url) as caller:
        desk.await_ids(caller, "one", "two", "three")
        assert "read_resource" in desk.listed(caller, "two") and "read_resource" not in desk.listed(caller, "three")
        assert list(desk.listed(caller, "one")) == ["add", "die"]
        risk = {name: caller.call("ovos.tools.get", {"name": name, "toolbox_id": "one"})["risk"]
                for name in ("add", "die")}
        assert risk == {"add": "write", "die": "execute"}


def test_many_servers(desk, times):
    """As many are tried as the bound lets: with --long all of them are waited for."""
    desk.servers = {f"s{i}": {"command": "/nonexistent"} for i in range(1200)}
    desk.write()
    with Caller(desk.start().url) as caller:
        until(lambda: "claude_desktop_config" in desk.failed(caller), EVENT_SECONDS, "the bound told of")
        assert "has more than 1000 servers; 200 are left out" in desk.failed(caller)["claude_desktop_config"]
        last = f"s{times(20, 1000) - 1}"
        until(lambda: last in desk.failed(caller), 4 * EVENT_SECONDS, f"{last} tried")


def test_check_tells_of_each(desk, tmp_path):
    desk.server("one")
    desk.servers["two"] = {}
    desk.write()
    done = toolboxctl("check", desk.path, home=tmp_path / "ctl", seconds=EVENT_SECONDS)
    assert done.returncode == 1
    assert f"one: mcp, {len(mcp_server.TOOLS)} tools" in done.stdout
    assert "/mcpServers/two: the server 'two' must have either" in done.stderr
