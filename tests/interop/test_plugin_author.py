# SPDX-License-Identifier: Apache-2.0
"""What an author of a plugin has: a header, a pkg-config file, a CMake package, an example to copy;
all of it from an installed prefix, which may have been moved."""
import os
import shutil
import subprocess

import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, ROOT, environment, toolboxctl

EXAMPLE = ROOT / "toolboxes" / "example_plugin"
LIBRARY = "libexample_plugin.so"


def run(*command, home, **env):
    env.setdefault("CMAKE_GENERATOR", "Ninja")  # which we need anyhow; make may not be there
    done = subprocess.run([str(part) for part in command], env=environment(home, **env), cwd=home,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=EVENT_SECONDS)
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The header's part of an installation, somewhere else than it was configured for."""
    home = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD / "service" / "include", "--prefix", home / "first", home=home)
    (home / "first").rename(home / "moved")
    return home / "moved"


@pytest.fixture
def example(tmp_path):
    """A copy of its folder, far from ours."""
    shutil.copytree(EXAMPLE, tmp_path / "copy")
    return tmp_path / "copy"


def pkg_config(prefix, *args, home):
    found = next(prefix.rglob("toolbox.pc")).parent
    return run("pkg-config", *args, "toolbox", home=home, PKG_CONFIG_PATH=str(found))


def try_it(launch, folder):
    done = toolboxctl("check", folder / "example_plugin.json", home=folder)
    assert done.returncode == 0 and "0 errors, 0 warnings" in done.stdout + done.stderr, done
    service = launch({"toolboxes": {"example_plugin": {"word_max": 3}}}, [folder])
    with Caller(service.url) as caller:
        assert caller.invoke("count_words", {"text": "one  three\ntwo"})["result"] == {
            "words": 3, "longest": "three"}
        assert caller.invoke("count_words", {"text": "a b c d"})["code"] == "tool_failed"
        assert caller.invoke("sum", {"numbers": [1, 2.5, -1]})["result"] == {"sum": 2.5}
        assert caller.invoke("shout", {"text": "héllo"})["result"] == {"text": "HéLLO"}
        assert caller.invoke("shout", {"text": "12"})["violations"] == [
            {"path": "/text", "message": "must hold a letter: there is nothing to shout"}]
        assert caller.call("ovos.tools.match", {"utterance": "shout it"})["name"] == "shout"


def test_the_example_builds_with_cmake(launch, prefix, example):
    run("cmake", "-S", example, "-B", example / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_C_FLAGS=-Werror", home=example)
    run("cmake", "--build", example / "build", home=example)
    try_it(launch, example / "build")
    run("cmake", "--install", example / "build", home=example)
    assert (prefix / "lib" / "toolboxd" / "toolbox.d" / LIBRARY).exists()


def test_the_example_builds_with_pkg_config(launch, prefix, example):
    flags = pkg_config(prefix, "--cflags", home=example).split()
    assert flags == [f"-I{prefix}/include"] or os.path.samefile(flags[0][2:], prefix / "include")
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, "-o",
        example / LIBRARY, example / "example_plugin.c", home=example)
    try_it(launch, example)
    assert pkg_config(prefix, "--variable=toolboxdir", home=example).endswith("toolbox.d")


SOURCE = """#include <toolbox.h>
static void answer(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_i64(call, "answer", 42);
	toolbox_reply(call);
}
static const struct toolbox_tool tools[] = {
	{"answer", "", NULL, NULL, TOOLBOX_READ, 0, 0, 0, NULL, NULL, answer, NULL, NULL, 0, NULL, NULL, NULL,
	 NULL, NULL, NULL}};
TOOLBOX_PLUGIN(tools, NULL, NULL);
"""


@pytest.mark.parametrize("compiler, standard, suffix", [
    ("gcc", "c99", "c"), ("clang", "c99", "c"), ("gcc", "c17", "c"),
    ("g++", "c++11", "cc"), ("clang++", "c++11", "cc"), ("g++", "c++20", "cc")])
def test_the_header_is_clean(prefix, tmp_path, compiler, standard, suffix):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / f"answer.{suffix}"
    source.write_text(SOURCE)
    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
        "-Werror", "-fvisibility=hidden", "-shared", "-fPIC", f"-I{prefix}/include", source, "-o",
        tmp_path / "libanswer.so", home=tmp_path)
    (tmp_path / "answer.json").write_text('{"kind": "plugin", "library": "libanswer.so"}')
    assert toolboxctl("check", tmp_path / "answer.json", home=tmp_path).returncode == 0


def test_the_manual_of_the_header_is_a_whole_plugin(prefix, tmp_path):
    """The first example of the head comment, as it stands there."""
    lines = (prefix / "include" / "toolbox.h").read_text().splitlines()
    first = lines.index(" *     #include <toolbox.h>")
    last = lines.index(" *     TOOLBOX_PLUGIN(tools, NULL, NULL);")
    source = "\n".join(line[7:] for line in lines[first:last + 1]) + "\n"
    (tmp_path / "greet.c").write_text(source)
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
        f"-I{prefix}/include", "-o", "libgreet.so", tmp_path / "greet.c", home=tmp_path)
    (tmp_path / "greet.json").write_text('{"kind": "plugin", "library": "libgreet.so"}')
    assert toolboxctl("check", tmp_path / "greet.json", home=tmp_path).returncode == 0
