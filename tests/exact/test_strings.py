"""Strings: the ε of a response, noisy sampling, and relaxation in its place; every filter and response gone through."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod

import pytest

import deniable as dn
from deniable.channel import Bits
from deniable.order.blackwell import Garbling
from deniable.types.strings.design import (
    Bloom,
    CohortDesign,
    Filter,
    FilterStep,
    NoisySampling,
    StringDesign,
)
from deniable.types.strings.respond import permanent, respond, sample, upgrade
from tests.support.traces import law

BITS = [(6, 4), (5, 1), (9, 2)]
NOISY = [("3/4", "7/10", "4/10"), ("9/10", "6/10", "4/10"), ("3/5", "1/2", "1/10")]


def design(bits: int, hashes: int, hit: int, stray: int) -> StringDesign:
    return StringDesign(
        Bloom(bits, hashes=hashes, cohorts=3), Bits(bits, hit, stray, 10)
    )


def filters(bits: int, hashes: int) -> list[int]:
    """Return all that a string may become: up to as many ones as there are hashes, and at least one."""
    sizes = range(1, min(hashes, bits) + 1)
    return [
        sum(1 << place for place in places)
        for size in sizes
        for places in combinations(range(bits), size)
    ]


@pytest.mark.parametrize(
    ("bits", "hashes"), [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3), (5, 2), (3, 5)]
)
@pytest.mark.parametrize("weights", BITS)
def test_the_parity_of_a_response_is_the_largest_ratio_of_all(
    bits: int, hashes: int, weights: tuple[int, int]
) -> None:
    given = design(bits, hashes, *weights)
    channel = CohortDesign(given, 0).channel
    rows = [
        [channel.probability(sent, given=true) for true in filters(bits, hashes)]
        for sent in range(1 << bits)
    ]
    assert [sum(column) for column in zip(*rows, strict=True)] == [1] * len(rows[0])
    assert given.parity == max(max(row) / min(row) for row in rows)


@pytest.mark.parametrize("hashes", [1, 2])
def test_two_stages_of_a_response_reveal_what_the_second_does(hashes: int) -> None:
    old, new = design(3, hashes, 6, 4), design(3, hashes, 8, 3)
    coarse, fine = (CohortDesign(each, 0).channel for each in (old, new))
    step = FilterStep(coarse, fine)
    together = {
        (one, two): [
            step.kernel(two, old=one, given=x) * coarse.probability(one, given=x)
            for x in filters(3, hashes)
        ]
        for one, two in product(range(8), repeat=2)
    }
    for at, x in enumerate(filters(3, hashes)):
        for two in range(8):
            assert sum(
                together[one, two][at] for one in range(8)
            ) == fine.probability(two, given=x)
    assert max(max(row) / min(row) for row in together.values()) == new.parity


def test_responses_are_drawn_and_raised_with_exactly_these_probabilities() -> None:
    old, new = design(3, 2, 6, 4), design(3, 2, 8, 3)
    step = FilterStep(CohortDesign(old, 1).channel, CohortDesign(new, 1).channel)
    true = old.bloom.filter("Smith", 1)
    drawn = law(lambda: respond(old, "Smith", cohort=1))
    assert {each.bits(old): chance for each, chance in drawn.items()} == {
        sent: step.old.probability(sent, given=true) for sent in range(8)
    }
    for first in drawn:
        raised = law(lambda: upgrade(old, new, first, "Smith"))  # noqa: B023 - called at once
        assert {each.bits(new): chance for each, chance in raised.items()} == {
            sent: step.kernel(sent, old=first.bits(old), given=true)
            for sent in range(8)
        }


def sampled(noisy: NoisySampling, sent: tuple[int, ...], bit: int) -> Fraction:
    """Return the probability of these samples of one bit."""
    a = noisy.alpha if bit else 1 - noisy.alpha
    chances = [
        prod((rate if each else 1 - rate for each in sent), start=Fraction(1))
        for rate in (noisy.q, noisy.p)
    ]
    return (1 - a) * chances[0] + a * chances[1]


def test_permanent_bits_are_sampled_with_exactly_these_probabilities() -> None:
    noisy, bloom = NoisySampling.of(*NOISY[0]), Bloom(2, hashes=1, cohorts=1)
    true = bloom.filter("Smith", 0)

    def twice() -> tuple[int, int]:
        kept = permanent(noisy, bloom, "Smith", 0)
        return sample(noisy, bloom, kept), sample(noisy, bloom, kept)

    drawn = law(twice)
    for pair in product(range(4), repeat=2):
        each = (
            sampled(noisy, tuple(s >> place & 1 for s in pair), true >> place & 1)
            for place in range(2)
        )
        assert drawn[pair] == prod(each, start=Fraction(1))


@pytest.mark.parametrize("case", NOISY)
@pytest.mark.parametrize("samples", [1, 2, 3, 5])
def test_samples_are_a_garbling_of_the_bit_that_reveals_as_much(
    case: tuple[str, str, str], samples: int
) -> None:
    """So that nothing can be learned from the samples that the one bit does not tell, also where p ≠ 1 − q."""
    noisy = NoisySampling.of(*case)
    one, two = map(Fraction, noisy.ratios(samples))
    stray = (two - 1) / (one * two - 1)
    bit = dn.matrix(
        [[1 - stray, 1 - one * stray], [stray, one * stray]], categories=["0", "1"]
    )
    rows = [
        [sampled(noisy, sent, true) for true in (0, 1)]
        for sent in product((0, 1), repeat=samples)
    ]
    many = dn.matrix(rows, categories=["0", "1"])
    assert bit.parity == noisy.parity(samples) == many.parity
    found = dn.garbling(many, bit)
    assert isinstance(found, Garbling)
    assert found.channel.dense().after(bit.channel.dense()) == many.channel.dense()
    assert isinstance(dn.garbling(bit, many), Garbling) == (samples == 1)


def test_a_filter_of_any_bits_is_drawn_as_it_says() -> None:
    channel = Filter(3, 7, 2, 10)
    for true in range(8):
        assert law(lambda: channel.draw(true)) == {  # noqa: B023 - called at once
            sent: channel.probability(sent, given=true) for sent in range(8)
        }
