"""What all tallies have in common: they belong to a design, add up in any order, and are sealed and read back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
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
from numpy.typing import NDArray

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
            raise InvalidResponse("a number of people is negative; expected 0 or more.")

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
            [dict(zip(names, row, strict=True)) for row in sheet.values or sheet.cells]
        )

    def __str__(self) -> str:
        return self.to_text()

    @property
    def _parts(self) -> dict[str, Any]:
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name != "design"
        }

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
            and all(map(_same, self._parts.values(), other._parts.values()))
        )

    def __hash__(self) -> int:
        parts = (
            each.tobytes() if isinstance(each, np.ndarray) else each
            for each in self._parts.values()
        )
        return hash((self.design, *parts))

    def to_body(self) -> dict[str, Any]:
        """Return the counts for JSON, with the hash of their design."""
        return {
            self.OWNER: self.design.hash,
            **{name: _plain(part) for name, part in self._parts.items()},
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any], design: Asking) -> Self:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: something else.
            IncompatibleTallies: it was counted under another design.
        """
        named = documents.field(body, cls.OWNER, str)
        require(
            hasattr(design, "hash"),
            design,
            f"the {cls.OWNER}",
            "what the responses were drawn with",
        )
        if named != design.hash:
            raise IncompatibleTallies(
                f"this tally belongs to the {cls.OWNER} {named:.19}…; expected {design.hash:.19}… ({design!r}).",
                f"Hand over the {cls.OWNER} file that its responses were drawn with.",
            )
        try:
            return cls(design, **cls._read_parts(body, design))
        except InvalidResponse as error:
            raise UnreadableFile(error.problem, error.hint) from None

    @classmethod
    def _read_parts(cls, body: Mapping[str, Any], design: Asking) -> dict[str, Any]:  # noqa: ARG003 - some need it
        named = {
            each.name: each.type
            for each in fields(cls)
            if each.type in ("int", "Counts")
        }
        return {
            name: documents.integer_field(body, name)
            if kind == "int"
            else _counts(body, name)
            for name, kind in named.items()
        }

    @classmethod
    def from_json(cls, text: str | bytes, design: Asking) -> Self:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        return cls.from_body(documents.unseal(cls.SCHEMA, text), design)


def read_only(counts: Any, shape: tuple[int, ...], cells: str = "") -> Counts:
    """Return counts as a copy that nobody can change.

    Args:
        counts: whole numbers, 0 or more.
        shape: how many there are.
        cells: what they are counts of.

    Raises:
        InvalidResponse: of another shape, no whole numbers, or negative ones.
    """
    given = np.asarray(counts)
    if given.shape != shape or (given.size and given.dtype.kind not in "iu"):
        raise InvalidResponse(
            f"there are counts of shape {given.shape} and type {given.dtype}; expected whole numbers of shape {shape}"
            f"{cells and ', ' + cells}."
        )
    whole = given.astype(np.int64)  # what does not fit turns negative
    if (whole < 0).any():
        raise InvalidResponse("a count is negative; expected 0 or more.")
    whole.flags.writeable = False
    return whole


class CodedDesign(Protocol):
    """A design that numbers its responses."""

    @property
    def hash(self) -> str:
        """The content hash."""
        ...

    def response_number(self, symbol: Any) -> int:
        """Return the number of a response."""
        ...


def response_numbers(design: CodedDesign, responses: Any) -> Iterator[int | None]:
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


def _number(design: CodedDesign, response: Any, row: int) -> int:
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
        raise InvalidResponse(f"row {row + 1:,}: {error.problem}", error.hint) from None


def count_responses(
    design: CodedDesign, responses: Any, cells: int
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


def _plus(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    return tuple(map(_plus, one, two)) if isinstance(one, tuple) else one + two


def _same(one: Any, two: Any) -> bool:
    return (
        bool(np.array_equal(one, two))
        if isinstance(one, np.ndarray)
        else bool(one == two)
    )


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return [each.to_body() for each in part]
    return part.tolist() if isinstance(part, np.ndarray) else part


def _counts(body: Mapping[str, Any], name: str) -> Counts:
    given = documents.field(body, name, list)
    try:
        if _all_whole(given):
            return np.array(given, np.int64)
    except ValueError:  # rows of different lengths
        pass
    raise UnreadableFile(
        f"the {name} are not whole numbers; expected 0 or more, in rows of one length."
    )


def _all_whole(given: Any) -> bool:
    return (
        all(map(_all_whole, given))
        if isinstance(given, list)
        else type(given) is int and 0 <= given < 1 << 63
    )
