"""Strings that nobody has listed, found through the public verbs: prefixes, extended level by level."""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

import deniable as dn
from deniable.types.strings import discovery, limits
from deniable.types.strings import draw as engine
from deniable.types.strings.count import NoisyTally
from deniable.types.strings.design import MAX_PREFIXES, CohortDesign
from tests.support.seeded import seeded
from tests.support.traces import law

ALARM = 1e-9
N = 200_000
BLOOM = dn.Prefixes(
    128, hashes=1, cohorts=4 * 128, alphabet="abcd", lengths=(2, 4, 6)
)
RNG = np.random.default_rng(5)
NAMES = list(
    dict.fromkeys(
        "".join(RNG.choice(list("abcd"), 1 + each % 6)) for each in range(90)
    )
)
SHARES = 0.5 ** (np.arange(len(NAMES)) / 6)
SHARES /= SHARES.sum()


def names_found(result: dn.StringEstimate) -> set[str]:
    return {each.text for each in result.found}


def texts(n: int = N, seed: int = 17) -> list[str]:
    """Names of one to six letters, fewer and fewer of each."""
    return [
        NAMES[number]
        for number in np.random.default_rng(seed).choice(len(NAMES), n, p=SHARES)
    ]


def test_every_name_above_the_limit_is_discovered_and_no_other() -> None:
    """So strict that it fails by chance less than twice in 10^9 runs."""
    design, truth = dn.string_design(BLOOM, 6, optimized=True), Counter(texts())
    sent = dn.respond_all(design, texts(), source=seeded("discovered"))
    found = dn.estimate(dn.tally(sent), fdr=ALARM)
    limit = dn.plan.discovery_limit(design, N, fdr=ALARM, target=1 - ALARM)
    above = {name for name, count in truth.items() if count / N > limit}
    # whole strings that end before the last prefix, too
    assert len({len(name) for name in above}) >= 5
    assert above <= names_found(found) <= set(truth)
    for each in found.found:
        assert abs(each.share - truth[each.text] / N) < 7 * each.error
    rest = 1 - sum(truth[each] for each in names_found(found)) / N
    assert abs(found.unexplained - rest) < 6 * found.unexplained_error
    assert (found.respondents, found.epsilon, found.design) == (
        N,
        design.epsilon,
        design.hash,
    )
    assert (
        dn.StringEstimate.from_json(found.to_json(), design).params == found.params
    )


def test_strings_that_cannot_be_written_with_the_letters_are_left_unexplained() -> (
    None
):
    """Too long, or with another letter: nobody finds them, and nothing else is found for them."""
    answers = ["ab", "abcdabcd", "ab-cd", "x"] * 20_000
    found = dn.estimate(
        dn.tally(
            dn.respond_all(
                dn.string_design(BLOOM, 6), answers, source=seeded("foreign")
            )
        ),
        fdr=ALARM,
    )
    assert names_found(found) == {"ab"}
    assert abs(found.unexplained - 0.75) < 6 * found.unexplained_error


def test_nothing_is_found_where_there_is_nothing() -> None:
    """Everybody's string is another one."""
    answers = [f"{number:07}" for number in range(4_000)]
    found = dn.estimate(
        dn.tally(
            dn.respond_all(
                dn.string_design(BLOOM, 2), answers, source=seeded("none")
            )
        ),
        fdr=ALARM,
    )
    assert found.found == ()
    assert [each.code for each in found.warnings] == ["nothing-found"]


@pytest.mark.statistical
def test_false_discoveries_stay_below_the_rate_that_was_asked_for() -> None:
    """Of 30 seeded surveys; with the normal law of their mean, six standard errors are a false alarm in 10^9."""
    asked, surveys, n = 0.2, 30, 10_000
    many = dn.Prefixes(
        128, hashes=1, cohorts=256, alphabet="abcdefgh", lengths=(2, 4, 6)
    )  # which nobody writes with
    design = dn.string_design(many, 4, optimized=True)
    shares = []
    for survey in range(surveys):
        sent = dn.respond_all(
            design, texts(n, seed=survey), source=seeded(f"survey {survey}")
        )
        found = names_found(dn.estimate(dn.tally(sent), fdr=asked))
        shares.append(len(found - set(NAMES)) / max(len(found), 1))
    assert np.mean(shares) < asked + 6 * np.std(shares) / math.sqrt(surveys)
    assert np.mean(shares) > 0  # there is something to go wrong


