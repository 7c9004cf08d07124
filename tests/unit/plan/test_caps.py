from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest


def test_no_design_inside_the_caps_has_a_smaller_variance() -> None:
    best = plan.best_under_caps(factor_yes=5, factor_no=2).design
    assert best is not None
    least = {
        share: plan.variance(best, 1, shares=[1 - share, share])
        for share in (0.05, 0.5, 0.9)
    }
    inside = 0
    for u, v in np.random.default_rng(3).integers(1, 100, (3_000, 2)):
        if u < v <= 5 * u and 100 - u <= 2 * (100 - v):
            inside += 1
            other = dn.binary(1 - Fraction(int(u), 100), Fraction(int(v), 100))
            assert all(
                plan.variance(other, 1, shares=[1 - s, s]) >= least[s] - 1e-9
                for s in least
            )
    assert inside > 50


def test_caps_are_met_exactly() -> None:
    tight = plan.best_under_caps(posterior="3/10", prior="1/10", epsilon=2)
    assert tight.design is not None
    assert tight.design.epsilon <= 2
    # 3/7 over 1/9
    assert tight.design.bayes_factors("yes", "yes")[0] == Fraction(27, 7)
    assert tight.lines[1]["belief after 10% before"] == "30%"
    warner = plan.best_under_caps(epsilon=1).design
    assert warner is not None
    assert 0.999999 < warner.epsilon <= 1
    assert (
        max(
            warner.probability(r, given=a).denominator
            for r in warner.symbols
            for a in warner.categories
        )
        < 2**64
    )


def test_what_is_not_capped_is_told() -> None:
    open_ended = plan.best_under_caps(factor_yes=4)
    assert open_ended.design is not None
    assert open_ended.design.epsilon == math.inf
    assert "proves that somebody is not “yes”" in open_ended.notes[0]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "one on what “yes” reveals"),
        ({"factor_no": 3}, "one on what “yes” reveals"),
        ({"factor_yes": 1}, "more than 1 each"),
        ({"posterior": "1/20"}, "a posterior between it and 1"),
        ({"epsilon": 1, "share": 0}, "the share is 0"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        plan.best_under_caps(**given)


def test_all_designs_stand_at_one_epsilon() -> None:
    found = plan.designs_at("3/2", 800, share=0.2)
    finite = [line for line in found.lines if float(line["ε"]) < math.inf]
    assert all(1.4999 < float(line["ε"]) <= 1.5 for line in finite)
    assert len(finite) == 10
    assert finite[0]["design"] == "warner"
    assert finite[0]["people for the same width"] == 800
    assert found.value == pytest.approx(
        plan.width(dn.warner("3/2"), 800, shares=[0.8, 0.2]), rel=1e-5
    )
    for line in finite:
        ratio = float(line["people for the same width"]) / 800
        assert (float(line["width"]) / found.value) ** 2 == pytest.approx(
            ratio, abs=0.002
        )
