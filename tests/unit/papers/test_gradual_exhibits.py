from __future__ import annotations

import pytest

from deniable.attacks import VOTES
from deniable_papers.gradual import NOISY, Experiment, first, second
from tests.support.reproduced import made


@pytest.mark.parametrize("experiment", [first(), second()], ids=["6.1", "6.2"])
def test_two_attacks_attain_the_bound_and_two_do_not(experiment: Experiment) -> None:
    rates = experiment.rates
    last, likely, often, weighted = (rates[each] for each in VOTES)
    assert last == likely == pytest.approx(float(rates.bound))
    assert min(often, weighted) > float(rates.bound) + 0.005


@pytest.mark.parametrize("number", [1, 2, 3])
def test_tables_have_the_layout_of_the_document(number: int) -> None:
    content = made("gradual")[f"gradual-table-{number}"]
    assert [row[0] for row in content.rows] == list(range(3, 11))
    assert {len(row) for row in content.rows} == {len(content.columns)} == {5}
    assert len(content.values) == 32


def test_the_experiments_are_those_of_the_document() -> None:
    one, two = first(), second()
    assert (one.objects, one.counts[1], len(one.stages)) == (1000, 600, 10)
    assert one.stages.epsilon == pytest.approx(NOISY.epsilon(10))
    assert (two.objects, two.stages.epsilon) == (1500, 1.0)
    assert two.stages.epsilons == pytest.approx([i / 10 for i in range(1, 11)])


def test_beliefs_from_all_responses_are_those_from_the_last() -> None:
    rows = made("gradual")["gradual-theorem-4.1"].rows
    assert len(rows) == 9
    assert {row[-1] for row in rows} == {"yes"}
    assert all(sum(row[2:5]) == pytest.approx(1) for row in rows)
