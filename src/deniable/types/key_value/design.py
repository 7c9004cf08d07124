"""Step 1: choose how somebody's items and weights become a response. A function for each family."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from deniable import chance, documents, exact
from deniable.channel import Dense
from deniable.designs import AnyDesign, Design, Purpose, labels
from deniable.designs.labels import LabelIndex, Labels, Numbered
from deniable.designs.rounding import realize
from deniable.designs.three_answers_best import edges as region_edges
from deniable.designs.three_answers_best import lowest_between
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
    quoted,
)
from deniable.rendering import formats
from deniable.types.key_value.schemes import (
    Direct,
    Index,
    Row,
    Scheme,
    Unary,
    Weight,
    check_padding,
    marks,
    read_scale,
    read_weight,
)

if TYPE_CHECKING:
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.types.key_value import count as _count
    from deniable.types.key_value import draw as _draw
    from deniable.types.key_value import respond as _respond
    from deniable.types.key_value.count import KeyValueTally

__all__ = [
    "BUILDERS",
    "DESIGN",
    "ItemDesign",
    "KeyValueDesign",
    "known_answers",
    "lpp",
    "lpp_club",
    "lpp_ddagger",
    "pckv_grr",
    "pckv_ue",
    "symbol_design",
    "vpp",
]

_EXAMPLE_ITEMS = 4  # items that examples of answers are made of

KINDS: dict[str, Callable[[int, Mapping[str, Any]], Scheme]] = {
    "index": Index.from_body,
    "unary": Unary.from_body,
    "direct": Direct.from_body,
}


def read_items(items: Labels) -> Sequence[str]:
    """Read the names of items, or how many there are; one alone is enough.

    Raises:
        InvalidDesign: none, names that repeat, or no names at all.
    """
    if isinstance(items, int) and not isinstance(items, bool) and items == 1:
        return (Numbered(1)[0],)
    if (
        isinstance(items, Sequence)
        and not isinstance(items, str)
        and len(items) == 1
    ):
        labels.read([items[0], "a" if items[0] != "a" else "b"], name="items")
        return (items[0],)
    return labels.read(items, name="items")


class ItemDesign(AnyDesign):
    """A design about items and their weights. Its responses are counted by item and symbol.

    Attributes:
        items: what people may have.
    """

    items: Sequence[str]

    @property
    @abstractmethod
    def width(self) -> int:
        """How many symbols there are for each item."""

    @property
    @abstractmethod
    def parity(self) -> exact.Ratio:
        """The largest factor by which a response can change the odds between two answers, exactly."""

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which this design is locally private, rounded up."""
        return exact.log_above(self.parity)

    def item_number(self, item: str) -> int:
        """Return the number of an item.

        Raises:
            InvalidAnswer: not one of this design's; the message does not repeat it.
        """
        number = self._places.find(item)
        if number is None:
            raise InvalidAnswer(
                f"an item is not one of the design's; expected some of {labels.format_labels(self.items)}."
            )
        return number

    @cached_property
    def _places(self) -> LabelIndex:
        return LabelIndex(self.items)

    @abstractmethod
    def symbol(self, response: int) -> str:
        """Write a response, given its number."""

    def symbols_in(self, column: str, rows: Any) -> list[str]:  # noqa: ARG002 - there is one column
        if rows.ndim == 1:
            return [self.symbol(code) for code in rows.tolist()]
        return [
            self.symbol(
                sum(each * self.width**item for item, each in enumerate(row))
            )
            for row in rows.tolist()
        ]

    def response_number(self, symbol: str) -> int:
        """Return the number of a response.

        Raises:
            InvalidResponse: not one that this design sends.
        """
        try:
            if isinstance(symbol, str):
                return self._number(symbol)
        except ValueError:
            pass
        raise InvalidResponse(
            f"{quoted(symbol)} is not a response of this design; expected one such as {quoted(self.symbol(0), 60)}."
        )

    @abstractmethod
    def _number(self, symbol: str) -> int:
        """Return the number of a response; raises ValueError where it is none."""

    def _known(self, item: str) -> int:
        number = self._places.find(item)
        if number is None:
            raise ValueError
        return number

    def _names(self) -> int | list[str]:
        """Return the items for JSON."""
        return (
            len(self.items) if isinstance(self.items, Numbered) else list(self.items)
        )


