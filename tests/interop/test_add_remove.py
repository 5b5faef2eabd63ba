# SPDX-License-Identifier: Apache-2.0
"""`toolboxctl add` and `remove`: registrations of the user, from a file, a folder or stdin."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import manifests
import pytest
from caller import Caller
from processes import BUILD, EVENT_SECONDS, TOOLBOXCTL, environment, free_port, toolboxctl


def command(name="say", **more):
    return {"name": name, "description": "Says a word.", "risk": "read",
            "command": {"argv": ["/bin/echo", "{word}"]},
            "argument_schema": {"type": "object", "properties": {"word": {"type": "string"}},
                                "required": ["word"]}, **more}


def manifest(*tools, **more):
    return {"kind": "command", "tools": list(tools) or [command()], **more}


class Place:
    """A service that looks in the folder of the user who types, and files to add."""

    def __init__(self, service, files):
        self.home, self.url, self.files = service.daemon.home, service.url, files
        self.folder = self.home / "data" / "toolboxd" / "toolbox.d"
        self.state = self.home / "state" / "toolboxd" / "added.json"

    def file(self, name, content):
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run(self, *words, **more):
        return toolboxctl(*words, **{"bus": self.url, "home": self.home, **more})

    def tools(self):
        with Caller(self.url) as caller:
            return [f"{tool['toolbox_id']}/{tool['name']}" for tool in caller.call("ovos.tools.list")["tools"]]

    def there(self):
        """The names in the folder: nothing of ours may be left beside the registrations."""
        return sorted(os.listdir(self.folder)) if self.folder.exists() else []


@pytest.fixture
def place(launch, tmp_path):
    folder = tmp_path / "home-0" / "toolboxd" / "data" / "toolboxd" / "toolbox.d"
    return Place(launch({}, [folder]), tmp_path / "files")


def test_a_file_is_offered_at_once_and_removed_again(place):
    done = place.run("add", place.file("words.json", manifest()))
    assert (done.returncode, done.stdout, done.stderr) == (0, "words: 1 tool: say\n", ""), done
    assert place.there() == ["words.json"]
    assert json.loads(place.state.read_text()) == [str(place.folder / "words.json")]
    with Caller(place.url) as caller:
        assert caller.invoke("say", {"word": "hello"})["result"] == {"output": "hello"}
    done = place.run("remove", "words")
    assert done.returncode == 0 and done.stdout == f"{place.folder}/words.json is removed\n", done
    assert (place.there(), place.tools(), json.loads(place.state.read_text())) == ([], [], [])


def test_a_file_is_named_by_its_toolbox_id(place):
    done = place.run("add", place.file("manifest.json", manifest(toolbox_id="words")))
    assert done.returncode == 0 and place.there() == ["words.json"], done
    assert place.run("remove", "words").returncode == 0


def test_a_manifest_comes_from_stdin(place):
    done = place.run("add", "-", stdin=json.dumps(manifest(toolbox_id="words")))
    assert (done.returncode, done.stdout) == (0, "words: 1 tool: say\n"), done
    assert place.there() == ["words.json"]


@pytest.mark.parametrize("text", [json.dumps(manifest()), "[]", "{", "", '{"toolbox_id": "../up"}', '{"toolbox_id": 1}'])
def test_a_manifest_on_stdin_needs_an_id(place, text):
    done = place.run("add", "-", stdin=text)
    assert done.returncode == 2 and 'with a "toolbox_id"' in done.stderr, done
    assert place.there() == []


def test_a_list_of_shell_lines_is_added(place):
    done = place.run("add", place.file("lines.json", [{"name": "now", "description": "Now.", "command": "date"}]))
    assert done.returncode == 0 and done.stdout == "lines: 1 tool: now\n", done


def test_a_folder_of_programs_is_copied_whole(place):
    program = place.file("home/hello.sh", "#!/bin/sh\n# description: Greets.\n# risk: read\n. ./_helpers/words\necho $HELLO\n")
    program.chmod(0o755)
    place.file("home/_helpers/words", "HELLO=hello\n")
    place.file("home/.git/config", "not copied")
    (place.files / "home" / "link").symlink_to("_helpers/words")
    done = place.run("add", place.files / "home")
    assert done.returncode == 0 and done.stdout == "home: 1 tool: hello\n", done
    copied = sorted(str(path.relative_to(place.folder)) for path in place.folder.rglob("*") if path.is_file())
    assert copied == ["home/_helpers/words", "home/hello.sh", "home/link"]
    assert not (place.folder / "home" / "link").is_symlink()
    shutil.rmtree(place.files)
    with Caller(place.url) as caller:
        assert caller.invoke("hello")["result"] == {"output": "hello"}
    assert place.run("remove", "home").returncode == 0 and place.there() == []


def test_a_pipe_in_a_folder_is_named(place):
    place.file("home/hello.sh", "#!/bin/sh\n").chmod(0o755)
    os.mkfifo(place.files / "home" / "pipe")
    done = place.run("add", place.files / "home")
    assert done.returncode == 2 and f"{place.files}/home/pipe cannot be copied" in done.stderr, done
    assert place.there() == []


def test_all_files_are_added_or_none(place):
    good, bad = place.file("good.json", manifest()), place.file("bad.json", manifest(command(risk="high")))
    place.file("good2.json", manifest())
    assert place.run("add", place.files / "good2.json").returncode == 0
    done = place.run("add", good, bad, place.files / "good2.json")
    assert done.returncode == 1 and f"error {bad}:1 /tools/0/risk" in done.stderr, done
    assert "nothing was added" in done.stderr and ".add-" not in done.stderr, done
    assert (place.there(), place.tools()) == (["good2.json"], ["good2/say"])
    assert json.loads(place.state.read_text()) == [str(place.folder / "good2.json")]


def test_two_files_of_one_id_are_refused(place):
    one, other = place.file("a/words.json", manifest()), place.file("b/words.json", manifest())
    done = place.run("add", one, other)
    assert done.returncode == 2 and f"{one} and {other} would both be words.json" in done.stderr, done


def test_only_what_add_has_put_there_is_replaced(place):
    place.folder.mkdir(parents=True)
    own = place.folder / "own.json"
    own.write_text(json.dumps(manifest(command("mine"))))
    done = place.run("add", place.file("own.json", manifest()))
    assert done.returncode == 1 and f"{own} is there, and `toolboxctl add` has not put it there" in done.stderr, done
    assert place.there() == ["own.json"] and "mine" in own.read_text()
    done = place.run("remove", "own")
    assert done.returncode == 1 and f"has put no 'own' into {place.folder}" in done.stderr and own.exists(), done


def test_what_add_has_put_there_is_replaced(place):
    assert place.run("add", place.file("words.json", manifest())).returncode == 0
    done = place.run("add", place.file("words.json", manifest(command("tell"))))
    assert (done.returncode, done.stdout) == (0, "words: 1 tool: tell\n"), done
    assert place.there() == ["words.json"] and place.tools() == ["words/tell"]


def test_a_folder_takes_the_place_of_the_file_of_its_id(place):
    assert place.run("add", place.file("home.json", manifest())).returncode == 0
    place.file("home/hello.sh", "#!/bin/sh\necho hello\n").chmod(0o755)
    done = place.run("add", place.files / "home")
    assert (done.returncode, done.stdout) == (0, "home: 1 tool: hello\n"), done
    assert place.there() == ["home"] and place.tools() == ["home/hello"]
    assert json.loads(place.state.read_text()) == [str(place.folder / "home")]


def test_a_file_names_nothing_that_is_not_copied_with_it(place):
    """The library is beside the manifest, and only the manifest would come along."""
    place.file("libwords.so", "no library")
    for library in ("./libwords.so", "libwords.so"):
        place.file("words.json", {"kind": "native", "library": library, "tools": [manifests.labs()]})
        done = place.run("add", place.files / "words.json")
        assert done.returncode == 1 and "a file is copied alone" in done.stderr, done
        assert ".add-" not in done.stderr and place.there() == []


def test_a_registration_that_the_service_refuses_is_told(launch, tmp_path):
    """The id is taken in a folder below, under another name of the file."""
    below, folder = tmp_path / "below", tmp_path / "home-0" / "toolboxd" / "data" / "toolboxd" / "toolbox.d"
    manifests.toolbox(below, "a", [manifests.labs()], toolbox_id="words")
    place = Place(launch({}, [below, folder]), tmp_path / "files")
    done = place.run("add", place.file("words.json", manifest()))
    assert done.returncode == 1 and f"the toolbox id 'words' is taken by {below}/a.json" in done.stderr, done


def test_what_is_left_after_a_removal_is_told(launch, tmp_path):
    below, folder = tmp_path / "below", tmp_path / "home-0" / "toolboxd" / "data" / "toolboxd" / "toolbox.d"
    manifests.toolbox(below, "words", [manifests.labs()])
    place = Place(launch({}, [below, folder]), tmp_path / "files")
    assert place.run("add", place.file("words.json", manifest())).returncode == 0
    done = place.run("remove", "words")
    assert done.returncode == 0 and f"words is offered from {below}/words.json now" in done.stderr, done
    assert place.tools() == ["words/absolute"]


def test_an_unknown_id_names_those_that_were_added(place):
    assert place.run("add", place.file("words.json", manifest())).returncode == 0
    done = place.run("remove", "word")
    assert done.returncode == 1 and "has put no 'word' into" in done.stderr and done.stderr.endswith("there: words\n"), done
    assert place.run("remove", "../words").returncode == 2


def test_a_registration_that_is_gone_is_forgotten(place):
    assert place.run("add", place.file("words.json", manifest())).returncode == 0
    (place.folder / "words.json").unlink()
    assert place.run("remove", "words").returncode == 0
    assert json.loads(place.state.read_text()) == []


def test_without_a_daemon_it_is_put_there_and_told(tmp_path):
    home = tmp_path / "home"
    path = tmp_path / "words.json"
    path.write_text(json.dumps(manifest()))
    bus = f"ws://127.0.0.1:{free_port()}/core"
    done = toolboxctl("add", path, bus=bus, home=home)
    folder = home / "data" / "toolboxd" / "toolbox.d"
    assert done.returncode == 3 and f"it is in {folder}, and will be offered once a service runs" in done.stderr, done
    assert os.listdir(folder) == ["words.json"]
    assert toolboxctl("remove", "words", bus=bus, home=home).returncode == 3
    assert os.listdir(folder) == []


def test_a_service_that_does_not_look_there_is_told(launch, tmp_path):
    place = Place(launch({}, [tmp_path / "elsewhere"]), tmp_path / "files")
    done = place.run("add", place.file("words.json", manifest()))
    assert done.returncode == 1 and f"the service does not look in {place.folder}" in done.stderr, done
    assert "toolbox_dirs" in done.stderr and "/etc/toolboxd/toolbox.d" in done.stderr
    assert place.there() == ["words.json"]


def test_a_toolbox_that_is_disabled_is_not_offered(launch, tmp_path):
    folder = tmp_path / "home-0" / "toolboxd" / "data" / "toolboxd" / "toolbox.d"
    place = Place(launch({"toolboxes": {"words": {"enabled": False}}}, [folder]), tmp_path / "files")
    done = place.run("add", place.file("words.json", manifest()))
    assert (done.returncode, done.stdout) == (0, "words: 0 tools\n"), done


def test_a_record_that_cannot_be_read_stops_both(place):
    place.state.parent.mkdir(parents=True, exist_ok=True)
    place.state.write_text("{}")
    for words in (("add", place.file("words.json", manifest())), ("remove", "words")):
        done = place.run(*words)
        assert done.returncode == 1 and f"{place.state} must be an array of paths" in done.stderr, done
    assert place.there() == []


@pytest.mark.parametrize("name, words", [
    ("words.txt", "must be a manifest NAME.json, or a folder"),
    ("_words.json", "the id '_words' must be"),
    ("two words.json", "the id 'two words' must be"),
    ("missing.json", "missing.json cannot be copied: No such file or directory"),
])
def test_a_file_that_is_no_registration_is_a_mistake_of_usage(place, name, words):
    if name != "missing.json":
        place.file(name, manifest())
    done = place.run("add", place.files / name)
    assert done.returncode == 2 and words in done.stderr, done
    assert place.there() == []


def test_json_prints_the_response_to_the_reload(place):
    done = place.run("add", place.file("words.json", manifest()), "--json")
    first, *rest = done.stdout.splitlines()
    assert done.returncode == 0 and json.loads(first)["loaded"] == ["words"] and not rest, done
    assert json.loads(place.run("remove", "words", "--json").stdout)["loaded"] == []


def test_a_folder_of_root_is_told_with_what_to_do():
    if os.geteuid() != 0:
        pytest.skip("only root can give another user a folder of root's")
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        home = top / "home"
        (home / "data" / "toolboxd").mkdir(parents=True)
        (home / "state").mkdir()
        os.chown(home / "state", 65534, 65534)
        for program in (TOOLBOXCTL, BUILD / "service" / "toolbox-host"):
            shutil.copy2(program, top)
        path = top / "words.json"
        path.write_text(json.dumps(manifest()))
        for words in (["add", path], ["remove", "words"]):
            if words[0] == "remove":
                folder = home / "data" / "toolboxd" / "toolbox.d"
                folder.mkdir()
                (folder / "words.json").write_text("{}")
                (home / "state" / "toolboxd" / "added.json").write_text(json.dumps([str(folder / "words.json")]))
                os.chown(home / "state" / "toolboxd" / "added.json", 65534, 65534)
            done = subprocess.run([top / TOOLBOXCTL.name, *words, "--bus", "ws://127.0.0.1:1/core"],
                                  env=environment(home), user=65534, group=65534, extra_groups=[],
                                  capture_output=True, text=True, timeout=EVENT_SECONDS, check=False)
            assert done.returncode == 1 and "belongs to root; type: sudo chown -R nobody" in done.stderr, done
            assert "/etc/toolboxd/toolbox.d" in done.stderr
        assert os.listdir(home / "data" / "toolboxd" / "toolbox.d") == ["words.json"]


def test_remove_completes_what_was_added(place):
    assert place.run("add", place.file("words.json", manifest()), place.file("other.json", manifest())).returncode == 0
    done = toolboxctl("complete", "--", "remove", "w", home=place.home)
    assert done.stdout == "words\n", done
