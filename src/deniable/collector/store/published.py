"""Counts as analysts are shown them: copies that change in steps, so that no difference of two looks tells about few.

A cell is one stage of one question in one group, or among those without a group. There are two copies of it: the one
that is shown, which is stored, and the upcoming one, which is in memory alone. When at least as many people as the
survey's minimum have come since the upcoming copy, less those who have withdrawn, it becomes the one that is shown, and
what is there now becomes the upcoming one. So what is shown lags one whole step behind, and when a survey ends, what is
new since then is a step as well: all of it is shown, each group by itself as far as neither it nor what is left is
small; what is left goes into a cell of its own, the rest. What is shown of everybody is the sum of all cells. What is
withdrawn stays in a copy until the next one.

Guarantee: the cells are of different people, and each grows by so many people at a time, unless people have withdrawn.
So all that was ever shown of a stage, however it is added and subtracted, is about sets of at least so many people. The
same holds on the disk, for what is stored less what is shown.

Why in memory: a copy on the disk, taken from what is stored, would tell the few who came after it. A program that
starts has no copy, and takes what is shown for it: the next step comes later, and shows no fewer people. So does one
whose copy is older than what another program has shown since.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from deniable.collector.store import counts, credentials, surveys
from deniable.collector.store.base import Entry, Invitations, StoredQuestion
from deniable.collector.store.counts import (
    RAISED,
    SEEN,
    SIZE,
    Counter,
    Stages,
    Vector,
)
from deniable.collector.store.surveys import Column, KnownSurvey
from deniable.db import Tables
from deniable.errors import NotAllowed, quoted
from deniable.survey import Question
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

LIVE, PUBLISHED = "tally", "published"
"""The tables of counts: of all that is stored, and of what is shown."""

REST = -2
"""The group of those who are in no other cell when a survey has ended."""


class Cell(NamedTuple):
    """One stage in one group (−1: none; −2: the rest)."""

    stage: int
    group: int


Sizes: TypeAlias = Mapping[Cell, int]

_MIN_RESPONSES = 2  # below them an estimate has no standard error


class UpcomingCopy(NamedTuple):
    """What is shown of a group next, in memory.

    Attributes:
        base: the sizes of what was shown when it was taken, by stage: each step raises them, so they tell its age.
        counts: of each stage.
    """

    base: tuple[int, ...]
    counts: Stages


Upcoming: TypeAlias = MutableMapping[tuple[StoredQuestion, int], UpcomingCopy]
"""The copy of each group of each question; a program that has none starts from what is shown."""


class CellSizes(NamedTuple):
    """The number of responses in each cell of a question: stored, and shown."""

    stored: Sizes
    shown: Sizes

    def totals(self, stage: int) -> tuple[int, int]:
        """Return how many responses of a stage are stored, and how many are shown."""
        stored, n_shown = (
            sum(size for cell, size in sizes.items() if cell.stage == stage)
            for sizes in (self.stored, self.shown)
        )
        return stored, n_shown


def _read_sizes(tables: Tables, question: StoredQuestion) -> CellSizes:
    """Return the sizes of the cells of a question."""
    selects = [
        f"SELECT '{table}', stage, grp, substr(counts, 1, {SIZE}) FROM {table} "
        "WHERE survey = ? AND question = ? AND which = ? AND piece = 0"
        for table in (LIVE, PUBLISHED)
    ]
    values = [*question, SEEN] * len(selects)
    sizes: dict[str, dict[Cell, int]] = {LIVE: {}, PUBLISHED: {}}
    for table, stage, group, count in tables.rows(
        " UNION ALL ".join(selects), *values
    ):
        sizes[table][Cell(stage, group)] = int.from_bytes(
            count, "little", signed=True
        )
    return CellSizes(*sizes.values())


class PublicationDue(Exception):
    """A survey has ended, and what is stored of a question is not yet shown: that has to be written first."""


@dataclass(frozen=True, eq=False, slots=True)
class ShownCounts:
    """Counts of everybody, or of one group, as analysts are shown them.

    Attributes:
        tally: the counts; `StageTallies` where the question has a ladder.
        set_sizes: for each stage how many responses held 0, 1, 2 … categories; empty unless responses are sets.
    """

    tally: Tally | StageTallies
    set_sizes: tuple[Vector, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ShownQuestion:
    """A question as analysts are shown it.

    Attributes:
        entry: the survey.
        number: the index of the question.
        question: the question.
        language: the first one of the survey, in which analysts read it.
        is_staged: whether it is released gradually.
        fewest: how many respondents there are at least where counts are shown.
        everybody: the counts of all respondents.
        large_groups: the numbers of the groups that may be shown.
        groups: the counts of those of them that were asked for.
        next_steps: the smallest number of responses at which more may be shown, by group; None for everybody.
        days: how many responses came on each day that has ended.
        is_over: whether the survey takes no more responses.
        complete_stages: of how many stages all is shown that is stored, and no more will come.
        complete_groups: the groups of which all is shown that is stored.
    """

    entry: Entry
    number: int
    question: Question
    language: str
    is_staged: bool
    fewest: int
    everybody: ShownCounts
    large_groups: tuple[int, ...]
    groups: Mapping[int, ShownCounts]
    next_steps: Mapping[int | None, int]
    days: tuple[tuple[date, int], ...]
    is_over: bool
    complete_stages: int
    complete_groups: frozenset[int]

    def counts(self, group: int | None = None) -> ShownCounts:
        """Return the counts of everybody, or of a group that may be shown.

        Raises:
            NotAllowed: of fewer people than the survey's minimum, or of a group that is hidden.
        """
        survey = self.entry.survey
        if group is not None and group not in self.large_groups:
            raise NotAllowed(
                f"the group {quoted(survey.groups[group], 50)} is not shown; expected one with at least "
                f"{survey.minimum:,} respondents, and no smaller one that could be told from the rest.",
                "Read the counts of everybody instead, or wait for more responses.",
            )
        counts = self.everybody if group is None else self.groups[group]
        if counts.tally.respondents < self.fewest:
            next_step = 0 if self.is_over else self.next_steps[group]
            raise too_few_error(self.entry, self.number, max(self.fewest, next_step))
        return counts


class ShownReader:
    """Reads what analysts are shown, inside one transaction.

    Args:
        tables: of the transaction.
        find: returns the survey of a number in its present state.
        today: the day on which it is read.
        writes: whether the transaction writes, so that what is due can be
    """

    def __init__(
        self,
        tables: Tables,
        find: Callable[[Tables, int], KnownSurvey],
        today: date,
        *,
        writes: bool,
    ) -> None:
        self._tables = tables
        self._find = find
        self._today = today
        self._writes = writes
        self._known: dict[int, KnownSurvey] = {}

    def surveys(self) -> list[Entry]:
        """Return all surveys in the order of their names."""
        numbers = surveys.numbers(self._tables)
        # as all who write lock them, so that no two wait for each other
        for number in sorted(numbers):
            self._survey(number)
        return [self._survey(number).entry for number in numbers]

    def survey(self, name: str) -> Entry:
        """Return a survey by its name.

        Raises:
            NoSuchSurvey: there is none of this name.
        """
        return self._survey(surveys.number(self._tables, name)).entry

    def invitations(self, survey: int) -> Invitations:
        """Return how many invitations a survey has, and how many were used at least: in steps of the minimum.

        Why: whoever looks again and again would see when each was used.
        """
        made, used = credentials.invitations(self._tables, survey)
        step = self._survey(survey).entry.survey.minimum
        return Invitations(made, used - used % step)

    def question(
        self, survey: int, number: int, groups: Collection[int] | None = None
    ) -> ShownQuestion:
        """Return a question as analysts are shown it.

        Args:
            survey: the number of the survey.
            number: the index of the question.
            groups: whose counts are read, as far as they may be shown; None for all groups.

        Raises:
            PublicationDue: something has to be published, and the transaction does not write.
        """
        known_survey = self._survey(survey)
        entry, column = known_survey.entry, known_survey.columns[number]
        is_over = entry.standing(self._today) in {"closed", "over"}
        sizes = self._read_sizes(column, publish=is_over)
        everyone, fewest = range(len(entry.survey.groups)), fewest_shown(entry)
        group_sizes = [sizes.shown.get(Cell(0, group), 0) for group in everyone]
        large = large_enough(group_sizes, sizes.totals(0)[1], fewest)
        step, days = min_steps(column)[0], counts.days(self._tables, column.stored)
        return ShownQuestion(
            entry=entry,
            number=number,
            question=column.question,
            language=entry.survey.language,
            is_staged=column.question.ladder is not None,
            fewest=fewest,
            everybody=self._counts(column, None),
            large_groups=large,
            groups={
                group: self._counts(column, group)
                for group in large
                if groups is None or group in groups
            },
            next_steps={
                group: _next_step(sizes, step, group) for group in (None, *everyone)
            },
            days=tuple([day for day in days if day[0] < self._today]),
            is_over=is_over,
            complete_stages=_complete_stages(sizes, column) if is_over else 0,
            complete_groups=_complete_groups(sizes),
        )

    def _survey(self, number: int) -> KnownSurvey:
        if number not in self._known:
            if self._writes:
                surveys.lock(self._tables, number)
            self._known[number] = self._find(self._tables, number)
        return self._known[number]

    def _read_sizes(self, column: Column, *, publish: bool) -> CellSizes:
        """Return the sizes of a question's cells; of a survey that has ended, after all of it was published."""
        sizes = _read_sizes(self._tables, column.stored)
        if not publish or not _stages_to_finish(sizes, column):
            return sizes
        if not self._writes:
            raise PublicationDue
        _publish(self._tables, column, sizes)
        return _read_sizes(self._tables, column.stored)

    def _counts(self, column: Column, group: int | None) -> ShownCounts:
        stages = column.read(self._tables, PUBLISHED, group)
        return ShownCounts(column.tally(stages), column.set_sizes(stages))


