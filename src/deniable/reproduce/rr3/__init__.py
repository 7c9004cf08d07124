"""Document 000 [MW21]: three-answer designs, and key-value data."""

from __future__ import annotations

from deniable.reproduce.rr3.corollaries import COROLLARIES
from deniable.reproduce.rr3.lemmas import LEMMAS
from deniable.reproduce.rr3.regions import REGIONS
from deniable.reproduce.rr3.theorems import THEOREMS

EXHIBITS = (*COROLLARIES, *THEOREMS, *REGIONS, *LEMMAS)
