"""The best of several rounds, with the candidates taking turns, so that a busy moment hurts all of them alike.

Each runs twice in a row, so that none is judged by the caches and the memory that its neighbour left behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

Row = tuple[str, float, float | None]


def race(
    candidates: Mapping[str, Callable[[], object]], rounds: int = 9
) -> dict[str, float]:
    """Return the fewest seconds that each candidate took; each runs once before the clock is read."""
    for run in candidates.values():
        run()
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, run in candidates.items():
            for _ in range(2):
                start = time.perf_counter()
                run()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def table(title: str, rows: list[Row]) -> None:
    """Print ratios, each with the bar that it has to reach."""
    print(f"\n{title}")
    for name, ratio, bar in rows:
        verdict = (
            ""
            if bar is None
            else f"  (at least {bar:g}: {'reached' if ratio >= bar else 'MISSED'})"
        )
        print(f"  {name:<64} {ratio:8.2f}{verdict}")
