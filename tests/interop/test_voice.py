# SPDX-License-Identifier: Apache-2.0
"""toolboxes/voice: servers of speech in environments of their own, as services of the user; and OVOS's voice settings.

No systemd, no packages of the world: `systemctl` hands its words to this file, which starts what the unit says; what pip
installs comes from an index on loopback (--long), or is put there as pip would have left it.
"""
import contextlib
import hashlib
import http.server
import io
import json
import os
import re
import shlex
import shutil
import socketserver
import subprocess
import sys
import threading
import zipfile

import pytest
from caller import Caller, Lasting
from conftest import Service
from processes import BUILD, EVENT_SECONDS, ROOT, free_port, toolboxctl

FOLDER = BUILD / "toolboxes" / "voice.d"
PAGE = ROOT / "docs" / "toolboxes" / "voice.md"
ACTS = ["install", "start", "status", "stop", "uninstall"]
NAMES = sorted([f"{name}_{act}" for name in ("kokoro", "whisper") for act in ACTS]
               + ["whisper_model_active", "whisper_model_install", "configuration", "set_configuration"])
READ = {"kokoro_status", "whisper_status", "whisper_model_active", "configuration"}

# A server that answers as Wyoming has it, and tells its arguments in a file.
SERVER = '''\
import json, socketserver, sys
from pathlib import Path


class Peer(socketserver.StreamRequestHandler):
    def handle(self):
        if json.loads(self.rfile.readline())["type"] == "describe":
            self.wfile.write(b'{"type": "info", "data_length": 2}\\n{}')


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


def main():
    words = sys.argv[1:]
    data = Path(words[words.index("--data-dir") + 1])
    (data / "arguments").write_text(json.dumps(words))
    if words[3] == "broken":
        sys.exit("no such model")
    Server(("127.0.0.1", int(words[1].rsplit(":", 1)[1])), Peer).serve_forever()
'''
FASTER_WHISPER = '''\
from pathlib import Path


def download_model(name, cache_dir):
    if name == "nosuch":
        raise ValueError("Invalid model size 'nosuch'")
    Path(cache_dir, f"models--Systran--faster-whisper-{name}").mkdir(exist_ok=True)
'''

SYSTEMCTL = '''\
#!{python} -IB
import json, socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.connect({path!r})
peer.sendall(json.dumps(sys.argv[1:]).encode() + b"\\n")
answer = json.loads(peer.makefile().readline())
print(answer["out"])
print(answer["err"], file=sys.stderr)
sys.exit(answer["status"])
'''


class Systemd(socketserver.ThreadingUnixStreamServer):
    """The manager of a user's session, as far as the tools speak to it."""
    daemon_threads = True

    def __init__(self, home):
        self.home, self.asked, self.enabled, self.running = home, [], set(), {}
        self.refusal = None  # what it says to everything
        path = home / "systemd"
        super().__init__(str(path), Systemd.Peer)
        self.bin = home / "bin"
        self.bin.mkdir()
        program = self.bin / "systemctl"
        program.write_text(SYSTEMCTL.format(python="/usr/bin/python3", path=str(path)))
        program.chmod(0o755)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Peer(socketserver.StreamRequestHandler):
        def handle(self):
            out, err, status = self.server.answer(json.loads(self.rfile.readline()))
            self.wfile.write(json.dumps({"out": out, "err": err, "status": status}).encode() + b"\n")

    def words_of(self, unit):
        """ExecStart= of the unit, as systemd.service(5) has it."""
        text = (self.home / ".config" / "systemd" / "user" / unit).read_text()
        line = re.search(r"^ExecStart=(.*)$", text, re.M)[1]
        return [word.replace("$$", "$").replace("%%", "%") for word in shlex.split(line)]

    def is_active(self, unit):
        return unit in self.running and self.running[unit].poll() is None

    def end(self, unit):
        process = self.running.pop(unit, None)
        if process:
            process.kill()
            process.wait()

    def answer(self, words):
        assert words[0] == "--user"
        self.asked.append(words[1:])
        verb, *more = words[1:]
        if self.refusal:
            return "", self.refusal, 1
        unit = more[-1] if more else None
        if verb in ("start", "restart"):
            self.end(unit)
            self.running[unit] = subprocess.Popen(self.words_of(unit), stderr=subprocess.DEVNULL)
        elif verb == "stop" or (verb == "disable" and "--now" in more):
            self.end(unit)
        elif verb == "enable":
            self.enabled.add(unit)
        elif verb == "is-active":
            if self.is_active(unit):
                return "active", "", 0
            return ("failed" if unit in self.running else "inactive"), "", 3
        else:
            assert words[1:] == ["daemon-reload"], words
        return "", "", 0

    def close(self):
        for unit in list(self.running):
            self.end(unit)
        self.shutdown()
        self.server_close()


