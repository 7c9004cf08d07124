"""An answer that a design does not know is refused without being repeated."""

from __future__ import annotations

import pickle
import traceback

import pytest

from deniable.designs import Design
from deniable.errors import InvalidAnswer, InvalidResponse
from deniable.responses import respond
from tests.support.registered import every_design

pytestmark = every_design

SECRETS = [
    "zebra-7731",
    "",
    " ",
    "-1",
    "99999999999999999999999",
    3.25,
    31337,
    None,
    ["zebra-7731"],
    b"zebra-7731",
    True,
]


@pytest.mark.parametrize("secret", SECRETS, ids=repr)
def test_an_unknown_answer_is_refused_and_never_repeated(
    design: Design, secret: object
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        respond(design, secret)  # type: ignore[arg-type]
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    told = [
        str(error),
        repr(error),
        error.problem,
        error.hint,
        *traceback.format_exception_only(error),
    ]
    told.append(pickle.dumps(error).decode("latin-1"))
    for text in told:
        assert "zebra" not in text
        assert "31337" not in text
        assert "3.25" not in text
        assert "expected" in error.problem


def test_the_refusal_of_all_unknown_answers_reads_the_same(design: Design) -> None:
    messages = set()
    for secret in SECRETS:
        with pytest.raises(InvalidAnswer) as caught:
            respond(design, secret)  # type: ignore[arg-type]
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_questions_about_an_unknown_answer_do_not_repeat_it_either(
    design: Design,
) -> None:
    for ask in (
        lambda: design.category_number("zebra-7731"),
        lambda: design.probability(design.symbols[0], given="zebra-7731"),
        lambda: design.bayes_factors(design.symbols[0], "zebra-7731"),
    ):
        with pytest.raises(InvalidAnswer) as caught:
            ask()
        assert "zebra" not in str(caught.value)


def test_an_unknown_response_is_refused(design: Design) -> None:
    for symbol in ("zebra-7731", "", 5, None):
        with pytest.raises(InvalidResponse, match="expected one of"):
            design.symbol_number(symbol)  # type: ignore[arg-type]


def test_no_word_is_taken_for_an_unknown_answer(design: Design) -> None:
    class Closed:
        def read(self, count: int) -> bytes:
            raise AssertionError(f"{count} bytes were taken")

    with pytest.raises(InvalidAnswer):
        respond(design, "zebra-7731", source=Closed())
