"""Sentences about results, of simulated surveys of 1 to 100 people: true, possible, and undecided where the data are.

Every number is read back out of its sentence and compared with the result, and with the range of what is possible,
which is written down here once more. Nothing can fail by chance: what is compared holds for every sample.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector import results
from deniable.collector.store import Entry, ShownCounts, ShownQuestion
from deniable.errors import NotEstimable
from deniable.estimates import Row, Summary, cross_table
from deniable.order.ladders import Ladder
from deniable.report import methods, sentence
from deniable.report.result_texts import about
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts
from tests.support.seeded import seeded
from tests.support.sentences import (
    NO_NUMBER,
    NOISE,
    NUMBER,
    check_sentence,
    printed,
)
from tests.support.types import CATEGORIES, TYPES

pytestmark = pytest.mark.filterwarnings(
    "ignore::deniable.errors.ImplausibleResponses"
)

SIZES = (1, 2, 3, 5, 8, 13, 34, 100)
LANGUAGES = ("en", "de", "es", "fr", "ar")
SHARE, UNIT = (0.0, 1.0), (-1.0, 1.0)


def check_notes(summary: Summary[Row]) -> None:
    """No note has a number that is none, nor a share outside of 0 … 100 % that is not called so."""
    for text in (*summary.notes, *map(str, summary.warnings)):
        assert not NO_NUMBER.search(text.replace("ε = ∞", "")), text
        if "below 0" not in text:
            for digits, percent in NUMBER.findall(text):
                value = float(digits.replace(",", "").replace("−", "-"))
                assert not percent or 0 <= value <= 100, text


def possible_values(
    design: Any, quantity: str, name: str, respondents: int
) -> tuple[float, float]:
    """Return what a number can be, by its design."""
    own = name.rpartition(" · ")[2]
    if design.asks == "numbers in buckets":
        return design.buckets.low, design.buckets.high
    if design.asks == "numbers":
        low, high = float(design.range.low), float(design.range.high)
        if quantity == "difference":
            half = (high - low) / 2
            return (-half, half) if own == "sd" else (low - high, high - low)
        return (0, (high - low) / 2) if own == "sd" else (low, high)
    if quantity in ("mean", "weight"):
        low, high = float(design.low), float(design.high)
        return (
            (low, high)
            if quantity == "mean"
            else (respondents * min(low, 0), respondents * max(high, 0))
        )
    if quantity == "degree":
        return 0, respondents
    return UNIT if quantity.startswith("difference") else SHARE


def check_result(result: Any, design: Any) -> None:
    summary = result.summary()
    check_notes(summary)
    assert not NO_NUMBER.search(methods(result).replace("no finite ε", ""))
    for row in summary.rows:
        possible = possible_values(
            design, summary.quantity, row.name, summary.respondents
        )
        check_sentence(sentence(summary, row.name), row, possible)


def simulated(kind: str, n: int, seed: int = 0) -> tuple[Any, Any]:
    """Return a design and the tally of responses to it, in which everybody who answered counts."""
    asked = TYPES[kind]()
    rng = np.random.default_rng([n, seed])
    present = [answer for answer in asked.answers if answer is not None]
    answers = [present[index] for index in rng.integers(len(present), size=n)]
    sent = dn.respond_all(asked.design, answers, source=seeded(f"{kind} {n} {seed}"))
    return asked, dn.tally(sent)


SLOW = ("key-value", "key-value vectors", "key-value, one of them", "edges")
QUICK = [kind for kind in TYPES if kind not in ("deck", *SLOW)]


def estimates(
    kind: str, sizes: tuple[int, ...] = SIZES
) -> Iterator[tuple[Any, Any]]:
    """Yield a design and an estimate for each size of a survey that tells anything."""
    for n in sizes:
        asked, tally = simulated(kind, n)
        try:
            result = dn.estimate(tally, **asked.estimate)
        except NotEstimable:
            assert n < 100
            continue
        yield asked.design, result


@pytest.mark.parametrize("kind", QUICK)
def test_every_type_is_told_truly(kind: str) -> None:
    for design, result in estimates(kind):
        check_result(result, design)


@pytest.mark.parametrize("kind", SLOW)
def test_every_quantity_of_items_is_told_truly(kind: str) -> None:
    for design, result in estimates(kind, (1, 3, 40)):
        for quantity in filter(result.tells, result.QUANTITIES):
            check_result(result.about(quantity), design)


@pytest.mark.parametrize("n", SIZES[2:])
def test_a_deck_is_told_truly(n: int) -> None:
    deck = dn.integer_deck(n, 1)
    answers = np.random.default_rng(n).choice(["yes", "no"], n).tolist()
    result = dn.estimate(
        dn.tally(dn.respond_all(deck, answers, source=seeded(f"deck {n}")))
    )
    check_result(result, deck)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["categories", "numbers", "attributes"])
def test_groups_and_samples_are_told_truly(kind: str, n: int) -> None:
    asked, first = simulated(kind, n)
    _, second = simulated(kind, 3, seed=1)
    tally = dn.GroupedTally(asked.design, {"north": first, "south": second})
    try:
        result = dn.estimate(tally)
    except NotEstimable:
        assert n < 3
        return
    check_result(result, asked.design)
    if kind != "attributes" and n > 1:
        check_result(result.pairwise(), asked.design)
    rows = dn.respond_all(
        asked.design,
        [asked.answers[0]] * (n + 4),
        source=seeded(f"sample {kind} {n}"),
    )
    sampling = dn.Sampling(np.arange(n + 4) % 3 + 1)
    check_result(dn.estimate(rows, sampling=sampling), asked.design)


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2), (1, 40)])
@pytest.mark.parametrize("amount", [0, 500])
def test_groups_of_few_numbers_are_not_told_apart(
    sizes: tuple[int, int], amount: int
) -> None:
    """Who sends one response all leaves no error, and a p-value of 0.0002 whose interval held 0."""
    design = dn.number_design(0, 500, 1)
    tallies = {
        f"{number}": dn.tally(
            dn.respond_all(design, [amount] * n, source=seeded(f"few {number}"))
        )
        for number, n in enumerate(sizes)
    }
    try:
        result = dn.estimate(dn.GroupedTally(design, tallies))
        rows = result.pairwise().summary().rows
    except (NotEstimable, dn.errors.InvalidRequest):
        assert 1 in sizes
        return
    check_notes(result.summary())
    assert all(row.p_value > 0.05 for row in rows if row.low <= 0 <= row.high)


@pytest.mark.parametrize("n", [2, 8, 30])
@pytest.mark.parametrize("epsilon", ["1/10", 1])
def test_no_estimate_is_told_beside_an_interval_without_it(
    epsilon: Any, n: int
) -> None:
    """“An estimated 100% (50% interval 0% to 18%)”: unbiased values of few people contradict a likelihood."""
    design = dn.product(
        {
            "a": dn.warner(epsilon),
            "b": dn.k_ary(CATEGORIES, epsilon),
        }
    )
    answers = [{"a": "yes", "b": "never"}] * n
    for seed in range(4):
        source = seeded(f"level {epsilon} {n} {seed}")
        result = dn.estimate(
            dn.tally(dn.respond_all(design, answers, source=source))
        )
        summary = result.summary(level=0.5)
        for row in summary.rows:
            text = sentence(summary, row.name)
            numbers = [number.value for number in printed(text.partition(";")[0])]
            if "An estimated" in text and "%" in text.partition("interval")[2]:
                value, low, high = numbers
                assert low - 1e-3 <= value <= high + 1e-3, text


@pytest.mark.parametrize("response", ["no", "yes"])
def test_one_response_alone_explains_nothing(response: str) -> None:
    """A slope of 2e-16 with an error of 0 had p = 0."""
    rows = {"y": [response] * 6, "age": [1, 2, 4, 8, 16, 33]}
    with pytest.raises(NotEstimable, match="every row has the same response"):
        dn.regress("y ~ age", rows, design=dn.warner("1/2"), family="linear")


@pytest.mark.parametrize("n", SIZES)
def test_answers_together_are_told_truly(n: int) -> None:
    """Odds ratios without bound, undefined ones, and Cramér's V of nobody."""
    for seed in range(2):
        design = dn.product({"a": dn.warner(1), "b": dn.warner(1)})
        counts = np.random.default_rng([n, seed]).multinomial(n, [0.25] * 4)
        try:
            table = cross_table(dn.Tally(design, counts))
        except NotEstimable:
            assert n == 1
            continue
        measures = {
            "Odds ratio": (table.odds_ratio(), (0.0, math.inf)),
            "Correlation": (table.correlation(), UNIT),
            "Share": (table.share("yes", among="yes"), SHARE),
        }
        for result, possible in measures.values():
            (row,) = result.summary().rows
            check_sentence(sentence(result), row, possible)
        check_notes(table.summary())
        ratio = measures["Odds ratio"][0]
        bounds = ratio.interval("odds ratio")
        for text in table.association_words():
            assert not NO_NUMBER.search(text), text
            if text.startswith("Odds ratio"):
                check_measure(
                    text, Row("", ratio.value, 0, *bounds), (0.0, math.inf)
                )
            if text.startswith("Cramér's V"):
                bounds = table.cramers_v_interval()
                check_measure(text, Row("", table.cramers_v, 0, *bounds), SHARE)
        assert not NO_NUMBER.search(
            str(table).partition("Warning")[0].partition("Odds")[2]
        )


