from __future__ import annotations

import pytest

from deniable.estimates import Row
from deniable.report.result_texts import about


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (0.123, 0.09, 0.15, "About 12% answer “yes”: between 9% and 15%."),
        (
            0.1234,
            0.1211,
            0.1257,
            "About 12.3% answer “yes”: between 12.1% and 12.6%.",
        ),
        (
            0.12347,
            0.1232,
            0.1238,
            "About 12.35% answer “yes”: between 12.32% and 12.38%.",
        ),
        (0.03, -0.01, 0.07, "About 3% answer “yes”: at most 7%."),
        (-0.02, -0.06, 0.02, "Hardly anybody answers “yes”: at most 2%."),
        (1.01, 0.96, 1.05, "Nearly everybody answers “yes”: at least 96%."),
        (0.98, 0.93, 1.02, "About 98% answer “yes”: at least 93%."),
        (
            0.53,
            -0.56,
            1.63,
            "The data cannot decide how many answer “yes”: any share from 0% to 100% would fit them.",
        ),
        (
            -0.2,
            -0.6,
            0.38,
            "At most 38% answer “yes”. The raw estimate lies below 0%.",
        ),
        (
            1.09,
            1.01,
            1.13,
            "How many answer “yes” could not be estimated. The whole interval lies above 100%, which is not possible: "
            "look at the responses.",
        ),
        (0.004, 0.0001, 0.06, "About 0.4% answer “yes”: between 0% and 6%."),
    ],
)
def test_a_share_in_words(value: float, low: float, high: float, told: str) -> None:
    assert about(Row("yes", value, 0.02, low, high)) == told


def test_a_label_takes_the_place_of_the_category() -> None:
    assert "“Ja”" in about(Row("yes", 0.5, 0.1, 0.4, 0.6), "Ja")
