# SPDX-License-Identifier: Apache-2.0
"""Toolboxes of kind mcp: servers of both eras over stdio, and what hostile ones do."""
import base64
import contextlib
import hashlib
import json
import math
import os
import signal
import sys
import time
import urllib.parse
from pathlib import Path

import mcp_server
import pytest
from caller import Caller
from http_peer import port_of
from processes import (EVENT_SECONDS, ROOT, SLOWNESS, children, is_alive, toolboxctl, until,
                       write_configuration)
from test_mcp_http import Client

SERVER = ROOT / "tests" / "interop" / "mcp_server.py"
ERAS = ("modern", "legacy")


def command(*args):
    return [sys.executable, "-u", str(SERVER), *args]


class Servers:
    """A daemon with toolboxes of kind mcp in a folder. Each runs in a folder of its own, with its starts."""

    def __init__(self, launch, folder):
        self.launch = launch
        self.folder = folder / "toolbox.d"
        self.folder.mkdir()
        self.service = None

    def add(self, name, *args, **more):
        cwd = self.folder.parent / name
        cwd.mkdir(exist_ok=True)
        mcp = {"command": command(*args), "cwd": str(cwd), **more.pop("mcp", {})}
        manifest = {"kind": "mcp", "risk": "write", "mcp": mcp, **more}
        (self.folder / f"{name}.json").write_text(json.dumps(
            {key: value for key, value in manifest.items() if value is not None}))

    def start(self, configuration=None, **options):
        # A hundred megabytes take a server longer than half a minute on a busy machine.
        self.service = self.launch({"idle_s": 600, "timeout_ms": int(EVENT_SECONDS * 1000), **(configuration or {})},
                                   [self.folder], **options)
        return self.service

    def starts(self, name):
        path = self.folder.parent / name / "starts"
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []

    def listed(self, caller, name):
        found = caller.call("ovos.tools.list")["tools"]
        return {tool["name"]: tool for tool in found if tool["toolbox_id"] == name}

    def await_tools(self, caller, name="box"):
        return until(lambda: self.listed(caller, name), EVENT_SECONDS, f"the tools of {name}")

    def reload(self, caller):
        """Reload until every server has answered; the last response."""
        def reloaded():
            answer = caller.call("ovos.tools.reload")
            return None if answer.get("asked") else answer

        return until(reloaded, EVENT_SECONDS, "a reload that waits for no server")

    def log(self):
        return self.service.daemon.log()


@pytest.fixture
def servers(launch, tmp_path):
    return Servers(launch, tmp_path)


def text_of(answer):
    return "".join(block.get("text", "") for block in answer["result"]["content"])


@pytest.mark.parametrize("configuration", [
    {"tools_disabled": ["box/*"]}, {"tools_enabled": ["other/*"]}, {"toolboxes": {"box": {"enabled": False}}}])
def test_a_server_that_is_left_out_as_a_whole_never_starts(servers, configuration):
    """Not even to list its tools."""
    servers.add("box")
    service = servers.start(configuration)
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.reload")["total_tools"] == 0
        assert "box" in [one["toolbox_id"] for one in caller.call("ovos.tools.status")["not_offered"]]
        assert servers.starts("box") == []
        write_configuration(service.daemon.home, {"toolboxd": {}})
        servers.await_tools(caller)
        assert len(servers.starts("box")) == 1


def test_a_server_that_a_bare_name_may_mean_is_asked_once(servers, tmp_path):
    """Its names are not known before; the state says so, and a cached list does as well."""
    servers.add("box")
    configuration = {"tools_enabled": ["nothing_of_its_own"]}
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    def state(caller):
        return next((one for one in caller.call("ovos.tools.status")["toolboxes"] if one["toolbox_id"] == "box"), None)

    for _ in range(2):
        with Caller(servers.start(configuration, env=cache).url) as caller:
            box = until(lambda: state(caller), EVENT_SECONDS, "it is described")
            assert box["state"] == "disabled" and "it was described once" in box["why"], box
            caller.settle()
        servers.service.end()
    assert len(servers.starts("box")) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_server_is_listed_and_called(servers, era):
    servers.add("box", *(["--legacy"] if era == "legacy" else []))
    with Caller(servers.start({"start_timeout_ms": 10000}).url) as caller:
        tools = servers.await_tools(caller)
        assert list(tools)[:5] == ["add", "fail", "refuse", "wait", "die"]
        assert len(tools) == len(mcp_server.TOOLS)
        assert tools["add"]["description"] == "Add two integers."
        assert caller.call("ovos.tools.get", {"name": "add", "deadline": True})["start_timeout_ms"] == 60000
        answer = caller.invoke("add", {"a": 2, "b": 3})
        assert answer["result"] == {"content": [{"type": "text", "text": "5"}],
                                    "structured": {"sum": 5}}
        assert caller.invoke("several")["result"] == {"content": [{"type": "text", "text": "[1, 2]"}], "structured": [1, 2]}
        image = caller.invoke("image")["result"]
        assert image == {"content": [{"type": "image", "data": "AAE=", "mimeType": "image/png",
                                      "_meta": {"x": 1.10}}]}
        assert text_of(caller.invoke("large", {"bytes": 200000}))
        assert text_of(caller.invoke("ask")) == "[{}, -32601]"
        assert len(servers.starts("box")) == 2, "one for the list, one for the calls"


UNREADABLE = {
    "NaN": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"v":NaN}}}',
    "no UTF-8": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}',
    "a control": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\tb"}]}}',
    "a key twice": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x","text":"y"}]}}',
    "a comma": '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"x"},]},"id":ID}',
    "deep": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":' + '{"a":' * 200 + "1" + "}" * 202,
    "after noise": 'DEBUG answering {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}',
    "no version": '{"id":ID,"result":{"content":[]}}',
}


@pytest.fixture
def raw(servers):
    """A server that answers with any text."""
    (servers.folder.parent / "box").mkdir()
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps([mcp_server.RAW, *mcp_server.TOOLS[:4]]))
    servers.add("box", "--tools", "tools.json")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        yield lambda text, **more: caller.invoke("raw", {"text": text}, **more)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_answer_that_cannot_be_read_is_the_end_of_its_call(raw, servers, kind):
    answer = raw(UNREADABLE[kind], timeout_ms=60000)
    assert answer["code"] == "tool_failed", answer
    assert "the server has sent an answer that cannot be read: " in answer["error"]
    assert "it has sent what is no message: " in servers.log()


def test_half_a_pair_of_surrogates_costs_no_call(raw):
    answer = raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\\ud83d"}]}}', timeout_ms=60000)
    assert text_of(answer) == "a\ufffd"


SECRET = 'Super/Secret"Key\\1234é'


@pytest.fixture
def keyed(servers, tmp_path):
    """A server that is given a secret, and repeats it."""
    (tmp_path / "secret").write_text(SECRET + "\n")
    (servers.folder.parent / "box").mkdir()
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [mcp_server.RAW, {**mcp_server.TOOLS[3], "description": f"With {SECRET}."}]))
    servers.add("box", "--tools", "tools.json", mcp={"env": {
        "API_KEY": f"${{file:{tmp_path}/secret}}", "GITHUB_TOKEN": "ghp_in_the_clear", "WHERE": "${env:HOME}", "PIN": "${env:PIN}"}})
    service = servers.start({"events": {"calls": True, "results": True}}, env={"PIN": "987654"})
    with Caller(service.url) as caller:
        servers.await_tools(caller)
        yield caller


def said(servers, caller):
    """All that the daemon has told of the server."""
    return servers.log() + json.dumps([one.data for one in caller.seen], ensure_ascii=False) + json.dumps(
        caller.call("ovos.tools.status"), ensure_ascii=False) + json.dumps(servers.listed(caller, "box"), ensure_ascii=False)


