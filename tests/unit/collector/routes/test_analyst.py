"""Counts, estimates and exports: for analysts only, and nothing below the minimum."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store, Token
from deniable.designs import matrix, warner
from deniable.engines.files import tally_file
from deniable.survey import Survey
from deniable.tallies import Tally
from tests.support.collector import Inside, submission
from tests.support.surveys import question, small

BASE = "/api/surveys/small"


@pytest.fixture
def answered(collector: Inside, survey: Survey) -> Inside:
    """A collector with seven responses from the north to the first question and one more; three make a step."""
    sent = [
        (symbol, "north")
        for symbol in ("yes", "no", "yes", "yes", "yes", "no", "yes")
    ]
    for symbol, group in (*sent, ("no", "south")):
        assert (
            collector.ask(
                "POST", f"{BASE}/responses", submission(survey, symbol, group=group)
            ).status
            == 204
        )
    return collector


def test_counts_are_those_of_the_file_format(
    answered: Inside, survey: Survey, analyst: str
) -> None:
    found = answered.ask("GET", f"{BASE}/tallies", authorization=analyst).json
    design = survey.questions[0].design
    assert Tally.from_json(
        json.dumps(found["questions"]["smokes"]), design
    ).counts.tolist() == [1, 2], "three of the north"
    assert found["questions"]["colour"] is None, "nobody has responded"
    assert found["survey"] == survey.hash


def test_a_small_group_is_not_shown_nor_told_by_subtraction(
    answered: Inside, analyst: str
) -> None:
    told = [
        answered.ask("GET", f"{BASE}/tallies{query}", authorization=analyst).json[
            "questions"
        ]["smokes"]
        for query in ("", "?group=north", "?group=south")
    ]
    assert told[0] == told[1], "everybody who is shown is from the north"
    assert told[2] is None
    assert (
        answered.ask(
            "GET", f"{BASE}/tallies?group=west", authorization=analyst
        ).status
        == 400
    )


def test_estimates_have_intervals(answered: Inside, analyst: str) -> None:
    found = answered.ask("GET", f"{BASE}/estimates", authorization=analyst).json[
        "questions"
    ]["smokes"]
    assert found["respondents"] == 3
    assert len(found["shares"]) == 2


def test_a_question_that_cannot_be_estimated_leaves_the_others(
    database: Store, analyst: str
) -> None:
    blank = question("blank", matrix([["1/2", "1/2"], ["1/2", "1/2"]]))
    database.create(
        small(
            name="mixed",
            questions=(blank, question("smokes", warner(epsilon=1))),
            minimum=2,
        )
    )
    survey = database.open("mixed").survey
    with Inside(make_app(Settings(), database)) as collector:
        for number in (0, 0, 0, 0, 1, 1, 1, 1):
            collector.ask(
                "POST",
                "/api/surveys/mixed/responses",
                submission(survey, question=number, group="north"),
            )
        found = collector.ask(
            "GET", "/api/surveys/mixed/estimates", authorization=analyst
        ).json["questions"]
        page = collector.ask("GET", "/a/mixed/blank.json", authorization=analyst)
    assert found["blank"] is None
    assert (page.status, page.json["results"]) == (200, None)
    assert page.json["why"]
    assert found["smokes"]["respondents"] == 2


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_export_is_counted_as_it_was_sent(
    answered: Inside,
    database: Store,
    survey: Survey,
    analyst: str,
    tmp_path: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for symbol in ("no", "yes"):
        assert (
            answered.ask(
                "POST",
                f"{BASE}/responses",
                submission(survey, symbol, group="south"),
            ).status
            == 204
        )
    path = f"{BASE}/exports/smokes.{kind}"
    early = answered.ask("GET", path, authorization=analyst)
    assert (early.status, early.json["error"]["what"][:9]) == (403, "responses"), (
        "counts are shown, rows are not"
    )
    database.close("small")
    answered._app.state.collector.surveys.forget()
    # the system's folder for such files is not there: what spills lies beside the database
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    found = answered.ask(
        "GET", f"{BASE}/exports/smokes.{kind}", authorization=analyst
    )
    assert (
        found.headers["content-disposition"]
        == f'attachment; filename="small-smokes.{kind}"'
    )
    file = tmp_path / f"responses.{kind}"
    file.write_bytes(found.body)
    assert tally_file(survey.questions[0].design, file).counts.tolist() == [4, 6], (
        "all of them"
    )
    table = (
        pacsv.read_csv(io.BytesIO(found.body))
        if kind == "csv"
        else pq.read_table(file)
    )
    assert table.column_names == ["stage", "group", "response", "design"]
    assert table["group"].null_count == 0


def test_exports_below_the_minimum_or_of_nothing_are_refused(
    answered: Inside, analyst: str
) -> None:
    assert (
        answered.ask(
            "GET", f"{BASE}/exports/colour.csv", authorization=analyst
        ).status
        == 403
    )
    assert (
        answered.ask(
            "GET", f"{BASE}/exports/smokes.xls", authorization=analyst
        ).status
        == 404
    )
    assert (
        answered.ask(
            "GET", f"{BASE}/exports/nothing.csv", authorization=analyst
        ).status
        == 400
    )


@pytest.mark.parametrize(
    "path",
    [
        f"{BASE}/tallies",
        f"{BASE}/estimates",
        f"{BASE}/exports/smokes.csv",
        "/metrics",
    ],
)
def test_nobody_reads_results_without_a_token(
    answered: Inside, database: Store, path: str
) -> None:
    refused = answered.ask("GET", path)
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert answered.ask("GET", path, authorization="Bearer dn_nothing").status == 401
    assert answered.ask("GET", path, authorization="Basic YTpi").status == 401
    database.create(small(name="other"))
    other = database.issue_token(Token("bob", "analyst", "other"))
    assert answered.ask("GET", path, authorization=f"Bearer {other}").status == 403
