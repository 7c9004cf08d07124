"""Audit somebody else's mechanism: it claims ε = 1, its odds are right, and still it gives answers away.

python examples/audit_theirs.py                    # 40,000 draws
python examples/audit_theirs.py --draws 1000000    # a bound that is closer
"""

from __future__ import annotations

import argparse
import math
import random

import deniable as dn

chance = random.SystemRandom()
# whoever audits at every build does not want to be called out for nothing
CONFIDENCE = 1 - 1e-9
DRINKS = ("water", "tea", "coffee", "milk", "wine", "beer", "gin", "rum")


def theirs(answer: str) -> list[str]:
    """Send two of eight drinks, the true one more often than the others; as it was found in somebody's client."""
    others = [each for each in DRINKS if each != answer]
    inside = chance.random() < 2 * math.e / (2 * math.e + 6)
    return [answer, chance.choice(others)] if inside else chance.sample(others, 2)


def mended(answer: str) -> list[str]:
    """Send the same in the order of the alphabet, so that the place of a drink says nothing."""
    return sorted(theirs(answer))


def main() -> None:
    """Audit both; the first is refuted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=40_000)
    draws = parser.parse_args().draws
    for mechanism, expected in ((theirs, "violated"), (mended, "consistent")):
        found = dn.audit(
            mechanism,
            DRINKS,
            epsilon=1,
            draws=draws,
            level=CONFIDENCE,
            checks=["worst event", "size"],
        )
        print(f"== {mechanism.__name__}: {found.verdict}")
        print(found)
        assert found.verdict == expected


if __name__ == "__main__":
    main()
