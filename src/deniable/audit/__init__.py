"""What an attacker can really learn beside the bound that none can beat; and what fabricated responses can do."""

from __future__ import annotations

from deniable.audit.attacks import ATTACKS, Rates
from deniable.audit.fabricated import Doubt, doubts
from deniable.audit.pulls import swing
from deniable.audit.rates import error_rates
from deniable.audit.simulate import attack, simulate_attacks

__all__ = ["ATTACKS", "Doubt", "Rates", "attack", "doubts", "error_rates", "simulate_attacks", "swing"]
