# SPDX-License-Identifier: Apache-2.0
"""The toolboxes of ovos-agentic-loop through toolboxd and through the Python plugin: the same
packages, the same mycroft.conf, two buses. List, get and invoke agree field by field; an error's first
words are the same, ours goes on with the reason. Where they differ, the test's name says how, and why."""
import json
import math
import re
import sys

import pytest
from side_by_side import SideBySide, without_ours

PLUGIN = "ovos-phal-plugin-tools"
SKILLS = "ovos-skill-md-toolbox"
TOOLBOXES = {"ovos-clock-tools", "ovos-filesystem-tools", "ovos-math-tools", "ovos-shell-tools",
             SKILLS, "ovos-web-search-tools", "math_tools"}

TOOL_OF = {"get_current_datetime": "ovos-clock-tools", "web_search": "ovos-web-search-tools",
           "run_command": "ovos-shell-tools", "add": "math_tools", "divide": "math_tools",
           **dict.fromkeys(("evaluate_expression", "unit_convert", "statistics_summary",
                            "solve_equation"), "ovos-math-tools"),
           **dict.fromkeys(("read_file", "write_file", "list_directory", "search_in_files",
                            "find_files"), "ovos-filesystem-tools")}

SKILL = "---\nname: Word Smith\ndescription: Makes words.\n---\nBe brief.\n"


def measured(*values):
    return [("unit_convert", {"value": value, "from_unit": "km", "to_unit": "mi"})
            for value in values]


def evaluated(*expressions):
    return [("evaluate_expression", {"expression": expression}) for expression in expressions]


def shell(command, **more):
    return ("run_command", {"command": command, **more})


# Calls that both answer with a result, the same one.
SUCCEED = [
    *evaluated("2 + 3 * 4", "sqrt(2)", "-7 // 2", "2 ** 0.5", "pi", "1e300", "lcm(4, 6)", "5e-324"),
    ("evaluate_expression", {"expression": "1", "unknown": "is dropped"}),
    *measured(3, 3.5, -0.0, 0, 1e300, 123456789012345678),
    # What JSON Schema takes for no number, and pydantic does.
    *measured("3", "1.5", "-2e3", " 5 ", True, "+5", "05", ".5", "5.", "1_000"),
    ("statistics_summary", {"numbers": [True, False]}),
    ("unit_convert", {"value": 100, "from_unit": "celsius", "to_unit": "fahrenheit"}),
    ("statistics_summary", {"numbers": [1, 2.5, 4]}),
    ("statistics_summary", {"numbers": ["1", 2, "1e2"]}),
    ("statistics_summary", {"numbers": []}),
    ("statistics_summary", {"numbers": [7]}),
    ("solve_equation", {"equation": "x**2 - 4"}),
    ("solve_equation", {"equation": "x +"}),
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"path": "sub/../a.txt"}),
    ("read_file", {"path": "umlaut.txt"}),
    ("read_file", {"path": "../../../etc/passwd"}),
    ("read_file", {"path": "/etc/passwd"}),
    ("read_file", {"path": "not there"}),
    ("read_file", {"path": "."}),
    ("read_file", {"path": "latin.txt"}),
    ("write_file", {"path": "new/one.txt", "content": "once\n"}),
    ("write_file", {"path": "new/one.txt", "content": "twice\n"}),
    ("write_file", {"path": "../outside.txt", "content": ""}),
    ("write_file", {"path": "a.txt/under", "content": ""}),
    ("list_directory", {"path": "."}),
    ("list_directory", {"path": ".", "pattern": "*.txt"}),
    ("list_directory", {"path": ".", "pattern": ""}),
    ("list_directory", {"path": "nowhere"}),
    ("list_directory", {"path": ".."}),
    ("search_in_files", {"pattern": "alph[a]"}),
    ("search_in_files", {"pattern": "alpha", "path": "sub", "glob": "*.md"}),
    ("search_in_files", {"pattern": "("}),
    ("find_files", {"glob": "**/*.md"}),
    ("find_files", {"glob": "*", "path": "/"}),
    shell("echo hi"),
    shell("echo $((1 + 1)) >&2; exit 3"),
    shell("echo 'a\"b' \\\\ $HOME_NOT_SET ü"),
    shell("printf '\\377'"),
    shell("printf ''", timeout="1"),
    shell("echo", timeout=1.0),
    shell("echo", cwd="/"),
    shell("echo", cwd="/nowhere"),
    shell("sleep 5"),
    shell("sleep 5", timeout=99),
    shell("rm -rf /nowhere"),
    shell(""),
    ("web_search", {"query": "anything"}),
    ("web_search", {"query": "anything", "max_results": "2"}),
    ("add", {"a": "3", "b": 4}),
    ("add", {"a": 3.0, "b": " 12345678901234567890123 "}),
    ("add", {"a": 10 ** 30, "b": 9007199254740993}),
    ("divide", {"a": 1, "b": 3}),
]

