from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from deniable import exact
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    schedule,
    string_design,
)

CASES = [
    ("3/4", "7/10", "4/10"),
    ("9/10", "6/10", "4/10"),
    ("3/5", "1/2", "1/10"),
    (1, "3/4", "1/2"),
]


def law(
    noisy: NoisySampling, samples: int, bit: int
) -> dict[tuple[int, ...], Fraction]:
    """Every combination of samples gone through."""
    a = noisy.alpha if bit else 1 - noisy.alpha
    found = {}
    for sent in product((0, 1), repeat=samples):
        chances = [Fraction(1), Fraction(1)]
        for each in sent:
            chances[1] *= noisy.p if each else 1 - noisy.p
            chances[0] *= noisy.q if each else 1 - noisy.q
        found[sent] = a * chances[1] + (1 - a) * chances[0]
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_ratios_and_variances_are_those_of_all_samples(
    case: tuple[str, str, str], samples: int
) -> None:
    noisy = NoisySampling.of(*case)
    one, zero = law(noisy, samples, 1), law(noisy, samples, 0)
    assert noisy.ratios(samples) == (
        max(one[s] / zero[s] for s in one),
        max(zero[s] / one[s] for s in one),
    )
    for bit, found in ((0, zero), (1, one)):
        mean = sum(sum(sent) * each for sent, each in found.items())
        variance = (
            sum(sum(sent) ** 2 * each for sent, each in found.items()) - mean**2
        )
        assert noisy.sum_variance(samples, bit=bit) == variance
        assert noisy.share(mean, samples) == bit
        estimates = {sent: noisy.share(sum(sent), samples) for sent in found}
        assert noisy.variance(samples, bit=bit) == sum(
            (estimates[sent] - bit) ** 2 * each for sent, each in found.items()
        )


def test_more_samples_reveal_more_and_never_more_than_the_permanent_bit() -> None:
    noisy = NoisySampling.of("3/4", "7/10", "4/10")
    parities = [noisy.parity(samples) for samples in range(8)]
    assert parities[0] == 1
    assert parities == sorted(parities)
    assert parities[-1] < 3
    assert NoisySampling.of("3/4", 1, 0).parity(1) == 3
    assert NoisySampling.of(1, 1, "1/2").parity(2) == math.inf


def test_a_response_adds_up_both_ways_over_its_bits() -> None:
    noisy = NoisySampling.of("3/4", "7/10", "4/10")
    one, two = noisy.ratios(3)
    assert noisy.response_epsilon(3, hashes=2) == pytest.approx(
        2 * math.log(one) + 2 * math.log(two)
    )
    assert noisy.response_epsilon(3, hashes=2) <= 4 * noisy.epsilon(3)
    assert NoisySampling.of(1, 1, "1/2").response_epsilon(1) == math.inf


def test_relaxation_is_never_worse_at_the_same_epsilon() -> None:
    """e^ε / (e^ε − 1)² against the two-stage estimate; equal after one sample, better from the second on."""
    noisy = NoisySampling.of("3/4", "6/10", "4/10")
    for samples in range(1, 12):
        parity = Fraction(noisy.parity(samples))
        relaxed = parity / (parity - 1) ** 2
        assert (relaxed == noisy.variance(samples, bit=0)) == (samples == 1)
        assert (
            relaxed
            <= noisy.variance(samples, bit=0)
            == noisy.variance(samples, bit=1)
        )


@pytest.mark.parametrize(
    "wrong",
    [("1/2", "7/10", "4/10"), ("3/4", "4/10", "7/10"), ("3/4", "1/2", "1/2")],
)
def test_probabilities_must_be_in_order(wrong: tuple[str, str, str]) -> None:
    with pytest.raises(InvalidDesign):
        NoisySampling.of(*wrong)


def test_samples_are_counted_in_whole_numbers() -> None:
    with pytest.raises(InvalidRequest):
        NoisySampling.of("3/4", "7/10", "4/10").parity(-1)


EPSILONS = [Fraction(number, 7) for number in range(1, 40)] + [
    Fraction(1, 10**6),
    Fraction(20),
]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_what_is_built_from_an_epsilon_never_exceeds_it(epsilon: Fraction) -> None:
    most, step = (
        exact.exp_below(exact.positive_epsilon(epsilon)),
        Fraction(1, 1 << 64),
    )
    noisy = NoisySampling.symmetric(epsilon, epsilon)
    for kept in (noisy.alpha, noisy.p):
        # as near as 64 bits come
        assert kept / (1 - kept) <= most < (kept + step) / (1 - kept - step)
    assert noisy.p + noisy.q == 1
    bloom = Bloom(16, hashes=2)
    for design in (
        string_design(bloom, epsilon),
        string_design(bloom, epsilon, optimized=True),
    ):
        assert design.parity <= most
    assert string_design(bloom, bit_epsilon=epsilon).bit_parity <= most


@pytest.mark.parametrize("case", [*CASES[:3], ("2/3", "9/10", "2/5")])
def test_a_schedule_never_reveals_more_than_its_samples(
    case: tuple[str, str, str],
) -> None:
    noisy = NoisySampling.of(*case)
    for samples, stage in enumerate(schedule(Bloom(8), noisy, 6), start=1):
        assert all(
            found <= most
            for found, most in zip(stage.ratios, noisy.ratios(samples), strict=True)
        )
