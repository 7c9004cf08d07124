"""How a question for a number is asked on a page."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.designs import NumberDesign, Range, Scale
from deniable.designs.ordered import window_labels


def trial_design(design: NumberDesign, labels: Sequence[str] = ()) -> NumberDesign:  # noqa: ARG001 - levels are numbers
    """Return a design about glasses of water with the odds of another: levels 0, 2, 4 and so on.

    Example:
        >>> from deniable.designs import number_design
        >>> trial_design(number_design(0, 8000, epsilon=2)).categories
        ('0', '2', '4', '6', '8')
    """
    levels, responses = design.channel.answers, design.channel.responses
    scale = Scale(Range.of(0, 2 * (levels - 1)), levels)
    return NumberDesign(
        design.name,
        scale.names,
        window_labels(scale.names, responses - levels + 1),
        design.channel,
        scale=scale,
    )
