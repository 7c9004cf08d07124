from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.types.strings import draw as engine
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.count import tally as tally_strings
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    StringDesign,
    StringResponse,
    schedule,
    string_design,
)
from deniable.types.strings.estimate import (
    Candidates,
    StringEstimate,
    benjamini_hochberg,
)
from deniable.types.strings.estimate import estimate as estimate_strings
from deniable.types.strings.limits import share_error, string_detection_limit
from deniable.types.strings.regression import Chance
from tests.support.seeded import seeded as source_named

N = 60_000
ALARM = 1e-9
NAMES = [f"name {number}" for number in range(400)]
SHARES = np.array([0.5 ** (number / 6) for number in range(60)])
SHARES /= SHARES.sum()


def names_found(result: StringEstimate) -> set[str]:
    return {each.text for each in result.found}


def texts(n: int = N) -> list[str]:
    """The first sixty names, fewer and fewer; the others are candidates that nobody has."""
    picked = np.random.default_rng(17).choice(60, n, p=SHARES)
    return [NAMES[number] for number in picked]


def encoded(bloom: Bloom, name: str, n: int = N) -> engine.Encoded:
    return engine.encode(
        bloom, texts(n), engine.draw_cohorts(bloom, n, source=source_named(name))
    )


@pytest.mark.parametrize(
    ("hashes", "optimized"), [(1, True), (1, False), (2, False)]
)
def test_names_above_the_limit_are_found_at_every_stage(
    hashes: int, optimized: bool
) -> None:
    """The surnames of `benchmarks/surnames.py` in small; so strict that it fails by chance once in 10^9 runs."""
    bloom, truth = Bloom(64, hashes=hashes, cohorts=64), Counter(texts())
    source, known = source_named(f"{hashes} {optimized}"), Candidates(bloom, NAMES)
    stages = [
        string_design(bloom, epsilon, optimized=optimized) for epsilon in (2, 4, 6)
    ]
    answers = encoded(bloom, "cohorts")
    rows = engine.respond(stages[0], answers, source=source)
    seen = []
    for number, stage in enumerate(stages):
        if number:
            rows = engine.upgrade(
                stages[number - 1], stage, rows, answers, source=source
            )
        found = estimate_strings(
            engine.tally(stage, answers.cohorts, rows), known, fdr=ALARM
        )
        limit = string_detection_limit(
            stage, N, candidates=len(NAMES), fdr=ALARM, target=1 - ALARM
        )
        above = {name for name, count in truth.items() if count / N > limit}
        assert above
        assert above <= names_found(found) <= set(truth)
        for each in found.found:
            assert abs(each.share - truth[each.text] / N) < 7 * each.error
            low, high = each.interval(level=0.9)
            assert low < each.share < high
        rest = 1 - sum(truth[each] for each in names_found(found)) / N
        assert abs(found.unexplained - rest) < 6 * found.unexplained_error
        seen.append(len(found.found))
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]


def test_strings_that_are_no_candidates_are_unexplained() -> None:
    bloom = Bloom(64, cohorts=128)
    answers = encoded(bloom, "half")
    design = string_design(bloom, 6, optimized=True)
    rows = engine.respond(design, answers, source=source_named("half known"))
    found = estimate_strings(
        engine.tally(design, answers.cohorts, rows),
        NAMES[:60:2] + NAMES[60:],
        fdr=ALARM,
    )
    known = Counter(texts())
    rest = 1 - sum(known[name] for name in names_found(found)) / N
    assert rest > sum(known[name] for name in NAMES[1:60:2]) / N
    assert abs(found.unexplained - rest) < 6 * found.unexplained_error
    assert found.excess > 1.05  # heavy strings that nobody looks for leave lumps
    assert names_found(found) <= set(NAMES[:60:2])
    for each in found.found:
        assert abs(each.share - known[each.text] / N) < 6 * each.error