@pytest.mark.parametrize("form", ["result", "ascii", "slashes", "error", "failure", "basic", "progress", "clear", "url"])
def test_a_secret_comes_back_nowhere_in_the_words_of_a_server(keyed, servers, form):
    text = {"ascii": json.dumps(SECRET)[1:-1], "slashes": json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
            "basic": base64.b64encode(b"user:" + SECRET.encode()).decode(), "clear": "ghp_in_the_clear",
            "url": urllib.parse.quote(SECRET, safe="")}.get(form, json.dumps(SECRET, ensure_ascii=False)[1:-1])
    outcome = {"error": f'"error":{{"code":-32000,"message":"bad key {text}"}}',
               "failure": f'"result":{{"isError":true,"content":[{{"type":"text","text":"bad key {text}"}}]}}'}.get(
        form, f'"result":{{"content":[{{"type":"text","text":"bad key {text}"}}],"structuredContent":{{"key":"{text}"}}}}')
    before = (f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":ID,"progress":1,"total":2,'
              f'"message":"at {text}"}}}}\nnoise {text}\n') if form == "progress" else ""
    raw = before + f'{{"jsonrpc":"2.0","id":ID,{outcome}}}'
    answer = keyed.invoke("raw", {"text": raw.encode().decode("latin-1")}, progress=True)
    heard = json.dumps(answer, ensure_ascii=False)
    assert "bad key " in heard and "***" in heard, answer
    for shown in (heard, said(servers, keyed)):
        for secret in (SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1], text, "ghp_in"):
            assert secret not in shown.replace(json.dumps(raw.encode().decode("latin-1"), ensure_ascii=False), ""), (form, secret)
    if form == "progress":
        assert "at ***" in json.dumps([one.data for one in keyed.seen])
    assert servers.listed(keyed, "box")["wait"]["description"] == "With ***."


def test_what_is_no_secret_or_no_text_is_not_masked(keyed):
    home = os.environ.get("HOME", "/")
    answer = keyed.invoke("raw", {"text": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"' + home + ' 987654"}],'
                                          '"structuredContent":{"n":987654}}}'})
    assert answer["result"] == {"content": [{"type": "text", "text": home + " ***"}], "structured": {"n": 987654}}


def test_a_result_whose_secrets_cannot_be_masked_is_not_shown(keyed):
    answer = keyed.invoke("raw", {"text": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],'
                                          '"structuredContent":{"987654":1,"ghp_in_the_clear":2}}}'})
    assert answer["code"] == "tool_failed" and "has a secret of this toolbox" in answer["error"]


def test_an_answer_of_100_mb_is_too_large_and_costs_no_other_call(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        other = begin(caller, "gather", {"count": 2}, timeout_ms=600000)
        answer = caller.invoke("large", {"bytes": 100_000_000}, timeout_ms=600000, seconds=EVENT_SECONDS)
        assert answer["code"] == "too_large", answer
        caller.invoke("gather", {"count": 2}, timeout_ms=600000, seconds=EVENT_SECONDS)
        assert "result" in ends_of(caller, other)[other[0]]
        assert len(servers.starts("box")) == 2, "its process goes on"
        until(lambda: "it has sent a line of more than 64 MiB" in servers.log(), EVENT_SECONDS, "the reason")


def test_a_null_of_a_result_counts_as_absent(raw):
    answer = raw('{"jsonrpc":"2.0","id":ID,"error":null,"result":{"isError":null,"content":[{"type":"text","text":"ok",'
                 '"annotations":null,"_meta":null}]}}', timeout_ms=60000)
    assert answer["result"] == {"content": [{"type": "text", "text": "ok"}]}


def test_a_mistake_in_a_schema_costs_the_keyword_and_not_the_tool(servers):
    (servers.folder.parent / "box").mkdir()
    schemas = {"required": {"properties": {"a": {"type": "string", "required": True}}},
               "type": {"properties": {"a": {"type": "any", "description": "A."}}},
               "draft4": {"properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}},
               "nulls": {"properties": None, "required": None, "description": None, "additionalProperties": None},
               "none": {"properties": {"a": "string", "b": {"default": None}}}, "lost": {"properties": {"a": {"$ref": "#/x"}}},
               "many": {"properties": {f"p{i}": {"type": "string", "required": True} for i in range(30)}}}
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [{"name": name, "inputSchema": {"type": "object", **schema},
          "outputSchema": {"type": "object", "properties": {"x": {"type": "string", "minLength": -1}}}}
         for name, schema in schemas.items()]))
    servers.add("box", "--tools", "tools.json")
    with Caller(servers.start().url) as caller:
        tools = servers.await_tools(caller)
        properties = {name: tool["argument_schema"].get("properties") for name, tool in tools.items()}
        many = properties.pop("many")
        assert properties == {
            "required": {"a": {"type": "string"}}, "type": {"a": {"description": "A."}},
            "draft4": {"a": {"type": "number", "minimum": 0}}, "nulls": None, "none": {"a": {}, "b": {"default": None}},
            "lost": {"a": {}}}
        assert many == {f"p{i}": {"type": "string"} for i in range(30)}
        assert tools["nulls"]["argument_schema"] == {"type": "object"}
        assert caller.call("ovos.tools.status")["not_offered"] == []
        assert caller.invoke("draft4", {"a": -1})["code"] == "invalid_arguments"
    assert ("the tool 'draft4': /argument_schema/properties/a/exclusiveMinimum is left out of its schema: "
            "'exclusiveMinimum' must be a number, not boolean") in servers.log()
    assert "the tool 'many': 28 further mistakes" in servers.log()
    assert "/argument_schema/properties/a/required" in servers.log() and "nulls': /argument" not in servers.log()


def test_an_error_without_an_id_is_that_of_the_only_call(raw):
    answer = raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"cannot serialise"}}', timeout_ms=60000)
    assert answer["code"] == "tool_failed" and "cannot serialise" in answer["error"]


def test_a_response_with_its_id_as_a_string_is_taken(raw):
    assert text_of(raw('{"jsonrpc":"2.0","id":"ID","result":{"content":[{"type":"text","text":"x"}]}}', timeout_ms=60000)) == "x"


def test_a_timeout_names_the_rule_that_the_server_has_broken(raw):
    # On a machine that holds the server up for longer than the deadline, with a longer one.
    for slowness in 1, 8:
        answer = raw('{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","result":NaN}',
                     timeout_ms=int(2000 * SLOWNESS * slowness))
        if "breaks a rule" in answer["error"]:
            break
    assert answer["code"] == "timeout" and "(the server breaks a rule: it has sent what is no message: at byte " in answer["error"], answer


def test_what_is_no_message_is_logged_with_its_beginning(raw, servers):
    assert raw('Usage: server DIR\n{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}')["result"] == {"content": []}
    until(lambda: "a character that cannot begin one: Usage: server DIR" in servers.log(), EVENT_SECONDS, "the log")


