"""Key-value designs over many people: true edges → responses, or straight to a tally in constant memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.chance import Source
from deniable.channel.coding import code_type
from deniable.engines.local import keyvalue_vectors, vectors
from deniable.engines.local.choose import compiled
from deniable.engines.local.draws import Even, prepare
from deniable.engines.local.edge_readers import read_edges
from deniable.engines.local.edges import COLUMNS, Edges
from deniable.engines.local.keystream import Keystream
from deniable.engines.local.keyvalue_vectors import Bounds
from deniable.engines.local.words import CHUNK, Layout, Slot, WordArray, Words
from deniable.errors import InvalidRequest
from deniable.records.key_value.designs import KeyValueDesign
from deniable.records.key_value.schemes import GRID, Direct, Index, Unary
from deniable.records.key_value.tallies import MOST_ITEMS, KeyValueTally
from deniable.records.key_value.tallies import tally as count

__all__ = ["Edges", "collect", "read_edges", "respond"]

_WORD = Slot(1, 1 << 64)  # a draw that takes one word and throws none away


def respond(
    design: KeyValueDesign,
    edges: Any,
    *,
    people: Any = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> NDArray[Any]:
    """Draw the response of each of many people.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived. From a given source the
    responses are those that `keyvalue.respond` gives one by one.

    Args:
        design: what to draw with.
        edges: who has what: a sparse matrix, a graph, or a table; see `read_edges`, whose arguments follow.
        people: all people there are, or how many.
        columns: of a table: what the columns of person, item and weight are called.
        weight: of a graph: which attribute of an edge is its weight.
        source: random bytes, for tests; by default a secure keystream.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is installed
            and either loaded already or worth loading. The responses do not depend on it.

    Returns:
        The code of each response, in the order of the people; for a design that sends a symbol for every item a row of
        0, 1 and 2 for each person. Whoever is handed the responses must not learn that order where it depends on the
        edges, as it does for a table without a list of people: count them, shuffle them, or let
        `engines.edge_files.respond_edges` write them.

    Raises:
        InvalidAnswer: edges that cannot be read; only a row's number is told.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.records.key_value.designs import lpp_ddagger
        >>> from scipy.sparse import csr_array
        >>> design = lpp_ddagger(["tea", "coffee"], 1)
        >>> respond(design, csr_array([[0.5, 0], [0, -1], [0, 0]])).shape
        (3,)
    """
    known = read_edges(design, edges, people=people, columns=columns, weight=weight)
    pieces = list(_pieces(design, known, source, fast))
    return np.concatenate(pieces) if pieces else _empty(design)


def collect(
    design: KeyValueDesign,
    edges: Any,
    *,
    people: Any = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> KeyValueTally:
    """Draw the response of each of many people and count it at once, never holding all responses.

    The arguments and errors are those of `respond`.

    Example:
        >>> from deniable.records.key_value.designs import pckv_ue
        >>> edges = {"person": [1, 1, 2], "item": ["tea", "milk", "tea"], "weight": [1, 0.5, -0.5]}
        >>> collect(pckv_ue(["tea", "coffee", "milk"], 1), edges).respondents
        2
    """
    known = read_edges(design, edges, people=people, columns=columns, weight=weight)
    kernels = _kernels(fast, known, design)
    if not isinstance(design.scheme, Unary) or kernels is None:
        parts = (count(design, piece) for piece in _pieces(design, known, source, fast))
        return sum(parts, KeyValueTally.empty(design))
    marked = np.zeros((len(design.items), 2), np.int64)
    for piece in _pieces(design, known, source, fast):
        kernels.count(piece, marked)
    return KeyValueTally.of_marks(design, marked, known.people)


def _kernels(fast: bool | None, edges: Edges, design: KeyValueDesign) -> Any | None:
    rows = edges.people * (len(design.items) if isinstance(design.scheme, Unary) else 3)
    found = compiled(fast, rows)
    return None if found is None else import_module("deniable.engines.local.keyvalue_kernels")


def _empty(design: KeyValueDesign) -> NDArray[Any]:
    if isinstance(design.scheme, Unary):
        return np.empty((0, design.scheme.items), np.uint8)
    return np.empty(0, code_type(design.scheme.responses))


def _pieces(design: KeyValueDesign, edges: Edges, source: Source | None, fast: bool | None) -> Iterator[NDArray[Any]]:
    """Draw for as many people at a time as their words stay in the cache."""
    if len(design.items) > MOST_ITEMS:
        raise InvalidRequest(f"there are {len(design.items):,} items; expected at most {MOST_ITEMS:,} in bulk.")
    kernels = _kernels(fast, edges, design)
    words = Words(Keystream() if source is None else source)
    draw = _prepare(design, edges, kernels, import_module("deniable.engines.local.kernels") if kernels else vectors)
    step = max(1, CHUNK // draw.width)
    for first in range(0, edges.people, step):
        yield draw.piece(first, min(edges.people, first + step), words)


class _Draw(ABC):
    """A design and its edges made ready."""

    width: int

    @abstractmethod
    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        """Draw the responses of some people, with the next words of the source."""


class _OneByOne(_Draw):
    """Any design at all, at the speed of the scalar draw."""

    width = 1

    def __init__(self, design: KeyValueDesign, edges: Edges) -> None:
        self.design, self.edges = design, edges

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        edges, drawn = self.edges, []
        for person in range(first, last):
            own = slice(int(edges.start[person]), int(edges.start[person + 1]))
            weights = [Fraction(round(Fraction(each) * GRID), GRID) for each in edges.weight[own].tolist()]
            row = dict(zip(edges.item[own].tolist(), weights, strict=True))
            drawn.append(self.design.scheme.draw(row, words.source))
        return np.array(drawn, code_type(self.design.scheme.responses))


class _Asked(_Draw):
    """One item for each respondent."""

    def __init__(self, scheme: Index, edges: Edges, kernels: Any, symbol: Even) -> None:
        self.scheme, self.edges, self.kernels, self.symbol = scheme, edges, kernels, symbol
        slot = Slot.of(scheme.items)
        self.scale = min(slot.limit // scheme.items, (1 << 64) - 1)
        self.layout = Layout([slot, _WORD, *symbol.layout.slots])
        self.width = self.layout.width

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        block = words.take(last - first, self.layout)
        item = np.empty(last - first, np.int64)
        answers = np.empty(last - first, np.uint8)
        self.kernels.ask(block, self.edges, first, self.scale, item, answers)
        sent = np.empty(last - first, np.uint8)
        self.symbol.place(answers, block[:, 2:], sent)
        return (item * self.scheme.symbol.responses + sent).astype(code_type(self.scheme.responses))


class _PlaceLayout(Layout):
    """The words of one person, of which the first draws one of so many places as the person has."""

    def __init__(self, slots: list[Slot]) -> None:
        super().__init__([_WORD, *slots])
        self.places: NDArray[np.uint64] = np.empty(0, np.uint64)

    def first_rejected(self, block: WordArray) -> tuple[int, int] | None:
        """Return where the first words to be thrown away begin."""
        left = keyvalue_vectors.left_over(self.places)
        refused = (left > 0) & (block[:, 0] > np.uint64((1 << 64) - 1) - left)
        found = [super().first_rejected(block)]
        if refused.any():
            found.append((int(refused.argmax()) * self.width, 1))
        return min((each for each in found if each is not None), default=None)


class _Placed(_Draw):
    """One of somebody's own items, or an empty place."""

    def __init__(self, padding: int, edges: Edges, slots: list[Slot]) -> None:
        self.edges = edges
        self.padding = padding
        self.layout = _PlaceLayout([_WORD, *slots])
        self.width = self.layout.width

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        sizes = np.diff(self.edges.start[first : last + 1])
        self.layout.places = np.maximum(sizes, self.padding).astype(np.uint64)
        block = words.take(last - first, self.layout)
        place = keyvalue_vectors.place(block[:, 0], sizes, self.layout.places)
        edge = np.where(place >= 0, self.edges.start[first:last] + place, -1)
        answers = np.empty(last - first, np.uint8)
        keyvalue_vectors.rounded(block[:, 1], self.edges, edge, answers)
        owned = self.edges.item[edge] if len(self.edges.item) else edge
        return self.send(np.where(edge >= 0, owned, -1), answers, block[:, 2:])

    @abstractmethod
    def send(self, item: NDArray[np.int64], answers: NDArray[np.uint8], words: WordArray) -> NDArray[Any]:
        """Send the items that were drawn, −1 for an empty place."""


