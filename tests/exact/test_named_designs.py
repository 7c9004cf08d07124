"""The channel of each named design equals its definition: its device is walked card by card, in rationals.

A walk is written as its inventor describes it, from cards, statements and questions; no formula of the design is used.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

import deniable as dn
from deniable import exact
from deniable.designs import FAMILIES, Design
from deniable.errors import InvalidDesign
from tests.support.rational import table

Path = Iterator[tuple[Fraction, int]]
"""Ways through a device: how probable each is, and the number of the response at its end."""


def cards(**shares: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Draw one card of a deck with these shares; what is left has the card "rest"."""
    yield from shares.items()
    yield "rest", 1 - sum(shares.values())


def says_whether(member: bool, statement: str) -> int:
    return int(member == (statement == "member"))


def warner(member: bool, p: Fraction) -> Path:
    for card, chance in cards(member=p):
        yield (
            chance,
            says_whether(member, "member" if card == "member" else "not a member"),
        )


def simmons(member: bool, p: Fraction, b: Fraction) -> Path:
    for (card, chance), (trait, share) in product(cards(sensitive=p), cards(yes=b)):
        yield (
            chance * share,
            int(member) if card == "sensitive" else int(trait == "yes"),
        )


def correlated_question(
    member: bool, p: Fraction, b_yes: Fraction, b_no: Fraction
) -> Path:
    yield from simmons(member, p, b_yes if member else b_no)


def forced_response(member: bool, honest: Fraction, yes: Fraction) -> Path:
    for side, chance in cards(honest=honest, yes=yes):
        yield chance, int(member) if side == "honest" else int(side == "yes")


def mangat(member: bool, p: Fraction) -> Path:
    if member:
        yield Fraction(1), 1
    else:
        yield from warner(member, p)


def mangat_singh(member: bool, t: Fraction, p: Fraction) -> Path:
    for card, chance in cards(truth=t):
        for second, said in (
            [(Fraction(1), int(member))] if card == "truth" else warner(member, p)
        ):
            yield chance * second, said


def mangat_unrelated(member: bool, t: Fraction, p: Fraction, b: Fraction) -> Path:
    for card, chance in cards(truth=t):
        for second, said in (
            [(Fraction(1), int(member))]
            if card == "truth"
            else simmons(member, p, b)
        ):
            yield chance * second, said


def mangat_singh_singh(member: bool, p: Fraction, b: Fraction) -> Path:
    if member:
        yield Fraction(1), 1
        return
    for (card, chance), (trait, share) in product(cards(no=p), cards(yes=b)):
        yield chance * share, 0 if card == "no" else int(trait == "yes")


def devore(member: bool, p: Fraction) -> Path:
    for card, chance in cards(sensitive=p):
        yield chance, int(member) if card == "sensitive" else 1


def singh_joarder(member: bool, p: Fraction) -> Path:
    for (first, one), (second, two) in product(cards(member=p), repeat=2):
        said = says_whether(member, first)
        if member and not said:
            said = says_whether(member, second)
        yield one * two, said


def crosswise(member: bool, p: Fraction) -> Path:
    for harmless, share in cards(yes=p):
        yield share, int(member == (harmless == "yes"))


def number_sequence(member: bool, p: Fraction) -> Path:
    for place in range(p.denominator):
        yield Fraction(1, p.denominator), int(member == (place < p.numerator))


def triangular(member: bool, p: Fraction) -> Path:
    for harmless, share in cards(yes=p):
        yield share, int(member or harmless == "yes")


def hard_garbling(member: bool, p: Fraction) -> Path:
    for card, chance in cards(turned=p):
        yield chance, 1 if card == "turned" else int(member)


def disguised(member: bool, p: Fraction) -> Path:
    for card, share in cards(red=p if member else 1 - p):
        yield share, int(card == "red")


def kuk(member: bool, p1: Fraction, p2: Fraction, draws: int = 1) -> Path:
    for hand in product(cards(red=p1 if member else p2), repeat=draws):
        yield (
            math.prod(share for _, share in hand),
            sum(card == "red" for card, _ in hand),
        )


