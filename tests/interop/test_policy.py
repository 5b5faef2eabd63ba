# SPDX-License-Identifier: Apache-2.0
"""Which tools a caller is answered about: the filter for everybody, profiles for each.

A caller with a profile must not be able to tell its service from one that has only its tools. Most of
these tests ask both, and compare."""
import random

import manifests
import pytest
from caller import Caller
from conftest import BUSES
from processes import BUILD, EVENT_SECONDS, toolboxctl, until, write_configuration

FORMATS = ("full", "compact", "openai", "anthropic")


def tools(*names, **more):
    return [manifests.labs(name, triggers=[f"do {name}"], **more) for name in names]


@pytest.fixture
def folder(tmp_path):
    """one: first, shared; two: second, shared; three: third."""
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", tools("first", "shared"))
    manifests.toolbox(folder, "two", tools("second", "shared"))
    manifests.toolbox(folder, "three", tools("third"))
    return folder


def named(definitions):
    return [f"{one['toolbox_id']}/{one['name']}" for one in definitions]


def listed(caller, data=None, context=None):
    return named(caller.call("ovos.tools.list", data, context)["tools"])


def discovered(caller, data=None, context=None):
    """What the answers to one discover hold: `toolbox/tool`."""
    mark = caller.send("ovos.persona.tools.discover", data, context)
    end = caller.send("mycroft.toolboxd.is_alive", {}, context)
    found = []
    while True:
        message = caller.receive()
        if message.context.get("mark") == end and message.type.endswith(".response"):
            return found
        if message.context.get("mark") == mark and message.type.endswith("discover.response"):
            found += named(message.data["tools"])


def is_silent(caller, toolbox, data=None, context=None, topic="ovos.persona.tools.call"):
    """Whether the service says nothing about a toolbox, as of one that is not there: a persona call
    of a tool that it does not have is refused before another request for one, also when both wait for a
    reload that is under way."""
    mark = caller.send(topic, {"toolbox_id": toolbox, "name": "nope", **(data or {})}, context)
    end = caller.send("ovos.tools.get", {"name": "nope"})
    while True:
        message = caller.receive()
        if message.type == topic + ".response" and message.context.get("mark") == mark:
            return False
        if message.context.get("mark") == end and message.type.endswith(".response"):
            return True


def codes(caller, name, data=None, context=None):
    """The codes of get, validate and invoke of a tool."""
    request = {"name": name, "args": {"value": -1}, **(data or {})}
    return [caller.call(f"ovos.tools.{topic}", request, context).get("code")
            for topic in ("get", "validate", "invoke")]


# ── the filter ─────────────────────────────────────────────────────────────────────────────────


def test_a_list_in_the_environment_means_exactly_its_names(launch, folder):
    service = launch(None, [folder], env={"TOOLBOXD_TOOLS_ENABLED": " first , two/shared ,first,"})
    with Caller(service.url) as caller:
        assert listed(caller) == ["one/first", "two/shared"]


def test_siblings_of_the_one_tool_that_is_enabled_cannot_be_used(launch, folder):
    service = launch({"tools_enabled": ["one/first"]}, [folder])
    with Caller(service.url) as caller:
        assert listed(caller) == discovered(caller) == ["one/first"]
        assert codes(caller, "first") == [None, None, None]
        for name in ("shared", "one__shared", "second", "third"):
            assert codes(caller, name) == ["unknown_tool"] * 3
        assert codes(caller, "shared", {"toolbox_id": "one"}) == ["unknown_tool"] * 3
        assert caller.call("ovos.tools.match", {"utterance": "do shared"}) == {"name": None}
        assert caller.call("ovos.persona.tools.call", {"toolbox_id": "one", "name": "shared",
                                                       "kwargs": {"value": 1}})["code"] == "unknown_tool"
        assert is_silent(caller, "two") and not is_silent(caller, "one")


def test_names_have_stars(launch, folder):
    service = launch({"tools_disabled": ["t*/s*", "f*t"]}, [folder])
    with Caller(service.url) as caller:
        assert listed(caller) == ["one/shared", "three/third"]


def test_enabled_beats_disabled_and_one_line_says_so(launch, folder):
    service = launch({"tools_enabled": ["first"], "tools_disabled": ["first"]}, [folder])
    with Caller(service.url) as caller:
        assert listed(caller) == ["one/first"]
    assert service.daemon.log().count("is ignored, since tools_enabled is set") == 1


