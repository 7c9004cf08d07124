"""Check certificates of `deniable` with this file and the standard library alone: python checker.py FILE …

A certificate holds a document (a design, a ladder, a deck, a survey …), claims, caveats, and a hash. The checker takes
the integers of the document, recomputes every claim and every caveat from them, and compares. It takes only witnesses,
priors and garblings from the certificate, and verifies each. docs/theory/certificates.md has the theorems.

Contents
    1. The certificate       what is accepted, and what is printed
    2. Fields                every kind of object, with its exact fields
    3. Composition           ε, and δ from groups of responses
    4. Channels              P(response | answer) from integers, for eight kinds
    5. Claims of a channel   witness, Bayes factors, posteriors
    6. Designs               single ones, attributes, ladders, surveys, and the other types
    7. Garblings             why all stages of a ladder tell no more than the last one
    8. Numbers and cost      reading numbers, and the budget that bounds the time
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import combinations, groupby, pairwise, permutations, product
from pathlib import Path
from typing import Any

Json = Any  # a value of JSON
Body = dict[str, Json]  # an object of JSON
Ratio = Fraction | float  # exact, or infinite
# the weights of groups of responses under two answers
Groups = tuple[tuple[int, int], ...]
Halves = list[tuple[int, int]]
# of one response, for some answers
Likelihoods = Callable[[int, Sequence[int]], list[int]]

ZERO, ONE = Fraction(0), Fraction(1)
MAX_LISTED = 256  # cells of a channel whose Bayes factors are all listed
MAX_ANSWERS = 100_000  # answers that one response is compared over
MAX_COMPARED = 100_000  # pairs of answers × responses of a table
MAX_TERMS = 50_000  # products of groups of two parts
MAX_PARTS = 16  # parts whose groups are multiplied
MAX_CARDS = 2_000  # of a deck, and its numbers
MAX_PLACES = 10_000  # of padded items
MAX_SET = 1 << 24  # categories of sets
MAX_LEVELS = 64  # of a pattern
MAX_NUMBER = 1 << 53  # any integer that is a number of JSON
MAX_DIGITS = 4_000  # of a weight
MAX_COST = 1_000_000  # microseconds


class Rejected(Exception):
    """The certificate is not accepted: something in it does not hold."""


def check(holds: object, words: str) -> None:
    """Refuse the certificate, unless something holds."""
    if not holds:
        raise Rejected(words)


# ---- 1. The certificate ----------------------------------------------------------------------------------------------


def verify(source: str | bytes) -> Body:
    """Return the certificate if all of its claims and caveats follow from its document; raise `Rejected` otherwise."""
    BUDGET.left = MAX_COST
    try:
        certificate: Body = parse(source)
        document, stated, caveats = read(
            "certificate", unseal(certificate, "certificate")
        )
        own = check_document(document, stated)
        compare(own.claims, stated, "claims")
        compare(own.caveats, caveats, "caveats")
    except Rejected:
        raise
    # whatever goes wrong, the certificate is not accepted
    except Exception as error:
        raise Rejected(f"it is not a certificate: {error!r:.80}") from None
    return certificate


def compare(own: Json, stated: Json, where: str) -> None:
    """Refuse a stated value that is not the recomputed one, and name the first field where they differ."""
    if canonical(own) == canonical(stated):
        return
    if type(own) is type(stated) is dict and own.keys() == stated.keys():
        for name in own:
            compare(own[name], stated[name], f"{where}/{name}")
    texts = f"{canonical(stated):.60}; expected {canonical(own):.60}"
    raise Rejected(f"{where} is {texts}")


def check_document(
    document: Body, stated: Body, kinds: Sequence[str] = ()
) -> Checked:
    """Check a document of one of these kinds (by default of any): its hash, and what it promises."""
    kind = document["schema"].removeprefix("deniable/").removesuffix("/1")
    check(not kinds or kind in kinds, f"a {kind:.40} is no {' or '.join(kinds)}")
    return SUBJECTS[kind](unseal(document, kind), stated)


def unseal(document: Body, kind: str) -> Body:
    """Return the fields of a document without its schema and its hash, which must be theirs."""
    schema = f"deniable/{kind}/1"
    check(document["schema"] == schema, f"this is no {kind} of version 1")
    body = {name: value for name, value in document.items() if name != "hash"}
    sealed = canonical(body).encode()
    charge(len(sealed) // 16)
    digest = hashlib.sha256(sealed).hexdigest()
    check(document["hash"] == f"sha256:{digest}", f"the {kind} and its hash differ")
    del body["schema"]
    return body


def parse(source: str | bytes) -> Json:
    """Read JSON without repeated fields, floats and long integers."""

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
    form: Any = {"sort_keys": True, "separators": (",", ":"), "allow_nan": False}
    return json.dumps(value, ensure_ascii=False, **form)


def main(paths: Sequence[str]) -> None:
    """Print for each file whether it is accepted, and stop at the first one that is not."""
    for path in paths:
        try:
            certificate = verify(Path(path).read_bytes())
        except (OSError, Rejected) as error:
            sys.exit(printable(f"{path}: REJECTED: {error}"))
        claims, digest = certificate["claims"], certificate["document"]["hash"]
        promise = f"ε = {claims['epsilon']}, parity {claims['parity']}"
        print(printable(f"{path}: accepted: {promise}, of {digest}"))
        for caveat in certificate["caveats"]:
            print(printable(f"  {caveat}"))


def printable(text: str) -> str:
    """Escape characters that a terminal would act on or hide: labels are free text."""
    letters = (
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text
    )
    return "".join(letters)


# ---- 2. Fields -------------------------------------------------------------------------------------------------------

FIELDS = {
    # documents; they have a schema and a hash as well
    "certificate": "document claims caveats",
    "design": "name:text categories symbols channel ?range:fraction*",
    "product": "name:text factors",
    "drawn-design": "factors each:integer",
    "bucket-design": "factors each:integer buckets",
    "buckets": "range count:integer spacing:text",
    "ladder": "designs steps",
    "survey": "name:text languages texts questions groups minimum opens:text closes:text "
    "admission:text ?each:integer ?arms ?acknowledge ?keys ?pilot ?planned",
    "string-design": "bloom channel",
    "keyvalue-design": "name:text items low:fraction high:fraction scheme",
    "one-edge-design": "items choice",
    "deck": "counts:integer* people:integer categories",
    # parts of documents, and of claims
    "factor": "attribute:text design",
    "question": "name:text device:text texts ?design ?ladder ?acknowledge:text ?check:text "
    "?right:text ?compare:text",
    "number of sets": "bits:integer",
    "filter": "hash:text bits:integer hashes:integer cohorts:integer ?alphabet:text ?lengths:integer*",
    "witness": "response likely unlikely",
    # they have a kind as well, which is the second word here
    "channel dense": "total:weight weights:weight**",
    "channel diagonal": "size:integer same:weight other:weight",
    "channel hadamard": "size:integer large:weight small:weight",
    "channel hashing": "size:integer values:integer same:weight other:weight",
    "channel subset": "size:integer ones:integer inside:weight total:weight",
    "channel mixture": "size:integer total:weight parts",
    "size of sets": "ones:integer weight:weight inside:weight",
    "channel patterns": "size:integer total:weight parts",
    "pattern": "weight:weight levels",
    "level of a pattern": "categories:integer weight:weight",
    "channel bits": "size:integer hit:weight stray:weight total:weight tally:text",
    "scheme index": "symbol",
    "scheme unary": "padding:integer symbol",
    "scheme direct": "padding:integer same:weight turned:weight other:weight total:weight",
    "garbling factors": "steps",
    "garbling table": "total:weight weights:weight**",
    "garbling bits": "hit:fraction stray:fraction",
    "garbling sets": "shares",
    "garbling keep": "share:fraction",
}
"""The fields of each kind of object, and how they are read.

