"""The store: surveys, responses, their counts, and who may do what, each call in one transaction."""

from __future__ import annotations

import math
import time
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from deniable.collector import signing
from deniable.collector.store import (
    columns,
    counts,
    credentials,
    packs,
    published,
    schema,
    surveys,
)
from deniable.collector.store.base import (
    Batch,
    BatchOutcome,
    Entry,
    Erasure,
    Exchange,
    NotStored,
    Outcome,
    Sent,
    StoredQuestion,
    StoreFailed,
    Submission,
    Token,
    WithdrawalRequest,
    today,
)
from deniable.collector.store.id_filter import IdFilters
from deniable.collector.store.published import (
    PublicationDue,
    ShownQuestion,
    ShownReader,
    Upcoming,
    UpcomingCopy,
)
from deniable.collector.store.responses import (
    NOBODY,
    Desk,
    no_such_survey,
    require_survey,
    withdraw,
)
from deniable.collector.store.rewriting import SHARE, Rewriter, rewrite
from deniable.collector.store.surveys import KnownSurvey
from deniable.db import Database, Tables, migrate
from deniable.errors import InvalidRequest, NotAllowed
from deniable.survey import Survey
from deniable.survey.signed import AuthorSignature
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

if TYPE_CHECKING:
    import pyarrow as pa

_Value = TypeVar("_Value")

# what is written to see whether anything can be
_PROBE, _PROBE_BYTES = "probe", 1 << 15


def _forward_clock() -> Callable[[], float]:
    """Return a clock that goes on where the system's is set back: else sessions would last for longer."""
    start = time.time() - time.monotonic()
    return lambda: max(time.time(), start + time.monotonic())


