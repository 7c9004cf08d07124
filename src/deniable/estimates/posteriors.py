"""What is believed about shares after the responses, given what was believed before: posteriors of a Dirichlet prior.

Given who holds which answer the posterior would be a Dirichlet again. That is not known; what is known of it from the
responses is a law over counts, so that the posterior is a mixture of Dirichlets. For two answers the mixture is written
out; for more it is drawn from, one sweep after another, with nothing to tune.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaln, gammaln
from scipy.stats import beta as beta_law

from deniable import documents
from deniable.chance import SYSTEM
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, quoted, require_choice
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.linear import floats
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    RowType,
    refuse_always,
    words_of,
)
from deniable.estimates.shares import Estimate
from deniable.estimates.summary import rests_on
from deniable.rendering import formats
from deniable.tallies import Tally

MAX_ENUMERATED = 1 << 12
"""Respondents up to whom the mixture is written out: less than a second."""

MAX_DRAWN_CELLS = 1 << 12
"""Cells of a channel, answers × responses, from whose posterior is drawn: some seconds."""

CHAINS = 4
ENOUGH_DRAWS = 1_000
"""The effective sample size at which drawing stops; ends of intervals then err by some hundredths of their width."""

_FIRST_SWEEPS, _MAX_SWEEPS = 1_000, 32_000
_NEGLIGIBLE = 1e-16  # weights of components that are left out
_MAX_RATIO = 1.01  # of the spread of all chains to that within each
_NAMED_PRIORS = {"uniform": 1.0, "jeffreys": 0.5}
METHODS = ("exact", "draws")
INTERVALS = ("equal-tailed", "highest")


@dataclass(frozen=True, slots=True)
class PosteriorRow(Row):
    """What is believed about one share: the mean, the standard deviation, a credible interval, and the prior.

    Attributes:
        prior: the mean before the responses.
        prior_low: the lower end of the interval before them.
        prior_high: its upper end.
    """

    COLUMNS: ClassVar[Columns] = (
        *Row.COLUMNS,
        ("prior",),
        ("prior_low", "prior_high"),
    )
    SHARES: ClassVar[tuple[str, ...]] = (
        *Row.SHARES,
        "prior",
        "prior_low",
        "prior_high",
    )
    BESIDE: ClassVar[tuple[str, ...]] = ("prior_low", "prior_high", "prior")
    OF_CATEGORIES: ClassVar[bool] = True

    prior: float
    prior_low: float
    prior_high: float


class PosteriorDraws(NamedTuple):
    """Draws from a posterior.

    Attributes:
        shares: a row for each draw, the chains one after another.
        effective: the smallest effective sample size of all shares.
        ratio: the largest ratio of the spread of all chains to that within each; near 1 where they agree.
    """

    shares: Matrix
    effective: float
    ratio: float


@dataclass(frozen=True, eq=False)
class Posterior(Result[PosteriorRow]):
    """What is believed about the share of each category after the responses.

    `params` are posterior means, `bse` posterior standard deviations, and intervals are credible: given the prior, the
    share lies inside with this probability.

    Attributes:
        tally: the counts it was made from.
        prior: the parameters of the Dirichlet prior, in the order of the categories.
        entropy: what the draws begin with; none where the posterior is written out.
    """

    type: ClassVar = "posterior"

    tally: Tally
    prior: tuple[float, ...]
    entropy: tuple[int, ...] | None = None

    @property
    def design(self) -> Design:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def method(self) -> str:
        """How the posterior was found: "exact", or by "draws"."""
        return "exact" if self.entropy is None else "draws"

    @cached_property
    def mixture(self) -> tuple[Vector, Vector]:
        """How many respondents may hold the second answer, and how likely each number is.

        Implements: [WF79]'s mixture of Beta laws, for every design with two answers.

        Why: of c_y people who sent y each holds the second answer with a probability that depends on π only by a factor
        π/(1 − π); so the likelihood is Σ_s k_s·π^s·(1 − π)^(n − s), with k the convolution of binomial laws with
        probabilities P(y|1)/(P(y|0) + P(y|1)). Nothing is subtracted, so that no digits are lost.
        """
        numbers, ways = np.arange(self.tally.respondents + 1), np.zeros(1)
        for count, (p_other, p_member) in zip(
            self.tally.counts.tolist(), floats(self.design.channel), strict=True
        ):
            if count:
                ways = _log_convolution(
                    ways, _log_binomial(count, p_member / (p_other + p_member))
                )
        logs = ways + betaln(self.prior[1] + numbers, self.prior[0] + numbers[::-1])
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        kept_terms = weights > _NEGLIGIBLE
        return numbers[kept_terms], weights[kept_terms] / weights[kept_terms].sum()

    @cached_property
    def drawn(self) -> PosteriorDraws:
        """The draws, which begin with `entropy`, so that the same result has the same draws.

        Implements: data augmentation [TW87]: for each response draw who holds which answer given shares, then shares
        given who holds which; effective sample sizes by initial positive sequences [Gey92].
        """
        assert self.entropy is not None
        return _gibbs_draws(
            self.tally,
            np.array(self.prior),
            np.random.default_rng(list(self.entropy)),
        )

    @cached_property
    def _moments(self) -> tuple[Vector, Matrix]:
        if self.entropy is not None:
            shares = self.drawn.shares
            return shares.mean(axis=0), np.cov(shares.T)
        (numbers, weights), (b, a) = self.mixture, self.prior
        total = a + b + self.tally.respondents
        means = (a + numbers) / total
        mean = float(weights @ means)
        variance = float(
            weights @ (means * (1 - means) / (total + 1) + (means - mean) ** 2)
        )
        return vector([1 - mean, mean]), variance * vector(
            [[1.0, -1.0], [-1.0, 1.0]]
        )

    @property
    def params(self) -> dict[str, float]:
        return dict(
            zip(self.design.categories, self._moments[0].tolist(), strict=True)
        )

    def cov_params(self) -> Matrix:
        """Return the covariance of the shares under the posterior."""
        return self._moments[1].copy()

    def above(self, category: str, share: float) -> float:
        """Return the probability that the share of a category is larger than this.

        Raises:
            InvalidRequest: no number.
        """
        if not isinstance(share, Real) or math.isnan(share):
            raise InvalidRequest(f"the share is {quoted(share)}; expected a number.")
        number = self.design.category_number(category)
        if self.entropy is not None:
            return float((self.drawn.shares[:, number] > share).mean())
        clipped = min(max(float(share), 0.0), 1.0)
        return 1 - self._below(clipped) if number == 1 else self._below(1 - clipped)

    def _n_intervals(self) -> int:
        return len(self.prior) if len(self.prior) > 2 else 1

    def _check_always(self) -> None:
        raise refuse_always("credible intervals, which no look invalidates")

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return credible intervals: "equal-tailed" (the default), or "highest" for the narrowest."""
        return {name: partial(self._credible_bounds, name) for name in INTERVALS}

    def _credible_bounds(self, method: str, confidence: float) -> Bounds:
        narrowest = method == "highest"
        if self.entropy is None:
            low, high = (
                _narrowest(self._quantile, confidence)
                if narrowest
                else self._tails(confidence)
            )
            return vector([1 - high, low]), vector([1 - low, high])
        intervals = [
            _draws_interval(shares, confidence, narrowest=narrowest)
            for shares in self.drawn.shares.T
        ]
        lows, highs = vector(intervals).T
        return lows, highs

    def _below(self, share: float) -> float:
        (numbers, weights), (b, a) = self.mixture, self.prior
        return float(
            weights
            @ betainc(a + numbers, b + self.tally.respondents - numbers, share)
        )

    def _quantile(self, probability: float) -> float:
        if not 0 < probability < 1:
            return float(probability >= 1)
        return float(
            brentq(
                lambda share: self._below(share) - probability, 0.0, 1.0, xtol=1e-13
            )
        )

    def _tails(self, confidence: float) -> Interval:
        return Interval(
            self._quantile((1 - confidence) / 2),
            self._quantile((1 + confidence) / 2),
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if self.entropy is None or (
            self.drawn.effective >= ENOUGH_DRAWS and self.drawn.ratio <= _MAX_RATIO
        ):
            return ()
        text = (
            f"the draws are worth only {self.drawn.effective:,.0f} independent ones after {_MAX_SWEEPS:,} sweeps: the "
            "responses tell so little about the answers that the draws hardly move. Means and intervals are rough."
        )
        return (Caution("few-draws", text),)

    @property
    def _row_type(self) -> RowType:
        return PosteriorRow

    def _row_columns(
        self, request: IntervalRequest
    ) -> Mapping[str, Sequence[float]]:
        total = sum(self.prior)
        bounds = [
            beta_law.interval(request.level, parameter, total - parameter)
            for parameter in self.prior
        ]
        return {
            "prior": [parameter / total for parameter in self.prior],
            "prior_low": [float(low) for low, _ in bounds],
            "prior_high": [float(high) for _, high in bounds],
        }

    def _describe(self, request: IntervalRequest) -> Description:
        n, epsilon = self.tally.respondents, self.design.epsilon
        return Description(
            title=f"posterior, {words_of(self.design.name)}, ε = {formats.epsilon(epsilon)}, {n:,} respondents",
            quantity="share",
            method=self.method,
            respondents=n,
            epsilon=epsilon,
            missing=self.tally.missing,
            notes=self._notes,
            interval=f"credible, {request.method or INTERVALS[0]}",
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        parameters = ", ".join(f"{parameter:g}" for parameter in self.prior[:6]) + (
            ", …" if len(self.prior) > 6 else ""
        )
        if self.entropy is None:
            origin = f"Exact: a mixture of {len(self.mixture[0]):,} Beta laws."
        else:
            origin = (
                f"From {len(self.drawn.shares):,} draws in {CHAINS} chains, worth {self.drawn.effective:,.0f} "
                "independent ones of the share that is drawn worst."
            )
        missing = self.tally.missing
        return (
            f"Prior: Dirichlet({parameters}), which counts as much as {sum(self.prior):g} direct answers.",
            "Intervals are credible ones: given this prior, the share lies inside with this probability.",
            origin,
            *(
                [f"{missing:,} sent no response and take no part in it."]
                if missing
                else []
            ),
            *rests_on(self.design),
        )

    @property
    def _design_hash(self) -> str:
        return self.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "prior": list(self.prior),
            "entropy": None if self.entropy is None else list(self.entropy),
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design) -> Posterior:
        tally = Tally.from_json(
            json.dumps(documents.field(source, "tally", dict)), design
        )
        prior = _read_prior(design, documents.field(source, "prior", list))
        entropy = source.get("entropy")
        _check(tally, "exact" if entropy is None else "draws")
        return cls(
            tally,
            prior,
            None
            if entropy is None
            else tuple(documents.field(source, "entropy", list)),
        )


def _no_tally(given: object) -> InvalidRequest:
    """Return why something has no posterior: weights and groups are no counts of people drawn one by one."""
    counts = getattr(given, "tally", given)
    has_weights = getattr(counts, "weighted", False) or hasattr(counts, "weights")
    if hasattr(counts, "groups") and not has_weights:
        return InvalidRequest(
            "posterior was given groups; expected the tally of one.",
            "Take each by itself: {group: dn.posterior(each) for group, each in tally.items()}.",
        )
    if has_weights:
        return InvalidRequest(
            "posterior was given a tally with weights; expected people who were drawn one by one, each alike.",
            "Take dn.estimate(tally), whose intervals go with weights; or count without them, for the people who "
            "responded alone.",
        )
    return InvalidRequest(
        f"posterior was given a {type(given).__name__}; expected a tally, as tally() returns."
    )


def posterior(
    tally: Tally | Estimate,
    *,
    prior: float | str | Mapping[str, float] | Sequence[float] = 1.0,
    method: str | None = None,
    draws: np.random.Generator | None = None,
) -> Posterior:
    """Return what is believed about the shares after the responses, given a Dirichlet prior.

    Implements: for two answers the exact mixture of Beta laws [WF79]; for more, or for very many respondents, draws by
    data augmentation [TW87] from the counts. Chains begin with the prior, and go on until they are worth a thousand
    independent draws; there is nothing to tune.

    Args:
        tally: the counts, or their estimate.
        prior: the parameters of the Dirichlet, one for all, by category or in order; or "uniform" (1), "jeffreys" (½).
        method: "exact" or "draws"; exact wherever it can be, if it is not given.
        draws: where draws begin; by default the operating system's bytes.

    Raises:
        InvalidRequest: a prior or a method that does not fit, or a channel that is too large to draw from.
        NotEstimable: a design whose tally keeps sums, or responses that it never sends.

    Example:
        >>> from deniable.designs import warner
        >>> found = posterior(Tally(warner(p="3/4"), [70, 30]))
        >>> round(found.params["yes"], 4), [round(end, 4) for end in found.interval("yes")]
        (0.127, [0.009, 0.2974])
    """
    counts = tally.tally if isinstance(tally, Estimate) else tally
    if not isinstance(counts, Tally):
        raise _no_tally(tally)
    if method is not None:
        require_choice("the method is", method, METHODS)
    few = len(counts.design.categories) == 2 and counts.respondents <= MAX_ENUMERATED
    chosen = method or ("exact" if few else "draws")
    _check(counts, chosen)
    read = _read_prior(counts.design, prior)
    if chosen == "exact":
        return Posterior(counts, read)
    seed = (draws or _generator()).integers(1 << 32, size=4)
    return Posterior(counts, read, tuple(seed.tolist()))


def _generator() -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(SYSTEM.read(32), "little"))


