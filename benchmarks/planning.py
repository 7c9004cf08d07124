"""Is a plan kept? `python -m benchmarks.planning` prints planned and simulated power and width, and how long it took.

Two bars, and the program ends with 1 if one is missed: on a grid of designs, shares and numbers of respondents power
and width lie within 2 points of 40,000 simulated studies, whose own error is ¼ of a point; and 10,000 studies of 1,000
respondents take less than a minute, drawn in law, and also one by one: every response drawn, every study tallied and
estimated, as real ones are.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import deniable as dn
from deniable.engines.local import respond_all
from deniable.errors import ImplausibleResponses

DESIGNS = {
    "warner 0.7": dn.warner(p="7/10"),
    "forced 1/6, 1/6": dn.forced_response("2/3", "1/6", "1/6"),
    "simmons 0.7, 0.5": dn.simmons(p="7/10", b="1/2"),
    "crosswise 1/4": dn.crosswise("1/4"),
    "triangular 1/4": dn.triangular("1/4"),
    "mangat 2/3": dn.mangat("2/3"),
    "singh_joarder 0.6": dn.singh_joarder("3/5"),
    "kuk 0.8, 0.2, twice": dn.kuk("4/5", "1/5", draws=2),
    "christofides 0.6": dn.christofides(cards=["3/5", "1/5", "1/5"]),
    "k_ary 4, ε = 2": dn.k_ary(4, 2),
}
SHARES, RESPONDENTS = (0.02, 0.05, 0.1, 0.2, 0.4), (100, 300, 1_000, 3_000)
STUDIES, IN_GRID, POINTS, SECONDS = 10_000, 40_000, 0.02, 60.0


def grid() -> float:
    """Print a line for each design, share and number; return the largest distance."""
    draws = np.random.default_rng(2026)
    worst = 0.0
    print(
        f"{'design':<20} {'share':>6} {'n':>6} {'power':>7} {'seen':>7} {'width':>7} {'seen':>7} {'points':>7}"
    )
    for name, design in DESIGNS.items():
        for share in SHARES:
            for n in RESPONDENTS:
                power, width, _ = dn.simulate.studies(
                    design, n, IN_GRID, share=share, draws=draws
                ).lines
                gaps = [
                    abs(float(each["planned"]) - float(each["simulated"]))
                    for each in (power, width)
                ]
                worst = max(worst, *gaps)
                numbers = [
                    float(each[key])
                    for each in (power, width)
                    for key in ("planned", "simulated")
                ]
                cells = " ".join(f"{each:7.3f}" for each in numbers)
                print(
                    f"{name:<20} {share:>6} {n:>6,} {cells} {100 * max(gaps):7.2f}"
                )
    return worst


def in_law() -> float:
    """Return the seconds for the studies, drawn in law."""
    begin = time.perf_counter()
    dn.simulate.studies(DESIGNS["forced 1/6, 1/6"], 1_000, STUDIES, share=0.1)
    return time.perf_counter() - begin


def one_by_one() -> tuple[float, float]:
    """Return the seconds for the studies with every response drawn, and the mean width of their default intervals."""
    design, n = DESIGNS["forced 1/6, 1/6"], 1_000
    answers = (np.random.default_rng(1).random((STUDIES, n)) < 0.1).astype(np.int64)
    begin, widths = time.perf_counter(), 0.0
    (drawn,) = respond_all(design, answers.ravel(), codes=True).columns.values()
    sent = drawn.reshape(answers.shape)
    for row in sent:
        tally = dn.tally(design, row, codes=True)
        found = dn.estimate(tally).conf_int()["yes"]
        widths += found.high - found.low
    return time.perf_counter() - begin, widths / STUDIES


def main() -> int:
    """Print everything; return 0 if both bars are met."""
    warnings.simplefilter("ignore", ImplausibleResponses)
    worst = grid()
    law = in_law()
    each, width = one_by_one()
    planned = dn.plan.how_wide(DESIGNS["forced 1/6, 1/6"], 1_000, share=0.1).value
    print(
        f"largest distance: {100 * worst:.2f} points; at most {100 * POINTS:g} were asked for"
    )
    print(
        f"{STUDIES:,} studies of 1,000: {law:.2f} s in law, {each:.1f} s one by one; less than {SECONDS:g} s asked for"
    )
    print(f"mean width of default intervals {width:.4f}, planned {planned:.4f}")
    return int(
        worst > POINTS or max(law, each) >= SECONDS or abs(width - planned) > POINTS
    )


if __name__ == "__main__":
    sys.exit(main())
