"""What responses reveal at most, in exact numbers, and in the sentences that everybody is told them in.

Responses that leave together count together: the ratio of all of them is the product of their ratios, their ε the sum.
Whatever is said to hold "at most" is rounded up. Pages, commands and receipts say these sentences and no others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from deniable import exact
from deniable.criteria.base import max_posterior
from deniable.designs import Design
from deniable.designs.proofs import least_certain
from deniable.errors import InvalidRequest, quoted
from deniable.rendering import formats
from deniable.survey.catalogue import Locale, fill
from deniable.survey.limits import BUDGET, CEILING

BANDS: tuple[tuple[str, float], ...] = (
    ("nothing", 0),
    ("hidden", 1),
    ("hinted", CEILING),
    ("shown", BUDGET),
    ("bare", math.nextafter(math.inf, 0)),
    ("certain", math.inf),
)
"""What is said in words, up to which ε.

Why: whoever guesses between two answers that seemed equally likely is wrong at least 26 times in 100 up to ε = 1, which
is called little; at least 4 times in 100 up to the ceiling, a hint; at least twice in 1,000 up to the budget, much. So
a question within the ceiling is at worst a hint, a survey within its budget at worst much, and what goes further is
said to give answers away. Where ε is infinite some response proves something.
"""

CAUTIONED = frozenset({"shown", "bare", "certain"})
"""The bands that are told as a caution."""

BELIEVED = Fraction(1, 10)
"""The share of people that something is believed of beforehand: 10 of 100, in every sentence."""

_MAX_DECIMALS = 4  # of "99.96 of 100"; what is closer to 100 is called 100
_MAX_TIMES = 10**6  # of "99,996 times in 100,000"


class Guess(NamedTuple):
    """How often a guess is right, at most, in so many times."""

    right: int
    times: int


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What can be learned from a response, or from several that leave together.

    Attributes:
        parity: how many times as likely the same responses can be under one answer as under another; infinite where
            one of them proves something.
        otherwise: the same for the responses that prove nothing, where some prove something; None where none do, or
            where it is not told for each response alone.
    """

    parity: exact.Ratio
    otherwise: exact.Ratio | None = None

    @classmethod
    def of_response(cls, design: Design) -> Disclosure:
        """Return what one response to a design allows: that which tells most, and where it is certain the others too.

        Example:
            >>> from deniable.designs import mangat
            >>> Disclosure.of_response(mangat("2/3")).otherwise
            Fraction(3, 1)
        """
        return cls(
            design.parity,
            least_certain(design) if design.parity == math.inf else None,
        )

    @classmethod
    def of(cls, designs: Iterable[Design]) -> Disclosure:
        """Return what one response to each of these designs allows, all of them together.

        Example:
            >>> from deniable.designs import k_ary, warner
            >>> Disclosure.of([warner(1), k_ary(3, epsilon="3/2"), warner(1)]).after
            Decimal('79')
        """
        return cls.of_parities([design.parity for design in designs])

    @classmethod
    def of_parities(cls, ratios: Collection[exact.Ratio]) -> Disclosure:
        """Return what responses with these parities allow, all of them together: their product."""
        return cls(
            math.inf
            if math.inf in ratios
            else math.prod((Fraction(ratio) for ratio in ratios), start=Fraction(1))
        )

    @property
    def epsilon(self) -> float:
        """The natural logarithm of the parity, rounded up."""
        return exact.log_above(self.parity)

    @property
    def after(self) -> Decimal:
        """Of 100 people, of how many at most something can be believed afterwards that was believed of 10 before.

        As few decimals as tell it from certainty.

        Example:
            >>> [str(Disclosure(Fraction(ratio)).after) for ratio in (1, 3, 9_000)]
            ['10', '25', '99.91']
        """
        share = 100 * max_posterior(self.parity, BELIEVED)
        for decimals in range(_MAX_DECIMALS + 1):
            above = Decimal(math.ceil(share * 10**decimals)).scaleb(-decimals)
            if above < 100:
                return above
        return Decimal(100)

    @property
    def guess(self) -> Guess:
        """How often a guess between two answers that seemed equally likely is right at most.

        Example:
            >>> Disclosure(Fraction(3)).guess, Disclosure(Fraction(999)).guess
            (Guess(right=75, times=100), Guess(right=999, times=1000))
        """
        share, times = max_posterior(self.parity, Fraction(1, 2)), 100
        while (1 - share) * times < 1 and times < _MAX_TIMES:
            times *= 10
        return Guess(math.ceil(share * times), times)

    @property
    def band(self) -> str:
        """Which of the words in `BANDS` are true of it."""
        return next(name for name, limit in BANDS if self.epsilon <= limit)

    def within(self, epsilon: float) -> bool:
        """Say whether it is at most an ε, which is the decimal that it shows: 10.1 covers 10 and 0.1 together."""
        if self.epsilon <= epsilon or self.parity == math.inf:
            return self.epsilon <= epsilon
        return self.parity <= exact.exp_below(epsilon)

    @property
    def cautioned(self) -> bool:
        """Whether it is told as a caution."""
        return self.band in CAUTIONED

    def response_words(self, spoken: Locale) -> tuple[str, ...]:
        """Tell what the response to one question reveals: in words, by how good a guess is, by what can be believed."""
        words = spoken.words["disclosure"]
        verdict = str(words["response"][self.band])
        if self.band == "certain" and self.otherwise is not None:
            return verdict, fill(
                words["otherwise"],
                after=spoken.number(Disclosure(self.otherwise).after),
            )
        if self.band in ("nothing", "certain"):
            return (verdict,)
        right, times = map(spoken.number, self.guess)
        guess = fill(words["guess"], right=right, times=times)
        return verdict, guess, fill(words["belief"], after=spoken.number(self.after))

    def together_words(self, spoken: Locale) -> tuple[str, ...]:
        """Tell what all responses together reveal, which leave in one message."""
        words = spoken.words["disclosure"]
        verdict = str(words["together"][self.band])
        if self.band in ("nothing", "certain"):
            return (verdict,)
        return verdict, fill(
            words["belief_together"], after=spoken.number(self.after)
        )

    def limit_words(
        self, limit: float, spoken: Locale, question: str = ""
    ) -> tuple[str, ...]:
        """Warn whoever plans a survey of an ε above a limit, for a question or all together; empty where it is not."""
        if self.within(limit):
            return ()
        sentence = spoken.words["disclosure"][
            "limit_question" if question else "limit_together"
        ]
        facts = {
            "epsilon": epsilon_words(self.epsilon, spoken),
            "limit": spoken.number(Decimal(limit)),
        }
        return (fill(sentence, question=question, **facts),)

    def line(self, question: str, spoken: Locale) -> str:
        """Return one line on a question for a list of them."""
        words = spoken.words["disclosure"]
        kind = "line_certain" if self.band == "certain" else "line"
        return fill(words[kind], question=question, after=spoken.number(self.after))


