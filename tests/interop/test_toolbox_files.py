# SPDX-License-Identifier: Apache-2.0
"""toolboxes/files: what its callers reach, and what it leaves as it was. The arguments are those that the tools have
in memo-code's own documents; so are the shapes of the answers."""
import ctypes
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from caller import Caller, Lasting
from conftest import Service
from manifests import SHIPPED
from processes import BUILD, EVENT_SECONDS, ROOT, at_most, small_disk, toolboxctl, until

FOLDER = BUILD / "toolboxes" / "files.d"
PLAIN_USER = 12346
FILES = ["read_file", "list_dir", "grep_files", "write_file", "edit_file", "apply_patch"]


class Files:
    """The tools, below a folder of its own."""

    def __init__(self, home, user=None, **settings):
        self.home = home
        self.root = home / "root"
        self.root.mkdir()
        if user is not None:
            os.chown(self.root, user, user)
        self.library = home / "files.d"
        shutil.copytree(FOLDER, self.library)
        roots = {"roots": [str(self.root)], "writable": [str(self.root)], **settings}
        self.service = Service("embedded", home / "service", [self.library], user=user,
                               configuration={"toolboxes": {"files": roots}})
        self.service.wait_until_ready()
        self.caller = Lasting(self.service.url)

    def close(self):
        self.caller.close()
        self.service.end()

    def answer(self, name, /, **args):
        return self.caller.invoke(name, args, seconds=4 * EVENT_SECONDS)

    def result(self, name, /, **args):
        answer = self.answer(name, **args)
        assert "result" in answer, answer
        return answer["result"]

    def text(self, name, /, **args):
        [block] = self.result(name, **args)["content"]
        assert block.keys() == {"type", "text"} and block["type"] == "text"
        return block["text"]

    def failure(self, name, /, **args):
        answer = self.answer(name, **args)
        assert answer.get("code") == "tool_failed", answer
        words = answer["error"].split("'files': ", 1)[1]
        assert words.startswith(f"{name} failed: ")
        return words.removeprefix(f"{name} failed: ")

    def patch(self, body):
        return self.text("apply_patch", input=f"*** Begin Patch\n{body}*** End Patch")

    def bad_patch(self, body):
        return self.failure("apply_patch", input=f"*** Begin Patch\n{body}*** End Patch")

    def leftovers(self):
        return [path for path in self.root.rglob("*toolboxd-*")]


@pytest.fixture(scope="module", params=["root", "plain user"])
def shared(request):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("runs as a plain user")
    home = Path(tempfile.mkdtemp(prefix="files-"))
    home.chmod(0o755)
    user = PLAIN_USER if request.param == "plain user" and os.geteuid() == 0 else None
    if user:
        (home / "service").mkdir()
        os.chown(home / "service", user, user)
    one = Files(home, user)
    one.user = user
    yield one
    one.close()
    shutil.rmtree(home)


@pytest.fixture
def files(shared):
    """An empty root."""
    for path in shared.root.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    yield shared
    assert shared.leftovers() == []


def make(files, name, text=""):
    path = files.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if files.user:
        for one in [path, *path.parents]:
            if one == files.root:
                break
            os.chown(one, files.user, files.user)
    return path


# ── read_file ──────────────────────────────────────────────────────────────────────────────────────


def test_lines_are_read_as_memo_shows_them(files):
    path = make(files, "a.txt", "alpha\nbeta\r\ngamma\n")
    assert files.text("read_file", file_path=str(path)) == "L1: alpha\nL2: beta\nL3: gamma"
    assert files.text("read_file", file_path=str(path), offset=2, limit=2, mode="slice") == "L2: beta\nL3: gamma"
    assert files.text("read_file", file_path=str(path), limit=2) == (
        "L1: alpha\nL2: beta\n[More lines: go on with offset 3]")
    assert files.failure("read_file", file_path=str(path), offset=4).startswith("offset exceeds file length")
    long = make(files, "long.txt", "é" * 600 + "\n")
    assert files.text("read_file", file_path=str(long)) == f"L1: {'é' * 500} [cut: the line has 1200 bytes]"
    assert files.text("read_file", file_path=str(make(files, "empty"))) == "[The file is empty]"
    assert files.text("read_file", file_path=str(make(files, "latin", b"caf\xe9"))) == "L1: caf\ufffd"


def test_a_block_is_read_by_its_indentation(files):
    path = make(files, "code.py", "import os\n\ndef f():\n    if x:\n        y()\n    z()\n\ndef g():\n    pass\n")
    assert files.text("read_file", file_path=str(path), mode="indentation",
                      indentation={"anchor_line": 5, "max_levels": 1}) == (
        "L4:     if x:\nL5:         y()\nL6:     z()\nL7: ")
    assert files.text("read_file", file_path=str(path), mode="indentation", offset=5,
                      indentation={"max_lines": 2}) == "L4:     if x:\nL5:         y()"
    assert files.failure("read_file", file_path=str(path), mode="indentation",
                         indentation={"anchor_line": 50}).startswith("anchor_line exceeds file length")


