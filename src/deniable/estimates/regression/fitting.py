"""`regress`: a formula, a table and a design → a fitted regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design, NumberDesign
from deniable.designs.labels import format_labels
from deniable.errors import InvalidRequest, NotEstimable, quoted, require_options
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.columns import (
    Covariates,
    column,
    read_formula,
    to_pandas,
)
from deniable.estimates.regression.evidence import Evidence, read_evidence
from deniable.estimates.regression.fitted import (
    ERROR_DEVIATION,
    GROUP_DEVIATION,
    HONESTY,
    Refit,
    Regression,
    Sample,
    is_group_deviation,
    scales,
    shown_values,
)
from deniable.estimates.regression.groups import NODES, GroupLikelihood
from deniable.estimates.regression.likelihoods import (
    AnswerLaw,
    DeniedAnswerLaw,
    ManyAnswerLaw,
    MeanErrorLaw,
    MeanLaw,
    NormalLaw,
    TwoAnswerLaw,
)
from deniable.estimates.regression.links import LINKS
from deniable.estimates.regression.models import RowLikelihood
from deniable.estimates.regression.newton import Maximum, highest
from deniable.estimates.regression.outcomes import OUTCOMES, OutcomeLaw
from deniable.estimates.regression.sandwiches import ERRORS, inverted
from deniable.estimates.results import Caution
from deniable.estimates.sampling import Sampling
from deniable.estimates.sampling.columns import check_rows
from deniable.files.row_names import check_same_people
from deniable.tallies.group_labels import numbered

if TYPE_CHECKING:
    import pandas as pd

_SEVERAL_STARTS = 20_000  # rows up to which the top is looked for from several starts
_WORTH_EACH = (
    10  # direct answers for each coefficient below which errors are only rough
)
_ADAPTED = 4  # times at most that the nodes of random intercepts are moved, on few nodes and on all
_STAYED = 1e-4  # the squared distance, in errors, below which coefficients are the same to the nodes
_FEW_NODES = 3  # on each axis, on the way to the top
_DEVIATION = (
    0.7  # of intercepts, at the start; of numbers, in deviations of their errors
)
_ALONE = 0.9  # of groups that have one row, beyond which their deviation is hardly told from chance
_BORDER = 1e-3  # below which it is none


def regress(
    formula: str,
    data: Any,
    *,
    design: Design | Mapping[Any, Design],
    devices: str | None = None,
    family: str | None = None,
    codes: bool | None = None,
    sampling: Sampling | None = None,
    errors: str | None = None,
    intercepts: str | None = None,
    honesty: bool = False,
    predictor: str | None = None,
    given: str | None = None,
) -> Regression:
    """Fit a regression to randomized responses.

    Implements: maximum likelihood of q_i = P_i·μ(x_i′β), where P_i is the channel of row i's device and μ the law of
    answers: [SD88] and [HHG07] for logits of two answers, [BIZ15] for predictors. Coefficients are about the *answers*,
    as if these had been asked directly; what the device adds is taken out. Gradients and information are analytic, and
    no start values are asked for. `docs/theory/regression.md` has the formulas.

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
            errors, by likelihood, which is more precise where they are normal. Of an outcome: "logit" or "linear".
        codes: what whole numbers among the responses are, as for `dn.tally`: True for codes, False for labels.
        sampling: how the people in the table were drawn, a row for each, such as
            `dn.Sampling("w", strata="region", clusters="village", data=data)`: pseudo-likelihood.
        errors: the standard errors: "observed" information (the default), "expected" information, "outer" product of
            scores, "robust" (HC0; the default for "linear"), or "sampling" (the default with `sampling`).
        intercepts: a column of groups that each have an intercept of their own, drawn from a normal law; of more than
            two answers one for each but the first, independent of each other. With `sampling`, each group lies in one
            cluster, and weights are scaled to sum to its rows.
        honesty: estimate as well how many of those with the second answer follow the device; the others send the first
            symbol. The stochastic lie detector, where the devices always let the second answer say yes (`dn.mangat`);
            needs two devices.
        predictor: the column of responses, where it stands on the right: the randomized answer explains something.
        given: the covariates that the answer itself depends on, where it is a predictor; by default the others of the
            formula. "1" for none.

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
        truths={"codes": codes, "honesty": honesty}, texts={**texts, "errors": errors}
    )
    frame = to_pandas(data)
    _check_errors(errors, sampling, intercepts, len(frame))
    read = _read(
        frame, formula, design, devices, codes, sampling, intercepts, predictor, given
    )
    kept = read.frame.loc[read.kept]
    evidence = read.evidence.kept(read.kept)
    if not len(kept):
        raise NotEstimable("no row has a response and all covariates; expected some.")
    evidence.check_rank()
    chosen = _family(family, evidence, predictor, kept, read.left)
    covariates, matrix = Covariates.of(read.terms, kept)
    built = _built(chosen, covariates, matrix, evidence, kept, read, honesty, predictor)
    built = _with_errors(built) if intercepts is not None else built
    rows = RowLikelihood(
        built.law,
        built.matrices,
        None if sampling is None else sampling.weights[read.kept],
    )
    usual = (
        "sampling"
        if sampling is not None
        else "robust"
        if isinstance(built.law, MeanLaw)
        else "observed"
    )
    used = kept[list(covariates.variables)]
    if intercepts is not None:
        likelihood, names, top = _fit_groups(
            built, rows, evidence.categories, kept[intercepts], sampling, read.kept
        )
        sample = Sample(
            likelihood,
            rows,
            top.theta,
            covariates,
            used,
            evidence,
            None,
            sampling,
            read.kept,
        )
        found = _finished(
            formula,
            chosen,
            names,
            top,
            sample,
            errors or usual,
            read.dropped,
            float("nan"),
        )
        return _at_border(replace(found, groups=len(likelihood.times)))
    top = highest(rows, _starts(built, len(kept)))
    expected, worth = _expected(rows, top.theta, evidence)
    sample = Sample(
        rows, rows, top.theta, covariates, used, evidence, expected, sampling, read.kept
    )
    return _finished(
        formula, chosen, built.names, top, sample, errors or usual, read.dropped, worth
    )


