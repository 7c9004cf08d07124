"""The picture of anything that is displayed: a design or a tally of any type, a plan, an order, a certificate."""

from __future__ import annotations

import textwrap
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from deniable.certificates.certificate import Certificate
from deniable.display.pictures import (
    TITLE_LETTERS,
    draw_axes,
    draw_bars,
    draw_cells,
    draw_grouped_bars,
    draw_views,
    shorten,
)
from deniable.display.sheets import cell_counts, design_title, tally_title
from deniable.display.views import MOST_RESPONSES
from deniable.errors import InvalidRequest
from deniable.estimates.charts import ACCENT, INK, LINES, PALE, Picture, drawable, plain
from deniable.groups.tallies import GroupedTally
from deniable.order.blackwell import Garbling, Order, Separation
from deniable.plan import Choice, Comparison, ItemsChoice, Planned
from deniable.rendering import formats
from deniable.survey import Survey
from deniable.tallies import Tally
from deniable.tallies.group_labels import group_name
from deniable.types import FOLDERS, find_operation, operation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@singledispatch
def picture_of(thing: Any, *, title: str = "") -> Picture:
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
    design = getattr(thing, "design", thing)
    if getattr(design, "asks", None) not in FOLDERS:
        raise InvalidRequest(
            f"there is no picture of a {type(thing).__name__}; expected a design, a tally or a result."
        )
    if hasattr(thing, "respondents"):
        picture: Picture = operation(design, "tally_picture")(thing, title=title)
        return picture
    name_design = find_operation(design, "picture_title") or design_title
    return draw_views(
        operation(design, "views")(design, pictured=True), title or name_design(design)
    )


@picture_of.register
def _of_certificate(certificate: Certificate, *, title: str = "") -> Picture:
    if isinstance(certificate.subject, Survey):
        questions = certificate.subject.questions
        rows = [(each.name, each.designs[-1].epsilon) for each in questions]
        return draw_bars(
            rows,
            title or f"What each question of {certificate.subject.name} reveals",
            "ε, at most",
        )
    return picture_of(certificate.subject, title=title)


@picture_of.register
def _of_order(order: Order, *, title: str = "") -> Picture:
    sides = {
        "second from first": order.second_from_first,
        "first from second": order.first_from_second,
    }
    figure = Picture(figsize=(8, 4), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(1, 2), sides.items(), strict=True):
        if isinstance(found, Separation):
            _separated(axes, name, found)
        else:
            _garbled(axes, name, found)
    told = textwrap.fill(
        title or f"The first design is {order.relation}", TITLE_LETTERS
    )
    figure.suptitle(drawable(told), x=0.01, ha="left", color=INK, fontsize=11)
    return figure


@picture_of.register
def _of_groups(tally: GroupedTally, *, title: str = "") -> Picture:
    named = title or tally_title(tally)
    first = next(iter(tally.values()))
    if not isinstance(first, Tally) or len(first.counts) > len(LINES):
        return draw_bars(
            [
                (group_name(group), float(each.respondents))
                for group, each in tally.items()
            ],
            named,
            "responses",
        )
    labels, _ = cell_counts(first)
    rows = [
        (group_name(group), list(map(float, cell_counts(part)[1])))
        for group, part in tally.items()
    ]
    return draw_grouped_bars(rows, labels, named, "times sent", stacked=True)


@picture_of.register
def _of_comparison(compared: Comparison, *, title: str = "") -> Picture:
    rows = [
        (f"{line.name} (ε = {formats.epsilon(line.epsilon)})", line.error)
        for line in compared.lines
    ]
    return draw_bars(
        rows,
        title or f"Designs side by side, {compared.n:,} respondents",
        "standard error",
        ordered=False,
    )


@picture_of.register
def _of_choice(choice: Choice, *, title: str = "") -> Picture:
    rows = [(one.name, one.risk) for one in choice.candidates]
    return draw_bars(
        rows,
        title or f"{choice.design.name}, for {choice.demand}",
        "variance × respondents",
        ordered=False,
    )


@picture_of.register
def _of_items_choice(choice: ItemsChoice, *, title: str = "") -> Picture:
    rows = [
        (f"{one.each} for each", [one.shares, one.associations])
        for one in choice.candidates
    ]
    told = (
        title
        or f"How many questions each respondent answers, with ε = {formats.epsilon(choice.epsilon)} in all"
    )
    return draw_grouped_bars(
        rows, ("one question", "two together"), told, "variance × respondents", log=True
    )


@picture_of.register
def _of_planned(planned: Planned, *, title: str = "") -> Picture:
    if planned.across:
        return _curves(planned, title or planned.sentence)
    numbers = [
        name for name, cell in planned.lines[0].items() if not isinstance(cell, str)
    ]
    texts = [name for name in planned.lines[0] if name not in numbers]
    labels = [
        ", ".join(str(line[name]) for name in texts) or f"{at}"
        for at, line in enumerate(planned.lines, 1)
    ]
    shown = numbers[-3:]
    figure = Picture(figsize=(8, 1.6 + 0.35 * len(labels)), layout="constrained")
    for at, name in enumerate(shown):
        axes = figure.add_subplot(1, len(shown), at + 1)
        values = [float(line[name]) for line in planned.lines]
        axes.plot(values, range(len(values)), "o", color=ACCENT, markersize=6)
        axes.set_yticks(
            range(len(labels)),
            [shorten(label) for label in labels] if at == 0 else [""] * len(labels),
        )
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel(name, color=INK)
        axes.set_ylabel(", ".join(texts) if at == 0 else "", color=INK)
        axes.margins(x=0.15)
        axes.locator_params(axis="x", nbins=4)
        plain(axes)
    figure.suptitle(
        drawable(textwrap.fill(title or planned.sentence, TITLE_LETTERS)),
        x=0.01,
        ha="left",
        color=INK,
        fontsize=11,
    )
    return figure


def _curves(planned: Planned, title: str) -> Picture:
    across, curves = planned.curves()
    figure, axes = draw_axes(4.6, textwrap.fill(title, TITLE_LETTERS - 8))
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


def _garbled(axes: Axes, name: str, found: Garbling) -> None:
    channel = found.channel
    axes.set_title(f"the {name}: possible", loc="left", color=INK, fontsize=10)
    if (
        channel is None
        or channel.responses > MOST_RESPONSES
        or channel.answers > MOST_RESPONSES
    ):
        axes.set_axis_off()
        axes.text(
            0, 0.9, textwrap.fill(found.recipe, 44), color=INK, va="top", fontsize=10
        )
        return
    rows = [
        [channel.probability(i, given=j) for j in range(channel.answers)]
        for i in range(channel.responses)
    ]
    down, across = (
        [str(number) for number in range(size)]
        for size in (channel.responses, channel.answers)
    )
    draw_cells(axes, rows, down, across)
    axes.set_xlabel("response of the finer design", color=INK)
    axes.set_ylabel("response made of it", color=INK)


def _separated(axes: Axes, name: str, found: Separation) -> None:
    axes.set_title(f"the {name}: impossible", loc="left", color=INK, fontsize=10)
    axes.barh(
        [0, 1], [float(found.coarse), float(found.fine)], 0.5, color=[ACCENT, PALE]
    )
    axes.set_yticks([0, 1], ["it earns", "the other earns\nat most"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlabel("in a game that tells them apart", color=INK)
    plain(axes)
    axes.grid(visible=False, axis="y")