def christofides(member: bool, cards: list[Fraction]) -> Path:
    for number, share in enumerate(cards, 1):
        yield share, (len(cards) + 1 - number if member else number) - 1


WALKS: dict[str, Callable[..., Path]] = {
    walk.__name__: walk
    for walk in (
        warner,
        simmons,
        correlated_question,
        forced_response,
        mangat,
        mangat_singh,
        mangat_unrelated,
        mangat_singh_singh,
        devore,
        singh_joarder,
        crosswise,
        number_sequence,
        triangular,
        hard_garbling,
        disguised,
        kuk,
        christofides,
    )
} | {"mirrored": warner}

PARAMETERS = {
    "p": [Fraction(1, 4), Fraction(7, 10)],
    "t": [Fraction(0), Fraction(2, 5)],
    "b": [Fraction(1, 2), Fraction(1, 12)],
    "b_yes": [Fraction(1, 2), Fraction(2, 3)],
    "b_no": [Fraction(1, 5), Fraction(9, 10)],
    "p1": [Fraction(4, 5), Fraction(1)],
    "p2": [Fraction(3, 10), Fraction(1, 6)],
    "draws": [1, 3],
    "honest": [Fraction(2, 3), Fraction(1, 2)],
    "yes": [Fraction(1, 6), Fraction(0)],
    "cards": [
        [Fraction(k, 10) for k in each]
        for each in ((1, 2, 3, 2, 2), (6, 2, 2), (3, 7))
    ],
}


def cases() -> list[tuple[str, dict[str, object]]]:
    found = []
    for name, walk in WALKS.items():
        names = [
            each for each in inspect.signature(walk).parameters if each != "member"
        ]
        for values in product(*(PARAMETERS[each] for each in names)):
            found.append((name, dict(zip(names, values, strict=True))))
    return found


def walked(
    walk: Callable[..., Path], responses: int, **parameters: object
) -> tuple[tuple[Fraction, ...], ...]:
    rows = [[Fraction(0), Fraction(0)] for _ in range(responses)]
    for member in (False, True):
        for chance, said in walk(member, **parameters):
            rows[said][member] += chance
    return tuple(map(tuple, rows))


def test_there_are_at_least_sixteen() -> None:
    assert len(WALKS) >= 16
    assert set(WALKS) <= set(FAMILIES)


@pytest.mark.parametrize(("name", "parameters"), cases(), ids=str)
def test_the_channel_is_that_of_the_device(
    name: str, parameters: dict[str, object]
) -> None:
    design = FAMILIES[name].build(**parameters)
    assert table(design.channel) == walked(
        WALKS[name], len(design.symbols), **parameters
    )


P, T, B = Fraction(7, 10), Fraction(2, 5), Fraction(3, 10)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (dn.mangat_singh(T, P), dn.warner(p=T + (1 - T) * P)),
        (dn.simmons(p=P, b=B), dn.forced_response(P, (1 - P) * B)),
        (dn.mangat_unrelated(T, P, B), dn.simmons(p=T + (1 - T) * P, b=B)),
        (dn.devore(P), dn.mangat(P)),
        (dn.devore(P), dn.simmons(p=P, b=1)),
        (dn.devore(P), dn.triangular(1 - P)),
        (dn.devore(P), dn.hard_garbling(1 - P)),
        (dn.mangat_singh_singh(P, B), dn.mangat(1 - (1 - P) * B)),
        (dn.disguised(P), dn.mirrored(P)),
        (dn.disguised(P), dn.warner(p=P)),
        (dn.disguised(P), dn.forced_response(2 * P - 1, 1 - P)),
        (dn.disguised(P), dn.kuk(P, 1 - P)),
        (dn.crosswise(P), dn.number_sequence(P)),
        (dn.crosswise(P), dn.warner(p=P)),
        (dn.correlated_question(P, B, B), dn.simmons(p=P, b=B)),
        (dn.forced_choice([B, T]), dn.forced_response(1 - B - T, T, B)),
        (dn.negative_survey(4), dn.k_ary(4, p=0)),
    ],
    ids=lambda design: design.name,
)
def test_equal_channels_are_equal(one: Design, two: Design) -> None:
    assert table(one.channel) == table(two.channel)


