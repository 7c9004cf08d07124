"""What every summary says about the device, whoever the numbers are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable as dn

SIZE = 600
REGIONS = np.repeat(["north", "south", "west"], SIZE // 3)
SAMPLE = dn.Sampling(np.tile([1.0, 2.0], SIZE // 2), clusters=np.arange(SIZE) // 10)
CROSSWISE = dn.crosswise("1/4")
ONE_SIDED = dn.binary("1/2", 1)


def sent(design: dn.Design, seed: int = 1) -> Any:
    codes = np.random.default_rng(seed).integers(2, size=SIZE)
    return dn.Responses.of(design, np.array(design.symbols)[codes])


def mixed(design: dn.Design) -> Any:
    devices = {"RR": design, "DQ": dn.direct()}
    asked = np.where(np.arange(SIZE) % 2, "RR", "DQ")
    column = np.where(
        asked == "RR", design.symbols[1], np.where(np.arange(SIZE) % 3, "no", "yes")
    )
    return dn.estimate(
        dn.Responses.of(devices, column, devices=asked), sampling=SAMPLE, by=asked
    )


def regression(design: dn.Design) -> Any:
    symbols = [
        design.symbols[code]
        for code in np.random.default_rng(2).integers(2, size=SIZE)
    ]
    return dn.regress(
        "q ~ x",
        pd.DataFrame({"q": symbols, "x": np.arange(SIZE) % 2}),
        design=design,
    )


RESULTS: dict[str, Callable[[dn.Design], Any]] = {
    "plain": lambda design: dn.estimate(dn.tally(sent(design))),
    "sampled": lambda design: dn.estimate(sent(design), sampling=SAMPLE),
    "sampled groups": lambda design: dn.estimate(
        sent(design), sampling=SAMPLE, by=REGIONS
    ),
    "pairs of a sample": lambda design: dn.estimate(
        sent(design), sampling=SAMPLE, by=REGIONS
    ).pairwise(),
    "devices": mixed,
    "ladder": lambda design: dn.estimate(
        dn.respond_all(dn.ladder([design]), ["no"] * SIZE), sampling=SAMPLE
    ),
    "several devices": lambda design: dn.estimate(
        [dn.tally(sent(design)), dn.Tally(dn.direct(), [150, 50])]
    ),
    "stages": lambda design: dn.estimate(
        dn.tally(dn.respond_all(dn.ladder([design]), ["no"] * SIZE))
    ),
    "groups": lambda design: dn.estimate(dn.tally(sent(design), by=REGIONS)),
    "weighted": lambda design: dn.estimate(
        dn.tally(sent(design), weights=SAMPLE.weights)
    ),
    "posterior": lambda design: dn.posterior(dn.tally(sent(design))),
    "regression": regression,
}


@pytest.mark.filterwarnings("ignore::deniable.errors.ImplausibleResponses")
@pytest.mark.parametrize("kind", RESULTS)
def test_every_summary_says_what_the_promise_rests_on(kind: str) -> None:
    assert CROSSWISE.caveat in RESULTS[kind](CROSSWISE).summary().notes


@pytest.mark.filterwarnings("ignore::deniable.errors.ImplausibleResponses")
@pytest.mark.parametrize("kind", RESULTS)
def test_every_summary_says_what_a_response_proves(kind: str) -> None:
    assert any(
        "its ε is infinite" in note
        for note in RESULTS[kind](ONE_SIDED).summary().notes
    )


def test_the_title_of_groups_names_the_device_and_its_epsilon() -> None:
    title = RESULTS["groups"](CROSSWISE).summary().title
    assert (
        title
        == "3 groups, crosswise, ε = 1.099, 600 respondents, by inverting the device's probabilities"
    )


def test_differences_of_a_sample_tell_nothing_of_columns_that_they_do_not_have() -> (
    None
):
    notes = " ".join(RESULTS["pairs of a sample"](CROSSWISE).summary().notes)
    assert "Degrees of freedom: " in notes
    assert "all groups are alike" in notes
    assert "Design effect" not in notes
    assert "The device adds" not in notes


def test_the_design_effect_of_groups_is_told_of_as_many_people_as_they_have() -> (
    None
):
    (told,) = (
        note
        for note in RESULTS["sampled groups"](CROSSWISE).summary().notes
        if "Design effect" in note
    )
    assert "as many people of the group" in told
    assert "600" not in told


def test_shares_of_an_even_sample_have_the_curve_of_the_tally() -> None:
    responses, even = sent(CROSSWISE), dn.Sampling(np.ones(SIZE))
    sampled, counted = (
        dn.estimate(responses, sampling=even),
        dn.estimate(dn.tally(responses)),
    )
    drawn, plain = sampled.sensitivity(), counted.sensitivity()
    assert drawn.breakdown == pytest.approx(plain.breakdown)
    for one, two in zip(drawn.curves, plain.curves, strict=True):
        assert [each.estimate for each in one.points] == pytest.approx(
            [each.estimate for each in two.points]
        )
    (doubt,) = (note for note in counted.summary().notes if "if nobody were" in note)
    assert doubt in sampled.summary().notes
    low, high = sampled.conf_int(level=0.9)["yes"]
    first = sampled.sensitivity("random", level=0.9).curves[0].points[0]
    assert (first.low, first.high) == pytest.approx((low, high))


def test_the_curve_of_a_group_is_that_of_its_people() -> None:
    found = RESULTS["sampled groups"](CROSSWISE)
    alone = dn.estimate(sent(CROSSWISE), sampling=SAMPLE, domain=REGIONS == "south")
    assert (
        found.sensitivity(category="south · no").breakdown
        == alone.sensitivity(category="no").breakdown
    )
    assert found.sensitivity().category == "west · yes"
    assert found.sensitivity(symbol="same").curves[0].kind == "always same"
    with pytest.raises(dn.errors.InvalidRequest, match="'south' was not estimated"):
        found.sensitivity(category="south")


def test_totals_and_several_devices_have_no_curve() -> None:
    for found in (RESULTS["sampled"](CROSSWISE).total, mixed(CROSSWISE)):
        with pytest.raises(dn.errors.InvalidRequest, match="has no curve"):
            found.sensitivity()


def test_people_of_no_group_are_told_and_titles_count_who_is_in_the_table() -> None:
    regions = np.where(np.arange(SIZE) % 6 == 0, None, REGIONS.astype(object))
    responses = sent(CROSSWISE)
    found, counted = (
        dn.estimate(responses, sampling=SAMPLE, by=regions),
        dn.estimate(dn.tally(responses, by=regions)),
    )
    (caution,) = (each for each in found.warnings if each.code == "ungrouped")
    assert caution.text == "100 responses name no group; they are in no comparison."
    assert caution in counted.warnings
    assert "500 of 600 people in 60 clusters" in found.summary().title
    assert caution in type(found).from_json(found.to_json(), CROSSWISE).warnings
    part = dn.estimate(responses, sampling=SAMPLE, domain=np.arange(SIZE) < 200)
    assert part.summary().title.startswith(
        "share, crosswise, ε = 1.099, 200 of 600 people in 60 clusters"
    )
    assert any("that of 200 people drawn" in note for note in part.summary().notes)
    assert not any(each.code == "ungrouped" for each in part.warnings)
    assert (
        "600 people in 60 clusters"
        in dn.estimate(responses, sampling=SAMPLE).summary().title
    )
