"""Summaries of results as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from operator import attrgetter

from deniable.estimates.results import PERCENTAGES, Row, Summary
from deniable.rendering import (
    MAX_ROWS,
    Sheet,
    formats,
    interval_figures,
    to_text,
)

_PLURALS = {"frequency": "frequencies"}
_HEADS = {"effective": "worth", "frequency_error": "error", "weight_error": "error"}


def sheet(summary: Summary[Row], *, percent: bool = False) -> Sheet:
    """Return the table of a summary, with a small picture of each interval and with all digits for programs.

    Args:
        summary: the numbers.
        percent: write shares, their differences and changes as percentages.
    """
    bounds = [(row.low, row.estimate, row.high) for row in summary.rows]
    return replace(
        _table(summary, percent),
        figures=tuple(interval_figures(bounds)),
        figure=f"{summary.quantity}, {formats.level(summary.level)} interval",
    )


def _table(summary: Summary[Row], percent: bool) -> Sheet:
    """Return the table of a summary without pictures."""
    level = formats.level(summary.level)
    rows = summary.rows
    row_type = type(rows[0]) if rows else Row
    field_names = tuple(field.name for field in fields(row_type))
    fields_by_column = _present_fields(rows, row_type)
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
        names=field_names if rows else ("name",),
        values=tuple(map(attrgetter(*field_names), rows)),
        sizes=tuple(row.estimate for row in rows),
        left_out=summary.left_out,
    )
    names = [row.name for row in rows]
    texts = map(formats.column, columns, is_percent)
    return replace(table, cells=tuple(zip(names, *texts, strict=True)))


def _present_fields(
    rows: Sequence[Row], row_type: type[Row]
) -> list[tuple[str, ...]]:
    return [
        names
        for names in row_type.COLUMNS
        if any(getattr(row, names[0]) is not None for row in rows)
    ]


def caption(summary: Summary[Row]) -> str:
    """Return what a table shows, for a paper."""
    return _caption(summary, formats.level(summary.level))


def to_summary_text(summary: Summary[Row]) -> str:
    """Return a summary as plain text; of very many rows the largest."""
    return to_text(_table(summary, percent=False).shortened(MAX_ROWS))


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
