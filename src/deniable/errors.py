"""The errors of `deniable`. Each says what was wrong, what was expected, and how to go on.

    DeniableError
    ├── InvalidNumber          not a number we can read exactly          (ValueError)
    ├── InvalidDesign          not a design: wrong shape, sum or labels  (ValueError)
    ├── InvalidAnswer          not an answer this design knows           (ValueError)
    ├── InvalidResponse        not a response of this design             (ValueError)
    ├── InvalidRequest         a level, method or option we do not have  (ValueError)
    ├── NotEstimable           the channel does not tell answers apart   (ValueError)
    ├── NotOrdered             a design that cannot follow another       (ValueError)
    ├── Incompatible           designs that must not be mixed            (ValueError)
    │   └── IncompatibleTallies
    ├── OverBudget             a release beyond what may be spent        (ValueError)
    ├── NotAllowed             without consent, or after a withdrawal    (ValueError)
    ├── UnreadableFile         truncated, edited, or of another version  (ValueError)
    ├── OutOfRandomness        a scripted source has no more bytes       (RuntimeError)
    └── MissingExtra           an optional package is not installed      (ImportError)

    ImplausibleResponses       a warning: responses that the design does not explain
    UnknownValues              a warning: values of a column that are no symbols

An error raised at the respondent's side never repeats the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def quoted(value: object, most: int = 40) -> str:
    """Return a value for a message, in quotation marks that are closed also where it is cut.

    Example:
        >>> quoted("yes"), quoted("a long answer", most=9), quoted(12.5)
        ("'yes'", "'a long…'", '12.5')
    """
    if (
        getattr(getattr(value, "dtype", None), "kind", " ") in "biufU"
        and getattr(value, "ndim", 1) == 0
    ):
        value = value.item()  # type: ignore[attr-defined]  # a scalar of NumPy, which would name its type
    text = repr(value)
    if len(text) <= most:
        return text
    if not isinstance(value, str):
        return f"{text[: most - 1]}…"
    cut = value[:most]
    while len(repr(cut)) >= most:
        cut = cut[:-1]
    return f"{repr(cut)[:-1]}…{repr(cut)[-1]}"


def kind_of(value: object) -> str:
    """Return what something is, for a message that does not repeat it.

    Example:
        >>> kind_of("yes"), kind_of(3), kind_of(None)
        ('a str', 'an int', 'None')
    """
    name = type(value).__name__
    return (
        "None"
        if value is None
        else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    )


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a question with the known words that come near to one that is not known; nothing where none does.

    Example:
        >>> nearest("esitmate", ["tally", "estimate"]), nearest("Region", ["region", "sex"]), nearest("x", ["region"])
        ("Did you mean 'estimate'?", "Did you mean 'region'?", '')
    """
    from difflib import get_close_matches  # which nobody needs who makes no mistake

    folded = {each.casefold(): each for each in reversed(known)}
    close = [
        folded[each] for each in get_close_matches(word.casefold(), list(folded))
    ]
    return (
        f"Did you mean {' or '.join(quoted(each) for each in close)}?"
        if close
        else ""
    )


def count_noun(number: int, noun: str) -> str:
    """Return a count with its noun, in the singular for one.

    Example:
        >>> count_noun(1, "response"), count_noun(2500, "row")
        ('1 response', '2,500 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class DeniableError(Exception):
    """Base of all errors of this package.

    Attributes:
        problem: what was wrong, and what was expected.
        hint: how to go on; may be empty.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"{problem}\n{hint}" if hint else problem)

    def __reduce__(self) -> tuple[type[DeniableError], tuple[str, str]]:
        return type(self), (self.problem, self.hint)


class InvalidNumber(DeniableError, ValueError):
    """Not a number that can be read exactly, or outside the range that was asked for."""


class InvalidDesign(DeniableError, ValueError):
    """Not a design: wrong shape, probabilities that do not sum to 1, labels that repeat."""


class InvalidAnswer(DeniableError, ValueError):
    """Not an answer that this design knows. The message never repeats the answer."""


class InvalidResponse(DeniableError, ValueError):
    """Not a response that this design can send."""


class InvalidRequest(DeniableError, ValueError):
    """A level, a method or an option that does not exist or does not fit."""


