# SPDX-License-Identifier: Apache-2.0
"""toolboxctl over HTTP: the same as over the bus, and what goes wrong on the way."""
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import manifests
import pytest
from caller import Caller
from http_peer import port_of
from processes import (EVENT_SECONDS, FINDING, TOOLBOXCTL, at_most, ctl_command, environment, free_port,
                       toolboxctl, until)
from test_approval import Person, shell
from test_http_tls import certificate
from test_invoke import plugged, see

DONE, ERROR, USAGE, NO_SERVICE, NO_ANSWER = range(5)
TOKENS = {"boss": "boss-0123456789abcdef", "kid": "kid-0123456789abcdef", "wrong": "wrong-0123456789abcdef"}
# What differs from one call, or from one moment, to the next.
VOLATILE = re.compile(r"\b[0-9a-f]{32}\b|\b\d+(\.\d+)?( ?(ms|s|KiB|MiB|kB|MB|%))?\b|T?\d\d:\d\d:\d\d\S*")


def digest(name):
    return hashlib.sha256(TOKENS[name].encode()).hexdigest()


def has_call(service, name):
    with Caller(service.url) as caller:
        calls = caller.call("ovos.tools.calls", {"state": "running"})["calls"]
    return any(call["name"] == name for call in calls)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    from conftest import Service
    home = tmp_path_factory.mktemp("door")
    folder = home / "toolbox.d"
    manifests.answers(folder)
    manifests.misbehave(folder)
    manifests.twins(folder)
    manifests.toolbox(folder, "spoken", [manifests.tool("say", "labs", [manifests.integer("value")],
                                                        triggers=["say {value}"])])
    manifests.toolbox(folder, "broken", [manifests.labs()], library="libnot_there.so")
    for name, token in TOKENS.items():
        (home / name).write_text(token + "\n")
        (home / name).chmod(0o600)
    one = Service("embedded", home, [manifests.SHIPPED, folder],
                  args=["--http", "127.0.0.1:0", "--http", f"unix:{home / 'socket'}"],
                  configuration={
                      "crash_limit": 0, "profiles": {"kids": {"tool_names": ["add"]}},
                      "result_max_chars": 5_000_000, "limits": {"args_bytes": 1 << 20}, "approval": {"mode": "off"},
                      "http": {"tokens": [{"name": "boss", "token_sha256": digest("boss"), "admin": True},
                                          {"name": "kid", "token_sha256": digest("kid"), "profile": "kids"}]}})
    one.home = home
    with one:
        one.http = f"http://127.0.0.1:{port_of(one.daemon)}"
        yield one


def doors(service):
    """The flags of each way to @service, for one who may do everything."""
    return [["--bus", service.url], ["--http", f"unix:{service.home / 'socket'}"],
            ["--http", service.http + "/", "--token-file", service.home / "boss"]]


COMMANDS = [
    ["list"], ["list", "--json"], ["list", "--long"], ["list", "--why"], ["list", "ad*"], ["list", "nope"],
    ["list", "--toolbox", "left"], ["list", "--toolbox", "lef"], ["list", "--toolbox", "a/ b&%?\xe9"],
    ["list", "--profile", "kids"], ["list", "--stat", "--format", "mcp"],
    *(["list", "--format", format] for format in ("full", "compact", "openai", "anthropic", "mcp", "markdown", "xml")),
    *(["list", "--json", "--format", format] for format in ("full", "markdown", "xml")),
    ["get", "add"], ["get", "math_tools/add", "--json"], ["get", "same"], ["get", "ad"], ["get", "x y/z%"],
    ["get", ".."], ["get", "--profile", "kids", "multiply"],
    ["invoke", "add", "a=3", "b=4"], ["invoke", "left/same", "value=-1", "--json"], ["invoke", "same", "value=1"],
    ["invoke", "add", "--args", '{"a": 1, "b": 2}'], ["invoke", "add", "a=x", "b=4"], ["invoke", "add", "a=1"],
    ["invoke", "nope", "--json"], ["invoke", "add", "--args", "[1]"], ["invoke", "add", "--args", '{"a": 1, "a": 1}'],
    ["invoke", "add", "a=3", "b=x", "--dry-run"], ["invoke", "add", "a=3", "b=4", "--dry-run", "--json"],
    ["invoke", "echo", "text=a\nb \u00e9\u20ac", "--raw"], ["invoke", "hang", "seconds=9", "--toolbox", "answers"],
    ["invoke", "wait", "seconds=9", "--timeout", "0.3"], ["invoke", "segfault"], ["invoke", "small", "value=11"],
    ["invoke", "echo", "--args", json.dumps({"text": "x" * 100_000}), "--get", "result.text"],
    ["invoke", "--args", "[" * 200 + "]" * 200, "add"], ["invoke", "multiply", "a=1", "b=2", "--profile", "kids"],
    ["match", "say", "7"], ["match", "say 7", "--json"], ["match", "nothing \u00e9 & % +"],
    ["status"], ["status", "math_tools"], ["status", "math_tool"], ["status", "--json"],
    ["calls", "--failed"], ["calls", "--tool", "math_tools/add", "--since", "10m"], ["calls", "--json", "--running"],
    ["calls", "--source", "toolboxctl"], ["cancel", "0"], ["reload"], ["reload", "--json"],
    ["approvals"], ["approvals", "--json"], ["approve", "0" * 32], ["deny", "x", "--reason", "\u00e9", "--json"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command)[:100])
