"""Two programs release stages, and are killed: `python -m tests.support.kills PLACE KILLS`

PLACE is the file of a ledger, a file that ends in .db for a panel, or the address of a Postgres database for one. Each
writer takes a question (in a panel, a respondent) and a stage at random, releases it, and writes what came out into a
pipe: from then on it has left. Writers are killed (SIGKILL) at random moments and started again. At the end all that
has left is compared.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Protocol

from deniable.designs import Design
from deniable.exact import log_above
from deniable.order.relaxation import ladder
from deniable.release import receipts
from deniable.release.ledger import Ledger, Status
from deniable.release.panel import Panel
from tests.support import ladders
from tests.support.ladders import COLOURS

QUESTIONS = 80
LIVES = 8  # releases for which a writer has time, at most, before it is killed
PARITIES = [Fraction(12 + 3 * each, 10) for each in range(30)]


@dataclass
class Outcome:
    """What was seen, and what was wrong with it."""

    kills: int = 0
    left: int = 0  # responses that were written into the pipe
    stages: int = 0  # different stages among them
    interrupted: int = 0  # writers that were killed in the middle of a release
    wrong: list[str] = field(default_factory=list)


class Target(Protocol):
    """What is released from, once open."""

    def release(self, number: int, design: Design, to: str) -> tuple[str, str]:
        """Return the symbol and the hash of the receipt."""
        ...

    def recorded(self, number: int, design: Design) -> list[str | None]:
        """Return what is recorded as out."""
        ...

    def spent(self, number: int) -> float:
        """Return the ε that is counted."""
        ...

    def receipts(self) -> set[str]:
        """Return the hashes of all receipts."""
        ...

    def check(self) -> None:
        """Raise where something is wrong."""
        ...


class OfLedger:
    """Questions of one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def release(self, number: int, design: Design, to: str) -> tuple[str, str]:
        released = self.ledger.release(f"q{number}", design, to=to)
        return released.response.symbol, released.receipt.hash

    def recorded(self, number: int, design: Design) -> list[str | None]:
        stages = self.status.question(f"q{number}").stages
        return [
            each.symbol
            for each in stages
            if each.design == design.hash and each.released
        ]

    def spent(self, number: int) -> float:
        return self.status.question(f"q{number}").epsilon

    @cached_property
    def status(self) -> Status:
        return self.ledger.status()

    def receipts(self) -> set[str]:
        return {receipt.hash for receipt in self.ledger.receipts()}

    def check(self) -> None:
        self.ledger.check()


class OfPanel:
    """Respondents of one panel."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel

    def release(self, number: int, design: Design, to: str) -> tuple[str, str]:
        released = self.panel.release(
            "colour", design, respondents=[f"p{number}"], to=to
        )
        return released.symbols[0], released.receipt.hash

    def recorded(self, number: int, design: Design) -> list[str | None]:
        return [
            self.panel.release("colour", design, respondents=[f"p{number}"]).symbols[
                0
            ]
        ]

    def spent(self, number: int) -> float:
        with self.panel.transaction(write=False) as book:
            question = book.require_question("colour").id
            place = book.reached([f"p{number}"])[f"p{number}"][question]
            return log_above(Fraction(book.stages(question)[place].parity))

    def receipts(self) -> set[str]:
        return {receipt.hash for receipt in self.panel.receipts()}

    def check(self) -> None:
        receipts.read(self.panel.history())
        self.panel.check()


@contextmanager
def opened(place: str) -> Iterator[Target]:
    if is_panel(place):
        with Panel.open(place) as panel:
            yield OfPanel(panel)
    else:
        with Ledger.open(place) as ledger:
            yield OfLedger(ledger)


def is_panel(place: str) -> bool:
    return place.startswith("postgresql:") or place.endswith(".db")


def stages() -> list[Design]:
    return [ladders.stage(parity) for parity in PARITIES]


def prepare(place: str) -> None:
    """Enter the answers: of a ledger, every third question is planned."""
    designs = stages()
    if is_panel(place):
        with Panel.create(place) as panel:
            people = {
                f"p{number}": random.choice(COLOURS) for number in range(QUESTIONS)
            }
            panel.answer("colour", people, designs[0])
        return
    with Ledger.create(place) as ledger:
        for number in range(QUESTIONS):
            about = ladder(designs) if number % 3 == 0 else designs[0]
            ledger.answer(f"q{number}", random.choice(COLOURS), about)


def writer(place: str, pipe: int) -> None:
    """Release stages until killed; what is written to the pipe has left."""
    designs, chance = stages(), random.Random(os.urandom(8))
    with opened(place) as target:
        while True:
            number, stage = (
                chance.randrange(QUESTIONS),
                chance.randrange(len(designs)),
            )
            os.write(pipe, b'["began"]\n')
            symbol, receipt = target.release(
                number, designs[stage], str(chance.randrange(3))
            )
            os.write(
                pipe, json.dumps([number, stage, symbol, receipt]).encode() + b"\n"
            )


def seconds(place: str) -> float:
    """Return how long it takes here and now to open and to release; a machine may be busy with other things."""
    designs = stages()
    began = time.perf_counter()
    for number in range(5):
        with opened(place) as target:
            target.release(number, designs[number], "")
    return (time.perf_counter() - began) / 5


def start(place: str) -> tuple[int, int]:
    """Fork a writer; return its process and the end of its pipe."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        try:
            writer(place, write)
        except BaseException as error:
            os.write(write, json.dumps(["failed", repr(error)]).encode() + b"\n")
        finally:
            os._exit(1)
    os.close(write)
    return process, read


