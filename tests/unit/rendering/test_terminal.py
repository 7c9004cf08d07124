"""The shell prints the tables that everything else prints."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from rich.console import Console

from deniable.cli.demo import truth_sheet
from deniable.designs import k_ary, matrix, unary, warner
from deniable.estimates import estimate
from deniable.estimates.formats import sheet
from deniable.rendering import MAX_ROWS, Sheet
from deniable.rendering.terminal import to_rich
from deniable.tallies import Tally, tally
from deniable.tallies.counts import Declared


def printed(table: Sheet) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(to_rich(table.shortened(MAX_ROWS)))
    return out.getvalue()


def test_an_estimate_is_a_row_for_each_category() -> None:
    summary = estimate(Tally(warner(p="3/4"), np.array([600, 400]))).summary(
        level=0.9
    )
    text = printed(sheet(summary, percent=True))
    assert "90% interval" in text
    for row in summary.rows:
        assert f"{row.estimate:.1%}" in text
        assert f"{100 * row.low:.1f} … {100 * row.high:.1f}%" in text


def test_against_the_truth_each_interval_holds_it_or_not() -> None:
    summary = estimate(Tally(warner(p="3/4"), np.array([600, 400]))).summary()
    text = printed(truth_sheet(summary, {"no": 0.7, "yes": 0.01}))
    no, yes = (
        line
        for line in text.splitlines()
        if line.strip().startswith(("no ", "yes "))
    )
    assert "70.0%" in no
    assert "yes" in no.split()
    assert "1.0%" in yes
    assert "no" in yes.split()


def test_of_many_categories_the_largest_are_shown() -> None:
    design = k_ary(1000, epsilon=5)
    counts = np.ones(1000, int)
    counts[777] = 500
    text = printed(sheet(estimate(Tally(design, counts)).summary(), percent=True))
    assert "The largest 40 of 1,000." in text
    first = (
        next(
            number for number, line in enumerate(text.splitlines()) if "───" in line
        )
        + 1
    )
    assert text.splitlines()[first].split()[0] == "777"
    assert len(text.splitlines()) < 60


def test_a_channel_has_a_row_and_a_factor_for_each_response() -> None:
    design = matrix(
        [["1/2", "1/4"], ["1/2", "3/4"]], categories=["a", "b"], symbols=["x", "y"]
    )
    text = printed(design._sheet())
    assert [line.split() for line in text.splitlines() if "%" in line] == [
        ["x", "50.0%", "25.0%", "2"],
        ["y", "50.0%", "75.0%", "1.5"],
    ]


def test_a_tally_says_what_was_not_sent() -> None:
    counted = Tally(warner(p="3/4"), np.array([600, 400]), missing=12)
    text = printed(counted._sheet())
    assert "1,000 responses" in text
    assert "60.0%" in text
    assert "12 sent nothing and are not counted." in counted._sheet().notes
    assert "The largest 40 of 50." in printed(
        Tally.empty(k_ary(50, epsilon=1))._sheet()
    )


def test_sets_that_are_counted_by_size_are_shown_by_category() -> None:
    design = unary([f"drink {number}" for number in range(13)], 1)
    assert design.channel.cells == 14 * 14
    sent = ["b1000000000001", "b0000000000000", "b1000000000000", "b1111111111111"]
    counted = tally(design, [response[:14] for response in sent])
    lines = [line.split() for line in printed(counted._sheet()).splitlines()]
    assert ["holds", "drink", "0", "3", "75.0%"] in lines
    assert ["holds", "drink", "12", "2", "50.0%"] in lines
    assert "cell " not in str(counted)
    assert "holds drink 12      2  50.0%" in str(counted)


def test_what_was_collected_elsewhere_says_what_was_not_counted() -> None:
    declared = Declared(1020, 8, (("don't know", 3), ("refused", 9)))
    counted = Tally(
        warner(p="3/4"), np.array([600, 400]), missing=12, declared=declared
    )
    notes = " ".join(counted._sheet().notes)
    assert "12 sent nothing" in notes
    assert "'refused' 9" in notes
    assert "8 rows hold a value that is not a response of this design" in notes


def test_labels_are_printed_as_they_are() -> None:
    design = k_ary(["[bold]x[/bold]", "[/]"], epsilon=1)
    counted = Tally(design, np.array([5, 5]))
    for table in (
        counted._sheet(),
        replace(design._sheet(), title=""),
        sheet(estimate(counted).summary()),
    ):
        assert "[bold]x[/bold]" in printed(table)
        assert "[/]" in printed(table)


def test_a_total_is_set_apart() -> None:
    table = Sheet(
        "ledger", ("question", "spent"), (("one", "1"), ("all together", "1"))
    )
    out = io.StringIO()
    Console(file=out, width=60).print(to_rich(table, has_total=True))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    rows = [line.split()[0] if line else "" for line in lines]
    assert rows.index("all") == rows.index("one") + 2
