"""An estimate as a table of items, with the numbers of the whole graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest, NotEstimable
from deniable.records.edges.graph_numbers import Quantity
from deniable.records.key_value.intervals import edges_within_noise

if TYPE_CHECKING:
    from deniable.records.key_value.result import KeyValueEstimate


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item; None where the design does not tell, or where nothing is known.

    Attributes:
        item: its name.
        frequency: the share of respondents who have it.
        low: the lower end of the interval of that share.
        high: its upper end.
        mean: the mean weight of those who have it.
        mean_low: the lower end of its interval.
        mean_high: its upper end.
        weight: the sum of weights.
        weight_error: its standard error.
    """

    item: str
    frequency: float | None
    low: float | None
    high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    weight: float | None
    weight_error: float | None


@dataclass(frozen=True, slots=True)
class KeyValueSummary:
    """An estimate as a table of the most frequent items. Print it, or read its rows."""

    title: str
    rows: tuple[ItemRow, ...]
    graph: dict[str, Quantity]
    notes: tuple[str, ...]
    level: float
    items: int

    def __str__(self) -> str:
        width = max(len("item"), *(len(row.item) for row in self.rows))
        percent = f"{100 * self.level:g}% interval"
        if all(row.frequency is None for row in self.rows):
            head = f"{'item':<{width}}  {'weight':>10}  {'error':>10}"
            lines = [
                f"{row.item:<{width}}  {_cell(row.weight, 10)}  {_cell(row.weight_error, 10)}" for row in self.rows
            ]
        else:
            head = f"{'item':<{width}}  {'frequency':>9}  {percent:>19}  {'mean':>7}  {percent:>19}"
            lines = [
                f"{row.item:<{width}}  {_cell(row.frequency, 9)}  {_pair(row.low, row.high)}  {_cell(row.mean, 7)}"
                f"  {_pair(row.mean_low, row.mean_high)}"
                for row in self.rows
            ]
        whole = [f"{name}: {each.value:.4g} ± {each.error:.2g}" for name, each in self.graph.items()]
        return "\n".join([self.title, head, *lines, *whole, *self.notes])


def summarize(estimate: KeyValueEstimate, level: float, count: int) -> KeyValueSummary:
    """Return the summary of an estimate.

    Raises:
        InvalidRequest: fewer than one item.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InvalidRequest(f"count is {count!r:.40}; expected a whole number of at least 1.")
    columns = {what: _column(estimate, what, level) for what in ("frequency", "mean", "weight")}
    told = "weight" if columns["frequency"] is None else "frequency"
    order = np.argsort(-np.nan_to_num(estimate.value(told)), kind="stable")[:count].tolist()
    design = estimate.design
    saved = f"{design.saving:.3g}" if np.isfinite(design.saving) else "∞"
    notes = [
        f"ε = {design.epsilon:.4g} protects all items and weights of a respondent together; two devices one after the "
        f"other would be charged {design.sequential:.4g}, {saved} more."
    ]
    if estimate.tally.missing:
        notes.append(f"{estimate.tally.missing:,} sent no response and take no part in the estimate.")
    return KeyValueSummary(
        title=f"{design.name}, ε = {design.epsilon:.4g}, {estimate.respondents:,} respondents, "
        f"{len(design.items):,} items, {estimate.scaling} scaling",
        rows=tuple(_row(estimate, columns, number) for number in order),
        graph=_graph(estimate),
        notes=(*notes, *(f"Warning: {warning}" for warning in estimate.warnings)),
        level=level,
        items=len(design.items),
    )


Column = tuple[list[float], list[float], list[float]]


def _column(estimate: KeyValueEstimate, what: str, level: float) -> Column | None:
    try:
        value = estimate.value(what)
        if what == "weight":
            return value.tolist(), estimate.errors(what).tolist(), []
        ends = np.array(estimate.conf_int(what, level=level))
    except NotEstimable:
        return None
    return value.tolist(), ends[:, 0].tolist(), ends[:, 1].tolist()


def _row(estimate: KeyValueEstimate, columns: dict[str, Column | None], number: int) -> ItemRow:
    frequency, mean, weight = columns["frequency"], columns["mean"], columns["weight"]
    clear = mean is not None and not estimate.within_noise[number]
    return ItemRow(
        estimate.design.items[number],
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


def _cell(value: float | None, width: int) -> str:
    return f"{'—' if value is None else f'{value:.4f}':>{width}}"


def _pair(low: float | None, high: float | None) -> str:
    return f"{_cell(low, 8)} … {_cell(high, 8)}"
