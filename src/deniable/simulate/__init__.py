"""Tallies drawn in law: what many respondents would send together, without drawing anybody's response.

tallies         a design or a deck, and how many people have each answer → a tally for each repetition
stages          a ladder → a tally for each stage and repetition, raised from one stage to the next
noisy_samples   RAPPOR's repeated samples of one bit → how many ones each round has
shares          tallies → the unbiased shares of each
noisy_shares    rounds of samples → the unbiased share of ones after each
graph           degree distributions of people and items → a synthetic bipartite graph
studies         a design, a share and a test → how often it rejects and how wide intervals are, beside the plan

Counts come straight from the binomial, multinomial and hypergeometric laws that individual draws add up to, so that
ten thousand surveys of three million people take seconds (docs/theory/drawn-in-law.md). No law is replaced by an
approximation; probabilities are rounded to floats and random numbers come from a fast generator, which a simulation may
and a response may not: what is drawn here protects nobody, and never stands for what a person sent.
"""

from __future__ import annotations

from deniable.simulate.drawn_studies import studies
from deniable.simulate.simulated_tallies import (
    noisy_samples,
    noisy_shares,
    shares,
    stages,
    tallies,
)
from deniable.simulate.synthetic_graphs import graph

__all__ = [
    "graph",
    "noisy_samples",
    "noisy_shares",
    "shares",
    "stages",
    "studies",
    "tallies",
]
