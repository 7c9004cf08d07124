"""Many people's responses as one value: it knows its design, so that no other design's codes are counted by mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from deniable.designs import AnyDesign, Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    count_noun,
    require,
)
from deniable.files.row_names import index_of, name_of
from deniable.rendering import data_frame
from deniable.tallies.base import AdditiveTally

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Missing", "Responses", "add_missing"]

Missing: TypeAlias = NDArray[np.bool_]
Asked = TypeVar("Asked", bound=AnyDesign)
Counted = TypeVar("Counted", bound=AdditiveTally[Any])

_DESIGN = b"deniable.design"  # where the metadata of an Arrow table says its design, as in files of responses


@dataclass(frozen=True, eq=False)
class Responses(Generic[Asked]):
    """What many people sent, a row for each; `dn.respond_all` draws it and `dn.tally` counts it.

    Nothing of an answer is in it. Responses of one design add up, also by `sum()`; those of another are refused.
    Iterating gives the symbol of each row, None where nothing was sent; a tuple, where a response has several columns:
    the stages of a ladder, or the cohort beside the bits of a string. So does `responses[0]`; `responses[:3]` and
    `responses[mask]` are the responses of those rows, and `numpy.array(responses)` the symbols of all.

    Attributes:
        design: what they were drawn with.
        columns: codes or packed rows by name, as `design.columns` says. They are taken as they are, without a copy, and
            made read-only. Rows of people who sent nothing hold zeros.
        missing: which rows hold nothing; None where all hold a response.
        index: what pandas called the rows of the column that they came from; None where it did not. `to_frame` has it
            again, and columns of other people are refused beside it. It may name people, or hold what they answered:
            it is in no Arrow table, no pickle and no file of responses.
        name: what that column was called; empty where it had no name.

    Example:
        >>> from deniable.designs import warner
        >>> sent = Responses(warner(1), {"response": np.array([1, 0, 1], np.uint8)}, np.array([False, True, False]))
        >>> len(sent), list(sent)
        (3, ['yes', None, 'yes'])
    """

    design: Asked
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    missing: Missing | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)
    name: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        require(
            hasattr(self.design, "columns"),
            self.design,
            "the design",
            "what the responses were drawn with, first",
        )
        require(
            isinstance(self.columns, Mapping),
            self.columns,
            "the columns",
            "codes or packed rows by name",
        )
        if tuple(self.columns) != self.design.columns:
            raise InvalidResponse(
                f"there are columns called {', '.join(map(repr, self.columns))}; expected "
                f"{', '.join(map(repr, self.design.columns))}."
            )
        columns = {name: _read_only(column) for name, column in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        if self.missing is not None:
            missing = _read_only(
                np.atleast_1d(np.asarray(self.missing)).astype(np.bool_)
            )
            object.__setattr__(self, "missing", missing if missing.any() else None)
        checked = [*columns.values(), *([] if self.missing is None else [missing])]
        lengths = set(map(len, checked))
        if len(lengths) != 1:
            raise InvalidResponse(
                f"the columns have {sorted(lengths)} rows; expected one number of rows for all."
            )

    @overload
    @classmethod
    def of(
        cls, design: Asked, column: object, *, codes: bool | None = None
    ) -> Self: ...
    @overload
    @classmethod
    def of(
        cls,
        design: Mapping[Any, Design],
        column: object,
        *,
        devices: object,
        codes: bool | None = None,
    ) -> list[Responses[Design]]: ...
    @classmethod
    def of(
        cls,
        design: Asked | Mapping[Any, Design],
        column: object,
        *,
        devices: object = None,
        codes: bool | None = None,
    ) -> Self | list[Responses[Design]]:
        """Read a column of responses to categories, numbers, or what a design numbers: what `tally` counts, row by row.

        Of people who were asked with different devices there are `Responses` for each device, with all rows: those who
        were asked with another one are missing there. Hand them to `estimate` together, with a sampling.

        Args:
            design: what the responses were drawn with; or a design for each device by name.
            column: labels, codes or `Response` objects: a list, or a column of NumPy, pandas, Polars or Arrow. What is
                missing (None, NaN, null, masked) stays a row without a response.
            devices: of designs by name: what each respondent was asked with, row by row.
            codes: what whole numbers are; True for codes, False for labels, as for `tally`.

        Raises:
            InvalidResponse: something the design cannot send; the message names the row.
            Incompatible: a `Response` that was drawn with another design.
            InvalidRequest: designs without devices, or devices without designs.

        Example:
            >>> from deniable.designs import warner
            >>> list(Responses.of(warner(1), ["yes", None, "no"]))
            ['yes', None, 'no']
            >>> from deniable.designs import direct
            >>> rows = Responses.of({"RR": warner(1), "DQ": direct()}, ["yes", "no", "no"], devices=["RR", "DQ", "RR"])
            >>> [list(each) for each in rows]
            [['yes', None, 'no'], [None, 'no', None]]
        """
        from deniable.tallies.devices import read_devices
        from deniable.tallies.reading import read_rows

        if isinstance(design, Mapping) != (devices is not None):
            raise InvalidRequest(
                "designs by name and devices= go together; expected a design for each device, and which row was asked "
                "with which; or one design alone."
            )
        if isinstance(design, Mapping):
            return read_devices(design, column, devices, codes=codes)
        rows, missing = read_rows(design, column, codes=codes)
        return cls(design, {"response": rows}, missing).with_names(
            index_of(column), name_of(column)
        )

    def with_names(self, index: Any, name: str) -> Self:
        """Return the same responses with the index and the name of the column that they came from.

        Args:
            index: names of the rows, from pandas; None where they have none. One of another length is ignored.
            name: of the column; empty where it has none.
        """
        if index is not None and len(index) != len(self):
            index = None
        return (
            self
            if index is None and not name
            else replace(self, index=index, name=name)
        )

    def __len__(self) -> int:
        return len(self.columns[self.design.columns[0]])

    def __getitem__(self, rows: object) -> Any:
        """Return the symbol of one row; or the responses of some: a slice, a mask or an array of numbers of rows."""
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            row = range(len(self))[rows]
            return next(iter(self[row : row + 1]))
        chosen: Any = rows if isinstance(rows, slice) else np.asarray(rows)
        return replace(
            self,
            columns={name: column[chosen] for name, column in self.columns.items()},
            missing=None if self.missing is None else self.missing[chosen],
            index=None if self.index is None else self.index[chosen],
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the symbols of all rows, for NumPy and pandas."""
        symbols = _to_objects(list(self))
        return symbols if dtype is None else symbols.astype(dtype)

    @property
    def gaps(self) -> Missing:
        """For every row whether it holds nothing."""
        return (
            np.zeros(len(self), np.bool_) if self.missing is None else self.missing
        )

    def present(self) -> dict[str, NDArray[Any]]:
        """Return the columns without the rows that are missing; without a copy, where none are."""
        if self.missing is None:
            return dict(self.columns)
        return {name: column[~self.missing] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[object]:
        columns = [
            self.design.symbols_in(name, column)
            for name, column in self.present().items()
        ]
        rows = (
            iter(columns[0])
            if len(columns) == 1
            else iter(zip(*columns, strict=True))
        )
        return (None if gap else next(rows) for gap in self.gaps.tolist())

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, Responses):
            return NotImplemented
        self.check(other.design)
        columns = {
            name: np.concatenate([column, other.columns[name]])
            for name, column in self.columns.items()
        }
        unnamed = self.index is None or other.index is None
        return replace(
            self,
            columns=columns,
            missing=np.concatenate([self.gaps, other.gaps]),
            index=None if unnamed else self.index.append(other.index),
            name=self.name if self.name == other.name else "",
        )

    def __radd__(self, other: int) -> Self:
        """Add to 0, with which `sum()` begins."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Responses)
            and self.design == other.design
            and all(
                np.array_equal(column, other.columns[name])
                for name, column in self.columns.items()
            )
            and np.array_equal(self.gaps, other.gaps)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by what may be millions of rows

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # What leaves this program names nobody: an index may hold people, or even what they answered.
        return type(self), (
            self.design,
            dict(self.columns),
            self.missing,
            None,
            self.name,
        )

    def __repr__(self) -> str:
        gaps = int(self.gaps.sum())
        return f"Responses({self.design!r}, {count_noun(len(self), 'row')}{f', {gaps:,} missing' if gaps else ''})"

    def check(self, design: AnyDesign) -> None:
        """Make sure that these are responses of a design.

        Raises:
            Incompatible: of another one.
        """
        if design != self.design:
            raise Incompatible(
                f"these responses were drawn with {self.design!r}; expected {design!r}.",
                "Tally each design's responses on their own.",
            )

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table that names its design by its hash; packed rows are binary, missing rows null.

        Example:
            >>> from deniable.designs import unary
            >>> Responses(unary(3, 1), {"response": np.array([[5], [0]], np.uint8)}).to_arrow().schema.types
            [FixedSizeBinaryType(fixed_size_binary[1])]
        """
        import pyarrow as pa

        arrays: Any = {
            name: _to_arrow(column, self.missing)
            for name, column in self.columns.items()
        }
        return pa.table(arrays, metadata={_DESIGN: self.design.hash})

    @classmethod
    def from_arrow(cls, table: pa.Table, design: Asked) -> Self:
        """Read what `to_arrow` wrote.

        Raises:
            Incompatible: the table names another design.
            InvalidResponse: it names none, or holds something else.
        """
        hash_ = (
            (table.schema.metadata or {})
            .get(_DESIGN, b"")
            .decode("utf-8", "replace")
        )
        if hash_ != design.hash:
            kind = Incompatible if hash_ else InvalidResponse
            raise kind(
                f"this table belongs to the design {hash_ or '(none named)':.19}; expected {design.hash:.19}… "
                f"({design!r}).",
                "Hand over the design that its responses were drawn with; count codes from elsewhere with "
                "dn.tally(design, codes).",
            )
        absent = [name for name in design.columns if name not in table.column_names]
        if absent:
            raise InvalidResponse(
                f"the table has no column {absent[0]!r}; expected {', '.join(design.columns)}."
            )
        columns = {
            name: table.column(name).combine_chunks() for name in design.columns
        }
        missing = np.asarray(columns[design.columns[0]].is_null())
        return cls(
            design,
            {name: _from_arrow(column, missing) for name, column in columns.items()},
            missing,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table of symbols, missing where nothing was sent; a column for each attribute or stage.

        Its rows are called as those of the column that the responses came from, so that
        `frame["sent"] = responses.to_frame()["response"]` gives everybody their own, also in another order.

        Raises:
            MissingExtra: pandas is not installed.
        """
        columns = {
            name: _expand_rows(symbols, self.gaps)
            for name, symbols in self._symbols().items()
        }
        frame = data_frame(columns)
        return frame if self.index is None else frame.set_axis(self.index, axis=0)

    def _symbols(self) -> dict[str, list[object]]:
        """Return the symbols of the rows that are there, by column; of several attributes, by attribute."""
        present = self.present()
        if getattr(self.design, "attributes", ()):
            return self.design.by_attribute(present["response"])  # type: ignore[attr-defined, no-any-return]  # as it has some
        return {
            name: list(self.design.symbols_in(name, column))
            for name, column in present.items()
        }


def add_missing(tally: Counted, responses: Responses[Any]) -> Counted:
    """Return the tally of the rows that are present with the number of rows that are missing."""
    if responses.missing is None:
        return tally
    return replace(tally, missing=int(responses.missing.sum()))  # type: ignore[call-arg]  # every tally has it


def _read_only(column: object) -> NDArray[Any]:
    array = np.asarray(column)
    if array.flags.owndata:
        array.flags.writeable = False
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _expand_rows(present: list[object], absent: Missing) -> NDArray[np.object_]:
    column: NDArray[np.object_] = np.full(len(absent), None, object)
    column[~absent] = _to_objects(present)
    return column


def _to_objects(items: list[object]) -> NDArray[np.object_]:
    # One more, so that rows of one length stay objects.
    return np.array([*items, None], object)[:-1]


def _to_arrow(column: NDArray[Any], missing: Missing | None) -> Any:
    import pyarrow as pa

    if column.ndim == 1:
        return pa.array(column, mask=missing)
    packed = np.ascontiguousarray(column)
    width = packed.shape[1] * packed.itemsize
    array: Any = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(packed), [None, pa.py_buffer(packed.data)]
    )
    if missing is None:
        return array
    import pyarrow.compute as pc

    return pc.if_else(pa.array(~missing), array, pa.scalar(None, pa.binary(width)))


def _from_arrow(column: Any, missing: Missing) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(column.type):
        width = column.type.byte_width
        content = np.frombuffer(column.buffers()[1] or b"", np.uint8)[
            column.offset * width :
        ]
        rows = content[: len(column) * width].reshape(len(column), width)
        return (
            np.where(missing[:, None], np.uint8(0), rows) if missing.any() else rows
        )
    if not pa.types.is_integer(column.type):
        raise InvalidResponse(
            f"a column is of type {column.type}; expected codes or packed rows."
        )
    return np.asarray(column.fill_null(0))
