# SPDX-License-Identifier: Apache-2.0
"""toolboxctl new: what it writes builds, passes `check`, and its own tests, at once."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from processes import BUILD, EVENT_SECONDS, FINDING, ROOT, TOOLBOXCTL, TOOLBOXD, environment, toolboxctl, until

KINDS = sorted(path.name for path in (ROOT / "templates").iterdir())
DONE, ERROR, USAGE = range(3)

# An id with everything that an id may have; it is a word of CMake's, too.
ID = "test_Box-2"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def run(*command, home):
    # Python toolboxes are built where OVOS is: with what the tests themselves run in.
    env = environment(home, PATH=f"{TOOLBOXD.parent}:{os.environ['PATH']}", VIRTUAL_ENV=sys.prefix,
                      CMAKE_GENERATOR="Ninja")  # which we need anyhow; make may not be there
    done = subprocess.run([str(part) for part in command], env=env, cwd=home, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=EVENT_SECONDS)
    assert done.returncode == 0 and not FINDING.search(done.stdout), done.stdout
    return done.stdout


def build(home, *options):
    """Build it with toolbox.h where an installation of ours would have it."""
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={home}/prefix", "-P",
        BUILD / "service/include/cmake_install.cmake", home=home)
    run("cmake", "-S", ID, "-B", "build", f"-DCMAKE_PREFIX_PATH={home}/prefix", *options, home=home)
    run("cmake", "--build", "build", home=home)


@pytest.mark.parametrize("kind", KINDS)
def test_it_builds_and_passes_its_own_tests(home, kind):
    done = toolboxctl("new", ID, "--kind", kind, "--json", home=home)
    assert done.returncode == DONE, done.stderr
    files = json.loads(done.stdout)["files"]
    assert f"{ID}/CMakeLists.txt" in files and f"{ID}/tests/{ID}.calls" in files
    build(home, "-DCMAKE_C_FLAGS=-Werror")
    out = run("ctest", "--test-dir", "build", "--output-on-failure", home=home)
    assert "tests passed" in out
    checked = (home / "build/Testing/Temporary/LastTest.log").read_text()
    assert "0 errors, 0 warnings" in checked and "ok " in checked


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "python"])
def test_its_sources_are_checked_before_they_are_built(home, kind):
    assert toolboxctl("new", ID, "--kind", kind, home=home).returncode == DONE
    done = toolboxctl("check", ID, home=home)
    if kind in ("native", "plugin"):
        assert done.returncode == ERROR and "build it beside its manifest" in done.stderr, done.stderr
    else:
        assert done.returncode == DONE and done.stderr == ""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "python"])
def test_its_folder_is_a_toolbox_when_it_is_copied(home, kind):
    """A Python toolbox is a package, which pip installs."""
    assert toolboxctl("new", ID, "--kind", kind, home=home).returncode == DONE
    build(home)
    shutil.copytree(home / "build" / "toolbox.d", home / "expected" / "toolboxd" / "toolbox.d")
    shutil.copytree(home / ID, home / "copied" / "toolboxd" / "toolbox.d" / ID)

    def tools(folder):
        done = toolboxctl("list", "--offline", "--json", "--toolbox", ID, home=home,
                          env={"XDG_DATA_HOME": str(home / folder)})
        assert done.returncode == DONE, done.stderr
        return json.loads(done.stdout)["tools"]

    assert tools("copied") == tools("expected") != []


@pytest.mark.parametrize("packages, is_isolated", [
    ([], True), (["setuptools", "setuptools/command"], True),
    (["setuptools", "setuptools/command", "wheel"], False),
    (["setuptools", "setuptools/command", "setuptools/command/bdist_wheel"], False)])
def test_a_python_without_wheel_fetches_what_builds_it(home, packages, is_isolated):
    """As the plain environment of Python 3.11, whose setuptools needs the package wheel."""
    toolboxctl("new", ID, "--kind", "python", home=home)
    for name in ["pip", *packages]:
        (home / "packages" / name).mkdir(parents=True)
        (home / "packages" / name / "__init__.py").write_text("")
    (home / "packages" / "pip" / "__main__.py").write_text("import sys; print(*sys.argv[1:])")
    done = subprocess.run([sys.executable, "-S", ID + "/tests/install.py", "made", "."], text=True,
                          cwd=home, capture_output=True, timeout=EVENT_SECONDS,
                          env=environment(home, PYTHONPATH=str(home / "packages")))
    assert done.returncode == 0, done.stderr
    assert ("--no-build-isolation" in done.stdout) != is_isolated and "install" in done.stdout


def test_its_help_names_each_kind(home):
    home.mkdir()
    text = toolboxctl("new", "--help", home=home).stdout
    assert not [kind for kind in KINDS if f"{kind}:" not in text]


def test_it_says_how_to_serve_it_with_a_bus_and_without(home):
    out = toolboxctl("new", ID, "--kind", "native", home=home).stdout
    folder = f"--toolbox-dir {ID}/build/toolbox.d"
    assert f"\n  toolboxd {folder}\n  toolboxd --embedded-bus {folder}\n" in out
    assert out.endswith(f"\n  toolboxctl dev {ID}\n")


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_answer_fails_its_test(home, kind):
    """Seen to fail once: the tests of a template do compare."""
    toolboxctl("new", ID, "--kind", kind, home=home)
    calls = home / ID / f"tests/{ID}.calls"
    calls.write_text('no_such_tool -> {"no": "such"}\n')
    build(home)
    with pytest.raises(AssertionError, match="FAILED  no_such_tool"):
        run("ctest", "--test-dir", "build", "-R", "calls", "--output-on-failure", home=home)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_its_authors(home, kind):
    toolboxctl("new", ID, "--kind", kind, home=home)
    for path in (home / ID).rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert not re.search("my_toolbox|my_module|SPDX", text + path.name)
            assert os.access(path, os.X_OK) == text.startswith("#!")
            assert not text.startswith("\n")


def test_it_tells_what_it_has_written_and_what_comes_next(home):
    done = toolboxctl("new", ID, "--kind", "native", home=home)
    assert done.returncode == DONE and done.stderr == ""
    for path in (home / ID).rglob("*"):
        assert path.is_dir() or f"{path.relative_to(home)}\n" in done.stdout
    for command in f"cmake -G Ninja -S {ID} -B {ID}/build", f"cmake --build {ID}/build", f"ctest --test-dir {ID}/build":
        assert f"\n  {command}\n" in done.stdout, "a command to copy is a line of its own"


def test_it_refuses_a_folder_that_exists(home):
    (home / ID).mkdir(parents=True)
    done = toolboxctl("new", ID, "--kind", "native", home=home)
    assert done.returncode == USAGE and ID in done.stderr and done.stdout == ""
    assert list((home / ID).iterdir()) == []


@pytest.mark.parametrize("args, words", [
    (["new"], "ID"), (["new", ID], "--kind"), (["new", ID, "--kind", "nativ"], "native"),
    (["new", "a/b", "--kind", "native"], "a/b"),
    (["new", "--kind", "native", "--", "-x"], "-x"), (["new", "x" * 129, "--kind", "native"], "128"),
    (["list", "--kind", "native"], "--kind"),
])
def test_usage(home, args, words):
    done = toolboxctl(*args, home=home)
    assert done.returncode == USAGE and words in done.stderr and done.stdout == ""
    assert not (home / ID).exists()


def test_a_folder_that_cannot_be_written(home):
    home.mkdir()
    (home / ID).symlink_to(home / "nowhere")
    assert toolboxctl("new", ID, "--kind", "native", home=home).returncode == USAGE
    assert not (home / "nowhere").exists()


def test_a_header_becomes_a_toolbox(home):
    """libc's own headers: what is written is loaded, held against the header again, and called."""
    home.mkdir()
    new = ("new", "c", "--from-header", "string.h", "--from-header", "stdlib.h", "--library", "libc.so.6")
    done = toolboxctl(*new, "--only", "strlen,labs,qsort,strverscmp", "--risk", "read", "--json",
                      "--cflags", "-D_GNU_SOURCE", home=home)
    assert done.returncode == DONE, done.stderr
    summary = json.loads(done.stdout)
    assert summary["files"] == ["c/c.json"] and summary["functions"] == 4
    assert sorted(summary["tools"]) == ["labs", "strlen", "strverscmp"]
    assert summary["not_offered"] == [{"name": "qsort", "why": "'compar' is a callback"}]
    done = toolboxctl("check", "c/c.json", "--header", "string.h", "--header", "stdlib.h",
                      "--cflags", "-D_GNU_SOURCE", home=home)
    assert done.returncode == DONE and done.stdout.endswith("1 file: 0 errors, 0 warnings\n"), done.stderr
    called = [toolboxctl("invoke", "--file", "c/c.json", *words, "--get", "result.result", home=home).stdout
              for words in (("labs", "x=-7"), ("strlen", "s=seven"), ("strverscmp", "s1=a9", "s2=a10"))]
    assert called[:2] == ["7\n", "5\n"] and int(called[2]) < 0
    assert toolboxctl(*new, home=home).returncode == USAGE  # it is there already


