# SPDX-License-Identifier: Apache-2.0
"""HTTP on a Unix socket: the user of the peer is the caller."""
import json
import os
import socket
import stat
import subprocess
import sys

import manifests
import pytest
from caller import Caller
from http_peer import Http
from processes import EVENT_SECONDS, TOOLBOXD, environment, until

ADD = {"a": 1, "b": 2}
TOKEN = {"name": "far", "token_sha256": "0" * 64}
# A client that runs as another user, in the group of the daemon's.
CLIENT = """
import http.client, json, socket, sys
client = http.client.HTTPConnection("localhost", timeout=10)
client.sock = socket.socket(socket.AF_UNIX)
client.sock.connect(sys.argv[1])
answers = []
for method, path, body in json.loads(sys.argv[2]):
    client.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer = client.getresponse()
    answers.append([answer.status, json.loads(answer.read())])
print(json.dumps(answers))
"""


def ask_as(path, *requests, **identity):
    # The interpreter of these tests may be in a folder that only its user may enter.
    done = subprocess.run(["/usr/bin/python3", "-I", "-c", CLIENT, str(path), json.dumps(requests)], check=True,
                          stdout=subprocess.PIPE, cwd="/", timeout=30, **identity)
    return json.loads(done.stdout)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "socket"


@pytest.fixture
def start(launch, path):
    def begin(configuration=None, folders=(manifests.SHIPPED,)):
        one = launch(configuration or {}, list(folders), args=["--http", f"unix:{path}"])
        until(lambda: f"Listening on unix:{path}" in one.daemon.log(), EVENT_SECONDS, "the door open")
        return one
    return begin


def test_the_operator_needs_no_token(start, path):
    service = start({"http": {"tokens": [TOKEN]}})
    mode = os.stat(path).st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
    with Http(path) as http:
        assert http.post("/v1/tools/add", ADD).json["result"] == {"result": 3}
        assert http.get("/v1/status").status == 200
        assert http.get("/v1/calls").json["calls"][0]["source"] == f"uid:{os.getuid()}"
        assert http.ask("GET", "/v1/tools", Host="evil.example").status == 403
    service.end()
    assert not path.exists(), "the file goes with the daemon"


def test_calls_are_narrowed_as_on_the_bus(start, path):
    start()
    with Http(path) as http:
        for name in ("add", "add", "multiply", "power"):
            http.post(f"/v1/tools/{name}", ADD)
        source = f"uid%3A{os.getuid()}"
        for query, names in ((f"?name=add&limit=1&source={source}", ["add"]), ("?state=failed", ["power"]),
                             ("?toolbox_id=math_tools&since_s=600.5", ["multiply", "add", "add"]),
                             ("?state=running", []), ("?toolbox_id=other", []), ("?limit=2", ["power", "multiply"])):
            answer = http.get("/v1/calls" + query)
            assert [one["name"] for one in answer.json["calls"]] == names, query
        for query, field in (("?limit=0", "limit"), ("?limit=x", "limit"), ("?since_s=-1", "since_s"),
                             ("?since_s=", "since_s"), ("?state=odd", "state")):
            answer = http.get("/v1/calls" + query)
            assert (answer.status, answer.json["field"]) == (400, field), query


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_another_user_is_a_caller_and_no_operator(start, path, tmp_path):
    start({"profiles": {"guest": {"tool_names": ["add"]}},
           "access": [{"match": {"source": "uid:65534"}, "profile": "guest"}]})
    for folder in (tmp_path, *tmp_path.parents):
        if os.stat(folder).st_uid == 0 and folder != folder.parent:
            folder.chmod(folder.stat().st_mode | 0o011)
    requests = [("POST", "/v1/tools/add", json.dumps(ADD)), ("POST", "/v1/tools/multiply", json.dumps(ADD)),
                ("GET", "/v1/status", None), ("POST", "/v1/approvals/1", '{"decision":"allow"}')]
    answers = ask_as(path, *requests, user=65534, group=0, extra_groups=[])
    assert [status for status, _ in answers] == [200, 404, 403, 403]
    with pytest.raises(subprocess.CalledProcessError):
        ask_as(path, *requests, user=65534, group=65534, extra_groups=[])
    with Http(path) as http:
        assert {one["source"] for one in http.get("/v1/calls").json["calls"]} == {"uid:65534"}


def test_a_tool_is_no_operator(start, path, tmp_path):
    """It runs as the user of the daemon."""
    folder = tmp_path / "toolbox.d" / "asks"
    folder.mkdir(parents=True)
    (folder / "client.py").write_text(CLIENT)
    requests = [("GET", "/v1/tools/add", None), ("GET", "/v1/status", None)]
    (folder / "manifest.json").write_text(json.dumps({
        "kind": "command", "risk": "read", "sandbox": {"class": "none"},
        "tools": [{"name": "ask", "description": "Ask.", "argument_schema": {"type": "object"},
                   "command": {"argv": [sys.executable, "-I", str(folder / "client.py"), str(path),
                                        json.dumps(requests)], "output": "json"}}]}))
    service = start(folders=[manifests.SHIPPED, folder.parent])
    with Caller(service.url) as caller:
        answer = caller.call("ovos.tools.invoke", {"name": "ask", "args": {}})
    assert "result" in answer, answer
    assert [status for status, _ in answer["result"]["output"]] == [200, 403]


def test_a_stale_socket_is_replaced(start, path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
    start()
    with Http(path) as http:
        assert http.get("/health").status == 200


@pytest.mark.parametrize("kind", ["file", "living", "folder"])
def test_what_is_in_use_is_not_replaced(path, tmp_path, kind):
    other = socket.socket(socket.AF_UNIX)
    if kind == "living":
        other.bind(str(path))
        other.listen()
    elif kind == "file":
        path.write_text("mine")
    else:
        path /= "nothing"
    done = subprocess.run([TOOLBOXD, "--embedded-bus", "--bus", "ws://127.0.0.1:0/core", "--http", f"unix:{path}"],
                          env=environment(tmp_path), capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    said = "Address already in use" if kind != "folder" else "No such file or directory"
    assert f"Cannot listen on unix:{path}: {said}" in done.stderr + done.stdout
    assert path.exists() == (kind != "folder")
    other.close()


def test_a_user_has_a_limit_of_connections(start, path):
    start({"http": {"limits": {"per_address": 3}}})
    held = []
    for _ in range(3):
        held.append(socket.socket(socket.AF_UNIX))
        held[-1].connect(str(path))
        held[-1].sendall(b"POST /v1/tools/add HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                         b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n")
        assert b"100 Continue" in held[-1].recv(100)
    with Http(path) as http:
        assert http.get("/v1/tools").status == 200
        assert held[0].recv(100) == b"", "the one that was half-made for longest gave way"
    for one in held:
        one.close()
