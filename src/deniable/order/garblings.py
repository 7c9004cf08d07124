"""What a comparison of two designs ends in: a garbling, or a game that proves that there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.channel import Channel, Dense
from deniable.order.admissibility import rows_of
from deniable.order.elimination import Row


@dataclass(frozen=True, slots=True)
class Garbling:
    """The coarse design can be made from the fine one; true as a truth value.

    Attributes:
        channel: C with coarse = C·fine exactly; None where it is known but too large to write out.
        recipe: how a response of the coarse design is made from one of the fine design, in words.
    """

    channel: Channel | None
    recipe: str = "send the response of the fine design through the channel"

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Separation:
    """A proof that the coarse design cannot be made from the fine one; false as a truth value.

    A player sees a response, then names a response of the coarse design and is paid by the true answer. Who sees the
    coarse design and names what was sent earns `coarse`, summed over all answers; who sees the fine one earns at most
    `fine`, however it is used, and `coarse > fine`.

    Attributes:
        payoffs: for responses of the coarse design, what naming them pays at each answer; all others pay nothing.
            Empty where the game is known but too large to write out.
        coarse: what the coarse design earns.
        fine: the most that the fine design can earn.
        game: what the game is, in words.
    """

    payoffs: Mapping[int, Row]
    coarse: Fraction
    fine: Fraction
    game: str = "name a response of the coarse design and be paid by the answer"

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Order:
    """How two designs compare.

    Attributes:
        relation: "equal", "finer" (the first tells more), "coarser" (the second does), or "incomparable".
        second_from_first: the garbling that makes the second from the first, or the proof that there is none.
        first_from_second: the other way round.
    """

    relation: str
    second_from_first: Garbling | Separation
    first_from_second: Garbling | Separation


def separation(payoffs: Mapping[int, Row], coarse: Dense, fine: Dense) -> Separation | None:
    """Play the game: return the separation if the coarse design wins, else None."""
    ours, theirs = rows_of(coarse), rows_of(fine)
    earned = sum((dot(pay, ours[i]) for i, pay in payoffs.items()), Fraction(0))
    idle = len(payoffs) < coarse.responses  # some response pays nothing and can always be named
    best = sum((max([dot(pay, row) for pay in payoffs.values()] + [Fraction(0)] * idle) for row in theirs), Fraction(0))
    return Separation(dict(payoffs), earned, best) if earned > best else None


def dot(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0))
