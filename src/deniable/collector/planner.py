"""Before a survey: what ε, respondents and categories make of an interval, and of what is learned about somebody."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise
from typing import Any

from deniable import exact
from deniable.collector.charts import CurveChart, curve_chart
from deniable.criteria.base import max_posterior
from deniable.designs import Design, direct, subset, warner
from deniable.display import privacy_texts
from deniable.errors import InvalidNumber, InvalidRequest, quoted
from deniable.plan import (
    crossover,
    optimal,
    sample_size,
    sample_size_for_power,
    sample_size_for_width,
    width,
)
from deniable.rendering import formats
from deniable.survey.catalogue import locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.limits import BUDGET, CEILING

LEVEL = 0.95
MARKS = ("1/10", "1/5", "1/2", "1", "2", "4", "8")
"""The ε that the curve is marked with; its first and last are its ends."""

_SPOKEN = locale("en")  # as all pages for analysts
_MAX_KINKS = 3  # bends of the curve that are told, those at the largest ε
_CURVE_STEPS = 36  # between the ends of the curve
_MAX_EXACT = 10_000  # respondents up to which the exact test takes no time


@dataclass(frozen=True, slots=True)
class Wish:
    """What is planned with.

    Attributes:
        epsilon: of the design.
        respondents: how many.
        categories: how many.
        prior: what somebody believes beforehand about another person's answer, in percent.
        questions: how many such questions a respondent answers in the survey.
        share: what share one of the answers is expected to have, in percent.
        width: how wide its interval may be, from end to end, in percentage points.
        power: how surely that share is told from 0, in percent.
        lying: how many of those concerned would deny it if asked directly, in percent.
    """

    epsilon: str = "1"
    respondents: int = 1000
    categories: int = 4
    prior: float = 10.0
    questions: int = 1
    share: float = 10.0
    width: float = 10.0
    power: float = 80.0
    lying: float = 30.0


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """What comes of a wish.

    Attributes:
        wish: what was planned with.
        level: of the interval.
        design: the family that is best for it.
        margin: half the width of the interval, for the worst possible shares.
        direct: the same for a direct question.
        worth: how many direct answers would give the same margin.
        needed: how many respondents would give the margin of the direct question.
        posterior: what is believed after the most telling response, at most, in percent.
        protection: the same for any belief, in words.
        told: what respondents are told: of one response, and of all together where there are several.
        warnings: what is above the limits, and must be acknowledged in the survey's file.
        reasons: why this design.
        curve: margin against ε.
        kinks: where the curve bends, and why, in sentences.
        people: how many respondents the expected share takes, for the width and for the power, in sentences.
        crossing: from how many respondents on this beats a direct question to which some lie, in a sentence.
        errors: the error against the number of respondents, of this and of the direct question.
    """

    wish: Wish
    level: float
    design: str
    margin: float
    direct: float
    worth: float
    needed: int
    posterior: float
    protection: tuple[str, ...]
    told: tuple[str, ...]
    warnings: tuple[str, ...]
    reasons: tuple[str, ...]
    curve: CurveChart
    kinks: tuple[str, ...]
    people: tuple[str, ...]
    crossing: str
    errors: CurveChart


_BOUNDS: dict[str, tuple[str, exact.Rational, exact.Rational]] = {
    "epsilon": ("ε", "1/10", 8),
    "respondents": ("the number of respondents", 2, 10**9),
    "categories": ("the number of categories", 2, 200),
    "prior": ("the belief beforehand", "1/10", "999/10"),
    "questions": ("the number of questions", 1, 200),
    "share": ("the expected share", "1/10", "999/10"),
    "width": ("the width", "1/10", "999/10"),
    "power": ("the power", 50, "999/10"),
    "lying": ("the share of those who would deny", 0, 100),
}
"""What each field of a wish is called, and between which numbers it lies."""


def read_wish(form: Mapping[str, str]) -> Wish:
    """Read a wish from the fields of a form; what is missing or empty is as in an example.

    Raises:
        InvalidRequest: no number, or outside what can be planned.
    """
    values: dict[str, Any] = {}
    for field in fields(Wish):
        text = form.get(field.name, "").strip() or str(field.default)
        number = float(_number(text, *_BOUNDS[field.name]))
        kind = type(getattr(Wish(), field.name))
        values[field.name] = f"{number:g}" if kind is str else kind(number)
    return Wish(**values)


def plan(wish: Wish) -> SurveyPlan:
    """Return what comes of a wish, for the design that is best for it."""
    choice = optimal(wish.categories, wish.epsilon)
    # At worst half of the people hold one answer, however many others there are.
    margin, plain = (
        _margin(design, wish.respondents) for design in (choice.design, direct(2))
    )
    crossing = crossover(
        choice.design, share=wish.share / 100, lying=wish.lying / 100
    )
    after = max_posterior(choice.design.parity, Fraction(str(wish.prior)) / 100)
    return SurveyPlan(
        wish=wish,
        level=LEVEL,
        design=choice.design.name,
        margin=margin,
        direct=plain,
        worth=wish.respondents * (plain / margin) ** 2,
        needed=sample_size(choice.design, margin=plain, level=LEVEL),
        posterior=100 * float(after),
        protection=(
            *privacy_texts.promise(choice.design),
            *privacy_texts.frequencies(choice.design)[:1],
        ),
        told=_describe_disclosure(choice.design, wish.questions),
        warnings=_warnings(choice.design, wish.questions),
        reasons=(*choice.reasons, *_describe_one_question(wish, margin)),
        curve=_curve(wish, margin, plain),
        kinks=_kinks(wish.categories),
        people=_people(wish, choice.design),
        crossing=crossing.sentence,
        errors=_errors(wish, choice.design, crossing.value),
    )


def _describe_disclosure(design: Design, questions: int) -> tuple[str, ...]:
    sentences = [Disclosure.of_response(design).response_words(_SPOKEN)]
    if questions > 1:
        together = Disclosure.of([design] * questions)
        sentences.append(together.together_words(_SPOKEN))
    return tuple(map(" ".join, sentences))


def _warnings(design: Design, questions: int) -> tuple[str, ...]:
    warning_words = Disclosure(design.parity).limit_words(
        CEILING, _SPOKEN, design.name
    )
    return (
        *warning_words,
        *Disclosure.of([design] * questions).limit_words(BUDGET, _SPOKEN),
    )


def _describe_one_question(wish: Wish, margin: float) -> tuple[str, ...]:
    """Tell what it would be to ask each respondent one of the questions, drawn at random, for what all of them cost."""
    n_asked = wish.respondents // wish.questions
    if wish.questions == 1 or n_asked < 1:
        return ()
    together = exact.rational(wish.epsilon) * wish.questions
    epsilon = min(together, Fraction(CEILING))
    minimax_margin = _margin(_minimax(wish.categories, str(epsilon)), n_asked)
    better = "better" if minimax_margin < margin else "no better"
    return (
        f"All {wish.questions} questions together cost each respondent ε = {formats.epsilon(together)}. Asking each "
        f"one of them, drawn at random, with ε = {formats.epsilon(epsilon)} (each = 1 in the survey's file) would "
        f"give ± {100 * minimax_margin:.2g} percentage points for each question, from about {n_asked:,} people: "
        f"{better} than ± {100 * margin:.2g}.",
    )


def _curve(wish: Wish, margin: float, plain: float) -> CurveChart:
    steps = _steps()
    points = [
        (step, _margin(_minimax(wish.categories, f"{step:.4f}"), wish.respondents))
        for step in steps
    ]
    marks = [float(exact.rational(mark)) for mark in MARKS]
    direct_line = [(steps[0], plain), (steps[-1], plain)]
    return curve_chart(points, (float(wish.epsilon), margin), direct_line, marks)


def _steps() -> list[float]:
    first, last = (float(exact.rational(mark)) for mark in (MARKS[0], MARKS[-1]))
    return [
        first * (last / first) ** (number / _CURVE_STEPS)
        for number in range(_CURVE_STEPS + 1)
    ]


def _kinks(categories: int) -> tuple[str, ...]:
    """Tell where the curve bends: where the best number of categories in a response changes."""
    if categories == 2:
        return ()
    sizes = [(epsilon, _in_a_response(categories, epsilon)) for epsilon in _steps()]
    bends = [
        (math.sqrt(left * right), before, after)
        for (left, before), (right, after) in pairwise(sizes)
        if before != after
    ][-_MAX_KINKS:]
    if not bends:
        return ()
    later = "; ".join(
        f"from ε ≈ {formats.number(epsilon, 2)} on {size}"
        for epsilon, _, size in bends
    )
    return (
        "The curve bends where the best response changes: a small ε is used best by naming many of the answers, "
        f"here up to {bends[0][1]} of {categories}; {later}.",
    )


def _in_a_response(categories: int, epsilon: float) -> int:
    """Return how many categories a response of the best design names."""
    return int(subset(categories, f"{epsilon:.4f}").channel.sizes[0])


def _people(wish: Wish, design: Design) -> tuple[str, ...]:
    """Tell how many people it takes; by the exact test where that takes no time."""
    share, power = wish.share / 100, wish.power / 100
    by_width = sample_size_for_width(
        design, share=share, width=wish.width / 100, level=LEVEL
    )
    by_power = sample_size_for_power(
        design, share=share, target=power, method="normal"
    )
    if by_power <= _MAX_EXACT:
        by_power = sample_size_for_power(design, share=share, target=power)
    return (
        f"{by_width:,} respondents for an interval of {wish.width:g} percentage points from end to end, on average.",
        f"{by_power:,} respondents to tell the share from 0 with a power of {formats.percent(wish.power / 100)}.",
    )


def _errors(wish: Wish, design: Design, crossing: float) -> CurveChart:
    """Draw the errors from few respondents on to well beyond those who are asked, and beyond the crossing."""
    max_people = max(wish.respondents, crossing if crossing < 10**9 else 0, 300)
    last = math.ceil(math.log10(3 * max_people))
    steps = [
        10 ** (1 + (last - 1) * step / _CURVE_STEPS)
        for step in range(_CURVE_STEPS + 1)
    ]
    numbers = sorted({round(step) for step in steps} | {max(wish.respondents, 10)})
    comparison = crossover(
        design, share=wish.share / 100, lying=wish.lying / 100, people=numbers
    )
    # of people, directly, by the design
    columns = [[float(cell) for cell in line.values()] for line in comparison.lines]
    randomized_errors, plain = (
        [(line[0], line[column]) for line in columns] for column in (2, 1)
    )
    point = next(
        point for point in randomized_errors if point[0] >= wish.respondents
    )
    return curve_chart(
        randomized_errors, point, plain, [10**power for power in range(1, last + 1)]
    )


def _minimax(categories: int, epsilon: str) -> Design:
    """Return the design that `optimal` finds, without a look at the others: this many are drawn."""
    return warner(epsilon) if categories == 2 else subset(categories, epsilon)


def _margin(design: Design, respondents: int) -> float:
    return width(design, respondents, level=LEVEL) / 2


def _number(
    text: str, name: str, lower: exact.Rational, upper: exact.Rational
) -> Fraction:
    low, high = exact.rational(lower), exact.rational(upper)
    try:
        value = exact.rational(text.replace(",", ""), name=name)
    except InvalidNumber:
        value = low - 1
    if not low <= value <= high:
        raise InvalidRequest(
            f"{name} is {quoted(text)}; expected a number from {float(low):,g} to {float(high):,.15g}."
        )
    return value
