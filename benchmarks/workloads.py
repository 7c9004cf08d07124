"""What the benchmarks work on: seeded, built outside the measured calls, and never changed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design, k_ary


@cache
def design(categories: int) -> Design:
    return k_ary(categories, epsilon=1)


@cache
def answers(categories: int, n: int) -> NDArray[Any]:
    """Codes in the type that users hold them in: uint8 up to 256 categories, then uint16."""
    codes = np.random.default_rng(20_160_814).integers(0, categories, n)
    frozen = codes.astype(np.min_scalar_type(categories - 1))
    frozen.flags.writeable = False
    return frozen
