# SPDX-License-Identifier: Apache-2.0
"""Calls in the background (docs/contract.md, Jobs): what is answered, kept, shown, and what a killed daemon leaves."""
import contextlib
import json
import os
import random
import re
import subprocess
import time

import processes
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, SLOWNESS, toolboxctl, until

INVOKE, GET, LIST, CANCEL = "ovos.tools.invoke", "ovos.tools.job.get", "ovos.tools.job.list", "ovos.tools.job.cancel"
COMPLETED = "ovos.tools.job.completed"
ME = {"source": "me", "session": {"session_id": "s1"}}
FOREGROUND_MS = int(1000 * SLOWNESS)  # limits.timeout_ms of the toolbox "hasty"
SCRIPT = """
import os, sys, time
trace, name, seconds, fail, gate = sys.argv[1:]
log = open(trace, "a", buffering=1)
log.write("+" + name + "\\n")
time.sleep(float(seconds))
while gate and not os.path.exists(gate):
    time.sleep(0.01)
log.write("-" + name + "\\n")
print(name)
sys.exit(int(fail))
"""


def toolbox(folder, trace, stem="slow", prefix="", **more):
    folder.mkdir(parents=True, exist_ok=True)
    schema = {"type": "object", "required": ["as"], "properties": {
        "as": {"type": "string"}, "seconds": {"type": "number", "default": 0}, "fail": {"type": "integer", "default": 0},
        "gate": {"type": "string", "default": "", "description": "A file whose coming is waited for."}}}
    argv = ["/usr/bin/python3", "-c", SCRIPT, str(trace), "{as}", "{seconds}", "{fail}", "{gate}"]
    tools = [{"name": prefix + name, "description": f"Takes a while, at the risk {risk}.", "risk": risk, "argument_schema": schema,
              "command": {"argv": argv}, **extra}
             for name, risk, extra in (("work", "read", {}), ("burn", "execute", {}), ("brief", "read", {"timeout_ms": 500}))]
    tools.append({"name": prefix + "fill", "description": "So many characters.", "risk": "read",
                  "argument_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
                  "command": {"shell": "head -c $TOOL_ARG_N /dev/zero | tr '\\0' x"}})
    (folder / f"{stem}.json").write_text(json.dumps({"kind": "command", "tools": tools, **more}))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("jobs")
    toolbox(home / "toolbox.d", home / "trace", limits={"workers": 4})
    toolbox(home / "toolbox.d", home / "trace", "hasty", prefix="hasty_", limits={"timeout_ms": FOREGROUND_MS})
    one = Service("embedded", home, [home / "toolbox.d"], configuration={
        "result_max_chars": 1000000, "approval": {"timeout_ms": int(20000 * SLOWNESS)},
        "http": {"listen": ["127.0.0.1:0", f"unix:{home}/door"]}})
    one.trace = home / "trace"
    one.home = home
    with one:
        yield one


@pytest.fixture
def caller(started):
    started.trace.unlink(missing_ok=True)
    with Caller(started.url) as caller:
        yield caller


def order(path):
    return path.read_text().split() if path.exists() else []


def begin(caller, name="work", context=ME, seconds=EVENT_SECONDS, **fields):
    args = {"as": fields.pop("as_", "a"), **{key: fields.pop(key) for key in ("seconds", "fail", "n", "run_llm", "gate") if key in fields}}
    args = {"seconds": seconds_of, **args} if (seconds_of := fields.pop("lasts", None)) is not None else args
    return caller.call(INVOKE, {"name": name, "args": args if name != "fill" else {"n": args["n"]}, "background": True, **fields},
                       context, seconds=seconds)


def get(caller, id, context=ME, **fields):
    return caller.call(GET, {"job_id": id, **fields}, context)


def wait(caller, id, context=ME):
    while (job := get(caller, id, context, wait_ms=5000)).get("state") == "running":
        pass
    return job


def folder_of(service):
    return next(path for path in service.daemon.home.rglob("jobs") if path.is_dir())


