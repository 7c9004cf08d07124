"""What can be seen in a response, whatever it is: columns of small facts, by which two answers may be told apart.

A number is a fact itself, and so are its bits; a text has a length and a letter in each place; a list has a length, an
element in each place, and holds some elements and not others; a set holds elements; a mapping has keys in an order, and
a value for each. Tuples within tuples are taken apart. Nothing of a response is set aside: order and type are facts.

Words are predicates, such as "holds 'tea'" and "is 'yes'", which `learning` puts together and denies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel.coding import to_integers
from deniable.designs import AnyDesign, Design
from deniable.documents import Response
from deniable.errors import quoted
from deniable.tallies.responses import Responses

_MAX_PLACES = 512  # places of a text or a list that are looked at one by one
_MAX_ELEMENTS = (
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


def facts(responses: Sequence[Any]) -> Facts:
    """Return what can be seen in responses.

    Example:
        >>> seen = facts([("b", "a"), ("a", "c")])
        >>> sorted(seen)
        ['at 0', 'at 1', "holds 'a'", "holds 'b'", "holds 'c'", 'length', 'whole']
        >>> seen["holds 'b'"].values().tolist(), seen["at 1"].say("c")
        ([True, False], "has 'c' in place 1")
    """
    if isinstance(responses, Responses):
        return _response_features(responses)
    if (
        isinstance(responses, np.ndarray)
        and responses.dtype != object
        and responses.ndim in (1, 2)
    ):
        return _array_features(responses)
    array = _side_by_side(responses)
    return (
        _array_features(array)
        if array is not None
        else _object_features(list(map(comparable_form, responses)))
    )


def _side_by_side(responses: Sequence[Any]) -> NDArray[Any] | None:
    """Return rows of numbers, all of one length, as an array: the quick way for bit vectors; None for all else."""
    if not len(responses) or not isinstance(responses[0], list | tuple | np.ndarray):
        return None
    try:
        array = np.array(responses)
    except (ValueError, OverflowError):
        return None
    return array if array.ndim == 2 and array.dtype.kind in "biuf" else None


def comparable_form(response: object) -> object:
    """Return a response as numbers, texts, tuples, frozen sets and mappings, so that it can be compared."""
    if isinstance(response, str | int | float | None):
        return response
    for kind, take in _PLAIN.items():
        if isinstance(response, kind):
            return take(response)
    if dataclasses.is_dataclass(response):
        return tuple(
            comparable_form(getattr(response, attribute.name))
            for attribute in dataclasses.fields(response)
        )
    return repr(response)


_PLAIN: dict[Any, Callable[[Any], Any]] = {
    np.generic: lambda response: comparable_form(response.item()),
    Response: lambda response: response.symbol,
    np.ndarray: lambda response: tuple(map(comparable_form, response.tolist())),
    Mapping: lambda response: {
        key: comparable_form(value) for key, value in response.items()
    },
    Set: lambda response: frozenset(map(comparable_form, response)),
    Iterable: lambda response: tuple(map(comparable_form, response)),
}


def _prefix_features(columns: Facts, before: str) -> Facts:
    """Prefix the names of the features of one part of a response with that part."""
    return {
        f"{before}{name}": FactColumn(
            column.values, partial(_say_part, before, column.say)
        )
        for name, column in columns.items()
    }


def _say_part(before: str, say: Callable[[Any], str], value: object) -> str:
    return f"{before}{say(value)}"


def _response_features(responses: Responses[Any]) -> Facts:
    """Split the columns of a design into features: codes, or one bit per category of packed rows."""
    columns: Facts = {}
    for name, rows in responses.columns.items():
        say = _symbol(responses.design, name)
        if rows.ndim == 1:
            facts_of_column = {
                "response": FactColumn(partial(np.asarray, rows), say)
            }
        else:
            facts_of_column = _packed_features(responses.design, rows, say)
        before = "" if len(responses.columns) == 1 else f"{name} "
        columns |= _prefix_features(facts_of_column, before)
    return columns


def _packed_features(
    design: AnyDesign, rows: NDArray[np.uint8], say: Callable[[Any], str]
) -> Facts:
    """Return each bit of packed rows as a feature; also whole rows where few values occur."""
    names = [f"bit {n}" for n in range(8 * rows.shape[1])]
    if isinstance(design, Design) and design.channel.sizes:
        names = [repr(category) for category in design.categories]
    columns = {
        f"bit {n}": FactColumn(
            partial(_bit, rows[:, n // 8], n % 8), _membership(name)
        )
        for n, name in enumerate(names)
    }
    if (
        rows.shape[1] <= 8
        and len(np.unique(rows[:_LOOKED_AT], axis=0)) <= _LOOKED_AT // 4
    ):
        columns["whole"] = FactColumn(
            partial(to_integers, rows),
            lambda number: say(
                np.array([number], "<u8").view(np.uint8)[: rows.shape[1]]
            ),
        )
    return columns


def _symbol(design: AnyDesign, column: str) -> Callable[[Any], str]:
    return lambda code: (
        f"is {quoted(next(iter(design.symbols_in(column, np.array([code])))), 60)}"
    )


def _bit(words: NDArray[np.unsignedinteger[Any]], number: int) -> NDArray[np.uint8]:
    one, shift = words.dtype.type(1), words.dtype.type(number)
    return np.asarray(words >> shift & one, np.uint8)


def _membership(element: str) -> Callable[[Any], str]:
    return lambda value: f"{'holds' if value else 'lacks'} {element}"


def _column(values: NDArray[Any], words: str) -> FactColumn:
    return FactColumn(
        lambda: values, lambda value: words.format(_element_text(value))
    )


def _length_column(responses: Sequence[Any]) -> FactColumn:
    lengths = np.array([len(response) for response in responses])
    return _column(lengths, "has the length {}")


def _element_text(value: object) -> str:
    return quoted(value.item() if isinstance(value, np.generic) else value)


def _array_features(array: NDArray[Any]) -> Facts:
    if array.ndim == 1:
        return (
            _text_features(array)
            if array.dtype.kind in "US"
            else _number_features(array)
        )
    columns = {
        f"at {n}": _column(array[:, n], f"has {{}} in place {n}")
        for n in range(min(array.shape[1], _MAX_PLACES))
    }
    return columns | _held_elements(array) | _whole_rows(array)


def _number_features(values: NDArray[Any]) -> Facts:
    """Return numbers as features, and their bits where many values occur: of floats the last of the mantissa."""
    columns = {"response": _column(values, "is {}")}
    if (
        values.dtype.kind == "b"
        or len(np.unique(values[:_LOOKED_AT])) <= _FEW_NUMBERS
    ):
        return columns
    is_float = values.dtype.kind == "f"
    words = np.ascontiguousarray(values.astype(np.float64 if is_float else np.int64))
    bits = words.view(np.uint64)
    for n in range(16 if is_float else 64):
        columns[f"bit {n}"] = FactColumn(
            partial(_bit, bits, n), _membership(f"bit {n}")
        )
    return columns


def _letter_said(words: str, letter: int) -> str:
    return words.format(chr(int(letter)) if letter else "")


def _text_features(values: NDArray[Any]) -> Facts:
    letters = np.ascontiguousarray(values.astype(np.str_))
    columns = {
        "whole": _column(letters, "is {}"),
        "length": _column(np.strings.str_len(letters), "has the length {}"),
    }
    places = letters.dtype.itemsize // 4
    if 0 < places <= _MAX_PLACES:
        table = letters.view(np.uint32).reshape(len(letters), places)
        for n in range(places):
            columns[f"letter {n}"] = FactColumn(
                partial(np.asarray, table[:, n]),
                partial(_letter_said, f"has {{!r}} in place {n}"),
            )
    return columns


def _held_elements(array: NDArray[Any]) -> Facts:
    """Return which elements rows hold, wherever they stand; for zeros and ones their places say all."""
    elements = np.unique(array[:_LOOKED_AT])
    if (
        len(elements) <= 2
        or len(elements) > _MAX_ELEMENTS
        or array.dtype.kind == "f"
    ):
        return {}
    return {
        f"holds {_element_text(element)}": FactColumn(
            partial(_anywhere, array, element), _membership(_element_text(element))
        )
        for element in elements
    }


def _anywhere(rows: NDArray[Any], element: object) -> NDArray[np.bool_]:
    return np.asarray((rows == element).any(axis=1))


def _whole_rows(array: NDArray[Any]) -> Facts:
    """Return rows as they are, where they are few: by a number for each that hardly two of them share."""
    rows = (
        array
        if array.dtype.kind in "biu"
        else np.unique(array, return_inverse=True)[1].reshape(array.shape)
    )
    factors = (
        np.random.default_rng(rows.shape[1]).integers(1 << 63, size=rows.shape[1])
        * 2
        + 1
    )
    numbers = (rows.astype(np.int64) * factors).sum(axis=1)
    if len(np.unique(numbers[:_LOOKED_AT])) > _LOOKED_AT // 4:
        return {}

    def say(number: int) -> str:
        row = array[int((numbers == number).argmax())]
        return f"is {quoted(row.tolist(), 60)}"

    return {"whole": FactColumn(lambda: numbers, say)}


def _object_features(responses: list[Any]) -> Facts:
    """Return the features of Python objects: jointly where all are of one type, otherwise type by type."""
    kinds = {_kind(response) for response in responses[:_LOOKED_AT]}
    if len(kinds) == 1:
        (kind,) = kinds
        return _KINDS[kind](responses)
    types = np.array([_kind(response) for response in responses])
    return {"type": _column(types, "has the type {}")} | _text_features(
        _reprs(responses)
    )


def _reprs(values: Iterable[object]) -> NDArray[np.str_]:
    return np.array([repr(value) for value in values])


def _kind(response: object) -> str:
    kinds = {str: "text", tuple: "sequence", frozenset: "set", dict: "mapping"}
    for base, kind in kinds.items():
        if isinstance(response, base):
            return kind
    return "nothing" if response is None else "number"


def _of_python_texts(responses: list[Any]) -> Facts:
    # which an array drops at the end
    return _text_features(
        np.array([response.replace("\0", "␀") for response in responses])
    )


def _of_python_numbers(responses: list[Any]) -> Facts:
    try:
        array = np.array(responses)
    except (OverflowError, ValueError):
        array = np.array([], object)
    # numbers without end, or something among them
    if array.dtype == object or len(array) != len(responses):
        return _text_features(_reprs(responses))
    return _number_features(array)


def _sequence_features(responses: list[Any]) -> Facts:
    lengths = {len(response) for response in responses}
    columns: Facts = {"length": _length_column(responses)}
    simple = all(
        _kind(element) in ("number", "text")
        for response in responses[:_LOOKED_AT]
        for element in response
    )
    if simple and len(lengths) == 1:
        return (
            _array_features(np.array(responses).reshape(len(responses), -1))
            | columns
        )
    for n in range(min(max(lengths, default=0), _MAX_PLACES)):
        elements = [
            response[n] if n < len(response) else None for response in responses
        ]
        if simple:
            columns[f"at {n}"] = _column(_reprs(elements), f"has {{}} in place {n}")
        else:
            columns |= _prefix_features(_object_features(elements), f"place {n} ")
    return columns | (
        _set_features(list(map(frozenset, responses))) if simple else {}
    )


def _set_features(responses: list[Any]) -> Facts:
    columns = {"length": _length_column(responses)}
    for element in _elements(responses):
        columns[f"holds {element!r}"] = FactColumn(
            partial(_contains_element, responses, element),
            _membership(repr(element)),
        )
    return columns


def _contains_element(responses: list[Any], element: object) -> NDArray[np.bool_]:
    return np.array([element in response for response in responses], np.bool_)


def _elements(responses: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the first of all different elements, in the order of what they look like."""
    elements = {element for response in responses for element in response}
    return sorted(elements, key=repr)[:_MAX_ELEMENTS]


def _mapping_features(responses: list[Any]) -> Facts:
    columns = _prefix_features(
        _sequence_features(list(map(tuple, responses))), "keys "
    )
    for key in _elements(responses):
        values = _reprs(response.get(key) for response in responses)
        columns[repr(key)] = _column(values, f"has {key!r} with {{}}")
    return columns


def _no_features(responses: list[Any]) -> Facts:
    return {"response": _column(np.zeros(len(responses), np.uint8), "is nothing")}


_KINDS: dict[str, Callable[[list[Any]], Facts]] = {
    "text": _of_python_texts,
    "number": _of_python_numbers,
    "sequence": _sequence_features,
    "set": _set_features,
    "mapping": _mapping_features,
    "nothing": _no_features,
}
