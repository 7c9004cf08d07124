"""A million surnames through Bloom filters, stage by stage. `python -m benchmarks.surnames [ROWS]`

Names and their true frequencies are those of the US census of 1990, as the package `names` carries them. Candidates are
all these names and as many that nobody has: each written backwards. At every stage of a relaxation: the planner's
detection limit, how many names lie above it, how many of these were found, how many were found in all, and how many of
those nobody has. Ends with 1 if a name above the limit was missed, or if more of those found are false than the rate
asked for explains.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from scipy.stats import binom

from deniable.types.strings import draw as engine
from deniable.types.strings.count import NoisyTally
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    StringDesign,
    schedule,
    string_design,
)
from deniable.types.strings.estimate import Candidates, StringEstimate
from deniable.types.strings.estimate import estimate as estimate_strings
from deniable.types.strings.limits import string_detection_limit

ROWS = 1_000_000
FDR = 0.01  # on average
ALARM = 1e-3  # how rarely a stage has more false ones by chance than the bar allows
SURE = 0.999  # how surely a name at the limit is found


class Repeated:
    """Random words that are the same in every run: what is measured here is not privacy."""

    def __init__(self, name: str) -> None:
        self._words = np.random.Generator(np.random.PCG64(list(name.encode())))

    def read(self, count: int) -> bytes:
        return self._words.bytes(count)

    def fill(self, words: np.ndarray, count: int) -> None:
        words[:count] = self._words.integers(0, 1 << 64, count, np.uint64)


def surnames() -> tuple[list[str], np.ndarray]:
    """All surnames with their shares among those listed."""
    lines = files("names").joinpath("dist.all.last").read_text().splitlines()
    names = [line.split()[0] for line in lines if line.strip()]
    running = np.array([float(line.split()[2]) for line in lines if line.strip()])
    shares = np.array([float(line.split()[1]) for line in lines if line.strip()])
    # Behind the third digit all are told as 0.000: what the running sum still gains is spread over them.
    rare = shares == 0
    shares[rare] = (
        (running[-1] - shares.sum()) / max(rare.sum(), 1)
        if running[-1] > shares.sum()
        else 1e-5
    )
    return names, shares / shares.sum()


def rows(count: int) -> list[str]:
    names, shares = surnames()
    picked = np.random.default_rng(1990).choice(len(names), count, p=shares)
    return [names[number] for number in picked]


def candidates() -> list[str]:
    names, _ = surnames()
    known = set(names)
    return [
        *names,
        *(
            name
            for name in dict.fromkeys(each[::-1] for each in names)
            if name not in known
        ),
    ]


def judge(
    title: str,
    design: StringDesign,
    found: StringEstimate,
    truth: Counter[str],
    count: int,
) -> bool:
    limit = string_detection_limit(
        design, count, candidates=found.tested, fdr=FDR, target=SURE
    )
    above = {name for name, number in truth.items() if number / count > limit}
    named = {each.text for each in found.found}
    false = {name for name in named if name not in truth}
    good = above <= named and bool(binom.sf(len(false) - 1, len(named), FDR) > ALARM)
    rest = f"{found.unexplained:.3f} ± {found.unexplained_error:.3f}"
    print(
        f"| {title} | {design.epsilon:.2f} | {design.bit_epsilon:.3f} | {limit:.3%} | {len(above)} | "
        f"{len(above & named)} | {len(named)} | {len(false)} | {rest} | "
        f"{'yes' if good else 'NO'} |",
        flush=True,
    )
    return good


def climb(
    title: str, stages: Sequence[StringDesign], texts: list[str], names: list[str]
) -> bool:
    """Respond at the first stage, raise the same responses stage by stage, and estimate at each."""
    truth, bloom = Counter(texts), stages[0].bloom
    encoded = engine.encode(
        bloom,
        texts,
        engine.draw_cohorts(bloom, len(texts), source=Repeated("cohorts")),
    )
    source, hashed = Repeated(title), Candidates(bloom, names)
    good, responses = True, engine.respond(stages[0], encoded, source=source)
    for number, stage in enumerate(stages):
        if number:
            responses = engine.upgrade(
                stages[number - 1], stage, responses, encoded, source=source
            )
        found = estimate_strings(
            engine.tally(stage, encoded.cohorts, responses), hashed, fdr=FDR
        )
        good &= judge(
            f"{title}, stage {number + 1}", stage, found, truth, len(texts)
        )
    return good


def noisy(
    bloom: Bloom,
    sampling: NoisySampling,
    samples: int,
    texts: list[str],
    names: list[str],
) -> None:
    """RAPPOR as it was: samples of permanent bits, with estimates after some of them."""
    encoded = engine.encode(
        bloom,
        texts,
        engine.draw_cohorts(bloom, len(texts), source=Repeated("cohorts")),
    )
    source, hashed = Repeated("noisy"), Candidates(bloom, names)
    kept = engine.permanent(sampling, bloom, encoded, source=source)
    total = np.zeros((bloom.cohorts, bloom.bits), np.int64)
    truth = Counter(texts)
    for number in range(1, samples + 1):
        ones, sizes = engine.count_ones(
            bloom,
            encoded.cohorts,
            engine.sample(sampling, bloom, kept, source=source),
        )
        total = total + ones
        if number in (1, 2, 4, samples):
            found = estimate_strings(
                NoisyTally(bloom, sampling, number, total, sizes), hashed, fdr=FDR
            )
            false = sum(
                name not in truth for name in (each.text for each in found.found)
            )
            print(
                f"| noisy sampling, K = {number} | {sampling.response_epsilon(number, bloom.hashes):.2f} | "
                f"{sampling.epsilon(number):.3f} |  |  |  | {len(found.found)} | {false} |  |  |",
                flush=True,
            )


def main(count: int = ROWS) -> int:
    texts, names, started = rows(count), candidates(), time.time()
    print(
        f"{count:,} rows, {len(set(texts)):,} different names; {len(names):,} candidates, half of which nobody has"
    )
    print(
        f"false discoveries allowed: {FDR:.0%} on average; a name at the limit is found with probability {SURE}\n"
    )
    print(
        "| design | ε, response | ε, bit | limit | above it | found | found in all | false | unexplained | bar |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    one, two = Bloom(128, hashes=1, cohorts=512), Bloom(128, hashes=2, cohorts=256)
    optimized = [
        string_design(one, epsilon, optimized=True) for epsilon in (2, 3, 4, 5, 6)
    ]
    symmetric = [string_design(one, epsilon) for epsilon in (2, 4, 6)]
    sampling = NoisySampling.of("3/4", "3/4", "1/2")
    matched = schedule(two, sampling, 8)
    good = climb("optimized, 1 hash", optimized, texts, names)
    good &= climb("symmetric, 1 hash", symmetric, texts, names)
    good &= climb(
        "as RAPPOR's samples 1, 2, 4, 8",
        [matched[at - 1] for at in (1, 2, 4, 8)],
        texts,
        names,
    )
    noisy(two, sampling, 8, texts, names)
    print(
        f"\n{time.time() - started:.0f} seconds. The bar is {'reached' if good else 'MISSED'} at every stage."
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
