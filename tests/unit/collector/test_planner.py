from __future__ import annotations

import re

import pytest

from deniable.collector import planner
from deniable.collector.planner import Wish
from deniable.designs import direct, k_ary, subset, warner
from deniable.errors import InvalidRequest
from deniable.plan import (
    crossover,
    optimal,
    sample_size,
    sample_size_for_power,
    sample_size_for_width,
    width,
)
from deniable.survey.catalogue import locale
from deniable.survey.disclosure import Disclosure


def test_a_plan_says_what_the_library_says() -> None:
    made = planner.plan(Wish("1.5", 2000, 5, 20.0))
    chosen = optimal(5, "1.5").design
    assert made.design == chosen.name == "k_ary"
    assert made.margin == pytest.approx(width(chosen, 2000) / 2)
    assert (
        made.direct
        == pytest.approx(width(direct(2), 2000) / 2)
        == pytest.approx(width(direct(5), 2000) / 2)
    )
    assert made.needed == sample_size(chosen, margin=made.direct)
    assert made.worth == pytest.approx(2000 * (made.direct / made.margin) ** 2)
    factor = float(k_ary(5, epsilon="1.5").parity)
    assert made.posterior == pytest.approx(
        100 * factor * 0.2 / (1 + (factor - 1) * 0.2)
    )


@pytest.mark.parametrize("size", [2, 3, 9])
def test_the_point_of_the_plan_lies_on_the_curve(size: int) -> None:
    made = planner.plan(Wish("8", 500, size))
    x, y = map(float, made.curve.points.split()[-1].split(","))
    assert (made.curve.x, made.curve.y) == (x, pytest.approx(y, abs=0.05))


@pytest.mark.parametrize(
    "wish",
    [
        Wish("1", 1000, 2),
        Wish("0.1", 5, 40, share=0.1),
        Wish("8", 10**9, 3, lying=0.0),
    ],
)
def test_a_plan_tells_how_many_people_an_expected_share_takes(wish: Wish) -> None:
    made, design = planner.plan(wish), optimal(wish.categories, wish.epsilon).design
    share = wish.share / 100
    assert made.people[0].startswith(
        f"{sample_size_for_width(design, share=share, width=0.1):,} respondents"
    )
    by_power = sample_size_for_power(
        design, share=share, method="normal" if wish.epsilon == "0.1" else None
    )
    assert made.people[1].startswith(f"{by_power:,} respondents")
    assert (
        made.crossing
        == crossover(design, share=share, lying=wish.lying / 100).sentence
    )
    assert len(made.errors.points.split()) == len(made.errors.compared.split())
    assert 0 <= made.errors.x <= 100


@pytest.mark.parametrize("size", [4, 12, 40])
def test_the_bends_of_the_curve_are_explained(size: int) -> None:
    """Where the best number of answers in a response changes, asked of the design itself."""
    (told,) = planner.plan(Wish(categories=size)).kinks
    bends = [
        (float(epsilon), int(named))
        for epsilon, named in re.findall(r"from ε ≈ ([\d.]+) on (\d+)", told)
    ]
    assert bends[-1][1] == 1
    for epsilon, named in bends:
        below, above = (
            subset(size, f"{epsilon * factor:.4f}").channel.sizes[0]
            for factor in (0.85, 1.15)
        )
        assert above <= named < below
    assert (
        planner.plan(Wish(categories=2)).kinks
        == planner.plan(Wish(categories=3)).kinks
        == ()
    )


def test_two_answers_are_warners() -> None:
    assert planner.plan(Wish(categories=2)).margin == pytest.approx(
        width(warner(1), 1000) / 2
    )


def test_a_wish_is_read_from_a_form() -> None:
    assert planner.read_wish({}) == Wish()
    given = {
        "epsilon": "0.50",
        "respondents": "12,000",
        "categories": " 3 ",
        "prior": "",
        "other": "x",
    }
    assert planner.read_wish(given) == Wish("0.5", 12_000, 3, 10.0)
    assert planner.read_wish({"questions": "7"}) == Wish(questions=7)
    hoped = {"share": "2.5", "width": "4", "power": "90", "lying": "0"}
    assert planner.read_wish(hoped) == Wish(
        share=2.5, width=4.0, power=90.0, lying=0.0
    )


def test_a_plan_tells_what_respondents_are_told() -> None:
    spoken = locale("en")
    one = planner.plan(Wish("1.5", categories=2))
    assert one.told == (
        " ".join(Disclosure(warner("1.5").parity).response_words(spoken)),
    )
    assert one.warnings == ()
    several = planner.plan(Wish("1.5", categories=2, questions=3))
    assert several.told == (
        *one.told,
        " ".join(Disclosure.of([warner("1.5")] * 3).together_words(spoken)),
    )
    assert "at most 91 of 100" in several.told[1]


@pytest.mark.parametrize(
    ("epsilon", "questions", "warned"),
    [
        ("3", 1, []),
        ("3", 2, []),
        ("3.1", 1, ["“warner” has ε = 3.1."]),
        ("1", 7, ["all questions together have ε = 7."]),
        ("8", 2, ["“warner” has ε = 8.", "all questions together have ε = 16."]),
    ],
)
def test_a_plan_above_the_limits_is_warned_of(
    epsilon: str, questions: int, warned: list[str]
) -> None:
    made = planner.plan(Wish(epsilon, categories=2, questions=questions)).warnings
    assert len(made) == len(warned)
    assert all(
        said in sentence and "acknowledged" in sentence
        for said, sentence in zip(warned, made, strict=True)
    )


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("epsilon", "0", "ε is '0'; expected a number from 0.1 to 8"),
        ("epsilon", "1e999999999", "ε is"),
        ("epsilon", "nan", "ε is"),
        (
            "respondents",
            "1",
            "the number of respondents is '1'; expected a number from 2 to 1,000,000,000",
        ),
        ("categories", "many", "the number of categories is 'many'"),
        ("prior", "100", "the belief beforehand is '100'"),
        ("questions", "0", "the number of questions is '0'"),
    ],
)
def test_what_cannot_be_planned_with_is_refused(
    field: str, value: str, told: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        planner.read_wish({field: value})
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("epsilon", "questions", "used", "better"),
    [("0.2", 10, 2, True), ("2", 10, 3, False)],
)
def test_several_questions_are_compared_with_one_drawn_of_them(
    epsilon: str, questions: int, used: float, better: bool
) -> None:
    wish = Wish(epsilon, 3000, 2, questions=questions)
    told = planner.plan(wish).reasons[-1]
    other = 100 * width(warner(used), 3000 // questions) / 2
    assert f"with ε = {used:g} (each = 1" in told
    assert f"± {other:.2g} percentage points" in told
    assert (
        ("no better" not in told)
        == better
        == (other < 100 * planner.plan(wish).margin)
    )
    assert "drawn" not in " ".join(planner.plan(Wish(epsilon, 3000, 2)).reasons)
