# SPDX-License-Identifier: Apache-2.0
"""While a person is asked, clients hear of it, so that their own deadlines begin anew."""
import json

import manifests
from http_peer import Raw, port_of
from processes import EVENT_SECONDS
from test_approval import Person
from test_mcp_http import Client

WORDS = "Waiting for a person to approve the call"
EVENTS = b"""POST /v1/tools/risky HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Accept: text/event-stream\r
Content-Length: 12\r
\r
{"value":-5}"""


def events(data):
    return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]


def test_a_client_hears_at_once_and_every_five_seconds_that_a_person_is_asked(launch, tmp_path):
    manifests.answers(tmp_path / "toolbox.d")
    one = launch({"approval": {"mode": "execute"}}, [tmp_path / "toolbox.d"], args=["--http", "127.0.0.1:0"])
    port = port_of(one.daemon)
    arguments = {"name": "risky", "arguments": {"value": -5}, "_meta": {"progressToken": "p"}}
    with Person(one.url) as person, Client(port, "legacy") as legacy, Client(port, "modern") as modern, \
            Raw(port, EVENT_SECONDS) as first, Raw(port, EVENT_SECONDS) as second, Raw(port, EVENT_SECONDS) as third:
        person.attach()
        requests = {first: legacy.raw("tools/call", arguments), second: modern.raw("tools/call", arguments),
                    third: EVENTS}
        for raw, request in requests.items():
            raw.send(request)
        questions = [person.question()["id"] for _ in requests]
        with Raw(port) as gone:
            gone.send(EVENTS)
            person.question()
        told = {raw: b"" for raw in requests}
        for raw in requests:
            while told[raw].count(WORDS.encode()) < 2:
                chunk = raw.socket.recv(65536)
                assert chunk, told[raw]
                told[raw] += chunk
        for question in questions:
            person.respond(question)
        for raw in requests:
            if b"\r\n0\r\n\r\n" not in told[raw]:
                told[raw] += raw.read_until(b"0\r\n\r\n")
    for raw in first, second:
        *reports, result = events(told[raw])
        assert result["result"]["structuredContent"] == {"result": 5}
        values = [report["params"]["progress"] for report in reports]
        assert values == sorted(set(values)) and len(values) == 2
        assert {report["params"]["message"] for report in reports} == {WORDS}
    *reports, result = events(told[third])
    assert reports == [{"progress": None, "text": WORDS}] * 2 and result["result"] == {"result": 5}
