# SPDX-License-Identifier: Apache-2.0
"""A person is asked before a risky call: questions, answers, and what may not count as one."""
import hashlib
import hmac
import json
import re
import time

import message_schemas
import pytest
from caller import Caller
from http_peer import Raw, port_of
from processes import EVENT_SECONDS, SLOWNESS, write_configuration

REQUESTED = "ovos.tools.approval.requested"
RESOLVED = "ovos.tools.approval.resolved"
INVOKE = "ovos.tools.invoke"
KEY = bytes(range(32))

# A caller with everything that a session grant is for.
ALICE = {"source": "alice", "session": {"session_id": "s1"}}


def shell(folder, **more):
    """Tools that would leave a file, each declared as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    touch = {"argv": ["/usr/bin/touch", "{file}"]}
    schema = {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
    secret = {"type": "object", "properties": {
        "user": {"type": "string", "default": "root"},
        "password": {"type": "string", "writeOnly": True}}}
    path = folder / "shell.json"
    path.write_text(json.dumps({"kind": "command", "tools": [
        {"name": "touch", "description": "Touch a file. It may be there.", "risk": "execute",
         "argument_schema": schema, "command": touch, **more},
        {"name": "look", "description": "Look.", "risk": "read", "argument_schema": schema,
         "command": {"argv": ["/bin/ls", "{file}"]}},
        {"name": "login", "description": "Log in.", "risk": "execute", "argument_schema": secret,
         "command": {"argv": ["/bin/echo", "in"]}},
        {"name": "toString", "description": "Risky by its declaration.", "risk": "execute",
         "command": {"argv": ["/bin/echo", "ran"]}},
    ]}))
    (folder / "search.json").write_text(json.dumps({"kind": "command", "risk": "execute", "tools": [
        {"name": "find", "description": "Harmless by its name.",
         "command": {"argv": ["/bin/echo", "ran"]}}]}))
    return path


def canonical(value):
    """Its canonical text, for values without numbers that Python writes otherwise."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def seal_of(key, kind, message):
    """The seal of a question, or of its end (docs/contract.md, Approval)."""
    members = {name: value for name, value in message.items() if name not in ("seal", "expires_s")}
    digest = hashlib.sha256(canonical(members).encode()).hexdigest()
    return hmac.new(key, f"{kind}\n{message['id']}\n{digest}".encode(), hashlib.sha256).hexdigest()


class Person(Caller):
    """One who answers questions."""

    def __init__(self, url, source="console", key=None):
        super().__init__(url)
        self.context = {"source": source}
        self.key = key
        self.seals = {}

    def proof(self, text):
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()

    def attach(self, seconds=60, **fields):
        topic = "ovos.tools.approval.attach"
        answer = self.call(topic, {"seconds": seconds, **fields}, self.context)
        if self.key and "nonce" in answer:
            proof = self.proof(f"attach\n{seconds}\n{answer['nonce']}")
            answer = self.call(topic, {"seconds": seconds, "proof": proof}, self.context)
        return answer

    def question(self, seconds=EVENT_SECONDS):
        question = self.wait_for(lambda one: one.type == REQUESTED, seconds).data
        self.seals[question["id"]] = question.get("seal")
        return question

    def resolved(self, id, seconds=EVENT_SECONDS):
        for one in self.seen:
            if one.type == RESOLVED and one.data["id"] == id:
                return one.data
        return self.wait_for(lambda one: one.type == RESOLVED and one.data["id"] == id,
                             seconds).data

    def proof_of(self, id, decision):
        return self.proof(f"answer\n{id}\n{decision}\n{self.seals.get(id)}")

    def respond(self, id, decision="once", **fields):
        if self.key and "proof" not in fields:
            fields["proof"] = self.proof_of(id, decision)
        return self.call("ovos.tools.approval.respond",
                         {"id": id, "decision": decision, **fields}, self.context)

    def pending(self):
        page = self.call("ovos.tools.approval.list")
        pending = page["pending"]
        while "next" in page:
            page = self.call("ovos.tools.approval.list", {"after": page["next"]})
            pending += page["pending"]
        return pending


@pytest.fixture
def place(tmp_path):
    return tmp_path / "touched"


@pytest.fixture
def folder(tmp_path):
    shell(tmp_path / "toolbox.d")
    return tmp_path / "toolbox.d"


@pytest.fixture
def start(launch, folder):
    """start(approval, …): a daemon with the tools of shell()."""
    return lambda approval=None, **options: launch(
        {"approval": approval or {}, **options.pop("configuration", {})}, [folder], **options)


