# SPDX-License-Identifier: Apache-2.0
"""toolboxes/plan: one plan for each session. The arguments are those of memo-code's own documents, and so is the shape of
the answers."""
import hashlib
import json

import pytest
from caller import Caller, Lasting
from conftest import Service
from http_peer import Http, port_of
from processes import BUILD

FOLDER = BUILD / "toolboxes" / "plan.d"
STEPS = [{"step": "Read the code", "status": "completed"}, {"step": "Mend \u201cit\u201d\n", "status": "in_progress"},
         {"step": "Run the tests", "status": "pending"}]


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    with Service("embedded", tmp_path_factory.mktemp("plan"), [FOLDER]) as service, Lasting(service.url) as caller:
        caller.service = service
        yield caller


def update(caller, session=None, **args):
    context = {} if session is None else {"session": {"session_id": session}}
    return caller.call("ovos.tools.invoke", {"name": "update_plan", "args": args}, context)


def test_a_plan_is_answered_as_memo_answers_it(plans):
    result = update(plans, "memo", explanation="Two done", plan=STEPS)["result"]
    [block] = result["content"]
    assert block == {"type": "text", "text": json.dumps(
        {"message": "Plan updated", "explanation": "Two done", "plan": STEPS}, indent=2, ensure_ascii=False)}
    assert result["structured"] == json.loads(block["text"])


def test_each_session_has_its_plan(plans):
    nothing = update(plans, "new")["result"]["structured"]
    assert nothing == {"message": "No plan yet: call update_plan with one", "plan": []}
    update(plans, "one", plan=STEPS[:1])
    update(plans, "two", explanation="why", plan=STEPS[1:])
    shown = update(plans, "two")["result"]
    assert shown["structured"] == {"message": "The plan of this session", "explanation": "why", "plan": STEPS[1:]}
    assert json.loads(shown["content"][0]["text"]) == shown["structured"]
    assert update(plans, "one")["result"]["structured"] == {"message": "The plan of this session", "plan": STEPS[:1]}
    # Without a session it is the default one of OVOS.
    update(plans, plan=STEPS)
    assert update(plans, "default")["result"]["structured"]["plan"] == STEPS


def test_any_number_of_steps_is_kept_up_to_64_kib(plans):
    many = [{"step": str(i), "status": "pending"} for i in range(900)]
    answer = update(plans, "many", plan=many)
    assert answer["result"]["structured"]["plan"] == many and "truncated" not in answer["result"]
    answer = update(plans, "many", plan=[{"step": "x" * 70000, "status": "pending"}])
    [violation] = answer["violations"]
    assert violation["path"] == "/plan" and "at most 65536 bytes" in violation["message"]
    assert update(plans, "many")["result"]["structured"]["plan"] == many


def test_two_steps_in_progress_change_nothing(plans):
    update(plans, "busy", plan=STEPS)
    answer = update(plans, "busy", plan=[{**step, "status": "in_progress"} for step in STEPS])
    assert answer["code"] == "invalid_arguments"
    assert answer["violations"][0]["message"] == "At most one step can be in_progress at a time"
    [violation] = update(plans, "busy", explanation="alone")["violations"]
    assert violation == {"path": "/explanation", "message": "needs a plan: pass plan, too", **violation}
    assert update(plans, "busy")["result"]["structured"]["plan"] == STEPS


def test_a_session_over_http_is_the_callers_own(tmp_path):
    tokens = {name: name * 16 for name in ("a", "b")}
    listed = [{"name": name, "token_sha256": hashlib.sha256(token.encode()).hexdigest()} for name, token in tokens.items()]

    def ask(http, name, **args):
        headers = {"Authorization": f"Bearer {tokens[name]}", "Session-Id": "one"}
        return http.post("/v1/tools/update_plan", args, **headers).json["result"]["structured"]["plan"]

    with Service("embedded", tmp_path, [FOLDER], args=["--http", "127.0.0.1:0"],
                 configuration={"http": {"tokens": listed}}) as service, \
            Caller(service.url) as caller, Http(port_of(service.daemon)) as http:
        assert ask(http, "a", plan=STEPS) == STEPS
        assert ask(http, "b") == [] == update(caller, "one")["result"]["structured"]["plan"]
        update(caller, "one", plan=STEPS[:1])
        assert ask(http, "a") == STEPS and ask(http, "b") == []
        # On the bus nobody is anybody.
        for source in ("x", "http:a"):
            shown = caller.call("ovos.tools.invoke", {"name": "update_plan"},
                                {"source": source, "session": {"session_id": "one"}})
            assert shown["result"]["structured"]["plan"] == STEPS[:1]


def test_it_reads_and_so_asks_nobody(plans):
    definition = plans.call("ovos.tools.get", {"name": "update_plan"})
    assert definition["risk"] == "read" and definition["title"] == "Plan"
