"""The families that send sets: subset, unary, rappor, mixture, truncated_rappor; and what sets are called."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.channel import Bits, Mixture, Subset
from deniable.designs import (
    Bitstrings,
    Design,
    best_t,
    mixture_risk,
    rappor_weights,
    subset_information,
    subset_risk,
)
from deniable.designs.labels import format_labels, size
from deniable.errors import (
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)

GRID = [
    (k, epsilon)
    for k in (2, 3, 16, 128, 1000)
    for epsilon in (0.001, 0.1, 0.5, 1, 3, 8, 12)
]


@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_certified_epsilon_is_at_most_what_was_asked_for_and_hardly_less(
    k: int, epsilon: float
) -> None:
    designs = [
        dn.subset(k, epsilon),
        dn.unary(k, epsilon),
        dn.unary(k, epsilon, optimized=True),
    ]
    designs += [dn.mixture(k, {1: 0.5, k - 1: 0.5} if k > 2 else {1: 1}, epsilon)]
    designs += [dn.truncated_rappor(k, epsilon)] if k <= 128 else []
    for design in designs:
        assert epsilon - 1e-6 <= design.epsilon <= epsilon


def test_the_default_t_is_the_minimax_one() -> None:
    for k, epsilon in ((4, 0.5), (16, 1), (128, 1), (1024, 4)):
        channel = dn.subset(k, epsilon).channel
        assert isinstance(channel, Subset)
        assert channel.ones == best_t(k, math.exp(epsilon))


def test_one_of_two_is_warner() -> None:
    subset, warner = dn.subset(2, 1).channel, dn.warner(1).channel
    assert [
        subset.probability(1 << i, given=j) for i in (0, 1) for j in (0, 1)
    ] == pytest.approx(
        [warner.probability(i, given=j) for i in (0, 1) for j in (0, 1)]
    )


def test_rappor_and_unary_draw_the_same_bits_and_count_many_differently() -> None:
    rappor, unary = dn.rappor(256, 1).channel, dn.unary(256, 1).channel
    assert isinstance(rappor, Bits)
    assert isinstance(unary, Bits)
    assert (rappor.hit, rappor.stray, rappor.total) == (
        unary.hit,
        unary.stray,
        unary.total,
    )
    assert (rappor.by_size, unary.by_size) == (True, False)
    assert rappor.hit + rappor.stray == rappor.total
    assert [dn.unary(k, 1).channel.by_size for k in (12, 13, 255)] == [
        False,
        True,
        True,
    ]
    assert not dn.unary(13, 1, by_size=False).channel.by_size


def test_the_optimized_encoding_keeps_the_answer_half_of_the_time() -> None:
    channel = dn.unary(5, 1, optimized=True).channel
    assert isinstance(channel, Bits)
    assert 2 * channel.hit == channel.total
    assert channel.stray / channel.total == pytest.approx(
        1 / (math.e + 1), rel=1e-15
    )


def test_a_mixture_keeps_its_weights_to_the_last_of_64_bits() -> None:
    channel = dn.mixture(4, [0, 0.3, 0.5, 0.1, 0.1], 1).channel
    assert isinstance(channel, Mixture)
    assert channel.sizes == (1, 2, 3, 4)
    for t, weight in {1: "3/10", 2: "1/2", 3: "1/10", 4: "1/10"}.items():
        assert abs(channel.weight(t) - Fraction(weight)) < Fraction(4, 2**64)
    assert channel.inclusion(4) == 1


def test_sizes_too_rare_for_64_bits_are_left_out() -> None:
    channel = dn.truncated_rappor(200, 1).channel
    assert isinstance(channel, Mixture)
    assert 1 not in channel.sizes
    assert sum(channel.weight(t) for t in channel.sizes) == 1


@pytest.mark.parametrize(
    ("build", "error", "problem"),
    [
        (lambda: dn.subset(4), InvalidRequest, "either epsilon, or t and p"),
        (
            lambda: dn.subset(4, 1, p=0.5),
            InvalidRequest,
            "either epsilon, or t and p",
        ),
        (lambda: dn.subset(4, p=0.5), InvalidRequest, "either epsilon, or t and p"),
        (
            lambda: dn.subset(4, 1, t=4),
            InvalidDesign,
            "t is 4; expected a whole number from 1 to 3",
        ),
        (lambda: dn.subset(4, 1, t=1.5), InvalidDesign, "t is 1.5"),
        (
            lambda: dn.subset(4, t=2, p="1/2"),
            InvalidDesign,
            "equally often whatever the answer",
        ),
        (lambda: dn.subset(4, t=1, p=1), InvalidDesign, "gives every answer away"),
        (lambda: dn.subset(4, t=3, p=0), InvalidDesign, "gives every answer away"),
        (lambda: dn.subset(4, "1e-25"), InvalidDesign, "too fine"),
        (lambda: dn.subset(1, 1), InvalidDesign, "expected 2"),
        (lambda: dn.unary(4), InvalidRequest, "either epsilon, or both p and q"),
        (
            lambda: dn.unary(4, p=0.5),
            InvalidRequest,
            "either epsilon, or both p and q",
        ),
        (
            lambda: dn.unary(4, 1, p=0.5, q=0.1),
            InvalidRequest,
            "either epsilon, or both p and q",
        ),
        (
            lambda: dn.unary(4, p=0.5, q=0.1, optimized=True),
            InvalidRequest,
            "either epsilon, or both p and q",
        ),
        (
            lambda: dn.unary(4, p=0.3, q=0.3),
            InvalidDesign,
            "same bits whatever the answer",
        ),
        (lambda: dn.unary(4, p=1, q=0), InvalidDesign, "never changed"),
        (lambda: dn.unary(4, "1e-25"), InvalidDesign, "too fine"),
        (lambda: dn.unary(4, p=1.2, q=0), InvalidNumber, "p is 1.2"),
        (lambda: dn.rappor(4), InvalidRequest, "either epsilon or f"),
        (lambda: dn.rappor(4, 1, f=0.2), InvalidRequest, "either epsilon or f"),
        (lambda: dn.rappor(4, f=0.5), InvalidDesign, "same bits"),
        (lambda: dn.rappor(4, f=0), InvalidDesign, "never changed"),
        (lambda: dn.rappor(5000, 1), InvalidDesign, "by_size=False"),
        (
            lambda: dn.mixture(3, {1: 0.5}, 1),
            InvalidDesign,
            "sum to 0.5; expected exactly 1",
        ),
        (
            lambda: dn.mixture(3, {4: 1}, 1),
            InvalidDesign,
            "whole numbers from 0 to 3",
        ),
        (
            lambda: dn.mixture(3, {True: 1}, 1),
            InvalidDesign,
            "whole numbers from 0 to 3",
        ),
        (
            lambda: dn.mixture(3, [0.5, 0.5, -0.1, 0.1], 1),
            InvalidNumber,
            "the weight of size 2",
        ),
        (lambda: dn.truncated_rappor(3), InvalidRequest, "either epsilon or f"),
        (
            lambda: dn.truncated_rappor(3, f="1/2"),
            InvalidDesign,
            "hides nothing or tells nothing",
        ),
        (
            lambda: dn.truncated_rappor(3, f=1),
            InvalidDesign,
            "hides nothing or tells nothing",
        ),
        (lambda: best_t(1, 2), InvalidDesign, "there are 1 categories"),
        (lambda: best_t(3, 0.5), InvalidNumber, "gamma is 0.5"),
        (
            lambda: subset_information(3, 4, 2),
            InvalidDesign,
            "t is 4; expected 0 to 3",
        ),
        (lambda: subset_risk(3, 1, 2, shares=[2]), InvalidNumber, "a share is 2"),
        (lambda: mixture_risk(3, 2, [1, 1]), InvalidDesign, "sum to 2"),
        (lambda: rappor_weights(3, 2), InvalidNumber, "f is 2"),
    ],
)
def test_what_cannot_be_built_says_why(
    build: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        build()


def test_a_set_is_called_by_its_bits_in_the_order_of_the_categories() -> None:
    names = Bitstrings(4)
    assert list(names)[:5] == ["b0000", "b1000", "b0100", "b1100", "b0010"]
    assert names[-1] == "b1111"
    assert names[1:3] == ("b1000", "b0100")
    assert [names.index(name) for name in names] == list(range(16))
    for wrong in ("0110", "b011", "b01100", "b0120", "B0110", "", 6, None, "b٠١١٠"):
        assert wrong not in names
    with pytest.raises(ValueError, match="not one of the labels"):
        names.index("b0110", 7)


def test_labels_of_a_hundred_thousand_categories_are_worked_out_one_by_one() -> None:
    names = Bitstrings(100_000)
    assert size(names) == 1 << 100_000
    label = names[1 << 99_999]
    assert (len(label), label[-1], label.count("1")) == (100_001, "1", 1)
    assert names.index(label) == 1 << 99_999
    assert format_labels(names).endswith("…")
    assert len(format_labels(names)) < 600
    assert names == Bitstrings(100_000) != Bitstrings(3)
    assert hash(names) == hash(Bitstrings(100_000))


def test_a_design_of_a_hundred_thousand_categories_travels_and_responds() -> None:
    design = dn.subset(100_000, 1)
    text = design.to_json()
    assert len(text) < 500
    assert Design.from_json(text) == design
    response = dn.respond(design, "99999")
    assert response.symbol.count("1") == best_t(100_000, math.e)
    assert design.symbol_number(response.symbol).bit_count() == best_t(
        100_000, math.e
    )


def test_a_label_that_is_none_is_refused_in_a_short_message() -> None:
    with pytest.raises(InvalidResponse) as error:
        dn.subset(100_000, 1).symbol_number("yes")
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize("places", [0, -1, "x", 1 << 30])
def test_a_file_with_wrong_labels_is_unreadable(places: object) -> None:
    from deniable import documents

    body = documents.unseal("design", dn.unary(3, 1).to_json())
    body["symbols"] = {"bits": places}
    with pytest.raises((UnreadableFile, InvalidDesign)):
        Design.from_json(documents.seal("design", body))
