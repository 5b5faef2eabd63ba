# SPDX-License-Identifier: Apache-2.0
"""The HTTP door behind nginx and Caddy, with the configurations of docs/proxy.md."""
import hashlib
import http.client
import os
import re
import shutil
import subprocess

import manifests
import pytest
from caller import Caller
from http_peer import Http, port_of
from processes import EVENT_SECONDS, ROOT, TOOLBOXCTL, environment, free_port, until
from test_http_tls import certificate, client_context
from test_mcp_http import Client

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
CADDY = shutil.which("caddy")
PAGE = (ROOT / "docs" / "proxy.md").read_text()
TOKEN = "kitchen-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
TOKENS = [{"name": "kitchen", "token_sha256": hashlib.sha256(TOKEN.encode()).hexdigest()}]

# nginx with nothing but the page's server, as it is and with its defaults towards toolboxd.
AROUND = """daemon off; master_process off; pid {folder}/pid; error_log stderr;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{server} }}
"""


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


def replaced(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx_block(port, backend, tls):
    return replaced(block("nginx"), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("home.example;", "localhost;"),
                    ("/etc/ssl/home.example.pem", tls["cert"]), ("/etc/ssl/private/home.example.key", tls["key"]),
                    ("127.0.0.1:8090", f"127.0.0.1:{backend}"))


def start_nginx(folder, port, backend, tls, server=nginx_block):
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, server=server(port, backend, tls)))
    return subprocess.Popen([NGINX, "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)


def bare_nginx_block(port, backend, tls):
    """nginx with its defaults: HTTP/1.0, its own Host, and buffers."""
    text = nginx_block(port, backend, tls)
    start, end = text.index("proxy_http_version"), text.rindex("}", 0, text.rindex("}"))
    return text[:start] + text[end:]


def start_bare_nginx(folder, port, backend, tls):
    return start_nginx(folder, port, backend, tls, bare_nginx_block)


def start_caddy(folder, port, backend, tls):
    site = replaced(block("caddy"), ("home.example {", f"https://localhost:{port} {{\n\ttls {tls['cert']} {tls['key']}"),
                    ("127.0.0.1:8090", f"127.0.0.1:{backend}"))
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tgrace_period 1s\n}\n" + site)
    return subprocess.Popen([CADDY, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"],
                            env=environment(folder), stderr=subprocess.DEVNULL)


PROXIES = [pytest.param(start, marks=pytest.mark.skipif(not program, reason=f"{name} is not installed"), id=name)
           for name, start, program in (("nginx", start_nginx, NGINX), ("bare-nginx", start_bare_nginx, NGINX),
                                        ("caddy", start_caddy, CADDY))]


class Through(Http):
    """A client of the proxy, from an address of its own."""

    def __init__(self, port, tls, address="127.0.0.1"):
        self.connection = http.client.HTTPSConnection("localhost", port, timeout=EVENT_SECONDS,
                                                      context=client_context(tls), source_address=(address, 0))


class Behind:
    def __init__(self, launch, tmp_path, start):
        self.tls = certificate(tmp_path, "localhost")
        self.port = free_port()
        self.url = f"https://localhost:{self.port}/tools"
        self.folder = tmp_path / "toolbox.d"
        manifests.answers(self.folder)
        self.service = launch(
            {"http": {"listen": ["127.0.0.1:0"], "public_url": self.url, "trusted_proxies": ["127.0.0.1"],
                      "tokens": TOKENS}}, [manifests.SHIPPED, self.folder])
        folder = tmp_path / "proxy"
        folder.mkdir()
        self.proxy = start(folder, self.port, port_of(self.service.daemon), self.tls)
        try:
            until(self.is_up, EVENT_SECONDS, "the proxy up")
        except AssertionError:
            self.end()
            raise

    def is_up(self):
        assert self.proxy.poll() is None, "the proxy has ended"
        try:
            with self.connect() as client:
                return client.get("/tools/health").status == 200
        except OSError:
            return False

    def connect(self, address="127.0.0.1"):
        return Through(self.port, self.tls, address)

    def end(self):
        self.proxy.terminate()
        self.proxy.wait(EVENT_SECONDS)


@pytest.fixture(params=PROXIES)
def behind(request, launch, tmp_path):
    one = Behind(launch, tmp_path, request.param)
    yield one
    one.end()


def test_a_proxy_passes_requests_on(behind):
    with behind.connect() as client:
        for _ in range(3):
            answer = client.post("/tools/v1/tools/add", {"a": 1, "b": 2}, **BEARER)
            assert (answer.status, answer.json["result"]) == (200, {"result": 3})
        assert client.get("/tools/v1/tools").status == 401
        document = client.get("/tools/openapi.json", **BEARER).json
        assert document["servers"][0]["url"] == behind.url and "/v1/tools/add" in document["paths"]
        manual = client.get("/tools/utcp", **BEARER).json
        assert manual["tools"][0]["tool_call_template"]["url"].startswith(behind.url + "/v1/tools/")
        page = client.get("/tools/v1/tools", Origin=behind.url[:-len("/tools")], **BEARER)
        assert page.status == 200
        assert client.get("/tools/v1/tools", Origin="https://evil.example", **BEARER).status == 403
        large = client.post("/tools/v1/tools/add?dry_run=1", {"a": 1, "b": "x" * 100_000}, **BEARER)
        assert large.status == 200 and large.json["valid"] is False


def test_the_address_of_a_client_comes_through_a_proxy(behind, request):
    """What it claims itself does not count."""
    if "bare" in request.node.name:
        pytest.skip("it sends no addresses")
    with behind.connect("127.0.0.9") as client:
        wrong = {"Authorization": "Bearer wrong-0123456789", "X-Forwarded-For": "203.0.113.9"}
        assert client.get("/tools/v1/tools", **wrong).status == 401
    until(lambda: "a wrong token from 127.0.0.9" in behind.service.daemon.log(), EVENT_SECONDS, "the address in the log")
    assert "203.0.113.9" not in behind.service.daemon.log()


def test_events_come_through_a_proxy_at_once(behind):
    with behind.connect() as client, Caller(behind.service.url) as caller:
        client.connection.request("GET", "/tools/v1/events", headers=BEARER)
        response = client.connection.getresponse()
        assert response.status == 200 and response.getheader("Content-Type") == "text/event-stream"
        for n in range(2):
            manifests.toolbox(behind.folder, f"new{n}", [manifests.sleeper(f"nap{n}")])
            caller.call("ovos.tools.reload")
            line = response.readline()
            while not line.startswith(b"event: "):
                line = response.readline()
            assert line == b"event: changed\n"
    with behind.connect() as client:
        client.connection.request("POST", "/tools/v1/tools/add", b'{"a":1,"b":2}', BEARER | {
            "Content-Type": "application/json", "Accept": "text/event-stream"})
        assert client.connection.getresponse().read().startswith(b"event: result\n")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_mcp_comes_through_a_proxy(behind, era):
    class Known(Client):
        def headers(self, method, params):
            return super().headers(method, params) | BEARER

    with Known(behind.connect(), era, "/tools/mcp/math_tools") as client:
        assert "add" in [tool["name"] for tool in client.result("tools/list")["tools"]]
        result = client.result("tools/call", {"name": "add", "arguments": {"a": 3, "b": 4}})
        assert result["structuredContent"] == {"result": 7}


def test_toolboxctl_comes_through_a_proxy(behind, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    for url in (behind.url, behind.url + "/"):
        done = subprocess.run([TOOLBOXCTL, "invoke", "add", "a=1", "b=2", "--raw", "--http", url, "--token-file", token],
                              env=environment(tmp_path, SSL_CERT_FILE=behind.tls["cert"]), capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
