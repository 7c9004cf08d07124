"""String → response, at the respondent. The standard library alone.

Draw a cohort once (`Bloom.draw_cohort`), respond once, and keep the response: finer ones are raised from it.
"""

from __future__ import annotations

from deniable import chance
from deniable.errors import Incompatible
from deniable.order.bits import Bit, draw_bits
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    StringDesign,
    StringResponse,
    relax_strings,
)

__all__ = ["degrade", "permanent", "respond", "sample", "upgrade"]


def respond(
    design: StringDesign,
    answer: str,
    *,
    cohort: int | None = None,
    source: chance.Source = chance.SYSTEM,
) -> StringResponse:
    """Draw the response about a string; only the response leaves this function.

    Guarantee: every bit is drawn with exactly the weights from which the design's ε is derived.

    Args:
        design: what to draw with.
        answer: the truth.
        cohort: the respondent's, which stays the same for all responses about one string; drawn, if it is not given.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
        InvalidRequest: there is no such cohort.

    Example:
        >>> from deniable.types.strings.design import string_design
        >>> design = string_design(Bloom(128), epsilon=4)
        >>> len(respond(design, "Smith").symbol)
        129
    """
    bloom = design.bloom
    group = bloom.draw_cohort(source) if cohort is None else cohort
    return StringResponse.of(
        design,
        group,
        draw_bits(bloom.bits, design.bit, bloom.filter(answer, group), source),
    )


def upgrade(
    old: StringDesign,
    new: StringDesign,
    response: StringResponse,
    text: str,
    *,
    source: chance.Source = chance.SYSTEM,
) -> StringResponse:
    """Raise a response that is out to the finer design: both together cost what the finer one does.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the response or the filter belongs to another design.
        InvalidAnswer: no text. The message does not repeat it.
    """
    step, bits = relax_strings(old, new), response.bits(old)
    true = new.bloom.filter(text, response.cohort)
    return StringResponse.of(
        new, response.cohort, step.upgrade_bits(bits, true, source)
    )


def degrade(
    old: StringDesign,
    new: StringDesign,
    response: StringResponse,
    *,
    source: chance.Source = chance.SYSTEM,
) -> StringResponse:
    """Draw a coarser response from a finer one; the string is not needed, and nothing is spent.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the response or the filter belongs to another design.
    """
    return StringResponse.of(
        old,
        response.cohort,
        relax_strings(old, new).degrade(response.bits(new), source),
    )


def permanent(
    noisy: NoisySampling,
    bloom: Bloom,
    text: str,
    cohort: int,
    *,
    source: chance.Source = chance.SYSTEM,
) -> int:
    """Draw RAPPOR's permanent bits, once; keep them, and send only samples of them.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
    """
    return draw_bits(
        bloom.bits,
        Bit(noisy.alpha, 1 - noisy.alpha),
        bloom.filter(text, cohort),
        source,
    )


def sample(
    noisy: NoisySampling,
    bloom: Bloom,
    kept: int,
    *,
    source: chance.Source = chance.SYSTEM,
) -> int:
    """Draw one of RAPPOR's noisy samples of the permanent bits. Each further one reveals more: `NoisySampling.epsilon`.

    Raises:
        Incompatible: the kept bits are not those of this filter.
    """
    if not 0 <= kept < 1 << bloom.bits:
        raise Incompatible(
            f"the kept bits do not fit into {bloom.bits} places; expected those of this filter."
        )
    return draw_bits(bloom.bits, Bit(noisy.p, noisy.q), kept, source)