def test_a_server_has_no_descriptor_of_ours(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        found = json.loads(text_of(caller.invoke("descriptors")))
        assert set(found) == {"0", "1", "2"}, found


def test_a_server_of_the_legacy_era_is_not_probed_again(servers):
    servers.add("box", "--legacy", "--journal", "methods")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        methods = servers.folder.parent / "box" / "methods"
        assert methods.read_text().split()[0] == "server/discover"
        methods.unlink()
        caller.invoke("add", {"a": 1})
        assert methods.read_text().split()[0] == "initialize"


@pytest.mark.parametrize("later, asked, era", [
    ("--legacy", "initialize", "initialize"), ("", "initialize", "initialize"),
    ("--fault=only-modern", "initialize server/discover", "server/discover"),
    ("--fault=only-modern-exits", "initialize server/discover", "server/discover")])
def test_a_server_is_asked_again_in_its_era_of_before(servers, tmp_path, later, asked, era):
    """Some servers write a page of log for each request that they do not know. One that has changed is found, too."""
    servers.add("box", mcp={"command": ["sh", "-c", f"exec {sys.executable} -u {SERVER} --journal methods $(cat mode)"]})
    folder = servers.folder.parent / "box"
    (folder / "mode").write_text("--legacy")
    with Caller(servers.start(env={"XDG_CACHE_HOME": str(tmp_path / "cache")}).url) as caller:
        servers.await_tools(caller)
        assert (folder / "methods").read_text().split()[0] == "server/discover"
        (folder / "methods").unlink()
        (folder / "mode").write_text(later)
        caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)
        until(lambda: (folder / "methods").exists() and "tools/list" in (folder / "methods").read_text(), EVENT_SECONDS,
              "its list read again")
        assert (folder / "methods").read_text().startswith("\n".join(asked.split()))
        until(lambda: caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS).get("result"), EVENT_SECONDS, "a result")
        words = (folder / "methods").read_text().split()
        assert [one for one in words if one in ("initialize", "server/discover")][-1] == era, words


def test_a_server_that_ends_on_initialize_may_start_slowly(servers):
    """Its silence is no proof that it does not know server/discover. It is not asked in the other era a second time."""
    servers.add("box", mcp={"command": ["sh", "-c", f"sleep 3; exec {sys.executable} -u {SERVER} --journal methods "
                                                    "--fault only-modern-exits"]})
    methods = servers.folder.parent / "box" / "methods"
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        words = [word for word in methods.read_text().split() if word in ("initialize", "server/discover")]
        assert words == ["server/discover", "initialize", "server/discover"]
        methods.unlink()
        assert text_of(caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS))


