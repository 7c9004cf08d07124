"""Counts as analysts are shown them: copies that change in steps, so that no difference of two looks tells about few.

A cell is one stage of one question in one group, or among those without a group. It is copied when as many people as
the survey's minimum have come since the last copy, less those who have withdrawn. When a survey has ended, those who
are in no copy go into a cell of their own, the rest, if they are as many; from then on no other cell changes. What is
shown of everybody is the sum of all copies. What is withdrawn stays in a copy until the next one.

Guarantee: copies are of different people, and each grows by so many people at a time. So all that was ever shown of a
stage, however it is added and subtracted, is about sets of at least so many people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple, TypeAlias

import numpy as np

from deniable.collector.store import counts
from deniable.collector.store.base import Entry
from deniable.collector.store.counts import RAISED, SEEN, SIZE, Counter, Vector
from deniable.collector.store.surveys import KnownSurvey
from deniable.db import Tables

LIVE, PUBLISHED = "tally", "published"
"""The tables of counts: of all that is stored, and of what is shown."""

REST = -2
"""The group of those who are in no other copy when a survey has ended."""


class Cell(NamedTuple):
    """One stage in one group (−1: none; −2: the rest)."""

    stage: int
    group: int


Sizes: TypeAlias = Mapping[Cell, int]


def due(tables: Tables, known: KnownSurvey, question: int, today: date) -> list[Cell]:
    """Return the cells of a question that may be copied, coarser stages first, and in each the rest last."""
    stored, shown = (_sizes(tables, table, known, question) for table in (LIVE, PUBLISHED))
    started = any(cell.group == REST for cell in shown)
    return list(
        _due(stored, shown, known.entry.survey.minimum, groups=not started, rest=started or ended(known.entry, today))
    )


def _due(stored: Sizes, shown: Sizes, minimum: int, *, groups: bool, rest: bool) -> Iterator[Cell]:
    """Yield the cells that have grown by the minimum; nobody is shown at a stage who is not shown at the one before."""
    complete: set[int] = {cell.group for cell in stored} | {REST}  # groups of which the stage before is shown whole
    for stage in range(1 + max((cell.stage for cell in stored), default=-1)):
        rises = {cell: size - shown.get(cell, 0) for cell, size in stored.items() if cell.stage == stage}
        left = sum(rises.values()) - shown.get(Cell(stage, REST), 0)
        whole = {cell.group for cell, rise in rises.items() if rise == 0}
        for cell in sorted(rises) if groups else ():
            if rises[cell] >= minimum and cell.group in complete:
                yield cell
                left -= rises[cell]
                whole.add(cell.group)
        if rest and left >= minimum and REST in complete:
            yield Cell(stage, REST)
            left = 0
        complete = whole | ({REST} if left <= 0 else set())


def publish(tables: Tables, known: KnownSurvey, question: int, today: date) -> None:
    """Copy the cells that may be copied."""
    place, layouts = (known.entry.id, question), known.columns[question].layouts
    copied: set[Cell] = set()
    for cell in due(tables, known, question, today):
        coarser = cell._replace(stage=cell.stage - 1)
        group = None if cell.group == REST else cell.group
        stored, shown = (counts.read(tables, table, *place, layouts, group) for table in (LIVE, PUBLISHED))
        if cell.stage and coarser not in copied and _differ(stored[coarser.stage], shown[coarser.stage]):
            continue  # as many as were shown, but others: somebody has withdrawn, and somebody else has come
        pairs = ((SEEN, cell.stage), (RAISED, coarser.stage))  # who is seen at a stage has raised the one before
        for which, stage in pairs if cell.stage else pairs[:1]:
            counter, vector = Counter(*place, stage, which, cell.group), stored[stage][which]
            if cell.group == REST:
                own = counts.read(tables, PUBLISHED, *place, layouts, REST)[stage][which]
                vector = vector - shown[stage][which] + own
            counts.write(tables, PUBLISHED, counter, vector)
        copied.add(cell)


def _differ(stored: Mapping[str, Vector], shown: Mapping[str, Vector]) -> bool:
    return not np.array_equal(stored[SEEN], shown[SEEN])


def stages_complete(tables: Tables, known: KnownSurvey, question: int, today: date) -> int:
    """Return of how many stages all is shown that is stored, and no more of it will come."""
    if not ended(known.entry, today):
        return 0
    stored, shown = (_sizes(tables, table, known, question) for table in (LIVE, PUBLISHED))
    totals = [
        [sum(size for cell, size in sizes.items() if cell.stage == stage) for sizes in (stored, shown)]
        for stage in range(len(known.columns[question].layouts))
    ]
    return next((stage for stage, (there, told) in enumerate(totals) if there > told), len(totals))


def groups_complete(tables: Tables, known: KnownSurvey, question: int) -> frozenset[int]:
    """Return the groups of which all is shown that is stored."""
    stored, shown = (_sizes(tables, table, known, question) for table in (LIVE, PUBLISHED))
    behind = {cell.group for cell, size in stored.items() if size > shown.get(cell, 0)}
    return frozenset(cell.group for cell in stored if cell.group not in behind)


def ended(entry: Entry, today: date) -> bool:
    """Say whether a survey takes no more responses."""
    return entry.standing(today) in {"closed", "over"}


def _sizes(tables: Tables, table: str, known: KnownSurvey, question: int) -> dict[Cell, int]:
    """Return how many responses each cell has."""
    statement = (
        f"SELECT stage, grp, substr(counts, 1, {SIZE}) FROM {table} "
        "WHERE survey = ? AND question = ? AND which = ? AND piece = 0"
    )
    found = tables.rows(statement, known.entry.id, question, SEEN)
    return {Cell(stage, group): int.from_bytes(count, "little", signed=True) for stage, group, count in found}
