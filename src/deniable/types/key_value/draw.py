"""Key-value records and single edges over many people: true edges → responses, or straight to a tally."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.bulk.backend import Backend, Whole, choose_backend
from deniable.bulk.columns import build_responses, is_sequence
from deniable.bulk.draws import EvenDraw, prepare
from deniable.bulk.edges import COLUMNS, Edges, read_edges
from deniable.bulk.random_words import (
    CHUNK,
    Slot,
    Slots,
    WordArray,
    Words,
    permutation,
)
from deniable.bulk.vectors import round_weights
from deniable.chance import Source
from deniable.channel.coding import Rows, code_type
from deniable.errors import InvalidRequest
from deniable.tallies.responses import Missing, Responses, add_missing
from deniable.types import operation
from deniable.types.key_value.count import MAX_ITEMS, KeyValueTally
from deniable.types.key_value.count import tally as count_responses
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.schemes import GRID, Direct, Index, Scheme, Unary

if TYPE_CHECKING:
    from deniable.types.edges.count import EdgeTally
    from deniable.types.edges.design import EdgeDesign

__all__ = [
    "Edges",
    "GraphDesign",
    "GraphTally",
    "collect",
    "count_sent",
    "draw_all",
    "draw_pieces",
    "read_edges",
    "respond_all",
]

GraphDesign: TypeAlias = "KeyValueDesign | EdgeDesign"
GraphTally: TypeAlias = "KeyValueTally | EdgeTally"
Graph = TypeVar("Graph", "KeyValueDesign", "EdgeDesign")

_WORD = Slot(1, 1 << 64)  # a draw that takes one word and throws none away
_HIGHEST = (1 << 64) - 1


def respond_all(
    design: Graph,
    answers: Any,
    *,
    people: Any = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> Responses[Graph]:
    """Draw from a mapping for each person, in their order; or from a matrix, a graph or a table.

    Where a table does not come with a list of its people, they stand in the order of their first edge, and those
    without one last, which would reveal what no ε covers: they are shuffled.
    """
    draw = partial(draw_all, design, source=source, fast=fast)
    if is_sequence(answers):
        present = np.array([answer is not None for answer in answers], np.bool_)
        mappings = [answer for answer in answers if answer is not None]
        return build_responses(
            design,
            present,
            draw(mappings),
        )
    maps = _read_maps(answers)
    if maps is not None:
        edges, present = _read_map_edges(maps)
        return build_responses(
            design, present, draw(edges, people=range(int(present.sum())))
        )
    codes = draw(answers, people=people, columns=columns, weight=weight)
    package = type(answers).__module__.partition(".")[0]
    in_order = isinstance(answers, Edges) or package in ("scipy", "networkx")
    listed = people is not None and not isinstance(people, int | np.integer)
    if not in_order and not listed:
        codes = codes[permutation(len(codes))]
    return Responses(design, {"response": codes})


def count_sent(responses: Responses[KeyValueDesign]) -> KeyValueTally:
    """Count how often each symbol was sent about each item."""
    return add_missing(
        count_responses(responses.design, responses.present()["response"]), responses
    )


def _read_maps(answers: object) -> Any | None:
    """Return a column of Arrow that maps items to weights for each person; None where it is something else."""
    import pyarrow as pa

    if not isinstance(answers, pa.Array | pa.ChunkedArray) or not pa.types.is_map(
        answers.type
    ):
        return None
    return (
        answers.combine_chunks() if isinstance(answers, pa.ChunkedArray) else answers
    )


def _read_map_edges(maps: Any) -> tuple[dict[str, Any], Missing]:
    """Return maps as a table with a row for each edge, and who has a map; these people are numbered."""
    present = np.asarray(maps.is_valid())
    valid = maps.drop_null()
    offsets = valid.offsets.to_numpy()
    people = np.repeat(np.arange(len(valid)), np.diff(offsets))
    items, weights = (
        part.slice(offsets[0], offsets[-1] - offsets[0])
        for part in (valid.keys, valid.items)
    )
    return dict(zip(COLUMNS, (people, items, weights), strict=True)), present


def draw_all(
    design: GraphDesign,
    edges: object,
    *,
    people: object = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> NDArray[Any]:
    """Draw the response of each of many people.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived. From a given source the
    responses are those that `respond` gives one by one.

    Args:
        design: what to draw with.
        edges: who has what: a sparse matrix, a graph, or a table; see `read_edges`, whose arguments follow. An
            `EdgeDesign` takes exactly one edge of each person.
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
        `engines.record_files.respond_edges` write them.

    Raises:
        InvalidAnswer: edges that cannot be read, or for an `EdgeDesign` somebody who has not one edge of weight 0, 1/2
            or 1; only a row's number is told.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> from scipy.sparse import csr_array
        >>> design = lpp_ddagger(["tea", "coffee"], 1)
        >>> draw_all(design, csr_array([[0.5, 0], [0, -1], [0, 0]])).shape
        (3,)
    """
    read = read_edges(design, edges, people=people, columns=columns, weight=weight)
    return np.concatenate(list(_draw(design, read, source, fast)))


def collect(
    design: GraphDesign,
    edges: object,
    *,
    source: Source | None = None,
    fast: bool | None = None,
    **reading: Any,
) -> GraphTally:
    """Draw the response of each of many people and count it at once, never holding all responses.

    The arguments and errors are those of `draw_all`.

    Example:
        >>> from deniable.types.key_value.design import pckv_ue
        >>> edges = {"person": [1, 1, 2], "item": ["tea", "milk", "tea"], "weight": [1, 0.5, -0.5]}
        >>> collect(pckv_ue(["tea", "coffee", "milk"], 1, padding=1), edges).respondents
        2
    """
    read = read_edges(design, edges, **reading)
    pieces = _draw(design, read, source, fast)
    scheme = getattr(design, "scheme", None)
    if not isinstance(scheme, Unary):
        count = operation(design, "tally")
        empty: GraphTally = operation(design, "TALLY").empty(design)
        return sum((count(design, piece) for piece in pieces), empty)
    marked = np.zeros((scheme.items, 2), np.int64)
    backend = _backend(scheme, read, fast)
    for piece in pieces:
        backend.count_marks(piece, marked)
    return KeyValueTally.of_marks(
        cast("KeyValueDesign", design), marked, read.people
    )


def _backend(scheme: Scheme, edges: Edges, fast: bool | None) -> Backend:
    draws = scheme.items if isinstance(scheme, Unary) else 3
    return choose_backend(fast, edges.people * draws)


def _draw(
    design: GraphDesign, edges: Edges, source: Source | None, fast: bool | None
) -> Iterator[NDArray[Any]]:
    """Draw the responses of some people at a time."""
    pieces: Iterator[NDArray[Any]] = operation(design, "draw_pieces")(
        design, edges, source, fast
    )
    return pieces


def draw_pieces(
    design: KeyValueDesign, edges: Edges, source: Source | None, fast: bool | None
) -> Iterator[NDArray[Any]]:
    """Draw for as many people at a time as their words stay in the cache."""
    if len(design.items) > MAX_ITEMS:
        raise InvalidRequest(
            f"there are {len(design.items):,} items; expected at most {MAX_ITEMS:,} in bulk."
        )
    words = Words(source)
    draw = _prepare(design, edges, _backend(design.scheme, edges, fast))
    step = max(1, CHUNK // draw.width)
    for first in range(0, max(edges.people, 1), step):
        yield draw.piece(first, min(edges.people, first + step), words)


class _PeopleDraw(ABC):
    """A design and its edges made ready."""

    width: int

    @abstractmethod
    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        """Draw the responses of some people, with the next words of the source."""


class _PersonByPerson(_PeopleDraw):
    """Any design at all, at the speed of the scalar draw."""

    width = 1

    def __init__(self, design: KeyValueDesign, edges: Edges) -> None:
        self.design, self.edges = design, edges

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        edges, scheme, codes = self.edges, self.design.scheme, []
        for person in range(first, last):
            span = slice(*edges.start[person : person + 2].tolist())
            weights = edges.weight[span].tolist()
            row = {
                item: Fraction(round(Fraction(weight) * GRID), GRID)
                for item, weight in zip(
                    edges.item[span].tolist(), weights, strict=True
                )
            }
            codes.append(scheme.draw_response(row, words.source))
        return np.array(codes, code_type(scheme.responses))


class _AskedItems(_PeopleDraw):
    """One item for each respondent."""

    def __init__(
        self, scheme: Index, edges: Edges, backend: Backend, symbol: EvenDraw
    ) -> None:
        self.scheme, self.edges, self.backend, self.symbol = (
            scheme,
            edges,
            backend,
            symbol,
        )
        slot = Slot.of(scheme.items)
        self.scale = min(slot.limit // scheme.items, (1 << 64) - 1)
        self.slots = Slots([slot, _WORD, *symbol.slots.slots])
        self.width = self.slots.width

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        block = words.take(last - first, self.slots)
        item = np.empty(last - first, np.int64)
        answers = np.empty(last - first, np.uint8)
        self.backend.ask(block, self.edges, first, self.scale, item, answers)
        sent = np.empty(last - first, np.uint8)
        self.symbol.place(answers, block[:, 2:], sent)
        return (item * self.scheme.symbol.responses + sent).astype(
            code_type(self.scheme.responses)
        )


class _PlaceSlots(Slots):
    """The words of one person, of which the first draws one of so many places as the person has."""

    def __init__(self, slots: list[Slot]) -> None:
        super().__init__([_WORD, *slots])
        self.places: NDArray[np.uint64] = np.empty(0, np.uint64)

    def first_rejected(self, block: WordArray) -> tuple[int, int] | None:
        """Return where the first words to be thrown away begin."""
        left = _left_over(self.places)
        refused = (left > 0) & (block[:, 0] > np.uint64((1 << 64) - 1) - left)
        other = super().first_rejected(block)
        if not refused.any():
            return other
        first = (int(refused.argmax()) * self.width, 1)
        return first if other is None else min(first, other)


class _PlacedItems(_PeopleDraw):
    """One of somebody's own items, or an empty place."""

    def __init__(self, padding: int, edges: Edges, slots: list[Slot]) -> None:
        self.edges = edges
        self.padding = padding
        self.slots = _PlaceSlots([_WORD, *slots])
        self.width = self.slots.width

    def piece(self, first: int, last: int, words: Words) -> NDArray[Any]:
        sizes = np.diff(self.edges.start[first : last + 1])
        self.slots.places = np.maximum(sizes, self.padding).astype(np.uint64)
        block = words.take(last - first, self.slots)
        place = _places(block[:, 0], sizes, self.slots.places)
        edge = np.where(place >= 0, self.edges.start[first:last] + place, -1)
        answers = np.empty(last - first, np.uint8)
        round_weights(block[:, 1], self.edges, edge, answers)
        owned = self.edges.item[edge] if len(self.edges.item) else edge
        return self.send(np.where(edge >= 0, owned, -1), answers, block[:, 2:])

    @abstractmethod
    def send(self, item: Whole, answers: Rows, words: WordArray) -> NDArray[Any]:
        """Send the items that were drawn, −1 for an empty place."""


