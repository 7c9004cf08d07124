"""Claims about bearings: those of the device."""

from __future__ import annotations

from deniable.claims.statements import ClaimedPart, Claims, Priors, channel_claims
from deniable.designs import Design
from tests.support.bearings.design import BearingDesign


def claims(design: BearingDesign, prior: Priors = None) -> Claims:
    return channel_claims(design.device, prior)


def caveats(design: BearingDesign) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    return ()


def labelled_design(design: BearingDesign) -> Design:
    return design.device


def claimed_parts(design: BearingDesign, claims: Claims) -> list[ClaimedPart]:  # noqa: ARG001 - none for any
    return []
