"""How far to go: the next ε for a wanted accuracy, what it will buy, and when to stop asking."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np

from deniable import exact
from deniable.designs import Design
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.estimates.intervals import Interval
from deniable.estimates.simplex import projection
from deniable.estimates.stages import Combined, combine
from deniable.estimates.weighing import expected_covariance
from deniable.order.relaxation import relax
from deniable.rendering import formats
from deniable.rendering.formats import percent
from deniable.tallies.stages import StageTallies

__all__ = ["Proposal", "propose"]

_EPSILON_STEPS = (
    1 << 14
)  # in which an ε is looked for: its proposal is this part of the budget too large at most
_SURE = NormalDist().inv_cdf(0.975)
_SHARES_TRIED = 9  # at which the error after the next stage is looked at


@dataclass(frozen=True)
class Proposal:
    """What to ask for next.

    Attributes:
        stop: the target is reached, or can be brought no nearer: nobody needs to be asked again.
        reached: whether the target is reached, now or by what is proposed.
        error: the largest standard error now.
        target: the standard error that is wanted.
        design: the design to raise responses to; None where there is nothing to ask for.
        expected: the largest standard error after that, if the shares are as they are estimated now.
        between: where it will be found in 95 of 100 surveys, whatever the shares turn out to be; both ends are
            `expected` where there is nothing to ask for.
        respondents: how many people would be needed at the proposed stage to reach the target.
        text: all of it in a sentence or two.
    """

    stop: bool
    reached: bool
    error: float
    target: float
    design: Design | None
    expected: float
    between: Interval
    respondents: int
    text: str = field(repr=False)

    @property
    def epsilon(self) -> float | None:
        """The ε to raise the budget to, certified; None where there is nothing to ask for."""
        return None if self.design is None else self.design.epsilon


def propose(
    tallies: StageTallies,
    target: float,
    build: Callable[[exact.Rational], Design],
    *,
    most: exact.Rational,
    category: str | None = None,
    willing: float = 1.0,
    level: float | None = None,
) -> Proposal:
    """Propose the smallest next ε with which the target accuracy is reached, within a budget.

    Args:
        tallies: the counts so far.
        target: the standard error that is wanted; with `level` half the width of an interval of that level.
        build: the design at an ε, for example `lambda e: k_ary(5, epsilon=e)`; it must be able to follow the ladder's
            last stage.
        most: the largest ε that may be asked for.
        category: whose error is meant; the largest of all, if it is not given.
        willing: which part of the respondents is expected to be raised; the others stay where they are.
        level: see `target`.

    Raises:
        NotOrdered: a design that cannot follow the ladder's last stage.
        NotEstimable: nobody responded yet.
        InvalidRequest: a target, a part or a level that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> from deniable.tallies.stages import count_stages
        >>> counted = count_stages(ladder([warner(epsilon=1)]), [["yes"] * 400 + ["no"] * 600])
        >>> found = propose(counted, 0.02, lambda e: warner(epsilon=e), most=4)
        >>> found.stop, round(found.epsilon, 2), found.expected <= 0.02 < found.error
        (False, 1.94, True)
    """
    target_error = _target(target, level, willing)
    now = combine(tallies)
    shares = _move_from_border(now.value, tallies.respondents)
    at = (
        None
        if category is None
        else tallies.design.designs[-1].category_number(category)
    )
    error = _error(now.errors, at)
    if error <= target_error:
        reason = f"The standard error is {error:.3g}, the target {target_error:.3g}: stop asking."
        return Proposal(
            True,
            True,
            error,
            target_error,
            None,
            error,
            Interval(error, error),
            tallies.respondents,
            reason,
        )

    def errors(design: Design, shares: Vector) -> Vector:
        groups = [
            (stage.design, stage.respondents * (1 - willing))
            for stage in tallies.finest
        ]
        groups = [group for group in groups if group[1]] + [
            (design, tallies.respondents * willing)
        ]
        return np.sqrt(
            np.maximum(np.diagonal(expected_covariance(groups, shares)), 0.0)
        )

    def expected(design: Design) -> float:
        return _error(errors(design, shares), at)

    spent = exact.rational(tallies.design.designs[-1].epsilon)
    budget = exact.rational(most, name="most")
    if budget <= spent:
        reason = (
            f"The standard error is {error:.3g}, the target {target_error:.3g}: ε = {formats.epsilon(budget)} is "
            "spent already."
        )
        needed = _needed_respondents(tallies.respondents, error, target_error)
        return Proposal(
            True,
            False,
            error,
            target_error,
            None,
            error,
            Interval(error, error),
            needed,
            reason,
        )
    design = _smallest(
        lambda e: expected(build(e)) <= target_error, build, spent, budget
    )
    relax(tallies.design.designs[-1], design)  # refuses what cannot follow
    after = expected(design)
    between = _predicted_error_range(now, shares, partial(errors, design), at)
    reached, needed = (
        after <= target_error,
        _needed_respondents(tallies.respondents, after, target_error),
    )
    reason = _reason(
        tallies, design, willing, (error, after, target_error), between, needed
    )
    return Proposal(
        False, reached, error, target_error, design, after, between, needed, reason
    )


def _smallest(
    enough: Callable[[Fraction], bool],
    build: Callable[[exact.Rational], Design],
    spent: Fraction,
    budget: Fraction,
) -> Design:
    """Return the design at the smallest ε on a grid that is enough; at the whole budget where none is."""
    low, high = 0, _EPSILON_STEPS
    while high - low > 1:
        middle = (low + high) // 2
        try:
            epsilon_found = enough(spent + (budget - spent) * middle / _EPSILON_STEPS)
        except InvalidDesign:  # too fine an ε for the weights of this family
            epsilon_found = False
        low, high = (low, middle) if epsilon_found else (middle, high)
    return build(spent + (budget - spent) * high / _EPSILON_STEPS)


def _predicted_error_range(
    now: Combined, shares: Vector, errors: Callable[[Vector], Vector], at: int | None
) -> Interval:
    """Return where the error will be in 95 of 100 surveys, rounded outwards.

    Why: the error that will be told is that at the shares which will be estimated. An estimate with all of the
    information does not hang together with what a coarser one of the same people is off from it, so that the next one
    differs from this one by a variance of Vₙ − Vₐ, now and after. The share that decides is moved so far, and the
    others keep their proportions.
    """
    after = errors(shares)
    decides = int(after.argmax()) if at is None else at
    moved = _SURE * math.sqrt(max(now.errors[decides] ** 2 - after[decides] ** 2, 0.0))
    other_shares = np.where(np.arange(len(shares)) == decides, 0.0, shares) / (
        1 - shares[decides]
    )
    errors_found = []
    for share in np.clip(
        now.value[decides] + moved * np.linspace(-1, 1, _SHARES_TRIED), 0.0, 1.0
    ):
        possible = other_shares * (1 - share)
        possible[decides] = share
        errors_found.append(_error(errors(possible), at))
    return Interval(
        _three_digits(min(errors_found), math.floor),
        _three_digits(max(errors_found), math.ceil),
    )


def _three_digits(error: float, round_to_whole: Callable[[float], int]) -> float:
    if not error:
        return 0.0
    digits = 2 - math.floor(math.log10(error))
    return round(round_to_whole(error * 10.0**digits) / 10.0**digits, digits)


def _reason(
    tallies: StageTallies,
    design: Design,
    willing: float,
    errors: tuple[float, float, float],
    between: Interval,
    needed: int,
) -> str:
    error, after, target_error = errors
    who = "everybody" if willing == 1 else f"{percent(willing)} of the respondents"
    last = tallies.design.designs[-1].epsilon
    text = (
        f"Raising {who} from ε = {formats.epsilon(last)} to ε = {formats.epsilon(design.epsilon)} lowers the "
        f"standard error from {error:.3g} to {after:.3g} at the shares that are estimated now, in 95 of 100 surveys to "
        f"between {between.low:g} and {between.high:g}; the target is {target_error:.3g}."
    )
    if after <= target_error:
        return text
    return f"{text} It is the whole budget, and not enough: about {needed:,} respondents would be."


def _needed_respondents(respondents: int, error: float, wanted: float) -> int:
    return (
        respondents
        if error <= wanted
        else math.ceil(respondents * (Fraction(error) / Fraction(wanted)) ** 2)
    )


def _target(target: float, level: float | None, willing: float) -> float:
    fits = (
        0 < target < math.inf and (level is None or 0 < level < 1) and 0 < willing <= 1
    )
    if not fits:
        raise InvalidRequest(
            f"the target is {target}, the level {level} and the willing part {willing}; expected a positive target, a "
            "level between 0 and 1, and a part above 0."
        )
    return target if level is None else target / NormalDist().inv_cdf((1 + level) / 2)


def _error(errors: Vector, at: int | None) -> float:
    return float(errors.max() if at is None else errors[at])


def _move_from_border(value: Vector, respondents: int) -> Vector:
    """Return the nearest shares in the simplex with one more person of each category: nobody at all would promise too

    small an error.
    """
    return np.asarray(
        (respondents * projection(value) + 1) / (respondents + len(value))
    )
