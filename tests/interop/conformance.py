# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of MCP, in one process for all scenarios of a file (conformance.mjs)."""
import contextlib
import json
import subprocess
import threading

from processes import ROOT

PACKAGES = ROOT / "build" / "node" / "node_modules"
SUITE = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
INTEROP = ROOT / "tests" / "interop"


class Suite(contextlib.AbstractContextManager):
    def __init__(self):
        self.process = None

    def _start(self):
        self.process = subprocess.Popen(
            [PACKAGES / ".bin" / "node", f"--require={INTEROP / 'on_loopback.cjs'}", INTEROP / "conformance.mjs", SUITE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, mode, version, scenario, out, *args, seconds, **env):
        """Run a scenario: its checks, and what the suite has printed."""
        if self.process is None or self.process.poll() is not None:
            self._start()
        words = [mode, "--spec-version", version, "--scenario", scenario, "-o", out, *args]
        self.process.stdin.write(json.dumps({"args": list(map(str, words)), "env": env}) + "\n")
        self.process.stdin.flush()
        late = threading.Timer(seconds, self.process.kill)
        late.start()
        answer = self.process.stdout.readline()
        late.cancel()
        assert answer, f"the suite has ended, by itself or after {seconds} s"
        [written] = out.glob("*/checks.json")
        return json.loads(written.read_text()), json.loads(answer)["output"]

    def __exit__(self, *_):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
