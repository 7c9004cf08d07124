"""Before a survey: what ε, respondents and categories make of an interval, and of what is learned about somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.collector.charts import Curve, curve
from deniable.criteria.base import raised
from deniable.designs import Design, direct, subset, warner
from deniable.errors import InvalidNumber, InvalidRequest
from deniable.plan import optimal, sample_size, width
from deniable.report import words

LEVEL = 0.95
MARKS = ("1/10", "1/5", "1/2", "1", "2", "4", "8")
"""The ε that the curve is marked with; its first and last are its ends."""

_POINTS = 36


@dataclass(frozen=True, slots=True)
class Wish:
    """What is planned with.

    Attributes:
        epsilon: of the design.
        respondents: how many.
        categories: how many.
        prior: what somebody believes beforehand about another person's answer, in percent.
    """

    epsilon: str = "1"
    respondents: int = 1000
    categories: int = 4
    prior: float = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What comes of it.

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
        reasons: why this design.
        curve: margin against ε.
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
    reasons: tuple[str, ...]
    curve: Curve


def read_wish(given: Mapping[str, str]) -> Wish:
    """Read a wish from the fields of a form; what is missing or empty is as in an example.

    Raises:
        InvalidRequest: no number, or outside what can be planned.
    """
    plain = Wish()
    found = {name: given.get(name, "").strip() for name in Wish.__dataclass_fields__}
    epsilon = _number(found["epsilon"] or plain.epsilon, "ε", "1/10", 8)
    people = _number(found["respondents"] or str(plain.respondents), "the number of respondents", 2, 10**9)
    size = _number(found["categories"] or str(plain.categories), "the number of categories", 2, 200)
    prior = _number(found["prior"] or str(plain.prior), "the belief beforehand", "1/10", "999/10")
    return Wish(f"{float(epsilon):g}", int(people), int(size), float(prior))


def plan(wish: Wish) -> Plan:
    """Return what comes of a wish, for the design that is best for it."""
    choice = optimal(wish.categories, wish.epsilon)
    # At worst half of the people hold one answer, however many others there are.
    margin, plain = (_margin(design, wish.respondents) for design in (choice.design, direct(2)))
    prior = Fraction(str(wish.prior)) / 100
    return Plan(
        wish=wish,
        level=LEVEL,
        design=choice.design.name,
        margin=margin,
        direct=plain,
        worth=wish.respondents * (plain / margin) ** 2,
        needed=sample_size(choice.design, margin=plain, level=LEVEL),
        posterior=100 * float(raised(choice.design.parity, prior)),
        protection=(*words.promise(choice.design), *words.frequencies(choice.design)[:1]),
        reasons=choice.reasons,
        curve=_curve(wish, margin, plain),
    )


def _curve(wish: Wish, margin: float, plain: float) -> Curve:
    ends = [float(exact.rational(mark)) for mark in (MARKS[0], MARKS[-1])]
    steps = [ends[0] * (ends[1] / ends[0]) ** (number / _POINTS) for number in range(_POINTS + 1)]
    points = [(e, _margin(_minimax(wish.categories, f"{e:.4f}"), wish.respondents)) for e in steps]
    marks = [float(exact.rational(mark)) for mark in MARKS]
    return curve(points, (float(wish.epsilon), margin), plain, marks)


def _minimax(categories: int, epsilon: str) -> Design:
    """Return the design that `optimal` finds, without a look at the others: this many are drawn."""
    return warner(epsilon) if categories == 2 else subset(categories, epsilon)


def _margin(design: Design, respondents: int) -> float:
    return width(design, respondents, level=LEVEL) / 2


def _number(text: str, name: str, least: exact.Rational, most: exact.Rational) -> Fraction:
    low, high = exact.rational(least), exact.rational(most)
    try:
        value = exact.rational(text.replace(",", ""), name=name)
    except InvalidNumber:
        value = low - 1
    if not low <= value <= high:
        raise InvalidRequest(f"{name} is {text!r:.40}; expected a number from {float(low):,g} to {float(high):,.15g}.")
    return value
