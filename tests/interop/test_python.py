# SPDX-License-Identifier: Apache-2.0
"""The kind python through the daemon: ToolBox plugins that tests make up, in environments of their
own, good ones and all sorts of bad ones."""
import json
import subprocess
import sys

import pytest
from caller import Caller, Lasting
from conftest import BUSES
from processes import BUILD, EVENT_SECONDS, Daemon, toolboxctl, until
from python_site import ECHO, Site, box, wait_until_told



@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "venv")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toolbox.d"
    folder.mkdir()
    return folder


def register(folder, python, stem="boxes", **more):
    """A manifest of this kind; its path."""
    path = folder / f"{stem}.json"
    path.write_text(json.dumps({"kind": "python", "python": str(python), **more}))
    return path


@pytest.fixture
def serve(launch, folder, site):
    """serve(configuration, **more of the manifest): a caller of a daemon that serves the site."""
    callers = []

    def start(configuration=None, kind="embedded", **more):
        register(folder, site.python, **more)
        service = launch(configuration, [folder], kind=kind)
        callers.append(Caller(service.url))
        callers[-1].service = service
        wait_until_told(callers[-1])
        return callers[-1]

    yield start
    for caller in callers:
        caller.close()


def names(caller):
    return [f"{tool['toolbox_id']}/{tool['name']}"
            for tool in caller.call("ovos.tools.list")["tools"]]


def status(caller):
    return caller.call("ovos.tools.status")


def why(told, toolbox_id, key="error"):
    """The only reason that is told for a toolbox."""
    [one] = [one for one in told if one["toolbox_id"] == toolbox_id]
    return one[key]


def changed(caller):
    """What the next change consists of."""
    return caller.wait_for(lambda one: one.type == "ovos.tools.changed", EVENT_SECONDS).data


# ── what is found ───────────────────────────────────────────────────────────────────────────────

SIGNATURES = """
    class Base(ToolBox):
        def discover_tools(self):
            return [tool("of_" + self.toolbox_id, lambda args: {
                "reply": f"{self.config.get('word')} {self.bus is not None}"})]

    class ConfigAndBus(Base):
        def __init__(self, config=None, bus=None):
            super().__init__("config_and_bus", config, bus)

    class All(Base):
        def __init__(self, toolbox_id, config, bus):
            super().__init__(toolbox_id, config, bus)

    class OnlyConfig(Base):
        def __init__(self, config):
            super().__init__("only_config", config)

    class Anything(Base):
        def __init__(self, **whatever):
            super().__init__("anything", **whatever)
"""


def test_constructors_as_they_are_found_in_the_wild(serve, site):
    site.install("signatures", SIGNATURES, {"one": "ConfigAndBus", "two": "All",
                                            "three": "OnlyConfig", "four": "Anything"})
    caller = serve(config={"one": {"word": "a"}, "two": {"word": "b"}, "three": {"word": "c"}})
    assert names(caller) == ["anything/of_anything", "config_and_bus/of_config_and_bus",
                             "only_config/of_only_config", "two/of_two"]
    for toolbox_id, reply in {"config_and_bus": "a True", "two": "b True", "only_config": "c False",
                              "anything": "None True"}.items():
        assert caller.invoke(f"of_{toolbox_id}")["result"] == {"reply": reply}


def test_the_status_names_the_entry_point_of_a_toolbox(serve, site):
    site.install("signatures", SIGNATURES, {"acme-clock": "ConfigAndBus"})
    caller = serve()
    [toolbox] = status(caller)["toolboxes"]
    assert (toolbox["toolbox_id"], toolbox["entry_point"]) == ("config_and_bus", "acme-clock")
    for command in ["status"], ["status", "config_and_bus"]:
        done = toolboxctl(*command, bus=caller.service.url, home=caller.service.daemon.home)
        assert done.returncode == 0 and "acme-clock" in done.stdout, done


