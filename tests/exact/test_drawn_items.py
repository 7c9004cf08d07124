"""One of several attributes, drawn at random: ε, bytes, unbiasedness and covariances, exactly and by enumeration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.chance import ScriptedSource
from deniable.channel.product import mixed_radix_digits

THREE = {
    "smokes": dn.warner(p="3/4"),
    "age": dn.k_ary(["young", "middle", "old"], p="3/5"),
    "likes": dn.unary(["tea", "milk"], p="2/3", q="1/4"),
}
DESIGNS = [
    dn.drawn_items(
        {"smokes": dn.warner(p="3/4"), "drinks": dn.binary("9/10", "7/10")}
    ),
    dn.drawn_items(THREE),
    dn.drawn_items(THREE, each=2),
]
every_design = pytest.mark.parametrize(
    "design", DESIGNS, ids=lambda design: f"{len(design.factors)}, {design.each}"
)


def combined(design: dn.DrawnDesign) -> list[dict[str, str]]:
    """Every combination of answers."""
    answers = product(*(part.categories for _, part in design.factors))
    return [dict(zip(design.attributes, each, strict=True)) for each in answers]


def probabilities(
    design: dn.DrawnDesign, answer: Mapping[str, str]
) -> list[Fraction]:
    """The probability of every response, written down from what the design says it does."""
    found = []
    for drawn in combinations(design.factors, design.each):
        parts = [
            [part.probability(symbol, given=answer[name]) for symbol in part.symbols]
            for name, part in drawn
        ]
        found += [math.prod(each, start=Fraction(1)) for each in product(*parts)]
    return [each / math.comb(len(design.factors), design.each) for each in found]


@every_design
def test_epsilon_is_what_the_responses_reveal(design: dn.DrawnDesign) -> None:
    columns = [probabilities(design, answer) for answer in combined(design)]
    assert all(sum(column) == 1 for column in columns)
    ratios = [max(row) / min(row) for row in zip(*columns, strict=True)]
    assert design.parity == max(ratios)
    assert design.epsilon >= math.log(design.parity)
    parities = sorted((part.parity for _, part in design.factors), reverse=True)
    assert design.parity == math.prod(parities[: design.each])


@every_design
def test_responses_are_numbered_and_written_one_to_one(
    design: dn.DrawnDesign,
) -> None:
    written = [design.symbol(number) for number in range(design.responses)]
    assert len(set(written)) == design.responses
    assert [design.response_number(each) for each in written] == list(
        range(design.responses)
    )


@every_design
def test_every_stretch_of_bytes_falls_to_the_response_that_it_should(
    design: dn.DrawnDesign,
) -> None:
    """The first word says the hand, the next what is sent: counted over a grid of words that the weights divide."""
    for answer in combined(design)[:3]:
        for number, hand in enumerate(design.hands):
            step = 2**64 // len(design.hands)
            word = (number * step + step // 2).to_bytes(8, "little")
            rest = np.random.default_rng(5).bytes(8 * 64)
            source, again = ScriptedSource(word + rest), ScriptedSource(rest)
            sent = dn.respond(design, answer, source=source)
            expected = [
                dn.respond(part, answer[name], source=again).symbol
                for name, part in hand.factors
            ]
            assert sent.symbol == " · ".join(
                f"{n}: {s}" for n, s in zip(hand.attributes, expected, strict=True)
            )
            assert source.used == again.used + 8


@every_design
@pytest.mark.parametrize("fast", [False, None], ids=["NumPy", "default"])
def test_bytes_in_bulk_are_hands_first_then_attribute_by_attribute(
    design: dn.DrawnDesign, fast: bool | None
) -> None:
    answers = combined(design) * 5
    script = np.random.default_rng(11).bytes(8 * 40 * len(answers))
    bulk = ScriptedSource(script)
    sent = dn.respond_all(design, answers, source=bulk, fast=fast)
    one = ScriptedSource(script)
    hands = [design.draw_hand(one) for _ in answers]
    told: list[dict[str, str]] = [{} for _ in answers]
    for name, part in design.factors:
        for row, (hand, answer) in enumerate(zip(hands, answers, strict=True)):
            if name in hand.attributes:
                told[row][name] = dn.respond(part, answer[name], source=one).symbol
    assert list(sent) == [
        " · ".join(f"{name}: {symbol}" for name, symbol in row.items())
        for row in told
    ]
    assert bulk.used == one.used
    single = dn.respond_all(
        design, answers[:1], source=ScriptedSource(script), fast=fast
    )
    assert list(single) == [
        dn.respond(design, answers[0], source=ScriptedSource(script)).symbol
    ]


def test_a_function_is_asked_about_what_was_drawn_alone() -> None:
    design, asked = DESIGNS[2], []

    def answer(attribute: str) -> str:
        asked.append(attribute)
        return str(design.part(attribute).categories[0])

    sent = dn.respond(design, answer).symbol
    assert asked == [piece.partition(": ")[0] for piece in sent.split(" · ")]
    assert len(asked) == 2


@every_design
def test_whoever_leaves_one_out_is_missing_whichever_is_drawn(
    design: dn.DrawnDesign,
) -> None:
    whole = combined(design)[0]
    for name in design.attributes:
        sent = dn.respond_all(design, [whole | {name: None}] * 50)
        assert dn.tally(sent).missing == 50
    columns = {name: [whole[name]] * 4 for name in design.attributes}
    assert dn.tally(dn.respond_all(design, columns)).respondents == 4


def worlds(
    design: dn.DrawnDesign, truth: Mapping[tuple[str, ...], Fraction], people: int
) -> Any:
    """Every tally of so many independent people, with its exact chance."""
    each = [Fraction(0)] * design.responses
    for answers, share in truth.items():
        own = probabilities(
            design, dict(zip(design.attributes, answers, strict=True))
        )
        each = [sum_ + share * one for sum_, one in zip(each, own, strict=True)]
    for sent in product(range(design.responses), repeat=people):
        chance = math.prod((each[number] for number in sent), start=Fraction(1))
        if chance:
            yield chance, np.bincount(sent, minlength=design.responses)


TRUTH = {
    ("no", "no"): Fraction(1, 2),
    ("no", "yes"): Fraction(1, 5),
    ("yes", "yes"): Fraction(3, 10),
}


def test_given_who_was_asked_shares_are_unbiased_and_covariances_too() -> None:
    """Every world of four people, two of whom are asked about each attribute."""
    design = DESIGNS[0]
    total, mean, second, claimed = (
        Fraction(0),
        np.zeros(4),
        np.zeros((4, 4)),
        np.zeros((4, 4)),
    )
    for chance, counts in worlds(design, TRUTH, 4):
        if counts[:2].sum() != 2:
            continue
        found = dn.estimate(dn.DrawnTally(design, counts))
        value = np.array(list(found.params.values()))
        total += chance
        mean += float(chance) * value
        second += float(chance) * np.outer(value, value)
        claimed += float(chance) * found.cov_params()
    mean, second, claimed = (each / float(total) for each in (mean, second, claimed))
    np.testing.assert_allclose(mean, [0.7, 0.3, 0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(second - np.outer(mean, mean), claimed, atol=1e-12)


def test_attributes_drawn_together_move_together_as_the_answers_do() -> None:
    """Three attributes, two for each: covariances between them against those of many simulated surveys."""
    design = dn.drawn_items({name: dn.warner(p="4/5") for name in "abc"}, each=2)
    # all three say much the same
    shares = np.array([0.4, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.3])
    answers = [
        dict(
            zip(
                "abc",
                ("yes" if bit else "no" for bit in mixed_radix_digits(j, [2, 2, 2])),
                strict=True,
            )
        )
        for j in range(8)
    ]
    chances = np.array(
        [
            [float(each) for each in probabilities(design, answer)]
            for answer in answers
        ]
    )
    draw = np.random.default_rng(7)
    counts = draw.multinomial(3_000, shares @ chances, size=40_000)
    found = [dn.estimate(dn.DrawnTally(design, each)) for each in counts[:100]]
    claimed = np.mean([each.cov_params() for each in found], axis=0)
    # Of every survey the shares of "yes": counts of "yes" over those asked, carried back through the device.
    yes, asked = np.zeros((40_000, 3)), np.zeros((40_000, 3))
    for at, name in enumerate("abc"):
        for hand in design.hands:
            if name in hand.attributes:
                table = counts[:, hand.start : hand.start + 4].reshape(-1, 2, 2)
                yes[:, at] += table.take(
                    1, axis=1 + hand.attributes.index(name)
                ).sum(axis=1)
                asked[:, at] += table.sum(axis=(1, 2))
    measured = np.cov(((yes / asked - 0.2) / 0.6).T)
    # A covariance of 40,000 surveys has an error of √(1/40,000) = 0.5 % of the variances, a variance one of √2 times
    # that: 6.1 of them are a false alarm once in 1e9.
    for i, j in combinations(range(3), 2):
        np.testing.assert_allclose(
            measured[i, j],
            claimed[2 * i + 1, 2 * j + 1],
            rtol=0,
            atol=6.1 * 0.005 * claimed[1, 1],
        )
        # zero would be found
        assert claimed[2 * i + 1, 2 * j + 1] > 3 * 6.1 * 0.005 * claimed[1, 1]
    np.testing.assert_allclose(
        np.diag(measured), np.diag(claimed)[1::2], rtol=6.1 * 0.0071
    )


def test_a_contrast_of_attributes_adds_their_variances() -> None:
    counted = dn.DrawnTally(DESIGNS[0], np.array([300, 120, 90, 260]))
    found = dn.estimate(counted)
    apart = [dn.estimate(counted.of(name)) for name in ("smokes", "drinks")]
    contrast = found.contrast({"smokes: yes": 1, "drinks: yes": -1})
    assert contrast.value == pytest.approx(
        apart[0].params["yes"] - apart[1].params["yes"]
    )
    assert contrast.error**2 == pytest.approx(
        sum(each.bse["yes"] ** 2 for each in apart)
    )


def test_how_attributes_hang_together_is_refused_where_nobody_was_asked_both() -> (
    None
):
    found = dn.estimate(dn.DrawnTally(DESIGNS[0], np.array([300, 120, 90, 260])))
    with pytest.raises(
        dn.errors.InvalidRequest,
        match="nobody was asked about 2 attributes together",
    ) as caught:
        found.cross_table("smokes", "drinks")
    assert "each=2" in str(caught.value)
    assert "product()" in str(caught.value)


PAIRS = dn.drawn_items(THREE, each=2)
# of the answers to all three, the last fastest
JOINT = np.array([4, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 4]) / 20


def sent(design: dn.DrawnDesign, shares: np.ndarray) -> list[np.ndarray]:
    """Return the probability of every response about each hand, given that it was drawn."""
    table = np.array(
        [
            [float(each) for each in probabilities(design, answer)]
            for answer in combined(design)
        ]
    )
    whole = shares @ table * len(design.hands)
    return [whole[hand.start : hand.start + hand.responses] for hand in design.hands]


def cells(
    counts: np.ndarray, rows: str, columns: str, method: str = "inversion"
) -> np.ndarray:
    return (
        dn.estimate(dn.DrawnTally(PAIRS, counts), method=method)
        .cross_table(rows, columns)
        .shares.ravel()
    )


def test_a_cross_table_has_the_totals_of_the_attributes_and_is_unbiased() -> None:
    """Of hands of given sizes it is linear in what was sent: at expected counts it has to be the truth."""
    people = np.array([2, 3, 5]) * 10**9
    counts = np.concatenate(
        [np.rint(n * law) for n, law in zip(people, sent(PAIRS, JOINT), strict=True)]
    )
    truth = JOINT.reshape(2, 3, 2)
    np.testing.assert_allclose(
        cells(counts.astype(int), "smokes", "age"),
        truth.sum(axis=2).ravel(),
        atol=1e-7,
    )
    np.testing.assert_allclose(
        cells(counts.astype(int), "likes", "smokes"),
        truth.sum(axis=1).T.ravel(),
        atol=1e-7,
    )
    uneven = np.random.default_rng(3).integers(20, 200, PAIRS.responses)
    for method in ("inversion", "likelihood"):
        found = dn.estimate(dn.DrawnTally(PAIRS, uneven), method=method)
        table = found.cross_table("likes", "smokes")
        for name, axis in (("likes", 1), ("smokes", 0)):
            np.testing.assert_allclose(
                table.shares.sum(axis=axis), list(found.parts[name].params.values())
            )


def test_the_covariance_of_a_cross_table_is_that_of_what_was_sent() -> None:
    """Every hand's responses are multinomial; what each adds to a cell is read off counts that differ by it alone."""
    people = np.array([2, 3, 5]) * 10**6
    laws = sent(PAIRS, JOINT)
    start = np.concatenate(
        [np.rint(n * law) for n, law in zip(people, laws, strict=True)]
    ).astype(int)
    base = cells(start, "smokes", "likes")
    expected = np.zeros((4, 4))
    for hand, n, law in zip(PAIRS.hands, people, laws, strict=True):
        moves = []
        for at in range(hand.responses):
            moved = start.copy()
            moved[hand.start] -= 1000
            moved[hand.start + at] += 1000
            moves.append((cells(moved, "smokes", "likes") - base) / 1000)
        adds = np.array(moves).T
        expected += n * adds @ (np.diag(law) - np.outer(law, law)) @ adds.T
    drawn = dn.estimate(dn.DrawnTally(PAIRS, start))
    table = drawn.cross_table("smokes", "likes")
    np.testing.assert_allclose(
        table.cov_params(), expected, rtol=1e-3, atol=1e-3 * expected.max()
    )
    alone = dn.estimate(drawn.tally.of("smokes", "likes"))
    assert (table.errors.ravel() < alone.errors).all()
    few = dn.estimate(drawn.tally, population=12 * 10**6)
    sums = np.kron(np.eye(2), np.ones(2))  # the cells of each row
    assert sums @ few.cross_table(
        "smokes", "likes"
    ).cov_params() @ sums.T == pytest.approx(
        few.parts["smokes"].cov_params(), rel=1e-3
    )


