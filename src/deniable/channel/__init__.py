"""An exact stochastic matrix P(response | answer), dense or structured. Nothing is rounded here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from deniable import documents
from deniable.channel.base import Channel, Witness
from deniable.channel.dense import Dense
from deniable.channel.patterns import Patterns
from deniable.channel.product import Product
from deniable.channel.sets import Bits, Mixture, Sets, Subset
from deniable.channel.two_level import Diagonal, Hadamard, Hashing, TwoLevel
from deniable.errors import UnreadableFile, quoted

__all__ = [
    "Bits",
    "Channel",
    "Dense",
    "Diagonal",
    "Hadamard",
    "Hashing",
    "Mixture",
    "Patterns",
    "Product",
    "Sets",
    "Subset",
    "TwoLevel",
    "Witness",
    "from_body",
    "register",
]

Kind = TypeVar("Kind", bound=type[Channel])

KINDS: dict[str, type[Channel]] = {}
"""The kinds that a file may name."""


def register(kind: Kind) -> Kind:
    """Let files name a kind of channel; use it as a decorator of the class.

    Raises:
        ValueError: another kind has this name.
    """
    if KINDS.setdefault(kind.KIND, kind) is not kind:
        raise ValueError(f"there is a kind of channel called {kind.KIND!r} already")
    return kind


for _kind in (
    Bits,
    Dense,
    Diagonal,
    Hadamard,
    Hashing,
    Mixture,
    Patterns,
    Product,
    Subset,
):
    register(_kind)


def from_body(body: Mapping[str, Any]) -> Channel:
    """Read a channel of any kind from the body of a JSON document.

    Raises:
        UnreadableFile: the kind is not known here.
    """
    kind = documents.field(body, "kind", str)
    if kind not in KINDS:
        raise UnreadableFile(
            f"the channel is of kind {quoted(kind)}; expected one of {sorted(KINDS)}."
        )
    return KINDS[kind].from_body(body)
