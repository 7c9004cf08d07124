"""What a ledger tells about itself. No answer is in it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from deniable import exact
from deniable.documents import Response
from deniable.errors import InvalidRequest
from deniable.release.receipts import Receipt

__all__ = ["Released", "Stage", "Standing", "Status", "Withdrawal", "finite"]


def finite(epsilon: float) -> float | None:
    """Return an ε for JSON, which knows no infinity: None where the answer is given away."""
    return None if epsilon == math.inf else epsilon


@dataclass(frozen=True)
class Released:
    """A response that may leave, with the receipt for it.

    Attributes:
        response: what is sent.
        receipt: what was spent.
        fresh: whether this stage is released for the first time; asking again gives the same response.
    """

    response: Response
    receipt: Receipt
    fresh: bool


@dataclass(frozen=True)
class Stage:
    """A stage of a question.

    Attributes:
        design: the hash of its design.
        epsilon: the ε of all stages up to it, rounded up.
        released: whether it is out; a planned stage is drawn before.
        symbol: the response, where it is out.
        holders: who was given it.
    """

    design: str
    epsilon: float
    released: bool
    symbol: str | None
    holders: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """How a question stands.

    Attributes:
        question: its name.
        stages: drawn so far, the coarsest first.
        parity: spent, exactly.
        budget: the ε that may be spent; None for no limit of its own.
        left: the ε that is left of it, rounded down; None for no limit.
        answer_kept: whether finer stages than these can still be drawn.
        withdrawn: when the respondent withdrew; None if not.
    """

    question: str
    stages: tuple[Stage, ...]
    parity: exact.Ratio
    budget: float | None
    left: float | None
    answer_kept: bool
    withdrawn: str | None

    @property
    def epsilon(self) -> float:
        """Spent, rounded up."""
        return exact.log_above(self.parity)

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "question": self.question,
            "spent": finite(self.epsilon),
            "budget": self.budget,
            "left": self.left,
            "answer_kept": self.answer_kept,
            "withdrawn": self.withdrawn,
            "stages": [{**asdict(each), "epsilon": finite(each.epsilon)} for each in self.stages],
        }


@dataclass(frozen=True)
class Status:
    """How a ledger stands.

    Attributes:
        ledger: its name, drawn at random.
        questions: how each question stands.
        parity: spent on all of them together, exactly: the product.
        budget: the ε that may be spent on all of them; None for no limit.
        left: the ε that is left of it, rounded down; None for no limit.
    """

    ledger: str
    questions: tuple[Standing, ...]
    parity: exact.Ratio
    budget: float | None
    left: float | None

    @property
    def epsilon(self) -> float:
        """Spent in all, rounded up."""
        return exact.log_above(self.parity)

    def question(self, name: str) -> Standing:
        """Return how one question stands.

        Raises:
            InvalidRequest: there is none of this name.
        """
        for each in self.questions:
            if each.question == name:
                return each
        raise InvalidRequest(f"there is no question {name!r:.60} in this ledger; expected one that was answered.")

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "ledger": self.ledger,
            "spent": finite(self.epsilon),
            "budget": self.budget,
            "left": self.left,
            "questions": [each.to_body() for each in self.questions],
        }


@dataclass(frozen=True)
class Withdrawal:
    """What a withdrawal stops, what it erased, and what it cannot undo.

    Attributes:
        questions: withdrawn now.
        out: for each stage that is out, the question, its ε and who holds it.
        receipt: the entry in the history.
    """

    questions: tuple[str, ...]
    out: tuple[tuple[str, float, tuple[str, ...]], ...]
    receipt: Receipt

    @property
    def told(self) -> str:
        """The withdrawal in words."""
        names = ", ".join(map(repr, self.questions)) or "no question"
        lines = [
            f"Withdrawn: {names}. Nothing more will be released, and the answers, all that was drawn and not released, "
            "and what draws are made from were erased from this ledger."
        ]
        for question, epsilon, holders in self.out:
            who = ", ".join(holder or "an unnamed holder" for holder in holders)
            lines.append(
                f"Cannot be undone: a response to {question!r} at ε = {epsilon:.6g} is with {who}. Whoever has it "
                "keeps what it says, and may have passed it on or counted it already."
            )
        if not self.out:
            lines.append("Nothing was out.")
        return "\n".join(lines)
