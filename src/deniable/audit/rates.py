"""The exact error rates of attacks on short chains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from deniable.audit.attacks import ATTACKS, Chain, Rates, priors
from deniable.criteria.belief import Prior
from deniable.design import Design
from deniable.errors import InvalidRequest
from deniable.gradual.ladder import Ladder

_MOST_STATES = 1_000_000  # states times responses that each leads to: some ten seconds
_MOST_HISTORIES = 200_000

State = tuple[int, tuple[int, ...]]
"""The last response, and the votes for each answer so far."""

Number = float | Fraction


def error_rates(
    subject: Ladder | Design,
    *,
    prior: Prior | None = None,
    weights: Sequence[float] | None = None,
    exact: bool = False,
) -> Rates:
    """Return how often each attack guesses wrongly, without drawing anything.

    Implements: [Pan24], Section 6; F16. Votes are added up over all histories at once: all that matters of a history is
    its last response and its votes, and for k-ary designs the other categories may change places. The maximum of the
    likelihood is gone through history by history where these are few; otherwise it is that of the last response, which
    the other ones, made from it without a look at the answer, cannot improve.

    Args:
        subject: the stages; or a single design.
        prior: how probable the answers are; all alike, if it is not given.
        weights: those of the stages in the weighted attack; their ε, if they are not given.
        exact: reckon with rationals instead of floats; slow beyond a few stages.

    Raises:
        InvalidRequest: a chain that is too long or too large to go through; simulate it.

    Example:
        >>> from deniable.design import k_ary
        >>> from deniable.gradual.design import ladder
        >>> rates = error_rates(ladder([k_ary(3, p="1/2"), k_ary(3, p="3/4")]), exact=True)
        >>> rates.bound, rates.errors["last output"], rates.errors["highest frequency"]
        (Fraction(1, 4), Fraction(1, 4), Fraction(3, 8))
    """
    chain = Chain.of(subject)
    alphas = priors(chain, prior)
    number: Callable[[Fraction], Number] = _same if exact else float
    unweighted = (1,) * len(chain.ladder)
    rates = {
        ATTACKS[0]: number(_last(chain, alphas)),
        ATTACKS[1]: number(_likelihood(chain, alphas)),
        ATTACKS[2]: _voting(chain, alphas, unweighted, number),
        ATTACKS[3]: _voting(chain, alphas, chain.weights(weights), number),
    }
    return Rates(rates, number(chain.bound(alphas)), dict.fromkeys(ATTACKS, 0.0))


def _same(number: Fraction) -> Number:
    return number


def _last(chain: Chain, alphas: Sequence[Fraction]) -> Fraction:
    """Return the error rate of guessing an answer that the last response speaks for."""
    channel, votes = chain.ladder.designs[-1].channel, chain.votes[-1]
    right = sum(
        (
            alphas[x] * channel.probability(response, given=x) / len(named)
            for response, named in votes.items()
            for x in named
        ),
        Fraction(0),
    )
    return 1 - right


def _likelihood(chain: Chain, alphas: Sequence[Fraction]) -> Fraction:
    """Return the error rate of guessing an answer for which the whole history is most likely."""
    histories = 1
    for sent in chain.sent:
        histories *= len(sent)
    if histories * chain.answers > _MOST_HISTORIES:
        assert all(step.verify() for step in chain.ladder.steps)
        return _last(chain, alphas)
    right = Fraction(0)
    for history in product(*chain.sent):
        row = [chain.ladder.probability(history, given=x) for x in range(chain.answers)]
        best = [x for x, each in enumerate(row) if each == max(row)]
        right += sum((alphas[x] * row[x] for x in best), Fraction(0)) / len(best)
    return 1 - right


def _voting(
    chain: Chain, alphas: Sequence[Fraction], weights: Sequence[int], number: Callable[[Fraction], Number]
) -> Number:
    """Return the error rate of guessing the answer with the most votes."""
    if chain.symmetric:  # it is the same whatever the answer
        return 1 - _right(chain, 0, weights, number)
    wrong = [alphas[x] and number(alphas[x]) * (1 - _right(chain, x, weights, number)) for x in range(chain.answers)]
    return sum(wrong, number(Fraction(0)))


def _right(chain: Chain, answer: int, weights: Sequence[int], number: Callable[[Fraction], Number]) -> Number:
    """Return the probability that the answer itself is guessed, going through all states of votes."""
    settle = _swapped if chain.symmetric else _as_it_is
    first = chain.ladder.designs[0].channel
    states: dict[State, Number] = defaultdict(lambda: number(Fraction(0)))
    nothing = (0,) * chain.answers
    for response in chain.sent[0]:
        start = first.probability(response, given=answer)
        if start:
            states[settle(response, _counted(nothing, chain.votes[0][response], weights[0]))] += number(start)
    for at, step in enumerate(chain.ladder.steps, start=1):
        _check_states(len(states) * len(chain.sent[at]))
        following: dict[State, Number] = defaultdict(lambda: number(Fraction(0)))
        kernel: dict[int, list[tuple[int, Number]]] = {}
        for (old, votes), chance in states.items():
            if old not in kernel:
                row = ((new, step.kernel(new, old=old, given=answer)) for new in chain.sent[at])
                kernel[old] = [(new, number(each)) for new, each in row if each]
            for new, each in kernel[old]:
                following[settle(new, _counted(votes, chain.votes[at][new], weights[at]))] += chance * each
        states = following
    found = number(Fraction(0))
    for (_, votes), chance in states.items():
        if votes[answer] == max(votes):
            found += chance / votes.count(max(votes))
    return found


def _check_states(states: int) -> None:
    if states > _MOST_STATES:
        raise InvalidRequest(
            f"there are {states:,} states to go through at one stage; expected at most {_MOST_STATES:,}.",
            "Use audit.simulate_attacks(), or fewer stages.",
        )


def _counted(votes: tuple[int, ...], named: Sequence[int], weight: int) -> tuple[int, ...]:
    return tuple(count + weight * (x in named) for x, count in enumerate(votes))


def _as_it_is(response: int, votes: tuple[int, ...]) -> State:
    return response, votes


def _swapped(response: int, votes: tuple[int, ...]) -> State:
    """Let the categories other than the answer, which is 0, change places: the response first, the others by votes."""
    if response == 0:
        return 0, (votes[0], *sorted(votes[1:]))
    rest = sorted(count for x, count in enumerate(votes) if x not in (0, response))
    return 1, (votes[0], votes[response], *rest)
