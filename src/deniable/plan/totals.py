"""How accurate all shares are together: unbiased, and projected onto the simplex."""

from __future__ import annotations

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, require_one
from deniable.estimates.shares import read_shares
from deniable.estimates.simplex import projection
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    MAX_RESPONDENTS,
    read_whole,
    sample_size,
    variance,
)
from deniable.types import operation
from deniable.types.categories.plan import Shares

_EVEN = (
    "The line of even shares is the safe figure: they gain the least from a projection, unless the standard errors are "
    "larger than an even share."
)
_SINGLE = "Projection does not help a single share: its interval stays that of the unbiased estimate."


def total_error(
    design: Design,
    *,
    n: int | None = None,
    error: float | None = None,
    shares: Shares | None = None,
    repetitions: int = 4_000,
) -> Planned:
    """Answer how accurate all shares are together after a projection, or how many people must respond for that.

    The error is the expected sum of the squared errors of all shares. It is computed by a mean-field approximation; a
    simulation stands beside it, where tallies of the design can be drawn in law.

    Args:
        design: what people will respond with.
        n (1…): how many will respond.
        error: the largest total squared error of the projected shares allowed.
        shares: the shares that you expect, in the order of the categories; even ones, if they are not given.
        repetitions (1…): how many surveys are simulated for each line.

    Raises:
        InvalidRequest: not exactly one of n and error, or numbers that do not fit.

    Example:
        >>> from deniable.designs import k_ary
        >>> total_error(k_ary(20, epsilon=1), error=0.01, shares=[0.2] * 5 + [0] * 15).value
        7704
    """
    require_one("For example n=5_000.", n=n, error=error)
    places = {} if shares is None else {"expected": shares}
    even = [1 / len(design.categories)] * len(design.categories)
    lines = tuple(
        _line(design, name, at, n, error, repetitions)
        for name, at in {**places, "even": even}.items()
    )
    people, value = int(lines[0]["people"]), float(lines[0]["projected"])
    at = f"of all {len(even)} shares, at {lines[0]['shares']} shares,"
    sentence = (
        f"Ask {people:,} people: the total squared error {at} is then at most {error:.3g} after a projection onto the "
        "simplex."
        if error is not None
        else f"With {people:,} respondents the total squared error {at} is {value:.3g} after a projection onto the "
        f"simplex, and {lines[0]['unbiased']:.3g} before."
    )
    return Planned(
        sentence, value if error is None else people, lines, (_EVEN, _SINGLE)
    )


def _line(
    design: Design,
    name: str,
    shares: Shares,
    n: int | None,
    error: float | None,
    repetitions: int,
) -> Line:
    """Return both errors at these shares, and how many people have as small a one without a projection."""
    people = (
        sample_size(design, variance=error, shares=shares, projected=True)
        if n is None
        else read_whole(n, "n")
    )
    # of two categories the plan has the variance of one
    parts = 2 if len(design.categories) == 2 else 1
    unbiased = parts * variance(design, people, shares=shares)
    projected = variance(design, people, shares=shares, projected=True)
    without = people * unbiased / (error or projected)
    if error is not None and without > MAX_RESPONDENTS:
        raise InvalidRequest(
            f"a total squared error of {error:.3g} takes more than 2^62 people; expected a larger one."
        )
    return {
        "shares": name,
        "people": people,
        "unbiased": unbiased,
        "projected": projected,
        "simulated": _simulated_error(design, people, shares, repetitions),
        "people without projection": round(without),
    }


def _simulated_error(
    design: Design, n: int, shares: Shares, repetitions: int
) -> float | str:
    """Return the mean total squared error of projected shares in surveys drawn in law; a dash where none are."""
    draws = np.random.default_rng(0)  # nobody is asked: a plan says the same again
    true = read_shares(design, shares)
    people = draws.multinomial(n, true, size=repetitions)
    try:
        tallies = operation(design, "simulate_tallies")(design, people, draws)
    except InvalidRequest:  # too many responses to write out
        return "–"
    linear = operation(design, "tally_inverse")(design, "inversion")
    unbiased = np.array([linear.shares(row) for row in tallies / n])
    return float(((projection(unbiased) - true) ** 2).sum(axis=1).mean())
