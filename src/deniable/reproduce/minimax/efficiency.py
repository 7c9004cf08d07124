"""Chapter 7: RAPPOR, with its customary estimate and with the minimax one, against the best t-subset design."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.design import Design, rappor
from deniable.reproduce.draw import INK, LINES, dots, legend, line, panels
from deniable.reproduce.minimax.sets import minimax_risk, sets_of
from deniable.reproduce.printed import printed
from deniable.reproduce.simulate import risk, risks
from deniable.reproduce.values import Content, Exhibit, Point, Setting, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES = (3, 5, 10, 20, 50)
_SEEN = (3, 5, 10)  # the sizes that are simulated: RAPPOR has 2^k responses
_LOOKS = (("-", "o", "the best t-subset design"), ("--", "s", "RAPPOR with the minimax estimate"))
_PARITIES = (2.0, 5.0, 10.0, 20.0)


def equation_7_14(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The risk of the customary estimate."""
    entry = printed("001-eq714")
    design = rappored(entry.inputs["k"], entry.inputs["gamma"])
    return Content((entry.against(risk(design, entry.inputs["pi"], "customary")),))


def figure_7(setting: Setting) -> Content:
    """Two ways to do better than RAPPOR."""
    seen = {(k, gamma): _seen(k, gamma, setting) for k in _SEEN for gamma in _PARITIES}

    def draw() -> Figure:
        figure, (axes,) = panels(["Risk against that of RAPPOR with its customary estimate"], x="γ", y="ratio", width=8)
        for style, marker, what in _LOOKS:
            axes.plot([], [], marker, linestyle=style, color=INK, markersize=4, label=what)
        parities = np.geomspace(1.2, 60, 60)
        for k, color in zip(_SIZES, LINES, strict=False):
            both = np.array([ratios(k, gamma) for gamma in parities.tolist()])
            for which, (style, marker, _) in enumerate(_LOOKS):
                line(axes, parities, both[:, which], color, "" if which else f"k = {k}", style)
                if k in _SEEN:
                    dots(axes, _PARITIES, [seen[k, gamma][which] for gamma in _PARITIES], color, marker=marker)
        axes.set_xscale("log")
        axes.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.axhline(1, color=INK, linewidth=0.8)
        axes.set_ylim(0, 1.05)
        legend(figure, 4)
        return figure

    return Content(
        (_where_it_gains(),),
        ("k", *(f"γ = {gamma:g}: {what}" for gamma in _PARITIES for what in ("best t", "RAPPOR, minimax"))),
        tuple((k, *(each for gamma in _PARITIES for each in ratios(k, gamma))) for k in _SIZES),
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


def _seen(k: int, gamma: float, setting: Setting) -> tuple[Point, Point, Point]:
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