def test_noisy_samples_are_estimated_from_and_relaxation_does_better() -> None:
    bloom, noisy, samples = (
        Bloom(64, cohorts=64),
        NoisySampling.of("9/10", "6/10", "4/10"),
        6,
    )
    answers, source = encoded(bloom, "cohorts"), source_named("noisy")
    kept = engine.permanent(noisy, bloom, answers, source=source)
    counts = [
        engine.count_ones(
            bloom, answers.cohorts, engine.sample(noisy, bloom, kept, source=source)
        )
        for _ in range(samples)
    ]
    tally = NoisyTally(
        bloom, noisy, samples, sum(ones for ones, _ in counts), counts[0][1]
    )  # type: ignore[arg-type]
    before = estimate_strings(tally, NAMES, fdr=ALARM)
    design = schedule(bloom, noisy, samples)[-1]
    after = estimate_strings(
        engine.tally(
            design, answers.cohorts, engine.respond(design, answers, source=source)
        ),
        NAMES,
        fdr=ALARM,
    )
    truth = Counter(texts())
    for found in (before, after):
        assert found.found
        assert names_found(found) <= set(truth)
        assert all(
            abs(each.share - truth[each.text] / N) < 7 * each.error
            for each in found.found
        )
    assert after.found[0].error < 0.9 * before.found[0].error


@pytest.mark.statistical
def test_errors_and_p_values_are_what_they_say() -> None:
    """Many names that nobody has: their p-values are even, or larger. A false alarm in 10^9 tests."""
    bloom, n = Bloom(64, hashes=2, cohorts=64), 20_000
    answers, design = encoded(bloom, "even", n), string_design(bloom, 4)
    rows = engine.respond(design, answers, source=source_named("p-values"))
    nobody = [f"nobody {number}" for number in range(4000)]
    found = estimate_strings(
        engine.tally(design, answers.cohorts, rows), NAMES[:60] + nobody
    )
    low = int((found.p_values[60:] < 0.01).sum())
    assert low < 40 + 6 * math.sqrt(40)
    assert low > 10  # they are not merely all 1
    assert found.excess < 1.2
    top = found.found[0]
    theory = share_error(design, n, share=top.share)
    assert top.error == pytest.approx(theory, rel=0.2)


UNLISTED = [f"unlisted {number}" for number in range(20)]


def counted(
    design: StringDesign,
    names: list[str],
    counts: list[int],
    rng: np.random.Generator,
) -> StringTally:
    """What so many people with such names send, in law."""
    bloom, (hit, stray) = design.bloom, map(float, design.bit)
    cohorts = np.array(
        [
            rng.multinomial(count, np.full(bloom.cohorts, 1 / bloom.cohorts))
            for count in counts
        ]
    )
    truths = np.zeros((bloom.cohorts, bloom.bits), np.int64)
    for name, people in zip(names, cohorts, strict=True):
        for cohort in range(bloom.cohorts):
            truths[cohort, list(set(bloom.places(name, cohort)))] += people[cohort]
    sizes = cohorts.sum(axis=0)
    ones = rng.binomial(truths, hit) + rng.binomial(sizes[:, None] - truths, stray)
    return StringTally(design, ones, sizes)


@pytest.mark.statistical
@pytest.mark.parametrize(("hashes", "cohorts"), [(1, 8), (1, 64), (2, 8)])
def test_p_values_are_even_where_frequent_names_are_not_listed(
    hashes: int, cohorts: int
) -> None:
    """Half of all people have names that are no candidates. Each count is off by chance once in 10^9 tests."""
    design = string_design(
        Bloom(128, hashes=hashes, cohorts=cohorts), epsilon=4 * hashes
    )
    rng = np.random.default_rng([hashes, cohorts])
    tally = counted(design, NAMES[:20] + UNLISTED, [12_500] * 40, rng)
    nobody = [f"nobody {number}" for number in range(5000)]
    p_values = estimate_strings(tally, NAMES[:20] + nobody).p_values[20:]
    for rate in (0.001, 0.01, 0.1):
        low, high = (
            binom.ppf(ALARM / 6, 5000, rate),
            binom.isf(ALARM / 6, 5000, rate),
        )
        assert low <= (p_values <= rate).sum() <= high


