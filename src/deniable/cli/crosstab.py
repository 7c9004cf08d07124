"""`deniable crosstab`: two columns of responses against each other."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli import collected
from deniable.cli.common import guard_command, say, tell
from deniable.cli.estimates import ResultOutput
from deniable.errors import InvalidRequest, UnknownValues, quoted

if TYPE_CHECKING:
    from deniable.groups.collected import CollectedColumn
    from deniable.tallies.responses import Responses


@guard_command
def crosstab(
    mapping: Path,
    file: Path,
    rows: str,
    columns: str,
    *,
    method: str = "inversion",
    level: float = 0.95,
    sheet: str | None = None,
    output: ResultOutput,
) -> None:
    """Estimate the share of each pair of answers to two questions, and test whether they hang together.

    Both columns are inverted together, so that the table is that of the answers and not of the responses.

    Args:
        mapping: a mapping file (.toml), which names the design of each column.
        file: responses: a row for each person, with both columns in it.
        rows: the column that goes down.
        columns: the column that goes across.
        method (inversion|likelihood): the unbiased table, or one in the simplex.
    """
    from deniable.estimates.cross_tables import cross_table
    from deniable.tallies.counts import Declared

    questions = _read_questions(mapping, rows, columns, sheet)
    (first, vouched), (second, also) = (
        _responses(questions[column], file, column, sheet)
        for column in (rows, columns)
    )
    table = cross_table(first, second, rows=rows, columns=columns, method=method)
    if vouched or also:
        counted = replace(table.estimate.tally, declared=Declared(len(first)))
        table = cross_table(counted, method=method)
    output.deliver_result(
        table,
        lambda: tell(table.text(level=level), soft_wrap=True),
        lambda: table.plot(level=level),
        level=level,
    )


def _read_questions(
    mapping: Path, rows: str, columns: str, sheet: str | None
) -> dict[str, CollectedColumn]:
    if rows == columns:
        raise InvalidRequest(
            f"the column {quoted(rows, 80)} is named twice; expected two columns."
        )
    words = collected.ColumnOptions(mapping, (rows, columns), sheet=sheet)
    if not words.mapped:
        raise InvalidRequest(
            f"{mapping.name} is no mapping file; expected a name that ends in .toml."
        )
    return words.questions(None)


def _responses(
    asked: CollectedColumn, file: Path, column: str, sheet: str | None
) -> tuple[Responses[Any], bool]:
    """Read a column row by row, and say whether its design was declared; where the file names one, it is under that."""
    from deniable.engines.files import tally_file
    from deniable.files.columns import RESPONSE, TYPED, guess
    from deniable.groups.collected import read_responses

    if asked.devices:
        raise InvalidRequest(
            f"the rows of {quoted(column, 80)} differ in their device; expected one design for all of them."
        )
    design = asked.designs[None]
    options: dict[str, Any] = {
        "values": asked.values,
        "missing": asked.missing,
        "codes": asked.codes,
        "sheet": sheet,
    }
    question = collected.ColumnOptions(file, sheet=sheet).named_question(
        str(file), column, design
    )
    if question is not None:
        # which refuses rows of another design
        tally_file(design, file, question=question)
        column, options = (
            f"{question}.{RESPONSE}" if question else RESPONSE,
            {"codes": guess(file.name) in TYPED},
        )
    else:
        say(
            f"The design of {column} is declared in the mapping file: {file.name} does not name it."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnknownValues)
        responses = read_responses(design, file, column, **options)
    for warning in caught:
        say(f"Warning: {warning.message}")
    return responses, question is None