class Voice:
    """The tools, in a home whose name has what a unit must quote."""

    def __init__(self, home, **env):
        self.home = home / 'a "home" 100% $HOME'
        self.home.mkdir()
        self.systemd = Systemd(self.home)
        self.port = free_port()
        self.service = Service("embedded", self.home, [FOLDER], env={
            "PATH": f"{self.systemd.bin}:{os.environ['PATH']}", "HOME": str(self.home)}, configuration={
                "approval": {"mode": "off"}, "toolboxes": {"voice": {"enabled": True, "env": {
                    "VOICE_WHISPER_PORT": str(self.port), **env}}}})
        self.service.wait_until_ready()
        self.caller = Lasting(self.service.url)
        self.folder = self.home / ".local" / "share" / "toolboxd" / "voice" / "whisper"
        self.unit = self.home / ".config" / "systemd" / "user" / "toolboxd-voice-whisper.service"
        self.conf = self.home / ".config" / "mycroft" / "mycroft.conf"

    def close(self):
        self.caller.close()
        self.service.end()
        self.systemd.close()

    def text(self, name, **args):
        answer = self.caller.invoke(name, args, seconds=2 * EVENT_SECONDS)
        assert "result" in answer, answer
        return answer["result"]["output"]

    def failure(self, name, **args):
        answer = self.caller.invoke(name, args, seconds=2 * EVENT_SECONDS)
        assert answer.get("code") == "tool_failed", answer
        return answer["error"]

    def put_packages(self):
        """What pip leaves of the package, with the environment's own interpreter."""
        site = self.folder / "venv" / "site"
        program = self.folder / "venv" / "bin" / "wyoming-faster-whisper"
        for folder in (site, program.parent, self.folder / "data", site / "wyoming_faster_whisper-1.0.dist-info"):
            folder.mkdir(parents=True, exist_ok=True)
        (site / "server.py").write_text(SERVER)
        (site / "faster_whisper.py").write_text(FASTER_WHISPER)
        (site / "wyoming_faster_whisper-1.0.dist-info" / "METADATA").write_text("Name: wyoming-faster-whisper\nVersion: 1.0\n")
        python = self.folder / "venv" / "bin" / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(site))} exec {sys.executable} "$@"\n')
        program.write_text("import server\nserver.main()\n")
        for one in (python, program):
            one.chmod(0o755)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    one = Voice(tmp_path_factory.mktemp("voice"))
    yield one
    one.close()


@pytest.fixture
def voice(shared):
    shared.systemd.refusal = None
    shared.systemd.asked.clear()
    shared.systemd.enabled.clear()
    yield shared
    for unit in list(shared.systemd.running):
        shared.systemd.end(unit)
    shutil.rmtree(shared.folder, ignore_errors=True)
    shared.unit.unlink(missing_ok=True)
    shared.conf.unlink(missing_ok=True)


# ── what is offered ───────────────────────────────────────────────────────────────────────────────


