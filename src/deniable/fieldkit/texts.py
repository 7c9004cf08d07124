"""A device in words: its instructions, the consent text, the facts for those who analyse, and the quiz with its key.

Every number is counted from the outcomes of the device, or told by `deniable.survey.disclosure` from its channel.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice, product
from string import ascii_uppercase
from typing import Any, NamedTuple

from deniable.errors import require_choice
from deniable.fieldkit.physical import Instruction, PhysicalDevice
from deniable.fieldkit.two_questions import ChoosingDevice, TwoQuestions
from deniable.survey.catalogue import Locale, fill, locale
from deniable.survey.disclosure import Disclosure, epsilon_words

LANGUAGES = ("en", "de", "es", "fr")
"""The languages that kits are written in."""

_MAX_ITEMS = 4  # of one kind in the quiz: people are to be asked, not examined


class QuizItem(NamedTuple):
    """A question of the quiz and its right answer, computed from the device."""

    question: str
    right: str


class Outcome(NamedTuple):
    """One of the equally likely outcomes of a device: the number of its instruction, its letter and what is said."""

    instruction: int
    letter: str
    rule: str


@cache
def _catalogue(language: str) -> Mapping[str, Any]:
    text = (
        files("deniable.fieldkit")
        .joinpath("locales", f"{language}.toml")
        .read_text(encoding="utf-8")
    )
    return tomllib.loads(text)


def check_language(language: str) -> str:
    """Return a language that kits are written in.

    Raises:
        InvalidRequest: there is no kit in it.
    """
    require_choice("there is no kit in the language", language, LANGUAGES)
    return language


@dataclass(frozen=True)
class PaperTexts:
    """What the tellings of a device and of two questions have in common.

    Attributes:
        device: what is told about.
        language: one of `LANGUAGES`.
    """

    device: PhysicalDevice | TwoQuestions
    language: str

    @property
    def spoken(self) -> Locale:
        """How numbers are written, and what responses reveal."""
        return locale(self.language)

    @property
    def words(self) -> Mapping[str, Any]:
        """The sentences of the kit."""
        return _catalogue(self.language)

    def fill(self, section: str, name: str, **values: object) -> str:
        """Return a sentence of the kit, with values in its places."""
        return fill(self.words[section][name], **values)

    def _labels(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what names are called: as in the language where it has a word for each, else as they are."""
        symbol_words = self.spoken.words["symbols"]
        return (
            tuple(str(symbol_words[name]) for name in names)
            if all(name in symbol_words for name in names)
            else tuple(names)
        )

    @property
    def categories(self) -> tuple[str, ...]:
        """What the answers are called."""
        return self._labels(self.device.design.categories)

    @property
    def symbols(self) -> tuple[str, ...]:
        """What the responses are called."""
        return self._labels(self.device.design.symbols)

    def excluded(self, symbol: int) -> tuple[int, ...]:
        """Return the answers that cannot be true where a symbol is said; none where it proves nothing."""
        p_symbol = [
            self.device.design.channel.probability(symbol, given=answer)
            for answer in range(len(self.categories))
        ]
        return (
            tuple(x for x, chance in enumerate(p_symbol) if not chance)
            if any(p_symbol)
            else ()
        )

    def _revealed(self) -> tuple[str, ...]:
        """Tell what a response reveals at most, and what it proves."""
        return (
            *Disclosure.of_response(self.device.design).response_words(self.spoken),
            *(
                self.fill(
                    "consent", "proves", symbol=symbol, answer=self.categories[x]
                )
                for y, symbol in enumerate(self.symbols)
                for x in self.excluded(y)
            ),
        )

    def _proof_items(self) -> Iterator[QuizItem]:
        for y, symbol in enumerate(self.symbols):
            out = " / ".join(self.categories[x] for x in self.excluded(y))
            right = self.fill(
                "quiz", "yes_answer" if out else "no_answer", answer=out
            )
            yield QuizItem(self.fill("quiz", "proof", symbol=symbol), right)

    def _seen_item(self) -> QuizItem:
        words = self.words["quiz"]
        return QuizItem(words["seen"], words["seen_answer"])

    def _pairs(self) -> product[tuple[tuple[int, str], tuple[int, str]]]:
        """Return each answer with each symbol, by number and by what they are called."""
        return product(enumerate(self.categories), enumerate(self.symbols))

    def _chances(self) -> Iterator[str]:
        """Tell every probability of the design."""
        channel = self.device.design.channel
        for (x, answer), (y, symbol) in self._pairs():
            chance = channel.probability(y, given=x)
            yield self.fill(
                "facts", "chance", answer=answer, symbol=symbol, chance=chance
            )


