"""Chapters 3 and 4: breach regions, and the parity that a demand on beliefs allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from deniable.channel import Subset
from deniable.criteria import BetaFactor, Boundaries, RhoToRho, posterior_bounds
from deniable.designs import Design, best_t, rappor, subset, subset_risk
from deniable.designs.sets_of_answers import subset_trace
from deniable.estimates.linear import left_inverse
from deniable.order.admissibility import largest_trace
from deniable.report.regions import border, shade
from deniable.reproduce.draw import INK, LINES, dots, legend, line, panels
from deniable.reproduce.simulate import risk, risks
from deniable.reproduce.values import Content, Exhibit, Point, Printed, Setting, Value, printed, starting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_RHO, _BETA = RhoToRho(0.3, 0.5), BetaFactor(2)
# Points (prior, posterior) of a region without a name, such as the document sketches; it is not symmetric.
_UPPER = [(0, 0.05), (0.1, 0.3), (0.3, 0.58), (0.5, 0.8), (0.7, 0.93), (0.85, 1), (1, 1)]
_LOWER = [(0, 0), (0.1, 0.03), (0.3, 0.14), (0.5, 0.25), (0.7, 0.38), (0.9, 0.55), (1, 0.75)]
_GENERAL = Boundaries(lower=_LOWER, upper=_UPPER)
_PARITIES = (1.5, 2, 5, 10, 20, 50)


def equation_3_6(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The parity that ρ1-to-ρ2 privacy allows."""
    entry = printed("001-eq36")
    return Content(
        (entry.against(float(RhoToRho(entry.inputs["rho1"], entry.inputs["rho2"]).parity)),),
        notes=("Sufficient by Theorem 3.1, and necessary by Theorem 4.1.",),
    )


