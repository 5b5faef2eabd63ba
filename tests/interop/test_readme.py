# SPDX-License-Identifier: Apache-2.0
"""What README.md tells people to type, typed; and what it says comes out, compared."""
import json
import re
import signal
import subprocess

import pages
import pytest
from processes import EVENT_SECONDS, FINDING, ROOT, TOOLBOXD, environment, free_port

README = (ROOT / "README.md").read_text()


def blocks_to_type():
    return pages.blocks_to_type(README)


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """All of it in one shell, as one would type it; the output of each block with an expectation.
    Behind the daemon's start stands the pause that a person makes."""
    home, port = tmp_path_factory.mktemp("readme"), free_port()
    blocks, script = blocks_to_type(), []
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
    text = "".join(script).replace("8199", str(port))
    shell = subprocess.Popen(["bash", "-m", "-c", text], cwd=home, env=env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out, _ = shell.communicate(timeout=EVENT_SECONDS)
    finally:
        if shell.poll() is None:
            shell.send_signal(signal.SIGKILL)
    assert not FINDING.search(out), out
    return home, out


def test_there_is_something_to_test():
    languages = [language for language, _ in blocks_to_type()]
    assert languages.count("sh") == 10 and languages.count("output") == 4


def test_a_stock_library_takes_less_than_15_lines():
    stock = next(text for _, text in blocks_to_type() if "libz.so.1" in text)
    manifest = stock.split("<<'END'\n", 1)[1].split("END\n", 1)[0]
    assert json.loads(manifest)["library"] == "libz.so.1"
    assert manifest.count("\n") < 15


@pytest.mark.parametrize("number", [number for number, (language, _) in enumerate(blocks_to_type())
                                    if language == "output"])
def test_what_comes_out_is_what_it_says(typed, number):
    home, out = typed
    printed = (home / f"{number}.out").read_text()
    printed = pages.without_log(printed)
    assert pages.matches(blocks_to_type()[number][1], printed), (printed, out)


def test_every_file_it_names_is_there():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_script_comes_first_has_at_most_six_lines_and_needs_no_compiler():
    scripts = [text for language, text in blocks_to_type() if language == "sh"]
    script = scripts[0].split("<<'END'\n", 1)[1].split("END\n", 1)[0]
    assert script.startswith("#!/bin/sh\n") and script.count("\n") <= 6
    assert "cc " not in scripts[0] and any("cc -shared" in text for text in scripts[1:])
    assert "toolboxd --embedded-bus" in README.split("\n\n")[2]


def test_every_page_is_named_for_somebody():
    table = README.split("| I am … | read |")[1].split("\n\n")[0]
    pages_named = set(re.findall(r"\]\(docs/(\w+\.md)\)", table))
    assert pages_named == {path.name for path in (ROOT / "docs").glob("*.md")}
