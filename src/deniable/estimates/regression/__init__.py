"""Regression on randomized responses: the law of a response is channel × link, whatever the design of its row."""

from __future__ import annotations

from deniable.estimates.regression.effects import Effects
from deniable.estimates.regression.fitted import CoefficientRow, Regression
from deniable.estimates.regression.fitting import regress

__all__ = ["CoefficientRow", "Effects", "Regression", "regress"]
