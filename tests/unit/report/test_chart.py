"""The picture of an estimate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.report import chart, save


def test_a_picture_shows_every_category_and_is_written(tmp_path: Path) -> None:
    design = dn.k_ary(["never", "once", "often"], epsilon=2)
    estimate = dn.estimate(dn.Tally(design, [150, 90, 60]))
    figure = chart(estimate, truth={"never": 0.6, "once": 0.3, "often": 0.1})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["never", "once", "often"]
    marks = {line.get_label(): line.get_xdata() for line in axes.lines if not line.get_label().startswith("_")}
    assert marks["estimate"][0] == pytest.approx(estimate.value[0])
    assert marks["truth"][0] == pytest.approx(0.6)
    for ending in ("png", "svg"):
        assert save(figure, tmp_path / f"estimate.{ending}").stat().st_size > 2_000


def test_of_more_categories_than_can_be_told_apart_the_largest_are_drawn() -> None:
    design = dn.k_ary(100, epsilon=5)
    axes = chart(dn.estimate(dn.Tally(design, np.arange(50, 150)))).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [str(each) for each in range(99, 59, -1)]
    assert "the 40 largest of 100" in axes.get_title(loc="left")


def test_a_summary_is_drawn_and_other_things_are_refused() -> None:
    found = dn.estimate(dn.Tally(dn.warner(1), [60, 40]))
    assert chart(found.summary()).axes[0].get_xlabel() == "share of respondents, with 95% intervals"
    with pytest.raises(InvalidRequest, match="no picture of a Tally"):
        chart(found.tally)  # type: ignore[arg-type]
