# SPDX-License-Identifier: Apache-2.0
"""A plugin whose process has several calls at a time (`concurrent`), and the rest of version 3 of toolbox.h: who
calls, a process in use, calls that are refused before anybody is asked, what an approval is for
(tests/toolboxes/sharing.c)."""
import json
import shutil

import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, until
from test_approval import INVOKE, Person

LIBRARY = BUILD / "tests" / "toolboxes" / "sharing.d" / "libtest_sharing.so"
MANIFEST = {"kind": "plugin", "library": "libsharing.so", "concurrent": 4, "limits": {"idle_s": 0}}
ALICE = {"source": "alice", "session": {"session_id": "s1"}}


def sharing(folder, **members):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(LIBRARY, folder / "libsharing.so")
    (folder / "sharing.json").write_text(json.dumps({**MANIFEST, **members}))
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("sharing")
    with Service("embedded", home, [sharing(home / "toolbox.d")]) as one:
        yield one


class Sharing(Caller):
    def begin(self, name, **args):
        return self.send(INVOKE, {"name": name, "args": args, "call_id": args.get("key", name)})

    def end(self, mark):
        """The answer, which may have come while another was waited for."""
        def is_it(message):
            return message.type == INVOKE + ".response" and message.context.get("mark") == mark
        came = [message for message in self.seen if is_it(message)]
        return (came[0] if came else self.wait_for(is_it)).data

    def result(self, name, /, **args):
        answer = self.end(self.begin(name, **args))
        assert "result" in answer, answer
        return answer["result"]

    def keep(self, key):
        """A call that is kept: the next one's answer shows that the process has it."""
        mark = self.begin("keep", key=key)
        self.result("who")
        return mark

    def answer(self, key, text="late"):
        return self.result("answer", key=key, text=text)["status"]


@pytest.fixture
def caller(service):
    with Sharing(service.url) as caller:
        yield caller


def test_a_kept_call_leaves_the_process_to_the_next(caller):
    first, second = caller.keep("one"), caller.keep("two")
    assert caller.answer("two", "2") == 0 and caller.answer("one", "1") == 0
    assert caller.end(first)["result"] == {"key": "one", "text": "1"}
    assert caller.end(second)["result"] == {"key": "two", "text": "2"}


def test_no_more_calls_are_open_than_the_manifest_says(caller, service):
    marks = [caller.keep(str(number)) for number in range(3)]
    fourth = caller.begin("keep", key="3")
    waits = caller.begin("who")
    with Caller(service.url) as other:
        waiting = until(lambda: other.call("ovos.tools.status", {"detail": True})["toolboxes"][0]["queue"], EVENT_SECONDS, "a call that waits")
        assert waiting == 1
    caller.call("ovos.tools.cancel", {"call_id": "3"})
    assert "pid" in caller.end(waits)["result"] and caller.end(fourth)["code"] == "cancelled"
    for number, mark in enumerate(marks):
        assert caller.answer(str(number)) == 0
        assert caller.end(mark)["result"]["key"] == str(number)


def test_a_cancelled_call_is_gone_and_the_process_stays(caller):
    pid = caller.result("use", on=True)["pid"]
    mark = caller.keep("gone")
    caller.call("ovos.tools.cancel", {"call_id": "gone"})
    assert caller.end(mark)["code"] == "cancelled"
    assert caller.answer("gone") == 4  # TOOLBOX_E_GONE
    late = caller.send(INVOKE, {"name": "keep", "args": {"key": "late"}, "timeout_ms": 100})
    assert caller.end(late)["code"] == "timeout"
    other = caller.keep("other")
    assert caller.answer("late") == 4
    assert caller.result("who")["pid"] == pid
    assert caller.answer("other") == 0 and caller.end(other)["result"]["key"] == "other"
    caller.result("use", on=False)


