from __future__ import annotations

import json
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.chance import Source
from deniable.designs import k_ary, matrix, product, warner
from deniable.engines import Local, answer_blocks
from deniable.engines.files import WrittenResponses, respond_file, tally_file
from deniable.errors import (
    DeniableError,
    InvalidAnswer,
    InvalidRequest,
    UnreadableFile,
)
from deniable.files.atomic import atomic_write
from deniable.tallies import Tally, tally
from tests.support import answers
from tests.support.seeded import seeded as source_named

SECRET = "zq☠secretanswer"
# Sends the number of the answer and never anything else, so that tests can see what was drawn for what.
OPEN = matrix(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    categories=["never", "once", "often"],
    symbols=["N", "O", "F"],
)
DESIGN = k_ary(["never", "once", "often"], epsilon=1)
TRUTH = ["never", "once", None, "often", "never"]


def given(path: Path, labels: list[Any] = TRUTH, **more: list[Any]) -> Path:
    return answers.write(
        path,
        {
            "id": list(range(len(labels))),
            "x": labels,
            "region": list("NSNSN")[: len(labels)],
            **more,
        },
    )


def in_order(held: Path, out: Path, **options: Any) -> WrittenResponses:
    return respond_file(OPEN, held, out, column="x", keep_order=True, **options)


def sent(out: Path) -> list[str | None]:
    """Return the labels of responses to the open design, which typed files hold as codes."""
    found = [row["response"] for row in answers.read(out)]
    return [OPEN.symbols[each] if isinstance(each, int) else each for each in found]


@pytest.fixture(params=answers.FORMATS)
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return given(tmp_path / f"answers.{request.param}")


@pytest.mark.parametrize("format", answers.FORMATS)
def test_responses_name_their_design_and_stand_in_the_order_of_the_answers_where_asked(
    held: Path, tmp_path: Path, format: str
) -> None:
    out = tmp_path / f"responses.{format}"
    assert in_order(held, out) == WrittenResponses(out, rows=5, missing=1)
    assert sent(out) == ["N", "O", None, "F", "N"]
    assert [(list(row), row["design"]) for row in answers.read(out)] == [
        (["response", "design"], OPEN.hash)
    ] * 5
    assert tally_file(OPEN, out) == tally(OPEN, ["N", "O", None, "F", "N"])


def test_typed_files_name_the_design_in_their_metadata_and_hold_codes(
    held: Path, tmp_path: Path
) -> None:
    for read, name in (
        (pq.read_schema, "out.parquet"),
        (lambda path: pa.ipc.open_file(path).schema, "out.arrow"),
    ):
        in_order(held, tmp_path / name)
        schema = read(tmp_path / name)
        assert schema.metadata[b"deniable.design"] == OPEN.hash.encode()
        assert schema.field("response").type == pa.uint8()


@pytest.mark.parametrize("format", answers.FORMATS)
def test_kept_columns_go_along_and_nothing_else_does(
    held: Path, tmp_path: Path, format: str
) -> None:
    out = tmp_path / f"responses.{format}"
    in_order(held, out, keep=["region", "id"])
    rows = answers.read(out)
    assert [list(row) for row in rows] == [
        ["response", "region", "id", "design"]
    ] * 5
    assert [(row["region"], str(row["id"])) for row in rows] == list(
        zip("NSNSN", "01234", strict=True)
    )
    assert tally_file(OPEN, out) == tally(OPEN, ["N", "O", None, "F", "N"])


def test_responses_are_drawn_as_everywhere_else(tmp_path: Path) -> None:
    labels = ["never", "once", "often", None] * 500
    held = answers.write(tmp_path / "answers.csv", {"x": labels})
    out = tmp_path / "responses.ndjson"
    respond_file(
        DESIGN, held, out, column="x", source=source_named("files"), keep_order=True
    )
    one: Source = source_named("files")
    expected = [
        label
        and DESIGN.symbols[DESIGN.channel.draw(DESIGN.category_number(label), one)]
        for label in labels
    ]
    assert [row["response"] for row in answers.read(out)] == expected
    assert len(set(expected)) == 4


def test_without_a_source_the_draws_differ_from_run_to_run(tmp_path: Path) -> None:
    held = answers.write(tmp_path / "answers.csv", {"x": ["never"] * 1000})
    for name in ("one.csv", "two.csv"):
        respond_file(
            DESIGN, held, tmp_path / name, column="x", engine=Local(threads=2)
        )
    assert (tmp_path / "one.csv").read_bytes() != (tmp_path / "two.csv").read_bytes()