def test_an_answer_that_is_full_names_the_line_to_go_on_with(files):
    path = make(files, "many.txt", "".join(f"{'x' * 400} {i}\n" for i in range(1, 2001)))
    seen, offset = [], 1
    while True:
        text = files.text("read_file", file_path=str(path), offset=offset, limit=2000)
        seen += re.findall(r"^L\d+: x+ (\d+)$", text, re.M)
        more = re.search(r"\[(?:The answer is full|More lines): go on with offset (\d+)\]$", text)
        if not more:
            break
        offset = int(more[1])
    assert seen == [str(i) for i in range(1, 2001)]


def test_what_is_no_text_is_named(files):
    assert "absolute path" in files.failure("read_file", file_path="a.txt")
    (files.root / "dir").mkdir()
    os.mkfifo(files.root / "fifo")
    png = make(files, "a.png", b"\x89PNG\r\n\x1a\n\0\0")
    nul = make(files, "nul", b"ab\0cd")
    assert "is a folder: list_dir" in files.failure("read_file", file_path=str(files.root / "dir"))
    assert "is a FIFO" in files.failure("read_file", file_path=str(files.root / "fifo"))
    assert "is a FIFO" in files.failure("grep_files", pattern="x", path=str(files.root / "fifo"))
    assert "is a PNG image" in files.failure("read_file", file_path=str(png))
    assert "is a binary file" in files.failure("read_file", file_path=str(nul))
    assert "No such file" in files.failure("read_file", file_path=str(files.root / "no"))


def test_the_end_of_a_large_file_is_read_in_bounded_memory(files):
    path = files.root / "large"
    with open(path, "wb") as out:
        out.write(b"first\nsecond\n" + b"x" * 8192)
        out.truncate(10 << 30)
        out.seek(10 << 30)
        out.write(b"\nlast\n")
    began = time.monotonic()
    assert files.text("read_file", file_path=str(path), limit=2) == (
        "L1: first\nL2: second\n[More lines: go on with offset 3]")
    assert time.monotonic() - began < at_most(1)
    # The host has at most 256 MiB, and the call its deadline.
    answer = read_endless(files, path, offset=4)
    assert "L4: last" in json.dumps(answer) or "the time of the call was over at line 3" in answer["error"], answer


def read_endless(files, path, **more):
    """The answer about a file that cannot be read in time. On a machine so busy that the tool misses its deadline, with
    more time."""
    for timeout_ms in 2000, 8000:
        answer = files.caller.invoke("read_file", {"file_path": str(path), **more}, timeout_ms=timeout_ms)
        if answer.get("code") != "timeout":
            break
    return answer


@pytest.mark.parametrize("mode", ["slice", "indentation"])
def test_lines_before_one_that_cannot_be_read_are_not_lost(files, mode):
    """A file without an end in time: 200 GB, a hole, is one line."""
    path = files.root / "endless"
    with open(path, "wb") as out:
        out.write(b"first\n" + b"x" * 8192)
        out.truncate(200 << 30)
    answer = read_endless(files, path, mode=mode)
    assert answer["result"]["content"][0]["text"] == "L1: first\n[Line 2 cannot be read: the time of the call is over]", answer
    answer = read_endless(files, path, mode=mode, offset=2)
    assert "the time of the call was over at line 2" in answer["error"], answer


# ── list_dir ───────────────────────────────────────────────────────────────────────────────────────


def test_folders_are_listed_level_by_level(files):
    for name in ("b/y/deep", "b/x", "a/z", "file"):
        make(files, name)
    (files.root / "link").symlink_to("file")
    os.mkfifo(files.root / "pipe")
    listed = files.text("list_dir", dir_path=str(files.root)).split("\n")
    assert listed == [f"Absolute path: {files.root}", "a/", "b/", "file", "link@", "pipe?", "a/z", "b/x", "b/y/"]
    assert files.text("list_dir", dir_path=str(files.root), depth=1, offset=2, limit=2).split("\n")[1:] == [
        "b/", "file", "More than 2 entries found"]
    assert files.text("list_dir", dir_path=str(files.root), depth=3).endswith("\nb/y/deep")
    assert files.failure("list_dir", dir_path=str(files.root), offset=20) == "offset exceeds directory entry count"
    (files.root / "none").mkdir()
    assert files.text("list_dir", dir_path=str(files.root / "none")) == f"Absolute path: {files.root / 'none'}"


def test_a_folder_that_cannot_be_read_costs_its_line(files):
    if not files.user:
        pytest.skip("root reads every folder")
    make(files, "open/a")
    make(files, "shut/b")
    (files.root / "shut").chmod(0)
    listed = files.text("list_dir", dir_path=str(files.root)).split("\n")
    (files.root / "shut").chmod(0o755)
    assert listed[1:] == ["open/", "shut/", "shut/ cannot be read: Permission denied", "open/a"]


def test_a_name_that_is_no_utf8_is_written_and_taken_back(files):
    path = os.path.join(os.fsencode(files.root), b"caf\xe9.txt")
    with open(path, "w") as out:
        out.write("x\n")
    listed = files.text("list_dir", dir_path=str(files.root)).split("\n")[1]
    assert listed == "caf\\xE9.txt"
    assert files.text("read_file", file_path=f"{files.root}/{listed}") == "L1: x"
    assert files.text("grep_files", pattern="x", path=str(files.root)) == f"{files.root}/{listed}"


