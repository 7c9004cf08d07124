"""One question: what may be answered, how it is randomized, and in which words it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from deniable import documents
from deniable.designs import AnyDesign, Design, FieldedDesign
from deniable.designs.labels import Combinations, Texts, size
from deniable.errors import Incompatible, InvalidRequest, quoted, require_choice
from deniable.order.ladders import Ladder, as_ladder, stages_of
from deniable.survey import disclosure as told
from deniable.survey import texts as spoken
from deniable.survey.catalogue import locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.limits import CEILING
from deniable.survey.texts import PartTexts, QuestionTexts
from deniable.survey.tools import tool_for
from deniable.types import find_operation, read_design
from deniable.types.surfaces import check_surface

DEVICES = ("browser", "physical")
"""Who draws: the respondent's own browser or program, or a physical device such as dice or cards."""

WORDS = frozenset(
    {"no", "yes", "different", "same", "neither", "at least one", "black", "red"}
)
"""Categories and responses that designs bring along, and the catalogue translates."""

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""Names of surveys and questions: they stand in addresses and file names."""

_MAX_SHOWN = 100  # responses to choose from by hand
_Labelled = TypeVar("_Labelled", QuestionTexts, PartTexts)


@dataclass(frozen=True, eq=False)
class Question:
    """A question of a survey.

    Attributes:
        name: what programs call it.
        about: its design, of any type that a page can ask for; or its ladder, where certainty is released in stages.
        texts: its words, by language.
        device: "browser", where the respondent's own machine draws; or "physical", where dice or cards do, and only
            the response is entered.
        acknowledge: an ε above `CEILING` that this question may have: its own, or more; infinite for a design that can
            give an answer away for certain.
        check: of a comprehension check, which one of `survey.checks` it is: about the device and not about the
            respondent, and sent as it is; empty for every other question. `Survey` compares it with the catalogue.
        right: the right answer to a check.
        compare: the name of a question that asks the same of other people, to compare the results with; or empty.
    """

    name: str
    about: AnyDesign
    texts: Mapping[str, QuestionTexts]
    device: str = "browser"
    acknowledge: float | None = None
    check: str = ""
    right: str = ""
    compare: str = ""

    def __post_init__(self) -> None:
        check_slug(self.name, "a question")
        check_surface(self.about, "survey file")
        require_choice("the device is", self.device, DEVICES)
        subject = f"the question {self.name!r}"
        object.__setattr__(
            self, "acknowledge", told.read_acknowledged(self.acknowledge, subject)
        )
        in_parts = {
            tag: self._with_parts(texts) for tag, texts in self.texts.items()
        }
        object.__setattr__(self, "texts", in_parts)
        if not self.check:
            told.check_acknowledged(
                subject, self.disclosure, CEILING, self.acknowledge
            )
        if self.device == "physical":
            self._check_physical()
        self._check_parts()
        if self.ladder and self.design.answer_form == "numbers":
            raise InvalidRequest(
                f"{self.name!r} asks for a number in {self.stages} stages; expected one stage.",
                "On a later visit the number would be rounded anew, which tells more than the stages promise. "
                "With a ledger the level is kept: dn.rounded.",
            )
        for texts in self.texts.values():
            self._check_labels(texts)
        object.__setattr__(
            self,
            "texts",
            {
                tag: self._translate_texts(tag, texts)
                for tag, texts in self.texts.items()
            },
        )
        self._check_instructions()
        for tag in self.texts:
            self.labels(tag)  # whose parts must not hold what separates them

    @property
    def direct(self) -> bool:
        """Whether answers are sent as they are."""
        return self.design.name == "direct"

    @cached_property
    def fielded(self) -> Design | Ladder:
        """The design or ladder that draws on respondents' devices: `about`, or what its type of question names."""
        page_design = find_operation(self.about, "page_design")
        fielded = self.about if page_design is None else page_design(self.about)
        return cast(Design | Ladder, fielded)

    @property
    def ladder(self) -> Ladder | None:
        """The stages, where there are several."""
        return as_ladder(self.fielded)

    @property
    def designs(self) -> tuple[Design, ...]:
        """The design, or those of all stages, the coarsest first."""
        return stages_of(self.fielded)

    @property
    def design(self) -> Design:
        """The only design, or that of the coarsest stage."""
        return self.designs[0]

    @property
    def stages(self) -> int:
        """How many stages there are; 1 without a ladder."""
        return len(self.designs)

    @property
    def disclosure(self) -> Disclosure:
        """What responses to it reveal at most: all stages together what the finest one does."""
        return Disclosure.of_response(self.designs[-1])

    def stage(self, design: str) -> int:
        """Return the number of a stage, counted from 0, by the hash of its design.

        Raises:
            Incompatible: a design of something else.
        """
        for number, stage in enumerate(self.designs):
            if stage.hash == design:
                return number
        raise Incompatible(
            f"the design {quoted(design, 30)} is not one of {self.name!r}; expected {self.design.hash:.19}…"
            + (
                f" or one of its {self.stages - 1} finer stages."
                if self.ladder
                else "."
            ),
            "Draw the response with the definition that this survey has now.",
        )

    def labels(self, language: str) -> Sequence[str]:
        """Return what the categories are called in a language."""
        texts = self.texts[language]
        if texts.parts:
            return Combinations(self.part_labels(language))
        known = self.design.categories
        return known if isinstance(known, Texts) else texts.labels or known

    def part_labels(self, language: str) -> tuple[tuple[str, ...], ...]:
        """Return what the answers to each attribute are called in a language, of a question in parts."""
        pairs = zip(self.texts[language].parts, self.part_categories, strict=True)
        return tuple(tuple(texts.labels or known) for texts, known in pairs)

    @property
    def part_categories(self) -> tuple[Sequence[str], ...]:
        """The categories of each attribute; none of a question about a single one."""
        known = self.design.categories
        return known.parts if isinstance(known, Combinations) else ()

    @property
    def ticked(self) -> bool:
        """Whether what applies is ticked in a list."""
        ticked = find_operation(self.about, "ticked")
        return ticked is not None and ticked(self.about)

    def symbols(self, language: str) -> Sequence[str]:
        """Return what the responses of the coarsest stage are called in a language."""
        if self.texts[language].symbols:
            return self.texts[language].symbols
        return (
            self.labels(language)
            if self.design.symbols == self.design.categories
            else self.design.symbols
        )

    def to_body(self) -> dict[str, Any]:
        """Return the question for JSON. Its design or ladder is whole, with a schema and a hash of its own.

        Where the type of question is another one, its design stands beside the one that draws.
        """
        kind = "ladder" if self.ladder else "design"
        is_fielded = self.fielded.hash == self.about.hash
        return {
            "name": self.name,
            "device": self.device,
            kind: json.loads(self.fielded.to_json()),
            **spoken.present(
                about=None if is_fielded else json.loads(self.about.to_json()),
                acknowledge=told.acknowledged_text(self.acknowledge),
                check=self.check,
                right=self.right,
                compare=self.compare,
            ),
            "texts": spoken.to_body(self.texts),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Question:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: not a question.
            InvalidRequest: well-formed, but not one that can be asked.
        """
        kind = next((key for key in ("about", "ladder") if key in body), "design")
        text = json.dumps(documents.field(body, kind, dict), ensure_ascii=False)
        name = documents.field(body, "name", str)
        return cls(
            name=name,
            about=read_design(text),
            texts=spoken.from_body(QuestionTexts, body.get("texts"), repr(name)),
            device=documents.field(body, "device", str),
            acknowledge=told.read_acknowledged(body.get("acknowledge"), repr(name)),
            **{
                field: documents.field(body, field, str)
                for field in ("check", "right", "compare")
                if field in body
            },
        )

    def _with_parts(self, texts: QuestionTexts) -> QuestionTexts:
        """Return texts with a part for each attribute of a fielded design: its label, or its name."""
        names = getattr(self.fielded, "attributes", ())
        if texts.parts or not (names and isinstance(self.fielded, FieldedDesign)):
            return texts
        if texts.labels and len(texts.labels) != len(names):
            raise InvalidRequest(
                f"{self.name!r} has {len(texts.labels)} labels; expected {len(names)}, one for each item."
            )
        parts = tuple(map(PartTexts, texts.labels or names))
        return replace(texts, labels=(), parts=parts)

    def _check_physical(self) -> None:
        if isinstance(self.fielded, FieldedDesign):
            check_surface(self.about, "field kit")
        if self.stages > 1:
            raise InvalidRequest(
                f"{self.name!r} has {self.stages} stages and a physical device; expected one stage.",
                'Dice cannot raise a response that is out. Write device = "browser", or ask for one stage.',
            )
        if self.design.channel.responses > _MAX_SHOWN:
            raise InvalidRequest(
                f"{self.name!r} has more than {_MAX_SHOWN} responses and a physical device; expected fewer, to choose "
                "from by hand."
            )

    def _check_parts(self) -> None:
        """Refuse parts that are not those of the design, in every language or in none."""
        counts = {len(texts.parts) for texts in self.texts.values()}
        if not any(counts):
            return
        attributes = len(self.design.attributes)
        if counts != {attributes} or self.device == "physical":
            raise InvalidRequest(
                f"{self.name!r} has {' or '.join(map(str, sorted(counts)))} parts; expected {attributes or 'none'}, "
                "one for each attribute of its design, in every language, and a device in the browser.",
                "Build the design with the family product, and write a part for each of its attributes.",
            )
        for texts in self.texts.values():
            for words, attribute, known in zip(
                texts.parts,
                self.design.attributes,
                self.part_categories,
                strict=True,
            ):
                if words.labels and len(words.labels) != len(known):
                    raise InvalidRequest(
                        f"the part {attribute!r} of {self.name!r} has {len(words.labels)} labels; expected "
                        f"{len(known)}, one for each."
                    )
        for attribute, factor in self.design.factors:
            if factor.symbols != factor.categories:
                raise InvalidRequest(
                    f"the part {attribute!r} of {self.name!r} sends {quoted(factor.symbols[0])} and the like; "
                    "expected responses that are called as its answers are.",
                    "Take a design such as warner or k_ary for a part.",
                )

    def _check_instructions(self) -> None:
        """Refuse a physical device that nobody says how to use, and instructions for one that runs by itself."""
        told_in = [tag for tag, texts in self.texts.items() if texts.instructions]
        if self.device != "physical":
            if told_in:
                raise InvalidRequest(
                    f"{self.name!r} has instructions, and its device runs in the browser; expected none.",
                    'Write help for what is asked, or device = "physical".',
                )
            return
        missing = sorted(set(self.texts) - set(told_in))
        if (
            missing
            and tool_for(self.design, locale(missing[0]).words["device"]) is None
        ):
            raise InvalidRequest(
                f"{self.name!r} has a physical device that no coins, dice or cards make as usual, and no instructions "
                f"in {', '.join(missing)}; expected instructions in every language.",
                'Say what to throw or draw, and what to enter then: instructions = "…". Or choose probabilities that '
                'a die makes, such as p = "2/3".',
            )
        if missing and told_in:
            raise InvalidRequest(
                f"{self.name!r} has instructions in {', '.join(told_in)} and none in {', '.join(missing)}; expected "
                "them in every language, or in none."
            )

    def _translate_texts(self, language: str, texts: QuestionTexts) -> QuestionTexts:
        """Return texts in which categories and responses are called as people of the language do.

        Words that designs bring along ("yes", "same") are translated where the catalogue can, and written into the
        definition: what people saw is under its hash. Other words must be given.
        """
        if self.design.answer_form == "numbers":
            return self._with_numbers(language, texts)
        if texts.parts:
            pairs = zip(texts.parts, self.part_categories, strict=True)
            parts = [self._with_labels(language, *pair) for pair in pairs]
            return replace(texts, parts=tuple(parts))
        texts = self._with_labels(language, texts, self.design.categories)
        if texts.symbols or not self._needs_symbols(language):
            return texts
        symbols = self._words(language, self.design.symbols, "symbols")
        return replace(texts, symbols=symbols)

    def _with_labels(
        self, language: str, texts: _Labelled, categories: Sequence[str]
    ) -> _Labelled:
        """Return texts in which answers that designs bring along are called as people of the language do."""
        is_known = (
            size(categories) <= len(WORDS)
            and WORDS.issuperset(categories)
            and not _is_english(language)
        )
        if texts.labels or not is_known:
            return texts
        labels = self._words(language, categories, "labels")
        return replace(texts, labels=labels)

    def _needs_symbols(self, language: str) -> bool:
        """Say whether responses have words that are not those of the categories, nor of the language."""
        design, channel = self.design, self.design.channel
        if (
            design.symbols == design.categories
            or isinstance(design, FieldedDesign)
            or channel.sizes
            or channel.responses > _MAX_SHOWN
        ):
            return False
        words = {
            symbol for symbol in design.symbols if any(map(str.isalpha, symbol))
        }
        if words <= WORDS:
            return bool(words) and not _is_english(language)
        return len(self.texts) > 1

    def _with_numbers(self, language: str, texts: QuestionTexts) -> QuestionTexts:
        """Return texts in which levels are written as numbers are in the language, where that is otherwise."""
        written, design = locale(language).written, self.design
        labels, symbols = (
            tuple(map(written, names))
            for names in (design.categories, design.symbols)
        )
        plain = labels == tuple(design.categories) and symbols == tuple(
            design.symbols
        )
        if plain or texts.labels or texts.symbols:
            return texts
        return replace(
            texts, labels=labels, symbols=() if symbols == labels else symbols
        )

    def _words(
        self, language: str, labels: Sequence[str], field: str
    ) -> tuple[str, ...]:
        spoken = locale(language)
        is_spoken = spoken.language == language.partition("-")[0]
        translations = spoken.words["symbols"] if is_spoken else {}
        if not translations.keys() >= set(labels):
            raise InvalidRequest(
                f"{self.name!r} is asked in {language!r}, and nobody has said what {', '.join(map(repr, labels[:4]))} "
                f"are called there; expected {field} in its texts.",
                f'Write {field} = ["…", "…"] in the texts of this question in this language.',
            )
        return tuple(translations[label] for label in labels)

    def _check_labels(self, texts: QuestionTexts) -> None:
        if texts.symbols and any(
            design.symbols != self.design.symbols for design in self.designs
        ):
            raise InvalidRequest(
                f"the stages of {self.name!r} have different responses; expected no symbols in its texts."
            )
        for field, label_texts, expected in (
            ("labels", texts.labels, self.design.channel.answers),
            ("symbols", texts.symbols, self.design.channel.responses),
        ):
            is_entered = isinstance(self.design.categories, Texts)
            if label_texts and not is_entered and len(label_texts) != expected:
                raise InvalidRequest(
                    f"{self.name!r} has {len(label_texts)} {field}; expected {expected:,}, one for each."
                )


def _is_english(language: str) -> bool:
    return language.partition("-")[0] == "en"


def check_slug(name: object, subject: str) -> None:
    """Refuse a name that does not fit into an address.

    Raises:
        InvalidRequest: it does not.
    """
    if not isinstance(name, str) or not SLUG.fullmatch(name):
        raise InvalidRequest(
            f"{subject} is called {quoted(name, 50)}; expected up to 40 letters a to z, digits and hyphens, no "
            "hyphen first."
        )