def _check(tally: Tally, method: str) -> None:
    channel = tally.design.channel
    if not channel.own_cells:
        raise NotEstimable(
            "the posterior needs a count for every response; the tally of this design keeps sums.",
            "Use dn.estimate(), which does without.",
        )
    if method == "exact" and (
        channel.answers != 2 or tally.respondents > MAX_ENUMERATED
    ):
        raise InvalidRequest(
            f"the exact posterior is for two answers and at most {MAX_ENUMERATED:,} respondents.",
            'Use method="draws".',
        )
    if channel.answers * channel.responses > MAX_DRAWN_CELLS:
        raise InvalidRequest(
            f"this channel has {channel.answers * channel.responses:,} cells; expected at most {MAX_DRAWN_CELLS:,} to "
            "draw from.",
            'Use dn.estimate(tally, method="likelihood").',
        )
    never = floats(channel).sum(axis=1) <= 0
    if (tally.counts[never] > 0).any():
        raise NotEstimable(
            "a response was counted that this design never sends.",
            "The responses belong to another design, or were coded in another order.",
        )


def _read_prior(design: Design, prior: Any) -> tuple[float, ...]:
    size = len(design.categories)
    if isinstance(prior, str):
        if prior not in _NAMED_PRIORS:
            raise InvalidRequest(
                f"the prior is {quoted(prior)}; expected {' or '.join(_NAMED_PRIORS)}, or numbers."
            )
        prior = _NAMED_PRIORS[prior]
    if isinstance(prior, Real):
        prior = [prior] * size
    if isinstance(prior, Mapping):
        if set(prior) != set(design.categories):
            raise InvalidRequest(
                "the prior does not name each category once; expected a number for each of them."
            )
        prior = [prior[name] for name in design.categories]
    try:
        parameters = tuple(float(parameter) for parameter in prior)
    except (TypeError, ValueError):
        raise InvalidRequest(
            "the prior is not made of numbers; expected one for each category."
        ) from None
    if len(parameters) != size or not all(
        0 < parameter < math.inf for parameter in parameters
    ):
        raise InvalidRequest(
            f"the prior does not fit; expected {size} numbers above 0, such as 1 for each category."
        )
    return parameters


