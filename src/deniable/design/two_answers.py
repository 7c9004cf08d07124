"""The best design for two answers under (ε, δ), and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from deniable import exact
from deniable.design import relaxed_binary as parts
from deniable.design.binary_choice import BinaryChoice, Candidate, Curve
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.errors import InvalidRequest

Goal = Literal["guess", "worst", "regret"]
_GOALS = {
    "guess": "at the guessed share",
    "worst": "at the worst share of the range",
    "regret": "in what a wrong guess costs",
}


def optimal_binary(
    epsilon: exact.Rational,
    delta: exact.Rational = 0,
    *,
    share: exact.Rational | None = None,
    share_range: Sequence[exact.Rational] | None = None,
    goal: Goal = "guess",
    ceiling: exact.Rational | None = None,
    expose: bool = False,
    categories: Labels = parts.TWO,
) -> BinaryChoice:
    """Choose the two-answer design with the smallest variance under (ε, δ), and say why.

    Designs that give an answer away are left out unless `expose` asks for them; a `ceiling` lets designs in that tell
    more than the even one in a rare response, but never more than its ε.

    Implements: [HLM17], Theorems 2 and 3 and Corollary 2, with the threshold g(ε, δ) of eq. 23; its heuristic for a
    range of shares takes the middle. The ceiling, the worst case and the regret over the range are ours.

    Guarantee: integer weights that sum to 2^64, or exactly (1, δ), with δ(ε) ≤ δ exactly.

    Why: the variance falls in p00 and in p11, so the optimum lies on the border of the region, and along each straight
    stretch of the border the variance is smallest at an end: the even design, or where a stretch meets the ceiling.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ).
        share: the share of the second answer, as far as it can be guessed.
        share_range: the smallest and the largest share that are reckoned with; the guess is then its middle.
        goal: "guess" for the smallest variance at the guess, "worst" for the smallest worst case over the range,
            "regret" for the smallest cost of a wrong guess.
        ceiling: the largest ε that any response may have without δ.
        expose: whether a design that gives people away outright may be chosen.
        categories: the two answers.

    Raises:
        InvalidRequest: an unknown goal, shares that do not fit, or a ceiling together with `expose`.
        InvalidDesign: an (ε, δ) that leaves nothing to tell, or lets everything be told.

    Example:
        >>> choice = optimal_binary("0.5", "0.1", share="0.3")
        >>> choice.design.name, round(choice.variance, 6)
        ('relaxed_warner', 2.394907)
        >>> optimal_binary("0.5", "0.1", share="0.2", expose=True).design.name
        'exposing_binary'
    """
    if goal not in _GOALS:
        raise InvalidRequest(f"the goal is {goal!r:.40}; expected one of {', '.join(_GOALS)}.")
    if expose and ceiling is not None:
        raise InvalidRequest("a design that exposes people has no ceiling; expected either ceiling or expose.")
    low, guess, high = _shares(share, share_range)
    designs = _designs(epsilon, delta, ceiling, expose, categories)
    candidates = _candidates(designs, low, guess, high)
    chosen, *others = sorted(candidates, key=lambda each: _rank(each, goal))
    if len(designs) > 1:
        border = _crossing(designs[0], designs[1])
    else:
        border = parts.threshold(parts.read_ratio(epsilon), parts.read_delta(delta))
    return BinaryChoice(
        chosen,
        tuple(others),
        float(low),
        float(high),
        float(guess),
        float(border),
        chosen.regret == 0,
        _why(chosen, others, goal, (low, guess, high), border),
        _note(chosen, epsilon, delta, guess, ceiling, others),
    )


def _rank(candidate: Candidate, goal: Goal) -> tuple[float, bool, float]:
    """Order by the goal; at a tie, but for rounding, the design that exposes nobody comes first, then the smaller ε."""
    value = {"guess": candidate.variance, "worst": candidate.worst, "regret": candidate.regret}[goal]
    return float(f"{value:.12g}"), candidate.exposes, candidate.design.epsilon


def _shares(
    share: exact.Rational | None, share_range: Sequence[exact.Rational] | None
) -> tuple[Fraction, Fraction, Fraction]:
    if share_range is None:
        ends = (0, 1) if share is None else (share, share)
    else:
        ends = tuple(share_range)  # type: ignore[assignment]  # its length is checked next
    if len(ends) != 2:
        raise InvalidRequest(f"the range has {len(ends)} numbers; expected the smallest and the largest share.")
    low, high = (exact.probability(end, name="share_range") for end in ends)
    guess = (low + high) / 2 if share is None else exact.probability(share, name="share")
    if not low <= guess <= high:
        raise InvalidRequest(
            f"the shares are {float(low):.6g}, {float(guess):.6g}, {float(high):.6g}; "
            "expected a range from small to large with the guess inside."
        )
    return low, guess, high


def _designs(
    epsilon: exact.Rational,
    delta: exact.Rational,
    ceiling: exact.Rational | None,
    expose: bool,
    categories: Labels,
) -> list[Design]:
    """Return the even design, and where they are allowed the two lopsided ones, the second answer's first."""
    ratio, share = parts.read_ratio(epsilon), parts.read_delta(delta)
    limit = None if ceiling is None else exact.exp_below(exact.positive_epsilon(ceiling, name="ceiling"))
    first = parts.relaxed_warner(epsilon, delta, categories=categories)
    channel = parts.capped_even(ratio, share, limit)
    known = first.categories
    designs = [first if channel == first.channel else Design("warner", known, known, channel)]
    if expose and share:
        designs += [parts.exposing_binary(share, telling=name, categories=known) for name in reversed(known)]
    elif limit is not None and share and limit * (1 - share) > ratio + share:
        channel = parts.corner(ratio, share, limit)
        designs += [Design("capped_binary", known, known, parts.turned(channel, number)) for number in (1, 0)]
    return designs