class _Rows(NamedTuple):
    """A table that was read: which rows can be used, and why others cannot."""

    frame: pd.DataFrame
    left: str
    terms: str
    given: str
    evidence: Evidence
    kept: NDArray[np.bool_]
    dropped: dict[str, int]


class _Built(NamedTuple):
    """A law with the columns of its predictors and the names of its coefficients."""

    law: AnswerLaw
    matrices: tuple[Matrix, ...]
    names: tuple[str, ...]
    start: Vector


def _check_errors(
    errors: str | None, sampling: Sampling | None, intercepts: str | None, rows: int
) -> None:
    if errors is not None and errors not in ERRORS:
        raise InvalidRequest(
            f"the errors are {quoted(errors)}; expected one of {', '.join(ERRORS)}."
        )
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
    for what, there in (
        ("calibrated weights", sampling.calibration),
        ("joint probabilities", sampling.joint),
    ):
        if there is not None:
            raise InvalidRequest(
                f"random intercepts do not go with {what}, whose variance is not one of whole groups; expected "
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
) -> _Rows:
    left, right = read_formula(formula)
    check_same_people(data=frame, sampling=sampling)
    if given is not None and predictor is None:
        raise InvalidRequest(
            "given= is for a randomized predictor; expected predictor= beside it."
        )
    if predictor is not None:
        right = _without(right, predictor)
    sent = column(frame, predictor or left, "the response")
    asked = None if devices is None else column(frame, devices, "the device").tolist()
    evidence = read_evidence(design, sent.to_numpy(), asked, codes=codes)
    needed = [
        *Covariates.variables_of(right, frame),
        *(Covariates.variables_of(given, frame) if given else ()),
    ]
    needed += [left] if predictor is not None else []
    needed += (
        [] if intercepts is None else [str(column(frame, intercepts, "the group").name)]
    )
    weightless = (
        np.zeros(len(frame), np.bool_) if sampling is None else sampling.weights == 0
    )
    complete = frame[list(dict.fromkeys(needed))].notna().all(axis=1).to_numpy()
    silent = evidence.silent()
    if silent.all() and len(silent):
        raise NotEstimable(
            "every answer sends the same responses with the same probabilities (D = 0), so that they say nothing; "
            "expected a design whose responses depend on the answer."
        )
    dropped = {
        "they hold no response": int(evidence.missing.sum()),
        "a covariate or group is missing": int((~complete & ~evidence.missing).sum()),
        "their device says nothing about the answer": int(
            (silent & complete & ~evidence.missing).sum()
        ),
        "their weight is 0": int(
            (weightless & ~silent & complete & ~evidence.missing).sum()
        ),
    }
    kept = complete & ~evidence.missing & ~silent & ~weightless
    return _Rows(
        frame,
        left,
        right,
        given or right,
        evidence,
        kept,
        {name: n for name, n in dropped.items() if n},
    )