def _log_binomial(count: int, probability: float) -> Vector:
    number = np.arange(count + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(number > 0, number * np.log(probability), 0.0)
        logs = logs + np.where(
            number < count, (count - number) * np.log1p(-probability), 0.0
        )
    return vector(
        gammaln(count + 1) - gammaln(number + 1) - gammaln(count - number + 1) + logs
    )


def _log_convolution(first: Vector, second: Vector) -> Vector:
    """Return the logarithm of a convolution from the logarithms of both."""
    short, long = sorted((first, second), key=len)
    logs = np.full(len(first) + len(second) - 1, -np.inf)
    for index in np.flatnonzero(short > -np.inf).tolist():
        window = logs[index : index + len(long)]
        np.logaddexp(window, short[index] + long, out=window)
    return logs


def _gibbs_draws(
    tally: Tally, prior: Vector, source: np.random.Generator
) -> PosteriorDraws:
    """Sweep until the effective sample size suffices; the first half of all sweeps is discarded."""
    seen = tally.counts > 0
    rates, counts = floats(tally.design.channel)[seen], tally.counts[seen]
    shares = source.dirichlet(np.maximum(prior, 1e-3), size=CHAINS)
    draws: list[Matrix] = []
    while True:
        for _ in range(max(len(draws), _FIRST_SWEEPS)):
            joint = rates * np.maximum(shares, 1e-300)[:, None, :]
            holders = source.multinomial(
                counts, joint / joint.sum(axis=2, keepdims=True)
            ).sum(axis=1)
            shares = source.standard_gamma(prior + holders)
            shares /= shares.sum(axis=1, keepdims=True)
            draws.append(shares)
        chains = np.stack(draws[len(draws) // 2 :], axis=1)
        effective, ratio = _worth(chains)
        if (effective >= ENOUGH_DRAWS and ratio <= _MAX_RATIO) or len(
            draws
        ) >= _MAX_SWEEPS:
            return PosteriorDraws(
                chains.reshape(-1, chains.shape[2]), effective, ratio
            )


def _worth(chains: Matrix) -> tuple[float, float]:
    """Return the smallest effective sample size of chains × sweeps × shares, and the largest ratio of spreads."""
    number, sweeps, size = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * sweeps, axis=1)
    autocovariances = (
        np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=0), 2 * sweeps, axis=0)[
            :sweeps
        ]
        / sweeps
    )
    within = autocovariances[0] * sweeps / (sweeps - 1)
    total = autocovariances[0] + chains.mean(axis=1).var(axis=0, ddof=1)
    effective = []
    for index in range(size):
        if total[index] <= 0:
            continue
        lags = 1 - (within[index] - autocovariances[:, index]) / total[index]
        pairs = lags[: sweeps - sweeps % 2].reshape(-1, 2).sum(axis=1)
        ends = np.flatnonzero(pairs <= 0)
        positive = pairs[: ends[0]] if len(ends) else pairs
        time = max(-1 + 2 * float(np.minimum.accumulate(positive).sum()), 1.0)
        effective.append(number * sweeps / time)
    ratios = np.sqrt(total / np.maximum(within, 1e-300))
    return min(effective, default=float(number * sweeps)), float(ratios.max())


def _draws_interval(
    shares: Vector, confidence: float, *, narrowest: bool
) -> Interval:
    ordered = np.sort(shares)
    if not narrowest:
        low, high = np.quantile(
            ordered, [(1 - confidence) / 2, (1 + confidence) / 2]
        )
        return Interval(float(low), float(high))
    inside = min(math.ceil(confidence * len(ordered)), len(ordered) - 1)
    widths = ordered[inside:] - ordered[: len(ordered) - inside]
    first = int(np.argmin(widths))
    return Interval(float(ordered[first]), float(ordered[first + inside]))


def _narrowest(quantile: Any, confidence: float) -> Interval:
    """Return the narrowest interval with this probability."""

    def width(tail: float) -> float:
        return float(quantile(tail + confidence) - quantile(tail))

    tries = minimize_scalar(
        width,
        bounds=(0.0, 1 - confidence),
        method="bounded",
        options={"xatol": 1e-7},
    )
    tail = min((0.0, 1 - confidence, float(tries.x)), key=width)
    return Interval(quantile(tail), quantile(tail + confidence))
