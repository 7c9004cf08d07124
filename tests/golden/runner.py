"""Evaluates golden entries: each quantity has one function that answers it with the public API.

A golden file holds `reference` entries (id, quantity, inputs, expected). Numbers in it were printed with 15 digits, so
a matrix of thirds does not add up to exactly 1 there; `fractions` finds the simple fractions that were meant.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
TOLERANCE = 1e-9
QUANTITIES: dict[str, Callable[..., Any]] = {}
DOCUMENTS: dict[tuple[str, str], Callable[..., Any]] = {}


@dataclass(frozen=True)
class Outcome:
    id: str
    expected: Any
    got: Any
    verdict: str  # agrees, differs, uncovered


def quantity(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as the answer to a quantity; it is called with the entry's inputs."""

    def enter(answer: Callable[..., Any]) -> Callable[..., Any]:
        QUANTITIES[name] = answer
        return answer

    return enter


def document(doc: str, *topics: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as the answer to topics of a document; it is called with the whole entry."""

    def enter(answer: Callable[..., Any]) -> Callable[..., Any]:
        DOCUMENTS.update({(doc, topic): answer for topic in topics})
        return answer

    return enter


def run(path: Path) -> list[Outcome]:
    """Evaluate every entry of a file, each module of `tests.golden.answers` knowing some of them."""
    from tests.golden import answers

    for module in pkgutil.iter_modules(answers.__path__):
        importlib.import_module(f"tests.golden.answers.{module.name}")
    entries = json.loads(path.read_text())
    return [
        *(reference(entry) for entry in entries.get("reference", [])),
        *(printed(entry) for entry in entries.get("documents", [])),
    ]


def reference(entry: dict[str, Any]) -> Outcome:
    """Compare a brute-force value with ours."""
    if entry["quantity"] not in QUANTITIES:
        return Outcome(entry["id"], entry["expected"], None, "uncovered")
    got = QUANTITIES[entry["quantity"]](**entry["inputs"])
    return Outcome(entry["id"], entry["expected"], got, "agrees" if agrees(entry["expected"], got) else "differs")


def printed(entry: dict[str, Any]) -> Outcome:
    """Compare a document's value with ours: recomputed to 1e-9, and printed to its last digit where it is right."""
    answer = DOCUMENTS.get((entry["doc"], entry["topic"]))
    if answer is None:
        return Outcome(entry["id"], entry["recomputed"], None, "uncovered")
    got = answer(entry)
    right = agrees(entry["recomputed"], got) and (not entry["agrees"] or agrees_as_printed(entry["printed"], got))
    return Outcome(entry["id"], entry["recomputed"], got, "agrees" if right else "differs")


def agrees(expected: Any, got: Any) -> bool:
    """Compare numbers to 1e-9 relative (absolute near 0), and structures part by part."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(key in got and agrees(expected[key], got[key]) for key in expected)
    if isinstance(expected, list):
        parts = list(got)
        return len(parts) == len(expected) and all(map(agrees, expected, parts))
    if isinstance(expected, bool) or (isinstance(expected, str) and expected != "inf"):
        return bool(expected == got)
    return math.isclose(float(expected), float(got), rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def agrees_as_printed(shown: Any, got: Any) -> bool:
    """Compare to half a unit of the last digit that is shown."""
    if isinstance(shown, list):
        return len(shown) == len(got) and all(map(agrees_as_printed, shown, got))
    digits = max(0, -Decimal(repr(shown)).normalize().as_tuple().exponent)
    return abs(float(got) - float(shown)) <= 0.5 * 10.0 ** -min(digits, 9) * (1 + 1e-6) + 1e-9 * abs(float(shown))


def fractions(numbers: Any) -> Any:
    """Read printed numbers as the simple fractions they came from."""
    if isinstance(numbers, list):
        return [fractions(each) for each in numbers]
    simple = Fraction(numbers).limit_denominator(10_000)
    return simple if abs(simple - Fraction(numbers)) < Fraction(1, 10**12) else Fraction(repr(numbers))


def close(one: Any, two: Any) -> bool:
    return bool(np.allclose(one, two, rtol=TOLERANCE, atol=TOLERANCE))
