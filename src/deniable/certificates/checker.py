"""Check certificates of `deniable` with this file and the standard library alone: python checker.py FILE …

The checker reads the document inside a certificate, recomputes every claim and every caveat from it, and compares. It
takes only witnesses, priors and garblings from the certificate, and verifies each. It refuses fields that are missing,
unknown or repeated, and numbers beyond its limits before it computes with them. docs/theory/certificates.md has the
theorems.

The file reads from top to bottom: the certificate; a section for each schema; the claims of a channel; a section for
each kind of channel; garblings; composition and δ; JSON, numbers and limits. Every certificate is answered within two
seconds of processor time; `charge` says why.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial
from itertools import groupby, pairwise, permutations, product
from pathlib import Path
from typing import Any

Json = Any  # a value of JSON
Body = dict[str, Json]  # an object of JSON
# weights of a 1 for the answer's own bit and for others, and their total
Bit = tuple[int, int, int]
Ratio = Fraction | float  # exact, or infinite
# weights of groups of responses under two answers
Groups = tuple[tuple[int, int], ...]
# of a response, by answer
Likelihood = Callable[[int], Callable[[int], int]]

ZERO = Fraction(0)
MAX_LISTED = 256  # cells of a channel whose Bayes factors are all listed
MAX_ANSWERS = 100_000  # answers that one response is compared over
MAX_COMPARED = 100_000  # pairs of answers × responses of a table
MAX_TERMS = 50_000  # products of groups of two parts
MAX_PARTS = 16  # parts whose groups are multiplied
MAX_CARDS = 2_000
MAX_HANDS = 200_000  # sorts of hands of a deck
MAX_SET = 1 << 24  # categories of sets
MAX_VALUES = 1 << 31  # values of a hash
MAX_POWER = 256  # of a prime, as the number of values
MAX_NUMBER = 1 << 53  # all other integers that are numbers of JSON
MAX_DIGITS = 4_000  # of a weight
MAX_COST = 1_000_000  # microseconds


class Rejected(Exception):
    """The certificate is not accepted: something in it does not hold."""


@dataclass(frozen=True, kw_only=True)
class PairedResponses:
    """How responses depend on answers: of one channel, or of parts that are sent together.

    For a pair of answers, `pairs` has the groups of responses that have one ratio of probabilities. A group (p, q) has
    probability p / total under the first answer and q / total under the second. `pairs` is None if they are too many.
    """

    parity: Ratio  # the largest ratio of the probabilities of one response under two answers
    pairs: list[Groups] | None
    total: int
    parts: tuple[PairedResponses, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SingleChannel(PairedResponses):
    """One channel. Each kind of garbling is verified by one of the last four fields.

    `likelihood(i)(j)` is the probability of response i given answer j, up to a factor that depends on i alone.
    """

    categories: int
    responses: int
    likelihood: Likelihood
    # whether every response has two likelihoods, with the parity as their ratio
    is_admissible: bool | None
    # if not 0, only so many responses are looked up: those of the first hash
    first: int = 0
    # the total of a column, of a channel that can be written out
    table: int = 0
    # the supports of responses, and n·P of both levels
    levels: tuple[Any, ...] = ()
    # for each size of sets its probability, and that of being such a set and holding the answer
    sizes: dict[int, tuple[Fraction, Fraction]] = field(default_factory=dict)
    bit: Bit = (0, 0, 0)


@dataclass(frozen=True)
class Checked:
    """The recomputed claims and caveats of a document, and the law behind them."""

    claims: Body
    caveats: list[str]
    law: PairedResponses


# ---- The certificate -------------------------------------------------------------------------------------------------


def verify(source: str | bytes) -> Body:
    """Return the certificate if all of its claims and caveats follow from its document; raise `Rejected` otherwise."""
    BUDGET.left = MAX_COST
    try:
        certificate: Body = parse(source)
        check_fields(certificate, "schema document claims caveats hash")
        check(
            certificate["schema"] == "deniable/certificate/1",
            "it is of another version",
        )
        check_hashes(certificate, "the certificate")
        document = certificate["document"]
        kind = document["schema"].removeprefix("deniable/").removesuffix("/1")
        checked = SUBJECTS[kind](
            open_document(document, kind), certificate["claims"]
        )
        compare(checked.claims, certificate["claims"], "claims")
        compare(checked.caveats, certificate["caveats"], "caveats")
    except Rejected:
        raise
    # whatever goes wrong, the certificate is not accepted
    except Exception as error:
        raise Rejected(f"it is not a certificate: {error!r:.80}") from None
    return certificate


def compare(own: Json, stated: Json, where: str) -> None:
    """Refuse a stated value that is not the recomputed one, and name the first place where they differ."""
    if canonical(own) == canonical(stated):
        return
    places: Iterable[Any] = ()
    if type(own) is type(stated) is dict and own.keys() == stated.keys():
        places = own
    elif type(own) is type(stated) is list and len(own) == len(stated):
        places = range(len(own))
    for place in places:
        compare(own[place], stated[place], f"{where}/{place}")
    raise Rejected(
        f"{where} is {canonical(stated):.60}; expected {canonical(own):.60}"
    )


def main(paths: Sequence[str]) -> None:
    """Print for each file whether it is accepted, and stop at the first one that is not."""
    for path in paths:
        try:
            certificate = verify(Path(path).read_bytes())
        except (OSError, Rejected) as error:
            sys.exit(printable(f"{path}: REJECTED: {error}"))
        claims, digest = certificate["claims"], certificate["document"]["hash"]
        lines = [
            f"{path}: accepted: ε = {claims['epsilon']}, parity {claims['parity']}, of {digest}"
        ]
        print(
            *map(
                printable, lines + [f"  {text}" for text in certificate["caveats"]]
            ),
            sep="\n",
        )


def printable(text: str) -> str:
    """Escape characters that a terminal would act on or hide: labels are free text."""
    return "".join(
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text
    )


# ---- Designs for categories and numbers ------------------------------------------------------------------------------

NUMBER_CAVEAT = "A number is first rounded to a level of its range, which tells no more than the number."
UNRELATED_CAVEAT = (
    "The ε of the unrelated question holds only against those who do not know its answer: a yes from somebody whose "
    "unrelated answer is known to be no proves the sensitive one. Let a random device answer the unrelated question."
)
FAMILY_CAVEATS = {
    "simmons": UNRELATED_CAVEAT,
    "mangat_unrelated": UNRELATED_CAVEAT,
    "correlated_question": UNRELATED_CAVEAT,
    "mangat_singh_singh": UNRELATED_CAVEAT,
    "crosswise": (
        "The ε of the crosswise model holds only against those who do not know the answer to the harmless question; "
        "whoever knows it reads the sensitive answer off the response. Let a random device answer the harmless "
        "question."
    ),
    "number_sequence": (
        "The ε of the number sequences holds only against those who do not see which sequence the respondent picked; "
        "whoever sees it reads the sensitive answer off the response."
    ),
    "triangular": (
        "What a yes of the triangular model hides holds only against those who do not know the answer to the harmless "
        "question: from somebody who is known to say no to it, the response gives the sensitive answer away."
    ),
    "hard_garbling": (
        "In hard garbling the application turns the answers over, so the true answer reaches it: this hides nothing "
        "from whoever runs the application."
    ),
    "direct": "Answers are sent as they are; nothing is hidden.",
    "exposing_subset": (
        "Some respondents, drawn at random, send their answer as it is: for them nothing is hidden. Their share is the "
        "δ that remains at every ε."
    ),
}


def design(body: Body, stated: Body) -> Checked:
    """Check a design: a channel with labels, or several attributes side by side."""
    if "factors" not in body:
        return single_design(body, stated)
    check_fields(body, "name factors")
    check_text(body["name"])
    parts = attributes(body, stated)
    claims, law = combine(parts)
    caveat = factor_caveat(body)
    return Checked(claims, [caveat] if caveat else [], law)


def single_design(body: Body, stated: Body) -> Checked:
    """Check a design for one question: the claims of its channel, and as many labels as the channel has."""
    check_fields(body, "name categories symbols channel", "range")
    check_text(body["name"])
    channel = read_channel(body["channel"])
    labels = n_labels(body["categories"]), n_labels(body["symbols"])
    check(
        labels == (channel.categories, channel.responses),
        "there are other labels than the channel has answers and responses",
    )
    caveat = FAMILY_CAVEATS.get(body["name"], "")
    if "range" in body:
        low, high = map(fraction, body["range"])
        check(low < high, "the range is empty")
        caveat = NUMBER_CAVEAT
    return Checked(
        channel_claims(channel, stated), [caveat] if caveat else [], channel
    )


def n_labels(labels: Json) -> int:
    """Return the number of labels: of a list, as a number, or 2^bits for sets."""
    if isinstance(labels, dict):
        check_fields(labels, "bits")
        return n_sets(integer(labels["bits"], 2, MAX_SET))
    if not isinstance(labels, list):
        return integer(labels, 2, MAX_NUMBER)
    check_text(*labels)
    check(len(set(labels)) == len(labels), "a label occurs twice")
    return len(labels)


def attributes(body: Body, stated: Body) -> dict[str, Checked]:
    """Check the designs of two or more attributes, by name."""
    for factor in body["factors"]:
        check_fields(factor, "attribute design")
    names = [factor["attribute"] for factor in body["factors"]]
    check_text(*names)
    check(
        len(set(names)) == len(names) >= 2,
        "there are fewer than two attributes, or one of them twice",
    )
    check(
        stated["parts"].keys() == set(names), "parts are claimed that are not there"
    )
    return {
        factor["attribute"]: single_design(
            factor["design"], stated["parts"][factor["attribute"]]
        )
        for factor in body["factors"]
    }


def factor_caveat(body: Body) -> str:
    """Return the caveats of the attributes' families in one text."""
    families = {
        factor["attribute"]: factor["design"]["name"] for factor in body["factors"]
    }
    return " ".join(
        f"{attribute!r}: {FAMILY_CAVEATS[name]}"
        for attribute, name in families.items()
        if name in FAMILY_CAVEATS
    )


