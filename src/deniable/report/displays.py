"""The table and the picture of anything displayed: a design or a tally of any type, a plan, an order of designs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from deniable import exact
from deniable.display.sheets import design_title
from deniable.errors import InvalidRequest
from deniable.order.blackwell import Garbling, Order, Separation
from deniable.plan import Choice, Comparison, ItemsChoice, Planned
from deniable.rendering import MAX_RESPONSES, Sheet, formats
from deniable.rendering.pictures import (
    ACCENT,
    INK,
    LINES,
    PALE,
    Picture,
    draw_bars,
    draw_cells,
    draw_grouped_bars,
    draw_views,
    name_rows,
    set_main_title,
    set_title,
    start_picture,
    strip_frame,
)
from deniable.types import find_operation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RELATIONS = {
    "equal": "Both designs tell the same.",
    "finer": "The first design tells more than the second.",
    "coarser": "The second design tells more than the first.",
    "incomparable": "Neither design tells all that the other tells.",
}


@singledispatch
def sheet_of(target: object) -> Sheet:
    """Return the table of a design, a tally, or an order of designs.

    Raises:
        InvalidRequest: something else.

    Example:
        >>> from deniable.designs import warner
        >>> sheet_of(warner(p="3/4")).cells[0]
        ('no', '75.0%', '25.0%', '3')
    """
    name = "tally_sheet" if hasattr(target, "respondents") else "sheet"
    sheet: Sheet = _display(target, name, "table")(target)
    return sheet


@singledispatch
def picture_of(target: object, *, title: str = "") -> Picture:
    """Draw a design, a tally, a plan, an order of designs or a certificate.

    Args:
        target: what to draw.
        title: of the picture; by default what it shows.

    Raises:
        InvalidRequest: there is no picture of it.

    Example:
        >>> from deniable.designs import warner
        >>> [text.get_text() for text in picture_of(warner(p="3/4")).axes[0].texts]
        ['75%', '25%', '25%', '75%']
    """
    if hasattr(target, "respondents"):
        draw = _display(target, "tally_picture", "picture")
        picture: Picture = draw(target, title=title)
        return picture
    views = _display(target, "views", "picture")(target, pictured=True)
    name_design = find_operation(target, "picture_title") or design_title
    return draw_views(views, title or name_design(target))


def _display(target: object, name: str, kind: str) -> Callable[..., Any]:
    """Return how the type of question displays a design or a tally."""
    # None of repeated samples, which name their type themselves
    design = getattr(target, "design", None)
    show = find_operation(target if design is None else design, name)
    if show is None:
        raise InvalidRequest(
            f"there is no {kind} of a {type(target).__name__}; expected a design, a tally or a result."
        )
    return show


@sheet_of.register
def _(order: Order) -> Sheet:
    return Sheet(
        _RELATIONS[order.relation],
        heads=("made", "possible", "how, or why not"),
        cells=tuple(
            (name, "yes" if proof else "no", _reason(proof))
            for name, proof in _directions(order).items()
        ),
        names=("made", "possible", "how"),
    )


def _directions(order: Order) -> dict[str, Garbling | Separation]:
    return {
        "second from first": order.second_from_first,
        "first from second": order.first_from_second,
    }


def _reason(proof: Garbling | Separation) -> str:
    if isinstance(proof, Garbling):
        return proof.recipe
    return f"{proof.game}: {exact.text(proof.coarse)} against {exact.text(proof.fine)} at most"


@picture_of.register
def _(order: Order, *, title: str = "") -> Picture:
    figure = Picture(figsize=(8, 4), layout="constrained")
    directions = _directions(order).items()
    for axes, (name, proof) in zip(figure.subplots(1, 2), directions, strict=True):
        strip_frame(axes)
        set_title(axes, f"the {name}: {'' if proof else 'im'}possible", 10)
        if isinstance(proof, Separation):
            _draw_separation(axes, proof)
        else:
            _draw_garbling(axes, proof)
    set_main_title(figure, title or f"The first design is {order.relation}")
    return figure


def _draw_garbling(axes: Axes, proof: Garbling) -> None:
    channel = proof.channel
    if channel is None or max(channel.responses, channel.answers) > MAX_RESPONSES:
        axes.set_axis_off()
        recipe = textwrap.fill(proof.recipe, 44)
        axes.text(0, 0.9, recipe, color=INK, va="top", fontsize=10)
        return
    down, across = range(channel.responses), range(channel.answers)
    rows = [[channel.probability(i, given=j) for j in across] for i in down]
    axes.grid(visible=False)
    draw_cells(axes, rows, list(map(str, down)), list(map(str, across)))
    axes.set(xlabel="response of the finer design", ylabel="response made of it")


def _draw_separation(axes: Axes, proof: Separation) -> None:
    gains = [float(proof.coarse), float(proof.fine)]
    axes.barh([0, 1], gains, 0.5, color=[ACCENT, PALE])
    axes.set_yticks([0, 1], ["it earns", "the other earns\nat most"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlabel("in a game that tells them apart")
    axes.grid(visible=False, axis="y")


@picture_of.register
def _(comparison: Comparison, *, title: str = "") -> Picture:
    rows = [
        (f"{line.name} (ε = {formats.epsilon(line.epsilon)})", line.error)
        for line in comparison.lines
    ]
    default = f"Designs side by side, {comparison.n:,} respondents"
    return draw_bars(rows, title or default, "standard error", ordered=False)


@picture_of.register
def _(choice: Choice, *, title: str = "") -> Picture:
    rows = [(candidate.name, candidate.risk) for candidate in choice.candidates]
    default = f"{choice.design.name}, for {choice.demand}"
    return draw_bars(rows, title or default, "variance × respondents", ordered=False)


@picture_of.register
def _(choice: ItemsChoice, *, title: str = "") -> Picture:
    rows = [
        (f"{candidate.each} for each", [candidate.shares, candidate.associations])
        for candidate in choice.candidates
    ]
    default = f"How many questions each respondent answers, with ε = {formats.epsilon(choice.epsilon)} in all"
    names = ("one question", "two together")
    return draw_grouped_bars(
        rows, names, title or default, "variance × respondents", log=True
    )


@picture_of.register
def _(planned: Planned, *, title: str = "") -> Picture:
    title = title or planned.sentence
    if planned.across:
        return _draw_curves(planned, title)
    lines = planned.lines
    texts = [name for name, cell in lines[0].items() if isinstance(cell, str)]
    numbers = [name for name in lines[0] if name not in texts][-3:]
    labels = [
        ", ".join(str(line[name]) for name in texts) or f"{number}"
        for number, line in enumerate(lines, 1)
    ]
    figure = Picture(figsize=(8, 1.6 + 0.35 * len(labels)), layout="constrained")
    subplots = figure.subplots(1, len(numbers), squeeze=False)[0]
    for axes, name in zip(subplots, numbers, strict=True):
        values = [float(line[name]) for line in lines]
        axes.plot(values, range(len(values)), "o", color=ACCENT, markersize=6)
        name_rows(axes, labels if axes is subplots[0] else [""] * len(labels))
        strip_frame(axes)
        axes.set_xlabel(name)
        axes.margins(x=0.15)
        axes.locator_params(axis="x", nbins=4)
    subplots[0].set_ylabel(", ".join(texts))
    set_main_title(figure, title)
    return figure


def _draw_curves(planned: Planned, title: str) -> Picture:
    across, curves = planned.curves()
    figure, axes = start_picture(4.6, title, letters=84)
    for (name, heights), color in zip(curves.items(), LINES, strict=False):
        axes.plot(across, heights, color=color, linewidth=2, label=name)
    if across[0] < planned.value < across[-1]:
        axes.axvline(planned.value, color=INK, linewidth=1, linestyle="--")
    nouns = {name.split()[0] for name in curves}
    noun = nouns.pop() if len(nouns) == 1 else "people"
    axes.set(xscale="log", yscale="log", xlabel=planned.across, ylabel=noun)
    axes.legend(frameon=False, labelcolor=INK)
    return figure