class _MarkedItems(_PlacedItems):
    """A symbol for every item."""

    def __init__(
        self, scheme: Unary, edges: Edges, backend: Backend, symbol: EvenDraw
    ) -> None:
        super().__init__(
            scheme.padding, edges, list(symbol.slots.slots) * scheme.items
        )
        self.scheme, self.backend, self.symbol = scheme, backend, symbol
        self.steps: NDArray[np.uint64] | None = None
        table = scheme.symbol
        if chance.words_for(table.total) == 1 and all(
            weight for row in table.weights for weight in row
        ):
            scale = (1 << 64) // table.total
            # What is left over above the last sum is thrown away before it comes here.
            self.steps = np.array(
                [[scale * each - 1 for each in sums[:2]] for sums in table.sums],
                np.uint64,
            )

    def send(self, item: Whole, answers: Rows, words: WordArray) -> NDArray[Any]:
        people, items = len(item), self.scheme.items
        out = np.empty((people, items), np.uint8)
        if self.steps is not None:
            self.backend.mark(words, item, answers, self.steps, out)
            return out
        given = np.zeros((people, items), np.uint8)
        rows = np.flatnonzero(item >= 0)
        given[rows, item[rows]] = answers[rows]
        self.symbol.place(
            given.reshape(-1), words.reshape(people * items, -1), out.reshape(-1)
        )
        return out


