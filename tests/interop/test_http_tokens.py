# SPDX-License-Identifier: Apache-2.0
"""Who may come in over HTTP: tokens, their profiles and admins, names that are served, pages."""
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
import os
import threading
import time

import manifests
import pytest
from caller import Caller
from http_peer import Http, Raw, port_of, statuses, tokens_file
from processes import EVENT_SECONDS, toolboxctl, until
from test_approval import Person
from test_mcp_http import Client

TOKENS = {"kitchen": "kitchen-0123456789", "kid": "kid-0123456789abcdef", "boss": "boss-0123456789abcdef"}


def digest(name):
    return hashlib.sha256(TOKENS[name].encode()).hexdigest()


def bearer(name):
    return {"Authorization": f"Bearer {TOKENS[name]}"}


def listed(http, **headers):
    answer = http.get("/v1/tools", **headers)
    assert answer.status == 200, answer.bytes
    return [tool["name"] for tool in answer.json["tools"]]


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("tokens")
    (home / "secret").write_text(TOKENS["boss"] + "\n")
    (home / "secret").chmod(0o600)
    one = Service("embedded", home, [manifests.SHIPPED], args=["--http", "127.0.0.1:0"], configuration={
        "profiles": {"kids": {"tool_names": ["add"]}},
        "http": {"tokens": [{"name": "kitchen", "token_sha256": digest("kitchen")},
                            {"name": "kid", "token_sha256": digest("kid"), "profile": "kids"},
                            {"name": "boss", "token_file": str(home / "secret"), "admin": True}]}})
    with one:
        yield one


ROUTES = [("GET", "/v1/tools"), ("GET", "/v1/tools/add"), ("POST", "/v1/tools/add"), ("GET", "/v1/match?utterance=a"),
          ("GET", "/v1/status"), ("POST", "/v1/reload"), ("GET", "/v1/calls"), ("DELETE", "/v1/calls/1"),
          ("GET", "/v1/approvals"), ("POST", "/v1/approvals/1"),
          ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/mcp/math_tools"),
          ("GET", "/openapi.json"), ("GET", "/utcp"), ("GET", "/tools/manual"), ("POST", "/tools/add")]


@pytest.mark.parametrize("method,path", ROUTES)
def test_a_request_without_a_good_token_is_refused(started, method, path):
    """Each from an address of its own, since wrong tokens are slowed."""
    good = TOKENS["kitchen"]
    for i, value in enumerate((None, "", good, "Bearer", "Bearer ", f"Bearer {good}x", f"Bearer {good[:-1]}",
                               f"Basic {good}", f"Bearer {good.upper()}", f"Bearer {digest('kitchen')}")):
        with Http(port_of(started.daemon), address=f"127.0.{i + 1}.{ROUTES.index((method, path)) + 1}") as http:
            answer = http.ask(method, path, **({} if value is None else {"Authorization": value}))
        assert answer.status == 401 and answer.json["code"] == "unauthorized", value
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_health_and_preflights_need_no_token(started, http):
    assert http.get("/health").status == 200
    origin = f"http://localhost:{port_of(started.daemon)}"
    answer = http.ask("OPTIONS", "/v1/tools", Origin=origin)
    assert answer.status < 300 and answer.headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize("method,path", ROUTES)
def test_a_good_token_does_not_open_the_door_to_pages(http, method, path):
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        assert http.ask(method, path, **headers, **bearer("boss")).status == 403


def test_the_source_is_the_name_of_the_token(started, http):
    assert http.post("/v1/tools/add", b'{"a":1,"b":2}', **bearer("kitchen")).json["result"] == {"result": 3}
    with Caller(started.url) as caller:
        calls = caller.call("ovos.tools.calls")["calls"]
    assert calls[-1]["source"] == "http:kitchen" and calls[-1]["door"] == "http"
    for token in TOKENS.values():
        assert token not in started.daemon.log() and token not in json.dumps(calls)


