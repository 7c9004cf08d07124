"""Groups of a weighted sample: counted apart, estimated each by itself, compared, from memory, files and the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable import documents
from deniable.engines.files import tally_file
from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from tests.support.commands import done, run

DESIGN = dn.k_ary(["never", "once", "often"], epsilon=2)
LABELS = ["never", "once", None, "often", "once", "once"] * 20
WEIGHTS = [1.5, 2.0, 1.0, 0.25, 3.0, 0.5] * 20
REGIONS = ["north", "south", "south", "north", "north", "south"] * 20


def own(region: str, column: list[Any]) -> list[Any]:
    return [
        each for each, where in zip(column, REGIONS, strict=True) if where == region
    ]


def counted() -> dn.GroupedTally:
    return dn.tally(DESIGN, LABELS, by=REGIONS, weights=WEIGHTS)


def test_each_group_is_what_its_rows_alone_are() -> None:
    found = counted()
    for region in ("north", "south"):
        assert found[region] == dn.tally(
            DESIGN, own(region, LABELS), weights=own(region, WEIGHTS)
        )
    assert found.weighted
    assert found.overall == dn.tally(DESIGN, LABELS, weights=WEIGHTS)
    assert (found.respondents, found.missing) == (100, 20)
    assert (
        dn.tally(dn.Responses.of(DESIGN, LABELS), by=REGIONS, weights=WEIGHTS)
        == found
    )
    frame = pd.DataFrame(
        {"said": LABELS, "region": REGIONS, "w": WEIGHTS}, index=range(7, 127)
    )
    assert (
        dn.tally(
            DESIGN, frame["said"], by=frame["region"], weights=frame["w"]
        ).groups
        == found.groups
    )
    assert found + dn.GroupedTally.empty(DESIGN) == found
    assert (found + found)["north"] == found["north"] + found["north"]


def test_they_are_read_back_and_never_mixed_with_others() -> None:
    found = counted()
    assert dn.GroupedTally.from_json(found.to_json(), DESIGN) == found
    plain = dn.tally(DESIGN, LABELS, by=REGIONS)
    assert not plain.weighted
    for mix in (lambda: found + plain, lambda: plain + found):
        with pytest.raises(
            IncompatibleTallies, match="some groups are counted with weights"
        ):
            mix()
    with pytest.raises(
        IncompatibleTallies, match="some groups are counted with weights"
    ):
        dn.GroupedTally(DESIGN, {"north": found["north"], "south": plain["south"]})
    body = documents.unseal("grouped-tally", found.to_json())
    body["groups"][0] = documents.unseal("grouped-tally", plain.to_json())["groups"][
        0
    ]
    with pytest.raises(UnreadableFile, match="some groups have weights"):
        dn.GroupedTally.from_json(documents.seal("grouped-tally", body), DESIGN)


def test_what_is_wrong_is_named_as_it_stands_in_the_column() -> None:
    with pytest.raises(
        InvalidResponse, match="the weight of row 5 is missing or negative"
    ):
        dn.tally(
            DESIGN, LABELS, by=REGIONS, weights=[*WEIGHTS[:4], -1, *WEIGHTS[5:]]
        )
    with pytest.raises(Incompatible, match="3 rows beside them"):
        dn.tally(DESIGN, LABELS, by=REGIONS, weights=[1, 2, 3])
    stages = dn.ladder([dn.warner(1), dn.warner(2)])
    with pytest.raises(InvalidRequest, match="asks for ladder"):
        dn.tally(
            dn.respond_all(stages, ["yes", "no"]), by=["a", "b"], weights=[1, 2]
        )
    with pytest.raises(InvalidRequest, match="reached does not go with"):
        dn.tally(DESIGN, LABELS, by=REGIONS, weights=WEIGHTS, reached=[1] * 120)


def test_each_group_is_estimated_with_its_weights_and_compared() -> None:
    found = dn.estimate(counted())
    alone = {region: dn.estimate(counted()[region]) for region in ("north", "south")}
    for region, each in alone.items():
        assert found[region].params == each.params
        assert found[region].bse == each.bse
        assert {
            name: found.params[f"{region} · {name}"] for name in each.params
        } == each.params
    apart = found.pairwise()
    for name in ("never", "once", "often"):
        north, south = alone["north"], alone["south"]
        assert apart.params[f"north − south · {name}"] == pytest.approx(
            north.params[name] - south.params[name]
        )
        assert apart.bse[f"north − south · {name}"] == pytest.approx(
            np.hypot(north.bse[name], south.bse[name])
        )
    assert str(found.homogeneity()) in found.summary().notes[0]
    assert (
        found.overall.params
        == dn.estimate(dn.tally(DESIGN, LABELS, weights=WEIGHTS)).params
    )
    again = type(found).from_json(found.to_json(), DESIGN)
    assert again.params == found.params
    assert again.homogeneity() == found.homogeneity()
    with pytest.raises(InvalidRequest, match="method does not go with"):
        dn.estimate(counted(), method="likelihood")


def test_the_rest_is_weighed_as_its_people_are() -> None:
    rng = np.random.default_rng(5)
    groups = rng.choice(["a", "b", "c"], 600, p=[0.6, 0.3, 0.1])
    # few people who stand for many
    weights = np.where(groups == "c", 50.0, rng.gamma(2, 1, 600))
    said = rng.choice(["no", "yes"], 600)
    apart = dn.estimate(
        dn.tally(dn.warner(2), said, by=groups, weights=weights)
    ).against_rest()
    errors = np.sqrt(np.diagonal(apart.cov_params()))
    assert errors.tolist() == pytest.approx(list(apart.bse.values()))
    correlation = apart.cov_params()[0, 2] / errors[0] / errors[2]
    # whoever differs from a differs the other way round from c, which most of the rest is
    assert correlation < -0.9


def test_two_groups_of_two_answers_are_tested_by_their_difference() -> None:
    rng = np.random.default_rng(6)
    groups, said = rng.choice(["a", "b"], 400), rng.choice(["no", "yes"], 400)
    found = dn.estimate(
        dn.tally(dn.warner(2), said, by=groups, weights=rng.gamma(2, 1, 400))
    )
    (apart,) = found.pairwise().params.items()
    z = apart[1] / found.pairwise().bse[apart[0]]
    assert apart[0] == "a − b · yes"
    assert found.homogeneity().statistic == pytest.approx(z**2)
    assert found.homogeneity("yes").statistic == pytest.approx(z**2)
    assert found.pairwise().p_values[apart[0]] == pytest.approx(
        found.homogeneity().p_value
    )


def test_a_group_that_stands_for_nobody_is_left_out() -> None:
    found = dn.estimate(
        dn.tally(
            dn.warner(2),
            ["yes", "no"] * 6,
            by=["a", "b", "c"] * 4,
            weights=[1, 0, 2] * 4,
        )
    )
    assert found.left_out == ("b",)
    assert any("or no weight: b" in str(each) for each in found.warnings)


def test_numbers_have_weighted_groups() -> None:
    design = dn.number_design(0, 10, 2)
    rng = np.random.default_rng(7)
    sent = dn.Responses(
        design,
        {"response": rng.integers(len(design.symbols), size=300).astype(np.uint8)},
    )
    groups, weights = rng.choice(["a", "b"], 300), rng.gamma(2, 1, 300)
    found = dn.estimate(dn.tally(sent, by=groups, weights=weights))
    rows = dn.estimate(sent, sampling=dn.Sampling(weights), by=groups)
    # rows tell standard deviation and quantiles, too
    assert list(found.params) == ["a · mean", "b · mean"]
    assert found.params == pytest.approx(
        {name: rows.params[name] for name in found.params}
    )
    assert found.homogeneity("mean").p_value <= 1


@pytest.mark.statistical
def test_groups_that_are_alike_are_seldom_told_apart_and_others_are() -> None:
    """Of 1,200 surveys with uneven weights, 5 % are told apart; 10⁻⁹ false alarms allow 6.1 standard errors more."""
    rng = np.random.default_rng(8)
    surveys, people = 1200, 900
    groups = np.repeat(["a", "b", "c"], people // 3)
    matrix = np.array(
        [
            [float(DESIGN.channel.probability(t, given=x)) for t in range(3)]
            for x in range(3)
        ]
    )

    def p_value(shares: dict[str, list[float]]) -> float:
        law = np.stack(
            [np.array(shares[each]) @ matrix for each in ("a", "b", "c")]
        ).repeat(people // 3, axis=0)
        codes = (
            (rng.random((people, 1)) > law.cumsum(axis=1)[:, :2])
            .sum(axis=1)
            .astype(np.uint8)
        )
        sent = dn.Responses(DESIGN, {"response": codes})
        return (
            dn.estimate(
                dn.tally(sent, by=groups, weights=rng.lognormal(0, 0.7, people))
            )
            .homogeneity()
            .p_value
        )

    alike = {each: [0.5, 0.3, 0.2] for each in "abc"}
    alarms = sum(p_value(alike) < 0.05 for _ in range(surveys)) / surveys
    assert abs(alarms - 0.05) < 6.1 * np.sqrt(0.05 * 0.95 / surveys)
    different = {**alike, "c": [0.2, 0.3, 0.5]}
    assert all(p_value(different) < 0.01 for _ in range(20))


def table() -> pa.Table:
    return pa.table(
        {
            "response": LABELS,
            "region": REGIONS,
            "w": WEIGHTS,
            "design": [DESIGN.hash] * len(LABELS),
        }
    )


def test_files_are_counted_by_groups_with_weights(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "sent.parquet")
    table().to_pandas().to_csv(tmp_path / "sent.csv", index=False)
    for name in ("sent.parquet", "sent.csv"):
        found = tally_file(DESIGN, tmp_path / name, by="region", weights="w")
        assert (found.by, found.groups) == (("region",), counted().groups)
    with pytest.raises(InvalidRequest, match="asks for ladder"):
        tally_file(
            dn.ladder([dn.warner(1), dn.warner(2)]),
            ladder_file(tmp_path),
            weights="w",
        )


def ladder_file(folder: Path) -> Path:
    stages = dn.ladder([dn.warner(1), dn.warner(2)])
    found = (
        dn.respond_all(stages, ["yes", "no"])
        .to_arrow()
        .append_column("w", pa.array([1.0, 2.0]))
    )
    pq.write_table(found, folder / "stages.parquet")
    return folder / "stages.parquet"


def test_the_shell_counts_and_compares_weighted_groups(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    pq.write_table(table(), tmp_path / "sent.parquet")
    design, sent, out = (
        tmp_path / name for name in ("design.json", "sent.parquet", "tally.json")
    )
    told = done(
        "tally", design, sent, "--by", "region", "--weights", "w", "--out", out
    )
    assert "region = north" in told.stdout
    assert (
        dn.GroupedTally.from_json(out.read_bytes(), DESIGN).groups
        == counted().groups
    )
    shown = done("estimate", design, out).stdout
    assert "Hájek" in shown
    assert "north − south · often" in shown
    facts = json.loads(
        done("estimate", design, out, "--differences", "pairs", "--json").stdout
    )
    assert facts["schema"].startswith("deniable/")
    plain = tmp_path / "plain.json"
    done("tally", design, sent, "--by", "region", "--out", plain)
    mixed = run("tally", design, out, plain)
    assert mixed.exit_code == 3
    assert "some groups are counted with weights" in mixed.stderr


def test_columns_that_were_collected_elsewhere_have_weighted_groups(
    tmp_path: Path,
) -> None:
    design, values = dn.warner(p="3/4"), {"1": "no", "2": "yes"}
    rows = [("1", "N", "m", 2.0), ("2", "S", "f", 1.5), ("", "N", "m", 1.0), ("7", "S", "f", 3.0), ("2", "", "m", 0.25),
            ("2", "N", "f", 4.0)]  # fmt: skip
    path = tmp_path / "export.csv"
    path.write_text(
        "q3,region,sex,w\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )
    with pytest.warns(dn.errors.UnknownValues, match="'7'"):
        found = dn.tally_column(
            design, path, "q3", by="region", weights="w", values=values
        )
    assert list(found) == ["N", "S", None]
    assert [list(map(float, each.weights)) for each in found.values()] == [
        [2, 4],
        [0, 1.5],
        [0, 0.25],
    ]
    assert [each.declared for each in found.values()] == [
        dn.Declared(3),
        dn.Declared(2, 1),
        dn.Declared(1),
    ]
    assert (found["N"].missing, found["S"].missing) == (1, 0)
    with pytest.warns(dn.errors.UnknownValues):
        both = dn.tally_column(
            design, path, "q3", by=["region", "sex"], weights="w", values=values
        )
    assert float(both["N", "m"].weights[0]) == 2
    (tmp_path / "design.json").write_text(design.to_json())
    words = (
        "--column",
        "q3",
        "--by",
        "region",
        "--weights",
        "w",
        "--value",
        "1=no",
        "--value",
        "2=yes",
    )
    told = done(
        "tally",
        tmp_path / "design.json",
        path,
        *words,
        "--out",
        tmp_path / "tally.json",
    )
    assert "is the one you named" in told.stderr
    assert (
        dn.GroupedTally.from_json((tmp_path / "tally.json").read_bytes(), design)
        == found
    )


@pytest.mark.parametrize("by", [("region",), ("region", "sex")])
@pytest.mark.parametrize("third", ["1", ""], ids=["all-sent", "one-missing"])
def test_weighted_groups_need_nobody_who_sent_nothing(
    tmp_path: Path, by: tuple[str, ...], third: str
) -> None:
    design = dn.warner(p="3/4")
    (tmp_path / "design.json").write_text(design.to_json())
    path, out = tmp_path / "export.csv", tmp_path / "tally.json"
    path.write_text(f"q3,region,sex,w\n1,N,f,2\n0,N,f,0.5\n{third},S,m,4\n0,S,m,3\n")
    found = dn.tally_column(
        design, path, "q3", by=by, weights="w", values={"1": "yes", "0": "no"}
    )
    assert list(found) == ([("N", "f"), ("S", "m")] if len(by) > 1 else ["N", "S"])
    assert [list(map(float, each.weights)) for each in found.values()] == [
        [0.5, 2],
        [3, 4 if third else 0],
    ]
    assert found.missing == (0 if third else 1)
    words = (
        "--column",
        "q3",
        "--value",
        "1=yes",
        "--value",
        "0=no",
        "--weights",
        "w",
    )
    done(
        "tally",
        tmp_path / "design.json",
        path,
        *words,
        *(word for each in by for word in ("--by", each)),
        "-o",
        out,
    )
    assert dn.GroupedTally.from_json(out.read_bytes(), design) == found


@pytest.mark.parametrize(
    "names",
    [("north", "south"), ("the north-east of the country", "the south-west of it")],
)
def test_no_row_of_differences_breaks_at_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    design = dn.warner(p="3/4")
    (tmp_path / "design.json").write_text(design.to_json())
    regions = [names[0], names[1]] * 50
    sexes = ["f", "f", "m", "m"] * 25
    tally = dn.tally(
        design,
        ["yes", "no", "no", "yes", "yes"] * 20,
        by={"region": regions, "sex": sexes},
    )
    (tmp_path / "tally.json").write_text(tally.to_json())
    for against in ("pairs", "rest"):
        words = (
            "estimate",
            tmp_path / "design.json",
            tmp_path / "tally.json",
            "--differences",
            against,
        )
        lines = done(*words).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        rows = [line for line in lines if "%" in line and "interval" not in line]
        assert len(rows) == (6 if against == "pairs" else 4)
        assert all(
            line.split()[-1].startswith(("0.", "1.")) and line.count("%") == 3
            for line in rows
        )


def test_the_table_of_weighted_groups_has_their_weights() -> None:
    shown = [line.split() for line in str(counted()).splitlines()]
    north = sum(
        weight
        for weight, label in zip(
            own("north", WEIGHTS), own("north", LABELS), strict=True
        )
        if label
    )
    assert shown[1] == ["group", "responses", "weight", "sent", "nothing"]
    assert shown[2] == ["north", "60", f"{north:g}", "0"]
    assert counted().to_csv().splitlines()[:2] == [
        "group,responses,weight,missing",
        f"north,60,{north},0",
    ]
    plain = dn.tally(DESIGN, LABELS, by=REGIONS)
    assert plain.to_csv().splitlines()[:2] == [
        "group,responses,missing",
        "north,60,0",
    ]


def test_posteriors_take_people_who_were_drawn_one_by_one() -> None:
    design, sent, groups = (
        dn.warner(p="3/4"),
        ["yes", "no", "no", "yes"] * 5,
        ["N", "S"] * 10,
    )
    whole = dn.tally(design, sent, weights=[1.0, 2.0] * 10)
    apart = dn.tally(design, sent, by=groups, weights=[1.0, 2.0] * 10)
    for given in (whole, apart, dn.estimate(apart)):
        with pytest.raises(InvalidRequest, match="drawn one by one") as refused:
            dn.posterior(given)  # type: ignore[arg-type]
        assert "dn.estimate(tally)" in refused.value.hint
    plain = dn.tally(design, sent, by=groups)
    for given in (plain, dn.estimate(plain)):
        with pytest.raises(
            InvalidRequest, match="given groups; expected the tally of one"
        ) as refused:
            dn.posterior(given)  # type: ignore[arg-type]
        assert "tally.items()" in refused.value.hint


def test_columns_named_in_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    frame = pd.DataFrame({"q3": LABELS, "region": REGIONS, "sex": ["f", "m"] * 60})
    frame.to_csv(tmp_path / "elsewhere.csv", index=False)
    ours = table().append_column("sex", pa.array(["f", "m"] * 60))
    pq.write_table(ours, tmp_path / "ours.parquet")
    for name, words in (("elsewhere.csv", ("--column", "q3")), ("ours.parquet", ())):
        for given in ("region,sex", "region, sex"):
            refused = run(
                "tally",
                tmp_path / "design.json",
                tmp_path / name,
                *words,
                "--by",
                given,
            )
            assert refused.exit_code == 2
            assert (
                "Name each by itself: --by region --by sex, or by=['region', 'sex']."
                in refused.stderr
            )
    assert (
        "Name each"
        not in run(
            "tally",
            tmp_path / "design.json",
            tmp_path / "elsewhere.csv",
            "--column",
            "q3,sex",
        ).stderr
    )
