# SPDX-License-Identifier: Apache-2.0
"""Where the service is: TOOLBOXD_HTTP, its Unix socket if there is one, TOOLBOXD_BUS, else the message
bus of mycroft.conf.

    unix:/PATH              HTTP on a Unix socket; the kernel says who calls, no token is needed
    http://, https://       HTTP
    ws://, wss://           the message bus
"""
from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Optional

BUS = {"host": "127.0.0.1", "port": 8181, "route": "/core", "ssl": False}
# A string of JSON, which is kept, or a comment to the end of its line.
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


def _sockets() -> list[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folders = [runtime] if runtime else []
    return [Path(folder, "toolboxd", "http.sock") for folder in [*folders, "/run"]]


def _configurations() -> list[Path]:
    """The files that may name another bus, from the least to the most."""
    user = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return [Path("/etc/mycroft/mycroft.conf"), Path(user, "mycroft", "mycroft.conf")]


def _websocket(path: Path) -> dict[str, Any]:
    try:
        text = COMMENT.sub(lambda found: found[1] or "", path.read_text())
        section = json.loads(text).get("websocket")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise ValueError(f"Cannot read where the message bus is from {path}: {error}") from error
    return section if isinstance(section, dict) else {}


def _bus() -> dict[str, Any]:
    """The section `websocket`: OVOS reads more files than the two that are looked at without OVOS."""
    bus = dict(BUS)
    try:
        from ovos_config import Configuration  # type: ignore[import-not-found,unused-ignore]
        sections = [Configuration().get("websocket") or {}]
    except ImportError:
        sections = [_websocket(path) for path in _configurations()]
    for section in sections:
        bus.update({key: value for key, value in section.items() if key in BUS})
    return bus


def bus_url() -> str:
    """Return the URL of the message bus: TOOLBOXD_BUS, else that of mycroft.conf."""
    if os.environ.get("TOOLBOXD_BUS"):
        return os.environ["TOOLBOXD_BUS"]
    bus = _bus()
    host = f"[{bus['host']}]" if ":" in str(bus["host"]) else bus["host"]
    # A bus that listens everywhere is reached on this device.
    host = "127.0.0.1" if host == "0.0.0.0" else host
    return f"{'wss' if bus['ssl'] else 'ws'}://{host}:{bus['port']}{bus['route']}"


def default_url() -> str:
    """Return where the service is, as far as variables and files tell: nothing is connected to."""
    if os.environ.get("TOOLBOXD_HTTP"):
        return os.environ["TOOLBOXD_HTTP"]
    for path in _sockets():
        if path.is_socket() and os.access(path, os.W_OK):
            return f"unix:{path}"
    return bus_url()


def read_token(path: str) -> str:
    """Return the token in the file at `path`, which nobody but its owner may read."""
    file = Path(path).expanduser()
    if file.stat().st_mode & 0o077:
        raise ValueError(f"The token in {file} can be read by others: chmod 600 {file}")
    return file.read_text().strip()


def is_bus(url: str) -> bool:
    return url.startswith(("ws://", "wss://"))


def check(url: str, token: Optional[str]) -> None:
    """Raise ValueError unless `url` is one of the forms above, with a token only where one counts."""
    if not url.startswith(("unix:/", "http://", "https://", "ws://", "wss://")):
        raise ValueError(f"The address {url!r} must be unix:/PATH, http://…, https://…, ws://… or wss://…")
    if token and is_bus(url):
        raise ValueError(f"A token counts over HTTP, not at {url}: give the address of toolboxd's HTTP door, or no token")
