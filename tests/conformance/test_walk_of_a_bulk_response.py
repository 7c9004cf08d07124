"""How many files a reader has to open to follow one column of answers: those in which a function runs."""

from __future__ import annotations

import numpy as np

import deniable as dn
from tests.support.walks import walk


def test_a_column_of_answers_is_drawn_in_ten_files() -> None:
    design, answers = dn.k_ary(16, epsilon=1), np.arange(1000) % 16
    dn.respond_all(design, answers)  # loads what is loaded once
    # which refuses wrong arguments
    files = set(walk(lambda: dn.respond_all(design, answers))) - {"errors.py"}
    assert {"verbs.py", "bulk/random_words.py"} <= files
    # one of them is the registry of types, which leads to the draw
    assert len(files) <= 10, sorted(files)
