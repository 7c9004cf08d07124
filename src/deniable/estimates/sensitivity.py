"""What a share would be if some people did not follow the device: a curve over how many, for every design.

Someone who sends responses with a law h of their own counts for r = Σ_y h_y·L_y in the unbiased share, where L_y is
what the response y counts for. With a share c of them the others have (π̂ − c·r)/(1 − c).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.errors import InvalidRequest, quoted, require_choice, require_options
from deniable.estimates.intervals import Interval
from deniable.rendering import Rendered, Sheet, data_frame, formats

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from deniable.designs import Design
    from deniable.estimates.linear import Linear
    from deniable.estimates.shares import Estimate

KINDS = {
    "always_no": "of people always send the response that speaks against it",
    "always_yes": "of people always send the response that suggests it",
    "carriers_no": "of those who hold the answer send the response that speaks against it",
    "random": "of people send any response at random",
}
"""How people may fail to follow a device, in words; the share of them comes before."""

SHARES = tuple(number / 100 for number in range(0, 51, 5))
"""Shares of people who do not follow the device, of a curve that is asked for without any."""

_MOST_SCORED = 1 << 12  # responses that are looked at one by one


class Behaviour(NamedTuple):
    """What people do who do not follow the device.

    Attributes:
        kind: its name.
        words: in words, after a share.
        counts_for: what their responses count for in the share, on average.
        members: whether only those who hold the answer do so.
    """

    kind: str
    words: str
    counts_for: float
    members: bool

    def share(self, value: float, failing: float) -> float:
        """Return the share among those who follow the device; of members alone, that of everybody."""
        if self.members:
            left = 1 - failing + failing * self.counts_for
            # so many cannot be: no share explains the responses
            return value / left if left > 0 else math.inf
        return (value - failing * self.counts_for) / (1 - failing)

    def breakdown(self, value: float) -> tuple[float, int] | None:
        """Return the smallest share of such people with whom it reaches 0 or 1, and which; None if none does."""
        found = []
        if self.counts_for and not self.members:
            found.append((value / self.counts_for, 0))
        if self.counts_for != 1:
            found.append(((1 - value) / (1 - self.counts_for), 1))
        inside = [each for each in found if 0 < each[0] < 1]
        return min(inside) if inside else None


class CurvePoint(NamedTuple):
    """A share if so many people did not follow the device.

    Attributes:
        failing: how many did not.
        estimate: the share among the others; where members alone fail, among everybody.
        error: its standard error.
        low: the lower end of its interval.
        high: the upper end.
        lowest: the share among everybody if none of them hold the answer; the estimate where members alone fail.
        highest: if all of them do.
    """

    failing: float
    estimate: float
    error: float
    low: float
    high: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class SensitivityCurve:
    """A share over the share of people who fail to follow the device in one way.

    Attributes:
        kind: in which way.
        words: in words, after a share.
        points: the curve.
        breakdown: the smallest share of them with whom the share of the category reaches 0 or 1; None if none does.
        reaches: which of the two.
    """

    kind: str
    words: str
    points: tuple[CurvePoint, ...]
    breakdown: float | None
    reaches: int | None

    @property
    def sentence(self) -> str:
        """Where the estimate breaks down."""
        if self.breakdown is None:
            return f"{self.kind}: no share of such people brings the estimate to 0 or 1."
        return f"{self.kind}: the estimate reaches {self.reaches} if {formats.percent(self.breakdown)} {self.words}."


@dataclass(frozen=True)
class Sensitivity(Rendered):
    """How a share depends on people who do not follow the device. Print it, draw it, or read its curves.

    Attributes:
        category: whose share it is.
        value: the unbiased share if everybody follows.
        level: of the intervals.
        curves: one for each way not to follow.
    """

    category: str
    value: float
    level: float
    curves: tuple[SensitivityCurve, ...]

    @property
    def breakdown(self) -> dict[str, float | None]:
        """The share of people with whom the estimate reaches 0 or 1, by kind."""
        return {each.kind: each.breakdown for each in self.curves}

    @property
    def title(self) -> str:
        """What the table and the picture show."""
        return f"share of {self.category!r} among those who follow, estimated at {self.value:.4f} if all do"

    def _sheet(self) -> Sheet:
        """A row for each share of people, a column for each kind."""
        cells = tuple(
            (
                formats.percent(row[0].failing),
                *(f"{point.estimate:.4f}" for point in row),
            )
            for row in zip(*(curve.points for curve in self.curves), strict=True)
        )
        values = tuple(
            tuple(point) for curve in self.curves for point in curve.points
        )
        kinds = [curve.kind for curve in self.curves for _ in curve.points]
        return Sheet(
            self.title,
            ("not following", *(each.kind for each in self.curves)),
            cells,
            tuple(each.sentence for each in self.curves),
            names=("kind", *CurvePoint._fields),
            values=tuple(
                (kind, *row) for kind, row in zip(kinds, values, strict=True)
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each kind and share.

        Raises:
            MissingExtra: pandas is not installed.
        """
        rows = [
            {"kind": curve.kind, **point._asdict()}
            for curve in self.curves
            for point in curve.points
        ]
        return data_frame(rows)

    def plot(self, *, title: str = "", dark: bool = False) -> Figure:
        """Draw the curves with their intervals over the share of people who do not follow.

        Args:
            title: of the picture; by default what it shows.
            dark: light on dark, for slides and dark pages.
        """
        from deniable.rendering.pictures import (
            INK,
            LINES,
            legend_below,
            start_picture,
        )

        default = f"share of {self.category!r} if people do not follow the device"
        figure, axes = start_picture(4.5, title or default)
        for curve, colour in zip(self.curves, LINES, strict=False):
            shares, estimates, _, low, high, _, _ = zip(*curve.points, strict=True)
            label = curve.words.removeprefix("of ")
            axes.plot(shares, estimates, color=colour, linewidth=2.2, label=label)
            axes.fill_between(
                shares, low, high, color=colour, alpha=0.12, linewidth=0
            )
        for border in (0, 1):
            axes.axhline(border, color=INK, linewidth=0.8)
        points = [point for curve in self.curves for point in curve.points]
        lowest = min(point.low for point in points)
        highest = max(point.high for point in points)
        axes.set_ylim(max(lowest - 0.02, -0.3), min(highest + 0.02, 1.3))
        axes.set_xlabel("share of people who do not follow")
        axes.set_ylabel(f"share, with {formats.level(self.level)} intervals")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: formats.percent(value, 6))
        legend_below(figure, 1)
        if dark:
            figure.darken()
        return figure

    def __str__(self) -> str:
        return self.to_text(most=None)


