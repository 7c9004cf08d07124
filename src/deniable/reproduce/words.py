"""Values in words: for tables in a terminal, on a page, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.reproduce.values import Content, Value


def shown(value: Any) -> str:
    """Return a value as a reader wants it: six digits, and signs for what is blank or infinite.

    Example:
        >>> [shown(each) for each in (0.30000000000000004, [1, 2.5], None, math.inf, {"a": 1})]
        ['0.3', '1, 2.5', '(blank)', '∞', 'a 1']
    """
    if isinstance(value, Value):
        return shown(value.ours)
    if value is None:
        return "(blank)"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return "∞" if value == math.inf else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def what(value: Value) -> str:
    """Return what a printed value is, and where it stands."""
    return f"{value.entry.place}: {value.entry.topic}"


def as_printed(value: Value) -> str:
    """Return the printed value with the digits that are printed."""
    entry = value.entry
    if entry.digits and isinstance(entry.printed, float):
        return f"{entry.printed:.{entry.digits}f}"
    return shown(entry.printed)


def judged(value: Value) -> str:
    """Return the verdict, with the number of the erratum."""
    number = value.entry.erratum
    return f"{value.verdict} (erratum {number})" if value.verdict == "the document is wrong" else value.verdict


def simulated(content: Content) -> str:
    """Return how a simulation fared against the theory."""
    many, off = len(content.points), content.flagged
    if not off:
        return f"{many} simulated points, all within 4 standard errors of the theory."
    far = "; ".join(f"{point.where}: {point.distance:.1f} standard errors" for point in off)
    return f"{many} simulated points, {len(off)} flagged: {far}."


def inputs(value: Value) -> str:
    """Return the parameters of a printed value."""
    return ", ".join(f"{name} = {shown(each)}" for name, each in value.entry.inputs.items())


def plain(value: Any) -> Any:
    """Return a value for JSON, which knows no infinity."""
    if isinstance(value, Value):
        return plain(value.ours)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return "inf" if value == math.inf else value
