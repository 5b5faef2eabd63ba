# SPDX-License-Identifier: Apache-2.0
"""The voice settings in the user's mycroft.conf, the highest of its layers. The file is JSON, in which OVOS allows lines of
comments; such a file is read, and not written, since its comments would be lost."""
import json
import os
import re
import stat
import sys
from pathlib import Path

from helpers import Failure, replace

PARTS = ("tts", "stt", "listener", "hotwords", "lang")
LANG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
SECRET = re.compile(r"key|token|secret|pass|pwd|auth|credential", re.I)
BYTES = 1 << 20


class Settings:
    def __init__(self):
        folder = os.environ.get("XDG_CONFIG_HOME", "")
        path = (Path(folder) if folder.startswith("/") else Path.home() / ".config") / "mycroft" / "mycroft.conf"
        self.path = Path(os.path.realpath(path))  # what a link names is written, and not the link
        self.has_comments, self.all = False, {}
        if self.path.exists():
            self.read()

    def read(self):
        text = self.path.read_bytes()[:BYTES + 1]
        if len(text) > BYTES:
            raise Failure(f"{self.path} has more than {BYTES} bytes; it is not read")
        try:
            text = text.decode()
            try:
                self.all = json.loads(text)
            except ValueError:
                lines = [line for line in text.splitlines() if not line.lstrip().startswith(("//", "#"))]
                self.all, self.has_comments = json.loads("\n".join(lines)), True
        except (ValueError, RecursionError) as error:
            raise Failure(f"{self.path} is not JSON: {error}; mend it with an editor") from error
        if not isinstance(self.all, dict):
            raise Failure(f"{self.path} is not a JSON object; mend it with an editor")

    def write(self):
        if self.has_comments:
            raise Failure(f"{self.path} has comments, which would be lost; change it with an editor")
        try:
            text = json.dumps(self.all, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        except ValueError as error:  # Infinity is no JSON, and no other program would read the file
            raise Failure(f"{self.path} would have a number that JSON does not have: {error}") from error
        if len(text.encode()) > BYTES:
            raise Failure(f"{self.path} would have more than {BYTES} bytes; set less")
        replace(self.path, text, stat.S_IMODE(self.path.stat().st_mode) if self.path.exists() else 0o600)

    # ── the acts ──

    def configuration(self, key=None):
        if key is None:
            return {part: masked(self.all[part]) for part in PARTS if part in self.all}
        value = self.all
        for name in key.split("."):
            if not isinstance(value, dict) or name not in value:
                raise Failure(f"{key} is not set in {self.path}: the setting of the system counts")
            value = value[name]
        return {key: "***" if SECRET.search(key) else masked(value)}

    def set_configuration(self, key, value):
        names = key.split(".")
        if names[0] not in PARTS or (names[0] == "lang" and len(names) > 1):
            raise Failure(f"{key} is no voice setting; they are below tts, stt, listener and hotwords, and lang")
        if key == "lang" and value is not None and not (isinstance(value, str) and LANG.fullmatch(value)):
            raise Failure("lang is the tag of a language, such as en-us")
        if len(names) == 1 and key != "lang" and value is not None and not isinstance(value, dict):
            raise Failure(f"{key} is an object of settings; name one of them, such as {key}.module")
        place = self.all
        for depth, name in enumerate(names[:-1], 1):
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise Failure(f"{'.'.join(names[:depth])} is not an object, so it has no {names[depth]}")
        if value is None:
            place.pop(names[-1], None)
        else:
            place[names[-1]] = value
        self.write()
        return {key: value, "file": str(self.path)}


def masked(value):
    """The value without what its keys call secret, and without all below such a key."""
    if isinstance(value, dict):
        return {name: "***" if SECRET.search(name) else masked(inner) for name, inner in value.items()}
    return [masked(inner) for inner in value] if isinstance(value, list) else value


def main(program):
    """The program: its arguments are a JSON object on stdin."""
    try:
        try:
            arguments = json.load(sys.stdin)
        except ValueError as error:
            raise Failure(f"the value has a number that cannot be set: {error}") from error
        print(json.dumps(getattr(Settings(), Path(program).stem)(**arguments), indent=2, ensure_ascii=False))
    except Failure as failure:
        sys.exit(str(failure))
    except OSError as error:
        sys.exit(f"{Path(program).stem} failed: {error}")
