"""Results as tables and as files: the ending of a file's name says which."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.rendering import MAX_ROWS, Sheet, formats, to_text

_WIDTH, _HEIGHT = 160, 14  # of the small picture beside a number, in pixels
_BLUE = "#4a86c5"  # three times as dark as white, and three times as light as black
_PLURALS = {"frequency": "frequencies"}
_HEADS = {"effective": "worth", "frequency_error": "error", "weight_error": "error"}
_STYLE = "body{font:15px/1.5 system-ui,sans-serif;color:CanvasText;max-width:60rem;margin:2rem auto;padding:0 1rem}"


def sheet(summary: Summary[Row], *, percent: bool = False) -> Sheet:
    """Return the table of a summary, with a small picture of each interval and with all digits for programs.

    Args:
        summary: the numbers.
        percent: write shares, their differences and changes as percentages.
    """
    level = formats.level(summary.level)
    rows = summary.rows
    row_type = type(rows[0]) if rows else Row
    fields_by_column = [
        names
        for names in row_type.COLUMNS
        if any(getattr(row, names[0]) is not None for row in rows)
    ]
    columns = [
        [[getattr(row, name) for name in names] for row in rows]
        for names in fields_by_column
    ]
    has_percents = percent and summary.quantity in PERCENTAGES
    is_percent = [
        has_percents and names[0] in row_type.SHARES for names in fields_by_column
    ]
    heads = _heads(summary, [names[0] for names in fields_by_column], level)
    table = Sheet(
        title=summary.title,
        caption=_caption(summary, level),
        heads=("", *heads),
        cells=(),
        notes=(
            *summary.notes,
            *(f"Warning: {caution}" for caution in summary.warnings),
        ),
        names=tuple(field.name for field in fields(rows[0])) if rows else ("name",),
        values=tuple(map(astuple, rows)),
        sizes=tuple(row.estimate for row in rows),
        left_out=summary.left_out,
        figures=tuple(_pictures(rows)),
        figure=f"{summary.quantity}, {level} interval",
    )
    names = [row.name for row in rows]
    texts = map(formats.column, columns, is_percent)
    return replace(table, cells=tuple(zip(names, *texts, strict=True)))


def caption(summary: Summary[Row]) -> str:
    """Return what a table shows, for a paper."""
    return _caption(summary, formats.level(summary.level))


def to_summary_text(summary: Summary[Row]) -> str:
    """Return a summary as plain text; of very many rows the largest."""
    return to_text(sheet(summary).shortened(MAX_ROWS))


def _caption(summary: Summary[Row], level: str) -> str:
    quantity, _, condition = summary.quantity.partition(" in ")
    plural = _PLURALS.get(quantity, f"{quantity}s") + (
        f" in {condition}" if condition else ""
    )
    credible = "credible " if summary.interval.startswith("credible") else ""
    return f"Estimated {plural} with {level} {credible}intervals: {summary.title}"


def _heads(summary: Summary[Row], names: Sequence[str], level: str) -> list[str]:
    """Return the heads of columns, by the names of their first fields."""
    kind = (
        "credible interval"
        if summary.interval.startswith("credible")
        else "interval"
    )
    heads = {
        **_HEADS,
        "estimate": summary.quantity,
        **(summary.rows[0].HEADS if summary.rows else {}),
    }
    intervals = {"direct_low": "asked directly", "prior_low": "prior interval"}
    return [
        intervals.get(name, f"{level} {kind}")
        if name.endswith("low")
        else heads.get(name, name.replace("_", " "))
        for name in names
    ]


def truth_sheet(summary: Summary[Row], truth: Mapping[str, float]) -> Sheet:
    """Return the table of shares beside the true ones, and whether each interval holds its share."""
    table = sheet(summary, percent=True)
    columns = [
        0,
        1,
        *(
            number
            for number, head in enumerate(table.heads)
            if "interval" in head or head == "asked directly"
        ),
    ]
    rows = zip(summary.rows, table.cells, strict=True)
    return replace(
        table,
        heads=(
            *(table.heads[number] for number in columns),
            "truth",
            "interval holds it",
        ),
        cells=tuple(
            (
                *(cells[number] for number in columns),
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


def written(
    result: Result,
    path: Path,
    *,
    level: float,
    method: str | None = None,
    simultaneous: bool = False,
) -> str:
    """Return what a file of this name holds.

    Raises:
        InvalidRequest: an ending that says nothing we can write.
    """
    check_ending(path)
    ending = path.suffix.lower()
    if ending == ".json":
        return result.to_json(
            level=level, method=method, simultaneous=simultaneous, indent=2
        )
    return FORMATS[ending](
        result._whole(level=level, method=method, simultaneous=simultaneous)
    )


def _pictures(rows: Sequence[Row]) -> list[str]:
    """Return a small SVG for each row, all on one scale: the interval as a line, the estimate as a dot."""
    bounds = [(row.low, row.estimate, row.high) for row in rows]
    finite = [
        end
        for ends in bounds
        for end in ends
        if end is not None and math.isfinite(end)
    ]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    scale = (_WIDTH - 8) / (high - low or 1.0)

    def position(value: float) -> str:
        return f"{4 + (value - low) * scale:.1f}"

    return [_picture(*ends, position) for ends in bounds]


def _picture(
    low: float, estimate: float, high: float, position: Callable[[float], str]
) -> str:
    if any(end is None or not math.isfinite(end) for end in (low, estimate, high)):
        return ""
    middle = _HEIGHT / 2
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'role="img" aria-label="{low:.4g} to {high:.4g}">'
        f'<line x1="{position(0)}" x2="{position(0)}" y1="0" y2="{_HEIGHT}" stroke="currentColor" '
        'stroke-opacity=".4"/>'
        f'<line x1="{position(low)}" x2="{position(high)}" y1="{middle}" y2="{middle}" stroke="{_BLUE}" '
        'stroke-width="2"/>'
        f'<circle cx="{position(estimate)}" cy="{middle}" r="3" fill="{_BLUE}"/></svg>'
    )