class _ReplacedItems(_PlacedItems):
    """One item or nothing."""

    def __init__(self, scheme: Direct, edges: Edges) -> None:
        slot = Slot.of(scheme.total)
        super().__init__(scheme.padding, edges, [slot])
        self.scheme = scheme
        scale = slot.limit // scheme.total
        kept = scheme.same + scheme.turned
        whole = (scheme.same, kept, kept + scheme.nothing, scheme.idle, scheme.other)
        self.bounds = ReplaceBounds(*(scale * each for each in whole))

    def send(self, item: Whole, answers: Rows, words: WordArray) -> NDArray[Any]:
        out = np.empty(len(item), code_type(self.scheme.responses))
        _replace(words[:, 0], item, answers, out, self.bounds, self.scheme.items)
        return out


def _prepare(design: KeyValueDesign, edges: Edges, backend: Backend) -> _PeopleDraw:
    scheme = design.scheme
    if isinstance(scheme, Direct):
        return (
            _ReplacedItems(scheme, edges)
            if chance.words_for(scheme.total) == 1
            else _PersonByPerson(design, edges)
        )
    symbol = prepare(scheme.symbol, backend)
    assert isinstance(symbol, EvenDraw)
    if isinstance(scheme, Index):
        return _AskedItems(scheme, edges, backend, symbol)
    assert isinstance(scheme, Unary)
    return _MarkedItems(scheme, edges, backend, symbol)


