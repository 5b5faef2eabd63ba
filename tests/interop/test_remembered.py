# SPDX-License-Identifier: Apache-2.0
"""What toolboxctl remembers for good: allow.json, disabled.json and profiles.d of the service."""
import datetime
import getpass
import json
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, TOOLBOXCTL, read_proc, toolboxctl, until, write_configuration



@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.toolbox(folder, "one", [manifests.labs("first", risk="execute"),
                                      manifests.labs("second")])
    return folder


def kept(service):
    """The service's own folder."""
    return service.daemon.home / "config" / "toolboxd"


def names(caller, **data):
    return [tool["name"] for tool in caller.call("ovos.tools.list", data)["tools"]]


def test_the_files_are_read_and_watched(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.status")["folders"] == ["/etc/toolboxd", str(kept(service))]
        assert caller.invoke("first", {"value": -1})["code"] == "denied"
        (kept(service) / "profiles.d").mkdir(parents=True)
        (kept(service) / "allow.json").write_text('[{"name": "one/first"}]')
        (kept(service) / "disabled.json").write_text('[{"name": "second"}]')
        (kept(service) / "profiles.d" / "none.json").write_text('{"tool_names": []}')
        until(lambda: names(caller) == ["first"], EVENT_SECONDS, "the files read")
        assert caller.invoke("first", {"value": -1})["result"] == {"result": 1}
        until(lambda: names(caller, profile="none") == [], EVENT_SECONDS, "the profile read")
        # A mistake keeps what is in force.
        (kept(service) / "disabled.json").write_text("[")
        answer = caller.call("ovos.tools.reload")
        assert answer["configuration"][0]["file"] == str(kept(service) / "disabled.json")
        assert names(caller) == ["first"]


@pytest.mark.parametrize("file, text, words", [
    ("profiles.d/kids.json", "{", "column"),
    ("profiles.d/kids.json", "[]", "object"),
    ("profiles.d/ki ds.json", "{}", "the name of a profile"),
    ("allow.json", "[1]", "must be an object"),
])
def test_a_reload_names_a_broken_file_and_keeps_what_is_in_force(launch, folder, file, text, words):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        path = kept(service) / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        first, *_ = caller.call("ovos.tools.reload")["configuration"]
        assert first["file"] == str(path) and words in first["error"], first
        done = toolboxctl("reload", bus=service.url, home=service.daemon.home)
        assert done.returncode == 1 and str(path) in done.stderr, done
        path.unlink()
        assert "configuration" not in caller.call("ovos.tools.reload")


def test_disabled_is_disabled_whatever_a_variable_enables(launch, folder, tmp_path):
    home = tmp_path / "home-0" / "toolboxd" / "config" / "toolboxd"
    home.mkdir(parents=True)
    (home / "disabled.json").write_text(json.dumps([{"name": "one/first"}]))
    service = launch({}, [folder], env={"TOOLBOXD_TOOLS_ENABLED": "first"})
    with Caller(service.url) as caller:
        assert names(caller) == []
        assert {one["name"]: one["why"] for one in
                caller.call("ovos.tools.status")["not_offered"]} == {
            "first": "disabled in disabled.json (`toolboxctl enable 'one/first'` enables it)",
            "second": "left out by TOOLBOXD_TOOLS_ENABLED"}


def at_once(service, *commands):
    """What commands that are typed at the same time come to."""
    with ThreadPoolExecutor(len(commands)) as pool:
        return [done.returncode for done in pool.map(
            lambda words: run(service, *words, seconds=60), commands)]


def test_no_word_is_lost_among_many_at_once(launch, folder):
    service = launch({}, [folder])
    words = [("allow", f"one/tool{i}") for i in range(16)]
    assert at_once(service, *words) == [0] * 16
    assert {one["name"] for one in entries(service, "allow.json")} == {name for _, name in words}
    assert at_once(service, *(("disallow", name) for _, name in words[:8]),
                   *(("disable", name) for _, name in words)) == [0] * 24
    assert {one["name"] for one in entries(service, "allow.json")} == {
        name for _, name in words[8:]}
    assert len(entries(service, "disabled.json")) == 16


def test_a_lock_that_is_a_link_is_not_followed(launch, folder):
    service = launch({}, [folder])
    kept(service).mkdir(parents=True, exist_ok=True)
    (kept(service) / ".lock").symlink_to(folder / "elsewhere")
    done = run(service, "allow", "one/first")
    assert done.returncode == 1 and "allow.json cannot be written: " in done.stderr
    assert not (folder / "elsewhere").exists()


def timers(service):
    """What the kernel shows of the timers of the daemon."""
    pid = service.daemon.daemon_pid()
    infos = (read_proc(pid, f"fdinfo/{fd}").decode() for fd in os.listdir(f"/proc/{pid}/fdinfo"))
    return "".join(info for info in infos if "clockid" in info)


def run(service, *args, **more):
    return toolboxctl(*args, bus=service.url, home=more.pop("home", service.daemon.home), **more)


def entries(service, file):
    return json.loads((kept(service) / file).read_text())


def rows(entry):
    """The cells of an entry where the clock is two hours ahead of UTC: of one of today, and of one before midnight."""
    since = datetime.datetime.fromisoformat(entry["since"].rstrip("Z")) + datetime.timedelta(hours=2)
    return [[entry["name"], *since.strftime(form).split(), entry["by"]] for form in ("%H:%M:%S", "%Y-%m-%d %H:%M")]


def test_allow_and_disallow(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        done = run(service, "allow", "one/first")
        assert done.returncode == 0 and done.stderr == ""
        assert done.stdout == f"one/first is allowed ({kept(service)}/allow.json)\n"
        assert caller.invoke("first", {"value": -1})["result"] == {"result": 1}
        [entry] = entries(service, "allow.json")
        assert list(entry) == ["name", "since", "by"] and entry["name"] == "one/first"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["since"])
        assert entry["by"] == getpass.getuser()
        assert (kept(service) / "allow.json").stat().st_mode & 0o777 == 0o644
        done = run(service, "approvals", "--allowed", env={"TZ": "UTC-2"})
        assert done.returncode == 0 and done.stderr == ""
        assert done.stdout.split()[3:] in rows(entry)
        done = run(service, "approvals", "--allowed", "--json")
        assert json.loads(done.stdout) == {"allowed": [entry]}
        # A second time changes nothing; a name that no tool has is told.
        assert run(service, "allow", "one/first").returncode == 0
        assert entries(service, "allow.json") == [entry]
        done = run(service, "allow", "nosuch")
        assert done.returncode == 0 and "no tool is called 'nosuch' now" in done.stderr
        done = run(service, "disallow", "nosuch", "one/first")
        assert done.returncode == 0 and entries(service, "allow.json") == []
        done = run(service, "approvals", "--allowed")
        assert done.returncode == 0 and done.stdout == "" and "no tool is allowed" in done.stderr
        assert caller.invoke("first", {"value": -1})["code"] == "denied"
        done = run(service, "disallow", "one/first")
        assert done.returncode == 1 and "one/first is not allowed here" in done.stderr
    assert sorted(path.name for path in kept(service).iterdir()) == [".lock", "allow.json"]


def test_every_allowance_is_listed(launch, folder):
    """Also those of the configuration of the service, which is not that of who asks."""
    service = launch({"profiles": {"none": {"tool_names": []}},
                      "access": [{"match": {"source": "kid"}, "profile": "none"}]}, [folder])
    done = run(service, "approvals", "--allowed")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "toolboxctl: no tool is allowed: all ask whose risk does (approval.mode)\n"
    write_configuration(service.daemon.home, {"toolboxd": {
        "approval": {"allow": ["one/second", "th*"]}, "profiles": {"none": {"tool_names": []}},
        "access": [{"match": {"source": "kid"}, "profile": "none"}]}})
    assert run(service, "allow", "one/first").returncode == 0
    [entry] = entries(service, "allow.json")
    done = run(service, "approvals", "--allowed", env={"TZ": "UTC-2"})
    *above, last = [line.split() for line in done.stdout.splitlines()]
    assert above == [["TOOLS", "SINCE", "BY"], ["one/second", "approval.allow"], ["th*", "approval.allow"]]
    assert last in rows(entry)
    done = run(service, "approvals", "--allowed", "--json")
    assert json.loads(done.stdout) == {"allowed": [
        {"name": "one/second", "since": None, "by": None}, {"name": "th*", "since": None, "by": None}, entry]}
    with Caller(service.url) as caller:
        status = caller.call("ovos.tools.status")["approval"]
        assert status["allow"] == ["one/second", "th*"]
        assert "allow" not in caller.call("ovos.tools.status", {}, {"source": "kid"})["approval"]


def test_disable_and_enable(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert run(service, "disable", "one/*").returncode == 0
        assert names(caller) == []
        [left_out] = caller.call("ovos.tools.status")["not_offered"]
        assert (left_out["toolbox_id"], left_out["name"]) == ("one", None)
        done = run(service, "enable", "one/first")
        assert done.returncode == 1 and "one/first is disabled by 'one/*'; name that" in done.stderr
        assert run(service, "enable", "one/*").returncode == 0
        assert names(caller) == ["first", "second"]


def test_disable_for_a_while(launch, folder):
    service = launch({}, [folder], env={"TZ": "UTC"})
    with Caller(service.url) as caller:
        done = run(service, "disable", "one/first", "--for", "1h", env={"TZ": "UTC"})
        assert done.returncode == 0 and done.stderr == ""
        [entry] = entries(service, "disabled.json")
        since, end = (datetime.datetime.fromisoformat(entry[key].replace("Z", "+00:00"))
                      for key in ("since", "until"))
        assert list(entry) == ["name", "since", "by", "until"]
        assert end - since == datetime.timedelta(hours=1)
        assert re.fullmatch(rf"one/first is disabled until .*{end:%H:%M}(:\d\d)? "
                            rf"\({kept(service)}/disabled.json\)\n", done.stdout)
        assert names(caller) == ["second"]
        # The daemon waits for the end by the clock that people set.
        assert "clockid: 0\n" in timers(service) and "settime flags: 01\n" in timers(service)
        why = f"disabled in disabled.json until {end:%Y-%m-%d %H:%M:%S} +0000 (`toolboxctl enable 'one/first'` enables it)"
        assert why in " ".join(run(service, "list", "--why").stdout.split())
        assert caller.call("ovos.tools.status")["not_offered"][0]["why"] == why
        # The last word holds, and an entry that ends later is the reason.
        assert run(service, "disable", "one/f*", "--for", "2h").returncode == 0
        [_, later] = entries(service, "disabled.json")
        assert f"until {later['until'].replace('T', ' ')[:-1]}" in (
            caller.call("ovos.tools.status")["not_offered"][0]["why"])
        assert run(service, "disable", "one/first").returncode == 0
        assert entries(service, "disabled.json")[1].keys() == {"name", "since", "by"}
        assert "json (" in caller.call("ovos.tools.status")["not_offered"][0]["why"]
        # It ends by itself. On a busy machine that may be before toolboxctl has answered.
        assert run(service, "enable", "one/first", "one/f*").returncode == 0
        assert run(service, "disable", "first", "--for", "2s").returncode == 0
        until(lambda: names(caller) == ["first", "second"], EVENT_SECONDS, "enabled again")
        assert "one/first added" in service.daemon.log()
        done = run(service, "enable", "first")
        assert done.returncode == 1 and "first is not disabled here" in done.stderr


def test_what_has_ended_meanwhile_is_enabled_at_the_start(launch, folder, tmp_path):
    home = tmp_path / "home-0" / "toolboxd" / "config" / "toolboxd"
    home.mkdir(parents=True)
    (home / "disabled.json").write_text(json.dumps([
        {"name": "one/first", "until": "2026-01-01T00:00:00Z"},
        {"name": "one/second", "until": "2999-01-01T00:00:00Z"}]))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert names(caller) == ["first"]
    # What has ended goes with the next change.
    assert run(service, "disable", "nosuch").returncode == 0
    assert [entry["name"] for entry in entries(service, "disabled.json")] == ["one/second", "nosuch"]


def test_enable_tells_what_else_forbids(launch, folder):
    service = launch({}, [folder], env={"TOOLBOXD_TOOLS_DISABLED": "first"})
    assert run(service, "disable", "first").returncode == 0
    done = run(service, "enable", "first")
    assert done.returncode == 0
    assert "one/first is still not offered: left out by TOOLBOXD_TOOLS_DISABLED" in done.stderr


def test_profiles(launch, folder):
    service = launch({"profiles": {"kids": {"tool_names": ["all"]}}}, [folder])
    with Caller(service.url) as caller:
        assert names(caller, profile="kids") == ["first", "second"]
        done = run(service, "profile", "set", "kids", "first", "nosuch")
        assert done.returncode == 0 and "no tool is called 'nosuch' now" in done.stderr
        assert names(caller, profile="kids") == ["first"]
        assert entries(service, "profiles.d/kids.json") == {"tool_names": ["first", "nosuch"]}
        done = run(service, "profile", "list")
        assert done.returncode == 0 and done.stdout.splitlines()[1].split() == [
            "kids", "2", str(kept(service) / "profiles.d" / "kids.json")]
        done = run(service, "profile", "show", "kids")
        assert done.returncode == 0 and "no tool is called 'nosuch' now" in done.stderr
        assert done.stdout.endswith("names first, nosuch\ngives 1 tool now\n  one/first\n")
        assert run(service, "profile", "remove", "kids").returncode == 0
        assert names(caller, profile="kids") == ["first", "second"]
        assert run(service, "profile", "show", "kids").stdout.startswith("in no file; mycroft.conf has it\n")
        done = run(service, "profile", "show", "kid")
        assert done.returncode == 1 and done.stdout == "" and "there is no profile 'kid'" in done.stderr
        done = run(service, "profile", "remove", "kids")
        assert done.returncode == 1 and "cannot be written: No such file" in done.stderr


@pytest.mark.parametrize("args", [
    ["allow"], ["allow", "no name"], ["disable", "a/b/c"], ["enable", "a/"], ["profile"],
    ["profile", "show"], ["profile", "set", "kids"], ["profile", "set", "../kids", "first"],
    ["profile", "drop", "kids"], ["disable", "first", "--for", "10"],
    ["disable", "first", "--for", "0s"], ["disable", "first", "--for", "99999d"],
    ["enable", "first", "--for", "1m"], ["allow", "first", "--for", "1m"]])
def test_usage(tmp_path, args):
    assert toolboxctl(*args, bus="ws://127.0.0.1:9", home=tmp_path).returncode == 2


def test_a_file_that_cannot_be_used_is_not_replaced(launch, folder):
    service = launch({}, [folder])
    kept(service).mkdir(parents=True)
    (kept(service) / "allow.json").write_text('{"name": "first"}')
    done = run(service, "allow", "one/first")
    assert done.returncode == 1 and "allow.json cannot be used: must be an array" in done.stderr
    assert (kept(service) / "allow.json").read_text() == '{"name": "first"}'


@pytest.fixture
def reachable():
    """A folder that other users reach, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="toolboxd-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="acts as two users")
def test_another_users_files(launch, folder, reachable):
    """As root, toolboxctl writes as the user of the folder; as another user it tells the command."""
    service = launch({}, [folder], env={"XDG_CONFIG_HOME": str(reachable)})
    own = reachable / "toolboxd"
    own.mkdir()
    os.chown(own, 12345, 12345)
    done = run(service, "profile", "set", "kids", "first")
    assert done.returncode == 0, done.stderr
    for path in own / "profiles.d", own / "profiles.d" / "kids.json":
        assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12345)
    copy = shutil.copy(TOOLBOXCTL, reachable)
    done = subprocess.run([copy, "disable", "one/*", "--for", "10m", "--bus", service.url],
                          user=12346, group=12346, extra_groups=[], capture_output=True, text=True,
                          timeout=20, cwd="/", env={"HOME": "/", "PATH": os.environ["PATH"]})
    assert done.returncode == 1
    assert done.stderr == (f"toolboxctl: {own}/disabled.json cannot be written: Permission denied; "
                           f"type: sudo toolboxctl disable 'one/*' --bus {service.url} --for 10m\n")
    assert not (own / "disabled.json").exists()
