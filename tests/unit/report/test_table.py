from __future__ import annotations

import io

import numpy as np
from rich.console import Console
from rich.table import Table

from deniable.designs import k_ary, matrix, unary, warner
from deniable.estimates import estimate
from deniable.report import tables as table
from deniable.tallies import Tally, tally
from deniable.tallies.counts import Declared


def shown(what: Table | None) -> str:
    assert what is not None
    out = io.StringIO()
    Console(file=out, width=100).print(what)
    return out.getvalue()


def test_an_estimate_is_a_row_for_each_category() -> None:
    made = estimate(Tally(warner(p="3/4"), np.array([600, 400])))
    text = shown(table.summary_table(made.summary(level=0.9)))
    assert "90% interval" in text
    for row in made.summary(level=0.9).rows:
        assert f"{row.estimate:.1%}" in text
        assert f"{100 * row.low:.1f} … {100 * row.high:.1f}%" in text


def test_against_the_truth_each_interval_holds_it_or_not() -> None:
    made = estimate(Tally(warner(p="3/4"), np.array([600, 400])))
    text = shown(table.summary_table(made.summary(), truth={"no": 0.7, "yes": 0.01}))
    no, yes = (line for line in text.splitlines() if line.strip().startswith(("no ", "yes ")))
    assert "70.0%" in no
    assert "yes" in no.split()
    assert "1.0%" in yes
    assert "no" in yes.split()


def test_of_many_categories_the_largest_are_shown() -> None:
    design = k_ary(1000, epsilon=5)
    counts = np.ones(1000, int)
    counts[777] = 500
    text = shown(table.summary_table(estimate(Tally(design, counts)).summary()))
    assert "the 40 largest of 1,000 shares" in text
    first = next(at for at, line in enumerate(text.splitlines()) if "───" in line) + 1
    assert text.splitlines()[first].split()[0] == "777"
    assert len(text.splitlines()) < 60


def test_a_channel_has_a_row_for_each_answer_and_a_factor_for_each_response() -> None:
    text = shown(
        table.channel_table(matrix([["1/2", "1/4"], ["1/2", "3/4"]], categories=["a", "b"], symbols=["x", "y"]))
    )
    assert [line.split() for line in text.splitlines() if "%" in line] == [
        ["a", "50.0%", "50.0%"],
        ["b", "25.0%", "75.0%"],
    ]
    assert text.split("at most by")[1].split() == ["2", "1.5"]
    assert table.channel_table(k_ary(13, epsilon=1)) is None


def test_a_tally_tells_what_was_not_sent() -> None:
    text = shown(table.tally_table(Tally(warner(p="3/4"), np.array([600, 400]), missing=12)))
    assert "1,000 responses" in text
    assert "60.0%" in text
    assert text.split("nothing sent")[1].split()[0] == "12"
    assert "more" in shown(table.tally_table(Tally.empty(k_ary(50, epsilon=1))))


def test_sets_that_are_counted_by_size_are_shown_by_category() -> None:
    design = unary([f"drink {number}" for number in range(13)], 1)
    assert design.channel.cells == 14 * 14
    sent = ["b1000000000001", "b0000000000000", "b1000000000000", "b1111111111111"]
    text = shown(table.tally_table(tally(design, [each[:14] for each in sent])))
    told = [line.split() for line in text.splitlines()]
    assert ["holds", "drink", "0", "3", "75.0%"] in told
    assert ["holds", "drink", "12", "2", "50.0%"] in told
    assert "cell " not in text


def test_what_was_collected_elsewhere_tells_what_was_not_counted() -> None:
    declared = Declared(1020, 8, (("don't know", 3), ("refused", 9)))
    text = shown(table.tally_table(Tally(warner(p="3/4"), np.array([600, 400]), missing=12, declared=declared)))
    told = [line.split() for line in text.splitlines()]
    assert ["nothing", "sent", "12"] in told
    assert ["of", "these:", "refused", "9"] in told
    assert ["not", "a", "response", "of", "this", "design", "8"] in told


def test_labels_are_printed_as_they_are() -> None:
    design = k_ary(["[bold]x[/bold]", "[/]"], epsilon=1)
    counted = Tally(design, np.array([5, 5]))
    for made in (
        table.tally_table(counted),
        table.channel_table(design),
        table.summary_table(estimate(counted).summary()),
    ):
        assert "[bold]x[/bold]" in shown(made)
        assert "[/]" in shown(made)
