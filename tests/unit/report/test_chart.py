"""The picture of an estimate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.rendering import _BLUE
from deniable.rendering.pictures import DARK, GRID, INK, PALE
from deniable.report import chart, forest, save


def test_a_picture_shows_every_category_and_is_written(tmp_path: Path) -> None:
    design = dn.k_ary(["never", "once", "often"], epsilon=2)
    estimate = dn.estimate(dn.Tally(design, [150, 90, 60]))
    figure = chart(estimate, truth={"never": 0.6, "once": 0.3, "often": 0.1})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "never",
        "once",
        "often",
    ]
    marks = {
        line.get_label(): line.get_xdata()
        for line in axes.lines
        if not line.get_label().startswith("_")
    }
    assert marks["estimate"][0] == pytest.approx(estimate.value[0])
    assert marks["truth"][0] == pytest.approx(0.6)
    for ending in ("png", "svg"):
        assert save(figure, tmp_path / f"estimate.{ending}").stat().st_size > 2_000


def test_of_more_categories_than_can_be_told_apart_the_largest_are_drawn() -> None:
    design = dn.k_ary(100, epsilon=5)
    axes = chart(dn.estimate(dn.Tally(design, np.arange(50, 150)))).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        str(each) for each in range(99, 59, -1)
    ]
    assert "the 40 largest of 100" in axes.get_title(loc="left")


def test_a_summary_is_drawn_and_other_things_are_refused() -> None:
    found = dn.estimate(dn.Tally(dn.warner(1), [60, 40]))
    assert (
        chart(found.summary()).axes[0].get_xlabel()
        == "share of respondents, with 95% intervals"
    )
    with pytest.raises(InvalidRequest, match="no picture of a Tally"):
        chart(found.tally)  # type: ignore[arg-type]


def test_several_results_stand_on_one_scale() -> None:
    design = dn.k_ary(["never", "once", "often"], epsilon=2)
    counted = {"men": [90, 60, 50], "women": [70, 70, 60]}
    groups = {
        name: dn.estimate(dn.Tally(design, counts))
        for name, counts in counted.items()
    }
    axes = forest(groups, level=0.9).axes[0]
    assert [each.get_text() for each in axes.get_yticklabels()] == [
        "never",
        "once",
        "often",
    ]
    assert "90% intervals" in axes.get_xlabel()
    lines = [
        line.get_xdata()
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_ydata()[0] != 0.5
    ]
    ends = [
        tuple(groups[group].conf_int(level=0.9)[name])
        for name in design.categories
        for group in groups
    ]
    assert [tuple(line) for line in lines[: len(ends)]] == ends
    alone = forest(groups, "often", title="Often", dark=True).axes[0]
    assert [each.get_text() for each in alone.get_yticklabels()] == ["men", "women"]
    assert alone.get_title(loc="left") == "Often"


def test_a_forest_of_nothing_or_of_different_things_is_refused() -> None:
    shares = dn.estimate(dn.Tally(dn.warner(1), [60, 40]))
    with pytest.raises(InvalidRequest, match="one quantity"):
        forest({})
    with pytest.raises(
        InvalidRequest, match="several results by name; there is one Estimate"
    ):
        forest(shares)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="not estimated in any"):
        forest({"all": shares}, "perhaps")
    with pytest.raises(InvalidRequest, match="no picture of a Tally"):
        forest({"all": shares.tally})  # type: ignore[dict-item]


def test_every_colour_is_seen_on_light_and_on_dark() -> None:
    """Words stand out by 4.5 from their ground, lines and dots by 3 (WCAG 2.2, 1.4.3 and 1.4.11)."""
    for color, on_dark in DARK.items():
        if color in ("#ffffff", GRID, PALE):  # grounds, and what lies under the rest
            continue
        least = 4.5 if color in ("#000000", INK) else 3.0
        assert contrast(color, "#ffffff") >= least
        assert contrast(on_dark, DARK["#ffffff"]) >= least
    assert contrast(_BLUE, "#ffffff") >= 3
    assert contrast(_BLUE, "#111111") >= 3


def contrast(one: str, two: str) -> float:
    def luminance(color: str) -> float:
        parts = [
            each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
            for each in to_rgb(color)
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)
