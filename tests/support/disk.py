"""What a disk tells whoever takes it: rows as they lie in the bytes of files, and which of them belong together.

`sqlite_rows` reads pages and frames of the log, `postgres_rows` the files of tables. Nothing asks a database: what lies
where, and beside what, is what an investigator has. `python -m tests.support.disk PLACE CODES` is a program that stores
what people send, and waits to be killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import shutil
import struct
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from deniable import db
from deniable.collector.intake import SubmissionWriter
from deniable.collector.store import (
    Entry,
    Outcome,
    Sent,
    Store,
    Submission,
    open_store,
)
from deniable.collector.store.packs import ID, record_type
from deniable.collector.store.surveys import KnownSurvey
from deniable.db import Tables

POOL = 20
SENT = (Sent(0, 0, 1), Sent(1, 0, 2), Sent(2, 0, 3))
USED = "used"
_WIDTHS = (1, 1, 2)  # bytes of the codes of the three questions
_MOST_PACKED = 1 << 20  # rows in a pack, and more
# that stay in their place in one group, and in all: more have no weight
_FEW, _MOST = 30, 1000


class Row(NamedTuple):
    """A row as it was found.

    Attributes:
        column: the number of a question, or `USED` for an invitation that was used.
        id: what names it.
        written: which transaction wrote it, as far as the disk tells.
        page: where that one put it.
        place: in the order in which a page is filled.
    """

    column: int | str
    id: bytes
    written: int
    page: int
    place: int


def sqlite_rows(file: Path) -> list[Row]:
    """Return the rows in a file and in its log, by the first transaction that has them."""
    found: dict[tuple[int | str, bytes], Row] = {}
    pages: dict[int, bytes] = {}
    for written, images in _images(file):
        pages |= images
        for number, page in images.items():
            for at, (place, values) in enumerate(
                _cells(pages, page, 100 if number == 1 else 0)
            ):
                for column, within in _columns(values):
                    # a page is filled from its end
                    order = (
                        at * _MOST_PACKED + within if within is not None else -place
                    )
                    found.setdefault(column, Row(*column, written, number, order))
    return list(found.values())


def _images(file: Path) -> Iterator[tuple[int, dict[int, bytes]]]:
    """Yield each transaction with the pages it wrote, by their numbers: those of the file, then those of the log."""
    whole = file.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    yield (
        0,
        {at // size + 1: whole[at : at + size] for at in range(0, len(whole), size)},
    )
    beside = [Path(f"{file}{end}") for end in ("-wal", "-journal")]
    log = b"".join(each.read_bytes() for each in beside if each.exists())
    transaction, images = 1, {}
    for at in range(32, len(log), 24 + size):
        number, ends = struct.unpack_from(">II", log, at)
        images[number] = log[at + 24 : at + 24 + size]
        if ends:
            yield transaction, images
            transaction, images = transaction + 1, {}


def _cells(
    pages: dict[int, bytes], page: bytes, head: int
) -> Iterator[tuple[int, list[Any]]]:
    """Yield place and values of the rows in a page of a table that lies by its key."""
    kind = page[head] if page else 0
    if kind not in (2, 10):
        return
    start = head + (12 if kind == 2 else 8)
    for at in range(int.from_bytes(page[head + 3 : head + 5], "big")):
        place = int.from_bytes(page[start + 2 * at : start + 2 * at + 2], "big")
        yield place, _values(_payload(pages, page, place + (4 if kind == 2 else 0)))


def _payload(pages: dict[int, bytes], page: bytes, at: int) -> bytes:
    """Return the bytes of a row, from its own page and from those that it overflows to."""
    size, at = _varint(page, at)
    usable = len(page)
    most, least = ((usable - 12) * share // 255 - 23 for share in (64, 32))
    local = size
    if size > most:
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
    found = page[at : at + local]
    following = (
        int.from_bytes(page[at + local : at + local + 4], "big")
        if size > local
        else 0
    )
    while following and len(found) < size:
        beyond = pages.get(following, bytes(usable))
        found += beyond[4:]
        following = int.from_bytes(beyond[:4], "big")
    return found[:size]


def _values(row: bytes) -> list[Any]:
    end, at = _varint(row, 0)
    body, values = end, []
    while at < end:
        kind, at = _varint(row, at)
        size = (
            (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        )
        raw = row[body : body + size]
        body += size
        values.append(
            None
            if kind == 0
            else kind - 8
            if kind in (8, 9)
            else raw
            if kind >= 12
            else raw[-1]
        )
    return values


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of SQLite's own kind, seven bits in each byte, and what stands behind it."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 127
        if data[place] < 128:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _columns(
    values: list[Any],
) -> Iterator[tuple[tuple[int | str, bytes], int | None]]:
    """Yield what a row names: a response, those of a pack with their places in it, or an invitation that was used."""
    if len(values) == 6 and isinstance(values[2], bytes) and len(values[2]) == ID:
        yield (values[1], values[2]), None
    if len(values) == 6 and isinstance(values[3], bytes) and len(values[3]) == ID:
        yield from _packed(values[1], values[5])
    if (
        len(values) == 3
        and isinstance(values[2], bytes)
        and len(values[0]) == len(values[2]) == 32
    ):
        yield (USED, values[0]), None


def _packed(question: int, pack: bytes) -> Iterator[tuple[tuple[int, bytes], int]]:
    size = record_type(_WIDTHS[question]).itemsize
    for at in range(0, len(pack), size):
        yield (question, pack[at : at + ID]), at // size


def postgres_rows(address: str) -> list[Row]:
    """Return all rows that the files of three tables hold, dead or alive."""
    return [
        *(
            Row(int.from_bytes(data[4:8], "little"), data[9:25], *at)
            for at, _, data in _tuples(address, "response")
        ),
        *(
            Row(USED, data[1:33], *at)
            for at, nulls, data in _tuples(address, "invitation")
            if not nulls
        ),
        *_postgres_packs(address),
    ]


def _postgres_packs(address: str) -> Iterator[Row]:
    # values that are too long for a row, in parts
    beside: dict[int, dict[int, bytes]] = defaultdict(dict)
    for _, _, data in _tuples(address, "pack", toast=True):
        value, part, head = struct.unpack_from("<III", data)
        short = head & 1
        length = (head & 255) >> 1 if short else head >> 2
        beside[value][part] = (
            data[9 : 8 + length] if short else data[12 : 8 + length]
        )
    for (written, page, number), _, data in _tuples(address, "pack"):
        (head,) = struct.unpack_from("<I", data, 36)
        if head & 255 == 1:  # a pointer
            (where,) = struct.unpack_from("<I", data, 46)
            pack = b"".join(beside[where][part] for part in sorted(beside[where]))
        else:
            pack = (
                data[37 : 36 + ((head & 255) >> 1)]
                if head & 1
                else data[40 : 36 + (head >> 2)]
            )
        for column, within in _packed(int.from_bytes(data[4:8], "little"), pack):
            yield Row(*column, written, page, number * _MOST_PACKED + within)


def postgres_files(address: str, *tables: str) -> bytes:
    """Return the bytes of tables, of what their rows have no room for, and of their indices."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        ((folder,),) = connection.execute("SHOW data_directory").fetchall()
        query = (
            "SELECT pg_relation_filepath(%s::regclass) UNION ALL "
            "SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = %s::regclass UNION ALL "
            "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = %s::regclass"
        )
        paths = [
            path
            for table in tables
            for (path,) in connection.execute(query, (table,) * 3)
        ]
    return b"".join((Path(folder) / path).read_bytes() for path in paths)


