"""Means: every world of two people gone through, every end and every response."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import deniable as dn
from deniable.types.numbers.respond import rounded
from deniable_papers.means import from_share, moments
from tests.support.traces import law

RANGE = dn.Range.of(2, 6)
DESIGNS = {
    "warner": dn.warner(p="3/4"),
    "binary": dn.binary("9/10", "7/10"),
    "the other side": dn.warner(p="1/5"),
}


@pytest.mark.parametrize("value", ["2", "2.5", "10/3", 6])
def test_a_value_is_rounded_with_exactly_its_probability(value: str | int) -> None:
    for levels in (2, 3, 5):
        design = dn.number_design(2, 6, 1, levels=levels)
        step = Fraction(4, levels - 1)
        wanted = {
            name: max(1 - abs(Fraction(value) - level) / step, Fraction(0))
            for name, level in zip(
                design.categories, design.scale.values, strict=True
            )
        }
        assert law(lambda design=design: rounded(design, value)) == {
            name: each for name, each in wanted.items() if each
        }


@pytest.mark.parametrize("name", DESIGNS)
def test_expectation_and_variance_are_those_of_all_worlds(name: str) -> None:
    design, values = DESIGNS[name], [Fraction("2.5"), Fraction("4.75"), Fraction(6)]
    first = second = between = Fraction(0)
    for ends in product((0, 1), repeat=len(values)):
        rounding = Fraction(1)
        for end, value in zip(ends, values, strict=True):
            rounding *= RANGE.share(value) if end else 1 - RANGE.share(value)
        given = Fraction(0)
        for sent in product((0, 1), repeat=len(values)):
            chance = Fraction(1)
            for response, end in zip(sent, ends, strict=True):
                chance *= design.channel.probability(response, given=end)
            estimate = from_share(RANGE, design, Fraction(sum(sent), len(sent)))
            first += rounding * chance * estimate
            second += rounding * chance * estimate**2
            given += chance * estimate
        between += rounding * given**2
    found = moments(RANGE, values, design)
    assert found.mean == first == sum(values) / 3
    assert found.variance == second - first**2
    assert found.rounding == between - first**2
    assert found.device == second - between
