"""What leaves a ledger has exactly the law of its ladder, in whichever order stages are asked for."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import deniable as dn
from deniable import db
from deniable.order.relaxation import ladder
from deniable.release.ledger import Ledger
from tests.support.traces import law

STAGES = ladder([dn.warner(p=p) for p in ("2/3", "3/4", "4/5")])


@pytest.mark.parametrize(("planned", "order"), [(False, (2, 0, 1)), (False, (0, 1)), (False, (1, 0)), (True, (2, 1))])
def test_stages_have_the_law_of_the_ladder(
    planned: bool, order: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "DURABLE", ("synchronous = OFF", "journal_mode = MEMORY"))
    path = tmp_path / "mine.ledger"

    def released() -> tuple[int, ...]:
        path.unlink(missing_ok=True)
        with Ledger.create(path) as ledger:
            ledger.answer("smokes", "yes", STAGES if planned else STAGES.designs[0])
            out = {stage: ledger.release("smokes", STAGES.designs[stage]).response.symbol for stage in order}
        return tuple(STAGES.designs[0].symbols.index(out[stage]) for stage in sorted(order))

    yes = STAGES.designs[0].category_number("yes")
    wanted = dict.fromkeys(product((0, 1), repeat=len(order)), 0)
    for history in product((0, 1), repeat=3):
        wanted[tuple(history[stage] for stage in sorted(order))] += STAGES.probability(history, given=yes)
    assert law(released) == wanted
