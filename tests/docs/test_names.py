"""One word, one idea: names that would mean two things, or hide what they hold, are found."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.support.trees import SOURCE, source_trees


def homes(trees: dict[Path, ast.Module]) -> dict[str, list[str]]:
    """Where each top-level class is defined, a leading underscore aside."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].append(path.name)
    return found


def hidden(trees: dict[Path, ast.Module]) -> list[str]:
    """Modules that carry the name of something that their package exports."""
    found = []
    for path, tree in trees.items():
        if path.name == "__init__.py":
            imports = [
                node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            ]
            exported = {
                alias.asname or alias.name
                for node in imports
                for alias in node.names
            }
            package = (
                f"deniable.{'.'.join(path.parent.relative_to(SOURCE).parts)}".rstrip(
                    "."
                )
            )
            modules = {
                alias.name
                for node in imports
                if node.module == package
                for alias in node.names
            }
            found += [
                str(each)
                for each in path.parent.glob("*.py")
                if each.stem in exported - modules
            ]
    return found


def limits(trees: dict[Path, ast.Module]) -> list[str]:
    """Limits whose names do not say of what."""
    return [
        f"{path.name}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and node.id.strip("_") in ("MOST", "LEAST", "MANY", "ENOUGH", "SOME")
    ]


def test_a_class_has_one_home() -> None:
    assert {
        name: where
        for name, where in homes(source_trees()).items()
        if len(where) > 1
    } == {}


def test_no_module_hides_behind_a_name_of_its_package() -> None:
    assert hidden(source_trees()) == []


def test_a_limit_says_of_what() -> None:
    assert limits(source_trees()) == []


def test_faults_are_found() -> None:
    twice = {
        Path("a.py"): ast.parse("class Stage: ..."),
        Path("b.py"): ast.parse("class _Stage: ...\n_MOST = 3"),
    }
    assert homes(twice) == {"Stage": ["a.py", "b.py"]}
    assert limits(twice) == ["b.py:2"]
    init = SOURCE / "designs" / "__init__.py"
    assert hidden(
        {init: ast.parse("from deniable.designs.design import design")}
    ) == [str(init.parent / "design.py")]
