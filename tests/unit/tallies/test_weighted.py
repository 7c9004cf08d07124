"""Tallies with weights: sums that add up exactly in any order, read back as they were, in Python and in the shell."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable import documents
from deniable.engines.files import tally_file
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.tallies.weighted import exact_sums
from tests.support.commands import run

DESIGN = dn.k_ary(["never", "once", "often"], epsilon=2)
WEIGHTS = st.floats(0, 1e12, allow_subnormal=False)
ROWS = st.lists(st.tuples(st.sampled_from(DESIGN.symbols), WEIGHTS), max_size=12)


def counted(rows: list[tuple[str, float]]) -> dn.WeightedTally:
    return dn.tally(
        DESIGN, [each for each, _ in rows], weights=[weight for _, weight in rows]
    )


@given(ROWS, ROWS, ROWS)
def test_weighted_tallies_form_a_commutative_monoid(a: Any, b: Any, c: Any) -> None:
    one, two, three = counted(a), counted(b), counted(c)
    assert one + two == two + one
    assert (
        (one + two) + three
        == one + (two + three)
        == counted([*a, *b, *c])
        == sum([one, two, three])
    )
    assert one + dn.WeightedTally.empty(DESIGN) == one


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1e300)), max_size=20))
def test_sums_are_exact(pairs: list[tuple[int, float]]) -> None:
    codes, values = (
        np.array([code for code, _ in pairs], np.int64),
        np.array([value for _, value in pairs]),
    )
    expected = [
        sum((Fraction(value) for code, value in pairs if code == each), Fraction(0))
        for each in range(3)
    ]
    assert list(exact_sums(values, codes, 3)) == expected


def test_the_estimate_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(5)
    rows = dn.Responses(
        DESIGN, {"response": rng.integers(3, size=200).astype(np.uint8)}
    )
    weights = rng.random(200) * 9
    tally = dn.tally(rows, weights=weights)
    found, expected = (
        dn.estimate(tally),
        dn.estimate(rows, sampling=dn.Sampling(weights)),
    )
    for one, two in ((found, expected), (found.total, expected.total)):
        assert one.value == pytest.approx(two.value)
        assert one.cov_params() == pytest.approx(two.cov_params())
        assert one.device == pytest.approx(two.device)
        assert one.simple == pytest.approx(two.simple)
        assert list(one.conf_int().values()) == [
            pytest.approx(each) for each in two.conf_int().values()
        ]
    gaps = dn.Responses(DESIGN, dict(rows.columns), np.arange(200) < 3)
    missing = dn.estimate(dn.tally(DESIGN, gaps, weights=weights))
    assert missing.missing == 3
    with pytest.raises(InvalidRequest, match="there is no total"):
        _ = missing.total  # how many people they stand for is not counted
    numbers = dn.number_design(0, 10, 2)
    sent = dn.Responses(
        numbers,
        {"response": rng.integers(len(numbers.symbols), size=200).astype(np.uint8)},
    )
    assert dn.estimate(dn.tally(sent, weights=weights)).params[
        "mean"
    ] == pytest.approx(
        dn.estimate(sent, sampling=dn.Sampling(weights)).params["mean"]
    )


def test_what_is_wrong_is_refused() -> None:
    for weights, told in (
        ([1, 2], "there are 2 weights; expected 3"),
        ([1, float("nan"), 2], "the weight of row 2 is missing or negative"),
        ([1, -1, 2], "the weight of row 2 is missing or negative"),
        ([1, "a", 2], "not every weight is a number"),
    ):
        with pytest.raises(InvalidResponse, match=told):
            dn.tally(DESIGN, ["never", "once", "often"], weights=weights)
    with pytest.raises(dn.errors.NotEstimable, match="the weight 0"):
        dn.estimate(dn.tally(DESIGN, ["never", "once"], weights=[0, 0]))
    sets = dn.unary([str(each) for each in range(20)], 2)
    with pytest.raises(InvalidRequest, match="keeps sums over sets"):
        dn.tally(dn.respond_all(sets, ["3", "4"]), weights=[1, 2])
    with pytest.raises(InvalidRequest, match="asks for strings"):
        dn.tally(
            dn.respond_all(dn.string_design(dn.Bloom(8, cohorts=2), 1), ["a"]),
            weights=[1],
        )  # type: ignore[call-overload]
    with pytest.raises(Incompatible):
        dn.tally(dn.warner(1), dn.respond_all(DESIGN, ["never"]), weights=[1])
    with pytest.raises(InvalidRequest, match="reached does not go with"):
        dn.tally(DESIGN, ["never"], weights=[1], reached=[1])  # type: ignore[call-overload]
    none = (Fraction(0),) * 3
    with pytest.raises(InvalidResponse, match="nobody sent has weight"):
        dn.WeightedTally(
            DESIGN,
            np.array([0, 1, 0]),
            (Fraction(1), Fraction(2), Fraction(0)),
            none,
        )
    with pytest.raises(InvalidResponse, match="do not fit"):
        dn.WeightedTally(DESIGN, np.array([0, 1, 0]), (Fraction(-1),) * 3, none)


@pytest.mark.parametrize(
    "change",
    [{"weights": ["1", "x", "2"]}, {"weights": ["1/0", "1", "1"]}, {"counts": [1.5, 2, 3]}, {"squares": ["1"]},
     {"missing": -1}],
)  # fmt: skip
def test_an_edited_file_is_refused(change: dict[str, Any]) -> None:
    body = documents.unseal(
        "weighted-tally",
        counted([("never", 1.5), ("once", 2), ("often", 3)]).to_json(),
    )
    with pytest.raises(UnreadableFile):
        dn.WeightedTally.from_json(
            documents.seal("weighted-tally", {**body, **change}), DESIGN
        )


def test_files_hold_weights_beside_responses(tmp_path: Path) -> None:
    labels, weights = ["never", "once", None, "often"] * 5, [1.5, 2, 1, 0.25] * 5
    expected = dn.tally(DESIGN, labels, weights=weights)
    table = {"response": labels, "design": [DESIGN.hash] * 20, "w": weights}
    pq.write_table(pa.table(table), tmp_path / "sent.parquet")
    with (tmp_path / "sent.ndjson").open("w") as out:
        for row in zip(*table.values(), strict=True):
            out.write(json.dumps(dict(zip(table, row, strict=True))) + "\n")
    lines = [
        f"{label or ''},{weight},{DESIGN.hash}"
        for label, weight in zip(labels, weights, strict=True)
    ]
    (tmp_path / "sent.csv").write_text(
        "\n".join(["response,w,design", *lines]) + "\n"
    )
    for name in ("sent.parquet", "sent.ndjson", "sent.csv"):
        assert tally_file(DESIGN, tmp_path / name, weights="w") == expected
        with (tmp_path / name).open("rb") as stream:
            assert tally_file(DESIGN, stream, weights="w") == expected
    with pytest.raises(InvalidRequest, match="no columns called 'weight'"):
        tally_file(DESIGN, tmp_path / "sent.csv", weights="weight")
    (tmp_path / "sent.csv").write_text(
        f"response,w,design\nnever,heavy,{DESIGN.hash}\n"
    )
    with pytest.raises(InvalidResponse, match="a weight in 'w' is no number"):
        tally_file(DESIGN, tmp_path / "sent.csv", weights="w")


def test_the_shell_tallies_with_weights_and_estimates(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    rows = [
        f"{each},{weight},{DESIGN.hash}"
        for each, weight in (("never", 1.5), ("once", 2), ("never", 4)) * 4
    ]
    (tmp_path / "sent.csv").write_text(
        "\n".join(["response,w,design", *rows]) + "\n"
    )
    design, sent, out = (
        str(tmp_path / name) for name in ("design.json", "sent.csv", "tally.json")
    )
    told = run("tally", design, sent, "--weights", "w", "--out", out)
    assert "22" in told.stdout  # the weight of never
    tally = dn.WeightedTally.from_json(Path(out).read_text(), DESIGN)
    assert tally.weights == (22, 8, 0)
    shown = run("estimate", design, out)
    assert "Hájek" in shown.stdout
    twice = run("tally", design, out, out, "--json")
    assert json.loads(twice.stdout)["weights"] == ["44", "16", "0"]
    mixed = run("tally", design, out, sent)
    assert mixed.exit_code == 3
    assert "or with weights, and others are not" in mixed.stderr


def test_weights_do_not_go_with_several_devices() -> None:
    with pytest.raises(dn.errors.InvalidRequest, match="one of the two"):
        dn.tally(
            {"RR": dn.warner(1)}, ["yes", "no"], weights=[1, 2], devices=["RR", "RR"]
        )  # type: ignore[call-overload]


def test_columns_that_were_collected_elsewhere_have_weights(tmp_path: Path) -> None:
    rows = [
        ("1", 2.0),
        ("2", 1.5),
        ("", 1.0),
        ("9", 4.0),
        ("7", 3.0),
        ("2", 0.25),
    ]  # 9: refused; 7: what is that?
    path = tmp_path / "export.csv"
    path.write_text(
        "q3,w\n" + "".join(f"{answer},{weight}\n" for answer, weight in rows)
    )
    design, values = dn.warner(p="3/4"), {"1": "no", "2": "yes"}
    with pytest.warns(dn.errors.UnknownValues, match="'7'"):
        found = dn.tally_column(
            design, path, "q3", weights="w", values=values, missing=["9"]
        )
    assert (found.counts.tolist(), found.missing, found.declared) == (
        [1, 2],
        2,
        dn.Declared(6, 1, (("9", 1),)),
    )
    assert list(map(float, found.weights)) == [2.0, 1.75]
    assert list(map(float, found.squares)) == [4.0, 2.3125]
    assert dn.WeightedTally.from_json(found.to_json(), design) == found
    assert (found + found).declared == dn.Declared(12, 2, (("9", 2),))
    assert found != dn.tally(
        design, ["no", "yes", None, None, "yes"], weights=[2, 1.5, 1, 4, 0.25]
    )  # not declared
    assert (
        "whose design was named by the person who counted"
        in dn.estimate(found).summary().title
    )
    (tmp_path / "design.json").write_text(design.to_json())
    words = (
        "--column",
        "q3",
        "--weights",
        "w",
        "--value",
        "1=no",
        "--value",
        "2=yes",
        "--missing",
        "9",
    )
    told = run(
        "tally",
        tmp_path / "design.json",
        path,
        *words,
        "--out",
        tmp_path / "tally.json",
    )
    assert told.exit_code == 0, told.stderr
    assert "is the one you named" in told.stderr
    assert (
        dn.WeightedTally.from_json((tmp_path / "tally.json").read_text(), design)
        == found
    )
    path.write_text("q3,w\n1,2\n2,\n")
    with pytest.raises(dn.errors.InvalidResponse, match="weight of row 2"):
        dn.tally_column(design, path, "q3", weights="w", values=values)
