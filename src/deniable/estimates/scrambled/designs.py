"""Classic scrambled designs: a response is α·y + β, with α and β of known laws. For data collected elsewhere."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from deniable import exact
from deniable.errors import InvalidDesign, InvalidRequest, require_choice

if TYPE_CHECKING:
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.estimates.scrambled.estimates import ScrambledMean
    from deniable.estimates.statistics import Statistic

__all__ = ["MODELS", "Scrambling", "ScramblingLaw", "scrambled"]

Given: TypeAlias = (
    "Mapping[exact.Rational, exact.Rational] | Sequence[exact.Rational]"
)
"""A law as it is given: the probability of each value; or its mean and its standard deviation."""

# of the table of responses and answers that a guarantee is worked out from
_MAX_CELLS = 1 << 20


@dataclass(frozen=True)
class ScramblingLaw:
    """The law of a scrambling number.

    Attributes:
        mean: its mean.
        variance: its variance.
        values: each value with its probability; empty where only the two moments are known.
    """

    mean: Fraction
    variance: Fraction
    values: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of(cls, given: Given, name: str) -> ScramblingLaw:
        """Read a law.

        Raises:
            InvalidDesign: neither probabilities that sum to 1 nor a mean and a standard deviation.

        Example:
            >>> ScramblingLaw.of({1: "1/2", 3: "1/2"}, "factor").variance
            Fraction(1, 1)
        """
        if isinstance(given, Mapping):
            pairs = [
                (exact.rational(value), exact.probability(chance))
                for value, chance in given.items()
            ]
            if not math.isclose(sum(chance for _, chance in pairs), 1, abs_tol=1e-9):
                raise InvalidDesign(
                    f"the probabilities of {name} do not sum to 1; expected those of all its values."
                )
            mean = sum((value * chance for value, chance in pairs), Fraction(0))
            square = sum((value**2 * chance for value, chance in pairs), Fraction(0))
            return cls(mean, square - mean**2, tuple(pairs))
        if (
            isinstance(given, str)
            or not isinstance(given, Sequence)
            or len(given) != 2
        ):
            raise InvalidDesign(
                f"the law of {name} is a {type(given).__name__}; expected probabilities by value, or (mean, deviation)."
            )
        mean, deviation = map(exact.rational, given)
        return cls(mean, deviation**2)


class Branch(NamedTuple):
    """One thing that the device may tell: to send α·y + β with probability `chance`.

    Attributes:
        chance: how often it tells that.
        draws: each pair of α and β with its probability; empty where laws are known by their moments alone.
        moments: of α and β: E α, E β, E α², E αβ, E β².
    """

    chance: Fraction
    draws: tuple[tuple[Fraction, Fraction, Fraction], ...]
    moments: tuple[Fraction, Fraction, Fraction, Fraction, Fraction]


_TRUTH = ((Fraction(1), Fraction(1), Fraction(0)),)


def _truth(chance: Fraction) -> Branch:
    one, none = Fraction(1), Fraction(0)
    return Branch(chance, _TRUTH, (one, none, one, none, none))


def _other_number(chance: Fraction, other: ScramblingLaw) -> Branch:
    draws = tuple((p, Fraction(0), value) for value, p in other.values)
    none = Fraction(0)
    return Branch(
        chance, draws, (none, other.mean, none, none, other.variance + other.mean**2)
    )


def _product_and_sum(
    chance: Fraction,
    factor: ScramblingLaw,
    shift: ScramblingLaw,
    inner: Fraction = Fraction(1),
    outer: Fraction = Fraction(1),
) -> Branch:
    """Send factor·(inner·y + outer·shift)."""
    pairs = product(factor.values, shift.values)
    draws = tuple((p * q, w * inner, w * outer * u) for (w, p), (u, q) in pairs)
    square, shifted = (
        factor.variance + factor.mean**2,
        shift.variance + shift.mean**2,
    )
    return Branch(
        chance,
        draws,
        (
            inner * factor.mean,
            outer * factor.mean * shift.mean,
            inner**2 * square,
            inner * outer * square * shift.mean,
            outer**2 * square * shifted,
        ),
    )


def _multiply_and_add(factor: ScramblingLaw, shift: ScramblingLaw) -> Branch:
    """Send factor·y + shift."""
    pairs = product(factor.values, shift.values)
    square, shifted = (
        factor.variance + factor.mean**2,
        shift.variance + shift.mean**2,
    )
    moments = (factor.mean, shift.mean, square, factor.mean * shift.mean, shifted)
    return Branch(
        Fraction(1), tuple((p * q, w, u) for (w, p), (u, q) in pairs), moments
    )


_NOTHING = ScramblingLaw(Fraction(0), Fraction(0), ((Fraction(0), Fraction(1)),))

MODELS: dict[str, tuple[str, ...]] = {
    "eichhorn_hayre": ("factor",),
    "eriksson": ("p", "other"),
    "bar_lev": ("p", "factor"),
    "saha": ("factor", "shift"),
    "diana_perri_1": ("p", "factor", "shift"),
    "diana_perri_2": ("share", "factor", "shift"),
    "chaudhuri_christofides": ("factor", "shift"),
}
"""Which parameters each design has."""


@dataclass(frozen=True)
class Scrambling:
    """A scrambled design, by which numbers were collected elsewhere.

    Attributes:
        model: its name.
        branches: what the device may tell.
        given: its parameters, for JSON.
        intercept: c₀ of E z = c₀ + c₁·y.
        slope: c₁.
        square: A of V(z) = A·y² + B·y + C.
        linear: B.
        constant: C.
    """

    model: str
    branches: tuple[Branch, ...]
    given: tuple[tuple[str, Any], ...]

    def __post_init__(self) -> None:
        if not self.slope:
            raise InvalidDesign(
                "on average the responses do not depend on the number; expected a law with another mean."
            )

    def _mean(self, at: int) -> Fraction:
        return sum(
            (branch.chance * branch.moments[at] for branch in self.branches),
            Fraction(0),
        )

    @property
    def slope(self) -> Fraction:
        """By how much the mean of responses grows with the number."""
        return self._mean(0)

    @property
    def intercept(self) -> Fraction:
        """The mean of responses to 0."""
        return self._mean(1)

    @property
    def square(self) -> Fraction:
        """Of the device's variance at a number: the coefficient of its square."""
        return self._mean(2) - self.slope**2

    @property
    def linear(self) -> Fraction:
        """Of the device's variance at a number: the coefficient of the number."""
        return 2 * self._mean(3) - 2 * self.intercept * self.slope

    @property
    def constant(self) -> Fraction:
        """Of the device's variance at a number: what it is at 0."""
        return self._mean(4) - self.intercept**2

    def device_variance(self, answer: exact.Rational) -> Fraction:
        """Return the variance that the device gives to the value of one response, for a true number.

        Example:
            >>> round(float(scrambled("eichhorn_hayre", factor={0.5: 0.2, 1: 0.5, 2: 0.3}).device_variance(2.5)), 6)
            1.345486
        """
        y = exact.rational(answer)
        return (self.square * y**2 + self.linear * y + self.constant) / self.slope**2

    def value(self, response: float) -> float:
        """Return what a response says about the number: its expectation is the number."""
        return (response - float(self.intercept)) / float(self.slope)

    def estimated_device_variance(self, value: float) -> float:
        """Return the device's variance, estimated without bias from what a response says.

        Why: E r² = y² + V(r), so that A·r² + B·r + C exceeds V(z) by A·V(r) on average: a factor of 1 + A/c₁².
        """
        above = (
            float(self.square) * value**2
            + float(self.linear) * value
            + float(self.constant)
        )
        return above / float(self.slope**2 + self.square)

    @overload
    def estimate(
        self, responses: Iterable[float | None], *, population: int | None = None
    ) -> Statistic[ScrambledMean]: ...
    @overload
    def estimate(
        self,
        responses: Iterable[float | None],
        *,
        sampling: Sampling,
        domain: object = None,
        by: object = None,
        denominator: object = None,
    ) -> SampledEstimate: ...
    def estimate(
        self,
        responses: Iterable[float | None],
        *,
        population: int | None = None,
        sampling: Sampling | None = None,
        **options: Any,
    ) -> Statistic[ScrambledMean] | SampledEstimate:
        """Estimate the mean of the numbers from the responses of a simple random sample, or of any other.

        Args:
            responses: what was sent; None or NaN where somebody sent nothing, which is counted.
            population: how many people there are, if they were drawn from not very many without replacement.
            sampling: how the people were drawn, where it was not a simple random sample.
            options: with a sampling: `domain`, `by` and `denominator`, as for shares.

        Raises:
            InvalidResponse: something that is no number.
            NotEstimable: fewer than 2 responses.
            InvalidRequest: a population smaller than the responses.
        """
        from deniable.estimates.scrambled.estimates import estimate, estimate_sampled

        if sampling is None:
            return estimate(self, responses, population=population, **options)
        if population is not None:
            raise InvalidRequest(
                "the population belongs to the sampling; expected Sampling(population=…)."
            )
        return estimate_sampled(self, responses, sampling, **options)

    def parity(self, answers: Iterable[exact.Rational]) -> exact.Ratio:
        """Return the largest factor by which a response changes the odds between two of these numbers, exactly.

        Args:
            answers: all numbers that somebody may have.

        Raises:
            InvalidRequest: only the moments of a law are known, or there are too many numbers.
        """
        numbers = sorted({exact.rational(answer) for answer in answers})
        if len(numbers) < 2:
            raise InvalidRequest(
                "there are fewer than 2 numbers; expected all that somebody may have."
            )
        if not all(branch.draws for branch in self.branches):
            raise InvalidRequest(
                "only the mean and the deviation of a law are known, which say nothing about what a response reveals; "
                "expected the probability of each value."
            )
        if (
            len(numbers) * sum(len(branch.draws) for branch in self.branches)
            > _MAX_CELLS
        ):
            raise InvalidRequest(
                "there are too many numbers and values; expected about a million pairs at most."
            )
        table: dict[Fraction, dict[Fraction, Fraction]] = defaultdict(
            lambda: defaultdict(Fraction)
        )
        for answer, branch in product(numbers, self.branches):
            for chance, factor, shift in branch.draws:
                table[factor * answer + shift][answer] += branch.chance * chance
        worst: exact.Ratio = Fraction(1)
        for row in table.values():
            chances = [row[answer] for answer in numbers]
            worst = max(worst, exact.ratio(max(chances), min(chances)))
        return worst

    def epsilon(self, answers: Iterable[exact.Rational]) -> float:
        """Return the ε of a response about one of these numbers, rounded up; infinite where one can prove something.

        Guarantee: worked out from the law, value by value; never assumed.

        Raises:
            InvalidRequest: only the moments of a law are known, or there are too many numbers.

        Example:
            >>> scrambled("bar_lev", p="3/5", factor={1: "1/2", 2: "1/2"}).epsilon([1, 2, 5])
            inf
        """
        return exact.log_above(self.parity(answers))

    @property
    def guarantee(self) -> str:
        """What a response promises to whoever sent it, in words."""
        return _PROMISES[self.model]