def test_a_command_is_the_same_through_each_door(started, tmp_path, command):
    outcomes = []
    for flags in doors(started):
        # A machine may hold an answer up for longer than the deadline of its call, and a second.
        for _ in range(3):
            done = toolboxctl(*command, *flags, home=tmp_path)
            if "no answer from" not in done.stderr:
                break
        outcomes.append([done.returncode, VOLATILE.sub("#", done.stdout), VOLATILE.sub("#", done.stderr)])
    for one in outcomes:
        one[1:] = [re.sub(r" +|-{2,}", " ", text) for text in one[1:]]
    assert outcomes[0][0] in (DONE, ERROR, USAGE, NO_ANSWER) and any(outcomes[0][1:])
    assert outcomes[1] == outcomes[0] and outcomes[2] == outcomes[0]


def test_calls_name_their_door(started, tmp_path):
    for flags in doors(started):
        assert toolboxctl("invoke", "add", "a=1", "b=2", *flags, home=tmp_path).returncode == DONE
    with Caller(started.url) as caller:
        calls = caller.call("ovos.tools.calls", {"limit": 3})["calls"]
    assert [(call["door"], call["source"], call["session_id"]) for call in calls] == [
        ("http", "http:boss", "default"), ("http", f"uid:{os.getuid()}", "default"), ("bus", "toolboxctl", "default")]


def test_variables_name_the_door(started, tmp_path):
    env = {"TOOLBOXD_HTTP": f"unix:{started.home / 'socket'}", "TOOLBOXD_BUS": "ws://127.0.0.1:1/core"}
    for variables, code in ((env, DONE), ({**env, "TOOLBOXD_HTTP": ""}, NO_SERVICE), ({}, NO_SERVICE)):
        done = toolboxctl("match", "say 7", home=tmp_path, env={"TOOLBOXD_BUS": "ws://127.0.0.1:1/core", **variables})
        assert done.returncode == code, done.stderr
    done = toolboxctl("match", "say 7", bus=started.url, home=tmp_path, env={"TOOLBOXD_HTTP": "http://127.0.0.1:1"})
    assert done.returncode == DONE, "--bus is nearer than a variable"
    done = toolboxctl("list", "--token-file", started.home / "kid", home=tmp_path,
                      env={"TOOLBOXD_HTTP": started.http, "http_proxy": "http://127.0.0.1:1"})
    assert done.returncode == DONE and "add" in done.stdout and "multiply" not in done.stdout
    words = toolboxctl("complete", "--", "invoke", "spoken/", home=tmp_path, env=env).stdout
    assert words == "spoken/say\n"


@pytest.mark.parametrize("command,reason", [
    (["allow", "add"], "files of the service"), (["disable", "add"], "files of the service"),
    (["profile", "list"], "files of the service"), (["token", "list"], "files of the service"),
    (["approvals", "--allowed"], "files of the service"), (["mcp"], "/mcp"),
    (["invoke", "add", "a=1", "b=2", "--yes"], "HTTP has no route")])
