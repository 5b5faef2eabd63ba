# SPDX-License-Identifier: Apache-2.0
"""The client scenarios of the conformance suite of MCP, of both eras, but for those of OAuth: the suite is a server,
and its client is toolboxd with that server as a toolbox (suite_client.py).

Each is one test, with the checks that the suite writes as its verdict. `elicitation-sep1034-client-defaults` is left
out: it wants a client that answers for a person, and toolboxd refuses that.
"""
import json
import os
import subprocess
import sys

import pytest
from processes import EVENT_SECONDS, ROOT
from test_mcp_conformance import LEGACY, MODERN, SUITE


pytestmark = pytest.mark.skipif(not SUITE.exists(), reason=f"npm has not installed the suite: {SUITE}")

SCENARIOS = [(LEGACY, name) for name in ["initialize", "tools_call", "sse-retry", "json-schema-2020-12-preservation"]]
SCENARIOS += [(MODERN, name) for name in [
    "tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
    "json-schema-ref-no-deref", "json-schema-2020-12-preservation", "sep-2322-client-request-state"]]

# Checks that fail, by scenario: a call that wants input of a person is tool_failed, so it is not sent again.
EXCEPTED = {"sep-2322-client-request-state": {
    "sep-2322-client-request-state-echoed", "sep-2322-client-jsonrpc-id-different",
    "sep-2322-client-no-state-omitted"}}


@pytest.mark.parametrize("version,scenario", SCENARIOS)
def test_scenario(tmp_path, version, scenario):
    interop = ROOT / "tests" / "interop"
    done = subprocess.run(
        [SUITE, "client", "--command", f"{sys.executable} {interop / 'suite_client.py'}", "--scenario", scenario,
         "--spec-version", version, "-o", tmp_path / "out"],
        env=dict(os.environ, PATH=f"{SUITE.parent}:{os.environ['PATH']}", SUITE_CLIENT_HOME=str(tmp_path),
                 NODE_OPTIONS=f"--require={interop / 'on_loopback.cjs'}"),
        capture_output=True, text=True, timeout=EVENT_SECONDS, check=False)
    [written] = (tmp_path / "out").glob("*/checks.json")
    checks = json.loads(written.read_text())
    bad = {check["id"]: check.get("errorMessage") for check in checks if check["status"] in ("FAILURE", "WARNING")}
    assert bad.keys() == EXCEPTED.get(scenario, set()), (bad, done.stdout)
    assert "SUCCESS" in {check["status"] for check in checks}, checks
    assert "CLIENT EXITED WITH ERROR" not in done.stdout and "TIMED OUT" not in done.stdout, done.stdout
