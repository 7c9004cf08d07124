"""Step 4: counts → the shares of every attribute, with what they have to do with each other."""

from __future__ import annotations

import json
import math
import warnings as python_warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from deniable import documents, exact
from deniable.errors import ImplausibleResponses, InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.cross_tables import CrossTable, cross_table
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.plausible import IMPLAUSIBLE
from deniable.estimates.results import Caution, Result, Summary
from deniable.estimates.shares import Contrast, Estimate, ShareRow, fitted
from deniable.records.drawn.designs import NAMED, DrawnDesign
from deniable.records.drawn.tallies import DrawnTally

__all__ = ["DrawnEstimate", "estimate"]


@dataclass(frozen=True, eq=False)
class DrawnEstimate(Result):
    """The shares of every attribute, each from those who were asked about it.

    Numbers are called "attribute: category". Given how many were asked about each, estimates of attributes that are
    never drawn together are independent; others move together as far as they come from the same people.

    Attributes:
        tally: the counts it was made from.
        method: "inversion" or "likelihood".
        parts: the estimate of each attribute, with all its intervals.
    """

    type: ClassVar = "drawn-items"

    tally: DrawnTally
    method: str
    parts: Mapping[str, Estimate] = field(repr=False)

    @property
    def design(self) -> DrawnDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted, to all attributes."""
        return self.tally.respondents

    @property
    def params(self) -> dict[str, float]:
        return self._named({name: part.params for name, part in self.parts.items()})

    @property
    def bse(self) -> dict[str, float]:
        return self._named({name: part.bse for name, part in self.parts.items()})

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of all shares: a block for each attribute, and between them what is shared.

        Why: what a response adds to the estimate of an attribute is right on average for every answer, and the devices
        of two attributes draw independently. So of n₁ and n₂ people, of whom n₁₂ are the same, the estimates have the
        covariance n₁₂ / (n₁ n₂) · (π₁₂ − π₁ π₂′), that of the two answers; 0 where nobody is asked both.
        """
        spans, names = self._spans, list(self.parts)
        found = np.zeros((len(self.params), len(self.params)))
        for at, one in enumerate(names):
            found[spans[one], spans[one]] = self.parts[one].cov_params()
            for two in names[at + 1 :] if self.design.each > 1 else ():
                found[spans[one], spans[two]] = between = self._between(one, two)
                found[spans[two], spans[one]] = between.T
        return found

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each share, by any method of `Estimate.conf_int`.

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        level = self._level(level, simultaneous=simultaneous)
        return self._named(
            {
                name: part.conf_int(level=level, method=method, simultaneous=simultaneous)
                for name, part in self.parts.items()
            }
        )

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of shares, such as {"smokes: yes": 1, "drinks: yes": -1}, with its error.

        Raises:
            InvalidRequest: a share that was not estimated, or a weight that is no finite number.
        """
        names = list(self.params)
        combination = np.zeros(len(names))
        for name, weight in weights.items():
            if name not in self.params or not isinstance(weight, Real) or not math.isfinite(weight):
                raise InvalidRequest(
                    f"the weight of {name!r:.40} does not fit; expected finite numbers by name, such as {names[-1]!r}."
                )
            combination[names.index(name)] = weight
        value = float(combination @ np.array(list(self.params.values())))
        return Contrast(dict(weights), value, math.sqrt(self._variance(combination)))

    def cross_table(self, rows: str, columns: str) -> CrossTable:
        """Return two attributes against each other, from those who were asked about both.

        Raises:
            InvalidRequest: nobody is asked about two; or an attribute that the design does not have.
            NotEstimable: too few people were.
        """
        return cross_table(fitted(self.tally.of(rows, columns), method=self.method))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return tuple(
            Caution(doubt.code, f"{name}{NAMED}{doubt.text}")
            for name, part in self.parts.items()
            for doubt in part.warnings
        )

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[ShareRow]:
        """Return a table of all shares; what a direct question would have had is for as many as were asked."""
        each = self._level(level, simultaneous=simultaneous)
        told = {
            name: part.summary(level=each, method=method, simultaneous=simultaneous)
            for name, part in self.parts.items()
        }
        rows = [replace(row, name=f"{name}{NAMED}{row.name}") for name, part in told.items() for row in part.rows]
        asked = ", ".join(f"{part.respondents:,} about {name!r}" for name, part in self.parts.items())
        design, known = self.design, list(told.values())
        notes = [f"Asked were {asked}; {design.each} drawn for each respondent."]
        if design.each == 1:
            notes.append("Nobody was asked about two, so that nothing is known about how they hang together.")
        if simultaneous:
            notes.append("The intervals hold all together with this level.")
        return replace(
            known[0],
            title=f"{len(self.parts)} items, {design.each} drawn for each, ε = "
            f"{exact.shown_above(design.epsilon, 4)}, {self.respondents:,} respondents, by {self.method}",
            rows=tuple(rows),
            notes=tuple(notes),
            warnings=self.warnings,
            level=level,
            interval=", ".join(dict.fromkeys(part.interval for part in known)),
            respondents=self.respondents,
            missing=self.tally.missing,
            epsilon=design.epsilon,
        )

    def _level(self, level: float, *, simultaneous: bool) -> float:
        return one_of(len(self.parts) if simultaneous else 1, level)

    def _named(self, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        return {f"{name}{NAMED}{category}": each for name, part in parts.items() for category, each in part.items()}

    @cached_property
    def _spans(self) -> dict[str, slice]:
        ends = np.cumsum([0, *(len(part.value) for part in self.parts.values())]).tolist()
        return {name: slice(*ends[at : at + 2]) for at, name in enumerate(self.parts)}

    def _between(self, one: str, two: str) -> Matrix:
        """Return the covariance between the shares of two attributes."""
        first, second, both = self.parts[one], self.parts[two], self.tally.of(one, two)
        n = both.respondents
        if n < 2:  # so few cannot say; what they share is next to nothing
            return np.zeros((len(first.value), len(second.value)))
        joint = fitted(both).value.reshape(len(first.value), len(second.value))
        answers = joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return np.asarray(answers * (n / (first.respondents * second.respondents)), np.float64)

    def _variance(self, combination: Vector) -> float:
        """Return the variance of a weighted sum, never a negative one."""
        own = sum(part.basis.variance(combination[self._spans[name]]) for name, part in self.parts.items())
        if self.design.each == 1:
            return float(own)
        blocks = self.cov_params()
        for span in self._spans.values():
            blocks[span, span] = 0.0
        return max(float(own + combination @ blocks @ combination), 0.0)

    @property
    def _design_hash(self) -> str:
        return self.design.hash

    def _source(self) -> dict[str, Any]:
        return {"tally": json.loads(self.tally.to_json()), "method": self.method}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: DrawnDesign) -> DrawnEstimate:
        counted = DrawnTally.from_json(json.dumps(documents.field(source, "tally", dict)), design)
        return _fitted(counted, documents.field(source, "method", str))


def estimate(tally: DrawnTally, *, method: str = "inversion") -> DrawnEstimate:
    """Estimate the shares of every attribute, each from those who were asked about it.

    Args:
        tally: the counts.
        method: "inversion" for the linear unbiased estimate, "likelihood" for the most likely shares in the simplex.

    Raises:
        NotEstimable: fewer than two people were asked about some attribute.
        InvalidRequest: a method that does not exist or does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.records.drawn.designs import drawn_items
        >>> asked = drawn_items({"smokes": warner(p="3/4"), "drinks": warner(p="3/4")})
        >>> found = estimate(DrawnTally(asked, [60, 40, 50, 50]))
        >>> round(found.params["smokes: yes"], 3), round(found.contrast({"smokes: yes": 1, "drinks: yes": -1}).value, 3)
        (0.3, -0.2)
    """
    made = _fitted(tally, method)
    for doubt in chain.from_iterable(part.warnings for part in made.parts.values()):
        if doubt.code == IMPLAUSIBLE:
            python_warnings.warn(doubt.text, ImplausibleResponses, stacklevel=2)
    return made


def _fitted(tally: DrawnTally, method: str) -> DrawnEstimate:
    if method not in ("inversion", "likelihood"):
        raise InvalidRequest(f"the method is {method!r:.40}; expected inversion or likelihood.")
    seen = {attribute: tally.of(attribute) for attribute in tally.design.attributes}
    for attribute, counted in seen.items():
        if counted.respondents < 2:
            raise NotEstimable(
                f"{counted.respondents} people were asked about {attribute!r}; expected at least 2, to say how sure an "
                "estimate is.",
                "Estimate those that more were asked about: estimate(tally.of('…')).",
            )
    return DrawnEstimate(tally, method, {name: fitted(counted, method=method) for name, counted in seen.items()})
