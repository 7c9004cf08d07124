"""How a question with categories is asked on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.designs import Design, k_ary

_TRIAL_CATEGORIES = (
    4  # categories to try a device with that has too many, or sends codes
)


def trial_design(design: Design, labels: Sequence[str]) -> Design | None:
    """Return a design about something harmless with the odds of another.

    Where that one sends codes or has too many answers, it has its ε instead; None where that is infinite.

    Example:
        >>> from deniable.designs import warner
        >>> trial_design(warner(p="3/4"), ["apple", "pear", "fig"]).categories
        ('apple', 'pear')
    """
    size = design.channel.answers
    same_labels = design.symbols == design.categories
    if size <= len(labels) and (same_labels or design.channel.sizes):
        categories = tuple(labels[:size])
        return Design(
            "matrix",
            categories,
            categories if same_labels else design.symbols,
            design.channel,
        )
    if not 0 < design.epsilon < math.inf:
        return None
    return k_ary(labels[:_TRIAL_CATEGORIES], epsilon=design.epsilon)
