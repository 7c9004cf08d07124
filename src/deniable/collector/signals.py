"""What looks wrong about the responses to a question: did people follow the device, and is anything made up?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.audit import doubts
from deniable.audit.fabricated import RATE
from deniable.collector.store import Entry, Store
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies


@dataclass(frozen=True, slots=True)
class Signal:
    """A warning.

    Attributes:
        kind: "fabricated" for counts that no population gives through the device, "compliance" for shares below
            nobody or stages that differ.
        text: what was seen.
        rate: how often such a warning comes although all is well, at most.
    """

    kind: str
    text: str
    rate: float


def fabricated(
    store: Store, entry: Entry, question: int, counts: Tally | StageTallies, group: int | None
) -> tuple[Signal, ...]:
    """Return what looks fabricated, stage by stage; all stages together keep the rate of false alarms."""
    seen = counts.seen if isinstance(counts, StageTallies) else (counts,)
    found = []
    for stage, each in enumerate(seen):
        shapes = store.shapes(entry.id, question, stage, group)
        sizes = {int(ones): int(shapes[ones]) for ones in np.flatnonzero(shapes)} or None
        where = f"Stage {stage + 1}: " if len(seen) > 1 else ""
        found += [
            Signal("fabricated", f"{where}{capital(doubt.what)}", RATE)
            for doubt in doubts(each, sizes=sizes, rate=RATE / len(seen))
        ]
    return tuple(found)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter.

    Example:
        >>> capital("a set of 3 was sent")
        'A set of 3 was sent'
    """
    return text[:1].upper() + text[1:]
