"""Everything written anew in the order of its keys, so that the disk does not tell in which order it came.

A database adds rows where there is room: a page of SQLite, and a table of Postgres, hold them in the order of their
arrival, beside a log of transactions. Keys are hashes of random bytes; what lies in their order tells nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from deniable.collector.store import packs, surveys
from deniable.collector.store.schema import TABLES
from deniable.db import Database

SHARE = 0.1
"""Of all time, how much is spent on writing everything anew, at most."""

_RETRY = 10.0  # seconds after which a database that failed is tried again
# no respondent adds or changes a row of these
_STILL = {"survey", "token", "secret", "session"}
_MOVED = tuple(table for table in TABLES if table not in _STILL)


def rewrite(database: Database) -> bool:
    """Write all that respondents have caused anew; say whether nothing of before is left.

    Why under locks: whoever changes rows of a survey locks the survey first, so that nobody looks for a row that is
    being moved. All rows then come from one transaction.
    """
    with database.transaction() as tables:
        locked = [
            number
            for number in sorted(surveys.numbers(tables))
            if surveys.lock(tables, number)
        ]
        for survey in locked:
            packs.merge_all(tables, survey)
        if database.keeps_arrival:
            for table in _MOVED:
                order = ", ".join(
                    str(index) for index, _ in enumerate(TABLES[table], 1)
                )
                tables.run(
                    f"WITH gone AS (DELETE FROM {table} WHERE survey = ANY(?) RETURNING *) "
                    f"INSERT INTO {table} SELECT * FROM gone ORDER BY {order}",
                    locked,
                )
    return database.clean(_MOVED)


class Rewriter:
    """Knows what was changed since everything was last written anew, and when that may happen again.

    Args:
        work: writes everything anew, and says whether nothing of before is left.
        share: of all time, how much this may take.
    """

    def __init__(self, work: Callable[[], bool], share: float) -> None:
        self._share = share
        self._work = work
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._changes = 0
        self._settled = 0
        self._next = 0.0
        self.lasts = 0.0  # seconds that it took the last time

    def note(self) -> None:
        """Remember that something was changed."""
        with self._counting:
            self._changes += 1

    @property
    def pause(self) -> float | None:
        """Seconds until there is something to do, and the time for it; None where nothing was changed."""
        return (
            max(0.0, self._next - time.monotonic())
            if self._changes > self._settled
            else None
        )

    def run(self, *, at_once: bool = False) -> bool:
        """Write anew what was changed before this call; many who ask at a time share one run.

        Args:
            at_once: whether not to wait until the share of time allows it.
        """
        changes = self._changes
        while True:
            with self._turn:  # whoever comes while others are at it waits for their end, and then looks at the time
                if self._settled >= changes:
                    return True
                pause = None if at_once else self.pause
                if not pause:
                    return self._run_timed()
            time.sleep(pause)

    def _run_timed(self) -> bool:
        changes, start = self._changes, time.monotonic()
        # who asks meanwhile expects it to last as long as the last time
        self._next = start + self.lasts / self._share
        try:
            n_rewritten = self._work()
        except BaseException:
            self._next = start + _RETRY
            raise
        self.lasts = time.monotonic() - start
        self._next = start + self.lasts / self._share
        if n_rewritten:
            self._settled = changes
        return n_rewritten
