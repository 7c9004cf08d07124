"""Percentages, ε and rounded bounds are formatted in one module, `deniable.rendering.formats`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.trees import SOURCE, source_trees

FORMATS = Path("rendering/formats.py")
SPECIFIED = re.compile(r"[.\d]*[eEfgG%]$")
EPSILON = re.compile(r"ε\)? ?(=|≥|≤|≈|is|of|of at least|at least) ?$")


def _trees() -> list[tuple[Path, ast.Module]]:
    return [
        (path.relative_to(SOURCE), tree)
        for path, tree in source_trees().items()
        if path != SOURCE / FORMATS
    ]


def _functions_named_percent(tree: ast.Module) -> list[int]:
    functions = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [node.lineno for node in functions if node.name.strip("_") == "percent"]


def _specification(value: ast.FormattedValue) -> str:
    return (
        ast.unparse(value.format_spec).strip("f'\"")
        if value.format_spec is not None
        else ""
    )


def _formatted_epsilons(tree: ast.Module) -> list[int]:
    """Find the f-strings that format an ε by themselves: by its name, or by the text before it."""
    lines = []
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        before = ""
        for part in text.values:
            if isinstance(part, ast.Constant):
                before = str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            named = re.search(r"\bepsilon(_\w+)?$", ast.unparse(part.value))
            if SPECIFIED.search(_specification(part)) and (
                named or EPSILON.search(before)
            ):
                lines.append(part.lineno)
            before = ""
    return lines


def _formatted_percentages(tree: ast.Module) -> list[int]:
    """Find the f-strings that write a number and a percent sign."""
    lines = []
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for part, after in zip(text.values, [*text.values[1:], None], strict=True):
            if not isinstance(part, ast.FormattedValue):
                continue
            specification = _specification(part)
            sign = isinstance(after, ast.Constant) and re.match(
                r" ?%(?!\w)", str(after.value)
            )
            if specification.endswith("%") or (
                sign and SPECIFIED.search(specification)
            ):
                lines.append(part.lineno)
    return lines


def test_the_search_finds_planted_cases() -> None:
    tree = ast.parse(
        "def _percent(x): ...\n"
        "f'ε = {x:.4g}'\n"
        "f'{design.epsilon:g}'\n"
        "f'{100 * share:.3g} % of all'\n"
        "f'{share:.1%}'\n"
        "f'ε = {formats.epsilon(x)} and {n:,} people, {name}%'\n"
    )
    assert _functions_named_percent(tree) == [1]
    assert _formatted_epsilons(tree) == [2, 3]
    assert _formatted_percentages(tree) == [4, 5]


def test_one_function_is_called_percent() -> None:
    assert {
        str(name): lines
        for name, tree in _trees()
        if (lines := _functions_named_percent(tree))
    } == {}


def test_an_epsilon_is_formatted_in_one_place() -> None:
    places = {
        name.as_posix(): len(lines)
        for name, tree in _trees()
        if (lines := _formatted_epsilons(tree))
    }
    assert places == {}


def test_a_percentage_is_formatted_in_one_place() -> None:
    assert {
        str(name): lines
        for name, tree in _trees()
        if (lines := _formatted_percentages(tree))
    } == {}
