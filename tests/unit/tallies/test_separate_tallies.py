from __future__ import annotations

import json

import pytest

import deniable as dn
from deniable import documents
from deniable.errors import IncompatibleTallies, InvalidRequest, InvalidResponse, UnreadableFile
from deniable.tallies.separate import SeparateTallies, TallyKey

DESIGN = dn.warner(p="3/4")
OTHER = dn.crosswise("1/4")


def counted(no: int, yes: int, *, rows: int = 0) -> dn.Tally:
    return dn.Tally(DESIGN, [no, yes], declared=dn.Declared(rows, reasons=(("refused", rows),)) if rows else None)


def apart(**groups: dn.Tally) -> SeparateTallies:
    return SeparateTallies.of_groups("q", ["region"], groups)


def test_they_add_up_in_any_order_and_group_by_group() -> None:
    one, two, three = apart(N=counted(1, 2), S=counted(3, 4)), apart(S=counted(5, 6)), apart(W=counted(7, 8, rows=20))
    assert one + two == two + one
    assert (one + two) + three == one + (two + three) == sum([one, two, three])
    assert hash(one + two) == hash(two + one)
    assert {name: each.counts.tolist() for name, each in (one + two).groups().items()} == {"N": [1, 2], "S": [8, 10]}
    assert (one + three).together() == counted(11, 14, rows=20)
    assert one != two


def test_tallies_of_several_columns_and_devices() -> None:
    both = SeparateTallies(
        (),
        {
            TallyKey("second"): counted(1, 1),
            TallyKey("first", device="CM"): dn.Tally(OTHER, [3, 4]),
            TallyKey("first", device="DQ"): counted(5, 6),
        },
    )
    assert both.columns == ("second", "first")
    assert both.together("second") == counted(1, 1)
    assert both.together("first") == [dn.Tally(OTHER, [3, 4]), counted(5, 6)] == both.groups("first")[()]
    assert SeparateTallies.from_json(both.to_json(), [DESIGN, OTHER]) == both
    with pytest.raises(IncompatibleTallies, match="belongs to the design"):
        SeparateTallies.from_json(both.to_json(), [DESIGN])
    for column in (None, "third"):
        with pytest.raises(InvalidRequest, match="expected one of 'second', 'first'"):
            both.groups(column)
    with pytest.raises(InvalidRequest, match=r"\.groups\(column\)"):
        dn.estimate(both)


def test_other_groups_are_refused() -> None:
    with pytest.raises(IncompatibleTallies, match="by 'region' to those by nothing"):
        apart(N=counted(1, 2)) + SeparateTallies((), {TallyKey("q"): counted(1, 2)})
    with pytest.raises(InvalidRequest, match="a group has 2 values"):
        SeparateTallies(("region",), {TallyKey("q", ("N", "S")): counted(1, 2)})
    with pytest.raises(TypeError):
        apart(N=counted(1, 2)) + counted(1, 2)


def test_what_was_edited_is_refused() -> None:
    text = apart(N=counted(1, 2)).to_json()
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        SeparateTallies.from_json(text.replace('"N"', '"S"'), DESIGN)
    body = documents.unseal(SeparateTallies.SCHEMA, text)
    for name, wrong in (("tallies", [1]), ("tallies", [{**body["tallies"][0], "group": [1]}]), ("by", [])):
        with pytest.raises(UnreadableFile):
            SeparateTallies.from_json(documents.seal(SeparateTallies.SCHEMA, {**body, name: wrong}), DESIGN)


def test_a_declaration_is_sealed_adds_up_and_is_told() -> None:
    one, plain = counted(60, 40, rows=101), counted(10, 10)
    assert "declared" not in json.loads(plain.to_json()), "what names its design is written as it always was"
    assert (one + plain).declared == one.declared
    assert (one + one).declared == dn.Declared(202, 0, (("refused", 202),))
    assert one != counted(60, 40)
    told = str(dn.estimate(one + plain).summary())
    assert "The design was declared by whoever counted: the file of these 101 rows does not name it." in told
    assert "'refused' 101" in told
    assert "declared" not in str(dn.estimate(plain).summary())
    both = [one, dn.Tally(OTHER, [50, 50], declared=dn.Declared(101, 1))]
    assert "the file of these 202 rows does not name it" in str(dn.estimate(both).summary())
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