A question mark is before what is left out where it is empty. An asterisk is behind lists. Fields without a reader are
objects of another row, or settings that no claim rests on.
"""


def read(kind: str, body: Body) -> list[Any]:
    """Return the values of an object's fields in the order of `FIELDS`; it has these and no others."""
    fields = [field.partition(":") for field in FIELDS[kind].split()]
    needed = {name for name, _, _ in fields if not name.startswith("?")}
    names = [name.removeprefix("?") for name, _, _ in fields]
    exact = type(body) is dict and needed <= body.keys() <= set(names)
    check(exact, f"these are not the fields of this object; expected {FIELDS[kind]}")
    more = body.keys() - needed
    check(all(body[name] for name in more), "an optional field is empty")
    readers = [reader for _, _, reader in fields]
    return [
        read_value(reader, body[name]) if name in body else None
        for name, reader in zip(names, readers, strict=True)
    ]


def read_value(reader: str, value: Json) -> Any:
    """Return a value as its reader reads it, or a list of values."""
    if reader.endswith("*"):
        return [read_value(reader[:-1], entry) for entry in value]
    return READERS[reader](value) if reader else value


def read_kind(group: str, body: Body, *context: Any) -> Any:
    """Call the function for this kind of a group of objects with the values of its other fields."""
    kind = f"{group} {body['kind']}"
    others = {name: value for name, value in body.items() if name != "kind"}
    return KINDS[kind](*context, *read(kind, others))


# ---- 3. Composition --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PairedResponses:
    """How responses depend on answers: of one channel, or of parts that are sent together.

    For a pair of answers, `pairs` has the groups of responses that have one ratio of probabilities. A group (p, q) has
    probability p / total under the first answer and q / total under the second. `pairs` is None if they are too many.
    """

    parity: Ratio  # the largest ratio of the probabilities of one response under two answers
    pairs: list[Groups] | None
    total: int
    # for each kind of garbling, what it is verified from
    forms: dict[str, Any]


@dataclass(frozen=True)
class Checked:
    """The recomputed claims and caveats of a document, and the law behind them."""

    claims: Body
    caveats: list[str]
    law: PairedResponses


def combine(
    parts: dict[str, Checked], each: int | None = None
) -> tuple[Body, PairedResponses]:
    """Return the claims of independent parts: of all together, or of `each` that are drawn evenly.

    Parities multiply, or the `each` largest of them do. The groups of all parts are the products of their groups. Where
    one part is drawn, δ is the mean of the parts' δ, each at its own worst pair; where several are, it is bounded.
    """
    check(each is None or 1 <= each < len(parts), "so many parts cannot be drawn")
    laws = [part.law for part in parts.values()]
    parities = [law.parity for law in laws]
    charge(len(laws) * len(laws).bit_length(), size(*parities))
    parities = sorted(parities, reverse=True)[:each]
    parity: Ratio = math.inf
    if math.inf not in parities:
        parity = accumulate(operator.mul, parities, ONE)
    pairs, total = product_groups(laws) if each is None else (None, 1)
    law = PairedResponses(
        parity=parity, pairs=pairs, total=total, forms={"factors": laws}
    )
    rule = {"rule": "all"} if each is None else {"rule": "some", "each": each}
    claims = {**rule, **guarantee(law)}
    claims["parts"] = {name: part.claims for name, part in parts.items()}
    if each == 1 and all(law.pairs for law in laws):

        def mean(gamma: Fraction) -> Fraction:
            deltas = (delta(law, gamma) for law in laws)
            return accumulate(operator.add, deltas, ZERO) / len(laws)

        claims["delta"] = curve(parity, mean)
    return claims, law


def product_groups(
    laws: Sequence[PairedResponses],
) -> tuple[list[Groups] | None, int]:
    """Return the groups of parts that are sent together, and their total; None if they are too many."""
    pairs: list[Groups] = [((1, 1),)]
    total = 1
    for law in laws:
        if law.pairs is None or len(laws) > MAX_PARTS:
            return None, 1
        terms = sum(map(len, pairs)) * sum(map(len, law.pairs))
        if terms > MAX_TERMS:
            return None, 1
        total *= law.total
        both = product(pairs, law.pairs)
        charge(2 * terms, size(total))
        products = ([(p * r, q * s) for p, q in g for r, s in h] for g, h in both)
        pairs = distinct(map(grouped, products))
    return pairs, total


