"""Faults that published clients had, planted into draws of sets: each must fail the test that right draws pass."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.chance import Source, below
from deniable.channel import Bits, Sets, Subset
from deniable.channel.sets import fill
from deniable.designs import Design
from deniable.documents import Response
from deniable.engines import local
from deniable.estimates import left_inverse
from tests.support.draws import (
    assert_counts_follow,
    assert_draws_follow,
    draws_needed,
)

found = pytest.raises(AssertionError, match="do not follow its channel")

SUBSET, BITS, RAPPOR = dn.subset(5, 1, t=2), dn.unary(4, 1), dn.rappor(4, 2)

Draw = Callable[[int, Source], int]


def drawing(design: Design, draw: Draw, source: Source) -> Callable[[str], Response]:
    return lambda answer: Response(
        design.hash, design.symbols[draw(design.category_number(answer), source)]
    )


def inside(source: Source) -> bool:
    channel = SUBSET.channel
    assert isinstance(channel, Subset)
    return below(channel.total, source) < channel.inside


def the_next_ones(answer: int, source: Source) -> int:
    """The members tell where the answer stands: they follow it in order."""
    start = answer + (not inside(source))
    return sum(1 << (start + i) % 5 for i in range(2))


def wrong_one_excluded(answer: int, source: Source) -> int:
    """Outside, the neighbour of the answer is left out instead of the answer."""
    if inside(source):
        return fill(5, 2, answer, source, inside=True, steps=2)
    return fill(5, 2, (answer + 1) % 5, source, inside=False, steps=2)


def answer_not_excluded(answer: int, source: Source) -> int:
    """Outside, the set is drawn from all categories, so that the answer is in too often."""
    if inside(source):
        return fill(5, 2, answer, source, inside=True, steps=2)
    first = below(5, source)
    return 1 << first | 1 << (first + 1 + below(4, source)) % 5


def without_replacement_forgotten(answer: int, source: Source) -> int:
    """A pick that was taken already is not replaced: sets are sometimes too small."""
    return (
        1 << answer | 1 << below(5, source)
        if inside(source)
        else 1 << below(5, source) | 1 << below(5, source)
    )


@pytest.mark.statistical
@pytest.mark.parametrize(
    "draw",
    [
        the_next_ones,
        wrong_one_excluded,
        answer_not_excluded,
        without_replacement_forgotten,
    ],
)
def test_a_wrong_fill_is_found(draw: Draw, seeded: Source) -> None:
    with pytest.raises(
        AssertionError, match=r"do not follow its channel|were counted"
    ):
        assert_draws_follow(
            SUBSET, drawing(SUBSET, draw, seeded), n=draws_needed(SUBSET)
        )


def own_bit_kept(design: Design) -> Draw:
    """A 1 is never switched off, so that a 0 rules its category out."""
    return lambda answer, source: design.channel.draw(answer, source) | 1 << answer


def last_bit_untouched(design: Design) -> Draw:
    last = design.channel.answers - 1
    every = (1 << last) - 1
    return lambda answer, source: (
        design.channel.draw(answer, source) & every | (answer == last) << last
    )


def digits_reversed(design: Design) -> Draw:
    channel = design.channel
    assert isinstance(channel, Bits)
    swapped = Bits(channel.size, channel.stray, channel.hit, channel.total)
    return swapped.draw


def a_quarter_more(design: Design) -> Draw:
    more = dn.unary(
        design.channel.answers, Fraction(5, 4) * Fraction(design.epsilon)
    )
    return more.channel.draw


@pytest.mark.statistical
@pytest.mark.parametrize("design", [BITS, RAPPOR], ids=["unary", "rappor"])
@pytest.mark.parametrize(
    "fault", [own_bit_kept, last_bit_untouched, digits_reversed, a_quarter_more]
)
def test_wrong_bits_are_found(
    design: Design, fault: Callable[[Design], Draw], seeded: Source
) -> None:
    with found:
        assert_draws_follow(
            design, drawing(design, fault(design), seeded), n=draws_needed(design)
        )


@pytest.mark.statistical
@pytest.mark.parametrize(
    "design",
    [
        SUBSET,
        BITS,
        RAPPOR,
        dn.subset(4, 2, t=3),
        dn.truncated_rappor(4, 1),
        dn.mixture(4, [0.1, 0.2, 0.3, 0.2, 0.2], 1),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("fast", "threads"), [(False, 1), (True, 1), (True, 2)])
def test_secure_sets_follow_the_channel(
    design: Design, fast: bool, threads: int
) -> None:
    """The path that people use, with a keystream that nobody can seed. It stays silent at a rate of 1e-9."""
    n = draws_needed(design)
    counts = [
        np.bincount(
            local.draw_all(
                design, np.full(n, answer), codes=True, fast=fast, threads=threads
            )[:, 0],
            minlength=design.channel.responses,
        )
        for answer in range(design.channel.answers)
    ]
    assert_counts_follow(design, counts)


@pytest.mark.statistical
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "design",
    [
        dn.unary(130, 1, by_size=False),
        dn.unary(130, 1, optimized=True, by_size=False),
        dn.subset(130, 1),
        dn.subset(130, 1, t=100),
    ],
    ids=repr,
)
def test_every_place_of_long_sets_is_drawn_as_often_as_it_should(
    design: Design, fast: bool
) -> None:
    """Beyond one word. Each count is binomial; 7.5 standard deviations are 7e-14, 3e-10 for all 4,160 counts here."""
    n, channel = 60_000, design.channel
    assert isinstance(channel, Sets)
    linear = left_inverse(channel)
    for answer in (0, 63, 64, 129):
        shares = np.zeros(130)
        shares[answer] = 1
        chance = linear.expected(shares)
        rows = local.draw_all(design, np.full(n, answer), codes=True, fast=fast)
        sums = local.tally(design, rows, fast=fast).counts
        assert (
            np.abs(sums - n * chance) < 7.5 * np.sqrt(n * chance * (1 - chance))
        ).all()
