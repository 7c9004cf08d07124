"""Designs for a number in a known range: random rounding to a few levels, and a window over the levels.

How many levels and which width are best depends on what is asked for: the mean, or the whole distribution. The choice
is made in floats (privacy is elsewhere), where a design is a list of columns: for each level the probabilities of the
responses. Levels lie evenly from −1 to 1 there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from deniable import documents, exact
from deniable.designs.design import Design
from deniable.designs.ordered import window, window_labels
from deniable.errors import InvalidDesign, InvalidRequest, quoted, require_choice
from deniable.exact import Rational
from deniable.rendering import formats

if TYPE_CHECKING:
    from deniable.types.numbers import count as _count
    from deniable.types.numbers import draw as _draw
    from deniable.types.numbers import respond as _respond
    from deniable.types.numbers.count import NumberTally


Columns: TypeAlias = Sequence[Sequence[float]]

LEVELS_FOR_A_MEAN = (*range(2, 8), 9, 12, 16, 24, 32)
"""Numbers of levels that are tried for a mean; those above 7 only where e^ε is large: else they win about 1 %."""

SETTLED_LEVELS = {"distribution": 11, "shape": 129}
"""Levels that a goal takes: for a distribution a step is a tenth of the range, for a smooth picture 1/128."""

_LARGE_RATIO = 100.0  # e^ε from which more levels are worth it
_FEW_LEVELS = 7  # 12 responses at most: a table of them fits on a telephone
_MIN_RATIO = 1.0001  # below, the choice is the same and floats cancel
_MAX_RATIO = 1e9  # beyond, e^ε makes no difference to the choice and floats cancel


@lru_cache(maxsize=256)
def best_window(
    goal: str, ratio: float, levels: int | None = None, width: int | None = None
) -> tuple[int, int]:
    """Return the number of levels and the width of the window with the smallest variance.

    Args:
        goal: "mean", for the variance in the worst case; "distribution", for that of the shares of people at or below
            each level, on average, if the shares are even; "shape", for the information in the square wave.
        ratio: e^ε.
        levels: how many there are, if it is settled.
        width: of the window, if it is settled.

    Example:
        >>> [best_window("mean", ratio) for ratio in (1.6, 2.7, 7.4, 54.6)]
        [(7, 6), (7, 6), (5, 2), (7, 2)]
    """
    settled = levels or SETTLED_LEVELS.get(goal)
    if goal == "shape" and settled and width is None:
        wave = round(2 * half_width(ratio) * (settled - 1))
        return settled, min(max(wave, 1), settled - 1)
    max_levels = _FEW_LEVELS if ratio < _LARGE_RATIO else LEVELS_FOR_A_MEAN[-1]
    counts = (
        [settled]
        if settled
        else [count for count in LEVELS_FOR_A_MEAN if count <= max_levels]
    )
    pairs = [
        (count, candidate)
        for count in counts
        for candidate in (_widths(count) if width is None else [width])
    ]
    cost = worst_variance if goal == "mean" else _cumulated_variance
    fitting = [(count, span) for count, span in pairs if 1 <= span < count]
    if len(fitting) < 2:
        return pairs[0]
    return min(
        fitting,
        key=lambda pair: cost(
            window_columns(pair[0], pair[1], min(max(ratio, _MIN_RATIO), _MAX_RATIO))
        ),
    )


def half_width(ratio: float) -> float:
    """Return the half-width of the square wave [LWL20] with the most information, as a part of the range.

    Formula: with x = e^ε, b = (εx − x + 1) / (2x(x − 1 − ε)).

    Example:
        >>> [round(half_width(math.exp(epsilon)), 4) for epsilon in (0.5, 1, 2, 4)]
        [0.3582, 0.2561, 0.1293, 0.0304]
    """
    ratio = min(max(ratio, _MIN_RATIO), _MAX_RATIO)
    epsilon = math.log(ratio)
    return (epsilon * ratio - ratio + 1) / (2 * ratio * (ratio - 1 - epsilon))


def worst_variance(columns: Columns) -> float:
    """Return the largest variance, over all numbers from −1 to 1, of the score of a response.

    Why: between two levels the second moment of the score is linear in the number, as rounding is, and the square of
    the number is taken off: the largest value is at an end or where the slopes are equal.
    """
    scores, levels = best_scores(columns), _levels(len(columns))
    seconds = [
        sum(score * score * p for score, p in zip(scores, column, strict=True))
        for column in columns
    ]
    worst = 0.0
    for index in range(len(levels) - 1):
        chord_derivative = (seconds[index + 1] - seconds[index]) / (
            levels[index + 1] - levels[index]
        )
        y = min(max(chord_derivative / 2, levels[index]), levels[index + 1])
        worst = max(
            worst, seconds[index] + chord_derivative * (y - levels[index]) - y * y
        )
    return worst


def best_scores(columns: Columns) -> list[float]:
    """Return unbiased scores of the responses for the levels, with the smallest variance at equal shares."""
    weights = _solve(
        _information(columns), [[level] for level in _levels(len(columns))]
    )
    shares = _shares(columns)
    return [
        sum(
            column[response] * weight[0]
            for column, weight in zip(columns, weights, strict=True)
        )
        / share
        for response, share in enumerate(shares)
    ]


def window_columns(levels: int, width: int, ratio: float) -> Columns:
    """Return the columns of a window."""
    small = 1 / (width * ratio + levels - 1)
    return [
        [
            ratio * small if first <= response < first + width else small
            for response in range(levels + width - 1)
        ]
        for first in range(levels)
    ]


def _cumulated_variance(columns: Columns) -> float:
    """Return the variances of the shares of people at or below each level, summed, but for a constant."""
    size = len(columns)
    below = [
        [float(response <= level) for level in range(size - 1)]
        for response in range(size)
    ]
    inverse = _solve(_information(columns), below)
    return sum(
        sum(inverse[response][level] for response in range(level + 1))
        for level in range(size - 1)
    )


def _widths(levels: int) -> list[int]:
    """Return the widths that are tried: all of a few, and then in larger steps."""
    return [
        width
        for width in range(1, levels)
        if width <= 8 or width % 4 == 0 or width == levels - 1
    ]


def _levels(size: int) -> list[float]:
    return [2 * index / (size - 1) - 1 for index in range(size)]


def _shares(columns: Columns) -> list[float]:
    """Return the probability of each response at equal shares of the levels."""
    return [sum(row) / len(columns) for row in zip(*columns, strict=True)]


def _information(columns: Columns) -> list[list[float]]:
    shares = _shares(columns)
    scaled = [
        [p / share for p, share in zip(column, shares, strict=True)]
        for column in columns
    ]
    return [
        [sum(map(float.__mul__, left, right)) for right in scaled]
        for left in columns
    ]


def _solve(
    matrix: list[list[float]], constants: list[list[float]]
) -> list[list[float]]:
    """Return X with matrix·X = given, by elimination; the matrix is positive definite."""
    size = len(matrix)
    rows = [[*matrix[index], *constants[index]] for index in range(size)]
    for index in range(size):
        pivot = rows[index][index]
        rows[index] = [entry / pivot for entry in rows[index]]
        for other_index in range(size):
            if other_index != index:
                factor = rows[other_index][index]
                rows[other_index] = [
                    mine - factor * its
                    for mine, its in zip(rows[other_index], rows[index], strict=True)
                ]
    return [row[size:] for row in rows]


MAX_LEVELS = {"mean": 32, "distribution": 32, "shape": 129}
"""Levels that a number can be rounded to, by what it is asked for: its mean alone; its mean, its spread and its
quantiles; or a smooth picture. More tell next to nothing more, and each costs precision."""

# the squares of such ends, as variances have them, are still floats
_FAR = Fraction(10**150)


@dataclass(frozen=True)
class Range:
    """All values from `low` to `high`, read exactly.

    Example:
        >>> Range.of(-1, 3).share(Fraction(1, 2)), Range.of(-1, 3).squared
        (Fraction(3, 8), Range(low=Fraction(0, 1), high=Fraction(9, 1)))
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InvalidRequest(
                f"the range goes from {self.low} to {self.high}; expected it to rise."
            )
        if max(-self.low, self.high) > _FAR or self.width < 1 / _FAR:
            raise InvalidRequest(
                "the range is too wide or too narrow for floats; expected ends and a width within 1e150."
            )

    @classmethod
    def of(cls, low: Rational, high: Rational) -> Range:
        """Read a range.

        Raises:
            InvalidRequest: it does not rise.
            InvalidNumber: not finite.
        """
        return cls(
            exact.rational(low, name="low"), exact.rational(high, name="high")
        )

    @classmethod
    def of_body(cls, body: Mapping[str, Any]) -> Range:
        """Read the field "range" of JSON.

        Raises:
            InvalidDesign: not the two ends, as texts.
        """
        ends = documents.field(body, "range", list)
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            raise InvalidDesign(
                "the range of the numbers is not written as its two ends; expected two texts."
            )
        return cls.of(*ends)

    @property
    def width(self) -> Fraction:
        """Width of the range."""
        return self.high - self.low

    @property
    def squared(self) -> Range:
        """The range of the squares of its values."""
        squares = self.low**2, self.high**2
        return Range(
            Fraction(0) if self.low < 0 < self.high else min(squares), max(squares)
        )

    def share(self, value: Fraction) -> Fraction:
        """Return the position of a value in the range, from 0 at the low end to 1 at the high end."""
        return (value - self.low) / self.width


