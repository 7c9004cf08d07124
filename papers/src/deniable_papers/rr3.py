"""Document 000: three answers, and key-value data.

Corollaries 1 to 5 are about estimates and variances of the three-answer family, theorems 2 to 4 about its best members,
the lemmas about the ε of key-value mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable.designs import Design, k_ary, rr3_club, rr3_dagger, rr3_ddagger, warner
from deniable.designs.three_answers_best import (
    Club,
    club,
    conditions,
    optimum,
    slack,
)
from deniable.errors import InvalidDesign
from deniable.estimates import covariance, estimate
from deniable.exact import Rational, exp_below, rational
from deniable.report import rr3_omega
from deniable.tallies import Tally
from deniable.types.key_value.design import KeyValueDesign, lpp, lpp_ddagger, pckv_ue
from deniable.types.key_value.estimate import degree_factor
from deniable.types.key_value.respond import symbol_design
from deniable_papers.figures import moments
from deniable_papers.values import (
    Content,
    Exhibits,
    Printed,
    Setting,
    Value,
    compared,
    printed,
    starting,
)

exhibit = Exhibits("rr3")

_SHARES = (0.2, 0.3, 0.5)
_RESPONDENTS = 400
_BUDGETS = ((0.5, 0.5), (1.0, 1.0), (0.2, 2.0), (0.1, 0.5))
_STEP = Fraction(1, 10**12)
_GRID = (0.36, 0.4, 0.45, 0.5, 0.55)
_LOW_GRID = (0.3, 0.26, 0.22, 0.18, 0.16)


@exhibit("corollary", "1")
def corollary_1(setting: Setting) -> Content:
    """EWRR3: estimate and variance."""
    design = k_ary(3, p=0.7)
    values = (
        estimates(design, printed("000-eq15")),
        variances(design, printed("000-eq16")),
    )
    return _content(values, design, setting)


@exhibit("corollary", "2")
def corollary_2(setting: Setting) -> Content:
    """EWRR_n: estimate and variance."""
    design = k_ary(4, p=0.5)
    values = (
        estimates(design, printed("000-eq26")),
        variances(design, printed("000-eq27")),
    )
    return _content(values, design, setting, shares=(0.1, 0.2, 0.3, 0.4))


@exhibit("corollary", "3")
def corollary_3(setting: Setting) -> Content:
    """RR3†: estimate and variance."""
    design = rr3_dagger(0.7, 0.6)
    values = (
        estimates(design, printed("000-eq28-pi0")),
        estimates(design, printed("000-eq28-pi1")),
        variances(design, printed("000-eq29")),
        variances(design, printed("000-sec32-recipe"), category=1),
    )
    return _content(values, design, setting)


@exhibit("corollary", "4")
def corollary_4(setting: Setting) -> Content:
    """RR3‡: estimate, variance, and when there is one."""
    design = rr3_ddagger(0.8, 0.7)
    values = (
        estimates(design, printed("000-eq30-pi0")),
        estimates(design, printed("000-eq30-pi1")),
        variances(design, printed("000-eq31")),
        *(_estimable(printed(f"000-cor4-0.8-{p2}")) for p2 in (0.625, 0.5)),
    )
    return _content(values, design, setting)


@exhibit("corollary", "5")
def corollary_5(setting: Setting) -> Content:
    """RR3♣: estimate and variance."""
    design = rr3_club(0.8, 0.7, 0.9)
    values = (
        estimates(design, printed("000-eq32")),
        variances(design, printed("000-eq33")),
    )
    return _content(values, design, setting)


@exhibit("theorem", "2")
def theorem_2() -> Content:
    """EWRR3 with p above 1/3: the best p."""
    return _along_p(("000-eq34", "000-eq38a"), "000-eq35-0.5", _GRID, low=False)


@exhibit("theorem", "3")
def theorem_3() -> Content:
    """EWRR3 with p below 1/3: the best p."""
    return _along_p(("000-eq36", "000-eq38b"), "000-eq35-0.2", _LOW_GRID, low=True)


@exhibit("theorem", "4")
def theorem_4() -> Content:
    """RR3†: where the smallest variance of the first share lies."""
    known = [printed(f"000-{name}") for name in ("eq40a", "eq40b", "eq41", "eq42")]
    given = [_variance_at(entry) for entry in known]
    p1, p2 = (rational(known[0].inputs[name]) for name in ("p1", "p2"))
    third = Fraction(1, 3)
    values = (
        known[0].against(_slope(lambda at: given[0](at, p2), p1)),
        known[1].against(_slope(lambda at: given[1](p1, at), p2)),
        known[2].against(float(given[2](p1, third))),
        known[3].against(_slope(lambda at: given[3](at, third), p1)),
        _largest_p1(printed("000-lambda")),
    )
    return Content(
        values,
        ("ε", "π_0", "best p1", "best p2", "its variance, one respondent"),
        tuple(
            _best(epsilon, share)
            for epsilon in (0.5, 1, 1.5, 2)
            for share in (0.05, 0.3, 0.7)
        ),
        notes=(
            "The paper says that the smallest variance is only approached, with p2 falling to 1/3 and p1 = e^ε/3. "
            "That p1 breaks ε from e^ε = 2 on, and for a small π_0 and a large ε the best point is p1 = p2 (erratum "
            "0.11). The table holds the best points of the whole region, p2 below 1/3 included.",
        ),
    )


@exhibit("figure", "2")
def figure_2() -> Content:
    """The two parts of the region of RR3†."""
    entry = printed("000-omega1")
    design = rr3_dagger(entry.inputs["p1"], entry.inputs["p2"])
    return Content(
        (entry.against(design.epsilon),),
        described=(
            "Two panels in the (p1, p2) plane, one for each part of the region above 1/3: (a) Ω†(1), above the "
            "diagonal, and (b) Ω†(2), below it. Neither holds the diagonal itself."
        ),
        draw=lambda: rr3_omega(entry.inputs["eps"]),
        notes=(
            "The condition printed for panel (a) lets in the hatched triangle, whose designs have a larger ε than is "
            "promised (erratum 0.8). The paper prints no ε for the figure; ours is 1.",
        ),
    )


@exhibit("equation", "6")
def equation_6() -> Content:
    """The average degree of a bipartite graph."""
    entry = printed("000-eq6")
    people, items, edges = (entry.inputs[name] for name in ("n", "m", "edges"))
    return Content(
        (entry.against(edges * degree_factor(people, items, "items")),),
        notes=(
            "What is printed is the share of all pairs of vertices that are joined, not an average (erratum 0.12).",
        ),
    )


@exhibit("lemma", "1")
def lemma_1() -> Content:
    """The ε of LPP."""
    return Content(
        (
            compared(
                "000-lemma1",
                lambda given: lpp(2, given["eps1"], given["eps2"]).epsilon,
            ),
        ),
        (
            "ε₁",
            "ε₂",
            "ε, secret fake weight",
            "ε, fake weight 0 known",
            "ε, fake weight 1 known",
        ),
        tuple(
            (
                one,
                two,
                *(
                    lpp(2, one, two, fake_weight=fake).epsilon
                    for fake in (None, 0, 1)
                ),
            )
            for one, two in _BUDGETS
        ),
        notes=(
            "ε₁ + ε₂ is right only for a fake weight that everybody knows and that is as large as it can be. A secret "
            "one averages out: LPP is then LPP‡ (erratum 0.14).",
        ),
    )


@exhibit("lemma", "2")
def lemma_2() -> Content:
    """The ε of LPP‡."""
    return Content(
        tuple(
            entry.against(
                lpp_ddagger(
                    2, epsilon1=entry.inputs["eps1"], epsilon2=entry.inputs["eps2"]
                ).epsilon
            )
            for entry in starting("000-lemma2-")
        ),
        notes=(
            "Two edges of opposite weight can be told apart with ε₂ alone, which the lemma leaves out (erratum 0.13).",
        ),
    )


@exhibit("lemma", "3")
def lemma_3() -> Content:
    """The fake weight with the smallest ε."""
    entry = printed("000-eq54")
    one, two, tried = (entry.inputs[name] for name in ("eps1", "eps2", "tried"))
    found = {fake: lpp(2, one, two, fake_weight=fake).epsilon for fake in tried}
    # Where ε₂ decides, the weights of the channel are still rounded down: equal but for the last of 64 bits.
    least = [fake for fake in tried if found[fake] <= min(found.values()) + 1e-12]
    weights = (0, 0.05, 0.1, 0.25, 0.5, 1)
    return Content(
        (entry.against(least),),
        (
            "known fake weight",
            *(f"ε at ε₁ = {one:g}, ε₂ = {two:g}" for one, two in _BUDGETS),
        ),
        tuple(
            (
                fake,
                *(
                    lpp(2, one, two, fake_weight=fake).epsilon
                    for one, two in _BUDGETS
                ),
            )
            for fake in weights
        ),
        notes=(
            "A fake weight of 0 is best, but not alone where ε₂ decides (erratum 0.17).",
        ),
    )


@exhibit("lemma", "4")
def lemma_4() -> Content:
    """The ε of PCKV-UE."""
    vectors = [
        entry
        for prefix in ("000-lemma4-0", "000-eq57-")
        for entry in starting(prefix)
    ]
    alone = printed("000-lemma4-coordinate")
    return Content(
        (
            *(entry.against(_pckv(entry).epsilon) for entry in vectors),
            alone.against(symbol_design(_pckv(alone)).epsilon),
        ),
        notes=(
            "The ε of the lemma is that of a whole vector in which one item was put, not of the 3 × 3 matrix that the "
            "wording names (erratum 0.20); the line that derives it has two slips (erratum 0.19).",
        ),
    )


def estimates(design: Design, entry: Printed) -> Value:
    """Estimate the shares from the entry's counts: one of them, or the first ones, as many as are printed."""
    value = estimate(Tally(design, entry.inputs["counts"])).value
    which = entry.id.rpartition("-pi")[2]
    return entry.against(
        float(value[int(which)])
        if which.isdecimal()
        else value[: len(entry.printed)].tolist()
    )


