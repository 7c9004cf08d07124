from __future__ import annotations

from fractions import Fraction

import pytest

import deniable as dn
from deniable.designs import Design
from deniable.survey.catalogue import locale
from deniable.survey.tools import TOOLS, Rule, Tool, tool_for

WORDS = locale("en").words["device"]


def tool(design: Design) -> Tool:
    found = tool_for(design, WORDS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("p", "name", "rules"),
    [
        (
            "3/4",
            "two coins",
            [
                ("heads + heads", 0),
                ("heads + tails", 1),
                ("tails + heads, tails + tails", None),
            ],
        ),
        ("5/6", "a die", [("1", 0), ("2", 1), ("3 to 6", None)]),
        (
            "7/10",
            "a ten-sided die",
            [("1 to 3", 0), ("4 to 6", 1), ("7 to 10", None)],
        ),
        (
            "35/36",
            "two dice of different colours",
            [("11", 0), ("12", 1), ("13 to 66", None)],
        ),
        ("51/52", "a deck of 52 cards", [("♣2", 0), ("♣3", 1), ("♣4 to ♠A", None)]),
        (
            "63/100",
            "two ten-sided dice",
            [("00 to 36", 0), ("37 to 73", 1), ("74 to 99", None)],
        ),
    ],
)
def test_each_device_reads_as_people_would(
    p: str, name: str, rules: list[tuple[str, int | None]]
) -> None:
    found = tool(dn.warner(p=p))
    assert (found.name, [(rule.outcomes, rule.symbol) for rule in found.rules]) == (
        name,
        rules,
    )


@pytest.mark.parametrize(
    "design",
    [
        dn.k_ary(["a", "b", "c"], p="2/3"),
        dn.k_ary(["a", "b", "c", "d"], p="11/20"),
        dn.forced_response(honest="1/2", yes="1/3"),
        dn.binary("9/10", "7/10"),
        dn.warner(p="3/4"),
    ],
    ids=["die", "hundred", "forced", "binary", "coins"],
)
def test_the_rules_make_exactly_the_design(design: Design) -> None:
    found = tool(design)
    size = TOOLS[found.name]
    shares = {
        rule.symbol: Fraction(count(rule, found.name), size) for rule in found.rules
    }
    assert sum(shares.values()) == 1
    for answer in range(design.channel.answers):
        for symbol in range(design.channel.responses):
            sent = shares.get(symbol, Fraction(0)) + (
                shares[None] if symbol == answer else 0
            )
            assert sent == design.channel.probability(symbol, given=answer)


def count(rule: Rule, name: str) -> int:
    """Return how many outcomes a rule is about."""
    if " to " not in rule.outcomes:
        return len(rule.outcomes.split(", "))
    first, last = rule.outcomes.split(" to ")
    assert name in ("a die", "a ten-sided die", "two ten-sided dice")
    return int(last) - int(first) + 1


@pytest.mark.parametrize(
    "design",
    [
        dn.warner(p="1/4"),
        dn.warner(epsilon=1),
        dn.unary(3, p="3/4", q="1/4"),
        dn.crosswise("1/6"),
    ],
    ids=["inverted", "no fractions", "sets", "two questions"],
)
def test_what_no_usual_device_makes_is_left_to_the_survey_to_describe(
    design: Design,
) -> None:
    assert tool_for(design, WORDS) is None
