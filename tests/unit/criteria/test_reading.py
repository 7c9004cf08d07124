"""Criteria in words."""

from __future__ import annotations

import pytest

from deniable import criteria
from deniable.criteria import read_criterion
from deniable.errors import InvalidNumber, InvalidRequest

PRIOR = {"no": "0.9", "yes": "0.1"}
STEPS = [["0", "0.2"], ["0.25", "0.6"], ["0.5", "0.8"], ["1", "1"]]
CASES: dict[str, criteria.Criterion] = {
    "epsilon 1": criteria.Epsilon(1),
    "bayes_factor 3": criteria.BayesFactor(3),
    "beta_factor beta:3": criteria.BetaFactor(3),
    "rho_to_rho 1/10 1/2": criteria.RhoToRho("1/10", "1/2"),
    "rho_to_rho rho2:1/2 rho1:1/10": criteria.RhoToRho("1/10", "1/2"),
    "posterior_cap 1/20 1/2": criteria.PosteriorCap("1/20", "1/2"),
    "boundaries upper:0,0.2;0.25,0.6;0.5,0.8;1,1": criteria.Boundaries(upper=STEPS),
    "known_prior 0.7,0.1,0.1,0.1 3/4": criteria.KnownPrior(
        ["0.7", "0.1", "0.1", "0.1"], "3/4"
    ),
    "known_prior no=0.9,yes=0.1 1/2 yes": criteria.KnownPrior(PRIOR, "1/2", ["yes"]),
    "policy 1 a,b;a,c": criteria.Policy(1, pairs=[["a", "b"], ["a", "c"]]),
    "policy 1 'never ever,often'": criteria.Policy(
        1, pairs=[["never ever", "often"]]
    ),
    "policy 1 properties:never,once": criteria.Policy(
        1, properties=[["never", "once"]]
    ),
    "relaxed 1 0.01": criteria.Relaxed(1, "0.01"),
}


@pytest.mark.parametrize("text", CASES)
def test_a_criterion_is_read_as_python_builds_it(text: str) -> None:
    assert read_criterion(text) == CASES[text]


def test_every_criterion_can_be_written() -> None:
    assert {text.split()[0] for text in CASES} == set(criteria.CRITERIA)
    concrete = {
        kind
        for kind in map(vars(criteria).get, criteria.__all__)
        if isinstance(kind, type)
        and issubclass(kind, criteria.Criterion)
        and not getattr(kind, "__abstractmethods__", ())
    }
    assert concrete == set(criteria.CRITERIA.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the criterion is ''; expected one of epsilon"),
        ("rho 1 2", "expected one of epsilon, bayes_factor"),
        ("rho_to_rho 1/10", "expected rho1, rho2"),
        ("epsilon 1 2", "expected epsilon"),
        ("policy 1 a,b pairs:a,c", "expected epsilon, pairs, properties"),
        ("policy 1 'a,b", "expected pairs of them"),
    ],
)
def test_other_words_are_refused(text: str, expected: str) -> None:
    with pytest.raises(InvalidRequest, match=expected):
        read_criterion(text)


def test_a_parameter_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidNumber, match="expected a finite number"):
        read_criterion("epsilon much")
