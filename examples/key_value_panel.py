"""A panel rates films: which ones, how many and how highly are one answer, released coarsely first and finer later.

python examples/key_value_panel.py                     # 4,000 people
python examples/key_value_panel.py --people 50000      # narrower intervals
"""

from __future__ import annotations

import argparse

import numpy as np

import deniable as dn
from deniable.types.key_value.respond import settle, symbol_design, upgraded_response

FILMS = ["Alien", "Brazil", "Casablanca", "Dune", "Eraserhead"]
SEEN = np.array([0.6, 0.2, 0.5, 0.4, 0.1])
LIKED = np.array([4.0, 3.0, 4.5, 2.5, 2.0])


def simulated(people: int) -> list[dict[str, float]]:
    """Return who saw what and how it was rated, from 1 to 5: the answers, which stay with the people."""
    rng = np.random.default_rng(17)
    seen = rng.random((people, 5)) < SEEN
    stars = np.clip(np.round(rng.normal(LIKED, 0.7, (people, 5))), 1, 5)
    return [
        {FILMS[at]: float(rated[at]) for at in np.flatnonzero(own)}
        for own, rated in zip(seen, stars, strict=True)
    ]


def main() -> None:
    """Release everybody at ε = 1, then a third of the panel, who agree, at ε = 4."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=4_000)
    answers = simulated(parser.parse_args().people)
    coarse, fine = (dn.lpp_club(FILMS, epsilon, low=1, high=5) for epsilon in (1, 4))

    first = [dn.respond(coarse, answer) for answer in answers]
    print(f"everybody at ε = {coarse.epsilon:.2f}")
    print(dn.estimate(dn.tally(coarse, first)).summary())

    # Each who agrees raises the response that is out, about the same film; a fresh draw would cost 1 + 4.
    step = dn.relax(symbol_design(coarse), symbol_design(fine))
    second = []
    for answer, sent in list(zip(answers, first, strict=True))[::3]:
        parts = settle(coarse, answer, sent)  # stays with the person
        raised = [
            (part.item, dn.upgrade(step, part.response, part.answer))
            for part in parts
        ]
        second.append(upgraded_response(fine, raised))
    print(
        f"{len(second):,} of them at ε = {fine.epsilon:.2f}, both responses together"
    )
    found = dn.estimate(dn.tally(fine, second))
    print(found.summary())
    stars = found.about("mean").params
    print("most liked:", max(stars, key=stars.__getitem__))
    assert stars["Casablanca"] > stars["Dune"]


if __name__ == "__main__":
    main()
