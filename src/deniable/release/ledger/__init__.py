"""A respondent's ledger: state that is not lost and not drawn twice. On the respondent's side; it holds answers."""

from __future__ import annotations

from deniable.release.ledger.ledger import Ledger
from deniable.release.ledger.state import Released, Stage, Standing, Status, Withdrawal

__all__ = ["Ledger", "Released", "Stage", "Standing", "Status", "Withdrawal"]
