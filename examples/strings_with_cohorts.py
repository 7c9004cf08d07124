"""Strings: which home pages people have, found in randomized bits of 64 cohorts, with and without a list of candidates.

python examples/strings_with_cohorts.py                       # 40,000 people
python examples/strings_with_cohorts.py --people 1000000      # finds rarer ones
"""

from __future__ import annotations

import argparse

import numpy as np

import deniable as dn

# candidates; nobody has most of them
KNOWN = [f"site{number}.example" for number in range(500)]


def main() -> None:
    """Find strings out of a list, then strings that nobody listed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=40_000)
    people = parser.parse_args().people
    rng = np.random.default_rng(17)
    shares = 0.5 ** (np.arange(30) / 3)
    shares /= shares.sum()
    pages = [KNOWN[number] for number in rng.choice(30, people, p=shares)]

    design = dn.string_design(
        dn.Bloom(128, hashes=1, cohorts=64), epsilon=4, optimized=True
    )
    print(design.told)
    found = dn.estimate(
        dn.tally(dn.respond_all(design, pages)), candidates=KNOWN, fdr=0.05
    )
    limit = dn.plan.string_detection_limit(design, people, candidates=len(KNOWN))
    print(
        f"{len(found.found)} of {len(KNOWN)} candidates found; one of {limit:.1%} is found four times out of five"
    )
    for each in found.found[:5]:
        print(
            f"  {each.text}: {each.share:.1%} ± {each.error:.1%}, simulated {shares[KNOWN.index(each.text)]:.1%}"
        )
    assert {KNOWN[number] for number in np.flatnonzero(shares > 3 * limit)} <= {
        each.text for each in found.found
    }

    # Without a list: cohorts tell ever longer beginnings of the string.
    unlisted = dn.string_design(
        dn.Prefixes.of("abcdefghijklmnopqrstuvwxyz", 6, cohorts=64),
        epsilon=6,
        optimized=True,
    )
    words = rng.choice(
        ["mocha", "latte", "tea", "chai", "espresso"],
        people,
        p=[0.3, 0.2, 0.2, 0.2, 0.1],
    ).tolist()
    discovered = dn.estimate(dn.tally(dn.respond_all(unlisted, words)))
    print(f"discovered without a list: {', '.join(sorted(discovered.params))}")
    print(
        f"the rest, {discovered.unexplained:.0%}, is longer than six letters or too rare"
    )
    assert {"mocha", "latte", "tea", "chai"} <= set(discovered.params)


if __name__ == "__main__":
    main()
