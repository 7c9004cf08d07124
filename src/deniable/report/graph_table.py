"""Estimates about the items of a graph as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.graph.estimate import EdgeEstimate
from deniable.keyvalue.summary import KeyValueSummary
from deniable.report.table import _plain, _table

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["edges_table", "items_table"]


def items_table(summary: KeyValueSummary) -> Table:
    """Return the table of the most frequent items: frequency and mean, or sums of weights where only these are told."""
    table = _table(summary.title)
    percent = f"{100 * summary.level:g}% interval"
    table.add_column("item", overflow="fold", min_width=8)
    sums = all(row.frequency is None for row in summary.rows)
    for name in ("sum of weights", "± error") if sums else ("frequency", percent, "mean", percent):
        style = "bold cyan" if name in ("frequency", "mean", "sum of weights") else None
        table.add_column(name, justify="right", no_wrap=True, style=style)
    for row in summary.rows:
        frequency = _share(row.frequency), _ends(_share(row.low), _share(row.high))
        mean = _number(row.mean), _ends(_number(row.mean_low), _number(row.mean_high))
        weight = _number(row.weight, 1), _number(row.weight_error, 1)
        table.add_row(_plain(row.item), *(weight if sums else (*frequency, *mean)))
    if summary.items > len(summary.rows):
        table.caption = f"the first {len(summary.rows)} of {summary.items:,} items"
    return table


def edges_table(estimate: EdgeEstimate, count: int) -> Table:
    """Return the table of the items with the most edges, where everybody has one."""
    design = estimate.tally.design
    table = _table(f"one edge each, ε = {design.epsilon:.4g}, {estimate.tally.respondents:,} respondents")
    for name in ("item", "edges", "mean weight", "± error"):
        table.add_column(name, justify="left" if name == "item" else "right")
    errors = estimate.errors("mean")
    for number in (-estimate.degree).argsort(kind="stable")[:count].tolist():
        mean, error = (_number(float(each[number])) for each in (estimate.mean, errors))
        table.add_row(_plain(design.items[number]), f"{estimate.degree[number]:,.0f}", mean, error)
    return table


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.1%}"


def _number(value: float | None, digits: int = 3) -> str:
    return "—" if value is None or value != value else f"{value:,.{digits}f}"  # noqa: PLR0124 - not a number


def _ends(low: str, high: str) -> str:
    return "—" if low == "—" else f"{low} … {high}"