@dataclass(frozen=True)
class DeviceTexts(PaperTexts):
    """A device, told in one language."""

    device: PhysicalDevice

    @property
    def how(self) -> str:
        """By which sentences the device is used: one die is told otherwise than two."""
        return (
            "die"
            if self.device.kind == "dice" and self.device.outcomes == 6
            else self.device.kind
        )

    @property
    def tosses(self) -> int:
        """How often a coin is tossed."""
        return self.device.outcomes.bit_length() - 1

    def count(self, number: int) -> str:
        """Write a number of outcomes, out of all."""
        count_text = self.fill(
            "sheet", "count", count=number, total=self.device.outcomes
        )
        # which is not broken over two lines
        return count_text.replace(" ", "\u00a0")

    def instructions(self) -> Iterator[tuple[str, Instruction]]:
        """Yield the instructions with the letters that they are called by on paper."""
        yield from zip(ascii_uppercase, self.device.instructions, strict=False)

    def truthful(self, instruction: Instruction) -> bool:
        """Say whether an instruction asks for the true answer as it is."""
        design = self.device.design
        return [design.symbols[y] for y in instruction.says] == list(
            design.categories
        )

    def rule(self, instruction: Instruction) -> str:
        """Return what an instruction tells people to say."""
        if instruction.forced:
            return self.fill("rule", "say", symbol=self.symbols[instruction.says[0]])
        if self.truthful(instruction):
            return self.fill("rule", "truth")
        return " ".join(
            self.fill("rule", "each", answer=answer, symbol=self.symbols[y])
            for answer, y in zip(self.categories, instruction.says, strict=True)
        )

    @property
    def outcomes(self) -> list[Outcome]:
        """All outcomes in their order."""
        return [
            Outcome(number, letter, self.rule(instruction))
            for number, (letter, instruction) in enumerate(self.instructions())
            for _ in range(instruction.count)
        ]

    def handling(self) -> str:
        """Return how the device is put together and used, for its sheet."""
        return self.fill(
            "sheet",
            self.how,
            total=self.device.outcomes,
            tosses=self.tosses,
        )

    def request(self) -> str:
        """Return how the interviewer asks for the device to be used."""
        return self.fill("script", self.how, tosses=self.tosses)

    def shown(self, outcome: int) -> str:
        """Tell how one of the outcomes, counted from 0, looks to whoever holds the device."""
        row, column = divmod(outcome, 6)
        coins = [
            self.spoken.words["device"]["tails" if outcome >> toss & 1 else "heads"]
            for toss in range(self.tosses)
        ]
        return fill(
            self.words["quiz"]["shown"][self.how],
            letter=self.outcomes[outcome].letter, face=outcome + 1, dark=row + 1, light=column + 1,
            sides=", ".join(coins[::-1]),
        )  # fmt: skip

    def facts(self) -> tuple[str, ...]:
        """Tell what the device is in numbers, how far it is from what was asked for, and what to tally with."""
        device = self.device
        requested, attained = (
            epsilon_words(design.epsilon, self.spoken)
            for design in (device.asked, device.design)
        )
        difference = "exact" if device.exact else "distance"
        return (
            self.fill("facts", "outcomes", total=device.outcomes),
            *self._cells(),
            self.fill("facts", difference, points=self.points()),
            self.fill("facts", "epsilon", epsilon=attained, asked=requested),
            self.fill("facts", "tally"),
        )

    def _cells(self) -> Iterator[str]:
        for (x, answer), (y, symbol) in self._pairs():
            yield self.fill(
                "facts",
                "cell",
                answer=answer,
                symbol=symbol,
                count=self.said(y, x),
                total=self.device.outcomes,
            )

    def points(self) -> str:
        """Return the largest difference from what was asked for in percentage points, rounded up."""
        share = self.device.distance
        above = Decimal(math.ceil(share * 10_000)).scaleb(-2)
        return self.spoken.number(
            above.quantize(Decimal("0.01"), rounding=ROUND_CEILING)
        )

    def said(self, symbol: int, answer: int) -> int:
        """Return on how many outcomes a symbol is said where an answer is true."""
        return sum(
            instruction.count
            for instruction in self.device.instructions
            if instruction.says[answer] == symbol
        )

    def consent(self) -> tuple[str, ...]:
        """Return the consent text: what is done, in numbers of outcomes, and what a response reveals at most."""
        words = self.words["consent"]
        back = (words["back"],) if self.device.kind == "cards" else ()
        return (
            *(words[name] for name in ("free", "device", "seen")),
            *self._odds(),
            *back,
            *self._revealed(),
            words["apart"],
        )

    def _odds(self) -> Iterator[str]:
        total, n_lies = self.device.outcomes, 0
        for instruction in self.device.instructions:
            if not instruction.forced and not self.truthful(instruction):
                n_lies += instruction.count
                continue
            yield self.fill(
                "consent",
                "forced" if instruction.forced else "truth",
                count=instruction.count,
                total=total,
                symbol=self.symbols[instruction.says[0]],
            )
        if n_lies:
            yield self.fill("consent", "depends", count=n_lies, total=total)

    def quiz(self) -> tuple[QuizItem, ...]:
        """Return the questions of the quiz with their right answers."""
        kinds = (self._outcome_items(), self._count_items(), self._proof_items())
        items = [item for kind in kinds for item in islice(kind, _MAX_ITEMS)]
        return (*items, self._seen_item())

    def _outcome_items(self) -> Iterator[QuizItem]:
        """Ask what is said on an outcome; where it is forced, of somebody for whom something else is true."""
        starts = accumulate(
            (instruction.count for instruction in self.device.instructions),
            initial=0,
        )
        for instruction, first in reversed(
            tuple(zip(self.device.instructions, starts, strict=False))
        ):
            answer = max(
                range(len(instruction.says)),
                key=lambda x: (
                    self.categories[x] != self.symbols[instruction.says[x]],
                    x,
                ),
            )
            question = self.fill(
                "quiz",
                "outcome",
                shown=self.shown(first),
                answer=self.categories[answer],
            )
            yield QuizItem(question, self.symbols[instruction.says[answer]])

    def _count_items(self) -> Iterator[QuizItem]:
        """Ask on how many outcomes a symbol is said where the first and where the last answer is true."""
        for answer in (0, len(self.categories) - 1):
            symbol = len(self.symbols) - 1
            question = self.fill("quiz", "count",
                total=self.device.outcomes, answer=self.categories[answer], symbol=self.symbols[symbol],
            )  # fmt: skip
            yield QuizItem(question, str(self.said(symbol, answer)))