def _places(words: WordArray, sizes: Whole, places: WordArray) -> Whole:
    """Return which of its places each person draws; −1 for an empty one."""
    most = np.uint64((1 << 64) - 1)
    scale = most // places + (_left_over(places) == 0)
    scale[places == 1] = most  # 2^64 does not fit, and there is only one place
    drawn = np.where(places == 1, np.uint64(0), words // scale).astype(np.int64)
    return np.where(drawn < sizes, drawn, -1)


def _left_over(places: WordArray) -> WordArray:
    """Return 2^64 modulo each number: how many of the largest words are thrown away."""
    return np.asarray(
        (np.uint64((1 << 64) - 1) % places + np.uint64(1)) % places, np.uint64
    )


class ReplaceBounds(NamedTuple):
    """Where the stretches of words end that send an item as it is, turned, and as nothing; all may be 2^64.

    Attributes:
        same: the end of the words that keep an item and its sign.
        turned: the end of those that keep the item alone.
        nothing: the end of those for which an item sends nothing.
        idle: the end of those for which an empty place does.
        each: how many words every other response owns.
    """

    same: int
    turned: int
    nothing: int
    idle: int
    each: int


def _replace(
    words: WordArray,
    item: Whole,
    answers: Rows,
    out: NDArray[Any],
    bounds: ReplaceBounds,
    items: int,
) -> None:
    """Keep or replace items, −1 for an empty place, with a word for each."""
    empty = item < 0
    own = 2 * item + (answers == 2)
    end = np.where(
        empty,
        np.uint64(bounds.idle & _HIGHEST),
        np.uint64(bounds.nothing & _HIGHEST),
    )
    other = ((words - end) // np.uint64(bounds.each)).astype(np.int64)
    other += np.where(empty | (other < 2 * item), 0, 2)
    silent = np.where(
        empty, _is_below(words, bounds.idle), _is_below(words, bounds.nothing)
    )
    sent = np.where(silent, 2 * items, other)
    sent = np.where(~empty & _is_below(words, bounds.turned), own ^ 1, sent)
    out[:] = np.where(~empty & _is_below(words, bounds.same), own, sent)


def _is_below(words: WordArray, bound: int) -> NDArray[np.bool_]:
    """Return which words lie below a bound, which may be 2^64 itself."""
    return words <= np.uint64(bound - 1) if bound else np.zeros(len(words), np.bool_)
