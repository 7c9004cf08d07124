"""Corrected labels and rows: without bias over all responses that people can send, by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import Incompatible, InvalidRequest, NotEstimable

SKEW = dn.matrix(
    [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]], categories=["a", "b", "c"]
)
TALL = dn.matrix([["1/2", "1/10"], ["1/4", "1/4"], ["1/4", "13/20"]])
SETS = dn.unary(["a", "b", "c"], 1)


def worlds(
    designs: Sequence[dn.Design], answers: Sequence[int]
) -> Iterator[tuple[float, list[int]]]:
    """Every response of each of these people, who have a design and an answer each, with its probability."""
    ranges = [range(design.channel.responses) for design in designs]
    for sent in itertools.product(*ranges):
        chances = [
            float(design.channel.probability(response, given=answer))
            for design, response, answer in zip(designs, sent, answers, strict=True)
        ]
        yield float(np.prod(chances)), list(sent)


def of_codes(design: dn.Design, codes: Any) -> dn.Responses[dn.Design]:
    return dn.Responses.of(design, [design.symbols[code] for code in codes])


@pytest.mark.parametrize("design", [SKEW, TALL, SETS], ids=lambda each: each.name)
def test_labels_are_unbiased_given_each_answer(design: dn.Design) -> None:
    for answer in range(len(design.categories)):
        mean = sum(
            chance * dn.corrected_labels(of_codes(design, sent))[0]
            for chance, sent in worlds([design], [answer])
        )
        expected = np.eye(len(design.categories))[answer]
        np.testing.assert_allclose(mean, expected, atol=1e-12)


@pytest.mark.parametrize("design", [SKEW, TALL], ids=lambda each: each.name)
def test_a_loss_is_on_average_that_at_the_true_labels(design: dn.Design) -> None:
    size = len(design.categories)
    loss = np.random.default_rng(1).normal(size=(3, size))
    truth = [0, size - 1, 1]
    mean = 0.0
    for chance, sent in worlds([design] * 3, truth):
        rows, (answers,), weights = dn.corrected_rows(of_codes(design, sent))
        numbers = [design.category_number(each) for each in answers]
        mean += chance * float(weights @ loss[rows, numbers])
    assert mean == pytest.approx(loss[range(3), truth].sum(), abs=1e-12)


def test_a_label_and_a_feature_are_corrected_together() -> None:
    loss = np.random.default_rng(2).normal(size=(2, 3, 2))
    truth, traits = [2, 0], [0, 1]
    mean = 0.0
    for chance, sent in worlds([SKEW, SKEW, TALL, TALL], [*truth, *traits]):
        first, second = of_codes(SKEW, sent[:2]), of_codes(TALL, sent[2:])
        rows, answers, weights = dn.corrected_rows(first, second)
        cells = [
            [design.category_number(each) for each in column]
            for design, column in zip((SKEW, TALL), answers, strict=True)
        ]
        mean += chance * float(weights @ loss[rows, cells[0], cells[1]])
    assert mean == pytest.approx(loss[range(2), truth, traits].sum(), abs=1e-12)


def test_rows_have_the_weights_of_their_own_device() -> None:
    devices = {"weak": dn.warner(p="3/5"), "strong": dn.warner(p="9/10")}
    asked = ["strong", "weak", "strong"]
    designs, truth = [devices[each] for each in asked], [1, 0, 0]
    loss = np.random.default_rng(3).normal(size=(3, 2))
    mean = 0.0
    for chance, sent in worlds(designs, truth):
        columns = dn.Responses.of(devices, sent, devices=asked, codes=True)
        labels = dn.corrected_labels(columns)
        rows, (answers,), weights = dn.corrected_rows(columns)
        np.testing.assert_allclose(weights.reshape(3, 2), labels)
        mean += chance * float(weights @ loss[rows, (answers == "yes").astype(int)])
    assert mean == pytest.approx(loss[range(3), truth].sum(), abs=1e-12)


def test_rows_without_a_response_are_left_out() -> None:
    first = dn.Responses.of(dn.warner(1), ["yes", None, "no", "yes"])
    second = dn.Responses.of(dn.warner(1), ["no", "no", None, "yes"])
    assert np.isnan(dn.corrected_labels(first)).any(axis=1).tolist() == [
        False, True, False, False,
    ]  # fmt: skip
    rows, _, weights = dn.corrected_rows(first, second)
    assert rows.tolist() == [0] * 4 + [3] * 4
    np.testing.assert_allclose(weights.reshape(2, 4).sum(axis=1), 1)


def test_what_is_no_column_of_responses_is_refused() -> None:
    good = dn.Responses.of(dn.warner(1), ["yes", "no"])
    for bad in (["yes", "no"], []):
        with pytest.raises(InvalidRequest, match="column of responses"):
            dn.corrected_labels(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="column of responses"):
        dn.corrected_rows()
    with pytest.raises(InvalidRequest, match="one number of rows"):
        dn.corrected_rows(good, good[:1])
    with pytest.raises(Incompatible, match="different answers"):
        dn.corrected_rows([good, dn.Responses.of(SKEW, ["a", "b"])])
    large = dn.Responses.of(dn.k_ary(1000, 1), [0, 1], codes=True)
    with pytest.raises(InvalidRequest, match="1,000,000,000 combinations"):
        dn.corrected_rows(large, large, large)
    with pytest.raises(NotEstimable):
        dn.corrected_labels(
            dn.Responses.of(dn.matrix([["1/2"] * 2] * 2), [0], codes=True)
        )