def test_it_is_answered_at_once_and_ends_later(started, caller, gate):
    answer = begin(caller, gate=str(gate), call_id="mine")
    assert set(answer) == {"name", "call_id", "job_id", "state", "started", "ttl_ms"} and answer["state"] == "running"
    job = get(caller, answer["job_id"])
    assert (job["name"], job["toolbox_id"], job["state"], job["call_id"]) == ("work", "slow", "running", "mine")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", job["started"]) and "ended" not in job
    gate.touch()
    job = wait(caller, answer["job_id"])
    assert job["state"] == "done" and job["result"]["output"].strip() == "a" and job["ended"] >= job["started"]
    assert job == get(caller, answer["job_id"]) and "run_llm" not in job


def test_it_is_on_the_disk_before_it_is_answered(started, caller, gate):
    answer = begin(caller, gate=str(gate))
    path = folder_of(started) / f"{answer['job_id']}.json"
    assert json.loads(path.read_text())["state"] == "running" and path.stat().st_mode & 0o777 == 0o600
    gate.touch()
    wait(caller, answer["job_id"])
    assert json.loads(path.read_text())["state"] == "done"


def test_its_end_is_sent_to_its_source_once(caller):
    mark = caller.send(INVOKE, {"name": "work", "args": {"as": "a"}, "background": True}, ME)
    id = caller.answer_to(INVOKE, mark).data["job_id"]
    end = caller.wait_for(lambda message: message.type == COMPLETED)
    assert end.context["destination"] == "me" and end.context["session"] == ME["session"] and end.context["mark"] == mark
    assert end.data == get(caller, id)
    assert len([message for message in caller.settle() if message.type == COMPLETED]) == 1


def test_a_failure_is_its_end(caller):
    job = wait(caller, begin(caller, fail=7)["job_id"])
    assert (job["state"], job["code"], job["exit_code"]) == ("failed", "tool_failed", 7)


@pytest.mark.parametrize("data, code", [
    ({"name": "nothing"}, "unknown_tool"), ({"name": "work", "args": {"as": 7}}, "invalid_arguments"),
    ({"name": "burn", "args": {"as": "x"}}, "denied"), ({"name": "work", "args": {"as": "x"}, "timeout_ms": 0}, "bad_request"),
    ({"calls": [{"name": "work"}]}, "bad_request"), ({"name": "work", "background": "yes"}, "bad_request")])
def test_what_is_refused_is_no_job(started, caller, data, code):
    before = len(caller.call(LIST, {}, ME)["jobs"])
    answer = caller.call(INVOKE, {"background": True, **data}, ME)
    assert answer["code"] == code and "job_id" not in answer
    assert len(caller.call(LIST, {}, ME)["jobs"]) == before
    until(lambda: not any(record["state"] == "running" for record in records(started.home).values()), EVENT_SECONDS,
          "no file of it")
    assert order(started.trace) == []


def test_the_deadline_of_its_toolbox_does_not_count(caller):
    longer = FOREGROUND_MS / 1000 * 1.3
    assert caller.call(INVOKE, {"name": "hasty_work", "args": {"as": "a", "seconds": 60}}, ME)["code"] == "timeout"
    job = wait(caller, begin(caller, "hasty_work", lasts=longer)["job_id"])
    assert job["state"] == "done"


@pytest.mark.parametrize("name, most, fields", [("brief", 500, {}), ("work", 600, {"timeout_ms": 600})])
def test_that_of_its_tool_or_request_does(started, caller, name, most, fields):
    """But for the time until its program runs."""
    began = time.monotonic()
    id = begin(caller, name, lasts=15, **fields)["job_id"]
    until(lambda: order(started.trace) or "code" in get(caller, id), EVENT_SECONDS, "its beginning, or its end")
    waited_ms = 1000 * (time.monotonic() - began)
    job = wait(caller, id)
    assert job["code"] == "timeout" and max(0, most - waited_ms - 1) < job["timeout_ms"] <= most


