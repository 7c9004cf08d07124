"""Blackwell's order: one design is coarser than another if its responses can be made from the other's.

`find_step` is the one place where this is decided: from the table of closed forms, else by a linear program made exact.
A step has a garbling; where there is no step, a game proves it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from deniable import exact
from deniable.channel import Channel, Dense, Product, Sets
from deniable.channel.product import join, mixed_radix_digits
from deniable.designs.design import Design
from deniable.designs.labels import same_labels
from deniable.errors import Incompatible, InvalidRequest
from deniable.order.admissibility import channel_of
from deniable.order.closed_forms import factor_pairs, find_closed_form, through_sets
from deniable.order.programs import (
    Feasible,
    Mixing,
    Reduced,
    Row,
    Table,
    decide,
    dot,
    integers,
    reduce,
)
from deniable.order.sets import Nested, SetShare, p_held_by_ways
from deniable.order.steps import Factors, Step, Tabulated
from deniable.rendering import Rendered

MAX_UNKNOWNS = 200_000
"""Unknowns of the program for two tables in floats: seconds."""
MAX_PIVOTED = 20_000
"""Cells of the table of the exact simplex method for two tables; beyond this it takes minutes."""
_MAX_WORK = 300_000_000  # equations cubed times the bits of a weight, in the program for sets: some ten seconds
_MAX_PAYOFFS = 1 << 18  # cells of a game that are written out: a second


@dataclass(frozen=True)
class Garbling:
    """The coarse design can be made from the fine one; true as a truth value.

    Attributes:
        step: the relaxation whose garbling it is.
    """

    step: Step

    @cached_property
    def channel(self) -> Channel | None:
        """C with coarse = C·fine exactly; None where it is known but too large to write out."""
        return self.step.written()

    @property
    def recipe(self) -> str:
        """Recipe in words: how a coarse response is made from a fine one."""
        return self.step.recipe

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Separation:
    """A proof that the coarse design cannot be made from the fine one; false as a truth value.

    A player sees a response, then names a response of the coarse design and is paid by the true answer. Who sees the
    coarse design and names what was sent earns `coarse`, summed over all answers; who sees the fine one earns at most
    `fine`, however it is used, and `coarse > fine`.

    Attributes:
        payoffs: for responses of the coarse design, what naming them pays at each answer; all others pay nothing.
            Empty where the game is known but too large to write out.
        coarse: what the coarse design earns.
        fine: the most that the fine design can earn.
        game: what the game is, in words.
    """

    payoffs: Mapping[int, Row]
    coarse: Fraction
    fine: Fraction
    game: str = "name a response of the coarse design and be paid by the answer"

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Order(Rendered):
    """Result of a comparison of two designs in Blackwell's order.

    Attributes:
        relation: "equal", "finer" (the first tells more), "coarser" (the second does), or "incomparable".
        second_from_first: the garbling that makes the second from the first, or the proof that there is none.
        first_from_second: the other way round.
    """

    relation: str
    second_from_first: Garbling | Separation
    first_from_second: Garbling | Separation

    def __str__(self) -> str:
        return self.to_text()


def compare(first: Design | Channel, second: Design | Channel) -> Order:
    """Compare two designs in Blackwell's order, with garblings or proofs that there are none.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.designs import k_ary
        >>> compare(k_ary(4, epsilon=2), k_ary(4, epsilon=1)).relation
        'finer'
    """
    down, up = garbling(second, first), garbling(first, second)
    names = {
        (True, True): "equal",
        (True, False): "finer",
        (False, True): "coarser",
        (False, False): "incomparable",
    }
    return Order(names[bool(down), bool(up)], down, up)


def garbling(
    coarse: Design | Channel, fine: Design | Channel
) -> Garbling | Separation:
    """Return C with coarse = C·fine, or a proof that there is none.

    Implements: the comparison of experiments [Bla51]: in closed form for pairs of one family, by exact elimination
    where the rows of the fine channel are independent, else by a linear program whose result, either way, is turned
    into rationals and checked.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.designs import k_ary
        >>> step = garbling(k_ary(4, p="1/2"), k_ary(4, p="3/4"))
        >>> step.channel
        Diagonal(size=4, same=5, other=1)
        >>> bool(garbling(k_ary(4, p="3/4"), k_ary(4, p="1/2")))
        False
    """
    coarse_channel, fine_channel = channel_of(coarse), channel_of(fine)
    label_lists = [
        design.categories for design in (coarse, fine) if isinstance(design, Design)
    ]
    if coarse_channel.answers != fine_channel.answers or (
        len(label_lists) == 2 and not same_labels(*label_lists)
    ):
        raise Incompatible(
            f"the designs are about {coarse_channel.answers:,} and {fine_channel.answers:,} answers, or call them "
            "differently; expected the same answers in the same order."
        )
    step = find_step(coarse_channel, fine_channel)
    return Garbling(step) if isinstance(step, Step) else step


def find_step(old: Channel, new: Channel) -> Step | Separation:
    """Return the relaxation from one channel to another, or a proof that there is none.

    Raises:
        InvalidRequest, InvalidDesign: no closed form, and too large for a linear program in exact numbers.
    """
    closed_step: Step | Separation | None = find_closed_form(old, new)
    if closed_step is None:
        closed_step = by_parity(old, new)
    if closed_step is None:
        closed_step = _by_factors(old, new)
    if closed_step is None:
        closed_step = _by_sets(old, new)
    return by_tables(old, new) if closed_step is None else closed_step


def by_parity(old: Channel, new: Channel) -> Separation | None:
    """Separate a channel of larger parity: garbling never raises it.

    The game: name the response that attains the larger parity γ₁; it pays 1 at the likely answer and −γ₂ at the
    unlikely one. No response of the fine channel makes that worth while.
    """
    limit = new.parity
    if not isinstance(limit, Fraction) or old.parity <= limit:
        return None
    response, likely, unlikely = old.witness
    earned = old.probability(response, given=likely) - limit * old.probability(
        response, given=unlikely
    )
    pays = [Fraction(0)] * old.answers
    pays[likely], pays[unlikely] = Fraction(1), -limit
    return Separation(
        {response: tuple(pays)},
        earned,
        Fraction(0),
        "bet on the answer that a response points to most",
    )


def _by_factors(old: Channel, new: Channel) -> Step | Separation | None:
    """Compare factor by factor.

    Why: factors that are garbled one by one garble the product. Conversely, a garbling of the product garbles a
    factor, when the other factors are drawn for some fixed answers and what comes out of them is forgotten.
    """
    pairs = factor_pairs(old, new)
    if pairs is None:
        return None
    assert old.product is not None
    assert new.product is not None
    steps: list[Step] = []
    for number, pair in enumerate(pairs):
        step = find_step(*pair)
        if isinstance(step, Separation):
            return _lift_separation(step, old.product, number)
        steps.append(step)
    return Factors(old.product, new.product, tuple(steps))


def _lift_separation(
    separation: Separation, old: Product, factor: int
) -> Separation:
    """Play a factor's game in the product: it pays where all other answers are 0, whatever else is named."""
    answers = [factor.answers for factor in old.factors]
    responses = [factor.responses for factor in old.factors]
    lifted: dict[int, Row] = {}
    if math.prod(answers) * math.prod(responses) > _MAX_PAYOFFS:
        return Separation(
            lifted, separation.coarse, separation.fine, separation.game
        )
    for i, pay in separation.payoffs.items():
        row = [Fraction(0)] * math.prod(answers)
        for j, value in enumerate(pay):
            row[
                join([j if f == factor else 0 for f in range(len(answers))], answers)
            ] = value
        lifted.update(
            {
                r: tuple(row)
                for r in range(old.responses)
                if mixed_radix_digits(r, responses)[factor] == i
            }
        )
    return Separation(lifted, separation.coarse, separation.fine, separation.game)