def test_one_line_tells_which_variables_are_ignored(launch, folder):
    service = launch(None, [folder], env={
        "TOOLBOXD_TOOLS": "third", "TOOLBOXD_TOOLS_DISABLED": "first"})
    with Caller(service.url) as caller:
        assert "one/first" not in listed(caller) and len(listed(caller)) == 4
    assert service.daemon.log().count("ignored: TOOLBOXD_TOOLS") == 1


def test_a_filter_of_unknown_names_offers_nothing_and_answers(launch, folder):
    service = launch({"tools_enabled": ["zeta", "alpha", "one/second", "zeta"]}, [folder])
    with Caller(service.url) as caller:
        assert listed(caller) == []
        assert codes(caller, "first") == ["unknown_tool"] * 3
    assert service.daemon.log().count("no tool is called 'alpha', 'one/second', 'zeta'") == 1


def test_a_toolbox_without_a_tool_left_starts_no_process(launch, folder):
    manifests.toolbox(folder, "one", tools("first"), limits={"prestart": True})
    manifests.toolbox(folder, "two", tools("second"), limits={"prestart": True})
    service = launch({"tools_enabled": ["second"]}, [folder])
    with Caller(service.url) as caller:
        until(lambda: len(service.daemon.hosts()) > 0, EVENT_SECONDS, "the host of two")
        state = {box["toolbox_id"]: box["hosts"] for box in
                 caller.call("ovos.tools.status")["toolboxes"]}
        assert (state["one"], state["two"]) == (0, 1)
        until(lambda: len(service.daemon.hosts()) == 1, EVENT_SECONDS, "no host but the one of two")
        # The process of one that loses its last tool ends.
        write_configuration(service.daemon.home, {"toolboxd": {"tools_disabled": ["first", "second"]}})
        caller.call("ovos.tools.reload")
        until(lambda: not service.daemon.hosts(), EVENT_SECONDS, "the host of two gone")


@pytest.mark.parametrize("configuration", [
    {"tools_disabled": ["spy/*"]}, {"tools_disabled": ["s*/*"]}, {"tools_enabled": ["one/*"]},
    {"toolboxes": {"spy": {"enabled": False}}}])
def test_no_code_of_a_plugin_that_is_left_out_runs(launch, folder, configuration):
    """It is described only once it may have a tool."""
    plugin = BUILD / "tests" / "toolboxes" / "plugged.d" / "libtest_plugged.so"
    (folder / "spy.json").write_text(f'{{"kind": "plugin", "library": "{plugin}"}}')
    cache = folder.parent / "cache"
    service = launch(configuration, [folder], env={"CACHE_DIRECTORY": str(cache)})
    with Caller(service.url) as caller:
        left_out = caller.call("ovos.tools.status")["not_offered"]
        assert ["spy", None] in [[one["toolbox_id"], one["name"]] for one in left_out]
        # A description that was made would lie there.
        assert not cache.exists() or not list(cache.iterdir())
        write_configuration(service.daemon.home, {"toolboxd": {}})
        caller.call("ovos.tools.reload")
        assert any(one.startswith("spy/") for one in listed(caller))
        assert list(cache.iterdir())


@pytest.mark.parametrize("configuration", [
    {"tools_disabled": ["spy/*"]}, {"tools_disabled": ["doom"]}, {"tools_enabled": ["one/*"]},
    {"toolboxes": {"spy": {"enabled": False}}}])
def test_no_code_of_a_library_that_is_left_out_runs(launch, folder, configuration):
    """Its constructor aborts: whoever loads it, to look for a symbol, notices."""
    library = BUILD / "tests" / "toolboxes" / "doomed.d" / "libtest_doomed.so"
    manifests.toolbox(folder, "spy", [manifests.tool("doom", "doom")], str(library), limits={"prestart": True})
    service = launch(configuration, [folder])
    with Caller(service.url) as caller:
        status = caller.call("ovos.tools.status")
        assert status["failed"] == [] and "spy" in [one["toolbox_id"] for one in status["not_offered"]]
        write_configuration(service.daemon.home, {"toolboxd": {}})
        caller.call("ovos.tools.reload")
        assert [one["toolbox_id"] for one in caller.call("ovos.tools.status")["failed"]] == ["spy"]


# ── profiles ───────────────────────────────────────────────────────────────────────────────────

KIDS = {"source": "kid"}
PROFILES = {"kids": {"tool_names": ["one/*", "second"]}, "guests": {"tool_names": ["*/shared"]},
            "everything": {"tool_names": ["all"]}, "nothing": {"tool_names": None}}
