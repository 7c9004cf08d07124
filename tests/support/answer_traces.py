"""Finds true answers in the local variables of the collector's side, while responses are drawn."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from tests.support.types import Asked

ROOT = Path(__file__).parents[2]
SHARED = {"deniable.files", "deniable.db"}
"""What both sides stand on: columns are read there, whatever is in them."""
MAX_ITEMS = 500
DEPTH = 3


def collectors_side() -> re.Pattern[str]:
    """Return a pattern of the names of all modules that the import contract counts to the collector's side."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (contract,) = [
        each
        for each in contracts
        if each["name"].startswith("Nothing at the collector's side")
    ]
    names = set(contract["source_modules"]) - SHARED
    assert {
        "deniable.tallies",
        "deniable.estimates",
        "deniable.collector",
        "deniable.report",
    } <= names
    patterns = [re.escape(name).replace(r"\*", r"\w+") for name in sorted(names)]
    return re.compile(rf"(?:{'|'.join(patterns)})(?:\.|$)")


@dataclass
class Marks:
    """What no local variable of the collector's side may hold.

    Attributes:
        objects: the column that was handed over, and its mutable items; compared by identity.
        sequences: answers of everybody in order, as labels and as codes, with and without those that are missing.
        scalars: single answers that occur nowhere else, such as a number with many digits.
    """

    objects: list[Any]
    sequences: list[list[Any]]
    scalars: set[Any]

    @classmethod
    def of(cls, asked: Asked, column: Any) -> Marks:
        items = [
            column,
            *(item for item in asked.answers if isinstance(item, Mapping)),
        ]
        if isinstance(column, Mapping):
            items += column.values()
        sequences = [*_forms(asked.answers, getattr(asked.design, "categories", ()))]
        present = [item for item in asked.answers if isinstance(item, Mapping)]
        for name in sorted({name for item in present for name in item}):
            values = [
                item.get(name) if isinstance(item, Mapping) else None
                for item in asked.answers
            ]
            sequences += _forms(values, _categories(asked.design, name))
        flat = [(name, value) for item in present for name, value in item.items()]
        sequences += [[value for _, value in flat], [name for name, _ in flat]]
        marked = [value for _, value in flat] + [
            item for item in asked.answers if not isinstance(item, Mapping)
        ]
        scalars = {
            value
            for value in marked
            if isinstance(value, float) and value != round(value, 3)
        }
        scalars |= {
            value
            for value in marked
            if isinstance(value, str) and value.startswith("marker")
        }
        return cls(items, [each for each in sequences if len(each) > 30], scalars)

    def is_held(self, value: Any, depth: int = DEPTH) -> bool:
        """Tell whether a value is, holds or contains an answer that was marked."""
        if any(value is marked for marked in self.objects):
            return True
        if isinstance(value, float | str):
            return value in self.scalars
        if (
            value is None
            or isinstance(value, bool | int | bytes | type)
            or callable(value)
        ):
            return False
        if isinstance(value, Mapping):
            return self.is_held([*value], depth) or self.is_held(
                [*value.values()], depth
            )
        items = _items(value)
        if items is not None:
            return _plain(items) in self.sequences or (
                depth > 0
                and any(self.is_held(item, depth - 1) for item in items[:MAX_ITEMS])
            )
        is_ours = depth > 0 and type(value).__module__.startswith("deniable")
        return is_ours and any(
            self.is_held(part, depth - 1) for part in _fields(value)
        )


def _forms(answers: Sequence[Any], categories: Sequence[str]) -> Iterator[list[Any]]:
    present = [answer for answer in answers if answer is not None]
    yield from ([*answers], present)
    if categories and all(answer in categories for answer in present):
        index = {category: code for code, category in enumerate(categories)}
        codes = [None if answer is None else index[answer] for answer in answers]
        yield from (codes, [code for code in codes if code is not None])
        yield from (
            [fill if code is None else code for code in codes] for fill in (0, -1)
        )


def _categories(design: Any, name: str) -> Sequence[str]:
    designs = getattr(design, "designs", None) or dict(
        zip(
            getattr(design, "attributes", ()),
            getattr(design, "factors", ()),
            strict=False,
        )
    )
    return (
        getattr(designs.get(name), "categories", ())
        if isinstance(designs, Mapping)
        else ()
    )


def _items(value: Any) -> list[Any] | None:
    """Return the items of a container or a column; None where it is neither."""
    if isinstance(value, list | tuple | set | frozenset):
        return [*value]
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 1 else None
    root = type(value).__module__.partition(".")[0]
    if root == "pyarrow" and hasattr(value, "to_pylist"):
        return list(value.to_pylist())
    if root in ("pandas", "polars") and hasattr(value, "to_list"):
        return list(value.to_list())
    return None


def _plain(items: list[Any]) -> list[Any]:
    return [
        None if isinstance(item, float) and isnan(item) else item for item in items
    ]


def _fields(value: Any) -> Iterator[Any]:
    yield from getattr(value, "__dict__", {}).values()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield getattr(value, name)


@dataclass
class Trace:
    """Frames of the collector's side that ran, and those of them in which a mark was found."""

    frames: set[str] = field(default_factory=set)
    leaks: set[str] = field(default_factory=set)


@contextmanager
def tracing(marks: Marks) -> Iterator[Trace]:
    """Look at the local variables of every frame of the collector's side, before each of its lines and at its end."""
    side, trace = collectors_side(), Trace()
    known: dict[str, bool] = {}

    def look(frame: FrameType, event: str, value: Any) -> Callable[..., Any]:
        place = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
        trace.frames.add(place)
        trace.leaks |= {
            f"{place}: {name}"
            for name, local in frame.f_locals.items()
            if marks.is_held(local)
        }
        if event == "return" and marks.is_held(value):
            trace.leaks.add(f"{place}: what it returns")
        return look

    def enter(frame: FrameType, event: str, value: Any) -> Callable[..., Any] | None:
        name = str(frame.f_globals.get("__name__"))
        if name not in known:
            known[name] = side.match(name) is not None
        return look(frame, event, value) if known[name] else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield trace
    finally:
        sys.settrace(before)