def variances(design: Design, entry: Printed, category: int = 0) -> Value:
    """Return the variance of a share at the entry's shares; of shares that it does not name, even ones."""
    given = entry.inputs
    rest = len(design.categories) - 1
    shares = given.get("pi") or [given["pi0"], *[(1 - given["pi0"]) / rest] * rest]
    return entry.against(
        float(covariance(design, shares, given["N"])[category, category])
    )


def _estimable(entry: Printed) -> Value:
    try:
        rr3_ddagger(entry.inputs["p1"], entry.inputs["p2"])
    except InvalidDesign:
        # refused, because two answers send the same responses
        return entry.against("no")
    return entry.against("yes")


def _content(
    values: tuple[Value, ...],
    design: Design,
    setting: Setting,
    shares: tuple[float, ...] = _SHARES,
) -> Content:
    """Show printed values, and beside them what a simulation says of the mean and the variance of each share."""
    seen = moments(design.name, design, shares, _RESPONDENTS, setting)
    rows = tuple(
        (
            f"π_{category} = {share:g}",
            mean.simulated,
            mean.error,
            spread.theory,
            spread.simulated,
            spread.error,
        )
        for category, (share, mean, spread) in enumerate(
            zip(shares, seen[::2], seen[1::2], strict=True)
        )
    )
    return Content(
        values,
        (
            "share",
            "mean of the estimates",
            "± its error",
            "variance",
            "variance seen",
            "± its error",
        ),
        rows,
        points=tuple(seen),
        notes=(
            f"The table: {setting.repetitions:,} simulated surveys of {_RESPONDENTS} independent respondents.",
        ),
    )


