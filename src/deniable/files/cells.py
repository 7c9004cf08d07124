"""One cell of a CSV file that people open with a spreadsheet: a text is never taken for a formula.

A text that begins as formulas do gets a `'` in front, which spreadsheets take as a sign that text follows; so does one
that begins so behind such signs. Numbers, also as text, stay.
"""

from __future__ import annotations

import re

SIGN = "'"
RISKY = r"^'*[=+\-@\t\r]"
GUARDED = r"^'+[=+\-@\t\r]"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def safe_cell(cell: object) -> object:
    """Return a cell of a CSV file.

    Example:
        >>> safe_cell("=1+1"), safe_cell("'=1+1"), safe_cell("-0.5"), safe_cell(-0.5)
        ("'=1+1", "''=1+1", '-0.5', -0.5)
    """
    if (
        isinstance(cell, str)
        and re.match(RISKY, cell)
        and not re.fullmatch(NUMBER.strip("^$"), cell)
    ):
        return SIGN + cell
    return cell
