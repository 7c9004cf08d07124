"""Attacks on responses that were sent, and on people who are drawn in law: quick, and for audits alone.

What is drawn here never leaves: it protects nobody, so that floats may decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.attacks.inference import ATTACKS, Chain, Rates, priors
from deniable.criteria.belief import Prior
from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse, quoted
from deniable.order.ladders import Ladder

Codes = NDArray[np.int64]
Matrix = NDArray[np.float64]

_MAX_CELLS = 10_000_000
_CLOSE = 1e-9  # log-likelihoods this near to each other are equal but for rounding


def attack(
    subject: Ladder | Design,
    columns: Sequence[Any],
    *,
    prior: Prior | None = None,
    source: chance.Source = chance.SYSTEM,
) -> dict[str, Codes]:
    """Guess everybody's answer from the responses of all stages; return the guessed category, by number, per attack.

    Args:
        subject: the stages; or a single design.
        columns: for each stage the codes or packed rows, as `engines.local` returns them.
        prior: how probable the answers are, for Bayes' rule; all alike, if it is not given.
        source: random bytes, for guesses among equals.

    Raises:
        InvalidResponse: columns that are not responses of the stages.
        InvalidRequest: designs with too many responses to write their kernels out.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder(k_ary(4, epsilon=e) for e in (0.5, 1, 2))
        >>> attack(stages, [[3, 0], [1, 2], [2, 2]])["last output"]
        array([2, 2])
    """
    chain, draws = Chain.of(subject), generator(source)
    if len(columns) != len(chain.ladder):
        raise InvalidResponse(
            f"there are {len(columns)} columns; expected {len(chain.ladder)}, one for each stage."
        )
    numbers = [_numbers(chain, at, column) for at, column in enumerate(columns)]
    if len({len(row) for row in numbers}) > 1:
        raise InvalidResponse(
            "the columns have different lengths; expected a row for everybody in each."
        )
    return {
        name: _guess_categories(scores, draws)
        for name, scores in _scores(chain, numbers, priors(chain, prior)).items()
    }


def simulate_attacks(
    subject: Ladder | Design,
    people: int = 100_000,
    *,
    prior: Prior | None = None,
    source: chance.Source = chance.SYSTEM,
) -> Rates:
    """Return how often each attack guesses wrongly about so many people, with standard errors.

    Args:
        subject: the stages; or a single design.
        people: how many are drawn.
        prior: how probable the answers are; all alike, if it is not given.
        source: random bytes to begin with; the operating system's by default.

    Raises:
        InvalidRequest: nobody, or designs with too many responses to write their kernels out.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder(k_ary(4, epsilon=e) for e in (0.5, 1, 2))
        >>> simulate_attacks(stages, 10_000).beaten(by=6)
        ()
    """
    if type(people) is not int or people < 1:
        raise InvalidRequest(
            f"there are {quoted(people)} people; expected at least one."
        )
    chain = Chain.of(subject)
    alphas, draws = priors(chain, prior), generator(source)
    answers = draws.choice(chain.answers, people, p=np.array(alphas, np.float64))
    numbers = _draw_stages(chain, answers, draws)
    errors = {
        name: float((_guess_categories(scores, draws) != answers).mean())
        for name, scores in _scores(chain, numbers, alphas).items()
    }
    return rates_of(chain, errors, people, alphas)


def rates_of(
    chain: Chain, errors: dict[str, float], people: int, alphas: Sequence[Any]
) -> Rates:
    """Put observed error rates beside the bound, with their standard errors."""
    # At least that of one person in all: a rate of 0 is not certain either.
    errors_of_rates = {
        name: max((rate * (1 - rate) / people) ** 0.5, 1 / people)
        for name, rate in errors.items()
    }
    return Rates(errors, float(chain.bound(alphas)), errors_of_rates)


def generator(source: chance.Source = chance.SYSTEM) -> np.random.Generator:
    """Return a fast generator that begins with 32 bytes of a source: for simulations, never for responses."""
    return np.random.Generator(
        np.random.PCG64(int.from_bytes(source.read(32), "little"))
    )


def _draw_stages(
    chain: Chain, answers: Codes, draws: np.random.Generator
) -> list[Codes]:
    """Draw everybody through all stages; return for each stage which of the responses that occur it was."""
    numbers: list[Codes] = []
    before: Codes = np.zeros(len(answers), np.int64)
    for at in range(len(chain.ladder)):
        before = _draw_rows(kernel(chain, at)[before, answers], draws)
        numbers.append(before)
    return numbers


def _scores(
    chain: Chain, numbers: Sequence[Codes], alphas: Sequence[Any]
) -> dict[str, Matrix]:
    """Return the scores of every answer under each attack."""
    weights = chain.weights(None) if len(chain.ladder) > 1 else (1,)
    shape = (len(numbers[0]), chain.answers)
    likelihood, plain, weighted = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    before: Codes = np.zeros(shape[0], np.int64)
    votes = np.zeros(shape)
    for at, now in enumerate(numbers):
        with np.errstate(divide="ignore"):
            likelihood += np.log(kernel(chain, at)[before, :, now])
        votes = _votes(chain, at)[now]
        plain += votes
        weighted += votes * (weights[at] / weights[-1])
        before = now
    with np.errstate(divide="ignore"):
        posterior = likelihood + np.log(np.array(alphas, np.float64))
    return dict(
        zip(ATTACKS, (votes, likelihood, plain, weighted, posterior), strict=True)
    )


def kernel(chain: Chain, at: int) -> Matrix:
    """Return the probabilities of a stage's responses by the response before, and the answer: old × answer × new."""
    olds = chain.sent[at - 1] if at else (0,)
    news = {new: position for position, new in enumerate(chain.sent[at])}
    if at and len(olds) * len(news) * chain.answers > _MAX_CELLS:
        raise InvalidRequest(
            "there are too many responses to write out how one leads to another; expected fewer."
        )
    table = np.zeros((len(olds), chain.answers, len(news)))
    for i, old in enumerate(olds):
        for x in range(chain.answers):
            for new, p in chain.follow(at, old, x):
                table[i, x, news[new]] = p
    return table


