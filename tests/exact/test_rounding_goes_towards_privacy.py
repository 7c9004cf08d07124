"""The direction of every rounding, made visible by taking away the digits behind which it hides.

With sixty digits a rounding in the wrong direction changes no weight and fails no test. With four it does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from inspect import signature
from typing import Any

import pytest

import deniable as dn
from deniable import exact
from deniable.designs import FAMILIES, k_ary
from deniable.release.receipts import Budget
from tests.support import brute

EPSILONS = [Fraction(number, 7) for number in range(1, 60)]


@pytest.fixture(params=[4, 5, 9])
def few_digits(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> int:
    digits: int = request.param
    monkeypatch.setattr(exact, "_DIGITS", digits)
    return digits


ITEMS = ["tea", "milk"]
BLOOM = dn.Bloom(16, hashes=2)
BUILDERS: dict[str, Callable[[Fraction], Any]] = {
    **{
        f"{family.name} {number}": lambda epsilon, family=family, example=example: (
            family.build(**{**example, "epsilon": epsilon}).parity
        )
        for family in FAMILIES.values()
        for number, example in enumerate(family.examples)
        if "epsilon" in example
        and "delta" not in example  # with a δ, ε is no bound of the parity
    },
    "the low side": lambda epsilon: dn.k_ary(5, epsilon, low=True).parity,
    "attributes": lambda epsilon: (
        dn.product([dn.warner(epsilon / 2), dn.k_ary(3, epsilon / 2)]).parity
    ),
    "a deck": lambda epsilon: dn.integer_deck(1000, epsilon).parity_alone,
    "a deck against the collector": lambda epsilon: (
        dn.integer_deck(3, epsilon, cards=4000, collector=True).parity_collector
    ),
    "vpp": lambda epsilon: dn.vpp(ITEMS, epsilon).parity,
    "lpp_ddagger": lambda epsilon: dn.lpp_ddagger(ITEMS, epsilon).parity,
    "lpp_club": lambda epsilon: dn.lpp_club(ITEMS, epsilon).parity,
    "pckv_ue": lambda epsilon: dn.pckv_ue(ITEMS, epsilon, padding=1).parity,
    "pckv_grr": lambda epsilon: dn.pckv_grr(ITEMS, epsilon, padding=1).parity,
    "one_edge": lambda epsilon: dn.one_edge(ITEMS, epsilon).parity,
    "numbers": lambda epsilon: dn.number_design(0, 80, epsilon).parity,
    "strings": lambda epsilon: dn.string_design(BLOOM, epsilon).parity,
    "strings, optimized": lambda epsilon: (
        dn.string_design(BLOOM, epsilon, optimized=True).parity
    ),
    "strings, by the bit": lambda epsilon: (
        dn.string_design(BLOOM, bit_epsilon=epsilon).bit_parity
    ),
    "permanent bits": lambda epsilon: _odds(
        dn.NoisySampling.symmetric(epsilon, 1).alpha
    ),
    "samples": lambda epsilon: _odds(dn.NoisySampling.symmetric(1, epsilon).p),
    "a budget": lambda epsilon: Budget.from_number(epsilon).limit,
}


def _odds(kept: Fraction) -> Fraction:
    return kept / (1 - kept)


@pytest.mark.usefixtures("few_digits")
@pytest.mark.parametrize("name", BUILDERS)
def test_a_requested_epsilon_is_rounded_down(name: str) -> None:
    for epsilon in EPSILONS[2::13]:
        parity = BUILDERS[name](epsilon)
        assert isinstance(parity, Fraction)
        assert Fraction(brute.log(parity)) <= epsilon


def test_every_family_that_is_built_from_an_epsilon_is_there() -> None:
    known = {
        name: signature(family.build).parameters for name, family in FAMILIES.items()
    }
    asked = {
        name
        for name, taken in known.items()
        if "epsilon" in taken and "delta" not in taken
    }
    assert asked - {name.partition(" ")[0] for name in BUILDERS} == set()


@pytest.mark.usefixtures("few_digits")
def test_a_certified_epsilon_is_rounded_up() -> None:
    for numerator in range(2, 200):
        parity = Fraction(numerator + 7, numerator)
        assert exact.log_above(parity) >= Fraction(brute.log(parity))
        assert exact.log_above(1 / parity) >= Fraction(brute.log(1 / parity))


@pytest.mark.usefixtures("few_digits")
def test_a_delta_is_rounded_up() -> None:
    design = k_ary(4, p="0.9")
    for epsilon in EPSILONS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "_DIGITS", 60)
            truth = design.channel.delta(exact.exp_above(epsilon))
        assert design.delta(epsilon) >= truth


def test_few_digits_do_lose_something(few_digits: int) -> None:
    """Or the three tests above would prove nothing."""
    low, high = exact.exp_below(1), exact.exp_above(1)
    assert (
        Fraction(1, 10**few_digits)
        < high - low
        < Fraction(1, 10 ** (few_digits - 2))
    )
