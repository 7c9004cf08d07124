"""A type of question in one folder of the tests passes through everything: nothing else in the library names it."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dn
from deniable.collector.app import make_app
from deniable.collector.pages.analyst import question_page
from deniable.collector.store import open_store
from deniable.engines import files, sql
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.survey import Survey
from deniable.types import FILES, FOLDERS, surfaces
from tests.support import bearings
from tests.support.bearings.count import BearingTally
from tests.support.bearings.design import POINTS, BearingDesign, bearing_design
from tests.support.collector import UNLIMITED, listening
from tests.support.seeded import Seeded

DESIGN = bearing_design(2)
ANSWERS = ["north", "east", None, "west", "north"] * 40
SOURCE = Path(dn.__file__).parent


@pytest.fixture(autouse=True)
def _in_the_list() -> Iterator[None]:
    with bearings.added():
        yield


@pytest.fixture
def sent() -> Any:
    return dn.respond_all(DESIGN, ANSWERS, source=Seeded("bearings"))  # type: ignore[arg-type]  # for checkers unknown


def test_it_is_in_the_list_only_while_a_test_asks_for_it() -> None:
    assert bearings.ASKS in FOLDERS
    assert not any(
        "bearings" in path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*.py")
    )


def test_its_verbs(sent: Any) -> None:
    response: Any = dn.respond(DESIGN, "north")  # type: ignore[arg-type]
    assert DESIGN.response_number(response.symbol) in range(4)
    assert len(sent) == 200
    counted: Any = dn.tally(sent)
    assert isinstance(counted, BearingTally)
    assert (counted.respondents, counted.missing) == (160, 40)
    assert dn.tally(DESIGN, list(sent)) == counted  # type: ignore[call-overload]
    found: Any = dn.estimate(counted)
    assert set(found.params) == set(POINTS)
    assert found.params["north"] == pytest.approx(0.5, abs=0.2)


def test_its_draws_are_those_of_one_answer_after_another() -> None:
    answers = [each for each in ANSWERS if each]
    one_by_one, source = [], Seeded("one by one")
    for answer in answers:
        response: Any = dn.respond(DESIGN, answer, source=source)  # type: ignore[arg-type]
        one_by_one.append(response.symbol)
    all_at_once: Any = dn.respond_all(DESIGN, answers, source=Seeded("one by one"))  # type: ignore[arg-type]
    assert list(all_at_once) == one_by_one


def test_its_errors(sent: Any) -> None:
    with pytest.raises(InvalidAnswer):
        dn.respond(DESIGN, "up")  # type: ignore[arg-type]
    with pytest.raises(InvalidResponse):
        dn.tally(DESIGN, ["→ up"])  # type: ignore[call-overload]
    with pytest.raises(Incompatible):
        dn.tally(bearing_design(1), sent)  # type: ignore[call-overload]
    with pytest.raises(
        InvalidRequest,
        match=r"cohorts does not go with a design that asks for bearings",
    ):
        dn.respond_all(DESIGN, ANSWERS, cohorts=[1])  # type: ignore[arg-type, call-arg]


def test_its_documents(sent: Any) -> None:
    assert BearingDesign.from_json(DESIGN.to_json()) == DESIGN
    counted: Any = dn.tally(sent)
    assert BearingTally.from_json(counted.to_json(), DESIGN) == counted
    for value in (DESIGN, counted, sent):
        assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize("stored", ["parquet", "csv"])
def test_its_files(tmp_path: Path, stored: str) -> None:
    parquet.write_table(pa.table({"way": ANSWERS}), tmp_path / "answers.parquet")
    responses = tmp_path / f"responses.{stored}"
    files.respond_file(DESIGN, tmp_path / "answers.parquet", responses, column="way")
    counted = files.tally_file(DESIGN, responses)
    assert isinstance(counted, BearingTally)
    assert (counted.respondents, counted.missing) == (160, 40)


@pytest.mark.parametrize("labels", [False, True], ids=["codes", "text"])
def test_its_tables_in_a_database(sent: Any, labels: bool) -> None:
    table = pa.table({"response": list(sent)}) if labels else sent.to_arrow()
    with duckdb.connect() as connection:
        connection.register("sent", table)
        assert dn.engines.duckdb.tally(DESIGN, connection, "sent") == dn.tally(sent)
    assert "GROUP BY" in sql.query(DESIGN, "sent", dialect="spark")


def test_its_groups(sent: Any) -> None:
    regions = ["n", "s"] * 100
    counted: Any = dn.tally(sent, by=regions)
    assert counted.overall == dn.tally(sent)
    assert dn.GroupedTally.from_json(counted.to_json(), DESIGN) == counted
    found = dn.estimate(counted)
    assert "n · north" in found.params
    assert 0 <= found.homogeneity().p_value <= 1
    assert len(found.pairwise().params) == 4


def test_its_sample(sent: Any) -> None:
    plain: Any = dn.estimate(dn.tally(sent))
    sampled: Any = dn.estimate(sent, sampling=dn.Sampling(np.ones(200)))
    assert sampled.params == pytest.approx(plain.params)
    assert (
        "n · north"
        in dn.estimate(
            sent, sampling=dn.Sampling(np.ones(200)), by=["n", "s"] * 100
        ).params
    )


def test_its_certificate_and_its_page() -> None:
    certificate = dn.certify(DESIGN)
    assert type(certificate).from_json(certificate.to_json()) == certificate
    assert "north" in certificate.to_html()


def test_its_tables_and_pictures(sent: Any) -> None:
    counted: Any = dn.tally(sent)
    for thing in (DESIGN, counted, dn.tally(sent, by=["n", "s"] * 100)):
        assert "<table" in thing._repr_html_()
        assert thing.plot().axes
    assert "north" in DESIGN.to_csv()
    assert "north" in str(counted)


def test_its_plan_and_its_audit() -> None:
    assert dn.plan.sample_size(DESIGN, margin=0.1) == dn.plan.sample_size(
        DESIGN.device, margin=0.1
    )
    assert (
        dn.audit(DESIGN, draws=2_000, checks=["worst event"]).verdict == "consistent"
    )


def test_its_survey_file(tmp_path: Path) -> None:
    survey = bearings.survey(DESIGN)
    assert survey.question("way").about == DESIGN
    assert Survey.from_json(survey.to_json()) == survey
    (tmp_path / "way.json").write_text(DESIGN.to_json(), encoding="utf-8")
    (tmp_path / "survey.toml").write_text(
        'name = "ways"\ntexts.en.title = "Ways"\n'
        '[[questions]]\nname = "way"\ndesign = "way.json"\ntexts.en.text = "Where to?"\n',
        encoding="utf-8",
    )
    assert Survey.read(tmp_path / "survey.toml") == survey
    with pytest.raises(UnreadableFile, match="not as deniable writes it"):
        bearings.with_another_device(survey)


def test_its_page_and_its_collector_over_http(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(bearings.survey(DESIGN))
    entry = store.open("ways")
    with listening(make_app(UNLIMITED, store)) as base:
        page = urlopen(f"{base}/s/ways").read().decode()
        assert "Where to?" in page
        assert all(f">{point}<" in page for point in POINTS)
        for number in range(24):
            with dn.Client(
                entry.link(base).text,
                tmp_path / f"{number}.db",
                source=Seeded(number),
            ) as client:
                client.answer("way", POINTS[number % 4])
                [waiting] = client.waiting()
                assert DESIGN.response_number(waiting["symbol"]) in range(4)
                assert client.send() == 1
    store.close("ways")
    shown = store.shown(entry.id, 0)
    assert shown.everybody.tally.respondents == 24
    facts = question_page(store, "ways", "way").facts
    assert facts.results is not None
    assert [share.label for share in facts.results.shares] == list(POINTS)
    assert store.stored(entry.id, b"\0" * 16) == ()
    store.shut()


def test_what_it_is_refused_by_tells_the_reason() -> None:
    with pytest.raises(InvalidRequest, match="draws this by hand"):
        dn.fieldkit.write_kit(DESIGN, "kit")
    assert "| bearings |" in surfaces.page()


def test_every_operation_is_defined_in_its_file() -> None:
    names = {path.stem for path in Path(bearings.__file__).parent.glob("*.py")} - {
        "__init__"
    }
    assert names <= set(FILES.values())


NEWEST = re.compile(
    r"Bucket(Design|Tally|Quantiles)|bucket_design|numbers in buckets|types\.buckets"
)


def test_the_newest_type_is_named_in_few_files_outside_its_folder() -> None:
    sources = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]
    naming = [
        path for path in sources if NEWEST.search(path.read_text(encoding="utf-8"))
    ]
    outside = {
        path.relative_to(SOURCE).as_posix()
        for path in naming
        if SOURCE / "types/buckets" not in path.parents
    }
    assert len(naming) > len(outside)
    assert len(outside) <= 3, sorted(outside)