def test_many_batches_are_written_in_constant_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_blocks, "BLOCK", 1 << 16)
    labels = ["never", "once", "often"] * 70_000
    for format in answers.FORMATS:
        held = answers.write(tmp_path / f"many.{format}", {"x": labels})
        steps: list[tuple[int, float | None]] = []
        out = tmp_path / f"out.{format}"
        in_order(
            held,
            out,
            progress=lambda rows, share, steps=steps: steps.append((rows, share)),
        )
        assert len(steps) > 1
        assert steps[-1] == (210_000, 1.0)
        assert sent(out) == ["N", "O", "F"] * 70_000


@pytest.mark.parametrize(
    "numbers", [[1, 3, None], [1.0, 3.0, None], ["1", "3", None], [None, None, None]]
)
def test_numbers_are_the_labels_that_they_write(
    tmp_path: Path, numbers: list[Any]
) -> None:
    design = matrix(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        categories=["1", "2", "3"],
        symbols=["a", "b", "c"],
    )
    held = answers.write(tmp_path / "answers.parquet", {"x": numbers})
    respond_file(design, held, tmp_path / "out.csv", column="x")
    expected = [None] * 3 if numbers[0] is None else ["a", "c", None]
    assert tally_file(design, tmp_path / "out.csv") == tally(design, expected)


def test_a_categorical_column_of_pandas_is_read(tmp_path: Path) -> None:
    held = tmp_path / "answers.parquet"
    pd.DataFrame({"x": pd.Series(TRUTH, dtype="category")}).to_parquet(held)
    in_order(held, tmp_path / "out.ndjson")
    assert [row["response"] for row in answers.read(tmp_path / "out.ndjson")] == [
        "N",
        "O",
        None,
        "F",
        "N",
    ]


def test_an_empty_line_of_a_single_column_is_a_missing_answer(
    tmp_path: Path,
) -> None:
    held = tmp_path / "answers.csv"
    held.write_text('x\nnever\n\noften\n""\n')
    in_order(held, tmp_path / "out.csv")
    assert [row["response"] for row in answers.read(tmp_path / "out.csv")] == [
        "N",
        None,
        "F",
        None,
    ]


@pytest.mark.parametrize("format", answers.FORMATS)
def test_no_answers_give_no_responses(tmp_path: Path, format: str) -> None:
    held = tmp_path / "answers.csv"
    held.write_text("x,region\n")
    out = tmp_path / f"out.{format}"
    assert respond_file(DESIGN, held, out, column="x", keep=["region"]).rows == 0
    assert tally_file(DESIGN, out) == Tally.empty(DESIGN)


def test_designs_with_many_symbols_and_products_are_written(tmp_path: Path) -> None:
    for design in (k_ary(100_000, epsilon=8), product([warner(1), warner(2)])):
        category = design.categories[1]
        held = answers.write(tmp_path / "answers.ndjson", {"x": [category] * 300})
        for format in answers.FORMATS:
            out = tmp_path / f"out.{format}"
            respond_file(design, held, out, column="x", overwrite=True)
            counts = Counter(row["response"] for row in answers.read(out))
            assert tally_file(design, out) == tally(
                design, counts, codes=format in answers.TYPED
            )


def wrongs() -> dict[str, Any]:
    good = ["never"] * 4
    return {
        "unknown": {"x": [*good, SECRET]},
        "unknown and kept": {"x": [SECRET, *good], "region": ["N"] * 5},
        "a list": {"x": [[SECRET]]},
        "bytes": {"x": [SECRET.encode()]},
        "booleans": {"x": [True, False]},
        "fractions": {"x": [0.25, 1.0]},
    }


@pytest.mark.parametrize(
    ("case", "format"),
    [
        (case, format)
        for case in wrongs()
        for format in answers.FORMATS
        if (case, format) != ("bytes", "ndjson")  # JSON has no bytes
    ],
)
def test_wrong_answers_are_refused_without_a_word_of_them_and_nothing_is_written(
    tmp_path: Path, case: str, format: str
) -> None:
    held = answers.write(tmp_path / f"answers.{format}", wrongs()[case])
    with pytest.raises((InvalidAnswer, InvalidRequest, UnreadableFile)) as caught:
        respond_file(DESIGN, held, tmp_path / "out.parquet", column="x")
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told
    assert "secretanswer" not in told
    assert [path.name for path in tmp_path.iterdir()] == [held.name]
    if case == "unknown":
        assert "row 5 of answers." in caught.value.problem
        assert "'never', 'once', 'often'" in caught.value.problem


