"""The auditor: what a mechanism reveals, found out from outside.

dn.audit(thing, epsilon=1)      every check in `CHECKS`, and the `Audit` that comes of it
mechanisms                      what can be audited, and how it is asked
findings                        what a check is given, and what it returns
"""

from __future__ import annotations

from deniable.auditor.adapters import of_command, of_endpoint, of_pairs
from deniable.auditor.auditing import CHECKS, audit
from deniable.auditor.findings import Audit, Check, CheckContext, Finding
from deniable.auditor.mechanisms import (
    Mechanism,
    jointly,
    mechanism,
    of_callable,
    of_design,
)
from deniable.auditor.reports import of_respondents, repeatedly

__all__ = [
    "CHECKS",
    "Audit",
    "Check",
    "CheckContext",
    "Finding",
    "Mechanism",
    "audit",
    "jointly",
    "mechanism",
    "of_callable",
    "of_command",
    "of_design",
    "of_endpoint",
    "of_pairs",
    "of_respondents",
    "repeatedly",
]
