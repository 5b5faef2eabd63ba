# SPDX-License-Identifier: Apache-2.0
"""An author sees which system call the sandbox refused: in the error of a call, and in what
`toolboxctl check` prints."""
import json

import manifests
import pytest
from caller import Caller
from processes import BUILD, IS_SANITIZED, toolboxctl

PROBE = BUILD / "tests" / "toolboxes" / "toolbox.d" / "libtest_probe.so"
REFUSED = "socket(AF_INET, SOCK_STREAM)"

pytestmark = pytest.mark.skipif(IS_SANITIZED, reason="sanitizers leave seccomp out")


def sockets(folder, **more):
    return manifests.toolbox(folder, "sockets", [
        manifests.tool("open", "socket", [
            manifests.integer("family", "i32", value=2), manifests.integer("type", "i32", value=1),
            manifests.integer("protocol", "i32", value=0)],
            {"type": "i32", "errors": "negative"}),
        manifests.tool("close", "close", [manifests.integer("fd", "i32")],
                       {"type": "i32", "errors": "negative"}),
    ], **more)


def test_a_failed_call_names_it(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    sockets(folder)
    manifests.toolbox(folder, "doomed", [manifests.tool("crash", "abort_without_socket",
                                                        returns="i32")], library=str(PROBE))
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        answer = caller.invoke("open")
        assert (answer["code"], answer["refused"]) == ("tool_failed", REFUSED)
        assert answer["error"].endswith(f" (the sandbox refused: {REFUSED})"), answer["error"]
        answer = caller.invoke("close", {"fd": -1})
        assert answer["code"] == "tool_failed" and "refused" not in answer, answer
        answer = caller.invoke("crash")
        assert (answer["code"], answer["signal"]) == ("host_crashed", "SIGABRT")
        assert answer["refused"] == "socket(AF_NETLINK, SOCK_RAW, 4)"
        assert answer["error"].endswith("(the sandbox refused: socket(AF_NETLINK, SOCK_RAW, 4))")


def test_a_class_that_allows_it_names_nothing(launch, tmp_path):
    sockets(tmp_path / "toolbox.d", sandbox={"class": "net"})
    service = launch({}, [tmp_path / "toolbox.d"])
    with Caller(service.url) as caller:
        assert "result" in caller.invoke("open")


def test_check_names_what_is_refused_while_loading(tmp_path):
    folder = tmp_path / "toolbox.d"
    quiet = sockets(folder)
    probe = manifests.toolbox(folder, "probe", [manifests.tool(
        "use_io_uring", "use_io_uring", returns="i32")], library=str(PROBE))
    done = toolboxctl("check", str(quiet), str(probe), home=tmp_path)
    lines = {line.split(":")[0]: line for line in done.stdout.splitlines()}
    assert "refused while loading: " in lines["probe"], done.stdout
    assert "refused" not in lines["sockets"], done.stdout
    told = json.loads(toolboxctl("check", "--json", str(quiet), str(probe), home=tmp_path).stdout)
    refused = {one["toolbox_id"]: one["refused_while_loading"] for one in told["toolboxes"]}
    assert refused["sockets"] is None and refused["probe"], refused
