"""Whoever withdraws waits until it is overwritten, and keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from pathlib import Path

import httpx

from deniable.client import connection
from deniable.collector.app import make_app
from deniable.collector.intake import SubmissionWriter
from deniable.collector.settings import Settings
from deniable.collector.store import Sent, Submission, Token, open_store
from deniable.collector.store.base import Erasure, WithdrawalRequest
from tests.support.collector import listening
from tests.support.surveys import small

PEOPLE = 100
PATIENCE = 60  # seconds for what takes some hundredths of one, on a machine that does much else


def test_who_withdraws_is_told_when_another_thread_has_overwritten_it(
    tmp_path: Path,
) -> None:
    """Such as one that closes the survey, and writes everything anew."""
    store = open_store(tmp_path / "collector.db")
    store.create(small())
    survey, key = store.open("small").id, bytes(16)
    store.add([Submission(survey, key, None, (Sent(0, 0, 1),))])
    store._rewriter._next = time.monotonic() + 3600

    async def run() -> Erasure:
        with SubmissionWriter(store, hold=0) as writer:
            writer.patience = math.inf
            waiting = asyncio.create_task(
                writer.withdraw(WithdrawalRequest(survey, key))
            )
            while store.tallies(survey, 0).respondents:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(store.close, "small")
            return await asyncio.wait_for(waiting, PATIENCE)

    assert asyncio.run(run()) == Erasure(1, overwritten=True)
    store.shut()


def test_who_withdraws_waits_no_longer_than_programs_do(tmp_path: Path) -> None:
    """Else they give up, ask again, and hear that nothing was there."""
    store = open_store(tmp_path / "collector.db")
    store.create(small())
    survey, key = store.open("small").id, bytes(16)
    store.add([Submission(survey, key, None, (Sent(0, 0, 1),))])
    store._rewriter._next = time.monotonic() + 3600

    async def run() -> Erasure:
        with SubmissionWriter(store, hold=0) as writer:
            assert writer.patience < connection._TIMEOUT
            writer.patience = 0.3
            withdrawing = writer.withdraw(WithdrawalRequest(survey, key))
            return await asyncio.wait_for(withdrawing, PATIENCE)

    assert asyncio.run(run()) == Erasure(1, overwritten=False)
    store.shut()


def test_a_hundred_who_withdraw_keep_nobody_waiting(tmp_path: Path) -> None:
    """Everything may be written anew in an hour: until then all of them wait, and others read as before."""
    store = open_store(tmp_path / "collector.db")
    store.create(small(minimum=5))
    survey = store.open("small").id
    keys = [secrets.token_bytes(16) for _ in range(PEOPLE)]
    store.add([Submission(survey, key, None, (Sent(0, 0, 1),)) for key in keys])
    token = store.issue_token(Token("ann", "analyst"))
    store._rewriter._next = time.monotonic() + 3600
    api = "/api/surveys/small"

    async def run(address: str) -> list[bool]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(
            base_url=address, timeout=PATIENCE, limits=limits
        ) as web:
            waiting = [
                asyncio.create_task(
                    web.post(
                        f"{api}/withdrawals", json={"key": key.hex()}, timeout=None
                    )
                )
                for key in keys
            ]
            while store.tallies(survey, 0).respondents:
                await asyncio.sleep(0.01)
            ann = {"Authorization": f"Bearer {token}"}
            for path, headers in (
                (api, {}),
                ("/s/small", {"Accept": "text/html"}),
                (f"{api}/estimates", ann),
                (f"{api}/tallies", ann),
            ):
                answered = await web.get(path, headers=headers)
                assert answered.status_code == 200
            assert not any(task.done() for task in waiting)
            store._rewriter._next = 0
            return [
                each.json()["overwritten"] for each in await asyncio.gather(*waiting)
            ]

    app = make_app(Settings(hold=0.05), store)
    app.state.collector.writer.patience = math.inf
    with listening(app) as address:
        assert (
            asyncio.run(asyncio.wait_for(run(address), 4 * PATIENCE))
            == [True] * PEOPLE
        )
    store.shut()
