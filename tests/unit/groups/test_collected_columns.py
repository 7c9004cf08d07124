from __future__ import annotations

import gzip
import sys
import zipfile
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import deniable as dn
from deniable.errors import (
    InvalidRequest,
    InvalidResponse,
    MissingExtra,
    UnknownValues,
    UnreadableFile,
)
from deniable.files.columns import BATCH, open_columns
from tests.support import answers

DESIGN = dn.warner(p="3/4")
THREE = dn.k_ary(["1", "2", "3"], epsilon=1)
MEANT = {"1": "yes", "2": "no"}
CODES = [1, 2, None, 1, 1]
REGIONS = ["N", "S", "S", None, "N"]


def workbook(path: Path, columns: dict[str, list[Any]], *more: str) -> Path:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "data"
    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        sheet.append(list(row))
    for name in more:
        book.create_sheet(name).append(["something", "else"])
    book.save(path)
    return path


def written(path: Path) -> Path:
    """Write the same rows in any format."""
    columns = {"q3": CODES, "region": REGIONS}
    if path.suffix == ".xlsx":
        return workbook(path, columns)
    frame = pd.DataFrame(
        {
            "q3": [1.0, 2.0, np.nan, 1.0, 1.0],
            "region": [each or "" for each in REGIONS],
        }
    )
    if path.suffix in (".sav", ".zsav"):
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav")
        return path
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path))
        return path
    return answers.write(path, columns)


ENDINGS = ["csv", "ndjson", "parquet", "arrow", "xlsx", "sav", "zsav", "dta"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_tally(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"answers.{ending}")
    expected = dn.Tally(DESIGN, [1, 3], missing=1, declared=dn.Declared(5))
    assert dn.tally_column(DESIGN, path, "q3", values=MEANT) == expected
    regions = dn.tally_column(DESIGN, path, "q3", values=MEANT, by="region")
    assert {name: each.counts.tolist() for name, each in regions.items()} == {
        "N": [0, 2],
        "S": [1, 0],
        None: [0, 1],
    }
    assert regions.overall == expected
    assert list(dn.read_responses(DESIGN, path, "q3", values=MEANT)) == [
        "yes",
        "no",
        None,
        "yes",
        "yes",
    ]
    bare = tmp_path / "answers"
    path.rename(bare)
    if ending != "zsav" or bare.read_bytes().startswith(b"$FL"):
        assert dn.tally_column(DESIGN, bare, "q3", values=MEANT) == expected, (
            "told by how it begins"
        )


def labelled(path: Path) -> Path:
    """Yes and No with codes, a refusal and a don't know as user-missing values, one code without a label."""
    labels: Any = {"q3": {1: "Yes", 2: "No"}, "region": {1: "north", 2: "south"}}
    regions = [1, 2, 1, 2, 1, 2, 1]
    if path.suffix == ".sav":
        frame = pd.DataFrame(
            {"q3": [1, 2, 2, 98, 99, np.nan, 7.0], "region": regions}
        )
        labels["q3"] |= {98: "Don't know", 99: "Refused"}
        ranges: Any = {"q3": [{"lo": 98, "hi": 99}]}
        pyreadstat.write_sav(
            frame, str(path), variable_value_labels=labels, missing_ranges=ranges
        )
    else:
        frame = pd.DataFrame(
            {"q3": [1, 2, 2, "d", "r", np.nan, 7], "region": regions}
        )
        labels["q3"] |= {"d": "Don't know", "r": "Refused"}
        missing: Any = {"q3": ["d", "r"]}
        pyreadstat.write_dta(
            frame,
            str(path),
            variable_value_labels=labels,
            missing_user_values=missing,
        )
    return path


@pytest.mark.parametrize("ending", ["sav", "dta"])
@pytest.mark.parametrize(
    "values",
    [{"Yes": "yes", "No": "no"}, {"1": "yes", "2": "no"}, {"1": "yes", "No": "no"}],
)
def test_labels_and_user_missing_values_are_kept(
    tmp_path: Path, ending: str, values: dict[str, str]
) -> None:
    path = labelled(tmp_path / f"answers.{ending}")
    with pytest.warns(
        UnknownValues,
        match=r"q3: 1 row holds a value that is not a response of this design: '7' \(1\)",
    ):
        found: Any = dn.tally_column(DESIGN, path, "q3", values=values, by="region")
    assert set(found) == {"north", "south"}
    total = found.overall
    assert (total.counts.tolist(), total.missing) == ([2, 1], 3)
    assert total.declared == dn.Declared(7, 1, (("Don't know", 1), ("Refused", 1)))
    for missing in (["2"], ["No"], ["2", "No"]):
        with pytest.warns(UnknownValues):
            fewer = dn.tally_column(
                DESIGN, path, "q3", values=values, missing=missing
            )
        assert (fewer.counts.tolist(), fewer.missing) == ([0, 1], 5), missing


def test_labels_are_symbols_by_themselves(tmp_path: Path) -> None:
    path = labelled(tmp_path / "answers.sav")
    design = dn.warner(p="3/4", categories=["No", "Yes"])
    with pytest.warns(UnknownValues):
        assert dn.tally_column(design, path, "q3").counts.tolist() == [2, 1]
    with pytest.raises(
        InvalidResponse, match=r"There are 'No' \(2\), 'Yes' \(1\), '7' \(1\)"
    ):
        dn.tally_column(DESIGN, path, "q3")


def test_a_label_that_is_another_code_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"q": [1.0, 2.0]})
    pyreadstat.write_sav(
        frame, str(path), variable_value_labels={"q": {1: "2", 2: "1"}}
    )
    with pytest.raises(
        InvalidResponse,
        match="the value '1' is a symbol, and so is what the file calls it, '2'",
    ):
        dn.tally_column(THREE, path, "q")
    assert (
        dn.tally_column(THREE, path, "q", values={"1": "1", "2": "2"}).respondents
        == 2
    )


