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
    column = np.where(asked == "RR", design.symbols[1], np.where(np.arange(SIZE) % 3, "no", "yes"))
    return dn.estimate(dn.Responses.of(devices, column, devices=asked), sampling=SAMPLE, by=asked)


def regression(design: dn.Design) -> Any:
    symbols = [design.symbols[code] for code in np.random.default_rng(2).integers(2, size=SIZE)]
    return dn.regress("q ~ x", pd.DataFrame({"q": symbols, "x": np.arange(SIZE) % 2}), design=design)


RESULTS: dict[str, Callable[[dn.Design], Any]] = {
    "plain": lambda design: dn.estimate(dn.tally(sent(design))),
    "sampled": lambda design: dn.estimate(sent(design), sampling=SAMPLE),
    "sampled groups": lambda design: dn.estimate(sent(design), sampling=SAMPLE, by=REGIONS),
    "pairs of a sample": lambda design: dn.estimate(sent(design), sampling=SAMPLE, by=REGIONS).pairwise(),
    "devices": mixed,
    "ladder": lambda design: dn.estimate(dn.respond_all(dn.ladder([design]), ["no"] * SIZE), sampling=SAMPLE),
    "several devices": lambda design: dn.estimate([dn.tally(sent(design)), dn.Tally(dn.direct(), [150, 50])]),
    "stages": lambda design: dn.estimate(dn.tally(dn.respond_all(dn.ladder([design]), ["no"] * SIZE))),
    "groups": lambda design: dn.estimate(dn.tally(sent(design), by=REGIONS)),
    "weighted": lambda design: dn.estimate(dn.tally(sent(design), weights=SAMPLE.weights)),
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
    assert any("its ε is infinite" in note for note in RESULTS[kind](ONE_SIDED).summary().notes)


def test_the_title_of_groups_names_the_device_and_its_epsilon() -> None:
    title = RESULTS["groups"](CROSSWISE).summary().title
    assert title == "3 groups, crosswise, ε = 1.099, 600 respondents, by inverting the device's probabilities"


def test_differences_of_a_sample_tell_nothing_of_columns_that_they_do_not_have() -> None:
    notes = " ".join(RESULTS["pairs of a sample"](CROSSWISE).summary().notes)
    assert "Degrees of freedom: " in notes
    assert "all groups are alike" in notes
    assert "Design effect" not in notes
    assert "The device adds" not in notes


def test_the_design_effect_of_groups_is_told_of_as_many_people_as_they_have() -> None:
    (told,) = (note for note in RESULTS["sampled groups"](CROSSWISE).summary().notes if "Design effect" in note)
    assert "as many people of the group" in told
    assert "600" not in told