def _without(terms: str, predictor: str) -> str:
    """Return the right side of a formula without the randomized predictor.

    Raises:
        InvalidRequest: it is not a term of its own.
    """
    from formulaic import Formula

    read = [str(each) for each in Formula(terms)]
    if predictor not in read or any(
        predictor in each.split(":") for each in read if each != predictor
    ):
        raise InvalidRequest(
            f"the predictor {quoted(predictor)} is not a term of its own in {quoted(terms, 60)}; expected it "
            "once, without interactions.",
            f'For example "income ~ age + {predictor:.40}".',
        )
    others = [each for each in read if each != predictor]
    return " + ".join(others if "1" in others else ["0", *others])


def _family(
    family: str | None,
    evidence: Evidence,
    predictor: str | None,
    frame: pd.DataFrame,
    left: str,
) -> str:
    two = len(evidence.categories) == 2
    if predictor is not None:
        fit: Sequence[str] = OUTCOMES
        usual = "logit" if set(np.unique(frame[left])) <= {0, 1} else "linear"
    else:
        numbers = all(isinstance(each, NumberDesign) for each in evidence.designs)
        fit = (
            (*LINKS, "multinomial", "linear")
            if two
            else ("multinomial", *(["linear"] if numbers else []))
        )
        fit = (*fit, *(["normal"] if numbers else []))
        usual = "linear" if numbers else "logit" if two else "multinomial"
    if family is not None and family not in fit:
        raise InvalidRequest(
            f"the family is {quoted(family)}; expected one of {', '.join(fit)} for {len(evidence.categories)} answers"
            f"{' and an outcome' if predictor else ''}."
        )
    return family or usual


def _built(
    family: str,
    covariates: Covariates,
    matrix: Matrix,
    evidence: Evidence,
    frame: pd.DataFrame,
    read: _Rows,
    honesty: bool,
    predictor: str | None,
) -> _Built:
    if honesty and (family not in LINKS or predictor is not None):
        raise InvalidRequest(
            'honesty= is for two answers by "logit", "probit" or "cloglog"; expected one of these.'
        )
    if predictor is not None:
        return _with_outcome(
            family, covariates, matrix, evidence, frame, read, predictor
        )
    others = evidence.categories[1:]
    if family == "multinomial":
        names = tuple(
            f"{answer}: {name}" for answer in others for name in covariates.names
        )
        start = np.concatenate(
            [_level(covariates.names, each) for each in _shares_eta(evidence)]
        )
        return _Built(
            ManyAnswerLaw(evidence.given), (matrix,) * len(others), names, start
        )
    if family == "normal" and isinstance(evidence.designs[0], NumberDesign):
        return _normal(covariates, matrix, evidence, evidence.designs[0])
    if family == "linear":
        worth = np.arange(len(evidence.categories), dtype=np.float64)
        if isinstance(evidence.designs[0], NumberDesign):
            worth = np.array([float(each) for each in evidence.designs[0].scale.values])
        law = MeanLaw(evidence.given, evidence.values(worth))
        return _Built(law, (matrix,), covariates.names, np.zeros(matrix.shape[1]))
    link = LINKS[family]
    share = _shares(evidence)[1]
    start = _level(covariates.names, float(link.inverse(float(share))))
    if not honesty:
        return _Built(
            TwoAnswerLaw(evidence.given, link), (matrix,), covariates.names, start
        )
    _check_honesty(evidence)
    denied = (evidence.codes == 0).astype(np.float64)
    ones = np.ones((len(matrix), 1))
    names = (*covariates.names, HONESTY)
    return _Built(
        DeniedAnswerLaw(evidence.given, link, denied),
        (matrix, ones),
        names,
        np.append(start, 1.0),
    )


