"""Two questions on one card: a sensitive one and a harmless one, of whose yes the share is known.

In the crosswise and in the triangular model nobody holds a device: people tell how their two answers go together. With
an unrelated question a device chooses which of the two is answered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.designs import Design, simmons
from deniable.errors import InvalidRequest
from deniable.fieldkit.physical import SIZES, Instruction, PhysicalDevice, read_kinds
from deniable.survey.harmless import HARMLESS, HarmlessQuestion, harmless_question

_TOGETHER: dict[str, Callable[[int, int], int]] = {
    "crosswise": lambda sensitive, harmless: int(sensitive == harmless),
    "triangular": lambda sensitive, harmless: int(sensitive or harmless),
}
"""Which symbol is said, by the answers to both questions."""

# by which weights of a design from ε may miss the share that it was built with
_ROUNDED = Fraction(1, 2**50)


@dataclass(frozen=True)
class TwoQuestions:
    """Two questions whose answers are told together, without a device.

    Attributes:
        asked: a crosswise or triangular design.
        harmless: the second question.
    """

    asked: Design
    harmless: HarmlessQuestion

    @property
    def kind(self) -> str:
        """What it is called: "crosswise" or "triangular"."""
        return self.asked.name

    @property
    def outcomes(self) -> int:
        """How many pairs of answers there are."""
        return 4

    @property
    def design(self) -> Design:
        """The design to tally with: the one that was asked for."""
        return self.asked

    @property
    def distance(self) -> Fraction:
        """By how much a probability differs from the one that was asked for: nothing."""
        return Fraction(0)

    @property
    def exact(self) -> bool:
        """Whether it makes the design that was asked for: always."""
        return True

    def says(self, sensitive: int, harmless: int) -> int:
        """Return the number of the symbol that is said, by the answers to both questions: 0 for no, 1 for yes."""
        return _TOGETHER[self.kind](sensitive, harmless)


@dataclass(frozen=True)
class ChoosingDevice(PhysicalDevice):
    """A device that chooses which of two questions is answered: first the sensitive one, then the harmless one.

    Attributes:
        harmless: the second question; people who are sent to it say what is true of it.
    """

    harmless: HarmlessQuestion

    @cached_property
    def design(self) -> Design:
        """The design to tally with, with the share of outcomes that the device has.

        Guarantee: every probability follows from numbers of outcomes and the share of the harmless question.
        """
        attained = simmons(
            p=Fraction(self.instructions[0].count, self.outcomes),
            b=self.harmless.share,
        )
        return self.asked if attained.channel == self.asked.channel else attained

    @cached_property
    def distance(self) -> Fraction:
        """By how much a probability differs from the one that was asked for, at most."""
        answers, symbols = range(2), range(2)
        return max(
            abs(
                self.design.channel.probability(y, given=x)
                - self.asked.channel.probability(y, given=x)
            )
            for x in answers
            for y in symbols
        )


def asks_two(design: Design) -> bool:
    """Say whether people must be asked a harmless question beside the sensitive one."""
    return design.name in _TOGETHER or design.name == "simmons"


def two_questions(
    design: Design,
    harmless: str | HarmlessQuestion | None,
    kinds: Iterable[str] = tuple(SIZES),
) -> tuple[TwoQuestions | ChoosingDevice, ...]:
    """Return how a design with a harmless question is asked on paper: by a card alone, or by devices that choose.

    Guarantee: the share of the harmless question is the one that the design was built with, exactly.

    Args:
        design: a crosswise or triangular design, or one with an unrelated question.
        harmless: one of `deniable.survey.HARMLESS` by name, or a question of your own with its share.
        kinds: of the devices that choose; there are none in the crosswise and triangular models.

    Raises:
        InvalidRequest: no harmless question, one with another share, categories that are not no and yes, or some kinds
            of devices where there are none.

    Example:
        >>> from deniable.designs import crosswise
        >>> two_questions(crosswise("3/10"), "banknote-digit-0-to-2")[0].says(1, 1)
        1
    """
    if tuple(design.categories) != ("no", "yes"):
        raise InvalidRequest(
            f"this {design.name} design has other answers than no and yes, which the harmless question has; expected "
            "those two.",
            "Build the design without categories of its own: they are no and yes then.",
        )
    question = _read_harmless(design, harmless)
    if design.name in _TOGETHER:
        if set(kinds) != set(SIZES):
            raise InvalidRequest(
                f"a {design.name} design is asked with a card that has both questions, and nobody needs a device; "
                "expected none to be named."
            )
        return (TwoQuestions(design, question),)
    return _nearest_choosing(design, question, read_kinds(kinds))


def harmless_share(design: Design) -> Fraction:
    """Return the share of yes to the harmless question that a design was built with."""
    if design.name == "crosswise":
        return design.channel.probability(1, given=1)
    if design.name == "triangular":
        return design.channel.probability(1, given=0)
    harmless_yes = design.channel.probability(1, given=0)
    harmless_no = design.channel.probability(0, given=1)
    return harmless_yes / (harmless_yes + harmless_no)


def _read_harmless(
    design: Design, harmless: str | HarmlessQuestion | None
) -> HarmlessQuestion:
    share, letter = harmless_share(design), "b" if design.name == "simmons" else "p"
    listed = next(
        (
            question.name
            for question in HARMLESS
            if abs(question.share - share) < _ROUNDED
        ),
        None,
    )
    nearest = min(HARMLESS, key=lambda question: abs(question.share - share))
    advice = (
        f"Take {listed}: --harmless {listed}."
        if listed
        else f"`deniable survey harmless` lists some. The nearest is {nearest.name}: build the design with "
        f"{letter} = {nearest.share} and take --harmless {nearest.name}; or hand a HarmlessQuestion of your own to "
        "deniable.fieldkit.write_kit."
    )
    if harmless is None:
        raise InvalidRequest(
            f"the {design.name} design asks a harmless question beside the sensitive one; expected its name, with a "
            f"share of yes of {letter} = {_format_share(share)}.",
            advice,
        )
    question = harmless_question(harmless) if isinstance(harmless, str) else harmless
    if abs(question.share - share) >= _ROUNDED:
        raise InvalidRequest(
            f"the harmless question {question.name} has a share of yes of {question.share}; expected {letter} = "
            f"{_format_share(share)} of the design, or every estimate is biased.",
            f"Build the design with {letter} = {question.share}.",
        )
    return question


def _format_share(share: Fraction) -> str:
    return str(share if share.denominator < 10**9 else float(share))


def _nearest_choosing(
    design: Design, harmless: HarmlessQuestion, kinds: Iterable[str]
) -> tuple[ChoosingDevice, ...]:
    """Return for each kind of device the nearest one that chooses, among those that reveal no more than the design."""
    p_target = design.channel.probability(1, given=1) - design.channel.probability(
        1, given=0
    )
    devices = []
    for kind in kinds:
        candidates = [
            ChoosingDevice(
                kind,
                design,
                (Instruction((0, 1), count), Instruction((), size - count)),
                harmless,
            )
            for size in SIZES[kind]
            for count in {math.floor(p_target * size), math.ceil(p_target * size)}
            if 0 < count < size
        ]
        within = [
            candidate
            for candidate in candidates
            if candidate.design.parity <= design.parity
        ]
        if within:
            devices.append(
                min(within, key=lambda device: (device.distance, device.outcomes))
            )
    if not devices:
        raise InvalidRequest(
            f"no {', '.join(kinds)} is fine enough to choose between the two questions of this design.",
            "Ask for another kind of device, or for a larger share of the harmless question.",
        )
    return tuple(devices)
