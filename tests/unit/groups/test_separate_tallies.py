from __future__ import annotations

import json
from typing import Any

import pytest

import deniable as dn
from deniable import documents
from deniable.errors import (
    IncompatibleTallies,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.groups.separate import SeparateTallies, TallyKey

DESIGN = dn.warner(p="3/4")
OTHER = dn.crosswise("1/4")


def counted(no: int, yes: int, *, rows: int = 0) -> dn.Tally:
    return dn.Tally(
        DESIGN,
        [no, yes],
        declared=dn.Declared(rows, reasons=(("refused", rows),)) if rows else None,
    )


def apart(**columns: Any) -> SeparateTallies:
    return SeparateTallies({TallyKey(name): each for name, each in columns.items()})


def groups(by: str = "region", **counts: dn.Tally) -> dn.GroupedTally:
    return dn.GroupedTally(DESIGN, counts, by=(by,))


def test_they_add_up_in_any_order_column_by_column() -> None:
    one, two, three = (
        apart(q=counted(1, 2), r=counted(3, 4)),
        apart(r=counted(5, 6)),
        apart(s=counted(7, 8, rows=20)),
    )
    assert one + two == two + one
    assert (one + two) + three == one + (two + three) == sum([one, two, three])
    assert hash(one + two) == hash(two + one)
    assert (one + two)["r"].counts.tolist() == [8, 10]
    assert (one + three)["s"] == counted(7, 8, rows=20)
    assert one != two
    north, south = (
        apart(q=groups(N=counted(1, 2))),
        apart(q=groups(N=counted(1, 1), S=counted(3, 4))),
    )
    assert (north + south)["q"] == groups(N=counted(2, 3), S=counted(3, 4))


def test_tallies_of_several_columns_and_devices() -> None:
    both = SeparateTallies(
        {
            TallyKey("second"): counted(1, 1),
            TallyKey("first", "DQ"): counted(5, 6),
            TallyKey("first", "CM"): dn.Tally(OTHER, [3, 4]),
        },
    )
    assert both.columns == ("second", "first")
    assert both["second"] == counted(1, 1)
    assert both["first"] == [dn.Tally(OTHER, [3, 4]), counted(5, 6)]
    assert SeparateTallies.from_json(both.to_json(), [DESIGN, OTHER]) == both
    with pytest.raises(IncompatibleTallies, match="belongs to the design"):
        SeparateTallies.from_json(both.to_json(), [DESIGN])
    with pytest.raises(InvalidRequest, match="expected one of 'second', 'first'"):
        both["third"]
    with pytest.raises(
        InvalidRequest, match="SeparateTallies; expected a tally"
    ) as refused:
        dn.estimate(both)  # type: ignore[call-overload]
    assert "tallies[column]" in refused.value.hint


def test_groups_that_were_asked_with_several_devices() -> None:
    other = dn.GroupedTally(OTHER, {"N": dn.Tally(OTHER, [3, 4])}, by=("region",))
    both = SeparateTallies(
        {
            TallyKey("q", "DQ"): groups(N=counted(5, 6), S=counted(1, 1)),
            TallyKey("q", "CM"): other,
        }
    )
    assert both["q"] == {
        "N": [dn.Tally(OTHER, [3, 4]), counted(5, 6)],
        "S": [counted(1, 1)],
    }
    assert SeparateTallies.from_json(both.to_json(), [DESIGN, OTHER]) == both


def test_a_column_of_any_type() -> None:
    ladder, numbers = (
        dn.ladder([dn.warner(1), dn.warner(2)]),
        dn.number_design(0, 9, 1),
    )
    both = apart(
        steps=dn.tally(dn.respond_all(ladder, ["yes", "no"])),
        age=dn.tally(numbers, [1, 2, None], codes=True),
    )
    assert SeparateTallies.from_json(both.to_json(), [numbers, ladder]) == both
    alone = apart(steps=both["steps"])
    assert SeparateTallies.from_json(alone.to_json(), ladder) == alone, (
        "a ladder is one design, though it has several"
    )


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(IncompatibleTallies, match="of 'q' one tally is by groups"):
        apart(q=groups(N=counted(1, 2))) + apart(q=counted(1, 2))
    with pytest.raises(IncompatibleTallies, match="by 'region' to groups by 'sex'"):
        apart(q=groups(N=counted(1, 2))) + apart(q=groups("sex", f=counted(1, 2)))
    for other in (TallyKey("q"), TallyKey("q", "CM")):
        with pytest.raises(
            InvalidRequest, match="the tallies of 'q' do not fit together"
        ):
            SeparateTallies(
                {TallyKey("q", "DQ"): groups(N=counted(1, 2)), other: counted(1, 2)}
            )
    with pytest.raises(TypeError):
        apart(q=counted(1, 2)) + counted(1, 2)  # type: ignore[operator]


def test_what_was_edited_is_refused() -> None:
    text = apart(q=groups(N=counted(1, 2))).to_json()
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        SeparateTallies.from_json(text.replace('"N"', '"S"'), DESIGN)
    body = documents.unseal(SeparateTallies.SCHEMA, text)
    (row,) = body["tallies"]
    plain = {"column": "q", "device": None, "tally": counted(1, 2).to_body()}
    for wrong in (
        [1],
        [row, row],
        [{**row, "device": 1}],
        [{**row, "device": "DQ"}, plain],
        [{**plain, "tally": []}],
    ):
        with pytest.raises(UnreadableFile):
            SeparateTallies.from_json(
                documents.seal(SeparateTallies.SCHEMA, {"tallies": wrong}), DESIGN
            )


def test_a_declaration_is_sealed_adds_up_and_is_told() -> None:
    one, plain = counted(60, 40, rows=101), counted(10, 10)
    assert "declared" not in json.loads(plain.to_json()), (
        "what names its design is written as it always was"
    )
    assert (one + plain).declared == one.declared
    assert (one + one).declared == dn.Declared(202, 0, (("refused", 202),))
    assert one != counted(60, 40)
    told = str(dn.estimate(one + plain).summary())
    assert (
        "The design was named by the person who counted: the file of these 101 rows does not say which"
        in told
    )
    assert "'refused' 101" in told
    assert "declared" not in str(dn.estimate(plain).summary())
    both = [one, dn.Tally(OTHER, [50, 50], declared=dn.Declared(101, 1))]
    assert "the file of these 202 rows does not say which" in str(
        dn.estimate(both).summary()
    )
    edited = one.to_json().replace('"rows": 101', '"rows": 1')
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        dn.Tally.from_json(edited, DESIGN)
    with pytest.raises(InvalidResponse, match="expected 0 or more"):
        dn.Declared(-1)


def test_a_declaration_stays_with_the_margins() -> None:
    both = dn.product({"a": DESIGN, "b": DESIGN})
    tally = dn.Tally(both, [1, 2, 3, 4], declared=dn.Declared(10))
    assert dn.estimate(tally).tally.declared == dn.Declared(10)
    from deniable.tallies import marginal

    assert marginal(tally, "a").declared == dn.Declared(10)
