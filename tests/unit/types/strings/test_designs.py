from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import deniable as dn
from deniable import documents
from deniable.chance import Source
from deniable.errors import (
    Incompatible,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    NotAllowed,
    NotOrdered,
    UnreadableFile,
)
from deniable.release.ledger import Ledger
from deniable.types.strings.count import StringTally
from deniable.types.strings.count import tally as tally_strings
from deniable.types.strings.design import (
    Bloom,
    CohortDesign,
    NoisySampling,
    StringDesign,
    StringResponse,
    relax_strings,
    schedule,
    string_design,
    string_ladder,
)
from deniable.types.strings.respond import (
    degrade,
    permanent,
    respond,
    sample,
    upgrade,
)

BLOOM = Bloom(128, hashes=2)


@pytest.mark.parametrize("epsilon", [0.1, 1, "5/2", 4, 10])
@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("hashes", [1, 2, 5])
def test_a_response_never_exceeds_the_epsilon_asked_for(
    epsilon: float | str, optimized: bool, hashes: int
) -> None:
    design = string_design(Bloom(64, hashes=hashes), epsilon, optimized=optimized)
    assert design.epsilon <= float(
        Fraction(epsilon) if isinstance(epsilon, str) else epsilon
    )
    assert design.epsilon == pytest.approx(float(Fraction(str(epsilon))), rel=1e-9)


def test_rappors_own_parameters() -> None:
    design = string_design(BLOOM, f="1/4")
    assert design.bit_parity == 3
    assert design.parity == 3**4
    assert design.bit_epsilon == pytest.approx(math.log(3))
    assert design.epsilon == pytest.approx(4 * math.log(3))
    assert "up to 4 of its 128 bits" in design.told
    assert string_design(Bloom(128), bit_epsilon=1).epsilon == pytest.approx(
        2, rel=1e-9
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"epsilon": 1, "f": 0.5},
        {"f": 0.5, "optimized": True},
        {"bit_epsilon": 1, "epsilon": 2},
    ],
)
def test_one_way_to_say_how_private(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidRequest):
        string_design(BLOOM, **wrong)  # type: ignore[arg-type]


def test_bits_that_say_nothing_or_all_are_refused() -> None:
    for f in (1, "1/2", 0):
        with pytest.raises(InvalidDesign):
            string_design(BLOOM, f=f)


def test_a_design_travels() -> None:
    for design in (
        string_design(BLOOM, f="1/4"),
        string_design(BLOOM, 3, optimized=True),
    ):
        again = StringDesign.from_json(design.to_json())
        assert (again, again.hash) == (design, design.hash)
        mine = CohortDesign(design, 5)
        assert CohortDesign.from_json(mine.to_json()) == mine
    with pytest.raises(InvalidRequest, match="no cohort 64"):
        CohortDesign(design, 64)
    body = documents.unseal("string-design", design.to_json())
    for wrong in ({"channel": dn.warner(1).channel.to_body()}, {"more": 1}):
        with pytest.raises(UnreadableFile):
            StringDesign.from_json(
                documents.seal("string-design", {**body, **wrong})
            )
    with pytest.raises(InvalidDesign, match="one bit for each place"):
        StringDesign(Bloom(64), design.channel)
    changed = json.loads(design.to_json())
    changed["bloom"]["bits"] = 64
    with pytest.raises(UnreadableFile):
        StringDesign.from_json(json.dumps(changed))


def test_responses_are_raised_and_degraded(seeded: Source) -> None:
    stages = [string_design(BLOOM, epsilon) for epsilon in (1, 2, 4)]
    first = respond(stages[0], "Smith", cohort=3, source=seeded)
    second = upgrade(stages[0], stages[1], first, "Smith", source=seeded)
    third = upgrade(stages[1], stages[2], second, "Smith", source=seeded)
    back = degrade(stages[0], stages[2], third, source=seeded)
    assert [each.design for each in (first, second, third, back)] == [
        stages[at].hash for at in (0, 1, 2, 0)
    ]
    assert {each.cohort for each in (first, second, third, back)} == {3}
    assert StringResponse.from_json(first.to_json()) == first
    with pytest.raises(Incompatible):
        upgrade(stages[1], stages[2], first, "Smith")
    with pytest.raises(NotOrdered):
        upgrade(stages[1], stages[0], second, "Smith")
    with pytest.raises(Incompatible, match="hash strings differently"):
        relax_strings(stages[0], string_design(Bloom(128), 4))
    with pytest.raises(InvalidResponse):
        StringResponse(stages[0].hash, 3, "b01").bits(stages[0])
    with pytest.raises(InvalidResponse):
        StringResponse(stages[0].hash, 64, first.symbol).bits(stages[0])


@pytest.mark.statistical
def test_bits_are_sent_as_often_as_the_design_says_at_every_stage(
    seeded: Source,
) -> None:
    """Six standard errors: a false alarm in 10^9 tests."""
    bloom = Bloom(16, hashes=2, cohorts=1)
    stages = [
        string_design(bloom, 1),
        string_design(bloom, 2),
        string_design(bloom, 4),
    ]
    true, n = bloom.filter("Smith", 0), 3000
    counts = [[0, 0] for _ in stages]
    for _ in range(n):
        response = respond(stages[0], "Smith", cohort=0, source=seeded)
        for number, stage in enumerate(stages):
            if number:
                response = upgrade(
                    stages[number - 1], stage, response, "Smith", source=seeded
                )
            bits = response.bits(stage)
            counts[number][0] += (bits & true).bit_count()
            counts[number][1] += (bits & ~true).bit_count()
    for (ones, strays), stage in zip(counts, stages, strict=True):
        for count, size, rate in (
            (ones, true.bit_count(), stage.bit.hit),
            (strays, 16 - true.bit_count(), stage.bit.stray),
        ):
            error = math.sqrt(n * size * rate * (1 - rate))
            assert abs(count - n * size * rate) < 6 * error