ACCESS = [{"match": {"source": "kid*"}, "profile": "kids"},
          {"match": {"source": "lost"}, "profile": "missing"},
          {"match": {"site_id": "cellar"}, "profile": "guests"}]


@pytest.mark.parametrize("kind", BUSES)
def test_a_profile_is_all_that_its_caller_has(launch, folder, kind):
    service = launch({"profiles": PROFILES, "access": ACCESS}, [folder], kind)
    service.forget_who_left()
    with Caller(service.url) as caller:
        assert len(listed(caller)) == 5
        assert listed(caller, {}, KIDS) == discovered(caller, {}, KIDS) == [
            "one/first", "one/shared", "two/second"]
        assert listed(caller, {}, {"session": {"site_id": "cellar"}}) == ["one/shared", "two/shared"]
        assert listed(caller, {}, {"source": "lost"}) == []
        assert codes(caller, "third") == [None] * 3
        assert codes(caller, "third", None, KIDS) == ["unknown_tool"] * 3
        # What it sees once has one owner, and its short name.
        for context, short in ((None, False), (KIDS, True)):
            compact = caller.call("ovos.tools.list", {"format": "compact"}, context)["tools"]
            assert ("shared" in [one["name"] for one in compact]) == short
        assert codes(caller, "shared") == ["ambiguous_tool"] * 3
        assert codes(caller, "shared", None, KIDS) == [None] * 3
        assert codes(caller, "two__shared", None, KIDS) == ["unknown_tool"] * 3
        assert caller.call("ovos.tools.match", {"utterance": "do third"}, KIDS) == {"name": None}
        assert is_silent(caller, "three", None, KIDS) and not is_silent(caller, "three")
        older = "ovos.persona.tools.three.call"
        assert is_silent(caller, "", None, KIDS, older) and not is_silent(caller, "", topic=older)
        assert caller.call("ovos.persona.tools.call", {
            "toolbox_id": "two", "name": "shared", "kwargs": {"value": 1}}, KIDS)["code"] == "unknown_tool"


def test_a_request_narrows_and_never_widens(launch, folder):
    service = launch({"profiles": PROFILES, "access": ACCESS}, [folder])
    with Caller(service.url) as caller:
        def seen(profile, context=None):
            data = {"profile": profile}
            assert listed(caller, data, context) == discovered(caller, data, context)
            return listed(caller, data, context)

        assert seen("guests") == ["one/shared", "two/shared"]
        assert seen("guests", KIDS) == ["one/shared"]
        assert len(seen("everything")) == len(seen("default")) == 5
        assert seen("everything", KIDS) == seen("default", KIDS) == seen("kids", KIDS) == seen(None, KIDS)
        for profile in ("nothing", "missing", "", "Kids"):
            assert seen(profile) == seen(profile, KIDS) == []
            assert codes(caller, "first", {"profile": profile}) == ["unknown_tool"] * 3
        assert seen("everything", {"source": "lost"}) == []
        assert caller.call("ovos.tools.match", {"utterance": "do third", "profile": "kids"}) == {
            "name": None}
        for topic in ("ovos.persona.tools.call", "ovos.persona.tools.three.call"):
            assert is_silent(caller, "three", {"profile": "kids"}, topic=topic)
            assert not is_silent(caller, "three", {"profile": "everything"}, topic=topic)
        # What cannot be read grants nothing.
        assert discovered(caller, {"profile": 1}) == []
        assert caller.call("ovos.tools.list", {"profile": 1})["code"] == "bad_request"


def test_a_default_that_is_defined_is_for_whom_no_rule_matches(launch, folder):
    service = launch({"profiles": {**PROFILES, "default": {"tool_names": ["third"]}},
                      "access": ACCESS}, [folder])
    with Caller(service.url) as caller:
        assert listed(caller) == ["three/third"]
        assert listed(caller, {"profile": "everything"}) == ["three/third"]
        assert len(listed(caller, {}, KIDS)) == 3
        assert listed(caller, {"profile": "default"}, KIDS) == []


