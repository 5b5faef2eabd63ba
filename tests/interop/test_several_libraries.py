# SPDX-License-Identifier: Apache-2.0
"""A native toolbox over several libraries: which of them has a function, and what is noticed of each."""
import json

import manifests
import pytest
from caller import Caller
from processes import EVENT_SECONDS, build_library, toolboxctl, until

DONE, ERROR = 0, 1


def first(folder, number=1):
    return build_library(folder / "libfirst.so",
                         f"long first(void) {{ return {number}; }}\nlong both(void) {{ return 1; }}\n")


def second(folder, number=2):
    """It has a labs() of its own, as libc has one."""
    return build_library(folder / "libsecond.so",
                         f"long second(void) {{ return {number}; }}\nlong both(void) {{ return 2; }}\n"
                         "long labs(long value) { return value * 100; }\n", "-fno-builtin")


def number(name):
    return manifests.tool(name, name, [], description="A number.")


def several(folder, *libraries, tools=("first", "second")):
    path = folder / "box.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"kind": "native", "libraries": list(libraries), "risk": "read",
                                "tools": [number(name) for name in tools] + [manifests.labs()]}))
    return path


@pytest.fixture
def ctl_alone(tmp_path):
    return lambda *args, **more: toolboxctl(*args, home=tmp_path / "ctl", **more)


@pytest.fixture
def box(tmp_path):
    folder = tmp_path / "box"
    first(folder)
    second(folder)
    return folder


def result(caller, name, arguments=None):
    return caller.invoke(name, arguments or {})["result"]["result"]


def test_a_function_is_that_of_the_first_library_that_has_it(launch, box):
    several(box, "libfirst.so", "./libsecond.so", tools=["first", "second", "both", "getpid"])
    with Caller(launch({}, [box]).url) as caller:
        assert [result(caller, name) for name in ("first", "second", "both")] == [1, 2, 1]
        assert result(caller, "getpid") > 1, "libc comes last"
        assert result(caller, "absolute", {"value": 5}) == 500, "a library itself comes before libc"


def test_the_order_decides(launch, box):
    several(box, "libsecond.so", "libfirst.so", tools=["both"])
    with Caller(launch({}, [box]).url) as caller:
        assert result(caller, "both") == 2


@pytest.mark.parametrize("install, name", [(first, "first"), (second, "second")])
def test_each_library_that_is_replaced_is_taken_over(launch, box, install, name):
    several(box, "libfirst.so", "libsecond.so")
    with Caller(launch({}, [box]).url) as caller:
        assert result(caller, name) == {"first": 1, "second": 2}[name]
        install(box, 77)
        until(lambda: result(caller, name) == 77, EVENT_SECONDS, "the new code")


@pytest.mark.parametrize("replaced", ["libfirst.so", "libsecond.so"])
def test_each_library_that_is_a_link_is_watched_where_it_leads(launch, box, tmp_path, replaced):
    install = {"libfirst.so": first, "libsecond.so": second}[replaced]
    name = replaced[3:-3]
    install(tmp_path / "elsewhere", 5)
    (box / replaced).unlink()
    (box / replaced).symlink_to(f"../elsewhere/{replaced}")
    several(box, "libfirst.so", "libsecond.so")
    with Caller(launch({}, [box]).url) as caller:
        assert result(caller, name) == 5
        install(tmp_path / "elsewhere", 6)
        until(lambda: result(caller, name) == 6, EVENT_SECONDS, "the new code behind the link")


def test_no_host_runs_another_file_than_the_one_of_the_definition(launch, box):
    """Its libraries are swapped between the load and the first call: the host has the copies."""
    several(box, "libfirst.so", "libsecond.so")
    with Caller(launch({}, [box]).url) as caller:
        (box / "libfirst.so").write_bytes(b"no library any more")
        (box / "libsecond.so").unlink()
        assert result(caller, "second") == 2


def test_tools_change_when_the_second_library_does(launch, box):
    several(box, "libfirst.so", "libsecond.so")
    service = launch({}, [box])
    with Caller(service.url) as caller:
        assert result(caller, "second") == 2
        second(box, 3)
        until(lambda: "box changed" in service.daemon.log(), EVENT_SECONDS, "the line about the change")


