"""Randomized response, end to end: design → respond → tally → estimate.

`import deniable as dn` is all that a user needs. The four verbs and everything they take and return are names of `dn`;
the namespaces are few: `dn.plan` and `dn.simulate` before anybody is asked, `dn.fieldkit` to ask on paper,
`dn.criteria` and `dn.attacks` for what is promised and what an attacker learns, `dn.compliance` for people who do not
follow the device, `dn.report` for words and pictures, `dn.engines` for where rows run, `dn.errors`.

Names are loaded when they are first used, so that `import deniable` stays light. `__init__.pyi` lists them, for type
checkers and editors as for this module.
"""

import sys

__version__ = "0.2.0"


def _read_exports(file: str) -> dict[str, str]:
    """Return the module that defines each name which a list of imports offers, by name.

    A line is `from MODULE import NAME as NAME`, or `from MODULE import *` for another list.
    """
    loader = __spec__.loader
    folder = __file__.removesuffix("__init__.py")
    exports: dict[str, str] = {}
    # also of a package in an archive
    for line in loader.get_data(folder + file).decode().splitlines():
        if not line.startswith("from "):
            continue
        _, module, _, name, *_ = line.split()
        if name == "*":
            folder_path = module.removeprefix("deniable.").replace(".", "/")
            exports |= _read_exports(f"{folder_path}.py")
        else:
            exports[name] = f"{module}.{name}" if module == "deniable" else module
    return exports


class _MissingPackages:
    """A finder of modules that finds none; Python asks it last, so a package that a module needs is missing."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004 - Python's protocol
        from deniable.extras import explain_missing

        explain_missing(name)


sys.meta_path.append(_MissingPackages)
_EXPORTS = _read_exports("__init__.pyi")
__all__ = [*_EXPORTS]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'deniable' has no attribute {name!r}")
    __import__(_EXPORTS[name])
    module = sys.modules[_EXPORTS[name]]
    is_namespace = module.__name__ == f"deniable.{name}"
    globals()[name] = value = module if is_namespace else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
