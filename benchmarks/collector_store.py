"""Batches into SQLite and Postgres, and what a page costs when there are more and more.

`python -m benchmarks.collector_store [batches [SIZE] | pages]`. Every batch is durable before the next one begins.
`batches` stores them in a database that is empty, then in one of ten million responses (or SIZE): as they came, and
after everything was written anew. They go into the store directly, and over HTTP as Arrow into a collector that listens
on this machine. The page is an analyst's page of one question, asked for over HTTP.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from tests.support import postgres
from tests.support.collector import UNLIMITED, listening
from tests.support.surveys import question, small

from deniable.collector.app import make_app
from deniable.collector.store import Batch, Entry, Store, Token, open_store
from deniable.designs import k_ary

RATE = 200_000  # responses in a second: the bar
FLAT = 1.5  # how much longer a page may take at the last size than at the first: the bar
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
BATCH = 100_000
LARGE = 10**7  # responses that are stored already: the bar
CATEGORIES = 16
ASKED = 60  # times that each page is asked for


def batch(entry: Entry, n: int) -> Batch:
    keys = np.frombuffer(os.urandom(16 * n), np.uint8).reshape(n, 16)
    return Batch(
        entry.id, 0, 0, keys, np.random.default_rng(n).integers(0, CATEGORIES, n)
    )


def arrow(entry: Entry, n: int) -> bytes:
    made = batch(entry, n)
    asked = entry.survey.questions[0]
    table = pa.table(
        {
            "key": pa.Array.from_buffers(
                pa.binary(16), n, [None, pa.py_buffer(made.keys.tobytes())]
            ),
            "question": pa.array([asked.name] * n).dictionary_encode(),
            "design": pa.array([asked.design.hash] * n).dictionary_encode(),
            "code": pa.array(made.codes.astype(np.uint8)),
        }
    )
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


def fielded(place: str) -> tuple[Store, Entry]:
    store = open_store(place)
    store.create(
        small(questions=(question("colour", k_ary(CATEGORIES, epsilon=1)),))
    )
    return store, store.open("small")


def ask(address: str, body: bytes | None = None, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(
        urllib.request.Request(address, body, named)
    ) as answer:
        read: bytes = answer.read()
        return read


def told(what: str, rates: list[float], by_hand: float = 0.0) -> None:
    verdict = "reached" if median(rates) >= RATE else "MISSED"
    ratio = f", {median(rates) / by_hand:.2f} × by hand" if by_hand else ""
    print(
        f"  {what:<44} {median(rates):>9,.0f} responses/s ({RATE:,}: {verdict}; slowest {min(rates):,.0f}){ratio}"
    )


def by_hand(made: list[Batch]) -> float:
    """What one writes first: a table, a durable transaction for each batch. It hashes, counts and checks nothing."""
    rates = []
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "hand.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "CREATE TABLE response (key BLOB PRIMARY KEY, code INTEGER) WITHOUT ROWID"
        )
        for each in made:
            start = time.perf_counter()
            rows = zip(
                (row.tobytes() for row in each.keys),
                each.codes.tolist(),
                strict=True,
            )
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT OR IGNORE INTO response VALUES (?, ?)", rows
            )
            connection.execute("COMMIT")
            rates.append(len(each.keys) / (time.perf_counter() - start))
        connection.close()
    return median(rates)


def batches(large: str = str(LARGE)) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _batches("SQLite", str(Path(folder) / "store.db"), int(large))
    with tempfile.TemporaryDirectory() as folder:
        over_http(str(Path(folder) / "store.db"))
    if reason := postgres.missing():
        print(f"\nPostgres: {reason}")
        return
    with postgres.server() as address:
        _batches("Postgres", address, int(large))


def _batches(kind: str, place: str, large: int) -> None:
    print(f"\nbatches into {kind}, k_ary({CATEGORIES}), {BATCH:,} responses each")
    store, entry = fielded(place)
    made = [batch(entry, BATCH) for _ in range(10)]
    empty = [timed(store, each) for each in made]
    told("the first million", empty, by_hand(made))
    stored = 10 * BATCH
    while stored < large:
        store.add_batch(batch(entry, min(10 * BATCH, large - stored)))
        stored += min(10 * BATCH, large - stored)
    told(
        f"at {stored:,}, as they came",
        [timed(store, batch(entry, BATCH)) for _ in range(10)],
    )
    start = time.perf_counter()
    assert store.rewrite(at_once=True)
    print(
        f"  {'everything written anew':<44} {time.perf_counter() - start:>9.1f} s here"
    )
    first = timed(store, batch(entry, BATCH))  # reads which ids there are
    rates = [timed(store, batch(entry, BATCH)) for _ in range(10)]
    told(f"at {stored + 10 * BATCH:,}, written anew", rates)
    print(
        f"  {'the same ÷ the first million':<44} {median(rates) / median(empty):>9.2f}"
    )
    print(f"  {'the first of them':<44} {first:>9,.0f} responses/s")
    told(
        f"the same, batches of {10 * BATCH:,}",
        [timed(store, batch(entry, 10 * BATCH)) for _ in range(3)],
    )
    total = store.tallies(entry.id, 0).respondents
    assert total == stored + 21 * BATCH + 30 * BATCH, f"{total:,} are counted"
    store.database.close()


def over_http(place: str) -> None:
    store, entry = fielded(place)
    token = f"Bearer {store.issue_token(Token('bench', 'device'))}"
    rates = []
    with listening(make_app(UNLIMITED, store)) as base:
        for body in [arrow(entry, BATCH) for _ in range(10)]:
            start = time.perf_counter()
            kind = "application/vnd.apache.arrow.stream"
            found = json.loads(
                ask(
                    f"{base}/api/surveys/small/batches",
                    body,
                    Content_Type=kind,
                    Authorization=token,
                )
            )
            rates.append(BATCH / (time.perf_counter() - start))
            assert found == {"stored": BATCH, "repeated": 0}
    told("over HTTP as Arrow, the first million", rates)
    store.shut()


def timed(store: Store, made: Batch) -> float:
    start = time.perf_counter()
    store.add_batch(made)
    return len(made.keys) / (time.perf_counter() - start)


def pages() -> None:
    print("\nan analyst's page, and batches, by how many responses are stored")
    first: float | None = None
    with tempfile.TemporaryDirectory() as folder:
        store, entry = fielded(str(Path(folder) / "store.db"))
        token = store.issue_token(Token("bench", "analyst"))
        with listening(make_app(UNLIMITED, store)) as base:
            stored = 0
            for size in SIZES:
                while stored < size:
                    n = min(1_000_000, size - stored)
                    store.add_batch(batch(entry, n))
                    stored += n
                times: list[float] = []
                for _ in range(ASKED):
                    start = time.perf_counter()
                    ask(f"{base}/a/small/colour", Authorization=f"Bearer {token}")
                    times.append(time.perf_counter() - start)
                first = first or median(times)
                ratio = median(times) / first
                verdict = "reached" if ratio <= FLAT else "MISSED"
                print(
                    f"  {size:>11,}   page ÷ that at the first size {ratio:5.2f} (≤ {FLAT}: {verdict})",
                    end="",
                )
                print(f"   [{1000 * median(times):.1f} ms here]")
            for n in (BATCH, 10 * BATCH):
                told(
                    f"at {stored:,}: batches of {n:,}",
                    [timed(store, batch(entry, n)) for _ in range(3)],
                )
        store.shut()


def main(*parts: str) -> None:
    known: dict[str, Any] = {"batches": batches, "pages": pages}
    if len(parts) == 2:
        known[parts[0]](parts[1])
        return
    for part in parts or known:
        known[part]()


if __name__ == "__main__":
    main(*sys.argv[1:])
