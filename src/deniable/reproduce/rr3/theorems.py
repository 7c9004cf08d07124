"""Theorems 2 to 4: the best members of EWRR3 and RR3† at a given ε."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable.design import Design, k_ary
from deniable.design.club import Club
from deniable.design.three_optimum import optimum
from deniable.design.three_region import p1_range
from deniable.estimate import covariance
from deniable.exact import exp_below, rational
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Printed, Setting, Value

_STEP = Fraction(1, 10**12)
_GRID = (0.36, 0.4, 0.45, 0.5, 0.55)
_LOW_GRID = (0.3, 0.26, 0.22, 0.18, 0.16)


def theorem_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """EWRR3 with p above 1/3: the largest p that ε allows has the smallest variance."""
    return _along_p(("000-eq34", "000-eq38a"), "000-eq35-0.5", _GRID, low=False)


def theorem_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """EWRR3 with p below 1/3: the smallest p that ε allows has the smallest variance."""
    return _along_p(("000-eq36", "000-eq38b"), "000-eq35-0.2", _LOW_GRID, low=True)


def theorem_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """RR3†: where the smallest variance of the first share lies."""
    known = [printed(f"000-{name}") for name in ("eq40a", "eq40b", "eq41", "eq42")]
    given = [_variance_at(entry) for entry in known]
    p1, p2 = (rational(known[0].inputs[name]) for name in ("p1", "p2"))
    third = Fraction(1, 3)
    values = (
        known[0].against(_slope(lambda at: given[0](at, p2), p1)),
        known[1].against(_slope(lambda at: given[1](p1, at), p2)),
        known[2].against(float(given[2](p1, third))),
        known[3].against(_slope(lambda at: given[3](at, third), p1)),
        _largest_p1(printed("000-lambda")),
    )
    return Content(
        values,
        ("ε", "π_0", "best p1", "best p2", "its variance, one respondent"),
        tuple(_best(epsilon, share) for epsilon in (0.5, 1, 1.5, 2) for share in (0.05, 0.3, 0.7)),
        notes=(
            "The document says that the smallest variance is only approached, with p2 falling to 1/3 and p1 = e^ε/3. "
            "That p1 breaks ε from e^ε = 2 on, and for a small π_0 and a large ε the best point is p1 = p2 (erratum "
            "0.11). The table holds the best points of the whole region, p2 below 1/3 included.",
        ),
    )


def _along_p(best: tuple[str, ...], slope: str, grid: tuple[float, ...], *, low: bool) -> Content:
    """Show the best p on one side of 1/3, and that the variance falls all the way to it."""
    ends = [(entry, k_ary(entry.inputs["n"], entry.inputs["eps"], low=low)) for entry in map(printed, best)]
    designs = [*(k_ary(3, p=p) for p in grid), ends[0][1]]
    return Content(
        (*(entry.against(_kept(design)) for entry, design in ends), _slope_of_p(printed(slope))),
        ("p", "ε of the design", "variance of π_0 = 0.3, one respondent"),
        tuple((_kept(each), each.epsilon, float(covariance(each, (0.3, 0.35, 0.35), 1)[0, 0])) for each in designs),
        notes=(f"The variance falls along the rows; the last p is the {'smallest' if low else 'largest'} at ε = 1.",),
    )


def _kept(design: Design) -> float:
    return float(design.probability(design.symbols[0], given=design.categories[0]))


def _slope_of_p(entry: Printed) -> Value:
    share = rational(entry.inputs["pi0"])
    return entry.against(_slope(lambda p: Club.dagger(p, p).first_variance(share), rational(entry.inputs["p"])))


def _variance_at(entry: Printed) -> Callable[[Fraction, Fraction], Fraction]:
    share = rational(entry.inputs["pi0"])
    return lambda p1, p2: Club.dagger(p1, p2).first_variance(share)


def _slope(function: Callable[[Fraction], Fraction], at: Fraction) -> float:
    """Return the difference quotient over 10⁻¹² to both sides, in rationals."""
    return float((function(at + _STEP) - function(at - _STEP)) / (2 * _STEP))


def _largest_p1(entry: Printed) -> Value:
    found = p1_range("rr3_dagger", "1/3", gamma=rational(entry.inputs["exp_eps"]))
    return entry.against(None if found is None else float(found[1]))


def _best(epsilon: float, share: float) -> tuple[float, ...]:
    first = rational(share)
    rest = (1 - first) / 2
    best = optimum("rr3_dagger", exp_below(epsilon), importance=(1, 0, 0), guess=(first, rest, rest))
    p1, p2 = map(float, best.parameters)
    return epsilon, share, p1, p2, best.risk


THEOREMS = (
    Exhibit("rr3", "theorem", "2", "EWRR3 with p above 1/3: the best p", theorem_2),
    Exhibit("rr3", "theorem", "3", "EWRR3 with p below 1/3: the best p", theorem_3),
    Exhibit("rr3", "theorem", "4", "RR3†: where the smallest variance of the first share lies", theorem_4),
)
