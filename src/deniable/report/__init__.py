"""An estimate told to people: words, tables and pictures. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "attributes": "deniable.report.attributes",
    "breach_region": "deniable.report.region",
    "card_chart": "deniable.report.cards",
    "chart": "deniable.report.shares",
    "feasible_region": "deniable.report.region",
    "rr3_omega": "deniable.report.three",
    "rr3_region": "deniable.report.three",
    "save": "deniable.report.shares",
    "threshold_levels": "deniable.report.region",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'deniable.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
