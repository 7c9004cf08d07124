"""Surveys are values: they check themselves, travel, and are known by their hash."""

from __future__ import annotations

import json
import math
from datetime import date
from itertools import combinations
from typing import Any

import pytest

from deniable import documents
from deniable.designs import Design, crosswise, direct, k_ary, matrix, unary, warner
from deniable.errors import Incompatible, InvalidRequest, UnreadableFile
from deniable.order.relaxation import family_ladder, ladder
from deniable.survey import Keys, Question, QuestionTexts, Survey, SurveyTexts
from tests.support.signing import KEYS
from tests.support.surveys import COLOURS, question, small


def test_a_survey_travels_as_json_and_keeps_its_hash() -> None:
    survey = small(
        opens=date(2026, 1, 1),
        closes=date(2026, 2, 1),
        admission="invitation",
        minimum=5,
    )
    again = Survey.from_json(survey.to_json(indent=2))
    assert again == survey
    assert again.to_json() == survey.to_json()
    assert (again.opens, again.minimum, again.admission) == (
        date(2026, 1, 1),
        5,
        "invitation",
    )
    assert again.question("colour").ladder == survey.question("colour").ladder


def test_designs_inside_can_be_taken_out_and_read_alone() -> None:
    """The page hands them to the module that draws, which checks their hashes."""
    document = json.loads(small().to_json())
    assert document["questions"][0]["design"]["hash"] == warner(epsilon=1).hash
    assert document["questions"][1]["ladder"]["schema"] == "deniable/ladder/1"


def test_every_field_counts_in_the_hash() -> None:
    changes: list[dict[str, Any]] = [
        {}, {"minimum": 21}, {"groups": ("north",)}, {"closes": date(2026, 2, 1)}, {"admission": "invitation"},
        {"acknowledge": 7}, {"acknowledge": math.inf}, {"each": 1}, {"each": 2}, {"name": "other"},
        {"texts": {"en": SurveyTexts("Another title")}},
        {"questions": small().questions[:2]},
    ]  # fmt: skip
    assert len({small(**change).hash for change in changes}) == len(changes)


def test_the_keys_are_part_of_the_definition() -> None:
    """A collector that gave somebody other keys, to know their token again, would give them another hash."""
    fielded = [
        Keys("0" * 64, KEYS[0]),
        Keys("0" * 64, KEYS[1]),
        Keys("1" * 64, KEYS[0]),
    ]
    surveys = [small(admission="invitation", keys=keys) for keys in (None, *fielded)]
    assert len({each.hash for each in surveys}) == 4
    assert [Survey.from_json(each.to_json()).keys for each in surveys] == [
        None,
        *fielded,
    ]
    assert Survey.from_json(small(keys=Keys("0" * 64)).to_json()).keys == Keys(
        "0" * 64
    )


def test_keys_that_do_not_fit_are_refused() -> None:
    for admission, keys in (
        ("open", Keys("0" * 64, KEYS[0])),
        ("invitation", Keys("0" * 64)),
    ):
        with pytest.raises(InvalidRequest, match="do not fit"):
            small(admission=admission, keys=keys)
    for text in ("", "0" * 63, "A" * 64, None):
        with pytest.raises(InvalidRequest, match="key of receipts"):
            Keys(text)  # type: ignore[arg-type]


def test_an_edited_survey_is_refused() -> None:
    text = small().to_json().replace("A small survey", "A large survey")
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        Survey.from_json(text)


def test_one_survey_has_one_text() -> None:
    """What deniable would write otherwise is refused, also with the right hash."""
    body = json.loads(small().to_json())
    del body["hash"], body["schema"]
    for change in (
        {"colour": "red"},
        {"opens": "2026-1-1"},
        {"opens": "soon"},
        {"keys": {}},
    ):
        with pytest.raises(UnreadableFile):
            Survey.from_json(documents.seal("survey", body | change))
    assert Survey.from_json(documents.seal("survey", body)) == small()


def test_a_question_knows_its_stages_by_their_designs() -> None:
    asked = small().question("colour")
    assert asked.stages == 3
    assert asked.stage(asked.designs[2].hash) == 2
    with pytest.raises(Incompatible, match="'colour'"):
        asked.stage(warner(epsilon=1).hash)


