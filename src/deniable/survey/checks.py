"""Comprehension checks: questions about the device, in our own words.

What is chosen in a check is sent as it is and counts in no bound. So no word of it is an author's: a check that could
be worded could ask anything directly. A wording is under the hash of definitions; one that changes gets another key.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

from deniable.designs import Design, direct
from deniable.errors import InvalidRequest, quoted
from deniable.survey.arms import SurveyArm, arm_questions
from deniable.survey.catalogue import LANGUAGES, fill, locale
from deniable.survey.question import Question
from deniable.survey.texts import QuestionTexts

CHECKS = {
    "sent": ("truth", "response", "both", "unknown"),
    "certain": ("yes", "no", "unknown"),
    "frequency": ("none", "some", "all", "unknown"),
}
"""The categories of each check; `locales` has the words."""

_PEOPLE = 100  # in the wording of "frequency"
_MAX_CATEGORIES = 1000  # that are looked at one by one


def comprehension_check(
    name: str,
    check: str,
    questions: Sequence[Question],
    *,
    arms: Sequence[SurveyArm] = (),
    languages: Sequence[str] = ("en",),
) -> Question:
    """Return a check of the catalogue, with the right answer for the devices of the questions that are asked with it.

    Args:
        name: what programs call it.
        check: "sent" (what is sent: the answer, or the response?), "certain" (can a response give something away for
            certain?) or "frequency" (how many of 100 responses are the true answer?).
        questions: of the survey.
        arms: of the survey.
        languages: of the survey.

    Raises:
        InvalidRequest: no such check, none that these devices have one right answer to, or no words for it.
    """
    if not isinstance(check, str) or check not in CHECKS:
        raise InvalidRequest(
            f"the check {quoted(name, 50)} is {quoted(check, 50)}; expected one of {', '.join(map(repr, CHECKS))}.",
            "Checks come from the catalogue, because what is chosen there is sent as it is. Ask everything else "
            "through a device, or directly with acknowledge = inf.",
        )
    hands = _devices_by_arm(name, questions, arms)
    if not all(hands):
        raise InvalidRequest(
            f"the check {quoted(name, 50)} is asked of people who use no device; expected a question with one beside "
            "it, in every arm that has the check."
        )
    devices = [question for hand in hands for question in hand]
    facts = {"count": _frequency(name, devices)} if check == "frequency" else {}
    return Question(
        name,
        direct(CHECKS[check]),
        {tag: _texts(name, check, tag, facts) for tag in languages},
        check=check,
        right=_right_category(check, devices),
    )


def check_catalogue(
    questions: Sequence[Question],
    arms: Sequence[SurveyArm],
    languages: Sequence[str],
) -> None:
    """Refuse a check that differs from the catalogue in anything but its name.

    Raises:
        InvalidRequest: one does.
    """
    for question in questions:
        if question.check and question.to_body() != (
            comprehension_check(
                question.name,
                question.check,
                questions,
                arms=arms,
                languages=languages,
            ).to_body()
        ):
            raise InvalidRequest(
                f"the check {question.name!r} is not as the catalogue has it; expected its words, categories and right "
                "answer.",
                f'Write name = "{question.name}" and check = "{question.check}", and no other field.',
            )


def _devices_by_arm(
    name: str, questions: Sequence[Question], arms: Sequence[SurveyArm]
) -> list[list[Question]]:
    """Return the questions with a device that are asked beside a check, arm by arm."""
    of_some = any(name in arm.questions for arm in arms)
    by_arm = arm_questions(arms, questions) if arms else (tuple(questions),)
    return [
        [question for question in hand if not question.direct]
        for hand, arm in zip_longest(by_arm, arms)
        if not of_some or name in arm.questions
    ]


def _right_category(check: str, devices: Sequence[Question]) -> str:
    if check == "certain":
        bands = {question.disclosure.band for question in devices}
        return "yes" if "certain" in bands else "no"
    return {"sent": "response", "frequency": "some"}[check]


def _frequency(name: str, devices: Sequence[Question]) -> int:
    """Return how many of 100 responses are the true answer, whatever it is, by every device.

    Raises:
        InvalidRequest: it depends on the answer or the device, or rounds to none or all.
    """
    rates = set().union(*(_rates(question.design) for question in devices))
    count = round(_PEOPLE * max(rates))
    if len(rates) > 1 or not 0 < count < _PEOPLE:
        raise InvalidRequest(
            f"the check {quoted(name, 50)} is 'frequency'; expected devices that all send the true answer with one "
            "probability, whatever it is.",
            "Write check = 'sent' or check = 'certain'.",
        )
    return count


def _rates(design: Design) -> set[Fraction]:
    """Return the probabilities with which the response is the true answer; 0 where the two cannot be compared."""
    channel = design.channel
    if (
        design.symbols != design.categories
        or design.answer_form == "numbers"
        or channel.answers > _MAX_CATEGORIES
    ):
        return {Fraction(0)}
    return {channel.probability(x, given=x) for x in range(channel.answers)}


def _texts(
    name: str, check: str, language: str, facts: dict[str, int]
) -> QuestionTexts:
    spoken = locale(language)
    if spoken.language != language.partition("-")[0]:
        raise InvalidRequest(
            f"the check {quoted(name, 50)} is asked in {quoted(language, 20)}; expected one of {', '.join(LANGUAGES)}.",
            "Leave checks out of a survey in another language.",
        )
    words = spoken.words["checks"][check]
    labels = tuple(fill(label, **facts) for label in words["labels"])
    return QuestionTexts(words["text"], labels=labels)
