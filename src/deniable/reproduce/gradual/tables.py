"""Tables 1 to 3: how a k-ary response is raised, given the response before and the answer."""

from __future__ import annotations

from deniable.design import k_ary
from deniable.gradual.design import relax
from deniable.reproduce.printed import starting
from deniable.reproduce.values import Content, Exhibit, Printed, Setting

_EPSILONS = (0.5, 1.0, 2.0, 10.0)
_SIZES = range(3, 11)
_CELLS = {"paa": (0, 0), "pbb": (1, 1), "pba": (0, 1)}
"""For each probability of the document the new and the old response; the answer is 0."""


def table_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The answer stays the response."""
    return _table("004-table1-")


def table_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Another category stays the response."""
    return _table("004-table2-")


def table_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Another category becomes the answer."""
    return _table("004-table3-")


def raised(entry: Printed) -> float:
    """Return the probability that an entry names, at its stages and number of categories (2, if it has none)."""
    one, two = (k_ary(entry.inputs.get("m", 2), entry.inputs[name]) for name in ("eps1", "eps2"))
    new, old = _CELLS.get(entry.topic, (0, 0) if entry.topic == "p_a" else (1, 1))
    return float(relax(one, two).step.kernel(new, old=old, given=0))


def _table(prefix: str) -> Content:
    values = {entry.id: entry.against(raised(entry)) for entry in starting(prefix)}
    return Content(
        tuple(values.values()),
        ("categories", *(f"to ε = {epsilon:g}" for epsilon in _EPSILONS)),
        tuple((m, *(values[f"{prefix}m{m}-e{epsilon}"] for epsilon in _EPSILONS)) for m in _SIZES),
        notes=("Each column begins where the one before ends; the first begins at ε = 0.1.",),
    )


TABLES = (
    Exhibit("gradual", "table", "1", "The answer stays the response", table_1),
    Exhibit("gradual", "table", "2", "Another category stays the response", table_2),
    Exhibit("gradual", "table", "3", "Another category becomes the answer", table_3),
)
