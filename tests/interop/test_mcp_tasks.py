# SPDX-License-Identifier: Apache-2.0
"""Tasks of MCP 2026-07-28 (docs/contract.md, MCP, Tasks): jobs by the door of MCP, over HTTP and stdio."""
import contextlib
import json
import re
import subprocess

import pytest
from caller import Caller
from http_peer import Http, Raw, port_of
from processes import EVENT_SECONDS, SLOWNESS, environment, until
from test_approval import Person
from test_mcp_clients import INSTALLED, INTEROP, NODE, base, needs
from test_mcp_http import META, Client
from test_mcp_stdio import SUBSCRIPTION, Server

EXTENSION = "io.modelcontextprotocol/tasks"
DECLARED = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}}}
REQUIRED = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
ACKNOWLEDGED, CHANGED = "notifications/subscriptions/acknowledged", "notifications/tasks"
NO_TASK = "0" * 32
SCHEMA = {"type": "object", "properties": {
    "seconds": {"type": "number", "default": 0}, "fail": {"type": "integer", "default": 0}}}
SCRIPT = 'echo "{\\"progress\\": 0.5, \\"text\\": \\"half\\"}" >&3; sleep "$0"; echo done; exit "$1"'
WORK = {"argv": ["sh", "-c", SCRIPT, "{seconds}", "{fail}"]}
RICH = {"argv": ["printf", "%s", json.dumps({"content": [{"type": "text", "text": "a block"}]})], "output": "content"}


def toolbox(folder, **more):
    folder.mkdir(parents=True, exist_ok=True)
    tools = [("work", {"task": "optional"}), ("must", {"task": "required"}), ("long", {"timeout_ms": 30001}),
             ("never", {"timeout_ms": 60000, "task": "forbidden"}), ("short", {"timeout_ms": 30000}),
             ("burn", {"task": "optional", "risk": "execute"}), ("rich", {"task": "optional", "command": RICH})]
    (folder / "box.json").write_text(json.dumps({"kind": "command", "risk": "read", "limits": {"workers": 4}, **more, "tools": [
        {"name": name, "description": f"The tool {name}.", "argument_schema": SCHEMA, "command": WORK, **keys}
        for name, keys in tools]}))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("tasks")
    toolbox(home / "toolbox.d")
    one = Service("embedded", home, [home / "toolbox.d"], args=["--http", "127.0.0.1:0"], configuration={
        "approval": {"timeout_ms": int(20000 * SLOWNESS)}, "http": {"mcp_names": "bare"}})
    one.home = home
    with one:
        yield one


def events(raw):
    """The messages of a stream; one read may have several."""
    seen, data = 0, b""
    while True:
        data += raw.read_until(b"\n\n")
        lines = re.findall(rb"data: (.*)\n\n", data)
        for line in lines[seen:]:
            yield json.loads(line)
        seen = len(lines)


class OverHttp(Client):
    def __init__(self, port):
        super().__init__(port, "modern")

    def ask(self, method, params, meta=DECLARED):
        name = {"Mcp-Name": params["taskId"]} if "taskId" in params else {}
        return self.send(method, {**params, "_meta": meta}, **name).json

    @contextlib.contextmanager
    def listen(self, ids):
        """The function that returns the next message of a subscription, and its id."""
        with Raw(self.http.connection.port) as raw:
            raw.send(self.raw("subscriptions/listen", {"notifications": {"taskIds": ids}, "_meta": DECLARED}))
            messages = events(raw)
            yield lambda: next(messages), self.number


class OverStdio(Server):
    def ask(self, method, params, meta=DECLARED):
        return super().ask(method, {**params, "_meta": meta})

    @contextlib.contextmanager
    def listen(self, ids):
        id = self.begin("subscriptions/listen", {"notifications": {"taskIds": ids}, "_meta": DECLARED})
        yield lambda: self.wait(lambda one: one.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == id), id


@pytest.fixture(params=["http", "stdio"])
def client(request, started, tmp_path):
    with OverHttp(port_of(started.daemon)) if request.param == "http" else \
            OverStdio(tmp_path, "--bare", bus=started.url) as one:
        yield one


def call(client, name="work", meta=DECLARED, **args):
    return client.ask("tools/call", {"name": name, "arguments": args}, meta)


def begin(client, name="work", **args):
    result = call(client, name, **args)["result"]
    assert result["resultType"] == "task", result
    return result["taskId"]


def get(client, id):
    answer = client.ask("tasks/get", {"taskId": id})
    return answer.get("result") or pytest.fail(str(answer))


def ended(client, id):
    until(lambda: get(client, id)["status"] != "working", EVENT_SECONDS, "the end of the task")
    return get(client, id)


