"""`regress`: a formula, a table and a design → a fitted regression."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.designs import Design
from deniable.designs.labels import format_labels
from deniable.designs.numbers import Scale
from deniable.errors import (
    InvalidRequest,
    NotEstimable,
    quoted,
    require_choice,
    require_options,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.regression.columns import (
    Covariates,
    column,
    parse_terms,
    read_formula,
    to_pandas,
)
from deniable.estimates.regression.evidence import (
    Evidence,
    Integers,
    Mask,
    read_evidence,
    translate_values,
)
from deniable.estimates.regression.fitted import (
    ERROR_DEVIATION,
    ERRORS,
    GROUP_DEVIATION,
    HONESTY,
    Regression,
    Sample,
    is_group_deviation,
)
from deniable.estimates.regression.groups import NODES, GroupLikelihood
from deniable.estimates.regression.likelihoods import (
    EQUATIONS,
    LINKS,
    OUTCOMES,
    AnswerLaw,
    DeniedAnswerLaw,
    EquationLaw,
    ListLaw,
    ManyAnswerLaw,
    MeanErrorLaw,
    MeanLaw,
    NormalLaw,
    OutcomeLaw,
    TwoAnswerLaw,
    start_of_list,
)
from deniable.estimates.regression.models import (
    Maximum,
    RowLikelihood,
    SampledLikelihood,
    highest,
    invert_identified,
    invert_information,
)
from deniable.estimates.results import Caution
from deniable.estimates.sampling import Sampling
from deniable.estimates.sampling.columns import check_rows, numbers
from deniable.files.row_names import check_same_people
from deniable.tallies.group_labels import number_groups

if TYPE_CHECKING:
    import pandas as pd

_SEVERAL_STARTS = (
    20_000  # rows up to which the top is looked for from several starts
)
_WORTH_EACH = 10  # direct answers for each coefficient, below which errors are rough
_FEW_CLUSTERS = 30  # degrees of freedom, up to which terms that differ between clusters alone call for care
_ADAPTED = 4  # times at most that the nodes of random intercepts are moved, on few nodes and on all
_STAYED = 1e-4  # the squared distance, in errors, below which coefficients are the same to the nodes
_FEW_NODES = 3  # on each axis, on the way to the top
_DEVIATION = 0.7  # of intercepts at the start; of numbers, in deviations of errors
_ALONE = 0.9  # of groups that have one row, beyond which their deviation is hardly told from chance
_BORDER = 1e-3  # below which it is none


def regress(
    formula: str,
    data: object,
    *,
    design: Design | Mapping[Any, Design],
    devices: str | None = None,
    family: str | None = None,
    codes: bool | None = None,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    sampling: Sampling | None = None,
    errors: str | None = None,
    intercepts: str | None = None,
    honesty: bool = False,
    predictor: str | None = None,
    given: str | None = None,
) -> Regression:
    """Fit a regression to randomized responses.

    Implements: maximum likelihood of q_i = P_i·μ(x_i′β), where P_i is the channel of row i's device and μ the law of
    answers: [SD88] and [HHG07] for logits of two answers. A randomized predictor has the corrected score
    Σ_i Σ_j w_ij·x_ij·(y_i − m(x_ij′β)) = 0, with w_ij an unbiased indicator of answer j, or by name the joint
    likelihood of [BIZ15]. Coefficients are about the *answers*, as if these had been asked directly; what the device
    adds is taken out. No start values are asked for. `docs/theory/regression.md` has the formulas.

    Args:
        formula: the column of responses, ~, and covariates, such as "cheated ~ age + C(region)" (as `formulaic` reads
            it). With `predictor`, the outcome stands on the left and the column of responses among the covariates.
        data: a table of pandas, Polars or Arrow, or a mapping of columns.
        design: what the responses were drawn with; or a design for each device, by what the rows call it, such as
            {"RR": dn.crosswise("1/4"), "DQ": dn.direct()}. All are for the same answers.
        devices: the column that says what each row was asked with.
        family: "logit" (the default), "probit" or "cloglog" for two answers, of which the second is explained;
            "multinomial" (the default) for more, each compared with the first; "linear" (the default for numbers): the
            mean, by least squares on an unbiased value of each response; "normal" for numbers: the mean under normal
            errors, by likelihood, which is more precise where they are normal. Of an outcome, with `predictor`: its
            mean by estimating equations that hold for any law of the outcome, "linear" (the default for numbers),
            "logit" (the default for 0 and 1) or "log"; or its law by likelihood, "normal" (a mixture of normal laws,
            whose slope is identified by their shape) or "bernoulli".
        codes: what whole numbers among the responses are, as for `dn.tally`: True for codes, False for labels.
        values: which value means which symbol, such as {"1": "yes", "2": "no"}, as for `dn.tally_column`.
        missing: values that mean that nothing was sent, such as ["9"].
        sampling: how the people in the table were drawn, a row for each, such as
            `dn.Sampling("w", strata="region", clusters="village", data=data)`: pseudo-likelihood.
        errors: the standard errors: "observed" information (the default), "expected" information, "outer" product of
            scores, "robust" (HC0; the default for "linear"), or "sampling" (the default with `sampling`, and of
            estimating equations, for people drawn one by one where nothing else is said).
        intercepts: a column of groups that each have an intercept of their own, drawn from a normal law; of more than
            two answers one for each but the first, independent of each other. With `sampling`, each group lies in one
            cluster, and weights are scaled to sum to its rows.
        honesty: estimate as well how many of those with the second answer follow the device; the others send the first
            symbol. The stochastic lie detector, where the devices always let the second answer say yes (`dn.mangat`);
            needs two devices.
        predictor: the column of responses, where it stands on the right: the randomized answer explains something.
        given: the covariates that the answer itself depends on, where it is a predictor by "normal" or "bernoulli"; by
            default the others of the formula. "1" for none. Estimating equations need no such model.

    Returns:
        Coefficients with errors, tests, effects and predictions; print its `summary()`.

    Raises:
        InvalidRequest: a formula, a family or an option that does not fit.
        InvalidResponse: something that its row's design cannot send.
        NotEstimable: devices that do not tell the answers apart, or columns that say the same.
        MissingExtra: formulaic or pandas is not installed.

    Example:
        >>> import deniable as dn
        >>> design = dn.forced_response("2/3", "1/6", "1/6")
        >>> data = {"said": ["yes"] * 30 + ["no"] * 70 + ["yes"] * 50 + ["no"] * 50, "old": [0] * 100 + [1] * 100}
        >>> found = dn.regress("said ~ old", data, design=design)
        >>> {name: round(value, 3) for name, value in found.params.items()}
        {'Intercept': -1.386, 'old': 1.386}
    """
    texts = {
        "devices": devices,
        "family": family,
        "intercepts": intercepts,
        "predictor": predictor,
        "given": given,
    }
    require_options(
        truths={"codes": codes, "honesty": honesty},
        texts={**texts, "errors": errors},
    )
    frame = to_pandas(data)
    _check_errors(errors, sampling, intercepts, len(frame))
    read = _read(
        frame,
        formula,
        design,
        devices,
        codes,
        sampling,
        intercepts,
        predictor,
        given,
        partial(translate_values, meanings=values or {}, missing=missing),
    )
    read.evidence.check_rank()
    family = _choose_family(family, read)
    if read.outcome is not None:
        _check_outcome(family, read.outcome, given=given, intercepts=intercepts)
    if read.outcome is not None and family in EQUATIONS and sampling is None:
        sampling = Sampling(np.ones(len(frame)))
    covariates, matrix = Covariates.of(read.terms, read.frame)
    built = _build(family, covariates.names, matrix, read, honesty)
    if intercepts is not None:
        built = _with_errors(built)
    weights = None if sampling is None else sampling.weights[read.is_used]
    rows = RowLikelihood(built.law, built.matrices, weights)
    likelihood: SampledLikelihood = rows
    names, groups, expected, worth = built.names, 0, None, math.nan
    if intercepts is None:
        top = highest(rows, _starts(built, len(matrix)))
        if built.law.is_equation:
            _check_root(top, family)
        expected, worth = _expected_information(rows, top.theta, read.evidence)
    else:
        deviations = _name_deviations(built, read.evidence.categories)
        row_groups = _number_groups(read.frame[intercepts], sampling, read.is_used)
        likelihood, top = _fit_groups(built, rows, len(deviations), row_groups)
        names, groups = (*names, *deviations), len(likelihood.times)
    sample = Sample(
        names,
        likelihood,
        rows,
        top.theta,
        covariates,
        read.frame[list(covariates.variables)],
        read.evidence,
        expected,
        sampling,
        read.is_used,
    )
    fit = _finish(formula, family, top, sample, errors)
    return _with_cautions(
        replace(fit, dropped=read.dropped, worth=worth, groups=groups), top
    )


def regress_list(
    formula: str,
    data: object,
    counts: Vector,
    treated: Vector,
    n_items: int,
    design: Design,
    *,
    constrained: bool = True,
    sampling: Sampling | None = None,
) -> Regression:
    """Fit the regression of a list experiment; see `list_experiment`.

    Args:
        formula: any name, ~, and the covariates of the sensitive item and of the others.
        data: a table of the covariates.
        counts: how many items apply, a row for each person; NaN where that is missing.
        treated: whether the sensitive item was shown, as 0 or 1; NaN likewise.
        n_items: the number of other items.
        design: the channel of the treated arm, by which privacy is described.
        constrained: whether other items apply as often to members as to other people.
        sampling: how the people were drawn.

    Raises:
        InvalidRequest: covariates or a sampling that do not fit.
        NotEstimable: no person in one of the arms.
    """
    frame, terms = to_pandas(data), read_formula(formula).right
    _check_errors(None, sampling, None, len(frame))
    check_rows(counts, "counts", len(frame))
    variables = list(Covariates.variables_of(terms, frame))
    weights = None if sampling is None else sampling.weights
    reasons = {
        "they hold no count or no arm": np.isnan(counts) | np.isnan(treated),
        "a covariate is missing": ~frame[variables].notna().all(axis=1).to_numpy(),
        "their weight is 0": counts < 0 if weights is None else weights == 0,
    }
    is_used, dropped = _exclude_rows(reasons)
    y, arm = counts[is_used], treated[is_used]
    if np.ptp(arm) == 0:
        raise NotEstimable(
            "all people are in one arm; expected people in the control and in the treated arm."
        )
    covariates, matrix = Covariates.of(terms, frame.loc[is_used])
    zeros = np.zeros(len(y), np.int64)
    evidence = Evidence(
        (design,), ("treated",), zeros, zeros, np.ones((len(y), 2)), zeros > 0
    )
    law = ListLaw(evidence.given, y, "binomial", arm, n_items)
    weights = None if weights is None else weights[is_used]
    shift = matrix[:, :0] if constrained else matrix
    rows = RowLikelihood(law, (matrix, shift, matrix), weights)
    names = [
        f"{label}{name}"
        for label in ("items ~ ", *([] if constrained else ["members ~ "]), "")
        for name in covariates.names
    ]
    items, sensitive = (
        _level(covariates.names, eta) for eta in start_of_list(law, weights).tolist()
    )
    start = np.concatenate([items, np.zeros(shift.shape[1]), sensitive])
    top = highest(rows, [start, np.zeros_like(start)])
    sample = Sample(
        tuple(names),
        rows,
        rows,
        top.theta,
        covariates,
        frame.loc[is_used, variables],
        evidence,
        None,
        sampling,
        is_used,
    )
    fit = _finish(formula, "list experiment", top, sample, None)
    return _with_cautions(replace(fit, dropped=dropped), top)


class _Rows(NamedTuple):
    """The rows of a table that can be used, and why others cannot."""

    frame: pd.DataFrame
    left: str
    terms: str
    predictor: str | None
    given: str
    evidence: Evidence
    is_used: Mask
    dropped: dict[str, int]
    outcome: Vector | None


class _Built(NamedTuple):
    """A law with the columns of its predictors and the names of its coefficients."""

    law: AnswerLaw
    matrices: tuple[Matrix, ...]
    names: tuple[str, ...]
    start: Vector


def _check_errors(
    errors: str | None, sampling: Sampling | None, intercepts: str | None, rows: int
) -> None:
    if errors is not None:
        require_choice("the errors are", errors, ERRORS)
    if sampling is None:
        if errors == "sampling":
            raise InvalidRequest(
                'the errors are "sampling", and there is no sample; expected sampling=.'
            )
        return
    if not isinstance(sampling, Sampling):
        raise InvalidRequest(
            f"the sampling is a {type(sampling).__name__}; expected a Sampling.",
            'For example sampling=dn.Sampling("w", clusters="village", data=data).',
        )
    check_rows(sampling, "columns of the sampling", rows)
    if intercepts is not None and sampling.replicates is None:
        _check_linearized(sampling)
    if (sampling.weights < 0).any():
        raise InvalidRequest(
            "some calibrated weights are negative, and a likelihood has no maximum with these; expected 0 or more.",
            'Calibrate with method="raking", whose weights stay positive.',
        )


def _check_linearized(sampling: Sampling) -> None:
    """Refuse samples of which the score of a group does not tell the variance, only scores of rows would."""
    for feature, value in (
        ("calibrated weights", sampling.calibration),
        ("joint probabilities", sampling.joint),
    ):
        if value is not None:
            raise InvalidRequest(
                f"random intercepts do not go with {feature}, whose variance is not one of whole groups; expected "
                "replicates, or weights, strata and clusters alone.",
                'For example dn.Sampling("w", clusters="school", replicates="jackknife", data=data).',
            )


def _read(
    frame: pd.DataFrame,
    formula: str,
    design: Design | Mapping[Any, Design],
    devices: str | None,
    codes: bool | None,
    sampling: Sampling | None,
    intercepts: str | None,
    predictor: str | None,
    given: str | None,
    translate: Callable[[Sequence[object]], Sequence[object]],
) -> _Rows:
    left, right = read_formula(formula)
    check_same_people(data=frame, sampling=sampling)
    if given is not None and predictor is None:
        raise InvalidRequest(
            "given= is for a randomized predictor; expected predictor= beside it."
        )
    if predictor is not None:
        right = _drop_predictor(right, predictor)
    responses = column(frame, predictor or left, "the response").to_numpy()
    row_devices = None
    if devices is not None:
        row_devices = column(frame, devices, "the device").tolist()
    evidence = read_evidence(design, translate(responses), row_devices, codes=codes)
    needed = _needed_columns(frame, left, right, intercepts, predictor, given)
    weights = np.ones(len(frame)) if sampling is None else sampling.weights
    complete = frame[list(dict.fromkeys(needed))].notna().all(axis=1).to_numpy()
    silent = evidence.silent()
    if silent.all() and len(silent):
        raise NotEstimable(
            "every answer sends the same responses with the same probabilities (D = 0), so that they say nothing; "
            "expected a design whose responses depend on the answer."
        )
    reasons = {
        "they hold no response": evidence.missing,
        "a covariate or group is missing": ~complete,
        "their device says nothing about the answer": silent,
        "their weight is 0": weights == 0,
    }
    is_used, dropped = _exclude_rows(reasons)
    return _Rows(
        frame.loc[is_used],
        left,
        right,
        predictor,
        given or right,
        evidence.select(is_used),
        is_used,
        dropped,
        None if predictor is None else numbers(frame.loc[is_used, left], "outcomes"),
    )


def _needed_columns(
    frame: pd.DataFrame,
    left: str,
    right: str,
    intercepts: str | None,
    predictor: str | None,
    given: str | None,
) -> list[str]:
    needed = list(Covariates.variables_of(right, frame))
    if given:
        needed += Covariates.variables_of(given, frame)
    if predictor is not None:
        needed.append(str(column(frame, left, "the outcome").name))
    if intercepts is not None:
        needed.append(str(column(frame, intercepts, "the group").name))
    return needed


def _exclude_rows(reasons: Mapping[str, Mask]) -> tuple[Mask, dict[str, int]]:
    """Return the rows that no reason excludes, and how many are excluded by each reason first.

    Raises:
        NotEstimable: no row is left.
    """
    excluded = np.stack(list(reasons.values()))
    is_used = np.asarray(~excluded.any(axis=0))
    if not is_used.any():
        raise NotEstimable(
            "no row has a response and all covariates; expected some."
        )
    counts = np.bincount(excluded.argmax(axis=0)[~is_used], minlength=len(reasons))
    dropped = dict(zip(reasons, counts.tolist(), strict=True))
    return is_used, {reason: count for reason, count in dropped.items() if count}


def _drop_predictor(terms: str, predictor: str) -> str:
    """Return the right side of a formula without the randomized predictor.

    Raises:
        InvalidRequest: it is not a term of its own, or the formula cannot be read.
    """
    names = list(map(str, parse_terms(terms)))
    terms_left = [name for name in names if name != predictor]
    if len(terms_left) == len(names) or any(
        predictor in name.split(":") for name in terms_left
    ):
        raise InvalidRequest(
            f"the predictor {quoted(predictor)} is not a term of its own in {quoted(terms, 60)}; expected it "
            "once, without interactions.",
            f'For example "income ~ age + {predictor:.40}".',
        )
    return " + ".join(terms_left if "1" in terms_left else ["0", *terms_left])


def _choose_family(family: str | None, read: _Rows) -> str:
    """Return the family of the answers, or of an outcome; the usual one, if none is named."""
    n_answers = len(read.evidence.categories)
    if read.outcome is not None:
        families = [*EQUATIONS, *OUTCOMES]
        is_binary = set(np.unique(read.outcome)) <= {0, 1}
        default = "logit" if is_binary else "linear"
    else:
        is_two = n_answers == 2
        families = [*LINKS, "multinomial", "linear"] if is_two else ["multinomial"]
        default = families[0]
        if read.evidence.is_numeric:
            default = "linear"
            families = [*dict.fromkeys([*families, default]), "normal"]
    if family is not None and family not in families:
        raise InvalidRequest(
            f"the family is {quoted(family)}; expected one of {', '.join(families)} for {n_answers} answers"
            f"{' and an outcome' if read.predictor else ''}."
        )
    return family or default


def _build(
    family: str, names: tuple[str, ...], matrix: Matrix, read: _Rows, honesty: bool
) -> _Built:
    """Return the law of the rows with its columns, the names of its coefficients and their start."""
    if honesty and (family not in LINKS or read.predictor is not None):
        raise InvalidRequest(
            'honesty= is for two answers by "logit", "probit" or "cloglog"; expected one of these.'
        )
    if read.predictor is not None:
        return _build_outcome(read.predictor, family, names, matrix, read)
    built = _build_likelihood(family, names, matrix, read.evidence)
    return _with_honesty(built, read.evidence) if honesty else built


def _build_likelihood(
    family: str, names: tuple[str, ...], matrix: Matrix, evidence: Evidence
) -> _Built:
    """Return a regression in which the answer is explained."""
    if family == "multinomial":
        answers = evidence.categories[1:]
        return _Built(
            ManyAnswerLaw(evidence.given),
            (matrix,) * len(answers),
            tuple(f"{answer}: {name}" for answer in answers for name in names),
            np.concatenate([_level(names, eta) for eta in _shares_eta(evidence)]),
        )
    if family == "normal":
        return _build_normal(names, matrix, evidence)
    if family == "linear":
        worth = np.arange(len(evidence.categories), dtype=np.float64)
        if evidence.scale is not None:
            worth = _levels(evidence.scale)
        values = evidence.values(worth)
        if np.ptp(values) <= 1e-12 * abs(values).max():
            raise NotEstimable(
                "every row has the same response, which leaves no error to compare coefficients with; expected "
                "responses that vary.",
                "Ask more people.",
            )
        law = MeanLaw(evidence.given, values)
        return _Built(law, (matrix,), names, np.zeros(len(names)))
    link = LINKS[family]
    start = _level(names, float(link.inverse(float(_shares(evidence)[1]))))
    return _Built(TwoAnswerLaw(evidence.given, link), (matrix,), names, start)


def _levels(scale: Scale) -> Vector:
    return vector([float(value) for value in scale.values])


def _build_normal(
    names: tuple[str, ...], matrix: Matrix, evidence: Evidence
) -> _Built:
    assert evidence.scale is not None
    if any(
        getattr(design, "scale", None) != evidence.scale
        for design in evidence.designs
    ):
        raise InvalidRequest(
            "the designs have other ranges or levels; expected the same for all devices."
        )
    levels, shares = _levels(evidence.scale), _shares(evidence)
    mean = float(shares @ levels)
    deviation = float(np.sqrt(shares @ (levels - mean) ** 2))
    built = _Built(
        NormalLaw(evidence.given, levels), (matrix,), names, _level(names, mean)
    )
    return _with_constant(built, ERROR_DEVIATION, np.log(deviation))


def _with_constant(built: _Built, name: str, start: float) -> _Built:
    """Return a regression with one more predictor that is the same for all rows."""
    return built._replace(
        matrices=(*built.matrices, np.ones((len(built.matrices[0]), 1))),
        names=(*built.names, name),
        start=np.append(built.start, start),
    )


def _with_honesty(built: _Built, evidence: Evidence) -> _Built:
    """Return a regression in which a part of those with the second answer denies it."""
    assert isinstance(built.law, TwoAnswerLaw)
    _check_honesty(evidence)
    denied = (evidence.codes == 0).astype(np.float64)
    law = DeniedAnswerLaw(evidence.given, built.law.link, denied)
    return _with_constant(built._replace(law=law), HONESTY, 1.0)


def _check_honesty(evidence: Evidence) -> None:
    """Refuse devices under which honesty cannot be told from the share: all treat the first answer alike."""
    channels = evidence.channels()
    used = np.unique(evidence.devices)
    if (
        channels is None
        or len(np.unique(channels[used, :, 0].round(12), axis=0)) < 2
    ):
        raise NotEstimable(
            "all rows were asked with one device, under which fewer honest people and fewer people with the answer "
            "look the same; expected two devices that treat the first answer differently.",
            "Leave honesty= away, or ask two groups with different probabilities.",
        )


def _check_outcome(
    family: str, outcome: Vector, *, given: str | None, intercepts: str | None
) -> None:
    """Refuse outcomes that do not fit their family, and options that estimating equations do not have.

    Raises:
        InvalidRequest: outcomes outside of the family's range, or an option that needs a likelihood.
        NotEstimable: an outcome that does not vary.
    """
    if family in ("logit", "bernoulli") and not set(np.unique(outcome)) <= {0, 1}:
        raise InvalidRequest(
            f'the outcome of a "{family}" is not always 0 or 1; expected these, or family="linear".'
        )
    if family == "log" and (outcome < 0).any():
        raise InvalidRequest(
            'the outcome of a "log" is negative in some row; expected 0 or more, or family="linear".'
        )
    if np.ptp(outcome) == 0:
        raise NotEstimable(
            f"the outcome is {outcome[0]:g} in every row; expected one that varies, which something can explain."
        )
    for name, value in {"given": given, "intercepts": intercepts}.items():
        if value is not None and family in EQUATIONS:
            raise InvalidRequest(
                f'{name}= needs a law of the outcome, which the estimating equations of "{family}" do not have; '
                f"expected one of the families {', '.join(OUTCOMES)}.",
                f"Leave {name}= away, or name the groups as clusters: sampling=dn.Sampling(clusters=…, data=data).",
            )


def _check_root(top: Maximum, family: str) -> None:
    """Refuse estimating equations without a solution.

    Raises:
        NotEstimable: Newton's method did not end at a root.
    """
    if not top.converged:
        raise NotEstimable(
            f'the estimating equations of "{family}" have no solution: the mean of the outcome, as estimated from the '
            "responses of those with some answer, is outside of its range (separation); expected more people with it.",
            'Take family="linear", which compares the means themselves, leave terms out, or ask more people.',
        )


def _build_outcome(
    predictor: str, family: str, names: tuple[str, ...], matrix: Matrix, read: _Rows
) -> _Built:
    """Return a regression in which the answer explains an outcome."""
    outcome, evidence = read.outcome, read.evidence
    assert outcome is not None
    n_others = len(evidence.categories) - 1
    labels = [f"{predictor}[{answer}]" for answer in evidence.categories[1:]]
    if n_others == 1:
        labels = [predictor]
    if family in EQUATIONS:
        indicators = evidence.indicators()
        return _Built(
            EquationLaw(evidence.given, outcome, family, indicators),
            (matrix, *(np.ones((len(matrix), 1)),) * n_others),
            (*names, *labels),
            np.zeros(len(names) + n_others),
        )
    covariates, answers = Covariates.of(read.given, read.frame)
    mean = float(outcome.mean())
    if family == "bernoulli":
        mean = float(LINKS["logit"].inverse(float(np.clip(mean, 0.02, 0.98))))
    starts = [_level(covariates.names, eta) for eta in _shares_eta(evidence)]
    built = _Built(
        OutcomeLaw(evidence.given, outcome, family),
        (
            matrix,
            *(np.ones((len(matrix), 1)),) * n_others,
            *(answers,) * n_others,
        ),
        (
            *names,
            *labels,
            *(f"{label} ~ {name}" for label in labels for name in covariates.names),
        ),
        np.concatenate([_level(names, mean), np.zeros(n_others), *starts]),
    )
    if family == "bernoulli":
        return built
    deviation = max(float(outcome.std()), 1e-9)
    return _with_constant(built, ERROR_DEVIATION, np.log(deviation))


def _shares(evidence: Evidence) -> Vector:
    """Return rough shares of the answers, a few steps of EM from even ones; none next to 0."""
    table, times = evidence.given, np.ones(len(evidence.given), np.intp)
    if (evidence.codes >= 0).all():  # equal responses through one device are one row
        key = evidence.devices * (evidence.codes.max() + 1) + evidence.codes
        _, first, times = np.unique(key, return_index=True, return_counts=True)
        table = evidence.given[first]
    n_answers = table.shape[1]
    shares = np.full(n_answers, 1 / n_answers)
    for _ in range(20):
        joint = table * shares
        shares = times @ (joint / joint.sum(axis=1, keepdims=True)) / times.sum()
    return vector((shares + 0.1 / n_answers) / 1.1)


def _shares_eta(evidence: Evidence) -> Vector:
    shares = _shares(evidence)
    return vector(np.log(shares[1:] / shares[0]))


def _level(names: Sequence[str], level: float) -> Vector:
    """Return coefficients that give every row the same predictor, where there is an intercept; else zeros."""
    return vector([level if name == "Intercept" else 0.0 for name in names])


def _starts(built: _Built, rows: int) -> list[Vector]:
    if rows > _SEVERAL_STARTS or not built.law.has_local_maxima:
        return [built.start]
    return [built.start, np.zeros_like(built.start)]


def _expected_information(
    rows: RowLikelihood, theta: Vector, evidence: Evidence
) -> tuple[Matrix | None, float]:
    """Return the expected information, and how many direct answers the responses are worth for the coefficients.

    Why: a row's responses have the information Σ_z q_z·s_z·s_z′ about its predictors, a direct answer that of the
    identity. The ratio of both, over all rows and predictors, is what a response is worth.
    """
    channels = evidence.channels()
    if channels is None or not rows.law.has_expected_information:
        return None, math.nan
    information, by_row = rows.expected(theta, channels, evidence.devices)
    identity = np.eye(len(evidence.categories))[None]
    _, direct = rows.expected(theta, identity, np.zeros_like(evidence.devices))
    direct_trace, trace = (
        float(np.einsum("ijj->", matrices)) for matrices in (direct, by_row)
    )
    worth = len(by_row) * trace / direct_trace if direct_trace > 0 else math.nan
    return information, worth


def _with_errors(built: _Built) -> _Built:
    """Return a law of means with normal errors: how far groups lie apart is told against these."""
    if not isinstance(built.law, MeanLaw):
        return built
    law = MeanErrorLaw(built.law.evidence, built.law.values)
    deviation = max(float(law.values.std()), 1e-9)
    start = _level(built.names, float(law.values.mean()))
    return _with_constant(
        built._replace(law=law, start=start), ERROR_DEVIATION, np.log(deviation)
    )


def _fit_groups(
    built: _Built, rows: RowLikelihood, axes: int, groups: Integers
) -> tuple[GroupLikelihood, Maximum]:
    """Maximize with random intercepts: on few nodes first, then on all of them, which are moved after each climb."""
    max_nodes = NODES[axes - 1]
    likelihood = GroupLikelihood.of(rows, groups, min(max_nodes, _FEW_NODES))
    unit = 1.0
    if ERROR_DEVIATION in built.names:
        unit = np.exp(built.start[built.names.index(ERROR_DEVIATION)])
    theta = np.append(built.start, np.full(axes, _DEVIATION * unit))
    steps = 0
    for nodes in (likelihood.nodes, max_nodes):
        likelihood = replace(likelihood, nodes=nodes)
        for _ in range(_ADAPTED):
            likelihood = likelihood.adapted(theta)
            top = highest(likelihood, [theta])
            step, theta, steps = top.theta - theta, top.theta, steps + top.steps
            # the nodes lie at about these
            if step @ top.information @ step < _STAYED * likelihood.unit:
                break
    signs = np.where(theta[rows.size :] < 0, -1.0, 1.0)  # σ and −σ are one model
    turned = np.append(np.ones(rows.size), signs)
    top = top._replace(
        theta=theta * turned,
        information=top.information * np.outer(turned, turned),
        steps=steps,
    )
    return likelihood.mirrored(signs), top


def _name_deviations(built: _Built, categories: Sequence[str]) -> tuple[str, ...]:
    """Return what the deviations of intercepts are called: one, or one for each answer but the first.

    Raises:
        InvalidRequest: too many answers.
    """
    axes = len(built.law.raised)
    if axes > len(NODES):
        raise InvalidRequest(
            f"random intercepts of {axes + 1} answers are integrals over {axes} dimensions; expected at most "
            f"{len(NODES) + 1} answers.",
            "Leave intercepts= away and name the groups as clusters, whose errors need no law of them: "
            'sampling=dn.Sampling(clusters="school", data=data). Or ask for fewer answers.',
        )
    if not isinstance(built.law, ManyAnswerLaw):
        return (GROUP_DEVIATION,)
    return tuple(f"{answer}: {GROUP_DEVIATION}" for answer in categories[1:])


def _number_groups(
    column: pd.Series, sampling: Sampling | None, is_used: Mask
) -> Integers:
    """Return the number of each row's group.

    Raises:
        NotEstimable: one group, or groups of which nearly all have one row.
        InvalidRequest: a group that does not lie in one cluster of the sample.
    """
    groups = np.unique(number_groups(column)[1], return_inverse=True)[1]
    if groups.max() == 0:
        raise NotEstimable(
            f"the column {quoted(column.name)} holds one group; expected several, to see how they differ."
        )
    sizes = np.bincount(groups)
    if (sizes == 1).mean() > _ALONE:
        raise NotEstimable(
            f"{int((sizes == 1).sum()):,} of {len(sizes):,} groups of {quoted(column.name)} have one row; expected "
            "groups of several rows, because one row does not tell how its group differs."
        )
    if sampling is not None:
        clusters = sampling.clusters[is_used]
        _, first = np.unique(groups, return_index=True)
        is_split = clusters != clusters[first][groups]
        if is_split.any():
            raise InvalidRequest(
                f"the group {quoted(column.iloc[int(is_split.argmax())])} of {quoted(column.name)} lies in several "
                "clusters of the sampling; expected each group in one cluster, because its rows share an intercept.",
                f'Name the groups as clusters, dn.Sampling(…, clusters="{column.name!s:.40}"), or something larger.',
            )
    return np.asarray(groups, np.int64)


def _finish(
    formula: str, family: str, top: Maximum, sample: Sample, errors: str | None
) -> Regression:
    """Return the regression: coefficients as they are shown, with errors of the requested kind."""
    law, sampling, scales = sample.rows.law, sample.sampling, sample.scales
    if errors is None:
        errors = "observed" if law.has_likelihood else "robust"
        errors = errors if sampling is None else "sampling"
    information = top.information * np.outer(scales, scales)
    covariance, errors, cautions = _covariance(sample, information, errors)
    sampled, df = "", 0
    if sampling is not None:
        sampled = f"{sampling.variance}; {sampling.describe()}"
        df = sampling.degrees_of(sample.is_used)
    return Regression(
        formula=formula,
        family=family,
        names=sample.names,
        values=sample.shown_values(top.theta),
        covariance=covariance,
        information=information,
        log_likelihood=top.value if law.has_likelihood else math.nan,
        errors=errors,
        designs=tuple(
            zip(sample.evidence.names, sample.evidence.designs, strict=True)
        ),
        respondents=len(sample.evidence.codes),
        dropped={},
        worth=math.nan,
        steps=top.steps,
        cautions=cautions,
        sampled=sampled,
        degrees=df,
        groups=0,
        ratios=sample.ratio_variances(information),
        sample=sample,
    )


def _covariance(
    sample: Sample, information: Matrix, errors: str
) -> tuple[Matrix, str, tuple[Caution, ...]]:
    """Return the covariance of the requested kind, or where there is none the expected or generalized one."""
    is_definite = not sample.rows.law.is_equation
    if errors in ("expected", "outer") or (
        invert_information(information, is_definite=is_definite) is not None
    ):
        return sample.covariance(errors, information), errors, ()
    if (
        sample.expected is not None
        and invert_information(sample.expected) is not None
    ):
        text = (
            "the observed information is not positive definite at the maximum; the standard errors are those of the "
            "expected information instead."
        )
        covariance = sample.covariance("expected", information)
        return covariance, "expected", (Caution("curvature", text),)
    text = (
        "the likelihood is flat in some direction at its maximum: the data do not identify some coefficients, which "
        "have no standard error. Leave terms out, or ask more people."
    )
    return invert_identified(information), "observed", (Caution("flat", text),)


def _with_cautions(fit: Regression, top: Maximum) -> Regression:
    """Return a regression with what calls for care; deviations of intercepts next to 0 are 0."""
    cautions = []
    if not top.converged:
        text = (
            f"the maximum was not reached: {top.gap:.2g} nats may still be gained."
        )
        cautions.append(Caution("convergence", text))
    separated = _separated_coefficients(fit)
    if separated:
        text = (
            f"the fitted probabilities run to 0 or 1 as the coefficients of {format_labels(separated)} grow without "
            "end (separation): the errors and the normal intervals of these mean nothing. Read "
            'conf_int(method="profile"), or leave the term out. Of an intercept it means that fewer say so than the '
            "device would make them: by chance, because people protect themselves with a no, or because probabilities "
            "or codes are wrong."
        )
        cautions.append(Caution("separation", text))
    cautions += _outcome_cautions(fit)
    between = _between_clusters(fit)
    if between:
        text = (
            f"there are few clusters, and no differences in {format_labels(between)} within them: the errors of such "
            "terms are too small, so that with 8 clusters a test at 5% rejects what is true in 12% of surveys or more. "
            'Leave out one cluster after another: dn.Sampling(…, replicates="jackknife").'
        )
        cautions.append(Caution("clusters", text))
    if np.isfinite(fit.worth) and fit.worth < _WORTH_EACH * len(fit.names):
        text = (
            f"the design is too noisy for these data: {fit.respondents:,} responses are worth about "
            f"{fit.worth:,.0f} direct answers, for {len(fit.names)} coefficients; expected at least {_WORTH_EACH} "
            "for each. Take fewer terms, or ask more people."
        )
        cautions.append(Caution("noisy", text))
    return _with_border(replace(fit, cautions=(*cautions, *fit.cautions)))


def _between_clusters(fit: Regression) -> list[str]:
    """Return the terms that differ between clusters alone, where these are few and errors are linearized."""
    sample, sampling = fit._require_sample(), fit._require_sample().sampling
    if (
        sampling is None
        or fit.errors != "sampling"
        or fit.degrees > _FEW_CLUSTERS
        or sampling.replicates is not None
        or not sampling.clustered
    ):
        return []
    clusters = sampling.clusters[sample.is_used]
    _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
    columns = np.hstack(sample.rows.matrices)
    varies = np.ptp(columns, axis=0) > 0
    between = (columns == columns[first][cluster]).all(axis=0)
    return list(compress(sample.names, varies & between))


def _outcome_cautions(fit: Regression) -> list[Caution]:
    """Return what calls for care in a regression with a randomized predictor."""
    sample, cautions = fit._require_sample(), []
    if sample.rows.law.has_outcome and fit.family == "normal":
        text = (
            "the slope of the randomized predictor is identified by the shape of the outcome: it is right only where "
            'the outcome has normal errors of one deviation under every answer. Compare it with family="linear", which '
            "needs no law of the outcome."
        )
        cautions.append(Caution("shape", text))
    is_slope = np.isfinite(fit.ratios).all(axis=0)
    is_unbounded = is_slope & ~np.isfinite(fit._bounds(None, 0.95)[0])
    if is_unbounded.any():
        names = format_labels(list(compress(fit.names, is_unbounded)))
        text = (
            f"the data do not show that anybody has the answer of {names} (at 95%): its interval has no ends, because "
            "the responses of a group that may be empty fit any slope. Ask more people, or ask with a larger ε."
        )
        cautions.append(Caution("unbounded", text))
    return cautions


def _with_border(fit: Regression) -> Regression:
    """Return a regression whose deviations of intercepts that are next to 0 are 0, with a caution."""
    unit = fit.params.get(ERROR_DEVIATION, 1.0)
    zeros = [
        name
        for name, value in fit.params.items()
        if is_group_deviation(name) and value < _BORDER * unit
    ]
    if not zeros:
        return fit
    text = (
        f"no difference between the groups is seen beyond chance: {format_labels(zeros)} is estimated as 0, on the "
        "border, where it has no error."
    )
    if np.isfinite(fit.log_likelihood) and not fit.sampled:
        text += ' Read conf_int(method="profile") to see how large it could be.'
    values = np.where([name in zeros for name in fit.names], 0.0, fit.values)
    cautions = (*fit.cautions, Caution("border", text))
    return replace(fit, values=values, cautions=cautions)


def _separated_coefficients(fit: Regression) -> list[str]:
    """Return the coefficients that run off: the predictors of rows go beyond what any data would show."""
    sample, errors = fit._require_sample(), vector(list(fit.bse.values()))
    rows, edge = sample.rows, sample.rows.law.edge
    deviations = [
        name
        for name, value in fit.params.items()
        if is_group_deviation(name) and value > edge
    ]
    bounded = list(rows.law.bounded)
    farthest = np.abs(sample.eta[:, bounded]).max()
    if farthest < edge and np.isfinite(errors).all():
        return deviations
    names = []
    for predictor in bounded:
        x, block = rows.matrices[predictor], rows.blocks[predictor]
        ranges = np.ptp(x, axis=0)
        ranges = np.where(ranges == 0, np.abs(x).max(axis=0), ranges)
        is_far = np.abs(sample.theta[block]) * ranges > edge / 2
        is_wide = ~(errors[block] * ranges < 2 * edge)
        names += list(compress(fit.names[block], is_far & is_wide))
    return names + deviations