class _Marked(_Placed):
    """A symbol for every item."""

    def __init__(self, scheme: Unary, edges: Edges, kernels: Any, symbol: Even) -> None:
        super().__init__(scheme.padding, edges, list(symbol.layout.slots) * scheme.items)
        self.scheme, self.kernels, self.symbol = scheme, kernels, symbol
        self.steps: NDArray[np.uint64] | None = None
        table = scheme.symbol
        if chance.words_for(table.total) == 1 and all(weight for row in table.weights for weight in row):
            scale = (1 << 64) // table.total
            # What is left over above the last sum is thrown away before it comes here.
            self.steps = np.array([[scale * each - 1 for each in sums[:2]] for sums in table.sums], np.uint64)

    def send(self, item: NDArray[np.int64], answers: NDArray[np.uint8], words: WordArray) -> NDArray[Any]:
        people, items = len(item), self.scheme.items
        out = np.empty((people, items), np.uint8)
        if self.kernels is not keyvalue_vectors and self.steps is not None:
            self.kernels.mark(words, item, answers, self.steps, out)
            return out
        given = np.zeros((people, items), np.uint8)
        rows = np.flatnonzero(item >= 0)
        given[rows, item[rows]] = answers[rows]
        self.symbol.place(given.reshape(-1), words.reshape(people * items, -1), out.reshape(-1))
        return out


class _Replaced(_Placed):
    """One item or nothing."""

    def __init__(self, scheme: Direct, edges: Edges) -> None:
        slot = Slot.of(scheme.total)
        super().__init__(scheme.padding, edges, [slot])
        self.scheme = scheme
        scale = slot.limit // scheme.total
        kept = scheme.same + scheme.turned
        whole = (scheme.same, kept, kept + scheme.nothing, scheme.idle, scheme.other)
        self.bounds = Bounds(*(scale * each for each in whole))

    def send(self, item: NDArray[np.int64], answers: NDArray[np.uint8], words: WordArray) -> NDArray[Any]:
        out = np.empty(len(item), code_type(self.scheme.responses))
        keyvalue_vectors.replace(words[:, 0], item, answers, out, self.bounds, self.scheme.items)
        return out


def _prepare(design: KeyValueDesign, edges: Edges, kernels: Any | None, draws: Any) -> _Draw:
    scheme = design.scheme
    if isinstance(scheme, Direct):
        return _Replaced(scheme, edges) if chance.words_for(scheme.total) == 1 else _OneByOne(design, edges)
    symbol = prepare(scheme.symbol, draws)
    assert isinstance(symbol, Even)
    if isinstance(scheme, Index):
        return _Asked(scheme, edges, kernels or keyvalue_vectors, symbol)
    assert isinstance(scheme, Unary)
    return _Marked(scheme, edges, kernels or keyvalue_vectors, symbol)