def _replace_sentences(
    words: Mapping[str, Any], rest_text: str
) -> Mapping[str, Any]:
    """Return the sentences, with those of another way to ask in the places that it has."""
    return {
        **words,
        **{
            name: {**words.get(name, {}), **table}
            for name, table in words[rest_text].items()
        },
    }


@dataclass(frozen=True)
class PairTexts(PaperTexts):
    """Two questions whose answers are told together, in one language."""

    device: TwoQuestions

    @property
    def words(self) -> Mapping[str, Any]:
        """The sentences of the kit; none of them speaks of a device."""
        return _replace_sentences(_catalogue(self.language), "pair")

    def choices(self) -> tuple[tuple[str, str], ...]:
        """Return what may be said, each with what it means."""
        means = self.words["choices"]
        return tuple(
            (symbol, means[code])
            for symbol, code in zip(
                self.symbols, self.device.design.symbols, strict=True
            )
        )

    def request(self) -> str:
        """Return how the interviewer asks for a device to be used: there is none."""
        return ""

    def facts(self) -> tuple[str, ...]:
        """Tell the share of the harmless question, the probabilities, and what they rest on."""
        epsilon = epsilon_words(self.device.design.epsilon, self.spoken)
        return (
            _format_share(self, self.device.harmless.share),
            *self._chances(),
            self.fill("facts", "holds"),
            self.fill("facts", "secret"),
            self.fill("facts", "epsilon", epsilon=epsilon),
            self.fill("facts", "tally"),
        )

    def consent(self) -> tuple[str, ...]:
        """Return the consent text: what is said, against whom it holds, and what it reveals at most."""
        words, (first, second) = self.words["consent"], self.symbols
        device = self.fill("consent", "device", first=first, second=second)
        return (
            words["free"],
            device,
            words["seen"],
            *self._revealed(),
            words["apart"],
        )

    def quiz(self) -> tuple[QuizItem, ...]:
        """Return the questions of the quiz with their right answers: all four pairs of answers, and what is proved."""
        items = []
        for answer, harmless in product((1, 0), repeat=2):
            question = self.fill(
                "quiz",
                "outcome",
                answer=self.categories[answer],
                harmless=self.categories[harmless],
            )
            right = self.symbols[self.device.says(answer, harmless)]
            items.append(QuizItem(question, right))
        return (*items, *self._proof_items(), self._seen_item())


