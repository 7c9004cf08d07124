"""Two programs store responses, and are killed: `python -m tests.support.collector_kills PLACE KILLS`

PLACE is a SQLite file or the address of a Postgres database. Each program has many respondents at work at a time, who
respond, raise their responses, and send again what they sent before, and a device that sends batches. What is
acknowledged is written to a file: from then on a respondent relies on it. Programs are killed (SIGKILL) at random
moments and started again; with Postgres, every fifth kill hits a process of the database instead, which makes it
recover from its log. At the end everything that was acknowledged must be there, and counted once.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from deniable.collector.intake import SubmissionWriter
from deniable.collector.store import (
    Batch,
    Entry,
    NotStored,
    Sent,
    Store,
    StoreFailed,
    Submission,
    open_store,
)
from deniable.responses import respond
from deniable.tallies import tally
from deniable.tallies.stages import StageTallies
from deniable.types.ladder.respond import respond as release_planned
from tests.support.surveys import COLOURS, small

RESPONDENTS = 24  # at work at a time
BATCH = 50  # respondents whose responses a device sends together
LONGEST = (
    0.3  # seconds that a program is at work before something is killed, at most
)
PATIENCE = 20.0  # seconds until a program is at work; a database that recovers takes a while


@dataclass
class Seen:
    """What happened, and what was wrong with it."""

    kills: int = 0
    crashes: int = 0  # of the database
    interrupted: int = 0  # programs that were killed while respondents waited
    acknowledged: int = 0
    stored: int = 0
    wrong: list[str] = field(default_factory=list)


def drawn(entry: Entry) -> list[Sent]:
    """What one respondent sends: the responses to all questions, at all stages."""
    smokes, colour, apps = entry.survey.questions
    assert colour.ladder is not None
    released = release_planned(colour.ladder, random.choice(COLOURS))
    return [
        Sent(
            0,
            0,
            smokes.design.symbol_number(
                respond(smokes.design, random.choice(["no", "yes"])).symbol
            ),
        ),
        *(
            Sent(1, at, colour.designs[at].symbol_number(each.symbol))
            for at, each in enumerate(released)
        ),
        Sent(
            2,
            0,
            apps.design.symbol_number(
                respond(apps.design, str(random.randrange(12))).symbol
            ),
        ),
    ]


async def respondent(entry: Entry, writer: SubmissionWriter, log: int) -> None:
    """Respond again and again, as ever new people; note what was begun and what was acknowledged."""
    while True:
        key, sent, group = os.urandom(16), drawn(entry), random.choice([None, 0, 1])
        parts = [tuple(sent[:2]), tuple(sent[2:4]), tuple(sent[4:]), tuple(sent)]
        for part in parts[: random.randint(1, 4)]:
            os.write(log, b'["began"]\n')
            while True:
                try:
                    outcome = await writer.add(
                        Submission(entry.id, key, group, part)
                    )
                    break
                except StoreFailed:  # the database was killed; it comes back
                    await asyncio.sleep(0.02)
            told = outcome.reason if isinstance(outcome, NotStored) else ""
            os.write(
                log, json.dumps([key.hex(), part, group, told]).encode() + b"\n"
            )


async def device(entry: Entry, store: Store, log: int) -> None:
    """Send batches of ever new people, and some of them a second time; a batch is acknowledged as a whole."""
    before: list[tuple[bytes, int]] = []
    while True:
        people = [
            (os.urandom(16), random.randrange(2)) for _ in range(BATCH)
        ] + before[: random.choice([0, 0, 5, BATCH])]
        keys = np.frombuffer(b"".join(key for key, _ in people), np.uint8).reshape(
            -1, 16
        )
        made = Batch(entry.id, 0, 0, keys, np.array([code for _, code in people]))
        os.write(log, b'["began"]\n' * len(people))
        while True:
            try:
                await asyncio.to_thread(store.add_batch, made)
                break
            except StoreFailed:
                await asyncio.sleep(0.02)
        lines = [
            json.dumps([key.hex(), [(0, 0, code)], None, ""]) + "\n"
            for key, code in people
        ]
        os.write(log, "".join(lines).encode())
        before = people[:BATCH]
        await asyncio.sleep(0.01)


async def work(place: str, log: int) -> None:
    store, entry = patiently(place)
    with SubmissionWriter(store) as writer:
        people = [respondent(entry, writer, log) for _ in range(RESPONDENTS)]
        await asyncio.gather(device(entry, store, log), *people)


def patiently(place: str) -> tuple[Store, Entry]:
    """Open a store and find the survey; the database may still be recovering, or be killed at this very moment."""
    for _ in range(400):
        try:
            store = open_store(place)
            return store, store.survey("small")
        except StoreFailed:
            time.sleep(0.05)
    raise AssertionError("the database does not come back")


def start(place: str, log: Path) -> int:
    """Fork a program that writes what is acknowledged to a file."""
    process = os.fork()
    if process == 0:
        random.seed(os.urandom(8))
        file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            asyncio.run(work(place, file))
        except BaseException as error:
            os.write(file, json.dumps(["", [], None, repr(error)]).encode() + b"\n")
        finally:
            os._exit(1)
    return process


def run(place: str, kills: int) -> Seen:
    """Kill so many times, two programs at work at any time, and check everything that was acknowledged."""
    store = open_store(place)
    store.create(small())
    store.open("small")
    store.shut()
    seen = Seen()
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(number) for number in range(2)]
        programs = [start(place, log) for log in logs]
        while seen.kills < kills:
            victim = random.randrange(2)
            at_work(logs[victim])
            seen.kills += 1
            if place.startswith("postgresql:") and seen.kills % 5 == 0:
                seen.crashes += crash(place)
                continue
            stop(programs[victim])
            programs[victim] = start(place, logs[victim])
        for program in programs:
            stop(program)
        lines = [
            json.loads(line)
            for log in logs
            for line in log.read_text().split("\n")
            if line.endswith("]")
        ]
    seen.interrupted = lines.count(["began"]) - (len(lines) - lines.count(["began"]))
    compare(*patiently(place), [line for line in lines if line != ["began"]], seen)
    return seen


def run_apart(place: str, kills: int) -> Seen:
    """Run in a process of its own, which has no threads that a fork could catch at a bad moment."""
    command = [
        sys.executable,
        "-m",
        "tests.support.collector_kills",
        place,
        str(kills),
    ]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Seen(**json.loads(done.stdout))


def at_work(log: Path) -> None:
    """Wait until a program gets acknowledgements, and a random moment longer."""
    size = log.stat().st_size if log.exists() else 0
    end = time.monotonic() + PATIENCE
    while (log.stat().st_size if log.exists() else 0) < size + 20 * len(
        '["began"]\n'
    ) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(random.uniform(0, LONGEST))


def stop(program: int) -> None:
    os.kill(program, signal.SIGKILL)
    os.waitpid(program, 0)


def crash(place: str) -> int:
    """Kill a process of the database; all of it then recovers."""
    import psycopg

    try:
        with psycopg.connect(place, autocommit=True) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            found = connection.execute(query).fetchall()
    except psycopg.OperationalError:  # still recovering from the last time
        return 0
    for (pid,) in found[:1]:
        os.kill(pid, signal.SIGKILL)
    return len(found[:1])


def compare(
    store: Store, entry: Entry, lines: list[list[object]], seen: Seen
) -> None:
    """Look for what was acknowledged and is not there, and for what is counted twice or not at all."""
    seen.wrong += [str(line) for line in lines if line[3]]
    lines = [line for line in lines if not line[3]]
    kept = [
        (bytes.fromhex(str(key)), [Sent(*each) for each in part], group)
        for key, part, group, _ in lines
    ]
    seen.acknowledged = len(kept)
    for key, part, _ in kept:
        if missing := set(part) - set(store.stored(entry.id, key)):
            seen.wrong.append(
                f"{key.hex()}: {missing} was acknowledged and is not stored"
            )
    again = store.add(
        [Submission(entry.id, key, group, tuple(part)) for key, part, group in kept]
    )  # type: ignore[arg-type]
    if again != ["repeated"] * len(kept):
        seen.wrong.append(f"sent again: {Counter(map(str, again))}")
    for number, question in enumerate(entry.survey.questions):
        rows = [
            row
            for piece in store.export(entry.id, number)
            for row in piece.to_pylist()
        ]
        seen.stored += len(rows)
        expected = tuple(
            tally(each, [r["symbol"] for r in rows if r["design"] == each.hash])
            for each in question.designs
        )
        found = store.tallies(entry.id, number)
        if (found.seen if isinstance(found, StageTallies) else (found,)) != expected:
            seen.wrong.append(
                f"{question.name}: the counts are not those of the rows"
            )
        days = sum(responses for _, responses in store.days(entry.id, number))
        if days != len(rows):
            seen.wrong.append(
                f"{question.name}: {days} responses by day, {len(rows)} rows"
            )
    with store.transaction(write=False) as tables:
        if tables.damaged():
            seen.wrong.append("the database is damaged")
    store.shut()


if __name__ == "__main__":
    print(json.dumps(asdict(run(sys.argv[1], int(sys.argv[2])))))