@dataclass(frozen=True, eq=False)
class KeyValueDesign(ItemDesign):
    """Which items somebody has, and with which weights, turned into one response.

    Everything about privacy is derived from the scheme, whose integer weights are those that are drawn with. ε is that
    of the whole row: all of somebody's items and weights at once.

    Attributes:
        name: the function it was built by.
        items: what people may have.
        scheme: the exact probabilities, by number.
        low: the smallest weight there can be.
        high: the largest weight there can be.
    """

    SCHEMA: ClassVar[str] = "keyvalue-design"
    asks: ClassVar[str] = "key-value"
    answer_form: ClassVar[str] = "weights"
    keeps_order: ClassVar[bool] = False

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self) -> KeyValueTally: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            scaling: str | None = None,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    name: str
    items: Sequence[str]
    scheme: Scheme
    low: Fraction = Fraction(-1)
    high: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", read_items(self.items))
        if len(self.items) != self.scheme.items:
            raise InvalidDesign(
                f"there are {len(self.items):,} items; expected {self.scheme.items:,}, as in the scheme."
            )
        low, high = read_scale(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def width(self) -> int:
        return self.scheme.symbol.responses

    @property
    def parity(self) -> exact.Ratio:
        return self.scheme.parity

    @property
    def sequential(self) -> float:
        """The ε that sequential composition would charge for the same two devices, key and value, rounded up."""
        key, value = self.scheme.parts
        return exact.log_above(key) + exact.log_above(value)

    @property
    def saving(self) -> float:
        """How much of the ε that sequential composition charges is never spent."""
        return self.sequential - self.epsilon

    @property
    def scale(self) -> tuple[float, float]:
        """The middle of the weights there can be, and half of their range."""
        return float(self.low + self.high) / 2, float(self.high - self.low) / 2

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """The weights that a page offers: whole numbers where these are five to eleven, else five evenly spaced."""
        span = self.high - self.low
        is_whole = self.low.denominator == self.high.denominator == 1
        steps = int(span) if is_whole and 4 <= span <= 10 else 4
        return tuple(self.low + step * span / steps for step in range(steps + 1))

    def row(self, answer: Mapping[str, Weight]) -> Row:
        """Return somebody's row by number, with weights between −1 and 1.

        Raises:
            InvalidAnswer: an item that is not known, or a weight that does not fit; the message repeats neither.
        """
        if not isinstance(answer, Mapping):
            raise InvalidAnswer(
                f"an answer is a mapping from items to weights; a {type(answer).__name__} was given."
            )
        return {
            self.item_number(item): read_weight(weight, self.low, self.high)
            for item, weight in answer.items()
        }

    def symbol(self, response: int) -> str:
        return self.scheme.text(response, self.items.__getitem__)

    def _number(self, symbol: str) -> int:
        return self.scheme.number(symbol, self._known)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> KeyValueDesign:
        items = _read_names(body)
        scheme = documents.field(body, "scheme", dict)
        kind = documents.field(scheme, "kind", str)
        if kind not in KINDS:
            raise UnreadableFile(
                f"the scheme is of kind {quoted(kind)}; expected one of {sorted(KINDS)}."
            )
        ends = [
            exact.rational(documents.field(body, name, str), name=name)
            for name in ("low", "high")
        ]
        return cls(
            documents.field(body, "name", str),
            items,
            KINDS[kind](len(items), scheme),
            *ends,
        )

    def to_body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "items": self._names(),
            "low": str(self.low),
            "high": str(self.high),
            "scheme": self.scheme.to_body(),
        }

    def __repr__(self) -> str:
        return f"{self.name}({labels.format_labels(self.items, max_shown=5)}; ε = {formats.epsilon(self.epsilon)})"


class Vectors(labels.Computed):
    """The responses that have a mark for each item, without storing them."""

    KIND = "marks of items"
    __slots__ = ()
    made_from: KeyValueDesign

    def __init__(self, design: KeyValueDesign) -> None:
        super().__init__(design, design.scheme.responses)

    def label(self, number: int) -> str:
        return self.made_from.symbol(number)

    def find(self, text: str) -> int | None:
        try:
            return self.made_from.response_number(text)
        except InvalidResponse:
            return None


def _read_names(body: Mapping[str, Any]) -> Sequence[str]:
    given = documents.field(body, "items", int, list)
    try:
        return read_items(given)
    except InvalidDesign as error:
        raise UnreadableFile(error.problem, error.hint) from None


_SCAN = 48  # places that are looked at before a search narrows
GOALS = ("frequency", "weight", "mean")
DEFAULT = {"frequency": 1.0, "weight": 1.0}