def _by_sets(old: Channel, new: Channel) -> Step | Separation | None:
    """Compare the sets that both send, if they do; a single category is a set of one."""
    step: Step | Separation | None = through_sets(old, new, by_sizes)
    if isinstance(step, Separation) and old.as_sets() is not old:
        payoffs = {
            members.bit_length() - 1: pay for members, pay in step.payoffs.items()
        }
        return replace(step, payoffs=payoffs)
    return step


def by_sizes(old: Sets, new: Sets) -> Nested | Separation:
    """Return the garbling of one channel of sets into another, or a game that proves that there is none.

    Implements: the linear program of F12 for mixtures. Its unknowns are, for each pair of sizes, how often a finer set
    is degraded to a coarser one as near to it, and as far apart from it, as it can be.

    Raises:
        InvalidRequest: too many sizes.

    Example:
        >>> from deniable.channel import Subset
        >>> by_sizes(Subset(4, 2, 3, 5), Subset(4, 1, 3, 5)).shares
        (SetShare(coarse=2, fine=1, near=Fraction(5, 7), apart=Fraction(2, 7), free=Fraction(0, 1)),)
    """
    coarse, fine = (
        [size for size in mixture.sizes if mixture.weight(size)]
        for mixture in (old, new)
    )
    too_large = _check_work(old, new, coarse, fine)
    solution = decide(
        _mixing_of_sizes(old, new, coarse, fine),
        too_large=too_large,
        most_pivoted=_MAX_WORK,
    )
    if not isinstance(solution, Feasible):
        flat, extra = (
            solution.multipliers[: len(coarse)],
            solution.multipliers[len(coarse) :],
        )
        return _game_of_sizes(
            old, new, dict(zip(coarse, zip(flat, extra, strict=True), strict=True))
        )
    return _nested_sizes(old, new, coarse, fine, solution)


