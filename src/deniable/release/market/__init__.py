"""A market for one answer: many buyers at chosen ε, upgrades later, and never more spent than the finest stage sold."""

from __future__ import annotations

from deniable.release.market.coalition import Worth, worth
from deniable.release.market.market import Consent, Market, Sale
from deniable.release.market.prices import Prices

__all__ = ["Consent", "Market", "Prices", "Sale", "Worth", "worth"]
