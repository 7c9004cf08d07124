"""Every type of design with answers that stand in a column: files of answers → files of responses → its tally."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines.files import respond_file, tally_file
from deniable.tallies.responses import Responses
from tests.support import answers
from tests.support.seeded import seeded
from tests.support.types import TYPES, Asked

WEIGHTED = ("key-value", "edges")
TYPED = [name for name in TYPES if name != "deck"]
WAYS = [
    ("parquet", "parquet"),
    ("csv", "csv"),
    ("ndjson", "ndjson"),
    ("arrow", "arrow"),
    ("csv", "parquet"),
]


def columns(asked: Asked, format: str) -> dict[str, list[Any]]:
    """Return the answers as columns: of several attributes one for each, of weights by item JSON or maps."""
    names = asked.design.answer_columns
    if names:
        rows = [answer or dict.fromkeys(names) for answer in asked.answers]
        return {name: [row[name] for row in rows] for name in names}
    if asked.design.asks in WEIGHTED and format == "csv":
        return {
            "x": [
                None if each is None else json.dumps(each) for each in asked.answers
            ]
        }
    if asked.design.asks in WEIGHTED and format in answers.TYPED:
        pairs = [
            None if each is None else [(item, float(w)) for item, w in each.items()]
            for each in asked.answers
        ]
        return {"x": pa.array(pairs, pa.map_(pa.string(), pa.float64()))}  # type: ignore[dict-item]
    if asked.design.asks == "numbers" and format in answers.TYPED:
        return {
            "x": [None if each is None else float(each) for each in asked.answers]
        }
    return {"x": asked.answers}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("name", TYPED)
def test_files_hold_what_is_drawn_and_are_counted_as_it_is(
    name: str, way: tuple[str, str], tmp_path: Path
) -> None:
    asked = TYPES[name]()
    held = answers.write(tmp_path / f"answers.{way[0]}", columns(asked, way[0]))
    out = tmp_path / f"responses.{way[1]}"
    column = None if asked.design.answer_columns else "x"
    source = seeded(name)
    written = respond_file(
        asked.design, held, out, column=column, source=source, keep_order=True
    )
    assert (written.rows, written.missing) == (len(asked.answers), asked.missing)
    drawn = dn.respond_all(asked.design, list(asked.answers), source=seeded(name))
    assert tally_file(asked.design, out) == dn.tally(drawn)
    shuffled = tmp_path / f"shuffled.{way[1]}"
    respond_file(asked.design, held, shuffled, column=column)
    assert tally_file(asked.design, shuffled).missing == asked.missing
    if way[1] == "parquet":
        stored = pq.read_table(out).select(list(asked.design.columns))
        assert stored.cast(drawn.to_arrow().schema) == drawn.to_arrow(), (
            "the stored form is that of Responses"
        )
        assert Responses.from_arrow(pq.read_table(out), asked.design) == drawn


def test_a_deck_is_refused_in_words(tmp_path: Path) -> None:
    asked = TYPES["deck"]()
    held = answers.write(tmp_path / "answers.csv", {"x": asked.answers})
    with pytest.raises(
        dn.errors.InvalidRequest, match="dealt to all of its people at once"
    ):
        respond_file(asked.design, held, tmp_path / "out.csv", column="x")


def test_several_columns_have_a_design_each(tmp_path: Path) -> None:
    kinds = {
        name: TYPES[name]()
        for name in ("categories", "sets", "ladder", "strings", "numbers")
    }
    held = answers.write(
        tmp_path / "answers.ndjson",
        {name: asked.answers for name, asked in kinds.items()},
    )
    designs = {name: asked.design for name, asked in kinds.items()}
    for format in answers.FORMATS:
        out = tmp_path / f"responses.{format}"
        written = respond_file(
            designs, held, out, source=seeded("several"), keep_order=True
        )
        assert (written.rows, written.missing) == (80, 20)
        source = seeded("several")
        for name, asked in kinds.items():
            expected = dn.tally(
                dn.respond_all(asked.design, asked.answers, source=source)
            )
            assert tally_file(asked.design, out, question=name) == expected
        lines = format == "ndjson"  # whose columns nobody has named beforehand
        refused = dn.errors.UnreadableFile if lines else dn.errors.InvalidRequest
        with pytest.raises(
            refused, match="no field 'response'" if lines else "--column categories"
        ):
            tally_file(designs["categories"], out)
        with pytest.raises(dn.errors.DeniableError):
            tally_file(designs["sets"], out, question="categories")


def test_what_is_no_answer_is_named_by_its_row_and_not_repeated(
    tmp_path: Path,
) -> None:
    secret = "zq☠secretanswer"
    wrong: dict[str, Any] = {
        "numbers": secret,
        "key-value": secret,
        "edges": f'{{"{secret}": 1}}',
        "ladder": secret,
    }
    for name, answer in wrong.items():
        design = TYPES[name]().design
        good = {
            "numbers": "1",
            "key-value": "{}",
            "edges": '{"tea": 1}',
            "ladder": "never",
        }[name]
        held = answers.write(tmp_path / f"{name}.csv", {"x": [good, good, answer]})
        with pytest.raises(dn.errors.InvalidAnswer) as caught:
            respond_file(design, held, tmp_path / "out.csv", column="x")
        assert "secretanswer" not in str(caught.value)
        assert "row 3" in str(caught.value) or name == "edges"
        assert not (tmp_path / "out.csv").exists()
