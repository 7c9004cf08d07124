"""How far to go: the next ε for a wanted accuracy, what it will buy, and when to stop asking."""

from __future__ import annotations

import math
from bisect import bisect_left
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
from deniable.estimates.shares import Estimate
from deniable.estimates.simplex import projection
from deniable.estimates.stages import StageEvidence, combine
from deniable.estimates.weighing import expected_covariance
from deniable.exact import Rational
from deniable.order.relaxation import relax
from deniable.rendering import formats
from deniable.rendering.formats import percent
from deniable.tallies.stages import StageTallies

__all__ = ["Proposal", "propose"]

# in which an ε is looked for: its proposal is this part of the budget too large at most
_EPSILON_STEPS = 1 << 14
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
    build: Callable[[Rational], Design],
    *,
    most: Rational,
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
    target_error = _read_target(target, level, willing)
    now, last = combine(tallies), tallies.design.designs[-1]
    index = None if category is None else last.category_number(category)
    error = _error(now.errors, index)
    stopped = partial(
        Proposal,
        True,
        error=error,
        target=target_error,
        design=None,
        expected=error,
        between=Interval(error, error),
    )
    errors_text = (
        f"The standard error is {error:.3g}, the target {target_error:.3g}:"
    )
    if error <= target_error:
        return stopped(
            reached=True,
            respondents=tallies.respondents,
            text=f"{errors_text} stop asking.",
        )
    spent, budget = exact.rational(last.epsilon), exact.rational(most, name="most")
    if budget <= spent:
        return stopped(
            reached=False,
            respondents=_needed_respondents(
                tallies.respondents, error, target_error
            ),
            text=f"{errors_text} ε = {formats.epsilon(budget)} is spent already.",
        )
    shares = _move_from_border(now.value, tallies.respondents)

    def expected(design: Design) -> float:
        return _error(_errors_after(tallies, willing, design, shares), index)

    design = _smallest(
        lambda e: expected(build(e)) <= target_error, build, spent, budget
    )
    relax(last, design)  # refuses what cannot follow
    after = expected(design)
    between = _predicted_error_range(
        now, shares, partial(_errors_after, tallies, willing, design), index
    )
    needed = _needed_respondents(tallies.respondents, after, target_error)
    text = _reason(tallies, design, willing, (error, after, target_error), between)
    if after > target_error:
        text += f" It is the whole budget, and not enough: about {needed:,} respondents would be."
    return Proposal(
        False,
        after <= target_error,
        error,
        target_error,
        design,
        after,
        between,
        needed,
        text,
    )


def _errors_after(
    tallies: StageTallies, willing: float, design: Design, shares: Vector
) -> Vector:
    """Return the standard errors if a part of the respondents is raised to a design."""
    groups = [(design, tallies.respondents * willing)]
    if willing < 1:
        groups = [
            (stage.design, stage.respondents * (1 - willing))
            for stage in tallies.finest
            if stage.respondents
        ] + groups
    return np.sqrt(np.maximum(np.diagonal(expected_covariance(groups, shares)), 0.0))


def _smallest(
    enough: Callable[[Fraction], bool],
    build: Callable[[Rational], Design],
    spent: Fraction,
    budget: Fraction,
) -> Design:
    """Return the design at the smallest ε on a grid that is enough; at the whole budget where none is."""

    def epsilon(step: int) -> Fraction:
        return spent + (budget - spent) * step / _EPSILON_STEPS

    def is_enough(step: int) -> bool:
        try:
            return enough(epsilon(step))
        except InvalidDesign:  # too fine an ε for the weights of this family
            return False

    return build(
        epsilon(1 + bisect_left(range(1, _EPSILON_STEPS), True, key=is_enough))
    )


def _predicted_error_range(
    now: Estimate[StageEvidence],
    shares: Vector,
    errors: Callable[[Vector], Vector],
    index: int | None,
) -> Interval:
    """Return where the error will be in 95 of 100 surveys, rounded outwards.

    Why: the error that will be told is that at the shares which will be estimated. An estimate with all of the
    information does not hang together with what a coarser one of the same people is off from it, so that the next one
    differs from this one by a variance of Vₙ − Vₐ, now and after. The share that decides is moved so far, and the
    others keep their proportions.
    """
    after = errors(shares)
    decides = int(after.argmax()) if index is None else index
    moved = _SURE * math.sqrt(
        max(now.errors[decides] ** 2 - after[decides] ** 2, 0.0)
    )
    other_shares = shares / (1 - shares[decides])
    possible_errors = []
    for share in np.clip(
        now.value[decides] + moved * np.linspace(-1, 1, _SHARES_TRIED), 0.0, 1.0
    ):
        possible = other_shares * (1 - share)
        possible[decides] = share
        possible_errors.append(_error(errors(possible), index))
    return Interval(
        _three_digits(min(possible_errors), math.floor),
        _three_digits(max(possible_errors), math.ceil),
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
) -> str:
    error, after, target_error = errors
    who = "everybody" if willing == 1 else f"{percent(willing)} of the respondents"
    last = tallies.design.designs[-1].epsilon
    return (
        f"Raising {who} from ε = {formats.epsilon(last)} to ε = {formats.epsilon(design.epsilon)} lowers the "
        f"standard error from {error:.3g} to {after:.3g} at the shares that are estimated now, in 95 of 100 surveys to "
        f"between {between.low:g} and {between.high:g}; the target is {target_error:.3g}."
    )


def _needed_respondents(respondents: int, error: float, target: float) -> int:
    if error <= target:
        return respondents
    return math.ceil(respondents * (Fraction(error) / Fraction(target)) ** 2)


def _read_target(target: float, level: float | None, willing: float) -> float:
    fits = (
        0 < target < math.inf
        and (level is None or 0 < level < 1)
        and 0 < willing <= 1
    )
    if not fits:
        raise InvalidRequest(
            f"the target is {target}, the level {level} and the willing part {willing}; expected a positive target, a "
            "level between 0 and 1, and a part above 0."
        )
    return (
        target if level is None else target / NormalDist().inv_cdf((1 + level) / 2)
    )


def _error(errors: Vector, index: int | None) -> float:
    return float(errors.max() if index is None else errors[index])


def _move_from_border(value: Vector, respondents: int) -> Vector:
    """Return the nearest shares in the simplex with one more person of each category: nobody at all would promise too

    small an error.
    """
    return (respondents * projection(value) + 1) / (respondents + len(value))
