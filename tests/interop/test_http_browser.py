# SPDX-License-Identifier: Apache-2.0
"""A page of another site in a real browser gets nothing of the tools, and runs none.

    page of evil.test ──▶ fetch, forms, EventSource, elements ──▶ HTTP of toolboxd: 403, or no way to read it
    page of good.test ──▶ the same                            ──▶ one of `allowed_origins`: tools and a call
    rebound.test, which resolves to the service's own address ──▶ 403

`good.test` shows that the script would get something. Chromium resolves all three to 127.0.0.1.
"""
import http.server
import json
import os
import shutil
import signal
import subprocess
import threading

import manifests
import pytest
from caller import Caller
from http_peer import port_of
from processes import environment, until

CHROMIUM = shutil.which("chromium")
SECONDS = 60

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed; tests/run --long installs it")

PAGE = """<!doctype html><meta charset="utf-8"><title>page</title><body><script>
const door = DOOR, got = {}
const call = (type, mode, credentials) => fetch(door + "/v1/tools/with_default",
  {method: "POST", mode, credentials, headers: {"Content-Type": type}, body: "{}"})
const read = async response => (await response).text()
const attempts = {
  list: () => read(fetch(door + "/v1/tools")),
  list_opaque: () => read(fetch(door + "/v1/tools", {mode: "no-cors"})),
  events: () => new Promise((done, fail) => {
    const source = new EventSource(door + "/v1/events")
    source.onopen = () => { source.close(); done("open") }
    source.onerror = () => { source.close(); fail("closed") }
  }),
  call: () => read(call("application/json", "cors")),
  call_as_text: () => read(call("text/plain", "cors")),
  call_opaque: () => read(call("text/plain", "no-cors", "include")),
  beacon: async () => { navigator.sendBeacon(door + "/v1/tools/with_default", "{}"); return "" },
  mcp: async () => (await fetch(door + "/mcp", {method: "POST", headers: {"Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-11-25", "Mcp-Param-Region": "eu"}, body: JSON.stringify({jsonrpc: "2.0", id: 1,
    method: "initialize", params: {protocolVersion: "2025-11-25", capabilities: {}}})})).headers.get("Mcp-Session-Id"),
  script: () => new Promise((done, fail) => {
    const script = document.createElement("script")
    script.onload = () => done(""); script.onerror = () => fail("error"); script.src = door + "/v1/tools"
    document.body.append(script)
  }),
  form: () => post(""),
  form_of_no_origin: () => post("allow-forms"),
}
// Send a form into a frame of its own; one in a sandbox has the origin `null`.
const post = sandbox => new Promise((done, fail) => {
  const frame = document.createElement("iframe"), form = `<form method="post" enctype="text/plain"
    action="${door}/v1/tools/with_default"><input name='{"a":"' value='"}'></form>`
  if (sandbox) frame.sandbox = sandbox + " allow-scripts"
  frame.srcdoc = form + "<script>document.forms[0].submit()<" + "/script>"
  let loads = 0
  frame.onload = () => {
    if (++loads < 2) return
    try { done(frame.contentDocument.body.textContent) } catch (error) { fail(error) }
  }
  setTimeout(() => fail("no answer"), 3000)
  document.body.append(frame)
})
const run = async () => {
  for (const [name, attempt] of Object.entries(attempts)) {
    try { got[name] = await attempt() } catch (error) { got[name] = null }
  }
  await fetch("/report", {method: "POST", body: JSON.stringify(got)})
}
run()
</script>"""


class Site(http.server.ThreadingHTTPServer):
    """Serves PAGE for one door, and keeps what its script reports by the name that it was served under."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.door, self.reports = None, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGE.replace("DOOR", json.dumps(self.server.door)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.reports[self.headers["Host"].partition(":")[0]] = report
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    with Site() as one:
        yield one
        one.shutdown()


def chromium(tmp_path, *arguments):
    return [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-features=HttpsUpgrades",
            f"--user-data-dir={tmp_path / 'chromium'}", "--no-proxy-server",
            "--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", *arguments]


def visit(tmp_path, site, name):
    """What the script of the page of @name reports."""
    browser = subprocess.Popen(chromium(tmp_path, "--remote-debugging-port=0",
                                        f"http://{name}:{site.server_port}/"), env=environment(tmp_path),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        until(lambda: name in site.reports, SECONDS, f"a report of {name}")
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
    return site.reports[name]


def shown(tmp_path, url):
    done = subprocess.run(chromium(tmp_path, "--dump-dom", url), env=environment(tmp_path), capture_output=True,
                          text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    return done.stdout


def test_a_page_of_another_site_gets_nothing(launch, tmp_path, site):
    folder = tmp_path / "toolbox.d"
    manifests.answers(folder)
    service = launch({"http": {"allowed_origins": [f"http://good.test:{site.server_port}"]}},
                     [manifests.SHIPPED, folder], args=["--http", "127.0.0.1:0"])
    port = port_of(service.daemon)
    site.door = f"http://127.0.0.1:{port}"

    def calls():
        with Caller(service.url) as caller:
            return caller.call("ovos.tools.calls", {"name": "with_default"})["calls"]

    evil = visit(tmp_path, site, "evil.test")
    assert not calls()
    assert evil and not any(evil.values()), evil
    good = visit(tmp_path, site, "good.test")
    assert '"with_default"' in good["list"] and good["events"] == "open" and '"with_default"' in good["call"], good
    assert len(good["mcp"] or "") == 32, good
    assert not good["list_opaque"] and not good["form"] and not good["form_of_no_origin"]
    assert calls()
    assert '"add"' in shown(tmp_path, f"{site.door}/v1/tools")
    rebound = shown(tmp_path, f"http://rebound.test:{port}/v1/tools")
    assert '"forbidden"' in rebound and '"add"' not in rebound
