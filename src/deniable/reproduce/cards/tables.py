"""Tables 1 and 2: where Warner's design is better than a dealt deck, and how many people each takes."""

from __future__ import annotations

from deniable.design import christofides, warner
from deniable.plan import crossing, deck_sample_size, sample_size
from deniable.reproduce.printed import printed, starting
from deniable.reproduce.values import Content, Exhibit, Printed, Setting, Value

_BUDGETS = (0.01, 0.05, 0.25, 0.5)


def table_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """How long the interval of shares is in which Warner's design has the smaller variance."""
    values = {entry.id: _length(entry) for entry in starting("003-table1-")}
    return Content(
        tuple(values.values()),
        ("middle share", *(f"ε = {epsilon:g}" for epsilon in _BUDGETS)),
        tuple((middle, *(values[f"003-table1-{middle}-{epsilon}"] for epsilon in _BUDGETS)) for middle in (0.01, 0.05)),
    )


def table_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """How many people each design takes for a variance of 0.1 at a share of 10 %."""
    values = {entry.id: entry.against(_people(entry)) for entry in starting("003-table2-")}
    rows = (("warner", "Warner, Simmons"), ("mc", "cards put back"), ("ic", "cards dealt"))
    ideal = printed("003-table2-ic-0.5").inputs
    whole = deck_sample_size(ideal["eps"], ideal["p2"], variance=ideal["var"], share=ideal["pi"])
    return Content(
        tuple(values.values()),
        ("design", *(f"ε = {epsilon:g}" for epsilon in _BUDGETS)),
        tuple((title, *(values[f"003-table2-{name}-{epsilon}"] for epsilon in _BUDGETS)) for name, title in rows),
        notes=(
            "One number is too large by one, and one is left blank (erratum 3.7).",
            "All of them are for proportions of cards that need not be whole. In whole cards, the blank cell takes "
            f"{whole} people.",
        ),
    )


def _length(entry: Printed) -> Value:
    low, high = crossing(entry.inputs["N"], entry.inputs["eps"], entry.inputs["p2"])
    return entry.against(high - low)


def _people(entry: Printed) -> int:
    given, design = entry.inputs, entry.topic.split(", ")[1]
    if design == "improved":
        return deck_sample_size(given["eps"], given["p2"], variance=given["var"], share=given["pi"], ideal=True)
    made = warner(given["eps"]) if design == "warner" else christofides(given["eps"], middle=given["p2"])
    return sample_size(made, variance=given["var"], shares=[1 - given["pi"], given["pi"]], population="census")


TABLES = (
    Exhibit("cards", "table", "1", "The shares for which Warner's design beats a dealt deck", table_1),
    Exhibit("cards", "table", "2", "How many people each design takes", table_2),
)
