"""What a check is given: the mechanism, what it claims, and how much may be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.auditor.findings import Finding
from deniable.auditor.mechanisms import Mechanism, draw
from deniable.chance import SYSTEM, Source
from deniable.designs import AnyDesign
from deniable.errors import quoted

__all__ = ["Check", "CheckContext", "Progress"]

Progress: TypeAlias = Callable[[str, float], None]
"""Told which check runs, and which share of it is done."""


def _ignore_progress(check: str, share: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class CheckContext:
    """What a check is given.

    Attributes:
        mechanism: what is looked at.
        answers: which answers it is asked about, at least two.
        epsilon: the ε that is claimed; None where nothing is.
        delta: the δ that is claimed beside it.
        claimed: the design that it claims to be, if it does.
        draws: how many responses this check may ask for.
        false_alarm: how often this check may call a mechanism violated that keeps its claim.
        source: random bytes for the auditor's own choices: in which order answers are asked. Not for the mechanism.
        progress: told how far the check is.
    """

    mechanism: Mechanism
    answers: tuple[object, ...]
    epsilon: float | None = None
    delta: float = 0.0
    claimed: AnyDesign | None = None
    draws: int = 100_000
    false_alarm: float = 1e-4
    source: Source = SYSTEM
    progress: Progress = field(default=_ignore_progress, repr=False)

    def generator(self) -> np.random.Generator:
        """Return a generator for the order in which answers are asked."""
        return np.random.default_rng(int.from_bytes(self.source.read(16), "little"))

    def draw(self, which: NDArray[np.int64]) -> Any:
        """Ask for responses to answers that are given by their number."""
        return draw(self.mechanism, self.answers, which)

    def at(self, **changes: Any) -> CheckContext:
        """Return the same with other settings."""
        return replace(self, **changes)


Check: TypeAlias = Callable[[CheckContext], Finding | None]
"""A check returns what it found, or None where it has nothing to look at: no claim, or a mechanism that cannot draw."""


def answers_shown(answers: Sequence[object], at: int) -> str:
    """Return an answer as one of all that were asked about; whose it was, in a file of pairs, is not told."""
    return quoted(answers[at])
