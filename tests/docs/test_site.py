"""The site builds without a warning; every link leads somewhere; every page is near; nothing asks the network."""

from __future__ import annotations

import importlib.util
import os
import posixpath
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import pytest

import deniable
from tests.support import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_CLICKS = 3
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
OUTSIDE = ("http:", "https:", "mailto:")


class Read(HTMLParser):
    """What a page links, what it loads, and where it can be jumped to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(given.get("href", ""))


def hook(name: str) -> ModuleType:
    """A module of scripts/, which is no package."""
    found = importlib.util.spec_from_file_location(
        name, ROOT / "scripts" / f"{name}.py"
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


PAGES = hook("site_pages")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip(
        "mkdocstrings",
        reason="left out: the group docs is not installed (pip install --group docs)",
    )
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(folder),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "NO_MKDOCS_2_WARNING": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "WARNING" not in run.stdout + run.stderr
    return folder


@pytest.fixture(scope="module")
def read(site: Path) -> dict[str, Read]:
    """Every page of the site by its address."""
    found = {
        page.relative_to(site).as_posix(): Read(page.read_text(encoding="utf-8"))
        for page in site.rglob("*.html")
    }
    found.pop("404.html")
    return found


def target(page: str, link: str) -> tuple[str, str]:
    """The page and the anchor that a link leads to."""
    address, anchor = urldefrag(link)
    place = (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(address)))
        if address
        else page
    )
    return place, unquote(anchor)


def test_every_link_and_anchor_of_the_site_leads_somewhere(
    site: Path, read: dict[str, Read]
) -> None:
    assert len(read) > 100
    lost = []
    for page, content in read.items():
        for link in content.links:
            place, anchor = target(page, link)
            if link.startswith(OUTSIDE) or place == ".":
                continue
            if not (site / place).is_file() or (
                anchor and place in read and anchor not in read[place].anchors
            ):
                lost.append((page, link))
    assert lost == []


def distances(links: dict[str, set[str]], start: str) -> dict[str, int]:
    """How many clicks each page is away."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        page = waiting.popleft()
        for each in links[page] - set(found):
            found[each] = found[page] + 1
            waiting.append(each)
    return found


def test_every_page_is_few_clicks_away_from_the_start(read: dict[str, Read]) -> None:
    links = {
        page: {target(page, link)[0] for link in content.links} & set(read)
        for page, content in read.items()
    }
    found = distances(links, "index.html")
    assert sorted(set(read) - set(found)) == []
    assert {
        page: clicks for page, clicks in found.items() if clicks > MOST_CLICKS
    } == {}


def test_a_page_that_is_far_away_is_found() -> None:
    assert distances({"a": {"b"}, "b": {"c"}, "c": set(), "d": set()}, "a") == {
        "a": 0,
        "b": 1,
        "c": 2,
    }


def test_nothing_of_the_site_comes_from_elsewhere(
    site: Path, read: dict[str, Read]
) -> None:
    loads = [
        (page, each) for page, content in read.items() for each in content.loads
    ]
    assert len(loads) > 500
    assert [each for each in loads if each[1].startswith((*OUTSIDE, "//"))] == []
    for style in site.rglob("*.css"):
        assert not re.search(
            r"(url\(|@import)\s*[\"']?(https?:)?//",
            style.read_text(encoding="utf-8"),
        ), style
    for script in site.rglob("*.js"):
        if script.name != "search_index.js":
            hosts = re.findall(
                r"https?://([\w.-]+\.\w+)/", script.read_text(encoding="utf-8")
            )
            assert not {
                host
                for host in hosts
                if re.search(r"unpkg|cdn|googleapis|gstatic|jsdelivr", host)
            }, script


def listed(entries: object) -> list[str]:
    """The pages of a navigation, however deep."""
    if isinstance(entries, str):
        return [entries]
    if isinstance(entries, dict):
        return [page for each in entries.values() for page in listed(each)]
    assert isinstance(entries, list)
    return [page for each in entries for page in listed(each)]


def test_every_page_of_docs_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"^ +- (?:[^:#\n]+: )?(\S+\.md)\b", text, re.MULTILINE)
    assert len(named) == len(set(named)) > 60
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert written - set(named) == set(), (
        "put the page into the navigation of mkdocs.yml, where people look for it"
    )
    assert set(named) - written - set(PAGES.pages()) == set(), (
        "the navigation names a page that is not there"
    )


