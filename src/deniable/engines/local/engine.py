"""This machine as an engine, for every type of design: answers → `Responses`, and `Responses` → a tally.

Local     the engine, with its settings
DRAWN     for each type how its responses are drawn; a missing answer gives a missing response
COUNTED   for each type how they are counted
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk import columns as bulk
from deniable.bulk.columns import is_absent, is_sequence, with_zeros
from deniable.bulk.edges import COLUMNS, Edges
from deniable.bulk.random_words import shuffled
from deniable.chance import SYSTEM, Source
from deniable.engines import Engine
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.tallies import arrow
from deniable.tallies.responses import Missing, Responses

if TYPE_CHECKING:
    from deniable.designs import AnyDesign, Deck, Design, NumberDesign
    from deniable.order.ladders import Ladder
    from deniable.types.drawn.design import DrawnDesign
    from deniable.types.edges.design import EdgeDesign
    from deniable.types.key_value.design import KeyValueDesign
    from deniable.types.strings.design import StringDesign

__all__ = ["COUNTED", "DRAWN", "Local"]


@dataclass(frozen=True)
class Local(Engine):
    """This machine: NumPy always, compiled kernels with the `fast` extra, threads, constant memory.

    Attributes:
        threads: how many to draw and count on.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is installed
            and either loaded already or worth loading. The responses do not depend on it.

    Example:
        >>> from deniable.designs import warner
        >>> engine = Local(fast=False)
        >>> engine.tally(warner(1), engine.respond_all(warner(1), ["yes", "no", None])).missing
        1
    """

    threads: int = 1
    fast: bool | None = None

    def respond_all(self, design: AnyDesign, answers: Any, **options: Any) -> Responses[Any]:
        return self._call(DRAWN[design.asks], (design, answers), options)  # type: ignore[no-any-return]

    def respond_stream(self, design: Design, chunks: Iterable[Any], **options: Any) -> Iterator[Responses[Design]]:
        responder = bulk.Responder(design, threads=self.threads, fast=self.fast, **options)
        return map(responder.respond, chunks)

    def tally(self, design: AnyDesign, responses: Any, **options: Any) -> Any:
        if isinstance(responses, Responses):
            responses.check(design)
            return self._call(COUNTED[design.asks], (responses,), options)
        if design.asks not in ("categories", "numbers"):
            raise InvalidRequest(
                f"these are responses of a {type(design).__name__} without their design; expected Responses.",
                "Count them with deniable.tally(design, responses).",
            )
        counted = self._call(bulk.tally, (design, responses), options)
        return counted if design.asks == "categories" else _of_numbers(counted)

    def _call(self, function: Callable[..., Any], given: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call with this engine's settings, as far as a function knows them."""
        known = signature(function).parameters
        for name in options:
            if name not in known:
                raise InvalidRequest(f"{name} does not go with this type of design; expected none of it.")
        own = {"threads": self.threads, "fast": self.fast}
        return function(*given, **{name: own[name] for name in own if name in known} | dict(options))


def _columns(design: AnyDesign, *drawn: NDArray[Any]) -> Responses[Any]:
    """Return what an engine drew, in which masked rows are missing."""
    masks = [np.ma.getmaskarray(each) for each in drawn if isinstance(each, np.ma.MaskedArray)]
    missing: Missing | None = np.asarray(masks[0].reshape(len(masks[0]), -1).any(axis=1)) if masks else None
    return Responses(design, dict(zip(design.columns, map(np.ma.getdata, drawn), strict=True)), missing)


def _gaps(design: AnyDesign, present: Missing, *drawn: NDArray[Any]) -> Responses[Any]:
    """Return what was drawn for those who are present, with zeros for the others."""
    if present.all():
        return Responses(design, dict(zip(design.columns, drawn, strict=True)))
    columns = [with_zeros(each, ~present) for each in drawn]
    return Responses(design, dict(zip(design.columns, columns, strict=True)), ~present)


