"""Two million rows of a data frame: two sensitive columns released, cross-tabulated from what was released.

python examples/frame_released.py                      # 200,000 rows, a second or two
python examples/frame_released.py --rows 2000000       # all of it
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import deniable as dn


def simulated(rows: int) -> pd.DataFrame:
    """Return what the owner of the frame holds: the true answers, which nobody else may see."""
    rng = np.random.default_rng(17)
    region = rng.choice(["north", "south", "west"], rows, p=[0.5, 0.3, 0.2])
    smokes = rng.random(rows) < np.where(region == "west", 0.3, 0.2)
    sleeps = rng.random(rows) < np.where(smokes, 0.4, 0.25)
    columns = {
        "region": region,
        "smokes": np.where(smokes, "yes", "no"),
        "sleeps": np.where(sleeps, "badly", "well"),
    }
    return pd.DataFrame(columns).astype("category")


def main() -> None:
    """Release two columns, throw the truth away, and tabulate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    truth = simulated(parser.parse_args().rows)
    smokes, sleeps = (
        dn.k_ary(["no", "yes"], epsilon=1),
        dn.k_ary(["well", "badly"], epsilon=1),
    )

    started = time.perf_counter()
    released = pd.DataFrame({"region": truth["region"]})
    # once: a second draw would reveal as much again
    for name, design in (("smokes", smokes), ("sleeps", sleeps)):
        labels = list(dn.respond_all(design, truth[name]))
        released[name] = pd.Categorical(labels, categories=design.symbols)
    print(
        f"{len(released):,} rows released in {time.perf_counter() - started:.1f} s; both columns together: ε = 2"
    )

    # From here on only `released` and the two designs are used, as by whoever receives the file.
    started = time.perf_counter()
    table = dn.cross_table(
        (smokes, released["smokes"]),
        (sleeps, released["sleeps"]),
        rows="smokes",
        columns="sleeps badly",
    )
    print(table)
    print(table.odds_ratio().summary())
    by_region = dn.estimate(
        dn.tally(smokes, released["smokes"], by=released["region"])
    )
    print(by_region.pairwise().summary())
    print(f"tabulated in {time.perf_counter() - started:.1f} s")
    assert table.odds_ratio().interval("odds ratio").low > 1, (
        "people who smoke sleep worse, and the released columns still tell it"
    )


if __name__ == "__main__":
    main()
