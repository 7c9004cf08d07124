"""A small design of every type that can be asked, with answers that it knows and what an estimate needs besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import deniable as dn


@dataclass(frozen=True)
class Asked:
    """A design, answers of everybody (None where one is missing), and options of single steps."""

    design: Any
    answers: list[Any]
    respond: dict[str, Any] = field(default_factory=dict)
    estimate: dict[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        return sum(answer is None for answer in self.answers)


CATEGORIES = ["never", "once", "often"]
ITEMS = ["tea", "coffee", "milk"]
PAIRS = {"smokes": dn.warner(1), "habit": dn.k_ary(CATEGORIES, 2)}

TYPES: dict[str, Callable[[], Asked]] = {
    "categories": lambda: Asked(
        dn.k_ary(CATEGORIES, 1), ["never", "often", None, "once"] * 20
    ),
    "sets": lambda: Asked(
        dn.unary(CATEGORIES, 1), ["never", "often", None, "once"] * 20
    ),
    "coded": lambda: Asked(
        dn.local_hashing(CATEGORIES, 1), ["never", "often", None, "once"] * 20
    ),
    "attributes": lambda: Asked(
        dn.product(PAIRS),
        [
            {"smokes": "yes", "habit": "once"},
            None,
            {"smokes": "no", "habit": "often"},
        ]
        * 20,
    ),
    "ladder": lambda: Asked(
        dn.ladder(dn.k_ary(CATEGORIES, e) for e in (0.5, 1, 2)),
        ["never", "often", None, "once"] * 20,
    ),
    "ladder of sets": lambda: Asked(
        dn.ladder(dn.rappor(9, e) for e in (1, 2)), ["0", "8", None, "4"] * 20
    ),
    "deck": lambda: Asked(
        dn.integer_deck(40, 1), ["yes", "no", "no", None] * 10, respond={"card": 3}
    ),
    "key-value": lambda: Asked(
        dn.lpp_club(ITEMS, 1), [{"tea": 0.5}, {}, None, {"milk": 1, "tea": -1}] * 20
    ),
    "key-value vectors": lambda: Asked(
        dn.pckv_ue(ITEMS, 1, padding=1),
        [{"tea": 0.5}, {}, None, {"milk": 1, "tea": -1}] * 20,
    ),
    "key-value, one of them": lambda: Asked(
        dn.pckv_grr(ITEMS, 3, padding=1), [{"tea": 0.5}, {}, None, {"milk": 1}] * 20
    ),
    "edges": lambda: Asked(
        dn.one_edge(ITEMS, 1), [{"tea": 0.5}, {"milk": 1}, {"coffee": 0}, None] * 20
    ),
    "strings": lambda: Asked(
        dn.string_design(dn.Bloom(16, cohorts=4), 4),
        ["Smith", "Jones", None, "Smith"] * 20,
        respond={"cohort": 1},
        estimate={"candidates": ["Smith", "Jones", "Miller"]},
    ),
    "drawn items": lambda: Asked(
        dn.drawn_items(PAIRS),
        [
            {"smokes": "yes", "habit": "once"},
            None,
            {"smokes": "no", "habit": "often"},
        ]
        * 20,
    ),
    "drawn pairs": lambda: Asked(
        dn.drawn_items(PAIRS | {"set": dn.unary(CATEGORIES, 1)}, each=2),
        [
            {"smokes": "yes", "habit": "once", "set": "often"},
            {"smokes": "no", "habit": "often", "set": "once"},
            None,
        ]
        * 40,
    ),
    "unlisted strings": lambda: Asked(
        dn.string_design(dn.Prefixes(16, cohorts=4, alphabet="ab", lengths=(2,)), 4),
        ["ab", "a", None, "ab"] * 20,
        respond={"cohort": 1},
    ),
    "numbers": lambda: Asked(dn.number_design(0, 80, 1), [37.5, 0, None, 80] * 20),
    "numbers in buckets": lambda: Asked(
        dn.bucket_design(0, 80, 1, count=16), [37.5, 0, None, 80] * 20
    ),
}

every_type = pytest.mark.parametrize(
    "asked", [pytest.param(build(), id=name) for name, build in TYPES.items()]
)