def _check_work(
    old: Sets, new: Sets, coarse: list[int], fine: list[int]
) -> InvalidRequest:
    """Refuse a program that is too large; return the error for one that grows too large later."""
    bits = max(
        mixture.weight(t).denominator.bit_length()
        for mixture, sizes in ((old, coarse), (new, fine))
        for t in sizes
    )
    too_large = InvalidRequest(
        f"comparing sets of {len(coarse)} with sets of {len(fine)} sizes is too large to decide in exact numbers; "
        "expected about 30 of each, fewer where weights are long.",
        "Raise a design to one of its own family, whose order is known in closed form.",
    )
    if (2 * len(coarse) + len(fine)) ** 3 * bits > _MAX_WORK:
        raise too_large
    return too_large


def _nested_sizes(
    old: Sets, new: Sets, coarse: list[int], fine: list[int], solution: Feasible
) -> Nested:
    """Return the garbling that a solution of the program describes."""
    masses = zip(solution.point[::2], solution.point[1::2], strict=True)
    pairs = [(s, t) for s in coarse for t in fine]
    shares = [
        SetShare(s, t, near, far, Fraction(0))
        for (s, t), (near, far) in zip(pairs, masses, strict=True)
    ]
    return Nested(
        old, new, tuple(share for share in shares if share.near or share.apart)
    )


def _mixing_of_sizes(
    old: Sets, new: Sets, coarse: Sequence[int], fine: Sequence[int]
) -> Mixing:
    """Write the program: each finer size goes somewhere; each coarser one comes out often enough, and holds x.

    Coordinates are how often each coarser size comes out, then how often it comes out and holds the answer.
    """
    count, weights = len(coarse), [old.weight(s) for s in coarse]
    columns = [
        {size_index: new.weight(t), count + size_index: new.weight(t) * p_held}
        for size_index, s in enumerate(coarse)
        for t in fine
        for p_held in p_held_by_ways(new, s, t)
    ]
    fine_indices = [
        fine_index
        for _ in coarse
        for fine_index in range(len(fine))
        for _ in ("near", "apart")
    ]
    holding = [
        weight * old.inclusion(s) for s, weight in zip(coarse, weights, strict=True)
    ]
    free = [
        weight * Fraction(s, old.size)
        for s, weight in zip(coarse, weights, strict=True)
    ]
    return Mixing(
        columns,
        fine_indices,
        (*weights, *holding),
        (*weights, *free),
        places_may_err=True,
    )