@dataclass(frozen=True)
class VarianceGoal:
    """What is to be small: Σ importance · variance, at the values that are guessed.

    Attributes:
        importance: how much the variance of the frequency, of the weight per respondent and of the mean value matter.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
    """

    importance: Mapping[str, float]
    frequency: float
    mean: float

    def risk(self, of: EvenChannel, *, places: int | None = None) -> float:
        """Return Σ importance · variance for one respondent who is looked at; with padding for one who responds."""
        D, c = of.none + of.some - 1, of.some * (2 * of.sign - 1)
        named = self.importance
        if D <= 0 or (c <= 0 and (named["weight"] or named["mean"])):
            return math.inf
        f, w = self.frequency, self.frequency * self.mean
        stray, own = (
            of.none * (1 - of.none) / D**2,
            ((1 - of.some) * (1 - of.none) ** 2 + of.some * of.none**2) / D**2,
        )
        noise, told, tie = (
            ((1 - of.none) / c**2, of.some / c**2, of.none / D)
            if c > 0
            else (0.0, 0.0, 0.0)
        )
        if places is not None:
            extra = places * (places - 1)
            stray, own = places**2 * stray, places * own + extra * stray
            noise, told, tie = (
                places**2 * noise,
                places * told + extra * noise,
                places * tie,
            )
        degree = (1 - f) * stray + f * own - f**2
        weight = (1 - f) * noise + f * told - w**2
        both = w * tie - f * w
        mean = (weight - 2 * self.mean * both + self.mean**2 * degree) / f**2
        return (
            named["frequency"] * degree
            + named["weight"] * weight
            + named["mean"] * mean
        )

    def told(self, best: EvenChannel) -> EvenChannel:
        """Return the best member; where only the frequency matters, with signs that say nothing at all."""
        blind = not self.importance["weight"] and not self.importance["mean"]
        return EvenChannel(best.none, best.some, 0.5) if blind else best


@dataclass(frozen=True)
class EvenChannel:
    """The three numbers of an even channel of one item.

    Attributes:
        none: how often no edge sends none.
        some: how often an edge sends a sign.
        sign: how often that sign is the right one.
    """

    none: float
    some: float
    sign: float

    @property
    def columns(self) -> tuple[tuple[float, float, float], ...]:
        """For the answers none, + and − the probabilities of these symbols."""
        stray, lost = (1 - self.none) / 2, 1 - self.some
        right, wrong = self.some * self.sign, self.some * (1 - self.sign)
        return (self.none, stray, stray), (lost, right, wrong), (lost, wrong, right)


def read_goal(
    importance: str | Mapping[str, exact.Rational] | None,
    frequency: exact.Rational,
    mean: exact.Rational,
) -> VarianceGoal:
    """Read what is to be small.

    Args:
        importance: "frequency", "weight" or "mean" for one variance alone, or a number for each; by default frequency
            and weight alike.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.

    Raises:
        InvalidRequest: something else.
    """
    weights = _read_importance(importance)
    share, value = (
        exact.rational(frequency, name="frequency"),
        exact.rational(mean, name="mean"),
    )
    if not 0 < share <= 1 or not -1 <= value <= 1:
        raise InvalidRequest(
            "the guess does not fit; expected a frequency above 0 up to 1 and a mean from −1 to 1."
        )
    return VarianceGoal(
        {name: weights.get(name, 0.0) for name in GOALS}, float(share), float(value)
    )


def _read_importance(
    importance: str | Mapping[str, exact.Rational] | None,
) -> dict[str, float]:
    named: Mapping[str, exact.Rational] = (
        {importance: 1} if isinstance(importance, str) else importance or DEFAULT
    )
    if not isinstance(named, Mapping):
        raise InvalidRequest(
            f"the importance is a {type(named).__name__}; expected a name, or a number for each name."
        )
    weights = {
        name: float(exact.rational(value, name="importance"))
        for name, value in named.items()
    }
    if (
        set(weights) - set(GOALS)
        or min(weights.values(), default=0) < 0
        or not any(weights.values())
    ):
        raise InvalidRequest(
            f"the importance does not fit; expected numbers of 0 or more for some of {', '.join(GOALS)}, not all 0."
        )
    return weights


def best_index(family: str, gamma: Fraction, goal: VarianceGoal) -> EvenChannel:
    """Return the member of RR3‡ or RR3♣ with a parity of at most γ and the smallest risk.

    Why the edges of the region are enough: see `designs.three_answers_best`; the argument is Blackwell's and holds for
    every risk that a garbling cannot lower, as these variances are.
    """
    best_along = [
        _best_on_segment(one.point, two.point, goal)
        for one, two in region_edges(family, gamma)
    ]
    return goal.told(min(best_along, key=goal.risk))


