"""A survey: its questions, whom they are put to, and when. A value that names itself by its hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import documents, exact
from deniable.chance import SYSTEM, Source, pick
from deniable.designs.labels import max_json_size
from deniable.documents import HashedDocument
from deniable.errors import (
    InvalidRequest,
    NotAllowed,
    UnreadableFile,
    quoted,
    require_choice,
)
from deniable.survey import disclosure as told
from deniable.survey import texts as spoken
from deniable.survey.arms import (
    SurveyArm,
    arm_questions,
    check_arms,
    check_compared,
    draw_arm,
)
from deniable.survey.catalogue import Locale
from deniable.survey.checks import check_catalogue
from deniable.survey.disclosure import Disclosure
from deniable.survey.keys import Keys
from deniable.survey.limits import BUDGET, CEILING
from deniable.survey.question import Question, check_slug
from deniable.survey.texts import SurveyTexts

if TYPE_CHECKING:
    from deniable.survey.codebook import Codebook

ADMISSIONS = ("open", "invitation")
"""Who may respond: everybody, or whoever holds an invitation, once."""

MINIMUM = 20
"""The smallest group that is shown, unless the survey says otherwise."""

PILOT = "-pilot"
"""What names of pilots end with, and those of no other surveys."""

RESERVED = frozenset({"login", "logout", "plan"})
"""Names that no survey can have: the collector has pages of its own at these addresses."""

_MAX_QUESTIONS = 200  # as many responses as a collector takes at a time
_NO_HASH = "sha256:" + "0" * 64  # as long as every hash
_MAX_GROUPS = 200  # that pages list one below the other


@dataclass(frozen=True, eq=False)
class Survey(HashedDocument):
    """The definition of a survey.

    Attributes:
        name: what it is called in addresses.
        texts: its words, by language.
        questions: at least one.
        languages: the first one is the default.
        groups: what respondents may be told apart by, chosen by the link that they were given; often none.
        minimum: groups of fewer respondents are not shown.
        opens: the first day on which responses are taken; None for as soon as it is opened.
        closes: the last day on which responses are taken; None for no end.
        admission: "open" or "invitation".
        each: how many of the questions each respondent is asked, drawn at random; None for all of them.
        arms: of which one is drawn at random on each respondent's device, and decides what is asked; often none.
        acknowledge: an ε above `BUDGET` that all questions that one respondent is asked may have together: their own,
            or more.
        keys: what receipts, and tokens of invited respondents, are verified with; the collector that fields the survey
            adds them. They are part of the definition, so that whoever compares hashes knows that all respondents have
            the same. None before it is fielded.
        pilot: whether it is a trial run: all that is sent to it is erased when it ends.
        planned: how many respondents are expected, if that is known: while responses come, results have intervals that
            are tightest there.
    """

    SCHEMA: ClassVar[str] = "survey"
    name: str
    texts: Mapping[str, SurveyTexts]
    questions: tuple[Question, ...]
    languages: tuple[str, ...] = ("en",)
    groups: tuple[str, ...] = ()
    minimum: int = MINIMUM
    opens: date | None = None
    closes: date | None = None
    admission: str = "open"
    each: int | None = None
    arms: tuple[SurveyArm, ...] = ()
    acknowledge: float | None = None
    keys: Keys | None = None
    pilot: bool = False
    planned: int | None = None

    def __post_init__(self) -> None:
        for name in ("questions", "languages", "groups", "arms"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "texts", dict(self.texts))
        check_slug(self.name, "the survey")
        if self.name in RESERVED:
            raise InvalidRequest(
                f"the survey is called {self.name!r}, which is a page of the collector; expected another name."
            )
        if self.pilot != self.name.endswith(PILOT):
            raise InvalidRequest(
                f"the survey is called {self.name!r}; expected a name that ends in {PILOT!r} for a pilot, and for no "
                "other survey."
            )
        spoken.check_languages(self.languages)
        spoken.check_spoken(self.texts, self.languages, "the survey")
        _check_questions(self.questions, self.languages)
        self._check_each()
        if self.arms:
            check_arms(self.arms, self.questions)
        check_compared(self.questions, self.arm_questions)
        check_catalogue(self.questions, self.arms, self.languages)
        acknowledged = told.read_acknowledged(self.acknowledge, "the survey")
        object.__setattr__(self, "acknowledge", acknowledged)
        subject = "the survey, all its questions together,"
        told.check_acknowledged(subject, self.disclosure, BUDGET, acknowledged)
        _check_groups(self.groups)
        self._check_admission()

    def _check_admission(self) -> None:
        """Refuse days, keys and a smallest group under which nobody could respond or be shown."""
        if type(self.minimum) is not int or self.minimum < 1:
            raise InvalidRequest(
                f"the smallest group shown is {quoted(self.minimum)}; expected a whole number, 1 or more."
            )
        if self.planned is not None and (
            type(self.planned) is not int or self.planned < 2
        ):
            raise InvalidRequest(
                f"planned is {quoted(self.planned)}; expected a whole number of respondents, 2 or more."
            )
        if self.opens and self.closes and self.closes < self.opens:
            raise InvalidRequest(
                f"the survey closes on {self.closes}, before it opens; expected {self.opens} or later."
            )
        require_choice("the admission is", self.admission, ADMISSIONS)
        if self.keys is not None and (self.keys.tokens is not None) != (
            self.admission == "invitation"
        ):
            raise InvalidRequest(
                f"the admission is {self.admission!r}, and the keys do not fit; expected one for tokens where people "
                "are invited, and none where everybody may respond."
            )

    @property
    def language(self) -> str:
        """The default language."""
        return self.languages[0]

    @property
    def arm_questions(self) -> tuple[tuple[Question, ...], ...]:
        """What the respondents of each arm are asked; all questions, where there are no arms."""
        return (
            arm_questions(self.arms, self.questions)
            if self.arms
            else (self.questions,)
        )

    @property
    def draws(self) -> bool:
        """Whether it is drawn for each respondent what is asked."""
        return self.each is not None or bool(self.arms)

    @property
    def disclosure(self) -> Disclosure:
        """What a respondent who answers everything that is asked, at the finest stages, reveals at most.

        Where there are arms, it is that of the arm that reveals most. Comprehension checks are about the device.
        """
        return self.together(
            {
                question.name: question.disclosure.parity
                for question in self.questions
                if not question.check
            }
        )

    def together(self, parities: Mapping[str, exact.Ratio]) -> Disclosure:
        """Return what responses with these parities, by question, reveal of one respondent together, at most."""
        disclosures = []
        for questions in self.arm_questions:
            names = [question.name for question in questions]
            revealed = [parities[name] for name in names if name in parities]
            largest = sorted(revealed, reverse=True)[: self.each]
            disclosures.append(Disclosure.of_parities(largest))
        return max(disclosures, key=lambda disclosure: disclosure.parity)

    @cached_property
    def message_size(self) -> int:
        """Bytes of every message with responses: as many as the largest one takes.

        It has the longest response to every question at every stage, the longest group, and a token where people are
        invited.
        """
        designs = [
            (question.name, design)
            for question in self.questions
            for design in question.designs
        ]
        body: dict[str, Any] = {
            "survey": _NO_HASH,
            "key": "0" * 32,
            "responses": [
                {"question": name, "design": _NO_HASH, "symbol": ""}
                for name, _ in designs
            ],
            **({"group": max(self.groups, key=_json_size)} if self.groups else {}),
        }
        if self.keys and self.keys.tokens:
            signature = self.keys.tokens.digits(0)
            body["token"] = {"message": "0" * 64, "signature": signature}
        return _json_size(body) + sum(
            max_json_size(design.symbols) for _, design in designs
        )

    def encode_message(self, body: Mapping[str, Any]) -> bytes:
        """Return a message with responses as it travels: JSON, filled up with spaces to `message_size`.

        Guarantee: whoever sees how long it is, and not what is in it, cannot tell one response from another.
        """
        message = documents.canonical(body).ljust(self.message_size)
        assert len(message) == self.message_size, "more responses than there are"
        return message

    @property
    def worst(self) -> Question:
        """The question whose responses reveal most; the first of several."""
        return worst_of(self.questions)

    def draw_questions(self, source: Source = SYSTEM) -> tuple[Question, ...]:
        """Draw the questions that one respondent is asked, whatever the answers are; all, where none are drawn.

        Example:
            >>> from deniable.designs import warner
            >>> texts = {"en": SurveyTexts("Habits")}
            >>> from deniable.survey import QuestionTexts
            >>> both = [Question(name, warner(1), {"en": QuestionTexts("…?")}) for name in ("smokes", "drinks")]
            >>> len(Survey("habits", texts, tuple(both), each=1).draw_questions())
            1
        """
        if self.arms:
            return self.arm_questions[draw_arm(self.arms, source)]
        if self.each is None:
            return self.questions
        return tuple(
            self.questions[index]
            for index in pick(len(self.questions), self.each, source)
        )

    def _check_each(self) -> None:
        if self.each is None:
            return
        if self.arms:
            raise InvalidRequest(
                "each respondent is asked some of the questions, and there are arms; expected one of the two.",
                "Write an arm for each choice of questions.",
            )
        if type(self.each) is not int or not 1 <= self.each < len(self.questions):
            raise InvalidRequest(
                f"each respondent is asked {quoted(self.each)} of {len(self.questions)} questions; expected a whole "
                "number, 1 or more and fewer than there are.",
                "Leave it out where everybody is asked everything.",
            )
        if any(question.device != "browser" for question in self.questions):
            raise InvalidRequest(
                "each respondent is asked some of the questions, and a question has a physical device; expected the "
                "browser's, which also draws what is asked."
            )

    def codebook(self, language: str = "") -> Codebook:
        """Return the codebook of the survey in one of its languages; in the default one, unless you say.

        Raises:
            InvalidRequest: it is not asked in that language.
        """
        from deniable.survey.codebook import Codebook

        return Codebook(self, language or self.language)

    def as_pilot(self) -> Survey:
        """Return the same survey as a pilot: with a name, and so a hash, of its own, and without days.

        Raises:
            InvalidRequest: it is one already, or its name is too long to be that of one.
        """
        if self.pilot:
            raise InvalidRequest(
                f"{self.name!r} is a pilot; expected the survey that it is a pilot of."
            )
        return replace(
            self,
            name=self.name + PILOT,
            pilot=True,
            opens=None,
            closes=None,
            keys=None,
        )

    def warnings(self, spoken: Locale) -> tuple[str, ...]:
        """Tell what is above the limits, and acknowledged."""
        sentences = [
            question.disclosure.limit_words(CEILING, spoken, question.name)
            for question in self.questions
            if not question.check
        ]
        together = self.disclosure.limit_words(BUDGET, spoken)
        return tuple(chain(*sentences, together))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What a template left to be filled in and still stands there, such as "<why> in texts.en.intro"."""
        by_question = (
            spoken.placeholders(question.texts, f"{question.name}.texts")
            for question in self.questions
        )
        return tuple(chain(spoken.placeholders(self.texts, "texts"), *by_question))

    def check_filled(self) -> None:
        """Refuse texts in which something was left to be filled in, unless it is a pilot.

        Raises:
            NotAllowed: there is a placeholder.
        """
        left = self.placeholders
        if left and not self.pilot:
            more = f", and {len(left) - 3:,} more" if len(left) > 3 else ""
            raise NotAllowed(
                f"the survey {self.name!r} still has {', '.join(left[:3])}{more}; expected texts that respondents can "
                "read.",
                "Write there what it asks for and create the survey again; a preview or a pilot can be run as it is.",
            )

    def number(self, question: str) -> int:
        """Return the number of a question by its name.

        Raises:
            InvalidRequest: there is no such question.
        """
        for number, candidate in enumerate(self.questions):
            if candidate.name == question:
                return number
        names = ", ".join(repr(candidate.name) for candidate in self.questions[:8])
        raise InvalidRequest(
            f"there is no question {quoted(question, 50)} in this survey; expected one of {names}."
        )

    def question(self, name: str) -> Question:
        """Return a question by its name.

        Raises:
            InvalidRequest: there is no such question.
        """
        return self.questions[self.number(name)]

    def group(self, name: str) -> int:
        """Return the number of a group by its name.

        Raises:
            InvalidRequest: there is no such group.
        """
        if name not in self.groups:
            groups = (
                ", ".join(map(repr, self.groups[:8]))
                or "none: this survey has no groups"
            )
            raise InvalidRequest(
                f"there is no group {quoted(name, 50)} in this survey; expected one of {groups}."
            )
        return self.groups.index(name)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Survey:
        questions = [
            documents.field({"question": entry}, "question", dict)
            for entry in documents.field(body, "questions", list)
        ]
        return cls(
            name=documents.field(body, "name", str),
            texts=spoken.from_body(SurveyTexts, body.get("texts"), "the survey"),
            questions=tuple(map(Question.from_body, questions)),
            languages=_strings(body, "languages"),
            groups=_strings(body, "groups"),
            minimum=documents.integer_field(body, "minimum"),
            opens=_day(body, "opens"),
            closes=_day(body, "closes"),
            admission=documents.field(body, "admission", str),
            each=documents.integer_field(body, "each") if "each" in body else None,
            arms=tuple(
                SurveyArm.from_body(documents.field({"arm": entry}, "arm", dict))
                for entry in (
                    documents.field(body, "arms", list) if "arms" in body else ()
                )
            ),
            acknowledge=told.read_acknowledged(
                body.get("acknowledge"), "the survey"
            ),
            keys=Keys.from_body(documents.field(body, "keys", dict))
            if "keys" in body
            else None,
            pilot=body.get("pilot") is True,
            planned=documents.integer_field(body, "planned")
            if "planned" in body
            else None,
        )

    @staticmethod
    def read(path: str | PathLike[str]) -> Survey:
        """Read a survey from a file: TOML or JSON as people write it, or JSON as `to_json` writes it.

        Raises:
            UnreadableFile: neither TOML nor JSON, or a sealed survey that was edited.
            InvalidRequest: something in it is missing or does not fit.
        """
        from deniable.survey import files

        return files.read(path)

    @staticmethod
    def from_document(document: object) -> Survey:
        """Read a survey from what TOML or JSON was parsed to; designs are written out in it, not named by files.

        Raises:
            UnreadableFile: a sealed survey or design that was edited.
            InvalidRequest: something in it is missing or does not fit.
        """
        from deniable.survey import files

        return files.from_document(document)

    def to_body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "languages": list(self.languages),
            "texts": spoken.to_body(self.texts),
            "questions": [question.to_body() for question in self.questions],
            "groups": list(self.groups),
            "minimum": self.minimum,
            "opens": self.opens.isoformat() if self.opens else "",
            "closes": self.closes.isoformat() if self.closes else "",
            "admission": self.admission,
            **spoken.present(
                each=self.each,
                arms=[arm.to_body() for arm in self.arms],
                acknowledge=told.acknowledged_text(self.acknowledge),
                keys=self.keys and self.keys.to_body(),
                pilot=self.pilot,
                planned=self.planned,
            ),
        }

    def __repr__(self) -> str:
        return f"Survey({self.name!r}; {len(self.questions)} questions; {self.hash:.19}…)"


