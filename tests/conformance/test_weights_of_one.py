"""The law of people: estimate(tally) = estimate(rows, weights of one), in names, numbers, errors and intervals.

A tally of counts is a sample in which everybody has the weight 1 and whose rows were aggregated. So both ways must say
the same about the same responses, whatever was asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ImplausibleResponses
from tests.support.seeded import seeded

CATEGORIES = ["never", "once", "often"]
ITEMS = ["tea", "coffee", "milk"]
PAIRS = {"smokes": dn.warner(1), "habit": dn.k_ary(CATEGORIES, 2)}
ANSWERS = (["never"] * 5 + ["once"] * 2 + ["often"]) * 30
YES_NO = (["no"] * 3 + ["yes"]) * 40
REACHED = np.arange(len(ANSWERS)) % 3 + 1
GROUPS = np.where(np.arange(len(ANSWERS)) % 3 == 0, "north", "south")
HOURS = [37.5, 10, 80, 55, 20.0, 0] * 40
BUCKETS = dn.bucket_design(0, 80, 2, count=16)
MATRIX = dn.matrix(
    [
        ["3/5", "1/5", "1/10"],
        ["1/5", "3/5", "1/10"],
        ["1/10", "1/10", "3/5"],
        ["1/10", "1/10", "1/5"],
    ],
    categories=CATEGORIES,
)
TOLERANCE = 1e-9
OF_ERRORS = 1e-6
"""A variance of 0, where all say the same, is 0 but for rounding, by 1e-16: its root, and what it widens, by 1e-8."""

DRAWS = 8
"""Of the same people: what is chosen by the responses, such as a scaling or an interval, must be chosen alike."""


@dataclass(frozen=True)
class Case:
    """Responses, and what either way of estimating from them takes besides.

    Attributes:
        design: what people are asked with.
        answers: what is true of them.
        counted: options of the tally.
        both: options of both estimates.
        plain: options of the estimate from the tally.
        sampled: options of the estimate from rows.
        fraction: the part of the people that responded, of a finite population.
        level: of the intervals.
    """

    design: Any
    answers: list[Any]
    counted: dict[str, Any] | None = None
    both: dict[str, Any] | None = None
    plain: dict[str, Any] | None = None
    sampled: dict[str, Any] | None = None
    fraction: float | None = None


def _answers_of_items(design: Any) -> Case:
    return Case(
        design, [{"tea": 0.5}, {}, {"milk": 1, "tea": -1}, {"tea": 1.0}] * 60
    )


def _numbers(**options: Any) -> Case:
    return Case(dn.number_design(0, 80, 2), HOURS, **options)


def _drawn(each: int, **options: Any) -> Case:
    answers = [
        {"smokes": "yes", "habit": "once", "set": "often"},
        {"smokes": "no", "habit": "often", "set": "once"},
        {"smokes": "no", "habit": "never", "set": "never"},
    ]
    return Case(
        dn.drawn_items(PAIRS | {"set": dn.unary(CATEGORIES, 1)}, each=each),
        answers * 80,
        **options,
    )


GROUPED: dict[str, Any] = {"counted": {"by": GROUPS}, "sampled": {"by": GROUPS}}
FINITE: dict[str, Any] = {
    "plain": {"population": 800},
    "fraction": len(ANSWERS) / 800,
}
STAGED: dict[str, Any] = {
    "counted": {"reached": REACHED},
    "sampled": {"reached": REACHED},
}


def _ladder(**options: Any) -> Case:
    return Case(
        dn.ladder(dn.k_ary(CATEGORIES, epsilon) for epsilon in (0.5, 1, 2)),
        ANSWERS,
        **options,
    )


CASES: dict[str, Callable[[], Case]] = {
    "two categories": lambda: Case(dn.forced_response("2/3", "1/6", "1/6"), YES_NO),
    "two categories, few": lambda: Case(
        dn.forced_response("2/3", "1/6", "1/6"), ["no"] * 11 + ["yes"]
    ),
    "k-ary": lambda: Case(dn.k_ary(CATEGORIES, 1), ANSWERS),
    "k-ary, rare responses": lambda: Case(dn.k_ary(CATEGORIES, 7), ANSWERS[:40]),
    "Hadamard": lambda: Case(dn.hadamard(CATEGORIES, 1), ANSWERS),
    "hashing": lambda: Case(dn.local_hashing(CATEGORIES, 1), ANSWERS),
    "subset": lambda: Case(dn.subset([*CATEGORIES, "a", "b", "c"], 1), ANSWERS),
    "unary": lambda: Case(dn.unary(CATEGORIES, 1), ANSWERS),
    "unary, many categories": lambda: Case(
        dn.unary([f"c{number}" for number in range(20)], 1),
        [f"c{number % 7}" for number in range(300)],
    ),
    "RAPPOR": lambda: Case(dn.rappor(CATEGORIES, 1), ANSWERS),
    "matrix": lambda: Case(MATRIX, ANSWERS),
    "attributes": lambda: Case(
        dn.product(PAIRS),
        [{"smokes": "yes", "habit": "once"}, {"smokes": "no", "habit": "often"}]
        * 120,
    ),
    "attributes of sets": lambda: Case(
        dn.product({"smokes": dn.warner(1), "habit": dn.unary(CATEGORIES, 2)}),
        [{"smokes": "yes", "habit": "once"}, {"smokes": "no", "habit": "often"}]
        * 120,
    ),
    "missing responses": lambda: Case(
        dn.k_ary(CATEGORIES, 1), ["never", "often", None, "once"] * 40
    ),
    "groups": lambda: Case(dn.k_ary(CATEGORIES, 1), ANSWERS, **GROUPED),
    "groups of sets": lambda: Case(dn.unary(CATEGORIES, 1), ANSWERS, **GROUPED),
    "finite population": lambda: Case(dn.k_ary(CATEGORIES, 1), ANSWERS, **FINITE),
    "finite population, matrix": lambda: Case(MATRIX, ANSWERS, **FINITE),
    "finite population of sets": lambda: Case(
        dn.unary(CATEGORIES, 1), ANSWERS, **FINITE
    ),
    "ladder": _ladder,
    "ladder, stages reached": lambda: _ladder(**STAGED),
    "ladder, strata": lambda: _ladder(**STAGED, both={"method": "strata"}),
    "ladder, linear": lambda: _ladder(**STAGED, both={"method": "linear"}),
    "ladder, likelihood": lambda: _ladder(**STAGED, both={"method": "likelihood"}),
    "ladder in groups": lambda: _ladder(**GROUPED),
    "ladder of sets": lambda: Case(
        dn.ladder(dn.rappor(CATEGORIES, epsilon) for epsilon in (0.5, 1, 2)),
        ANSWERS,
        **STAGED,
    ),
    "deck": lambda: Case(dn.integer_deck(40, 1), ["yes", "no", "no", "no"] * 10),
    "deck, missing responses": lambda: Case(
        dn.integer_deck(40, 1), ["yes", "no", "no", None] * 10
    ),
    "numbers": _numbers,
    "numbers in groups": lambda: _numbers(**GROUPED),
    "numbers, finite population": lambda: _numbers(**FINITE),
    "numbers in buckets": lambda: Case(BUCKETS, HOURS),
    "numbers in buckets, in groups": lambda: Case(BUCKETS, HOURS, **GROUPED),
    "items": lambda: _answers_of_items(dn.lpp_club(ITEMS, 1)),
    "items, vectors": lambda: _answers_of_items(dn.pckv_ue(ITEMS, 1, padding=1)),
    "items, one of them": lambda: _answers_of_items(
        dn.pckv_grr(ITEMS, 3, padding=1)
    ),
    "items in groups": lambda: Case(
        dn.lpp_club(ITEMS, 1),
        [{"tea": 0.5}, {}, {"milk": 1, "tea": -1}, {"tea": 1.0}] * 60,
        **GROUPED,
    ),
    "edges": lambda: Case(
        dn.one_edge(ITEMS, 1),
        [{"tea": 0.5}, {"milk": 1}, {"coffee": 0}, {"tea": 1}] * 60,
    ),
    "edges in groups": lambda: Case(
        dn.one_edge(ITEMS, 1),
        [{"tea": 0.5}, {"milk": 1}, {"coffee": 0}, {"tea": 1}] * 60,
        **GROUPED,
    ),
    "strings": lambda: Case(
        dn.string_design(dn.Bloom(32, cohorts=4), 4),
        ["Smith", "Jones", "Smith", "Smith"] * 100,
        both={"candidates": ["Smith", "Jones", "Miller"]},
    ),
    "drawn items": lambda: _drawn(1),
    "drawn pairs": lambda: _drawn(2),
    "drawn items in groups": lambda: _drawn(1, **GROUPED),
    "drawn items, finite population": lambda: _drawn(1, **FINITE),
    "drawn pairs, finite population": lambda: _drawn(2, **FINITE),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("draw", range(DRAWS))
def test_a_tally_says_what_its_rows_with_weights_of_one_say(
    name: str, draw: int
) -> None:
    case = CASES[name]()
    rows = dn.respond_all(
        case.design, case.answers, source=seeded(f"weights of one: {name} {draw}")
    )
    sampling = dn.Sampling(np.ones(len(case.answers)), fraction=case.fraction)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)
        counted: Any = dn.tally(rows, **case.counted or {})  # type: ignore[call-overload]
        tally: Any = dn.estimate(counted, **case.both or {}, **case.plain or {})
        sample: Any = dn.estimate(
            rows, sampling=sampling, **case.both or {}, **case.sampled or {}
        )  # type: ignore[call-overload]
    assert list(sample.params) == list(tally.params)
    assert _close(sample.params, tally.params)
    assert np.allclose(
        sample.cov_params(),
        tally.cov_params(),
        TOLERANCE,
        TOLERANCE * _size(tally.cov_params()),
    )
    assert _close(sample.bse, tally.bse, OF_ERRORS)
    for method in (None, "normal", "chebyshev"):
        for simultaneous in (False, True):
            one, two = (
                each.conf_int(level=0.9, method=method, simultaneous=simultaneous)
                for each in (sample, tally)
            )
            assert _close(one, two, OF_ERRORS), method


NEARLY = (
    "k-ary",
    "subset",
    "unary",
    "matrix",
    "groups of sets",
    "ladder, stages reached",
    "drawn pairs",
)


@pytest.mark.parametrize("name", NEARLY)
def test_weights_of_nearly_one_say_nearly_the_same(name: str) -> None:
    """By the formulas for weights, which counts have no part in: nothing jumps where weights become even."""
    case = CASES[name]()
    rows = dn.respond_all(
        case.design, case.answers, source=seeded(f"weights of one: {name}")
    )
    sampling = dn.Sampling(1 + 1e-9 * np.arange(len(case.answers)))
    counted: Any = dn.tally(rows, **case.counted or {})  # type: ignore[call-overload]
    tally: Any = dn.estimate(counted)
    sample: Any = dn.estimate(rows, sampling=sampling, **case.sampled or {})  # type: ignore[call-overload]
    assert not sample.evidence
    for one, two in ((sample.params, tally.params), (sample.bse, tally.bse)):
        assert list(one.values()) == pytest.approx(
            list(two.values()), rel=1e-5, abs=1e-6
        )
    one, two = (
        np.array(list(each.conf_int(method="score").values()))
        for each in (sample, tally)
    )
    assert one == pytest.approx(two, rel=1e-5, abs=1e-6)


WEIGHED = ("two categories", "k-ary", "Hadamard", "hashing", "subset", "matrix")


@pytest.mark.parametrize("name", WEIGHED)
def test_a_tally_with_weights_says_what_its_rows_with_these_weights_say(
    name: str,
) -> None:
    case = CASES[name]()
    rows = dn.respond_all(
        case.design, case.answers, source=seeded(f"weights of one: {name}")
    )
    weights = 1 + np.arange(len(case.answers)) % 7
    tally: Any = dn.estimate(dn.tally(rows, weights=weights))
    sample: Any = dn.estimate(rows, sampling=dn.Sampling(weights))
    for one, two in ((sample, tally), (sample.total, tally.total)):
        assert _close(one.params, two.params)
        assert np.allclose(
            one.cov_params(),
            two.cov_params(),
            TOLERANCE,
            TOLERANCE * _size(two.cov_params()),
        )
        assert _close(one.conf_int(), two.conf_int())
        assert _close(one.design_effect, two.design_effect)
        assert _close(one.device_share, two.device_share)


def _close(
    sample: dict[str, Any], tally: dict[str, Any], tolerance: float = TOLERANCE
) -> bool:
    one, two = (
        np.array(list(each.values()), np.float64) for each in (sample, tally)
    )
    return list(sample) == list(tally) and np.allclose(
        one, two, TOLERANCE, tolerance * _size(two), equal_nan=True
    )


def _size(values: Any) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))