def _draw_stages(
    design: Ladder,
    answers: Any,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[Ladder]:
    from deniable.bulk.gradual import release_planned

    drawn = release_planned(design, answers, codes=codes, source=source, threads=threads, fast=fast)
    return _columns(design, *drawn)


def _deal(design: Deck, answers: Any, *, source: Source | None = None) -> Responses[Deck]:
    """Shuffle, and give everybody a card; whoever does not answer keeps it."""
    given = _objects(answers)
    if len(given) != design.people:
        raise InvalidRequest(f"there are {len(given):,} answers; expected one for each of {design.people:,} people.")
    present = np.array([answer is not None for answer in given], np.bool_)
    if any(answer not in design.categories for answer in given if answer is not None):
        known = ", ".join(map(repr, design.categories))
        raise InvalidAnswer(f"an answer is not one of the deck's; expected one of {known}.")
    members = np.array([answer == design.categories[1] for answer in given], np.bool_)
    cards = np.array(design.shuffle(SYSTEM if source is None else source), np.int64)
    codes = np.where(members, design.numbers - cards, cards - 1)
    return _gaps(design, present, codes[present].astype(np.uint32))


def _draw_items(
    design: KeyValueDesign | EdgeDesign,
    answers: Any,
    *,
    people: Any = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> Responses[Any]:
    """Draw from a mapping for each person, in their order; or from a matrix, a graph or a table.

    Where a table does not come with a list of its people, they stand in the order of their first edge, and those
    without one last, which would tell what no ε covers: they are shuffled.
    """
    from deniable.types.key_value import draw as key_value

    draw = partial(key_value.draw_all, design, source=source, fast=fast)
    if is_sequence(answers):
        present = np.array([answer is not None for answer in answers], np.bool_)
        known = [answer for answer in answers if answer is not None]
        return _gaps(design, present, draw(_table(known), people=range(len(known))))
    maps = _maps(answers)
    if maps is not None:
        edges, present = _edges_of(maps)
        return _gaps(design, present, draw(edges, people=range(int(present.sum()))))
    drawn = draw(answers, people=people, columns=columns, weight=weight)
    in_order = isinstance(answers, Edges) or type(answers).__module__.partition(".")[0] in ("scipy", "networkx")
    in_order = in_order or (people is not None and not isinstance(people, int | np.integer))
    return Responses(design, {"response": drawn if in_order else drawn[shuffled(len(drawn))]})


def _table(people: Sequence[Any]) -> dict[str, list[Any]]:
    rows: list[tuple[int, object, object]] = []
    for number, answer in enumerate(people):
        if not isinstance(answer, Mapping):
            raise InvalidAnswer(
                f"the answer at index {number:,} is a {type(answer).__name__}; expected weights by item, a mapping."
            )
        rows.extend((number, item, weight) for item, weight in answer.items())
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _maps(answers: Any) -> Any | None:
    """Return a column of Arrow that maps items to weights for each person; None where it is something else."""
    import pyarrow as pa

    if not isinstance(answers, pa.Array | pa.ChunkedArray) or not pa.types.is_map(answers.type):
        return None
    return answers.combine_chunks() if isinstance(answers, pa.ChunkedArray) else answers


def _edges_of(maps: Any) -> tuple[dict[str, Any], Missing]:
    """Return maps as a table with a row for each edge, and who has one; the people who have are numbered."""
    present = np.asarray(maps.is_valid())
    known = maps.drop_null()
    pairs = known.offsets.to_numpy()
    people = np.repeat(np.arange(len(known)), np.diff(pairs))
    items, weights = (each.slice(pairs[0], pairs[-1] - pairs[0]) for each in (known.keys, known.items))
    return dict(zip(COLUMNS, (people, items, weights), strict=True)), present


def _draw_strings(
    design: StringDesign, answers: Any, *, cohorts: Any = None, source: Source | None = None, fast: bool | None = None
) -> Responses[StringDesign]:
    from deniable.types.strings import draw as strings

    texts = _objects(answers)
    present = np.array([text is not None for text in texts], np.bool_)
    wrong = [number for number, text in enumerate(texts) if text is not None and not isinstance(text, str)]
    if wrong:
        raise InvalidAnswer(f"the answer at index {wrong[0]:,} is no text; expected a string.")
    if cohorts is None:
        drawn = strings.draw_cohorts(design.bloom, len(texts), source=source)
    else:
        drawn = np.asarray(cohorts)
        if len(drawn) != len(texts):
            raise InvalidRequest(f"there are {len(drawn):,} cohorts and {len(texts):,} answers; expected one for each.")
    encoded = strings.encode(design.bloom, [text for text in texts if text is not None], drawn[present])
    return _gaps(design, present, encoded.cohorts, strings.respond(design, encoded, source=source, fast=fast))


def _draw_numbers(
    design: NumberDesign, answers: Any, *, source: Source | None = None, threads: int = 1, fast: bool | None = None
) -> Responses[NumberDesign]:
    from deniable.types.numbers.draw import round_values

    values, present = _numbers(answers)
    levels = round_values(design, values, source=source)
    return _gaps(design, present, bulk.draw_all(design, levels, codes=True, source=source, threads=threads, fast=fast))


def _draw_hands(
    design: DrawnDesign,
    answers: Any,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[DrawnDesign]:
    """Draw everybody's hand, then attribute by attribute for those who hold it."""
    from deniable.types.drawn import draw as drawn

    known, present = drawn.read_answers(design, answers, codes=codes)
    return _gaps(design, present, drawn.draw_all(design, known, source=source, threads=threads, fast=fast))


def _objects(answers: Any) -> list[Any]:
    """Return a column as Python objects, None where one is missing."""
    column = arrow.read(answers) if arrow.is_column(answers) or isinstance(answers, np.ndarray) else None
    if column is None and not is_sequence(answers) and not isinstance(answers, np.ndarray):
        raise InvalidAnswer(f"the answers are a {type(answers).__name__}; expected a list, an array or a column.")
    return [None if is_absent(each) else each for each in (list(answers) if column is None else column.to_pylist())]


def _numbers(answers: Any) -> tuple[NDArray[Any], Missing]:
    """Return the numbers that are there, and which rows they stand in."""
    if isinstance(answers, np.ndarray) and answers.dtype.kind in "iuf" and not isinstance(answers, np.ma.MaskedArray):
        present = ~np.isnan(answers) if answers.dtype.kind == "f" else np.ones(answers.shape, np.bool_)
        return (answers if present.all() else answers[present]), present
    if isinstance(answers, np.ma.MaskedArray):
        return answers.compressed(), ~np.ma.getmaskarray(answers)
    column = arrow.read(answers) if arrow.is_column(answers) else None
    if column is not None and _is_number(column.type):
        present = np.asarray(column.is_valid())
        numbers, present[present] = _numbers(column.drop_null().to_numpy())
        return numbers, present
    values = _objects(answers)
    present = np.array([value is not None for value in values], np.bool_)
    return np.array([value for value in values if value is not None] or np.empty(0)), present


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _count_categories(responses: Responses[Design], *, threads: int = 1, fast: bool | None = None) -> Any:
    counted = bulk.tally(responses.design, responses.present()["response"], threads=threads, fast=fast)
    return _with_missing(counted, responses)


def _count_stages(responses: Responses[Ladder], *, reached: Any = None) -> Any:
    from deniable.tallies.stages import StageTallies, count_stages

    rows = None if reached is None else np.asarray(reached)
    if responses.missing is not None and rows is not None:
        rows = rows[~responses.missing]
    counted = count_stages(responses.design, list(responses.present().values()), rows)
    finest = (*counted.finest[:-1], _with_missing(counted.finest[-1], responses))
    return StageTallies(responses.design, tuple(_with_missing(each, responses) for each in counted.seen), finest)


def _count_cards(responses: Responses[Deck]) -> Any:
    from deniable.tallies.decks import DeckTally

    counts = np.bincount(responses.present()["response"], minlength=responses.design.numbers)
    return _with_missing(DeckTally(responses.design, counts), responses)


def _count_items(responses: Responses[KeyValueDesign]) -> Any:
    from deniable.types.key_value.count import tally

    return _with_missing(tally(responses.design, responses.present()["response"]), responses)


def _count_edges(responses: Responses[EdgeDesign]) -> Any:
    from deniable.types.edges.count import tally

    return _with_missing(tally(responses.design, responses.present()["response"]), responses)


def _count_strings(responses: Responses[StringDesign]) -> Any:
    from deniable.types.strings import draw as strings

    present = responses.present()
    return _with_missing(strings.tally(responses.design, present["cohort"], present["response"]), responses)


def _count_numbers(responses: Responses[Any], *, threads: int = 1, fast: bool | None = None) -> Any:
    return _of_numbers(_count_categories(responses, threads=threads, fast=fast))


def _of_numbers(counted: Any) -> Any:
    from deniable.types.numbers.count import NumberTally

    return NumberTally(counted.design, counted.counts, counted.missing)


def _count_hands(responses: Responses[DrawnDesign]) -> Any:
    from deniable.types.drawn.count import tally

    return _with_missing(tally(responses.design, responses.present()["response"]), responses)


def _with_missing(counted: Any, responses: Responses[Any]) -> Any:
    return counted if responses.missing is None else replace(counted, missing=int(responses.missing.sum()))


DRAWN: dict[str, Callable[..., Responses[Any]]] = {
    "categories": bulk.respond_all,
    "ladder": _draw_stages,
    "deck": _deal,
    "key-value": _draw_items,
    "edges": _draw_items,
    "strings": _draw_strings,
    "numbers": _draw_numbers,
    "drawn items": _draw_hands,
}
COUNTED: dict[str, Callable[..., Any]] = {
    "categories": _count_categories,
    "ladder": _count_stages,
    "deck": _count_cards,
    "key-value": _count_items,
    "edges": _count_edges,
    "strings": _count_strings,
    "numbers": _count_numbers,
    "drawn items": _count_hands,
}
