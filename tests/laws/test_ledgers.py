"""Whatever is asked of a ledger, in whichever order: one response for a stage, and the finest one is what was spent."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import db
from deniable.errors import InvalidRequest
from deniable.release.ledger import Ledger
from tests.support.ladders import small

LADDERS = {name: stages for name, stages in small().items() if len(stages) > 2}
# what is looked at here is not whether disks keep it
QUICK = "synchronous = OFF", "journal_mode = MEMORY"


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(LADDERS)),
    orders=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=9
    ),
    planned=st.booleans(),
)
def test_stages_are_drawn_once_and_counted_once(
    name: str, orders: list[tuple[str, int]], planned: bool
) -> None:
    stages = LADDERS[name]
    answer = stages.categories[-1]
    out: dict[tuple[str, int], str] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(db, "DURABLE", QUICK),
        Ledger.create(Path(folder) / "mine.ledger") as ledger,
    ):
        for question in "ab":
            ledger.answer(question, answer, stages if planned else stages.designs[0])
        for question, number in orders:
            stage = number % len(stages)
            try:
                released = ledger.release(question, stages.designs[stage])
            except InvalidRequest as error:
                assert "were not drawn through it" in str(error)  # noqa: PT017 - the words are what is looked at
                continue
            assert released.fresh == ((question, stage) not in out)
            assert (
                out.setdefault((question, stage), released.response.symbol)
                == released.response.symbol
            )
        ledger.check()
        status = ledger.status()
    for question in "ab":
        known = [stage for asked, stage in sorted(out) if asked == question]
        standing = status.question(question)
        assert standing.parity == max(
            (stages.designs[stage].parity for stage in known), default=1
        )
        assert [s.design for s in standing.stages if s.released] == [
            stages.designs[stage].hash for stage in known
        ]
    assert status.parity == status.question("a").parity * status.question("b").parity
