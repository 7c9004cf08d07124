"""`python -m tests.golden FILE`: evaluate every entry of a golden file through the public API."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden.runner import HERE, run


def main(arguments: list[str]) -> int:
    path = Path(arguments[0]) if arguments else HERE / "golden.json"
    outcomes = run(path)
    for each in outcomes:
        print(
            f"{each.id:32}  {each.verdict:9}  expected {each.expected!s:.60}  got {each.got!s:.60}"
        )
    counts = {
        verdict: sum(each.verdict == verdict for each in outcomes)
        for verdict in ("agrees", "differs", "measured", "uncovered")
    }
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
