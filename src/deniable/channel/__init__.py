"""An exact stochastic matrix P(response | answer), dense or structured. Nothing is rounded here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable import documents
from deniable.channel.base import Channel, Witness
from deniable.channel.bits import Bits
from deniable.channel.dense import Dense
from deniable.channel.diagonal import Diagonal
from deniable.channel.hadamard import Hadamard
from deniable.channel.hashing import Hashing
from deniable.channel.mixture import Mixture
from deniable.channel.product import Product
from deniable.channel.sets import Sets
from deniable.channel.subset import Subset
from deniable.errors import UnreadableFile

__all__ = [
    "Bits",
    "Channel",
    "Dense",
    "Diagonal",
    "Hadamard",
    "Hashing",
    "Mixture",
    "Product",
    "Sets",
    "Subset",
    "Witness",
    "from_body",
]

KINDS: dict[str, type[Channel]] = {
    kind.KIND: kind for kind in (Bits, Dense, Diagonal, Hadamard, Hashing, Mixture, Product, Subset)
}


def from_body(body: Mapping[str, Any]) -> Channel:
    """Read a channel of any kind from the body of a JSON document.

    Raises:
        UnreadableFile: the kind is not known here.
    """
    kind = documents.field(body, "kind", str)
    if kind not in KINDS:
        raise UnreadableFile(f"the channel is of kind {kind!r:.40}; expected one of {sorted(KINDS)}.")
    return KINDS[kind].from_body(body, from_body)