Point: TypeAlias = tuple[Fraction, Fraction, Fraction]


def _best_on_segment(one: Point, two: Point, goal: VarianceGoal) -> EvenChannel:
    start, end = [float(each) for each in one], [float(each) for each in two]

    def at(place: float) -> EvenChannel:
        a, u, v = (p + place * (q - p) for p, q in zip(start, end, strict=True))
        return EvenChannel(a, u + v, max(u, v) / (u + v) if u + v > 0 else 0.5)

    return at(lowest(lambda place: goal.risk(at(place)), 0.0, 1.0))


def lowest(
    height: Callable[[float], float], low: float, high: float, *, rough: bool = False
) -> float:
    """Return where a function is lowest between two places: a scan, then golden sections around its best place.

    Variances are flat around their smallest value, so that `rough` is good enough where a search is inside another.
    """
    scan = _SCAN // 4 if rough else _SCAN
    step = (high - low) / scan
    best = min(range(scan + 1), key=lambda i: height(low + i * step))
    left, right = low + max(best - 1, 0) * step, low + min(best + 1, scan) * step
    near = lowest_between(height, left, right, 1e-5 if rough else 1e-11)
    return min((low + best * step, near), key=height)


_Kind = TypeVar("_Kind", bound=Scheme)
_HALVINGS = 60  # of an interval of 1: finer than a float
_FEW_HALVINGS = 24  # while a search around this one is still under way


def best_unary(
    items: int, padding: int, gamma: Fraction, goal: VarianceGoal
) -> Unary:
    """Return the PCKV-UE design with a parity of at most γ and the smallest risk.

    Why two numbers are searched: for every share of edges kept and every share of signs kept, more of what is none
    stays none the larger γ is, up to where the parity meets γ.
    """
    x = float(gamma)

    def club(some: float, sign: float, halvings: int = _FEW_HALVINGS) -> EvenChannel:
        return EvenChannel(
            _p_none(some, sign, items, padding, x, halvings), some, sign
        )

    def risk(some: float, sign: float) -> float:
        return goal.risk(club(some, sign), places=padding)

    def kept(sign: float) -> float:
        return lowest(lambda some: risk(some, sign), 0.02, 0.995, rough=True)

    sign = goal.told(
        EvenChannel(
            0,
            0,
            lowest(
                lambda sign: risk(kept(sign), sign), 0.5, x / (1 + x), rough=True
            ),
        )
    ).sign
    best = club(kept(sign), sign, _HALVINGS)
    return _private(
        lambda share: Unary(items, padding, _channel(best, share)), gamma
    )


def _p_none(
    some: float, sign: float, items: int, padding: int, x: float, halvings: int
) -> float:
    """Return the probability that "none" stays "none"."""
    if items >= 2 * padding:
        odds = x * (1 - some) / (2 * some * sign)
        return odds / (1 + odds)
    marked_counts = marks(items, padding)
    low, high = 0.0, 1.0
    for _ in range(halvings):
        middle = (low + high) / 2
        club = EvenChannel(middle, some, sign)
        is_private = all(
            _parity(club, items, padding, marked) <= x for marked in marked_counts
        )
        low, high = (middle, high) if is_private else (low, middle)
    return low


def _parity(club: EvenChannel, items: int, padding: int, marked: int) -> float:
    """Return the ratio of the two `extremes` in floats, without the items that attain them: a search takes many."""
    (none, stray, _), (lost, right, wrong), _ = club.columns
    empty, unmarked, plain = none * stray, lost * stray, items - marked
    most = _largest_sum(right * none, marked, unmarked, plain, empty, padding)
    # The smallest sum is that of the negative values, with its sign turned; floats lose nothing by that.
    least = -_largest_sum(-wrong * none, marked, -unmarked, plain, -empty, padding)
    return most / max(least, 1e-300)


def _largest_sum(
    first: float, n_first: int, second: float, n_second: int, empty: float, left: int
) -> float:
    """Return the largest sum of values in so many places, of two kinds and of empty places; as `extreme` does."""
    if second > first:
        first, n_first, second, n_second = second, n_second, first, n_first
    total = 0.0
    if first > empty:
        taken = min(left, n_first)
        total, left = taken * first, left - taken
    if second > empty:
        taken = min(left, n_second)
        total, left = total + taken * second, left - taken
    return total + left * empty


