# SPDX-License-Identifier: Apache-2.0
"""The size guard: what a caller is sent of a long result or error, by kind of toolbox."""
import json
import sys

import manifests
import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, ROOT, SLOWNESS, until
from python_site import ECHO, Site, box, wait_until_told

LIMIT = 64
PLUGGED = BUILD / "tests" / "toolboxes" / "plugged.d" / "libtest_plugged.so"


@pytest.fixture
def start(launch, tmp_path):
    callers = []

    def begin(limit=LIMIT):
        folder = tmp_path / "toolbox.d"
        manifests.answers(folder)
        program = {"name": "say", "description": "Says a text.", "risk": "read",
                   "argument_schema": {"type": "object", "required": ["text"],
                                       "properties": {"text": {"type": "string"}}},
                   "command": {"argv": ["/usr/bin/printf", "%s", "{text}"]}}
        loud = {"name": "loud", "description": "Fails loudly.", "risk": "read",
                "command": {"shell": "head -c 5000000 /dev/zero | tr '\\\\0' x >&2; exit 3"}}
        (folder / "programs.json").write_text(
            json.dumps({"kind": "command", "tools": [program, loud]}))
        service = launch({"result_max_chars": limit}, [folder])
        callers.append(Caller(service.url))
        return callers[-1]

    yield begin
    for one in callers:
        one.close()


# A tool, and the characters that its result has around the text.
@pytest.mark.parametrize("tool, around", [("echo", '{"text":""}'), ("say", '{"output":""}')])
def test_a_long_result_is_cut(start, tool, around):
    caller = start()
    fits = "é" * (LIMIT - len(around))
    assert list(caller.invoke(tool, {"text": fits})["result"].values()) == [fits]
    cut = caller.invoke(tool, {"text": "é" * (1000 - len(around))})["result"]
    assert cut["truncated"] is True and cut["reason"] == "too_long"
    assert (cut["actual_chars"], cut["max_chars"]) == (1000, LIMIT)
    assert "1000" in cut["hint"] and "64" in cut["hint"]
    assert cut["head"] == (around[:-2] + "é" * LIMIT)[:LIMIT]
    assert caller.invoke(tool, {"text": fits + "é"})["result"]["actual_chars"] == LIMIT + 1


@pytest.fixture
def of_every_kind(launch, tmp_path):
    """A caller of a daemon with a toolbox of each kind, named by it."""
    folder = tmp_path / "toolbox.d"
    echo = manifests.tool("echo", "strdup", [manifests.text("text")],
                          {"type": "str", "name": "text", "transfer": "full"})
    wrong = manifests.tool("wrong", "getenv", [manifests.text("name", value="x" * 1000)], "str")
    manifests.toolbox(folder, "native", [echo, wrong])
    (folder / "command.json").write_text(json.dumps({"kind": "command", "risk": "read", "tools": [
        {"name": "say", "description": "Says.", "argument_schema": {"properties": {"text": {"type": "string"}}},
         "command": {"argv": ["/usr/bin/printf", "%s", "{text}"]}},
        {"name": "fail", "description": "Fails.", "command": {"shell": "printf %1000d 0 >&2; exit 3"}}]}))
    site = Site(tmp_path / "venv")
    site.install("boxes", "def fail(args):\n    raise ValueError('x' * 1000)\n" + box(
        "python", echo=ECHO, fail="fail"), {"python": "Box"})
    (folder / "boxes.json").write_text(json.dumps({"kind": "python", "python": str(site.python)}))
    (folder / "plugin.json").write_text(json.dumps({"kind": "plugin", "library": str(PLUGGED)}))
    server = [sys.executable, "-u", str(ROOT / "tests" / "interop" / "mcp_server.py")]
    (folder / "mcp.json").write_text(json.dumps({"kind": "mcp", "risk": "read", "mcp": {
        "command": server, "cwd": str(tmp_path)}}))
    service = launch({"result_max_chars": LIMIT}, [folder])
    with Caller(service.url) as caller:
        wait_until_told(caller)
        until(lambda: {"native", "command", "plugin", "python", "mcp"} <= {
            one["toolbox_id"] for one in caller.call("ovos.tools.list")["tools"]}, EVENT_SECONDS, "every toolbox")
        yield caller


def test_results_and_errors_of_every_kind_are_cut(of_every_kind):
    def ask(toolbox, name, args):
        return of_every_kind.invoke(name, args, toolbox_id=toolbox, timeout_ms=int(20000 * SLOWNESS))

    for toolbox, name, argument, around in (
            ("native", "echo", "text", '{"text":""}'), ("command", "say", "text", '{"output":""}'),
            ("plugin", "large", "size", '{"text":""}'), ("python", "echo", "text", '{"reply":""}')):
        def args(length):
            return {argument: length if argument == "size" else "x" * length}

        fits = LIMIT - len(around)
        assert list(ask(toolbox, name, args(fits))["result"].values()) == ["x" * fits], toolbox
        cut = ask(toolbox, name, args(fits + 1))["result"]
        assert (cut["truncated"], cut["actual_chars"], cut["max_chars"]) == (True, LIMIT + 1, LIMIT), toolbox
        assert cut["head"] == around[:-2] + "x" * (fits + 1) + '"'
    whole, cut = (ask("mcp", "large", {"bytes": 2 * length})["result"] for length in (LIMIT, LIMIT + 1))
    assert whole["content"] == cut["content"] == [{"type": "text", "text": "é" * LIMIT}]
    assert "truncated" not in whole and cut["truncated"] is True
    for toolbox, name, args in (("native", "wrong", {}), ("command", "fail", {}), ("python", "fail", {}),
                                ("plugin", "fail", {"words": "x" * 1000}), ("mcp", "fail", {})):
        answer = ask(toolbox, name, args)
        assert answer["code"] == "tool_failed" and "result" not in answer, toolbox
        assert len(answer["error"]) <= LIMIT and len(answer.get("stderr", "")) <= LIMIT


@pytest.mark.parametrize("limit", [0, -1, "many", 1.5, [], True])
def test_a_wrong_limit_means_the_default(start, limit):
    caller = start(limit)
    assert "truncated" not in caller.invoke("echo", {"text": "x" * 15000})["result"]
    assert caller.invoke("echo", {"text": "x" * 25000})["result"]["max_chars"] == 20000


def test_an_error_stays_an_error(start):
    caller = start()
    answer = caller.invoke("echo", {"text": 5})
    assert answer["code"] == "invalid_arguments" and "result" not in answer
    answer = caller.invoke("loud")
    assert answer["code"] == "tool_failed" and answer["exit_code"] == 3
    assert len(answer["error"]) <= LIMIT and len(answer["stderr"]) <= LIMIT


def test_five_megabytes_of_stderr_make_a_short_answer(start):
    caller = start(20000)
    mark = caller.send("ovos.tools.invoke", {"name": "loud"})
    message = caller.answer_to("ovos.tools.invoke", mark)
    assert message.data["code"] == "tool_failed" and len(message.text) < 64 << 10
    assert message.data["stderr"]
