"""Pictures of demands and of the designs that meet them: breach and feasible regions, three answers, cards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.criteria import Bounds, Strict, posterior_bounds
from deniable.designs import BinaryChoice, Design, integer_deck, optimal_binary, warner
from deniable.designs.three_answers_best import (
    corners,
    find,
    kink,
    optimum,
    parameters_at,
    star,
)
from deniable.designs.two_answers_relaxed import (
    Candidate,
    read_delta,
    read_ratio,
    threshold,
)
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.estimates.charts import INK, plain
from deniable.estimates.decks import deck_variance
from deniable.plan import crossing, crossing_independent, ideal_deck_variance, variance
from deniable.rendering import formats

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
        raise InvalidRequest(
            f"there are {len(designs)} designs; expected at most {len(_LINES)} for a picture."
        )
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
    corners = (
        choice
        if ceiling is not None
        else optimal_binary(epsilon, delta, share=share, expose=True)
    )
    draw_feasible(axes, corners)
    _draw_variance(axes, choice)
    _draw_candidates(axes, choice)
    axes.set_xlabel(
        f"p00: probability of {choice.design.categories[0]!r} when it is the answer",
        color=INK,
    )
    axes.set_ylabel(
        f"p11: probability of {choice.design.categories[1]!r} when it is the answer",
        color=INK,
    )
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
    _draw_levels(
        right, np.linspace(0, most_epsilon / 4, 81), np.geomspace(1e-6, 1e-1, 81)
    )
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
    return formats.number(float(value))


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
    lines = figure.legend(
        loc="outside lower left", frameon=False, fontsize=9
    ).get_texts()
    figure.set_figheight(
        6.6 + 0.2 * len(lines)
    )  # a square, its title, and a line for each label


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
    lower, upper = np.array(
        [list(map(float, allowed(prior))) for prior in priors.tolist()]
    ).T
    look: dict[str, Any] = (
        {"facecolor": "none", "edgecolor": color, "hatch": hatch}
        if hatch
        else {"color": color}
    )
    axes.fill_between(priors, upper, 1, linewidth=0, label=label, **look)
    axes.fill_between(priors, 0, lower, linewidth=0, **look)
    for line, nothing in ((lower, 0.0), (upper, 1.0)):
        axes.plot(
            priors,
            np.where(line == nothing, np.nan, line),
            color=edge,
            linewidth=1.4,
            clip_on=False,
        )


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
    lower, upper = zip(
        *(posterior_bounds(gamma, prior) for prior in priors.tolist()), strict=True
    )
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
    points = sorted(
        _point(candidate) for candidate in (corners.chosen, *corners.others)
    )
    border = np.array([(0.0, 1.0), *points, (1.0, 0.0)])
    axes.fill(*border.T, color=_PALE, linewidth=0, label="allowed")
    axes.fill(
        *(1 - border.T),
        color=_PALE,
        linewidth=0,
        alpha=0.5,
        label="allowed, with responses swapped",
    )
    axes.plot(
        [0, 1],
        [1, 0],
        color=INK,
        linewidth=0.8,
        linestyle=":",
        label="p00 + p11 = 1: nothing is told",
    )


def _point(candidate: Candidate) -> tuple[float, float]:
    no, yes = (
        float(candidate.design.probability(name, given=name))
        for name in candidate.design.categories
    )
    return no, yes


def _draw_variance(axes: Axes, choice: BinaryChoice) -> None:
    share = choice.guess
    p00, p11 = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 401))
    gap = p00 + p11 - 1
    sent = 1 - p00 + share * gap
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(gap > 0.02, sent * (1 - sent) / gap**2, np.nan)
    levels = [choice.variance * times for times in _TIMES]
    lines = axes.contour(
        p00, p11, variance, levels=levels, colors=INK, linewidths=0.8, alpha=0.65
    )
    axes.clabel(lines, levels=levels[1:], fmt=lambda level: f"{level:.3g}", fontsize=8)
    axes.plot(
        [],
        [],
        color=INK,
        linewidth=0.8,
        label=f"equal variance per respondent, at a share of {share:.4g}",
    )


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


def _draw_levels(
    axes: Axes, epsilons: NDArray[np.float64], deltas: NDArray[np.float64]
) -> None:
    ratios = [read_ratio(epsilon) for epsilon in epsilons.tolist()]
    shares = [
        [float(threshold(ratio, read_delta(delta))) for ratio in ratios]
        for delta in deltas.tolist()
    ]
    heights, levels = (
        np.log(shares),
        np.log(_SHARES),
    )  # g spans orders of magnitude; its logarithm is smooth
    axes.contourf(
        epsilons,
        deltas,
        heights,
        levels=[levels[-1], heights.max() + 1],
        colors=[_BREACH],
    )
    lines = axes.contour(
        epsilons,
        deltas,
        heights,
        levels=levels,
        colors=[_ACCENT],
        linewidths=1.4,
        linestyles="solid",
    )
    for share, parts in zip(_SHARES, lines.allsegs, strict=True):
        ends = [(float(x), float(y)) for part in parts for x, y in (part[0], part[-1])]
        if ends:
            right = [end for end in ends if end[0] == epsilons[-1]]
            top = max(ends, key=lambda end: end[1])
            _label_end(
                axes,
                right[0] if right else top,
                formats.fixed_percent(share, 0),
                at_right=bool(right),
            )
    axes.set_xlim(epsilons[0], epsilons[-1])
    axes.set_xlabel("ε", color=INK)
    axes.set_ylabel("δ", color=INK)
    plain(axes)


def _label_end(
    axes: Axes, end: tuple[float, float], text: str, *, at_right: bool
) -> None:
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


Outline: TypeAlias = NDArray[np.float64]

_ACCENT, _WRONG = "#2563a8", "#d1495b"
_STEPS = 40  # points drawn on an edge; those of RR3‡ are curved
_THIRD = 1 / 3


def rr3_region(
    family: str = "rr3_dagger",
    *,
    epsilons: Sequence[exact.Rational] = ("1/2", 1, 2),
    q: exact.Rational | None = None,
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
        raise InvalidRequest(
            "rr3_club has three parameters; expected a q at which to cut.",
            "For example q=0.75.",
        )
    figure = Figure(figsize=(6.2, 6.4), layout="constrained")
    axes = figure.add_subplot()
    values = sorted(map(exact.positive_epsilon, epsilons), reverse=True)
    for depth, epsilon in enumerate(values):
        gamma = exact.exp_below(epsilon)
        border = outline(family, gamma, q=q)
        empty = "" if np.ptp(border, axis=0).min() > 0 else ", nothing at this q"
        strength = 0.18 + 0.6 * depth / max(1, len(values) - 1)
        _fill(axes, border, strength, f"ε = {formats.epsilon(epsilon)}{empty}")
        if q is None:
            p1, p2 = optimum(family, gamma).parameters
            last = depth == len(values) - 1
            axes.plot(
                float(p1),
                float(p2),
                "o",
                color=INK,
                markersize=5,
                label="smallest total variance" if last else None,
            )
    what = {"rr3_dagger": "RR3†", "rr3_ddagger": "RR3‡", "rr3_club": "RR3♣"}[family]
    _dress(
        axes,
        f"{what}: probabilities that keep to ε"
        + ("" if q is None else f", cut at q = {q}"),
    )
    figure.legend(
        loc="outside lower center", ncols=len(values) + 1, frameon=False, fontsize=9
    )
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
    _fill(
        one,
        [(_THIRD, _THIRD), (edge, edge), (_THIRD, edge)],
        0.5,
        "Ω†(1): 2p2 ≤ γ(1 − p2)",
    )
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
        axes.plot(
            *best,
            "o",
            color=INK,
            markersize=6,
            zorder=5,
            label="star: p1 = p2 = γ/(γ + 2)",
        )
        axes.plot([_THIRD, 1], [_THIRD, 1], "--", color=INK, linewidth=0.8)
        _dress(axes, f"{title}, ε = {formats.epsilon(exact.rational(epsilon))}")
        axes.set_xlim(0.25, 1)
        axes.set_ylim(0.25, 1)
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize=9
        )
    return figure


def outline(
    family: str, gamma: Fraction, *, q: exact.Rational | None = None
) -> Outline:
    """Return the border of a family's region in the (p1, p2) plane as points, in order."""
    points = [corner.point for corner in corners(family, gamma, q=q)]
    middle = [
        sum(each, Fraction(0)) / len(points) for each in zip(*points, strict=True)
    ]
    # Along (a, u + v/7) no two points of a slice fall together, whichever slice it is.
    points.sort(
        key=lambda p: math.atan2(
            p[1] + p[2] / 7 - middle[1] - middle[2] / 7, p[0] - middle[0]
        )
    )
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


