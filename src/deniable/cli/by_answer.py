"""`deniable by-answer`: an exact outcome by the protected answer, from a file with both."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.common import console, guard_command
from deniable.cli.estimates import ResultOutput, SampleColumns, show
from deniable.cli.options import KINDS, Kind, find_options, parameter_help
from deniable.cli.reading import read_design, read_floats
from deniable.errors import InvalidRequest
from deniable.estimates.by_answer import by_answer as estimate
from deniable.estimates.quantiles import quantiles_by_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.tallies.responses import Responses

_KINDS = KINDS | {"Sequence[float]": Kind("A,B,C", load=read_floats)}


@partial(
    guard_command,
    library=find_options(quantiles_by_answer, _KINDS),
    texts=parameter_help(quantiles_by_answer),
    unset=True,
)
def by_answer(
    file: Path,
    *,
    outcome: str,
    response: str,
    rate: str | None = None,
    design: Path | None = None,
    by: str | None = None,
    level: float = 0.95,
    always: bool = False,
    sheet: str | None = None,
    sample: SampleColumns,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Estimate the mean or quantiles of an exact outcome among the people with each answer.

    Say what the responses were drawn with: --rate for a browser's confidence field, or --design.

    Args:
        file: a table with a row for each person, or each page load.
        outcome (COLUMN): the column of the outcome, a number in each row.
        response (COLUMN): the column of the responses.
        rate (COLUMN): the column of randomizedTriggerRate; the responses are low and high.
        design (DESIGN): what the responses were drawn with, in place of a rate.
        by (COLUMN): the column of groups, each of which is estimated on its own.
        always: widen the intervals, so that those of all looks at growing data together cover with this level.
    """
    if (rate is None) == (design is None):
        raise InvalidRequest(
            "expected --rate or --design, and exactly one of them.",
            "For a browser's confidence field name the column of its rate: --rate rate.",
        )
    names = [outcome, response, *filter(None, (rate, by)), *sample.names.values()]
    columns = _read_columns(file, names, sheet)
    rates = None if rate is None else columns[rate]
    responses = _read_responses(columns[response], rates, design)
    sampling = sample.sampling(columns)
    groups = None if by is None else columns[by]
    function: Any = quantiles_by_answer if "quantiles" in options else estimate
    if "interpolation" in options and "quantiles" not in options:
        raise InvalidRequest(
            "--interpolation is for quantiles; expected --quantiles."
        )
    result = function(
        columns[outcome], responses, sampling=sampling, by=groups, **options
    )
    intervals = {"level": level, "always": always}
    output.deliver_result(
        result,
        lambda: _show(result, intervals),
        lambda: result.plot(**intervals),
        **intervals,
    )


def _read_columns(
    file: Path, names: list[str], sheet: str | None
) -> Mapping[str, list[Any]]:
    """Return columns of a file by name."""
    from deniable.files.columns import open_columns
    from deniable.groups.collected import check_columns

    wanted = list(dict.fromkeys(names))
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    with open_columns(file, sheet=sheet) as source:
        check_columns(source, wanted)
        for batch in source.coded_batches(wanted):
            for name in wanted:
                columns[name] += batch.column(name).to_pylist()
    return columns


def _read_responses(
    column: list[Any], rates: list[Any] | None, design: Path | None
) -> Responses[Any] | list[Responses[Any]]:
    from deniable.tallies.devices import read_confidence
    from deniable.tallies.responses import Responses

    if design is None:
        return list(read_confidence(column, rates))
    return Responses.of(read_design(design), column)


def _show(result: Any, intervals: Mapping[str, Any]) -> None:
    """Print a result; of means also how far they lie apart."""
    summary = result.summary(**intervals)
    show(summary)
    if hasattr(result, "about"):
        console().print()
        difference = result.about("difference").summary(**intervals)
        notes = tuple(note for note in difference.notes if note not in summary.notes)
        show(replace(difference, notes=notes))