def test_answers_in_spss_can_be_responded_to(tmp_path: Path) -> None:
    path = labelled(tmp_path / "answers.sav")
    design = dn.matrix(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        categories=["Yes", "No", "7"],
        symbols=["Y", "N", "7"],
    )
    made = dn.engines.files.respond_file(
        design, path, tmp_path / "out.csv", column="q3", keep=["region"]
    )
    assert (made.rows, made.missing) == (7, 3)
    assert {row["region"] for row in answers.read(tmp_path / "out.csv")} == {
        "north",
        "south",
    }


def csv_file(text: str) -> BytesIO:
    return BytesIO(text.encode())


def test_numbers_are_read_as_other_programs_write_them() -> None:
    rows = "q\n1.0\n0.0\n1\n \n"
    assert dn.tally_column(
        DESIGN, csv_file(rows), "q", codes=True
    ).counts.tolist() == [
        1,
        2,
    ]
    found: Any = dn.tally_column(
        DESIGN, csv_file(rows), "q", values={"1": "yes", "0.0": "no"}
    )
    assert (found.counts.tolist(), found.missing) == ([1, 2], 1)
    with pytest.warns(UnknownValues, match=r"'01' \(1\), '-1' \(1\), '2' \(1\)"):
        found = dn.tally_column(
            DESIGN, csv_file("q\n1\n01\n-1\n2\n"), "q", codes=True
        )
    assert found.counts.tolist() == [0, 1]
    assert dn.tally_column(THREE, csv_file("q\n1.0\n3\n"), "q").counts.tolist() == [
        1,
        0,
        1,
    ]


def test_nothing_is_guessed() -> None:
    with pytest.warns(
        UnknownValues,
        match=r"q: 3 rows hold a value that is not a response of this design: 'Yes' \(2\), 'maybe' \(1\)",
    ):
        found: Any = dn.tally_column(
            DESIGN, csv_file("q\nyes\nYes\nmaybe\nYes\n"), "q"
        )
    assert (found.counts.tolist(), found.missing, found.declared) == (
        [0, 1],
        0,
        dn.Declared(4, 3),
    )
    # where values are said, no other counts
    with pytest.warns(UnknownValues, match=r"'no' \(1\)"):
        dn.tally_column(DESIGN, csv_file("q\n1\nno\n"), "q", values={"1": "yes"})
    with pytest.raises(
        InvalidResponse, match="no row of the column 'q' holds a symbol"
    ) as refused:
        dn.tally_column(DESIGN, csv_file("q\n0\n1\n"), "q")
    assert (
        "--codes, if they number the symbols: 0 for 'no', 1 for 'yes'"
        in refused.value.hint
    )
    many = "q\nyes\n" + "".join(f"v{n}\n" for n in range(20))
    with pytest.warns(UnknownValues, match="and 12 other values"):
        dn.tally_column(DESIGN, csv_file(many), "q")
    with pytest.warns(UnknownValues, match="q: 1 row holds"):
        assert list(dn.read_responses(DESIGN, csv_file("q\nyes\nhm\n"), "q")) == [
            "yes",
            None,
        ]