MISTAKEN = box("mistaken", good=ECHO) + """

class Mistaken(ToolArguments):
    n: int = Field(0, json_schema_extra={"type": "whole"})


class Result(ToolOutput):
    reply: str = Field(json_schema_extra={"minLength": -1})


class Several(Box):
    def discover_tools(self):
        return [*super().discover_tools(), tool("bad", lambda args: {"reply": "bad"}, Mistaken),
                tool("odd", lambda args: {"reply": "odd"}, Text, Result)]
"""


def test_a_mistake_in_the_schema_of_a_tool_costs_that_tool(serve, site):
    site.install("mistaken", MISTAKEN, {"mistaken": "Several"})
    caller = serve()
    assert names(caller) == ["mistaken/good", "mistaken/odd"]
    assert caller.invoke("good")["result"] == {"reply": "hello"}
    assert caller.invoke("odd")["result"] == {"reply": "odd"}
    [told] = status(caller)["not_offered"]
    assert told["name"] == "bad" and told["why"].startswith("/argument_schema/properties/n/type: ")


EVEN = box("even", good=ECHO) + """

class Even(ToolArguments):
    n: int

    @field_validator("n")
    def is_even(cls, value):
        if value % 2:
            raise ValueError("must be even")
        return value


class Evens(Box):
    def discover_tools(self):
        return [tool("halve", lambda args: {"reply": str(args.n // 2)}, Even)]
"""


def test_a_person_is_not_asked_about_what_pydantic_refuses(serve, site):
    site.install("even", EVEN.replace("class Box", "from pydantic import field_validator\n\n\nclass Box", 1),
                 {"even": "Evens"})
    caller = serve({"approval": {"mode": "auto"}}, risk="write")
    caller.call("ovos.tools.approval.attach", {"seconds": 60}, {"source": "person"})
    answer = caller.invoke("halve", {"n": 3})
    assert answer["code"] == "invalid_arguments"
    assert answer["violations"] == [{"path": "/n", "message": "Value error, must be even"}]
    assert not any(one.type == "ovos.tools.approval.requested" for one in caller.seen)
    mark = caller.send("ovos.tools.invoke", {"name": "halve", "args": {"n": "4"}})
    asked = caller.wait_for(lambda one: one.type == "ovos.tools.approval.requested").data
    caller.call("ovos.tools.approval.respond", {"id": asked["id"], "decision": "once"},
                {"source": "person"})
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"reply": "2"}


BROKEN = """
    class Undiscovered(ToolBox):
        def __init__(self, config=None, bus=None):
            super().__init__("undiscovered", config, bus)

        def discover_tools(self):
            raise ValueError("no network")

    class Broken(Undiscovered):
        def __init__(self, config=None, bus=None):
            raise OSError("the disk is full")

    class Exiting(Undiscovered):
        def __init__(self, config=None, bus=None):
            raise SystemExit(1)
"""


def test_a_broken_plugin_is_named_and_the_others_work(serve, site):
    site.install("fine", box("fine"), {"fine": "Box"})
    site.install("broken", BROKEN, {"broken": "Broken", "exiting": "Exiting",
                                    "undiscovered": "Undiscovered", "absent": "Nobody"})
    site.install("unimportable", "import no_such_module", {"unimportable": "Box"})
    site.install("deadly", "import os, signal\nos.kill(os.getpid(), signal.SIGILL)",
                 {"deadly": "Box"})
    site.install("again", box("fine"), {"twin": "Box"})
    caller = serve()
    assert names(caller) == ["fine/echo"]
    failed = status(caller)["failed"]
    assert "OSError: the disk is full" in why(failed, "broken")
    assert "SystemExit: 1" in why(failed, "exiting")
    assert "ValueError: no network" in why(failed, "undiscovered")
    assert "Nobody" in why(failed, "absent")
    assert "ModuleNotFoundError: No module named 'no_such_module'" in why(failed, "unimportable")
    assert "ended the interpreter (SIGILL)" in why(failed, "deadly")
    # By name `fine` comes first: of two that call themselves the same the other one is left out.
    assert "'fine' belongs to the plugin 'fine'" in why(failed, "twin")
    assert caller.call("ovos.tools.reload")["failed"] == failed
    assert caller.invoke("echo", {"text": "still there"})["result"] == {"reply": "still there"}


