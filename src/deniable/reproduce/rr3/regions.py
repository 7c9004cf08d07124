"""Figure 2: the two parts of the region of RR3†."""

from __future__ import annotations

from deniable.design import rr3_dagger
from deniable.report import rr3_omega
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Setting


def figure_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Ω†(1), where p1 < p2, and Ω†(2), where p2 < p1."""
    entry = printed("000-omega1")
    design = rr3_dagger(entry.inputs["p1"], entry.inputs["p2"])
    return Content(
        (entry.against(design.epsilon),),
        described=(
            "Two panels in the (p1, p2) plane, one for each part of the region above 1/3: (a) Ω†(1), above the "
            "diagonal, and (b) Ω†(2), below it. Neither holds the diagonal itself."
        ),
        draw=lambda: rr3_omega(entry.inputs["eps"]),
        notes=(
            "The condition printed for panel (a) lets in the hatched triangle, whose designs have a larger ε than is "
            "promised (erratum 0.8). The document prints no ε for the figure; ours is 1.",
        ),
    )


REGIONS = (Exhibit("rr3", "figure", "2", "The two parts of the region of RR3†", figure_2),)