def test_a_wrong_column_lists_those_there_are(tmp_path: Path) -> None:
    for path in (
        written(tmp_path / f"a.{ending}")
        for ending in ("csv", "xlsx", "sav", "parquet")
    ):
        for words in ({"column": "Q3"}, {"column": "q3", "by": "county"}):
            with pytest.raises(
                InvalidRequest, match="has no columns called"
            ) as refused:
                dn.tally_column(DESIGN, path, **words)
            assert "'q3', 'region'" in refused.value.hint
    with pytest.raises(InvalidRequest, match="2 columns called 'q'"):
        dn.tally_column(DESIGN, csv_file("q,q\n1,1\n"), "q")
    with pytest.raises(
        InvalidRequest
    ) as refused:  # the first line is somebody's row
        dn.tally_column(DESIGN, csv_file("SECRET,42\nother,43\n"), "q")
    assert "SECRET" not in str(refused.value)


def test_an_export_of_qualtrics_has_three_lines_of_header() -> None:
    rows = 'Q3,Q4\n"Have you\never?",Where?\n"{""ImportId"":""QID3""}","{""ImportId"":""QID4""}"\nyes,N\nno,S\n'
    found: Any = dn.tally_column(DESIGN, csv_file(rows), "Q3", by="Q4")
    assert found.overall == dn.Tally(DESIGN, [1, 1], declared=dn.Declared(2))
    assert set(found) == {"N", "S"}
    assert list(dn.read_responses(DESIGN, csv_file(rows), "Q3")) == ["yes", "no"]


def test_sheets_are_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"q": ["yes", "no", True, 0.5]}, "notes")
    with pytest.raises(
        InvalidRequest, match=r"2 sheets that hold something \('data', 'notes'\)"
    ):
        dn.tally_column(DESIGN, path, "q")
    with pytest.raises(
        InvalidRequest, match="no sheet 'date'; expected one of 'data', 'notes'"
    ):
        dn.tally_column(DESIGN, path, "q", sheet="date")
    with pytest.warns(UnknownValues, match=r"'True' \(1\), '0.5' \(1\)"):
        assert dn.tally_column(DESIGN, path, "q", sheet="data").respondents == 2
    with pytest.raises(InvalidRequest, match="no workbook"):
        dn.tally_column(DESIGN, csv_file("q\nyes\n"), "q", sheet="data")


def test_a_sheet_that_says_it_has_one_cell_is_read_whole(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"q": ["yes", "no"], "r": ["N", None]})
    told = tmp_path / "told.xlsx"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(told, "w") as changed:
        for name in whole.namelist():
            text = whole.read(name)
            if name.endswith("sheet1.xml"):
                assert b'ref="A1:B3"' in text
                text = text.replace(b'ref="A1:B3"', b'ref="A1"')
            changed.writestr(name, text)
    assert dn.tally_column(DESIGN, told, "q", by="r") == dn.tally_column(
        DESIGN, path, "q", by="r"
    )
    assert dn.tally_column(DESIGN, told, "q").respondents == 2


@pytest.mark.parametrize("ending", ["xlsx", "sav", "dta"])
def test_what_is_no_such_file_is_said_to_be_damaged(
    tmp_path: Path, ending: str
) -> None:
    path = written(tmp_path / f"a.{ending}")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(UnreadableFile, match="not a complete"):
        dn.tally_column(DESIGN, path, "q3", values=MEANT)
    packed = tmp_path / f"a.{ending}.gz"
    packed.write_bytes(gzip.compress(whole))
    with pytest.raises(UnreadableFile, match="expected a file"):
        dn.tally_column(DESIGN, packed, "q3", values=MEANT)


