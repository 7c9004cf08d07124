"""Step 3: responses → counts. Tallies of one design add up in any order."""

from __future__ import annotations

from deniable.tallies.counting import tally
from deniable.tallies.counts import Tally, marginal

__all__ = ["Tally", "marginal", "tally"]
