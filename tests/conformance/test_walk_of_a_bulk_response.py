"""How many files a reader has to open to follow one column of answers: those in which a function runs."""

from __future__ import annotations

import subprocess
import sys

WALK = """
import sys
import numpy as np
import deniable as dn
from deniable.engines.local import engine

def touched(run):
    files = set()
    def look(frame, event, _):
        code = frame.f_code
        # The body of a class runs while its module is imported, and is no step of the walk.
        if event == "call" and "/deniable/" in code.co_filename and "__qualname__" not in code.co_names:
            # Nor is what refuses a wrong argument.
            if code.co_name != "<module>" and not code.co_filename.endswith("/errors.py"):
                files.add(code.co_filename.rpartition("/deniable/")[2])
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files

dn.respond_all  # the door is opened once
design, answers = dn.k_ary(16, epsilon=1), np.arange(1000) % 16
for file in sorted(touched(lambda: dn.respond_all(design, answers))):
    print(file)
"""


def test_a_column_of_answers_is_drawn_in_nine_files() -> None:
    walked = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, check=True).stdout.split()
    assert "verbs.py" in walked
    assert "bulk/random_words.py" in walked
    assert len(walked) <= 9, walked
