"""From what arrives to what is stored: names and hashes become numbers, and one thread writes them down.

What does not belong is refused before it is written. Submissions that arrive while the disk is busy share the next
transaction (group commit), and few who come alone wait for others.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from deniable.collector.messages import SubmissionBody
from deniable.collector.monitoring import log_event
from deniable.collector.refusals import Refused
from deniable.collector.store import (
    Batch,
    Entry,
    Exchange,
    NoSuchSurvey,
    NotStored,
    Outcome,
    Sent,
    Store,
    StoreFailed,
    Submission,
)
from deniable.collector.store.base import (
    Admission,
    Erasure,
    WithdrawalRequest,
    today,
)
from deniable.db import Closable
from deniable.designs import Design
from deniable.errors import Incompatible
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector.settings import Collector

_FRESH = 1.0  # seconds for which a definition and its state are taken from memory
_LOOK = 0.2  # seconds after which an idle writer looks whether something is to be written anew
_PATIENCE = 25.0  # seconds that who withdraws waits at most: programs and proxies give up after 30
_MAX_SURVEYS = 1000  # remembered at a time, to bound the memory


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
        # bounded: a survey has only so many designs, and errors are not kept
        self.place = cache(self._place)

    def _place(self, question: str, design: str) -> StagePlace:
        """Return where a response belongs.

        Raises:
            InvalidRequest: no such question.
            Incompatible: drawn with a design of something else.
        """
        number = self.survey.number(question)
        asked_question = self.survey.questions[number]
        stage = asked_question.stage(design)
        return StagePlace(number, stage, asked_question.designs[stage])

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
            raise Refused(
                409,
                "this survey is not open yet; expected one that is, or was.",
                "Come back later.",
            )

    def check_open(self) -> None:
        """Refuse a survey that takes no responses today.

        Raises:
            Refused: it does not.
        """
        error = self.entry.refusal(today())
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
        token, admission, key = body.token, None, bytes.fromhex(body.key)
        if token is not None:
            message = bytes.fromhex(token.message)
            admission = Admission(message, int(token.signature, 16))
        group, responses = self.group(body.group), []
        for response in body.responses:
            question, stage, design = self.place(response.question, response.design)
            code = design.symbol_number(response.symbol)
            responses.append(Sent(question, stage, code))
        return Submission(self.entry.id, key, group, tuple(responses), admission)

    def check_hash(self, named_hash: str) -> None:
        """Refuse what was sent to another definition of this survey.

        Raises:
            Incompatible: it was.
        """
        if named_hash != self.survey.hash:
            raise Incompatible(
                f"this was sent to the definition {named_hash:.19}…; expected {self.survey.hash:.19}…",
                "Fetch the definition again, and respond to that.",
            )


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
        # others go on with what is known while this request asks
        if fielded is not None:
            self._remembered[name] = (now + _FRESH, fielded)
        try:
            entry = await asyncio.to_thread(self._store.survey, name)
        except NoSuchSurvey:
            self._remembered.pop(name, None)
            raise Refused(
                404,
                "there is no survey at this address.",
                "Open the link that you were given.",
            ) from None
        if fielded is None or fielded.entry != entry:
            fielded = FieldedSurvey(entry)
        if len(self._remembered) >= _MAX_SURVEYS:
            self._remembered.clear()
        self._remembered[name] = (now + _FRESH, fielded)
        return fielded

    def forget(self) -> None:
        """Ask the store again the next time: something was changed."""
        self._remembered.clear()


Work: TypeAlias = Submission | Exchange | WithdrawalRequest
"""What is stored, or erased, on behalf of one respondent."""


class _Waiting(NamedTuple):
    work: Work
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    since: float


class SubmissionWriter(Closable):
    """Stores submissions, exchanges invitations and erases, many in one transaction; each is told when it is durable.

    They are held back until there are enough of them, so that a transaction, which a log of the database may keep, is
    one of several respondents; in it, rows are written in the order of their keys, which are random. Afterwards
    everything is written anew as soon as that is due (`Store.rewrite`), also what others have changed. Where that ends
    within `hold`, those whom the log tells from others are told after it. Who withdraws waits for it without a thread,
    and is told after `patience` that it comes later.

    Args:
        store: where they go.
        pool: as soon as so many wait, they are stored.
        hold: seconds that one waits for others, at most.
        most: in one transaction.
        pause: seconds to wait for still more; a transaction costs much the same for one as for many.
    """

    def __init__(
        self,
        store: Store,
        *,
        pool: int = 16,
        hold: float = 1.0,
        max_waiting: int = 1024,
        pause: float = 0.002,
    ) -> None:
        self.pool = pool
        self.hold = hold
        self.patience = _PATIENCE
        self._store = store
        self._most = max_waiting
        self._pause = pause
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._erased: list[tuple[_Waiting, int]] = []
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    async def add(self, submission: Submission) -> Outcome:
        """Store a submission, and return when it is durable or refused.

        Raises:
            StoreFailed: the database failed, or the writer has ended. Nothing was stored.
        """
        outcome: Outcome = await self._wait_for(submission)
        return outcome

    async def exchange(self, request: Exchange) -> int:
        """Exchange an invitation, and return the signature when it is durable that it was used.

        Raises:
            NotAllowed: no such invitation, or it was used for another message.
            StoreFailed: as in `add`.
        """
        signature: int | NotStored = await self._wait_for(request)
        if isinstance(signature, NotStored):
            raise signature.error
        return signature

    async def withdraw(self, withdrawal: WithdrawalRequest) -> Erasure:
        """Erase what was sent with a key, and return when it is overwritten, or that is known to come later.

        Raises:
            StoreFailed: as in `add`.
        """
        outcome: Erasure | NotStored = await self._wait_for(withdrawal)
        if isinstance(outcome, NotStored):
            raise outcome.error
        return outcome

    def settle_batch(self, batches: Sequence[Batch], minimum: int) -> None:
        """Write everything anew after a batch of fewer people than the minimum, where that ends soon.

        Why: until then the disk tells them from all others, as it tells those of a pool.
        """
        few = any(len(batch.keys) < minimum for batch in batches)
        if few and self._pause_before_rewrite() is not None:
            with suppress(StoreFailed):  # it is stored, and written anew later
                self._store.rewrite()

    async def _wait_for(self, work: Work) -> Any:
        loop = asyncio.get_running_loop()
        waiting = _Waiting(work, loop.create_future(), loop, time.monotonic())
        with self._changed:
            if self._ending:
                raise StoreFailed(
                    "the collector is stopping; nothing was stored.",
                    "Send it again in a moment.",
                )
            self._queue.append(waiting)
            self._changed.notify()
        return await waiting.future

    def close(self) -> None:
        """Store what is waiting, and stop."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while self._queue or not self._ending:
            batch = self._take_batch()
            outcomes: list[tuple[_Waiting, Any]] = []
            for kind, step in (
                (Submission, self._store.add),
                (Exchange, self._store.exchange_all),
                (WithdrawalRequest, self._store.erase),
            ):
                works = [each for each in batch if isinstance(each.work, kind)]
                outcomes += _carry_out(works, step)
            outcomes = self._keep_erased(outcomes)
            # whoever is told before everything is written anew is one of many in the log, or would wait for too long
            if self._settles_soon(batch):
                self._rewrite()
                _wake_all(outcomes)
            else:
                _wake_all(outcomes)
                self._rewrite()
            late = time.monotonic() - self.patience
            self._tell_erased(overwritten=False, before=late)
        self._tell_erased(overwritten=False)

    def _keep_erased(
        self, outcomes: list[tuple[_Waiting, Any]]
    ) -> list[tuple[_Waiting, Any]]:
        """Keep those whose responses were erased until they are overwritten; return all others."""
        others = []
        for waiting, outcome in outcomes:
            erases = isinstance(waiting.work, WithdrawalRequest) and isinstance(
                outcome, int
            )
            if erases and outcome:
                self._erased.append((waiting, outcome))
            else:
                others.append((waiting, Erasure(0, True) if erases else outcome))
        return others

    def _settles_soon(self, batch: list[_Waiting]) -> bool:
        """Wait until everything may be written anew, where few were stored and that ends soon; say whether it does."""
        works = [waiting.work for waiting in batch]
        if not batch or self._store.is_pool(works):
            return False
        pause = self._pause_before_rewrite()
        if pause is None:
            return False
        with self._changed:
            return not self._changed.wait_for(lambda: self._ending, pause)

    def _pause_before_rewrite(self) -> float | None:
        """Return the seconds until everything may be written anew; None where it is not due, or would last too long."""
        pause, lasts = self._store.rewrite_pause, self._store.rewrite_lasts
        return None if pause is None or pause + lasts > self.hold else pause

    def _take_batch(self) -> list[_Waiting]:
        """Return what waits, when there is enough of it or it has waited for long; nothing where nobody comes."""
        with self._changed:
            if (
                not self._changed.wait_for(
                    lambda: self._queue or self._ending, _LOOK
                )
                or not self._queue
            ):
                return []
            remaining = self._queue[0].since + self.hold - time.monotonic()
            self._changed.wait_for(
                lambda: len(self._queue) >= self.pool or self._ending,
                max(0.0, remaining),
            )
        time.sleep(self._pause)
        with self._changed:
            return [
                self._queue.popleft()
                for _ in range(min(len(self._queue), self._most))
            ]

    def _rewrite(self) -> None:
        pause = self._store.rewrite_pause
        if pause is None:  # another thread has done it
            self._tell_erased(overwritten=True)
        # whoever ends the store does it at the end
        if pause != 0.0 or self._ending:
            return
        try:
            self._tell_erased(overwritten=self._store.rewrite(at_once=True))
        except StoreFailed as error:
            log_event("rewriting failed", what=error.problem)
            self._tell_erased(overwritten=False)

    def _tell_erased(self, *, overwritten: bool, before: float = math.inf) -> None:
        """Tell those who have waited since before a moment whether what they withdrew is overwritten."""
        erased, self._erased = self._erased, []
        for waiting, count in erased:
            if waiting.since < before:
                _wake_all([(waiting, Erasure(count, overwritten))])
            else:
                self._erased.append((waiting, count))


