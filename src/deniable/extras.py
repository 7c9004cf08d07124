"""Packages that a light installation lacks: importing one raises `MissingExtra` with the command that installs it.

The distribution `deniable-core` has no dependencies. `deniable` adds those that analysts need; extras add the others.
Modules import these packages as usual. Where Python finds none of them, it asks the finder of `deniable` last.
"""

from __future__ import annotations

import sys

_STANDARD = (
    "numpy",
    "scipy",
    "cryptography",
    "pyarrow",
    "matplotlib",
    "typer",
    "rich",
)
EXTRAS = {
    "analysis": ("formulaic", "pandas"),
    "collect": ("uvicorn", "starlette", "msgspec", "jinja2", "prometheus_client"),
    "duckdb": ("duckdb",),
    "elsewhere": ("docx", "openpyxl", "pyreadstat"),
    "fast": ("numba",),
    "learn": ("sklearn",),
    "postgres": ("psycopg",),
    "spark": ("pyspark",),
}
"""The packages that modules of `deniable` import, by the extra that brings them."""

COMMANDS = dict.fromkeys(_STANDARD, "pip install deniable") | {
    package: f"pip install 'deniable[{extra}]'"
    for extra, packages in EXTRAS.items()
    for package in packages
}
"""The command that installs each package, by the name under which it is imported."""

_IMPORTING = {
    "importlib",
    "importlib._bootstrap",
    "importlib._bootstrap_external",
    "_frozen_importlib",
}


def explain_missing(name: str) -> None:
    """Refuse to import a package that no finder found.

    Raises:
        MissingExtra: a module of `deniable` imports it; other importers get Python's own error.
    """
    command = COMMANDS.get(name)
    importer = "" if command is None else _importer()
    if importer.partition(".")[0] != "deniable":
        return
    from deniable.errors import MissingExtra

    error = MissingExtra(
        f"{importer} needs the package {name!r}, which is not installed.",
        f"Run: {command}",
    )
    error.name = name
    raise error


def _importer() -> str:
    """Return the name of the module whose statement imports, behind the finder and the import system."""
    finder = sys._getframe(2)
    frame = finder.f_back
    while frame is not None and frame.f_globals.get("__name__") in _IMPORTING:
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__"))
