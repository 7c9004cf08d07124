"""A module that is imported by a string stands below its importer, as the layers say of every other import."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import deniable

SOURCE = Path(deniable.__file__).parent
ROOT = SOURCE.parents[1]
IMPORTS = ("import_module", "__import__")
LOADERS = {
    "__init__": "the public names",  # which stands above all layers
    "types/__init__": "the operations of a type of question, in the folders beside it",
}


def layers() -> list[set[str]]:
    """The layers of pyproject.toml from above, each with the packages in it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    flow = next(
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers"
    )
    return [set(re.findall(r"\w+", layer)) for layer in flow["layers"]]


def strings(node: ast.AST) -> list[str]:
    """All text in an expression, and what its text begins with where it is put together."""
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


def imported(path: Path) -> set[str]:
    """The modules of the package that a file may import by a string: names, prefixes, and tables of its own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(IMPORTS)
        and node.args
    ]
    found: set[str] = set()
    for call in calls:
        begins = strings(call.args[0])
        whole = {text for text in begins if is_module(text)}
        prefix = next(
            (text for text in begins if text.startswith("deniable.")), "deniable."
        )
        found |= whole or module_names(tree, prefix)
    return found


def module_names(tree: ast.Module, prefix: str) -> set[str]:
    """The modules that text in a file names, with the prefix or without; also where it names something in a module."""
    names: set[str] = set()
    for text in strings(tree):
        if re.fullmatch(r"[a-z_]+(\.\w+)*", text) and (
            "." in text or prefix != "deniable."
        ):
            parts = (text if text.startswith("deniable.") else prefix + text).split(
                "."
            )
            names |= {".".join(parts[:end]) for end in range(3, len(parts) + 1)}
    return set(filter(is_module, names))


def is_module(name: str) -> bool:
    try:
        return (
            name.startswith("deniable.")
            and not name.endswith(".")
            and find_spec(name) is not None
        )
    except (ImportError, ValueError):
        return False


def package(module: str) -> str:
    return module.removeprefix("deniable.").split(".")[0]


def importers() -> dict[str, set[str]]:
    """Every file that imports by a string, with what it may import."""
    paths = [
        path
        for path in SOURCE.rglob("*.py")
        if any(f"{call}(" in path.read_text(encoding="utf-8") for call in IMPORTS)
    ]
    return {
        path.relative_to(SOURCE).with_suffix("").as_posix(): imported(path)
        for path in paths
    }


def climbs(importer: str, module: str, order: dict[str, int]) -> bool:
    """Whether a module stands above its importer, or beside it in another package of the same layer."""
    own, other = order[importer.split("/", maxsplit=1)[0]], order[package(module)]
    return other < own or (
        other == own and package(module) != importer.split("/", maxsplit=1)[0]
    )


ORDER = {name: number for number, layer in enumerate(layers()) for name in layer}


def test_strings_that_climb_are_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        'from importlib import import_module\nHOMES = {"numbers": "types.numbers.count.NumberTally"}\n'
        'def f(asks):\n    return import_module(f"deniable.{HOMES[asks]}")\n',
        encoding="utf-8",
    )
    assert "deniable.types.numbers.count" in imported(planted)
    assert climbs("tallies/planted", "deniable.types.numbers.count", ORDER)
    assert climbs("estimates/planted", "deniable.bulk.columns", ORDER)
    assert not climbs("groups/planted", "deniable.types.numbers.count", ORDER)


def test_no_import_by_a_string_climbs() -> None:
    found = {
        name: modules for name, modules in importers().items() if name not in LOADERS
    }
    assert len(found) >= 4
    above = {
        (name, module)
        for name, modules in found.items()
        for module in modules
        if climbs(name, module, ORDER)
    }
    assert above == set()


@pytest.mark.parametrize("name", LOADERS)
def test_a_loader_is_there(name: str) -> None:
    assert name in importers() or name == "__init__"