def _normal(
    covariates: Covariates, matrix: Matrix, evidence: Evidence, design: NumberDesign
) -> _Built:
    if any(
        isinstance(each, NumberDesign) and each.scale != design.scale
        for each in evidence.designs
    ):
        raise InvalidRequest(
            "the designs have other ranges or levels; expected the same for all devices."
        )
    levels = np.array([float(each) for each in design.scale.values])
    shares = _shares(evidence)
    mean = float(shares @ levels)
    spread = float(np.sqrt(shares @ (levels - mean) ** 2))
    names = (*covariates.names, ERROR_DEVIATION)
    start = np.append(_level(covariates.names, mean), np.log(spread))
    return _Built(
        NormalLaw(evidence.given, levels),
        (matrix, np.ones((len(matrix), 1))),
        names,
        start,
    )


def _check_honesty(evidence: Evidence) -> None:
    """Refuse devices under which honesty cannot be told from the share: all treat the first answer alike."""
    channels = evidence.channels()
    used = np.unique(evidence.devices)
    if (
        channels is None
        or len({tuple(channels[each, :, 0].round(12)) for each in used.tolist()}) < 2
    ):
        raise NotEstimable(
            "all rows were asked with one device, under which fewer honest people and fewer people with the answer "
            "look the same; expected two devices that treat the first answer differently.",
            "Leave honesty= away, or ask two groups with different probabilities.",
        )


def _with_outcome(
    family: str,
    covariates: Covariates,
    matrix: Matrix,
    evidence: Evidence,
    frame: pd.DataFrame,
    read: _Rows,
    predictor: str,
) -> _Built:
    outcome = frame[read.left].to_numpy(np.float64)
    if family == "logit" and not set(np.unique(outcome)) <= {0.0, 1.0}:
        raise InvalidRequest(
            'the outcome of a "logit" is not always 0 or 1; expected these, or family="linear".'
        )
    _, answers = Covariates.of(read.given, frame)
    given_names = Covariates.of(read.given, frame)[0].names
    others = list(evidence.categories[1:])
    ones = np.ones((len(matrix), 1))
    added = [
        predictor if len(others) == 1 else f"{predictor}[{each}]" for each in others
    ]
    labels = [
        predictor if len(others) == 1 else f"{predictor}[{each}]" for each in others
    ]
    names = (
        *covariates.names,
        *added,
        *(f"{label} ~ {name}" for label in labels for name in given_names),
    )
    matrices: tuple[Matrix, ...] = (
        matrix,
        *(ones,) * len(others),
        *(answers,) * len(others),
    )
    level, spread = _outcome_start(family, covariates.names, outcome)
    pieces = [
        level,
        np.zeros(len(others)),
        *(_level(given_names, each) for each in _shares_eta(evidence)),
    ]
    if family == "linear":
        names, matrices, pieces = (
            (*names, ERROR_DEVIATION),
            (*matrices, ones),
            [*pieces, np.array([spread])],
        )
    return _Built(
        OutcomeLaw(evidence.given, outcome, family),
        matrices,
        names,
        np.concatenate(pieces),
    )


