"""The methods paragraph and the one-sentence result: every number comes back as the object has it."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.designs import FAMILIES
from deniable.display.named_designs import NAMED, print_probability
from deniable.errors import InvalidRequest
from deniable.estimates import intervals, shares, stages
from deniable.estimates.results import AROUND
from deniable.estimates.sampling import intervals as sampled
from deniable.report.publication import methods, sentence, title_of
from deniable.report.result_texts import estimator, interval_name


def chances(text: str) -> list[Fraction]:
    return [
        Fraction(each)
        for each in re.findall(
            r"(?:probability|with) (\d+(?:/\d+)?)(?=[ ,.;])", text
        )
    ]


def test_fractions_are_printed_as_people_write_them() -> None:
    told = methods(dn.forced_response(honest="3/4", yes="1/6", no="1/12"))
    assert (
        "to answer truthfully with probability 3/4, to say “yes” whatever is true with probability 1/6"
        in told
    )
    assert chances(told) == [Fraction(3, 4), Fraction(1, 6), Fraction(1, 12)]
    assert print_probability(Fraction(1, 3)) == "1/3"
    assert print_probability(Fraction(2**64 - 1, 2**65)) == "0.5"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_has_a_paragraph_whose_probabilities_sum_to_one(
    name: str,
) -> None:
    design = FAMILIES[name].build(**FAMILIES[name].examples[0])
    told = methods(design)
    assert f"({title_of(design)})" in told
    assert "_" not in told.partition(". ")[0]
    assert design.hash[:19] in told
    if design.caveat:
        assert design.caveat.partition(" Let a random device")[0] in told
    assert "Let a random device" not in told, (
        "advice to whoever plans is no part of what was done"
    )
    shown = re.findall(
        r"given the answer “[^”]*”, ([^;.]*(?:\.\d+[^;.]*)*)",
        told.replace("Given", "given"),
    )
    for clause in shown:
        numbers = re.findall(
            r"(?:probability|with) (\d+(?:/\d+|\.\d+(?:e-\d+)?)?)", clause
        )
        assert float(sum(map(Fraction, numbers))) == pytest.approx(1, abs=1e-4)


def test_two_answers_many_answers_and_sets_are_told_apart() -> None:
    assert (
        "The true answer is sent with probability 3/4, and the other one with probability 1/4."
        in methods(dn.warner(p="3/4"))
    )
    assert "and each of the 999 others with probability 1/1998." in methods(
        dn.k_ary(1000, p="1/2")
    )
    assert "The answer is in the set sent with probability 0.731059" in methods(
        dn.unary(50, 2)
    )
    both = dn.product(
        {
            "smokes": dn.warner(p="3/4"),
            "drinks": dn.warner(p="3/4"),
            "age": dn.warner(p="2/3"),
        }
    )
    told = methods(both)
    assert (
        "For “smokes” and “drinks”, the true answer is sent with probability 3/4"
        in told
    )
    assert "For “age”, the true answer is sent with probability 2/3" in told


def test_a_tally_tells_how_many_and_a_result_how() -> None:
    counted = dn.Tally(dn.warner(p="3/4"), [640, 360], missing=1)
    assert "1,000 responses were counted; 1 person sent nothing" in methods(counted)
    assert "estimated" not in methods(counted).replace("part in the estimate", "")
    found = dn.estimate(counted, population=5000)
    told = methods(found, level=0.9, method="normal", simultaneous=True)
    assert "with simultaneous 90% intervals (normal approximation)" in told
    assert "without replacement of 5,000 people" in told
    assert "maximum likelihood" in methods(dn.estimate(counted, method="likelihood"))


def test_methods_have_words_for_people() -> None:
    for method in {*shares.METHODS, *stages.METHODS}:
        assert estimator(method) != method
    for method in {
        *intervals.METHODS,
        *("score", "wide", "profile"),  # of stages and devices
        "t",
        *AROUND,
        *sampled.METHODS,
    }:
        assert interval_name(method) != method


def test_an_infinite_epsilon_is_never_hidden() -> None:
    told = methods(dn.mangat("2/3"))
    assert "no finite ε" in told
    assert "differential privacy" not in told


def test_which_number_a_sentence_is_about() -> None:
    two = dn.estimate(dn.Tally(dn.warner(p="3/4"), [640, 360]))
    assert (
        sentence(two)
        == "An estimated 22.0% answer “yes” (95% interval 16.2% to 28.0%; 1,000 responses, ε = 1.099)."
    )
    assert "An estimated 22.0% have paid a bribe (95%" in sentence(
        two, "yes", label="have paid a bribe"
    )
    three = dn.estimate(
        dn.Tally(dn.k_ary(["a", "b", "c"], 2), np.array([200, 500, 300]))
    )
    assert "“b”" in sentence(three)
    assert "“a”" in sentence(three, "a")


def test_four_respondents_tell_nothing_and_the_sentence_says_so() -> None:
    few = dn.estimate(dn.Tally(dn.warner(epsilon="1/2"), [2, 2]))
    assert sentence(few).startswith(
        "The data cannot decide how many answer “yes”: any value from 0.0% to 100.0% would fit them (4 responses"
    )


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="nothing to tell of a list"):
        methods([1, 2])  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="nothing was estimated in a Tally"):
        sentence(dn.Tally(dn.warner(1), [1, 2]))  # type: ignore[arg-type]


def test_several_devices_are_told_each_by_its_name() -> None:
    few, many = dn.forced_response("4/5", "1/5"), dn.forced_response("1/5", "4/5")
    tallies = [dn.Tally(few, [210, 90]), dn.Tally(many, [110, 190])]
    told = methods(dn.compliance.cheating_detection(tallies))
    assert "with 2 devices" in told
    assert (
        "For device 1 (forced response; Boruch 1971), a random device told respondents to answer "
        "truthfully with probability 4/5" in told
    )
    assert (
        "For device 2 (forced response; Boruch 1971), a random device told respondents to answer "
        "truthfully with probability 1/5" in told
    )
    assert (
        "Each device has a response that proves something about the answer" in told
    )
    assert few.hash[:19] in told
    assert many.hash[:19] in told
    arms = methods(
        dn.compliance.compare_arms(
            dn.Tally(dn.warner(1), [60, 40]), dn.Tally(dn.direct(), [70, 30])
        )
    )
    assert "1 of the devices has a response that proves" in arms
    assert "intervals (from the intervals of both)" in arms
    same = methods(
        dn.estimate(
            [
                dn.Tally(dn.warner(1), [60, 40]),
                dn.Tally(dn.crosswise("1/4"), [50, 50]),
            ]
        )
    )
    # the larger of both
    assert (
        "a factor of more than 3.001 " in same or "a factor of more than 3 " in same
    )


def regressed(
    errors: str | None = None, intercepts: str | None = None
) -> dn.Regression:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {"cheated": ["no", "yes", "no"] * 100, "age": rng.integers(18, 70, 300)}
    )
    table["school"] = np.arange(300) // 25
    table.loc[:1, "cheated"] = None
    return dn.regress(
        "cheated ~ age",
        table,
        design=dn.warner(p="3/4"),
        errors=errors,
        intercepts=intercepts,
    )


def test_a_regression_tells_device_model_errors_and_rows() -> None:
    told = methods(regressed())
    assert (
        "randomized response (Warner's design; Warner 1965). The true answer is sent with probability 3/4"
        in told
    )
    assert (
        "298 responses were counted; rows left out: 2 because they hold no response."
        in told
    )
    assert (
        "Coefficients were estimated in cheated ~ age by maximum likelihood of a logistic regression"
        in told
    )
    assert "(standard errors: observed information)" in told
    assert "(standard errors: robust" in methods(regressed("robust"))
    assert (
        "a logistic regression of the answers with random intercepts of 12 groups, with the device's"
        in methods(regressed(intercepts="school"))
    )
    assert (
        "Average changes in the share were estimated in cheated ~ age by the delta method"
        in methods(regressed().effects())
    )


def test_a_weighted_sample_tells_how_people_came_into_it() -> None:
    design, clusters = dn.warner(p="3/4"), np.repeat(np.arange(20), 10)
    sent = dn.Responses.of(design, ["no", "no", "yes", "no"] * 50)
    found = dn.estimate(sent, sampling=dn.Sampling(np.ones(200), clusters=clusters))
    told = methods(found)
    assert (
        "Shares were estimated from a sample of 200 people in 20 clusters by Hájek's weighted mean"
        in told
    )
    assert "(variance: linearized), with 95% intervals (score intervals)" in told
    # of two answers, the second
    assert sentence(found).startswith("An estimated 0.0% answer “yes”")


def test_the_guide_shows_what_is_print_probability() -> None:
    design = dn.k_ary(["never", "once", "often"], p="3/5")
    result = dn.estimate(dn.Tally(design, [523, 261, 216], missing=12))
    page = Path(__file__).parents[3] / "docs" / "guides" / "papers.md"
    quoted = [
        line.removeprefix(">").strip()
        for line in page.read_text(encoding="utf-8").splitlines()
        if line[:1] == ">"
    ]
    paragraph, told = (
        " ".join(part.split()) for part in "\n".join(quoted).split("\n\n")
    )
    assert paragraph == methods(result)
    assert told == sentence(result, "often")


NUMBER = r"(\d+(?:/\d+)?(?:\.\d+)?)"
SAID = {
    "forced_response": rf"truthfully with probability {NUMBER}, to say “yes” whatever is true with probability "
    rf"{NUMBER}, and to say “no” whatever is true with probability {NUMBER}\.",
    "simmons": rf"sensitive question with probability {NUMBER}, and else .* share of {NUMBER} says yes",
    "crosswise": rf"share of {NUMBER} says yes.*“same” was sent with probability {NUMBER} where .* and with "
    rf"probability {NUMBER} where",
    "triangular": rf"share of {NUMBER} says yes.*always sent where .*“yes”, and with probability {NUMBER} where it is "
    "“no”",
    "mangat": rf"“yes” said so; .* “no” with probability {NUMBER} and “yes” with probability {NUMBER}",
    "devore": rf"sensitive question with probability {NUMBER}, and else one to which everybody says yes",
    "hard_garbling": rf"turned an answer “no” into “yes” with probability {NUMBER},",
    "kuk": rf"“yes” drew a card from a deck with a share of {NUMBER} of red .* share of {NUMBER}, and told its colour",
}


def made_from(name: str, numbers: list[Fraction]) -> tuple[Fraction, Fraction]:
    """How often the second response is sent where the answer is no, and where it is yes, by the sentence alone."""
    first, *rest = numbers
    if name == "forced_response":
        yes, no = rest
        assert first + yes + no == 1
        return yes, first + yes
    if name == "simmons":
        return (1 - first) * rest[0], first + (1 - first) * rest[0]
    if name == "crosswise":
        assert rest == [first, 1 - first]
        return 1 - first, first
    if name == "kuk":
        return rest[0], first
    if name == "mangat":
        assert first + rest[0] == 1
        return rest[0], Fraction(1)
    return (1 - first if name == "devore" else first), Fraction(1)


@pytest.mark.parametrize(
    "design",
    [
        dn.forced_response("2/3", "1/4", "1/12"), dn.simmons(p="7/10", b="3/10"), dn.crosswise("1/4"),
        dn.triangular("1/4"), dn.mangat("2/3"), dn.devore("7/10"), dn.hard_garbling("3/10"), dn.kuk("4/5", "3/10"),
    ],
    ids=lambda each: each.name,
)  # fmt: skip
def test_the_device_in_words_makes_the_channel(design: dn.Design) -> None:
    """Read the numbers out of the sentence, walk the device by them, and compare with the channel by ==."""
    told = methods(design)
    found = re.search(SAID[design.name], told)
    assert found, told
    expected = tuple(
        design.channel.probability(1, given=answer) for answer in (0, 1)
    )
    assert (
        made_from(design.name, [Fraction(each) for each in found.groups()])
        == expected
    )
    assert "true answer is sent" not in told


def test_cards_with_numbers_and_several_draws_in_words() -> None:
    design = dn.christofides(cards=["1/10", "2/10", "3/10", "4/10"])
    told = methods(design)
    cards = [
        Fraction(each)
        for each in re.findall(r"probabilities ([^)]*)\)", told)[0].split(", ")
    ]
    for number, chance in enumerate(cards):
        assert (
            chance
            == design.channel.probability(number, given=0)
            == design.channel.probability(3 - number, given=1)
        )
    assert "5 minus the number where it is “yes”" in told
    assert "drew 3 cards, each put back, from a deck with a share of 4/5" in methods(
        dn.kuk("4/5", "3/10", draws=3)
    )


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 2},
        {"epsilon": 3, "goal": "distribution"},
        {"epsilon": 1, "levels": 2},
    ],
)
def test_a_number_in_words(given: dict[str, float]) -> None:
    design = dn.number_design(0, 8000, **given)  # type: ignore[arg-type]
    told = methods(design)
    found = re.search(
        rf"to one of (\d+) levels .* one was sent: (.*) with probability {NUMBER}, and .* {NUMBER}\. No",
        told,
    )
    assert found, told
    hold = int((re.findall(r"each of the (\d+) that hold it", found[2]) or ["1"])[0])
    column = [
        float(design.channel.probability(y, given=0))
        for y in range(design.channel.responses)
    ]
    often, rare = float(Fraction(found[3])), float(Fraction(found[4]))
    assert int(found[1]) == len(design.categories)
    assert sorted(column) == pytest.approx(
        [rare] * (len(column) - hold) + [often] * hold, abs=1e-6
    )
    assert "as the design's table has them" not in told


def test_a_design_that_only_has_the_name_is_told_by_its_probabilities() -> None:
    channel = dn.simmons(p="7/10", b="3/10").channel
    told = methods(
        dn.Design("crosswise", ("no", "yes"), ("different", "same"), channel)
    )
    assert "told only whether" not in told
    assert "is sent with probability" in told


def test_sources_are_those_of_the_bibliography() -> None:
    text = (
        Path(__file__).parents[3] / "docs" / "theory" / "references.bib"
    ).read_text(encoding="utf-8")
    entries = [
        dict(re.findall(r"^  (author|year)\s*= \{(.*)\},?$", each, re.M))
        for each in text.split("\n@")
    ]
    known = set()
    for each in entries:
        names = [
            name.partition(",")[0] for name in each.get("author", "").split(" and ")
        ]
        short = (
            f"{names[0]} et al."
            if len(names) > 3
            else f"{', '.join(names[:-1])} and {names[-1]}".removeprefix(" and ")
        )
        known.add(f"{short} {each.get('year')}")
    assert {each.authors for each in NAMED.values() if each.authors} - known == set()


def test_a_posterior_tells_its_prior() -> None:
    counted = dn.Tally(dn.warner(p="3/4"), [640, 360])
    told = methods(dn.posterior(counted, prior=[2, 3]))
    assert (
        "estimated by Bayes' rule, exactly, under a Dirichlet(2, 3) prior, with 95% intervals (credible"
        in told
    )
    several = dn.Tally(dn.k_ary(["a", "b", "c"], 2), [20, 50, 30])
    assert "Bayes' rule, from draws, under a Dirichlet(1, 1, 1) prior" in methods(
        dn.posterior(several, draws=np.random.default_rng(1))
    )
    assert "“yes”" in sentence(dn.posterior(counted))  # of two answers, the second


PEOPLE = 240
DRAWN = dn.Sampling(
    1.0 + np.arange(PEOPLE) % 3,
    clusters=np.arange(PEOPLE) // 6,
    strata=np.arange(PEOPLE) // 120,
)
FROM_SAMPLE = "from a sample of 240 people in 40 clusters of 2 strata "
REGION = np.repeat(["north", "south", "west"], [60, 80, 100])


def sent_by_people(seed: int, p: str = "5/6") -> dn.Responses[dn.Design]:
    yes = np.random.default_rng(seed).random(PEOPLE) < 0.4
    return dn.Responses.of(dn.warner(p=p), np.where(yes, "yes", "no"))


def test_whatever_comes_from_a_sample_says_so_in_the_same_words() -> None:
    one, two = sent_by_people(1), sent_by_people(2)
    hajek = "Hájek's weighted mean of unbiased values of the responses (variance: linearized)"
    table = dn.cross_table(one, two, sampling=DRAWN)
    for made in (
        dn.estimate(one, sampling=DRAWN, by=REGION),
        dn.estimate(one, sampling=DRAWN, by=REGION).pairwise(),
        table,
    ):
        assert f"{FROM_SAMPLE}by {hajek}" in methods(made)
    grouped = dn.estimate(dn.tally(one, by=REGION, weights=DRAWN.weights))
    for made in (grouped, grouped.pairwise(), grouped.against_rest()):
        assert f"from a sample of 240 people with weights by {hajek}" in methods(
            made
        )
    assert f"{FROM_SAMPLE}by maximum pseudo-likelihood" in methods(
        table.odds_ratio()
    )


def test_a_correlation_tells_its_device_and_its_sample() -> None:
    one, two = sent_by_people(1), sent_by_people(2)
    numbers = np.arange(PEOPLE) % 17
    for made in (
        dn.correlation(one, numbers, sampling=DRAWN),
        dn.correlation(one, two, sampling=DRAWN),
    ):
        told = methods(made)
        assert (
            f"{FROM_SAMPLE}by dividing the covariance of unbiased values of the responses by"
            in told
        )
        assert "(variance: linearized)" in told
    plain = methods(dn.correlation(one, numbers))
    assert "The true answer is sent with probability 5/6" in plain
    assert "a factor of more than 5 (" in plain
    assert "linear and unbiased" not in plain
    assert "intervals (Fisher's, on the scale of artanh)" in plain
    assert "from a sample" not in plain


def test_a_model_of_compliance_tells_clusters_and_strata() -> None:
    device = dn.product(
        {"a": dn.warner(p="5/6"), "b": dn.warner(p="5/6"), "c": dn.warner(p="5/6")}
    )
    sent = dn.Responses(
        device,
        {
            "response": np.random.default_rng(3)
            .integers(0, 8, PEOPLE)
            .astype(np.uint8)
        },
    )
    told = methods(dn.compliance.self_protection(sent, sampling=DRAWN))
    assert (
        f"{FROM_SAMPLE}(variance: linearized) by maximum pseudo-likelihood, in which people count by their weights"
        in told
    )


@pytest.mark.parametrize("way", ["counted", "weighted", "drawn"])
def test_groups_are_told_and_each_has_its_own_number_of_people(way: str) -> None:
    sent = sent_by_people(1)
    found = {
        "counted": lambda: dn.estimate(dn.tally(sent, by=REGION)),
        "weighted": lambda: dn.estimate(
            dn.tally(sent, by=REGION, weights=DRAWN.weights)
        ),
        "drawn": lambda: dn.estimate(sent, sampling=DRAWN, by=REGION),
    }[way]()
    assert (
        "Shares were estimated in each of 3 groups (north, south and west) "
        in methods(found)
    )
    told = sentence(found, "south · yes")
    assert re.match(
        r"In south an estimated [\d.]+% answer “yes” \(95% interval .*; 80 responses, ε = 1.61\)\.",
        told,
    )
    assert "In north an estimated" in sentence(
        found, "north · no", label="have never paid"
    )
    assert "have never paid (" in sentence(
        found, "north · no", label="have never paid"
    )
    assert "“yes”" in sentence(found)  # of two answers, the second
    apart = methods(found.pairwise())
    assert (
        "in shares of “yes” between each pair of 3 groups (north, south and west) were estimated "
        in apart
    )
    assert "p-values were adjusted for 3 comparisons by Holm's method." in apart


def test_one_group_and_the_rest() -> None:
    found = dn.estimate(
        dn.tally(sent_by_people(1), by=pd.Series(REGION, name="region"))
    )
    assert "in each of 3 groups of region (north, south and west) by" in methods(
        found
    )
    apart = methods(found.against_rest())
    assert (
        "between each of 3 groups of region (north, south and west) and the rest were estimated by"
        in apart
    )