def _votes(chain: Chain, at: int) -> Matrix:
    table = np.zeros((len(chain.sent[at]), chain.answers))
    for i, response in enumerate(chain.sent[at]):
        table[i, list(chain.votes[at][response])] = 1
    return table


def _numbers(chain: Chain, at: int, column: object) -> Codes:
    """Return for each response of a column which of those that occur it is."""
    coding, responses = (
        chain.ladder.designs[at].channel.coding,
        np.array(chain.sent[at]),
    )
    codes = np.array(coding.unpack(coding.read(column)), np.int64)
    positions = np.searchsorted(responses, codes).clip(0, len(responses) - 1)
    if (responses[positions] != codes).any():
        raise InvalidResponse(
            f"a column holds something that stage {at + 1} never sends; expected its responses."
        )
    return np.asarray(positions, np.int64)


def _draw_rows(rows: Matrix, draws: np.random.Generator) -> Codes:
    """Draw a response for each row of probabilities."""
    sums = np.cumsum(rows, axis=1)
    uniform = draws.random(len(rows)) * sums[:, -1]
    return np.asarray((sums <= uniform[:, None]).sum(axis=1), np.int64)


def _guess_categories(scores: Matrix, draws: np.random.Generator) -> Codes:
    """Guess an answer of the highest score, evenly among equals."""
    best = scores.max(axis=1, keepdims=True)
    ties = scores >= best - _CLOSE * np.maximum(1.0, np.abs(best))
    return np.asarray(
        np.where(ties, draws.random(scores.shape), -1.0).argmax(axis=1), np.int64
    )
