"""The table of surveys."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from deniable.collector.blind_keys import SigningKey
from deniable.collector.store.base import Entry, NoSuchSurvey, State
from deniable.collector.store.counts import Layout
from deniable.collector.store.tables import Tables
from deniable.errors import NotAllowed
from deniable.survey import Survey


class Prepared(NamedTuple):
    """A survey that can be stored; where it is by invitation, with its key, and the secret half of that."""

    survey: Survey
    private: str


def prepare(survey: Survey) -> Prepared:
    """Check that a survey's responses can be counted, and make its keys; this takes a moment."""
    for question in survey.questions:
        for design in question.designs:
            Layout(design)
    if survey.admission != "invitation":
        return Prepared(survey, "")
    key = SigningKey.make()
    return Prepared(replace(survey, key=key.public), key.to_pem().decode())


def create(tables: Tables, made: Prepared) -> Entry:
    """Store a draft in the place of a draft of its name.

    Raises:
        NotAllowed: a survey of this name is or was open.
    """
    name = made.survey.name
    before = tables.rows("SELECT id, state FROM survey WHERE name = ?", name)
    if before and before[0][1] != "draft":
        raise NotAllowed(
            f"the survey {name!r} is {before[0][1]}, and its definition is frozen; expected a new name.",
            "What people agreed to cannot be changed afterwards.",
        )
    # The number is new even where a draft is replaced: programs remember definitions by number.
    number = int(tables.value("SELECT coalesce(max(id), 0) + 1 FROM survey"))
    if before:  # who was invited to a draft is invited to what takes its place; its key signs anew
        tables.run("UPDATE invitation SET survey = ?, used = NULL WHERE survey = ?", number, before[0][0])
    tables.run("DELETE FROM survey WHERE name = ?", name)
    tables.run(
        "INSERT INTO survey VALUES (?, ?, 'draft', ?, ?)",
        number, name, made.survey.to_json(), made.private,
    )  # fmt: skip
    return Entry(number, made.survey, "draft")


def numbers(tables: Tables) -> list[int]:
    """Return the numbers of all surveys in the order of their names."""
    return [number for (number,) in tables.rows("SELECT id FROM survey ORDER BY name")]


def number(tables: Tables, name: str) -> int:
    """Return the number of a survey.

    Raises:
        NoSuchSurvey: there is none of this name.
    """
    found = tables.value("SELECT id FROM survey WHERE name = ?", name)
    if found is None:
        raise NoSuchSurvey(f"there is no survey {name!r:.50}; expected one that was created.")
    return int(found)


def state(tables: Tables, number: int) -> State:
    """Return the state of a survey.

    Raises:
        NoSuchSurvey: there is none of this number.
    """
    found: State | None = tables.value("SELECT state FROM survey WHERE id = ?", number)
    if found is None:
        raise NoSuchSurvey("there is no survey of this number; expected one that was created.")
    return found


def read(tables: Tables, number: int) -> Entry:
    """Return a survey by its number."""
    ((definition, state),) = tables.rows("SELECT definition, state FROM survey WHERE id = ?", number)
    return Entry(number, Survey.from_json(definition), state)


def lock(tables: Tables, number: int) -> bool:
    """Keep others from writing to a survey until the transaction ends; say whether there is such a survey."""
    return bool(tables.rows(f"SELECT id FROM survey WHERE id = ? {tables.dialect['lock']}", number))


def turn(tables: Tables, number: int, state: State) -> None:
    """Open or close a survey.

    Raises:
        NotAllowed: it is to be closed, and was never open.
    """
    lock(tables, number)
    if state == "closed" and tables.value("SELECT state FROM survey WHERE id = ?", number) == "draft":
        raise NotAllowed("this survey was never open; expected one that is.", "Open it first.")
    tables.run("UPDATE survey SET state = ? WHERE id = ?", state, number)
