"""How often default 95 % intervals of shares hold the truth: `python -m benchmarks.coverage_page shares` writes it.

Every registered design, with 2, 5 and 100 categories and ε of ½, 2 and 8 where its examples leave them open, and else
as its examples are; 10, 30, 300 and 3,000 respondents, who are independent, a third of all people, or all of them;
shares at 0, near 0 and in the middle. Then decks, and the likelihood. About eight minutes on one core.

Exact wherever it can be summed: over the binomial law of one count, on which the interval of a category rests in most
designs, or over all tallies where they are few. Else from tallies drawn in law, and the page says how many.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom, multinomial

import deniable as dn
from benchmarks.efficiency import shown
from deniable.channel import TwoLevel
from deniable.designs import FAMILIES, Design
from deniable.errors import ImplausibleResponses, InvalidDesign, NotEstimable
from deniable.estimates import deck_variance, estimate_deck
from deniable.estimates.backing import Backing, clopper_pearson, support_rates
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.intervals import (
    METHODS,
    Basis,
    Ends,
    default,
    finite_population_factor,
    quantile,
    wilson,
)
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear
from deniable.estimates.simplex import projection
from deniable.estimates.supported import BySize, Supported
from deniable.simulate import simulated_tallies
from deniable.tallies.decks import DeckTally

LEAST, LEAST_ON_AVERAGE = 0.92, 0.94
EPSILONS, SIZES, RESPONDENTS = ("1/2", 2, 8), (2, 5, 100), (10, 30, 300, 3_000)
PEOPLE = 3_000  # every share below is a whole number of them
SURVEYS, SURVEYS_BY_SIZE, SURVEYS_MANY, SURVEYS_SLOW = 4_000, 20_000, 1_000, 200
MOST_TALLIES = 1_000  # that are written out
MARGIN, NEVER = 1e-9, 1e-8
METHOD: str | None = None  # the default; another one shows what the table would find


@dataclass
class Cell:
    """What was found for one design, one number of respondents and all shares.

    Attributes:
        rates: how often the interval of each share held it.
        width: the mean width of the interval.
        normal: that of value ± z·error.
        surveys: how many were drawn; 0 where the rates are sums.
    """

    rates: list[float] = field(default_factory=list)
    width: float = 0.0
    normal: float = 0.0
    surveys: int = 0

    def add(self, rate: float, width: float, normal: float) -> None:
        self.rates.append(float(rate))
        self.width += float(width)
        self.normal += float(normal)

    def __str__(self) -> str:
        ratio = self.width / self.normal if self.normal > 0 else math.inf
        star = "*" if self.surveys else ""
        return (
            f"{min(self.rates):.3f} · {np.mean(self.rates):.3f} · {ratio:.2f}{star}"
        )


@dataclass(frozen=True)
class Sampling:
    """How many respond, of how many people; of no number of people where they are independent."""

    n: int
    population: int | None = None

    def people(self, size: int) -> list[NDArray[np.int64]]:
        """Return how many people have each answer: categories at 0, near 0 and in the middle; the last is the rest."""
        everybody = self.population or PEOPLE
        some = [0.2, 0.03, 1 / self.n, 0.005]
        if size == 2:
            counts = [[round(share * everybody)] for share in (0.0, *some, 0.5)]
        else:
            counts = [[round(share * everybody) for share in some[: size - 1]]]
        if size > 10:
            counts = [
                [
                    *counts[0],
                    *[0] * 6,
                    *[round(0.005 * everybody)] * 10,
                    *[round(0.03 * everybody)] * 4,
                ]
            ]
        rest = [
            [*each, *[0] * (size - 1 - len(each)), everybody - sum(each)]
            for each in counts
        ]
        return [np.array(each) for each in rest if each[-1] >= 0]

    def hits(self, p: float, q: float, share: float, rate: float) -> Vector:
        """Return the law of how many send what members send with probability p, others with q, and all with `rate`."""
        number = np.arange(self.n + 1)
        if self.population is None:
            return vector(binom.pmf(number, self.n, rate))
        members = hypergeom.pmf(
            number, self.population, round(share * self.population), self.n
        )
        some = np.flatnonzero(members > 1e-15)
        # where the generating function is taken
        turns = np.exp(2j * np.pi * number / (self.n + 1))
        powers = (1 - p + p * turns[:, None]) ** some * (
            1 - q + q * turns[:, None]
        ) ** (self.n - some)
        return vector(
            np.maximum(np.fft.fft(powers @ members[some]).real / (self.n + 1), 0.0)
        )


@dataclass(frozen=True)
class Fitted:
    """A design with what its intervals need, worked out once."""

    design: Design
    sampling: Sampling

    @cached_property
    def linear(self) -> Linear:
        return left_inverse(self.design.channel)

    @cached_property
    def counted(self) -> Backing | None:
        return support_rates(self.design.channel)

    @cached_property
    def method(self) -> str:
        even = np.full(self.design.channel.answers, 1 / self.design.channel.answers)
        return METHOD or default(
            self.basis(self.linear.expected(even) * self.sampling.n)
        )

    def basis(self, counts: Vector) -> Basis:
        n, population = self.sampling.n, self.sampling.population
        value, f = (
            self.linear.shares(counts / n),
            finite_population_factor(n, population),
        )
        covariance = self.linear.covariance(counts / n, value, f, n - f)
        return Basis(
            value,
            covariance,
            value,
            vector(counts),
            self.design.channel,
            self.linear,
            n,
            population,
        )

    def ends(self, tallies: NDArray[np.int64]) -> Ends:
        """Return the default intervals of each tally, a row each; score intervals of all tallies at once."""
        if self.method != "score":
            found = [
                METHODS[self.method](self.basis(vector(counts)), 0.95)
                for counts in tallies
            ]
            return np.array([low for low, _ in found]), np.array(
                [high for _, high in found]
            )
        n, f = self.sampling.n, finite_population_factor(*astuple(self.sampling))
        values = np.array([self.linear.shares(counts / n) for counts in tallies])
        # no matter what the others are
        if self.linear.ALIKE or values.shape[1] == 2:
            own, others = self.linear.spread(projection(values[0]))
        else:
            spreads = [self.linear.spread(projection(value)) for value in values]
            own, others = (np.array(each) for each in zip(*spreads, strict=True))
        return wilson(values, own, others, n, f, 0.95)

    def normal(self, shares: Vector) -> Vector:
        """Return the widths of value ± z·error with the error that the estimate has at these shares."""
        n, population = self.sampling.n, self.sampling.population
        spread = self.linear.covariance(
            self.linear.expected(shares),
            shares,
            finite_population_factor(n, population),
            n,
        )
        return 2 * quantile(0.95) * np.sqrt(np.maximum(spread.variances, 0.0))

    @property
    def alike(self) -> bool:
        """Whether what holds for one category holds for all."""
        return isinstance(self.design.channel, TwoLevel)

    @property
    def by_one_count(self) -> bool:
        """Whether the interval of a category rests on how many responses back it, and its law on nothing else."""
        if self.counted is None:
            return False
        if self.method == "exact":
            return self.sampling.population is None or np.array_equal(
                self.counted.least, self.counted.most
            )
        one_size = isinstance(self.linear, BySize) and self.linear.scores.shape == (
            1,
            2,
        )
        two = self.design.channel.answers == self.design.channel.responses == 2
        return two or one_size or isinstance(self.linear, Supported)


def summed(fitted: Fitted) -> Cell:
    """Sum over how many responses back a category, for each category; or for each share, where all are alike."""
    counted, found = fitted.counted, Cell()
    assert counted is not None
    size = fitted.design.channel.answers
    p, q = (np.broadcast_to(rate, size) for rate in (counted.p, counted.least))
    laws_of: dict[int, list[tuple[float, Vector, float]]] = {}
    for people in fitted.sampling.people(size):
        shares = people / people.sum()
        rates, widths = (
            counted.gather(fitted.linear.expected(shares)),
            fitted.normal(shares),
        )
        for j in (
            np.unique(shares, return_index=True)[1] if fitted.alike else range(size)
        ):
            law = fitted.sampling.hits(p[j], q[j], shares[j], rates[j])
            laws_of.setdefault(size - 1 if fitted.alike else j, []).append(
                (shares[j], law, widths[j])
            )
    for j, cases in laws_of.items():
        likely = np.flatnonzero(np.max([law for _, law, _ in cases], axis=0) > NEVER)
        low, high = ends_by_count(fitted, j, likely)
        for share, law, normal in cases:
            held = (low - MARGIN <= share) & (share <= high + MARGIN)
            found.add(law[likely] @ held, law[likely] @ (high - low), normal)
    return found


def ends_by_count(fitted: Fitted, j: int, hits: NDArray[np.int64]) -> Ends:
    """Return the default interval of a category for each number of responses that back it."""
    counted, n, population = (
        fitted.counted,
        fitted.sampling.n,
        fitted.sampling.population,
    )
    assert counted is not None
    if fitted.method != "exact":
        own, other = (
            one_response(fitted, j, backs=backs) for backs in (True, False)
        )
        low, high = fitted.ends(hits[:, None] * own + (n - hits[:, None]) * other)
        return low[:, j], high[:, j]
    size = fitted.design.channel.answers
    rates = (
        float(np.broadcast_to(rate, size)[j])
        for rate in (counted.p, counted.least, counted.most)
    )
    alone = Backing(*rates, gather=counted.gather)
    if population is None:
        return alone.shares(*clopper_pearson(vector(hits), n, 0.95))
    # the unbiased share would be added, which is one more to hold
    return alone.among(vector(hits), n, population, 0.95)


def one_response(fitted: Fitted, j: int, *, backs: bool) -> Vector:
    """Return the cells of a tally of one response that backs a category, or that does not."""
    channel = fitted.design.channel
    assert fitted.counted is not None
    sets = [
        ((1 << ones) - 1) << shift
        for ones in channel.sizes
        if ones
        for shift in (0, channel.answers - ones)
    ]
    for response in sets if channel.sizes else range(channel.responses):
        cells = np.zeros(channel.cells)
        cells[list(channel.cells_of(response))] = 1
        if (fitted.counted.gather(cells)[j] > 0) == backs:
            return vector(cells)
    raise AssertionError("every category has responses that back it, and others")


def tallies(
    fitted: Fitted, people: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Vector, int]:
    """Return tallies with how likely each is: all of them, where they are few, or as many as are drawn."""
    channel, n = fitted.design.channel, fitted.sampling.n
    if fitted.sampling.population is None and channel.own_cells:
        cells = channel.cells
        if math.comb(n + cells - 1, n) <= MOST_TALLIES:
            every = np.array(
                [
                    np.bincount(each, minlength=cells)
                    for each in combinations_with_replacement(range(cells), n)
                ]
            )
            chances = multinomial.pmf(
                every, n, channel.floats() @ (people / people.sum())
            )
            return every, vector(chances), 0
    surveys = (
        SURVEYS_SLOW
        if fitted.method == "wide"
        else SURVEYS
        if channel.answers <= 10
        else SURVEYS_MANY
    )
    replaced, draws = fitted.sampling.population is None, np.random.default_rng(n)
    drawn = simulated_tallies.tallies(
        fitted.design, people, surveys, respondents=n, replaced=replaced, draws=draws
    )
    kinds, times = np.unique(drawn, axis=0, return_counts=True)
    return kinds, vector(times / surveys), surveys


def gone_through(fitted: Fitted) -> Cell:
    """Look at tallies one by one, at every category with a share of its own."""
    found = Cell()
    for people in fitted.sampling.people(fitted.design.channel.answers):
        shares = people / people.sum()
        counts, chances, found.surveys = tallies(fitted, people)
        low, high = fitted.ends(counts[chances > NEVER])
        some = chances[chances > NEVER]
        sums, widths = (
            some @ ((low - MARGIN <= shares) & (shares <= high + MARGIN)),
            some @ (high - low),
        )
        normal = fitted.normal(shares)
        for share in np.unique(shares) if fitted.alike else shares:
            at = shares == share
            found.add(sums[at].mean(), widths[at].mean(), normal[at].mean())
    return found


def drawn_by_size(fitted: Fitted) -> Cell:
    """Draw for one category how many sets of each size hold it and do not: all that its score interval rests on."""
    linear, n = fitted.linear, fitted.sampling.n
    assert isinstance(linear, BySize)
    draws, found = np.random.default_rng(n), Cell(surveys=SURVEYS_BY_SIZE)
    weight, rest, gap = linear.cells
    for people in fitted.sampling.people(linear.size):
        shares, normal = people / people.sum(), fitted.normal(people / people.sum())
        for share, j in zip(*np.unique(shares, return_index=True), strict=True):
            if fitted.sampling.population is None:
                members = draws.binomial(n, share, SURVEYS_BY_SIZE)
            else:
                members = draws.hypergeometric(
                    people[j], people.sum() - people[j], n, SURVEYS_BY_SIZE
                )
            value = np.zeros(SURVEYS_BY_SIZE)
            for number, inside in ((members, rest + gap), (n - members, rest)):
                law = np.concatenate([weight * inside, weight * (1 - inside)])
                cells = draws.multinomial(number, law / law.sum())
                value += (
                    cells
                    @ np.concatenate([linear.base + linear.step, linear.base])
                    / n
                )
            f = finite_population_factor(n, fitted.sampling.population)
            low, high = wilson(value, linear.own, linear.other, n, f, 0.95)
            held = (low - MARGIN <= share) & (share <= high + MARGIN)
            found.add(held.mean(), (high - low).mean(), normal[j])
    return found


def measured(design: Design, sampling: Sampling) -> Cell | None:
    """Return what the default intervals of a design hold, exactly where that can be summed.

    Nothing for exact intervals of hundreds among people who are counted: they hold by construction, and take hours.
    """
    fitted = Fitted(design, sampling)
    if (
        sampling.population is not None
        and sampling.n > 30
        and fitted.method == "exact"
    ):
        return None
    if fitted.by_one_count:
        return summed(fitted)
    if (
        isinstance(fitted.linear, BySize)
        and fitted.method == "score"
        and not design.channel.own_cells
    ):
        return drawn_by_size(fitted)
    return gone_through(fitted)


def settings(*, few: bool = False) -> Iterator[tuple[str, str, Design]]:
    """Yield every registered design: its family, its arguments, and itself; each once.

    A few of them are the first example of each family, without a hundred categories.
    """
    seen: set[str] = set()
    for family in FAMILIES.values():
        for example in family.examples[: 1 if few else None]:
            sizes = (
                SIZES[: 2 if few else None]
                if "categories" in example and "epsilon" in example
                else (None,)
            )
            for k, epsilon in product(
                sizes, EPSILONS if "epsilon" in example else (None,)
            ):
                wanted = {
                    **example,
                    **({"epsilon": epsilon} if epsilon else {}),
                    **({"categories": k} if k else {}),
                }
                try:
                    design = family.build(**wanted)
                    left_inverse(design.channel)
                except (InvalidDesign, NotEstimable):
                    continue  # these arguments do not go together, or tell nothing
                if design.hash not in seen:
                    seen.add(design.hash)
                    yield (
                        family.name,
                        ", ".join(
                            f"{name}={shown(value)}"
                            for name, value in wanted.items()
                        ),
                        design,
                    )


def deck_law(deck: dn.Deck, sampling: Sampling, share: float) -> Vector:
    """Return the law of how many send a 1, where every card is dealt and everybody responds.

    Of those with a 1 or a 3 the members hold a threes, and all hold as many as there are.
    """
    ones, _, threes = deck.counts
    telling, law = ones + threes, np.zeros(ones + threes + 1)
    number = np.arange(telling + 1)
    if sampling.population is None:
        members = binom.pmf(number, telling, share)
    else:
        members = hypergeom.pmf(
            number, sampling.population, round(share * sampling.population), telling
        )
    for m in np.flatnonzero(members > NEVER):
        held = np.arange(max(0, m - ones), min(m, threes) + 1)
        law[ones - m + 2 * held] += members[m] * hypergeom.pmf(
            held, telling, threes, m
        )
    return vector(law)


def dealt_out(deck: dn.Deck, sampling: Sampling) -> Cell:
    """Sum over how many send a 1, for each share of members."""
    found, (ones, twos, threes) = Cell(), deck.counts
    shares = np.unique([people[0] / people.sum() for people in sampling.people(2)])
    chances = np.array([deck_law(deck, sampling, share) for share in shares])
    likely = np.flatnonzero(chances.max(axis=0) > NEVER)
    made = [
        estimate_deck(
            DeckTally(deck, np.array([hits, twos, ones + threes - hits])),
            population=sampling.population,
        )
        for hits in likely
    ]
    low, high = np.array([each.interval("yes", method=METHOD) for each in made]).T
    for share, chance in zip(shares, chances[:, likely], strict=True):
        held = (low - MARGIN <= share) & (share <= high + MARGIN)
        spread = deck_variance(deck, share, population=sampling.population)
        found.add(
            chance @ held, chance @ (high - low), 2 * quantile(0.95) * spread**0.5
        )
    return found


def dealt_with_spare(deck: dn.Deck, sampling: Sampling) -> Cell:
    """Draw what is sent, for each share of members; cards are left over."""
    found = Cell(surveys=SURVEYS)
    for members in sampling.people(2):
        people, share = members[::-1], members[0] / members.sum()
        drawn = simulated_tallies.tallies(
            deck,
            people,
            SURVEYS,
            respondents=sampling.n,
            replaced=sampling.population is None,
            draws=np.random.default_rng(sampling.n),
        )
        kinds, times = np.unique(drawn, axis=0, return_counts=True)
        made = [
            estimate_deck(DeckTally(deck, each), population=sampling.population)
            for each in kinds
        ]
        low, high = np.array(
            [each.interval("yes", method=METHOD) for each in made]
        ).T
        held = (low - MARGIN <= share) & (share <= high + MARGIN)
        spread = deck_variance(deck, share, population=sampling.population)
        found.add(
            times @ held / SURVEYS,
            times @ (high - low) / SURVEYS,
            2 * quantile(0.95) * spread**0.5,
        )
    return found


def decks() -> Iterator[tuple[str, list[Cell | None]]]:
    """Yield a row for each deck and each way to ask."""
    for kind, epsilon in product(
        ("a card each", "a fifth in the middle", "twice as many cards"), EPSILONS
    ):
        for sort, sampling in SAMPLINGS.items():
            sizes = RESPONDENTS if kind == "a card each" else RESPONDENTS[:3]
            yield (
                f"{kind}, ε = {epsilon}, {sort}",
                [dealt(kind, epsilon, sampling(n)) for n in sizes],
            )


def dealt(kind: str, epsilon: str | int, sampling: Sampling) -> Cell | None:
    """Return what the intervals of a deck hold; nothing where there is no such deck in whole cards."""
    middle, cards = (
        ("1/5" if "fifth" in kind else 0),
        sampling.n * (2 if "twice" in kind else 1),
    )
    try:
        deck = dn.integer_deck(sampling.n, epsilon, middle, cards=cards)
    except InvalidDesign:
        return None
    return (
        dealt_out(deck, sampling)
        if cards == sampling.n
        else dealt_with_spare(deck, sampling)
    )


def likely_shares(design: Design, n: int, surveys: int) -> Cell:
    """Draw tallies and look at the default intervals of the most likely shares."""
    found, size = Cell(surveys=surveys), len(design.categories)
    fitted = Fitted(design, Sampling(n))
    for people in fitted.sampling.people(size):
        shares, normal = people / people.sum(), fitted.normal(people / people.sum())
        drawn = simulated_tallies.tallies(
            design,
            people,
            surveys,
            respondents=n,
            replaced=True,
            draws=np.random.default_rng(n),
        )
        sums, widths = np.zeros(size), np.zeros(size)
        for counts, times in zip(
            *np.unique(drawn, axis=0, return_counts=True), strict=True
        ):
            made = dn.estimate(dn.Tally(design, counts), method="likelihood")
            low, high = np.array(list(made.conf_int(method=METHOD).values())).T
            sums += times * ((low - MARGIN <= shares) & (shares <= high + MARGIN))
            widths += times * (high - low)
        for j in range(size):
            found.add(sums[j] / surveys, widths[j] / surveys, normal[j])
    return found


SAMPLINGS: dict[str, Callable[[int], Sampling]] = {
    "independent": Sampling,
    "a third of all": lambda n: Sampling(n, 3 * n),
    "all": lambda n: Sampling(n, n),
}
LIKELIHOOD = {
    f"`{build.__name__}({k}, {epsilon})`": (
        build(k, epsilon),
        SURVEYS if k == 2 else SURVEYS_SLOW,
    )
    for (build, k), epsilon in product(
        ((dn.k_ary, 2), (dn.k_ary, 5), (dn.subset, 5), (dn.unary, 5)), EPSILONS
    )
}


def table(head: str, rows: Iterable[tuple[str, list[Cell | None]]]) -> Iterator[str]:
    """Yield the lines of a table, and after them what all its cells come to."""
    yield f"| {head} | " + " | ".join(f"{n:,}" for n in RESPONDENTS) + " |"
    yield "| --- |" + " --- |" * len(RESPONDENTS)
    cells: list[Cell] = []
    for name, found in rows:
        cells += [cell for cell in found if cell is not None]
        told = [str(cell or "—") for cell in found] + ["—"] * (
            len(RESPONDENTS) - len(found)
        )
        yield f"| {name} | " + " | ".join(told) + " |"
    means = [float(np.mean(cell.rates)) for cell in cells]
    yield (
        f"\n{len(cells)} cells, {sum(bool(cell.surveys) for cell in cells)} of them drawn: the smallest coverage is "
        f"{min(min(cell.rates) for cell in cells):.3f}, the smallest mean of a cell {min(means):.3f}, the mean of all "
        f"{np.mean(means):.3f}.\n"
    )


def designs(sort: str) -> Iterator[tuple[str, list[Cell | None]]]:
    """Yield a row for each registered design."""
    for family, told, design in settings(few=sort != "independent"):
        yield (
            f"`{family}({told:.70})`",
            [measured(design, SAMPLINGS[sort](n)) for n in RESPONDENTS],
        )


def _error(surveys: int) -> str:
    return f"{math.sqrt(0.95 * 0.05 / surveys):.4f}"


TEXT = f"""\
How often the interval that `conf_int()` gives without a `method`, at a level of 95 %, holds the true share. In each
cell stand the smallest coverage over the shares, their mean, and the mean width over that of value ± z·error with the
error that the estimate truly has. Columns are numbers of respondents. Shares are 0, 0.5 %, 3 %, 20 %, one respondent
in expectation, 50 % for two categories, and what is left. Wanted: {LEAST:.0%} at least and {LEAST_ON_AVERAGE:.0%} on
average.

