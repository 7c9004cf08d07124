"""Designs that coins, dice and cards can do by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.designs import Design, k_ary, warner
from deniable.errors import InvalidRequest
from deniable.survey.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Device:
    """A design with a device that people can hold.

    Attributes:
        name: what is thrown or drawn.
        outcomes: how many equally likely outcomes it has.
        forced: how many of them force each category.
        design: the design it makes.
        instructions: what to tell the respondent.
    """

    name: str
    outcomes: int
    forced: int
    design: Design
    instructions: str


def best_device(categories: Sequence[str], parity: exact.Ratio) -> Device:
    """Return the device whose design reveals the most among those that stay within a parity.

    Each category is forced by the same number of outcomes, and all other outcomes ask for the truth: with N outcomes of
    which f force each of k categories the parity is (N − (k − 1)·f) / f.

    Raises:
        InvalidRequest: no device is fine enough.

    Example:
        >>> best_device(["no", "yes"], Fraction(3)).name
        'two coins'
    """
    size = len(categories)
    fitting: list[tuple[Fraction, int, str, int]] = []
    for name, outcomes in TOOLS.items():
        for forced in range(1, outcomes // size + 1):
            reached = Fraction(outcomes - (size - 1) * forced, forced)
            if 1 < reached <= parity:
                fitting.append((reached, -outcomes, name, forced))
    if not fitting:
        raise InvalidRequest(
            f"no coins, dice or cards hide {size} categories with a factor of at most {float(parity):.3g}.",
            "Ask for fewer categories, allow a larger ε, or let a machine draw.",
        )
    _, outcomes, name, forced = max(fitting)
    return _device(categories, name, -outcomes, forced)


def _device(categories: Sequence[str], name: str, outcomes: int, forced: int) -> Device:
    size = len(categories)
    p = Fraction(outcomes - (size - 1) * forced, outcomes)
    design = warner(p=p, categories=categories) if size == 2 else k_ary(categories, p=p)
    set_aside = "1 outcome" if forced == 1 else f"{forced} outcomes"
    instructions = (
        f"Take {name} ({outcomes} equally likely outcomes) and let nobody see the outcome. Set {set_aside} aside for "
        f"each of the {size} categories: on one of these send that category, whatever is true. On the other "
        f"{outcomes - size * forced} send the truth."
    )
    return Device(name, outcomes, forced, design, instructions)
