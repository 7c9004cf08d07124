from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from deniable import errors
from deniable.errors import DeniableError

CLASSES = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, DeniableError)
]
every_error = pytest.mark.parametrize(
    "kind", CLASSES, ids=lambda kind: kind.__name__
)


@every_error
def test_a_message_is_problem_and_hint(kind: type[DeniableError]) -> None:
    error = kind("this was wrong; expected that.", "Do so.")
    assert error.problem == "this was wrong; expected that."
    assert error.hint == "Do so."
    assert str(error) == "this was wrong; expected that.\nDo so."
    assert str(kind("only this.")) == "only this."


@every_error
def test_errors_cross_processes(kind: type[DeniableError]) -> None:
    error = kind("this was wrong.", "Do so.")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is kind
        assert (again.problem, again.hint, str(again)) == (
            error.problem,
            error.hint,
            str(error),
        )
    assert str(copy.copy(error)) == str(error)


@every_error
def test_each_refines_a_builtin_and_is_drawn_in_the_tree(
    kind: type[DeniableError],
) -> None:
    assert kind.__name__ in (errors.__doc__ or "")
    assert kind.__doc__
    if kind is not DeniableError:
        assert issubclass(kind, ValueError | RuntimeError | ImportError)


def test_a_value_that_is_cut_keeps_both_quotation_marks() -> None:
    for value in (
        "a" * 100,
        "it's " * 30,
        'say "no" ' * 30,
        "\n" * 100,
        "'\"" * 40,
        "☠" * 100,
    ):
        told = errors.quoted(value)
        assert len(told) <= 41
        assert told[0] == told[-1]
        assert told[0] in "'\""
        assert "…" in told
    assert errors.quoted("short") == "'short'"
    assert errors.quoted(list(range(100)), 10) == "[0, 1, 2,…"