def test_what_has_no_route_says_so(started, tmp_path, command, reason):
    env = {"TOOLBOXD_HTTP": f"unix:{started.home / 'socket'}"}
    done = toolboxctl(*command, home=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (USAGE, "") and reason in done.stderr
    if "invoke" not in command and "approvals" not in command:
        done = toolboxctl(*command, "--http", env["TOOLBOXD_HTTP"], home=tmp_path)
        assert done.returncode == USAGE and f"{command[0]} takes no --http" in done.stderr


def test_a_token_opens_what_it_is_for(started, tmp_path):
    def run(*command, token=None, home=tmp_path):
        return toolboxctl(*command, "--http", started.http, *(["--token-file", started.home / token] if token else []),
                          home=home)
    for token in (None, "wrong"):
        done = run("list", token=token)
        assert (done.returncode, done.stdout) == (ERROR, "") and "token" in done.stderr
        done = run("invoke", "add", "a=1", "b=2", "--json", token=token)
        assert done.returncode == ERROR and json.loads(done.stdout)["code"] == "unauthorized"
    assert run("invoke", "add", "a=1", "b=2", token="kid").returncode == DONE
    done = run("invoke", "multiply", "a=1", "b=2", token="kid")
    assert done.returncode == ERROR and "Unknown tool" in done.stderr
    shown = run("get", "add", token="kid")
    assert shown.returncode == DONE and shown.stdout.startswith("math_tools/add") and "From" not in shown.stdout
    done = run("list", "--toolbox", "left", token="kid")
    assert done.returncode == ERROR and done.stderr == "toolboxctl: no toolbox is called 'left'; see toolboxctl list\n"
    for command in (["status"], ["reload"], ["calls"], ["cancel", "0"], ["approvals"], ["approve", "0" * 32], ["list", "--why"]):
        done = run(*command, token="kid")
        assert done.returncode == ERROR and "operator" in done.stderr, command


@pytest.mark.parametrize("url,warns", [("http://kitchen.invalid", True), ("http://[2001:db8::1]:1", True),
                                       ("http://127.0.0.2:1", False), ("http://[::1]:1", False), ("http://localhost:1", False),
                                       ("https://kitchen.invalid", False), ("unix:/nowhere", False)])
def test_a_token_in_clear_is_warned_of(started, tmp_path, url, warns):
    for more in ([], ["--token-file", started.home / "kid"]):
        done = toolboxctl("list", "--http", url, "--timeout", "1", *more, home=tmp_path)
        assert done.returncode == NO_SERVICE
        assert ("can be read on its way" in done.stderr) is (warns and bool(more)), done.stderr


@pytest.mark.parametrize("make,reason", [
    (lambda path: path.chmod(0o604), "others cannot read"), (lambda path: path.chmod(0o620), "others cannot read"),
    (lambda path: path.write_text("short\n"), "16 to 256"), (lambda path: path.write_text("a b" * 9), "16 to 256"),
    (lambda path: path.unlink(), "can be read")])
def test_a_token_file_is_a_secret(started, tmp_path, make, reason):
    path = tmp_path / "token"
    path.write_text(TOKENS["boss"])
    path.chmod(0o600)
    run = ["list", "--http", started.http, "--token-file", path]
    assert toolboxctl(*run, home=tmp_path).returncode == DONE
    make(path)
    done = toolboxctl(*run, home=tmp_path)
    assert (done.returncode, done.stdout) == (USAGE, "") and reason in done.stderr and TOKENS["boss"] not in done.stderr


@pytest.mark.parametrize("url", [
    "127.0.0.1:8090", "ws://127.0.0.1:1/core", "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999", "http://a b",
    "http://user@127.0.0.1:1", "http://127.0.0.1:1/?a", "http://127.0.0.1:1/#a", "unix:socket",
    "unix:", "file:///etc/passwd", "http://" + "a" * 600, "https:127.0.0.1:1"])
def test_a_url_names_a_service_and_no_more(tmp_path, url):
    done = toolboxctl("list", "--http", url, home=tmp_path)
    assert (done.returncode, done.stdout) == (USAGE, "") and "--http must be" in done.stderr, done.stderr


def test_flags_that_cannot_be_together(started, tmp_path):
    done = toolboxctl("list", "--http", started.http, bus=started.url, home=tmp_path)
    assert done.returncode == USAGE and "two services" in done.stderr
    done = toolboxctl("list", "--token-file", started.home / "boss", bus=started.url, home=tmp_path)
    assert done.returncode == USAGE and "--token-file goes with --http" in done.stderr


def test_nothing_is_there(tmp_path):
    port = free_port()
    done = toolboxctl("list", "--http", f"http://127.0.0.1:{port}", home=tmp_path)
    assert (done.returncode, done.stdout) == (NO_SERVICE, "")
    assert done.stderr == f"toolboxctl: no tool service at http://127.0.0.1:{port}: Connection refused\n"
    done = toolboxctl("list", "--http", f"unix:{tmp_path}/none", home=tmp_path)
    assert done.returncode == NO_SERVICE
    assert done.stderr == f"toolboxctl: no tool service at unix:{tmp_path}/none: No such file or directory\n"
    done = toolboxctl("list", "--http", "http://no-such-name.invalid:1", home=tmp_path)
    assert done.returncode == NO_SERVICE and "no-such-name.invalid" in done.stderr


def test_a_name_server_that_is_slow_holds_nobody(tmp_path):
    """Neither when the time is over: its answer would take 30 s."""
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 127.0.0.77\noptions timeout:30 attempts:1\n")
    inside = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(file)]
    if os.getuid() != 0 or subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        pytest.skip("only root of this device may have name servers of its own")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.77", 53))
        done = subprocess.run([*inside, str(TOOLBOXCTL), "list", "--http", "http://kitchen.example", "--timeout", "0.5"],
                              env=environment(tmp_path), capture_output=True, text=True, timeout=20)
        server.setblocking(False)
        assert server.recv(512), "it was asked"
    assert done.returncode == NO_SERVICE and "no response within 0.5 s" in done.stderr