def test_the_schedule_of_noisy_sampling_reveals_no_more_than_it() -> None:
    for noisy in (
        NoisySampling.of("3/4", "3/4", "1/2"),
        NoisySampling.symmetric(1, 0.5),
        NoisySampling.of("0.9", "0.3", "0.2"),
    ):
        stages = schedule(BLOOM, noisy, 40)
        for number, stage in enumerate(stages, start=1):
            for ours, theirs in zip(stage.ratios, noisy.ratios(number), strict=True):
                assert ours <= theirs
                assert float(ours) == pytest.approx(float(theirs), rel=1e-9)
        for one, two in pairwise(stages):
            relax_strings(one, two)
    with pytest.raises(InvalidRequest):
        schedule(BLOOM, NoisySampling.of(1, 1, "1/2"), 2)
    with pytest.raises(InvalidRequest):
        schedule(BLOOM, NoisySampling.of("3/4", "3/4", "1/2"), 0)


def test_samples_are_of_the_permanent_bits(seeded: Source) -> None:
    noisy = NoisySampling.of("3/4", "9/10", "1/10")
    kept = permanent(noisy, BLOOM, "Smith", 3, source=seeded)
    drawn = [sample(noisy, BLOOM, kept, source=seeded) for _ in range(300)]
    often = Counter(
        place for bits in drawn for place in range(128) if bits >> place & 1
    )
    assert all(
        (often[place] > 150) == bool(kept >> place & 1) for place in range(128)
    )
    with pytest.raises(Incompatible):
        sample(noisy, Bloom(4), 1 << 5)


def test_strings_go_into_a_ledger(tmp_path: Path) -> None:
    stages = [
        CohortDesign(string_design(BLOOM, epsilon), 7) for epsilon in (1, 2, 4)
    ]
    with Ledger.create(tmp_path / "mine.ledger", budget=4) as ledger:
        ledger.answer("surname", "Smith", about=stages[0])
        released = {at: ledger.release("surname", stages[at]) for at in (0, 2, 1)}
        assert ledger.status().epsilon == pytest.approx(4)
        assert {
            at: ledger.release("surname", stages[at]).response for at in released
        } == {at: each.response for at, each in released.items()}
        responses = [
            stages[at].counted(each.response) for at, each in released.items()
        ]
        assert tally_strings(stages[0].design, [responses[0]]).respondents == 1
        with pytest.raises(Incompatible):
            ledger.release("surname", CohortDesign(string_design(BLOOM, 3), 8))
        ledger.check()
    planned = string_ladder([each.design for each in stages], 7)
    with Ledger.create(tmp_path / "planned.ledger") as ledger:
        ledger.answer("surname", "Smith", about=planned)
        assert ledger.release("surname").response.design == stages[0].hash
        ledger.release("surname", 2)
        with pytest.raises(NotAllowed):
            ledger.release("surname", CohortDesign(string_design(BLOOM, 5), 7))
        assert b"Smith" not in (tmp_path / "planned.ledger").read_bytes()


def test_tallies_of_strings_add_up() -> None:
    design = string_design(Bloom(4, cohorts=2), 1)
    one, two = (
        StringResponse(design.hash, 0, "b1100"),
        StringResponse(design.hash, 1, "b0110"),
    )
    both = tally_strings(design, [one, two])
    assert tally_strings(design, [one]) + tally_strings(design, [two]) == both
    assert both + StringTally.empty(design) == both
    assert hash(both) == hash(tally_strings(design, [two, one]))
    assert StringTally.from_json(both.to_json(), design) == both
    for wrong in (
        {"ones": [[0.5] * 4] * 2},
        {"sizes": [1]},
        {"ones": [["?"] * 4] * 2},
    ):
        body = {**documents.unseal("string-tally", both.to_json()), **wrong}
        with pytest.raises(UnreadableFile, match="whole numbers"):
            StringTally.from_json(documents.seal("string-tally", body), design)
    with pytest.raises(TypeError):
        both + 1  # type: ignore[operator]
    other = string_design(Bloom(4, cohorts=2), 2)
    with pytest.raises(Incompatible):
        both + StringTally.empty(other)
    with pytest.raises(Incompatible):
        StringTally.from_json(both.to_json(), other)
    with pytest.raises(Incompatible):
        tally_strings(other, [one])
    for ones, sizes in (
        ([[1, 0, 0, 0], [0, 0, 0, 0]], [0, 0]),
        ([[0] * 3] * 2, [1, 1]),
        ([[0.5] * 4] * 2, [1, 1]),
    ):
        with pytest.raises(InvalidResponse):
            StringTally(design, ones, sizes)  # type: ignore[arg-type]


def test_a_cohort_is_drawn_and_what_is_no_response_is_refused(
    seeded: Source,
) -> None:
    design = string_design(Bloom(16, cohorts=2), 8)
    assert {respond(design, "Smith", source=seeded).cohort for _ in range(100)} == {
        0,
        1,
    }  # else once in 2^99
    sent = [respond(design, "Smith", source=seeded), None]
    assert (
        tally_strings(design, sent).respondents,
        tally_strings(design, sent).missing,
    ) == (1, 1)
    for wrong in (3, "b01", ["b01"], {}):
        with pytest.raises(InvalidResponse):
            tally_strings(design, wrong)  # type: ignore[arg-type]
