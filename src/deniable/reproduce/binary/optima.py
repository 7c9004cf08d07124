"""Which design is best: Theorems 2 to 4, Example 1 and Figure 2."""

from __future__ import annotations

from deniable.design import Design, exposing_binary, exposure_threshold, optimal_binary, relaxed_warner, warner
from deniable.report import threshold_levels
from deniable.reproduce.binary.errors import variance
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Printed, Setting, Value

_CASES = ("1", "2", "3", "4")


def theorem_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The best design under ε alone."""
    entry = printed("002-thm2")
    return Content((_kept(entry, warner(entry.inputs["eps"])),))


def theorem_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The best design under (ε, δ)."""
    difference, small = printed("002-eq24"), printed("002-sec6c")
    return Content(
        (difference.against(_exposing(difference) - _even(difference)), small.against(_best(small))),
        notes=(
            "Whoever follows the printed simplification of (24) chooses the other design (erratum 2.1). The design "
            "(1, δ) has the smallest variance below g(ε, δ), but its response 1 proves the attribute: its ε is "
            "infinite, and it is offered only to those who ask for it by name (erratum 2.6).",
        ),
    )


def example_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Four cases."""
    rows = []
    for case in _CASES:
        g, even, exposing = (printed(f"002-ex{case}-{name}") for name in ("g", "sym", "t0"))
        threshold = g.against(exposure_threshold(g.inputs["eps"], g.inputs["delta"]))
        rows.append((case, _asked(even), threshold, even.against(_even(even)), exposing.against(_exposing(exposing))))
    mirror = printed("002-ex3-mirror")
    other = mirror.against(variance(exposing_binary(mirror.inputs["delta"]), mirror.inputs["pi"]))
    values = (*(cell for row in rows for cell in row if isinstance(cell, Value)), other)
    return Content(
        values,
        ("case", "ε, δ, π", "g(ε, δ)", "variance, even design", "variance, exposing design"),
        tuple(rows),
        notes=(
            "In case 3 the variance of the exposing design is 0.29, not 0.143 (erratum 2.2), and the point t = 0 with "
            "a variance of 1.911 is no design; the other corner of the region has 1.89 (erratum 2.3).",
        ),
    )


def figure_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Level sets of g."""
    return Content(
        described=(
            "Contours of g(ε, δ): (a) for ε up to 2 and δ up to 1 on linear axes, (b) for ε up to 1/2 and δ from 10⁻⁶ "
            "to 10⁻¹ on a logarithmic one. A share left of its contour wants the exposing design, right of it the even "
            "one."
        ),
        draw=threshold_levels,
        notes=("A small δ alone does not make the even design best: near ε = 0 even δ = 10⁻⁵ does not (erratum 2.5).",),
    )


def theorem_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The best Warner design under (ε, δ)."""
    entry = printed("002-thm4")
    return Content((_kept(entry, relaxed_warner(entry.inputs["eps"], entry.inputs["delta"])),))


def _kept(entry: Printed, design: Design) -> Value:
    return entry.against(float(design.probability("yes", given="yes")))


def _even(entry: Printed) -> float:
    return variance(relaxed_warner(entry.inputs["eps"], entry.inputs["delta"]), entry.inputs["pi"])


def _exposing(entry: Printed) -> float:
    """Return the variance of the design that exposes the rarer answer."""
    share = entry.inputs["pi"]
    return variance(exposing_binary(entry.inputs["delta"], telling="yes" if share <= 0.5 else "no"), share)


def _best(entry: Printed) -> str:
    chosen = optimal_binary(entry.inputs["eps"], entry.inputs["delta"], share=entry.inputs["pi"], expose=True).chosen
    return "exposing" if chosen.exposes else "even"


def _asked(entry: Printed) -> str:
    return ", ".join(f"{entry.inputs[name]:.4g}" for name in ("eps", "delta", "pi"))


OPTIMA = (
    Exhibit("binary", "theorem", "2", "The best design under ε alone", theorem_2),
    Exhibit("binary", "theorem", "3", "The best design under (ε, δ)", theorem_3),
    Exhibit("binary", "example", "1", "Four cases of Theorem 3", example_1),
    Exhibit("binary", "figure", "2", "Where the exposing design has the smaller variance", figure_2, weight=1),
    Exhibit("binary", "theorem", "4", "The best Warner design under (ε, δ)", theorem_4),
)
