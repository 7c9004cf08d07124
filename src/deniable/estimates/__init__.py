"""Step 4: counts → shares, with all that is needed to say how sure we are."""

from __future__ import annotations

from deniable.estimates import compliance
from deniable.estimates.cross_tables import Table, cross_table
from deniable.estimates.decks import deck_variance, estimate_deck
from deniable.estimates.intervals import Interval, coverage
from deniable.estimates.inverses import left_inverse, mean_inverse
from deniable.estimates.largest_risk import Minimax, minimax
from deniable.estimates.likelihood import Convergence
from deniable.estimates.posteriors import Posterior, posterior
from deniable.estimates.results import Caution, Result, Row, Summary
from deniable.estimates.sensitivity import Sensitivity
from deniable.estimates.shares import Estimate, ShareRow, covariance, estimate
from deniable.estimates.two_samples import best_split, unrelated_two_samples

__all__ = [
    "Caution",
    "Convergence",
    "Estimate",
    "Interval",
    "Minimax",
    "Posterior",
    "Result",
    "Row",
    "Sensitivity",
    "ShareRow",
    "Summary",
    "Table",
    "best_split",
    "compliance",
    "covariance",
    "coverage",
    "cross_table",
    "deck_variance",
    "estimate",
    "estimate_deck",
    "left_inverse",
    "mean_inverse",
    "minimax",
    "posterior",
    "unrelated_two_samples",
]