def test_others_see_none_of_it(started, caller):
    id = begin(caller, lasts=0.2)["job_id"]
    for context in ({"source": "you"}, {}, {"source": "me", "session": {"session_id": "s2"}}):
        with Caller(started.url) as other:
            for topic in (GET, CANCEL):
                answer = other.call(topic, {"job_id": id}, context)
                assert (answer["code"], answer["error"]) == ("unknown_job", f"Unknown job: '{id}'")
            assert id not in [job["job_id"] for job in other.call(LIST, {}, context)["jobs"]]
    assert get(caller, id, {"source": "me"})["job_id"] == id
    assert id in [job["job_id"] for job in caller.call(LIST, {}, {"source": "me"})["jobs"]]
    wait(caller, id)


def test_a_list_has_no_results(caller):
    id = begin(caller)["job_id"]
    wait(caller, id)
    [job] = [job for job in caller.call(LIST, {}, ME)["jobs"] if job["job_id"] == id]
    assert job["state"] == "done" and "result" not in job


def test_a_wait_ends_with_the_job_or_its_time(caller, gate):
    id = begin(caller, gate=str(gate))["job_id"]
    start = time.monotonic()
    assert get(caller, id, wait_ms=200)["state"] == "running"
    assert time.monotonic() - start > 0.199, "the service counts whole milliseconds"
    gate.touch()
    assert get(caller, id, wait_ms=10 ** 30)["state"] == "done"
    for bad in (-1, 1.5, "5"):
        assert get(caller, id, wait_ms=bad)["field"] == "wait_ms"


def test_a_cancel_ends_it(started, caller):
    id = begin(caller, lasts=15)["job_id"]
    until(lambda: order(started.trace) == ["+a"], EVENT_SECONDS, "the job running")
    assert caller.call(CANCEL, {"job_id": id}, ME) == {"job_id": id, "cancelled": True}
    job = wait(caller, id)
    assert (job["state"], job["code"]) == ("cancelled", "cancelled")
    assert caller.call(CANCEL, {"job_id": id}, ME) == {"job_id": id, "cancelled": False}


def test_a_cancel_by_the_call_id_does_too(started, caller):
    id = begin(caller, lasts=15, call_id="c1")["job_id"]
    until(lambda: order(started.trace) == ["+a"], EVENT_SECONDS, "the job running")
    assert caller.call("ovos.tools.cancel", {"call_id": "c1"}, ME)["cancelled"]
    assert wait(caller, id)["state"] == "cancelled"


def test_it_outlives_its_caller(started, caller, gate):
    with Caller(started.url) as leaver:
        id = begin(leaver, gate=str(gate))["job_id"]
    caller.settle()
    gate.touch()
    assert wait(caller, id)["state"] == "done"


def test_a_person_may_take_longer_than_its_caller_stays(started, caller):
    with Caller(started.url) as person:
        person.call("ovos.tools.approval.attach", {"seconds": 60})
        with Caller(started.url) as leaver:
            id = begin(leaver, "burn")["job_id"]
        question = person.wait_for(lambda message: message.type == "ovos.tools.approval.requested").data
        job = get(caller, id)
        assert job["state"] == "running" and job["text"] == "Waiting for a person to approve the call"
        person.call("ovos.tools.approval.respond", {"id": question["id"], "decision": "once"})
        assert wait(caller, id)["state"] == "done"
        id = begin(caller, "burn")["job_id"]
        question = person.wait_for(lambda message: message.type == "ovos.tools.approval.requested").data
        person.call("ovos.tools.approval.respond", {"id": question["id"], "decision": "deny"})
        job = wait(caller, id)
        person.call("ovos.tools.approval.attach", {"seconds": 0})
    assert (job["state"], job["code"]) == ("failed", "denied")