def step(tables: Tables, column: Column, upcoming: Upcoming) -> None:
    """Take the steps that are due after responses were stored; none once the end was shown, whatever the clock says."""
    sizes = _read_sizes(tables, column.stored)
    if _ended_before(sizes.shown):
        return
    copies = {
        group: copy
        for group in {cell.group for cell in sizes.stored}
        if (copy := upcoming.get((column.stored, group)))
        and copy.base == _base(sizes.shown, column, group)
    }
    copied = {**sizes.shown}
    for group, copy in copies.items():
        copied |= {
            Cell(stage, group): int(vectors[SEEN][0])
            for stage, vectors in enumerate(copy.counts)
        }
    grown = _stages_grown(sizes.stored, copied, min_steps(column))
    for group, stages in grown.items():
        _step_group(tables, column, group, stages, copies.get(group), upcoming)


def _step_group(
    tables: Tables,
    column: Column,
    group: int,
    stages: int,
    copy: UpcomingCopy | None,
    upcoming: Upcoming,
) -> None:
    """Show the upcoming copy of a group's first stages, and take the next one."""
    live, shown = (column.read(tables, table, group) for table in (LIVE, PUBLISHED))
    ahead = copy.counts if copy else shown
    shown, ahead = (
        _align_first_stages(shown, ahead, stages),
        _align_first_stages(ahead, live, stages),
    )
    if _is_possible(shown) and _is_possible(ahead):
        if copy:
            _write(tables, PUBLISHED, column, group, shown[:stages])
        base = tuple(int(vectors[SEEN][0]) for vectors in shown)
        upcoming[column.stored, group] = UpcomingCopy(base, ahead)


