"""`deniable estimate`: counts → shares with intervals."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.common import (
    DesignFile,
    Force,
    Json,
    check_out,
    console,
    guarded,
    print_json,
    read_design,
    say,
    write,
)
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.estimates import Estimate, ShareRow, Summary
    from deniable.estimates.stages import Combined


class Method(StrEnum):
    """How shares are estimated."""

    INVERSION = "inversion"
    LIKELIHOOD = "likelihood"


class Kind(StrEnum):
    """How intervals are made."""

    SCORE = "score"
    NORMAL = "normal"
    CHEBYSHEV = "chebyshev"
    EXACT = "exact"
    PROFILE = "profile"


@guarded
def estimate(
    design: DesignFile,
    tally: Annotated[Path, typer.Argument(metavar="TALLY", help="A tally, as written by `deniable tally`.")],
    method: Annotated[
        Method, typer.Option("--method", help="inversion: no bias, may leave [0, 1]; likelihood: stays inside.")
    ] = Method.INVERSION,
    level: Annotated[float, typer.Option("--level", help="How often an interval holds the true share.")] = 0.95,
    interval: Annotated[
        Kind | None, typer.Option("--interval", help="By default the one that keeps its coverage.")
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Let all intervals together hold with this level.")
    ] = False,
    population: Annotated[
        int | None, typer.Option("--population", help="How many people there are, if not very many.")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Save a picture, such as shares.png or shares.svg.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the estimate to this file.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Estimate the share of each category, with intervals and with what privacy cost.

    With a ladder in place of the design, and the counts of its stages, everybody counts with the finest response sent.
    """
    from deniable.estimates import estimate as fit
    from deniable.tallies import Tally

    if _is_ladder(design):
        plain = method is Method.INVERSION and not simultaneous and not any((interval, population, chart, out))
        _estimate_stages(design, tally, level, plain=plain, as_json=as_json)
        return
    known = read_design(design)
    check_picture(chart)
    for path in (chart, out):
        check_out(path, force=force)
    made = fit(Tally.from_json(tally.read_bytes(), known), method=method.value, population=population)
    kind = None if interval is None else interval.value
    if as_json:
        print_json(made.to_json(level=level, method=kind, simultaneous=simultaneous, indent=2))
    else:
        show(made.summary(level=level, method=kind, simultaneous=simultaneous))
    if chart is not None:
        save_chart(made, chart, level=level)
        say(f"wrote {chart}")
    if out is not None:
        text = made.to_json(level=level, method=kind, simultaneous=simultaneous, indent=2)
        write(out, text, force=force)
        say(f"wrote {out}")


def _is_ladder(path: Path) -> bool:
    return b'"deniable/ladder/' in path.read_bytes()[:200]


def _estimate_stages(ladder: Path, tallies: Path, level: float, *, plain: bool, as_json: bool) -> None:
    from deniable.estimates.stages import combine
    from deniable.order.ladders import Ladder
    from deniable.tallies.stages import StageTallies

    if not plain:
        raise InvalidRequest("stages are combined in one way; expected no options besides --level and --json.")
    stages = Ladder.from_json(ladder.read_bytes())
    made = combine(StageTallies.from_json(tallies.read_bytes(), stages))
    if as_json:
        print_json(made.to_json(level=level, indent=2))
    else:
        show(made.summary(level=level))


def show(summary: Summary[ShareRow]) -> None:
    """Print a summary as a table, then its notes."""
    from deniable.report import tables as table

    out = console()
    out.print(table.summary_table(summary))
    for note in summary.notes:
        out.print(note, style="dim", markup=False)
    for doubt in summary.warnings:
        out.print(f"Warning: {doubt}", style="bold yellow", markup=False)


def check_picture(path: Path | None) -> None:
    """Refuse early, before any work is done, to draw what cannot be drawn."""
    if path is not None and path.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise InvalidRequest(f"cannot draw {path.name}; expected a name that ends in .png, .svg or .pdf.")


def save_chart(
    made: Estimate | Combined, path: Path, *, level: float, truth: dict[str, float] | None = None, title: str = ""
) -> None:
    """Draw a picture and save it; it appears when it is complete."""
    from deniable import report

    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        report.save(report.chart(made, truth=truth, level=level, title=title), partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
