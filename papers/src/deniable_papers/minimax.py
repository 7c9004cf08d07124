"""Document 001: what counts as private, and the best designs for many categories.

Chapters 3 and 4 are about breach regions, and the parity that a demand on beliefs allows; chapters 6 and 7 about
t-subset designs, their minimax risk, and RAPPOR beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from deniable.channel import Channel, Sets
from deniable.criteria import BetaFactor, Boundaries, RhoToRho, posterior_bounds
from deniable.designs import Design, best_t, rappor, subset, subset_risk
from deniable.designs.sets_of_answers import subset_trace
from deniable.order.admissibility import largest_trace
from deniable.report.regions import border, shade
from deniable_papers.figures import (
    INK,
    LINES,
    dots,
    legend,
    line,
    panels,
    risk,
    risks,
)
from deniable_papers.values import (
    Content,
    Exhibits,
    Point,
    Printed,
    Setting,
    Value,
    compared,
    printed,
    starting,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

exhibit = Exhibits("minimax")

_RHO, _BETA = RhoToRho(0.3, 0.5), BetaFactor(2)
# Points (prior, posterior) of a region without a name, such as the paper sketches; it is not symmetric.
_UPPER = [
    (0, 0.05),
    (0.1, 0.3),
    (0.3, 0.58),
    (0.5, 0.8),
    (0.7, 0.93),
    (0.85, 1),
    (1, 1),
]
_LOWER = [
    (0, 0),
    (0.1, 0.03),
    (0.3, 0.14),
    (0.5, 0.25),
    (0.7, 0.38),
    (0.9, 0.55),
    (1, 0.75),
]
_GENERAL = Boundaries(lower=_LOWER, upper=_UPPER)
_DRAWN_PARITIES = (1.5, 2, 5, 10, 20, 50)  # γ of the curves of figure 4
_PARITIES = (2.0, 5.0, 10.0, 20.0)  # γ at which figures 6 and 7 are simulated
_SIZES_OVER_GAMMA = (4, 6, 10, 20)  # k of the lines of figure 6 over γ
_SIMULATED_SIZES = (4, 6, 8, 10, 12, 20)  # k at which figure 6 is simulated …
_MOST_SETS = 500  # … where there are not more sets than this, which all are counted
_COMPARED_SIZES = (3, 5, 10, 20, 50)  # k of the lines of figure 7
# k at which it is simulated: RAPPOR has 2^k responses
_SIMULATED_RAPPOR = 3, 5, 10
_LOOKS = (
    ("-", "o", "the best t-subset design"),
    ("--", "s", "RAPPOR with the minimax estimate"),
)


@exhibit("equation", "3.6")
def equation_3_6() -> Content:
    """The parity that ρ1-to-ρ2 privacy allows."""
    return Content(
        (
            compared(
                "001-eq36",
                lambda given: float(RhoToRho(given["rho1"], given["rho2"]).parity),
            ),
        ),
        notes=("Sufficient by Theorem 3.1, and necessary by Theorem 4.1.",),
    )


@exhibit("figure", "1", weight=0.5)
def figure_1() -> Content:
    """Breach regions of ρ1-to-ρ2 and of β-factor privacy."""

    draw = _beliefs(
        "ρ1-to-ρ2 and β-factor privacy",
        lambda axes: shade(
            axes,
            _BETA.bounds,
            color="#f6d9dc",
            edge=LINES[1],
            label=f"breach of β-factor privacy, β = {_BETA.beta}",
        ),
        lambda axes: shade(
            axes,
            _RHO.bounds,
            color=LINES[0],
            edge=LINES[0],
            hatch="////",
            label="breach of ρ1-to-ρ2 privacy, 0.3 to 0.5",
        ),
    )
    return Content(
        columns=("demand", "largest parity that meets it"),
        rows=(
            ("ρ1-to-ρ2, 0.3 to 0.5", float(_RHO.parity)),
            ("β-factor, β = 2", float(_BETA.parity)),
        ),
        described=(
            "In the square of (prior, posterior): two rectangles in opposite corners for ρ1-to-ρ2, two triangles along "
            "the axes for β-factor privacy. They overlap, neither holds the other, and the triangles are the larger."
        ),
        draw=draw,
        notes=(
            "The paper prints no numbers for the figure; ours were chosen to look like its description.",
        ),
    )


@exhibit("figure", "2", weight=0.5)
def figure_2() -> Content:
    """A general breach region."""

    draw = _beliefs(
        "A general breach region",
        lambda axes: shade(
            axes, _GENERAL.bounds, label="breach: above h_u, or below h_l"
        ),
        _most_allowed,
    )
    return Content(
        described="A shaded part above a boundary h_u and one below a boundary h_l; between them privacy holds.",
        draw=draw,
        notes=(
            "The dashed curves are ours: what a design can do at most without entering the shaded part.",
        ),
    )


@exhibit("figure", "3", weight=0.5)
def figure_3() -> Content:
    """One demand, two regions."""

    also = "also forbidden, by complements: A and B"
    draw = _beliefs(
        "(h_l, h_u)-SIP and [h_l ⋆ h_u]-CSIP",
        lambda axes: shade(
            axes,
            _GENERAL.both_ways,
            color="#8a94a0",
            edge="#5c6670",
            hatch="....",
            label=also,
        ),
        lambda axes: shade(
            axes, _GENERAL.bounds, label="forbidden by (h_l, h_u)-SIP"
        ),
        _most_allowed,
    )
    return Content(
        described=(
            "The breach region of a pair of boundaries, and two dotted parts A and B that its symmetric twin adds: "
            "both demand the same of a design."
        ),
        draw=draw,
    )


@exhibit("equation", "4.9")
def equation_4_9() -> Content:
    """The largest posterior at a parity."""
    return Content(
        (
            compared(
                "001-eq49",
                lambda given: float(
                    posterior_bounds(given["gamma"], given["prior"]).upper
                ),
            ),
        )
    )


@exhibit("figure", "4", weight=0.5)
def figure_4() -> Content:
    """Upper boundaries h_γ."""

    def curves(axes: Axes) -> None:
        for gamma, color in zip(_DRAWN_PARITIES, LINES, strict=False):
            border(axes, gamma, color=color, label=f"γ = {gamma:g}", down=False)

    draw = _beliefs("Upper boundaries h_γ", curves, columns=3)
    return Content(
        described=(
            "Curves from (0, 0) to (1, 1) above the diagonal; the larger γ is, the higher the curve and the smaller "
            "the region above it."
        ),
        draw=draw,
        notes=(
            "The paper's values of γ are not in its text; ours span strong to weak privacy.",
        ),
    )


@exhibit("theorem", "6.1")
def theorem_6_1() -> Content:
    """The largest trace."""
    return Content(
        (
            compared(
                "001-thm61",
                lambda given: float(largest_trace(given["k"], given["gamma"])),
            ),
        )
    )


@exhibit("figure", "5", weight=0.5)
def figure_5() -> Content:
    """Three t-subset designs."""
    entries = starting("001-fig5-")
    k, gamma = entries[0].inputs["k"], entries[0].inputs["gamma"]
    channels = {
        t: sets_of(k, gamma, t).channel
        for t in (entry.inputs["t"] for entry in entries)
    }

    def draw() -> Figure:
        titles = [f"t = {t}: {math.comb(k, t)} sets" for t in channels]
        figure, axes = panels(titles, x="answer", y="", width=3.4, height=4.4)
        for place, channel in zip(axes, channels.values(), strict=True):
            _write(place, channel)
        return figure

    return Content(
        tuple(
            entry.against(min(_sent(channels[entry.inputs["t"]])))
            for entry in entries
        ),
        described=(
            "The matrices of the t-subset designs for k = 4, γ = 2 and t = 1, 2, 3, with 4, 6 and 4 rows: 1/5, 1/9 and "
            "1/7 times ones and twos, the twos where the row's set holds the column's category."
        ),
        draw=draw,
    )


@exhibit("theorem", "6.4")
def theorem_6_4() -> Content:
    """The minimax risk."""
    entries = [*starting("001-eq625-"), printed("001-risk-approx")]
    return Content(
        tuple(
            entry.against(minimax_risk(entry.inputs["k"], entry.inputs["gamma"]))
            for entry in entries
        ),
        notes=(
            "The approximation after (6.25) is a lower bound, good only where k/(1 + γ) is near a whole number; for γ "
            "above k − 1 the risk does not fall like 1/γ but towards (k − 1)/k (erratum 1.4).",
        ),
    )


@exhibit("figure", "6", weight=12)
def figure_6(setting: Setting) -> Content:
    """The minimax risk against k and γ."""
    pairs = [
        (k, gamma)
        for k in _SIMULATED_SIZES
        for gamma in _PARITIES
        if _sets(k, gamma) <= _MOST_SETS
    ]
    seen = {pair: _simulated_risk(*pair, setting) for pair in pairs}

    def draw() -> Figure:
        figure, (left, right) = panels(
            ["over k", "over γ"], x="k", y="minimax risk: n times the total variance"
        )
        right.set_xlabel("γ", color=INK)
        sizes, parities = np.arange(2, 21), np.geomspace(1.5, 30, 80)
        for gamma, color in zip(_PARITIES, LINES, strict=False):
            line(
                left,
                sizes,
                [minimax_risk(k, gamma) for k in sizes.tolist()],
                color,
                f"γ = {gamma:g}",
            )
            here = [k for k, at in pairs if at == gamma]
            dots(left, here, [seen[k, gamma] for k in here], color)
        for k, color in zip(_SIZES_OVER_GAMMA, LINES[4:], strict=True):
            line(
                right,
                parities,
                [minimax_risk(k, gamma) for gamma in parities.tolist()],
                color,
                f"k = {k}",
            )
            there = [gamma for at, gamma in pairs if at == k]
            dots(right, there, [seen[k, gamma] for gamma in there], color)
        left.set_xticks(range(2, 21, 2))
        left.set_yscale("log")
        right.set_yscale("log")
        right.set_xscale("log")
        right.set_xticks([2, 5, 10, 20], ["2", "5", "10", "20"])
        right.minorticks_off()
        legend(figure, 4)
        return figure

    return Content(
        described="How the minimax risk depends on k and on γ: it rises about in proportion to k and falls as γ rises.",
        draw=draw,
        points=tuple(seen.values()),
        notes=(
            "The paper's grid is not in its text. Points: even shares, 100 independent respondents a survey.",
        ),
    )


@exhibit("table", "1")
def table_1() -> Content:
    """The best size of a set, and how many such sets there are."""
    cells = {
        (each.inputs["k"], each.inputs["gamma"]): each.against(_size(each))
        for each in starting("001-table1-k")
    }
    sizes, parities = (
        list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1)
    )
    text = printed("001-table1-text")
    return Content(
        (*cells.values(), text.against(_size(text))),
        ("k", *(f"γ = {gamma:g}" for gamma in parities)),
        tuple((k, *(cells[k, gamma] for gamma in parities)) for k in sizes),
        notes=(
            "In each cell q, the best size of a set, and m_q, how many sets of this size there are.",
        ),
    )


@exhibit("section", "7.1")
def section_7_1() -> Content:
    """How often a category is in the set."""
    entry = printed("001-PZ")
    k, share = entry.inputs["k"], entry.inputs["pi_j"]
    channel = sets_of(k, entry.inputs["gamma"], entry.inputs["t"]).channel
    assert isinstance(channel, Sets)
    return Content(
        (
            entry.against(
                float(channel.p_true) * share + float(channel.p_false) * (1 - share)
            ),
        )
    )


@exhibit("theorem", "7.2")
def theorem_7_2() -> Content:
    """Whether the minimax design is the only one."""
    entry = printed("001-tie")
    k, gamma = entry.inputs["k"], entry.inputs["gamma"]
    return Content(
        (entry.against([float(subset_trace(k, t, gamma)) for t in (1, 2)]),),
        ("t", "f(t)", "risk in the worst case"),
        tuple(
            (t, float(subset_trace(k, t, gamma)), float(subset_risk(k, t, gamma)))
            for t in range(1, k)
        ),
        notes=(
            "Where two sizes tie, both and all their mixtures are minimax (erratum 1.3).",
        ),
    )


@exhibit("equation", "7.14")
def equation_7_14() -> Content:
    """The risk of RAPPOR with its customary estimate."""
    entry = printed("001-eq714")
    design = rappored(entry.inputs["k"], entry.inputs["gamma"])
    return Content((entry.against(risk(design, entry.inputs["pi"], "customary")),))


@exhibit("figure", "7", weight=30)
def figure_7(setting: Setting) -> Content:
    """Two ways to do better than RAPPOR."""
    seen = {
        (k, gamma): _risk_ratios(k, gamma, setting)
        for k in _SIMULATED_RAPPOR
        for gamma in _PARITIES
    }

    def draw() -> Figure:
        figure, (axes,) = panels(
            ["Risk against that of RAPPOR with its customary estimate"],
            x="γ",
            y="ratio",
            width=8,
        )
        for style, marker, what in _LOOKS:
            axes.plot(
                [], [], marker, linestyle=style, color=INK, markersize=4, label=what
            )
        parities = np.geomspace(1.2, 60, 60)
        for k, color in zip(_COMPARED_SIZES, LINES, strict=False):
            both = np.array([ratios(k, gamma) for gamma in parities.tolist()])
            for which, (style, marker, _) in enumerate(_LOOKS):
                line(
                    axes,
                    parities,
                    both[:, which],
                    color,
                    "" if which else f"k = {k}",
                    style,
                )
                if k in _SIMULATED_RAPPOR:
                    dots(
                        axes,
                        _PARITIES,
                        [seen[k, gamma][which] for gamma in _PARITIES],
                        color,
                        marker=marker,
                    )
        axes.set_xscale("log")
        axes.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.axhline(1, color=INK, linewidth=0.8)
        axes.set_ylim(0, 1.05)
        legend(figure, 4)
        return figure

    return Content(
        (_where_it_gains(),),
        (
            "k",
            *(
                f"γ = {gamma:g}: {what}"
                for gamma in _PARITIES
                for what in ("best t", "RAPPOR, minimax")
            ),
        ),
        tuple(
            (k, *(each for gamma in _PARITIES for each in ratios(k, gamma)))
            for k in _COMPARED_SIZES
        ),
        "Solid curves: the risk of the best t-subset design over that of customary RAPPOR. Dashed: RAPPOR with the "
        "minimax estimate over the same. All are below 1; the solid ones far below, the more the larger γ; the dashed "
        "ones noticeably for small to moderate k.",
        draw,
        tuple(point for three in seen.values() for point in three),
        (
            "For k = 3 the gain of the solid curve is largest at small γ, not at large (erratum 1.9). The paper "
            "does not print its k; ours span small to large. Points: even shares, 100 respondents a survey.",
        ),
    )


def _beliefs(
    title: str, *layers: Callable[[Axes], None], columns: int = 1
) -> Callable[[], Figure]:
    """Return what draws layers into the square of beliefs before and after a response."""

    def draw() -> Figure:
        figure, (axes,) = panels(
            [title],
            x="probability before the response",
            y="probability after it",
            height=7.6,
        )
        axes.set_aspect("equal")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
        for layer in layers:
            layer(axes)
        legend(figure, columns)
        return figure

    return draw


def _most_allowed(axes: Axes) -> None:
    label = f"the most that a design may do: γ = {float(_GENERAL.parity):.3g}"
    border(axes, _GENERAL.parity, color=INK, style=(0, (4, 3)), label=label)


def sets_of(k: int, gamma: float, t: int | None = None) -> Design:
    """Return the t-subset design of parity γ; the minimax one, if t is not given."""
    return subset(k, math.log(gamma), t=best_t(k, gamma) if t is None else t)


def minimax_risk(k: int, gamma: float) -> float:
    """Return the risk of the minimax design in the worst case, which is at even shares."""
    return float(subset_risk(k, best_t(k, gamma), gamma))


def _size(entry: Printed) -> list[int]:
    k, gamma = entry.inputs["k"], entry.inputs["gamma"]
    return [best_t(k, gamma), _sets(k, gamma)]


def _sets(k: int, gamma: float) -> int:
    """Return how many sets of the best size there are."""
    return math.comb(k, best_t(k, gamma))


def _sent(channel: Channel) -> list[float]:
    """Return the probabilities of the sets that are sent, given the first category."""
    every = (
        channel.probability(response, given=0)
        for response in range(channel.responses)
    )
    return [float(each) for each in every if each]


def _write(axes: Axes, channel: Channel) -> None:
    """Write a matrix out: a row for each set, in units of the smaller probability."""
    small = min(_sent(channel))
    sent = [
        each
        for each in range(channel.responses)
        if channel.probability(each, given=0)
    ]
    cells = np.array(
        [
            [
                float(channel.probability(each, given=x))
                for x in range(channel.answers)
            ]
            for each in sent
        ]
    )
    order = np.lexsort(-np.rint(cells / small).T[::-1])
    axes.imshow(
        cells[order], cmap="Blues", vmin=0, vmax=cells.max() * 1.6, aspect="equal"
    )
    for y, row in enumerate(np.rint(cells[order] / small).astype(int)):
        for x, number in enumerate(row.tolist()):
            axes.text(x, y, str(number), ha="center", va="center", color=INK)
    names = [f"c{x + 1}" for x in range(channel.answers)]
    members = [
        ", ".join(
            name for name, cell in zip(names, row, strict=True) if cell > 1.5 * small
        )
        for row in cells[order]
    ]
    axes.set_xticks(range(channel.answers), names)
    axes.set_yticks(range(len(sent)), ["{" + each + "}" for each in members])
    axes.set_xlabel(f"answer; in units of 1/{1 / small:.4g}", color=INK)
    axes.grid(visible=False)


def _simulated_risk(k: int, gamma: float, setting: Setting) -> Point:
    (point,) = risks(
        f"k = {k}, γ = {gamma:g}", sets_of(k, gamma), [1 / k] * k, setting
    )
    return point


def rappored(k: int, gamma: float) -> Design:
    """Return RAPPOR of parity γ, counted by size as the minimax estimate needs it."""
    return rappor(k, math.log(gamma))


def ratios(k: int, gamma: float) -> tuple[float, float]:
    """Return the risks of the best t-subset design and of RAPPOR with the minimax estimate, over the customary one."""
    design, even = rappored(k, gamma), [1 / k] * k
    customary = risk(design, even, "customary")
    return minimax_risk(k, gamma) / customary, risk(design, even) / customary


def _risk_ratios(
    k: int, gamma: float, setting: Setting
) -> tuple[Point, Point, Point]:
    """Simulate the three risks, each over the theoretical risk of the customary estimate."""
    design, even = rappored(k, gamma), [1 / k] * k
    customary = risk(design, even, "customary")
    where = f"k = {k}, γ = {gamma:g}"
    best, *others = (
        *risks(f"{where}: best t", sets_of(k, gamma), even, setting),
        *risks(
            f"{where}: RAPPOR",
            design,
            even,
            setting,
            methods=("inversion", "customary"),
        ),
    )
    one, two, three = (
        Point(
            each.where,
            each.theory / customary,
            each.simulated / customary,
            each.error / customary,
        )
        for each in (best, *others)
    )
    return one, two, three


def _where_it_gains() -> Value:
    entry = printed("001-fig7-k3")
    small, large = (
        ratios(entry.inputs["k"], gamma)[0] for gamma in entry.inputs["gamma"]
    )
    return entry.against(
        "at the smaller gamma" if small < large else "at the larger gamma"
    )
