"""The table of named designs is what the designs say, and agrees with the sheet it is checked against."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import pytest

from deniable.designs import FAMILIES
from tests.exact.test_named_designs import WALKS
from tests.support import survey_designs

PAGE = Path(__file__).parents[2] / "docs" / "survey-designs.md"


def test_the_page_is_what_the_command_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == survey_designs.page(), inspect.getdoc(
        survey_designs
    )


def test_every_named_design_is_in_it() -> None:
    assert {name for name, _ in survey_designs.EXAMPLES} == set(WALKS)


MULTIPLIERS = {
    "warner": [15.58],
    "disguised": [5.94],
    "crosswise": [9.33, 4.47],
    "mangat_singh": [6.48],
    "forced_response": [4.47, 3.62],
    "simmons": [3.89, 3.70, 10.51],
    "mangat_unrelated": [3.58],
    "singh_joarder": [14.17],
    "triangular": [4.33],
    "mangat": [6.00],
    "devore": [5.29],
    "hard_garbling": [5.29],
    "mangat_singh_singh": [3.50],
    "christofides": [12.11],
    "kuk": [5.94, 3.47],
}
"""Section A2 of the survey sheet."""


@pytest.mark.parametrize("name", MULTIPLIERS)
def test_costs_are_those_of_the_sheet(name: str) -> None:
    designs = [
        FAMILIES[each].build(**settings)
        for each, settings in survey_designs.EXAMPLES
        if each == name
    ]
    found = [survey_designs.cost(design) for design in designs]
    assert [each.by_mean for each in found] == pytest.approx(
        MULTIPLIERS[name], abs=0.006
    )
    for each, design in zip(found, designs, strict=True):
        assert each.epsilon == design.epsilon
        assert each.multiplier <= each.by_mean * (1 + 1e-12)
        assert (0 in each.factors) == (each.epsilon == math.inf)
        mean = sum(
            p * (0.9 * a + 0.1 * b)
            for p, (a, b) in zip(
                each.posteriors, design.channel.floats(), strict=True
            )
        )
        # posteriors average out to what was believed before
        assert float(mean) == pytest.approx(0.1)
