"""What an attacker can really learn: inference attacks, beside the bound that none can beat."""

from __future__ import annotations

from deniable.audit.attacks import ATTACKS, Rates
from deniable.audit.rates import error_rates
from deniable.audit.simulate import attack, simulate_attacks

__all__ = ["ATTACKS", "Rates", "attack", "error_rates", "simulate_attacks"]