def _json_size(content: object) -> int:
    return len(documents.canonical(content))


def worst_of(questions: Sequence[Question]) -> Question:
    """Return the question whose responses reveal most, the first of several; comprehension checks are none of them."""
    return max(
        (question for question in questions if not question.check),
        key=lambda question: question.disclosure.parity,
    )


def _check_questions(
    questions: tuple[Question, ...], languages: tuple[str, ...]
) -> None:
    if not 1 <= len(questions) <= _MAX_QUESTIONS:
        raise InvalidRequest(
            f"there are {len(questions)} questions; expected 1 to {_MAX_QUESTIONS}."
        )
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        raise InvalidRequest(
            "two questions have one name; expected a name for each."
        )
    if all(question.check for question in questions):
        raise InvalidRequest(
            "all questions are comprehension checks; expected one that is asked of respondents."
        )
    for question in questions:
        spoken.check_spoken(
            question.texts, languages, f"the question {question.name!r}"
        )


def _check_groups(groups: tuple[str, ...]) -> None:
    if len(groups) > _MAX_GROUPS or len(set(groups)) < len(groups):
        raise InvalidRequest(
            f"the groups repeat, or are more than {_MAX_GROUPS}; expected a few different ones."
        )
    for group in groups:
        spoken.check_text(group, "a group")


def _strings(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(
        documents.field({name: entry}, name, str)
        for entry in documents.field(body, name, list)
    )


def _day(body: Mapping[str, Any], name: str) -> date | None:
    text = documents.field(body, name, str)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise UnreadableFile(
            f"the field {name!r} is no day; expected a date such as 2026-03-31."
        ) from None