@dataclass(frozen=True)
class Scale:
    """Range that is divided into equally spaced levels.

    Example:
        >>> Scale(Range.of(0, 80), 5).names
        ('0', '20', '40', '60', '80')
        >>> Scale(Range.of(0, 80), 5).place(Fraction(30))
        (1, Fraction(1, 2))
    """

    range: Range
    levels: int

    @property
    def step(self) -> Fraction:
        """Distance between two levels."""
        return self.range.width / (self.levels - 1)

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The levels, from the low end to the high one."""
        return tuple(
            self.range.low + number * self.step for number in range(self.levels)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of the levels: a decimal where that is exact, else a fraction."""
        return tuple(map(_format_exact, self.values))

    def place(self, value: Fraction) -> tuple[int, Fraction]:
        """Return the number of the level below a value, and how often the value is rounded to the next one."""
        below, remainder = divmod((value - self.range.low) / self.step, 1)
        return int(below), remainder


@dataclass(frozen=True, eq=False)
class NumberDesign(Design):
    """A design whose categories are the levels that a number in a range is rounded to.

    Guarantee: ε is that of the channel between levels and responses; what a number is rounded to says no more than the
    number itself.

    Attributes:
        scale: the range of the numbers, and its levels.
    """

    asks: ClassVar[str] = "numbers"
    answer_form: ClassVar[str] = "numbers"
    accepts_codes: ClassVar[bool] = False
    is_streamed: ClassVar[bool] = False

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond  # type: ignore[assignment]
        respond_all = _draw.respond_all  # type: ignore[assignment]
        tally = _count.tally

        def count_sent(
            self, *, threads: int = 1, fast: bool | None = None
        ) -> NumberTally: ...

    scale: Scale = Scale(Range(Fraction(0), Fraction(1)), 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if tuple(self.categories) != self.scale.names or self.factors:
            raise InvalidDesign(
                "the categories are not the levels of the range; expected these, in their order."
            )

    @property
    def range(self) -> Range:
        """Range of the numbers."""
        return self.scale.range

    @property
    def squared(self) -> NumberDesign:
        """The design for the squares of these numbers, rounded to as many levels; square the answers for it."""
        scale = Scale(self.range.squared, self.scale.levels)
        names = window_labels(
            scale.names, self.channel.responses - self.channel.answers + 1
        )
        return NumberDesign(self.name, scale.names, names, self.channel, scale=scale)

    def worst_variance(self) -> float:
        """Return the largest variance, over all numbers in the range, of an estimate from one response."""
        responses, levels = (
            range(self.channel.responses),
            range(self.channel.answers),
        )
        columns = [
            [
                float(self.channel.probability(response, given=level))
                for response in responses
            ]
            for level in levels
        ]
        return float(self.range.width / 2) ** 2 * worst_variance(columns)

    def to_body(self) -> dict[str, Any]:
        return {
            **super().to_body(),
            "range": [str(self.range.low), str(self.range.high)],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> NumberDesign:
        plain = Design.from_body(
            {name: value for name, value in body.items() if name != "range"}
        )
        scale = Scale(Range.of_body(body), len(plain.categories))
        return cls(
            plain.name, plain.categories, plain.symbols, plain.channel, scale=scale
        )

    def __repr__(self) -> str:
        low, high = (_format_exact(end) for end in (self.range.low, self.range.high))
        return f"numbers({low} to {high} in {self.scale.levels} levels; ε = {formats.epsilon(self.epsilon)})"


def number_design(
    low: Rational,
    high: Rational,
    epsilon: Rational,
    *,
    goal: str = "mean",
    levels: int | None = None,
    width: int | None = None,
) -> NumberDesign:
    """Build a design for a number in a range: it is rounded to a level, and a window of levels is sent.

    Implements: relaxed rounding [Pan24], §5.2, to m levels instead of 2, and then `window`, the piecewise mechanism
    [Wan19] on levels. For a mean, levels and width are those with the smallest variance in the worst case; for a
    distribution the width is that with the smallest variance of the shares below each level, on average; for a shape
    it is that of the square wave [LWL20].

    Guarantee: integers that sum to 2^64, with a parity of at most e^ε between any two numbers.

    Args:
        low: the smallest number that anybody can have.
        high: the largest one. Who has more is refused and must choose: nothing is cut off silently.
        epsilon: privacy; positive.
        goal: "mean"; "distribution" for spread and quantiles too; "shape" for a smooth picture, `smooth()`.
        levels: how many levels the range is cut into; by default the best for a mean, 11 for a distribution, 129 for a
            shape.
        width: of the window; by default the best for the goal. Stages of one question have the same one.

    Raises:
        InvalidRequest: the range does not rise, or another goal.
        InvalidDesign: levels or a width that do not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> number_design(0, 80, epsilon=2)
        numbers(0 to 80 in 5 levels; ε = 2)
        >>> number_design(0, 80, epsilon=2).symbols
        ('0', '0 … 20', '20 … 40', '40 … 60', '60 … 80', '80')
    """
    require_choice("the goal is", goal, MAX_LEVELS)
    if levels is not None and not exact.is_whole(levels, 2, MAX_LEVELS[goal]):
        raise InvalidDesign(
            f"there are {quoted(levels)} levels; expected a whole number from 2 to {MAX_LEVELS[goal]}."
        )
    range_, ratio = (
        Range.of(low, high),
        float(exact.gamma_below(epsilon)),
    )
    count, best = best_window(goal, ratio, levels, width)
    scale = Scale(range_, count)
    built = window(scale.names, best, epsilon)
    return NumberDesign(
        built.name, built.categories, built.symbols, built.channel, scale=scale
    )


def _format_exact(value: Fraction) -> str:
    """Return a number exactly: as a decimal where it has one, else as a fraction."""
    remainder = value.denominator
    for prime in (2, 5):
        while remainder % prime == 0:
            remainder //= prime
    if remainder != 1:
        return str(value)
    n_digits = max(value.denominator.bit_length(), 1)
    text = f"{Decimal(value.numerator * 10**n_digits // value.denominator).scaleb(-n_digits):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
