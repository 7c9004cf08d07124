"""Groups are counted apart, row by row, from whatever holds the rows; and they travel as one document."""

from __future__ import annotations

import json
import pickle
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable import documents
from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.tallies.group_labels import group_name

DESIGN = dn.warner(1)
SENT = ["yes", "no", None, "yes", "no"]
REGIONS = ["south", "north", "south", None, "north"]


def columns(rows: list[Any]) -> list[Any]:
    return [
        rows,
        tuple(rows),
        np.array(rows, object),
        pd.Series(rows),
        pl.Series(rows),
        pa.array(rows),
    ]


@pytest.mark.parametrize(
    "by", columns(REGIONS), ids=lambda each: type(each).__module__
)
@pytest.mark.parametrize(
    "sent", columns(SENT), ids=lambda each: type(each).__module__
)
def test_any_column_goes_with_any_other(sent: Any, by: Any) -> None:
    found = dn.tally(DESIGN, sent, by=by)
    assert list(found) == ["north", "south", None]
    assert found["north"] == dn.tally(DESIGN, ["no", "no"])
    assert found["south"] == dn.tally(DESIGN, ["yes", None])
    assert found[None] == dn.tally(DESIGN, ["yes"])
    assert found.overall == dn.tally(DESIGN, SENT)
    assert (found.respondents, found.missing, len(found), "south" in found) == (
        4,
        1,
        3,
        True,
    )


def test_categories_keep_their_order_and_several_columns_make_tuples() -> None:
    ages = pd.Series(
        pd.Categorical(
            ["old", "young", "old"], categories=["young", "middle", "old"]
        )
    )
    assert list(dn.tally(DESIGN, ["yes", "no", "no"], by=ages)) == ["young", "old"]
    levels = pl.Series(
        ["old", "young", "old"], dtype=pl.Enum(["young", "middle", "old"])
    )
    assert list(dn.tally(DESIGN, ["yes", "no", "no"], by=levels)) == ["young", "old"]
    frame = pd.DataFrame({"region": ["n", "s", "n"], "year": [2021, 2020, 2020]})
    expected = [("n", 2020), ("n", 2021), ("s", 2020)]
    for by in (
        frame,
        pl.from_pandas(frame),
        {name: frame[name].to_numpy() for name in frame},
    ):
        assert list(dn.tally(DESIGN, ["yes", "no", "no"], by=by)) == expected
    assert group_name(expected[0]) == "n · 2020"
    days = dn.tally(DESIGN, ["yes", "no"], by=[date(2026, 1, 2), float("nan")])
    assert list(days) == ["2026-01-02", None]


@pytest.mark.parametrize(
    ("design", "answers"),
    [
        (dn.k_ary(3, 1), ["0", "1", None, "2"]),
        (dn.unary(3, 1), ["0", "1", None, "2"]),
        (dn.ladder([dn.warner(1), dn.warner(2)]), ["yes", "no", None, "yes"]),
        (dn.number_design(0, 10, 1), [1, 2.5, None, 10]),
        (dn.lpp_club(["tea", "milk"], 1), [{"tea": 0.5}, {}, None, {"milk": 1}]),
        (dn.string_design(dn.Bloom(8, cohorts=2), 1), ["a", "b", None, "c"]),
        (
            dn.drawn_items([dn.warner(1), dn.warner(1)]),
            [("yes", "no"), ("no", "no"), None, ("yes", "yes")],
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_type_of_design_has_groups(design: Any, answers: list[Any]) -> None:
    if design.asks == "drawn items":
        answers = [
            None if each is None else dict(zip(design.attributes, each, strict=True))
            for each in answers
        ]
    sent = dn.respond_all(design, answers)
    found = dn.tally(sent, by=["a", "b", "a", "a"])
    assert found.overall == dn.tally(sent)
    assert (found["a"].respondents, found["a"].missing, found["b"].respondents) == (
        2,
        1,
        1,
    )
    assert (
        dn.GroupedTally.from_json(found.to_json(), design)
        == found
        == pickle.loads(pickle.dumps(found))
    )
    assert type(found["a"]) is type(dn.tally(sent))


def test_stages_that_were_reached_go_with_their_rows() -> None:
    steps = dn.ladder([dn.warner(1), dn.warner(2)])
    sent = dn.respond_all(steps, ["yes"] * 4)
    found = dn.tally(sent, by=[1, 2, 1, 2], reached=[1, 2, 1, 2])
    assert [
        [each.respondents for each in found[group].finest] for group in (1, 2)
    ] == [
        [2, 0],
        [0, 2],
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["yes", "no", None]),
            st.sampled_from(["a", "b", 3, None]),
        ),
        max_size=20,
    ),
    st.integers(0, 20),
)
def test_any_cut_of_the_rows_gives_the_same_groups(
    rows: list[tuple[Any, Any]], cut: int
) -> None:
    def counted(part: list[tuple[Any, Any]]) -> dn.GroupedTally:
        return dn.tally(
            DESIGN, [each for each, _ in part], by=[group for _, group in part]
        )

    one, two = counted(rows[:cut]), counted(rows[cut:])
    assert one + two == counted(rows) == two + one
    assert hash(one + two) == hash(two + one)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidResponse, match=r"index 2|row 3"):
        dn.tally(DESIGN, ["yes", "no", "perhaps"], by=["a", "a", "b"])
    with pytest.raises(Incompatible, match="3 responses and 2 groups"):
        dn.tally(DESIGN, ["yes", "no", "no"], by=["a", "a"])
    with pytest.raises(InvalidRequest, match="by is a str"):
        dn.tally(DESIGN, ["yes", "no"], by="region")
    with pytest.raises(InvalidRequest, match="a row for each respondent"):
        dn.tally(DESIGN, {"yes": 3}, by=["a"])
    with pytest.raises(InvalidRequest, match="dealt to all"):
        dn.tally(dn.Deck((1, 1, 2), people=4), ["1", "2", "1"], by=["a"] * 3)
    with pytest.raises(InvalidRequest, match="several devices and groups"):
        dn.tally({"x": DESIGN}, ["yes"], devices=["x"], by=["a"])  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="no group 'c'"):
        dn.tally(DESIGN, ["yes"], by=["a"])["c"]
    with pytest.raises(IncompatibleTallies, match="one design for all"):
        dn.GroupedTally(DESIGN, {"a": dn.tally(dn.warner(2), ["yes"])})


