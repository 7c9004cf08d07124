"""`deniable estimate`: counts → shares with intervals; and how every command that prints a result delivers it."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli import collected
from deniable.cli.common import (
    check_out,
    console,
    guarded,
    print_json,
    say,
    write,
)
from deniable.errors import InvalidRequest
from deniable.estimates.formats import ENDINGS, check_ending, sheet, written
from deniable.files.columns import BINARY, guess
from deniable.rendering import MAX_ROWS, to_text
from deniable.types import operation
from deniable.verbs import estimate as fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.estimates import Result, Row, Summary

_FEW_GROUPS = 5  # whose pairs, ten of them, are read at a glance
_MOST_COMPARED = 50  # groups whose differences are shown without being asked for
PICTURES = (".png", ".svg", ".pdf")

Chart = Annotated[
    Path | None,
    typer.Option(
        "--chart",
        metavar="FILE",
        help=f"Save a picture; its name ends in {', '.join(PICTURES)}.",
    ),
]
ResultFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=f"Write the result; its name ends in {', '.join(ENDINGS)}.",
    ),
]


@guarded
def estimate(
    design: Path,
    tally: Path,
    *,
    method: str | None = None,
    level: float = 0.95,
    interval: str | None = None,
    simultaneous: bool = False,
    population: int | None = None,
    candidates: Path | None = None,
    differences: str | None = None,
    chart: Chart = None,
    out: ResultFile = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Estimate the share of each category, with intervals and with what privacy cost.

    With a ladder in place of the design, and the counts of its stages, everybody counts with the finest response sent.
    Of a tally by groups, as --by counts it, each group is estimated, tested against the others, and compared with them.
    Of several columns, counted with a mapping file, each is estimated by itself.

    Args:
        design: the design of the tally; or the mapping file (.toml) with which several columns were counted.
        tally: a tally, as written by `deniable tally`, or - for stdin.
        method (inversion|likelihood|customary|information|linear|strata): for a design inversion, likelihood or
            customary; for a ladder information, likelihood, linear or strata. By default the first.
        interval (score|normal|chebyshev|exact|profile|wide): for a ladder without exact. By default the one that keeps
            its coverage.
        simultaneous: widen the intervals, so that all of them together cover with this level.
        population: the size of the population, where those who responded are a large part of it.
        candidates: for strings: those that may occur, one on each line.
        differences (pairs|rest): for groups: show differences instead of shares, between all pairs or of each group
            from the rest.
    """
    from deniable.groups.separate import SeparateTallies

    check_files(out, chart, force=force)
    counts = collected.read_tally(read_counts(tally), collected.read_designs(design))
    summary_options: dict[str, Any] = {
        "level": level,
        "method": interval,
        "simultaneous": simultaneous,
    }
    options: dict[str, Any] = {"method": method, "population": population}
    if isinstance(counts, SeparateTallies):
        results = collected.SeparateResults.of(
            counts, lambda column: _estimate(column, options, candidates, differences)
        )
        _show_apart(results, summary_options, out, chart, force=force, as_json=as_json)
        return
    result = _estimate(counts, options, candidates, differences)
    if as_json:
        print_json(result.to_json(**summary_options, indent=2))
    else:
        _show_result(result, summary_options)
    if chart is not None:
        save_picture(result.plot(level=level, method=interval), chart)
    if out is not None:
        write_result(result, out, **summary_options, force=force)


def check_files(out: Path | None, chart: Path | None, *, force: bool) -> None:
    """Refuse early, before any work is done, to write what cannot be written, or where a file is."""
    if out is not None:
        check_ending(out)
    if chart is not None and chart.suffix.lower() not in PICTURES:
        raise InvalidRequest(
            f"cannot draw {chart.name}; expected a name that ends in {', '.join(PICTURES)}."
        )
    for path in (out, chart):
        check_out(path, force=force)


def read_counts(path: Path) -> bytes:
    """Read the JSON of a tally, from a file or from stdin.

    Raises:
        InvalidRequest: these are responses.
    """
    text = (
        sys.stdin.buffer.read()
        if str(path) == "-"
        else b""
        if path.is_dir()
        else path.read_bytes()
    )
    if path.is_dir() or guess(path.name) is not None or _are_responses(text[:4096]):
        name = "what stdin holds" if str(path) == "-" else path.name
        raise InvalidRequest(
            f"{name}: these are responses, not counts; expected a tally.",
            f"Tally them first: deniable tally DESIGN {path} --out tally.json, with --column where they were collected "
            "elsewhere.",
        )
    return text