def _pckv(entry: Printed) -> KeyValueDesign:
    """Build the design of an entry; its sign is kept as Warner's design of ε₂ keeps an answer."""
    sign = warner(entry.inputs["eps2"])
    kept = sign.probability(sign.symbols[0], given=sign.categories[0])
    return pckv_ue(2, a=entry.inputs["a"], b=entry.inputs["b"], p=kept, padding=1)


def _along_p(
    best: tuple[str, ...], slope: str, grid: tuple[float, ...], *, low: bool
) -> Content:
    """Show the best p on one side of 1/3, and that the variance falls all the way to it."""
    ends = [
        (entry, k_ary(entry.inputs["n"], entry.inputs["eps"], low=low))
        for entry in map(printed, best)
    ]
    designs = [*(k_ary(3, p=p) for p in grid), ends[0][1]]
    return Content(
        (
            *(entry.against(_kept(design)) for entry, design in ends),
            _slope_of_p(printed(slope)),
        ),
        ("p", "ε of the design", "variance of π_0 = 0.3, one respondent"),
        tuple(
            (
                _kept(each),
                each.epsilon,
                float(covariance(each, (0.3, 0.35, 0.35), 1)[0, 0]),
            )
            for each in designs
        ),
        notes=(
            f"The variance falls along the rows; the last p is the {'smallest' if low else 'largest'} at ε = 1.",
        ),
    )


