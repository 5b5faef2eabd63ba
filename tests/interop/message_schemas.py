# SPDX-License-Identifier: Apache-2.0
"""What the daemon sends is held to schemas/: one file per message, named by its topic."""
import json
from functools import lru_cache

import jsonschema_rs
from processes import ROOT

FOLDER = ROOT / "schemas" / "messages"


def file_of(topic):
    """ovos.persona.tools.<toolbox_id>.call is the older spelling of ovos.persona.tools.call."""
    if topic.startswith("ovos.persona.tools.") and topic.endswith(".call.response"):
        topic = "ovos.persona.tools.call.response"
    # toolbox-agent has a folder of its own.
    folder = FOLDER.parent / "agent" if topic.startswith("ovos.tools.chat") else FOLDER
    return folder / f"{topic}.schema.json"


def read(path):
    return json.loads(path.read_text())


@lru_cache(maxsize=None)
def registry():
    """All the schemas, each under its `$id`: nothing is fetched."""
    schemas = [read(path) for path in sorted(FOLDER.parent.rglob("*.json"))]
    return jsonschema_rs.Registry([(schema["$id"], schema) for schema in schemas])


@lru_cache(maxsize=None)
def validator(path):
    return jsonschema_rs.Draft202012Validator(read(path), registry=registry())


def check(topic, data):
    path = file_of(topic)
    assert path.exists(), f"no schema says what {topic} looks like: {path}"
    errors = [f"{error.instance_path}: {error.message}" for error in validator(path).iter_errors(data)]
    assert not errors, f"{topic} does not satisfy {path.name}: {errors}\n{data}"