# ---- Attributes of which some are drawn ------------------------------------------------------------------------------


def drawn_design(body: Body, stated: Body) -> Checked:
    """Check attributes of which `each` are drawn for a respondent."""
    check_fields(body, "factors each")
    parts = attributes(body, stated)
    claims, law = combine(parts, integer(body["each"], 1, len(parts) - 1))
    caveat = factor_caveat(body)
    sentence = (
        "Which items were drawn is sent along; it does not depend on the answers."
    )
    return Checked(claims, [sentence, *([caveat] if caveat else [])], law)


def bucket_design(body: Body, stated: Body) -> Checked:
    """Check numbers in buckets: 4, 16, … nodes are the attributes, and a response is about one of them."""
    check_fields(body, "factors each buckets")
    tree = body["buckets"]
    check_fields(tree, "range count spacing")
    check_text(tree["spacing"], *tree["range"])
    levels = [f"1/{4**level}" for level in range(1, len(body["factors"]) + 1)]
    check(
        [factor["attribute"] for factor in body["factors"]] == levels
        and tree["count"] == 4 ** len(levels),
        "the levels are not those of the buckets",
    )
    claims, law = combine(attributes(body, stated), integer(body["each"], 1, 1))
    sentences = [
        "Which level was drawn is sent along; it does not depend on the number.",
        "A number tells its bucket, and the bucket its nodes: they reveal no more than the number.",
    ]
    return Checked(claims, sentences, law)


# ---- Ladders: all stages together tell what the last one does --------------------------------------------------------


def ladder(body: Body, stated: Body) -> Checked:
    """Check stages of one answer: each is a garbling P₁ = C·P₂ of the next, so the last one's claims hold for all."""
    check_fields(body, "designs steps")
    stages = [
        design(*stage)
        for stage in zip(body["designs"], stated["parts"], strict=True)
    ]
    questions = {canonical(question_of(stage)) for stage in body["designs"]}
    check(len(questions) == 1, "stages have other categories")
    garblings = zip(
        body["steps"], stated["garblings"], stages[:-1], stages[1:], strict=True
    )
    for drawn, garbling, old, new in garblings:
        check_garbling(drawn, garbling, old.law, new.law)
    last = stages[-1]
    claims = {name: last.claims[name] for name in ("parity", "epsilon", "delta")}
    claims |= {
        "rule": "last",
        "parts": [stage.claims for stage in stages],
        "garblings": stated["garblings"],
    }
    return Checked(claims, last.caveats, last.law)


def question_of(body: Body) -> list[Json]:
    """Return what a stage asks for: the categories of each attribute, and the range of numbers."""
    if "factors" in body:
        return [
            [factor["attribute"], question_of(factor["design"])]
            for factor in body["factors"]
        ]
    return [body["categories"], body.get("range")]


# ---- Surveys ---------------------------------------------------------------------------------------------------------


def survey(body: Body, stated: Body) -> Checked:
    """Check all questions together, or the `each` that reveal most where some are drawn."""
    settings = "name languages texts groups minimum opens closes admission"
    check_fields(
        body, f"{settings} questions", "each arms acknowledge keys pilot planned"
    )
    check_text(body["name"], body["opens"], body["closes"], body["admission"])
    names = [question["name"] for question in body["questions"]]
    check_text(*names)
    check(
        len(set(names)) == len(names) >= 1,
        "there is no question, or one of them twice",
    )
    check(
        stated["parts"].keys() == set(names), "parts are claimed that are not there"
    )
    parts = {
        question["name"]: survey_question(
            question, stated["parts"][question["name"]]
        )
        for question in body["questions"]
    }
    check(not ("each" in body and "arms" in body), "questions are drawn twice")
    each = integer(body["each"], 1, len(parts) - 1) if "each" in body else None
    claims, law = combine(parts, each)
    return Checked(claims, survey_caveats(body, parts), law)


def survey_question(question: Body, stated: Body) -> Checked:
    """Check the design or the ladder of a question; both are sealed."""
    kind = "ladder" if "ladder" in question else "design"
    check_fields(question, f"name device texts {kind}", "acknowledge check compare")
    check_text(
        question["device"],
        *(
            question[name]
            for name in ("acknowledge", "check", "compare")
            if name in question
        ),
    )
    schema = question[kind]["schema"].removeprefix("deniable/").removesuffix("/1")
    check((kind == "ladder") == (schema == "ladder"), "this is no design")
    check(schema in FIELDED, "this is no design that a page draws with")
    return SUBJECTS[schema](open_document(question[kind], schema), stated)