@contextlib.contextmanager
def peer(answer, n_connections=1):
    """A server that reads a request and answers by @answer(socket). Its URL, and the requests."""
    listener = socket.create_server(("127.0.0.1", 0))
    requests = []

    def serve():
        for _ in range(n_connections):
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                requests.append(connection.recv(65536))
                answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(EVENT_SECONDS)


def sends(data):
    return lambda connection: connection.sendall(data)


def page(body, status="200 OK", type="application/json", more=""):
    body = body.encode()
    return (f"HTTP/1.1 {status}\r\nContent-Type: {type}\r\n{more}Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n").encode() + body


@pytest.mark.parametrize("data,reason", [
    (b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "HTTP/0.9"), (b"", "Empty reply"), (b"\0\1\2\3" * 100, "HTTP/0.9"),
    (page("<html>hello</html>", type="text/html"), "of status 200"), (page("[1]"), "of status 200"),
    (page('{"a": 1, "a": 2}'), "of status 200"), (page(""), "of status 200"),
    (page('{"detail": "Not Found"}', "404 Not Found"), "of status 404"), (page("x", "502 Bad Gateway"), "of status 502"),
    (page("", "302 Found", more="Location: http://127.0.0.1:1/\r\n"), "of status 302"),
    (page('{"tools": []}')[:-4], "bytes remaining"),
    (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n" + b" " * (11 << 20),
     "too large"),
    (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 400_000 + b"\r\n", "")])
def test_what_answers_is_no_tool_service(tmp_path, data, reason):
    def answer(connection):
        with contextlib.suppress(OSError):
            connection.sendall(data)
    with peer(answer) as (url, _):
        done = toolboxctl("list", "--http", url, home=tmp_path)
    assert (done.returncode, done.stdout) == (NO_SERVICE, "")
    assert done.stderr.startswith(f"toolboxctl: no tool service at {url}: ") and reason in done.stderr
    assert "127.0.0.1:1/" not in done.stderr


