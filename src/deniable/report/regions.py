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
from deniable.designs import (
    BinaryChoice,
    Design,
    integer_deck,
    optimal_binary,
    warner,
)
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
    exposure_threshold_of_ratio,
    read_delta,
    read_ratio,
)
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.estimates.decks import deck_variance
from deniable.plan import (
    crossing,
    crossing_independent,
    ideal_deck_variance,
    variance,
)
from deniable.rendering import formats
from deniable.rendering.pictures import (
    ACCENT,
    INK,
    LINES,
    TRUTH,
    Picture,
    set_main_title,
    set_title,
    start_picture,
    strip_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Outline: TypeAlias = NDArray[np.float64]

_ALLOWED, _FORBIDDEN = "#dbe7f3", "#f6d9dc"
_DESIGN_COLORS = (ACCENT, *LINES[2:5])
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_VARIANCE_FACTORS = (1, 1.5, 2, 3, 5, 10)
_PRIORS = np.linspace(0, 1, 1001)  # beliefs at which borders are drawn
_STEPS = 40  # points drawn on an edge; those of RR3‡ are curved
_THIRD = 1 / 3
_PUT_BACK = "#8a6d3b"


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
    if len(designs) > len(_DESIGN_COLORS):
        raise InvalidRequest(
            f"there are {len(designs)} designs; expected at most {len(_DESIGN_COLORS)} for a picture."
        )
    figure, axes = _start_square(title or f"Forbidden by {criterion}")
    shade(axes, criterion.bounds)
    label = f"the demand in full: γ = {formats.number(float(criterion.parity))}"
    border(axes, criterion.parity, color=INK, style=(0, (4, 3)), label=label)
    for design, color in zip(designs, _DESIGN_COLORS, strict=False):
        verdict = "holds" if criterion.check(design) else "fails"
        epsilon = formats.number(float(design.epsilon))
        label = f"{design.name}, ε = {epsilon}: {verdict}"
        border(axes, design.parity, color=color, label=label)
    _draw_line(axes, (0, 1), (0, 1))
    axes.set_xlabel("probability of an event before the response")
    axes.set_ylabel("probability after the response")
    _explain_square(figure)
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
    choice = optimal_binary(
        epsilon, delta, share=share, ceiling=ceiling, expose=expose
    )
    region = choice
    if ceiling is None:
        region = optimal_binary(epsilon, delta, share=share, expose=True)
    pair = ", ".join(f"{float(exact.rational(x)):.4g}" for x in (epsilon, delta))
    figure, axes = _start_square(title or f"What (ε, δ) = ({pair}) allows")
    draw_feasible(axes, region)
    _draw_variance(axes, choice)
    _draw_candidates(axes, choice)
    first, second = choice.design.categories
    axes.set_xlabel(f"p00: probability of {first!r} when it is the answer")
    axes.set_ylabel(f"p11: probability of {second!r} when it is the answer")
    _explain_square(figure)
    return figure


def threshold_levels(*, most_epsilon: float = 2.0, title: str = "") -> Figure:
    """Draw the level sets of g(ε, δ): right of a line the even design is best for that share of the rarer answer.

    Implements: the figure 2 of [HLM17], on a linear scale of δ and on a logarithmic one.

    Args:
        most_epsilon: where the left picture ends; the right one ends at a quarter of it.
        title: of the picture.
    """
    figure = Picture(figsize=(10, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_levels(left, np.linspace(0, most_epsilon, 81), np.linspace(0.004, 1, 81))
    _draw_levels(
        right, np.linspace(0, most_epsilon / 4, 81), np.geomspace(1e-6, 1e-1, 81)
    )
    right.set_yscale("log")
    default = "Share of the rarer answer at which the even and the exposing design are equally good"
    note = "(shaded: the exposing one is better at every share)"
    set_main_title(figure, title or default, *([] if title else [note]))
    return figure


def _start_square(title: str) -> tuple[Picture, Axes]:
    figure, axes = start_picture(7, title, width=6.2)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return figure, axes


def _explain_square(figure: Figure) -> None:
    legend = figure.legend(loc="outside lower left", frameon=False, fontsize=9)
    # A square, its title, and a line for each label.
    figure.set_figheight(6.6 + 0.2 * len(legend.get_texts()))


def _draw_line(
    axes: Axes, x: Sequence[float], y: Sequence[float], label: str | None = None
) -> None:
    axes.plot(x, y, color=INK, linewidth=0.8, linestyle=":", label=label)


def shade(
    axes: Axes,
    allowed: Callable[[float], Bounds],
    *,
    color: str = _FORBIDDEN,
    edge: str = TRUTH,
    label: str = "forbidden",
    hatch: str | None = None,
) -> None:
    """Shade a breach region: what an event of each probability must not become, such as outside `criterion.bounds`."""
    # A float that is read as the decimal it shows is the same prior that is drawn.
    bounds = [list(map(float, allowed(prior))) for prior in _PRIORS.tolist()]
    lower, upper = np.array(bounds).T
    look: dict[str, Any] = {
        "facecolor": "none" if hatch else color,
        "hatch": hatch,
        "linewidth": 0,
    }
    look["edgecolor"] = color
    axes.fill_between(_PRIORS, upper, 1, label=label, **look)
    axes.fill_between(_PRIORS, 0, lower, **look)
    for line, trivial in ((lower, 0.0), (upper, 1.0)):
        heights = np.where(line == trivial, np.nan, line)
        axes.plot(_PRIORS, heights, color=edge, linewidth=1.4, clip_on=False)


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
    bounds = [posterior_bounds(gamma, prior) for prior in _PRIORS.tolist()]
    lines = np.array(bounds, np.float64).T
    for number, heights in enumerate(lines if down else lines[1:]):
        axes.plot(
            _PRIORS,
            heights,
            color=color,
            linestyle=style,
            linewidth=1.8,
            clip_on=False,
            label=None if number else label,
        )


def draw_feasible(axes: Axes, corners: BinaryChoice) -> None:
    """Shade the region between the designs that tell nothing and its corners, and its mirror for swapped responses."""
    points = sorted(map(_point, (corners.chosen, *corners.others)))
    region = np.array([(0.0, 1.0), *points, (1.0, 0.0)]).T
    look: dict[str, Any] = {"color": _ALLOWED, "linewidth": 0}
    axes.fill(*region, label="allowed", **look)
    axes.fill(
        *(1 - region), alpha=0.5, label="allowed, with responses swapped", **look
    )
    _draw_line(axes, (0, 1), (1, 0), "p00 + p11 = 1: nothing is told")


def _point(candidate: Candidate) -> tuple[float, float]:
    design = candidate.design
    no, yes = (
        float(design.probability(name, given=name)) for name in design.categories
    )
    return no, yes


def _draw_variance(axes: Axes, choice: BinaryChoice) -> None:
    share = choice.guess
    p00, p11 = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 401))
    gap = p00 + p11 - 1
    yes = 1 - p00 + share * gap
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(gap > 0.02, yes * (1 - yes) / gap**2, np.nan)
    levels = [choice.variance * factor for factor in _VARIANCE_FACTORS]
    lines = axes.contour(
        p00, p11, variances, levels=levels, colors=INK, linewidths=0.8, alpha=0.65
    )
    axes.clabel(
        lines, levels=levels[1:], fmt=lambda level: f"{level:.3g}", fontsize=8
    )
    label = f"equal variance per respondent, at a share of {share:.4g}"
    axes.plot([], [], color=INK, linewidth=0.8, label=label)


def _draw_candidates(axes: Axes, choice: BinaryChoice) -> None:
    for candidate in (choice.chosen, *choice.others):
        is_best = candidate is choice.chosen
        verdict = "best" if is_best else "considered"
        axes.plot(
            *_point(candidate),
            marker="o",
            markersize=9,
            color=TRUTH if candidate.exposes else ACCENT,
            markerfacecolor=None if is_best else "white",
            markeredgewidth=1.8,
            linestyle="none",
            clip_on=False,
            zorder=5,
            label=f"{verdict}: {candidate.design.name}, variance {candidate.variance:.4g}",
        )


def _draw_levels(axes: Axes, epsilons: Vector, deltas: Vector) -> None:
    ratios = [read_ratio(epsilon) for epsilon in epsilons.tolist()]
    shares = [
        [
            float(exposure_threshold_of_ratio(ratio, read_delta(delta)))
            for ratio in ratios
        ]
        for delta in deltas.tolist()
    ]
    # g spans orders of magnitude; its logarithm is smooth.
    heights, levels = np.log(shares), np.log(_SHARES)
    worse = [levels[-1], heights.max() + 1]
    axes.contourf(epsilons, deltas, heights, levels=worse, colors=[_FORBIDDEN])
    lines = axes.contour(
        epsilons,
        deltas,
        heights,
        levels=levels,
        colors=[ACCENT],
        linewidths=1.4,
        linestyles="solid",
    )
    for share, segments in zip(_SHARES, lines.allsegs, strict=True):
        ends = [segment[end] for segment in segments for end in (0, -1)]
        if ends:
            _label_end(axes, np.array(ends), epsilons[-1], share)
    axes.set_xlim(epsilons[0], epsilons[-1])
    axes.set(xlabel="ε", ylabel="δ")
    strip_frame(axes)


def _label_end(axes: Axes, ends: Outline, right: float, share: float) -> None:
    """Write a level where its line leaves the picture: beside it at the right border, else above it."""
    at_right = ends[ends[:, 0] == right]
    beside = len(at_right) > 0
    end = at_right[0] if beside else ends[ends[:, 1].argmax()]
    axes.annotate(
        formats.fixed_percent(share, 0),
        (float(end[0]), float(end[1])),
        xytext=(4, 0) if beside else (0, 4),
        textcoords="offset points",
        ha="left" if beside else "center",
        va="center" if beside else "bottom",
        fontsize=9,
        color=ACCENT,
        annotation_clip=False,
    )


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
    figure = Picture(figsize=(6.2, 6.4), layout="constrained")
    axes = figure.add_subplot()
    _label_probabilities(axes, _region_title(family, q), 0)
    values = sorted(map(exact.positive_epsilon, epsilons), reverse=True)
    for depth, epsilon in enumerate(values):
        gamma = exact.exp_below(epsilon)
        points = outline(family, gamma, q=q)
        empty = "" if np.ptp(points, axis=0).min() > 0 else ", nothing at this q"
        strength = 0.18 + 0.6 * depth / max(1, len(values) - 1)
        _fill(axes, points, strength, f"ε = {formats.epsilon(epsilon)}{empty}")
        if q is None:
            best = _floats(optimum(family, gamma).parameters)
            label = None if epsilon != values[-1] else "smallest total variance"
            axes.plot(*best, "o", color=INK, markersize=5, label=label)
    columns = len(values) + 1
    figure.legend(
        loc="outside lower center", ncols=columns, frameon=False, fontsize=9
    )
    return figure


def _region_title(family: str, q: exact.Rational | None) -> str:
    if len(find(family).parameters) == 3 and q is None:
        raise InvalidRequest(
            "rr3_club has three parameters; expected a q at which to cut.",
            "For example q=0.75.",
        )
    symbol = {"rr3_dagger": "RR3†", "rr3_ddagger": "RR3‡", "rr3_club": "RR3♣"}[
        family
    ]
    cut = "" if q is None else f", cut at q = {q}"
    return f"{symbol}: probabilities that keep to ε{cut}"


def rr3_omega(epsilon: exact.Rational = 1) -> Figure:
    """Draw the two parts of the region of RR3† with p1, p2 above 1/3, and what the printed condition lets in besides.

    Implements: [MW21], Figure 2, corrected: panel (a) is Ω†(1), where p1 < p2, and panel (b) Ω†(2), where p2 < p1.
    """
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    x = float(gamma)
    edge = x / (x + 2)
    printed = 1 - 2 / (3 * x) if x > 1 else _THIRD
    figure = Picture(figsize=(10.4, 6.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    upper = [(_THIRD, _THIRD), (edge, edge), (_THIRD, edge)]
    _fill(left, upper, 0.5, "Ω†(1): 2p2 ≤ γ(1 − p2)")
    left.fill(
        *np.transpose([(_THIRD, edge), (edge, edge), (_THIRD, printed)]),
        facecolor="none", edgecolor=TRUTH, hatch="///", linewidth=0.8, label="2p1 ≤ γ(1 − p2) alone: ε is larger here",
    )  # fmt: skip
    # The two conditions cross at p1 = p2 = γ/(γ + 2) and only there, so one of them binds all the way.
    lower = [(_THIRD, _THIRD), (min(x / 3, 1 - 2 / (3 * x)), _THIRD), (edge, edge)]
    _fill(right, lower, 0.5, "Ω†(2): 2p1 ≤ γ(1 − p2), 2p2 ≤ γ(1 − p1)")
    label = "kink: the least variance of the first share, if that is large"
    _mark_point(right, kink(gamma), "D", TRUTH, label)
    for axes, condition in ((left, "(a) p1 < p2"), (right, "(b) p2 < p1")):
        _mark_point(axes, star(gamma), "o", INK, "star: p1 = p2 = γ/(γ + 2)")
        axes.plot([_THIRD, 1], [_THIRD, 1], "--", color=INK, linewidth=0.8)
        title = f"{condition}, ε = {formats.epsilon(exact.rational(epsilon))}"
        _label_probabilities(axes, title, 0.25)
        _explain_below(axes, -0.12)
    return figure


def _mark_point(
    axes: Axes, point: Sequence[Fraction], marker: str, color: str, label: str
) -> None:
    look: dict[str, Any] = {
        "color": color,
        "markersize": 6,
        "zorder": 5,
        "clip_on": False,
    }
    axes.plot(*_floats(point), marker, label=label, **look)


def _explain_below(axes: Axes, offset: float, columns: int = 1) -> None:
    anchor = (0.5, offset)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=anchor,
        ncols=columns,
        frameon=False,
        fontsize=9,
    )


def outline(
    family: str, gamma: Fraction, *, q: exact.Rational | None = None
) -> Outline:
    """Return the border of a family's region in the (p1, p2) plane as points, in order."""
    points = [corner.point for corner in corners(family, gamma, q=q)]
    a, u, v = (
        sum(xs, Fraction(0)) / len(points) for xs in zip(*points, strict=True)
    )
    # Along (a, u + v/7) no two points of a slice fall together, whichever slice it is.
    points.sort(
        key=lambda p: math.atan2(p[1] + p[2] / 7 - u - v / 7, p[0] - a),
    )
    path = []
    for start, end in zip(points, [*points[1:], points[0]], strict=True):
        for step in range(_STEPS):
            share = Fraction(step, _STEPS)
            x, y, z = (p + share * (e - p) for p, e in zip(start, end, strict=True))
            path.append(_floats(parameters_at(family, (x, y, z))[:2]))
    return np.array(path)


def _fill(
    axes: Axes,
    points: Outline | Sequence[tuple[float, float]],
    strength: float,
    label: str,
) -> None:
    look: dict[str, Any] = {"facecolor": ACCENT, "edgecolor": ACCENT, "linewidth": 1}
    axes.fill(*np.transpose(points), alpha=strength, label=label, **look)


def _label_probabilities(axes: Axes, title: str, low: float) -> None:
    strip_frame(axes)
    set_title(axes, title)
    axes.set(xlim=(low, 1), ylim=(low, 1), aspect="equal", ylabel="p2")
    axes.set_xlabel("p1: how often the first answer is kept")


def _floats(point: Sequence[Fraction]) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def card_chart(
    people: int, epsilon: exact.Rational, middle: exact.Rational
) -> Figure:
    """Draw the variance over the share of members: Warner's design, cards that are put back, and cards that are dealt.

    The band marks the shares for which Warner's design is better than the dealt deck; in the narrow dark one even cards
    that are put back are. Everybody is asked (a census); the curves are for ideal proportions of cards, the dots for
    the deck that can be printed, if there is one.

    Args:
        people: how many people there are.
        epsilon: of all three, against a reader of one response.
        middle: the share of middle cards.
    """
    title = (
        f"Three ways to use cards: {people:,} people, ε = {formats.epsilon(exact.rational(epsilon))} for a reader of "
        f"one response, middle share {float(exact.rational(middle)):.4g}\nAgainst a collector who knows the other "
        "answers, dealt cards have no ε"
    )
    figure, axes = start_picture(4.8, letters=len(title))
    set_title(axes, title, 10)
    _shade_bands(axes, people, epsilon, middle)
    shares = np.linspace(0, 1, 201)
    alone = variance(warner(epsilon), people, population="census")
    axes.axhline(alone, color=ACCENT, label="Warner's design")
    back = ideal_deck_variance(people, epsilon, middle, 0.5, replaced=True)
    axes.axhline(back, color=_PUT_BACK, linestyle="--", label="cards put back")
    dealt = [
        ideal_deck_variance(people, epsilon, middle, x) for x in shares.tolist()
    ]
    label = "cards dealt, none to spare, in ideal proportions"
    axes.plot(shares, dealt, color=TRUTH, label=label)
    _dot_printed_deck(axes, people, epsilon, middle)
    axes.set_xlabel("true share of members")
    axes.set_ylabel("variance of the estimated share")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(lambda value, _: formats.fixed_percent(value, 0))
    _explain_below(axes, -0.14, 2)
    return figure


def _shade_bands(
    axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational
) -> None:
    bands = {
        "Warner better than dealt": (crossing(people, epsilon, middle), "#e8eef5"),
        "put back better than dealt": (crossing_independent(people), "#c9d6e4"),
    }
    for name, ((low, high), color) in bands.items():
        label = f"{name}: {low:.3f} … {high:.3f}"
        axes.axvspan(low, high, color=color, zorder=0, label=label)


def _dot_printed_deck(
    axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational
) -> None:
    try:
        deck = integer_deck(people, epsilon, middle)
    except InvalidDesign:
        axes.plot([], [], " ", label="(no deck of whole cards keeps this ε)")
        return
    shares = np.arange(people + 1)[:: max(1, people // 25)] / people
    values = [deck_variance(deck, x, population=people) for x in shares.tolist()]
    label = f"the printed deck {deck.counts}"
    axes.plot(shares, values, ".", color=TRUTH, label=label)