def survey_caveats(body: Body, parts: dict[str, Checked]) -> list[str]:
    """Return the caveats of all questions, and those of the survey."""
    sentences = [
        f"{name}: {text}" for name, part in parts.items() for text in part.caveats
    ]
    sentences += [
        f"{question['name']}: a comprehension check, which is about the device; it is counted here all the same."
        for question in body["questions"]
        if "check" in question
    ]
    if "arms" in body:
        sentences.append(
            "Each respondent is asked the questions of one arm; all questions are counted here all the same."
        )
    sentences.append(
        "Other things that a survey learns, such as a group or the time of a response, are not covered."
    )
    return sentences


# ---- Strings: filters of up to h ones, each bit randomized by itself -------------------------------------------------


def string_design(body: Body, stated: Body) -> Checked:
    """Check a design for strings.

    Two strings differ in n bits that are 1 for the first alone, and in m that are 1 for the second alone. More such
    bits never tell less, so m is as large as n allows. The groups are those of `bit_groups`.
    """
    check_fields(body, "bloom channel")
    k, hashes = read_filter(body["bloom"])
    channel = read_channel(body["channel"])
    total = channel.bit[2]
    check(
        total and channel.categories == k, "the channel is not one of so many bits"
    )
    differing = [(n, min(hashes, k - n)) for n in range(1, min(hashes, k - 1) + 1)]
    pairs = distinct(bit_groups(channel.bit, n, m, 2 * hashes) for n, m in differing)
    parity = max(ratio(p, q) for groups in pairs for p, q in groups)
    response, *filters = read_witness(stated["witness"], 1 << k, 1 << k)
    check(
        all(ones.bit_count() <= hashes for ones in filters),
        "this is no witness: a filter has more ones than hashes",
    )
    chances = [bit_weight(channel.bit, response, ones, filters) for ones in filters]
    check(ratio(*chances) == parity, "this is no witness of the parity")
    law = PairedResponses(parity=parity, pairs=pairs, total=total ** (2 * hashes))
    claims = {
        "rule": "bits",
        **guarantee(law),
        "witness": witness_claim(response, *filters),
    }
    sentence = "The cohort is sent along; it is drawn before anything is known of the string."
    return Checked(claims, [sentence], law)


def read_filter(bloom: Body) -> tuple[int, int]:
    """Return the numbers of bits and of hashes of a filter; with an alphabet, prefixes are filtered as well."""
    check_fields(
        bloom,
        "hash bits hashes cohorts"
        + (" alphabet lengths" if "alphabet" in bloom else ""),
    )
    check_text(bloom["hash"], bloom.get("alphabet", ""))
    lengths = [integer(length, 1, MAX_NUMBER) for length in bloom.get("lengths", ())]
    check(
        all(a < b for a, b in pairwise(lengths)), "lengths of prefixes do not rise"
    )
    integer(bloom["cohorts"], 1, MAX_NUMBER)
    return integer(bloom["bits"], 2, 1 << 20), integer(bloom["hashes"], 1, 16)


def bit_groups(bit: Bit, n: int, m: int, power: int) -> Groups:
    """Return the groups of n and m bits, over total^power, with a ones among the n and b among the m.

    p = B(a; n, hit)·B(b; m, stray) and q = B(a; n, stray)·B(b; m, hit), where B is the binomial distribution.
    """
    hit, stray, total = bit

    def binomial(bits: int, ones: int, one: int) -> int:
        powers: int = one**ones * (total - one) ** (bits - ones)
        return math.comb(bits, ones) * powers

    scale = total ** (power - n - m)
    return grouped(
        (
            (
                scale * binomial(n, a, hit) * binomial(m, b, stray),
                scale * binomial(n, a, stray) * binomial(m, b, hit),
            )
            for a in range(n + 1)
            for b in range(m + 1)
        ),
        (n + 1) * (m + 1),
        total**power,
    )


def bit_weight(bit: Bit, response: int, ones: int, filters: Sequence[int]) -> int:
    """Return the weight, given the filter `ones`, of those bits of a response in which two filters differ."""
    hit, stray, total = bit
    weight, differing = 1, filters[0] ^ filters[1]
    while differing:
        lowest = differing & -differing
        one = hit if ones & lowest else stray
        weight *= one if response & lowest else total - one
        differing ^= lowest
    return weight


# ---- Key-value items -------------------------------------------------------------------------------------------------


def item_design(body: Body, stated: Body) -> Checked:
    """Check items with weights: an item is drawn evenly and named, or one of ℓ padded places is drawn."""
    check_fields(body, "name items low high scheme")
    check_text(body["name"])
    check(fraction(body["low"]) < fraction(body["high"]), "the range is empty")
    m, scheme = n_items(body["items"]), body["scheme"]
    if scheme["kind"] == "index":
        check_fields(scheme, "kind symbol")
        symbol = read_symbol(scheme["symbol"])
        return Checked(channel_claims(symbol, stated), [], symbol)
    places = integer(scheme["padding"], 1, m)
    ratios = SCHEMES[scheme["kind"]](scheme, m, places)
    law = PairedResponses(parity=max(ratios.values()), pairs=None, total=1)
    marked = index(stated["witness"]["marked"], m + 1)
    check(ratios.get(marked) == law.parity, "this is no witness of the parity")
    witness = {"marked": index_text(marked)}
    return Checked({"rule": "padded", **guarantee(law), "witness": witness}, [], law)


def n_items(items: Json) -> int:
    """Return the number of items, which may be one alone."""
    names = items if isinstance(items, list) else []
    check_text(*names)
    return 1 if canonical(items) == "1" or len(names) == 1 else n_labels(items)


def read_symbol(body: Body) -> SingleChannel:
    """Read the channel of one item: a table whose answers are none, + and −."""
    channel = read_channel(body)
    fits = channel.table and channel.categories == 3 >= channel.responses
    check(fits, "this is no channel of an item")
    return channel


def vector_ratios(scheme: Body, m: int, places: int) -> dict[int, Ratio]:
    """Return the largest ratio of a vector of symbols, by the number of items that it marks + or −.

    An item in the drawn place multiplies the probability of the vector by P(symbol | item) / P(symbol | none); all is
    multiplied here by P(none | none)·P(+ | none). Between 0, ℓ, m − ℓ and m marked items both extreme sums are linear
    in their number, so the largest ratio is at one of these.
    """
    check_fields(scheme, "kind padding symbol")
    symbol = read_symbol(scheme["symbol"])
    check(symbol.responses == 3, "a symbol is missing")
    p = [[symbol.likelihood(i)(j) for j in range(3)] for i in range(3)]
    mirrored = all(p[i][j] == p[-i % 3][-j % 3] for i in range(3) for j in range(3))
    check(mirrored, "+ and − are treated differently")
    check(p[0][0] and p[1][0], "a symbol never comes without an item")
    signs = p[0][0] * p[1][1], p[0][0] * p[1][2]
    empty, unmarked = (p[0][0] * p[1][0], places), p[0][1] * p[1][0]
    return {
        marked: place_ratio(signs, marked, [(unmarked, m - marked), empty], places)
        for marked in {0, places, m - places, m}
    }


def single_ratios(scheme: Body, m: int, places: int) -> dict[int, Ratio]:
    """Return the largest ratio where one item with a sign is sent (1 is marked), and where nothing is (0).

    A drawn item is sent with weight `same`, with the other sign with `turned`; every other item, with each sign, with
    `other`; nothing with what is left. An empty place sends each item with each sign with `other`.
    """
    check_fields(scheme, "kind padding same turned other total")
    same, turned, other, total = weights(scheme, "same turned other total")
    nothing = total - same - turned - 2 * (m - 1) * other
    idle = total - 2 * m * other
    check(min(nothing, idle) >= 0 < other, "weights do not add up to 1")
    silent = [(nothing, m), (idle, places)]
    return {
        1: place_ratio((same, turned), 1, [(other, places)], places),
        0: place_ratio((same, turned), 0, silent, places),
    }


