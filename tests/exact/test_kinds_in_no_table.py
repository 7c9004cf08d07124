"""A kind of channel that no table knows is compared, relaxed and advised by the linear program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import deniable as dn
from deniable import channel as channels
from deniable.channel import Dense
from deniable.errors import NotOrdered
from deniable.order.blackwell import Garbling, find_step
from deniable.order.closed_forms import find_closed_form
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder, relax
from deniable.order.steps import Tabulated
from tests.support.ring import Ring, coarser, ring
from tests.support.traces import law

FINE = Ring(5, 20, 4, 1)
BLURS = [Ring(5, 3, 1, 1), Ring(5, 5, 2, 1), Ring(5, 4, 3, 1), Ring(5, 9, 1, 2)]


@pytest.fixture
def registered() -> Iterator[None]:
    channels.register(Ring)
    yield
    del channels.KINDS[Ring.KIND]


@pytest.mark.parametrize("blur", BLURS)
def test_a_coarser_ring_is_raised_to_a_finer_one(blur: Ring) -> None:
    coarse = coarser(FINE, blur)
    assert find_closed_form(coarse, FINE) is None
    step = find_step(coarse, FINE)
    assert isinstance(step, Tabulated)
    assert step.verify()
    written = step.written()
    assert isinstance(written, Dense)
    assert written.after(FINE.dense()) == coarse.dense()
    for old in range(5):
        for x in range(5):
            drawn = law(lambda old=old, x=x: step.upgrade(old, x))  # type: ignore[misc]
            assert drawn == {
                u: p for u in range(5) if (p := step.kernel(u, old=old, given=x))
            }
    order = dn.compare(coarse, FINE)
    assert order.relation == "coarser"
    assert isinstance(order.first_from_second, Garbling)
    assert order.first_from_second.channel == blur.dense()


@pytest.mark.usefixtures("registered")
def test_a_ladder_of_rings_reveals_what_its_last_stage_does_and_travels() -> None:
    stages = ladder([ring(9, 6, 4), ring(12, 5, 3), ring(20, 4, 1)])
    assert stages.joint_parity == stages.designs[-1].parity == 20
    assert Ladder.from_json(stages.to_json()) == stages


def test_a_ring_that_cannot_follow_is_refused_with_a_proof_and_advice() -> None:
    sharp, broad = ring(20, 4, 1), ring(20, 19, 1)
    with pytest.raises(NotOrdered, match="cannot be raised") as refused:
        relax(sharp, broad)
    assert refused.value.proof is not None
    assert refused.value.proof.coarse > refused.value.proof.fine
    assert [near.name for near in refused.value.nearest] == ["k_ary"]
    assert relax(sharp, *refused.value.nearest).step.verify()
    assert dn.compare(sharp, broad).relation == "incomparable"
