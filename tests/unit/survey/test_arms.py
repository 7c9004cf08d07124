"""Arms, comprehension checks and comparisons, as surveys define them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from deniable.chance import ScriptedSource
from deniable.designs import direct, k_ary, number_design, warner
from deniable.errors import InvalidRequest
from deniable.survey import Survey, SurveyArm, comprehension_check
from deniable.survey.arms import draw_arm
from tests.support.commands import done
from tests.support.respondents import ARMS
from tests.support.seeded import Seeded
from tests.support.surveys import question, small

OPEN = question(
    "open", direct(["no", "yes"]), acknowledge=math.inf, compare="masked"
)
MASKED = question("masked", warner(epsilon=1))
COMMON = question("common", warner(epsilon=2))
CHECK = comprehension_check("check", "certain", [MASKED])
BOTH = (SurveyArm("one", ("masked",), 2), SurveyArm("two", ("open",)))


def armed(*questions: Any, arms: Any = BOTH, **changes: Any) -> Survey:
    return small(
        questions=questions or (COMMON, MASKED, OPEN),
        arms=arms,
        acknowledge=math.inf,
        **changes,
    )


def test_an_arm_is_drawn_with_its_odds() -> None:
    """Every value of the one draw below 2⁶⁴ by its first byte: exactly two of three parts lead to the first arm."""
    edges = [(2**64 // 3) * at for at in (0, 1, 2, 3)]
    for number, arm in (
        (0, 0),
        (edges[1] - 1, 0),
        (edges[1], 0),
        (edges[2] - 1, 0),
        (edges[2], 1),
        (edges[3] - 1, 1),
    ):
        assert draw_arm(BOTH, ScriptedSource(number.to_bytes(8, "big"))) == arm
    source = Seeded("arms")
    drawn = Counter(draw_arm(BOTH, source) for _ in range(3_000))
    # 6.2 deviations: below 1e-9 by chance
    assert abs(drawn[1] - 1_000) < 6.2 * math.sqrt(3_000 * 2 / 9)


def test_each_arm_is_asked_its_questions_and_those_of_everybody() -> None:
    survey = armed()
    assert [[each.name for each in hand] for hand in survey.arm_questions] == [
        ["common", "masked"],
        ["common", "open"],
    ]
    source = Seeded("hands")
    assert {tuple(each.name for each in survey.draw_questions(source)) for _ in range(60)} == {
        ("common", "masked"), ("common", "open"),
    }  # fmt: skip
    assert Survey.from_json(survey.to_json()) == survey
    assert "arms" not in small().to_body()


def test_the_bound_is_that_of_the_arm_that_reveals_most() -> None:
    one, two, rest = (
        question(name, warner(p=p))
        for name, p in (("one", "3/4"), ("two", "4/5"), ("rest", "2/3"))
    )
    survey = armed(
        one, two, rest, arms=(SurveyArm("a", ("one",)), SurveyArm("b", ("two",)))
    )
    assert survey.disclosure.parity == Fraction(4) * 2, (
        "not 3 · 4 · 2: nobody is asked all three"
    )
    assert armed().disclosure.parity == math.inf
    checked = small(questions=(MASKED, CHECK))
    assert checked.disclosure.parity == MASKED.design.parity, (
        "a check is about the device"
    )
    assert checked.worst is MASKED


def test_a_direct_arm_has_to_be_acknowledged() -> None:
    with pytest.raises(InvalidRequest, match="ε = inf"):
        question("open", direct(["no", "yes"]))
    with pytest.raises(
        InvalidRequest, match="all its questions together, has ε = inf"
    ):
        small(questions=(MASKED, OPEN), arms=BOTH)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arms": BOTH[:1]}, "there are 1 arms"),
        ({"arms": (BOTH[0], SurveyArm("one", ("open",)))}, "two of one name"),
        (
            {"arms": (BOTH[0], SurveyArm("two", ("nothing",)))},
            "'nothing', which is no question",
        ),
        ({"arms": (BOTH[0], SurveyArm("two", ()))}, "no questions"),
        ({"arms": (BOTH[0], SurveyArm("two", ("masked",)))}, "the same questions"),
        ({"arms": (BOTH[0], SurveyArm("two", ("open",), 0))}, "has the odds 0"),
        (
            {"arms": (BOTH[0], SurveyArm("two", ("open",), True))},
            "has the odds True",
        ),
        (
            {"arms": (BOTH[0], SurveyArm("Two!", ("open",)))},
            "an arm is called 'Two!'",
        ),
        ({"each": 1}, "and there are arms"),
    ],
)
def test_arms_that_cannot_be_drawn_or_told_apart_are_refused(
    changes: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        armed(**changes)


def test_comparisons_are_of_the_same_answers_of_other_people() -> None:
    with pytest.raises(InvalidRequest, match="some are asked both"):
        small(questions=(MASKED, OPEN), acknowledge=math.inf)
    with pytest.raises(
        InvalidRequest, match="expected another question of the survey"
    ):
        small(questions=(question("masked", warner(epsilon=1), compare="masked"),))
    colours = question("open", k_ary(3, epsilon=1), compare="masked")
    with pytest.raises(InvalidRequest, match="which has other answers"):
        armed(MASKED, colours)
    numbers = [
        question(name, number_design(0, 4, epsilon=1), compare=other)
        for name, other in (("masked", ""), ("open", "masked"))
    ]
    with pytest.raises(InvalidRequest, match="which has other answers"):
        armed(*numbers)


def test_checks_alone_are_refused() -> None:
    with pytest.raises(
        InvalidRequest, match="all questions are comprehension checks"
    ):
        small(questions=(CHECK,))
    with pytest.raises(InvalidRequest, match="comprehension checks alone"):
        armed(
            CHECK,
            MASKED,
            arms=(SurveyArm("a", ("check",)), SurveyArm("b", ("masked",))),
        )


def test_files_say_it_in_a_few_words() -> None:
    assert [(arm.name, arm.odds) for arm in ARMS.arms] == [
        ("masked", 2),
        ("open", 1),
    ]
    assert ARMS.question("check").check == "certain"
    assert ARMS.question("check").design == direct(["yes", "no", "unknown"])
    assert Survey.from_json(ARMS.to_json()).hash == ARMS.hash
    for wrong, said in (
        ([{"nam": "a"}], "an arm has a field 'nam'"),
        ("a", "expected a list of tables"),
        ([{}], "no list"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            Survey.from_document(
                {
                    "name": "x",
                    "texts": {"en": {"title": "X"}},
                    "questions": [],
                    "arms": wrong,
                }
            )


def test_the_command_tells_what_each_arm_reveals(tmp_path: Any) -> None:
    file = tmp_path / "survey.toml"
    done("survey", "new", "--template", "validation", "--out", file)
    told = done("survey", "check", file).stdout
    assert (
        "The arm device, 1 of 2 respondents: ridden, understood; ε ≤ 1.61." in told
    )
    assert "The arm direct, 1 of 2 respondents: ridden-direct; ε ≤ ∞." in told
    book = done("survey", "codebook", file).stdout
    assert (
        "The comprehension check `certain` of the catalogue: what is chosen is sent as it is, and `no` is right."
        in book
    )
    assert "Compared with `ridden`" in book