def test_what_fails_says_why(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        failed = caller.invoke("fail")
        assert failed["code"] == "tool_failed" and "no luck\nat all" in failed["error"]
        refused = caller.invoke("refuse")
        assert refused["code"] == "tool_failed" and "not today" in refused["error"]
        assert caller.invoke("add", {"a": "2"})["code"] == "invalid_arguments"
        assert len(servers.starts("box")) == 2, "each of them leaves the server alone"


def test_progress_is_told(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        assert text_of(caller.invoke("wait", {"seconds": 0.8}, progress=True)) == "waited"
        told = [one.data for one in caller.seen if one.type == "ovos.tools.call.progress"]
        told = [(one["progress"], one["text"]) for one in told]
        assert told[0] == (0.25, "step 1"), told
        # Of two that come within 50 ms, on a busy machine, the later one is not told.
        assert told == [one for one in [(step / 4, f"step {step}") for step in range(1, 5)] if one in told]


# The deadlines are long enough for a busy machine, and progress comes forty times in one.
ANEW_MS = int(4000 * SLOWNESS)


def test_progress_begins_the_deadline_of_a_tool_anew_and_not_that_of_a_caller(servers):
    with Caller(servers.start().url) as caller:
        # On a machine that holds progress up for a whole deadline, with a longer one.
        for slowness in 1, 4:
            box, anew_ms = f"box{slowness}", ANEW_MS * slowness
            busy = {"seconds": 2 * anew_ms / 1000, "steps": 80}
            servers.add(box, tools={"wait": {"timeout_ms": anew_ms}})
            servers.await_tools(caller, box)
            caller.invoke("add", {"a": 1}, toolbox_id=box)
            answer = caller.invoke("wait", busy, toolbox_id=box)
            if answer.get("code") != "timeout":
                break
        assert text_of(answer) == "waited"
        assert caller.invoke("wait", busy, timeout_ms=anew_ms - 1, toolbox_id=box)["code"] == "timeout"
        # Without progress: it never comes that far.
        assert caller.invoke("wait", {"seconds": 3600}, toolbox_id=box)["code"] == "timeout"


def test_progress_extends_a_deadline_up_to_a_bound(servers):
    servers.add("box", tools={"wait": {"timeout_ms": ANEW_MS}}, limits={"max_ms": ANEW_MS * 3 // 2})
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        begun = time.monotonic()
        answer = caller.invoke("wait", {"seconds": 3600, "steps": 36000}, seconds=EVENT_SECONDS)
        assert answer["code"] == "timeout"
        assert time.monotonic() - begun > ANEW_MS * 1.49 / 1000, "it was extended"


def test_the_last_words_of_a_server_are_in_the_reason_against_it(servers, tmp_path):
    """As Node writes an uncaught error: its reason is above the frames of the stack. What was secret stays so."""
    program = tmp_path / "program"
    trace = "".join(f"    at f{number} (/app/index.js:{number}:1)\n" for number in range(12))
    program.write_text("#!/bin/sh\nread line\necho \"Error: database /var/none.db not found for $API_KEY\" >&2\n"
                       f"cat >&2 <<'END'\n{trace}\nNode.js v20.19.0\nEND\nexit 3\n")
    program.chmod(0o755)
    servers.add("box", mcp={"command": [str(program)], "env": {"API_KEY": "${env:TEST_KEY}"}})
    service = servers.start(env={"TEST_KEY": "hush-hush"})
    with Caller(service.url) as caller:
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "it failed")
    words = ("the server has exited with status 3 before it has listed its tools; its log ends with: "
             "Error: database /var/none.db not found for *** | Node.js v20.19.0")
    assert failed[0]["error"].endswith(words), failed
    done = toolboxctl("status", "box", "--bus", service.url, home=tmp_path)
    assert "database /var/none.db not found for ***" in " ".join((done.stdout + done.stderr).split()), done


def test_what_the_host_says_of_a_server_counts_as_no_word_of_it(servers, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nread line\necho 'Usage: server DIR'\nexit 2\n")
    program.chmod(0o755)
    servers.add("box", mcp={"command": [str(program)]})
    with Caller(servers.start().url) as caller:
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "it failed")
    assert "its log ends with: the server breaks a rule: " in failed[0]["error"]
    assert "it has printed" not in failed[0]["error"]


def begin(caller, name, args, count=1, **more):
    """Begin calls; their marks."""
    return [caller.send("ovos.tools.invoke", {"name": name, "args": args, "call_id": f"{name}-{number}", **more},
                        {"source": "asker"}) for number in range(count)]


def ends_of(caller, marks, seconds=EVENT_SECONDS, count=None):
    """The answers to these calls, by mark, in the order in which they came."""
    def found():
        return [one for one in caller.seen if one.type == "ovos.tools.invoke.response"
                and one.context.get("mark") in marks]

    while len(found()) < (count or len(marks)):
        caller.receive(seconds)
    return {one.context["mark"]: one.data for one in found()}


def running(caller, name="box"):
    toolbox = next(one for one in caller.call("ovos.tools.status")["toolboxes"] if one["toolbox_id"] == name)
    return toolbox["running"], toolbox["queue"]


@pytest.mark.parametrize("era", ERAS)
def test_64_calls_are_in_flight_over_one_server(servers, era):
    servers.add("box", *(["--legacy"] if era == "legacy" else []))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        marks = begin(caller, "gather", {"count": 64}, 65, timeout_ms=30000)
        ends = ends_of(caller, marks[:64])
        assert sorted(text_of(end) for end in ends.values()) == sorted(f"{place} of 64" for place in range(64))
        assert list(ends)[0] == marks[63] and list(ends)[63] == marks[0], "the last one comes first"
        assert running(caller) == (1, 0), "the 65th waited for its turn"
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert len(servers.starts("box")) == 2
        assert "breaks a rule" not in servers.log()


def test_calls_that_share_a_server_start_others_up_to_workers(servers):
    servers.add("box", limits={"workers": 3, "timeout_ms": 600000})
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        marks = []

        def has_three():
            if len(servers.starts("box")) < 4 and running(caller)[1] == 0:
                marks.extend(begin(caller, "wait", {"seconds": 600}, call_id="all"))
            return len(servers.starts("box")) == 4

        until(has_three, EVENT_SECONDS, "three servers")
        marks += begin(caller, "wait", {"seconds": 600}, 8, call_id="all")
        until(lambda: running(caller) == (len(marks), 0), EVENT_SECONDS, "all in flight")
        caller.call("ovos.tools.cancel", {"call_id": "all"}, {"source": "asker"})
        assert {end["code"] for end in ends_of(caller, marks).values()} == {"cancelled"}
        assert len(servers.starts("box")) == 4 and all(map(is_alive, servers.starts("box")[1:]))


def test_a_tool_that_is_not_parallel_runs_alone(servers, tmp_path):
    gate = tmp_path / "gate"
    servers.add("box", tools={"wait": {"parallel": False}})
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        marks = begin(caller, "wait", {"until": str(gate)}, timeout_ms=600000)
        marks += begin(caller, "add", {"a": 1}, 3, timeout_ms=600000)
        until(lambda: running(caller) == (1, 3), EVENT_SECONDS, "three that wait for one")
        gate.touch()
        assert list(ends_of(caller, marks))[0] == marks[0]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("end", ["cancelled", "timeout"])
def test_a_call_that_ends_early_leaves_its_server_and_the_others(servers, tmp_path, era, end):
    gate = tmp_path / "gate"
    servers.add("box", "--journal", "methods", *(["--legacy"] if era == "legacy" else []))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        others = begin(caller, "gather", {"count": 3}, 2, timeout_ms=600000)
        ended = begin(caller, "wait", {"until": str(gate)}, timeout_ms=300 if end == "timeout" else 600000)
        if end == "cancelled":
            assert caller.call("ovos.tools.cancel", {"call_id": "wait-0"}, {"source": "asker"})["cancelled"]
        assert ends_of(caller, ended)[ended[0]]["code"] == end
        methods = servers.folder.parent / "box" / "methods"
        until(lambda: "notifications/cancelled" in methods.read_text(), EVENT_SECONDS, "the server notified")
        # The server goes on, and its late answer is dropped.
        gate.touch()
        assert text_of(caller.invoke("wait", {"seconds": 2}, seconds=EVENT_SECONDS)) == "waited"
        last = begin(caller, "gather", {"count": 3}, call_id="last")
        assert {text_of(one) for one in ends_of(caller, others + last).values()} == \
            {f"{place} of 3" for place in range(3)}
        assert len(servers.starts("box")) == 2 and "breaks a rule" not in servers.log()


def test_a_server_that_stops_answering_is_ended(servers):
    servers.add("box")
    with Caller(servers.start({"crash_limit": 0}).url) as caller:
        servers.await_tools(caller)
        other = begin(caller, "wait", {"seconds": 600})
        for _ in range(3):
            assert caller.invoke("stop", timeout_ms=100)["code"] == "timeout"
        stopped = servers.starts("box")[-1]
        assert is_alive(stopped), "three calls alone do not end it"
        ended = ends_of(caller, other, EVENT_SECONDS)[other[0]]
        assert ended["code"] == "host_crashed"
        until(lambda: not is_alive(stopped), EVENT_SECONDS, "the server gone")
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert "has not answered a ping" in servers.log()


def test_calls_wait_for_a_host_that_reads_nothing(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        host = children(servers.service.daemon.only_host())[0]
        os.kill(host, signal.SIGSTOP)
        marks = begin(caller, "add", {"a": 1, "text": "x" * 700000}, 8, timeout_ms=60000)
        taken, waiting = running(caller)
        assert taken + waiting == 8 and waiting > 0, (taken, waiting)
        os.kill(host, signal.SIGCONT)
        assert [end["result"]["structured"] for end in ends_of(caller, marks).values()] == [{"sum": 2}] * 8
        assert running(caller) == (0, 0) and len(servers.starts("box")) == 2


def test_a_server_that_reads_nothing_costs_calls_and_not_itself(servers):
    servers.add("box")
    with Caller(servers.start({"limits": {"peer_bytes": 1 << 30}}).url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        server = servers.starts("box")[-1]
        os.kill(server, signal.SIGSTOP)
        marks = []
        for number in range(24):
            marks += begin(caller, "add", {"a": 1, "text": "x" * 3000000}, call_id=f"{number}", timeout_ms=60000)
            caller.call("mycroft.toolboxd.is_alive")  # reads what the bus sends back
        first = ends_of(caller, marks, count=1)
        assert {end["code"] for end in first.values()} == {"tool_failed"}
        assert "the server cannot be sent so much now" in list(first.values())[0]["error"]
        os.kill(server, signal.SIGCONT)
        ends = ends_of(caller, marks)
        assert {end.get("code") for end in ends.values()} == {None, "tool_failed"}
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert servers.starts("box")[-1] == server


def test_a_server_that_closes_its_input_is_ended(servers):
    """It can be sent nothing, and its host would wait for it without a rest."""
    servers.add("box", "--fault", "deafens")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        for count in (1, 2):
            assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
            until(lambda: servers.log().count("it has closed its standard input") == count, EVENT_SECONDS, "its end")
            until(lambda: not servers.service.daemon.hosts(), EVENT_SECONDS, "the end of its host")
        assert len(servers.starts("box")) == 3


@pytest.mark.parametrize("end", ["server", "host"])
def test_a_killed_server_costs_each_call_in_flight_one_error_and_counts_once(servers, end):
    servers.add("box")
    with Caller(servers.start({"crash_limit": 2}).url) as caller:
        servers.await_tools(caller)
        marks = begin(caller, "gather", {"count": 9}, 8)
        until(lambda: running(caller) == (8, 0), EVENT_SECONDS, "all in flight")
        pid = servers.starts("box")[-1] if end == "server" else servers.service.daemon.only_host()
        os.kill(pid, signal.SIGKILL)
        ends = ends_of(caller, marks)
        assert {(one["code"], one["signal"]) for one in ends.values()} == {("host_crashed", "SIGKILL")}
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert len(servers.starts("box")) == 3
        answers = [one for one in caller.settle() if one.type == "ovos.tools.invoke.response"
                   and one.context.get("mark") in marks]
        assert len(answers) == 8, "each has one answer"


def test_a_server_that_ends_in_a_call(servers):
    servers.add("box")
    with Caller(servers.start({"crash_limit": 0}).url) as caller:
        servers.await_tools(caller)
        died = caller.invoke("die")
        assert (died["code"], died["signal"]) == ("host_crashed", "SIGSEGV")
        left = caller.invoke("leave")
        assert (left["code"], left["exit_code"]) == ("host_crashed", 7)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}


def test_a_server_that_is_killed_between_calls(servers):
    servers.add("box")
    with Caller(servers.start({"crash_limit": 0}).url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        pid = servers.starts("box")[-1]
        os.kill(pid, signal.SIGKILL)
        hosts = servers.service.daemon.hosts
        until(lambda: not is_alive(pid) and not hosts(), EVENT_SECONDS, "its host gone")
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert servers.starts("box")[-1] != pid


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name, text", [("twice", "once"), ("stranger", "mine"),
                                        ("chatter", "done"), ("flood", "flooded")])
def test_a_server_that_breaks_rules_in_a_call(servers, era, name, text):
    servers.add("box", *(["--legacy"] if era == "legacy" else []))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        for _ in range(3):
            assert text_of(caller.invoke(name, seconds=EVENT_SECONDS)) == text
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert len(servers.starts("box")) == 2


@pytest.mark.parametrize("args", [["--fault", "garbage"], ["--fault", "flood"], ["--legacy", "--silent-probe"],
                                  ["--legacy", "--exits-on-probe"]])
def test_a_server_that_starts_badly(servers, args):
    servers.add("box", *args)
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        assert caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)["result"]["structured"] == {"sum": 2}


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_starts_slowly(servers, era, times):
    with Caller(servers.start().url) as caller:
        # On a machine that takes a second for an answer, with longer times.
        for slowness in 1, 8:
            box = f"box{slowness}"
            servers.add(box, "--fault", "slow", "--seconds", str(times(3, 20) * slowness),
                        *(["--legacy"] if era == "legacy" else []))
            servers.await_tools(caller, box)
            calls = begin(caller, "add", {"a": 1}, 3, timeout_ms=1000 * slowness, toolbox_id=box)
            ends = ends_of(caller, calls).values()
            if not any(end.get("code") == "timeout" for end in ends):
                break
        assert [end["result"]["structured"] for end in ends] == [{"sum": 2}] * 3


def test_a_server_that_never_answers(servers, times):
    if not times(False, True):
        pytest.skip("it has a minute to list its tools: --long")
    servers.add("box", "--fault", "mute")
    with Caller(servers.start({"start_timeout_ms": 10000}).url) as caller:
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], 2 * EVENT_SECONDS, "it failed")
        assert "the server has not listed its tools within 57 s" in failed[0]["error"] or \
            "it has not responded to server/discover and initialize in time" in failed[0]["error"]
        pid = servers.starts("box")[-1]
        until(lambda: not is_alive(pid), EVENT_SECONDS, "the server gone")