@dataclass(frozen=True)
class ChoosingTexts(DeviceTexts):
    """A device that chooses one of two questions, in one language."""

    device: ChoosingDevice

    @property
    def words(self) -> Mapping[str, Any]:
        """The sentences of the kit."""
        return _replace_sentences(_catalogue(self.language), "choose")

    def rule(self, instruction: Instruction) -> str:
        """Return which question an instruction asks for."""
        return str(self.words["rule"]["first" if instruction.says else "second"])

    def _cells(self) -> Iterator[str]:
        yield _format_share(self, self.device.harmless.share)
        yield from self._chances()
        yield from (self.words["facts"][name] for name in ("holds", "secret"))

    def _odds(self) -> Iterator[str]:
        for name, instruction in zip(
            ("first", "second"), self.device.instructions, strict=True
        ):
            count, total = instruction.count, self.device.outcomes
            yield self.fill("consent", name, count=count, total=total)

    def _outcome_items(self) -> Iterator[QuizItem]:
        """Ask what is said where the device chooses a question, of somebody to whom the other one is otherwise."""
        starts = (0, self.device.instructions[0].count)
        for start, chosen in zip(starts, (0, 1), strict=True):
            for answer in (1, 0):
                question = self.fill("quiz", "outcome",
                    shown=self.shown(start), answer=self.categories[answer], harmless=self.categories[1 - answer],
                )  # fmt: skip
                yield QuizItem(
                    question, self.categories[(answer, 1 - answer)[chosen]]
                )

    def _count_items(self) -> Iterator[QuizItem]:
        """Ask on how many outcomes the harmless question is answered."""
        question = self.fill("quiz", "count", total=self.device.outcomes)
        yield QuizItem(question, str(self.device.instructions[1].count))


def _format_share(texts: PaperTexts, share: Fraction) -> str:
    percent = Decimal(round(share * 10_000)).scaleb(-2)
    return fill(
        texts.words["facts"]["share"],
        share=str(share),
        percent=texts.spoken.number(percent),
    )


def device_texts(
    device: PhysicalDevice | TwoQuestions, language: str
) -> DeviceTexts | PairTexts:
    """Tell a device, or two questions, in a language."""
    if isinstance(device, TwoQuestions):
        return PairTexts(device, language)
    return (ChoosingTexts if isinstance(device, ChoosingDevice) else DeviceTexts)(
        device,  # type: ignore[arg-type]
        language,
    )
