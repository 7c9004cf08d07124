"""A job over files under fire: 50 kills (SIGKILL) at random moments. `python -m benchmarks.file_kills [KILLS]`

Looks for an answer with two responses, a response that could be read and is gone, one that is missing at the end, and
anything half-written. Prints what was seen; ends with 1 if anything was wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.file_kills import run


def main(kills: int = 50) -> int:
    with tempfile.TemporaryDirectory() as folder:
        seen = run(Path(folder), kills)
    print(f"{seen.kills} kills, {seen.interrupted} of them in the middle of a job")
    print(
        f"{seen.rows:,} responses at the end, {seen.seen:,} of which were looked at on the way"
    )
    print(f"wrong: {len(seen.wrong)}")
    for each in seen.wrong[:20]:
        print(f"  {each}")
    return 1 if seen.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
