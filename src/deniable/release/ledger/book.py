"""The tables of a ledger, inside a transaction."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from deniable.release.ledger.derived import SECRET


class Question(NamedTuple):
    """A question as it is stored. The answer is a number, or None where it was erased."""

    id: int
    name: str
    about: str
    answer: str | None
    secret: bytes | None
    budget: str | None
    withdrawn: str | None


class Stage(NamedTuple):
    """A stage as it is stored: drawn, and perhaps released."""

    design: str
    step: str | None
    response: str
    parity: str
    released: int


class Book:
    """The tables, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> None:
        """Run a statement."""
        self._connection.execute(statement, values)

    def value(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row; None where there is no row."""
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""
        return self._connection.execute(statement, values).fetchall()

    def name(self) -> str:
        """Return the ledger's own name."""
        return str(self.value("SELECT id FROM ledger"))

    def budget(self) -> str | None:
        """Return the budget of all questions together, as it was written."""
        found = self.value("SELECT budget FROM ledger")
        return None if found is None else str(found)

    def question(self, name: str) -> Question | None:
        """Return a question by its name."""
        found = self.rows(f"SELECT {', '.join(Question._fields)} FROM question WHERE name = ?", name)
        return Question(*found[0]) if found else None

    def questions(self) -> list[Question]:
        """Return all questions in the order in which they came."""
        return [Question(*row) for row in self.rows(f"SELECT {', '.join(Question._fields)} FROM question ORDER BY id")]

    def add_question(self, name: str, about: str, answer: str | None, secret: bytes | None, budget: str | None) -> int:
        """Enter a question and return its number."""
        self.run(
            "INSERT INTO question (name, about, answer, secret, budget) VALUES (?, ?, ?, ?, ?)",
            name, about, answer, secret, budget,
        )  # fmt: skip
        return int(self.value("SELECT last_insert_rowid()"))

    def stages(self, question: int) -> list[Stage]:
        """Return the stages of a question, the coarsest first."""
        columns = ", ".join(Stage._fields)
        return [
            Stage(*row) for row in self.rows(f"SELECT {columns} FROM stage WHERE question = ? ORDER BY place", question)
        ]

    def spent(self) -> dict[int, str]:
        """Return for each question the parity of the finest stage that is out."""
        released = self.rows("SELECT question, parity FROM stage WHERE released ORDER BY question, place")
        return {question: parity for question, parity in released}  # noqa: C416 - the last one of each stays

    def add_stage(self, question: int, place: int, stage: Stage) -> None:
        """Put a stage at a place, and move those behind it up."""
        self.run("UPDATE stage SET place = place + 1 WHERE question = ? AND place >= ?", question, place)
        self.run("INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?)", question, place, *stage)

    def add_design(self, hash_: str, body: str) -> None:
        """Keep a design, once."""
        self.run("INSERT OR IGNORE INTO design VALUES (?, ?)", hash_, body)

    def design(self, hash_: str) -> str:
        """Return the JSON of a design."""
        return str(self.value("SELECT body FROM design WHERE hash = ?", hash_))

    def mark_released(self, question: int, design: str) -> None:
        """Note that a stage is out."""
        self.run("UPDATE stage SET released = 1 WHERE question = ? AND design = ?", question, design)

    def set_step(self, question: int, place: int, step: str) -> None:
        """Note by which step a stage follows the one before it."""
        self.run("UPDATE stage SET step = ? WHERE question = ? AND place = ?", step, question, place)

    def receipts(self) -> list[str]:
        """Return the JSON of all receipts in order."""
        return [body for (body,) in self.rows("SELECT body FROM receipt ORDER BY number")]

    def last_receipt(self) -> str | None:
        """Return the JSON of the last receipt."""
        found = self.value("SELECT body FROM receipt ORDER BY number DESC LIMIT 1")
        return None if found is None else str(found)

    def receipts_of(self, question: int, *, design: str | None = None, holder: str | None = None) -> list[str]:
        """Return the JSON of a question's receipts in order, of one stage and one holder where these are named."""
        found = self.rows(
            "SELECT body FROM receipt WHERE question = ? AND design = coalesce(?, design) AND "
            "holder = coalesce(?, holder) ORDER BY number",
            question, design, holder,
        )  # fmt: skip
        return [body for (body,) in found]

    def add_receipt(self, number: int, question: int | None, design: str, holder: str, body: str) -> None:
        """Enter a receipt."""
        self.run("INSERT INTO receipt VALUES (?, ?, ?, ?, ?)", number, question, design, holder, body)

    def holders(self, question: int, design: str) -> tuple[str, ...]:
        """Return who was given a stage, in order."""
        found = self.rows(
            "SELECT holder FROM receipt WHERE question = ? AND design = ? ORDER BY number", question, design
        )
        return tuple(dict.fromkeys(name for (name,) in found))

    def erase_answer(self, question: int) -> None:
        """Overwrite the answer to a question, and the secret of draws from it, which would tell it."""
        self.run("UPDATE question SET answer = NULL, secret = substr(secret, 1, ?) WHERE id = ?", SECRET, question)

    def erase_question(self, question: int, when: str) -> None:
        """Overwrite the answer, the secret and all stages that are not out."""
        self.run("UPDATE question SET answer = NULL, secret = NULL, withdrawn = ? WHERE id = ?", when, question)
        self.run("DELETE FROM stage WHERE question = ? AND NOT released", question)

    def damaged(self) -> bool:
        """Say whether the file is damaged."""
        return self.rows("PRAGMA integrity_check") != [("ok",)] or bool(self.rows("PRAGMA foreign_key_check"))

    def record(self, kind: str, question: int, name: str) -> str | None:
        """Return what was noted under a name."""
        found = self.value("SELECT body FROM record WHERE kind = ? AND question = ? AND name = ?", kind, question, name)
        return None if found is None else str(found)

    def put_record(self, kind: str, question: int, name: str, body: str) -> None:
        """Note something under a name, in the place of what was there."""
        self.run("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", kind, question, name, body)
