# SPDX-License-Identifier: Apache-2.0
"""What a proxy reports of its clients, and the URL by which they come."""
import hashlib
import json

import pytest
from caller import Caller
from http_peer import Http, Raw, port_of, statuses

TOKEN = "0123456789abcdef"
TOKENS = [{"name": "kitchen", "token_sha256": hashlib.sha256(TOKEN.encode()).hexdigest()},
          {"name": "me", "token_sha256": hashlib.sha256(b"me" + TOKEN.encode()).hexdigest(), "admin": True}]
BEARER, ADMIN = f"Bearer {TOKEN}", f"Bearer me{TOKEN}"


def sources(service):
    with Caller(service.url) as caller:
        return [call["source"] for call in caller.call("ovos.tools.calls")["calls"]]


def test_a_client_of_a_trusted_proxy_has_its_own_address(launch):
    service = launch({"http": {"trusted_proxies": ["127.0.0.2", "10.0.0.0/8"]}}, args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    with Http(port, address="127.0.0.2") as proxy, Http(port) as other:
        for http, value in ((proxy, "203.0.113.9"), (proxy, "1.1.1.1, 2001:db8::7, 10.0.0.3"), (proxy, "nobody"),
                            (other, "203.0.113.9")):
            assert http.post("/v1/tools/add", {"a": 1, "b": 2}, X_Forwarded_For=value).status == 200
    assert sorted(sources(service)) == sorted(
        ["http:203.0.113.9", "http:2001:db8::7", "http:127.0.0.2", "http:127.0.0.1"])


def test_wrong_tokens_are_counted_for_the_client_of_a_proxy(launch):
    service = launch({"http": {"tokens": TOKENS, "trusted_proxies": ["127.0.0.1"]}}, args=["--http", "127.0.0.1:0"])
    with Http(port_of(service.daemon)) as http:
        assert http.get("/v1/tools", Authorization="Bearer wrong", X_Forwarded_For="203.0.113.9").status == 401
        assert "a wrong token from 203.0.113.9" in service.daemon.log()


def test_the_name_that_a_proxy_was_reached_by_has_to_be_allowed(launch):
    """A page whose own name resolves to the proxy gets nothing, whatever Host the proxy sends."""
    service = launch({"http": {"trusted_proxies": ["127.0.0.1"]}}, args=["--http", "127.0.0.1:0"])
    with Http(port_of(service.daemon)) as http:
        assert http.get("/v1/tools", X_Forwarded_Host="evil.example").status == 403
        assert http.get("/v1/tools", X_Forwarded_Host="a b").status == 403
        assert http.get("/v1/tools", X_Forwarded_Host="localhost:9", Host="evil.example").status == 403
        manual = http.get("/utcp", X_Forwarded_Host="localhost:9", X_Forwarded_Proto="https").json
        assert manual["tools"][0]["tool_call_template"]["url"].startswith("https://localhost:9/v1/tools/")


@pytest.mark.parametrize("given", ["https://home.example/tools", "https://home.example/tools/"])
def test_documents_have_the_public_url(launch, given):
    service = launch({"http": {"tokens": TOKENS, "public_url": given}}, args=["--http", "127.0.0.1:0"])
    with Http(port_of(service.daemon)) as http:
        for host in ("home.example", "localhost", "127.0.0.1:1"):
            headers = {"Authorization": BEARER, "Host": host}
            document = http.get("/openapi.json", **headers).json
            assert document["servers"] == [{"url": "https://home.example/tools"}]
            manual = http.get("/utcp", **headers).json
            assert all(tool["tool_call_template"]["url"].startswith("https://home.example/tools/v1/tools/")
                       for tool in manual["tools"])
        assert http.get("/utcp", Authorization=BEARER, Host="evil.example").status == 403
        page = http.get("/v1/tools", Authorization=BEARER, Origin="https://home.example")
        assert page.status == 200 and page.headers["Access-Control-Allow-Origin"] == "https://home.example"
        assert http.get("/v1/tools", Authorization=BEARER, Origin="https://other.example").status == 403


def test_without_a_host_documents_have_no_url(launch):
    service = launch(args=["--http", "127.0.0.1:0"])
    with Raw(port_of(service.daemon)) as raw:
        raw.send(b"GET /utcp HTTP/1.0\r\n\r\n")
        answer = raw.read_all()
    assert statuses(answer) == [400] and "Host" in json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]
