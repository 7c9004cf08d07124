"""Criteria in words, as the shell and survey files take them: `rho_to_rho 1/10 1/2`."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable

from deniable.criteria.base import Criterion
from deniable.criteria.boundaries import Boundaries
from deniable.criteria.strict import (
    BayesFactor,
    BetaFactor,
    Epsilon,
    KnownPrior,
    Policy,
    PosteriorCap,
    Relaxed,
    RhoToRho,
)
from deniable.errors import InvalidRequest, quoted, require_choice


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


_CLASSES: tuple[type[Criterion], ...] = (
    *(Epsilon, BayesFactor, BetaFactor, RhoToRho, PosteriorCap),
    *(Boundaries, KnownPrior, Policy, Relaxed),
)
CRITERIA = {_snake_case(kind.__name__): kind for kind in _CLASSES}
"""Every criterion by its name in words."""


def _read_list(text: str) -> list[str]:
    return [cell.strip() for cell in text.split(",")]


def _read_rows(text: str) -> list[list[str]]:
    return [_read_list(row) for row in text.split(";")]


def _read_prior(text: str) -> dict[str, str] | list[str]:
    cells = _read_list(text)
    if "=" not in text:
        return cells
    return {
        name: share for name, _, share in (cell.rpartition("=") for cell in cells)
    }


_READERS: dict[str, Callable[[str], object]] = {
    "Prior": _read_prior,
    "Event | None": _read_list,
    "Boundary | None": _read_rows,
    "Any": _read_rows,  # the pairs and properties of a policy
}
"""By the annotation of a parameter; all others are numbers."""


def read_criterion(text: str) -> Criterion:
    """Read a criterion: its name, then its parameters in their order, or as `parameter:value`.

    A list has commas, and a list of lists semicolons between them: `policy 1 no,yes;no,maybe`.

    Raises:
        InvalidRequest: another name, or other parameters than the criterion has.
        InvalidNumber: a parameter that is no number, or out of bounds.

    Example:
        >>> read_criterion("rho_to_rho 1/10 1/2").parity
        Fraction(9, 1)
        >>> print(read_criterion("known_prior no=0.9,yes=0.1 1/2 about:yes"))
        a posterior of at most 0.5 for the event under the given prior
    """
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError:
        raise InvalidRequest(
            f"the criterion {quoted(text, 60)} has a quotation mark without its partner; expected pairs of them."
        ) from None
    require_choice("the criterion is", name, tuple(CRITERIA))
    parameters = inspect.signature(CRITERIA[name]).parameters
    values: dict[str, object] = {}
    for word, in_order in zip(words, [*parameters, *words], strict=False):
        prefix, colon, rest = word.partition(":")
        key, value = (
            (prefix, rest) if colon and prefix in parameters else (in_order, word)
        )
        if key not in parameters or key in values:
            raise _wrong_parameters(name)
        values[key] = _READERS.get(str(parameters[key].annotation), str)(value)
    try:
        return CRITERIA[name](**values)
    except TypeError:
        raise _wrong_parameters(name) from None


def _wrong_parameters(name: str) -> InvalidRequest:
    expected = ", ".join(inspect.signature(CRITERIA[name]).parameters)
    return InvalidRequest(
        f"the criterion {quoted(name)} takes other parameters; expected {expected}.",
        'For example "rho_to_rho 1/10 1/2", or "policy 1 properties:never".',
    )
