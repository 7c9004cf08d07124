"""An estimate as a table, with what privacy cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.designs import Design
from deniable.designs.proofs import proofs
from deniable.errors import quoted
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.intervals import wilson
from deniable.estimates.plausible import IMPLAUSIBLE
from deniable.estimates.results import Caution, Summary, told_method, words_of
from deniable.estimates.sensitivity import ReadWith, breakdown_sentence
from deniable.estimates.shares import Estimate, ShareRow
from deniable.estimates.simplex import projection
from deniable.rendering import formats
from deniable.tallies.columns import asked_part, known_attributes, subject


def summarize(estimate: Estimate, level: float, interval: str, *, simultaneous: bool) -> Summary[ShareRow]:
    """Return the summary of an estimate."""
    intervals = estimate.conf_int(level=level, method=interval, simultaneous=simultaneous)
    n, f = estimate.respondents, estimate.basis.f
    # About the share itself: one that was projected can lie far from the share that stands beside it.
    direct_low, direct_high = wilson(np.clip(estimate.value, 0.0, 1.0), 1.0, 0.0, n, f, level)
    each, overall, moved = effective(estimate)
    rows = tuple(
        map(
            ShareRow,
            estimate.design.categories,
            estimate.value.tolist(),
            estimate.errors.tolist(),
            [ends.low for ends in intervals.values()],
            [ends.high for ends in intervals.values()],
            direct_low.tolist(),
            direct_high.tolist(),
            each.tolist(),
        )
    )
    design = estimate.design
    epsilon = asked_part(design).epsilon
    return Summary(
        title=f"{words_of(subject(design))}, ε = {formats.epsilon(epsilon)}, {n:,} respondents, by "
        f"{told_method(estimate.method)}",
        quantity="share",
        rows=rows,
        warnings=estimate.warnings,
        notes=_notes(estimate, cost(n, overall, moved=moved), simultaneous),
        level=level,
        interval=interval,
        simultaneous=simultaneous,
        method=estimate.method,
        respondents=n,
        missing=estimate.tally.missing,
        epsilon=epsilon,
    )


def reference(value: Vector, errors: Vector) -> Vector:
    """Return the shares at which responses are compared with direct answers: two errors away from 0 and 1, or more.

    Why: at a share of 0 a direct question has no variance, so that any number of responses would be worth nothing. What
    the responses leave open reaches two errors from the share; nothing nearer to 0 is known of it.
    """
    away = np.minimum(2 * errors, 0.5)
    return vector(np.clip(value, away, 1 - away))


def worth(respondents: int, shares: Vector, variances: Vector) -> tuple[Vector, float]:
    """Return how many direct answers have the same variances, for each category and for all together.

    Args:
        respondents: how many responses there are.
        shares: at which a direct question is asked; see `reference`.
        variances: of the estimated shares, for one respondent.

    Example:
        >>> each, overall = worth(1000, np.array([0.9, 0.1]), np.array([0.9, 0.9]))
        >>> each.round(), round(overall)
        (array([100., 100.]), 100)
    """
    direct = shares * (1 - shares)
    whole = direct.sum() / max(variances.sum(), 1e-300)
    each = np.minimum(direct / np.maximum(variances, 1e-300), 1.0)
    return vector(respondents * each), float(respondents * min(whole, 1.0))


def effective(estimate: Estimate) -> tuple[Vector, float, bool]:
    """Return what the responses are worth, each category and all together, and whether shares near 0 or 1 were moved.

    Both variances are those of independent respondents, so that a census, where a direct question would leave no doubt
    at all, is told the same cost for each response.
    """
    at = reference(estimate.value, estimate.errors)
    own, others = estimate.basis.linear.spread(projection(estimate.value))
    device = own * at + others * (1 - at) - at
    return *worth(estimate.respondents, at, at * (1 - at) + device), bool((at != estimate.value).any())


def cost(respondents: int, direct: float, *, moved: bool = False) -> str:
    """Tell the cost of privacy; and where shares were moved away from 0 or 1 to compare, that they were."""
    many = "" if f"{direct:,.0f}" == "1" else "s"
    where = (
        " Shares nearer to 0 or 1 than two errors are compared there: at 0 itself a direct question has no error."
        if moved
        else ""
    )
    return (
        f"The cost of privacy: {respondents:,} responses are worth about {direct:,.0f} direct and truthful "
        f"answer{many}. 'asked directly' is the interval that {respondents:,} of those would have had.{where}"
    )


def below_zero(warnings: Sequence[Caution], *, below: bool) -> tuple[str, ...]:
    """Tell why a share can lie outside of 0 … 1, unless a warning says that chance does not explain it."""
    doubted = any(each.code == IMPLAUSIBLE for each in warnings)
    return ("A share below 0 is the price of an estimate without bias.",) if below and not doubted else ()


def _notes(estimate: Estimate, price: str, simultaneous: bool) -> tuple[str, ...]:
    below = not estimate.bounded and bool((estimate.value < 0).any())
    notes = [price, *below_zero(estimate.warnings, below=below)]
    read = ReadWith(estimate.design, estimate.basis.linear)
    if doubt := breakdown_sentence(read, float(estimate.basis.unbiased[-1])):
        notes.append(doubt)
    if simultaneous:
        notes.append("The intervals hold all together with this level.")
    if estimate.tally.missing:
        notes.append(f"{estimate.tally.missing:,} sent no response and take no part in the estimate.")
    if estimate.tally.declared is not None:
        notes.extend(estimate.tally.declared.notes())
    notes.extend(known_sentences(estimate.design))
    return (*notes, *rests_on(estimate.design))


def rests_on(*designs: Any) -> tuple[str, ...]:
    """Tell what responses of these designs prove, and what their promises rest on besides their probabilities.

    Every summary of numbers that were made from responses ends with it.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> rests_on(crosswise("1/4"), direct())[-1]
        'Answers are sent as they are; nothing is hidden.'
    """
    told = []
    for design in designs:
        asked = asked_part(design) if isinstance(design, Design) else None
        if asked is not None and asked.epsilon == np.inf:
            of = "this design" if len(designs) == 1 else words_of(design.name)
            proved = " ".join(proofs(asked))
            told.append(f"Some response of {of} proves something about the answer: its ε is infinite. {proved}")
        told.append(getattr(design, "caveat", ""))
    return tuple(dict.fromkeys(each for each in told if each))


def known_sentences(design: Design) -> tuple[str, ...]:
    """Tell which attributes are openly known, and what the ε is about."""
    return tuple(
        f"{quoted(attribute, 60)} is openly known: nothing was drawn, and ε is about the rest."
        for attribute in known_attributes(design)
    )
