"""String → report, at the respondent. The standard library alone.

Draw a cohort once (`Bloom.draw_cohort`), respond once, and keep the report: finer ones are raised from it.
"""

from __future__ import annotations

from deniable import chance
from deniable.errors import Incompatible
from deniable.gradual.bits import toss
from deniable.gradual.strings.bloom import Bloom
from deniable.gradual.strings.design import StringDesign, relax_strings
from deniable.gradual.strings.noisy import NoisySampling
from deniable.gradual.strings.reports import Report

__all__ = ["degrade", "draw_bits", "permanent", "respond", "sample", "upgrade"]


def respond(design: StringDesign, text: str, cohort: int, *, source: chance.Source = chance.SYSTEM) -> Report:
    """Draw the report about a string; only the report leaves this function.

    Guarantee: every bit is drawn with exactly the weights from which the design's ε is derived.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
        InvalidRequest: there is no such cohort.

    Example:
        >>> from deniable.gradual.strings.design import string_design
        >>> design = string_design(Bloom(128), epsilon=4)
        >>> len(respond(design, "Smith", cohort=7).symbol)
        129
    """
    return Report.of(design, cohort, draw_bits(design, design.bloom.filter(text, cohort), source))


def upgrade(
    old: StringDesign, new: StringDesign, report: Report, text: str, *, source: chance.Source = chance.SYSTEM
) -> Report:
    """Raise a report that is out to the finer design: both together cost what the finer one does.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the report or the filter belongs to another design.
        InvalidAnswer: no text. The message does not repeat it.
    """
    step, bits = relax_strings(old, new), report.bits(old)
    true = new.bloom.filter(text, report.cohort)
    return Report.of(new, report.cohort, step.upgrade_bits(bits, true, source))


def degrade(old: StringDesign, new: StringDesign, report: Report, *, source: chance.Source = chance.SYSTEM) -> Report:
    """Draw a coarser report from a finer one; the string is not needed, and nothing is spent.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the report or the filter belongs to another design.
    """
    return Report.of(old, report.cohort, relax_strings(old, new).degrade(report.bits(new), source))


def permanent(
    noisy: NoisySampling, bloom: Bloom, text: str, cohort: int, *, source: chance.Source = chance.SYSTEM
) -> int:
    """Draw RAPPOR's permanent bits, once; keep them, and send only samples of them.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
    """
    true, every = bloom.filter(text, cohort), (1 << bloom.bits) - 1
    return toss(bloom.bits, [(true, noisy.alpha), (every & ~true, 1 - noisy.alpha)], source)


def sample(noisy: NoisySampling, bloom: Bloom, kept: int, *, source: chance.Source = chance.SYSTEM) -> int:
    """Draw one of RAPPOR's noisy samples of the permanent bits. Each further one reveals more: `NoisySampling.epsilon`.

    Raises:
        Incompatible: the kept bits are not those of this filter.
    """
    every = (1 << bloom.bits) - 1
    if not 0 <= kept <= every:
        raise Incompatible(f"the kept bits do not fit into {bloom.bits} places; expected those of this filter.")
    return toss(bloom.bits, [(kept, noisy.p), (every & ~kept, noisy.q)], source)


def draw_bits(design: StringDesign, true: int, source: chance.Source = chance.SYSTEM) -> int:
    """Randomize the bits of a filter."""
    hit, stray = design.bit
    every = (1 << design.bloom.bits) - 1
    return toss(design.bloom.bits, [(true, hit), (every & ~true, stray)], source)
