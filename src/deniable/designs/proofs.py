"""Sentences about what single responses prove, for designs with infinite ε.

Where a response is impossible under some answer and not under all, whoever sees it can rule that answer out, whatever
they believed before. Such a design is told with what each response proves, and with the Bayes factors of all responses:
an infinite ε alone would hide that the other responses may still be deniable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable import exact
from deniable.errors import quoted
from deniable.rendering import formats

if TYPE_CHECKING:
    from deniable.designs.design import Design

MAX_CELLS = 1 << 16
"""Cells of a channel that are looked at one by one."""

_MAX_FACTORS = 12  # in one sentence; more are not read


def proofs(design: Design) -> tuple[str, ...]:
    """Return sentences about what each response proves; empty where every answer stays possible.

    Example:
        >>> from deniable.designs import mangat
        >>> for sentence in proofs(mangat("2/3")):
        ...     print(sentence)
        Whoever sends 'no' gives away the answer: it is 'no'.
        The odds of 'yes' are multiplied by 0 where 'no' is sent and by 3 where 'yes' is sent.
    """
    if design.parity != math.inf:
        return ()
    candidates = [_proof(design, number) for number in _responses(design)]
    return (*(proof for proof in candidates if proof), *factors(design))


def factors(design: Design) -> tuple[str, ...]:
    """Tell the Bayes factor of each response, where there are two answers and few responses.

    Factors are rounded away from 1, so that no sentence promises too much.

    Example:
        >>> from deniable.designs import singh_joarder
        >>> factors(singh_joarder("3/5"))[0]
        "The odds of 'yes' are multiplied by 1/3.75 where 'no' is sent and by 2.1 where 'yes' is sent."
    """
    if design.channel.answers != 2 or design.channel.responses > _MAX_FACTORS:
        return ()
    name = design.categories[1]
    clauses = [
        f"by {format_factor(design.bayes_factors(symbol, name)[0])} where {quoted(symbol)} is sent"
        for symbol in design.symbols
    ]
    clause_text = ", ".join(clauses[:-1]) + f" and {clauses[-1]}"
    return (f"The odds of {quoted(name)} are multiplied {clause_text}.",)


def format_factor(factor: exact.Ratio) -> str:
    """Return a Bayes factor with four digits, rounded away from 1; one below 1 as a part.

    Example:
        >>> [format_factor(factor) for factor in (Fraction(7, 3), Fraction(3, 7), Fraction(0), math.inf)]
        ['2.334', '1/2.334', '0', '∞']
    """
    if factor == 0 or factor >= 1:
        return formats.factor(factor, 4)
    return f"1/{formats.factor(1 / Fraction(factor), 4)}"


def least_certain(design: Design) -> exact.Ratio | None:
    """Return the largest ratio of a response that proves nothing; None where all do, or there are too many."""
    if design.channel.responses * design.channel.answers > MAX_CELLS:
        return None
    ratios = [
        exact.ratio(*design.channel.extremes(number))
        for number in range(design.channel.responses)
    ]
    return max((ratio for ratio in ratios if ratio != math.inf), default=None)


def _responses(design: Design) -> Iterator[int]:
    if design.channel.responses * design.channel.answers <= MAX_CELLS:
        yield from range(design.channel.responses)
    else:
        yield design.channel.witness.response


def _proof(design: Design, number: int) -> str:
    """Return the sentence about what a response proves, if it proves anything."""
    if exact.ratio(*design.channel.extremes(number)) != math.inf:
        return ""
    possible = [
        bool(design.channel.probability(number, given=j))
        for j in range(design.channel.answers)
    ]
    who = f"Whoever sends {quoted(design.symbols[number])}"
    names = [
        quoted(name)
        for name, can in zip(design.categories, possible, strict=True)
        if not can
    ]
    if possible.count(True) == 1:
        return f"{who} gives away the answer: it is {quoted(design.categories[possible.index(True)])}."
    listed = ", ".join(names[:3]) + (
        f" or {len(names) - 3:,} others" if len(names) > 3 else ""
    )
    return f"{who} cannot have answered {listed}."