def equation_4_9(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The largest posterior at a parity."""
    entry = printed("001-eq49")
    return Content((entry.against(float(posterior_bounds(entry.inputs["gamma"], entry.inputs["prior"]).upper)),))


def figure_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Two named breach regions."""

    def draw() -> Figure:
        figure, axes = _square("ρ1-to-ρ2 and β-factor privacy")
        shade(axes, _BETA.bounds, color="#f6d9dc", edge=LINES[1], label=f"breach of β-factor privacy, β = {_BETA.beta}")
        shade(
            axes,
            _RHO.bounds,
            color=LINES[0],
            edge=LINES[0],
            hatch="////",
            label="breach of ρ1-to-ρ2 privacy, 0.3 to 0.5",
        )
        legend(figure, 1)
        return figure

    return Content(
        columns=("demand", "largest parity that meets it"),
        rows=(("ρ1-to-ρ2, 0.3 to 0.5", float(_RHO.parity)), ("β-factor, β = 2", float(_BETA.parity))),
        described=(
            "In the square of (prior, posterior): two rectangles in opposite corners for ρ1-to-ρ2, two triangles along "
            "the axes for β-factor privacy. They overlap, neither holds the other, and the triangles are the larger."
        ),
        draw=draw,
        notes=("The document prints no numbers for the figure; ours were chosen to look like its description.",),
    )


def figure_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """A breach region of any shape."""

    def draw() -> Figure:
        figure, axes = _square("A general breach region")
        shade(axes, _GENERAL.bounds, label="breach: above h_u, or below h_l")
        border(axes, _GENERAL.parity, color=INK, style=(0, (4, 3)), label=_allowed(_GENERAL))
        legend(figure, 1)
        return figure

    return Content(
        described="A shaded part above a boundary h_u and one below a boundary h_l; between them privacy holds.",
        draw=draw,
        notes=("The dashed curves are ours: what a design can do at most without entering the shaded part.",),
    )


def figure_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The same demand, its region shown in full."""

    def draw() -> Figure:
        figure, axes = _square("(h_l, h_u)-SIP and [h_l ⋆ h_u]-CSIP")
        shade(
            axes,
            _GENERAL.both_ways,
            color="#8a94a0",
            edge="#5c6670",
            hatch="....",
            label="also forbidden, by complements: A and B",
        )
        shade(axes, _GENERAL.bounds, label="forbidden by (h_l, h_u)-SIP")
        border(axes, _GENERAL.parity, color=INK, style=(0, (4, 3)), label=_allowed(_GENERAL))
        legend(figure, 1)
        return figure

    return Content(
        described=(
            "The breach region of a pair of boundaries, and two dotted parts A and B that its symmetric twin adds: "
            "both demand the same of a design."
        ),
        draw=draw,
    )


def figure_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """What a parity can do to beliefs."""

    def draw() -> Figure:
        figure, axes = _square("Upper boundaries h_γ")
        for gamma, color in zip(_PARITIES, LINES, strict=False):
            border(axes, gamma, color=color, label=f"γ = {gamma:g}", down=False)
        legend(figure, 3)
        return figure

    return Content(
        described=(
            "Curves from (0, 0) to (1, 1) above the diagonal; the larger γ is, the higher the curve and the smaller "
            "the region above it."
        ),
        draw=draw,
        notes=("The document's values of γ are not in its text; ours span strong to weak privacy.",),
    )


def _square(title: str) -> tuple[Figure, Axes]:
    figure, (axes,) = panels([title], x="probability before the response", y="probability after it", height=7.6)
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    return figure, axes


def _allowed(demand: Boundaries) -> str:
    return f"the most that a design may do: γ = {float(demand.parity):.3g}"


def _figure(number: int, title: str, make: Callable[[Setting], Content]) -> Exhibit:
    return Exhibit("minimax", "figure", str(number), title, make, weight=0.5)


BELIEFS = (
    Exhibit("minimax", "equation", "3.6", "The parity that ρ1-to-ρ2 privacy allows", equation_3_6),
    _figure(1, "Breach regions of ρ1-to-ρ2 and of β-factor privacy", figure_1),
    _figure(2, "A general breach region", figure_2),
    _figure(3, "One demand, two regions", figure_3),
    Exhibit("minimax", "equation", "4.9", "The largest posterior at a parity", equation_4_9),
    _figure(4, "Upper boundaries h_γ", figure_4),
)


_BY_GAMMA = (4, 6, 10, 20)  # k of the lines over γ
_SIZES, _PARITIES_SEEN = (4, 6, 8, 10, 12, 20), (2.0, 5.0, 10.0, 20.0)  # where they are simulated …
_MOST = 500  # … if there are not more sets than this


def sets_of(k: int, gamma: float, t: int | None = None) -> Design:
    """Return the t-subset design of parity γ; the minimax one, if t is not given."""
    return subset(k, math.log(gamma), t=best_t(k, gamma) if t is None else t)


def minimax_risk(k: int, gamma: float) -> float:
    """Return the risk of the minimax design in the worst case, which is at even shares."""
    return float(subset_risk(k, best_t(k, gamma), gamma))


def table_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """q and the number of sets."""
    cells = {(each.inputs["k"], each.inputs["gamma"]): each.against(_size(each)) for each in starting("001-table1-k")}
    sizes, parities = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    text = printed("001-table1-text")
    return Content(
        (*cells.values(), text.against(_size(text))),
        ("k", *(f"γ = {gamma:g}" for gamma in parities)),
        tuple((k, *(cells[k, gamma] for gamma in parities)) for k in sizes),
        notes=("In each cell q, the best size of a set, and m_q, how many sets of this size there are.",),
    )


def figure_5(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Three t-subset designs written out."""
    entries = starting("001-fig5-")
    k, gamma = entries[0].inputs["k"], entries[0].inputs["gamma"]
    channels = {entry.inputs["t"]: _channel(sets_of(k, gamma, entry.inputs["t"])) for entry in entries}

    def draw() -> Figure:
        titles = [f"t = {t}: {channel.sets} sets" for t, channel in channels.items()]
        figure, axes = panels(titles, x="answer", y="", width=3.4, height=4.4)
        for place, channel in zip(axes, channels.values(), strict=True):
            _write(place, channel)
        return figure

    return Content(
        tuple(entry.against(min(_sent(channels[entry.inputs["t"]]))) for entry in entries),
        described=(
            "The matrices of the t-subset designs for k = 4, γ = 2 and t = 1, 2, 3, with 4, 6 and 4 rows: 1/5, 1/9 and "
            "1/7 times ones and twos, the twos where the row's set holds the column's category."
        ),
        draw=draw,
    )


def theorem_6_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The largest trace."""
    entry = printed("001-thm61")
    return Content((entry.against(float(largest_trace(entry.inputs["k"], entry.inputs["gamma"]))),))


def theorem_6_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The minimax risk."""
    entries = [*starting("001-eq625-"), printed("001-risk-approx")]
    return Content(
        tuple(entry.against(minimax_risk(entry.inputs["k"], entry.inputs["gamma"])) for entry in entries),
        notes=(
            "The approximation after (6.25) is a lower bound, good only where k/(1 + γ) is near a whole number; for γ "
            "above k − 1 the risk does not fall like 1/γ but towards (k − 1)/k (erratum 1.4).",
        ),
    )


def figure_6(setting: Setting) -> Content:
    """The minimax risk against k and against γ."""
    pairs = [(k, gamma) for k in _SIZES for gamma in _PARITIES_SEEN if _channel(sets_of(k, gamma)).sets <= _MOST]
    seen = {pair: _seen(*pair, setting) for pair in pairs}

    def draw() -> Figure:
        figure, (left, right) = panels(["over k", "over γ"], x="k", y="minimax risk: n times the total variance")
        right.set_xlabel("γ", color=INK)
        sizes, parities = np.arange(2, 21), np.geomspace(1.5, 30, 80)
        for gamma, color in zip(_PARITIES_SEEN, LINES, strict=False):
            line(left, sizes, [minimax_risk(k, gamma) for k in sizes.tolist()], color, f"γ = {gamma:g}")
            here = [k for k, at in pairs if at == gamma]
            dots(left, here, [seen[k, gamma] for k in here], color)
        for k, color in zip(_BY_GAMMA, LINES[4:], strict=True):
            line(right, parities, [minimax_risk(k, gamma) for gamma in parities.tolist()], color, f"k = {k}")
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
        notes=("The document's grid is not in its text. Points: even shares, 100 independent respondents a survey.",),
    )


