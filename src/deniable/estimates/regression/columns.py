"""A formula and a data frame → columns of numbers, one row for each respondent who can be used."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from deniable.designs.labels import format_labels
from deniable.errors import InvalidRequest, MissingExtra, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, vector

if TYPE_CHECKING:
    import pandas as pd

_DEPENDENT = (
    1e-9  # of a column's length that is left without its projection on others
)


class Sides(NamedTuple):
    """The two sides of a formula: the name of the column on the left, and the terms on the right."""

    left: str
    right: str


def read_formula(formula: str) -> Sides:
    """Take a formula apart.

    Raises:
        InvalidRequest: no text with one ~, or nothing on the left.

    Example:
        >>> read_formula("cheated ~ age + C(region)")
        Sides(left='cheated', right='age + C(region)')
    """
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise InvalidRequest(
            f"the formula is {quoted(formula, 60)}; expected the column of responses, ~, and the covariates.",
            'For example "cheated ~ age + C(region)", or "cheated ~ 1" for a share alone.',
        )
    left, right = map(str.strip, formula.split("~"))
    left = left.strip("`")
    if not left or not right:
        raise InvalidRequest(
            f"the formula {quoted(formula, 60)} lacks a side; expected something on both sides of ~."
        )
    return Sides(left, right)


def to_pandas(data: object) -> pd.DataFrame:
    """Return a table of pandas, Polars or Arrow, or a mapping of columns, as a pandas frame.

    A mapping of single values is one row.

    Raises:
        InvalidRequest: something else.
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise _missing_package_error("pandas") from None
    if isinstance(data, pd.DataFrame):
        return data
    if not hasattr(data, "to_pandas") and hasattr(data, "collect"):
        data = data.collect()  # a lazy frame of Polars
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if isinstance(data, Mapping):
        is_row = all(
            isinstance(values, str) or not hasattr(values, "__iter__")
            for values in data.values()
        )
        try:
            return pd.DataFrame(
                {
                    name: [values] if is_row else list(values)
                    for name, values in data.items()
                }
            )
        except (TypeError, ValueError):
            raise InvalidRequest(
                "the columns of the data are not of one length; expected a list for each, or one value for each."
            ) from None
    raise InvalidRequest(
        f"the data are a {type(data).__name__}; expected a table of pandas, Polars or Arrow, or a mapping of columns."
    )


def column(frame: pd.DataFrame, name: str, what: str) -> pd.Series:
    """Return a column by name.

    Raises:
        InvalidRequest: there is none.
    """
    if name not in frame.columns:
        raise InvalidRequest(
            f"{what} is the column {quoted(name)}, which the data lack; expected one of {_names(frame)}."
        )
    return frame[name]


def _names(frame: pd.DataFrame) -> str:
    return format_labels(list(map(str, frame.columns)))


