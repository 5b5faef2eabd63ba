# SPDX-License-Identifier: Apache-2.0
"""toolboxes/convert: units, arithmetic and statistics, as callers and persons get them. tests/unit/toolboxes/convert.c
has the rules of expressions and the units."""
import math
import random
import re
import statistics
from fractions import Fraction

import pytest
from caller import Caller
from conftest import Service
from processes import BUILD, toolboxctl

FOLDER = BUILD / "toolboxes" / "convert.d"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service("embedded", tmp_path_factory.mktemp("convert"), [FOLDER]) as one:
        yield one


@pytest.fixture
def convert(service):
    with Caller(service.url) as caller:
        yield caller.invoke


def test_all_digits_of_a_whole_number_come(convert):
    answer = convert("evaluate_expression", {"expression": "1000!"})
    assert answer["result"]["result"] == str(math.factorial(1000)) and answer["result"]["is_exact"]
    assert "value" not in answer["result"], "no double has this number"


def test_a_value_is_taken_as_it_was_written(convert):
    """A tenth is no double."""
    result = convert("unit_convert", {"value": 0.1, "from": "m", "to": "mm"})["result"]
    assert result == {"result": "100", "is_exact": True, "value": 100.0}
    assert convert("unit_convert", {"value": -40, "from": "°C", "to": "°F"})["result"]["result"] == "-40"


@pytest.mark.parametrize("expression", ["(" * 1999 + "1", "9" * 1990 + "!", "2^" * 900 + "2", "1000!^1000!", "1e9999" * 3,
                                        "sin(" * 90 + "1e9999" + ")" * 90, "\0", "1\0+1", "\u202e1+1", "%" * 2000,
                                        "-" * 1999 + "1"])
def test_a_hostile_expression_is_answered_in_time(convert, expression):
    answer = convert("evaluate_expression", {"expression": expression})
    assert answer.get("code") in ("tool_failed", None), answer
    assert convert("evaluate_expression", {"expression": "1+1"})["result"]["result"] == "2"


def test_an_error_has_its_place_and_the_next_step(convert):
    answer = convert("evaluate_expression", {"expression": "2 * sqr(2)"})
    assert "at character 5: 'sqr' is not known; did you mean sqrt or sin?" in answer["error"]
    answer = convert("unit_convert", {"value": 1, "from": "kilometr", "to": "m"})
    assert "did you mean kilometre" in answer["error"]


def test_figures_are_those_of_python(convert):
    random.seed(1)
    for numbers in ([random.gauss(5, 3) for _ in range(999)], [1e308, 1e308, -1e308, 1], [0.1] * 10, [1e16, 1, -1e16]):
        result = convert("statistics_summary", {"data": numbers})["result"]
        exact = float(sum(map(Fraction, numbers)))
        assert (result["count"], result["sum"]) == (len(numbers), exact)
        assert result["median"] == statistics.median(numbers)
        assert result["mean"] == pytest.approx(exact / len(numbers), rel=1e-15)
        if max(numbers) < 1e150:
            assert result["standard_deviation"] == pytest.approx(statistics.stdev(numbers), rel=1e-12)
            quartiles = statistics.quantiles(numbers, n=4, method="inclusive")
            assert [result["q1"], result["q3"]] == pytest.approx([quartiles[0], quartiles[2]], rel=1e-12)


@pytest.mark.parametrize("number", [5e-324, 0.1, 0.7, 1e308, -1e308])
def test_quartiles_of_equal_numbers_are_the_number(convert, number):
    for n in range(1, 12):
        result = convert("statistics_summary", {"data": [number] * n})["result"]
        assert {result[key] for key in ("min", "q1", "median", "q3", "max")} == {number}, n


@pytest.mark.parametrize("numbers, deviation", [([0, 1e-200], 7.071067811865475e-201), ([-1e308, 1e308], 1.4142135623730951e308)])
def test_a_deviation_is_a_double_where_its_square_is_none(convert, numbers, deviation):
    result = convert("statistics_summary", {"data": numbers})["result"]
    assert result["standard_deviation"] == pytest.approx(deviation, rel=1e-15, abs=0)
    assert result.get("variance") == (0.0 if deviation < 1 else None)


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_unit_with_a_nul_is_no_unit(convert, name):
    answer = convert("unit_convert", {"value": 1, "from": "m", "to": "m", name: "m\0"})
    assert answer["code"] == "invalid_arguments" and [one["path"] for one in answer["violations"]] == [f"/{name}"]


def test_numbers_beyond_the_doubles_are_refused_by_their_place(service, tmp_path):
    ended = toolboxctl("invoke", "statistics_summary", "data:=[1, 1e999]", bus=service.url, home=tmp_path)
    assert ended.returncode != 0 and "/data/1" in ended.stderr


@pytest.mark.parametrize("lang, utterance, words", [
    ("en", "convert five miles to kilometers", r"That is 8\.04672 kilometers\."),
    ("en", "what is 20 degrees celsius in fahrenheit?", r"That is 68(\.0)? fahrenheit\."),
    ("en", "how many inches are 2.54 centimeters", r"That is 1(\.0)? inches\."),
    ("de", "rechne fünf Meilen in Kilometer um", r"Das sind 8[.,]04672 Kilometer\."),
    ("de", "wie viele Gramm sind 2 Pfund", r"Das sind 1000(\.0)? Gramm\."),
])
def test_a_person_is_answered_in_words(service, tmp_path, lang, utterance, words):
    ended = toolboxctl("say", "--lang", lang, utterance, bus=service.url, home=tmp_path)
    assert ended.returncode == 0 and re.fullmatch(words + r"\n", ended.stdout), (ended.stdout, ended.stderr)
