"""Codebooks say what the definition does: every text, code, probability and factor."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.designs import k_ary, local_hashing, triangular
from deniable.errors import InvalidRequest
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts
from tests.support.commands import done, run
from tests.support.filled import EXAMPLE, example


def _asked(design: object, **texts: object) -> Survey:
    question = Question(
        "asked",
        design,
        {"en": QuestionTexts("Do you | *mind*?", **texts)},
        acknowledge=float("inf"),
    )
    return Survey(
        "habits",
        {"en": SurveyTexts("=Habits")},
        (question,),
        acknowledge=float("inf"),
    )


def test_the_table_has_every_cell_of_every_stage() -> None:
    rows = list(csv.DictReader(io.StringIO(example().codebook("de").to_csv())))
    asked = example().questions
    assert len(rows) == sum(
        each.channel.answers * each.channel.responses
        for one in asked
        for each in one.designs
    )
    for row in rows:
        question = example().question(row["question"])
        design = question.designs[int(row["stage"]) - 1]
        assert row["text"] == question.texts["de"].text
        assert row["design"] == design.name
        answer, response = row["category"], row["response"]
        assert Fraction(row["probability"]) == design.probability(
            response, given=answer
        )
        assert (
            Fraction(row["factor_low"]),
            Fraction(row["factor_high"]),
        ) == design.bayes_factors(response, answer)
        assert (
            row["category_label"]
            == question.labels("de")[design.category_number(answer)]
        )


def test_a_response_that_proves_something_has_its_factors() -> None:
    rows = list(
        csv.DictReader(io.StringIO(_asked(triangular("1/4")).codebook().to_csv()))
    )
    assert [
        (row["category"], row["response"], row["factor_low"]) for row in rows
    ] == [
        ("no", "neither", "inf"),
        ("no", "at least one", "1/4"),
        ("yes", "neither", "0"),
        ("yes", "at least one", "4"),
    ]
    assert all(row["epsilon"] == "inf" for row in rows)


def test_markdown_takes_no_text_for_a_mark() -> None:
    text = _asked(k_ary(3, p="2/3"), help="Say | it").codebook().to_markdown()
    assert text.startswith("# =Habits\n")
    assert "> Do you \\| \\*mind\\*?" in text
    assert "| 1 | 1 | 2/3 | 4, 4 |" in text
    assert "| 1 | 2 | 1/6 | 1/4, 1 |" in text


def test_what_is_too_large_is_named_and_not_listed() -> None:
    survey = _asked(local_hashing([str(each) for each in range(500)], epsilon=1))
    assert "500 answers and " in survey.codebook().to_markdown()
    (row,) = csv.DictReader(io.StringIO(survey.codebook().to_csv()))
    assert (row["design"], row["category"], row["probability"]) == (
        "local_hashing",
        "",
        "",
    )
    (variable,) = json.loads(survey.codebook().to_json())["codeBook"]["dataDscr"][
        "var"
    ]
    assert variable["catgry"] == []


def test_json_has_the_names_of_ddi() -> None:
    book = json.loads(example().codebook().to_json())
    variables = book["codeBook"]["dataDscr"]["var"]
    assert [each["@name"] for each in variables] == [
        each.name for each in example().questions
    ]
    assert (
        book["codeBook"]["stdyDscr"]["citation"]["titlStmt"]["IDNo"]
        == example().hash
    )
    assert variables[0]["catgry"][0] == {"catValu": "none", "labl": "None"}
    assert (
        variables[1]["qstn"]["ivuInstr"]
        == example().questions[1].texts["en"].instructions
    )
    assert [each["hash"] for each in variables[2]["deniable"]["stages"]] == [
        each.hash for each in example().questions[2].designs
    ]
    assert variables[1]["deniable"]["stages"][0]["cells"][0]["probability"] == "5/6"
    assert book["deniable"]["epsilon"] == "5.11"


def test_the_command_writes_by_the_ending_of_the_file(tmp_path: Path) -> None:
    for ending, write in (
        ("csv", "to_csv"),
        ("md", "to_markdown"),
        ("json", "to_json"),
    ):
        file = tmp_path / f"book.{ending}"
        done("survey", "codebook", EXAMPLE, "--out", file, "--language", "de")
        assert (
            file.read_text(encoding="utf-8").rstrip()
            == getattr(example().codebook("de"), write)().rstrip()
        )
    assert done("survey", "codebook", EXAMPLE).stdout.startswith("# Working life")
    assert (
        "expected a name that ends in .csv, .md, .json"
        in run("survey", "codebook", EXAMPLE, "-o", "b.pdf").stderr
    )
    with pytest.raises(
        InvalidRequest, match="not asked in 'fr'; expected one of en, de"
    ):
        example().codebook("fr")
