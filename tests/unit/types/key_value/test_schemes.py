"""Schemes, moments and shapes that are refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from deniable.chance import ScriptedSource
from deniable.channel import Dense
from deniable.errors import (
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.types.edges.count import tally as tally_edges
from deniable.types.edges.design import one_edge
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.estimate import estimate
from deniable.types.key_value.schemes import (
    GRID,
    MINUS,
    NONE,
    PLUS,
    Direct,
    Index,
    Unary,
    read_weight,
    round_weight,
)
from tests.support.item_moments import conditional_moments, moments
from tests.support.positions import script

EVEN = Dense(((3, 1, 1), (1, 3, 1), (1, 1, 3)), 5)
UNEVEN = Dense(((3, 1, 1), (1, 3, 2), (1, 1, 2)), 5)
CERTAIN = Dense(((5, 1, 1), (0, 3, 1), (0, 1, 3)), 5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Index(0, EVEN), "there are no items"),
        (lambda: Index(2, Dense(((1, 2), (2, 1)), 3)), "expected the answers none"),
        (
            lambda: Unary(2, 1, Dense(((2, 3, 1), (2, 1, 3)), 4)),
            "expected the answers none",
        ),
        (lambda: Unary(2, 1, UNEVEN), "mirror images"),
        (lambda: Unary(2, 1, CERTAIN), "never comes without an edge"),
        (lambda: Direct(2, 1, 1, 1, 0, 9), "expected positive weights"),
        (lambda: Direct(2, 1, 5, 5, 1, 9), "more than their total"),
        (
            lambda: KeyValueDesign("odd", ["a", "b"], Index(3, EVEN)),
            "there are 2 items; expected 3",
        ),
        (lambda: pckv_grr(1 << 40, "1e-17", padding=1), r"too fine|too many"),
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
    for design, asked in (
        (lpp_club(2, 1), 3),
        (lpp_club(2, 1), 0),
        (pckv_ue(2, 1, padding=1), 1),
    ):
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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1, Fraction(1)),
        (-1.0, Fraction(-1)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.7"), Fraction(7, 10)),
        (Fraction(2, 3), Fraction(2, 3)),
        (0.7, Fraction(0.7)),  # the number that a float holds, as in bulk
        (np.float32(0.7), Fraction(float(np.float32(0.7)))),
        (1e-30, Fraction(0)),
    ],
)
def test_weights_are_read_exactly(given: object, expected: Fraction) -> None:
    assert read_weight(given) == expected  # type: ignore[arg-type]


def test_tiny_floats_lie_on_the_grid() -> None:
    weight = read_weight(0.3 / 4096)
    assert (weight * GRID).denominator == 1
    assert abs(weight - Fraction(0.3 / 4096)) <= Fraction(1, 2 * GRID)


@pytest.mark.parametrize(
    "given",
    [
        1.0000001,
        -2,
        "11/10",
        float("nan"),
        float("inf"),
        True,
        None,
        "zebra",
        10**400,
    ],
)
def test_other_weights_are_refused_and_not_repeated(given: object) -> None:
    with pytest.raises(InvalidAnswer, match="from -1 to 1") as caught:
        read_weight(given)  # type: ignore[arg-type]
    assert "zebra" not in str(caught.value)


def test_scales_are_brought_to_minus_one_and_one() -> None:
    low, high = Fraction(1, 2), Fraction(5)
    assert read_weight(0.5, low, high) == -1
    assert read_weight(5, low, high) == 1
    assert read_weight("11/4", low, high) == 0
    assert abs(
        read_weight(4.9, low, high) - read_weight("4.9", low, high)
    ) < Fraction(1, 10**15)
    with pytest.raises(InvalidAnswer, match=r"from 0.5 to 5"):
        read_weight(0.4, low, high)


def test_rounding_keeps_the_mean_and_takes_a_word_for_nothing_too() -> None:
    found = [
        round_weight(Fraction(1, 3), ScriptedSource(script(position, 6, last=True)))
        for position in range(6)
    ]
    assert found == [PLUS] * 4 + [MINUS] * 2
    source = ScriptedSource(bytes(8))
    assert round_weight(None, source) == NONE
    assert source.used == 8
