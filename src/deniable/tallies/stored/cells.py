"""Counts of the cells of a query → arrays of counts, from which each type of question builds its tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidResponse, UnreadableFile
from deniable.tallies.base import Counts
from deniable.tallies.counts import Tally, zeros
from deniable.tallies.stored.forms import StoredRows, category_form

__all__ = [
    "Refused",
    "StageCells",
    "Stages",
    "count_categories",
    "count_cells",
    "count_lines",
    "only_stage",
]


@dataclass
class StageCells:
    """Counts of one stage: how many respondents sent nothing, and how often each cell, or label, occurs."""

    missing: int = 0
    cells: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)


Stages: TypeAlias = dict[tuple[int, int], StageCells]
"""The counts of each stage, from 1 on, and of those who reached no later one (0) or did (1)."""

Refused: TypeAlias = Counter[str]
"""How many rows are of another design ("foreign"), or hold no response ("refused")."""


def only_stage(stages: Stages) -> StageCells:
    """Return the counts of a design without stages.

    Raises:
        UnreadableFile: there are counts of several stages.
    """
    if set(stages) - {(1, 0)}:
        raise UnreadableFile(
            "there are counts of other stages than the first; expected those of one."
        )
    return stages.get((1, 0), StageCells())


def count_categories(design: Design, counted: StageCells, refused: Refused) -> Tally:
    """Return the tally of a design for categories."""
    channel, counts = design.channel, zeros(design)
    form = category_form(design, labels=False)
    if isinstance(form, StoredRows):
        lines = count_lines(
            form, counted, channel.answers + 1 if channel.by_size else 1
        )
        sent = lines[list(channel.sizes)] if channel.by_size else lines[:, 1:]
        return Tally(design, sent.ravel(), counted.missing, int(lines[:, 0].sum()))
    numbers = _count_numbers(
        counted, design.symbol_number, channel.possible, refused
    )
    for number, times in numbers.items():
        counts[list(channel.cells_of(number))] += times
    return Tally(design, counts, counted.missing, sum(numbers.values()))


def count_cells(
    responses: int,
    counted: StageCells,
    number_of: Callable[[str], int],
    refused: Refused,
) -> Counts:
    """Return a count for each of so many numbered responses; `number_of` gives the number of a label."""
    counts = np.zeros(responses, np.int64)
    for number, times in _count_numbers(
        counted, number_of, lambda number: number < responses, refused
    ).items():
        counts[number] = times
    return counts


def count_lines(form: StoredRows, counted: StageCells, lines: int) -> Counts:
    """Return for each line how many rows there are, and how many of them have each bit.

    Raises:
        UnreadableFile: there are counts of a cell that these rows do not have.
    """
    counts = np.zeros(lines * (form.cells + 1), np.int64)
    for cell, times in counted.cells.items():
        if cell >= len(counts):
            raise UnreadableFile(
                f"there are counts of a cell {cell:,}; expected at most {len(counts) - 1:,}."
            )
        counts[cell] += times
    return counts.reshape(lines, -1)


def _count_numbers(
    counted: StageCells,
    number_of: Callable[[str], int],
    is_possible: Callable[[int], bool],
    refused: Refused,
) -> Counter[int]:
    """Return how often each response was sent, by its number; what is none is counted as refused."""
    numbers = Counter[int]()
    for cell, times in counted.cells.items():
        if is_possible(cell):
            numbers[cell] += times
        else:
            refused["refused"] += times
    for label, times in counted.labels.items():
        try:
            numbers[number_of(label)] += times
        except InvalidResponse:
            refused["refused"] += times
    return numbers
