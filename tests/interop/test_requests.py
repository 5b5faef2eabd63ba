# SPDX-License-Identifier: Apache-2.0
"""Every topic, as a caller sees it that does all right."""
import json

import pytest
from processes import DEADLINE_MS

TOOLBOXES = ["answers", "left", "libm", "math_tools", "misbehave", "right"]


def by_id(definitions):
    return {(one["toolbox_id"], one["name"]): one for one in definitions}


def test_list_gives_every_tool_in_order(caller):
    tools = caller.call("ovos.tools.list")["tools"]
    ids = [one["toolbox_id"] for one in tools]
    assert list(dict.fromkeys(ids)) == TOOLBOXES
    assert ids == sorted(ids)
    math = [one["name"] for one in tools if one["toolbox_id"] == "math_tools"]
    assert math == ["add", "subtract", "multiply", "divide", "factorial"]


def test_a_definition_says_all_of_a_tool(caller):
    tools = by_id(caller.call("ovos.tools.list", {"toolbox_id": "math_tools"})["tools"])
    add = tools["math_tools", "add"]
    assert list(add)[:5] == ["name", "description", "argument_schema", "output_schema",
                             "toolbox_id"]
    assert add["argument_schema"]["type"] == "object"
    assert list(add["argument_schema"]["properties"]) == ["a", "b"]
    assert add["argument_schema"]["required"] == ["a", "b"]
    assert add["argument_schema"]["additionalProperties"] is False
    assert add["output_schema"]["properties"]["result"]["type"] == "integer"
    assert add["risk"] == "read"
    assert add["examples"]


def test_list_of_one_toolbox_and_of_none(caller):
    tools = caller.call("ovos.tools.list", {"toolbox_id": "left"})["tools"]
    assert [one["name"] for one in tools] == ["same", "only_left"]
    assert caller.call("ovos.tools.list", {"toolbox_id": "nobody"}) == {"tools": []}


@pytest.mark.parametrize("data", [None, {}, {"toolbox_id": None, "format": None, "odd": [1]}])
def test_null_counts_as_absent_and_unknown_fields_are_ignored(caller, data):
    assert len(caller.call("ovos.tools.list", data)["tools"]) > 20


@pytest.mark.parametrize("format, keys", [
    ("full", ["name", "description", "argument_schema", "output_schema", "toolbox_id", "source"]),
    ("compact", ["name", "description", "parameters"]),
    ("openai", ["type", "function"]),
    ("anthropic", ["name", "description", "input_schema", "input_examples"]),
])
def test_formats_of_list(caller, format, keys):
    tools = caller.call("ovos.tools.list", {"toolbox_id": "math_tools", "format": format})["tools"]
    assert list(tools[0])[:len(keys)] == keys
    if format == "full":
        return
    add = tools[0]
    assert list(add) == keys
    if format == "openai":
        assert add["type"] == "function"
        add = add["function"]
        assert list(add) == ["name", "description", "parameters", "strict"]
    schema = add.get("parameters") or add.get("input_schema")
    assert add["name"] == "add" and list(schema["properties"]) == ["a", "b"]


@pytest.mark.parametrize("format", ["compact", "openai", "anthropic"])
def test_formats_without_a_toolbox_name_tell_twins_apart(caller, format):
    tools = caller.call("ovos.tools.list", {"format": format})["tools"]
    names = [one.get("function", one)["name"] for one in tools]
    assert "left__same" in names and "right__same" in names and "same" not in names
    assert "only_left" in names
    assert len(set(names)) == len(names)
    answer = caller.invoke("right__same", {"value": -3})
    assert answer == {"name": "right__same", "result": {"result": 3}}


def test_get_is_the_entry_of_the_list_and_the_deadline_is_asked_for(caller):
    listed = by_id(caller.call("ovos.tools.list")["tools"])
    for (toolbox_id, name), entry in listed.items():
        which = {"name": name, "toolbox_id": toolbox_id}
        assert caller.call("ovos.tools.get", which) == entry
        with_deadline = caller.call("ovos.tools.get", {**which, "deadline": True})
        assert with_deadline.pop("timeout_ms") == {
            "wait": 20000, "hang": 300}.get(name, DEADLINE_MS)
        assert with_deadline.pop("start_timeout_ms") > 0
        assert with_deadline == entry


