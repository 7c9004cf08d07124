"""A certificate: a document, what is claimed of it, and both under one hash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import documents
from deniable.certificates.claims import Claims, Priors, claims_of
from deniable.designs import Deck, Design, NumberDesign
from deniable.documents import HashedDocument
from deniable.errors import UnreadableFile, quoted, require
from deniable.order.ladders import Ladder
from deniable.rendering import drawn, framed
from deniable.survey import Survey
from deniable.types.drawn.design import DrawnDesign
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.strings.design import StringDesign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TYPES = (Design, Deck, DrawnDesign, EdgeDesign, KeyValueDesign, Ladder, StringDesign, Survey)

SUBJECTS: dict[str, type[HashedDocument]] = {kind.SCHEMA: kind for kind in _TYPES}
"""What can be certified, by the schema of its file."""


@dataclass(frozen=True, eq=False)
class Certificate(HashedDocument):
    """What something promises, worked out from its integer weights.

    Guarantee: all numbers are exact, but for ε, which is the smallest float that is not below the logarithm of the
    parity. Reading a certificate works all of it out again, and refuses it where a number differs; so does
    `checker.py`, which shares no code with this package.

    Attributes:
        subject: the design, ladder, deck or survey.
        prior: what somebody believes of the answers before a response: a probability for each, or for some of several
            parts by name; None where only what holds for every prior is told.
    """

    SCHEMA: ClassVar[str] = "certificate"
    subject: HashedDocument
    prior: Priors = None

    def __post_init__(self) -> None:
        assert self.claims  # refuses what cannot be certified

    @cached_property
    def claims(self) -> Claims:
        """What is claimed, for JSON: numbers are text, and parts are nested as what is certified is."""
        return claims_of(self.subject, self.prior)

    @property
    def epsilon(self) -> float:
        """The ε of everything together, rounded up."""
        return float(self.claims["epsilon"])

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the guarantee rests on or leaves out, in sentences."""
        return caveats(self.subject)

    def to_body(self) -> dict[str, Any]:
        document = json.loads(self.subject.to_json())
        return {"document": document, "claims": self.claims, "caveats": list(self.caveats)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Certificate:
        document = documents.field(body, "document", dict)
        schema = documents.field(document, "schema", str).removeprefix("deniable/").rpartition("/")[0]
        if schema not in SUBJECTS:
            raise UnreadableFile(f"the certificate is of a {quoted(schema)}; expected one of {', '.join(SUBJECTS)}.")
        subject = SUBJECTS[schema].from_json(json.dumps(document, ensure_ascii=False))
        return cls(subject, _prior_in(documents.field(body, "claims", dict)))

    def to_text(self) -> str:
        """Return the certificate for people, as plain text."""
        from deniable.certificates.page import text_of

        return text_of(self)

    def to_html(self) -> str:
        """Return the certificate as one page that needs nothing else."""
        from deniable.certificates.page import page_of

        return page_of(self)

    def to_registry(self) -> str:
        """Return a record for the public registry of deployments, in YAML; what only you know is left empty."""
        from deniable.certificates.deployments import record_of

        return record_of(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Certificate({self.subject!r})"

    def plot(self, *, title: str = "", dark: bool = False) -> Figure:
        """Draw the channel of what is certified; of a survey the ε of each question.

        Args:
            title: of the picture; by default what it shows.
            dark: light on dark, for slides and dark pages.
        """
        return drawn(self, title=title, dark=dark)

    def _repr_html_(self) -> str:
        return framed(self.to_html())


def certify(thing: HashedDocument, prior: Priors = None) -> Certificate:
    """Certify what a design of any type, a ladder, a deck or a survey promises.

    Guarantee: everything is worked out from the integer weights that responses are drawn with, in exact numbers.

    Args:
        thing: what answers go through.
        prior: what somebody believes before: a probability for each answer, in their order or by category; for several
            questions or attributes a mapping from the names of some of them to such priors.

    Raises:
        InvalidRequest: nothing that can be certified, or a prior that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> found = certify(warner(p="3/4"), prior=["9/10", "1/10"])
        >>> found.claims["parity"], found.claims["table"][1]["posterior"]
        ('3', ['3/4', '1/4'])
    """
    known = prior is None or isinstance(prior, Mapping | Sequence)
    require(known, prior, "the prior", "a number for each answer, or such numbers by attribute")
    return Certificate(thing, prior)


def checker_source() -> str:
    """Return the program that checks certificates without this package: one file, the standard library alone."""
    return resources.files("deniable.certificates").joinpath("checker.py").read_text(encoding="utf-8")


def _prior_in(claims: object) -> Priors:
    """Return the prior that claims were made with; for several parts by name."""
    if not isinstance(claims, Mapping):
        return None
    if "prior" in claims:
        return documents.field(claims, "prior", list)
    parts = claims.get("parts", claims.get("alone"))
    if isinstance(parts, list):  # stages, of one question
        return _prior_in(parts[-1]) if parts else None
    if "alone" in claims or not isinstance(parts, Mapping):
        return _prior_in(parts)
    known = {name: _prior_in(part) for name, part in parts.items()}
    return {name: prior for name, prior in known.items() if prior is not None} or None


SAID: dict[type, str] = {
    DrawnDesign: "Which items were drawn is sent along; it does not depend on the answers.",
    StringDesign: "The cohort is sent along; it is drawn before anything is known of the string.",
    NumberDesign: "A number is first rounded to a level of its range, which tells no more than the number.",
}
"""What is to be said of every design of a type."""


def caveats(thing: Any) -> tuple[str, ...]:
    """Return what a guarantee rests on or leaves out, in sentences."""
    if isinstance(thing, Survey):
        told = [f"{question.name}: {each}" for question in thing.questions for each in caveats(question.about)]
        told += [
            f"{question.name}: a comprehension check, which is about the device; it is counted here all the same."
            for question in thing.questions
            if question.check
        ]
        if thing.arms:
            told.append(
                "Each respondent is asked the questions of one arm; all questions are counted here all the same."
            )
        return (*told, "Other things that a survey learns, such as a group or the time of a response, are not covered.")
    if isinstance(thing, Ladder):
        return caveats(thing.designs[-1])
    said = thing.guarantee if isinstance(thing, Deck) else SAID.get(type(thing), getattr(thing, "caveat", ""))
    return (said,) if said else ()