def test_labels_are_those_of_the_language_or_of_the_design() -> None:
    texts = {
        "en": QuestionTexts("?"),
        "de": QuestionTexts("?", labels=("Nein", "Ja")),
    }
    asked = Question("smokes", warner(epsilon=1), texts)
    assert list(asked.labels("en")) == ["no", "yes"]
    assert list(asked.symbols("de")) == ["Nein", "Ja"]
    sets = Question(
        "apps",
        unary(3, epsilon=1),
        {"en": QuestionTexts("?", labels=("a", "b", "c"))},
    )
    assert sets.symbols("en")[0] == "b000"


def test_a_pilot_is_another_survey() -> None:
    survey = small(
        opens=date(2999, 1, 1), admission="invitation", keys=Keys("0" * 64, KEYS[0])
    )
    pilot = survey.as_pilot()
    assert (pilot.name, pilot.pilot, pilot.opens, pilot.keys) == (
        "small-pilot",
        True,
        None,
        None,
    )
    assert pilot.hash != survey.hash
    assert Survey.from_json(pilot.to_json()) == pilot
    with pytest.raises(InvalidRequest, match="is a pilot"):
        pilot.as_pilot()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "my-pilot"}, "for no other"),
        ({"pilot": True}, "'-pilot' for a pilot"),
        ({"name": "Not A Slug"}, "up to 40 letters"),
        ({"name": "plan"}, "page of the collector"),
        ({"questions": ()}, "0 questions"),
        (
            {"questions": (question("one", warner(1)), question("one", warner(2)))},
            "one name",
        ),
        ({"languages": ("en", "de")}, "expected en, de"),
        ({"languages": ("English",)}, "no language"),
        ({"minimum": 0}, "1 or more"),
        ({"groups": ("a", "a")}, "repeat"),
        ({"opens": date(2026, 2, 1), "closes": date(2026, 1, 1)}, "before it opens"),
        ({"admission": "password"}, "open, invitation"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        small(**change)


def test_a_design_without_a_finite_epsilon_must_be_asked_for() -> None:
    with pytest.raises(InvalidRequest, match=r"has ε = inf.* of 100 of 100"):
        question("direct", direct(["no", "yes"]))
    asked = question("direct", direct(["no", "yes"]), acknowledge=math.inf)
    assert Question.from_body(asked.to_body()).acknowledge == math.inf
    with pytest.raises(
        InvalidRequest, match="the survey, all its questions together, has ε = inf"
    ):
        small(questions=(asked,))
    assert small(questions=(asked,), acknowledge=math.inf).disclosure.after == 100


@pytest.mark.parametrize(
    ("epsilon", "acknowledged", "words"),
    [
        (
            10,
            None,
            "'drugs' has ε = 10: .* of 99.96 of 100; expected an ε of at most 3",
        ),
        (10, 9.99, "'drugs' has ε = 10, and acknowledges 9.99"),
        (3.001, None, "'drugs' has ε = 3.001"),
        (1, -1, "acknowledges -1"),
        (1, 0, "acknowledges 0"),
        (1, True, "acknowledges True"),
        (1, math.nan, "acknowledges nan"),
    ],
)
def test_an_epsilon_above_the_ceiling_must_be_acknowledged(
    epsilon: float, acknowledged: Any, words: str
) -> None:
    with pytest.raises(InvalidRequest, match=words):
        question("drugs", warner(epsilon=epsilon), acknowledge=acknowledged)


@pytest.mark.parametrize(
    ("epsilon", "acknowledged"), [(3, None), (10, 10), (10, math.inf), (3.001, 4)]
)
def test_what_is_within_the_ceiling_or_acknowledged_can_be_asked(
    epsilon: float, acknowledged: float | None
) -> None:
    asked = question("drugs", warner(epsilon=epsilon), acknowledge=acknowledged)
    assert Question.from_body(asked.to_body()).acknowledge == acknowledged


def test_the_finest_stage_counts() -> None:
    stages = ladder([k_ary(COLOURS, epsilon=1), k_ary(COLOURS, epsilon=4)])
    with pytest.raises(InvalidRequest, match="'colour' has ε = 4"):
        question("colour", stages)


def test_all_questions_together_must_be_acknowledged_above_the_budget() -> None:
    asked = tuple(question(f"q{at}", warner(epsilon=3)) for at in range(3))
    assert small(questions=asked[:2]).disclosure.epsilon == 6
    with pytest.raises(
        InvalidRequest, match=r"together, has ε = 9: .*; expected an ε of at most 6"
    ):
        small(questions=asked)
    with pytest.raises(InvalidRequest, match="has ε = 9, and acknowledges 8"):
        small(questions=asked, acknowledge=8)
    assert (
        Survey.from_json(small(questions=asked, acknowledge=9).to_json()).acknowledge
        == 9
    )


def test_decimals_add_up_as_they_are_written() -> None:
    """As floats, 10 and 0.1 are a little more than 10.1."""
    asked = (
        question("coffee", warner(epsilon=0.1)),
        question("drugs", warner(epsilon=10), acknowledge=10),
    )
    assert small(questions=asked, acknowledge=10.1).worst.name == "drugs"


def test_a_physical_device_has_one_stage_and_few_responses() -> None:
    stages = ladder([k_ary(COLOURS, epsilon=1), k_ary(COLOURS, epsilon=2)])
    with pytest.raises(InvalidRequest, match="expected one stage"):
        question("colour", stages, device="physical")
    with pytest.raises(InvalidRequest, match="choose from by hand"):
        question("apps", unary(12, epsilon=1), device="physical")
    with pytest.raises(InvalidRequest, match="browser, physical"):
        question("smokes", warner(1), device="phone")


def test_labels_must_be_as_many_as_the_categories() -> None:
    with pytest.raises(InvalidRequest, match="expected 2"):
        Question(
            "smokes", warner(1), {"en": QuestionTexts("?", labels=("only one",))}
        )
    with pytest.raises(InvalidRequest, match="twice"):
        QuestionTexts("?", labels=("same", "same"))


CARDS = [["1/3", "2/5"], ["2/3", "3/5"]]


def test_words_that_designs_bring_along_are_said_in_the_language() -> None:
    """And are in the definition: what people saw is under its hash."""
    texts = {tag: QuestionTexts("?") for tag in ("en", "de", "es", "ar", "de-AT")}
    asked = Question("crossed", crosswise("1/4"), texts)
    assert list(asked.symbols("en")) == ["different", "same"]
    assert (
        list(asked.symbols("de"))
        == list(asked.symbols("de-AT"))
        == ["verschieden", "gleich"]
    )
    assert list(asked.symbols("es")) == ["distintas", "iguales"]
    assert list(asked.symbols("ar")) == ["مختلفتان", "متطابقتان"]
    assert list(asked.labels("de")) == ["Nein", "Ja"]
    assert asked.to_body()["texts"]["de"]["symbols"] == ["verschieden", "gleich"]
    assert Question.from_body(asked.to_body()).to_body() == asked.to_body()
    given = Question(
        "crossed",
        crosswise("1/4"),
        {"de": QuestionTexts("?", symbols=("ungleich", "einerlei"))},
    )
    assert list(given.symbols("de")) == ["ungleich", "einerlei"]


def test_words_that_nobody_has_translated_are_refused() -> None:
    with pytest.raises(
        InvalidRequest,
        match=r"'crossed' is asked in 'it'.*'different', 'same'.*expected symbols",
    ):
        Question(
            "crossed",
            crosswise("1/4"),
            {"it": QuestionTexts("?", labels=("no", "sì"))},
        )
    with pytest.raises(InvalidRequest, match=r"'no', 'yes'.*expected labels"):
        Question("smokes", warner(epsilon=1), {"pt-BR": QuestionTexts("?")})
    drawn = matrix(CARDS, categories=["nein", "ja"], symbols=["Pik", "Herz"])
    assert list(
        Question("cards", drawn, {"de": QuestionTexts("?")}).symbols("de")
    ) == [
        "Pik",
        "Herz",
    ], "its only one"
    labelled = QuestionTexts("?", symbols=("Pik", "Herz"))
    for missing, texts in (
        ("en", {"en": QuestionTexts("?"), "de": labelled}),
        ("de", {"en": labelled, "de": QuestionTexts("?")}),
    ):
        with pytest.raises(InvalidRequest, match=rf"in '{missing}'.*'Pik', 'Herz'"):
            Question("cards", drawn, texts)
    codes = matrix(CARDS, categories=["a", "b"], symbols=["0", "1"])
    assert list(
        Question(
            "codes", codes, {"en": QuestionTexts("?"), "de": QuestionTexts("?")}
        ).symbols("de")
    ) == [
        "0",
        "1",
    ]


def test_stages_with_other_responses_have_no_labels_for_them() -> None:
    stages = family_ladder("subset", COLOURS, [0.5, 1])
    with pytest.raises(InvalidRequest, match="symbols"):
        Question(
            "colour", stages, {"en": QuestionTexts("?", symbols=("one", "two"))}
        )


def physical(design: Design, **texts: QuestionTexts) -> Question:
    return Question("by-hand", design, texts, device="physical")


def test_a_physical_device_is_known_or_described() -> None:
    die, odd = k_ary(COLOURS, p="2/3"), k_ary(COLOURS, epsilon=1)
    bare, told = (
        QuestionTexts("?", help="One of three."),
        QuestionTexts("?", instructions="Draw a card."),
    )
    assert physical(die, en=bare, de=bare).device == "physical"
    assert physical(odd, en=told, de=told).texts["de"].instructions == "Draw a card."
    with pytest.raises(
        InvalidRequest,
        match="no instructions in de, en; expected instructions in every language",
    ):
        physical(odd, en=bare, de=bare)
    with pytest.raises(InvalidRequest, match="no instructions in de;"):
        physical(odd, en=told, de=bare)
    with pytest.raises(InvalidRequest, match="in every language, or in none"):
        physical(die, en=told, de=bare)
    with pytest.raises(InvalidRequest, match="no instructions in en"):
        physical(crosswise("1/4"), en=bare)
    with pytest.raises(InvalidRequest, match="runs in the browser"):
        Question("drawn", die, {"en": told})


def test_questions_and_groups_are_found_by_name() -> None:
    survey = small()
    assert (survey.number("apps"), survey.group("south")) == (2, 1)
    with pytest.raises(InvalidRequest, match="no question 'age'"):
        survey.number("age")
    with pytest.raises(InvalidRequest, match="no group 'west'"):
        survey.group("west")


def test_some_of_the_questions_are_drawn_for_each() -> None:
    questions = tuple(
        question(name, warner(epsilon=3)) for name in ("a", "b", "c", "d")
    )
    with pytest.raises(InvalidRequest, match="acknowledge"):
        small(questions=questions)
    one, two = (small(questions=questions, each=each) for each in (1, 2))
    assert one.disclosure.parity == warner(epsilon=3).parity
    assert two.disclosure.parity == warner(epsilon=3).parity ** 2
    assert Survey.from_json(one.to_json()) == one
    assert one.hash != two.hash
    assert {
        tuple(each.name for each in two.draw_questions()) for _ in range(400)
    } == set(combinations("abcd", 2))
    everything = small()
    assert everything.draw_questions() is everything.questions


@pytest.mark.parametrize("each", [0, 3, 4, -1, True, "1", 1.0])
def test_a_number_of_questions_that_cannot_be_drawn_is_refused(each: Any) -> None:
    with pytest.raises(InvalidRequest, match="each respondent is asked"):
        small(each=each)


def test_a_device_in_the_hand_does_not_draw_questions() -> None:
    physical = question("smokes", warner(p="2/3"), device="physical")
    with pytest.raises(InvalidRequest, match="physical device"):
        small(questions=(physical, question("drinks", warner(p="2/3"))), each=1)


def test_the_planned_number_of_respondents_is_part_of_the_definition() -> None:
    planned = small(planned=2_000)
    assert planned.hash != small().hash
    assert Survey.from_json(planned.to_json()) == planned
    assert Survey.from_json(planned.to_json()).planned == 2_000
    assert "planned" not in small().to_body()
    for number in (0, 1, 2.5, True, "many"):
        with pytest.raises(InvalidRequest, match="planned is"):
            small(planned=number)