def test_a_name_with_a_line_end_is_no_line_of_its_own(files):
    make(files, "a\nb\t\x7f.txt", "x\n")
    name = "a\\x0Ab\\x09\\x7F.txt"
    assert files.text("list_dir", dir_path=str(files.root)).split("\n")[1:] == [name]
    assert files.text("grep_files", pattern="x", path=str(files.root)) == f"{files.root}/{name}"
    for path in (f"{files.root}/{name}", f"{files.root}/a\nb\t\x7f.txt"):
        assert files.text("read_file", file_path=path) == "L1: x"
    assert files.text("write_file", path=f"{files.root}/{name}", content="y\n").endswith(name)
    assert (files.root / "a\nb\t\x7f.txt").read_text() == "y\n"
    files.patch(f"*** Update File: {name}\n-y\n+z\n")
    assert (files.root / "a\nb\t\x7f.txt").read_text() == "z\n"


def test_a_folder_of_many_entries_is_paged(files, times):
    many = files.root / "many"
    many.mkdir()
    for i in range(times(20_000, 1_000_000)):
        os.mknod(many / f"{i:06}")
    listed = files.text("list_dir", dir_path=str(many), offset=3, limit=2).split("\n")[1:]
    assert listed == ["000002", "000003", "More than 2 entries found"]
    listed = files.text("list_dir", dir_path=str(many), offset=19_999, limit=2).split("\n")[1:]
    assert listed[:2] == ["019998", "019999"]
    assert files.failure("list_dir", dir_path=str(many), offset=100_001).startswith("offset is at most 100000: ")


# ── grep_files ─────────────────────────────────────────────────────────────────────────────────────


def test_files_that_match_are_listed_the_newest_first(files):
    for i, name in enumerate(("a.c", "b.c", "sub/c.h", "d.txt")):
        path = make(files, name, f"int main(void)\n// {i}\n")
        os.utime(path, (i, i))
    found = files.text("grep_files", pattern="int main", path=str(files.root)).split("\n")
    assert found == [f"{files.root}/{name}" for name in ("d.txt", "sub/c.h", "b.c", "a.c")]
    assert files.text("grep_files", pattern="main", include="*.{c,h}", path=str(files.root), limit=1) == (
        f"{files.root}/sub/c.h\n[2 more files match; the 1 newest are listed]")
    assert files.text("grep_files", pattern="^// [12]$", path=str(files.root)).split("\n") == [
        f"{files.root}/sub/c.h", f"{files.root}/b.c"]
    assert files.text("grep_files", pattern="nothing", path=str(files.root)) == "No matches found."
    assert files.text("grep_files", pattern="main\\s+//", path=str(files.root)) == "No matches found."
    assert files.text("grep_files", pattern="main", path=str(files.root / "a.c")) == str(files.root / "a.c")
    assert "no regular expression" in files.failure("grep_files", pattern="(", path=str(files.root))
    assert files.answer("grep_files", pattern="")["code"] == "invalid_arguments"


def test_ignore_files_and_hidden_and_binary_files_are_left_out(files):
    for name in ("kept.txt", "built.o", "out/x.txt", "out/y/z.txt", "sub/keep.o", "sub/only/here", "here",
                 ".hidden", ".git/config"):
        make(files, name, "word\n")
    make(files, "binary", b"\0word\n")
    make(files, ".gitignore", "*.o\n/out/\n# comment\nsub/only\n")
    make(files, "sub/.ignore", "!keep.o\n")
    found = files.text("grep_files", pattern="word", path=str(files.root)).split("\n")
    assert sorted(found) == [f"{files.root}/{name}" for name in ("here", "kept.txt", "sub/keep.o")]
    found = files.text("grep_files", pattern="word", path=str(files.root / "sub")).split("\n")
    assert found == [f"{files.root}/sub/keep.o"]