def test_a_call_whose_answer_is_lost_is_not_sent_again(tmp_path):
    definition = page('{"name": "add", "argument_schema": {}}').replace(b"Connection: close\r\n", b"")

    def answer(connection):
        """The definition, on a connection that stays; of a call nothing."""
        if b"GET" in requests[-1]:
            connection.sendall(definition)
            connection.settimeout(0.5)
            with contextlib.suppress(OSError):
                requests.append(connection.recv(65536))
    with peer(answer, n_connections=4) as (url, requests):
        done = toolboxctl("invoke", "add", "a=1", "--http", url, home=tmp_path)
    calls = [request.split(b"\r\n")[0] for request in requests if request.startswith(b"POST")]
    assert len(calls) == 1 and calls[0].startswith(b"POST /v1/tools/add?call_id="), requests
    assert (done.returncode, done.stdout) == (NO_ANSWER, "")
    assert "no answer from the service" in done.stderr and "the tool may have run" in done.stderr


@pytest.mark.parametrize("response", [page("oops", "502 Bad Gateway", "text/html"), page('{"x": 1}', "404 Not Found"),
                                      page("["), page('{"result": {}}')[:-1], page('{"result": {}}') * 2])
def test_a_response_to_a_call_that_is_none(tmp_path, response):
    def answer(connection):
        connection.sendall(page('{"name": "add"}') if b"GET" in requests[-1] else response)
    with peer(answer, n_connections=2) as (url, requests):
        done = toolboxctl("invoke", "add", "--args", "{}", "--json", "--http", url, home=tmp_path)
    if response == page('{"result": {}}') * 2:
        assert (done.returncode, done.stdout) == (DONE, '{"result": {}}\n')
    else:
        assert (done.returncode, done.stdout) == (NO_ANSWER, "") and "the tool may have run" in done.stderr


def test_who_is_slow_is_waited_for_and_no_longer(tmp_path):
    def silent(connection):
        with contextlib.suppress(OSError):
            connection.recv(1)
    with peer(silent) as (url, _):
        start = time.monotonic()
        done = toolboxctl("list", "--http", url, "--timeout", "0.5", home=tmp_path)
        assert time.monotonic() - start < at_most(10)
    assert (done.returncode, done.stdout) == (NO_ANSWER, "")
    assert done.stderr == f"toolboxctl: no answer from {url} within 0.5 s (--timeout)\n"
    with peer(silent) as (url, requests):
        done = toolboxctl("invoke", "add", "--args", "{}", "--json", "--http", url, "--timeout", "0.5", home=tmp_path)
    assert (done.returncode, done.stdout, len(requests)) == (NO_ANSWER, "", 1)

    def silent_call(connection):
        if b"GET" in requests[-1]:
            connection.sendall(page('{"name": "add"}'))
        else:
            silent(connection)
    with peer(silent_call, n_connections=2) as (url, requests):
        done = toolboxctl("invoke", "add", "--args", "{}", "--json", "--http", url, "--timeout", "0.5", home=tmp_path)
    assert (done.returncode, done.stdout, len(requests)) == (NO_ANSWER, "", 2)
    assert done.stderr == (f"toolboxctl: no answer from {url} within 1.5 s (--timeout); "
                           "the connection is closed, which cancels the call\n")

    def slow(connection):
        for byte in page('{"tools": []}'):
            connection.sendall(bytes([byte]))
            time.sleep(0.002)
    with peer(slow) as (url, _):
        done = toolboxctl("list", "--http", url, "--timeout", "15", "--json", home=tmp_path)
    assert (done.returncode, done.stdout) == (DONE, '{"tools": []}\n')


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_call(started, tmp_path, number):
    process = subprocess.Popen([str(part) for part in [TOOLBOXCTL, "invoke", "wait", "seconds=15", *doors(started)[1]]],
                               env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: has_call(started, "wait"), EVENT_SECONDS, "a call")
    process.send_signal(number)
    out, err = process.communicate(timeout=EVENT_SECONDS)
    assert (process.returncode, out) == (128 + number, "") and "which cancels the call" in err
    until(lambda: not has_call(started, "wait"), EVENT_SECONDS, "the call cancelled")


