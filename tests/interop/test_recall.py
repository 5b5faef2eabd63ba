# SPDX-License-Identifier: Apache-2.0
"""How often a search has the right tool among its first five: two hundred questions as people ask them, about the tools
of eleven servers and of the shipped toolboxes (tests/search). Half of the questions are kept apart: the rules of the
search were chosen without a look at them."""
import re
from collections import Counter

import manifests
import pytest
import tool_servers
from caller import Lasting
from processes import ROOT

FIRST = 5
LEAST = 0.9
QUESTIONS = [tuple(part.strip() for part in line.split("|"))
             for line in (ROOT / "tests" / "search" / "questions.txt").read_text().splitlines()
             if line and not line.startswith("#")]
TUNED = [question for at, question in enumerate(QUESTIONS) if at % 4 in (0, 3)]
KEPT = [question for at, question in enumerate(QUESTIONS) if at % 4 in (1, 2)]


def stem(word):
    """A word without its usual endings, so that an inflected word counts as the same."""
    for ending in ("ings", "ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def words(text):
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return {stem(word) for word in re.findall(r"[a-z0-9]+", split.lower())}


def own_text(tool):
    """All that the definition has for a search."""
    parameters = tool["argument_schema"].get("properties", {})
    return " ".join([tool["name"], tool["toolbox_id"], tool["description"], *tool.get("triggers", []),
                     *parameters, *(schema.get("description", "") for schema in parameters.values())])


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("recall")
    folders = [tool_servers.write(home / "toolbox.d"), manifests.SHIPPED]
    with Service("embedded", home, folders) as one, Lasting(one.url) as opened:
        yield opened


@pytest.fixture(scope="module")
def tools(caller):
    return {f"{tool['toolbox_id']}/{tool['name']}": tool for tool in caller.call("ovos.tools.list")["tools"]}


def test_there_are_two_hundred_in_other_words_than_the_tools_have(tools):
    assert len(QUESTIONS) == len({question for _, _, question in QUESTIONS}) == 200
    assert {name for name, _, _ in QUESTIONS} <= set(tools)
    for name, kind, question in QUESTIONS:
        asked = words(question)
        shared = asked & words(own_text(tools[name]))
        assert kind in ("command", "question", "need")
        assert 2 * len(shared) <= len(asked), (name, question, sorted(shared))


def missed(caller, questions):
    """The questions whose tool is not among the first, and how many of each kind there are."""
    late, kinds = [], Counter()
    for name, kind, question in questions:
        found = caller.call("ovos.tools.search", {"query": question, "limit": FIRST})["tools"]
        kinds[kind] += 1
        if name not in [f"{tool['toolbox_id']}/{tool['name']}" for tool in found]:
            late.append((name, kind, question))
    return late, kinds


@pytest.mark.parametrize("half, questions", [("tuned", TUNED), ("kept apart", KEPT)])
def test_recall(caller, half, questions, figure):
    late, kinds = missed(caller, questions)
    lost = Counter(kind for _, kind, _ in late)
    by_kind = ", ".join(f"{kind} {1 - lost[kind] / n:.2f} of {n}" for kind, n in sorted(kinds.items()))
    recall = 1 - len(late) / len(questions)
    figure(f"recall@{FIRST}, {half}", f"{recall:.3f} of {len(questions)} ({by_kind})")
    assert recall >= LEAST, late if half == "tuned" else len(late)
