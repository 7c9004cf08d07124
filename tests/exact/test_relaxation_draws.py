"""What the draws of relaxations draw, exactly: every way in which their primitives can turn out is gone through."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

import deniable as dn
from deniable import chance
from deniable.channel import Bits
from deniable.designs import Design
from deniable.order import bits
from deniable.order.relaxation import ladder, relax
from deniable.responses import respond
from deniable.types.ladder.respond import respond as release_planned
from deniable.types.ladder.respond import upgrade
from tests.support.ladders import small
from tests.support.traces import law

NESTED = [
    "mixture",
    "sets of one, three, then one",
    "sets that avoid it, of two sizes",
    "a bridge",
    "bits, then sets",
]
PAIRS: dict[str, tuple[Design, Design]] = {
    "k-ary": (dn.k_ary(4, p="1/2"), dn.k_ary(4, p="3/4")),
    "two answers": (dn.warner(p="2/3"), dn.warner(p="4/5")),
    "two answers, one-sided": (
        dn.binary("6/10", "7/10"),
        dn.binary("99/100", "81/100"),
    ),
    "the low side": (dn.k_ary(4, p="1/5"), dn.k_ary(4, p="1/10")),
    "sides crossed": (dn.k_ary(3, p="3/10"), dn.k_ary(3, p="9/10")),
    "two sides crossed": (dn.warner(p="1/3"), dn.warner(p="9/10")),
    "sets of two": (dn.subset(4, t=2, p="6/10"), dn.subset(4, t=2, p="7/10")),
    "sets of three, then two": (
        dn.subset(4, t=3, p="8/10"),
        dn.subset(4, t=2, p="8/10"),
    ),
    "sets of two, then categories": (
        dn.subset(4, t=2, p="3/5"),
        dn.k_ary(4, p="3/5"),
    ),
    "two attributes": (
        dn.product([dn.k_ary(3, p="1/2"), dn.binary("6/10", "7/10")]),
        dn.product([dn.k_ary(3, p="3/4"), dn.binary("8/10", "8/10")]),
    ),
}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_upgrades_and_degradations_follow_their_kernels(name: str) -> None:
    step = relax(*PAIRS[name]).step
    olds = [r for r in range(step.old.responses) if step.old.possible(r)]
    news = [r for r in range(step.new.responses) if step.new.possible(r)]
    for old in olds:
        for x in range(step.old.answers):
            drawn = law(lambda: step.upgrade(old, x))  # noqa: B023 - called at once
            assert drawn == {
                u: p for u in news if (p := step.kernel(u, old=old, given=x))
            }
    for new in news:
        drawn = law(lambda: step.degrade(new))  # noqa: B023
        assert drawn == {o: p for o in olds if (p := step.garbling(o, new))}


@pytest.mark.parametrize("name", NESTED)
def test_sets_of_any_sizes_follow_their_kernels(name: str) -> None:
    """Nothing is drawn afresh there, so that weights of 2^64 are no obstacle."""
    for step in small()[name].steps:
        olds = [r for r in range(step.old.responses) if step.old.possible(r)]
        news = [r for r in range(step.new.responses) if step.new.possible(r)]
        for old in olds:
            for x in (0, step.old.answers - 1):
                drawn = law(lambda: step.upgrade(old, x))  # noqa: B023
                assert drawn == {
                    u: p for u in news if (p := step.kernel(u, old=old, given=x))
                }
        for new in news:
            drawn = law(lambda: step.degrade(new))  # noqa: B023
            assert drawn == {o: p for o in olds if (p := step.garbling(o, new))}


def test_bits_follow_their_kernel() -> None:
    step = bits.BitByBit(Bits(2, 6, 4, 10), Bits(2, 8, 1, 10))
    for old in range(4):
        for x in range(2):
            drawn = law(lambda: step.upgrade(old, x), coins=True)  # noqa: B023
            assert drawn == {u: step.kernel(u, old=old, given=x) for u in range(4)}
        drawn = law(lambda: step.degrade(old), coins=True)  # noqa: B023
        assert drawn == {o: step.garbling(o, old) for o in range(4)}


@pytest.mark.parametrize(
    "probability",
    [
        Fraction(0),
        Fraction(1),
        Fraction(1, 3),
        Fraction(255, 256),
        Fraction(1, 2**70),
    ],
)
def test_digits_add_up_to_the_probability(probability: Fraction) -> None:
    head, rest = bits.split_digits(probability)
    assert 0 <= head < 256
    assert 0 <= rest <= 1
    assert (head + rest) / 256 == probability


def test_planned_and_open_ended_releases_have_one_law() -> None:
    """From the public functions down to the primitives: three stages of three categories."""
    stages = ladder([dn.k_ary(3, p=p) for p in ("4/10", "5/10", "8/10")])

    def planned() -> tuple[str, ...]:
        return tuple(response.symbol for response in release_planned(stages, "1"))

    def open_ended() -> tuple[str, ...]:
        responses = [respond(stages.designs[0], "1")]
        for relaxation in stages.relaxations:
            responses.append(upgrade(relaxation, responses[-1], "1"))
        return tuple(response.symbol for response in responses)

    one = law(planned)
    assert one == law(open_ended)
    assert one == {
        history: p
        for history in one
        if (p := stages.probability([int(symbol) for symbol in history], given=1))
    }
    assert sum(one.values()) == 1


def test_the_explorer_itself_finds_a_wrong_draw() -> None:
    step = relax(*PAIRS["k-ary"]).step
    fresh = law(lambda: step.new.draw(0))
    assert fresh != {u: step.kernel(u, old=1, given=0) for u in range(4)}
    # and leaves everything as it was
    assert chance.below.__module__ == "deniable.chance"


@pytest.mark.parametrize("name", [*small(), "crossed"])
def test_how_many_words_are_taken_says_nothing_about_the_answer(name: str) -> None:
    """From the same bytes, whatever the answer and the response that is out."""
    stages = (
        small()[name]
        if name != "crossed"
        else ladder([dn.warner(p="3/10"), dn.warner(p="9/10")])
    )
    for step in stages.steps:
        pairs = [
            (old, given)
            for old, given in product(
                range(step.old.responses), range(step.old.answers)
            )
            if step.old.possible(old) and step.old.probability(old, given=given)
        ]
        for number in range(3):
            taken = set()
            for old, given in pairs:
                source = chance.ScriptedSource(random.Random(number).randbytes(4096))
                step.upgrade(old, given, source)
                taken.add(source.used)
            assert len(taken) == 1
