# SPDX-License-Identifier: Apache-2.0
"""The size guard: what a caller is sent of a long result or error, by kind of toolbox."""
import json

import manifests
import pytest
from caller import Caller

LIMIT = 64


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


@pytest.mark.parametrize("limit", [0, -1, "many", 1.5, [], True])
def test_a_wrong_limit_means_the_default(start, limit):
    caller = start(limit)
    assert "truncated" not in caller.invoke("echo", {"text": "x" * 15000})["result"]
    assert caller.invoke("echo", {"text": "x" * 25000})["result"]["max_chars"] == 20000


def test_an_error_stays_an_error(start):
    caller = start()
    answer = caller.invoke("echo", {"text": 5})
    assert answer["code"] == "invalid_arguments" and "result" not in answer
    answer = caller.invoke("loud", timeout_ms=2500)
    assert answer["code"] == "tool_failed" and answer["exit_code"] == 3
    assert len(answer["error"]) <= LIMIT and len(answer["stderr"]) <= LIMIT


def test_five_megabytes_of_stderr_make_a_short_answer(start):
    caller = start(20000)
    mark = caller.send("ovos.tools.invoke", {"name": "loud"})
    message = caller.answer_to("ovos.tools.invoke", mark)
    assert message.data["code"] == "tool_failed" and len(message.text) < 64 << 10
    assert message.data["stderr"]
