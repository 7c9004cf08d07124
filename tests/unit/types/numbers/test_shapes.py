"""Square waves: the channel, the linear mean, and a smooth picture that has no intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.numbers import wave_variance
from benchmarks.shapes import level_shares
from scipy.stats import beta

import deniable as dn
from deniable.designs.numbers import half_width
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.types.numbers.count import NumberTally


def expected_tally(
    design: dn.NumberDesign, shares: Vector, n: float = 1e5
) -> NumberTally:
    """The tally that n people with these shares of levels are expected to have."""
    counts = np.rint(n * design.channel.floats() @ shares).astype(int)
    return NumberTally(design, counts.tolist())


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_a_shape_is_asked_by_the_square_wave_with_the_most_information(
    epsilon: float,
) -> None:
    design = dn.number_design(0, 1, epsilon, goal="shape")
    levels, responses = design.channel.answers, design.channel.responses
    width = responses - levels + 1
    assert levels == 129
    assert width / 128 == pytest.approx(
        2 * half_width(math.exp(epsilon)), abs=1 / 256
    )
    assert design.epsilon == pytest.approx(epsilon, abs=1e-12)
    assert design.epsilon <= epsilon
    column = design.channel.floats()[:, 3]
    assert np.flatnonzero(column > column.min() * 1.01).tolist() == list(
        range(3, 3 + width)
    )


@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_its_mean_is_unbiased_and_as_precise_as_that_of_continuous_waves(
    epsilon: float,
) -> None:
    design = dn.number_design(-1, 1, epsilon, goal="shape")
    middle, top = np.zeros(129), np.zeros(129)
    middle[64], top[96] = 1.0, 1.0
    for place, shares in ((0.0, middle), (0.5, top)):
        mean = dn.estimate(expected_tally(design, shares, 1e9)).mean
        assert mean.value == pytest.approx(place, abs=1e-5)
        spread = float(
            np.linspace(-1, 1, 129)
            @ dn.estimates.covariance(design, shares.tolist(), 1)
            @ np.linspace(-1, 1, 129)
        )
        assert spread == pytest.approx(wave_variance(place, epsilon), rel=0.12)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_interval_of_its_mean_lies_around_it(epsilon: float) -> None:
    """Projected shares of fine levels have another mean, which the interval does not begin at."""
    design = dn.number_design(0, 1, epsilon, goal="shape")
    people = np.random.default_rng(3).multinomial(
        10_000, design.channel.floats() @ level_shares(129, beta(2, 5).ppf)
    )
    mean = dn.estimate(NumberTally(design, people.tolist())).mean
    low, high = mean.interval("mean")
    assert high - low < 1.5 * 2 * 1.96 * mean.error
    assert low < 2 / 7 < high


def test_the_picture_is_near_a_smooth_distribution() -> None:
    design = dn.number_design(0, 70, 1, goal="shape")
    shape = dn.estimate(
        expected_tally(design, level_shares(129, beta(2, 5).ppf))
    ).smooth()
    assert shape.shares.sum() == pytest.approx(1)
    assert shape.mean == pytest.approx(20, abs=0.3)
    for share in (0.1, 0.5, 0.9):
        assert shape.quantile(share) == pytest.approx(
            70 * beta(2, 5).ppf(share), abs=0.7
        )
    assert (shape.quantile(0), shape.quantile(1)) == pytest.approx((0, 70))


def test_the_picture_flattens_a_spike_and_says_that_no_interval_holds() -> None:
    design = dn.number_design(0, 1, 1, goal="shape")
    shares = np.zeros(129)
    shares[64] = 1.0
    found = dn.estimate(expected_tally(design, shares))
    shape = found.smooth()
    assert found.mean.value == pytest.approx(0.5, abs=1e-3)
    assert 0.02 < shape.shares.max() < 0.7
    assert np.abs(np.diff(shape.shares)).max() < shape.shares.max() / 2
    assert not hasattr(shape, "interval")
    assert "no interval" in str(shape)
    assert "no interval" in shape.plot().axes[0].get_title(loc="left")


def test_neighbours_are_alike_up_to_the_ends_of_the_range() -> None:
    """Nothing of the shares is lost at the ends: people who are all at 0 stay next to it."""
    design = dn.number_design(0, 1, 2, goal="shape")
    shares = np.zeros(129)
    shares[0] = 1.0
    shape = dn.estimate(expected_tally(design, shares)).smooth()
    assert np.argmax(shape.shares) == 0
    assert shape.quantile(0.9) < 0.06


def test_what_has_no_picture_is_refused() -> None:
    design = dn.number_design(0, 10, 2, goal="shape", levels=5)
    shape = dn.estimate(NumberTally(design, [60, 190, 250, 180, 90])).smooth()
    with pytest.raises(InvalidRequest, match=r"share is 1\.5"):
        shape.quantile(1.5)
    with pytest.raises(InvalidDesign, match="from 2 to 129"):
        dn.number_design(0, 10, 2, goal="shape", levels=130)
    with pytest.raises(InvalidDesign, match="from 2 to 32"):
        dn.number_design(0, 10, 2, goal="distribution", levels=33)
