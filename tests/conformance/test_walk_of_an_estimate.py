"""How often a reader has to change the file to follow one estimate from its tally."""

from __future__ import annotations

import subprocess
import sys

MAX_CHANGES = 20

WALK = """
import sys
import deniable as dn

ROOT = dn.__file__.rpartition("/")[0] + "/"

def walk(run):
    files = []
    def look(frame, event, _):
        code = frame.f_code
        own = event == "call" and code.co_filename.startswith(ROOT)
        # The body of a class runs while its module is imported, and is no step of the walk; nor is what refuses.
        if not own or "__qualname__" in code.co_names or code.co_name == "<module>":
            return
        file = code.co_filename.removeprefix(ROOT)
        if file != "errors.py" and files[-1:] != [file]:
            files.append(file)
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files

for design in (dn.k_ary(["never", "once", "often"], 1), dn.warner(1)):
    tally = dn.tally(design, list(design.symbols) * 30)
    dn.estimate(tally)  # modules are loaded once
    print(*walk(lambda: dn.estimate(tally)))
"""


def test_an_estimate_changes_the_file_twenty_times_at_most() -> None:
    told = subprocess.run(
        [sys.executable, "-c", WALK], capture_output=True, text=True, check=True
    ).stdout
    walks = [line.split() for line in told.splitlines()]
    assert len(walks) == 2
    for walk in walks:
        assert walk[0] == "verbs.py"
        assert "estimates/shares.py" in walk
        assert len(walk) <= MAX_CHANGES, walk
