"""Estimates and designs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable import exact
from deniable.designs import Design
from deniable.rendering import formats

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.estimates import Row, ShareRow, Summary
    from deniable.tallies import Tally
    from deniable.tallies.base import Counts
    from deniable.tallies.weighted import WeightedTally
    from deniable.types.drawn.count import DrawnTally

_MOST_COLUMNS = 8  # that a terminal of 80 characters can hold
_MOST_ROWS = 40  # that a reader looks through


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
    table.add_column(f"{formats.level(summary.level)} interval", justify="right", style="cyan", no_wrap=True)
    if truth is not None:
        table.add_column("holds it", justify="center", no_wrap=True)
    table.add_column("asked directly", justify="right", style="dim", no_wrap=True)
    shown = summary.rows
    if len(shown) > _MOST_ROWS:
        shown = tuple(sorted(shown, key=lambda row: -row.estimate)[:_MOST_ROWS])
    digits = _digits(shown)
    for row in shown:
        cells = [
            formats.fixed_percent(row.estimate, digits),
            formats.fixed_percent(row.error, digits),
            _ends(row.low, row.high, digits),
        ]
        if truth is not None:
            true = truth[row.name]
            holds = "[green]yes[/]" if row.low <= true <= row.high else "[yellow]no[/]"
            cells = [formats.fixed_percent(true, digits), cells[0], cells[2], holds]
        table.add_row(_plain(row.name), *cells, _ends(row.direct_low, row.direct_high, digits))
    if len(summary.rows) > _MOST_ROWS:
        table.caption = f"the {_MOST_ROWS} largest of {len(summary.rows):,} shares"
    return table


def channel_table(design: Design) -> Table | None:
    """Return the probabilities of a small design: a row for each answer, a column for each response."""
    if design.channel.responses > _MOST_COLUMNS or design.channel.answers > _MOST_ROWS:
        return None
    table = _table("What is sent for each answer")
    table.add_column("answer", overflow="fold")
    for symbol in design.symbols:
        table.add_column(_plain(symbol), justify="right", overflow="fold")
    for j, category in enumerate(design.categories):
        cells = [formats.fixed_percent(design.channel.probability(i, given=j)) for i in range(design.channel.responses)]
        table.add_row(_plain(category), *cells)
    table.add_section()
    factors = [formats.factor(exact.ratio(*design.channel.extremes(i))) for i in range(design.channel.responses)]
    table.add_row("[dim]odds change at most by[/]", *(f"[dim]{each}[/]" for each in factors))
    return table


def tally_table(tally: Tally | DrawnTally | WeightedTally) -> Table:
    """Return how often each symbol was sent, the first forty of them; with weights the share is that of the weights."""
    table = _table(f"{tally.respondents:,} responses")
    table.add_column("response", overflow="fold")
    table.add_column("count", justify="right", style="bold cyan")
    weights = getattr(tally, "weights", None)
    if weights is not None:
        table.add_column("weight", justify="right")
    table.add_column("share", justify="right", style="dim")
    counts = _counts_by_category(tally)
    parts = counts[:_MOST_ROWS].tolist() if weights is None else [float(each) for each in weights[:_MOST_ROWS]]
    whole = tally.respondents if weights is None else float(sum(weights))
    for symbol, count, part in zip(_cells(tally), counts[:_MOST_ROWS].tolist(), parts, strict=False):
        weight = [] if weights is None else [f"{part:,.10g}"]
        table.add_row(_plain(symbol), f"{count:,}", *weight, formats.fixed_percent(part / (whole or 1)))
    if len(counts) > _MOST_ROWS:
        table.add_row(f"… {len(counts) - _MOST_ROWS:,} more", "", "")
    declared = getattr(tally, "declared", None)
    if tally.missing or (declared and declared.unknown):
        table.add_section()
    if tally.missing:
        table.add_row("nothing sent", f"{tally.missing:,}", "")
    for reason, times in declared.reasons if declared else ():
        table.add_row(f"  of these: {_plain(reason)}", f"{times:,}", "")
    if declared and declared.unknown:
        table.add_row("not a response of this design", f"{declared.unknown:,}", "")
    return table


def _cells(tally: Tally | DrawnTally | WeightedTally) -> list[str]:
    """Name the first cells of a tally: by their symbols, by the category that a response holds, or by number."""
    if not isinstance(tally.design, Design):
        return [tally.design.symbol(number) for number in range(min(len(tally.counts), _MOST_ROWS))]
    channel = tally.design.channel
    if channel.cells == channel.responses:
        return list(tally.design.symbols[:_MOST_ROWS])
    if channel.cells == channel.answers or _by_size(tally):
        return [f"holds {category}" for category in tally.design.categories[:_MOST_ROWS]]
    return [f"cell {number}" for number in range(min(len(tally.counts), _MOST_ROWS))]


def _by_size(tally: Tally | DrawnTally | WeightedTally) -> bool:
    """Say whether sets of each size are counted apart."""
    return isinstance(tally.design, Design) and bool(getattr(tally.design.channel, "by_size", False))


def _counts_by_category(tally: Tally | DrawnTally | WeightedTally) -> Counts:
    """Return the counts that are shown: of sets that are counted by size, how many hold each category."""
    counts = tally.counts
    if isinstance(tally.design, Design) and _by_size(tally):
        # A line for each size: how many sets have it, and how many of those hold each category.
        return np.asarray(counts.reshape(-1, len(tally.design.categories) + 1)[:, 1:].sum(axis=0))
    return counts


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=_plain(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def _plain(text: str) -> str:
    """Return text that Rich prints as it is: a label in square brackets is no markup."""
    from rich.markup import escape

    return escape(text)


def _ends(low: float, high: float, digits: int) -> str:
    return formats.interval(formats.points(low, digits), formats.fixed_percent(high, digits))


def _digits(rows: Sequence[ShareRow]) -> int:
    """Return how many digits of a percentage tell the two ends of most intervals apart."""
    width = sorted(row.high - row.low for row in rows)[len(rows) // 2]
    return 1 if width >= 0.01 else 2 if width >= 0.001 else 3


def lines_table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """Return a table of texts; the last line stands apart, as a sum."""
    table = _table(title)
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number in (0, len(heads) - 1) else "right", overflow="fold")
    for number, line in enumerate(lines, 1):
        if number == len(lines) > 1:
            table.add_section()
        table.add_row(*map(_plain, line))
    return table


def items_table(summary: Summary[Row]) -> Table:
    """Return the table of the items in a summary, with the columns that their type tells."""
    heads, cells = summary.table()
    table = _table(summary.title)
    table.add_column("item", overflow="fold", min_width=8)
    for head in heads[1:]:
        told = "interval" not in head and head != "error"
        table.add_column(head, justify="right", no_wrap=True, style="bold cyan" if told else None)
    for name, *numbers in cells:
        table.add_row(_plain(name), *numbers)
    if summary.left_out:
        table.caption = f"the first {len(cells)} of {len(cells) + summary.left_out:,} items"
    return table
