"""`deniable-papers`: the tables, examples and figures of the five papers again, printed against ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import (
    OURS,
    PLAIN,
    console,
    fail,
    guard_command,
    messages,
    print_json,
)

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

    from deniable_papers.run import Made, Progress, Reproduction
    from deniable_papers.values import Exhibit, Value

Numbers = list[str] | None
_STYLES = {
    "agrees": "green",
    "holds with a condition": "cyan",
    "the paper is wrong": "yellow",
    "differs": "bold red",
}


_PAPERS = (
    "rr3 (Ma and Wang 2021), minimax (Chai 2019), binary (Holohan, Leith and Mason 2017), "
    "cards (Sun, Yan and Zhou 2023), gradual (Pan 2024), or all."
)


def _asked(kind: str) -> Any:
    return typer.Option(
        f"--{kind}", metavar="NUMBER", help=f"Only this {kind}; may be given again."
    )


app = typer.Typer(name="deniable-papers", **PLAIN)


def main() -> None:
    """Run the command line."""
    app(prog_name="deniable-papers")


@app.command()
@guard_command
def reproduce(
    document: Annotated[str, typer.Argument(metavar="PAPER", help=_PAPERS)],
    table: Annotated[Numbers, _asked("table")] = None,
    figure: Annotated[Numbers, _asked("figure")] = None,
    example: Annotated[Numbers, _asked("example")] = None,
    theorem: Annotated[Numbers, _asked("theorem")] = None,
    lemma: Annotated[Numbers, _asked("lemma")] = None,
    corollary: Annotated[Numbers, _asked("corollary")] = None,
    equation: Annotated[Numbers, _asked("equation")] = None,
    section: Annotated[Numbers, _asked("section")] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Where pictures and the page with everything go.",
        ),
    ] = Path("deniable-papers"),
    repetitions: Annotated[
        int, typer.Option(help="Simulated surveys behind each point.")
    ] = 10_000,
    *,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Make tables, examples and figures of the five papers again, and say where they agree.

    Whole papers come with a page, report.html, that shows everything made.
    """
    from deniable_papers.page import Folder
    from deniable_papers.run import run, select, setting
    from deniable_papers.values import KINDS

    asked = (table, figure, example, theorem, lemma, corollary, equation, section)
    wanted = [
        (kind, number)
        for kind, numbers in zip(KINDS, asked, strict=True)
        for number in numbers or ()
    ]
    exhibits, report = select(document, wanted), not wanted
    chosen, folder = setting(repetitions), Folder(out, overwrite=force)
    folder.check(exhibits, report=report)
    with _progress() as progress:
        results = run(
            exhibits,
            chosen,
            whole=document == "all",
            progress=progress,
            on_made=folder.add,
        )
    if report:
        folder.finish(results)
    if as_json:
        print_json(_document(results, folder.paths))
    else:
        _show(results, folder.paths)
    if results.differing or results.uncovered:
        raise fail(
            "not every printed value was met or explained.",
            "Please report it.",
            code=OURS,
        )


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show on stderr what is being made and how long it still takes; nothing where stderr is no terminal."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    err = messages()
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("time left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    # Some exhibits take half a minute: the speed is that of the whole run, not of its last seconds.
    quiet = not err.is_terminal
    with Progress(
        *columns,
        console=err,
        transient=True,
        disable=quiet,
        speed_estimate_period=3600,
    ) as bar:
        task = bar.add_task("beginning", total=1.0)

        def show(exhibit: Exhibit, share: float) -> None:
            bar.update(
                task,
                completed=share,
                description=f"{exhibit.document}, {exhibit.kind} {exhibit.number}",
            )

        yield show


def _show(results: Reproduction, paths: Sequence[Path]) -> None:
    from deniable_papers.values import counted

    to = console()
    for made in results.made:
        _show_one(to, made)
    for form, counts in results.counts.items():
        if any(counts.values()):
            where = (
                "printed"
                if form == "number"
                else "printed and tried at inputs of ours"
            )
            told = f"Of {sum(counts.values()):,} {form}s {where}, {counted(counts)}."
            to.print(told, style="bold", markup=False)
    to.print(
        "Conditions and corrections have their numbers in docs/errata.md.",
        markup=False,
    )
    if results.points:
        to.print(
            f"{len(results.points):,} simulated points, {len(results.flagged)} flagged.",
            style="bold",
            markup=False,
        )
    if results.whole:
        to.print(
            f"Printed values without a comparison: {', '.join(results.uncovered) or 'none'}.",
            markup=False,
        )
    for path in paths:
        to.print(f"wrote {path}", style="dim", markup=False, soft_wrap=True)


def _show_one(to: Console, made: Made) -> None:
    from deniable_papers.values import as_text, simulated

    exhibit, content = made.exhibit, made.content
    to.print(
        f"{exhibit.document}, {exhibit.kind} {exhibit.number}: {exhibit.title}",
        style="bold",
        markup=False,
    )
    if content.described:
        to.print(f"In the paper: {content.described}", markup=False)
    if content.rows:
        to.print(_rows(content.columns, content.rows))
    if content.values:
        common = _common(content.values)
        if common:
            told = ", ".join(
                f"{name} = {as_text(each)}" for name, each in common.items()
            )
            to.print(f"Everywhere {told}.", style="dim", markup=False)
        to.print(_values(content.values, common))
    if content.points:
        to.print(
            simulated(content),
            style="bold yellow" if content.flagged else "",
            markup=False,
        )
    for note in content.notes:
        to.print(note, style="dim", markup=False)
    to.print()


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from deniable_papers.values import Value, as_text

    table = Table(box=None, header_style="dim")
    for column in columns:
        table.add_column(Text(column))
    for row in rows:
        styles = (
            _STYLES[cell.verdict] if isinstance(cell, Value) else "" for cell in row
        )
        table.add_row(
            *(
                Text(as_text(cell), style)
                for cell, style in zip(row, styles, strict=True)
            )
        )
    return table


def _common(values: Sequence[Value]) -> dict[str, Any]:
    """Return the parameters that all values of an exhibit share, which need not be told with each."""
    first, *others = (each.entry.inputs for each in values)
    return {
        name: value
        for name, value in first.items()
        if others and all(name in each and each[name] == value for each in others)
    }


def _values(values: Sequence[Value], common: Mapping[str, Any]) -> Group:
    """Return a row of numbers for each value, and below it what it is, which takes the whole width."""
    from rich.cells import cell_len, set_cell_size
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from deniable_papers.values import as_printed, as_text, inputs, what

    rows = [
        ("id", "printed", "ours"),
        *((each.entry.id, as_printed(each), as_text(each.ours)) for each in values),
    ]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    starts = ["  ".join(map(set_cell_size, row, widths)) for row in rows]
    lines: list[Text | Padding] = [Text(f"{starts[0]}  verdict", "dim")]
    for start, value in zip(starts[1:], values, strict=True):
        about = (what(value), inputs(value, without=common), _erratum(value))
        lines.append(
            Text.assemble(f"{start}  ", (value.verdict, _STYLES[value.verdict]))
        )
        lines.append(
            Padding(Text("; ".join(filter(None, about)), "dim"), (0, 0, 0, 4))
        )
    return Group(*lines)


def _erratum(value: Value) -> str:
    entry = value.entry
    told = (
        f"erratum {entry.erratum}: {entry.condition}"
        if entry.condition
        else f"erratum {entry.erratum}"
    )
    return told if value.verdict not in ("agrees", "differs") else ""


def _document(results: Reproduction, paths: Sequence[Path]) -> dict[str, Any]:
    return {
        "counts": results.counts,
        "points": len(results.points),
        "flagged": [point.where for point in results.flagged],
        "uncovered": results.uncovered,
        "repetitions": results.repetitions,
        "files": [str(path) for path in paths],
        "exhibits": [_exhibit(made) for made in results.made],
    }


def _exhibit(made: Made) -> dict[str, Any]:
    from deniable_papers.values import plain

    exhibit, content = made.exhibit, made.content
    return {
        "name": exhibit.name,
        "command": exhibit.command,
        "title": exhibit.title,
        "values": [
            {
                "id": value.entry.id,
                "place": value.entry.place,
                "topic": value.entry.topic,
                "inputs": plain(value.entry.inputs),
                "printed": plain(value.entry.printed),
                "ours": plain(value.ours),
                "form": value.entry.form,
                "verdict": value.verdict,
                "condition": value.entry.condition,
                "erratum": value.entry.erratum,
            }
            for value in content.values
        ],
        "columns": list(content.columns),
        "rows": plain(content.rows),
        "points": [
            {
                "where": point.where,
                "theory": point.theory,
                "simulated": point.simulated,
                "error": point.error,
                "flagged": point.flagged,
            }
            for point in content.points
        ],
        "described": content.described,
        "notes": list(content.notes),
    }