@pytest.mark.parametrize("hashes", [1, 2])
def test_a_response_reveals_what_the_design_says_and_its_level_nothing(
    hashes: int,
) -> None:
    """Every way a response can turn out, of every string, with its exact probability."""
    bloom = dn.Prefixes(3, hashes=hashes, cohorts=4, alphabet="ab", lengths=(1,))
    design = dn.string_design(bloom, f="1/4")
    strings = ["", "a", "b", "ab", "ba", "c", "abba", "é"]
    laws = [law(lambda: dn.respond(design, text)) for text in strings]  # noqa: B023 - called at once
    for drawn in laws:
        for cohort in range(4):
            assert (
                sum(
                    chance for sent, chance in drawn.items() if sent.cohort == cohort
                )
                * 4
                == 1
            )
    sent = set().union(*laws)
    ratio = max(
        max(drawn[each] for drawn in laws) / min(drawn[each] for drawn in laws)
        for each in sent
    )
    assert ratio <= design.parity
    assert ratio > 1
    assert laws[1] != laws[3]  # "a" and "ab" are told apart, by whole strings alone
    first = [
        {each: chance for each, chance in drawn.items() if each.cohort < 2}
        for drawn in laws
    ]
    assert first[1] == first[3]


def test_levels_of_many_respondents_do_not_depend_on_their_strings() -> None:
    """A false alarm in 10^9: how often each level is drawn, among those with one string and with another."""
    answers = np.array(["a", "bcdabc"])[np.arange(40_000) % 2]
    sent = dn.respond_all(
        dn.string_design(BLOOM, 1), answers.tolist(), source=seeded("levels")
    )
    levels = sent.columns["cohort"] // 128
    for text in ("a", "bcdabc"):
        counts = np.bincount(levels[answers == text], minlength=4)
        assert (
            (counts - 5_000) ** 2 / 5_000
        ).sum() < 48  # chi-square with 3 degrees of freedom


