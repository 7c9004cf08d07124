"""A job that writes a folder of responses is killed, over and over: `python -m tests.support.file_kills FOLDER KILLS`

There are so many responses that one which is drawn again is another one. After each kill all that anybody could read is
read: a response that was seen once must be there at the end, as it was.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROWS = 24, 4000
OUT = "responses"

JOB = """
import sys
from pathlib import Path
from deniable import k_ary
from deniable.engines import Local, files
files.PART_ROWS = 5000  # one file, or a little more, is a part
folder = Path(sys.argv[1])
design, engine = k_ary(1 << 16, epsilon=1), Local(fast=False)
files.respond_file(design, folder / "answers", folder / "responses", column="x", keep=["id"], engine=engine)
"""


@dataclass
class Outcome:
    """What was seen, and what was wrong with it."""

    kills: int = 0
    interrupted: int = 0  # runs that were killed before they had ended
    seen: int = (
        0  # different responses that could be read at some time before the end
    )
    rows: int = 0
    wrong: list[str] = field(default_factory=list)


def prepare(folder: Path) -> None:
    (folder / "answers").mkdir()
    for number in range(FILES):
        ids = np.arange(number * ROWS, (number + 1) * ROWS)
        pq.write_table(
            pa.table({"id": ids, "x": (ids % (1 << 16)).astype(np.uint16)}),
            folder / f"answers/{number}.parquet",
        )


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", JOB, str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def published(folder: Path) -> dict[int, int]:
    """Return the response to each answer that anybody can read."""
    found: dict[int, int] = {}
    for path in sorted((folder / OUT).glob("*")) if (folder / OUT).exists() else []:
        table = pq.read_table(path, columns=["id", "response"])
        ids, sent = table["id"].to_pylist(), table["response"].to_pylist()
        for each, response in zip(ids, sent, strict=True):
            assert each not in found, f"{each} has two responses in the folder"
            found[each] = response
    return found


def run(folder: Path, kills: int) -> Outcome:
    """Kill the job at random moments, begin it again each time, and let it end at last; as often as it takes."""
    outcome, job = Outcome(), 0
    while outcome.kills < kills:
        job += 1
        place = folder / str(job)
        place.mkdir()
        prepare(place)
        _one(place, kills, outcome)
    return outcome


def _one(place: Path, kills: int, outcome: Outcome) -> None:
    seen: dict[int, int] = {}
    length = _seconds(place)
    while outcome.kills < kills:
        process = start(place)
        time.sleep(random.uniform(0.3, 1.0) * length)
        process.send_signal(signal.SIGKILL)
        process.wait()
        outcome.kills += 1
        outcome.interrupted += process.returncode == -signal.SIGKILL
        _compare(seen, published(place), outcome)
        if len(published(place)) == FILES * ROWS:
            break
    done = start(place)
    told = done.communicate()[1]
    if done.returncode:
        outcome.wrong.append(told.decode()[-400:])
    last = published(place)
    _compare(seen, last, outcome)
    outcome.seen += len(seen)
    outcome.rows += len(last)
    if sorted(last) != list(range(FILES * ROWS)):
        outcome.wrong.append(
            f"there are {len(last)} responses; expected {FILES * ROWS}"
        )
    if list((place / f"{OUT}.job").glob("*part*")) or list(place.glob(".*")):
        outcome.wrong.append("something half-written is left")


def _compare(seen: dict[int, int], now: dict[int, int], outcome: Outcome) -> None:
    outcome.wrong += [
        f"the response to {each} is gone" for each in seen if each not in now
    ]
    outcome.wrong += [
        f"{each} was drawn twice"
        for each, sent in now.items()
        if seen.get(each, sent) != sent
    ]
    seen.update(now)


def _seconds(place: Path) -> float:
    """Return how long a run that is not killed takes, here and now."""
    trial = place.parent / f"{place.name} trial"
    trial.mkdir()
    prepare(trial)
    began = time.perf_counter()
    assert start(trial).wait() == 0
    return time.perf_counter() - began


def run_apart(folder: Path, kills: int) -> Outcome:
    """Do the same in a program of its own; check that it was no idle exercise."""
    command = [sys.executable, "-m", __name__, str(folder), str(kills)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Outcome(**json.loads(done.stdout))


if __name__ == "__main__":
    random.seed(os.urandom(8))
    print(json.dumps(asdict(run(Path(sys.argv[1]), int(sys.argv[2])))))
