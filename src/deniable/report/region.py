"""Pictures of demands and of the designs that meet them: breach regions, feasible regions, and who wins where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import exact
from deniable.criteria import Bounds, Strict, posterior_bounds
from deniable.design import BinaryChoice, Design, optimal_binary
from deniable.design.binary_choice import Candidate
from deniable.design.relaxed_binary import read_delta, read_ratio, threshold
from deniable.errors import InvalidRequest
from deniable.report.style import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_ACCENT, _PALE, _WRONG = "#2563a8", "#dbe7f3", "#d1495b"
_BREACH = "#f6d9dc"
_LINES = (_ACCENT, "#2f7d5b", "#8a5a00", "#6b3fa0")
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_TIMES = (1, 1.5, 2, 3, 5, 10)
_PRIORS = 1001  # beliefs at which borders are drawn


def breach_region(criterion: Strict, *designs: Design, title: str = "") -> Figure:
    """Draw the beliefs that a demand forbids, and the beliefs that designs can lead to.

    The horizontal axis is how probable an event was before a response, the vertical axis how probable it is after.
    What the demand forbids is shaded; a design that reaches into it fails. The dashed curve is the demand in full: the
    border h_γ of a design that uses up the parity it allows.

    Implements: the figures 1 to 4 of [Cha19].

    Args:
        criterion: a demand on beliefs, such as `RhoToRho(0.1, 0.5)`.
        designs: whose borders h_γ are drawn, at most four.
        title: of the picture; by default the demand.

    Raises:
        InvalidRequest: a demand without a breach region, or more designs than can be told apart.
    """
    if not isinstance(criterion, Strict):
        raise InvalidRequest(
            f"{criterion} is not a demand on every belief; expected a criterion with a breach region.",
            "Epsilon, BayesFactor, BetaFactor, RhoToRho, PosteriorCap and Boundaries have one.",
        )
    if len(designs) > len(_LINES):
        raise InvalidRequest(f"there are {len(designs)} designs; expected at most {len(_LINES)} for a picture.")
    figure, axes = _square(title or f"Forbidden by {criterion}")
    shade(axes, criterion.bounds)
    label = f"the demand in full: γ = {_number(criterion.parity)}"
    border(axes, criterion.parity, color=INK, style=(0, (4, 3)), label=label)
    for design, color in zip(designs, _LINES, strict=False):
        verdict = "holds" if criterion.check(design) else "fails"
        label = f"{design.name}, ε = {_number(design.epsilon)}: {verdict}"
        border(axes, design.parity, color=color, label=label)
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    axes.set_xlabel("probability of an event before the response", color=INK)
    axes.set_ylabel("probability after the response", color=INK)
    _legend(figure)
    return figure


def feasible_region(
    epsilon: exact.Rational,
    delta: exact.Rational = 0,
    *,
    share: exact.Rational,
    ceiling: exact.Rational | None = None,
    expose: bool = False,
    title: str = "",
) -> Figure:
    """Draw the two-answer designs (p00, p11) that (ε, δ) allows, lines of equal variance, and the best design.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ).
        share: the share of the second answer at which the variance is meant.
        ceiling: the largest ε that any response may have without δ.
        expose: whether a design that gives people away outright may be the best.
        title: of the picture.

    Implements: the figure 1 of [HLM17], with its region of Definition 2.
    """
    choice = optimal_binary(epsilon, delta, share=share, ceiling=ceiling, expose=expose)
    pair = ", ".join(f"{float(exact.rational(each)):.4g}" for each in (epsilon, delta))
    figure, axes = _square(title or f"What (ε, δ) = ({pair}) allows")
    corners = choice if ceiling is not None else optimal_binary(epsilon, delta, share=share, expose=True)
    draw_feasible(axes, corners)
    _draw_variance(axes, choice)
    _draw_candidates(axes, choice)
    axes.set_xlabel(f"p00: probability of {choice.design.categories[0]!r} when it is the answer", color=INK)
    axes.set_ylabel(f"p11: probability of {choice.design.categories[1]!r} when it is the answer", color=INK)
    _legend(figure)
    return figure


def threshold_levels(*, most_epsilon: float = 2.0, title: str = "") -> Figure:
    """Draw the level sets of g(ε, δ): right of a line the even design is best for that share of the rarer answer.

    Implements: the figure 2 of [HLM17], on a linear scale of δ and on a logarithmic one.

    Args:
        most_epsilon: where the left picture ends; the right one ends at a quarter of it.
        title: of the picture.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_levels(left, np.linspace(0, most_epsilon, 81), np.linspace(0.004, 1, 81))
    _draw_levels(right, np.linspace(0, most_epsilon / 4, 81), np.geomspace(1e-6, 1e-1, 81))
    right.set_yscale("log")
    figure.suptitle(
        title
        or "Share of the rarer answer at which the even and the exposing design are equally good\n"
        "(shaded: the exposing one is better at every share)",
        color=INK,
        fontsize=11,
        x=0.02,
        ha="left",
    )
    return figure


def _number(value: exact.Ratio) -> str:
    return "∞" if value == math.inf else f"{float(value):.4g}"


def _square(title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2, 7), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    plain(axes)
    return figure, axes


def _legend(figure: Figure) -> None:
    lines = figure.legend(loc="outside lower left", frameon=False, fontsize=9).get_texts()
    figure.set_figheight(6.6 + 0.2 * len(lines))  # a square, its title, and a line for each label