def test_a_folder_is_searched_at_the_longest_path(files):
    path = str(files.root) + "/d" * ((os.pathconf(files.root, "PC_PATH_MAX") - len(str(files.root)) - 16) // 2)
    try:
        subprocess.run(["mkdir", "-p", path], check=True)
        Path(path, "a").write_text("word\n")
        assert files.text("grep_files", pattern="word", path=path) == f"{path}/a"
    finally:
        subprocess.run(["rm", "-rf", files.root / "d"], check=True)


def test_a_search_ends_with_its_time(files):
    """Ten gigabytes of one line, which no pattern matches."""
    path = make(files, "large", "x" * 8192)
    os.truncate(path, 10 << 30)
    make(files, "small", "word\n")
    began = time.monotonic()
    answer = files.caller.invoke("grep_files", {"pattern": "word$", "path": str(files.root)}, timeout_ms=2000)
    assert time.monotonic() - began < at_most(3)
    assert "The time of the search is over: not all files were searched" in json.dumps(answer), answer


def test_a_pattern_that_takes_too_long_is_said(files):
    make(files, "a", "a" * 5000 + "!\n")
    make(files, "b", "b\n")
    text = files.text("grep_files", pattern="(?:a|aa)+!!|b", path=str(files.root))
    assert text == f"{files.root}/b\n[The pattern takes too long on 1 files]"


# ── write_file, edit_file ──────────────────────────────────────────────────────────────────────────


def test_a_path_with_nul_is_refused(files):
    path = make(files, "a.txt", "a\n")
    for name, args in (("write_file", {"content": "x"}), ("edit_file", {"edits": [{"oldText": "a", "newText": "x"}]})):
        assert "a path has the character U+0000" in files.failure(name, path=f"{path}\0.md", **args)
    for name, args in (("read_file", {"file_path": f"{path}\0.md"}), ("list_dir", {"dir_path": f"{files.root}\0.md"}),
                       ("grep_files", {"pattern": "a", "path": f"{files.root}\0.md"}),
                       ("grep_files", {"pattern": "a", "include": "*.txt\0.md"})):
        assert files.failure(name, **args) == "a path has the character U+0000"
    assert path.read_text() == "a\n"


def test_a_file_is_written_whole(files):
    path = files.root / "new" / "folder" / "a.txt"
    assert files.text("write_file", path=str(path), content="héllo\n") == f"Successfully wrote to {path}"
    assert path.read_text() == "héllo\n"
    path.chmod(0o751)
    files.text("write_file", path=str(path), content="")
    assert path.read_text() == "" and path.stat().st_mode & 0o777 == 0o751


def test_a_large_file_is_replaced_and_the_owner_stays(files):
    path = make(files, "large", "")
    os.truncate(path, 1 << 30)
    if not files.user:
        os.chown(path, PLAIN_USER, PLAIN_USER)
    owner = path.stat().st_uid
    files.text("write_file", path=str(path), content="small\n")
    assert path.read_text() == "small\n" and path.stat().st_uid == owner
    os.truncate(path, 17 << 20)
    assert "is too large: at most 16777216 bytes" in files.failure(
        "edit_file", path=str(path), edits=[{"oldText": "small", "newText": "x"}])
    assert "does not exist" in files.failure("edit_file", path=str(files.root / "no"),
                                             edits=[{"oldText": "a", "newText": "b"}])
    os.mkfifo(files.root / "fifo")
    assert "is a FIFO" in files.failure("write_file", path=str(files.root / "fifo"), content="x")
    assert "is a folder" in files.failure("write_file", path=str(files.root), content="x")


def test_texts_are_replaced_and_the_difference_is_shown(files):
    path = make(files, "a.txt", "one\r\ntwo\r\nthree\r\n")
    edits = [{"oldText": "two\nthree", "newText": "2\n$& ```"}]
    shown = files.text("edit_file", path=str(path), edits=edits, dryRun=True)
    assert files.result("edit_file", path=str(path), edits=edits, dryRun=True)["structured"] == {
        "diff": shown.removeprefix("````diff\n").removesuffix("````\n\n")}
    assert path.read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert files.text("edit_file", path=str(path), edits=edits) == shown
    assert shown.startswith("````diff\n--- ") and shown.endswith("````\n\n")
    assert "-two" in shown and "+2" in shown
    assert path.read_bytes() == b"one\r\n2\r\n$& ```\r\n"
    assert "Found 3 matches" in files.failure("edit_file", path=str(path), edits=[{"oldText": "\n", "newText": ""}])
    before = path.read_bytes()
    words = files.failure("edit_file", path=str(path), edits=[{"oldText": "one", "newText": "1"},
                                                             {"oldText": "nope", "newText": ""}])
    assert words == "Could not find exact match for edit:\nnope"
    assert "oldText is empty" in files.failure("edit_file", path=str(path), edits=[{"oldText": "", "newText": "x"}])
    assert path.read_bytes() == before


# ── apply_patch ────────────────────────────────────────────────────────────────────────────────────


def test_several_files_are_changed_only_in_time(files):
    body = "*** Begin Patch\n*** Add File: a\n+x\n*** Add File: b\n+x\n*** End Patch"
    # A busy machine may hold the process up until the service answers in its place.
    until(lambda: files.caller.invoke("apply_patch", {"input": body}, timeout_ms=1500)["error"].endswith(
        "the time of the call is over; nothing was written"), EVENT_SECONDS, "the words of the tool")
    assert list(files.root.iterdir()) == []


def test_a_patch_changes_several_files(files):
    make(files, "old.txt", "a\nb\n")
    make(files, "gone.txt", "x\n")
    moved = make(files, "from.sh", "#!/bin/sh\necho 1\n")
    moved.chmod(0o755)
    text = files.patch("*** Delete File: gone.txt\n"
                       "*** Update File: old.txt\n@@\n a\n-b\n+c\n"
                       "*** Add File: deep/new.txt\n+n\n"
                       "*** Update File: from.sh\n*** Move to: bin/to.sh\n@@\n-echo 1\n+echo 2\n")
    assert text == ("Success. Updated the following files:\nA deep/new.txt\nM old.txt\nM bin/to.sh\nD gone.txt")
    assert (files.root / "old.txt").read_text() == "a\nc\n"
    assert (files.root / "deep" / "new.txt").read_text() == "n\n"
    assert (files.root / "bin" / "to.sh").read_text() == "#!/bin/sh\necho 2\n"
    assert (files.root / "bin" / "to.sh").stat().st_mode & 0o777 == 0o755
    assert not (files.root / "gone.txt").exists() and not moved.exists()


def test_a_path_of_a_folder_makes_no_file(files):
    make(files, "old.txt", "a\n")
    for end in ("/", "/.", "//"):
        words = files.failure("write_file", path=f"{files.root}/new{end}", content="x")
        assert words == f"{files.root}/new{end}: a path that ends so names a folder, not a file"
    for patch in ("*** Add File: new/\n+x\n", "*** Update File: old.txt\n*** Move to: new/\n@@\n-a\n+b\n"):
        assert files.bad_patch(patch).endswith("a path that ends so names a folder, not a file")
    assert [path.name for path in files.root.iterdir()] == ["old.txt"]


def test_updates_of_one_file_add_up(files):
    make(files, "a", "1\n2\n3\n")
    files.patch("*** Update File: a\n-1\n+one\n"
                f"*** Update File: {files.root}/./a\n-3\n+three\n")
    assert (files.root / "a").read_text() == "one\n2\nthree\n"


def test_a_bad_hunk_writes_nothing(files):
    make(files, "a", "1\n2\n")
    make(files, "b", "1\n2\n")
    words = files.bad_patch("*** Add File: c\n+x\n*** Update File: a\n-1\n+one\n*** Update File: b\n 1\n-3\n+4\n")
    assert words.startswith(f"Failed to find expected lines in {files.root}/b:\n1\n3\n")
    assert "Nearest place: line 1" in words
    assert sorted(path.name for path in files.root.iterdir()) == ["a", "b"]
    assert (files.root / "a").read_text() == "1\n2\n"
    assert "exists" in files.bad_patch("*** Add File: a\n+x\n")
    assert "does not exist" in files.bad_patch("*** Delete File: nope\n")
    assert "exists: nothing is moved over it" in files.bad_patch("*** Update File: a\n*** Move to: b\n-1\n+x\n")
    assert files.bad_patch("") == "No files were modified."
    assert files.failure("apply_patch", input="") == "invalid input: input cannot be empty"


@pytest.fixture
def disk(files):
    """A file system of a megabyte inside of the root."""
    with small_disk(make(files, "disk/first", "").parent, "1m") as disk:
        yield disk


def test_a_full_disk_changes_nothing(files, disk):
    """Of several files the last one does not fit."""
    (disk / "a").write_text("1\n")
    (disk / "b").write_text("1\n")
    for name in ("a", "b"):
        (disk / name).chmod(0o666)
    body = "".join(f"+{'x' * 100}\n" for _ in range(18000))
    words = files.bad_patch("*** Update File: disk/a\n-1\n+2\n*** Update File: disk/b\n-1\n" + body)
    assert "No space left on device" in words
    assert {path.name: path.read_text() for path in disk.iterdir()} == {"a": "1\n", "b": "1\n"}


def test_a_rename_that_fails_undoes_those_before_it(files, disk):
    """The last file is a place where a file system is mounted: nothing takes its place."""
    for name in ("a", "b", "c"):
        make(files, name, "1\n")
    (disk / "c").write_text("1\n")
    (disk / "c").chmod(0o666)
    subprocess.run(["mount", "--bind", disk / "c", files.root / "c"], check=True)
    try:
        words = files.bad_patch("*** Add File: new\n+x\n*** Update File: a\n-1\n+2\n*** Delete File: b\n"
                                "*** Update File: c\n-1\n+2\n")
    finally:
        subprocess.run(["umount", "-l", files.root / "c"], check=True)
    assert words == f"{files.root}/c cannot be replaced: Device or resource busy"
    assert {path.name: path.read_text() for path in files.root.iterdir() if path.is_file()} == dict.fromkeys("abc", "1\n")


def test_a_file_is_moved_to_another_file_system(files, disk):
    path = make(files, "a", "1\n")
    files.patch("*** Update File: a\n*** Move to: disk/b\n-1\n+2\n")
    assert not path.exists() and (disk / "b").read_text() == "2\n"
    files.text("write_file", path=str(disk / "b"), content="3\n")
    assert (disk / "b").read_text() == "3\n"


def test_a_file_that_changes_while_it_is_patched_is_not_lost(files):
    """Another program appends to the file all the time: each patch sees all of it, or is refused."""
    path = make(files, "log", "begin\n")
    if files.user:
        path.chmod(0o666)
    is_over = threading.Event()
    n_written = [0]

    def write():
        while not is_over.is_set():
            with open(path, "a") as out:
                out.write(f"line {n_written[0]}\n")
            n_written[0] += 1
            time.sleep(0.0005)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for i in range(30):
            answer = files.answer("apply_patch", input="*** Begin Patch\n*** Update File: log\n@@\n-begin\n+begin\n"
                                                       f"+patch {i}\n*** End Patch")
            if "error" in answer:
                assert "has changed since it was read" in answer["error"], answer
    finally:
        is_over.set()
        writer.join()


def test_a_file_that_changes_while_it_is_read_does_no_harm(files):
    path = make(files, "log", "line\n" * 100_000)
    is_over = threading.Event()

    def change():
        while not is_over.is_set():
            for size in (7, 300_000, 0):
                os.truncate(path, size)
            path.write_text("line\n" * 100_000)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(100):
            answer = files.answer("read_file", file_path=str(path), offset=50_000, limit=1000)
            assert "result" in answer or re.search("offset exceeds|binary file|empty", answer["error"]), answer
            assert "result" in files.answer("grep_files", pattern="line", path=str(path))
    finally:
        is_over.set()
        changer.join()


# ── fences ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_path_of_two_thousand_folders_is_judged_in_time(files, tmp_path):
    """A thousand exist: realpath(3) for each folder that does not took a minute."""
    tmp_path.chmod(0o755)
    try:
        subprocess.run(["sh", "-c", "i=0; while [ $((i += 1)) -le 1000 ]; do mkdir a && cd -P a || exit; done"],
                       cwd=tmp_path, check=True)
        deep = f"{tmp_path}{'/a' * 1000}{'/b' * 900}"
        answer = files.caller.invoke("write_file", {"path": deep, "content": ""}, timeout_ms=10_000)
        assert "outside of the folders that may be written" in answer["error"], answer
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "a")], check=True)


