"""Designs side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, require
from deniable.plan.planned import PlanTable, plan_sheet
from deniable.plan.precision import Population, variance
from deniable.rendering import Sheet
from deniable.types import find_operation, operation
from deniable.types.categories.plan import ComparedPrivacy, Shares


@dataclass(frozen=True, slots=True)
class ComparedDesign:
    """One design in a comparison.

    Attributes:
        name: what it is called.
        epsilon: its ε against somebody who sees one response.
        epsilon_collector: its ε against a collector who sees all responses and knows all other answers; the same but
            for a deck that is dealt.
        variance: of the unbiased estimate.
        ratio: of its variance to the smallest one in the comparison.
        note: what its guarantee rests on; mostly empty.
    """

    name: str
    epsilon: float
    epsilon_collector: float
    variance: float
    ratio: float
    note: str = ""

    @property
    def error(self) -> float:
        """The standard error; for several categories the root of the total variance."""
        return math.sqrt(max(self.variance, 0.0))


@dataclass(frozen=True, slots=True)
class Comparison(PlanTable):
    """Designs side by side, the smallest variance first. Print it, or read its lines."""

    n: int
    lines: tuple[ComparedDesign, ...]

    @property
    def best(self) -> ComparedDesign:
        """The design with the smallest variance."""
        return self.lines[0]

    def _sheet(self) -> Sheet:
        heads = (
            "design",
            "ε, one response",
            "ε, all others known",
            "variance",
            "error",
            "ratio",
        )
        names = ("name", "epsilon", "epsilon_collector", *heads[3:])
        rows = [attrgetter(*names)(line) for line in self]
        notes = tuple(f"{line.name}: {line.note}" for line in self if line.note)
        title = f"{self.n:,} respondents"
        return plan_sheet(title, heads, ("design", *names[1:]), rows, notes)

    def __iter__(self) -> Iterator[ComparedDesign]:
        return iter(self.lines)


def compare(
    designs: Mapping[str, AnyDesign] | Sequence[AnyDesign],
    n: int,
    *,
    shares: Shares | None = None,
    category: str | None = None,
    population: Population = None,
) -> Comparison:
    """Return the variances of several designs with n respondents, the smallest first.

    Compare designs of the same ε, and look at both: a deck that is dealt can have a smaller variance than any design
    because its ε holds only against somebody who sees a single response.

    Args:
        designs: the designs, or names for them.
        n: how many will respond.
        shares: the true shares; for each design its own worst ones, if they are not given.
        category: whose share is meant; see `variance`.
        population: how many people there are altogether; "census" if all of them are asked.

    Raises:
        InvalidRequest: nothing to compare.

    Example:
        >>> from deniable.designs import integer_deck, warner
        >>> compared = compare([warner(0.5), integer_deck(100, 0.5)], 100, shares=[0.9, 0.1], population="census")
        >>> compared.best.name, compared.best.epsilon_collector
        ('deck (38, 0, 62)', inf)
    """
    designs_by_name = _read_designs(designs)
    values = {
        name: variance(
            design, n, shares=shares, category=category, population=population
        )
        for name, design in designs_by_name.items()
    }
    lines = _compare_variances(designs_by_name, values)
    return Comparison(n, tuple(sorted(lines, key=lambda line: line.variance)))


def _compare_variances(
    designs_by_name: Mapping[str, AnyDesign], values: Mapping[str, float]
) -> list[ComparedDesign]:
    smallest = min(values.values())
    return [
        _compared_design(name, design, values[name], smallest)
        for name, design in designs_by_name.items()
    ]


def _compared_design(
    name: str, design: AnyDesign, value: float, smallest: float
) -> ComparedDesign:
    _, epsilon, epsilon_collector, note = _privacy(design)
    ratio = _variance_ratio(value, smallest)
    return ComparedDesign(name, epsilon, epsilon_collector, value, ratio, note)


def _read_designs(
    designs: Mapping[str, AnyDesign] | Sequence[AnyDesign],
) -> Mapping[str, AnyDesign]:
    """Read designs by name, and give names to those without."""
    expected = ("what is compared", "designs, or designs by name")
    require(isinstance(designs, Mapping | Sequence), designs, *expected)
    for design in designs.values() if isinstance(designs, Mapping) else designs:
        is_comparable = find_operation(design, "compared_privacy") is not None
        require(is_comparable, design, *expected)
    if not designs:
        raise InvalidRequest(
            "there are no designs to compare; expected at least one."
        )
    return designs if isinstance(designs, Mapping) else _name_designs(designs)


def _variance_ratio(value: float, smallest: float) -> float:
    if smallest > 0:
        return value / smallest
    return math.inf if value > 0 else 1.0


def _name_designs(designs: Sequence[AnyDesign]) -> dict[str, AnyDesign]:
    designs_by_name: dict[str, AnyDesign] = {}
    numbers: Counter[str] = Counter()
    for design in designs:
        name = _privacy(design).name
        numbers[name] += 1
        number = numbers[name]
        designs_by_name[f"{name} #{number}" if number > 1 else name] = design
    return designs_by_name


def _privacy(design: AnyDesign) -> ComparedPrivacy:
    privacy: ComparedPrivacy = operation(design, "compared_privacy")(design)
    return privacy