Cells without a star are exact: sums over the law of one count, or over all tallies. A star marks cells from surveys
drawn in law: {SURVEYS:,} (a standard error of {_error(SURVEYS)} for each share), {SURVEYS_BY_SIZE:,} for 100 categories
whose sets are counted by size ({_error(SURVEYS_BY_SIZE)}), {SURVEYS_MANY:,} for other designs of 100 categories
({_error(SURVEYS_MANY)}), {SURVEYS_SLOW} for wide intervals and for the likelihood of sets ({_error(SURVEYS_SLOW)}). The
smallest of many drawn rates lies below the truth.

A dash: no such deck in whole cards; or not computed, as the exact intervals of hundreds among people who are counted,
which hold by construction and would take hours to go through.

Every registered design has its rows: with 2, 5 and 100 categories and ε of ½, 2 and 8 where its examples name them,
and else as its examples are; among people who are counted the first example of each, with 2 and 5 categories. Why the
intervals are as they are is told in `theory/intervals.md`. Written by `python -m benchmarks.coverage_page shares`;
`tests/unit/estimates/test_every_default_interval.py` computes the exact cells of small groups again, sees that no
design is missing, and that value ± z·error would be found out.
"""


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    warnings.simplefilter("ignore", ImplausibleResponses)
    yield TEXT
    for sort, title in (
        ("independent", "Independent respondents"),
        ("a third of all", "A third of all people"),
        ("all", "A census"),
    ):
        yield f"## {title}\n"
        yield from table("design", designs(sort))
    yield "## Decks\n"
    yield from table("cards", decks())
    rows = (
        (name, [likely_shares(design, n, most) for n in RESPONDENTS[:3]])
        for name, (design, most) in LIKELIHOOD.items()
    )
    yield "## The likelihood\n"
    yield from table("design", rows)
