"""Two samples: unbiased over every world of few people, and inside the square where the likelihood is asked."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import t

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates import best_split


@pytest.mark.parametrize("p", [("7/10", "1/5"), ("7/10", 0)], ids=str)
def test_shares_and_their_covariance_are_unbiased_over_every_world(
    p: tuple[str, str],
) -> None:
    """Three and two people, each world with its probability at π = 1/4 and b = 2/5."""
    truth, sizes = np.array([0.25, 0.4]), (3, 2)
    said = [
        float(Fraction(each)) * truth[0] + (1 - float(Fraction(each))) * truth[1]
        for each in p
    ]
    mean, second, told = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
    for yes in product(range(4), range(3)):
        chance = math.prod(
            math.comb(n, y) * q**y * (1 - q) ** (n - y)
            for n, y, q in zip(sizes, yes, said, strict=True)
        )
        found = dn.unrelated_two_samples(p=p, yes=yes, respondents=sizes)
        value = np.array(list(found.params.values()))
        mean += chance * value
        second += chance * np.outer(value - truth, value - truth)
        told += chance * found.cov_params()
    assert mean == pytest.approx(truth)
    assert told == pytest.approx(second)


def test_outside_of_the_square_the_most_likely_shares_lie_on_its_border() -> None:
    found = dn.unrelated_two_samples(
        p=["7/10", "1/5"], yes=[10, 60], respondents=[200, 200]
    )
    assert found.params["sensitive"] < 0
    likely = found.model.likely()
    assert likely["sensitive"] == 0
    grid = max(
        found.model._height([one / 200, two / 200])
        for one, two in product(range(201), repeat=2)
    )
    assert found.model._height(list(likely.values())) >= grid
    assert [each.code for each in found.warnings] == ["outside"]


def test_inside_the_likelihood_agrees_with_the_estimate() -> None:
    found = dn.unrelated_two_samples(
        p=["7/10", 0], yes=[95, 60], respondents=[250, 150]
    )
    assert found.model.likely() == found.params
    assert found.warnings == ()


def test_what_responses_reveal_is_told_for_each_sample() -> None:
    found = dn.unrelated_two_samples(
        p=["7/10", 0], yes=[95, 60], respondents=[250, 150]
    )
    first, second = found.model.parities
    assert float(first) == pytest.approx(float(dn.simmons(p="7/10", b="2/5").parity))
    assert second == 1
    assert "ε is" in str(found.summary())


def test_a_result_is_made_again_from_its_file() -> None:
    found = dn.unrelated_two_samples(
        p=["7/10", 0], yes=[95, 60], respondents=[250, 150]
    )
    assert dn.Statistic.from_json(found.to_json(), None) == found


def test_the_best_split_is_the_best_of_a_grid() -> None:
    p, pi, b = (0.7, 0.2), 0.25, 0.4
    found = best_split(p, sensitive=pi, innocuous=b)
    said = [each * pi + (1 - each) * b for each in p]
    spread = [yes * (1 - yes) for yes in said]
    grid = [
        (
            (1 - p[1]) ** 2 * spread[0] / share
            + (1 - p[0]) ** 2 * spread[1] / (1 - share)
        )
        / (p[0] - p[1]) ** 2
        for share in np.linspace(0.01, 0.99, 981)
    ]
    assert found.variance <= min(grid)
    assert found.variance == pytest.approx(min(grid), rel=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"p": ["1/2", "1/2"]},
        {"p": ["1/2"]},
        {"yes": [300, 1]},
        {"yes": [-1, 1]},
        {"respondents": [250.5, 150]},
        {"p": "12"},
    ],
    ids=str,
)
def test_bad_input_is_refused(wrong: dict[str, object]) -> None:
    given: dict[str, object] = {
        "p": ["7/10", 0],
        "yes": [95, 60],
        "respondents": [250, 150],
    }
    with pytest.raises(InvalidRequest):
        dn.unrelated_two_samples(**(given | wrong))  # type: ignore[arg-type]  # on purpose


def test_one_person_is_too_few() -> None:
    with pytest.raises(NotEstimable):
        dn.unrelated_two_samples(p=["7/10", 0], yes=[1, 1], respondents=[1, 150])


SAID = [
    dn.Responses.of(dn.direct(), ["yes"] * 95 + ["no"] * 155),
    dn.Responses.of(dn.direct(), ["yes"] * 60 + ["no"] * 90),
]


def test_samples_with_weights_and_clusters_tell_both_shares() -> None:
    plain = dn.unrelated_two_samples(
        p=["7/10", 0], yes=[95, 60], respondents=[250, 150]
    )
    counted = dn.unrelated_two_samples(
        [dn.tally(each) for each in SAID], p=["7/10", 0]
    )
    assert counted == plain
    even = dn.unrelated_two_samples(
        SAID,
        p=["7/10", 0],
        sampling=[dn.Sampling([3.0] * 250), dn.Sampling([1.0] * 150)],
    )
    assert even.params == pytest.approx(plain.params)
    assert even.bse == pytest.approx(plain.bse)
    assert even.model.likely() == pytest.approx(plain.model.likely())
    # whose people all say the same, but for one village
    villages = [np.arange(250) // 25, np.arange(150) // 15]
    found = dn.unrelated_two_samples(
        SAID,
        p=["7/10", 0],
        sampling=[dn.Sampling(clusters=each) for each in villages],
    )
    assert found.params == pytest.approx(plain.params)
    assert found.bse["sensitive"] > 4 * plain.bse["sensitive"]
    assert dn.Statistic.from_json(found.to_json(), None) == found
    assert "10 clusters" in found.summary().title
    reach = t.ppf(0.975, 9) * found.bse["sensitive"]
    assert found.conf_int()["sensitive"].high == pytest.approx(
        found.params["sensitive"] + reach
    )
    weights = np.where(np.arange(250) < 95, 2.0, 1.0)
    heavy = dn.unrelated_two_samples(
        [dn.tally(SAID[0], weights=weights), dn.tally(SAID[1], weights=[1.0] * 150)],
        p=["7/10", 0],
    )
    assert heavy.params["sensitive"] == pytest.approx((190 / 345 - 0.3 * 0.4) / 0.7)


def test_groups_are_what_people_said() -> None:
    with pytest.raises(InvalidRequest, match="groups and counts"):
        dn.unrelated_two_samples(SAID, p=["7/10", 0], yes=[1, 2])
    with pytest.raises(InvalidRequest, match="without a sampling"):
        dn.unrelated_two_samples(SAID, p=["7/10", 0])
    with pytest.raises(InvalidRequest, match="what people said"):
        dn.unrelated_two_samples(
            [dn.tally(dn.warner(1), ["yes", "no"])] * 2, p=["7/10", 0]
        )
    with pytest.raises(InvalidRequest, match="not two numbers each"):
        dn.unrelated_two_samples([dn.tally(SAID[0])], p=["7/10", 0])
