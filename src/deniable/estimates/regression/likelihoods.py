"""The law of what each row sent: channel × link, with derivatives by the row's linear predictors.

Every law here is ln Σ_j E_ij·μ_j(η_i), where E_ij is the probability of what row i sent given answer j (that of its own
device) and μ the law of answers. A law says how many predictors it has and returns the logarithm, its gradient and its
Hessian by them; coefficients, information and errors follow for all laws in one place (`models.py`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import betaln, expit, logit, logsumexp, ndtr, ndtri, softmax

from deniable.estimates.covariances import Matrix, Vector, vector

OUTCOMES = ("normal", "bernoulli")
"""The laws of an outcome that depends on the answer: a number with normal errors, or 0 or 1 by a logit."""

_TINY = 1e-300  # below every probability of a response that was sent
_FAR = 30.0  # beyond e^30 a complementary log-log probability is 1 in floats


class Bend(NamedTuple):
    """A probability at each row's predictor: itself, what is left to 1, and its first and second derivative."""

    share: Vector
    complement: Vector
    first: Vector
    second: Vector


@dataclass(frozen=True)
class LinkFunction:
    """A link: how the probability of the second of two answers follows from a linear predictor.

    Attributes:
        bend: a probability and its derivatives, from predictors.
        inverse: the predictor of a probability.
        edge: how far a predictor runs before its probability is 0 or 1 for any data.
    """

    bend: Callable[[Vector], Bend]
    inverse: Callable[[float], float]
    edge: float


def _logit(eta: Vector) -> Bend:
    share, complement = expit(eta), expit(-eta)
    first = share * complement
    return Bend(share, complement, first, first * (complement - share))


def _probit(eta: Vector) -> Bend:
    density = np.exp(-0.5 * eta * eta) / np.sqrt(2 * np.pi)
    return Bend(ndtr(eta), ndtr(-eta), density, -eta * density)


def _cloglog(eta: Vector) -> Bend:
    near = np.minimum(eta, _FAR)
    rate = np.exp(near)
    first = np.exp(near - rate)
    return Bend(-np.expm1(-rate), np.exp(-rate), first, first * (1 - rate))


def _from_cloglog(share: float) -> float:
    return float(np.log(-np.log1p(-share)))


LINKS = {
    "logit": LinkFunction(_logit, logit, 15.0),
    "probit": LinkFunction(_probit, ndtri, 6.0),
    "cloglog": LinkFunction(_cloglog, _from_cloglog, 15.0),
}
"""The links for two answers, by name."""


class Derivatives(NamedTuple):
    """Of each row: the logarithm of its probability, its gradient by the predictors, and its Hessian."""

    log: Vector
    first: Matrix
    second: Matrix


