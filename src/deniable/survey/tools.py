"""Coins, dice and cards that make a design by hand, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from deniable.channel import Channel
from deniable.designs import Design

TOOLS = {
    "two coins": 4,
    "a die": 6,
    "three coins": 8,
    "a ten-sided die": 10,
    "two dice of different colours": 36,
    "a deck of 52 cards": 52,
    "two ten-sided dice": 100,
}
"""Equally likely outcomes of what people have at hand."""

_SUITS, _RANKS = (
    "♣♦♥♠",
    ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Outcomes of the device, and what to send on them: a symbol by number, or the true answer where it is None."""

    outcomes: str
    symbol: int | None


@dataclass(frozen=True, slots=True)
class Tool:
    """A device that people have at hand, and how to read it.

    Attributes:
        name: one of `TOOLS`.
        rules: what to send on which outcomes.
    """

    name: str
    rules: tuple[Rule, ...]


def tool_for(design: Design, words: Mapping[str, Any]) -> Tool | None:
    """Return the simplest device that makes exactly this design; None where none of the usual ones does.

    A device can make it where each symbol has one probability for all answers but its own, for which it is larger by
    the share of outcomes that ask for the truth: so many outcomes force each symbol, and the others ask.

    Example:
        >>> from deniable.designs import k_ary
        >>> tool = tool_for(k_ary(["red", "green", "blue"], p="2/3"), {"range": "{first} to {last}"})
        >>> tool.name, [(rule.outcomes, rule.symbol) for rule in tool.rules]
        ('a die', [('1', 0), ('2', 1), ('3', 2), ('4 to 6', None)])
    """
    forced = (
        _forced_shares(design.channel)
        if design.symbols == design.categories
        else None
    )
    if forced is None:
        return None
    for name, size in sorted(TOOLS.items(), key=lambda rule: rule[1]):
        counts = [share * size for share in forced]
        if all(count.denominator == 1 for count in counts):
            remaining = iter(_outcomes(name, words))
            rules = [
                Rule(
                    _format_outcomes([*islice(remaining, int(count))], words), symbol
                )
                for symbol, count in enumerate(counts)
                if count
            ]
            truth = Rule(_format_outcomes([*remaining], words), None)
            return Tool(name, (*rules, truth))
    return None


def _forced_shares(channel: Channel) -> list[Fraction] | None:
    """Return how often each symbol is sent whatever is true; None where the truth is not what the rest asks for."""
    answers = range(channel.answers)
    if channel.answers > max(TOOLS.values()):
        return None
    forced = []
    for y in answers:
        other_probabilities = {
            channel.probability(y, given=x) for x in answers if x != y
        }
        if len(other_probabilities) > 1:
            return None
        forced.append(other_probabilities.pop())
    truth = 1 - sum(forced)
    fits = truth > 0 and all(
        channel.probability(y, given=y) == forced[y] + truth for y in answers
    )
    return forced if fits else None


def _format_outcomes(outcomes: Sequence[str], words: Mapping[str, Any]) -> str:
    """Write outcomes as a list where they are few or have no order to go by, else as the first and the last."""
    if len(outcomes) <= 2 or " " in outcomes[0]:
        return ", ".join(outcomes)
    return str(words["range"].format(first=outcomes[0], last=outcomes[-1]))


def _outcomes(name: str, words: Mapping[str, Any]) -> list[str]:
    """Return the outcomes of a device in an order that people can follow."""
    if name in ("two coins", "three coins"):
        coin_sides = (words["heads"], words["tails"])
        return [
            " + ".join(tosses)
            for tosses in product(coin_sides, repeat=2 if name == "two coins" else 3)
        ]
    if name == "two dice of different colours":
        return [
            f"{first}{second}" for first, second in product(range(1, 7), repeat=2)
        ]
    if name == "a deck of 52 cards":
        return [f"{suit}{rank}" for suit, rank in product(_SUITS, _RANKS)]
    if name == "two ten-sided dice":
        return [f"{number:02}" for number in range(100)]
    return [str(number) for number in range(1, TOOLS[name] + 1)]
