"""What can be seen in a response, whatever it is: columns of small facts, by which two answers may be told apart.

A number is a fact itself, and so are its bits; a text has a length and a letter in each place; a list has a length, an
element in each place, and holds some elements and not others; a set holds elements; a mapping has keys in an order, and
a value for each. Tuples within tuples are taken apart. Nothing of a response is set aside: order and type are facts.

Words are predicates, such as "holds 'tea'" and "is 'yes'", which `learning` puts together and denies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.documents import Response
from deniable.errors import quoted
from deniable.tallies.responses import Responses

__all__ = ["FactColumn", "Facts", "facts", "plain"]

_MOST_PLACES = 512  # places of a text or a list that are looked at one by one
_MOST_ELEMENTS = (
    1024  # different elements of sets and lists that are looked at one by one
)
_FEW_NUMBERS = 64  # up to so many different numbers are labels; of more, the bits are looked at as well
_LOOKED_AT = 4096  # responses by which it is decided what they are


@dataclass(frozen=True)
class FactColumn:
    """One fact of each response.

    Attributes:
        values: returns it for all responses of a batch, as an array of numbers or of texts.
        say: returns in words that the fact has a value.
    """

    values: Callable[[], NDArray[Any]]
    say: Callable[[Any], str]


Facts: TypeAlias = dict[str, FactColumn]
"""The columns of a batch of responses, by name. The same kind of response gives the same names."""


def facts(responses: Any) -> Facts:
    """Return what can be seen in responses.

    Example:
        >>> seen = facts([("b", "a"), ("a", "c")])
        >>> sorted(seen)
        ['at 0', 'at 1', "holds 'a'", "holds 'b'", "holds 'c'", 'length', 'whole']
        >>> seen["holds 'b'"].values().tolist(), seen["at 1"].say("c")
        ([True, False], "has 'c' in place 1")
    """
    if isinstance(responses, Responses):
        return _of_responses(responses)
    if (
        isinstance(responses, np.ndarray)
        and responses.dtype != object
        and responses.ndim in (1, 2)
    ):
        return _of_array(responses, "")
    array = _side_by_side(responses)
    return (
        _of_array(array, "")
        if array is not None
        else _of_objects([plain(response) for response in responses], "")
    )


def _side_by_side(responses: Any) -> NDArray[Any] | None:
    """Return rows of numbers, all of one length, as an array: the quick way for bit vectors; None for all else."""
    if not len(responses) or not isinstance(responses[0], list | tuple | np.ndarray):
        return None
    try:
        array = np.array(responses)
    except (ValueError, OverflowError):
        return None
    return array if array.ndim == 2 and array.dtype.kind in "biuf" else None


def plain(response: Any) -> Any:
    """Return a response in terms of numbers, texts, tuples, frozen sets and mappings, so that it can be compared."""
    if isinstance(response, str | int | float | None):
        return response
    for kind, take in _PLAIN.items():
        if isinstance(response, kind):
            return take(response)
    if dataclasses.is_dataclass(response):
        return tuple(
            plain(getattr(response, attribute.name))
            for attribute in dataclasses.fields(response)
        )
    return repr(response)


_PLAIN: dict[Any, Callable[[Any], Any]] = {
    np.generic: lambda response: plain(response.item()),
    Response: lambda response: response.symbol,
    np.ndarray: lambda response: tuple(map(plain, response.tolist())),
    Mapping: lambda response: {key: plain(value) for key, value in response.items()},
    Set: lambda response: frozenset(map(plain, response)),
    Iterable: lambda response: tuple(map(plain, response)),
}


def _of_responses(responses: Responses[Any]) -> Facts:
    """Take the columns of a design apart: codes are facts, packed rows have a bit for each category."""
    columns: Facts = {}
    for name, rows in responses.columns.items():
        before = "" if len(responses.columns) == 1 else f"{name} "
        if rows.ndim == 1:
            columns[f"{before}response"] = FactColumn(
                partial(np.asarray, rows), _symbol(responses.design, name, before)
            )
        else:
            columns |= _of_packed(responses.design, name, rows, before)
    return columns


def _of_packed(design: Any, name: str, rows: NDArray[np.uint8], before: str) -> Facts:
    """Return each bit of packed rows; and the rows as they are, where they are few."""
    labels = (
        design.categories
        if isinstance(design, Design) and design.channel.sizes
        else None
    )
    columns = {
        f"{before}bit {at}": FactColumn(
            partial(_bit, rows, at),
            _membership_text(before, repr(labels[at]) if labels else f"bit {at}"),
        )
        for at in range(len(labels) if labels else 8 * rows.shape[1])
    }
    if (
        rows.shape[1] <= 8
        and len(np.unique(rows[:_LOOKED_AT], axis=0)) <= _LOOKED_AT // 4
    ):
        say = _symbol(design, name, before)
        columns[f"{before}whole"] = FactColumn(
            lambda: _number(rows),
            lambda number: say(
                np.array([number], "<u8").view(np.uint8)[: rows.shape[1]]
            ),
        )
    return columns


def _symbol(design: Any, column: str, before: str) -> Callable[[Any], str]:
    return lambda code: (
        f"{before}is {quoted(next(iter(design.symbols_in(column, np.array([code])))), 60)}"
    )


def _bit(rows: NDArray[np.uint8], at: int) -> NDArray[np.uint8]:
    return rows[:, at // 8] >> np.uint8(at % 8) & np.uint8(1)


def _number(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    wide = np.zeros((len(rows), 8), np.uint8)
    wide[:, : rows.shape[1]] = rows
    return wide.view("<u8")[:, 0]


def _of_array(array: NDArray[Any], before: str) -> Facts:
    if array.ndim == 1:
        return (
            _of_texts(array, before)
            if array.dtype.kind in "US"
            else _of_numbers(array, before)
        )
    columns: Facts = {}
    for at in range(min(array.shape[1], _MOST_PLACES)):
        columns[f"{before}at {at}"] = _plain_column(
            array[:, at], f"{before}has {{}} in place {at}"
        )
    return columns | _held_elements(array, before) | _whole_rows(array, before)


def _plain_column(values: NDArray[Any], words: str) -> FactColumn:
    return FactColumn(lambda: values, lambda value: words.format(_element_text(value)))


def _element_text(value: Any) -> str:
    return quoted(value.item() if isinstance(value, np.generic) else value)


def _of_numbers(values: NDArray[Any], before: str) -> Facts:
    """Return numbers, and the bits of numbers that are many: of floats those that end the mantissa."""
    columns = {f"{before}response": _plain_column(values, f"{before}is {{}}")}
    if values.dtype.kind == "b" or len(np.unique(values[:_LOOKED_AT])) <= _FEW_NUMBERS:
        return columns
    words = np.ascontiguousarray(
        values.astype(np.float64)
        if values.dtype.kind == "f"
        else values.astype(np.int64)
    )
    bits = words.view(np.uint64)
    for at in range(16 if values.dtype.kind == "f" else 64):
        columns[f"{before}bit {at}"] = FactColumn(
            partial(_bit_of, bits, at), _membership_text(before, f"bit {at}")
        )
    return columns


def _bit_of(words: NDArray[np.uint64], at: int) -> NDArray[np.uint8]:
    return np.asarray(words >> np.uint64(at) & np.uint64(1), np.uint8)


def _letter_said(words: str, letter: Any) -> str:
    return words.format(chr(int(letter)) if letter else "")


def _anywhere(rows: NDArray[Any], element: Any) -> NDArray[np.bool_]:
    return np.asarray((rows == element).any(axis=1))


def _among(responses: list[Any], element: Any) -> NDArray[np.bool_]:
    return np.array([element in response for response in responses], np.bool_)


def _of_texts(values: NDArray[Any], before: str) -> Facts:
    letters = np.ascontiguousarray(values.astype(np.str_))
    columns = {
        f"{before}whole": _plain_column(letters, f"{before}is {{}}"),
        f"{before}length": _plain_column(
            np.strings.str_len(letters), f"{before}has the length {{}}"
        ),
    }
    places = letters.dtype.itemsize // 4
    if 0 < places <= _MOST_PLACES:
        table = letters.view(np.uint32).reshape(len(letters), places)
        for at in range(places):
            columns[f"{before}letter {at}"] = FactColumn(
                partial(np.asarray, table[:, at]),
                partial(_letter_said, f"{before}has {{!r}} in place {at}"),
            )
    return columns


def _held_elements(array: NDArray[Any], before: str) -> Facts:
    """Return which elements rows hold, wherever they stand; for zeros and ones their places say all."""
    elements = np.unique(array[:_LOOKED_AT])
    if len(elements) <= 2 or len(elements) > _MOST_ELEMENTS or array.dtype.kind == "f":
        return {}
    return {
        f"{before}holds {_element_text(element)}": FactColumn(
            partial(_anywhere, array, element),
            _membership_text(before, _element_text(element)),
        )
        for element in elements
    }


def _membership_text(before: str, element: str) -> Callable[[Any], str]:
    return lambda value: f"{before}{'holds' if value else 'lacks'} {element}"


def _whole_rows(array: NDArray[Any], before: str) -> Facts:
    """Return rows as they are, where they are few: by a number for each that hardly two of them share."""
    rows = (
        array
        if array.dtype.kind in "biu"
        else np.unique(array, return_inverse=True)[1].reshape(array.shape)
    )
    factors = (
        np.random.default_rng(rows.shape[1]).integers(1 << 63, size=rows.shape[1]) * 2
        + 1
    )
    numbers = (rows.astype(np.int64) * factors).sum(axis=1)
    if len(np.unique(numbers[:_LOOKED_AT])) > _LOOKED_AT // 4:
        return {}
    return {
        f"{before}whole": FactColumn(
            lambda: numbers,
            lambda value: (
                f"{before}is {quoted(array[int((numbers == value).argmax())].tolist(), 60)}"
            ),
        )
    }


def _of_objects(responses: list[Any], before: str) -> Facts:
    """Return what can be seen in Python objects: together where they are of one kind, otherwise kind by kind."""
    kinds = {_kind(response) for response in responses[:_LOOKED_AT]}
    if len(kinds) == 1:
        (kind,) = kinds
        return _KINDS[kind](responses, before)
    columns = {
        f"{before}type": _plain_column(
            np.array([_kind(response) for response in responses]),
            f"{before}has the type {{}}",
        )
    }
    return columns | _of_texts(
        np.array([repr(response) for response in responses]), before
    )


def _kind(response: Any) -> str:
    if isinstance(response, str):
        return "text"
    if isinstance(response, tuple):
        return "sequence"
    if isinstance(response, frozenset):
        return "set"
    if isinstance(response, dict):
        return "mapping"
    return "nothing" if response is None else "number"


def _of_python_texts(responses: list[Any], before: str) -> Facts:
    return _of_texts(
        np.array([response.replace("\0", "␀") for response in responses]), before
    )  # which an array drops at the end


def _of_python_numbers(responses: list[Any], before: str) -> Facts:
    try:
        array = np.array(responses)
    except (OverflowError, ValueError):
        array = np.array([], object)
    if array.dtype == object or len(array) != len(
        responses
    ):  # numbers without end, or something among them
        return _of_texts(np.array([repr(response) for response in responses]), before)
    return _of_numbers(array, before)


def _of_sequences(responses: list[Any], before: str) -> Facts:
    lengths = np.array([len(response) for response in responses])
    simple = all(
        _kind(element) in ("number", "text")
        for response in responses[:_LOOKED_AT]
        for element in response
    )
    if simple and len(set(lengths.tolist())) == 1:
        return _of_array(np.array(responses).reshape(len(responses), -1), before) | {
            f"{before}length": _plain_column(lengths, f"{before}has the length {{}}")
        }
    columns: Facts = {
        f"{before}length": _plain_column(lengths, f"{before}has the length {{}}")
    }
    for at in range(min(int(lengths.max(initial=0)), _MOST_PLACES)):
        elements = [
            response[at] if at < len(response) else None for response in responses
        ]
        if simple:
            columns[f"{before}at {at}"] = _plain_column(
                np.array([repr(element) for element in elements]),
                f"{before}has {{}} in place {at}",
            )
        else:
            columns |= _of_objects(elements, f"{before}place {at} ")
    return columns | (
        _of_sets([frozenset(response) for response in responses], before)
        if simple
        else {}
    )


def _of_sets(responses: list[Any], before: str) -> Facts:
    sizes = np.array([len(response) for response in responses])
    elements = sorted(
        {element for response in responses for element in response}, key=repr
    )[:_MOST_ELEMENTS]
    columns = {f"{before}length": _plain_column(sizes, f"{before}has the length {{}}")}
    for element in elements:
        columns[f"{before}holds {element!r}"] = FactColumn(
            partial(_among, responses, element),
            _membership_text(before, repr(element)),
        )
    return columns


def _of_mappings(responses: list[Any], before: str) -> Facts:
    columns = _of_sequences(
        [tuple(response) for response in responses], f"{before}keys "
    )
    for key in sorted({key for response in responses for key in response}, key=repr)[
        :_MOST_ELEMENTS
    ]:
        values = np.array([repr(response.get(key)) for response in responses])
        columns[f"{before}{key!r}"] = _plain_column(
            values, f"{before}has {key!r} with {{}}"
        )
    return columns


def _of_nothing(responses: list[Any], before: str) -> Facts:
    return {
        f"{before}response": _plain_column(
            np.zeros(len(responses), np.uint8), f"{before}is nothing"
        )
    }


_KINDS: dict[str, Callable[[list[Any], str], Facts]] = {
    "text": _of_python_texts,
    "number": _of_python_numbers,
    "sequence": _of_sequences,
    "set": _of_sets,
    "mapping": _of_mappings,
    "nothing": _of_nothing,
}