# Calls that both answer with an error, whose first words are the same.
FAIL = [
    ("evaluate_expression", {}),
    ("evaluate_expression", {"expression": 5}),
    ("evaluate_expression", {"expression": None}),
    ("evaluate_expression", {"expression": ["1"]}),
    ("evaluate_expression", {"expression": "-" * 3000 + "1"}),
    ("unit_convert", {"value": "three", "from_unit": "km", "to_unit": "mi"}),
    ("unit_convert", {"value": None, "from_unit": "km", "to_unit": "mi"}),
    ("unit_convert", {"value": [], "from_unit": "km"}),
    ("statistics_summary", {"numbers": "1, 2"}),
    ("statistics_summary", {"numbers": [1, None]}),
    ("statistics_summary", {"numbers": {"0": 1}}),
    ("read_file", {"path": 5}),
    ("read_file", {"path": True}),
    ("write_file", {"path": "x"}),
    ("find_files", {"glob": ""}),
    ("find_files", {"glob": "/abs"}),
    shell("echo", timeout=1.5),
    shell("echo", timeout="soon"),
    ("add", {"a": 1.5, "b": 2}),
    ("divide", {"a": 1, "b": 0}),
    ("nobody", {}),
    ("word_smith_", {"task": "none of this name"}),
]

# Arguments that only toolboxd takes, and why.
WE_TAKE = [
    ([("statistics_summary", {"numbers": "[1, 2]"})], "models that quote whole arrays are common"),
    ([shell("echo", timeout="1e0")], "a whole number, however it is written"),
    ([shell("echo", timeout=None)], "models send null for an argument that they leave out"),
]

