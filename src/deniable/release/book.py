"""The book of releases: questions, answers, stages, what was drawn and what of it is out, receipts.

A ledger is the book of one respondent, a panel that of many: the tables are the same, and only this module knows them.

The book is sealed: it holds the SHA-256 of all rows of all tables. Each transaction compares the seal before it reads
anything else, and one that writes seals the book again. So an operation on a book in which a row was edited, deleted or
added past the program is refused. The seal covers the rows that are there, not the history of them: a hash chain over
all that was ever entered would depend on erased answers, and so tell them. It is no secret: an attacker who writes the
seal anew as well, or puts an older copy of the whole book back, is not found by it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

from deniable import chance, db, exact
from deniable.db import (
    Closable,
    Database,
    Migration,
    SqliteFile,
    Tables,
    applied_migrations,
    migrate,
)
from deniable.designs import Design
from deniable.errors import DeniableError, InvalidRequest, UnreadableFile, quoted
from deniable.exact import Ratio
from deniable.release.receipts import (
    Budget,
    Receipt,
    compose_parities,
    first_link,
    verify,
    write,
)
from deniable.types import find_operation, read_design
from deniable.types.strings.design import CohortDesign

PART = "release"
"""Under this name the database records the migrations."""

OWNER = ""
"""The only respondent of a ledger."""

EVERY_QUESTION = 0
"""Withdrawn from all questions, also from those that are asked later."""

MIGRATIONS = (
    Migration(
        "first",
        (
            """CREATE TABLE release_book (
                id TEXT NOT NULL, kind TEXT NOT NULL, budget TEXT, made TEXT NOT NULL
            )""",
            "CREATE TABLE release_seal (seal TEXT NOT NULL)",
            "CREATE TABLE release_design (hash TEXT PRIMARY KEY, body TEXT NOT NULL)",
            """CREATE TABLE release_question (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL REFERENCES release_design,
                budget TEXT
            )""",
            """CREATE TABLE release_stage (
                id INTEGER PRIMARY KEY, question INTEGER NOT NULL REFERENCES release_question, place INTEGER NOT NULL,
                design TEXT NOT NULL REFERENCES release_design, parity TEXT NOT NULL, UNIQUE (question, design)
            )""",
            """CREATE TABLE release_step (
                question INTEGER NOT NULL REFERENCES release_question, coarse TEXT NOT NULL, fine TEXT NOT NULL,
                body TEXT NOT NULL, PRIMARY KEY (question, coarse, fine)
            )""",
            """CREATE TABLE release_answer (
                question INTEGER NOT NULL REFERENCES release_question, respondent TEXT NOT NULL, answer TEXT,
                secret {bytes}, PRIMARY KEY (question, respondent)
            )""",
            """CREATE TABLE release_response (
                stage INTEGER NOT NULL REFERENCES release_stage, respondent TEXT NOT NULL, response TEXT NOT NULL,
                released INTEGER NOT NULL, PRIMARY KEY (stage, respondent)
            )""",
            """CREATE TABLE release_withdrawal (
                respondent TEXT NOT NULL, question INTEGER NOT NULL, at TEXT NOT NULL,
                PRIMARY KEY (respondent, question)
            )""",
            """CREATE TABLE release_receipt (
                number INTEGER PRIMARY KEY, question INTEGER REFERENCES release_question, design TEXT NOT NULL,
                holder TEXT NOT NULL, body TEXT NOT NULL
            )""",
            """CREATE TABLE release_record (
                kind TEXT NOT NULL, question INTEGER NOT NULL REFERENCES release_question, name TEXT NOT NULL,
                body TEXT NOT NULL, PRIMARY KEY (kind, question, name)
            )""",
        ),
    ),
)

# Every table that a migration makes, but the seal's own.
_SEALED = tuple(
    table
    for migration in MIGRATIONS
    for table in re.findall(r"CREATE TABLE (\w+)", " ".join(migration.statements))
    if table != "release_seal"
)
_NAMED_RESPONDENTS = 400  # up to so many are asked for by name; beyond it all are read, which is quicker


Staged: TypeAlias = Design | CohortDesign
"""What can be a stage: a design, or a string design within a cohort."""


class QuestionRow(NamedTuple):
    """A question as it is stored."""

    id: int
    name: str
    about: str
    budget: str | None


class StageRow(NamedTuple):
    """A stage of a question as it is stored."""

    id: int
    design: str
    parity: str


class Drawn(NamedTuple):
    """A response that was drawn, by number, and whether it is out."""

    response: int
    released: bool


class Book:
    """Content of a ledger or a panel, inside a transaction.

    Args:
        tables: the tables.
        kind: "ledger" or "panel".
        designs: those that this program has read already, by their hashes.
    """

    def __init__(
        self, tables: Tables, kind: str, designs: dict[str, Staged]
    ) -> None:
        self.tables = tables
        self.kind = kind
        self._designs = designs

    # The book itself, its questions and their stages

    def name(self) -> str:
        """Return the book's own name, drawn at random."""
        return str(self.tables.value("SELECT id FROM release_book"))

    def budget(self) -> Budget:
        """Return the budget per respondent for all questions together."""
        return Budget.read(self.tables.value("SELECT budget FROM release_book"))

    def question(self, name: str) -> QuestionRow | None:
        """Return a question by its name."""
        rows = self.tables.rows(
            "SELECT id, name, about, budget FROM release_question WHERE name = ?",
            name,
        )
        return QuestionRow(*rows[0]) if rows else None

    def questions(self) -> list[QuestionRow]:
        """Return all questions in the order in which they came."""
        rows = self.tables.rows(
            "SELECT id, name, about, budget FROM release_question ORDER BY id"
        )
        return [QuestionRow(*row) for row in rows]

    def require_question(self, name: str) -> QuestionRow:
        """Return a question.

        Raises:
            InvalidRequest: there is none of this name.
        """
        question = self.question(name)
        if question is None:
            raise InvalidRequest(
                f"there is no question {quoted(name, 60)} in this {self.kind}; expected one that was answered."
            )
        return question

    def add_question(
        self, name: str, about: Staged, budget: str | None
    ) -> QuestionRow:
        """Enter a question."""
        self._add_design(about)
        row = QuestionRow(self._next("release_question"), name, about.hash, budget)
        self.tables.insert("release_question", QuestionRow._fields, [row])
        return row

    def stages(self, question: int) -> list[StageRow]:
        """Return the stages of a question, the coarsest first."""
        statement = "SELECT id, design, parity FROM release_stage WHERE question = ? ORDER BY place"
        return [StageRow(*row) for row in self.tables.rows(statement, question)]

    def add_stage(self, question: int, position: int, design: Staged) -> StageRow:
        """Put a stage at a place, and move those behind it up."""
        self._add_design(design)
        self.tables.run(
            "UPDATE release_stage SET place = place + 1 WHERE question = ? AND place >= ?",
            question,
            position,
        )
        row = StageRow(self._next("release_stage"), design.hash, str(design.parity))
        self.tables.insert(
            "release_stage",
            ("id", "design", "parity", "question", "place"),
            [(*row, question, position)],
        )
        return row

    def design(self, hash_: str) -> Staged:
        """Return a design that a stage or a question has."""
        if hash_ not in self._designs:
            self._designs[hash_] = self.stored_design(hash_)
        return self._designs[hash_]

    def stored_design(self, hash_: str) -> Staged:
        """Return a design as it is in the tables now."""
        text = str(
            self.tables.value(
                "SELECT body FROM release_design WHERE hash = ?", hash_
            )
        )
        if str(json.loads(text).get("schema")).startswith("deniable/cohort-design/"):
            return CohortDesign.from_json(text)
        about = read_design(text)
        page_design = find_operation(about, "page_design")
        return cast(Staged, page_design(about) if page_design else about)

    def _add_design(self, design: Staged) -> None:
        if (
            self.tables.value(
                "SELECT hash FROM release_design WHERE hash = ?", design.hash
            )
            is None
        ):
            self.tables.insert(
                "release_design", ("hash", "body"), [(design.hash, design.to_json())]
            )
        self._designs[design.hash] = design

    def steps(self, question: int) -> dict[tuple[str, str], str]:
        """Return the steps by which stages of a question were drawn, by the hashes of their designs."""
        rows = self.tables.rows(
            "SELECT coarse, fine, body FROM release_step WHERE question = ?",
            question,
        )
        return {(coarse, fine): body for coarse, fine, body in rows}

    def add_step(self, question: int, pair: tuple[str, str], body: str) -> None:
        """Keep the step between two stages, once; there is one for everybody.

        Raises:
            InvalidRequest: another one was drawn with before.
        """
        stored_step = self.steps(question).get(pair)
        if stored_step is None:
            self.tables.insert(
                "release_step",
                ("question", "coarse", "fine", "body"),
                [(question, *pair, body)],
            )
        elif stored_step != body:
            raise InvalidRequest(
                "these stages were drawn by another step for others; expected one step for all respondents.",
                "Take the same ladder as before.",
            )

    # Respondents: what they answered, what is drawn for them, what of it is out

    def answered(
        self, question: int, respondents: Sequence[str] | None = None
    ) -> list[str]:
        """Return the respondents who have answered, including those who withdrew. No answer is read."""
        statement = "SELECT respondent FROM release_answer WHERE question = ?"
        return [name for (name,) in self._rows_of(statement, respondents, question)]

    def answers(self, question: int, respondents: Sequence[str]) -> list[int | None]:
        """Return the number of each respondent's answer; None where it was erased, or never kept."""
        statement = (
            "SELECT respondent, answer FROM release_answer WHERE question = ?"
        )
        stored = dict(self._rows_of(statement, respondents, question))
        return [
            None if stored[name] is None else int(stored[name], 16)
            for name in respondents
        ]

    def secret(self, question: int, respondent: str) -> bytes:
        """Return the secret of a respondent's draws, as far as it is kept."""
        statement = (
            "SELECT secret FROM release_answer WHERE question = ? AND respondent = ?"
        )
        return bytes(self.tables.value(statement, question, respondent) or b"")

    def add_answers(
        self,
        question: int,
        answers: Iterable[tuple[str, int | None]],
        secret: bytes | None,
    ) -> None:
        """Enter answers; with the secret of draws from them, in a ledger."""
        rows = (
            (question, name, None if number is None else f"{number:x}", secret)
            for name, number in answers
        )
        self.tables.insert(
            "release_answer", ("question", "respondent", "answer", "secret"), rows
        )

    def erase_answers(self, question: int, kept_secret: int) -> None:
        """Overwrite all answers to a question, and of each secret what lies behind its first bytes."""
        self.tables.run(
            "UPDATE release_answer SET answer = NULL, secret = substr(secret, 1, ?) WHERE question = ?",
            kept_secret, question,
        )  # fmt: skip

    def withdrawn(self, question: int) -> dict[str, str]:
        """Return the respondents who have withdrawn from a question, with the time."""
        statement = (
            "SELECT respondent, at FROM release_withdrawal WHERE question IN (?, ?)"
        )
        return dict(self.tables.rows(statement, question, EVERY_QUESTION))

    def erase(self, respondents: Sequence[str], question: int, when: str) -> None:
        """Erase answers, secrets and what is not out, of one question or of every one, and note the withdrawal."""
        keys = [(name, question, question) for name in respondents]
        self.tables.each(
            "UPDATE release_answer SET answer = NULL, secret = NULL WHERE respondent = ? AND (question = ? OR ? = 0)",
            keys,
        )
        self.tables.each(
            "DELETE FROM release_response WHERE released = 0 AND respondent = ? AND stage IN "
            "(SELECT id FROM release_stage WHERE question = ? OR ? = 0)",
            keys,
        )
        self.tables.insert(
            "release_withdrawal",
            ("respondent", "question", "at"),
            ((name, question, when) for name in respondents),
        )

    def drawn(
        self, question: int, respondents: Sequence[str]
    ) -> dict[int, dict[str, Drawn]]:
        """Return for each stage of a question the response of each respondent for whom it is drawn."""
        statement = "SELECT respondent, response, released FROM release_response WHERE stage = ?"
        return {
            stage.id: {
                name: Drawn(int(text, 16), bool(out))
                for name, text, out in self._rows_of(
                    statement, respondents, stage.id
                )
            }
            for stage in self.stages(question)
        }

    def add_responses(
        self, stage: int, responses: Iterable[tuple[str, int]], *, released: bool
    ) -> None:
        """Enter responses of a stage."""
        rows = [
            (stage, name, f"{number:x}", int(released)) for name, number in responses
        ]
        self.tables.insert(
            "release_response", ("stage", "respondent", "response", "released"), rows
        )

    def mark_released(self, stage: int, respondents: Sequence[str]) -> None:
        """Note that responses are out."""
        statement = "UPDATE release_response SET released = 1 WHERE stage = ? AND respondent = ?"
        self.tables.each(statement, [(stage, name) for name in respondents])

    def reached(self, respondents: Sequence[str]) -> dict[str, dict[int, int]]:
        """Return for each respondent the place of the finest stage that is out, by question."""
        statement = (
            "SELECT respondent, question, place FROM release_response JOIN release_stage ON stage = id "
            "WHERE released = ?"
        )
        positions: dict[str, dict[int, int]] = {}
        for name, question, position in self._rows_of(statement, respondents, 1):
            person_positions = positions.setdefault(name, {})
            person_positions[question] = max(
                position, person_positions.get(question, 0)
            )
        return positions

    def spent(self) -> dict[int, Ratio]:
        """Return for each question the parity of the finest released stage."""
        rows = self.tables.rows(
            "SELECT s.question, s.parity FROM release_stage s WHERE EXISTS "
            "(SELECT 1 FROM release_response r WHERE r.stage = s.id AND r.released = 1) ORDER BY s.question, s.place"
        )
        finest = dict(rows)  # the last one of each question stays
        return {question: read_parity(text) for question, text in finest.items()}

    def released_stages(self, question: int) -> set[int]:
        """Return the released stages of a question."""
        statement = (
            "SELECT DISTINCT stage FROM release_response JOIN release_stage ON stage = id "
            "WHERE question = ? AND released = 1"
        )
        return {stage for (stage,) in self.tables.rows(statement, question)}

    # Receipts, and what others keep beside them

    def receipts(self) -> list[Receipt]:
        """Return all receipts in order."""
        rows = self.tables.rows("SELECT body FROM release_receipt ORDER BY number")
        return [Receipt.from_json(body) for (body,) in rows]

    def receipts_of(
        self, question: int, *, design: str | None = None, holder: str | None = None
    ) -> list[Receipt]:
        """Return a question's receipts in order, of one stage and one holder where these are named."""
        rows = self.tables.rows(
            "SELECT body FROM release_receipt WHERE question = ? AND design = coalesce(?, design) AND "
            "holder = coalesce(?, holder) ORDER BY number",
            question, design, holder,
        )  # fmt: skip
        return [Receipt.from_json(body) for (body,) in rows]

    def holders(self, question: int, design: str) -> tuple[str, ...]:
        """Return the holders of a stage, in order."""
        statement = "SELECT holder FROM release_receipt WHERE question = ? AND design = ? ORDER BY number"
        return tuple(
            dict.fromkeys(
                name for (name,) in self.tables.rows(statement, question, design)
            )
        )

    def _last_receipt(self) -> Receipt | None:
        last = self.tables.value(
            "SELECT body FROM release_receipt ORDER BY number DESC LIMIT 1"
        )
        return Receipt.from_json(last) if last else None

    def append(
        self,
        kind: str,
        row: QuestionRow | None,
        before: Mapping[int, Ratio],
        *,
        design: str = "",
        holder: str = "",
        details: Mapping[str, str] | None = None,
    ) -> Receipt:
        """Write the next receipt, given what `spent` returned before; without a question it is about all of them.

        Amounts are those of the respondent on whom the most was spent for each question.
        """
        previous = self._last_receipt()
        name, after = self.name(), self.spent()
        question = None if row is None else row.id
        receipt = Receipt(
            ledger=name,
            number=previous.number + 1 if previous else 1,
            previous=previous.hash if previous else first_link(name),
            kind=kind,
            question="" if row is None else row.name,
            design=design,
            holder=holder,
            at=utc_now(),
            epsilon_before=exact.log_above(_spent_on(before, question)),
            epsilon_after=exact.log_above(_spent_on(after, question)),
            total_before=exact.log_above(compose_parities(before.values())),
            total_after=exact.log_above(compose_parities(after.values())),
            details=dict(details or {}),
        )
        self.tables.insert(
            "release_receipt",
            ("number", "question", "design", "holder", "body"),
            [(receipt.number, question, design, holder, receipt.to_json())],
        )
        return receipt

    def record(self, kind: str, question: int, name: str) -> str | None:
        """Return the record that is stored under a name."""
        statement = "SELECT body FROM release_record WHERE kind = ? AND question = ? AND name = ?"
        rows = self.tables.value(statement, kind, question, name)
        return None if rows is None else str(rows)

    def put_record(self, kind: str, question: int, name: str, body: str) -> None:
        """Note something under a name, in the place of what was there."""
        self.tables.run(
            "INSERT INTO release_record VALUES (?, ?, ?, ?) ON CONFLICT (kind, question, name) "
            "DO UPDATE SET body = excluded.body",
            kind, question, name, body,
        )  # fmt: skip

    def seal(self) -> str:
        """Seal the rows as they are now, and return the seal."""
        seal = self._row_hash()
        self.tables.run("DELETE FROM release_seal")
        self.tables.insert("release_seal", ("seal",), [(seal,)])
        return seal

    def check_seal(self) -> None:
        """Compare the seal with the rows.

        Raises:
            UnreadableFile: a row was edited, deleted or added past the program.
        """
        if self.tables.rows("SELECT * FROM release_seal") != [(self._row_hash(),)]:
            raise UnreadableFile(
                f"this {self.kind} was changed by another hand: a row was edited, deleted or added past the program.",
                "Restore it from a copy, and trust nothing that was released since.",
            )

    def _row_hash(self) -> str:
        """Return the SHA-256 of all rows, those of each table behind its name."""
        migrations = sorted(applied_migrations(self.tables, PART))
        digest = hashlib.sha256(json.dumps(migrations).encode())
        for table in _SEALED:
            digest.update(f"{table}\0".encode())
            for text in self.tables.texts(table):
                digest.update(text.encode())
        return digest.hexdigest()

    def check(self) -> None:
        """Check the tables, the history, and that all that is out was counted; the seal is compared before.

        Raises:
            UnreadableFile: something is wrong.
        """
        try:
            damaged = self.tables.damaged()
            if not damaged:
                self._check_history()
        except DeniableError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError):
            damaged = True  # values that the program never wrote
        if damaged:
            raise UnreadableFile(
                f"the file of this {self.kind} is damaged.",
                "Restore it from a copy.",
            )

    def _check_history(self) -> None:
        """Check that receipts follow each other, and that each stage that is out has one and was counted.

        Raises:
            UnreadableFile: they do not, or one is not.
        """
        history, spent = self.receipts(), self.spent()
        verify(history)
        epsilons = {receipt.question: receipt.epsilon_after for receipt in history}
        entered = {(receipt.question, receipt.design) for receipt in history}
        for row in self.questions():
            self._check_stages(row, epsilons, entered, spent)
        if history and history[-1].total_after != exact.log_above(
            compose_parities(spent.values())
        ):
            raise UnreadableFile(
                "what was spent in all is not what the history counts."
            )

    def _check_stages(
        self,
        row: QuestionRow,
        epsilons: Mapping[str, float],
        entered: set[tuple[str, str]],
        spent: Mapping[int, Ratio],
    ) -> None:
        """Check that each stage of a question that is out has its receipt, its amount and its design."""
        stages, out = self.stages(row.id), self.released_stages(row.id)
        if any(
            (row.name, stage.design) not in entered
            for stage in stages
            if stage.id in out
        ):
            raise UnreadableFile(
                f"a stage of {quoted(row.name, 60)} is out without a receipt."
            )
        if out and epsilons[row.name] != exact.log_above(spent[row.id]):
            raise UnreadableFile(
                f"what was spent on {quoted(row.name, 60)} is not what the history counts."
            )
        if any(
            self.stored_design(stage.design).hash != stage.design for stage in stages
        ):
            raise UnreadableFile(
                f"the design of a stage of {quoted(row.name, 60)} was exchanged."
            )

    def _rows_of(
        self, statement: str, respondents: Sequence[str] | None, *values: int
    ) -> list[Any]:
        """Return the rows of some respondents, or of all, whose names come first."""
        if respondents is None:
            return self.tables.rows(statement, *values)
        if len(respondents) > _NAMED_RESPONDENTS:
            wanted_names = set(respondents)
            return [
                row
                for row in self.tables.rows(statement, *values)
                if row[0] in wanted_names
            ]
        return self.tables.rows_among(
            f"{statement} AND respondent", respondents, *values
        )

    def _next(self, table: str) -> int:
        return int(
            self.tables.value(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")
        )


class Bookkeeper(Closable):
    """Base of a ledger and a panel: a database with a book in it."""

    KIND: ClassVar[str]
    PATIENCE: ClassVar[float]
    """Seconds to wait for another program that is writing."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._designs: dict[str, Staged] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.database.name})"

    @classmethod
    def _database(cls, location: str | os.PathLike[str]) -> Database:
        return db.open_database(
            location,
            cls.KIND,
            settings=db.DURABLE,
            patience=cls.PATIENCE,
            one_writer=True,
        )

    @classmethod
    def _create(
        cls,
        location: str | os.PathLike[str],
        budget: exact.Rational | None,
        source: chance.Source,
    ) -> Database:
        """Make a database with an empty book in it."""
        limit, name = Budget.from_number(budget).written, source.read(16).hex()
        database = cls._database(location)
        try:
            if isinstance(database, SqliteFile):
                database.make()
            with database.transaction() as tables:
                if tables.taken("release_book"):
                    raise InvalidRequest(
                        f"{database.name} exists already and is not empty; expected a new place for a {cls.KIND}.",
                        "Open it, or choose another name.",
                    )
                migrate(tables, PART, MIGRATIONS)
                tables.insert(
                    "release_book",
                    ("id", "kind", "budget", "made"),
                    [(name, cls.KIND, limit, utc_now())],
                )
                Book(tables, cls.KIND, {}).seal()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def _open(cls, location: str | os.PathLike[str]) -> Database:
        """Open what `_create` made."""
        database, how = cls._database(location), f"{cls.__name__}.create()"
        if isinstance(database, SqliteFile) and not Path(location).is_file():
            raise UnreadableFile(
                f"there is no {cls.KIND} at {location}.", f"Make one first: {how}."
            )
        try:
            with database.transaction(write=False) as tables:
                if (
                    not tables.has("release_book")
                    or tables.value("SELECT kind FROM release_book") != cls.KIND
                ):
                    raise UnreadableFile(
                        f"{database.name} is not a {cls.KIND}.",
                        f"Open what {how} made.",
                    )
                applied_names = applied_migrations(tables, PART)
            if applied_names != {migration.name for migration in MIGRATIONS}:
                with database.transaction() as tables:
                    migrate(tables, PART, MIGRATIONS)
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Book]:
        """Run a transaction on the book, for those who release under conditions of their own.

        Raises:
            UnreadableFile: the book was changed by another hand.
        """
        with self.database.transaction(write=write) as tables:
            book = Book(tables, self.KIND, self._designs)
            book.check_seal()
            yield book
            if write:
                book.seal()

    def receipts(self) -> tuple[Receipt, ...]:
        """Return the whole history."""
        with self.transaction(write=False) as book:
            return tuple(book.receipts())

    def history(self) -> str:
        """Return the whole history as lines of JSON, closed by a last line."""
        with self.transaction(write=False) as book:
            return write(book.receipts(), book.name())

    def check(self) -> None:
        """Check the file, its seal, the history, and that all that is out was counted.

        Raises:
            UnreadableFile: the file is damaged or was changed, or something is out that was not counted.
        """
        with self.transaction(write=False) as book:
            book.check()

    def close(self) -> None:
        self.database.close()


def utc_now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_parity(text: str) -> Ratio:
    """Read a parity as it is stored."""
    return math.inf if text == "inf" else Fraction(text)


def _spent_on(spent: Mapping[int, Ratio], question: int | None) -> Ratio:
    """Return the parity spent on a question; 1 if nothing was, or if there is no question yet."""
    return Fraction(1) if question is None else spent.get(question, Fraction(1))
