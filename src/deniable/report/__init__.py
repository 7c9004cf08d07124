"""An estimate told to people: words, tables and pictures. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "attributes": "deniable.report.words",
    "breach_region": "deniable.report.regions",
    "card_chart": "deniable.report.regions",
    "chart": "deniable.report.charts",
    "feasible_region": "deniable.report.regions",
    "rr3_omega": "deniable.report.regions",
    "rr3_region": "deniable.report.regions",
    "save": "deniable.report.charts",
    "threshold_levels": "deniable.report.regions",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'deniable.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
