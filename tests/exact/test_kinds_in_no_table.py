"""A kind of channel that no table knows is compared, relaxed and advised by the linear program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

import deniable as dn
from deniable import chance
from deniable.channel import Channel, Dense
from deniable.designs import Design
from deniable.errors import NotOrdered
from deniable.order.blackwell import Garbling, find_step
from deniable.order.closed_forms import closed
from deniable.order.relaxation import ladder, relax
from deniable.order.steps import Tabulated
from tests.support.traces import law


@dataclass(frozen=True)
class Circle(Channel):
    """Answers on a circle: one weight for the answer itself, one for its two neighbours, one for all others."""

    KIND: ClassVar[str] = "circle"
    SIZES: ClassVar[tuple[str, ...]] = ("size",)
    WEIGHTS: ClassVar[tuple[str, ...]] = ("own", "near", "far")
    size: int
    own: int
    near: int
    far: int

    @property
    def answers(self) -> int:
        return self.size

    @property
    def responses(self) -> int:
        return self.size

    def probability(self, response: int, *, given: int) -> Fraction:
        apart = min((response - given) % self.size, (given - response) % self.size)
        return Fraction(
            (self.own, self.near, self.far)[min(apart, 2)], self.own + 2 * self.near + (self.size - 3) * self.far
        )

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        return self.dense().draw(given, source)


def design(*weights: int) -> Design:
    size = weights[0]
    names = tuple("abcdefg"[:size])
    return Design("circle", names, names, Circle(*weights))


# With five answers every circulant of three weights is a circle, so that circles garble circles.
FINE = Circle(5, 20, 4, 1)
BLURS = [Circle(5, 3, 1, 1), Circle(5, 5, 2, 1), Circle(5, 4, 3, 1), Circle(5, 9, 0, 1)]


def blurred(blur: Circle, fine: Circle) -> Circle:
    """Return the circle that comes out when a finer one is sent through another."""
    table = blur.dense().after(fine.dense())
    own, near, far = (table.weights[i][0] for i in range(3))
    common = math.gcd(own, near, far)
    return Circle(5, own // common, near // common, far // common)


@pytest.mark.parametrize("blur", BLURS)
def test_a_coarser_circle_is_raised_to_a_finer_one(blur: Circle) -> None:
    coarse = blurred(blur, FINE)
    assert closed(coarse, FINE) is None
    step = find_step(coarse, FINE)
    assert isinstance(step, Tabulated)
    assert step.verify()
    written = step.written()
    assert isinstance(written, Dense)
    assert written.after(FINE.dense()) == coarse.dense()
    for old in range(5):
        for x in range(5):
            drawn = law(lambda old=old, x=x: step.upgrade(old, x))  # type: ignore[misc]
            assert drawn == {u: p for u in range(5) if (p := step.kernel(u, old=old, given=x))}
    order = dn.compare(coarse, FINE)
    assert order.relation == "coarser"
    assert isinstance(order.first_from_second, Garbling)
    assert order.first_from_second.channel == blur.dense()


def test_a_ladder_of_circles_reveals_what_its_last_stage_does() -> None:
    stages = [design(5, 9, 6, 4), design(5, 12, 5, 3), design(5, 20, 4, 1)]
    found = ladder(stages)
    assert found.joint_parity == stages[-1].parity
    assert found.joint().answers == 5


def test_a_circle_that_cannot_follow_is_refused_with_a_proof_and_advice() -> None:
    sharp, broad = design(5, 20, 4, 1), design(5, 20, 19, 1)
    with pytest.raises(NotOrdered, match="cannot be raised") as refused:
        relax(sharp, broad)
    assert refused.value.proof is not None
    assert refused.value.proof.coarse > refused.value.proof.fine
    for near in refused.value.nearest:
        assert near.name == "k_ary"
        assert relax(sharp, near).step.verify()
    assert refused.value.nearest
    assert dn.compare(sharp, broad).relation == "incomparable"
