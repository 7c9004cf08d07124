"""A data market: one person sells one answer to several buyers, each as clearly as agreed, and upgrades later.

python examples/data_market.py                # one seller, three buyers, a withdrawal
python examples/data_market.py --sellers 200  # and what the buyer of many coarse responses learns
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import deniable as dn

STAGES = dn.ladder(dn.warner(epsilon) for epsilon in ("1/2", 1, 2))
PRICES = dn.Prices(STAGES, ["1.50", 3, 10], currency="EUR")


def stall(folder: Path, name: str, answer: str) -> tuple[dn.Ledger, dn.Market]:
    """Open a person's ledger with a budget of ε = 2, and offer the three stages of one answer."""
    ledger = dn.Ledger.create(folder / f"{name}.ledger", budget=2)
    ledger.answer("smokes", answer, about=STAGES.designs[0])
    market = dn.Market(ledger)
    market.offer("smokes", PRICES)
    return ledger, market


def main() -> None:
    """Sell, upgrade, refuse, withdraw; then buy from many."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sellers", type=int, default=40)
    sellers = parser.parse_args().sellers
    with tempfile.TemporaryDirectory() as place:
        ledger, market = stall(Path(place), "mine", "yes")
        market.consent("smokes", "Anna", up_to=2, purpose="a study of smoking")
        market.consent("smokes", "*", up_to=1)  # anybody else, less finely
        anna, bert = (
            market.sell("smokes", "Anna", 1),
            market.sell("smokes", "Bert", 1),
        )
        print(
            f"Anna and Bert hold the same response: {anna.response == bert.response}"
        )
        upgrade = market.sell("smokes", "Anna", 2)
        print(
            f"Anna's upgrade costs {upgrade.price} EUR, the difference; spent so far: ε = {ledger.status().epsilon}"
        )
        print(
            f"pooled, stages 0 to 2 tell what the finest one does: {dn.coalition_loss(STAGES, [0, 1, 2]).same}"
        )
        try:
            market.sell("smokes", "Bert", 2)
        except dn.errors.NotAllowed as refused:
            print(f"refused: {refused.problem}")
        else:
            raise AssertionError("Bert may not have the finest stage")
        print(market.withdraw("smokes").told)
        ledger.close()

        bought = []
        for number in range(sellers):
            ledger, market = stall(
                Path(place), f"seller {number}", "yes" if number % 4 == 0 else "no"
            )
            market.consent("smokes", "an institute", up_to=1)
            bought.append(market.sell("smokes", "an institute", 1).response)
            ledger.close()
        found = dn.estimate(dn.tally(STAGES.designs[1], bought))
        print(
            f"{sellers} responses for {3 * sellers} EUR: {dn.report.sentence(found)}"
        )


if __name__ == "__main__":
    main()
