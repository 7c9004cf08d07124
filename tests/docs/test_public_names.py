"""Every public name can be imported, is documented, and shows an example that runs."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

import deniable
from deniable.designs import FAMILIES

SOURCE = Path(deniable.__file__).parent
STUB = SOURCE / "__init__.pyi"


def modules() -> list[str]:
    """Every module of the package that can be imported without running a program."""
    found = [
        info.name for info in pkgutil.walk_packages(deniable.__path__, "deniable.")
    ]
    return ["deniable", *(name for name in found if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", modules())
def test_what_a_module_offers_can_be_imported(name: str) -> None:
    module = importlib.import_module(name)
    offered = getattr(module, "__all__", [])
    assert len(set(offered)) == len(offered)
    for each in offered:
        assert getattr(module, each) is not None
    assert set(offered) <= set(dir(module))
    assert (module.__doc__ or "").strip(), f"{name} does not say what it is"


METHODS = (property, cached_property, classmethod, staticmethod)


def documented(kind: type, name: str) -> bool:
    """Whether a method has a docstring of its own or inherits one, as `inspect.getdoc` finds it."""
    return any(
        vars(base)[name].__doc__ for base in kind.__mro__ if name in vars(base)
    )


@pytest.mark.parametrize("name", modules())
def test_every_public_method_has_a_docstring_of_its_own_or_inherited(
    name: str,
) -> None:
    kinds = [
        each
        for each in vars(importlib.import_module(name)).values()
        if inspect.isclass(each)
    ]
    silent = [
        f"{kind.__name__}.{method}"
        for kind in kinds
        if kind.__module__ == name and not kind.__name__.startswith("_")
        for method, thing in vars(kind).items()
        if not method.startswith("_")
        and (inspect.isfunction(thing) or isinstance(thing, METHODS))
        if not documented(kind, method)
    ]
    assert silent == []


def listed(path: Path) -> dict[str, tuple[str, str]]:
    """Return module and name behind each name that a list of imports offers to a type checker."""
    names: dict[str, tuple[str, str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        module = str(node.module)
        for alias in node.names:
            if alias.name == "*":
                names |= listed(Path(str(importlib.import_module(module).__file__)))
            else:
                names[str(alias.asname)] = (module, alias.name)
    return names


def test_a_type_checker_sees_what_there_is() -> None:
    """A checker reads the stub as Python does; the package reads its lines."""
    seen = listed(STUB)
    assert len(seen) > 150
    assert [*seen] == [*deniable.__all__]
    for name, (home, there) in seen.items():
        assert name == there
        found = importlib.import_module(
            f"{home}.{name}" if home == "deniable" else home
        )
        assert getattr(deniable, name) is (
            found if home == "deniable" else getattr(found, name)
        )


@pytest.mark.parametrize("name", ["deniable.report", "deniable.engines"])
def test_a_lazy_namespace_tells_checkers_what_it_offers(name: str) -> None:
    module = importlib.import_module(name)
    seen = {
        alias.name: str(node.module)
        for block in ast.parse(
            Path(str(module.__file__)).read_text(encoding="utf-8")
        ).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {each for each in module.__all__ if each not in vars(module)} <= set(seen)
    for each in set(module.__all__) & set(seen):
        assert seen[each] == name or getattr(module, each) is getattr(
            importlib.import_module(seen[each]), each
        )


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'privatise'"):
        deniable.privatise  # noqa: B018


FRESH = """
import importlib, os, sys, traceback
for name in "cryptography.hazmat.primitives.ciphers matplotlib.figure numpy pyarrow scipy.optimize scipy.stats".split():
    importlib.import_module(name)
assert not [name for name in sys.modules if name.partition(".")[0] == "deniable"]
for name in sys.argv[1:]:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    try:
        import deniable
        first = getattr(deniable, name)
        told = str(first is not None and getattr(deniable, name) is not None)
    except BaseException:
        told = traceback.format_exc()
    os.write(1, ascii((name, told)).encode() + b"\\n")
    os._exit(0)
"""


@pytest.fixture(scope="module")
def used_first() -> dict[str, str]:
    """What comes of each public name where it is the first to be used.

    Each has a process of its own, in which nothing of ours was imported. What others wrote was: that takes a second,
    and is the same for every name.
    """
    words = [sys.executable, "-c", FRESH, *deniable.__all__]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    return dict(map(ast.literal_eval, run.stdout.splitlines()))


@pytest.mark.parametrize("name", deniable.__all__)
def test_a_public_name_comes_first_in_a_fresh_interpreter(
    name: str, used_first: dict[str, str]
) -> None:
    """Names are loaded when they are first used; none may lean on another that was used before."""
    assert used_first[name] == "True", used_first[name]


def test_steps_are_callable_however_they_are_imported() -> None:
    for first in (
        "import deniable.tallies, deniable.responses, deniable.estimates",
        "import deniable.engines",
        "pass",
    ):
        program = (
            f"{first}\nimport deniable as dn\ndesign = dn.warner(1)\n"
            "for _ in range(2):\n"
            "    responses = [dn.respond(design, 'yes') for _ in range(100)]\n"
            "    dn.estimate(dn.tally(design, responses))\n"
            "from deniable import tally, respond, estimate\n"
            "assert callable(tally) and callable(respond) and callable(estimate)\n"
            "from deniable.tallies import Tally\n"
            "assert isinstance(dn.tally(design, responses), dn.Tally) and dn.Tally is Tally\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_tells_guarantee_errors_and_an_example(name: str) -> None:
    text = inspect.getdoc(FAMILIES[name].build) or ""
    for section in ("Guarantee:", "Raises:", "Example:"):
        assert f"\n{section}" in text, f"{name} has no section {section}"
    assert ">>>" in text


@pytest.mark.parametrize("name", deniable.__all__)
def test_a_public_function_shows_an_example_and_its_errors(name: str) -> None:
    thing = getattr(deniable, name)
    assert (inspect.getdoc(thing) or "").strip(), f"{name} does not say what it is"
    if isinstance(thing, ModuleType):
        # the function that gives its step the name, if there is one
        thing = getattr(thing, name, None)
    if inspect.isfunction(thing):
        text = inspect.getdoc(thing) or ""
        assert text.splitlines()[0].endswith((".", ":")), (
            f"{name} does not begin with a sentence"
        )
        assert "Raises:" in text, f"{name} does not tell its errors"
        assert "Example:" in text, f"{name} shows no example"
        assert ">>>" in text


def nodes() -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Every public function, method and class of the package, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(
                node, ast.FunctionDef | ast.ClassDef
            ) and not node.name.startswith("_"):
                yield (
                    f"{path.relative_to(SOURCE).as_posix()}:{node.lineno} {node.name}",
                    node,
                )


def test_no_function_takes_a_seed() -> None:
    found = [
        place
        for place, node in nodes()
        if isinstance(node, ast.FunctionDef)
        for argument in [
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
        ]
        if argument.arg in {"seed", "random_state", "rng"}
    ]
    assert found == []
