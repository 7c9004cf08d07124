"""The table of surveys, and what follows from a definition: how ids are made, how responses are written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deniable.channel.coding import Rows
from deniable.collector.signing import SigningKey
from deniable.collector.store import counts
from deniable.collector.store.base import (
    KEY,
    Entry,
    NoSuchSurvey,
    State,
    StoredQuestion,
)
from deniable.collector.store.counts import (
    RAISED,
    SEEN,
    CountedDesign,
    Stages,
    Vector,
)
from deniable.collector.store.packs import ID
from deniable.collector.store.schema import TABLES
from deniable.db import Tables
from deniable.errors import Incompatible, NotAllowed, quoted
from deniable.survey import Keys, Question, Survey
from deniable.survey.signed import AuthorSignature
from deniable.survey.survey import PILOT
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

HELD = tuple(
    table
    for table, columns in TABLES.items()
    if "survey" in columns and table != "token"
)
"""The tables whose rows belong to a survey, by its number; tokens name theirs."""


@dataclass(frozen=True, eq=False)
class Column:
    """One question of a survey, as it is stored."""

    stored: StoredQuestion
    survey: Survey
    question: Question

    @cached_property
    def layouts(self) -> tuple[CountedDesign, ...]:
        """How the responses of each stage are written and counted."""
        return tuple(map(CountedDesign, self.question.designs))

    @cached_property
    def _start(self) -> hashlib._Hash:
        return hashlib.sha256(f"{self.survey.hash}\0{self.question.name}\0".encode())

    def read(self, tables: Tables, table: str, group: int | None) -> Stages:
        """Return the counts of each stage in a table, seen and raised; of one group, or of all together."""
        return counts.read(tables, table, self.stored, self.layouts, group)

    def tally(self, stages: Stages) -> Tally | StageTallies:
        """Return the counts of all stages as a tally: `StageTallies` where the question has a ladder."""
        pairs = list(zip(self.layouts, stages, strict=True))
        seen = [layout.tally(vectors[SEEN]) for layout, vectors in pairs]
        ladder = self.question.ladder
        if ladder is None:
            return seen[0]
        finest = [
            layout.tally(vectors[SEEN] - vectors[RAISED])
            for layout, vectors in pairs
        ]
        return StageTallies(ladder, tuple(seen), tuple(finest))

    def set_sizes(self, stages: Stages) -> tuple[Vector, ...]:
        """Return for each stage how many responses held 0, 1, 2 … categories; empty unless responses are sets."""
        return tuple(
            [
                layout.shapes(vectors[SEEN])
                for layout, vectors in zip(self.layouts, stages, strict=True)
            ]
        )

    def id(self, key: bytes) -> bytes:
        """Return the id of a respondent's responses to this question.

        Why: SHA-256 of survey, question and key, cut to 128 bits. Whoever has the key finds the row; whoever has the
        rows finds neither the key nor which other row belongs to the same respondent.
        """
        state = self._start.copy()
        state.update(key)
        return state.digest()[:ID]

    def ids(self, keys: Rows) -> Rows:
        """Return the ids of many respondents, a row for each."""
        content, start, digests = keys.tobytes(), self._start.copy, bytearray()
        # as `id`, without a call for each
        for offset in range(0, len(content), KEY):
            state = start()
            state.update(content[offset : offset + KEY])
            digests += state.digest()[:ID]
        return np.frombuffer(digests, np.uint8).reshape(len(keys), ID)


@dataclass(frozen=True, eq=False)
class KnownSurvey:
    """A survey in use, with a column for each question. The state may change; all else stays as it was created."""

    entry: Entry
    columns: tuple[Column, ...]
    arm_questions: tuple[frozenset[int], ...]
    """The numbers of the questions that each arm is asked."""

    @classmethod
    def from_entry(cls, entry: Entry) -> KnownSurvey:
        """Make the columns of a survey."""
        survey = entry.survey
        columns = [
            Column(StoredQuestion(entry.id, number), survey, question)
            for number, question in enumerate(survey.questions)
        ]
        arm_questions = [
            frozenset(survey.number(question.name) for question in questions)
            for questions in survey.arm_questions
        ]
        return cls(entry, tuple(columns), tuple(arm_questions))


class Prepared(NamedTuple):
    """A survey that can be stored, with its keys; and where it is by invitation, the secret half of that of tokens."""

    survey: Survey
    private: str


def prepare(survey: Survey, receipts: str) -> Prepared:
    """Check that a survey's responses can be counted, and make its keys; this takes a moment.

    Args:
        survey: as its author wrote it.
        receipts: the public key of the collector's receipts.
    """
    for question in survey.questions:
        for design in question.designs:
            CountedDesign(design)
    if survey.admission != "invitation":
        return Prepared(replace(survey, keys=Keys(receipts)), "")
    tokens = SigningKey.make()
    return Prepared(
        replace(survey, keys=Keys(receipts, tokens.public)), tokens.to_pem().decode()
    )


def create(tables: Tables, prepared: Prepared) -> Entry:
    """Store a draft in the place of a draft of its name, or of a pilot that has ended.

    Raises:
        NotAllowed: a survey of this name is or was open.
    """
    name = prepared.survey.name
    before = tables.rows(
        f"SELECT id, state FROM survey WHERE name = ? {tables.dialect['lock']}", name
    )
    if before and before[0][1] not in ("draft", "ended"):
        raise NotAllowed(
            f"the survey {name!r} is {before[0][1]}, and its definition is frozen; expected a new name.",
            "What people agreed to cannot be changed afterwards.",
        )
    # The number is new even where a draft is replaced: programs remember definitions by number.
    number = int(tables.value("SELECT coalesce(max(id), 0) + 1 FROM survey"))
    if before:  # who was invited to a draft is invited to what takes its place; its key signs anew
        tables.run(
            "UPDATE invitation SET survey = ?, used = NULL WHERE survey = ?",
            number,
            before[0][0],
        )
    tables.run("DELETE FROM survey WHERE name = ?", name)
    tables.run(
        "INSERT INTO survey VALUES (?, ?, 'draft', ?, ?, '')",
        number, name, prepared.survey.to_json(), prepared.private,
    )  # fmt: skip
    return Entry(number, prepared.survey, "draft")


def numbers(tables: Tables) -> list[int]:
    """Return the numbers of all surveys in the order of their names."""
    return [
        number for (number,) in tables.rows("SELECT id FROM survey ORDER BY name")
    ]


def number(tables: Tables, name: str) -> int:
    """Return the number of a survey.

    Raises:
        NoSuchSurvey: there is none of this name.
    """
    survey_id = tables.value("SELECT id FROM survey WHERE name = ?", name)
    if survey_id is None:
        raise NoSuchSurvey(
            f"there is no survey {quoted(name, 50)}; expected one that was created."
        )
    return int(survey_id)


def read_state(tables: Tables, number: int) -> tuple[State, str]:
    """Return what may change of a survey: its state, and the signature of its author, empty where there is none.

    Raises:
        NoSuchSurvey: there is none of this number.
    """
    rows = tables.rows("SELECT state, signature FROM survey WHERE id = ?", number)
    if not rows:
        raise NoSuchSurvey(
            "there is no survey of this number; expected one that was created."
        )
    ((state, signature),) = rows
    return state, signature


def keep_signature(tables: Tables, number: int, signature: AuthorSignature) -> None:
    """Keep the signature of a definition beside it.

    Raises:
        Incompatible: it is of another definition.
    """
    lock(tables, number)
    stored_hash = read(tables, number).survey.hash
    if signature.survey != stored_hash:
        raise Incompatible(
            f"this signature is of the definition {signature.survey:.19}…; expected {stored_hash:.19}…",
            "Sign the definition that the collector has now: deniable survey definition NAME.",
        )
    tables.run(
        "UPDATE survey SET signature = ? WHERE id = ?", signature.to_json(), number
    )


def read(tables: Tables, number: int) -> Entry:
    """Return a survey by its number."""
    statement = "SELECT definition, state, signature FROM survey WHERE id = ?"
    ((definition, state, signature),) = tables.rows(statement, number)
    return Entry(number, Survey.from_json(definition), state, signature)


def lock(tables: Tables, number: int) -> bool:
    """Keep others from writing to a survey until the transaction ends; say whether there is such a survey."""
    return bool(
        tables.rows(
            f"SELECT id FROM survey WHERE id = ? {tables.dialect['lock']}", number
        )
    )


def set_state(tables: Tables, number: int, to: State) -> None:
    """Open or close a survey.

    Raises:
        NotAllowed: it is to be closed, and was never open; or it is a pilot that has ended.
    """
    lock(tables, number)
    before, _ = read_state(tables, number)
    if before == "ended":
        raise NotAllowed(
            "this pilot has ended; expected one that runs.",
            "Start a new one from the draft.",
        )
    if to == "closed" and before == "draft":
        raise NotAllowed(
            "this survey was never open; expected one that is.", "Open it first."
        )
    tables.run("UPDATE survey SET state = ? WHERE id = ?", to, number)


def start_pilot(tables: Tables, name: str, prepared: Prepared) -> int:
    """Open a pilot of a draft, as a survey of its own, and return its number.

    Raises:
        NotAllowed: the survey is no draft any more, or it has a pilot that runs.
    """
    now, _ = read_state(tables, number(tables, name))
    if now != "draft":
        raise NotAllowed(
            f"the survey {name!r} is {now}; expected a draft.",
            "A pilot comes before a survey is opened for real.",
        )
    running = pilot_of(tables, name)
    if running is not None and read_state(tables, running)[0] != "ended":
        raise NotAllowed(
            f"a pilot of {name!r} runs already; expected none.",
            "End it first: its responses are erased.",
        )
    begun = create(tables, prepared).id
    set_state(tables, begun, "open")
    return begun


def pilot_of(tables: Tables, name: str) -> int | None:
    """Return the number of a survey's pilot, running or ended; None where there was none."""
    pilot_id: int | None = tables.value(
        "SELECT id FROM survey WHERE name = ?", name + PILOT
    )
    return pilot_id


def end_pilot(tables: Tables, number: int) -> None:
    """Erase all that a pilot holds: responses, counts, days, invitations, spent tokens, the key that signed them."""
    lock(tables, number)
    for table in HELD:
        tables.run(f"DELETE FROM {table} WHERE survey = ?", number)
    tables.run(
        "UPDATE survey SET state = 'ended', private = '' WHERE id = ?", number
    )
