"""The table of types of question and surfaces: the page is what is generated, and each cell does what it says."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dn
from deniable.collector.app import make_app
from deniable.collector.store import open_store
from deniable.engines import files
from deniable.survey import Survey, SurveyTexts
from deniable.types import FOLDERS, surfaces
from tests.support.collector import UNLIMITED, Inside, listening, submission
from tests.support.commands import run
from tests.support.surveys import question
from tests.support.types import TYPES, Asked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "surfaces.md"
ELSEWHERE = {
    "Spark": "test_a_frame_of_spark",
    "browser draw": "tests/service/test_every_type_in_the_browser.py",
}


def rows(asked: Asked) -> tuple[pa.Table, str | None]:
    """Return the answers as a table, and the column that holds them; of attributes there is one for each."""
    attributes = asked.design.answer_columns
    if attributes:
        columns = {
            name: [None if row is None else row[name] for row in asked.answers]
            for name in attributes
        }
        return pa.table(columns), None
    return pa.table(
        {
            "answer": [
                json.dumps(row) if isinstance(row, dict) else row
                for row in asked.answers
            ]
        }
    ), "answer"


def one_answer(asked: Asked) -> Any:
    """Return an answer as a survey or a ledger takes it."""
    answer = next(answer for answer in asked.answers if answer is not None)
    return (
        dn.rounded(asked.design, answer)
        if isinstance(asked.design, dn.NumberDesign)
        else answer
    )


def asking(asked: Asked) -> Survey:
    return Survey(
        "small",
        {"en": SurveyTexts("A survey")},
        (question("asked", asked.design, acknowledge=math.inf),),
    )


def call_verbs(asked: Asked, folder: Path) -> None:  # noqa: ARG001 - one shape for all
    dn.respond(
        asked.design,
        next(answer for answer in asked.answers if answer is not None),
        **asked.respond,
    )
    dn.estimate(
        dn.tally(dn.respond_all(asked.design, asked.answers)), **asked.estimate
    )


def call_files(asked: Asked, folder: Path) -> None:
    table, column = rows(asked)
    parquet.write_table(table, folder / "answers.parquet")
    files.respond_file(
        asked.design,
        folder / "answers.parquet",
        folder / "responses.parquet",
        column=column,
    )
    assert (
        files.tally_file(asked.design, folder / "responses.parquet").missing
        == asked.missing
    )


def call_sql(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    sent = dn.respond_all(asked.design, asked.answers)
    with duckdb.connect() as connection:
        connection.register("sent", sent.to_arrow())
        assert dn.engines.duckdb.tally(asked.design, connection, "sent") == dn.tally(
            sent
        )


def call_groups(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    sent = dn.respond_all(asked.design, asked.answers)
    dn.estimate(dn.tally(sent, by=["n", "n", "s", "s"] * (len(sent) // 4)))


def call_sampling(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    sent = dn.respond_all(asked.design, asked.answers)
    dn.estimate(sent, sampling=dn.Sampling(np.ones(len(sent))), **asked.estimate)


def call_regression(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    sent = dn.respond_all(asked.design, asked.answers)
    dn.regress(
        "sent ~ age",
        {"sent": list(sent), "age": np.arange(len(sent)) % 7},
        design=asked.design,
    )


def call_survey_file(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    survey = asking(asked)
    assert Survey.from_json(survey.to_json()) == survey


def call_page(asked: Asked, folder: Path) -> None:
    store = open_store(folder / "store.db")
    store.create(asking(asked))
    store.open("small")
    with Inside(make_app(UNLIMITED, store)) as collector:
        assert b"What about asked?" in collector.ask("GET", "/s/small").body


def call_collector(asked: Asked, folder: Path) -> None:
    store = open_store(folder / "store.db")
    store.create(asking(asked))
    entry = store.open("small")
    with Inside(make_app(UNLIMITED, store)) as collector:
        answered = collector.ask(
            "POST", "/api/surveys/small/responses", submission(entry.survey)
        )
        assert answered.status == 204, answered.body
        assert store.tallies(entry.id, 0).respondents == 1


def call_client(asked: Asked, folder: Path) -> None:
    store = open_store(folder / "store.db")
    store.create(asking(asked))
    entry = store.open("small")
    with listening(make_app(UNLIMITED, store)) as base:
        with dn.Client(
            entry.link(base).text,
            folder / "device.db",
            ceiling=math.inf,
            budget=math.inf,
        ) as client:
            answer = next(answer for answer in asked.answers if answer is not None)
            client.answer("asked", answer)
            client.send()
        assert store.tallies(entry.id, 0).respondents == 1
    store.shut()


def call_field_kit(asked: Asked, folder: Path) -> None:
    assert dn.fieldkit.write_kit(asked.design, folder)


def call_shell(asked: Asked, folder: Path) -> None:
    (folder / "design.json").write_text(asked.design.to_json(), encoding="utf-8")
    (folder / "candidates.txt").write_text("Smith\nJones\n", encoding="utf-8")
    parquet.write_table(
        dn.respond_all(asked.design, asked.answers).to_arrow(),
        folder / "sent.parquet",
    )
    counted = run(
        "tally",
        folder / "design.json",
        folder / "sent.parquet",
        "--out",
        folder / "tally.json",
    )
    assert counted.exit_code == 0, counted.output
    options = ("--candidates", folder / "candidates.txt") if asked.estimate else ()
    estimated = run(
        "estimate", folder / "design.json", folder / "tally.json", *options
    )
    assert estimated.exit_code == 0, estimated.output


def call_plan(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    design = (
        dn.integer_deck(1_000, 1)
        if isinstance(asked.design, dn.Deck)
        else asked.design
    )
    dn.plan.sample_size(
        design, margin=20 if isinstance(design, dn.NumberDesign) else 0.2
    )


def call_certificate(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    certificate = dn.certify(asked.design)
    assert type(certificate).from_json(certificate.to_json()) == certificate
    assert "<h1" in certificate.to_html()


def call_audit(asked: Asked, folder: Path) -> None:  # noqa: ARG001
    assert (
        dn.audit(asked.design, draws=2_000, checks=["worst event"]).verdict
        == "consistent"
    )


def call_ledger(asked: Asked, folder: Path) -> None:
    with dn.Ledger.create(folder / "ledger.db") as ledger:
        ledger.answer("asked", one_answer(asked), asked.design)
        ledger.release(
            "asked", None if isinstance(asked.design, dn.Ladder) else asked.design
        )


CALLS: dict[str, Callable[[Asked, Path], None]] = {
    "verbs": call_verbs,
    "files": call_files,
    "SQL": call_sql,
    "groups": call_groups,
    "sampling": call_sampling,
    "regression": call_regression,
    "survey file": call_survey_file,
    "page": call_page,
    "collector": call_collector,
    "client": call_client,
    "field kit": call_field_kit,
    "shell": call_shell,
    "plan": call_plan,
    "certificate": call_certificate,
    "audit": call_audit,
    "ledger": call_ledger,
}


def test_the_page_is_what_is_generated() -> None:
    assert PAGE.read_text(encoding="utf-8") == surfaces.page(), surfaces.__doc__


def test_every_surface_is_called() -> None:
    assert set(surfaces.SURFACES) == set(CALLS) | set(ELSEWHERE)
    for asks in FOLDERS:
        assert set(surfaces.refusals(asks)) <= set(surfaces.SURFACES), asks
        assert all(
            "; expected " in reason and reason.endswith(".")
            for reason in surfaces.refusals(asks).values()
        )


@pytest.mark.parametrize("asks", FOLDERS)
@pytest.mark.parametrize("surface", CALLS)
def test_a_cell_does_what_it_says(surface: str, asks: str, tmp_path: Path) -> None:
    refused = surface in surfaces.refusals(asks)
    with (
        warnings.catch_warnings(),
        pytest.raises(dn.DeniableError, match="expected")
        if refused
        else nullcontext(),
    ):
        warnings.simplefilter("ignore", dn.errors.ImplausibleResponses)
        CALLS[surface](TYPES[asks](), tmp_path)


@pytest.mark.parametrize("surface", ["files", "groups", "survey file", "field kit"])
def test_an_error_tells_the_reason_of_the_page(surface: str, tmp_path: Path) -> None:
    refusing = [asks for asks in FOLDERS if surface in surfaces.refusals(asks)]
    assert refusing
    for asks in refusing:
        with pytest.raises(dn.errors.InvalidRequest) as caught:
            CALLS[surface](TYPES[asks](), tmp_path)
        assert caught.value.problem == surfaces.refusals(asks)[surface]


ON_SPARK = [asks for asks in FOLDERS if "Spark" not in surfaces.refusals(asks)]


def frame_of(
    asked: Asked, spark: SparkSession, folder: Path
) -> tuple[Any, str | None]:
    """Return a frame of answers, and the column that holds them; items with weights are maps there."""
    table, column = rows(asked)
    if (
        any(isinstance(answer, dict) for answer in asked.answers)
        and column is not None
    ):
        weights = [
            None if answer is None else list(answer.items())
            for answer in asked.answers
        ]
        table = pa.table(
            {column: pa.array(weights, pa.map_(pa.string(), pa.float64()))}
        )
    parquet.write_table(table, folder / "answers.parquet")
    return spark.read.parquet(str(folder / "answers.parquet")), column


@pytest.mark.parametrize("asks", ON_SPARK)
def test_a_frame_of_spark(asks: str, spark: SparkSession, tmp_path: Path) -> None:
    asked = TYPES[asks]()
    frame, column = frame_of(asked, spark, tmp_path)
    sent = dn.engines.spark.respond_all(
        asked.design, frame, column, out=str(tmp_path / "responses")
    )
    assert dn.engines.spark.tally(asked.design, sent).missing == asked.missing


@pytest.mark.parametrize("asks", [asks for asks in FOLDERS if asks not in ON_SPARK])
def test_a_frame_of_spark_is_refused(
    asks: str, spark: SparkSession, tmp_path: Path
) -> None:
    asked = TYPES[asks]()
    frame, column = frame_of(asked, spark, tmp_path)
    with pytest.raises(dn.errors.InvalidRequest) as caught:
        dn.engines.spark.respond_all(
            asked.design, frame, column, out=str(tmp_path / "responses")
        )
    assert caught.value.problem == surfaces.refusals(asks)["Spark"]
