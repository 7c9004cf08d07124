"""Document 002 [HLM17]: the best two-answer designs under (ε, δ)."""

from __future__ import annotations

from deniable.reproduce.binary.errors import ERRORS
from deniable.reproduce.binary.optima import OPTIMA

EXHIBITS = (*ERRORS, *OPTIMA)
