# SPDX-License-Identifier: Apache-2.0
"""Three tasks of an agent from their beginning to their end, by MCP, with a person who approves what is more than
reading. The agent is a script in place of a model: each step is made of the text of the answers before."""
import re

import pytest
from caller import Caller
from conftest import Service
from processes import BUILD
from test_approval import Person
from test_bus_tools import sent
from test_device import Alsa
from test_mcp_stdio import Server, text_of
from test_toolbox_web import Site

TOOLBOXES = [BUILD / "toolboxes" / f"{name}.d" for name in ("files", "shell", "web", "device")]

CLAMP = """\
#include "clamp.h"

/* Return the value of low to high that is the nearest to value. */
int clamp(int value, int low, int high)
{
	if (value < low)
		return low;
	if (value > high)
		return low;
	return value;
}
"""
CHECK = """\
#include <stdio.h>
#include "clamp.h"

static int failures;

static void check(int line, int value, int expected)
{
	int came = clamp(value, 0, 10);

	if (came == expected)
		return;
	failures++;
	printf("check.c:%d: clamp(%d, 0, 10) is %d, not %d\\n", line, value, came, expected);
}

int main(void)
{
	check(__LINE__, -3, 0);
	check(__LINE__, 7, 7);
	check(__LINE__, 12, 10);
	printf("%d failed\\n", failures);
	return failures > 0;
}
"""
TEST = "cc -Wall -o check check.c clamp.c && ./check"
PAGE = """<!doctype html><html><head><title>Opening hours</title></head><body>
<nav><a href="/home">Home</a></nav><h1>The town library</h1>
<p>Closed on Mondays.</p><ul><li>Tuesday to Friday: 10 to 18</li><li>Saturday: 10 to 14</li></ul>
</body></html>"""


class Agent:
    """A client of MCP that calls one tool after the other, and its person."""

    def __init__(self, service, home):
        self.server = Server(home, bus=service.url)
        self.person = Person(service.url)
        self.person.attach()
        self.asked = []
        self.server.ask("initialize", {"protocolVersion": "2025-11-25"})
        self.tools = {one["name"].split("__")[1]: one["name"] for one in self.server.ask("tools/list")["result"]["tools"]}

    def close(self):
        self.person.close()
        self.server.__exit__()

    def begin(self, name, **arguments):
        return self.server.begin("tools/call", {"name": self.tools[name], "arguments": arguments})

    def decide(self, decision="once"):
        question = self.person.question()
        self.asked.append(question["name"])
        self.person.respond(question["id"], decision)
        return question

    def end(self, id_):
        """The text of the answer, and whether it is an error."""
        response = self.server.answer(id_)
        return text_of(response), bool(response["result"].get("isError"))

    def do(self, name, **arguments):
        """Call a tool about which nobody is asked."""
        text, is_error = self.end(self.begin(name, **arguments))
        assert not is_error, text
        return text

    def ask(self, name, decision="once", **arguments):
        """Call a tool about which the person is asked."""
        id_ = self.begin(name, **arguments)
        self.decide(decision)
        return self.end(id_)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    site = Site()
    (home / "project").mkdir()
    writable = [str(home / "project")]
    asked = {"risk": "execute"}  # by default a person is asked about commands alone
    service = Service("embedded", home / "service", TOOLBOXES, configuration={
        "approval": {"mode": "execute"},
        "toolboxes": {"files": {"roots": writable, "writable": writable, "tools": {"apply_patch": asked, "write_file": asked}},
                      "shell": {"enabled": True, "writable": writable},
                      "web": {"enabled": True, "allow": [f"127.0.0.1:{site.port}"]},
                      "device": {"enabled": True, "tools": {"set_volume": asked}}}})
    with service:
        yield service, home / "project", site
    site.close()


@pytest.fixture
def agent(world, tmp_path):
    one = Agent(world[0], tmp_path)
    yield one
    one.close()


def test_it_mends_a_failing_test_of_a_c_project(world, agent):
    _, project, _ = world
    (project / "clamp.c").write_text(CLAMP)
    (project / "clamp.h").write_text("int clamp(int value, int low, int high);\n")
    (project / "check.c").write_text(CHECK)

    before, _ = agent.ask("exec_command", cmd=TEST, login=False)
    assert "Process exited with code 1" in before
    [(function, came, expected)] = re.findall(r"check\.c:\d+: (\w+)\(.*\) is (-?\d+), not (-?\d+)", before)
    assert (came, expected) == ("0", "10")
    found = agent.do("grep_files", pattern=rf"^\w+ {function}\(.*\)$", path=str(project))
    assert found.split() == [str(project / "clamp.c")]
    lines = [line.split(": ", 1)[1] for line in agent.do("read_file", file_path=found.strip()).splitlines()
             if re.match(r"L\d+: ", line)]
    at = next(i for i, line in enumerate(lines) if "value > high" in line)
    patch = "\n".join(["*** Begin Patch", f"*** Update File: {found.strip()}", "@@", f" {lines[at]}",
                       f"-{lines[at + 1]}", f"+{lines[at + 1].replace('low', 'high')}", "*** End Patch"])
    answer, is_error = agent.ask("apply_patch", "deny", input=patch)
    assert is_error and "denied" in answer.lower() and (project / "clamp.c").read_text() == CLAMP
    answer, is_error = agent.ask("apply_patch", input=patch)
    assert not is_error, answer
    after, _ = agent.ask("exec_command", cmd=TEST, login=False)
    assert "Process exited with code 0" in after and "0 failed" in after
    assert (project / "clamp.c").read_text() == CLAMP.replace("high)\n\t\treturn low", "high)\n\t\treturn high")
    assert agent.asked == ["exec_command", "apply_patch", "apply_patch", "exec_command"]


def test_it_fetches_a_page_and_writes_a_summary(world, agent):
    _, project, site = world
    page = agent.do("webfetch", url=site.html(PAGE))
    times = re.findall(r"^[-*] +(.+): (\d+) to (\d+)$", page, re.M)
    title = re.search(r"^# (.+)$", page, re.M)[1]
    summary = f"# {title}\n\n" + "".join(f"{day}: {end} o'clock is the end.\n" for day, _, end in times)
    answer, is_error = agent.ask("write_file", path=str(project / "summary.md"), content=summary)
    assert not is_error and "Successfully wrote" in answer
    assert (project / "summary.md").read_text() == "# The town library\n\nTuesday to Friday: 18 o'clock is the end.\n" \
                                                  "Saturday: 14 o'clock is the end.\n"
    assert agent.do("read_file", file_path=str(project / "summary.md")).startswith("L1: # The town library")
    assert agent.asked == ["write_file"] and site.asked == ["/robots.txt", "/page"]


def test_it_sets_the_volume_and_says_so(world, agent):
    with Caller(world[0].url) as services:
        alsa = Alsa(services)
        id_ = agent.begin("get_volume")
        alsa.get()
        percent = int(re.search(r'"percent": ?(\d+)', agent.end(id_)[0])[1])
        assert percent == 75
        answer, is_error = agent.ask("set_volume", "deny", percent=100)
        assert is_error and alsa.percent == 75
        id_ = agent.begin("set_volume", percent=percent - 35)
        agent.decide()
        alsa.change("set")
        answer, is_error = agent.end(id_)
        now = re.search(r'"percent": ?(\d+)', answer)[1]
        assert not is_error and alsa.percent == int(now) == 40
        agent.do("speak", text=f"The volume is {now} percent now.")
        assert sent(services, "speak").data["utterance"] == "The volume is 40 percent now."
    assert agent.asked == ["set_volume", "set_volume"]
