"""What each response says about its respondent, without bias, and how much of its variance is the device's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.designs import Design, NumberDesign
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear
from deniable.estimates.sampling.columns import Mask
from deniable.estimates.simplex import projection
from deniable.tallies.responses import Responses

MOST_VALUES = 1 << 26
"""Values of rows that are held at once: half a gigabyte."""


# of a table of responses × categories, in which levels are looked up
_MOST_SCORES = 1 << 20


class OneResponse(NamedTuple):
    """How what one response says about each of several shares varies.

    Attributes:
        curve: its variance, if the share were π: rows of constants, slopes and squares; NaN of numbers that are none.
        low: the smaller of the two values that it can have, NaN where it can have more; of a ratio of two numbers the
            least that it can be.
        high: the larger one.
    """

    curve: Matrix
    low: Vector
    high: Vector


def unknown_response(size: int) -> OneResponse:
    """Return what one response says about numbers that are no shares: nothing that is known."""
    unknown = np.full(size, np.nan)
    return OneResponse(vector([unknown] * 3), unknown, unknown)


class Dealt(NamedTuple):
    """How the devices of different rows depend on each other: cards of one deck, which nobody else can hold.

    Attributes:
        values: a row for each respondent, zeros where nothing was sent. Of two rows of one deal, minus the product of
            theirs is right on average for the covariance that the device gives to the values of the two.
        deals: the number of the deal of each row.
    """

    values: Matrix
    deals: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowValues:
    """A value for each response, whose expectation is the truth about its respondent.

    Attributes:
        names: what is told about each: the categories, or "mean" of a number.
        values: a row for each respondent, zeros where nothing was sent.
        present: which rows hold a response.
        device: Σ c_i·V̂_i for a factor c_i of each row, at the numbers that are estimated: V̂_i the covariance that the
            device gives to what one response adds, estimated without bias.
        quantity: "share" or "mean".
        spread: of shares: what one response says, for the weights of rows and the shares that are estimated.
        below: of ratios: what each value is divided by, right on average as the values are; by default each row that is
            present counts 1.
        dealt: how devices of different rows depend on each other, where they do.
        summed: how many numbers, the first ones, have a total: their mean times the people there are. By default all,
            and none of ratios.
        ratios: numbers that are the ratio of two others of the same block: theirs, that above and that below.
        hidden: for the weights of rows, the covariance of errors of the means that no sample shows, as they are the
            same in every one.
        scatter: Σ c_i·E[(r_i − R)(r_i − R)′] by the device's model, for a factor c_i of each row, the means R, and 1;
            for 0 what the device adds to that. By default the rows' own products are taken.
        exclusive: whether everybody has exactly one of the names, so that the shares of two move together.
        asked: the probability with which somebody is asked at all, where chance decides that; else 1.
    """

    names: tuple[str, ...]
    values: Matrix
    present: Mask
    device: Callable[[Vector, Vector], Matrix]
    quantity: str
    spread: Callable[[Vector, Vector], OneResponse] | None = None
    below: Matrix | None = None
    dealt: Dealt | None = None
    summed: int | None = None
    ratios: tuple[tuple[int, int, int], ...] = ()
    hidden: Callable[[Vector], Matrix] | None = None
    scatter: Callable[[Vector, Vector, float], Matrix] | None = None
    exclusive: bool = False
    asked: float = 1.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def totals(self) -> int:
        """How many numbers, the first ones, have a total."""
        if self.summed is not None:
            return self.summed
        return len(self.names) if self.below is None else 0

    def one_response(self, weights: Vector, means: Vector) -> OneResponse:
        """Return what one response says about each number; NaN of numbers that are no shares."""
        if self.spread is None:
            return unknown_response(len(means))
        return self.spread(weights, means)

    @property
    def events(self) -> int:
        """How many intervals have to hold for all to hold: one of two shares that move together."""
        return 1 if self.exclusive and len(self.names) == 2 else len(self.names)

    def with_totals(self) -> RowValues:
        """Return those of the numbers that have a total."""
        count = self.totals
        if count == len(self.names):
            return self
        lacking = np.full(len(self.names) - count, np.nan)

        def first(model: Callable[..., Matrix] | None) -> Any:
            """Return a model of the first numbers alone; means are its second argument, if it takes any."""
            if model is None:
                return None

            def cut(*arguments: Any) -> Matrix:
                weights, *means = arguments
                means[:1] = [np.concatenate([mean, lacking]) for mean in means[:1]]
                return model(weights, *means)[:count, :count]

            return cut

        def spread(weights: Vector, means: Vector) -> OneResponse:
            whole = self.one_response(weights, np.concatenate([means, lacking]))
            return OneResponse(*(values[..., :count] for values in whole))

        return replace(
            self,
            names=self.names[:count],
            values=self.values[:, :count],
            device=first(self.device),
            spread=None if self.spread is None else spread,
            below=None if self.below is None else self.below[:, :count],
            ratios=(),
            hidden=first(self.hidden),
            scatter=first(self.scatter),
        )


def category_values(responses: Responses[Any], inverse: object = None) -> RowValues:
    """Return what each response to a question about categories says; of a number, about its levels.

    Implements: r_i = L·e_z, with L a left inverse of the channel, so that E r_i is 1 for the category of the respondent
    and 0 for others.

    Why: E[L·e_z | x] = L·P·e_x = e_x. The covariance of r_i given the category l is C(l), and Σ_l C(l)·r_il is unbiased
    for it, because E r_il is 1 for the respondent's own category alone. Of two responses it is r_i(r_i − 1).

    Raises:
        NotEstimable: the channel cannot tell answers apart.
        InvalidRequest: an inverse that is none.
    """
    design = responses.design
    hint = "Take the tally of fewer categories, or with weights: dn.tally(responses, weights=…)."
    check_room(len(responses), len(design.categories), "categories", hint)
    linear = linear_of(design, inverse)
    absent = responses.gaps
    scores = np.zeros((len(responses), len(design.categories)))
    cells = Cells.of(design.channel, responses.present()["response"])
    scores[~absent] = cells.scores(linear, len(design.categories))

    def weighted_shares(factors: Vector) -> tuple[float, Vector]:
        total = float(factors[~absent].sum())
        return total, vector(factors @ scores / (total or 1.0))

    def device(factors: Vector, _: Vector) -> Matrix:
        total, shares = weighted_shares(factors)
        expected = linear.expected(shares)
        return total * linear.covariance(expected, shares, 0.0, 1.0).matrix()

    def scatter(factors: Vector, mean: Vector, people: float) -> Matrix:
        total, shares = weighted_shares(factors)
        observed = cells.sums(vector(factors[~absent])) / (total or 1.0)
        spread = linear.covariance(observed, shares, people, 1.0).matrix()
        away = np.outer(shares - mean, shares - mean)
        return vector(total * (spread + people * away))

    def spread(_: Vector, shares: Vector) -> OneResponse:
        return one_response(design, linear, shares)

    return RowValues(
        tuple(design.categories),
        vector(scores),
        ~absent,
        device,
        "share",
        spread,
        scatter=scatter,
        exclusive=True,
    )


def row_values(responses: Responses[Any], inverse: object = None) -> RowValues:
    """Return what each response says: about categories, or about the mean of numbers.

    Implements: the mean of the levels with the weights r_i of `category_values`.

    Raises:
        NotEstimable: the channel cannot tell answers apart.
        InvalidRequest: an inverse that is none.
    """
    rows, design = category_values(responses, inverse), responses.design
    if design.answer_form != "numbers":
        return rows
    levels = vector([float(level) for level in design.scale.values])
    return linear_values(
        rows,
        ("mean",),
        np.zeros(1),
        levels[None, :],
        design,
    )


def linear_values(
    rows: RowValues,
    names: tuple[str, ...],
    constants: Vector,
    slopes: Matrix,
    design: NumberDesign,
) -> RowValues:
    """Return what each response says about linear functions of shares of levels, the first of them the mean.

    Args:
        rows: what it says about the levels.
        names: of the functions.
        constants: of the functions.
        slopes: a row for each function, by each share.
        design: what the numbers were rounded with.
    """
    # at most: where between two levels a number lies is not known
    rounding = float(design.scale.step) ** 2 / 4
    values = (constants + rows.values @ slopes.T) * rows.present[:, None]

    def device(factors: Vector, means: Vector) -> Matrix:
        total = slopes @ rows.device(factors, means) @ slopes.T
        total[0, 0] += rounding * factors[rows.present].sum()
        return vector(total)

    def scatter(factors: Vector, means: Vector, people: float) -> Matrix:
        assert rows.scatter is not None
        whole = float(factors[rows.present].sum())
        shares = vector(factors @ rows.values / (whole or 1.0))
        away = constants + slopes @ shares - means
        total = slopes @ rows.scatter(factors, shares, people) @ slopes.T
        total += people * whole * np.outer(away, away)
        total[0, 0] += (1 - people) * rounding * factors[rows.present].sum()
        return vector(total)

    return RowValues(
        names,
        vector(values),
        rows.present,
        device,
        "mean",
        scatter=scatter,
        summed=1,
    )


def check_room(rows: int, columns: int, of: str, hint: str) -> None:
    """Refuse more values of rows than are held at once.

    Raises:
        InvalidRequest: too many.
    """
    if rows * columns > MOST_VALUES:
        raise InvalidRequest(
            f"{rows:,} rows of {columns:,} {of} are too many; expected at most {MOST_VALUES // columns:,} rows.",
            hint,
        )


def one_response(design: Design, linear: Linear, shares: Vector) -> OneResponse:
    """Return how what a response says about each category varies: others in the proportions that are estimated."""
    own, others = linear.spread(projection(shares))
    return OneResponse(
        vector([others, own - others, np.full(len(own), -1.0)]),
        *_levels(design, linear),
    )


def _levels(design: Design, linear: Linear) -> tuple[Vector, Vector]:
    """Return the two values that a response can have about each category; NaN where it can have more."""
    size, channel = len(design.categories), design.channel
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if not channel.own_cells or channel.responses * size > _MOST_SCORES:
        return low, high
    table = np.stack([linear.shares(each) for each in np.eye(channel.cells)], axis=1)
    for category, scores in enumerate(table):
        found: Sequence[float] = np.unique(np.round(scores, 9)).tolist()
        if len(found) == 2:
            low[category], high[category] = scores.min(), scores.max()
    return low, high


def linear_of(design: Design, inverse: object = None) -> Linear:
    """Return the left inverse that rows are read with.

    Raises:
        NotEstimable: the channel cannot tell answers apart.
        InvalidRequest: an inverse that is none.
    """
    try:
        given = None if inverse is None else np.array(inverse, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest(
            "not everything in the left inverse is a number; expected numbers alone."
        ) from None
    return left_inverse(design.channel, inverse=given)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a tally in which each response is counted.

    Attributes:
        channel: what the responses were drawn with.
        distinct: the different responses.
        places: for each row, which of them it is.
    """

    channel: Channel
    distinct: Any
    places: NDArray[np.intp]

    @classmethod
    def of(cls, channel: Channel, rows: Any) -> Cells:
        """Find the different responses among coded rows."""
        distinct, places = np.unique(
            rows, axis=None if rows.ndim == 1 else 0, return_inverse=True
        )
        return cls(channel, distinct, places.ravel())

    def counts(self) -> Iterator[Vector]:
        """Yield the cells of a tally of each different response alone."""
        for at in range(len(self.distinct)):
            yield vector(self.channel.coding.count(self.distinct[at : at + 1]))

    def scores(self, linear: Linear, size: int) -> Matrix:
        """Return L·e for each row: worked out once for each different response."""
        if not len(self.distinct):
            return np.zeros((0, size))
        return vector(np.stack([linear.shares(each) for each in self.counts()]))[
            self.places
        ]

    def sums(self, weights: Vector) -> Vector:
        """Return the cells of a tally in which each row counts with its weight."""
        by_response = np.bincount(
            self.places, weights=weights, minlength=len(self.distinct)
        ).tolist()
        cells = np.zeros(self.channel.cells)
        for weight, counts in zip(by_response, self.counts(), strict=True):
            cells += weight * counts
        return vector(cells)