def test_a_server_says_that_it_has_tasks(client):
    assert client.ask("server/discover", {})["result"]["capabilities"]["extensions"] == {EXTENSION: {}}


def test_a_call_becomes_a_task(client):
    created = call(client, seconds=0.3)["result"]
    assert created["resultType"] == "task" and created["status"] == "working" and "result" not in created
    assert re.fullmatch(r"[0-9a-f]{32}", created["taskId"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created["createdAt"])
    assert created["ttlMs"] >= 24 * 3600 * 1000 and created["pollIntervalMs"] > 0
    task = ended(client, created["taskId"])
    assert (task["resultType"], task["status"], task["createdAt"]) == ("complete", "completed", created["createdAt"])
    assert task["lastUpdatedAt"] > task["createdAt"] and task["ttlMs"] >= created["ttlMs"]
    assert task["result"]["structuredContent"]["output"].strip() == "done" and task["result"]["isError"] is False
    assert get(client, created["taskId"]) == task


def test_what_it_reports_is_its_status_message(client):
    id = begin(client, seconds=60)
    until(lambda: get(client, id).get("statusMessage") == "half", EVENT_SECONDS, "its words of progress")
    task = get(client, id)
    assert task["status"] == "working" and task["lastUpdatedAt"] >= task["createdAt"]
    assert client.ask("tasks/cancel", {"taskId": id})["result"].keys() <= {"resultType", "_meta"}


def test_a_failure_of_the_tool_is_a_result(client):
    task = ended(client, begin(client, fail=3))
    assert task["status"] == "completed" and task["result"]["isError"] is True
    assert "exit" in task["result"]["content"][0]["text"]


def test_rich_content_is_the_content_of_the_result(client):
    assert ended(client, begin(client, "rich"))["result"]["content"] == [{"type": "text", "text": "a block"}]


@pytest.mark.parametrize("name, declared, is_task", [
    ("long", True, True), ("short", True, False), ("never", True, False), ("must", True, True), ("long", False, False),
    ("work", False, False)])
def test_which_calls_are_tasks(client, name, declared, is_task):
    """Those of tools with more than 30 s, unless the manifest says otherwise, for clients that know tasks."""
    result = call(client, name, meta=DECLARED if declared else META)["result"]
    assert result["resultType"] == ("task" if is_task else "complete") and ("content" in result) != is_task
    if is_task:
        assert ended(client, result["taskId"])["status"] == "completed"


@pytest.mark.parametrize("method, params", [
    ("tools/call", {"name": "must"}), ("tasks/get", {"taskId": NO_TASK}), ("tasks/cancel", {"taskId": NO_TASK}),
    ("tasks/update", {"taskId": NO_TASK, "inputResponses": {}}),
    ("subscriptions/listen", {"notifications": {"taskIds": [NO_TASK]}})])
def test_a_client_that_does_not_know_tasks_is_refused(client, method, params):
    error = client.ask(method, params, META)["error"]
    assert (error["code"], error["data"]) == (-32021, REQUIRED)


@pytest.mark.parametrize("method, params, words", [
    ("tasks/get", {"taskId": NO_TASK}, "Unknown job"), ("tasks/cancel", {"taskId": NO_TASK}, "Unknown job"),
    ("tasks/update", {"taskId": NO_TASK, "inputResponses": {}}, "Unknown job"), ("tasks/get", {}, "params.taskId"),
    ("tasks/get", {"taskId": 7}, "params.taskId"), ("tasks/update", {"taskId": NO_TASK}, "params.inputResponses"),
    ("subscriptions/listen", {"notifications": {"taskIds": [7]}}, "strings"),
    ("subscriptions/listen", {"notifications": {"taskIds": [NO_TASK] * 33}}, "at most 32")])
def test_what_is_wrong_is_refused(client, method, params, words):
    name = {"Mcp-Name": str(params["taskId"])} if "taskId" in params else {}
    params = {**params, "_meta": DECLARED}
    answer = client.send(method, params, **name).json if isinstance(client, OverHttp) else Server.ask(client, method, params)
    assert answer["error"]["code"] == -32602 and words in answer["error"]["message"], answer


def test_what_is_refused_is_no_task(client):
    assert call(client, seconds="x")["result"]["isError"] is True
    assert call(client, "nothing")["error"]["code"] == -32602


def test_a_cancelled_task(client):
    id = begin(client, seconds=60)
    client.ask("tasks/cancel", {"taskId": id})
    task = ended(client, id)
    assert task["status"] == "cancelled" and "cancelled" in task["statusMessage"] and "result" not in task
    assert "result" in client.ask("tasks/cancel", {"taskId": id}), "once more does nothing"
    assert get(client, id) == task


def test_an_answer_to_no_question_is_ignored(client):
    id = begin(client, seconds=60)
    assert "result" in client.ask("tasks/update", {"taskId": id, "inputResponses": {"x": {"action": "accept"}}})
    assert get(client, id)["status"] == "working"
    client.ask("tasks/cancel", {"taskId": id})


def test_listeners_are_notified_of_its_end_once(client):
    first = begin(client, seconds=0.5)
    with client.listen([first, NO_TASK, "x"]) as (receive, number):
        message = receive()
        assert message["method"] == ACKNOWLEDGED and message["params"]["notifications"] == {"taskIds": [first]}
        message = receive()
        while message["params"]["status"] == "working":
            assert message["method"] == CHANGED
            message = receive()
        meta = message["params"].pop("_meta")
        task = get(client, first)
        assert task.pop("resultType") == "complete" and meta == {SUBSCRIPTION: number}
        task.pop("_meta")
        assert message["params"] == task and task["status"] == "completed"
        second = begin(client, seconds=0)
        ended(client, second)
    with client.listen([second]) as (receive, _):
        assert receive()["method"] == ACKNOWLEDGED
        assert receive()["params"]["status"] == "completed", "one that has ended is shown at once"


def test_a_task_that_waits_for_a_person_works(started, client):
    with Person(started.url) as person:
        person.attach()
        id = begin(client, "burn", seconds=0)
        until(lambda: "approv" in get(client, id).get("statusMessage", ""), EVENT_SECONDS, "what it waits for")
        assert get(client, id)["status"] == "working"
        person.respond(person.question()["id"])
        assert ended(client, id)["status"] == "completed"


def test_it_is_a_job_of_its_caller(started):
    """The same job by the other path of HTTP; unknown on the bus, and to another session."""
    port = port_of(started.daemon)
    with OverHttp(port) as client, Http(port) as http, Caller(started.url) as caller:
        id = begin(client, seconds=60)
        assert http.get(f"/v1/jobs/{id}").json["state"] == "running"
        assert http.get(f"/v1/jobs/{id}", Session_Id="another").status == 404
        assert caller.call("ovos.tools.job.get", {"job_id": id}, {"source": "me"})["code"] == "unknown_job"
        assert http.ask("DELETE", f"/v1/jobs/{id}").json["cancelled"]
        assert ended(client, id)["status"] == "cancelled"


def test_a_task_outlives_its_connection(started):
    with OverHttp(port_of(started.daemon)) as client:
        id = begin(client, seconds=0.5)
    with OverHttp(port_of(started.daemon)) as client:
        assert ended(client, id)["status"] == "completed"


@pytest.mark.parametrize("kind", ["kill", "end"])
def test_it_survives_a_restart_as_jobs_do(tmp_path, kind):
    from conftest import Service
    toolbox(tmp_path / "toolbox.d")

    def service():
        return Service("embedded", tmp_path, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"],
                       configuration={"drain_ms": 100, "http": {"mcp_names": "bare"}})

    one = service()
    one.wait_until_ready()
    with OverHttp(port_of(one.daemon)) as client:
        done, runs = begin(client), begin(client, seconds=60)
        task = ended(client, done)
    one.daemon.process.kill() if kind == "kill" else one.end()
    one.daemon.process.wait(EVENT_SECONDS)
    (tmp_path / "toolboxd" / "toolboxd.log").unlink(missing_ok=True)  # where the port is read
    with service() as one, OverHttp(port_of(one.daemon)) as client:
        assert get(client, done) == task
        failed = ended(client, runs)
        assert failed["status"] == "failed" and "result" not in failed
        assert failed["error"] == {"code": -32603, "message": failed["statusMessage"]} and "restarted" in failed["statusMessage"]


def test_a_server_without_a_daemon_has_no_tasks(started, tmp_path):
    """Its tools run as before."""
    with OverStdio(tmp_path, "--standalone", "--toolbox-dir", started.home / "toolbox.d", "--bare") as client:
        assert "extensions" not in client.ask("server/discover", {})["result"]["capabilities"]
        assert call(client)["result"]["resultType"] == "complete"
        assert call(client, "must")["error"]["code"] == -32603
        assert client.ask("tasks/get", {"taskId": NO_TASK})["error"]["code"] == -32601


@needs("@modelcontextprotocol/ext-tasks")
def test_the_tasks_of_the_sdk_for_typescript(started):
    done = subprocess.run([NODE, INTEROP / "mcp_tasks_client.mjs", base(started) + "/mcp"], capture_output=True, text=True,
                          env=environment(started.home / "client", MODULES=str(INSTALLED)), timeout=EVENT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen == {"work": ["completed", "done", True], "failed": ["completed", True],
                    "plain": ["completed", "done", False], "cancelled": "cancelled"}, seen