def test_only_the_plugins_that_are_asked_for(serve, site):
    site.install("boxes", box("a", "A") + box("b", "B"), {"a": "A", "b": "B"})
    caller = serve(plugins=["b", "nobody"])
    assert names(caller) == ["b/echo"]
    assert "no plugin of this name" in why(status(caller)["failed"], "nobody")


def test_what_is_called_otherwise_than_tools_may_be_is_not_offered(serve, site):
    site.install("odd", box("bad:id", "Id") + box("good", "Name").replace(
        "tool('echo'", "tool('two words', print), tool('echo'"), {"id": "Id", "name": "Name"})
    caller = serve()
    assert names(caller) == ["good/echo"]
    not_offered = status(caller)["not_offered"]
    assert [one["name"] for one in not_offered if one["toolbox_id"] == "good"] == ["two words"]
    assert any("bad:id" in json.dumps(one) for one in not_offered)


# ── interpreters ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def bare(tmp_path):
    """A folder for the PATH, whose python3 has nothing installed."""
    path = tmp_path / "bin" / "python3"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
    path.chmod(0o755)
    return path.parent


def test_without_ovos_nothing_is_offered_quietly(launch, folder, bare):
    (folder / "boxes.json").write_text('{"kind": "python"}')
    service = launch({}, [folder], env={"PATH": f"{bare}:/usr/bin:/bin"})
    with Caller(service.url) as caller:
        wait_until_told(caller)
        assert names(caller) == [] and status(caller)["failed"] == []
        assert "ovos_plugin_manager" in why(status(caller)["not_offered"], "boxes", "why")
    assert "ERROR" not in service.daemon.log().upper()
    assert "WARN" not in service.daemon.log().upper()


def test_an_interpreter_that_is_named_and_cannot_be_used_is_a_failure(launch, folder, tmp_path):
    register(folder, tmp_path / "nowhere" / "python")
    service = launch({}, [folder])
    with Caller(service.url) as caller:
        assert "nowhere" in why(status(caller)["failed"], "boxes")


@pytest.mark.parametrize("where", ["$VIRTUAL_ENV", "~/.venvs/ovos"])
def test_the_environment_of_ovos_is_found(launch, folder, bare, tmp_path, where):
    (folder / "boxes.json").write_text('{"kind": "python"}')
    # The home is that of the first daemon that `launch` starts.
    venv = tmp_path / ("venv" if where.startswith("$") else "home-0/toolboxd/.venvs/ovos")
    Site(venv).install("boxes", box("found"), {"found": "Box"})
    env = {"PATH": f"{bare}:/usr/bin:/bin"}
    if where.startswith("$"):
        env["VIRTUAL_ENV"] = str(venv)
    service = launch({}, [folder], env=env)
    with Caller(service.url) as caller:
        wait_until_told(caller)
        assert names(caller) == ["found/echo"]


@pytest.fixture
def installed(tmp_path):
    """The manifest that is shipped, where an installation has it."""
    subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path}/prefix", "-P",
                    BUILD / "toolboxes" / "cmake_install.cmake"],
                   check=True, stdout=subprocess.DEVNULL, timeout=EVENT_SECONDS)
    alone = tmp_path / "shipped"
    alone.mkdir()
    where = tmp_path / "prefix" / "lib" / "toolboxd" / "toolbox.d" / "ovos_plugins.json"
    return where.rename(alone / where.name).parent


