"""Chapter 6: designs that send sets of categories, which of them is minimax, and what it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.channel import Subset
from deniable.design import Design, best_t, subset, subset_risk
from deniable.design.subset import subset_trace
from deniable.design.unchanged import largest_trace
from deniable.estimate.linear import left_inverse
from deniable.reproduce.draw import INK, LINES, dots, legend, line, panels
from deniable.reproduce.printed import printed, starting
from deniable.reproduce.simulate import risks
from deniable.reproduce.values import Content, Exhibit, Point, Printed, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BY_GAMMA = (4, 6, 10, 20)  # k of the lines over γ
_SIZES, _PARITIES = (4, 6, 8, 10, 12, 20), (2.0, 5.0, 10.0, 20.0)  # where they are simulated …
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
    pairs = [(k, gamma) for k in _SIZES for gamma in _PARITIES if _channel(sets_of(k, gamma)).sets <= _MOST]
    seen = {pair: _seen(*pair, setting) for pair in pairs}

    def draw() -> Figure:
        figure, (left, right) = panels(["over k", "over γ"], x="k", y="minimax risk: n times the total variance")
        right.set_xlabel("γ", color=INK)
        sizes, parities = np.arange(2, 21), np.geomspace(1.5, 30, 80)
        for gamma, color in zip(_PARITIES, LINES, strict=False):
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
