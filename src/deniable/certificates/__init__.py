"""Certificates: what a design, a ladder or a survey promises, in exact numbers that anybody can check again."""

from __future__ import annotations

from deniable.certificates.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
