"""Chapters 3 and 4: breach regions, and the parity that a demand on beliefs allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deniable.criteria import BetaFactor, Boundaries, RhoToRho, posterior_bounds
from deniable.report.region import border, shade
from deniable.reproduce.draw import INK, LINES, legend, panels
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Setting

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
