"""Pictures of demands and regions: what is drawn is what is true."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.criteria import BetaFactor, Boundaries, Relaxed, RhoToRho
from deniable.designs import (
    exposing_binary,
    exposure_threshold,
    feasible_binary,
    warner,
)
from deniable.errors import InvalidRequest
from deniable.report import breach_region, feasible_region, save, threshold_levels


def labels(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_breach_region_says_which_designs_hold() -> None:
    figure = breach_region(
        RhoToRho(0.1, 0.5), warner(1), warner(3), exposing_binary("1/10")
    )
    assert labels(figure) == [
        "forbidden",
        "the demand in full: γ = 9",
        "warner, ε = 1: holds",
        "warner, ε = 3: fails",
        "exposing_binary, ε = ∞: fails",
    ]
    assert figure.axes[0].get_title("left") == "Forbidden by 0.1-to-0.5 privacy"


def test_the_drawn_border_is_that_of_the_design() -> None:
    figure = breach_region(BetaFactor(4), warner(p="3/4"), title="mine")
    lines = list(figure.axes[0].lines)
    first = [line.get_label() for line in lines].index("warner, ε = 1.099: holds")
    for line, factor in zip(lines[first : first + 2], (1 / 3, 3), strict=True):
        p, q = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert np.allclose(q, factor * p / (1 + (factor - 1) * p))
    assert figure.axes[0].get_title("left") == "mine"


def test_what_is_forbidden_is_shaded() -> None:
    figure = breach_region(
        Boundaries(lower=[(0, 0), (1, 0.5)], upper=[(0, 0.2), (0.5, 0.8), (1, 1)])
    )
    above, below = (
        collection.get_paths()[0] for collection in figure.axes[0].collections[:2]
    )
    assert above.contains_point((0.2, 0.5))
    assert not above.contains_point((0.2, 0.4))
    assert below.contains_point((0.8, 0.38))
    assert not below.contains_point((0.8, 0.42))


def test_pictures_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(
        InvalidRequest, match="expected a criterion with a breach region"
    ):
        breach_region(Relaxed(1, 0.1))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="at most 4"):
        breach_region(BetaFactor(3), *[warner(1)] * 5)


@pytest.mark.parametrize(
    ("delta", "ceiling"), [("0.1", None), ("0.1", 2), (0, None), ("0.4", None)]
)
def test_the_shaded_region_is_what_is_feasible(delta: Any, ceiling: Any) -> None:
    figure = feasible_region("1/2", delta, share="1/4", ceiling=ceiling)
    regions = [patch.get_path() for patch in figure.axes[0].patches]
    assert len(regions) == 2
    wrong = []
    for p00, p11 in product(np.arange(0.013, 1, 0.037), repeat=2):
        inside = any(region.contains_point((p00, p11)) for region in regions)
        allowed = feasible_binary(p00, p11, "1/2", delta) and (
            ceiling is None or feasible_binary(p00, p11, ceiling)
        )
        if inside != allowed:
            wrong.append((p00, p11))
    assert wrong == []


def test_the_best_design_is_marked() -> None:
    assert "best: relaxed_warner, variance 2.372" in labels(
        feasible_region(0.5, 0.1, share=0.25)
    )
    exposing = feasible_region(1, 0.4, share=0.1, expose=True, title="mine")
    assert "best: exposing_binary, variance 0.24" in labels(exposing)
    marks = [line for line in exposing.axes[0].lines if line.get_marker() == "o"]
    assert [
        float(marks[0].get_xdata()[0]),
        float(marks[0].get_ydata()[0]),
    ] == pytest.approx([1, 0.4])


def test_levels_of_the_threshold_are_where_they_say() -> None:
    figure = threshold_levels()
    for axes in figure.axes:
        for note in axes.texts:
            epsilon, delta = note.xy
            share = float(note.get_text().rstrip("%")) / 100
            assert exposure_threshold(float(epsilon), float(delta)) == pytest.approx(
                share, rel=0.03
            )
    assert len(figure.axes[0].texts) == len(figure.axes[1].texts) == 7


def test_pictures_are_saved(tmp_path: Path) -> None:
    path = save(breach_region(BetaFactor(3), warner(1)), tmp_path / "region.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000
