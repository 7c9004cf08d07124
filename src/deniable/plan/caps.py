"""The best design for two answers under caps on ε, on Bayes factors or on a belief; and all named ones at one ε."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from deniable import exact
from deniable.criteria.base import max_posterior
from deniable.designs import (
    Design,
    christofides,
    crosswise,
    direct,
    forced_response,
    kuk,
    mangat_singh,
    mangat_unrelated,
    simmons,
    singh_joarder,
    triangular,
    warner,
)
from deniable.designs.labels import Labels
from deniable.designs.proofs import format_factor as factor_shown
from deniable.errors import InvalidRequest
from deniable.exact import Rational
from deniable.plan.planned import Line, Planned, more_people
from deniable.plan.precision import (
    read_probability,
    read_whole,
    sample_size,
    variance,
    width,
)
from deniable.rendering import formats
from deniable.rendering.formats import percent

_FINE = 1 << 24  # parts of 1 to which a cap is rounded down
_STEPS = 10**6  # a probability that is searched for has six digits


def best_under_caps(
    *,
    epsilon: Rational | None = None,
    factor_yes: Rational | None = None,
    factor_no: Rational | None = None,
    posterior: Rational | None = None,
    prior: Rational = "1/10",
    share: float = 0.1,
    categories: Labels = ("no", "yes"),
) -> Planned:
    """Answer which design tells the most under caps: on ε, on the two Bayes factors, or on a belief.

    Implements: with v/u ≤ B₁ and (1 − u)/(1 − v) ≤ B₀ for u and v the chances of "yes" of others and of members, the
    design u = (B₀ − 1)/(B₀B₁ − 1), v = B₁u; every other one inside the caps is a garbling of it, so that it is best
    whatever the share is.

    Args:
        epsilon: the most that any response may reveal; a cap of e^ε on both factors.
        factor_yes: by how much "yes" may raise the odds of being a member.
        factor_no: by how much "no" may lower them.
        posterior: what may be believed at most after "yes", by somebody who believed `prior` before.
        prior: a belief beforehand.
        share: the share that you expect, for what the design costs.
        categories: the two answers.

    Raises:
        InvalidRequest: no cap on what "yes" reveals, or caps that forbid to learn anything.

    Example:
        >>> found = best_under_caps(factor_yes=5, factor_no=2)
        >>> found.design.channel.probability(1, given=0), found.design.channel.probability(1, given=1)
        (Fraction(1, 9), Fraction(5, 9))
    """
    believed = exact.probability(prior, name="the prior")
    yes, no = _read_caps(epsilon, factor_yes, factor_no, posterior, believed)
    u = 1 / yes if no == math.inf else (no - 1) / (no * yes - 1)
    v = yes * u
    design = forced_response(v - u, u, 1 - v, categories=categories)
    times = variance(design, 1, shares=[1 - share, share]) / (
        read_probability(share, "the share") * (1 - share)
    )
    sentence = (
        f"Ask for the truth with a probability of {percent(float(v - u))}, and force “{design.categories[1]}” with "
        f"{percent(float(u))} and “{design.categories[0]}” with {percent(float(1 - v))}: no design inside the caps "
        f"tells more. At a share of {percent(share)} it takes {more_people(float(times))} "
        f"{'than' if 1.0005 < times < 1.995 else 'as'} honest direct answers."
    )
    return Planned(
        sentence,
        float(v - u),
        _belief_lines(design, believed),
        _proof_note(design),
        design=design,
    )


def _belief_lines(design: Design, prior: Fraction) -> tuple[Line, ...]:
    """Return the Bayes factor of each response, and what somebody with this prior may believe after it."""
    belief = f"belief after {percent(float(prior))} before"
    return tuple(
        {
            "response": symbol,
            "Bayes factor": factor_shown(factor),
            belief: f"{formats.upper_bound(100 * max_posterior(factor, prior), 3)}%",
        }
        for symbol, factor in zip(design.symbols, _yes_factors(design), strict=True)
    )


def _read_caps(
    epsilon: Rational | None,
    factor_yes: Rational | None,
    factor_no: Rational | None,
    posterior: Rational | None,
    prior: Fraction,
) -> tuple[Fraction, Fraction | float]:
    epsilon_factor = math.inf if epsilon is None else _factor(epsilon)
    yes, no = (
        math.inf if factor is None else exact.rational(factor, name="a Bayes factor")
        for factor in (factor_yes, factor_no)
    )
    believed: Fraction | float = math.inf
    if posterior is not None:
        after = exact.probability(posterior, name="the posterior")
        if not 0 < prior < after < 1:
            raise InvalidRequest(
                f"the posterior is {float(after):g} and the prior {float(prior):g}; expected a prior above 0 and a "
                "posterior between it and 1."
            )
        believed = after * (1 - prior) / ((1 - after) * prior)
    cap, cap_no = min(yes, believed, epsilon_factor), min(no, epsilon_factor)
    if not isinstance(cap, Fraction) or cap <= 1 or cap_no <= 1:
        raise InvalidRequest(
            f"the caps on the Bayes factors are {float(cap):g} and {float(cap_no):g}; expected more than 1 each, and "
            "one on what “yes” reveals.",
            "For example epsilon=1, or factor_yes=5.",
        )
    return cap, cap_no


def _factor(epsilon: Rational) -> Fraction:
    """Return e^ε rounded down to few digits, so that the design's probabilities are drawn with few random bits."""
    cap = exact.exp_below(exact.positive_epsilon(epsilon))
    return Fraction(math.floor(cap * _FINE), _FINE)


