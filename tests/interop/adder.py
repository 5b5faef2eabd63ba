# SPDX-License-Identifier: Apache-2.0
"""The toolbox that is called when endurance is measured, and what happens to it meanwhile: its library
and its manifest are replaced, by rename as installers do, and its hosts are killed."""
import json
import os
import signal

import manifests

ADD_LIBRARY = manifests.SHIPPED / "libtoolbox_math.so"
QUEUE = 1000         # none is refused because a machine is slow to start hosts
TIMEOUT_MS = 15000   # and none given up


def adder(folder, version=0):
    """A toolbox with add, over a library of its own whose bytes differ by the version."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_library(folder, version)
    return manifests.toolbox(folder, "adder", [manifests.tool(
        "add", "add", [manifests.integer("a"), manifests.integer("b")], description=f"{version}.")],
        library="./libadd.so", limits={"queue": QUEUE, "timeout_ms": TIMEOUT_MS})


def replace_library(folder, version):
    fresh = folder / ".libadd.so"
    fresh.write_bytes(ADD_LIBRARY.read_bytes() + b"%d" % version)
    fresh.rename(folder / "libadd.so")


def replace_manifest(folder, version):
    path = folder / "adder.json"
    manifest = json.loads(path.read_text())
    manifest["tools"][0]["description"] = f"{version}."
    fresh = folder / ".adder.json"
    fresh.write_text(json.dumps(manifest))
    fresh.rename(path)


def kill_hosts(daemon):
    """How many there were."""
    hosts = daemon.hosts()
    for host in hosts:
        try:
            os.kill(host, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(hosts)
