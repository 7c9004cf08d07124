"""Regressions on randomized responses against direct ones. `python -m benchmarks.regression [RUNS]`

The survey of extramarital affairs that statsmodels ships (6,366 women): whether there was one by logit; by multinomial
logit which of five ratings a marriage gets (the rarest with 99 women, where errors are rough) and how many children
there are. Women are drawn with replacement and their answers randomized at ε = 3, again and again, so that the direct
regression on all of them is the truth, and the spread that is seen is about women and device alike, as standard errors
are. Of each coefficient: how often its 95 % interval holds that of the direct regression, and the mean standard error
against the spread. Errors are robust ones, because these women follow no logit exactly: asked directly, too, their
robust errors are up to 3 % larger than the usual ones. Numbers of children follow none at all; they are drawn from the
direct regression for the bar, and told as they are besides, without one: where the law of answers is wrong, a direct
and a randomized regression are nearest to it in different ways. Then 10⁵ rows with 10 covariates against statsmodels'
plain logit on the true answers, in turns. Ends with 1 if a bar is missed.

R's RRreg is not timed: no package archive for R is reachable here.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

import deniable as dn
from benchmarks.measure import race

RUNS = 200
EPSILON, ROWS, COVARIATES = 3, 100_000, 10
HELD, ERROR, SLOWER = 0.90, 0.05, 5.0
TERMS = "age + yrs_married + children + religious + educ + occupation_husb"


class SeededBytes:
    """A source of bytes that repeats itself, so that a bar is missed again or not at all."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def read(self, count: int) -> bytes:
        return self.rng.bytes(count)


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    fair = sm.datasets.fair.load_pandas().data
    fair["affair"] = (fair["affairs"] > 0).astype(int)
    fair["rating"] = 5 - fair["rate_marriage"].astype(int)  # the others against "very good", the most frequent
    missed = study("affair", "affair ~ rate_marriage + " + TERMS, dn.warner(EPSILON), fair, runs)
    fair["kids"] = fair["children"].clip(upper=4).astype(int)
    kids = "kids ~ age + yrs_married + religious"
    missed |= study("kids", kids, dn.k_ary(5, EPSILON), fair, runs, drawn=True)
    study("kids", kids, dn.k_ary(5, EPSILON), fair, runs // 4, bar=False)
    missed |= study("rating", "rating ~ age + yrs_married + religious", dn.k_ary(5, EPSILON), fair, runs)
    missed |= speed()
    return int(missed)


def study(
    question: str,
    formula: str,
    design: dn.Design,
    people: pd.DataFrame,
    runs: int,
    *,
    drawn: bool = False,
    bar: bool = True,
) -> bool:
    """Draw people and randomize answers again and again: theirs, or some that the direct regression draws."""
    rng, source = np.random.default_rng(2024), SeededBytes(2025)
    direct = dn.regress(formula, people, design=dn.direct(design.categories))
    truth = direct.values
    ends = np.cumsum(direct.predict()["estimate"].to_numpy().reshape(len(people), -1), axis=1)[:, :-1]
    values, errors, held = [], [], []
    for _ in range(runs):
        who = rng.integers(len(people), size=len(people))
        sample = people.iloc[who].reset_index(drop=True)
        if drawn:
            sample[question] = (rng.random((len(people), 1)) > ends[who]).sum(axis=1)
        sent = dn.respond_all(design, sample[question].to_numpy(), codes=True, source=source).columns["response"]
        found = dn.regress(formula, sample.assign(**{question: sent}), design=design, errors="robust")
        values.append(found.values)
        errors.append(list(found.bse.values()))
        held.append([low <= each <= high for (low, high), each in zip(found.conf_int().values(), truth, strict=True)])
    spread, mean, share = np.std(values, axis=0, ddof=1), np.mean(errors, axis=0), np.mean(held, axis=0)
    answers = "answers drawn from the direct regression" if drawn else "answers as they are"
    print(f"\n{formula}, {answers}, ε = {EPSILON}, {len(people):,} rows, {runs} repetitions")
    print(f"  {'':<24}{'direct':>9}{'mean':>9}{'spread':>9}{'std err':>9}{'ratio':>8}{'held':>8}")
    for row in zip(direct.names, truth, np.mean(values, axis=0), spread, mean, mean / spread, share, strict=True):
        name, *numbers, ratio, often = row
        print(f"  {name:<24}" + "".join(f"{each:9.4f}" for each in numbers) + f"{ratio:8.3f}{often:8.3f}")
    overall = float(np.mean(mean / spread))
    noise = float(1 / np.sqrt(2 * runs))  # of one ratio, by chance
    print(f"  mean ratio of standard error to spread {overall:.3f} (one ratio has a chance error of {noise:.3f})")
    if not bar:
        return False
    good = bool(share.min() >= HELD and abs(overall - 1) <= ERROR)
    print(
        f"  held at least {share.min():.3f} (bar {HELD}), ratio within {ERROR:.0%}: {'reached' if good else 'MISSED'}"
    )
    return not good


def speed() -> bool:
    """A randomized regression against the plain one on the true answers."""
    rng = np.random.default_rng(7)
    names = [f"x{number}" for number in range(COVARIATES)]
    frame = pd.DataFrame(rng.normal(size=(ROWS, COVARIATES)), columns=names)
    eta = frame.to_numpy() @ np.linspace(-0.5, 0.5, COVARIATES) - 1
    frame["truth"] = (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
    design = dn.warner(EPSILON)
    frame["sent"] = dn.respond_all(design, frame["truth"].to_numpy(), codes=True).columns["response"]
    right = " + ".join(names)
    columns = sm.add_constant(frame[names])
    best = race(
        {
            "ours": lambda: dn.regress(f"sent ~ {right}", frame, design=design),
            "statsmodels, columns": lambda: sm.Logit(frame["truth"], columns).fit(disp=0),
            "statsmodels, formula": lambda: smf.logit(f"truth ~ {right}", frame).fit(disp=0),
        },
        rounds=3,
    )
    ratio = best["ours"] / best["statsmodels, columns"]
    print(f"\n{ROWS:,} rows × {COVARIATES} covariates")
    for name, seconds in best.items():
        print(f"  {name:<24}{seconds / best['statsmodels, columns']:8.2f} × a plain logit on the truth")
    print(f"  at most {SLOWER:g}: {'reached' if ratio <= SLOWER else 'MISSED'}")
    return bool(ratio > SLOWER)


if __name__ == "__main__":
    sys.exit(main())