def test_what_is_outside_of_the_roots_stays_closed(files):
    outside = files.home / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret").write_text("secret\n")
    outside.chmod(0o777)
    (outside / "secret").chmod(0o666)
    (files.root / "link").symlink_to(outside)
    (files.root / "file").symlink_to(outside / "secret")
    (files.root / "dangling").symlink_to(outside / "new")
    (files.root / "proc").symlink_to("/proc/self/root")
    for path in (outside / "secret", files.root / ".." / "outside" / "secret", files.root / "link" / "secret",
                 files.root / "file", files.root / "proc" / "etc" / "passwd", "/etc/passwd", "/proc/self/environ",
                 "/dev/zero",
                 # Nobody learns which files exist.
                 outside / "none", files.root / "link" / "none", files.root / "link" / "secret" / "below", "/etc/none/below",
                 "/etc/ssl/private/none"):
        words = files.failure("read_file", file_path=str(path))
        assert f"outside of the folders that may be read ({files.root}; toolboxes.files.roots has them)" in words
    for path in (outside / "secret", files.root / "file", files.root / "link" / "new", outside / "new"):
        words = files.failure("write_file", path=str(path), content="x")
        assert "outside of the folders that may be written" in words
    assert "Too many levels of symbolic links" in files.failure("write_file", path=str(files.root / "dangling"),
                                                               content="x")
    assert "outside" in files.bad_patch("*** Add File: ../outside/new\n+x\n")
    assert "outside" in files.bad_patch("*** Add File: link/new\n+x\n")
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "secret\n"
    assert files.text("grep_files", pattern="secret", path=str(files.root)) == "No matches found."


