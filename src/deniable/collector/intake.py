"""From what arrives to what is stored: names and hashes become numbers, and what does not belong is refused."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from deniable.collector.messages import ResponseBody, SubmissionBody, TokenBody
from deniable.collector.refusals import Refused
from deniable.collector.store import Entry, NoSuchSurvey, Refusal, Sent, Store, Submission
from deniable.collector.store.base import Admission
from deniable.designs import Design
from deniable.errors import Incompatible
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector.state import Collector

_FRESH = 1.0  # seconds for which a definition and its state are taken from memory
_MOST = 1000  # surveys that are remembered


class Place(NamedTuple):
    """Where a response belongs: the number of its question, the number of its stage, and the stage's design."""

    question: int
    stage: int
    design: Design


class Known:
    """A survey with everything that responses name looked up beforehand."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.survey: Survey = entry.survey
        self.definition = self.survey.to_json().encode()
        self.place = cache(self._place)  # keeps what it found, and there is only so much to find; errors are not kept

    def _place(self, question: str, design: str) -> Place:
        """Return where a response belongs.

        Raises:
            InvalidRequest: no such question.
            Incompatible: drawn with a design of something else.
        """
        number = self.survey.number(question)
        asked = self.survey.questions[number]
        stage = asked.stage(design)
        return Place(number, stage, asked.designs[stage])

    def group(self, name: str | None) -> int | None:
        """Return the number of a group.

        Raises:
            InvalidRequest: no such group.
        """
        return None if name is None else self.survey.group(name)

    def check_published(self) -> None:
        """Refuse a draft: what respondents read must be what they are asked, and a draft can still change.

        Raises:
            Refused: it is one.
        """
        if self.entry.state == "draft":
            raise Refused(409, "this survey is not open yet; expected one that is, or was.", "Come back later.")

    def check_open(self) -> None:
        """Refuse a survey that takes no responses today.

        Raises:
            Refused: it does not.
        """
        if not self.entry.takes(datetime.now(UTC).date()):
            raise Refused(409, "this survey takes no responses now; expected one that is open.")

    def submission(self, body: SubmissionBody) -> Submission:
        """Return what a respondent sent, in numbers.

        Raises:
            Refused: the survey takes no responses now.
            Incompatible: sent to another definition, or drawn with another design.
            InvalidRequest: a question or a group that does not exist.
            InvalidResponse: a symbol that its design never sends.
        """
        self.check_open()
        self.check_hash(body.survey)
        sent = tuple(self._sent(each) for each in body.responses)
        admission = None if body.token is None else _admission(body.token)
        return Submission(self.entry.id, bytes.fromhex(body.key), self.group(body.group), sent, admission)

    def check_hash(self, named: str) -> None:
        """Refuse what was sent to another definition of this survey.

        Raises:
            Incompatible: it was.
        """
        if named != self.survey.hash:
            raise Incompatible(
                f"this was sent to the definition {named:.19}…; expected {self.survey.hash:.19}…",
                "Fetch the definition again, and respond to that.",
            )

    def _sent(self, body: ResponseBody) -> Sent:
        question, stage, design = self.place(body.question, body.design)
        return Sent(question, stage, design.symbol_number(body.symbol))


class Surveys:
    """The definitions of a store, remembered for a second: they are asked for with every response."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[float, Known]] = {}

    async def find(self, name: str) -> Known:
        """Return a survey by its name.

        Raises:
            Refused: there is none of this name.
        """
        now = time.monotonic()
        until, known = self._known.get(name, (0.0, None))
        if known is not None and now < until:
            return known
        if known is not None:  # others go on with what is known while this request asks
            self._known[name] = (now + _FRESH, known)
        try:
            entry = await asyncio.to_thread(self._store.survey, name)
        except NoSuchSurvey:
            self._known.pop(name, None)
            raise Refused(404, "there is no survey at this address.", "Surveys are listed at /.") from None
        if known is None or known.entry != entry:
            known = Known(entry)
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[name] = (now + _FRESH, known)
        return known

    def forget(self) -> None:
        """Ask the store again the next time: something was changed."""
        self._known.clear()


async def submit(collector: Collector, name: str, body: SubmissionBody) -> None:
    """Store what one respondent sent; it is durable when this returns.

    Raises:
        DeniableError: why it was not stored.
    """
    known = await collector.surveys.find(name)
    submission = known.submission(body)
    outcome = await collector.writer.add(submission)
    if isinstance(outcome, Refusal):
        collector.metrics.responses(name, "refused", len(submission.responses))
        raise outcome.error
    collector.metrics.responses(name, outcome, len(submission.responses))


def _admission(token: TokenBody) -> Admission:
    return Admission(bytes.fromhex(token.message), int(token.signature, 16))