def test_what_is_shipped_finds_all_plugins(launch, installed, site, folder):
    """A manifest of one's own for one of them says more of it: it is served by that alone."""
    site.install("boxes", box("one", "One") + box("two", "Two"), {"one": "One", "two": "Two"})
    (folder / "mine.json").write_text(
        '{"kind": "python", "plugins": ["two"], "risk": "read", "config": {"two": {}}}')
    service = launch({}, [installed, folder],
                     env={"VIRTUAL_ENV": str(site.python.parent.parent)})
    with Caller(service.url) as caller:
        wait_until_told(caller)
        tools = caller.call("ovos.tools.list")["tools"]
        assert {tool["toolbox_id"]: tool.get("risk") for tool in tools} == {
            "one": None, "two": "read"}
        assert status(caller)["failed"] == []
        assert "provides it" in why(status(caller)["not_offered"], "two", "why")


# ── configuration ───────────────────────────────────────────────────────────────────────────────

WORD = "lambda args: {'reply': str(self.config)}"


def test_where_a_plugin_is_configured(folder, site, tmp_path):
    """In the manifest, else in toolboxd's section, else in that of the plugin for PHAL."""
    points = ["in-manifest", "in-toolboxd", "for-phal", "nowhere"]
    classes = [point.title().replace("-", "") for point in points]
    site.install("boxes", "".join(box(cls, cls, **{cls: WORD}) for cls in classes),
                 dict(zip(points, classes)))
    register(folder, site.python, config={"in-manifest": {"word": 1}})
    phal = {"word": 3, "deep": {"list": [1, None, "ü"]}}
    (tmp_path / "more.conf").write_text(json.dumps({
        "toolboxd": {"toolboxes": {"in-manifest": {"word": 2},
                                              "in-toolboxd": {"word": 2}}},
        "PHAL": {"ovos-phal-plugin-tools": {"enabled": False, "in-manifest": phal,
                                            "in-toolboxd": phal, "for-phal": phal}}}))
    daemon = Daemon(tmp_path / "home", [folder], args=["--config", tmp_path / "more.conf"])
    try:
        with Caller(daemon.url) as caller:
            wait_until_told(caller)
            for cls, expected in zip(classes, ({"word": 1}, {"word": 2}, phal, {})):
                assert caller.invoke(cls)["result"] == {"reply": str(expected)}
    finally:
        daemon.end()


def test_the_manifests_settings_are_those_of_its_processes(serve, site):
    """And those of a ToolBox are its own."""
    site.install("boxes", box("a", "A", one="lambda args: {'reply': str(__import__('os').environ."
                              "get(args.text))}") + box("b", "B", two=ECHO), {"a": "A", "b": "B"})
    caller = serve({"toolboxes": {"boxes": {"env": {"KEY": "value"}}, "b": {"enabled": False}}})
    assert names(caller) == ["a/one"]
    assert caller.invoke("one", {"text": "KEY"})["result"] == {"reply": "value"}
    assert caller.invoke("one", {"text": "XDG_CACHE_HOME"})["result"] == {"reply": "None"}


# ── the bus ─────────────────────────────────────────────────────────────────────────────────────

TALKING = """
    class Talking(ToolBox):
        def __init__(self, config=None, bus=None):
            super().__init__("talking", config, bus)
            self.heard = []
            bus.on("test.news", self.hear)

        def hear(self, message):
            self.heard.append(message.data["text"])

        def say(self, args):
            self.bus.emit(Message("test.said", {"text": args.text}, {"odd": [1.5]}))
            return {"reply": "said"}

        def ask(self, args):
            reply = self.bus.wait_for_response(Message("test.ask", {"text": args.text}), timeout=20)
            return {"reply": reply.data["text"] if reply else "silence"}

        def discover_tools(self):
            return [tool("say", self.say), tool("ask", self.ask),
                    tool("heard", lambda args: {"reply": ",".join(self.heard)})]
"""


