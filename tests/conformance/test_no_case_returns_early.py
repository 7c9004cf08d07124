"""A case that returns before it has tested anything passes whatever is wrong: its parameters are filtered instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def early(node: ast.AST) -> Iterator[int]:
    """Lines of a test that return, but for those that have just seen an error that they allow."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child.lineno
        elif not isinstance(
            child,
            ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ExceptHandler,
        ):
            yield from early(child)


@pytest.mark.parametrize(
    "path",
    sorted(TESTS.rglob("test_*.py")),
    ids=lambda path: path.relative_to(TESTS).as_posix(),
)
def test_no_case_returns_early(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    found = [
        f"{node.name}:{line}"
        for node in functions
        if node.name.startswith("test_")
        for line in early(node)
    ]
    assert found == [], "filter the parameters, or use hypothesis.assume"
