"""Estimates come near to the Fisher bound of what is sent; the page that says so is what is computed.

The likelihood's error is compared with that of the best linear estimate at the true shares on the same responses. An
efficiency below 0.95 for one that is 1 would be five standard errors of at most 0.01: a false alarm in 10^-6 for each
cell. The seed is fixed, so that it happens once or never.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.efficiency import (
    LARGER,
    PAGE,
    SHARES,
    bound,
    efficiency,
    registered,
    row,
    true_shares,
)

import deniable as dn
from deniable.designs import Design
from deniable.estimates import covariance
from tests.support.rational import table

LINES = PAGE.read_text(encoding="utf-8").splitlines()
REGISTERED = dict(registered())


def test_the_page_has_a_line_for_every_registered_design() -> None:
    names = [
        line.split(" | ")[0].removeprefix("| ")
        for line in LINES
        if line.startswith("| `")
    ]
    wanted = [*REGISTERED, *(name for name, _ in LARGER)]
    assert names == wanted, "write the page again: python -m benchmarks.efficiency"


@pytest.mark.parametrize("name", list(REGISTERED)[::9])
def test_a_line_of_the_page_is_what_is_computed(name: str) -> None:
    assert row(name, REGISTERED[name]) in LINES


@pytest.mark.statistical
def test_every_likelihood_uses_what_is_sent() -> None:
    """Read from the page, some of whose lines are computed again; at 0.5 %, 3 %, 20 % and even shares."""
    told = [
        line.strip("| ").split(" | ")[1:]
        for line in LINES
        if line.startswith("| `") and "not estim" not in line
    ]
    assert {len(cells) for cells in told} == {len(SHARES)}
    efficiencies = np.array(
        [[cell.split(" · ") for cell in cells] for cells in told], np.float64
    )
    assert efficiencies[:, :, 1].min() >= 0.95
    # the linear estimate is the best one at even shares
    assert efficiencies[:, -1, 0].min() >= 0.995
    assert efficiencies[:, :, 0].max() <= 1


@pytest.mark.statistical
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    "design",
    [
        dn.subset(5, 2, t=2),
        dn.rappor(4, 4),
        dn.unary(4, 2),
        dn.unary(5, 2, optimized=True),
        dn.truncated_rappor(4, 3),
    ],
    ids=repr,
)
def test_sets_lose_nothing_with_the_likelihood(
    design: Design, share: float | None
) -> None:
    made = efficiency(design, share, surveys=40)
    assert made.error < 0.01
    assert made.likelihood >= 0.95


@pytest.mark.parametrize(
    "design",
    [dn.rappor(3, 2), dn.subset(4, 1, t=2), dn.hadamard(5, 2), dn.warner(1)],
    ids=repr,
)
def test_the_bound_is_that_of_the_exact_table(design: Design) -> None:
    """By the information of all shares but the last, which follows from them; no linear estimate is below it."""
    shares = true_shares(len(design.categories), 0.2)
    matrix = np.array(table(design.channel), np.float64)
    sent = matrix @ shares
    slopes = (matrix[:, :-1] - matrix[:, [-1]])[sent > 0]
    inverse = np.linalg.inv((slopes.T / sent[sent > 0]) @ slopes)
    spread = np.vstack([np.eye(len(shares) - 1), -np.ones(len(shares) - 1)])
    assert bound(design, shares) == pytest.approx(
        spread @ inverse @ spread.T, abs=1e-9
    )
    assert (
        np.diag(covariance(design, shares, 1))
        >= np.diag(bound(design, shares)) * (1 - 1e-9)
    ).all()


def test_an_estimate_that_loses_something_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The unbiased estimate of RAPPOR at a rare share, handed out as the likelihood."""
    unbiased = lambda _, linear, counts: (linear.shares(counts / counts.sum()), None)  # noqa: E731 - stands in for it
    monkeypatch.setattr("benchmarks.efficiency.most_likely", unbiased)
    made = efficiency(dn.rappor(4, 4), 0.005, surveys=40)
    assert made.likelihood < 0.9
    assert made.likelihood == pytest.approx(made.inversion, abs=0.2)
