from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.path import Path as Border

from deniable import exact
from deniable.errors import InvalidRequest
from deniable.report import save
from deniable.report.regions import outline, rr3_omega, rr3_region
from tests.support.three_answers import feasible


@pytest.mark.parametrize(
    ("family", "q"),
    [("rr3_dagger", None), ("rr3_ddagger", None), ("rr3_club", "3/5")],
)
@pytest.mark.parametrize("epsilon", [0.6, 1.2, 3])
def test_the_outline_encloses_exactly_what_keeps_to_epsilon(
    family: str, q: str | None, epsilon: float
) -> None:
    gamma = exact.exp_below(epsilon)
    border = Border(outline(family, gamma, q=q))
    inside = 0
    for p1, p2 in np.random.default_rng(6).random((400, 2)):
        point = (
            (Fraction(p1), Fraction(p2))
            if q is None
            else (Fraction(p1), Fraction(p2), Fraction(q))
        )
        drawn = {
            bool(border.contains_point((p1, p2), radius=radius))
            for radius in (-2e-3, 2e-3)
        }
        # not on the line itself, which is drawn from forty pieces
        if len(drawn) == 1:
            assert drawn == {feasible(family, *point, gamma=gamma)}
        inside += feasible(family, *point, gamma=gamma)
    assert inside > 5


def test_pictures_are_drawn_and_saved(tmp_path: Path) -> None:
    figures = [
        rr3_region(),
        rr3_region("rr3_ddagger", epsilons=[1]),
        rr3_region("rr3_club", q=0.75),
        rr3_omega(1),
        rr3_omega("1/2"),
    ]
    for number, figure in enumerate(figures):
        assert save(figure, tmp_path / f"{number}.png").stat().st_size > 10_000
    assert [axes.get_title(loc="left") for axes in figures[3].axes] == [
        "(a) p1 < p2, ε = 1",
        "(b) p2 < p1, ε = 1",
    ]
    assert "q = 0.75" in figures[2].axes[0].get_title(loc="left")


def test_an_empty_cut_is_told() -> None:
    # q = 3/4 alone has the ratio 3, above e^0.5
    figure = rr3_region("rr3_club", q="3/4", epsilons=("1/2", 2))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "ε = 2",
        "ε = 0.5, nothing at this q",
    ]


def test_a_cut_is_asked_for_where_there_are_three_parameters() -> None:
    with pytest.raises(InvalidRequest, match="expected a q"):
        rr3_region("rr3_club")
    with pytest.raises(InvalidRequest, match="no parameter q"):
        rr3_region("rr3_dagger", q="1/2")
    with pytest.raises(InvalidRequest, match="expected one of"):
        rr3_region("rr4")
