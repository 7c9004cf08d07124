"""What an attacker can really learn beside the bound that none can beat; and what fabricated responses can do."""

from __future__ import annotations

from deniable.audit.attacks import ATTACKS, VOTES, Rates, error_rates
from deniable.audit.fabricated import Suspicion, doubts
from deniable.audit.influence import swing
from deniable.audit.simulated_attacks import attack, simulate_attacks

__all__ = ["ATTACKS", "VOTES", "Rates", "Suspicion", "attack", "doubts", "error_rates", "simulate_attacks", "swing"]
