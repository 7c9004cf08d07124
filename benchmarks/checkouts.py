"""Speed of two checkouts, in turns: `python -m benchmarks.checkouts BEFORE [AFTER]`.

Each workload is a program of its own that runs in one checkout with that checkout's source. The two take turns, and the
best of several rounds counts. A ratio above 1 says that AFTER (by default this checkout) is faster.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROUNDS = 5  # of each workload in each checkout; the best one counts

TIMED = """
import time
best = float("inf")
for _ in range({repeats}):
    start = time.perf_counter()
    run()
    best = min(best, time.perf_counter() - start)
print(best)
"""

COLOURS = """
import numpy as np
import deniable as dn
design = dn.k_ary(16, epsilon=1)
codes = np.random.default_rng(1).integers(0, 16, 1_000_000)
answers = np.array(design.categories)[codes]
"""

COUNTS = """
import deniable as dn
design = dn.k_ary(16, epsilon=1)
tally = dn.Tally(design, [62_000 + 100 * index for index in range(16)])
"""

WORKLOADS: dict[str, tuple[str, str, int]] = {
    "import deniable": ("", "import deniable", 1),
    "respond, one answer ×10,000": (
        "import deniable as dn\ndesign = dn.k_ary(16, epsilon=1)\nanswer = design.categories[3]",
        "for _ in range(10_000): dn.respond(design, answer)",
        3,
    ),
    "respond_all, a million labels": (COLOURS, "dn.respond_all(design, answers)", 5),
    "tally, a million responses": (
        COLOURS + "responses = dn.respond_all(design, answers)",
        "dn.tally(responses)",
        5,
    ),
    "estimate, first call with imports": ("", COUNTS + "dn.estimate(tally)", 1),
    "estimate, warm": (COUNTS, "dn.estimate(tally)", 200),
    "str(summary()), first call": (
        COUNTS + "estimate = dn.estimate(tally)",
        "str(estimate.summary())",
        1,
    ),
    "str(summary()), warm": (
        COUNTS + "estimate = dn.estimate(tally)",
        "str(estimate.summary())",
        50,
    ),
    "estimate of 20,000 weighted rows": (
        COLOURS + "responses = dn.respond_all(design, answers[:20_000])\n"
        "sampling = dn.Sampling(np.random.default_rng(2).uniform(0.5, 2, 20_000))",
        "dn.estimate(responses, sampling=sampling).conf_int()",
        5,
    ),
    "collector's store, a batch of 100,000": (
        "import tempfile\nfrom benchmarks.collector_store import BATCH, batch, fielded\n"
        "store, entry = fielded(tempfile.mkdtemp() + '/store.db')\n"
        "batches = iter([batch(entry, BATCH) for _ in range(10)])",
        "store.add_batch(next(batches))",
        10,
    ),
    "collector, 100,000 responses over HTTP": (
        "import tempfile\nfrom benchmarks.collector_store import *\n"
        "store, entry = fielded(tempfile.mkdtemp() + '/store.db')\n"
        "token = 'Bearer ' + store.issue_token(Token('bench', 'device'))\n"
        "server = listening(make_app(UNLIMITED, store))\nbase = server.__enter__()\n"
        "bodies = iter([arrow(entry, BATCH) for _ in range(8)])\n"
        "headers = dict(Content_Type='application/vnd.apache.arrow.stream', Authorization=token)",
        "ask(f'{base}/api/surveys/small/batches', next(bodies), **headers)",
        8,
    ),
    "panel, two stages of 2,000 people": (
        "import tempfile\nimport deniable as dn\n"
        "people = {f'person {n}': 'yes' if n % 3 else 'no' for n in range(2_000)}",
        "panel = dn.Panel.create(tempfile.mkdtemp() + '/panel.db', budget=2)\n"
        "panel.answer('smokes', people, about=dn.warner(1))\n"
        "panel.release('smokes', dn.warner(1))\n"
        "panel.release('smokes', dn.warner(2))\n"
        "panel.close()",
        3,
    ),
    "DuckDB, tally of a million rows": (
        COLOURS + "import duckdb\nconnection = duckdb.connect()\n"
        "table = dn.respond_all(design, answers).to_arrow()\n"
        "connection.register('responses', table)",
        "dn.engines.duckdb.tally(design, connection, 'responses')",
        5,
    ),
}


def seconds(checkout: Path, workload: tuple[str, str, int]) -> float:
    """Return the best time of one workload, run by its own process in a checkout."""
    setup, statement, repeats = workload
    lines = statement.strip().splitlines()
    body = "\n    ".join(lines)
    program = f"{setup}\ndef run():\n    {body}\n" + TIMED.format(repeats=repeats)
    path = os.pathsep.join((str(checkout / "src"), str(checkout)))
    outcome = subprocess.run(
        [sys.executable, "-c", program],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if outcome.returncode:
        raise SystemExit(f"{checkout}: {outcome.stderr}")
    return float(outcome.stdout.split()[-1])


def main(before: str, after: str = ".") -> None:
    checkouts = [Path(before).resolve(), Path(after).resolve()]
    print(f"{'workload':<42} {'before':>10} {'after':>10} {'before ÷ after':>15}")
    for name, workload in WORKLOADS.items():
        best = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            times = [seconds(checkout, workload) for checkout in checkouts]
            best = list(map(min, best, times))
        first, second = best
        print(
            f"{name:<42} {1000 * first:>7.2f} ms {1000 * second:>7.2f} ms {first / second:>15.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
