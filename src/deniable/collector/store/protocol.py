"""What a store does, whichever kind of database it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from os import PathLike
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.collector.store.base import Batch, BatchOutcome, Entry, Invitations, Outcome, Sent, Submission, Token
from deniable.survey import Survey
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

if TYPE_CHECKING:
    import pyarrow as pa


class Store(Protocol):
    """Keeps surveys, responses and their counts. All calls block, and threads may share a store.

    What is returned is durable: a power cut does not undo it. Several programs may use one database at a time.
    """

    # Surveys

    def create(self, survey: Survey) -> Entry:
        """Keep a survey as a draft, in the place of a draft of its name.

        Raises:
            NotAllowed: a survey of this name is or was open; its definition is frozen.
        """
        ...

    def open(self, name: str) -> Entry:
        """Take responses from now on; a closed survey can be opened again.

        Raises:
            NoSuchSurvey: there is none of this name.
        """
        ...

    def close(self, name: str) -> Entry:
        """Take no more responses.

        Raises:
            NoSuchSurvey: there is none of this name.
            NotAllowed: it was never open.
        """
        ...

    def surveys(self) -> list[Entry]:
        """Return all surveys in the order of their names."""
        ...

    def survey(self, name: str) -> Entry:
        """Return a survey by its name.

        Raises:
            NoSuchSurvey: there is none of this name.
        """
        ...

    # Responses

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store submissions in one durable transaction, each of them wholly or not at all.

        The same stage with the same code again is "repeated". Another code, a stage that leaves one out, a code that
        cannot follow the one before, a symbol that is never sent, a survey that is not open: each is a `Refusal`.
        """
        ...

    def add_batch(self, *batches: Batch) -> BatchOutcome:
        """Store batches of one survey in one durable transaction, all of them or nothing.

        Raises:
            DeniableError: what `add` refuses; the message names the row.
        """
        ...

    def withdraw(self, survey: int, key: bytes) -> int:
        """Erase all that was sent with a key, take it out of the counts, and return how many responses that were."""
        ...

    def stored(self, survey: int, key: bytes) -> tuple[Sent, ...]:
        """Return all that is stored under a key, by question and stage."""
        ...

    # Results: all of these cost what the design's cells cost, however many responses there are

    def tallies(self, survey: int, question: int, group: int | None = None) -> Tally | StageTallies:
        """Return the counts of a question: `StageTallies` where it has a ladder; of one group, or of all."""
        ...

    def shapes(self, survey: int, question: int, stage: int = 0, group: int | None = None) -> NDArray[np.int64]:
        """Return how many responses held 0, 1, 2 … categories; empty unless responses are sets of categories."""
        ...

    def days(self, survey: int, question: int) -> list[tuple[date, int]]:
        """Return how many responses came on each day (UTC), also those that were withdrawn later."""
        ...

    def export(self, survey: int, question: int, *, groups: Collection[int] = ()) -> Iterator[pa.RecordBatch]:
        """Yield all responses in random order, in columns design, stage, group and symbol.

        Args:
            survey: the number of the survey.
            question: the number of the question.
            groups: those that may be named; the group of everybody else is null.
        """
        ...

    # Who may do what

    def invite(self, name: str, count: int) -> list[str]:
        """Make one-time invitation codes for a survey; only their hashes are kept.

        Raises:
            NotAllowed: the survey is open to everybody.
        """
        ...

    def invitations(self, name: str) -> Invitations:
        """Return how many invitations a survey has, and how many were used."""
        ...

    def exchange(self, name: str, code: str, blinded: int) -> int:
        """Return the blind signature that an invitation buys, once.

        The same code with the same blinded message gives the same signature again, for those whose connection broke.

        Raises:
            NotAllowed: no such invitation, or it was used for another message.
        """
        ...

    def issue_token(self, token: Token) -> str:
        """Make a token and return it; it cannot be shown again.

        Raises:
            InvalidRequest: there is one of this name.
        """
        ...

    def rotate_token(self, name: str) -> str:
        """Return a new token in the place of one, which stops to work.

        Raises:
            InvalidRequest: there is none of this name.
        """
        ...

    def revoke_token(self, name: str) -> None:
        """Make a token stop to work.

        Raises:
            InvalidRequest: there is none of this name.
        """
        ...

    def find_token(self, text: str) -> Token | None:
        """Return what a token allows; None for one that is unknown or was revoked."""
        ...

    def tokens(self) -> list[Token]:
        """Return all tokens that work."""
        ...

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes that are kept under a name; drawn when they are first asked for."""
        ...

    # Operation

    def check(self) -> None:
        """Do nothing if the database answers.

        Raises:
            StoreFailed: it does not.
        """
        ...

    def backup(self, path: str | PathLike[str]) -> None:
        """Write all there is to a new SQLite file, while others go on reading and writing.

        Raises:
            InvalidRequest: there is a file already.
        """
        ...

    def restore(self, path: str | PathLike[str]) -> None:
        """Read what `backup` wrote, of this kind of database or the other, into one that is empty.

        Raises:
            InvalidRequest: there are surveys here already.
            UnreadableFile: not a backup.
        """
        ...

    def shut(self) -> None:
        """Close the database."""
        ...
