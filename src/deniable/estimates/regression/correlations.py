"""The correlation of a randomized answer with a number, or with another randomized answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, UnreadableFile
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.intervals import Interval
from deniable.estimates.regression.evidence import read_evidence
from deniable.estimates.results import Caution, Result, Row, Summary, around
from deniable.tallies.responses import Responses


class _Variable(NamedTuple):
    """One of the two: an unbiased value of each row, which rows there are, and the design where it is randomized."""

    values: Vector
    present: NDArray[np.bool_]
    design: Design | None


@dataclass(frozen=True, eq=False)
class Correlation(Result):
    """A correlation that is corrected for the devices.

    Attributes:
        value: the correlation of the answers; by chance it may lie outside of −1 and 1.
        error: its standard error, by linearization.
        observed: the correlation of what was sent, which is nearer to 0.
        respondents: how many rows were used.
        missing: how many were not.
        epsilon: the most that a respondent has revealed.
    """

    type: ClassVar = "correlation"

    value: float
    error: float
    observed: float
    respondents: int
    missing: int = field(repr=False)
    epsilon: float = field(repr=False)

    @property
    def params(self) -> dict[str, float]:
        return {"correlation": self.value}

    @property
    def bse(self) -> dict[str, float]:
        return {"correlation": self.error}

    def cov_params(self) -> Matrix:
        return np.array([[self.error**2]])

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        del simultaneous  # there is one
        return around(self.params, self.bse, level=level, method=method)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if abs(self.value) <= 1:
            return ()
        text = "the correlation lies outside of −1 and 1: by chance in a small sample, or because a design is wrong."
        return (Caution("outside", text),)

    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Row]:
        ends = self.conf_int(level=level, method=method)["correlation"]
        return Summary(
            title=f"correlation of answers, {self.respondents:,} respondents",
            quantity="correlation",
            rows=(Row("correlation", self.value, self.error, *ends),),
            notes=(f"What was sent has the correlation {self.observed:.4f}.",),
            warnings=self.warnings,
            level=level,
            interval=method or "normal",
            simultaneous=simultaneous,
            method="inversion",
            respondents=self.respondents,
            missing=self.missing,
            epsilon=self.epsilon,
        )

    @property
    def _design_hash(self) -> str:
        return ""

    def _source(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "error": self.error,
            "observed": self.observed,
            "respondents": self.respondents,
            "missing": self.missing,
            "epsilon": self.epsilon,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: None) -> Correlation:  # noqa: ARG003 - there is none
        try:
            value, error, observed = (float(source[name]) for name in ("value", "error", "observed"))
            epsilon = math.inf if source["epsilon"] is None else float(source["epsilon"])
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile("this is no correlation; expected its numbers.") from None
        respondents, missing = (documents.field(source, name, int) for name in ("respondents", "missing"))
        return cls(value, error, observed, respondents, missing, epsilon)


def correlation(one: Any, two: Any) -> Correlation:
    """Estimate the correlation between two answers, of which one at least was randomized.

    Why: with r an unbiased value of the answer y, cov(r, c) = cov(y, c), and the variance of y is π(1 − π); of two
    randomized answers, whose devices are independent, both are corrected. The sign follows the device.

    Args:
        one: responses of a design for two answers (`dn.Responses`), or a number for each person.
        two: the same, of the same people in the same order.

    Raises:
        InvalidRequest: neither was randomized, a design for more than two answers, or other numbers of people.
        NotEstimable: an estimated share outside of 0 and 1, or a number that does not vary.

    Example:
        >>> import deniable as dn
        >>> sent = dn.Responses(dn.warner(p="4/5"), {"response": np.array([1, 0, 1, 1, 0, 0, 1, 0], np.uint8)})
        >>> round(correlation(sent, [3, 1, 2, 2.5, 2, 1, 2, 3]).value, 4)
        0.7172
    """
    variables = [_read(each) for each in (one, two)]
    designs = [each.design for each in variables if each.design is not None]
    if not designs:
        raise InvalidRequest("neither was randomized; expected responses of a design.", "Use numpy.corrcoef().")
    if len(variables[0].values) != len(variables[1].values):
        raise InvalidRequest("there are other numbers of people in both; expected the same people in the same order.")
    rows = variables[0].present & variables[1].present
    if rows.sum() < 3:
        raise NotEstimable(f"{rows.sum()} people have both; expected at least 3.")
    values = [each.values[rows] for each in variables]
    apart = [each - each.mean() for each in values]
    spreads = [
        _share_variance(value, away) if each.design is not None else _number_variance(away)
        for each, value, away in zip(variables, values, apart, strict=True)
    ]
    product = apart[0] * apart[1]
    scale = math.sqrt(spreads[0][0] * spreads[1][0])
    found = float(product.mean()) / scale
    influence = (product - product.mean()) / scale
    for variance, moved in spreads:
        influence = influence - found / 2 * moved / variance
    return Correlation(
        found,
        float(influence.std(ddof=1)) / math.sqrt(len(influence)),
        float(np.corrcoef(values[0], values[1])[0, 1]),
        int(rows.sum()),
        int((~rows).sum()),
        max(each.epsilon for each in designs),
    )


def _read(given: Any) -> _Variable:
    if isinstance(given, Responses):
        design = given.design
        if not isinstance(design, Design) or len(design.categories) != 2 or design.factors:
            raise InvalidRequest(f"these are responses of {design!r}; expected a design for two answers.")
        evidence = read_evidence(design, np.array(list(given), object))
        return _Variable(evidence.values(np.array([0.0, 1.0])), ~evidence.missing, design)
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest("one of the two is neither responses nor numbers; expected one of these.") from None
    if numbers.ndim != 1:
        raise InvalidRequest(f"the numbers have {numbers.ndim} dimensions; expected one for each person.")
    return _Variable(numbers, np.isfinite(numbers), None)


def _share_variance(values: Vector, apart: Vector) -> tuple[float, Vector]:
    """Return π(1 − π) at the estimated share, and what each row adds to it."""
    share = float(values.mean())
    if not 0 < share < 1:
        raise NotEstimable(
            f"the estimated share is {share:.4f}; expected one between 0 and 1, as otherwise an answer has no variance."
        )
    return share * (1 - share), (1 - 2 * share) * apart


def _number_variance(apart: Vector) -> tuple[float, Vector]:
    variance = float((apart**2).mean())
    if variance == 0:
        raise NotEstimable("a number is the same for everybody; expected one that varies.")
    return variance, apart**2 - variance
