"""One page with everything: no script, no external resource, readable on a phone and on paper."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from deniable import __version__
from deniable.files.atomic import atomic_write, check_free
from deniable.rendering import html_page
from deniable_papers.run import DOCUMENTS, Made, Reproduction, SourceDocument
from deniable_papers.values import (
    Content,
    Exhibit,
    Form,
    Value,
    Verdict,
    as_printed,
    as_text,
    inputs,
    judged,
    simulated,
    what,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_CLASSES = {
    "agrees": "agrees",
    "holds with a condition": "holds",
    "the paper is wrong": "wrong",
    "differs": "differs",
}
_FORMS: Mapping[Form, str] = {
    "number": "printed numbers",
    "formula": "printed formulas and statements, tried at inputs of ours",
}


def page(results: Reproduction, pictures: Mapping[str, bytes]) -> str:
    """Return the page.

    Args:
        results: what was made.
        pictures: SVG by the name of its file.
    """
    style = files("deniable_papers").joinpath("page.css").read_text(encoding="utf-8")
    parts = "\n".join(
        _document(each, results, pictures)
        for each in DOCUMENTS
        if _of(each, results)
    )
    body = f"""<header>
<h1>Five papers, reproduced</h1>
<p>Every table, example and figure again, made by deniable {escape(__version__)}: what is printed, what the library
says, and whether they agree. An erratum's number leads to <code>docs/errata.md</code>.</p>
{_counts(results)}
{_contents(results)}
</header>
<main>
{parts}
</main>"""
    return html_page("Five papers, reproduced with deniable", style, body)


def _counts(results: Reproduction) -> str:
    cards = [
        (_CLASSES[verdict], count, _told(form, verdict))
        for form, counts in results.counts.items()
        for verdict, count in counts.items()
        if count or verdict == "agrees"
    ]
    if results.whole:
        cards.append(
            (
                "uncovered",
                len(results.uncovered),
                "printed values without a comparison",
            )
        )
    cards.append(
        (
            "points",
            len(results.points),
            f"simulated points, {len(results.flagged)} flagged",
        )
    )
    items = "".join(
        f'<li class="{kind}"><strong>{number:,}</strong> {escape(what)}</li>'
        for kind, number, what in cards
    )
    note = (
        f"<p>A point is the mean of {results.repetitions:,} simulated surveys, drawn in law. It is flagged if it is "
        "more than 4 standard errors from its theory, which chance does to about one in 16,000.</p>"
    )
    missing = (
        f"<p>Not compared: {escape(', '.join(results.uncovered))}</p>"
        if results.uncovered
        else ""
    )
    return f'<ul class="counts">{items}</ul>\n{note}{missing}'


def _told(form: Form, verdict: Verdict) -> str:
    return {
        "agrees": f"{_FORMS[form]} agree",
        "holds with a condition": f"{_FORMS[form]} hold with a condition, which is said",
        "the paper is wrong": f"{_FORMS[form]} are wrong, each with its erratum and a counterexample",
        "differs": f"{_FORMS[form]} differ without a reason",
    }[verdict]


def _contents(results: Reproduction) -> str:
    items = []
    for document in DOCUMENTS:
        made = _of(document, results)
        if made:
            links = ", ".join(
                f'<a href="#{each.exhibit.name}">{each.exhibit.kind} {escape(each.exhibit.number)}</a>'
                for each in made
            )
            items.append(
                f'<li><a href="#{document.name}">{escape(document.title)}</a>: {links}</li>'
            )
    return f'<nav aria-label="Contents"><ul>{"".join(items)}</ul></nav>'


def _of(document: SourceDocument, results: Reproduction) -> list[Made]:
    return [made for made in results.made if made.exhibit.document == document.name]


def _document(
    document: SourceDocument, results: Reproduction, pictures: Mapping[str, bytes]
) -> str:
    parts = "\n".join(_exhibit(made, pictures) for made in _of(document, results))
    return f'<section id="{document.name}">\n<h2>{escape(document.title)}</h2>\n{parts}\n</section>'


def _exhibit(made: Made, pictures: Mapping[str, bytes]) -> str:
    exhibit, content = made.exhibit, made.content
    head = f"{exhibit.kind.capitalize()} {exhibit.number}: {exhibit.title}"
    body = "\n".join(part for part in _parts(made, pictures) if part)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in content.notes)
    # none breaks at its hyphens
    words = " ".join(
        f"<span>{escape(word)}</span>" for word in exhibit.command.split()
    )
    command = f'<p class="command"><code>{words}</code></p>'
    return f'<article id="{exhibit.name}">\n<h3>{escape(head)}</h3>\n{body}\n{notes}\n{command}\n</article>'


def _parts(made: Made, pictures: Mapping[str, bytes]) -> Iterator[str]:
    content = made.content
    if content.described:
        yield f"<p>In the paper: {escape(content.described)}</p>"
    picture = pictures.get(f"{made.exhibit.name}.svg")
    if picture:
        data = base64.b64encode(picture).decode()
        yield (
            f'<figure tabindex="0" aria-label="{escape(made.exhibit.title)}">'
            f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(content.described)}"></figure>'
        )
    if content.points:
        yield f"<p>{escape(simulated(content))}</p>"
    laid_out = [
        value for row in content.rows for value in row if isinstance(value, Value)
    ]
    if content.rows:
        yield _table(
            "As in the paper" if laid_out else "Ours", content.columns, content.rows
        )
    if content.values:
        yield _values(content)


def _values(content: Content) -> str:
    rows = (
        (what(value), inputs(value), as_printed(value), as_text(value.ours), value)
        for value in content.values
    )
    cells = "\n".join(
        f'<tr><th scope="row">{escape(name)} <small>{value.entry.id}</small></th><td data-name="at">{escape(at)}</td>'
        f'<td data-name="printed">{escape(printed)}</td><td data-name="ours">{escape(ours)}</td>'
        f'<td data-name="verdict" class="{_CLASSES[value.verdict]}">{escape(judged(value))}</td></tr>'
        for name, at, printed, ours, value in rows
    )
    table = _framed(
        "Printed against ours",
        ("what", "at", "printed", "ours", "verdict"),
        cells,
        "values",
    )
    many = len(content.values)
    return (
        table
        if many <= _LONG
        else f"<details><summary>All {many} values, one by one</summary>{table}</details>"
    )


_LONG = 16  # values from which on their list is folded


def _table(
    caption: str, columns: Iterable[str], rows: Iterable[Iterable[object]]
) -> str:
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return _framed(caption, columns, body)


def _cell(cell: object) -> str:
    if not isinstance(cell, Value):
        return f"<td>{escape(as_text(cell))}</td>"
    kind = _CLASSES[cell.verdict]
    printed = (
        ""
        if kind == "agrees"
        else f" <small>printed: {escape(as_printed(cell))}; {escape(judged(cell))}</small>"
    )
    return f'<td class="{kind}">{escape(as_text(cell))}{printed}</td>'


def _framed(
    caption: str, columns: Iterable[str], body: str, kind: str = "grid"
) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    return (
        f'<div class="wide" role="group" aria-label="{escape(caption)}" tabindex="0"><table class="{kind}">\n'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


REPORT = "report.html"
_ENDINGS = ("png", "svg")


@dataclass
class Folder:
    """Where pictures and the page go. Each file appears when it is complete.

    Attributes:
        path: the folder; it is made when there is something to write.
        overwrite: whether files that exist may be overwritten.
        paths: what was written.
    """

    path: Path
    overwrite: bool = False
    paths: list[Path] = field(default_factory=list)
    _drawn: dict[str, bytes] = field(default_factory=dict)

    def check(self, exhibits: Iterable[Exhibit], *, report: bool) -> None:
        """Refuse early, before any work is done, to write where a file is.

        Raises:
            InvalidRequest: there is one, and it may not be overwritten.
        """
        names = [name for exhibit in exhibits for name in _pictures(exhibit)]
        for name in (*names, REPORT) if report else names:
            check_free(self.path / name, overwrite=self.overwrite)

    def add(self, made: Made) -> None:
        """Draw the picture of an exhibit, if it has one, and write it in both formats."""
        if made.content.draw is None:
            return
        figure = made.content.draw()
        for name in _pictures(made.exhibit):
            self._drawn[name] = rendered(figure, name.rpartition(".")[2])
            self._write(name, self._drawn[name])

    def finish(self, results: Reproduction) -> None:
        """Write the page."""
        self._write(REPORT, page(results, self._drawn).encode())

    def _write(self, name: str, content: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path / name, overwrite=self.overwrite) as file:
            file.write(content)
        self.paths.append(self.path / name)


def rendered(figure: Figure, ending: str) -> bytes:
    """Return a picture as PNG or SVG; the same picture gives the same bytes."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    # By default an SVG holds the time it was made at, and names its parts at random.
    with rc_context({"svg.hashsalt": "deniable"}):
        figure.savefig(
            buffer,
            format=ending,
            dpi=150,
            metadata={"Date": None} if ending == "svg" else None,
        )
    return buffer.getvalue()


def _pictures(exhibit: Exhibit) -> tuple[str, ...]:
    """Return the names of an exhibit's pictures; only figures have one."""
    return (
        tuple(f"{exhibit.name}.{ending}" for ending in _ENDINGS)
        if exhibit.kind == "figure"
        else ()
    )
