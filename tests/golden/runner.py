"""Evaluates golden entries: each quantity has one function that answers it with the public API.

A golden file holds `reference` entries (id, quantity, inputs, expected, and perhaps a tolerance). Numbers in it were
printed with 12 to 15 digits, so a matrix of thirds does not add up to exactly 1 there; `fractions` finds the simple
fractions that were meant. Only the leaves that are expected are compared; null stands for infinite or undefined.
Tolerances are absolute below 1, unless the answer was entered as `relative`.

An entry is "uncovered" where nobody answers its quantity, where the answer takes other inputs, or where it raises
`Uncovered`: a design or a method that we do not have, a file that is not here. It is "measured" where a benchmark that
takes minutes measures it; what we got is then the command. Any other error is a difference.
"""

from __future__ import annotations

import importlib
import inspect
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
RELATIVE: set[str] = set()
DOCUMENTS: dict[tuple[str, str], Callable[..., Any]] = {}


class Measured(Exception):
    """A benchmark that measures an entry: the command, and the page that has its figures."""


class Uncovered(Exception):
    """Inputs that an answer does not know."""


@dataclass(frozen=True)
class Outcome:
    id: str
    expected: Any
    got: Any
    verdict: str  # agrees, differs, measured, uncovered


def quantity(
    name: str, *, relative: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as the one answer to a quantity; it is called with the entry's inputs."""

    def enter(answer: Callable[..., Any]) -> Callable[..., Any]:
        if name in QUANTITIES:
            raise ValueError(
                f"{name} is answered by {QUANTITIES[name].__module__} and {answer.__module__}"
            )
        QUANTITIES[name] = answer
        RELATIVE.update([name] * relative)
        return answer

    return enter


def document(
    doc: str, *topics: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as the answer to topics of a document; it is called with the whole entry."""

    def enter(answer: Callable[..., Any]) -> Callable[..., Any]:
        for topic in topics:
            if (doc, topic) in DOCUMENTS:
                raise ValueError(
                    f"{doc}, {topic} is answered by two: {DOCUMENTS[doc, topic].__name__} is one"
                )
            DOCUMENTS[doc, topic] = answer
        return answer

    return enter


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the entries of a file, and let each module of `tests.golden.answers` enter its answers."""
    from tests.golden import answers

    for module in pkgutil.iter_modules(answers.__path__):
        importlib.import_module(f"tests.golden.answers.{module.name}")
    entries: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())
    return entries


def run(path: Path) -> list[Outcome]:
    """Evaluate every entry of a file."""
    entries = read(path)
    return [
        *(reference(entry) for entry in entries.get("reference", [])),
        *(printed(entry) for entry in entries.get("documents", [])),
    ]


def reference(entry: dict[str, Any]) -> Outcome:
    """Compare a brute-force value with ours."""
    try:
        got = answered(QUANTITIES.get(entry["quantity"]), entry["inputs"])
        tolerance = entry.get("tolerance", TOLERANCE)
        least = 0.0 if entry["quantity"] in RELATIVE else 1.0
        same = agrees(entry["expected"], got, tolerance, least)
    except (Measured, Uncovered) as reason:
        verdict = type(reason).__name__.lower()
        return Outcome(entry["id"], entry["expected"], str(reason), verdict)
    except Exception as error:
        return Outcome(
            entry["id"],
            entry["expected"],
            f"{type(error).__name__}: {error}",
            "differs",
        )
    return Outcome(
        entry["id"], entry["expected"], got, "agrees" if same else "differs"
    )


def answered(answer: Callable[..., Any] | None, inputs: dict[str, Any]) -> Any:
    """Call an answer with the inputs of an entry.

    Raises:
        Uncovered: there is no such answer, or it does not take these inputs.
    """
    if answer is None:
        raise Uncovered("nobody answers this quantity")
    try:
        inspect.signature(answer).bind(**inputs)
    except TypeError as error:
        raise Uncovered(f"other inputs: {error}") from None
    return answer(**inputs)


def printed(entry: dict[str, Any]) -> Outcome:
    """Compare a document's value with ours: recomputed to 1e-9, and printed to its last digit where it is right."""
    answer = DOCUMENTS.get((entry["doc"], entry["topic"]))
    if answer is None:
        return Outcome(entry["id"], entry["recomputed"], None, "uncovered")
    got = answer(entry)
    right = agrees(entry["recomputed"], got) and (
        not entry["agrees"] or agrees_as_printed(entry["printed"], got)
    )
    return Outcome(
        entry["id"], entry["recomputed"], got, "agrees" if right else "differs"
    )


def agrees(
    expected: Any, got: Any, tolerance: float = TOLERANCE, least: float = 1.0
) -> bool:
    """Compare numbers relatively (absolutely below `least`), and structures part by part.

    Raises:
        Uncovered: something is expected of which the answer says nothing.
    """
    if isinstance(expected, dict):
        return isinstance(got, dict) and _agree_by_name(
            expected, got, tolerance, least
        )
    if isinstance(expected, list):
        parts = list(got)
        return len(parts) == len(expected) and all(
            agrees(one, two, tolerance, least)
            for one, two in zip(expected, parts, strict=True)
        )
    if expected is None:
        return got is None or not math.isfinite(got)
    if isinstance(expected, bool) or (
        isinstance(expected, str) and expected != "inf"
    ):
        return bool(expected == got)
    near = tolerance * max(least, abs(float(expected)))
    return float(expected) == float(got) or abs(float(expected) - float(got)) <= near


def _agree_by_name(
    expected: dict[str, Any], got: dict[str, Any], tolerance: float, least: float
) -> bool:
    """Compare what is answered first: a wrong number stays a difference beside one that nobody answers."""
    missing = sorted(expected.keys() - got.keys())
    if not all(
        agrees(expected[key], got[key], tolerance, least)
        for key in expected
        if key not in missing
    ):
        return False
    if missing:
        raise Uncovered(f"nobody answers {', '.join(missing)}")
    return True


def agrees_as_printed(shown: Any, got: Any) -> bool:
    """Compare to half a unit of the last digit that is shown."""
    if isinstance(shown, list):
        return len(shown) == len(got) and all(map(agrees_as_printed, shown, got))
    digits = max(0, -Decimal(repr(shown)).normalize().as_tuple().exponent)
    return abs(float(got) - float(shown)) <= 0.5 * 10.0 ** -min(digits, 9) * (
        1 + 1e-6
    ) + 1e-9 * abs(float(shown))


def fractions(numbers: Any) -> Any:
    """Read printed numbers as the simple fractions they came from."""
    if isinstance(numbers, list):
        return [fractions(each) for each in numbers]
    simple = Fraction(numbers).limit_denominator(10_000)
    return (
        simple
        if abs(simple - Fraction(numbers)) < Fraction(1, 10**12)
        else Fraction(repr(numbers))
    )


def close(one: Any, two: Any) -> bool:
    return bool(np.allclose(one, two, rtol=TOLERANCE, atol=TOLERANCE))
