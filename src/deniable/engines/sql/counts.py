"""What a query has counted → tallies, the same as `deniable.tally` would have made of the responses."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs import AnyDesign, Design
from deniable.engines.sql.forms import StoredCodes, StoredForm, StoredRows, forms
from deniable.engines.sql.queries import GROUP, Names, several
from deniable.errors import Incompatible, InvalidResponse, UnreadableFile, quoted
from deniable.tallies.base import Counts
from deniable.tallies.counts import Tally, zeros
from deniable.tallies.groups import tallies_by_values

if TYPE_CHECKING:
    from deniable.tallies.decks import DeckTally
    from deniable.tallies.stages import StageTallies
    from deniable.types.drawn.count import DrawnTally
    from deniable.types.edges.count import EdgeTally
    from deniable.types.key_value.count import KeyValueTally
    from deniable.types.numbers.count import NumberTally
    from deniable.types.strings.count import StringTally

_PARTS = ("counted", "missing", "refused", "foreign")
_NEEDED = ("design", "stage", "raised", "part", "cell", "responses")


@dataclass
class _StageCounts:
    """What was counted of one stage: how many sent nothing, and how often each cell occurs."""

    missing: int = 0
    cells: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)


_Stages = dict[tuple[int, int], _StageCounts]


def read_counts(design: AnyDesign, names: Sequence[str], rows: Iterable[Sequence[Any]], *, by: Names = ()) -> Any:
    """Return the tally of what a query of `query` has returned; by groups, where it was asked for them.

    Args:
        design: the design of the query.
        names: what the columns are called.
        rows: what was returned, in any order; whole numbers may be text, as files have them.
        by: what the columns of groups are called in the table, which the query does not tell; may be left out.

    Returns:
        A tally of the design's type; where there are columns of groups, a `GroupedTally`. A group is the value of its
        column, or a tuple where there are several.

    Raises:
        Incompatible: the counts are of another design, or rows of the table are.
        InvalidResponse: the table holds something that the design cannot send.
        UnreadableFile: these are not the counts of such a query.
        InvalidRequest: another number of columns than the groups are made by.
    """
    absent = [name for name in _NEEDED if name not in names]
    if absent:
        raise UnreadableFile(
            f"the counts have no column {absent[0]!r}; expected the columns that the query names.",
            "Run the query that deniable has printed, and keep its columns.",
        )
    if len(set(names)) < len(names):
        raise UnreadableFile("two columns of the counts have one name; expected the columns that the query names.")
    grouped = [number for number, name in enumerate(names) if name.startswith(GROUP)]
    groups: dict[tuple[Hashable, ...], _Stages] = {}
    refused = Counter[str]()
    for row in rows:
        stages = groups.setdefault(tuple(row[at] for at in grouped), {})
        _add(design, stages, refused, dict(zip(names, row, strict=True)))
    if refused["foreign"]:
        raise Incompatible(
            f"{refused['foreign']:,} rows of the table name another design, or none; expected {design.hash:.19}… "
            f"({design!r}).",
            "Select the rows of this design first, and tally each design's responses on their own.",
        )
    tallies = {group: _tally(design, stages, refused) for group, stages in groups.items()}
    if refused["refused"]:
        raise InvalidResponse(
            f"{refused['refused']:,} rows of the table hold no response of {design!r}; expected what it can send.",
            "Look whether these are the columns of its responses, and whether they are stored as text.",
        )
    if not grouped:
        return tallies[()] if tallies else _tally(design, {}, refused)
    return tallies_by_values(design, tallies, several(by))


def _add(design: AnyDesign, stages: _Stages, refused: Counter[str], row: dict[str, Any]) -> None:
    if row["design"] != design.hash:
        raise Incompatible(
            f"these are counts of the design {row['design']!s:.19}…; expected {design.hash:.19}… ({design!r}).",
            "Hand over the design that the query was made for.",
        )
    part, responses = row["part"], _whole(row["responses"])
    if part not in _PARTS:
        raise UnreadableFile(f"a part is called {quoted(part)}; expected one of {', '.join(_PARTS)}.")
    if part in ("refused", "foreign"):
        refused[part] += responses
        return
    counted = stages.setdefault((_whole(row["stage"]), _whole(row["raised"])), _StageCounts())
    if part == "missing":
        counted.missing += responses
    elif row["cell"] is None and "label" in row:
        counted.labels[str(row["label"] or "")] += responses
    else:
        counted.cells[_whole(row["cell"])] += responses


def _whole(given: Any) -> int:
    """Return a whole number, 0 or more, that may be text."""
    text = str(given)
    if isinstance(given, bool) or not (text.isascii() and text.isdecimal()):
        raise UnreadableFile(f"a count is {quoted(text)}; expected a whole number, 0 or more.")
    return int(text)


def _tally(design: AnyDesign, stages: _Stages, refused: Counter[str]) -> Any:
    if design.asks == "ladder":
        return _stages(design, stages, refused)
    if set(stages) - {(1, 0)}:
        raise UnreadableFile("there are counts of other stages than the first; expected those of one.")
    return _TALLIES[design.asks](design, stages.get((1, 0), _StageCounts()), refused)


def _stages(ladder: Any, stages: _Stages, refused: Counter[str]) -> StageTallies:
    from deniable.tallies.stages import StageTallies

    if any(not 1 <= stage <= len(ladder) or raised > 1 for stage, raised in stages):
        raise UnreadableFile(
            f"there are counts of a stage that is not one of 1 to {len(ladder)}; expected the ladder's."
        )
    last, raised = (
        [
            _categories(design, stages.get((stage, each), _StageCounts()), refused)
            for stage, design in enumerate(ladder, 1)
        ]
        for each in (0, 1)
    )
    return StageTallies(ladder, tuple(map(operator.add, last, raised)), tuple(last))


def _categories(design: Design, counted: _StageCounts, refused: Counter[str]) -> Tally:
    channel, counts = design.channel, zeros(design)
    form = forms(design, labels=False)[0]
    if isinstance(form, StoredRows):
        lines = _lines(form, counted, channel.answers + 1 if channel.by_size else 1)
        sent = lines[list(channel.sizes)] if channel.by_size else lines[:, 1:]
        return Tally(design, sent.ravel(), counted.missing, int(lines[:, 0].sum()))
    numbers = _numbers(counted, design.symbol_number, channel.possible, refused)
    for number, times in numbers.items():
        counts[list(channel.cells_of(number))] += times
    return Tally(design, counts, counted.missing, sum(numbers.values()))


def _of_numbers(design: Any, counted: _StageCounts, refused: Counter[str]) -> NumberTally:
    from deniable.types.numbers.count import NumberTally

    found = _categories(design, counted, refused)
    return NumberTally(design, found.counts, found.missing)


def _cards(deck: Any, counted: _StageCounts, refused: Counter[str]) -> DeckTally:
    from deniable.tallies.decks import DeckTally, tally

    def number(label: str) -> int:
        return int(tally(deck, [label]).counts.argmax())

    return DeckTally(deck, _codes(deck, counted, number, refused), counted.missing)


def _items(design: Any, counted: _StageCounts, refused: Counter[str]) -> KeyValueTally:
    from deniable.types.key_value.count import KeyValueTally

    scheme = design.scheme
    if scheme.KIND == "unary":
        (line,) = _lines(forms(design, labels=False)[0], counted, 1)
        return KeyValueTally.of_marks(design, line[1:].reshape(-1, 2), int(line[0]), counted.missing)
    counts = _codes(design, counted, design.response_number, refused)
    respondents = int(counts.sum())
    if scheme.KIND == "index":
        return KeyValueTally(design, counts.reshape(scheme.items, -1), respondents, counted.missing)
    return KeyValueTally.of_marks(design, counts[:-1].reshape(-1, 2), respondents, counted.missing)


def _edges(design: Any, counted: _StageCounts, refused: Counter[str]) -> EdgeTally:
    from deniable.types.edges.count import EdgeTally

    counts = _codes(design, counted, design.response_number, refused)
    return EdgeTally(design, counts.reshape(-1, design.width), counted.missing)


def _strings(design: Any, counted: _StageCounts, refused: Counter[str]) -> StringTally:  # noqa: ARG001 - one shape for all
    from deniable.types.strings.count import StringTally

    lines = _lines(forms(design, labels=False)[0], counted, design.bloom.cohorts)
    return StringTally(design, lines[:, 1:], lines[:, 0], counted.missing)


def _hands(design: Any, counted: _StageCounts, refused: Counter[str]) -> DrawnTally:
    from deniable.types.drawn.count import DrawnTally

    return DrawnTally(design, _codes(design, counted, design.response_number, refused), counted.missing)


_TALLIES: dict[str, Callable[[Any, _StageCounts, Counter[str]], Any]] = {
    "categories": _categories,
    "deck": _cards,
    "key-value": _items,
    "edges": _edges,
    "strings": _strings,
    "numbers": _of_numbers,
    "drawn items": _hands,
}


def _codes(design: Any, counted: _StageCounts, number: Callable[[str], int], refused: Counter[str]) -> Counts:
    """Return a count for each response of a design that numbers them."""
    form = forms(design, labels=False)[0]
    assert isinstance(form, StoredCodes)
    counts = np.zeros(form.responses, np.int64)
    for each, times in _numbers(counted, number, lambda each: each < form.responses, refused).items():
        counts[each] = times
    return counts


def _numbers(
    counted: _StageCounts, number: Callable[[str], int], possible: Callable[[int], bool], refused: Counter[str]
) -> Counter[int]:
    """Return how often each response was sent, by its number; what is none is counted as refused."""
    found = Counter[int]()
    for cell, times in counted.cells.items():
        if possible(cell):
            found[cell] += times
        else:
            refused["refused"] += times
    for label, times in counted.labels.items():
        try:
            found[number(label)] += times
        except InvalidResponse:
            refused["refused"] += times
    return found


def _lines(form: StoredForm, counted: _StageCounts, lines: int) -> Counts:
    """Return the counts of rows: for each line how many there are, and how many have each bit."""
    assert isinstance(form, StoredRows)
    found = np.zeros(lines * (form.cells + 1), np.int64)
    for cell, times in counted.cells.items():
        if cell >= len(found):
            raise UnreadableFile(f"there are counts of a cell {cell:,}; expected at most {len(found) - 1:,}.")
        found[cell] += times
    return found.reshape(lines, -1)