def grouped(entries: Sequence[tuple[int, int]]) -> Groups:
    """Add up the weights (p, q) of responses that have one ratio p : q.

    Ratios are sorted, because integers can be chosen that a dictionary takes hours to tell apart.
    """
    parts = [(p, q, math.gcd(p, q)) for p, q in entries if p or q]
    lowest = sorted((p // common, q // common, common) for p, q, common in parts)
    groups = groupby(lowest, operator.itemgetter(0, 1))
    sums = [(p, q, sum(row[2] for row in rows)) for (p, q), rows in groups]
    return tuple((p * times, q * times) for p, q, times in sums)


def distinct(groups: Iterable[Groups]) -> list[Groups]:
    """Return different groups once."""
    return [one for one, _ in groupby(sorted(groups))]


def guarantee(law: PairedResponses) -> Body:
    """Return parity, ε = ln parity rounded up, and δ at nine values of γ = e^ε.

    Without groups, δ is the bound (γ* − γ) / (γ* + 1), which every channel of parity γ* keeps.
    """
    parity = law.parity

    def bound(gamma: Fraction) -> Fraction:
        if parity == math.inf:
            return ONE
        return (Fraction(parity) - gamma) / (Fraction(parity) + 1)

    claims: Body = {"parity": text(parity), "epsilon": repr(log_above(parity))}
    exact = law.pairs is not None
    claims["delta"] = curve(parity, partial(delta, law) if exact else bound)
    claims["delta"]["exact"] = exact
    return claims


def delta(law: PairedResponses, gamma: Fraction) -> Fraction:
    """Return the smallest δ at γ: the largest Σ (p − γ·q)₊ over all pairs of answers."""
    up, down = gamma.numerator, gamma.denominator
    pairs = law.pairs or []
    charge(sum(map(len, pairs)) // 2 + 2, size(law.total) + size(gamma))
    sums = (sum(max(0, down * p - up * q) for p, q in groups) for groups in pairs)
    return Fraction(max(sums), down * law.total)


def curve(parity: Ratio, delta_at: Callable[[Fraction], Fraction]) -> Body:
    """Return δ at γ = 1 + (parity − 1)·(step / 8)², or at powers of 2 if the parity is infinite."""
    charge(100, size(parity))
    gammas = [Fraction(1 << step) for step in range(9)]
    if parity != math.inf:
        gammas = [1 + (Fraction(parity) - 1) * step**2 / 64 for step in range(9)]
    points = [(text(gamma), text(delta_at(gamma))) for gamma in gammas]
    return {
        "exact": True,
        "curve": [{"gamma": gamma, "delta": delta} for gamma, delta in points],
    }


def log_above(parity: Ratio) -> float:
    """Return the smallest float that is not below ln(parity), with more digits until these decide."""
    if parity in (1, math.inf):
        return 0.0 if parity == 1 else math.inf
    charge(4, size(parity))
    exact, digits = Fraction(parity), 60
    while True:
        charge(digits // 2, 5 * digits)
        with localcontext(prec=digits):
            logarithm = (Decimal(exact.numerator) / Decimal(exact.denominator)).ln()
            nearest = float(logarithm)
            distance = Decimal(nearest) - logarithm
            if abs(distance) > Decimal(10) ** (4 - digits):
                return nearest if distance > 0 else math.nextafter(nearest, math.inf)
        digits *= 2


# ---- 4. Channels -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SingleChannel(PairedResponses):
    """One channel: `likelihoods(i, columns)` has P(i | j) for some answers j, up to a factor of the response i."""

    categories: int
    responses: int
    likelihoods: Likelihoods
    # whether every response has two likelihoods, with the parity as their ratio; None if that is infinite
    is_admissible: bool | None
    # if not 0, only so many responses are looked up: those of the first hash
    first: int = 0


def read_channel(body: Body) -> SingleChannel:
    """Read a channel of any kind from its integers."""
    channel: SingleChannel = read_kind("channel", body)
    return channel


def make_channel(
    k: int, n: int, sorts: list[tuple[int, Ratio]], **fields: Any
) -> SingleChannel:
    """Return a channel of k answers and n responses.

    `sorts` has the number of likelihoods and their largest ratio, for each sort of response. No channel of this parity
    tells more if every response has two likelihoods with the parity as their ratio.
    """
    parity = max(largest for _, largest in sorts)
    is_best = all(sort == (2, parity) for sort in sorts)
    admissible = None if parity == math.inf else is_best
    return SingleChannel(
        parity=parity, categories=k, responses=n, is_admissible=admissible, **fields
    )


def dense(total: int, rows: list[list[int]]) -> SingleChannel:
    """Return a table: P(i | j) = weights[i][j] / total."""
    check_lowest_terms(total, *(cell for row in rows for cell in row))
    return table(total, rows)


def table(total: int, rows: Sequence[Sequence[int]]) -> SingleChannel:
    """Return the channel of a table; the groups of every pair of answers are gone through if they are few."""
    columns = list(zip(*rows, strict=True))
    k, n = len(columns), len(rows)
    check(min(k, n) >= 2, "there are fewer than two responses or answers")
    whole = all(sum(column) == total > 0 for column in columns)
    check(whole, "probabilities do not add up to 1")
    pairs = None
    if k * (k - 1) * n <= MAX_COMPARED:
        charge(2 * k * (k - 1) * n, size(total))
        both = permutations(columns, 2)
        pairs = distinct(grouped(list(zip(*pair, strict=True))) for pair in both)
    sorts = []
    for row in filter(any, rows):
        low, high = min(row), max(row)
        between = any(low < cell < high for cell in row)
        sorts.append((1 + (low < high) + between, ratio(high, low)))

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        return [rows[i][j] for j in columns]

    forms = {"table": (total, k, n, likelihoods)}
    return make_channel(
        k, n, sorts, pairs=pairs, total=total, forms=forms, likelihoods=likelihoods
    )


def exchangeable(
    k: int, n: int, halves: Halves, total: int, **fields: Any
) -> SingleChannel:
    """Return a channel in which any two answers are alike, so that one pair of answers stands for all.

    `halves` are the groups that speak for one answer and against the other. They speak the other way round, too; all
    other responses do not tell the two answers apart. A half (0, 0) says that some response has one likelihood alone.
    """
    idle = total - sum(p + q for p, q in halves)
    charge(4 * len(halves), size(total))
    groups = grouped([*halves, *((q, p) for p, q in halves), (idle, idle)])
    sorts = [(2 - (p == q), max(ratio(p, q), ratio(q, p))) for p, q in halves]
    return make_channel(k, n, sorts, pairs=[groups], total=total, **fields)


def diagonal(k: int, same: int, other: int) -> SingleChannel:
    """Return a γ-diagonal channel: the answer itself with weight `same`, every other one with `other`.

    It is also a set of one category.
    """
    check_lowest_terms(same, other)
    check(k >= 2 and other >= 1, "a weight is 0, or there are too few answers")
    total = same + (k - 1) * other

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        return [same if i == j else other for j in columns]

    sets = k, {1: (ONE, Fraction(same, total))}
    forms = {"table": (total, k, k, likelihoods), "sets": sets}
    return exchangeable(
        k, k, [(same, other)], total, likelihoods=likelihoods, forms=forms
    )


def hadamard(k: int, large: int, small: int) -> SingleChannel:
    """Return rows of a Hadamard matrix of order K = 2^bits(k), but the first one.

    Response i has weight `large` where i + 1 and j + 1 have an even number of ones in common, as in K/2 − 1 rows. Two
    columns differ in half of the rows.
    """
    check_lowest_terms(large, small)
    check(k >= 2 and large > small >= 1, "the levels are not in order")
    quarter = 1 << k.bit_length() - 2
    n, total = 4 * quarter - 1, (2 * quarter - 1) * large + 2 * quarter * small

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        odd = ((i + 1 & j + 1).bit_count() % 2 for j in columns)
        return [small if is_odd else large for is_odd in odd]

    halves = [(quarter * large, quarter * small)] + [(0, 0)] * (k == 2)
    levels = Fraction(n * large, total), Fraction(n * small, total)
    forms = {
        "table": (total, k, n, likelihoods),
        "keep": (("hadamard", k), levels),
    }
    return exchangeable(k, n, halves, total, likelihoods=likelihoods, forms=forms)


def hashing(k: int, q: int, same: int, other: int) -> SingleChannel:
    """Return linear forms over a field of q values: response hash·q + value, `same` where the answer has this value.

    There are N = (q^m − 1) / (q − 1) hashes, m the digits of an answer in base q. Of these, q^(m−1) tell two answers
    apart, whichever they are. The first hash is the last digit; only its responses are looked up.
    """
    check_lowest_terms(same, other)
    check(k >= 2 and same > other >= 1, "the levels are not in order")
    check(2 <= q <= 1 << 31, "there are too few or too many values")
    charge(math.isqrt(q) // 16)
    prime = next((d for d in range(2, math.isqrt(q) + 1) if q % d == 0), q)
    is_power = q <= 256 and any(prime**r == q for r in range(2, 9))
    check(prime == q or is_power, "there is no field of so many values")
    power = next(q**m for m in range(54) if q ** (m + 1) >= k)
    hashes = (power * q - 1) // (q - 1)
    n, total = hashes * q, hashes * (same + (q - 1) * other)

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        return [same if i == j % q else other for j in columns]

    halves = [(power * same, power * other)] + [(0, 0)] * (k <= (q - 1) * power)
    levels = Fraction(n * same, total), Fraction(n * other, total)
    forms = {"keep": (("hashing", k, q), levels)}
    channel = exchangeable(k, n, halves, total, likelihoods=likelihoods, forms=forms)
    return replace(channel, first=q)


def subset(k: int, ones: int, inside: int, total: int) -> SingleChannel:
    """Return sets of one size."""
    check(1 <= ones < k, "sets are empty or full")
    return sets(k, total, [[ones, total, inside]])


def mixture(k: int, total: int, parts: list[Body]) -> SingleChannel:
    """Return sets of several sizes."""
    return sets(k, total, [read("size of sets", part) for part in parts])


def sets(k: int, total: int, rows: list[list[int]]) -> SingleChannel:
    """Return the channel of sets of t of k categories, for some t, each with P(t) = share / total.

    A set holds the answer with `inside` of `total`, the rest is even. For two answers
        P(t)·P(x in, x′ out | x) = share·inside·(k − t) / D  and  given x′  share·(total − inside)·t / D,
    with D = total²·(k − 1).
    """
    n = n_sets(k)
    check_lowest_terms(total, *(cell for row in rows for cell in row[1:]))
    sizes, shares, _ = zip(*rows, strict=True)
    rise = all(a < b for a, b in pairwise([*sizes, k + 1]))
    check(rise, "sizes of sets are repeated, or not in order")
    whole = sum(shares) == total and all(shares)
    check(whole, "weights of sizes do not add up to 1")
    filled = all(total * (t == k) <= own <= total * (t > 0) for t, _, own in rows)
    check(filled, "a set is ill filled")
    charge(12 * len(rows), 2 * size(total))
    odds = {t: (own * (k - t), (total - own) * t) for t, _, own in rows}

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        t = i.bit_count()
        even = int(t in odds), int(t in odds)
        return by_member(i, columns, odds[t] if t in odds and 0 < t < k else even)

    halves = [(share * odds[t][0], share * odds[t][1]) for t, share, _ in rows]
    chances = [
        (Fraction(share, total), Fraction(own, total)) for _, share, own in rows
    ]
    held = {t: (p, p * own) for t, (p, own) in zip(sizes, chances, strict=True)}
    forms = {"sets": (k, held)}
    return exchangeable(
        k, n, halves, total**2 * (k - 1), likelihoods=likelihoods, forms=forms
    )


def n_sets(k: int) -> int:
    """Return the number of sets of k categories."""
    check(2 <= k <= MAX_SET, "there are too few or too many categories for sets")
    charge(k // 1024)
    return 1 << k


def by_member(
    response: int, columns: Sequence[int], odds: tuple[int, int]
) -> list[int]:
    """Return the likelihoods of a set, from that of an answer in the set and of one that is not."""
    members = format(response, "b")[::-1]
    return [odds[members[j : j + 1] != "1"] for j in columns]


def patterns(k: int, total: int, parts: list[Body]) -> SingleChannel:
    """Return a mixture of patterns: sets within sets, one for each level above the lowest, in all orders.

    A pattern is sent with P = share / total. Let S = Σ n·w over its levels of n categories with the weight w. For two
    answers, the first on a level (n, w) and the second on a level (m, v),
        P(both | first) = share·n·m·w / D  and  P(both | second) = share·n·m·v / D,  with D = total·S·(k − 1).
    """
    rows = [read("pattern", part) for part in parts]
    shares = [share for share, _ in rows]
    check_lowest_terms(*shares)
    check(sum(shares) == total and all(shares), "weights do not add up to 1")
    levels = [read_levels(k, entries) for _, entries in rows]
    shapes = [tuple(n for n, _ in part) for part in levels]
    rise = all(a < b for a, b in pairwise(shapes))
    check(rise and len(set(map(len, shapes))) == 1, "patterns are not in order")
    sums = [sum(n * w for n, w in part) for part in levels]
    charge(len(sums), size(*sums) * len(sums))
    common = math.lcm(*sums)
    charge(9 * len(sums) * len(shapes[0]) ** 2, size(common) + 3 * size(total, k))
    halves = [
        (scale * n * m * w, scale * n * m * v)
        for part, share, each in zip(levels, shares, sums, strict=True)
        for scale in [share * (common // each)]
        for (m, v), (n, w) in combinations(part, 2)
        if n * m
    ]
    # all categories on one level
    halves += [(0, 0)] * sum(k in shape for shape in shapes)

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        return by_level(i, k, columns, levels)

    return exchangeable(
        k,
        n_sets((len(shapes[0]) - 1) * k),
        halves,
        total * common * (k - 1),
        likelihoods=likelihoods,
        forms={},
    )


def read_levels(k: int, entries: list[Body]) -> list[list[int]]:
    """Read the levels of a pattern, whose weights rise from 0 on; an empty level has none."""
    levels = [read("level of a pattern", entry) for entry in entries]
    present = [w for n, w in levels if n]
    check(2 <= len(levels) <= MAX_LEVELS, "a pattern has too few or too many levels")
    check(sum(n for n, _ in levels) == k, "a pattern is of other categories")
    rise = all(a < b for a, b in pairwise(present))
    check(rise and present[-1], "the weights of a pattern do not rise")
    check(not any(w for n, w in levels if not n), "an empty level has a weight")
    check_lowest_terms(*present)
    return levels


def by_level(
    response: int,
    k: int,
    columns: Sequence[int],
    parts: list[list[list[int]]],
) -> list[int]:
    """Return the likelihoods of nested sets, from the pattern that has as many categories on each level."""
    m = len(parts[0])
    charge(2 * m * k + len(parts))
    digits = format(response, f"0{(m - 1) * k}b")[::-1]
    sets = [digits[start : start + k] for start in range(0, len(digits), k)]
    heights = [sum(map(int, column)) for column in zip(*sets, strict=True)]
    nested = all(
        inner <= outer
        for pair in pairwise(sets)
        for outer, inner in zip(*pair, strict=True)
    )
    counts = [heights.count(level) for level in range(m)]
    weights = [
        [w for _, w in part] for part in parts if counts == [n for n, _ in part]
    ]
    return [weights[0][heights[j]] if nested and weights else 0 for j in columns]


def bits(k: int, hit: int, stray: int, total: int, _tally: str) -> SingleChannel:
    """Return bits, each by itself: 1 with `hit` of `total` for the answer's own and with `stray` for others.

    Only the two answers' own bits tell them apart.
        p = hit·(total − stray) / total²  and  q = stray·(total − hit) / total².
    """
    check_lowest_terms(hit, stray, total)
    check(max(hit, stray) <= total > 0, "a weight is above the total")
    n, odds = n_sets(k), (hit * (total - stray), stray * (total - hit))

    def likelihoods(i: int, columns: Sequence[int]) -> list[int]:
        return by_member(i, columns, odds if 0 < i.bit_count() < k else (1, 1))

    forms = {"bits": (hit, stray, total)}
    return exchangeable(
        k, n, [odds, (0, 0)], total**2, likelihoods=likelihoods, forms=forms
    )


# ---- 5. Claims of a channel ------------------------------------------------------------------------------------------


def channel_claims(channel: SingleChannel, stated: Body) -> Body:
    """Return parity, ε, δ, witness, admissibility and Bayes factors; with a prior, posteriors too."""
    k, n = channel.categories, channel.responses
    i, *pair = read_witness(stated, channel.first or n, k)
    attained = ratio(*channel.likelihoods(i, pair)) == channel.parity
    check(attained, "this is no witness of the parity")
    prior = read_prior(stated["prior"], k) if "prior" in stated else None
    rows = [(i, pair)] if k <= MAX_ANSWERS else []
    if k * n <= MAX_LISTED and not channel.first:
        rows = [(response, list(range(k))) for response in range(n)]
    claims = {
        **guarantee(channel),
        "witness": stated["witness"],
        "admissible": channel.is_admissible,
        "table": [bayes_factors(channel, *row, prior) for row in rows],
    }
    return claims if prior is None else {**claims, "prior": stated["prior"]}


def read_witness(stated: Body, responses: int, categories: int) -> tuple[int, ...]:
    """Read the response and the two answers at which the parity is attained."""
    response, likely, unlikely = read("witness", stated["witness"])
    pair = index(likely, categories), index(unlikely, categories)
    return index(response, responses), *pair


def read_prior(stated: list[str], categories: int) -> list[Fraction]:
    """Read a distribution of the answers."""
    prior = [fraction(share) for share in stated]
    is_whole = len(prior) == categories and min(prior) >= 0
    adds_up = is_whole and accumulate(operator.add, prior, ZERO) == 1
    check(adds_up, "the prior is no distribution")
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
    row = channel.likelihoods(response, range(k))
    factors = []
    for j in listed:
        others = row[:j] + row[j + 1 :]
        least, most = ratio(row[j], max(others)), ratio(row[j], min(others))
        factors.append({"answer": j, "least": text(least), "most": text(most)})
    claim: Body = {"response": index_text(response), "factors": factors}
    if prior is not None:
        charge(2 * k, size(*row) + size(*prior))
        joint = [share * p for share, p in zip(prior, row, strict=True)]
        whole = accumulate(operator.add, joint, ZERO)
        claim["posterior"] = (
            [text(joint[j] / whole) for j in listed] if whole else None
        )
    return claim


# ---- 6. Designs ------------------------------------------------------------------------------------------------------


def design(body: Body, stated: Body) -> Checked:
    """Check a design: a channel with labels, or several attributes side by side."""
    if "factors" not in body:
        return single_design(body, stated)
    _, factors = read("product", body)
    parts = attributes(factors, stated)
    claims, law = combine(parts)
    return Checked(claims, factor_caveats(parts), law)


def single_design(body: Body, stated: Body) -> Checked:
    """Check a design for one question: the claims of its channel, and as many labels as the channel has."""
    name, categories, symbols, channel_body, scale = read("design", body)
    channel = read_channel(channel_body)
    labels = n_labels(categories), n_labels(symbols)
    channel_size = channel.categories, channel.responses
    check(labels == channel_size, "there are other labels than the channel has")
    caveats = [FAMILY_CAVEATS[name]] if name in FAMILY_CAVEATS else []
    if scale is not None:
        low, high = scale
        check(low < high, "the range is empty")
        caveats = [NUMBER_CAVEAT]
    return Checked(channel_claims(channel, stated), caveats, channel)


def n_labels(labels: Json) -> int:
    """Return the number of labels: of a list, as a number, or 2^bits for sets."""
    if isinstance(labels, dict):
        return n_sets(*read("number of sets", labels))
    if isinstance(labels, list):
        check_names(labels, "a label")
        return len(labels)
    return integer(labels)


def check_names(names: list[str], what: str) -> None:
    """Refuse names that are no texts, or occur twice: the last one would hide the others."""
    is_once = len(set(map(label, names))) == len(names)
    check(is_once, f"{what} occurs twice")


def attributes(factors: list[Body], stated: Body) -> dict[str, Checked]:
    """Check the designs of two or more attributes, by name."""
    rows = [read("factor", factor) for factor in factors]
    check(len(rows) >= 2, "there are fewer than two attributes")
    check_names([attribute for attribute, _ in rows], "an attribute")
    return {
        attribute: single_design(body, stated["parts"][attribute])
        for attribute, body in rows
    }


def factor_caveats(parts: dict[str, Checked]) -> list[str]:
    """Return the caveats of the attributes in one text."""
    caveats = [(name, text) for name, part in parts.items() for text in part.caveats]
    joined = " ".join(f"{name!r}: {text}" for name, text in caveats)
    return [joined] if joined else []


def drawn_design(body: Body, stated: Body) -> Checked:
    """Check attributes of which `each` are drawn for a respondent."""
    factors, each = read("drawn-design", body)
    parts = attributes(factors, stated)
    claims, law = combine(parts, each)
    return Checked(claims, [DRAWN_CAVEAT, *factor_caveats(parts)], law)


def number_tree(body: Body, stated: Body) -> Checked:
    """Check a tree of 4, 16, … buckets of a range: a response is about one of its levels."""
    factors, each, tree = read("bucket-design", body)
    ends, count, _ = read("buckets", tree)
    low, high = map(fraction, ends)
    check(low < high, "the range is empty")
    check(count in (16, 64, 256, 1024) and each == 1, "there are other buckets")
    claims, law = combine(attributes(factors, stated), each)
    designs = [(factor["attribute"], factor["design"]) for factor in factors]
    sizes = [(name, n_labels(design["categories"])) for name, design in designs]
    levels = [4**level for level in range(1, 6) if 4**level <= count]
    is_tree = sizes == [(f"1/{nodes}", nodes) for nodes in levels]
    check(is_tree, "the levels are not those of the buckets")
    return Checked(claims, BUCKET_CAVEATS, law)


def ladder(body: Body, stated: Body) -> Checked:
    """Check stages of one answer: each is a garbling P₁ = C·P₂ of the next, so the last one's claims hold for all."""
    designs, steps = read("ladder", body)
    pairs = zip(designs, stated["parts"], strict=True)
    stages = [design(*pair) for pair in pairs]
    questions = {canonical(question_of(stage)) for stage in designs}
    check(len(questions) == 1, "stages have other categories")
    laws = pairwise(stage.law for stage in stages)
    for drawn, garbling, (old, new) in zip(
        steps, stated["garblings"], laws, strict=True
    ):
        check_garbling(drawn, garbling, old, new)
    last = stages[-1]
    claims = {name: last.claims[name] for name in ("parity", "epsilon", "delta")}
    claims |= {"rule": "last", "parts": [stage.claims for stage in stages]}
    claims |= {"garblings": stated["garblings"]}
    return Checked(claims, last.caveats, last.law)


def question_of(body: Body) -> list[Json]:
    """Return what a stage asks for: the categories of each attribute, and the range of numbers."""
    if "factors" not in body:
        return [body["categories"], body.get("range")]
    parts = body["factors"]
    return [[part["attribute"], question_of(part["design"])] for part in parts]


def survey(body: Body, stated: Body) -> Checked:
    """Check all questions together, or the `each` that reveal most where some are drawn."""
    _, _, _, questions, _, _, _, _, _, each, arms, *_ = read("survey", body)
    check(questions, "there is no question")
    check_names([question["name"] for question in questions], "a question")
    check(not (each and arms), "questions are drawn twice")
    parts, caveats, checks = {}, [], []
    for question in questions:
        name, _, _, one, stages, _, about, right, _ = read("question", question)
        check(not (one and stages), "a question has a design and a ladder")
        check((about is None) == (right is None), "a check has no right answer")
        kinds = ["ladder"] if stages else FIELDED
        parts[name] = check_document(stages or one, stated["parts"][name], kinds)
        caveats += [f"{name}: {caveat}" for caveat in parts[name].caveats]
        checks += [f"{name}: {CHECK_CAVEAT}"] if about else []
    claims, law = combine(parts, each)
    caveats += [*checks, *([ARMS_CAVEAT] if arms else []), SURVEY_CAVEAT]
    return Checked(claims, caveats, law)


def edge_design(body: Body, stated: Body) -> Checked:
    """Check the design for the weight of an edge, which is 0, 1/2 or 1."""
    items, choice = read("one-edge-design", body)
    check(n_labels(items) >= 1, "there is no item")
    labels = choice["categories"], choice["symbols"]
    check(labels == (["0", "1/2", "1"],) * 2, "the answers are other weights")
    return replace(check_document(choice, stated, ["design"]), caveats=[EDGE_CAVEAT])


# ---- 6.1 Strings: filters of up to h ones, each bit randomized by itself


def string_design(body: Body, stated: Body) -> Checked:
    """Check a design for strings.

    Two strings differ in n bits that are 1 for the first alone, and in m that are 1 for the second alone. More such
    bits never tell less, so m is as large as n allows. The groups are those of `bit_groups`.
    """
    bloom, channel_body = read("string-design", body)
    _, k, hashes, cohorts, alphabet, lengths = read("filter", bloom)
    rise = all(a < b for a, b in pairwise([0, *(lengths or ())]))
    check(rise, "lengths of prefixes do not rise")
    check((alphabet is None) == (lengths is None), "prefixes lack their alphabet")
    check(1 <= hashes <= 16 and cohorts, "there are too many or too few hashes")
    channel = read_channel(channel_body)
    bit = channel.forms["bits"]
    check(0 < bit[1] < bit[0], "a 1 is not sent more often where it is true")
    check(channel.categories == k <= 1 << 20, "these are not the bits of the filter")
    first = range(1, min(hashes, k - 1) + 1)
    pairs = [bit_groups(bit, n, min(hashes, k - n), 2 * hashes) for n in first]
    parity = max(ratio(p, q) for groups in pairs for p, q in groups)
    response, *filters = read_witness(stated, 1 << k, 1 << k)
    most = max(ones.bit_count() for ones in filters)
    check(most <= hashes, "this is no witness: a filter has more ones than hashes")
    chances = [bit_weight(bit, response, *pair) for pair in permutations(filters)]
    check(ratio(*chances) == parity, "this is no witness of the parity")
    total = bit[2] ** (2 * hashes)
    law = PairedResponses(
        parity=parity, pairs=distinct(pairs), total=total, forms={}
    )
    claims = {"rule": "bits", **guarantee(law), "witness": stated["witness"]}
    return Checked(claims, [STRING_CAVEAT], law)


def bit_groups(bit: tuple[int, int, int], n: int, m: int, power: int) -> Groups:
    """Return the groups of n and m bits, over total^power, with a ones among the n and b among the m.

    p = B(a; n, hit)·B(b; m, stray) and q = B(a; n, stray)·B(b; m, hit), where B is the binomial distribution.
    """
    hit, stray, total = bit
    charge(2 * (n + 1) * (m + 1), power * size(total))

    def binomial(bits: int, ones: int, one: int) -> int:
        powers: int = one**ones * (total - one) ** (bits - ones)
        return math.comb(bits, ones) * powers

    scale = total ** (power - n - m)
    return grouped([
        (
            scale * binomial(n, a, hit) * binomial(m, b, stray),
            scale * binomial(n, a, stray) * binomial(m, b, hit),
        )
        for a, b in product(range(n + 1), range(m + 1))
    ])  # fmt: skip


def bit_weight(
    bit: tuple[int, int, int], response: int, own: int, other: int
) -> int:
    """Return the weight, given the filter `own`, of those bits of a response in which two filters differ."""
    hit, stray, total = bit
    weight = 1
    for ones, one in ((own & ~other, hit), (other & ~own, stray)):
        sent = (response & ones).bit_count()
        weight *= one**sent * (total - one) ** (ones.bit_count() - sent)
    return weight


# ---- 6.2 Key-value items: an item is drawn evenly and named, or one of ℓ padded places is drawn


def item_design(body: Body, stated: Body) -> Checked:
    """Check items with weights."""
    _, items, low, high, scheme = read("keyvalue-design", body)
    check(low < high, "the range is empty")
    m = n_labels(items)
    check(m >= 1, "there is no item")
    ratios = read_kind("scheme", scheme, m)
    if isinstance(ratios, SingleChannel):
        return Checked(channel_claims(ratios, stated), [], ratios)
    law = PairedResponses(parity=max(ratios.values()), pairs=None, total=1, forms={})
    check(stated["witness"].keys() == {"marked"}, "this is no witness")
    marked = index(stated["witness"]["marked"], m + 1)
    check(ratios.get(marked) == law.parity, "this is no witness of the parity")
    claims = {"rule": "padded", **guarantee(law), "witness": stated["witness"]}
    return Checked(claims, [], law)


def read_symbol(body: Body) -> SingleChannel:
    """Read the channel of one item: a table whose answers are none, + and −."""
    channel = read_channel(body)
    fits = "table" in channel.forms and channel.categories == 3 >= channel.responses
    check(fits, "this is no channel of an item")
    return channel


def vector_ratios(m: int, places: int, symbol: Body) -> dict[int, Ratio]:
    """Return the largest ratio of a vector of symbols, by the number of items that it marks + or −.

    An item in the drawn place multiplies the probability of the vector by P(symbol | item) / P(symbol | none); all is
    multiplied here by P(none | none)·P(+ | none). Between 0, ℓ, m − ℓ and m marked items both extreme sums are linear
    in their number, so the largest ratio is at one of these.
    """
    check(1 <= places <= min(m, MAX_PLACES), "there are too few or too many places")
    channel = read_symbol(symbol)
    check(channel.responses == 3, "a symbol is missing")
    rows = (channel.likelihoods(i, range(3)) for i in range(3))
    (none, lost, gone), (stray, same, turned), minus = rows
    mirrored = lost == gone and minus == [stray, turned, same]
    check(mirrored, "+ and − are treated differently")
    check(none and stray, "a symbol never comes without an item")
    signs = none * same, none * turned
    empty, unmarked = (none * stray, places), lost * stray
    return {
        marked: place_ratio(signs, marked, [(unmarked, m - marked), empty], places)
        for marked in {0, places, m - places, m}
    }


def single_ratios(
    m: int, places: int, same: int, turned: int, other: int, total: int
) -> dict[int, Ratio]:
    """Return the largest ratio where one item with a sign is sent (1 is marked), and where nothing is (0).

    A drawn item is sent with weight `same`, with the other sign with `turned`; every other item, with each sign, with
    `other`; nothing with what is left. An empty place sends each item with each sign with `other`.
    """
    check_lowest_terms(same, turned, other, total)
    check(1 <= places <= min(m, MAX_PLACES), "there are too few or too many places")
    nothing = total - same - turned - 2 * (m - 1) * other
    idle = total - 2 * m * other
    check(min(nothing, idle) >= 0 < other, "weights do not add up to 1")
    return {
        1: place_ratio((same, turned), 1, [(other, places)], places),
        0: place_ratio((same, turned), 0, [(nothing, m), (idle, places)], places),
    }


def place_ratio(
    signs: tuple[int, int], marked: int, others: Halves, places: int
) -> Ratio:
    """Return the largest ratio of two means over ℓ places, whose values are chosen from (value, number) freely.

    With at most ℓ items the mean is largest for the ℓ largest values; a further item only adds a smaller one.
    """
    charge(places, size(*signs))

    def values(sign: int) -> list[int]:
        numbers = [(sign, marked), *others]
        return sorted(v for value, n in numbers for v in [value] * min(n, places))

    return ratio(sum(values(max(signs))[-places:]), sum(values(min(signs))[:places]))


# ---- 6.3 Decks: against a collector who knows the cards of all others


def deck(body: Body, stated: Body) -> Checked:
    """Check a deck of which each respondent draws a card: members send its number i, others send L + 1 − i.

    The collector knows the n − 1 cards of the others. With c cards of a number and c′ of its mirror image, the parity
    is the largest c / (c′ − (n − 1))₊. The groups are those of `hand_groups`.
    """
    counts, people, categories = read("deck", body)
    check(n_labels(categories) == 2, "there are more than two categories")
    cards, numbers = sum(counts), len(counts)
    fits = 2 <= numbers <= MAX_CARDS and 2 <= people <= cards <= MAX_CARDS
    check(fits, "there are too few or too many cards")
    lean = sum((2 * at + 1 - numbers) * count for at, count in enumerate(counts))
    check(lean, "members and others send the same on average")
    rows = list(zip(counts, reversed(counts), strict=True))
    apart = {
        at: row for at, row in enumerate(rows) if 2 * at + 1 != numbers and row[0]
    }
    ratios = {at: ratio(a, max(b - people + 1, 0)) for at, (a, b) in apart.items()}
    check(stated["witness"].keys() == {"response"}, "this is no witness")
    worst = index(stated["witness"]["response"], numbers)
    parity = max(ratios.values())
    check(ratios.get(worst) == parity, "this is no witness of the parity")
    left = cards - people + 1
    pairs = [hand_groups(list(apart.values()), cards, left)]
    total = math.comb(cards, left) * left
    law = PairedResponses(parity=parity, pairs=pairs, total=total, forms={})
    claims = {"rule": "deck", **guarantee(law), "witness": stated["witness"]}
    claims["alone"] = channel_claims(table(cards, rows), stated["alone"])
    return Checked(claims, [DECK_CAVEAT], law)


def hand_groups(apart: list[tuple[int, int]], cards: int, left: int) -> Groups:
    """Return the groups of all hands of the cards that are left, over C(cards, left)·left.

    A hand has x of a cards of one number and y of b of its mirror image, in C(a, x)·C(b, y)·C(cards − a − b, rest)
    ways, and its last respondent sends the number with probability x / left or y / left.
    """
    terms = sum((min(a, left) + 1) * (min(b, left) + 1) for a, b in apart)
    charge(2 * terms, cards)
    choices: dict[int, list[int]] = {}
    for n in {count for a, b in apart for count in (a, b, cards - a - b)}:
        charge(2 * min(n, left), n)
        choices[n] = [math.comb(n, chosen) for chosen in range(min(n, left) + 1)]
    hands = []
    for a, b in apart:
        rest = choices[cards - a - b]
        for x, y in product(range(len(choices[a])), range(len(choices[b]))):
            if 0 <= left - x - y < len(rest):
                ways = choices[a][x] * choices[b][y] * rest[left - x - y]
                hands.append((x * ways, y * ways))
    return grouped(hands)


# ---- 6.4 Caveats

UNRELATED_CAVEAT = (
    "The ε of the unrelated question holds only against those who do not know its answer: a yes from somebody whose "
    "unrelated answer is known to be no proves the sensitive one. Let a random device answer the unrelated question."
)
FAMILY_CAVEATS = {
    "simmons": UNRELATED_CAVEAT,
    "mangat_unrelated": UNRELATED_CAVEAT,
    "correlated_question": UNRELATED_CAVEAT,
    "mangat_singh_singh": UNRELATED_CAVEAT,
    "crosswise": "The ε of the crosswise model holds only against those who do not know the answer to the harmless "
    "question; whoever knows it reads the sensitive answer off the response. Let a random device answer the harmless "
    "question.",
    "number_sequence": "The ε of the number sequences holds only against those who do not see which sequence the "
    "respondent picked; whoever sees it reads the sensitive answer off the response.",
    "triangular": "What a yes of the triangular model hides holds only against those who do not know the answer to the "
    "harmless question: from somebody who is known to say no to it, the response gives the sensitive answer away.",
    "hard_garbling": "In hard garbling the application turns the answers over, so the true answer reaches it: this "
    "hides nothing from whoever runs the application.",
    "direct": "Answers are sent as they are; nothing is hidden.",
    "exposing_subset": "Some respondents, drawn at random, send their answer as it is: for them nothing is hidden. "
    "Their share is the δ that remains at every ε.",
}
NUMBER_CAVEAT = "A number is first rounded to a level of its range, which tells no more than the number."
DRAWN_CAVEAT = (
    "Which items were drawn is sent along; it does not depend on the answers."
)
BUCKET_CAVEATS = [
    "Which level was drawn is sent along; it does not depend on the number.",
    "A number tells its bucket, and the bucket its nodes: they reveal no more than the number.",
]
EDGE_CAVEAT = "Which item a respondent has an edge to is sent as it is; only the weight of the edge is protected."
STRING_CAVEAT = (
    "The cohort is sent along; it is drawn before anything is known of the string."
)
DECK_CAVEAT = (
    "ε is that against a collector who sees all responses and knows the answers of all other respondents; a response "
    "that is seen alone has claims of its own."
)
CHECK_CAVEAT = "a comprehension check, which is about the device; it is counted here all the same."
ARMS_CAVEAT = "Each respondent is asked the questions of one arm; all questions are counted here all the same."
SURVEY_CAVEAT = "Other things that a survey learns, such as a group or the time of a response, are not covered."


# ---- 7. Garblings ----------------------------------------------------------------------------------------------------

DERIVED = {"kind": "derived"}


def check_garbling(
    drawn: Body, garbling: Body, old: PairedResponses, new: PairedResponses
) -> None:
    """Check that `garbling` leads from the finer law to the coarser one, and is what the document draws with.

    The document stores this very garbling, or says that it is derived from the two stages.
    """
    kind = garbling["kind"]
    # a law that has no such form cannot be garbled so
    forms = old.forms[kind], new.forms[kind]
    if kind == "factors":  # each attribute by itself
        steps = read_kind("garbling", garbling)
        stored = [DERIVED] * len(steps) if drawn == DERIVED else drawn["steps"]
        same = drawn in (DERIVED, {"kind": kind, "steps": stored})
        check(same, "responses are drawn by another garbling")
        for step in zip(stored, steps, *forms, strict=True):
            check_garbling(*step)
        return
    written = {"kind": "written", "channel": {**garbling, "kind": "dense"}}
    nested = {**garbling, "kind": "nested"}
    stored = {"table": written, "sets": nested}.get(kind, DERIVED)
    same = canonical(drawn) in (canonical(DERIVED), canonical(stored))
    check(same, "responses are drawn by another garbling")
    leads = read_kind("garbling", garbling, *forms)
    check(leads, "a stage is not the garbling of the next that is claimed")


def leads_by_keeping(old: Any, new: Any, share: Fraction) -> bool:
    """Check n·P₁ = share·n·P₂ + 1 − share: a response is kept with probability `share`, else any is drawn evenly."""
    (old_kind, old_levels), (kind, levels) = old, new
    kept = tuple(share * level + 1 - share for level in levels)
    return bool(0 <= share <= 1 and old_kind == kind and old_levels == kept)


def leads_by_bits(old: Any, new: Any, hit: Fraction, stray: Fraction) -> bool:
    """Check P₁(1) = hit·P₂(1) + stray·(1 − P₂(1)) for both sorts of bits: each bit is drawn again by itself."""
    coarse = [Fraction(one, old[2]) for one in old[:2]]
    fine = [Fraction(one, new[2]) for one in new[:2]]
    is_channel = 0 <= min(hit, stray) <= max(hit, stray) <= 1
    made = [hit * p + stray * (1 - p) for p in fine]
    return bool(is_channel and coarse == made)


def leads_by_sets(old: Any, new: Any, shares: list[list[Json]]) -> bool:
    """Check how often each size s comes out, and how often it then holds the answer.

    A row (s, t, near, far, free) leads from sets of t to sets of s that have as many members in common as can be, as
    few as can be, or any. If they share c members on average, the answer is among the s with probability c / t where
    it was among the t, and (s − c) / (k − t) where it was not. That is enough: both sides treat all categories alike.
    """
    (_, old_sizes), (k, new_sizes) = old, new
    sizes = dict.fromkeys(old_sizes, (ZERO, ZERO))
    left = dict.fromkeys(new_sizes, ONE)
    for s, t, *ways in shares:
        weight, inside = new_sizes[integer(t)]
        charge(80, size(*sizes[integer(s)]) + size(left[t]))
        common = Fraction(min(s, t)), Fraction(max(0, s + t - k)), Fraction(s * t, k)
        for share, c in zip(map(fraction, ways), common, strict=True):
            check(share >= 0, "shares are negative")
            p_in = inside * c / t if t else ZERO
            p_out = (weight - inside) * (s - c) / (k - t) if t < k else ZERO
            drawn, held = sizes[s]
            sizes[s] = drawn + weight * share, held + share * (p_in + p_out)
            left[t] -= share
    check(not any(left.values()), "shares do not add up to 1")
    return bool(sizes == old_sizes)


def leads_by_table(old: Any, new: Any, total: int, rows: list[list[int]]) -> bool:
    """Check P₁ = C·P₂ cell by cell."""
    (old_total, k, n, old_row), (new_total, _, finer, new_row) = old, new
    garbling = dense(total, rows)
    if (garbling.responses, garbling.categories) != (n, finer):
        return False
    charge(n * finer * k, size(total, old_total, new_total))
    columns = list(zip(*(new_row(u, range(k)) for u in range(finer)), strict=True))
    return all(
        sum(map(operator.mul, row, column)) * old_total == cell * total * new_total
        for i, row in enumerate(rows)
        for column, cell in zip(columns, old_row(i, range(k)), strict=True)
    )


# ---- 8. Numbers and cost ---------------------------------------------------------------------------------------------


class TimeLeft(threading.local):
    """Microseconds that are left for the certificate at hand."""

    left = MAX_COST


BUDGET = TimeLeft()


def charge(operations: int, bits: int = 0) -> None:
    """Take the time of operations on integers of so many bits from the budget; refuse before they are done.

    Bound: the answer takes less than two seconds.

    Why: one operation (a sum, product, quotient, greatest common divisor or text of integers of b bits, with what
    Python does around it) takes at most 1.5·(1 + b/256 + (b/1024)²) µs; one of fractions counts as two. Every loop
    whose length the certificate decides is charged before its first pass, by its passes and its largest integer. All
    else takes a time linear in the length of the file, which `parse` charges, or of a document in it, which `unseal`
    does. Only text and small integers are keys of sets and dictionaries: large ones can be chosen so that looking them
    up takes quadratic time.
    """
    BUDGET.left -= operations * (1 + bits // 256 + (bits // 1024) ** 2)
    check(BUDGET.left >= 0, "to check it would take more than a second")


def size(*numbers: Ratio) -> int:
    """Return the most bits of a numerator or denominator."""
    finite = [number for number in numbers if not isinstance(number, float)]
    parts = [part for number in finite for part in number.as_integer_ratio()]
    return max((part.bit_length() for part in parts), default=0)


def accumulate(
    operation: Callable[[Any, Any], Fraction],
    numbers: Iterable[Ratio],
    result: Fraction,
) -> Fraction:
    """Return the sum or the product of fractions, whose denominators grow."""
    for number in numbers:
        charge(2, size(result) + size(number))
        result = operation(result, number)
    return result


def ratio(p: int, q: int) -> Ratio:
    """Return p / q: p / 0 is infinite, and 0 / 0 tells nothing."""
    charge(2, size(p, q))
    return Fraction(p, q) if q else math.inf if p else ONE


def check_lowest_terms(*weights: int) -> None:
    """Refuse weights that have something in common: each channel is written in one way."""
    check(math.gcd(*weights) == 1, "numbers are not in lowest terms")


def label(value: Json) -> str:
    """Return a text."""
    check(type(value) is str, "a text is missing")
    return str(value)


def integer(value: Json) -> int:
    """Return a number of JSON: an integer from 0 to 2^53, the last one that no reader of JSON rounds."""
    number: int = value if type(value) is int else -1
    fits = 0 <= number <= MAX_NUMBER
    check(fits, f"{value!r:.40} is no integer from 0 to {MAX_NUMBER:,}")
    return number


def weight(value: Json) -> int:
    """Return a weight: an integer of 0 or more as decimal text."""
    is_short = type(value) is str and len(value) <= MAX_DIGITS
    fits = is_short and value.isascii() and value.isdecimal()
    check(fits, f"{value!r:.40} is no weight")
    charge(2, 4 * len(value))
    check(str(int(value)) == value, f"{value!r:.40} is no weight")
    return int(value)


def fraction(value: Json) -> Fraction:
    """Return a fraction in lowest terms."""
    is_short = type(value) is str and len(value) <= 2 * MAX_DIGITS
    # an exponent would make a number of any size
    fits = is_short and set(value) <= set("-/0123456789")
    check(fits, "a fraction is missing")
    charge(4, 4 * len(value))
    number = Fraction(value)
    check(text(number) == value, f"{value!r:.40} is no fraction in lowest terms")
    return number


def text(number: Ratio) -> str:
    """Return a fraction as text."""
    charge(2, size(number))
    return "inf" if number == math.inf else str(Fraction(number))


def index(value: Json, end: int) -> int:
    """Return the number of a response or an answer, which is below `end`."""
    is_short = type(value) is str and len(value) <= 20 + end.bit_length() // 4
    number = int(value, 0) if is_short else -1
    fits = 0 <= number < end and index_text(number) == value
    check(fits, f"{value!r:.40} is no index of this channel")
    return number


def index_text(number: int) -> str:
    """Return an index as a certificate writes it: in base 16 where a float would round it."""
    return str(number) if number < MAX_NUMBER else hex(number)


# ---- Functions by the names of `FIELDS`

READERS = {"text": label, "integer": integer, "weight": weight, "fraction": fraction}
SUBJECTS: dict[str, Callable[[Body, Body], Checked]] = {
    "design": design,
    "drawn-design": drawn_design,
    "bucket-design": number_tree,
    "ladder": ladder,
    "survey": survey,
    "string-design": string_design,
    "keyvalue-design": item_design,
    "one-edge-design": edge_design,
    "deck": deck,
}
# what a page draws with, but for ladders
FIELDED = ("design", "drawn-design", "string-design", "keyvalue-design")
CHANNELS: Any = (dense, diagonal, hadamard, hashing, subset, mixture, patterns, bits)
KINDS: dict[str, Callable[..., Any]] = {
    **{f"channel {channel.__name__}": channel for channel in CHANNELS},
    "scheme index": lambda _, symbol: read_symbol(symbol),
    "scheme unary": vector_ratios,
    "scheme direct": single_ratios,
    "garbling factors": lambda steps: steps,
    "garbling keep": leads_by_keeping,
    "garbling bits": leads_by_bits,
    "garbling sets": leads_by_sets,
    "garbling table": leads_by_table,
}

if __name__ == "__main__":
    main(sys.argv[1:])