@dataclass(frozen=True, eq=False)
class Covariates:
    """The right side of a formula.

    Attributes:
        terms: as it was written.
        variables: the columns of the data that it reads.
        names: what its columns of numbers are called; empty until `matrix` was asked for.
        spec: how columns of numbers are made again from other data.
    """

    terms: str
    variables: tuple[str, ...]
    names: tuple[str, ...]
    spec: Any

    @classmethod
    def variables_of(cls, terms: str, frame: pd.DataFrame) -> tuple[str, ...]:
        """Return which columns of the data the terms read.

        Raises:
            InvalidRequest: the terms cannot be read, or name a column that is not there, or is there twice.
        """
        variables = sorted(_names_read(parse_terms(terms), frame))
        columns = list(frame.columns)
        for name in variables:
            if columns.count(name) > 1:
                raise InvalidRequest(
                    f"the data have two columns {quoted(name)}; expected one.",
                    "Rename one of them.",
                )
        for name in variables:
            if name not in columns:
                raise InvalidRequest(
                    f"the formula names {quoted(name)}, which the data lack; expected one of {_names(frame)}."
                )
        return tuple(variables)

    @classmethod
    def of(cls, terms: str, frame: pd.DataFrame) -> tuple[Covariates, Matrix]:
        """Return the columns of numbers that the terms make of a frame without missing values.

        Raises:
            InvalidRequest: the terms cannot be computed, or are not finite numbers.
            NotEstimable: columns that are combinations of others.
        """
        variables = cls.variables_of(terms, frame)
        used = frame.loc[:, list(variables)].copy()
        for name in variables:
            if hasattr(used[name], "cat"):
                used[name] = used[name].cat.remove_unused_categories()
        try:
            with np.errstate(all="ignore"):  # what is not finite is named below
                model_matrix = (
                    parse_terms(terms).get_model_matrix(used, na_action="ignore")
                    if variables
                    else _constant(terms, frame)
                )
        except InvalidRequest:
            raise
        except Exception as error:
            raise InvalidRequest(
                f"the formula {quoted(terms, 60)} cannot be computed: {_first_line(error)}"
            ) from None
        spec = model_matrix.model_spec
        names = tuple(map(str, spec.column_names))
        matrix = _finite(vector(model_matrix), names)
        _check_rank(matrix, names)
        return cls(terms, variables, names, spec), matrix

    def matrix(self, frame: pd.DataFrame) -> Matrix:
        """Return the columns of numbers of other data.

        Raises:
            InvalidRequest: a column is missing, holds a level that was never seen, or cannot be computed.
        """
        absent = [name for name in self.variables if name not in frame.columns]
        if absent:
            raise InvalidRequest(
                f"the data lack the column {quoted(absent[0])}; expected {format_labels(list(self.variables))}."
            )
        if not self.variables:
            return np.ones((len(frame), len(self.names)))
        import warnings

        try:
            with warnings.catch_warnings():
                # a level that was never seen would silently count as the first
                warnings.simplefilter("error")
                matrix = self.spec.get_model_matrix(
                    frame.loc[:, list(self.variables)]
                )
        except Exception as error:
            raise _misfit_error(error) from None
        return _finite(vector(matrix), self.names)

    def levels(self, frame: pd.DataFrame, name: str) -> list[Any] | None:
        """Return the levels of a column that occur, first the one that the formula compares the others with.

        Of contrasts with a reference (of treatment, from any base, or SAS's) that is the level which they code by
        zeros; of others, such as sums or Helmert's, it is the first. Of a column that several terms read as levels, the
        first of them is asked.

        Returns:
            The levels; None where the formula takes the column as a number.
        """
        column = frame[name]
        categories = (
            list(column.cat.categories)
            if hasattr(column, "cat")
            else sorted(column.unique().tolist())
        )
        seen = [level for level in categories if (column == level).any()]
        for factor, contrasts in self.spec.factor_contrasts.items():
            if name not in parse_terms(str(factor)).required_variables:
                continue
            levels = list(contrasts.levels)
            is_coded = np.asarray(contrasts.get_coding_matrix(), np.bool_).any(
                axis=1
            )
            first = int(is_coded.argmin())
            ordered = [levels[first], *levels[:first], *levels[first + 1 :]]
            if set(seen) <= set(ordered):
                return [level for level in ordered if level in seen]
            # The term makes levels of its own from the column, such as C(region == "west"): by what they are coded.
            columns = [str(factor) in column_name for column_name in self.names]
            return sorted(
                seen,
                key=lambda level: bool(
                    self.matrix(fix_column(frame, name, level))[:, columns].any()
                ),
            )
        return None if column.dtype.kind in "iuf" else seen


def fix_column(frame: pd.DataFrame, name: str, level: object) -> pd.DataFrame:
    """Return a frame in which a column has one level in every row."""
    import pandas as pd

    column = pd.Series([level] * len(frame), frame.index, frame[name].dtype)
    return frame.assign(**{name: column})


def _misfit_error(error: Exception) -> InvalidRequest:
    """Return what is wrong with new data, from what formulaic says about it."""
    text = str(error)
    if "outside of the nominated levels" in text:
        level = re.search(r"\{(.*?)\}", text)
        return InvalidRequest(
            f"the new data hold a level that the fitted data lack{f', {level[1]:.60}' if level else ''}; expected "
            "levels that were seen."
        )
    if "extend beyond upper" in text:
        return InvalidRequest(
            "the new data lie outside of the range that a spline was fitted on; expected values inside of it.",
            'Say how it goes on: bs(age, df=4, extrapolation="extend"), or "clip", "zero" or "na".',
        )
    return InvalidRequest(
        f"the new data do not fit the formula: {_first_line(error)}"
    )


