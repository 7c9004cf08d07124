"""Stores with responses in them, for tests of results and pages."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.bulk.gradual import release_planned
from deniable.collector.store import Batch, Entry, Store
from deniable.engines.local import draw_all
from deniable.survey import Survey
from tests.support.seeded import seeded

EXAMPLE = Path(__file__).parents[2] / "examples" / "survey.toml"


def opened(store: Store, survey: Survey) -> Entry:
    """Put a survey into a store and open it."""
    store.create(survey)
    return store.open(survey.name)


def example() -> Survey:
    return Survey.read(EXAMPLE)


def add(
    store: Store,
    entry: Entry,
    question: int,
    columns: Sequence[Any],
    group: int | None = None,
) -> None:
    """Add responses of new people, a column for each stage; a later column may be shorter: the others stop before."""
    keys = np.frombuffer(
        secrets.token_bytes(16 * len(columns[0])), np.uint8
    ).reshape(-1, 16)
    for stage, codes in enumerate(columns):
        if len(codes):
            store.add_batch(
                Batch(entry.id, question, stage, keys[: len(codes)], codes, group)
            )


def ask(
    store: Store,
    entry: Entry,
    question: int,
    answers: Sequence[int],
    group: int | None = None,
) -> None:
    """Let people with these answers respond; each stage is sent by a third of those who sent the one before."""
    asked = entry.survey.questions[question]
    source = seeded(f"{entry.survey.name} {asked.name} {group}")
    if asked.ladder is None:
        columns: list[Any] = [
            draw_all(asked.design, np.array(answers), codes=True, source=source)
        ]
    else:
        columns = list(
            release_planned(
                asked.ladder, np.array(answers), codes=True, source=source
            )
        )
    add(
        store,
        entry,
        question,
        [column[: len(answers) // 3**stage] for stage, column in enumerate(columns)],
        group,
    )


def fill(store: Store, entry: Entry, sizes: dict[int | None, int]) -> None:
    """Let so many people of each group respond to every question; half of them hold the first answer."""
    for number, question in enumerate(entry.survey.questions):
        size = question.design.channel.answers
        for group, people in sizes.items():
            answers = np.where(
                np.arange(people) % 2, 0, np.arange(people) // 2 % size
            )
            ask(
                store,
                entry,
                number,
                np.random.default_rng(people).permutation(answers).tolist(),
                group,
            )
