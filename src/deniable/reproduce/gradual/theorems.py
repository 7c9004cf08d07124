"""The equations, sections and theorems of the document, each at one setting in which it can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

from deniable.criteria import least_bayes_error, posterior
from deniable.design import direct, k_ary, unary, warner
from deniable.estimate import covariance
from deniable.gradual.design import family_ladder, ladder, relax
from deniable.gradual.means.design import end_design
from deniable.gradual.means.estimate import moments
from deniable.gradual.means.range import Range
from deniable.gradual.strings.noisy import NoisySampling
from deniable.reproduce.gradual.tables import raised
from deniable.reproduce.printed import printed, starting
from deniable.reproduce.values import Content, Exhibit, Printed, Setting


def theorem_3_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """How a response with two answers is raised."""
    return Content(tuple(entry.against(raised(entry)) for entry in map(printed, ("004-eq22", "004-eq23"))))


def section_4_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """What the second response reveals alone, and what both reveal together."""
    alone, both = printed("004-delta"), printed("004-chain")
    one, two = warner(alone.inputs["eps1"]), warner(alone.inputs["eps2"])
    return Content(
        (alone.against(relax(one, two).alone_epsilon), both.against(ladder([one, two]).epsilon)),
        notes=(
            "The 3 that the document gives for e to the power of ε is ε itself, that of the second response to "
            "somebody who knows the first (erratum 4.5). It is no cost: both together have the ε of the second stage.",
        ),
    )


def section_4_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """How often a k-ary response is the answer because it was kept, not because chance sent it."""
    entry = printed("004-retention")
    truth = direct([str(each) for each in range(entry.inputs["m"])])
    steps = [relax(k_ary(truth.categories, epsilon), truth).step for epsilon in entry.inputs["eps"]]
    return Content((entry.against([float(step.garbling(0, 0) - step.garbling(0, 1)) for step in steps]),))


def theorem_4_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Whoever has seen every response believes what the last one alone tells."""
    stages = family_ladder("k_ary", 3, [1, 2])
    prior = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    joint, last = stages.joint(), stages.designs[-1]
    rows = []
    for number, (first, second) in enumerate(product(range(3), repeat=2)):
        all_seen, last_seen = posterior(joint, prior, number), posterior(last, prior, second)
        rows.append((first, second, *map(float, all_seen), "yes" if all_seen == last_seen else "no"))
    return Content(
        columns=("first response", "second", "belief in 0", "in 1", "in 2", "the same from the second alone"),
        rows=tuple(rows),
        notes=("Two stages, ε = 1 and 2, after a prior of 50, 30 and 20 %; compared in exact fractions.",),
    )


def section_5_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The ε of a whole RAPPOR report."""
    entry = printed("004-rappor")
    bit = warner(entry.inputs["eps"])
    kept = bit.probability(bit.symbols[0], given=bit.categories[0])
    return Content(
        (entry.against(unary(2, p=kept, q=1 - kept).epsilon),),
        notes=(
            "The document speaks of the ε of one bit. Two one-hot codes differ in two bits, two Bloom filters with h "
            "hashes in up to 2h (erratum 4.9).",
        ),
    )


def equation_65(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """What K noisy samples reveal."""
    return _rounds("004-eq65-", lambda entry: _noisy(entry).epsilon(entry.inputs["K"]))


def equation_67(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The variance from a relaxed response."""
    return _rounds("004-eq67-", _relaxed_variance, "The middle of the equation has ε₁ in place of ε_i (erratum 4.6).")