def require(
    fits: bool, given: object, name: str, expected: str, hint: str = ""
) -> None:
    """Refuse something of the wrong type, without repeating it.

    Raises:
        InvalidRequest: it does not fit.
    """
    if not fits:
        raise InvalidRequest(
            f"{name} is {kind_of(given)}; expected {expected}.", hint
        )


def read_names(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Read a list of names; text is one name and no list.

    Raises:
        InvalidRequest: text, no list, or an entry that is no text; the message does not repeat it.

    Example:
        >>> read_names(["tea", "milk"], "items")
        ('tea', 'milk')
    """
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    names = tuple(given) if listed else ()
    wrong = next((each for each in names if not isinstance(each, str)), None)
    if not listed or wrong is not None:
        problem = (
            f"{name} holds {kind_of(wrong)}"
            if listed
            else f"{name} is {kind_of(given)}"
        )
        raise InvalidRequest(
            f"{problem}; expected a list of names.", f'Write {name}=["…", "…"].'
        )
    return names


def require_one(hint: str, **options: object) -> None:
    """Refuse two options of which not exactly one is given.

    Raises:
        InvalidRequest: neither or both.
    """
    if sum(option is not None for option in options.values()) != 1:
        raise InvalidRequest(
            f"expected either {' or '.join(options)}, and exactly one of them.", hint
        )


def require_choice(subject: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of the choices; the subject is such as "the goal is".

    Raises:
        InvalidRequest: another value.
    """
    names = list(choices)
    if value not in names:
        raise InvalidRequest(
            f"{subject} {quoted(value)}; expected one of {', '.join(names)}."
        )


def require_options(
    *,
    truths: dict[str, object] | None = None,
    texts: dict[str, object] | None = None,
) -> None:
    """Refuse options that are no truth value, or no text; None stands for what was not given.

    Raises:
        InvalidRequest: another type.
    """
    for name, value in (truths or {}).items():
        # NumPy has a truth value of its own, and is not imported here.
        if not (
            value is None
            or isinstance(value, bool)
            or type(value).__name__ in ("bool", "bool_")
        ):
            raise InvalidRequest(
                f"{name} is {quoted(value)}; expected True or False."
            )
    for name, value in (texts or {}).items():
        require(value is None or isinstance(value, str), value, name, "text")


class NotEstimable(DeniableError, ValueError):
    """The channel sends two mixtures of answers to the same responses; no estimate can tell them apart."""


class NotOrdered(DeniableError, ValueError):
    """A response of the first design cannot be raised to the second: the second does not tell all that the first does.

    Attributes:
        proof: why there is no garbling, a `deniable.order.blackwell.Separation`; None where it was lost on the way.
        nearest: designs near the second that can follow the first, the best one first.
    """

    def __init__(
        self,
        problem: str,
        hint: str = "",
        *,
        proof: object = None,
        nearest: tuple[object, ...] = (),
    ) -> None:
        super().__init__(problem, hint)
        self.proof = proof
        self.nearest = nearest


class Incompatible(DeniableError, ValueError):
    """Something that belongs to another design."""


class IncompatibleTallies(Incompatible):
    """Tallies of two designs cannot be added."""


class OverBudget(DeniableError, ValueError):
    """A release that would spend more than the budget of its question, or of the whole ledger. Nothing was released.

    Attributes:
        needed: the ε that would have been spent, rounded up.
        budget: the ε that may be spent.
        excess: how much that is too much, rounded up.
    """

    def __init__(
        self,
        problem: str,
        hint: str = "",
        *,
        needed: float = 0.0,
        budget: float = 0.0,
        excess: float = 0.0,
    ) -> None:
        super().__init__(problem, hint)
        self.needed = needed
        self.budget = budget
        self.excess = excess


class NotAllowed(DeniableError, ValueError):
    """The respondent has not agreed to this, or has withdrawn. Nothing was released."""


class UnreadableFile(DeniableError, ValueError):
    """A file that is truncated, was edited, or follows a version that is not known here."""


class OutOfRandomness(DeniableError, RuntimeError):
    """A scripted source was asked for more bytes than it holds."""


class MissingExtra(DeniableError, ImportError):
    """An optional package is needed and not installed."""


class ImplausibleResponses(UserWarning):
    """The responses are not what the design sends, beyond chance; the message names likely causes."""


class UnknownValues(UserWarning):
    """Some rows of a column that was collected elsewhere hold what is no symbol; they are not counted as responses."""
