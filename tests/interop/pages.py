# SPDX-License-Identifier: Apache-2.0
"""Pages whose blocks of commands are typed: README.md and docs/operating.md.

Between `<!-- tested: … -->` and `<!-- end -->`, a block in `sh` is typed into one shell, and a block in
`output` after it is what it prints, stdout and stderr; a line `…` there is any number of lines, and `…`
inside a line any text. A block may be indented, as a part of a list.
"""
import os
import re
import signal
import subprocess

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.M | re.S)
TESTED = re.compile(r"<!-- tested: .*?-->(.*?)<!-- end -->", re.S)


def blocks_to_type(page):
    """The blocks of the page that are tested, in their order: [(language, text)]."""
    return [(language, re.sub(f"^{indent}", "", text, flags=re.M))
            for part in TESTED.findall(page) for indent, language, text in BLOCK.findall(part)]


def without_log(printed):
    """The text without lines of a log, which has the same terminal."""
    return re.sub(r"^(\d{4}-\d\d-\d\d |\[1\]).*\n", "", printed, flags=re.M)


def matches(expected, printed):
    """Whether the text is the one of an `output` block."""
    pattern = "".join(
        "(?:.*\n)*" if line == "…\n" else ".*".join(map(re.escape, line.split("…")))
        for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, printed) is not None


# What is typed before a page: commands that go on until they are interrupted get 2 s, and a terminal.
PROLOGUE = r"""
trap 'printf "%s: %s\n" "$?" "$BASH_COMMAND" >>"$FAILED"' ERR
toolboxctl() {
    case " $* " in
    *" watch "*|*" --watch "*)
        script -qec "stty cols 80 rows 24; timeout --foreground -s INT 2 toolboxctl ${*@Q}" /dev/null
        [ $? = 124 ] ;;
    *) command toolboxctl "$@" ;;
    esac
}
"""


# The bound of a page: a hundred times what a quiet machine takes for most of them.
PAGE_SECONDS = 120


def type_page(page, home, env, seconds=PAGE_SECONDS):
    """Type the blocks of a page into one bash, in the folder `home`: {number of a block of commands: what it
    printed}, and the commands that failed, of blocks without an expected output."""
    blocks = blocks_to_type(page)
    script = [PROLOGUE]
    for number, (language, text) in enumerate(blocks):
        if language != "sh":
            continue
        is_judged = number + 1 < len(blocks) and blocks[number + 1][0] == "output"
        script.append(f"FAILED=/dev/{'null' if is_judged else 'fd/9'}\n"
                      f"{{\n{text}}} >{number}.out 2>&1\n")
    failed = home / "failed"
    typed, keyboard = os.pipe()             # on which no key is pressed
    try:
        with open(failed, "wb") as failures:
            shell = subprocess.Popen(["bash", "-c", "exec 9>&2\n" + "".join(script)], cwd=home, env=env, stdin=typed,
                                     stdout=failures, stderr=failures, start_new_session=True)
        try:
            shell.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
            number = max(int(file.stem) for file in home.glob("*.out"))
            raise AssertionError(f"the page is not typed within {seconds} s; it waits in\n{blocks[number][1]}"
                                 f"which has printed\n{(home / f'{number}.out').read_text()}") from None
    finally:
        os.close(typed)
        os.close(keyboard)
    printed = {number: (home / f"{number}.out").read_text()
               for number, (language, _) in enumerate(blocks) if language == "sh"}
    return printed, failed.read_text()


def expect_page(page, home, env, seconds=PAGE_SECONDS):
    """Type the page, and fail unless all went as it says."""
    printed, failed = type_page(page, home, env, seconds)
    blocks = blocks_to_type(page)
    assert not failed, (failed, printed)
    for number, (language, text) in enumerate(blocks):
        if language == "output":
            came = without_log(printed[number - 1])
            assert matches(text, came), (text, came)
