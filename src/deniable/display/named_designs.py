"""Named designs in the words of a methods section: what people did, with the probabilities that their channel has.

Every number is read off the channel. A design whose channel is not the one of its name is told by its probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.designs import Design

_MAX_DENOMINATOR = (
    9_999  # of a fraction that people read; others are written as decimals
)
MAX_LISTED = 11  # levels, or cards, that are named one by one


@dataclass(frozen=True, slots=True)
class NamedDesign:
    """What a family is called in a paper.

    Attributes:
        title: the name of the method.
        authors: whose it is, as a paper cites it; empty where the documentation names nobody.
    """

    title: str
    authors: str = ""

    @property
    def cited(self) -> str:
        """The name with its source."""
        return f"{self.title}; {self.authors}" if self.authors else self.title


NAMED = {
    "warner": NamedDesign("Warner's design", "Warner 1965"),
    "mirrored": NamedDesign("the mirrored question", "Warner 1965"),
    "crosswise": NamedDesign("the crosswise model", "Yu, Tian and Tang 2008"),
    "triangular": NamedDesign("the triangular model", "Yu, Tian and Tang 2008"),
    "number_sequence": NamedDesign(
        "the crosswise model with number sequences", "Yu, Tian and Tang 2008"
    ),
    "forced_response": NamedDesign("forced response", "Boruch 1971"),
    "forced_choice": NamedDesign(
        "forced response with several categories", "Boruch 1971"
    ),
    "simmons": NamedDesign("the unrelated question", "Greenberg et al. 1969"),
    "mangat_unrelated": NamedDesign(
        "the two-stage unrelated question", "Mangat 1992"
    ),
    "correlated_question": NamedDesign(
        "the unrelated question with a correlated trait",
        "Soberanis-Cruz et al. 2008",
    ),
    "mangat_singh": NamedDesign("the two-stage procedure", "Mangat and Singh 1990"),
    "mangat_singh_singh": NamedDesign(
        "the improved unrelated question", "Mangat, Singh and Singh 1992"
    ),
    "mangat": NamedDesign("the improved Warner design", "Mangat 1994"),
    "devore": NamedDesign(
        "the unrelated question that everybody answers with yes", "Devore 1977"
    ),
    "hard_garbling": NamedDesign("hard garbling", "Chassang and Zehnder 2019"),
    "singh_joarder": NamedDesign(
        "Warner's design with a second draw", "Singh and Joarder 1997"
    ),
    "disguised": NamedDesign("the disguised response", "Kuk 1990"),
    "kuk": NamedDesign("two decks of cards", "Kuk 1990"),
    "christofides": NamedDesign("numbered cards", "Christofides 2003"),
    "negative_survey": NamedDesign("the negative survey", "Esponda 2006"),
    "k_ary": NamedDesign(
        "k-ary randomized response", "Kairouz, Bonawitz and Ramage 2016"
    ),
    "subset": NamedDesign("sets of categories", "Chai 2019"),
    "relaxed_subset": NamedDesign("sets of categories under (ε, δ)"),
    "exposing_subset": NamedDesign("sets of categories that expose a share δ"),
    "unary": NamedDesign("unary encoding", "Wang et al. 2017"),
    "local_hashing": NamedDesign("local hashing", "Wang et al. 2017"),
    "rappor": NamedDesign("one-hot RAPPOR", "Erlingsson, Pihur and Korolova 2014"),
    "hadamard": NamedDesign("Hadamard response", "Acharya, Sun and Zhang 2019"),
    "window": NamedDesign("windows of neighbouring answers", "Wang et al. 2019"),
    "direct": NamedDesign("a direct question"),
    "matrix": NamedDesign("a device with given probabilities"),
    "binary": NamedDesign("two answers with given probabilities"),
    "product": NamedDesign("several questions, each with a device of its own"),
}
"""What families are called; those that are not here by their own names, in words."""


def device_clause(design: Design) -> str | None:
    """Describe in a clause what respondents did; None where the probabilities have to be listed.

    Example:
        >>> from deniable.designs import forced_response
        >>> device_clause(forced_response("2/3", "1/6", "1/6")).partition(" to answer")[0]
        'a random device told respondents'
    """
    describe = _CLAUSES.get(design.name)
    if describe is None or design.channel.answers != 2:
        return exchangeable_clause(design)
    no, yes = (
        [
            design.channel.probability(y, given=x)
            for y in range(design.channel.responses)
        ]
        for x in (0, 1)
    )
    return describe(design, no, yes) or exchangeable_clause(design)


def exchangeable_clause(design: Design) -> str | None:
    """Describe a channel that treats all categories alike; None for another."""
    channel = design.channel
    if not channel.exchangeable:
        return None
    p_kept, p_other = (
        print_probability(channel.probability(number, given=0)) for number in (0, 1)
    )
    alternatives = (
        "the other one"
        if channel.answers == 2
        else f"each of the {channel.answers - 1:,} others"
    )
    return f"the true answer is sent with probability {p_kept}, and {alternatives} with probability {p_other}"


def print_probability(chance: Fraction) -> str:
    """Return a probability as people print it: a fraction where it is a short one, else a decimal of six digits.

    Example:
        >>> [print_probability(each) for each in (Fraction(3, 4), Fraction(1), Fraction(2**63 - 1, 2**64))]
        ['3/4', '1', '0.5']
    """
    return (
        str(chance)
        if chance.denominator <= _MAX_DENOMINATOR
        else f"{float(chance):.6g}"
    )


_Chances = Sequence[Fraction]  # of each response, given an answer


def _forced_response_text(design: Design, no: _Chances, yes: _Chances) -> str:
    first, second = design.categories
    return (
        "a random device told respondents to answer truthfully with probability "
        f"{print_probability(yes[1] - no[1])}, to say "
        f"“{second}” whatever is true with probability {print_probability(no[1])}, and to say “{first}” "
        "whatever is true with "
        f"probability {print_probability(yes[0])}"
    )


def _unrelated_question_text(
    design: Design,  # noqa: ARG001 - as its neighbours
    no: _Chances,
    yes: _Chances,
) -> str | None:
    p = yes[1] - no[1]
    if not 0 < p < 1:
        return None
    return (
        "a random device had respondents answer the sensitive question with probability "
        f"{print_probability(p)}, and else an "
        f"unrelated one, to which a share of {print_probability(no[1] / (1 - p))} says yes"
    )


def _always_yes(design: Design, no: _Chances, yes: _Chances) -> str | None:  # noqa: ARG001 - as its neighbours
    if yes[1] != 1:
        return None
    return (
        "a random device had respondents answer the sensitive question with probability "
        f"{print_probability(no[0])}, and else "
        "one to which everybody says yes"
    )


def _crosswise(design: Design, no: _Chances, yes: _Chances) -> str | None:
    if no[0] != yes[1]:
        return None
    harmless = (
        "a statement about a number sequence that they had picked"
        if design.name != "crosswise"
        else "a harmless one"
    )
    first, second = design.categories
    return (
        f"respondents answered the sensitive question and {harmless}, to which a share of "
        f"{print_probability(yes[1])} says yes, "
        "for themselves, and told only whether the two answers were the same; “same” was sent with probability "
        f"{print_probability(yes[1])} where the sensitive answer is “{second}”, and with probability "
        f"{print_probability(no[1])} where it "
        f"is “{first}”"
    )


def _triangular(design: Design, no: _Chances, yes: _Chances) -> str | None:
    if yes[1] != 1:
        return None
    first, second = design.categories
    return (
        "respondents answered the sensitive question and a harmless one, to which a share of "
        f"{print_probability(no[1])} says "
        "yes, for themselves, and told only whether at least one of the two answers was yes; “at least one” was always "
        f"sent where the sensitive answer is “{second}”, and with probability {print_probability(no[1])} where "
        f"it is “{first}”"
    )


def _mangat(design: Design, no: _Chances, yes: _Chances) -> str | None:
    if yes[1] != 1:
        return None
    first, second = design.categories
    return (
        f"respondents whose answer is “{second}” said so; a random device had the others say “{first}” with "
        f"probability {print_probability(no[0])} and “{second}” with probability {print_probability(no[1])}"
    )


def _garbling_text(design: Design, no: _Chances, yes: _Chances) -> str | None:
    if yes[1] != 1:
        return None
    first, second = design.categories
    return (
        f"the application turned an answer “{first}” into “{second}” with probability "
        f"{print_probability(no[1])}, and left "
        f"“{second}” as it was"
    )


def _decks(design: Design, no: _Chances, yes: _Chances) -> str:
    first, second = design.categories
    draws = len(no) - 1
    red, red_otherwise = (
        print_probability(
            sum(
                (count * chance for count, chance in enumerate(chances)), Fraction(0)
            )
            / draws
        )
        for chances in (yes, no)
    )
    drew = "drew a card" if draws == 1 else f"drew {draws} cards, each put back,"
    return (
        f"respondents whose answer is “{second}” {drew} from a deck with a share of {red} of red cards, those whose "
        f"answer is “{first}” from one with a share of {red_otherwise}, and told "
        + ("its colour" if draws == 1 else "how many were red")
    )


def _numbered_cards_text(design: Design, no: _Chances, yes: _Chances) -> str | None:
    if list(yes) != list(reversed(no)) or len(no) > MAX_LISTED:
        return None
    first, second = design.categories
    cards = ", ".join(print_probability(chance) for chance in no)
    return (
        f"respondents drew a card with a number from 1 to {len(no)} (with probabilities {cards}), and told the number "
        f"where the answer is “{first}”, and {len(no) + 1} minus the number where it is “{second}”"
    )


_CLAUSES: dict[str, Callable[[Design, _Chances, _Chances], str | None]] = {
    "forced_response": _forced_response_text,
    "simmons": _unrelated_question_text,
    "devore": _always_yes,
    "crosswise": _crosswise,
    "number_sequence": _crosswise,
    "triangular": _triangular,
    "mangat": _mangat,
    "hard_garbling": _garbling_text,
    "disguised": _decks,
    "kuk": _decks,
    "christofides": _numbered_cards_text,
}
