# SPDX-License-Identifier: Apache-2.0
"""The site of all pages: whole in itself; its pictures show the code, its recording what toolboxd prints."""
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from processes import BUILD, EVENT_SECONDS, ROOT

SITE = ROOT / "docs" / "site"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=EVENT_SECONDS).stdout


class Page(HTMLParser):
    """The ids of a page, the links to other pages, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads = path, set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name == "src" or name == "href" and tag == "link":
                self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    run(SITE / "make", folder)
    return {path.relative_to(folder): Page(path) for path in folder.rglob("*.html")}


def test_it_has_every_page(site):
    names = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {path.relative_to(ROOT).with_suffix(".html") for path in names} <= site.keys()
    assert {Path("man") / f"{path.stem}.html" for path in (ROOT / "man").glob("*.scd")} <= site.keys()
    assert Path("index.html") in site


def test_each_link_leads_somewhere(site):
    for page in site.values():
        for link in page.links:
            if re.match(r"\w+:", link):
                continue
            target, _, anchor = link.partition("#")
            there = page.path.parent / target if target else page.path
            assert there.exists(), (page.path, link)
            if anchor and not page.path.parent.name == "man":
                assert anchor in Page(there).ids, (page.path, link)


def test_it_loads_nothing_from_elsewhere(site):
    for page in site.values():
        for one in page.loads:
            assert not re.match(r"(\w+:)?//", one) and (page.path.parent / one).exists(), (page.path, one)
        assert "@import" not in page.path.read_text()


def test_drawings_are_pictures(site):
    for name, page in (("call", "docs/README.html"), ("layers", "docs/architecture.html")):
        text = site[Path(page)].path.read_text()
        assert "<svg" in text and f"picture-{name}" not in text


def test_the_picture_of_the_rooms_shows_includes():
    """Each arrow between two rooms is an include that there is."""
    text = re.sub(r"\[.*?\]", "", (SITE / "layers.dot").read_text())
    for line in re.findall(r"^\t(\w+(?: -> \w+)+)$", text, re.M):
        rooms = line.split(" -> ")
        for above, below in zip(rooms, rooms[1:]):
            if not (ROOT / "service" / above).is_dir():
                continue
            files = (ROOT / "service" / above).rglob("*.[ch]")
            assert any(f'#include "{below}/' in file.read_text() for file in files), (above, below)


def words(svg):
    return re.findall(r"<text.*?>(.*?)</text>", svg.read_text())


def test_the_recording_is_what_comes_today(tmp_path):
    run(SITE / "record", BUILD, tmp_path / "now.svg")
    assert words(tmp_path / "now.svg") == words(ROOT / "docs" / "terminal.svg")
