"""Step 3: responses → counts. Tallies of one design add up in any order."""

from __future__ import annotations

from deniable._steps import callable_step
from deniable.tally.count import tally
from deniable.tally.margins import marginal
from deniable.tally.tally import Tally

__all__ = ["Tally", "marginal", "tally"]

callable_step(__name__, tally)