def _outcome_start(
    family: str, names: Sequence[str], outcome: Vector
) -> tuple[Vector, float]:
    if family == "logit":
        return _level(
            names,
            float(LINKS["logit"].inverse(float(np.clip(outcome.mean(), 0.02, 0.98)))),
        ), 0.0
    return _level(names, float(outcome.mean())), float(
        np.log(max(float(outcome.std()), 1e-9))
    )


def _shares(evidence: Evidence) -> Vector:
    """Return rough shares of the answers, a few steps of EM from even ones; none next to 0."""
    table, times = evidence.given, None
    if (
        evidence.codes >= 0
    ).all():  # rows that sent the same through the same device are one
        key = evidence.devices * (evidence.codes.max() + 1) + evidence.codes
        _, first, times = np.unique(key, return_index=True, return_counts=True)
        table = evidence.given[first]
    part = np.full(len(table), 1 / len(table)) if times is None else times / times.sum()
    shares = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(20):
        joint = table * shares
        shares = part @ (joint / joint.sum(axis=1, keepdims=True))
    floor = 0.1 / len(shares)
    return np.asarray((shares + floor) / (1 + floor * len(shares)), np.float64)


def _shares_eta(evidence: Evidence) -> Vector:
    shares = _shares(evidence)
    return np.asarray(np.log(shares[1:] / shares[0]), np.float64)


def _level(names: Sequence[str], level: float) -> Vector:
    """Return coefficients that give every row the same predictor, where there is an intercept; else zeros."""
    out = np.zeros(len(names))
    if "Intercept" in names:
        out[list(names).index("Intercept")] = level
    return out


def _starts(built: _Built, rows: int) -> list[Vector]:
    flat = np.zeros_like(built.start)
    if rows > _SEVERAL_STARTS or isinstance(
        built.law, MeanLaw | NormalLaw | OutcomeLaw
    ):
        return [built.start]
    return [built.start, flat]


def _expected(
    rows: RowLikelihood, theta: Vector, evidence: Evidence
) -> tuple[Matrix | None, float]:
    """Return the expected information, and how many direct answers the responses are worth for the coefficients.

    Why: a row's responses have the information Σ_z q_z·s_z·s_z′ about its predictors, a direct answer that of the
    identity. The ratio of both, over all rows and predictors, is what a response is worth.
    """
    channels = evidence.channels()
    if (
        channels is None
        or not isinstance(rows.law, TwoAnswerLaw | ManyAnswerLaw)
        or isinstance(rows.law, DeniedAnswerLaw)
    ):
        return None, float("nan")
    information, by_row = rows.expected(theta, channels, evidence.devices)
    answers = len(evidence.categories)
    _, direct = rows.expected(
        theta, np.eye(answers)[None], np.zeros(len(by_row), np.int64)
    )
    whole = float(np.trace(direct, axis1=1, axis2=2).sum())
    told = float(np.trace(by_row, axis1=1, axis2=2).sum())
    return information, len(by_row) * told / whole if whole > 0 else float("nan")


def _with_errors(built: _Built) -> _Built:
    """Return a law of means with normal errors: how far groups lie apart is told against these."""
    if not isinstance(built.law, MeanLaw):
        return built
    law = MeanErrorLaw(built.law.evidence, built.law.values)
    spread = max(float(law.values.std()), 1e-9)
    start = np.append(_level(built.names, float(law.values.mean())), np.log(spread))
    return _Built(
        law,
        (*built.matrices, np.ones((len(law.values), 1))),
        (*built.names, ERROR_DEVIATION),
        start,
    )


