"""`deniable attacks`: what an attacker can learn at best, and what fabricated responses can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from deniable.cli import collected
from deniable.cli.common import command_list, print_json, tell
from deniable.cli.estimates import read_counts
from deniable.cli.reading import read_any_design, read_numbers
from deniable.designs import Design
from deniable.errors import Incompatible, InvalidRequest
from deniable.order.ladders import Ladder
from deniable.rendering import Sheet, formats, to_text
from deniable.tallies import Tally

app = command_list(
    "What an attacker can learn at best, and what fabricated responses can do."
)


@app.add
def guess(design: Path, *, prior: str | None = None, as_json: bool = False) -> None:
    """Tell how often each known attack guesses an answer wrongly, and the bound that none can beat.

    Args:
        design: a design, or a ladder, of which the attacker sees every stage.
        prior (A,B,C|NAME=NUMBER,…): how probable the answers are; all alike, if it is not given.
    """
    from deniable.attacks import error_rates

    subject = read_any_design(design)
    if not isinstance(subject, Design | Ladder):
        raise InvalidRequest(
            "attacks guess one of several categories; expected a design for categories, or a ladder of them."
        )
    shares = None if prior is None else cast(Sequence[str], read_numbers(prior))
    rates = error_rates(subject, prior=shares)
    if as_json:
        print_json({"bound": float(rates.bound), "errors": dict(rates)})
    else:
        tell(str(rates), soft_wrap=True)


@app.add
def swing(
    design: Path, tally: Path, *, share: float = 0.01, as_json: bool = False
) -> None:
    """Tell between which values each share lies if some responses were fabricated, whichever they are.

    Chance comes on top: these are no confidence intervals.

    Args:
        tally: a tally, as written by `deniable tally`, or - for stdin.
        share: of the responses that may be fabricated.
    """
    from deniable.attacks import swing as bounds

    counts = _read_tally(design, tally)
    intervals = dict(
        zip(counts.design.categories, bounds(counts, share), strict=True)
    )
    if as_json:
        print_json({name: list(interval) for name, interval in intervals.items()})
        return
    rows = [
        (name, formats.percent(low), formats.percent(high))
        for name, (low, high) in intervals.items()
    ]
    title = f"If {formats.percent(share)} of the responses were fabricated"
    tell(to_text(Sheet(title, ("", "from", "to"), tuple(rows))), soft_wrap=True)


@app.add
def doubts(
    design: Path, tally: Path, *, rate: float = 1e-6, as_json: bool = False
) -> None:
    """Tell what about the responses the device cannot have made, whatever the answers are.

    Args:
        tally: a tally, as written by `deniable tally`, or - for stdin.
        rate: how often responses that the device did make are doubted.
    """
    from deniable.attacks import doubts as suspicions

    suspected = suspicions(_read_tally(design, tally), rate=rate)
    if as_json:
        print_json({"doubts": [one._asdict() for one in suspected]})
        return
    for one in suspected:
        tell(f"{one.what} (p ≤ {one.chance:.2g})", soft_wrap=True)
    if not suspected:
        tell(
            "Nothing looks fabricated. Few fakes, or fakes that imitate the device, are not seen."
        )


def _read_tally(design: Path, tally: Path) -> Tally:
    counts = collected.read_tally(read_counts(tally), collected.read_designs(design))
    if not isinstance(counts, Tally):
        raise Incompatible(
            "this tally is by groups, or of another type of question; expected counts of a design for categories."
        )
    return counts