def test_a_header_is_found_by_any_path_and_by_its_place(home):
    """A file by a path or a link; and time.h, which sys/time.h before it is not."""
    home.mkdir()
    (home / "own.h").write_text("int abs(int x);\n")
    (home / "link.h").symlink_to("own.h")

    def tools(*headers):
        options = [word for header in headers for word in ("--from-header", header)]
        done = toolboxctl("new", "c", *options, "--library", "libc.so.6", "--only", "abs,strftime,utimes",
                          "--json", home=home)
        assert done.returncode == DONE, done.stderr
        shutil.rmtree(home / "c")
        summary = json.loads(done.stdout)
        return {*summary["tools"], *(one["name"] for one in summary["not_offered"])}

    for header in ("own.h", "./own.h", "link.h", f"../{home.name}/own.h"):
        assert tools(header) == {"abs"}
    for headers in (("sys/time.h", "time.h"), ("time.h", "sys/time.h")):
        assert tools(*headers) == {"strftime", "utimes"}


@pytest.mark.parametrize("header, words", [
    ("int abs(int x); /* no end", "own.h:1:17: error: unterminated comment"),
    ('#include "/dev/zero"\n', "out of memory"),
    ("struct s { struct s x; };\nint abs(struct s *x);", "no function of the header can be a tool"),
    ("int f\u009b31m(void);", "no function of the header can be a tool"),
])
def test_a_bad_header_has_its_reason_and_leaves_nothing(home, header, words):
    home.mkdir()
    (home / "own.h").write_text(header)
    done = toolboxctl("new", "c", "--from-header", "own.h", "--library", "libc.so.6", "--why", home=home)
    assert done.returncode == ERROR and words in done.stderr, done.stderr
    assert "\u009b" not in done.stdout and not (home / "c").exists()


