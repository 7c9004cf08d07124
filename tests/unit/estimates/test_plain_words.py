"""What a newcomer types: results that print as tables, messages that name what was wrong, values that can be kept."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import InvalidAnswer, InvalidRequest, UnreadableFile

DESIGN = dn.warner(epsilon=1)
TALLY = dn.tally(DESIGN, {"no": 60, "yes": 40})
FOUND = dn.estimate(TALLY)
BOTH = dn.product({"drug": DESIGN, "vote": dn.k_ary(["a", "b", "c"], epsilon=1)})
PAIRS = dn.respond_all(
    BOTH, [{"drug": "yes", "vote": "a"}, {"drug": "no", "vote": "c"}] * 30
)
SENT = dn.respond_all(DESIGN, ["yes", "no"] * 30)
FRAME = pd.DataFrame({"drug": ["yes", "no"] * 30, "vote": ["a", "b"] * 30})


def test_a_printed_result_is_its_summary_and_its_repr_is_short() -> None:
    assert str(FOUND) == str(FOUND.summary())
    assert (
        repr(FOUND)
        == f"Estimate({DESIGN!r}; 100 respondents; no = 0.7164, yes = 0.2836)"
    )
    measure = dn.cross_table(PAIRS).odds_ratio(columns=("a", "b"))
    assert str(measure) == str(measure.summary())
    assert len(repr(measure)) < 120


def test_a_tally_prints_as_a_table_and_is_a_frame() -> None:
    assert "yes" in str(TALLY)
    assert "40.0%" in str(TALLY)
    frame = TALLY.to_frame()
    assert dict(zip(frame["response"], frame["count"], strict=True)) == {
        "no": 60,
        "yes": 40,
    }
    groups = dn.tally(SENT, by=["n", "s"] * 30)
    assert repr(groups) == f"GroupedTally({DESIGN!r}, 2 groups, 60 respondents)"
    assert list(groups.to_frame()["group"]) == ["n", "s"]


def test_frames_of_groups_and_tables_have_what_their_names_are_joined_from() -> None:
    groups = dn.estimate(SENT, by=["n", "s"] * 30).to_frame()
    assert list(zip(groups["group"], groups["category"], strict=True)) == [
        ("n", "no"),
        ("n", "yes"),
        ("s", "no"),
        ("s", "yes"),
    ]
    table = dn.cross_table(PAIRS).to_frame()
    assert list(table.index) == [
        f"{row} · {column}"
        for row, column in zip(table["drug"], table["vote"], strict=True)
    ]


def test_an_interval_prints_short_and_takes_a_format() -> None:
    found = dn.Interval(0.067574462889676, 0.4739672715686716)
    assert str(found) == f"{found}" == "0.06757 … 0.474"
    assert f"{found:.1%}" == "6.8% … 47.4%"


def test_contrasts_are_kept_and_samples_are_compared() -> None:
    contrast = FOUND.contrast({"yes": 1, "no": -1})
    for each in (contrast, contrast - contrast):
        assert pickle.loads(pickle.dumps(each)).interval() == each.interval()
    assert dn.Sampling([1, 2, 3]) == dn.Sampling(np.array([1, 2, 3]))
    assert dn.Sampling([1, 2, 3]) != dn.Sampling([1, 2, 4])
    assert dn.Sampling([1, 2, 3], strata=["a", "a", "b"]) != dn.Sampling([1, 2, 3])


def test_responses_by_groups_are_estimated_at_once() -> None:
    groups = ["n", "s"] * 30
    assert dn.estimate(SENT, by=groups) == dn.estimate(dn.tally(SENT, by=groups))


def test_responses_to_a_product_make_a_table() -> None:
    assert dn.cross_table(PAIRS, rows="vote", columns="drug") == dn.cross_table(
        dn.tally(PAIRS), rows="vote", columns="drug"
    )


def test_what_statsmodels_calls_alpha_is_told() -> None:
    for given in ((0.1,), ()):
        with pytest.raises(
            InvalidRequest,
            match=r"(?s)expected level=.*level=0\.9, which is alpha=0\.1",
        ):
            FOUND.conf_int(*given, **({} if given else {"alpha": 0.1}))  # type: ignore[arg-type, call-arg]


def test_messages_name_what_was_wrong() -> None:
    table = dn.cross_table(PAIRS)
    with pytest.raises(
        InvalidRequest, match="a table was given in place of a column"
    ):
        dn.cross_table(FRAME, rows="drug", columns="vote")  # type: ignore[call-overload]
    with pytest.raises(
        InvalidRequest, match="a design was given without what was sent"
    ):
        dn.cross_table(DESIGN, FRAME["vote"])  # type: ignore[call-overload]
    with pytest.raises(
        InvalidRequest,
        match=r"rows= is a str; expected two answers, such as \('no', 'yes'\)",
    ):
        table.odds_ratio(rows="yes")  # type: ignore[arg-type]
    with pytest.raises(
        InvalidRequest, match="there are 3 columns; expected which two"
    ):
        table.odds_ratio()
    with pytest.raises(
        InvalidAnswer, match="the answers are a table of 2 columns"
    ) as refused:
        dn.respond_all(DESIGN, FRAME)
    assert "struct" not in str(refused.value)
    with pytest.raises(InvalidRequest, match="the design is a str"):
        dn.regress("drug ~ 1", FRAME, design="d1")  # type: ignore[arg-type]
    with pytest.raises(
        InvalidRequest, match=r"expected method or population or guess or inverse\.$"
    ):
        dn.estimate(SENT, fdr=0.1)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="data= is an int"):
        dn.Sampling("w", data=3)
    with pytest.raises(InvalidRequest, match="domain is a str"):
        dn.estimate(SENT, sampling=dn.Sampling(np.ones(60)), domain="x")
    with pytest.raises(UnreadableFile, match="looks like the name of a file"):
        dn.Design.from_json("d.json")
