# SPDX-License-Identifier: Apache-2.0
"""What people meet first, held to what is there: CONTRIBUTING.md, the public workflow, .editorconfig, JSON and commands
of all pages."""
import functools
import json
import re
import subprocess

import message_schemas
import pytest
import yaml
from processes import BUILD, ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
RUN = (ROOT / "tests" / "run").read_text()
PARTS = set(re.findall(r"^part_(\w+)\(\)", RUN, re.M))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def commands():
    return re.findall(r"^    (\S.*?)(?: +#.*)?$", CONTRIBUTING, re.M)


def test_contributing_is_one_page():
    assert CONTRIBUTING.count("\n") <= 60


def test_the_programs_of_contributing_are_there():
    for command in commands():
        for word in command.split():
            path = word.split("=")[-1]
            if re.fullmatch(r"(\./|tests/)[\w./-]+", path):
                assert (ROOT / path.removesuffix("/all")).exists(), command  # FOLDER/all is a target


def test_the_test_that_contributing_runs_is_there():
    command = next(command for command in commands() if "--filter" in command)
    layer, suite = re.search(r"unit-(\w+) --filter '(\w+)/\*'", command).groups()
    assert f"Test({suite}, " in (ROOT / "tests" / "unit" / layer / f"{suite}.c").read_text()


def test_the_place_that_contributing_names_has_the_error():
    text, = re.findall(r"git grep '([^']+)'", CONTRIBUTING)
    for path in re.findall(r"`(\w[\w./]+\.(?:c|json))`", CONTRIBUTING):
        assert text in (ROOT / path).read_text(), path


def steps(job):
    return " ; ".join(step.get("run", "") for step in job["steps"])


def test_the_workflow_runs_parts_that_there_are():
    for job in WORKFLOW["jobs"].values():
        for parts in re.findall(r"tests/run((?: [\w-]+)+)", steps(job)):
            assert set(parts.split()) - {"--long"} <= PARTS, parts


def test_the_workflow_begins_with_the_cheap_gates():
    jobs = WORKFLOW["jobs"]
    assert {"layers", "format", "units"} <= set(steps(jobs["gates"]).split())
    assert all(job["needs"] == "gates" for name, job in jobs.items() if name != "gates")
    assert "--long" in steps(jobs["long"]) and "schedule" in jobs["long"]["if"]


def test_each_long_job_keeps_its_logs():
    for name, job in WORKFLOW["jobs"].items():
        assert name == "gates" or job["steps"][-1]["with"]["path"].startswith("build/logs\n"), name


def test_the_matrix_of_the_workflow_has_every_row():
    rows = re.search(r"^rows=\((.*)\)", (ROOT / "tests" / "matrix").read_text(), re.M)[1].split()
    assert WORKFLOW["jobs"]["matrix"]["strategy"]["matrix"]["row"] == rows


def test_editors_write_what_clang_format_does():
    style = dict(re.findall(r"^(\w+): (\w+)$", (ROOT / ".clang-format").read_text(), re.M))
    editors = (ROOT / ".editorconfig").read_text()
    assert f"max_line_length = {style['ColumnLimit']}\n" in editors and f"tab_width = {style['TabWidth']}\n" in editors


def schema_of(value):
    """The schema for what a block is: a message, a configuration, a manifest, or a list of shell lines or servers."""
    if not isinstance(value, dict):
        return None
    if {"type", "data"} <= value.keys() and "." in value["type"]:
        return message_schemas.file_of(value["type"])
    if value.keys() & {"toolboxd", "websocket"}:
        return ROOT / "schemas" / "configuration.schema.json"
    return ROOT / "schemas" / "toolbox-manifest.schema.json" if "kind" in value else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_block_of_json_is_valid(page):
    """`"tools": []` leaves the tools out."""
    for _, block in re.findall(r"^( *)```json\n(.*?)^ *```$", page.read_text(), re.M | re.S):
        value = json.loads(block)
        path = schema_of(value)
        if path and path.exists():
            errors = [f"{error.instance_path}: {error.message}" for error in message_schemas.validator(path).iter_errors(value)
                      if error.instance_path != ["tools"] or value["tools"]]
            assert not errors, block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_block_of_commands_is_shell(page):
    for indent, block in re.findall(r"^( *)```sh\n(.*?)^ *```$", page.read_text(), re.M | re.S):
        text = re.sub(f"^{indent}", "", block, flags=re.M)
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, ""), block


@functools.lru_cache(maxsize=None)
def flags_of(program, *command):
    done = subprocess.run([BUILD / "service" / program, *command, "--help"], capture_output=True, text=True)
    return done.returncode, set(re.findall(r"(?<![\w-])--[a-z-]+", done.stdout)) | {"--help", "--version"}


def lines_to_type(text):
    """Commands of toolboxctl, toolboxd and toolbox-agent in blocks and in the line."""
    shell = "\n".join(block for _, block in re.findall(r"^( *)```sh\n(.*?)^ *```$", text, re.M | re.S)).replace("\\\n", " ")
    inline = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))
    for line in [*shell.split("\n"), *inline]:
        yield from re.findall(r"(?:^|[;|&(]|sudo|env) *(toolboxctl|toolboxd|toolbox-agent)((?: [^;|&<>#`$]*)?)", line.strip())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_of_a_page_is_one(page):
    """So is each of its flags, up to the words that belong to another program."""
    for program, words in lines_to_type(page.read_text()):
        words = words.split("--command")[0].split(" -- ")[0]
        command = re.findall(r"^ ([a-z]+)\b", words)[:1] if program == "toolboxctl" else []
        if program == "toolboxctl" and command in ([], ["complete"]):
            continue  # a flag alone is in any command; the other is for shells
        status, known = flags_of(program, *command)
        assert status == 0, (program, words)
        used = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", words))
        assert used <= known, (program, words)