@pytest.mark.parametrize("forced", [(1, 2, 3), (1, 0, 4, 2)], ids=str)
def test_a_forced_choice_is_that_of_its_device(forced: tuple[int, ...]) -> None:
    shares = [Fraction(each, 10) for each in forced]
    rows = [[Fraction(0)] * len(shares) for _ in shares]
    for truth in range(len(shares)):
        for said, share in enumerate(shares):
            rows[said][truth] += share
        rows[truth][truth] += 1 - sum(shares)
    assert table(dn.forced_choice(shares).channel) == tuple(map(tuple, rows))


def test_in_a_negative_survey_every_other_category_is_sent_alike() -> None:
    rows = table(dn.negative_survey(["red", "green", "blue"]).channel)
    assert rows == tuple(
        tuple(Fraction(i != j, 2) for j in range(3)) for i in range(3)
    )


def test_every_draw_of_kuk_reveals_as_much_again() -> None:
    for draws in range(1, 6):
        assert (
            dn.kuk("4/5", "3/10", draws=draws).parity
            == dn.kuk("4/5", "3/10").parity ** draws
        )


ONE_SIDED = [
    dn.mangat(P),
    dn.devore(P),
    dn.triangular(B),
    dn.hard_garbling(B),
    dn.mangat_singh_singh(P, B),
]


@pytest.mark.parametrize("design", ONE_SIDED, ids=lambda design: design.name)
def test_a_no_of_a_one_sided_design_is_proof_and_a_yes_is_not(
    design: Design,
) -> None:
    others = design.channel.probability(1, given=0)
    assert design.epsilon == math.inf
    assert [design.bayes_factors(symbol, "yes")[0] for symbol in design.symbols] == [
        0,
        1 / others,
    ]


@pytest.mark.parametrize(
    "build",
    [
        lambda: dn.mangat(0),
        lambda: dn.mangat(1),
        lambda: dn.devore(1),
        lambda: dn.triangular(0),
        lambda: dn.triangular(1),
        lambda: dn.hard_garbling(0),
        lambda: dn.mangat_singh_singh(1, "1/2"),
        lambda: dn.mirrored("1/2"),
        lambda: dn.disguised(1),
        lambda: dn.mangat_singh("1/4", "1/3"),
        lambda: dn.mangat_unrelated(1, "1/2", "1/2"),
        lambda: dn.correlated_question(0, "1/2", "1/2"),
        lambda: dn.correlated_question("1/2", 1, 0),
        lambda: dn.singh_joarder(0),
        lambda: dn.kuk("1/3", "1/3", draws=4),
        lambda: dn.kuk(1, 0, draws=4),
        lambda: dn.kuk("1/2", "1/3", draws=0),
        lambda: dn.kuk("1/2", "1/3", draws=101),
        lambda: dn.forced_choice(["1/2", "1/2"]),
        lambda: dn.forced_choice([0, 0]),
        lambda: dn.forced_choice(["1/2"]),
        lambda: dn.forced_choice("123"),
        lambda: dn.negative_survey(2),
        lambda: dn.triangular("1/4", categories=["a", "b", "c"]),
    ],
)
def test_what_tells_nothing_or_everything_is_refused(
    build: Callable[[], Design],
) -> None:
    with pytest.raises(InvalidDesign):
        build()


def test_epsilons_are_those_of_the_sheet() -> None:
    """Section A2, to its last digit."""
    for design, epsilon in [
        (dn.crosswise("1/6"), 1.6094),
        (dn.forced_response("3/4", "1/6", "1/12"), 2.3026),
        (dn.simmons(p="1/2", b="1/12"), 2.5649),
        (dn.mangat_unrelated("3/10", "3/5", "1/2"), 1.8153),
        (dn.mangat_singh("3/10", "7/10"), 1.3249),
        (dn.singh_joarder("3/5"), 1.3218),
        (dn.kuk("4/5", "1/5", draws=2), 2.7726),
        (dn.christofides(cards=["3/5", "1/5", "1/5"]), 1.0986),
    ]:
        assert design.epsilon == pytest.approx(epsilon, abs=5e-5)
        assert exact.log_above(design.parity) == design.epsilon