def test_a_call_is_cancelled_by_another_hand(started, tmp_path):
    flags = doors(started)[2]
    process = subprocess.Popen([str(part) for part in [TOOLBOXCTL, "invoke", "wait", "seconds=15", *flags]],
                               env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: has_call(started, "wait"), EVENT_SECONDS, "a call")
    listed = json.loads(toolboxctl("calls", "--running", "--json", *flags, home=tmp_path).stdout)["calls"]
    done = toolboxctl("cancel", listed[0]["id"], *flags, home=tmp_path)
    assert (done.returncode, done.stdout) == (DONE, f"{listed[0]['id']} cancelled\n")
    _, err = process.communicate(timeout=EVENT_SECONDS)
    assert process.returncode == ERROR and "was cancelled" in err


@pytest.mark.parametrize("size", [(1 << 20) + 1000, 3 << 20])
def test_too_much_is_refused(started, tmp_path, size):
    """The arguments, and the body."""
    text = tmp_path / "text"
    text.write_text("x" * size)
    for flags in doors(started):
        done = toolboxctl("invoke", "echo", f"text=@{text}", "--json", *flags, home=tmp_path)
        assert done.returncode == ERROR and json.loads(done.stdout)["code"] == "too_large", done.stderr


def test_a_person_is_waited_for(launch, tmp_path, request):
    """While a person is asked, the time of the call does not pass: with --long that takes longer than the tool may."""
    folder = tmp_path / "toolbox.d"
    shell(folder)
    service = launch({"timeout_ms": 10000}, [folder], args=["--http", f"unix:{tmp_path / 'socket'}"])
    http = ["--http", f"unix:{tmp_path / 'socket'}"]
    place = tmp_path / "touched"
    with Person(service.url) as person:
        person.attach(60)
        process = subprocess.Popen([str(part) for part in [TOOLBOXCTL, "invoke", "touch", f"file={place}", *http]],
                                   env=environment(tmp_path / "ctl"), stdout=subprocess.PIPE, text=True)
        id = person.question()["id"]
        listed = toolboxctl("approvals", *http, home=tmp_path / "ctl")
        assert listed.returncode == DONE and id in listed.stdout and "touch" in listed.stdout
        time.sleep(18 if request.config.getoption("--long") else 0)
        assert not place.exists() and process.poll() is None
        assert toolboxctl("approve", id, "--session", *http, home=tmp_path / "ctl").returncode == DONE
        out, _ = process.communicate(timeout=EVENT_SECONDS)
        assert process.returncode == DONE and place.exists(), out