@pytest.mark.parametrize(
    ("ending", "package"),
    [("xlsx", "openpyxl"), ("sav", "pyreadstat"), ("dta", "pyreadstat")],
)
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    path = written(tmp_path / f"a.{ending}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"the package '{package}'") as refused:
        dn.tally_column(DESIGN, path, "q3", values=MEANT)
    assert "deniable[elsewhere]" in refused.value.hint


def test_many_rows_come_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "many.sav"
    pyreadstat.write_sav(pd.DataFrame({"q": [1.0, 0.0, 1.0] * 50}), str(path))
    with open_columns(path) as opened:
        sizes = [
            (len(batch), opened.share)
            for batch in opened.coded_batches(["q"], size=64)
        ]
    assert [size for size, _ in sizes] == [64, 64, 22]
    assert sizes[-1][1] == 1.0
    told: list[int] = []
    found: Any = dn.tally_column(
        DESIGN, path, "q", codes=True, progress=lambda rows, _: told.append(rows)
    )
    assert (found.counts.tolist(), told) == ([50, 100], [150])


def test_batches_and_files_add_up(tmp_path: Path) -> None:
    """Every batch of every file counts, in each group: not the last of them alone."""
    for number, times in enumerate((50_000, 100)):
        rows = {"q": ["yes", "no", "yes"], "region": ["N", "S", "S"]}
        table = pa.table({name: column * times for name, column in rows.items()})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    paths = sorted(tmp_path.glob("*.parquet"))
    assert BATCH < 3 * 50_000
    for files, times in ((paths[0], 50_000), (paths, 50_100)):
        together: Any = dn.tally_column(DESIGN, files, "q")
        assert together.counts.tolist() == [times, 2 * times]
        found: Any = dn.tally_column(DESIGN, files, "q", by="region")
        assert {name: each.counts.tolist() for name, each in found.items()} == {
            "N": [0, times],
            "S": [times, times],
        }


def test_weights_go_with_their_rows_through_all_batches_and_files(
    tmp_path: Path,
) -> None:
    """In each group the weights of each symbol are those that stand beside it, in whichever batch or file."""
    rng = np.random.default_rng(26)
    rows, expected = BATCH + 100, dict.fromkeys(product("NSW", ["no", "yes"]), 0.0)
    for number in range(2):
        sent = rng.choice(["no", "yes"], rows)
        region = rng.choice(["N", "S", "W"], rows, p=[0.2, 0.3, 0.5])
        weights = rng.integers(1, 9, rows)
        for *group, weight in zip(region, sent, weights, strict=True):
            expected[tuple(group)] += weight
        columns = {"q": sent, "region": region, "weight": weights}
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    found: Any = dn.tally_column(DESIGN, files, "q", by="region", weights="weight")
    totals = {
        (region, symbol): total
        for region, each in found.items()
        for symbol, total in zip(DESIGN.symbols, each.weights, strict=True)
    }
    assert totals == pytest.approx(expected)


def test_folders_name_groups(tmp_path: Path) -> None:
    for region, rows in (("N", ["yes", "no"]), ("S", ["no", "no"])):
        (tmp_path / f"region={region}").mkdir()
        pq.write_table(
            pa.table({"q": rows}), tmp_path / f"region={region}/part.parquet"
        )
    found: Any = dn.tally_column(DESIGN, tmp_path, "q", by="region")
    assert {name: each.counts.tolist() for name, each in found.items()} == {
        "N": [1, 1],
        "S": [2, 0],
    }


def test_sets_are_counted_in_their_cells() -> None:
    design = dn.unary(["a", "b"], 2)
    found: Any = dn.tally_column(design, csv_file("q\nb10\nb11\nb10\n"), "q")
    assert found == dn.Tally(
        design, dn.tally(design, ["b10", "b11", "b10"]).counts, 0, 3, dn.Declared(3)
    )
    with pytest.raises(InvalidRequest, match="a set of categories"):
        dn.read_responses(design, csv_file("q\nb10\n"), "q")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        InvalidRequest,
        match="said to mean 'si'; expected a symbol of the design: 'no', 'yes'",
    ):
        dn.CollectedColumn(DESIGN, {"1": "si"})
    with pytest.raises(InvalidRequest, match="values and codes"):
        dn.CollectedColumn(DESIGN, MEANT, codes=True)
    for design, devices in ((DESIGN, "model"), ({"RR": DESIGN}, ""), ({}, "model")):
        with pytest.raises(InvalidRequest, match="the devices do not fit"):
            dn.CollectedColumn(design, devices=devices)
    with pytest.raises(InvalidRequest, match="a design for categories"):
        dn.CollectedColumn(dn.number_design(0, 80, 1))
    with pytest.raises(InvalidRequest, match="no columns of responses"):
        dn.tally_columns({}, csv_file("q\n1\n"))


