"""Results as files and as tables for notebooks: the ending of a file's name says which."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path

from deniable.errors import InvalidRequest
from deniable.estimates.charts import ACCENT, MOST_BARS, PALE, largest
from deniable.estimates.results import Result, Row, Summary
from deniable.files.spreadsheets import safe_cell

_WIDTH, _HEIGHT = 160, 14  # of the small picture beside a number, in pixels
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "…": r"\dots{}", "ε": r"$\varepsilon$", "—": "---",
    "−": "$-$",
}  # fmt: skip
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;color:CanvasText;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}caption{text-align:left;font-weight:600;padding-bottom:.5rem}"
    "th,td{text-align:right;padding:.25rem .75rem;border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}"
    "th:first-child{text-align:left}"
)


def to_csv(summary: Summary[Row]) -> str:
    """Return a line of names, then a line for each number, with all their digits; what is not known is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([each.name for each in fields(summary.rows[0])] if summary.rows else ["name"])
    for row in summary.rows:
        writer.writerow(["" if _unknown(cell) else safe_cell(cell) for cell in astuple(row)])
    return out.getvalue().removesuffix("\n")


def to_markdown(summary: Summary[Row]) -> str:
    """Return a table in Markdown, with its title and notes."""
    heads, cells = summary.table()
    lines = [heads, [":--", *["--:"] * (len(heads) - 1)], *cells]
    table = ["| " + " | ".join(_markdown(cell) for cell in row) + " |" for row in lines]
    return "\n".join([f"**{_markdown(summary.title)}**", "", *table, "", "\n\n".join(map(_markdown, _notes(summary)))])


def to_latex(summary: Summary[Row]) -> str:
    """Return a LaTeX table with a caption; it needs the package booktabs."""
    heads, cells = summary.table()
    head, *body = [" & ".join(map(_tex, row)) + r" \\" for row in (heads, *cells)]
    return "\n".join([
        r"\begin{table}", rf"\caption{{{_tex(summary.title)}}}", rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}",
        *(f"% {note}" for note in _notes(summary)),
    ])  # fmt: skip


def to_html(summary: Summary[Row]) -> str:
    """Return a table with a small picture of each interval; of very many numbers, the largest."""
    rows = largest(summary.rows, MOST_BARS)
    heads, cells = replace(summary, rows=tuple(rows)).table()
    pictures = _pictures(rows)
    everything = len(summary.rows) + summary.left_out
    notes = [*([f"The {len(rows)} largest of {everything:,}."] if len(rows) < everything else []), *_notes(summary)]
    return html_table(
        summary.title, [*heads, f"{summary.quantity}, {summary.percent} interval"], cells, pictures
    ) + "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def to_page(summary: Summary[Row]) -> str:
    """Return an HTML page that needs nothing besides itself."""
    return html_page(summary.title, _STYLE, to_html(summary))


def html_page(title: str, style: str, body: str) -> str:
    """Return an HTML page in light or dark, as the reader has it; the title is escaped, style and body are not."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
<style>
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def html_table(title: str, heads: Sequence[str], cells: Sequence[Sequence[str]], extra: Sequence[str] = ()) -> str:
    """Return an HTML table; everything is escaped but what `extra` adds at the end of each row."""
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>{"".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])}'
        f"{f'<td>{more}</td>' if more else ''}</tr>"
        for row, more in zip(cells, extra or [""] * len(cells), strict=True)
    )
    caption = f"<caption>{html.escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


FORMATS: dict[str, Callable[[Summary[Row]], str]] = {
    ".csv": to_csv,
    ".md": to_markdown,
    ".tex": to_latex,
    ".html": to_page,
}
"""What a summary can be written as, by the ending of the file's name; besides, `.json` is the result itself."""

ENDINGS = (".json", *FORMATS)


def check_ending(path: Path) -> None:
    """Refuse a file whose ending says nothing we can write.

    Raises:
        InvalidRequest: another ending, or none.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InvalidRequest(f"cannot write {path.name!r:.80}; expected a name that ends in {', '.join(ENDINGS)}.")


def written(result: Result, path: Path, *, level: float, method: str | None = None, simultaneous: bool = False) -> str:
    """Return what a file of this name holds.

    Raises:
        InvalidRequest: an ending that says nothing we can write.
    """
    check_ending(path)
    ending = path.suffix.lower()
    if ending == ".json":
        return result.to_json(level=level, method=method, simultaneous=simultaneous, indent=2)
    return FORMATS[ending](result._whole(level=level, method=method, simultaneous=simultaneous))


def _notes(summary: Summary[Row]) -> list[str]:
    return [*summary.notes, *(f"Warning: {each}" for each in summary.warnings)]


def _markdown(text: str) -> str:
    for letter in "\\|*_`<[":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("\n", " ")


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text.replace("\n", " "))


def _unknown(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def _pictures(rows: Sequence[Row]) -> list[str]:
    """Return a small SVG for each row, all on one scale: the interval as a line, the estimate as a dot."""
    ends = [end for row in rows for end in (row.low, row.estimate, row.high) if not _unknown(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    scale = (_WIDTH - 8) / (high - low or 1.0)

    def at(value: float) -> str:
        return f"{4 + (value - low) * scale:.1f}"

    return [_picture(row, at) for row in rows]


def _picture(row: Row, at: Callable[[float], str]) -> str:
    if any(map(_unknown, (row.low, row.estimate, row.high))):
        return ""
    middle = _HEIGHT / 2
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{row.low:.4g} to {row.high:.4g}">'
        f'<line x1="{at(0)}" x2="{at(0)}" y1="0" y2="{_HEIGHT}" stroke="{PALE}"/>'
        f'<line x1="{at(row.low)}" x2="{at(row.high)}" y1="{middle}" y2="{middle}" stroke="{ACCENT}" stroke-width="2"/>'
        f'<circle cx="{at(row.estimate)}" cy="{middle}" r="3" fill="{ACCENT}"/></svg>'
    )
