"""The five documents, in order, and their exhibits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from deniable.errors import InvalidRequest
from deniable.reproduce.printed import everything
from deniable.reproduce.values import Exhibit, Kind, Value


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its package here, which holds its `EXHIBITS`.

    Attributes:
        name: on the command line, and of the package.
        number: in the golden file, as "003".
        title: what it is about.
    """

    name: str
    number: str
    title: str

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """What can be made again, in the order of the document."""
        found: tuple[Exhibit, ...] = import_module(f"deniable.reproduce.{self.name}").EXHIBITS
        return found


DOCUMENTS = (
    Document("rr3", "000", "Three answers, and key-value data"),
    Document("minimax", "001", "What counts as private, and the best designs for many categories"),
    Document("binary", "002", "The best designs for two answers under (ε, δ)"),
    Document("cards", "003", "Finite populations, and devices made of cards"),
    Document("gradual", "004", "A response released in stages"),
)


def document(name: str) -> Document:
    """Return a document.

    Raises:
        InvalidRequest: a name that none has.
    """
    for each in DOCUMENTS:
        if each.name == name:
            return each
    raise InvalidRequest(
        f"there is no document {name!r:.40}; expected one of {', '.join(each.name for each in DOCUMENTS)}, or all."
    )


def select(name: str, wanted: Iterable[tuple[Kind, str]] = ()) -> list[Exhibit]:
    """Return the exhibits of a document, or of all, or those of them that are asked for.

    Args:
        name: of a document, or "all".
        wanted: kinds and numbers; everything, if there is none.

    Raises:
        InvalidRequest: a document that does not exist, or an exhibit that it does not have.
    """
    chosen = list(wanted)
    if name == "all":
        if chosen:
            raise InvalidRequest("every document has its own numbers; expected one document, or no number.")
        return [exhibit for each in DOCUMENTS for exhibit in each.exhibits]
    exhibits = document(name).exhibits
    if not chosen:
        return list(exhibits)
    known = {(exhibit.kind, exhibit.number): exhibit for exhibit in exhibits}
    for kind, number in chosen:
        if (kind, number) not in known:
            have = [exhibit.number for exhibit in exhibits if exhibit.kind == kind]
            expected = f"expected one of {', '.join(have)}" if have else f"it has no {kind} that is made again"
            raise InvalidRequest(f"{name} has no {kind} {number!r:.40}; {expected}.")
    return [known[each] for each in chosen]


def uncovered(values: Iterable[Value]) -> Iterator[str]:
    """Return the ids of printed values that none of these compares."""
    met = {value.entry.id for value in values}
    return (id for id in everything() if id not in met)
