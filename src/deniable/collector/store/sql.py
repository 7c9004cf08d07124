"""A store in tables: what both kinds of database do the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from os import PathLike
from typing import TYPE_CHECKING

from deniable.collector.store import batches, copies, counts, exports, people, schema, surveys
from deniable.collector.store.base import (
    Batch,
    BatchOutcome,
    Entry,
    Invitations,
    Outcome,
    Sent,
    State,
    Submission,
    Token,
)
from deniable.collector.store.counts import RAISED, SEEN, Vector
from deniable.collector.store.responses import NOBODY, Desk, withdraw
from deniable.collector.store.shelf import Shelf
from deniable.collector.store.tables import Tables
from deniable.errors import InvalidRequest
from deniable.survey import Survey
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

if TYPE_CHECKING:
    import pyarrow as pa


def _today() -> date:
    return datetime.now(UTC).date()


class SqlStore(ABC):
    """A store, but for how transactions are made. See `Store` for what each call does."""

    name: str
    today: Callable[[], date]

    def __init__(self) -> None:
        self.today = _today
        self._shelves: dict[int, Shelf] = {}
        try:
            with self.transaction() as tables:
                schema.migrate(tables)
        except BaseException:
            self.shut()
            raise

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[Tables]:
        """Run a transaction: all of it is durable afterwards, or none of it happened."""

    @abstractmethod
    def shut(self) -> None:
        """Close the database."""

    def create(self, survey: Survey) -> Entry:
        """Keep a survey as a draft."""
        made = surveys.prepare(survey)
        with self.transaction() as tables:
            return surveys.create(tables, made)

    def open(self, name: str) -> Entry:
        """Take responses from now on."""
        return self._turn(name, "open")

    def close(self, name: str) -> Entry:
        """Take no more responses."""
        return self._turn(name, "closed")

    def surveys(self) -> list[Entry]:
        """Return all surveys in the order of their names."""
        with self.transaction(write=False) as tables:
            return [self._shelf(tables, number).entry for number in surveys.numbers(tables)]

    def survey(self, name: str) -> Entry:
        """Return a survey by its name."""
        with self.transaction(write=False) as tables:
            return self._shelf(tables, surveys.number(tables, name)).entry

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store submissions in one durable transaction."""
        with self.transaction() as tables:
            shelves = self._locked(tables, {each.survey for each in submissions})
            return Desk(tables, shelves, self.today()).add(submissions)

    def add_batch(self, *given: Batch) -> BatchOutcome:
        """Store batches in one durable transaction."""
        with self.transaction() as tables:
            shelves = self._locked(tables, {each.survey for each in given})
            done = [batches.add_batch(tables, _known(shelves, each.survey), each, self.today()) for each in given]
            return BatchOutcome(sum(each.stored for each in done), sum(each.repeated for each in done))

    def withdraw(self, survey: int, key: bytes) -> int:
        """Erase all that was sent with a key."""
        with self.transaction() as tables:
            return withdraw(tables, survey, _known(self._locked(tables, {survey}), survey), key)

    def stored(self, survey: int, key: bytes) -> tuple[Sent, ...]:
        """Return all that is stored under a key."""
        with self.transaction(write=False) as tables:
            found = [
                Sent(question, stage, int.from_bytes(code, "little"))
                for question, column in enumerate(self._shelf(tables, survey).columns)
                for _, stage, _, code in tables.find(survey, question, [column.id(key)])
            ]
        return tuple(sorted(found))

    def tallies(self, survey: int, question: int, group: int | None = None) -> Tally | StageTallies:
        """Return the counts of a question."""
        with self.transaction(write=False) as tables:
            column = self._shelf(tables, survey).columns[question]
            stages = counts.read(tables, survey, question, column.layouts, group)
        pairs = list(zip(column.layouts, stages, strict=True))
        seen = tuple(layout.tally(vectors[SEEN]) for layout, vectors in pairs)
        if column.question.ladder is None:
            return seen[0]
        finest = tuple(layout.tally(vectors[SEEN] - vectors[RAISED]) for layout, vectors in pairs)
        return StageTallies(column.question.ladder, seen, finest)

    def shapes(self, survey: int, question: int, stage: int = 0, group: int | None = None) -> Vector:
        """Return how many responses held 0, 1, 2 … categories."""
        with self.transaction(write=False) as tables:
            layouts = self._shelf(tables, survey).columns[question].layouts
            found = counts.read(tables, survey, question, layouts, group)
        return layouts[stage].shapes(found[stage][SEEN])

    def days(self, survey: int, question: int) -> list[tuple[date, int]]:
        """Return how many responses came on each day."""
        statement = "SELECT day, responses FROM day WHERE survey = ? AND question = ? ORDER BY day"
        with self.transaction(write=False) as tables:
            return [(date.fromisoformat(day), number) for day, number in tables.rows(statement, survey, question)]

    def export(self, survey: int, question: int, *, groups: Collection[int] = ()) -> Iterator[pa.RecordBatch]:
        """Yield all responses in random order."""
        with self.transaction(write=False) as tables:
            shelf = self._shelf(tables, survey)
            yield from exports.export(tables, shelf, question, frozenset(groups) - {NOBODY})

    def invite(self, name: str, count: int) -> list[str]:
        """Make one-time invitation codes for a survey."""
        with self.transaction() as tables:
            return people.invite(tables, surveys.number(tables, name), count)

    def invitations(self, name: str) -> Invitations:
        """Return how many invitations a survey has."""
        with self.transaction(write=False) as tables:
            return people.invitations(tables, surveys.number(tables, name))

    def exchange(self, name: str, code: str, blinded: int) -> int:
        """Return the blind signature that an invitation buys."""
        with self.transaction() as tables:
            return people.exchange(tables, surveys.number(tables, name), code, blinded)

    def issue_token(self, token: Token) -> str:
        """Make a token and return it."""
        with self.transaction() as tables:
            return people.issue(tables, token)

    def rotate_token(self, name: str) -> str:
        """Return a new token in the place of one."""
        with self.transaction() as tables:
            return people.rotate(tables, name)

    def revoke_token(self, name: str) -> None:
        """Make a token stop to work."""
        with self.transaction() as tables:
            people.revoke(tables, name)

    def find_token(self, text: str) -> Token | None:
        """Return what a token allows."""
        with self.transaction(write=False) as tables:
            return people.find(tables, text)

    def tokens(self) -> list[Token]:
        """Return all tokens that work."""
        with self.transaction(write=False) as tables:
            return people.tokens(tables)

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes that are kept under a name."""
        with self.transaction(write=False) as tables:
            known = people.known_secret(tables, name)
        if known is not None:
            return known
        with self.transaction() as tables:
            return people.secret(tables, name)

    def check(self) -> None:
        """Do nothing if the database answers."""
        with self.transaction(write=False) as tables:
            tables.rows("SELECT name FROM migration")

    def backup(self, path: str | PathLike[str]) -> None:
        """Write all there is to a new SQLite file."""
        with self.transaction(write=False) as tables:
            copies.backup(tables, path)

    def restore(self, path: str | PathLike[str]) -> None:
        """Read what `backup` wrote."""
        with self.transaction() as tables:
            copies.restore(tables, path)

    def _turn(self, name: str, state: State) -> Entry:
        with self.transaction() as tables:
            number = surveys.number(tables, name)
            surveys.turn(tables, number, state)
            return self._shelf(tables, number).entry

    def _locked(self, tables: Tables, numbers: Iterable[int]) -> dict[int, Shelf]:
        """Return the surveys that exist, in order; nobody else writes to them until the transaction ends."""
        return {number: self._shelf(tables, number) for number in sorted(numbers) if surveys.lock(tables, number)}

    def _shelf(self, tables: Tables, number: int) -> Shelf:
        """Return a survey in its present state; its definition is read once."""
        state = surveys.state(tables, number)
        known = self._shelves.get(number)
        if known is None:
            known = Shelf.of(surveys.read(tables, number))
        if known.entry.state != state:
            known = Shelf(known.entry._replace(state=state), known.columns)
        self._shelves[number] = known
        return known


def _known(shelves: dict[int, Shelf], survey: int) -> Shelf:
    if survey not in shelves:
        raise InvalidRequest("there is no such survey; expected the number of one.")
    return shelves[survey]
