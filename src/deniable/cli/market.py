"""`deniable release offer`, `consent`, `revoke` and `sell`: stages of an answer, for a price."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.common import Json, guarded, print_json, quiet_crashes, read_design, say
from deniable.cli.release import LedgerFile, Question

Buyer = Annotated[str, typer.Argument(metavar="BUYER", help="Who buys; '*' in a consent is anybody.")]


@guarded
def offer(
    path: LedgerFile,
    question: Question,
    stages: Annotated[list[Path], typer.Argument(metavar="DESIGN…", help="The stages, the coarsest first.")],
    prices: Annotated[str, typer.Option("--prices", metavar="P,P,…", help="A price for each stage, in their order.")],
    currency: Annotated[str, typer.Option("--currency", help="What prices are in.")] = "",
    as_json: Json = False,
) -> None:
    """Offer stages of a question at prices that leave no room for arbitrage; an upgrade costs the difference."""
    from deniable.order.relaxation import ladder
    from deniable.release.ledger import Ledger
    from deniable.release.market import Market, Prices

    listed = Prices(ladder(map(read_design, stages)), prices.split(","), currency=currency)
    with Ledger.open(path) as ledger:
        Market(ledger).offer(question, listed)
    say(f"{len(stages)} stages of {question!r} are on offer; whatever buyers put together is worth what the best holds")
    if as_json:
        print_json(listed.to_json(indent=2))


@guarded
def consent(
    path: LedgerFile,
    question: Question,
    buyer: Buyer,
    up_to: Annotated[int, typer.Option("--up-to", min=1, help="The finest stage that may be sold, counted from 1.")],
    purpose: Annotated[str, typer.Option("--purpose", help="What for; it goes into each receipt.")] = "",
) -> None:
    """Agree that stages up to one may be sold to a buyer."""
    from deniable.release.ledger import Ledger
    from deniable.release.market import Market

    with Ledger.open(path) as ledger:
        Market(ledger).consent(question, buyer, up_to=up_to - 1, purpose=purpose)
    say(f"stages of {question!r} up to {up_to} may be sold to {buyer!r}")


@guarded
def revoke(path: LedgerFile, question: Question, buyer: Buyer) -> None:
    """Take back a consent: nothing more is sold to this buyer, even where anybody else may buy.

    What was sold stays with the buyer.
    """
    from deniable.release.ledger import Ledger
    from deniable.release.market import Market

    with Ledger.open(path) as ledger:
        Market(ledger).revoke(question, buyer)
    say(f"nothing more of {question!r} is sold to {buyer!r}")


@quiet_crashes
@guarded
def sell(
    path: LedgerFile,
    question: Question,
    buyer: Buyer,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="The stage on offer, counted from 1.")],
    as_json: Json = False,
) -> None:
    """Sell a stage, or an upgrade to it: print the response for the buyer; --json adds the receipt and the price."""
    from deniable.release.ledger import Ledger
    from deniable.release.market import Market

    with Ledger.open(path) as ledger:
        sale = Market(ledger).sell(question, buyer, number - 1)
    if as_json:
        both = {"response": sale.response.to_json(), "receipt": sale.receipt.to_json()}
        print_json({**{name: json.loads(text) for name, text in both.items()}, "price": str(sale.price)})
        return
    typer.echo(sale.response.to_json())
    say(f"{buyer!r} owes {sale.price} {sale.receipt.details.get('currency', '')}".rstrip())
