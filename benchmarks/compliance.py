"""What models of compliance are worth: `python -m benchmarks.compliance [fits]`

First, 30 % of the members of a share of .3 protect themselves and always say no: how far plain forced response, the
cheating detection model and the lie detector are off, in standard errors of one survey, on the average of 400 surveys.
Then small surveys with shares near 0: whether every number lies in the simplex, has an interval, and is held by it.
Then the same, not drawn but summed over all surveys with their probabilities: the cells in which intervals hold least.
About three minutes on one core for 10,000 fits.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import defaultdict

import numpy as np
from scipy.stats import binom

import deniable as dn

TRUTH, PROTECT, PEOPLE, SURVEYS = 0.3, 0.3, 2_000, 400
FITS = 10_000
IMPOSSIBLE = (
    1e-7  # surveys less probable than this are left out, as if no interval held
)
SIZES = (10, 30, 100)
WEIGHTS = (
    (0.0, 0.0),
    (0.0, 0.05),
    (0.02, 0.0),
    (0.02, 0.05),
    (0.05, 0.02),
    (0.05, 0.1),
    (0.1, 0.0),
)  # π and γ
DEVICES = {
    "cheating detection": (
        dn.forced_response("4/5", "1/5"),
        dn.forced_response("1/5", "4/5"),
    ),
    "symmetric": (
        dn.forced_response("4/5", "1/10"),
        dn.forced_response("2/5", "1/2"),
    ),
}


def protected(draws: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return the mean error of each estimate in standard errors of one survey, and how sure that mean is."""
    members, honest = TRUTH, TRUTH * (1 - PROTECT)
    found: defaultdict[str, list[float]] = defaultdict(list)
    die = dn.forced_response("2/3", "1/6", "1/6")
    for _ in range(SURVEYS):
        plain_yes = draws.binomial(PEOPLE, honest * 5 / 6 + (1 - members) / 6)
        plain = dn.estimate(dn.Tally(die, [PEOPLE - plain_yes, plain_yes]))
        found["forced response"].append(
            (plain.params["yes"] - TRUTH) / plain.bse["yes"]
        )
        half = PEOPLE // 2
        yes = [
            int(draws.binomial(half, honest + (1 - members) * p)) for p in (0.2, 0.8)
        ]
        groups = {"yes": yes, "respondents": [half, half]}
        cheating = dn.compliance.cheating_detection(
            forced_yes=["1/5", "4/5"], **groups
        )
        detector = dn.compliance.lie_detector(truth=["4/5", "1/5"], **groups)
        for name, result, number in (
            ("cheating detection, π alone", cheating, "yes, honest"),
            ("cheating detection, π + γ", cheating, "yes at most"),
            ("lie detector", detector, "yes"),
        ):
            found[name].append((result.params[number] - TRUTH) / result.bse[number])
    return {
        name: (float(np.mean(each)), float(np.std(each) / math.sqrt(SURVEYS)))
        for name, each in found.items()
    }


def borders(draws: np.random.Generator, fits: int) -> dict[str, list[int]]:
    """Return for each model and number how many intervals there were, and how many held the truth."""
    held: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    cells = [
        (model, n, weights)
        for model in DEVICES
        for n in SIZES
        for weights in WEIGHTS
    ]
    for at in range(fits):
        model, n, (pi, gamma) = cells[at % len(cells)]
        tallies = []
        for device in DEVICES[model]:
            (u, v), others = device.channel.floats()[1], 1 - pi - gamma
            hits = int(draws.binomial(n, pi * v + others * u))
            tallies.append(dn.Tally(device, [n - hits, hits]))
        found = dn.compliance.cheating_detection(tallies)
        values = found.params
        names = ("yes, honest", "always no", "yes at most")
        assert found.model.weights.min() >= 0, f"outside the simplex: {values}"
        assert abs(found.model.weights.sum() - 1) < 1e-12, (
            f"outside the simplex: {values}"
        )
        ends = found.conf_int()
        for name, truth in zip(names, (pi, gamma, pi + gamma), strict=True):
            low, high = ends[name]
            assert 0 <= low <= values[name] <= high <= 1, (
                f"no interval: {name} {low} {values[name]} {high}"
            )
            for key in (f"{model}, {name}", f"n = {n} in each group"):
                held[key][0] += 1
                held[key][1] += low - 1e-9 <= truth <= high + 1e-9
    return dict(held)


def cells(n: int) -> dict[str, float]:
    """Return how often the intervals of each number hold it, summed over all surveys that may happen."""
    held: dict[str, float] = {}
    for model, devices in DEVICES.items():
        rates = [device.channel.floats()[1] for device in devices]
        laws = {
            (pi, gamma): np.outer(
                *(
                    binom.pmf(range(n + 1), n, pi * v + (1 - pi - gamma) * u)
                    for u, v in rates
                )
            )
            for pi, gamma in WEIGHTS
        }
        ends = {}
        for at in zip(
            *np.nonzero(np.max(list(laws.values()), axis=0) > IMPOSSIBLE),
            strict=True,
        ):
            pairs = zip(devices, at, strict=True)
            found = dn.compliance.cheating_detection(
                [dn.Tally(device, [n - yes, yes]) for device, yes in pairs]
            )
            ends[at] = found.conf_int()
        for (pi, gamma), law in laws.items():
            for name, truth in (
                ("yes, honest", pi),
                ("always no", gamma),
                ("yes at most", pi + gamma),
            ):
                right = [
                    law[at]
                    for at, own in ends.items()
                    if own[name].low - 1e-9 <= truth <= own[name].high + 1e-9
                ]
                held[f"{model}, n = {n}, π = {pi}, γ = {gamma}, {name}"] = float(
                    sum(right)
                )
    return held


def main() -> None:
    """Print all tables."""
    warnings.simplefilter("ignore", dn.errors.ImplausibleResponses)
    draws = np.random.default_rng(20)
    print(
        f"{SURVEYS} surveys of {PEOPLE:,}: a share of {TRUTH}, {PROTECT:.0%} of whom always say no"
    )
    for name, (off, error) in protected(draws).items():
        print(f"  {name:<32} off by {off:+6.2f} standard errors (± {error:.2f})")
    fits = int(sys.argv[1]) if len(sys.argv) > 1 else FITS
    # stops at the first number outside, or without an interval
    found = borders(draws, fits)
    print(
        f"\n{fits:,} fits with shares near 0: none outside the simplex, none without an interval"
    )
    for name, (number, right) in found.items():
        print(
            f"  {name:<40} 95 % intervals hold the truth in {right / number:.1%} of {number:,}"
        )
    print(
        "\nall surveys with their probabilities, the cell in which intervals hold least"
    )
    for n in SIZES:
        every = cells(n)
        least = min(every, key=every.__getitem__)
        print(f"  n = {n:<4} {every[least]:.1%} of {len(every)} cells ({least})")


if __name__ == "__main__":
    main()