def shade(
    axes: Axes,
    allowed: Callable[[float], Bounds],
    *,
    color: str = _BREACH,
    edge: str = _WRONG,
    label: str = "forbidden",
    hatch: str | None = None,
) -> None:
    """Shade a breach region: what an event of each probability must not become, such as outside `criterion.bounds`."""
    priors = np.linspace(0, 1, _PRIORS)
    # A float that is read as the decimal it shows is the same prior that is drawn.
    lower, upper = np.array([list(map(float, allowed(prior))) for prior in priors.tolist()]).T
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "hatch": hatch} if hatch else {"color": color}
    axes.fill_between(priors, upper, 1, linewidth=0, label=label, **look)
    axes.fill_between(priors, 0, lower, linewidth=0, **look)
    for line, nothing in ((lower, 0.0), (upper, 1.0)):
        axes.plot(priors, np.where(line == nothing, np.nan, line), color=edge, linewidth=1.4, clip_on=False)


def border(
    axes: Axes,
    gamma: exact.Ratio,
    *,
    color: str,
    label: str,
    style: str | tuple[int, tuple[int, int]] = "-",
    down: bool = True,
) -> None:
    """Draw what an event of each probability can become at parity γ: the border h_γ, up and, if asked for, down."""
    priors = np.linspace(0, 1, _PRIORS)
    lower, upper = zip(*(posterior_bounds(gamma, prior) for prior in priors.tolist()), strict=True)
    for number, ends in enumerate((lower, upper) if down else (upper,)):
        axes.plot(
            priors,
            [float(end) for end in ends],
            color=color,
            linestyle=style,
            linewidth=1.8,
            clip_on=False,
            label=None if number else label,
        )


def draw_feasible(axes: Axes, corners: BinaryChoice) -> None:
    """Shade the region between the designs that tell nothing and its corners, and its mirror for swapped responses."""
    points = sorted(_point(candidate) for candidate in (corners.chosen, *corners.others))
    border = np.array([(0.0, 1.0), *points, (1.0, 0.0)])
    axes.fill(*border.T, color=_PALE, linewidth=0, label="allowed")
    axes.fill(*(1 - border.T), color=_PALE, linewidth=0, alpha=0.5, label="allowed, with responses swapped")
    axes.plot([0, 1], [1, 0], color=INK, linewidth=0.8, linestyle=":", label="p00 + p11 = 1: nothing is told")


def _point(candidate: Candidate) -> tuple[float, float]:
    no, yes = (float(candidate.design.probability(name, given=name)) for name in candidate.design.categories)
    return no, yes


def _draw_variance(axes: Axes, choice: BinaryChoice) -> None:
    share = choice.guess
    p00, p11 = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 401))
    gap = p00 + p11 - 1
    sent = 1 - p00 + share * gap
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(gap > 0.02, sent * (1 - sent) / gap**2, np.nan)
    levels = [choice.variance * times for times in _TIMES]
    lines = axes.contour(p00, p11, variance, levels=levels, colors=INK, linewidths=0.8, alpha=0.65)
    axes.clabel(lines, levels=levels[1:], fmt=lambda level: f"{level:.3g}", fontsize=8)
    axes.plot([], [], color=INK, linewidth=0.8, label=f"equal variance per respondent, at a share of {share:.4g}")


def _draw_candidates(axes: Axes, choice: BinaryChoice) -> None:
    for candidate in (choice.chosen, *choice.others):
        best = candidate is choice.chosen
        axes.plot(
            *_point(candidate),
            marker="o",
            linestyle="none",
            markersize=9,
            color=_WRONG if candidate.exposes else _ACCENT,
            markerfacecolor=None if best else "white",
            markeredgewidth=1.8,
            clip_on=False,
            zorder=5,
            label=f"{'best' if best else 'considered'}: {candidate.design.name}, variance {candidate.variance:.4g}",
        )


def _draw_levels(axes: Axes, epsilons: NDArray[np.float64], deltas: NDArray[np.float64]) -> None:
    ratios = [read_ratio(epsilon) for epsilon in epsilons.tolist()]
    shares = [[float(threshold(ratio, read_delta(delta))) for ratio in ratios] for delta in deltas.tolist()]
    heights, levels = np.log(shares), np.log(_SHARES)  # g spans orders of magnitude; its logarithm is smooth
    axes.contourf(epsilons, deltas, heights, levels=[levels[-1], heights.max() + 1], colors=[_BREACH])
    lines = axes.contour(epsilons, deltas, heights, levels=levels, colors=[_ACCENT], linewidths=1.4, linestyles="solid")
    for share, parts in zip(_SHARES, lines.allsegs, strict=True):
        ends = [(float(x), float(y)) for part in parts for x, y in (part[0], part[-1])]
        if ends:
            right = [end for end in ends if end[0] == epsilons[-1]]
            top = max(ends, key=lambda end: end[1])
            _label_end(axes, right[0] if right else top, f"{share:.0%}", at_right=bool(right))
    axes.set_xlim(epsilons[0], epsilons[-1])
    axes.set_xlabel("ε", color=INK)
    axes.set_ylabel("δ", color=INK)
    plain(axes)


def _label_end(axes: Axes, end: tuple[float, float], text: str, *, at_right: bool) -> None:
    """Write a level where its line leaves the picture: beside it at the right border, else above it."""
    axes.annotate(
        text,
        end,
        xytext=(4, 0) if at_right else (0, 4),
        textcoords="offset points",
        ha="left" if at_right else "center",
        va="center" if at_right else "bottom",
        fontsize=9,
        color=_ACCENT,
        annotation_clip=False,
    )
