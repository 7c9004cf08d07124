"""What is asked, of whom and how: a survey's definition, named by its hash. No answer and no response is in it."""

from __future__ import annotations

from deniable.survey.arms import SurveyArm
from deniable.survey.checks import CHECKS, comprehension_check
from deniable.survey.codebook import Codebook
from deniable.survey.harmless import HARMLESS, HarmlessQuestion, harmless_question
from deniable.survey.keys import Keys
from deniable.survey.links import Link
from deniable.survey.question import DEVICES, Question
from deniable.survey.survey import ADMISSIONS, Survey
from deniable.survey.templates import TEMPLATES, survey_template
from deniable.survey.texts import QuestionTexts, SurveyTexts

__all__ = [
    "ADMISSIONS",
    "CHECKS",
    "DEVICES",
    "HARMLESS",
    "TEMPLATES",
    "Codebook",
    "HarmlessQuestion",
    "Keys",
    "Link",
    "Question",
    "QuestionTexts",
    "Survey",
    "SurveyArm",
    "SurveyTexts",
    "comprehension_check",
    "harmless_question",
    "survey_template",
]
