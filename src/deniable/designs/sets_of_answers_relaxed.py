"""Designs for any number of answers under (ε, δ): patterns of likelihood at several levels, capped or exposing.

Legend: k categories; x = e^ε, rounded down; Y = e^ceiling; a *pattern* says how many categories have which likelihood
and is sent in every order of the categories, each equally often. With its likelihoods r scaled to a sum of 1,
f = Σ r² is its spread and d = k·mean of max(0, r_j − x·r_l) over ordered pairs its excess, the δ(ε) that it has alone.

A mixture of patterns has n·variance (k − 1)² / (k²·E f − k) at even shares, which are the worst ones, and δ(ε) = E d.
So the best mixture solves a linear program with two conditions: at most two patterns take part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import TypeAlias

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Channel, Dense, Mixture, Patterns, Sets, Subset
from deniable.channel.patterns import LikelihoodLevel, LikelihoodPattern, Weighted
from deniable.channel.sets import Part
from deniable.designs import labels
from deniable.designs.design import Design
from deniable.designs.labels import Bitstrings, Labels
from deniable.designs.registry import Purpose, register
from deniable.designs.sets_of_answers import (
    best_t,
    max_weight_inside,
    subset_information,
)
from deniable.designs.two_answers_relaxed import read_delta, read_ratio
from deniable.errors import InvalidDesign
from deniable.exact import Ratio, Rational
from deniable.rendering import formats

_LOWEST = 1 << 48  # weight of the lowest level: others lose 2^-48 by rounding down
_MAX_ORDERS = 4_096  # responses that are written out
_MAX_PATTERNS = (
    20_000  # that are all tried; of more a search climbs to the best ones
)
_ALL_SIZES = 2_000  # sizes of sets that are all tried; a grid beyond
_NO_GAIN = 1e-12  # by less a pattern is not better
_MOST_CLIMBS = 50  # rounds of the search; it takes about ten
_MAX_LEVELS = (
    32  # of a chain; a ceiling of more than so many ε is not used up step by step
)
_ALIKE = Fraction(1, 1 << 40)  # levels that differ by less are one level

_EXPOSING_CAVEAT = (
    "Some respondents, drawn at random, send their answer as it is: for them nothing is hidden. Their share is the δ "
    "that remains at every ε."
)


@register(
    {"categories": ["red", "green", "blue", "grey"], "epsilon": 1, "delta": "1/10"},
    purpose=Purpose.EXPLICIT,
)
def relaxed_subset(
    categories: Labels,
    epsilon: Rational,
    delta: Rational,
    *,
    ceiling: Rational | None = None,
) -> Design:
    """Send sets of categories with the smallest error in the worst case that (ε, δ) and a pure ceiling allow.

    Responses are patterns of two kinds. The more frequent one keeps ε or nearly; the rarer one tells more, up to the
    ceiling, and uses δ up. Symbols with × name the categories that a response speaks for, and how many times as likely
    it is from them as from those that are not named. More than 4,096 responses are sets within sets.

    Implements: the linear program over row patterns on the levels 1, x, x² … Y and Y/x, Y/x² … of frontier C2 (ours),
    over all patterns where they are at most 20,000, else by a search that moves categories between levels.

    Guarantee: δ(ε) ≤ δ and a parity of at most e^ceiling, exactly: levels are rounded down from the lowest one up, and
    the weight of the rarer pattern is rounded down from the exact excess of both.

    Why: f is convex and d linear between the planes r_j = x·r_l and r_j = Y·r_l, so a best pattern is where these meet.

    Args:
        categories: the possible answers, or how many there are.
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ), below 1.
        ceiling: the ε that holds without any δ; by default twice ε, or the ε that suffices for (ε, δ) if that is more.

    Raises:
        InvalidDesign: fewer than two categories, δ = 1, or ε = δ = 0.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> design = relaxed_subset(10, 1, "1/10")
        >>> design.channel.sizes, round(design.epsilon, 6), design.delta(1)
        ((1, 3), 2.0, 0.1)
    """
    category_labels = labels.read(categories)
    ratio, slack = read_ratio(epsilon), _read_slack(delta)
    cap = (
        default_ceiling(ratio, slack)
        if ceiling is None
        else exact.gamma_below(ceiling)
    )
    mix = best_patterns(len(category_labels), ratio, slack, cap)
    if [part.pattern for part in mix] == [_constant(len(category_labels))]:
        raise _nothing_to_tell()
    design = _send("relaxed_subset", category_labels, mix).within(epsilon, slack)
    return design if ceiling is None else design.within(ceiling)


@register(
    {"categories": ["red", "green", "blue", "grey"], "epsilon": 1, "delta": "1/10"},
    purpose=Purpose.EXPLICIT,
    caveat=_EXPOSING_CAVEAT,
)
def exposing_subset(
    categories: Labels, epsilon: Rational, delta: Rational
) -> Design:
    """Expose a share δ of all respondents outright, and let all others send the minimax set of categories.

    Implements: the optimum under (ε, δ) of frontier C1 (ours), for linear unbiased estimates in the worst case.

    Guarantee: nothing about ε, which is infinite: the answer of a share δ is sent as it is. δ(ε) ≤ δ exactly.

    Why: the optimum is a mixture of two patterns, and by a dual certificate the best two are the answer itself, which
    has the excess 1, and the best t-subset of ε, which has none.

    Args:
        categories: the possible answers, or how many there are.
        epsilon: the ε of (ε, δ), which those who are not exposed keep.
        delta: the share of respondents whose answer is sent as it is.

    Raises:
        InvalidDesign: fewer than two categories, or a δ of 0 or 1.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> design = exposing_subset(10, 1, "1/10")
        >>> design.channel.sizes, design.epsilon, design.delta(1), design.delta(9)
        ((1, 3), inf, 0.1, 0.1)
    """
    category_labels = labels.read(categories)
    size, ratio, slack = (
        len(category_labels),
        read_ratio(epsilon),
        _read_slack(delta),
    )
    exposed = int(TOTAL * slack)
    if not exposed:
        raise InvalidDesign(
            f"δ is {exact.text(delta)}; expected one that weights of 2^64 can tell from 0.",
            "For a design that exposes nobody use relaxed_subset() or subset().",
        )
    t = best_t(size, ratio)
    subset = _two_levels(size, t, _LOWEST, int(ratio * _LOWEST))
    mix = [
        Weighted(TOTAL - exposed, subset),
        Weighted(exposed, _two_levels(size, 1, 0, 1)),
    ]
    return _send("exposing_subset", category_labels, mix).within(epsilon, slack)


def default_ceiling(ratio: Fraction, delta: Fraction) -> Fraction:
    """Return e^ceiling for no ceiling: x², or the parity that suffices for (ε, δ) if it is larger."""
    return max(ratio**2, (ratio + delta) / (1 - delta))


def _read_slack(delta: Rational) -> Fraction:
    slack = read_delta(delta)
    if slack == 1:
        raise InvalidDesign(
            "δ is 1, which lets every answer be given away; expected less.",
            "Or ask the question directly.",
        )
    return slack


def _two_levels(size: int, t: int, low: int, high: int) -> LikelihoodPattern:
    return LikelihoodPattern(
        (LikelihoodLevel(size - t, low), LikelihoodLevel(t, high))
    )


def _constant(size: int) -> LikelihoodPattern:
    """Return the pattern that tells nothing: it fills up what ε alone cannot use, where ε is 0 or next to it."""
    return LikelihoodPattern((LikelihoodLevel(size, _LOWEST),))


def best_patterns(
    size: int, ratio: Fraction, delta: Fraction, cap: Fraction
) -> list[Weighted]:
    """Return the one or two patterns of the best mixture, with weights that sum to 2^64.

    Where there are too many patterns to try them all, the search begins with the two best subsets. The slope between
    them is the price of excess: what climbs from them, and from halfway between, to the largest spread less the price
    of the excess joins the candidates, until nothing does that is better than both.
    """
    levels = level_weights(ratio, cap)
    if math.comb(size + len(levels) - 1, size) <= _MAX_PATTERNS:
        return _best_mixture(
            _patterns(_deals(size, len(levels)), levels), ratio, delta
        )
    deals = set(_subsets(size, len(levels), best_t(size, ratio)))
    for _ in range(_MOST_CLIMBS):
        by_pattern = dict(zip(_patterns(deals, levels), deals, strict=True))
        mix = _best_mixture(by_pattern, ratio, delta)
        points = [_point(part.pattern, ratio) for part in mix]
        (least, low), (most, high) = points[0], points[-1]
        price = (high - low) / (most - least) if most > least else 0.0
        climb = _Climb(levels, float(ratio), price)
        ends = [by_pattern[part.pattern] for part in mix]
        between = [
            (one + two) // 2 for one, two in zip(ends[0], ends[-1], strict=True)
        ]
        between[0] += size - sum(between)
        tops = {climb.top(start) for start in (*ends, tuple(between))} - deals
        worth = low - price * least
        if not any(climb.worth(top) > worth * (1 + _NO_GAIN) for top in tops):
            break
        deals |= tops
    return mix


_Deal: TypeAlias = tuple[int, ...]  # how many categories are on each level


class _Climb:
    """The search for the pattern with the largest spread less a price of its excess, by moves between levels."""

    def __init__(self, weights: Sequence[int], ratio: float, price: float) -> None:
        self.levels = [weight / weights[0] for weight in weights]
        self.price = price
        self.gaps = [
            (low, high, gap)
            for low, high in combinations(range(len(weights)), 2)
            if (gap := self.levels[high] - ratio * self.levels[low]) > _NO_GAIN
        ]

    def worth(self, deal: _Deal) -> float:
        """Return the spread less the price of the excess."""
        total = squares = 0.0
        for n, level in zip(deal, self.levels, strict=True):
            total += n * level
            squares += n * level * level
        excess = sum(deal[low] * deal[high] * gap for low, high, gap in self.gaps)
        return squares / total**2 - self.price * excess / ((sum(deal) - 1) * total)

    def top(self, deal: _Deal) -> _Deal:
        """Return the deal from which no move leads higher, of one category or of 2, 4, 8 …"""
        best, at = self.worth(deal), deal
        while True:
            higher = max((self.worth(near), near) for near in _moves(at))
            if higher[0] <= best * (1 + _NO_GAIN):
                return at
            best, at = higher


def _moves(deal: _Deal) -> Iterator[_Deal]:
    for start, end in permutations(range(len(deal)), 2):
        step = 1
        while step <= deal[start]:
            yield tuple(
                n + step * ((level == end) - (level == start))
                for level, n in enumerate(deal)
            )
            step *= 2


def level_weights(ratio: Fraction, cap: Fraction) -> list[int]:
    """Return the integer weights of the levels 1, x, x² … up to Y, and of Y, Y/x … down to 1, rising.

    Each is rounded so that no two next to each other in their chain are farther apart than x, and none is above Y.
    """
    rising, falling = [_LOWEST], [int(cap * _LOWEST)]
    for _ in range(_MAX_LEVELS):
        rising.append(int(rising[-1] * ratio))
        falling.append(math.ceil(falling[-1] / ratio))
    levels: list[int] = []
    for weight in sorted({*rising, *falling}):
        in_range = _LOWEST <= weight <= cap * _LOWEST
        if in_range and (not levels or weight > levels[-1] * (1 + _ALIKE)):
            levels.append(weight)
    if len(levels) < 2:
        raise _nothing_to_tell()
    return levels


def _nothing_to_tell() -> InvalidDesign:
    return InvalidDesign(
        "ε and δ leave nothing to tell, or less than weights of 2^64 can; expected larger ones."
    )


def _patterns(
    deals: Iterable[_Deal], weights: Sequence[int]
) -> list[LikelihoodPattern]:
    """Return the pattern of each deal of the categories to levels of these weights."""
    return [
        LikelihoodPattern(
            tuple(
                LikelihoodLevel(n, weight)
                for n, weight in zip(deal, weights, strict=True)
                if n
            )
        )
        for deal in deals
    ]


def _deals(size: int, levels: int) -> Iterator[_Deal]:
    """Yield every deal to so many levels; of those to one level, which tell nothing, that to the lowest."""

    def deal(left: int, levels: int) -> Iterator[_Deal]:
        if levels == 1:
            yield (left,)
            return
        for n_lowest in range(left + 1):
            yield from (
                (n_lowest, *rest) for rest in deal(left - n_lowest, levels - 1)
            )

    lowest = (size, *[0] * (levels - 1))
    yield lowest
    yield from (counts for counts in deal(size, levels) if max(counts) < size)


def _subsets(size: int, levels: int, minimax: int) -> Iterator[_Deal]:
    """Yield the deals of t-subset designs, the lowest level and another one, and the one that tells nothing."""
    yield (size, *[0] * (levels - 1))
    for t in {*_sizes(size), minimax}:
        for level in range(1, levels):
            yield (size - t, *(t * (level == other) for other in range(1, levels)))


def _sizes(size: int) -> Iterable[int]:
    """Return the sizes of sets to try: all of them, or a grid in steps of 1 % above 2,000."""
    if size <= _ALL_SIZES:
        return range(1, size)
    steps = int(math.log(size / 200, 1.01))
    grid = {round(200 * 1.01**step) for step in range(steps)}
    return sorted({*range(1, 200), *grid})


def _best_mixture(
    candidates: Iterable[LikelihoodPattern], ratio: Fraction, delta: Fraction
) -> list[Weighted]:
    """Return the mixture with the largest spread among those whose excess is at most δ.

    The linear program has two conditions, so its solution lies on the upper hull of the points (excess, spread).
    """
    points = sorted(
        (excess, -spread, pattern)
        for pattern in candidates
        for excess, spread in [_point(pattern, ratio)]
    )
    hull: list[tuple[float, float, LikelihoodPattern]] = []
    for excess, negative, pattern in points:
        spread = -negative
        if hull and spread <= hull[-1][1]:
            continue
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], (excess, spread)):
            hull.pop()
        hull.append((excess, spread, pattern))
    within = [point for point in hull if point[2].excess(ratio) <= delta]
    beyond = [point for point in hull if point[2].excess(ratio) > delta]
    below = within[-1][2]
    if not beyond:
        return [Weighted(TOTAL, below)]
    above = beyond[0][2]
    base = below.excess(ratio)
    rarer = int(TOTAL * (delta - base) / (above.excess(ratio) - base))
    mix = [Weighted(TOTAL - rarer, below), Weighted(rarer, above)]
    return [part for part in mix if part.weight]


def _is_below(
    left: tuple[float, float, LikelihoodPattern],
    middle: tuple[float, float, LikelihoodPattern],
    right: tuple[float, float],
) -> bool:
    """Return whether the middle point is not above the line between the others."""
    rise = (middle[1] - left[1]) * (right[0] - left[0])
    return rise <= (right[1] - left[1]) * (middle[0] - left[0])


def _point(pattern: LikelihoodPattern, ratio: Fraction) -> tuple[float, float]:
    """Return excess and spread in floats."""
    x, size = float(ratio), pattern.size
    gaps = sum(
        low.categories * high.categories * max(0.0, high.weight - x * low.weight)
        for low, high in combinations(pattern.levels, 2)
    )
    return gaps / ((size - 1) * pattern.total), pattern.spread


def best_single_subset(
    size: int, ratio: Fraction, delta: Fraction, cap: Ratio
) -> tuple[int, Fraction]:
    """Return the size t and the parity γ of the t-subset design with the smallest error under (ε, δ) and a cap.

    Implements: γ = [t(k − t)x + δ(k − 1)(k − t)] / [t(k − t) − δ(k − 1)t] of frontier C2, which makes δ(ε) exactly δ.
    Sizes for which no finite γ does are left out.
    """
    parities = {}
    for t in sorted({*_sizes(size), best_t(size, ratio)}):
        rest = size - t
        room = t * rest - delta * (size - 1) * t
        if room > 0:
            parity = (t * rest * ratio + delta * (size - 1) * rest) / room
            parities[t] = min(parity, Fraction(cap)) if cap < math.inf else parity
    return min(
        parities.items(),
        key=lambda pair: 1 / float(subset_information(size, *pair)),
    )


def _send(family: str, categories: Sequence[str], mix: Sequence[Weighted]) -> Design:
    """Build the design that sends a mixture of patterns, as sets where sizes tell them apart."""
    size = len(categories)
    sets = _as_sets(size, mix)
    if sets is not None:
        return Design(family, categories, Bitstrings(size), sets)
    if sum(part.pattern.orders for part in mix) > _MAX_ORDERS:
        channel = Patterns.of(mix)
        return Design(family, categories, Bitstrings(channel.n_bits), channel)
    symbols = [
        symbol for part in mix for symbol in _name_orders(categories, part.pattern)
    ]
    unique = len(set(symbols)) == len(symbols)
    names = symbols if unique else labels.Numbered(len(symbols))
    return Design(family, categories, names, _written(size, mix))


def _as_sets(size: int, mix: Sequence[Weighted]) -> Sets | None:
    """Return the channel of sets that says the same; None where sizes do not tell the patterns apart."""
    if size == 2 or any(len(part.pattern.levels) > 2 for part in mix):
        return None
    parts: list[Part] = []
    for weight, pattern in sorted(mix, key=lambda part: -part.pattern.odds):
        t, odds = pattern.levels[-1].categories, pattern.odds
        inside = TOTAL
        if odds != math.inf:
            inside = max_weight_inside(size, t, Fraction(odds))
        if any(part.ones == t for part in parts):
            # the set that is left out says the same, and is of another size; it is the one that tells less
            t, inside = size - t, TOTAL - inside
        parts.append(Part(t, weight, inside))
    if len({part.ones for part in parts}) < len(parts):
        return None
    if len(parts) == 1:
        return Subset(size, parts[0].ones, parts[0].inside, TOTAL)
    return Mixture(size, tuple(sorted(parts)), TOTAL)


def _written(size: int, mix: Sequence[Weighted]) -> Channel:
    """Return the channel of a mixture written out, a row for each order of each pattern.

    In a column the rows of a pattern sum to its orders · total / k, by which they are divided.
    """
    sums = [part.pattern.orders * part.pattern.total for part in mix]
    common = math.lcm(*sums)
    rows = [
        tuple(weight * size * part.weight * (common // column) for weight in order)
        for part, column in zip(mix, sums, strict=True)
        for order in _orders(part.pattern)
    ]
    return Dense(tuple(rows), TOTAL * common)


def _orders(pattern: LikelihoodPattern) -> Iterator[tuple[int, ...]]:
    """Yield the weights of the categories in every order of a pattern, the highest levels first in the first ones."""

    def deal(
        free: tuple[int, ...], levels: Sequence[LikelihoodLevel]
    ) -> Iterator[dict[int, int]]:
        if not levels:
            yield {}
            return
        for chosen in combinations(free, levels[0].categories):
            remaining = tuple(place for place in free if place not in chosen)
            for rest in deal(remaining, levels[1:]):
                yield dict.fromkeys(chosen, levels[0].weight) | rest

    size = sum(level.categories for level in pattern.levels)
    for weights in deal(tuple(range(size)), pattern.levels[::-1]):
        yield tuple(weights[place] for place in range(size))


def _name_orders(
    categories: Sequence[str], pattern: LikelihoodPattern
) -> Iterator[str]:
    """Yield a symbol for each order: the categories above the lowest level, and how many times as likely it is from
    them.
    """
    lowest, *higher = (level.weight for level in pattern.levels)
    factors = {
        weight: formats.factor(exact.ratio(weight, lowest)) for weight in higher
    }
    for order in _orders(pattern):
        clauses = []
        for weight in reversed(higher):
            names = [
                categories[place] for place, own in enumerate(order) if own == weight
            ]
            clauses.append(f"{' or '.join(names)} ×{factors[weight]}")
        yield ", ".join(clauses) or "any of them"
