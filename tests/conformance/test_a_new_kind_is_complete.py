"""A kind of channel that brings the minimum goes all the way: files, draws, tallies, estimates, plans, audits, stages.

`tests/support/ring.py` is the kind. Whatever it does not bring is a default of the library, compared here with brute
force, so that a default that is missing or wrong shows.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable import channel as channels
from deniable.attacks import doubts, error_rates, swing
from deniable.bulk.gradual import degrade, upgrade
from deniable.channel import Dense
from deniable.designs import Design
from deniable.display import privacy_texts
from deniable.engines import local
from deniable.errors import ImplausibleResponses, InvalidResponse, NotOrdered
from deniable.estimates import covariance, left_inverse, minimax
from deniable.simulate import tallies
from tests.support import brute
from tests.support.paths import distribution
from tests.support.rational import table
from tests.support.ring import Ring, coarser, ring
from tests.support.seeded import seeded

FINE = ring(9, 3, 1)
COARSE = Design(
    "ring", FINE.categories, FINE.symbols, coarser(FINE.channel, Ring(5, 6, 1, 1))
)  # type: ignore[arg-type]
DESIGNS = [FINE, COARSE, ring(4, 2, 1, size=4), ring(7, 5, 2, size=6)]
every = pytest.mark.parametrize("design", DESIGNS, ids=repr)


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    channels.register(Ring)
    yield
    del channels.KINDS[Ring.KIND]


@every
def test_what_it_reveals_is_what_brute_force_finds(design: Design) -> None:
    channel, rows = design.channel, table(design.channel)
    assert channel.parity == brute.parity(rows)
    assert design.epsilon == pytest.approx(
        float(brute.log(brute.parity(rows))), rel=1e-12
    )  # type: ignore[arg-type]
    response, likely, unlikely = channel.witness
    assert rows[response][likely] / rows[response][unlikely] == channel.parity
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(100)):
        assert channel.delta(gamma) == brute.delta(rows, gamma)
    for symbol, category in product(
        range(channel.responses), range(channel.answers)
    ):
        assert channel.bayes_factors(symbol, category) == brute.bayes_factors(
            rows, symbol, category
        )
        assert channel.extremes(symbol) == (max(rows[symbol]), min(rows[symbol]))
    assert dn.criteria.Epsilon(design.epsilon).check(design).holds
    assert not dn.criteria.Epsilon(design.epsilon / 2).check(design).holds
    assert channel.dense() == Dense.from_rows(rows)
    np.testing.assert_allclose(channel.floats(), np.array(rows, float), rtol=1e-15)


@every
def test_draws_are_exact_one_by_one_and_in_bulk(design: Design) -> None:
    channel, rows = design.channel, table(design.channel)
    for answer in range(channel.answers):
        assert distribution(channel, answer) == {
            i: rows[i][answer] for i in range(channel.responses)
        }
    answers = [i % channel.answers for i in range(200)]
    alone, together = seeded("a ring"), seeded("a ring")
    single = [channel.draw(answer, alone) for answer in answers]
    bulk = local.draw_all(design, np.array(answers), codes=True, source=together)
    assert channel.coding.unpack(bulk) == single


@every
def test_it_travels(design: Design) -> None:
    again = Design.from_json(design.to_json())
    assert (again, again.hash, again.channel) == (
        design,
        design.hash,
        design.channel,
    )
    assert design.channel.to_body()["high"] == str(design.channel.high)  # type: ignore[attr-defined]
    response = dn.respond(design, "b")
    assert dn.Response.from_json(response.to_json()) == response
    counted = dn.tally(design, [response, response, None])
    assert dn.Tally.from_json(counted.to_json(), design) == counted


def test_a_second_kind_of_the_same_name_is_refused() -> None:
    assert channels.register(Ring) is Ring
    with pytest.raises(ValueError, match="already"):
        channels.register(type("Other", (Ring,), {}))


@every
def test_responses_in_rows_are_packed_counted_and_checked(design: Design) -> None:
    coding, numbers = design.channel.coding, [0, 3, 3, 1]
    rows = coding.pack(numbers)
    assert coding.unpack(coding.from_bytes(coding.to_bytes(rows))) == numbers
    assert (
        coding.count(rows).tolist()
        == np.bincount(numbers, minlength=design.channel.responses).tolist()
    )
    assert coding.labels(rows, design.symbols).to_pylist() == [
        design.symbols[number] for number in numbers
    ]
    with pytest.raises(
        InvalidResponse,
        match=f"a whole number from 0 to {design.channel.responses - 1}",
    ):
        dn.tally(design, [design.channel.responses])
    with pytest.raises(InvalidResponse, match="expected one of 'a'"):
        dn.tally(design, ["z"])


@every
def test_the_estimate_is_right_on_average_for_any_two_people(design: Design) -> None:
    """Every world of two respondents, counted and estimated as anybody would."""
    size, rows = design.channel.answers, table(design.channel)
    values: dict[tuple[int, ...], np.ndarray] = {}
    for answers in ((0, 0), (0, 1), (1, size - 1)):
        mean = np.zeros(size)
        for sent in product(range(size), repeat=2):
            key = tuple(sorted(sent))
            if key not in values:
                values[key] = np.array(
                    list(
                        estimated(
                            design, [design.symbols[i] for i in sent]
                        ).params.values()
                    )
                )
            mean += (
                float(rows[sent[0]][answers[0]] * rows[sent[1]][answers[1]])
                * values[key]
            )
        np.testing.assert_allclose(
            mean, np.bincount(answers, minlength=size) / 2, atol=1e-12
        )


def estimated(design: Design, responses: object, **options: object) -> dn.Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)
        return dn.estimate(dn.tally(design, responses), **options)  # type: ignore[arg-type]


def expected_tally(design: Design, people: list[int]) -> dn.Tally:
    """Return counts that are exactly what is expected of so many people of each category, times the total weight."""
    total = design.channel.total  # type: ignore[attr-defined]
    rows = table(design.channel)
    counts = [
        int(sum((row[x] * n for x, n in enumerate(people)), Fraction(0)) * total)
        for row in rows
    ]
    return dn.Tally(design, counts)


@every
@pytest.mark.parametrize("method", ["inversion", "likelihood"])
def test_every_method_finds_the_shares_that_explain_the_counts(
    design: Design, method: str
) -> None:
    people = [5, 0, 2, *(1 for _ in range(design.channel.answers - 3))]
    shares = np.array(people) / sum(people)
    found = dn.estimate(expected_tally(design, people), method=method)
    np.testing.assert_allclose(
        found.value, shares, atol=1e-5 if method == "likelihood" else 1e-12
    )


@every
def test_intervals_hold_the_shares_that_explain_the_counts(design: Design) -> None:
    people = [5, 0, 2, *(1 for _ in range(design.channel.answers - 3))]
    found = dn.estimate(expected_tally(design, people))
    slow = ["profile"] if design is FINE else []  # EM takes its time
    for method in ("score", "normal", "chebyshev", "exact", *slow):
        for ends, number in zip(
            found.conf_int(method=method).values(), people, strict=True
        ):
            assert ends[0] - 1e-5 <= number / sum(people) <= ends[1] + 1e-5
    np.testing.assert_allclose(
        found.errors**2, np.diag(found.cov_params()), rtol=1e-6
    )
    assert str(found.summary())


@every
def test_the_covariance_is_that_of_the_formula(design: Design) -> None:
    rows = np.array(table(design.channel), float)
    truth = np.arange(1, design.channel.answers + 1) / (
        design.channel.answers * (design.channel.answers + 1) / 2
    )
    inverse = np.linalg.inv(rows)
    wanted = ((inverse * (rows @ truth)) @ inverse.T - np.outer(truth, truth)) / 50
    np.testing.assert_allclose(
        covariance(design, truth.tolist(), 50), wanted, atol=1e-12
    )
    assert minimax(design).risk >= 50 * np.trace(wanted) - 1e-9


@every
def test_it_is_planned_with(design: Design) -> None:
    even = [1 / design.channel.answers] * design.channel.answers
    wanted = np.diag(covariance(design, even, 100))
    assert dn.plan.variance(design, 100, shares=even, category="c") == pytest.approx(
        wanted[2]
    )
    needed = dn.plan.sample_size(design, margin=0.05)
    assert dn.plan.width(design, needed) <= 0.1 < dn.plan.width(design, needed - 1)


@every
def test_it_is_audited(design: Design) -> None:
    rows, size = table(design.channel), design.channel.answers
    right = sum((max(row) for row in rows), Fraction(0)) / size
    assert error_rates(design, exact=True).errors["maximum likelihood"] == 1 - right
    honest = expected_tally(design, [3] * size)
    assert doubts(honest) == ()
    forged = dn.Tally(design, [900, *(1 for _ in range(size - 1))])
    assert "'a' was sent by 900" in doubts(forged)[0].what
    inverse = left_inverse(design.channel)
    pulls = np.array([inverse.shares(unit) for unit in np.eye(size)])
    counts = [3] * size
    (low, high), *_ = swing(dn.Tally(design, counts), 1 / (3 * size) + 1e-9)
    every_pull = np.repeat(pulls[:, 0], counts)
    left = [(every_pull.sum() - each) / (3 * size - 1) for each in every_pull]
    assert (low, high) == (pytest.approx(min(left)), pytest.approx(max(left)))


@every
def test_it_is_simulated_and_told(design: Design) -> None:
    people = {
        name: 40 + 10 * number for number, name in enumerate(design.categories)
    }
    drawn = tallies(design, people, 4_000, draws=np.random.default_rng(5))
    mean = np.array(table(design.channel), float) @ np.array(list(people.values()))
    assert np.abs(drawn.mean(axis=0) - mean).max() < 6 * math.sqrt(
        sum(people.values()) / 4_000
    )
    assert privacy_texts.promise(design)[0].startswith("Whatever is sent")
    assert len(privacy_texts.frequencies(design)) == design.channel.answers


def test_it_is_relaxed_by_a_linear_program() -> None:
    rung = dn.relax(COARSE, FINE)
    assert rung.step.verify()
    stages = dn.ladder([COARSE, FINE])
    assert stages.joint_parity == FINE.parity
    assert dn.Ladder.from_json(stages.to_json()) == stages
    with pytest.raises(NotOrdered):
        dn.relax(FINE, COARSE)
    fine, coarse, step = table(FINE.channel), table(COARSE.channel), rung.step
    for given, new in product(range(5), repeat=2):
        raised = sum(
            (
                coarse[old][given] * step.kernel(new, old=old, given=given)
                for old in range(5)
            ),
            Fraction(0),
        )
        assert raised == fine[new][given]


def test_it_is_released_in_stages_in_bulk() -> None:
    rung, n = dn.relax(COARSE, FINE), 300
    answers = np.arange(n) % 5
    old = local.draw_all(COARSE, answers, codes=True, source=seeded("ring, first"))
    new = upgrade(rung, old, answers, codes=True, source=seeded("ring, second"))
    source = seeded("ring, second")
    single = [
        rung.step.upgrade(int(o), int(a), source)
        for o, a in zip(old, answers, strict=True)
    ]
    assert new.tolist() == single
    assert Counter(degrade(rung, new).tolist()).total() == n
