"""Tables of designs (response probabilities, parts) and of tallies (counts by response)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable import exact
from deniable.designs import Design
from deniable.display.views import ChannelView
from deniable.estimates.results import words_of
from deniable.rendering import Sheet, columns_of, formats

# categories, and letters of them, that a title lists
_FEW_ANSWERS, _FEW_LETTERS = 5, 40


def view_sheet(
    title: str, view: ChannelView, notes: Sequence[str], *, complete: bool = False
) -> Sheet:
    """Return a table of response probabilities.

    Args:
        title: of the table.
        view: the probabilities.
        notes: below the table.
        complete: whether the view has a column for every answer; then a last column has the largest likelihood ratio
            of each response.
    """
    cells, values = _rows(view, complete)
    last_head, last_name = (
        (("odds change at most by",), ("odds",)) if complete else ((), ())
    )
    return Sheet(
        title,
        heads=(view.title or "response", *view.given, *last_head),
        cells=tuple(cells),
        notes=(
            f"Probability of each response, given each {view.across}.",
            *((view.note,) if view.note else ()),
            *notes,
        ),
        names=("response", *view.given, *last_name),
        values=tuple(values),
    )


def _rows(
    view: ChannelView, complete: bool
) -> tuple[list[tuple[str, ...]], list[tuple[object, ...]]]:
    """Return the rows of the table as text, and as numbers."""
    ratios = (
        [exact.ratio(max(row), min(row)) for row in view.chances] if complete else []
    )
    cells = [
        (name, *map(formats.fixed_percent, row))
        for name, row in zip(view.responses, view.chances, strict=True)
    ]
    values = [
        (name, *map(float, row))
        for name, row in zip(view.responses, view.chances, strict=True)
    ]
    if complete:
        cells = [
            (*row, formats.factor(ratio))
            for row, ratio in zip(cells, ratios, strict=True)
        ]
        values = [
            (*row, float(ratio)) for row, ratio in zip(values, ratios, strict=True)
        ]
    return cells, values


def parts_sheet(
    title: str, parts: Sequence[tuple[str, Design]], notes: Sequence[str]
) -> Sheet:
    """Return a table of the designs that a design consists of: its attributes, or its stages."""
    values = tuple(
        (
            name,
            design.name,
            design.epsilon,
            len(design.categories),
            formats.factor(design.parity),
        )
        for name, design in parts
    )
    cells = [(*row[:2], formats.epsilon(row[2]), *row[3:]) for row in values]
    return Sheet(
        title,
        heads=("", "design", "ε", "possible answers", "odds change at most by"),
        cells=columns_of(cells),
        notes=tuple(notes),
        names=("part", "design", "epsilon", "categories", "odds"),
        values=values,
    )


def counts_sheet(tally: Any, labels: Sequence[str], counts: Sequence[int]) -> Sheet:
    """Return a table of counts by response; with weights also their sums, of which the shares then are."""
    weights = getattr(tally, "weights", None)
    amounts = counts if weights is None else [float(weight) for weight in weights]
    total = (
        max(1, tally.respondents) if weights is None else float(sum(amounts)) or 1.0
    )
    columns: list[Sequence[Any]] = (
        [labels, counts] if weights is None else [labels, counts, amounts]
    )
    rows = [
        (*row, amount / total)
        for *row, amount in zip(*columns, amounts, strict=True)
    ]
    heads = (
        ("response", "count", "share")
        if weights is None
        else ("response", "count", "weight", "share of the weight")
    )
    return Sheet(
        tally_title(tally),
        heads=heads,
        cells=tuple(
            (
                label,
                f"{count:,}",
                *(f"{weight:,.10g}" for weight in weight_cell),
                formats.fixed_percent(share),
            )
            for label, count, *weight_cell, share in rows
        ),
        notes=missing_notes(tally),
        names=heads if weights is None else ("response", "count", "weight", "share"),
        values=tuple(rows),
        sizes=tuple(map(float, amounts)),
    )


def tally_title(tally: Any) -> str:
    """Return the title of a table of counts: how many responses, to which design."""
    design = getattr(tally, "design", None)
    return f"{tally.respondents:,} responses{'' if design is None else f' to {design_title(design)}'}"


def design_title(design: object) -> str:
    """Return what a title calls a design: its family, its categories if they are few, and ε.

    Example:
        >>> from deniable.designs import k_ary
        >>> design_title(k_ary(["A", "B", "C"], epsilon=2)), design_title(k_ary(50, epsilon=2))
        ('k-ary, for A, B or C, ε = 2', 'k-ary, for 50 answers, ε = 2')
    """
    if not isinstance(design, Design):
        return f"{design!r}"
    names = design.categories
    is_short = len(names) <= _FEW_ANSWERS and sum(map(len, names)) <= _FEW_LETTERS
    answers = (
        f"{', '.join(names[:-1])} or {names[-1]}"
        if is_short
        else f"{len(names):,} answers"
    )
    return f"{words_of(design.name)}, for {answers}, ε = {formats.epsilon(design.epsilon)}"


def cell_counts(tally: Any) -> tuple[list[str], list[int]]:
    """Return the labels and the counts of a tally for categories: by symbol, or by the category that a response holds.

    Sets that are counted apart by their size are added up over the sizes.
    """
    design, counts = tally.design, np.asarray(tally.counts)
    channel = design.channel
    if channel.cells == channel.responses:
        return list(design.symbols), counts.tolist()
    if getattr(channel, "by_size", False):
        # A row for each size: the number of sets of this size, then how many of them hold each category.
        by_size = counts.reshape(-1, len(design.categories) + 1)
        return _criteria_that_hold(design), by_size[:, 1:].sum(axis=0).tolist()
    if channel.cells == channel.answers:
        return _criteria_that_hold(design), counts.tolist()
    return [f"cell {number}" for number in range(len(counts))], counts.tolist()


def _criteria_that_hold(design: Design) -> list[str]:
    return [f"holds {category}" for category in design.categories]


def missing_notes(tally: object) -> tuple[str, ...]:
    """Return sentences about people whose responses are not counted."""
    missing, declared = (
        getattr(tally, "missing", 0),
        getattr(tally, "declared", None),
    )
    sentence = (f"{missing:,} sent nothing and are not counted.",) if missing else ()
    return (*sentence, *(declared.notes() if declared is not None else ()))