@pytest.mark.parametrize("fault, reason", [
    ("exits", "the server has exited with status 5 before it has listed its tools"),
    ("closes", "it has closed its standard output")])
def test_a_server_that_cannot_be_used(servers, fault, reason):
    servers.add("box", "--fault", fault)
    servers.add("other")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller, "other")
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "it failed")
        assert [one["toolbox_id"] for one in failed] == ["box"] and reason in failed[0]["error"]


def test_a_server_that_fails_at_first_is_asked_again_by_itself(servers):
    servers.add("box", "--tools", "tools.json")
    with Caller(servers.start().url) as caller:
        until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "it failed")
        until(lambda: len(servers.starts("box")) >= 2, EVENT_SECONDS, "a second start")
        (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(mcp_server.TOOLS[:1]))
        assert list(servers.await_tools(caller)) == ["add"]
        assert caller.call("ovos.tools.status")["failed"] == []
        assert servers.log().count("its tools failed") + servers.log().count("has exited with status") <= 2


def test_a_server_that_never_answers_does_not_hold_a_change(servers):
    servers.add("box", "--fault", "mute")
    with Caller(servers.start({"start_timeout_ms": 10000}).url) as caller:
        until(lambda: servers.starts("box"), EVENT_SECONDS, "its start")
        (servers.folder / "own.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
            {"name": "mine", "description": "Mine.", "argument_schema": {"type": "object"},
             "command": {"argv": ["echo", "mine"]}}]}))
        # It has a minute to list its tools.
        until(lambda: servers.listed(caller, "own"), EVENT_SECONDS, "the change")
        pid = servers.starts("box")[0]
        until(lambda: not is_alive(pid), EVENT_SECONDS, "its end")
        until(lambda: len(servers.starts("box")) == 2, EVENT_SECONDS, "it is asked again")


def test_a_slow_server_holds_no_other_up(servers):
    """It has its time; what has answered is offered meanwhile, at the start and at a reload, and the same process is
    asked all the time."""
    servers.add("slow", "--fault", "mute")
    servers.add("fast")
    with Caller(servers.start({"start_timeout_ms": int(EVENT_SECONDS * 1000)}).url) as caller:
        servers.await_tools(caller, "fast")
        status = caller.call("ovos.tools.status")
        assert status["failed"] == [], "the slow one is still asked"
        assert [one["why"] for one in status["not_offered"] if one["toolbox_id"] == "slow"] == \
            ["its server is being asked for its tools"]
        servers.add("third")
        answer = caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)
        assert answer["failed"] == [] and "slow" in answer["asked"]
        servers.await_tools(caller, "third")
        # A reload waits a moment for who answers at once, which may be nobody on a busy machine.
        until(lambda: caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["asked"] == ["slow"], EVENT_SECONDS,
              "the slow one alone asked")
        assert len(servers.starts("slow")) == 1 and is_alive(servers.starts("slow")[0])


def test_a_server_that_answers_late_is_offered_then(servers):
    servers.add("fast")
    servers.add("late", "--tools", "tools.json", "--fault", "late")
    (servers.folder.parent / "late" / "tools.json").write_text(json.dumps(mcp_server.TOOLS[:1]))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller, "fast")
        assert not servers.listed(caller, "late")
        (servers.folder.parent / "late" / "go").touch()
        assert list(servers.await_tools(caller, "late")) == ["add"]
        assert caller.invoke("add", {"a": 1}, toolbox_id="late")["result"]["structured"] == {"sum": 2}


def test_a_server_that_ends_at_once_is_started_once(servers, tmp_path):
    """One that exits on what it does not know is begun again without the probe; this one has not read it."""
    servers.add("box", mcp={"command": ["/bin/sh", "-c", "echo $$ >> starts; echo 'no key' >&2; exit 7"]})
    path = str(servers.folder / "box.json")
    done = toolboxctl("check", path, home=tmp_path)
    assert "has exited with status 7" in done.stdout + done.stderr
    assert len(servers.starts("box")) == 1


def test_a_list_longer_than_any_result_may_be(servers):
    """As ten thousand tools with ordinary descriptions are."""
    servers.add("box", "--tools", "tools.json")
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [{"name": f"tool_{number}", "description": "What this tool does, in some words. " * 10,
          "inputSchema": {"type": "object"}} for number in range(400)]))
    with Caller(servers.start({"limits": {"host_output_bytes": 64 << 10}}).url) as caller:
        until(lambda: servers.listed(caller, "box") or caller.call("ovos.tools.status")["failed"],
              EVENT_SECONDS, "the tools")
        assert caller.call("ovos.tools.status")["failed"] == []
        assert len(servers.listed(caller, "box")) == 400


def test_a_program_that_is_not_there(servers):
    servers.add("box", mcp={"command": ["/nowhere/server"]})
    with Caller(servers.start().url) as caller:
        failed = until(lambda: caller.call("ovos.tools.status")["failed"], EVENT_SECONDS, "it failed")
        assert "'/nowhere/server' cannot be started: No such file" in failed[0]["error"]


def test_a_program_that_is_gone_for_long_is_not_offered_until_it_is_back(servers, tmp_path):
    program = tmp_path / "server"
    program.symlink_to(sys.executable)
    servers.add("box", mcp={"command": [str(program), "-u", str(SERVER)], "grace_s": 1}, limits={"idle_s": 0})
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        program.rename(tmp_path / "away")
        gone = until(lambda: (answer := caller.invoke("add", {"a": 1})).get("code") and answer, EVENT_SECONDS, "it is gone")
        assert gone["code"] == "unavailable" and "No such file" in gone["error"], gone
        until(lambda: not servers.listed(caller, "box"), EVENT_SECONDS, "its tools are not offered")
        (tmp_path / "away").rename(program)
        servers.await_tools(caller)
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}


