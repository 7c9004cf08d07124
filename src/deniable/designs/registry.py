"""All families of designs, each with small examples on which every promise is checked.

A new family joins the conformance suite by registering:

    @register({"categories": ["no", "yes"], "epsilon": 1})
    def warner(...) -> Design: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from deniable.designs.design import Design

_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class Family:
    """A function that builds designs, and arguments that build small ones."""

    name: str
    build: Callable[..., Design]
    examples: tuple[Mapping[str, Any], ...]
    caveat: str = ""

    def designs(self) -> tuple[Design, ...]:
        """Build the examples."""
        return tuple(self.build(**example) for example in self.examples)


FAMILIES: dict[str, Family] = {}


def register(*examples: Mapping[str, Any], caveat: str = "") -> Callable[[Callable[_P, Design]], Callable[_P, Design]]:
    """Enter a family under its function's name, with the arguments of at least one small example.

    A `caveat` says what the family's guarantee rests on besides its channel; `Design.caveat` and summaries repeat it.
    """
    assert examples, "a family without an example is never checked"

    def enter(build: Callable[_P, Design]) -> Callable[_P, Design]:
        FAMILIES[build.__name__] = Family(build.__name__, build, examples, caveat)
        return build

    return enter