def test_nothing_runs_until_it_is_enabled(launch):
    service = launch({}, [FOLDER])
    with Caller(service.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
        why = {one["name"]: one["why"] for one in caller.call("ovos.tools.status")["not_offered"]}
        assert why[None] == "disabled by its manifest; toolboxctl enable voice" and not set(NAMES) & set(why)
        assert toolboxctl("enable", "voice", bus=service.url, home=service.home).returncode == 0
        assert sorted(tool["name"] for tool in caller.call("ovos.tools.list")["tools"]) == NAMES
        assert caller.invoke("whisper_install")["code"] == "denied"  # nobody is there to be asked


def test_each_tool_says_what_it_is(shared):
    for name in NAMES:
        tool = shared.caller.call("ovos.tools.get", {"name": name})
        assert tool["risk"] == ("read" if name in READ else "execute")
        assert tool["title"] and tool["examples"] and tool["argument_schema"]["additionalProperties"] is False
    for name in "whisper/install", "whisper/model_install", "kokoro/install":
        assert json.loads((FOLDER / "voice" / f"{name}.json").read_text())["timeout_ms"] == 30 * 60 * 1000
    assert re.findall(r"^\| `([a-z]\w+)", PAGE.read_text(), re.M) == [
        *(f"whisper_{act}" for act in ("install", "uninstall", "status", "start", "stop", "model_active", "model_install")),
        *(f"kokoro_{act}" for act in ("install", "uninstall", "status", "start", "stop")), "configuration", "set_configuration"]


# ── a service ─────────────────────────────────────────────────────────────────────────────────────


def test_what_is_not_installed_says_what_to_call(voice):
    assert voice.text("whisper_status") == "whisper is not installed; whisper_install installs it."
    for name in "whisper_start", "whisper_stop", "whisper_model_active":
        assert "whisper is not installed; call whisper_install" in voice.failure(name)
    assert voice.text("whisper_uninstall") == "whisper is not installed."
    assert voice.systemd.asked == []


def test_a_service_from_its_start_to_its_end(voice):
    voice.put_packages()
    assert "is installed already; " in voice.text("whisper_install")
    assert voice.systemd.enabled == set()
    assert "already and starts with the session; " in voice.text("whisper_install", auto_enable=True)
    assert voice.systemd.enabled == {voice.unit.name}
    assert voice.text("whisper_status") == (
        f"whisper 1.0 is installed, its service is inactive, and it does not answer on port {voice.port}. model: base")
    assert voice.text("whisper_start") == f"whisper is started, and answers on port {voice.port}."
    assert "its service is active, and it answers" in voice.text("whisper_status")
    data = voice.folder / "data"
    assert json.loads((data / "arguments").read_text()) == [
        "--uri", f"tcp://127.0.0.1:{voice.port}", "--model", "base", "--data-dir", str(data)]
    assert voice.text("whisper_stop") == "whisper is stopped."
    assert "does not answer" in voice.text("whisper_status")
    voice.text("whisper_start")
    assert f"its data are kept in {data}" in voice.text("whisper_uninstall")
    assert not voice.unit.exists() and not (voice.folder / "venv").exists() and data.exists()
    assert voice.systemd.running == {} and voice.systemd.asked[-1] == ["daemon-reload"]
    assert voice.text("whisper_uninstall", remove_all_data=True) == "whisper is removed, with its data."
    assert not voice.folder.exists()


def test_a_model_is_fetched_and_used(voice):
    voice.put_packages()
    voice.text("whisper_install")
    assert voice.text("whisper_model_active") == "The active model is base; fetched are: none."
    assert "used from the next start on" in voice.text("whisper_model_install", model="small.en")
    voice.text("whisper_start")
    assert "was started again with it" in voice.text("whisper_model_install", model="tiny")
    voice.text("whisper_start")
    assert json.loads((voice.folder / "data" / "arguments").read_text())[3] == "tiny"
    assert voice.text("whisper_model_active") == ("The active model is tiny; fetched are: "
                                                  "models--Systran--faster-whisper-small.en, models--Systran--faster-whisper-tiny.")
    error = voice.failure("whisper_model_install", model="nosuch")
    assert "the model nosuch cannot be fetched: " in error and "Invalid model size 'nosuch'" in error
    assert "The active model is tiny" in voice.text("whisper_model_active")
    for model in "../x", "a/../b", "-x", "a b", "", "a;b":
        assert voice.caller.invoke("whisper_model_install", {"model": model})["code"] in ("invalid_arguments", "tool_failed")
    # A server that ends at once.
    voice.text("whisper_model_install", model="broken")
    voice.systemd.end(voice.unit.name)
    assert "whisper ended at once" in voice.failure("whisper_start")


def test_what_was_broken_from_outside_says_so_and_can_be_removed(voice):
    voice.put_packages()
    voice.text("whisper_install")
    shutil.rmtree(voice.folder / "data")
    assert "fetched are: none" in voice.text("whisper_model_active")
    (voice.folder / "venv" / "bin" / "python").unlink()
    for name in "whisper_status", "whisper_install":
        assert "whisper (broken: call whisper_install with force_reinstall) is installed" in voice.text(name)
    shutil.rmtree(voice.folder)
    assert voice.text("whisper_uninstall", remove_all_data=True) == "whisper is removed, with its data."
    assert not voice.unit.exists()


def test_a_port_with_another_server_is_no_answer(voice):
    class Peer(socketserver.StreamRequestHandler):
        def handle(self):
            self.rfile.readline()
            self.wfile.write(b"[" * (1 << 20) + b"\n")

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True

    voice.put_packages()
    voice.text("whisper_install")
    with Server(("127.0.0.1", voice.port), Peer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert "does not answer on port" in voice.text("whisper_status")
        server.shutdown()


def test_a_session_without_systemd_says_what_to_do(voice):
    voice.put_packages()
    voice.text("whisper_install")
    voice.systemd.refusal = "Failed to connect to bus: No medium found"
    error = voice.failure("whisper_start")
    assert "Failed to connect to bus: No medium found" in error and "run toolboxd as a user service" in error
    assert "unknown (no session of systemd)" in voice.text("whisper_status")
    voice.systemd.refusal = None


def test_a_wrong_setting_is_named(tmp_path):
    one = Voice(tmp_path, VOICE_WHISPER_PACKAGE="--index-url=http://x", VOICE_KOKORO_PORT="99999")
    try:
        assert "VOICE_WHISPER_PACKAGE must be NAME or NAME==VERSION" in one.failure("whisper_status")
        assert "VOICE_KOKORO_PORT must be a port from 1 to 65535" in one.failure("kokoro_status")
    finally:
        one.close()


# ── the whole way, by pip ─────────────────────────────────────────────────────────────────────────


# ── settings ──────────────────────────────────────────────────────────────────────────────────────


def put(voice, text):
    voice.conf.parent.mkdir(parents=True, exist_ok=True)
    voice.conf.write_text(text)
    voice.conf.chmod(0o640)


def test_settings_are_read_without_secrets_and_without_the_rest(voice):
    assert json.loads(voice.text("configuration")) == {}
    put(voice, '// mine\n{"lang": "en-us", "tts": {"module": "a", "a": {"api_key": "x", "voice": "v"}},\n'
               '# more\n"websocket": {"host": "h"}, "stt": {"credentials": ["y"]}}')
    assert json.loads(voice.text("configuration")) == {
        "tts": {"module": "a", "a": {"api_key": "***", "voice": "v"}}, "stt": {"credentials": "***"}, "lang": "en-us"}
    assert json.loads(voice.text("configuration", key="tts.a.voice")) == {"tts.a.voice": "v"}
    assert json.loads(voice.text("configuration", key="tts.a.api_key")) == {"tts.a.api_key": "***"}
    assert f"stt.module is not set in {voice.conf}" in voice.failure("configuration", key="stt.module")
    put(voice, '{"tts": {"auth": {"user": "u", "value": "v"}, "pwd": 1, "b": [{"Passphrase": "p", "x": 2}]}}')
    assert json.loads(voice.text("configuration")) == {"tts": {"auth": "***", "pwd": "***", "b": [{"Passphrase": "***", "x": 2}]}}
    for key in "tts.auth", "tts.auth.value":
        assert json.loads(voice.text("configuration", key=key)) == {key: "***"}
    for key in "websocket.host", "websocket", "lang.x", "", "tts.":
        assert voice.caller.invoke("configuration", {"key": key})["code"] == "invalid_arguments", key


def test_a_setting_is_changed_and_nothing_else(voice):
    put(voice, '{"websocket": {"port": 8181}, "tts": {"module": "a"}, "lang": "en-us"}')
    answer = json.loads(voice.text("set_configuration", key="tts.module", value="b"))
    assert answer == {"tts.module": "b", "file": str(voice.conf)}
    voice.text("set_configuration", key="hotwords.hey mycroft.active", value=False)
    voice.text("set_configuration", key="listener.VAD", value={"module": "m"})
    voice.text("set_configuration", key="lang", value=None)
    assert json.loads(voice.conf.read_text()) == {
        "websocket": {"port": 8181}, "tts": {"module": "b"}, "hotwords": {"hey mycroft": {"active": False}},
        "listener": {"VAD": {"module": "m"}}}
    assert voice.conf.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in voice.conf.parent.iterdir()] == ["mycroft.conf"]


def test_the_file_of_a_first_setting_is_made_for_its_user_alone(voice):
    voice.text("set_configuration", key="lang", value="de-de")
    assert json.loads(voice.conf.read_text()) == {"lang": "de-de"} and voice.conf.stat().st_mode & 0o777 == 0o600


def test_a_link_to_the_file_stays(voice):
    real = voice.home / "dotfiles.conf"
    real.write_text('{"lang": "en-us"}')
    voice.conf.parent.mkdir(parents=True, exist_ok=True)
    voice.conf.symlink_to(real)
    voice.text("set_configuration", key="lang", value="nl-nl")
    assert voice.conf.is_symlink() and json.loads(real.read_text()) == {"lang": "nl-nl"}


@pytest.mark.parametrize("text, key, value, words", [
    ('// mine\n{"lang": "en-us"}', "lang", "de-de", "has comments, which would be lost"),
    ('{"lang": ', "lang", "de-de", "is not JSON"), ("[" * 100000, "lang", "de-de", "is not JSON"), ("[]", "lang", "de-de", "is not a JSON object"),
    ('{"tts": "a"}', "tts.module", "b", "tts is not an object, so it has no module"),
    ("{}", "lang", "a language", "is the tag of a language"), ("{}", "lang", 5, "is the tag of a language"),
    ("{}", "tts", "b", "tts is an object of settings; name one of them")])
def test_a_setting_that_cannot_be_made_changes_nothing(voice, text, key, value, words):
    put(voice, text)
    assert words in voice.failure("set_configuration", key=key, value=value)
    assert voice.conf.read_text() == text


@pytest.mark.parametrize("value, words", [
    ("1e999", "a number that JSON does not have"), ("[-1e999]", "a number that JSON does not have"),
    ("1" + "0" * 5000, "a number that cannot be set"), (json.dumps("x" * (1 << 20)), "more than 1048576 bytes; set less")])
def test_a_value_that_the_file_cannot_have_changes_nothing(voice, value, words):
    put(voice, '{"lang": "en-us"}')
    done = subprocess.run([FOLDER / "voice" / "set_configuration"], input=f'{{"key": "tts.a", "value": {value}}}', text=True,
                          capture_output=True, env={**os.environ, "HOME": str(voice.home)})
    assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert voice.conf.read_text() == '{"lang": "en-us"}'


@pytest.mark.parametrize("key", ["websocket.host", "Audio.backends", "lang.x", "tts..x", "tts/x", "play_wav_cmdline"])
def test_other_settings_are_out_of_reach(voice, key):
    assert voice.caller.invoke("set_configuration", {"key": key, "value": "x"})["code"] == "invalid_arguments"
    assert not voice.conf.exists()


# ── an installation: it takes so long that the caller of the other tests would be disconnected ──


def wheel(name, modules, scripts):
    """A package as an index has it: its file's name, and its bytes."""
    stem = f"{name.replace('-', '_')}-1.0"
    files = {**modules, f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             f"{stem}.dist-info/entry_points.txt": "[console_scripts]\n" + scripts}
    files[f"{stem}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{stem}.dist-info/RECORD"))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{stem}-py3-none-any.whl", out.getvalue()


