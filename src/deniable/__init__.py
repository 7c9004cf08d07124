"""Randomized response, end to end: design → respond → tally → estimate.

Names are loaded when they are first used, so that `import deniable` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Design": "deniable.design",
    "binary": "deniable.design",
    "direct": "deniable.design",
    "items": "deniable.design",
    "k_ary": "deniable.design",
    "matrix": "deniable.design",
    "simmons": "deniable.design",
    "forced_response": "deniable.design",
    "crosswise": "deniable.design",
    "christofides": "deniable.design",
    "integer_deck": "deniable.design",
    "Deck": "deniable.design",
    "product": "deniable.design",
    "relaxed_warner": "deniable.design",
    "capped_binary": "deniable.design",
    "exposing_binary": "deniable.design",
    "exposure_threshold": "deniable.design",
    "feasible_binary": "deniable.design",
    "optimal_binary": "deniable.design",
    "rr3_club": "deniable.design",
    "rr3_dagger": "deniable.design",
    "rr3_ddagger": "deniable.design",
    "mixture": "deniable.design",
    "rappor": "deniable.design",
    "subset": "deniable.design",
    "truncated_rappor": "deniable.design",
    "unary": "deniable.design",
    "warner": "deniable.design",
    "hadamard": "deniable.design",
    "local_hashing": "deniable.design",
    "admissible": "deniable.design.admissible",
    "repair": "deniable.design.repair",
    "compare": "deniable.design.blackwell",
    "garbling": "deniable.design.blackwell",
    "optimal": "deniable.plan",
    "relax": "deniable.gradual.design",
    "ladder": "deniable.gradual.design",
    "best_ladder": "deniable.gradual.design",
    "Ladder": "deniable.gradual.design",
    "Ledger": "deniable.gradual.ledger",
    "Market": "deniable.gradual.market",
    "Panel": "deniable.engines.panel",
    "Survey": "deniable.survey",
    "Client": "deniable.client",
    "Hub": "deniable.client",
    "Response": "deniable.wire",
    "Tally": "deniable.tally",
    "Estimate": "deniable.estimate",
    "DeniableError": "deniable.errors",
}
_MODULES = (
    "respond",
    "tally",
    "estimate",
    "criteria",
    "engines",
    "errors",
    "plan",
    "report",
    "audit",
    "survey",
    "client",
)

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"deniable.{name}")
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
