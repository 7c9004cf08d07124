"""What the respondent's pages show: frozen contexts, built from a survey, in one language."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from deniable.collector.pages.devices import Odds, Tool, odds, tool_for
from deniable.collector.pages.render import Locale, locale
from deniable.designs import Design, k_ary
from deniable.survey import Question, Survey

_MOST_SIDE_BY_SIDE = 12  # choices; more go into a list to choose from
_TRIAL_CATEGORIES = 4  # fruits to try a device with that has too many categories, or sends codes

_Page = TypeVar("_Page", bound="Page")


@dataclass(frozen=True, slots=True)
class LanguageLink:
    """A way to the same page in another language."""

    address: str
    language: str
    name: str
    here: bool


@dataclass(frozen=True, slots=True)
class Page:
    """What every page has.

    Attributes:
        language: of the survey's texts.
        locale: of the page's own words.
        words: these words, by section and name.
        title: what the page is called.
        links: the same page in the other languages.
    """

    language: str
    locale: Locale
    words: Mapping[str, Any]
    title: str
    links: tuple[LanguageLink, ...]


@dataclass(frozen=True, slots=True)
class Overview(Page):
    """All open surveys: address, title and introduction of each."""

    TEMPLATE: ClassVar[str] = "respondent/overview.html"
    surveys: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Message(Page):
    """Something that is said to a respondent: what is the matter, how to go on, and a link to go there."""

    TEMPLATE: ClassVar[str] = "respondent/message.html"
    what: str
    next: str
    address: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it is shown.

    Attributes:
        name: what programs call it.
        text: the question.
        help: what helps to understand it.
        physical: whether only the response is asked for.
        labels: what the categories are called.
        symbols: each response with what it is called; for a physical device only.
        few: whether the choices are shown side by side.
        stages: what the device does, stage by stage.
        tool: a physical device that makes this design, if a usual one does.
    """

    name: str
    text: str
    help: str
    physical: bool
    labels: Sequence[str]
    symbols: tuple[tuple[str, str], ...]
    few: bool
    stages: tuple[Odds, ...]
    tool: Tool | None

    def called(self, stage: Odds, number: int) -> str:
        """Return what a row of the odds is called: a response, or a category in a set."""
        return self.symbols[number][1] if stage.kind == "sends" and self.symbols else self.labels[number]


@dataclass(frozen=True, slots=True)
class Trial:
    """A harmless question to try the device with: its design as JSON, its labels, whether the odds are the same."""

    design: str
    labels: tuple[str, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class Form:
    """What the form without script holds besides choices: the withdrawal code, and what proves it to be ours."""

    field: str
    value: str
    key: str


@dataclass(frozen=True, slots=True)
class SurveyPage(Page):
    """A survey to take part in.

    Attributes:
        name: what the survey is called in addresses.
        hash: of its definition.
        intro: who asks, and why.
        consent: what a respondent agrees to.
        thanks: what is said at the end.
        contact: whom to ask.
        group: the group that the link names, or none.
        groups: the groups to choose from, where the link names none.
        invited: whether an invitation is needed.
        questions: what is asked.
        trial: a harmless question, if the device runs in the page.
        form: where everything can be sent without script, or at least withdrawn.
        closed: whether nothing is taken any more.
    """

    TEMPLATE: ClassVar[str] = "respondent/survey.html"
    name: str
    hash: str
    intro: str
    consent: str
    thanks: str
    contact: str
    group: str
    groups: tuple[str, ...]
    invited: bool
    questions: tuple[AskedQuestion, ...]
    trial: Trial | None
    form: Form | None
    closed: bool


@dataclass(frozen=True, slots=True)
class SentPage(Page):
    """What was sent without script.

    Attributes:
        address: of the survey.
        thanks: what the survey says at the end.
        responses: each question with the response in words.
        message: the whole of it as JSON.
        key: the withdrawal code.
        receipt: the address of the receipt.
        form: to withdraw with.
    """

    TEMPLATE: ClassVar[str] = "respondent/sent.html"
    address: str
    thanks: str
    responses: tuple[tuple[str, str], ...]
    message: str
    key: str
    receipt: str
    form: Form


def page(kind: type[_Page], language: str, title: str, links: tuple[LanguageLink, ...] = (), **facts: Any) -> _Page:
    """Build a page in a language."""
    spoken = locale(language)
    return kind(language=language, locale=spoken, words=spoken.words, title=title, links=links, **facts)


def survey_page(
    survey: Survey,
    language: str,
    links: tuple[LanguageLink, ...] = (),
    *,
    group: str = "",
    form: Form | None = None,
    closed: bool = False,
) -> SurveyPage:
    """Build the page of a survey.

    Args:
        survey: what is asked.
        language: one of the survey's.
        links: the other languages.
        group: the group that the link names; empty for none.
        form: what the form without script holds; None where the device runs in the page.
        closed: whether nothing is taken any more.
    """
    texts = survey.texts[language]
    words = locale(language).words
    drawn = next((question for question in survey.questions if question.device == "browser"), None)
    return page(
        SurveyPage,
        language,
        texts.title,
        links,
        name=survey.name,
        hash=survey.hash,
        intro=texts.intro,
        consent=texts.consent,
        thanks=texts.thanks,
        contact=texts.contact,
        group=group,
        groups=() if group else survey.groups,
        invited=survey.admission == "invitation",
        questions=tuple(asked_question(question, language) for question in survey.questions),
        trial=trial(drawn.design, words["try"]["labels"]) if drawn else None,
        form=form,
        closed=closed,
    )


def asked_question(question: Question, language: str) -> AskedQuestion:
    """Build a question in a language."""
    texts, physical = question.texts[language], question.device == "physical"
    sends = question.designs[0].channel.responses <= 100 and not question.designs[0].channel.several
    named = zip(question.design.symbols, question.symbols(language), strict=True) if sends else ()
    return AskedQuestion(
        name=question.name,
        text=texts.text,
        help=texts.help,
        physical=physical,
        labels=question.labels(language),
        symbols=tuple(named),
        few=(question.design.channel.responses if physical else question.design.channel.answers) <= _MOST_SIDE_BY_SIDE,
        stages=tuple(odds(design) for design in question.designs),
        tool=tool_for(question.design, locale(language).words["device"]) if physical else None,
    )


def trial(design: Design, fruits: Sequence[str]) -> Trial | None:
    """Return a harmless question with the odds of a design, or with its ε where it sends codes or has too many answers.

    Example:
        >>> from deniable.designs import warner
        >>> trial(warner(p="3/4"), ["apple", "pear", "fig"]).labels
        ('apple', 'pear')
    """
    size = design.channel.answers
    alike = design.symbols == design.categories
    if size <= len(fruits) and (alike or design.channel.several):
        labels = tuple(fruits[:size])
        harmless = Design("matrix", labels, labels if alike else design.symbols, design.channel)
        return Trial(harmless.to_json(), labels, same=True)
    if not 0 < design.epsilon < math.inf:
        return None
    labels = tuple(fruits[:_TRIAL_CATEGORIES])
    return Trial(k_ary(labels, epsilon=design.epsilon).to_json(), labels, same=False)
