"""Two questions that hang together, or do not. `python -m benchmarks.association [RUNS]`

Surveys of the same people with two designs. Of strings, a few are listed, one of them with a share of 0.5 %, and
others, frequent ones, are not. For each setting: how often independent questions are called associated at 5 % and 1 %;
how often questions that hang together are; how often the intervals hold: of the pairs of answers on average, of the
pair that is held least often, of Cramér's V, and of Cramér's V where it is 0. Ends with 1 if by more than three
standard errors a level is not kept or V is held in fewer than 92 % of the surveys, or the pairs on average are.
"""

from __future__ import annotations

import math
import sys
import time
from typing import NamedTuple

import numpy as np

import deniable as dn

RUNS = 400
LEVELS, HELD, LINKED = (0.05, 0.01), 0.92, 0.3
LISTED = np.array([0.15, 0.1, 0.06, 0.03, 0.005])
OTHERS = 0.6 ** np.arange(8)


class Question(NamedTuple):
    """A design; of strings with the share of people whose string is listed."""

    design: dn.AnyDesign
    listed: float = 0.345

    def shares(self) -> np.ndarray:
        if isinstance(self.design, dn.Design):
            shares = 0.5 ** np.arange(len(self.design.categories))
            return shares / shares.sum()
        listed, others = LISTED / LISTED.sum(), OTHERS / OTHERS.sum()
        return np.concatenate([self.listed * listed, (1 - self.listed) * others])

    def sent(
        self, answers: np.ndarray, run: str
    ) -> tuple[dn.Responses, list[str] | None, np.ndarray]:
        """Responses, the strings that are listed, and the answers as numbers of rows of the table."""
        if isinstance(self.design, dn.Design):
            return dn.respond_all(self.design, answers, codes=True), None, answers
        # other places in every run
        names = [f"{run} {number}" for number in range(len(LISTED) + len(OTHERS))]
        sent = dn.respond_all(
            self.design, [names[each] for each in answers.tolist()]
        )
        return sent, names[: len(LISTED)], np.minimum(answers, len(LISTED))


class Setting(NamedTuple):
    title: str
    respondents: int
    first: Question
    second: Question


def strings(
    epsilon: float,
    *,
    cohorts: int = 64,
    optimized: bool = True,
    listed: float = 0.345,
) -> Question:
    return Question(
        dn.string_design(
            dn.Bloom(128, cohorts=cohorts), epsilon, optimized=optimized
        ),
        listed,
    )


SETTINGS = (
    Setting(
        "default strings, n = 1,000",
        1_000,
        strings(4, optimized=False),
        strings(4, optimized=False),
    ),
    Setting(
        "optimized, 8 cohorts, n = 1,000",
        1_000,
        strings(6, cohorts=8),
        strings(6, cohorts=8),
    ),
    Setting(
        "four of five not listed, n = 10⁴",
        10_000,
        strings(4, listed=0.2),
        strings(4, cohorts=8, listed=0.2),
    ),
    Setting(
        "strings by 4 categories, n = 10⁴",
        10_000,
        strings(4),
        Question(dn.k_ary(4, 2)),
    ),
    Setting(
        "strings by 4 categories, n = 10⁵",
        100_000,
        strings(4),
        Question(dn.k_ary(4, 2)),
    ),
    Setting(
        "2 by 5 categories, n = 1,000",
        1_000,
        Question(dn.warner(1)),
        Question(dn.k_ary(5, 2)),
    ),
    Setting(
        "5 by 14 in sets, n = 1,000",
        1_000,
        Question(dn.subset(5, 2)),
        Question(dn.unary(14, 3)),
    ),
)


def survey(
    setting: Setting, linked: float, run: str, rng: np.random.Generator
) -> tuple[dn.Table, np.ndarray]:
    """One survey, in which so many people's second answer follows the first; and the true shares of pairs."""
    one, two = setting.first.shares(), setting.second.shares()
    answers = rng.choice(one.size, setting.respondents, p=one)
    free = rng.choice(two.size, setting.respondents, p=two)
    follows = rng.random(setting.respondents) < linked
    sent, rows, downs = setting.first.sent(answers, f"{run} one")
    asked, columns, across = setting.second.sent(
        np.where(follows, answers % two.size, free), f"{run} two"
    )
    found = dn.association(sent, asked, rows=rows, columns=columns)
    truth = (1 - linked) * np.outer(one, two)
    truth[np.arange(one.size), np.arange(one.size) % two.size] += linked * one
    down, over = (np.unique(np.minimum(np.arange(each.size), size - 1), return_index=True)[1] for each, size in
                  zip((one, two), found.shares.shape, strict=True))  # fmt: skip
    assert downs.max() < len(down)
    assert across.max() < len(over)
    return found, np.add.reduceat(np.add.reduceat(truth, down, axis=0), over, axis=1)


def v_of(truth: np.ndarray) -> float:
    if min(truth.shape) < 2:
        return math.nan
    even = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    return math.sqrt(
        float(((truth - even) ** 2 / even).sum()) / (min(truth.shape) - 1)
    )


def judge(setting: Setting, runs: int) -> bool:
    """Draw surveys, print a row, and say whether the bars are reached."""
    rng = np.random.default_rng(setting.respondents)
    null = [survey(setting, 0.0, f"{run} apart", rng)[0] for run in range(runs)]
    p_values = np.array([each.p_value for each in null])
    at_zero = np.mean([not each.cramers_v_interval()[0] > 0 for each in null])
    held, right, power, widths = [], [], [], []
    for run in range(runs):
        found, truth = survey(setting, LINKED, f"{run} linked", rng)
        ends = np.array(list(found.conf_int().values())).reshape(*truth.shape, 2)
        held.append((ends[..., 0] <= truth) & (truth <= ends[..., 1]))
        low, high = found.cramers_v_interval()
        true = v_of(found.pooled(1) @ truth @ found.pooled(0).T)
        right.append(not true < low and not true > high)
        widths.append(high - low)
        power.append(found.p_value < LEVELS[0])
    alarms = [float((p_values <= level).mean()) for level in LEVELS]
    spread = [3 * math.sqrt(level * (1 - level) / runs) for level in (*LEVELS, HELD)]
    good = all(
        alarm <= level + slack
        for alarm, level, slack in zip(alarms, LEVELS, spread, strict=False)
    )
    good &= bool(
        np.mean(held) >= HELD and min(np.mean(right), at_zero) >= HELD - spread[-1]
    )
    counted = np.mean([each.permutations > 0 for each in null])
    print(
        f"| {setting.title} | {alarms[0]:.1%} | {alarms[1]:.1%} | {counted:.0%} | {np.mean(power):.0%} | "
        f"{np.mean(held):.1%} | {np.mean(held, axis=0).min():.1%} | {np.mean(right):.1%}, {at_zero:.1%} | "
        f"{np.nanmean(widths):.2f} | {'yes' if good else 'NO'} |",
        flush=True,
    )
    return good


def main(runs: int = RUNS) -> int:
    started = time.time()
    print(
        f"{runs} surveys of each kind; in the second half {LINKED:.0%} of the second answers follow the first\n"
    )
    print(
        "| setting | p ≤ 5% | p ≤ 1% | permuted | linked: p ≤ 5% | held | least | V held, 0 held | V's width | bar |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    judged = [judge(setting, runs) for setting in SETTINGS]
    print(
        f"\n{time.time() - started:.0f} seconds. The bars are {'reached' if all(judged) else 'MISSED'}."
    )
    return 0 if all(judged) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
