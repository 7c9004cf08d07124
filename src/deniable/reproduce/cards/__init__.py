"""Document 003 [SYZ23]: finite populations, and devices made of cards."""

from __future__ import annotations

from deniable.reproduce.cards.figures import FIGURES
from deniable.reproduce.cards.tables import TABLES
from deniable.reproduce.cards.theorems import THEOREMS

EXHIBITS = (*THEOREMS, *TABLES, *FIGURES)