def has_no_reader(fifo):
    try:
        fifo.write(b"x")
    except BrokenPipeError:
        return True
    return False


def test_a_signal_ends_the_compiler_too_and_leaves_nothing(home):
    """Nobody writes to the FIFO: the compiler waits for ever."""
    home.mkdir()
    os.mkfifo(home / "fifo.h")
    (home / "own.h").write_text("int abs(int x);\n")
    # The second run, which checks, is the one that waits.
    (home / "cc").write_text('case $* in *-E*) exec cc "$@";; esac; cat fifo.h\n')
    new = subprocess.Popen([TOOLBOXCTL, "new", "c", "--from-header", "own.h", "--library", "libc.so.6"],
                           cwd=home, env=environment(home, CC="sh ./cc"), stderr=subprocess.PIPE)
    with open(home / "fifo.h", "wb", buffering=0) as fifo:  # opened once cat has opened it
        new.send_signal(signal.SIGINT)
        assert new.wait(EVENT_SECONDS) == -signal.SIGINT
        until(lambda: has_no_reader(fifo), EVENT_SECONDS, "the compiler gone")
    assert not (home / "c").exists()


def test_a_function_of_a_handle_becomes_a_tool_of_steps(home):
    """fgetc() wants a FILE: fopen() makes it, fclose() ends it, and neither is asked for."""
    home.mkdir()
    done = toolboxctl("new", "c", "--from-header", "stdio.h", "--library", "libc.so.6", "--only", "fgetc",
                      "--risk", "read", home=home)
    assert done.returncode == DONE, done.stderr
    steps = json.loads((home / "c/c.json").read_text())["tools"][0]["native"]["steps"]
    assert [step["call"] for step in steps] == ["fopen", "fgetc"] and steps[0]["finally"]["call"] == "fclose"
    done = toolboxctl("check", "c/c.json", "--header", "stdio.h", home=home)
    assert done.returncode == DONE, done.stderr
    called = [toolboxctl("invoke", "--file", "c/c.json", "fgetc", f"filename={file}", "modes=r", home=home)
              for file in ("/usr/share/zoneinfo/UTC", "/none")]
    assert json.loads(called[0].stdout) == {"result": ord("T")}, called[0].stderr
    assert "fopen returned NULL" in called[1].stderr


@pytest.mark.parametrize("flags, status, words", [
    (("--library", "libc.so.6", "--only", "qsort"), ERROR, "no function of the header can be a tool: --why lists"),
    (("--library", "libc.so.6", "--only", "none"), ERROR, "does --only name one?"),
    (("--library", "libabsent.so"), ERROR, "libabsent.so"),
    ((), USAGE, "--library is missing"),
    (("--library", "libc.so.6", "--risk", "some"), USAGE, "--risk must be read, write or execute"),
    (("--library", "libc.so.6", "--kind", "plugin"), USAGE, "are for --kind native"),
    (("--library", "libc.so.6", "--pkg", "no-such-package"), ERROR, "no-such-package"),
])
def test_a_header_without_a_tool_leaves_nothing(home, flags, status, words):
    home.mkdir()
    done = toolboxctl("new", "c", "--from-header", "stdlib.h", *flags, home=home)
    assert done.returncode == status and words in done.stderr, done.stderr
    assert not (home / "c").exists()
