"""A type of question that the library does not know: where somebody goes, as a bearing on a compass.

It stands for whatever type comes next. `added()` lists the folder for as long as a test runs; the library is unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from deniable import documents, types
from deniable.designs import AnyDesign, k_ary
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts

ASKS = "bearings"


@contextmanager
def added() -> Iterator[None]:
    """Add this type of question to the library's list."""
    types.FOLDERS[ASKS] = __name__
    try:
        yield
    finally:
        del types.FOLDERS[ASKS]
        types._operation.cache_clear()
        types._operation_names.cache_clear()


def survey(design: AnyDesign) -> Survey:
    """Return a survey with one question, which asks for a bearing."""
    texts = {"en": QuestionTexts("Where to?")}
    question = Question("way", design, texts)
    return Survey("ways", {"en": SurveyTexts("Ways")}, (question,))


def with_another_device(survey: Survey) -> Survey:
    """Read a survey whose page would draw with another design than its type of question names."""
    body = survey.to_body()
    body["questions"][0]["design"] = json.loads(k_ary(4, epsilon=3).to_json())
    return Survey.from_json(documents.seal("survey", body))