def place_ratio(
    signs: tuple[int, int], marked: int, others: list[tuple[int, int]], places: int
) -> Ratio:
    """Return the largest ratio of two means over ℓ places, whose values are chosen from (value, number) freely.

    With at most ℓ items the mean is largest for the ℓ largest values; a further item only adds a smaller one.
    """
    most = largest_sum([(max(signs), marked), *others], places)
    negated = [(-value, number) for value, number in others]
    return ratio(most, -largest_sum([(-min(signs), marked), *negated], places))


def largest_sum(values: list[tuple[int, int]], places: int) -> int:
    """Return the sum of the largest `places` of some values, each given with its number."""
    total = 0
    for value, number in sorted(values, reverse=True):
        total += value * min(number, places)
        places -= min(number, places)
    return total


# ---- The weight of one edge ------------------------------------------------------------------------------------------


def edge_design(body: Body, stated: Body) -> Checked:
    """Check the design for the weight of an edge, which is 0, 1/2 or 1."""
    check_fields(body, "items choice")
    n_items(body["items"])
    choice = open_document(body["choice"], "design")
    labels = choice["categories"], choice["symbols"]
    check(labels == (["0", "1/2", "1"],) * 2, "the answers are other weights")
    sentence = (
        "Which item a respondent has an edge to is sent as it is; only the weight of the edge is "
        "protected."
    )
    return replace(single_design(choice, stated), caveats=[sentence])


# ---- Decks: against a collector who knows the cards of all others ----------------------------------------------------

DECK_CAVEAT = (
    "ε is that against a collector who sees all responses and knows the answers of all other respondents; a response "
    "that is seen alone has claims of its own."
)


def deck(body: Body, stated: Body) -> Checked:
    """Check a deck of which each respondent draws a card: members send its number i, others send L + 1 − i.

    The collector knows the n − 1 cards of the others. With c cards of a number and c′ of its mirror image, the parity
    is the largest c / (c′ − (n − 1))₊. The groups are those of `hand_groups`.
    """
    check_fields(body, "counts people categories")
    check(n_labels(body["categories"]) == 2, "there are more than two categories")
    counts = [integer(count, 0, MAX_CARDS) for count in body["counts"]]
    cards, numbers = sum(counts), len(counts)
    fits = 2 <= numbers <= MAX_CARDS >= cards
    check(fits, "there are too few or too many cards")
    lean = sum((2 * at + 1 - numbers) * count for at, count in enumerate(counts))
    check(lean, "members and others send the same on average")
    known = integer(body["people"], 2, cards) - 1
    rows = list(zip(counts, reversed(counts), strict=True))
    apart = {
        at: row for at, row in enumerate(rows) if 2 * at + 1 != numbers and row[0]
    }
    ratios = {at: ratio(a, max(b - known, 0)) for at, (a, b) in apart.items()}
    worst = index(stated["witness"]["response"], numbers)
    check(
        ratios.get(worst) == max(ratios.values()), "this is no witness of the parity"
    )
    left = cards - known
    law = PairedResponses(
        parity=ratios[worst],
        pairs=[hand_groups(list(apart.values()), cards, left)],
        total=math.comb(cards, left) * left,
    )
    claims = {
        "rule": "deck",
        **guarantee(law),
        "witness": {"response": index_text(worst)},
        "alone": channel_claims(table(rows, cards), stated["alone"]),
    }
    return Checked(claims, [DECK_CAVEAT], law)