@pytest.mark.parametrize("args, result", [
    ({"a": 3, "b": 4}, 7),
    ({"a": 3.0, "b": 4}, 7),
    ({"a": -9223372036854775808, "b": 0}, -9223372036854775808),
    ({"a": 9007199254740993, "b": 0}, 9007199254740993),
    ('{"a": 3, "b": 4}', 7),
])
def test_invoke(caller, args, result):
    assert caller.invoke("add", args) == {"name": "add", "result": {"result": result}}


@pytest.mark.parametrize("args", [None, "", "null", " null ", "{}", {}])
def test_no_arguments_are_written_in_many_ways(caller, args):
    """As servers of models send them."""
    assert caller.invoke("with_default", args)["result"] == {"result": 5}
    answer = caller.call("ovos.persona.tools.call", {"toolbox_id": "answers", "name": "with_default", "kwargs": args})
    assert answer["result"] == {"result": 5}


def test_integers_of_any_spelling_arrive_exactly(caller):
    caller.settle()
    caller.peer.send('{"type": "ovos.tools.invoke", "data": {"name": "add", "args":'
                     ' {"a": 1e2, "b": 900719925474099300e-2}}}')
    answer = caller.wait_for(lambda message: message.type == "ovos.tools.invoke.response")
    assert '"result":9007199254741093}' in answer.text.replace(" ", "")


def test_floats_are_the_shortest_text_that_reads_back(caller):
    caller.settle()
    for name, x, text in (("sqrt", "4", "2.0"), ("sqrt", "2", "1.4142135623730951"),
                          ("cbrt", "1e-300", "1e-100")):
        caller.peer.send(json.dumps({"type": "ovos.tools.invoke",
                                     "data": {"name": name, "args": {"x": json.loads(x)}}}))
        answer = caller.wait_for(lambda message: message.type == "ovos.tools.invoke.response")
        got = json.loads(answer.text, parse_float=str)["data"]["result"]["result"]
        assert got == text


def test_call_id_is_echoed(caller):
    answer = caller.invoke("add", {"a": 1, "b": 2}, call_id="x-1")
    assert answer == {"name": "add", "result": {"result": 3}, "call_id": "x-1"}
    answer = caller.invoke("nobody", {}, call_id="x-2")
    assert answer["code"] == "unknown_tool" and answer["call_id"] == "x-2"


def test_a_default_is_filled_in(caller):
    assert caller.invoke("with_default")["result"] == {"result": 5}
    assert caller.invoke("with_default", {"value": -7})["result"] == {"result": 7}
    assert caller.invoke("with_default", {"value": None})["code"] == "invalid_arguments"


def test_strings_go_through_a_c_function_and_back(caller):
    for text in ("", "plain", "é \u20ac \U0001f600", "\"\\/\b\f\n\r\t\u0001\x7f"):
        assert caller.invoke("echo", {"text": text})["result"] == {"text": text}


def test_null_is_a_value_where_the_manifest_says_so(caller):
    assert caller.invoke("environment", {"name": "NO_SUCH"})["result"] == {"result": None}


def test_validate_runs_nothing(caller):
    ok = caller.call("ovos.tools.validate", {"name": "segfault", "args": {}})
    assert ok == {"name": "segfault", "valid": True, "violations": []}
    bad = caller.call("ovos.tools.validate", {"name": "add", "args": {"a": "x"}})
    assert bad["name"] == "add" and bad["valid"] is False
    assert {one["path"] for one in bad["violations"]} == {"", "/a"}
    unknown = caller.call("ovos.tools.validate", {"name": "nobody"})
    assert unknown["code"] == "unknown_tool"


def test_reload_tells_what_is_offered(caller):
    answer = caller.call("ovos.tools.reload")
    assert answer["loaded"] == TOOLBOXES
    assert answer["total_tools"] == len(answer["tools"]) > 20
    assert answer["failed"] == []
    assert answer["tools"] == caller.call("ovos.tools.list")["tools"]


