# SPDX-License-Identifier: Apache-2.0
"""The client scenarios of the conformance suite of MCP, of both eras, but for those of OAuth: the suite is a server,
and its client is toolboxd with that server as a toolbox (suite_client.py).

Each is one test, with the checks that the suite writes as its verdict. `elicitation-sep1034-client-defaults` is left
out: it wants a client that answers for a person, and toolboxd refuses that.
"""
import sys

import pytest
from conformance import INTEROP, SUITE
from processes import EVENT_SECONDS
from test_mcp_conformance import LEGACY, MODERN, suite  # noqa: F401, a fixture

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
def test_scenario(suite, tmp_path, version, scenario):  # noqa: F811
    checks, printed = suite.run("client", version, scenario, tmp_path / "out", "--command",
                                f"{sys.executable} {INTEROP / 'suite_client.py'}", seconds=EVENT_SECONDS,
                                SUITE_CLIENT_HOME=str(tmp_path))
    bad = {check["id"]: check.get("errorMessage") for check in checks if check["status"] in ("FAILURE", "WARNING")}
    assert bad.keys() == EXCEPTED.get(scenario, set()), (bad, printed)
    assert "SUCCESS" in {check["status"] for check in checks}, checks
    assert "CLIENT EXITED WITH ERROR" not in printed and "TIMED OUT" not in printed, printed
