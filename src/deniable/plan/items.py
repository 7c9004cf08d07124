"""The chooser for several questions at once: how many of them each respondent answers, with which part of ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from deniable import exact
from deniable.channel import Channel
from deniable.designs import Design, product
from deniable.designs.labels import Labels, Numbered
from deniable.errors import InvalidDesign, InvalidRequest, require_choice
from deniable.estimates.shares import read_shares
from deniable.exact import Rational
from deniable.plan.chooser import optimal
from deniable.plan.planned import PlanTable, more_people, plan_sheet
from deniable.plan.precision import variance
from deniable.rendering import Sheet
from deniable.types.categories.plan import SharesByAttribute
from deniable.types.drawn.design import DrawnDesign, drawn_items

ITEM_GOALS = ("shares", "associations")
"""What can be wished for of several questions; `optimal_items` tells what each one means."""

_MAX_BYTES = 2  # of the response to one of several questions, so that hands of a few can still be counted


@dataclass(frozen=True, slots=True)
class ConsideredItems:
    """A way to ask several questions that was looked at.

    Attributes:
        each: how many of the questions each respondent answers, drawn at random; all of them where ε is split.
        design: the design.
        shares: n times the variance of the shares of a question, on average over the questions.
        associations: n times the variance of the joint shares of two questions, on average over all pairs; infinite
            where nobody answers two.
    """

    each: int
    design: DrawnDesign | Design
    shares: float
    associations: float


@dataclass(frozen=True, slots=True)
class ItemsChoice(PlanTable):
    """How several questions are asked best, and why.

    Attributes:
        design: the design.
        goal: "shares" or "associations".
        epsilon: what all responses of one respondent may reveal together.
        candidates: all that were looked at, the best first.
        reasons: why, in sentences.
    """

    design: DrawnDesign | Design
    goal: str
    epsilon: float
    candidates: tuple[ConsideredItems, ...]
    reasons: tuple[str, ...]

    def _sheet(self) -> Sheet:
        rows = [
            (one.each, one.design.epsilon, one.shares, one.associations)
            for one in self.candidates
        ]
        heads = (
            "questions",
            "ε",
            "variance × people, one question",
            "variance × people, two together",
        )
        title = (
            f"Best for {self.goal}: {self.candidates[0].each} for each respondent"
        )
        names = ("questions", "epsilon", "shares", "associations")
        return plan_sheet(title, heads, names, rows, self.reasons)


def optimal_items(
    categories: Mapping[str, Labels],
    epsilon: Rational,
    *,
    goal: str = "shares",
    shares: SharesByAttribute | None = None,
) -> ItemsChoice:
    """Choose how many of several questions each respondent answers, when all responses together may cost an ε.

    One drawn at random has all of ε, w of them have ε/w each, and all of them is splitting. Every question is asked
    with the design that `optimal` finds for its part.

    Why: with a small ε the variance of one response grows like 1/ε², so that w of m questions cost m·w of it: one is
    best. With a large ε the device hardly matters, and whoever answers more tells more. How two questions hang together
    is told by those who answer both, a share w(w − 1)/(m(m − 1)) of all: one is not enough.

    Args:
        categories: what may be answered to each question, by its name: labels, or how many there are.
        epsilon: what all responses of one respondent may reveal together.
        goal: "shares" for the smallest variance of the shares of every question, "associations" for the smallest
            variance of the joint shares of two.
        shares: where the variance is to be small, by question; by default where it is largest.

    Raises:
        InvalidRequest: a goal that does not exist, fewer than two questions, or shares that do not fit.

    Example:
        >>> asked = {"smokes": ["no", "yes"], "drinks": ["no", "yes"], "votes": ["no", "yes"]}
        >>> optimal_items(asked, 1).candidates[0].each, optimal_items(asked, 1, goal="associations").candidates[0].each
        (1, 2)
    """
    require_choice("the goal is", goal, ITEM_GOALS)
    _check_questions(categories, shares)
    total = exact.positive_epsilon(epsilon)
    ordered = _rank_items(categories, total, goal, shares)
    reasons = _choice_text(goal, ordered, len(categories))
    return ItemsChoice(
        ordered[0].design, goal, float(total), tuple(ordered), reasons
    )


def _rank_items(
    categories: Mapping[str, Labels],
    total: Fraction,
    goal: str,
    shares: SharesByAttribute | None,
) -> list[ConsideredItems]:
    """Return each possible number of questions per respondent with its variances, the best first."""
    considered = [
        _consider_items(categories, total, n_items, shares)
        for n_items in range(1, len(categories) + 1)
    ]
    ordered = sorted(
        (one for one in considered if one is not None),
        key=lambda one: (getattr(one, goal), one.each),
    )
    if ordered[0].associations == np.inf and goal == "associations":
        raise InvalidRequest(
            "two of these questions have too many responses together to be counted; expected fewer."
        )
    return ordered


def _consider_items(
    categories: Mapping[str, Labels],
    epsilon: Rational,
    each: int,
    shares: SharesByAttribute | None,
) -> ConsideredItems | None:
    """Return one way to ask; None where too many responses would have to be counted."""
    item_epsilon = exact.rational(epsilon) / each
    designs = {
        name: optimal(labels, item_epsilon, most_bytes=_MAX_BYTES).design
        for name, labels in categories.items()
    }
    try:
        design = (
            product(designs)
            if each == len(designs)
            else drawn_items(designs, each=each)
        )
    except InvalidDesign:
        return None
    size = len(designs)
    item_variances = [
        variance(item_design, 1, shares=shares and shares[name])
        for name, item_design in designs.items()
    ]
    associations = np.inf
    if each > 1:
        times = size * (size - 1) / (each * (each - 1))
        pairs = [
            _pair_variance(designs, *pair, shares)
            for pair in combinations(designs, 2)
        ]
        associations = float(np.mean(pairs)) * times
    item_variance = float(np.mean(item_variances)) * size / each
    return ConsideredItems(each, design, item_variance, associations)


def _pair_variance(
    designs: Mapping[str, Design],
    first: str,
    second: str,
    shares: SharesByAttribute | None,
) -> float:
    pair = [designs[first], designs[second]]
    if shares is None:
        return _worst_pair(pair[0].channel, pair[1].channel)
    joint = np.outer(
        read_shares(pair[0], shares[first]), read_shares(pair[1], shares[second])
    )
    return variance(product(pair), 1, shares=joint.ravel().tolist())


@cache
def _worst_pair(first: Channel, second: Channel) -> float:
    designs = [
        Design(
            "part", Numbered(channel.answers), Numbered(channel.responses), channel
        )
        for channel in (first, second)
    ]
    return variance(product(designs), 1)


def _check_questions(
    categories: Mapping[str, Labels], shares: SharesByAttribute | None
) -> None:
    if not isinstance(categories, Mapping) or len(categories) < 2:
        raise InvalidRequest(
            "there are fewer than two questions; expected the categories of each, by name."
        )
    if shares is not None and (
        not isinstance(shares, Mapping) or set(shares) != set(categories)
    ):
        raise InvalidRequest(
            "the shares are not those of each question; expected them by the same names."
        )


def _alternative_text(
    goal: str, ordered: Sequence[ConsideredItems], size: int
) -> list[str]:
    """Return what the opposite would cost: splitting ε over all questions, or one drawn at random."""
    best, opposite = ordered[0], size if ordered[0].each < size else 1
    words = (
        "Splitting ε over all of them" if opposite == size else "One drawn at random"
    )
    ratios = [
        getattr(one, goal) / getattr(best, goal)
        for one in ordered
        if one.each == opposite and np.isfinite(getattr(one, goal))
    ]
    return [f"{words} would take {more_people(ratio)}." for ratio in ratios]


def _choice_text(
    goal: str, ordered: Sequence[ConsideredItems], size: int
) -> tuple[str, ...]:
    best = ordered[0]
    how = {
        1: f"one of the {size} questions, drawn at random, with all of ε",
        size: f"all {size} questions, each with its part of ε",
    }
    plan = how.get(
        best.each,
        f"{best.each} of the {size} questions, drawn at random, each with its part of ε",
    )
    reasons = [
        f"Everybody answers {plan}: the variance of {_WHAT[goal]} is {getattr(best, goal):.4g}/n."
    ]
    reasons += _alternative_text(goal, ordered, size)
    pairs = min(ordered, key=lambda one: one.associations)
    if best.each == 1 and np.isfinite(pairs.associations):
        reasons.append(
            "Nobody answers two, so that nothing is told about how they hang together; if that is wanted, "
            f"{'split ε over all' if pairs.each == size else f'draw {pairs.each} for each'}, with a variance of "
            f"{pairs.associations:.4g}/n for two of them and {pairs.shares:.4g}/n for one."
        )
    if goal == "associations":
        single = min(ordered, key=lambda one: one.shares)
        reasons.append(
            f"The shares of one question have a variance of {best.shares:.4g}/n so; {single.each} for each would have "
            f"{single.shares:.4g}/n."
        )
    return tuple(reasons)


_WHAT = {
    "shares": "the shares of a question",
    "associations": "the joint shares of two",
}
