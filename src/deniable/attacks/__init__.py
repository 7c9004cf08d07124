"""What an attacker can really learn beside the bound that none can beat; and what fabricated responses can do."""

from __future__ import annotations

from deniable.attacks.fabricated import Suspicion, doubts
from deniable.attacks.inference import ATTACKS, VOTES, Rates, error_rates
from deniable.attacks.influence import swing
from deniable.attacks.simulated import attack, simulate_attacks

__all__ = [
    "ATTACKS",
    "VOTES",
    "Rates",
    "Suspicion",
    "attack",
    "doubts",
    "error_rates",
    "simulate_attacks",
    "swing",
]