def test_every_cohort_hashes_its_prefix_one_by_one_and_in_bulk() -> None:
    plain, cohorts = dn.Bloom(128, hashes=1, cohorts=512), np.arange(512)
    for text in ("", "a", "abcdab", "abcdabcd", "e\u0301a\u0301b"):
        rows = engine.encode(BLOOM, [text] * 512, cohorts).truths
        expected = {"e\u0301a\u0301b": ("éá", "éáb", "éáb", "éáb")}.get(
            text, (text[:2], text[:4], text[:6], text)
        )
        for cohort in range(512):
            told = plain.filter(expected[cohort // 128], cohort)
            assert BLOOM.filter(text, cohort) == told
            assert int.from_bytes(rows[cohort].tobytes(), "little") == told


def test_responses_are_raised_and_discovered_from_again() -> None:
    coarse, fine = (
        dn.string_design(BLOOM, epsilon, optimized=True) for epsilon in (2, 6)
    )
    cohorts = engine.draw_cohorts(BLOOM, N, source=seeded("cohorts"))
    encoded, source = engine.encode(BLOOM, texts(), cohorts), seeded("raised")
    rows = engine.respond(coarse, encoded, source=source)
    before = dn.estimate(engine.tally(coarse, cohorts, rows), fdr=ALARM)
    rows = engine.upgrade(coarse, fine, rows, encoded, source=source)
    after = dn.estimate(engine.tally(fine, cohorts, rows), fdr=ALARM)
    assert names_found(before) <= names_found(after) <= set(NAMES)
    assert len(before.found) < len(after.found)
    stage = CohortDesign(fine, 3)
    assert CohortDesign.from_json(stage.to_json()) == stage


def test_noisy_samples_are_discovered_from() -> None:
    noisy, source = dn.NoisySampling.of("99/100", "9/10", "1/10"), seeded("noisy")
    cohorts = engine.draw_cohorts(BLOOM, N, source=source)
    kept = engine.permanent(
        noisy, BLOOM, engine.encode(BLOOM, texts(), cohorts), source=source
    )
    ones, sizes = engine.count_ones(
        BLOOM, cohorts, engine.sample(noisy, BLOOM, kept, source=source)
    )
    found = dn.estimate(NoisyTally(BLOOM, noisy, 1, ones, sizes), fdr=ALARM)
    assert NAMES[0] in names_found(found)
    assert names_found(found) <= set(NAMES)


def test_a_list_is_tested_by_those_who_told_whole_strings() -> None:
    design = dn.string_design(BLOOM, 6, optimized=True)
    counted = dn.tally(dn.respond_all(design, texts(), source=seeded("listed")))
    found = dn.estimate(
        counted, candidates=[*NAMES[:5], "dddddd", "ab-cd"], fdr=ALARM
    )
    assert names_found(found) == set(NAMES[:5])
    with pytest.raises(dn.errors.InvalidRequest, match="hashed for all cohorts"):
        dn.estimate(counted, candidates=dn.Candidates(BLOOM, NAMES))


def test_the_limit_falls_with_people_and_counts_levels() -> None:
    design = dn.string_design(BLOOM, 2, optimized=True)
    shares = [
        dn.plan.discovery_limit(design, n)
        for n in (10_000, 100_000, 1_000_000, 10**12)
    ]
    assert shares == sorted(shares, reverse=True)
    many = dn.Prefixes(128, cohorts=4 << 14, alphabet="abcd", lengths=(2, 4, 6))
    least = dn.plan.discovery_limit(
        dn.string_design(many, 2, optimized=True), 10**12
    )
    assert (
        least == limits._room(many.max_kept, NormalDist().inv_cdf(0.95)) < shares[-1]
    )
    whole = dn.string_design(dn.Bloom(128, cohorts=128), 2, optimized=True)
    told, alone = (
        dn.plan.string_detection_limit(each, n, candidates=1000)
        for each, n in ((design, 400_000), (whole, 100_000))
    )
    # a quarter of the respondents tells whole strings
    assert told == pytest.approx(alone)
    with pytest.raises(dn.errors.InvalidRequest, match="Prefixes"):
        dn.plan.discovery_limit(whole, 10_000)
    with pytest.raises(dn.errors.InvalidRequest, match="target"):
        dn.plan.discovery_limit(design, 10_000, target=1)


def test_lengths_are_chosen_so_that_few_levels_do() -> None:
    assert dn.Prefixes.of("abcdefghijklmnopqrstuvwxyz", 10).lengths == (4, 6, 8, 10)
    assert dn.Prefixes.of("ab", 12).lengths == (12,)
    assert dn.Prefixes.of(
        "".join(map(chr, range(0x4E00, 0x4E00 + 1000))), 4
    ).lengths == (2, 3, 4)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"alphabet": "a"}, "has 1 letters"),
        ({"alphabet": "aba"}, "all of them different"),
        ({"alphabet": "e\u0301"}, "melt into one"),
        ({"lengths": ()}, "rise"),
        ({"lengths": (2, 2, 3)}, "rise"),
        ({"lengths": (0, 1, 2)}, "rise"),
        ({"lengths": (2, 4, 14)}, "rise by 10"),
        ({"lengths": (12, 13, 14)}, "rise by 12"),
        ({"lengths": (2, 4)}, "as many for each of 3 levels"),
        ({"bits": 1}, "bits is 1"),
    ],
)
def test_filters_that_cannot_be_walked_are_refused(
    wrong: dict[str, object], match: str
) -> None:
    good = {
        "bits": 64,
        "hashes": 1,
        "cohorts": 128,
        "alphabet": "abcd",
        "lengths": (2, 4, 6),
    }
    with pytest.raises(dn.errors.InvalidDesign, match=match):
        dn.Prefixes(**{**good, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [0, 201, 2.0])
def test_lengths_that_are_none_are_refused(length: object) -> None:
    with pytest.raises(dn.errors.InvalidDesign, match="expected 1 to 200"):
        dn.Prefixes.of("ab", length)  # type: ignore[arg-type]


def test_what_cannot_be_estimated_is_said() -> None:
    design = dn.string_design(BLOOM, 2)
    with pytest.raises(dn.errors.NotEstimable, match="nobody was asked at level 0"):
        dn.estimate(dn.StringTally.empty(design))
    with pytest.raises(dn.errors.InvalidRequest, match="nobody has listed"):
        dn.estimate(
            dn.tally(dn.respond_all(dn.string_design(dn.Bloom(8), 2), ["a"]))
        )
    with pytest.raises(dn.errors.InvalidRequest, match="false discoveries"):
        dn.estimate(dn.tally(dn.respond_all(design, ["a"] * 500)), fdr=1)
    with pytest.raises(dn.errors.InvalidAnswer) as caught:
        dn.respond(design, 17, cohort=0)  # type: ignore[call-overload]
    assert "17" not in str(caught.value)


def test_a_design_of_prefixes_is_written_and_read_back() -> None:
    design = dn.string_design(BLOOM, 2)
    assert dn.StringDesign.from_json(design.to_json()) == design
    assert dn.StringDesign.from_json(design.to_json()).bloom == BLOOM
    plain = dn.string_design(dn.Bloom(128, cohorts=512), 2)
    assert design != plain
    with pytest.raises(dn.errors.Incompatible):
        dn.tally(plain, [dn.respond(design, "ab")])


@pytest.mark.parametrize(("kept", "target"), [(300, 0.99), (1_000, 0.999)])
def test_those_that_stand_out_as_much_fit_into_the_places_there_are(
    kept: int, target: float
) -> None:
    """A prefix at the limit is kept, whatever equal shares the others have; half of that share fails somewhere."""
    rng, sure = np.random.default_rng(kept), NormalDist().inv_cdf(target)
    threshold = discovery.threshold(MAX_PREFIXES)

    def crowd(share: float) -> int:
        """The most that stand out beside one of this share, of 200 looks at each of many populations."""
        error = share / (threshold + sure)
        sizes = np.unique(np.geomspace(1, 3 / share, 60).astype(int))
        rates = [NormalDist().cdf(1 / size / error - threshold) for size in sizes]
        return int(
            max(
                (rng.binomial(size, rate, 200) + rng.poisson(100, 200)).max()
                for size, rate in zip(sizes, rates, strict=True)
            )
        )

    assert (
        crowd(limits._room(kept, sure)) < kept <= crowd(limits._room(kept, sure) / 2)
    )


def test_a_filter_whose_places_chance_fills_is_refused() -> None:
    with pytest.raises(dn.errors.InvalidRequest, match="chance alone"):
        limits._room(150, 3.0)
