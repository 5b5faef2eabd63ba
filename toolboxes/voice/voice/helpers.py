# SPDX-License-Identifier: Apache-2.0
"""What the programs of this toolbox share: servers in environments of their own, as systemd services of the user.

    ~/.local/share/toolboxd/voice/NAME/venv    the packages, by pip
    ~/.local/share/toolboxd/voice/NAME/data    models and voices
    ~/.config/systemd/user/toolboxd-voice-NAME.service

    install ─▶ venv, pip ─▶ unit ─▶ start ─▶ a server on 127.0.0.1:PORT that speaks Wyoming (describe ─▶ info)

A program is called voice/NAME/ACT and calls main(). Its output is a text for a person or a model; what fails is said on
stderr, with what to do next, and ends with 1.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

# The settings in toolboxes.voice.env; a package may have a version: NAME==VERSION.
SERVICES = {
    "whisper": {"package": "wyoming-faster-whisper", "port": 2022, "choice": ("--model", "base")},
    "kokoro": {"package": "wyoming-kokoro-torch", "port": 8880, "choice": ("--voice", "af_heart")},
}

PACKAGE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(==[A-Za-z0-9.+!]+)?")
MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
ANSWER_SECONDS = 2
START_SECONDS = 45   # a server that reads its model
INFO_BYTES = 1 << 20

# Fetches the model that its argument names into the folder after it.
FETCH = "import sys; from faster_whisper import download_model; download_model(sys.argv[1], cache_dir=sys.argv[2])"


class Failure(Exception):
    """What failed, and what to do next."""


def progress(part, text):
    """Report how far the call is, for those who have asked for it."""
    try:
        os.write(int(os.environ.get("TOOL_PROGRESS_FD", -1)), (json.dumps({"progress": part, "text": text}) + "\n").encode())
    except (OSError, ValueError):
        pass


def run(command, what, advice):
    """Run a program; its output. Where it fails: what failed, its last words, and the advice."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace")
    except OSError as error:
        raise Failure(f"{what}: {error}. {advice}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise Failure(f"{what}: {' / '.join(words)[-400:] or f'exit status {done.returncode}'}. {advice}")
    return done.stdout


def systemctl(*words):
    return run(["systemctl", "--user", *words], f"systemctl --user {' '.join(words)} failed",
               "The services belong to a user's session: run toolboxd as a user service (systemctl --user start toolboxd), "
               "or allow sessions without a login: loginctl enable-linger")


def replace(path, text, mode=0o644):
    """Put the text in the place of the file at once, or leave it as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.toolboxd-{os.getpid()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def quoted(word):
    """A word of ExecStart=, as systemd.service(5) reads it."""
    word = str(word)
    if re.search(r"[\x00-\x1f\x7f]", word):
        raise Failure(f"the path {word!r} has a control character, which a unit cannot have; use another home folder")
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$") + '"'


class Service:
    def __init__(self, name):
        facts = SERVICES[name]
        self.name = name
        self.package = os.environ.get(f"VOICE_{name.upper()}_PACKAGE", facts["package"])
        if not PACKAGE.fullmatch(self.package):
            raise Failure(f"VOICE_{name.upper()}_PACKAGE must be NAME or NAME==VERSION, and is {self.package!r}; "
                          "change toolboxes.voice.env")
        self.port = self.read_port(facts["port"])
        self.option, self.usual = facts["choice"]
        self.program = PACKAGE.fullmatch(self.package)[1]
        self.folder = Path.home() / ".local" / "share" / "toolboxd" / "voice" / name
        self.venv, self.data, self.chosen = self.folder / "venv", self.folder / "data", self.folder / "model"
        self.unit = f"toolboxd-voice-{name}.service"
        self.unit_path = Path.home() / ".config" / "systemd" / "user" / self.unit

    def read_port(self, usual):
        text = os.environ.get(f"VOICE_{self.name.upper()}_PORT", str(usual))
        if not re.fullmatch(r"[0-9]{1,5}", text) or not 0 < int(text) < 65536:
            raise Failure(f"VOICE_{self.name.upper()}_PORT must be a port from 1 to 65535, and is {text!r}; "
                          "change toolboxes.voice.env")
        return int(text)

    # ── what there is ──

    def is_installed(self):
        return (self.venv / "bin" / self.program).exists()

    def must_be_installed(self):
        if not self.is_installed():
            raise Failure(f"{self.name} is not installed; call {self.name}_install")

    def version(self):
        try:
            done = subprocess.run([self.venv / "bin" / "python", "-c", "import sys, importlib.metadata as m; "
                                   "print(m.version(sys.argv[1]))", self.program], capture_output=True, text=True)
        except OSError:
            done = None
        # As after an upgrade of the system to another Python.
        return done.stdout.strip() if done and done.returncode == 0 else \
            f"(broken: call {self.name}_install with force_reinstall)"

    def model(self):
        try:
            text = self.chosen.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return self.usual
        return text if MODEL.fullmatch(text) else self.usual

    def answers(self):
        """Whether a Wyoming server tells on the port what it is."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS) as peer:
                peer.settimeout(ANSWER_SECONDS)
                peer.sendall(b'{"type": "describe"}\n')
                line = peer.makefile("rb").readline(INFO_BYTES)
            return json.loads(line).get("type") == "info"
        except (OSError, ValueError, AttributeError, RecursionError):
            return False

    def state(self):
        """The word of systemd: active, inactive, failed, …"""
        try:
            done = subprocess.run(["systemctl", "--user", "is-active", self.unit], capture_output=True, text=True)
        except OSError:
            return "unknown (there is no systemctl)"
        return done.stdout.strip() or "unknown (no session of systemd)"

    # ── the acts ──

    def write_unit(self):
        # systemd runs no program whose path has quotes, and pip's scripts do not find their interpreter there.
        words = ["-c", 'exec "$0" "$@"', self.venv / "bin" / "python", self.venv / "bin" / self.program,
                 "--uri", f"tcp://127.0.0.1:{self.port}", self.option, self.model(), "--data-dir", self.data]
        replace(self.unit_path, f"""\
# Written by the tools {self.name}_install and {self.name}_model_install of toolboxd: changes are lost with the next call.
[Unit]
Description={self.name}, a voice service of toolboxd

[Service]
ExecStart=/bin/sh {' '.join(map(quoted, words))}
Restart=on-failure
RestartSec=5
NoNewPrivileges=yes

[Install]
WantedBy=default.target
""")

    def install(self, force_reinstall=False, auto_enable=False):
        if self.is_installed() and not force_reinstall:
            self.register(auto_enable)
            return (f"{self.name} {self.version()} is installed already{self.starts(auto_enable)}; force_reinstall installs it "
                    "again.")
        self.data.mkdir(parents=True, exist_ok=True)
        beside, earlier = self.folder / "venv.new", self.folder / "venv.old"
        progress(0, "making an environment")
        try:
            run([sys.executable, "-m", "venv", "--clear", beside], "the environment cannot be made",
                "On Debian: apt install python3-venv")
            progress(0.1, f"installing {self.package}")
            run([beside / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet",
                 self.package], f"pip cannot install {self.package}",
                "Look at the network, and at PIP_INDEX_URL in toolboxes.voice.env; then call it again")
            if not (beside / "bin" / self.program).exists():
                raise Failure(f"the package {self.package} has no program {self.program}; name another one by "
                              f"VOICE_{self.name.upper()}_PACKAGE in toolboxes.voice.env")
            # The environment that works is there until another one does.
            shutil.rmtree(earlier, ignore_errors=True)
            if self.venv.exists():
                self.venv.rename(earlier)
            beside.rename(self.venv)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            shutil.rmtree(earlier, ignore_errors=True)
        progress(0.9, "writing the service")
        self.register(auto_enable)
        done = f"{self.name} {self.version()} is installed{self.starts(auto_enable)}"
        return f"{done}, and {self.restarted()}." if self.state() == "active" else f"{done}; {self.name}_start starts it."

    def register(self, auto_enable):
        self.write_unit()
        systemctl("daemon-reload")
        if auto_enable:
            systemctl("enable", self.unit)

    @staticmethod
    def starts(auto_enable):
        return " and starts with the session" if auto_enable else ""

    def uninstall(self, remove_all_data=False):
        if not self.folder.exists() and not self.unit_path.exists():
            return f"{self.name} is not installed."
        if self.unit_path.exists():
            systemctl("disable", "--now", self.unit)
            self.unit_path.unlink(missing_ok=True)
            systemctl("daemon-reload")
        if remove_all_data:
            if self.folder.exists():
                shutil.rmtree(self.folder)
            return f"{self.name} is removed, with its data."
        shutil.rmtree(self.venv, ignore_errors=True)
        kept = f"; its data are kept in {self.data}" if self.data.exists() else ""
        return f"{self.name} is removed{kept}."

    def status(self):
        if not self.is_installed():
            return f"{self.name} is not installed; {self.name}_install installs it."
        health = f"answers on port {self.port}" if self.answers() else f"does not answer on port {self.port}"
        return f"{self.name} {self.version()} is installed, its service is {self.state()}, and it {health}. " \
               f"{self.option[2:]}: {self.model()}"

    def start(self):
        self.must_be_installed()
        systemctl("start", self.unit)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            state = self.state()
            if state in ("failed", "inactive"):
                raise Failure(f"{self.name} ended at once ({state}); its words: journalctl --user -u {self.unit}")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} is {state}, but does not answer on port {self.port} after {START_SECONDS} s; it may "
                              f"still fetch its model: call {self.name}_status later, or read journalctl --user -u {self.unit}")
            time.sleep(0.2)
        return f"{self.name} is started, and answers on port {self.port}."

    def restarted(self):
        """Start a service that runs again, with what is new; the words for it."""
        systemctl("restart", self.unit)
        return f"{self.name} was started again with it"

    def stop(self):
        self.must_be_installed()
        systemctl("stop", self.unit)
        return f"{self.name} is stopped."

    def model_active(self):
        self.must_be_installed()
        entries = self.data.iterdir() if self.data.exists() else []
        there = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
        return f"The active model is {self.model()}; fetched are: {', '.join(there) or 'none'}."

    def model_install(self, model):
        self.must_be_installed()
        if not MODEL.fullmatch(model) or ".." in model:
            raise Failure(f"a model is NAME or OWNER/NAME, such as base or small.en, and not {model!r}")
        progress(0, f"fetching {model}")
        run([self.venv / "bin" / "python", "-c", FETCH, model, self.data], f"the model {model} cannot be fetched",
            "Look at its name and at the network; then call it again")
        replace(self.chosen, model + "\n")
        self.write_unit()
        systemctl("daemon-reload")
        if self.state() != "active":
            return f"The model {model} is fetched, and used from the next start on."
        return f"The model {model} is fetched, and {self.restarted()}."


def main(program):
    """The program voice/NAME/ACT: its arguments are a JSON object on stdin."""
    path = Path(program)
    try:
        arguments = {name: value for name, value in json.load(sys.stdin).items() if value is not None}
        print(getattr(Service(path.parent.name), path.stem)(**arguments))
    except Failure as failure:
        sys.exit(str(failure))
    except OSError as error:
        sys.exit(f"{path.parent.name}_{path.stem} failed: {error}")