def _are_responses(head: bytes) -> bool:
    """Tell whether something begins as files of responses do, whatever its name is."""
    first = head.partition(b"\n")[0]
    header = {cell.strip(b'" \r') for cell in re.split(b"[,;\t]", first)}
    return (
        head.startswith(BINARY)
        or b'"response":' in first
        or {b"response", b"design"} <= header
    )


def _estimate(
    counts: Any,
    options: dict[str, Any],
    candidates: Path | None,
    differences: str | None,
) -> Any:
    design = getattr(counts, "design", None)  # None of several devices
    if (
        design is not None
        and "candidates" in inspect.signature(operation(design, "estimate")).parameters
    ):
        listed = (
            None
            if candidates is None
            else candidates.read_text(encoding="utf-8").splitlines()
        )
        options = {**options, "candidates": listed}
    try:
        result: Any = fit(counts, **options)
    except InvalidRequest as error:
        if options.get("candidates", ...) is not None:
            raise
        raise InvalidRequest(
            error.problem, "Name a file with one on each line: --candidates FILE."
        ) from None
    if differences is None:
        return result
    compare = getattr(
        result, {"pairs": "pairwise", "rest": "against_rest"}.get(differences, ""), None
    )
    if compare is None:
        raise InvalidRequest(
            f"--differences {differences:.40}: expected pairs or rest, with a tally by groups.",
            "Count groups apart: deniable tally DESIGN FILE --by COLUMN.",
        )
    return compare()


def _show_result(result: Any, options: dict[str, Any]) -> None:
    """Print a result; of a few groups also by how much they differ, in pairs, of more each from the rest."""
    summary = result.summary(**options)
    show(summary)
    groups = getattr(result, "groups", ()) if hasattr(result, "pairwise") else ()
    if 1 < len(groups) <= _MOST_COMPARED:
        console().print()
        differences = (
            result.pairwise() if len(groups) <= _FEW_GROUPS else result.against_rest()
        )
        compared = differences.summary(
            level=options["level"], simultaneous=options["simultaneous"]
        )
        notes = tuple(
            note for note in compared.notes if note not in summary.notes
        )  # the others stand above
        show(replace(compared, notes=notes, warnings=()))


def _show_apart(
    results: collected.SeparateResults,
    options: dict[str, Any],
    out: Path | None,
    chart: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    if chart is not None:
        raise InvalidRequest(
            "a picture shows one estimate, and these are several; expected no --chart."
        )
    text = "" if out is None else results.written(out, options)
    if as_json:
        print_json(results.to_json(options))
    else:
        results.print(lambda result: _show_result(result, options))
    if out is not None:
        write(out, text, force=force)
        say(f"wrote {out}")


def show(summary: Any) -> None:
    """Print a summary as a table, then its notes and what calls for care."""
    from deniable.estimates import ShareRow
    from deniable.rendering.terminal import to_rich

    out = console()
    table = sheet(summary, percent=True).shortened(MAX_ROWS)
    if not all(isinstance(row, ShareRow) for row in summary.rows):
        out.print(to_text(table, out.width), markup=False, soft_wrap=True)
        return
    out.print(to_rich(table))
    print_notes(summary)


def print_notes(summary: Summary[Row]) -> None:
    """Print the notes of a summary, and what calls for care."""
    out = console()
    for note in summary.notes:
        out.print(note, style="dim", markup=False)
    for doubt in summary.warnings:
        out.print(f"Warning: {doubt}", style="bold yellow", markup=False)


def write_result(
    made: Result,
    path: Path,
    *,
    level: float,
    method: str | None = None,
    simultaneous: bool = False,
    force: bool,
) -> None:
    """Write a result as the ending of the file's name says."""
    write(
        path,
        written(made, path, level=level, method=method, simultaneous=simultaneous),
        force=force,
    )
    say(f"wrote {path}")


def save_picture(figure: Figure, path: Path) -> None:
    """Save a picture; it appears when it is complete."""
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        figure.savefig(partial, dpi=150)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    say(f"wrote {path}")
