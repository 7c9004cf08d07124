"""Strings found that are not there, and whether what is unexplained holds. `python -m benchmarks.false_strings [RUNS]`

Surveys drawn in law. Of 1,000 candidates nobody has 949; in four of five settings half of all people have strings that
are no candidates, forty of them. One string lies at the planner's detection limit. Ends with 1 if, by more than two
standard errors, more than 5 % of those found are false, the interval of the unexplained share holds in fewer than 92 %
of the surveys, or the string at the limit is found in fewer than 80 %.
"""

from __future__ import annotations

import math
import sys
import time
from typing import NamedTuple

import numpy as np

from deniable.types.strings.count import StringTally
from deniable.types.strings.design import Bloom, StringDesign, string_design
from deniable.types.strings.estimate import estimate
from deniable.types.strings.hashing import places_of, seeds_of
from deniable.types.strings.limits import string_detection_limit

RUNS = 100
FDR, HELD, TARGET = 0.05, 0.92, 0.8
PRESENT, UNLISTED, CANDIDATES = 50, 40, 1_000


class Setting(NamedTuple):
    """A survey: its design, its people, and how many of them have a string that is a candidate."""

    title: str
    design: StringDesign
    respondents: int
    listed: float = 0.5


SETTINGS = (
    Setting("default, n = 10⁵", string_design(Bloom(128), epsilon=4), 10**5),
    Setting("default, n = 10⁶", string_design(Bloom(128), epsilon=4), 10**6),
    Setting(
        "8 cohorts, n = 10⁵", string_design(Bloom(128, cohorts=8), epsilon=4), 10**5
    ),
    Setting(
        "optimized, n = 10⁵",
        string_design(Bloom(128), epsilon=4, optimized=True),
        10**5,
    ),
    Setting("all listed, n = 10⁵", string_design(Bloom(128), epsilon=4), 10**5, 1.0),
)


def shares(setting: Setting) -> tuple[np.ndarray, float]:
    """Shares of the candidates, the one at the limit first, then of the others; and the limit."""
    listed, others = (0.5 ** (np.arange(count) / 8) for count in (PRESENT, UNLISTED))
    others *= (1 - setting.listed) / others.sum()
    confused = float((others**2).sum())
    limit = string_detection_limit(
        setting.design,
        setting.respondents,
        candidates=CANDIDATES,
        fdr=FDR,
        target=TARGET,
        others=confused,
    )
    listed *= (setting.listed - limit) / listed.sum()
    return np.concatenate([[limit], listed, others]), limit


def drawn(
    design: StringDesign,
    names: list[str],
    counts: np.ndarray,
    rng: np.random.Generator,
) -> StringTally:
    """What so many people with each name send, in law."""
    bloom, (hit, stray) = design.bloom, map(float, design.bit)
    people = np.array(
        [
            rng.multinomial(count, np.full(bloom.cohorts, 1 / bloom.cohorts))
            for count in counts
        ]
    )
    truths = np.zeros((bloom.cohorts, bloom.bits), np.int64)
    for places, having in zip(
        places_of(bloom, seeds_of(names))[:, :, 0], people, strict=True
    ):
        truths[np.arange(bloom.cohorts), places] += (
            having  # each of these designs has one hash
        )
    sizes = people.sum(axis=0)
    return StringTally(
        design,
        rng.binomial(truths, hit) + rng.binomial(sizes[:, None] - truths, stray),
        sizes,
    )


def judge(setting: Setting, runs: int) -> bool:
    """Draw surveys, print a row, and say whether the bars are reached."""
    rng, (wanted, limit) = (
        np.random.default_rng(setting.respondents),
        shares(setting),
    )
    false, held, sure, right, errors = [], [], [], [], []
    for run in range(runs):
        names = [f"{run} {number}" for number in range(wanted.size)]
        counts = rng.multinomial(setting.respondents, wanted / wanted.sum())
        truth = dict(zip(names[: PRESENT + 1], counts.tolist(), strict=False))
        nobody = [
            f"{run} nobody {number}" for number in range(CANDIDATES - len(truth))
        ]
        found = estimate(
            drawn(setting.design, names, counts, rng), [*truth, *nobody], fdr=FDR
        )
        rest = (
            1
            - sum(truth.get(name, 0) for name in (each.text for each in found.found))
            / setting.respondents
        )
        false.append(
            sum(name not in truth for name in (each.text for each in found.found))
            / max(len(found.found), 1)
        )
        held.append(abs(found.unexplained - rest) < 1.96 * found.unexplained_error)
        sure.append(names[0] in (each.text for each in found.found))
        right.append(
            sum(name in truth for name in (each.text for each in found.found))
        )
        errors.append(found.unexplained_error)
    slack, error = 2 / math.sqrt(runs), np.std(false) / math.sqrt(runs)
    good = np.mean(false) <= FDR + 2 * error
    good &= np.mean(held) >= HELD - slack * math.sqrt(HELD * (1 - HELD))
    good &= np.mean(sure) >= TARGET - slack * math.sqrt(TARGET * (1 - TARGET))
    print(
        f"| {setting.title} | {np.mean(false):.1%} ± {error:.1%} | {np.mean(held):.0%} | "
        f"{np.mean(errors):.4f} | {np.mean(right):.1f} | {limit:.2%} | {np.mean(sure):.0%} | "
        f"{'yes' if good else 'NO'} |",
        flush=True,
    )
    return bool(good)


def main(runs: int = RUNS) -> int:
    started = time.time()
    print(f"{runs} surveys of each kind; {FDR:.0%} false discoveries allowed\n")
    print(
        "| setting | false | unexplained held | its error | found | limit | found at the limit | bar |"
    )
    print("|---|---|---|---|---|---|---|---|")
    judged = [judge(setting, runs) for setting in SETTINGS]
    good = all(judged)
    print(
        f"\n{time.time() - started:.0f} seconds. The bars are {'reached' if good else 'MISSED'}."
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