@pytest.mark.parametrize("start_ms,reports,least,most", [(1, 0, 5, 10), (None, 0, 15, 19), (10000, 2, 15 + 6, 15 + 6 + 4)])
def test_a_call_of_which_nothing_comes_is_given_up(tmp_path, request, start_ms, reports, least, most):
    """After its deadline, the start of a process and 5 s, which each report of progress begins anew."""
    if start_ms != 1 and not request.config.getoption("--long"):
        pytest.skip("it waits for 15 s")
    definition = {"name": "add", "timeout_ms": 500, **({"start_timeout_ms": start_ms} if start_ms else {})}

    def answer(connection):
        if b"GET" in requests[-1]:
            connection.sendall(page(json.dumps(definition)))
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for _ in range(reports):
            time.sleep(3)
            connection.sendall(b'event: progress\ndata: {"progress": 0.5, "text": "half"}\n\n')
        connection.settimeout(60)
        with contextlib.suppress(OSError):
            connection.recv(1)

    with peer(answer, n_connections=2) as (url, requests):
        start = time.monotonic()  # without a --timeout, which would be the limit
        done = subprocess.run([TOOLBOXCTL, "invoke", "add", "--args", "{}", "--json", "--http", url], env=environment(tmp_path),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert least <= time.monotonic() - start < at_most(most)
    assert done.returncode == NO_ANSWER and "the connection is closed, which cancels the call" in done.stderr


def test_a_service_that_goes_is_waited_for(launch, tmp_path):
    args = ["--http", f"unix:{tmp_path / 'socket'}"]
    first = launch({}, args=args)
    until(lambda: (tmp_path / "socket").exists(), EVENT_SECONDS, "the door open")
    log = tmp_path / "out"
    with open(log, "w") as out:
        process = subprocess.Popen([str(part) for part in [TOOLBOXCTL, "status", "--watch", "--json", "--timeout", "2", *args]], env=environment(tmp_path / "ctl"),
                                   stdout=out, stderr=subprocess.STDOUT, text=True)
    try:
        assert toolboxctl("invoke", "add", "a=1", "b=2", *args, home=tmp_path / "ctl").returncode == DONE
        until(lambda: "add" in log.read_text() or "math_tools" in log.read_text(), EVENT_SECONDS, "an answer")
        first.end()
        until(lambda: "the service is away" in log.read_text(), EVENT_SECONDS, "the loss")
        second = launch({}, args=args)
        before = len(log.read_text())
        toolboxctl("invoke", "multiply", "a=1", "b=2", *args, home=tmp_path / "ctl")
        until(lambda: len(log.read_text()) > before, EVENT_SECONDS, "the service again")
        assert process.poll() is None and log.read_text().count("is away") == 1
        pid = second.daemon.daemon_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            until(lambda: log.read_text().count("is away") == 2, EVENT_SECONDS, "the service that hangs")
        finally:
            os.kill(pid, signal.SIGCONT)
        before = len(log.read_text())
        toolboxctl("invoke", "add", "a=1", "b=2", *args, home=tmp_path / "ctl")
        until(lambda: len(log.read_text()) > before, EVENT_SECONDS, "the service awake")
    finally:
        process.kill()
        process.wait()
    assert not FINDING.search(log.read_text())


class Watch:
    """A running `toolboxctl watch`, and the lines that it has printed."""

    def __init__(self, home, *args):
        self.log = home / "watch"
        home.mkdir(exist_ok=True)
        with open(self.log, "w") as out:
            self.process = subprocess.Popen(ctl_command("watch", *args), env=environment(home),
                                            stdout=out, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        assert not FINDING.search(self.log.read_text()), self.log.read_text()

    def lines(self):
        return self.log.read_text().splitlines()

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def add_until(service, watch, found):
    """Call until @found(lines): the stream opens a little later than the program starts."""
    def call():
        with Caller(service.url) as caller:
            caller.call("ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 2}})
        return found(watch.lines())
    until(call, EVENT_SECONDS, "a line of watch")


@pytest.mark.parametrize("through", [1, 2])
def test_watch(started, tmp_path, through):
    flags = doors(started)[through]
    with Watch(tmp_path, "--json", "--tool", "add", "--count", "2", *flags) as watch:
        add_until(started, watch, lambda lines: watch.process.poll() is not None)
        assert watch.process.returncode == DONE
        events = [json.loads(line) for line in watch.lines()]
    assert {event["type"] for event in events} == {"ovos.tools.call.started", "ovos.tools.call.completed"}
    assert all(event["data"]["name"] == "add" and "id" in event["data"] for event in events)
    assert [event["type"] for event in events].count("ovos.tools.call.completed") == 2


def test_watch_is_for_an_operator(started, tmp_path):
    """Others learn that something has changed, and no more."""
    with Watch(tmp_path, "--http", started.http, "--token-file", started.home / "wrong") as watch:
        assert watch.process.wait(EVENT_SECONDS) == ERROR
        assert "no usable token" in watch.log.read_text()
    with Watch(tmp_path, "--json", "--http", started.http, "--token-file", started.home / "kid") as watch:
        def tell():
            """Call a tool, and change the tools."""
            manifests.toolbox(started.home / "toolbox.d", "late", [manifests.labs(f"tool_{time.monotonic_ns()}")])
            with Caller(started.url) as caller:
                caller.call("ovos.tools.invoke", {"name": "add", "args": {"a": 1, "b": 2}})
                caller.call("ovos.tools.reload")
            return watch.lines()
        until(tell, EVENT_SECONDS, "a change")
        assert set(watch.lines()) == {'{"type":"ovos.tools.changed","data":{}}'}


def test_watch_outlives_the_service(launch, tmp_path, request):
    args = ["--http", f"unix:{tmp_path / 'socket'}"]
    first = launch({}, args=args)
    until(lambda: (tmp_path / "socket").exists(), EVENT_SECONDS, "the door open")
    with Watch(tmp_path / "ctl", *args) as watch:
        add_until(first, watch, lambda lines: any("  done" in line for line in lines))
        first.end()
        until(lambda: any("is away" in line for line in watch.lines()), EVENT_SECONDS, "the loss")
        second = launch({}, args=args)
        before = len(watch.lines())
        add_until(second, watch, lambda lines: len(lines) > before)
        assert sum("is away" in line for line in watch.lines()) == 1
        used = watch.cpu_seconds()
        time.sleep(11 if request.config.getoption("--long") else 0)
        assert watch.cpu_seconds() - used < 1, "it renews nothing while the stream is open"


def test_progress_is_shown(launch, tmp_path):
    launch({}, [plugged(tmp_path / "toolbox.d")], args=["--http", f"unix:{tmp_path / 'socket'}"])
    http = ["--http", f"unix:{tmp_path / 'socket'}"]
    until(lambda: (tmp_path / "socket").exists(), EVENT_SECONDS, "the door open")
    toolboxctl("invoke", "later", "steps=1", *http, home=tmp_path / "ctl")
    status, text, drawn = see(tmp_path / "ctl", 80, "invoke", "later", "steps=100000", *http, env={"LC_ALL": "C.UTF-8"})
    assert status == 0 and '"steps": 100000' in text, text
    lines = [one for one in drawn if "%" in one]
    assert lines and all(re.match(r"stepping [█░]+ \d+ %  \d+\.\d s", one) for one in lines), drawn
    status, text, _ = see(tmp_path / "ctl", 80, "invoke", "later", "steps=x", *http)
    assert status == 1 and "Tool input validation failed" in text


@pytest.mark.parametrize("events,status,words", [
    ("event: progress\ndata: {\"progress\": 0.5, \"text\": \"half\"}\n\n", NO_ANSWER, "the tool may have run"),
    ("event: progress\ndata: nonsense\n\nevent: result\ndata: {\"result\": {\"a\": 1}}\n\n", DONE, '"a": 1'),
    ("event: error\ndata: {\"error\": \"no\", \"code\": \"busy\"}\n\n", ERROR, " no\r\n"),
    ("event: result\ndata: [\n\n", NO_ANSWER, "of status 200"), ("data: " + "x" * (11 << 20), NO_ANSWER, "the response is too large")])
def test_the_stream_of_a_call_ends_with_its_answer(tmp_path, events, status, words):
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events.encode()

    def answer(connection):
        with contextlib.suppress(OSError):
            connection.sendall(page('{"name": "add"}') if b"GET" in requests[-1] else stream)
    with peer(answer, n_connections=2) as (url, requests):
        code, text, _ = see(tmp_path, 80, "invoke", "add", "--args", "{}", "--http", url)
    assert code == status and words in re.sub(r"\r\n +", " ", text), text
    assert b"\r\nAccept: text/event-stream\r\n" in requests[1]
    assert "(Ctrl-C cancels)\x1b[31m" not in text and "(Ctrl-C cancels)toolboxctl" not in text


def test_tls_is_verified(launch, tmp_path):
    tls, other = certificate(tmp_path, "ours"), certificate(tmp_path, "other")
    service = launch({"http": {"tls": tls}}, args=["--http", "127.0.0.1:0"])
    found = []
    until(lambda: found.extend(re.findall(r"Listening on https://127\.0\.0\.1:(\d+)", service.daemon.log())) or found,
          10, "the door open")

    def run(host, **env):
        return toolboxctl("invoke", "add", "a=1", "b=2", "--http", f"https://{host}:{found[0]}", home=tmp_path, env=env)
    for host in ("localhost", "127.0.0.1"):
        done = run(host, SSL_CERT_FILE=tls["cert"])
        assert (done.returncode, json.loads(done.stdout or "{}")) == (DONE, {"result": 3}), done.stderr
    for env in ({}, {"SSL_CERT_FILE": other["cert"]}):
        done = run("localhost", **env)
        assert (done.returncode, done.stdout) == (NO_SERVICE, "") and "certificate" in done.stderr
        assert "SSL_CERT_FILE" in done.stderr
    done = run("127.0.0.2", SSL_CERT_FILE=tls["cert"])
    assert done.returncode == NO_SERVICE
    done = toolboxctl("list", "--http", f"http://127.0.0.1:{found[0]}", home=tmp_path)
    assert done.returncode != DONE and done.stdout == ""
