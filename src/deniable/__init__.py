"""Randomized response, end to end: design → respond → tally → estimate.

Names are loaded when they are first used, so that `import deniable` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Design": "deniable.designs",
    "binary": "deniable.designs",
    "direct": "deniable.designs",
    "items": "deniable.designs",
    "k_ary": "deniable.designs",
    "matrix": "deniable.designs",
    "simmons": "deniable.designs",
    "forced_response": "deniable.designs",
    "crosswise": "deniable.designs",
    "christofides": "deniable.designs",
    "integer_deck": "deniable.designs",
    "Deck": "deniable.designs",
    "product": "deniable.designs",
    "relaxed_warner": "deniable.designs",
    "capped_binary": "deniable.designs",
    "exposing_binary": "deniable.designs",
    "exposure_threshold": "deniable.designs",
    "feasible_binary": "deniable.designs",
    "optimal_binary": "deniable.designs",
    "rr3_club": "deniable.designs",
    "rr3_dagger": "deniable.designs",
    "rr3_ddagger": "deniable.designs",
    "mixture": "deniable.designs",
    "rappor": "deniable.designs",
    "subset": "deniable.designs",
    "truncated_rappor": "deniable.designs",
    "unary": "deniable.designs",
    "warner": "deniable.designs",
    "hadamard": "deniable.designs",
    "local_hashing": "deniable.designs",
    "admissible": "deniable.order.admissibility",
    "repair": "deniable.order.admissibility",
    "compare": "deniable.order.blackwell",
    "garbling": "deniable.order.blackwell",
    "optimal": "deniable.plan",
    "relax": "deniable.order.relaxation",
    "ladder": "deniable.order.relaxation",
    "best_ladder": "deniable.order.relaxation",
    "Ladder": "deniable.order.relaxation",
    "Ledger": "deniable.release.ledger",
    "Market": "deniable.release.market",
    "Panel": "deniable.release.panel",
    "Survey": "deniable.survey",
    "Client": "deniable.client",
    "Hub": "deniable.client",
    "Response": "deniable.documents",
    "respond": "deniable.responses",
    "tally": "deniable.tallies",
    "estimate": "deniable.estimates",
    "Tally": "deniable.tallies",
    "Estimate": "deniable.estimates",
    "DeniableError": "deniable.errors",
}
_MODULES = (
    "criteria",
    "engines",
    "errors",
    "plan",
    "report",
    "audit",
    "simulate",
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
