"""The tables of a panel, by what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.release.panel.store import Tables

_FEW = 400
"""Respondents up to which they are asked for by name; beyond it all are read."""


class Question(NamedTuple):
    """A question as it is stored."""

    id: int
    name: str
    about: str
    budget: str | None


class Stage(NamedTuple):
    """A stage of a question as it is stored."""

    id: int
    design: str
    parity: str


@dataclass
class State:
    """What respondents have answered, and what is drawn for them.

    Attributes:
        answers: the number of each respondent's answer; None where it was not kept.
        held: for each stage, the response of each respondent for whom it is drawn, and whether it is out.
    """

    answers: dict[str, int | None]
    held: dict[int, dict[str, tuple[int, bool]]] = field(default_factory=dict)


class Book:
    """What a panel holds, inside a transaction."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def name(self) -> str:
        """Return the panel's own name."""
        return str(self.tables.value("SELECT id FROM panel"))

    def budget(self) -> str | None:
        """Return what may be spent on each respondent, as it was written."""
        found = self.tables.value("SELECT budget FROM panel")
        return None if found is None else str(found)

    def question(self, name: str) -> Question | None:
        """Return a question by its name."""
        found = self.tables.rows("SELECT id, name, about, budget FROM panel_question WHERE name = ?", name)
        return Question(*found[0]) if found else None

    def questions(self) -> list[Question]:
        """Return all questions."""
        rows = self.tables.rows("SELECT id, name, about, budget FROM panel_question ORDER BY id")
        return [Question(*row) for row in rows]

    def known(self, name: str) -> Question:
        """Return a question.

        Raises:
            InvalidRequest: there is none of this name.
        """
        found = self.question(name)
        if found is None:
            raise InvalidRequest(f"there is no question {name!r:.60} in this panel; expected one that was answered.")
        return found

    def add_question(self, name: str, about: str, budget: str | None) -> Question:
        """Enter a question."""
        number = self._next("panel_question")
        self.tables.insert("panel_question", Question._fields, [(number, name, about, budget)])
        return Question(number, name, about, budget)

    def stages(self, question: int) -> list[Stage]:
        """Return the stages of a question, the coarsest first."""
        rows = self.tables.rows(
            "SELECT id, design, parity FROM panel_stage WHERE question = ? ORDER BY place", question
        )
        return [Stage(*row) for row in rows]

    def add_stage(self, question: int, place: int, design: str, parity: str) -> Stage:
        """Put a stage at a place, and move those behind it up."""
        move = "UPDATE panel_stage SET place = place + 1 WHERE question = ? AND place >= ?"
        self.tables.run(move, question, place)
        number = self._next("panel_stage")
        columns = ("id", "question", "place", "design", "parity")
        self.tables.insert("panel_stage", columns, [(number, question, place, design, parity)])
        return Stage(number, design, parity)

    def steps(self, question: int) -> dict[tuple[str, str], str]:
        """Return the steps by which stages of a question were drawn, by the hashes of their designs."""
        rows = self.tables.rows("SELECT coarse, fine, body FROM panel_step WHERE question = ?", question)
        return {(coarse, fine): body for coarse, fine, body in rows}

    def add_step(self, question: int, pair: tuple[str, str], body: str) -> None:
        """Keep the step between two stages, once; there is one for everybody.

        Raises:
            InvalidRequest: another one was drawn with before.
        """
        known = self.steps(question).get(pair)
        if known is None:
            self.tables.insert("panel_step", ("question", "coarse", "fine", "body"), [(question, *pair, body)])
        elif known != body:
            raise InvalidRequest(
                "these stages were drawn by another step for others; expected one step for all respondents.",
                "Take the same ladder as before.",
            )

    def add_design(self, hash_: str, body: str) -> None:
        """Keep a design, once."""
        if self.tables.value("SELECT hash FROM panel_design WHERE hash = ?", hash_) is None:
            self.tables.insert("panel_design", ("hash", "body"), [(hash_, body)])

    def design(self, hash_: str) -> str:
        """Return the JSON of a design."""
        return str(self.tables.value("SELECT body FROM panel_design WHERE hash = ?", hash_))

    def read_design(self, stage: Stage) -> Design:
        """Return the design of a stage."""
        return Design.from_json(self.design(stage.design))

    def state(self, question: int, respondents: Sequence[str] | None) -> State:
        """Return what respondents have answered and what is drawn for them, without those who withdrew."""
        gone = self.withdrawn()
        rows = self._read("SELECT respondent, answer FROM panel_answer WHERE question = ?", question, respondents)
        found = State({name: None if text is None else int(text, 16) for name, text in rows if name not in gone})
        for stage in self.stages(question):
            rows = self._read(
                "SELECT respondent, response, released FROM panel_response WHERE stage = ?", stage.id, respondents
            )
            found.held[stage.id] = {
                name: (int(text, 16), bool(out)) for name, text, out in rows if name in found.answers
            }
        return found

    def withdrawn(self) -> set[str]:
        """Return who has withdrawn."""
        return {name for (name,) in self.tables.rows("SELECT respondent FROM panel_withdrawn")}

    def add_answers(self, question: int, answers: Iterable[tuple[str, int | None]]) -> None:
        """Enter answers."""
        rows = ((question, name, None if number is None else f"{number:x}") for name, number in answers)
        self.tables.insert("panel_answer", ("question", "respondent", "answer"), rows)

    def add_responses(self, stage: int, responses: Iterable[tuple[str, int]], *, released: bool) -> None:
        """Enter responses of a stage."""
        rows = ((stage, name, f"{number:x}", int(released)) for name, number in responses)
        self.tables.insert("panel_response", ("stage", "respondent", "response", "released"), rows)

    def mark_released(self, stage: int, respondents: Iterable[str]) -> None:
        """Note that responses are out."""
        statement = "UPDATE panel_response SET released = 1 WHERE stage = ? AND respondent = ?"
        self.tables.each(statement, ((stage, name) for name in respondents))

    def reached(self, respondents: Sequence[str]) -> dict[str, dict[int, int]]:
        """Return for each respondent the place of the finest stage that is out, by question."""
        rows = self._read(
            "SELECT respondent, question, place FROM panel_response JOIN panel_stage ON stage = id WHERE released = ?",
            1,
            respondents,
        )
        found: dict[str, dict[int, int]] = {}
        for name, question, place in rows:
            own = found.setdefault(name, {})
            own[question] = max(place, own.get(question, 0))
        return found

    def finest(self) -> dict[int, str]:
        """Return for each question the parity of the finest stage that is out for anybody."""
        rows = self.tables.rows(
            "SELECT s.question, s.parity FROM panel_stage s WHERE EXISTS "
            "(SELECT 1 FROM panel_response r WHERE r.stage = s.id AND r.released = 1) ORDER BY s.question, s.place"
        )
        return {question: parity for question, parity in rows}  # noqa: C416 - the last one of each stays

    def erase(self, respondents: Sequence[str], when: str) -> None:
        """Erase answers and what is not out, and note that they withdrew."""
        each = self.tables.each
        each("UPDATE panel_answer SET answer = NULL WHERE respondent = ?", ((name,) for name in respondents))
        each("DELETE FROM panel_response WHERE released = 0 AND respondent = ?", ((name,) for name in respondents))
        self.tables.insert("panel_withdrawn", ("respondent", "at"), ((name, when) for name in respondents))

    def receipts(self) -> list[str]:
        """Return the JSON of all receipts in order."""
        return [body for (body,) in self.tables.rows("SELECT body FROM panel_receipt ORDER BY number")]

    def last_receipt(self) -> str | None:
        """Return the JSON of the last receipt."""
        found = self.tables.value("SELECT body FROM panel_receipt ORDER BY number DESC LIMIT 1")
        return None if found is None else str(found)

    def add_receipt(self, number: int, body: str) -> None:
        """Enter a receipt."""
        self.tables.insert("panel_receipt", ("number", "body"), [(number, body)])

    def _read(self, statement: str, number: int, respondents: Sequence[str] | None) -> list[Any]:
        if respondents is None or len(respondents) > _FEW:
            rows = self.tables.rows(statement, number)
            wanted = None if respondents is None else set(respondents)
            return rows if wanted is None else [row for row in rows if row[0] in wanted]
        if not respondents:
            return []
        marks = ", ".join("?" * len(respondents))
        return self.tables.rows(f"{statement} AND respondent IN ({marks})", number, *respondents)

    def _next(self, table: str) -> int:
        return int(self.tables.value(f"SELECT coalesce(max(id), 0) + 1 FROM {table}"))
