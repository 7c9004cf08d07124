"""Counts as analysts are shown them: copies that change in steps, so that no difference of two looks tells about few.

A cell is one stage of one question in one group, or among those without a group. There are two copies of it, the one
that is shown and the upcoming one. When at least as many people as the survey's minimum have come since the upcoming
copy, less those who have withdrawn, it becomes the one that is shown, and what is there now becomes the upcoming one.
So what is shown lags one whole step behind, and when a survey ends, what is new since then is a step as well: all of it
is shown, each group by itself as far as neither it nor what is left is small; what is left goes into a cell of its own,
the rest. What is shown of everybody is the sum of all cells. What is withdrawn stays in a copy until the next one.

Guarantee: the cells are of different people, and each grows by so many people at a time, unless people have withdrawn.
So all that was ever shown of a stage, however it is added and subtracted, is about sets of at least so many people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from deniable.collector.store import counts
from deniable.collector.store.base import Entry
from deniable.collector.store.counts import RAISED, SEEN, SIZE, Counter, Stages, Vector
from deniable.collector.store.surveys import KnownSurvey
from deniable.db import Tables

LIVE, UPCOMING, PUBLISHED = "tally", "upcoming", "published"
"""The tables of counts: of all that is stored, of what is shown next, and of what is shown."""

REST = -2
"""The group of those who are in no other cell when a survey has ended."""


class Cell(NamedTuple):
    """One stage in one group (−1: none; −2: the rest)."""

    stage: int
    group: int


Sizes: TypeAlias = Mapping[Cell, int]

_FEWEST_RESPONSES = 2  # below them an estimate has no standard error


class CellSizes(NamedTuple):
    """The number of responses in each cell of a question: stored, in the upcoming copy, and in the one shown."""

    stored: Sizes
    upcoming: Sizes
    shown: Sizes

    def totals(self, stage: int) -> tuple[int, int]:
        """Return how many responses of a stage are stored, and how many are shown."""
        stored, shown = (
            sum(size for cell, size in sizes.items() if cell.stage == stage) for sizes in (self.stored, self.shown)
        )
        return stored, shown

    def shown_in(self, group: int) -> int:
        """Return how many respondents of a group are shown."""
        return self.shown.get(Cell(0, group), 0)


def read_sizes(tables: Tables, known: KnownSurvey, question: int) -> CellSizes:
    """Return the sizes of all cells of a question."""
    return CellSizes(*(_sizes(tables, table, known, question) for table in (LIVE, UPCOMING, PUBLISHED)))


def step(tables: Tables, known: KnownSurvey, question: int) -> None:
    """Take the steps that are due after responses were stored; none once the survey has ended and was opened again."""
    stored, upcoming = (_sizes(tables, table, known, question) for table in (LIVE, UPCOMING))
    stepping = _stepping(stored, upcoming, least(known, question))
    if not stepping or _ended_before(_sizes(tables, PUBLISHED, known, question)):
        return
    for group, stages in stepping.items():
        live, ahead, shown = (_read(tables, table, known, question, group) for table in (LIVE, UPCOMING, PUBLISHED))
        shown, ahead = _caught_up(shown, ahead, stages), _caught_up(ahead, live, stages)
        if _possible(shown) and _possible(ahead):
            _write(tables, PUBLISHED, known, question, group, shown[:stages])
            _write(tables, UPCOMING, known, question, group, ahead[:stages])


def _stepping(stored: Sizes, upcoming: Sizes, least: Sequence[int]) -> dict[int, int]:
    """Return how many stages of each group have grown by a step, from the coarsest on.

    Why: a finer stage moves only together with the coarser ones, so that nobody is shown at it who is not shown there.
    """
    found = {}
    for group in sorted({cell.group for cell in stored}):
        cells = [Cell(stage, group) for stage in range(len(least))]
        rises = (stored.get(cell, 0) - upcoming.get(cell, 0) >= least[cell.stage] for cell in cells)
        found[group] = sum(takewhile(bool, rises))
    return {group: stages for group, stages in found.items() if stages}


def least(known: KnownSurvey, question: int) -> list[int]:
    """Return how many people make a step of each stage: the minimum, or as many as there are pieces to be copied."""
    return [max(known.entry.survey.minimum, layout.pieces) for layout in known.columns[question].layouts]


def next_step(sizes: CellSizes, step: int, group: int | None) -> int:
    """Return the smallest number of responses at which analysts are shown more.

    Args:
        sizes: of the question's cells.
        step: how many people make a step of the first stage.
        group: of one group; None for everybody.
    """
    copied = sizes.shown if _ended_before(sizes.shown) else sizes.upcoming
    groups = [size for cell, size in copied.items() if cell.stage == 0 and group in (None, cell.group)]
    return sum(groups) + step * (1 if groups else 2)  # the first copy is the upcoming one


def publish(tables: Tables, known: KnownSurvey, question: int, sizes: CellSizes) -> None:
    """Show all that is stored of a survey that has ended."""
    stages, minimum = finishing(sizes, known, question), known.entry.survey.minimum
    if not _ended_before(sizes.shown):
        for group, reached in _apart(sizes.stored, sizes.shown, stages, minimum).items():
            live, told = (_read(tables, table, known, question, group) for table in (LIVE, PUBLISHED))
            told = _caught_up(told, live, reached)
            if _possible(told):
                _write(tables, PUBLISHED, known, question, group, told[:reached])
    live, told, rest = (
        _read(tables, table, known, question, group)
        for table, group in ((LIVE, None), (PUBLISHED, None), (PUBLISHED, REST))
    )
    if not _possible(_caught_up(told, live, stages)):
        return  # opened again, and who was shown at a finer stage has withdrawn
    triples = zip(live[:stages], told, rest, strict=False)
    left = [{which: one[which] - two[which] + own[which] for which in one} for one, two, own in triples]
    _write(tables, PUBLISHED, known, question, REST, left)


def is_due(sizes: CellSizes, known: KnownSurvey, question: int, today: date) -> bool:
    """Say whether a survey has ended, and something of a question is to be shown that is not."""
    return ended(known.entry, today) and finishing(sizes, known, question) > 0


def finishing(sizes: CellSizes, known: KnownSurvey, question: int) -> int:
    """Return how many stages of a survey that has ended are to be shown whole, and are not: those of enough people.

    When it ends for the first time, these are all that have had a step, also where so many have withdrawn that few are
    new. When it was opened again, at least as many as the minimum are new.
    """
    before, minimum = _ended_before(sizes.shown), known.entry.survey.minimum
    totals = map(sizes.totals, range(len(known.columns[question].layouts)))
    enough = (stored - shown >= minimum or (shown > 0 and not before) for stored, shown in totals)
    return sum(takewhile(bool, enough))


def _apart(stored: Sizes, shown: Sizes, stages: int, minimum: int) -> dict[int, int]:
    """Return how many stages of each group are shown whole at the end, by themselves."""
    found: dict[int, int] = {}
    every = kept = sorted({cell.group for cell in stored})
    for stage in range(stages):
        rises = {group: stored.get(Cell(stage, group), 0) - shown.get(Cell(stage, group), 0) for group in every}
        chosen = large_enough([rises[group] for group in kept], sum(rises.values()), minimum)
        kept = [kept[number] for number in chosen]
        found |= dict.fromkeys(kept, stage + 1)
    return found


def large_enough(sizes: Sequence[int], total: int, minimum: int) -> tuple[int, ...]:
    """Return the numbers of the groups that may be shown beside the total.

    Whoever knows the total and the groups shown knows all others together, too. So these others are either nobody or at
    least as many as the minimum; the smallest groups are hidden until that is so.

    Example:
        >>> large_enough([50, 30, 7], 87, 20)  # with 7 hidden alone, 87 − 50 − 30 would tell about them
        (0,)
        >>> large_enough([50, 30, 0], 80, 20), large_enough([50, 30, 7], 110, 20)
        ((0, 1), (0, 1))
    """
    rising = sorted(range(len(sizes)), key=lambda number: sizes[number])
    kept = [number for number in rising if sizes[number] >= minimum]
    while kept and (left := total - sum(sizes[number] for number in kept)) and left < minimum:
        del kept[0]
    return tuple(sorted(kept))


def _caught_up(behind: Stages, ahead: Stages, stages: int) -> Stages:
    """Return counts of which the first stages are those of others; who is seen at a stage has raised the one before."""
    seen = [(ahead if stage < stages else behind)[stage][SEEN] for stage in range(len(behind))]
    raised = [(ahead if stage + 1 < stages else behind)[stage][RAISED] for stage in range(len(behind))]
    return [{SEEN: one, RAISED: other} for one, other in zip(seen, raised, strict=True)]


def _possible(stages: Iterable[Mapping[str, Vector]]) -> bool:
    """Say whether nobody has raised what is not seen: else somebody has withdrawn who is shown at a finer stage."""
    return all((each[SEEN] >= each[RAISED]).all() for each in stages)


def complete_stages(sizes: CellSizes, stages: int) -> int:
    """Return how many stages of an ended survey, of so many, are shown whole: no more of them will come."""
    totals = [sizes.totals(stage) for stage in range(stages)]
    return next((stage for stage, (stored, shown) in enumerate(totals) if stored > shown), stages)


def complete_groups(sizes: CellSizes) -> frozenset[int]:
    """Return the groups of which all is shown that is stored."""
    behind = {cell.group for cell, size in sizes.stored.items() if size > sizes.shown.get(cell, 0)}
    return frozenset(cell.group for cell in sizes.stored if cell.group not in behind)


def fewest_shown(entry: Entry) -> int:
    """Return the smallest number of respondents whose counts are shown."""
    return max(entry.survey.minimum, _FEWEST_RESPONSES)


def ended(entry: Entry, today: date) -> bool:
    """Say whether a survey takes no more responses."""
    return entry.standing(today) in {"closed", "over"}


def _ended_before(shown: Sizes) -> bool:
    return any(cell.group == REST for cell in shown)


def _sizes(tables: Tables, table: str, known: KnownSurvey, question: int) -> dict[Cell, int]:
    """Return how many responses each cell has."""
    statement = (
        f"SELECT stage, grp, substr(counts, 1, {SIZE}) FROM {table} "
        "WHERE survey = ? AND question = ? AND which = ? AND piece = 0"
    )
    found = tables.rows(statement, known.entry.id, question, SEEN)
    return {Cell(stage, group): int.from_bytes(count, "little", signed=True) for stage, group, count in found}


def _read(tables: Tables, table: str, known: KnownSurvey, question: int, group: int | None) -> Stages:
    return counts.read(tables, table, known.entry.id, question, known.columns[question].layouts, group)


def _write(tables: Tables, table: str, known: KnownSurvey, question: int, group: int, stages: Stages) -> None:
    """Put the first stages of a group into a table: who is seen at them, and who has raised them, but for the last."""
    for stage, vectors in enumerate(stages):
        for which in (SEEN, RAISED) if stage + 1 < len(stages) else (SEEN,):
            counts.write(tables, table, Counter(known.entry.id, question, stage, which, group), vectors[which])
