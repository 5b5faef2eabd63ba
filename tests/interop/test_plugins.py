# SPDX-License-Identifier: Apache-2.0
"""Toolboxes of the kind `plugin`: what toolbox.h promises, over the bus (tests/toolboxes/plugged.c
does all of it, and goes wrong as its configuration says)."""
import json
import shutil
import time

import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, at_most, toolboxctl, until

LIBRARY = BUILD / "tests" / "toolboxes" / "plugged.d" / "libtest_plugged.so"
INITIALISED = "plugged: initialised"
DEINITIALISED = "plugged: deinitialised"


def plugged(folder, stem="plugged", **members):
    """A manifest of the test plugin, with a library of its own beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(LIBRARY, folder / "libplugged.so")
    (folder / f"{stem}.json").write_text(
        json.dumps({"kind": "plugin", "library": "libplugged.so", **members}))
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("plugins")
    with Service("embedded", home, [plugged(home / "toolbox.d")]) as one:
        yield one


def result(caller, name, args=None, **fields):
    answer = caller.invoke(name, args, **fields)
    assert "result" in answer, answer
    return answer["result"]


def failure(caller, name, args=None, **fields):
    answer = caller.invoke(name, args, **fields)
    assert answer.get("code") == "tool_failed", answer
    return answer["error"].split("': ", 1)[1]


def failed(caller):
    return {one["toolbox_id"]: one["error"]
            for one in caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["failed"]}


def test_what_a_table_tells_is_listed(caller):
    tools = caller.call("ovos.tools.list")["tools"]
    assert [tool["name"] for tool in tools][:3] == ["read", "who", "config"]
    who = tools[1]
    assert who == {
        "name": "who", "description": "For tests.",
        "argument_schema": {"type": "object", "properties": {}, "additionalProperties": False},
        "output_schema": {"type": "object", "required": ["session"]},
        "toolbox_id": "plugged", "source": {"kind": "plugin", "toolbox": "plugged"}, "risk": "read", "parallel": False,
        "triggers": ["^who (calls|am i)"]}
    assert tools[0]["output_schema"] == {"type": "object"}
    assert caller.call("ovos.tools.match", {"utterance": "Who calls?"}) == {
        "name": "who", "toolbox_id": "plugged", "args": {}, "complete": True, "missing": []}


def test_arguments_are_read_without_a_json_library(caller):
    given = {"boolean": True, "i64": -2**63, "u64": 2**64 - 1, "number": 0.1, "text": "é\u0000x",
             "json": {"a": [1, None]}, "list": [{}, {"name": "inside"}]}
    assert result(caller, "read", given) == {
        "status": [0] * 8, "boolean": True, "i64": -2**63, "u64": 2**64 - 1, "number": 0.1,
        "text": "é", "size": 4, "json": {"a": [1, None]}, "count": 2, "inside": "inside"}


def test_what_cannot_be_read_is_told_by_a_status_and_leaves_the_variable(caller):
    absent = result(caller, "read", {})
    assert absent["status"] == [1] * 8 and absent["text"] == "untouched"
    assert result(caller, "read", {"boolean": None, "i64": None, "json": None})["status"] == [
        1, 1, 1, 1, 1, 0, 1, 1]
    assert result(caller, "read", {
        "boolean": 1, "i64": 2.5, "u64": -1, "number": "x", "text": 5, "list": 5})["status"] == [
        2, 2, 3, 2, 2, 1, 2, 1]
    assert result(caller, "read", {"i64": 2**63, "u64": 1e2, "list": {"a": 1}})["status"][1:3] == [
        3, 0]


def test_a_handler_knows_who_calls(caller):
    answer = caller.call("ovos.tools.invoke", {"name": "who", "call_id": "c-1"}, {
        "session": {"session_id": "s-1", "lang": "de-DE"}})
    assert answer["result"] == {"call_id": "c-1", "session": "s-1", "lang": "de-DE",
                                "has_time": True, "is_cancelled": False}
    assert result(caller, "who")["session"] == ""


def test_a_tool_has_a_pointer_of_its_own_and_its_process_a_memory(caller):
    first = result(caller, "count")
    assert first["data"] == "its own"
    assert result(caller, "count")["calls"] == first["calls"] + 1


def test_an_answer_may_come_later_from_a_thread(caller):
    for _ in range(20):
        assert result(caller, "later") == {"steps": 0}


def test_progress_is_told_to_who_watches(caller):
    caller.call("ovos.tools.watch", {"seconds": 20})
    mark = caller.send("ovos.tools.invoke", {"name": "later", "args": {"steps": 3},
                                             "call_id": "p-1"})
    told = caller.wait_for(lambda message: message.type == "ovos.tools.call.progress")
    del told.data["id"]
    assert told.data == {"name": "later", "toolbox_id": "plugged", "call_id": "p-1",
                         "source": None, "session_id": None, "progress": pytest.approx(1 / 3), "text": "stepping"}
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"steps": 3}


def test_progress_is_told_to_who_asks_for_it(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        for wanted in None, False, True:
            context = {"source": "me", "destination": "you", "mine": [1.5]}
            caller.settle()
            more = {} if wanted is None else {"progress": wanted}
            mark = caller.send("ovos.tools.invoke", {
                "name": "later", "args": {"steps": 3}, "call_id": "p-2", **more}, context)
            answer = caller.answer_to("ovos.tools.invoke", mark)
            assert answer.data["result"] == {"steps": 3}
            told = [message for message in caller.seen
                    if message.type == "ovos.tools.call.progress"]
            assert bool(told) is (wanted is True)
        assert told[0].data["call_id"] == "p-2" and told[0].data["text"] == "stepping"
        assert told[0].context == answer.context
        big = {"source": "me", "big": "x" * 5000}
        caller.send("ovos.tools.invoke", {"name": "later", "args": {"steps": 3},
                                          "progress": True}, big)
        told = caller.wait_for(lambda message: message.type == "ovos.tools.call.progress"
                               and message.data["call_id"] != "p-2")
        assert told.context == {"source": "toolboxd", "session": {"session_id": "default"}}
        refused = caller.call("ovos.tools.invoke", {"name": "later", "progress": 1})
        assert (refused["code"], refused["field"]) == ("bad_request", "progress")


def test_a_flood_of_progress_harms_nobody(caller):
    assert result(caller, "later", {"steps": 20000}, timeout_ms=20000) == {"steps": 20000}


def test_a_long_list_is_read_in_the_time_that_its_elements_take(caller):
    numbers = ["%d" % number for number in range(100000)]
    assert result(caller, "join", {"texts": numbers}, timeout_ms=int(1000 * at_most(5))) == {
        "count": 100000, "bytes": sum(map(len, numbers))}


@pytest.mark.parametrize("text, value", [
    ('{"a": 1.10}', {"a": 1.1}), ("[]", []), (" null ", None), ('"\\u0000"', "\u0000")])
def test_a_result_may_be_json_text(caller, text, value):
    answer = caller.invoke("json", {"text": text})
    if isinstance(value, dict):
        assert answer["result"] == value
    else:
        assert answer["code"] == "invalid_output"


@pytest.mark.parametrize("text, words", [
    ("", "its result is not JSON: "), ("{", "its result is not JSON: "),
    ('{"a":1,"a":2}', "its result is not JSON: a key twice in one object"),
    ("{} {}", "its result is not JSON: ")])
def test_a_result_that_is_no_json_is_a_failure(caller, text, words):
    assert words[:24] in failure(caller, "json", {"text": text})
    assert result(caller, "later") == {"steps": 0}


@pytest.mark.parametrize("kind, words", [
    ("nan", "NaN or infinity"), ("no key", "without a key in an object"),
    ("key in array", "with a key in an array"), ("closed", "after the end"),
    ("close", "close without anything open"), ("twice", "not JSON"), ("utf8", "not JSON"),
    ("deep", "more than 128 levels")])
def test_a_mistake_in_putting_a_result_together_is_told(caller, kind, words):
    assert words in failure(caller, "mistake", {"kind": kind})


def test_a_result_that_was_never_begun_is_an_empty_object(caller):
    assert result(caller, "mistake", {"kind": ""}) == {}


def test_a_failure_has_its_own_words(caller):
    assert failure(caller, "fail", {"words": "no\nluck"}) == "no\nluck"
    assert failure(caller, "fail") == "it gave no reason"


def test_a_handler_that_says_nothing_has_failed(caller):
    assert failure(caller, "silent") == "its handler returned without an answer"


def test_arguments_may_be_refused_by_meaning(caller):
    answer = caller.invoke("even", {"number": 3})
    assert answer["code"] == "invalid_arguments"
    assert answer["violations"] == [{"path": "/number", "message": "must be even"}]
    # A call cannot be kept before its handler runs.
    assert result(caller, "even", {"number": 4}) == {"keep_in_validate": 5}


def test_the_tool_is_asked_when_a_call_is_only_checked(caller):
    def validate(name, number, **fields):
        answer = caller.call("ovos.tools.validate",
                             {"name": name, "args": {"number": number}, **fields})
        return {key: value for key, value in answer.items() if key != "name"}

    n_calls = caller.call("ovos.tools.status")["calls"]
    assert validate("even", 3, call_id="c") == {"call_id": "c", "valid": False, "violations": [
        {"path": "/number", "message": "must be even"}]}
    assert validate("even", 4) == {"valid": True, "violations": []}
    assert validate("even", "4")["violations"][0]["path"] == "/number"
    assert validate("even", 1000)["code"] == "host_crashed"
    assert validate("even", 2000, timeout_ms=200)["code"] == "timeout"
    assert caller.call("ovos.tools.status")["calls"] == n_calls


def cancel(service, call_id):
    """Cancel a call as soon as it has begun."""
    with Caller(service.url) as other:
        until(lambda: other.call("ovos.tools.cancel", {"call_id": call_id})["cancelled"],
              EVENT_SECONDS, "the call")


def test_a_check_is_cancelled_like_a_call(service, caller):
    mark = caller.send("ovos.tools.validate", {"name": "even", "args": {"number": 2000},
                                               "call_id": "stuck"})
    cancel(service, "stuck")
    assert caller.answer_to("ovos.tools.validate", mark).data["code"] == "cancelled"


def test_only_tools_with_a_validate_are_asked(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        until(lambda: caller.call("ovos.tools.status")["toolboxes"][0]["hosts"] == 0,
              EVENT_SECONDS, "the end of the process that described them")
        assert caller.call("ovos.tools.validate", {"name": "join"})["valid"] is True
        assert caller.call("ovos.tools.status")["toolboxes"][0]["hosts"] == 0
        assert caller.call("ovos.tools.validate", {"name": "even", "args": {"number": 2}})["valid"]
        assert caller.call("ovos.tools.status")["toolboxes"][0]["hosts"] == 1


def test_the_tool_is_asked_before_a_person(launch, tmp_path):
    """Nobody is asked about a call that its tool refuses, whose check crashes, or is cancelled."""
    from test_approval import INVOKE, REQUESTED, Person
    service = launch({"toolboxes": {"plugged": {"tools": {"even": {
        "risk": "execute", "cooldown_s": 60}}}}}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        assert caller.invoke("even", {"number": 3})["violations"] == [
            {"path": "/number", "message": "must be even"}]
        assert caller.invoke("even", {"number": 1000})["code"] == "host_crashed"
        mark = caller.send(INVOKE, {"name": "even", "args": {"number": 2000}, "call_id": "stuck"})
        cancel(service, "stuck")
        assert caller.answer_to(INVOKE, mark).data["code"] == "cancelled"
        assert person.pending() == [] and not any(one.type == REQUESTED for one in person.seen)
        mark = caller.send(INVOKE, {"name": "even", "args": {"number": 4}})
        person.respond(person.question()["id"])
        assert caller.answer_to(INVOKE, mark).data["result"] == {"keep_in_validate": 5}


def test_a_caller_that_leaves_while_its_tool_is_asked(launch, tmp_path):
    """Its question is withdrawn as soon as it would be asked."""
    from test_approval import INVOKE, Person
    service = launch({"toolboxes": {"plugged": {"tools": {"even": {"risk": "execute"}}}}},
                     [plugged(tmp_path / "toolbox.d")])
    with Person(service.url) as person:
        person.attach()
        with Caller(service.url) as caller:
            caller.send(INVOKE, {"name": "even", "args": {"number": 4}})
        until(lambda: person.call("ovos.tools.status")["calls"]["in_flight"] == 0, EVENT_SECONDS,
              "the end of the call")
        assert person.pending() == []


def test_a_second_answer_and_a_call_that_is_gone_do_nothing(caller):
    gone = 4
    assert result(caller, "twice") == {"first": True}
    assert result(caller, "stale") == {
        "second": gone, "reply": gone, "fail": gone, "keep": gone, "get": gone, "progress": gone,
        "has": False, "session": "", "is_cancelled": True, "init_reply": 5, "init_fail": gone}


def test_what_never_answers_ends_at_its_deadline(caller):
    started = time.monotonic()
    assert caller.invoke("hang")["code"] == "timeout"
    assert time.monotonic() - started < 0.3 + at_most(2)
    assert result(caller, "later") == {"steps": 0}


def test_a_crash_costs_its_call(caller):
    answer = caller.invoke("crash")
    assert answer["code"] == "host_crashed" and answer["signal"] == "SIGABRT"
    assert result(caller, "later") == {"steps": 0}


def test_a_result_beyond_the_limit_costs_no_process(caller):
    before = result(caller, "count")["calls"]
    answer = caller.invoke("large", {"size": 9 << 20}, timeout_ms=20000)
    assert answer["code"] == "too_large" and answer["max"] == 8 << 20
    assert answer["actual"] == (9 << 20) + len('{"text":""}')
    assert result(caller, "count")["calls"] == before + 1


def test_the_configuration_comes_before_the_manifest_key_by_key(launch, tmp_path):
    folder = plugged(tmp_path / "toolbox.d", config={"place": "here", "depth": {"a": 1, "b": 2}})
    service = launch({"toolboxes": {"plugged": {
        "depth": {"b": 3}, "more": [1], "limits": {"timeout_ms": 9000}, "enabled": True}}},
        [folder])
    with Caller(service.url) as caller:
        assert result(caller, "config")["config"] == {
            "place": "here", "depth": {"a": 1, "b": 3}, "more": [1]}


def test_a_changed_configuration_is_a_changed_toolbox(launch, tmp_path):
    from processes import write_configuration
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        assert result(caller, "config")["config"] == {}
        write_configuration(service.daemon.home,
                            {"toolboxd": {"toolboxes": {"plugged": {"place": "new"}}}})
        assert failed(caller) == {}
        assert result(caller, "config")["config"] == {"place": "new"}


@pytest.mark.parametrize("trick, words", [
    ("abort", "loading the library failed: its host died (SIGABRT)"),
    ("fail", "its init() has failed: there is no antenna"),
    ("return", "its init() has failed: it returned 3"),
    ("none", "it has no tools"),
    ("null", "the tool 'who' has no handler"),
    ("schema", "the tool 'who': its argument_schema is not JSON: "),
    ("type", "/tools/1/argument_schema/type: in its description: "),
    ("name", "/tools/1/name: in its description: the tool name 'no name' must "),
    ("twin", "/tools/1/name: in its description: the name 'read' is taken by tool 0, counted from 0"),
    ("trigger", "/tools/1/triggers/0: in its description: "),
    ("risk", "the tool 'who' has the risk 7: an enum toolbox_risk was expected"),
])
def test_a_plugin_that_goes_wrong_while_it_is_loaded(launch, tmp_path, trick, words):
    plugged(tmp_path / "toolbox.d", stem="bad", config={"trick": trick})
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        errors = failed(caller)
        assert set(errors) == {"bad"} and words in errors["bad"], errors
        assert result(caller, "later") == {"steps": 0}


def test_a_library_that_is_no_plugin(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "no.json").write_text('{"kind": "plugin", "library": "libm.so.6"}')
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert "does not export 'toolbox_plugin'" in failed(caller)["no"]


def test_ten_thousand_tools(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d", config={"trick": "many"})])
    with Caller(service.url) as caller:
        assert result(caller, "many_9999", seconds=EVENT_SECONDS)["data"] == "many_9999"
        assert result(caller, "many_0")["data"] == "many_0"


def test_a_toolbox_that_is_not_enabled_is_never_started(launch, tmp_path):
    service = launch({"toolboxes": {"plugged": {"enabled": False}}},
                     [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
        assert caller.call("ovos.tools.status")["not_offered"] == [
            {"toolbox_id": "plugged", "name": None, "why": "its toolbox is not enabled"}]
    assert INITIALISED not in service.daemon.log()


class Again:
    """Daemons one after the other with one home: one cache."""

    def __init__(self, launch, tmp_path):
        self.launch = launch
        self.env = {"CACHE_DIRECTORY": str(tmp_path / "cache")}
        self.folder = plugged(tmp_path / "toolbox.d")
        self.cache = tmp_path / "cache"

    def start(self, **options):
        return self.launch({}, [self.folder], env=self.env, **options)


def starts(service):
    return service.daemon.log().count(INITIALISED)


def wait_for_ends(service, number):
    until(lambda: service.daemon.log().count(DEINITIALISED) == number, EVENT_SECONDS,
          f"{number} times deinit():\n{service.daemon.log()}")


def test_a_process_that_is_not_needed_any_more_ends_in_order(launch, tmp_path):
    """Behind the table, when it has nothing to do, when it is replaced, when the daemon stops."""
    folder = tmp_path / "toolbox.d"
    service = launch({}, [plugged(folder, limits={"idle_s": 0})])
    wait_for_ends(service, 1)
    with Caller(service.url) as caller:
        assert result(caller, "later") == {"steps": 0}
        wait_for_ends(service, 2)
        plugged(folder)
        assert failed(caller) == {}
        assert result(caller, "later") == {"steps": 0}
        ends = service.daemon.log().count(DEINITIALISED)
        plugged(folder, config={"place": "new"})
        assert failed(caller) == {}
        wait_for_ends(service, ends + 2)
        assert result(caller, "later") == {"steps": 0}
    service.end()
    assert service.daemon.log().count(DEINITIALISED) == starts(service)
    assert "while it was ended" not in service.daemon.log()


def test_a_process_that_is_killed_runs_nothing_more(launch, tmp_path):
    service = launch({}, [plugged(tmp_path / "toolbox.d")])
    with Caller(service.url) as caller:
        assert caller.invoke("hang")["code"] == "timeout"
        assert caller.invoke("crash")["code"] == "host_crashed"
    service.end()
    assert service.daemon.log().count(DEINITIALISED) == 1


@pytest.mark.parametrize("how, words", [
    ("abort", "its host died (SIGABRT)"),
    ("exit", "its host ended with exit status 7"),
    ("hang", "its host was killed because it took more than 500 ms")])
def test_what_goes_wrong_at_the_end_is_logged_and_costs_nobody_anything(
        launch, tmp_path, how, words):
    service = launch({"crash_limit": 1}, [plugged(tmp_path / "toolbox.d", config={"end": how},
                                                  limits={"idle_s": 0})])
    line = f"Toolbox plugged: while it was ended, {words}"
    with Caller(service.url) as caller:
        for number in (1, 2):
            assert result(caller, "later") == {"steps": 0}
            until(lambda: service.daemon.log().count(line) == number, EVENT_SECONDS, line)
        toolbox, = caller.call("ovos.tools.status")["toolboxes"]
        assert toolbox["state"] == "idle"


def test_the_daemon_stops_in_time_whatever_its_toolboxes_do(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    names = ["one", "two", "three", "four"]
    for name in names:
        plugged(folder, stem=name, config={"end": "hang"})
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        for name in names:
            assert result(caller, "later", toolbox_id=name) == {"steps": 0}
    started = time.monotonic()
    service.end()
    assert 0.5 <= time.monotonic() - started < 0.5 + at_most(1)


def test_after_a_restart_no_code_runs_until_the_first_call(launch, tmp_path):
    again = Again(launch, tmp_path)
    first = again.start()
    with Caller(first.url) as caller:
        tools = caller.call("ovos.tools.list")["tools"]
    assert starts(first) == 1
    first.end()
    second = again.start()
    with Caller(second.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == tools
        assert failed(caller) == {}
        assert starts(second) == 0 and second.daemon.hosts() == []
        assert result(caller, "later") == {"steps": 0}
    assert starts(second) == 1


def test_another_library_is_asked_anew(launch, tmp_path):
    again = Again(launch, tmp_path)
    again.start().end()
    with open(again.folder / "libplugged.so", "ab") as library:
        library.write(b"\0")
    second = again.start()
    with Caller(second.url) as caller:
        assert result(caller, "later") == {"steps": 0}
    assert starts(second) == 2
    assert len(list(again.cache.iterdir())) == 2


@pytest.mark.parametrize("spoil", [
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    lambda path: path.write_bytes(path.read_bytes().replace(b"\"who\"", b"\"why\"")),
    lambda path: path.write_bytes(b""),
    lambda path: (path.unlink(), path.mkdir()),
], ids=["cut", "changed", "empty", "a folder"])
def test_a_cache_that_is_spoilt_is_none(launch, tmp_path, spoil):
    again = Again(launch, tmp_path)
    again.start().end()
    spoil(next(again.cache.iterdir()))
    second = again.start()
    with Caller(second.url) as caller:
        assert result(caller, "who", toolbox_id="plugged")["session"] == ""
    assert starts(second) == 2


def test_where_nothing_can_be_kept_everything_works(launch, tmp_path):
    again = Again(launch, tmp_path)
    again.cache.write_text("no folder")
    for _ in range(2):
        service = again.start()
        with Caller(service.url) as caller:
            assert result(caller, "later") == {"steps": 0}
        assert starts(service) == 2
        service.end()


def test_check_says_what_is_wrong_with_a_plugin(tmp_path):
    folder = plugged(tmp_path / "toolbox.d", config={"trick": "twin"})
    done = toolboxctl("check", folder / "plugged.json", home=tmp_path / "home")
    assert done.returncode == 1 and "the name 'read' is taken by tool 0, counted from 0" in done.stderr
    assert toolboxctl("check", plugged(folder) / "plugged.json",
                      home=tmp_path / "home").returncode == 0


def test_what_was_built_for_version_1_does_the_same(launch):
    service = launch({}, [BUILD / "tests" / "toolboxes" / "plugin_v1.d"])
    with Caller(service.url) as caller:
        tools = caller.call("ovos.tools.list")["tools"]
        assert [tool["name"] for tool in tools] == ["read_all", "who", "config", "refuse"]
        assert tools[1]["risk"] == "write" and tools[1]["parallel"] is False
        args = {"flag": True, "i64": -1, "u64": 1, "number": 0.5, "text": "t"}
        assert result(caller, "read_all", args) == {
            **args, "sized": "t", "json": args, "null": None, "object": {"array": [5]},
            "absent": 1, "type": 4, "has": True}
        assert result(caller, "who", call_id="c") == {
            "call_id": "c", "session": "", "lang": "", "is_cancelled": False, "keep": 0}
        assert result(caller, "config") == {"as": "it was"}
        assert caller.invoke("refuse", {})["violations"] == [
            {"path": "/x", "message": "by validate"}]