def test_jobs_never_hold_up_the_foreground(started, caller, gate):
    """Of four workers jobs use three, and wait beside the rest."""
    ids = [begin(caller, gate=str(gate), as_=f"job{i}")["job_id"] for i in range(5)]
    until(lambda: len(order(started.trace)) >= 3, EVENT_SECONDS, "three jobs running")
    assert "result" in caller.call(INVOKE, {"name": "work", "args": {"as": "now"}}, ME)
    assert sorted(order(started.trace)) == ["+job0", "+job1", "+job2", "+now", "-now"]
    gate.touch()
    assert {wait(caller, id)["state"] for id in ids} == {"done"}
    assert sorted(mark for mark in order(started.trace) if mark.startswith("+job")) == [f"+job{i}" for i in range(5)]


def test_one_that_waits_can_be_cancelled(started, caller, gate):
    ids = [begin(caller, gate=str(gate), as_=f"job{i}")["job_id"] for i in range(4)]
    assert caller.call(CANCEL, {"job_id": ids[3]}, ME)["cancelled"]
    assert wait(caller, ids[3])["state"] == "cancelled"
    gate.touch()
    assert {wait(caller, id)["state"] for id in ids[:3]} == {"done"}
    assert "+job3" not in order(started.trace)


def test_over_http(started):
    with Http(port_of(started.daemon)) as http:
        answer = http.post("/v1/tools/work?background=1&call_id=x", {"as": "a", "seconds": 0.3})
        id = answer.json["job_id"]
        assert (answer.status, answer.headers["Location"]) == (202, f"/v1/jobs/{id}")
        assert answer.json == {"name": "work", "call_id": "x", "job_id": id, "state": "running",
                               "started": answer.json["started"], "ttl_ms": answer.json["ttl_ms"]}
        job = http.get(f"/v1/jobs/{id}?wait_ms=20000")
        assert (job.status, job.json["state"]) == (200, "done")
        assert id in [one["job_id"] for one in http.get("/v1/jobs").json["jobs"]]
        assert http.ask("DELETE", f"/v1/jobs/{id}").json == {"job_id": id, "cancelled": False}
        assert http.get("/v1/jobs/none").status == 404 and http.get("/v1/jobs/none").json["code"] == "unknown_job"
        assert http.post("/v1/tools/work?background=1", {"as": 7}).status == 422
        failed = http.post("/v1/tools/work?background=1", {"as": "a", "fail": 3}).json["job_id"]
        job = http.get(f"/v1/jobs/{failed}?wait_ms=20000")
        assert (job.json["state"], job.json["code"]) == ("failed", "tool_failed")
    with Http(started.home / "door") as other:
        assert other.get(f"/v1/jobs/{id}").status == 404
        assert other.get("/v1/jobs").json == {"jobs": []}


def ctl(started, *words):
    return toolboxctl(*words, bus=started.url, home=started.home)


def test_toolboxctl(started, gate):
    id = ctl(started, "invoke", "work", "as=a", f"gate={gate}", "--background").stdout.strip()
    assert re.fullmatch("[0-9a-f]{32}", id)
    assert ctl(started, "jobs", "get", id).stdout == "running\n"
    table = ctl(started, "jobs").stdout
    assert id in table and "slow/work" in table and "running" in table
    gate.touch()
    assert '"output"' in ctl(started, "jobs", "wait", id).stdout
    assert ctl(started, "jobs", "cancel", id).stdout == "it has ended\n"
    failed = ctl(started, "invoke", "work", "as=a", "fail=2", "--background").stdout.strip()
    end = ctl(started, "jobs", "wait", failed)
    assert end.returncode == 1 and "Tool execution failed" in end.stderr
    assert ctl(started, "jobs", "get", "none").returncode == 1
    assert ctl(started, "jobs", "stop", id).returncode == 2


# --- what a service leaves


class Restarted:
    """Services with one home, one after the other."""

    def __init__(self, home, **configuration):
        self.home = home
        toolbox(home / "toolbox.d", home / "trace", limits={"workers": 4})
        self.configuration = {"drain_ms": 100, **configuration}

    def start(self):
        from conftest import Service
        (self.home / "toolboxd" / "toolboxd.log").unlink(missing_ok=True)
        service = Service("embedded", self.home, [self.home / "toolbox.d"], configuration=self.configuration)
        service.wait_until_ready()
        return service


