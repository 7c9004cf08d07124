"""The direction of every rounding, made visible by taking away the digits behind which it hides.

With sixty digits a rounding in the wrong direction changes no weight and fails no test. With four it does.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from deniable import exact
from deniable.designs import k_ary, warner
from tests.support import brute

EPSILONS = [Fraction(number, 7) for number in range(1, 60)]


@pytest.fixture(params=[4, 5, 9])
def few_digits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    digits: int = request.param
    monkeypatch.setattr(exact, "_DIGITS", digits)
    return digits


@pytest.mark.usefixtures("few_digits")
def test_a_requested_epsilon_is_rounded_down() -> None:
    for epsilon in EPSILONS:
        for design in (warner(epsilon), k_ary(5, epsilon), k_ary(5, epsilon, low=True)):
            assert isinstance(design.parity, Fraction)
            assert Fraction(brute.log(design.parity)) <= epsilon


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
    assert Fraction(1, 10**few_digits) < high - low < Fraction(1, 10 ** (few_digits - 2))
