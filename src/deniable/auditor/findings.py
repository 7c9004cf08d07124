"""What a check is given, the `Finding` that it returns, and the `Audit` that holds all findings.

"Consistent" is never a proof: it says that so many draws did not refute the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.auditor.mechanisms import Mechanism
from deniable.chance import SYSTEM, Source
from deniable.designs import AnyDesign
from deniable.documents import Document
from deniable.errors import quoted
from deniable.rendering import framed

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture


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

    @property
    def asks_freely(self) -> bool:
        """Whether the mechanism draws whenever it is asked; a fixed sample does not."""
        return not hasattr(self.mechanism, "left")

    def answer_text(self, number: int) -> str:
        """Return an answer as one of all that were asked about; whose it was, in a file of pairs, is not told."""
        return quoted(self.answers[number])

    def draw(self, numbers: NDArray[np.int64]) -> Sequence[Any]:
        """Ask for responses to answers that are given by their number."""
        quick = getattr(self.mechanism, "draw", None)
        if quick is not None:
            responses: Sequence[Any] = quick(self.answers, numbers)
            return responses
        return self.mechanism.responses([self.answers[n] for n in numbers.tolist()])


VIOLATED, CONSISTENT = "violated", "consistent"
WORST_EVENT = "worst event"
"""The check that bounds ε and δ."""

FIT = "goodness of fit"

Figure: TypeAlias = Any
"""A finite number, a text or None; or a list of mappings of these."""


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        check: which one, as the table of checks calls it.
        verdict: "violated" or "consistent".
        sentence: what was seen, in words, the figures in it.
        figures: the same for programs, by name; finite numbers, text, None, or lists of mappings of these.
            `draws` says how many responses the check asked for.
    """

    check: str
    verdict: str
    sentence: str
    figures: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def violated(self) -> bool:
        """Whether what was claimed, or what every mechanism must keep, does not hold."""
        return self.verdict == VIOLATED

    def to_body(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "check": self.check,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "figures": dict(self.figures),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Finding:
        """Read what `to_body` wrote."""
        check, verdict, sentence = (
            documents.field(body, name, str)
            for name in ("check", "verdict", "sentence")
        )
        return cls(check, verdict, sentence, documents.field(body, "figures", dict))


Check: TypeAlias = Callable[[CheckContext], Finding | None]
"""A check returns what it found, or None where it has nothing to look at: no claim, or a mechanism that cannot draw."""


@dataclass(frozen=True)
class Audit(Document):
    """What was found out about a mechanism from outside.

    Guarantee: a mechanism that keeps what it claims is called violated with probability 1 − `level` at most, all
    checks taken together.

    Attributes:
        mechanism: what was looked at, by its name.
        epsilon: the ε that was claimed; None where nothing was.
        delta: the δ that was claimed beside it.
        level: the confidence of the whole.
        draws: how many responses were asked for.
        findings: what each check found.
    """

    SCHEMA: ClassVar[str] = "audit"
    mechanism: str
    epsilon: float | None
    delta: float
    level: float
    draws: int
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "violated" where any check says so; otherwise "consistent", which is no proof."""
        return (
            VIOLATED
            if any(finding.violated for finding in self.findings)
            else CONSISTENT
        )

    @property
    def epsilon_at_least(self) -> float:
        """The lower bound on ε, at the δ that was claimed; 0 where it was not looked for."""
        return float(self._worst.get("epsilon_at_least") or 0.0)

    @property
    def delta_at_least(self) -> float:
        """The lower bound on δ, at the ε that was claimed; 0 where nothing was."""
        return float(self._worst.get("delta_at_least") or 0.0)

    @property
    def witness(self) -> str:
        """The event behind the bound on ε, in words."""
        return str(self._worst.get("witness") or "")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the worst finding, counted on draws held out: each in words, with its counts and its bound."""
        return list(self._worst.get("events") or [])

    @property
    def draws_needed(self) -> int | None:
        """How many draws would refute the claim, if frequencies stay as seen; None where none would."""
        needed = self._worst.get("draws_needed")
        return None if needed is None else int(needed)

    @property
    def _worst(self) -> Mapping[str, Figure]:
        return next(
            (
                finding.figures
                for finding in self.findings
                if finding.check == WORST_EVENT
            ),
            {},
        )

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        from deniable.auditor.report_pages import text

        return text(self)

    def to_text(self) -> str:
        """Return it as plain text: the verdict first, then the witness, then every finding."""
        return str(self)

    def to_html(self) -> str:
        """Return it as one page with a picture, without a script and without anything from elsewhere."""
        from deniable.auditor.report_pages import page

        return page(self)

    def plot(self, *, title: str = "", dark: bool = False) -> Picture:
        """Draw how far each event bounds ε, against what was claimed.

        Args:
            title: of the picture; by default the verdict.
            dark: light on dark, for slides and dark pages.
        """
        from deniable.auditor.report_pages import figure

        return figure(self, title=title, dark=dark)

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def to_body(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "level": self.level,
            "draws": self.draws,
            "verdict": self.verdict,
            "findings": [finding.to_body() for finding in self.findings],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        epsilon = body.get("epsilon")
        return cls(
            documents.field(body, "mechanism", str),
            None
            if epsilon is None
            else float(documents.field(body, "epsilon", int, float)),
            float(documents.field(body, "delta", int, float)),
            float(documents.field(body, "level", int, float)),
            documents.integer_field(body, "draws"),
            tuple(
                Finding.from_body(entry)
                for entry in documents.field(body, "findings", list)
            ),
        )
