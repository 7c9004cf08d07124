"""`deniable estimate`: counts → shares with intervals; and how every command that prints a result delivers it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli import collected
from deniable.cli.common import (
    CommandOutput,
    check_out,
    console,
    guard_command,
    print_json,
    say,
    tell,
)
from deniable.cli.options import (
    KINDS,
    Kind,
    ShellOptions,
    find_options,
    parameter_help,
)
from deniable.cli.reading import (
    read_bytes,
    read_floats,
    read_lines,
    read_population,
)
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.formats import sheet
from deniable.estimates.results import IntervalRequest
from deniable.files.columns import BINARY, guess
from deniable.rendering import MAX_ROWS, html_page, to_text
from deniable.types import FOLDERS, find_type_operation
from deniable.verbs import estimate as fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.estimates import Result, Row, Summary
    from deniable.estimates.sampling import Sampling

_MAX_PAIRED = 5  # groups whose pairs, ten of them, are read at a glance
_MAX_COMPARED = 50  # groups whose differences are shown without being asked for
_PICTURES = (".png", ".svg", ".pdf")
_PAGE = "body{font:15px/1.5 system-ui,sans-serif;color:CanvasText;max-width:60rem;margin:2rem auto;padding:0 1rem}"
_FORMATS: dict[str, Callable[[Summary[Row]], str | bytes]] = {
    ".csv": lambda summary: summary.to_csv(),
    ".md": lambda summary: summary.to_markdown(most=None),
    ".tex": lambda summary: summary.to_latex(most=None),
    ".html": lambda summary: html_page(summary.title, _PAGE, summary.to_html()),
    ".docx": lambda summary: summary.to_docx(most=None),
    ".xlsx": lambda summary: summary.to_xlsx(),
}
"""What a summary can be written as, by the ending of the file's name; besides, `.json` is the result itself."""

ENDINGS = (".json", *_FORMATS)
_COMPARISONS = {"pairs": "pairwise", "rest": "against_rest"}
_KINDS = KINDS | {
    "int": Kind("NUMBER", load=read_population),
    "int | str": Kind("NUMBER", load=read_population),
    "Sequence[float]": Kind("A,B,C", load=read_floats),
    "Sequence[str] | Candidates": Kind("FILE", Path, load=read_lines),
}

