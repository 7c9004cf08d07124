"""Do the responses look like what the design sends, and do they tell anything?"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from deniable.designs import Design
from deniable.errors import quoted
from deniable.estimates.intervals import METHODS, Basis, quantile
from deniable.estimates.results import Caution
from deniable.rendering import formats

RATE = 0.01
"""How often respondents who follow the design are doubted all the same, over all categories together."""


IMPLAUSIBLE, FEW = "implausible", "few"
_MOST_DOUBTS = 5  # told one by one; more are told together


_USUAL = {
    "correlated_question": "the answers to the other question are not what was assumed, or people refuse a yes to it",
    "crosswise": "people send one of the two responses whatever applies to them, or the harmless share is not p",
    "devore": "people whom the device told to say yes said no",
    "forced_response": "people whom the device told to say yes said no",
    "mangat": "people whom the device told to say yes said no",
    "mangat_unrelated": "the unrelated share of yes is smaller than b, or people refuse a yes to that question too",
    "simmons": "the unrelated share of yes is smaller than b, or people refuse a yes to that question too",
    "warner": "people took the statement for its opposite, or the responses are coded the other way round",
}
"""What a share of the second answer below 0 usually means, by family of design, as validation studies find it."""


def usual_cause(design: Design, number: int) -> str:
    """Tell in a sentence what a share below 0 usually means with a design; empty where nothing is known of it."""
    if len(design.categories) != 2 or design.name not in _USUAL or number != 1:
        return ""
    told = design.name.replace("_", " ")
    return f" Estimates below 0 with {told} usually mean that {_USUAL[design.name]}."


def implausible(design: Design, basis: Basis) -> tuple[Caution, ...]:
    """Return a doubt for each category of which there are fewer than none; of very many one about all of them.

    A category is doubted when its unbiased share lies further below 0 than chance alone would bring it if nobody at all
    belonged to it, except once in a hundred surveys.
    """
    size = len(basis.unbiased)
    _, others = basis.linear.spread(np.maximum(basis.unbiased, 0.0))
    error = np.sqrt(np.maximum(others, 0.0) / basis.respondents)
    limit = NormalDist().inv_cdf(RATE / (size if size > 2 else 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(
            error > 0,
            basis.unbiased / error,
            np.where(basis.unbiased < -1e-9, -np.inf, 0.0),
        )
    doubted = np.flatnonzero(distance < limit)
    if len(doubted) > _MOST_DOUBTS:
        worst = int(doubted[distance[doubted].argmin()])
        return (
            _doubt(
                design, worst, basis.unbiased[worst], error[worst], len(doubted) - 1
            ),
        )
    return tuple(
        _doubt(design, j, basis.unbiased[j], error[j]) for j in doubted.tolist()
    )


def _doubt(
    design: Design, category: int, share: float, error: float, others: int = 0
) -> Caution:
    """Return a doubt about a category, or about the worst of very many.

    The error is that of a share of 0, which is not the one that stands beside the estimate.
    """
    far = "below 0 (at a share of 0 there would be no error)"
    if error > 0:
        at_zero = formats.percent(error, 2)
        far = f"{-share / error:.1f} standard errors below 0 (at a share of 0 the error would be {at_zero})"
    also = (
        f", and those of {others:,} other categories lie too far below 0 as well"
        if others
        else ""
    )
    return Caution(
        IMPLAUSIBLE,
        f"the share of {design.categories[category]!r} is estimated at {formats.fixed_percent(share)}, {far}{also}: "
        f"fewer responses point to {'them' if others else 'it'} than the device alone would "
        "send. Likely causes: respondents did not follow the device (for instance, they refused a response that looks "
        "like an admission), another design was used, or the responses are coded the other way round."
        + usual_cause(design, category),
    )


def few(design: Design, basis: Basis, *, is_exact: bool) -> tuple[Caution, ...]:
    """Return a doubt where a 95 % interval holds every share from 0 to 1: then the responses tell nothing about it.

    Args:
        design: names the categories.
        basis: what the interval is computed from.
        is_exact: whether the interval is the exact one, where responses are rare; else it is that of scores.
    """
    if is_exact:
        low, high = METHODS["exact"](basis, 0.95)
        empty = np.flatnonzero((low <= 0) & (high >= 1))
    else:
        # An interval of scores holds 0 and 1 where both lie within z standard errors, each taken as if it were true.
        own, others = basis.spread
        reach = quantile(0.95) ** 2 / basis.respondents
        from_none, from_all = (
            basis.unbiased**2 <= reach * others,
            (1 - basis.unbiased) ** 2 <= reach * (own - 1),
        )
        empty = np.flatnonzero(from_none & from_all)
    if not len(empty):
        return ()
    names = [quoted(design.categories[number]) for number in empty[:3].tolist()]
    more = [f"{len(empty) - 3:,} others"] if len(empty) > 3 else []
    of = " and ".join(
        [", ".join([*names, *more][:-1]), [*names, *more][-1]]
        if len(empty) > 1
        else names
    )
    text = (
        f"{basis.respondents:,} responses are too few to tell anything about the share of {of}: everything from 0 to "
        "100% would fit them."
    )
    return (Caution(FEW, text),)
