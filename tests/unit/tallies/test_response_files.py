from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.designs import k_ary
from deniable.engines.files import tally_file
from deniable.engines.files import tally_file as tally_any
from deniable.errors import (
    DeniableError,
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.responses import respond
from deniable.tallies import Tally, tally
from tests.support import answers

DESIGN = k_ary(["no", "yes", "NA", 'naïve, "☂"\nor not'], epsilon=1)
OTHER = k_ary(["no", "yes", "NA", 'naïve, "☂"\nor not'], epsilon=2)
LABELS = ["no", None, *DESIGN.symbols, "yes"] * 40
EXPECTED = tally(DESIGN, LABELS)


def columns(
    labels: list[str | None] = LABELS, design: str = DESIGN.hash
) -> dict[str, list[Any]]:
    return {
        "response": labels,
        "region": ["N"] * len(labels),
        "design": [design] * len(labels),
    }


@pytest.fixture(params=answers.FORMATS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return answers.write(tmp_path / f"responses.{request.param}", columns())


def test_a_file_is_counted(file: Path) -> None:
    assert tally_file(DESIGN, file) == EXPECTED
    assert tally_file(DESIGN, str(file)) == EXPECTED


def test_a_stream_is_counted_and_left_open(file: Path) -> None:
    stream = io.BytesIO(file.read_bytes())
    assert tally_file(DESIGN, stream) == EXPECTED
    assert not stream.closed
    with file.open("rb") as again:
        assert tally_file(DESIGN, again, file.suffix[1:]) == EXPECTED
        assert not again.closed


class _Pipe(io.RawIOBase):
    """Bytes that come in small pieces and only once, as from another program."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._content.readinto(buffer[:7])


def test_a_pipe_is_counted(file: Path) -> None:
    pipe = io.BufferedReader(_Pipe(file.read_bytes()))
    if file.suffix == ".parquet":
        with pytest.raises(UnreadableFile, match="expected a file"):
            tally_file(DESIGN, pipe)
    else:
        assert tally_file(DESIGN, pipe) == EXPECTED


@pytest.mark.parametrize(
    "file", sorted(set(answers.FORMATS) - {"parquet"}), indirect=True
)
def test_packed_files_are_unpacked(file: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{file.name}.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert tally_file(DESIGN, packed) == EXPECTED


@pytest.mark.parametrize("format", ["csv", "ndjson"])
@pytest.mark.parametrize("copies", [1, 100])
def test_a_truncated_packed_file_is_refused(
    tmp_path: Path, format: str, copies: int
) -> None:
    plain = answers.write(tmp_path / f"plain.{format}", columns(LABELS * copies))
    packed = tmp_path / f"packed.{format}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes())[:-12])
    with pytest.raises(UnreadableFile, match="damaged"):
        tally_file(DESIGN, packed)


def test_many_batches_add_up(tmp_path: Path) -> None:
    labels = ["no", "yes", "yes"] * 70_000
    for format in answers.FORMATS:
        path = answers.write(tmp_path / f"many.{format}", columns(labels))
        steps: list[tuple[int, float | None]] = []
        counted = tally_file(
            DESIGN,
            path,
            progress=lambda rows, share, steps=steps: steps.append((rows, share)),
        )
        assert counted == Tally(DESIGN, np.array([70_000, 140_000, 0, 0]))
        assert len(steps) > 1
        assert steps[-1] == (210_000, 1.0)
        assert steps == sorted(steps)


def test_another_designs_file_is_refused_with_both_hashes(file: Path) -> None:
    with pytest.raises(
        Incompatible, match=rf"{DESIGN.hash[:19]}.*{OTHER.hash[:19]}"
    ):
        tally_file(OTHER, file)


def test_a_single_row_of_another_design_is_found(tmp_path: Path) -> None:
    for format in answers.FORMATS:
        mixed = columns()
        mixed["design"][57] = OTHER.hash
        path = answers.write(tmp_path / f"mixed.{format}", mixed)
        with pytest.raises(Incompatible, match="row 58 "):
            tally_file(DESIGN, path)


def test_the_metadata_of_parquet_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "responses.parquet"
    table = pa.table({"response": LABELS})
    pq.write_table(
        table.replace_schema_metadata({"deniable.design": DESIGN.hash}), path
    )
    assert tally_file(DESIGN, path) == EXPECTED
    with pytest.raises(Incompatible):
        tally_file(OTHER, path)


def test_no_lines_at_all_are_a_file_of_no_responses(tmp_path: Path) -> None:
    (tmp_path / "responses.ndjson").write_bytes(b"")
    assert tally_file(DESIGN, tmp_path / "responses.ndjson") == Tally.empty(DESIGN)


@pytest.mark.parametrize(
    ("file", "share"),
    [
        (format, share)
        for format in answers.FORMATS
        for share in (0.0, 0.02, 0.3, 0.9, 0.999)
        if (format, share)
        # nothing but a part of the first line
        not in (("ndjson", 0.0), ("ndjson", 0.02))
    ],
    indirect=["file"],
)
def test_a_truncated_file_is_refused(file: Path, share: float) -> None:
    content = file.read_bytes()
    cut = content[: int(len(content) * share)]
    # between two rows nothing shows the cut
    while cut.endswith(b"\n") or content[len(cut) :].startswith(b"\n"):
        cut = cut[:-1]
    file.write_bytes(cut)
    assert cut or file.suffix != ".ndjson"
    with pytest.raises(UnreadableFile) as caught:
        tally_file(DESIGN, file)
    assert "truncated" in caught.value.hint or "column" in caught.value.problem


def test_damaged_parquet_is_refused_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "responses.parquet"
    plain = pa.table({"response": LABELS, "design": [DESIGN.hash] * len(LABELS)})
    pq.write_table(
        plain,
        path,
        write_page_checksum=True,
        compression="none",
        write_statistics=False,
    )
    content = path.read_bytes()
    at = content.index(b"yes")
    for wrong in (b"no!", b"NAh"):
        path.write_bytes(content[:at] + wrong + content[at + 3 :])
        with pytest.raises(UnreadableFile, match="damaged"):
            tally_file(DESIGN, path)


def test_an_unknown_label_is_named_with_its_row(tmp_path: Path) -> None:
    for format in answers.FORMATS:
        labels = [*LABELS, "maybe"]
        path = answers.write(tmp_path / f"unknown.{format}", columns(labels))
        with pytest.raises(
            InvalidResponse,
            match=rf"row {len(labels)} of unknown.{format} is 'maybe'.*expected",
        ):
            tally_file(DESIGN, path)


def test_missing_columns_are_told(tmp_path: Path) -> None:
    for format in answers.FORMATS:
        for absent in ("response", "design"):
            given = columns()
            del given[absent]
            path = answers.write(tmp_path / f"less.{format}", given)
            # whose first line may be cut off
            named = absent == "response" and format != "ndjson"
            kind = InvalidRequest if named else UnreadableFile
            with pytest.raises(kind, match=f"'{absent}'"):
                tally_file(DESIGN, path)


def test_a_row_without_a_design_is_refused(tmp_path: Path) -> None:
    for format in answers.FORMATS:
        given = columns()
        given["design"][3] = None
        path = answers.write(tmp_path / f"some.{format}", given)
        with pytest.raises(UnreadableFile, match=r"row 4 .* names no design"):
            tally_file(DESIGN, path)


def test_files_survive_pandas_and_polars(file: Path, tmp_path: Path) -> None:
    if file.suffix == ".parquet":
        pd.read_parquet(file).to_parquet(tmp_path / "pandas.parquet")
        pl.read_parquet(file).write_parquet(tmp_path / "polars.parquet")
    elif file.suffix == ".arrow":
        pd.read_feather(file).to_feather(tmp_path / "pandas.arrow")
        pl.read_ipc(file).write_ipc(tmp_path / "polars.arrow")
    elif file.suffix == ".csv":
        pd.read_csv(file, keep_default_na=False).to_csv(tmp_path / "pandas.csv")
        pl.read_csv(file).write_csv(tmp_path / "polars.csv")
    else:
        pd.read_json(file, lines=True).to_json(
            tmp_path / "pandas.ndjson", orient="records", lines=True
        )
        pl.read_ndjson(file).write_ndjson(tmp_path / "polars.ndjson")
    for library in ("pandas", "polars"):
        assert tally_file(DESIGN, tmp_path / f"{library}{file.suffix}") == EXPECTED


@pytest.mark.parametrize(("mark", "bom"), [(";", False), ("\t", True), (",", True)])
def test_csv_from_spreadsheets_is_read(tmp_path: Path, mark: str, bom: bool) -> None:
    path = tmp_path / "sheet.csv"
    table = pd.DataFrame(columns())
    table.to_csv(
        path,
        sep=mark,
        index=False,
        lineterminator="\r\n",
        encoding="utf-8-sig" if bom else "utf-8",
    )
    assert tally_file(DESIGN, path) == EXPECTED


def test_a_header_alone_is_a_file_of_no_responses(tmp_path: Path) -> None:
    for end in ("", "\n"):
        path = tmp_path / "none.csv"
        path.write_text("response,design" + end)
        assert tally_file(DESIGN, path) == Tally.empty(DESIGN)


def test_csv_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(f"response,design\nna\xefve,{DESIGN.hash}\n".encode("latin-1"))
    with pytest.raises(UnreadableFile, match="UTF-8"):
        tally_file(DESIGN, path)


def test_an_uneven_row_of_csv_is_named(tmp_path: Path) -> None:
    path = tmp_path / "uneven.csv"
    path.write_text(f"response,design\nno,{DESIGN.hash}\nyes,{DESIGN.hash},more\n")
    with pytest.raises(
        UnreadableFile, match="row 2 has 3 fields where the header has 2"
    ):
        tally_file(DESIGN, path)


def test_responses_as_they_travel_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "sent.ndjson"
    sent = [respond(DESIGN, "no") for _ in range(50)]
    path.write_text("\n".join(response.to_json() for response in sent))
    assert tally_file(DESIGN, path) == tally(
        DESIGN, Counter(response.symbol for response in sent)
    )
    edited = {**json.loads(sent[0].to_json()), "symbol": "yes", "hash": "sha256:0"}
    path.write_text(sent[0].to_json() + "\n" + json.dumps(edited))
    with pytest.raises(UnreadableFile, match=r"line 2 .*does not match its hash"):
        tally_file(DESIGN, path)


@pytest.mark.parametrize(
    "line",
    [
        "[1]",
        "{",
        "7",
        "",
        '{"response": true, "design": "x"}',
        '{"response": 1.5, "design": "x"}',
    ],
)
def test_a_line_that_is_no_response_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "lines.ndjson"
    good = json.dumps({"response": "no", "design": DESIGN.hash})
    path.write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(UnreadableFile, match="line 2 "):
        tally_file(DESIGN, path)


def test_whole_numbers_are_codes_in_typed_files_and_labels_in_text(
    tmp_path: Path,
) -> None:
    for format in answers.FORMATS:
        for numbers in ([0, 3, None], [0.0, 3.0, None]):
            if format == "csv" and isinstance(numbers[0], float):
                continue  # what says 0.0 is not the label 0
            design = DESIGN if format in answers.TYPED else k_ary(4, epsilon=1)
            given = {"response": numbers, "design": [design.hash] * 3}
            path = answers.write(tmp_path / f"numbers.{format}", given)
            expected = Tally(design, np.array([1, 0, 0, 1]), missing=1)
            assert tally_any(design, path) == tally_file(design, path) == expected


def test_whole_numbers_that_may_be_either_are_refused_unless_the_file_is_ours_or_somebody_says(
    tmp_path: Path,
) -> None:
    likert = k_ary(["1", "2", "3"], epsilon=1)
    for gap in ([], [None]):
        for format in answers.TYPED:
            given = {
                "response": [1, 2, *gap],
                "design": [likert.hash] * (2 + len(gap)),
            }
            path = answers.write(tmp_path / f"numbers.{format}", given)
            for count in (tally_any, tally_file):
                with pytest.raises(InvalidResponse, match="labels or codes"):
                    count(likert, path)
            assert tally_any(likert, path, codes=True) == Tally(
                likert, np.array([0, 1, 1]), missing=len(gap)
            )
            assert tally_any(likert, path, codes=False) == Tally(
                likert, np.array([1, 1, 0]), missing=len(gap)
            )
        table = pa.table(
            {"response": pa.array([1, 2, *gap], pa.uint8())},
            metadata={"deniable.design": likert.hash},
        )
        pq.write_table(table, tmp_path / "ours.parquet")
        for count in (tally_any, tally_file):
            assert count(likert, tmp_path / "ours.parquet").counts.tolist() == [
                0,
                1,
                1,
            ]


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    for column in ([True, False], [b"no", b"yes"]):
        path = answers.write(
            tmp_path / "typed.parquet",
            {"response": column, "design": [DESIGN.hash] * 2},
        )
        with pytest.raises(InvalidResponse, match="expected"):
            tally_file(DESIGN, path)


def test_an_unknown_format_is_refused(file: Path) -> None:
    with pytest.raises(InvalidRequest, match="parquet, arrow, csv, ndjson"):
        tally_file(DESIGN, file, "xlsx")


def test_a_file_of_the_wrong_kind_is_refused(file: Path) -> None:
    for format in set(answers.FORMATS) - {file.suffix[1:]}:
        with pytest.raises(DeniableError):
            tally_file(DESIGN, file, format)


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tally_file(DESIGN, tmp_path / "none.csv")


def test_a_file_that_is_one_long_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"a" * 200_000)
    with pytest.raises(UnreadableFile, match="not a header"):
        tally_file(DESIGN, path)


def test_lines_that_all_differ_are_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "numbered.ndjson"
    given = {
        "response": ["no"] * 10_000,
        "design": [DESIGN.hash] * 10_000,
        "id": list(range(10_000)),
    }
    assert tally_file(DESIGN, answers.write(path, given)) == Tally(
        DESIGN, np.array([10_000, 0, 0, 0])
    )


def test_a_number_that_is_none_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "nan.ndjson"
    path.write_text(f'{{"response": NaN, "design": "{DESIGN.hash}"}}\n')
    assert tally_file(DESIGN, path) == Tally(DESIGN, np.zeros(4, int), missing=1)
