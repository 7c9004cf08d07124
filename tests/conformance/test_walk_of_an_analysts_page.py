"""How far a reader follows the page of a question: changes of file, and transactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deniable.collector.pages.analyst import overview, question_page, survey_page
from deniable.collector.pages.render import render
from deniable.collector.store import Store, Token, open_store
from deniable.db import Tables
from tests.support import filled
from tests.support.surveys import small
from tests.support.walks import walk

MAX_CHANGES = 200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with two surveys that are closed, one of them with groups."""
    store = open_store(tmp_path / "c.db")
    filled.fill(store, filled.opened(store, small(groups=())), {None: 60})
    filled.fill(store, filled.opened(store, filled.example()), {0: 60, 1: 50})
    for name in ("small", "working-life"):
        store.close(name)
    yield store
    store.shut()


@pytest.fixture
def transactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list to which each transaction adds whether it writes."""
    begun: list[bool] = []
    transaction = store.database.transaction

    @contextmanager
    def counted(*, write: bool = True, **options: Any) -> Iterator[Tables]:
        begun.append(write)
        with transaction(write=write, **options) as tables:
            yield tables

    monkeypatch.setattr(store.database, "transaction", counted)
    return begun


def test_the_page_of_a_question_changes_files_rarely(store: Store) -> None:
    def show() -> str:
        return render(question_page(store, "small", "smokes"))

    show()  # publishes what was stored before the survey ended
    files = [name for name in walk(show) if name.endswith(".py")]
    assert {
        "collector/results.py",
        "collector/store/published.py",
        "db/database.py",
    } <= set(files)
    assert len(files) <= MAX_CHANGES, len(files)


@pytest.mark.parametrize("question", ["overtime", "sick-leave", "exhaustion"])
@pytest.mark.parametrize("group", ["", "office"])
def test_a_page_is_read_in_one_transaction(
    store: Store, transactions: list[bool], question: str, group: str
) -> None:
    question_page(store, "working-life", question, group)
    assert transactions == [False, True], (
        "the first look after the end shows all that is stored"
    )
    transactions.clear()
    page = question_page(store, "working-life", question, group)
    assert page.facts.results is not None
    assert transactions == [False]


def test_lists_are_read_in_one_transaction_each(
    store: Store, transactions: list[bool]
) -> None:
    assert len(overview(store, Token("all", "analyst")).facts) == 2
    assert transactions == [False, True]
    transactions.clear()
    overview(store, Token("all", "analyst"))
    survey_page(store, "working-life")
    assert transactions == [False, False]