def _carry_out(
    works: list[_Waiting], step: Callable[[Sequence[Any]], Sequence[Any]]
) -> list[tuple[_Waiting, Any]]:
    """Return what becomes of each work in one transaction."""
    if not works:
        return []
    try:
        outcomes = step([waiting.work for waiting in works])
    except Exception as error:  # whatever it is, somebody waits for it
        outcomes = [error] * len(works)
    return list(zip(works, outcomes, strict=True))


def _wake_all(outcomes: list[tuple[_Waiting, Any]]) -> None:
    """Wake up all who wait, with one call into each event loop."""
    for loop in {waiting.loop for waiting, _ in outcomes}:
        pairs = [
            (waiting.future, outcome)
            for waiting, outcome in outcomes
            if waiting.loop is loop
        ]
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve_futures, pairs)


def _resolve_futures(pairs: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in pairs:
        # whoever waited has gone; what was sent is stored all the same
        if future.done():
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


async def submit(
    collector: Collector, name: str, body: SubmissionBody, invitation: str = ""
) -> None:
    """Store what one respondent sent; it is durable when this returns.

    Args:
        collector: where to.
        name: of the survey.
        body: what was sent.
        invitation: the code of one that is used with it, of a respondent who cannot blind.

    Raises:
        DeniableError: why it was not stored; nothing of it was, and the invitation was not used.
    """
    fielded = await collector.surveys.find(name)
    submission = fielded.submission(body)._replace(invitation=invitation)
    outcome = await collector.writer.add(submission)
    if isinstance(outcome, NotStored):
        collector.metrics.responses(name, "refused", len(submission.responses))
        raise outcome.error
    collector.metrics.responses(name, outcome, len(submission.responses))


async def withdraw(
    collector: Collector, fielded: FieldedSurvey, key: bytes
) -> Erasure:
    """Erase what was sent with a key, also after the survey has closed."""
    outcome = await collector.writer.withdraw(
        WithdrawalRequest(fielded.entry.id, key)
    )
    collector.metrics.responses(fielded.survey.name, "withdrawn", outcome.responses)
    return outcome
