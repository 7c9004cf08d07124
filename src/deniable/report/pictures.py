"""Designs, tallies and plans as pictures, in the style of `estimates.charts`.

A design is drawn as its channel: a row for each response, a column for each answer, the fuller the likelier.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from deniable.certificates.certificate import Certificate
from deniable.designs import AnyDesign, Deck, Design
from deniable.errors import InvalidRequest
from deniable.estimates.charts import ACCENT, GRID, INK, LINES, MOST_BARS, PALE, TRUTH, Picture, drawable, plain
from deniable.groups.tallies import GroupedTally
from deniable.order.blackwell import Garbling, Order, Separation
from deniable.plan import Choice, Comparison, ItemsChoice, Planned
from deniable.rendering import formats
from deniable.report.sheets import cell_names, counted_title, in_words, marks_of
from deniable.report.views import MOST_ANSWERS, MOST_RESPONSES, ChannelView, channel_views
from deniable.survey import Survey
from deniable.tallies import Tally
from deniable.tallies.decks import DeckTally
from deniable.tallies.group_labels import group_name
from deniable.tallies.stages import StageTallies
from deniable.tallies.weighted import WeightedTally
from deniable.types.drawn.count import DrawnTally
from deniable.types.key_value.count import ItemTally
from deniable.types.strings.count import NoisyTally, StringTally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 32  # of a label beside an axis
_TITLE = 92  # letters in a line of a title over a picture of full width
_FULL = 0.55  # how full a cell is that is certain; the number on it stays readable
_MOST_DOTS = 20_000  # bits of all cohorts that are drawn


@singledispatch
def picture_of(thing: Any, *, title: str = "") -> Picture:  # noqa: ARG001 - as those that draw
    """Draw a design, a tally, a plan, an order of designs or a certificate.

    Args:
        thing: what to draw.
        title: of the picture; by default what it shows.

    Raises:
        InvalidRequest: there is no picture of it.

    Example:
        >>> from deniable.designs import warner
        >>> [text.get_text() for text in picture_of(warner(p="3/4")).axes[0].texts]
        ['75%', '25%', '25%', '75%']
    """
    raise InvalidRequest(f"there is no picture of a {type(thing).__name__}; expected a design, a tally or a result.")


@picture_of.register
def _of_design(design: AnyDesign, *, title: str = "") -> Picture:
    return _channels(channel_views(design, pictured=True), title or _title(design))


@picture_of.register
def _of_certificate(certificate: Certificate, *, title: str = "") -> Picture:
    if isinstance(certificate.subject, Survey):
        questions = certificate.subject.questions
        rows = [(each.name, each.designs[-1].epsilon) for each in questions]
        return _bars(rows, title or f"What each question of {certificate.subject.name} reveals", "ε, at most")
    return picture_of(certificate.subject, title=title)


@picture_of.register
def _of_order(order: Order, *, title: str = "") -> Picture:
    sides = {"second from first": order.second_from_first, "first from second": order.first_from_second}
    figure = Picture(figsize=(8, 4), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(1, 2), sides.items(), strict=True):
        if isinstance(found, Separation):
            _separated(axes, name, found)
        else:
            _garbled(axes, name, found)
    told = textwrap.fill(title or f"The first design is {order.relation}", _TITLE)
    figure.suptitle(drawable(told), x=0.01, ha="left", color=INK, fontsize=11)
    return figure


@picture_of.register(Tally)
@picture_of.register(DrawnTally)
@picture_of.register(DeckTally)
def _of_counts(tally: Tally | DrawnTally | DeckTally, *, title: str = "") -> Picture:
    rows = list(zip(cell_names(tally), map(float, tally.counts.tolist()), strict=True))
    return _bars(rows, title or counted_title(tally), "times sent")


@picture_of.register
def _of_weighted(tally: WeightedTally, *, title: str = "") -> Picture:
    rows = list(zip(tally.design.symbols, map(float, tally.weights), strict=True))
    return _bars(rows, title or counted_title(tally), "sum of weights")


@picture_of.register
def _of_groups(tally: GroupedTally, *, title: str = "") -> Picture:
    named = title or counted_title(tally)
    first = next(iter(tally.values()))
    if not isinstance(first, Tally) or len(first.counts) > len(LINES):
        return _bars(
            [(group_name(group), float(each.respondents)) for group, each in tally.items()], named, "responses"
        )
    rows = [(group_name(group), list(map(float, each.counts.tolist()))) for group, each in tally.items()]
    return _grouped(rows, cell_names(first), named, "times sent", stacked=True)


@picture_of.register
def _of_stages(tallies: StageTallies, *, title: str = "") -> Picture:
    rows = [(f"stage {number}", [float(seen.respondents), float(finest.respondents)])
            for number, (seen, finest) in enumerate(zip(tallies.seen, tallies.finest, strict=True), 1)]  # fmt: skip
    return _grouped(rows, ("have sent it", "stopped there"), title or counted_title(tallies), "respondents")


@picture_of.register
def _of_items(tally: ItemTally, *, title: str = "") -> Picture:  # type: ignore[type-arg]  # of either type of items
    named = zip(tally.design.items, tally.counts.astype(float).tolist(), strict=True)
    rows = sorted(named, key=lambda row: -sum(row[1][1:])) if len(tally.design.items) > MOST_BARS else list(named)
    return _grouped(rows, marks_of(tally), title or counted_title(tally), "times sent", stacked=True)


@picture_of.register(StringTally)
@picture_of.register(NoisyTally)
def _of_bits(tally: StringTally | NoisyTally, *, title: str = "") -> Picture:
    figure, axes = _canvas(4.6, textwrap.fill(title or counted_title(tally), _TITLE - 8))
    shares = tally.ones / np.maximum(tally.sizes, 1)[:, None]
    bits = np.broadcast_to(np.arange(shares.shape[1]), shares.shape)
    step = max(1, shares.size // _MOST_DOTS)
    axes.plot(bits.ravel()[::step], shares.ravel()[::step], "o", color=ACCENT, markersize=3, label="a bit of a cohort")
    hit, stray = tally.rates()
    axes.axhline(stray, color=INK, linewidth=1, label="had nobody a string there")
    axes.axhline(hit, color=TRUTH, linewidth=1, linestyle="--", label="had everybody one")
    axes.set_xlabel("bit", color=INK)
    axes.set_ylabel("ones for each response", color=INK)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9, labelcolor=INK)
    return figure


@picture_of.register
def _of_comparison(compared: Comparison, *, title: str = "") -> Picture:
    rows = [(f"{line.name} (ε = {formats.epsilon(line.epsilon)})", line.error) for line in compared.lines]
    return _bars(rows, title or f"Designs side by side, {compared.n:,} respondents", "standard error", ordered=False)


@picture_of.register
def _of_choice(choice: Choice, *, title: str = "") -> Picture:
    rows = [(one.name, one.risk) for one in choice.candidates]
    return _bars(rows, title or f"{choice.design.name}, for {choice.demand}", "variance × respondents", ordered=False)


@picture_of.register
def _of_items_choice(choice: ItemsChoice, *, title: str = "") -> Picture:
    rows = [(f"{one.each} for each", [one.shares, one.associations]) for one in choice.candidates]
    told = title or f"How many questions each respondent answers, with ε = {formats.epsilon(choice.epsilon)} in all"
    return _grouped(rows, ("one question", "two together"), told, "variance × respondents", log=True)


@picture_of.register
def _of_planned(planned: Planned, *, title: str = "") -> Picture:
    if planned.across:
        return _curves(planned, title or planned.sentence)
    numbers = [name for name, cell in planned.lines[0].items() if not isinstance(cell, str)]
    texts = [name for name in planned.lines[0] if name not in numbers]
    labels = [", ".join(str(line[name]) for name in texts) or f"{at}" for at, line in enumerate(planned.lines, 1)]
    shown = numbers[-3:]
    figure = Picture(figsize=(8, 1.6 + 0.35 * len(labels)), layout="constrained")
    for at, name in enumerate(shown):
        axes = figure.add_subplot(1, len(shown), at + 1)
        values = [float(line[name]) for line in planned.lines]
        axes.plot(values, range(len(values)), "o", color=ACCENT, markersize=6)
        axes.set_yticks(range(len(labels)), [_short(label) for label in labels] if at == 0 else [""] * len(labels))
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel(name, color=INK)
        axes.set_ylabel(", ".join(texts) if at == 0 else "", color=INK)
        axes.margins(x=0.15)
        axes.locator_params(axis="x", nbins=4)
        plain(axes)
    figure.suptitle(
        drawable(textwrap.fill(title or planned.sentence, _TITLE)), x=0.01, ha="left", color=INK, fontsize=11
    )
    return figure


def _curves(planned: Planned, title: str) -> Picture:
    across, curves = planned.curves()
    figure, axes = _canvas(4.6, textwrap.fill(title, _TITLE - 8))
    for (name, heights), color in zip(curves.items(), LINES, strict=False):
        axes.plot(across, heights, color=color, linewidth=2, label=name)
    if across[0] < planned.value < across[-1]:
        axes.axvline(planned.value, color=INK, linewidth=1, linestyle="--")
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel(planned.across, color=INK)
    first = {name.split()[0] for name in curves}
    axes.set_ylabel(first.pop() if len(first) == 1 else "people", color=INK)
    axes.legend(frameon=False, labelcolor=INK)
    return figure


def _canvas(height: float, title: str) -> tuple[Picture, Axes]:
    figure = Picture(figsize=(8, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(drawable(title), loc="left", color=INK, fontsize=11)
    plain(axes)
    return figure, axes


def _bars(rows: Sequence[tuple[str, float]], title: str, across: str, *, ordered: bool = True) -> Picture:
    """Draw a bar for each name; of very many the largest, and the title tells of how many."""
    shown = rows
    if len(rows) > MOST_BARS:
        shown = sorted(rows, key=lambda row: -row[1])[:MOST_BARS] if ordered else rows[:MOST_BARS]
        title = f"{title}\nthe {MOST_BARS} largest of {len(rows):,}"
    return _grouped([(name, [value]) for name, value in shown], ("",), title, across)


def _grouped(
    rows: Sequence[tuple[str, Sequence[float]]],
    names: Sequence[str],
    title: str,
    across: str,
    *,
    stacked: bool = False,
    log: bool = False,
) -> Picture:
    """Draw a bar for each name and row, beside or behind each other; of very many rows the first."""
    longest = max([min(len(name), _LETTERS) for name, _ in rows], default=0)
    told = "\n".join(textwrap.fill(line, _TITLE - longest) for line in title.splitlines())
    if len(rows) > MOST_BARS:
        told += f"\nthe {MOST_BARS} largest of {len(rows):,}"
        rows = rows[:MOST_BARS]
    figure, axes = _canvas(1.6 + max(1, len(rows)) * (0.42 if len(rows) <= MOST_ANSWERS else 0.26), told)
    heights = np.arange(len(rows), dtype=float)
    ends = np.zeros(len(rows))
    values = np.array([[each if np.isfinite(each) else 0.0 for each in row] for _, row in rows]).reshape(len(rows), -1)
    each = 0.7 if stacked else 0.7 / len(names)
    colors = (PALE, *LINES) if stacked else LINES
    for at, (name, color) in enumerate(zip(names, colors, strict=False)):
        places = heights if stacked else heights + (at - (len(names) - 1) / 2) * each
        axes.barh(places, values[:, at], each, left=ends if stacked else 0, color=color, label=name or None)
        ends = ends + values[:, at]
    axes.set_yticks(heights, [_short(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(across, color=INK)
    if log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    if any(names):
        figure.legend(loc="outside lower center", ncols=len(names), frameon=False, fontsize=9, labelcolor=INK)
    return figure


def _channels(shown: Sequence[ChannelView], title: str) -> Picture:
    """Draw tables of probabilities, three beside each other."""
    beside = min(len(shown), 3)
    lines = -(-len(shown) // beside)
    rows, highest = max(len(each.responses) for each in shown), float(max(each.highest for each in shown))
    figure = Picture(
        figsize=(8, 1.3 + lines * (0.9 + max(1.4, (0.36 if rows <= MOST_RESPONSES else 0.16) * rows))),
        layout="constrained",
    )
    for at, panel in enumerate(shown, 1):
        axes = figure.add_subplot(lines, beside, at)
        _cells(axes, panel.chances, panel.responses, panel.given, highest)
        axes.set_xlabel(panel.across, color=INK)
        axes.set_ylabel("response" if at % beside == 1 or beside == 1 else "", color=INK)
        if panel.title:
            axes.set_title(_short(panel.title), loc="left", color=INK, fontsize=10)
    notes = [each.note for each in shown if each.note][:1]
    told = "\n".join([textwrap.fill(title, _TITLE), *notes])
    figure.suptitle(drawable(told), x=0.01, ha="left", color=INK, fontsize=11)
    return figure


def _cells(
    axes: Axes, chances: Sequence[Sequence[Any]], down: Sequence[str], across: Sequence[str], highest: float = 1.0
) -> None:
    """Draw a table of probabilities: the fuller the likelier, and where there is room, a number says how likely."""
    small = len(down) * len(across) <= MOST_ANSWERS * MOST_ANSWERS and len(across) <= MOST_ANSWERS
    squares = [
        [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5)]
        for i in range(len(down))
        for j in range(len(across))
    ]
    fills = [to_rgba(ACCENT, _FULL * float(chance) / highest) for row in chances for chance in row]
    axes.add_collection(PolyCollection(squares, facecolors=fills, edgecolors=GRID, linewidths=0.8))
    for i, row in enumerate(chances if small else ()):
        for j, chance in enumerate(row):
            axes.text(j, i, formats.percent(chance, 2), ha="center", va="center", color=INK, fontsize=9)
    turned = len(across) > 4 and max(map(len, across)) > 5
    letters = 14 if len(across) > 2 else _LETTERS
    right, below = (max(1, -(-size // MOST_RESPONSES)) for size in (len(across), len(down)))
    axes.set_xticks(range(0, len(across), right), [_short(each, letters) for each in across[::right]],
                    rotation=40 if turned else 0, ha="right" if turned else "center")  # fmt: skip
    axes.set_yticks(range(0, len(down), below), [_short(each) for each in down[::below]])
    axes.set_xlim(-0.5, len(across) - 0.5)
    axes.set_ylim(len(down) - 0.5, -0.5)
    axes.tick_params(length=0, colors=INK)
    for side in axes.spines.values():
        side.set_visible(False)


def _garbled(axes: Axes, name: str, found: Garbling) -> None:
    channel = found.channel
    axes.set_title(f"the {name}: possible", loc="left", color=INK, fontsize=10)
    if channel is None or channel.responses > MOST_RESPONSES or channel.answers > MOST_RESPONSES:
        axes.set_axis_off()
        axes.text(0, 0.9, textwrap.fill(found.recipe, 44), color=INK, va="top", fontsize=10)
        return
    rows = [[channel.probability(i, given=j) for j in range(channel.answers)] for i in range(channel.responses)]
    down, across = ([str(number) for number in range(size)] for size in (channel.responses, channel.answers))
    _cells(axes, rows, down, across)
    axes.set_xlabel("response of the finer design", color=INK)
    axes.set_ylabel("response made of it", color=INK)


def _separated(axes: Axes, name: str, found: Separation) -> None:
    axes.set_title(f"the {name}: impossible", loc="left", color=INK, fontsize=10)
    axes.barh([0, 1], [float(found.coarse), float(found.fine)], 0.5, color=[ACCENT, PALE])
    axes.set_yticks([0, 1], ["it earns", "the other earns\nat most"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlabel("in a game that tells them apart", color=INK)
    plain(axes)
    axes.grid(visible=False, axis="y")


def _title(design: AnyDesign) -> str:
    if isinstance(design, Deck):
        return f"{design.cards:,} cards for {design.people:,} people: one response, seen alone"
    if isinstance(design, Design) and design.factors:
        return f"{design.name} of {', '.join(design.attributes)}; ε = {formats.epsilon(design.epsilon)}"
    return in_words(design)


def _short(text: str, letters: int = _LETTERS) -> str:
    told = " ".join(text.split()) if "\n" in text else text
    return drawable(told if len(told) <= letters else f"{told[: letters - 1]}…")
