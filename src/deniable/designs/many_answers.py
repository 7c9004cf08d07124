"""Designs that send one code, for any number of answers: k-ary, matrix, forced and negative, Hadamard, hashing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Dense, Diagonal
from deniable.channel.fields import (
    MAX_VALUES,
    POWERS,
    digits_of,
    field,
    is_prime,
    next_prime,
)
from deniable.channel.two_level import Hadamard, Hashing
from deniable.designs import labels
from deniable.designs.design import Design
from deniable.designs.labels import NO_YES, Labels, Numbered
from deniable.designs.registry import Purpose, register
from deniable.errors import InvalidDesign, InvalidRequest, require_one
from deniable.exact import Rational


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 5, "epsilon": "1/2"},
    {"categories": 4, "epsilon": 2, "low": True},
    {"categories": 3, "p": "0.7"},
    {"categories": 3, "p": "1/10"},
    purpose=Purpose.TELEMETRY,
)
def k_ary(
    categories: Labels,
    epsilon: Rational | None = None,
    *,
    p: Rational | None = None,
    low: bool = False,
) -> Design:
    """Keep the answer with the largest probability ε allows, else send another category, each evenly.

    Give either ε or the probability p that the answer is sent unchanged; p below 1/k sends the other categories more
    often than the answer. `low=True` asks for that side at a given ε.

    Implements: k-ary randomized response [KBR16]; the γ-diagonal matrix of [Cha19], Theorem 6.1; EWRR_n of [MW21].

    Guarantee: from ε, integer weights that sum to 2^64 (before they are brought to lowest terms) and whose ratio is at
    most e^ε; from p, exactly p.

    Why: with r ≤ e^ε and other = ⌈2^64 / (r + k − 1)⌉, same = 2^64 − (k − 1)·other ≤ r·other. On the low side
    other = ⌊2^64·r / ((k − 1)·r + 1)⌋ leaves same ≥ 2^64 / ((k − 1)·r + 1) ≥ other / r.

    Args:
        categories: the possible answers, or how many there are.
        epsilon: the most that may be revealed.
        p: instead of ε, the probability that the answer is sent unchanged.
        low: send others more often than the answer itself.

    Raises:
        InvalidDesign: fewer than two categories, p = 1/k, or an ε that 64-bit weights cannot honour.
        InvalidRequest: neither or both of ε and p.

    Example:
        >>> k_ary(["yes", "no"], epsilon=1).epsilon
        1.0
        >>> k_ary(1_000_000, epsilon=1).parity < Fraction("2.7182818284590453")
        True
    """
    category_labels = labels.read(categories)
    channel = diagonal(len(category_labels), epsilon, p, low=low)
    return Design("k_ary", category_labels, category_labels, channel).within(epsilon)


def diagonal(
    size: int,
    epsilon: Rational | None,
    p: Rational | None,
    *,
    low: bool = False,
) -> Diagonal:
    """Build the channel from ε or from p.

    Raises:
        InvalidRequest: neither or both are given.
    """
    require_one("For example epsilon=1, or p=0.75.", epsilon=epsilon, p=p)
    if epsilon is not None:
        return _from_ratio(size, exact.gamma_below(epsilon), low=low)
    if low:
        raise InvalidRequest(
            "low goes with epsilon; a p below 1/k is on that side by itself."
        )
    assert p is not None
    return _from_probability(size, exact.probability(p, name="p"))


def _from_ratio(size: int, ratio: Fraction, *, low: bool) -> Diagonal:
    n_others = size - 1
    if low:
        other_weight = int(TOTAL * ratio / (n_others * ratio + 1))
    else:
        other_weight = -int(-TOTAL / (ratio + n_others) // 1)
    same = TOTAL - n_others * other_weight
    if same <= 0 or (same <= other_weight) != low or same == other_weight:
        raise _too_fine(size)
    return Diagonal(size, same, other_weight)


def _too_fine(size: int) -> InvalidDesign:
    return InvalidDesign(
        f"with {size:,} categories this ε is too fine for weights that sum to 2^64; expected fewer or a larger ε."
    )


def _from_probability(size: int, p: Fraction) -> Diagonal:
    if p == Fraction(1, size):
        raise InvalidDesign(
            f"p = 1/{size} sends every category equally often whatever the answer; expected another p.",
            f"Above 1/{size} the answer is sent more often than each other category, below less often.",
        )
    if p == 1 or (p == 0 and size == 2):
        raise InvalidDesign(
            f"p = {p} gives every answer away; expected a p between 0 and 1.",
            "Or ask the question directly.",
        )
    p_other = (1 - p) / (size - 1)
    return Diagonal(
        size, p.numerator * p_other.denominator, p_other.numerator * p.denominator
    )


@register(
    {
        "rows": [["5/6", "1/6"], ["1/6", "5/6"]],
        "categories": ["carrier", "not"],
        "symbols": ["yes", "no"],
    },
    {"rows": [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]]},
    {"rows": [[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]]},
    {"rows": [["1/2", 0, "1/3"], ["1/2", "1/2", "1/3"], [0, "1/2", "1/3"]]},
    purpose=Purpose.EXPLICIT,
)
def matrix(
    rows: Sequence[Sequence[Rational]],
    *,
    categories: Labels | None = None,
    symbols: Labels | None = None,
) -> Design:
    """Build a design from its matrix: `rows[i][j]` is the probability of response i given answer j.

    Floats are read as the decimals they show; "1/6" and Fractions are taken as they are.

    Guarantee: the parity of exactly these numbers; infinite where a row holds both a zero and a positive number.

    Args:
        rows: a row for each response, a column for each answer; each column sums to 1.
        categories: the possible answers; numbered, if they are not given.
        symbols: the possible responses; as the categories where there are as many, else numbered.

    Raises:
        InvalidDesign: not a rectangle of at least 2 × 2, or a column that does not add up to exactly 1.
        InvalidNumber: a cell that is no probability.

    Example:
        >>> forced = matrix([["5/6", "1/6"], ["1/6", "5/6"]], categories=["yes", "no"])
        >>> forced.parity
        Fraction(5, 1)
    """
    channel = Dense.from_rows(_read_cells(rows))
    square = channel.answers == channel.responses
    answer_labels = categories if categories is not None else channel.answers
    if symbols is None:
        symbols = answer_labels if square else channel.responses
    return Design("matrix", answer_labels, symbols, channel)  # type: ignore[arg-type]  # Design reads labels


def _read_cells(rows: Sequence[Sequence[Rational]]) -> list[list[Fraction]]:
    try:
        return [
            [
                exact.probability(cell, name=f"P[{i}][{j}]")
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(rows)
        ]
    except TypeError:
        raise InvalidDesign(
            "the matrix is not a table; expected a list of rows of numbers."
        ) from None


@register(
    {"honest": "2/3", "yes": "1/6", "no": "1/6"},
    {"honest": "3/4", "yes": "1/8"},
    {"honest": "1/2", "yes": "2/5", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def forced_response(
    honest: Rational,
    yes: Rational,
    no: Rational | None = None,
    *,
    categories: Labels = NO_YES,
) -> Design:
    """Let a device say whether to answer honestly, to say yes, or to say no.

    With a die: 1 says no, 2 says yes, 3 to 6 tell the truth: honest 4/6, yes 1/6, no 1/6.

    Implements: forced response [Bor71] as in [BIZ15], with all three probabilities known.

    Guarantee: parity (honest + s) / s with s the smaller of `yes` and `no`; infinite where one of them is 0.

    Args:
        honest: the probability of an honest answer.
        yes: the probability of a forced yes, the second category.
        no: the probability of a forced no; what is left, if it is not given.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: the three do not sum to 1, or `honest` is 0 or 1.
        InvalidNumber: not probabilities.

    Example:
        >>> forced_response("2/3", "1/6", "1/6").parity
        Fraction(5, 1)
    """
    channel = forced_channel(_read_device(honest, yes, no))
    return Design("forced_response", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels


def _read_device(
    honest: Rational, yes: Rational, no: Rational | None
) -> list[Fraction]:
    """Return the probabilities of a forced no and of a forced yes."""
    truth, up = exact.probabilities(honest=honest, yes=yes)
    down = 1 - truth - up if no is None else exact.probability(no, name="no")
    if down < 0 or truth + up + down != 1:
        raise InvalidDesign(
            f"honest = {honest}, yes = {yes} and no = {no or 0} do not sum to 1; expected exactly that.",
            'For a die: forced_response("2/3", "1/6", "1/6").',
        )
    if truth in (0, 1):
        raise InvalidDesign(
            f"honest is {truth}; expected a probability between 0 and 1.",
            "At 0 the responses say nothing about the answers, at 1 they are the answers.",
        )
    return [down, up]


def forced_channel(forced: Sequence[Fraction]) -> Dense:
    """Return the channel that sends category i whatever is true with probability f_i, and else the truth."""
    truth = 1 - sum(forced)
    return Dense.from_rows(
        [
            [f + (truth if i == j else 0) for j in range(len(forced))]
            for i, f in enumerate(forced)
        ]
    )


@register(
    {"forced": ["1/10", "1/20", "1/10", "3/20"]},
    {"forced": ["1/6", "1/6", "1/6"], "categories": ["never", "once", "often"]},
    {"forced": [0, "1/5", "1/5"]},
    purpose=Purpose.SEVERAL,
)
def forced_choice(
    forced: Sequence[Rational], *, categories: Labels | None = None
) -> Design:
    """Let a device say whether to answer honestly, or which of several categories to say.

    Implements: forced response [Bor71] for any number of categories. With two it has the channel of
    `forced_response(1 − no − yes, yes, no)`, and with all shares equal that of `k_ary`.

    Guarantee: with q = 1 − Σ f the parity max (q + f_i) / f_i; infinite where some f_i is 0, because that category is
    then sent by nobody else.

    Why: everybody sends category i with probability f_i, and those whom it is true of with q more.

    Args:
        forced: the probability that each category is said whatever is true, in the order of the categories.
        categories: the possible answers; numbered, if they are not given.

    Raises:
        InvalidDesign: fewer than two, or probabilities that sum to 0, or to 1 or more.
        InvalidNumber: not probabilities.

    Example:
        >>> forced_choice(["1/10", "1/20", "1/10", "3/20"]).parity
        Fraction(13, 1)
    """
    shares = _read_forced(forced)
    category_labels = labels.read(len(shares) if categories is None else categories)
    return Design(
        "forced_choice", category_labels, category_labels, forced_channel(shares)
    )


def _read_forced(forced: Sequence[Rational]) -> list[Fraction]:
    """Read the probabilities of forced categories, which leave some for an honest answer."""
    is_list = isinstance(forced, Sequence) and not isinstance(forced, str)
    if not is_list or len(forced) < 2:
        raise InvalidDesign(
            "forced is not a list of at least 2 probabilities.",
            'For example ["1/10", "1/10", "1/5"].',
        )
    shares = [
        exact.probability(share, name=f"forced[{i}]")
        for i, share in enumerate(forced)
    ]
    if not 0 < sum(shares) < 1:
        raise InvalidDesign(
            f"the forced categories have a probability of {sum(shares)} together; expected one between 0 and 1.",
            "What is left is the probability of an honest answer.",
        )
    return shares


@register(
    {"categories": 4},
    {"categories": ["red", "green", "blue"]},
    purpose=Purpose.SEVERAL,
)
def negative_survey(categories: Labels) -> Design:
    """Send a category that is not the answer, each of the others evenly.

    Implements: the negative survey of [Esp06]. It has the channel of `k_ary(categories, p=0)`.

    Guarantee: ε is infinite: every response proves that its category is not the answer. Between two categories that
    were not sent, it changes nothing.

    Why: column j holds 0 in row j and 1/(k − 1) in every other row.

    Args:
        categories: the possible answers, at least three, or how many there are.

    Raises:
        InvalidDesign: fewer than three categories; with two, the other one gives the answer away.

    Example:
        >>> negative_survey(["red", "green", "blue"]).bayes_factors("red", "red")
        (Fraction(0, 1), Fraction(0, 1))
    """
    category_labels = labels.read(categories)
    if len(category_labels) < 3:
        raise InvalidDesign(
            f"there are {len(category_labels)} categories; expected at least 3.",
            "With two, whoever says the other gives it away.",
        )
    return Design(
        "negative_survey",
        category_labels,
        category_labels,
        diagonal(len(category_labels), None, 0),
    )


@register(
    {"categories": 3, "epsilon": 1},
    {"categories": ["red", "green", "blue", "white", "black"], "epsilon": 2},
    {"categories": 7, "epsilon": "1/2"},
    purpose=Purpose.TELEMETRY,
)
def hadamard(categories: Labels, epsilon: Rational) -> Design:
    """Send a row of a Hadamard matrix, more often one that is +1 in the answer's column.

    A response is a number below the smallest power of two above k, 20 bits for a million categories, and takes the
    same time to draw for any k. All shares are estimated together by one fast transform. For small ε it is nearly as
    good as any design can be; at ε = 1 its variances are a quarter above the best, and for larger ε `local_hashing`
    tells far more.

    Implements: Hadamard response in its high-privacy form [ASZ19], without the row that is +1 everywhere: it says
    nothing, and leaving it out is the repair of Lemma 5.4 of [Cha19].

    Guarantee: integer weights whose ratio is at most e^ε and whose sum is at most 2^64, short of it by less than k.

    Why: with h = K/2, small = ⌈2^64 / (r(h − 1) + h)⌉ and large = ⌊(2^64 − h·small) / (h − 1)⌋ ≤ r·small for r ≤ e^ε.

    Args:
        categories: the possible answers, or how many there are.
        epsilon: the most that may be revealed.

    Raises:
        InvalidDesign: fewer than two categories, or an ε that 64-bit weights cannot honour for so many.

    Example:
        >>> design = hadamard(1_000_000, epsilon=1)
        >>> len(design.symbols), design.epsilon
        (1048575, 0.9999999999998717)
    """
    category_labels = labels.read(categories)
    ratio = exact.gamma_below(epsilon)
    half = 1 << len(category_labels).bit_length() >> 1
    small = -int(-TOTAL / (ratio * (half - 1) + half) // 1)
    large = (TOTAL - half * small) // (half - 1)
    if large <= small:
        raise _too_fine(len(category_labels))
    return Design(
        "hadamard",
        category_labels,
        Numbered(2 * half - 1),
        Hadamard(len(category_labels), large, small),
    ).within(epsilon)


MAX_CELLS = 1 << 24
"""Cells of a tally that a default choice may make: 128 MiB of counts."""


@register(
    {"categories": 5, "epsilon": 1},
    {"categories": ["red", "green", "blue", "white"], "epsilon": 1, "values": 2},
    {"categories": 7, "epsilon": 2, "values": 3},
    {"categories": 7, "epsilon": 1, "values": 4},
    purpose=Purpose.TELEMETRY,
)
def local_hashing(
    categories: Labels, epsilon: Rational, *, values: int | None = None
) -> Design:
    """Draw a public hash of the categories, and send it with the hashed answer, randomized.

    Its shares vary as little as those of any design can for very many categories, at every ε. A response is one number
    for the pair of hash and value; the hash is drawn without looking at the answer. All shares are estimated together
    by one fast transform: the tally counts pairs, about k·q/(q − 1) of them where k is near a power of q.

    Implements: optimal local hashing (OLH) of [WBL17], with a hash family of our own: the linear forms over the field
    of q values (a simplex code) in place of random hash functions. Any two categories meet under exactly the same
    number of hashes, so that estimates are unbiased for every answer exactly, not only on average over random hashes.
    A response supports the points of an affine hyperplane, where the projective geometry response of [FNN22] supports
    those of a projective one. `values=2` is binary local hashing, as in [BS15].

    Guarantee: given the hash, exactly the ε of the q-ary diagonal channel on hashed values; integer weights whose ratio
    is at most e^ε and whose sum is at most 2^64, short of it by less than the number of hashes.

    Args:
        categories: labels, or how many there are.
        epsilon: the largest ε.
        values: how many values a hash has, a prime, or a power of one up to 256; by default the one near e^ε + 1 with
            the smallest variance, among those whose tally has at most 2^24 cells if there are any.

    Raises:
        InvalidDesign: fewer than two categories, values that make no field, or an ε that 64-bit weights cannot honour.

    Example:
        >>> design = local_hashing(1_000_000, epsilon=1)
        >>> design.channel.values, design.epsilon, len(design.symbols)
        (4, 0.9999999999998678, 1398100)
    """
    category_labels = labels.read(categories)
    ratio = exact.gamma_below(epsilon)
    size = len(category_labels)
    q = best_values(size, ratio) if values is None else field(values).values
    channel = _hashing_channel(size, q, ratio)
    symbols = Numbered(channel.responses)
    return Design("local_hashing", category_labels, symbols, channel).within(epsilon)


def _hashing_channel(size: int, q: int, ratio: Fraction) -> Hashing:
    """Return the channel that hashes to q values, with weights whose ratio is at most that given."""
    hashes = (q ** digits_of(size - 1, q) - 1) // (q - 1)
    hash_weight = TOTAL // hashes
    other_weight = -int(-hash_weight / (ratio + q - 1) // 1)
    same = hash_weight - (q - 1) * other_weight
    if other_weight < 1 or same <= other_weight:
        raise _too_fine(size)
    return Hashing(size, q, same, other_weight)


def best_values(size: int, ratio: Fraction) -> int:
    """Return the number of hash values with the smallest variance, among those with a tally that fits.

    Why: n times the variance of a share of 1/k is λ(1 − λ)/(p − s)², where s is the chance that a response supports a
    category that is not the answer, p that it supports the answer, and λ = s + (p − s)/k. At even shares the sum over
    all categories is largest. For many categories it is smallest at q = e^ε + 1, and flat there.
    """
    fitting = [
        q for q in _candidates(size, float(ratio)) if _cells(size, q) <= MAX_CELLS
    ]
    if not fitting:
        return min(_candidates(size, float(ratio)), key=lambda q: _cells(size, q))
    return min(fitting, key=lambda q: (_variance(size, q, float(ratio)), q))


def _candidates(size: int, ratio: float) -> list[int]:
    """Return candidate fields: all up to 256, primes near e^ε + 1, and the smallest for each number of digits.

    A field of more values than categories is of no use but for the smallest, where the value is the answer itself.
    """
    largest = next_prime(min(size, MAX_VALUES // 2))
    about: Iterable[float] = (
        (ratio + 1) * 2 ** (step / 8) for step in range(-24, 25)
    )
    roots: Iterable[float] = (
        size ** (1 / digits) for digits in range(1, size.bit_length() + 1)
    )
    sizes = {min(max(2, math.floor(size)), largest) for size in (*about, *roots)}
    small = {
        q
        for q in range(2, max(POWERS) + 1)
        if q <= largest and (q in POWERS or is_prime(q))
    }
    return sorted(small | {next_prime(size) for size in sizes})


def _cells(size: int, q: int) -> int:
    power: int = q ** digits_of(size - 1, q)
    return (power - 1) // (q - 1) * q


def _variance(size: int, q: int, ratio: float) -> float:
    power: int = q ** digits_of(size - 1, q)
    meet = (power // q - 1) / (power - 1)
    p, r = ratio / (ratio + q - 1), 1 / (ratio + q - 1)
    s = meet * p + (1 - meet) * r
    gap = p - s
    even = s + gap / size
    # an ε that no float tells from 0
    return even * (1 - even) / (gap * gap) if gap * gap > 0 else math.inf