def check_measure(text: str, row: Row, possible: tuple[float, float]) -> None:
    """Compare the words about a measure of association with it."""
    least, most = possible
    low, high = (
        fall if math.isnan(end) else end
        for end, fall in zip((row.low, row.high), possible, strict=True)
    )
    is_undecided = low <= least + NOISE and high >= most - NOISE
    assert ("cannot decide" in text) == is_undecided, (text, row)
    if is_undecided:
        return
    wanted = [
        number for number in (row.estimate, low, high) if math.isfinite(number)
    ]
    numbers = [
        float(digits) for digits in re.findall(r"\d[\d.]*(?:e[+-]\d+)?", text)
    ]
    told = [
        number
        for number in wanted
        if any(
            abs(number - other) <= 0.006 * abs(number) + 5e-4 for other in numbers
        )
    ]
    assert len(told) == len(wanted) or "at most" in text, (text, row)
    assert all(least <= number <= most for number in numbers), text


def test_arms_are_told_truly() -> None:
    for n in SIZES[1:]:
        for yes in {0, 1, n // 2, n}:
            arm = dn.Tally(dn.warner("1/4"), np.array([n - yes, yes]))
            direct = dn.Tally(dn.direct(), np.array([n, 1]))
            result = dn.compliance.compare_arms(arm, direct)
            check_result(result, dn.warner("1/4"))
            text = result.model.sentence
            assert not NO_NUMBER.search(text), text
            points = re.search(r"([\d.]+) points", text)
            assert ("cannot decide" in text) == (points is None), text
            if points:
                assert float(points[1]) <= 100, text
            shares = re.search(r"\(([−\d.]+) against ([−\d.]+)", text)
            for share in shares.groups() if shares else ():
                assert 0 <= float(share.replace("−", "-")) <= 1, text


@pytest.mark.parametrize("n", [3, 40, 100, 4000])
@pytest.mark.parametrize("epsilon", ["1/10", 1, 4])
def test_a_rare_share_is_told_truly(epsilon: Any, n: int) -> None:
    """One of two hundred people: about none of a hundred, and about twenty of four thousand."""
    design = dn.k_ary(CATEGORIES, epsilon)
    for seed in range(4):
        answers = ["often"] * (n // 200) + ["never"] * (n - n // 200)
        source = seeded(f"rare {epsilon} {n} {seed}")
        result = dn.estimate(
            dn.tally(dn.respond_all(design, answers, source=source))
        )
        check_result(result, design)
        for row in result.summary().rows:
            check_sentence(about(row), row, SHARE, outward=True)


# The analyst's page


QUESTIONS: dict[str, Any] = {
    "two answers": dn.warner("1/2"),
    "three answers": dn.k_ary(CATEGORIES, 1),
    "sets": dn.unary(CATEGORIES, 1),
    "stages": dn.ladder(dn.k_ary(CATEGORIES, epsilon) for epsilon in (0.5, 1)),
    "four at once": dn.product({name: dn.warner("1/2") for name in "abcd"}),
    "two at once": dn.product({name: dn.warner(1) for name in "ab"}),
    "an amount": dn.number_design(0, 500, "1/2"),
    "a distribution": dn.number_design(-20, 40, 1, goal="distribution", levels=4),
}


def shown_question(asked: Any, language: str, tallies: list[Any]) -> ShownQuestion:
    """Return a question with the counts of everybody, and of two groups where there are so many."""
    question = Question("asked", asked, {language: QuestionTexts("?")})
    survey = Survey(
        "small",
        {language: SurveyTexts("!")},
        (question,),
        languages=(language,),
        groups=("north", "south"),
    )
    stages = len(asked) if isinstance(asked, Ladder) else 1
    counts = [
        ShownCounts(tally, (np.zeros(1, np.int64),) * stages) for tally in tallies
    ]
    groups = dict(enumerate(counts[1:]))
    return ShownQuestion(
        Entry(1, survey, "closed"), 0, question, language, isinstance(asked, Ladder), 1, counts[0], tuple(groups),
        groups, {None: 0}, (), True, stages, frozenset(groups),
    )  # fmt: skip


def asked_of(about: Any, n: int, seed: int) -> Any:
    """Return the tally of so many people whose answers are drawn anew."""
    design = about.designs[-1] if isinstance(about, Ladder) else about
    rng, answers = np.random.default_rng([n, seed]), [0.0] * n
    if about.asks == "numbers":
        answers = rng.choice(
            [float(about.range.low), 17, float(about.range.high)], n
        ).tolist()
    else:
        size = len(design.categories)
        answers = [design.categories[index] for index in rng.integers(size, size=n)]
    return dn.tally(
        dn.respond_all(
            about, answers, source=seeded(f"page {n} {seed} {about.hash}")
        )
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_headlines_are_true(name: str, language: str) -> None:
    about = QUESTIONS[name]
    first = LANGUAGES.index(language) % 4
    for n in SIZES[first::4] if name == "four at once" else SIZES[first % 2 :: 2]:
        tallies = [
            asked_of(about, n, LANGUAGES.index(language) + 5 * part)
            for part in range(3)
        ]
        shown = shown_question(about, language, tallies)
        try:
            found = results.read(shown)
        except NotEstimable:
            assert n <= 2
            continue
        check_headline(found.sentence, found, about)
        for group in results.groups(shown):
            check_headline(group.sentence, group, about)
        for text in (
            *results.compared(shown),
            *found.notes,
            *(note for pair in found.pairs for note in pair.notes),
        ):
            assert not NO_NUMBER.search(text), text
            points = re.search(
                r"([+−-]?[\d.]+) points .*\(([−-]?[\d.]+) … ([−-]?[\d.]+)", text
            )
            for number in points.groups() if points else ():
                assert abs(float(number.replace("−", "-"))) <= 100, text


def check_headline(text: str, found: Any, about: Any) -> None:
    """Compare a headline with the number that it is about."""
    if found.numbers:
        possible = (float(about.range.low), float(about.range.high))
        check_sentence(text, found.numbers[0], possible)
        return
    rows = {share.label: share.row for share in found.shares}
    (label,) = re.findall(r"“(.*?)”", text)
    check_sentence(text, rows[label], SHARE, outward=True)
    if len(rows) > 2:
        assert rows[label].estimate == max(row.estimate for row in rows.values())
