"""Telemetry: which of 1,000 features is used how often, without knowing which device uses which.

python examples/telemetry.py                           # 60,000 devices
python examples/telemetry.py --devices 2000000         # and more of them
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

import deniable as dn

FEATURES = [f"feature {number}" for number in range(1, 1001)]
SHARES = 1 / np.arange(1, 1001)
SHARES /= SHARES.sum()  # a few are used by many, most by hardly anybody


def gateway(
    design: dn.Design, devices: int, batches: int, rng: np.random.Generator
) -> Iterator[str]:
    """Yield the tally of each batch as JSON; the answers are simulated here, in place of devices, and stay here."""
    for _ in range(batches):
        used = rng.choice(1000, devices // batches, p=SHARES)
        yield dn.tally(dn.respond_all(design, used, codes=True)).to_json()


def main() -> None:
    """Count batches at four gateways, add the tallies up, and estimate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", type=int, default=60_000)
    devices = parser.parse_args().devices

    design = dn.optimal(FEATURES, 2).design
    bits = dn.respond_all(design, ["feature 7"]).columns["response"]
    print(
        f"{design.name} at ε = {design.epsilon:.2f}; a response takes {bits.nbytes} bytes"
    )

    rng = np.random.default_rng(17)
    sent = [body for _ in range(4) for body in gateway(design, devices // 4, 5, rng)]
    # in any order, anywhere
    total = sum(dn.Tally.from_json(body, design) for body in sent)
    print(f"{total.respondents:,} responses in {len(sent)} batches")

    found = dn.estimate(total)
    shares, together = found.params, found.conf_int(simultaneous=True)
    for name in sorted(shares, key=shares.__getitem__, reverse=True)[:5]:
        low, high = together[name]
        print(
            f"  {name}: {shares[name]:.1%}, all intervals together at 95%: {low:.1%} … {high:.1%}"
        )
    alone = zip(SHARES, found.conf_int().values(), strict=True)
    held = sum(low <= share <= high for share, (low, high) in alone)
    print(f"{held} of 1,000 intervals of 95% hold the share that was simulated")
    assert held > 900


if __name__ == "__main__":
    main()
