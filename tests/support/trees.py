"""The syntax trees of the package, parsed once in each process that asks for them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import deniable

SOURCE = Path(deniable.__file__).parent


@cache
def source_trees() -> dict[Path, ast.Module]:
    """Return the tree of each module by its path."""
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
