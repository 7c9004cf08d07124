"""Selling stages of an answer from a ledger: prices without arbitrage, consent, receipt, withdrawal.

Many buyers at chosen ε, upgrades later, and never more spent than the finest stage sold: what colluding buyers know
together is computed exactly, and equals what the best-informed one knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.channel import Channel
from deniable.designs import Design
from deniable.documents import HashedDocument, Response
from deniable.errors import (
    InvalidRequest,
    NotAllowed,
    UnreadableFile,
    quoted,
    require,
)
from deniable.order.ladders import Ladder, as_ladder
from deniable.order.steps import Step, possible_responses
from deniable.release.book import Book, QuestionRow, read_parity
from deniable.release.ledger import Ledger, Withdrawal, release
from deniable.release.receipts import Receipt
from deniable.release.stages import check_same
from deniable.rendering import formats

_MAX_HISTORIES = (
    100_000  # of responses, times answers, that are gone through: a second or two
)

Law = dict[tuple[int, ...], Sequence[Fraction]]
"""P(responses | answer), a row for each combination of responses, the coarsest first."""


@dataclass(frozen=True)
class CoalitionLoss:
    """Joint privacy loss of the responses that a coalition holds.

    Attributes:
        best: the finest stage among them.
        parity: of all their responses together.
        alone: the parity of the finest stage by itself.
        same: whether the belief of somebody who sees them all is, for every prior, that of who sees the finest alone.
        gone_through: whether every combination of responses was gone through. For designs too large for that, it
            follows from P₁ = C·P₂, which each step verified with the numbers that it draws with.
    """

    best: int
    parity: exact.Ratio
    alone: exact.Ratio
    same: bool
    gone_through: bool

    @property
    def epsilon(self) -> float:
        """The ε of all responses together, rounded up."""
        return exact.log_above(self.parity)


def coalition_loss(ladder: Ladder, stages: Iterable[int]) -> CoalitionLoss:
    """Return the joint privacy loss of colluding buyers who hold these stages of a ladder.

    Guarantee: computed from the law by which the responses are drawn, in exact numbers.

    Args:
        ladder: the stages that are sold.
        stages: the numbers of the stages that the coalition holds, counted from 0.

    Raises:
        InvalidRequest: no stage, or one that the ladder does not have.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> known = coalition_loss(ladder([warner(p="3/5"), warner(p="2/3"), warner(p="3/4")]), [0, 1])
        >>> known.parity, known.same
        (Fraction(2, 1), True)
    """
    stages_held = _read_held(ladder, stages)
    best = stages_held[-1]
    alone = ladder.designs[best].parity
    law = _joint_distribution(ladder, stages_held)
    if law is None:
        proved = all(step.verify() for step in ladder.steps[stages_held[0] : best])
        return CoalitionLoss(
            best,
            alone if proved else float("inf"),
            alone,
            proved,
            gone_through=False,
        )
    parity = max(exact.parity(row) for row in law.values())
    rows = _rows(ladder.designs[best].channel)
    same = all(_proportional(row, rows[history[-1]]) for history, row in law.items())
    return CoalitionLoss(best, parity, alone, same, gone_through=True)


def _read_held(ladder: Ladder, stages: Iterable[int]) -> list[int]:
    """Read the stages that buyers hold, in order."""
    require(
        as_ladder(ladder) is not None,
        ladder,
        "what is sold",
        "a ladder of stages, as dn.ladder() returns",
    )
    stage_numbers = list(stages) if isinstance(stages, Iterable) else [stages]
    require(
        all(isinstance(number, int) for number in stage_numbers),
        stages,
        "stages",
        "numbers of stages, counted from 0",
    )
    stages_held = sorted(set(stage_numbers))
    if not stages_held or not 0 <= stages_held[0] <= stages_held[-1] < len(ladder):
        raise InvalidRequest(
            f"the stages held are {stages_held}; expected some of 0 to {len(ladder) - 1}."
        )
    return stages_held


def _joint_distribution(ladder: Ladder, stages: list[int]) -> Law | None:
    """Write out the law of the responses held, from the finest downwards; None where it is too large."""
    finest = ladder.designs[stages[-1]].channel
    max_rows = _MAX_HISTORIES // finest.answers
    if finest.responses > max_rows:
        return None
    law: Law = {(r,): row for r, row in _rows(finest).items()}
    # The first response is that of the stage just reached; it stays if somebody holds it, else it is summed out.
    for number in reversed(range(stages[0], stages[-1])):
        step = ladder.steps[number]
        if (
            step.old.responses > max_rows
            or len(law) * len(possible_responses(step.old)) > max_rows
        ):
            return None
        law = _degrade_distribution(law, step, keep=number + 1 in stages)
    return law


def _degrade_distribution(law: Law, step: Step, *, keep: bool) -> Law:
    law_below: Law = {}
    shares = {
        new: [
            (old, share)
            for old in possible_responses(step.old)
            if (share := step.garbling(old, new))
        ]
        for new in {history[0] for history in law}
    }
    for history, row in law.items():
        for old, share in shares[history[0]]:
            key = (old, *(history if keep else history[1:]))
            joint = [share * p for p in row]
            law_below[key] = (
                joint
                if key not in law_below
                else [a + b for a, b in zip(law_below[key], joint, strict=True)]
            )
    return law_below


def _rows(channel: Channel) -> dict[int, Sequence[Fraction]]:
    return {r: row for r, row in enumerate(channel.dense().rows) if any(row)}


def _proportional(left: Sequence[Fraction], right: Sequence[Fraction]) -> bool:
    index = next(number for number, value in enumerate(right) if value)
    return bool(left[index]) and all(
        a * right[index] == b * left[index] for a, b in zip(left, right, strict=True)
    )


ANYBODY = "*"
"""Consent for every buyer."""

NOTHING = -1
"""The stage of who holds nothing yet."""


@dataclass(frozen=True, eq=False)
class Prices(HashedDocument):
    """A price for each stage of a ladder, and for each upgrade.

    No trade is cheaper by a detour: more costs no less; whoever holds more pays no more to come to the same stage; and
    no chain of purchases costs less than going there at once. Buyers who put together what they hold have what the best
    of them has (`market.coalition_loss`), so that there is nothing to be gained by that either.

    Attributes:
        ladder: the stages, the coarsest first.
        prices: of each stage, to somebody who holds nothing.
        upgrades: from a stage to a finer one; where it is not given, the difference of the two prices.
        currency: what prices are in.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder([warner(0.5), warner(1), warner(2)])
        >>> Prices(stages, ["1.50", 2, 5], currency="EUR").due(0, 2)
        Fraction(7, 2)
    """

    SCHEMA: ClassVar[str] = "prices"
    ladder: Ladder
    prices: Sequence[exact.Rational]
    upgrades: Mapping[tuple[int, int], exact.Rational] = field(default_factory=dict)
    currency: str = ""

    def __post_init__(self) -> None:
        if len(self.prices) != len(self.ladder):
            raise InvalidRequest(
                f"there are {len(self.prices)} prices for {len(self.ladder)} stages; expected one each."
            )
        prices = tuple(
            exact.rational(price, name="a price") for price in self.prices
        )
        upgrades = {
            pair: exact.rational(price, name="a price")
            for pair, price in self.upgrades.items()
        }
        for old, new in upgrades:
            if not 0 <= old < new < len(self.ladder):
                raise InvalidRequest(
                    f"there is no upgrade from stage {old} to stage {new}; expected a finer stage."
                )
        if min([*prices, *upgrades.values()]) < 0:
            raise InvalidRequest("a price is negative; expected 0 or more.")
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "upgrades", upgrades)
        for problem in self._detours():
            raise InvalidRequest(
                problem,
                "Raise or lower one of these prices; or leave upgrades to the difference.",
            )

    def due(self, stage_held: int, stage_wanted: int) -> Fraction:
        """Return the price of a stage for the holder of another (−1 for none); a coarser one costs nothing.

        Raises:
            InvalidRequest: there is no such stage.
        """
        if not NOTHING <= stage_held < len(
            self.ladder
        ) or not 0 <= stage_wanted < len(self.ladder):
            raise InvalidRequest(
                f"there is no stage {stage_wanted}; expected 0 to {len(self.ladder) - 1}."
            )
        if stage_wanted <= stage_held:
            return Fraction(0)
        price = Fraction(self.prices[stage_wanted])
        if stage_held == NOTHING:
            return price
        return Fraction(
            self.upgrades.get(
                (stage_held, stage_wanted), price - Fraction(self.prices[stage_held])
            )
        )

    def _detours(self) -> Iterator[str]:
        """Yield each trade that is cheaper by a detour."""
        stages = range(NOTHING, len(self.ladder))
        for stage_held, middle, last in (
            (a, b, c)
            for a in stages
            for b, c in combinations(range(a + 1, len(self.ladder)), 2)
        ):
            if self.due(stage_held, middle) > self.due(stage_held, last):
                yield (
                    f"from {_describe_stage(stage_held)}, stage {middle} costs {self.due(stage_held, middle)} and "
                    f"the finer stage {last} only {self.due(stage_held, last)}; expected prices that rise."
                )
        for stage_held, middle, last in combinations(stages, 3):
            at_once, detour = (
                self.due(stage_held, last),
                self.due(stage_held, middle) + self.due(middle, last),
            )
            if detour < at_once:
                yield (
                    f"from {_describe_stage(stage_held)}, stage {last} costs {at_once}, and by way of stage {middle} "
                    f"only {detour}; expected no detour to be cheaper."
                )
            if self.due(middle, last) > at_once:
                yield (
                    f"stage {last} costs {self.due(middle, last)} for who holds stage {middle}, and only {at_once} "
                    f"for who holds {_describe_stage(stage_held)}; expected that holding more never costs more."
                )

    def to_body(self) -> dict[str, Any]:
        """Return the price list for JSON, with its ladder: what a buyer is shown."""
        return {
            "ladder": self.ladder.to_body(),
            "prices": [str(price) for price in self.prices],
            "upgrades": [
                [old, new, str(price)]
                for (old, new), price in sorted(self.upgrades.items())
            ],
            "currency": self.currency,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Prices:
        ladder = Ladder.from_body(documents.field(body, "ladder", dict))
        try:
            upgrades = {
                (int(old), int(new)): str(price)
                for old, new, price in documents.field(body, "upgrades", list)
            }
        except (TypeError, ValueError):
            raise UnreadableFile(
                "the upgrades are not pairs of stages with a price."
            ) from None
        prices = [str(price) for price in documents.field(body, "prices", list)]
        return cls(ladder, prices, upgrades, documents.field(body, "currency", str))


def _describe_stage(stage_held: int) -> str:
    return "nothing" if stage_held == NOTHING else f"stage {stage_held}"


@dataclass(frozen=True)
class Consent:
    """Consent of a respondent to sales.

    Attributes:
        question: about which.
        buyer: with whom; "*" for anybody.
        parity: of the finest stage that may be sold, exactly; 1 where a consent was taken back. A later offer of other
            stages does not change what was agreed to.
        purpose: what for, in the respondent's or the buyer's words; it goes into each receipt.
    """

    question: str
    buyer: str
    parity: exact.Ratio
    purpose: str = ""

    @property
    def epsilon(self) -> float:
        """The ε of the finest stage that may be sold, rounded up."""
        return exact.log_above(self.parity)


@dataclass(frozen=True)
class Sale:
    """A stage that was sold.

    Attributes:
        response: what the buyer is given. Every buyer of this stage is given the same.
        receipt: for both sides.
        price: what is due.
        upgraded_from: the finest stage that the buyer held before; None for none.
    """

    response: Response
    receipt: Receipt
    price: Fraction
    upgraded_from: int | None


class Market:
    """A respondent's stall: what is offered, to whom, and what was sold. It keeps everything in the ledger.

    Guarantee: two buyers of one stage hold the same response; whatever buyers put together is worth what the best of
    them holds (`coalition_loss` goes through it when an offer is made); nothing is sold without consent, beyond a
    budget, or after a withdrawal; each sale has a receipt on the disk before the response is returned.

    Example:
        >>> import tempfile
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> ledger = Ledger.create(tempfile.mkdtemp() + "/mine.ledger", budget=2)
        >>> ledger.answer("smokes", "yes", about=warner(1))
        >>> market = Market(ledger)
        >>> market.offer("smokes", Prices(ladder([warner(1), warner(2)]), [3, 10]))
        >>> market.consent("smokes", "Anna", up_to=1)
        >>> market.sell("smokes", "Anna", 0).price, market.sell("smokes", "Anna", 1).price
        (Fraction(3, 1), Fraction(7, 1))
        >>> ledger.status().epsilon
        2.0
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __repr__(self) -> str:
        return f"Market({self._ledger!r})"

    def offer(self, question: str, prices: Prices) -> None:
        """Offer the stages of a question at these prices; a later offer takes the place of an earlier one.

        Raises:
            InvalidRequest: no such question, or stages that tell more together than the finest of them.
            Incompatible: the stages are about other categories.
        """
        for best in range(len(prices.ladder)):
            together = coalition_loss(prices.ladder, range(best + 1))
            if together.parity != together.alone or not together.same:
                raise InvalidRequest(
                    f"the stages up to {best} tell more together than stage {best} alone."
                )
        with self._ledger.transaction() as book:
            row = book.require_question(question)
            check_same(book.design(row.about), prices.ladder.designs[0])
            book.put_record("offer", row.id, "", prices.to_json())

    def prices(self, question: str) -> Prices:
        """Return the prices on offer.

        Raises:
            InvalidRequest: nothing is.
        """
        with self._ledger.transaction() as book:
            return _read_offer(book, book.require_question(question))

    def consent(
        self, question: str, buyer: str, *, up_to: int, purpose: str = ""
    ) -> None:
        """Consent to the sale of stages up to one to a buyer; "*" for all buyers.

        Raises:
            InvalidRequest: no such question, offer or stage, or no buyer.
        """
        _check_named(buyer)
        with self._ledger.transaction() as book:
            row = book.require_question(question)
            offered = _read_offer(book, row).ladder
            finest = _offered_design(offered, up_to)
            _agree(book, row, Consent(question, buyer, finest.parity, purpose))

    def revoke(self, question: str, buyer: str) -> None:
        """Revoke a consent: nothing more is sold to this buyer, even under a consent for all buyers.

        What was sold stays with the buyer.

        Raises:
            InvalidRequest: no such question, or no buyer.
        """
        _check_named(buyer)
        with self._ledger.transaction() as book:
            _agree(
                book,
                book.require_question(question),
                Consent(question, buyer, Fraction(1)),
            )

    def sell(self, question: str, buyer: str, stage: int) -> Sale:
        """Sell a stage to a buyer, or an upgrade to who holds a coarser one.

        Raises:
            NotAllowed: the respondent has not agreed, or has withdrawn.
            OverBudget: it would spend more than the respondent allows; the error says by how much.
            InvalidRequest: no such question, offer or stage, or no buyer.
        """
        # what was released to nobody in particular is held by no buyer
        _check_named(buyer)
        with self._ledger.transaction() as book:
            row = book.require_question(question)
            prices = _read_offer(book, row)
            design = _offered_design(prices.ladder, stage)
            agreed = _find_consent(book, row, buyer, design)
            stage_held = _finest_held(book, row, prices, buyer)
            price = prices.due(stage_held, stage)
            details = {
                "price": str(price),
                "currency": prices.currency,
                "purpose": agreed.purpose,
            }
            if stage_held != NOTHING:
                details["from"] = prices.ladder.designs[stage_held].hash
            again = book.receipts_of(row.id, design=design.hash, holder=buyer)
            released = release(
                book,
                question,
                design,
                buyer,
                kind="release" if again else "sale",
                details=details,
            )
        return Sale(
            released.response,
            released.receipt,
            price,
            None if stage_held == NOTHING else stage_held,
        )

    def holders(self, question: str) -> dict[str, int]:
        """Return the finest stage that each buyer holds."""
        with self._ledger.transaction() as book:
            row = book.require_question(question)
            prices = _read_offer(book, row)
            buyers = {receipt.holder for receipt in book.receipts_of(row.id)}
            stage_of_buyer = {
                buyer: _finest_held(book, row, prices, buyer)
                for buyer in sorted(buyers)
            }
        return {
            buyer: stage
            for buyer, stage in stage_of_buyer.items()
            if stage != NOTHING
        }

    def withdraw(self, question: str) -> Withdrawal:
        """Stop all further sales of a question; see `Ledger.withdraw` for what that undoes, and what it cannot undo."""
        return self._ledger.withdraw(question)


