"""A collector's database as a released version leaves it, kept in the tree: later versions must open it.

`python -m tests.support.stored` writes it anew. That is right only before a version is released: afterwards a change of
the tables, or of what a definition says, is a migration, and this file stays.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from deniable import blind
from deniable.collector.store import (
    Batch,
    Sent,
    Store,
    Submission,
    Token,
    open_store,
)
from deniable.collector.store.base import Admission
from deniable.collector.store.packs import ids_of, record_type
from deniable.tallies import Tally
from tests.support.surveys import small

FOLDER = Path(__file__).parents[1] / "service" / "stored"
DATABASE = FOLDER / "collector-0.1.db"
KNOWN = FOLDER / "collector-0.1.json"
PEOPLE = 60


def known() -> dict[str, Any]:
    """What is known of the database: what its respondents and operators hold, and its counts."""
    return json.loads(KNOWN.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def counts(store: Store) -> dict[str, list[dict[str, int]]]:
    """The counts of every question at every stage that are not 0, by survey."""
    return {
        entry.survey.name: [
            {
                str(cell): int(count)
                for cell, count in enumerate(stage.counts)
                if count
            }
            for number in range(len(entry.survey.questions))
            for stage in _stages(store, entry.id, number)
        ]
        for entry in store.surveys()
    }


def ids(store: Store, survey: int) -> list[tuple[int, bytes]]:
    """The question and the id of every response to a survey, as they lie: rows of their own, then packs."""
    with store.transaction(write=False) as tables:
        alone = tables.rows(
            "SELECT question, id FROM response WHERE survey = ?", survey
        )
        runs = "SELECT question, stage, packed, width FROM run NATURAL JOIN pack WHERE survey = ? ORDER BY 1, 2, piece"
        found = [
            (question, np.frombuffer(pack, record_type(width)))
            for question, _, pack, width in tables.rows(runs, survey)
        ]
    return [(question, bytes(id_)) for question, id_ in alone] + [
        (question, id_) for question, pack in found for id_ in ids_of(pack)
    ]


def _stages(store: Store, survey: int, question: int) -> tuple[Tally, ...]:
    counted = store.tallies(survey, question)
    return (counted,) if isinstance(counted, Tally) else counted.seen


def _exchanged(store: Store, name: str, code: str) -> Admission:
    key = store.survey(name).public
    assert key is not None
    message = os.urandom(32)
    blinded, factor = blind.blind(message, key)
    return Admission(
        message,
        blind.unblind(message, store.exchange(name, code, blinded), factor, key),
    )


def write() -> None:
    """Field three surveys, let people respond, and note what they hold."""
    FOLDER.mkdir(exist_ok=True)
    DATABASE.unlink(missing_ok=True)
    store = open_store(DATABASE)
    store.create(small())
    field = store.open("small")
    keys = np.frombuffer(os.urandom(16 * PEOPLE), np.uint8).reshape(-1, 16)
    store.add_batch(Batch(field.id, 0, 0, keys, np.arange(PEOPLE) % 2))
    store.add_batch(Batch(field.id, 1, 0, keys, np.arange(PEOPLE) % 3))
    one = os.urandom(16)
    store.add(
        [Submission(field.id, one, 1, (Sent(0, 0, 1), Sent(1, 0, 2), Sent(2, 0, 5)))]
    )
    store.create(small(name="invited", admission="invitation"))
    invited, codes = store.open("invited"), store.invite("invited", 3)
    guest = os.urandom(16)
    store.add(
        [
            Submission(
                invited.id,
                guest,
                None,
                (Sent(0, 0, 1),),
                _exchanged(store, "invited", codes[0]),
            )
        ]
    )
    waiting = _exchanged(store, "invited", codes[1])
    store.create(small(name="draft"))
    secret = store.issue_token(Token("anna", "analyst", "small"))
    told = {
        "hashes": {
            entry.survey.name: entry.survey.hash for entry in store.surveys()
        },
        "counts": counts(store),
        "key": one.hex(),
        "guest": guest.hex(),
        "waiting": [waiting.message.hex(), f"{waiting.signature:x}"],
        "code": codes[2],
        "token": secret,
    }
    store.shut()
    KNOWN.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
