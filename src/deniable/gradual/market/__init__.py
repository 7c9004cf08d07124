"""A market for one answer: many buyers at chosen ε, upgrades later, and never more spent than the finest stage sold."""

from __future__ import annotations

from deniable.gradual.market.coalition import Worth, worth
from deniable.gradual.market.market import Consent, Market, Sale
from deniable.gradual.market.prices import Prices

__all__ = ["Consent", "Market", "Prices", "Sale", "Worth", "worth"]