def _offered_design(ladder: Ladder, stage: int) -> Design:
    whole = isinstance(stage, int) and not isinstance(stage, bool)
    if not whole or not 0 <= stage < len(ladder):
        raise InvalidRequest(
            f"there is no stage {quoted(stage)} on offer; expected a whole number from 0 to {len(ladder) - 1}."
        )
    return ladder.designs[stage]


def _check_named(buyer: str) -> None:
    if not isinstance(buyer, str) or not buyer.strip():
        raise InvalidRequest(
            "the buyer has no name; expected some text, or '*' for anybody."
        )


def _read_offer(book: Book, row: QuestionRow) -> Prices:
    text = book.record("offer", row.id, "")
    if text is None:
        raise InvalidRequest(
            f"nothing is on offer about {quoted(row.name, 60)}; expected an offer."
        )
    return Prices.from_json(text)


def _agree(book: Book, row: QuestionRow, consent: Consent) -> None:
    body = {"parity": str(consent.parity), "purpose": consent.purpose}
    book.put_record("consent", row.id, consent.buyer, json.dumps(body))


def _find_consent(
    book: Book, row: QuestionRow, buyer: str, design: Design
) -> Consent:
    """Return the consent that covers a sale: the buyer's, else the one for all buyers."""
    text = book.record("consent", row.id, buyer) or book.record(
        "consent", row.id, ANYBODY
    )
    body = json.loads(text) if text else {"parity": "1", "purpose": ""}
    consent = Consent(row.name, buyer, read_parity(body["parity"]), body["purpose"])
    if buyer == ANYBODY or consent.parity == 1:
        raise NotAllowed(
            f"the respondent has not agreed to sell {quoted(row.name, 60)} to {quoted(buyer, 60)}. Nothing was "
            "released.",
            "Ask the respondent for consent first.",
        )
    if design.parity > consent.parity:
        raise NotAllowed(
            f"the respondent agreed to sell {quoted(row.name, 60)} to {quoted(buyer, 60)} up to "
            f"ε = {exact.text(consent.epsilon)}, and this stage has {formats.epsilon(design.epsilon, 6)}. Nothing "
            "was released.",
            "Ask the respondent for consent to more, or buy a coarser stage.",
        )
    return consent


def _finest_held(book: Book, row: QuestionRow, prices: Prices, buyer: str) -> int:
    """Return the finest stage on offer that a buyer holds."""
    numbers = {design.hash: number for number, design in enumerate(prices.ladder)}
    owned = (receipt.design for receipt in book.receipts_of(row.id, holder=buyer))
    return max((numbers.get(design, NOTHING) for design in owned), default=NOTHING)