def test_every_public_name_is_in_the_reference(read: dict[str, Read]) -> None:
    text = PAGES.pages()["reference/python/index.md"]
    told = set(re.findall(r"\[`([\w.]+)`\]", text))
    namespaces = {
        name
        for name, home in deniable._EXPORTS.items()
        if home == f"deniable.{name}"
    }
    assert "plan" in namespaces
    assert set(deniable._EXPORTS) - namespaces - told == set()
    for namespace in namespaces:
        module = getattr(deniable, namespace)
        for name in getattr(module, "__all__", ()):
            assert any(
                each == f"{namespace}.{name}"
                or each.startswith(f"{namespace}.{name}.")
                for each in told
            ), name
    anchors = {
        anchor
        for page, content in read.items()
        if page.startswith("reference/python/")
        for anchor in content.anchors
    }
    homes = {home for names in PAGES.rooms().values() for _, home, _ in names}
    assert homes - anchors == set()
    assert len(homes) > 200


def test_every_command_and_option_is_in_the_reference() -> None:
    from deniable.cli.commands import COMMANDS

    pages = PAGES.pages()
    for name, command in PAGES.commands().items():
        text = pages[f"reference/shell/{name}.md"]
        for path, each in PAGES.walk(f"deniable {name}", command):
            assert f"{path} {{#" in text
            section = text.partition(f"{path} {{#")[2].partition("\n## ")[0]
            for param in each.params:
                if (
                    not getattr(param, "hidden", False)
                    and param.param_type_name == "option"
                    and param.name != "help"
                ):
                    assert any(option in section for option in param.opts), (
                        path,
                        param.name,
                    )
    assert all(
        f"({name}.md)" in pages["reference/shell/index.md"] for name in COMMANDS
    )


def slug(heading: str) -> str:
    """The anchor of a heading in a viewer of repositories, which the site is told to share."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(
        r"^```.*?^```",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    return {
        slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize(
    "page",
    sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]),
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_work_in_the_repository_too(page: Path) -> None:
    text = re.sub(
        r"^```.*?^```|^ {4}.*$|`[^`\n]*`",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    for link in LINK.findall(text):
        if not link.startswith(OUTSIDE):
            address, anchor = urldefrag(unquote(link))
            there = (page.parent / address).resolve() if address else page
            assert there.exists(), link
            # of a picture it says in which colours it is shown
            if there.suffix == ".md":
                assert not anchor or anchor in anchors(there), link


def test_every_first_question_has_a_short_answer_and_a_page_with_the_rest() -> None:
    listed, *answers = (
        (DOCS / "questions.md").read_text(encoding="utf-8").split("\n## ")
    )
    assert [answer.splitlines()[0] for answer in answers] == re.findall(
        r"^\| \[(.*?)\]", listed, re.MULTILINE
    )
    assert len(answers) == 15
    for answer in answers:
        assert re.search(r"→\s\[", answer), answer
        assert len(answer.partition("```")[0].split()) < 100, answer
    assert "(docs/questions.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(questions.md)" in (DOCS / "index.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    reason = browser.missing()
    if reason:
        pytest.skip(reason)
    with browser.browser() as started:
        yield started


SCREENS = [(375, "dark"), (1280, "light")]
SHOWN = [
    "index.html",
    "questions.html",
    "tutorials/survey-researcher.html",
    "reference/python/verbs.html",
    "reference/shell/tally.html",
]


@pytest.mark.parametrize("page", SHOWN)
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_everybody_can_read_it_and_it_asks_nobody(
    chromium: Browser, site: Path, page: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )  # type: ignore[arg-type]
    try:
        shown = context.new_page()
        asked: list[str] = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto((site / page).as_uri())
        shown.wait_for_timeout(200)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert [
            url for url in asked if not url.startswith(("file:", "data:", "about:"))
        ] == []
        assert [each["id"] for each in Axe().run(shown).response["violations"]] == []
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_search_works_from_the_disk_and_without_a_network(
    chromium: Browser, site: Path, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme
    )  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.locator("input.md-search__input").press_sequentially("how many people")
        page.wait_for_selector(".md-search-result__item", timeout=10_000)
        found = page.locator(".md-search-result__link").first.get_attribute("href")
        assert found is not None
        assert "planning.html" in " ".join(
            each.get_attribute("href") or ""
            for each in page.locator(".md-search-result__link").all()
        )
        page.wait_for_timeout(500)
        assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    finally:
        context.close()