def _base(shown: Sizes, column: Column, group: int) -> tuple[int, ...]:
    stages = range(len(column.layouts))
    return tuple(shown.get(Cell(stage, group), 0) for stage in stages)


def _stages_grown(
    stored: Sizes, copied: Sizes, minima: Sequence[int]
) -> dict[int, int]:
    """Return how many stages of each group have grown by a step, from the coarsest on.

    Why: a finer stage moves only together with the coarser ones, so that nobody is shown at it who is not shown there.
    """
    stages_by_group = {}
    for group in sorted({cell.group for cell in stored}):
        cells = [Cell(stage, group) for stage in range(len(minima))]
        rises = (
            stored.get(cell, 0) - copied.get(cell, 0) >= minima[cell.stage]
            for cell in cells
        )
        stages_by_group[group] = sum(takewhile(bool, rises))
    return {group: stages for group, stages in stages_by_group.items() if stages}


def min_steps(column: Column) -> list[int]:
    """Return how many people make a step of each stage: the minimum, or as many as there are pieces to be copied."""
    return [max(column.survey.minimum, layout.pieces) for layout in column.layouts]


def _next_step(sizes: CellSizes, step: int, group: int | None) -> int:
    """Return the smallest number of responses at which analysts are shown more; it may take more of them.

    Args:
        sizes: of the question's cells.
        step: how many people make a step of the first stage.
        group: of one group; None for everybody.
    """
    n_shown = sum(
        size
        for cell, size in sizes.shown.items()
        if cell.stage == 0 and group in (None, cell.group)
    )
    return n_shown + 2 * step


def _publish(tables: Tables, column: Column, sizes: CellSizes) -> None:
    """Show all that is stored of a survey that has ended."""
    stages = _stages_to_finish(sizes, column)
    for group, reached in _fully_shown_stages(
        sizes.stored, sizes.shown, stages, column.survey.minimum
    ).items():
        live, shown_counts = (
            column.read(tables, table, group) for table in (LIVE, PUBLISHED)
        )
        shown_counts = _align_first_stages(shown_counts, live, reached)
        if _is_possible(shown_counts):
            _write(tables, PUBLISHED, column, group, shown_counts[:reached])
    live, shown_counts = (
        column.read(tables, table, None) for table in (LIVE, PUBLISHED)
    )
    left = [
        {kind: stored[kind] - published[kind] for kind in stored}
        for stored, published in zip(live[:stages], shown_counts, strict=False)
    ]
    _write(tables, PUBLISHED, column, REST, left)