def _fit_groups(
    built: _Built,
    rows: RowLikelihood,
    categories: Sequence[str],
    column: pd.Series,
    sampling: Sampling | None,
    kept: NDArray[np.bool_],
) -> tuple[GroupLikelihood, tuple[str, ...], Maximum]:
    """Climb with random intercepts: on few nodes first, then on all of them, which are moved after each climb."""
    names = _deviations(built, categories)
    groups = _groups(column, sampling, kept)
    most = NODES[len(names) - 1]
    likelihood = GroupLikelihood.of(rows, groups, min(most, _FEW_NODES))
    spread = (
        np.exp(built.start[built.names.index(ERROR_DEVIATION)])
        if ERROR_DEVIATION in built.names
        else 1.0
    )
    theta = np.append(built.start, np.full(len(names), _DEVIATION * spread))
    steps = 0
    for nodes in (likelihood.nodes, most):
        likelihood = replace(likelihood, nodes=nodes)
        for _ in range(_ADAPTED):
            likelihood = likelihood.adapted(theta)
            top = highest(likelihood, [theta])
            went, theta, steps = top.theta - theta, top.theta, steps + top.steps
            if (
                went @ top.information @ went < _STAYED
            ):  # nodes were moved to about these coefficients
                break
    signs = np.where(theta[rows.size :] < 0, -1.0, 1.0)  # σ and −σ are one model
    turned = np.append(np.ones(rows.size), signs)
    top = top._replace(
        theta=theta * turned,
        information=top.information * np.outer(turned, turned),
        steps=steps,
    )
    return likelihood.mirrored(signs), (*built.names, *names), top


def _deviations(built: _Built, categories: Sequence[str]) -> tuple[str, ...]:
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


