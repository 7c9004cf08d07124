"""A type of question that the library does not know: where somebody goes, as a bearing on a compass.

It stands for whatever type comes next. `added()` lists the folder, and what the checker of certificates reads, for as
long as a test runs; the library is unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from deniable import documents, types
from deniable.certificates import checker
from deniable.designs import AnyDesign, k_ary
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts

ASKS = "bearings"


@contextmanager
def added() -> Iterator[None]:
    """Add this type of question to the library's list."""
    checked = {"bearing-design": _check}
    with (
        patch.dict(types.FOLDERS, {ASKS: __name__}),
        patch.dict(checker.FIELDS, {"bearing-design": "device"}),
        patch.dict(checker.SUBJECTS, checked),
    ):
        yield
    types._operation.cache_clear()
    types._operation_names.cache_clear()


def _check(body: checker.Body, stated: checker.Body) -> checker.Checked:
    """Check bearings: their claims are those of the device."""
    (device,) = checker.read("bearing-design", body)
    return checker.single_design(device, stated)


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
