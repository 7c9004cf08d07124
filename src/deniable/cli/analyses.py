"""`deniable regress`, `deniable prevalence` and `deniable list-experiment`: models of rows and of counts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from deniable.cli.collected import ColumnOptions
from deniable.cli.common import guard_command
from deniable.cli.estimates import ResultOutput, SampleColumns, show
from deniable.cli.options import KINDS, Kind, find_options, parameter_help
from deniable.cli.reading import read_design, read_floats, read_rows
from deniable.errors import require_choice
from deniable.estimates.lists import list_experiment as estimate_list
from deniable.estimates.prevalence import prevalence as estimate_prevalence
from deniable.estimates.regression import Regression
from deniable.estimates.regression import regress as estimate_regression
from deniable.estimates.regression.columns import read_formula
from deniable.estimates.results import Result


def _read_results(text: str) -> Any:
    """Read one number, or one for each result."""
    numbers = read_floats(text)
    return numbers if len(numbers) > 1 else int(numbers[0])


_KINDS = KINDS | {
    "int | Sequence[int] | Group": Kind("NUMBER|A,B,C", load=_read_results),
    "ArrayLike": Kind("A,B;C,D", load=read_rows),
    "object": Kind("COLUMN"),
}
_TEST, _LIST = (
    find_options(function, _KINDS, omit=("data",))
    for function in (estimate_prevalence, estimate_list)
)
_SHOWN = {"odds": Regression.odds_ratios, "effects": Regression.effects}
_DATA = ("formula", "data", "devices", "codes", "values", "missing")
_REGRESSION = find_options(estimate_regression, _KINDS, omit=_DATA)


@partial(
    guard_command,
    library=_REGRESSION,
    texts=parameter_help(estimate_regression),
    unset=True,
)
def regress(
    design: Path,
    file: Path,
    formula: str,
    *,
    value: list[str] | None = None,
    missing: list[str] | None = None,
    codes: bool = False,
    show: str = "coefficients",
    level: float = 0.95,
    interval: str | None = None,
    sheet: str | None = None,
    sample: SampleColumns,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Fit a regression to responses: by how much the share of an answer changes with each covariate.

    Args:
        design: what the responses were drawn with; or a mapping file (.toml), which names a device for each row, or
            says what values mean.
        file: a table with a row for each person.
        formula: the column of responses, ~, and covariates, such as "cheated ~ age + C(region)".
        value (VALUE=SYMBOL): which value of the responses means which symbol. May be repeated.
        missing (VALUE): a value that means that nothing was sent. May be repeated.
        codes: whole numbers are the indices of the symbols, from 0.
        show (coefficients|odds|effects): the coefficients, odds ratios, or average effects on the share.
        interval (normal|profile|fieller|chebyshev): the interval method.
    """
    column = options.get("predictor") or read_formula(formula).left
    responses = ColumnOptions(
        design, (column,), value or (), missing or (), codes, sheet
    )
    data = _read_columns(file, sheet)
    fit = estimate_regression(
        formula,
        data,
        **_devices(responses),
        **options,
        sampling=sample.sampling(data),
    )
    require_choice("--show is", show, ("coefficients", *_SHOWN))
    result = _SHOWN[show](fit) if show in _SHOWN else fit
    _deliver(result, output, level=level, method=interval)


def _devices(columns: ColumnOptions) -> dict[str, Any]:
    """Return the devices of a column of responses, and what its values mean."""
    if not columns.mapped:
        return {
            "design": read_design(columns.design),
            "values": columns.symbols,
            "missing": columns.missing,
            "codes": columns.codes or None,
        }
    (asked,) = columns.questions(None).values()
    return {
        "design": asked.design,
        "devices": asked.devices or None,
        "values": asked.values,
        "missing": asked.missing,
        "codes": asked.codes or None,
    }


@partial(guard_command, library=_TEST, texts=parameter_help(estimate_prevalence))
def prevalence(
    *,
    level: float = 0.95,
    interval: str | None = None,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Estimate the prevalence of a condition from an imperfect test, whose errors were estimated, too.

    Args:
        interval (profile|fieller|lang-reiczigel|normal|chebyshev): by default profile likelihood, of more than two
            states normal.
    """
    _deliver(estimate_prevalence(**options), output, level=level, method=interval)


@partial(guard_command, library=_LIST, texts=parameter_help(estimate_list))
def list_experiment(
    file: Path,
    *,
    level: float = 0.95,
    interval: str | None = None,
    sheet: str | None = None,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Estimate the share of a sensitive item from a list experiment (item count technique).

    Args:
        file: a row for each person, with the columns that are named.
        interval (normal|chebyshev): the interval method; of a regression also profile.
    """
    result = estimate_list(**options, data=_read_columns(file, sheet))
    _deliver(result, output, level=level, method=interval)


def _read_columns(file: Path, sheet: str | None) -> dict[str, list[Any]]:
    """Read all columns of a file; numbers as numbers, also where they stand as text."""
    import pyarrow as pa

    from deniable.files.columns import open_columns

    with open_columns(file, sheet=sheet) as opened:
        names = list(opened.names or ())
        table = pa.Table.from_batches(opened.coded_batches(names))
    return {name: _read_numbers(table[name].to_pylist()) for name in names}


def _read_numbers(values: list[Any]) -> list[Any]:
    """Return a column as numbers where every text in it is one, and None where a cell is empty."""
    present = [None if value == "" else value for value in values]
    try:
        return [
            _read_number(value) if isinstance(value, str) else value
            for value in present
        ]
    except ValueError:
        return present


def _read_number(text: str) -> float:
    return int(text) if text.isdecimal() else float(text)


def _deliver(result: Result[Any], output: ResultOutput, **intervals: Any) -> None:
    output.deliver_result(
        result,
        lambda: show(result.summary(**intervals)),
        lambda: result.plot(**intervals),
        **intervals,
    )
