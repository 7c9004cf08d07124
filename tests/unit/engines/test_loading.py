"""What an engine loads, and when: a fresh interpreter tells."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loads(statement: str, module: str) -> bool:
    program = f"import sys\n{statement}\nprint({module!r} in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return run.stdout.strip() == "True"


@pytest.mark.parametrize(
    ("statement", "module", "expected"),
    [
        ("import deniable.engines", "numpy", False),
        ("import deniable as dn; dn.engines.local", "numpy", True),
        (
            "import deniable as dn; dn.engines.local.draw_all(dn.warner(1), ['yes'])",
            "numba",
            False,
        ),
        (
            "import deniable as dn; dn.engines.local.draw_all(dn.warner(1), ['yes'], fast=True)",
            "numba",
            True,
        ),
    ],
)
def test_nothing_is_loaded_before_it_is_needed(
    statement: str, module: str, expected: bool
) -> None:
    assert loads(statement, module) is expected
