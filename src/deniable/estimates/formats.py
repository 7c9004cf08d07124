"""Results as tables and as files: the ending of a file's name says which."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.results import Result, Row, Summary
from deniable.rendering import Sheet, formats, unknown

_WIDTH, _HEIGHT = 160, 14  # of the small picture beside a number, in pixels
_BLUE = "#4a86c5"  # three times as dark as white, and three times as light as black
_STYLE = "body{font:15px/1.5 system-ui,sans-serif;color:CanvasText;max-width:60rem;margin:2rem auto;padding:0 1rem}"


def sheet(summary: Summary[Row], *, percent: bool = False) -> Sheet:
    """Return the table of a summary, with a small picture of each interval and with all digits for programs."""
    heads, cells = summary.table(percent=percent)
    return Sheet(
        title=summary.title,
        caption=summary.caption,
        heads=tuple(heads),
        cells=tuple(map(tuple, cells)),
        notes=(*summary.notes, *(f"Warning: {each}" for each in summary.warnings)),
        names=tuple(each.name for each in fields(summary.rows[0])) if summary.rows else ("name",),
        values=tuple(map(astuple, summary.rows)),
        sizes=tuple(row.estimate for row in summary.rows),
        left_out=summary.left_out,
        figures=tuple(_pictures(summary.rows)),
        figure=f"{summary.quantity}, {summary.level_text} interval",
    )


def truth_sheet(summary: Summary[Row], truth: Mapping[str, float]) -> Sheet:
    """Return the table of shares beside the true ones, and whether each interval holds its share."""
    table = sheet(summary, percent=True)
    kept = [
        0,
        1,
        *(number for number, head in enumerate(table.heads) if "interval" in head or head == "asked directly"),
    ]
    rows = zip(summary.rows, table.cells, strict=True)
    return replace(
        table,
        heads=(*(table.heads[number] for number in kept), "truth", "interval holds it"),
        cells=tuple(
            (
                *(cells[number] for number in kept),
                formats.fixed_percent(truth[row.name]),
                "yes" if row.low <= truth[row.name] <= row.high else "no",
            )
            for row, cells in rows
        ),
    )


def to_page(summary: Summary[Row]) -> str:
    """Return an HTML page that needs nothing besides itself."""
    return html_page(summary.title, _STYLE, summary.to_html())


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


FORMATS: dict[str, Callable[[Summary[Row]], str]] = {
    ".csv": lambda summary: summary.to_csv(),
    ".md": lambda summary: summary.to_markdown(most=None),
    ".tex": lambda summary: summary.to_latex(most=None),
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
        raise InvalidRequest(
            f"cannot write {quoted(path.name, 80)}; expected a name that ends in {', '.join(ENDINGS)}."
        )


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


def _pictures(rows: Sequence[Row]) -> list[str]:
    """Return a small SVG for each row, all on one scale: the interval as a line, the estimate as a dot."""
    ends = [end for row in rows for end in (row.low, row.estimate, row.high) if not unknown(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    scale = (_WIDTH - 8) / (high - low or 1.0)

    def at(value: float) -> str:
        return f"{4 + (value - low) * scale:.1f}"

    return [_picture(row, at) for row in rows]


def _picture(row: Row, at: Callable[[float], str]) -> str:
    if any(map(unknown, (row.low, row.estimate, row.high))):
        return ""
    middle = _HEIGHT / 2
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'role="img" aria-label="{row.low:.4g} to {row.high:.4g}">'
        f'<line x1="{at(0)}" x2="{at(0)}" y1="0" y2="{_HEIGHT}" stroke="currentColor" stroke-opacity=".4"/>'
        f'<line x1="{at(row.low)}" x2="{at(row.high)}" y1="{middle}" y2="{middle}" stroke="{_BLUE}" stroke-width="2"/>'
        f'<circle cx="{at(row.estimate)}" cy="{middle}" r="3" fill="{_BLUE}"/></svg>'
    )