def test_a_file_with_two_groups_of_one_name_is_refused() -> None:
    body = dn.tally(DESIGN, ["yes", "no"], by=["a", "b"]).to_body()
    body["groups"][1]["group"] = "a"
    with pytest.raises(UnreadableFile, match="one name"):
        dn.GroupedTally.from_json(documents.seal("grouped-tally", body), DESIGN)
    body["groups"][1]["group"] = {"name": "b"}
    with pytest.raises(UnreadableFile, match="has no name"):
        dn.GroupedTally.from_json(documents.seal("grouped-tally", body), DESIGN)
    assert (
        json.loads(dn.tally(DESIGN, ["yes"], by=["a"]).to_json())["schema"]
        == "deniable/grouped-tally/1"
    )


def test_the_columns_that_groups_are_made_by_are_kept() -> None:
    sent, frame = ["yes", "no"], pd.DataFrame({"region": ["N", "S"], "year": [1, 2]})
    named: dict[str, tuple[Any, tuple[str, ...]]] = {
        "a list": (["N", "S"], ()),
        "a column": (frame["region"], ("region",)),
        "of Polars": (pl.Series("region", ["N", "S"]), ("region",)),
        "a frame": (frame, ("region", "year")),
        "a mapping": ({"region": ["N", "S"], "year": [1, 2]}, ("region", "year")),
        "of Arrow": (
            pa.table({"region": ["N", "S"], "year": [1, 2]}),
            ("region", "year"),
        ),
    }
    for by, expected in named.values():
        found = dn.tally(DESIGN, sent, by=by)
        assert found.by == expected
        assert (
            dn.GroupedTally.from_json(found.to_json(), DESIGN)
            == found
            == pickle.loads(pickle.dumps(found))
        )
        assert (
            (found + found).by
            == (found + dn.GroupedTally.empty(DESIGN)).by
            == expected
        )
    region, plain = (
        dn.tally(DESIGN, sent, by=frame["region"]),
        dn.tally(DESIGN, sent, by=["N", "S"]),
    )
    assert (plain + region).by == (region + plain).by == ("region",), (
        "who does not say contradicts nobody"
    )
    with pytest.raises(IncompatibleTallies, match="by 'region' to groups by 'year'"):
        region + dn.tally(DESIGN, sent, by=frame["year"])
    with pytest.raises(
        InvalidRequest, match="expected one for each of 'region', 'year'"
    ):
        dn.GroupedTally(DESIGN, region.groups, by=("region", "year"))
    body = {**region.to_body(), "by": ["region", "year"]}
    with pytest.raises(
        UnreadableFile, match="expected one for each of 'region', 'year'"
    ):
        dn.GroupedTally.from_json(documents.seal("grouped-tally", body), DESIGN)