# Calls whose result Python's plugin writes as NaN or Infinity, which is no JSON.
NOT_FINITE = [
    *measured("Infinity"),
    *evaluated("1 / 0", "inf", "2 +", "factorial(200)", "x", "__import__('os')", "9 ** 9 ** 9",
               "(" * 300 + "1" + ")" * 300, "'text'", "\0"),
    ("unit_convert", {"value": 1, "from_unit": "km", "to_unit": "kg"}),
    ("unit_convert", {"value": 1, "from_unit": "parsec", "to_unit": "km"}),
    ("unit_convert", {"value": 1e308, "from_unit": "ly", "to_unit": "mm"}),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with what the tools are to find, and one for each of the services."""
    home = tmp_path_factory.mktemp("agentic")
    files = home / "files"
    (files / "sub").mkdir(parents=True)
    (files / "a.txt").write_text("alpha\nbeta\n")
    (files / "sub" / "b.md").write_text("gamma alpha\n")
    (files / "umlaut.txt").write_text("ä \U0001f600 \x01 \"quoted\" \\ \u2028\r\n")
    (files / "latin.txt").write_bytes(b"\xe4\n")
    (files / "long.txt").write_text("0123456789" * 3000)
    (home / "skill.md").write_text(SKILL)
    (home / "toolbox.d").mkdir()
    (home / "toolbox.d" / "agentic.json").write_text(
        json.dumps({"kind": "python", "python": sys.executable}))
    return home


def configuration(home, filesystem=None, command=None):
    return {"PHAL": {PLUGIN: {
        "ovos-filesystem-tools": {"root_path": str(home / "files"), **(filesystem or {})},
        "ovos-shell-tools": command or {},
        SKILLS: {"extra_skill_md_paths": [str(home / "skill.md"), str(home / "nowhere.md")]}}}}


@pytest.fixture(scope="module")
def both(home):
    rules = {"allow_shell": True, "allowed_commands": ["echo", "printf", "sleep"], "max_timeout": 1}
    with SideBySide(home, [home / "toolbox.d"], configuration(home, command=rules)) as both:
        yield both


def invoke(both, name, args):
    return [message.data for message in
            both.ask("ovos.tools.invoke", {"name": name, "args": args})]


def test_lists_agree(both):
    """By toolbox, each in its own order. Skill files are ours alone: their toolbox finds them only
    when it is asked a second time, and the plugin asks once."""
    ours, python = (message.data["tools"] for message in both.ask("ovos.tools.list", {}))
    assert {entry["toolbox_id"] for entry in ours} == TOOLBOXES
    assert {entry["name"]: entry["toolbox_id"] for entry in python} == TOOL_OF
    skills = [entry for entry in ours if entry["toolbox_id"] == SKILLS]
    assert [entry["name"] for entry in skills] == ["word_smith"]
    ours = [list(without_ours(entry).items()) for entry in ours if entry not in skills]
    python = sorted(python, key=lambda entry: entry["toolbox_id"])
    assert ours == [list(entry.items()) for entry in python]


@pytest.mark.parametrize("name", [*TOOL_OF, "nobody"])
def test_definitions_agree(both, name):
    ours, python = (message.data for message in both.ask("ovos.tools.get", {"name": name}))
    assert list(without_ours(ours).items()) == list(python.items())


def test_an_unknown_tool_with_a_near_name_agrees(both):
    ours, python = (message.data for message in both.ask("ovos.tools.get", {"name": "word_smith_"}))
    assert list(without_ours(ours)) == list(python) == ["error"]
    assert ours["error"] == python["error"] + "; did you mean 'word_smith'?"


@pytest.mark.parametrize("name, args", SUCCEED)
def test_results_agree(both, name, args):
    ours, python = invoke(both, name, args)
    assert "result" in python, python
    assert list(ours.items()) == list(python.items())
    assert json.dumps(ours["result"]) == json.dumps(python["result"])  # 1 is not 1.0, nor True


@pytest.mark.parametrize("name, args", FAIL)
def test_errors_begin_with_the_same_words(both, name, args):
    ours, python = invoke(both, name, args)
    assert list(without_ours(ours)) == list(python) == ["name", "error"], (ours, python)
    assert ours["name"] == python["name"]
    assert ours["error"].startswith(python["error"])
    assert ours["error"] == python["error"] or ours["error"].startswith(
        (python["error"] + ": ", python["error"] + "; did you mean "))


@pytest.mark.parametrize("calls, reason", WE_TAKE)
def test_what_only_toolboxd_takes_for_a_number_or_an_array(both, calls, reason):
    for name, args in calls:
        ours, python = invoke(both, name, args)
        assert "result" in ours, reason
        assert "input validation failed" in python["error"], reason


@pytest.mark.parametrize("name, args", NOT_FINITE)
def test_what_is_no_json_is_an_error_that_shows_it(both, name, args):
    """The plugin sends NaN, which is no JSON; ours is tool_failed (contract.md, Calls)."""
    ours, python = invoke(both, name, args)
    assert any(isinstance(value, float) and not math.isfinite(value)
               for value in python["result"].values())
    assert ours["code"] == "tool_failed" and "result" not in ours
    start = f"RuntimeError: Tool execution failed for '{name}' in ToolBox '{TOOL_OF[name]}': "
    assert ours["error"].startswith(start) and "the result is not JSON" in ours["error"]
    if python["result"]["error"]:
        assert repr(python["result"]["error"]) in ours["error"]


@pytest.mark.parametrize("args", [[1], "x", 5, True])
def test_arguments_that_are_no_object(both, args):
    """invalid_arguments, like any wrong argument (contract.md, Errors); the plugin reports types."""
    ours, python = invoke(both, "read_file", args)
    assert python["error"].startswith("RuntimeError: Tool 'read_file' called with unexpected type")
    assert ours["error"].startswith("ValueError: Tool input validation failed for 'read_file' in "
                                    "ToolBox 'ovos-filesystem-tools'")
    assert ours["violations"][0]["path"] == ""


def test_absent_arguments_are_none(both):
    """Null counts as absent (contract.md, Calls); the plugin reports its type."""
    ours, python = (message.data for message in
                    both.ask("ovos.tools.invoke", {"name": "read_file"}))
    assert ours["error"].startswith(python["error"])
    ours, python = invoke(both, "get_current_datetime", None)
    assert "NoneType" in python["error"] and "result" in ours


@pytest.mark.parametrize("args", [{}, {"unknown": 1}])
def test_clocks_agree_as_far_as_time_allows(both, args):
    ours, python = invoke(both, "get_current_datetime", args)
    for answer in ours, python:
        result = answer["result"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])
        assert re.fullmatch(r"\d\d:\d\d:\d\d", result["time"])
        assert result["iso"].startswith(f"{result['date']}T{result['time']}.")
    assert list(ours["result"]) == list(python["result"])
    assert ours["result"]["timezone"] == python["result"]["timezone"]


def test_a_long_result_is_cut(both):
    """Cut at result_max_chars (contract.md, Size of results); the plugin sends all of it."""
    ours, python = invoke(both, "read_file", {"path": "long.txt"})
    assert len(python["result"]["content"]) == 30000
    cut = ours["result"]
    assert cut["truncated"] and cut["actual_chars"] > 30000 and len(cut["head"]) == cut["max_chars"]
    assert cut["head"].startswith('{"content":"0123456789')


def personas(caller, toolbox_ids):
    """Every answer to a discovery, by toolbox."""
    mark, answers = caller.send("ovos.persona.tools.discover", {}), {}
    while set(answers) != toolbox_ids:
        message = caller.wait_for(lambda one: one.type == "ovos.persona.tools.discover.response"
                                  and one.context.get("mark") == mark)
        assert message.data["toolbox_id"] not in answers, "answered twice"
        answers[message.data["toolbox_id"]] = message.data
    return answers


def test_discoveries_agree(both):
    """With the skill files: a discovery is the second question that their toolbox needs."""
    ours, python = (personas(caller, TOOLBOXES) for caller in both.callers)
    for toolbox_id, told in python.items():
        assert set(ours[toolbox_id]) == set(told)
        mine = [without_ours(entry) for entry in ours[toolbox_id]["tools"]]
        assert [list(one.items()) for one in mine] == [list(one.items()) for one in told["tools"]]


def test_a_skill_without_a_brain_fails_on_both(both):
    personas(both.callers[1], TOOLBOXES)
    for kwargs in {"task": "rhyme"}, {}, {"task": "rhyme", "context": None}, {"task": 5}:
        ours, python = (message.data for message in both.ask(
            "ovos.persona.tools.call",
            {"toolbox_id": SKILLS, "name": "word_smith", "kwargs": kwargs}))
        assert set(without_ours(ours)) == set(python) == {"error", "toolbox_id"}
        assert ours["error"].startswith(python["error"] + ": ")
    ours, _ = invoke(both, "word_smith", {"task": "rhyme"})
    assert "brain ChatEngine is not configured" in ours["error"]


def test_reloads_agree(both):
    ours, python = (message.data for message in both.ask("ovos.tools.reload", {}))
    assert set(without_ours(ours)) == set(python) == {"loaded", "total_tools"}
    assert set(ours["loaded"]) == set(python["loaded"]) == TOOLBOXES
    assert ours["total_tools"] == python["total_tools"] + 1  # the skill
    assert ours["failed"] == []


def test_refusals_agree(home, tmp_path):
    """What the configuration forbids is forbidden, in the same words, by both."""
    refusing = configuration(home, filesystem={"allow_write": False})
    with SideBySide(tmp_path, [home / "toolbox.d"], refusing) as both:
        for name, args in ("write_file", {"path": "no.txt", "content": ""}), shell("echo hi"):
            ours, python = invoke(both, name, args)
            assert ours == python and "disabled" in str(ours["result"])
            ours, python = (one.data for one in both.ask("ovos.tools.get", {"name": name}))
            assert without_ours(ours) == python
    assert not (home / "files" / "no.txt").exists()
