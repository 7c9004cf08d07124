"""A ledger under fire: 200 kills (SIGKILL) of two writers at random moments. `python -m benchmarks.kills [KILLS]`

Looks for a stage that left with two responses, an ε that was not counted, a receipt that is missing, and a file that
cannot be read. Prints what was seen; ends with 1 if anything was wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.kills import run


def main(kills: int = 200) -> int:
    with tempfile.TemporaryDirectory() as folder:
        seen = run(str(Path(folder) / "shared.ledger"), kills, lives=25)
    print(
        f"{seen.kills} kills, {seen.interrupted} of them in the middle of a release"
    )
    print(f"{seen.left:,} responses had left, of {seen.stages:,} different stages")
    print(f"wrong: {len(seen.wrong)}")
    for each in seen.wrong:
        print(f"  {each}")
    return 1 if seen.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