def kill(service):
    service.daemon.process.kill()
    service.daemon.process.wait(EVENT_SECONDS)


def records(home):
    """The records of jobs by id. The file of a refused job goes at any time."""
    found = {}
    for path in home.rglob("jobs/*.json"):
        with contextlib.suppress(FileNotFoundError):
            found[path.stem] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("stop", ["end", "kill"])
def test_after_a_restart_jobs_that_ran_have_failed_and_others_are_there(tmp_path, stop):
    home = Restarted(tmp_path)
    one = home.start()
    with Caller(one.url) as caller:
        done = wait(caller, begin(caller, run_llm=False)["job_id"])
        running = begin(caller, lasts=600, run_llm=True)["job_id"]
        assert done["run_llm"] is False and "run_llm" not in get(caller, running)
    one.end() if stop == "end" else kill(one)
    with home.start() as one, Caller(one.url) as caller:
        assert get(caller, done["job_id"]) == done
        job = wait(caller, running)
        assert (job["state"], job["code"], job["run_llm"]) == ("failed", "unavailable", True)
        assert job["error"].endswith("the service was restarted")
        assert [job["job_id"] for job in caller.call(LIST, {}, ME)["jobs"]] == [done["job_id"], running]


def test_a_second_service_leaves_the_jobs_of_the_first_alone(tmp_path):
    home = Restarted(tmp_path)
    with home.start() as one, Caller(one.url) as caller:
        id = begin(caller, lasts=1 * SLOWNESS)["job_id"]
        with home.start() as other, Caller(other.url) as stranger:
            assert begin(stranger)["error"].endswith("another toolboxd has the folder of jobs")
            assert stranger.call(LIST, {}, ME) == {"jobs": []}
        assert wait(caller, id)["state"] == "done"


def test_they_are_kept_for_a_time(tmp_path):
    with Restarted(tmp_path, jobs={"keep_hours": 0}).start() as one, Caller(one.url) as caller:
        id = begin(caller)["job_id"]
        assert caller.wait_for(lambda message: message.type == COMPLETED).data["job_id"] == id
        until(lambda: get(caller, id).get("code") == "unknown_job", EVENT_SECONDS, "the job forgotten")
        until(lambda: not records(tmp_path), EVENT_SECONDS, "no file")


def test_the_257th_that_runs_is_busy_and_one_that_has_ended_gives_way(tmp_path):
    home = Restarted(tmp_path)
    with home.start() as one, Caller(one.url) as caller:
        ended = begin(caller)["job_id"]
        wait(caller, ended)
        ids = [begin(caller, lasts=3000)["job_id"] for _ in range(256)]
        assert get(caller, ended)["code"] == "unknown_job"
        answer = begin(caller)
        assert answer["code"] == "busy" and answer["error"].startswith("RuntimeError: Too many jobs: 256 are running")
        assert caller.call(CANCEL, {"job_id": ids[0]}, ME)["cancelled"]
        wait(caller, ids[0])
        assert begin(caller)["state"] == "running"


def test_results_beyond_16_mib_go_first_ended_first(tmp_path):
    home = Restarted(tmp_path, result_max_chars=6000000, limits={"host_output_bytes": 16777216})
    with home.start() as one, Caller(one.url) as caller:
        ids = [begin(caller, "fill", n=5000000)["job_id"] for _ in range(1)]
        wait(caller, ids[0])
        for _ in range(3):
            ids.append(begin(caller, "fill", n=5000000)["job_id"])
            assert wait(caller, ids[-1])["state"] == "done"
        first = get(caller, ids[0])
        assert (first["state"], first["code"]) == ("failed", "too_large")
        assert [get(caller, id)["state"] for id in ids[1:]] == ["done"] * 3
        until(lambda: sum("result" in record["end"] for record in records(tmp_path).values()) == 3, EVENT_SECONDS,
              "the first without its result on the disk")


