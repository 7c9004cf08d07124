"""How time grows with people, categories and ε, next to how it should: `python -m benchmarks.growth`.

A row is a power: time grows like x to that power, fitted over the ends of the range. It is compared with what the
draws say (docs/draws.md): a respondent costs one word with k-ary, Hadamard and hashing designs, eight for each 64
categories with unary ones, and one for each pick with subsets, of which there are about k / (e^ε + 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import deniable as dn
from benchmarks.measure import race
from deniable.engines import local

SLACK = 0.25  # by which a power may differ: what a call costs at any length, and caches that end


class Growth(NamedTuple):
    """A range, the seconds for each of its values, and the power that is expected."""

    name: str
    values: Sequence[float]
    seconds: Sequence[float]
    expected: float

    @property
    def power(self) -> float:
        """The power that leads from the first value to the last."""
        found = math.log(self.seconds[-1] / self.seconds[0]) / math.log(
            self.values[-1] / self.values[0]
        )
        return round(found, 2) + 0.0  # so that nobody reads of -0.00

    @property
    def verdict(self) -> str:
        return (
            "as expected"
            if abs(self.power - self.expected) <= SLACK
            else "NOT AS EXPECTED"
        )


def drawn_and_counted(design: dn.Design, n: int) -> Callable[[], object]:
    """A call that draws responses to n even answers and counts them."""
    answers = np.random.default_rng(2).integers(0, len(design.categories), n)
    return lambda: local.tally(
        design, local.draw_all(design, answers, codes=True, fast=True), fast=True
    )


def grown(
    name: str,
    values: Sequence[float],
    calls: Sequence[Callable[[], object]],
    expected: float,
) -> Growth:
    times = race({str(place): call for place, call in enumerate(calls)}, rounds=3)
    return Growth(name, values, list(times.values()), expected)


Case = tuple[
    str, Sequence[float], Callable[[], Sequence[Callable[[], object]]], float
]

_PEOPLE = (100_000, 1_000_000, 10_000_000)
_CATEGORIES = (256, 512, 1024, 2048)
_EPSILONS = (0.5, 1.0, 2.0, 4.0)


def _in_categories(
    family: Callable[..., dn.Design], n: int
) -> Callable[[], Sequence[Callable[[], object]]]:
    return lambda: [drawn_and_counted(family(k, 1), n) for k in _CATEGORIES]


def _in_epsilon(
    family: Callable[..., dn.Design], n: int
) -> Callable[[], Sequence[Callable[[], object]]]:
    return lambda: [
        drawn_and_counted(family(1024, epsilon), n) for epsilon in _EPSILONS
    ]


def picks(epsilon: float) -> int:
    """The picks of a subset of 1,024 categories."""
    return int(dn.subset(1024, epsilon).channel.steps)  # type: ignore[attr-defined]  # a subset's channel has them


CASES: tuple[Case, ...] = (
    (
        "people, k-ary, k = 16",
        _PEOPLE,
        lambda: [drawn_and_counted(dn.k_ary(16, 1), n) for n in _PEOPLE],
        1,
    ),
    (
        "people, subset, k = 128",
        _PEOPLE[:2],
        lambda: [drawn_and_counted(dn.subset(128, 1), n) for n in _PEOPLE[:2]],
        1,
    ),
    ("categories, k-ary", _CATEGORIES, _in_categories(dn.k_ary, 1_000_000), 0),
    ("categories, Hadamard", _CATEGORIES, _in_categories(dn.hadamard, 1_000_000), 0),
    (
        "categories, local hashing",
        _CATEGORIES,
        _in_categories(dn.local_hashing, 1_000_000),
        0,
    ),
    ("categories, unary", _CATEGORIES, _in_categories(dn.unary, 100_000), 1),
    ("categories, subset", _CATEGORIES, _in_categories(dn.subset, 100_000), 1),
    (
        "e^ε, k-ary, k = 1,024",
        [math.exp(each) for each in _EPSILONS],
        _in_epsilon(dn.k_ary, 1_000_000),
        0,
    ),
    (
        "e^ε, unary, k = 1,024",
        [math.exp(each) for each in _EPSILONS],
        _in_epsilon(dn.unary, 100_000),
        0,
    ),
    (
        "picks (ε from 0.5 to 4), subset, k = 1,024",
        [picks(e) for e in _EPSILONS],
        _in_epsilon(dn.subset, 100_000),
        1,
    ),
)
NAMES = [case[0] for case in CASES]


def main() -> None:
    for name, values, calls, expected in CASES:
        found = grown(name, values, calls(), expected)
        print(
            f"{name:<44} power {found.power:5.2f}  expected {expected:g}: {found.verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
