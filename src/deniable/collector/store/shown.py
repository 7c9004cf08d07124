"""What analysts are shown of surveys, read in one transaction into values that no later response changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date

from deniable.collector.store import counts, credentials, published, surveys
from deniable.collector.store.base import Entry, Invitations
from deniable.collector.store.counts import Vector
from deniable.collector.store.published import PUBLISHED, CellSizes
from deniable.collector.store.surveys import KnownSurvey
from deniable.db import Tables
from deniable.survey import Question
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies


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
        today: the day on which it was read.
        sizes: the number of responses in each cell.
        step: how many more respondents change what is shown.
        everybody: the counts of all respondents.
        large_groups: the numbers of the groups that may be shown.
        groups: the counts of those of them that were asked for.
        days: how many responses came on each day that has ended.
    """

    entry: Entry
    number: int
    today: date
    sizes: CellSizes
    step: int
    everybody: ShownCounts
    large_groups: tuple[int, ...]
    groups: Mapping[int, ShownCounts]
    days: tuple[tuple[date, int], ...]

    @property
    def question(self) -> Question:
        """The question."""
        return self.entry.survey.questions[self.number]

    @property
    def is_over(self) -> bool:
        """Whether the survey takes no more responses."""
        return published.ended(self.entry, self.today)

    @property
    def complete_stages(self) -> int:
        """Of how many stages all is shown that is stored, and no more will come."""
        return published.complete_stages(self.sizes, self.question.stages) if self.is_over else 0

    @property
    def complete_groups(self) -> frozenset[int]:
        """The groups of which all is shown that is stored."""
        return published.complete_groups(self.sizes)

    def next_step(self, group: int | None = None) -> int:
        """Return the smallest number of responses, of everybody or in a group, at which more is shown."""
        return published.next_step(self.sizes, self.step, group)


class ShownReader:
    """Reads what analysts are shown, inside one transaction.

    Args:
        tables: of the transaction.
        find: returns the survey of a number in its present state.
        today: the day on which it is read.
        writes: whether the transaction writes, so that what is due can be published.
    """

    def __init__(
        self, tables: Tables, find: Callable[[Tables, int], KnownSurvey], today: date, *, writes: bool
    ) -> None:
        self._tables = tables
        self._find = find
        self._today = today
        self._writes = writes
        self._known: dict[int, KnownSurvey] = {}

    def surveys(self) -> list[Entry]:
        """Return all surveys in the order of their names."""
        numbers = surveys.numbers(self._tables)
        for number in sorted(numbers):  # as all who write lock them, so that no two wait for each other
            self._survey(number)
        return [self._survey(number).entry for number in numbers]

    def survey(self, name: str) -> Entry:
        """Return a survey by its name.

        Raises:
            NoSuchSurvey: there is none of this name.
        """
        return self._survey(surveys.number(self._tables, name)).entry

    def invitations(self, survey: int) -> Invitations:
        """Return how many invitations a survey has, and how many were used."""
        return credentials.invitations(self._tables, survey)

    def question(self, survey: int, number: int, groups: Collection[int] | None = None) -> ShownQuestion:
        """Return a question as analysts are shown it.

        Args:
            survey: the number of the survey.
            number: the index of the question.
            groups: whose counts are read, as far as they may be shown; None for all groups.

        Raises:
            PublicationDue: something has to be published, and the transaction does not write.
        """
        known = self._survey(survey)
        sizes = self._published_sizes(known, number)
        names = range(len(known.entry.survey.groups))
        total = sizes.totals(0)[1]
        large = published.large_enough(
            [sizes.shown_in(group) for group in names], total, published.fewest_shown(known.entry)
        )
        return ShownQuestion(
            entry=known.entry,
            number=number,
            today=self._today,
            sizes=sizes,
            step=published.least(known, number)[0],
            everybody=self._counts(known, number, None),
            large_groups=large,
            groups={group: self._counts(known, number, group) for group in large if groups is None or group in groups},
            days=tuple((day, n) for day, n in counts.days(self._tables, survey, number) if day < self._today),
        )

    def _survey(self, number: int) -> KnownSurvey:
        if number not in self._known:
            if self._writes:
                surveys.lock(self._tables, number)
            self._known[number] = self._find(self._tables, number)
        return self._known[number]

    def _published_sizes(self, known: KnownSurvey, question: int) -> CellSizes:
        """Return the sizes of a question's cells, after all of an ended survey was published."""
        sizes = published.read_sizes(self._tables, known, question)
        if not published.is_due(sizes, known, question, self._today):
            return sizes
        if not self._writes:
            raise PublicationDue
        published.publish(self._tables, known, question, sizes)
        return published.read_sizes(self._tables, known, question)

    def _counts(self, known: KnownSurvey, question: int, group: int | None) -> ShownCounts:
        column = known.columns[question]
        stages = counts.read(self._tables, PUBLISHED, known.entry.id, question, column.layouts, group)
        return ShownCounts(column.tally(stages), column.set_sizes(stages))
