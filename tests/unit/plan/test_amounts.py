"""Planning for an amount: the variance is the largest there is, and a share of a number is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest
from deniable.estimates import covariance
from deniable.types.numbers.plan import mean_variance
from tests.support.commands import done, run
from tests.support.seeded import seeded

DESIGNS = [
    dn.number_design(0, 8000, epsilon=2),
    dn.number_design(-5, 10, epsilon="1/2"),
    dn.number_design(0, 80, epsilon=3, goal="distribution"),
]


def one(design: dn.Design, shares: list[float]) -> float:
    """The variance of the mean of one respondent, of whom the levels have these shares."""
    levels = np.array([float(each) for each in design.scale.values])  # type: ignore[attr-defined]
    return float(levels @ covariance(design, shares, 1) @ levels)


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_no_people_have_a_larger_variance_and_some_reach_it(
    design: dn.Design,
) -> None:
    draw = np.random.default_rng(7)
    levels = np.array([float(each) for each in design.scale.values])  # type: ignore[attr-defined]
    worst = mean_variance(design)  # type: ignore[arg-type]
    largest = 0.0
    for _ in range(400):
        shares = draw.dirichlet(np.full(len(levels), 0.3))
        found = one(design, shares.tolist())
        largest = max(largest, found)
        sd = math.sqrt(float(levels**2 @ shares - (levels @ shares) ** 2))
        assert found <= worst * (1 + 1e-9)
        assert found <= mean_variance(design, sd) * (1 + 1e-9)  # type: ignore[arg-type]
    ends = [0.5, *[0.0] * (len(levels) - 2), 0.5]
    assert max(largest, one(design, ends)) > 0.97 * worst


def test_so_many_people_are_enough_and_one_fewer_is_not() -> None:
    n = int(plan.how_many(DESIGNS[0], within=200, sd=1500).value)
    assert (
        plan.how_wide(DESIGNS[0], n, sd=1500).value
        <= 400
        < plan.how_wide(DESIGNS[0], n - 1, sd=1500).value
    )
    assert n < plan.how_many(DESIGNS[0], within=200).value


def test_a_survey_of_that_size_is_as_precise_as_planned() -> None:
    """Numbers with a deviation of about 1,500: the interval that comes out is no wider, but for one part in ten."""
    numbers = np.random.default_rng(3).normal(3000, 1500, 1713).clip(0, 8000).round()
    result = dn.estimate(
        dn.tally(dn.respond_all(DESIGNS[0], numbers, source=seeded("amounts")))
    )
    assert 1.96 * result.bse["mean"] <= 200 * 1.1


def test_a_share_of_a_number_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "income.json"
    done(
        "design",
        "number_design",
        "--low",
        "0",
        "--high",
        "8000",
        "--epsilon",
        "2",
        "--out",
        file,
    )
    refused = run("plan", "size", file, "--share", "10%", "--width", "10%")
    assert refused.exit_code == 2
    assert (
        "this design asks for a number, which has a mean and no share"
        in refused.output
    )
    told = done("plan", "size", file, "--within", "200", "--sd", "1500").stdout
    assert (
        "Ask 1,713 people: the 95% interval of the mean reaches at most 200 to both sides"
        in told
    )
    assert (
        "With 1,713 respondents"
        in done("plan", "width", file, "-n", "1713", "--sd", "1500").stdout
    )
    for command in (
        ["detect", file, "-n", "400"],
        ["width", file, "-n", "400", "--share", "10%"],
    ):
        assert "has a mean and no share" in run("plan", *command).output
    assert (
        plan.how_many(DESIGNS[0], share=0.1, width=0.1, category="8000").value == 972
    )


@pytest.mark.parametrize(
    ("design", "given", "said"),
    [
        (dn.warner(1), {"within": 2}, "expected a design for numbers"),
        (DESIGNS[0], {"within": 2, "share": 0.1}, "no share, width or power"),
        (DESIGNS[0], {"within": 0}, "expected more than 0"),
        (DESIGNS[0], {"within": 200, "sd": 5000}, "at most 4000"),
        (dn.warner(1), {"width": 0.1}, "expected the share"),
        (dn.warner(1), {"width": 0.1, "share": 0.1, "sd": 2}, "no sd"),
    ],
)
def test_what_does_not_fit_is_refused(
    design: dn.Design, given: dict[str, float], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        plan.how_many(design, **given)  # type: ignore[arg-type]
