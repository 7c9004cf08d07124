"""Schemes, moments and shapes that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.channel import Dense
from deniable.errors import InvalidDesign, InvalidRequest, InvalidResponse, NotEstimable
from deniable.records.edges.designs import one_edge
from deniable.records.edges.tallies import tally as tally_edges
from deniable.records.key_value.designs import KeyValueDesign, lpp_club, pckv_grr, pckv_ue, vpp
from deniable.records.key_value.estimates import estimate
from deniable.records.key_value.schemes import Direct, Index, Unary
from deniable.records.key_value.tallies import KeyValueTally
from deniable.records.key_value.variances import conditional_moments, moments

EVEN = Dense(((3, 1, 1), (1, 3, 1), (1, 1, 3)), 5)
UNEVEN = Dense(((3, 1, 1), (1, 3, 2), (1, 1, 2)), 5)
CERTAIN = Dense(((5, 1, 1), (0, 3, 1), (0, 1, 3)), 5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Index(0, EVEN), "there are no items"),
        (lambda: Index(2, Dense(((1, 2), (2, 1)), 3)), "expected the answers none"),
        (lambda: Unary(2, 1, Dense(((2, 3, 1), (2, 1, 3)), 4)), "expected the answers none"),
        (lambda: Unary(2, 1, UNEVEN), "mirror images"),
        (lambda: Unary(2, 1, CERTAIN), "never comes without an edge"),
        (lambda: Direct(2, 1, 1, 1, 0, 9), "expected positive weights"),
        (lambda: Direct(2, 1, 5, 5, 1, 9), "more than their total"),
        (lambda: KeyValueDesign("odd", ["a", "b"], Index(3, EVEN)), "there are 2 items; expected 3"),
        (lambda: pckv_grr(1 << 40, "1e-17"), r"too fine|too many"),
    ],
)
def test_schemes_that_make_no_sense_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidDesign, match=message):
        build()


def test_a_key_that_is_kept_always_has_no_finite_parity() -> None:
    kept = Dense(((3, 0, 0), (1, 4, 1), (1, 1, 4)), 5)
    assert Unary(2, 1, kept).parts[0] == float("inf")
    assert Unary(2, 1, kept).parity == float("inf")


def test_moments_need_a_design_that_tells_both() -> None:
    with pytest.raises(NotEstimable, match="edges from no edges"):
        moments(vpp(2, 1), [1, None])
    with pytest.raises(NotEstimable, match="the signs of weights"):
        moments(lpp_club(2, 1, importance="frequency"), [1, None])
    for design, asked in ((lpp_club(2, 1), 3), (lpp_club(2, 1), 0), (pckv_ue(2, 1), 1)):
        with pytest.raises(InvalidRequest, match="asked is"):
            conditional_moments(design, [1, None], asked)


def test_estimates_of_nothing_but_none() -> None:
    """No symbol but none was sent: degrees come out below 0, and means stay in the middle."""
    design = lpp_club(3, 2)
    counts = np.array([[40, 0, 0], [40, 0, 0], [40, 0, 0]])
    found = estimate(KeyValueTally(design, counts, 120, missing=2))
    assert (found.degree < 0).all()
    assert found.shrunk().mean.tolist() == [0, 0, 0]
    assert "2 sent no response" in str(found.summary())
    assert found.degree_distribution(points=2).shares[0] > 0.5


def test_a_one_edge_response_that_does_not_fit_is_named_by_its_row() -> None:
    with pytest.raises(InvalidResponse, match="row 2: "):
        tally_edges(one_edge(["a", "b"], 1), ["1 a", "1 c"])
