"""A stage that comes late: its response is drawn exactly as if it had stood between its neighbours from the start."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.order.relaxation import ladder
from deniable.order.steps import Step, possible_responses
from deniable.release.stages import find_place, find_relaxation
from tests.support.ladders import families, small
from tests.support.traces import law

LADDERS = sorted(name for name, stages in small().items() if len(stages) > 2)
UNIQUE = (
    "binary",
    "k_ary",
    "unary",
    "items",
    "hadamard",
    "warner",
    "subset",
    "local_hashing",
    "rr3_dagger",
)


def steps(name: str, one: int, two: int, three: int) -> tuple[Step, Step, Step]:
    designs = small()[name].designs
    found = (
        find_relaxation(designs[one], designs[two]),
        find_relaxation(designs[two], designs[three]),
        find_relaxation(designs[one], designs[three]),
    )
    assert all(found)
    return found  # type: ignore[return-value]  # they are ordered


def composes(name: str) -> bool:
    low, high, direct = steps(name, 0, 1, 2)
    return low.composes(high, direct)


@pytest.mark.parametrize("name", [name for name in LADDERS if not composes(name)])
def test_a_stage_that_was_not_drawn_through_is_refused(name: str) -> None:
    designs = small()[name].designs
    with pytest.raises(InvalidRequest, match="were not drawn through it"):
        find_place(designs[1], [designs[0], designs[2]])


@pytest.mark.parametrize("name", [name for name in LADDERS if composes(name)])
def test_the_draw_has_the_law_of_the_chain(name: str) -> None:
    low, high, direct = steps(name, 0, 1, 2)
    for coarse in possible_responses(low.old)[:6]:
        for fine in possible_responses(high.new)[:6]:
            whole = direct.garbling(coarse, fine)
            if not whole:
                continue
            drawn = law(
                lambda coarse=coarse, fine=fine: low.between(high, coarse, fine)
            )  # type: ignore[misc]
            wanted = {
                u: low.garbling(coarse, u) * high.garbling(u, fine) / whole
                for u in possible_responses(low.new)
            }
            assert drawn == {u: each for u, each in wanted.items() if each}


def _triples(name: str) -> list[tuple[Step, Step, Step]]:
    return [steps(name, *triple) for triple in combinations(range(4), 3)]


@pytest.mark.parametrize("name", UNIQUE)
def test_families_whose_step_is_the_only_one_always_lead_through(name: str) -> None:
    assert all(low.composes(*two) for low, *two in _triples(name))


@pytest.mark.parametrize("name", sorted(families()))
def test_every_stage_of_a_ladder_finds_its_place(name: str) -> None:
    designs = families()[name]
    for number, design in enumerate(designs):
        others = [each for at, each in enumerate(designs) if at != number]
        try:
            found = find_place(design, others)
        except InvalidRequest as error:  # a choice among several steps was made otherwise: refused, not drawn wrongly
            assert "were not drawn through it" in str(error)  # noqa: PT017 - the words are what is looked at
            continue
        assert found.at == number
        assert found.finest == (number == len(designs) - 1)
        assert (found.below is None) == (number == 0)


@pytest.mark.parametrize("name", UNIQUE)
def test_a_step_that_does_not_lead_through_is_noticed(name: str) -> None:
    """Composition is what the product of the garblings says, cell by cell, for every step between three stages."""
    low, high, direct = steps(name, 0, 1, 2)
    ends = (
        possible_responses(low.old),
        possible_responses(low.new),
        possible_responses(high.new),
    )
    through = {
        (o, f): sum(low.garbling(o, m) * high.garbling(m, f) for m in ends[1])
        for o, f in product(ends[0], ends[2])
    }
    for whole in (direct, low, high):
        leads = all(
            whole.garbling(o, f) == share for (o, f), share in through.items()
        )
        assert low.composes(high, whole) == leads == (whole is direct)


def test_holding_the_two_lower_ones_says_what_the_middle_one_says() -> None:
    """Why the middle stage is not simply degraded: then the two lower ones together would tell more."""
    designs = [dn.k_ary(3, p=p) for p in ("1/2", "3/5", "4/5")]
    stages = ladder([designs[0], designs[2]])
    found = find_place(designs[1], stages.designs)
    together: dict[tuple[int, int], list[Fraction]] = {}
    for history in ((a, c) for a in range(3) for c in range(3)):
        row = [stages.probability(history, given=x) for x in range(3)]
        drawn = law(
            lambda h=history: found.draw(designs[1], None, coarser=h[0], finer=h[1])
        )  # type: ignore[misc]
        for middle, chance_of in drawn.items():
            cell = together.setdefault((history[0], middle), [Fraction(0)] * 3)
            together[history[0], middle] = [
                a + chance_of * b for a, b in zip(cell, row, strict=True)
            ]
    assert max(max(row) / min(row) for row in together.values()) == designs[1].parity
    for (_, middle), row in together.items():
        alone = [designs[1].channel.probability(middle, given=x) for x in range(3)]
        assert all(
            a * sum(alone) == b * sum(row) for a, b in zip(row, alone, strict=True)
        )
