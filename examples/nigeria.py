"""A real survey again: who in Nigeria had contact with armed groups, against what the R package rr answers.

    python examples/nigeria.py                             # reads ../shared/data/nigeria.csv, if it is there
    python examples/nigeria.py --rows path/to/nigeria.csv

2,457 people rolled a die: at 1 they said no, at 6 yes, else the truth (Blair, Imai and Zhou 2015). The rows come with
the R package rr and stay outside this project, because their terms are not known. Its values stand here.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

import deniable as dn

ROWS = Path(__file__).parents[2] / "shared" / "data" / "nigeria.csv"
SHARE, ERROR = 0.26191, 0.01442
LOGIT = {  # coefficient and error as rr prints them; its errors are those of the outer product of the scores
    "Intercept": (-0.34017, 0.50856),
    "asset": (0.07896, 0.04136),
    "married": (-0.26743, 0.25451),
    "decades": (-0.35283, 0.26423),
    "decades, squared": (0.04099, 0.02603),
    "education": (-0.00691, 0.04558),
    "female": (-0.55439, 0.16244),
}
AGREE = 2e-5  # rr prints five digits, and stops a little before the maximum


def main() -> None:
    """Estimate the share and the regression, and put both beside the values of rr."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=Path, default=ROWS)
    path = parser.parse_args().rows
    if not path.exists():
        print(
            f"Left out: the rows of the survey are not part of this project, and {path.name} is not where it is"
        )
        print(
            "looked for. Export `nigeria` from the R package rr to CSV, and name the file with --rows."
        )
        return
    rows = pd.read_csv(path)
    rows = rows.rename(
        columns=lambda name: name.removeprefix("cov.").replace(
            "asset.index", "asset"
        )
    )
    rows["contact"] = rows["rr.q1"]
    rows["decades"] = rows["age"] / 10

    design = dn.forced_response("2/3", "1/6", "1/6")
    found = dn.estimate(dn.tally(design, rows["contact"], codes=True))
    print(found.summary())
    print(f"rr: {SHARE} ({ERROR})\n")
    assert abs(found.params["yes"] - SHARE) < 5e-6
    assert abs(found.bse["yes"] - ERROR) < 5e-6

    formula = (
        "contact ~ asset + married + decades + I(decades**2) + education + female"
    )
    logit = dn.regress(formula, rows, design=design)
    print(logit.summary())
    outer = logit.with_errors("outer").bse
    ours = zip(
        LOGIT, logit.params.values(), outer.values(), logit.bse.values(), strict=True
    )
    print(
        "\nbeside rr               ours        rr   error, outer        rr   error, observed"
    )
    for name, value, product, observed in ours:
        theirs, error = LOGIT[name]
        print(
            f"{name:18s}{value:10.5f}{theirs:10.5f}{product:15.5f}{error:10.5f}{observed:18.5f}"
        )
        assert abs(value - theirs) < AGREE
        assert abs(product - error) < AGREE
    print(f"\n{logit.effects().summary()}")
    print(
        "\nAll values agree. rr prints errors of the outer product; ours are those of the observed information."
    )


if __name__ == "__main__":
    main()