def parse_terms(terms: str) -> Any:
    """Return the right side of a formula as `formulaic` reads it.

    Raises:
        InvalidRequest: it cannot be read.
        MissingExtra: formulaic is not installed.
    """
    try:
        from formulaic import Formula
    except ImportError:
        raise _missing_package_error("formulaic") from None
    try:
        return Formula(terms)
    except Exception as error:
        raise InvalidRequest(
            f"the formula {quoted(terms, 60)} cannot be read: {_first_line(error)}",
            'For example "age + C(region)".',
        ) from None


def _names_read(formula: Any, frame: pd.DataFrame) -> set[str]:
    """Return the columns that a formula reads, and names in it that nobody knows.

    Why: formulaic does not look into what it computes with a memory, such as scale(age) or bs(age, df=4).
    """
    from formulaic.transforms import TRANSFORMS

    names = set(map(str, formula.required_variables))
    for factor in {factor for term in formula for factor in term.factors}:
        if factor.eval_method.value == "python":
            names |= {
                name
                for name in _names_in(factor.expr)
                if name in frame.columns or name not in TRANSFORMS
            }
    return names


def _names_in(code: str) -> set[str]:
    """Return the names in a term that are not those of the functions that it calls.

    Example:
        >>> sorted(_names_in("bs(`age in years`, df=size(x)) + np.log(y.fillna(0))"))
        ['age in years', 'np', 'x', 'y']
    """
    quoted_names = re.findall(r"`([^`]*)`", code)
    aliases = {f"_quoted_{number}": name for number, name in enumerate(quoted_names)}
    for alias, name in aliases.items():
        code = code.replace(f"`{name}`", alias, 1)
    tree = list(ast.walk(ast.parse(code, mode="eval")))
    called = [node.func for node in tree if isinstance(node, ast.Call)]
    nodes = [node for node in tree if isinstance(node, ast.Name)]
    names = {node.id for node in nodes if node not in called}
    names -= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return {aliases.get(name, name) for name in names if not hasattr(builtins, name)}


def _constant(terms: str, frame: pd.DataFrame) -> Any:
    import pandas as pd

    rows = pd.DataFrame({"row": np.zeros(len(frame))})
    matrix = parse_terms(terms).get_model_matrix(rows)
    if matrix.shape[1] == 0:
        raise InvalidRequest(
            f"the formula {quoted(terms, 60)} has no terms; expected at least a constant, 1."
        )
    return matrix


def _first_line(error: Exception) -> str:
    return f"{(str(error).splitlines() or [''])[0]:.200}"


def _finite(matrix: Matrix, names: Sequence[str]) -> Matrix:
    wrong = ~np.isfinite(matrix).all(axis=0)
    if wrong.any():
        name = names[int(wrong.argmax())]
        raise InvalidRequest(
            f"the term {quoted(name, 60)} is not a finite number in every row; expected numbers.",
            "A logarithm of 0, for example, is none.",
        )
    return matrix


def _check_rank(matrix: Matrix, names: Sequence[str]) -> None:
    if len(matrix) < matrix.shape[1]:
        raise NotEstimable(
            f"there are {len(matrix):,} rows for {matrix.shape[1]} coefficients; expected more rows than these."
        )
    lengths = np.sqrt((matrix**2).sum(axis=0))
    if (lengths == 0).any():
        raise NotEstimable(
            f"the column {quoted(names[int((lengths == 0).argmax())], 60)} is 0 in every row; expected one that "
            "varies.",
            "Leave the term out.",
        )
    triangle, order = scipy.linalg.qr(
        matrix / lengths, mode="r", pivoting=True, check_finite=False
    )
    is_dependent = np.abs(np.diagonal(triangle)) < _DEPENDENT
    dependent = [names[index] for index in order[is_dependent].tolist()]
    if dependent:
        raise NotEstimable(
            f"the columns {format_labels(dependent)} are combinations of the others, so that their coefficients "
            "cannot be told apart; expected columns that each say something of their own.",
            "Leave one of the terms that say the same out.",
        )


def _missing_package_error(package: str) -> MissingExtra:
    return MissingExtra(
        f"a regression needs the package {package!r}, which is not installed.",
        "Install it: pip install 'deniable[analysis]'.",
    )
