"""A million surnames without any list of names. `python -m benchmarks.discovery [ROWS]`

The names and shares are those of `benchmarks.surnames`. Respondents are divided among prefixes of 4, 6, 8 and 10
letters and whole names. For each ε: the planner's limit, how many names lie above it, how many of these were
discovered, how many were discovered in all, how many of those nobody has, and the seconds of drawing and of the
estimate. Ends with 1 if a name above the limit was missed, or if more than 5 % of those discovered are false.
"""

from __future__ import annotations

import string
import sys
import time
from collections import Counter

import deniable as dn
from benchmarks.surnames import FDR, ROWS, SURE, Repeated, rows

BAR = 0.05  # of those discovered may be false


def discover(epsilon: float, bits: int, texts: list[str]) -> bool:
    design = dn.string_design(
        dn.Prefixes.of(string.ascii_uppercase, 10, bits=bits),
        epsilon,
        optimized=True,
    )
    truth, count, started = Counter(texts), len(texts), time.time()
    counted = dn.tally(
        dn.respond_all(design, texts, source=Repeated(f"discovery {epsilon}"))
    )
    drawn, started = time.time() - started, time.time()
    found = {each.text for each in dn.estimate(counted, fdr=FDR).found}
    walked = time.time() - started
    limit = dn.plan.discovery_limit(design, count, fdr=FDR, target=SURE)
    above = {name for name, number in truth.items() if number / count > limit}
    false = [name for name in found if name not in truth]
    good = above <= found and len(false) <= BAR * len(found)
    print(
        f"| {epsilon} | {bits} | {limit:.3%} | {len(above)} | {len(above & found)} | {len(found)} | {len(false)} | "
        f"{drawn:.0f} + {walked:.0f} | {'yes' if good else 'NO'} |",
        flush=True,
    )
    return good


def main(count: int = ROWS) -> int:
    texts = rows(count)
    print(f"{count:,} rows, {len(set(texts)):,} different names, no candidates")
    print(
        f"false discoveries allowed: {FDR:.0%} on average; a name at the limit is found with probability {SURE}\n"
    )
    print(
        "| ε | bits | limit | above it | found | found in all | false | seconds | bar |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    seen = [
        discover(epsilon, bits, texts)
        for epsilon, bits in ((2, 128), (4, 256), (6, 512))
    ]
    print(f"\nThe bar is {'reached' if all(seen) else 'MISSED'}.")
    return 0 if all(seen) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
