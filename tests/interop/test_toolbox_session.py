# SPDX-License-Identifier: Apache-2.0
"""toolboxes/session: variables that nothing loses, and what was said. The arguments are those of the ai-manager."""
import hashlib
import json
import subprocess
import threading

import pytest
from caller import Caller
from conftest import BUSES, Service
from http_peer import Http, port_of
from processes import BUILD, EVENT_SECONDS, small_disk

FOLDER = BUILD / "toolboxes" / "session.d"
TOKENS = {name: name * 16 for name in ("a", "b")}
HTTP = {"tokens": [{"name": name, "token_sha256": hashlib.sha256(token.encode()).hexdigest()}
                   for name, token in TOKENS.items()]}
SAY = {"kind": "bus", "tools": [{
    "name": "say", "description": "Speak.", "risk": "write",
    "argument_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "bus": {"topic": "speak", "reply": False, "data": {"utterance": "{text}"}}}]}


def invoke(caller, name, args=None, session=None, **context):
    if session:
        context["session"] = {"session_id": session}
    return caller.call("ovos.tools.invoke", {"name": name, "args": args or {}}, context)


def set_(caller, session=None, **variables):
    return invoke(caller, "set_variables", {"variables": variables}, session)


def get(caller, session=None):
    return invoke(caller, "get_variables", {"run_llm": False}, session)["result"]["variables"]


def messages(caller, session=None, tool="get_messages", **args):
    found = invoke(caller, tool, args, session)["result"]["messages"]
    return [(message["role"], message["text"]) for message in found]


def database(service):
    return service.home / "state" / "toolboxd" / "session" / "session.sqlite3"


@pytest.fixture(scope="module", params=BUSES)
def started(request, tmp_path_factory):
    home = tmp_path_factory.mktemp("session")
    say = home / "say"
    say.mkdir()
    (say / "say.json").write_text(json.dumps(SAY))
    with Service(request.param, home, [FOLDER, say], args=["--http", "127.0.0.1:0"],
                 configuration={"approval": {"mode": "off"}, "http": HTTP}) as service:
        yield service


@pytest.fixture
def caller(started):
    started.forget_who_left()
    with Caller(started.url) as caller:
        yield caller


@pytest.fixture
def ask(started):
    """ask(token, tool, args, session): a call over HTTP; its result."""
    with Http(port_of(started.daemon)) as http:
        def call(name, tool, args, session):
            answer = http.post(f"/v1/tools/{tool}", args, Authorization=f"Bearer {TOKENS[name]}", Session_Id=session)
            return answer.json["result"]
        yield call


@pytest.fixture
def vault(launch):
    """vault(**options): a service with the toolbox alone, and a caller."""
    callers = []

    def start(**options):
        service = launch({"approval": {"mode": "off"}, **options.pop("configuration", {})}, [FOLDER], **options)
        callers.append(Caller(service.url))
        return service, callers[-1]

    yield start
    for caller in callers:
        caller.close()


# ── variables ──────────────────────────────────────────────────────────────────────────────────────


def test_variables_are_kept_for_each_session(caller):
    result = set_(caller, "v1", order="4711", name="Ada \u201cL\u201d\n")["result"]
    assert result == {"message": "Variables set successfully.", "count": 2}
    assert set_(caller, "v1", order="4712")["result"]["count"] == 2
    assert get(caller, "v1") == {"name": "Ada \u201cL\u201d\n", "order": "4712"}
    assert get(caller, "v2") == {}
    set_(caller, default="x")
    assert get(caller, "default") == {"default": "x"}


def test_a_value_that_is_no_string_changes_nothing(caller):
    set_(caller, "v3", a="1")
    assert set_(caller, "v3", a="2", b=3)["code"] == "invalid_arguments"
    assert invoke(caller, "set_variables", {"variables": {}}, "v3")["code"] == "invalid_arguments"
    [violation] = set_(caller, "v3", a="2", b="x\0y")["violations"]
    assert (violation["path"], violation["message"]) == ("/variables", "must not have the character U+0000")
    failed = set_(caller, "v3", a="2", b="x" * 4097)
    assert failed["code"] == "tool_failed" and "'b' has a name of 1 and a value of 4097 bytes" in failed["error"]
    failed = set_(caller, "v3", **{f"n{i}": "" for i in range(256)})
    assert "the session would have 257 variables; at most 256 are kept" in failed["error"]
    assert get(caller, "v3") == {"a": "1"}


def test_the_largest_session_is_answered_whole(caller):
    most = {f"{i:0256}": "\u00e9" * 2048 for i in range(256)}
    assert set_(caller, "v4", **most)["result"]["count"] == 256
    assert get(caller, "v4") == most


def test_run_llm_is_the_flag_that_it_is_everywhere(caller):
    answer = invoke(caller, "set_variables", {"variables": {"a": "1"}, "run_llm": True}, "v5")
    assert answer["run_llm"] is True and "result" in answer


def test_variables_over_http_are_the_callers_own(caller, ask):
    ask("a", "set_variables", {"variables": {"x": "a"}}, "v6")
    set_(caller, "v6", x="bus")
    assert ask("b", "get_variables", {}, "v6") == {"variables": {}}
    assert ask("a", "get_variables", {}, "v6") == {"variables": {"x": "a"}}
    assert get(caller, "v6") == {"x": "bus"}


def test_variables_outlive_the_service(vault):
    service, caller = vault()
    set_(caller, "one", a="1")
    assert database(service).parent.stat().st_mode & 0o077 == 0
    service.daemon.end()
    service.start_again()
    with Caller(service.url) as caller:
        assert get(caller, "one") == {"a": "1"}


def test_two_processes_lose_nothing_of_each_other(vault):
    service, caller = vault(configuration={"toolboxes": {"session": {"limits": {"workers": 2}}}})
    other = vault(env={"XDG_STATE_HOME": str(service.home / "state")})[1]

    def write(one, number):
        for i in range(15):
            assert "result" in set_(one, "shared", **{f"{number}-{i}": str(i)})

    with Caller(service.url) as third:
        threads = [threading.Thread(target=write, args=args) for args in ((caller, 0), (other, 1), (third, 2))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert get(caller, "shared") == get(other, "shared") == {f"{number}-{i}": str(i) for number in range(3) for i in range(15)}


def test_a_daemon_that_is_killed_while_it_writes_loses_nothing(vault, times):
    service, caller = vault()
    kept = {"a": "0/-1"}
    for round_ in range(times(4, 100)):
        stop = threading.Timer(0.05 + 0.03 * (round_ % 5), service.daemon.process.kill)
        stop.start()
        try:
            for i in range(10000):
                both = {"a": f"{round_}/{i}", "b": f"{round_}/{i}"}
                if "result" in set_(caller, "killed", **both):
                    kept = both
        except Exception:  # the connection has ended with the daemon
            pass
        stop.join()
        service.daemon.process.wait()
        service.daemon.has_ended = True
        service.start_again()
        caller = Caller(service.url)
        found = {"a": "0/-1", "b": "0/-1", **get(caller, "killed")}
        # What was answered is there, or the one after it; a call counts as a whole.
        assert found["a"] == found["b"], found
        last, seen = (tuple(map(int, one["a"].split("/"))) for one in (kept, found))
        assert seen in (last, (last[0], last[1] + 1), (round_, 0)), (kept, found)
        kept = found
    assert seen > (0, 0)
    caller.close()


def test_a_full_disk_loses_nothing(vault, tmp_path):
    with small_disk(tmp_path / "disk", "256k") as disk:
        service, caller = vault(env={"XDG_STATE_HOME": str(disk)})
        assert "result" in set_(caller, "one", a="1")
        (disk / "filler").write_bytes(b"x" * (160 << 10))
        failed = set_(caller, "one", a="2", **{f"n{i}": "x" * 4096 for i in range(60)})
        assert failed["code"] == "tool_failed" and "database or disk is full" in failed["error"], failed
        assert get(caller, "one") == {"a": "1"}
        (disk / "filler").unlink()
        assert "result" in set_(caller, "one", b="2") and get(caller, "one") == {"a": "1", "b": "2"}
        service.daemon.end()


def test_a_database_that_is_moved_away_is_begun_anew(vault):
    """As the error about a damaged one advises, while the process has it open."""
    service, caller = vault()
    set_(caller, a="1")
    path = database(service)
    path.rename(f"{path}.old")
    assert get(caller) == {}
    path.unlink()
    assert set_(caller, b="2")["result"]["count"] == 1 and get(caller) == {"b": "2"}
    path.unlink()
    path.write_text("x" * 1000)
    assert "move the file away to begin a new one" in set_(caller, c="3")["error"] and path.read_text() == "x" * 1000
    path.unlink()
    assert set_(caller, d="4")["result"]["count"] == 1


def test_a_damaged_database_is_named_and_left_as_it_is(vault):
    service, caller = vault()
    database(service).write_bytes(b"no database " * 100)
    for answer in (set_(caller, "one", a="1"), invoke(caller, "get_variables")):
        assert f"{database(service)}: file is not a database; move the file away" in answer["error"]
    assert database(service).read_bytes() == b"no database " * 100


# ── messages ───────────────────────────────────────────────────────────────────────────────────────


def say(caller, topic, text, session=None, **context):
    data = {"utterances": [text, "another"]} if "utterance" in topic.split(":")[-1] and "speak" not in topic \
        else {"utterance": text}
    caller.send(topic, data, {**({"session": {"session_id": session}} if session else {}), **context})


def test_what_was_said_is_listed_in_its_session(caller):
    say(caller, "recognizer_loop:utterance", "what time is it", "m1")
    say(caller, "speak", "ten \u201cpast\u201d\n", "m1")
    say(caller, "ovos.utterance.handle", "thanks", "m1")
    say(caller, "recognizer_loop:utterance", "thanks", "m1", _namespace_compat_twin=True)
    say(caller, "ovos.utterance.speak", "welcome", "m1")
    say(caller, "speak", "welcome", "m1", _namespace_compat_twin=True)
    say(caller, "speak", "elsewhere", "m2")
    say(caller, "speak", "at home")
    assert messages(caller, "m1") == [("user", "what time is it"), ("assistant", "ten \u201cpast\u201d\n"),
                                      ("user", "thanks"), ("assistant", "welcome")]
    assert messages(caller, "m1", limit=2) == [("user", "thanks"), ("assistant", "welcome")]
    assert messages(caller, "m1", "get_aicall_messages", aicall_id="b64cd8e1", limit=1) == [("assistant", "welcome")]
    assert messages(caller, "m2") == [("assistant", "elsewhere")]
    assert messages(caller)[-1] == ("assistant", "at home") == messages(caller, "default")[-1]
    assert messages(caller, "m3") == []
    [found] = invoke(caller, "get_messages", {}, "m2")["result"]["messages"]
    assert found["time"].endswith("Z") and len(found["time"]) == 24


def test_a_session_has_the_last_200_messages(caller):
    for i in range(120):
        say(caller, "speak", str(i), "m4")
    caller.settle()
    assert [text for _, text in messages(caller, "m4", limit=200)] == [str(i) for i in range(120)]
    assert [text for _, text in messages(caller, "m4")] == [str(i) for i in range(70, 120)]
    assert invoke(caller, "get_messages", {"limit": 201}, "m4")["code"] == "invalid_arguments"


def test_what_is_no_message_is_not_kept(caller):
    for data in ({}, {"utterance": 7}, {"utterance": ""}, None):
        caller.send("speak", data, {"session": {"session_id": "m5"}})
    caller.send("recognizer_loop:utterance", {"utterances": []}, {"session": {"session_id": "m5"}})
    caller.send("recognizer_loop:utterance", {"utterances": "x"}, {"session": {"session_id": "m5"}})
    say(caller, "speak", "x" * 5000, "m5")
    assert messages(caller, "m5") == [("assistant", "x" * 4096)]


def test_over_http_a_session_is_seen_by_the_caller_that_began_it(caller, ask):
    def seen(name, session):
        return [message["text"] for message in ask(name, "get_messages", {}, session)["messages"]]

    say(caller, "recognizer_loop:utterance", "private", "m6")
    say(caller, "recognizer_loop:utterance", "private")
    caller.settle()
    assert seen("a", "m6") == seen("a", "default") == []
    # It begins m7 by a message of its own; nobody begins `default`, or a session that is there.
    for session in ("m7", "m6", "default"):
        ask("a", "say", {"text": "hello"}, session)
    caller.settle()
    say(caller, "speak", "good day", "m7")
    caller.settle()
    assert seen("a", "m7") == ["hello", "good day"] and seen("b", "m7") == []
    assert seen("a", "m6") == seen("a", "default") == []
    assert messages(caller, "m7") == [("assistant", "hello"), ("assistant", "good day")]
    # Somebody else speaks in it.
    say(caller, "recognizer_loop:utterance", "private", "m7")
    caller.settle()
    assert seen("a", "m7") == []


def test_they_are_turned_off(launch):
    service = launch({"approval": {"mode": "off"}, "toolboxes": {"session": {"messages": False}}}, [FOLDER])
    with Caller(service.url) as caller:
        say(caller, "speak", "hello", "one")
        answer = invoke(caller, "get_messages", {}, "one")
        assert answer["code"] == "tool_failed" and "toolboxes.session.messages is false" in answer["error"]
        assert "result" in set_(caller, "one", a="1")


def test_they_are_forgotten_with_the_toolbox(launch, tmp_path):
    folder = tmp_path / "session.d"
    subprocess.run(["cp", "-r", FOLDER, folder], check=True)
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        say(caller, "speak", "hello", "one")
        assert messages(caller, "one") == [("assistant", "hello")]
        (folder / "session.json").rename(tmp_path / "session.json")
        assert caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["loaded"] == []
        (tmp_path / "session.json").rename(folder / "session.json")
        assert caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["loaded"] == ["session"]
        assert messages(caller, "one") == []