def test_status(caller, service):
    caller.invoke("add", {"a": 1, "b": 1})
    status = caller.call("ovos.tools.status")
    toolboxes = {one["toolbox_id"]: one for one in status["toolboxes"]}
    assert list(toolboxes) == TOOLBOXES
    math = toolboxes["math_tools"]
    assert math["state"] == "ready" and math["hosts"] == 1 and math["calls"] >= 1
    assert math["kind"] == "native" and math["file"].endswith("/math_tools.json")
    assert math["p99_ms"] >= math["p50_ms"] >= 0
    assert status["bus"] == service.url
    assert status["failed"] == [] and status["not_offered"] == []
    assert status["version"].count(".") == 2 and status["uptime_s"] >= 0


@pytest.mark.parametrize("question", ["is_alive", "is_ready", "all_loaded"])
def test_readiness(caller, question):
    assert caller.call(f"mycroft.toolboxd.{question}") == {"status": True}


def test_discover_answers_once_per_toolbox(caller):
    caller.call("ovos.tools.reload")
    caller.settle()
    mark = caller.send("ovos.persona.tools.discover", {"anything": 1})
    answers = [message for message in caller.settle()
               if message.type == "ovos.persona.tools.discover.response"]
    assert [message.data["toolbox_id"] for message in answers] == TOOLBOXES
    for message in answers:
        assert message.context["mark"] == mark
        assert {one["toolbox_id"] for one in message.data["tools"]} == \
            {message.data["toolbox_id"]}


@pytest.mark.parametrize("topic", ["ovos.persona.tools.call", "ovos.persona.tools.math_tools.call"])
def test_persona_call(caller, topic):
    answer = caller.call(topic, {"toolbox_id": "math_tools", "name": "add",
                                 "kwargs": {"a": 3, "b": 4}})
    assert answer == {"toolbox_id": "math_tools", "result": {"result": 7}}
    answer = caller.call(topic, {"toolbox_id": "math_tools", "name": "nobody", "kwargs": {}})
    assert answer["toolbox_id"] == "math_tools" and answer["code"] == "unknown_tool"
    assert "result" not in answer


def test_the_topic_of_the_older_persona_call_names_the_toolbox(caller):
    answer = caller.call("ovos.persona.tools.left.call",
                         {"name": "same", "kwargs": {"value": -1}})
    assert answer == {"toolbox_id": "left", "result": {"result": 1}}


@pytest.mark.parametrize("topic, data", [
    ("ovos.persona.tools.call", {"toolbox_id": "nobody", "name": "add", "kwargs": {}}),
    ("ovos.persona.tools.call", {"name": "add", "kwargs": {"a": 1, "b": 2}}),
    ("ovos.persona.tools.call", {"toolbox_id": None, "name": "add"}),
    ("ovos.persona.tools.nobody.call", {"name": "add", "kwargs": {}}),
    ("ovos.tools.list.response", {"tools": []}),
    ("ovos.tools.invoke.response", {"name": "add"}),
    ("ovos.tools", {}),
    ("ovos.tools.listing", {}),
    ("recognizer_loop:utterance", {"utterances": ["what is 3 plus 4"]}),
])
def test_silence_for_what_is_not_ours(caller, topic, data):
    """A client of another run may come to a port used again: what has a mark or a source of its own is no answer."""
    caller.settle()
    mark = caller.send(topic, data)
    came = [message for message in caller.settle() if message.context.get("mark", mark) == mark
            and message.context.get("source", "toolboxd") == "toolboxd"]
    assert [message.type for message in came] == [topic]


def test_every_answer_comes_exactly_once(caller):
    caller.call("ovos.tools.reload")
    caller.call("ovos.tools.reload")
    caller.settle()
    asked = [("ovos.tools.list", None), ("ovos.tools.get", {"name": "add"}),
             ("ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 2}}),
             ("ovos.tools.invoke", {"name": "nobody"}),
             ("ovos.tools.validate", {"name": "add"}), ("ovos.tools.reload", None),
             ("ovos.tools.status", None),
             ("ovos.persona.tools.call",
              {"toolbox_id": "math_tools", "name": "add", "kwargs": {"a": 1, "b": 1}})]
    for topic, data in asked:
        caller.call(topic, data)
    answers = [message.type for message in caller.settle() if message.type.endswith(".response")]
    assert sorted(answers) == sorted(topic + ".response" for topic, _ in asked)
