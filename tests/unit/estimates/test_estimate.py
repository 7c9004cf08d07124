"""The estimate as a value: unbiased first, named steps after, contrasts, summary, JSON, refusals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.designs import Design
from deniable.errors import (
    ImplausibleResponses,
    Incompatible,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
)
from deniable.estimates import covariance
from deniable.estimates.shares import fitted
from deniable.estimates.simplex import normalization, projection

DESIGN = dn.k_ary(["never", "once", "often"], epsilon=2)
TALLY = dn.Tally(DESIGN, [150, 90, 60], missing=7)


def worlds(
    design: Design, people: tuple[int, ...], n: int
) -> Iterator[tuple[float, np.ndarray]]:
    """Every sample without replacement and every set of responses to it, with its probability."""
    samples = list(itertools.permutations(people, n))
    for sample in samples:
        for responses in itertools.product(range(len(design.symbols)), repeat=n):
            chance = np.prod(
                [
                    float(design.channel.probability(i, given=j))
                    for i, j in zip(responses, sample, strict=True)
                ]
            )
            yield (
                float(chance) / len(samples),
                np.bincount(responses, minlength=len(design.symbols)),
            )


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "design",
    [
        dn.binary("9/10", "7/10"),
        dn.matrix([["1/2", 0], ["1/4", "1/2"], ["1/4", "1/2"]]),
    ],
)
def test_value_and_covariance_are_unbiased_in_every_world_of_three_people(
    design: Design, n: int
) -> None:
    """n = 3 is a census, n = 2 a sample without replacement: mean and covariance come out exactly."""
    people = (0, 1, 1)
    mean, square, estimated = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
    for chance, counts in worlds(design, people, n):
        estimate = dn.estimate(dn.Tally(design, counts), population=3)
        mean += chance * estimate.value
        square += chance * np.outer(estimate.value, estimate.value)
        estimated += chance * estimate.cov_params()
    shares = [1 / 3, 2 / 3]
    assert np.allclose(mean, shares, atol=1e-12)
    assert np.allclose(
        square - np.outer(mean, mean),
        covariance(design, shares, n, population=3),
        atol=1e-12,
    )
    assert np.allclose(
        estimated, covariance(design, shares, n, population=3), atol=1e-12
    )


def test_params_by_name_and_value_read_only() -> None:
    estimate = dn.estimate(TALLY)
    assert list(estimate.params) == ["never", "once", "often"]
    assert sum(estimate.params.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="read-only"):
        estimate.value[0] = 0.5


def test_steps_are_named_and_bound_the_intervals() -> None:
    with pytest.warns(ImplausibleResponses):
        estimate = dn.estimate(dn.Tally(dn.warner(epsilon=2), [200, 2]))
    assert estimate.value.min() < 0
    for step, name in (
        (estimate.projected(), "projection"),
        (estimate.normalized(), "normalization"),
    ):
        assert step.method == f"inversion, {name}"
        assert step.value.min() >= 0
        assert step.value.sum() == pytest.approx(1)
        assert all(0 <= low <= high <= 1 for low, high in step.conf_int().values())


def test_projection_is_nearest_and_normalization_is_proportional() -> None:
    value = np.array([0.7, 0.5, -0.2])
    nearest = projection(value)
    assert np.allclose(nearest, [0.6, 0.4, 0.0])
    grid = [
        np.array([a, b, 50 - a - b]) / 50 for a in range(51) for b in range(51 - a)
    ]
    assert all(
        np.linalg.norm(value - nearest) <= np.linalg.norm(value - each) + 1e-12
        for each in grid
    )
    assert np.allclose(normalization(value), [7 / 12, 5 / 12, 0.0])


def test_a_contrast_has_the_variance_of_its_weights() -> None:
    estimate = dn.estimate(TALLY)
    contrast = estimate.contrast({"never": 1, "often": -1})
    matrix = estimate.cov_params()
    assert contrast.value == pytest.approx(
        estimate.params["never"] - estimate.params["often"]
    )
    assert contrast.error**2 == pytest.approx(
        matrix[0, 0] + matrix[2, 2] - 2 * matrix[0, 2]
    )
    low, high = contrast.interval(method="normal")
    assert (low + high) / 2 == pytest.approx(contrast.value)
    assert (
        contrast.interval()
        == contrast.interval(method="recovered")
        == pytest.approx((low, high), abs=0.01)
    )
    assert contrast.interval(method="chebyshev").low < low
    with pytest.raises(InvalidRequest):
        contrast.interval(method="score")
    with pytest.raises(InvalidRequest):
        contrast.interval(level=0)


def test_the_summary_tells_the_cost_of_privacy() -> None:
    summary = dn.estimate(TALLY).summary()
    assert [row.name for row in summary.rows] == ["never", "once", "often"]
    for row in summary.rows:
        assert row.low <= row.estimate <= row.high
        assert row.direct_high - row.direct_low < row.high - row.low
        assert 0 < row.effective < 300
    text = str(summary)
    assert "The cost of privacy: 300 responses are worth about" in text
    assert "7 sent no response" in text


def test_worth_grows_with_epsilon_up_to_everybody() -> None:
    """At a large ε responses are nearly direct answers, at a small one nearly none."""
    worth = [
        dn.estimate(dn.Tally(dn.warner(epsilon=epsilon), [600, 400]))
        .summary()
        .rows[1]
        .effective
        for epsilon in (0.5, 1, 4, 12)
    ]
    assert worth == sorted(worth)
    assert worth[0] < 100
    assert worth[-1] == pytest.approx(1000, rel=0.01)


@pytest.mark.parametrize("method", ["inversion", "likelihood"])
def test_json_round_trip(method: str) -> None:
    estimate = dn.estimate(TALLY, method=method, population=5000).projected()
    again = dn.Estimate.from_json(estimate.to_json(), DESIGN)
    assert np.array_equal(again.value, estimate.value)
    assert again.method == estimate.method
    assert again.conf_int() == estimate.conf_int()
    with pytest.raises(Incompatible):
        dn.Estimate.from_json(estimate.to_json(), dn.k_ary(3, epsilon=2))
    with pytest.raises(UnreadableFile):
        dn.Estimate.from_json(estimate.to_json()[:-30], DESIGN)


def test_what_cannot_be_estimated_is_refused() -> None:
    with pytest.raises(NotEstimable, match="no responses"):
        dn.estimate(dn.Tally.empty(DESIGN))
    with pytest.raises(NotEstimable, match="at least 2"):
        dn.estimate(dn.Tally(DESIGN, [1, 0, 0]))
    with pytest.raises(InvalidRequest, match="expected one of inversion"):
        dn.estimate(TALLY, method="bayes")
    with pytest.raises(InvalidRequest, match="population"):
        dn.estimate(TALLY, population=299)
    with pytest.raises(InvalidRequest, match="guess"):
        dn.estimate(TALLY, guess=[0.5, 0.6, 0.1])
    never = dn.matrix([["1/2", "1/4"], ["1/2", "3/4"], [0, 0]])
    with pytest.raises(NotEstimable, match="never sends it"):
        dn.estimate(dn.Tally(never, [5, 5, 1]))


def test_a_guess_by_name() -> None:
    tall = dn.matrix(
        [["1/2", "1/10"], ["1/4", "1/4"], ["1/4", "13/20"]],
        categories=["no", "yes"],
        symbols=3,
    )
    by_name = dn.estimate(
        dn.Tally(tall, [30, 30, 40]), guess={"no": 0.9, "yes": 0.1}
    )
    assert np.array_equal(
        by_name.value,
        dn.estimate(dn.Tally(tall, [30, 30, 40]), guess=[0.9, 0.1]).value,
    )


def test_a_left_inverse_travels_with_its_estimate() -> None:
    tall = dn.matrix([["1/2", "1/10"], ["1/4", "1/4"], ["1/4", "13/20"]])
    inverse = np.linalg.pinv(np.array([[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]]))
    estimate = dn.estimate(dn.Tally(tall, [30, 30, 40]), inverse=inverse)
    assert np.array_equal(
        dn.Estimate.from_json(estimate.to_json(), tall).value, estimate.value
    )
    assert not np.allclose(
        estimate.value, dn.estimate(dn.Tally(tall, [30, 30, 40])).value
    )


# everybody sent the blank response
FEW = dn.Tally(dn.matrix([["1/2", 0], [0, "1/2"], ["1/2", "1/2"]]), [0, 0, 3])


def test_where_the_unbiased_variance_is_negative_the_error_is_that_of_possible_shares() -> (
    None
):
    """Each share is estimated at 1/2, and then blank responses alone do not make a census sure of it."""
    estimate = dn.estimate(FEW, population=3)
    assert estimate.cov_params()[0, 0] == pytest.approx(-1 / 12)
    expected = covariance(FEW.design, [0.5, 0.5], 3, population=3)[0, 0]
    assert estimate.errors**2 == pytest.approx([expected, expected])
    assert estimate.contrast({"0": 1}).error == pytest.approx(estimate.errors[0])
    low, high = estimate.interval("0", method="normal")
    assert high - low > 0.5


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "1", None])
def test_the_weights_of_a_contrast_are_finite_numbers(weight: Any) -> None:
    with pytest.raises(InvalidRequest, match="expected a finite number"):
        dn.estimate(TALLY).contrast({"often": weight})


@pytest.mark.parametrize(
    "options",
    [{"guess": "abc"}, {"guess": {"often": "x"}}, {"inverse": [[1, 2], [3]]}],
)
def test_what_holds_no_numbers_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="expected numbers alone"):
        dn.estimate(TALLY, **options)


@pytest.mark.parametrize("level", [0, 1, float("nan"), "0.95", None, True])
def test_a_level_lies_between_0_and_1(level: Any) -> None:
    estimate = dn.estimate(TALLY)
    for refused in (estimate.conf_int, estimate.contrast({"often": 1}).interval):
        with pytest.raises(
            InvalidRequest, match="expected a number between 0 and 1"
        ):
            refused(level=level)


def test_shares_of_which_none_is_above_0_are_not_normalized() -> None:
    nothing = dn.tally(dn.unary(3, 1), ["b000"] * 3)
    estimate = fitted(nothing, method="customary")
    with pytest.raises(NotEstimable, match="nothing to scale"):
        estimate.normalized()
    assert estimate.projected().value == pytest.approx([1 / 3] * 3)


def test_of_very_many_doubtful_categories_one_sentence_tells() -> None:
    counts = np.where(np.arange(300) < 20, 5000, 1)
    with pytest.warns(
        ImplausibleResponses, match="those of 279 other categories"
    ) as told:
        found = dn.estimate(dn.Tally(dn.k_ary(300, epsilon=5), counts))
    assert len(told) == len(found.warnings) == 1


@pytest.mark.parametrize("n", range(2, 31))
def test_an_interval_that_holds_every_share_is_told(n: int) -> None:
    """Also where the interval is exact: four respondents once gave −57 … 116 % without a word."""
    for yes in range(n + 1):
        found = dn.estimate(dn.Tally(dn.warner(1), [n - yes, yes]))
        low, high = found.interval("yes")
        assert (low <= 0 and high >= 1) == (
            "few" in [each.code for each in found.warnings]
        ), yes


@pytest.mark.parametrize(
    ("design", "counts", "multiplier"),
    [
        (dn.crosswise("1/4"), [160, 500], 13.04),  # at 6.7 %: .2031 / (.25 · .0623)
        # at 5 %: .16 / (4/9 · .0475)
        (dn.forced_response("2/3", "1/6", "1/6"), [418, 82], 7.61),
    ],
    ids=["crosswise", "die"],
)
def test_the_cost_of_privacy_is_sensible_where_the_share_is_about_0(
    design: dn.Design, counts: list[int], multiplier: float
) -> None:
    """Not "worth about 1 answer": compared two errors away from 0, by the formula of the survey's sheet (S0)."""
    result, people = dn.estimate(dn.Tally(design, counts)), sum(counts)
    told = result.summary()
    at = 2 * result.bse["yes"]
    u, v = (float(design.channel.probability(1, given=answer)) for answer in (0, 1))
    sent = u + (v - u) * at
    expected = people * (v - u) ** 2 * at * (1 - at) / (sent * (1 - sent))
    assert [row.effective for row in told.rows] == pytest.approx(
        [expected, expected]
    )
    assert expected == pytest.approx(people / multiplier, rel=0.01)
    assert (
        f"{people:,} responses are worth about {expected:,.0f} direct and truthful answers"
        in told.notes[0]
    )
    assert "two errors" in told.notes[0]


def test_a_share_far_from_0_is_compared_where_it_is() -> None:
    told = dn.estimate(
        dn.Tally(dn.forced_response("2/3", "1/6", "1/6"), [380, 120])
    ).summary()
    assert told.rows[1].effective == pytest.approx(
        500 * (4 / 9) * 0.11 * 0.89 / (0.24 * 0.76)
    )
    assert "two errors" not in told.notes[0]


def test_what_is_implausible_is_not_excused() -> None:
    """A share a little below 0 is chance, and said to be; far below 0 a warning says that it is not."""
    price, die = (
        "the price of an estimate without bias",
        dn.forced_response("2/3", "1/6", "1/6"),
    )
    chance = dn.estimate(dn.Tally(die, [418, 82]))
    assert price in str(chance.summary())
    with pytest.warns(ImplausibleResponses):
        doubted = dn.estimate(dn.Tally(die, [1900, 200]))
    # (200/2100 − 1/6)·3/2 = −10.7 %, and √(5/36/2100)·3/2 = 1.22 % at a share of 0
    told = doubted.warnings[0].text
    assert (
        "-10.7%, 8.8 standard errors below 0 (at a share of 0 the error would be 1.2%): fewer responses"
        in told
    )
    assert price not in str(doubted.summary())