def section_7_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """How often a category is in the set."""
    entry = printed("001-PZ")
    k, share = entry.inputs["k"], entry.inputs["pi_j"]
    shares = np.array([share, *[(1 - share) / (k - 1)] * (k - 1)])
    design = sets_of(k, entry.inputs["gamma"], entry.inputs["t"])
    return Content((entry.against(float(left_inverse(design.channel).expected(shares)[0])),))


def theorem_7_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Whether the minimax design is the only one."""
    entry = printed("001-tie")
    k, gamma = entry.inputs["k"], entry.inputs["gamma"]
    return Content(
        (entry.against([float(subset_trace(k, t, gamma)) for t in (1, 2)]),),
        ("t", "f(t)", "risk in the worst case"),
        tuple((t, float(subset_trace(k, t, gamma)), float(subset_risk(k, t, gamma))) for t in range(1, k)),
        notes=("Where two sizes tie, both and all their mixtures are minimax (erratum 1.3).",),
    )


def _channel(design: Design) -> Subset:
    assert isinstance(design.channel, Subset)
    return design.channel


def _size(entry: Printed) -> list[int]:
    channel = _channel(sets_of(entry.inputs["k"], entry.inputs["gamma"]))
    return [channel.ones, channel.sets]


def _sent(channel: Subset) -> list[float]:
    """Return the probabilities of the sets that are sent, given the first category."""
    every = (channel.probability(response, given=0) for response in range(channel.responses))
    return [float(each) for each in every if each]


def _write(axes: Axes, channel: Subset) -> None:
    """Write a matrix out: a row for each set, in units of the smaller probability."""
    small = min(_sent(channel))
    sent = [each for each in range(channel.responses) if channel.probability(each, given=0)]
    cells = np.array([[float(channel.probability(each, given=x)) for x in range(channel.answers)] for each in sent])
    order = np.lexsort(-np.rint(cells / small).T[::-1])
    axes.imshow(cells[order], cmap="Blues", vmin=0, vmax=cells.max() * 1.6, aspect="equal")
    for y, row in enumerate(np.rint(cells[order] / small).astype(int)):
        for x, number in enumerate(row.tolist()):
            axes.text(x, y, str(number), ha="center", va="center", color=INK)
    names = [f"c{x + 1}" for x in range(channel.answers)]
    members = [
        ", ".join(name for name, cell in zip(names, row, strict=True) if cell > 1.5 * small) for row in cells[order]
    ]
    axes.set_xticks(range(channel.answers), names)
    axes.set_yticks(range(len(sent)), ["{" + each + "}" for each in members])
    axes.set_xlabel(f"answer; in units of 1/{1 / small:.4g}", color=INK)
    axes.grid(visible=False)


def _seen(k: int, gamma: float, setting: Setting) -> Point:
    (point,) = risks(f"k = {k}, γ = {gamma:g}", sets_of(k, gamma), [1 / k] * k, setting)
    return point


SETS = (
    Exhibit("minimax", "theorem", "6.1", "The largest trace", theorem_6_1),
    Exhibit("minimax", "figure", "5", "Three t-subset designs", figure_5, weight=0.5),
    Exhibit("minimax", "theorem", "6.4", "The minimax risk", theorem_6_4),
    Exhibit("minimax", "figure", "6", "The minimax risk against k and γ", figure_6, weight=12),
    Exhibit("minimax", "table", "1", "The best size of a set, and how many such sets there are", table_1),
    Exhibit("minimax", "section", "7.1", "How often a category is in the set", section_7_1),
    Exhibit("minimax", "theorem", "7.2", "Whether the minimax design is the only one", theorem_7_2),
)


_SIZES_COMPARED = (3, 5, 10, 20, 50)
_SEEN = (3, 5, 10)  # the sizes that are simulated: RAPPOR has 2^k responses
_LOOKS = (("-", "o", "the best t-subset design"), ("--", "s", "RAPPOR with the minimax estimate"))
_PARITIES_EFFICIENCY = (2.0, 5.0, 10.0, 20.0)


def equation_7_14(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The risk of the customary estimate."""
    entry = printed("001-eq714")
    design = rappored(entry.inputs["k"], entry.inputs["gamma"])
    return Content((entry.against(risk(design, entry.inputs["pi"], "customary")),))


