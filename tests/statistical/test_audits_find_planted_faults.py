"""Audits of copies of our designs, each with one fault, and of sound ones.

False alarms: 10⁻⁹ in each audit, shared by its checks. Each fault is found all but surely: the weakest, bits that are
biased 3 : 2, stand five standard errors beyond the claim.
`python -m benchmarks.audit_peers` audits all of them, and other packages, with every check.
"""

from __future__ import annotations

import pytest

import deniable as dn
from tests.support import leaky
from tests.support.leaky import Planted

LEVEL = 1 - 1e-9
FOUND_BY = {
    "a bit never flipped": ("worst event", 10_000),
    "ε too large by a quarter": ("worst event", 150_000),
    "biased low-order bits": ("worst event", 400_000),
    "order of a set leaks": ("worst event", 10_000),
    "stale randomness after fork": ("repeats", 40_000),
    "constant key": ("repeats", 40_000),
    "one more random word for one answer": ("random words", 10_000),
}


@pytest.mark.parametrize(
    "fault", leaky.SEVEN, ids=[each.name for each in leaky.SEVEN]
)
def test_a_planted_fault_is_found(fault: Planted) -> None:
    check, draws = FOUND_BY[fault.name]
    found = dn.audit(
        fault.mechanism,
        fault.answers,
        epsilon=1,
        draws=draws,
        level=LEVEL,
        checks=[check],
    )
    assert found.verdict == "violated"


@pytest.mark.parametrize(
    "design",
    [dn.warner(1), dn.k_ary(4, 1), dn.unary(8, 1), dn.subset(8, 1)],
    ids=repr,
)
def test_what_is_sound_is_not_flagged(design: dn.Design) -> None:
    one_by_one = dn.audit(
        lambda answer: dn.respond(design, answer).symbol,
        design.categories,
        epsilon=1,
        draws=10_000,
        level=LEVEL,
    )
    assert one_by_one.verdict == "consistent"
    # it starts processes; tried elsewhere
    checks = [name for name in dn.auditor.CHECKS if name != "repeats"]
    assert (
        dn.audit(design, draws=10_000, level=LEVEL, checks=checks).verdict
        == "consistent"
    )
