"""Ladders of every family, small enough to go through."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import deniable as dn
from deniable.channel import Channel, Diagonal
from deniable.designs import Design
from deniable.order.ladders import Ladder
from deniable.order.relaxation import best_ladder, ladder, nearest_successors

E = ("3/10", 1, "17/10", "5/2")
_PAIRS = (
    ("6/10", "7/10"),
    ("7/10", "75/100"),
    ("8/10", "8/10"),
    ("99/100", "81/100"),
)
_TENTHS = ("2/10", "3/10", "4/10", "5/10")
_HIGH = ("6/10", "7/10", "8/10", "9/10")
COLOURS = ["red", "green", "blue"]


def stage(parity: int | str | Fraction) -> Design:
    """Return the stage of a question about colours that has a parity."""
    ratio = Fraction(parity)
    return dn.k_ary(COLOURS, p=ratio / (ratio + 2))


def families() -> dict[str, list[Design]]:
    """Return four stages of every family that is registered."""
    weights = (
        {1: "1/2", 2: "1/2"},
        {1: "6/10", 2: "4/10"},
        {1: "7/10", 2: "3/10"},
        {1: "8/10", 2: "2/10"},
    )
    return {
        "binary": [dn.binary(*pair) for pair in _PAIRS],
        "capped_binary": [
            dn.capped_binary("3/10", delta, 2)
            for delta in ("1/20", "1/10", "2/10", "3/10")
        ],
        "christofides": [dn.christofides(e, middle="1/5") for e in E],
        "crosswise": [dn.crosswise(p) for p in ("4/10", "3/10", "2/10", "1/10")],
        "correlated_question": [
            dn.correlated_question(p, "1/2", "1/4") for p in _TENTHS
        ],
        "devore": [dn.devore(p) for p in _TENTHS],
        "direct": [*(dn.warner(e) for e in E[:3]), dn.direct()],
        "disguised": [dn.disguised(p) for p in _HIGH],
        "exposing_binary": [dn.exposing_binary(delta) for delta in _TENTHS],
        "exposing_subset": [
            dn.exposing_subset(3, 1, delta)
            for delta in ("1/20", "1/10", "2/10", "3/10")
        ],
        "forced_choice": [
            dn.forced_choice([(1 - Fraction(p)) / 4] * 4) for p in _TENTHS
        ],
        "forced_response": [
            dn.forced_response(
                p, yes=(1 - Fraction(p)) / 3, no=(1 - Fraction(p)) * 2 / 3
            )
            for p in _TENTHS
        ],
        "hadamard": [dn.hadamard(3, epsilon=e) for e in E],
        "hard_garbling": [dn.hard_garbling(1 - Fraction(p)) for p in _TENTHS],
        "items": [dn.items({"gun": e, "liquor": "1/2"}) for e in E],
        "k_ary": [dn.k_ary(5, epsilon=e) for e in E],
        "kuk": [dn.kuk(p, 1 - Fraction(p), draws=2) for p in _HIGH],
        "local_hashing": [dn.local_hashing(3, epsilon=e, values=2) for e in E],
        "mangat": [dn.mangat(p) for p in _TENTHS],
        "mangat_singh": [dn.mangat_singh(t, "7/10") for t in _TENTHS],
        "mangat_singh_singh": [dn.mangat_singh_singh(p, "1/2") for p in _TENTHS],
        "mangat_unrelated": [dn.mangat_unrelated(t, "1/2", "1/4") for t in _TENTHS],
        "matrix": _tables(),
        "mirrored": [dn.mirrored(p) for p in _HIGH],
        "mixture": [
            dn.mixture(4, each, epsilon=e)
            for each, e in zip(weights, E, strict=True)
        ],
        "negative_survey": [
            *(dn.k_ary(3, epsilon=e, low=True) for e in E[:3]),
            dn.negative_survey(3),
        ],
        "number_sequence": [
            dn.number_sequence(p) for p in ("4/10", "3/10", "2/10", "1/10")
        ],
        "product": [
            dn.product([dn.warner(e), dn.binary(*pair)])
            for e, pair in zip(E, _PAIRS, strict=True)
        ],
        "rappor": [dn.rappor(3, epsilon=e) for e in E],
        "relaxed_subset": [
            dn.relaxed_subset(2, "1/2", delta)
            for delta in ("1/100", "2/100", "3/100", "4/100")
        ],
        "relaxed_warner": [dn.relaxed_warner(e, "1/100") for e in E],
        "rr3_club": [
            dn.rr3_club(p, p, p) for p in ("55/100", "6/10", "7/10", "9/10")
        ],
        "rr3_dagger": [
            dn.rr3_dagger(p, p) for p in ("4/10", "5/10", "6/10", "8/10")
        ],
        "rr3_ddagger": [
            dn.rr3_ddagger(p, p) for p in ("55/100", "6/10", "7/10", "9/10")
        ],
        "simmons": [dn.simmons(p=p, b="1/3") for p in _TENTHS],
        "singh_joarder": [dn.singh_joarder(p) for p in _HIGH],
        "subset": [dn.subset(5, epsilon=e, t=2) for e in E],
        "triangular": [dn.triangular(1 - Fraction(p)) for p in _TENTHS],
        "truncated_rappor": [dn.truncated_rappor(3, epsilon=e) for e in E],
        "unary": [dn.unary(3, epsilon=e, optimized=True) for e in E],
        "warner": [dn.warner(epsilon=e) for e in E],
        "window": [dn.window(3, 2, epsilon=e) for e in E],
    }


def crossings() -> dict[str, list[Design]]:
    """Return stages of different kinds: other sizes, other families, the other side."""
    first, second = dn.subset(4, t=2, p="2/3"), dn.subset(4, t=1, p="5/11")
    fine = [
        dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1),
        dn.mixture(3, {1: "6/10", 2: "4/10"}, epsilon=2),
    ]
    return {
        "the low side": [dn.k_ary(4, epsilon=e, low=True) for e in E],
        "from the low side to the high one": [
            *(dn.k_ary(3, epsilon=e, low=True) for e in E[:2]),
            *(dn.k_ary(3, epsilon=e) for e in (3, 4)),
        ],
        "both sides in turn": [
            dn.warner(p=p) for p in ("4/10", "7/10", "2/10", "9/10")
        ],
        "sets of two, one, two and one": [
            dn.subset(3, t=2, p="7/10"),
            dn.subset(3, t=1, p="4/10"),
            dn.subset(3, t=2, p="95/100"),
            dn.k_ary(3, p="98/100"),
        ],
        "sets of one, three, then one": [
            dn.subset(4, t=1, p="3/10"),
            dn.subset(4, t=3, p="95/100"),
            dn.subset(4, t=1, p="98/100"),
        ],
        "sets that avoid the answer": [
            dn.subset(3, t=1, p=p) for p in ("3/10", "1/4", "1/5", "1/10")
        ],
        "sets that avoid it, of two sizes": [
            dn.subset(4, t=1, p="1/10"),
            dn.subset(4, t=3, p="1/10"),
        ],
        "sets, then single categories": [
            dn.subset(3, t=2, p="7/10"),
            *(dn.k_ary(3, p=p) for p in ("6/10", "7/10")),
        ],
        "mixtures, then one size": [
            *fine,
            dn.subset(3, epsilon=3, t=1),
            dn.k_ary(3, epsilon=4),
        ],
        "a bridge": [
            first,
            nearest_successors(first, second)[0],
            dn.subset(4, t=1, p="3/4"),
        ],
        "one bit after another": [
            dn.unary(2, epsilon="1/2", optimized=True),
            *(dn.rappor(2, epsilon=e) for e in (1, 2)),
        ],
        "bits, then sets": [dn.rappor(3, epsilon=1), dn.subset(3, epsilon=3)],
        "the best sizes": list(best_ladder(5, [0.3, 0.7, 1.2, 2])),
    }


@cache
def small() -> dict[str, Ladder]:
    """Return all of these as ladders."""
    return {
        name: ladder(designs)
        for name, designs in {**families(), **crossings()}.items()
    }


def _tables() -> list[Design]:
    """Four matrices of four rows and three columns, each a garbling of the next."""
    rows = [
        ["7/10", "1/10", "1/10"],
        ["1/10", "7/10", "1/10"],
        ["1/10", "1/10", "3/10"],
        ["1/10", "1/10", "1/2"],
    ]
    tables = [dn.matrix(rows)]
    for keep in ("9/10", "8/10", "7/10"):
        part = Fraction(keep)
        other = (1 - part) / 4
        scale = 4 * part.denominator
        channel: Channel = (
            Diagonal(4, int((part + other) * scale), int(other * scale))
            @ tables[-1].channel
        )
        tables.append(
            dn.matrix(
                [
                    [channel.probability(i, given=x) for x in range(3)]
                    for i in range(4)
                ]
            )
        )
    return tables[::-1]