def sensitivity(
    estimate: Estimate,
    kind: str | None = None,
    *,
    category: str | None = None,
    symbol: str | None = None,
    shares: Sequence[float] = SHARES,
    level: float = 0.95,
) -> Sensitivity:
    """Return the curves of a share over that of people who do not follow the device; see `Estimate.sensitivity`."""
    design = estimate.design
    number = (
        len(design.categories) - 1
        if category is None
        else design.category_number(category)
    )
    name, free = design.categories[number], _unbiased_estimate(estimate)
    ends = free.conf_int(level=level)[name]
    share = Share(
        name, number, float(free.value[number]), float(free.errors[number]), ends
    )
    read = ReadWith(design, estimate.basis.linear)
    return curves(read, share, kind, symbol=symbol, shares=shares, level=level)


class ReadWith(NamedTuple):
    """A design, and the left inverse that its responses were read with."""

    design: Design
    linear: Linear


class Share(NamedTuple):
    """An unbiased share: what it is called, the number of its category, its value, error and interval."""

    name: str
    number: int
    value: float
    error: float
    ends: Interval


def curves(
    read: ReadWith,
    share: Share,
    kind: str | None,
    *,
    symbol: str | None,
    shares: Sequence[float],
    level: float,
) -> Sensitivity:
    """Return the curves of a share, whatever sample it was estimated from; see `sensitivity`."""
    require_options(texts={"kind": kind, "symbol": symbol})
    failing = [float(each) for each in shares]
    if not failing or any(not 0 <= each < 1 for each in failing):
        raise InvalidRequest(
            "a share of people who do not follow is not in [0, 1); expected shares such as 0, 0.1, 0.2."
        )
    known = behaviours(read, share.number)
    if symbol is not None:
        if kind not in (None, "always"):
            raise InvalidRequest(
                f"the kind is {quoted(kind)}; expected none, or 'always', beside a symbol."
            )
        known = {"always": _always(read, share.number, symbol)}
    elif kind is not None:
        require_choice("the kind is", kind, known)
        known = {kind: known[kind]}
    found = tuple(
        _curve(each, share.value, share.error, share.ends, failing)
        for each in known.values()
    )
    return Sensitivity(share.name, share.value, level, found)


