# SPDX-License-Identifier: Apache-2.0
"""GET /metrics, read by the strict parser of OpenMetrics that Prometheus's Python client has."""
import hashlib
import time

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as parse_text

INVOKE = "ovos.tools.invoke"
PROMETHEUS = ("application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
              "text/plain;version=0.0.4;q=0.3,*/*;q=0.2")


def scrape(http, **headers):
    time.sleep(1.05)  # metrics are made once in a second
    answer = http.get("/metrics", Accept=PROMETHEUS, **headers)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    return {(sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.bytes.decode()) for sample in family.samples}


def calls(metrics, toolbox, tool, code):
    return metrics.get(("toolboxd_calls_total", ("code", code), ("tool", tool), ("toolbox", toolbox)))


def starts(metrics, toolbox):
    return {dict(key[1:])["reason"]: value for key, value in metrics.items()
            if key[0] == "toolboxd_host_starts_total" and ("toolbox", toolbox) in key}


def test_what_happens_is_counted(launch, tmp_path):
    folder = tmp_path / "toolbox.d"
    manifests.misbehave(folder)
    service = launch({"crash_limit": 0}, [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"])
    with Caller(service.url) as caller, Http(port_of(service.daemon)) as http:
        def invoke(name, **args):
            return caller.call(INVOKE, {"name": name, "args": args})

        for _ in range(3):
            invoke("add", a=1, b=2)
        invoke("add", a="one")
        invoke("no such tool\n")
        http.post("/v1/tools/add", {"a": 1, "b": 2})
        invoke("segfault")
        assert invoke("segfault")["code"] == "host_crashed", "a second host"
        metrics = scrape(http)
        assert calls(metrics, "math_tools", "add", "ok") == 4
        assert calls(metrics, "math_tools", "add", "invalid_arguments") == 1
        assert calls(metrics, "", "", "unknown_tool") == 1
        assert calls(metrics, "misbehave", "segfault", "host_crashed") == 2
        labels = (("tool", "add"), ("toolbox", "math_tools"))
        assert metrics[("toolboxd_call_duration_seconds_count", *labels)] == 4, "a call that did not run has none"
        assert metrics[("toolboxd_call_duration_seconds_bucket", ("le", "+Inf"), *labels)] == 4
        assert 0 < metrics[("toolboxd_call_duration_seconds_sum", *labels)] < 10
        assert starts(metrics, "math_tools") == {"call": 1}
        assert starts(metrics, "misbehave")["call"] == 1 and starts(metrics, "misbehave")["crash"] >= 1
        assert metrics[("toolboxd_bus_connected",)] == 1
        assert metrics[("toolboxd_tools",)] == len(caller.call("ovos.tools.list")["tools"])
        assert metrics[("toolboxd_hosts",)] >= 1
        assert metrics[("toolboxd_queue",)] == 0
        assert metrics[("toolboxd_reloads_total", ("outcome", "changed"))] == 1
        manifests.answers(folder)
        caller.call("ovos.tools.reload")
        caller.call("ovos.tools.reload")
        metrics = scrape(http)
        assert metrics[("toolboxd_reloads_total", ("outcome", "changed"))] == 2
        assert metrics[("toolboxd_reloads_total", ("outcome", "unchanged"))] >= 1
        assert calls(metrics, "math_tools", "add", "ok") == 4, "no reload forgets"


def test_a_reader_that_does_not_ask_for_openmetrics_gets_the_text_format(launch):
    service = launch(args=["--http", "127.0.0.1:0"])
    with Caller(service.url) as caller, Http(port_of(service.daemon)) as http:
        caller.call(INVOKE, {"name": "add", "args": {"a": 1, "b": 2}})
        for headers in ({}, {"Accept": "*/*"}, {"Accept": "text/plain"}, {"Accept": "application/openmetrics-text;q=0"}):
            answer = http.get("/metrics", **headers)
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            text = answer.bytes.decode()
            families = {family.name: family.type for family in parse_text(text)}
            assert families["toolboxd_calls"] == "counter" and families["toolboxd_tools"] == "gauge"
            assert families["toolboxd_call_duration_seconds"] == "histogram"
            # What a sample has as its name is what the lines about it name.
            assert "# TYPE toolboxd_calls_total counter" in text and "# EOF" not in text and "# UNIT" not in text
        assert http.get("/metrics", Accept=PROMETHEUS).bytes.endswith(b"# EOF\n")


def test_metrics_need_an_admin_where_there_are_tokens(launch):
    tokens = [{"name": name, "token_sha256": hashlib.sha256(name.encode()).hexdigest(), "admin": name == "boss"}
              for name in ("boss", "far")]
    service = launch({"http": {"tokens": tokens}}, args=["--http", "127.0.0.1:0"])
    with Http(port_of(service.daemon)) as http:
        assert http.get("/metrics").status == 401
        assert http.get("/metrics", Authorization="Bearer far").status == 403
        assert scrape(http, Authorization="Bearer boss")[("toolboxd_bus_connected",)] == 1


@pytest.mark.parametrize("given", [
    {"http": {"profile": "kids"}}, {"access": [{"match": {"source": "http:*"}, "profile": "kids"}]},
    {"access": [{"match": {"source": "http:*"}, "profile": "nope"}]}])
def test_metrics_name_no_tool_to_a_caller_that_may_not_use_all(launch, given):
    service = launch({"profiles": {"kids": {"tool_names": ["add"]}}, **given}, args=["--http", "127.0.0.1:0"])
    with Caller(service.url) as caller, Http(port_of(service.daemon)) as http:
        caller.call(INVOKE, {"name": "multiply", "args": {"a": 1, "b": 2}})
        answer = http.get("/metrics")
        assert answer.status == 403 and answer.json["code"] == "forbidden" and b"multiply" not in answer.bytes
