"""How people came into a sample: weights, strata, clusters, and what is known of the population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import columns
from deniable.estimates.sampling.calibration import (
    Calibration,
    check_method,
    indicators,
)
from deniable.estimates.sampling.columns import Codes
from deniable.estimates.sampling.replicates import (
    Replicates,
    ReplicateWeights,
    brought,
    drawn,
    refuse_lone,
)
from deniable.files.row_names import check_same_people, index_of

_MOST_FACTORS = 1 << 25  # of replicates: 256 MB
_CHUNK = 1 << 22  # replicate weights that are worked on at a time
_OFF = 2.0  # how far weights may sum to another number of people than there are


class Sampling:
    """How people came into a sample, a row for each; every estimator that has rows takes it as `sampling=`.

    Columns come as lists, or from NumPy, pandas, Polars or Arrow; or by name, with the frame in `data`. A value is
    frozen: what calibrates it returns a new one.

    Attributes:
        weights: how many people each row stands for, after calibration.
        base: the same before calibration.
        strata: the stratum of each row, a code.
        stratum_names: what the strata are called.
        clusters: the cluster of each row, a code; clusters of one name in two strata are two.
        stratum_of: the stratum of each cluster.
        population: how many people there are; None where that is not known.
        fractions: the share of the clusters (people, where there are none) of each stratum that was drawn.
        inclusion: how likely each row was to be drawn, where that is known; then the variance is Deville's.
        joint: how likely each two rows were to be drawn together, where that is known.
        rule: of joint probabilities, "sen-yates-grundy" for a sample of fixed size, or "horvitz-thompson".
        by_rows: whether variances are those of the rows, also where the device's probabilities would tell.
        replicates: replicate weights, where the variance comes from them.
        calibration: what the weights were calibrated to.
        index: what pandas calls the rows, where a column has it; columns of other people are refused beside it.

    Example:
        >>> sample = Sampling([10, 10, 30, 30], strata=["town", "town", "land", "land"])
        >>> len(sample), sample.degrees, sample.describe()
        (4, 2, '4 people in 2 strata')
    """

    weights: Vector
    base: Vector
    strata: Codes
    stratum_names: tuple[str, ...]
    clusters: Codes
    stratum_of: Codes
    clustered: bool
    population: float | None
    fractions: Vector
    inclusion: Vector | None
    joint: Matrix | None
    rule: str
    by_rows: bool
    replicates: ReplicateWeights | None
    calibration: Calibration | None
    index: object
    _data: Any
    _kind: str
    _own_degrees: int | None
    _frozen: bool

    def __init__(
        self,
        weights: object = None,
        *,
        strata: object = None,
        clusters: object = None,
        population: float | Mapping[Any, float] | None = None,
        fraction: float | Mapping[Any, float] | None = None,
        inclusion: object = None,
        joint: object = None,
        rule: str = "sen-yates-grundy",
        variance: str = "device",
        replicates: str | Replicates | Any = None,
        data: object = None,
    ) -> None:
        """Describe a sample.

        Args:
            weights: how many people each row stands for; by default all rows for equally many.
            strata: parts of the population that were sampled each on its own.
            clusters: what was drawn first, such as villages or schools: the ultimate clusters.
            population: how many people there are, or how many in each stratum by name. Then means are totals divided
                by that number (Horvitz–Thompson); without it, by the sum of the weights (Hájek). Where no weights are
                given it also gives them, and people that were drawn without replacement leave less to doubt.
            fraction: the share of the clusters, or of the people where there are no clusters, that was drawn without
                replacement: a number, or one for each stratum by name. Leave it away for samples of two stages.
            inclusion: how likely each row was to be drawn, in place of weights, which are 1 divided by it.
            joint: how likely each two rows were to be drawn together, a square table.
            rule: what is made of that, "sen-yates-grundy" or "horvitz-thompson".
            variance: of people who were drawn one by one: by the probabilities of the "device", which varies less; or
                by "rows", by how much responses differ themselves, where people may not have followed the device.
                Between clusters and by replicates it is always that of the rows.
            replicates: "jackknife", "brr", "fay" or "bootstrap"; a `Replicates`; or a table of replicate weights.
            data: a frame or a mapping that holds columns which are given by name.

        Raises:
            InvalidRequest: a column of another length, with nothing in a row, or negative; or weights without a total.
            Incompatible: columns of pandas that are of different people.
            NotEstimable: a stratum with one cluster, for replicates.
        """
        given = {
            "weights": weights,
            "strata": strata,
            "clusters": clusters,
            "inclusion": inclusion,
        }
        held = {
            name: columns.named_column(each, data, name)
            for name, each in given.items()
            if each is not None
        }
        self.joint = None if joint is None else _joint(joint)
        if self.joint is not None:
            held.setdefault("inclusion", np.diagonal(self.joint))
        check_same_people(**held)
        self.index = next(
            (index_of(each) for each in held.values() if index_of(each) is not None),
            None,
        )
        rows = _rows(held)
        if self.joint is not None:
            columns.check_rows(self.joint, "joint probabilities", rows)
        self._data, self.calibration, self._own_degrees = data, None, None
        self.rule = _one_of(rule, "rule", ("sen-yates-grundy", "horvitz-thompson"))
        self.by_rows = _one_of(variance, "variance", ("device", "rows")) == "rows"
        codes, names = columns.labels(
            held.get("strata", [""] * rows), "strata", rows
        )
        self.strata, self.stratum_names = codes, tuple(map(str, names))
        self._read_clusters(held.get("clusters"), rows)
        self._read_inclusion(held.get("inclusion"), rows, weighted="weights" in held)
        self.fractions = np.zeros(len(names))
        counts = np.bincount(codes, minlength=len(names))
        self._read_population(
            population,
            counts,
            names,
            free="weights" not in held and self.inclusion is None,
        )
        if "weights" in held:
            self.base = _weights(held["weights"], rows)
            self._check_scale()
        if fraction is not None:
            self.fractions = _fractions(fraction, names)
        self.weights = self.base
        self._read_replicates(replicates, rows)
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        self._frozen = True

    def _read_clusters(self, given: object, rows: int) -> None:
        self.clustered = given is not None
        if given is None:
            self.clusters, self.stratum_of = np.arange(rows), self.strata
            return
        codes, names = columns.labels(given, "clusters", rows)
        pairs = self.strata * len(names) + codes
        distinct, self.clusters = np.unique(pairs, return_inverse=True)
        self.stratum_of = (distinct // len(names)).astype(np.intp)

    def _read_inclusion(self, given: object, rows: int, *, weighted: bool) -> None:
        self.inclusion = None
        self.base = np.ones(rows)
        if given is None:
            return
        if weighted:
            raise InvalidRequest(
                "there are weights and inclusion probabilities; expected one of both."
            )
        chances = columns.numbers(given, "inclusion", rows)
        if not ((chances > 0) & (chances <= 1)).all():
            first = int((~((chances > 0) & (chances <= 1))).argmax())
            raise InvalidRequest(
                f"the inclusion probability of row {first + 1:,} is {chances[first]}; expected 0 < q ≤ 1."
            )
        if self.joint is not None and not np.allclose(
            np.diagonal(self.joint), chances
        ):
            raise InvalidRequest(
                "the joint probabilities do not have the inclusion probabilities on their diagonal."
            )
        self.inclusion, self.base = chances, 1 / chances

    def _read_population(
        self, given: object, counts: Codes, names: tuple[Any, ...], *, free: bool
    ) -> None:
        self.population = None
        if given is None:
            return
        each = (
            columns.by_label(given, names, "population", "stratum")
            if isinstance(given, Mapping)
            else None
        )
        whole = (
            vector([float(given)])
            if each is None and isinstance(given, int | float | np.number)
            else each
        )
        if (
            whole is None
            or isinstance(given, bool)
            or not np.isfinite(whole).all()
            or (whole <= 0).any()
        ):
            raise InvalidRequest(
                f"the population is {quoted(given)}; expected how many people there are."
            )
        self.population = float(whole.sum())
        people = vector([counts.sum()]) if each is None else vector(counts)
        if (people > whole).any():
            raise InvalidRequest(
                f"the population is {whole.min():,.0f}, and more people responded; expected at least as many."
            )
        if free:
            self.base = vector(
                np.full(len(self.strata), whole[0] / people[0])
                if each is None
                else (whole / people)[self.strata]
            )
            if not self.clustered and (each is not None or len(names) == 1):
                self.fractions = vector(people / whole)

    def _check_scale(self) -> None:
        total = self.base.sum()
        if (
            self.population is not None
            and not 1 / _OFF <= total / self.population <= _OFF
        ):
            raise InvalidRequest(
                f"the weights sum to {total:,.6g} and there are {self.population:,.6g} people; expected about as many.",
                "Weights that are only relative tell a mean: leave population away.",
            )

    def _read_replicates(self, given: object, rows: int) -> None:
        self.replicates, self._kind = None, ""
        if given is None:
            return
        if isinstance(given, str):
            requested = Replicates(given)
        elif isinstance(given, Replicates):
            requested = given
        else:
            raise InvalidRequest(
                "the replicates are a table; expected also what they are of.",
                'Say so: replicates=dn.Replicates("brr", weights=table), or with scale= for a kind of your own.',
            )
        if self.inclusion is not None:
            raise InvalidRequest(
                "replicates do not go with inclusion probabilities; expected weights."
            )
        self._kind = requested.kind
        if requested.weights is not None:
            self.replicates = brought(requested, rows, self.base)
            self._own_degrees = (
                len(self.replicates) - 1
                if requested.degrees is None
                else requested.degrees
            )
            return
        clusters = len(self.stratum_of)
        if (
            clusters
            * (clusters if requested.kind == "jackknife" else requested.count)
            > _MOST_FACTORS
        ):
            raise InvalidRequest(
                f"replicates of {clusters:,} clusters are too many; expected {int(_MOST_FACTORS**0.5):,} at most.",
                "Leave replicates away: the linearized variance takes any number.",
            )
        self.replicates = drawn(
            requested,
            self.clusters,
            self.stratum_of,
            self.stratum_names,
            1 - self.fractions,
        )

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            raise FrozenInstanceError(
                f"cannot assign to {name!r}: a sampling is a frozen value."
            )
        object.__setattr__(self, name, value)

    def _changed(self, **changes: object) -> Sampling:
        new = copy(self)
        for name, value in changes.items():
            object.__setattr__(new, name, value)
        return new

    def with_replacement(self) -> Sampling:
        """Return the same sample as if clusters, or people, had been drawn with replacement: nothing is left out."""
        return self._changed(
            fractions=np.zeros_like(self.fractions), inclusion=None, joint=None
        )

    def without_population(self) -> Sampling:
        """Return the same sample of a population whose size is not known."""
        return self._changed(population=None)

    def without_clusters(self) -> Sampling:
        """Return the same people, drawn one by one in the same strata; their variance is linearized."""
        return self._changed(
            clusters=np.arange(len(self)),
            stratum_of=self.strata,
            clustered=False,
            replicates=None,
            _own_degrees=None,
        )

    def __len__(self) -> int:
        return len(self.base)

    def __eq__(self, other: object) -> bool:
        """Whether both describe the same sample, by whatever frame and index."""
        if not isinstance(other, Sampling):
            return NotImplemented
        compared = [name for name in vars(self) if name not in ("_data", "index")]
        return all(
            _same(getattr(self, name), getattr(other, name)) for name in compared
        )

    __hash__ = None  # type: ignore[assignment]  # equal by what may be millions of rows

    def __repr__(self) -> str:
        return f"Sampling({self.describe()})"

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the variance: clusters less strata; those of replicate weights that were brought."""
        return self.degrees_of(np.ones(len(self), np.bool_))

    def degrees_of(self, rows: columns.Mask) -> int:
        """Return the degrees of freedom for a part of the rows: clusters and strata that have some of them."""
        if self._own_degrees is not None:
            return self._own_degrees
        met = np.flatnonzero(np.bincount(self.clusters[rows]))
        strata = int(np.count_nonzero(np.bincount(self.stratum_of[met])))
        return max(len(met) - strata, 1)

    @property
    def one_by_one(self) -> bool:
        """Whether people were drawn one by one from one population: weights and a fraction are all that is known."""
        complicated = (self.inclusion, self.replicates, self.calibration)
        return (
            not self.clustered
            and len(self.stratum_names) == 1
            and all(fact is None for fact in complicated)
        )

    @property
    def simple(self) -> bool:
        """Whether in addition everybody has the same weight and follows the device: counts hold all that rows do."""
        is_even = bool((self.weights == self.weights[0]).all())
        return self.one_by_one and is_even and not self.by_rows

    @property
    def variance(self) -> str:
        """How variances are found, in a word or two."""
        if self.replicates is not None:
            return f"{self._kind}, {len(self.replicates):,} replicates"
        if self.joint is not None:
            return self.rule
        if self.inclusion is not None and not self.clustered:
            return "Deville"
        return "linearized" + (" from rows" if self.by_rows else "")

    def describe(self, taken: int | None = None) -> str:
        """Return how many people, clusters and strata there are, in words; and of whom so many are taken."""
        text = (
            f"{len(self):,} people"
            if taken in (None, len(self))
            else f"{taken:,} of {len(self):,} people"
        )
        if self.clustered:
            text += f" in {len(self.stratum_of):,} clusters"
        if len(self.stratum_names) > 1:
            text += f" {'of' if self.clustered else 'in'} {len(self.stratum_names):,} strata"
        if self.calibration is not None:
            names = self.calibration.names
            text += f", calibrated to {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
        return text

    @property
    def finite(self) -> Vector:
        """The share of its stratum that was drawn with each row: the part of the device's variance that is to be added.

        Why: a variance between clusters that is multiplied by 1 − f loses f of the device's, which is drawn anew for
        each respondent however many of the people there are respond.
        """
        if self.inclusion is not None and (
            self.joint is not None or not self.clustered
        ):
            return self.inclusion
        return vector(self.fractions[self.strata])

    def check_lone(self) -> None:
        """Refuse a stratum with one cluster, by name.

        Raises:
            NotEstimable: such a stratum.
        """
        sizes = np.bincount(self.stratum_of, minlength=len(self.stratum_names))
        refuse_lone(sizes, self.stratum_names, 1 - self.fractions)

    def replicated_weights(self) -> Iterator[Matrix]:
        """Yield the weights of a few replicates at a time, a column each, calibrated as those of the sample are.

        Raises:
            NotEstimable: the weights of a replicate cannot be calibrated.
        """
        if self.replicates is None:
            return
        step = max(1, _CHUNK // len(self))
        for start in range(0, len(self.replicates), step):
            factors = self.replicates.factors[:, start : start + step][
                self.replicates.rows
            ]
            weights = vector(self.base[:, None] * factors)
            if self.calibration is not None:
                weights = vector(
                    np.stack(
                        [self.calibration.weights(each) for each in weights.T],
                        axis=1,
                    )
                )
            yield weights

    def post_stratify(self, groups: object, totals: Mapping[Any, float]) -> Sampling:
        """Return the sample with weights that sum to the known number of people in each group.

        Args:
            groups: the group of each row, or the name of that column.
            totals: how many people each group has.

        Raises:
            InvalidRequest: a group without a total, or one that nobody in the sample belongs to.

        Example:
            >>> sample = Sampling([10, 10, 10]).post_stratify(["f", "m", "m"], {"f": 20, "m": 30})
            >>> sample.weights.tolist()
            [20.0, 15.0, 15.0]
        """
        return self._calibrated({"groups": (groups, totals)}, "linear", named=False)

    def rake(
        self, groups: Mapping[str, Any], totals: Mapping[str, Mapping[Any, float]]
    ) -> Sampling:
        """Return the sample with weights that meet the margins of several groupings at once.

        Implements: raking, whose weights are w·exp(x′l) and stay positive [DS92].

        Args:
            groups: for each margin the group of each row, or the name of that column.
            totals: for each margin how many people each group has.

        Raises:
            InvalidRequest: margins that differ, a group without a total, or one that nobody in the sample belongs to.
            NotEstimable: no weights reach the margins.
        """
        _check_margins(groups, totals)
        for each in totals.values():
            require(
                isinstance(each, Mapping),
                each,
                "a margin",
                "a number of people for each group, by its name",
            )
        if not groups or set(groups) != set(totals):
            raise InvalidRequest(
                "the margins do not have one total for each group; expected the same names in both."
            )
        people = {name: sum(totals[name].values()) for name in groups}
        if max(people.values()) - min(people.values()) > 1e-6 * max(people.values()):
            told = ", ".join(
                f"{name} {total:,.10g}" for name, total in people.items()
            )
            raise InvalidRequest(
                f"the margins sum to different numbers of people ({told:.200}); expected one number."
            )
        return self._calibrated(
            {name: (groups[name], totals[name]) for name in groups},
            "raking",
            named=True,
        )

    def calibrate(
        self,
        auxiliary: Mapping[str, Any],
        totals: Mapping[str, float],
        *,
        method: str = "linear",
    ) -> Sampling:
        """Return the sample with weights that reproduce known totals of numbers.

        Implements: the generalized regression estimator, or raking [DS92].

        Args:
            auxiliary: columns of numbers; one of ones, where the number of people is known.
            totals: the sum of each over the population.
            method: "linear" or "raking".

        Raises:
            InvalidRequest: a column without a total, or another method.
            NotEstimable: no weights reach the totals.
        """
        check_method(method)
        _check_margins(auxiliary, totals)
        if not auxiliary or set(auxiliary) != set(totals):
            raise InvalidRequest(
                "the columns do not have one total each; expected the same names in both."
            )
        read = [
            columns.numbers(self._beside(each, name), name, len(self))
            for name, each in auxiliary.items()
        ]
        known = columns.numbers([totals[name] for name in auxiliary], "totals")
        return self._with(
            Calibration(
                vector(np.stack(read, axis=1)), known, method, tuple(auxiliary)
            )
        )

    def _calibrated(
        self,
        margins: Mapping[str, tuple[Any, Mapping[Any, float]]],
        method: str,
        *,
        named: bool,
    ) -> Sampling:
        x, totals, names = [], [], []
        for margin, (groups, known) in margins.items():
            codes, found = columns.labels(
                self._beside(groups, margin), margin, len(self)
            )
            totals.append(columns.by_label(known, found, "totals", "group"))
            if (totals[-1] <= 0).any():
                raise InvalidRequest(
                    "a group has a total that is not above 0; expected how many people it has."
                )
            x.append(indicators(codes, len(found)))
            names += [f"{margin} {each}" if named else str(each) for each in found]
        return self._with(
            Calibration(
                vector(np.hstack(x)),
                vector(np.concatenate(totals)),
                method,
                tuple(names),
            )
        )

    def _beside(self, given: object, name: str) -> Any:
        """Return a further column of the same people."""
        column = columns.named_column(given, self._data, name)
        check_same_people(sampling=self, **{name: column})
        return column

    def _with(self, calibration: Calibration) -> Sampling:
        if self.calibration is not None:
            raise InvalidRequest(
                "the sample is calibrated already; expected all that is known at once.",
                "Rake to all margins together, or calibrate to all totals.",
            )
        weights = calibration.weights(self.base)
        weights.flags.writeable = False
        return self._changed(calibration=calibration, weights=weights)


def _same(one: object, two: object) -> bool:
    if isinstance(one, np.ndarray):
        return isinstance(two, np.ndarray) and np.array_equal(one, two)
    if is_dataclass(one) and type(one) is type(two):
        return all(
            _same(getattr(one, each.name), getattr(two, each.name))
            for each in fields(one)
        )
    if isinstance(one, tuple) and hasattr(one, "_fields"):
        return isinstance(two, tuple) and all(map(_same, one, two))
    return bool(one == two)


def _check_margins(given: object, totals: object) -> None:
    require(
        isinstance(given, Mapping),
        given,
        "what is known of the rows",
        "columns by name",
    )
    require(
        isinstance(totals, Mapping),
        totals,
        "what is known of the population",
        "totals by the same names",
    )


def _rows(held: Mapping[str, Any]) -> int:
    if not held:
        raise InvalidRequest(
            "a sample was described without a column; expected weights, strata, clusters or inclusion probabilities.",
            "A simple random sample needs none: dn.estimate(dn.tally(responses), population=…).",
        )
    name, first = next(iter(held.items()))
    rows = len(columns.objects(first, name))
    if rows < 2:
        raise InvalidRequest(f"the {name} have {rows} rows; expected 2 at least.")
    return rows


def _weights(given: object, rows: int) -> Vector:
    weights = columns.numbers(given, "weights", rows)
    if (weights < 0).any():
        first = int((weights < 0).argmax())
        raise InvalidRequest(
            f"the weight of row {first + 1:,} is negative; expected 0 or more."
        )
    if not weights.sum() > 0:
        raise InvalidRequest(
            "all weights are 0; expected how many people each row stands for."
        )
    return weights


def _fractions(given: object, names: tuple[Any, ...]) -> Vector:
    if isinstance(given, Mapping):
        fractions = columns.by_label(given, names, "fraction", "stratum")
    else:
        fractions = columns.numbers([given] * len(names), "fraction")
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise InvalidRequest(
            "a sampled fraction lies outside of 0 … 1; expected the share of clusters that was drawn."
        )
    return fractions


def _joint(given: object) -> Matrix:
    try:
        joint = np.array(given, np.float64)
    except (TypeError, ValueError):
        joint = np.zeros(0)
    square = joint.ndim == 2 and joint.shape[0] == joint.shape[1]
    if (
        not square
        or not np.allclose(joint, joint.T)
        or not ((joint > 0) & (joint <= 1)).all()
    ):
        raise InvalidRequest(
            "the joint probabilities do not fit; expected a symmetric table of them, above 0, a row for each person."
        )
    return vector(joint)


def _one_of(word: str, name: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise InvalidRequest(
            f"the {name} is {quoted(word)}; expected one of {', '.join(words)}."
        )
    return word
