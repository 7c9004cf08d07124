"""Document 004 [Pan24]: a response released in stages."""

from __future__ import annotations

from deniable.reproduce.gradual.figures import FIGURES
from deniable.reproduce.gradual.tables import TABLES
from deniable.reproduce.gradual.theorems import THEOREMS

EXHIBITS = (*THEOREMS, *TABLES, *FIGURES)
