# SPDX-License-Identifier: Apache-2.0
"""A configuration that may hide a restriction closes the service: nothing is offered until it is
mended, and at a reload the one in force stays."""
import json
import os
import subprocess

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXD, environment, toolboxctl, until
from test_systemd import Notices
from websocket_peer import Closed, Peer

BROKEN = '{"toolboxd": {\n "tools_enabled": ["add"],,\n}}'
MENDED = '{"toolboxd": {"tools_enabled": ["add"]}}'


def home_of(tmp_path):
    """The home of the first daemon that is launched."""
    return tmp_path / "home-0" / "toolboxd"


def write(home, text):
    """Replace the user's file as editors do."""
    path = home / "config" / "mycroft" / "mycroft.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".swp")
    beside.write_text(text)
    os.replace(beside, path)
    return path


def is_ready(caller):
    return caller.call("mycroft.toolboxd.is_ready")["status"]


@pytest.fixture
def launch_with(tmp_path, launch):
    """launch_with(text, …): a daemon that starts with this configuration, ready or not; on a bus of
    others where its own would let nobody in, because the mistake may hide a token."""
    def start(text, **options):
        path = write(home_of(tmp_path), text)
        options.setdefault("kind", "ovos-messagebus" if text == BROKEN else "embedded")
        service = launch(wait=False, **options)
        until(lambda: "On the bus at" in service.daemon.log(), EVENT_SECONDS, "it on the bus")
        return service, path

    return start


def expect_closed(caller, place):
    """Nothing is offered, and every answer tells why."""
    assert caller.call("mycroft.toolboxd.is_alive")["status"] is True
    assert not is_ready(caller)
    assert caller.call("mycroft.toolboxd.all_loaded")["status"] is False
    assert caller.call("ovos.tools.list") == {"tools": []}
    for topic in ("ovos.tools.invoke", "ovos.tools.validate", "ovos.tools.get"):
        answer = caller.call(topic, {"name": "add", "args": {"a": 1, "b": 2}})
        assert answer["code"] == "unavailable", answer
        assert place in answer["error"], answer
    assert caller.call("ovos.tools.match", {"utterance": "what is 1 plus 2"})["name"] is None
    caller.settle()
    caller.send("ovos.persona.tools.discover")
    caller.send("ovos.persona.tools.call", {"toolbox_id": "math_tools", "name": "add",
                                            "kwargs": {"a": 1, "b": 2}})
    caller.send("ovos.persona.tools.math_tools.call", {"name": "add", "kwargs": {}})
    assert [one for one in caller.settle() if one.type.endswith(".response")] == []
    for topic in ("ovos.tools.status", "ovos.tools.reload"):
        mistakes = caller.call(topic)["configuration"]
        assert any(place == f"{one['file']}:{one['line']}" for one in mistakes), mistakes
        assert mistakes[-1]["error"] == "nothing is offered until this is mended"


@pytest.mark.parametrize("text, line", [
    (BROKEN, 2),
    ('{"toolboxd": {\n\n"profiles": {"a": {"tool_name": []}}}}', 3),
    ('{"toolboxd":\n{"sandbox_max": "al"}}', 2),
    ('{"toolboxd":\n{"http": {"profile": 1}}}', 2),
    ('{"toolboxd":\n{"toolboxes": {"math_tools":\n{"tools": {"add": {"enabled": "no"}}}}}}', 3),
    ('{"toolboxd":\n{"aproval": {"mode": "strict"}}}', 2),
])
def test_nothing_is_offered_by_a_start_that_is_closed_until_it_is_mended(launch_with, text, line):
    service, path = launch_with(text)
    place = f"{path}:{line}"
    with Caller(service.url) as caller:
        expect_closed(caller, place)
        log = service.daemon.log()
        assert log.count(f"ERROR {place}") == 1, log
        assert log.count("ERROR nothing is offered until this is mended") == 1, log
        status = toolboxctl("status", bus=service.url, home=service.daemon.home)
        assert place in status.stderr and "nothing is offered" in status.stderr
        listed = toolboxctl("list", "--why", bus=service.url, home=service.daemon.home)
        assert place in listed.stderr and "nothing is offered" in listed.stderr
        assert toolboxctl("list", "--offline", home=service.daemon.home).returncode == 1
        service.forget_who_left()

        write(service.daemon.home, BROKEN.replace("{", "{\n", 1))
        until(lambda: f"{path}:3" in caller.invoke("add", {"a": 1, "b": 2})["error"], EVENT_SECONDS,
              "the other mistake")

        write(service.daemon.home, MENDED)
        until(lambda: is_ready(caller), EVENT_SECONDS, "the mended configuration")
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert caller.invoke("subtract", {"a": 1, "b": 2})["code"] == "unknown_tool"
        assert "configuration" not in caller.call("ovos.tools.status")


def test_a_variable_that_is_almost_one_that_decides_closes_the_start(launch):
    service = launch({}, wait=False, env={"TOOLBOXD_TOOLS_DISABELD": "add"})
    with Caller(service.url) as caller:
        answer = caller.invoke("add", {"a": 1, "b": 2})
        assert answer["code"] == "unavailable"
        assert "TOOLBOXD_TOOLS_DISABELD: is an unknown variable" in answer["error"]


