"""Replicate weights: the sample drawn again and again from itself, in ways that show how an estimate varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from deniable import chance
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import Codes

KINDS = ("jackknife", "brr", "fay", "bootstrap")
CENTRES = ("replicates", "strata", "estimate")
DRAWS = 500
"""Replicates of a bootstrap where no number is given: the error of a standard error is then about 3 %."""

_FAY = 0.3


@dataclass(frozen=True, eq=False)
class Replicates:
    """How an estimate is repeated to see how it varies; or replicate weights that came with the data.

    Attributes:
        kind: "jackknife" (leave out one cluster after another; JK1 without strata, JKn with them), "brr" (balanced
            halves, of strata with two clusters each), "fay" (the same, with the other half kept a little), "bootstrap"
            (Rao and Wu's), or any word of yours with weights of your own.
        weights: replicate weights that came with the data, a row for each person and a column for each replicate.
        count: of a bootstrap: how many.
        fay: of "fay": what the other half keeps.
        scale: of weights of your own: the factor of the squared distances, one or one for each replicate. That of
            "brr", "fay", "bootstrap" and of a jackknife without strata is known.
        centre: what distances are measured from: the mean of the "replicates" (of a jackknife and a bootstrap), their
            mean within "strata", or the "estimate" (of halves).
        degrees: of weights of your own: degrees of freedom; by default one less than there are replicates.
        source: of a bootstrap: random bytes.
    """

    kind: str = "jackknife"
    weights: Any = None
    count: int = DRAWS
    fay: float = _FAY
    scale: float | Sequence[float] | None = None
    centre: str | None = None
    degrees: int | None = None
    source: chance.Source = chance.SYSTEM

    def __post_init__(self) -> None:
        if self.weights is None and self.kind not in KINDS:
            raise InvalidRequest(
                f"the replicates are {quoted(self.kind)}; expected one of {', '.join(KINDS)}."
            )
        if (
            self.weights is not None
            and self.scale is None
            and self.kind not in (*KINDS, "jk1")
        ):
            raise InvalidRequest(
                f"the replicate weights are of the kind {quoted(self.kind)}, whose scale is not known here; expected "
                "scale=, the factor of the squared distances."
            )
        if self.centre is not None and self.centre not in CENTRES:
            raise InvalidRequest(
                f"the centre is {quoted(self.centre)}; expected one of {', '.join(CENTRES)}."
            )
        if not 0 <= self.fay < 1:
            raise InvalidRequest(
                f"Fay's factor is {self.fay}; expected 0 or more, and below 1."
            )
        if self.count < 2:
            raise InvalidRequest(
                f"there are {self.count} replicates; expected 2 at least."
            )

    @property
    def centred_at(self) -> str:
        """What distances are measured from."""
        return self.centre or (
            "estimate" if self.kind in ("brr", "fay") else "replicates"
        )

    def scales(self, replicates: int) -> Vector:
        """Return the factor of the squared distance of each replicate."""
        if self.scale is not None:
            given = np.atleast_1d(np.array(self.scale, np.float64))
            if (
                given.shape not in ((1,), (replicates,))
                or not (np.isfinite(given) & (given >= 0)).all()
            ):
                raise InvalidRequest(
                    f"the scale does not fit; expected a number, or {replicates:,} of them."
                )
            return vector(np.broadcast_to(given, (replicates,)))
        kept = self.fay if self.kind == "fay" else 0.0
        known = {
            "brr": 1 / replicates,
            "fay": 1 / replicates / (1 - kept) ** 2,
            "bootstrap": 1 / (replicates - 1),
        }
        return np.full(
            replicates, known.get(self.kind, (replicates - 1) / replicates)
        )


@dataclass(frozen=True, eq=False)
class ReplicateWeights:
    """Factors by which the weights of people are multiplied in each replicate, and how replicates make a variance.

    Attributes:
        factors: a row for each cluster, or for each person where the weights came with the data; a column for each
            replicate.
        rows: which row of the factors each person has.
        scales: the factor of the squared distance of each replicate.
        strata: of a jackknife the stratum of each replicate, else one for all.
        centre: what distances are measured from.
    """

    factors: Matrix
    rows: Codes
    scales: Vector
    strata: Codes
    centre: str

    def __len__(self) -> int:
        return len(self.scales)

    def covariance(self, replicated: Matrix, estimate: Vector) -> Matrix:
        """Return Σ scale·(θ_r − centre)(θ_r − centre)′ for replicates θ_r in rows."""
        away = replicated - self._centres(replicated, estimate)
        return vector((away.T * self.scales) @ away)

    def _centres(self, replicated: Matrix, estimate: Vector) -> Matrix:
        if self.centre == "estimate":
            return vector(estimate)[None, :]
        if self.centre == "replicates":
            return vector(replicated.mean(axis=0))[None, :]
        counts = np.bincount(self.strata)
        means = np.stack(
            [
                np.bincount(self.strata, weights=each) / counts
                for each in replicated.T
            ],
            axis=1,
        )
        return vector(means[self.strata])


def drawn(
    wanted: Replicates,
    clusters: Codes,
    stratum_of: Codes,
    names: Sequence[str],
    left: Vector,
) -> ReplicateWeights:
    """Return replicate weights for clusters in strata.

    Args:
        wanted: which.
        clusters: the cluster of each person.
        stratum_of: the stratum of each cluster.
        names: of the strata.
        left: 1 − f of each stratum, what the population leaves of the variance.

    Raises:
        NotEstimable: a stratum with one cluster; of halves, with another number than two.
        InvalidRequest: a sampled fraction with halves or a bootstrap.
    """
    sizes = np.bincount(stratum_of, minlength=len(names))
    refuse_lone(sizes, names, left)
    if wanted.kind != "jackknife" and (left < 1).any():
        raise InvalidRequest(
            f"a sampled fraction does not go with {wanted.kind}; expected the jackknife, or no replicates at all."
        )
    makers = {
        "jackknife": _left_out,
        "brr": _halves,
        "fay": _halves,
        "bootstrap": _redrawn,
    }
    factors, strata = makers[wanted.kind](wanted, stratum_of, sizes, names)
    if wanted.kind == "jackknife":
        with np.errstate(divide="ignore", invalid="ignore"):
            scales = np.where(sizes > 1, (sizes - 1) / sizes * left, 0.0)[strata]
    else:
        scales = wanted.scales(factors.shape[1])
    return ReplicateWeights(
        factors, clusters, vector(scales), strata, wanted.centred_at
    )


def brought(wanted: Replicates, rows: int, before: Vector) -> ReplicateWeights:
    """Return replicate weights that came with the data.

    Raises:
        InvalidRequest: another number of rows, fewer than two columns, or no finite numbers of 0 or more.
    """
    try:
        given = np.array(wanted.weights, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest(
            "the replicate weights are no numbers; expected a table of them."
        ) from None
    if given.ndim != 2 or len(given) != rows or given.shape[1] < 2:
        raise InvalidRequest(
            f"the replicate weights have the shape {given.shape}; expected {rows:,} rows and two columns at least."
        )
    if not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidRequest(
            "a replicate weight is negative or no number; expected 0 or more in each cell."
        )
    if (given[before == 0] > 0).any():
        raise InvalidRequest(
            "somebody whose weight is 0 has a replicate weight; expected 0 there, too."
        )
    factors = given / np.where(before > 0, before, 1.0)[:, None]
    scales, one = wanted.scales(given.shape[1]), np.zeros(given.shape[1], np.intp)
    return ReplicateWeights(
        vector(factors), np.arange(rows), scales, one, wanted.centred_at
    )


def refuse_lone(sizes: Codes, names: Sequence[str], left: Vector) -> None:
    """Refuse a stratum with one cluster, by name, unless it is all there is in the population.

    Raises:
        NotEstimable: such a stratum.
    """
    lone = np.flatnonzero((sizes == 1) & (left > 0))
    if not len(lone):
        return
    told = ", ".join(quoted(names[at]) for at in lone[:3].tolist())
    more = f" and {len(lone) - 3:,} more" if len(lone) > 3 else ""
    whole = (
        "the sample has"
        if len(names) == 1
        else f"the strata {told}{more} have"
        if len(lone) > 1
        else f"the stratum {told} has"
    )
    raise NotEstimable(
        f"{whole} one cluster; expected two at least, because one does not show how clusters differ.",
        "Give it and a similar stratum one name in strata=; or, where it is all there is, fraction={...: 1}.",
    )


def _left_out(
    _: Replicates,
    stratum_of: Codes,
    sizes: Codes,
    names: Sequence[str],  # noqa: ARG001
) -> tuple[Matrix, Codes]:
    """Leave out one cluster after another; the others of its stratum take over its weight."""
    size = sizes[stratum_of]
    raised = np.where(size > 1, size / np.maximum(size - 1, 1), 1.0)
    factors = np.where(
        stratum_of[:, None] == stratum_of[None, :], raised[:, None], 1.0
    )
    np.fill_diagonal(factors, np.where(size > 1, 0.0, 1.0))
    return vector(factors), stratum_of


def _halves(
    wanted: Replicates, stratum_of: Codes, sizes: Codes, names: Sequence[str]
) -> tuple[Matrix, Codes]:
    """Take one of the two clusters of each stratum in balanced ways, by a Hadamard matrix; Fay's keeps both [Jud90]."""
    if (sizes != 2).any():
        name = names[int((sizes != 2).argmax())]
        raise NotEstimable(
            f"the stratum {quoted(name)} has {int(sizes[sizes != 2][0])} clusters; expected two in each, for halves.",
            'Use replicates="jackknife", or pair clusters in the order in which they were drawn: two to a stratum.',
        )
    rounds = 1 << len(sizes).bit_length()
    # the first column is the same in every round
    signs = hadamard(rounds)[:, 1 : len(sizes) + 1]
    kept = wanted.fay if wanted.kind == "fay" else 0.0
    first = np.zeros(len(stratum_of), np.bool_)
    first[np.unique(stratum_of, return_index=True)[1]] = True
    side = np.where(first, 1.0, -1.0)[:, None] * signs.T[stratum_of]
    return vector(1 + (1 - kept) * side), np.zeros(rounds, np.intp)


def _redrawn(
    wanted: Replicates,
    stratum_of: Codes,
    sizes: Codes,
    names: Sequence[str],  # noqa: ARG001
) -> tuple[Matrix, Codes]:
    """Draw m − 1 of the m clusters of each stratum with replacement; each counts m/(m − 1) times as often [RW88]."""
    factors = np.ones((len(stratum_of), wanted.count))
    for stratum, size in enumerate(sizes.tolist()):
        if size < 2:
            continue
        members = np.flatnonzero(stratum_of == stratum)
        picks = _below(size, (size - 1) * wanted.count, wanted.source).reshape(
            wanted.count, size - 1
        )
        times = np.stack(
            [np.bincount(each, minlength=size) for each in picks], axis=1
        )
        factors[members] = times * size / (size - 1)
    return vector(factors), np.zeros(wanted.count, np.intp)


def _below(size: int, count: int, source: chance.Source) -> Codes:
    """Return so many even numbers below a size: words that would favour some are drawn again."""
    limit, found = (1 << 32) - (1 << 32) % size, np.zeros(0, np.uint32)
    while len(found) < count:
        words = np.frombuffer(source.read(4 * (count - len(found) + 8)), "<u4")
        found = np.concatenate([found, words[words < limit]])
    return (found[:count] % size).astype(np.intp)
