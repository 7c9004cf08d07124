"""Estimates and designs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable import exact
from deniable.designs import Design
from deniable.records.edges.estimates import EdgeEstimate
from deniable.records.key_value.estimates import KeyValueSummary
from deniable.report import words

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.estimates import ShareRow, Summary
    from deniable.tallies import Tally

__all__ = ["edges_table", "items_table"]


_MOST = 12  # columns that a terminal can hold
_ROWS = 40


def summary_table(summary: Summary[ShareRow], *, truth: Mapping[str, float] | None = None) -> Table:
    """Return the table of an estimate; with the truth, where it is known, also whether the interval holds it.

    Of more than forty categories those with the largest shares are shown.
    """
    table = _table(summary.title)
    table.add_column("category", overflow="fold")
    if truth is not None:
        table.add_column("truth", justify="right", no_wrap=True)
    table.add_column("estimate", justify="right", style="bold cyan", no_wrap=True)
    if truth is None:
        table.add_column("± error", justify="right", style="dim", no_wrap=True)
    table.add_column(f"{100 * summary.level:g}% interval", justify="right", style="cyan", no_wrap=True)
    if truth is not None:
        table.add_column("holds it", justify="center", no_wrap=True)
    table.add_column("asked directly", justify="right", style="dim", no_wrap=True)
    shown = summary.rows
    if len(shown) > _ROWS:
        shown = tuple(sorted(shown, key=lambda row: -row.estimate)[:_ROWS])
    for row in shown:
        cells = [f"{row.estimate:.1%}", f"{row.error:.1%}", _ends(row.low, row.high)]
        if truth is not None:
            true = truth[row.name]
            holds = "[green]yes[/]" if row.low <= true <= row.high else "[yellow]no[/]"
            cells = [f"{true:.1%}", cells[0], cells[2], holds]
        table.add_row(_plain(row.name), *cells, _ends(row.direct_low, row.direct_high))
    if len(summary.rows) > _ROWS:
        table.caption = f"the {_ROWS} largest of {len(summary.rows):,} shares"
    return table


def channel_table(design: Design) -> Table | None:
    """Return the probabilities of a small design: a row for each answer, a column for each response."""
    if design.channel.responses > _MOST or design.channel.answers > _ROWS:
        return None
    table = _table("What is sent for each answer")
    table.add_column("answer", overflow="fold")
    for symbol in design.symbols:
        table.add_column(_plain(symbol), justify="right", overflow="fold")
    for j, category in enumerate(design.categories):
        cells = [f"{float(design.channel.probability(i, given=j)):.1%}" for i in range(design.channel.responses)]
        table.add_row(_plain(category), *cells)
    table.add_section()
    factors = [words.factor(exact.ratio(*design.channel.extremes(i))) for i in range(design.channel.responses)]
    table.add_row("[dim]odds change at most by[/]", *(f"[dim]{each}[/]" for each in factors))
    return table


def tally_table(tally: Tally) -> Table:
    """Return how often each symbol was sent, the first forty of them."""
    table = _table(f"{tally.respondents:,} responses")
    table.add_column("response", overflow="fold")
    table.add_column("count", justify="right", style="bold cyan")
    table.add_column("share", justify="right", style="dim")
    for symbol, count in zip(_cells(tally), tally.counts[:_ROWS].tolist(), strict=True):
        table.add_row(_plain(symbol), f"{count:,}", f"{count / max(1, tally.respondents):.1%}")
    if len(tally.counts) > _ROWS:
        table.add_row(f"… {len(tally.counts) - _ROWS:,} more", "", "")
    if tally.missing:
        table.add_section()
        table.add_row("nothing sent", f"{tally.missing:,}", "")
    return table


def _cells(tally: Tally) -> list[str]:
    """Name the first cells of a tally: by their symbols, or, where a response counts in several, by number."""
    if tally.design.channel.cells == tally.design.channel.responses:
        return list(tally.design.symbols[:_ROWS])
    return [f"cell {number}" for number in range(min(len(tally.counts), _ROWS))]


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=_plain(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def _plain(text: str) -> str:
    """Return text that Rich prints as it is: a label in square brackets is no markup."""
    from rich.markup import escape

    return escape(text)


def _ends(low: float, high: float) -> str:
    return f"{100 * low:.1f} … {100 * high:.1f}%"


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
        frequency = _share(row.frequency), _ends_graph_table(_share(row.frequency_low), _share(row.frequency_high))
        mean = _number(row.mean), _ends_graph_table(_number(row.mean_low), _number(row.mean_high))
        weight = _number(row.weight, 1), _number(row.weight_error, 1)
        table.add_row(_plain(row.name), *(weight if sums else (*frequency, *mean)))
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


def _ends_graph_table(low: str, high: str) -> str:
    return "—" if low == "—" else f"{low} … {high}"
