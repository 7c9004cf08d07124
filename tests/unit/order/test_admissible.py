from __future__ import annotations

from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Dense, Diagonal
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest
from deniable.order.admissibility import (
    MAX_RESPONSES,
    SHOWN_FLAWS,
    admissible,
    raise_parity,
    repair,
    split_row,
)

THREE_VALUES = [["1/2", "1/4", "2/5"], ["1/2", "3/4", "3/5"]]


def test_every_flaw_is_told_with_the_symbol_and_what_is_wrong() -> None:
    design = dn.matrix(
        [
            ["2/8", "1/8", "1/8"],
            ["2/8", "3/8", "4/8"],
            ["2/8", "2/8", "2/8"],
            ["2/8", "2/8", "1/8"],
        ],
        symbols=["a", "b", "c", "d"],
    )
    verdict = admissible(design, 2)
    assert not verdict
    assert [(flaw.response, flaw.parity, flaw.values) for flaw in verdict.flaws] == [
        (1, 2, 3),
        (2, 1, 1),
    ]
    text = str(verdict)
    assert "not admissible at γ = 2" in text
    assert "response 'b': 3 different probabilities; expected 2 (C2)" in text
    assert "response 'c': parity 1; expected exactly γ (C1)" in text
    assert "'a'" not in text


def test_a_channel_without_labels_is_told_by_number() -> None:
    assert "response 0:" in str(admissible(dn.matrix(THREE_VALUES).channel))


def test_responses_that_say_the_same_are_named() -> None:
    halves = dn.matrix([["1/3", "1/6"], ["1/3", "1/6"], ["1/3", "2/3"]])
    assert admissible(halves)
    assert admissible(halves).groups == ((0, 1),)


def test_a_long_list_of_flaws_is_cut() -> None:
    size = SHOWN_FLAWS + 5
    rows = [
        [Fraction(30 + i + j * (i % 7 + 1), 5000) for j in range(3)]
        for i in range(size)
    ]
    rows.append([1 - sum(row[j] for row in rows) for j in range(3)])
    text = str(admissible(Dense.from_rows(rows), 1000))
    assert "… and 6 more." in text


def test_a_million_categories_are_judged_at_once() -> None:
    assert admissible(dn.k_ary(1_000_000, epsilon=1))
    assert admissible(dn.hadamard(1_000_000, epsilon=1))
    assert admissible(dn.subset(100_000, epsilon=1))
    assert not admissible(Diagonal(1000, 1, 1), 2)


def test_too_large_a_table_is_refused() -> None:
    with pytest.raises(InvalidDesign, match="10 million"):
        admissible(
            dn.product(
                {"one": dn.k_ary(80, epsilon=1), "other": dn.k_ary(80, epsilon=1)}
            )
        )


def test_gamma_is_read_with_care() -> None:
    open_design = dn.matrix([["1/2", 1], ["1/2", 0]])
    with pytest.raises(InvalidDesign, match="infinite parity"):
        admissible(open_design)
    assert not admissible(open_design, 5)
    with pytest.raises(InvalidNumber, match="at least 1"):
        admissible(dn.warner(1), "1/2")


def test_what_cannot_be_repaired_is_refused() -> None:
    with pytest.raises(InvalidDesign, match="above γ = 3/2"):
        repair(dn.matrix(THREE_VALUES), "3/2")
    with pytest.raises(InvalidDesign, match="γ is 1"):
        repair(Dense.from_rows([[Fraction(1, 2)] * 3] * 2))
    with pytest.raises(InvalidRequest, match="nested, independent"):
        repair(dn.matrix(THREE_VALUES), split="random")
    with pytest.raises(InvalidDesign, match="cannot be split"):
        split_row([Fraction(1), Fraction(1)])


def test_a_row_is_not_raised_with_the_help_of_itself_or_its_twin() -> None:
    twins = dn.matrix(
        [["1/4", "1/5", "1/4"], ["1/4", "1/5", "1/4"], ["1/2", "3/5", "1/2"]]
    ).channel
    assert isinstance(twins, Dense)
    for partner in (0, 1):
        with pytest.raises(InvalidDesign, match="cannot be raised"):
            raise_parity(twins, 3, 0, partner)
    with pytest.raises(InvalidDesign, match="cannot be raised"):
        raise_parity(twins, "101/100", 0, 2)


def test_the_split_of_the_proof_is_refused_where_it_would_explode() -> None:
    k = 16
    rows = [[Fraction(16 + j, 1000) for j in range(k)]]
    rows.append([1 - cell for cell in rows[0]])
    wide = Dense.from_rows(rows)
    with pytest.raises(InvalidDesign, match=f"at most {MAX_RESPONSES:,}") as caught:
        repair(wide, 2, split="independent")
    assert "nested" in caught.value.hint
    better = repair(wide, 2)
    assert better.garbling.after(better.channel) == wide
    assert better.channel.responses <= 2 * (k - 1)


def test_the_steps_are_told() -> None:
    better = repair(
        dn.matrix(
            [["1/4", "1/8", "1/5"], ["1/4", "3/8", "3/10"], ["1/2", "1/2", "1/2"]]
        ),
        3,
    )
    assert better.steps[0] == "a response that says nothing was left out"
    assert "response 0 was raised to parity γ" in better.steps
    assert any("split" in step for step in better.steps)
