"""List experiments: how many people in each arm, compared with Warner's device."""

from __future__ import annotations

import math

from deniable.designs import warner
from deniable.errors import InvalidRequest
from deniable.estimates.intervals import quantile
from deniable.exact import Rational
from deniable.plan.groups import Arm
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import is_number, read_probability, read_whole
from deniable.rendering import formats
from deniable.rendering.formats import percent


def list_experiment(
    share: float,
    *,
    n_items: int = 3,
    control_variance: float | None = None,
    covariance: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
    epsilon: Rational = 1,
) -> Planned:
    """Answer how many people each arm of a list experiment needs, for a share to be told from 0 (two-sided).

    Implements: n = (z_(α/2) + z_β)²·(2·v₀ + π(1 − π) + 2c)/π² for each arm; with √v₀ : √v₁ in both arms the total is
    the smallest.

    Args:
        share: the sensitive share π that you expect.
        n_items: the number of other items.
        control_variance: v₀, the variance of their number over people; by default that of independent items that apply
            to every second person.
        covariance: c, of that number with the sensitive item.
        power: how surely the share is told from 0.
        alpha: how often a share of 0 is rejected.
        epsilon: that of Warner's device, with which the list is compared.

    Raises:
        InvalidRequest: numbers that do not fit.

    Example:
        >>> list_experiment(0.1).value
        1248
    """
    expected = read_probability(share, "share")
    items = read_whole(n_items, "n_items")
    v0 = items / 4 if control_variance is None else control_variance
    if not is_number(v0) or not is_number(covariance):
        v0 = math.nan
    v1 = v0 + expected * (1 - expected) + 2 * covariance
    if not 0 < v0 < math.inf or not 0 < v1 < math.inf:
        raise InvalidRequest(
            "control_variance and covariance give an arm no positive variance; expected variances above 0.",
            "Omit both for independent items that apply to every second person.",
        )
    distance = quantile(1 - read_probability(alpha, "alpha"))
    distance += quantile(2 * read_probability(power, "the power") - 1)
    unit = (distance / expected) ** 2
    n = math.ceil(unit * (v0 + v1))
    s0, s1 = math.sqrt(v0), math.sqrt(v1)
    device = warner(epsilon)
    worth = Arm(device, expected).spread()
    rows = (
        ("list, equal arms", 2 * n, 0.5, 2 * (v0 + v1)),
        ("list, best arms", math.ceil(unit * (s0 + s1) ** 2), s1 / (s0 + s1), (s0 + s1) ** 2),
        (f"Warner, ε = {formats.epsilon(device.epsilon)}", math.ceil(unit * worth), 1.0, worth),
    )  # fmt: skip
    heads = ("", "people", "share treated", "n·variance")
    lines: tuple[Line, ...] = tuple(
        dict(zip(heads, row, strict=True)) for row in rows
    )
    sentence = (
        f"Ask {n:,} people in each arm, {2 * n:,} altogether: a share of {percent(expected)} is then told from 0 "
        f"with a probability of {percent(power)}."
    )
    note = (
        "The list's ε is infinite: the largest count of the treated arm exposes members. Warner's promises its ε to "
        "everybody."
    )
    return Planned(sentence, n, lines, (note,))