def test_a_handler_that_does_not_return_ends_the_process(caller, request):
    if not request.config.getoption("--long"):
        pytest.skip("the service waits 5 s for it (--long)")
    kept = caller.keep("lost")
    assert caller.end(caller.begin("stay"))["code"] == "timeout"
    assert caller.end(kept)["code"] == "host_crashed"
    assert caller.result("who")["pid"]


def test_a_handler_knows_who_calls(caller, service):
    answer = caller.call(INVOKE, {"name": "who"}, ALICE)["result"]
    assert (answer["identity"], answer["session"]) == ("alice", "s1")
    assert caller.result("who")["identity"] == ""
    claimed = caller.call(INVOKE, {"name": "who"}, {"source": "http:admin"})["result"]
    assert claimed["identity"] == ""


def test_a_process_in_use_is_not_stopped_for_being_idle(caller):
    before = caller.result("use", on=True)
    assert before["status"] == 0
    assert [caller.result("who")["pid"] for _ in range(3)] == [before["pid"]] * 3
    assert caller.result("use", on=False) == before
    assert until(lambda: caller.result("who")["pid"] != before["pid"], EVENT_SECONDS, "another process")


def test_a_reload_leaves_what_has_not_changed(launch, tmp_path):
    service = launch({}, [sharing(tmp_path / "toolbox.d")])
    with Sharing(service.url) as caller:
        pid = caller.result("use", on=True)["pid"]
        kept = caller.keep("kept")
        caller.call("ovos.tools.reload")
        assert caller.result("who")["pid"] == pid
        sharing(tmp_path / "toolbox.d", description="Another.", config={"a": 1})
        assert caller.end(kept)["result"] == {"replaced": True}
        assert caller.result("who")["pid"] != pid


def test_concurrent_calls_have_one_process(launch, tmp_path):
    service = launch({}, [sharing(tmp_path / "toolbox.d", limits={"workers": 2})])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload")["failed"]
        assert "limits.workers must be 1" in failed["error"]
    service = launch({"toolboxes": {"sharing": {"limits": {"workers": 2}}}}, [sharing(tmp_path / "other.d")])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload")["failed"]
        assert "limits.workers must be 1" in failed["error"]


@pytest.mark.parametrize("mode", ["off", "auto", "strict"])
def test_a_call_that_must_not_run_is_refused_in_every_mode(launch, tmp_path, mode):
    log = tmp_path / "audit.log"
    service = launch({"approval": {"mode": mode}, "audit": {"file": str(log)}}, [sharing(tmp_path / "toolbox.d")])
    with Person(service.url) as person:
        person.attach()
        for args in {"word": "never", "chars": "x"}, {"word": "never"}:
            answer = person.call(INVOKE, {"name": "say", "args": args}, ALICE)
            assert answer["code"] == "tool_failed" and "this word is never said" in answer["error"]
        assert person.pending() == []
        until(lambda: person.call("ovos.tools.status")["audit"]["written"] == 2, EVENT_SECONDS, "2 lines")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["outcome"] for line in lines] == ["tool_failed"] * 2


def test_an_approval_shows_the_words_of_the_tool_and_holds_for_its_argument(launch, tmp_path):
    service = launch({"approval": {"mode": "auto"}}, [sharing(tmp_path / "toolbox.d")])
    with Person(service.url) as person:
        person.attach()
        # A call without its text only reads: nobody is asked.
        assert person.call(INVOKE, {"name": "say", "args": {"word": "a", "chars": ""}}, ALICE)["result"] == {"said": ""}
        mark = person.send(INVOKE, {"name": "say", "args": {"word": "a", "chars": "x"}}, {**ALICE, "mark": "one"})
        question = person.question()
        assert question["about"] == "the word is a"
        person.respond(question["id"], "session")
        person.seen.clear()
        assert person.call(INVOKE, {"name": "say", "args": {"word": "a", "chars": "y"}}, ALICE)["result"]["said"] == "y"
        person.send(INVOKE, {"name": "say", "args": {"word": "b", "chars": "y"}}, ALICE)
        assert person.question()["args"] == {"word": "b", "chars": "y"}
        assert mark
