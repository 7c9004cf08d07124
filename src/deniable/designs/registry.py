"""All families of designs, each with small examples on which every promise is checked.

A new family joins the conformance suite by registering, and is public with a line in `deniable.designs.families`:

    @register({"categories": ["no", "yes"], "epsilon": 1}, purpose=Purpose.DEVICE)
    def warner(...) -> Design: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from deniable.designs.design import Design

_P = ParamSpec("_P")


class Purpose(StrEnum):
    """The uses by which lists of families are grouped, in the order of those lists."""

    DEVICE = "Surveys, yes or no, with cards, dice, coins or a spinner"
    HARMLESS = "Surveys, yes or no, with a harmless question in place of a device"
    SEVERAL = "Surveys, three answers or more"
    TELEMETRY = "Apps and telemetry, one of few or of many categories"
    ORDERED = "Numbers and ordered categories"
    ATTRIBUTES = "Several questions of one respondent"
    ITEMS = "Items with weights, and graphs"
    EXPLICIT = "From probabilities of your own, or with a δ"
    OTHER = "Other families"


@dataclass(frozen=True, slots=True)
class Family:
    """A function that builds designs, and arguments that build small ones.

    Attributes:
        name: of the function.
        build: the function.
        examples: arguments of small designs, on which the conformance suite checks every promise.
        purpose: the group under which lists show it.
        caveat: what its guarantee rests on besides its channel.
    """

    name: str
    build: Callable[..., Design]
    examples: tuple[Mapping[str, Any], ...]
    purpose: Purpose = Purpose.OTHER
    caveat: str = ""

    def designs(self) -> tuple[Design, ...]:
        """Build the examples."""
        return tuple(self.build(**example) for example in self.examples)


FAMILIES: dict[str, Family] = {}


def register(
    *examples: Mapping[str, Any], purpose: Purpose = Purpose.OTHER, caveat: str = ""
) -> Callable[[Callable[_P, Design]], Callable[_P, Design]]:
    """Enter a family under its function's name, with the arguments of at least one small example.

    Args:
        examples: arguments that build small designs.
        purpose: the group under which `deniable design list` shows the family.
        caveat: what the guarantee rests on besides the channel; `Design.caveat` and summaries repeat it.
    """
    assert examples, "a family without an example is never checked"

    def enter(build: Callable[_P, Design]) -> Callable[_P, Design]:
        FAMILIES[build.__name__] = Family(
            build.__name__, build, examples, purpose, caveat
        )
        return build

    return enter