@pytest.mark.parametrize("kind", BUSES)
def test_a_toolbox_speaks_and_hears_through_the_daemon(serve, site, kind):
    site.install("talking", TALKING, {"talking": "Talking"})
    caller = serve(kind=kind, limits={"workers": 1})
    mark = caller.send("ovos.tools.invoke", {"name": "say", "args": {"text": "ü"}})
    said = caller.wait_for(lambda one: one.type == "test.said")
    assert said.data == {"text": "ü"} and said.context["odd"] == [1.5]
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"reply": "said"}

    mark = caller.send("ovos.tools.invoke", {"name": "ask", "args": {"text": "well?"}})
    asked = caller.wait_for(lambda one: one.type == "test.ask")
    assert asked.data == {"text": "well?"}
    caller.send("test.ask.response", {"text": "yes"}, asked.context)
    assert caller.answer_to("ovos.tools.invoke", mark).data["result"] == {"reply": "yes"}

    caller.send("test.news", {"text": "one"})
    caller.send("test.others", {"text": "not for it"})
    caller.send("test.news", {"text": "two"})
    until(lambda: caller.invoke("heard")["result"] == {"reply": "one,two"}, EVENT_SECONDS, "both heard")


def test_persona_topics_are_answered_once(serve, site):
    """By us: what a ToolBox would register for them itself is swallowed."""
    site.install("boxes", box("box"), {"box": "Box"})
    caller = serve(limits={"prestart": True})
    assert caller.invoke("echo")["result"] == {"reply": "hello"}  # its host is there
    caller.settle()
    for topic in "ovos.persona.tools.call", "ovos.persona.tools.box.call":
        answer = caller.call(topic, {"toolbox_id": "box", "name": "echo", "kwargs": {"text": "x"}})
        assert answer == {"toolbox_id": "box", "result": {"reply": "x"}}
    caller.send("ovos.persona.tools.discover", {})
    caller.invoke("echo")
    came = [one.type for one in caller.settle()]
    assert came.count("ovos.persona.tools.discover.response") == 1
    assert came.count("ovos.persona.tools.call.response") == 1


# ── tools that misbehave ────────────────────────────────────────────────────────────────────────

MISBEHAVING = dict(
    echo=ECHO,
    leave="lambda args: __import__('os')._exit(3)",
    die="lambda args: __import__('os').kill(__import__('os').getpid(), 9)",
    slow="lambda args: __import__('time').sleep(3) or {'reply': 'at last'}",
    hang="lambda args: __import__('time').sleep(1000)",
    spin="lambda args: sum(0 for _ in __import__('itertools').count())",
    flood="lambda args: {'reply': str(print('x' * 79 + '\\n' * 60000))}",
    huge="lambda args: {'reply': 'x' * (9 << 20)}",
    forger="lambda args: __import__('os').write(3, b'no frame at all, but bytes') and None",
)


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory):
    home = tmp_path_factory.mktemp("misbehaving")
    site, folder = Site(home / "venv"), home / "toolbox.d"
    folder.mkdir()
    site.install("boxes", box("box", **MISBEHAVING), {"box": "Box"})
    register(folder, site.python, limits={"workers": 1})
    daemon = Daemon(home / "home", [folder], configuration={"crash_limit": 0})
    try:
        with Lasting(daemon.url) as caller:
            wait_until_told(caller)
            caller.log = daemon.log
            yield caller
    finally:
        daemon.end()


@pytest.mark.parametrize("tool, code, facts", [
    ("leave", "host_crashed", {"exit_code": 3}),
    ("die", "host_crashed", {"signal": "SIGKILL"}),
    ("forger", "host_crashed", {}),
    ("huge", "too_large", {}),
])
def test_what_a_tool_does_to_its_host_costs_its_own_call(misbehaving, tool, code, facts):
    answer = misbehaving.invoke(tool)
    assert answer["code"] == code and facts.items() <= answer.items(), answer
    assert misbehaving.invoke("echo")["result"] == {"reply": "hello"}


def test_a_call_has_half_a_minute(misbehaving):
    assert misbehaving.invoke("slow")["result"] == {"reply": "at last"}


