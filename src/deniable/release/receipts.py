"""Budgets, and receipts for releases: holder, stage, question, and the ε by then.

Amounts are exact, as products of parities; the ε that is told is their logarithm, rounded up. No answer or response is
in a receipt.

Each names the hash of the one before. A file of them ends with a line that says how many there are and which is the
last, so that a line that was changed, left out, added, moved or cut off is found. It is not signed: whoever writes the
whole file anew can write another history, and only somebody who holds a receipt of the first one will know.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.documents import HashedDocument
from deniable.errors import (
    Incompatible,
    InvalidNumber,
    InvalidRequest,
    OverBudget,
    UnreadableFile,
    quoted,
)
from deniable.exact import Ratio
from deniable.rendering import formats

KINDS = ("release", "sale", "withdrawal")
"""What a receipt may be about."""

_TEXTS = ("ledger", "previous", "kind", "question", "design", "holder", "at")
_AMOUNTS = ("epsilon_before", "epsilon_after", "total_before", "total_after")

_MAX_EPSILON = 100_000  # its e^ε can still be written out


@dataclass(frozen=True, slots=True)
class Budget:
    """The ε that may be spent; None for no limit.

    Example:
        >>> Budget.from_number("1/2").check(Fraction(8, 5), "this question")
        >>> Budget.from_number("1/2").left(Fraction(3, 2))
        0.09453489189183562
    """

    epsilon: Fraction | None

    @classmethod
    def from_number(cls, number: exact.Rational | None) -> Budget:
        """Read a budget. A float is the larger of the decimal it shows and the binary number it holds.

        Why: 0.3 has to be enough for 0.1 and 0.2, and a certified ε has to be enough for its own design.

        Raises:
            InvalidNumber: negative, not finite, or so large that it is no limit.
        """
        if number is None:
            return cls(None)
        value = exact.non_negative_epsilon(number, name="the budget")
        if value > _MAX_EPSILON:
            raise InvalidNumber(
                f"the budget is {exact.text(number)}; expected at most {_MAX_EPSILON:,}.",
                "Leave it out for no limit.",
            )
        if isinstance(number, numbers.Real) and not isinstance(
            number, numbers.Rational
        ):
            value = max(value, exact.rational(number))
        return cls(value)

    @classmethod
    def read(cls, text: str | None) -> Budget:
        """Read what `written` wrote."""
        return cls(None if text is None else Fraction(text))

    @property
    def written(self) -> str | None:
        """The budget as text, exactly."""
        return None if self.epsilon is None else str(self.epsilon)

    @property
    def shown(self) -> float | None:
        """The budget as a float, for people; None for no limit."""
        return None if self.epsilon is None else float(self.epsilon)

    @property
    def limit(self) -> Ratio:
        """The largest product of parities that may be spent: e^ε, rounded down."""
        return math.inf if self.epsilon is None else exact.exp_below(self.epsilon)

    def left(self, spent: Ratio) -> float | None:
        """Return the ε that is left, rounded down and not negative; None for no limit."""
        if self.epsilon is None:
            return None
        gap = (
            Fraction(self.limit) / Fraction(spent)
            if spent != math.inf
            else Fraction(1)
        )
        return max(0.0, -exact.log_above(1 / gap))

    def check(self, needed: Ratio, subject: str) -> None:
        """Refuse to spend more than the budget; rationals are compared.

        Raises:
            OverBudget: it is more; the error says by how much.
        """
        if needed <= self.limit:
            return
        assert self.epsilon is not None
        allowed, needed_epsilon = float(self.epsilon), exact.log_above(needed)
        budget = formats.epsilon_at_least(allowed, 6)
        excess = (
            math.inf
            if needed == math.inf
            else exact.log_above(Fraction(needed) / Fraction(self.limit))
        )
        raise OverBudget(
            f"this release would spend ε = {formats.epsilon(needed_epsilon, 6)} in all on {subject}; expected at most "
            f"{budget}, which is {formats.number(excess, 3)} less. Nothing was released.",
            f"Ask for a coarser stage: at most ε = {budget} may be spent on {subject}.",
            needed=needed_epsilon,
            budget=allowed,
            excess=excess,
        )


def compose_parities(parities: Iterable[Ratio]) -> Ratio:
    """Return the parity of several questions together: the product, so that their ε add up.

    Example:
        >>> compose_parities([Fraction(3), Fraction(3, 2)]), compose_parities([])
        (Fraction(9, 2), Fraction(1, 1))
    """
    product = Fraction(1)
    for factor in parities:
        if factor == math.inf:
            return math.inf
        product *= Fraction(factor)
    return product


@dataclass(frozen=True, eq=False)
class Receipt(HashedDocument):
    """One entry of a ledger's history.

    Attributes:
        ledger: the ledger's own name, drawn at random.
        number: counted from 1.
        previous: the hash of the receipt before; of the first, a hash of the ledger's name.
        kind: "release", "sale" or "withdrawal".
        question: what it was about; empty for a withdrawal from all questions.
        design: the hash of the stage's design; empty for a withdrawal.
        holder: who was given the response; may be empty.
        at: when, in UTC.
        epsilon_before: spent on the question before, rounded up.
        epsilon_after: spent on the question now.
        total_before: spent on all questions before.
        total_after: spent on all questions now.
        details: further facts, such as a price.
    """

    SCHEMA: ClassVar[str] = "receipt"
    ledger: str
    number: int
    previous: str
    kind: str
    question: str
    design: str
    holder: str
    at: str
    epsilon_before: float
    epsilon_after: float
    total_before: float
    total_after: float
    details: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # One that cannot be read again would close its ledger for good.
        texts = (
            *(getattr(self, name) for name in _TEXTS),
            *self.details,
            *self.details.values(),
        )
        if not all(isinstance(text, str) for text in texts):
            raise InvalidRequest(
                "a name or another fact for the receipt is no text; expected text."
            )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Receipt:
        details = documents.field(body, "details", dict)
        texts = {name: documents.field(body, name, str) for name in _TEXTS}
        amounts = {name: _amount(body, name) for name in _AMOUNTS}
        detail_texts = {
            name: documents.field(details, name, str) for name in details
        }
        if texts["kind"] not in KINDS:
            raise UnreadableFile(
                f"the receipt is of kind {quoted(texts['kind'])}; expected one of {', '.join(KINDS)}."
            )
        fields: dict[str, Any] = {**texts, **amounts}
        return cls(
            number=documents.integer_field(body, "number"),
            details=detail_texts,
            **fields,
        )

    def to_body(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _TEXTS},
            "number": self.number,
            # As text, because JSON knows no infinity and its readers print floats differently.
            **{name: repr(float(getattr(self, name))) for name in _AMOUNTS},
            "details": dict(self.details),
        }


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a receipt, for programs that read receipts.

    Example:
        >>> schema()["properties"]["kind"]
        {'enum': ['release', 'sale', 'withdrawal']}
    """
    text, amount = (
        {"type": "string"},
        {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf)$"},
    )
    link = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
    properties: dict[str, Any] = {
        "schema": {"const": f"deniable/receipt/{documents.VERSION}"},
        **dict.fromkeys(_TEXTS, text),
        "previous": link,
        "kind": {"enum": list(KINDS)},
        "number": {"type": "integer", "minimum": 1},
        **dict.fromkeys(_AMOUNTS, amount),
        "details": {"type": "object", "additionalProperties": text},
        "hash": link,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A receipt of a ledger",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def first_link(ledger: str) -> str:
    """Return the link of the first receipt of a ledger to its predecessor."""
    return documents.digest(
        {"schema": f"deniable/ledger/{documents.VERSION}", "ledger": ledger}
    )


def verify(receipts: Sequence[Receipt], *, holding: Iterable[Receipt] = ()) -> None:
    """Check that receipts are one unbroken history from the first on, whose amounts follow from each other.

    Args:
        receipts: in order.
        holding: receipts that somebody was handed on the way; each must be among them.

    Raises:
        UnreadableFile: a receipt was changed, left out, added or moved.
        Incompatible: a receipt that somebody holds is not in this history.
    """
    spent: dict[str, float] = {}
    total = 0.0
    link = first_link(receipts[0].ledger) if receipts else ""
    for number, receipt in enumerate(receipts, start=1):
        if (
            receipt.ledger != receipts[0].ledger
            or receipt.number != number
            or receipt.previous != link
        ):
            raise UnreadableFile(
                f"receipt {number:,} does not follow the one before it; one was left out, added, moved or changed.",
                "Take the original file; a history cannot be repaired.",
            )
        _check_amounts(receipt, number, spent, total)
        spent[receipt.question], total, link = (
            receipt.epsilon_after,
            receipt.total_after,
            receipt.hash,
        )
    _check_held(receipts, holding)


def _check_amounts(
    receipt: Receipt, number: int, spent: Mapping[str, float], total: float
) -> None:
    before = spent.get(receipt.question, 0.0) if receipt.question else 0.0
    rises = (
        receipt.epsilon_after >= receipt.epsilon_before
        and receipt.total_after >= receipt.total_before
    )
    if (
        receipt.epsilon_before != before
        or receipt.total_before != total
        or not rises
    ):
        raise UnreadableFile(
            f"the amounts of receipt {number:,} do not follow from those before it."
        )


def _check_held(receipts: Sequence[Receipt], holding: Iterable[Receipt]) -> None:
    hashes = {receipt.hash for receipt in receipts}
    for held_receipt in holding:
        if held_receipt.hash not in hashes:
            raise Incompatible(
                f"receipt {held_receipt.number:,} of the ledger {held_receipt.ledger:.12} is not in this history; "
                "expected it to be.",
                "The history was written anew, or belongs to another ledger.",
            )


def write(receipts: Sequence[Receipt], ledger: str) -> str:
    """Return a history as lines of JSON, with a last line that closes it."""
    head = receipts[-1].hash if receipts else first_link(ledger)
    end = documents.seal(
        "receipts", {"ledger": ledger, "count": len(receipts), "head": head}
    )
    return "\n".join([*(receipt.to_json() for receipt in receipts), end]) + "\n"


def read(
    text: str | bytes, *, holding: Iterable[Receipt] = ()
) -> tuple[Receipt, ...]:
    """Read and verify a history.

    Raises:
        UnreadableFile: truncated, edited, or of another version.
        Incompatible: a receipt that somebody holds is not in this history.
    """
    lines = [line for line in _decode(text).split("\n") if line.strip()]
    if not lines or '"schema": "deniable/receipts/' not in lines[-1]:
        raise UnreadableFile(
            "the last line does not close this history; it was cut off.",
            "Write or download the whole file again.",
        )
    receipts = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            receipts.append(Receipt.from_json(line))
        except UnreadableFile as error:
            raise UnreadableFile(
                f"line {number:,}: {error.problem}", error.hint
            ) from None
    verify(receipts, holding=holding)
    end = documents.unseal("receipts", lines[-1])
    ledger = documents.field(end, "ledger", str)
    head = receipts[-1].hash if receipts else first_link(ledger)
    if receipts and receipts[0].ledger != ledger:
        raise UnreadableFile(
            "the last line closes the history of another ledger.",
            "Take the original file.",
        )
    _check_end(end, receipts, head)
    return tuple(receipts)


def _decode(text: str | bytes) -> str:
    try:
        return text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise UnreadableFile(
            "this is no text; expected a history.",
            "Take a file that `receipts` wrote.",
        ) from None


def _check_end(
    end: Mapping[str, Any], receipts: Sequence[Receipt], head: str
) -> None:
    if (
        documents.integer_field(end, "count") != len(receipts)
        or documents.field(end, "head", str) != head
    ):
        raise UnreadableFile(
            f"there are {len(receipts):,} receipts; the last line closes a history of "
            f"{documents.integer_field(end, 'count'):,}.",
            "Receipts were cut off or added; take the original file.",
        )


def _amount(body: Mapping[str, Any], name: str) -> float:
    try:
        value = float(documents.field(body, name, str))
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise UnreadableFile(
            f"the field {name!r} is not an ε; expected a number of 0 or more."
        )
    return value