@pytest.mark.statistical
def test_false_discoveries_and_what_is_unexplained_hold_where_frequent_names_are_not_listed() -> (
    None
):
    """Eight cohorts, in which names that nobody listed meet candidates. Twelve surveys, so strict as 10^-9 asks."""
    design, runs = string_design(Bloom(128, cohorts=8), epsilon=4), 12
    shares = 0.5 ** (np.arange(40) / 8)
    shares = np.concatenate(
        [shares, shares[:20] * shares.sum() / shares[:20].sum()]
    ) / (2 * shares.sum())
    false, missed, rng = [], 0, np.random.default_rng(20)
    for run in range(runs):
        names = [f"{run} {name}" for name in NAMES[:40] + UNLISTED]
        counts = dict(
            zip(names, rng.multinomial(100_000, shares).tolist(), strict=True)
        )
        tally = counted(design, names, list(counts.values()), rng)
        found = estimate_strings(
            tally, names[:40] + [f"{run} nobody {number}" for number in range(960)]
        )
        assert len(found.found) > 5
        false.append(
            sum(name not in counts for name in names_found(found)) / len(found.found)
        )
        rest = 1 - sum(counts.get(name, 0) for name in names_found(found)) / 100_000
        missed += abs(found.unexplained - rest) > 1.96 * found.unexplained_error
    assert np.mean(false) < 0.05 + 6 * np.std(false) / math.sqrt(runs)
    assert binom.sf(missed - 1, runs, 0.08) > ALARM


