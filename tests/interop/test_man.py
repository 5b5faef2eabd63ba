# SPDX-License-Identifier: Apache-2.0
"""The man pages: no remark of mandoc, and everything that the programs, schemas and toolbox.h have stands in one."""
import re
import subprocess
import sys

import message_schemas
import pytest
from processes import BUILD, EVENT_SECONDS, ROOT, TOOLBOXCTL

sys.path.insert(0, str(ROOT / "man"))
from tables import kinds_of_keys, load, schema, setting_nodes, toolbox_setting_nodes  # noqa: E402

PAGES = sorted(path.name.removesuffix(".scd") for path in (ROOT / "man").glob("*.scd"))
MESSAGES = sorted((ROOT / "schemas").glob("*/ovos.*.json")) + sorted((ROOT / "schemas").glob("*/mycroft.*.json"))


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=EVENT_SECONDS).stdout


def read(page):
    """The page as a terminal without bold shows it, in lines of any length."""
    text = output("mandoc", "-T", "utf8", "-O", "width=900", BUILD / "man" / page)
    return re.sub(".\b", "", text)


@pytest.fixture(scope="module")
def pages():
    return {page: read(page) for page in PAGES}


def terms(text):
    """The first words of lines."""
    return {line.split()[0] for line in text.splitlines() if line.strip()}


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_has_no_remark(page):
    done = subprocess.run(["mandoc", "-T", "lint", BUILD / "man" / page], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("program", ["toolboxd", "toolbox-agent"])
def test_each_flag_of_a_service_is_described(pages, program):
    flags = re.findall(r"^  (--[a-z-]+)", output(BUILD / "service" / program, "--help"), re.M)
    assert len(flags) > 5 and set(flags) <= terms(pages[f"{program}.8"])


def commands():
    return re.findall(r"^  ([a-z]+) {2,}\S", output(TOOLBOXCTL, "--help").split("Flags")[0], re.M)


def test_each_command_and_flag_of_toolboxctl_is_described(pages):
    page = pages["toolboxctl.1"]
    parts = dict(re.findall(r"^   ([a-z]+)\b.*\n((?:(?: {5,}.*)?\n)+)", page, re.M))
    known = commands()
    assert len(known) > 30 and set(known) <= parts.keys()
    described = terms(page)
    for command in known:
        flags = re.findall(r"^  (--[a-z-]+)", output(TOOLBOXCTL, command, "--help"), re.M)
        for flag in flags:
            assert flag in described
            assert flag in parts[command] or flag in ("--json", "--help", "--version"), (command, flag)


def test_each_exit_status_is_described(pages):
    of_ctl, of_daemon = output(TOOLBOXCTL, "help", "exit-status").split("The exit status of toolboxd:")
    for text, page in ((of_ctl, "toolboxctl.1"), (of_daemon, "toolboxd.8"), (of_daemon, "toolbox-agent.8")):
        statuses = re.findall(r"^  (\d+) ", text, re.M)
        shown = pages[page].split("EXIT STATUS")[1]
        assert len(statuses) > 2 and set(statuses) <= terms(shown.split("\n\nENVIRONMENT")[0])


def test_each_key_of_the_configuration_is_described(pages):
    properties = schema("configuration")["properties"]
    toolbox = properties["toolboxd"]["properties"]["toolboxes"]["additionalProperties"]
    keys = {key for key, _ in setting_nodes(properties["toolboxd"])} | set(properties["websocket"]["properties"])
    keys |= {key for key, _ in toolbox_setting_nodes(toolbox)}
    assert len(keys) > 100 and keys <= terms(pages["toolboxd.conf.5"])


def keys_of(node):
    """All keys of a schema, but what its conditions say again."""
    if isinstance(node, dict):
        yield from node.get("properties", ())
        for key, inner in node.items():
            if key not in ("allOf", "anyOf", "oneOf", "examples"):
                yield from keys_of(inner)


def test_each_key_of_a_manifest_is_described(pages):
    keys = set(keys_of(schema("toolbox-manifest"))) | set(kinds_of_keys())
    assert len(keys) > 60 and keys <= terms(pages["toolbox-manifest.5"])


def topic_of(path):
    return path.name.removesuffix(".schema.json").removesuffix(".request")


def test_each_message_is_described(pages):
    text = pages["toolboxd-bus.7"]
    for path in MESSAGES:
        assert f'"type": "{topic_of(path)}"' in text, path.name
        assert re.search(rf"^ +{topic_of(path).removesuffix('.response')}$", text, re.M), path.name
    for branch in schema("error")["oneOf"]:
        assert branch["properties"]["code"]["const"] in terms(re.split("^ERRORS$", text, flags=re.M)[1])


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.name.removesuffix(".schema.json"))
def test_the_examples_of_a_message_are_valid(path):
    examples = load(path)["examples"]
    validator = message_schemas.validator(path)
    assert examples and not [error.message for example in examples for error in validator.iter_errors(example)]


def test_each_function_of_toolbox_h_is_described(pages):
    header = (ROOT / "service" / "include" / "toolbox.h").read_text()
    functions = re.findall(r"^static inline [^;{]*?\b(toolbox_\w+)\(", header, re.M)
    text = pages["toolbox.h.3"].split("FUNCTIONS")[1]
    assert len(functions) > 30 and all(f"{name}(" in text for name in functions)


def test_each_page_that_a_page_names_is_there(pages):
    for page, text in pages.items():
        named = {f"{name}.{number}" for name, number in re.findall(r"\b(tool[\w.-]+)\((\d)\)", text, re.I)}
        assert {name.lower() for name in named} <= set(PAGES), page


def test_they_are_installed_where_man_looks(tmp_path):
    subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=/usr", "-P", BUILD / "man" / "cmake_install.cmake"],
                   env={"DESTDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}, capture_output=True, check=True)
    installed = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.?") if path.is_file()}
    assert installed == {f"usr/share/man/man{page[-1]}/{page}" for page in PAGES}
