"""Estimates and designs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable import exact
from deniable.design import Design
from deniable.report import words

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.estimate import Summary
    from deniable.tally import Tally

_MOST = 12  # columns that a terminal can hold
_ROWS = 40


def summary_table(summary: Summary, *, truth: Mapping[str, float] | None = None) -> Table:
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
        shown = tuple(sorted(shown, key=lambda row: -row.value)[:_ROWS])
    for row in shown:
        cells = [f"{row.value:.1%}", f"{row.error:.1%}", _ends(row.low, row.high)]
        if truth is not None:
            true = truth[row.category]
            holds = "[green]yes[/]" if row.low <= true <= row.high else "[yellow]no[/]"
            cells = [f"{true:.1%}", cells[0], cells[2], holds]
        table.add_row(_plain(row.category), *cells, _ends(row.direct_low, row.direct_high))
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