_PROMISES = {
    "eichhorn_hayre": (
        "A product with a random factor has no finite ε in general: a 0 is sent as 0, and a bounded factor leaves some "
        "numbers impossible."
    ),
    "eriksson": "There is a finite ε only if the list of the device holds every number that somebody may have.",
    "bar_lev": "The number itself is sent with probability p, so that there is no finite ε, and δ is at least p.",
    "saha": "There is no finite ε for a factor and a shift of finitely many values or bounded laws.",
    "diana_perri_1": "The number itself is sent with probability p, so that there is no finite ε, and δ is at least p.",
    "diana_perri_2": "There is no finite ε for a factor and a shift of finitely many values or bounded laws.",
    "chaudhuri_christofides": "There is no finite ε for a factor and a shift of finitely many values or bounded laws.",
}


def scrambled(
    model: str,
    *,
    p: exact.Rational | None = None,
    share: exact.Rational | None = None,
    factor: Given | None = None,
    shift: Given | None = None,
    other: Given | None = None,
) -> Scrambling:
    """Describe a classic scrambled design by which numbers were collected elsewhere.

    There is no way to respond with one here: use `number_design`, which promises a finite ε for a range of numbers.

    Implements: [EH83] (y·S), [Eri73] (y with p, else S), [BBB04] (y with p, else y·S), [Sah07] (W(y + U)), [DP10] (y
    with p, else W(y + U); and W(βU + (1 − β)y)), and y·S₁ + S₂.

    Args:
        model: one of `MODELS`.
        p: how often the number itself is sent.
        share: β of `diana_perri_2`, the share of the shift.
        factor: the law of what the number is multiplied with: probabilities by value, or (mean, standard deviation).
        shift: the law of what is added.
        other: the law of what is sent in the place of the number.

    Raises:
        InvalidRequest: no such model, or a parameter too many or too few.
        InvalidDesign: a law that is none.

    Example:
        >>> found = scrambled("eriksson", p=0.6, other={-1: 0.3, 0: 0.2, 3: 0.5})
        >>> float(found.slope), float(found.intercept), float(found.device_variance(2.5))
        (0.6, 0.48, 4.86)
    """
    require_choice("the model is", model, MODELS)
    every = {
        "p": p,
        "share": share,
        "factor": factor,
        "shift": shift,
        "other": other,
    }
    parameters = {name: value for name, value in every.items() if value is not None}
    if set(parameters) != set(MODELS[model]):
        raise InvalidRequest(
            f"{model} was given {', '.join(parameters) or 'nothing'}; expected {', '.join(MODELS[model])}."
        )
    law_parameters = (("factor", factor), ("shift", shift), ("other", other))
    laws = {
        name: ScramblingLaw.of(law, name)
        for name, law in law_parameters
        if law is not None
    }
    probabilities = (("p", p), ("share", share))
    chances = {
        name: exact.probability(value, name=name)
        for name, value in probabilities
        if value is not None
    }
    body = tuple(
        (name, _serialize_parameter(parameters[name])) for name in MODELS[model]
    )
    return Scrambling(model, tuple(_branches(model, laws, chances)), body)


