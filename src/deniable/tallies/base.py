"""What all tallies have in common: they belong to a design, add up in any order, and are sealed and read back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import documents
from deniable.documents import HashedDocument, Response, Sealed
from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidResponse,
    UnreadableFile,
    require,
)
from deniable.rendering import Rendered, data_frame

__all__ = [
    "AdditiveTally",
    "Counts",
    "count_codes",
    "count_responses",
    "read_only",
    "response_numbers",
]

if TYPE_CHECKING:
    import pandas as pd

Counts: TypeAlias = NDArray[np.int64]
Sums: TypeAlias = tuple[Fraction, ...]
_MAX_COUNT = 1 << 62  # of all counts together, whose sum is still an int64
Asking = TypeVar("Asking", bound=HashedDocument)


@dataclass(frozen=True, eq=False)
class AdditiveTally(Rendered, Sealed, Generic[Asking]):
    """Counts of the responses to one design. They add up in any order, also by `sum()`; the empty one is a true zero.

    A type of tally is a dataclass whose further fields add up: arrays of counts, numbers of people, or tallies.

    Attributes:
        design: what the responses were drawn with.
    """

    OWNER: ClassVar[str] = "design"  # what its design is called in JSON
    design: Asking

    def __post_init__(self) -> None:
        if self.missing < 0 or self.respondents < 0:
            raise InvalidResponse(
                "a number of people is negative; expected 0 or more."
            )

    if TYPE_CHECKING:

        @property
        def respondents(self) -> int:
            """How many responses were counted."""

        @property
        def missing(self) -> int:
            """How many respondents sent nothing. They take no part in an estimate."""

    @classmethod
    @abstractmethod
    def empty(cls, design: Asking) -> Self:
        """Return the tally of no responses, which changes nothing when added.

        Raises:
            InvalidRequest: more cells than can be counted.
        """

    def to_frame(self) -> pd.DataFrame:
        """Return the table of the counts for pandas, all rows with all their digits.

        Raises:
            MissingExtra: pandas is not installed.
        """
        sheet = self._sheet()
        names = [name or "name" for name in sheet.names or sheet.heads]
        return data_frame(
            [
                dict(zip(names, row, strict=True))
                for row in sheet.values or sheet.cells
            ]
        )

    def __str__(self) -> str:
        return self.to_text()

    @property
    def _parts(self) -> dict[str, Any]:
        names = [field.name for field in fields(self) if field.name != "design"]
        return {name: getattr(self, name) for name in names}

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add a tally of {self.design!r} to one of {other.design!r}; expected one {self.OWNER}.",
                "Estimate each on its own, then compare or combine the estimates.",
            )
        return type(self)(
            self.design, *map(_plus, self._parts.values(), other._parts.values())
        )

    def __radd__(self, other: int) -> Self:
        """Add to 0, with which `sum()` begins."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self.design == other.design
            and all(map(_are_equal, self._parts.values(), other._parts.values()))
        )

    def __hash__(self) -> int:
        parts = [
            part.tobytes() if isinstance(part, np.ndarray) else part
            for part in self._parts.values()
        ]
        return hash((self.design, *parts))

    def to_body(self) -> dict[str, Any]:
        """Return the counts for JSON, with the hash of their design."""
        parts = {name: _serialize_part(part) for name, part in self._parts.items()}
        return {self.OWNER: self.design.hash, **parts}

    @classmethod
    def from_body(cls, body: Mapping[str, Any], design: Asking) -> Self:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: something else.
            IncompatibleTallies: it was counted under another design.
        """
        hash_ = documents.field(body, cls.OWNER, str)
        require(
            hasattr(design, "hash"),
            design,
            f"the {cls.OWNER}",
            "what the responses were drawn with",
        )
        if hash_ != design.hash:
            raise IncompatibleTallies(
                f"this tally belongs to the {cls.OWNER} {hash_:.19}…; expected {design.hash:.19}… ({design!r}).",
                f"Hand over the {cls.OWNER} file that its responses were drawn with.",
            )
        try:
            return cls(design, **cls._read_parts(body, design))
        except InvalidResponse as error:
            raise UnreadableFile(error.problem, error.hint) from None

    @classmethod
    def _read_parts(cls, body: Mapping[str, Any], design: Asking) -> dict[str, Any]:  # noqa: ARG003 - some need it
        readers = {
            field.name: _READERS.get(str(field.type)) for field in fields(cls)
        }
        return {name: read(body, name) for name, read in readers.items() if read}

    @classmethod
    def from_json(cls, text: str | bytes, design: Asking) -> Self:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        return cls.from_body(documents.unseal(cls.SCHEMA, text), design)


def read_only(counts: ArrayLike, shape: tuple[int, ...], cells: str = "") -> Counts:
    """Return counts as a copy that nobody can change.

    Args:
        counts: whole numbers, 0 or more.
        shape: how many there are.
        cells: what they are counts of.

    Raises:
        InvalidResponse: of another shape, no whole numbers, negative ones, or too many to add up.
    """
    array = np.asarray(counts)
    if array.shape != shape or (array.size and array.dtype.kind not in "iu"):
        raise InvalidResponse(
            f"there are counts of shape {array.shape} and type {array.dtype}; expected whole numbers of shape {shape}"
            f"{cells and ', ' + cells}."
        )
    copied = array.astype(np.int64)  # what does not fit turns negative
    if (copied < 0).any():
        raise InvalidResponse(
            "a count is negative or beyond 64 bits; expected 0 or more."
        )
    if copied.sum(dtype=np.float64) > _MAX_COUNT:
        raise InvalidResponse(
            f"the counts add up to more than {_MAX_COUNT:,}; expected at most that."
        )
    copied.flags.writeable = False
    return copied


class CodedDesign(Protocol):
    """A design that numbers its responses."""

    @property
    def hash(self) -> str:
        """The content hash."""
        ...

    def response_number(self, symbol: Any) -> int:
        """Return the number of a response."""
        ...


def response_numbers(design: CodedDesign, responses: object) -> Iterator[int | None]:
    """Yield the number of each response; None for a respondent who sent nothing.

    Args:
        design: what the responses were drawn with.
        responses: any iterable of `Response` objects and of what they carry as text; it is read once.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.
    """
    if isinstance(responses, str | bytes | Mapping) or not isinstance(
        responses, Iterable
    ):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected a sequence with a response for each respondent."
        )
    for row, response in enumerate(responses):
        yield None if response is None else _number(design, response, row)


def _number(design: CodedDesign, response: object, row: int) -> int:
    if isinstance(response, Response):
        if response.design != design.hash:
            raise Incompatible(
                f"row {row + 1:,} belongs to the design {response.design:.19}…; expected {design.hash:.19}… "
                f"({design!r}).",
                "Tally each design's responses on their own.",
            )
        response = response.symbol
    try:
        return design.response_number(response)
    except InvalidResponse as error:
        raise InvalidResponse(
            f"row {row + 1:,}: {error.problem}", error.hint
        ) from None


def count_responses(
    design: CodedDesign, responses: object, cells: int
) -> tuple[Counts, int]:
    """Return how often each response was sent, by its number, and how many respondents sent nothing.

    Args:
        design: what the responses were drawn with.
        responses: an array of codes as the engine gives it, or any iterable of `Response` objects and of what they
            carry as text; None for a respondent who sent nothing.
        cells: how many different responses there are.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.
    """
    if isinstance(responses, np.ndarray):
        return count_codes(responses, cells), 0
    counts, missing = np.zeros(cells, np.int64), 0
    for number in response_numbers(design, responses):
        if number is None:
            missing += 1
        else:
            counts[number] += 1
    return counts, missing


def count_codes(codes: NDArray[Any], responses: int) -> Counts:
    """Return how often each number below `responses` occurs.

    Raises:
        InvalidResponse: another number, or no row of whole numbers.
    """
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidResponse(
            f"the responses are an array of shape {codes.shape} and type {codes.dtype}; expected a whole number for "
            "each respondent."
        )
    wrong = (codes < 0) | (codes >= responses)
    if wrong.any():
        raise InvalidResponse(
            f"row {int(wrong.argmax()) + 1:,} is not below {responses:,}; expected a response."
        )
    return np.bincount(codes.astype(np.intp, copy=False), minlength=responses)


def is_count(number: object) -> bool:
    """Tell whether something is a whole number, 0 or more."""
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return is_whole and bool(number >= 0)  # type: ignore[operator]  # a whole number, by now


def _plus(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, tuple):
        return tuple(map(_plus, first, second))
    return first + second


def _are_equal(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)  # type: ignore[arg-type]  # of the same field
    return bool(first == second)


def _serialize_part(part: Any) -> Any:
    """Serialize a part of a tally for JSON."""
    if isinstance(part, tuple):
        return list(map(_serialize_part, part))
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, Fraction):
        return str(part)
    return part.to_body() if hasattr(part, "to_body") else part


def _read_counts(body: Mapping[str, Any], name: str) -> Counts:
    numbers = documents.field(body, name, list)
    try:
        if _are_counts(numbers):
            return np.array(numbers, np.int64)
    except ValueError:  # rows of different lengths
        pass
    raise UnreadableFile(
        f"the {name} are not whole numbers; expected 0 or more, in rows of one length."
    )


def _are_counts(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_are_counts, value))
    return type(value) is int and 0 <= value < 1 << 63


def _read_sums(body: Mapping[str, Any], name: str) -> Sums:
    try:
        return tuple(map(Fraction, map(str, documents.field(body, name, list))))
    except (ValueError, ZeroDivisionError):
        raise UnreadableFile(
            f"the {name} are not sums of numbers; expected fractions."
        ) from None


_READERS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "int": documents.integer_field,
    "Counts": _read_counts,
    "Sums": _read_sums,
}
"""How the parts of a tally are read from JSON, by the type of their field."""