@pytest.mark.parametrize("tool", ["hang", "spin"])
def test_a_call_ends_at_its_deadline(misbehaving, tool):
    misbehaving.invoke("echo")  # its host is there: the deadline is the tool's alone
    answer = misbehaving.invoke(tool, timeout_ms=300)
    assert answer["code"] == "timeout" and answer["timeout_ms"] == 300
    assert misbehaving.invoke("echo")["result"] == {"reply": "hello"}


def test_what_a_tool_prints_is_bounded_and_no_part_of_its_answer(misbehaving):
    assert misbehaving.invoke("flood")["result"] == {"reply": "None"}
    assert misbehaving.invoke("echo")["result"] == {"reply": "hello"}
    assert len(misbehaving.log()) < 1 << 20


def test_calls_run_side_by_side(serve, site):
    """Four hosts are the default of this kind."""
    meet = "lambda args: [open(args.text + str(__import__('os').getpid()), 'w').close(), " \
           "[__import__('time').sleep(.02) for _ in iter(lambda: len(__import__('os').listdir(" \
           "args.text)) < 4, False)], {'reply': 'met'}][2]"
    site.install("boxes", box("box", meet=meet), {"box": "Box"})
    caller = serve()
    place = site.folder / "meeting"
    place.mkdir()
    for _ in range(4):
        caller.send("ovos.tools.invoke", {"name": "meet", "args": {"text": f"{place}/"}})
    for _ in range(4):
        answer = caller.wait_for(lambda one: one.type == "ovos.tools.invoke.response",
                                 EVENT_SECONDS)
        assert answer.data["result"] == {"reply": "met"}


# ── what is installed changes ───────────────────────────────────────────────────────────────────


def test_a_plugin_that_is_installed_or_removed_is_seen(serve, site):
    site.install("first", box("first"), {"first": "Box"})
    caller = serve()
    assert names(caller) == ["first/echo"]
    site.install("second", box("second", shout=ECHO), {"second": "Box"})
    assert changed(caller)["added"] == ["second/shout"]
    assert caller.invoke("shout")["result"] == {"reply": "hello"}
    site.remove("second")
    assert changed(caller)["removed"] == ["second/shout"]
    assert caller.invoke("shout")["code"] == "unknown_tool"
    assert caller.invoke("echo")["result"] == {"reply": "hello"}


def test_the_first_plugin_that_is_installed_is_seen(serve, site):
    caller = serve()
    assert names(caller) == []
    site.install("first", box("first"), {"first": "Box"})
    assert changed(caller)["added"] == ["first/echo"]


def test_a_plugin_is_seen_beside_one_that_fails(serve, site):
    site.install("bad", "class Box(ToolBox):\n    def __init__(self): 1 / 0\n", {"a-bad": "Box"})
    caller = serve()
    assert names(caller) == []
    site.install("good", box("good"), {"z-good": "Box"})
    assert changed(caller)["added"] == ["good/echo"]


def test_a_plugin_that_is_edited_in_place_is_seen(serve, site):
    site.install("boxes", box("box", one=ECHO), {"box": "Box"})
    caller = serve()
    caller.invoke("one")  # there is a host with the old one
    site.install("boxes", box("box", two="lambda args: {'reply': 'new'}"), {"box": "Box"})
    caller.send("ovos.tools.reload")
    change = changed(caller)
    assert (change["added"], change["removed"]) == (["box/two"], ["box/one"])
    assert caller.invoke("two")["result"] == {"reply": "new"}


DYNAMIC = """
    import pathlib

    class Dynamic(ToolBox):
        def __init__(self, config=None, bus=None):
            super().__init__("dynamic", config, bus)

        def discover_tools(self):
            lines = pathlib.Path(self.config["file"]).read_text().split()
            return [tool(name, lambda args, name=name: {"reply": name}) for name in lines]
"""


