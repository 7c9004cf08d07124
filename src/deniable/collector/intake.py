"""From what arrives to what is stored: names and hashes become numbers, and one thread writes them down.

What does not belong is refused before it is written. Submissions that arrive while the disk is busy share the next
transaction (group commit).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from deniable.collector.messages import ResponseBody, SubmissionBody, TokenBody
from deniable.collector.refusals import Refused
from deniable.collector.store import Entry, NoSuchSurvey, NotStored, Outcome, Sent, Store, StoreFailed, Submission
from deniable.collector.store.base import Admission, today
from deniable.designs import Design
from deniable.errors import Incompatible
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector.settings import Collector

_FRESH = 1.0  # seconds for which a definition and its state are taken from memory
_MOST_SURVEYS = 1000  # remembered at a time, to bound the memory


class StagePlace(NamedTuple):
    """Where a response belongs: the number of its question, the number of its stage, and the stage's design."""

    question: int
    stage: int
    design: Design


class FieldedSurvey:
    """A survey of the store, in which everything that responses name is looked up quickly."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.survey: Survey = entry.survey
        self.definition = self.survey.to_json().encode()
        self.place = cache(self._place)  # bounded: a survey has only so many designs, and errors are not kept

    def _place(self, question: str, design: str) -> StagePlace:
        """Return where a response belongs.

        Raises:
            InvalidRequest: no such question.
            Incompatible: drawn with a design of something else.
        """
        number = self.survey.number(question)
        asked = self.survey.questions[number]
        stage = asked.stage(design)
        return StagePlace(number, stage, asked.designs[stage])

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
        error = self.entry.not_taken(today())
        if error is not None:
            raise Refused(409, error.problem, error.hint)

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
        self._remembered: dict[str, tuple[float, FieldedSurvey]] = {}

    async def find(self, name: str) -> FieldedSurvey:
        """Return a survey by its name.

        Raises:
            Refused: there is none of this name.
        """
        now = time.monotonic()
        until, fielded = self._remembered.get(name, (0.0, None))
        if fielded is not None and now < until:
            return fielded
        if fielded is not None:  # others go on with what is known while this request asks
            self._remembered[name] = (now + _FRESH, fielded)
        try:
            entry = await asyncio.to_thread(self._store.survey, name)
        except NoSuchSurvey:
            self._remembered.pop(name, None)
            raise Refused(404, "there is no survey at this address.", "Surveys are listed at /.") from None
        if fielded is None or fielded.entry != entry:
            fielded = FieldedSurvey(entry)
        if len(self._remembered) >= _MOST_SURVEYS:
            self._remembered.clear()
        self._remembered[name] = (now + _FRESH, fielded)
        return fielded

    def forget(self) -> None:
        """Ask the store again the next time: something was changed."""
        self._remembered.clear()


class _Waiting(NamedTuple):
    submission: Submission
    future: asyncio.Future[Outcome]
    loop: asyncio.AbstractEventLoop


class SubmissionWriter:
    """Stores submissions, many in one transaction; each is acknowledged when it is durable.

    Args:
        store: where they go.
        most: submissions in one transaction.
        pause: seconds to wait for company after the first one; a transaction costs much the same for one as for many.
    """

    def __init__(self, store: Store, *, most: int = 1024, pause: float = 0.002) -> None:
        self._store = store
        self._most = most
        self._pause = pause
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    async def add(self, submission: Submission) -> Outcome:
        """Store a submission, and return when it is durable or refused.

        Raises:
            StoreFailed: the database failed, or the writer has ended. Nothing was stored.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(submission, loop.create_future(), loop)
        with self._changed:
            if self._ending:
                raise StoreFailed("the collector is stopping; nothing was stored.", "Send it again in a moment.")
            self._queue.append(waiting)
            self._changed.notify()
        return await waiting.future

    def end(self) -> None:
        """Store what is waiting, and stop."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join()

    def __enter__(self) -> SubmissionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _work(self) -> None:
        while batch := self._next():
            try:
                outcomes: list[Outcome] | BaseException = self._store.add([waiting.submission for waiting in batch])
            except Exception as error:  # whatever it is, somebody waits for it
                outcomes = error
            _wake_all(batch, outcomes)

    def _next(self) -> list[_Waiting]:
        """Return what is waiting; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ending)
        time.sleep(self._pause)
        with self._changed:
            return [self._queue.popleft() for _ in range(min(len(self._queue), self._most))]


def _wake_all(batch: list[_Waiting], outcomes: list[Outcome] | BaseException) -> None:
    """Wake up all who wait, with one call into each event loop."""
    for loop in {waiting.loop for waiting in batch}:
        pairs = [
            (waiting.future, outcomes if isinstance(outcomes, BaseException) else outcomes[at])
            for at, waiting in enumerate(batch)
            if waiting.loop is loop
        ]
        if not loop.is_closed():
            loop.call_soon_threadsafe(_wake, pairs)


def _wake(pairs: list[tuple[asyncio.Future[Outcome], Outcome | BaseException]]) -> None:
    for future, outcome in pairs:
        if future.done():  # whoever waited has gone; what was sent is stored all the same
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


async def submit(collector: Collector, name: str, body: SubmissionBody) -> None:
    """Store what one respondent sent; it is durable when this returns.

    Raises:
        DeniableError: why it was not stored.
    """
    fielded = await collector.surveys.find(name)
    submission = fielded.submission(body)
    outcome = await collector.writer.add(submission)
    if isinstance(outcome, NotStored):
        collector.metrics.responses(name, "refused", len(submission.responses))
        raise outcome.error
    collector.metrics.responses(name, outcome, len(submission.responses))


def _admission(token: TokenBody) -> Admission:
    return Admission(bytes.fromhex(token.message), int(token.signature, 16))
