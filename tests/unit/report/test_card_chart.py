from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.report import save
from deniable.report.regions import card_chart


def test_the_curves_cross_where_the_band_ends(tmp_path: Path) -> None:
    figure = card_chart(100, 0.5, 0.1)
    axes = figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    curve = next(
        line for label, line in lines.items() if label.startswith("cards dealt")
    )
    shares, dealt = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    warner = np.asarray(lines["Warner's design"].get_ydata())[0]
    assert warner == pytest.approx(
        plan.variance(dn.warner(0.5), 100, population="census")
    )
    low, high = plan.crossing(100, 0.5, 0.1)
    assert ((dealt > warner) == ((shares > low) & (shares < high))).all()
    assert f"{low:.3f} … {high:.3f}" in axes.get_legend().get_texts()[0].get_text()
    assert "the printed deck (34, 10, 56)" in lines
    assert "dealt cards have no ε" in axes.get_title(loc="left")
    assert save(figure, tmp_path / "cards.png").stat().st_size > 10_000


def test_a_deck_that_cannot_be_printed_is_told() -> None:
    labels = [line.get_label() for line in card_chart(9, 0.5, 0.36).axes[0].lines]
    assert "(no deck of whole cards keeps this ε)" in labels
    assert not any(label.startswith("the printed deck") for label in labels)
