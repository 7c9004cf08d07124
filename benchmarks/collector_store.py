"""Batches into SQLite, and what a page costs when there are more and more: `python -m benchmarks.collector_store`.

Every batch is durable before the next one begins. Batches go into the store directly, and over HTTP as Arrow into a
collector that listens on this machine. A larger store takes longer for each batch, because ids are random: a batch of
100,000 changes most pages of a table of millions. The page is an analyst's page of one question, asked for over HTTP.
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
from tests.support.collector import UNLIMITED, listening
from tests.support.surveys import question, small

from deniable.collector.app import make_app
from deniable.collector.store import Batch, Entry, Store, Token, open_store
from deniable.designs import k_ary

RATE = 200_000  # responses in a second: the bar
FLAT = 1.5  # how much longer a page may take at the last size than at the first: the bar
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
BATCH = 100_000
CATEGORIES = 16
ASKED = 60  # times that each page is asked for


def batch(entry: Entry, n: int) -> Batch:
    keys = np.frombuffer(os.urandom(16 * n), np.uint8).reshape(n, 16)
    return Batch(entry.id, 0, 0, keys, np.random.default_rng(n).integers(0, CATEGORIES, n))


def arrow(entry: Entry, n: int) -> bytes:
    made = batch(entry, n)
    asked = entry.survey.questions[0]
    table = pa.table(
        {
            "key": pa.Array.from_buffers(pa.binary(16), n, [None, pa.py_buffer(made.keys.tobytes())]),
            "question": pa.array([asked.name] * n).dictionary_encode(),
            "design": pa.array([asked.design.hash] * n).dictionary_encode(),
            "code": pa.array(made.codes.astype(np.uint8)),
        }
    )
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


def fielded(folder: str) -> tuple[Store, Entry]:
    store = open_store(Path(folder) / "store.db")
    store.create(small(questions=(question("colour", k_ary(CATEGORIES, epsilon=1)),)))
    return store, store.open("small")


def ask(address: str, body: bytes | None = None, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(urllib.request.Request(address, body, named)) as answer:
        read: bytes = answer.read()
        return read


def told(what: str, rates: list[float], by_hand: float = 0.0) -> None:
    verdict = "reached" if median(rates) >= RATE else "MISSED"
    ratio = f", {median(rates) / by_hand:.2f} × by hand" if by_hand else ""
    print(f"  {what:<44} {median(rates):>9,.0f} responses/s ({RATE:,}: {verdict}; slowest {min(rates):,.0f}){ratio}")


def by_hand(made: list[Batch]) -> float:
    """What one writes first: a table, a durable transaction for each batch. It hashes, counts and checks nothing."""
    rates = []
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "hand.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE response (key BLOB PRIMARY KEY, code INTEGER) WITHOUT ROWID")
        for each in made:
            start = time.perf_counter()
            rows = zip((row.tobytes() for row in each.keys), each.codes.tolist(), strict=True)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO response VALUES (?, ?)", rows)
            connection.execute("COMMIT")
            rates.append(len(each.keys) / (time.perf_counter() - start))
        connection.close()
    return median(rates)


def batches() -> None:
    print(f"\nbatches into SQLite, k_ary({CATEGORIES}), {BATCH:,} responses each")
    with tempfile.TemporaryDirectory() as folder:
        store, entry = fielded(folder)
        made = [batch(entry, BATCH) for _ in range(10)]
        hand = by_hand(made)
        told("through the store, the first million", [timed(store, each) for each in made], hand)
        store.shut()
    with tempfile.TemporaryDirectory() as folder:
        store, entry = fielded(folder)
        token = f"Bearer {store.issue_token(Token('bench', 'device'))}"
        with listening(make_app(UNLIMITED, store)) as base:
            bodies = [arrow(entry, BATCH) for _ in range(10)]
            rates = []
            for body in bodies:
                start = time.perf_counter()
                kind = "application/vnd.apache.arrow.stream"
                found = json.loads(
                    ask(f"{base}/api/surveys/small/batches", body, Content_Type=kind, Authorization=token)
                )
                rates.append(BATCH / (time.perf_counter() - start))
                assert found == {"stored": BATCH, "repeated": 0}
            told("over HTTP as Arrow, the first million", rates, hand)
        store.shut()


def timed(store: Store, made: Batch) -> float:
    start = time.perf_counter()
    store.add_batch(made)
    return len(made.keys) / (time.perf_counter() - start)


def pages() -> None:
    print("\nan analyst's page, and batches, by how many responses are stored")
    first: float | None = None
    with tempfile.TemporaryDirectory() as folder:
        store, entry = fielded(folder)
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
                print(f"  {size:>11,}   page ÷ that at the first size {ratio:5.2f} (≤ {FLAT}: {verdict})", end="")
                print(f"   [{1000 * median(times):.1f} ms here]")
            for n in (BATCH, 10 * BATCH):
                told(f"at {stored:,}: batches of {n:,}", [timed(store, batch(entry, n)) for _ in range(3)])
        store.shut()


def main(*parts: str) -> None:
    known: dict[str, Any] = {"batches": batches, "pages": pages}
    for part in parts or known:
        known[part]()


if __name__ == "__main__":
    main(*sys.argv[1:])