def test_what_is_installed_later_is_in_the_profiles_that_name_it(launch, folder):
    service = launch({"profiles": {
        "kids": {"tool_names": ["late", "one/*", "never"]}, "everything": {"tool_names": ["all"]}}}, [folder])
    assert "profiles.kids: no tool is called 'late', 'never'" in service.daemon.log()
    with Caller(service.url) as caller:
        assert len(listed(caller, {"profile": "kids"})) == 2
        manifests.toolbox(folder, "four", tools("late", "other"))
        caller.call("ovos.tools.reload")
        assert listed(caller, {"profile": "kids"}) == ["four/late", "one/first", "one/shared"]
        assert len(listed(caller, {"profile": "everything"})) == 7
        # A change of the configuration alone is told, too.
        write_configuration(service.daemon.home, {"toolboxd": {
            "profiles": {"kids": {"tool_names": ["gone"]}}, "access": [{"match": {}, "profile": "lost"}]}})
        assert caller.call("ovos.tools.reload")["loaded"] == []
    log = service.daemon.log()
    assert log.count("profiles.kids: no tool is called 'never'") == 1
    assert log.count("profiles.kids: no tool is called 'gone'") == 1
    assert log.count("these profiles do not exist, and grant nothing: 'lost'") == 1


def test_a_mistake_in_a_profile_closes_the_configuration(launch, folder):
    service = launch({"profiles": PROFILES, "access": ACCESS}, [folder])
    with Caller(service.url) as caller:
        write_configuration(service.daemon.home, {"toolboxd": {"profiles": {"kids": {"tools": ["all"]}}}})
        answer = caller.call("ovos.tools.reload")
        assert answer["configuration"][0]["path"] == "/toolboxd/profiles/kids/tools"
        assert len(listed(caller, {}, KIDS)) == 3
        # It may name any tool: a caller without all of them is not told.
        assert "configuration" not in caller.call("ovos.tools.reload", {}, KIDS)
        assert "configuration" not in caller.call("ovos.tools.status", {}, KIDS)


def test_status_and_reload_tell_what_their_caller_sees(launch, folder):
    (folder / "broken.json").write_text('{"kind": "native"}')
    service = launch({"profiles": PROFILES, "access": ACCESS, "tools_disabled": ["first"]}, [folder])
    with Caller(service.url) as caller:
        for topic in ("status", "reload"):
            whole = caller.call(f"ovos.tools.{topic}")
            assert [one["toolbox_id"] for one in whole["failed"]] == ["broken"]
            own = caller.call(f"ovos.tools.{topic}", {}, KIDS)
            assert own["failed"] == []
        assert own["loaded"] == ["one", "two"] and own["total_tools"] == 2
        assert named(own["tools"]) == ["one/shared", "two/second"]
        status = caller.call("ovos.tools.status", {}, KIDS)
        assert [box["toolbox_id"] for box in status["toolboxes"]] == ["one", "two"]
        assert status["not_offered"] == []
        lost = caller.call("ovos.tools.status", {}, {"source": "lost"})
        assert lost["toolboxes"] == [] and lost["calls"] == {"in_flight": 0, "held_bytes": 0}


def test_status_counts_the_calls_that_its_caller_may_make(launch, folder):
    manifests.toolbox(folder, "slow", [manifests.sleeper(timeout_ms=60000)])
    service = launch({"profiles": PROFILES, "access": ACCESS}, [folder])
    with Caller(service.url) as caller:
        caller.send("ovos.tools.invoke", {"name": "sleep", "args": {"seconds": 30}, "call_id": "s"})

        def in_flight(context=None):
            return caller.call("ovos.tools.status", {}, context)["calls"]["in_flight"]

        assert (in_flight(), in_flight(KIDS)) == (1, 0)
        caller.call("ovos.tools.cancel", {"call_id": "s"})


# ── the property ───────────────────────────────────────────────────────────────────────────────

NAMES = ["get", "got", "get_all", "set", "seat", "add", "adds", "b__get", "all"]
BOXES = ["a", "a__b", "b", "c"]


def some(draw, values, least=0):
    return draw.sample(values, draw.randint(least, len(values)))


def draw_profile(draw, boxes):
    """Names of a profile, and the tools that they mean: {toolbox: [tool]}."""
    names = some(draw, [f"{box}/{name}" for box in boxes for name in boxes[box]] + [
        "get", "set", "nope", "g*", "a/*", "*__*/get", "b*/*t", "c/nope", "*ll"])
    meant = {box: [name for name in tools_ if any(means(one, box, name) for one in names)]
             for box, tools_ in boxes.items()}
    return names, {box: found for box, found in meant.items() if found}


def means(pattern, box, name):
    """What contract.md, Filter, says of a name, in other words than the service."""
    parts = pattern.split("/")
    return fits(parts[-1], name) and (len(parts) == 1 or fits(parts[0], box))