def test_a_list_that_never_ends(servers):
    servers.add("box", "--fault", "endless")
    with Caller(servers.start().url) as caller:
        assert list(servers.await_tools(caller)) == ["add"]
        told = caller.call("ovos.tools.status")["not_offered"]
        assert any("1000 pages" in one["why"] for one in told), told


def test_no_server_is_started_before_its_first_call(servers, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    servers.add("box")
    servers.add("old", "--legacy", "--silent-probe")
    with Caller(servers.start(env=cache).url) as caller:
        servers.await_tools(caller)
        servers.await_tools(caller, "old")
    assert (len(servers.starts("box")), len(servers.starts("old"))) == (1, 1)
    servers.service.end()
    with Caller(servers.start(env=cache).url) as caller:
        assert servers.listed(caller, "box") and servers.listed(caller, "old")
        assert (len(servers.starts("box")), len(servers.starts("old"))) == (1, 1)
        assert caller.invoke("add", {"a": 1}, toolbox_id="box")["result"]["structured"] == {"sum": 2}
        assert (len(servers.starts("box")), len(servers.starts("old"))) == (2, 1)
        began = time.monotonic()
        assert caller.invoke("add", {"a": 1}, toolbox_id="old")["result"]["structured"] == {"sum": 2}
        assert time.monotonic() - began > 2, "the verdict of a silence is not kept"


def changed_tools():
    """The tools after the tool `change`, and one more."""
    tools = [dict(tool) for tool in mcp_server.TOOLS]
    tools[0]["description"] = "Delete everything."
    return [*tools, {"name": "extra", "inputSchema": {"type": "object"}}]


@pytest.mark.parametrize("era", ERAS)
def test_a_list_that_changes_is_read_again_by_itself(servers, era):
    servers.add("box", "--tools", "tools.json", *(["--legacy"] if era == "legacy" else []))
    path = servers.folder.parent / "box" / "tools.json"
    path.write_text(json.dumps(mcp_server.TOOLS))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        path.write_text(json.dumps(changed_tools()))
        assert text_of(caller.invoke("change")) == "changed"
        caller.wait_for(lambda one: one.type == "ovos.tools.changed", EVENT_SECONDS)
        found = servers.listed(caller, "box")
        assert "extra" in found and found["add"]["description"] == "Delete everything."
        assert caller.invoke("add", {"a": 1})["result"]["structured"] == {"sum": 2}
        assert "its server has changed 1 tool" in servers.log()


def test_a_list_that_has_changed_while_its_server_did_not_run_is_read_again(servers):
    servers.add("box", "--tools", "tools.json", limits={"idle_s": 0})
    path = servers.folder.parent / "box" / "tools.json"
    path.write_text(json.dumps(mcp_server.TOOLS))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        path.write_text(json.dumps(changed_tools()[1:]))
        assert text_of(caller.invoke("twice")) == "once"
        until(lambda: "extra" in (found := servers.listed(caller, "box")) and "add" not in found,
              EVENT_SECONDS, "the list of the session")


def test_a_list_that_changes_in_one_process_alone_stays(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        assert text_of(caller.invoke("change")) == "changed"
        until(lambda: len(servers.starts("box")) == 3, EVENT_SECONDS, "another process asked")
        refused = until(lambda: (answer := caller.invoke("add", {"a": 1})).get("code") and answer,
                        EVENT_SECONDS, "the change noticed")
        assert refused["code"] == "tool_failed"
        assert "the server has changed this tool since it was described" in refused["error"]
        assert text_of(caller.invoke("twice")) == "once", "the others are as they were"
        until(lambda: not is_alive(servers.starts("box")[2]), EVENT_SECONDS, "it has answered")
        caller.settle()
        assert servers.listed(caller, "box")["add"]["description"] == "Add two integers."
        assert is_alive(servers.starts("box")[1]) and len(servers.starts("box")) == 3


def test_a_list_that_is_never_the_same_is_read_less_and_less_often(servers):
    servers.add("box", "--fault", "volatile")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        begun = time.monotonic()
        while (took := time.monotonic() - begun) < 6 or took < EVENT_SECONDS and len(servers.starts("box")) < 4:
            assert text_of(caller.invoke("twice", seconds=EVENT_SECONDS)) == "once", "the others are as they were"
            time.sleep(0.05)
        # After 1 s, 2 s, 4 s and so on, each shortened by a quarter at most: one process is asked, and another one called.
        starts, took = len(servers.starts("box")), time.monotonic() - begun
        assert 4 <= starts <= 2 + 2 * math.floor(math.log2(took / 0.75 + 1)), servers.starts("box")


def test_a_reload_keeps_a_server_with_the_same_list(servers):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        caller.invoke("add", {"a": 1})
        pid = servers.starts("box")[-1]
        caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)
        caller.invoke("add", {"a": 1})
        assert is_alive(pid), "the list was asked of another process"
        until(lambda: len(servers.starts("box")) == 3, EVENT_SECONDS, "another process asked")


@pytest.mark.parametrize("end", ["terminated", "killed", "in a call"])
def test_nothing_is_left_of_a_server(servers, end):
    servers.add("box")
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        bred = int(text_of(caller.invoke("breed")))
        server = servers.starts("box")[-1]
        assert is_alive(bred) and is_alive(server)
        if end == "in a call":
            caller.invoke("leave")
    if end == "terminated":
        servers.service.end()
    elif end == "killed":
        servers.service.daemon.kill()
        servers.service.daemon.has_ended = True
    until(lambda: not is_alive(bred) and not is_alive(server), EVENT_SECONDS, "nothing left")


def test_nothing_is_left_after_many_ends(servers, times, figure):
    """Each round leaves a process in a session of its own below the server, and ends it in another way."""
    servers.add("box", tools={"wait": {"timeout_ms": int(300 * SLOWNESS)}})
    bred = []
    with Caller(servers.start({"crash_limit": 0}).url) as caller:
        servers.await_tools(caller)

        def killed_host():
            os.kill(servers.service.daemon.only_host(), signal.SIGKILL)

        def killed_server():
            with contextlib.suppress(ProcessLookupError):  # one that a killed host has left, and that still answered
                os.kill(servers.starts("box")[-1], signal.SIGKILL)

        def changed():
            servers.add("box", tools={"wait": {"timeout_ms": int(300 * SLOWNESS) + len(bred)}})
            caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)

        ends = (lambda: caller.invoke("leave"), lambda: caller.invoke("wait", {"seconds": 60}), killed_host,
                killed_server, changed)
        rounds = times(10, 200)
        for number in range(rounds):
            answer = until(lambda: (got := caller.invoke("breed")).get("result") and got,
                           EVENT_SECONDS, "a process")
            bred += [int(text_of(answer)), servers.starts("box")[-1]]
            ends[number % len(ends)]()
        servers.service.end()
    until(lambda: not any(map(is_alive, bred)), EVENT_SECONDS, "nothing left")
    figure("processes", len(bred))
    figure("servers", len(servers.starts("box")))


def test_nothing_is_left_after_many_daemons(servers, times, tmp_path):
    """Each round ends the daemon with calls in flight, in order or by a signal."""
    servers.add("box")
    left = []
    for number in range(times(4, 60)):
        with Caller(servers.start(env={"XDG_CACHE_HOME": str(tmp_path / "cache")}).url) as caller:
            servers.await_tools(caller)
            left.append(int(text_of(caller.invoke("breed"))))
            begin(caller, "gather", {"count": 4}, 3)
            until(lambda: running(caller) == (3, 0), EVENT_SECONDS, "all in flight")
            left += servers.service.daemon.hosts() + [servers.starts("box")[-1]]
            if number % 2:
                servers.service.daemon.kill()
                servers.service.daemon.has_ended = True
            else:
                servers.service.end()
        until(lambda: not any(map(is_alive, left)), EVENT_SECONDS, "nothing left")