def _fill(
    axes: Axes,
    border: Outline | Sequence[tuple[float, float]],
    strength: float,
    label: str,
) -> None:
    axes.fill(
        *np.transpose(border),
        facecolor=_ACCENT,
        alpha=strength,
        edgecolor=_ACCENT,
        linewidth=1,
        label=label,
    )


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


_WARNER, _BACK, _DEALT, _SHADE = "#2563a8", "#8a6d3b", "#d1495b", "#e8eef5"


def card_chart(people: int, epsilon: exact.Rational, middle: exact.Rational) -> Figure:
    """Draw the variance over the share of members: Warner's design, cards that are put back, and cards that are dealt.

    The band marks the shares for which Warner's design is better than the dealt deck; in the narrow dark one even cards
    that are put back are. Everybody is asked (a census); the curves are for ideal proportions of cards, the dots for
    the deck that can be printed, if there is one.

    Args:
        people: how many people there are.
        epsilon: of all three, against a reader of one response.
        middle: the share of middle cards.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    _shade(axes, people, epsilon, middle)
    shares = np.linspace(0, 1, 201)
    axes.axhline(
        variance(warner(epsilon), people, population="census"),
        color=_WARNER,
        label="Warner's design",
    )
    back = ideal_deck_variance(people, epsilon, middle, 0.5, replaced=True)
    axes.axhline(back, color=_BACK, linestyle="--", label="cards put back")
    dealt = [
        ideal_deck_variance(people, epsilon, middle, share) for share in shares.tolist()
    ]
    axes.plot(
        shares,
        dealt,
        color=_DEALT,
        label="cards dealt, none to spare, in ideal proportions",
    )
    _dot_printed(axes, people, epsilon, middle)
    _dress_cards(axes, people, epsilon, middle)
    return figure


def _shade(
    axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational
) -> None:
    low, high = crossing(people, epsilon, middle)
    axes.axvspan(
        low,
        high,
        color=_SHADE,
        zorder=0,
        label=f"Warner better than dealt: {low:.3f} … {high:.3f}",
    )
    low, high = crossing_independent(people)
    axes.axvspan(
        low,
        high,
        color="#c9d6e4",
        zorder=0,
        label=f"put back better than dealt: {low:.3f} … {high:.3f}",
    )


def _dot_printed(
    axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational
) -> None:
    try:
        deck = integer_deck(people, epsilon, middle)
    except InvalidDesign:
        axes.plot([], [], " ", label="(no deck of whole cards keeps this ε)")
        return
    shares = np.arange(people + 1)[:: max(1, people // 25)] / people
    values = [
        deck_variance(deck, share, population=people) for share in shares.tolist()
    ]
    axes.plot(
        shares, values, ".", color=_DEALT, label=f"the printed deck {deck.counts}"
    )


def _dress_cards(
    axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational
) -> None:
    axes.set_title(
        f"Three ways to use cards: {people:,} people, ε = {formats.epsilon(exact.rational(epsilon))} for a "
        "reader of one "
        f"response, middle share {float(exact.rational(middle)):.4g}\nAgainst a collector who knows the other answers, "
        "dealt cards have no ε",
        loc="left",
        color=INK,
        fontsize=10,
    )
    axes.set_xlabel("true share of members", color=INK)
    axes.set_ylabel("variance of the estimated share", color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(lambda value, _: formats.fixed_percent(value, 0))
    plain(axes)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
        frameon=False,
        fontsize=9,
    )
