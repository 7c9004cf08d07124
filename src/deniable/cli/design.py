"""`deniable design`: build a design, or tell what one promises."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import DesignFile, Force, Json, console, deliver, guarded, print_json, read_design
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.designs import Design

_MOST_DIGITS = 4_000  # Python reads integers up to about so many

app = typer.Typer(
    help="Choose how answers are turned into responses, and see what that promises.", no_args_is_help=True
)

Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the design to this file.")]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", "-e", help="The most that may be revealed, such as 1 or 1/2.")
]
Keep = Annotated[
    str | None, typer.Option("--p", help="Instead of ε: the probability that the answer is sent unchanged.")
]
Categories = Annotated[
    str | None,
    typer.Option("--categories", "-c", help="Possible answers, such as a,b,c; or how many there are, such as 5."),
]
TwoCategories = Annotated[str, typer.Option("--categories", "-c", help="The two possible answers, such as no,yes.")]
Symbols = Annotated[str | None, typer.Option("--symbols", help="Possible responses; by default as the categories.")]


@app.command("k_ary")
@guarded
def k_ary(
    categories: Annotated[
        str, typer.Option("--categories", "-c", help="Possible answers, such as a,b,c; or how many, such as 5.")
    ],
    epsilon: Epsilon = None,
    p: Keep = None,
    low: Annotated[bool, typer.Option("--low", help="Send others more often than the answer itself.")] = False,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Keep the answer as often as ε allows, else send another category, each evenly."""
    from deniable.designs import k_ary as build

    finish(build(read_labels(categories), epsilon, p=p, low=low), out, force=force, as_json=as_json)


@app.command("warner")
@guarded
def warner(
    epsilon: Epsilon = None,
    p: Keep = None,
    categories: TwoCategories = "no,yes",
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Two answers, evenly protected."""
    from deniable.designs import warner as build

    design = build(epsilon, p=p, categories=read_labels(categories))
    finish(design, out, force=force, as_json=as_json)


@app.command("binary")
@guarded
def binary(
    p00: Annotated[str, typer.Option("--p00", help="How often the first answer is sent unchanged.")],
    p11: Annotated[str, typer.Option("--p11", help="How often the second answer is sent unchanged.")],
    categories: TwoCategories = "no,yes",
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Two answers, each with its own probability of being sent unchanged."""
    from deniable.designs import binary as build

    finish(build(p00, p11, categories=read_labels(categories)), out, force=force, as_json=as_json)


@app.command("matrix")
@guarded
def matrix(
    rows: Annotated[
        str | None,
        typer.Option("--rows", help='A row for each response, a column for each answer: "5/6,1/6;1/6,5/6".'),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help='JSON: a list of rows, or {"rows": …, "categories": …, "symbols": …}.'),
    ] = None,
    categories: Categories = None,
    symbols: Symbols = None,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Any table of probabilities; each column adds up to 1."""
    from deniable.designs import matrix as build

    if (rows is None) == (file is None):
        raise InvalidRequest("expected either --rows or --file, and exactly one of them.")
    given: dict[str, Any] = _matrix_file(file) if file else {"rows": _rows(rows or "")}
    if categories is not None:
        given["categories"] = read_labels(categories)
    if symbols is not None:
        given["symbols"] = read_labels(symbols)
    finish(build(**given), out, force=force, as_json=as_json)


@app.command("product")
@guarded
def product(
    designs: Annotated[list[Path], typer.Argument(metavar="DESIGN…", help="Two designs or more.")],
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Several questions of one respondent, each with its own design; their ε add up."""
    from deniable.designs import product as build

    finish(build([read_design(path) for path in designs]), out, force=force, as_json=as_json)


@app.command("show")
@guarded
def show(design: DesignFile, as_json: Json = False) -> None:
    """Tell what a design promises: its channel, its ε, and what that means for people."""
    known = read_design(design)
    if as_json:
        print_json(_told(known))
    else:
        _show(known)


def finish(design: Design, out: Path | None, *, force: bool, as_json: bool) -> None:
    """Show a design that was built, and write it where that is asked for."""
    deliver(design.to_json(indent=2), lambda: _show(design), out, force=force, as_json=as_json)


def _show(design: Design) -> None:
    from deniable.report import tables as table
    from deniable.report import words

    out = console()
    out.print(f"{design!r}", style="bold", markup=False)
    out.print(f"{design.hash}\n", style="dim", markup=False)
    channel = table.channel_table(design)
    if channel is not None:
        out.print(channel)
    alarms = words.warnings(design)
    for sentence in alarms:
        out.print(sentence, style="bold yellow", markup=False)
    for sentence in (*(() if alarms else words.promise(design)), *words.odds(design), *words.frequencies(design)):
        out.print(sentence, markup=False)


def _told(design: Design) -> dict[str, Any]:
    """Return what `show` tells, for programs; infinite numbers as null, large tables left out."""
    import math

    from deniable import exact
    from deniable.report import words

    small = design.channel.responses * design.channel.answers <= 10_000
    told: dict[str, Any] = {
        "name": design.name,
        "hash": design.hash,
        "epsilon": None if design.epsilon == math.inf else design.epsilon,
        "parity": None if design.parity == math.inf else str(design.parity),
        "sentences": [*words.promise(design), *words.odds(design), *words.frequencies(design)],
        "categories": list(design.categories) if small else design.channel.answers,
        "symbols": list(design.symbols) if small else design.channel.responses,
    }
    if small:
        cells = range(design.channel.responses), range(design.channel.answers)
        told["rows"] = [[str(design.channel.probability(i, given=j)) for j in cells[1]] for i in cells[0]]
        ratios = [exact.ratio(*design.channel.extremes(i)) for i in cells[0]]
        told["bayes_factors"] = [None if ratio == math.inf else str(ratio) for ratio in ratios]
    return told


def read_labels(text: str) -> list[str] | int:
    """Read a,b,c or 5; a label with a comma in it goes into quotes."""
    if text.strip().isdecimal() and len(text) < _MOST_DIGITS:
        return int(text)
    return [label.strip() for label in next(csv.reader([text], skipinitialspace=True), [])]


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split(",")] for row in text.split(";") if row.strip()]


def _matrix_file(path: Path) -> dict[str, Any]:
    try:
        given = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise UnreadableFile(f"{path.name} is not JSON; expected a list of rows of numbers.") from None
    if isinstance(given, list):
        return {"rows": given}
    if not isinstance(given, dict) or not {"rows"} <= set(given) <= {"rows", "categories", "symbols"}:
        raise UnreadableFile(f"{path.name} holds no matrix; expected rows, and perhaps categories and symbols.")
    return given
