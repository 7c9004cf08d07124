"""Step 4: counts → shares, with all that is needed to say how sure we are."""

from __future__ import annotations

from deniable._steps import callable_step
from deniable.estimate import coded, kronecker  # noqa: F401 - they teach `left_inverse` about kinds of channels
from deniable.estimate.cards import christofides_inverse
from deniable.estimate.crosstab import CrossTable, cross_table
from deniable.estimate.deck import DeckEstimate, deck_variance, estimate_deck
from deniable.estimate.estimate import Estimate
from deniable.estimate.fit import covariance, estimate
from deniable.estimate.interval import Interval, coverage
from deniable.estimate.likelihood import Convergence
from deniable.estimate.linear import left_inverse
from deniable.estimate.minimax import Minimax, minimax
from deniable.estimate.summary import Row, Summary

__all__ = [
    "Convergence",
    "CrossTable",
    "DeckEstimate",
    "Estimate",
    "Interval",
    "Minimax",
    "Row",
    "Summary",
    "christofides_inverse",
    "covariance",
    "coverage",
    "cross_table",
    "deck_variance",
    "estimate",
    "estimate_deck",
    "left_inverse",
    "minimax",
]

callable_step(__name__, estimate)