def test_secrets_stay_closed_at_any_depth(files):
    for name in (".ssh/id_rsa", "work/.env", "work/.config/gh/hosts.yml", "plain", "work/.envrc", "vfat/.ENV"):
        make(files, name, "token\n")
    (files.root / "alias").symlink_to(".ssh/id_rsa")
    for name in (".ssh/id_rsa", "work/.env", "work/.config/gh/hosts.yml", "alias", "vfat/.ENV"):
        assert "holds secrets" in files.failure("read_file", file_path=str(files.root / name))
        assert "holds secrets" in files.failure("write_file", path=str(files.root / name), content="x")
    for name in (".ssh/none", "work/.env/none", "none/.npmrc"):
        assert "holds secrets" in files.failure("read_file", file_path=str(files.root / name))
        assert "holds secrets" in files.failure("write_file", path=str(files.root / name), content="x")
    listed = files.text("list_dir", dir_path=str(files.root), depth=9)
    assert ".ssh" not in listed and "work/.env\n" not in listed + "\n" and "work/.envrc" in listed
    assert listed.endswith("Left out, since they hold secrets: 4 entries")
    assert "holds secrets" in files.failure("list_dir", dir_path=str(files.root / ".ssh"))
    assert files.text("grep_files", pattern="token", path=str(files.root)) == f"{files.root}/plain"
    assert "holds secrets" in files.failure("grep_files", pattern="token", path=str(files.root / "work" / ".env"))


def test_what_programs_obey_is_read_but_not_written(files):
    for name in (".bashrc", "sub/mycroft.conf", ".config/systemd/user/a.service"):
        path = make(files, name, "x\n")
        assert files.text("read_file", file_path=str(path)) == "L1: x"
        assert "never written" in files.failure("write_file", path=str(path), content="y")
        assert "never written" in files.bad_patch(f"*** Update File: {name}\n-x\n+y\n")
        assert path.read_text() == "x\n"
    assert "never written" in files.failure("write_file", path=str(files.root / ".config" / "autostart" / "a.desktop"),
                                            content="y")


def test_a_file_with_another_name_is_not_written_where_others_may_link(files):
    path = make(files, "a", "x\n")
    os.link(path, files.root / "b")
    files.text("write_file", path=str(path), content="y\n")
    assert (files.root / "b").read_text() == "x\n", "the other name keeps the old text"
    shared = files.root / "shared"
    shared.mkdir()
    if files.user:
        os.chown(shared, files.user, files.user)
    shared.chmod(0o777)
    os.link(path, shared / "c")
    assert "other names (hard links)" in files.failure("write_file", path=str(shared / "c"), content="z\n")
    assert path.read_text() == "y\n"


