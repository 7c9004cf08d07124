"""A share in one sentence, with as many digits as its interval deserves."""

from __future__ import annotations

from deniable.estimate import Row

_NOBODY = 0.005


def about(row: Row, label: str = "") -> str:
    """Tell a share and its interval in words; what lies outside 0 … 100 % is told as its end.

    Example:
        >>> about(Row("yes", 0.1234, 0.02, 0.091, 0.152, 0.10, 0.14, 500))
        'About 12% answer “yes”: between 9% and 15%.'
        >>> about(Row("yes", -0.01, 0.02, -0.05, 0.024, 0.0, 0.01, 500), "Yes")
        'Hardly anybody answers “Yes”: at most 2%.'
    """
    name, width = label or row.category, row.high - row.low
    low, high = (percent(min(max(end, 0.0), 1.0), width) for end in (row.low, row.high))
    if row.value < _NOBODY and row.low <= 0:
        return f"Hardly anybody answers “{name}”: at most {high}."
    if row.value > 1 - _NOBODY and row.high >= 1:
        return f"Nearly everybody answers “{name}”: at least {low}."
    return f"About {percent(row.value, width)} answer “{name}”: between {low} and {high}."


def percent(share: float, width: float) -> str:
    """Return a share in percent; the narrower its interval is, the more digits.

    Example:
        >>> percent(0.12345, 0.06), percent(0.12345, 0.02), percent(-0.0004, 0.1)
        ('12%', '12.3%', '0%')
    """
    digits = 0 if width >= 0.04 else 1 if width >= 0.004 else 2
    return f"{round(100 * share, digits) + 0.0:.{digits}f}%"