def _tuples(
    address: str, table: str, *, toast: bool = False
) -> Iterator[tuple[tuple[int, int, int], bool, bytes]]:
    """Yield the rows in the file of a table, or of what they have no room for: where they lie, nulls, and values."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        ((folder,),) = connection.execute("SHOW data_directory").fetchall()
        which = "reltoastrelid" if toast else "oid"
        query = f"SELECT pg_relation_filepath({which}) FROM pg_class WHERE oid = %s::regclass"
        ((path,),) = connection.execute(query, (table,)).fetchall()
    whole = (Path(folder) / path).read_bytes()
    for at in range(0, len(whole), 8192):
        page = whole[at : at + 8192]
        for number, start in enumerate(
            range(24, int.from_bytes(page[12:14], "little"), 4)
        ):
            pointer = int.from_bytes(page[start : start + 4], "little")
            place, length = pointer & 0x7FFF, pointer >> 17
            if length:
                row = page[place : place + length]
                xmin, nulls = int.from_bytes(row[:4], "little"), bool(row[20] & 1)
                yield (xmin, at // 8192, number), nulls, row[row[22] :]


# The attack by counting: whom a copy of the counts, a place of rows or a moment leaves alone


def all_bytes(place: str) -> bytes:
    """Return every byte that the collector has on its disk: of tables, indices, logs and free pages."""
    if "://" in place:
        return postgres_files(place, *_tables(place))
    files = sorted(Path(place).parent.glob(f"{Path(place).name}*"))
    return b"".join(path.read_bytes() for path in files)


def smallest_told(place: str) -> tuple[int, int]:
    """Return how many people responded, and the smallest number of them that the disk tells from all others.

    What tells people apart: the table or run that a row lies in, and which transaction wrote it; and the difference
    between any two copies of counts of one question, in whatever table, log, or free page they lie.
    """
    rows = postgres_rows(place) if "://" in place else sqlite_rows(Path(place))
    first = {row.id: row.written for row in rows if row.column == 0}
    people = len(first)
    parts = {
        *Counter(first.values()).values(),
        *(size for sizes in _containers(place) for size in sizes),
    }
    copies = {0, people} | {
        int.from_bytes(found, "little")
        for found in _SIZE["://" in place].findall(all_bytes(place))
    }
    told = {abs(one - other) for one in copies for other in copies}
    return people, min(
        size for size in {*parts, *(people - part for part in parts), *told} if size
    )


# what stands before the number of responses in a row with the first counts of those without a group
_SIZE = (
    re.compile(rb"\x15\x01\x08[\x80-\xff]*[\0-\x7f]\x02?seen\xff(.{8})", re.DOTALL),
    re.compile(rb"\x0bseen\0{3}\xff{4}\0{4}[\x13-\xff](.{8})", re.DOTALL),
)


def _containers(place: str) -> Iterator[list[int]]:
    """Yield for each question how many responses of the first stage lie in rows of their own, and in each run."""
    with open_database(place) as tables:
        for question in range(len(_WIDTHS)):
            alone = "SELECT count(*) FROM response WHERE stage = 0 AND question = ?"
            runs = "SELECT responses FROM run WHERE stage = 0 AND question = ?"
            yield [tables.value(alone, question)] + [
                size for (size,) in tables.rows(runs, question)
            ]


@contextmanager
def open_database(place: str) -> Iterator[Tables]:
    """Read a database as it lies, in a copy where it is a file: whoever opens one changes it."""
    options: dict[str, Any] = {"settings": (), "patience": 1, "one_writer": False}
    if "://" in place:
        with (
            db.open_database(place, "disk", **options) as server,
            server.transaction(write=False) as tables,
        ):
            yield tables
        return
    with TemporaryDirectory() as folder:
        copy = copy_files(place, Path(folder))
        with (
            db.open_database(copy, "disk", **options) as file,
            file.transaction(write=False) as tables,
        ):
            yield tables


def copy_files(place: str, folder: Path) -> str:
    """Copy a file with its log, as somebody does who takes the disk at this moment."""
    folder.mkdir(exist_ok=True)
    for path in Path(place).parent.glob(f"{Path(place).name}*"):
        shutil.copy(path, folder)
    return str(folder / Path(place).name)


def _tables(place: str) -> list[str]:
    with open_database(place) as tables:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        return [name for (name,) in tables.rows(names)]


# The attack by the clock


def moments(content: bytes, begin: float, end: float) -> list[str]:
    """Return in which form a moment between two others stands in bytes: numbers of every width and order, or text."""
    found = []
    for unit, scale in (("s", 1), ("ms", 10**3), ("µs", 10**6), ("ns", 10**9)):
        low, high = int(begin * scale), math.ceil(end * scale)
        for order in ("big", "little"):
            size = 4 if unit == "s" else 8
            found += [f"{unit}, {order}"] * _has_number(
                content, low, high, size, order
            )
        found += [f"{unit}, in digits"] * _has_digits(content, low, high)
    kinds = ((">f8", "double, big"), ("<f8", "double, little"))
    for kind, name in kinds:
        values = np.lib.stride_tricks.sliding_window_view(
            np.frombuffer(content, np.uint8), 8
        )
        numbers = np.ascontiguousarray(values).view(kind)[:, 0]
        with np.errstate(invalid="ignore"):
            found += [name] * bool(((numbers >= begin) & (numbers <= end)).any())
    minutes = {
        time.strftime(form, time.gmtime(moment)).encode()
        for moment in (begin, end)
        for form in ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%H:%M:%S")
    }
    return found + [text.decode() for text in minutes if text in content]


def _has_number(content: bytes, low: int, high: int, size: int, order: str) -> bool:
    """Say whether a number between two others stands in bytes: what they have in common is looked for."""
    first, last = (value.to_bytes(size, "big") for value in (low, high))
    common = next(n for n in range(size, -1, -1) if first[:n] == last[:n])
    mark = first[:common] if order == "big" else first[:common][::-1]
    for match in re.finditer(re.escape(mark), content):
        start = match.start() if order == "big" else match.end() - size
        number = int.from_bytes(content[max(0, start) : start + size], order)  # type: ignore[arg-type]
        if low <= number <= high:
            return True
    return False


def _has_digits(content: bytes, low: int, high: int) -> bool:
    width = len(str(low))
    return any(
        low <= int(match[1]) <= high
        for match in re.finditer(rb"(?=(\d{%d}))" % width, content)
    )


# What is made of it


def groups(rows: Sequence[Row]) -> list[int]:
    """Return how many people each transaction stored, as far as the disk tells."""
    firsts = sorted(row.written for row in rows if row.column == 0)
    return [len(list(same)) for _, same in groupby(firsts)]


def joined(
    rows: Sequence[Row],
    one: int | str,
    other: int | str,
    people: dict[tuple[int | str, bytes], int],
) -> int:
    """Lay two columns beside each other in the order in which they seem to have come; count the right pairs."""
    sides = [
        sorted(
            (row for row in rows if row.column == column), key=lambda row: row[2:]
        )
        for column in (one, other)
    ]
    return sum(people[a[:2]] == people[b[:2]] for a, b in zip(*sides, strict=True))


def by_luck(sizes: Sequence[int], false_alarm: float) -> int:
    """Return how many right pairs whoever guesses inside groups reaches with a smaller probability than this.

    Why: a guess is a random order of each group, and the number that stay in their place has a known law.
    """
    law = np.ones(1)
    for size in sizes:
        few = min(size, _FEW)
        signs = np.cumsum([(-1) ** i / math.factorial(i) for i in range(few + 1)])
        law = np.convolve(
            law,
            [signs[min(size - k, few)] / math.factorial(k) for k in range(few + 1)],
        )[:_MOST]
    tail = 0.0
    for k in range(len(law) - 1, -1, -1):
        tail += float(law[k])
        if tail > false_alarm:
            return k + 1
    return 0


def in_order(
    rows: Sequence[Row], people: dict[tuple[int | str, bytes], int]
) -> tuple[int, int]:
    """Return how many of all pairs in a page lie in the order in which they came; no row is in two pairs.

    Why from both halves: when a page is split, what it holds is put into the order of keys, and what comes later lies
    behind that.
    """
    pages = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.place):
        pages[row.column, row.written, row.page].append(people[row[:2]])
    pairs = [
        pair
        for page in pages.values()
        for pair in zip(page, page[(len(page) + 1) // 2 :], strict=False)
    ]
    return sum(a < b for a, b in pairs), len(pairs)


def tail(hits: int, of: int) -> float:
    """Return the probability that fair coins fall this far from the middle, or farther."""
    far = abs(2 * hits - of)
    ways = sum(math.comb(of, k) for k in range(of + 1) if abs(2 * k - of) >= far)
    return float(Fraction(ways, 2**of))


# The people


def key(number: int) -> bytes:
    return hashlib.sha256(b"key %d" % number).digest()[:16]


def truth(entry: Entry, codes: Sequence[str]) -> dict[tuple[int | str, bytes], int]:
    """Return whose row is whose, and in which order they came: nobody but the test knows."""
    known = KnownSurvey.from_entry(entry)
    found: dict[tuple[int | str, bytes], int] = {}
    for number, code in enumerate(codes):
        for question, column in enumerate(known.columns):
            found[question, column.id(key(number))] = number
        found[USED, hashlib.sha256(code.encode()).digest()] = number
    return found


def respond(store: Store, codes: Sequence[str], pool: int = POOL) -> None:
    """Let everybody take part, with an invitation and all responses, in pools of one size."""
    entry = store.survey("small")

    async def run() -> list[Outcome]:
        with SubmissionWriter(
            store, pool=pool, max_waiting=pool, pause=0, hold=60
        ) as writer:
            people = [
                Submission(entry.id, key(at), None, SENT, None, code)
                for at, code in enumerate(codes)
            ]
            return await asyncio.gather(*(writer.add(each) for each in people))

    assert set(asyncio.run(run())) == {"stored"}


if __name__ == "__main__":
    store = open_store(sys.argv[1])
    respond(store, Path(sys.argv[2]).read_text().split())
    print("stored", flush=True)
    while not store.rewrite():
        time.sleep(0.01)
    print("settled", flush=True)
    time.sleep(600)