def test_a_folder_that_becomes_a_link_is_not_followed(files):
    """Another program swaps a folder for a link that leads out, all the time."""
    outside = files.home / "elsewhere"
    outside.mkdir(exist_ok=True)
    outside.chmod(0o777)
    real = files.root / "real"
    real.mkdir()
    real.chmod(0o777)
    spot = files.root / "spot"
    spot.symlink_to("real")
    is_over = threading.Event()

    def swap():
        while not is_over.is_set():
            for target in (outside, "real"):
                (files.root / "next").symlink_to(target)
                os.replace(files.root / "next", spot)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for i in range(200):
            files.answer("write_file", path=str(spot / f"f{i}"), content="x")
    finally:
        is_over.set()
        swapper.join()
    assert list(outside.iterdir()) == []


def test_a_read_only_file_system_is_left_with_words(files, disk):
    (disk / "a").write_text("1\n")
    (disk / "a").chmod(0o666)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert files.failure("write_file", path=str(disk / "a"), content="2\n") == (
        f"{disk}/a cannot be written: Read-only file system")
    assert "Read-only file system" in files.bad_patch("*** Add File: new\n+x\n*** Update File: disk/a\n-1\n+2\n")
    assert files.text("read_file", file_path=str(disk / "a")) == "L1: 1" and not (files.root / "new").exists()


def test_a_device_inside_of_a_root_is_left_alone(files):
    if files.user:
        pytest.skip("a plain user makes no device")
    device = files.root / "zero"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError as error:
        pytest.skip(f"no device can be made here: {error}")
    for name, args in (("read_file", {"file_path": str(device)}), ("grep_files", {"pattern": "x", "path": str(device)}),
                       ("write_file", {"path": str(device), "content": "x"}),
                       ("edit_file", {"path": str(device), "edits": [{"oldText": "a", "newText": "b"}]})):
        assert "is a device, not a regular file" in files.failure(name, **args)
    assert files.text("list_dir", dir_path=str(files.root)).endswith("\nzero?")
    assert files.text("grep_files", pattern="x", path=str(files.root)) == "No matches found."


def test_a_read_only_folder_is_left_with_words(files):
    if not files.user:
        pytest.skip("root writes everywhere")
    path = make(files, "shut/a", "x\n")
    path.parent.chmod(0o555)
    words = files.failure("write_file", path=str(path), content="y\n")
    path.parent.chmod(0o755)
    assert words == f"{path} cannot be written: Permission denied"
    assert path.read_text() == "x\n"


# ── configurations ─────────────────────────────────────────────────────────────────────────────────


def test_without_configuration_the_home_is_read_and_nothing_written(launch):
    service = launch({}, [FOLDER])
    home = service.daemon.home
    (home / ".ssh").mkdir()
    (home / ".ssh" / "key").write_text("secret\n")
    (home / "notes").mkdir()
    (home / "notes" / "a").write_text("note\n")
    with Caller(service.url) as caller:
        tools = {tool["name"]: tool for tool in caller.call("ovos.tools.list")["tools"]}
        assert list(tools) == FILES
        assert [tools[name]["risk"] for name in FILES] == ["read"] * 3 + ["write"] * 3
        assert all(tools[name]["title"] for name in FILES)
        answer = caller.invoke("read_file", {"file_path": str(home / "notes" / "a")})
        assert answer["result"]["content"][0]["text"] == "L1: note"
        assert "holds secrets" in caller.invoke("read_file", {"file_path": str(home / ".ssh" / "key")})["error"]
        error = caller.invoke("write_file", {"path": str(home / "new"), "content": ""})["error"]
        assert "no folder may be written: toolboxes.files.writable" in error


def test_a_root_that_cannot_be_fenced_is_refused_with_words(launch):
    """A secret among more entries than a process opens one by one."""
    service = launch({}, [FOLDER])
    home = service.daemon.home
    (home / ".ssh").mkdir()
    for i in range(16_384):
        os.mknod(home / str(i))
    with Caller(service.url) as caller:
        answer = caller.invoke("read_file", {"file_path": str(home / "1")}, seconds=EVENT_SECONDS)
    assert answer["code"] == "unavailable"
    assert answer["error"].endswith(f"'{home}' cannot be opened around the files that stay closed in it: it has more than "
                                    "16384 entries. Name its subfolders in its place")


def test_a_variable_adds_writable_folders(tmp_path):
    (tmp_path / "w").mkdir()
    one = Service("embedded", tmp_path / "service", [FOLDER],
                  env={"TOOLBOXD_SANDBOX_WRITABLE_ROOTS": f"{tmp_path / 'w'},"})
    one.wait_until_ready()
    with Caller(one.url) as caller:
        answer = caller.invoke("write_file", {"path": str(tmp_path / "w" / "a"), "content": "x"})
        assert "result" in answer, answer
    one.end()
    assert (tmp_path / "w" / "a").read_text() == "x"


def test_a_secret_is_read_where_its_very_path_is_allowed(tmp_path):
    root = tmp_path / "root"
    (root / ".ssh").mkdir(parents=True)
    (root / ".ssh" / "config").write_text("Host x\n")
    (root / ".ssh" / "key").write_text("secret\n")
    one = Service("embedded", tmp_path / "service", [FOLDER], configuration={"toolboxes": {"files": {
        "roots": [str(root)], "allow_secrets": [str(root / ".ssh" / "config")]}}})
    one.wait_until_ready()
    with Caller(one.url) as caller:
        answer = caller.invoke("read_file", {"file_path": str(root / ".ssh" / "config")})
        assert answer["result"]["content"][0]["text"] == "L1: Host x"
        assert "holds secrets" in caller.invoke("read_file", {"file_path": str(root / ".ssh" / "key")})["error"]
    one.end()


