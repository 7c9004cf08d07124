"""State of a device, in the file of its ledger or in one of its own: link, definition, sent responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias, cast

from deniable import exact
from deniable.chance import Source
from deniable.client.connection import Connection
from deniable.db import Database, Tables
from deniable.designs import FieldedDesign
from deniable.errors import Incompatible, InvalidRequest
from deniable.survey import Link, Question, Survey
from deniable.survey.signed import AuthorSignature
from deniable.types import find_operation

_TABLES = (
    "CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sent (question TEXT NOT NULL, design TEXT NOT NULL, PRIMARY KEY (question, design))",
    "CREATE TABLE IF NOT EXISTS waiting (key TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID",
)


Answer: TypeAlias = str | Mapping[str, str | exact.Rational] | exact.Rational
"""The truth about one question: a category, one of each attribute, a number, items with weights, or a text."""


def category_of(
    question: Question, answer: Answer, source: Source
) -> str | Mapping[str, str]:
    """Return the category that an answer has: a number, or a weight, is rounded to a level first.

    Raises:
        InvalidAnswer: not one that the question asks for. The message does not repeat it.
    """
    design = question.design
    about = design.about if isinstance(design, FieldedDesign) else design
    category_of = find_operation(about, "category_of")
    return cast(
        str | Mapping[str, str],
        category_of(about, answer, source=source) if category_of else answer,
    )


class DeviceState:
    """The facts that a device keeps about one survey.

    Args:
        link: the survey.
        connection: how to ask for its definition.
        database: the file.
    """

    def __init__(
        self, link: Link, connection: Connection, database: Database
    ) -> None:
        self.link = link
        self.transaction = database.transaction
        self._connection = connection
        with self.transaction() as tables:
            for statement in _TABLES:
                tables.run(statement)
            link_facts = {
                "base": link.base,
                "survey": link.survey,
                "hash": link.definition,
                "author": link.author,
            }
            stored_facts = {
                name: keep_fact(tables, name, value)
                for name, value in link_facts.items()
            }
        if stored_facts != link_facts:
            raise InvalidRequest(
                f"this file belongs to the survey at {stored_facts['base']}/s/{stored_facts['survey']} with the "
                f"definition {stored_facts['hash']:.12}…; expected another file for another survey."
            )

    @property
    def path(self) -> str:
        """Path of the collector's routes for this survey."""
        return _path(self.link)

    @cached_property
    def survey(self) -> Survey:
        """The definition that the link names; fetched once, and kept.

        Raises:
            NotSent: it was never fetched, and the collector cannot be reached.
            Incompatible: the collector has another one, or one that the author of the link has not signed.
        """
        with self.transaction() as tables:
            text = look_up(tables, "definition")
        if text is None:
            text = fetch_survey(self.link, self._connection).to_json()
            with self.transaction() as tables:
                text = keep_fact(tables, "definition", text)
        return Survey.from_json(text)

    def ask(
        self, method: str, path: str, body: bytes | dict[str, str] | None = None
    ) -> bytes:
        """Ask the collector about this survey; a body that is no bytes is sent as JSON."""
        raw = json.dumps(body).encode() if isinstance(body, dict) else body
        return self._connection.ask(method, self.path + path, raw)

    def post_lines(self, lines: list[str], token: str) -> None:
        """Send many submissions at once, with the token of a device."""
        body = "\n".join(lines).encode()
        self._connection.ask(
            "POST", f"{self.path}/batches", body, "application/x-ndjson", token
        )


def fetch_survey(link: Link, connection: Connection) -> Survey:
    """Return the definition that a link names.

    Raises:
        NotSent: the collector cannot be reached.
        Incompatible: the collector has another one, or one that the author of the link has not signed.
    """
    survey = Survey.from_json(connection.ask("GET", _path(link)))
    link.check(survey)
    if survey.keys is None:
        raise Incompatible(
            "the definition has no keys that receipts are verified with; expected a fielded survey."
        )
    if link.author:
        signature = connection.ask("GET", f"{_path(link)}/signature")
        signed = AuthorSignature.from_json(signature)
        if (signed.survey, signed.author) != (survey.hash, link.author):
            raise Incompatible(
                f"the definition is signed by {signed.author:.12}…; the link names the author {link.author:.12}….",
                "Nothing was answered. Ask whoever gave you the link.",
            )
    return survey


def _path(link: Link) -> str:
    """Return the path of the collector's routes for a survey."""
    return f"/api/surveys/{link.survey}"


def look_up(tables: Tables, name: str) -> str | None:
    """Return a fact; None where there is none."""
    value = tables.value("SELECT value FROM fact WHERE name = ?", name)
    return None if value is None else str(value)


def keep_fact(tables: Tables, name: str, value: str) -> str:
    """Keep a fact, unless it is known already; return what is known now."""
    tables.run("INSERT INTO fact VALUES (?, ?) ON CONFLICT DO NOTHING", name, value)
    stored = look_up(tables, name)
    return value if stored is None else stored