def _kept(design: Design) -> float:
    return float(design.probability(design.symbols[0], given=design.categories[0]))


def _slope_of_p(entry: Printed) -> Value:
    share = rational(entry.inputs["pi0"])
    return entry.against(
        _slope(
            lambda p: Club.dagger(p, p).first_variance(share),
            rational(entry.inputs["p"]),
        )
    )


def _variance_at(entry: Printed) -> Callable[[Fraction, Fraction], Fraction]:
    share = rational(entry.inputs["pi0"])
    return lambda p1, p2: Club.dagger(p1, p2).first_variance(share)


def _slope(function: Callable[[Fraction], Fraction], at: Fraction) -> float:
    """Return the difference quotient over 10⁻¹² to both sides, in rationals."""
    return float((function(at + _STEP) - function(at - _STEP)) / (2 * _STEP))


def _largest_p1(entry: Printed) -> Value:
    found = p1_range("rr3_dagger", "1/3", gamma=rational(entry.inputs["exp_eps"]))
    return entry.against(None if found is None else float(found[1]))


def _best(epsilon: float, share: float) -> tuple[float, ...]:
    first = rational(share)
    rest = (1 - first) / 2
    best = optimum(
        "rr3_dagger",
        exp_below(epsilon),
        importance=(1, 0, 0),
        guess=(first, rest, rest),
    )
    p1, p2 = map(float, best.parameters)
    return epsilon, share, p1, p2, best.risk


def p1_range(
    family: str, *other_parameters: Rational, gamma: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Return the smallest and the largest p1 with parity at most γ, given the other parameters; None if there is none.

    Implements: in the proof of [MW21], Theorem 4, the largest p1 of RR3† at p2 = 1/3, which is min{γ/3, 1 − 2/(3γ)}.

    Example:
        >>> p1_range("rr3_dagger", "1/3", gamma=Fraction(5, 2))
        (Fraction(2, 15), Fraction(11, 15))
    """
    # The point (a, u, v) moves on a line with p1: two of its places say which.
    start, end = (club(family, p1, *other_parameters).point for p1 in (0, 1))
    low, high = Fraction(0), Fraction(1)
    for plane in conditions(gamma):
        at_start, at_end = slack(plane, start), slack(plane, end)
        if at_start < 0 and at_end < 0:
            return None
        if at_start < 0 or at_end < 0:
            crossing = at_start / (at_start - at_end)
            low, high = (
                (max(low, crossing), high)
                if at_start < 0
                else (low, min(high, crossing))
            )
    return (low, high) if low <= high else None