def equation_68(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The variance from K noisy samples."""
    return _rounds(
        "004-eq68-",
        lambda entry: float(_noisy(entry).variance(entry.inputs["K"], bit=1)) / int(entry.inputs["N"]),
    )


def equation_70(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The mean of what the mean estimate gives."""
    entry = printed("004-eq70")
    given = entry.inputs
    found = moments(Range.of(given["l"], given["h"]), given["values"], end_design(given["eps"]))
    return Content(
        (entry.against(float(found.mean)),),
        notes=("The factor must be the width of the range, not its upper end (erratum 4.1).",),
    )


def equation_130(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The variance of noisy samples, step by step."""
    total, share, bit, people = (printed(f"004-eq{number}") for number in (130, 131, 132, 133))
    samples = total.inputs["K"]
    noisy = NoisySampling.of(total.inputs["alpha"], total.inputs["beta"], 1 - total.inputs["beta"])
    sure = NoisySampling.of(1, noisy.p, noisy.q)  # an estimate of the permanent bit, which it then keeps
    spread = noisy.sum_variance(samples, bit=1)
    ratio = sure.variance(samples, bit=1) / sure.sum_variance(samples, bit=1)
    return Content(
        (
            total.against(float(spread)),
            share.against(float(spread / samples**2)),
            bit.against(float(spread * ratio)),
            people.against(float(noisy.variance(samples, bit=1) / people.inputs["N"])),
        ),
        notes=(
            "1 − β is printed where 1 − 2β belongs (erratum 4.2), and N where N² belongs (erratum 4.3); eq. (68), "
            "which follows from them, is right.",
        ),
    )


def equation_141(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The variances of the shares of five categories."""
    entry = printed("004-eq141")
    counts = np.array(entry.inputs["counts"])
    n = int(counts.sum())
    found = covariance(k_ary(len(counts), entry.inputs["eps"]), (counts / n).tolist(), n, population=n)
    return Content((entry.against(np.diagonal(found).tolist()),))


def section_5_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """A datum that is sold at ninety-one stages."""
    entry = printed("004-sec53")
    first, last, stride = (Fraction(str(entry.inputs[name])) for name in ("first", "last", "stride"))
    stages = family_ladder("k_ary", 2, [first + stride * step for step in range(int((last - first) / stride) + 1)])
    return Content(
        (entry.against(stages.epsilon),),
        notes=(f"All {len(stages)} stages together have the ε of the last one; buyers may pool what they bought.",),
    )


def theorem_6_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """No attack guesses better than this."""
    entries = [printed(f"004-exp{number}-bound") for number in (61, 62)]
    return Content(tuple(entry.against(_least_error(entry)) for entry in entries))


def _least_error(entry: Printed) -> float:
    size = entry.inputs["m"]
    return float(least_bayes_error(k_ary(size, entry.inputs["eps"]).parity, [Fraction(1, size)] * size))


def _rounds(prefix: str, ours: Callable[[Printed], float], *notes: str) -> Content:
    """Compare a formula after each of ten rounds of Experiment 6.1."""
    return Content(tuple(entry.against(ours(entry)) for entry in starting(prefix)), notes=notes)


def _noisy(entry: Printed) -> NoisySampling:
    return NoisySampling.symmetric(entry.inputs["eps_alpha"], entry.inputs["eps_beta"])


def _relaxed_variance(entry: Printed) -> float:
    people = entry.inputs["N"]
    return float(covariance(warner(entry.inputs["eps"]), [0.4, 0.6], people, population=people)[1, 1])


_exhibit = partial(Exhibit, "gradual")

THEOREMS = (
    _exhibit("theorem", "3.1", "Raising a response with two answers", theorem_3_1),
    _exhibit("section", "4.1", "What a stage reveals alone, and all stages together", section_4_1),
    _exhibit("section", "4.2", "How often a response is kept", section_4_2),
    _exhibit("theorem", "4.1", "All responses tell what the last one tells", theorem_4_1),
    _exhibit("section", "5.1", "The ε of a RAPPOR report", section_5_1),
    _exhibit("equation", "65", "What K noisy samples reveal", equation_65),
    _exhibit("equation", "67", "The variance from a relaxed response", equation_67),
    _exhibit("equation", "68", "The variance from K noisy samples", equation_68),
    _exhibit("equation", "70", "The mean of values in a range", equation_70),
    _exhibit("section", "5.3", "A datum sold in ninety-one stages", section_5_3),
    _exhibit("theorem", "6.1", "The smallest error of an attack", theorem_6_1),
    _exhibit("equation", "130", "The variance of noisy samples, step by step", equation_130),
    _exhibit("equation", "141", "The variances of five shares", equation_141),
)