def test_what_the_profile_of_a_token_has_not_does_not_exist(http):
    assert listed(http, **bearer("kid")) == ["add"]
    assert len(listed(http, **bearer("kitchen"))) > 5
    assert http.get("/v1/tools?profile=default", **bearer("kid")).json == \
        http.get("/v1/tools", **bearer("kid")).json
    answer = http.post("/v1/tools/sub", b'{"a":1,"b":2}', **bearer("kid"))
    assert answer.status == 404 and answer.json["code"] == "unknown_tool"
    assert http.post("/v1/tools/add", b'{"a":1,"b":2}', **bearer("kid")).status == 200


def test_only_an_admin_has_the_routes_of_one(http):
    for method, path in (("GET", "/v1/status"), ("GET", "/v1/calls"), ("POST", "/v1/reload")):
        assert http.ask(method, path, **bearer("boss")).status == 200
        answer = http.ask(method, path, **bearer("kitchen"))
        assert answer.status == 403 and answer.json["code"] == "forbidden"


def test_a_token_of_the_file_counts_from_the_next_reload_and_until_it_is_revoked(launch, tmp_path):
    one = launch(args=["--http", "127.0.0.1:0"], toolbox_dirs=[manifests.SHIPPED])
    path = tokens_file(tmp_path)

    def write(entries):
        new = path.with_suffix(".new")
        new.write_text(json.dumps(entries))
        new.chmod(0o600)
        os.rename(new, path)

    with Http(port_of(one.daemon)) as http:
        assert http.get("/v1/tools").status == 200
        write([{"name": "kitchen", "token_sha256": digest("kitchen")}])
        until(lambda: http.get("/v1/tools").status == 401, EVENT_SECONDS, "a token is needed")
        assert http.get("/v1/tools", **bearer("kitchen")).status == 200
        write([])
        until(lambda: http.get("/v1/tools", **bearer("kitchen")).status == 401, EVENT_SECONDS, "the token is gone")
        assert http.get("/v1/tools").status == 401


def test_a_file_of_tokens_that_others_may_read_lets_nobody_in(launch, tmp_path):
    path = tokens_file(tmp_path)
    path.write_text("[]")
    path.chmod(0o644)
    one = launch(args=["--http", "127.0.0.1:0"], toolbox_dirs=[manifests.SHIPPED], wait=False)
    until(lambda: "may be read and written only by its owner" in one.daemon.log(), EVENT_SECONDS, "the mistake in the log")
    assert "Listening on http" not in one.daemon.log()
    path.chmod(0o600)
    port = port_of(one.daemon)
    with Http(port) as http:
        assert http.get("/v1/tools").status == 401


def test_names_and_pages_of_the_configuration(launch):
    one = launch(toolbox_dirs=[manifests.SHIPPED], configuration={"http": {
        "listen": ["127.0.0.1:0"], "allowed_hosts": ["tools.lan"], "allowed_origins": ["https://panel.lan:8443"],
        "limits": {"connections": 2}}})
    with Http(port_of(one.daemon)) as http:
        assert http.get("/v1/tools").status == 403
        assert http.get("/v1/tools", Host="tools.lan:99").status == 200
        answer = http.get("/v1/tools", Host="tools.lan", Origin="https://panel.lan:8443")
        assert answer.status == 200 and answer.headers["Access-Control-Allow-Origin"] == "https://panel.lan:8443"
        assert http.get("/v1/tools", Host="tools.lan", Origin="https://panel.lan").status == 403


def test_documents_say_that_a_token_is_needed(http):
    from openapi_spec_validator import validate
    document = http.get("/openapi.json", **bearer("kitchen")).json
    validate(document)
    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert list(http.get("/openapi.json", **bearer("kid")).json["paths"]) == ["/v1/tools/add"]


