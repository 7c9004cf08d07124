"""Lines of JSON, one object each, read into rows of text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from deniable import wire
from deniable.errors import UnreadableFile

Row = tuple[str | None, ...]

_SEEN = 1 << 12  # lines that are remembered: a file of responses has few different ones


class Broken(Exception):
    """A line that cannot be read; says which and why, and not what it holds."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        self.problem = problem
        super().__init__(f"line {line} {problem}")


def batches(lines: Iterable[bytes], labels: Sequence[str], keep: Sequence[str], size: int) -> Iterator[list[Row]]:
    """Read fields of each object as text, `size` lines at a time; null is None.

    Args:
        lines: what to read.
        labels: fields that hold text, or whole numbers that are labels.
        keep: fields that hold anything; what is not text stays as its JSON.
        size: how many lines a batch has.

    Raises:
        Broken: a line is no object, or lacks a field.
    """
    numbered = iter(enumerate(lines, start=1))
    seen: dict[bytes, Row] = {}
    while batch := list(islice(numbered, size)):
        rows = []
        for number, line in batch:
            row = seen.get(line)
            if row is None:
                row = _row(number, line, labels, keep)
                if len(seen) >= _SEEN:
                    seen.clear()
                seen[line] = row
            rows.append(row)
        yield rows


def _row(number: int, line: bytes, labels: Sequence[str], keep: Sequence[str]) -> Row:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise Broken(number, "is not complete JSON") from None
    if not isinstance(fields, dict):
        raise Broken(number, "is not a JSON object")
    if fields.get("schema") == f"deniable/response/{wire.VERSION}":
        fields = _sealed(number, line)
    missing = [name for name in (*labels, *keep) if name not in fields]
    if missing:
        raise Broken(number, f"has no field {missing[0]!r}; where there is no value expected null")
    return (*(_label(number, name, fields[name]) for name in labels), *(_kept(fields[name]) for name in keep))


def _sealed(number: int, line: bytes) -> dict[str, Any]:
    """Read a response as it travels, which names its fields otherwise and is sealed by a hash."""
    try:
        response = wire.Response.from_json(line)
    except UnreadableFile:
        raise Broken(number, "is a response whose content does not match its hash") from None
    return {"design": response.design, "response": response.symbol}


def _label(number: int, name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if math.isnan(value):
            return None
        if value == value // 1:
            return str(int(value))
    raise Broken(number, f"holds a {type(value).__name__} in {name!r}; expected text, a whole number or null")


def _kept(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