def figure_7(setting: Setting) -> Content:
    """Two ways to do better than RAPPOR."""
    seen = {(k, gamma): _seen_efficiency(k, gamma, setting) for k in _SEEN for gamma in _PARITIES_EFFICIENCY}

    def draw() -> Figure:
        figure, (axes,) = panels(["Risk against that of RAPPOR with its customary estimate"], x="γ", y="ratio", width=8)
        for style, marker, what in _LOOKS:
            axes.plot([], [], marker, linestyle=style, color=INK, markersize=4, label=what)
        parities = np.geomspace(1.2, 60, 60)
        for k, color in zip(_SIZES_COMPARED, LINES, strict=False):
            both = np.array([ratios(k, gamma) for gamma in parities.tolist()])
            for which, (style, marker, _) in enumerate(_LOOKS):
                line(axes, parities, both[:, which], color, "" if which else f"k = {k}", style)
                if k in _SEEN:
                    dots(
                        axes,
                        _PARITIES_EFFICIENCY,
                        [seen[k, gamma][which] for gamma in _PARITIES_EFFICIENCY],
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
        ("k", *(f"γ = {gamma:g}: {what}" for gamma in _PARITIES_EFFICIENCY for what in ("best t", "RAPPOR, minimax"))),
        tuple((k, *(each for gamma in _PARITIES_EFFICIENCY for each in ratios(k, gamma))) for k in _SIZES_COMPARED),
        "Solid curves: the risk of the best t-subset design over that of customary RAPPOR. Dashed: RAPPOR with the "
        "minimax estimate over the same. All are below 1; the solid ones far below, the more the larger γ; the dashed "
        "ones noticeably for small to moderate k.",
        draw,
        tuple(point for three in seen.values() for point in three),
        (
            "For k = 3 the gain of the solid curve is largest at small γ, not at large (erratum 1.9). The document "
            "does not print its k; ours span small to large. Points: even shares, 100 respondents a survey.",
        ),
    )


def rappored(k: int, gamma: float) -> Design:
    """Return RAPPOR of parity γ, counted by size as the minimax estimate needs it."""
    return rappor(k, math.log(gamma))


def ratios(k: int, gamma: float) -> tuple[float, float]:
    """Return the risks of the best t-subset design and of RAPPOR with the minimax estimate, over the customary one."""
    design, even = rappored(k, gamma), [1 / k] * k
    customary = risk(design, even, "customary")
    return minimax_risk(k, gamma) / customary, risk(design, even) / customary


def _seen_efficiency(k: int, gamma: float, setting: Setting) -> tuple[Point, Point, Point]:
    """Simulate the three risks, each over the theoretical risk of the customary estimate."""
    design, even = rappored(k, gamma), [1 / k] * k
    customary = risk(design, even, "customary")
    where = f"k = {k}, γ = {gamma:g}"
    best, *others = (
        *risks(f"{where}: best t", sets_of(k, gamma), even, setting),
        *risks(f"{where}: RAPPOR", design, even, setting, methods=("inversion", "customary")),
    )
    one, two, three = (
        Point(each.where, each.theory / customary, each.simulated / customary, each.error / customary)
        for each in (best, *others)
    )
    return one, two, three


def _where_it_gains() -> Value:
    entry = printed("001-fig7-k3")
    small, large = (ratios(entry.inputs["k"], gamma)[0] for gamma in entry.inputs["gamma"])
    return entry.against("at the smaller gamma" if small < large else "at the larger gamma")


EFFICIENCY = (
    Exhibit("minimax", "equation", "7.14", "The risk of RAPPOR with its customary estimate", equation_7_14),
    Exhibit("minimax", "figure", "7", "Two ways to do better than RAPPOR", figure_7, weight=30),
)


EXHIBITS = (*BELIEFS, *SETS, *EFFICIENCY)