def _game_of_sizes(
    old: Sets, new: Sets, pays: Mapping[int, tuple[Fraction, Fraction]]
) -> Separation:
    """Turn multipliers into a game with a payoff for each set size, and one more where the set holds x.

    Payoffs are moved and scaled so that they reach from 0 to 1: then nobody gains by naming a set that is never sent.
    """
    lowest = min(min(a, a + b) for a, b in pays.values())
    highest = max(max(a, a + b) for a, b in pays.values())
    pays = {
        s: ((a - lowest) / (highest - lowest), b / (highest - lowest))
        for s, (a, b) in pays.items()
    }
    earned = exact.total(
        old.weight(s) * (a + b * old.inclusion(s)) for s, (a, b) in pays.items()
    )
    fine_sizes = [t for t in new.sizes if new.weight(t)]
    best = exact.total(
        new.weight(t)
        * max(
            a + b * p_held
            for s, (a, b) in pays.items()
            for p_held in p_held_by_ways(new, s, t)
        )
        for t in fine_sizes
    )
    assert earned > best, "the multipliers prove that there is no relaxation"
    k = old.size
    written: dict[int, Row] = {}
    if sum(math.comb(k, s) for s in pays) * k <= _MAX_PAYOFFS:
        for s, (a, b) in pays.items():
            for members in combinations(range(k), s):
                written[sum(1 << j for j in members)] = tuple(
                    a + b * (j in members) for j in range(k)
                )
    return Separation(written, k * earned, k * best, _describe_game(pays))


def _describe_game(pays: Mapping[int, tuple[Fraction, Fraction]]) -> str:
    if len(pays) > 1:
        clauses = (
            f"a set of {s} pays {float(a):.4g} and {float(b):+.4g} if it holds the answer"
            for s, (a, b) in pays.items()
        )
        return f"name a set: {'; '.join(clauses)}"
    ((size, (_, extra)),) = pays.items()
    return f"name a set of {size} categories that {'holds' if extra > 0 else 'does not hold'} the answer"


def by_tables(old: Channel, new: Channel) -> Tabulated | Separation:
    """Compare two channels that are written out, whatever their kinds.

    Raises:
        InvalidDesign, InvalidRequest: too large.
    """
    coarse_table, fine_table = old.dense(), new.dense()
    ours, theirs = _merge_rows(coarse_table), _merge_rows(fine_table)
    mixing_rows = _solve_by_elimination(ours.rows, theirs.rows)
    if mixing_rows is None:
        mixing_rows = _by_program(ours.rows, theirs.rows)
    if isinstance(mixing_rows, dict):
        return _separate_tables(mixing_rows, ours, coarse_table, fine_table)
    columns = [theirs.places.get(u, 0) for u in range(fine_table.responses)]
    cells = [
        [
            mixing_rows[ours.places[i]][u] * ours.shares[i]
            if i in ours.places
            else Fraction(0)
            for u in columns
        ]
        for i in range(coarse_table.responses)
    ]
    step = Tabulated(old, new, Dense.from_rows(cells))
    assert step.verify(), "the garbling gives back the coarse channel exactly"
    return step


def _separate_tables(
    mixing_rows: dict[int, Row],
    ours: _MergedTable,
    coarse_table: Dense,
    fine_table: Dense,
) -> Separation:
    """Return the game on all rows, from one on merged rows."""
    # A response that never occurs must not pay more than the others where all of them pay something.
    spare = 0 if len(mixing_rows) == len(ours.rows) else None
    group_of_row = {
        i: ours.places.get(i, spare) for i in range(coarse_table.responses)
    }
    proof = separation(
        {
            i: mixing_rows[group]
            for i, group in group_of_row.items()
            if group in mixing_rows
        },
        coarse_table,
        fine_table,
    )
    assert proof is not None, (
        "a separation of merged rows separates the rows themselves"
    )
    return proof


def separation(
    payoffs: Mapping[int, Row], coarse: Dense, fine: Dense
) -> Separation | None:
    """Play the game: return the separation if the coarse design wins, else None."""
    ours, theirs = coarse.rows, fine.rows
    earned = exact.total(dot(pay, ours[i]) for i, pay in payoffs.items())
    # some response pays nothing and can always be named
    idle = len(payoffs) < coarse.responses
    best = exact.total(
        max([dot(pay, row) for pay in payoffs.values()] + [Fraction(0)] * idle)
        for row in theirs
    )
    return Separation(dict(payoffs), earned, best) if earned > best else None