def test_a_discovery_refreshes_a_toolbox_whose_tools_change(serve, site, tmp_path):
    listed = tmp_path / "names"
    listed.write_text("one two")
    site.install("dynamic", DYNAMIC, {"dynamic": "Dynamic"})
    caller = serve(config={"dynamic": {"file": str(listed)}})
    assert names(caller) == ["dynamic/one", "dynamic/two"]
    assert caller.invoke("one")["result"] == {"reply": "one"}
    listed.write_text("two three")
    caller.send("ovos.persona.tools.discover", {})
    change = changed(caller)
    assert (change["added"], change["removed"]) == (["dynamic/three"], ["dynamic/one"])
    assert caller.invoke("three")["result"] == {"reply": "three"}
    assert caller.invoke("two")["result"] == {"reply": "two"}
    assert caller.invoke("one")["code"] == "unknown_tool"


def test_a_tool_that_is_gone_since_it_was_told_costs_its_own_call(serve, site, tmp_path):
    listed = tmp_path / "names"
    listed.write_text("one two")
    site.install("dynamic", DYNAMIC, {"dynamic": "Dynamic"})
    caller = serve(config={"dynamic": {"file": str(listed)}})
    listed.write_text("two")
    answer = caller.invoke("one")
    assert answer["code"] == "tool_failed" and "Unknown tool 'one'" in answer["error"]
    assert caller.invoke("two")["result"] == {"reply": "two"}


# ── starting ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def start_at(tmp_path, folder):
    """start_at(**configuration): a daemon and its caller, always with the same home; the next ends the
    last."""
    open_ones = []

    def end():
        while open_ones:
            daemon, caller = open_ones.pop()
            caller.close()
            daemon.end()

    def start(**configuration):
        end()
        (tmp_path / "home" / "toolboxd.log").unlink(missing_ok=True)  # it has the old address
        daemon = Daemon(tmp_path / "home", [folder], configuration=configuration)
        caller = Caller(daemon.url)
        open_ones.append((daemon, caller))
        until(lambda: caller.call("mycroft.toolboxd.is_ready")["status"], EVENT_SECONDS, "ready")
        wait_until_told(caller)
        return daemon, caller

    yield start
    end()


def test_the_daemon_is_ready_before_any_python_when_nothing_has_changed(
        start_at, site, folder, tmp_path):
    runs = tmp_path / "runs"
    site.install("boxes", f"open({str(runs)!r}, 'a').write('run ')" + box("box"), {"box": "Box"})
    register(folder, site.python)
    _, caller = start_at()
    told = caller.call("ovos.tools.list")
    assert runs.read_text() == "run "
    daemon, caller = start_at()
    assert caller.call("ovos.tools.list") == told and len(told["tools"]) == 1
    assert daemon.hosts() == [] and runs.read_text() == "run "
    assert caller.invoke("echo")["result"] == {"reply": "hello"}
    assert runs.read_text() == "run run "


def test_what_was_told_before_is_told_again_after_a_change(start_at, site, folder):
    site.install("boxes", box("box", one=ECHO), {"box": "Box"})
    register(folder, site.python)
    _, caller = start_at()
    assert names(caller) == ["box/one"]
    # Of a plugin, of what is installed, of the manifest; while nobody looks.
    source = site.folder / "boxes.py"
    # (Of another length: Python takes its bytecode for that of a source of one size and second.)
    source.write_text(source.read_text().replace("'one'", "'another'"))
    _, caller = start_at()
    assert names(caller) == ["box/another"]
    site.install("more", box("more", three=ECHO), {"more": "Box"})
    _, caller = start_at()
    assert names(caller) == ["box/another", "more/three"]
    register(folder, site.python, plugins=["more"])
    _, caller = start_at()
    assert names(caller) == ["more/three"]


@pytest.fixture
def spied(site, folder, tmp_path):
    """spied(): how often the ToolBox `spy` of the entry point `z-spy`, beside another, was imported since
    the last time."""
    runs = tmp_path / "runs"
    site.install("fine", box("fine"), {"a-fine": "Box"})
    site.install("spy", f"open({str(runs)!r}, 'a').write('run ')" + box("spy", peek=ECHO), {"z-spy": "Box"})
    register(folder, site.python)

    def count():
        text = runs.read_text() if runs.exists() else ""
        runs.unlink(missing_ok=True)
        return len(text.split())

    return count