def touch(caller, place, context=None, **fields):
    """Send a call of `touch`; its mark."""
    return caller.send(INVOKE, {"name": "touch", "args": {"file": str(place)}, **fields},
                       ALICE if context is None else context)


def answer_of(caller, mark):
    """The answer to a call, which may have come already."""
    for one in caller.seen:
        if one.type == INVOKE + ".response" and one.context.get("mark") == mark:
            return one.data
    return caller.answer_to(INVOKE, mark).data


@pytest.mark.parametrize("kind", ["embedded", "ovos-messagebus"])
def test_a_call_runs_once_a_person_approves(start, place, kind):
    service = start(kind=kind)
    with Caller(service.url) as caller, Person(service.url) as person:
        assert person.attach(30) == {"seconds": 30}
        mark = touch(caller, place)
        question = person.question()
        assert {key: question[key] for key in ("name", "toolbox_id", "risk", "args", "source")} == {
            "name": "touch", "toolbox_id": "shell", "risk": "execute", "args": {"file": str(place)},
            "source": "alice"}
        text = "touch:" + json.dumps({"file": str(place)}, separators=(",", ":"))
        assert question["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()[:16]
        assert 0 < question["expires_s"] <= 30 and "arguments_hidden" not in question
        assert "Touch a file." in question["question"] and str(place)[:8] in question["question"]
        assert [one["id"] for one in person.pending()] == [question["id"]]
        assert not place.exists()
        assert person.respond(question["id"]) == {"id": question["id"], "accepted": True,
                                                  "decision": "once"}
        assert caller.answer_to(INVOKE, mark).data["result"] == {"output": ""}
        assert place.exists() and person.pending() == []
        assert person.resolved(question["id"]) == {
            "id": question["id"], "decision": "once", "by": "console", "reason": None}


def test_the_caller_is_told_that_its_call_waits_for_a_person(start, place):
    """Without that it would see nothing until its own timeout."""
    service = start()
    with Person(service.url) as person, Caller(service.url) as caller:
        person.attach()
        mark = caller.send(INVOKE, {"name": "touch", "args": {"file": str(place)}, "call_id": "c1"}, ALICE)
        told = caller.wait_for(lambda message: message.type == "ovos.tools.call.progress")
        assert told.context == {**ALICE, "mark": mark, "destination": "alice"}
        assert (told.data["state"], told.data["call_id"], told.data["source"]) == ("waiting", "c1", "alice")
        assert "person" in told.data["text"]
        message_schemas.check(told.type, told.data)
        question = person.question()
        person.respond(question["id"], "deny")
        assert caller.answer_to(INVOKE, mark).data["code"] == "denied"


def test_a_denied_tool_has_no_effect(start, place):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        id = person.question()["id"]
        assert person.respond(id, "deny", reason="not \u202enow")["accepted"]
        answer = caller.answer_to(INVOKE, mark).data
        assert answer["code"] == "denied" and answer["approval_id"] == id
        assert answer["error"].startswith("PermissionError: ") and "not \u202enow" in answer["error"]
        assert person.resolved(id)["reason"] == "not \u202enow"
        mark = touch(caller, place)
        assert person.question()["id"] != id, "a denial is not remembered"
        assert not place.exists()


def test_without_an_answerer_it_is_denied_at_once(start, place):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        for _ in range(2):
            mark = touch(caller, place)
            answer = next(one.data for one in caller.settle() if one.context.get("mark") == mark
                          and one.type == INVOKE + ".response")
            assert answer["code"] == "denied"
            assert "toolboxctl approvals --watch" in answer["error"]
            assert "`toolboxctl allow shell/touch`" in answer["error"]
            assert "approval.allow" in answer["error"] and "approval_id" not in answer
            person.attach(5)
            assert person.attach(0) == {"seconds": 0}
        status = caller.call("ovos.tools.status")
        assert [one["hosts"] for one in status["toolboxes"]] == [0, 0], "no host was asked"
        assert status["approval"]["answerers"] == 0
        assert not [one for one in caller.settle() if one.type == REQUESTED]


def test_unknown_tools_and_bad_arguments_ask_nobody(start):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        assert caller.invoke("tuch", {})["code"] == "unknown_tool"
        assert caller.invoke("touch", {"file": 1})["code"] == "invalid_arguments"
        assert caller.invoke("touch", {})["code"] == "invalid_arguments"
        assert caller.invoke("look", {"file": "/"}).get("result")
        assert not [one for one in person.settle() if one.type == REQUESTED]


@pytest.mark.parametrize("toolbox_id, name", [("shell", "toString"), ("search", "find")])
def test_a_tool_is_what_it_declares_whatever_its_name(start, toolbox_id, name):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        assert caller.invoke(name, toolbox_id=toolbox_id)["code"] == "denied"
        person.attach()
        mark = caller.send(INVOKE, {"name": name, "toolbox_id": toolbox_id}, ALICE)
        question = person.question()
        assert question["risk"] == "execute"
        person.respond(question["id"])
        assert caller.answer_to(INVOKE, mark).data["result"] == {"output": "ran"}


def test_no_answer_in_time_is_a_no_and_a_late_answer_is_too_late(start, place):
    service = start({"timeout_ms": 300})
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        id = person.question()["id"]
        answer = caller.answer_to(INVOKE, mark).data
        assert answer["code"] == "denied" and "approval.timeout_ms" in answer["error"]
        assert person.resolved(id) == {"id": id, "decision": "expired", "by": "toolboxd",
                                       "reason": None}
        late = person.respond(id)
        assert late["accepted"] is False and "no such question" in late["error"]
        assert not place.exists()


def test_a_question_is_answered_once_and_by_its_own_id(start, place):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        marks = [touch(caller, place.with_suffix(".1")), touch(caller, place.with_suffix(".2"))]
        first, second = person.question()["id"], person.question()["id"]
        assert first != second
        assert person.respond("0" * 32)["accepted"] is False
        assert person.respond(first[:-1])["accepted"] is False
        assert person.respond(second)["accepted"] is True
        assert person.respond(second, "deny")["accepted"] is False
        assert caller.answer_to(INVOKE, marks[1]).data["result"]
        assert [one["id"] for one in person.pending()] == [first]
        assert not place.with_suffix(".1").exists()
        assert person.respond(first, "deny")["accepted"] is True


@pytest.mark.parametrize("fields, field", [
    ({"decision": "yes"}, "decision"), ({"decision": 1}, "decision"), ({}, "decision"),
    ({"id": 1, "decision": "once"}, "id"), ({"id": None, "decision": "once"}, "id"),
    ({"decision": "once", "reason": 1}, "reason"), ({"decision": "once", "proof": 1}, "proof"),
])
def test_malformed_answers(start, place, fields, field):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        touch(caller, place)
        id = person.question()["id"]
        answer = caller.call("ovos.tools.approval.respond", {"id": id, **fields})
        assert answer["code"] == "bad_request" and answer["field"] == field
        assert len(person.pending()) == 1
        for seconds in (-1, 301, 1.5, "1", None):
            answer = caller.call("ovos.tools.approval.attach", {"seconds": seconds})
            assert answer["code"] == "bad_request" and answer["field"] == "seconds"


def test_a_session_is_approved_for_its_tool_and_source_only(start, place):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        assert person.respond(person.question()["id"], "session")["decision"] == "session"
        assert caller.answer_to(INVOKE, mark).data["result"]
        mark = touch(caller, place)
        assert caller.answer_to(INVOKE, mark).data["result"], "not asked again"
        for context in ({**ALICE, "source": "bob"}, {"source": "alice"},
                        {**ALICE, "session": {"session_id": "s2"}}):
            mark = touch(caller, place, context)
            assert person.respond(person.question()["id"], "deny")["accepted"]
            assert caller.answer_to(INVOKE, mark).data["code"] == "denied"
        mark = caller.send(INVOKE, {"name": "toString"}, ALICE)
        assert person.respond(person.question()["id"], "deny")["accepted"], "another tool asks"


def test_a_session_is_that_of_its_connection(start, place):
    """Anyone can copy a source and a session_id, which are broadcast."""
    service = start()
    with Caller(service.url) as caller, Caller(service.url) as copies, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        assert person.respond(person.question()["id"], "session")["decision"] == "session"
        assert caller.answer_to(INVOKE, mark).data["result"]
        mark = touch(copies, "/etc/shadow")
        assert person.respond(person.question()["id"], "deny")["accepted"]
        assert copies.answer_to(INVOKE, mark).data["code"] == "denied"
        assert caller.answer_to(INVOKE, touch(caller, place)).data["result"], "not asked again"


@pytest.mark.parametrize("has_key", [False, True])
def test_on_a_bus_of_others_a_session_is_only_a_name(start, place, key_file, has_key):
    """Everybody can have it: with a key, which says that not everybody may approve calls, it is approved once."""
    service = start({"key_file": str(key_file)} if has_key else {}, kind="ovos-messagebus")
    with Caller(service.url) as caller, Person(service.url, key=KEY if has_key else None) as person:
        person.attach()
        mark = touch(caller, place)
        decision = person.respond(person.question()["id"], "session")["decision"]
        assert decision == ("once" if has_key else "session")
        assert caller.answer_to(INVOKE, mark).data["result"]
        mark = touch(caller, place)
        if has_key:
            assert person.respond(person.question()["id"], "deny")["accepted"]
        assert ("result" in caller.answer_to(INVOKE, mark).data) is not has_key


@pytest.mark.parametrize("context", [{"source": "alice"}, {"session": {"session_id": "s1"}}, {}])
def test_a_session_without_a_name_is_approved_once(start, place, context):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        touch(caller, place, context)
        assert person.respond(person.question()["id"], "session")["decision"] == "once"
        touch(caller, place, context)
        assert person.question()


def test_only_some_sources_may_answer(start, place):
    service = start({"answer_sources": ["console-*"]})
    with Caller(service.url) as caller, Person(service.url, "phone") as phone, \
            Person(service.url, "console-1") as console:
        refused = phone.attach()
        assert refused["seconds"] == 0 and refused["code"] == "denied"
        assert caller.call("ovos.tools.approval.attach", {"seconds": 9})["code"] == "denied"
        assert caller.call(INVOKE, {"name": "touch", "args": {"file": "x"}})["code"] == "denied"
        assert console.attach(20) == {"seconds": 20}
        mark = touch(caller, place)
        id = console.question()["id"]
        assert phone.respond(id)["accepted"] is False
        assert not place.exists()
        assert console.respond(id)["accepted"] is True
        assert caller.answer_to(INVOKE, mark).data["result"]


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "approval.key"
    path.write_text(KEY.hex() + "\n")
    path.chmod(0o600)
    return path


def test_with_a_key_only_a_proof_counts(start, place, key_file):
    service = start({"key_file": str(key_file)})
    with Caller(service.url) as caller, Person(service.url, key=KEY) as person, \
            Person(service.url, key=bytes(32)) as forger:
        assert forger.attach()["code"] == "denied"
        assert caller.call(INVOKE, {"name": "touch", "args": {"file": "x"}})["code"] == "denied"
        assert person.attach(30) == {"seconds": 30}
        mark = touch(caller, place)
        id = person.question()["id"]
        assert person.respond(id, proof=None)["accepted"] is False
        assert person.respond(id, proof="")["accepted"] is False
        assert forger.respond(id)["accepted"] is False
        seal = person.seals[id]
        for text in (f"{id}\nonce", f"answer\n{id}\nonce", f"answer\n{id}\nsession\n{seal}",
                     f"answer\n{id}\nonce\n{seal}\n", f"answer\n{id}\nonce\n{'0' * 64}",
                     f"question\n{id}\nonce\n{seal}", f"attach\n{id}\nonce\n{seal}"):
            assert person.respond(id, proof=person.proof(text))["accepted"] is False, text
        assert person.respond(id, proof=person.proof_of(id, "once").upper())["accepted"] is False
        assert not place.exists() and len(person.pending()) == 1
        assert person.respond(id)["accepted"] is True
        assert caller.answer_to(INVOKE, mark).data["result"]


def test_with_a_key_questions_and_their_ends_have_a_seal(start, place, key_file):
    service = start({"key_file": str(key_file), "timeout_ms": 60000})
    with Caller(service.url) as caller, Person(service.url, key=KEY) as person:
        person.attach()
        touch(caller, place, {"source": "\u00e4\u202e\n", "session": {"session_id": "s"}})
        question = person.question()
        assert question["seal"] == seal_of(KEY, "question", question)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", question["expires"])
        [listed] = person.pending()
        assert {**listed, "expires_s": 0} == {**question, "expires_s": 0}
        assert person.respond(question["id"], "deny", reason="no")["accepted"]
        end = person.resolved(question["id"])
        assert end["seal"] == seal_of(KEY, "resolved", end)


def test_an_answer_to_other_words_does_not_count(start, place, key_file):
    """A person who was shown another question under the id of a true one lets nothing run."""
    service = start({"key_file": str(key_file)})
    with Caller(service.url) as caller, Person(service.url, key=KEY) as person:
        person.attach()
        touch(caller, place)
        question = person.question()
        forged = {**question, "args": {"file": "/harmless"}}
        for seal in (seal_of(bytes(32), "question", forged), seal_of(KEY, "resolved", question)):
            person.seals[question["id"]] = seal
            assert person.respond(question["id"])["accepted"] is False
        assert not place.exists() and len(person.pending()) == 1


def test_a_proof_is_of_no_use_a_second_time(start, place, key_file):
    service = start({"key_file": str(key_file)})
    with Caller(service.url) as caller, Person(service.url, key=KEY) as person:
        topic = "ovos.tools.approval.attach"
        nonce = person.call(topic, {"seconds": 1}, person.context)
        assert set(nonce) == {"seconds", "nonce"} and nonce["seconds"] == 0
        proof = person.proof(f"attach\n60\n{nonce['nonce']}")
        assert caller.call(topic, {"seconds": 61, "proof": proof})["code"] == "denied"
        assert person.call(topic, {"seconds": 60, "proof": proof}, person.context) == {"seconds": 60}
        assert caller.call(topic, {"seconds": 60, "proof": proof})["code"] == "denied"
        assert person.call(topic, {"seconds": 1})["nonce"] != nonce["nonce"]
        touch(caller, place)
        first = person.question()["id"]
        used = person.proof_of(first, "once")
        assert person.respond(first, proof=used)["accepted"]
        touch(caller, place.with_suffix(".2"))
        second = person.question()["id"]
        for id in (first, second):
            assert caller.call("ovos.tools.approval.respond",
                               {"id": id, "decision": "once", "proof": used})["accepted"] is False
        assert not place.with_suffix(".2").exists()


@pytest.mark.parametrize("harm", ["missing", "group", "text"])
def test_a_key_that_cannot_be_used_lets_nobody_answer(start, place, key_file, harm):
    if harm == "missing":
        key_file.unlink()
    elif harm == "group":
        key_file.chmod(0o640)
    else:
        key_file.write_text("secret\n")
    service = start({"key_file": str(key_file)})
    with Caller(service.url) as caller, Person(service.url, key=KEY) as person:
        assert person.attach()["code"] == "denied"
        answer = caller.call(INVOKE, {"name": "touch", "args": {"file": str(place)}}, ALICE)
        assert answer["code"] == "denied" and "approval.key_file" in answer["error"]
        status = caller.call("ovos.tools.status")["approval"]
        assert status["key"] == "unusable" and status["why"]
        assert caller.invoke("look", {"file": "/"}).get("result"), "the rest goes on"
    assert "key_file" in service.daemon.log()


def test_secrets_are_not_shown(start):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        caller.send(INVOKE, {"name": "login", "args": {"password": "hunter2"}}, ALICE)
        message = person.wait_for(lambda one: one.type == REQUESTED)
        assert message.data["args"] == {"password": "***", "user": "root"}
        assert message.data["arguments_hidden"] is True
        assert "hunter2" not in message.text
        plain = 'login:{"password":"***","user":"root"}'
        assert message.data["fingerprint"] != hashlib.sha256(plain.encode()).hexdigest()[:16]
        assert "hunter2" not in json.dumps(person.pending())
        caller.send(INVOKE, {"name": "login", "args": {"password": "hunter3"}}, ALICE)
        assert person.question()["fingerprint"] == message.data["fingerprint"]


def test_a_question_is_text_that_no_terminal_obeys(start):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        file = "\x1b[2J\u202e" + "x" * 1000
        caller.send(INVOKE, {"name": "touch", "args": {"file": file}}, ALICE)
        question = person.question()
        assert question["args"] == {"file": file}
        assert len(question["question"]) <= 300
        assert all(char.isprintable() for char in question["question"])


def test_an_approved_call_has_its_whole_deadline(start, folder, place, times):
    """Asking and running take longer together than the deadline, and with --long asking alone does."""
    command = {"argv": ["/bin/sh", "-c", 'sleep "$1"; touch "$2"', "run", "{seconds}", "{file}"]}
    shell(folder, command=command, timeout_ms=120000, argument_schema={"type": "object", "properties": {
        "file": {"type": "string"}, "seconds": {"type": "number"}}})
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        # On a machine that takes longer than a second to start the command, with longer times.
        for slowness in 1, 4, 16:
            deadline, asked, run = (
                seconds * SLOWNESS for seconds in (3 * slowness, max(slowness + 1, times(2, 10)), 2 * slowness))
            mark = caller.send(INVOKE, {"name": "touch", "args": {"file": str(place), "seconds": run},
                                        "timeout_ms": int(deadline * 1000)}, ALICE)
            id = person.question()["id"]
            answered = time.monotonic() + asked
            while time.monotonic() < answered:
                time.sleep(0.5)
                for one in caller, person:  # who answers no ping is disconnected
                    one.call("mycroft.toolboxd.is_alive")
            person.respond(id)
            answer = answer_of(caller, mark)
            if answer.get("code") != "timeout":
                break
        assert answer.get("result") == {"output": ""}, answer
    assert place.exists()


def test_a_cancelled_call_is_not_asked_about_any_more(start, place):
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place, call_id="c1")
        id = person.question()["id"]
        assert caller.call("ovos.tools.status")["calls"]["in_flight"] == 1
        assert caller.call("ovos.tools.cancel", {"call_id": "c1"}, ALICE)["cancelled"] is True
        assert answer_of(caller, mark)["code"] == "cancelled"
        assert person.resolved(id)["decision"] == "cancelled"
        assert person.respond(id)["accepted"] is False
        assert caller.call("ovos.tools.status")["calls"]["in_flight"] == 0


