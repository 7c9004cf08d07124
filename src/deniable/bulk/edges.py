"""True edges of many people: from sparse matrices, graphs and tables. A row that is refused is named by its number.

Nothing in here repeats a weight, an item or a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.columns import is_sequence
from deniable.designs.labels import weight_error
from deniable.errors import InvalidAnswer, quoted
from deniable.files.arrow import is_text

Whole: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float64]

COLUMNS = ("person", "item", "weight")
"""What the columns of a table of edges are called, unless it is said otherwise."""


MAX_PEOPLE = 1 << 28
"""People whose edges are held at a time."""


class Catalogue(Protocol):
    """What is asked of a design here: which items there are, and between which ends weights lie."""

    @property
    def items(self) -> Sequence[str]:
        """What people may have."""
        ...

    @property
    def low(self) -> Fraction:
        """The smallest weight there can be."""
        ...

    @property
    def high(self) -> Fraction:
        """The largest weight there can be."""
        ...

    def item_number(self, item: str) -> int:
        """Return the number of an item, or raise InvalidAnswer."""
        ...


@dataclass(frozen=True, eq=False)
class Edges:
    """Who has which item with which weight: what is true, and never leaves the machine that holds it.

    Attributes:
        people: how many people there are, those without any item too.
        items: how many items there are.
        start: for each person where their items begin, and the end of the last one's.
        item: the number of the item of each edge, rising within a person.
        weight: the weight of each edge, between −1 and 1.
        names: what the people are called, where they have names.
    """

    people: int
    items: int
    start: Whole = field(repr=False)
    item: Whole = field(repr=False)
    weight: Real = field(repr=False)
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def sizes(self) -> Whole:
        """How many items each person has."""
        return np.diff(self.start)

    @property
    def degree(self) -> Whole:
        """How many people have each item."""
        return np.bincount(self.item, minlength=self.items).astype(np.int64)

    @property
    def weight_sum(self) -> Real:
        """The sum of the weights of each item, on the scale from −1 to 1."""
        return np.bincount(self.item, self.weight, self.items).astype(np.float64)

    @property
    def square_sum(self) -> Real:
        """The sum of the squared weights of each item."""
        return np.bincount(self.item, self.weight**2, self.items).astype(np.float64)

    @cached_property
    def keys(self) -> Whole:
        """person · items + item for each edge, rising: what a person and an item are looked up in."""
        people = np.repeat(np.arange(self.people, dtype=np.int64), self.sizes)
        return people * self.items + self.item

    @cached_property
    def thresholds(self) -> NDArray[np.uint64]:
        """(1 + weight)·2^63 for each edge, modulo 2^64: a word below it rounds the weight to +1.

        Why modulo: only a weight of exactly 1 reaches 2^64, and is told apart by itself.
        """
        scaled = np.where(self.weight < 1, np.rint(self.weight * 2.0**63), 0.0)
        return scaled.astype(np.int64).view(np.uint64) ^ np.uint64(1 << 63)


@dataclass(frozen=True)
class EdgeColumns:
    """A row for each edge, as it was given."""

    people: int
    person: Whole
    item: Whole
    weight: Real
    names: tuple[Any, ...] | None


def build(design: Catalogue, rows: EdgeColumns) -> Edges:
    """Check rows and bring them into the order of people and items.

    Raises:
        InvalidAnswer: an item that is not known, a weight outside the scale, or a pair that stands there twice.
    """
    wrong = (rows.item < 0) | (rows.item >= len(design.items))
    if wrong.any():
        refuse(wrong, "the item is not one of the design's; expected one that is.")
    weights = _scale(design, rows.weight)
    order = np.lexsort((rows.item, rows.person))
    person, item = rows.person[order], rows.item[order]
    again = (person[1:] == person[:-1]) & (item[1:] == item[:-1])
    if again.any():
        second = np.zeros(len(order), np.bool_)
        second[order[1:][again]] = True
        refuse(
            second,
            "the same person and item stand in a row before; expected each pair once.",
        )
    start = np.zeros(rows.people + 1, np.int64)
    np.cumsum(np.bincount(person, minlength=rows.people), out=start[1:])
    return Edges(
        rows.people, len(design.items), start, item, weights[order], rows.names
    )


def _scale(design: Catalogue, weights: Real) -> Real:
    """Bring weights to the scale from −1 to 1, in floating point, as `keyvalue.weights.read` does."""
    low, high = float(design.low), float(design.high)
    # Also where a weight is not a number.
    wrong = ~((weights >= low) & (weights <= high))
    if wrong.any():
        refuse(wrong, weight_error(design.low, design.high).problem)
    if (low, high) == (-1.0, 1.0):
        return weights
    scaled = (2 * weights - (low + high)) / (high - low)
    return np.asarray(np.clip(scaled, -1.0, 1.0), np.float64)


def refuse(wrong: NDArray[np.bool_], problem: str) -> NoReturn:
    """Refuse the first of some rows, by its number.

    Raises:
        InvalidAnswer: always.
    """
    count = int(wrong.sum())
    hint = f"{count:,} rows are so in all." if count > 1 else ""
    raise InvalidAnswer(f"row {int(wrong.argmax()) + 1:,}: {problem}", hint)


def read_edges(
    design: Catalogue,
    data: object,
    *,
    people: object = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
) -> Edges:
    """Read true edges.

    Args:
        design: whose items they lead to, and on whose scale the weights are.
        data: a mapping from items to weights for each person, in a list; a SciPy sparse matrix of people × items, whose
            stored entries are the edges; a networkx graph, whose nodes say on which side they are (`bipartite` is 0 for
            people and 1 for items); or a table with a row for each edge, of Arrow, pandas or Polars, or a mapping from
            names to columns.
        people: all people there are, or how many, where some have no item; for a graph the nodes that are people. The
            people of a table come in the order in which they first occur, and those without an edge last.
        columns: of a table: what the columns of person, item and weight are called.
        weight: of a graph: which attribute of an edge is its weight; an edge without it has the largest.

    Raises:
        InvalidAnswer: a weight outside the scale, an item twice for one person, or one that is not known. The row is
            named, and nothing of its content.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> design = lpp_ddagger(["tea", "coffee"], 1)
        >>> edges = read_edges(design, {"person": ["a", "b"], "item": ["tea", "tea"], "weight": [0.5, -1]}, people=5)
        >>> edges.people, edges.degree.tolist()
        (5, [2, 0])
    """
    if isinstance(data, Edges):
        if data.items != len(design.items):
            raise InvalidAnswer(
                f"the edges lead to {data.items:,} items; expected {len(design.items):,}."
            )
        return data
    rows = _read_rows(design, data, people, columns, weight)
    return build(design, rows)


def _read_rows(
    design: Catalogue,
    data: Any,
    people: Any,
    columns: tuple[str, str, str],
    weight: str,
) -> EdgeColumns:
    module = type(data).__module__.partition(".")[0]
    if is_sequence(data):
        _refuse_people(people, "a list")
        rows = _read_table(design, _read_mappings(data), range(len(data)), COLUMNS)
    elif module == "scipy":
        rows = _read_sparse(design, data, people)
    elif module == "networkx" or hasattr(data, "adj"):
        rows = _read_graph(design, data, people, weight)
    else:
        rows = _read_table(design, data, people, columns)
    return rows


def _read_mappings(people: Sequence[Any]) -> dict[str, list[Any]]:
    """Return a mapping for each person as a table with a row for each edge."""
    rows: list[tuple[int, object, object]] = []
    for person, answer in enumerate(people):
        if not isinstance(answer, Mapping):
            raise InvalidAnswer(
                f"the answer at index {person:,} is a {type(answer).__name__}; expected weights by item, a mapping."
            )
        rows.extend((person, item, weight) for item, weight in answer.items())
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _refuse_people(people: object, name: str) -> None:
    if people is not None:
        raise InvalidAnswer(
            f"{name} has a row for each of the people; expected no people= beside it."
        )


def _read_sparse(design: Catalogue, matrix: Any, people: Any) -> EdgeColumns:
    if len(matrix.shape) != 2 or matrix.dtype.kind not in "biuf":
        raise InvalidAnswer(
            f"the matrix has {len(matrix.shape)} dimensions of {matrix.dtype}; expected people × items of numbers."
        )
    if matrix.shape[1] != len(design.items):
        raise InvalidAnswer(
            f"the matrix has {matrix.shape[1]:,} columns; expected {len(design.items):,}, one for each item."
        )
    _refuse_people(people, "a matrix")
    entries = matrix.tocoo()
    person, item = entries.row.astype(np.int64), entries.col.astype(np.int64)
    return EdgeColumns(
        matrix.shape[0], person, item, entries.data.astype(np.float64), None
    )


def _read_graph(
    design: Catalogue, graph: Any, people: Any, weight: str
) -> EdgeColumns:
    if people is None:
        sides = dict(graph.nodes(data="bipartite"))
        if set(sides.values()) - {0, 1}:
            raise InvalidAnswer(
                "some nodes do not say on which side they are; expected bipartite=0 for people and 1 for items.",
                "Or pass people=, the nodes that are people.",
            )
        people = [node for node, side in sides.items() if side == 0]
    numbers = _number_people(people)
    edges: list[tuple[int, int, float]] = []
    for first, second, value in graph.edges(data=weight, default=float(design.high)):
        person, item = (first, second) if first in numbers else (second, first)
        if person not in numbers or item in numbers:
            raise InvalidAnswer(
                f"row {len(edges) + 1:,}: an edge does not join a person and an item; expected both."
            )
        edges.append((numbers[person], _item_number(design, item), _to_float(value)))
    columns = np.array(edges, np.float64).reshape(-1, 3).T
    persons, items = columns[:2].astype(np.int64)
    return EdgeColumns(len(numbers), persons, items, columns[2], tuple(numbers))


def _read_table(
    design: Catalogue, data: object, people: object, columns: tuple[str, str, str]
) -> EdgeColumns:
    import pyarrow as pa

    try:
        # A mapping of lists, a data frame and an Arrow table all become one; indices of data frames are not columns.
        is_pandas = type(data).__module__.partition(".")[0] == "pandas"
        table = (
            pa.Table.from_pandas(data, preserve_index=False)
            if is_pandas
            else pa.table(data)
        )
    except (pa.ArrowException, TypeError, ValueError):
        raise InvalidAnswer(
            f"the edges are a {type(data).__name__} that cannot be read as a table; expected a sparse matrix, a graph, "
            "a list of mappings, or columns of person, item and weight."
        ) from None
    for name in columns:
        if table.column_names.count(name) != 1:
            raise InvalidAnswer(
                f"the table has no single column called {quoted(name)}; expected person, item and weight."
            )
    person, names = _read_people(table[columns[0]], people)
    item, weight = (
        _read_items(design, table[columns[1]]),
        _read_weights(table[columns[2]]),
    )
    return EdgeColumns(len(names), person, item, weight, names)


def _read_people(column: object, people: object) -> tuple[Whole, tuple[Any, ...]]:
    codes, values = _encode(column, "person")
    if people is None:
        return codes, tuple(values)
    if isinstance(people, int | np.integer) and not isinstance(people, bool):
        if people < len(values):
            raise InvalidAnswer(
                f"there are {len(values):,} people in the table; expected at most {people:,}."
            )
        if people > MAX_PEOPLE:
            raise InvalidAnswer(
                f"people is {people:,}; expected at most {MAX_PEOPLE:,} at a time.",
                "Draw in parts, and add the tallies.",
            )
        return codes, (*values, *[None] * (int(people) - len(values)))
    number_of = _number_people(people)
    numbers = [number_of.get(value, -1) for value in values]
    persons = np.array(numbers or [-1], np.int64)[codes]
    if (persons < 0).any():
        refuse(
            persons < 0, "the person is not among the people; expected one who is."
        )
    return persons, tuple(number_of)


def _number_people(people: Any) -> dict[Any, int]:
    """Number the people that are listed."""
    try:
        if not isinstance(people, str | bytes):
            return {
                name: number for number, name in enumerate(dict.fromkeys(people))
            }
    except TypeError:
        pass
    raise InvalidAnswer(
        f"people is a {type(people).__name__}; expected a list of the people there are."
    )


def _read_items(design: Catalogue, column: object) -> Whole:
    codes, values = _encode(column, "item")
    numbers = [_item_number(design, value) for value in values]
    return np.array(numbers or [-1], np.int64)[codes]


def _encode(column: Any, name: str) -> tuple[Whole, list[Any]]:
    """Return the number of each row's value, and the values in the order in which they first occur."""
    import pyarrow as pa

    combined = column.combine_chunks()
    try:
        encoded = (
            combined
            if hasattr(combined, "indices")
            else combined.dictionary_encode()
        )
    except pa.ArrowNotImplementedError:
        raise InvalidAnswer(
            f"people or items are of type {column.type}; expected text or numbers."
        ) from None
    if hasattr(encoded, "chunks"):  # an empty column of chunks stays one
        encoded = encoded.combine_chunks()
    codes = (
        encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    )
    values = encoded.dictionary.to_pylist()
    empty = [number for number, value in enumerate(values) if value is None]
    missing = (codes < 0) | np.isin(codes, empty)
    if missing.any():
        refuse(missing, f"there is no {name}; expected one in every row.")
    return codes, values


def _read_weights(column: Any) -> Real:
    import pyarrow as pa

    kind, types = column.type, pa.types
    if is_text(kind):  # files of text hold numbers as text
        return np.array(list(map(_to_float, column.to_pylist())), np.float64)
    is_real = types.is_floating(kind) or types.is_decimal(kind)
    if not is_real and not types.is_integer(kind) and len(column):
        raise InvalidAnswer(f"the weights are of type {kind}; expected numbers.")
    # A gap becomes NaN, and is refused as such; an integer beyond 2^53 is rounded, where Arrow would name it and stop.
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _item_number(design: Catalogue, item: Any) -> int:
    """Return the number of an item, or −1."""
    is_number = isinstance(item, int | np.integer) and not isinstance(item, bool)
    try:
        return design.item_number(str(item) if is_number else item)
    except InvalidAnswer:
        return -1


def _to_float(weight: Any) -> float:
    try:
        return float(weight)
    except (TypeError, ValueError):
        return float("nan")