def epsilon_words(epsilon: float, spoken: Locale | None = None) -> str:
    """Return an ε with four digits, rounded up; in a language, or as it is written in files.

    Example:
        >>> epsilon_words(1.0986122886681098), epsilon_words(9.999999999), epsilon_words(math.inf)
        ('1.099', '10', 'inf')
    """
    if epsilon == math.inf:
        return "∞" if spoken else "inf"
    # the logarithm lies between the two: a sum of 10.1 is not called 10.11
    below = math.nextafter(epsilon, 0)
    plain = formats.epsilon(below).replace(",", "")
    return spoken.number(Decimal(plain)) if spoken else plain


def check_acknowledged(
    subject: str, disclosure: Disclosure, limit: float, acknowledged: float | None
) -> None:
    """Refuse an ε above a limit that nobody has acknowledged.

    Raises:
        InvalidRequest: it is above, and the file does not say so, or acknowledges less.
    """
    if disclosure.within(limit) or (
        acknowledged is not None and disclosure.within(acknowledged)
    ):
        return
    epsilon_text = epsilon_words(disclosure.epsilon)
    less = acknowledged and f", and acknowledges {epsilon_words(acknowledged)}"
    raise InvalidRequest(
        f"{subject} has ε = {epsilon_text}{less or ''}: what was believed of 10 of 100 people can afterwards "
        f"be believed of {disclosure.after} of 100; expected an ε of at most {limit}.",
        f"Choose a smaller ε; or, if whoever answers for the survey accepts this, write acknowledge = {epsilon_text} "
        "there.",
    )


def read_acknowledged(entry: object, subject: str) -> float | None:
    """Read the ε that a file acknowledges; None where it does not.

    Raises:
        InvalidRequest: not a positive number, and not "inf".
    """
    if entry is None:
        return None
    value = math.nan
    if isinstance(entry, int | float | str) and not isinstance(entry, bool):
        with suppress(ValueError, OverflowError):
            value = float(entry)
    if not value > 0:
        raise InvalidRequest(
            f"{subject} acknowledges {quoted(entry)}; expected an ε such as 4, or inf."
        )
    return value


def acknowledged_text(value: float | None) -> str:
    """Return what a file acknowledges for JSON, which has no infinity: as text; empty where it does not."""
    return "" if value is None else f"{value!r}".removesuffix(".0")
