"""Estimates in sentences, and the names of estimators and intervals in words."""

from __future__ import annotations

import math

from deniable.estimates import Row
from deniable.rendering import formats


def about_mean(row: Row) -> str:
    """Tell an estimated mean in a sentence.

    Example:
        >>> about_mean(Row("mean", 1234.5678, 100, 1038.6, 1430.6))
        'The mean is about 1,235; the interval goes from 1,039 to 1,431.'
    """
    low, high = (_digits(end, row.error) for end in (row.low, row.high))
    return f"The mean is about {_digits(row.estimate, row.error)}; the interval goes from {low} to {high}."


def _digits(value: float, error: float) -> str:
    """Return a number with the digits that its error leaves: two of the error."""
    places = min(max(1 - math.floor(math.log10(error)), 0), 12) if error > 0 else 3
    return f"{value:,.{places}f}"


_ESTIMATORS = {
    "inversion": "inverting the probabilities of the device, which is linear and unbiased",
    "likelihood": "maximum likelihood",
    "pseudo-likelihood": "maximum pseudo-likelihood, in which people count by their weights in the sample",
    "moments": "dividing the covariance of unbiased values of the responses by the standard deviations of the answers, "
    "in which what the device adds is taken out",
    "exact": "Bayes' rule, exactly",
    "draws": "Bayes' rule, from draws",
    "customary": "the unbiased estimate that is customary for bits",
    "projection": "projecting onto shares from 0 to 100% that sum to 100%",
    "normalization": "setting what is negative to 0 and scaling the rest to 100%",
    "information": "weighing responses by how much each tells",
    "linear": "weighing responses linearly and without bias",
    "strata": "estimating each group of respondents on its own and adding up",
    "fixed": "inverting the probabilities of the device, times how seldom an item is looked at",
    "conditional": "inverting the probabilities of the device among the responses about each item",
    "deck": "the mean of the numbers that were sent, under the law of the dealt cards",
    "regression": "regression of the bits on the candidates",
}
_INTERVALS = {
    "score": "score intervals",
    "normal": "normal approximation",
    "chebyshev": "Chebyshev's inequality",
    "exact": "exact intervals after Clopper and Pearson",
    "profile": "profile likelihood",
    "wide": "score and profile likelihood together",
    "t": "with quantiles of Student's t",
    "korn-graubard": "Korn and Graubard's, at the effective number of responses",
    "logit": "normal approximation on the scale of logits",
    "recovered": "from the intervals of both",
    "fieller": "Fieller's intervals of a ratio",
    "given-found": "conditional on having been found",
    "fisher": "Fisher's, on the scale of artanh",
    "bracket": "all values that some distribution in the intervals of the shares has",
    "together": "all values that go with the intervals of both means",
}


def estimator(method: str) -> str:
    """Tell in plain words how numbers were estimated; a method without words of its own is told by its name.

    Example:
        >>> estimator("likelihood")
        'maximum likelihood'
        >>> estimator("inversion, projection").partition("; then ")[2]
        'projecting onto shares from 0 to 100% that sum to 100%'
    """
    return "; then ".join(_ESTIMATORS.get(step, step) for step in method.split(", "))


def interval_name(method: str) -> str:
    """Tell in plain words which intervals these are; a method without words of its own is told by its name.

    Example:
        >>> interval_name("score"), interval_name("profile")
        ('score intervals', 'profile likelihood')
    """
    return ", ".join(_INTERVALS.get(name, name) for name in method.split(", "))


_NOBODY = 0.005


def about(row: Row, label: str = "") -> str:
    """Tell a share and its interval in words; ends are rounded outward, and left away beyond 0 … 100 %.

    Example:
        >>> about(Row("yes", 0.1234, 0.02, 0.091, 0.152))
        'About 12% answer “yes”: between 9% and 16%.'
        >>> about(Row("yes", -0.01, 0.02, -0.05, 0.024), "Yes")
        'Hardly anybody answers “Yes”: at most 3%.'
        >>> about(Row("yes", 1.09, 0.03, 1.01, 1.13))
        'Nearly everybody answers “yes”, and the interval lies above 100%: look at the responses.'
    """
    name, width = label or row.name, row.high - row.low
    decimals = _decimals(width)
    low, high = (
        formats.fixed_percent(row.low, decimals, math.floor),
        formats.fixed_percent(row.high, decimals, math.ceil),
    )
    if row.high <= 0 or row.low >= 1:
        who, end = (
            ("Hardly anybody", "below 0%")
            if row.high <= 0
            else ("Nearly everybody", "above 100%")
        )
        return f"{who} answers “{name}”, and the interval lies {end}: look at the responses."
    if row.estimate < _NOBODY and row.low <= 0:
        return f"Hardly anybody answers “{name}”: at most {high}."
    if row.estimate > 1 - _NOBODY and row.high >= 1:
        return f"Nearly everybody answers “{name}”: at least {low}."
    share = f"About {formats.fixed_percent(row.estimate, decimals)} answer “{name}”"
    if row.low <= 0 and row.high >= 1:
        return f"{share}, but the responses are too few: any share would fit them."
    if row.high >= 1:
        return f"{share}: at least {low}."
    return (
        f"{share}: at most {high}."
        if row.low <= 0
        else f"{share}: between {low} and {high}."
    )


def _decimals(width: float) -> int:
    """Return how many decimals of a percentage a sentence gives: the narrower the interval, the more."""
    return 0 if width >= 0.04 else 1 if width >= 0.004 else 2