@contextlib.contextmanager
def index(packages):
    """The simple index of the present packages on loopback (PEP 503); its address."""
    class Peer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            files = {f"/files/{name}": data for name, data in packages.values()}
            pages = {f"/simple/{name}/": f'<a href="/files/{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>'.encode()
                     for name, (file, data) in packages.items()}
            body = {**files, **pages}.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html" if self.path in pages else "application/octet-stream")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


def test_installing_from_an_index_starting_and_removing(request, tmp_path):
    if not request.config.getoption("--long"):
        pytest.skip("makes an environment: with --long")
    packages = {"wyoming-faster-whisper": wheel("wyoming-faster-whisper", {
        "server.py": SERVER, "faster_whisper.py": FASTER_WHISPER}, "wyoming-faster-whisper = server:main\n"),
        "no-program": wheel("no-program", {"other.py": ""}, "other = other:main\n")}
    with index(packages) as url:
        one = Voice(tmp_path, PIP_INDEX_URL=url)
        try:
            mark = one.caller.send("ovos.tools.invoke", {"name": "whisper_install", "args": {"auto_enable": True},
                                                         "progress": True})
            answer = one.caller.answer_to("ovos.tools.invoke", mark, 4 * EVENT_SECONDS).data
            assert answer["result"]["output"] == ("whisper 1.0 is installed and starts with the session; "
                                                  "whisper_start starts it."), answer
            texts = [one.data["text"] for one in one.caller.seen if one.type == "ovos.tools.call.progress"]
            assert texts == ["making an environment", "installing wyoming-faster-whisper", "writing the service"]
            assert one.systemd.enabled == {one.unit.name}
            assert "answers on port" in one.text("whisper_start")
            assert "was started again with it" in one.text("whisper_model_install", model="tiny")
            assert "is installed already" in one.text("whisper_install")
            before = one.systemd.running[one.unit.name].pid
            assert "is installed, and whisper was started again with it." in one.text("whisper_install", force_reinstall=True)
            assert one.systemd.running[one.unit.name].pid != before
            del packages["wyoming-faster-whisper"]
            assert "pip cannot install" in one.failure("whisper_install", force_reinstall=True)
            assert "whisper 1.0 is installed, its service is active" in one.text("whisper_status")
            assert sorted(entry.name for entry in one.folder.iterdir()) == ["data", "model", "venv"]
            assert "its data are kept" in one.text("whisper_uninstall")
            assert not (one.folder / "venv").exists()
            error = one.failure("kokoro_install")
            assert "pip cannot install wyoming-kokoro-torch" in error and "PIP_INDEX_URL" in error
            assert not (one.folder.parent / "kokoro" / "venv").exists()  # nothing that looks installed
        finally:
            one.close()
        (tmp_path / "second").mkdir()
        two = Voice(tmp_path / "second", PIP_INDEX_URL=url, VOICE_WHISPER_PACKAGE="no-program==1.0")
        try:
            assert "the package no-program==1.0 has no program no-program" in two.failure("whisper_install")
            assert "is not installed" in two.text("whisper_status")
        finally:
            two.close()