@pytest.mark.statistical
def test_what_is_unexplained_does_not_owe_to_luck() -> None:
    """Many names about the limit, of which those are found that had luck. Off by chance once in 10^9 surveys."""
    design, n = string_design(Bloom(128), epsilon=4, optimized=True), 64_000
    tally = counted(design, NAMES[:320], [n // 320] * 320, np.random.default_rng(8))
    found = estimate_strings(
        tally, NAMES + [f"nobody {number}" for number in range(2000)]
    )
    assert 40 < len(found.found) < 280
    rest = 1 - sum(name in NAMES[:320] for name in names_found(found)) / 320
    assert abs(found.unexplained - rest) < 6.1 * found.unexplained_error
    assert (
        1 - sum(each.share for each in found.found)
        < rest - 4 * found.unexplained_error
    )  # what the sum of shares would say


@pytest.mark.parametrize(
    ("cohorts", "bits", "hashes"),
    [(1, 4, 1), (3, 6, 1), (2, 5, 2), (1, 3, 4), (1, 7, 3)],
)
def test_the_chance_of_a_name_that_nobody_has_is_that_of_all_places(
    cohorts: int, bits: int, hashes: int
) -> None:
    """Every way in which the hashes can fall, against what is added up on a grid."""
    rng = np.random.default_rng(bits)
    chance = Chance(
        rng.normal(size=(cohorts, bits)) + 5 * (rng.random((cohorts, bits)) < 0.2),
        hashes,
    )
    sums = np.zeros(1)
    for row in chance.pulls:
        one = [
            sum(row[list(set(places))])
            for places in product(range(bits), repeat=hashes)
        ]
        sums = (sums[:, None] + np.array(one)).reshape(-1)
    found, slack = chance.above(sums), 0.4 * chance.deviation
    assert (found >= [(sums >= each).mean() - 1e-9 for each in sums.round(9)]).all()
    assert (found <= [(sums >= each - slack).mean() + 1e-9 for each in sums]).all()
    far = chance.above(np.array([sums.max() + 1, 50 * chance.deviation]))
    assert (far <= 1e-11).all()
    assert (sums >= chance.reach(0.01)).mean() <= 0.01


def test_the_limit_falls_with_people_and_epsilon_and_rises_with_candidates() -> None:
    bloom = Bloom(128, cohorts=512)
    limits = [
        string_detection_limit(string_design(bloom, epsilon), 10**6, candidates=1000)
        for epsilon in (1, 2, 4)
    ]
    assert limits == sorted(limits, reverse=True)
    design = string_design(bloom, 4)
    assert (
        string_detection_limit(design, 10**7, candidates=1000)
        < limits[2]
        < string_detection_limit(design, 10**6, candidates=10**6)
    )
    assert (
        string_detection_limit(design, 10**6, candidates=1000, others=0) < limits[2]
    )
    for wrong in ({"fdr": 2}, {"target": 0}, {"candidates": 0}):
        with pytest.raises(InvalidRequest):
            string_detection_limit(design, 10**6, **{"candidates": 10, **wrong})
    with pytest.raises(InvalidRequest, match="do not find any"):
        string_detection_limit(design, 1, candidates=10)


def test_false_discoveries_are_controlled_step_by_step() -> None:
    """The example of Benjamini and Hochberg (1995), section 3.2: four of fifteen."""
    p_values = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert benjamini_hochberg(np.array(p_values), 0.05).sum() == 4
    assert benjamini_hochberg(np.array(p_values[::-1]), 0.05)[-4:].all()
    assert not benjamini_hochberg(np.ones(3), 0.05).any()


def test_what_cannot_be_estimated_is_refused() -> None:
    design = string_design(Bloom(16, cohorts=4), 2)
    some = tally_strings(design, [StringResponse(design.hash, 1, "b" + "01" * 8)])
    with pytest.raises(InvalidRequest):
        estimate_strings(some, [])
    for twice in (["a", "a"], ["M\u00fcller", "Mu\u0308ller"]):
        with pytest.raises(InvalidRequest, match="stands twice"):
            estimate_strings(some, twice)
    with pytest.raises(InvalidRequest):
        estimate_strings(some, ["a"], fdr=1)
    with pytest.raises(NotEstimable):
        estimate_strings(StringTally.empty(design), ["a"])
    with pytest.raises(Incompatible):
        estimate_strings(some, Candidates(Bloom(32), ["a"]))
    assert estimate_strings(some, ["a", "b"]).tested == 2  # three cohorts are empty


class TestInBulk:
    def test_bits_are_those_of_the_strings(self) -> None:
        bloom = Bloom(100, hashes=3, cohorts=5)
        cohorts = engine.draw_cohorts(bloom, 50, source=source_named("five"))
        assert set(cohorts.tolist()) == set(range(5))
        found = engine.encode(bloom, NAMES[:50], cohorts)
        for row, text, cohort in zip(found.truths, NAMES, cohorts, strict=False):
            assert int.from_bytes(row.tobytes(), "little") == bloom.filter(
                text, int(cohort)
            )
        assert engine.draw_cohorts(Bloom(100, cohorts=1), 3).tolist() == [0, 0, 0]

    def test_the_same_bytes_give_the_same_responses_as_one_by_one(self) -> None:
        from deniable.types.strings.respond import respond, upgrade

        bloom = Bloom(100, hashes=2, cohorts=8)
        one, two = string_design(bloom, 2), string_design(bloom, "7/2")
        found = engine.encode(bloom, NAMES[:40], np.arange(40) % 8)
        scalar, bulk = source_named("sizes"), source_named("sizes")
        responses = [
            respond(one, text, cohort=number % 8, source=scalar)
            for number, text in enumerate(NAMES[:40])
        ]
        rows = engine.respond(one, found, source=bulk)
        assert [int.from_bytes(row.tobytes(), "little") for row in rows] == [
            each.bits(one) for each in responses
        ]
        raised = [
            upgrade(one, two, each, text, source=scalar)
            for each, text in zip(responses, NAMES, strict=False)
        ]
        rows = engine.upgrade(one, two, rows, found, source=bulk)
        assert [int.from_bytes(row.tobytes(), "little") for row in rows] == [
            each.bits(two) for each in raised
        ]
        assert engine.tally(two, found.cohorts, rows) == tally_strings(two, raised)

    def test_what_does_not_fit_is_refused(self) -> None:
        bloom = Bloom(16, cohorts=4)
        for cohorts in ([0], [0, 4], [0.5, 1], [-1, 0]):
            with pytest.raises(InvalidRequest):
                engine.encode(bloom, ["a", "b"], np.array(cohorts))
        with pytest.raises(InvalidAnswer):
            engine.encode(bloom, [None], np.array([0]))  # type: ignore[list-item]
        design = string_design(bloom, 2)
        with pytest.raises(InvalidResponse):
            engine.tally(design, np.array([0]), np.zeros((1, 3), np.uint8))
        with pytest.raises(InvalidResponse):
            engine.tally(design, np.array([4]), np.zeros((1, 2), np.uint8))


def test_strings_that_no_cohort_tells_apart_are_not_found() -> None:
    """Four places and one cohort: whoever set a bit may have had any of the strings that set it."""
    bloom = Bloom(4, hashes=1, cohorts=1)
    counted = StringTally(
        string_design(bloom, epsilon=4),
        np.array([[700, 80, 90, 300]]),
        np.array([1000]),
    )
    names = [f"c{number}" for number in range(12)]
    places = Counter(bloom.places(name, 0) for name in names)
    assert min(places.values()) > 1
    assert estimate_strings(counted, names).found == ()
    table = estimate_strings(counted, names).to_frame()
    assert (list(table.index), table.index.name) == (names, "name")
    assert not table["found"].any()
    assert {"estimate", "error", "low", "high"} <= set(table.columns)
    apart = {bloom.places(name, 0): name for name in names}
    alone = estimate_strings(counted, list(apart.values()))
    # a name that nobody listed sets it as often
    assert alone.p_values[list(apart).index((0,))] == pytest.approx(1 / 4)
    assert alone.found == ()


def test_shares_of_more_than_everybody_have_no_negative_variance() -> None:
    bloom = Bloom(64, hashes=4, cohorts=1)
    names = [name for name in NAMES if len(set(bloom.places(name, 0))) == 4][:2]
    design, ones = string_design(bloom, epsilon=40), np.zeros((1, 64), int)
    for name in names:
        ones[0, list(bloom.places(name, 0))] = 1000
    found = estimate_strings(StringTally(design, ones, np.array([1000])), names)
    assert len(found.found) == 2
    assert found.unexplained < -0.9
    assert found.unexplained_error > 0


@pytest.mark.parametrize(
    ("alpha", "p", "q"), [(1, 1, 0), (1, 1, "1/2"), (1, "1/2", 0)]
)
def test_samples_that_are_the_truth_can_be_counted(
    alpha: int, p: int | str, q: int | str
) -> None:
    bloom, noisy = Bloom(16, cohorts=2), NoisySampling.of(alpha, p, q)
    ones = np.zeros((2, 16), int)
    for cohort in (0, 1):
        ones[cohort, bloom.places("a", cohort)[0]] = 50
    found = estimate_strings(
        NoisyTally(bloom, noisy, 1, ones, np.array([50, 50])), ["a", "b"]
    )
    assert [each.text for each in found.found] == ["a"]
    assert 0 < found.found[0].error < 1


@pytest.mark.parametrize("most", [2**63 + 9, 2**64 - 1])
def test_counts_that_do_not_fit_are_refused(most: int) -> None:
    design = string_design(Bloom(4, cohorts=1), epsilon=4)
    with pytest.raises(InvalidResponse, match="negative"):
        StringTally(design, np.full((1, 4), 5), np.full(1, most, np.uint64))


@pytest.mark.parametrize("samples", [0, -1, 2.5])
def test_there_are_some_samples(samples: int) -> None:
    noisy = NoisySampling.of("3/4", "3/4", "1/2")
    with pytest.raises(InvalidRequest, match="expected 1 or more"):
        NoisyTally(
            Bloom(4, cohorts=1),
            noisy,
            samples,
            np.zeros((1, 4), int),
            np.zeros(1, int),
        )
    with pytest.raises(InvalidRequest, match="expected 1 or more"):
        noisy.variance(samples, bit=1)
    with pytest.raises(InvalidRequest, match="expected 1 or more"):
        noisy.share(1, samples)


def test_plans_for_nobody_and_with_impossible_shares_are_refused() -> None:
    design = string_design(Bloom(64), epsilon=4)
    for respondents in (0, -1, math.nan):
        with pytest.raises(InvalidRequest, match="at least one respondent"):
            share_error(design, respondents)  # type: ignore[arg-type]  # what users bring
    for others in (-5, math.nan, 2):
        with pytest.raises(InvalidRequest, match="from 0 to 1"):
            string_detection_limit(design, 10**6, candidates=10, others=others)
    with pytest.raises(InvalidRequest, match="candidates"):
        string_detection_limit(design, 10**6, candidates=10**400)
    assert (
        string_detection_limit(design, 10**6, candidates=1, fdr=0.9, target=0.1) == 0
    )