def behaviours(read: ReadWith, number: int) -> dict[str, Behaviour]:
    """Return what people may do who do not follow the device, with what that counts for in a category's share.

    Of a design whose tallies keep sums, and of one with very many responses, they are taken to use the device with
    another answer: the category, another one, or any at random.
    """
    design, linear = read
    channel = design.channel
    against, speaking, chance = 0.0, 1.0, 1 / len(design.categories)
    if channel.own_cells and channel.responses <= _MOST_SCORED:
        scores = [
            float(linear.shares(alone)[number])
            for alone in np.eye(channel.responses)
        ]
        against, speaking, chance = min(scores), max(scores), float(np.mean(scores))
    counted = {
        "always_no": against,
        "always_yes": speaking,
        "carriers_no": against,
        "random": chance,
    }
    return {
        kind: Behaviour(kind, KINDS[kind], at, kind == "carriers_no")
        for kind, at in counted.items()
    }


def breakdown_sentence(read: ReadWith, value: float) -> str:
    """Tell how many people would explain the share of the second of two answers without anybody who holds it.

    Empty where that is not informative: more than two answers, a direct question, or a share that is not above 0.
    """
    design = read.design
    channel = design.channel
    if (
        len(design.categories) != 2
        or channel.responses > _MOST_SCORED
        or not 0 < value < 1
    ):
        return ""
    if all(channel.probability(at, given=at) == 1 for at in range(2)):
        return ""
    behaviours_by_kind = behaviours(read, 1)
    parts = {
        "who always send the response that suggests it": value
        / behaviours_by_kind["always_yes"].counts_for,
        "who respond at random": value / behaviours_by_kind["random"].counts_for
        if behaviours_by_kind["random"].counts_for > 0
        else 1.0,
    }
    explanations = [
        f"{formats.percent(share)} {words}"
        for words, share in parts.items()
        if share < 1
    ]
    if not explanations:
        return ""
    return (
        f"This rests on people following the device: if nobody were {design.categories[1]!r}, "
        f"{' or '.join(explanations)} would explain the same responses."
    )


def _always(read: ReadWith, number: int, symbol: str) -> Behaviour:
    channel = read.design.channel
    if not channel.own_cells or channel.responses > _MOST_SCORED:
        raise InvalidRequest(
            "the responses of this design are not counted one by one; expected a kind, and no symbol."
        )
    alone = np.eye(channel.responses)[read.design.symbol_number(symbol)]
    score = float(read.linear.shares(alone)[number])
    return Behaviour(
        f"always {symbol}", f"of people always send {symbol!r}", score, members=False
    )


def _unbiased_estimate(estimate: Estimate) -> Estimate:
    """Return the unbiased estimate from the same counts."""
    from deniable.estimates.shares import fitted

    if not estimate.bounded:
        return estimate
    method = "customary" if estimate.method.startswith("customary") else "inversion"
    return fitted(
        estimate.tally,
        method=method,
        population=estimate.population,
        guess=None if estimate.guess is None else estimate.guess.tolist(),
        inverse=estimate.inverse,
    )


def _curve(
    behaviour: Behaviour,
    value: float,
    error: float,
    ends: Interval,
    failing: Sequence[float],
) -> SensitivityCurve:
    points = []
    for part in failing:
        found, low, high = (behaviour.share(each, part) for each in (value, *ends))
        scale = abs(behaviour.share(1.0, part) - behaviour.share(0.0, part))
        everybody = (
            (found, found)
            if behaviour.members
            else ((1 - part) * found, (1 - part) * found + part)
        )
        points.append(
            CurvePoint(
                part,
                found,
                scale * error,
                min(low, high),
                max(low, high),
                *everybody,
            )
        )
    end = behaviour.breakdown(value)
    return SensitivityCurve(
        behaviour.kind, behaviour.words, tuple(points), *(end or (None, None))
    )
