"""Group commit: one thread stores all that has arrived while the disk was busy with what came before."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from types import TracebackType
from typing import NamedTuple

from deniable.collector.store import Outcome, Store, StoreFailed, Submission


class _Waiting(NamedTuple):
    submission: Submission
    future: asyncio.Future[Outcome]
    loop: asyncio.AbstractEventLoop


class Writer:
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

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _work(self) -> None:
        while batch := self._next():
            try:
                outcomes: list[Outcome] | BaseException = self._store.add([each.submission for each in batch])
            except Exception as error:  # whatever it is, somebody waits for it
                outcomes = error
            _tell(batch, outcomes)

    def _next(self) -> list[_Waiting]:
        """Return what is waiting; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ending)
        time.sleep(self._pause)
        with self._changed:
            return [self._queue.popleft() for _ in range(min(len(self._queue), self._most))]


def _tell(batch: list[_Waiting], outcomes: list[Outcome] | BaseException) -> None:
    """Wake up all who wait, with one call into each event loop."""
    for loop in {each.loop for each in batch}:
        pairs = [
            (each.future, outcomes if isinstance(outcomes, BaseException) else outcomes[at])
            for at, each in enumerate(batch)
            if each.loop is loop
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