def _serialize_parameter(given: Any) -> Any:
    """Serialize a parameter for JSON."""
    if isinstance(given, Mapping):
        return tuple(
            (str(exact.rational(value)), str(exact.rational(chance)))
            for value, chance in given.items()
        )
    if isinstance(given, Sequence) and not isinstance(given, str):
        return tuple(str(exact.rational(number)) for number in given)
    return str(exact.rational(given))


def _branches(
    model: str, laws: Mapping[str, ScramblingLaw], chances: Mapping[str, Fraction]
) -> list[Branch]:
    one, share = Fraction(1), chances.get("share", Fraction(0))
    remaining = one - chances.get("p", Fraction(0))
    factor, shift = laws.get("factor", _NOTHING), laws.get("shift", _NOTHING)
    makers = {
        "eichhorn_hayre": lambda: [_product_and_sum(one, factor, _NOTHING)],
        "eriksson": lambda: [_other_number(remaining, laws["other"])],
        "bar_lev": lambda: [_product_and_sum(remaining, factor, _NOTHING)],
        "saha": lambda: [_product_and_sum(one, factor, shift)],
        "diana_perri_1": lambda: [_product_and_sum(remaining, factor, shift)],
        "diana_perri_2": lambda: [
            _product_and_sum(one, factor, shift, one - share, share)
        ],
        "chaudhuri_christofides": lambda: [_multiply_and_add(factor, shift)],
    }
    truth = [_truth(chances["p"])] if "p" in chances else []
    return [*truth, *makers[model]()]
