from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.stats import binom

from deniable.bulk import random_words as keystream
from deniable.bulk.random_words import SPARE, Keystream, permutation
from deniable.chance import ScriptedSource
from tests.support.seeded import Seeded


def stream_of(key: bytes, count: int) -> bytes:
    """AES-256 of 0, 1, 2, …: the counter mode written out with single blocks."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    blocks = (count + 15) // 16
    return cipher.update(b"".join(i.to_bytes(16, "big") for i in range(blocks)))[
        :count
    ]


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The keys that are handed out, in order; known, so that a stream can be foretold."""
    handed: list[bytes] = []

    def urandom(count: int) -> bytes:
        handed.append(bytes([len(handed)]) * count)
        return handed[-1]

    monkeypatch.setattr(keystream.os, "urandom", urandom)
    return handed


def test_it_is_aes_256_in_counter_mode(keys: list[bytes]) -> None:
    read = Keystream().read(1000)
    assert [len(key) for key in keys] == [32]
    assert read == stream_of(keys[0], 1000)


def test_reads_of_any_length_continue_the_stream(keys: list[bytes]) -> None:
    stream = Keystream()
    pieces = [stream.read(count) for count in (0, 1, 7, 8, 15, 16, 17, 100)]
    assert [len(piece) for piece in pieces] == [0, 1, 7, 8, 15, 16, 17, 100]
    assert b"".join(pieces) == stream_of(keys[0], 164)


@pytest.mark.parametrize("spare", [0, 1, SPARE, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_filling_an_array_gives_the_bytes_of_read(
    keys: list[bytes], count: int, spare: int
) -> None:
    words = np.full(count + spare, 7, np.uint64)
    Keystream().fill(words, count)
    assert words[:count].astype("<u8").tobytes() == stream_of(keys[0], 8 * count)


def test_filling_does_not_touch_what_lies_behind(keys: list[bytes]) -> None:
    words = np.full(20, 7, np.uint64)
    Keystream().fill(words, 10)
    assert words[10:].tolist() == [7] * 10
    assert len(keys) == 1


def test_filling_and_reading_take_turns(keys: list[bytes]) -> None:
    stream = Keystream()
    words = np.empty(5, np.uint64)
    stream.fill(words, 3)
    rest = stream.read(5)
    assert words[:3].astype("<u8").tobytes() + rest == stream_of(keys[0], 29)


def test_a_long_array_is_filled_in_pieces(
    keys: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keystream, "_ZEROS", memoryview(bytes(48)))
    stream = Keystream()
    words = np.empty(50, np.uint64)
    stream.fill(words, 40)
    assert words[:40].astype("<u8").tobytes() + stream.read(100) == stream_of(
        keys[0], 420
    )


def test_the_key_is_replaced_after_so_many_bytes(
    keys: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keystream, "PER_KEY", 64)
    stream = Keystream()
    words = np.empty(16 + SPARE, np.uint64)
    stream.fill(words, 16)
    read = stream.read(80)
    assert words[:16].astype("<u8").tobytes() == stream_of(keys[0], 64) + stream_of(
        keys[1], 64
    )
    assert read == stream_of(keys[2], 64) + stream_of(keys[3], 16)


def test_keys_come_from_the_operating_system() -> None:
    assert Keystream().read(32) != Keystream().read(32)


def test_every_thread_has_a_stream_and_a_key_of_its_own(keys: list[bytes]) -> None:
    stream = Keystream()
    together = Barrier(4)

    def read(_: int) -> bytes:
        pieces = []
        for _ in range(20):
            together.wait(timeout=30)
            pieces.append(stream.read(40))
        return b"".join(pieces)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    assert len(keys) == 5  # one more for the thread that built it
    assert sorted(found) == sorted(stream_of(key, 800) for key in keys[1:])


def test_another_process_number_means_another_key(
    keys: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a child sees that was forked by a C library, behind Python's back."""
    stream = Keystream()
    assert stream.read(16) == stream_of(keys[0], 16)
    monkeypatch.setattr(keystream.os, "getpid", lambda: -1)
    assert stream.read(16) == stream_of(keys[1], 16)
    assert stream.read(16) == stream_of(keys[1], 32)[16:]


@pytest.fixture
def fork_counter() -> Iterator[None]:
    before = keystream._forks
    yield
    keystream._forks = before


@pytest.mark.usefixtures("fork_counter")
def test_a_counted_fork_means_another_key(keys: list[bytes]) -> None:
    """What a child sees whose process number was its grandparent's."""
    stream = Keystream()
    stream.read(16)
    keystream._count_fork()
    assert stream.read(16) == stream_of(keys[1], 16)


FORKING = """
import json, os
from deniable.engines.local import Keystream

stream = Keystream()
start = stream.read(16).hex()
ends = []
children = []
for _ in range(3):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(into, stream.read(16).hex().encode())
        os._exit(0)
    os.waitpid(child, 0)
    children.append(os.read(out, 32).decode())
print(json.dumps([start, stream.read(16).hex(), *children]))
"""


@pytest.mark.skipif(
    not hasattr(__import__("os"), "fork"), reason="this system does not fork"
)
def test_forked_children_never_repeat_the_stream() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True
    )
    pieces = json.loads(run.stdout)
    assert [len(piece) for piece in pieces] == [32] * 5
    assert len(set(pieces)) == 5


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_keystream_cannot_be_copied(duplicate: object) -> None:
    with pytest.raises(TypeError, match="two copies would give the same bytes"):
        duplicate(Keystream())  # type: ignore[operator]


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 1 << 10, 5000])
@pytest.mark.parametrize("along", [0, 1 << 20])
def test_an_order_has_every_number_once_and_is_repeated_with_its_source(
    count: int, along: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.bulk.random_words._SORTED_ALONG", along)
    order = permutation(count, Seeded("order"))
    assert sorted(order.tolist()) == list(range(count))
    assert order.tolist() == permutation(count, Seeded("order")).tolist()
    assert count < 1000 or order.tolist() != permutation(count).tolist()


@pytest.mark.parametrize("along", [0, 1 << 20])
def test_equal_words_are_drawn_again(
    along: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows whose words agree would stay in their order."""
    monkeypatch.setattr("deniable.bulk.random_words._SORTED_ALONG", along)
    script = [7 << 40, 9 << 40, 7 << 40, 3 << 40, 2 << 40, 1 << 40]
    source = ScriptedSource(np.array(script, "<u8").tobytes())
    assert permutation(3, source).tolist() == [2, 1, 0]


@pytest.mark.statistical
def test_every_order_is_equally_likely() -> None:
    """24 orders, 24,000 draws: a false alarm once in 10^9; an order that is off by a third is found."""
    source = Seeded("even")
    seen = Counter(tuple(permutation(4, source).tolist()) for _ in range(24_000))
    low, high = (
        binom.ppf(1e-9 / 48, 24_000, 1 / 24),
        binom.isf(1e-9 / 48, 24_000, 1 / 24),
    )
    assert len(seen) == 24
    assert low <= min(seen.values()) <= max(seen.values()) <= high
