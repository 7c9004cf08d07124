"""Document 001 [Cha19]: what counts as private, admissible designs, and the minimax ones."""

from __future__ import annotations

from deniable.reproduce.minimax.beliefs import BELIEFS
from deniable.reproduce.minimax.efficiency import EFFICIENCY
from deniable.reproduce.minimax.sets import SETS

EXHIBITS = (*BELIEFS, *SETS, *EFFICIENCY)
