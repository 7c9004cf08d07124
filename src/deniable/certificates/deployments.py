"""A record for the public registry of deployments of differential privacy, from a certificate.

The fields are those of the registry's template of 2026 (OpenDP's `deployments-registry-data`, in
`tests/good_deployments/template.yaml`): a YAML file for each deployment. What follows from the certificate is filled
in. What only whoever deploys it knows is left empty, with a comment that asks for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from deniable import exact
from deniable.certificates.certificate import Certificate
from deniable.claims.statements import read_ratio
from deniable.survey import Survey

ASKED = "asked of whoever deploys it"
"""What is said of a field that the certificate cannot fill."""

_TRUST = (
    "Answers are randomized at the respondent; nobody else has to be trusted with them. The respondent trusts the "
    "program, or the dice or cards, that draw."
)


def record_of(certificate: Certificate) -> str:
    """Return a record of a deployment in YAML."""
    head = (
        "# A record for the registry of deployments of differential privacy, in the form of its template.\n"
        f"# Fields that are empty are {ASKED}; the others follow from the certificate\n# {certificate.hash}\n"
    )
    return head + "\n".join(_lines(_fields(certificate), 0)) + "\n"


def _fields(certificate: Certificate) -> dict[str, Any]:
    return {
        "url_slug": "",
        "deployment": {
            "basic": _basic(certificate),
            "dp_variant": _variant(certificate),
            "privacy_loss": _loss(certificate),
            "deployment_model": _model(certificate),
            "implementation": _implementation(certificate),
            "administrative": {
                "evidence_sources": {
                    "certificate": {
                        "evidence_source_type": "",
                        "article": {
                            "title": f"Certificate {certificate.hash}",
                            "note": "Checked again by one file of Python: deniable certify --checker",
                            "url": "",
                        },
                    }
                },
                "status": "Draft",
                "registry_authors": [""],
                "tier": "",
            },
        },
    }


def _basic(certificate: Certificate) -> dict[str, Any]:
    subject = certificate.subject
    title = (
        subject.texts[subject.language].title if isinstance(subject, Survey) else ""
    )
    return {
        "name": title,
        "data_curators": [{"data_curator_name": "", "data_curator_type": ""}],
        "description": "",
        "intended_use": "",
        "data_product_type": "Summary statistics",
        "data_product_region": "",
        "data_product_sector": "",
        "publication_date": "",
    }


def _variant(certificate: Certificate) -> dict[str, Any]:
    finite = read_ratio(certificate.claims["parity"]) != math.inf
    return {
        "variant_name": "Pure DP" if finite else "Approximate DP",
        "data_domain": f"What one respondent answers: {certificate.subject!r}",
        "unprotected_quantities": " ".join(
            (*certificate.caveats, "How many people respond is not protected.")
        ),
    }


def _loss(certificate: Certificate) -> dict[str, Any]:
    claims, point = certificate.claims, certificate.claims["delta"]["curve"][-1]
    if read_ratio(claims["parity"]) != math.inf:
        parameters = {"epsilon": float(claims["epsilon"])}
        details = (
            f"e^ε is exactly {claims['parity']}; ε is its logarithm, rounded up."
        )
    else:
        parameters = {
            "epsilon": exact.log_above(read_ratio(point["gamma"])),
            "delta": exact.float_above(Fraction(point["delta"])),
        }
        details = (
            f"δ is exactly {point['delta']} at e^ε = {point['gamma']}; the "
            "certificate has more points of the curve."
        )
    return {
        "privacy_unit": "Person-level",
        "privacy_unit_details": (
            "All that one respondent answers here, once; any answer may be replaced by any other. Whoever is asked "
            "again, with fresh draws, spends as much again."
        ),
        "number_of_privacy_units": 1,
        "privacy_parameters": parameters,
        "privacy_parameters_details": details,
    }


def _model(certificate: Certificate) -> dict[str, Any]:
    staged = certificate.claims.get("rule") == "last"
    return {
        "model_name": "Local",
        "model_name_details": "Randomized response: each answer is randomized before it leaves the respondent.",
        "trust_assumptions": _TRUST,
        "actors": "",
        "release_type": "Many releases" if staged else "",
        "release_type_details": (
            "One answer is released in stages; all stages together reveal what the last one does."
            if staged
            else ""
        ),
        "data_source_type": "",
        "data_source_type_details": "",
        "access_type": "Non-interactive",
        "access_type_details": "",
    }


def _implementation(certificate: Certificate) -> dict[str, Any]:
    from deniable import __version__

    rule = certificate.claims.get("rule")
    composition = {
        "all": "Sequential: the parities of all parts multiply, and their ε add up.",
        "some": f"The {certificate.claims.get('each')} largest parities multiply; which are asked is drawn evenly.",
        "last": "Stages are garblings of each other: the last one's ε holds for all of them together.",
    }
    return {
        "preprocessing_and_hyperparameter_tuning": "",
        "mechanisms": (
            f"{certificate.subject!r}, by deniable {__version__}. Where a program draws, integers from the operating "
            "system's source are compared with integer weights, and no floating-point number decides a draw."
        ),
        "composition": composition.get(
            rule or "", "One response for each respondent."
        ),
        "post_processing": "",
        "justification": "",
        "utility": "",
        "additional_information": f"{certificate.subject.SCHEMA} {certificate.subject.hash}",
    }


def _lines(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield a mapping as YAML; text is quoted as in JSON, which YAML reads."""
    indent = "  " * depth
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (line for item in value for line in _entry(item, depth + 1))
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _entry(value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{'  ' * depth}- {_scalar(value)}"
        return
    first, *following = _lines(value, depth + 1)
    yield f"{'  ' * depth}- {first.strip()}"
    yield from following


def _scalar(value: object) -> str:
    return f"''  # {ASKED}" if value == "" else json.dumps(value, ensure_ascii=False)