class Store:
    """Keeps surveys, responses and their counts. All calls block, and threads may share a store.

    What is returned is durable: a power cut does not undo it. Several programs may use one database at a time: whoever
    writes to a survey locks its row first, and readers wait for nobody.

    Args:
        database: where the tables are; they are made where there are none.
        rewriting: the share of all time that `rewrite` takes, at most.

    Raises:
        UnreadableFile: a later version has worked on it.
    """

    def __init__(self, database: Database, *, rewriting: float = SHARE) -> None:
        self.database = database
        self.today: Callable[[], date] = today
        self.clock: Callable[[], float] = _forward_clock()
        self._surveys: dict[int, KnownSurvey] = {}
        self._id_filters = IdFilters()
        self._upcoming: dict[tuple[StoredQuestion, int], UpcomingCopy] = {}
        self._rewriter = Rewriter(lambda: rewrite(database), rewriting)
        try:
            with database.transaction() as tables:
                migrate(tables, schema.PART, schema.MIGRATIONS)
        except BaseException:
            database.close()
            raise

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        """Run a transaction: all of it is durable afterwards, or none of it happened."""
        with self.database.transaction(write=write) as tables:
            yield tables
        if write:
            self._rewriter.note()

    @contextmanager
    def _counting_transaction(self) -> Iterator[tuple[Tables, Upcoming]]:
        """Run a transaction that stores responses; the copies of counts in memory change when it is durable."""
        changed: Upcoming = {}
        with self.transaction() as tables:
            yield tables, ChainMap(changed, self._upcoming)
        self._upcoming |= changed

    def rewrite(self, *, at_once: bool = False, anyway: bool = False) -> bool:
        """Write everything anew in the order of its keys, unless nothing was changed since the last time.

        Args:
            at_once: whether to begin now, and not when the last time is long enough ago.
            anyway: whether also where nothing was changed here: a program that was killed may have left traces.

        Guarantee: where this returns True, files and log of SQLite, and tables and indices of Postgres, follow from the
        rows they hold; nothing in them tells which rows were written together, before or after others. It returns False
        where somebody was reading for so long that old rows had to stay for them; then call it again.

        Raises:
            StoreFailed: there is no room for a second copy, or the database failed; nothing was changed.
        """
        if anyway:
            self._rewriter.note()
        return self._rewriter.run(at_once=at_once)

    @property
    def rewrite_pause(self) -> float | None:
        """Seconds until `rewrite` would begin; None where nothing was changed."""
        return self._rewriter.pause

    @property
    def rewrite_lasts(self) -> float:
        """Seconds that `rewrite` took the last time."""
        return self._rewriter.lasts

    def is_pool(self, works: Sequence[object]) -> bool:
        """Say whether all of these are submissions, to each survey of as many people as its minimum."""
        people = Counter(
            work.survey for work in works if isinstance(work, Submission)
        )
        return people.total() == len(works) and all(
            count >= self._surveys[survey].entry.survey.minimum
            for survey, count in people.items()
            if survey in self._surveys
        )

    def create(self, survey: Survey) -> Entry:
        """Keep a survey as a draft, in the place of a draft of its name.

        Raises:
            NotAllowed: a survey of this name is or was open; its definition is frozen.
            InvalidRequest: it is a pilot, which is not created but started from a draft.
        """
        if survey.pilot:
            raise InvalidRequest(
                "this is a pilot; expected the survey itself.",
                "Create that, then start its pilot.",
            )
        prepared = surveys.prepare(survey, signing.receipt_key(self))
        with self.transaction() as tables:
            tables.lock()  # administrators come one after the other, also in two processes
            return surveys.create(tables, prepared)

    def find_unchanged(self, survey: Survey) -> Entry | None:
        """Return the stored survey of this name if its definition is the same, apart from the collector's keys."""
        with self.transaction(write=False) as tables:
            stored = {
                entry.survey.name: entry for entry in self._entries(tables)
            }.get(survey.name)
        if (
            stored is None
            or replace(stored.survey, keys=survey.keys).hash != survey.hash
        ):
            return None
        return stored

    def open(self, name: str) -> Entry:
        """Take responses from now on; a closed survey can be opened again until its end was shown. A pilot of it ends.

        Raises:
            NoSuchSurvey: there is none of this name.
            NotAllowed: it is a pilot that has ended, a placeholder of a template stands in its texts, or its end was
                shown.
        """
        self.survey(name).survey.check_filled()
        with self.transaction() as tables:
            tables.lock()
            number, pilot = (
                surveys.number(tables, name),
                surveys.pilot_of(tables, name),
            )
            published.check_reopenable(tables, self._survey(tables, number))
            surveys.set_state(tables, number, "open")
            if pilot is not None:
                surveys.end_pilot(tables, pilot)
            entry = self._survey(tables, number).entry
        if pilot is not None:
            self.rewrite(at_once=True)
        return entry

    def start_pilot(self, name: str) -> Entry:
        """Open a pilot of a draft: a survey of its own, called `<name>-pilot`, with keys and invitations of its own.

        Nothing of it can mix with the survey: it has another name, and so another hash. All that is sent to it is
        erased when it ends, which is when the survey is opened, or before.

        Raises:
            NoSuchSurvey: there is none of this name.
            NotAllowed: the survey is no draft any more, or it has a pilot that runs.
            InvalidRequest: its name is too long for one with a pilot.
        """
        prepared = surveys.prepare(
            self.survey(name).survey.as_pilot(), signing.receipt_key(self)
        )
        with self.transaction() as tables:
            tables.lock()
            return self._survey(
                tables, surveys.start_pilot(tables, name, prepared)
            ).entry

    def end_pilot(self, name: str) -> Entry:
        """Erase all that was sent to the pilot of a survey, with its counts, invitations and spent tokens.

        Raises:
            NoSuchSurvey: there is none of this name.
            NotAllowed: it has no pilot.
        """
        with self.transaction() as tables:
            tables.lock()
            surveys.number(tables, name)  # there is such a survey
            pilot = surveys.pilot_of(tables, name)
            if pilot is None:
                raise NotAllowed(
                    f"the survey {name!r} has no pilot; expected one that was started."
                )
            surveys.end_pilot(tables, pilot)
            entry = self._survey(tables, pilot).entry
        self.rewrite(at_once=True)
        return entry

    def close(self, name: str) -> Entry:
        """Take no more responses, and leave no trace of the order in which they came (`rewrite`).

        Raises:
            NoSuchSurvey: there is none of this name.
            NotAllowed: it was never open.
        """
        with self.transaction() as tables:
            tables.lock()
            number = surveys.number(tables, name)
            surveys.set_state(tables, number, "closed")
            entry = self._survey(tables, number).entry
        self._settle()
        return entry

    def keep_signature(self, name: str, signature: AuthorSignature) -> Entry:
        """Keep the signature of a definition, made by its author, and serve it from now on.

        Raises:
            NoSuchSurvey: there is none of this name.
            Incompatible: it is of another definition.
        """
        with self.transaction() as tables:
            number = surveys.number(tables, name)
            surveys.keep_signature(tables, number, signature)
            return self._survey(tables, number).entry

    def surveys(self) -> list[Entry]:
        """Return all surveys in the order of their names."""
        with self.transaction(write=False) as tables:
            return self._entries(tables)

    def survey(self, name: str) -> Entry:
        """Return a survey by its name.

        Raises:
            NoSuchSurvey: there is none of this name.
        """
        with self.transaction(write=False) as tables:
            return self._survey(tables, surveys.number(tables, name)).entry

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store submissions in one durable transaction, each of them wholly or not at all.

        The same stage with the same code again is "repeated". Another code, a stage that leaves one out, a code that
        cannot follow the one before, a symbol that is never sent, a survey that is not open: each is a `NotStored`.
        """
        with self._counting_transaction() as (tables, upcoming):
            known_surveys = self._lock_surveys(
                tables, {submission.survey for submission in submissions}
            )
            desk = Desk(tables, known_surveys, self.today(), upcoming)
            return desk.add(submissions)

    def add_batch(self, *batches: Batch) -> BatchOutcome:
        """Store batches of one survey in one durable transaction, all of them or nothing.

        Raises:
            DeniableError: what `add` refuses; the message names the row.
        """
        with self._counting_transaction() as (tables, upcoming):
            known_surveys = self._lock_surveys(
                tables, {batch.survey for batch in batches}
            )
            outcomes = [
                columns.add_batch(
                    tables,
                    self._id_filters,
                    require_survey(known_surveys, batch.survey),
                    batch,
                    self.today(),
                    upcoming,
                )
                for batch in batches
            ]
            return BatchOutcome(
                sum(outcome.stored for outcome in outcomes),
                sum(outcome.repeated for outcome in outcomes),
            )

    def withdraw(self, survey: int, key: bytes) -> Erasure:
        """Erase all that was sent with a key, and take it out of the counts.

        Guarantee: where it is `overwritten`, the bytes of the rows are gone from SQLite's file and its log, and from
        the tables and indices of Postgres, because everything was written anew without them (`rewrite`). Who withdraws
        may wait for that, many at a time for the same run. Where somebody was reading all the while (an export under
        way), or the disk is full, the next run does it. Backups made before, the log that Postgres keeps for itself,
        and what lies below the file system are not reached.
        """
        (erased,) = self.erase([WithdrawalRequest(survey, key)])
        if isinstance(erased, NotStored):
            raise erased.error
        try:
            return Erasure(erased, not erased or self.rewrite())
        except StoreFailed:  # it is erased all the same
            return Erasure(erased, overwritten=False)

    def erase(
        self, withdrawals: Sequence[WithdrawalRequest]
    ) -> list[int | NotStored]:
        """Erase what was sent with keys, in one durable transaction; return how many responses each had sent."""
        with self.transaction() as tables:
            known_surveys = self._lock_surveys(
                tables, {withdrawal.survey for withdrawal in withdrawals}
            )
            return [
                withdraw(tables, known_surveys[survey], key)
                if survey in known_surveys
                else NotStored(no_such_survey())
                for survey, key in withdrawals
            ]

    def stored(self, survey: int, key: bytes) -> tuple[Sent, ...]:
        """Return all that is stored under a key, by question and stage."""
        with self.transaction(write=False) as tables:
            responses = [
                Sent(question, stage, int.from_bytes(code, "little"))
                for question, column in enumerate(
                    self._survey(tables, survey).columns
                )
                for _, stage, _, code in packs.find(
                    tables, column.stored, [column.id(key)]
                )
            ]
        return tuple(sorted(responses))

    def read_shown(self, read: Callable[[ShownReader], _Value]) -> _Value:
        """Read what analysts are shown in one transaction; in two at the first look after a survey has ended.

        Args:
            read: called with what reads, and once more where something was due to be published; returns values.
        """
        today = self.today()
        try:
            with self.transaction(write=False) as tables:
                return read(ShownReader(tables, self._survey, today, writes=False))
        except PublicationDue:
            with self.transaction() as tables:
                return read(ShownReader(tables, self._survey, today, writes=True))

    def shown(self, survey: int, question: int) -> ShownQuestion:
        """Return a question as analysts are shown it, with all groups that may be shown."""
        return self.read_shown(lambda reader: reader.question(survey, question))

    def tallies(
        self, survey: int, question: int, group: int | None = None
    ) -> Tally | StageTallies:
        """Return the counts of all that is stored of a question: `StageTallies` where it has a ladder.

        Args:
            survey: the number of the survey.
            question: the number of the question.
            group: the number of a group; None for everybody.
        """
        with self.transaction(write=False) as tables:
            column = self._survey(tables, survey).columns[question]
            return column.tally(column.read(tables, published.LIVE, group))

    def days(self, survey: int, question: int) -> list[tuple[date, int]]:
        """Return how many responses came on each day (UTC), also those that were withdrawn later."""
        with self.transaction(write=False) as tables:
            return counts.days(tables, StoredQuestion(survey, question))

    def export(
        self,
        survey: int,
        question: int,
        *,
        groups: Collection[int] = (),
        stages: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield all responses in random order, in columns design, stage, group and symbol.

        Args:
            survey: the number of the survey.
            question: the number of the question.
            groups: those that may be named; the group of everybody else is null.
            stages: how many of them, from the coarsest on; None for all.
        """
        with self.transaction(write=False) as tables:
            known_survey = self._survey(tables, survey)
            every = (
                len(known_survey.columns[question].layouts)
                if stages is None
                else stages
            )
            yield from columns.export(
                tables, known_survey, question, frozenset(groups) - {NOBODY}, every
            )

    def invite(self, name: str, count: int) -> list[str]:
        """Make one-time invitation codes for a survey; only their hashes are kept.

        Raises:
            NotAllowed: the survey is open to everybody.
        """
        with self.transaction() as tables:
            return credentials.invite(tables, surveys.number(tables, name), count)

    def exchange(self, name: str, code: str, blinded: int) -> int:
        """Return the blind signature that an invitation buys, once.

        The same code with the same blinded message gives the same signature again, for those whose connection broke.

        Raises:
            NotAllowed: no such invitation, or it was used for another message.
        """
        (signature,) = self.exchange_all([Exchange(name, code, blinded)])
        if isinstance(signature, NotStored):
            raise signature.error
        return signature

    def exchange_all(self, exchanges: Sequence[Exchange]) -> list[int | NotStored]:
        """Exchange many invitations in one durable transaction, and return the signature for each, or why not."""
        with self.transaction() as tables:
            return credentials.exchange_all(tables, exchanges)

    def issue_token(self, token: Token) -> str:
        """Make a token and return it; it cannot be shown again.

        Raises:
            InvalidRequest: there is one of this name.
        """
        with self.transaction() as tables:
            return credentials.issue(tables, token)

    def rotate_token(self, name: str) -> str:
        """Return a new token in the place of one, which stops working.

        Raises:
            InvalidRequest: there is none of this name.
        """
        with self.transaction() as tables:
            return credentials.rotate(tables, name)

    def revoke_token(self, name: str) -> None:
        """Make a token stop working.

        Raises:
            InvalidRequest: there is none of this name.
        """
        with self.transaction() as tables:
            credentials.revoke(tables, name)

    def find_token(self, text: str) -> Token | None:
        """Return what a token allows; None for one that is unknown or was revoked."""
        with self.transaction(write=False) as tables:
            return credentials.find(tables, text)

    def start_session(self, text: str, *, seconds: float) -> str:
        """Return the name of a new session that a token opens, in every process on this database; its hash is kept."""
        now = self.clock()
        with self.transaction() as tables:
            return credentials.start_session(
                tables, text, int(now), math.ceil(now + seconds)
            )

    def find_session(self, name: str) -> Token | None:
        """Return what the token of a session allows; None where either has ended."""
        with self.transaction(write=False) as tables:
            token, ends = credentials.find_session(tables, name)
        if ends > self.clock():
            return token
        if (
            token is not None
        ):  # what has ended stays so, also where the clock is set back
            self.end_session(name)
        return None

    def end_session(self, name: str) -> None:
        """End a session."""
        with self.transaction() as tables:
            credentials.end_session(tables, name)

    def tokens(self) -> list[Token]:
        """Return all tokens that work."""
        with self.transaction(write=False) as tables:
            return credentials.tokens(tables)

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes that are kept under a name; drawn when they are first asked for."""
        with self.transaction(write=False) as tables:
            stored_secret = credentials.known_secret(tables, name)
        if stored_secret is not None:
            return stored_secret
        with self.transaction() as tables:
            return credentials.secret(tables, name)

    def check(self) -> None:
        """Write as much as some responses take, and erase it again, which leaves nothing.

        Raises:
            StoreFailed: the database cannot be written; the disk may be full.
        """
        with self.transaction() as tables:
            tables.run(
                "INSERT INTO secret VALUES (?, ?)", _PROBE, bytes(_PROBE_BYTES)
            )
            tables.run("DELETE FROM secret WHERE name = ?", _PROBE)

    def backup(self, path: str | PathLike[str]) -> None:
        """Write all there is to a new SQLite file, while others go on reading and writing.

        Raises:
            InvalidRequest: there is a file already.
        """
        with self.transaction(write=False) as tables:
            schema.backup(tables, path)

    def restore(self, path: str | PathLike[str]) -> None:
        """Read what `backup` wrote, of this kind of database or the other, into one that is empty.

        Raises:
            InvalidRequest: there are surveys here already.
            UnreadableFile: not a backup.
        """
        with self.transaction() as tables:
            schema.restore(tables, path)

    def shut(self) -> None:
        """Write everything anew (`rewrite`), and close the database."""
        self._settle()
        self.database.close()

    def _settle(self) -> None:
        """Rewrite after something that has happened, and stays so if this fails: it is tried again."""
        with suppress(StoreFailed):
            self.rewrite(at_once=True)

    def _lock_surveys(
        self, tables: Tables, numbers: Iterable[int]
    ) -> dict[int, KnownSurvey]:
        """Return the surveys that exist, in order; nobody else writes to them until the transaction ends."""
        return {
            number: self._survey(tables, number)
            for number in sorted(numbers)
            if surveys.lock(tables, number)
        }

    def _entries(self, tables: Tables) -> list[Entry]:
        return [
            self._survey(tables, number).entry for number in surveys.numbers(tables)
        ]

    def _survey(self, tables: Tables, number: int) -> KnownSurvey:
        """Return a survey in its present state; its definition is read once."""
        state, signature = surveys.read_state(tables, number)
        known_survey = self._surveys.get(number)
        if known_survey is None:
            known_survey = KnownSurvey.from_entry(surveys.read(tables, number))
        if (known_survey.entry.state, known_survey.entry.signature) != (
            state,
            signature,
        ):
            known_survey = replace(
                known_survey,
                entry=known_survey.entry._replace(state=state, signature=signature),
            )
        self._surveys[number] = known_survey
        return known_survey
