# SPDX-License-Identifier: Apache-2.0
"""ovos.tools.search: the tools that fit a query, for those who may see them."""
import json
import threading

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import toolboxctl

SEARCH = "ovos.tools.search"


def lamp(name, description, **more):
    return {"name": name, "description": description, "risk": "read", "command": {"argv": ["true"]}, **more}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    (folder / "lamps.json").write_text(json.dumps({"kind": "command", "tools": [
        lamp("turnOnLamp", "Switches a lamp on.", triggers=[r"\blight\b up the (?<room>\w+)"], argument_schema={
            "type": "object", "properties": {"room": {"type": "string", "description": "Kitchen, say, or Küche."}}}),
        lamp("turnOffLamp", "Switches a lamp off.")]}))
    (folder / "secret.json").write_text(json.dumps({"kind": "command", "tools": [
        lamp(f"lamp_{number}", "Hidden lamps.") for number in range(20)]}))
    return folder


def names(answer):
    return [tool.get("name") or tool["function"]["name"] for tool in answer["tools"]]


def search(caller, query, **fields):
    return caller.call(SEARCH, {"query": query, **fields})


def test_the_best_come_first(launch, folder):
    service = launch({}, [folder, manifests.SHIPPED])
    with Caller(service.url) as caller:
        answer = search(caller, "switch off the lamp")
        assert names(answer)[0] == "turnOffLamp"
        assert len(answer["tools"]) == 8 < answer["total"]
        scores = [tool["score"] for tool in answer["tools"]]
        assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1] > 0
        for query in ("kuche", "KÜCHE", "lights", "kitchens"):
            assert names(search(caller, query))[0] == "turnOnLamp", query
        assert search(caller, "submarine") == {"tools": [], "total": 0}
        assert names(search(caller, "root of a number", limit=1)) in (["sqrt"], ["cbrt"])
        assert set(names(search(caller, "number", toolbox_id="math_tools", limit=50))) <= {
            "add", "subtract", "multiply", "divide", "factorial"}
        assert search(caller, "number", toolbox_id="nothing") == {"tools": [], "total": 0}


@pytest.mark.parametrize("format, name", [
    ("full", lambda tool: tool["toolbox_id"] and tool["name"]), ("compact", lambda tool: tool["name"]),
    ("openai", lambda tool: tool["function"]["name"]), ("anthropic", lambda tool: tool["name"]),
    ("mcp", lambda tool: tool["_meta"]["toolboxd/name"])])
def test_formats(launch, folder, format, name):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        tool, = search(caller, "switch off", limit=1, format=format)["tools"]
        assert name(tool) == "turnOffLamp" and tool["score"] > 0
        text = search(caller, "switch off", limit=1, format="markdown")
        assert "turnOffLamp" in text["text"] and text["total"] == 2


@pytest.mark.parametrize("data, field", [
    ({}, "query"), ({"query": ""}, "query"), ({"query": None}, "query"), ({"query": 5}, "query"),
    ({"query": " ?! \u2014 "}, "query"), ({"query": "x" * 4097}, "query"), ({"query": "x", "limit": 0}, "limit"),
    ({"query": "x", "limit": 51}, "limit"), ({"query": "x", "limit": "8"}, "limit"),
    ({"query": "x", "format": "yaml"}, "format")])
def test_what_is_no_search(caller, data, field):
    answer = caller.call(SEARCH, data)
    assert answer["code"] == "bad_request" and answer["field"] == field


@pytest.mark.parametrize("query", ["x" * 4096, "a " * 2048, "\u5929" * 1365, "\U0001f9ea\u202e\u0301 tea", "\u0000 lamp",
                                   " ".join(f"word{number}" for number in range(500)), "ÀÉÎ" * 600])
def test_any_query_is_answered(caller, query):
    assert "total" in search(caller, query)


def test_what_a_caller_may_not_see_shifts_no_score(launch, folder, tmp_path):
    service = launch({"profiles": {"open": {"tool_names": ["lamps/*"]}}}, [folder])
    with Caller(service.url) as caller:
        narrow = search(caller, "lamp switched off", profile="open")
        assert search(caller, "hidden", profile="open") == {"tools": [], "total": 0}
        assert search(caller, "hidden")["total"] == 20
        whole = search(caller, "lamp switched off")
    (folder / "secret.json").unlink()
    alone = launch({}, [folder])
    with Caller(alone.url) as caller:
        assert search(caller, "lamp switched off") == narrow != whole


def test_a_reload_changes_what_is_found(launch, folder):
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert search(caller, "submarine")["total"] == 0
        for number in range(5):
            (folder / "boats.json").write_text(json.dumps({"kind": "command", "tools": [
                lamp(f"dive_{number}", "Dives with a submarine.")]}))
            caller.call("ovos.tools.reload")
            assert names(search(caller, "submarine")) == [f"dive_{number}"]
        (folder / "boats.json").unlink()
        caller.call("ovos.tools.reload")
        assert search(caller, "submarine")["total"] == 0


def test_the_language_of_the_configuration(launch, folder):
    (folder / "bau.json").write_text(json.dumps({"kind": "command", "tools": [lamp("zeigen", "Zeigt alle Häuser.")]}))
    service = launch({"search": {"language": "de-AT"}}, [folder])
    with Caller(service.url) as caller:
        assert names(search(caller, "Haus")) == ["zeigen"]
    refused = launch({"search": {"language": "tlh"}}, [folder])
    with Caller(refused.url) as caller:
        assert search(caller, "Haus")["total"] == 0
        assert set(names(search(caller, "switching lamps"))) >= {"turnOnLamp", "turnOffLamp"}, "it is english"
        assert "search/language" in refused.daemon.log() and "a language tag like" in refused.daemon.log()


def test_many_searches_at_once_wait_for_the_index(launch, folder):
    manifests.toolbox(folder, "many", [manifests.labs(f"tool_{number}", description=f"Does thing {number}, well.")
                                       for number in range(2000)])
    service = launch({}, [folder])
    answers = []

    def ask(number):
        with Caller(service.url) as caller:
            answers.append(names(search(caller, f"thing {number}"))[0] == f"tool_{number}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 20


def test_over_http_and_by_the_command(launch, folder, tmp_path):
    service = launch({"http": {"listen": ["127.0.0.1:0"]}}, [folder])
    port = port_of(service.daemon)
    with Http(port) as http:
        answer = http.get("/v1/tools?q=switch%20off&limit=1")
        assert answer.status == 200 and names(answer.json) == ["turnOffLamp"]
        assert "parameters" in answer.json["tools"][0] and answer.json["total"] == 2
        assert http.get("/v1/tools?q=").status == 400
        assert http.get("/v1/tools?q=x&limit=many").status == 400
        assert "toolbox_id" in http.get("/v1/tools?q=lamp&format=full").json["tools"][0]
    for way in (("--bus", service.url), ("--http", f"http://127.0.0.1:{port}")):
        out = toolboxctl(*way, "search", "switch", "off", "lamps", home=tmp_path).stdout.splitlines()
        assert out[0].split() == ["TOOLBOX", "TOOL", "DESCRIPTION"]
        assert out[1].split()[:2] == ["lamps", "turnOffLamp"]
        found = json.loads(toolboxctl(*way, "search", "--json", "submarine", home=tmp_path).stdout)
        assert found == {"tools": [], "total": 0}