Chart = Annotated[
    Path | None,
    typer.Option(
        "--chart",
        metavar="FILE",
        help=f"Save a picture; its name ends in {', '.join(_PICTURES)}.",
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


@dataclass(frozen=True, kw_only=True)
class ResultOutput(CommandOutput):
    """Where an estimate goes."""

    out: ResultFile = None
    chart: Chart = None

    def __post_init__(self) -> None:
        """Refuse early, before any work is done, to write what cannot be written, or where a file is."""
        if self.out is not None:
            check_ending(self.out)
        super().__post_init__()
        check_chart(self.chart, force=self.force)

    def deliver_result(
        self,
        result: Result[Any],
        show: Callable[[], None],
        plot: Callable[[], Figure],
        **options: Any,
    ) -> None:
        """Print a result, write it as the ending of the file's name says, and save its picture."""
        if self.as_json:
            print_json(result.to_json(**options, indent=2))
        else:
            show()
        if self.chart is not None:
            save_picture(plot(), self.chart)
        if self.out is not None:
            self.write(format_result(result, self.out, **options))


@dataclass(frozen=True, kw_only=True)
class SampleColumns:
    """The columns of a file that say how its people were drawn.

    Attributes:
        weights (COLUMN): the column that says how many people each row stands for.
        strata (COLUMN): the column of strata.
        clusters (COLUMN): the column of clusters, such as villages or schools.
    """

    weights: str | None = None
    strata: str | None = None
    clusters: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """The columns that were named, by what they say."""
        return {name: column for name, column in vars(self).items() if column}

    def sampling(self, columns: Mapping[str, Sequence[Any]]) -> Sampling | None:
        """Return how people were drawn; None if no column is named."""
        from deniable.estimates.sampling import Sampling

        drawn: dict[str, Any] = {
            name: columns[column] for name, column in self.names.items()
        }
        return Sampling(**drawn) if drawn else None


def check_ending(path: Path) -> None:
    """Refuse a file whose ending says nothing we can write.

    Raises:
        InvalidRequest: another ending, or none.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InvalidRequest(
            f"cannot write {quoted(path.name, 80)}; expected a name that ends in {', '.join(ENDINGS)}."
        )


def format_result(result: Result, path: Path, **options: Any) -> str | bytes:
    """Return what a file of this name holds.

    Raises:
        InvalidRequest: an ending that says nothing we can write.
    """
    check_ending(path)
    ending = path.suffix.lower()
    if ending == ".json":
        return result.to_json(**options, indent=2)
    return _FORMATS[ending](result._whole(IntervalRequest(**options)))


def check_chart(path: Path | None, *, force: bool) -> None:
    """Refuse early, before any work is done, to save a picture of another kind, or where a file is."""
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise InvalidRequest(
            f"cannot draw {path.name}; expected a name that ends in {', '.join(_PICTURES)}."
        )
    check_out(path, force=force)


def estimate_options(types: Iterable[str]) -> ShellOptions:
    """Return the options of the estimators of some types of question; each type has its own defaults."""
    options: ShellOptions = {}
    for asks in types:
        options |= find_options(find_type_operation(asks, "estimate"), _KINDS)
    return options


def estimator_options(types: Iterable[str]) -> Callable[..., Callable[..., None]]:
    """Return a decorator that adds the options of the estimators of some types of question to a command."""
    return partial(
        guard_command,
        library=estimate_options(types),
        texts=parameter_help(fit),
        unset=True,
    )


@estimator_options(FOLDERS)
def estimate(
    design: Path,
    tally: Path,
    *,
    level: float = 0.95,
    interval: str | None = None,
    simultaneous: bool = False,
    always: bool = False,
    planned: int | None = None,
    differences: str | None = None,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Estimate the share of each category, with intervals and with what privacy cost.

    With a ladder in place of the design, and the counts of its stages, everybody counts with the finest response sent.
    Of a tally by groups, as --by counts it, each group is estimated, tested against the others, and compared with them.
    Of several columns, counted with a mapping file, each is estimated by itself.

    Args:
        design: the design of the tally; or the mapping file (.toml) with which several columns were counted.
        tally: a tally, as written by `deniable tally`, or - for stdin.
        interval (score|normal|chebyshev|exact|profile|wide): for a ladder without exact. By default the one that keeps
            its coverage.
        simultaneous: widen the intervals, so that all of them together cover with this level.
        always: widen the intervals, so that those of all looks at growing data together cover with this level.
        planned: the number of responses at which always-valid intervals are tightest; 10,000 if you do not say.
        differences (pairs|rest): for groups: show differences instead of shares, between all pairs or of each group
            from the rest.
    """
    from deniable.groups.separate import SeparateTallies

    counts = collected.read_tally(read_counts(tally), collected.read_designs(design))
    intervals = {
        **{"level": level, "method": interval, "simultaneous": simultaneous},
        **{"always": always, "planned": planned},
    }
    if isinstance(counts, SeparateTallies):
        results = collected.SeparateResults.of(
            counts, lambda column: _estimate(column, options, differences)
        )
        _deliver_separate(results, intervals, output)
        return
    result = _estimate(counts, options, differences)
    output.deliver_result(
        result,
        lambda: _show_result(result, intervals),
        lambda: result.plot(
            level=level, method=interval, always=always, planned=planned
        ),
        **intervals,
    )


def read_counts(path: Path) -> bytes:
    """Read the JSON of a tally, from a file or from stdin.

    Raises:
        InvalidRequest: these are responses.
    """
    text = b"" if path.is_dir() else read_bytes(path)
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
    counts: object, options: Mapping[str, Any], differences: str | None
) -> Any:
    try:
        result = fit(counts, **options)  # type: ignore[call-overload]  # of any type
    except InvalidRequest as error:
        if "candidates" in options or "candidates" not in error.problem:
            raise
        raise InvalidRequest(
            error.problem, "Name a file with one on each line: --candidates FILE."
        ) from None
    if differences is None:
        return result
    compare = getattr(result, _COMPARISONS.get(differences, ""), None)
    if compare is None:
        raise InvalidRequest(
            f"--differences {differences:.40}: expected pairs or rest, with a tally by groups.",
            "Count groups apart: deniable tally DESIGN FILE --by COLUMN.",
        )
    return compare()


def _show_result(result: Any, options: Mapping[str, Any]) -> None:
    """Print a result; of a few groups also by how much they differ, in pairs, of more each from the rest."""
    summary = result.summary(**options)
    show(summary)
    groups = getattr(result, "groups", ()) if hasattr(result, "pairwise") else ()
    if 1 < len(groups) <= _MAX_COMPARED:
        console().print()
        differences = (
            result.pairwise()
            if len(groups) <= _MAX_PAIRED
            else result.against_rest()
        )
        compared = differences.summary(**{**options, "method": None})
        # the others stand above
        notes = tuple(note for note in compared.notes if note not in summary.notes)
        show(replace(compared, notes=notes, warnings=()))


def _deliver_separate(
    results: collected.SeparateResults, options: dict[str, Any], output: ResultOutput
) -> None:
    if output.chart is not None:
        raise InvalidRequest(
            "a picture shows one estimate, and these are several; expected no --chart."
        )
    text = "" if output.out is None else results.written(output.out, options)
    if output.as_json:
        print_json(results.to_json(options))
    else:
        results.print(lambda result: _show_result(result, options))
    output.write(text)


def show(summary: Summary[Row]) -> None:
    """Print a summary as a table, then its notes and what calls for care."""
    from deniable.estimates import ShareRow
    from deniable.rendering.terminal import to_rich

    table = sheet(summary, percent=True).shortened(MAX_ROWS)
    if not all(isinstance(row, ShareRow) for row in summary.rows):
        tell(to_text(table, console().width), soft_wrap=True)
        return
    console().print(to_rich(table))
    print_notes(summary)


def print_notes(summary: Summary[Row]) -> None:
    """Print the notes of a summary, and what calls for care."""
    for note in summary.notes:
        tell(note, style="dim")
    for warning in summary.warnings:
        tell(f"Warning: {warning}", style="bold yellow")


def save_picture(figure: Figure, path: Path) -> None:
    """Save a picture; it appears when it is complete."""
    incomplete = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        figure.savefig(incomplete, dpi=150)
        incomplete.replace(path)
    finally:
        incomplete.unlink(missing_ok=True)
    say(f"wrote {path}")
