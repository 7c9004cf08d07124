"""How many files a reader has to open to follow one column of answers: those in which a function runs."""

from __future__ import annotations

import numpy as np

import deniable as dn
from tests.support.walks import walk


def test_a_column_of_answers_is_drawn_in_thirteen_files() -> None:
    design, answers = dn.k_ary(16, epsilon=1), np.arange(1000) % 16
    dn.respond_all(design, answers)  # loads what is loaded once
    # which refuses wrong arguments
    files = set(walk(lambda: dn.respond_all(design, answers))) - {"errors.py"}
    assert {"verbs.py", "bulk/random_words.py"} <= files
    # one of them is the registry of types, which leads to the draw; three hold what is also asked of responses:
    # the coding of a channel, its size, and whether a number could be a label or a code
    assert len(files) <= 13, sorted(files)