class _MergedTable(NamedTuple):
    """Rows without zero or proportional ones; for each response that occurs its merged row, and its part of it."""

    rows: Table
    places: Mapping[int, int]
    shares: Mapping[int, Fraction]


def _merge_rows(channel: Dense) -> _MergedTable:
    groups = list(channel.proportional_rows().values())
    rows = [channel.sum_rows(group) for group in groups]
    return _MergedTable(
        tuple(
            tuple(Fraction(weight, channel.total) for weight in row) for row in rows
        ),
        {i: group_index for group_index, group in enumerate(groups) for i in group},
        {
            i: Fraction(sum(channel.weights[i]), sum(rows[group_index]))
            for group_index, group in enumerate(groups)
            for i in group
        },
    )


def _by_program(ours: Table, theirs: Table) -> Table | dict[int, Row]:
    """Return C with ours = C·theirs, or payoffs that separate them: each response of theirs goes to one of ours."""
    k, n = len(ours[0]), len(theirs)
    too_large = InvalidRequest(
        f"comparing {len(ours):,} with {n:,} responses over {k:,} answers is too large to decide in exact numbers; "
        "expected a few dozen of each.",
        "Compare designs of one family, whose order is known in closed form, or ones with fewer responses.",
    )
    if len(ours) * n > MAX_UNKNOWNS:
        raise too_large
    columns = [
        {i * k + j: cell for j, cell in enumerate(row) if cell}
        for i in range(len(ours))
        for row in theirs
    ]
    means = [exact.total(row) / k for row in ours]
    target = tuple(cell for row in ours for cell in row)
    mixing = Mixing(
        columns,
        [*range(n)] * len(ours),
        target,
        tuple(mean for mean in means for _ in range(k)),
    )
    solution = decide(mixing, too_large=too_large, most_pivoted=MAX_PIVOTED)
    if isinstance(solution, Feasible):
        return tuple(solution.point[i * n : (i + 1) * n] for i in range(len(ours)))
    return {i: solution.multipliers[i * k : (i + 1) * k] for i in range(len(ours))}


def _solve_by_elimination(
    ours: Table, theirs: Table
) -> Table | dict[int, Row] | None:
    """Solve C·theirs = ours where the rows of `theirs` are independent, so that C is the only one; else None.

    With T·theirsᵀ reduced, a row of T that meets `theirs` nowhere and some row of `ours` is a game that only ours can
    play; and the row of T that picks one response u pays where C would have to send u with negative probability.
    """
    answers, width = len(ours[0]), len(theirs)
    if width > answers:
        return None
    columns = _joint_columns(ours, theirs, answers)
    reduced = reduce(integers(columns), width)
    if len(reduced.columns) < width:
        return None
    inverse_columns = slice(width, width + len(ours))
    for row in reduced.rows[width:]:
        for i, value in enumerate(row[inverse_columns]):
            if value:
                return {
                    i: tuple(
                        Fraction(cell) * (1 if value > 0 else -1)
                        for cell in row[width + len(ours) :]
                    )
                }
    for u, row in enumerate(reduced.rows[:width]):
        for i, value in enumerate(row[inverse_columns]):
            if Fraction(value, reduced.pivot) < 0:
                return {
                    i: tuple(
                        Fraction(-cell, reduced.pivot)
                        for cell in row[width + len(ours) :]
                    )
                }
        assert row[u] == reduced.pivot
    return _quotients(reduced, width, ours)


def _joint_columns(ours: Table, theirs: Table, answers: int) -> list[Row]:
    """Return the columns of both tables side by side, with the identity behind them."""
    return [
        (
            *(row[j] for row in theirs),
            *(row[j] for row in ours),
            *(Fraction(j == column) for column in range(answers)),
        )
        for j in range(answers)
    ]


def _quotients(reduced: Reduced, width: int, ours: Table) -> Table:
    return tuple(
        tuple(
            Fraction(reduced.rows[u][width + i], reduced.pivot) for u in range(width)
        )
        for i in range(len(ours))
    )
