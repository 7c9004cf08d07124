"""Small channels of sets, with corners that registered designs do not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deniable.channel import Bits, Mixture, Sets, Subset
from deniable.channel.sets import Part
from deniable.designs import Bitstrings, Design
from deniable.tallies import Tally, tally

SMALL: dict[str, Sets] = {
    "one of two": Subset(2, 1, 2, 3),
    "one of three": Subset(3, 1, 3, 5),
    "two of four": Subset(4, 2, 3, 4),
    "two of four, the answer left out": Subset(4, 2, 1, 3),
    "three of four": Subset(4, 3, 9, 10),
    "never the answer": Subset(3, 2, 0, 1),
    "always the answer": Subset(4, 2, 1, 1),
    "two bits": Bits(2, 3, 1, 4),
    "three bits": Bits(3, 2, 1, 3),
    "bits that shun the answer": Bits(3, 1, 2, 5, sized=True),
    "four bits by size": Bits(4, 3, 1, 5, sized=True),
    "the own bit always": Bits(3, 3, 1, 3),
    "no stray bits": Bits(3, 1, 0, 2, sized=True),
    "all stray bits": Bits(3, 1, 2, 2),
    "bits that tell nothing": Bits(2, 1, 1, 2),
    "sizes one and two": Mixture(3, (Part(1, 2, 3), Part(2, 4, 5)), 6),
    "every size": Mixture(
        3, (Part(0, 1, 0), Part(1, 2, 3), Part(2, 2, 4), Part(3, 1, 6)), 6
    ),
    "sizes on both sides of a half": Mixture(4, (Part(1, 3, 5), Part(3, 2, 4)), 5),
    "one size shuns the answer": Mixture(4, (Part(1, 3, 2), Part(3, 3, 3)), 6),
    "nothing or one": Mixture(2, (Part(0, 1, 0), Part(1, 1, 2)), 2),
    "nothing or all": Mixture(2, (Part(0, 1, 0), Part(2, 1, 2)), 2),
}
"""By name, so that a test that fails says what is special about the channel."""

TELLING = {name: channel for name, channel in SMALL.items() if channel.parity != 1}


def around(channel: Sets) -> Design:
    """Return a design around a channel of sets."""
    return Design("sets", channel.size, Bitstrings(channel.size), channel)  # type: ignore[arg-type]  # Design reads labels


def with_sums(design: Design, sums: Sequence[int], respondents: int) -> Tally:
    """Return a tally of sets of which each category is in as many as `sums` says, their sizes as equal as can be.

    Why: the categories in a row, each as often as it is wanted, are dealt round; no category comes twice to anybody.
    """
    dealt = [0] * respondents
    for place, category in enumerate(
        j for j, times in enumerate(sums) for _ in range(times)
    ):
        dealt[place % respondents] |= 1 << category
    return tally(design, Counter(dealt))
