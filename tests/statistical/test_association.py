"""The test of independence keeps its level, and errors hold, where strings that nobody listed are frequent.

Both are tried with the fault that they are there to find.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.estimates.independence import TableSide, white
from deniable.pairs import estimates
from deniable.pairs.estimates import _is_complete
from deniable.types.strings.scores import ResponseBits, row_scores
from tests.support.seeded import seeded

ALARM = 1e-9


def rejections(runs: int) -> int:
    """How often independent questions are called associated at 5 %: rare bits, few people, half of them not listed."""
    rng, source, found = np.random.default_rng(7), seeded("independent"), 0
    design = dn.string_design(dn.Bloom(64, cohorts=16), 8, optimized=True)
    listed = [f"listed {number}" for number in range(12)]
    names, shares = (
        [*listed, "much", "more"],
        np.array([0.5 / 12] * 12 + [0.35, 0.15]),
    )
    for _ in range(runs):
        sent = [
            dn.respond_all(
                design,
                [names[each] for each in rng.choice(14, 120, p=shares)],
                source=source,
            )
            for _ in range(2)
        ]
        one, two = (
            row_scores(each, _is_complete(each), listed).values for each in sent
        )
        found += (
            estimates._test_independence(white(one), white(two), source)["p_value"]
            <= 0.05
        )
    return found


def test_the_level_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test at 5 % rejects more often than this once in 10^9 runs; one that takes scores for normal surely does."""
    monkeypatch.setattr(estimates, "_PERMUTATIONS", 99)
    runs = 200
    most = binom.isf(ALARM, runs, 0.05)
    assert 0 < rejections(runs) <= most
    chi_squared = 2.0 * 12**2  # the fault: the variance of a χ², whatever the scores
    monkeypatch.setattr(
        TableSide, "variances", lambda *_: (chi_squared, chi_squared)
    )
    assert rejections(runs) > most


def held(runs: int) -> int:
    """How often the interval of a pair holds; three of four people have one string that nobody listed."""
    rng = np.random.default_rng(11)
    design, other = (
        dn.string_design(dn.Bloom(16, cohorts=32), 8, optimized=True),
        dn.warner(4),
    )
    source, found = seeded("held"), 0
    for run in range(runs):
        # other places in every run
        names = [f"{run} a", f"{run} b", f"{run} not listed"]
        answers = rng.choice(3, 10_000, p=[0.2, 0.05, 0.75])
        member = np.where(
            answers == 0, rng.random(10_000) < 0.6, rng.random(10_000) < 0.2
        )
        one = dn.respond_all(
            design, [names[each] for each in answers], source=source
        )
        two = dn.respond_all(
            other, member.astype(np.uint8), codes=True, source=source
        )
        low, high = dn.association(one, two, rows=names[:2]).interval(
            f"{run} a · no"
        )
        found += low <= 0.08 <= high
    return found


@pytest.mark.parametrize("fault", [False, True])
def test_errors_hold_where_frequent_strings_are_not_listed(
    fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interval that holds in 92 % of all surveys fails this once in 10^9 runs; one without cohorts does."""
    if fault:  # places vary as people do
        monkeypatch.setattr(ResponseBits, "confusion", lambda *_: np.zeros((2, 2)))
    runs = 80
    assert (held(runs) >= binom.ppf(ALARM, runs, 0.92)) != fault