@pytest.mark.parametrize("left_out", [
    {"toolboxes": {"spy": {"enabled": False}}}, {"tools_disabled": ["spy/*"]},
    {"tools_enabled": ["fine/*"]}])
def test_one_that_is_left_out_as_a_whole_runs_no_code(start_at, site, spied, left_out):
    """It shares its manifest and interpreter with one that is offered."""
    _, caller = start_at()
    assert names(caller) == ["fine/echo", "spy/peek"] and spied() == 1
    # What was told of it before still holds, and no process that runs calls imports it.
    daemon, caller = start_at(**left_out)
    assert names(caller) == ["fine/echo"] and caller.invoke("echo")["result"] == {"reply": "hello"}
    # A change has everything told again but that.
    site.install("more", box("more", three=ECHO), {"more": "Box"})
    _, caller = start_at(**left_out)
    if "tools_enabled" not in left_out:
        assert names(caller) == ["fine/echo", "more/three"]
    assert caller.invoke("echo")["result"] == {"reply": "hello"}
    assert caller.invoke("peek")["code"] == "unknown_tool"
    assert "spy" in [one["toolbox_id"] for one in status(caller)["not_offered"]]
    assert spied() == 0
    # It is back, in what was told with it left out, as soon as nothing leaves it out.
    _, caller = start_at()
    assert names(caller) == ["fine/echo", "more/three", "spy/peek"]
    assert caller.invoke("peek")["result"] == {"reply": "hello"} and spied() == 2


def test_a_running_daemon_leaves_one_out_and_takes_it_back(start_at, site, spied, tmp_path):
    daemon, caller = start_at()
    assert caller.invoke("peek")["result"] == {"reply": "hello"} and spied() == 2
    home = tmp_path / "home"
    assert toolboxctl("disable", "spy/*", bus=daemon.url, home=home).returncode == 0
    assert names(caller) == ["fine/echo"]
    site.install("more", box("more", three=ECHO), {"more": "Box"})
    until(lambda: "more/three" in names(caller), EVENT_SECONDS, "the new plugin offered")
    assert caller.invoke("three")["result"] == {"reply": "hello"} and spied() == 0
    assert toolboxctl("enable", "spy/*", bus=daemon.url, home=home).returncode == 0
    until(lambda: "spy/peek" in names(caller), EVENT_SECONDS, "the plugin offered again")
    assert caller.invoke("peek")["result"] == {"reply": "hello"}


def test_an_entry_point_that_is_disabled_is_never_imported(start_at, spied):
    """Of one that was never described, its entry point is all that is known."""
    _, caller = start_at(toolboxes={"z-spy": {"enabled": False}})
    assert names(caller) == ["fine/echo"]
    assert caller.invoke("echo")["result"] == {"reply": "hello"}
    assert why(status(caller)["not_offered"], "z-spy", "why") == "its toolbox is not enabled"
    assert spied() == 0
    _, caller = start_at()
    assert names(caller) == ["fine/echo", "spy/peek"]


def test_check_tells_what_a_manifest_stands_for(site, folder, tmp_path):
    site.install("boxes", box("box"), {"box": "Box"})
    site.install("broken", "import no_such_module", {"broken": "Box"})
    path = register(folder, site.python, plugins=["box"])
    done = toolboxctl("check", path, home=tmp_path / "ctl")
    assert done.returncode == 0, done.stdout + done.stderr
    register(folder, site.python)
    done = toolboxctl("check", path, home=tmp_path / "ctl")
    assert "no_such_module" in done.stdout + done.stderr


def test_list_offline_has_its_tools(site, folder, tmp_path):
    site.install("boxes", box("box"), {"box": "Box"})
    register(folder, site.python)
    done = toolboxctl("list", "--offline", "--json", home=tmp_path / "ctl",
                      env={"TOOLBOXD_TOOLBOX_DIRS": str(folder)})
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == ["echo"], done.stderr
