# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/first.md tell people to type, typed; and what they say comes out, compared."""
import functools
import json
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pages
import pytest
from processes import EVENT_SECONDS, FINDING, ROOT, TOOLBOXD, environment, free_port

README = (ROOT / "README.md").read_text()
FIRST = (ROOT / "docs" / "first.md").read_text()
INDEX = (ROOT / "docs" / "README.md").read_text()
OUTPUTS = [(page, number) for page in (README, FIRST)
           for number, (language, _) in enumerate(pages.blocks_to_type(page)) if language == "output"]


def blocks_to_type(page=README):
    return pages.blocks_to_type(page)


@functools.lru_cache
def typed(page):
    """All of it in one shell, as one would type it; the output of each block with an expectation.
    Behind the daemon's start stands the pause that a person makes."""
    home, port = Path(tempfile.mkdtemp()), free_port()
    blocks, script = blocks_to_type(page), []
    for number, (language, text) in enumerate(blocks):
        if language != "sh":
            continue
        if number + 1 < len(blocks) and blocks[number + 1][0] == "output":
            text = f"{{\n{text}}} >{number + 1}.out 2>&1\n"
        script.append(text)
        if text.endswith("&\n"):
            script.append(f"until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do :; done\n")
    script.append("kill %1; wait\n")
    env = environment(home)
    env["PATH"] = f"{TOOLBOXD.parent}:{env['PATH']}"
    text = re.sub("819[89]", str(port), "".join(script))
    shell = subprocess.Popen(["bash", "-m", "-c", text], cwd=home, env=env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out, _ = shell.communicate(timeout=EVENT_SECONDS)
    finally:
        if shell.poll() is None:
            shell.send_signal(signal.SIGKILL)
    assert not FINDING.search(out), out
    outputs = {number: (home / f"{number}.out").read_text()
               for number, (language, _) in enumerate(blocks) if language == "output"}
    shutil.rmtree(home)
    return outputs, out


def test_there_is_something_to_test():
    languages = [language for page in (README, FIRST) for language, _ in blocks_to_type(page)]
    assert languages.count("sh") == 11 and languages.count("output") == 4


def test_the_daemons_of_both_pages_run_side_by_side():
    ports = [re.findall(r"ws://127.0.0.1:(\d+)/core(?= --toolbox-dir|\n)", page.split("<!-- end -->")[0]) for page in (README, FIRST)]
    assert all(len(of_page) == 2 and len(set(of_page)) == 1 for of_page in ports) and ports[0][0] != ports[1][0]


def test_a_stock_library_takes_less_than_15_lines():
    stock = next(text for _, text in blocks_to_type() if "libz.so.1" in text)
    manifest = stock.split("<<'END'\n", 1)[1].split("END\n", 1)[0]
    assert json.loads(manifest)["library"] == "libz.so.1"
    assert manifest.count("\n") < 15


@pytest.mark.parametrize("page, number", OUTPUTS, ids=lambda value: value if isinstance(value, int) else value.split("\n")[0])
def test_what_comes_out_is_what_it_says(page, number):
    outputs, out = typed(page)
    printed = pages.without_log(outputs[number])
    assert pages.matches(blocks_to_type(page)[number][1], printed), (printed, out)


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def anchors(page):
    """The links to headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_everything_that_a_page_links_to_is_there(page):
    for target, _, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(#([^)\s]+))?\)", page.read_text()):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or path.suffix != ".md" or anchor in anchors(path), (target, anchor)


def test_it_fits_on_two_screens():
    assert README.count("\n") <= 112


def test_the_script_comes_first_has_at_most_six_lines_and_needs_no_compiler():
    scripts = [text for language, text in blocks_to_type() if language == "sh"]
    script = scripts[0].split("<<'END'\n", 1)[1].split("END\n", 1)[0]
    assert script.startswith("#!/bin/sh\n") and script.count("\n") <= 6
    assert not any("cc -shared" in text for text in scripts)
    assert any("cc -shared" in text for _, text in blocks_to_type(FIRST))
    assert "toolboxd --embedded-bus" in README.split("\n\n")[2]


def test_every_page_is_named_for_somebody():
    pages_named = set(re.findall(r"\]\(((?:toolboxes/)?[\w-]+\.md)[)#]", INDEX))
    docs = ROOT / "docs"
    assert pages_named == {str(path.relative_to(docs)) for path in docs.rglob("*.md")} - {"README.md"}
