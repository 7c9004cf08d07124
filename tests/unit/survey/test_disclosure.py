"""What is said about a survey is true: every number in every sentence, against the channel looked at cell by cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from string import Formatter

import pytest

import deniable as dn
from deniable.designs import FAMILIES, Design
from deniable.survey import Question, QuestionTexts
from deniable.survey.catalogue import LANGUAGES, Locale, locale
from deniable.survey.disclosure import BANDS, CAUTIONED, Disclosure, epsilon_words
from deniable.survey.limits import BUDGET, CEILING
from tests.support.surveys import question, small

EPSILONS = ["1/10", "1/2", 1, "3/2", 2, 3, "7/2", 5, 6, 8, 10, 13]

DESIGNS = [
    *(
        pytest.param(dn.warner(epsilon), id=f"warner-{epsilon}")
        for epsilon in EPSILONS
    ),
    *(
        pytest.param(dn.k_ary(5, epsilon=epsilon), id=f"k_ary-{epsilon}")
        for epsilon in EPSILONS
    ),
    *(
        pytest.param(dn.unary(4, epsilon=epsilon), id=f"sets-{epsilon}")
        for epsilon in EPSILONS[:8]
    ),
    *(
        pytest.param(dn.hadamard(6, epsilon=epsilon), id=f"codes-{epsilon}")
        for epsilon in EPSILONS[:8]
    ),
    pytest.param(dn.forced_response(honest="2/3", yes="1/6", no="1/6"), id="a die"),
    *(
        pytest.param(each, id=f"{name}-{at}")
        for name in sorted(FAMILIES)
        for at, each in enumerate(FAMILIES[name].designs())
        if each.channel.responses * each.channel.answers <= 1000
    ),
]


def brute_belief(designs: Sequence[Design], before: Fraction) -> Fraction:
    """Return what can be believed at most, by going through every response and every pair of answers.

    The worst prior puts all else on one other answer; responses to several questions are drawn each by itself.
    """
    ratios = [Fraction(1)]
    for design in designs:
        channel, found = design.channel, set()
        for response in range(channel.responses):
            column = [
                channel.probability(response, given=answer)
                for answer in range(channel.answers)
            ]
            for likely, unlikely in product(column, repeat=2):
                if likely and not unlikely:
                    return Fraction(1)
                if likely:
                    found.add(likely / unlikely)
        ratios.append(max(found))
    ratio = math.prod(ratios)
    return ratio * before / (ratio * before + 1 - before)


def read(template: str, sentence: str, spoken: Locale) -> dict[str, Decimal]:
    """Return the numbers that stand in the places of a sentence; none where it is another sentence."""
    pattern = "".join(
        re.escape(text) + (f"(?P<{name}>.+?)" if name else "")
        for text, name, _, _ in Formatter().parse(template)
    )
    found = re.fullmatch(pattern, sentence)
    assert found, f"{sentence!r} is not of the form {template!r}"
    plain = {ord(spoken.thousands): None, ord(spoken.decimal): "."}
    return {
        name: Decimal(text.translate(plain))
        for name, text in found.groupdict().items()
    }


def tightly_above(told: Decimal, share: Fraction, whole: int) -> bool:
    """Say whether a number is not below a share of a whole, and not above it by a unit of its own last digit."""
    unit = Fraction(10) ** int(told.as_tuple().exponent)
    return 0 <= Fraction(told) - share * whole < unit


def wrong_sentences(
    design: Design, said: Sequence[str], spoken: Locale
) -> list[str]:
    """Return the sentences on one response that are not true, or say less than could be said."""
    words = spoken.words["disclosure"]
    best = brute_belief([design], Fraction(1, 2))
    wrong = [] if said[0] == words["response"][brute_band(best)] else [said[0]]
    if best in (Fraction(1, 2), 1):
        return wrong + list(said[1:])
    guess, belief = (
        read(words["guess"], said[1], spoken),
        read(words["belief"], said[2], spoken),
    )
    if (
        not tightly_above(guess["right"], best, int(guess["times"]))
        or guess["right"] >= guess["times"]
    ):
        wrong.append(said[1])
    after = brute_belief([design], Fraction(1, 10))
    if not tightly_above(belief["after"], after, 100) or belief["after"] >= 100:
        wrong.append(said[2])
    return wrong


def brute_otherwise(design: Design, before: Fraction) -> Fraction | None:
    """Return what can be believed at most after a response that rules no answer out; None where every one does."""
    found = []
    for response in range(design.channel.responses):
        column = [
            design.channel.probability(response, given=answer)
            for answer in range(design.channel.answers)
        ]
        if all(column) or not any(column):
            ratio = max(column) / min(column) if any(column) else Fraction(1)
            found.append(ratio * before / (ratio * before + 1 - before))
    return max(found, default=None)


def brute_band(best: Fraction) -> str:
    """Return the word for a guess between two that is right so often, by how often it is wrong."""
    if best in (Fraction(1, 2), 1):
        return "nothing" if best < 1 else "certain"
    odds = math.log(best / (1 - best))
    return next(
        name
        for name, most in (
            ("hidden", 1),
            ("hinted", 3),
            ("shown", 6),
            ("bare", math.inf),
        )
        if odds <= most
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_sentence_on_a_response_is_true(design: Design, language: str) -> None:
    spoken = locale(language)
    assert (
        wrong_sentences(
            design, Disclosure(design.parity).response_words(spoken), spoken
        )
        == []
    )


REVEALING = [
    *(each for each in DESIGNS if each.values[0].parity == math.inf),
    pytest.param(
        dn.matrix([["1/2", 0], ["3/8", "1/4"], ["1/8", "3/4"]]), id="others-differ"
    ),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("design", REVEALING)
def test_where_a_response_is_proof_the_others_are_told_too(
    design: Design, language: str
) -> None:
    spoken = locale(language)
    words, said = (
        spoken.words["disclosure"],
        Disclosure.of_response(design).response_words(spoken),
    )
    assert said[0] == words["response"]["certain"]
    most = brute_otherwise(design, Fraction(1, 10))
    assert len(said) == (1 if most is None else 2)
    if most is not None:
        assert tightly_above(
            read(words["otherwise"], said[1], spoken)["after"], most, 100
        )


@pytest.mark.parametrize(
    "family", ["mangat", "triangular", "hard_garbling", "devore", "negative_survey"]
)
def test_a_response_that_is_proof_must_be_acknowledged(family: str) -> None:
    design = FAMILIES[family].designs()[0]
    for acknowledged in (None, 100):
        with pytest.raises(dn.errors.InvalidRequest, match="has ε = inf"):
            question("smokes", design, acknowledge=acknowledged)
    told = question("smokes", design, acknowledge=math.inf).disclosure
    assert told.band == "certain"
    assert told.cautioned


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("factor", ["9/10", "99/100", "101/100", "11/10"])
def test_sentences_of_another_design_are_found_out(
    language: str, factor: str
) -> None:
    """A parity that is off by a hundredth is seen in at least one number or word, at every ε where it can be."""
    spoken = locale(language)
    for epsilon in EPSILONS[1:]:
        design = dn.k_ary(5, epsilon=epsilon)
        other = Disclosure(Fraction(design.parity) * Fraction(factor))
        if (other.after, other.guess) != (
            Disclosure(design.parity).after,
            Disclosure(design.parity).guess,
        ):
            assert (
                wrong_sentences(design, other.response_words(spoken), spoken) != []
            )


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_wrong_digit_is_found_out(language: str) -> None:
    spoken = locale(language)
    design = dn.warner(10)
    said = list(Disclosure(design.parity).response_words(spoken))
    numbers = [spoken.number(99_996), spoken.number(Decimal("99.96"))]
    for at, (number, wrong) in enumerate(
        zip(numbers, [99_995, Decimal("99.95")], strict=True), 1
    ):
        assert number in said[at]
        planted = [
            *said[:at],
            said[at].replace(number, spoken.number(wrong)),
            *said[at + 1 :],
        ]
        assert wrong_sentences(design, planted, spoken) == [planted[at]]
    milder = [str(spoken.words["disclosure"]["response"]["hidden"]), *said[1:]]
    assert wrong_sentences(design, milder, spoken) == [milder[0]]


TOGETHER = [
    [dn.warner(1), dn.warner("3/2"), dn.warner(1)],
    [dn.warner("1/10"), dn.warner(10)],
    [dn.k_ary(4, epsilon="1/10"), dn.unary(3, epsilon="1/5")],
    [
        dn.hadamard(6, epsilon=1),
        dn.subset(5, epsilon=1),
        dn.forced_response(honest="2/3", yes="1/6", no="1/6"),
    ],
    [dn.warner(1)] * 6,
    [dn.warner(3)] * 4,
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "designs", TOGETHER, ids=["dependent", "bait", "faint", "kinds", "six", "much"]
)
def test_what_all_responses_together_allow_is_true(
    designs: list[Design], language: str
) -> None:
    spoken = locale(language)
    words = spoken.words["disclosure"]
    verdict, belief = Disclosure.of(designs).together_words(spoken)
    assert (
        verdict
        == words["together"][brute_band(brute_belief(designs, Fraction(1, 2)))]
    )
    assert tightly_above(
        read(words["belief_together"], belief, spoken)["after"],
        brute_belief(designs, Fraction(1, 10)),
        100,
    )


def test_answers_that_hang_together_attain_the_bound() -> None:
    """One secret that decides all three answers: after three times "yes" exactly so much can be believed of it."""
    designs = [dn.warner(1), dn.warner("3/2"), dn.warner(1)]
    yes, no = (
        math.prod(each.channel.probability(1, given=answer) for each in designs)
        for answer in (1, 0)
    )
    believed = yes * Fraction(1, 10) / (yes * Fraction(1, 10) + no * Fraction(9, 10))
    assert believed == brute_belief(designs, Fraction(1, 10))
    assert math.ceil(100 * believed) == Disclosure.of(designs).after == 79


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_and_stages_tell_the_finest_stage(language: str) -> None:
    spoken = locale(language)
    stages = Question(
        "q",
        dn.ladder([dn.k_ary(3, epsilon=1), dn.k_ary(3, epsilon=2)]),
        {"en": QuestionTexts("Q?")},
    )
    line = stages.disclosure.line("Q?", spoken)
    template = spoken.words["disclosure"]["line"].replace("{question}", "Q?")
    after = read(template, line, spoken)["after"]
    assert tightly_above(
        after, brute_belief([dn.k_ary(3, epsilon=2)], Fraction(1, 10)), 100
    )
    certain = Disclosure(math.inf)
    assert certain.line("Q?", spoken) == spoken.words["disclosure"][
        "line_certain"
    ].replace("{question}", "Q?")


def test_the_worst_question_is_named() -> None:
    asked = (
        question("a", dn.warner(1)),
        question("b", dn.k_ary(3, epsilon=2)),
        question("c", dn.k_ary(3, epsilon=2)),
    )
    assert small(questions=asked).worst.name == "b", "the first of several"
    finer = replace(asked[0], about=dn.ladder([dn.warner(1), dn.warner("5/2")]))
    assert small(questions=(*asked[1:], finer), acknowledge=7).worst.name == "a", (
        "its finest stage counts"
    )


def test_bands_follow_the_limits() -> None:
    """Within the ceiling a response is at worst a hint, and within the budget no survey gives answers away."""
    assert [(name, most) for name, most in BANDS if most in (CEILING, BUDGET)] == [
        ("hinted", 3),
        ("shown", 6),
    ]
    assert [most for _, most in BANDS] == sorted({most for _, most in BANDS})
    assert Disclosure.of([dn.warner(CEILING)]).band == "hinted"
    assert Disclosure.of([dn.warner(CEILING), dn.warner(CEILING)]).band == "shown"
    assert {"shown", "bare", "certain"} == CAUTIONED
    for most, wrong in (
        (1, Fraction(26, 100)),
        (CEILING, Fraction(4, 100)),
        (BUDGET, Fraction(2, 1000)),
    ):
        assert 1 / (1 + math.exp(most)) >= wrong, "as the bands are justified"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_band_has_words_of_its_own(language: str) -> None:
    words = locale(language).words["disclosure"]
    for kind in ("response", "together"):
        assert list(words[kind]) == [name for name, _ in BANDS]
        assert len(set(words[kind].values())) == len(BANDS)


def test_what_cannot_be_told_from_certainty_is_not_told_as_less() -> None:
    assert Disclosure(Fraction(10**9)).after == 100
    assert Disclosure(Fraction(10**9)).guess == (10**6, 10**6)
    assert Disclosure(math.inf).after == 100
    assert Disclosure(Fraction(10**9)).band == "bare"


def test_epsilon_in_words() -> None:
    assert [
        epsilon_words(each, locale("de"))
        for each in (1.0986122886681098, 3.0, math.inf)
    ] == ["1,099", "3", "∞"]
    assert (
        epsilon_words(Disclosure.of([dn.warner("1/10"), dn.warner(10)]).epsilon)
        == "10.1"
    )
    assert epsilon_words(1234.5) == "1235"