@dataclass(frozen=True, eq=False)
class AnswerLaw(ABC):
    """The law of what was sent.

    Attributes:
        evidence: for each row the probability of what it sent given each answer, up to a factor of the row.
    """

    has_likelihood: ClassVar[bool] = True
    """Whether the logarithms are those of probabilities, and not only an objective."""

    has_expected_information: ClassVar[bool] = False
    """Whether the law has a probability for each response that a row could have sent."""

    has_local_maxima: ClassVar[bool] = False
    """Whether the maximum is looked for from several starts."""

    has_outcome: ClassVar[bool] = False
    """Whether the answer explains an outcome, and is not what is explained."""

    is_equation: ClassVar[bool] = False
    """Whether the scores are unbiased equations to be solved, whose objective has no maximum."""

    evidence: Matrix

    @property
    @abstractmethod
    def predictors(self) -> int:
        """How many linear predictors a row has."""

    @property
    def raised(self) -> tuple[int, ...]:
        """The predictors that differ from group to group with random intercepts, each by a deviation of its own."""
        return (0,)

    @property
    def bounded(self) -> tuple[int, ...]:
        """The predictors of probabilities, which separation drives to infinity."""
        return self.raised

    @property
    def edge(self) -> float:
        """How far the bounded predictors run before a probability is 0 or 1 for any data."""
        return math.inf

    def log(self, eta: Matrix) -> Vector:
        """Return the log-probability of each row alone."""
        return self.derivatives(eta).log

    @abstractmethod
    def derivatives(self, eta: Matrix) -> Derivatives:
        """Return the log-probability of each row with its derivatives; a column of `eta` for each predictor."""

    @abstractmethod
    def shares(self, eta: Matrix) -> Matrix:
        """Return the probability of each answer, a row for each row."""

    @abstractmethod
    def share_slopes(self, eta: Matrix) -> Matrix:
        """Return the derivatives of the shares: rows × answers × predictors."""

    def with_responses(self, evidence: Matrix) -> AnswerLaw:
        """Return the same law had the rows sent something else."""
        return replace(self, evidence=evidence)

    def joint(self, eta: Matrix) -> Matrix:
        """Return the probability of each answer together with what the row sent: P[z, j]·μ_j."""
        return self.shares(eta) * self.evidence

    def posterior(self, eta: Matrix) -> Matrix:
        """Return the probability of each answer given what the row sent: P[z, j]·μ_j/q."""
        joint = self.joint(eta)
        return vector(joint / joint.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class TwoAnswerLaw(AnswerLaw):
    """Two answers: q = E₀ + (E₁ − E₀)·μ(η).

    Implements: [SD88], [HHG07] for any number of responses; with two, the gradient is (z − λ)/(λ(1 − λ))·D·μ′.
    """

    has_expected_information = True
    has_local_maxima = True
    predictors = 1

    link: LinkFunction

    @property
    def edge(self) -> float:
        return self.link.edge

    def derivatives(self, eta: Matrix) -> Derivatives:
        share, complement, first, second = self.link.bend(eta[:, 0])
        e_0, e_1 = self.evidence.T
        chance = np.maximum(e_0 * complement + e_1 * share, _TINY)
        change = (e_1 - e_0) / chance
        slope = change * first
        curve = change * second - slope * slope
        return Derivatives(np.log(chance), slope[:, None], curve[:, None, None])

    def shares(self, eta: Matrix) -> Matrix:
        share, complement, *_ = self.link.bend(eta[:, 0])
        return np.column_stack([complement, share])

    def share_slopes(self, eta: Matrix) -> Matrix:
        first = self.link.bend(eta[:, 0]).first
        return np.stack([-first, first], axis=1)[:, :, None]


@dataclass(frozen=True, eq=False)
class DeniedAnswerLaw(TwoAnswerLaw):
    """Two answers, and of those who should say the second only a share t follows the device; the others deny.

    Implements: the stochastic lie detector [MME12] as a regression, λ = μ·t·v + (1 − μ)·u, with t = 1/(1 + e^−τ) for
    a second predictor τ that is the same for everybody.

    Attributes:
        denied: whether each row sent the response of those who deny, as 0 or 1.
    """

    has_expected_information = False
    predictors = 2

    denied: Vector

    def derivatives(self, eta: Matrix) -> Derivatives:
        share, complement, first, second = self.link.bend(eta[:, 0])
        honest, _, honest_first, honest_second = LINKS["logit"].bend(eta[:, 1])
        e_0, e_1 = self.evidence.T
        gain = e_1 - self.denied
        members = self.denied + honest * gain
        chance = np.maximum(e_0 * complement + members * share, _TINY)
        change = members - e_0
        slope = np.stack([first * change, share * honest_first * gain], axis=1)
        curve = _symmetric(
            second * change,
            first * honest_first * gain,
            share * honest_second * gain,
        )
        return _log_derivatives(chance, slope, curve)

    def joint(self, eta: Matrix) -> Matrix:
        e_0, e_1 = self.evidence.T
        members = self.denied + expit(eta[:, 1]) * (e_1 - self.denied)
        return vector(self.shares(eta) * np.column_stack([e_0, members]))

    def share_slopes(self, eta: Matrix) -> Matrix:
        slopes = super().share_slopes(eta)
        return np.concatenate([slopes, np.zeros_like(slopes)], axis=2)


@dataclass(frozen=True, eq=False)
class ManyAnswerLaw(AnswerLaw):
    """Any number of answers by multinomial logit; the first is what the others are compared with.

    Why: with the posterior τ_j = μ_j·E_j/q the gradient by the predictor of answer j is τ_j − μ_j, and the Hessian is
    (diag τ − ττ′) − (diag μ − μμ′).
    """

    has_expected_information = True
    has_local_maxima = True
    edge = 15.0

    @property
    def predictors(self) -> int:
        return int(self.evidence.shape[1]) - 1

    @property
    def raised(self) -> tuple[int, ...]:
        return tuple(range(self.predictors))

    def log(self, eta: Matrix) -> Vector:
        return vector(np.log(np.maximum(self.joint(eta).sum(axis=1), _TINY)))

    def derivatives(self, eta: Matrix) -> Derivatives:
        shares = self.shares(eta)
        joint = shares * self.evidence
        chance = np.maximum(joint.sum(axis=1), _TINY)
        after, before = joint[:, 1:] / chance[:, None], shares[:, 1:]
        return Derivatives(
            np.log(chance), after - before, _variances(after) - _variances(before)
        )

    def shares(self, eta: Matrix) -> Matrix:
        return _multinomial(eta)

    def share_slopes(self, eta: Matrix) -> Matrix:
        return _variances(self.shares(eta))[:, :, 1:]


class _NumberLaw(AnswerLaw):
    """A law of numbers: its first predictor is the mean, and there are no shares besides."""

    def shares(self, eta: Matrix) -> Matrix:
        return eta[:, :1]

    def share_slopes(self, eta: Matrix) -> Matrix:
        shape = (len(eta), 1, self.predictors)
        return np.broadcast_to(np.eye(1, self.predictors), shape)


@dataclass(frozen=True, eq=False)
class MeanLaw(_NumberLaw):
    """The mean of a number, by least squares on an unbiased value of each row's answer.

    Why: r_i has the expectation of the answer whatever the answer is, so that x′β is estimated without bias and without
    a law of the answers; its "log-probability" is −(r − η)²/2, whose scores make robust errors.

    Attributes:
        values: what each row's response is worth.
    """

    has_likelihood = False
    predictors = 1

    values: Vector

    def derivatives(self, eta: Matrix) -> Derivatives:
        residuals = self.values - eta[:, 0]
        return Derivatives(
            -(residuals**2) / 2, residuals[:, None], -np.ones((len(eta), 1, 1))
        )


@dataclass(frozen=True, eq=False)
class MeanErrorLaw(MeanLaw):
    """The same with normal errors around the mean, which hold what the device adds; for groups with intercepts.

    Predictors: the mean η and the logarithm of the errors' deviation.

    Why: how far groups lie apart is told against how far people of one group do, which least squares leave open. The
    values are not normal, and their law is only a working one: means of r and of its products within a group are right
    for it, and errors come from how groups' scores differ.
    """

    predictors = 2

    def derivatives(self, eta: Matrix) -> Derivatives:
        return _normal_errors(self.values - eta[:, 0], eta[:, 1])


@dataclass(frozen=True, eq=False)
class NormalLaw(_NumberLaw):
    """Numbers with normal errors, rounded at random to levels and sent through the channel of these.

    Predictors: the mean η and ln σ. What lies outside of the range counts as its end.

    Why: with H(t) = E(Y − t)₊ = σ(φ(a) + aΦ(a)), a = (η − t)/σ, the probability of being rounded to a level is a second
    difference of H over the levels, divided by their distance; and the derivatives of H are Φ(a), φ(a) and φ(a)/σ times
    1, −a and a².

    Attributes:
        levels: the values of the levels, evenly apart.
    """

    predictors = 2

    levels: Vector

    def _rounded(self, eta: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return the probability of each level, its gradient and its Hessian by η and ln σ."""
        sigma = np.exp(eta[:, 1:2])
        a = (eta[:, :1] - self.levels) / sigma
        density, below = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi), ndtr(a)
        first = np.stack([below, sigma * density], axis=2)
        second = _symmetric(
            density / sigma, -a * density, sigma * (a**2 + 1) * density
        )
        table = _hats(len(self.levels)) / (self.levels[1] - self.levels[0])
        shares = sigma * (density + a * below) @ table.T
        shares[:, 0] += 1
        return (
            shares,
            np.einsum("lt,itp->ilp", table, first),
            np.einsum("lt,itpq->ilpq", table, second),
        )

    def derivatives(self, eta: Matrix) -> Derivatives:
        shares, slopes, curves = self._rounded(eta)
        chance = np.maximum((shares * self.evidence).sum(axis=1), _TINY)
        slope = np.einsum("il,ilp->ip", self.evidence, slopes)
        curve = np.einsum("il,ilpq->ipq", self.evidence, curves)
        return _log_derivatives(chance, slope, curve)

    def joint(self, eta: Matrix) -> Matrix:
        return self._rounded(eta)[0] * self.evidence


@dataclass(frozen=True, eq=False)
class OutcomeLaw(AnswerLaw):
    """The randomized answer as a predictor, what was sent and what was measured: Σ_j μ_j·f(o | j)·E_j.

    Predictors, in this order: that of the outcome under the first answer; what each other answer adds to it; those of
    each other answer; and for numbers the logarithm of their deviation σ.

    Implements: the joint likelihood of [BIZ15] with the answer allowed to depend on the
    covariates.

    Attributes:
        outcome: what was measured.
        family: one of `OUTCOMES`.
    """

    has_outcome = True

    outcome: Vector
    family: str

    @property
    def _others(self) -> int:
        return int(self.evidence.shape[1]) - 1

    @property
    def _category_columns(self) -> slice:
        """The predictors of the answers."""
        return slice(1 + self._others, 1 + 2 * self._others)

    @property
    def predictors(self) -> int:
        return 1 + 2 * self._others + (self.family == "normal")

    @property
    def edge(self) -> float:
        return LINKS["logit"].edge

    @property
    def bounded(self) -> tuple[int, ...]:
        first = 0 if self.family == "bernoulli" else 1 + self._others
        return tuple(range(first, 1 + 2 * self._others))

    def shares(self, eta: Matrix) -> Matrix:
        return _multinomial(eta[:, self._category_columns])

    def share_slopes(self, eta: Matrix) -> Matrix:
        shares = self.shares(eta)
        slopes = np.zeros((*shares.shape, self.predictors))
        slopes[:, :, self._category_columns] = _variances(shares)[:, :, 1:]
        return slopes

    def posterior(self, eta: Matrix) -> Matrix:
        return self._weigh_categories(eta)[1]

    def _weigh_categories(self, eta: Matrix) -> tuple[Vector, Matrix]:
        """Return the log-probability of each row, and that of each answer given all that is known."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares(eta)) + np.log(self.evidence)
        answers = range(self._others + 1)
        outcomes = [self._outcome(eta, category).log for category in answers]
        return normalize_logs(logs + np.column_stack(outcomes))

    def _outcome(self, eta: Matrix, category: int) -> Derivatives:
        """Return ln f(o | answer), its gradient by predictor and ln σ, and its Hessian by these two."""
        mean = eta[:, 0] + (eta[:, category] if category else 0.0)
        if self.family == "normal":
            return _normal_errors(self.outcome - mean, eta[:, -1])
        share, zeros = expit(mean), np.zeros(len(eta))
        return Derivatives(
            self.outcome * mean - np.logaddexp(0, mean),
            np.column_stack([self.outcome - share, zeros]),
            _symmetric(-share * (1 - share), zeros, zeros),
        )

    def derivatives(self, eta: Matrix) -> Derivatives:
        log, after = self._weigh_categories(eta)
        rows, size = len(eta), self.predictors
        shares = self.shares(eta)[:, 1:]
        mean, curve = np.zeros((rows, size)), np.zeros((rows, size, size))
        for answer in range(self._others + 1):
            _, slope, hessian = self._outcome(eta, answer)
            # of the mean, twice, and of ln σ
            columns = np.array([0, answer, size - 1])
            used = [True, answer > 0, self.family == "normal"]
            columns, kinds = columns[used], np.array([0, 0, 1])[used]
            first, second = np.zeros_like(mean), np.zeros_like(curve)
            first[:, columns] = slope[:, kinds]
            second[:, columns[:, None], columns] = hessian[:, kinds[:, None], kinds]
            first[:, self._category_columns] = -shares
            if answer:
                first[:, self._others + answer] += 1
            second[:, self._category_columns, self._category_columns] = -_variances(
                shares
            )
            likely = after[:, answer]
            mean += likely[:, None] * first
            curve += likely[:, None, None] * (second + _squares(first))
        return Derivatives(log, mean, curve - _squares(mean))


@dataclass(frozen=True, eq=False)
class ListLaw(OutcomeLaw):
    """A list experiment: how many of J items apply, to which the sensitive one was added for the treated.

    Predictors: the logit of an item's share, what that of members differs by, and the logit of the sensitive item.

    Implements: the likelihood of [Ima11], Σ_j μ_j·Bin(y − j·t | J, h_j), with t = 1 for the treated.

    Attributes:
        treated: whether each row was shown the sensitive item, as 0 or 1.
        n_items: J.
    """

    has_outcome = False
    has_local_maxima = True

    treated: Vector
    n_items: int

    @property
    def bounded(self) -> tuple[int, ...]:
        return tuple(range(self.predictors))

    def _outcome(self, eta: Matrix, category: int) -> Derivatives:
        predictor = eta[:, 0] + (eta[:, 1] if category else 0.0)
        items, n, zeros = (
            self.outcome - category * self.treated,
            self.n_items,
            np.zeros(len(eta)),
        )
        # infinite, and the probability 0, for less than no item or more than all
        ways = -betaln(items + 1, n - items + 1) - math.log(n + 1)
        share = expit(predictor)
        return Derivatives(
            ways + items * predictor - n * np.logaddexp(0, predictor),
            np.column_stack([items - n * share, zeros]),
            _symmetric(-n * share * (1 - share), zeros, zeros),
        )


def start_of_list(law: ListLaw, weights: Vector | None) -> Vector:
    """Return rough logits of an item's share and of the sensitive item, by the means of both arms."""
    is_treated = law.treated > 0
    weights = np.ones(len(is_treated)) if weights is None else weights
    control, treated = (
        float(np.average(law.outcome[arm], weights=weights[arm]))
        for arm in (~is_treated, is_treated)
    )
    shares = np.array([control / law.n_items, treated - control])
    return vector(logit(np.clip(shares, 0.05, 0.95)))


class MeanFunction(NamedTuple):
    """The mean of an outcome at a predictor: m(η) and m′(η), and the integral of m that makes an objective."""

    integral: Callable[[Matrix], Matrix]
    mean: Callable[[Matrix], Matrix]
    slope: Callable[[Matrix], Matrix]


EQUATIONS = {
    "linear": MeanFunction(lambda eta: eta**2 / 2, lambda eta: eta, np.ones_like),
    "logit": MeanFunction(
        lambda eta: np.logaddexp(0, eta),
        expit,
        lambda eta: expit(eta) * expit(-eta),
    ),
    "log": MeanFunction(np.exp, np.exp, np.exp),
}
"""The means of an outcome that depends on the answer, for estimating equations that need no law of it."""


@dataclass(frozen=True, eq=False)
class EquationLaw(_NumberLaw):
    """The mean of an outcome by the randomized answer: Σ_j w_ij·(y_i − m(η_ij)) = 0, whatever law the outcome has.

    Predictors: that of the outcome under the first answer, and what each other answer adds to it.

    Implements: the corrected score of every m in `EQUATIONS`, with w_ij an unbiased indicator of answer j.

    Attributes:
        outcome: what was measured.
        family: one of `EQUATIONS`.
        indicators: w, a row for each row and a column for each answer.
    """

    has_likelihood = False
    has_outcome = True
    is_equation = True

    outcome: Vector
    family: str
    indicators: Matrix

    @property
    def predictors(self) -> int:
        return int(self.indicators.shape[1])

    @property
    def bounded(self) -> tuple[int, ...]:
        return tuple(range(self.predictors))

    @property
    def edge(self) -> float:
        return LINKS["logit"].edge if self.family == "logit" else math.inf

    def derivatives(self, eta: Matrix) -> Derivatives:
        function, w = EQUATIONS[self.family], self.indicators
        by_answer, y = eta.copy(), self.outcome[:, None]
        by_answer[:, 1:] += eta[:, :1]
        log = (w * (y * by_answer - function.integral(by_answer))).sum(axis=1)
        first = w * (y - function.mean(by_answer))
        curve = -w * function.slope(by_answer)
        second = curve[:, :, None] * np.eye(self.predictors)
        second[:, 0, :] = second[:, :, 0] = curve
        first[:, 0], second[:, 0, 0] = first.sum(axis=1), curve.sum(axis=1)
        return Derivatives(log, first, second)


def normalize_logs(logs: Matrix) -> tuple[Vector, Matrix]:
    """Return the logarithm of the sum of each row's probabilities, and the part of each of them."""
    totals = vector(logsumexp(logs, axis=1))
    return totals, np.exp(logs - totals[:, None])


def _log_derivatives(chance: Vector, slope: Matrix, curve: Matrix) -> Derivatives:
    """Return the derivatives of the logarithm of a probability, from its own."""
    first = slope / chance[:, None]
    return Derivatives(
        np.log(chance), first, curve / chance[:, None, None] - _squares(first)
    )


def _normal_errors(residuals: Vector, log_sigma: Vector) -> Derivatives:
    """Return the log-density of normal errors, with its derivatives by the mean and by ln σ."""
    precision = np.exp(-2 * log_sigma)
    square = residuals**2 * precision
    first = np.column_stack([residuals * precision, square - 1])
    second = _symmetric(-precision, -2 * residuals * precision, -2 * square)
    return Derivatives(
        -0.5 * np.log(2 * np.pi) - log_sigma - square / 2, first, second
    )


def _symmetric(a: Matrix, b: Matrix, d: Matrix) -> Matrix:
    """Return the matrices with the rows (a, b) and (b, d)."""
    return np.stack([np.stack([a, b], axis=-1), np.stack([b, d], axis=-1)], axis=-1)


def _hats(levels: int) -> Matrix:
    """Return the second differences that make rounding probabilities of H; the ends take what lies beyond them."""
    table = np.eye(levels, k=-1) - 2 * np.eye(levels) + np.eye(levels, k=1)
    table[0, 0] = table[-1, -1] = -1.0
    return table


def _multinomial(eta: Matrix) -> Matrix:
    """Return the probabilities of all answers from the predictors of all but the first."""
    return vector(softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1))


def _squares(rows: Matrix) -> Matrix:
    """Return rr′ for each row r."""
    return rows[:, :, None] * rows[:, None, :]


def _variances(shares: Matrix) -> Matrix:
    """Return diag(s) − ss′ for each row s."""
    matrices = -_squares(shares)
    index = np.arange(shares.shape[1])
    matrices[:, index, index] += shares
    return matrices
