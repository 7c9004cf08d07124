"""Randomized response, end to end: design → respond → tally → estimate.

`import deniable as dn` is all that a user needs. The four verbs and everything they take and return are names of `dn`;
the namespaces are few: `dn.plan` and `dn.simulate` before anybody is asked, `dn.criteria` and `dn.audit` for what is
promised and what an attacker learns, `dn.report` for words and pictures, `dn.engines` for where rows run, `dn.errors`.

Names are loaded when they are first used, so that `import deniable` stays light. Type checkers and editors read them in
`__init__.pyi`; a test holds that both say the same.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    name: home
    for home, names in {
        "": ("audit", "criteria", "engines", "errors", "plan", "report", "simulate"),
        "client": ("Client", "Hub", "NotSent", "NotTaken"),
        "designs": (
            "Deck",
            "Design",
            "binary",
            "capped_binary",
            "christofides",
            "crosswise",
            "direct",
            "exposing_binary",
            "exposure_threshold",
            "feasible_binary",
            "forced_response",
            "hadamard",
            "integer_deck",
            "items",
            "k_ary",
            "local_hashing",
            "matrix",
            "mixture",
            "optimal_binary",
            "product",
            "rappor",
            "relaxed_warner",
            "rr3_club",
            "rr3_dagger",
            "rr3_ddagger",
            "simmons",
            "subset",
            "truncated_rappor",
            "unary",
            "warner",
        ),
        "documents": ("Response",),
        "errors": ("DeniableError",),
        "estimates": ("Estimate", "estimate"),
        "order.admissibility": ("admissible", "repair"),
        "order.blackwell": ("compare", "garbling"),
        "order.relaxation": ("Ladder", "best_ladder", "extend", "ladder", "relax"),
        "plan": ("optimal",),
        "release.ledger": ("Ledger",),
        "release.market": ("Market", "Prices", "worth"),
        "release.panel": ("Panel",),
        "responses": ("respond",),
        "survey": ("Question", "QuestionTexts", "Survey", "SurveyTexts"),
        "tallies": ("Tally", "tally"),
    }.items()
    for name in names
}

__all__ = [*_HOMES]  # noqa: PLE0604 - every entry is text


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'deniable' has no attribute {name!r}")
    found = getattr(import_module(f"deniable.{home}"), name) if home else import_module(f"deniable.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