def test_of_few_people_errors_are_smaller_and_contrasts_never_too_small() -> None:
    """A census by direct questions: every attribute is known of those who were asked about it.

    What a population takes off is the variance of the sum among all people over N; where nobody is asked about two
    attributes it is not known, and nothing is taken off.
    """
    counts = np.array([300, 120, 90, 260])
    found = dn.estimate(dn.DrawnTally(DESIGNS[0], counts), population=770)
    part = dn.estimate(found.tally.of("smokes"), population=770)
    assert (
        found.bse["smokes: yes"]
        == part.bse["yes"]
        < dn.estimate(found.tally).bse["smokes: yes"]
    )
    weights = {"smokes: yes": 1, "drinks: yes": -1}
    assert (
        found.contrast(weights).error
        == dn.estimate(found.tally).contrast(weights).error
    )
    assert found.contrast({"smokes: yes": 1}).error == pytest.approx(part.bse["yes"])
    assert "770 of 770 people" in str(found.summary())
    with pytest.raises(dn.errors.InvalidRequest, match="770 respondents"):
        dn.estimate(found.tally, population=769)


def test_the_covariances_of_a_population_are_those_of_all_ways_to_draw_it() -> None:
    """Five people, asked directly about two of three attributes; hands of two, one and one, one person not asked."""
    asked = dn.drawn_items(
        {name: dn.direct(["no", "yes"]) for name in "abc"}, each=2
    )
    truth = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]])
    values = []
    for order in permutations(range(5)):
        # the hands ab, ac and bc hold two, one and one
        about = order[:3], order[:2] + order[3:4], order[2:4]
        values.append([truth[list(who), at].mean() for at, who in enumerate(about)])
    measured, among = (
        np.cov(np.array(values).T, bias=True),
        np.cov(truth.T, bias=True),
    )
    for (one, two), people in {(0, 1): 2 / 9, (0, 2): 1 / 6, (1, 2): 1 / 6}.items():
        assert measured[one, two] == pytest.approx(
            (people - 1 / 5) * 5 / 4 * among[one, two]
        )
    counts = np.zeros(12, int)
    counts[[0, 3, 5, 10]] = 1
    found = dn.estimate(dn.DrawnTally(asked, counts), population=5)
    joint = dn.estimate(found.tally.of("a", "b")).value.reshape(2, 2)
    one, two = found.params["a: yes"], found.params["b: yes"]
    own = joint[1, 1] - joint[1].sum() * two - one * joint[:, 1].sum() + one * two
    # Of three people who were asked about each, the products about the means take 3/2 in place of N/(N − 1).
    assert found.cov_params()[1, 3] == pytest.approx((2 / 9 - 1 / 5) * 3 / 2 * own)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dn.drawn_items({"a": dn.warner(1)}),
        lambda: dn.drawn_items({"a": dn.warner(1), "b": 3}),  # type: ignore[dict-item]
        lambda: dn.drawn_items([dn.warner(1), dn.warner(1)], each=2),
        lambda: dn.drawn_items([dn.warner(1), dn.warner(1)], each=0),
        lambda: dn.drawn_items({"a: b": dn.warner(1), "b": dn.warner(1)}),
        lambda: dn.drawn_items({"a · b": dn.warner(1), "b": dn.warner(1)}),
        lambda: dn.drawn_items(
            [dn.product([dn.warner(1), dn.warner(1)]), dn.warner(1)]
        ),
        lambda: dn.drawn_items([dn.unary(20, 1), dn.warner(1)]),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong: Any) -> None:
    with pytest.raises(dn.errors.InvalidDesign):
        wrong()


