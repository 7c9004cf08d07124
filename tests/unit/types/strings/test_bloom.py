from __future__ import annotations

import hashlib
import unicodedata

import numpy as np
import pytest

from deniable.errors import InvalidAnswer, InvalidDesign, InvalidRequest
from deniable.types.strings.design import Bloom
from deniable.types.strings.hashing import places_of, seeds_of

TEXTS = ["", "Smith", "smith", "Müller", "李", "a" * 1000, "\0", " Smith"]


def by_hand(bloom: Bloom, text: str, cohort: int) -> tuple[int, ...]:
    """The hash once more, written from its description."""
    seed = int.from_bytes(
        hashlib.blake2b(unicodedata.normalize("NFC", text).encode("utf-8")).digest()[
            :8
        ],
        "little",
    )
    found = []
    for number in range(cohort * bloom.hashes, (cohort + 1) * bloom.hashes):
        state = seed
        for _ in range(number + 1):  # SplitMix64 steps on, word after word
            state = (state + 0x9E3779B97F4A7C15) % 2**64
        word = state
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        word ^= word >> 31
        found.append((word // 2**32) * bloom.bits // 2**32)
    return tuple(found)


@pytest.mark.parametrize(
    "bloom",
    [Bloom(128, 2, 64), Bloom(2, 1, 1), Bloom(1000, 16, 3), Bloom(1 << 20, 3, 7)],
)
def test_places_are_as_described_one_by_one_and_at_once(bloom: Bloom) -> None:
    at_once = places_of(bloom, seeds_of(TEXTS))
    for row, text in enumerate(TEXTS):
        for cohort in {0, bloom.cohorts // 2, bloom.cohorts - 1}:
            places = bloom.places(text, cohort)
            assert places == by_hand(bloom, text, cohort)
            assert at_once[row, cohort].tolist() == list(places)
            assert bloom.filter(text, cohort) == sum(
                1 << place for place in set(places)
            )
    cohorts = np.arange(len(TEXTS)) % bloom.cohorts
    given = places_of(bloom, seeds_of(TEXTS), cohorts)
    assert given.tolist() == [
        list(bloom.places(text, int(c)))
        for text, c in zip(TEXTS, cohorts, strict=True)
    ]


def test_a_cohort_may_come_from_an_array() -> None:
    bloom = Bloom(128, hashes=2, cohorts=64)
    assert bloom.places("Smith", np.int64(63)) == bloom.places("Smith", 63)


def test_two_ways_to_write_a_letter_are_one_string() -> None:
    bloom = Bloom(1024)
    assert bloom.filter("M\u00fcller", 5) == bloom.filter("Mu\u0308ller", 5)


@pytest.mark.statistical
def test_places_are_even_and_cohorts_are_apart() -> None:
    """Six standard errors each: a false alarm in 10^9 tests."""
    bloom = Bloom(64, hashes=1, cohorts=256)
    places = places_of(bloom, seeds_of(str(number) for number in range(2000)))[
        :, :, 0
    ]
    counts = np.bincount(places.reshape(-1), minlength=64)
    assert np.abs(counts - 8000).max() < 6 * np.sqrt(8000)
    # Two strings meet in one cohort out of 64, and in each cohort independently of the others.
    meetings = (places[:1000] == places[1000:]).sum(axis=1)
    assert abs(meetings.mean() - 4) < 6 * np.sqrt(4 / 1000)
    assert abs(meetings.var() - 4 * 63 / 64) < 6 * 4 * np.sqrt(2 / 1000) * 1.2


@pytest.mark.parametrize(
    "wrong",
    [
        {"bits": 1},
        {"bits": 128, "hashes": 0},
        {"bits": 128, "cohorts": 0},
        {"bits": 1 << 21},
    ],
)
def test_what_is_no_filter_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidDesign):
        Bloom(**wrong)


def test_what_is_no_text_is_refused_and_not_repeated() -> None:
    for wrong in (None, 17, b"Smith", "\ud800Smith"):
        with pytest.raises(InvalidAnswer) as caught:
            Bloom(128).filter(wrong, 0)  # type: ignore[arg-type]  # what users bring by mistake
        assert "Smith" not in str(caught.value)
        assert "17" not in str(caught.value)
    with pytest.raises(InvalidRequest, match="no cohort 64"):
        Bloom(128).places("Smith", 64)


def test_a_filter_travels() -> None:
    assert Bloom.from_body(Bloom(128, 2, 32).to_body()) == Bloom(128, 2, 32)
    with pytest.raises(InvalidDesign, match="md5"):
        Bloom.from_body({**Bloom(128).to_body(), "hash": "md5"})