def _groups(
    column: pd.Series, sampling: Sampling | None, kept: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the number of each row's group.

    Raises:
        NotEstimable: one group, or groups of which nearly all have one row.
        InvalidRequest: a group that does not lie in one cluster of the sample.
    """
    groups = np.unique(numbered(column)[1], return_inverse=True)[1]
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
    if sampling is None:
        return np.asarray(groups, np.int64)
    clusters = sampling.clusters[kept]
    first = np.zeros(groups.max() + 1, np.int64)
    first[groups[::-1]] = clusters[::-1]
    apart = clusters != first[groups]
    if apart.any():
        raise InvalidRequest(
            f"the group {quoted(column.iloc[int(apart.argmax())])} of {quoted(column.name)} lies in several clusters "
            "of the sampling; expected each group in one cluster, because its rows share an intercept.",
            f'Name the groups as clusters, dn.Sampling(…, clusters="{column.name!s:.40}"), or something larger.',
        )
    return np.asarray(groups, np.int64)


def _at_border(found: Regression) -> Regression:
    """Return a regression whose deviations of intercepts that are next to 0 are 0, and said to be."""
    unit = found.params.get(ERROR_DEVIATION, 1.0)
    none = [
        name
        for name, each in found.params.items()
        if is_group_deviation(name) and each < _BORDER * unit
    ]
    if not none:
        return found
    text = (
        f"no difference between the groups is seen beyond chance: {format_labels(none)} is estimated as 0, on the "
        "border, where it has no error."
    )
    if np.isfinite(found.log_likelihood) and not found.sampled:
        text += ' Read conf_int(method="profile") to see how large it could be.'
    values = np.where([name in none for name in found.names], 0.0, found.values)
    return replace(
        found, values=values, cautions=(*found.cautions, Caution("border", text))
    )


def _finished(
    formula: str,
    family: str,
    names: tuple[str, ...],
    top: Maximum,
    sample: Sample,
    errors: str,
    dropped: dict[str, int],
    worth: float,
) -> Regression:
    """Return the regression: coefficients as they are shown, errors of the kind asked for, and what calls for care."""
    scale, sampling = scales(names, top.theta), sample.sampling
    information = top.information * np.outer(scale, scale)
    linear = isinstance(sample.rows.law, MeanLaw)
    found = Regression(
        formula=formula,
        family=family,
        names=names,
        values=shown_values(names, top.theta),
        covariance=np.full((len(names),) * 2, np.nan),
        information=information,
        log_likelihood=float("nan") if linear else top.value,
        errors=errors,
        designs=tuple(zip(sample.evidence.names, sample.evidence.designs, strict=True)),
        respondents=len(sample.evidence.codes),
        dropped=dropped,
        worth=worth,
        steps=top.steps,
        cautions=(),
        sampled=""
        if sampling is None
        else f"{sampling.variance}; {sampling.describe()}",
        degrees=0 if sampling is None else sampling.degrees_of(sample.kept),
        groups=0,
        sample=sample,
    )
    covariance, errors, fallen = _covariance(found, sample, errors)
    found = replace(found, covariance=covariance, errors=errors)
    return replace(found, cautions=(*_cautions(found, sample, top), *fallen))


def _covariance(
    found: Regression, sample: Sample, errors: str
) -> tuple[Matrix, str, tuple[Caution, ...]]:
    """Return the covariance of the kind asked for, or where there is none the expected or generalized one."""
    fit = Refit(sample, found)
    if inverted(found.information) is not None or errors in ("expected", "outer"):
        return fit.covariance(errors, found.information), errors, ()
    if sample.expected is not None and inverted(sample.expected) is not None:
        text = (
            "the observed information is not positive definite at the maximum; the standard errors are those of the "
            "expected information instead."
        )
        return (
            fit.covariance("expected", found.information),
            "expected",
            (Caution("curvature", text),),
        )
    text = (
        "the likelihood is flat in some direction at its maximum: the data do not tell some coefficients apart, and "
        "their errors are only those of what is told. Leave terms out, or ask more people."
    )
    general = np.asarray(np.linalg.pinv(found.information, hermitian=True), np.float64)
    return general, "observed", (Caution("flat", text),)


def _cautions(found: Regression, sample: Sample, top: Maximum) -> tuple[Caution, ...]:
    cautions = []
    if not top.converged:
        cautions.append(
            Caution(
                "convergence",
                f"the maximum was not reached: {top.gap:.2g} nats may still be gained.",
            )
        )
    off = _running_off(found, sample)
    if off:
        text = (
            f"the fitted probabilities run to 0 or 1 as the coefficients of {format_labels(off)} grow without end "
            "(separation): the errors and the normal intervals of these mean nothing. Read "
            'conf_int(method="profile"), or leave the term out. Of an intercept it means that fewer say so than the '
            "device would make them: by chance, because people protect themselves with a no, or because probabilities "
            "or codes are wrong."
        )
        cautions.append(Caution("separation", text))
    if np.isfinite(found.worth) and found.worth < _WORTH_EACH * len(found.names):
        text = (
            f"the design is too noisy for these data: {found.respondents:,} responses are worth about "
            f"{found.worth:,.0f} direct answers, for {len(found.names)} coefficients; expected at least {_WORTH_EACH} "
            "for each. Take fewer terms, or ask more people."
        )
        cautions.append(Caution("noisy", text))
    return tuple(cautions)


def _running_off(found: Regression, sample: Sample) -> list[str]:
    """Return the coefficients that run off: the predictors of rows go beyond what any data would show."""
    law = sample.rows.law
    if isinstance(law, MeanLaw | NormalLaw | OutcomeLaw):
        return []
    edge = law.link.edge if isinstance(law, TwoAnswerLaw) else 15.0
    far_apart = [
        name
        for name, each in found.params.items()
        if is_group_deviation(name) and each > edge
    ]
    eta = sample.rows.eta(sample.theta[: sample.rows.size])[
        :, : 1 if isinstance(law, TwoAnswerLaw) else None
    ]
    if float(np.abs(eta).max()) < edge and not _unsure(found):
        return far_apart
    errors = list(found.bse.values())
    wide = []
    for x, part in zip(sample.rows.matrices, sample.rows.blocks, strict=True):
        reach = np.maximum(
            np.ptp(x, axis=0), np.abs(x).max(axis=0) * (np.ptp(x, axis=0) == 0)
        )
        for at, name in enumerate(found.names[part]):
            far = abs(sample.theta[part][at]) * reach[at]
            if far > edge / 2 and not errors[part.start + at] * reach[at] < 2 * edge:
                wide.append(name)
    return wide + far_apart


def _unsure(found: Regression) -> bool:
    return not np.isfinite(list(found.bse.values())).all()
