"""Surveys that are in use, with what follows from their definitions: how ids are made, how responses are written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.collector.store.base import KEY, Entry
from deniable.collector.store.counts import Layout, Rows
from deniable.survey import Question

ID = 16
"""Bytes of an id."""


@dataclass(frozen=True, eq=False)
class Column:
    """One question of a survey, as it is stored."""

    survey: str
    question: Question

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """How the responses of each stage are written and counted."""
        return tuple(map(Layout, self.question.designs))

    @cached_property
    def _start(self) -> hashlib._Hash:
        return hashlib.sha256(f"{self.survey}\0{self.question.name}\0".encode())

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
        whole, start, found = keys.tobytes(), self._start.copy, bytearray()
        for at in range(0, len(whole), KEY):  # as `id`, without a call for each
            state = start()
            state.update(whole[at : at + KEY])
            found += state.digest()[:ID]
        return np.frombuffer(found, np.uint8).reshape(len(keys), ID)


@dataclass(frozen=True, eq=False)
class Shelf:
    """A survey with a column for each question. The state may change; all else stays as it was created."""

    entry: Entry
    columns: tuple[Column, ...]

    @classmethod
    def of(cls, entry: Entry) -> Shelf:
        """Make the columns of a survey."""
        survey = entry.survey
        return cls(entry, tuple(Column(survey.hash, question) for question in survey.questions))