# Mapping files


def mapping(folder: Path, text: str) -> Path:
    (folder / "warner.json").write_text(DESIGN.to_json())
    (folder / "three.json").write_text(THREE.to_json())
    (folder / "direct.json").write_text(dn.direct().to_json())
    path = folder / "questions.toml"
    path.write_text(text)
    return path


ROWS = "a,b,c,model\n1,3,0,RR\n2,1.0,1,DQ\n1,-9,1,RR\n99,2,,DQ\n"
WHOLE = """
values = { 1 = "yes", 2 = "no" }
missing = [99]
[columns.a]
design = "warner.json"
[columns.b]
design = "three.json"
values = { 1 = "1", 2 = "2", 3 = "3" }
missing = [-9]
[columns.c]
devices = "model"
design = { RR = "warner.json", DQ = "direct.json" }
codes = true
"""


def test_several_columns_with_a_design_each(tmp_path: Path) -> None:
    found = dn.tally_columns(mapping(tmp_path, WHOLE), csv_file(ROWS))
    assert found.columns == ("a", "b", "c")
    assert found["a"] == dn.Tally(
        DESIGN, [1, 2], 1, declared=dn.Declared(4, reasons=(("99", 1),))
    )
    assert found["b"] == dn.Tally(
        THREE, [1, 1, 1], 1, declared=dn.Declared(4, reasons=(("-9", 1),))
    )
    devices = {each.design.name: each for each in found["c"]}
    assert devices["warner"] == dn.Tally(DESIGN, [1, 1], declared=dn.Declared(2))
    assert devices["direct"] == dn.Tally(
        dn.direct(), [0, 1], 1, declared=dn.Declared(2)
    )
    apart = dn.tally_columns(
        mapping(tmp_path, WHOLE), csv_file(ROWS), by=["model", "a"]
    )
    assert apart["b"]["RR", "1"].respondents == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns", "is no TOML"),
        ("codes = true", "names no columns"),
        ("[columns]\na = 1", "the column 'a' is no table"),
        ("[columns.a]\ncodes = true", "the column 'a' has no design"),
        (
            "[columns.a]\ndesign = 'warner.json'\nvalue = {}",
            "has 'value'; expected design, devices, values",
        ),
        (
            "weights = 'w'\n[columns.a]\ndesign = 'warner.json'",
            "the file has 'weights'",
        ),
        (
            "[columns.a]\ndesign = 'warner.json'\ncodes = 1",
            "'codes' of the column 'a' is a int",
        ),
        ("[columns.a]\ndevices = 'd'\ndesign = { RR = 1 }", "a design is a int"),
        ("[columns.a]\ndesign = { RR = 'warner.json' }", "the devices do not fit"),
    ],
)
def test_a_mapping_file_says_what_is_wrong_with_it(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises((UnreadableFile, InvalidRequest), match=message):
        dn.tally_columns(mapping(tmp_path, text), csv_file("a\n1\n"))


def test_a_device_without_a_design_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidResponse,
        match="was asked with 'CM' in 'model'; expected one of 'RR', 'DQ'",
    ):
        dn.tally_columns(
            mapping(tmp_path, WHOLE), csv_file("a,b,c,model\n1,1,1,CM\n")
        )
