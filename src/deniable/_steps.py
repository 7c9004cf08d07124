"""The folders are the steps, and calling a step runs it: `dn.tally(…)` and `dn.tally.Tally` both work.

Why: `import deniable.tally` binds the module to the name `tally` of the package, where users look for the function.
A callable module serves both, whichever is imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def callable_step(module: str, function: Callable[..., Any]) -> None:
    """Make calling a module the same as calling its function."""
    step = type("Step", (ModuleType,), {"__call__": staticmethod(function), "__doc__": function.__doc__})
    sys.modules[module].__class__ = step
