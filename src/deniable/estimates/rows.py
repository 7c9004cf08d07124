"""The likelihood of sets that a tally keeps sums of, from the responses themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.channel import Sets
from deniable.channel.coding import Rows, set_sizes
from deniable.channel.support import MAX_CELLS
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.estimates.covariances import Covariance, Full, Matrix, Vector, vector


@dataclass(frozen=True, eq=False)
class SentSets:
    """The different sets that were sent, and how often each was.

    Attributes:
        channel: what they were drawn with.
        rows: the sets, as packed bits.
        times: how often each was sent.
    """

    channel: Sets
    rows: Rows
    times: NDArray[np.int64]

    @classmethod
    def of(cls, channel: Sets, rows: Rows) -> SentSets:
        """Count the different ones among packed rows.

        Raises:
            InvalidRequest: too many for their likelihood to be computed.
        """
        distinct, times = np.unique(rows, axis=0, return_counts=True)
        if len(distinct) * channel.size > MAX_CELLS:
            raise InvalidRequest(
                f"{len(distinct):,} different sets of {channel.size:,} categories are too many; expected at most "
                f"{MAX_CELLS // channel.size:,}.",
                'Use method="inversion" with the tally, or the likelihood of a part of the responses.',
            )
        return cls(channel, distinct, np.asarray(times, np.int64))

    @cached_property
    def matrix(self) -> Matrix:
        """The probability of each set given each answer, but for a factor of each set, which no shares depend on.

        Why: the probability of one set among many categories is too small for a float; the odds of an answer inside
        against one outside are not.
        """
        size = self.channel.size
        odds = [
            self.channel.odds(ones) if 0 < ones < size else 1
            for ones in self.channel.sizes
        ]
        # The two levels of a set, the larger one 1; where no answer outside can send it, 0 is left outside.
        inside = np.array(
            [1.0 if each == math.inf or each >= 1 else float(each) for each in odds]
        )
        outside = np.array(
            [
                0.0 if each == math.inf else 1 / float(each) if each >= 1 else 1.0
                for each in odds
            ]
        )
        places = np.searchsorted(self.channel.sizes, set_sizes(self.rows))
        bits = np.unpackbits(self.rows, axis=1, bitorder="little")[:, :size]
        return np.where(bits, inside[places][:, None], outside[places][:, None])

    def covariance(self, shares: Vector) -> Covariance:
        """Return the inverse of the observed information along the simplex."""
        weights = self.times / (self.matrix @ shares) ** 2
        information = (self.matrix.T * weights) @ self.matrix
        return Full(
            vector(
                np.linalg.pinv(information)
                - np.outer(shares, shares) / self.times.sum()
            )
        )

    def to_body(self) -> dict[str, Any]:
        """Return the sets for JSON."""
        return {
            "rows": [row.tobytes().hex() for row in self.rows],
            "times": self.times.tolist(),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any], channel: Sets) -> SentSets:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: something else.
        """
        try:
            rows = b"".join(map(bytes.fromhex, documents.field(body, "rows", list)))
            array = np.frombuffer(rows, np.uint8).reshape(-1, channel.coding.width)
            times = np.array(documents.field(body, "times", list), np.int64)
        except (TypeError, ValueError, OverflowError):
            raise UnreadableFile(
                "the sets are not rows of bytes with a count each; expected those."
            ) from None
        if (
            len(array) != len(times)
            or channel.coding.impossible(array) is not None
            or (times < 1).any()
        ):
            raise UnreadableFile(
                "the sets are not those of this design; expected sets that it sends, with counts."
            )
        return cls(channel, array, times)
