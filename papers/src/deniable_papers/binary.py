"""Document 002: the best designs for two answers under (ε, δ), and the error on the region that (ε, δ) leaves."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from deniable.designs import (
    Design,
    binary,
    exposing_binary,
    exposure_threshold,
    optimal_binary,
    relaxed_warner,
    warner,
)
from deniable.estimates import covariance, coverage
from deniable.report import threshold_levels
from deniable.report.regions import draw_feasible
from deniable_papers.figures import INK, LINES, dots, errors, legend, line, panels
from deniable_papers.values import (
    Content,
    Exhibits,
    Point,
    Printed,
    Setting,
    Value,
    compared,
    printed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

exhibit = Exhibits("binary")

_EPSILON, _DELTA = "1/2", "1/10"
_SHARES = (0.1, 0.25, 0.45)
_RESPONDENTS = 1_000
_SEEN = (0.0, 0.25, 0.5, 0.75, 1.0)
_CASES = ("1", "2", "3", "4")


@exhibit("equation", "6")
def equation_6() -> Content:
    """The variance of the estimate."""
    return Content(
        (
            compared(
                "002-eq6",
                lambda given: variance(
                    binary(given["p00"], given["p11"]), given["pi"]
                ),
            ),
        )
    )


@exhibit("equation", "7")
def equation_7() -> Content:
    """How often an interval holds the truth."""
    return Content(
        (
            compared(
                "002-chebyshev",
                lambda given: coverage(given["multiple"], "chebyshev"),
            ),
            compared("002-normal", lambda given: coverage(given["multiple"])),
        ),
        notes=("Both are printed as lower bounds, and they are.",),
    )


@exhibit("figure", "1", weight=3)
def figure_1(setting: Setting) -> Content:
    """What is allowed, and the error along it."""
    middle = {
        (at, share): _seen(_on_the_middle(at), share, setting)
        for at in _SEEN[1:]
        for share in _SHARES
    }
    border = {
        (at, share): _seen(_on_the_border(at), share, setting)
        for at in _SEEN
        for share in _SHARES
    }

    def draw() -> Figure:
        titles = [
            "(a) what is allowed",
            "(b) along p00 = p11",
            "(c) along the border p11 = e^ε(1 − p00) + δ",
        ]
        figure, (region, one, two) = panels(
            titles, x="p00", y="variance for one respondent", width=4.9
        )
        region.set_ylabel("p11", color=INK)
        draw_feasible(
            region, optimal_binary(_EPSILON, _DELTA, share=_SHARES[0], expose=True)
        )
        region.set_aspect("equal")
        for axes, along, seen in (
            (one, _on_the_middle, middle),
            (two, _on_the_border, border),
        ):
            for share, color in zip(_SHARES, LINES, strict=False):
                _curve(axes, along, share, color)
                here = [at for at, other in seen if other == share]
                dots(
                    axes,
                    [_p00(along(at)) for at in here],
                    [seen[at, share] for at in here],
                    color,
                )
        one.set_yscale("log")
        legend(figure, 3)
        return figure

    return Content(
        columns=(
            "share π",
            "g(ε, δ)",
            "variance at (1, δ)",
            "variance at p00 = p11",
            "smaller",
        ),
        rows=tuple(_ends(share) for share in _SHARES),
        described=(
            "(a) The region of designs that (ε, δ) allows, on which the error is to be smallest. (b) The error falls "
            "along the diagonal p00 = p11. (c) Along the border it depends on π which end has the smallest error."
        ),
        draw=draw,
        points=(*middle.values(), *border.values()),
        notes=(
            "The paper prints no ε and δ for the figure; ours are 1/2 and 1/10, where g(ε, δ) = 0.243 lies among "
            f"the shares that are drawn. Points: {_RESPONDENTS:,} independent respondents a survey.",
        ),
    )


@exhibit("theorem", "2")
def theorem_2() -> Content:
    """The best design under ε alone."""
    return Content(
        (compared("002-thm2", lambda given: float(_kept(warner(given["eps"]))[1])),)
    )


@exhibit("theorem", "3")
def theorem_3() -> Content:
    """The best design under (ε, δ)."""
    difference, small = printed("002-eq24"), printed("002-sec6c")
    return Content(
        (
            difference.against(_exposing(difference) - _even(difference)),
            small.against(_best(small)),
        ),
        notes=(
            "Whoever follows the printed simplification of (24) chooses the other design (erratum 2.1). The design "
            "(1, δ) has the smallest variance below g(ε, δ), but its response 1 proves the attribute: its ε is "
            "infinite, and it is offered only to those who ask for it by name (erratum 2.6).",
        ),
    )


@exhibit("example", "1")
def example_1() -> Content:
    """Four cases of Theorem 3."""
    rows = []
    for case in _CASES:
        g, even, exposing = (
            printed(f"002-ex{case}-{name}") for name in ("g", "sym", "t0")
        )
        threshold = g.against(exposure_threshold(g.inputs["eps"], g.inputs["delta"]))
        rows.append(
            (
                case,
                _asked(even),
                threshold,
                even.against(_even(even)),
                exposing.against(_exposing(exposing)),
            )
        )
    mirror = printed("002-ex3-mirror")
    other = mirror.against(
        variance(exposing_binary(mirror.inputs["delta"]), mirror.inputs["pi"])
    )
    values = (
        *(cell for row in rows for cell in row if isinstance(cell, Value)),
        other,
    )
    return Content(
        values,
        (
            "case",
            "ε, δ, π",
            "g(ε, δ)",
            "variance, even design",
            "variance, exposing design",
        ),
        tuple(rows),
        notes=(
            "In case 3 the variance of the exposing design is 0.29, not 0.143 (erratum 2.2), and the point t = 0 with "
            "a variance of 1.911 is no design; the other corner of the region has 1.89 (erratum 2.3).",
        ),
    )


@exhibit("figure", "2", weight=1)
def figure_2() -> Content:
    """Where the exposing design has the smaller variance."""
    return Content(
        described=(
            "Contours of g(ε, δ): (a) for ε up to 2 and δ up to 1 on linear axes, (b) for ε up to 1/2 and δ from 10⁻⁶ "
            "to 10⁻¹ on a logarithmic one. A share left of its contour wants the exposing design, right of it the even "
            "one."
        ),
        draw=threshold_levels,
        notes=(
            "A small δ alone does not make the even design best: near ε = 0 even δ = 10⁻⁵ does not (erratum 2.5).",
        ),
    )


@exhibit("theorem", "4")
def theorem_4() -> Content:
    """The best Warner design under (ε, δ)."""
    entry = printed("002-thm4")
    design = relaxed_warner(entry.inputs["eps"], entry.inputs["delta"])
    return Content((entry.against(float(_kept(design)[1])),))


def variance(design: Design, share: float) -> float:
    """Return the variance of the estimated share of "yes" for one respondent."""
    return float(covariance(design, [1 - share, share], 1)[1, 1])


def _on_the_middle(at: float) -> Design:
    """Return the design so far from telling nothing (0) to the even one (1), along p00 = p11."""
    p = _mixed(Fraction(1, 2), _kept(relaxed_warner(_EPSILON, _DELTA))[0], at)
    return binary(p, p)


def _on_the_border(at: float) -> Design:
    """Return the design so far from the exposing one (0) to the even one (1), along the straight border."""
    start, end = (
        _kept(exposing_binary(_DELTA)),
        _kept(relaxed_warner(_EPSILON, _DELTA)),
    )
    return binary(
        *(_mixed(one, two, at) for one, two in zip(start, end, strict=True))
    )


def _mixed(one: Fraction, two: Fraction, at: float) -> Fraction:
    return one + Fraction(at) * (two - one)


def _kept(design: Design) -> tuple[Fraction, Fraction]:
    """Return p00 and p11."""
    no, yes = (design.probability(name, given=name) for name in design.categories)
    return no, yes


def _p00(design: Design) -> float:
    return float(_kept(design)[0])


def _seen(design: Design, share: float, setting: Setting) -> Point:
    (seen,) = errors(design, [1 - share, share], _RESPONDENTS, setting)
    p00, p11 = map(float, _kept(design))
    where = f"p00 = {p00:.4g}, p11 = {p11:.4g}, π = {share:g}"
    return Point.of(where, variance(design, share), _RESPONDENTS * seen[:, 1] ** 2)


def _curve(
    axes: Axes, along: Callable[[float], Design], share: float, color: str
) -> None:
    """Draw the variance along a line of designs; where they tell nothing it is infinite, and not drawn."""
    designs = [
        along(at)
        for at in np.linspace(0 if along is _on_the_border else 0.15, 1, 60).tolist()
    ]
    values = [variance(design, share) for design in designs]
    line(axes, [_p00(design) for design in designs], values, color, f"π = {share:g}")


def _ends(share: float) -> tuple[float | str, ...]:
    exposing, even = (
        variance(design, share)
        for design in (exposing_binary(_DELTA), relaxed_warner(_EPSILON, _DELTA))
    )
    smaller = "(1, δ), which exposes people" if exposing < even else "p00 = p11"
    return share, exposure_threshold(_EPSILON, _DELTA), exposing, even, smaller


def _even(entry: Printed) -> float:
    return variance(
        relaxed_warner(entry.inputs["eps"], entry.inputs["delta"]),
        entry.inputs["pi"],
    )


def _exposing(entry: Printed) -> float:
    """Return the variance of the design that exposes the rarer answer."""
    share = entry.inputs["pi"]
    return variance(
        exposing_binary(
            entry.inputs["delta"], telling="yes" if share <= 0.5 else "no"
        ),
        share,
    )


def _best(entry: Printed) -> str:
    chosen = optimal_binary(
        entry.inputs["eps"],
        entry.inputs["delta"],
        share=entry.inputs["pi"],
        expose=True,
    ).chosen
    return "exposing" if chosen.exposes else "even"


def _asked(entry: Printed) -> str:
    return ", ".join(f"{entry.inputs[name]:.4g}" for name in ("eps", "delta", "pi"))
