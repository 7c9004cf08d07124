"""What goes into a store and comes out of it. Nothing of it can hold an answer, an address or a time of a response."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.blind import Key
from deniable.errors import DeniableError, InvalidRequest, NotAllowed
from deniable.survey import Link, Survey

State: TypeAlias = Literal["draft", "open", "closed", "ended"]
Standing: TypeAlias = Literal["draft", "early", "open", "over", "closed", "ended"]
"""What a survey is on a day: a draft; opened for a later day; taking responses; past its last day; closed by hand; a
pilot that has ended."""
Scope: TypeAlias = Literal["device", "analyst", "admin"]

SCOPES: tuple[Scope, ...] = ("device", "analyst", "admin")
"""What a token allows: to send batches; to read results; or everything."""

KEY = 16
"""Bytes of the key that a respondent draws: the capability to raise or withdraw what was sent with it."""


def today() -> date:
    """Return the day on which it is now, in UTC."""
    return datetime.now(UTC).date()


class NoSuchSurvey(InvalidRequest):
    """There is no survey of this name."""


class StoreFailed(DeniableError, RuntimeError):
    """The database could not be read or written. Nothing was stored."""


class Entry(NamedTuple):
    """A survey as it is kept.

    Attributes:
        id: its number; a survey that takes the place of a draft has another one.
        survey: the definition.
        state: "draft", "open" or "closed"; responses are taken while it is open. A pilot whose responses were erased
            is "ended".
        signature: of the definition by its author, as sealed JSON; empty where there is none.
    """

    id: int
    survey: Survey
    state: State
    signature: str = ""

    @property
    def public(self) -> Key | None:
        """For surveys by invitation, the key that tokens are verified with."""
        return None if self.survey.keys is None else self.survey.keys.tokens

    def link(self, base: str, *, invitation: str = "") -> Link:
        """Return the link to it that respondents are given, for a collector at an address."""
        return Link.to_survey(
            self.survey, base, author=self.author, invitation=invitation
        )

    @property
    def author(self) -> str:
        """The public key of whoever signed the definition; empty where nobody did."""
        return str(json.loads(self.signature)["author"]) if self.signature else ""

    def standing(self, day: date) -> Standing:
        """Return what the survey is on a day."""
        if self.state != "open":
            return self.state
        if self.survey.opens and day < self.survey.opens:
            return "early"
        return "over" if self.survey.closes and day > self.survey.closes else "open"

    def takes(self, day: date) -> bool:
        """Say whether responses are taken on a day."""
        return self.standing(day) == "open"

    def refusal(self, day: date) -> NotAllowed | None:
        """Return the reason why no response is accepted on a day; None where one is."""
        why = _NOT_TAKEN.get(self.standing(day))
        if why is None:
            return None
        problem, hint = (
            text.format(opens=self.survey.opens, closes=self.survey.closes)
            for text in why
        )
        return NotAllowed(f"the survey {self.survey.name!r} {problem}", hint)


_NOT_TAKEN: dict[Standing, tuple[str, str]] = {
    "draft": (
        "has not been opened yet; expected one that is open.",
        "Come back when it has started.",
    ),
    "early": (
        "opens on {opens} (UTC); expected a response on that day or later.",
        "Nothing is lost: what was drawn can be sent then.",
    ),
    "over": (
        "closed on {closes}, its last day (UTC); expected one that is open.",
        "What was sent before can still be withdrawn.",
    ),
    "closed": (
        "was closed by those who run it; expected one that is open.",
        "What was sent before can still be withdrawn.",
    ),
    "ended": (
        "was a pilot, and has ended; expected one that is open.",
        "All that was sent to it was erased.",
    ),
}
"""Why responses are not taken, and how to go on."""


class StoredQuestion(NamedTuple):
    """One question of one survey, by their numbers: the first columns of every table of responses and counts."""

    survey: int
    number: int


class Sent(NamedTuple):
    """One response: to which question, at which stage (0 is the coarsest), and the number of its symbol."""

    question: int
    stage: int
    code: int


class Admission(NamedTuple):
    """What an invitation was exchanged for: a random message, and the collector's blind signature of it."""

    message: bytes
    signature: int


class Exchange(NamedTuple):
    """What somebody who was invited asks for: the blind signature of a message.

    Attributes:
        survey: the name of the survey.
        code: the code of the invitation.
        blinded: the message, blinded.
    """

    survey: str
    code: str
    blinded: int


class Submission(NamedTuple):
    """What one respondent sends at a time.

    Attributes:
        survey: the number of the survey.
        key: drawn by the respondent; the same one again for everything that is sent later.
        group: the number of the respondent's group, if there is one.
        responses: stages of one question in rising order, from the first that is not stored yet.
        admission: for surveys by invitation.
        invitation: in its place, the code of an invitation that is used with this submission, for those who cannot
            blind.
    """

    survey: int
    key: bytes
    group: int | None
    responses: tuple[Sent, ...]
    admission: Admission | None = None
    invitation: str = ""


@dataclass(frozen=True, slots=True)
class NotStored:
    """Why a submission was not stored; nothing of it was.

    Attributes:
        error: what was wrong, what was expected, and how to go on; of a class of `deniable.errors`.
    """

    error: DeniableError

    @property
    def reason(self) -> str:
        """What was wrong, in words."""
        return self.error.problem


Outcome: TypeAlias = Literal["stored", "repeated"] | NotStored
"""What became of a submission: durable now; durable since an earlier time; or refused."""


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Many respondents' responses to one question at one stage, in columns.

    Attributes:
        survey: the number of the survey.
        question: the number of the question.
        stage: the number of the stage.
        keys: a row of 16 bytes for each respondent.
        codes: a whole number for each; for sets of categories packed rows, as `engines.local.draw_all` makes them.
        group: the number of the group that all of them are in, if any.
    """

    survey: int
    question: int
    stage: int
    keys: NDArray[np.uint8]
    codes: NDArray[Any]
    group: int | None = None


class BatchOutcome(NamedTuple):
    """How many responses of a batch are durable now, and how many had been before."""

    stored: int
    repeated: int


class WithdrawalRequest(NamedTuple):
    """What somebody asks for who withdraws: that all be erased that was sent to a survey with a key."""

    survey: int
    key: bytes


class Erasure(NamedTuple):
    """What became of a withdrawal.

    Attributes:
        responses: how many were erased, and taken out of the counts.
        overwritten: whether nothing of them is left in files and tables of the database; else that is still to come.
    """

    responses: int
    overwritten: bool

    @property
    def said(self) -> str:
        """By which name the catalogue tells of it."""
        return ("done" if self.overwritten else "soon") if self.responses else "none"


class Token(NamedTuple):
    """What a token allows; the token itself is not kept, only its hash.

    Attributes:
        name: what people call it.
        scope: "device", "analyst" or "admin".
        survey: the name of the only survey that it is for; empty for all.
    """

    name: str
    scope: Scope
    survey: str = ""


class Invitations(NamedTuple):
    """How many invitations a survey has, and how many of them were exchanged."""

    made: int
    used: int
