"""Over a thousand designs: what is certified is at most what was asked for, and almost all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import pytest

from deniable import exact
from deniable.chance import TOTAL, Source, below
from deniable.channel import Diagonal
from deniable.designs import Design, k_ary, warner
from deniable.errors import InvalidDesign
from tests.support import brute
from tests.support.seeded import seeded

EPSILONS = [
    0.001,
    0.01,
    0.1,
    "0.1",
    0.5,
    "0.7",
    0.7,
    1,
    math.log(2),
    Fraction(1, 3),
    "ln",
    2.5,
    5,
    8.25,
    11.999,
    12,
]
SIZES = [2, 3, 4, 5, 7, 10, 16, 31, 64, 100, 255, 256, 500, 999, 1000]


def chosen(
    source: Source, number: int
) -> Iterator[tuple[int, float | str | Fraction, bool]]:
    """Sizes and ε spread evenly on logarithmic scales, every kind of number that users may write, both sides."""
    for _ in range(number):
        size = round(2 * 500 ** (below(10**6, source) / 10**6))
        epsilon = 0.001 * 12_000 ** (below(10**9, source) / 10**9)
        kind = below(3, source)
        shown = f"{epsilon:.{1 + below(12, source)}g}"
        yield size, (epsilon, shown, Fraction(shown))[kind], below(2, source) == 1


def check(design: Design, requested: float | str | Fraction) -> None:
    asked = exact.rational(requested)
    if isinstance(requested, float):
        asked = min(asked, Fraction(requested))
    assert isinstance(design.parity, Fraction)
    assert 1 < design.parity <= exact.exp_below(asked)
    assert Fraction(brute.log(design.parity)) <= asked
    # Python compares a float with a Fraction exactly; a float was asked for as the float that it is.
    assert design.epsilon <= (requested if isinstance(requested, float) else asked)
    assert design.epsilon >= asked - Fraction(1, 10**6)
    assert isinstance(design.channel, Diagonal)
    assert TOTAL % design.channel.total == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("low", [False, True], ids=["high", "low"])
def test_on_a_grid(size: int, low: bool) -> None:
    for epsilon in EPSILONS:
        requested = math.log(size) if epsilon == "ln" else epsilon
        check(k_ary(size, requested, low=low), requested)


def test_by_seeded_choice() -> None:
    for size, epsilon, low in chosen(seeded("certified ε"), 700):
        check(k_ary(size, epsilon, low=low), epsilon)
    for _, epsilon, _ in chosen(seeded("certified ε of Warner"), 100):
        check(warner(epsilon), epsilon)


def test_there_are_more_than_a_thousand_designs() -> None:
    assert len(SIZES) * len(EPSILONS) * 2 + 700 + 100 >= 1_000


@pytest.mark.parametrize("low", [False, True], ids=["high", "low"])
def test_no_weight_can_be_moved_without_passing_epsilon(low: bool) -> None:
    """Among integer weights that sum to 2^64 these are the ones nearest to ε."""
    for size, epsilon, _ in chosen(seeded("nearest weights"), 100):
        channel = k_ary(size, epsilon, low=low).channel
        assert isinstance(channel, Diagonal)
        scale = TOTAL // channel.total
        other = channel.other * scale + (1 if low else -1)
        same = TOTAL - (size - 1) * other
        further = Fraction(other, same) if low else Fraction(same, other)
        assert further < 0 or further > exact.exp_below(
            exact.positive_epsilon(epsilon)
        )


def test_at_a_large_epsilon_the_smallest_weight_is_what_limits() -> None:
    for epsilon in (45, 50, 64):
        design = warner(epsilon)
        assert design.parity == TOTAL - 1
        assert design.epsilon < epsilon


@pytest.mark.parametrize(
    ("size", "epsilon"),
    [(2, 1e-20), (1000, 1e-17), (2**53, 1e-5), (2, "1e-300"), (3, "1e-900")],
)
@pytest.mark.parametrize("low", [False, True], ids=["high", "low"])
def test_an_epsilon_that_the_weights_cannot_honour_is_refused(
    size: int, epsilon: float, low: bool
) -> None:
    with pytest.raises(InvalidDesign, match="too fine"):
        k_ary(size, epsilon, low=low)


def test_a_million_categories_take_no_time_and_no_memory() -> None:
    design = k_ary(1_000_000, epsilon=1)
    assert 1 - 1e-6 <= design.epsilon <= 1
    assert design.probability("7", given="7") > 2 * design.probability(
        "8", given="7"
    )
    assert design.bayes_factors("7", "7") == (design.parity, design.parity)
    assert design.bayes_factors("7", "8") == (1 / Fraction(design.parity), 1)
    assert len(design.to_json()) < 400
