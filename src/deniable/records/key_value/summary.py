"""An estimate as a table of items, with the numbers of the whole graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.intervals import one_of
from deniable.estimates.results import Columns, Row, Summary
from deniable.records.edges.graph_numbers import Quantity
from deniable.records.key_value.intervals import METHODS, edges_within_noise, ends

if TYPE_CHECKING:
    from deniable.records.key_value.result import KeyValueEstimate


@dataclass(frozen=True, slots=True)
class ItemRow(Row):
    """One item; None where the design does not tell, or where nothing is known.

    Attributes:
        frequency: the share of respondents who have it.
        frequency_low: the lower end of the interval of that share.
        frequency_high: its upper end.
        mean: the mean weight of those who have it.
        mean_low: the lower end of its interval.
        mean_high: its upper end.
        weight: the sum of weights.
        weight_error: its standard error.
    """

    COLUMNS: ClassVar[Columns] = (
        ("frequency",),
        ("frequency_low", "frequency_high"),
        ("mean",),
        ("mean_low", "mean_high"),
    )

    frequency: float | None
    frequency_low: float | None
    frequency_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    weight: float | None
    weight_error: float | None


@dataclass(frozen=True, slots=True)
class WeightRow(ItemRow):
    """One item of a design that tells sums of weights alone."""

    COLUMNS: ClassVar[Columns] = (("weight",), ("weight_error",))


@dataclass(frozen=True, slots=True)
class KeyValueSummary(Summary[ItemRow]):
    """A table of the most frequent items.

    Attributes:
        graph: numbers of the whole graph.
        items: how many items there are.
    """

    graph: dict[str, Quantity] = field(default_factory=dict)
    items: int = 0


def summarize(
    estimate: KeyValueEstimate, level: float, method: str | None, count: int | None, *, simultaneous: bool
) -> KeyValueSummary:
    """Return the summary of an estimate; of all items in their order, if no count is given.

    Raises:
        InvalidRequest: fewer than one item.
    """
    if count is not None and (isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1):
        raise InvalidRequest(f"count is {count!r:.40}; expected a whole number of at least 1.")
    columns = {what: _column(estimate, what, level) for what in ("frequency", "mean", "weight")}
    told = "weight" if columns["frequency"] is None else "frequency"
    everything = np.argsort(-np.nan_to_num(estimate.value(told)), kind="stable")
    order = everything[:count].tolist() if count is not None else range(len(everything))
    own = _own(estimate, level, method, simultaneous=simultaneous)
    design, graph = estimate.design, _graph(estimate)
    return KeyValueSummary(
        title=f"{design.name}, ε = {design.epsilon:.4g}, {estimate.respondents:,} respondents, "
        f"{len(design.items):,} items, {estimate.scaling} scaling",
        quantity=estimate.quantity,
        rows=tuple(_row(estimate, own[number], columns, number) for number in order),
        notes=(*(f"{name}: {each.value:.4g} ± {each.error:.2g}" for name, each in graph.items()), *_notes(estimate)),
        warnings=estimate.warnings,
        level=level,
        interval=method or METHODS[estimate.quantity][0],
        method=estimate.scaling,
        respondents=estimate.respondents,
        missing=estimate.tally.missing,
        epsilon=design.epsilon,
        simultaneous=simultaneous,
        graph=graph,
        items=len(design.items),
    )


def _own(
    estimate: KeyValueEstimate, level: float, method: str | None, *, simultaneous: bool
) -> list[tuple[str, float, float, float, float]]:
    intervals = estimate.conf_int(level=level, method=method, simultaneous=simultaneous)
    values, errors = estimate.params.values(), estimate.bse.values()
    return [
        (name, value, error, low, high)
        for (name, (low, high)), value, error in zip(intervals.items(), values, errors, strict=True)
    ]


def _notes(estimate: KeyValueEstimate) -> list[str]:
    design = estimate.design
    saved = f"{design.saving:.3g}" if np.isfinite(design.saving) else "∞"
    notes = [
        f"ε = {design.epsilon:.4g} protects all items and weights of a respondent together; two devices one after the "
        f"other would be charged {design.sequential:.4g}, {saved} more."
    ]
    if estimate.tally.missing:
        notes.append(f"{estimate.tally.missing:,} sent no response and take no part in the estimate.")
    return notes


Column = tuple[list[float], list[float], list[float]]


def _column(estimate: KeyValueEstimate, what: str, level: float) -> Column | None:
    try:
        value = estimate.value(what)
        if what == "weight":
            return value.tolist(), estimate.errors(what).tolist(), []
        low, high = ends(estimate, what, one_of(1, level), None)
    except NotEstimable:
        return None
    return value.tolist(), low.tolist(), high.tolist()


def _row(
    estimate: KeyValueEstimate,
    own: tuple[str, float, float, float, float],
    columns: dict[str, Column | None],
    number: int,
) -> ItemRow:
    frequency, mean, weight = columns["frequency"], columns["mean"], columns["weight"]
    clear = mean is not None and not estimate.within_noise[number]
    kind = WeightRow if frequency is None else ItemRow
    return kind(
        *own,
        *((None,) * 3 if frequency is None else (each[number] for each in frequency)),
        *((None,) * 3 if mean is None or not clear else (each[number] for each in mean)),
        *((None,) * 2 if weight is None else (weight[0][number], weight[1][number])),
    )


def _graph(estimate: KeyValueEstimate) -> dict[str, Quantity]:
    told: dict[str, Quantity] = {}
    if estimate.linear.frequency is not None:
        told["average degree of an item"] = estimate.average_degree("items")
        told["average degree of all vertices"] = estimate.average_degree("all")
        told["density"] = estimate.density()
        if estimate.linear.weight is not None and not edges_within_noise(estimate):
            told["average weight of an edge"] = estimate.average_weight("edges")
    elif estimate.linear.weight is not None:
        told["average sum of weights of an item"] = estimate.average_weight("items")
    return told
