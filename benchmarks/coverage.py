"""How often the default 95 % interval holds the truth. `python -m benchmarks.coverage [repetitions]`

For every design, k ∈ {2, 5, 100}, ε ∈ {½, 2, 8}, n ∈ {10, 30, 300, 3,000} and shares at 0, near 0 and in the middle.
Exact (a sum over the binomial law) where the interval depends on one count alone, which it does for two answers, for
k-ary response, and for every two-level design where the default goes by that count; else from tallies drawn in law.
Then the same for the likelihood, for contrasts, and the worst score coverage as the rarest response becomes rarer.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

import deniable as dn
from deniable.channel import Bits, TwoLevel
from deniable.errors import ImplausibleResponses
from deniable.estimates.backing import backing, clopper_pearson
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.intervals import METHODS, Basis, default
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import floats

LEAST, LEAST_ON_AVERAGE = 0.92, 0.94
EPSILONS, SIZES, RESPONDENTS = ("1/2", 2, 8), (2, 5, 100), (10, 30, 300, 3_000)
DESIGNS: dict[str, Callable[..., dn.Design]] = {
    "k_ary": dn.k_ary,
    "subset": dn.subset,
    "local_hashing": dn.local_hashing,
    "hadamard": dn.hadamard,
    "unary": dn.unary,
    "unary, optimized": lambda k, epsilon: dn.unary(k, epsilon, optimized=True),
    "rappor": dn.rappor,
}
FEW_ANSWERS: dict[str, Callable[..., dn.Design]] = {
    "warner": dn.warner,
    "christofides": lambda epsilon: dn.christofides(epsilon, middle="1/5"),
    "rr3_dagger": lambda epsilon: dn.rr3_dagger(epsilon=epsilon),
    "rr3_ddagger": lambda epsilon: dn.rr3_ddagger(epsilon=epsilon),
    "product": lambda epsilon: dn.product([dn.warner(epsilon), dn.k_ary(3, epsilon)]),
}


@dataclass
class Cells:
    """What was found for one design, each with what it belongs to."""

    found: list[tuple[float, str]]

    def add(self, rates: dict[float, float], where: str) -> None:
        self.found += [(rate, f"{where}, share {share:.4g}") for share, rate in rates.items()]

    def line(self, name: str) -> str:
        rates = [rate for rate, _ in self.found]
        least, where = min(self.found)
        kept = min(rates) >= LEAST and np.mean(rates) >= LEAST_ON_AVERAGE
        return f"| {name} | {len(rates)} | {least:.3f} | {where} | {np.mean(rates):.3f} | {'yes' if kept else 'NO'} |"


def populations(size: int, n: int) -> Iterator[Vector]:
    """Shares with categories at 0, near 0 and in the middle."""
    if size == 2:
        for share in (0.0, 0.005, 1 / n, 0.03, 0.2, 0.5):
            yield np.array([1 - share, share])
        return
    some = [0.2, 0.03, 1 / n, 0.005][: size - 1]
    rest = np.zeros(size)
    rest[: len(some)] = some
    if size > 10:
        rest[10:20], rest[20:24] = 0.005, 0.03
    rest[-1] = 1 - rest.sum()
    yield rest


@dataclass
class Fitted:
    """A design with what its intervals need, worked out once."""

    design: dn.Design
    n: int

    def __post_init__(self) -> None:
        self.linear = left_inverse(self.design.channel)
        even = np.full(self.design.channel.answers, 1 / self.design.channel.answers)
        self.covariance = self.linear.covariance(self.linear.expected(even), even, 1.0, self.n)
        self.method = default(self.basis(self.linear.expected(even) * self.n))

    def basis(self, counts: Vector) -> Basis:
        value = self.linear.shares(counts / self.n)
        return Basis(value, self.covariance, value, vector(counts), self.design.channel, self.linear, self.n, 1.0)

    def ends(self, counts: Vector, method: str | None = None) -> tuple[Vector, Vector]:
        return METHODS[method or self.method](self.basis(counts), 0.95)

    @property
    def by_one_count(self) -> bool:
        """Whether the interval of a category depends on how many responses back it, and on nothing else."""
        channel = self.design.channel
        alike = isinstance(channel, TwoLevel) and (self.method == "exact" or channel.exchangeable)
        return alike or channel.answers == channel.responses == 2

    def exact(self, number: int, shares: Sequence[float], method: str | None = None) -> list[float]:
        """Sum over how many responses back a category, for each of several shares of it."""
        counted, n, size = backing(self.design.channel), self.n, self.design.channel.answers
        assert counted is not None
        hits = np.arange(n + 1)
        if (method or self.method) == "exact":
            found = counted.shares(*(end[:, None] for end in clopper_pearson(vector(hits), n, 0.95)))
            low, high = (np.broadcast_to(end, (n + 1, size))[:, number] for end in found)
        else:
            tallies = np.zeros((n + 1, size))
            tallies[:, number], tallies[:, number - 1] = hits, n - hits
            low, high = np.array([[end[number] for end in self.ends(each, method)] for each in tallies]).T
        own, other = (float(np.broadcast_to(rate, size)[number]) for rate in (counted.p, counted.least))
        chances = [binom.pmf(hits, n, other + (own - other) * share) for share in shares]
        return [
            float(chance[(low - 1e-9 <= share) & (share <= high + 1e-9)].sum())
            for share, chance in zip(shares, chances, strict=True)
        ]


def drawn(design: dn.Design, shares: Vector, n: int, repetitions: int, draws: np.random.Generator) -> np.ndarray:
    channel = design.channel
    if isinstance(channel, Bits) and not channel.own_cells:
        members = draws.multinomial(n, shares, size=repetitions)
        hits = draws.binomial(members, float(channel.hit_rate))
        return np.asarray(hits + draws.binomial(n - members, float(channel.stray_rate)))
    responses = floats(channel) @ shares
    return np.asarray(draws.multinomial(n, responses / responses.sum(), size=repetitions))


def simulated(fitted: Fitted, shares: Vector, repetitions: int) -> dict[float, float]:
    """Return the coverage of each share that some category has."""
    held = np.zeros(len(shares))
    for counts in drawn(fitted.design, shares, fitted.n, repetitions, np.random.default_rng(fitted.n)):
        low, high = fitted.ends(counts)
        held += (low - 1e-9 <= shares) & (shares <= high + 1e-9)
    return {float(share): float(held[shares == share].mean()) / repetitions for share in np.unique(shares)}


def measured(design: dn.Design, repetitions: int, label: str) -> Cells:
    """Look at all numbers of respondents; sets of many categories are drawn only where their bits are independent."""
    found, channel = Cells([]), design.channel
    for n in RESPONDENTS:
        fitted = Fitted(design, n)
        if fitted.by_one_count:
            shares = sorted({float(share) for each in populations(channel.answers, n) for share in each})
            rates = dict(zip(shares, fitted.exact(channel.answers - 1, shares), strict=True))
            found.add(rates, f"{label}, n = {n:,}")
        elif not channel.sizes or channel.own_cells or (isinstance(channel, Bits) and not channel.by_size):
            for each in populations(channel.answers, n):
                found.add(simulated(fitted, each, repetitions), f"{label}, n = {n:,}")
    return found


def shares_table(repetitions: int) -> None:
    print("| design | cells | least | where | mean | kept |\n|---|---|---|---|---|---|")
    for name, build in DESIGNS.items():
        total = Cells([])
        for k, epsilon in itertools.product(SIZES, EPSILONS):
            design = build(k, epsilon=epsilon)
            total.found += measured(design, repetitions, f"k = {k}, ε = {epsilon}").found
        print(total.line(name), flush=True)
    for name, build in FEW_ANSWERS.items():
        total = Cells([])
        for epsilon in EPSILONS:
            total.found += measured(build(epsilon), repetitions, f"ε = {epsilon}").found
        print(total.line(name), flush=True)


def others_table(repetitions: int) -> None:
    """The likelihood, and a contrast of two rare categories, through the public calls."""
    total, contrasts = Cells([]), Cells([])
    for k, epsilon, n in itertools.product((2, 5), EPSILONS, RESPONDENTS[:3]):
        design, draws = dn.k_ary(k, epsilon=epsilon), np.random.default_rng(n)
        for shares in populations(k, n):
            held, difference = np.zeros(k), 0
            for counts in drawn(design, shares, n, repetitions, draws):
                ends = np.array(list(dn.estimate(dn.Tally(design, counts), method="likelihood").conf_int().values()))
                held += (ends[:, 0] - 1e-9 <= shares) & (shares <= ends[:, 1] + 1e-9)
                low, high = dn.estimate(dn.Tally(design, counts)).contrast({"0": 1, "1": -1}).interval()
                difference += low - 1e-9 <= shares[0] - shares[1] <= high + 1e-9
            where = f"k = {k}, ε = {epsilon}, n = {n:,}"
            total.add(dict(zip(shares.tolist(), (held / repetitions).tolist(), strict=True)), where)
            contrasts.found.append((difference / repetitions, where))
    print(total.line("likelihood, k_ary"), flush=True)
    print(contrasts.line("contrast, k_ary"), flush=True)


def main() -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    error = (0.05 * 0.95 / repetitions) ** 0.5
    print(f"default 95 % interval; wanted {LEAST:.0%} at least and {LEAST_ON_AVERAGE:.0%} on average")
    print(f"drawn cells: {repetitions:,} surveys each, standard error {error:.3f}")
    shares_table(repetitions)
    others_table(max(repetitions // 5, 1))
    print("\nworst exact coverage of the score interval and of the default, π = 0, n = 200:")
    print("| expected responses of the rarest symbol | score | default |\n|---|---|---|")
    for expected in (0.2, 0.5, 1, 2, 4, 8):
        design = dn.k_ary(5, p=round(1 - 4 * expected / 200, 6))
        rates = [Fitted(design, 200).exact(0, [0.0], method)[0] for method in ("score", None)]
        print(f"| {expected} | {rates[0]:.4f} | {rates[1]:.4f} |")


if __name__ == "__main__":
    main()
