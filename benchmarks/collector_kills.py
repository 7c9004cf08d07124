"""A collector under fire: 50 kills (SIGKILL) of two programs that store responses, on SQLite and on Postgres.

`python -m benchmarks.collector_kills [KILLS]`. Looks for a response that was acknowledged and is not there, one that is
counted twice, and a database that needs repair. Prints what was seen; ends with 1 if anything was wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support import postgres
from tests.support.collector_kills import run


def told(kind: str, place: str, kills: int) -> int:
    seen = run(place, kills)
    print(
        f"{kind}: {seen.kills} kills, {seen.crashes} of them of the database itself"
    )
    print(
        f"  {seen.interrupted} submissions were waiting when their program was killed"
    )
    print(
        f"  {seen.acknowledged:,} submissions were acknowledged, {seen.stored:,} responses are stored"
    )
    print(f"  wrong: {len(seen.wrong)}")
    for each in seen.wrong[:20]:
        print(f"    {each}")
    return len(seen.wrong)


def main(kills: int = 50) -> int:
    with tempfile.TemporaryDirectory() as folder:
        wrong = told("SQLite", str(Path(folder) / "store.db"), kills)
    if reason := postgres.missing():
        print(f"Postgres: {reason}")
        return 1 if wrong else 0
    with postgres.server() as address:
        wrong += told("Postgres", address, kills)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
