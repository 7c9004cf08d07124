"""Guarantees of a design in sentences and natural frequencies, for respondents.

Every number is derived from the exact channel; factors are rounded up, so that no sentence promises too much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from deniable import exact
from deniable.channel import Sets
from deniable.designs import Design, Factor
from deniable.designs.proofs import MAX_CELLS, proofs
from deniable.errors import InvalidRequest, quoted
from deniable.rendering import formats

_MAX_SENTENCES = 12  # one for each answer or response; more are not read
_MAX_ALIKE = 5  # sentences that say the same of one answer after the other


class SentAlike(NamedTuple):
    """Symbols that are sent equally often: how often, the first few of them, and how many there are."""

    probability: Fraction
    symbols: tuple[str, ...]
    size: int


def promise(design: Design) -> tuple[str, ...]:
    """Tell what a response reveals at most: the factor for any response, or a warning where there is none.

    Example:
        >>> from deniable.designs import warner
        >>> promise(warner(p="3/4"))[0]
        'Whatever is sent, the odds between any two answers change by a factor of at most 3 (ε = 1.099).'
    """
    if design.parity == math.inf:
        return warnings(design)
    if design.parity == 1:
        return (
            "Responses do not depend on answers: nothing is revealed, and nothing can be estimated.",
        )
    return (
        "Whatever is sent, the odds between any two answers change by a factor of at most "
        f"{formats.factor(design.parity)} "
        f"(ε = {formats.epsilon(design.epsilon)}).",
    )


def warnings(design: Design) -> tuple[str, ...]:
    """Tell which responses prove something about the answer; empty where every answer stays possible.

    Example:
        >>> from deniable.designs import triangular
        >>> warnings(triangular("1/4"))[2]
        "The odds of 'yes' are multiplied by 0 where 'neither' is sent and by 4 where 'at least one' is sent."
    """
    if design.parity != math.inf:
        return ()
    first = "Warning: this design has no finite ε. Some responses prove something about the answer."
    return (first, *proofs(design))


def frequencies(design: Design) -> tuple[str, ...]:
    """Tell for each answer what 100 people who hold it send.

    Example:
        >>> from deniable.designs import k_ary
        >>> frequencies(k_ary(["red", "green", "blue"], p="1/2"))[0]
        "Of 100 people whose answer is 'red', about 50 send 'red' and about 25 send each of 'green' and 'blue'."
    """
    answers = range(min(design.channel.answers, _MAX_SENTENCES))
    sets = design.channel.set_valued
    if sets is not None and sets.responses > _MAX_SENTENCES:
        return (_about_sets(design, sets),)
    if design.channel.exchangeable and design.channel.answers > _MAX_SENTENCES:
        return (_sentence(design, 0, _ALIKE),)
    if design.channel.responses * len(answers) > MAX_CELLS:
        return ()
    sentences = [_sentence(design, number) for number in answers]
    names = "|".join(
        re.escape(quoted(name))
        for name in sorted({*design.categories, *design.symbols}, key=len)
    )
    shapes = {re.sub(names, "", sentence) for sentence in sentences}
    if len(shapes) == 1 and len(sentences) > _MAX_ALIKE:
        if hasattr(design, "scale"):  # levels of a number, which have neighbours
            return (_sentence(design, 0, _NEXT_TO_IT),)
        # With three groups or more it matters who is in which: the first sentence would not say that of the others.
        if len(groups(design, 0)) <= 2:
            return (_sentence(design, 0, _ALIKE),)
    return tuple(sentences)


def odds(design: Design) -> tuple[str, ...]:
    """Tell for each response how far it can move the odds between two answers; one sentence where all are alike."""
    if design.channel.responses * design.channel.answers > MAX_CELLS:
        return ()
    ratios = [
        exact.ratio(*design.channel.extremes(number))
        for number in range(design.channel.responses)
    ]
    if (
        len({formats.factor(ratio) for ratio in ratios}) == 1
        or len(ratios) > _MAX_SENTENCES
    ):
        return ()  # rounding alone may tell them apart
    return tuple(
        f"Whoever sends {quoted(symbol)}: the odds between any two answers change by a factor of at most "
        f"{formats.factor(ratio)}."
        for symbol, ratio in zip(design.symbols, ratios, strict=True)
        if ratio != math.inf
    )


def groups(design: Design, category: int) -> list[SentAlike]:
    """Return what people with an answer send, the most frequent first."""
    if design.channel.exchangeable:
        p_own = design.channel.probability(category, given=category)
        p_other = design.channel.probability(
            (category + 1) % design.channel.responses, given=category
        )
        numbers = [
            number
            for number in range(min(design.channel.responses, _MAX_SENTENCES))
            if number != category
        ]
        labels = tuple(design.symbols[number] for number in numbers)
        pair = [
            SentAlike(p_own, (design.symbols[category],), 1),
            SentAlike(p_other, labels, design.channel.responses - 1),
        ]
        return sorted(pair, key=lambda group: -group.probability)
    symbols_by_probability: dict[Fraction, list[str]] = {}
    for number, symbol in enumerate(design.symbols):
        symbols_by_probability.setdefault(
            design.channel.probability(number, given=category), []
        ).append(symbol)
    return [
        SentAlike(
            p, tuple(symbols_by_probability[p]), len(symbols_by_probability[p])
        )
        for p in sorted(symbols_by_probability, reverse=True)
    ]


_ALIKE = ", and so for every other answer"
_NEXT_TO_IT = ", and so for every other number, with what is next to it"


def _sentence(design: Design, category: int, more: str = "") -> str:
    sets = groups(design, category)
    base = base_for(min(group.probability for group in sets if group.probability))
    parts = [
        _part(group, base, last=group is sets[-1] and len(sets) > 1)
        for group in sets
    ]
    return f"Of {base:,} people whose answer is {quoted(design.categories[category])}, {formats.listing(parts)}{more}."


def _about_sets(design: Design, channel: Sets) -> str:
    """Tell of responses that are sets how often they hold the answer, and how often any one other category."""
    base = base_for(channel.p_false)
    hits, strays = (round(rate * base) for rate in (channel.p_true, channel.p_false))
    return (
        f"Of {base:,} people whose answer is {quoted(design.categories[0])}, about {hits:,} send a set that "
        f"holds it and about {strays:,} send a set that holds any one other category{_ALIKE}."
    )


def _part(group: SentAlike, base: int, *, last: bool) -> str:
    count = group.probability * base
    about = f"{count}" if count == 0 else f"about {round(count):,}"
    verb = "sends" if round(count) == 1 else "send"
    if group.size == 1:
        symbols = quoted(group.symbols[0])
    elif group.size <= 3:
        symbols = "each of " + formats.listing(
            [quoted(symbol) for symbol in group.symbols]
        )
    else:
        symbols = f"each of {'the ' if last else ''}{group.size:,} {'others' if last else 'symbols'}"
    return (
        f"nobody sends {symbols.replace('each', 'any', 1)}"
        if count == 0
        else f"{about} {verb} {symbols}"
    )


def base_for(smallest: Fraction) -> int:
    """Return 100, or the power of ten in which the rarest response still comes from one person."""
    base = 100
    while smallest * base < 1 and base < 10**15:
        base *= 10
    return base


def attributes(design: Design) -> tuple[str, ...]:
    """Tell what is revealed about each attribute alone, about all together, and to whom.

    Raises:
        InvalidRequest: a design for one attribute.

    Example:
        >>> from deniable.designs import product, warner
        >>> for sentence in attributes(product({"smokes": warner(p="3/4"), "drinks": warner(p="2/3")}))[:2]:
        ...     print(sentence)
        About 'smokes' alone: its response changes the odds between two answers by a factor of at most 3.
        About 'drinks' alone: its response changes the odds between two answers by a factor of at most 2.
    """
    if not design.factors:
        raise InvalidRequest(
            "this design is for one attribute; expected one for several.",
            "Use promise().",
        )
    hidden = [
        factor for factor in design.factors if factor.design.parity != math.inf
    ]
    open_ones = [
        factor for factor in design.factors if factor.design.parity == math.inf
    ]
    return (
        *map(_single_response_text, design.factors),
        _joint_response_text(design, hidden, open_ones),
    )


def _single_response_text(part: Factor) -> str:
    name, parity = quoted(part.attribute), part.design.parity
    if parity == math.inf:
        return f"About {name} alone: some responses prove something about it."
    most = formats.factor(parity)
    return f"About {name} alone: its response changes the odds between two answers by a factor of at most {most}."


def _joint_response_text(
    design: Design, hidden: Sequence[Factor], open_ones: Sequence[Factor]
) -> str:
    start = (
        "This holds for whoever takes the attributes to be unrelated, even if all responses are seen. Whoever believes "
        "that they hang together can learn more about one from the responses to others"
    )
    if not open_ones:
        return (
            f"{start}: no belief gains more than a factor of "
            f"{formats.factor(design.parity)} on all of them together."
        )
    verb = "is" if len(open_ones) == 1 else "are"
    left = f"{_quote_names(open_ones)} {verb} not hidden, and neither is what is believed to follow from that."
    if not hidden:
        return f"{start}; {left}"
    parity = design.part(*(factor.attribute for factor in hidden)).parity
    gain = f"from the responses to {_quote_names(hidden)} nobody gains more than a factor of {formats.factor(parity)}"
    return f"{start}: {gain}, but {left}"


def _quote_names(parts: Sequence[Factor]) -> str:
    return formats.listing([quoted(part.attribute) for part in parts])
