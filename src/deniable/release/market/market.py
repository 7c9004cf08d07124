"""Selling stages of an answer from a ledger: consent, price, receipt, withdrawal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.designs import Design
from deniable.documents import Response
from deniable.errors import InvalidRequest, NotAllowed
from deniable.release.chain import check_same
from deniable.release.ledger import Ledger, Withdrawal
from deniable.release.ledger.book import Book, Question
from deniable.release.ledger.history import parity
from deniable.release.ledger.kinds import read_design
from deniable.release.ledger.release import known, release
from deniable.release.market.coalition import worth
from deniable.release.market.prices import NOTHING, Prices
from deniable.release.receipts import Receipt

__all__ = ["ANYBODY", "Consent", "Market", "Sale"]

ANYBODY = "*"
"""Consent for every buyer."""


@dataclass(frozen=True)
class Consent:
    """What a respondent agreed to.

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
    them holds (`worth` goes through it when an offer is made); nothing is sold without consent, beyond a budget, or
    after a withdrawal; each sale has a receipt on the disk before the response is returned.

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

    def offer(self, question: str, prices: Prices) -> None:
        """Offer the stages of a question at these prices; a later offer takes the place of an earlier one.

        Raises:
            InvalidRequest: no such question, or stages that tell more together than the finest of them.
            Incompatible: the stages are about other categories.
        """
        for best in range(len(prices.ladder)):
            together = worth(prices.ladder, range(best + 1))
            if together.parity != together.alone or not together.same:
                raise InvalidRequest(f"the stages up to {best} tell more together than stage {best} alone.")
        with self._ledger.transaction() as book:
            row = known(book, question)
            check_same(read_design(book.design(row.about)), prices.ladder.designs[0])
            book.put_record("offer", row.id, "", prices.to_json())

    def prices(self, question: str) -> Prices:
        """Return what is offered.

        Raises:
            InvalidRequest: nothing is.
        """
        with self._ledger.transaction() as book:
            return _offered(book, known(book, question))

    def consent(self, question: str, buyer: str, *, up_to: int, purpose: str = "") -> None:
        """Agree that stages up to one may be sold to a buyer; "*" for anybody.

        Raises:
            InvalidRequest: no such question, offer or stage, or no buyer.
        """
        _check_named(buyer)
        with self._ledger.transaction() as book:
            row = known(book, question)
            offered = _offered(book, row).ladder
            if not 0 <= up_to < len(offered):
                raise InvalidRequest(f"there is no stage {up_to} on offer; expected 0 to {len(offered) - 1}.")
            _agree(book, row, Consent(question, buyer, offered.designs[up_to].parity, purpose))

    def revoke(self, question: str, buyer: str) -> None:
        """Take back a consent: nothing more is sold to this buyer, even where anybody else may buy.

        What was sold stays with the buyer.

        Raises:
            InvalidRequest: no such question, or no buyer.
        """
        _check_named(buyer)
        with self._ledger.transaction() as book:
            _agree(book, known(book, question), Consent(question, buyer, Fraction(1)))

    def sell(self, question: str, buyer: str, stage: int) -> Sale:
        """Sell a stage to a buyer, or an upgrade to who holds a coarser one.

        Raises:
            NotAllowed: the respondent has not agreed, or has withdrawn.
            OverBudget: it would spend more than the respondent allows; the error says by how much.
            InvalidRequest: no such question, offer or stage, or no buyer.
        """
        _check_named(buyer)  # what was released to nobody in particular is held by no buyer
        with self._ledger.transaction() as book:
            row = known(book, question)
            prices = _offered(book, row)
            design = prices.ladder.designs[stage] if 0 <= stage < len(prices.ladder) else None
            if design is None:
                raise InvalidRequest(f"there is no stage {stage} on offer; expected 0 to {len(prices.ladder) - 1}.")
            agreed = _agreed(book, row, buyer, design)
            held = _held(book, row, prices, buyer)
            price = prices.due(held, stage)
            details = {"price": str(price), "currency": prices.currency, "purpose": agreed.purpose}
            if held != NOTHING:
                details["from"] = prices.ladder.designs[held].hash
            again = book.receipts_of(row.id, design=design.hash, holder=buyer)
            released = release(book, question, design, buyer, kind="release" if again else "sale", details=details)
        return Sale(released.response, released.receipt, price, None if held == NOTHING else held)

    def holders(self, question: str) -> dict[str, int]:
        """Return the finest stage that each buyer holds."""
        with self._ledger.transaction() as book:
            row = known(book, question)
            prices = _offered(book, row)
            buyers = {Receipt.from_json(each).holder for each in book.receipts_of(row.id)}
            found = {buyer: _held(book, row, prices, buyer) for buyer in sorted(buyers)}
        return {buyer: stage for buyer, stage in found.items() if stage != NOTHING}

    def withdraw(self, question: str) -> Withdrawal:
        """Stop all further sales of a question; see `Ledger.withdraw` for what that undoes, and what it cannot undo."""
        return self._ledger.withdraw(question)


def _check_named(buyer: str) -> None:
    if not isinstance(buyer, str) or not buyer.strip():
        raise InvalidRequest("the buyer has no name; expected some text, or '*' for anybody.")


def _offered(book: Book, row: Question) -> Prices:
    text = book.record("offer", row.id, "")
    if text is None:
        raise InvalidRequest(f"nothing is on offer about {row.name!r:.60}; expected an offer.")
    return Prices.from_json(text)


def _agree(book: Book, row: Question, consent: Consent) -> None:
    body = {"parity": str(consent.parity), "purpose": consent.purpose}
    book.put_record("consent", row.id, consent.buyer, json.dumps(body))


def _agreed(book: Book, row: Question, buyer: str, design: Design) -> Consent:
    """Return the consent that covers a sale: the buyer's own, else that for anybody."""
    text = book.record("consent", row.id, buyer) or book.record("consent", row.id, ANYBODY)
    body = json.loads(text) if text else {"parity": "1", "purpose": ""}
    consent = Consent(row.name, buyer, parity(body["parity"]), body["purpose"])
    if buyer == ANYBODY or consent.parity == 1:
        raise NotAllowed(
            f"the respondent has not agreed to sell {row.name!r:.60} to {buyer!r:.60}. Nothing was released.",
            "Ask the respondent for consent first.",
        )
    if design.parity > consent.parity:
        raise NotAllowed(
            f"the respondent agreed to sell {row.name!r:.60} to {buyer!r:.60} up to ε = {consent.epsilon:.6g}, and "
            f"this stage has {design.epsilon:.6g}. Nothing was released.",
            "Ask the respondent for consent to more, or buy a coarser stage.",
        )
    return consent


def _held(book: Book, row: Question, prices: Prices, buyer: str) -> int:
    """Return the finest stage on offer that a buyer holds."""
    numbers = {design.hash: number for number, design in enumerate(prices.ladder)}
    owned = (Receipt.from_json(each).design for each in book.receipts_of(row.id, holder=buyer))
    return max((numbers.get(design, NOTHING) for design in owned), default=NOTHING)
