# SPDX-License-Identifier: Apache-2.0
"""The Python plugin that toolboxd replaces, asked the same on a bus of its own: its answers and ours
field by field. Where they differ, DIFFERENCES says why; a difference that is not listed fails."""
import manifests
import pytest
from side_by_side import SideBySide, without_ours

ADD = {"name": "add", "args": {"a": 3, "b": 4}}
PERSONA = "ovos.persona.tools.call"

# What both have and say differently: the first words that are equal, and the reason.
TEXTS = {
    "invalid_arguments": ("ValueError: Tool input validation failed for 'add' in ToolBox "
                          "'math_tools'", "ours goes on with every violation and its path"),
    "tool_failed": ("RuntimeError: Tool execution failed for 'divide' in ToolBox 'math_tools'",
                    "ours goes on with the tool's own words, which Python's hides"),
    "not an object": (None, "arguments that are no object are invalid_arguments like all that "
                            "does not fit; Python raises RuntimeError for their type"),
    "number": (None, "a name that is no string is named by its JSON text, so that "
                     "true is 'true'; Python prints it its own way"),
    "unknown in toolbox": (None, "the persona topics have the texts of contract.md, Errors; "
                                 "Python's say ValueError: Unknown tool 'x' for ToolBox"),
    "missing in toolbox": (None, "as above: Missing required field, not Unknown tool ''"),
}

# Requests, and the entry of TEXTS for their error.
REQUESTS = [
    ("ovos.tools.invoke", ADD, None),
    ("ovos.tools.invoke", {"name": "divide", "args": {"a": 9, "b": 3}}, None),
    ("ovos.tools.invoke", {"name": "add", "args": {"a": 2.0, "b": 4}}, None),
    ("ovos.tools.invoke", {}, None),
    ("ovos.tools.invoke", {"name": ""}, None),
    ("ovos.tools.invoke", {"name": None}, None),
    ("ovos.tools.invoke", {"name": "nobody"}, None),
    ("ovos.tools.invoke", {"name": 42}, None),
    ("ovos.tools.invoke", {"name": True}, "number"),
    ("ovos.tools.invoke", {"name": "add", "args": {"a": 3}}, "invalid_arguments"),
    ("ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": "x"}}, "invalid_arguments"),
    ("ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": 3.5}}, "invalid_arguments"),
    ("ovos.tools.invoke", {"name": "add", "args": {"a": 3, "b": None}}, "invalid_arguments"),
    ("ovos.tools.invoke", {"name": "add", "args": [3, 4]}, "not an object"),
    ("ovos.tools.invoke", {"name": "divide", "args": {"a": 1, "b": 0}}, "tool_failed"),
    ("ovos.tools.get", {"name": "nobody"}, None),
    ("ovos.tools.get", {}, None),
    (PERSONA, {"toolbox_id": "math_tools", "name": "add", "kwargs": {"a": 3, "b": 4}}, None),
    (PERSONA, {"toolbox_id": "math_tools", "name": "add", "kwargs": {"a": "x"}},
     "invalid_arguments"),
    (PERSONA, {"toolbox_id": "math_tools", "name": "nobody", "kwargs": {}}, "unknown in toolbox"),
    (PERSONA, {"toolbox_id": "math_tools", "kwargs": {}}, "missing in toolbox"),
    ("ovos.persona.tools.math_tools.call", {"name": "add", "kwargs": {"a": 3, "b": 4}}, None),
]

# Requests that Python's plugin answers with a result and we with an error: pydantic takes more.
STRICTER = [
    ({"name": "add", "args": {"a": "3", "b": 4}}, "a string for an integer: coerced by pydantic, "
     "refused by JSON Schema unless the manifest says coerce"),
    ({"name": "add", "args": {"a": True, "b": 6}}, "a boolean for an integer: the same"),
    ({"name": "add", "args": {"a": 3, "b": 4, "c": 5}}, "an argument too many: dropped by "
     "pydantic, refused by additionalProperties false"),
]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with SideBySide(tmp_path_factory.mktemp("plugin"), [manifests.SHIPPED]) as both:
        yield both


def ask(both, topic, data):
    return both.ask(topic, data, {"source": "asker", "odd": {"key": 1.5}})


@pytest.mark.parametrize("topic, data, text", REQUESTS)
def test_the_same_fields(both, topic, data, text):
    ours, python = (message.data for message in ask(both, topic, data))
    assert list(without_ours(ours)) == list(python) or \
        set(without_ours(ours)) == set(python), (ours, python)
    for key in python:
        if key == "error" and text:
            start, reason = TEXTS[text]
            assert ours["error"] != python["error"], f"no longer different: {reason}"
            if start:
                assert ours["error"].startswith(start) and python["error"].startswith(start)
        else:
            assert ours[key] == python[key], (key, ours, python)


@pytest.mark.parametrize("data, reason", STRICTER)
def test_where_we_are_stricter(both, data, reason):
    ours, python = (message.data for message in ask(both, "ovos.tools.invoke", data))
    assert python["result"] == {"result": 7}
    assert ours["code"] == "invalid_arguments", reason


def test_the_context_of_an_answer(both):
    """The same keys; `destination` is ours: MSG-1 sets it to the source, bus-client 1.x does not.
    `session` is Python's: its client adds one to what has none, we add nothing."""
    ours, python = (message.context for message in ask(both, "ovos.tools.invoke", ADD))
    assert set(python) - {"session"} <= set(ours) and set(ours) - set(python) <= {"destination"}
    assert ours["odd"] == python["odd"] == {"key": 1.5}
    assert ours["source"] == python["source"] == "asker" and ours["destination"] == "asker"


def test_a_definition(both):
    """Schemas are pydantic's there and made from the C types here: more titles there, descriptions
    and additionalProperties here."""
    ours, python = (message.data for message in ask(both, "ovos.tools.get", {"name": "add"}))
    assert list(without_ours(ours)) == list(python)
    for key in ("name", "toolbox_id"):
        assert ours[key] == python[key]
    for which in ("argument_schema", "output_schema"):
        mine, theirs = ours[which], python[which]
        assert mine["type"] == theirs["type"] and mine["required"] == theirs["required"]
        assert {name: one["type"] for name, one in mine["properties"].items()} == \
            {name: one["type"] for name, one in theirs["properties"].items()}


def test_lists_and_discovery(both):
    """The plugin lists its other toolboxes too, if any are installed; each entry has one shape."""
    ours, python = (message.data for message in ask(both, "ovos.tools.list", {}))
    assert set(ours) == set(python) == {"tools"}
    assert set(without_ours(ours["tools"][0])) == set(python["tools"][0])
    ours, python = (message.data for message in ask(both, "ovos.persona.tools.discover", {}))
    assert set(ours) == set(python) == {"tools", "toolbox_id"}
    assert set(without_ours(ours["tools"][0])) == set(python["tools"][0])


def test_reload(both):
    ours, python = (message.data for message in ask(both, "ovos.tools.reload", {}))
    assert set(without_ours(ours)) == set(python) == {"loaded", "total_tools"}
    assert "math_tools" in ours["loaded"] and "math_tools" in python["loaded"]


def test_silence_of_both_for_somebody_elses_toolbox(both):
    for caller in both.callers:
        caller.seen = []
        caller.send(PERSONA, {"toolbox_id": "nobody", "name": "add", "kwargs": {}})
        mark = caller.send("ovos.tools.list")
        caller.wait_for(lambda message: message.type == "ovos.tools.list.response"
                        and message.context.get("mark") == mark)
        assert not [one for one in caller.seen if one.type == PERSONA + ".response"]
