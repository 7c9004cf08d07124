"""Answer and earlier response → finer response, at the respondent. The standard library alone.

planned       the whole ladder at once: the finest response is drawn first, then degraded downwards
open-ended    the next stage comes as a surprise: the response that is out is raised

Both give the same joint law. What is out must be kept: to draw a stage twice is to spend it twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable.chance import SYSTEM, Source
from deniable.designs import Design
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidResponse, quoted
from deniable.order.ladders import Ladder, Relaxation

__all__ = ["degrade", "respond", "upgrade"]


def respond(
    ladder: Ladder, answer: str | Mapping[str, str], *, source: Source = SYSTEM
) -> tuple[Response, ...]:
    """Draw a response for every stage, the finest first; return them in the order of the stages.

    Guarantee: all of them together reveal exactly what the last one does, and each is a response of its own design.

    Args:
        ladder: the stages.
        answer: the truth.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: the answer is not a category of the designs. The message does not repeat it.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder([k_ary(["red", "green", "blue"], epsilon=e) for e in (0.5, 1, 2)])
        >>> len(respond(stages, "green"))
        3
    """
    last = ladder.designs[-1]
    numbers = [last.channel.draw(last.category_number(answer), source)]
    for step in reversed(ladder.steps):
        numbers.append(step.degrade(numbers[-1], source))
    return tuple(
        _response(*each)
        for each in zip(ladder.designs, reversed(numbers), strict=True)
    )


def upgrade(
    relaxation: Relaxation,
    previous: Response,
    answer: str | Mapping[str, str],
    *,
    source: Source = SYSTEM,
) -> Response:
    """Raise a response that is out to the finer design.

    Guarantee: the new response is distributed as a fresh one of the finer design, and with all that were sent before
    it reveals no more than by itself. This holds for the response that is out, and for no other one.

    Args:
        relaxation: from `relax`, or one of `Ladder.relaxations`.
        previous: the last response that was sent.
        answer: the truth, the same as then.
        source: random bytes; the operating system's by default.

    Raises:
        Incompatible: the response belongs to another design.
        InvalidAnswer: the answer is not a category of the designs. The message does not repeat it.
        InvalidResponse: no response of that design, or one that this answer never gives.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import relax
        >>> from deniable.responses import respond as respond_once
        >>> coarse, fine = (k_ary(["red", "green", "blue"], epsilon=e) for e in (0.5, 2))
        >>> upgrade(relax(coarse, fine), respond_once(coarse, "green"), "green").design == fine.hash
        True
    """
    number = _number(relaxation.old, previous)
    given = relaxation.old.category_number(answer)
    return _response(relaxation.new, relaxation.step.upgrade(number, given, source))


def degrade(
    relaxation: Relaxation, response: Response, *, source: Source = SYSTEM
) -> Response:
    """Draw a coarser response from a finer one. The answer is not needed, and nothing is spent.

    Raises:
        Incompatible: the response belongs to another design.
        InvalidResponse: no response of that design.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import relax
        >>> from deniable.responses import respond as respond_once
        >>> degrade(relax(warner(1), warner(2)), respond_once(warner(2), "yes")).design == warner(1).hash
        True
    """
    number = _number(relaxation.new, response)
    return _response(relaxation.old, relaxation.step.degrade(number, source))


def _number(design: Design, response: Response) -> int:
    if response.design != design.hash:
        raise Incompatible(
            f"this response belongs to the design {response.design:.19}…; expected {design.hash:.19}… ({design!r}).",
            "Take the relaxation that starts from the design of the last response.",
        )
    number = design.symbol_number(response.symbol)
    if not design.channel.possible(number):
        raise InvalidResponse(
            f"{quoted(response.symbol)} is a response that this design never sends."
        )
    return number


def _response(design: Design, number: int) -> Response:
    return Response(design.hash, design.symbols[number])