def best_direct(
    items: int, padding: int, gamma: Fraction, goal: VarianceGoal
) -> Direct:
    """Return the PCKV-GRR design with a parity of at most γ and the smallest risk.

    Why: with y = ℓ(γ − 1) + 1, κ the ratio of being kept to being sent in place of another item, and p the share of
    signs kept, the rows of an item allow κ = y/(2p) and p ≤ y/(y + 1). The row of nothing allows an empty place to send
    nothing γ times as often as an item does, which leaves b = (1 − 1/γ)/(κ + m − 1 − m/γ) for every other item; all of
    these are used up. The paper lets ℓ dummies stand for nothing instead, which wastes part of that row.
    """
    y = padding * float(gamma - 1) + 1
    # 1 − 1/γ, which would lose its digits in floats where γ is near 1
    part = float((gamma - 1) / gamma)

    def parts(sign: float) -> tuple[float, float]:
        kappa = y / (2 * sign)
        return kappa, part / (kappa - 1 + items * part)

    def club(sign: float) -> EvenChannel:
        kappa, other = parts(sign)
        return EvenChannel(1 - other, kappa * other, sign)

    best = goal.told(
        club(
            lowest(
                lambda sign: goal.risk(club(sign), places=padding), 0.5, y / (1 + y)
            )
        )
    )
    kappa, other = parts(best.sign)
    return _private(
        lambda share: _direct(
            items, padding, kappa * other, best.sign, other, share
        ),
        gamma,
    )


def _direct(
    items: int, padding: int, kept: float, sign: float, other: float, share: Fraction
) -> Direct:
    each = share / (2 * items + 1)
    same = (1 - share) * Fraction(kept) * Fraction(sign) + each
    turned = (1 - share) * Fraction(kept) * (1 - Fraction(sign)) + each
    stray = (1 - share) * Fraction(other) / 2 + each
    kept_same, kept_turned, each_other = (
        int(chance.TOTAL * value) for value in (same, turned, stray)
    )
    if (
        each_other < 1
        or kept_same + kept_turned + 2 * (items - 1) * each_other > chance.TOTAL
    ):
        raise InvalidDesign(
            f"{items:,} items are too many for weights that sum to 2^64 at this ε; expected fewer."
        )
    return Direct(items, padding, kept_same, kept_turned, each_other, chance.TOTAL)


def _channel(club: EvenChannel, share: Fraction) -> Dense:
    """Return the channel of one item in integers, with a share of it sending every symbol equally often."""
    (_, stray, _), (_, right, wrong), _ = (
        [int(chance.TOTAL * ((1 - share) * Fraction(p) + share / 3)) for p in column]
        for column in club.columns
    )
    none, lost = chance.TOTAL - 2 * stray, chance.TOTAL - right - wrong
    rows = (none, lost, lost), (stray, right, wrong), (stray, wrong, right)
    return Dense(rows, chance.TOTAL)


def _private(build: Callable[[Fraction], _Kind], gamma: Fraction) -> _Kind:
    """Return the design nearest to its target whose parity, computed exactly, is at most γ.

    Why it ends: a share of a constant channel lowers every ratio above 1, and rounding is finer than the first share.
    """
    for share in _shares():
        scheme = build(share)
        if 1 < scheme.parity <= gamma:  # at 1 nothing would be told at all
            return scheme
    raise InvalidDesign(
        "this ε is too fine for weights that sum to 2^64; expected a larger one.",
        "Or use fewer items.",
    )


def _shares() -> Iterator[Fraction]:
    yield Fraction(0)
    for power in range(60, 12, -1):
        yield Fraction(1, 1 << power)


Importance = str | Mapping[str, exact.Rational] | None


def vpp(
    items: Labels, epsilon: exact.Rational, *, low: Weight = -1, high: Weight = 1
) -> KeyValueDesign:
    """Send the rounded weight of one item, turned around now and then; an item that somebody does not have counts as 0.

    For sums of weights alone: the number of edges cannot be estimated.

    Implements: VPP of [YHM19] and Algorithm 1 of [MW21]: Harmony's rounding and two-answer randomized response.

    Guarantee: integer weights that sum to 2^64, with a parity of at most e^ε.

    Args:
        items: what people may have, or how many there are.
        epsilon: the most that may be revealed about a whole row.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: a scale that does not lie evenly around 0.
        InvalidNumber: ε is not positive, or so large that nothing would be hidden.

    Example:
        >>> vpp(["tea", "coffee"], 1).epsilon
        1.0
    """
    ends = exact.rational(low, name="low"), exact.rational(high, name="high")
    if ends[0] != -ends[1]:
        raise InvalidRequest(
            f"low is {exact.text(low)} and high is {exact.text(high)}; expected ends that lie evenly around 0.",
            "What is not there counts as 0 here, the middle of the scale; use lpp_club() for other scales.",
        )
    gamma, half = _gamma(epsilon), Fraction(1, 2)
    right, wrong = gamma / (gamma + 1), 1 / (gamma + 1)
    channel = realize([(half, half), (right, wrong), (wrong, right)], gamma)
    return _one_item("vpp", items, channel, low, high)