def fits(pattern, text):
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return text[:1] == pattern[0] and fits(pattern[1:], text[1:])


def questions(draw):
    """Requests of every kind, about what there is and what there is not."""
    names = [*NAMES, "ge", "b_get", "a__get", "a__b__get", "b__set", "c__nope", "", "x" * 200]
    asked = [("status", {}), ("reload", {})]
    asked += [("list", {"format": one}) for one in FORMATS]
    asked += [("list", {"toolbox_id": box}) for box in [*BOXES, "d"]]
    asked += [("match", {"utterance": f"do {name}"}) for name in NAMES]
    for name in names:
        for data in ({"name": name}, {"name": name, "toolbox_id": draw.choice(BOXES)}):
            asked += [("get", data), ("validate", {**data, "args": {"value": 1}}),
                      ("validate", data), ("invoke", {**data, "args": {"value": -2}}),
                      ("invoke", {**data, "args": {}})]
    return asked


def settled(topic, answer):
    """Without what differs between two services by nature: their age, their bus, their files, how
    often each was asked to reload, and the requests of all callers, which only a caller without a profile is told of."""
    if topic == "status":
        answer = {key: answer[key] for key in ("calls", "toolboxes", "failed", "not_offered")}
        answer["toolboxes"] = [{key: one[key] for key in ("toolbox_id", "kind", "sandbox", "why")}
                               for one in answer["toolboxes"]]
        answer["calls"].pop("checking", None)
    return answer


@pytest.mark.parametrize("seed", range(4))
def test_a_caller_cannot_tell_its_profile_from_a_service_with_only_its_tools(
        launch, tmp_path, seed, times):
    """Random toolboxes and profiles: every answer is that of a daemon that has only the visible
    tools."""
    draw = random.Random(seed)
    boxes = {box: some(draw, NAMES) for box in some(draw, BOXES, 1)}
    whole, part = tmp_path / "whole", tmp_path / "part"
    names, meant = draw_profile(draw, boxes)
    part.mkdir()
    for box, all_of_it in boxes.items():
        manifests.toolbox(whole, box, tools(*all_of_it))
        if box in meant:
            manifests.toolbox(part, box, tools(*meant[box]))
    (whole / "broken.json").write_text("{}")
    other, _ = draw_profile(draw, boxes)
    duplicates = {"duplicate_names": draw.choice(["error", "last"])}
    by_rule = launch({"profiles": {"p": {"tool_names": names}, "o": {"tool_names": [*other, *names]}},
                      "access": [{"match": {"source": "me"}, "profile": "p"}], **duplicates}, [whole])
    alone = launch(duplicates, [part])
    context = {"source": "me"}
    with Caller(by_rule.url) as one, Caller(alone.url) as two:
        for topic, data in draw.sample(asked := questions(draw), times(70, len(asked))):
            expected = settled(topic, two.call(f"ovos.tools.{topic}", data, context))
            assert settled(topic, one.call(f"ovos.tools.{topic}", data, context)) == expected, (
                topic, data, names)
            if topic in ("status", "reload"):
                continue
            # The same by the request, for a caller that may use all; and by both.
            asked_for = {**data, "profile": "p"}
            assert settled(topic, one.call(f"ovos.tools.{topic}", asked_for)) == expected
            both = {**data, "profile": "o"}
            assert settled(topic, one.call(f"ovos.tools.{topic}", both, context)) == expected
        assert discovered(one, {}, context) == discovered(two, {}, context)
        for box in BOXES:
            assert is_silent(one, box, None, context) == (box not in meant)
            if box in meant:
                data = {"toolbox_id": box, "name": "get", "kwargs": {"value": -3}}
                assert (one.call("ovos.persona.tools.call", data, context)
                        == two.call("ovos.persona.tools.call", data, context))


def test_list_why_names_what_a_profile_leaves_out(launch, folder, tmp_path):
    """To whoever sees it all without the profile, which is a choice of his own."""
    service = launch({"profiles": {"few": {"tool_names": ["one/first", "two/*"]}}}, [folder])
    done = toolboxctl("list", "--why", "--profile", "few", bus=service.url, home=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split(None, 1) for line in done.stdout.splitlines() if "profile" in line]
    assert rows == [["one/shared", "left out by the profile 'few'"], ["three/third", "left out by the profile 'few'"]]
    done = toolboxctl("list", "--why", bus=service.url, home=tmp_path)
    assert "profile" not in done.stdout