TOKEN = "a-token.of_31~letters-and-digits"


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("text", [
    '{"toolboxd": {"embedded": {"token_file": "%s"}},,}',
    '{"toolboxd": {"embedded": {"token_fil": "%s"}}}',
    '{"toolboxd": {"embeded": {"token_file": "%s"}}}',
    '{"toolboxd": {"embedded": ["token_file", "%s"]}}',
    '{"toolboxd": ["embedded", "token_file", "%s"]}',
])
def test_no_client_is_let_in_while_it_is_unknown_whether_a_token_is_needed(
        launch_with, token_file, text):
    service, _ = launch_with(text % token_file)
    for url in (service.url, f"{service.url}?token={TOKEN}", f"{service.url}?token=%01"):
        with pytest.raises(Closed):
            Peer(url)
    assert "No client can connect to the embedded bus until this is" in service.daemon.log()
    check = subprocess.run([TOOLBOXD, "--check", "--embedded-bus"], text=True, capture_output=True,
                           env=environment(service.daemon.home))
    assert check.returncode == 1 and "no client could connect" in check.stderr

    write(service.daemon.home, '{"toolboxd": {"embedded": {"token_file": "%s"}}}' % token_file)
    until(lambda: "tools in" in service.daemon.log(), EVENT_SECONDS, "the mended configuration")
    with pytest.raises(Closed):
        Peer(service.url)
    with Caller(f"{service.url}?token={TOKEN}") as caller:
        assert is_ready(caller)


def test_a_closed_configuration_whose_token_is_known_asks_for_it(launch_with, token_file):
    service, _ = launch_with(
        '{"toolboxd": {"embedded": {"token_file": "%s"}, "access": 1}}' % token_file)
    with pytest.raises(Closed):
        Peer(service.url)
    with Caller(f"{service.url}?token={TOKEN}") as caller:
        assert not is_ready(caller)


def test_what_only_a_start_reads_counts_once_it_is_mended(launch_with):
    service, _ = launch_with(BROKEN)
    write(service.daemon.home, json.dumps({"toolboxd": {"limits": {"args_bytes": 20}}}))
    until(lambda: "starting again" in service.daemon.log(), EVENT_SECONDS, "another start")
    urls = until(lambda: [line.split()[-1] for line in service.daemon.log().splitlines()
                          if "On the bus at" in line][1:], EVENT_SECONDS, "its address")
    with Caller(urls[-1]) as caller:
        until(lambda: is_ready(caller), EVENT_SECONDS, "it ready")
        assert caller.invoke("add", {"a": 1, "b": 2})["result"] == {"result": 3}
        assert caller.invoke("add", {"a": 1, "b": 2222222222222222222})["code"] == "too_large"


def test_the_configuration_is_watched_where_it_may_come_to_be(launch):
    service = launch(None)
    assert not (service.daemon.home / "config").exists()
    with Caller(service.url) as caller:
        def offered():
            return {tool["name"] for tool in caller.call("ovos.tools.list")["tools"]}

        assert len(offered()) > 1
        write(service.daemon.home, MENDED)
        until(lambda: offered() == {"add"}, EVENT_SECONDS, "the new file")
        write(service.daemon.home, MENDED.replace("add", "subtract"))
        until(lambda: offered() == {"subtract"}, EVENT_SECONDS, "the replaced file")
        write(service.daemon.home, BROKEN)
        until(lambda: "configuration" in caller.call("ovos.tools.status"), EVENT_SECONDS, "the mistake")
        assert offered() == {"subtract"} and is_ready(caller)
        (service.daemon.home / "system.conf").write_text('{"toolboxd": {"tools_enabled": []}}')
        (service.daemon.home / "config" / "mycroft" / "mycroft.conf").unlink()
        until(lambda: len(offered()) > 1, EVENT_SECONDS, "the removed file")


def test_a_link_to_the_configuration_is_watched_at_its_end(launch, tmp_path):
    target = tmp_path / "dotfiles" / "assistant.conf"
    target.parent.mkdir()
    target.write_text(MENDED)
    link = home_of(tmp_path) / "config" / "mycroft" / "mycroft.conf"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    service = launch()
    with Caller(service.url) as caller:
        assert len(caller.call("ovos.tools.list")["tools"]) == 1
        target.write_text('{"toolboxd": {"tools_enabled": ["add", "subtract"]}}')
        until(lambda: len(caller.call("ovos.tools.list")["tools"]) == 2, EVENT_SECONDS, "the changed file")


def test_systemd_waits_for_a_start_that_is_closed(launch_with, tmp_path):
    notices = Notices(str(tmp_path / "notify"))
    service, _ = launch_with(BROKEN, env={"NOTIFY_SOCKET": str(tmp_path / "notify")})
    assert int(notices.wait_for("EXTEND_TIMEOUT_USEC")["EXTEND_TIMEOUT_USEC"]) >= 30_000_000
    with Caller(service.url) as caller:
        assert not is_ready(caller)
    notices.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        notices.wait_for("READY")
    notices.socket.settimeout(EVENT_SECONDS)
    write(service.daemon.home, MENDED)
    assert notices.wait_for("READY")["READY"] == "1"
    notices.socket.close()


def test_no_code_of_a_toolbox_runs_while_it_is_unknown_what_is_disabled(launch_with, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    service, _ = launch_with(BROKEN, toolbox_dirs=[folder])
    with Caller(service.url) as caller:
        caller.call("ovos.tools.reload")
        assert service.daemon.hosts() == []
        assert caller.call("ovos.tools.status")["toolboxes"] == []
