"""A combined estimate of stages as a table, the same as that of a single design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimate.interval import Interval, wilson
from deniable.estimate.simplex import projection
from deniable.estimate.summary import Row, Summary, cost

if TYPE_CHECKING:
    from deniable.gradual.estimate import Combined

RATE = 0.001
"""How often stages that hold alike people are said to differ."""


def summarize(combined: Combined, level: float) -> Summary:
    """Return the summary of a combined estimate; its ε is that of the finest stage somebody reached."""
    n, ladder = combined.tallies.respondents, combined.tallies.ladder
    intervals = [combined.interval(category, level=level) for category in combined.categories]
    low, high = wilson(projection(combined.value), 1.0, 0.0, n, 1.0, level)
    direct = [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    widths = np.array([[each.high - each.low for each in ends] for ends in (direct, intervals)])
    worth = n * np.minimum(widths[0] / np.maximum(widths[1], 1e-300), 1.0) ** 2
    overall = n * min(1.0, float((widths[0] ** 2).sum() / max(float((widths[1] ** 2).sum()), 1e-300)))
    reached = max(number for number, each in enumerate(combined.tallies.finest) if each.respondents)
    rows = zip(combined.categories, combined.value, combined.errors, intervals, direct, worth, strict=True)
    return Summary(
        title=f"{ladder!r}, {n:,} respondents, by {combined.method}",
        rows=tuple(
            Row(category, float(value), float(error), ends.low, ends.high, asked.low, asked.high, float(each))
            for category, value, error, ends, asked, each in rows
        ),
        notes=_notes(combined, overall),
        level=level,
        interval="normal",
        simultaneous=False,
        method=combined.method,
        respondents=n,
        missing=sum(each.missing for each in combined.tallies.finest),
        epsilon=ladder.epsilons[reached],
    )


def _notes(combined: Combined, overall: float) -> tuple[str, ...]:
    stages = "; ".join(
        f"ε = {design.epsilon:.4g}: {each.respondents:,} ({weight:.0%} of the weight)"
        for design, each, weight in zip(combined.tallies.ladder, combined.tallies.finest, combined.weights, strict=True)
    )
    notes = [cost(combined.tallies.respondents, overall), f"Respondents by the finest stage they sent: {stages}."]
    if (combined.value < 0).any():
        notes.append("A share below 0 is the price of an estimate without bias.")
    if combined.homogeneity < RATE:
        notes.append(
            f"Warning: the stages differ by more than chance (p = {combined.homogeneity:.2g}): who goes on to a finer "
            'stage seems to depend on the answer. Combine them with method="strata".'
        )
    return tuple(notes)
