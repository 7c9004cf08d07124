"""Step 3: responses about rounded numbers → how often each was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deniable.designs import NumberDesign
from deniable.tallies import Tally
from deniable.tallies import tally as count

if TYPE_CHECKING:
    from deniable.types.numbers import estimate as _estimate

__all__ = ["TALLY", "NumberTally", "count_labels", "tally"]


class NumberTally(Tally):
    """How often each stretch of levels was sent; a tally like that of categories, whose design knows the range."""

    design: NumberDesign

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate  # type: ignore[assignment]


TALLY = NumberTally


def tally(
    design: NumberDesign, responses: object, *, codes: bool | None = None
) -> NumberTally:
    """Count responses, in any form in which those to categories are counted.

    Args:
        design: what the responses were drawn with.
        responses: what was sent; None for a respondent who sent nothing.
        codes: what whole numbers are; True for codes, False for labels.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.

    Example:
        >>> from deniable.designs import number_design
        >>> tally(number_design(0, 80, epsilon=1, levels=2), ["0", "80", None, "80"]).counts.tolist()
        [1, 2]
    """
    counted = count(design, responses, codes=codes)
    return NumberTally(design, counted.counts, counted.missing)


def count_labels(design: NumberDesign, columns: Mapping[str, Any]) -> NumberTally:
    """Count a column of symbols in a file."""
    return tally(design, columns["response"], codes=False)