def lpp(
    items: Labels,
    epsilon1: exact.Rational,
    epsilon2: exact.Rational,
    *,
    fake_weight: Weight | None = None,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly: tell whether there is an edge with ε₁, and its rounded weight with ε₂.

    Where there is no edge and one is told all the same, it carries a fake weight: drawn evenly and kept secret, which
    is the same as 0 on average and gives exactly the channel of LPP‡; or one that everybody knows.

    Implements: LPP of [YHM19] and of [MW21], Section 4.2.2, with the channel on rounded weights and its true ε:
    max{ε₂, ε₁ + ln(q/(1/2 − |w̃|(2q − 1)/2))} with q = e^ε₂/(e^ε₂ + 1) and w̃ = 0 for a secret fake weight.

    Guarantee: integer weights that sum to 2^64; the parity is at most that of the formula.

    Args:
        items: what people may have, or how many there are.
        epsilon1: ε of the edge.
        epsilon2: ε of the weight.
        fake_weight: what stands for the weight where there is no edge; by default drawn evenly and kept secret.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidNumber: an ε is not positive, or the fake weight is not between −1 and 1.

    Example:
        >>> round(lpp(4, 1, 1).epsilon, 9), round(lpp(4, 1, 1, fake_weight=1).epsilon, 9)
        (1.379885493, 2.0)
    """
    fake = (
        Fraction(0)
        if fake_weight is None
        else exact.rational(fake_weight, name="fake_weight")
    )
    if not -1 <= fake <= 1:
        raise InvalidNumber(
            f"the fake weight is {exact.text(fake_weight)}; expected one from −1 to 1."
        )
    return _one_item("lpp", items, _two_devices(epsilon1, epsilon2, fake), low, high)


def lpp_ddagger(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    epsilon1: exact.Rational | None = None,
    epsilon2: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly: tell whether there is an edge, and its rounded weight, with an ε for both.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or ε₁ and ε₂.

    Implements: LPP‡ of [MW21], Section 4.2.2, with Lemma 2 corrected: ε = max{ε₂, ln(2e^(ε₁+ε₂)/(e^ε₂ + 1))}.

    Guarantee: integer weights that sum to 2^64; from ε with a parity of at most e^ε.

    Args:
        items: what people may have.
        epsilon: the most that may be revealed about a whole row.
        epsilon1: the ε of the device for the edge.
        epsilon2: the ε of the device for the weight.
        importance: "frequency", "weight" or "mean", or a number for each: whose variance is to be small.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: neither or both of ε and the pair, or an importance or a guess that does not fit.
        InvalidNumber: an ε is not positive.

    Example:
        >>> design = lpp_ddagger(["tea", "coffee"], 1)
        >>> design.epsilon <= 1 < design.sequential
        True
    """
    if epsilon is not None and epsilon1 is None and epsilon2 is None:
        channel = _best("rr3_ddagger", epsilon, importance, frequency, mean)
    elif epsilon is None and epsilon1 is not None and epsilon2 is not None:
        channel = _two_devices(epsilon1, epsilon2, Fraction(0))
    else:
        raise InvalidRequest(
            "expected either epsilon, or epsilon1 and epsilon2.",
            "For example epsilon=1.",
        )
    return _one_item("lpp_ddagger", items, channel, low, high)


def lpp_club(
    items: Labels,
    epsilon: exact.Rational,
    *,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly, and send its symbol through the best three-answer channel that ε allows.

    LPP‡ treats "no edge" and "edge" alike; here each has its own probability, so the best of these is never worse.

    Implements: RR3♣ of [MW21], Section 3.3, in the place of RR3‡ in LPP‡; the arguments are those of `lpp_ddagger`.

    Guarantee: integer weights that sum to 2^64, with a parity of at most e^ε.

    Args:
        items: what people may have, or how many there are.
        epsilon: the most that may be revealed about a whole row.
        importance: whose variance is to be small: one of its names, or a number for each; see `lpp_ddagger`.
        frequency: the share of people thought to have an item.
        mean: the mean weight that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> lpp_club(["tea", "coffee"], 1).epsilon <= 1
        True
    """
    channel = _best("rr3_club", epsilon, importance, frequency, mean)
    return _one_item("lpp_club", items, channel, low, high)


def _two_devices(
    epsilon1: exact.Rational, epsilon2: exact.Rational, fake: Fraction
) -> Dense:
    """Return the channel of two devices, its parity at most that of the formula with both e^ε rounded down."""
    edge, value = _gamma(epsilon1, "epsilon1"), _gamma(epsilon2, "epsilon2")
    p, q = edge / (edge + 1), value / (value + 1)
    plus = (
        1 + fake * (2 * q - 1)
    ) / 2  # how a fake weight comes out of the second device
    gamma = max(value, edge * q / min(plus, 1 - plus))
    columns = (
        (p, (1 - p) * plus, (1 - p) * (1 - plus)),
        (1 - p, p * q, p * (1 - q)),
        (1 - p, p * (1 - q), p * q),
    )
    return realize(columns, gamma)


def _best(
    family: str,
    epsilon: exact.Rational,
    importance: Importance,
    frequency: exact.Rational,
    mean: exact.Rational,
) -> Dense:
    goal = read_goal(importance, frequency, mean)
    gamma = _gamma(epsilon)
    channel = realize(best_index(family, gamma, goal).columns, gamma)
    if channel.parity == 1:
        raise InvalidDesign(
            "this ε is too fine for weights that sum to 2^64; expected a larger one."
        )
    return channel


def _one_item(
    name: str, items: Labels, channel: Dense, low: Weight, high: Weight
) -> KeyValueDesign:
    names = read_items(items)
    scheme = Index(len(names), channel)
    return KeyValueDesign(name, names, scheme, *read_scale(low, high))


def pckv_ue(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    padding: int,
    a: exact.Rational | None = None,
    b: exact.Rational | None = None,
    p: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Draw one of somebody's items, padded to a number of places, and send a symbol for every item.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or a, how often an edge
    stays one, b, how often none stays none, and p, how often a sign is kept.

    Implements: PCKV-UE of [GLC20] and Section 4.2.3 of [MW21], with the ε of the vector (Lemma 4) for whole rows: where
    there are fewer than 2ℓ items it is smaller than max{ε₂, ln(2e^(ε₁+ε₂)/(e^ε₂ + 1))}, and told so.

    Guarantee: from ε integer weights that sum to 2^64, with a parity of at most e^ε; from a, b and p exactly these.

    Args:
        items: what people may have.
        epsilon: the most that may be revealed about a whole row.
        padding: ℓ, the number of places; people with more items are counted with ℓ of them. `plan.padding` chooses it
            from the numbers of items that people have.
        a: how often an edge stays one.
        b: how often none stays none.
        p: how often a sign is kept.
        importance: "frequency", "weight" or "mean", or a number for each: whose variance is to be small.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, a padding that does not fit, a probability of 0 or 1, or low ≥ high.
        InvalidRequest: neither or both of ε and the probabilities, or an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> round(pckv_ue(3, a=0.65, b=0.75, p=0.8, padding=1).epsilon, 9)
        2.187655126
    """
    names = read_items(items)
    size = len(names)
    check_padding(size, padding)
    probabilities = _read_probabilities(epsilon, a=a, b=b, p=p)
    if epsilon is not None:
        goal = read_goal(importance, frequency, mean)
        scheme = best_unary(size, padding, _gamma(epsilon), goal)
    else:
        some, none, sign = probabilities
        right, wrong, stray = some * sign, some * (1 - sign), (1 - none) / 2
        lost = 1 - some
        rows = [[none, lost, lost], [stray, right, wrong], [stray, wrong, right]]
        scheme = Unary(size, padding, Dense.from_rows(rows))
    return KeyValueDesign("pckv_ue", names, scheme, *read_scale(low, high))


def pckv_grr(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    padding: int,
    a: exact.Rational | None = None,
    p: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Draw one of somebody's items, padded to a number of places, and send one item with a sign, or nothing.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or a, how often the drawn
    item is kept, and p, how often its sign is. The other arguments are those of `pckv_ue`.

    Implements: PCKV-GRR of [GLC20], its dummy items sent as one and the same nothing. From a and p these share what is
    left evenly with the other items, as in the paper; from ε nothing has the weight that is best.

    Guarantee: from ε integer weights that sum to 2^64, with a parity of at most e^ε; from a and p exactly these.

    Args:
        items: what people may have, or how many there are.
        epsilon: the most that may be revealed about a whole row.
        padding: ℓ, the number of places, about as many as people have items; `plan.padding` chooses it.
        a: how often the item is sent unchanged.
        p: how often a sign is kept.
        importance: whose variance is to be small: one of its names, or a number for each; see `lpp_ddagger`.
        frequency: the share of people thought to have an item.
        mean: the mean weight that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, a padding that does not fit, a probability of 0 or 1, or low ≥ high.
        InvalidRequest: neither or both of ε and the probabilities, or an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> pckv_grr(["tea", "coffee", "milk"], 1, padding=2).epsilon <= 1
        True
    """
    names = read_items(items)
    size = len(names)
    check_padding(size, padding)
    probabilities = _read_probabilities(epsilon, a=a, p=p)
    if epsilon is not None:
        goal = read_goal(importance, frequency, mean)
        scheme = best_direct(size, padding, _gamma(epsilon), goal)
    else:
        some, sign = probabilities
        # ℓ dummies and the other items, each with two signs.
        stray = (1 - some) / (2 * (size + padding - 1))
        shares = some * sign, some * (1 - sign), stray
        common = math.prod(share.denominator for share in shares)
        same, turned, other = (int(share * common) for share in shares)
        scheme = Direct(size, padding, same, turned, other, common)
    return KeyValueDesign("pckv_grr", names, scheme, *read_scale(low, high))


def _read_probabilities(
    epsilon: exact.Rational | None, **given: exact.Rational | None
) -> list[Fraction]:
    """Read all probabilities, or none beside an ε."""
    probabilities = {
        name: exact.probability(number, name=name)
        for name, number in given.items()
        if number is not None
    }
    if len(probabilities) != (len(given) if epsilon is None else 0):
        raise InvalidRequest(
            "expected either epsilon, or all probabilities.",
            "For example epsilon=1.",
        )
    for name, probability in probabilities.items():
        if probability in (0, 1):
            raise InvalidDesign(
                f"{name} is {probability}; expected a probability between 0 and 1, so that nothing is proved."
            )
    return list(probabilities.values())


def _gamma(epsilon: exact.Rational, name: str = "epsilon") -> Fraction:
    """Return e^ε, rounded down."""
    return exact.exp_below(exact.positive_epsilon(epsilon, name=name))


NAMES = ("none", "+", "-")
"""What the answers and symbols of the small design behind each symbol are called."""


def symbol_design(design: KeyValueDesign) -> Design:
    """Return the small design behind each symbol of a response: from none, + and - to symbols of the same names.

    Why raising the symbols raises the response: which item is looked at, or which place is drawn, does not depend on
    the small channel. If the symbols of a coarser design can be made from those of a finer one with the same items,
    scale and padding, so can its responses, symbol by symbol.

    Raises:
        Incompatible: a design whose responses are not made of small channels, such as `pckv_grr`.

    Example:
        >>> from deniable.types.key_value.design import lpp_club
        >>> small = symbol_design(lpp_club(["tea", "coffee"], 1))
        >>> small.categories, small.epsilon <= 1
        (('none', '+', '-'), True)
    """
    if isinstance(design.scheme, Direct):
        raise Incompatible(
            f"a response of {design!r} is kept or replaced as a whole; expected one that is made of small channels.",
            "The designs that look at one item each, and pckv_ue(), are made of them.",
        )
    symbol = design.scheme.symbol
    return Design("symbol", NAMES, NAMES[-symbol.responses :], symbol)


DESIGN = KeyValueDesign
"""The design class of this type."""

BUILDERS: dict[Callable[..., KeyValueDesign], Purpose] = dict.fromkeys(
    (lpp_club, lpp_ddagger, lpp, vpp, pckv_grr, pckv_ue), Purpose.ITEMS
)
"""Functions that the shell builds designs with, each with its purpose."""


def known_answers(design: KeyValueDesign) -> list[dict[str, float]]:
    """Return answers that differ much: no items, each of the first few at either end of the scale, and all of them."""
    low, high = float(design.low), float(design.high)
    items = list(islice(design.items, _EXAMPLE_ITEMS))
    return [
        {},
        *({item: weight} for item in items for weight in (low, high)),
        dict.fromkeys(items, high),
    ]
