"""`deniable release`: answers given out in stages, from a ledger on the respondent's own machine."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.common import (
    OutputFile,
    command_list,
    console,
    echo,
    print_json,
    say,
)
from deniable.cli.reading import read_design
from deniable.errors import Incompatible, InvalidRequest
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from deniable.release.ledger import Ledger, finite
from deniable.release.market import Market, Prices
from deniable.release.receipts import Receipt
from deniable.release.receipts import read as read_receipts
from deniable.rendering import Sheet, formats
from deniable.rendering.terminal import to_rich
from deniable.types.strings.design import CohortDesign

if TYPE_CHECKING:
    from deniable.documents import HashedDocument, Response
    from deniable.release.book import Staged
    from deniable.release.ledger import Standing


app = command_list(
    "Give out an answer in stages, and never pay twice: a ledger keeps what is out and what it cost."
)


@app.add
def open_(path: Path, *, budget: str | None = None, as_json: bool = False) -> None:
    """Make a new ledger, with a budget for all questions together if one is given.

    The file will hold your answers. It is readable for you alone, and it is not encrypted.

    Args:
        budget (ε): the most that may be spent.
    """
    with Ledger.create(path, budget=budget) as ledger:
        status = ledger.status()
    say(
        f"made {path}; nothing is out, and {_limit(status.budget)} may be spent in all"
    )
    if as_json:
        print_json(
            {"path": str(path), "ledger": status.ledger, "budget": status.budget}
        )


@app.add_quiet
def answer(
    path: Path,
    question: str,
    about: list[Path],
    *,
    budget: str | None = None,
    keep: bool = False,
    as_json: bool = False,
) -> None:
    """Enter your answer: it is read from stdin, or asked for without showing it. Nothing is released by that.

    With one design, stages come as they are asked for. With a ladder or with several designs, all stages are drawn at
    once, and the answer itself is not stored.

    Args:
        about (DESIGN…): a design that knows the categories; or a ladder, or the designs of all stages, the coarsest
            first.
        budget (ε): the most that may be spent.
        keep: for a planned question: keep the answer, for stages beyond the plan.
    """
    subject = _read_about(about)
    with Ledger.open(path) as ledger:
        ledger.answer(question, _read_answer(), subject, budget=budget, keep=keep)
    planned = len(getattr(subject, "designs", ()))  # of a ladder
    say(
        f"answered {question!r}: "
        + (
            f"{planned} stages are drawn"
            if planned
            else "stages come as they are asked for"
        )
    )
    if as_json:
        print_json({"question": question, "planned": planned})


@app.add_quiet
def stage(
    path: Path,
    question: str,
    design: Path | None = None,
    *,
    number: int | None = None,
    to: str = "",
    as_json: bool = False,
) -> None:
    """Release a stage: print the response that may leave, as a line of JSON that names its design.

    Without DESIGN and --number it is the next planned stage. A stage that is out already is printed again as it is.

    Args:
        design: the design of the stage.
        number (1…): a stage that is drawn, counted from 1, the coarsest.
        to (NAME): who is given it, for the receipt.
    """
    if design is not None and number is not None:
        raise InvalidRequest("expected a design or --number, not both.")
    requested = (
        _read_staged(design)
        if design is not None
        else None
        if number is None
        else number - 1
    )
    with Ledger.open(path) as ledger:
        released = ledger.release(question, requested, to=to)
    receipt, fresh = released.receipt, {"fresh": released.fresh}
    spent, total = (
        formats.epsilon(epsilon, 6)
        for epsilon in (receipt.epsilon_after, receipt.total_after)
    )
    message = f"ε = {spent} is spent on {receipt.question!r}, {total} in all"
    if not released.fresh:
        message = f"released before; {message}"
    _print_release(released.response, receipt, fresh, message, as_json=as_json)


@app.add
def show(path: Path, *, as_json: bool = False) -> None:
    """Show what is out, what was spent, and what is left. Answers are not shown."""
    with Ledger.open(path) as ledger:
        status = ledger.status()
    if as_json:
        print_json(status.to_body())
        return
    lines = [
        (
            standing.question,
            formats.epsilon(standing.epsilon, 6),
            _limit(_smallest_remaining_budget(standing.left, status.left)),
            _stages(standing),
            _holders(standing),
        )
        for standing in status.questions
    ]
    lines.append(
        (
            "all together",
            formats.epsilon(status.epsilon, 6),
            _limit(status.left),
            "",
            "",
        )
    )
    heads = ("question", "ε spent", "ε left", "ε of its stages", "given to")
    sheet = Sheet(f"ledger {status.ledger[:12]}", heads, tuple(lines))
    console().print(to_rich(sheet, has_total=True))


@app.add
def receipts(path: Path, *, target: OutputFile) -> None:
    """Print the history: a line of JSON for each release, sale and withdrawal, and a last line that closes it.

    Args:
        out: write them to this file.
    """
    with Ledger.open(path) as ledger:
        text = ledger.history()
    target.print_or_write(text.rstrip("\n"))


@app.add
def verify(
    history: Path,
    *,
    ledger: Path | None = None,
    holding: list[Path] | None = None,
    as_json: bool = False,
) -> None:
    """Check a history: nothing was changed, left out, added, moved or cut off.

    Args:
        history (FILE): a history, as `receipts` wrote it.
        ledger (LEDGER): it must be the whole history of this ledger.
        holding: a receipt that must be in it. May be repeated.
    """
    expected = [Receipt.from_json(path.read_bytes()) for path in holding or ()]
    receipts = read_receipts(history.read_bytes(), holding=expected)
    if ledger is not None:
        _compare(ledger, history)
    spent = receipts[-1].total_after if receipts else 0.0
    say(
        f"{history}: {len(receipts)} receipts, whole and in order; ε = {formats.epsilon(spent, 6)} was spent in all"
    )
    if as_json:
        print_json(
            {
                "receipts": len(receipts),
                "total": finite(spent),
                "ledger": receipts[0].ledger if receipts else None,
            }
        )


@app.add
def forget(path: Path, question: str) -> None:
    """Erase an answer: only stages that are drawn, and coarser ones, can be released after that."""
    with Ledger.open(path) as ledger:
        ledger.forget(question)
    say(f"the answer to {question!r} was erased")


@app.add
def withdraw(
    path: Path, question: str | None = None, *, as_json: bool = False
) -> None:
    """Stop all further releases, erase what is not out, and say what cannot be undone.

    Args:
        question: one question; all of them, if none is named.
    """
    with Ledger.open(path) as ledger:
        withdrawal = ledger.withdraw(question)
    if as_json:
        out = [
            {"question": name, "epsilon": finite(cost), "holders": list(who)}
            for name, cost, who in withdrawal.out
        ]
        print_json(
            {"questions": list(withdrawal.questions), "cannot_be_undone": out}
        )
    else:
        echo(withdrawal.told)


def _read_answer() -> str:
    """Read the answer from stdin or without an echo: an argument could be seen by others on the machine."""
    if sys.stdin.isatty():
        return str(
            typer.prompt(
                "Your answer", hide_input=True, prompt_suffix=": ", err=True
            )
        )
    return sys.stdin.readline().rstrip("\r\n")


@app.add
def offer(
    path: Path,
    question: str,
    stages: list[Path],
    *,
    prices: str,
    currency: str = "",
    as_json: bool = False,
) -> None:
    """Offer stages of a question at prices that leave no room for arbitrage; an upgrade costs the difference.

    Args:
        stages (DESIGN…): the stages, the coarsest first.
        prices (P,P,…): a price for each stage, in their order.
        currency: what prices are in.
    """
    listed = Prices(
        ladder(map(read_design, stages)), prices.split(","), currency=currency
    )
    with Ledger.open(path) as ledger:
        Market(ledger).offer(question, listed)
    say(
        f"{len(stages)} stages of {question!r} are on offer; whatever buyers put together is worth what the best holds"
    )
    if as_json:
        print_json(listed.to_json(indent=2))


@app.add
def consent(
    path: Path, question: str, buyer: str, *, up_to: int, purpose: str = ""
) -> None:
    """Agree that stages up to one may be sold to a buyer.

    Args:
        up_to (1…): the finest stage that may be sold, counted from 1.
        purpose: what for; it goes into each receipt.
    """
    with Ledger.open(path) as ledger:
        Market(ledger).consent(question, buyer, up_to=up_to - 1, purpose=purpose)
    say(f"stages of {question!r} up to {up_to} may be sold to {buyer!r}")


@app.add
def revoke(path: Path, question: str, buyer: str) -> None:
    """Take back a consent: nothing more is sold to this buyer, even where anybody else may buy.

    What was sold stays with the buyer."""
    with Ledger.open(path) as ledger:
        Market(ledger).revoke(question, buyer)
    say(f"nothing more of {question!r} is sold to {buyer!r}")


@app.add_quiet
def sell(
    path: Path, question: str, buyer: str, *, number: int, as_json: bool = False
) -> None:
    """Sell a stage, or an upgrade to it: print the response for the buyer; --json adds the receipt and the price.

    Args:
        number (1…): the stage on offer, counted from 1.
    """
    with Ledger.open(path) as ledger:
        sale = Market(ledger).sell(question, buyer, number - 1)
    owed = f"{sale.price} {sale.receipt.details.get('currency', '')}".rstrip()
    price = {"price": str(sale.price)}
    message = f"{buyer!r} owes {owed}"
    _print_release(sale.response, sale.receipt, price, message, as_json=as_json)


def _read_about(paths: list[Path]) -> Staged | Ladder:
    """Read the design of a question, or the stages of a ladder."""
    if len(paths) > 1:
        return ladder(_read_staged(path) for path in paths)  # type: ignore[misc]  # designs, or refused
    text = paths[0].read_bytes()
    return (
        Ladder.from_json(text)
        if _has_schema(text, Ladder)
        else _read_staged(paths[0])
    )


def _read_staged(path: Path) -> Staged:
    text = path.read_bytes()
    return (
        CohortDesign.from_json(text)
        if _has_schema(text, CohortDesign)
        else read_design(path)
    )


def _has_schema(text: bytes, kind: type[HashedDocument]) -> bool:
    return f'"deniable/{kind.SCHEMA}/'.encode() in text[:200]


def _print_release(
    response: Response,
    receipt: Receipt,
    facts: Mapping[str, object],
    message: str,
    *,
    as_json: bool,
) -> None:
    """Print the response that may leave; as JSON with its receipt and further facts."""
    if as_json:
        documents = {"response": response.to_json(), "receipt": receipt.to_json()}
        bodies = {name: json.loads(text) for name, text in documents.items()}
        print_json({**bodies, **facts})
        return
    echo(response.to_json())
    say(message)


def _compare(ledger: Path, history: Path) -> None:
    with Ledger.open(ledger) as book:
        book.check()
        if book.history().encode() != history.read_bytes():
            raise Incompatible(
                f"{history} is not the whole history of {ledger}; expected each receipt of it."
            )


def _smallest_remaining_budget(*limits: float | None) -> float | None:
    """Return what is left of a question: of its own budget or of that of all questions, whichever is less."""
    return min((limit for limit in limits if limit is not None), default=None)


def _limit(epsilon: float | None) -> str:
    return (
        "no limit"
        if epsilon is None
        else formats.epsilon_at_least(math.floor(epsilon * 1e9) / 1e9, 6)
    )


def _stages(standing: Standing) -> str:
    if standing.withdrawn:
        return "withdrawn"
    stages = [
        f"{formats.epsilon(stage.epsilon)}{'' if stage.released else ' (not out)'}"
        for stage in standing.stages
    ]
    return ", ".join(stages) or "none yet"


def _holders(standing: Standing) -> str:
    names = dict.fromkeys(
        name for stage in standing.stages for name in stage.holders if name
    )
    return ", ".join(names)