def test_the_operator_has_the_last_word(servers):
    servers.add("box", risk="read", include=["a*", "wait", "fail"], exclude=["ask"],
                tools={"add": {"description": "Our words.", "risk": "execute"}})
    with Caller(servers.start().url) as caller:
        tools = servers.await_tools(caller)
        assert list(tools) == ["add", "fail", "wait"]
        assert caller.call("ovos.tools.get", {"name": "add"})["risk"] == "execute"
        assert caller.call("ovos.tools.get", {"name": "wait"})["risk"] == "read"
        assert tools["add"]["description"] == "Our words."
        left_out = {one["name"] for one in caller.call("ovos.tools.status")["not_offered"]}
        assert {"ask", "image"} <= left_out


def test_the_risk_is_that_of_the_annotations(servers):
    servers.add("box")
    path = servers.folder / "box.json"
    manifest = json.loads(path.read_text())
    del manifest["risk"]
    path.write_text(json.dumps(manifest))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        risks = {name: caller.call("ovos.tools.get", {"name": name})["risk"]
                 for name in ("add", "breed", "image")}
        assert risks == {"add": "read", "breed": "write", "image": "execute"}
        assert caller.invoke("image")["code"] == "denied"


def test_secrets_are_read_and_never_shown(servers, tmp_path):
    (tmp_path / "token").write_text("file-secret-1\n")
    servers.add("box", mcp={"env": {"KEY": "Bearer ${env:GATEWAY_SECRET}", "PLAIN": "$${x}",
                                    "TOKEN": f"${{file:{tmp_path}/token}}"}})
    servers.add("lacks", mcp={"env": {"KEY": "${env:NOT_THERE}"}})
    servers.add("tells", "--fault", "tells", mcp={"env": {"KEY": "${env:GATEWAY_SECRET}"}})
    started = servers.start(env={"GATEWAY_SECRET": "env-secret-2"})
    with Caller(started.url) as caller:
        servers.await_tools(caller)
        values = [text_of(caller.invoke("environment", {"name": name}))
                  for name in ("KEY", "TOKEN", "PLAIN")]
        assert values == ["Bearer ***", "***", "${x}"]
        has = (Path("/proc") / str(servers.starts("box")[-1]) / "environ").read_bytes().split(b"\0")
        assert {b"KEY=Bearer env-secret-2", b"TOKEN=file-secret-1", b"PLAIN=${x}"} <= set(has)
        until(lambda: servers.log().count("it is") >= 3, EVENT_SECONDS, "the lines logged")
        assert "secret-1" not in servers.log() and "secret-2" not in servers.log()
        assert "it is Bearer *** here" in servers.log()
        failed = until(lambda: len(found := caller.call("ovos.tools.status")["failed"]) == 2 and found, EVENT_SECONDS, "both")
        assert [one["toolbox_id"] for one in failed] == ["lacks", "tells"] and "NOT_THERE" in failed[0]["error"]
        assert "the key *** is not known" in failed[1]["error"]
        assert "an unknown request: \"***\"" in servers.log()
        shown = json.dumps(caller.call("ovos.tools.status")) + json.dumps(caller.call("ovos.tools.list"))
        assert "secret-1" not in shown and "secret-2" not in shown


def test_a_wrong_tool_costs_only_itself(servers):
    empty = {"type": "object"}
    tools = [
        {"name": "good", "inputSchema": empty}, {"name": "get.weather", "inputSchema": empty},
        {"name": "get weather", "inputSchema": empty}, {"name": "n" * 70, "inputSchema": empty},
        {"name": "none"}, "text", {"inputSchema": empty}, {"name": "list", "inputSchema": {"type": "array"}},
        {"name": "remote", "inputSchema": {"type": "object", "properties": {
            "a": {"$ref": "http://127.0.0.1:1/schema"}}}},
        {"name": "wild", "inputSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}},
        {"name": "output", "inputSchema": empty, "outputSchema": {"type": 7}},
        {"name": "hidden", "description": "a\u202e\u200bb\U000e0041\ufe01\u3164\u00ad", "inputSchema": empty},
        {"name": "unseen_value", "inputSchema": {"type": "object", "properties": {
            "a": {"enum": ["x", "y\U000e0041\U000e0042"]}}}},
        {"name": "unseen_name", "inputSchema": {"type": "object", "properties": {"a\u200b": {}}}},
        {"name": "unseen_output", "inputSchema": empty, "outputSchema": {
            "type": "object", "properties": {"a": {"examples": ["\ufe01"]}}}},
        {"name": "default", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "integer", "default": "x"}}}},
        {"name": "python", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 3, "pattern": "^(?P<x>a)$"}}},
         "outputSchema": {"type": "object", "properties": {"a": {"pattern": "["}}}},
    ]
    long = "n" * 57 + "_" + hashlib.sha256(b"n" * 70).hexdigest()[:6]
    servers.add("box", "--tools", "tools.json")
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(tools))
    with Caller(servers.start().url) as caller:
        found = servers.await_tools(caller)
        assert list(found) == ["good", "get_weather", long, "remote", "wild", "output", "hidden", "default", "python"]
        assert found["remote"]["argument_schema"]["properties"] == {"a": {}}, "nothing is fetched"
        assert found["hidden"]["description"] == "ab"
        assert found["python"]["argument_schema"]["properties"]["a"]["pattern"] == "^(?P<x>a)$"
        assert json.dumps({"a": {"pattern": "["}}) in json.dumps(found["python"]["output_schema"])
        assert caller.invoke("python", {"a": "long"})["code"] == "invalid_arguments", "the rest of its schema holds"
        assert "Unknown tool" in caller.invoke("python", {"a": "b"})["error"]
        left_out = {one["name"]: one["why"] for one in caller.call("ovos.tools.status")["not_offered"]}
        assert {"get weather", "none", "list"} <= set(left_out), left_out
        for name in ("unseen_value", "unseen_name", "unseen_output"):
            assert "characters that people do not see" in left_out[name]


def test_a_right_default_is_filled_in(servers):
    servers.add("box", "--tools", "tools.json", mcp={"env": {"PLAIN": "is it"}})
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps([{"name": "environment", "inputSchema": {
        "type": "object", "properties": {
            "name": {"type": "string", "default": "PLAIN"}, "wrong": {"type": "integer", "default": "x"}}}}]))
    with Caller(servers.start().url) as caller:
        servers.await_tools(caller)
        assert text_of(caller.invoke("environment")) == "is it"


