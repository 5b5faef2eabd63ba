# SPDX-License-Identifier: Apache-2.0
"""Every error: its code, the first words of its text, the facts beside it."""
import pytest
from caller import Caller

INVOKE = "ovos.tools.invoke"
LONG_NAME = "x" * 1000


def test_no_name(caller):
    for name in (None, "", "absent"):
        data = {} if name == "absent" else {"name": name}
        answer = caller.call(INVOKE, {**data, "args": {}})
        assert answer["name"] == "" and answer["code"] == "missing_name"
        assert answer["error"].startswith("Missing required field: 'name'")
        answer = caller.call("ovos.tools.get", data)
        assert answer["code"] == "missing_name"
        answer = caller.call("ovos.persona.tools.call", {**data, "toolbox_id": "math_tools"})
        assert answer["code"] == "missing_name" and answer["toolbox_id"] == "math_tools"


def test_an_unknown_tool_and_what_was_probably_meant(caller):
    answer = caller.invoke("ad", {"a": 1, "b": 2})
    assert answer["name"] == "ad" and answer["code"] == "unknown_tool"
    assert answer["error"].startswith("Unknown tool: 'ad'; did you mean 'a")
    assert "add" in answer["suggestions"] and len(answer["suggestions"]) <= 3
    assert caller.call("ovos.tools.get", {"name": "ad"})["suggestions"] == answer["suggestions"]
    assert caller.invoke("add", {}, toolbox_id="nobody")["code"] == "unknown_tool"
    assert caller.invoke("add", {}, toolbox_id="libm")["code"] == "unknown_tool"


def test_an_unknown_tool_of_a_toolbox_that_failed(launch, tmp_path):
    (tmp_path / "broken.json").write_text('{"kind": "command"}')
    with Caller(launch({}, [tmp_path]).url) as caller:
        answer = caller.invoke("any", toolbox_id="broken")
    assert answer["code"] == "unknown_tool"
    assert answer["error"].startswith("Unknown tool: 'any'; the toolbox 'broken' failed: ")


@pytest.mark.parametrize("name, shown", [(42, "'42'"), (True, "'true'"), (["add"], "'[\"add\"]'"),
                                         ({"a": 1.5}, "'{\"a\": 1.5}'")])
def test_a_name_that_is_no_string(caller, name, shown):
    answer = caller.invoke(name, {})
    assert answer["name"] == name and answer["code"] == "unknown_tool"
    assert answer["error"].replace(" ", "").startswith(f"Unknown tool: {shown}".replace(" ", ""))


def test_a_long_name_is_cut_inside_the_text_only(caller):
    answer = caller.invoke(LONG_NAME)
    assert answer["name"] == LONG_NAME and answer["code"] == "unknown_tool"
    assert LONG_NAME[:128] in answer["error"] and LONG_NAME[:129] not in answer["error"]


def test_a_name_in_two_toolboxes(caller):
    answer = caller.invoke("same", {"value": -1})
    assert answer["code"] == "ambiguous_tool" and answer["toolbox_ids"] == ["left", "right"]
    assert answer["error"].startswith("Ambiguous tool: 'same' is in toolboxes 'left', 'right'; "
                                      "name one in 'toolbox_id'")
    assert caller.call("ovos.tools.get", {"name": "same"})["code"] == "ambiguous_tool"
    assert caller.invoke("same", {"value": -1}, toolbox_id="left")["result"] == {"result": 1}
    assert caller.invoke("left__same", {"value": -1})["result"] == {"result": 1}