def drain(pipe: int) -> list[list[object]]:
    """Return all whole lines that were written before the writer died."""
    pieces = []
    while select.select([pipe], [], [], 5)[0] and (piece := os.read(pipe, 1 << 16)):
        pieces.append(piece)
    os.close(pipe)
    return [json.loads(line) for line in b"".join(pieces).split(b"\n")[:-1]]


def run(place: str, kills: int, lives: int = LIVES) -> Outcome:
    """Kill writers so many times, two of them at work at any time, and check everything that has left."""
    outcome, left = Outcome(), list[list[object]]()
    prepare(place)
    longest = lives * seconds(place)
    writers = [start(place), start(place)]
    while outcome.kills < kills:
        time.sleep(random.uniform(0, longest))
        victims = [random.randrange(2)] if outcome.kills % 5 else [0, 1]
        for victim in victims:
            process, pipe = writers[victim]
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            outcome.kills += 1
            lines = drain(pipe)
            outcome.interrupted += bool(lines) and lines[-1] == ["began"]
            left += lines
            writers[victim] = start(place)
    for process, pipe in writers:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        left += drain(pipe)
    compare(place, [line for line in left if line != ["began"]], outcome)
    return outcome


def run_apart(place: str, kills: int) -> Outcome:
    """Do the same in a program of its own, because it forks; check that it was no idle exercise."""
    command = [sys.executable, "-m", __name__, place, str(kills)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = Outcome(**json.loads(done.stdout))
    assert seen.kills >= kills
    assert seen.interrupted >= kills // 8, (
        "hardly any writer was killed while it released"
    )
    assert seen.left >= kills // 2, "hardly anything was released"
    return seen


def compare(place: str, left: Sequence[Sequence[object]], outcome: Outcome) -> None:
    """Look for a stage with two responses, a response or an ε that is not recorded, and damage."""
    designs = stages()
    outcome.wrong += [str(line) for line in left if line[0] == "failed"]
    seen: dict[tuple[int, int], set[object]] = {}
    handed: set[object] = set()
    for number, stage, symbol, receipt in (
        line for line in left if line[0] != "failed"
    ):
        seen.setdefault((int(str(number)), int(str(stage))), set()).add(symbol)
        handed.add(receipt)
    outcome.left, outcome.stages = len(left), len(seen)
    outcome.wrong += [
        f"{key} left with {sorted(map(str, found))}"
        for key, found in seen.items()
        if len(found) > 1
    ]
    with opened(place) as target:
        try:
            target.check()
        except Exception as error:
            outcome.wrong.append(f"check: {error}")
        outcome.wrong += [
            f"no receipt {each}" for each in handed - target.receipts()
        ]
        spent = {
            number: target.spent(number) for number in {number for number, _ in seen}
        }
        for (number, stage), found in seen.items():
            if spent[number] < log_above(designs[stage].parity):
                outcome.wrong.append(f"{number}, stage {stage}: ε is not counted")
            recorded = target.recorded(number, designs[stage])
            if recorded != [next(iter(found))]:
                outcome.wrong.append(
                    f"{number}, stage {stage}: {found} left, {recorded} is recorded"
                )


if __name__ == "__main__":
    print(json.dumps(asdict(run(sys.argv[1], int(sys.argv[2])))))
