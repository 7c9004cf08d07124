"""A certificate: a document, what is claimed of it, and both under one hash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import documents
from deniable.certificates import checker
from deniable.claims.losses import LossSet, privacy_losses
from deniable.claims.statements import Claims, Priors, combine_claims, priors_by_part
from deniable.designs import FieldedDesign
from deniable.documents import HashedDocument
from deniable.errors import InvalidRequest, UnreadableFile, quoted, require
from deniable.rendering import Rendered, draw, framed
from deniable.survey import Question, Survey
from deniable.types import design_classes, find_operation, operation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.rendering.pictures import Picture


def subject_classes() -> dict[str, type[HashedDocument]]:
    """Return the classes of what can be certified, by the schema of its file: every type of design, and a survey."""
    subjects: list[type[HashedDocument]] = [*design_classes(), Survey]
    # numbers are read as the categories that they are
    return {kind.SCHEMA: kind for kind in reversed(subjects)}


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
        return {
            "document": document,
            "claims": self.claims,
            "caveats": list(self.caveats),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Certificate:
        document = documents.field(body, "document", dict)
        schema = (
            documents.field(document, "schema", str)
            .removeprefix("deniable/")
            .rpartition("/")[0]
        )
        classes = subject_classes()
        if schema not in classes:
            raise UnreadableFile(
                f"the certificate is of a {quoted(schema)}; expected one of {', '.join(classes)}."
            )
        subject = classes[schema].from_json(json.dumps(document, ensure_ascii=False))
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
        return draw(self, title, dark)

    def _picture(self, title: str) -> Picture:
        subject = self.subject
        if not isinstance(subject, Survey):
            assert isinstance(subject, Rendered)
            return subject._picture(title)
        from deniable.rendering.pictures import draw_bars

        rows = [
            (question.name, question.designs[-1].epsilon)
            for question in subject.questions
        ]
        default = f"What each question of {subject.name} reveals"
        return draw_bars(rows, title or default, "ε, at most")

    def _repr_html_(self) -> str:
        return framed(self.to_html())


def certify(thing: HashedDocument, prior: Priors = None) -> Certificate:
    """Certify what a design of any type, a ladder, a deck or a survey promises.

    Guarantee: everything is worked out from the integer weights that responses are drawn with, in exact numbers. The
    independent checker accepts the certificate: it has done so before you get it.

    Args:
        thing: what answers go through.
        prior: what somebody believes before: a probability for each answer, in their order or by category; for several
            questions or attributes a mapping from the names of some of them to such priors.

    Raises:
        InvalidRequest: nothing that can be certified, a prior that does not fit, or more than the checker recomputes
            within its second.

    Example:
        >>> from deniable.designs import warner
        >>> found = certify(warner(p="3/4"), prior=["9/10", "1/10"])
        >>> found.claims["parity"], found.claims["table"][1]["posterior"]
        ('3', ['3/4', '1/4'])
    """
    is_prior = prior is None or isinstance(prior, Mapping | Sequence)
    require(
        is_prior,
        prior,
        "the prior",
        "a number for each answer, or such numbers by attribute",
    )
    certificate = Certificate(thing, prior)
    try:
        checker.verify(certificate.to_json())
    except checker.Rejected as error:
        raise InvalidRequest(
            f"the checker refuses this certificate: {error}; expected claims that anybody can check.",
            "Certify a design with fewer categories, shorter weights or fewer cards, or its parts one by one.",
        ) from None
    return certificate


def checker_source() -> str:
    """Return the program that checks certificates without this package: one file, the standard library alone."""
    return (
        resources.files("deniable.certificates")
        .joinpath("checker.py")
        .read_text(encoding="utf-8")
    )


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
    priors = {
        name: _prior_in(claims_of_part) for name, claims_of_part in parts.items()
    }
    return {
        name: prior for name, prior in priors.items() if prior is not None
    } or None


def claims_of(subject: object, prior: Priors = None) -> Claims:
    """Return the claims about a design of any type, or about all questions of a survey.

    Raises:
        InvalidRequest: nothing that can be certified, or a prior that does not fit.
    """
    if isinstance(subject, Survey):
        return _survey_claims(subject, prior)
    claims = find_operation(subject, "claims")
    if claims is None:
        raise InvalidRequest(
            f"a {type(subject).__name__} was given; expected a design of any type, a ladder, a deck or a survey.",
            "Certify what a respondent's answer goes through.",
        )
    statement: Claims = claims(subject, prior)
    return statement


def _survey_claims(survey: Survey, prior: Priors) -> Claims:
    priors = priors_by_part(prior, [question.name for question in survey.questions])
    parts = {
        question.name: claims_of(question.about, priors.get(question.name))
        for question in survey.questions
    }
    losses = [_losses(question) for question in survey.questions]
    return combine_claims(parts, losses, survey.each)


def _losses(question: Question) -> LossSet | None:
    """Return the privacy losses of every pair of answers to a question; None where there are too many."""
    if isinstance(question.design, FieldedDesign):
        losses: LossSet | None = operation(question.about, "losses")(question.about)
        return losses
    return privacy_losses(question.designs[-1].channel)


def caveats(subject: Any) -> tuple[str, ...]:
    """Return the assumptions and limits of a guarantee, in sentences."""
    if isinstance(subject, Survey):
        return _survey_caveats(subject)
    sentences: tuple[str, ...] = operation(subject, "caveats")(subject)
    return sentences


def _survey_caveats(survey: Survey) -> tuple[str, ...]:
    sentences = [
        f"{question.name}: {text}"
        for question in survey.questions
        for text in caveats(question.about)
    ]
    sentences += [
        f"{question.name}: a comprehension check, which is about the device; it is counted here all the same."
        for question in survey.questions
        if question.check
    ]
    if survey.arms:
        sentences.append(
            "Each respondent is asked the questions of one arm; all questions are counted here all the same."
        )
    sentences.append(
        "Other things that a survey learns, such as a group or the time of a response, are not covered."
    )
    return tuple(sentences)