def hand_groups(apart: list[tuple[int, int]], cards: int, left: int) -> Groups:
    """Return the groups of all hands of the cards that are left, over C(cards, left)·left.

    A hand has x of a cards of one number and y of b of its mirror image, in C(a, x)·C(b, y)·C(cards − a − b, rest)
    ways, and its last respondent sends the number with probability x / left or y / left.
    """
    terms = sum((min(a, left) + 1) * (min(b, left) + 1) for a, b in apart)
    check(terms <= MAX_HANDS, f"δ is a sum of more than {MAX_HANDS:,} terms")

    @cache
    def choices(n: int) -> list[int]:
        charge(2 * min(n, left), n)
        row = [1]
        for chosen in range(min(n, left)):
            row.append(row[-1] * (n - chosen) // (chosen + 1))
        return row

    return grouped(
        (
            (x * ways, y * ways)
            for a, b in apart
            for rest in [choices(cards - a - b)]
            for x, ways_x in enumerate(choices(a))
            for y, ways_y in enumerate(choices(b))
            if 0 <= left - x - y < len(rest)
            for ways in [ways_x * ways_y * rest[left - x - y]]
        ),
        terms,
        math.comb(cards, left) * left,
    )


SUBJECTS: dict[str, Callable[[Body, Body], Checked]] = {
    "design": design,
    "drawn-design": drawn_design,
    "bucket-design": bucket_design,
    "ladder": ladder,
    "survey": survey,
    "string-design": string_design,
    "keyvalue-design": item_design,
    "one-edge-design": edge_design,
    "deck": deck,
}
FIELDED = {"design", "drawn-design", "ladder", "string-design", "keyvalue-design"}
SCHEMES = {"unary": vector_ratios, "direct": single_ratios}


# ---- The claims of one channel ---------------------------------------------------------------------------------------


def channel_claims(channel: SingleChannel, stated: Body) -> Body:
    """Return parity, ε, δ, witness, admissibility and Bayes factors; with a prior, posteriors too."""
    k, n = channel.categories, channel.responses
    i, *pair = read_witness(stated["witness"], channel.first or n, k)
    attained = ratio(*map(channel.likelihood(i), pair)) == channel.parity
    check(attained, "this is no witness of the parity")
    prior = read_prior(stated["prior"], k) if "prior" in stated else None
    if k * n <= MAX_LISTED and not channel.first:
        rows = [(response, list(range(k))) for response in range(n)]
    else:
        rows = [(i, pair)] if k <= MAX_ANSWERS else []
    claims = {
        **guarantee(channel),
        "witness": witness_claim(i, *pair),
        "admissible": channel.is_admissible,
        "table": [bayes_factors(channel, *row, prior) for row in rows],
    }
    return claims if prior is None else {**claims, "prior": [*map(text, prior)]}


def read_witness(
    stated: Body, responses: int, categories: int
) -> tuple[int, int, int]:
    """Read the response and the two answers at which the parity is attained."""
    check_fields(stated, "response likely unlikely")
    return (
        index(stated["response"], responses),
        index(stated["likely"], categories),
        index(stated["unlikely"], categories),
    )


def witness_claim(response: int, likely: int, unlikely: int) -> Body:
    """Return a witness as a certificate states it."""
    numbers = {"response": response, "likely": likely, "unlikely": unlikely}
    return {name: index_text(number) for name, number in numbers.items()}


def read_prior(stated: list[str], categories: int) -> list[Fraction]:
    """Read a distribution of the answers."""
    prior = [fraction(share) for share in stated]
    fits = (
        len(prior) == categories
        and min(prior) >= 0
        and accumulate(operator.add, prior) == 1
    )
    check(fits, "the prior is no distribution")
    return prior


def bayes_factors(
    channel: SingleChannel,
    response: int,
    listed: list[int],
    prior: list[Fraction] | None,
) -> Body:
    """Return both Bayes factors of a response: P(i | j) over the largest and the smallest P(i | j′) of other answers.

    The posterior is prior(j)·P(i | j) / Σ prior(j′)·P(i | j′), or None for a response that never comes.
    """
    k = channel.categories
    charge(k + k * len(listed) // 4)
    row = list(map(channel.likelihood(response), range(k)))
    factors = [
        {
            "answer": j,
            "least": text(ratio(row[j], max(others))),
            "most": text(ratio(row[j], min(others))),
        }
        for j in listed
        for others in [row[:j] + row[j + 1 :]]
    ]
    claim: Body = {"response": index_text(response), "factors": factors}
    if prior is not None:
        charge(2 * k, size(*row) + max(size(share) for share in prior))
        joint = [share * p for share, p in zip(prior, row, strict=True)]
        whole = accumulate(operator.add, joint)
        claim["posterior"] = (
            [text(joint[j] / whole) for j in listed] if whole else None
        )
    return claim


# ---- Channels --------------------------------------------------------------------------------------------------------


def read_channel(body: Body) -> SingleChannel:
    """Read a channel of any kind from its integers."""
    return CHANNELS[body["kind"]](body)


def make_channel(
    sorts: Iterable[tuple[int, Ratio]], responses: int, **fields: Any
) -> SingleChannel:
    """Return a channel; `sorts` has, for each sort of response, the number of its likelihoods and their largest ratio.

    No channel of the same parity tells more if every response has two likelihoods with the parity as their ratio.
    """
    sorts = list(sorts)
    parity = max(largest for _, largest in sorts)
    is_best = all(sort == (2, parity) for sort in sorts)
    admissible = None if parity == math.inf else is_best
    return SingleChannel(
        parity=parity,
        is_admissible=admissible,
        responses=responses,
        **fields,
    )


# ---- Kind "dense": P(i | j) = weights[i][j] / total ------------------------------------------------------------------


def dense(body: Body) -> SingleChannel:
    """Read a table with a row for each response and a column for each answer."""
    check_fields(body, "kind total weights")
    rows = [tuple(map(weight, row)) for row in body["weights"]]
    total = weight(body["total"])
    check(
        math.gcd(total, *(cell for row in rows for cell in row)) == 1, LOWEST_TERMS
    )
    return table(rows, total)


def table(rows: Sequence[tuple[int, ...]], total: int) -> SingleChannel:
    """Return the channel of a table; the groups of every pair of answers are gone through if they are few."""
    columns = list(zip(*rows, strict=True))
    k, n = len(columns), len(rows)
    check(min(k, n) >= 2, "there are fewer than two responses or answers")
    whole = all(sum(column) == total for column in columns)
    check(whole and total, "probabilities do not add up to 1")
    pairs = None
    if k * (k - 1) * n <= MAX_COMPARED:
        columns_apart = permutations(columns, 2)
        pairs = distinct(
            grouped(zip(*pair, strict=True), n, total) for pair in columns_apart
        )
    return make_channel(
        [(len(set(row)), ratio(max(row), min(row))) for row in rows if any(row)],
        n,
        categories=k,
        likelihood=lambda i: rows[i].__getitem__,
        pairs=pairs,
        total=total,
        table=total,
    )


# ---- Kinds in which any two answers are alike, so that one pair of answers stands for all ----------------------------


def exchangeable(
    halves: Sequence[tuple[int, int]], total: int, responses: int, **fields: Any
) -> SingleChannel:
    """Return a channel from the groups that speak for one answer and against the other.

    The same groups speak the other way round, and all other responses do not tell the two answers apart.
    """
    idle = total - sum(p + q for p, q in halves)
    both = [*halves, *((q, p) for p, q in halves), (idle, idle)]
    sorts = [(2 - (p == q), max(ratio(p, q), ratio(q, p))) for p, q in halves]
    pairs = [grouped(both, len(both), total)]
    return make_channel(sorts, responses, pairs=pairs, total=total, **fields)


def two_level(
    large: int,
    small: int,
    *,
    supported: int,
    apart: int,
    responses: int,
    has_idle: bool,
    supports: Callable[[int, int], bool],
    kind: tuple[Any, ...],
    **fields: Any,
) -> SingleChannel:
    """Return a channel whose response has weight `large` for the answers that it supports, and `small` for others.

    Each answer is supported by `supported` of n responses, and `apart` of them support one of two answers and not the
    other:  total = supported·large + (n − supported)·small,  p = apart·large / total,  q = apart·small / total.
    """
    check(small >= 1, "a weight is 0")
    total = supported * large + (responses - supported) * small
    halves = [(apart * large, apart * small)] + [(0, 0)] * has_idle
    levels = [Fraction(responses * weight, total) for weight in (large, small)]
    return exchangeable(
        halves,
        total,
        responses,
        likelihood=lambda i: lambda j: large if supports(i, j) else small,
        levels=(kind, levels),
        table=total,
        **fields,
    )


# ---- Kind "diagonal": the answer itself with weight `same`, every other one with `other` -----------------------------


def diagonal(body: Body) -> SingleChannel:
    """Read a γ-diagonal channel: a response supports one answer. It is also a set of one category."""
    check_fields(body, "kind size same other")
    k, (same, other) = (
        integer(body["size"], 2, MAX_NUMBER),
        weights(body, "same other"),
    )
    check(other >= 1, "a weight is 0")
    inside = Fraction(same, same + (k - 1) * other)
    return two_level(
        same,
        other,
        categories=k,
        responses=k,
        supported=1,
        apart=1,
        has_idle=False,
        supports=lambda i, j: i == j,
        kind=(),
        sizes={1: (Fraction(1), inside)},
    )


# ---- Kind "hadamard": response i supports j where i + 1 and j + 1 have an even number of ones in common --------------


def hadamard(body: Body) -> SingleChannel:
    """Read rows of a Hadamard matrix of order K = 2^bits(size): two columns differ in half of the rows."""
    check_fields(body, "kind size large small")
    k, (large, small) = (
        integer(body["size"], 2, MAX_NUMBER),
        weights(body, "large small"),
    )
    check(large > small, "the levels are not in order")
    order = 1 << k.bit_length()
    return two_level(
        large,
        small,
        categories=k,
        responses=order - 1,
        supported=order // 2 - 1,
        apart=order // 4,
        has_idle=k == 2,
        supports=lambda i, j: (i + 1 & j + 1).bit_count() % 2 == 0,
        kind=("hadamard", k),
    )


# ---- Kind "hashing": response hash·q + value supports the answers with this value ------------------------------------


def hashing(body: Body) -> SingleChannel:
    """Read linear forms over a field of q values: N = (q^m − 1) / (q − 1) hashes, m the digits of an answer in base q.

    q^(m−1) of the hashes tell two answers apart, whichever they are. The first hash is the last digit; only its
    responses are looked up.
    """
    check_fields(body, "kind size values same other")
    k, (same, other) = (
        integer(body["size"], 2, MAX_NUMBER),
        weights(body, "same other"),
    )
    q = integer(body["values"], 2, MAX_VALUES)
    check(same > other, "the levels are not in order")
    charge(math.isqrt(q) // 16)
    prime = next((d for d in range(2, math.isqrt(q) + 1) if q % d == 0), q)
    is_power = q <= MAX_POWER and any(prime**r == q for r in range(2, 9))
    check(prime == q or is_power, "there is no field of so many values")
    power = next(q**m for m in range(MAX_NUMBER.bit_length()) if q ** (m + 1) >= k)
    hashes = (power * q - 1) // (q - 1)
    return two_level(
        same,
        other,
        categories=k,
        responses=hashes * q,
        supported=hashes,
        apart=power,
        has_idle=k <= (q - 1) * power,
        supports=lambda i, j: i == j % q,
        kind=("hashing", k, q),
        first=q,
    )


# ---- Kinds "subset" and "mixture": a size of set with its weight; the answer is in with `inside`, the rest is even ---


def subset(body: Body) -> SingleChannel:
    """Read sets of one size."""
    check_fields(body, "kind size ones inside total")
    k, (inside, total) = (
        integer(body["size"], 2, MAX_SET),
        weights(body, "inside total"),
    )
    return sets(k, total, {integer(body["ones"], 1, k - 1): (total, inside)})


def mixture(body: Body) -> SingleChannel:
    """Read sets of several sizes, in rising order."""
    check_fields(body, "kind size total parts")
    for part in body["parts"]:
        check_fields(part, "ones weight inside")
    k, total = integer(body["size"], 2, MAX_SET), weight(body["total"])
    parts = {
        integer(part["ones"], 0, k): (weight(part["weight"]), weight(part["inside"]))
        for part in body["parts"]
    }
    is_ordered = list(parts) == sorted(parts) and len(parts) == len(body["parts"])
    check(is_ordered, "sizes of sets are repeated, or not in order")
    check(
        math.gcd(total, *(cell for part in parts.values() for cell in part)) == 1,
        LOWEST_TERMS,
    )
    adds_up = sum(share for share, _ in parts.values()) == total
    check(
        adds_up and all(share for share, _ in parts.values()),
        "weights of sizes do not add up to 1",
    )
    return sets(k, total, parts)


def sets(k: int, total: int, parts: dict[int, tuple[int, int]]) -> SingleChannel:
    """Return the channel of sets of t of k categories, for some t, each with P(t) = share / total.

    A set holds the answer with own = inside / total. For two answers
        P(t)·P(x in, x′ out | x) = share·inside·(k − t) / D  and  given x′  share·(total − inside)·t / D,
    with D = total²·(k − 1).
    """
    filled = all(
        total * (t == k) <= p <= total * (t > 0) for t, (_, p) in parts.items()
    )
    check(total and filled, "a set is ill filled")
    charge(12 * len(parts), 2 * size(total))
    odds = {t: (p * (k - t), (total - p) * t) for t, (_, p) in parts.items()}

    def likelihood(response: int) -> Callable[[int], int]:
        t = response.bit_count()
        even = int(t in parts), int(t in parts)
        return by_member(response, odds[t] if t in parts and 0 < t < k else even)

    return exchangeable(
        [
            (share * odds[t][0], share * odds[t][1])
            for t, (share, _) in parts.items()
        ],
        total**2 * (k - 1),
        n_sets(k),
        categories=k,
        likelihood=likelihood,
        sizes={
            t: (Fraction(share, total), Fraction(share * inside, total**2))
            for t, (share, inside) in parts.items()
        },
    )


def n_sets(k: int) -> int:
    """Return the number of sets of k categories."""
    charge(k // 1024)
    return 1 << k


def by_member(response: int, odds: tuple[int, int]) -> Callable[[int], int]:
    """Return the likelihood of a set by answer, from that of an answer in the set and of one that is not."""
    members = format(response, "b")[::-1]
    return lambda j: odds[members[j : j + 1] != "1"]


# ---- Kind "bits": each bit by itself, 1 with `hit` of `total` for the answer's own and with `stray` for others -------


def bits(body: Body) -> SingleChannel:
    """Read bits: only the two answers' own bits tell them apart.

    p = hit·(total − stray) / total²  and  q = stray·(total − hit) / total².
    """
    check_fields(body, "kind size hit stray total tally")
    check(body["tally"] in ("by size", "by category"), "the tally is of no kind")
    k = integer(body["size"], 2, MAX_SET)
    hit, stray, total = weights(body, "hit stray total")
    check(max(hit, stray) <= total > 0, "a weight is above the total")
    odds = hit * (total - stray), stray * (total - hit)

    def likelihood(response: int) -> Callable[[int], int]:
        is_even = response.bit_count() in (0, k)
        return by_member(response, (1, 1) if is_even else odds)

    return exchangeable(
        [odds, (0, 0)],
        total**2,
        n_sets(k),
        categories=k,
        likelihood=likelihood,
        bit=(hit, stray, total),
    )


CHANNELS: dict[str, Callable[[Body], SingleChannel]] = {
    "dense": dense,
    "diagonal": diagonal,
    "hadamard": hadamard,
    "hashing": hashing,
    "subset": subset,
    "mixture": mixture,
    "bits": bits,
}


# ---- Garblings: a stage P₁ = C·P₂ tells nothing that the next one does not tell --------------------------------------


def check_garbling(
    drawn: Body, garbling: Body, old: PairedResponses, new: PairedResponses
) -> None:
    """Check that `garbling` leads from the finer law to the coarser one, and is what the document draws with."""
    derived = {"kind": "derived"}
    if garbling["kind"] == "factors":  # each attribute by itself
        check_fields(garbling, "kind steps")
        steps = (
            [derived] * len(garbling["steps"])
            if drawn == derived
            else drawn["steps"]
        )
        check(
            drawn in (derived, {"kind": "factors", "steps": steps}), OTHER_GARBLING
        )
        for step in zip(steps, garbling["steps"], old.parts, new.parts, strict=True):
            check_garbling(*step)
        return
    stored = {
        "table": {"kind": "written", "channel": {**garbling, "kind": "dense"}},
        "sets": {**garbling, "kind": "nested"},
    }.get(garbling["kind"], derived)
    check(canonical(drawn) in map(canonical, (derived, stored)), OTHER_GARBLING)
    check(
        isinstance(old, SingleChannel)
        and isinstance(new, SingleChannel)
        and GARBLINGS[garbling["kind"]](garbling, old, new),
        "a stage is not the garbling of the next that is claimed",
    )


def leads_by_keeping(garbling: Body, old: SingleChannel, new: SingleChannel) -> bool:
    """Check n·P₁ = share·n·P₂ + 1 − share: a response is kept with probability `share`, else any is drawn evenly."""
    check_fields(garbling, "kind share")
    share = fraction(garbling["share"])
    (old_kind, old_levels), (kind, levels) = old.levels, new.levels
    kept = [share * level + 1 - share for level in levels]
    return 0 <= share <= 1 and old_kind == kind != () and old_levels == kept


def leads_by_bits(garbling: Body, old: SingleChannel, new: SingleChannel) -> bool:
    """Check P₁(1) = hit·P₂(1) + stray·(1 − P₂(1)) for both sorts of bits: each bit is drawn again by itself."""
    check_fields(garbling, "kind hit stray")
    hit, stray = fraction(garbling["hit"]), fraction(garbling["stray"])
    coarse = [Fraction(one, old.bit[2]) for one in old.bit[:2]]
    fine = [Fraction(one, new.bit[2]) for one in new.bit[:2]]
    is_channel = 0 <= min(hit, stray) <= max(hit, stray) <= 1
    return is_channel and coarse == [hit * p + stray * (1 - p) for p in fine]


def leads_by_sets(garbling: Body, old: SingleChannel, new: SingleChannel) -> bool:
    """Check how often each size s comes out, and how often it then holds the answer.

    A row (s, t, near, far, free) leads from sets of t to sets of s that have as many members in common as can be, as
    few as can be, or any. If they share c members on average, the answer is among the s with probability c / t where
    it was among the t, and (s − c) / (k − t) where it was not. That is enough: both sides treat all categories alike.
    """
    check_fields(garbling, "kind shares")
    k, sizes = new.categories, dict.fromkeys(old.sizes, (Fraction(0), Fraction(0)))
    left = dict.fromkeys(new.sizes, Fraction(1))
    for coarse, fine, *ways in garbling["shares"]:
        s, t = integer(coarse, 0, k), integer(fine, 0, k)
        weight, inside = new.sizes[t]
        charge(80, size(sizes[s][0]) + size(sizes[s][1]) + size(left[t]))
        shared = Fraction(min(s, t)), Fraction(max(0, s + t - k)), Fraction(s * t, k)
        for share, c in zip(map(fraction, ways), shared, strict=True):
            check(share >= 0, "shares are negative")
            p_in = inside * c / t if t else 0
            p_out = (weight - inside) * (s - c) / (k - t) if t < k else 0
            sizes[s] = (
                sizes[s][0] + weight * share,
                sizes[s][1] + share * (p_in + p_out),
            )
            left[t] -= share
    check(not any(left.values()), "shares do not add up to 1")
    return sizes == old.sizes


def leads_by_table(garbling: Body, old: SingleChannel, new: SingleChannel) -> bool:
    """Check P₁ = C·P₂ cell by cell."""
    table = dense({**garbling, "kind": "dense"})
    shape = table.responses, table.categories
    is_written = old.table and new.table and not old.first and not new.first
    if not is_written or shape != (old.responses, new.responses):
        return False
    charge(
        old.responses * new.responses * new.categories,
        size(table.total, old.table, new.table),
    )
    return all(
        sum(
            table.likelihood(i)(u) * new.likelihood(u)(j)
            for u in range(new.responses)
        )
        * old.table
        == old.likelihood(i)(j) * table.total * new.table
        for j in range(new.categories)
        for i in range(old.responses)
    )


OTHER_GARBLING = "responses are drawn by another garbling"
GARBLINGS = {
    "keep": leads_by_keeping,
    "bits": leads_by_bits,
    "sets": leads_by_sets,
    "table": leads_by_table,
}


# ---- Composition, ε and δ --------------------------------------------------------------------------------------------


def combine(
    parts: dict[str, Checked], each: int | None = None
) -> tuple[Body, PairedResponses]:
    """Return the claims of independent parts: of all together, or of `each` that are drawn evenly.

    Parities multiply, or the `each` largest of them do. The groups of all parts are the products of their groups. Where
    one part is drawn, δ is the mean of the parts' δ, each at its own worst pair; where several are, it is bounded.
    """
    laws = tuple(part.law for part in parts.values())
    parities = [law.parity for law in laws]
    if each is not None:
        charge(2 * len(laws) * len(laws).bit_length(), size(*parities))
        parities = sorted(parities, reverse=True)[:each]
    parity: Ratio = math.inf
    if math.inf not in parities:
        parity = accumulate(operator.mul, parities, Fraction(1))
    pairs, total = product_groups(laws) if each is None else (None, 1)
    law = PairedResponses(parity=parity, pairs=pairs, total=total, parts=laws)
    rule = {"rule": "all"} if each is None else {"rule": "some", "each": each}
    claims = {
        **rule,
        **guarantee(law),
        "parts": {name: part.claims for name, part in parts.items()},
    }
    if each == 1 and all(part.pairs for part in laws):
        claims["delta"] = curve(
            parity,
            lambda gamma: (
                accumulate(operator.add, (delta(part, gamma) for part in laws))
                / len(laws)
            ),
        )
    return claims, law


def accumulate(
    operation: Callable[[Any, Any], Fraction],
    numbers: Iterable[Ratio],
    result: Fraction = ZERO,
) -> Fraction:
    """Return the sum or the product of fractions, whose denominators grow."""
    for number in numbers:
        charge(2, size(result) + size(number))
        result = operation(result, number)
    return result


def product_groups(
    laws: Sequence[PairedResponses],
) -> tuple[list[Groups] | None, int]:
    """Return the groups of parts that are sent together; None if they are too many."""
    pairs: list[Groups] = [((1, 1),)]
    total = 1
    for law in laws:
        if law.pairs is None or len(laws) > MAX_PARTS:
            return None, 1
        terms = sum(map(len, pairs)) * sum(map(len, law.pairs))
        if terms > MAX_TERMS:
            return None, 1
        total *= law.total
        pairs = distinct(
            grouped(
                ((p * r, q * s) for p, q in first for r, s in second),
                len(first) * len(second),
                total,
            )
            for first, second in product(pairs, law.pairs)
        )
    return pairs, total


def guarantee(law: PairedResponses) -> Body:
    """Return parity, ε = ln parity rounded up, and δ at nine values of γ = e^ε.

    Without groups, δ is the bound (γ* − γ) / (γ* + 1), which every channel of parity γ* keeps.
    """
    parity = law.parity
    claims = {"parity": text(parity), "epsilon": repr(log_above(parity))}
    if law.pairs is None:
        return {**claims, "delta": bound_curve(parity)}
    return {**claims, "delta": curve(parity, partial(delta, law))}


def bound_curve(parity: Ratio) -> Body:
    """Return the δ that every channel of some parity keeps."""

    def bound(gamma: Fraction) -> Fraction:
        finite = Fraction(parity) if parity != math.inf else None
        return (finite - gamma) / (finite + 1) if finite else Fraction(1)

    return {**curve(parity, bound), "exact": False}


def delta(law: PairedResponses, gamma: Fraction) -> Fraction:
    """Return the smallest δ at γ: the largest Σ (p − γ·q)₊ over all pairs of answers."""
    up, down = gamma.numerator, gamma.denominator
    charge(sum(map(len, law.pairs or ())) // 2 + 2, size(law.total) + size(gamma))
    largest = max(
        sum(max(0, down * p - up * q) for p, q in groups)
        for groups in law.pairs or ()
    )
    return Fraction(largest, down * law.total)


def curve(parity: Ratio, delta_at: Callable[[Fraction], Fraction]) -> Body:
    """Return δ at γ = 1 + (parity − 1)·(step / 8)², or at powers of 2 if the parity is infinite."""
    charge(100, size(parity))
    if parity == math.inf:
        gammas = [Fraction(1 << step) for step in range(9)]
    else:
        gammas = [
            1 + (Fraction(parity) - 1) * Fraction(step**2, 64) for step in range(9)
        ]
    points = [
        {"gamma": text(gamma), "delta": text(delta_at(gamma))} for gamma in gammas
    ]
    return {"exact": True, "curve": points}


def grouped(
    entries: Iterable[tuple[int, int]], n_entries: int, total: int
) -> Groups:
    """Add up the weights (p, q) of responses that have one ratio p : q; weights of an answer sum to the total at most.

    Ratios are sorted, because integers can be chosen that a dictionary takes hours to tell apart.
    """
    charge(2 * n_entries, size(total))
    parts = [(p, q, math.gcd(p, q)) for p, q in entries if p or q]
    lowest = sorted((p // common, q // common, common) for p, q, common in parts)
    sums = [
        (p, q, sum(common for _, _, common in group))
        for (p, q), group in groupby(lowest, operator.itemgetter(0, 1))
    ]
    return tuple((p * times, q * times) for p, q, times in sums)


def distinct(groups: Iterable[Groups]) -> list[Groups]:
    """Return different groups once."""
    return [one for one, _ in groupby(sorted(groups))]


def ratio(p: int, q: int) -> Ratio:
    """Return p / q: p / 0 is infinite, and 0 / 0 tells nothing."""
    charge(2, size(p, q))
    return Fraction(p, q) if q else math.inf if p else Fraction(1)


def log_above(parity: Ratio) -> float:
    """Return the smallest float that is not below ln(parity), with more digits until these decide."""
    if parity in (1, math.inf):
        return 0.0 if parity == 1 else math.inf
    charge(4, size(parity))
    exact, digits = Fraction(parity), 60
    if (exact - 1) * (1 << 1080) < 1:
        return math.ulp(0.0)
    while True:
        charge(digits // 2, 5 * digits)
        with localcontext(prec=digits):
            logarithm = (Decimal(exact.numerator) / Decimal(exact.denominator)).ln()
            nearest = float(logarithm)
            distance = Decimal(nearest) - logarithm
            if abs(distance) > Decimal(10) ** (4 - digits):
                return nearest if distance > 0 else math.nextafter(nearest, math.inf)
        digits *= 2


# ---- JSON, numbers and limits ----------------------------------------------------------------------------------------

LOWEST_TERMS = "numbers are not in lowest terms"


def check(holds: object, words: str) -> None:
    """Refuse the certificate, unless something holds."""
    if not holds:
        raise Rejected(words)


class Budget(threading.local):
    """Microseconds that are left for the certificate at hand."""

    left = MAX_COST


BUDGET = Budget()


def charge(operations: int, bits: int = 0) -> None:
    """Take the time of operations on integers of so many bits from the budget; refuse before they are done.

    Bound: the answer takes less than two seconds.

    Why: one operation (a sum, product, quotient, greatest common divisor or text of integers of b bits, with what
    Python does around it) takes at most 1.5·(1 + b/256 + (b/1024)²) µs; one of fractions counts as two. Every loop
    whose length the certificate decides is charged before its first pass, by its passes and its largest integer:
    tables, products and hands in `grouped`, nine values of δ in `curve` and `delta`, answers in `bayes_factors`, sums
    of fractions in `accumulate`, digits in `log_above`, divisors in `hashing`, sizes of sets in `sets`, and rows of
    garblings. Long numbers are charged where they are read and written. All else takes a time linear in the length of
    the file, which `parse` charges, or of documents in documents, which `check_hashes` charges. Only text and small
    integers are keys of sets and dictionaries: large ones can be chosen so that looking them up takes quadratic time.
    """
    BUDGET.left -= operations * (1 + bits // 256 + (bits // 1024) ** 2)
    check(BUDGET.left >= 0, "to check it would take more than a second")


def size(*numbers: Ratio) -> int:
    """Return the most bits of a numerator or denominator."""
    finite = [number for number in numbers if not isinstance(number, float)]
    parts = [part for number in finite for part in number.as_integer_ratio()]
    return max((part.bit_length() for part in parts), default=0)


def parse(source: str | bytes) -> Json:
    """Read JSON without repeated fields and without floats."""

    def refuse(number: str) -> None:
        raise Rejected(f"{number:.40} is no integer")

    def fields(pairs: list[tuple[str, Json]]) -> Body:
        check(len(dict(pairs)) == len(pairs), "a field occurs twice")
        return dict(pairs)

    charge(len(source) // 4)
    return json.loads(
        source, object_pairs_hook=fields, parse_float=refuse, parse_constant=refuse
    )


def canonical(value: object) -> str:
    """Return the one text of a value, of which hashes are taken."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def check_hashes(value: Json, where: str) -> None:
    """Check the hash of a document, and of every document in it."""
    if isinstance(value, dict) and "schema" in value:
        body = {name: field for name, field in value.items() if name != "hash"}
        sealed = canonical(body).encode()
        charge(len(sealed) // 16)
        digest = hashlib.sha256(sealed).hexdigest()
        check(
            value.get("hash") == f"sha256:{digest}", f"{where} and its hash differ"
        )
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, entry in entries:
        check_hashes(entry, f"{where}/{name}")


def open_document(document: Body, kind: str) -> Body:
    """Return the fields of a document of some kind without its schema and hash."""
    check(document["schema"] == f"deniable/{kind}/1", f"this is no {kind}")
    return {
        name: field
        for name, field in document.items()
        if name not in ("schema", "hash")
    }


def check_fields(body: Body, required: str, optional: str = "") -> None:
    """Refuse an object that lacks a field or has another one; optional fields are left out where they are empty."""
    names, more = set(required.split()), set(optional.split())
    exact = type(body) is dict and names <= body.keys() <= names | more
    check(exact, f"these are not the fields of this object; expected {required}")
    check(
        all(body[name] for name in more & body.keys()), "an optional field is empty"
    )


def check_text(*values: object) -> None:
    """Refuse what is no text."""
    check(all(type(value) is str for value in values), "a text is missing")


def integer(value: Json, least: int, most: int) -> int:
    """Return an integer that is a number of JSON, within limits."""
    number: int = value if type(value) is int else -1
    fits = least <= number <= most
    check(fits, f"{value!r:.40} is no integer from {least:,} to {most:,}")
    return number


def weight(value: Json) -> int:
    """Return a weight: an integer of 0 or more as decimal text."""
    fits = (
        type(value) is str
        and len(value) <= MAX_DIGITS
        and value.isascii()
        and value.isdecimal()
    )
    check(fits, f"{value!r:.40} is no weight")
    charge(2, 4 * len(value))
    check(str(int(value)) == value, f"{value!r:.40} is no weight")
    return int(value)


def weights(body: Body, names: str) -> list[int]:
    """Return weights of an object, in lowest terms."""
    values = [weight(body[name]) for name in names.split()]
    check(math.gcd(*values) == 1, LOWEST_TERMS)
    return values


def index(value: Json, end: int) -> int:
    """Return the number of a response or an answer, which is below `end`."""
    fits = type(value) is str and len(value) <= 20 + end.bit_length() // 4
    number = int(value, 0) if fits else -1
    check(
        0 <= number < end and index_text(number) == value,
        f"{value!r:.40} is no index of this channel",
    )
    return number


def index_text(number: int) -> str:
    """Return an index as a certificate writes it: in base 16 where a float would round it."""
    return str(number) if number < MAX_NUMBER else hex(number)


def fraction(value: Json) -> Fraction:
    """Return a fraction in lowest terms."""
    fits = type(value) is str and len(value) <= 2 * MAX_DIGITS
    # an exponent would make a number of any size
    check(fits and set(value) <= set("-/0123456789"), "a fraction is missing")
    charge(4, 4 * len(value))
    number = Fraction(value)
    check(text(number) == value, f"{value!r:.40} is no fraction in lowest terms")
    return number


def text(number: Ratio) -> str:
    """Return a fraction as text."""
    charge(2, size(number))
    return "inf" if number == math.inf else str(Fraction(number))


if __name__ == "__main__":
    main(sys.argv[1:])
