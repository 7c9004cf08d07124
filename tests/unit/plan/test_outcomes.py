"""Planning a mean by answer: the closed form is the variance that surveys have, and sizes keep the demand."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InvalidRequest

CHROME = dn.warner(p="0.7615077")
EXPECTED = {"share": 0.12, "sd": 600.0, "gap": 2160.0}


def test_the_variance_is_that_of_all_responses_to_known_outcomes() -> None:
    """The second moment of w·(y − μ) over both answers and both responses, with outcomes at μ ± s and μ + Δ ± s₀."""
    p = 0.7615077
    w = {True: p / (2 * p - 1), False: (p - 1) / (2 * p - 1)}
    expected = 0.0
    for share, mean, sd, is_member in (
        (0.12, 0, 600, True),
        (0.88, 2160, 500, False),
    ):
        for side in (-1, 1):
            for says in (True, False):
                chance = share / 2 * (p if says == is_member else 1 - p)
                expected += chance * (w[says] * (mean + side * sd)) ** 2
    found = dn.plan.mean_variance(CHROME, 400, **EXPECTED, sd_others=500.0)
    assert found == pytest.approx(expected / 0.12**2 / 400)


def test_a_size_keeps_the_demand_and_one_fewer_does_not() -> None:
    size = int(dn.plan.by_answer(CHROME, **EXPECTED, within=150).value)
    wide, narrow = (
        dn.plan.by_answer(CHROME, **EXPECTED, n=n).value for n in (size - 1, size)
    )
    assert narrow <= 150 * (1 + 1e-9) < wide


def test_asked_directly_is_the_width_that_a_direct_question_has() -> None:
    (line,) = dn.plan.by_answer(CHROME, **EXPECTED, n=500).lines
    direct = dn.plan.by_answer(dn.direct(), **EXPECTED, n=500).value
    assert line["if asked directly"] == pytest.approx(direct)


def test_another_answer_has_another_share() -> None:
    design = dn.k_ary(["a", "b", "c"], epsilon=2)
    by_name, last = (
        dn.plan.mean_variance(design, 10, share=0.2, sd=1.0, category=category)
        for category in ("a", None)
    )
    assert by_name == pytest.approx(last)  # of a symmetric device
    assert np.isfinite(by_name)


def test_half_of_a_demand_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="exactly one of them"):
        dn.plan.by_answer(CHROME, **EXPECTED)
    with pytest.raises(InvalidRequest, match="gap is inf"):
        dn.plan.mean_variance(CHROME, 10, share=0.2, sd=1.0, gap=float("inf"))
