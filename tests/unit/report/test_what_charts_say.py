"""What the axes and titles of pictures say, and on which scale numbers are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn

DESIGN = dn.warner(p="4/5")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    age, south = rng.normal(45, 15, 800).round(), rng.integers(0, 2, 800)
    held = rng.random(800) < 1 / (1 + np.exp(2 - 0.03 * age - 0.5 * south))
    said = np.where(rng.random(800) < 0.8, held, ~held)
    return pd.DataFrame(
        {
            "age": age,
            "region": np.where(south, "south", "north"),
            "said": np.where(said, "yes", "no"),
        }
    )


def test_an_odds_ratio_is_drawn_around_one_on_a_scale_of_factors() -> None:
    both = dn.cross_table(
        dn.respond_all(DESIGN, ["no", "yes"] * 400),
        dn.respond_all(DESIGN, ["no", "yes"] * 400),
    )
    axes = both.odds_ratio().plot().axes[0]
    assert axes.get_xscale() == "log"
    assert any(list(line.get_xdata()) == [1, 1] for line in axes.lines)


def test_a_regression_leaves_its_intercept_out_and_gives_each_magnitude_a_panel(
    people: pd.DataFrame,
) -> None:
    fit = dn.regress("said ~ age + C(region)", people, design=DESIGN)
    figure = fit.plot()
    drawn = [
        label.get_text() for axes in figure.axes for label in axes.get_yticklabels()
    ]
    assert drawn == ["age", "C(region)[T.south]"]
    assert len(figure.axes) == 2
    assert "without the intercept; each panel has a scale of its own" in figure.axes[
        0
    ].get_title(loc="left")
    effects = fit.effects().plot()
    assert effects.axes[-1].get_xlabel().startswith("change in share")
    assert effects.axes[-1].xaxis.get_major_formatter()(0.05) == "5%"


def test_axes_say_whose_share_it_is_and_what_stands_beside_it(
    people: pd.DataFrame,
) -> None:
    sent = dn.respond_all(DESIGN, list(people.said))
    sampled = dn.estimate(sent, sampling=dn.Sampling(np.arange(1, 801) % 3 + 1))
    assert (
        sampled.plot().axes[0].get_xlabel()
        == "share of the population, with 95% intervals"
    )
    posterior = dn.posterior(dn.tally(sent)).plot()
    assert (
        posterior.axes[0].get_xlabel()
        == "share of respondents, with 95% credible intervals"
    )
    assert "prior" in [text.get_text() for text in posterior.legends[0].get_texts()]


def test_a_tally_by_groups_shows_what_was_sent_in_each(people: pd.DataFrame) -> None:
    figure = dn.tally(DESIGN, list(people.said), by=list(people.region)).plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "no",
        "yes",
    ]
    assert len(figure.axes[0].patches) == 4


def test_titles_are_words_and_of_the_largest_it_is_told_what_their_intervals_are() -> (
    None
):
    assert (
        dn.k_ary(["A", "B", "C"], epsilon=2).plot().get_suptitle()
        == "k-ary, for A, B or C, ε = 2"
    )
    many = dn.estimate(dn.Tally(dn.k_ary(60, epsilon=5), np.arange(60) + 10))
    assert "each interval holds by itself" in many.plot().axes[0].get_title(
        loc="left"
    )
    assert (
        dn.plan.how_many(DESIGN, share=0.1, width=0.1).plot().axes[0].get_ylabel()
        == "expected share"
    )