BROKEN = {
    "uneven.csv": f"id,x\n1,never\n2,never,{SECRET}\n",
    "short.csv": f"id,x\n1,never\n{SECRET}\n",
    "quoted.csv": f'id,x\n1,never\n2,"{SECRET}',
    "headless.csv": f"{SECRET}\nnever\n",
    "twice.csv": f"x,x\n{SECRET},never\n",
    "cut.ndjson": f'{{"x": "never"}}\n{{"x": "{SECRET}',
    "other.ndjson": f'{{"x": "never"}}\n{{"y": "{SECRET}"}}\n',
    "deep.ndjson": f'{{"x": {{"{SECRET}": "{SECRET}"}}}}\n',
    "text.parquet": SECRET,
    "empty.csv": "",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_without_a_word_of_them_and_nothing_is_written(
    tmp_path: Path, name: str
) -> None:
    held = tmp_path / name
    held.write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises(DeniableError) as caught:
        respond_file(DESIGN, held, tmp_path / "out.csv", column="x")
    told = "".join(traceback.format_exception(caught.value))
    assert "secretanswer" not in told
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failure_in_a_late_batch_leaves_nothing_behind(tmp_path: Path) -> None:
    for format in answers.FORMATS:
        held = answers.write(
            tmp_path / f"late.{format}", {"x": [*["never"] * 200_000, SECRET]}
        )
        with pytest.raises(InvalidAnswer, match="row 200,001 "):
            respond_file(DESIGN, held, tmp_path / f"out.{format}", column="x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "late.arrow",
        "late.csv",
        "late.ndjson",
        "late.parquet",
    ]


def test_a_failure_leaves_the_older_file_as_it_was(tmp_path: Path) -> None:
    held = answers.write(tmp_path / "answers.csv", {"x": [SECRET]})
    out = tmp_path / "out.csv"
    out.write_text("precious")
    with pytest.raises(InvalidAnswer):
        respond_file(DESIGN, held, out, column="x", overwrite=True)
    assert out.read_text() == "precious"


def test_existing_files_stay_unless_asked(held: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious")
    with pytest.raises(InvalidRequest, match="exists already"):
        respond_file(DESIGN, held, out, column="x")
    assert out.read_text() == "precious"
    respond_file(DESIGN, held, out, column="x", overwrite=True)
    assert tally_file(DESIGN, out).missing == 1


def test_the_answers_are_never_overwritten(held: Path, tmp_path: Path) -> None:
    before = held.read_bytes()
    link = tmp_path / f"link{held.suffix}"
    link.symlink_to(held)
    for target in (held, link):
        with pytest.raises(InvalidRequest, match="would replace the answers"):
            respond_file(DESIGN, held, target, column="x", overwrite=True)
    assert held.read_bytes() == before


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (["x"], "holds the answers"),
        (["response"], "'response'"),
        (["design"], "'design'"),
        (["id", "id"], "'id'"),
        (["age"], "'age'"),
    ],
)
def test_columns_that_may_not_be_kept_are_refused(
    held: Path, tmp_path: Path, keep: list[str], said: str
) -> None:
    with pytest.raises((InvalidRequest, UnreadableFile), match=said):
        respond_file(DESIGN, held, tmp_path / "out.csv", column="x", keep=keep)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.gz", "out.arrow.zst"])
def test_a_name_that_tells_no_format_is_refused(
    held: Path, tmp_path: Path, name: str
) -> None:
    with pytest.raises(
        InvalidRequest, match=r"\.parquet, \.arrow, \.csv or \.ndjson"
    ):
        respond_file(DESIGN, held, tmp_path / name, column="x")


def test_a_kept_column_that_csv_cannot_hold_is_refused(tmp_path: Path) -> None:
    held = answers.write(
        tmp_path / "answers.parquet", {"x": ["never"], "tags": [["a", "b"]]}
    )
    with pytest.raises(InvalidRequest, match="CSV cannot hold"):
        respond_file(DESIGN, held, tmp_path / "out.csv", column="x", keep=["tags"])
    in_order(held, tmp_path / "out.ndjson", keep=["tags"])
    assert json.loads((tmp_path / "out.ndjson").read_text())["tags"] == ["a", "b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answers.parquet",
        "out.ndjson",
    ]


def test_fresh_refuses_folders_and_takes_no_place_that_was_taken_meanwhile(
    tmp_path: Path,
) -> None:
    with (
        pytest.raises(InvalidRequest, match="not a file"),
        atomic_write(tmp_path, overwrite=True),
    ):
        pass
    target = tmp_path / "late.txt"
    with pytest.raises(InvalidRequest, match="exists"), atomic_write(target):
        target.write_text("somebody else's")
    assert target.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [target]


def test_errors_are_all_of_the_packages_own_kind(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        respond_file(DESIGN, tmp_path / "none.csv", tmp_path / "out.csv", column="x")
    held = given(tmp_path / "answers.csv")
    with pytest.raises(FileNotFoundError):
        respond_file(
            DESIGN, held, tmp_path / "no such folder" / "out.csv", column="x"
        )
    with pytest.raises(DeniableError):
        respond_file(
            DESIGN, held, tmp_path / "out.csv", column="x", answers_format="xlsx"
        )
