"""How fast sets of categories are drawn and counted: `python -m benchmarks.bits`.

One core, the secure source, packed rows. The baseline is what a user writes by hand: NumPy's PCG64, a float and then a
byte for each bit, no secrecy and no exactness. The source alone is the random bytes without anything done to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import workloads
from benchmarks.measure import Row, race, table
from deniable.bulk.random_words import CHUNK, SPARE
from deniable.channel import Bits, Subset
from deniable.designs import Design, rappor, subset, truncated_rappor, unary
from deniable.engines import local

K = 128
N = 400_000


def bytes_alone(number: int) -> Callable[[], None]:
    """The source alone: so many bytes, into a buffer that stays in the cache."""
    stream, buffer = local.Keystream(), np.empty(CHUNK + SPARE, np.uint64)

    def run() -> None:
        for _ in range(0, number, 8 * CHUNK):
            stream.fill(buffer, CHUNK)

    return run


def bits_by_hand(x: NDArray[Any], p: float, q: float) -> Callable[[], NDArray[Any]]:
    rng = np.random.Generator(np.random.PCG64())

    def run() -> NDArray[Any]:
        bits = rng.random((x.size, K)) < q
        bits[np.arange(x.size), x] = rng.random(x.size) < p
        return bits

    return run


def counts_by_hand(bits: NDArray[Any], by_size: bool) -> NDArray[Any]:
    if not by_size:
        return bits.sum(axis=0)
    counts = np.zeros((K + 1, K), np.int64)
    np.add.at(counts, bits.sum(axis=1), bits)
    return counts


def sets_by_hand(x: NDArray[Any], p: float, t: int) -> Callable[[], NDArray[Any]]:
    """The t smallest of random numbers, with the answer's made smaller than all or larger than all."""
    rng = np.random.Generator(np.random.PCG64())

    def run() -> NDArray[Any]:
        order = rng.random((x.size, K))
        order[np.arange(x.size), x] = np.where(rng.random(x.size) < p, -1.0, 2.0)
        return np.argpartition(order, t, axis=1)[:, :t]

    return run


def bench_bits(name: str, design: Design) -> None:
    channel = design.channel
    assert isinstance(channel, Bits)
    x = workloads.answers(K, N)
    hand = bits_by_hand(
        x, channel.hit / channel.total, channel.stray / channel.total
    )
    packed, unpacked = local.draw_all(design, x, fast=True), hand()
    times = race(
        {
            "source": bytes_alone(K * N // 8),
            "hand": hand,
            "fast": lambda: local.draw_all(design, x, fast=True),
            "numpy": lambda: local.draw_all(design, x, fast=False),
            "hand, tally": lambda: counts_by_hand(unpacked, channel.by_size),
            "fast, tally": lambda: local.tally(design, packed, fast=True),
            "numpy, tally": lambda: local.tally(design, packed, fast=False),
        }
    )
    rate = {what: K * N / seconds / 1e9 for what, seconds in times.items()}
    rows: list[Row] = [
        ("respond, fast: 10⁹ bits a second", rate["fast"], 1.5),
        ("respond, fast ÷ unpacked NumPy", rate["fast"] / rate["hand"], 5),
        (
            "respond, fast ÷ as many random bytes from the source",
            rate["fast"] / rate["source"],
            None,
        ),
        ("respond, NumPy ÷ unpacked NumPy", rate["numpy"] / rate["hand"], None),
        ("tally, fast: 10⁹ bits a second", rate["fast, tally"], 2),
        (
            "tally, fast ÷ unpacked NumPy",
            rate["fast, tally"] / rate["hand, tally"],
            5,
        ),
        (
            "tally, NumPy ÷ unpacked NumPy",
            rate["numpy, tally"] / rate["hand, tally"],
            None,
        ),
    ]
    table(f"{name}, k = {K}, ε = 1, n = {N:,}", rows)


def bench_sets(name: str, design: Design, n: int, bar: float | None) -> None:
    x = workloads.answers(K, n)
    packed = local.draw_all(design, x, fast=True)
    candidates: dict[str, Callable[[], object]] = {
        "fast": lambda: local.draw_all(design, x, fast=True),
        "numpy": lambda: local.draw_all(design, x, fast=False),
        "tally": lambda: local.tally(design, packed, fast=True),
    }
    if isinstance(design.channel, Subset):
        channel = design.channel
        candidates["hand"] = sets_by_hand(
            x, channel.inside / channel.total, channel.ones
        )
    times = race(candidates, rounds=5)
    rate = {what: n / seconds / 1e6 for what, seconds in times.items()}
    rows: list[Row] = [
        ("respond, fast: 10⁶ responses a second", rate["fast"], bar),
        ("respond, NumPy: 10⁶ responses a second", rate["numpy"], None),
        ("tally, fast: 10⁹ bits a second", K * rate["tally"] / 1e3, None),
    ]
    if "hand" in rate:
        rows.append(
            (
                "respond, fast ÷ argpartition by hand",
                rate["fast"] / rate["hand"],
                None,
            )
        )
    table(f"{name}, k = {K}, ε = 1, n = {n:,}", rows)


def main() -> None:
    bench_bits("unary, symmetric", unary(K, 1))
    bench_bits("unary, optimized", unary(K, 1, optimized=True))
    bench_bits("rappor, counted by size", rappor(K, 1))
    bench_sets("subset", subset(K, 1), 200_000, 3)
    bench_sets("truncated_rappor", truncated_rappor(K, 1), 100_000, None)


if __name__ == "__main__":
    main()
