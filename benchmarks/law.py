"""Tallies drawn in law against one survey that is drawn response by response. `python -m benchmarks.law`.

A ratio of r says: in the time that one survey of 3,252,599 people takes with `engines.local` (respond, then tally, on
one core, compiled), `simulate` draws the tallies of r such surveys. The bar is a thousand.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, race, table
from deniable import simulate as law
from deniable.designs import Design, christofides, k_ary, warner
from deniable.engines import local

PEOPLE = 3_252_599
SURVEYS = 10_000
LEAST = 1_000.0


def shared(k: int) -> list[int]:
    """Return how many people have each answer: 7.78 % the last, the others evenly."""
    last = round(0.0778 * PEOPLE)
    even = (PEOPLE - last) // (k - 1)
    return [PEOPLE - last - even * (k - 2), *[even] * (k - 2), last]


def ratio(design: Design) -> float:
    """Return how many surveys are drawn in law while one is drawn response by response."""
    people = shared(len(design.categories))
    answers = np.repeat(np.arange(len(people), dtype=np.uint8), people)
    times = race(
        {
            "one by one": lambda: local.tally(
                design, local.draw_all(design, answers, fast=True), fast=True
            ),
            "in law": lambda: law.tallies(design, people, SURVEYS),
        },
        rounds=3,
    )
    return SURVEYS * times["one by one"] / times["in law"]


def main() -> None:
    """Print the ratios."""
    designs = {
        "warner": warner(0.5),
        "christofides": christofides(0.5, middle=0.01),
        "k_ary_16": k_ary(16, 1),
    }
    rows: list[Row] = [
        (f"{name}: surveys in law / one by one", ratio(each), LEAST)
        for name, each in designs.items()
    ]
    table(f"{SURVEYS:,} surveys of {PEOPLE:,} people", rows)


if __name__ == "__main__":
    main()
