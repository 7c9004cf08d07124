"""What an audit found: a `Finding` for each check, and the `Audit` that holds them all.

"Consistent" is never a proof: it says that so many draws did not refute the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from deniable import documents
from deniable.documents import Document
from deniable.rendering import framed

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

__all__ = ["CONSISTENT", "FIT", "VIOLATED", "WORST_EVENT", "Audit", "Figure", "Finding"]

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
        """The events that were counted on draws held out: each in words, with its counts and its bound."""
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
