"""Pictures of the three-answer designs: which parameters keep to an ε, and where the best ones lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.design.three_optimum import kink, optimum, star
from deniable.design.three_region import corners, find, parameters_at
from deniable.errors import InvalidRequest
from deniable.report.style import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Outline: TypeAlias = NDArray[np.float64]

_ACCENT, _WRONG = "#2563a8", "#d1495b"
_STEPS = 40  # points drawn on an edge; those of RR3‡ are curved
_THIRD = 1 / 3


def rr3_region(
    family: str = "rr3_dagger", *, epsilons: Sequence[exact.Rational] = ("1/2", 1, 2), q: exact.Rational | None = None
) -> Figure:
    """Draw the (p1, p2) that keep to each ε, and the member with the smallest total variance at even shares.

    Args:
        family: "rr3_dagger", "rr3_ddagger", or "rr3_club" at one q.
        epsilons: an outline for each.
        q: at which RR3♣ is cut.

    Raises:
        InvalidRequest: an unknown family, RR3♣ without a q, or a q with another family.
    """
    from matplotlib.figure import Figure

    if len(find(family).parameters) == 3 and q is None:
        raise InvalidRequest("rr3_club has three parameters; expected a q at which to cut.", "For example q=0.75.")
    figure = Figure(figsize=(6.2, 6.4), layout="constrained")
    axes = figure.add_subplot()
    values = sorted(map(exact.positive_epsilon, epsilons), reverse=True)
    for depth, epsilon in enumerate(values):
        gamma = exact.exp_below(epsilon)
        border = outline(family, gamma, q=q)
        empty = "" if np.ptp(border, axis=0).min() > 0 else ", nothing at this q"
        strength = 0.18 + 0.6 * depth / max(1, len(values) - 1)
        _fill(axes, border, strength, f"ε = {float(epsilon):g}{empty}")
        if q is None:
            p1, p2 = optimum(family, gamma).parameters
            last = depth == len(values) - 1
            axes.plot(
                float(p1), float(p2), "o", color=INK, markersize=5, label="smallest total variance" if last else None
            )
    what = {"rr3_dagger": "RR3†", "rr3_ddagger": "RR3‡", "rr3_club": "RR3♣"}[family]
    _dress(axes, f"{what}: probabilities that keep to ε" + ("" if q is None else f", cut at q = {q}"))
    figure.legend(loc="outside lower center", ncols=len(values) + 1, frameon=False, fontsize=9)
    return figure


def rr3_omega(epsilon: exact.Rational = 1) -> Figure:
    """Draw the two parts of the region of RR3† with p1, p2 above 1/3, and what the printed condition lets in besides.

    Implements: [MW21], Figure 2, corrected: panel (a) is Ω†(1), where p1 < p2, and panel (b) Ω†(2), where p2 < p1.
    """
    from matplotlib.figure import Figure

    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    x = float(gamma)
    figure = Figure(figsize=(10.4, 6.9), layout="constrained")
    one, two = figure.subplots(1, 2)
    best, bend = (_floats(point) for point in (star(gamma), kink(gamma)))
    edge = x / (x + 2)
    printed = 1 - 2 / (3 * x) if x > 1 else _THIRD
    _fill(one, [(_THIRD, _THIRD), (edge, edge), (_THIRD, edge)], 0.5, "Ω†(1): 2p2 ≤ γ(1 − p2)")
    one.fill(
        *np.transpose([(_THIRD, edge), (edge, edge), (_THIRD, printed)]),
        facecolor="none", edgecolor=_WRONG, hatch="///", linewidth=0.8, label="2p1 ≤ γ(1 − p2) alone: ε is larger here",
    )  # fmt: skip
    _fill(two, _lower(x), 0.5, "Ω†(2): 2p1 ≤ γ(1 − p2), 2p2 ≤ γ(1 − p1)")
    two.plot(
        *bend,
        "D",
        color=_WRONG,
        markersize=6,
        clip_on=False,
        zorder=5,
        label="kink: the least variance of the first share, if that is large",
    )
    for axes, title in ((one, "(a) p1 < p2"), (two, "(b) p2 < p1")):
        axes.plot(*best, "o", color=INK, markersize=6, zorder=5, label="star: p1 = p2 = γ/(γ + 2)")
        axes.plot([_THIRD, 1], [_THIRD, 1], "--", color=INK, linewidth=0.8)
        _dress(axes, f"{title}, ε = {float(exact.rational(epsilon)):g}")
        axes.set_xlim(0.25, 1)
        axes.set_ylim(0.25, 1)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize=9)
    return figure


def outline(family: str, gamma: Fraction, *, q: exact.Rational | None = None) -> Outline:
    """Return the border of a family's region in the (p1, p2) plane as points, in order."""
    points = [corner.point for corner in corners(family, gamma, q=q)]
    middle = [sum(each, Fraction(0)) / len(points) for each in zip(*points, strict=True)]
    # Along (a, u + v/7) no two points of a slice fall together, whichever slice it is.
    points.sort(key=lambda p: math.atan2(p[1] + p[2] / 7 - middle[1] - middle[2] / 7, p[0] - middle[0]))
    border = []
    for start, end in zip(points, [*points[1:], points[0]], strict=True):
        for step in range(_STEPS):
            share = Fraction(step, _STEPS)
            a, u, v = (p + share * (e - p) for p, e in zip(start, end, strict=True))
            border.append(_floats(parameters_at(family, (a, u, v))[:2]))
    return np.array(border)


def _lower(x: float) -> list[tuple[float, float]]:
    """Return the corners of Ω†(2): below the diagonal, above p2 = 1/3, left of both conditions."""
    edge = x / (x + 2)
    ends = [(_THIRD, _THIRD), (min(x / 3, 1 - 2 / (3 * x)), _THIRD)]
    # The two conditions cross at p1 = p2 = γ/(γ + 2) and only there, so one of them binds all the way.
    return [*ends, (edge, edge)]


def _fill(axes: Axes, border: Outline | Sequence[tuple[float, float]], strength: float, label: str) -> None:
    axes.fill(*np.transpose(border), facecolor=_ACCENT, alpha=strength, edgecolor=_ACCENT, linewidth=1, label=label)


def _dress(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.set_xlabel("p1: how often the first answer is kept", color=INK)
    axes.set_ylabel("p2", color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    plain(axes)


def _floats(point: Sequence[Fraction]) -> tuple[float, float]:
    return float(point[0]), float(point[1])