def test_what_is_hidden_is_listed_for_who_sees_every_tool(tmp_path):
    """The list is shown with a toolbox that has fences, and names what the page does."""
    page = (ROOT / "docs/contract.md").read_text()
    names = re.findall(r"`([^`]+)`", re.search(r"^\| `hidden` \| (`\.ssh`.*) \|$", page, re.M)[1])
    with Service("embedded", tmp_path / "service", [FOLDER, SHIPPED], configuration={
            "profiles": {"few": {"tool_names": ["files/*"]}}, "access": [{"match": {"source": "few"}, "profile": "few"}]}) as one:
        def why(*args):
            return " ".join(toolboxctl("list", "--why", *args, bus=one.url, home=tmp_path).stdout.split())

        shown = "Hidden in the folders that toolboxes as files may read: "
        for args in (), ("--toolbox", "files"):
            assert set(names) <= set(why(*args).partition(shown)[2].split(", ")), args
        assert shown not in why("--toolbox", "math_tools") and shown not in toolboxctl("list", bus=one.url, home=tmp_path).stdout
        with Caller(one.url) as caller:
            assert set(names) <= set(caller.call("ovos.tools.status")["hidden"])
            assert "hidden" not in caller.call("ovos.tools.status", {"toolbox_id": "math_tools"})
            assert "hidden" not in caller.call("ovos.tools.status", {}, {"source": "few"})


@pytest.mark.parametrize("value, words", [
    ({}, "toolboxes.files.roots must be a path, or a list"), ("etc", "found etc"), (["etc"], "found etc"), ([7], "another value"),
    (["/nowhere/at/all"], "/nowhere/at/all")])
def test_a_setting_that_is_no_list_of_folders_is_refused_with_words(launch, value, words):
    service = launch({"toolboxes": {"files": {"roots": value}}}, [FOLDER])
    with Caller(service.url) as caller:
        [failed] = caller.call("ovos.tools.reload", seconds=EVENT_SECONDS)["failed"]
        assert words in failed["error"]


LANDLOCK_CREATE_RULESET = 444


def without_landlock():
    """Let landlock_create_ruleset(2) fail with ENOSYS in this process and its children (seccomp)."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = b"".join(struct.pack("HBBI", *one) for one in (
        (0x20, 0, 0, 0),                         # the number of the system call
        (0x15, 0, 1, LANDLOCK_CREATE_RULESET),   # is it this one?
        (0x06, 0, 0, 0x00050000 | 38),           # ENOSYS
        (0x06, 0, 0, 0x7FFF0000)))               # allowed
    text = ctypes.create_string_buffer(program)
    filters = struct.pack("HxxxxxxQ", 4, ctypes.addressof(text))
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filters, 0, 0) == 0


def test_nothing_is_written_where_the_kernel_has_no_landlock(tmp_path, monkeypatch):
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **more: popen(*args, preexec_fn=without_landlock, **more))
    one = Files(tmp_path)
    try:
        (one.root / "a").write_text("x\n")
        assert one.text("read_file", file_path=str(one.root / "a")) == "L1: x"
        for name, args in (("write_file", {"path": str(one.root / "b"), "content": "y"}),
                           ("apply_patch", {"input": "*** Begin Patch\n*** Add File: b\n+y\n*** End Patch"})):
            assert "this kernel has no landlock" in one.failure(name, **args)
        assert [path.name for path in one.root.iterdir()] == ["a"]
    finally:
        one.close()


# ── on and off ─────────────────────────────────────────────────────────────────────────────────────


def test_a_toolbox_that_its_manifest_disables_is_enabled_by_toolboxctl(tmp_path):
    folder = tmp_path / "files.d"
    shutil.copytree(FOLDER, folder)
    manifest = json.loads((folder / "files.json").read_text())
    (folder / "files.json").write_text(json.dumps({**manifest, "enabled": False}))
    one = Service("embedded", tmp_path / "service", [folder])
    one.wait_until_ready()
    home = tmp_path / "service" / "toolboxd"

    def ctl(*args):
        return toolboxctl(*args, bus=one.url, home=home)

    with Caller(one.url) as caller:
        assert caller.call("ovos.tools.list")["tools"] == []
        [left_out] = caller.call("ovos.tools.status")["not_offered"]
        assert left_out["why"] == "disabled by its manifest; toolboxctl enable files"
        assert "toolboxctl enable files" in ctl("list", "--why").stdout
        done = ctl("enable", "files")
        assert (done.returncode, done.stderr) == (0, "") and "files is enabled" in done.stdout
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == FILES
        done = ctl("disable", "files")
        assert done.returncode == 0 and "files is not enabled" in done.stdout
        assert caller.call("ovos.tools.list")["tools"] == []
        assert ctl("enable", "files/read_file", "files/list_*").returncode == 0
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == FILES[:2]
        assert ctl("disable", "files/read_file", "--for", "1h").returncode == 0
        assert [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]] == FILES[1:2]
    one.end()