def test_a_caller_that_leaves_withdraws_its_question(start, place):
    service = start()
    with Person(service.url) as person:
        person.attach()
        with Caller(service.url) as caller, Caller(service.url) as other:
            touch(caller, place)
            id = person.question()["id"]
            touch(other, place.with_suffix(".2"))
            left = person.question()["id"]
            caller.close()
            assert person.resolved(id) == {"id": id, "decision": "withdrawn", "by": "toolboxd",
                                           "reason": None}
            assert [one["id"] for one in person.pending()] == [left]
        assert person.resolved(left)["decision"] == "withdrawn"
        assert person.respond(id)["accepted"] is False and not place.exists()


def test_a_caller_over_http_that_leaves_withdraws_its_question(start, place):
    service = start(args=["--http", "127.0.0.1:0"])
    body = json.dumps({"file": str(place)}).encode()
    with Person(service.url) as person, Raw(port_of(service.daemon)) as raw:
        person.attach()
        raw.send(b"POST /v1/tools/touch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        id = person.question()["id"]
        raw.socket.close()
        assert person.resolved(id) == {"id": id, "decision": "withdrawn", "by": "toolboxd", "reason": None}
        assert person.respond(id)["accepted"] is False and not place.exists()


def test_more_questions_than_allowed_are_refused(start, place):
    service = start(configuration={"limits": {"pending_approvals": 8}})
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        for _ in range(2):
            touch(caller, place)
            id = person.question()["id"]
        answer = caller.call(INVOKE, {"name": "touch", "args": {"file": "x"}}, ALICE)
        assert answer["code"] == "busy" and "pending_approvals" in answer["error"]
        person.respond(id, "deny")
        touch(caller, place)
        assert person.question()


def test_questions_of_one_client_leave_room_for_others(start, place):
    """Whatever sources it makes up, and whatever it opens over HTTP."""
    service = start(configuration={"limits": {"pending_approvals": 8}}, args=["--http", "127.0.0.1:0"])
    with Caller(service.url) as evil, Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        marks = [touch(evil, place, {"source": f"evil-{i}", "session": {"session_id": "s"}}) for i in range(12)]
        assert "(limits.pending_approvals)" in answer_of(evil, marks[-1])["error"]
        assert len(person.pending()) == 4, "half of them"
        mark = touch(caller, place)
        id = person.wait_for(lambda one: one.type == REQUESTED and one.data["source"] == "alice").data["id"]
        assert person.respond(id)["accepted"] and answer_of(caller, mark)["result"]
        connections = [Raw(port_of(service.daemon)) for _ in range(5)]
        for i, raw in enumerate(connections):
            body = json.dumps({"file": str(place)}).encode()
            raw.send(b"POST /v1/tools/touch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            if i < 2:
                person.wait_for(lambda one: one.type == REQUESTED and one.data["source"] == "http:127.0.0.1")
            else:
                assert b" 429 " in raw.read_until(b"\r\n")
        touch(caller, place)
        assert person.wait_for(lambda one: one.type == REQUESTED and one.data["source"] == "alice")


def test_questions_of_any_size_are_listed_page_by_page(start):
    service = start(configuration={"limits": {"frame_bytes": 1 << 20, "args_bytes": 200000}})
    with Caller(service.url) as caller, Caller(service.url) as other, Person(service.url) as person:
        person.attach()
        for i in range(6):
            (caller, other)[i % 2].send(INVOKE, {"name": "touch", "args": {"file": f"{i}", "note": "x" * 190000}},
                                        {"source": f"a{i}"})
            person.question()
        first = person.call("ovos.tools.approval.list")
        assert 1 <= len(first["pending"]) < 6 and first["next"] > 0
        assert [one["args"]["file"][0] for one in person.pending()] == list("012345")
        assert person.respond(first["pending"][-1]["id"], "deny")["accepted"]
        rest = person.call("ovos.tools.approval.list", {"after": first["next"]})
        assert rest["pending"][0]["args"]["file"][0] == str(len(first["pending"]))
        assert person.call("ovos.tools.approval.list", {"after": 1 << 40}) == {"pending": []}
        for after in (-1, "1", 1.5, True):
            assert person.call("ovos.tools.approval.list", {"after": after})["field"] == "after"


def test_sources_that_one_client_attaches_leave_room_for_others(start):
    service = start()
    with Caller(service.url) as evil, Person(service.url) as person:
        for i in range(70):
            assert evil.call("ovos.tools.approval.attach", {"seconds": 60}, {"source": f"evil-{i}"})["seconds"] == 60
        assert person.attach(60) == {"seconds": 60}
        # Nor can it detach another one, by its source.
        assert evil.call("ovos.tools.approval.attach", {"seconds": 0}, person.context) == {"seconds": 0}
        assert evil.call("ovos.tools.status")["approval"]["answerers"] == 33
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["approval"]["answerers"] == 0, "they left with their connections"


# ── what happens meanwhile ───────────────────────────────────────────────────────────────────────

def reload(caller):
    assert "loaded" in caller.call("ovos.tools.reload")


def answer_after(service, place, change, decision="once"):
    """Ask, change something, answer. The call's answer, and how its question was resolved."""
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        id = person.question()["id"]
        change(caller)
        given = person.respond(id, decision)
        return answer_of(caller, mark), person.resolved(id), given


def test_a_reload_meanwhile_changes_nothing(start, place):
    service = start()
    answer, resolved, given = answer_after(service, place, reload)
    assert answer["result"] == {"output": ""} and resolved["decision"] == "once"
    assert given["accepted"] and place.exists()


def test_a_tool_that_was_loaded_again_the_same_runs(start, place, folder):
    service = start()

    def change(caller):
        text = (folder / "shell.json").read_text()
        (folder / "shell.json").write_text(text.replace('"Look."', '"Look there."'))
        reload(caller)

    answer, resolved, given = answer_after(service, place, change)
    assert answer.get("result") == {"output": ""} and given["accepted"] and place.exists()


def test_a_tool_that_is_gone_meanwhile_is_unknown(start, place, folder):
    service = start()

    def change(caller):
        (folder / "shell.json").unlink()
        reload(caller)

    answer, resolved, given = answer_after(service, place, change)
    assert answer["code"] == "unknown_tool" and not place.exists()


def test_a_tool_that_was_changed_meanwhile_is_denied(start, place, folder):
    service = start()

    def change(caller):
        shell(folder, description="Format the disk.")
        reload(caller)

    answer, resolved, given = answer_after(service, place, change)
    assert answer["code"] == "denied" and answer["approval_id"] == resolved["id"]
    assert "changed" in answer["error"] and not place.exists()
    assert resolved["reason"] == "changed" and resolved["by"] == "toolboxd"
    assert given["accepted"] is False


@pytest.mark.parametrize("command", [
    {"argv": ["/bin/rm", "-f", "{file}"]},
    {"argv": ["/usr/bin/touch", "{file}"], "env": {"LD_PRELOAD": "/tmp/other.so"}},
    {"argv": ["/usr/bin/touch", "{file}"], "cwd": "/usr"},
])
@pytest.mark.parametrize("decision", ["once", "session"])
def test_another_way_to_run_by_the_same_definition_needs_another_answer(
        start, place, folder, command, decision):
    """Whoever may write the manifest does not inherit the answers that were about it."""
    service = start()
    with Person(service.url) as person, Caller(service.url) as caller:
        person.attach()
        if decision == "session":
            mark = touch(caller, place)
            assert person.respond(person.question()["id"], "session")["accepted"] is True
            assert answer_of(caller, mark)["result"]
        mark = None if decision == "session" else touch(caller, place)
        question = None if decision == "session" else person.question()
        shell(folder, command=command)
        reload(caller)
        assert "shell/touch changed" in service.daemon.log() \
            or "shell changed" in service.daemon.log()
        if decision == "session":
            touch(caller, place)
            assert person.question()["name"] == "touch"
        else:
            assert person.respond(question["id"])["accepted"] is False
            assert answer_of(caller, mark)["code"] == "denied" and not place.exists()


def test_a_script_that_was_changed_meanwhile_is_not_run(start, place, folder):
    """Before its change is loaded, too."""
    script = folder / "box" / "tidy.sh"

    def write(text):
        fresh = folder / ".new"
        fresh.write_text(f"#!/bin/sh\n# description: Tidy.\n# risk: execute\n{text}\n")
        fresh.chmod(0o755)
        fresh.rename(script)

    script.parent.mkdir()
    write("echo looks")
    service = start()
    with Person(service.url) as person, Caller(service.url) as caller:
        person.attach()
        mark = caller.send(INVOKE, {"name": "tidy", "args": {}}, ALICE)
        question = person.question()
        write(f"touch {place}")
        assert person.respond(question["id"], "session")["accepted"] is False
        answer = answer_of(caller, mark)
        assert answer["code"] == "denied" and "changed" in answer["error"], answer
        mark = caller.send(INVOKE, {"name": "tidy", "args": {}}, ALICE)
        person.respond(person.question()["id"], "session")
        assert answer_of(caller, mark)["result"] and place.exists()
        place.unlink()
        write(f"touch {place}; echo more")
        caller.send(INVOKE, {"name": "tidy", "args": {}}, ALICE)
        assert person.question()["name"] == "tidy" and not place.exists()


def test_arguments_that_no_longer_fit_are_invalid(start, place, folder):
    service = start()

    def change(caller):
        shell(folder, argument_schema={"type": "object", "properties": {
            "file": {"type": "string", "maxLength": 1}}})
        reload(caller)

    answer, resolved, given = answer_after(service, place, change)
    assert answer["code"] == "invalid_arguments" and not place.exists()
    assert resolved["reason"] == "changed"


def test_a_filter_that_was_set_meanwhile_holds(start, place, tmp_path):
    service = start()

    def change(caller):
        write_configuration(tmp_path / "home-0" / "toolboxd",
                            {"toolboxd": {"tools_disabled": ["touch"]}})
        reload(caller)

    answer, resolved, given = answer_after(service, place, change)
    assert answer["code"] == "unknown_tool" and not place.exists()


def test_a_cooldown_that_began_meanwhile_holds(start, place, folder):
    shell(folder, cooldown_s=60)
    service = start()
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        marks = [touch(caller, place), touch(caller, place)]
        ids = [person.question()["id"], person.question()["id"]]
        person.respond(ids[0])
        assert caller.answer_to(INVOKE, marks[0]).data["result"]
        person.respond(ids[1])
        assert caller.answer_to(INVOKE, marks[1]).data["code"] == "cooldown"


def test_a_stop_meanwhile_makes_the_call_unavailable(start, place):
    service = start(kind="ovos-messagebus")
    with Caller(service.url) as caller, Person(service.url) as person:
        person.attach()
        mark = touch(caller, place)
        id = person.question()["id"]
        service.daemon.process.terminate()
        assert caller.answer_to(INVOKE, mark).data["code"] == "unavailable"
        assert person.resolved(id)["decision"] == "cancelled"
        assert not place.exists()


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_question_does_not_outlive_its_daemon(start, place, key_file, is_killed):
    """Nor does its proof count for the next one, which knows neither the question nor who was there."""
    approval = {"key_file": str(key_file), "timeout_ms": 60000}
    before = start(approval)
    with Caller(before.url) as caller, Person(before.url, key=KEY) as person:
        person.attach()
        touch(caller, place)
        id = person.question()["id"]
    if is_killed:
        before.daemon.kill()
        before.daemon.has_ended = True
    else:
        before.daemon.end()
    after = start(approval)
    with Caller(after.url) as caller, Person(after.url, key=KEY) as person:
        assert person.pending() == [] and person.respond(id)["accepted"] is False
        assert caller.call(INVOKE, {"name": "touch", "args": {"file": str(place)}})["code"] == "denied"
        person.attach()
        mark = touch(caller, place)
        new = person.question()["id"]
        assert new != id and person.respond(id)["accepted"] is False and not place.exists()
        assert person.respond(new)["accepted"] is True
        assert answer_of(caller, mark)["result"]
