"""Surveys as people write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable.designs import k_ary, warner
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.order.relaxation import best_ladder, ladder
from deniable.survey import Survey
from tests.support.surveys import small

EXAMPLE = Path(__file__).parents[3] / "examples" / "survey.toml"


def document(**asked: Any) -> dict[str, Any]:
    """A survey with one question, as JSON."""
    one = {"name": "smokes", "texts": {"en": {"text": "Do you smoke?"}}, **asked}
    return {
        "name": "one",
        "texts": {"en": {"title": "One question"}},
        "questions": [one],
    }


def test_the_example_can_be_read() -> None:
    survey = Survey.read(EXAMPLE)
    assert survey.languages == ("en", "de", "es", "ar")
    assert [(each.device, each.stages) for each in survey.questions] == [
        ("browser", 1),
        ("physical", 1),
        ("browser", 3),
    ]
    assert all(each.designs[-1].epsilon <= 2 for each in survey.questions)


def test_a_design_is_named_by_family_and_parameters() -> None:
    survey = Survey.from_document(
        document(design={"family": "warner", "epsilon": 1})
    )
    assert survey.questions[0].design == warner(epsilon=1)


def test_a_demand_refuses_a_design_that_does_not_meet_it() -> None:
    asked = {"demand": "rho_to_rho 1/10 1/2", "device": "browser"}
    Survey.from_document(
        document(design={"family": "warner", "epsilon": 2}, **asked)
    )
    with pytest.raises(InvalidRequest, match="a factor of 9 is allowed"):
        Survey.from_document(
            document(design={"family": "warner", "epsilon": 2.5}, **asked)
        )
    stages = {"design": {"categories": ["a", "b", "c"]}, **asked}
    Survey.from_document(document(ladder=[0.5, 2], **stages))
    with pytest.raises(InvalidRequest, match="a factor of 9 is allowed"):
        Survey.from_document(document(ladder=[0.5, 2.5], **stages))


def test_the_planned_number_of_respondents_is_read() -> None:
    asked = document(design={"family": "warner", "epsilon": 1})
    assert Survey.from_document({**asked, "planned": 2_000}).planned == 2_000
    assert Survey.from_document(asked).planned is None


def test_a_ladder_of_epsilons_takes_the_best_sets_or_a_family() -> None:
    categories = ["a", "b", "c", "d"]
    best = Survey.from_document(
        document(design={"categories": categories}, ladder=[0.5, 2])
    )
    assert best.questions[0].ladder == best_ladder(categories, [0.5, 2])
    family = Survey.from_document(
        document(
            design={"family": "k_ary", "categories": categories}, ladder=[0.5, 2]
        )
    )
    assert family.questions[0].ladder == ladder(
        [k_ary(categories, epsilon=0.5), k_ary(categories, epsilon=2)]
    )


def test_designs_and_ladders_may_be_written_out_or_lie_in_a_file(
    tmp_path: Path,
) -> None:
    stages = ladder([warner(1), warner(2)])
    (tmp_path / "design.json").write_text(warner(1).to_json())
    (tmp_path / "ladder.json").write_text(stages.to_json())
    for asked, expected in [
        ({"design": "design.json"}, warner(1)),
        ({"design": json.loads(warner(1).to_json())}, warner(1)),
        ({"ladder": "ladder.json"}, stages),
        ({"ladder": json.loads(stages.to_json())}, stages),
    ]:
        (tmp_path / "survey.json").write_text(json.dumps(document(**asked)))
        assert Survey.read(tmp_path / "survey.json").questions[0].about == expected


def test_over_http_no_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(warner(1).to_json())
    with pytest.raises(InvalidRequest, match="written out here"):
        Survey.from_document(document(design=str(tmp_path / "design.json")))


def test_a_sealed_survey_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    path.write_text(small().to_json())
    assert Survey.read(path) == small()
    path.write_text(small().to_json().replace("small survey", "large survey"))
    with pytest.raises(UnreadableFile, match="hash"):
        Survey.read(path)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "expected a design, or a ladder"),
        (
            {"design": {"family": "nothing"}},
            "the question 'smokes': the family is 'nothing'",
        ),
        ({"design": {"family": ["warner"]}}, "the family is"),
        (
            {"design": {"family": "warner", "size": 3}},
            "warner cannot be built of size; expected epsilon",
        ),
        (
            {"design": {"family": "items", "designs": 3}},
            "expected a table of named fields",
        ),
        (
            {"design": {"family": "warner", "epsilon": "much"}},
            "the question 'smokes'",
        ),
        ({"design": {"family": "warner", "epsilon": [1]}}, "the question 'smokes'"),
        (
            {"design": {"family": "warner", "epsilon": 1}, "ladder": "ladder.json"},
            "expected a design, or a ladder",
        ),
        (
            {"design": {"family": "warner"}, "ladder": [1, 2]},
            "needs a design with categories",
        ),
        (
            {"design": {"categories": ["a", "b"]}, "ladder": [2, 1]},
            "the question 'smokes'",
        ),
        (
            {"design": {"categories": ["a", "b"]}, "ladder": []},
            "the question 'smokes'",
        ),
        ({"design": 3}, "expected a table"),
        ({"design": "missing.json"}, "cannot be read"),
        (
            {"design": {"family": "warner", "epsilon": 1}, "colour": "red"},
            "field 'colour'",
        ),
        (
            {"design": {"family": "direct", "categories": ["a", "b"]}},
            "acknowledge = inf",
        ),
        (
            {"design": {"family": "warner", "epsilon": 1}, "acknowledge": "yes"},
            "acknowledges 'yes'",
        ),
    ],
)
def test_mistakes_are_named(
    tmp_path: Path, asked: dict[str, Any], words: str
) -> None:
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(document(**asked)))
    with pytest.raises(InvalidRequest, match=words):
        Survey.read(path)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "expected a table"),
        ({"name": "x"}, "texts of the survey are missing"),
        ({"texts": {"en": "Title"}, "name": "x"}, "texts of the survey are missing"),
        (
            {"texts": {"en": {"title": "T", "footer": "F"}}, "name": "x"},
            "'footer' is no text",
        ),
        ({"texts": {"en": {"intro": "I"}}, "name": "x"}, "'title' is missing"),
        ({"texts": {"en": {"title": 3}}, "name": "x"}, "expected text"),
        (
            {"texts": {"en": {"title": "T"}}, "name": "x", "languages": "en"},
            "expected a list of texts",
        ),
        (
            {"texts": {"en": {"title": "T"}}, "name": "x", "groups": [["a"]]},
            "expected a list of texts",
        ),
        (
            {"texts": {"en": {"title": "T"}}, "name": "x", "questions": [3]},
            "expected a list of tables",
        ),
        (
            {"texts": {"en": {"title": "T"}}, "name": "x", "opens": "soon"},
            "expected a day",
        ),
        (
            {"texts": {"en": {"title": "T"}}, "name": "x", "price": 3},
            "field 'price'",
        ),
    ],
)
def test_mistakes_in_the_survey_itself_are_named(given: object, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        Survey.from_document(given)


@pytest.mark.parametrize("text", ["name = ", "\0", "{", "[" * 100_000])
def test_what_is_neither_toml_nor_json_is_refused(tmp_path: Path, text: str) -> None:
    for suffix in ("toml", "json"):
        path = tmp_path / f"survey.{suffix}"
        path.write_text(text)
        with pytest.raises(UnreadableFile, match="cannot be read"):
            Survey.read(path)
    with pytest.raises(UnreadableFile, match="cannot read"):
        Survey.read(tmp_path / "missing.toml")