def test_the_last_of_two_wins_where_the_configuration_says_so(launch, tmp_path):
    import manifests
    manifests.twins(tmp_path / "toolbox.d")
    service = launch({"duplicate_names": "last"}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.get", {"name": "same"})["toolbox_id"] == "right"
        assert caller.invoke("same", {"value": -4})["result"] == {"result": 4}
    log = service.daemon.log()
    assert "left.json" in log and "right.json" in log


@pytest.mark.parametrize("fields, field", [
    ({"timeout_ms": 0}, "timeout_ms"),
    ({"timeout_ms": -1}, "timeout_ms"),
    ({"timeout_ms": 1.5}, "timeout_ms"),
    ({"timeout_ms": "1000"}, "timeout_ms"),
    ({"toolbox_id": 5}, "toolbox_id"),
    ({"call_id": 5}, "call_id"),
    ({"call_id": "x" * 129}, "call_id"),
    ({"profile": 5}, "profile"),
])
def test_a_field_of_the_wrong_kind(caller, fields, field):
    answer = caller.invoke("add", {"a": 1, "b": 2}, **fields)
    assert answer["code"] == "bad_request" and answer["field"] == field
    assert answer["error"].startswith(f"ValueError: Bad request: '{field}' must be ")


@pytest.mark.parametrize("field, value", [("format", "xml"), ("format", 5), ("toolbox_id", [])])
def test_a_list_request_with_a_wrong_field(caller, field, value):
    answer = caller.call("ovos.tools.list", {field: value})
    assert answer["code"] == "bad_request" and answer["field"] == field
    assert answer["error"].startswith(f"ValueError: Bad request: '{field}' must be ")


def test_a_huge_timeout_is_capped(caller):
    answer = caller.invoke("add", {"a": 1, "b": 2}, timeout_ms=10 ** 30)
    assert answer["result"] == {"result": 3}


@pytest.mark.parametrize("data", [
    '{"name": "add", "name": "add"}',
    '{"name": "add", "args": {"a": 1, "\\u0061": 2, "b": 3}}',
    '{"name": "add", "odd": [{"x": 1, "x": 2}]}',
])
def test_a_key_twice_in_data(caller, data):
    answers = caller.answers_of('{"type": "ovos.tools.invoke", "data": %s}' % data,
                                "ovos.tools.invoke.response")
    assert [one.data["code"] for one in answers] == ["bad_request"]


@pytest.mark.parametrize("args, path", [
    ({"a": 1}, ""), ({"a": 1, "b": "x"}, "/b"), ({"a": 1, "b": 2, "c": 3}, "/c"),
    ({"a": 1, "b": 2.5}, "/b"), ({"a": 1, "b": None}, "/b"),
    ({"a": 1, "b": 9223372036854775808}, "/b"), ([1, 2], ""), (5, ""), ("text", ""),
    ("[1]", ""), ("{", ""),
])
def test_arguments_that_do_not_fit(caller, args, path):
    answer = caller.invoke("add", args)
    assert answer["name"] == "add" and answer["code"] == "invalid_arguments"
    assert answer["error"].startswith("ValueError: Tool input validation failed for 'add' in "
                                      "ToolBox 'math_tools': ")
    # An unwanted property may be told at its own place or at its object.
    assert path in [one["path"] for one in answer["violations"]] or \
        (path == "/c" and "c" in answer["error"])


def test_a_near_name_of_an_argument(caller):
    error = caller.invoke("echo", {"txt": "x"})["error"]
    assert "; /txt: unexpected property 'txt'; did you mean 'text'? Parameters: text (a string, required)" in error, error


def test_every_violation_is_told(caller):
    answer = caller.invoke("add", {"a": "x", "b": "y"})
    assert {one["path"] for one in answer["violations"]} == {"/a", "/b"}
    assert "/a" in answer["error"] and "/b" in answer["error"]


def test_the_text_never_repeats_all_of_the_arguments(caller):
    secret = "s3cret" * 1000
    answer = caller.invoke("add", {"a": secret, "b": 1})
    assert answer["code"] == "invalid_arguments" and secret not in answer["error"]


@pytest.mark.parametrize("name, args, words", [
    ("divide", {"a": 1, "b": 0}, "EDOM (Numerical argument out of domain)"),
    ("factorial", {"n": 1000}, "ERANGE (Numerical result out of range)"),
    ("not_there", {}, ""),
])
def test_a_tool_that_fails(caller, name, args, words):
    answer = caller.invoke(name, args)
    toolbox_id = "answers" if name == "not_there" else "math_tools"
    assert answer["code"] == "tool_failed", answer
    assert answer["error"].startswith(f"RuntimeError: Tool execution failed for '{name}' in "
                                      f"ToolBox '{toolbox_id}': ")
    assert words in answer["error"]


def test_nan_and_infinity_are_failures(caller):
    assert caller.invoke("sqrt", {"x": -1})["code"] == "tool_failed"
    assert caller.invoke("exp", {"x": 1e4})["code"] == "tool_failed"


def test_a_float_beyond_the_range_is_an_invalid_argument(caller):
    answers = caller.answers_of('{"type": "ovos.tools.invoke", "data": {"name": "sqrt", '
                                '"args": {"x": 1e400}}}', "ovos.tools.invoke.response")
    assert [one.data["code"] for one in answers] == ["invalid_arguments"]


def test_a_nul_in_a_string_is_an_invalid_argument(caller):
    answer = caller.invoke("echo", {"text": "a\0b"})
    assert answer["code"] == "invalid_arguments"
    assert [one["path"] for one in answer["violations"]] == ["/text"]


def test_a_result_outside_its_schema(caller):
    assert caller.invoke("small", {"value": -10})["result"] == {"result": 10}
    answer = caller.invoke("small", {"value": -11})
    assert answer["code"] == "invalid_output" and answer["violations"][0]["path"] == "/result"
    assert answer["error"].startswith("RuntimeError: Tool output validation failed for 'small' in "
                                      "ToolBox 'answers': ")
    assert ". Result: result (" in answer["error"] and "Parameters" not in answer["error"], answer


def test_a_risky_tool_with_nobody_to_ask(caller):
    answer = caller.invoke("risky", {"value": 1})
    assert answer["code"] == "denied" and answer["error"].startswith("PermissionError: ")
    assert "approval" in answer["error"]
    assert caller.invoke("risky", {"value": "x"})["code"] == "invalid_arguments"


@pytest.mark.parametrize("approval, code", [
    ({"mode": "off"}, None), ({"allow": ["risky"]}, None), ({"allow": ["answers/*"]}, None),
    ({"mode": "execute"}, "denied"), ({"allow": ["left/*"]}, "denied"),
])
def test_who_asks_is_configured(launch, tmp_path, approval, code):
    import manifests
    manifests.answers(tmp_path / "toolbox.d")
    service = launch({"approval": approval}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        assert caller.invoke("risky", {"value": -1}).get("code") == code


def test_filters_hide_a_tool_everywhere(launch):
    service = launch(env={"TOOLBOXD_TOOLS_ENABLED": "add, math_tools/divide ,sqrt"})
    with Caller(service.url) as caller:
        names = [one["name"] for one in caller.call("ovos.tools.list")["tools"]]
        assert names == ["sqrt", "add", "divide"]
        for name in ("subtract", "hypot"):
            assert caller.invoke(name, {})["code"] == "unknown_tool"
            assert caller.call("ovos.tools.get", {"name": name})["code"] == "unknown_tool"
        assert "subtract" not in caller.invoke("subtrac", {}).get("suggestions", [])