def _yes_factors(design: Design) -> list[exact.Ratio]:
    """Return the Bayes factor of each response for the second answer."""
    return [
        design.bayes_factors(symbol, design.categories[1])[0]
        for symbol in design.symbols
    ]


def _proof_note(design: Design) -> tuple[str, ...]:
    if design.epsilon < math.inf:
        return (f"Its ε is {formats.epsilon(design.epsilon)}.",)
    return (
        f"Nothing caps what “{design.categories[0]}” reveals: it proves that somebody is not "
        f"“{design.categories[1]}”, and ε is infinite. Cap it with factor_no or epsilon if that is not harmless.",
    )


class _Named(NamedTuple):
    """A named design with one parameter left open, which reveals more the larger it is."""

    name: str
    settings: str
    build: Callable[[Fraction], Design]
    least: Fraction = Fraction(1, 2)


_NAMED = (
    _Named("warner", "p = {}", lambda p: warner(p=p)),
    _Named("crosswise", "p = 1 − {}", lambda p: crosswise(1 - p)),
    _Named(
        "forced_response",
        "yes = no = 1 − {}",
        lambda p: forced_response(2 * p - 1, 1 - p, 1 - p),
    ),
    _Named(
        "mangat_singh",
        "t = 0.2, p = {}",
        lambda p: mangat_singh("1/5", p),
        Fraction(3, 8),
    ),
    _Named(
        "simmons", "b = 0.5, p = {}", lambda p: simmons(p=p, b="1/2"), Fraction(0)
    ),
    _Named(
        "simmons", "b = 0.25, p = {}", lambda p: simmons(p=p, b="1/4"), Fraction(0)
    ),
    _Named(
        "mangat_unrelated",
        "t = 0.1, b = 0.5, p = {}",
        lambda p: mangat_unrelated("1/10", p, "1/2"),
        Fraction(0),
    ),
    _Named("singh_joarder", "p = {}", singh_joarder),
    _Named("kuk", "2 draws, p1 = {}, p2 = 1 − p1", lambda p: kuk(p, 1 - p, draws=2)),
    _Named(
        "christofides",
        "cards 0.8·{}, 0.2, rest",
        lambda p: christofides(cards=[p * 4 / 5, "1/5", (1 - p) * 4 / 5]),
    ),
)
"""The named designs whose ε can be chosen; each channel that has several names stands here by the best known ones."""


def designs_at(
    epsilon: Rational, n: int, *, share: float = 0.1, level: float = 0.95
) -> Planned:
    """Answer which of the named designs for two answers is best at one ε and with n respondents.

    Those whose one response proves something have no finite ε: `triangular` stands for them, with its other response
    kept to the same factor, and so does a direct question, honestly answered.

    Args:
        epsilon: what each design may reveal.
        n: how many will respond.
        share: the share that you expect.
        level: of the interval.

    Raises:
        InvalidRequest: numbers that do not fit.

    Example:
        >>> designs_at(1, 1000).lines[2]["design"]
        'warner'
    """
    n, expected = read_whole(n, "n"), read_probability(share, "the share")
    candidates = _candidates(_factor(epsilon))
    shares = [1 - expected, expected]
    width_at = partial(width, n=n, level=level, shares=shares)
    # all others of this ε are garblings of Warner's
    goal = width_at(candidates[0][2])
    people = partial(sample_size, margin=goal / 2, level=level, shares=shares)
    lines = _width_lines(candidates, width_at, people)
    sentence = (
        f"At ε = {formats.epsilon(exact.rational(epsilon))} and with {n:,} respondents no design is better than "
        f"warner: the {percent(level)} interval of a share of {percent(expected)} is {100 * goal:.3g} percentage "
        "points wide."
    )
    return Planned(sentence, goal, tuple(lines), (_INFINITE,))


def _width_lines(
    candidates: list[tuple[str, str, Design]],
    width_at: Callable[[Design], float],
    people: Callable[[Design], int],
) -> list[Line]:
    """Return a line for each design, the narrowest interval first."""
    lines: list[Line] = [
        {
            **_settings_line(*candidate),
            "width": width_at(candidate[2]),
            "people for the same width": people(candidate[2]),
        }
        for candidate in candidates
    ]
    lines.sort(key=lambda line: round(float(line["width"]), 4))
    return lines


def _settings_line(name: str, settings: str, design: Design) -> Line:
    factors = ", ".join(map(factor_shown, _yes_factors(design)))
    return {
        "design": name,
        "settings": settings,
        "ε": design.epsilon,
        "Bayes factors": factors,
    }


_INFINITE = (
    "An ε of ∞ says that a response proves something: it is no alternative where that would harm. The last column "
    "is how many people give as narrow an interval as warner's."
)


def _candidates(cap: Fraction) -> list[tuple[str, str, Design]]:
    """Return the designs at one factor with their names and settings; at the end those that prove something."""
    p = Fraction(math.ceil(_STEPS / cap), _STEPS)
    return [
        *(_capped_design(name, cap) for name in _NAMED),
        ("triangular", f"p = {float(p):g}", triangular(p)),
        ("direct question", "", direct()),
    ]


def _capped_design(named: _Named, cap: Fraction) -> tuple[str, str, Design]:
    """Return a named design with the largest probability at which no response reveals more than the cap."""
    # hides everything; _STEPS hides nothing
    first = math.floor(named.least * _STEPS)
    beyond = bisect_left(
        range(first + 1, _STEPS),
        True,
        key=lambda step: named.build(Fraction(step, _STEPS)).parity > cap,
    )
    p = Fraction(first + beyond, _STEPS)
    return named.name, named.settings.format(f"{float(p):g}"), named.build(p)