def test_the_sandbox_lets_each_library_find_its_neighbours(launch, box):
    """By $ORIGIN: no copy of the library finds them, so the file itself is loaded, in the strictest class."""
    build_library(box / "far/libbelow.so", "long below(void) { return 9; }\n")
    build_library(box / "far/libabove.so", "long below(void);\nlong above(void) { return below(); }\n",
                  "-L", box / "far", "-lbelow", "-Wl,-rpath,$ORIGIN")
    several(box, "libfirst.so", "./far/libabove.so", tools=["first", "above"])
    with Caller(launch({}, [box]).url) as caller:
        assert [result(caller, name) for name in ("first", "above")] == [1, 9]


def test_check_has_a_word_for_each_library(ctl_alone, box):
    path = several(box, "libfirst.so", "libm.so.6", "libsecond.so")
    done = ctl_alone("check", path)
    assert done.returncode == DONE, done.stderr
    assert done.stdout.startswith("box: native, 3 tools, sandbox compute"), done.stdout
    assert ", library sealed, library loaded by its name, library sealed\n" in done.stdout
    assert json.loads(ctl_alone("check", path, "--json").stdout)["toolboxes"][0]["sealed"] is False
    several(box, "libfirst.so", "libsecond.so")
    assert json.loads(ctl_alone("check", path, "--json").stdout)["toolboxes"][0]["sealed"] is True


def test_check_names_the_library_that_is_missing(ctl_alone, box):
    path = several(box, "libfirst.so", "./libthird.so")
    done = ctl_alone("check", path)
    assert done.returncode == ERROR
    assert "/libraries/1: cannot load the library: " in done.stderr and "libthird.so: cannot open" in done.stderr
    path = several(box, "libfirst.so", "libsecond.so", tools=["third"])
    done = ctl_alone("check", path)
    assert "/tools/0/native/symbol: the libraries have no function 'third': nm -D --defined-only " in done.stderr


def test_check_names_the_place_of_a_list_of_one(ctl_alone, box):
    path = several(box, "./libthird.so", tools=[])
    path.write_text(path.read_text().replace('"libraries"', '\n"libraries"'))
    done = ctl_alone("check", str(path))
    assert done.returncode == ERROR
    assert f"{path}:2 /libraries/0: " in done.stderr and "libthird.so" in done.stderr


def test_list_why_names_the_library_that_is_missing(ctl_alone, box):
    several(box, "libfirst.so", "./libthird.so")
    done = ctl_alone("list", "--offline", "--why", "--toolbox-dir", str(box))
    assert "libthird.so" in done.stdout + done.stderr


def test_check_holds_it_against_the_headers_of_all(ctl_alone, box):
    (box / "both.h").write_text("long first(void);\nint second(void);\nlong labs(long);\n")
    path = several(box, "libfirst.so", "libsecond.so")
    done = ctl_alone("check", "--header", str(box / "both.h"), str(path))
    assert done.returncode == ERROR
    assert f"/tools/1/native/returns/type: 'i64', but {box / 'both.h'}:2 has 'int' (i32): int second(void)" in done.stderr
    assert "first(void)" not in done.stderr


def test_new_takes_functions_of_several_libraries(ctl_alone, box, tmp_path):
    (box / "both.h").write_text("long first(void);\nlong second(void);\nlong nowhere(void);\n")
    done = ctl_alone("new", "made", "--from-header", str(box / "both.h"), "--library",
                     f"{box / 'libfirst.so'},{box / 'libsecond.so'}")
    assert done.returncode == DONE, done.stderr
    made = json.loads((tmp_path / "ctl/made/made.json").read_text())
    assert made["libraries"] == [str(box / "libfirst.so"), str(box / "libsecond.so")] and "library" not in made
    assert [tool["name"] for tool in made["tools"]] == ["first", "second"]
    assert ctl_alone("check", "made/made.json").returncode == DONE


@pytest.mark.parametrize("libraries, words", [
    ("", "a library in the list of libraries has no name"), (",", "a library in the list of libraries has no name"),
    ("{0},", "a library in the list of libraries has no name"), ("{0},{1}", "{1} is in the list of libraries twice")],
    ids=["nothing", "a-comma", "a-comma-at-the-end", "twice"])
def test_new_refuses_a_list_of_libraries(ctl_alone, box, libraries, words):
    names = box / "libfirst.so", box / "../box/libfirst.so"
    (box / "first.h").write_text("long first(void);\n")
    done = ctl_alone("new", "made", "--from-header", str(box / "first.h"), "--library", libraries.format(*names))
    assert done.returncode == 2
    assert words.format(*names) in done.stderr