@pytest.mark.parametrize("source", ["http:kitchen", "http", "uid:0", "http:", "uid:"])
def test_nobody_on_the_bus_has_an_identity_of_http(launch, source):
    one = launch(toolbox_dirs=[manifests.SHIPPED], configuration={
        "profiles": {"all": {"tool_names": ["all"]}, "default": {"tool_names": ["add"]}},
        "access": [{"match": {"source": source}, "profile": "all"}, {"match": {"source": "*"}, "profile": "all"}]})
    with Caller(one.url) as caller:
        for other, n in ((source, 1), ("kitchen", 100), ("https", 100), ("a http:b", 100)):
            listed = caller.call("ovos.tools.list", context={"source": other})
            assert 1 <= len(listed["tools"]) <= n and (len(listed["tools"]) > 1) == (n > 1), other
        answer = caller.call("ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 2}}, {"source": source})
        assert answer["result"] == {"result": 3}
        assert caller.call("ovos.tools.calls")["calls"][-1]["source"] is None


@pytest.mark.parametrize("decision,status", [("once", 200), ("deny", 403)])
@pytest.mark.parametrize("has_key", [False, True])
def test_an_admin_decides_on_a_question(launch, tmp_path, decision, status, has_key):
    """Also where the bus needs a proof: the token is one."""
    approval = {"mode": "strict"}
    if has_key:
        key = tmp_path / "approval.key"
        key.write_text("ab" * 32 + "\n")
        key.chmod(0o600)
        approval["key_file"] = str(key)
    one = launch({"approval": approval, "http": {"tokens": [
        {"name": "kitchen", "token_sha256": digest("kitchen")},
        {"name": "boss", "token_sha256": digest("boss"), "admin": True}]}}, [folder_of(tmp_path)],
        args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    with Person(one.url, key=bytes.fromhex("ab" * 32) if has_key else None) as person, Http(port) as admin:
        person.attach(30)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(Http(port).post(
            "/v1/tools/risky", {"value": -7}, **bearer("kitchen"))))
        thread.start()
        question = person.question()
        assert [one["id"] for one in admin.get("/v1/approvals", **bearer("boss")).json["pending"]] == [question["id"]]
        assert admin.get("/v1/approvals", **bearer("kitchen")).status == 403
        path = f"/v1/approvals/{question['id']}"
        assert admin.post(path, {"decision": decision}, **bearer("kitchen")).status == 403
        assert admin.post(path, [decision], **bearer("boss")).status == 400
        assert admin.post(path, {"decision": "perhaps"}, **bearer("boss")).status == 400
        assert not answers
        done = admin.post(path, {"decision": decision, "reason": "why not"}, **bearer("boss")).json
        assert done["accepted"] is True and done["decision"] == decision
        assert person.resolved(question["id"])["by"] == "http:boss"
        thread.join()
    assert answers[0].status == status, answers[0].json
    assert admin.post(path, {"decision": decision}, **bearer("boss")).json["accepted"] is False


@pytest.mark.parametrize("after,runs", [
    ([], False),
    ([{"name": "kid", "token_sha256": digest("kitchen")}], False),
    ([{"name": "kid", "token_sha256": digest("kid"), "profile": "kids"}], False),
    ([{"name": "kid", "token_sha256": digest("kid"), "admin": True}], False),
    ([{"name": "kid", "token_sha256": digest("kid")}, {"name": "new", "token_sha256": digest("boss")}], True),
])
def test_a_call_that_waits_for_a_person_does_not_outlive_its_token(launch, tmp_path, after, runs):
    path = tokens_file(tmp_path)

    def write(tokens):
        path.write_text(json.dumps(tokens))
        path.chmod(0o600)

    write([{"name": "kid", "token_sha256": digest("kid")}])
    one = launch({"approval": {"mode": "strict"}, "profiles": {"kids": {"tool_names": ["add"]}}},
                 [folder_of(tmp_path)], args=["--http", "127.0.0.1:0"])
    port, answers = port_of(one.daemon), []
    thread = threading.Thread(target=lambda: answers.append(Http(port).post(
        "/v1/tools/risky", {"value": -7}, **bearer("kid"))))
    with Person(one.url) as person:
        person.attach(60)
        until(lambda: Http(port).get("/v1/tools").status == 401, EVENT_SECONDS, "a token is needed")
        thread.start()
        id = person.question()["id"]
        write(after)
        person.call("ovos.tools.reload")
        answer = person.respond(id)
        assert answer["accepted"] is runs, answer
        end = person.resolved(id)
        thread.join()
    assert answers[0].status == (200 if runs else 403), answers[0].json
    if not runs:
        assert (end["decision"], end["by"]) == ("withdrawn", "toolboxd") and "rights" in end["reason"]
        assert "the rights of its caller have changed" in answers[0].json["error"]


@pytest.mark.parametrize("has_token", [True, False])
def test_a_session_is_that_of_its_token_or_else_of_its_connection(launch, tmp_path, has_token):
    """Each program of the device has the address, and can send the Session-Id."""
    tokens = [{"name": name, "token_sha256": digest(name)} for name in ("kitchen", "kid")]
    one = launch({"approval": {"mode": "strict"}, "http": {"tokens": tokens if has_token else []}},
                 [folder_of(tmp_path)], args=["--http", "127.0.0.1:0"])
    port, answers = port_of(one.daemon), []

    def call(http, token):
        headers = {**(bearer(token) if has_token else {}), "Session-Id": "s"}
        thread = threading.Thread(target=lambda: answers.append(http.post("/v1/tools/risky", {"value": -7}, **headers)))
        thread.start()
        return thread

    with Person(one.url) as person, Http(port) as kept, Http(port) as other:
        person.attach(60)
        first = call(kept, "kitchen")
        assert person.respond(person.question()["id"], "session")["decision"] == "session"
        first.join()
        call(kept, "kitchen").join()
        assert [one.status for one in answers] == [200, 200]
        second = call(other, "kitchen")
        if not has_token:
            assert person.respond(person.question()["id"], "deny")["accepted"]
        second.join()
        assert answers[-1].status == (200 if has_token else 403)
        if has_token:
            third = call(other, "kid")
            assert person.respond(person.question()["id"], "deny")["accepted"]
            third.join()
            assert answers[-1].status == 403


def folder_of(tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    return tmp_path / "toolbox.d"


def test_toolboxctl_makes_and_revokes_tokens(launch, tmp_path):
    one = launch({"profiles": {"kids": {"tool_names": ["add"]}}}, args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)

    def token(*words, status=0):
        done = toolboxctl("token", *words, bus=one.url, home=tmp_path / "me")
        assert done.returncode == status, done.stderr
        return done

    with Http(port) as http:
        assert http.get("/v1/tools").status == 200
    assert "no token" in token("list").stderr
    made = token("new", "kid", "--profile", "kids")
    kid, boss = made.stdout, token("new", "boss", "--admin", "--json").stdout
    assert not made.stderr
    kid, boss = kid.strip(), json.loads(boss)["token"]
    path = one.daemon.home / "config" / "toolboxd" / "tokens.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert kid not in path.read_text() and hashlib.sha256(kid.encode()).hexdigest() in path.read_text()
    with Http(port) as http:
        assert http.get("/v1/tools").status == 401
        assert listed(http, Authorization=f"Bearer {kid}") == ["add"]
        assert http.get("/v1/status", Authorization=f"Bearer {kid}").status == 403
        assert http.get("/v1/status", Authorization=f"Bearer {boss}").status == 200
    lines = token("list").stdout.splitlines()
    assert lines[0].split() == ["TOKEN", "PROFILE", "ADMIN", "SINCE"] and len(lines) == 3
    assert lines[1].split()[:3] == ["kid", "kids", "no"] and lines[2].split()[:2] == ["boss", "yes"]
    assert not any("Z" in line for line in lines[1:]), "by the local clock"
    listing = json.loads(token("list", "--json").stdout)
    assert [(entry["name"], entry["admin"]) for entry in listing] == [("kid", False), ("boss", True)]
    assert "revoke kid" in token("new", "kid", status=1).stderr
    assert "no token nobody" in token("revoke", "nobody", status=1).stderr
    assert "there is no profile 'kid', or it has no tool" in token("new", "other", "--profile", "kid").stderr
    token("revoke", "other")
    token("revoke", "kid")
    with Http(port) as http:
        assert http.get("/v1/tools", Authorization=f"Bearer {kid}").status == 401
        assert http.get("/v1/tools", Authorization=f"Bearer {boss}").status == 200
    token("revoke", "boss")
    with Http(port) as http:  # the last one is gone, and the door is not open
        assert http.get("/v1/tools").status == 401


def test_tokens_that_are_made_and_revoked_at_once_are_made_and_revoked(launch, tmp_path):
    one = launch({}, args=["--http", "127.0.0.1:0"])

    def at_once(*commands):
        with ThreadPoolExecutor(len(commands)) as pool:
            done = list(pool.map(lambda words: toolboxctl(
                "token", *words, bus=one.url, home=tmp_path / "me", seconds=60), commands))
        assert [one.returncode for one in done] == [0] * len(commands), [one.stderr for one in done]
        return [one.stdout.strip() for one in done]

    made = at_once(*(("new", f"t{i}") for i in range(10)))
    with Http(port_of(one.daemon)) as http:
        for secret in made:
            assert http.get("/v1/tools", Authorization=f"Bearer {secret}").status == 200
        at_once(*(("revoke", f"t{i}") for i in range(5)), *(("new", f"u{i}") for i in range(5)))
        assert [http.get("/v1/tools", Authorization=f"Bearer {secret}").status
                for secret in made] == [401] * 5 + [200] * 5


@pytest.mark.parametrize("words", [("new",), ("new", "a b"), ("new", "a", "b"), ("list", "a"), ("steal", "a"),
                                   ("revoke", "a", "--admin"), ("list", "--profile", "kids")])
def test_token_has_its_usage(tmp_path, words):
    done = toolboxctl("token", *words, bus="ws://127.0.0.1:1/core", home=tmp_path)
    assert done.returncode == 2 and done.stderr


def test_wrong_tokens_are_slowed_and_good_ones_never(launch):
    one = launch({"http": {"tokens": [{"name": "kitchen", "token_sha256": digest("kitchen")}]}},
                 args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)

    def seconds(**headers):
        begun = time.monotonic()
        with Http(port) as http:
            answer = http.get("/v1/tools", **headers)
        return answer.status, time.monotonic() - begun

    wrong = {"Authorization": "Bearer wrong-0123456789"}
    taken = [seconds(**wrong) for _ in range(6)]
    assert [status for status, _ in taken] == [401] * 6
    assert taken[4][1] >= 0.25 and taken[5][1] >= 0.5

    def overtakes_a_wrong_one():
        waits = threading.Thread(target=seconds, kwargs=wrong)
        waits.start()
        assert seconds(**bearer("kitchen"))[0] == 200
        overtakes = waits.is_alive()
        waits.join()
        return overtakes

    # On a busy machine a later one, which waits for up to 4 s.
    until(overtakes_a_wrong_one, EVENT_SECONDS, "a good one answered before a wrong one")
    assert seconds()[0] == 401  # no token at all is no guess
    with Raw(port) as raw:
        raw.send(b"GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n")
    assert "HTTP: a wrong token from 127.0.0.1" in one.daemon.log()


def test_streams_have_a_limit(launch):
    one = launch({"http": {"limits": {"streams": 4}}}, args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    with Client(port, "modern") as client, Raw(port) as first, Raw(port) as second, Raw(port) as third:
        for raw in (first, second):
            raw.send(client.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
            assert b"acknowledged" in raw.read_until(b"\n\n")
        third.send(client.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        assert statuses(third.read_until(b"}")) == [503]
        first.socket.close()
        until(lambda: statuses(again(port, client)) == [200], EVENT_SECONDS, "a place for another stream")


def again(port, client):
    with Raw(port) as raw:
        raw.send(client.raw("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        return raw.read_until(b"\r\n\r\n")
