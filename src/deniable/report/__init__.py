"""An estimate told to people: words, tables and pictures. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.display.privacy_texts import attributes
    from deniable.estimates.charts import chart, forest
    from deniable.rendering.pictures import save
    from deniable.report.displays import picture_of as picture_of
    from deniable.report.displays import sheet_of as sheet_of
    from deniable.report.graphs import against_truth, weighted_graph
    from deniable.report.model_tables import side_by_side
    from deniable.report.publication import methods, sentence
    from deniable.report.regions import (
        breach_region,
        card_chart,
        feasible_region,
        rr3_omega,
        rr3_region,
        threshold_levels,
    )

__all__ = [
    "against_truth",
    "attributes",
    "breach_region",
    "card_chart",
    "chart",
    "feasible_region",
    "forest",
    "methods",
    "rr3_omega",
    "rr3_region",
    "save",
    "sentence",
    "side_by_side",
    "threshold_levels",
    "weighted_graph",
]

_HOMES = {
    "attributes": "display.privacy_texts",
    "chart": "estimates.charts",
    "forest": "estimates.charts",
    "methods": "report.publication",
    "picture_of": "report.displays",
    "save": "rendering.pictures",
    "sentence": "report.publication",
    "sheet_of": "report.displays",
    "side_by_side": "report.model_tables",
    "against_truth": "report.graphs",
    "weighted_graph": "report.graphs",
}

if not TYPE_CHECKING:  # a checker knows every name from the imports above

    def __getattr__(name: str) -> object:
        if name in (*__all__, *_HOMES):
            return getattr(
                import_module(f"deniable.{_HOMES.get(name, 'report.regions')}"), name
            )
        raise AttributeError(f"module 'deniable.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
