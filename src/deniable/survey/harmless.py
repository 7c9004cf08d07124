"""Harmless questions with a known share of yes, for designs that hide an answer behind one: crosswise, triangular,
simmons and their kin.

Shares are exact: of days in the Gregorian calendar, which repeats after 146,097 days, or of digits.
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from deniable.errors import InvalidRequest, quoted
from deniable.rendering import formats

_YEARS = 400  # of one cycle of the calendar
_LEAPS = 97  # of them
_MAX_TIMES = (
    100  # as many people as a direct question takes; beyond, nobody would ask
)


@dataclass(frozen=True, slots=True)
class HarmlessQuestion:
    """A question that nobody minds, and how many say yes to it.

    Attributes:
        name: what it is called here.
        share: the exact share of yes.
        texts: the question, by language.
        note: what the share rests on.
    """

    name: str
    share: Fraction
    texts: Mapping[str, str]
    note: str

    @property
    def use(self) -> str:
        """Say which designs the question is good for, and what it costs there."""
        parameters = "p of triangular, b of simmons"
        if self.share == Fraction(1, 2):
            return f"{parameters} (where 1/2 is the best b); not for crosswise, which tells nothing with p = 1/2"
        ratio = max(self.share, 1 - self.share) / min(self.share, 1 - self.share)
        epsilon, times = formats.epsilon(math.log(ratio), 3), self._times()
        many = f"{times:,.0f}" if times > _MAX_TIMES else f"{times:.2g}"
        cost = f"ε = {epsilon}, {many} times as many people as a direct question at a share of 10%"
        if times > _MAX_TIMES:
            return f"{parameters}; not for crosswise, where it would tell next to nothing ({cost})"
        return f"p of crosswise ({cost}), {parameters}"

    def _times(self) -> float:
        """Return how many times as many people the crosswise model takes, at a share of 10 %."""
        rare = Fraction(1, 10)
        same = (1 - self.share) * (1 - rare) + self.share * rare
        return float(
            same * (1 - same) / ((2 * self.share - 1) ** 2 * rare * (1 - rare))
        )


def _days(holds: Callable[[date], bool]) -> Fraction:
    """Return the share of days on which something holds, in a whole cycle of the calendar."""
    # any common year and any leap year
    years = {2001: _YEARS - _LEAPS, 2000: _LEAPS}
    n_days = sum(
        times
        * sum(
            holds(date(year, month, day))
            for day in range(1, calendar.monthrange(year, month)[1] + 1)
        )
        for year, times in years.items()
        for month in range(1, 13)
    )
    return Fraction(n_days, 365 * _YEARS + _LEAPS)


_CALENDAR = (
    "The share of days of the calendar. Births are not spread evenly over the year: where your statistical office "
    "counts them by month or day, take that share instead. It must be about somebody whose birthday whoever reads the "
    "responses does not know."
)
_DIGITS = "The last digits of running numbers are spread evenly. Nobody but the respondent may see the number."

HARMLESS: tuple[HarmlessQuestion, ...] = (
    HarmlessQuestion(
        "mother-january-to-march",
        _days(lambda day: day.month <= 3),
        {
            "en": "Is your mother's birthday in January, February or March?",
            "de": "Hat Ihre Mutter im Januar, Februar oder März Geburtstag?",
            "es": "¿Es el cumpleaños de su madre en enero, febrero o marzo?",
            "fr": "L’anniversaire de votre mère est-il en janvier, février ou mars ?",
        },
        _CALENDAR,
    ),
    HarmlessQuestion(
        "mother-november-december",
        _days(lambda day: day.month >= 11),
        {
            "en": "Is your mother's birthday in November or December?",
            "de": "Hat Ihre Mutter im November oder Dezember Geburtstag?",
            "es": "¿Es el cumpleaños de su madre en noviembre o diciembre?",
            "fr": "L’anniversaire de votre mère est-il en novembre ou décembre ?",
        },
        _CALENDAR,
    ),
    HarmlessQuestion(
        "father-first-to-fifth",
        _days(lambda day: day.day <= 5),
        {
            "en": "Is your father's birthday on the 1st to 5th day of a month?",
            "de": "Hat Ihr Vater am 1. bis 5. Tag eines Monats Geburtstag?",
            "es": "¿Es el cumpleaños de su padre entre los días 1 y 5 de un mes?",
            "fr": "L’anniversaire de votre père est-il entre le 1er et le 5 d’un mois ?",
        },
        _CALENDAR,
    ),
    HarmlessQuestion(
        "father-first-to-tenth",
        _days(lambda day: day.day <= 10),
        {
            "en": "Is your father's birthday on the 1st to 10th day of a month?",
            "de": "Hat Ihr Vater am 1. bis 10. Tag eines Monats Geburtstag?",
            "es": "¿Es el cumpleaños de su padre entre los días 1 y 10 de un mes?",
            "fr": "L’anniversaire de votre père est-il entre le 1er et le 10 d’un mois ?",
        },
        _CALENDAR,
    ),
    HarmlessQuestion(
        "friend-even-day",
        _days(lambda day: day.day % 2 == 0),
        {
            "en": "Think of a friend whose birthday you know. Is it on an even day of the month, such as the 2nd or "
            "14th?",
            "de": "Denken Sie an jemanden, dessen Geburtstag Sie kennen. Ist er an einem geraden Tag des Monats, etwa "
            "am 2. oder 14.?",
            "es": "Piense en una amistad cuyo cumpleaños conozca. ¿Es en un día par del mes, como el 2 o el 14?",
            "fr": "Pensez à un ami dont vous connaissez l’anniversaire. Est-il un jour pair du mois, comme le 2 ou "
            "le 14 ?",
        },
        _CALENDAR,
    ),
    HarmlessQuestion(
        "banknote-digit-0-to-2",
        Fraction(3, 10),
        {
            "en": "Take a banknote of yours. Is the last digit of its number 0, 1 or 2?",
            "de": "Nehmen Sie einen Geldschein von sich. Ist die letzte Ziffer seiner Nummer 0, 1 oder 2?",
            "es": "Tome un billete suyo. ¿Es la última cifra de su número 0, 1 o 2?",
            "fr": "Prenez un de vos billets de banque. Le dernier chiffre de son numéro est-il 0, 1 ou 2 ?",
        },
        _DIGITS,
    ),
    HarmlessQuestion(
        "banknote-digit-even",
        Fraction(1, 2),
        {
            "en": "Take a banknote of yours. Is the last digit of its number even, so 0, 2, 4, 6 or 8?",
            "de": "Nehmen Sie einen Geldschein von sich. Ist die letzte Ziffer seiner Nummer gerade, also 0, 2, 4, 6 "
            "oder 8?",
            "es": "Tome un billete suyo. ¿Es par la última cifra de su número, o sea 0, 2, 4, 6 u 8?",
            "fr": "Prenez un de vos billets de banque. Le dernier chiffre de son numéro est-il pair, donc 0, 2, 4, 6 "
            "ou 8 ?",
        },
        _DIGITS,
    ),
)  # fmt: skip
"""The harmless questions that there are."""


def harmless_question(name: str) -> HarmlessQuestion:
    """Return a harmless question by its name.

    Raises:
        InvalidRequest: there is none of this name.

    Example:
        >>> harmless_question("mother-january-to-march").share
        Fraction(36097, 146097)
    """
    for question in HARMLESS:
        if question.name == name:
            return question
    names = ", ".join(question.name for question in HARMLESS)
    raise InvalidRequest(
        f"there is no harmless question {quoted(name, 50)}; expected one of {names}."
    )
