from __future__ import annotations

import numpy as np
import pytest

from deniable.designs import k_ary, product, warner
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.estimates import cross_table, estimate
from deniable.tallies import Tally, marginal

THREE = product(
    {
        "smokes": warner(p="3/4"),
        "age": k_ary(["young", "old", "very old"], p="1/2"),
        "votes": warner(2),
    }
)
COUNTS = Tally(THREE, [40, 31, 12, 28, 15, 30, 22, 18, 9, 14, 26, 35])


def test_a_cross_table_shows_two_attributes_with_their_margins() -> None:
    counted = marginal(COUNTS, "age", "smokes")
    found = cross_table(estimate(counted))
    assert (found.rows, found.columns) == ("age", "smokes")
    assert (found.row_labels, found.column_labels) == (
        ("young", "old", "very old"),
        ("no", "yes"),
    )
    assert found.shares.shape == found.errors.shape == (3, 2)
    for attribute, totals, errors in (
        ("age", found.row_totals, found.row_errors),
        ("smokes", found.column_totals, found.column_errors),
    ):
        alone = estimate(marginal(COUNTS, attribute))
        assert np.allclose(totals, alone.value, rtol=1e-12)
        assert np.allclose(errors, alone.errors, rtol=1e-9)


def test_cells_are_named_by_row_and_column() -> None:
    found = cross_table(estimate(marginal(COUNTS, "smokes", "age")))
    whole = found.estimate.cov_params()
    assert found.covariance(("yes", "old"), ("no", "young")) == pytest.approx(
        whole[4, 0], rel=1e-9
    )
    assert found.covariance(("yes", "old"), ("yes", "old")) == pytest.approx(
        found.errors[1, 1] ** 2, rel=1e-9
    )
    with pytest.raises(InvalidAnswer):
        found.covariance(("old", "yes"), ("no", "young"))


def test_the_text_lines_up_and_names_both_attributes() -> None:
    lines = str(
        cross_table(estimate(marginal(COUNTS, "smokes", "age")))
    ).splitlines()
    assert lines[0].split() == [
        "smokes",
        "by",
        "age",
        "young",
        "old",
        "very",
        "old",
        "all",
    ]
    assert [line.split()[0] for line in lines[1:]] == [
        "no",
        "yes",
        "all",
        "280",
        "Test",
        "Cramér's",
    ]
    assert lines[-1].startswith("Cramér's V, less what noise adds: ")
    assert len({len(line) for line in lines[:3]}) == 1


def test_a_named_step_is_carried_into_the_table() -> None:
    unbiased = estimate(
        Tally(product({"a": warner(1), "b": warner(1)}), [40, 20, 20, 4])
    )
    assert (unbiased.value < 0).any()
    found = cross_table(unbiased.projected())
    assert found.shares.min() >= 0
    assert found.row_totals.sum() == pytest.approx(1)


def test_other_numbers_of_attributes_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="of 3 attributes; expected 2"):
        cross_table(estimate(COUNTS))
    with pytest.raises(InvalidRequest, match="of 1 attributes"):
        cross_table(estimate(marginal(COUNTS, "age")))
