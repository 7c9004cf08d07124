"""Whatever buyers put together is worth what the best of them holds: every coalition on every ladder, gone through."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

import deniable as dn
from deniable.channel import Dense
from deniable.errors import InvalidRequest
from deniable.order.relaxation import ladder
from deniable.release.market import coalition_loss
from tests.support.ladders import small


@pytest.mark.parametrize("name", sorted(small()))
def test_a_coalition_is_worth_its_best_member(name: str) -> None:
    stages = small()[name]
    for size in {1, 2, len(stages)}:
        for held in combinations(range(len(stages)), size):
            found = coalition_loss(stages, held)
            assert found.gone_through
            assert found.same
            assert found.parity == found.alone == stages.designs[held[-1]].parity


def test_two_fresh_responses_are_worth_more_than_the_better_one() -> None:
    """What the computation would have to find, were stages drawn afresh."""
    fresh = dn.product([dn.warner(p="3/5"), dn.warner(p="2/3")]).channel
    both = Dense.from_rows(
        [[fresh.probability(r, given=3 * x) for x in range(2)] for r in range(4)]
    )
    assert both.parity == 3 > dn.warner(p="2/3").parity


def test_large_designs_are_proved_by_their_steps() -> None:
    stages = ladder([dn.rappor(64, epsilon=epsilon) for epsilon in (1, 2, 3)])
    found = coalition_loss(stages, [0, 2])
    assert not found.gone_through
    assert found.same
    assert found.parity == stages.designs[2].parity


def test_large_designs_whose_steps_do_not_verify_are_worth_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stages = ladder([dn.rappor(64, epsilon=epsilon) for epsilon in (1, 2)])
    monkeypatch.setattr(type(stages.steps[0]), "verify", lambda _: False)
    found = coalition_loss(stages, [0, 1])
    assert found.parity == math.inf
    assert not found.same


def test_stages_that_are_not_there_are_refused() -> None:
    stages = ladder([dn.warner(1), dn.warner(2)])
    for held in ([], [2], [-1, 0]):
        with pytest.raises(InvalidRequest):
            coalition_loss(stages, held)
