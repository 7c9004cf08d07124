"""Designs and tallies of every type as tables for people: what a response reveals, and what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from deniable import exact
from deniable.certificates.certificate import caveats
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.estimates.results import words_of
from deniable.groups.tallies import GroupedTally
from deniable.order.blackwell import Garbling, Order, Separation
from deniable.order.ladders import Ladder
from deniable.rendering import Sheet, columns_of, formats
from deniable.report import words
from deniable.report.views import ChannelView, channel_views
from deniable.tallies import Tally
from deniable.tallies.decks import DeckTally
from deniable.tallies.group_labels import group_name
from deniable.tallies.stages import StageTallies
from deniable.tallies.weighted import WeightedTally
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.design import DrawnDesign
from deniable.types.edges.count import EdgeTally
from deniable.types.key_value.count import ItemTally
from deniable.types.key_value.design import ItemDesign, KeyValueDesign
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import StringDesign

_FEW_ANSWERS, _FEW_LETTERS = 5, 40  # that are named in a title


@singledispatch
def sheet_of(thing: Any) -> Sheet:
    """Return the table of a design, a tally, or an order of designs.

    Raises:
        InvalidRequest: something else.

    Example:
        >>> from deniable.designs import warner
        >>> sheet_of(warner(p="3/4")).cells[0]
        ('no', '75.0%', '25.0%', '3')
    """
    raise InvalidRequest(f"there is no table of a {type(thing).__name__}; expected a design, a tally or a result.")


@sheet_of.register
def _of_design(design: Design) -> Sheet:
    (panel, *more) = channel_views(design)
    notes = (*words.promise(design), *([design.caveat] if design.caveat else []))
    if more or design.factors:
        return _of_parts(f"{design!r}", [(factor.attribute, factor.design) for factor in design.factors], notes)
    return _of_panel(f"{design!r}", panel, notes, whole=panel.given == tuple(design.categories))


@sheet_of.register
def _of_deck(deck: Deck) -> Sheet:
    title = f"{deck.cards:,} cards for {deck.people:,} people"
    return _of_panel(title, channel_views(deck)[0], (deck.guarantee,))


@sheet_of.register
def _of_drawn(design: DrawnDesign) -> Sheet:
    parts = [(factor.attribute, factor.design) for factor in design.factors]
    return _of_parts(f"{design!r}", parts, (*words.drawn(design)[:2], *caveats(design)))


@sheet_of.register
def _of_ladder(ladder: Ladder) -> Sheet:
    parts = [(f"stage {number}", design) for number, design in enumerate(ladder.designs, 1)]
    return _of_parts(f"{ladder!r}", parts, ("All stages together reveal what the finest one reveals, and no more.",))


@sheet_of.register
def _of_items(design: ItemDesign) -> Sheet:
    most = formats.factor(design.parity)
    told = f"Whatever is sent, the odds between any two answers change by a factor of at most {most}."
    return _of_panel(f"{design!r}", channel_views(design)[0], (told, *caveats(design)))


@sheet_of.register
def _of_strings(design: StringDesign) -> Sheet:
    found = _of_panel(f"{design!r}", channel_views(design)[0], (design.told, *caveats(design)))
    return replace(found, names=("bit", "one", "zero"))


@sheet_of.register
def _of_order(order: Order) -> Sheet:
    names = {"second from first": order.second_from_first, "first from second": order.first_from_second}
    told = {
        "equal": "Both designs tell the same.",
        "finer": "The first design tells more than the second.",
        "coarser": "The second design tells more than the first.",
        "incomparable": "Neither design tells all that the other tells.",
    }
    cells = tuple((name, "yes" if each else "no", _why(each)) for name, each in names.items())
    heads = ("made", "possible", "how, or why not")
    return Sheet(told[order.relation], heads, cells, names=("made", "possible", "how"))


@sheet_of.register
def _of_tally(tally: Tally) -> Sheet:
    return _counted(tally, cell_names(tally), tally.counts.tolist())


@sheet_of.register
def _of_drawn_tally(tally: DrawnTally) -> Sheet:
    return _counted(tally, cell_names(tally), tally.counts.tolist())


@sheet_of.register
def _of_deck_tally(tally: DeckTally) -> Sheet:
    return _counted(tally, cell_names(tally), tally.counts.tolist())


@sheet_of.register
def _of_weighted(tally: WeightedTally) -> Sheet:
    everybody = float(sum(tally.weights)) or 1.0
    rows = [
        (name, count, float(weight), float(weight) / everybody)
        for name, count, weight in zip(tally.design.symbols, tally.counts.tolist(), tally.weights, strict=True)
    ]
    return Sheet(
        counted_title(tally),
        ("response", "count", "weight", "share of the weight"),
        tuple(
            (name, f"{count:,}", f"{weight:,.6g}", formats.fixed_percent(share)) for name, count, weight, share in rows
        ),
        _nothing_sent(tally),
        names=("response", "count", "weight", "share"),
        values=tuple(rows),
        sizes=tuple(row[2] for row in rows),
    )


@sheet_of.register
def _of_groups(tally: GroupedTally) -> Sheet:
    weighted = tally.weighted
    rows = [
        (group_name(group), each.respondents, *([float(sum(each.weights))] if weighted else []), each.missing)
        for group, each in tally.items()
    ]
    cells = tuple(
        tuple(f"{cell:,.6g}" if isinstance(cell, float) else formats.cell(cell) for cell in row) for row in rows
    )
    sizes = tuple(float(row[1]) for row in rows)
    middle = ["weight"] if weighted else []
    heads, names = ("group", "responses", *middle, "sent nothing"), ("group", "responses", *middle, "missing")
    return Sheet(counted_title(tally), heads, cells, names=names, values=tuple(rows), sizes=sizes)


@sheet_of.register
def _of_stages(tallies: StageTallies) -> Sheet:
    rows = [
        (f"stage {number}", formats.epsilon(epsilon), seen.respondents, finest.respondents)
        for number, (epsilon, seen, finest) in enumerate(
            zip(tallies.design.epsilons, tallies.seen, tallies.finest, strict=True), 1
        )
    ]
    return Sheet(
        counted_title(tallies),
        ("", "ε", "have sent it", "stopped there"),
        columns_of(rows),
        ("Everybody counts once, with the finest response sent.",),
        names=("stage", "epsilon", "seen", "finest"),
        values=tuple(rows),
    )


@sheet_of.register
def _of_item_tally(tally: ItemTally) -> Sheet:  # type: ignore[type-arg]  # of either type of items
    rows = [(name, *counts) for name, counts in zip(tally.design.items, tally.counts.tolist(), strict=True)]
    sizes = tuple(map(float, tally.counts[:, 1:].sum(axis=1).tolist()))
    heads = ("item", *marks_of(tally))
    names = tuple({"+": "plus", "−": "minus"}.get(head, head) for head in heads)
    notes = _nothing_sent(tally)
    return Sheet(counted_title(tally), heads, columns_of(rows), notes, names, values=tuple(rows), sizes=sizes)


@sheet_of.register(StringTally)
@sheet_of.register(NoisyTally)
def _of_bits(tally: StringTally | NoisyTally) -> Sheet:
    rows = [
        (f"cohort {number}", int(size), int(ones.sum()))
        for number, (size, ones) in enumerate(zip(tally.sizes, tally.ones, strict=True))
    ]
    heads, names = ("", "responses", "ones in all bits"), ("cohort", "responses", "ones")
    return Sheet(counted_title(tally), heads, columns_of(rows), _nothing_sent(tally), names, values=tuple(rows))


def counted_title(tally: Any) -> str:
    """Tell how many responses to what were counted."""
    about = getattr(tally, "design", None)
    return f"{tally.respondents:,} responses{'' if about is None else f' to {in_words(about)}'}"


def in_words(design: Any) -> str:
    """Name a design for people: its family, how many answers it has or which, and ε.

    Example:
        >>> from deniable.designs import k_ary
        >>> in_words(k_ary(["A", "B", "C"], epsilon=2)), in_words(k_ary(50, epsilon=2))
        ('k-ary, for A, B or C, ε = 2', 'k-ary, for 50 answers, ε = 2')
    """
    if not isinstance(design, Design):
        return f"{design!r}"
    names = design.categories
    few = len(names) <= _FEW_ANSWERS and sum(map(len, names)) <= _FEW_LETTERS
    told = f"{', '.join(names[:-1])} or {names[-1]}" if few else f"{len(names):,} answers"
    return f"{words_of(design.name)}, for {told}, ε = {formats.epsilon(design.epsilon)}"


def cell_names(tally: Tally | DrawnTally | DeckTally) -> list[str]:
    """Name the cells of a tally: by their symbols, by the category that a response holds, or by number."""
    if isinstance(tally, DeckTally):
        return [str(number) for number in range(1, tally.design.numbers + 1)]
    if isinstance(tally, DrawnTally):
        return [tally.design.symbol(number) for number in range(len(tally.counts))]
    channel = tally.design.channel
    if channel.cells == channel.responses:
        return list(tally.design.symbols)
    if channel.cells == channel.answers:
        return [f"holds {category}" for category in tally.design.categories]
    return [f"cell {number}" for number in range(len(tally.counts))]


def marks_of(tally: ItemTally) -> tuple[str, ...]:  # type: ignore[type-arg]  # of either type of items
    """Name what was counted for each item."""
    if isinstance(tally, EdgeTally):
        return tuple(tally.design.choice.symbols)
    design = tally.design
    assert isinstance(design, KeyValueDesign)
    return tuple({"0": "none", "+": "+", "-": "−"}[mark] for mark in design.scheme.marks)


def _counted(tally: Any, names: Sequence[str], counts: Sequence[int]) -> Sheet:
    everybody = max(1, tally.respondents)
    return Sheet(
        counted_title(tally),
        ("response", "count", "share"),
        tuple(
            (name, f"{count:,}", formats.fixed_percent(count / everybody))
            for name, count in zip(names, counts, strict=True)
        ),
        _nothing_sent(tally),
        values=tuple((name, count, count / everybody) for name, count in zip(names, counts, strict=True)),
        sizes=tuple(map(float, counts)),
    )


def _nothing_sent(tally: Any) -> tuple[str, ...]:
    missing = getattr(tally, "missing", 0)
    return (f"{missing:,} sent nothing and are not counted.",) if missing else ()


def _of_panel(title: str, panel: ChannelView, notes: tuple[str, ...], *, whole: bool = False) -> Sheet:
    """Return a table of probabilities; with a column for every answer, also what each response reveals at most."""
    odds = [exact.ratio(max(row), min(row)) for row in panel.chances] if whole else []
    cells, values = [], []
    for at, (name, row) in enumerate(zip(panel.responses, panel.chances, strict=True)):
        cells.append(
            (
                name,
                *(formats.fixed_percent(each) for each in row),
                *(formats.factor(each) for each in odds[at : at + 1]),
            )
        )
        values.append((name, *map(float, row), *map(float, odds[at : at + 1])))
    heads = (panel.title or "response", *panel.given, *(["odds change at most by"] if whole else []))
    names = ("response", *panel.given, *(["odds"] if whole else []))
    about = (*([panel.note] if panel.note else []), *notes)
    said = f"Probability of each response, given each {panel.across}."
    return Sheet(title, heads, tuple(cells), (said, *about), names, values=tuple(values))


def _of_parts(title: str, parts: Sequence[tuple[str, Design]], notes: tuple[str, ...]) -> Sheet:
    rows = [
        (name, design.name, formats.epsilon(design.epsilon), len(design.categories), formats.factor(design.parity))
        for name, design in parts
    ]
    heads = ("", "design", "ε", "possible answers", "odds change at most by")
    names = ("part", "design", "epsilon", "categories", "odds")
    values = tuple((row[0], row[1], design.epsilon, *row[3:]) for row, (_, design) in zip(rows, parts, strict=True))
    return Sheet(title, heads, columns_of(rows), notes, names, values=values)


def _why(found: Garbling | Separation) -> str:
    if isinstance(found, Garbling):
        return found.recipe
    return f"{found.game}: {exact.shown(found.coarse)} against {exact.shown(found.fine)} at most"
