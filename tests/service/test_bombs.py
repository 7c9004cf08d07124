"""Bodies that would swell when they are read: all at once, over HTTP, to a collector whose memory is measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from deniable.collector.store import Store, Token, open_store
from deniable.designs import unary
from deniable.survey import Survey
from tests.support import bombs
from tests.support.surveys import question, small

GB = 1 << 30
LINES, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"
WIDE = 8000  # categories: a response takes as many bits in the store


def written(batches: list[Any], **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)
    ) as writer:
        for each in batches:
            writer.write_batch(each)
    return sink.getvalue().to_pybytes()


def shared(text: str, count: int) -> pa.DictionaryArray[Any, Any]:
    """A column with one value in all rows, a byte for each."""
    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int8)), pa.array([text])
    )


def zero_keys(count: int) -> Any:
    return pa.Array.from_buffers(
        pa.binary(16), count, [None, pa.py_buffer(np.zeros(16 * count, np.uint8))]
    )  # type: ignore[arg-type]


def columns(survey: Survey, count: int, **changed: Any) -> Any:
    asked = survey.questions[0]
    named = {
        "key": zero_keys(count),
        "question": shared(asked.name, count),
        "design": shared(asked.design.hash, count),
        "symbol": shared("yes", count),
        **changed,
    }
    return pa.record_batch(list(named.values()), names=list(named))


def compressed(survey: Survey) -> bytes:
    return written([columns(survey, 20_000_000)], compression="zstd")


def growing_dictionary(survey: Survey) -> bytes:
    """Each part adds a word to a dictionary of four megabytes, of which a reader makes a whole new one each time."""
    words = ["x" * 1_000_000] * 4
    parts = []
    for number in range(400):
        words.append(str(number))
        parts.append(
            columns(
                survey,
                1,
                symbol=pa.DictionaryArray.from_arrays(
                    pa.array([0]), pa.array(list(words))
                ),
            )
        )
    return written(parts, emit_dictionary_deltas=True)


def empty_parts(_: Survey) -> bytes:
    schema = pa.schema(
        [
            ("key", pa.binary(16)),
            ("question", pa.string()),
            ("design", pa.string()),
            ("code", pa.int8()),
        ]
    )
    empty = pa.RecordBatch.from_arrays(
        [pa.array([], each.type) for each in schema], schema=schema
    )
    whole = written([empty, empty])
    one = len(whole) - len(written([empty]))
    return whole[: -8 - one] + whole[-8 - one : -8] * (60_000_000 // one) + bombs.END


def nested(survey: Survey) -> bytes:
    kind: Any = pa.string()
    for _ in range(60):
        kind = pa.struct([("a", kind), ("b", pa.string())])
    return written([columns(survey, 1, group=pa.array([None], kind))])


def wide_sets(survey: Survey) -> bytes:
    """A byte for each of many responses, each of which takes a thousand in the store."""
    asked, count = survey.questions[3], 2_000_000
    named = {
        "question": shared(asked.name, count),
        "design": shared(asked.design.hash, count),
    }
    return written([columns(survey, count, **named, symbol=shared("", count))])


def many_rows(survey: Survey) -> bytes:
    return written([columns(survey, 3_200_000)])


BODIES = {
    "old zstd": (ARROW, lambda _: bombs.old_compression(75_000_000, "zstd")),
    "old lz4": (ARROW, lambda _: bombs.old_compression(75_000_000, "lz4")),
    "zstd": (ARROW, compressed),
    "growing dictionary": (ARROW, growing_dictionary),
    "empty parts": (ARROW, empty_parts),
    "nested": (ARROW, nested),
    "wide sets": (ARROW, wide_sets),
    "many rows": (ARROW, many_rows),
    "empty lines": (LINES, lambda _: b"\n" * 60_000_000),
    "deep JSON": (LINES, lambda _: b"[" * 60_000_000),
    "long line": (LINES, lambda _: b'{"survey": "' + b"x" * 60_000_000),
}


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Survey, str]:
    """A database, its survey, and a token that may do everything."""
    path = tmp_path_factory.mktemp("bombs") / "collector.db"
    store: Store = open_store(path)
    wide = question(
        "wide", unary([f"app {number}" for number in range(WIDE)], epsilon=1)
    )
    store.create(small(questions=(*small().questions, wide), acknowledge=7))
    entry = store.open("small")
    token = store.issue_token(Token("ada", "admin"))
    store.shut()
    return path, entry.survey, token


@contextmanager
def serving(database: Path) -> Iterator[tuple[int, str]]:
    """Run `deniable serve`; gives the number of the process, and the address."""
    command = [
        sys.executable,
        "-m",
        "deniable.cli",
        "serve",
        "--port",
        "0",
        "--database",
        str(database),
    ]
    ours = {**os.environ, "DENIABLE_DEVICE_BYTES": "0"}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=ours
    ) as process:
        assert process.stderr
        try:
            address = re.search(
                r"http://127\.0\.0\.1:\d+", process.stderr.readline()
            )
            assert address
            yield process.pid, address[0]
        finally:
            process.kill()


def most_memory(process: int) -> int:
    """Return the most bytes of memory that a process has had."""
    found = re.search(
        r"VmHWM:\s+(\d+) kB",
        Path(f"/proc/{process}/status").read_text(encoding="ascii"),
    )
    assert found
    return 1024 * int(found[1])


def post(address: str, token: str, kind: str, body: bytes) -> httpx.Response:
    headers = {"content-type": kind, "authorization": f"Bearer {token}"}
    return httpx.post(
        f"{address}/api/surveys/small/batches",
        content=body,
        headers=headers,
        timeout=300,
    )


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="reads the memory of a process from /proc",
)
def test_hostile_bodies_one_by_one_and_all_at_once_fit_into_a_gigabyte(
    survey: tuple[Path, Survey, str],
) -> None:
    path, asked, token = survey
    bodies = {name: (kind, make(asked)) for name, (kind, make) in BODIES.items()}
    assert all(len(body) < 64 << 20 for _, body in bodies.values())
    with serving(path) as (process, address):
        for name, (kind, body) in bodies.items():
            refused = post(address, token, kind, body)
            assert refused.status_code in {400, 413, 422}, (name, refused.text)
            assert most_memory(process) < GB, name
        with ThreadPoolExecutor(len(bodies)) as pool:
            statuses = list(
                pool.map(
                    lambda each: post(address, token, *each).status_code,
                    bodies.values(),
                )
            )
        assert set(statuses) <= {400, 413, 422, 429, 503}
        assert httpx.get(f"{address}/health").json() == {"status": "well"}
        assert most_memory(process) < GB
    store = open_store(path)
    assert [store.tallies(1, number).respondents for number in (0, 2, 3)] == [
        0,
        0,
        0,
    ]
    store.shut()
