"""`deniable estimate`: counts → shares with intervals; and how every command that prints a result delivers it."""

from __future__ import annotations

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
from deniable.rendering import MOST_ROWS, to_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.estimates import Result, Row, Summary

_FEW_GROUPS = 5  # whose pairs, ten of them, are read at a glance
_MOST_COMPARED = 50  # groups whose differences are shown without being asked for
PICTURES = (".png", ".svg", ".pdf")

Chart = Annotated[
    Path | None,
    typer.Option("--chart", metavar="FILE", help=f"Save a picture; its name ends in {', '.join(PICTURES)}."),
]
ResultFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help=f"Write the result; its name ends in {', '.join(ENDINGS)}."),
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
        method (NAME): for a design inversion, likelihood, customary; for a ladder information, likelihood, linear,
            strata. By default the first.
        interval (NAME): for a design score, normal, chebyshev, exact, profile, wide; for a ladder score, wide,
            normal, chebyshev, profile. By default the one that keeps its coverage.
        simultaneous: widen the intervals, so that all of them together hold with this level.
        population: how many people there are in all, where those who responded are a large part of them.
        candidates: for strings: those that may occur, one on each line.
        differences (pairs|rest): of groups: in place of their shares, by how much each differs from each other one,
            or from the rest.
    """
    from deniable.groups.separate import SeparateTallies

    check_files(out, chart, force=force)
    counted = collected.read_tally(read_counts(tally), collected.read_designs(design))
    told: dict[str, Any] = {"level": level, "method": interval, "simultaneous": simultaneous}
    options: dict[str, Any] = {"method": method, "population": population}
    if isinstance(counted, SeparateTallies):
        found = collected.SeparateResults.of(counted, lambda each: _fitted(each, options, candidates, differences))
        _show_apart(found, told, out, chart, force=force, as_json=as_json)
        return
    made = _fitted(counted, options, candidates, differences)
    if as_json:
        print_json(made.to_json(**told, indent=2))
    else:
        _show_result(made, told)
    if chart is not None:
        save_picture(made.plot(level=level, method=interval), chart)
    if out is not None:
        write_result(made, out, **told, force=force)


def check_files(out: Path | None, chart: Path | None, *, force: bool) -> None:
    """Refuse early, before any work is done, to write what cannot be written, or where a file is."""
    if out is not None:
        check_ending(out)
    if chart is not None and chart.suffix.lower() not in PICTURES:
        raise InvalidRequest(f"cannot draw {chart.name}; expected a name that ends in {', '.join(PICTURES)}.")
    for path in (out, chart):
        check_out(path, force=force)


def read_counts(path: Path) -> bytes:
    """Read the JSON of a tally, from a file or from stdin.

    Raises:
        InvalidRequest: these are responses.
    """
    text = sys.stdin.buffer.read() if str(path) == "-" else b"" if path.is_dir() else path.read_bytes()
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
    header = {each.strip(b'" \r') for each in re.split(b"[,;\t]", first)}
    return head.startswith(BINARY) or b'"response":' in first or {b"response", b"design"} <= header


def _fitted(counted: Any, options: dict[str, Any], candidates: Path | None, differences: str | None) -> Any:
    from deniable.groups.estimates import GroupedEstimate
    from deniable.verbs import estimate as fit

    design = getattr(counted, "design", None)  # None of several devices
    if design is not None and design.asks == "strings":
        if candidates is None and not hasattr(design.bloom, "alphabet"):
            raise InvalidRequest(
                "strings are found among candidates, and there are none; expected --candidates FILE, one on each line."
            )
        listed = None if candidates is None else candidates.read_text(encoding="utf-8").splitlines()
        options = {**options, "candidates": listed}
    made: Any = fit(counted, **options)
    if differences is None:
        return made
    if not isinstance(made, GroupedEstimate) or differences not in ("pairs", "rest"):
        raise InvalidRequest(
            f"--differences {differences:.40}: expected pairs or rest, with a tally by groups.",
            "Count groups apart: deniable tally DESIGN FILE --by COLUMN.",
        )
    return made.pairwise() if differences == "pairs" else made.against_rest()


def _show_result(made: Any, told: dict[str, Any]) -> None:
    """Print a result; of a few groups also by how much they differ, in pairs, of more each from the rest."""
    from deniable.groups.estimates import GroupedEstimate

    summary = made.summary(**told)
    show(summary)
    if isinstance(made, GroupedEstimate) and 1 < len(made.groups) <= _MOST_COMPARED:
        console().print()
        apart = made.pairwise() if len(made.groups) <= _FEW_GROUPS else made.against_rest()
        compared = apart.summary(level=told["level"], simultaneous=told["simultaneous"])
        new = tuple(note for note in compared.notes if note not in summary.notes)  # the others stand above
        show(replace(compared, notes=new, warnings=()))


def _show_apart(
    found: collected.SeparateResults,
    told: dict[str, Any],
    out: Path | None,
    chart: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    if chart is not None:
        raise InvalidRequest("a picture shows one estimate, and these are several; expected no --chart.")
    text = "" if out is None else found.written(out, told)
    if as_json:
        print_json(found.to_json(told))
    else:
        found.print(lambda made: _show_result(made, told))
    if out is not None:
        write(out, text, force=force)
        say(f"wrote {out}")


def show(summary: Any) -> None:
    """Print a summary as a table, then its notes and what calls for care."""
    from deniable.estimates import ShareRow
    from deniable.rendering.terminal import to_rich

    out = console()
    table = sheet(summary, percent=True).shortened(MOST_ROWS)
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
    made: Result, path: Path, *, level: float, method: str | None = None, simultaneous: bool = False, force: bool
) -> None:
    """Write a result as the ending of the file's name says."""
    write(path, written(made, path, level=level, method=method, simultaneous=simultaneous), force=force)
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