def test_without_a_place_for_them_only_jobs_are_refused(tmp_path):
    home = Restarted(tmp_path)
    with home.start() as one, Caller(one.url) as caller:
        wait(caller, begin(caller)["job_id"])
        [folder] = tmp_path.rglob("jobs")
        moved = folder.rename(folder.with_name("away"))
        folder.write_text("no folder")
        answer = begin(caller)
        assert answer["code"] == "unavailable" and "The job cannot be kept" in answer["error"]
        assert "result" in caller.call(INVOKE, {"name": "work", "args": {"as": "x"}}, ME)
        folder.unlink()
        moved.rename(folder)
        assert wait(caller, begin(caller)["job_id"])["state"] == "done"


def small_disk(folder, size):
    """What to put before a command so that it has only so many bytes in this folder; None where mounts cannot be made."""
    script = 'mount -t tmpfs -o size="$1" none "$0" && shift && exec "$@"'
    wrapper = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", script, str(folder), size]
    return wrapper if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else None


def test_a_full_disk_refuses_jobs_and_nothing_else(tmp_path, monkeypatch):
    """Three pages: the end of the third job finds no place, and the fourth does not begin."""
    state = tmp_path / "toolboxd" / "state"
    state.mkdir(parents=True)
    wrapper = small_disk(state, "12k")
    if not wrapper:
        pytest.skip("no mount namespace can be made here")
    monkeypatch.setattr(processes, "WRAPPER", wrapper)
    with Restarted(tmp_path).start() as one, Caller(one.url) as caller:
        for _ in range(3):
            assert wait(caller, begin(caller)["job_id"])["state"] == "done"
        answer = begin(caller, as_="fourth")
        assert answer["code"] == "unavailable" and answer["error"].endswith("No space left on device")
        assert "result" in caller.call(INVOKE, {"name": "work", "args": {"as": "now"}}, ME)
        assert [job["state"] for job in caller.call(LIST, {}, ME)["jobs"]] == ["done"] * 3
        assert "will be lost with a restart" in one.daemon.log() and "+fourth" not in order(tmp_path / "trace")


def test_a_daemon_that_is_killed_at_any_step(tmp_path, times, figure):
    """No job is lost without a word, none runs twice, none is answered twice."""
    home, chance = Restarted(tmp_path, jobs={"keep_hours": 1}), random.Random(7)
    answered, ended, begun = {}, {}, 0
    rounds = times(8, 200)
    for _ in range(rounds):
        one = home.start()
        with Caller(one.url) as caller:
            for id, state in answered.items():  # what was said before still holds
                job = get(caller, id, wait_ms=5000)
                assert job.get("state") in ("done", "failed", "cancelled"), job
                if id in ended:
                    assert job == ended[id]
                ended[id] = job
                if state == "done":
                    assert job["state"] == "done"
            answered = dict(list(answered.items())[-20:])
            for _ in range(chance.randrange(1, 8)):
                caller.send(INVOKE, {"name": "work", "args": {"as": f"job{begun}"}, "background": True}, ME)
                begun += 1
            end = time.monotonic() + chance.random() * 0.5
            while time.monotonic() < end:
                try:
                    message = caller.receive(max(end - time.monotonic(), 0.001))
                except TimeoutError:
                    break
                if message.type == INVOKE + ".response" and message.data.get("job_id"):
                    assert message.data["job_id"] not in answered
                    answered[message.data["job_id"]] = None
                if message.type == COMPLETED:
                    assert answered.get(message.data["job_id"]) is None
                    answered[message.data["job_id"]] = message.data["state"]
            kill(one)
    marks = [mark for mark in order(tmp_path / "trace") if mark.startswith("+")]
    assert len(marks) == len(set(marks))
    figure("jobs begun", begun)
    figure("jobs that ran", len(marks))
    with home.start() as one, Caller(one.url) as caller:
        assert not [job for job in caller.call(LIST, {}, ME)["jobs"] if job["state"] == "running"
                    and get(caller, job["job_id"], wait_ms=5000)["state"] == "running"]
