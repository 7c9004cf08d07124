from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from deniable.errors import InvalidRequest
from deniable_papers.page import REPORT, Folder, page, rendered
from deniable_papers.run import (
    DOCUMENTS,
    Made,
    Reproduction,
    SourceDocument,
    document,
    select,
)
from deniable_papers.values import Content, Point, Printed
from tests.support.reproduced import FEW, made


class Outline(HTMLParser):
    """Collects what a page is made of, and complains about tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href"):
                self.addresses.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def results() -> Reproduction:
    exhibits = document("binary").exhibits
    contents = made("binary")
    return Reproduction(
        tuple(Made(exhibit, contents[exhibit.name]) for exhibit in exhibits), FEW
    )


def test_the_page_is_whole_and_leads_nowhere_else(results: Reproduction) -> None:
    text = page(results, {"binary-figure-1.svg": b"<svg/>"})
    outline = Outline(text)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert {
        address[1:] for address in outline.addresses if address.startswith("#")
    } <= set(outline.ids)
    assert not {"script", "link", "iframe"} & set(outline.seen)
    assert not re.search(r"url\(|@import|https?:", text)


def test_the_page_shows_counts_values_and_commands(results: Reproduction) -> None:
    text = page(results, {})
    numbers, formulas = results.counts["number"], results.counts["formula"]
    assert f"<strong>{numbers['agrees']}</strong> printed numbers agree" in text
    assert (
        f"<strong>{numbers['the paper is wrong']}</strong> printed numbers are wrong"
        in text
    )
    assert (
        f"<strong>{formulas['agrees']}</strong> printed formulas and statements, tried at inputs of ours"
        in text
    )
    for each in results.made:
        assert f"<code>{each.exhibit.command}</code>" in re.sub("</?span>", "", text)
        for value in each.content.values:
            assert value.entry.id in text
    assert "the paper is wrong (erratum 2.2)" in text
    assert "without a comparison" not in text, "only a run of all papers can tell"


def test_what_is_flagged_uncovered_or_different_is_told() -> None:
    exhibit = document("binary").exhibits[0]
    wrong = Printed("002-x", "Eq.(<1>)", "a & b", {}, 1.0, 1.0).against(2.0)
    content = Content((wrong,), points=(Point("here", 1.0, 2.0, 0.1),))
    text = page(Reproduction((Made(exhibit, content),), FEW, whole=True), {})
    assert "1 flagged: here: 10.0 standard errors" in text
    assert '<td data-name="verdict" class="differs">differs</td>' in text
    assert "Eq.(&lt;1&gt;): a &amp; b" in text
    assert "Not compared: 000-eq27" in text


def drawn() -> Figure:
    figure = Figure(figsize=(2, 2))
    figure.add_subplot().plot([1, 2], [2, 1], label="a line")
    return figure


def test_pictures_and_page_are_written_once(tmp_path: Path) -> None:
    (exhibit,) = select("binary", [("figure", "2")])
    figure = Made(exhibit, Content(described="a line that falls", draw=drawn))
    folder = Folder(tmp_path / "new")
    folder.check([exhibit], report=True)
    folder.add(figure)
    folder.finish(Reproduction((figure,), FEW))
    assert [path.name for path in folder.paths] == [
        "binary-figure-2.png",
        "binary-figure-2.svg",
        REPORT,
    ]
    assert folder.paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in folder.paths[1].read_bytes()
    assert "data:image/svg+xml;base64," in folder.paths[2].read_text(
        encoding="utf-8"
    )
    with pytest.raises(InvalidRequest, match="exists already"):
        Folder(tmp_path / "new").check([exhibit], report=False)
    Folder(tmp_path / "new", overwrite=True).check([exhibit], report=True)


def test_the_same_picture_gives_the_same_bytes() -> None:
    assert rendered(drawn(), "svg") == rendered(drawn(), "svg")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_figure_can_be_drawn(document: SourceDocument) -> None:
    for content in made(document.name).values():
        if content.draw is not None:
            figure = content.draw()
            figure.draw_without_rendering()
            assert figure.axes
            assert all(axes.has_data() for axes in figure.axes)