def _candidates(designs: Sequence[Design], low: Fraction, guess: Fraction, high: Fraction) -> list[Candidate]:
    curves = [Curve.of(design.channel) for design in designs]

    def regret(curve: Curve, share: Fraction) -> Fraction:
        return curve.at(share) - min(other.at(share) for other in curves)

    found = []
    for design, curve in zip(designs, curves, strict=True):
        # A largest difference of straight lines is at an end of the range.
        most, at = max((regret(curve, share), share) for share in (low, high))
        found.append(
            Candidate(
                design,
                float(curve.at(guess)),
                float(curve.worst(low, high)),
                float(most),
                float(at),
                design.parity == math.inf,
            )
        )
    return found


def _crossing(even: Design, lopsided: Design) -> Fraction:
    """Return the share at which the two variances are equal."""
    one, two = Curve.of(even.channel), Curve.of(lopsided.channel)
    return (one.c - two.c) / (two.b - one.b)


def _why(
    chosen: Candidate,
    others: Sequence[Candidate],
    goal: str,
    shares: tuple[Fraction, Fraction, Fraction],
    border: Fraction,
) -> str:
    low, guess, high = map(float, shares)
    where = f"a share of {guess:.4g}" if low == high else f"shares from {low:.4g} to {high:.4g}"
    if not others:
        return (
            f"At every share it has the smallest variance of all designs whose parity is at most its own, "
            f"{chosen.variance:.6g} per respondent at {guess:.4g}."
        )
    best = others[0]
    lopsided = f"A lopsided design wins where the rarer answer has a share below {float(border):.4g}."
    if chosen.regret == 0:
        return (
            f"For {where} it is the best of {len(others) + 1} candidates, with a variance of {chosen.variance:.6g} per "
            f"respondent at {guess:.4g}; the runner-up, {best}, has {best.variance:.6g}. {lopsided}"
        )
    return (
        f"For {where} no candidate is always best; this one is best {_GOALS[goal]}, with a variance of "
        f"{chosen.variance:.6g} per respondent at {guess:.4g} and {chosen.worst:.6g} at worst. If the share is "
        f"{chosen.regret_at:.4g} it costs {chosen.regret:.6g} more than the best there; the runner-up, {best}, would "
        f"cost up to {best.regret:.6g} more, at {best.regret_at:.4g}. {lopsided}"
    )


def _note(
    chosen: Candidate,
    epsilon: exact.Rational,
    delta: exact.Rational,
    guess: Fraction,
    ceiling: exact.Rational | None,
    others: Sequence[Candidate],
) -> str:
    share = parts.read_delta(delta)
    if chosen.exposes:
        rare = next(name for name in chosen.design.categories if chosen.design.probability(name, given=name) < 1)
        return (
            f"This design exposes people outright: whoever sends {rare!r} has given that answer away, and a share of "
            f"{float(share):.4g} of those who have it do. It was chosen because expose=True asked for it."
        )
    m = min(guess, 1 - guess)
    g = parts.threshold(parts.read_ratio(epsilon), share)
    if not share or g <= m or any(each.exposes for each in others):
        return ""
    return (
        f"A design with a variance of {float(m / share - m * m):.6g} at {float(guess):.4g} was left out, because it "
        f"exposes a share of {float(share):.4g} of those with the rarer answer outright; it is offered only for "
        "expose=True" + ("." if ceiling is not None else ", and a ceiling comes near to it without exposing anybody.")
    )
