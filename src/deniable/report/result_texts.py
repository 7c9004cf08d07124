"""Estimates in sentences, and the names of estimators and intervals in words."""

from __future__ import annotations

import math
from functools import partial

from deniable.estimates import Row
from deniable.rendering import formats
from deniable.rendering.statements import ANY, Range, state


def about_mean(row: Row, possible: Range = ANY) -> str:
    """Tell an estimated mean in a sentence, within the range that it can lie in.

    Example:
        >>> about_mean(Row("mean", 1234.5678, 100, 1038.6, 1430.6))
        'The mean is about 1,235; the interval goes from 1,039 to 1,431.'
        >>> about_mean(Row("mean", -34, 73, -178, 110), (0, 500))
        'The mean is at most 110. The raw estimate lies below 0.'
        >>> about_mean(Row("mean", 240, 310, -370, 850), (0, 500))
        'The data cannot decide what the mean is: any value from 0 to 500 would fit them.'
    """
    stated = state(row.estimate, row.low, row.high, possible)
    width = min(row.high - row.low, possible[1] - possible[0])
    show = partial(_digits, width=width)
    least, most = map(show, possible)
    if stated.is_undecided:
        return f"The data cannot decide what the mean is: {stated.every(least, most)} would fit them."
    remark = stated.remark(least, most)
    if not stated.fits:
        return f"The mean could not be estimated. {remark}"
    low, high = show(stated.low), show(stated.high)
    if remark or math.isnan(stated.value):
        return f"The mean is {stated.ends(low, high)}. {remark}".rstrip()
    return f"The mean is about {show(stated.value)}; the interval goes from {low} to {high}."


def _digits(value: float, width: float) -> str:
    """Return a number with the digits that its interval leaves: about two of the standard error."""
    error = width / 4
    return f"{value:,.{formats.decimals_of_error(error)}f}".replace("-", "−")


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
    "list experiment": "the difference between both arms of a list experiment",
    "rogan-gladen": "inverting the shares of results among validated cases",
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
    "lang-reiczigel": "Lang and Reiczigel's",
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


_NOBODY, _HARDLY = 0.005, 0.05
"""A share that is told as that of nobody, and the largest end of its interval."""


def about(row: Row, label: str = "") -> str:
    """Tell a share and its interval in words; ends are rounded outward.

    Example:
        >>> about(Row("yes", 0.1234, 0.02, 0.091, 0.152))
        'About 12% answer “yes”: between 9% and 16%.'
        >>> about(Row("yes", -0.01, 0.02, -0.05, 0.024), "Yes")
        'Hardly anybody answers “Yes”: at most 3%.'
        >>> about(Row("yes", -0.1, 0.2, -0.5, 0.3))
        'At most 30% answer “yes”. The raw estimate lies below 0%.'
        >>> about(Row("yes", 1.35, 1.1, -0.75, 3.5))
        'The data cannot decide how many answer “yes”: any share from 0% to 100% would fit them.'
    """
    name = f"“{label or row.name}”"
    stated = state(row.estimate, row.low, row.high)
    if stated.is_undecided:
        return f"The data cannot decide how many answer {name}: any share from 0% to 100% would fit them."
    decimals = _decimals(row.high - row.low)
    ends = stated.ends(
        formats.fixed_percent(stated.low, decimals, math.floor),
        formats.fixed_percent(stated.high, decimals, math.ceil),
    )
    remark = stated.remark("0%", "100%")
    if not stated.fits:
        return f"How many answer {name} could not be estimated. {remark}"
    if stated.value < _NOBODY and stated.low <= 0 and stated.high <= _HARDLY:
        return f"Hardly anybody answers {name}: {ends}."
    if stated.value > 1 - _NOBODY and stated.high >= 1 and stated.low >= 1 - _HARDLY:
        return f"Nearly everybody answers {name}: {ends}."
    if remark or math.isnan(stated.value):
        return f"{ends[:1].upper()}{ends[1:]} answer {name}. {remark}".rstrip()
    return f"About {_share(stated.value, decimals)} answer {name}: {ends}."


def _share(share: float, decimals: int) -> str:
    """Return a share with these decimals; with more of them where it would be rounded to none or to all."""
    text = formats.fixed_percent(share, decimals)
    is_hidden = (text.strip("0.") == "%" and share > 0) or (
        float(text.rstrip("%")) == 100 and share < 1
    )
    return formats.percent(share, 1) if is_hidden else text


def _decimals(width: float) -> int:
    """Return how many decimals of a percentage a sentence gives: the narrower the interval, the more."""
    return 0 if width >= 0.04 else 1 if width >= 0.004 else 2