def test_a_server_takes_no_name_of_an_installed_tool(servers):
    empty = {"type": "object"}
    names = ["add", "own__add", "alone"]
    for box in ("box", "zoo"):
        servers.add(box, "--tools", "tools.json")
        (servers.folder.parent / box / "tools.json").write_text(json.dumps(
            [{"name": name, "inputSchema": empty} for name in names if name != "alone" or box == "box"]))
    (servers.folder / "own.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "add", "description": "Mine.", "argument_schema": empty, "command": {"argv": ["echo", "mine"]}}]}))
    with Caller(servers.start().url) as caller:
        for box in ("box", "zoo"):
            servers.await_tools(caller, box)
        for name in ("add", "own__add"):
            answer = caller.invoke(name)
            assert answer.get("result") == {"output": "mine"}, answer
        listed = caller.call("ovos.tools.list", {"format": "compact"})["tools"]
        assert [tool["name"] for tool in listed] == [
            "box__add", "box__own__add", "alone", "add", "zoo__add", "zoo__own__add"]
        assert caller.invoke("box__add", {"a": 1})["result"]["structured"] == {"sum": 2}


def read_all(caller):
    """Use the tools for the resources of mcp_server.py."""
    seen, cursor = [], {}
    while cursor is not None:
        page = caller.invoke("list_resources", cursor)["result"]
        assert json.loads(text_of({"result": page})) == page["structured"]
        seen += [one["uri"] for one in page["structured"]["resources"]]
        cursor = {"cursor": page["structured"]["nextCursor"]} if "nextCursor" in page["structured"] else None
    assert seen == list(mcp_server.RESOURCES)
    for uri, resource in mcp_server.RESOURCES.items():
        assert caller.invoke("read_resource", {"uri": uri})["result"]["structured"]["contents"] == [
            {"uri": uri, **resource}]
    missing = caller.invoke("read_resource", {"uri": "test://none"})
    assert missing["code"] == "tool_failed" and "Resource not found" in missing["error"]
    assert caller.invoke("read_resource", {})["code"] == "invalid_arguments"


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_tools_where_they_are_wanted(servers, era):
    args = ["--resources", *(["--legacy"] if era == "legacy" else [])]
    servers.add("box", *args, resources=True)
    servers.add("plain", *args)
    servers.add("none", resources=True)
    path = servers.folder / "box.json"
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != "risk"}))
    with Caller(servers.start().url) as caller:
        found = servers.await_tools(caller)
        assert list(found)[-2:] == ["list_resources", "read_resource"] and found["read_resource"]["risk"] == "read"
        read_all(caller)
        for other in ("plain", "none"):
            assert "read_resource" not in servers.await_tools(caller, other)


def test_a_tool_of_the_server_wins_over_one_for_its_resources(servers):
    servers.add("box", "--resources", "--tools", "tools.json", resources=True)
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [{"name": "read_resource", "description": "Mine.", "inputSchema": {"type": "object"}}]))
    with Caller(servers.start().url) as caller:
        found = servers.await_tools(caller)
        assert {name: one["description"][:5] for name, one in found.items()} == {
            "read_resource": "Mine.", "list_resources": "List "}
        assert "Unknown tool: read_resource" in caller.invoke("read_resource", {"uri": "test://note"})["error"]
        assert caller.invoke("list_resources")["result"]["structured"]["nextCursor"] == "1"


def test_a_server_with_thousands_of_tools(servers):
    servers.add("box", "--tools", "tools.json")
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(3000)]))
    with Caller(servers.start({"limits": {"tools": 2000}}).url) as caller:
        found = servers.await_tools(caller)
        assert len(found) == 2000
        told = caller.call("ovos.tools.status")["not_offered"]
        assert any("1000 tools are more than the 2000" in one["why"] for one in told), told


@pytest.mark.parametrize("page", [10000, 200])
def test_a_server_with_ten_thousand_tools(servers, page):
    servers.add("box", "--tools", "tools.json", "--page", str(page))
    (servers.folder.parent / "box" / "tools.json").write_text(json.dumps(
        [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(9999)]
        + mcp_server.TOOLS[:1]))
    with Caller(servers.start({"limits": {"tools": 10000, "frame_bytes": 16 << 20}}).url) as caller:
        until(lambda: caller.count_tools() == 10000, EVENT_SECONDS, "all tools")
        assert caller.call("ovos.tools.status")["not_offered"] == []
        answer = caller.invoke("add", {"a": 1}, seconds=EVENT_SECONDS)
        assert answer["result"]["structured"] == {"sum": 2}


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_mcp_get_the_blocks_as_the_server_sent_them(servers, era):
    servers.add("box")
    started = servers.start(args=["--http", "127.0.0.1:0"])
    with Caller(started.url) as caller:
        servers.await_tools(caller)
    client = Client(port_of(started.daemon), era)
    listed = {tool["name"]: tool for tool in client.result("tools/list")["tools"]}
    assert listed["box__add"]["title"] == "Addition"
    assert listed["box__add"]["outputSchema"]["required"] == ["sum"]
    image = client.result("tools/call", {"name": "box__image", "arguments": {}})
    assert image["content"] == [{"type": "image", "data": "AAE=", "mimeType": "image/png",
                                 "_meta": {"x": 1.10}}]
    several = client.result("tools/call", {"name": "box__several", "arguments": {}})
    assert several["content"] == [{"type": "text", "text": "[1, 2]"}]
    assert several.get("structuredContent") == ([1, 2] if era == "modern" else None), "it was an object in the legacy era"
    failed = client.result("tools/call", {"name": "box__fail", "arguments": {}})
    assert failed["isError"] and "no luck" in failed["content"][0]["text"]


def test_check_starts_the_server_and_lists(servers, tmp_path):
    servers.add("box")
    servers.add("bad", "--fault", "exits")
    good = toolboxctl("check", servers.folder / "box.json", home=tmp_path, seconds=EVENT_SECONDS)
    assert good.returncode == 0, good.stderr
    assert len(servers.starts("box")) == 1
    bad = toolboxctl("check", servers.folder / "bad.json", home=tmp_path, seconds=EVENT_SECONDS)
    assert bad.returncode == 1 and "exited with status 5" in bad.stdout + bad.stderr


def test_check_asks_the_server_each_time_and_tells_what_it_changed(servers, tmp_path):
    tools = [{"name": "get.weather", "description": "a\u202e\u200bb", "inputSchema": {"type": "object"}},
             {"name": "long", "description": "x" * 9000, "inputSchema": {"type": "object"}},
             {"name": "wild"}]
    servers.add("box", "--tools", "tools.json")
    listed = servers.folder.parent / "box" / "tools.json"

    def check():
        listed.write_text(json.dumps(tools))
        return toolboxctl("check", servers.folder / "box.json", home=tmp_path, seconds=EVENT_SECONDS)

    found = check()
    assert found.returncode == 0 and "box: mcp, 2 tools" in found.stdout
    assert "'get.weather': 2 characters that a person does not see" in found.stderr, found.stderr
    assert "'get.weather' of the server is called 'get_weather'" in found.stderr
    assert "'long': its description is cut" in found.stderr
    assert "box/wild is not offered" in found.stderr and found.stdout.endswith("0 errors, 4 warnings\n")
    tools[0] = {"name": "plain", "inputSchema": {"type": "object"}, "description": "Plain."}
    assert check().stdout.endswith("0 errors, 2 warnings\n"), "not what an earlier check had kept"


REAL = '''
from mcp.server.mcpserver import MCPServer
server = MCPServer("real")

@server.tool()
def shout(text: str, times: int = 1) -> str:
    """Say it louder."""
    if not text:
        raise ValueError("nothing to shout")
    return text.upper() * times

server.run("stdio")
'''


def test_a_server_of_the_sdk_for_python(servers, tmp_path):
    pytest.importorskip("mcp.server.mcpserver")
    (tmp_path / "real.py").write_text(REAL)
    servers.add("box", mcp={"command": [sys.executable, str(tmp_path / "real.py")]})
    with Caller(servers.start().url) as caller:
        assert list(servers.await_tools(caller)) == ["shout"]
        answer = caller.invoke("shout", {"text": "hey", "times": 2}, seconds=EVENT_SECONDS)
        assert answer["result"] == {"content": [{"type": "text", "text": "HEYHEY"}],
                                    "structured": {"result": "HEYHEY"}}
        failed = caller.invoke("shout", {"text": ""})
        assert failed["code"] == "tool_failed" and "Error executing tool shout" in failed["error"]