def _stages_to_finish(sizes: CellSizes, column: Column) -> int:
    """Return how many stages of a survey that has ended are to be shown whole, and are not: those of enough people.

    These are all that have had a step, also where so many have withdrawn that few are new.
    """
    if _ended_before(sizes.shown):
        return 0
    totals = map(sizes.totals, range(len(column.layouts)))
    enough = (
        stored - n_shown >= column.survey.minimum or n_shown > 0
        for stored, n_shown in totals
    )
    return sum(takewhile(bool, enough))


def _fully_shown_stages(
    stored: Sizes, published: Sizes, stages: int, minimum: int
) -> dict[int, int]:
    """Return how many stages of each group are shown whole at the end, by themselves."""
    group_of_stage: dict[int, int] = {}
    every = retained = sorted({cell.group for cell in stored})
    for stage in range(stages):
        rises = {
            group: stored.get(Cell(stage, group), 0)
            - published.get(Cell(stage, group), 0)
            for group in every
        }
        chosen = large_enough(
            [rises[group] for group in retained], sum(rises.values()), minimum
        )
        retained = [retained[number] for number in chosen]
        group_of_stage |= dict.fromkeys(retained, stage + 1)
    return group_of_stage


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
    large = [number for number in rising if sizes[number] >= minimum]
    while (
        large
        and (left := total - sum(sizes[number] for number in large))
        and left < minimum
    ):
        del large[0]
    return tuple(sorted(large))


def _align_first_stages(behind: Stages, ahead: Stages, stages: int) -> Stages:
    """Return counts of which the first stages are those of others; who is seen at a stage has raised the one before."""
    return [
        {
            SEEN: (ahead if stage < stages else behind)[stage][SEEN],
            RAISED: (ahead if stage + 1 < stages else behind)[stage][RAISED],
        }
        for stage in range(len(behind))
    ]


def _is_possible(stages: Iterable[Mapping[str, Vector]]) -> bool:
    """Say whether nobody has raised what is not seen: else somebody has withdrawn who is shown at a finer stage."""
    return all((stage[SEEN] >= stage[RAISED]).all() for stage in stages)


def _complete_stages(sizes: CellSizes, column: Column) -> int:
    """Return how many stages of an ended survey are shown whole: no more of them will come."""
    totals = map(sizes.totals, range(len(column.layouts)))
    return sum(takewhile(bool, (stored <= n_shown for stored, n_shown in totals)))


def _complete_groups(sizes: CellSizes) -> frozenset[int]:
    """Return the groups of which all is shown that is stored."""
    behind = {
        cell.group
        for cell, size in sizes.stored.items()
        if size > sizes.shown.get(cell, 0)
    }
    return frozenset(cell.group for cell in sizes.stored if cell.group not in behind)


def fewest_shown(entry: Entry) -> int:
    """Return the smallest number of respondents whose counts are shown."""
    return max(entry.survey.minimum, _MIN_RESPONSES)


def too_few_error(entry: Entry, question: int, needed: int) -> NotAllowed:
    """Return the error that a question has fewer respondents than are needed to show it."""
    return NotAllowed(
        f"there are too few responses to {entry.survey.questions[question].name!r}; expected at least {needed:,} "
        "before anything is shown.",
        f"Wait for more responses, or for the end of the survey: then {fewest_shown(entry):,} are enough.",
    )


def check_reopenable(tables: Tables, survey: KnownSurvey) -> None:
    """Refuse to open a survey again when all that it had was shown.

    Why: what is stored less what is shown would tell the few who come then, on the disk too.

    Raises:
        NotAllowed: analysts have seen its end.
    """
    if any(
        _ended_before(_read_sizes(tables, column.stored).shown)
        for column in survey.columns
    ):
        raise NotAllowed(
            f"the end of {survey.entry.survey.name!r} was shown to analysts; expected a survey whose end nobody saw: "
            "the few who come now could be told from the others.",
            "Create another survey with the same questions, and add up the tallies of both.",
        )


def _ended_before(published: Sizes) -> bool:
    return any(cell.group == REST for cell in published)


def _write(
    tables: Tables, table: str, column: Column, group: int, stages: Stages
) -> None:
    """Put the first stages of a group into a table: who is seen at them, and who has raised them, but for the last."""
    for stage, vectors in enumerate(stages):
        for kind in (SEEN, RAISED) if stage + 1 < len(stages) else (SEEN,):
            counter = Counter(*column.stored, stage, kind, group)
            counts.write(tables, table, counter, vectors[kind])
