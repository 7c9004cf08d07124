"""An estimate as a table, with what privacy cost."""

from __future__ import annotations

import numpy as np

from deniable import exact
from deniable.designs import Design
from deniable.designs.proofs import proofs
from deniable.errors import quoted
from deniable.estimates.covariances import Vector
from deniable.estimates.intervals import wilson
from deniable.estimates.results import Summary
from deniable.estimates.sensitivity import breakdown_sentence
from deniable.estimates.shares import Estimate, ShareRow
from deniable.estimates.simplex import projection
from deniable.tallies.columns import asked_part, known_attributes, subject


def summarize(estimate: Estimate, level: float, interval: str, *, simultaneous: bool) -> Summary[ShareRow]:
    """Return the summary of an estimate."""
    intervals = estimate.conf_int(level=level, method=interval, simultaneous=simultaneous)
    n, f = estimate.respondents, estimate.basis.f
    # About the share itself: one that was projected can lie far from the share that stands beside it.
    direct_low, direct_high = wilson(np.clip(estimate.value, 0.0, 1.0), 1.0, 0.0, n, f, level)
    worth, overall = effective(estimate, projection(estimate.value), level)
    rows = tuple(
        map(
            ShareRow,
            estimate.design.categories,
            estimate.value.tolist(),
            estimate.errors.tolist(),
            [each.low for each in intervals.values()],
            [each.high for each in intervals.values()],
            direct_low.tolist(),
            direct_high.tolist(),
            worth.tolist(),
        )
    )
    design = estimate.design
    epsilon = asked_part(design).epsilon
    return Summary(
        title=f"{subject(design)}, ε = {exact.shown_above(epsilon, 4)}, {n:,} respondents, by {estimate.method}",
        quantity="share",
        rows=rows,
        warnings=estimate.warnings,
        notes=_notes(estimate, overall, simultaneous),
        level=level,
        interval=interval,
        simultaneous=simultaneous,
        method=estimate.method,
        respondents=n,
        missing=estimate.tally.missing,
        epsilon=epsilon,
    )


def effective(estimate: Estimate, shares: Vector, level: float) -> tuple[Vector, float]:
    """Return how many direct answers would give intervals as narrow, for each category and for all together.

    Both widths are taken for independent respondents, so that a census, where a direct question would leave no doubt at
    all, is told the same cost for each response.
    """
    n, linear = estimate.respondents, estimate.basis.linear
    own, others = linear.spread(shares)
    low, high = wilson(estimate.basis.unbiased, own, others, n, 1.0, level)
    direct_low, direct_high = wilson(shares, 1.0, 0.0, n, 1.0, level)
    ratio = (direct_high - direct_low) / np.maximum(high - low, 1e-300)
    whole = ((direct_high - direct_low) ** 2).sum() / max(((high - low) ** 2).sum(), 1e-300)
    return n * np.minimum(ratio, 1.0) ** 2, float(n * min(whole, 1.0))


def cost(respondents: int, worth: float) -> str:
    """Tell the cost of privacy."""
    many = "" if f"{worth:,.0f}" == "1" else "s"
    return (
        f"The cost of privacy: {respondents:,} responses are worth about {worth:,.0f} direct and truthful "
        f"answer{many}. 'asked directly' is the interval that {respondents:,} of those would have had."
    )


def _notes(estimate: Estimate, overall: float, simultaneous: bool) -> tuple[str, ...]:
    notes = [cost(estimate.respondents, overall)]
    if not estimate.bounded and (estimate.value < 0).any():
        notes.append("A share below 0 is the price of an estimate without bias.")
    if doubt := breakdown_sentence(estimate):
        notes.append(doubt)
    if simultaneous:
        notes.append("The intervals hold all together with this level.")
    if estimate.tally.missing:
        notes.append(f"{estimate.tally.missing:,} sent no response and take no part in the estimate.")
    if estimate.tally.declared is not None:
        notes.extend(estimate.tally.declared.notes())
    notes.extend(known_sentences(estimate.design))
    asked = asked_part(estimate.design)
    if asked.epsilon == np.inf:
        told = " ".join(proofs(asked))
        notes.append(f"Some response of this design proves something about the answer: its ε is infinite. {told}")
    if estimate.design.caveat:
        notes.append(estimate.design.caveat)
    return tuple(notes)


def known_sentences(design: Design) -> tuple[str, ...]:
    """Tell which attributes are openly known, and what the ε is about."""
    return tuple(
        f"{quoted(attribute, 60)} is openly known: nothing was drawn, and ε is about the rest."
        for attribute in known_attributes(design)
    )
