"""Several columns of answers, one for each attribute → one column of codes for a design that asks for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.engines.local.answers import in_range, out_of_range, read
from deniable.errors import InvalidAnswer, InvalidRequest


def together(design: Design, columns: Mapping[str, Any], *, codes: bool | None = None) -> NDArray[np.int64]:
    """Return the code of each respondent's combination of answers.

    Args:
        design: for several attributes.
        columns: a column of answers for each attribute, of labels or of codes, all equally long.
        codes: what whole numbers are, as in `respond`.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index is told.
        InvalidRequest: columns for other attributes than the design has, or of different lengths.

    Example:
        >>> from deniable.designs import product, warner
        >>> both = product({"smokes": warner(1), "drinks": warner(2)})
        >>> together(both, {"smokes": ["no", "yes"], "drinks": ["yes", "yes"]}).tolist()
        [1, 3]
    """
    if set(columns) != set(design.attributes) or not design.factors:
        raise InvalidRequest(
            f"there are columns for {', '.join(map(repr, columns))}; expected one for each attribute of the design: "
            f"{', '.join(map(repr, design.attributes)) or 'it has one only'}."
        )
    joint: NDArray[np.int64] | None = None
    for attribute, part in design.factors:
        answers = read(part, columns[attribute], codes=codes)
        if not in_range(answers, part.channel.answers):
            raise out_of_range(part, answers)
        if joint is not None and len(joint) != len(answers):
            raise InvalidAnswer("the columns differ in length; expected an answer to each attribute in every row.")
        joint = answers.astype(np.int64) + (0 if joint is None else joint * part.channel.answers)
    assert joint is not None
    return joint