@pytest.mark.parametrize("items", [2, 5, 10, 20])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_measured_variances_are_as_predicted_and_smaller_than_by_splitting(
    items: int, share: float
) -> None:
    """One drawn item with ε = 1 against ε = 1/items for each of all: 3,000 surveys of 4,000 people, in law.

    The variance of a variance of 3,000 normal estimates is 2/3,000 of its square: 6.1 standard errors, 15.8 %, are a
    false alarm once in 1e9. A design that split ε, or an estimate from a wrong number of people, is off by 70 %.
    """
    surveys, people = 3_000, 4_000
    names = [f"item {number}" for number in range(items)]
    one = dn.drawn_items({name: dn.warner(1) for name in names})
    split_ = dn.product(
        {"a": dn.warner(Fraction(1, items)), "b": dn.warner(Fraction(1, items))}
    ).part("a")
    draw = np.random.default_rng(100 * items + round(100 * share))
    asked = draw.binomial(people, 1 / items, surveys)
    truth = float(one.part(names[0]).probability("yes", given="yes"))
    yes = draw.binomial(asked, share * truth + (1 - share) * (1 - truth))
    drawn = (yes / asked - (1 - truth)) / (2 * truth - 1)
    for at in range(3):  # what the public verbs make of such counts
        counts = np.tile([asked[at] - yes[at], yes[at]], items)
        found = dn.estimate(dn.DrawnTally(one, counts))
        assert found.params[f"{names[0]}: yes"] == pytest.approx(drawn[at])
    predicted = plan.variance(
        one,
        people,
        shares={name: [1 - share, share] for name in names},
        category=f"{names[0]}: yes",
    )
    assert np.var(drawn) == pytest.approx(
        predicted, rel=6.1 * math.sqrt(2 / surveys)
    )
    part = float(split_.probability("yes", given="yes"))
    shared = (
        draw.binomial(people, share * part + (1 - share) * (1 - part), surveys)
        / people
        - (1 - part)
    ) / (2 * part - 1)
    other = plan.variance(split_, people, shares=[1 - share, share])
    assert np.var(shared) == pytest.approx(other, rel=6.1 * math.sqrt(2 / surveys))
    assert other / predicted > {2: 1.7, 5: 4.0, 10: 8.0, 20: 16.0}[items]


def test_a_wrong_answer_is_refused_whichever_attributes_are_drawn() -> None:
    """Else a refusal, or that there is none, would tell what was drawn."""
    for wrong in THREE:
        answers = {
            "smokes": "no",
            "age": "old",
            "likes": "tea",
            wrong: "no such answer",
        }
        for first in (0, 0x60, 0xC0):  # of the word that draws one of three
            with pytest.raises(dn.errors.InvalidAnswer) as refused:
                dn.respond(
                    DESIGNS[1],
                    answers,
                    source=ScriptedSource(bytes(7) + bytes([first]) + bytes(64)),
                )
            assert "no such answer" not in str(refused.value)
